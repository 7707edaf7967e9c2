#!/bin/sh
# configs/wire-booms.yaml in batch, in lockstep and in real time: one state_hash, with flight software
# that leaves the jet shut.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/peer.py" <<'P'
import sys
sys.path[:0] = ["io/client"]
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    while link.wait(60):
        link.send({"jet.on_time": 0})
P
fly() { # MODE ARGUMENTS...
  mode=$1
  shift
  "$ORRERY" run configs/wire-booms.yaml --mode "$mode" --no-log --json "$@" >"$dir/$mode" 2>"$dir/err"
}
fly batch || fail "batch: $(cat "$dir/err" "$dir/batch")"
fly batch --duration 6s || fail "batch, 6 s: $(cat "$dir/err")"
link="links={fsw: {transport: shm, name: $name, rate: 10 Hz, telemetry: [gyro.rate], commands: [jet.on_time], wait: 60 s}}"
for mode in lockstep realtime; do
  python3 -I -S -B "$dir/peer.py" "shm:$name" >"$dir/peer" 2>&1 &
  peer=$!
  fly $mode --duration 6s --set "$link" || fail "$mode: $(cat "$dir/err" "$dir/$mode")"
  wait $peer || fail "the peer: $(cat "$dir/peer")"
  [ "$(grep state_hash "$dir/$mode")" = "$(grep state_hash "$dir/batch")" ] || fail "$mode has other bits than batch"
done

# A pulse that a script, a sequence or ctl sets in a frame of the link burns although the link says zero then; one of
# the link's own overrules it, and is said.
jets() { # FILE: commanded, and of them thrusting in the end
  awk -F, 'NR > 1 && $2 > 0 {n++; s += $2} $3 > 0 {b++} END {printf "%d %.9g %d\n", n, s, (b > 0)}' "$1"
}
printf -- '- {wait: 1 s}\n- set: {jet.on_time: 300 ms}\n' >"$dir/steps.yaml"
for set in 'links=|--sequence' 'script|--set' 'sequence|--sequence'; do
  value="$dir/steps.yaml"
  [ "${set#*|}" = --sequence ] || value='commands=[{channel: jet.on_time, at: 1 s, value: 300 ms}]'
  with=$link mode=lockstep
  [ "${set%%|*}" != links= ] || with='links={}' mode=batch
  if [ $mode = lockstep ]; then
    python3 -I -S -B "$dir/peer.py" "shm:$name" >"$dir/peer" 2>&1 &
    peer=$!
  fi
  fly $mode --duration 2s --set "$with" --csv "$dir/jet.csv" --channels jet.on_time,jet.thrust --set "expect=[]" "${set#*|}" "$value" || fail "$set: $(cat "$dir/err")"
  [ $mode = batch ] || wait $peer || fail "the peer: $(cat "$dir/peer")"
  [ "$(jets "$dir/jet.csv")" = '1 0.3 1' ] || fail "$set: the pulse is $(jets "$dir/jet.csv")"
  hash=$(grep state_hash "$dir/$mode")
  [ $mode = lockstep ] || alone=$hash
  [ "$hash" = "$alone" ] || fail "$set: a link that says nothing changes the bits"
done
sed 's/"jet.on_time": 0}/"jet.on_time": 0.1 if link.frame >= 90 else 0}/' "$dir/peer.py" >"$dir/burns.py"
python3 -I -S -B "$dir/burns.py" "shm:$name" >"$dir/peer" 2>&1 &
peer=$!
fly lockstep --duration 2s --set "$link" --set "expect=[]" --sequence "$dir/steps.yaml" || fail "the link's own: $(cat "$dir/err")"
wait $peer || fail "the peer: $(cat "$dir/peer")"
python3 - "$dir/lockstep" <<'P' || fail "nobody says what overruled it: $(cat "$dir/lockstep")"
import json, sys
link = json.load(open(sys.argv[1]))["links"]["fsw"]
assert link["overruled"] == 1, link
assert link["first_overruled"] == {"number": "jet.on_time", "value": 0.3, "unit": "s", "range": [0, 100], "frame": 100}, link
P
exit 0
