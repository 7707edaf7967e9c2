#!/bin/sh
# A corner that fails by construction. Torques about x and z turn a body of equal inertias, without coupling: its rates
# are T t / I. It fails where both rates are beyond their bounds. The campaign finds it; what is left of a flight that
# failed is that corner, within 1 % of where the closed form has it; the worst case is a corner of the bounds.
. tests/support/script.sh
cat >"$dir/spin.yaml" <<'Y'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10 kg, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}
actuators: {push: {kind: wrench, node: bus.n}}
simulation: {step: 100 ms, duration: 10 s}
commands:
  - {channel: push.torque.x, at: 0 s, value: 0.01}
  - {channel: push.torque.z, at: 0 s, value: 0.01}
expect: [{always: bus.rate.x below 0.12 rad/s or bus.rate.z below 0.15 rad/s, name: corner}]
Y
cat >"$dir/corner.yaml" <<'Y'
orrery: 1
campaign:
  run: spin.yaml
  flights: 200
  seed: 5
  vary:
    commands[0].value: {uniform: [0 mN m, 40 mN m]}
    commands[1].value: {normal: [20 mN m, 8 mN m]}
    spacecraft.bodies.bus.mass: {uniform: [9 kg, 11 kg]}
  keep: {measures: {max: [bus.rate.x, bus.rate.z]}}
Y
"$ORRERY" campaign run "$dir/corner.yaml" -o "$dir/c" >"$dir/out" 2>&1
[ $? -eq 1 ] || fail "the campaign finds the corner: $(cat "$dir/out")"
flight=$(sed -n 's/^\([0-9]*\),[^,]*,failed,.*/\1/p' "$dir/c/table.csv" | tail -n 1)
passing=$(sed -n 's/^\([0-9]*\),[^,]*,passed,.*/\1/p' "$dir/c/table.csv" | head -n 1)
"$ORRERY" campaign shrink "$dir/corner.yaml" --flight "$flight" --json >"$dir/shrunk" || fail "shrink"
"$ORRERY" campaign shrink "$dir/corner.yaml" --flight "$passing" >"$dir/out" 2>"$dir/err" && fail "a flight that passes was shrunk"
grep -q 'nothing to shrink' "$dir/err" || fail "$(cat "$dir/err")"
"$ORRERY" campaign search "$dir/corner.yaml" --worst 'max bus.rate.x' --flights 350 --json >"$dir/worst" || fail "search"
"$ORRERY" campaign search "$dir/corner.yaml" --worst 'max bus.rat.x' >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && grep -q "did you mean 'max bus.rate.x'" "$dir/err" || fail "a measure that there is not: $(cat "$dir/err")"
python3 - "$dir/shrunk" "$dir/worst" "$dir/c/table.csv" <<'P' || fail "not within 1 % of the closed form"
import csv, json, math, sys
shrunk, worst = (json.load(open(p)) for p in sys.argv[1:3])
inertia, time = 2, 10
x, z = 0.12 * inertia / time, 0.15 * inertia / time
rows = list(csv.DictReader(open(sys.argv[3])))
for row in rows:  # what failed is what the closed form says
    fails = float(row["commands[0].value (N m)"]) >= x and float(row["commands[1].value (N m)"]) >= z
    assert (row["verdict"] == "failed") == fails, row
assert 3 <= sum(row["verdict"] == "failed" for row in rows) <= 30
value = {path: float(v["value"]) for path, v in shrunk["values"].items()}
assert abs(value["commands[0].value"] / x - 1) < 0.01 and abs(value["commands[1].value"] / z - 1) < 0.01, value
assert value["spacecraft.bodies.bus.mass"] == 10, value
size = math.hypot((x - 0.02) / 0.02, (z - 0.02) / 0.008)
assert abs(shrunk["size"] / size - 1) < 0.01 and shrunk["whole"], (shrunk["size"], size)
assert abs(worst["worst"] / (0.04 * time / inertia) - 1) < 0.01, worst
P
exit 0
