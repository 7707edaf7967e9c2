#!/bin/sh
# Each sort of expectation against its value computed from the exported table; the same in lockstep; the verdict as a
# JUnit file, valid whatever came out.
. tests/support/script.sh

expect='expect=[{name: rms, channel: gyro.rate, of: rms, below: 1 deg/s, after: 2 s},
  {name: integral, channel: gyro.rate.x, of: integral, below: 1 deg, until: 5 s},
  {name: overshoot, channel: bus.pointing_error, of: overshoot, to: 1 deg, below: 1 deg},
  {name: settles, requirement: R-12, channel: gyro.rate, of: settling_time, tolerance: 1 deg/s, below: 30 s, after: 1 s},
  {name: never settles, channel: gyro.rate, of: settling_time, tolerance: 0.001 deg/s, below: 30 s},
  {name: settles from below, channel: gyro.rate.y, of: settling_time, tolerance: 0.1 deg/s, below: 30 s},
  {name: crossings, channel: gyro.rate.x, of: crossings, level: 0.1 deg/s, below: 1000},
  {name: comes, eventually: "norm(gyro.rate) below 0.5 deg/s for 1 s", within: 20 s},
  {name: breaks, always: "norm(gyro.rate) below 1 deg/s"},
  {name: holds, always: "norm(gyro.rate) below 5 deg/s", after: 1 s},
  {name: never, eventually: "norm(gyro.rate) above 50 deg/s", until: 10 s}]'
fly() { # OPTIONS: the exit status
  "$ORRERY" run configs/cubesat.yaml --mode batch --duration 30s --json "$dir/run.json" --junit "$dir/run.xml" --csv "$dir/run.csv" --channels 'gyro.rate,bus.pointing_error' "$@" >"$dir/out" 2>&1
}
fly --set "$expect"
[ $? -eq 1 ] || fail "expectations that are not met are exit 1: $(cat "$dir/out")"
python3 tests/support/expectations.py "$dir/run.json" "$dir/run.csv" || fail "against the table"
python3 tests/support/junit.py "$dir/run.xml" || fail "JUnit: $(cat "$dir/run.xml")"
grep -q 'name="settles R-12"' "$dir/run.xml" || fail "no requirement in JUnit"

# what is not met says its condition beside its name; bounds have their unit, as a bare number too
grep -q '^NOT MET  *breaks  *always norm(gyro.rate) below 1 deg/s:*  *broken at ' "$dir/out" || fail "a named promise: $(cat "$dir/out")"
grep -q '^NOT MET  *never  *eventually norm(gyro.rate) above 50 deg/s until 10 s: never$' "$dir/out" || fail "a named promise with an end: $(cat "$dir/out")"
grep -q '^NOT MET  *never settles  *gyro.rate settling_time below 30 s' "$dir/out" || fail "a named statistic: $(cat "$dir/out")"
grep -q '^met  *holds  *always after 1 s  *held' "$dir/out" || fail "what is met is short: $(cat "$dir/out")"
fly --set 'expect=[{channel: bus.pointing_error, below: 0.05}, {channel: gyro.rate, between: [-1 rpm, 2]}, {name: slow, channel: gyro.rate, of: rms, below: 1e-9},
  {channel: gyro.rate.x, of: crossings, above: -1}, {channel: gyro.rate.x, of_peak: 1, after: 5 s}]'
grep -q '^[a-zA-Z ]*bus.pointing_error  *below 0.05 rad  *[0-9.e-]* rad' "$dir/out" || fail "a bare bound: $(cat "$dir/out")"
grep -q ' gyro.rate  *between -1 rpm and 2 rad/s ' "$dir/out" || fail "a range of two units: $(cat "$dir/out")"
grep -q '^NOT MET  *slow  *gyro.rate rms below 1e-9 rad/s  *[0-9.e-]* rad/s' "$dir/out" || fail "a bare bound of a statistic: $(cat "$dir/out")"
grep -q ' crossings above -1  *[0-9]*$' "$dir/out" && grep -q ' of_peak 1 after 5 s ' "$dir/out" || fail "bounds without a unit: $(cat "$dir/out")"
grep -q 'gyro.rate rms below 1e-9 rad/s is not met: [0-9.]* rad/s' "$dir/run.xml" || fail "JUnit without the unit: $(cat "$dir/run.xml")"

# a procedure whose expectations replace those of the run file: one line says so, and no line where nothing is replaced
sed '/^expect:/,$d' configs/cubesat.yaml >"$dir/two.yaml"
echo 'expect: [{channel: bus.rate, below: 9 deg/s}, {channel: gyro.rate, below: 9 deg/s}]' >>"$dir/two.yaml"
echo 'expect: [{channel: bus.rate, below: 8 deg/s}]' >"$dir/procedure.yaml"
fly_two() { "$ORRERY" run "$dir/two.yaml" --mode batch --duration 1s "$@" >"$dir/out" 2>&1 || fail "$*: $(cat "$dir/out")"; }
fly_two --sequence "$dir/procedure.yaml"
[ "$(grep -c "^expects  *what '$dir/procedure.yaml' does (1), in place of '$dir/two.yaml' (2)$" "$dir/out")" -eq 1 ] || fail "expectations that are replaced: $(cat "$dir/out")"
[ "$(grep -c '^met ' "$dir/out")" -eq 1 ] || fail "one is judged: $(cat "$dir/out")"
fly_two
grep -q '^expects' "$dir/out" && fail "nothing is replaced: $(cat "$dir/out")"
echo '- {wait: 10 ms}' >"$dir/steps.yaml"
fly_two --sequence "$dir/steps.yaml"
grep -q '^expects' "$dir/out" && fail "steps alone replace nothing: $(cat "$dir/out")"

# what did not come yet in a run that is too short: incomplete, and an error of the flight in JUnit
fly --set 'expect=[{eventually: time above 90 s, within: 99 s}, {channel: "gyro.rate", of: rms, below: "9 deg/s", after: "50 s"}]'
[ $? -eq 3 ] || fail "too short a run is incomplete: $(cat "$dir/out")"
grep -q 'is expected by 99 s' "$dir/out" || fail "what it needs is not told: $(cat "$dir/out")"
python3 tests/support/junit.py "$dir/run.xml" || fail "JUnit: $(cat "$dir/run.xml")"
grep -q '<error type="incomplete"' "$dir/run.xml" && grep -q '<skipped/>' "$dir/run.xml" || fail "JUnit of what is incomplete: $(cat "$dir/run.xml")"

# names with what XML minds
fly --set 'expect=[{name: "a<b>&\"c\"", channel: gyro.rate, of: rms, below: 9 deg/s}]' || fail "passes: $(cat "$dir/out")"
python3 tests/support/junit.py "$dir/run.xml" || fail "JUnit: $(cat "$dir/run.xml")"
fly --junit /nowhere/run.xml && fail "a JUnit file that cannot be written"
grep -q "cannot write '/nowhere/run.xml'" "$dir/out" || fail "$(cat "$dir/out")"

# the same verdicts in lockstep and in real time, and no log or state is needed
for mode in lockstep realtime; do
  over shm configs/cubesat.yaml >"$dir/ship.yaml"
  "$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
  peer=$!
  "$ORRERY" run "$dir/ship.yaml" --mode $mode --duration 6s --set 'expect=[{always: "norm(gyro.rate) below 90 deg/s"}, {channel: gyro.rate, of: rms, below: 90 deg/s}]' \
    --junit "$dir/$mode.xml" --json "$dir/$mode.json" --set realtime.priority=0 --set realtime.core=any >"$dir/out" 2>&1 || fail "$mode: $(cat "$dir/out")"
  wait $peer
  python3 tests/support/junit.py "$dir/$mode.xml" || fail "$mode: JUnit"
  grep -q '"verdict": "met"' "$dir/$mode.json" || fail "$mode: $(cat "$dir/$mode.json")"
done
