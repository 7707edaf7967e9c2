# Guest of one processor whose time is its count of instructions: the cubesat over a virtual CAN bus of the kernel,
# flown by tests/support/can_peer.py.
fail() {
  echo "FAIL: $1"
  exit 1
}
for module in can can-raw can-dev vcan; do insmod /modules/$module.ko || fail "no $module"; done
ip link add dev vcan0 type vcan && ip link set vcan0 up || fail 'no vcan'
. /tests/support/can_layouts.sh
over() { # FORM: the run file
  can_link "$1" "transport: can
    interface: vcan0
    fd: $([ "$1" = fd ] && echo on || echo off)" >"/tmp/$1.yaml"
}
peer() { # FORM...
  python3 /tests/support/can_peer.py can:vcan0 "$@" >/tmp/peer 2>&1 &
  peer=$!
}
cd /
for form in doubles fd whole; do
  over $form
  peer $form bus-off
  orrery run /tmp/$form.yaml --mode lockstep --no-log --duration 20s >/tmp/out 2>/tmp/err || [ $? -eq 3 ] || fail "$form: $(cat /tmp/out /tmp/err /tmp/peer)"
  wait $peer || fail "$form: $(cat /tmp/peer)"
  echo "$form: $(grep ^state_hash /tmp/out)"
  grep -q '200 frames out, 199 commands applied, 0 of them late, 0 missed' /tmp/out || fail "$form: not each frame was answered: $(cat /tmp/out)"
  grep -q '1 error frames of the bus; it was off 1 times' /tmp/out || fail "$form: the error frame is not counted: $(cat /tmp/out)"
  # the kernel hands over what is the link's alone
  grep -q refused /tmp/out && fail "$form: something was refused: $(cat /tmp/out)"
done

# a minute at 100 Hz
peer whole
chrt -f 60 orrery run /tmp/whole.yaml --mode realtime --no-log --set 'links.fsw.rate=100 Hz' --duration 60s --json --set realtime.core=0 --set realtime.spin=0s >/tmp/json 2>/tmp/err || [ $? -eq 3 ] || fail "a minute: $(cat /tmp/err)"
wait $peer
echo "a minute at 100 Hz: $(cat /tmp/peer) answers; $(grep -o '"\(frames_out\|applied\|late\|missed\|published\|on_time\|never_came\|longest_in_the_socket_ns\|not_[a-z_]*\)": [0-9]*' /tmp/json | tr '\n' ' ')"

# the interface is pulled and put back, and flight software killed and started again
peer whole
orrery run /tmp/whole.yaml --mode realtime --no-log --duration 20s --set realtime.core=0 --set realtime.spin=0s >/tmp/out 2>/tmp/err &
run=$!
sleep 5
ip link set vcan0 down
sleep 2
ip link set vcan0 up
sleep 3
kill -9 $peer
sleep 1
peer whole
wait $run
[ $? -eq 0 ] || [ $? -eq 3 ] || fail "pulled: $(cat /tmp/out /tmp/err)"
grep '^link fsw\|went down\|not sent\|answers to them' /tmp/out
wait $peer
grep -q 'went down 1 times' /tmp/out || fail "nothing is said of an interface that went down: $(cat /tmp/out)"
[ "$(cat /tmp/peer)" -ge 30 ] || fail "the second flight software answered $(cat /tmp/peer) frames: $(cat /tmp/out)"
exit 0
