#!/bin/sh
# The executive is killed under its flight software and started again: the same flight software notices, opens the new run, and answers its every
# frame. Over both transports.
set -u
dir=$(mktemp -d) || exit 1
fsw=$(dirname "$ORRERY")/fsw
name=/orrery.restart.$$
port=$((20000 + $$ % 20000))
peer= run=
trap 'for p in $peer $run; do kill -9 "$p" 2>/dev/null; done; rm -rf "$dir" "/dev/shm$name"' EXIT
fail() {
  echo "FAIL: $1"
  exit 1
}
sed "s|transport: shm, name: /orrery.fsw|transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]|" configs/cubesat.yaml >"$dir/udp.yaml"
sed "s|/orrery.fsw|$name|" configs/cubesat.yaml >"$dir/shm.yaml"

# $1 transport, $2 URL
try() {
  "$ORRERY" run "$dir/$1.yaml" --mode realtime --duration 900s >/dev/null 2>"$dir/first" &
  run=$!
  "$fsw" "$2" 2>"$dir/fsw" &
  peer=$!
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.25 # the run goes on past its first frame when the peer has come
    [ -s "$dir/first" ] && kill -0 $run 2>/dev/null && break
  done
  sleep 0.5
  kill -9 $run 2>/dev/null || fail "$1: the first run is not there: $(cat "$dir/first")"
  wait $run 2>/dev/null
  run=
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q 'the run has died' "$dir/fsw" && break
    sleep 0.25
  done
  grep -q 'the run has died' "$dir/fsw" || fail "$1: the flight software does not notice: $(cat "$dir/fsw")"
  "$ORRERY" run "$dir/$1.yaml" --mode lockstep --duration 5s >"$dir/out" 2>&1 || fail "$1: the second run: $(cat "$dir/out")"
  wait $peer || fail "$1: the flight software ends badly: $(cat "$dir/fsw")"
  peer=
  grep -q '50 frames out, 49 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$1: $(cat "$dir/out")"
}
try shm "shm:$name"
try udp "udp:localhost:$port"
exit 0
