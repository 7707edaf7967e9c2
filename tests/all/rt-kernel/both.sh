# Guest of three processors, cgroup v2: two runs of `doctor --fix` on a core each, ended in either order, by
# SIGTERM and by SIGKILL with the next start. Whoever ends first leaves the other its partition; the last
# leaves the machine as it was.
. /rt-kernel/look.sh
root=/sys/fs/cgroup
fail() {
  echo "FAIL: $1"
  exit 1
}
settings() {
  cat $root/cgroup.subtree_control $root/cpuset.cpus.effective /proc/sys/kernel/sched_rt_runtime_us
  grep . /proc/irq/*/smp_affinity_list
  find $root -type d | sort
  find /run /dev/shm -type f
}
for cores in 0 1 2 0,1 1,2 0-2; do # these have cores of their own choice, but for the last
  taskset -c $cores sleep 36000 &
done
settings >/tmp/settings.before
tasks >/tmp/tasks.before

is_cleared() { # PID CORE
  tid=$(rt_thread_of "$1")
  group=$root/orrery.core$2
  [ -n "$tid" ] && [ "$(cat "$group/cpuset.cpus.partition" 2>/dev/null)" = isolated ] && [ "$(cat "$group/cgroup.threads")" = "$tid" ] &&
    [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = -1 ] && ! on_core "$2" "$tid" | grep -q -v '^off$'
}
start() { # CORE
  orrery doctor --core "$1" --seconds 3600 --fix >"/tmp/out.$1" 2>&1 &
  eval "pid$1=$!"
  for _ in $(seq 300); do
    is_cleared $! "$1" && return
    usleep 200000
  done
  fail "core $1 is not cleared: $(cat "/tmp/out.$1")"
}
irqs_on() { grep -l "\b$1\b\|0-2" /proc/irq/*/smp_affinity_list; } # CORE: no list of three cores has it otherwise

for order in '1 2 TERM' '2 1 TERM' '1 2 KILL' '2 1 KILL'; do
  # shellcheck disable=SC2086
  set -- $order
  start 1
  start 2
  eval "first=\$pid$1 second=\$pid$2"
  is_cleared "$first" "$1" || fail "$order: the second that came took core $1 from the other"
  orrery doctor --core "$1" --seconds 0 --fix >/tmp/third 2>&1 && fail "$order: a third on core $1: $(cat /tmp/third)"
  grep -q "core $1 has been cleared by --fix for another: process $first " /tmp/third || fail "$order: a third: $(cat /tmp/third)"
  irqs_on "$2" >/tmp/irqs.before
  kill "-$3" "$first"
  wait "$first" 2>/dev/null
  if [ "$3" = KILL ]; then
    orrery doctor --seconds 0 >/tmp/out 2>&1
    grep -q '^fix: repaired what 1 killed run had left' /tmp/out || fail "$order: the next start: $(cat /tmp/out)"
  else
    grep -q '^fix: everything taken back' "/tmp/out.$1" || fail "$order: $(cat "/tmp/out.$1")"
  fi
  is_cleared "$second" "$2" || fail "$order: core $2 is no longer cleared: $(cat $root/cgroup.subtree_control $root/orrery.core$2/cpuset.cpus.partition; on_core "$2" "$(rt_thread_of "$second")")"
  irqs_on "$2" | diff /tmp/irqs.before - || fail "$order: interrupts come to core $2"
  kill -TERM "$second"
  wait "$second"
  grep -q '^fix: everything taken back' "/tmp/out.$2" || fail "$order: $(cat "/tmp/out.$2")"
  settings | diff /tmp/settings.before - || fail "$order: the machine is not as it was"
  tasks >/tmp/tasks.after
  changed /tmp/tasks.before /tmp/tasks.after && fail "$order: tasks are not as they were"
  echo "ok: cgroup v2, two at once, core $1 given back first by SIG$3: core $2 stays cleared, and all as before after it"
done
exit 0
