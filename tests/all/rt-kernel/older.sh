# Guest of two processors with cgroup v1: `doctor --fix` without --move, which moves every task of the
# machine, and what takes it back.
. /rt-kernel/look.sh
fail() {
  echo "FAIL: $1"
  exit 1
}
umount /sys/fs/cgroup
mount -t cgroup -o cpuset none /sys/fs/cgroup || fail 'no cgroup v1 cpuset'
for cores in 0 1 0,1; do
  taskset -c $cores sleep 3600 &
done
settings() {
  cat /sys/fs/cgroup/cpuset.sched_load_balance /proc/sys/kernel/sched_rt_runtime_us
  grep . /proc/irq/*/smp_affinity_list
  find /sys/fs/cgroup -type d
  find /run /dev/shm -type f
}
settings >/tmp/settings.before
tasks >/tmp/tasks.before
for signal in TERM KILL; do
  orrery doctor --core 1 --seconds 60 --fix >/tmp/out 2>&1 &
  doctor=$!
  tid=
  for _ in $(seq 300); do
    tid=$(rt_thread_of $doctor)
    [ -n "$tid" ] && grep -q '^[0-9]*:cpuset:/orrery.core1$' "/proc/$doctor/task/$tid/cgroup" && break
    usleep 200000
  done
  grep -q '^[0-9]*:cpuset:/orrery.core1$' "/proc/$doctor/task/$tid/cgroup" || fail "thread '$tid' is not in the cpuset: $(cat /tmp/out)"
  [ "$(cat /sys/fs/cgroup/orrery.core1/cpuset.cpu_exclusive)" = 1 ] || fail 'the cpuset is not exclusive'
  [ "$(cat /sys/fs/cgroup/orrery.core1/tasks)" = "$tid" ] || fail "others are in the cpuset: $(cat /sys/fs/cgroup/orrery.core1/tasks)"
  on_core 1 "$tid" >/tmp/on_core
  # kthreadd may not be moved between groups; it only makes others
  grep -v -e '^off$' -e '(kthreadd)' /tmp/on_core && fail 'others may use the core'
  others=$(grep -c '^off$' /tmp/on_core)
  [ "$others" -gt 20 ] || fail "only $others tasks seen"
  kill -$signal $doctor
  wait $doctor 2>/dev/null
  if [ $signal = TERM ]; then
    grep -q '^fix: everything taken back' /tmp/out || fail "SIGTERM: $(cat /tmp/out)"
  else
    orrery doctor --seconds 0 >/tmp/out 2>&1
    grep -q '^fix: repaired what 1 killed run had left' /tmp/out || fail "the next start: $(cat /tmp/out)"
  fi
  settings | diff /tmp/settings.before - || fail "SIG$signal: the machine is not as it was"
  tasks >/tmp/tasks.after
  changed /tmp/tasks.before /tmp/tasks.after && fail "SIG$signal: tasks are not as they were"
  echo "ok: cgroup v1, doctor --fix: $others other tasks off the core, and all as before after SIG$signal"
done
exit 0
