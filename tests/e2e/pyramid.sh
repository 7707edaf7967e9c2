#!/bin/sh
# The controller that is linked in flies whatever wheels span the axes and whatever thrusters turn both ways: the
# cubesat with a pyramid of four wheels, with three wheels in another order and askew, on thrusters alone, and on both.
# Its target is reached by each.
. tests/support/script.sh
craft() { # ACTUATORS COMMANDS
  awk -v file="$dir/actuators" -v commands="$2" '/^actuators:/ { while ((getline line < file) > 0) print line; skip = 1; next } /^sensors:/ { skip = 0 }
    skip { next } { gsub(/commands: \[[^]]*\]/, "commands: [" commands "]"); print }' configs/cubesat.yaml >"$dir/run.yaml"
}
flies() { # NAME COMMANDS MORE: the pointing error over the last five seconds is below a tenth of a degree
  craft "$dir/actuators" "$2"
  "$ORRERY" run "$dir/run.yaml" --mode batch --csv "$dir/out.csv" --set 'expect=[{channel: bus.pointing_error, below: 0.3 deg, after: 55 s}]' >"$dir/out" 2>&1 ||
    fail "$1: $(cat "$dir/out")"
}
wheel='kind: reaction_wheel, node: bus.imu, inertia: 1e-5 kg m^2, max_torque: 1 mN m, max_speed: 6000 rpm'
cat >"$dir/actuators" <<END
actuators:
  wheel_1: {$wheel, axis: [0.6, 0, 0.8]}
  wheel_2: {$wheel, axis: [-0.6, 0, 0.8]}
  wheel_3: {$wheel, axis: [0, 0.6, 0.8]}
  wheel_4: {$wheel, axis: [0, -0.6, 0.8]}
END
flies 'a pyramid of four' 'wheel_*.torque'
# the four share a torque with the least of it: what lies along (1, 1, -1, -1), which turns nothing, is not asked for
python3 - "$dir/out.csv" <<'P' || fail "the pyramid fights itself"
import csv, sys
rows = [{k.split(" ")[0]: float(v) for k, v in r.items()} for r in csv.DictReader(open(sys.argv[1]))]
torques = [[r["wheel_%d.torque" % k] for k in (1, 2, 3, 4)] for r in rows]
assert max(max(map(abs, t)) for t in torques) > 1e-5
assert max(abs(t[0] + t[1] - t[2] - t[3]) for t in torques) < 1e-12
# what the motors gave in a step is what they were asked for in it, within 1 mN m
for before, r in zip(rows, rows[1:]):
    for k in (1, 2, 3, 4):
        asked, given = before["wheel_%d.torque" % k], r["wheel_%d.applied_torque" % k]
        assert abs(given - max(-1e-3, min(1e-3, asked))) < 1e-15, (r["time"], asked, given)
P
cat >"$dir/actuators" <<END
actuators:
  wheel_1: {$wheel, axis: [0, 0, -1]}
  wheel_2: {$wheel, axis: [1, 1, 0]}
  wheel_3: {$wheel, axis: [1, -0.5, 0.5]}
END
flies 'three askew' 'wheel_*.torque'

# what it flies on stands anywhere in the telemetry, beside whatever else
flight() {
  "$ORRERY" run configs/cubesat.yaml --mode batch --set "links.fsw.telemetry=[$1]" 2>"$dir/err" | hash_of
}
plain=$(flight 'gyro.rate, star.attitude, bus.target')
[ ${#plain} -eq 16 ] || fail "$(cat "$dir/err")"
for telemetry in 'bus.target, gyro.rate, star.attitude' "star.*, 'wheel_*.speed', bus.target, gyro.*" 'wheel_x.speed, gyro.rate, star.attitude, star.valid, bus.target'; do
  [ "$(flight "$telemetry")" = "$plain" ] || fail "on $telemetry it flies otherwise: $(cat "$dir/err")"
done

jets() {
  cat <<END
  jet_1: {kind: thruster, node: bus.a, direction: [0, 1, 0], thrust: 2 mN}
  jet_2: {kind: thruster, node: bus.a, direction: [0, -1, 0], thrust: 2 mN}
  jet_3: {kind: thruster, node: bus.b, direction: [0, 1, 0], thrust: 2 mN}
  jet_4: {kind: thruster, node: bus.b, direction: [0, -1, 0], thrust: 2 mN}
  jet_5: {kind: thruster, node: bus.c, direction: [0, 0, 1], thrust: 2 mN}
  jet_6: {kind: thruster, node: bus.c, direction: [0, 0, -1], thrust: 2 mN}
  jet_7: {kind: thruster, node: bus.c, direction: [1, 0, 0], thrust: 2 mN}
  jet_8: {kind: thruster, node: bus.c, direction: [-1, 0, 0], thrust: 2 mN}
END
}
nodes() { sed -i 's/imu: {at: \[0, 0, 0.05\]}/&, a: {at: [0.1, 0, 0]}, b: {at: [-0.1, 0, 0]}, c: {at: [0, 0.1, 0.1]}/' "$dir/run.yaml"; }
craft_with_nodes() {
  craft "$dir/actuators" "$1"
  nodes
}
{ echo actuators:; jets; } >"$dir/actuators"
craft_with_nodes 'jet_*.on_time'
"$ORRERY" run "$dir/run.yaml" --mode batch --duration 120s --csv "$dir/out.csv" --channels 'jet_*.on_time' \
  --set 'expect=[{channel: bus.pointing_error, below: 1 deg, after: 100 s}]' >"$dir/out" 2>&1 || fail "thrusters alone: $(cat "$dir/out")"
{ printf 'actuators:\n'; for k in '1, 0, 0' '0, 1, 0' '0, 0, 1'; do n=$((${n:-0} + 1)); echo "  wheel_$n: {$wheel, axis: [$k]}" | sed 's/max_torque: 1 mN m/max_torque: 0.02 mN m/'; done; jets; } >"$dir/actuators"
craft_with_nodes 'wheel_*.torque, jet_*.on_time'
"$ORRERY" run "$dir/run.yaml" --mode batch --duration 120s --set 'expect=[{channel: bus.pointing_error, below: 1 deg, after: 100 s}]' >"$dir/out" 2>&1 ||
  fail "weak wheels and thrusters: $(cat "$dir/out")"

# two wheels turn it about their axes, thrusters about the third
cp "$dir/actuators" "$dir/both"
{ printf 'actuators:\n  wheel_1: {%s, axis: [1, 0, 0]}\n  wheel_2: {%s, axis: [0, 1, 0]}\n' "$wheel" "$wheel"; jets; } >"$dir/actuators"
craft_with_nodes 'wheel_*.torque, jet_*.on_time'
"$ORRERY" run "$dir/run.yaml" --mode batch --duration 120s --csv "$dir/out.csv" --set 'expect=[{channel: bus.pointing_error, below: 1 deg, after: 100 s}]' >"$dir/out" 2>&1 ||
  fail "two wheels and thrusters: $(cat "$dir/out")"
python3 - "$dir/out.csv" <<'P' || fail "two wheels and thrusters: one of them does nothing"
import csv, sys
rows = [{k.split(" ")[0]: float(v) for k, v in r.items()} for r in csv.DictReader(open(sys.argv[1]))]
assert all(any(abs(r["wheel_%d.torque" % k]) > 1e-6 for r in rows) for k in (1, 2))
assert max(r["jet_%d.on_time" % k] for r in rows for k in (1, 2, 3, 4)) > 1e-3  # these turn it about z
P
"$ORRERY" check "$dir/run.yaml" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
grep -q 'wheels wheel_1.torque, wheel_2.torque turn it about their axes$' "$dir/out" || fail "two wheels, in check: $(cat "$dir/out")"
grep -q 'thrusters jet_1.on_time, .*, jet_8.on_time turn what these wheels do not' "$dir/out" || fail "thrusters, in check: $(cat "$dir/out")"

# --- a command that no wheel or thruster takes is left alone: at rest, or as somebody else sets it --------------------
{ printf 'actuators:\n  gust: {kind: wrench, node: bus.imu}\n'; for k in '1, 0, 0' '0, 1, 0' '0, 0, 1'; do m=$((${m:-0} + 1)); echo "  wheel_$m: {$wheel, axis: [$k]}"; done; } >"$dir/actuators"
craft "$dir/actuators" 'gust.force, wheel_*.torque'
"$ORRERY" run "$dir/run.yaml" --mode batch --csv "$dir/out.csv" --json "$dir/said.json" --set 'expect=[{channel: bus.pointing_error, below: 0.3 deg, after: 55 s}]' >"$dir/out" 2>&1 ||
  fail "a wrench beside wheels: $(cat "$dir/out")"
grep -qx '            the linked-in controller commands wheels and thrusters alone, so it left gust.force as it was' "$dir/out" || fail "what is left alone: $(cat "$dir/out")"
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["links_inside"]["fsw"]["left"] != ["gust.force"])' "$dir/said.json" || fail "what is left alone, in JSON"
"$ORRERY" check "$dir/run.yaml" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
grep -q "with --mode batch the linked-in controller flies it by 'stiffness' and 'damping':" "$dir/out" || fail "who flies it: $(cat "$dir/out")"
grep -q "gust.force: left as the file's commands, a sequence or ctl set it, else at rest" "$dir/out" || fail "what is left alone, in check: $(cat "$dir/out")"
"$ORRERY" check --json "$dir/run.yaml" 2>/dev/null | python3 -c 'import json, sys
inside = json.load(sys.stdin)[0]["run"]["links"][0]["inside"]
sys.exit(inside["kind"] != "gains" or inside["left"] != ["gust.force"] or not inside["wheels_span"] or len(inside["wheels"]) != 3)' || fail "check --json"
# the same bits as where the link does not name it; and what a sequence sets stays set, which a link's zeros would end
there=$("$ORRERY" run "$dir/run.yaml" --mode batch 2>&1 | hash_of)
[ "$there" = "$("$ORRERY" run "$dir/run.yaml" --mode batch --set 'links.fsw.commands=["wheel_*.torque"]' 2>&1 | hash_of)" ] || fail "a command that is left alone changes the bits"
"$ORRERY" run "$dir/run.yaml" --mode batch --csv "$dir/out.csv" --channels gust.force --set 'sequence=[{wait: 1 s}, {set: {gust.force: [0, 0, 1e-6]}}]' >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
tail -1 "$dir/out.csv" | grep -Eq ',0,0,(1e-06|9.99[0-9]*e-07)' || fail "what a sequence sets does not stay: $(tail -1 "$dir/out.csv")"

cp "$dir/both" "$dir/actuators"

# --- what does not span is refused, with the reason -------------------------------------------------------------------
refused() { # COMMANDS WORDS
  craft_with_nodes "$1"
  "$ORRERY" check "$dir/run.yaml" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "commands [$1] are taken"
  grep -q "$2" "$dir/out" || fail "commands [$1]: $(cat "$dir/out")"
}
refused 'wheel_1.torque, wheel_2.torque' 'do not span the three axes'
refused 'jet_1.on_time, jet_2.on_time' 'thrusters that turn both ways'

# --- the interface document gives the ranges of commands --------------------------------------------------------------
craft_with_nodes 'wheel_*.torque, jet_*.on_time'
"$ORRERY" icd "$dir/run.yaml" >"$dir/out" || fail "icd"
grep -q '`wheel_1.torque` | f64 | N m | level | -0.0002 … 0.0002, clipped to ±2e-05 |' "$dir/out" || fail "$(cat "$dir/out")"
grep -q '`jet_1.on_time` | f64 | s | pulse | 0 … 100 |' "$dir/out" || fail "$(cat "$dir/out")"
"$ORRERY" icd --format c "$dir/run.yaml" | grep -q 'wheel_1.torque, N m, from -0.0002 to 0.0002, clipped to +-2e-05' || fail "icd --format c"
"$ORRERY" icd --format json "$dir/run.yaml" | grep -q '"most": 2' || fail "icd --format json"
exit 0
