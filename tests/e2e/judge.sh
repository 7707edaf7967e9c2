#!/bin/sh
# Logs held to expectations that were written later: the verdicts and values are those of a run that expects the
# same, in the order of the rules; exit statuses; a file that is no rules; a log that is cut; one of a lockstep run
# with faults and a sequence.
. tests/support/script.sh

cat >"$dir/rules.yaml" <<'Y'
expect:
  - {always: norm(gyro.rate) below 20 deg/s, requirement: R-1, name: slow}
  - {channel: bus.rate, of: rms, below: 0.1 deg/s, name: quiet}
  - {channel: wheel_x.speed, between: [-6000 rpm, 6000 rpm], requirement: R-2}
  - {channel: gyro.rate, of: settling_time, tolerance: 1 deg/s, below: 29 s}
Y
judge() { # STATUS ARGUMENTS: of judge; what it says in out
  wanted=$1
  shift
  "$ORRERY" judge "$@" >"$dir/out" 2>"$dir/err"
  status=$?
  [ $status -eq "$wanted" ] || fail "judge $*: exit $status, not $wanted: $(cat "$dir/out" "$dir/err")"
}

"$ORRERY" run configs/cubesat.yaml --mode batch --duration 30s --log "$dir/a.mcap" >"$dir/run" || fail "$(cat "$dir/run")"
"$ORRERY" run configs/cubesat.yaml --mode batch --log "$dir/b.mcap" --sequence configs/procedures/wheel-failure.yaml >"$dir/run" || fail "$(cat "$dir/run")"
judge 1 "$dir/a.mcap" "$dir/b.mcap" "$dir/rules.yaml"
grep -q '^R-1  *slow  *met  *met *$' "$dir/out" && grep -q '^ *quiet  *NOT MET  *NOT MET *$' "$dir/out" || fail "the matrix: $(cat "$dir/out")"
sed '/quiet/d' "$dir/rules.yaml" >"$dir/good.yaml"
judge 0 "$dir/a.mcap" "$dir/good.yaml"
sed -n 's/^  - /- /p' "$dir/good.yaml" >"$dir/list.yaml" # the list alone
judge 0 "$dir/a.mcap" "$dir/b.mcap" "$dir/list.yaml"
echo 'expect: [{eventually: time above 90 s, within: 95 s}]' >"$dir/late.yaml"
judge 3 "$dir/a.mcap" "$dir/late.yaml"
echo 'faults: []' >"$dir/faults.yaml"
judge 1 "$dir/a.mcap" "$dir/faults.yaml"
grep -q "faults.yaml:1:1: error: a file that is laid over a run holds expect here, not 'faults'" "$dir/err" || fail "$(cat "$dir/err")"
# rules that are wrong by themselves are told once, before any log is read; those that do not fit, once for
# logs of the same devices
echo 'expect: [{chanel: bus.rate, below: 1, after: soon}]' >"$dir/wrong.yaml"
judge 1 "$dir/a.mcap" "$dir/b.mcap" /nowhere.mcap "$dir/wrong.yaml"
[ "$(grep -c "unknown key 'chanel'" "$dir/err")" -eq 1 ] && grep -q "wrong.yaml:1:46: error: 'after' takes" "$dir/err" || fail "wrong rules: $(cat "$dir/err")"
grep -q nowhere.mcap "$dir/err" && fail "wrong rules, and logs are read: $(cat "$dir/err")"
[ ! -s "$dir/out" ] || fail "wrong rules, and a matrix: $(cat "$dir/out")"
echo 'expect: [{channel: bus.rat, below: 1}]' >"$dir/unfit.yaml"
judge 1 "$dir/a.mcap" "$dir/a.mcap" "$dir/b.mcap" "$dir/unfit.yaml"
[ "$(grep -c "no channel 'bus.rat', did you mean 'bus.rate'" "$dir/err")" -eq 1 ] || fail "rules that fit no log: $(cat "$dir/err")"
judge 1 "$dir/a.mcap" /nowhere.yaml
judge 2 "$dir/a.mcap"
judge 2
judge 2 --jsn "$dir/a.mcap" "$dir/good.yaml"

# the same numbers as a run that expects it
command -v python3 >/dev/null || exit 0
judge 1 --json "$dir/a.mcap" "$dir/rules.yaml"
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 30s --json "$dir/run.json" --set "expect=$(sed 1d "$dir/rules.yaml")" >"$dir/run" 2>&1
python3 - "$dir/out" "$dir/run.json" <<'P' || fail "judge and run differ"
import json, sys
judged, run = (json.load(open(p)) for p in sys.argv[1:])
assert judged["logs"][0]["identical"] and judged["logs"][0]["whole"]
assert judged["logs"][0]["expect"] == run["expect"] and len(run["expect"]) == 4, (judged, run["expect"])
P
# in text, what is not met has value and time as JSON has them; what is met has no line
cat >"$dir/unmet.yaml" <<'Y'
- {channel: bus.rate, of: rms, below: 0.1 deg/s, name: quiet}
- {channel: wheel_x.speed, below: 1 rpm}
- {always: norm(gyro.rate) below 1 deg/s, name: still}
- {channel: gyro.rate, of: settling_time, tolerance: 1e-9 deg/s, below: 29 s}
- {always: norm(gyro.rate) below 20 deg/s, name: slow}
Y
judge 1 --json "$dir/a.mcap" "$dir/unmet.yaml"
mv "$dir/out" "$dir/unmet.json"
judge 1 "$dir/a.mcap" "$dir/unmet.yaml"
python3 - "$dir/unmet.json" "$dir/out" <<'P' || fail "what is not met: $(cat "$dir/out" "$dir/unmet.json")"
import json, re, sys
rules = json.load(open(sys.argv[1]))["logs"][0]["expect"]
lines = re.findall(r"^  1  NOT MET  (.*)$", open(sys.argv[2]).read(), re.M)
assert len(lines) == 4 and [r["verdict"] for r in rules] == ["not_met"] * 4 + ["met"], lines
quiet, wheel, still, settles = lines
value = lambda line, unit: float(re.search(r": (\S+) " + unit + r"( at |$)", line)[1])  # in the unit of the bound
near = lambda a, b: abs(a - b) <= 1e-3 * abs(b)
DEG, RPM = 0.017453292519943295, 0.10471975511965977
at = lambda line: float(re.search(r" at (\S+) s$", line)[1])
assert quiet.startswith("quiet: bus.rate ") and near(value(quiet, "deg/s") * DEG, rules[0]["value"]), quiet
assert near(value(wheel, "rpm") * RPM, rules[1]["value"]) and near(at(wheel), rules[1]["at_s"]), wheel
assert all(line.endswith(r["told"]) for line, r in zip(lines, rules)), lines
assert " broken at " in still and near(at(still), rules[2]["at_s"]), still
assert settles.endswith(": does not settle") and "value" not in rules[3], settles
P

# the logs stand before the rules: one that stands behind them is said to be none
"$ORRERY" judge "$dir/unmet.yaml" "$dir/a.mcap" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && grep -q "'$dir/a.mcap' is a log: the file of expectations stands behind the logs" "$dir/err" || fail "a log for rules: $(cat "$dir/err")"

# a log that is cut is judged as far as it goes, and said to be no more
head -c $(($(stat -c %s "$dir/a.mcap") / 2)) "$dir/a.mcap" >"$dir/cut.mcap"
judge 3 "$dir/cut.mcap" "$dir/good.yaml"
grep -q 'not whole' "$dir/out" || fail "a cut log: $(cat "$dir/out")"

over shm configs/cubesat.yaml >"$dir/ship.yaml"
"$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
peer=$!
"$ORRERY" run "$dir/ship.yaml" --mode lockstep --duration 30s --sequence configs/procedures/wheel-failure.yaml --log "$dir/lockstep.mcap" >"$dir/run" 2>&1
wait $peer
judge 0 "$dir/lockstep.mcap" "$dir/good.yaml"
