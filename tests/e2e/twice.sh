#!/bin/sh
# Two runs that want one place: the second is refused, and says who has it and what to do; the first flies on with its own flight software. Over both
# transports, in both modes that open links; batch opens none. What a killed run left is taken over.
set -u
dir=$(mktemp -d) || exit 1
fsw=$(dirname "$ORRERY")/fsw
name=/orrery.twice.$$
port=$((20000 + $$ % 20000))
first= peer=
trap 'for p in $first $peer; do kill -9 "$p" 2>/dev/null; done; rm -rf "$dir" "/dev/shm$name"' EXIT
fail() {
  echo "FAIL: $1"
  exit 1
}
until_true() { # at most 20 s
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || return 1
    sleep 0.05
  done
}
flies() { "$ORRERY" top --once "$first" 2>/dev/null | grep -q '^integrate '; }
sed "s|/orrery.fsw|$name|" configs/cubesat.yaml >"$dir/shm.yaml"
sed "s|transport: shm, name: /orrery.fsw|transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]|" configs/cubesat.yaml >"$dir/udp.yaml"

# $1 transport, $2 URL, $3 what to do otherwise
try() {
  file=$dir/$1.yaml
  rm -f "$dir/ready"
  "$ORRERY" run "$file" --mode realtime --duration 4s --ready "$dir/ready" >"$dir/first" 2>"$dir/err" &
  first=$!
  until_true [ -s "$dir/ready" ] || fail "$1: --ready: $(cat "$dir/err")"
  [ "$(cat "$dir/ready")" = $first ] || fail "$1: --ready has $(cat "$dir/ready"), the run is $first"
  "$fsw" "$2" 2>"$dir/fsw" &
  peer=$!
  until_true flies || fail "$1: no flight: $(cat "$dir/err")"
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
  wait $first || fail "$1: the first: $(cat "$dir/first" "$dir/err")"
  wait $peer || fail "$1: its flight software: $(cat "$dir/fsw")"
  first= peer=
  grep -q '^link fsw .* 40 frames out, .*; 1 peers' "$dir/first" || fail "$1: other peers came to the first: $(cat "$dir/first")"
  grep -q foreign "$dir/first" && fail "$1: foreign commands came to the first: $(cat "$dir/first")"

  # dead runs hold nothing
  "$ORRERY" run "$file" --mode lockstep --ready "$dir/dead" >/dev/null 2>&1 &
  first=$!
  until_true [ -s "$dir/dead" ] || fail "$1: a third run does not start"
  kill -9 $first
  wait $first 2>/dev/null
  first=
  "$fsw" "$2" 2>"$dir/fsw" &
  peer=$!
  "$ORRERY" run "$file" --mode lockstep --duration 1s >"$dir/second" 2>&1 || fail "$1: what a killed run left is not taken over: $(cat "$dir/second")"
  wait $peer
  peer=
  rm -f "$dir/dead"
}
try shm "shm:$name" name=/NAME
try udp "udp:127.0.0.1:$port" listen=ADDRESS:PORT

# what a user without rights may not see is not made up
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  cp -L "$ORRERY" "$dir/orrery"
  chmod 755 "$dir" "$dir/orrery"
  chmod 644 "$dir"/*.yaml
  for transport in shm udp; do
    "$ORRERY" run "$dir/$transport.yaml" --mode lockstep --ready "$dir/ready.$transport" >/dev/null 2>&1 &
    first=$!
    until_true [ -s "$dir/ready.$transport" ] || fail "$transport: the run to be met by another user does not start"
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$dir/orrery" run "$dir/$transport.yaml" --mode lockstep >"$dir/second" 2>&1 &&
      fail "$transport: another user takes it over"
    case $transport in
    shm) says='another user has shared memory of that name.*--set links.fsw.name=/NAME' ;;
    udp) says='another run or program has it open: a process that this user may not see' ;;
    esac
    grep -q -e "$says" "$dir/second" || fail "$transport, another user: says $(cat "$dir/second")"
    kill $first
    wait $first
    first=
  done
fi

"$ORRERY" run "$dir/shm.yaml" --mode lockstep --ready "$dir/none/ready" >"$dir/out" 2>&1 && fail "a file that cannot be made is no mistake"
grep -q -e '--ready .*none/ready: No such file' "$dir/out" || fail "what is said of it: $(cat "$dir/out")"
"$ORRERY" run "$dir/shm.yaml" --mode batch --ready "$dir/ready" >"$dir/out" 2>&1
[ $? -eq 2 ] || fail "--ready in batch is a mistake of the command line"
exit 0
