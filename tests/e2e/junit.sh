#!/bin/sh
# JUnit files hold to the schema that collectors share, whatever came out and whatever things are called: by
# tests/support/junit.py, which refuses 42 mistakes, and by xmllint with tests/data/junit.xsd, where that is installed.
. tests/support/script.sh
xmllint=$(command -v xmllint)

holds() { # FILE
  python3 tests/support/junit.py "$1" || fail "$1: $(cat "$1")"
  [ -z "$xmllint" ] || xmllint --noout --schema tests/data/junit.xsd "$1" 2>"$dir/err" || fail "xmllint: $(cat "$dir/err" "$1")"
}
fly() { # STATUS RUN ARGUMENTS...
  wanted=$1 run=$2
  shift 2
  "$ORRERY" run "$run" --mode batch --junit "$dir/run.xml" "$@" >"$dir/out" 2>&1
  status=$?
  [ $status -eq "$wanted" ] || fail "exit $status, not $wanted: $(cat "$dir/out")"
  holds "$dir/run.xml"
}

# passed, failed, incomplete; nothing expected; a flight that the solver cannot fly
fly 0 configs/cubesat.yaml --duration 2s --set 'expect=[]'
fly 1 configs/cubesat.yaml --duration 5s --set 'expect=[{always: "norm(gyro.rate) below 1 deg/s", name: never}, {channel: "gyro.rate", of: rms, below: "90 deg/s", requirement: R-1},
  {eventually: time above 90 s, within: 99 s}]'
grep -q 'tests="4" failures="1" errors="1" skipped="1"' "$dir/run.xml" || fail "$(cat "$dir/run.xml")"
cp "$dir/run.xml" "$dir/all.xml"
fly 1 configs/cubesat.yaml --duration 5s --set 'expect=[{always: "norm(gyro.rate) below 1 deg/s", name: never}]'
fly 1 configs/cubesat.yaml --duration 5s --set 'expect=[]' --set 'simulation.initial.bus.rate=[1e200 rad/s, 1e200 rad/s, 0]'
grep -q '<failure type="flight"' "$dir/run.xml" || fail "a flight that fails: $(cat "$dir/run.xml")"

# names with what XML minds, in each place: of expectations, requirements and the file; bytes that are no characters
fly 0 configs/cubesat.yaml --duration 1s --set "$(printf 'expect=[{name: "a<b>&\\"c\\" \\u0007\\uFFFE\\uFFFF\\u0085 \303\251 ]]> <!--", requirement: "<&>\\"", channel: gyro.rate, of: rms, below: 90 deg/s}]')"
odd="$dir/$(printf 'a&b<c>"d" \303\251 \377\200 \001.yaml')"
cp configs/cubesat.yaml "$odd"
fly 0 "$odd" --duration 1s --set 'expect=[]'
long=$(awk 'BEGIN {for (i = 0; i < 400; i++) printf "\303\251"}') # is cut somewhere, and between two bytes of a letter if need be
fly 0 configs/cubesat.yaml --duration 1s --set "expect=[{name: x$long, channel: gyro.rate, of: rms, below: 90 deg/s}, {name: $long, channel: gyro.rate, of: rms, below: 90 deg/s}]"

# a value stands in the unit of its bound, as in the summary; what a step waits for stands behind its word
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 10s --junit "$dir/units.xml" --set 'expect=[{channel: bus.pointing_error, below: 0.5 deg, after: 5 s}]' \
  --set 'sequence=[{until: norm(gyro.rate) below 1e-9 deg/s, timeout: 1 s, name: still}]' >"$dir/out" 2>&1
holds "$dir/units.xml"
value=$(sed -n 's/^NOT MET  *bus.pointing_error  *below 0.5 deg after 5 s  *\([0-9.]* deg at [0-9.]* s\)$/\1/p' "$dir/out")
[ -n "$value" ] && grep -qF "message=\"bus.pointing_error below 0.5 deg after 5 s is not met: $value\"" "$dir/units.xml" || fail "'$value': $(cat "$dir/out" "$dir/units.xml")"
grep -qF 'message="until: norm(gyro.rate) below 1e-9 deg/s is not met: did not hold at 1 s"' "$dir/units.xml" || fail "$(cat "$dir/units.xml")"
grep -q '^NOT MET  *still  *until: norm(gyro.rate) below 1e-9 deg/s:* *did not hold at 1 s' "$dir/out" || fail "$(cat "$dir/out")"

# what is wrong is refused, by both
mkdir "$dir/broken"
python3 tests/support/junit.py --break "$dir/broken" "$dir/all.xml" || fail "mistakes pass"
for broken in "$dir/broken"/schema-*.xml; do
  [ -f "$broken" ] || fail "no mistakes were made"
  [ -z "$xmllint" ] || ! xmllint --noout --schema tests/data/junit.xsd "$broken" 2>/dev/null || fail "xmllint takes $broken"
done
