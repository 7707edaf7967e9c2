#!/bin/sh
# `orrery eval --trajectory` and its options; what runs that blow up say.
. tests/support/script.sh
cat >"$dir/m.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    m: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial, stiffness: 1}}
END
echo 'state: {m: {q: [1]}}' >"$dir/c.yaml"
move() { "$ORRERY" eval "$dir/m.yaml" "$dir/c.yaml" --trajectory "$@" 2>"$dir/err"; }
q_of() { tr -d ' \n' | sed 's/.*"q":\[\([^]]*\)\].*/\1/'; }
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(a != "" && d < e && -d < e) }'; }

near "$(move 3.141592653 | q_of)" -1 1e-9 || fail "rk4 at half a period, off the grid"
near "$(move 3141.592653ms --step 10ms | q_of)" -1 1e-8 || fail "units and --step"
for rule in heun semi_implicit implicit_modal; do
  q=$(move 3.141592653 --step 1ms --integrator $rule | q_of)
  near "$q" -1 2e-3 || fail "$rule: $q"
  near "$q" -1 1e-12 && fail "$rule is as good as rk4?"
done
[ "$(move 0,1,2 | grep -c '"t":')" -eq 3 ] || fail "three times give three samples"
for wrong in '2,1' '-1' '' 'x' '1,' '1 kg'; do
  move "$wrong" >/dev/null && fail "--trajectory '$wrong' is taken"
  [ -s "$dir/err" ] || fail "--trajectory '$wrong' says nothing"
done
move 1 --step 0 >/dev/null && fail "--step 0 is taken"
move 1 --integrator euler >/dev/null && fail "--integrator euler is taken"
move 1 --inverse >/dev/null && fail "--inverse goes with --trajectory"
"$ORRERY" eval "$dir/m.yaml" "$dir/c.yaml" --step 1ms >/dev/null 2>&1 && fail "--step without --trajectory is taken"

# a mode far beyond rk4: the run ends, and says which frame and body
cat >"$dir/stiff.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    panel:
      hinge: {kind: fixed, to: inertial}
      modes: [{frequency: 50 kHz, damping: 0}]
      nodes:
        origin: {at: [0, 0, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}
        tip: {at: [0, 2, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 1]]}
simulation: {step: 1 ms, duration: 1 s, initial: {panel: {eta: [1e-3]}}}
END
"$ORRERY" run "$dir/stiff.yaml" --mode batch >/dev/null 2>"$dir/err"
[ $? -eq 1 ] || fail "a run that blows up is no success"
grep -q "diverged at .* s: panel's fastest mode .* 1/s" "$dir/err" && grep -q "^  frame [0-9]*: body 'panel': .*finite" "$dir/err" || fail "it says: $(cat "$dir/err")"
"$ORRERY" run "$dir/stiff.yaml" --mode batch --set simulation.integrator=implicit_modal >/dev/null || fail "implicit_modal flies it"
exit 0
