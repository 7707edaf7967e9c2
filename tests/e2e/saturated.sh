#!/bin/sh
# The summary names the actuators that could not follow, by limit, for how long and since when: the counts are those
# that the table of the flight gives, batch and real time (which flies its first frames over and over before it begins)
# say the same, and who was within all limits is not named.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/run.yaml" <<'R'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 100, inertia: [10, 10, 10, 0, 0, 0], hinge: {kind: free, to: inertial}}
    arm: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1]}}
    slide: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: prismatic, to: bus.origin, axis: [1, 0, 0]}}
actuators:
  strong: {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: 1e-3, max_torque: 50 mN m, max_speed: 100 rad/s}
  calm: {kind: reaction_wheel, node: bus.origin, axis: [0, 1, 0], inertia: 1e-3, max_torque: 50 mN m, max_speed: 100 rad/s}
  driven: {kind: reaction_wheel, node: bus.origin, axis: [0, 0, 1], inertia: 1e-3, max_torque: 50 mN m, drive: {power: 0.2 W}}
  jet: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1 N, min_on_time: 10 ms, max_on_time: 100 ms}
  dry: {kind: thruster, node: bus.origin, direction: [0, 1, 0], thrust: 1 N, isp: 100 s, propellant: 0.2 g}
  rod: {kind: torquer, node: bus.origin, axis: [1, 0, 0], max_dipole: 2 A m^2, field: [0, 3e-5, 0]}
  motor: {kind: hinge_motor, hinge: arm, mode: torque, max_torque: 1 N m}
  rail: {kind: hinge_motor, hinge: slide, mode: rate, max_rate: 1 m/s, max_acceleration: 10 m/s^2}
  push: {kind: wrench, node: bus.origin, max_force: 3 N}
commands:
  - {channel: strong.torque, at: 1 s, value: 80 mN m}
  - {channel: strong.torque, at: 1.5 s, value: 40 mN m}
  - {channel: calm.torque, at: 1 s, value: -50 mN m}
  - {channel: calm.torque, at: 1.5 s, value: 0}
  - {channel: driven.torque, at: 0 s, value: 10 mN m}
  - {channel: jet.on_time, at: 1 s, value: 500 ms}
  - {channel: jet.on_time, at: 2 s, value: 5 ms}
  - {channel: jet.on_time, at: 3 s, value: 50 ms}
  - {channel: dry.on_time, at: 0 s, value: 1 s}
  - {channel: rod.dipole, at: 2 s, value: -3 A m^2}
  - {channel: motor.torque, at: 3 s, value: 1.5 N m}
  - {channel: motor.torque, at: 3.2 s, value: 0}
  - {channel: rail.rate, at: 1 s, value: 2 m/s}
  - {channel: push.force, at: 0.5 s, value: [0, -4, 1]}
  - {channel: push.force, at: 0.6 s, value: [0, 0, 0]}
simulation: {step: 10 ms, substeps: 2, duration: 4 s}
R
fly() { "$ORRERY" run "$dir/run.yaml" --no-log "$@" >"$dir/out" 2>"$dir/err" || fail "$*: $(cat "$dir/out" "$dir/err")"; }
fly --mode batch --csv "$dir/table.csv" --json "$dir/batch.json"
fly --mode realtime --json "$dir/realtime.json" --set realtime.priority=0
fly --mode batch
cat "$dir/out" >"$dir/text"
python3 - "$dir" <<'P' || fail "$(cat "$dir/text")"
import csv, json, sys
d = sys.argv[1]
batch, live = (json.load(open(f"{d}/{name}.json")) for name in ("batch", "realtime"))
assert batch["state_hash"] == live["state_hash"]
assert batch["saturated"] == live["saturated"], live["saturated"]
got = {(s["device"], s["limit"]): s for s in batch["saturated"]}
rows = list(csv.reader(open(f"{d}/table.csv")))
names = [n.split(" ")[0] for n in rows[0]]
col = {n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(names)}
step = 0.01
def held(channel, limit, times=1):
    """Frames in which a command is beyond a limit, from the table."""
    return [k for k in range(400) if abs(col[channel][k]) > limit]
def says(device, limit, frames, value, unit):
    s = got.pop((device, limit))
    assert s["frames"] == len(frames) and s["first_frame"] == frames[0] and abs(s["first_s"] - step * frames[0]) < 1e-12, (s, len(frames), frames[0])
    assert abs(s["time_s"] - step * len(frames)) < 1e-9, s
    assert s.get("value") == value and s.get("unit") == unit, s
says("strong", "max_torque", held("strong.torque", 0.05), 0.05, "N m")
# behind its limit of torque the motor gave less than was asked: the speed held it back
clip = lambda x, most: max(-most, min(most, x))
slow = [k for k in range(400) if k + 1 < len(col["strong.torque"]) and col["strong.applied_torque"][k + 1] != clip(col["strong.torque"][k], 0.05)]
assert len(slow) > 50
s = got.pop(("strong", "max_speed"))
assert s["value"] == 100 and s["unit"] == "rad/s" and s["first_frame"] == slow[0] and abs(s["frames"] - len(slow)) <= 1, (s, len(slow), slow[0])
weak = [k for k in range(399) if col["driven.applied_torque"][k + 1] != col["driven.torque"][k]]
s = got.pop(("driven", "drive"))
assert s["first_frame"] == weak[0] and abs(s["frames"] - len(weak)) <= 1 and len(weak) > 50, (s, len(weak))
says("rod", "max_dipole", held("rod.dipole", 2), 2, "A m^2")
says("motor", "max_torque", held("motor.torque", 1), 1, "N m")
says("rail", "max_rate", held("rail.rate", 1), 1, "m/s")
says("push", "max_force", list(range(50, 60)), 3, "N")
s = got.pop(("rail", "max_acceleration"))
assert s["frames"] == 10 - 1 or s["frames"] == 10, s # 1 m/s by 10 m/s^2: a tenth of a second
assert s["unit"] == "m/s^2" and s["first_frame"] == 100, s
s = got.pop(("jet", "max_on_time"))
assert (s["pulses"], s["first_frame"], s["value"], s["unit"]) == (1, 100, 0.1, "s"), s
s = got.pop(("jet", "min_on_time"))
assert (s["pulses"], s["first_frame"], s["value"]) == (1, 200, 0.01), s
# 0.2 g at 100 s of specific impulse last 0.196 s of 1 N, which the 1 s asked for outlasts
s = got.pop(("dry", "empty"))
empty = 0.2e-3 * 9.80665 * 100
assert s["first_frame"] == int(empty / step) and s["frames"] == 100 - int(empty / step), s
assert not got, got
P
grep -q '^saturated   strong at max_torque (0.05 N m) in 50 frames, 0.5 s; first at 1 s$' "$dir/text" || fail "$(cat "$dir/text")"
grep -q '^saturated   jet 1 pulse cut to max_on_time (0.1 s); first at 1 s$' "$dir/text" || fail "$(cat "$dir/text")"
grep -q '^saturated   rail at max_rate (1 m/s) in 300 frames, 3 s; first at 1 s$' "$dir/text" || fail "$(cat "$dir/text")"
# what is counted of shapes, too, is that of the flight alone: a beam that turns faster than a fifth of its first mode
cat >"$dir/beam.yaml" <<'R'
orrery: 1
spacecraft:
  bodies:
    beam:
      hinge: {kind: free, to: inertial}
      modes: [{frequency: 1, damping: 0.01}]
      nodes: {origin: {at: [0, 0, 0], mass: 10, inertia: [9, 9, 9, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}, tip: {at: [2, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 1, 0]]}}
simulation: {step: 10 ms, duration: 500 ms, initial: {beam: {rate: [0, 0, 3]}}}
R
for mode in batch realtime; do
  "$ORRERY" run "$dir/beam.yaml" --no-log --mode $mode --set realtime.priority=0 --json "$dir/$mode.json" >"$dir/out" 2>&1 || fail "beam: $(cat "$dir/out")"
done
python3 -c 'import json, sys
batch, live = (json.load(open(f"{sys.argv[1]}/{mode}.json"))["shapes"] for mode in ("batch", "realtime"))
assert batch == live and batch[0]["fast_frames"] == 51, (batch, live)' "$dir" || fail "frames that were rehearsed are counted"
grep -q '^saturated   calm' "$dir/text" && fail "a wheel within its limits is named: $(cat "$dir/text")"
exit 0
