#!/bin/sh
# `orrery eval`: what it answers where there is no answer, and how its numbers are written.
. tests/support/script.sh
cat >"$dir/m.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [1, 2, 1.5, 0, 0, 0], hinge: {kind: free, to: inertial}}
    antenna:
      {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: gimbal, to: bus.origin, axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}
END
run() {
  printf '%s\n' "$1" >"$dir/c.yaml"
  shift
  "$ORRERY" eval "$dir/m.yaml" "$dir/c.yaml" "$@" >"$dir/out" 2>"$dir/err"
}
# refused TEXT CASE OPTIONS...: exit 1, nothing on stdout, TEXT on stderr
refused() {
  text=$1
  shift
  run "$@"
  [ $? -eq 1 ] || fail "exit status of $*"
  [ -s "$dir/out" ] && fail "$* prints a result"
  grep -q "c.yaml: error: .*$text" "$dir/err" || fail "$* says: $(cat "$dir/err")"
}
wide='state: {bus: {rate: [1e200, 1e200, 1]}}'
locked='state: {antenna: {q: [0, 90 deg, 0]}}'
held="$locked
prescribed: {antenna: {acceleration: [0, 0, 0]}}"

refused "body 'antenna'.*singular" "$locked"
refused "body 'antenna'.*singular" "$locked" --method composite
refused "body 'antenna'.*singular" "$locked" --inverse --operational bus.origin
refused "body 'antenna'.*not a finite" "$wide"
refused "body '[a-z]*'.*not a finite" "$wide" --method composite
refused 'bodies\.bus\.tau\[0\] .*not a finite' "$wide" --inverse
refused 'kinetic_energy .*not a finite' 'state: {bus: {velocity: [1e200, 0, 0]}}'

# the locked gimbal can be driven, and what stands is answered
run "$held" --operational antenna.origin bus.origin || fail "a gimbal held at its singular place: $(cat "$dir/err")"
grep -q '"operational_compliance"' "$dir/out" || fail "compliance with the gimbal held"
grep -q '"log_det_mass_matrix"' "$dir/out" && fail "a singular mass matrix has a determinant"

grep -q '"operational_inertia": *null' "$dir/out" || fail "held together, the two nodes have no inertia of their own"

# a free body seems to weigh what it weighs at its mass centre: [I, m]; at a node off it, m (l² − l lᵀ) comes to I
cat >"$dir/free.yaml" <<'END'
orrery: 1
spacecraft: {bodies: {b: {mass: 4, inertia: [1, 2, 3, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {off: {at: [0, 0, 0.5]}}}}}
END
echo 'state: {}' >"$dir/still.yaml"
inertia() {
  "$ORRERY" eval "$dir/free.yaml" "$dir/still.yaml" --operational "$1" | python3 -c '
import json, sys
m = json.load(sys.stdin)["operational_inertia"]
print(*("%.9g" % m[i][i] for i in range(6)), "%.9g" % m[0][4], "%.9g" % m[1][3])'
}
[ "$(inertia b.origin)" = "1 2 3 4 4 4 0 0" ] || [ "$(inertia b.origin)" = "1 2 3 4 4 4 -0 -0" ] || fail "at the mass centre: $(inertia b.origin)"
[ "$(inertia b.off)" = "2 3 3 4 4 4 2 -2" ] || fail "off it: $(inertia b.off)"

# 17 significant digits: 0.1 is not a double, and comes back as the double it became
run 'state: {bus: {position: [0.1, 0, 0]}}' || fail "a plain state"
grep -q '0\.10000000000000001' "$dir/out" || fail "digits of a position"
if [ -w /dev/full ]; then
  "$ORRERY" eval "$dir/m.yaml" "$dir/c.yaml" >/dev/full 2>/dev/null && fail "output that cannot be written is not success"
fi
exit 0
