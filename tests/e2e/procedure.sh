#!/bin/sh
# A test procedure of twenty lines: the cubesat detumbles and slews, a wheel seizes at a condition, it recovers, the
# verdict is JUnit. The same bits in batch, in lockstep and, where every answer was on time, in real time; its log flies
# again; steps stand in the log with their frames.
#
#   tests/e2e/procedure.sh      TRIES (1) in real time, of 18.5 s each
. tests/support/script.sh
tries=${TRIES:-1}
file=configs/procedures/wheel-failure.yaml
first=
chrt -f 70 true 2>/dev/null && first='chrt -f 70'
[ "$(wc -l <$file)" -le 20 ] || fail "$file has more than twenty lines"

identical() { # ARGUMENTS: of replay
  "$ORRERY" replay "$@" >"$dir/out" 2>"$dir/err" || fail "replay $*: $(cat "$dir/out" "$dir/err")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay $*: $(cat "$dir/out")"
}
passes() { # SUMMARY: what the procedure is for
  for line in 'met .*recovers .*held at .* \[ACS-9\]' 'met .*detumbles ' 'fault .*bearing begins at ' 'fault .*bearing ends at ' 'verdict .*passed: 5 met, 0 not met'; do
    grep -q "^$line" "$1" || fail "no '$line': $(cat "$1")"
  done
}

"$ORRERY" run configs/cubesat.yaml --mode batch --sequence $file --log "$dir/batch.mcap" --junit "$dir/batch.xml" >"$dir/batch" 2>&1 || fail "$(cat "$dir/batch")"
passes "$dir/batch"
grep -q 'tests="6" failures="0" errors="0" skipped="0"' "$dir/batch.xml" || fail "JUnit: $(cat "$dir/batch.xml")"
command -v python3 >/dev/null && { python3 tests/support/junit.py "$dir/batch.xml" || fail "JUnit"; }
identical "$dir/batch.mcap"
identical "$dir/batch.mcap" --from 15s
at=$(sed -n 's/^fault .*bearing begins at \([0-9.]*\) s$/\1/p' "$dir/batch")
frame=$(awk "BEGIN {printf \"%d\", $at * 100 + 0.5}")
"$ORRERY" log cat "$dir/batch.mcap" --topics /orrery/event >"$dir/events" || fail "no events"
grep -q "frame=$frame kind=\"fault\" name=\"bearing\" text=\"begins\"" "$dir/events" || fail "not in the log at its frame: $(cat "$dir/events")"
grep -q 'kind="step" name="2 mark" text="slew"' "$dir/events" || fail "no mark in the log: $(cat "$dir/events")"
# without the procedure the flight is what it was
"$ORRERY" run configs/cubesat.yaml --mode batch >"$dir/plain" && grep -q '^fault\|^step' "$dir/plain" && fail "steps without a sequence"

# faults that never begin: each is said with its reason, and only those; the exit status is that of the flight
cat >"$dir/silent.yaml" <<'Y'
faults:
  - {name: by_condition, device: wheel_x, when: time above 90 s, seized: true}
  - {name: behind, device: wheel_y, at: 50 s, seized: true}
  - {name: not_named, device: wheel_z, seized: true}
  - {name: not_reached, channel: star.attitude, drop: 0.5}
  - {name: begins, channel: gyro.rate, at: 1 s, for: 100 ms, bias: 0.01 deg/s}
  - {name: named, channel: star.attitude, freeze: true}
sequence:
  - fault: named
  - {wait: 60 s}
  - fault: not_reached
Y
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 2s --set 'expect=[]' --sequence "$dir/silent.yaml" --json "$dir/silent.json" >"$dir/out" 2>&1 || fail "faults that never begin: $(cat "$dir/out")"
while read -r line; do
  grep -A1 "^fault *$line" "$dir/out" | grep -q '^ *do:  ' || fail "not said: '$line': $(cat "$dir/out")"
done <<'END'
by_condition never began: 'time above 90 s' did not come true
behind never began: its time, 50 s, lies behind the end of the run
not_named never began: it has no 'at', 'frame' or 'when', and no step of a sequence names it
not_reached never began: the sequence did not come to the step that names it
END
[ "$(grep -c 'never began' "$dir/out")" -eq 4 ] || fail "others never began: $(cat "$dir/out")"
if command -v python3 >/dev/null; then
  python3 - "$dir/silent.json" <<'P' || fail "JSON of faults that never begin: $(cat "$dir/silent.json")"
import json, sys
assert [f["fault"] for f in json.load(open(sys.argv[1]))["faults_never_begun"]] == ["by_condition", "behind", "not_named", "not_reached"]
P
fi

over shm configs/cubesat.yaml >"$dir/ship.yaml"
"$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
peer=$!
"$ORRERY" run "$dir/ship.yaml" --mode lockstep --sequence $file --log "$dir/lockstep.mcap" >"$dir/lockstep" 2>&1 || fail "lockstep: $(cat "$dir/lockstep")"
wait $peer
passes "$dir/lockstep"
identical "$dir/lockstep.mcap"
[ "$(hash_of "$dir/lockstep")" = "$(hash_of "$dir/batch")" ] || fail "lockstep: $(hash_of "$dir/lockstep"), batch: $(hash_of "$dir/batch")"

# in real time, whole: all its steps, to the verdict, with a slew of 4 s in place of 20, so that it takes 18.5 s.
# Whether answers are on time is for the machine to say; the verdict has to be the same.
fast='pointing.bus.target=[{at: 4 s, attitude: [0, 0, 0, 1]}, {at: 8 s, attitude: [0, 0, 0.173648178, 0.984807753]}]'
whole() { # MODE ARGUMENTS...
  mode=$1
  shift
  "$ORRERY" run "$dir/ship.yaml" --mode "$mode" --sequence $file --set "$fast" --duration 18500ms --log "$dir/$mode.mcap" --junit "$dir/$mode.xml" "$@"
}
rm -f "$dir/batch.mcap" "$dir/lockstep.mcap"
whole batch >"$dir/batch" 2>&1 || fail "$(cat "$dir/batch")"
passes "$dir/batch"
steps=$(grep -c '^step\|^fault' "$dir/batch")
"$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
peer=$!
whole lockstep >"$dir/lockstep" 2>&1 || fail "lockstep: $(cat "$dir/lockstep")"
wait $peer
[ "$(hash_of "$dir/lockstep")" = "$(hash_of "$dir/batch")" ] || fail "lockstep: $(hash_of "$dir/lockstep"), batch: $(hash_of "$dir/batch")"
identical "$dir/lockstep.mcap"
plain_junit() { sed 's/ time="[^"]*"//; s/ timestamp="[^"]*"//; s/name="mode" value="[a-z]*"//' "$1"; } # what differs by itself
[ "$(plain_junit "$dir/batch.xml")" = "$(plain_junit "$dir/lockstep.xml")" ] || fail "JUnit of lockstep is another: $(cat "$dir/lockstep.xml")"
try=0
while [ $try -lt "$tries" ]; do
  try=$((try + 1))
  rm -f "$dir/realtime.mcap"
  # shellcheck disable=SC2086
  $first "$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
  peer=$!
  whole realtime --set realtime.spin=0s --set realtime.phase=0s --set realtime.core=any >"$dir/real" 2>"$dir/err"
  status=$?
  wait $peer
  [ $status -eq 0 ] || fail "real time: $(cat "$dir/real" "$dir/err")"
  passes "$dir/real"
  [ "$(grep -c '^step\|^fault' "$dir/real")" -ge "$steps" ] || fail "real time came to other steps: $(cat "$dir/real")"
  grep -q 'tests="6" failures="0" errors="0" skipped="0"' "$dir/realtime.xml" || fail "JUnit: $(cat "$dir/realtime.xml")"
  identical "$dir/realtime.mcap"
  # frames out, applied, late, missed: the answer to the last frame waits for a boundary that never comes
  counts=$(sed -n 's/^link .*: \([0-9]*\) frames out, \([0-9]*\) commands applied, \([0-9]*\) of them late, \([0-9]*\) missed.*/\1 \2 \3 \4/p' "$dir/real")
  # shellcheck disable=SC2086
  set -- $counts
  [ $# -eq 4 ] || fail "no counts: $(cat "$dir/real")"
  [ $(($1 - 1 - $2 + $3 + $4)) -eq 0 ] || continue
  [ "$(hash_of "$dir/real")" = "$(hash_of "$dir/batch")" ] || fail "real time, every answer on time: $(hash_of "$dir/real"), batch: $(hash_of "$dir/batch")"
  echo "real time has the bits of batch, at try $try"
  exit 0
done
echo "1..0 # SKIP in $tries runs none had every answer on time"
