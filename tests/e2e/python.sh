#!/bin/sh
# The Python client needs nothing but the standard library: its unit tests and its echo peer run isolated from all else
# (-I) and without site packages (-S), and answer every frame over both carriers. It notices a run that is killed, over
# each carrier but a serial port, and opens the next one, whatever its layout.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
isolated() { python3 -I -S -B "$@"; }
isolated tests/unit/io/client/orrery_client.py 2>"$dir/unit" || fail "unit tests: $(cat "$dir/unit")"
grep -q '^Ran [1-9][0-9] tests' "$dir/unit" || fail "no unit tests: $(cat "$dir/unit")"
# without the controller that could be linked in, which would want a certain telemetry
for transport in shm udp; do
  over $transport configs/cubesat.yaml | sed '/stiffness/d; s/policy: hold},/policy: hold}}/' >"$dir/$transport.yaml"
  isolated io/client/orrery_client.py "$(url_of $transport)" >"$dir/echo" 2>&1 &
  peer=$!
  "$ORRERY" run "$dir/$transport.yaml" --mode lockstep --duration 10s >"$dir/out" 2>&1 || fail "$transport: $(cat "$dir/out")"
  wait $peer || fail "$transport: the echo peer: $(cat "$dir/echo")"
  grep -q '100 frames out, 99 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$transport: $(cat "$dir/out")"
  grep -q '100 seen, 0 lost, 100 answered' "$dir/echo" || fail "$transport: $(cat "$dir/echo")"
done

# ten times what the device can do is taken, and clipped; the first command that is refused for a number is told with
# its channel, value, range and frame; the log names what it counts
cat >"$dir/bad.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    while link.wait(60):
        link.send({"wheel_x.torque": {50: 0.3, 60: 0.01, 70: -0.2}.get(link.frame, 0)})
P
isolated "$dir/bad.py" "$(url_of shm)" >"$dir/peer" 2>&1 &
peer=$!
"$ORRERY" run "$dir/shm.yaml" --mode lockstep --duration 2s --set 'links.fsw.lockstep={timeout: 3 s, policy: continue}' --set 'expect=[]' \
  --log "$dir/bad.mcap" --json "$dir/bad.json" >"$dir/out" 2>&1 || fail "refused: $(cat "$dir/out")"
wait $peer || fail "the peer: $(cat "$dir/peer")"
grep -q '^ *the first refused for a number: wheel_x.torque = 0.3 N m, its range is -0.01 to 0.01 N m; in the answer to frame 50$' "$dir/out" || fail "refused: $(cat "$dir/out")"
python3 - "$dir/bad.json" <<'P' || fail "refused: $(cat "$dir/bad.json")"
import json, sys
first = json.load(open(sys.argv[1]))["links"]["fsw"]["first_refused"]
assert first == {"number": "wheel_x.torque", "value": 0.3, "unit": "N m", "range": [-0.01, 0.01], "frame": 50}, first
P
"$ORRERY" log cat "$dir/bad.mcap" --topics /orrery/link/fsw >"$dir/cat" && grep -q ' refused=\[out_of_range=2\] ' "$dir/cat" || fail "log cat: $(head -3 "$dir/cat")"

cat >"$dir/again.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
layouts, died = [], 0
while len(layouts) < 2:
    with orrery_client.open(sys.argv[1], 60) as link:
        layouts.append(sorted(n for n, c in link.channels.items() if not c.direction))
        try:
            while link.wait(60):
                print(link.frame, flush=True)
                link.send({"wheel_x.torque": 1e-5})
        except ConnectionResetError:
            died += 1
assert died == 1 and layouts[0] != layouts[1], (died, layouts)
P
for transport in shm udp tcp unix stream; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  : >"$dir/frames"
  isolated "$dir/again.py" "$(url_of $transport)" >"$dir/frames" 2>"$dir/err" &
  peer=$!
  "$ORRERY" run "$dir/$transport.yaml" --mode realtime --duration 900s >"$dir/out" 2>&1 &
  run=$!
  await [ -s "$dir/frames" ] || fail "$transport: no frame in half a minute: $(cat "$dir/err" "$dir/out")"
  kill -9 $run
  wait $run 2>/dev/null
  "$ORRERY" run "$dir/$transport.yaml" --mode lockstep --duration 2s --set 'links.fsw.wait=30s' \
    --set 'links.fsw.telemetry=[star.attitude, gyro.rate, bus.target, star.valid]' >"$dir/out" 2>&1 || fail "$transport: $(cat "$dir/out" "$dir/err")"
  wait $peer || fail "$transport: $(cat "$dir/err")"
  grep -q '20 frames out, 19 commands applied, 0 of them late, 0 missed' "$dir/out" || fail "$transport, again: $(cat "$dir/out")"
done

# the echo peer says what it saw and why it ended, and shows nobody its insides
"$ORRERY" run "$dir/shm.yaml" --mode realtime --duration 900s --set realtime.priority=0 >/dev/null 2>&1 &
run=$!
isolated io/client/orrery_client.py "$(url_of shm)" >"$dir/echo" 2>"$dir/err" &
peer=$!
await flies $run || fail "the run does not fly"
isolated "$dir/again.py" "$(url_of shm)" >"$dir/frames" 2>/dev/null &
second=$!
await [ -s "$dir/frames" ] || fail "the second peer sees no frame"
wait $peer
[ $? -eq 1 ] && grep -q '^echo: frames ' "$dir/echo" && grep -qx 'echo: another peer has taken our place' "$dir/err" || fail "a peer that was replaced: $(cat "$dir/echo" "$dir/err")"
kill $run $second
wait $run $second
isolated io/client/orrery_client.py pigeon:/x >"$dir/echo" 2>"$dir/err"
[ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "a URL that is none: $(cat "$dir/err")"
isolated io/client/orrery_client.py >/dev/null 2>&1
[ $? -eq 2 ] || fail "no URL is a wrong command line"
exit 0
