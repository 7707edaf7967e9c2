#!/bin/sh
# A minute of the reference spacecraft at 1 kHz with everything recorded, and one of an empty plant at 20 kHz with 400
# numbers (tests/timing/io/log): nothing is lost. The same with writes that stand still for three seconds: what is
# lost is told to the frame. The executive takes no page fault, no switch beyond its sleeps and no allocation.
# MINUTE=N s makes it shorter.
. tests/support/script.sh
seconds=${MINUTE:-60}
LOG_SECONDS=$seconds "$(dirname "$ORRERY")/tests/timing/io/log/logger_pace" || fail "20 kHz"

. tests/support/stall.sh
reference() { # LOG: a flight at 1 kHz with everything recorded
  LD_PRELOAD=$dir/stall.so STALL=$dir/stalls "$ORRERY" run configs/reference.yaml --mode realtime --step 1ms --duration "${seconds}s" --set 'expect=[]' --log "$1" \
    --set 'record={channels: ["*"], limit: 20 GB}' --no-sandbox >"$dir/out" 2>"$dir/err"
}
unharmed() { # WHAT
  grep -Eq '^page faults: 0; switches: [0-9]+ involuntary, 0 voluntary beyond' "$dir/out" || fail "$1: faults or switches: $(cat "$dir/out")"
  "$ORRERY" log info "$2" | tail -n 1
}
reference "$dir/a.mcap" || [ $? -eq 3 ] || fail "a flight: $(cat "$dir/out" "$dir/err")"
unharmed "a flight" "$dir/a.mcap"
grep -q 'incomplete' "$dir/out" && fail "frames are lost: $(cat "$dir/out" "$dir/err")"
[ "$("$ORRERY" log cat "$dir/a.mcap" --topics /orrery/timing | wc -l)" -eq $((seconds * 1000)) ] || fail "not every frame's timing is there"
hash=$(hash_of "$dir/out")

reference "$dir/b.mcap" &
run=$!
sleep $((seconds / 4))
: >"$dir/stalls"
sleep 3
rm "$dir/stalls"
wait $run || [ $? -eq 3 ] || fail "a flight: $(cat "$dir/out" "$dir/err")"
unharmed "stalled" "$dir/b.mcap"
[ "$(hash_of "$dir/out")" = "$hash" ] || fail "another flight"
grep '^            incomplete' "$dir/out" || fail "three seconds of standing still lose nothing: the stall is not in force"
grep -q 'the disk is behind' "$dir/err" || fail "it is not told at once: $(cat "$dir/err")"
lost=$(sed -n 's/.*incomplete: \([0-9]*\) frames.*/\1/p' "$dir/out")
"$ORRERY" log cat "$dir/b.mcap" --topics /orrery/lost --json >"$dir/lost"
told=$(sed 's/.*"first":\([0-9]*\),"last":\([0-9]*\).*/\1 \2/' "$dir/lost" | awk '{ n += $2 - $1 + 1 } END { print n }')
"$ORRERY" log cat "$dir/b.mcap" --topics '/orrery/link/*,/bus' | wc -l >"$dir/there"
[ "$told" = "$lost" ] || fail "lost are $lost, told are $told: $(cat "$dir/lost")"
[ "$(cat "$dir/there")" -eq $((seconds * 1000 + 1 - lost)) ] || fail "$(cat "$dir/there") frames are there, $lost lost"
for log in a b; do "$ORRERY" replay "$dir/$log.mcap" || fail "replay of $log"; done
