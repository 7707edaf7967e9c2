#!/bin/sh
# `orrery run --mode realtime`: the bits of batch, also when it is cut short; overruns by policy and cause; signals;
# what is missing; a solver that fails. No time is judged here, so other tests may run beside it.
. tests/support/script.sh
cubesat=$dir/cubesat.yaml
# links to the outside have tests of their own
sed 's/transport: shm, name: [^,]*,/transport: linked,/; s/ wait: .*timeout: {[^}]*},//' configs/cubesat.yaml >"$cubesat"
fly() { # MODE ARGUMENTS...
  mode=$1
  shift
  "$ORRERY" run "$cubesat" --mode "$mode" "$@" 2>"$dir/err"
}
said() { # FILE EXPRESSION: of a summary in JSON, as j
  python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' "$dir/$1" "$2"
}
root=$([ "$(id -u)" -eq 0 ] && echo yes || echo no)

# the same bits as batch: at its own rate, at 1 kHz, with devices and link out of phase; with numbers
# that are flushed to zero
while IFS='|' read -r what arguments; do
  # shellcheck disable=SC2086
  batch=$(fly batch $arguments | hash_of) && real=$(fly realtime $arguments | hash_of)
  [ ${#batch} -eq 16 ] && [ "$batch" = "$real" ] || fail "$what: batch has $batch, real time $real: $(cat "$dir/err")"
done <<'END'
as it is|--duration 1s
at 1 kHz|--duration 1s --step 1ms --set realtime.phase=0s --set realtime.spin=0s
out of phase|--duration 1s --set sensors.gyro.phase=3 --set sensors.star.phase=9 --set links.fsw.phase=4 --set realtime.phase=100us --set realtime.spin=0s
END
cat >"$dir/denormal.yaml" <<'END'
orrery: 1
spacecraft: {bodies: {bus: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}}}
simulation: {step: 1 ms, duration: 100 ms, initial: {bus: {rate: [1e-310, 0, 0]}}}
END
batch=$("$ORRERY" run "$dir/denormal.yaml" --mode batch | hash_of)
[ "$("$ORRERY" run "$dir/denormal.yaml" --mode realtime 2>/dev/null | hash_of)" = "$batch" ] || fail "denormals make other bits"
[ "$("$ORRERY" run "$dir/denormal.yaml" --mode batch --set simulation.initial.bus.rate=[0,0,0] | hash_of)" = "$batch" ] ||
  fail "denormals are not flushed"
for file in reference deployment; do # flexible, with thrusters and pulses; closed loops
  batch=$("$ORRERY" run "configs/$file.yaml" --mode batch --duration 400ms --set links={} | hash_of)
  real=$("$ORRERY" run "configs/$file.yaml" --mode realtime --duration 400ms --set links={} 2>/dev/null | hash_of)
  [ ${#batch} -eq 16 ] && [ "$batch" = "$real" ] || fail "$file: batch has $batch, real time $real"
done
plain=$(fly batch --duration 1s | hash_of)
for set in sensors.gyro.phase=3 links.fsw.phase=4; do
  [ "$(fly batch --duration 1s --set "$set" | hash_of)" != "$plain" ] || fail "$set does nothing"
done
fly realtime --duration 500ms --save-state "$dir/state" >"$dir/out" || fail "saving a state: $(cat "$dir/err")"
[ "$(fly realtime --duration 500ms --from-state "$dir/state" | hash_of)" = "$plain" ] || fail "a saved state goes on with other bits"

# the summary, for people and as data
grep -q '^overruns    own ' "$dir/out" || fail "no overruns in: $(cat "$dir/out")"
for stage in publish latch integrate sensors; do
  grep -q "^$stage " "$dir/out" || fail "no stage $stage in: $(cat "$dir/out")"
done
fly realtime --duration 300ms --json >"$dir/json" || fail "--json"
said json 'j["frames"] == 30 and j["timing"]["counts"]["frames"] == 30 and j["end"] == "all frames done" and j["links_end"] == "all frames flown"' || fail "counts of --json"
said json 'sum(j["timing"]["counts"]["late_by_cause"].values()) == j["overruns"]["late"]' || fail "late frames by cause"
said json 'j["overruns"]["own"] + j["overruns"]["machine"] + j["overruns"]["following"] == j["overruns"]["late"]' || fail "overruns add up"
said json 'all(0 <= h["p50_ns"] for n, h in j["timing"]["histograms"].items() if n in ("publish", "latch", "integrate", "sensors"))' || fail "histograms"
said json 'j["environment"]["kernel"]["release"] and "preempt_rt" in j["environment"]["kernel"]' || fail "the environment"
said json 'j["rehearsal"]["frames"] >= 2 and 0 < j["rehearsal"]["typical_ns"] <= j["rehearsal"]["longest_ns"]' || fail "the rehearsal"

# A plant many times slower than its period, on any processor: every frame overruns, so the policy alone decides which
# are caught up and which slip. Which are late by their own doing and which follow another is left to the numbers of
# each: what a frame takes differs.
heavy='--step 100us --set simulation.substeps=1000 --duration 20ms --json --set realtime.spin=0s --set realtime.phase=0s'
# shellcheck disable=SC2086
{
  fly realtime $heavy --set 'realtime.overrun={policy: catch_up, limit: 3}' >"$dir/catch_up"
  fly realtime $heavy --set 'realtime.overrun.policy=slip' >"$dir/slip"
  fly realtime $heavy --set 'realtime.overrun.policy=stop' >"$dir/stop" && fail "stop went on"
}
for policy in catch_up slip; do
  said $policy 'j["frames"] == 200 == j["timing"]["counts"]["overran"]' || fail "$policy: a frame is no overrun: $(cat "$dir/$policy")"
  said $policy 'sum(j["overruns"][k] for k in ("own", "machine", "following")) == 200' || fail "$policy: do not add up: $(cat "$dir/$policy")"
  # without a priority the machine may hold up every frame
  said $policy 'j["overruns"]["own"] > 0 or j["timing"]["priority"] == 0' || fail "$policy: none by its own doing: $(cat "$dir/$policy")"
done
# three of four are caught up, the fourth gives up what is lost; the first after that one follows nobody
said catch_up 'j["timing"]["counts"]["caught_up"] == 150 and j["timing"]["counts"]["slips"] == 50' || fail "catch_up: $(cat "$dir/catch_up")"
said catch_up 'j["overruns"]["following"] <= 150 and (j["overruns"]["following"] > 0 or j["timing"]["priority"] == 0)' || fail "catch_up: $(cat "$dir/catch_up")"
# one that follows started later than it computed, and later than it was off the core
said catch_up 'all((w["cause"] == "previous overran") == (w["start_ns"] > sum(w["stages_ns"].values()) - w["lost_ns"] and w["start_ns"] >= w["lost_ns"])
  for w in j["timing"]["worst"] if w["frame"] % 4) and all(w["cause"] != "previous overran" for w in j["timing"]["worst"] if w["frame"] % 4 == 0)' ||
  fail "which frames follow: $(cat "$dir/catch_up")"
said slip 'j["timing"]["counts"]["caught_up"] == 0 and j["timing"]["counts"]["slips"] == 200' || fail "slip: $(cat "$dir/slip")"
said slip 'j["overruns"]["following"] == 0' || fail "slip: $(cat "$dir/slip")"
said slip 'j["timing"]["counts"]["skipped_periods"] >= 200 and j["timing"]["histograms"]["start"]["count"] == 200 + j["timing"]["counts"]["skipped_periods"]' ||
  fail "skipped periods enter the percentiles"
said slip 'all(w["stage"] == "integrate" and w["stages_ns"]["integrate"] > 100000 for w in j["timing"]["worst"] if w["cause"] == "stage")' ||
  fail "which stage it was"
said stop 'j["frames"] == 1 and j["end"] == j["links_end"] == "ended by an overrun"' || fail "stop: $(cat "$dir/stop")"
grep -q 'error: the run stopped at frame 0, which ended .* past the next tick' "$dir/err" || fail "stop says: $(cat "$dir/err")"
# shellcheck disable=SC2086
same=$(fly batch ${heavy%--json*} | hash_of)
said catch_up "j['state_hash'] == '$same'" && said slip "j['state_hash'] == '$same'" || fail "a run that is late has other bits"

# a rate that cannot be had is refused before anybody is waited for
fly realtime --step 10us >"$dir/out" 2>"$dir/err" && fail "a step of 10 us is flown"
grep -q 'a step of 0.01 ms in real time: 0.05 ms to 100 ms' "$dir/err" || fail "a step of 10 us: $(cat "$dir/err")"

# a file without a duration runs until a signal, and then that was all; one with a duration was cut short
sed 's/duration: 60 s, //' "$cubesat" >"$dir/endless.yaml"
for what in "INT $dir/endless.yaml 0" "TERM $dir/endless.yaml 0" "TERM $cubesat 3"; do
  set -- $what
  "$ORRERY" run "$2" --mode realtime --json >"$dir/signalled" 2>"$dir/err" &
  child=$!
  await flies "$child" || fail "top does not show the run: $(cat "$dir/top" "$dir/err")"
  grep -q "pid $child  running" "$dir/top" || fail "top says: $(cat "$dir/top")"
  kill -"$1" "$child"
  wait "$child"
  [ $? -eq "$3" ] || fail "SIG$1 on $2 does not end with $3: $(cat "$dir/err")"
  [ -e "/dev/shm/orrery.rt.$child" ] && fail "the statistics stay"
  said signalled 'j["end"].startswith("stopped by a signal (") and j["links_end"] == j["end"] and j["frames"] > 0' ||
    fail "no summary after SIG$1, or not how it ended: $(cat "$dir/signalled")"
  grep -q 'ended by a signal' "$dir/err" || fail "it does not say that a signal ended it"
  frames=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["frames"])' "$dir/signalled")
  cut=$(fly batch --duration "${frames}0ms" | hash_of)
  said signalled "j['state_hash'] == '$cut'" || fail "a run that was cut short has other bits"
done

# stopped and set going again: frames are late, not by their own doing, and the time lost is accounted for
"$ORRERY" run "$dir/endless.yaml" --mode realtime --step 1ms --json --set realtime.phase=0s >"$dir/held" 2>"$dir/err" &
child=$!
await flies "$child" || fail "the run does not start: $(cat "$dir/err")"
kill -STOP "$child"
sleep 0.5
kill -CONT "$child"
lost_time() { "$ORRERY" top --json "$child" >"$dir/top" && said top 'j["counts"]["skipped_periods"] >= 400'; }
await lost_time || fail "the time lost: $(cat "$dir/top")"
kill -INT "$child"
wait "$child" || fail "SIGSTOP and SIGCONT end the run: $(cat "$dir/err")"
said held 'j["timing"]["counts"]["skipped_periods"] >= 400 and j["wall_s"] > 0.4 + j["frames"] / 1000' || fail "the time lost: $(cat "$dir/held")"
said held 'max(j["timing"]["worst"], key=lambda w: w["start_ns"])["cause"] in ("wake-up", "blocked or stopped", "previous overran")' || fail "the cause: $(cat "$dir/held")"
said held 'j["overruns"]["machine"] >= 1' || fail "whose doing it was: $(cat "$dir/held")"

# a hog of equal priority on the same core: woken late
if [ "$root" = yes ] && [ "$(nproc)" -ge 2 ]; then
  core=$(($(nproc) - 1))
  "$ORRERY" run "$dir/endless.yaml" --mode realtime --step 1ms --json --set "realtime.core=$core" --set realtime.priority=70 \
    --set realtime.spin=0s >"$dir/hogged" 2>"$dir/err" &
  child=$!
  await flies "$child" || fail "the run does not start: $(cat "$dir/err")"
  chrt -f 70 taskset -c "$core" python3 -c '
import time
for _ in range(10):
    end = time.monotonic() + 0.04
    while time.monotonic() < end: pass
    time.sleep(0.06)'
  kill -INT "$child"
  wait "$child" || fail "a hog ends the run"
  said hogged 'j["timing"]["counts"]["late_by_cause"]["wake-up"] >= 3' || fail "the hog is not seen: $(cat "$dir/hogged")"
  said hogged 'sum(1 for w in j["timing"]["worst"] if w["cause"] == "wake-up" and w["start_ns"] > 20000000) >= 3' || fail "how late it woke: $(cat "$dir/hogged")"
fi

# a solver that fails names body and frame
cat >"$dir/stiff.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}
    arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1], stiffness: 1e7}}
simulation: {step: 1 ms, duration: 5 s, initial: {arm: {q: [0.01]}}}
END
"$ORRERY" run "$dir/stiff.yaml" --mode batch >/dev/null 2>"$dir/batch" && fail "the stiff arm does not fail"
"$ORRERY" run "$dir/stiff.yaml" --mode realtime >"$dir/out" 2>"$dir/err" && fail "the stiff arm does not fail in real time"
grep -q 'error: diverged at .* s: bus rate ' "$dir/batch" && grep -q "^  frame [0-9]*: body '[a-z]*': " "$dir/batch" || fail "batch says: $(cat "$dir/batch")"
grep -qxF "$(grep error: "$dir/batch")" "$dir/err" || fail "real time says: $(cat "$dir/err"), batch $(cat "$dir/batch")"
grep -q '^end         the solver failed' "$dir/out" || fail "no summary after a failure: $(cat "$dir/out")"

# without rights it runs and says what is missing; strict refuses
if [ "$root" = yes ] && command -v setpriv >/dev/null; then
  cp -L "$ORRERY" "$dir/orrery" && chmod 755 "$dir" "$dir/orrery" && chmod 644 "$dir/cubesat.yaml"
  poor() {
    (
      ulimit -l 64
      cd "$dir" || exit 1
      exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$dir/orrery" run "$dir/cubesat.yaml" --mode realtime --duration 1s --set realtime.phase=0s --set realtime.spin=0s "$@"
    )
  }
  poor >"$dir/out" 2>"$dir/err" || fail "it does not run without rights: $(cat "$dir/err")"
  [ "$(hash_of <"$dir/out")" = "$plain" ] || fail "without rights it has other bits"
  for lack in 'memory is not locked' 'no SCHED_FIFO priority'; do
    grep -q "^warning: $lack" "$dir/err" || fail "'$lack' is not said: $(cat "$dir/err")"
  done
  grep -q '^loop .*no real-time priority' "$dir/out" || fail "the summary claims a priority"
  poor --set realtime.strict=true >"$dir/out" 2>"$dir/err" && fail "strict runs without rights"
  grep -q 'error: something the run needs cannot be had' "$dir/err" || fail "strict says: $(cat "$dir/err")"
fi

# in a container: root without rights, no shared memory to write to
if [ "$root" = yes ] && unshare --mount true 2>/dev/null; then
  (
    ulimit -l 64
    unshare --mount sh -c 'mount -t tmpfs -o ro none /dev/shm && exec setpriv --bounding-set=-all --inh-caps=-all "$0" "$@"' \
      "$ORRERY" run "$cubesat" --mode realtime --duration 1s --set realtime.phase=0s --set realtime.spin=0s
  ) >"$dir/out" 2>"$dir/err" || fail "it does not run in a container: $(cat "$dir/err")"
  [ "$(hash_of <"$dir/out")" = "$plain" ] || fail "in a container it has other bits"
  for lack in 'memory is not locked' 'no SCHED_FIFO priority' 'the statistics are not in shared memory'; do
    grep -q "^warning: $lack" "$dir/err" || fail "'$lack' is not said in a container: $(cat "$dir/err")"
  done
fi

# where there is no /dev/shm at all, a link over shared memory says what to do
if [ "$root" = yes ] && unshare --mount true 2>/dev/null; then
  unshare --mount sh -c 'mount -t tmpfs none /dev && exec "$0" "$@"' "$ORRERY" run configs/cubesat.yaml --mode realtime >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] && grep -q "link 'fsw': .*mount a tmpfs on /dev/shm" "$dir/err" || fail "without /dev/shm: $(cat "$dir/out" "$dir/err")"
fi

# a link that ends the run does so with the summary
sed "s/name: .orrery.fsw/name: \/orrery.test.$$/; s/wait: 10 s/wait: 0.1 s/; s/frames: 50, policy: hold/frames: 5, policy: stop/" \
  configs/cubesat.yaml >"$dir/alone.yaml"
"$ORRERY" run "$dir/alone.yaml" --mode realtime --set realtime.phase=0s --set realtime.spin=0s >"$dir/out" 2>"$dir/err"
[ $? -eq 3 ] || fail "a run without flight software is to stop: $(cat "$dir/out" "$dir/err")"
grep -q "^end         by link 'fsw': no command for as long" "$dir/out" && grep -q '^state_hash' "$dir/out" || fail "no summary: $(cat "$dir/out")"
[ -e "/dev/shm/orrery.test.$$" ] && fail "the link's memory stays"

# so does flight software that ends it, before the time that the file asks for
for json in '' --json; do
  # shellcheck disable=SC2086
  "$ORRERY" run "$dir/alone.yaml" --mode realtime --set links.fsw.wait=20s --set links.fsw.timeout.frames=50 --set realtime.phase=0s \
    --set realtime.spin=0s $json >"$dir/ended" 2>"$dir/err" &
  child=$!
  PYTHONPATH=io/client python3 -c 'import sys, time, orrery_client
for _ in range(200):
    try: link = orrery_client.open(sys.argv[1]); break
    except OSError: time.sleep(0.05)
while link.wait(60) and link.frame < 200: link.send()
link.send(end=True)' "shm:/orrery.test.$$" || fail "the peer: $(cat "$dir/err")"
  wait $child
  [ $? -eq 3 ] || fail "a run that flight software ended is not incomplete: $(cat "$dir/ended" "$dir/err")"
  child=
  said=$(grep -cx -e "end         by link 'fsw': the flight software ended the run" -e "ended       by link 'fsw': the flight software ended the run" "$dir/ended")
  [ -n "$json" ] || [ "$said" -eq 2 ] || fail "who ended it: $(cat "$dir/ended")"
  [ -z "$json" ] || said ended 'j["end"] == j["links_end"] == "by link \x27fsw\x27: the flight software ended the run" and "end" not in j["timing"]["counts"]' ||
    fail "who ended it: $(cat "$dir/ended")"
done

# --fix, moving nothing but a task of our own, is taken back; also after SIGTERM
if [ "$root" = yes ] && [ "$(nproc)" -ge 2 ]; then
  exec 9>/tmp/orrery.test.core && flock 9 # whoever clears that core in a test does so alone
  sleep 600 &
  sleeper=$!
  before=$(cat /proc/$sleeper/cpuset) runtime=$(cat /proc/sys/kernel/sched_rt_runtime_us)
  "$ORRERY" run "$dir/endless.yaml" --mode realtime --set realtime.spin=0s --set "realtime.core=$(($(nproc) - 1))" --fix --move "$sleeper" \
    >"$dir/out" 2>"$dir/fixed" &
  child=$!
  await flies "$child" || fail "the run with --fix does not start: $(cat "$dir/fixed")"
  during=$(cat /proc/$sleeper/cpuset)
  # the core is taken: another that wants it cleared is refused, and one that would only share it is told so
  core=$(($(nproc) - 1))
  "$ORRERY" run "$cubesat" --mode realtime --set "realtime.core=$core" --fix --move "$sleeper" >"$dir/out2" 2>"$dir/err2"
  [ $? -eq 1 ] || fail "a second --fix of the core is no exit 1: $(cat "$dir/err2")"
  grep -q "error: core $core has been cleared by --fix for another: process $child (.*orrery run .*realtime.core=N" "$dir/err2" ||
    fail "a second --fix of the core says: $(cat "$dir/err2")"
  "$ORRERY" doctor --core "$core" --fix --move "$sleeper" --seconds 0 >"$dir/out2" 2>&1
  [ $? -eq 1 ] || fail "doctor --fix of that core is no exit 1: $(cat "$dir/out2")"
  grep -q "error: core $core has been cleared by --fix for another: process $child .*: --core N" "$dir/out2" || fail "doctor --fix says: $(cat "$dir/out2")"
  for other in $core 0; do
    fly realtime --duration 100ms --set "realtime.core=$other" >"$dir/out2" || fail "a run beside it: $(cat "$dir/err")"
    case $other in
    0) grep -q "core 0 is that of another run, too: process $child " "$dir/err" && fail "nobody is on core 0: $(cat "$dir/err")" ;;
    *) grep -q "^warning: core $core is that of another run, too: process $child (.*orrery run " "$dir/err" || fail "one core for two: $(cat "$dir/err")" ;;
    esac
  done
  [ -s "/run/orrery/$child.undo" ] || fail "the first has lost its journal: $(ls -l /run/orrery 2>&1; cat "$dir/fixed" "$dir/out" "$dir/err")"
  [ "$(cat /proc/$sleeper/cpuset)" = "$during" ] || fail "those who were refused moved the task"
  kill -TERM "$child"
  wait "$child"
  after=$(cat /proc/$sleeper/cpuset)
  kill "$sleeper"
  grep -q '^fix: everything taken back' "$dir/fixed" || fail "--fix is not taken back: $(cat "$dir/fixed")"
  if grep -q '^fix: core .* has a cpuset' "$dir/fixed" && [ -d /sys/fs/cgroup/cpuset ]; then
    [ "$during" != "$before" ] || fail "the task was not moved"
  fi
  [ "$after" = "$before" ] || fail "the task is not back"
  [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$runtime" ] || fail "throttling is not back"
  grep -q '^state_hash' "$dir/out" || fail "no summary after SIGTERM"
fi

# each line: what is set, and what must be said of it
while IFS='|' read -r set says; do
  fly batch --set "$set" >/dev/null
  [ $? -eq 1 ] || fail "--set $set is not an error"
  grep -q "$says" "$dir/err" || fail "--set $set says: $(cat "$dir/err")"
done <<'END'
realtime.core=-1|at least 0
realtime.core=own|one of auto or any
realtime.priority=100|at most 99
realtime.spin=11ms|'spin' must be at most 10000000 ns
realtime.spin=auot|did you mean 'auto'
realtime.phase=10ms|'phase' must be at most 9999999 ns
realtime.overrun={policy: slp}|did you mean 'slip'
realtime.overrun={policy: stop, limit: 2}|stop has none
realtime.overrun={limit: 0}|at least 1
realtime.strict=perhaps|true or false
realtime.margin=1ms|unknown key 'margin'
links.fsw.phase=10|it is at most 9
END
fly batch --step 200ms --set realtime.core=0 --set sensors.gyro.rate=5Hz --set sensors.star.rate=5Hz --set links.fsw.rate=5Hz >/dev/null
grep -q '10 to 20000 frames a second' "$dir/err" || fail "a step of 200 ms says: $(cat "$dir/err")"
# what is written after the flight is looked at before it
mkdir "$dir/folder"
for path in "$dir/none/x" "$dir/folder"; do
  for option in --plot --save-state; do
    for mode in batch realtime; do
      "$ORRERY" run "$cubesat" --mode $mode --duration 100ms $option "$path" >"$dir/out" 2>"$dir/err"
      [ $? -eq 1 ] && grep -q "cannot write '$path': .*; nothing was flown" "$dir/err" && [ ! -s "$dir/out" ] ||
        fail "$mode $option $path: $(cat "$dir/out" "$dir/err")"
    done
  done
done
for bad in '--batch' '--nonsense 1'; do
  # shellcheck disable=SC2086
  fly batch $bad >/dev/null
  grep -q "unknown option '${bad%% *}'" "$dir/err" || fail "$bad: $(cat "$dir/err")"
done
for bad in '--csv out.csv' '--move 1'; do
  # shellcheck disable=SC2086
  fly realtime $bad >/dev/null
  [ $? -eq 2 ] || fail "realtime $bad is a wrong command line"
done
fly batch --fix >/dev/null
[ $? -eq 2 ] || fail "batch --fix is a wrong command line"
exit 0
