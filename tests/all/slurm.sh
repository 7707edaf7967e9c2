#!/bin/sh
# A campaign on a cluster: Debian's slurm-wlm on this machine, with a munge of its own and two daemons. While it flies,
# the daemon of one node, its step daemon and its job are killed: the node is given up, its task is flown on the other
# one, and the table is that of a campaign flown here, to the byte.
. tests/support/script.sh
for program in munged slurmctld slurmd sbatch; do
  command -v $program >/dev/null || PATH=$PATH:/usr/sbin
  command -v $program >/dev/null || {
    echo "skipped: slurm-wlm and munge are not installed"
    exit 77
  }
done
[ "$(id -u)" -eq 0 ] || {
  echo "skipped: the daemons of a cluster want to be root"
  exit 77
}
chmod 755 "$dir"
host=$(uname -n | cut -d. -f1)
mkdir "$dir/state" "$dir/spool"
head -c 128 /dev/urandom >"$dir/munge.key"
chmod 400 "$dir/munge.key"
cat >"$dir/slurm.conf" <<C
ClusterName=orrery
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
SlurmdTimeout=10
ReturnToService=2
MailProg=/bin/true
JobRequeue=1
KillWait=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1
PartitionName=flights Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
C
export SLURM_CONF="$dir/slurm.conf"
munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" >"$dir/munged" 2>&1 &
await test -S "$dir/munge.socket" || fail "munge: $(cat "$dir/munged")"
slurmctld -D >"$dir/slurmctld" 2>&1 &
slurmd -D -N n1 >"$dir/slurmd1" 2>&1 &
first=$!
slurmd -D -N n2 >"$dir/slurmd2" 2>&1 &
idle() { sinfo -h -o '%t %D' 2>/dev/null | grep -q '^idle 2'; }
await idle || fail "no nodes: $(sinfo 2>&1; tail -n 5 "$dir/slurmctld" "$dir/slurmd1")"

sed 's/duration: 60 s/duration: 200 s/' configs/cubesat.yaml >"$dir/ship.yaml"
cat >"$dir/c.yaml" <<'Y'
orrery: 1
campaign:
  run: ship.yaml
  flights: 160
  seed: 3
  sampling: sobol
  vary: {spacecraft.bodies.bus.mass: {normal: [4 kg, 0.1 kg], within: [3.8 kg, 4.2 kg]}, simulation.seed: each}
  keep: {measures: {final: [bus.pointing_error]}}
Y
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/here" >"$dir/out" 2>&1 || fail "here: $(cat "$dir/out")"
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/there" --slurm --partition flights --array-size 4 >"$dir/out" 2>&1 || fail "submit: $(cat "$dir/out")"

# all of a node that is in the middle of a flight: the job, the step daemon above it, the daemon
jobs_of_node() { # those of this cluster on n1, and the step daemons above them
  victims='' steps=''
  # shellcheck disable=SC2046
  for file in $(grep -lzxF "SLURM_CONF=$SLURM_CONF" /dev/null $(grep -lzxF SLURMD_NODENAME=n1 /proc/[0-9]*/environ 2>/dev/null) 2>/dev/null); do
    p=${file#/proc/} p=${p%/environ}
    parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$p/status" 2>/dev/null)
    victims="$victims $p"
    grep -q slurmstepd "/proc/${parent:-none}/comm" 2>/dev/null && steps="$steps $parent"
  done
  [ -n "$steps" ] && [ -n "$(find "$dir/there/attempts" -name journal.jsonl -size +0 2>/dev/null)" ]
}
await jobs_of_node || fail "no task flies below a step daemon: $(squeue; cat "$dir/there"/*.out)"
# shellcheck disable=SC2086
kill -9 $first $steps $victims 2>"$dir/err"
before=$(find "$dir/there/attempts" -name complete | wc -l)

# Slurm waits two minutes before it tries a job again that a node has lost: this one it tries at once
again() { squeue -h -t PD -o '%i %r' 2>/dev/null | sed -n 's/ BeginTime$//p' | while read -r job; do scontrol update "JobId=$job" StartTime=now; done; }
over() { again; [ -z "$(squeue -h 2>/dev/null)" ] && [ -s "$dir/there/summary.json" ]; }
for _ in 1 2 3 4 5; do await over && break; done
over || fail "not gathered in time: $(squeue; sinfo; cat "$dir/there"/*.out)"
cmp "$dir/here/table.csv" "$dir/there/table.csv" && cmp "$dir/here/table.jsonl" "$dir/there/table.jsonl" || fail "the tables differ: $(cat "$dir/there"/*.out)"
attempts=$(find "$dir/there/attempts" -mindepth 1 -maxdepth 1 | wc -l)
[ "$before" -lt 4 ] && [ "$attempts" -gt 4 ] && [ "$(find "$dir/there/attempts" -name complete | wc -l)" -eq 4 ] || fail "an attempt was lost and flown again: $before, $attempts"
"$ORRERY" campaign status "$dir/c.yaml" -o "$dir/there" >"$dir/out" || fail "status: $(cat "$dir/out")"
exit 0
