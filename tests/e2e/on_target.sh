#!/bin/sh
# `attitude: target` and `rate: target` of an initial state: whatever the target is (in time, of the orbit, the Sun,
# the ground, another body), the first pointing error is zero to the last digits, and the node turns as its target
# does, by differences of the target's own channel. Also of a node away from the hinge, of a hinge with a rotation, of
# a bent body, of a ball hinge.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
time_target='[{at: 0 s, attitude: [0.5, -0.5, 0.5, 0.5]}, {at: 20 s, attitude: [0.1, 0.7, 0.1, 0.7]}]'
# NAME BODIES TARGET NODE INITIAL [ENVIRONMENT]: a run
write() {
  cat >"$dir/$1.yaml" <<R
orrery: 1
spacecraft: {bodies: {$2}}
pointing: {bus: {node: bus.$4, target: $3}}
simulation: {step: 10 ms, duration: 1 s, initial: {$5}}
${6:-}
R
}
bus='mass: 100, inertia: [10, 10, 10, 0, 0, 0], nodes: {imu: {at: [1, 0.2, 0.3]}}'
turned='hinge: {kind: free, to: inertial, rotation: [0.5, 0.5, -0.5, 0.5]}'
write intime "bus: {$bus, $turned}" "$time_target" imu 'bus: {attitude: target, rate: target, velocity: [1, 2, 3]}'
write ball "bus: {$bus, hinge: {kind: ball, to: inertial}}" "$time_target" imu 'bus: {attitude: target, rate: target}'
write still "bus: {$bus, $turned}" '[{at: 5 s, attitude: [0, 0, 1, 0]}, {at: 20 s, attitude: [0, 0, 0, 1]}]' imu 'bus: {attitude: target, rate: target}'
write bent "bus: {$turned, modes: [{frequency: 0.5, damping: 0}], nodes: {origin: {at: [0, 0, 0], mass: 50, inertia: [9, 9, 9, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]},
  imu: {at: [2, 0, 0], mass: 5, modes: [[0.1, 0.2, 0.3, 0, 0.1, 0]]}, top: {at: [0, 2, 1], mass: 5, modes: [[0, 0, 0, 0, 0, 0.2]]}}}" "$time_target" imu \
  'bus: {attitude: target, rate: target, eta: [0.2], eta_rate: [0.05]}'
orbit='orbit: {elements: {semi_major_axis: 7000 km, eccentricity: 0.01, inclination: 60 deg, anomaly: 40 deg}}'
space='environment: {epoch: 2025-03-20T12:00:00, gravity: central, third_bodies: [sun, moon]}'
for aim in lvlh nadir velocity sun earth moon '{aim: ground, latitude: 48 deg, longitude: 11 deg}' '{aim: lvlh, offset: [0.5, 0.5, 0.5, 0.5]}'; do
  name=$(echo "$aim" | tr -dc a-z)
  [ "$aim" = earth ] && space_here=$(echo "$space" | sed 's/gravity/central: moon, gravity/; s/, moon\]/, earth]/') || space_here=$space
  around=$orbit
  [ "$aim" = earth ] && around=$(echo "$orbit" | sed 's/7000/2000/')
  write "$name" "bus: {$bus, $turned}" "$aim" imu "bus: {$around, attitude: target, rate: target}" "$space_here"
done
write node "bus: {$bus, $turned}, other: {$bus, hinge: {kind: free, to: inertial}}" '{aim: node, of: other.imu}' imu \
  "bus: {$orbit, attitude: target, rate: target}, other: {position: [20, -10, 5], velocity: [0.1, 0.3, -0.2], rate: [0, 0, 0.01]}" "$space"
for run in "$dir"/*.yaml; do
  "$ORRERY" run "$run" --mode batch --csv "$run.csv" --channels 'bus.target,bus.pointing_error,bus.imu.rate' >"$dir/out" 2>"$dir/err" || fail "$run: $(cat "$dir/out" "$dir/err")"
done
"$ORRERY" check "$dir/lvlh.yaml" >"$dir/out" 2>&1
grep -q '^  bus points at lvlh, and begins on it, with its rate$' "$dir/out" || fail "$(cat "$dir/out")"
"$ORRERY" check "$dir/intime.yaml" >"$dir/out" 2>&1
grep -q '^  bus points by 2 targets, and begins on it, with its rate$' "$dir/out" || fail "$(cat "$dir/out")"
"$ORRERY" run "$dir/lvlh.yaml" --mode batch >"$dir/out" 2>&1
grep -q '^bus  *[0-9.e-]* deg off its target at the end$' "$dir/out" || fail "a target that moves: $(cat "$dir/out")"
python3 - "$dir" <<'P' || fail "$(cat "$dir/out")"
import csv, glob, math, os, sys
def times(p, q):
    (a, b, c, d), (e, f, g, h) = p, q
    return (d*e + a*h + b*g - c*f, d*f - a*g + b*h + c*e, d*g + a*f - b*e + c*h, d*h - a*e - b*f - c*g)
def log_rate(q0, q1, dt):
    """Angular velocity that takes q0 to q1, in the axes that q turns into."""
    d = times((-q0[0], -q0[1], -q0[2], q0[3]), q1)
    d = d if d[3] >= 0 else tuple(-x for x in d)
    n = math.sqrt(sum(x * x for x in d[:3]))
    k = 0 if n == 0 else 2 * math.atan2(n, d[3]) / n / dt
    return [k * x for x in d[:3]]
turns = 0
for path in sorted(glob.glob(sys.argv[1] + "/*.csv")):
    name = os.path.basename(path)[:-9]
    rows = list(csv.reader(open(path)))
    at = {n.split(" ")[0]: i for i, n in enumerate(rows[0])}
    rows = [[float(x) for x in r] for r in rows[1:]]
    target = [[r[at["bus.target." + c]] for c in "xyzw"] for r in rows]
    rate = [rows[0][at["bus.imu.rate." + c]] for c in "xyz"]
    error = [r[at["bus.pointing_error"]] for r in rows]
    assert error[0] < 2e-15, (name, error[0])
    # slopes over one and two steps, put together for the slope at frame 0; the rate is in node axes,
    # which are the target's there
    one, two = log_rate(target[0], target[1], 0.01), log_rate(target[0], target[2], 0.02)
    wanted = [2 * a - b for a, b in zip(one, two)]
    assert max(abs(a - b) for a, b in zip(wanted, rate)) < 5e-9, (name, wanted, rate)
    if name != "bent": # nothing turns a rigid body: in a second it is off by what the target's own rate changes
        assert error[-1] < 1e-3, (name, error[-1])
    turns += math.sqrt(sum(w * w for w in wanted)) > 1e-4
    print(f"{name}: first error {error[0]:.1e} rad, rate off by {max(abs(a - b) for a, b in zip(wanted, rate)):.1e} of {math.sqrt(sum(w*w for w in wanted)):.2e} rad/s, after 1 s {error[-1]:.1e} rad", file=sys.stderr)
assert turns >= 8, turns
P
exit 0
