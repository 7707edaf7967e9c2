#!/bin/sh
# `orrery check`: what it prints of a right file, and how it ends with a wrong one.
set -u
status=0
say() {
  echo "FAIL: $*"
  status=1
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

cat > "$scratch/ship.yaml" <<'YAML'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {left: {at: [1, 0, 0]}, right: {at: [-1, 0, 0]}}}
    mast: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.left, axis: [0, 0, 1], stiffness: 3, prescribed: true}}
    boom:
      hinge: {kind: fixed, to: bus.right}
      stiffness: [[3, 1], [1, 3]]
      nodes:
        origin: {at: [0, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}
        tip: {at: [0, 1, 0], mass: 1, modes: [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]]}
YAML
"$ORRERY" check "$scratch/ship.yaml" > "$scratch/said" 2> "$scratch/errors" || say "a right file ends with $?"
[ -s "$scratch/errors" ] && say "a right file says: $(cat "$scratch/errors")"
grep -v '^memory: ' "$scratch/said" | sed "s|$scratch/||" > "$scratch/shown"
# sqrt(2)/2π = 0.225079 Hz, sqrt(4)/2π = 0.31831 Hz
cat > "$scratch/wanted" <<'TEXT'
ship.yaml: 3 bodies, 7 degrees of freedom in the hinges (1 prescribed), 2 modes, 0 loops
inertial
└─ bus  rigid, 10 kg  free, 6 dof
   ├─ mast  rigid, 1 kg  revolute about [0 0 1] on bus.left, 1 dof, prescribed, spring 3 N m/rad
   └─ boom  flexible, 2 kg, 2 modes  fixed on bus.right, 0 dof
total mass 13 kg
centre of mass [-0.0769231 0.0769231 0] m (at rest, inertial axes)
inertia about it [3.92308 5.92308 6.84615 0.923077 0 0] kg m^2 (xx yy zz xy xz yz)
modes of boom: [0.225079 0.31831] Hz
TEXT
diff -u "$scratch/wanted" "$scratch/shown" || say "the text is another"
grep -q '^memory: model [0-9]* bytes, workspace [0-9]* bytes$' "$scratch/said" || say "no bytes of model and workspace"
grep -q "$(printf '\033')" "$scratch/said" && say "colours without a terminal"

"$ORRERY" check --json "$scratch/ship.yaml" > "$scratch/json" || say "--json ends with $?"
for part in '"mass": 13.0' '"degrees_of_freedom": 7' '"name": "mast"' '"to": "bus.left"' '"ok": true' '"prescribed": true'; do
  grep -qF "$part" "$scratch/json" || say "--json lacks $part"
done

sed 's/inertia: \[2/inertai: [2/' "$scratch/ship.yaml" > "$scratch/wrong.yaml"
"$ORRERY" check "$scratch/wrong.yaml" > "$scratch/said" 2> "$scratch/errors"
[ $? -eq 1 ] || say "a wrong file does not end with 1"
[ -s "$scratch/said" ] && say "a wrong file is described: $(cat "$scratch/said")"
grep -q "wrong.yaml:4:21: error: unknown key 'inertai' in body 'bus', did you mean 'inertia'?" "$scratch/errors" || say "wrong.yaml: $(cat "$scratch/errors")"
"$ORRERY" check --json "$scratch/wrong.yaml" "$scratch/ship.yaml" > "$scratch/json" 2> "$scratch/errors"
[ $? -eq 1 ] || say "one wrong file of two does not end with 1"
grep -qF '"code": "unknown-key"' "$scratch/json" || say "--json has no code"
grep -qF '"line": 4' "$scratch/json" || say "--json has no line"
grep -qF '"ok": true' "$scratch/json" || say "the right one of two is missing"

"$ORRERY" check "$scratch/nowhere.yaml" > /dev/null 2> "$scratch/errors"
[ $? -eq 1 ] || say "a missing file does not end with 1"
grep -q 'cannot read' "$scratch/errors" || say "a missing file: $(cat "$scratch/errors")"
"$ORRERY" check > /dev/null 2>&1
[ $? -eq 2 ] || say "no file does not end with 2"
"$ORRERY" check --jsn x > /dev/null 2>&1
[ $? -eq 2 ] || say "an unknown option does not end with 2"

for model in tests/vectors/*/model.json tests/vectors/*/*/model.json; do
  "$ORRERY" check "$model" > "$scratch/said" 2> "$scratch/errors" || say "$model: $(cat "$scratch/errors")"
  [ -s "$scratch/said" ] || say "$model: nothing said"
done

# Ten thousand bodies deep, the tree is still drawn in a few bytes a line.
awk 'BEGIN {
  print "orrery: 1\nspacecraft:\n  bodies:"
  for (i = 0; i < 10000; i++)
    printf "    b%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: %s, axis: [0, 0, 1]}}\n", i, i ? "b" i - 1 ".origin" : "inertial"
}' > "$scratch/deep.yaml"
"$ORRERY" check "$scratch/deep.yaml" > "$scratch/said" || say "ten thousand deep"
[ "$(grep -c 'revolute about' "$scratch/said")" -eq 10000 ] || say "not every body of a deep tree is shown"
[ "$(wc -c < "$scratch/said")" -lt 3000000 ] || say "a deep tree takes $(wc -c < "$scratch/said") bytes"
exit $status
