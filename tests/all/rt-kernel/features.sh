# Guest of two processors without any isolation at boot: what --fix does on cgroup v2, looked at from outside, and what
# becomes of it when the run ends by itself, by SIGTERM and by SIGKILL; flights with flight software. No time is judged
# here: the processors are emulated.
core=1
group=/sys/fs/cgroup/orrery.core$core
cubesat=/tmp/cubesat.yaml
fail() {
  echo "FAIL: $1"
  exit 1
}
ok() { echo "ok: $1"; }
hash_of() { sed -n 's/^state_hash *//p' "$1"; }
# waits for a condition, at most a minute
until_true() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || return 1
    usleep 200000
  done
}

# --- the machine from outside ---
. /rt-kernel/look.sh
# what else a run with --fix may change
settings() {
  cat /sys/fs/cgroup/cgroup.subtree_control /sys/fs/cgroup/cpuset.cpus.effective /proc/sys/kernel/sched_rt_runtime_us
  grep . /proc/irq/*/smp_affinity_list
  find /sys/fs/cgroup -type d | sort
  find /run /dev/shm -type f
}
remember() {
  tasks >/tmp/tasks.before
  settings >/tmp/settings.before
}
# tasks that ended meanwhile, and new ones, are not compared
as_before() { # WHEN
  settings | diff /tmp/settings.before - || fail "$1: the machine is not as it was"
  tasks >/tmp/tasks.after
  changed /tmp/tasks.before /tmp/tasks.after && fail "$1: tasks are not as they were"
  ok "$1: cgroups, cores of all tasks, interrupts and throttling are as before"
}
# Everything that the partition promises, from the kernel's own files.
core_is_cleared_for() { # PID WHEN
  tid=$(rt_thread_of "$1")
  [ "$(echo "$tid" | wc -w)" -eq 1 ] || fail "$2: threads with SCHED_FIFO 80: '$tid'"
  [ "$(cat $group/cpuset.cpus.partition)" = isolated ] || fail "$2: the partition is '$(cat $group/cpuset.cpus.partition)'"
  [ "$(cat $group/cpuset.cpus.effective)" = $core ] || fail "$2: it has the cores $(cat $group/cpuset.cpus.effective)"
  [ "$(cat /sys/fs/cgroup/cpuset.cpus.effective)" = 0 ] || fail "$2: the others have $(cat /sys/fs/cgroup/cpuset.cpus.effective)"
  [ "$(cat $group/cgroup.threads)" = "$tid" ] || fail "$2: $tid is to be in it, there are $(cat $group/cgroup.threads)"
  grep -qx "0::/orrery.core$core" "/proc/$1/task/$tid/cgroup" || fail "$2: the thread says $(cat "/proc/$1/task/$tid/cgroup")"
  [ "$(field "/proc/$1/task/$tid" 39)" = $core ] || fail "$2: the thread runs on core $(field "/proc/$1/task/$tid" 39)"
  # nobody else may use the core but the kernel's own threads that are bound to it for good
  on_core $core "$tid" >/tmp/on_core
  grep -v '^off$' /tmp/on_core && fail "$2: others may use core $core"
  others=$(grep -c '^off$' /tmp/on_core)
  [ "$others" -gt 20 ] || fail "$2: only $others tasks seen"
  # nor can they get there
  taskset -pc $core "$bystander" >/dev/null 2>&1
  [ "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$bystander/status")" = 0 ] || fail "$2: a task got onto the core"
  [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = -1 ] || fail "$2: throttling is on"
  ok "$2: isolated partition with thread $tid alone; $others other tasks are off the core"
}
flies() { orrery top --once "$1" 2>/dev/null | grep -q '^integrate '; }
start() { # FILE ARGUMENTS...: a run with --fix, from a group of its own as a service would
  file=$1
  shift
  : >/tmp/err
  sh -c 'echo $$ >/sys/fs/cgroup/service/cgroup.procs; exec orrery run "$@" --mode realtime --fix --set realtime.core='$core' \
    --set realtime.spin=0s --set realtime.phase=0s' \
    orrery "$file" "$@" >/tmp/out 2>/tmp/err &
  run=$!
  until_true flies $run || fail "no flight: $(cat /tmp/out /tmp/err)"
}

sed 's/transport: shm, name: [^,]*,/transport: linked,/; s/ wait: .*timeout: {[^}]*},//' /configs/cubesat.yaml >$cubesat
mkdir /sys/fs/cgroup/service /sys/fs/cgroup/other
sleep 3600 &
bystander=$!
for cores in 0 1; do # these have cores of their own choice
  taskset -c $cores sleep 3600 &
done
sleep 3600 &
echo $! >/sys/fs/cgroup/other/cgroup.procs

# --- doctor ---
orrery doctor --seconds 0 >/tmp/out
[ $? -le 1 ] || fail "doctor: $(cat /tmp/out)"
grep -q '^ok  *PREEMPT_RT .*PREEMPT_RT$' /tmp/out || fail "doctor does not see PREEMPT_RT: $(cat /tmp/out)"
grep -q '^warn  *cpuset partition .*cgroup v2 cpuset, the core is in none' /tmp/out || fail "doctor does not see cgroup v2: $(cat /tmp/out)"
cat /tmp/out
ok "doctor sees PREEMPT_RT and cgroup v2"
remember
orrery doctor --core $core --seconds 1 --fix >/tmp/out 2>&1
[ $? -le 1 ] || fail "doctor --fix: $(cat /tmp/out)"
for line in "fix: core $core has a cpuset of its own" 'ok  *cpuset partition  *cgroup v2 cpuset, the core has one of its own' 'ok  *isolcpus' 'ok  *RT throttling' \
  'wake-up latency on core 1, SCHED_FIFO 80' 'page faults: 0; .* 0 voluntary beyond [0-9]* sleeps' 'fix: everything taken back'; do
  grep -q "^$line" /tmp/out || fail "doctor --fix does not say '$line': $(cat /tmp/out)"
done
refused=$(sed -n 's/^fix: [0-9]* interrupts moved, \([0-9]*\) refused.*/\1/p' /tmp/out)
grep -q "IRQ affinity  *$refused interrupts may arrive" /tmp/out || fail "more interrupts are left than refused: $(cat /tmp/out)"
cat /tmp/out
as_before "doctor --fix, ended by itself"

# --- a run, ended by a signal ---
start $cubesat --duration 1h # a signal ends it, however slow the emulator
core_is_cleared_for $run "run --fix"
for task in /proc/$run/task/*; do
  [ "${task##*/}" = "$tid" ] || grep -qx '0::/' "$task/cgroup" || fail "another thread is in $(cat "$task/cgroup")"
done
orrery run $cubesat --mode realtime --set realtime.spin=0s --duration 200ms --fix --set realtime.core=$core >/tmp/second 2>&1 &&
  fail "a second partition of the core is a success: $(cat /tmp/second)"
grep -q "error: core $core has been cleared by --fix for another: process $run " /tmp/second || fail "a second partition of the core: $(cat /tmp/second)"
core_is_cleared_for $run "after a second run has tried the same core"
kill -TERM $run
wait $run
grep -q '^fix: everything taken back' /tmp/err || fail "SIGTERM: $(cat /tmp/err)"
grep -q '^machine .*PREEMPT_RT, clock tsc, core isolated' /tmp/out || fail "SIGTERM: no summary: $(cat /tmp/out)"
frames=$(sed -n 's/^flown *\([0-9]*\) frames.*/\1/p' /tmp/out)
orrery run $cubesat --mode batch --duration "${frames}0ms" >/tmp/batch
[ "$(hash_of /tmp/out)" = "$(hash_of /tmp/batch)" ] || fail "$frames frames in the partition have other bits than batch"
as_before "run --fix, ended by SIGTERM"

# --- kill -9, and the next start ---
start $cubesat --duration 1h
kill -KILL $run
wait $run 2>/dev/null
[ "$(cat $group/cpuset.cpus.partition)" = isolated ] || fail "nothing was left to repair"
[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = -1 ] || fail "nothing was left to repair"
orrery doctor --seconds 0 >/tmp/out 2>&1
grep -q '^fix: repaired what 1 killed run had left' /tmp/out || fail "the next start does not repair: $(cat /tmp/out)"
as_before "run --fix, ended by SIGKILL, after the next start"

# --- --move names tasks: a partition would take the core from all ---
orrery doctor --core $core --seconds 60 --fix --move $bystander >/tmp/out 2>&1 &
run=$!
until_true grep -q '^fix: ' /tmp/out
tasks >/tmp/tasks.during
kill -TERM $run
wait $run
changed /tmp/tasks.before /tmp/tasks.during &&
  fail "doctor --fix --move touches other tasks: $(cat /tmp/out)"
grep -q '^fix: no cpuset: .*Operation not supported' /tmp/out || fail "doctor --fix --move: $(cat /tmp/out)"
as_before "doctor --fix --move"

# --- without rights ---
(
  ulimit -l 64
  exec /bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all orrery doctor --seconds 0.5
) >/tmp/out 2>&1
[ $? -eq 1 ] || fail "doctor without rights is exit 1: $(cat /tmp/out)"
for line in 'ok  *PREEMPT_RT' 'bad  *memory lock' 'bad  *SCHED_FIFO' 'warning: no SCHED_FIFO priority' 'warning: memory is not locked' 'wake-up latency'; do
  grep -q "^$line" /tmp/out || fail "doctor without rights does not say '$line': $(cat /tmp/out)"
done
/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all orrery doctor --core $core --fix --seconds 0 >/tmp/out 2>&1
grep -q '^fix: nothing changed' /tmp/out || fail "doctor --fix without rights: $(cat /tmp/out)"
as_before "doctor --fix without rights"

# --- spacecraft in the partition: undisturbed by the kernel's counters, with the bits of batch ---
undisturbed() { # WHAT
  grep -q '^page faults: 0; .* 0 voluntary beyond [0-9]* sleeps' /tmp/out || fail "$1: faults or switches: $(cat /tmp/out)"
  grep -q '^machine .*PREEMPT_RT, clock tsc, core isolated' /tmp/out || fail "$1: $(cat /tmp/out)"
  [ "$(hash_of /tmp/out)" = "$(hash_of /tmp/batch)" ] || fail "$1 has other bits than batch"
  ok "$1: no page fault, one switch a frame, the bits of batch"
}
set -- --step 10ms --duration 15s # it has to be flying yet when all has been looked at, however slow the emulator
orrery run /configs/reference.yaml --mode batch "$@" >/tmp/batch 2>/tmp/err || fail "reference in batch: $(cat /tmp/err)"
start /configs/reference.yaml "$@"
core_is_cleared_for $run "the reference spacecraft"
wait $run || fail "the reference spacecraft: $(cat /tmp/out /tmp/err)"
cat /tmp/out
undisturbed "the reference spacecraft"
as_before "the reference spacecraft, flown to its end"

# Flight software outside: the bits are those of batch when every answer was on time, which an emulator on a busy
# machine may need a few flights for; the latency job shows it without luck.
udp='links.fsw={transport: udp, listen: "127.0.0.1:5010", allow: [127.0.0.1], rate: 10 Hz, telemetry: [gyro.rate, star.attitude, bus.target], '
udp="$udp commands: [wheel_*.torque], wait: 10 s, timeout: {frames: 50, policy: hold}, stiffness: [0.004, 0.004, 0.0015], damping: [0.02, 0.02, 0.006]}"
orrery run /configs/cubesat.yaml --mode batch --duration 3s >/tmp/batch 2>/tmp/err || fail "cubesat in batch: $(cat /tmp/err)"
for url in shm:/orrery.fsw udp:127.0.0.1:5010; do
  for attempt in 1 2 3 4 5; do
    rm -f /tmp/ready # peers are let in when all that takes long is done, which here may be later than they wait
    { until [ -e /tmp/ready ]; do sleep 0.1; done; exec taskset -c 0 fsw $url cubesat 2>/tmp/fsw; } &
    peer=$!
    set -- --duration 3s --ready /tmp/ready
    [ $url = shm:/orrery.fsw ] || set -- "$@" --set "$udp"
    start /configs/cubesat.yaml "$@"
    wait $run || fail "$url: $(cat /tmp/out /tmp/err /tmp/fsw)"
    kill $peer 2>/dev/null
    wait $peer 2>/dev/null
    grep '^link' /tmp/out
    grep -q ' 0 of them late, 0 missed' /tmp/out && break
  done
  if [ "$(hash_of /tmp/out)" != "$(hash_of /tmp/batch)" ] && ! grep -q ' 0 of them late, 0 missed' /tmp/out; then
    echo "not shown: over ${url%%:*} no flight of five had every answer on time"
  else
    undisturbed "cubesat over ${url%%:*} (flight $attempt)"
  fi
done
as_before "flights with flight software"

# --- the date is set forward and back while flight software flies: frames, commands and bits do not depend on it ---
jumps() { # PID: two hours forward and back, as long as it lives
  while kill -0 "$1" 2>/dev/null; do
    for hours in 2 -2; do
      date -s "@$(($(date +%s) + hours * 3600))" >/dev/null || echo "the date cannot be set" >/tmp/no_jumps
      echo $hours >>/tmp/jumps
      usleep 50000
    done
  done
}
orrery run /configs/cubesat.yaml --mode batch --duration 60s >/tmp/batch 2>/tmp/err || fail "cubesat in batch: $(cat /tmp/err)"
for url in shm:/orrery.fsw udp:127.0.0.1:5010; do
  for mode in lockstep realtime; do
    rm -f /tmp/jumps /tmp/no_jumps /tmp/ready
    duration=60s
    [ $mode = lockstep ] || duration=3s
    { until [ -e /tmp/ready ]; do sleep 0.1; done; exec fsw $url cubesat 2>/tmp/fsw; } &
    peer=$!
    set -- --duration $duration --ready /tmp/ready
    [ $url = shm:/orrery.fsw ] || set -- "$@" --set "$udp"
    orrery run /configs/cubesat.yaml --mode $mode "$@" >/tmp/out 2>/tmp/err &
    run=$!
    jumps $run &
    jumper=$!
    wait $run || fail "$mode over ${url%%:*} while the date jumps: $(cat /tmp/out /tmp/err /tmp/fsw)"
    wait $jumper
    kill $peer 2>/dev/null
    wait $peer 2>/dev/null
    [ ! -e /tmp/no_jumps ] || fail "$(cat /tmp/no_jumps)"
    [ "$(wc -l </tmp/jumps)" -ge 4 ] || fail "$mode over ${url%%:*}: the date jumped only $(wc -l </tmp/jumps) times"
    frames=$((${duration%s} * 10))
    grep -q "^link .*: $frames frames out" /tmp/out || fail "$mode over ${url%%:*} while the date jumps: not $frames frames: $(cat /tmp/out)"
    grep -q 'timed out' /tmp/out && fail "$mode over ${url%%:*}: silence where the date jumped: $(cat /tmp/out)"
    if [ $mode = lockstep ]; then
      grep -q ' 0 of them late, 0 missed; 1 peers' /tmp/out || fail "lockstep over ${url%%:*} while the date jumps: $(cat /tmp/out)"
      [ "$(hash_of /tmp/out)" = "$(hash_of /tmp/batch)" ] || fail "lockstep over ${url%%:*} has other bits where the date jumps"
    fi
    ok "$mode over ${url%%:*}: $(wc -l </tmp/jumps) jumps of the date change nothing"
  done
done
exit 0
