#!/bin/sh
# A run that diverges says so as a person would, with the inner reason after it, and leaves its picture and its table;
# in batch and in real time.
. tests/support/script.sh
cat >"$dir/run.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {imu: {at: [0, 0, 0]}}}
    arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1], stiffness: 1e7}}
pointing: {bus: {node: bus.imu, target: [{at: 0 s, attitude: [0, 0, 0, 1]}]}}
simulation: {step: 1 ms, duration: 5 s, initial: {arm: {q: [0.01]}}}
realtime: {core: any, priority: 0, spin: 0 s, phase: 0 s}
END
for mode in batch realtime; do
  [ $mode = realtime ] || table="--csv $dir/$mode.csv"
  # shellcheck disable=SC2086
  "$ORRERY" run "$dir/run.yaml" --mode $mode --plot "$dir/$mode.svg" ${table:-} >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] || fail "$mode: exit $?: $(cat "$dir/out" "$dir/err")"
  table=
  words='diverged at 0\.[0-9]* s: bus rate [0-9.e+]* rad/s\(, arm.s hinge [0-9.e+]* rad/s or m/s\)*, pointing error [0-9.]* deg'
  grep -q "run.yaml: error: $words\$" "$dir/err" || fail "$mode: $(cat "$dir/err")"
  grep -q "^  frame [0-9]*: body '" "$dir/err" || fail "$mode: no inner reason: $(cat "$dir/err")"
  grep -q "why: $words" "$dir/out" || fail "$mode: $(cat "$dir/out")"
  grep -q '</svg>' "$dir/$mode.svg" || fail "$mode: no picture"
done
[ "$(wc -l <"$dir/batch.csv")" -gt 5 ] || fail "no table: $(cat "$dir/batch.csv")"
exit 0
