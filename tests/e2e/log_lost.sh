#!/bin/sh
# A disk that stands still in the middle of a run in real time: the log loses frames and says which, and the run flies
# all of its own. The log flies again identical from the next checkpoint on, and a run goes on from there; from within
# what is lost, and from behind it without a checkpoint between, going on is refused.
. tests/support/script.sh
. tests/support/stall.sh
log=$dir/a.mcap
LD_PRELOAD=$dir/stall.so STALL=$dir/stalls "$ORRERY" run configs/reference.yaml --mode realtime --step 1ms --duration 20s --set 'expect=[]' --log "$log" \
  --set 'record={channels: ["*"], checkpoint: 1 s}' --no-sandbox --set realtime.priority=0 --set realtime.core=any --set realtime.spin=0s >"$dir/out" 2>"$dir/err" &
run=$!
grown() { [ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -gt 5000000 ]; }
behind() { grep -q 'the disk is behind' "$dir/err"; }
await grown || fail "no chunk: $(cat "$dir/out" "$dir/err")"
: >"$dir/stalls"
await behind || fail "nothing is lost, or it is not told at once: $(cat "$dir/out" "$dir/err")"
rm "$dir/stalls"
wait $run || fail "the run: exit status $?: $(cat "$dir/out" "$dir/err")"
lost=$(sed -n 's/^            incomplete: \([0-9]*\) frames are not in it.*/\1/p' "$dir/out")
[ "${lost:-0}" -gt 0 ] || fail "the summary tells of nothing lost: $(cat "$dir/out")"

"$ORRERY" log cat "$log" --topics /orrery/lost --json | sed 's/.*"first":\([0-9]*\),"last":\([0-9]*\).*/\1 \2/' >"$dir/spans"
[ "$(awk '{ n += $2 - $1 + 1 } END { print n }' "$dir/spans")" = "$lost" ] || fail "$lost are lost, told are: $(cat "$dir/spans")"
[ "$("$ORRERY" log cat "$log" --topics /jet_0 | wc -l)" -eq $((20001 - lost)) ] || fail "$("$ORRERY" log cat "$log" --topics /jet_0 | wc -l) frames are there, $lost lost"
"$ORRERY" replay "$log" >"$dir/replay" || fail "replay: $(cat "$dir/replay")"
grep -Eq '^ +[0-9]+ frames up to a checkpoint passed over, for the log lost some$' "$dir/replay" || fail "replay does not say what it passed over: $(cat "$dir/replay")"

from() { "$ORRERY" run --from "$log@$1ms" --mode batch --duration 100ms >"$dir/on" 2>&1; }
read -r first last <"$dir/spans"
from "$((first / 1000 * 1000))" || fail "from a checkpoint before what is lost: $(cat "$dir/on")"
for t in $((first + 1)) $((last + 1)); do
  [ $((t % 1000)) -ne 0 ] || continue # a checkpoint
  from $t
  [ $? -eq 1 ] && grep -q "the log lost frames $first to $last, and the commands in them" "$dir/on" || fail "from $t ms: $(cat "$dir/on")"
done
after=$(((last / 1000 + 1) * 1000)) # the next checkpoint, unless it was lost, too
awk -v t=$after '$1 <= t && t <= $2 { exit 1 }' "$dir/spans" || exit 0
from $((after + 7)) || fail "from a checkpoint behind it: $(cat "$dir/on")"
