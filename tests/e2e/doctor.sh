#!/bin/sh
# doctor and top: what they say, with and without rights, and that --fix takes back what it did.
. tests/support/script.sh
"$ORRERY" doctor --seconds 0 >"$dir/out" 2>&1
[ $? -le 1 ] || fail "doctor runs"
for name in PREEMPT_RT isolcpus nohz_full rcu_nocbs 'cpuset partition' 'IRQ affinity' 'SMT sibling' governor C-states \
  'RT throttling' 'memory lock' SCHED_FIFO 'clock source' hypervisor 'transparent huge pages' swap io_uring; do
  grep -Eq "^(ok|warn|bad) +$name" "$dir/out" || fail "doctor has a line for $name"
done
# what is not ok says why, and what to do
[ "$(grep -Ec '^(warn|bad)' "$dir/out")" -eq "$(grep -c '^ .*why: ' "$dir/out")" ] || fail "a why for each"
[ "$(grep -Ec '^(warn|bad)' "$dir/out")" -eq "$(grep -c '^ .*do:  .' "$dir/out")" ] || fail "a remedy for each"
grep -q 'wake-up latency' "$dir/out" && fail "--seconds 0 measures nothing"
# one sentence ends it, whatever it found; the advice before it is that of the lines
sentence='^(Fit for 1 kHz: .*|Not fit for 1 kHz, because .*|Nothing was found against 1 kHz, but it was not measured)\.$'
tail -1 "$dir/out" | grep -Eq "$sentence" || fail "no sentence ends it: $(cat "$dir/out")"
! grep -Eq '^bad' "$dir/out" || tail -1 "$dir/out" | grep -q '^Not fit' || fail "bad, and fit: $(cat "$dir/out")"
! grep -Eq '^(warn|bad)' "$dir/out" || grep -q '^to do, the largest gain first:$' "$dir/out" || fail "no advice: $(cat "$dir/out")"
"$ORRERY" doctor --seconds 0.1 --rate 50 2>/dev/null | tail -1 | grep -Eq '^(Fit|Not fit) for 50 Hz' || fail "no sentence at another rate"

"$ORRERY" doctor --json --seconds 0.2 >"$dir/json" 2>/dev/null
python3 - "$dir/json" <<'P' || fail "doctor --json"
import json, sys
j = json.load(open(sys.argv[1]))
assert len(j["checks"]) >= 17
assert j["measured"]["timing"]["counts"]["frames"] == 200
assert j["measured"]["timing"]["histograms"]["start"]["count"] >= 200
assert j["environment"]["kernel"]["release"]
assert j["sentence"].startswith(("Fit for 1 kHz", "Not fit for 1 kHz, because "))
wrong = [c["name"] for c in j["checks"] if c["health"] != "ok"]
assert sorted(a["name"] for a in j["advice"]) == sorted(wrong), (j["advice"], wrong)
P

for bad in '--core x' '--core' '--rate 5' '--seconds -1' '--move 1' '--nonsense' '--rate 100 run.yaml' 'a.yaml b.yaml' '--fix --move 0'; do
  # shellcheck disable=SC2086
  "$ORRERY" doctor $bad >/dev/null 2>&1
  [ $? -eq 2 ] || fail "doctor $bad is exit 2"
done

while read -r option value says; do
  "$ORRERY" doctor $option $value 2>&1 | grep -q "$says, not '$value'" || fail "doctor $option $value: $("$ORRERY" doctor $option $value 2>&1)"
done <<'END'
--core x takes the number of a core
--rate 5 takes frames a second, 10 to 20000
--seconds -1 takes a number from 0 to 86400
--priority 100 takes a whole number from 0 to 99
END
"$ORRERY" doctor --core 1000 >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -q 'does not have' "$dir/out" || fail "doctor of a core that is not there: $(cat "$dir/out")"
# as it was measured, so it ends: 20 kHz may or may not be had here
"$ORRERY" doctor --seconds 1 --rate 20000 --json >"$dir/json" 2>/dev/null
code=$?
python3 - "$dir/json" $code <<'P' || fail "the verdict of 20 kHz and the exit status"
import json, sys
j = json.load(open(sys.argv[1]))
t = j["measured"]["timing"]
late = t["histograms"]["wake-up"]["p99.9_ns"] > t["late_start_ns"]
assert j["measured"]["verdict"] == ("bad" if late else "ok"), j["measured"]["verdict"]
assert (int(sys.argv[2]) == 1) == (late or any(c["health"] == "bad" for c in j["checks"])), sys.argv[2]
P

# with a run file: its period, and what its frames cost beside it
"$ORRERY" doctor configs/cubesat.yaml --json --seconds 0.5 >"$dir/json" 2>/dev/null
[ $? -le 1 ] || fail "doctor reads a run file"
python3 - "$dir/json" <<'P' || fail "doctor RUN --json"
import json, sys
j = json.load(open(sys.argv[1]))
cost = [c for c in j["checks"] if c["name"] == "frame cost"]
assert len(cost) == 1 and cost[0]["health"] == "ok", cost
t = j["measured"]["timing"]
assert t["period_ns"] == 10000000 and t["priority"] in (0, 80)
assert t["counts"]["frames"] == 50
assert t["histograms"]["integrate"]["count"] == 50 and "publish" not in t["histograms"]
P
sed 's/step: 10 ms,/step: 1 ms, substeps: 1000,/' configs/cubesat.yaml >"$dir/heavy.yaml"
"$ORRERY" doctor "$dir/heavy.yaml" --seconds 0 >"$dir/heavy" 2>&1
[ $? -eq 1 ] || fail "a frame longer than its period is bad"
grep -Eq '^bad +frame cost .* ms typically.* the period is 1.00 ms' "$dir/heavy" || fail "the frame cost: $(cat "$dir/heavy")"
sed 's/attitude: \[0, 0, 0, 1\]/attitude: [0, 0, 0]/' configs/cubesat.yaml >"$dir/wrong.yaml"
"$ORRERY" doctor "$dir/wrong.yaml" --seconds 0 >/dev/null 2>"$dir/err"
[ $? -eq 1 ] || fail "a wrong run file is exit 1"
grep -q 'error: .*attitude' "$dir/err" || fail "a wrong run file is told: $(cat "$dir/err")"

# top sees a run, and that it is over
"$ORRERY" top --once 999999999 >/dev/null 2>&1
[ $? -eq 1 ] || fail "top of no run is exit 1"
"$ORRERY" doctor --seconds 600 >"$dir/long" 2>&1 &
child=$!
measures() { "$ORRERY" top --once "$1" >"$dir/top" 2>/dev/null && grep -q '^start ' "$dir/top"; } # PID
await measures $child
grep -q "^doctor  pid $child  running" "$dir/top" || fail "top shows the run: $(cat "$dir/top")"
grep -q '^start ' "$dir/top" || fail "top shows the start latency"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then # one that may not watch it is not told that there is none
  cp -L "$ORRERY" "$dir/orrery" && chmod 755 "$dir" "$dir/orrery"
  setpriv --reuid=65533 --regid=65533 --clear-groups "$dir/orrery" top --once >"$dir/out" 2>&1
  [ $? -eq 1 ] && grep -q "another user's" "$dir/out" || fail "top of a run of another user says: $(cat "$dir/out")"
fi
# of several it names those that live
"$ORRERY" doctor --seconds 600 --core 0 >/dev/null 2>&1 &
second=$!
await sh -c '"$ORRERY" top --once 2>&1 | grep -q "^  $0 "' "$second" || fail "top does not name $second: $("$ORRERY" top --once 2>&1)"
cp "/dev/shm/orrery.rt.$child" "/dev/shm/orrery.rt.1$child" # what is left of one that was killed
"$ORRERY" top --once >"$dir/out" 2>&1 && fail "top of several runs is a success"
grep -q "^  $child .*doctor" "$dir/out" || fail "top does not name $child: $(cat "$dir/out")"
grep -q "^  1$child" "$dir/out" && fail "top names a run that died: $(cat "$dir/out")"
rm -f "/dev/shm/orrery.rt.1$child"
# runs by their files
"$ORRERY" run configs/cubesat.yaml --mode realtime --set 'links={}' --no-log --set realtime.core=any --set realtime.priority=0 >"$dir/flight" 2>&1 &
flight=$!
await sh -c '"$ORRERY" top --once 2>&1 | grep -q "^  $0  *configs/cubesat.yaml$"' "$flight" ||
  fail "top does not name the file of $flight: $("$ORRERY" top --once 2>&1) $(cat "$dir/flight")"
kill -TERM "$second" "$flight"
wait "$second" "$flight"
"$ORRERY" top --json "$child" | python3 -c 'import json,sys; assert json.load(sys.stdin)["alive"]' || fail "top --json"
# SIGTERM ends it with its summary, and nothing stays
kill -TERM "$child"
wait "$child"
code=$?
[ $code -eq 3 ] || [ $code -eq 1 ] || fail "a measurement that a signal ended is exit $code" # 1: where something is bad besides
grep -q '^wake-up latency' "$dir/long" || fail "the summary comes after a signal"
grep -q '^orrery doctor: ended by a signal (Terminated)' "$dir/long" || fail "nobody says that a signal ended it: $(cat "$dir/long")"
[ -e "/dev/shm/orrery.rt.$child" ] && fail "the statistics block stays"
# the signal alone makes it incomplete, which is exit 3: shown where all else is well, for which a
# busy machine gets five tries
shown=
for _ in 1 2 3 4 5; do
  "$ORRERY" doctor --seconds 600 --rate 100 --json >"$dir/json" 2>/dev/null &
  child=$!
  await "$ORRERY" top --once "$child" >/dev/null 2>&1 || fail "top does not show doctor"
  sleep 0.5
  kill -INT "$child"
  wait "$child"
  code=$?
  python3 -c 'import json,sys
j = json.load(open(sys.argv[1]))
verdict = j["measured"]["verdict"]
bad = verdict == "bad" or any(c["health"] == "bad" for c in j["checks"])
assert verdict in ("bad", "incomplete") and int(sys.argv[2]) == (1 if bad else 3), (verdict, sys.argv[2])
print("bad" if bad else "incomplete")' "$dir/json" $code >"$dir/signalled" || fail "a signal, exit $code: $(cat "$dir/json")"
  grep -q incomplete "$dir/signalled" && shown=yes && break
done
[ -n "$shown" ] || echo "not shown: five times something else was bad, too"

# without rights it runs and says what is missing
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  # the build may lie where others cannot read
  cp -L "$ORRERY" "$dir/orrery" && chmod 755 "$dir" "$dir/orrery"
  (
    ulimit -l 64
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$dir/orrery" doctor --seconds 0.2 --priority 10
  ) >"$dir/poor" 2>&1
  [ $? -eq 1 ] || fail "doctor without rights is exit 1: $(cat "$dir/poor")"
  grep -q '^bad  *memory lock' "$dir/poor" || fail "memory lock is bad without rights"
  grep -q '^warning: no SCHED_FIFO priority' "$dir/poor" || fail "no priority is a warning"
  grep -q '^warning: memory is not locked' "$dir/poor" || fail "no lock is a warning"
  grep -q '^wake-up latency' "$dir/poor" || fail "it measures all the same"
fi

# --fix, moving nothing but a task of our own, and back again; also after SIGTERM
if [ "$(id -u)" -eq 0 ] && [ "$(nproc)" -ge 2 ]; then
  exec 9>/tmp/orrery.test.core && flock 9 # whoever clears that core in a test does so alone
  sleep 600 &
  child=$!
  core=$(($(nproc) - 1))
  before=$(cat /proc/$child/cpuset) runtime=$(cat /proc/sys/kernel/sched_rt_runtime_us)
  cat /proc/irq/*/smp_affinity_list >"$dir/irqs"
  "$ORRERY" doctor --core "$core" --fix --move "$child" --seconds 600 >"$dir/fix" 2>&1 &
  doctor=$!
  await measures $doctor || fail "doctor --fix does not measure: $(cat "$dir/fix")"
  during=$(cat /proc/$child/cpuset)
  kill -TERM "$doctor"
  wait "$doctor"
  grep -q '^fix: everything taken back' "$dir/fix" || fail "everything taken back: $(cat "$dir/fix")"
  if grep -q '^fix: core .* has a cpuset' "$dir/fix" && [ -d /sys/fs/cgroup/cpuset ]; then
    [ "$during" != "$before" ] || fail "the task was moved"
  fi
  [ "$(cat /proc/$child/cpuset)" = "$before" ] || fail "the task is back"
  [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$runtime" ] || fail "throttling is back"
  cat /proc/irq/*/smp_affinity_list | cmp -s - "$dir/irqs" || fail "interrupts are back"
  [ -e "/run/orrery/$doctor.undo" ] && fail "the journal stays"

  # kill -9, then the next start repairs: that of doctor, not of any run that another test starts in between
  mkdir "$dir/run"
  apart() { # COMMAND...: with journals of its own, where that may be had
    unshare --mount true 2>/dev/null || exec "$@"
    exec unshare --mount sh -c 'mount --bind "$0" /run && exec "$@"' "$dir/run" "$@"
  }
  (apart "$ORRERY" doctor --core "$core" --fix --move "$child" --seconds 600) >"$dir/fix" 2>&1 &
  doctor=$!
  await measures $doctor || fail "doctor --fix does not measure: $(cat "$dir/fix")"
  kill -KILL "$doctor"
  wait "$doctor" 2>/dev/null
  (apart "$ORRERY" doctor --seconds 0) >"$dir/next" 2>&1
  [ -e "/dev/shm/orrery.rt.$doctor" ] && fail "the killed run's statistics block stays"
  grep -q '^fix: repaired what 1 killed run had left' "$dir/next" || fail "the next start repairs: $(head -3 "$dir/next")"
  [ "$(cat /proc/$child/cpuset)" = "$before" ] || fail "the task is back after kill -9"
  [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$runtime" ] || fail "throttling is back after kill -9"
  cat /proc/irq/*/smp_affinity_list | cmp -s - "$dir/irqs" || fail "interrupts are back after kill -9"
fi
exit 0
