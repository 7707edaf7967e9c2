#!/bin/sh
# doctor and top: what they say, with and without rights, and that --fix takes back what it did.
set -u
work=$(mktemp -d) || exit 1
child=
cleanup() {
  [ -n "$child" ] && kill "$child" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
fail() {
  echo "FAIL: $1"
  exit 1
}

"$ORRERY" doctor --seconds 0 >"$work/out" 2>&1
[ $? -le 1 ] || fail "doctor runs"
for name in PREEMPT_RT isolcpus nohz_full rcu_nocbs 'cpuset partition' 'IRQ affinity' 'SMT sibling' governor C-states \
  'RT throttling' 'memory lock' SCHED_FIFO 'clock source' hypervisor 'transparent huge pages' swap io_uring; do
  grep -Eq "^(ok|warn|bad) +$name" "$work/out" || fail "doctor has a line for $name"
done
# what is not ok says why, and what to do
[ "$(grep -Ec '^(warn|bad)' "$work/out")" -eq "$(grep -c '^ .*why: ' "$work/out")" ] || fail "a why for each"
[ "$(grep -Ec '^(warn|bad)' "$work/out")" -eq "$(grep -c '^ .*do:  .' "$work/out")" ] || fail "a remedy for each"
grep -q 'wake-up latency' "$work/out" && fail "--seconds 0 measures nothing"

"$ORRERY" doctor --json --seconds 0.2 >"$work/json" 2>/dev/null
python3 - "$work/json" <<'P' || fail "doctor --json"
import json, sys
j = json.load(open(sys.argv[1]))
assert len(j["checks"]) >= 17
assert j["measured"]["timing"]["counts"]["frames"] == 200
assert j["measured"]["timing"]["histograms"]["start"]["count"] >= 200
assert j["environment"]["kernel"]["release"]
P

for bad in '--core x' '--core' '--rate 5' '--seconds -1' '--move 1' '--nonsense' '--rate 100 run.yaml' 'a.yaml b.yaml' '--fix --move 0'; do
  # shellcheck disable=SC2086
  "$ORRERY" doctor $bad >/dev/null 2>&1
  [ $? -eq 2 ] || fail "doctor $bad is exit 2"
done

"$ORRERY" doctor --core 1000 >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q 'does not have' "$work/out" || fail "doctor of a core that is not there: $(cat "$work/out")"
# as it was measured, so it ends: 20 kHz may or may not be had here
"$ORRERY" doctor --seconds 1 --rate 20000 --json >"$work/json" 2>/dev/null
code=$?
python3 - "$work/json" $code <<'P' || fail "the verdict of 20 kHz and the exit status"
import json, sys
j = json.load(open(sys.argv[1]))
t = j["measured"]["timing"]
late = t["histograms"]["wake-up"]["p99.9_ns"] > t["late_start_ns"]
assert j["measured"]["verdict"] == ("bad" if late else "ok"), j["measured"]["verdict"]
assert (int(sys.argv[2]) == 1) == (late or any(c["health"] == "bad" for c in j["checks"])), sys.argv[2]
P

# with a run file: its period, and what its frames cost beside it
"$ORRERY" doctor configs/cubesat.yaml --json --seconds 0.5 >"$work/json" 2>/dev/null
[ $? -le 1 ] || fail "doctor reads a run file"
python3 - "$work/json" <<'P' || fail "doctor RUN --json"
import json, sys
j = json.load(open(sys.argv[1]))
cost = [c for c in j["checks"] if c["name"] == "frame cost"]
assert len(cost) == 1 and cost[0]["health"] == "ok", cost
t = j["measured"]["timing"]
assert t["period_ns"] == 10000000 and t["priority"] in (0, 80)
assert t["counts"]["frames"] == 50
assert t["histograms"]["integrate"]["count"] == 50 and "publish" not in t["histograms"]
P
sed 's/step: 10 ms,/step: 1 ms, substeps: 1000,/' configs/cubesat.yaml >"$work/heavy.yaml"
"$ORRERY" doctor "$work/heavy.yaml" --seconds 0 >"$work/heavy" 2>&1
[ $? -eq 1 ] || fail "a frame longer than its period is bad"
grep -Eq '^bad +frame cost .* ms typically.* the period is 1.00 ms' "$work/heavy" || fail "the frame cost: $(cat "$work/heavy")"
sed 's/attitude: \[0, 0, 0, 1\]/attitude: [0, 0, 0]/' configs/cubesat.yaml >"$work/wrong.yaml"
"$ORRERY" doctor "$work/wrong.yaml" --seconds 0 >/dev/null 2>"$work/err"
[ $? -eq 1 ] || fail "a wrong run file is exit 1"
grep -q 'error: .*attitude' "$work/err" || fail "a wrong run file is told: $(cat "$work/err")"

# top sees a run, and that it is over
"$ORRERY" top --once 999999999 >/dev/null 2>&1
[ $? -eq 1 ] || fail "top of no run is exit 1"
"$ORRERY" doctor --seconds 20 >"$work/long" 2>&1 &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
  sleep 0.3
  "$ORRERY" top --once "$child" >"$work/top" 2>/dev/null && grep -q '^start ' "$work/top" && break
done
grep -q "^doctor  pid $child  running" "$work/top" || fail "top shows the run: $(cat "$work/top")"
grep -q '^start ' "$work/top" || fail "top shows the start latency"
"$ORRERY" top --json "$child" | python3 -c 'import json,sys; assert json.load(sys.stdin)["alive"]' || fail "top --json"
# SIGTERM ends it with its summary, and nothing stays
kill -TERM "$child"
wait "$child"
[ $? -eq 1 ] || fail "a signal is exit 1"
grep -q '^wake-up latency' "$work/long" || fail "the summary comes after a signal"
[ -e "/dev/shm/orrery.rt.$child" ] && fail "the statistics block stays"
child=

# without rights it runs and says what is missing
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  # the build may lie where others cannot read
  cp -L "$ORRERY" "$work/orrery" && chmod 755 "$work" "$work/orrery"
  (
    ulimit -l 64
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$work/orrery" doctor --seconds 0.2 --priority 10
  ) >"$work/poor" 2>&1
  [ $? -eq 1 ] || fail "doctor without rights is exit 1: $(cat "$work/poor")"
  grep -q '^bad  *memory lock' "$work/poor" || fail "memory lock is bad without rights"
  grep -q '^warning: no SCHED_FIFO priority' "$work/poor" || fail "no priority is a warning"
  grep -q '^warning: memory is not locked' "$work/poor" || fail "no lock is a warning"
  grep -q '^wake-up latency' "$work/poor" || fail "it measures all the same"
fi

# --fix, moving nothing but a task of our own, and back again; also after SIGTERM
if [ "$(id -u)" -eq 0 ] && [ "$(nproc)" -ge 2 ]; then
  exec 9>/tmp/orrery.test.core && flock 9 # whoever clears that core in a test does so alone
  sleep 60 &
  child=$!
  core=$(($(nproc) - 1))
  before=$(cat /proc/$child/cpuset) runtime=$(cat /proc/sys/kernel/sched_rt_runtime_us)
  cat /proc/irq/*/smp_affinity_list >"$work/irqs"
  "$ORRERY" doctor --core "$core" --fix --move "$child" --seconds 5 >"$work/fix" 2>&1 &
  doctor=$!
  sleep 1.5
  during=$(cat /proc/$child/cpuset)
  kill -TERM "$doctor"
  wait "$doctor"
  grep -q '^fix: everything taken back' "$work/fix" || fail "everything taken back: $(cat "$work/fix")"
  if grep -q '^fix: core .* has a cpuset' "$work/fix" && [ -d /sys/fs/cgroup/cpuset ]; then
    [ "$during" != "$before" ] || fail "the task was moved"
  fi
  [ "$(cat /proc/$child/cpuset)" = "$before" ] || fail "the task is back"
  [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$runtime" ] || fail "throttling is back"
  cat /proc/irq/*/smp_affinity_list | cmp -s - "$work/irqs" || fail "interrupts are back"
  [ -e "/run/orrery/$doctor.undo" ] && fail "the journal stays"

  # kill -9, then the next start repairs
  "$ORRERY" doctor --core "$core" --fix --move "$child" --seconds 5 >"$work/fix" 2>&1 &
  doctor=$!
  sleep 1.5
  kill -KILL "$doctor"
  wait "$doctor" 2>/dev/null
  "$ORRERY" doctor --seconds 0 >"$work/next" 2>&1
  [ -e "/dev/shm/orrery.rt.$doctor" ] && fail "the killed run's statistics block stays"
  grep -q '^fix: repaired what 1 killed run had left' "$work/next" || fail "the next start repairs: $(head -3 "$work/next")"
  [ "$(cat /proc/$child/cpuset)" = "$before" ] || fail "the task is back after kill -9"
  [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$runtime" ] || fail "throttling is back after kill -9"
  cat /proc/irq/*/smp_affinity_list | cmp -s - "$work/irqs" || fail "interrupts are back after kill -9"
fi
exit 0
