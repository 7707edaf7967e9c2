#!/bin/sh
# A flight of cassini in real time, ten minutes long, whose flight software is ended and started again in the middle: no
# frame is lost, and the log flies again identical at 0.8 or more of the speed of batch in the same minutes; from a
# checkpoint, too. SECONDS_OF=N makes it shorter.
. tests/support/script.sh
seconds=${SECONDS_OF:-600}
over shm configs/cassini-slew.yaml | sed "s|spacecraft: cassini.yaml|spacecraft: $PWD/configs/cassini.yaml|" >"$dir/slew.yaml"
fsw_flies() {
  "$fsw" "$(url_of shm)" cassini 2>"$dir/fsw" &
  peer=$!
}
log=$dir/flight.mcap
"$ORRERY" run "$dir/slew.yaml" --mode realtime --duration "${seconds}s" --set 'expect=[]' --log "$log" --json >"$dir/out" 2>"$dir/err" &
run=$!
fsw_flies
await flies $run || fail "the run does not fly: $(cat "$dir/err")"
sleep $((seconds / 2))
kill $peer
wait $peer 2>/dev/null
sleep 1
fsw_flies
wait $run || fail "the flight: exit status $?: $(tail -n 40 "$dir/out") $(cat "$dir/err")"
value() { sed -n "s/^ *\"$1\": \(.*[^,]\),*\$/\1/p" "$2" | tail -n 1; }
[ "$(value lost_frames "$dir/out")" = 0 ] || fail "frames are missing in the log: $(cat "$dir/err")"
"$ORRERY" log cat "$log" --topics /orrery/link/fsw >"$dir/link" && [ "$(sed -n 's/.* peers=//p' "$dir/link" | tail -n 1)" = 2 ] || fail "not two peers: $(tail -n 1 "$dir/link")"
frames=$((seconds * 1000))

# Batch and replay in turn, by the processor's time, for the machine may be busy; of each the better one.
pace() { # COMMAND...: frames a second
  "$@" >"$dir/said" 2>&1 || fail "$*: $(cat "$dir/said")"
  times >"$dir/times" # in a pipe it would be those of another shell
  sed -n '2s/[ms]/ /gp' "$dir/times" | awk -v frames=$frames '{ s = 60 * $1 + $2 + 60 * $3 + $4; print (s > 0 ? frames / s : 0) }'
}
batch=0 replay=0
for _ in 1 2; do
  this=$(pace "$ORRERY" run "$dir/slew.yaml" --mode batch --duration "${seconds}s" --set 'expect=[]') || fail "$this"
  batch=$(printf '%s\n%s\n' "$batch" "$this" | sort -g | tail -n 1)
  this=$(pace "$ORRERY" replay "$log") || fail "$this"
  grep -qx 'identical   bit for bit' "$dir/said" || fail "replay: $(cat "$dir/said")"
  grep -q 'the state_hash at the end$' "$dir/said" || fail "replay: $(cat "$dir/said")"
  replay=$(printf '%s\n%s\n' "$replay" "$this" | sort -g | tail -n 1)
done
"$ORRERY" replay "$log" --from "$((seconds * 3 / 4))s" >"$dir/said" 2>&1 && grep -qx 'identical   bit for bit' "$dir/said" || fail "from a checkpoint: $(cat "$dir/said")"
awk -v b="$batch" -v r="$replay" -v size="$(stat -c %s "$log")" 'BEGIN { printf "replay %.0f frames a second, batch %.0f: %.2f of it; log of %.3g GB\n", r, b, r / b, size / 1e9; exit !(b > 0 && r >= 0.8 * b) }' ||
  fail "replay is too slow beside batch"
