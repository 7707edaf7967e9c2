# Guest of one processor whose time is its count of instructions, with memory for files: a flight under flight software,
# whose log the host replays. It comes by the console, in base64.
mkdir /log
mount -t tmpfs -o size=1400m none /log
chrt -f 70 fsw shm:/orrery.cubesat cubesat 2>/tmp/fsw &
orrery run /configs/cubesat.yaml --mode realtime --duration 2s --log /log/flight.mcap --set links.fsw.name=/orrery.cubesat --set realtime.core=0 --set realtime.phase=0s --set realtime.spin=0s \
  >/tmp/out 2>/tmp/err
grep '^link fsw\|^state_hash' /tmp/out || {
  cat /tmp/out /tmp/err /tmp/fsw
  exit 1
}
echo 'log begins'
base64 /log/flight.mcap
echo 'log ends'
exit 0
