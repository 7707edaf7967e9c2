#!/bin/sh
# What the summary says of flight software that no longer answers: one that hangs is told from one that is dead, from one that left, and from one
# that lives and only says nothing. In real time and in lockstep; over UDP, where a process cannot be seen, life from silence.
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
link, fate = orrery_client.open(sys.argv[1], 20), sys.argv[2]
for _ in range(10):
    link.wait()
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
    while link.wait():
        pass
P
# $1 transport, $2 mode, $3 what becomes of the peer, $4 what is said (and the same in JSON, when $5 is --json)
try() {
  python3 "$dir/peer.py" "$(url_of "$1")" "$3" 2>"$dir/err" &
  peer=$!
  "$ORRERY" run "$dir/$1.yaml" --mode "$2" --duration 2s --set 'links.fsw.timeout={frames: 4, policy: hold}' \
    --set 'links.fsw.lockstep={timeout: 700 ms, policy: stop}' ${5:-} >"$dir/out" 2>"$dir/err2"
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
try shm realtime hangs 'hangs: its process is there; its last sign of life at frame'
try shm realtime dead 'is dead: its process is gone; its last sign of life at frame'
try shm realtime silent 'lives;'
try udp realtime hangs 'hangs or is dead; its last sign of life at frame'
try shm lockstep spins 'hangs: its process is there'
try shm lockstep hangs hangs --json
try shm lockstep dead dead --json
try shm lockstep unburied dead --json
try shm lockstep left left --json
try shm lockstep silent lives --json
try udp lockstep dead mute --json
try udp lockstep silent lives --json
exit 0
