# Guest of one processor whose time is its count of instructions, with memory for files: what a log with every
# number in it costs the wake-up, beside a run without one, and beside one without a log where an independent
# program writes as many bytes.
fail() {
  echo "FAIL: $1"
  exit 1
}
mkdir /log
mount -t tmpfs -o size=1400m none /log
seconds=3
fly() { # NAME ARGUMENTS...: its wake-ups are in /tmp/NAME
  this=$1
  shift
  orrery run /configs/reference.yaml --mode realtime --step 1ms --duration ${seconds}s --set 'expect=[]' --set realtime.core=0 --set realtime.phase=0s --set realtime.spin=0s \
    --json "$@" >/tmp/json 2>/tmp/err || fail "$this: $(cat /tmp/err)"
  grep -q '"own": 0' /tmp/json || fail "$this: $(grep -A 9 overruns /tmp/json)"
  sed -n '/"wake-up": {/,/}/s/.*"p\(50\|99\|99\.9\)_ns": \([0-9]*\).*/\2/p' /tmp/json | tr '\n' ' ' >"/tmp/$this"
  echo "$this: wake-up p50, p99, p99.9 $(cat "/tmp/$this")ns, state_hash $(sed -n 's/.*"state_hash": "\(.*\)".*/\1/p' /tmp/json)"
}
fly plain --no-log
fly logged --log /log/a.mcap --set 'record={channels: ["*"]}'
bytes=$(stat -c %s /log/a.mcap)
orrery log info /log/a.mcap | tail -n 1
grep -q '"lost_frames": 0' /tmp/json || fail "frames are lost: $(grep -B 3 -A 3 lost_frames /tmp/json)"
rm /log/a.mcap

# as many bytes a second, by chunks of the same size
pause=$((seconds * 1000000 / (bytes / 4194304 + 1)))
while :; do
  dd if=/dev/zero of=/log/other bs=4M count=1 2>/dev/null
  usleep $pause
done &
other=$!
fly beside --no-log
kill $other
rm /log/other
echo "$(cat /tmp/plain)|$(cat /tmp/logged)|$(cat /tmp/beside)" | awk -F '|' '{
    split($1, p, " "); split($2, l, " "); split($3, b, " ")
    printf "wake-up with a log: p50 %.4f of that without, p99.9 %.4f of that beside an independent writer\n", l[1] / p[1], l[3] / b[3]
    exit !(p[1] > 0 && b[3] > 0 && l[1] <= 1.02 * p[1] && l[3] <= b[3])
  }' || fail 'the log costs more'

exit 0
