#!/bin/sh
# The first frame of a run in real time follows the peer that came, over shared memory and over UDP: what takes
# long before it (rehearsal, calibration) is done before anybody is let in. A client that waits one second for
# its first frame, as the README's does, gets it. A machine that stalls may need another try; calibration alone
# takes a second of every try.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/peer.py" <<'P'
import sys, time
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    came = time.monotonic()
    link.wait(60)
    first = time.monotonic() - came
    print("first frame after %.3f s" % first, link.frame)
    link.send()
    while link.wait(60):
        link.send()
sys.exit(0 if first < 0.5 else 7)
P
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  for try in $(seq 20); do
    rm -f "$dir/ready"
    "$ORRERY" run "$dir/$transport.yaml" --mode realtime --duration 4s --ready "$dir/ready" >"$dir/out" 2>"$dir/err" &
    run=$!
    python3 "$dir/peer.py" "$(url_of $transport)" >"$dir/peer" 2>&1
    peer=$?
    wait $run
    status=$?
    [ $status -eq 0 ] || fail "$transport: the run ends with $status: $(cat "$dir/out" "$dir/err" "$dir/peer")"
    [ -s "$dir/ready" ] || fail "$transport: --ready was not written"
    [ $peer -eq 0 ] && break
    [ $peer -eq 7 ] || fail "$transport: $(cat "$dir/peer")"
  done
  [ $peer -eq 0 ] || fail "$transport: $(cat "$dir/peer"), in none of $try tries sooner"
  grep -q ' frames out, [1-9][0-9]* commands applied' "$dir/out" || fail "$transport: no command applied: $(cat "$dir/out")"
done

# --- a signal while it waits: prepared, and no frame flown; no log either ---------------------------------------------
"$ORRERY" run "$dir/shm.yaml" --mode realtime --ready "$dir/waits" --log "$dir/none.mcap" >"$dir/out" 2>"$dir/err" &
run=$!
await [ -s "$dir/waits" ] || fail "it never waits"
kill -TERM $run
wait $run
[ $? -eq 3 ] || fail "a signal while it waits: $(cat "$dir/out" "$dir/err")"
grep -q 'before its first frame was flown' "$dir/out" || fail "$(cat "$dir/out")"
[ ! -e "$dir/none.mcap" ] || fail "a run without a frame leaves a log"
exit 0
