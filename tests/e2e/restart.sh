#!/bin/sh
# The executive is killed under its flight software and started again: the same flight software notices, opens the new
# run, and answers its every frame. Over both transports.
. tests/support/script.sh
notices() { grep -q 'the run has died' "$dir/fsw"; }
# $1 transport, $2 URL
try() {
  over "$1" configs/cubesat.yaml >"$dir/$1.yaml"
  "$ORRERY" run "$dir/$1.yaml" --mode realtime --duration 900s >/dev/null 2>"$dir/first" &
  run=$!
  "$fsw" "$2" 2>"$dir/fsw" &
  peer=$!
  await flies $run || fail "$1: the first run does not fly: $(cat "$dir/first")" # its first frame waits for flight software
  kill -9 $run
  wait $run 2>/dev/null
  await notices || fail "$1: the flight software does not notice: $(cat "$dir/fsw")"
  "$ORRERY" run "$dir/$1.yaml" --mode lockstep --duration 5s >"$dir/out" 2>&1 || fail "$1: the second run: $(cat "$dir/out")"
  wait $peer || fail "$1: the flight software ends badly: $(cat "$dir/fsw")"
  grep -q '50 frames out, 49 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$1: $(cat "$dir/out")"
}
try shm "shm:$name"
try udp "udp:localhost:$port"
exit 0
