#!/bin/sh
# Stops, and a gear with backlash, located in the step: what check says a frame costs, what the summary counts, and one
# state_hash in batch, in real time, out of a saved state and out of a log.
. tests/support/script.sh
cat >"$dir/run.yaml" <<'Y'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 50, inertia: [20, 20, 20, 0, 0, 0], hinge: {kind: free, to: inertial}}
    arm: {mass: 4, com: [0, 0.5, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [1, 0, 0]}}
    boom: {mass: 4, com: [0, 0.5, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [1, 0, 0]}}
actuators:
  a: {kind: hinge_motor, hinge: arm, mode: torque, stops: {low: -0.1, high: 0.1003, stiffness: 2000, damping: 1}}
  b: {kind: hinge_motor, hinge: boom, mode: torque, stops: {low: -0.1, high: 0.1, stiffness: 2000},
      gear: {ratio: 20, rotor_inertia: 1e-3, backlash: 10 mrad, stiffness: 400, damping: 0.3}}
simulation: {step: 5 ms, duration: 1 s, substeps: 2, initial: {arm: {speed: 2}, boom: {speed: 2.01}}}
Y
"$ORRERY" check "$dir/run.yaml" >"$dir/said" 2>&1 || fail "check: $(cat "$dir/said")"
grep -q '^worst frame: 24 evaluations of the equations of motion; 8 where no stop is touched or left$' "$dir/said" || fail "the cost: $(cat "$dir/said")"
"$ORRERY" check --json "$dir/run.yaml" | tr -d ' \n' | grep -q '"evaluations":{"plain":8,"worst":24}' || fail "the cost as data"
run() { "$ORRERY" run "$dir/run.yaml" "$@"; }
run --mode batch --json --log "$dir/a.mcap" >"$dir/batch" 2>"$dir/err" || fail "batch: $(cat "$dir/err" "$dir/batch")"
tr -d ' \n' <"$dir/batch" | grep -qE '"stops":\{"located":[1-9][0-9]*,"late":[0-9]+\}' || fail "nothing was counted: $(cat "$dir/batch")"
run --mode batch >"$dir/said" 2>&1 || fail "batch: $(cat "$dir/said")"
grep -qE '^stops       [0-9]+ times touched or left, located in the step' "$dir/said" || fail "the summary: $(cat "$dir/said")"
same() { # WHAT FILE
  [ "$(grep state_hash "$2")" = "$(grep state_hash "$dir/batch")" ] || fail "$1: other bits"
}
"$ORRERY" replay "$dir/a.mcap" >"$dir/said" 2>&1 || fail "replay: $(cat "$dir/said")"
run --mode batch --duration 0.25s --save-state "$dir/state" >"$dir/half" 2>&1 || fail "saving: $(cat "$dir/half")"
run --mode batch --duration 0.75s --from-state "$dir/state" --json >"$dir/whole" 2>&1 || fail "going on: $(cat "$dir/whole")"
same "out of a saved state" "$dir/whole"
run --mode realtime --json --no-log >"$dir/real" 2>"$dir/err" || fail "real time: $(cat "$dir/err" "$dir/real")"
same "in real time" "$dir/real"

run --mode batch --set simulation.integrator=heun >"$dir/said" 2>&1 || fail "heun: $(cat "$dir/said")"
run --mode batch --set simulation.integrator=implicit_modal >"$dir/said" 2>&1 || fail "implicit_modal: $(cat "$dir/said")"
sed 's/kind: free, to: inertial/kind: fixed, to: inertial/; s/substeps: 2/integrator: semi_implicit/' "$dir/run.yaml" >"$dir/semi.yaml"
"$ORRERY" check "$dir/semi.yaml" >"$dir/said" 2>&1 || fail "semi_implicit: $(cat "$dir/said")"
grep -q "warning: semi_implicit does not locate stops" "$dir/said" || fail "semi_implicit is not warned of: $(cat "$dir/said")"
