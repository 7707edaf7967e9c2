#!/bin/sh
# Two runs that want one place: the second is refused, and says who has it and what to do; the first flies on
# with its own flight software. Over both transports, in both modes that open links; batch opens none. What a
# killed run left is taken over.
. tests/support/script.sh
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
done

# $1 transport, $2 URL, $3 what to do otherwise
try() {
  file=$dir/$1.yaml
  rm -f "$dir/ready"
  "$ORRERY" run "$file" --mode realtime --duration 1000s --ready "$dir/ready" >"$dir/first" 2>"$dir/err" &
  first=$!
  await [ -s "$dir/ready" ] || fail "$1: --ready: $(cat "$dir/err")"
  [ "$(cat "$dir/ready")" = $first ] || fail "$1: --ready has $(cat "$dir/ready"), the run is $first"
  "$fsw" "$2" 2>"$dir/fsw" &
  peer=$!
  await flies $first || fail "$1: no flight: $(cat "$dir/err")"
  for mode in realtime lockstep; do
    "$ORRERY" run "$file" --mode $mode --duration 1s --ready "$dir/second.ready" >"$dir/second" 2>&1
    [ $? -eq 1 ] || fail "$1, $mode: a second run is no exit 1: $(cat "$dir/second")"
    for word in "$2: another run.* has it open: process $first (.*orrery run " "--set links.fsw.$3"; do
      grep -q -e "$word" "$dir/second" || fail "$1, $mode: the second does not say '$word': $(cat "$dir/second")"
    done
    [ ! -e "$dir/second.ready" ] || fail "$1, $mode: flight software is told to come to a run that was refused"
  done
  "$ORRERY" run "$file" --mode batch --duration 1s >"$dir/second" 2>&1 || fail "$1: batch beside it: $(cat "$dir/second")"
  kill -0 $first 2>/dev/null || fail "$1: the first was over before the second was refused: the test shows nothing"
  kill -TERM $first
  wait $first
  [ $? -eq 3 ] || fail "$1: the first: $(cat "$dir/first" "$dir/err")"
  wait $peer || fail "$1: its flight software: $(cat "$dir/fsw")"
  grep -q '^link fsw .* [1-9][0-9]* frames out, .*; 1 peers' "$dir/first" || fail "$1: other peers came to the first: $(cat "$dir/first")"
  grep -q foreign "$dir/first" && fail "$1: foreign commands came to the first: $(cat "$dir/first")"

  # dead runs hold nothing
  "$ORRERY" run "$file" --mode lockstep --ready "$dir/dead" >/dev/null 2>&1 &
  first=$!
  await [ -s "$dir/dead" ] || fail "$1: a third run does not start"
  kill -9 $first
  wait $first 2>/dev/null
  "$fsw" "$2" 2>"$dir/fsw" &
  peer=$!
  "$ORRERY" run "$file" --mode lockstep --duration 1s >"$dir/second" 2>&1 || fail "$1: what a killed run left is not taken over: $(cat "$dir/second")"
  wait $peer
  rm -f "$dir/dead"
}
try shm "$(url_of shm)" name=/NAME
try udp "$(url_of udp)" listen=ADDRESS:PORT

# what a user without rights may not see is not made up
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  cp -L "$ORRERY" "$dir/orrery"
  chmod 755 "$dir" "$dir/orrery"
  chmod 644 "$dir"/*.yaml
  for transport in shm udp; do
    "$ORRERY" run "$dir/$transport.yaml" --mode lockstep --ready "$dir/ready.$transport" >/dev/null 2>&1 &
    first=$!
    await [ -s "$dir/ready.$transport" ] || fail "$transport: the run to be met by another user does not start"
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$dir/orrery" run "$dir/$transport.yaml" --mode lockstep >"$dir/second" 2>&1 &&
      fail "$transport: another user takes it over"
    case $transport in
    shm) says='another user has shared memory of that name.*--set links.fsw.name=/NAME' ;;
    udp) says='another run or program has it open: a process that this user may not see' ;;
    esac
    grep -q -e "$says" "$dir/second" || fail "$transport, another user: says $(cat "$dir/second")"
    kill $first
    wait $first
  done
fi

# A port that no process has any more, but the kernel, which takes its time with what an ended run left, is waited for.
# Here a process that the run cannot see holds it for three seconds.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
  python3 -c '
import socket, sys, time
held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for left in range(300, 0, -1): # the kernel may hold it still
    try:
        held.bind(("127.0.0.1", int(sys.argv[1])))
        break
    except OSError:
        time.sleep(0.1)
print("held", flush=True)
time.sleep(3)' "$port" >"$dir/held" &
  holder=$!
  await [ -s "$dir/held" ] || fail "the port cannot be held"
  "$fsw" "$(url_of udp)" 2>"$dir/fsw" &
  peer=$!
  unshare --pid --fork --mount-proc "$ORRERY" run "$dir/udp.yaml" --mode lockstep --duration 1s >"$dir/second" 2>&1 ||
    fail "a port that is being let go of is not waited for: $(cat "$dir/second")"
  wait $peer
  wait $holder
fi

"$ORRERY" run "$dir/shm.yaml" --mode lockstep --ready "$dir/none/ready" >"$dir/out" 2>&1 && fail "a file that cannot be made is no mistake"
grep -q -e '--ready .*none/ready: No such file' "$dir/out" || fail "what is said of it: $(cat "$dir/out")"
"$ORRERY" run "$dir/shm.yaml" --mode batch --ready "$dir/ready" >"$dir/out" 2>&1
[ $? -eq 2 ] || fail "--ready in batch is a mistake of the command line"
exit 0
