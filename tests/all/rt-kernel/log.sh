# The guest of one processor whose time is its count of instructions: what a log costs the wake-up of the loop there, beside a run without one, and beside
# an independent program that writes as many bytes. The log goes to the host by the second serial port, and flies again there.
fail() {
  echo "FAIL: $1"
  exit 1
}
# a disk in memory that says it has room: a log keeps 1 GB free
mkdir /logs && mount -t tmpfs -o size=3g none /logs || fail mount
plain='--set realtime.core=0 --set realtime.phase=0s --set realtime.spin=0s'
seconds=4
wake_up() { sed -n '/"wake-up": {/,/}/s/.*"p\(50\|99\|99\.9\)_ns": \([0-9]*\).*/\2/p' /tmp/json | tr '\n' ' '; }
fly() { # NAME OPTIONS...: its wake-up's p50, p99, p99.9 in ns
  name=$1
  shift
  # shellcheck disable=SC2086
  orrery run /configs/reference.yaml --mode realtime --step 1ms --duration ${seconds}s --json $plain "$@" >/tmp/json 2>/tmp/err || fail "$name: $(cat /tmp/json /tmp/err)"
  grep -q '"own": 0' /tmp/json && grep -q '"minor_faults": 0' /tmp/json || fail "$name: late frames or faults: $(cat /tmp/json)"
  eval "$name=\"$(wake_up)\""
  eval "echo \"wake-up $name: p50, p99, p99.9: \$$name ns\""
}
everything='record={channels: ["*"]}'
fly without --no-log
fly logged --set "$everything" --log /logs/a.mcap
grep -q '"lost_frames": 0' /tmp/json || fail "frames are lost: $(cat /tmp/json)"
size=$(stat -c %s /logs/a.mcap)
echo "the log has $size bytes"
while :; do
  dd if=/dev/zero of=/logs/other bs=$((size / seconds)) count=1 conv=notrunc 2>/dev/null
  sleep 1
done &
writer=$!
fly beside --no-log
kill $writer
echo "$without|$logged|$beside" | awk -F'|' '{
  split($1, w, " "); split($2, l, " "); split($3, b, " ")
  printf "with a log: p50 %.4f of that without one; p99.9 %.4f of that beside a program that writes as much\n", l[1] / w[1], l[3] / b[3]
  exit !(w[1] > 0 && b[3] > 0 && l[1] <= 1.02 * w[1] && l[3] <= b[3])
}' || fail "the log costs the wake-up more than it may"

# A short flight, small enough for a serial port. What is no byte of the log is not told apart there, so the line is raw.
orrery run /configs/reference.yaml --mode realtime --step 1ms --duration 1s $plain --set 'record={channels: [bus.rate, "wheel_*"], compression: zstd}' --log /logs/b.mcap >/tmp/out 2>/tmp/err ||
  fail "a flight for the host: $(cat /tmp/out /tmp/err)"
sed -n 's/^state_hash/hash of the guest/p' /tmp/out
stty -F /dev/ttyS1 raw 115200 && cat /logs/b.mcap >/dev/ttyS1 || fail 'the second serial port'
sleep 1
exit 0
