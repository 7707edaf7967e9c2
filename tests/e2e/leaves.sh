#!/bin/sh
# Flight software that closes its link in lockstep ends the run at once, over shared memory and over UDP: nobody is there to answer. What is said
# when none came is what then happens.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/peer.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 30) as link:
    for _ in range(10):
        link.wait(30)
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

# --- nobody comes: what is said, in each mode and by each policy ---------------------------------------------------------------
alone() { # MODE LINK WORDS
  "$ORRERY" run "$dir/shm.yaml" --mode "$1" --duration 100ms --set "links.fsw.wait=50 ms" --set "$2" >"$dir/out" 2>"$dir/err"
  grep -q "no flight software came in 0.05 s; $3" "$dir/err" || fail "$1, $2: $(cat "$dir/err")"
}
alone realtime 'links.fsw.timeout={frames: 50, policy: hold}' 'going on without$'
alone realtime 'links.fsw.timeout={frames: 50, policy: stop}' 'the run ends after 50 frames of the link without a command$'
alone lockstep 'links.fsw.lockstep={timeout: 60 ms, policy: stop}' 'its first answer is waited for 0.06 s more, and without it the run ends$'
alone lockstep 'links.fsw.lockstep={timeout: 60 ms, policy: continue}' 'each answer is waited for 0.06 s, and without it the run goes on$'
grep -q 'going on without' "$dir/err" && fail "it does not go on without: $(cat "$dir/err")"
exit 0
