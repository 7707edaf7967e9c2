# Guest of one processor whose time is its count of instructions. It measures the length of the way from the timer to
# the executive on a real PREEMPT_RT kernel, and who may come in between; no jitter of hardware.
fail() {
  echo "FAIL: $1"
  exit 1
}
hash_of() { sed -n 's/^state_hash *//p' "$1"; }

# --- the tick beside cyclictest: core, priority, period, phase and load the same, neither spins; ns ---
cat >/tmp/tick.yaml <<'END'
orrery: 1
spacecraft: {bodies: {bus: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}}}
simulation: {step: 1 ms, duration: 60 s}
realtime: {core: 0, priority: 80, spin: 0 s}
END
percentiles_of_cyclictest() { # lines "LATENCY SAMPLES", with zeros in front, which awk would read as octal
  awk '!/^#/ && NF == 2 { sub(/^0+/, "", $1); sub(/^0+/, "", $2); n[$1 + 0] = $2; total += $2 }
    END {
      split("0.5 0.99 0.999", q, " ")
      k = 1
      for (i = 0; i <= 200000; i++)
        for (sum += n[i]; k <= 3 && sum >= q[k] * total; k++) printf "%d ", i
      print ""
    }' "$1"
}
percentiles_of_ours() {
  sed -n '/"wake-up": {/,/}/s/.*"p\(50\|99\|99\.9\)_ns": \([0-9]*\).*/\2/p' "$1" | tr '\n' ' '
}
beside() { # NAME PHASE-µs SECONDS
  sed "s/spin: 0 s/spin: 0 s, phase: $2 us/" /tmp/tick.yaml >/tmp/phase.yaml
  cyclictest -m -q -t1 -a0 -p80 -i1000 "-l$(($3 * 1000))" -N -h 200000 "--secaligned=$2" >/tmp/cyclictest || fail "cyclictest: $(cat /tmp/cyclictest)"
  grep -q '^# Histogram Overflows: 0*$' /tmp/cyclictest || fail "cyclictest: a wake-up beyond its histogram"
  orrery doctor /tmp/phase.yaml --seconds "$3" --json >/tmp/json 2>/tmp/err
  grep -q '"overflow"' /tmp/json || fail "doctor: $(cat /tmp/err)"
  echo "$1|$(percentiles_of_ours /tmp/json)|$(percentiles_of_cyclictest /tmp/cyclictest)|" | awk -F '|' '{
      split($2, a, " "); split($3, b, " ")
      printf "beside cyclictest, %s: orrery p50 %d p99 %d p99.9 %d ns, cyclictest p50 %d p99 %d p99.9 %d ns, ratios %.4f %.4f %.4f\n", \
        $1, a[1], a[2], a[3], b[1], b[2], b[3], a[1] / b[1], a[2] / b[2], a[3] / b[3]
      exit !(a[3] > 0 && b[3] > 0 && a[2] <= 1.1 * b[2] && a[3] <= 1.1 * b[3])
    }' || fail "beside cyclictest, $1: beyond 1.1"
}
if [ -x /bin/cyclictest ]; then
  beside 'on the tick of the kernel' 0 10
  beside 'between two ticks' 500 10
  while :; do dd if=/dev/zero of=/tmp/load bs=64k count=64 2>/dev/null; done & # the kernel busy, with memory to move
  load=$!
  beside 'on the tick, under load' 0 4
  kill $load
else
  echo 'not shown: cyclictest is not installed (rt-tests)'
fi

# --- spacecraft at 1 kHz ---
plain='--set realtime.core=0 --set realtime.phase=0s --set realtime.spin=0s'
undisturbed() { # WHAT
  cat /tmp/out
  grep -q '^overruns *own 0, the machine.s 0, following from an earlier one 0' /tmp/out || fail "$1: late frames"
  grep -q '^page faults: 0; switches: 0 involuntary, 0 voluntary beyond [0-9]* sleeps' /tmp/out || fail "$1: faults or switches"
  grep -q '^machine .*PREEMPT_RT, clock tsc' /tmp/out || fail "$1: not this kernel"
  [ "$(hash_of /tmp/out)" = "$(hash_of /tmp/batch)" ] || fail "$1: batch has $(hash_of /tmp/batch)"
  echo "ok: $1: no frame late, no page fault, one switch a frame, the bits of batch"
}
orrery run /configs/reference.yaml --mode batch --step 1ms --duration 2s >/tmp/batch 2>/dev/null
# shellcheck disable=SC2086
orrery run /configs/reference.yaml --mode realtime --step 1ms --duration 2s $plain >/tmp/out 2>/tmp/err || fail "reference: $(cat /tmp/out /tmp/err)"
undisturbed 'the reference spacecraft'

# Flight software in a process of its own: it computes when the executive sleeps, so every answer is on time.
udp='links.fsw={transport: udp, listen: "127.0.0.1:5010", allow: [127.0.0.1], rate: 100 Hz, telemetry: [gyro.rate, star.*, wheel_*.speed, bus.target], '
udp="$udp commands: [wheel_*.torque, jet_*.on_time], wait: 10 s, timeout: {frames: 50, policy: zero}, stand_in: cassini}"
orrery run /configs/cassini-slew.yaml --mode batch --duration 3s --set expect=[] >/tmp/batch 2>/tmp/err || fail "cassini in batch: $(cat /tmp/err)"
for url in shm:/orrery.cassini udp:127.0.0.1:5010; do
  chrt -f 70 fsw $url cassini 2>/tmp/fsw &
  peer=$!
  set -- --duration 3s --set expect=[]
  [ "${url%%:*}" = shm ] || set -- "$@" --set "$udp"
  # shellcheck disable=SC2086
  orrery run /configs/cassini-slew.yaml --mode realtime "$@" $plain >/tmp/out 2>/tmp/err || fail "$url: $(cat /tmp/out /tmp/err /tmp/fsw)"
  wait $peer
  undisturbed "cassini under flight software over ${url%%:*}"
  grep -q "^link fsw .* 300 frames out, 299 commands applied, 0 of them late, 0 missed" /tmp/out || fail "answers over $url"
done
exit 0
