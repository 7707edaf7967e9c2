#!/bin/sh
# `orrery check`: what it prints of a right file, and how it ends with a wrong one.
. tests/support/script.sh

cat > "$dir/ship.yaml" <<'YAML'
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
"$ORRERY" check "$dir/ship.yaml" > "$dir/said" 2> "$dir/errors" || fail "a right file ends with $?"
[ -s "$dir/errors" ] && fail "a right file says: $(cat "$dir/errors")"
grep -v '^memory: ' "$dir/said" | sed "s|$dir/||" > "$dir/shown"
# sqrt(2)/2π = 0.225079 Hz, sqrt(4)/2π = 0.31831 Hz
cat > "$dir/wanted" <<'TEXT'
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
diff -u "$dir/wanted" "$dir/shown" || fail "the text is another"
grep -q '^memory: model [0-9]* bytes, workspace [0-9]* bytes$' "$dir/said" || fail "no bytes of model and workspace"
grep -q "$(printf '\033')" "$dir/said" && fail "colours without a terminal"

"$ORRERY" check --json "$dir/ship.yaml" > "$dir/json" || fail "--json ends with $?"
for part in '"mass": 13.0' '"degrees_of_freedom": 7' '"name": "mast"' '"to": "bus.left"' '"ok": true' '"prescribed": true'; do
  grep -qF "$part" "$dir/json" || fail "--json lacks $part"
done

sed 's/inertia: \[2/inertai: [2/' "$dir/ship.yaml" > "$dir/wrong.yaml"
"$ORRERY" check "$dir/wrong.yaml" > "$dir/said" 2> "$dir/errors"
[ $? -eq 1 ] || fail "a wrong file does not end with 1"
[ -s "$dir/said" ] && fail "a wrong file is described: $(cat "$dir/said")"
grep -q "wrong.yaml:4:21: error: unknown key 'inertai' in body 'bus', did you mean 'inertia'?" "$dir/errors" || fail "wrong.yaml: $(cat "$dir/errors")"
"$ORRERY" check --json "$dir/wrong.yaml" "$dir/ship.yaml" > "$dir/json" 2> "$dir/errors"
[ $? -eq 1 ] || fail "one wrong file of two does not end with 1"
grep -qF '"code": "unknown-key"' "$dir/json" || fail "--json has no code"
grep -qF '"line": 4' "$dir/json" || fail "--json has no line"
grep -qF '"ok": true' "$dir/json" || fail "the right one of two is missing"

"$ORRERY" check "$dir/nowhere.yaml" > /dev/null 2> "$dir/errors"
[ $? -eq 1 ] || fail "a missing file does not end with 1"
grep -q 'cannot read' "$dir/errors" || fail "a missing file: $(cat "$dir/errors")"
"$ORRERY" check > /dev/null 2>&1
[ $? -eq 2 ] || fail "no file does not end with 2"
"$ORRERY" check --jsn x > /dev/null 2>&1
[ $? -eq 2 ] || fail "an unknown option does not end with 2"

# The channels of a run: a line each, all or those that fit; in JSON with the names of their numbers.
"$ORRERY" check --channels configs/cubesat.yaml > "$dir/said" 2> "$dir/errors" || fail "--channels ends with $?: $(cat "$dir/errors")"
"$ORRERY" check configs/cubesat.yaml | grep -q "^channels: $(wc -l < "$dir/said")," || fail "--channels lists $(wc -l < "$dir/said")"
for line in 'gyro\.rate  *output  *3: x y z  *rad/s  ' 'wheel_x\.torque  *command  *1  *N m  ' 'star\.valid  *output  *1  *-  '; do
  grep -q "^$line" "$dir/said" || fail "--channels has no '$line': $(cat "$dir/said")"
done
"$ORRERY" check '--channels=gyro.*,wheel_?.torque,wheel_*.torque' configs/cubesat.yaml > "$dir/said" || fail "--channels=PATTERNS ends with $?"
[ "$(wc -l < "$dir/said")" -eq 5 ] || fail "--channels=PATTERNS: $(cat "$dir/said")"
"$ORRERY" check --json '--channels=gyro.rate' configs/cubesat.yaml | tr -d ' \n' > "$dir/json"
grep -qF '"channel_list":[{"name":"gyro.rate","unit":"rad/s","count":3,"command":false,"elements":["x","y","z"]}]' "$dir/json" || fail "channel_list"
"$ORRERY" check --channels=gyroo configs/cubesat.yaml > "$dir/said" 2> "$dir/errors"
[ $? -eq 1 ] && grep -q "no channel of 'configs/cubesat.yaml' fits 'gyroo'" "$dir/errors" || fail "a pattern that fits nothing: $(cat "$dir/errors")"
"$ORRERY" check --channels configs/wings.yaml > "$dir/said" 2> "$dir/errors"
[ $? -eq 1 ] && grep -q "has no channels" "$dir/errors" || fail "channels of a model file: $(cat "$dir/errors")"

for model in tests/vectors/*/model.json tests/vectors/*/*/model.json; do
  "$ORRERY" check "$model" > "$dir/said" 2> "$dir/errors" || fail "$model: $(cat "$dir/errors")"
  [ -s "$dir/said" ] || fail "$model: nothing said"
done

# Ten thousand bodies deep, the tree is still drawn in a few bytes a line.
awk 'BEGIN {
  print "orrery: 1\nspacecraft:\n  bodies:"
  for (i = 0; i < 10000; i++)
    printf "    b%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: %s, axis: [0, 0, 1]}}\n", i, i ? "b" i - 1 ".origin" : "inertial"
}' > "$dir/deep.yaml"
"$ORRERY" check "$dir/deep.yaml" > "$dir/said" || fail "ten thousand deep"
[ "$(grep -c 'revolute about' "$dir/said")" -eq 10000 ] || fail "not every body of a deep tree is shown"
[ "$(wc -c < "$dir/said")" -lt 3000000 ] || fail "a deep tree takes $(wc -c < "$dir/said") bytes"

# A spring of 10 Hz: rk4 follows it up to 2.828/2π·10 Hz = 45 ms. Beyond that check and run warn at the
# step; two sub-steps will do.
cat > "$dir/stiff.yaml" <<'YAML'
orrery: 1
spacecraft: {bodies: {arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: inertial, stiffness: 3947.8418 N m/rad}}}}
simulation:
  duration: 1 s
  step: 50 ms
YAML
warning="stiff.yaml:5:9: warning: a step of 50 ms is too long for rk4: .* at least 10 Hz.*the hinge of 'arm'.* up to 45.02 ms; .*'substeps: 2'"
"$ORRERY" check "$dir/stiff.yaml" > "$dir/said" 2> "$dir/errors" || fail "a long step ends check with $?"
grep -q "$warning" "$dir/errors" || fail "a long step: $(cat "$dir/errors")"
grep -q "^stiffest motion: at least 10 Hz, damped by 0 %, 100 % of it the hinge of 'arm'; rk4 is stable up to a step of 45.02 ms$" "$dir/said" ||
  fail "no stiffest motion: $(cat "$dir/said")"
"$ORRERY" check --json "$dir/stiff.yaml" > "$dir/json" 2> "$dir/errors" || fail "a long step ends --json with $?"
for part in '"code": "unstable-step"' '"severity": "warning"' '"line": 5' '"column": 9' '"step_limit": 0.0450' '"rate": 62.83'; do
  grep -qF "$part" "$dir/json" || fail "--json lacks $part of a long step: $(cat "$dir/json")"
done
"$ORRERY" run "$dir/stiff.yaml" --mode batch > "$dir/said" 2> "$dir/errors" || fail "a long step is no error, but run ends with $?"
grep -q "$warning" "$dir/errors" || fail "run says nothing of a long step: $(cat "$dir/errors")"
for set in step=44ms,substeps=1 step=50ms,substeps=2; do
  "$ORRERY" run "$dir/stiff.yaml" --mode batch --set "simulation.${set%,*}" --set "simulation.${set#*,}" --set simulation.duration=2200ms \
    > "$dir/said" 2> "$dir/errors" || fail "$set: $(cat "$dir/errors")"
  [ -s "$dir/errors" ] && fail "a short step is warned of: $set: $(cat "$dir/errors")"
done
# a field of J2 alone is called that
sed "s|gravity: {file: data/ggm03s_70.txt, degree: 20}|gravity: {j2: 1.0826e-3}|; s|data/|$PWD/configs/data/|" configs/orbit.yaml >"$dir/j2.yaml"
"$ORRERY" check "$dir/j2.yaml" >"$dir/said" 2>&1 || fail "J2: $(cat "$dir/said")"
grep -q '^environment: earth, gravity with J2, Sun' "$dir/said" || fail "J2: $(grep '^environment' "$dir/said")"

# A procedure is read over the run file, as run reads it: the same messages at the same places, and in JSON.
procedure=configs/procedures/wheel-failure.yaml
"$ORRERY" check configs/cubesat.yaml --sequence $procedure >"$dir/said" 2>"$dir/errors" || fail "--sequence: $(cat "$dir/errors")"
for line in '  sequence of 12 steps' '  5 expectations' '  fault bearing: wheel_z seized'; do
  grep -qx "$line" "$dir/said" || fail "--sequence, no '$line': $(cat "$dir/said")"
done
"$ORRERY" check --json --sequence $procedure configs/cubesat.yaml | tr -d ' \n' >"$dir/json" || fail "--sequence --json"
for part in "\"sequence\":\"$procedure\"" '"procedure":{"steps":12,"faults":2,"expectations":5}' '"ok":true'; do
  grep -qF "$part" "$dir/json" || fail "--sequence --json lacks $part"
done
sed 's/name: bearing/name: baering/; s/wheel_z.speed above/wheel_q.speed above/' $procedure >"$dir/wrong.yaml"
"$ORRERY" check configs/cubesat.yaml --sequence "$dir/wrong.yaml" >"$dir/said" 2>"$dir/errors"
[ $? -eq 1 ] || fail "a wrong procedure is taken"
[ -s "$dir/said" ] && fail "a wrong procedure is described: $(cat "$dir/said")"
"$ORRERY" run configs/cubesat.yaml --mode batch --sequence "$dir/wrong.yaml" >/dev/null 2>"$dir/errors.run"
[ "$(grep -c ': error: ' "$dir/errors")" -eq 2 ] && cmp "$dir/errors" "$dir/errors.run" || fail "check and run differ: $(cat "$dir/errors" "$dir/errors.run")"
"$ORRERY" check --json configs/cubesat.yaml --sequence "$dir/wrong.yaml" 2>/dev/null | tr -d ' \n' >"$dir/json"
grep -qF "\"code\":\"unknown-fault\"" "$dir/json" && grep -qF "\"file\":\"$dir/wrong.yaml\"" "$dir/json" && grep -qF '"ok":false' "$dir/json" || fail "in JSON: $(cat "$dir/json")"
"$ORRERY" check configs/wings.yaml --sequence $procedure >"$dir/said" 2>"$dir/errors"
[ $? -eq 1 ] && grep -q "a run needs a section 'simulation'" "$dir/errors" || fail "a procedure over a model alone: $(cat "$dir/errors")"
"$ORRERY" check $procedure >"$dir/said" 2>"$dir/errors"
[ $? -eq 1 ] && grep -q "this is a test procedure, .*'orrery check RUN.yaml --sequence FILE'" "$dir/errors" || fail "a procedure alone: $(cat "$dir/errors")"
for words in '--sequence' "--sequence $procedure --sequence $procedure configs/cubesat.yaml" '--set @x configs/cubesat.yaml'; do
  # shellcheck disable=SC2086
  "$ORRERY" check $words >/dev/null 2>&1
  [ $? -eq 2 ] || fail "'check $words' does not end with 2"
done
# --set as run has it
"$ORRERY" check configs/cubesat.yaml --set simulation.step=20ms | grep -q '^run: 50 Hz' || fail "--set"
# what run refuses of a stand-in, check refuses with the same words
"$ORRERY" check configs/cubesat.yaml --set links.fsw.stand_in=cassinni >"$dir/said" 2>"$dir/errors"
[ $? -eq 1 ] || fail "a stand-in that is none is taken"
"$ORRERY" run configs/cubesat.yaml --mode batch --set links.fsw.stand_in=cassinni >/dev/null 2>"$dir/errors.run"
grep -q "there is no stand-in 'cassinni'" "$dir/errors" && cmp "$dir/errors" "$dir/errors.run" || fail "a stand-in: $(cat "$dir/errors" "$dir/errors.run")"

# The numbers of a load have units of their own: in bounds, conditions, tables and pictures, and in tables made of logs.
"$ORRERY" run "$dir/stiff.yaml" --mode batch --duration 1s --csv "$dir/load.csv" --channels 'arm.load' --plot "$dir/load.svg" --plot-channels 'arm.load' --set 'record={channels: ["*"]}' \
  --log "$dir/load.mcap" --set 'expect=[{channel: arm.load.nz, below: 9000 N m}, {always: arm.load.fx below 10 kN}]' >"$dir/said" 2>&1 || fail "bounds of a load: $(cat "$dir/said")"
head -1 "$dir/load.csv" | grep -qx 'time (s),arm.load.nx (N m),arm.load.ny (N m),arm.load.nz (N m),arm.load.fx (N),arm.load.fy (N),arm.load.fz (N)' || fail "units of a load: $(head -1 "$dir/load.csv")"
grep -q '>N m<' "$dir/load.svg" && grep -q '>N<' "$dir/load.svg" && ! grep -q 'no unit' "$dir/load.svg" || fail "panels of a load"
"$ORRERY" log export "$dir/load.mcap" --csv "$dir/out.csv" >"$dir/said" 2>&1 && head -1 "$dir/out.csv" | grep -q 'arm.load.nz (N m),arm.load.fx (N)' || fail "units of a load in a log: $(cat "$dir/said"; head -1 "$dir/out.csv")"
"$ORRERY" check "$dir/stiff.yaml" --set 'expect=[{channel: arm.load.fx, below: 9 N m}]' >"$dir/said" 2>&1 && fail "a force below a torque"
exit 0
