#!/bin/sh
# The cubesat on a CAN bus, flown by a Python program that knows the document of its frames alone. There is no bus
# here: a library in front of the C library makes a Unix socket of messages of it, each a frame as the kernel has it
# (the bus of the kernel is in tests/all/rt-kernel, job can). Doubles have the bits of shared memory, whole numbers
# those of the same packets over UDP.
. tests/support/script.sh
. tests/support/can_layouts.sh

start_stand_in

peer() { # ARGUMENTS: in the background
  python3 -I tests/support/can_peer.py "$@" >"$dir/peer" 2>&1 &
  peer=$!
}
fly() { # NAME MODE [FLAG...]
  file=$1 mode=$2
  shift 2
  on_bus "$ORRERY" run "$dir/$file.yaml" --mode "$mode" --no-log --duration 20s "$@" >"$dir/$file" 2>"$dir/err" || fail "$file: $(cat "$dir/$file" "$dir/err" "$dir/peer")"
}
whole() { # NAME: each frame was answered
  [ "$1" != udp ] || kill $peer
  wait $peer || fail "$1: $(cat "$dir/peer" "$dir/$1")"
  grep -q '200 frames out, 199 commands applied, 0 of them late, 0 missed' "$dir/$1" || fail "$1: not each frame was answered: $(cat "$dir/$1" "$dir/err" "$dir/peer")"
}
over shm configs/cubesat.yaml >"$dir/shm.yaml"
python3 tests/support/can_peer.py "client:shm:$name" >"$dir/peer" 2>&1 &
peer=$!
fly shm lockstep
whole shm
[ "$(hash_of "$dir/shm" | wc -c)" -eq 17 ] || fail "no hash: $(cat "$dir/shm")"

# --- doubles: the bits of shared memory -------------------------------------------------------------------------------
for form in doubles fd; do
  can_link $form "transport: can
    interface: vcan7
    fd: $([ $form = fd ] && echo on || echo off)" >"$dir/$form.yaml"
  rm -f "$dir/bus"
  peer "unix:$dir/bus" $form bus-off
  await test -e "$dir/bus" || fail "no bus"
  fly $form lockstep
  whole $form
  [ "$(hash_of "$dir/$form")" = "$(hash_of "$dir/shm")" ] || fail "$form has other bits than shared memory: $(cat "$dir/$form" "$dir/shm")"
  grep -q '1 error frames of the bus; it was off 1 times' "$dir/$form" || fail "$form: the error frame is not counted: $(cat "$dir/$form")"
  grep -q '1 refused: other_id' "$dir/$form" || fail "$form: nothing is said of a frame that is nobody's: $(cat "$dir/$form")"
done

# --- whole numbers: the bits of the same packets over UDP -------------------------------------------------------------
can_link whole "transport: can
    interface: vcan7" >"$dir/whole.yaml"
can_link whole "transport: udp
    listen: 127.0.0.1:$port" >"$dir/udp.yaml"
rm -f "$dir/bus"
peer "unix:$dir/bus" whole
await test -e "$dir/bus" || fail "no bus"
fly whole lockstep
whole whole
peer "udp:$port" whole
fly udp lockstep
whole udp
[ "$(hash_of "$dir/whole")" = "$(hash_of "$dir/udp")" ] || fail "whole numbers have other bits on CAN than over UDP: $(cat "$dir/whole" "$dir/udp")"
[ "$(hash_of "$dir/whole")" != "$(hash_of "$dir/shm")" ] || fail "whole numbers and doubles have the same bits"

# --- real time --------------------------------------------------------------------------------------------------------
rm -f "$dir/bus"
peer "unix:$dir/bus" whole
await test -e "$dir/bus" || fail "no bus"
fly whole realtime --duration 6s --json
wait $peer || fail "real time: $(cat "$dir/peer")"
python3 - "$dir/whole" "$(cat "$dir/peer")" <<'P2' || fail "real time: $(cat "$dir/whole")"
import json, sys
link = json.load(open(sys.argv[1]))["links"]["fsw"]
lost = link["lost"]
assert 0 < int(sys.argv[2]) <= 60, sys.argv[2]
assert lost["longest_in_the_socket_ns"] >= 0 and lost["error_frames"] == 0, lost
P2

# --- what is wrong with a bus -----------------------------------------------------------------------------------------
says() { # WORDS COMMAND...
  words=$1
  shift
  "$@" >"$dir/out" 2>&1 && fail "it flies where it should not: $words"
  grep -q "$words" "$dir/out" || fail "no word of '$words': $(cat "$dir/out")"
}
mtu=16 says "has no CAN FD" on_bus "$ORRERY" run "$dir/fd.yaml" --mode lockstep --no-log
BUS_DOWN=1 says "is down: ip link set vcan7 up" on_bus "$ORRERY" run "$dir/whole.yaml" --mode lockstep --no-log
says "there is no interface 'vcan8'" on_bus "$ORRERY" run "$dir/whole.yaml" --mode lockstep --no-log --set links.fsw.interface=vcan8
exit 0
