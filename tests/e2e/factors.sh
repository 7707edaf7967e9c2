#!/bin/sh
# `orrery eval --solve` and `--factors`: the papers' identities hold, and what cannot be answered is refused.
. tests/support/script.sh
# shellcheck disable=SC2046
python3 tests/support/factors.py "$ORRERY" $(dirname tests/vectors/*/expected.json) >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"

cat >"$dir/m.yaml" <<'END2'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [1, 2, 1.5, 0, 0, 0], hinge: {kind: free, to: inertial}}
    antenna:
      {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: gimbal, to: bus.origin, axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}
    panel:
      hinge: {kind: fixed, to: bus.origin}
      modes: [{frequency: 1, damping: 0.01}]
      nodes: {origin: {at: [0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}, tip: {at: [0, 1, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 1]]}}
END2
echo 'state: {}' >"$dir/c.yaml"
run() { "$ORRERY" eval "$dir/m.yaml" "$dir/c.yaml" "$@" >"$dir/out" 2>"$dir/err"; }
# refused STATUS TEXT OPTIONS...: that exit status, nothing on stdout, TEXT on stderr
refused() {
  status=$1 text=$2
  shift 2
  run "$@"
  [ $? -eq "$status" ] || fail "exit status of $*"
  [ -s "$dir/out" ] && fail "$* prints a result"
  grep -q -e "$text" "$dir/err" || fail "$* says: $(cat "$dir/err")"
}
x=1,0,0,0,0,0,0.5,0,0,-2
run || fail "a plain evaluation"
grep -q 'solution\|factors' "$dir/out" && fail "nobody asked for a solution or for factors"
run --solve "$x" || fail "numbers with commas: $(cat "$dir/err")"
cp "$dir/out" "$dir/first"
for form in "[$x]" "$(echo $x | tr , ' ')" " [ 1e0, 0 0,0,0 ,0 .5 0,0 -2 ] "; do
  run --solve "$form" || fail "numbers as '$form': $(cat "$dir/err")"
  cmp -s "$dir/out" "$dir/first" || fail "numbers as '$form' have another answer"
  printf '%s\n' "$form" >"$dir/x"
  run --solve "@$dir/x" || fail "numbers in a file as '$form': $(cat "$dir/err")"
  cmp -s "$dir/out" "$dir/first" || fail "numbers in a file as '$form' have another answer"
done

refused 2 'a value is missing' --solve
refused 2 "2 numbers and the model has 10 speeds; give one for each: bus 6, antenna 3, panel 1 of modes and 0" --solve 1,2
refused 2 "11 numbers and the model has 10" --solve "$x,3"
refused 2 "number 3 is 'x'.*finite" --solve 1,2,x
refused 2 "number 2 is '0.5m'.*finite" --solve 1,0.5m
refused 2 "number 1 is 'nan'" --solve nan
refused 2 "number 2 is '1e999'" --solve 1,1e999
refused 2 "number 2 is ''" --solve 1,,2
refused 2 'after the last comma' --solve 1,2,
refused 2 'there is no number' --solve ''
refused 2 'there is no number' --solve '[]'
refused 2 'bracket has no partner' --solve '[1,2'
refused 2 'bracket has no partner' --solve '1,2]'
refused 2 "'3' stands behind" --solve '[1,2] 3'
refused 2 'trajectory goes with' --trajectory 1 --solve "$x"
refused 2 'trajectory goes with' --trajectory 1 --factors
refused 1 'No such file' --solve "@$dir/none"
printf '%s\0,3' "$x" >"$dir/x"
refused 1 "byte $((${#x} + 1)) of .* is a zero byte" --solve "@$dir/x"
refused 1 'Is a directory' --solve "@$dir"
echo '1 2' >"$dir/x"
refused 1 '2 numbers and the model has 10' --solve "@$dir/x"
echo 'state: {antenna: {q: [0, 90 deg, 0]}}' >"$dir/c.yaml"
refused 1 "body 'antenna'.*singular" --solve "$x"
refused 1 "body 'antenna'.*singular" --factors
# held, the gimbal has accelerations, but the mass matrix has no inverse
echo 'prescribed: {antenna: {acceleration: [0, 0, 0]}}' >>"$dir/c.yaml"
run || fail "a gimbal held at its singular place: $(cat "$dir/err")"
refused 1 "body 'antenna'.*singular" --solve "$x"

# hinge forces and accelerations are those of an evaluation that was asked for nothing else
echo 'state: {antenna: {q: [0.1, 0.2, 0.3], speed: [1, 2, 3]}}
prescribed: {antenna: {acceleration: [0.1, 0, 0]}}
external: [{node: panel.tip, force: [1, 2, 3], frame: body}]' >"$dir/c.yaml"
run || fail "a driven gimbal: $(cat "$dir/err")"
cp "$dir/out" "$dir/first"
run --solve "$x" --factors || fail "the same with factors: $(cat "$dir/err")"
python3 - "$dir/first" "$dir/out" <<'END2' || fail "--factors changes other answers"
import json, sys
plain, asked = (json.load(open(name)) for name in sys.argv[1:])
assert {"factors", "solution", "residual"} == set(asked) - set(plain)
assert all(asked[key] == plain[key] for key in plain)
END2
exit 0
