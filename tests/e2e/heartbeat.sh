#!/bin/sh
# What the summary says of flight software that no longer answers: one that hangs is told from one that is dead, from
# one that left, and from one that lives and only says nothing. In real time and in lockstep; over UDP, where a process
# cannot be seen, life from silence.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
done
# answers ten frames of the link, then does as it is told
cat >"$dir/peer.py" <<'P'
import os, signal, sys, time
sys.path.insert(0, "io/client")
import orrery_client
if sys.argv[2] == "unburied" and os.fork():
    time.sleep(60)  # a parent that does not ask what became of its child
link, fate = orrery_client.open(sys.argv[1], 60), sys.argv[2]
for _ in range(10):
    link.wait(60)
    link.send()
if fate == "hangs":
    os.kill(os.getpid(), signal.SIGSTOP)
elif fate == "spins":
    while True:
        pass
elif fate in ("dead", "unburied"):
    os.kill(os.getpid(), signal.SIGKILL)
elif fate == "left":
    link.close()
else:
    while link.wait(60):
        pass
P
# $1 transport, $2 mode, $3 what becomes of the peer, $4 what is said (and the same in JSON, when $5 is --json)
try() {
  python3 "$dir/peer.py" "$(url_of "$1")" "$3" 2>"$dir/err" &
  peer=$!
  "$ORRERY" run "$dir/$1.yaml" --mode "$2" --duration 1000s --set 'links.fsw.timeout={frames: 25, policy: stop}' \
    --set 'links.fsw.lockstep={timeout: 3 s, policy: stop}' ${5:-} >"$dir/out" 2>"$dir/err2"
  if [ -n "${5:-}" ]; then
    python3 -c 'import json, sys
one = json.load(open(sys.argv[1]))["links"]["fsw"]
assert one["peer"] == sys.argv[2] and one["last_sign_of_life"] >= 80, one' "$dir/out" "$4" || fail "$1, $2, $3: $(cat "$dir/out")"
  else
    grep -q "flight software at the end: $4" "$dir/out" || fail "$1, $2, $3: $(cat "$dir/out" "$dir/err" "$dir/err2")"
  fi
  kill -9 $peer 2>/dev/null
  wait $peer 2>/dev/null
}
try shm realtime hangs 'hangs: its process is there'
try shm realtime dead 'is dead: its process is gone'
try shm realtime silent 'lives$'
try udp realtime hangs 'hangs or is dead'
try shm lockstep spins 'hangs: its process is there'
try shm lockstep hangs hangs --json
try shm lockstep dead dead --json
try shm lockstep unburied dead --json
try shm lockstep left left --json
try shm lockstep silent lives --json
try udp lockstep dead mute --json
try udp lockstep silent lives --json

# --- what happened is told in the order of time: the last sign of life, then the silence; and the end of flight
# software as the cause of it
cause() { # FATE STATE WHY DO
  python3 "$dir/peer.py" "$(url_of shm)" "$1" 2>"$dir/err" &
  peer=$!
  "$ORRERY" run "$dir/shm.yaml" --mode realtime --duration 1000s --set 'links.fsw.timeout={frames: 25, policy: stop}' >"$dir/out" 2>"$dir/err2"
  kill -9 $peer 2>/dev/null
  wait $peer 2>/dev/null
  sed -n '/the last sign of life/,/^ended/p' "$dir/out" | sed 's/[0-9][0-9]*/N/g; s/^ *//' >"$dir/order"
  printf '%s\n' 'the last sign of life of flight software at frame N' 'no command from frame N to N' \
    'timed out N times: no command for N frames of the link; then the run stops' "flight software at the end: $2" "ended       by link 'fsw': $3" >"$dir/wanted"
  diff "$dir/wanted" "$dir/order" >"$dir/diff" || fail "$1: $(cat "$dir/diff" "$dir/out" "$dir/err2")"
  grep -q "why: the run ended after .*: by link 'fsw': $3\$" "$dir/out" || fail "$1: $(cat "$dir/out")"
  grep -q "do:  $4" "$dir/out" || fail "$1: $(cat "$dir/out")"
}
silence='no command for as long as the run file allows'
cause left 'has closed the link' "the flight software closed the link, then $silence" 'let the flight software stay to the end'
cause dead 'is dead: its process is gone' "the flight software died, then $silence" 'see in its own output why the flight software died'
cause hangs 'hangs: its process is there' "$silence" 'see where the flight software hangs'
exit 0
