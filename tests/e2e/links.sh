#!/bin/sh
# The cubesat and its flight software as two programs: the same bits in batch, in lockstep (also when the flight
# software is suspended, killed and restarted); what is said, and what is left behind. The bits of real time are
# looked at by on_time.sh.
. tests/support/script.sh
start_peer() { # it looks for a run for ten seconds, which begin when there is one
  { until [ -e "/dev/shm$name" ]; do sleep 0.02; done; exec "$fsw" "shm:$name" 2>"$dir/fsw"; } &
  peer=$!
}
fly() { "$ORRERY" run configs/cubesat.yaml --set links.fsw.name=$name --set links.fsw.wait=60s "$@"; }

frames_out() { od -An -tu4 -j128 -N4 "/dev/shm$name" 2>/dev/null || echo 0; } # so far, as the segment has it: io/wire/wire.h

"$fsw" --help | grep -q '^usage: fsw' || fail "fsw --help"
wrong() { # FSW'S ARGUMENTS...: a wrong command line, told before any run is looked for
  "$fsw" "$@" 2>"$dir/wrong"
  [ $? -eq 2 ] && grep -q "^fsw: " "$dir/wrong" || fail "fsw $*: $(cat "$dir/wrong")"
}
wrong --nonsense
wrong "shm:$name" cubesat more
wrong "shm:$name" lunar
"$fsw" "shm:$name.nobody" 2>"$dir/nobody" & # looked at below, when it has waited
nobody=$!

# --- the same bits ----------------------------------------------------------------------------------------------------
fly --mode batch --duration 1800s >"$dir/batch" || fail "batch"
start_peer
fly --mode lockstep --duration 1800s >"$dir/lockstep" 2>/dev/null || fail "lockstep: $(cat "$dir/lockstep")"
wait "$peer" || fail "the flight software sees no end of the run: $(cat "$dir/fsw")"
[ -n "$(hash_of "$dir/batch")" ] && [ "$(hash_of "$dir/lockstep")" = "$(hash_of "$dir/batch")" ] ||
  fail "lockstep has other bits than batch: $(cat "$dir/batch" "$dir/lockstep")"
grep -q '18000 frames out, 17999 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/lockstep" ||
  fail "each frame is answered: $(cat "$dir/lockstep")"

# each one is stopped when the run has come on with it, and then killed
rm -f "$dir/ready"
fly --mode lockstep --duration 1800s --ready "$dir/ready" >"$dir/faults" 2>/dev/null &
run=$!
await test -s "$dir/ready" || fail "lockstep does not open its link: $(cat "$dir/faults")"
for nap in 0.02 0.05 0.01; do
  out=$(frames_out)
  start_peer
  until [ "$(frames_out)" -gt "$((out + 2))" ] || ! kill -0 $run; do :; done 2>/dev/null
  kill -STOP "$peer" 2>/dev/null
  sleep $nap
  kill -CONT "$peer" 2>/dev/null
  kill -9 "$peer" 2>/dev/null
  wait "$peer" 2>/dev/null
done
start_peer
wait $run || fail "lockstep with faults: $(cat "$dir/faults")"
kill -9 "$peer" 2>/dev/null
wait "$peer" 2>/dev/null
peers=$(sed -n 's/.*; \([0-9]*\) peers/\1/p' "$dir/faults")
[ "$peers" -ge 3 ] || fail "only $peers peers came: the test does not show what it says"
[ "$(hash_of "$dir/faults")" = "$(hash_of "$dir/batch")" ] || fail "a peer that stalls and dies changes the bits"

# --- latch: asap: in real time only; tests/e2e/on_time.sh has what it does there --------------------------------------
fly --mode batch --duration 1s >"$dir/batch"
for mode in batch lockstep; do
  [ $mode = batch ] || start_peer
  fly --mode $mode --duration 1s --set links.fsw.latch=asap >"$dir/asap" 2>"$dir/err" || fail "asap in $mode: $(cat "$dir/err")"
  [ "$(hash_of "$dir/asap")" = "$(hash_of "$dir/batch")" ] || fail "asap changes the bits of $mode"
  grep -q "'latch: asap' is for real time only" "$dir/err" || fail "nobody says that asap means nothing in $mode"
done
wait "$peer"
start_peer
fly --mode realtime --duration 6s --set links.fsw.latch=asap >"$dir/asap" 2>"$dir/err" || fail "asap in real time: $(cat "$dir/asap" "$dir/err" "$dir/fsw")"
wait "$peer"
grep -q 'asap' "$dir/err" && fail "asap is said to mean nothing in real time"

# --- over UDP ---------------------------------------------------------------------------------------------------------
over udp configs/cubesat.yaml >"$dir/udp.yaml"
"$fsw" "$(url_of udp)" 2>"$dir/fsw" &
peer=$!
"$ORRERY" run "$dir/udp.yaml" --mode lockstep --duration 1s >"$dir/udp" 2>"$dir/err" || fail "UDP: $(cat "$dir/udp" "$dir/err")"
wait "$peer" || fail "over UDP the flight software sees no end of the run: $(cat "$dir/fsw")"
grep -q '10 frames out, 9 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/udp" || fail "UDP: $(cat "$dir/udp")"
[ "$(hash_of "$dir/udp")" = "$(hash_of "$dir/batch")" ] || fail "lockstep over UDP has other bits"

# --- no flight software -----------------------------------------------------------------------------------------------
incomplete fly --mode realtime --duration 0.5s --set links.fsw.wait=0.1s --set 'links.fsw.timeout={frames: 2, policy: stop}' \
  >"$dir/out" 2>"$dir/err" || fail "a run that a link stops is not incomplete: $(cat "$dir/out" "$dir/err")"
grep -q 'no flight software came in 0.1 s' "$dir/err" || fail "nobody says that none came: $(cat "$dir/err")"
grep -q "^ended  *by link 'fsw': no command" "$dir/out" || fail "the summary does not say why it ended: $(cat "$dir/out")"
for mode in realtime lockstep; do
  for signal in INT TERM HUP; do
    : >"$dir/err"
    # a run ignores what its caller ignores, as nohup does
    env --default-signal "$ORRERY" run configs/cubesat.yaml --set links.fsw.name=$name --mode $mode >"$dir/out" 2>"$dir/err" &
    run=$!
    await grep -q 'waits for flight software' "$dir/err" || fail "$mode: it does not wait: $(cat "$dir/err")"
    if [ $mode = lockstep ]; then
      fly --mode lockstep >"$dir/second" 2>&1 && fail "a second run takes the same name"
      grep -q 'another run has it open' "$dir/second" || fail "what is said of it: $(cat "$dir/second")"
    fi
    kill -$signal $run
    wait $run
    [ $? -eq 3 ] || fail "$mode: SIG$signal while waiting is not an exit of 3"
    grep -q 'ended by a signal before the first frame' "$dir/err" || fail "$mode, SIG$signal: says $(cat "$dir/err")"
    grep -q '^flown       0 frames' "$dir/out" && grep -q '^verdict     incomplete' "$dir/out" || fail "$mode, SIG$signal: $(cat "$dir/out")"
    [ -e "/dev/shm$name" ] && fail "$mode: the segment stays after SIG$signal"
  done
done

# --- a signal while a frame waits for its answer ----------------------------------------------------------------------
for json in '' --json; do
  start_peer
  rm -f "$dir/ready"
  # shellcheck disable=SC2086
  fly --mode lockstep --duration 90000s --ready "$dir/ready" $json >"$dir/out" 2>"$dir/err" &
  run=$!
  await test -s "$dir/ready" || fail "lockstep does not open its link: $(cat "$dir/err")"
  until [ "$(frames_out)" -gt 2 ] || ! kill -0 $run; do sleep 0.02; done 2>/dev/null
  kill -STOP "$peer"
  sleep 0.2
  kill -INT "$(cat "$dir/ready")"
  wait $run
  [ $? -eq 3 ] || fail "SIGINT in lockstep is not an exit of 3: $(cat "$dir/out" "$dir/err")"
  kill -9 "$peer"
  wait "$peer" 2>/dev/null
  peer=
  case $json in
  '') grep -qx 'ended       by a signal' "$dir/out" ;;
  *) grep -q '"links_end": "by a signal"' "$dir/out" ;;
  esac || fail "the summary does not say that a signal ended it: $(cat "$dir/out")"
done

# --- what an expectation counts over UDP is what came -----------------------------------------------------------------
sed 's/^spacecraft:/expect: [{measure: links.refused, is: 0}]\nspacecraft:/' "$dir/udp.yaml" >"$dir/refused.yaml"
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True: s.sendto(b"nonsense", ("127.0.0.1", int(sys.argv[1]))); print("sent", flush=True); time.sleep(0.01)' "$port" >"$dir/stranger" &
stranger=$!
await test -s "$dir/stranger" || fail "no stranger"
"$ORRERY" run "$dir/refused.yaml" --mode realtime --duration 0.5s --set links.fsw.wait=5s >"$dir/out" 2>"$dir/err" &&
  fail "refused packets break no expectation: $(cat "$dir/out" "$dir/err")"
kill $stranger
grep -q '^NOT MET *links.refused' "$dir/out" || fail "refused packets over UDP: $(cat "$dir/out" "$dir/err")"

# --- a link that nothing inside can answer ----------------------------------------------------------------------------
sed 's/,$/,/; /stiffness: \[/d; s/policy: hold},/policy: hold}}/' configs/cubesat.yaml >"$dir/outside.yaml"
"$ORRERY" run "$dir/outside.yaml" --mode batch >"$dir/out" 2>&1 && fail "batch flies a link that nobody answers"
grep -q 'which a batch run has not' "$dir/out" || fail "what is said of it: $(cat "$dir/out")"
while IFS='|' read -r set says; do
  "$ORRERY" run "$dir/outside.yaml" --mode lockstep --set "$set" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "--set $set is not an error"
  grep -q "$says" "$dir/out" || fail "--set $set says: $(cat "$dir/out")"
done <<'END'
links.fsw.name=fsw|has a name such as
links.fsw.name=/a/b|has a name such as
links.fsw.name=/..|has a name such as
links.fsw.timeout={frames: 0, policy: hold}|frames
links.fsw.timeout={frames: 5, policy: keep}|policy
links.fsw.lockstep={policy: hold}|policy
links.fsw.latch=soon|latch
links.fsw.mtu=1500|means nothing for the transport 'shm'
END
while IFS='|' read -r set says; do
  "$ORRERY" run "$dir/udp.yaml" --mode lockstep --set "$set" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "--set $set is not an error"
  grep -q "$says" "$dir/out" || fail "--set $set says: $(cat "$dir/out")"
done <<'END'
links.fsw.name=/x|means nothing for the transport 'udp'
links.fsw.listen=127.0.0.1|is an IPv4 address and a port
links.fsw.allow=[localhost]|is an IPv4 address such as
links.fsw.message_ids={telemetry: 0x1e80}|one of 0x0800 to
links.fsw.mtu=64|mtu
END
# --- flight software without a run ------------------------------------------------------------------------------------
wait $nobody
[ $? -eq 1 ] || fail "flight software without a run is no exit 1"
grep -qx "fsw: no run has opened $name.nobody; start a run whose file has a link of that name (tried for ten seconds)" "$dir/nobody" ||
  fail "it says $(cat "$dir/nobody")"
exit 0
