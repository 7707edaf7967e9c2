#!/bin/sh
# The cubesat over every carrier: in lockstep the bits of shared memory, in C and in Python; with the cable
# pulled and put back, the connection cut, and the flight software killed and started again; what is refused,
# and what is left behind.
. tests/support/script.sh
fly() { # TRANSPORT [FLAG...]: in lockstep; the summary in $dir/TRANSPORT
  t=$1
  shift
  over "$t" configs/cubesat.yaml >"$dir/$t.yaml"
  "$ORRERY" run "$dir/$t.yaml" --mode lockstep --no-log "$@" >"$dir/$t" 2>"$dir/$t.err"
}
all_answered='600 frames out, 599 commands applied, 0 of them late, 0 missed; 1 peers'
start_cable

# --- the same bits ----------------------------------------------------------------------------------------------------
for t in shm udp tcp unix stream serial; do
  "$fsw" "$(url_of $t)" 2>"$dir/fsw" &
  fly $t || fail "$t: $(cat "$dir/$t" "$dir/$t.err")"
  wait $! || fail "$t: the flight software sees no end of the run: $(cat "$dir/fsw")"
  grep -q "$all_answered" "$dir/$t" || fail "$t: each frame is answered: $(cat "$dir/$t")"
  grep -q 'malformed\|not sent\|damaged' "$dir/$t" && fail "$t: something was lost: $(cat "$dir/$t")"
  [ -n "$(hash_of "$dir/$t")" ] && [ "$(hash_of "$dir/$t")" = "$(hash_of "$dir/shm")" ] || fail "$t has other bits than shm: $(cat "$dir/$t")"
done
for t in shm tcp unix stream serial; do
  python3 io/client/orrery_client.py "$(url_of $t)" >"$dir/echo" 2>&1 &
  fly $t --duration 10s || fail "$t in Python: $(cat "$dir/$t" "$dir/$t.err")"
  wait $! || fail "$t in Python: $(cat "$dir/echo")"
  grep -q '100 seen, 0 lost, 100 answered' "$dir/echo" || fail "$t in Python: $(cat "$dir/echo")"
  [ "$t" = shm ] && python=$(hash_of "$dir/shm")
  [ "$(hash_of "$dir/$t")" = "$python" ] || fail "$t in Python has other bits than shm"
done
[ -e "$dir/link.sock" ] && fail "the run leaves its socket"

# --- 250 kbaud, even parity, two stop bits, SLIP; no low latency on a pseudo-terminal, which is said ------------------
"$fsw" "$(url_of serial | sed 's/@.*/@250000,8E2,slip/')" 2>"$dir/fsw" &
fly serial --duration 10s --set links.fsw.baud=250000 --set links.fsw.parity=even --set links.fsw.stop_bits=2 --set links.fsw.framing=slip \
  --set links.fsw.low_latency=on || fail "250 kbaud: $(cat "$dir/serial" "$dir/serial.err")"
wait $! || fail "250 kbaud: $(cat "$dir/fsw")"
grep -q '100 frames out, 99 commands applied' "$dir/serial" || fail "250 kbaud: $(cat "$dir/serial")"
grep -q 'cable.a has no low latency' "$dir/serial.err" || fail "no word on low latency: $(cat "$dir/serial.err")"

# --- with a key -------------------------------------------------------------------------------------------------------
(umask 077; od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$dir/key")
"$fsw" --key-file "$dir/key" "$(url_of tcp)" 2>"$dir/fsw" &
fly tcp --set "links.fsw.key_file=$dir/key" || fail "with a key: $(cat "$dir/tcp" "$dir/tcp.err")"
wait $! || fail "with a key: $(cat "$dir/fsw")"
[ "$(hash_of "$dir/tcp")" = "$(hash_of "$dir/udp")" ] || fail "a key changes the bits"

# --- pulled, cut, killed: until the run is over another flight software comes -----------------------------------------
come_again() { # URL: counts how often
  peers=0
  until "$fsw" "$1" 2>"$dir/fsw"; do
    [ $? -eq 1 ] || touch "$dir/crashed"
    peers=$((peers + 1))
    kill -0 "$run" 2>/dev/null || break
  done
  echo $peers >"$dir/peers"
}
exec 7>&-
over serial configs/cubesat.yaml >"$dir/serial.yaml"
"$ORRERY" run configs/cubesat.yaml --mode batch --no-log --duration 900s >"$dir/batch" || fail batch
start_cable --break 1 5
"$ORRERY" run "$dir/serial.yaml" --mode lockstep --no-log --duration 900s >"$dir/serial" 2>"$dir/serial.err" &
run=$!
come_again "$(url_of serial)"
wait $run || fail "a cable that is pulled: $(cat "$dir/serial" "$dir/serial.err")"
grep -q 'broken 5' "$dir/cable" || fail "the cable was not pulled five times before the run was over: the test does not show what it says"
grep -q 'connected again 5 times' "$dir/serial" || fail "five times: $(cat "$dir/serial")"
[ "$(hash_of "$dir/serial")" = "$(hash_of "$dir/batch")" ] || fail "a cable that is pulled changes the bits: $(cat "$dir/serial")"

over tcp configs/cubesat.yaml >"$dir/tcp.yaml"
"$ORRERY" run "$dir/tcp.yaml" --mode lockstep --no-log --duration 900s --ready "$dir/ready" >"$dir/tcp" 2>"$dir/tcp.err" &
run=$!
await test -s "$dir/ready" || fail "no run over TCP: $(cat "$dir/tcp.err")"
python3 tests/support/tcp_cut.py $((port + 1)) "$port" 2 9 <"$dir/hold" >"$dir/cuts" &
come_again "tcp:127.0.0.1:$((port + 1))"
wait $run || fail "a connection that is cut: $(cat "$dir/tcp" "$dir/tcp.err")"
grep -q 'cut 9' "$dir/cuts" || fail "the connection was not cut nine times: the test does not show what it says"
[ "$(hash_of "$dir/tcp")" = "$(hash_of "$dir/batch")" ] || fail "a connection that is cut changes the bits: $(cat "$dir/tcp")"
[ -e "$dir/crashed" ] && fail "flight software died of a connection that was cut, as of SIGPIPE, or of a cable"

over stream configs/cubesat.yaml >"$dir/stream.yaml"
"$ORRERY" run "$dir/stream.yaml" --mode lockstep --no-log --duration 900s >"$dir/stream" 2>"$dir/stream.err" &
run=$!
for nap in 0.1 0.15 0.05 0.2; do
  "$fsw" "$(url_of stream)" 2>/dev/null &
  sleep $nap
  kill -9 $!
  wait $! 2>/dev/null
done
come_again "$(url_of stream)"
wait $run || fail "flight software that is killed: $(cat "$dir/stream" "$dir/stream.err")"
[ "$(hash_of "$dir/stream")" = "$(hash_of "$dir/batch")" ] || fail "flight software that is killed changes the bits: $(cat "$dir/stream")"

# --- the run is killed, and another takes its place: what flight software still says to the first, and how it goes,
# does not end the second ----------------------------------------------------------------------------------------------
exec 7>&-
start_cable
"$ORRERY" run "$dir/serial.yaml" --mode lockstep --no-log --duration 90000s >/dev/null 2>"$dir/serial.err" &
run=$!
"$fsw" "$(url_of serial)" 2>"$dir/fsw" &
peer=$!
await flown_to $run 100 || fail "no flight: $(cat "$dir/serial.err" "$dir/fsw")"
kill -STOP $peer
sleep 0.1 # frames that wait for it on the line
kill -9 $run
wait $run 2>/dev/null
rm -f "$dir/ready"
"$ORRERY" run "$dir/serial.yaml" --mode lockstep --no-log --duration 900s --ready "$dir/ready" >"$dir/serial" 2>"$dir/serial.err" &
run=$!
await test -s "$dir/ready" || fail "no second run: $(cat "$dir/serial.err")"
kill -CONT $peer
wait $run || fail "the peer of the run before ends another: $(cat "$dir/serial" "$dir/serial.err" "$dir/fsw")"
wait $peer || fail "it does not see the second run's end: $(cat "$dir/fsw")"
[ "$(hash_of "$dir/serial")" = "$(hash_of "$dir/batch")" ] || fail "a run that was killed changes the bits of the next: $(cat "$dir/serial")"

# --- what has no place ------------------------------------------------------------------------------------------------
over unix configs/cubesat.yaml >"$dir/unix.yaml"
refuses() { # WORDS: of the run's message; [ARGUMENTS...]
  words=$1
  shift
  "$ORRERY" run "$dir/unix.yaml" --mode lockstep --no-log "$@" >/dev/null 2>"$dir/err" && fail "it flies where it should not: $words"
  grep -q "$words" "$dir/err" || fail "no word of '$words': $(cat "$dir/err")"
}
echo mine >"$dir/link.sock"
refuses 'no socket of this user'
[ "$(cat "$dir/link.sock")" = mine ] || fail "it takes a file away"
rm "$dir/link.sock"
ln -s "$dir/elsewhere" "$dir/link.sock"
refuses 'no socket of this user'
rm "$dir/link.sock"
chmod 777 "$dir"
refuses 'others may write'
chmod 700 "$dir"
# who owns the folder may put a link in the socket's place; a socket under any umask is its user's alone
if [ "$(id -u)" -eq 0 ]; then
  mkdir -m 755 "$dir/theirs" && chown 65534 "$dir/theirs"
  refuses "another user's" --set "links.fsw.path=$dir/theirs/link.sock"
  [ -e "$dir/theirs/link.sock" ] && fail "it listens in another user's folder"
fi
mkdir "$dir/real" && ln -s "$dir/real" "$dir/folder"
sed -i "s|$dir/link.sock|$dir/folder/link.sock|" "$dir/unix.yaml"
refuses 'its folder is a link'
[ -e "$dir/real/link.sock" ] && fail "it follows a link"
"$ORRERY" run "$dir/serial.yaml" --mode lockstep --no-log --set links.fsw.device=/dev/null >/dev/null 2>"$dir/err" && fail "/dev/null is a serial port"
grep -q "'/dev/null' is no serial port" "$dir/err" || fail "what is no serial port: $(cat "$dir/err")"
exit 0
