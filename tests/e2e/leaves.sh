#!/bin/sh
# Flight software that closes its link in lockstep ends the run at once, over shared memory and over UDP: nobody is
# there to answer. What is said when none came is what then happens.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/peer.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    for _ in range(10):
        link.wait(60)
        link.send()
P
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  python3 "$dir/peer.py" "$(url_of $transport)" 2>"$dir/err.peer" &
  peer=$!
  begin=$(date +%s)
  "$ORRERY" run "$dir/$transport.yaml" --mode lockstep --set 'links.fsw.lockstep={timeout: 100 s, policy: stop}' >"$dir/out" 2>"$dir/err"
  status=$?
  took=$(($(date +%s) - begin))
  wait $peer || fail "$transport: the peer: $(cat "$dir/err.peer")"
  [ $status -eq 3 ] || fail "$transport: exit $status: $(cat "$dir/out" "$dir/err")"
  [ $took -lt 80 ] || fail "$transport: the run waited $took s for a peer that had left"
  grep -q "^ended .*'fsw': the flight software closed the link" "$dir/out" || fail "$transport: $(cat "$dir/out")"
  grep -q '12 frames out, 10 commands applied' "$dir/out" || fail "$transport: not all its answers were applied: $(cat "$dir/out")"

  # with `continue` the run goes on, and does not wait either
  python3 "$dir/peer.py" "$(url_of $transport)" 2>"$dir/err.peer" &
  peer=$!
  "$ORRERY" run "$dir/$transport.yaml" --mode lockstep --duration 3s --set 'links.fsw.lockstep={timeout: 100 s, policy: continue}' \
    >"$dir/out" 2>"$dir/err" || fail "$transport: with policy continue: $(cat "$dir/out" "$dir/err")"
  wait $peer
  grep -q '30 frames out, 10 commands applied' "$dir/out" || fail "$transport: $(cat "$dir/out")"
done

# --- nobody comes: what is said, in each mode and by each policy ------------------------------------------------------
alone() { # MODE LINK WORDS
  "$ORRERY" run "$dir/shm.yaml" --mode "$1" --duration 100ms --set "links.fsw.wait=50 ms" --set "$2" >"$dir/out" 2>"$dir/err"
  grep -q "no flight software came in 0.05 s; $3" "$dir/err" || fail "$1, $2: $(cat "$dir/err")"
}
alone realtime 'links.fsw.timeout={frames: 50, policy: hold}' 'going on without$'
alone realtime 'links.fsw.timeout={frames: 50, policy: stop}' 'the run ends after 50 frames of the link without a command$'
alone lockstep 'links.fsw.lockstep={timeout: 60 ms, policy: stop}' 'its first answer is waited for 0.06 s more, and without it the run ends$'
alone lockstep 'links.fsw.lockstep={timeout: 60 ms, policy: continue}' 'each answer is waited for 0.06 s, and without it the run goes on$'
grep -q 'going on without' "$dir/err" && fail "it does not go on without: $(cat "$dir/err")"

# --- commands come, and all are refused: that is said, and not that there were none -----------------------------------
cat >"$dir/wild.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    for _ in range(int(sys.argv[2])):
        if not link.wait(60):
            break
        link.send({"wheel_x.torque": 0.3})
P
reason='of the commands of link .fsw. [1-9][0-9]* were refused and none was applied: out_of_range (a number is outside its channel.s range)'
python3 "$dir/wild.py" "$(url_of shm)" 1 2>"$dir/err.peer" &
peer=$!
"$ORRERY" run "$dir/shm.yaml" --mode lockstep --set 'links.fsw.lockstep={timeout: 100 s, policy: stop}' --json "$dir/said.json" >"$dir/out" 2>"$dir/err"
[ $? -eq 3 ] || fail "refused, in lockstep: $(cat "$dir/out" "$dir/err")"
wait $peer || fail "the peer that is refused: $(cat "$dir/err.peer")"
grep -q "^ended .*'fsw': the flight software closed the link" "$dir/out" || fail "refused, in lockstep: $(cat "$dir/out")"
grep '^ *why: ' "$dir/out" | head -1 | grep -q "why: the run ended after .*: $reason\$" || fail "refused, in lockstep: $(cat "$dir/out")"
grep -q '^ *do:  let the flight software clip its commands' "$dir/out" || fail "refused, in lockstep: $(cat "$dir/out")"
said="^link 'fsw': commands are refused: out_of_range (a number is outside its channel's range): first wheel_x.torque = 0.3 N m, its range is -0.01 to 0.01 N m; in the answer to frame 0; the summary counts them\$"
[ "$(grep -c "$said" "$dir/err")" -eq 1 ] || fail "in lockstep it is not said once, with the number: $(cat "$dir/err")"
python3 -c 'import json, sys; sys.exit("were refused and none was applied" not in json.load(open(sys.argv[1]))["reasons"][0]["what"])' "$dir/said.json" ||
  fail "the first reason for programs: $(cat "$dir/said.json")"

# and said at once, not at the end: while the peer is there and waits for the next frame
python3 "$dir/wild.py" "$(url_of shm)" 1000 2>"$dir/err.peer" &
peer=$!
: >"$dir/err" # what runs in the background empties it later than it is read here
"$ORRERY" run "$dir/shm.yaml" --mode lockstep --set 'links.fsw.lockstep={timeout: 100 s, policy: stop}' >"$dir/out" 2>"$dir/err" &
run=$!
await grep -q "$said" "$dir/err" || fail "in lockstep it is not said live: $(cat "$dir/err")"
kill -0 $run || fail "the run was over when it was said"
kill -TERM $run
wait $run
wait $peer

# in real time the status says so while it flies, once in a line of its own
python3 "$dir/wild.py" "$(url_of shm)" 1000000 2>"$dir/err.peer" &
peer=$!
"$ORRERY" run "$dir/shm.yaml" --mode realtime --duration 1000s --set 'links.fsw.timeout={frames: 50, policy: hold}' >"$dir/out" 2>"$dir/err" &
run=$!
for _ in $(seq 600); do
  grep -q '  links REFUSED$' "$dir/err" && break
  kill -0 $run 2>/dev/null || break
  sleep 0.1
done
kill -TERM $run
wait $run
wait $peer # by a run that is over, or by what it says of it
grep -q '  links REFUSED$' "$dir/err" || fail "the status does not say that commands are refused: $(cat "$dir/err" "$dir/out" "$dir/err.peer")"
grep -q '  links answered$' "$dir/err" && fail "the status takes what is refused for an answer: $(cat "$dir/err")"
[ "$(grep -c "$said" "$dir/err")" -eq 1 ] ||
  fail "it is not said once that commands are refused: $(cat "$dir/err")"
grep -q "^ *why: $reason\$" "$dir/out" || fail "refused, in real time: $(cat "$dir/out")"
exit 0
