#!/bin/sh
# Of a run over UDP the threads of packets, log and `orrery ctl` are in sandboxes, and no thread keeps rights that it
# does not need, by the kernel's own words, as root and as nobody; what else a run does goes on: its log, picture,
# table, state and summary. What a thread in a sandbox cannot do: tests/unit/io/links/packets/sandbox.c.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
over udp configs/cubesat.yaml >"$dir/run.yaml"
url=$(url_of udp)

# FILE KEY
word() { sed -n "s/^$2:[[:space:]]*//p" "$1"; }

# What threads keep of the rights that this shell's children begin with: the first one CHOWN, DAC_OVERRIDE, FOWNER;
# those that allocate IPC_LOCK where a limit on locked memory stands and may not be lifted (SYS_RESOURCE).
mine=$((0x$(word /proc/self/status CapEff)))
memory=0
[ "$(ulimit -l)" = unlimited ] || [ $((mine & 0x1000000)) -ne 0 ] || memory=$((mine & 0x4000))
files=$((mine & 0xb))

# RUN WHAT FIRST MEMORY: all threads of a run. None gets more rights. The first one has FIRST; the others MEMORY, but
# for that of packets, which has none
judge_threads() {
  caged=0 free=0 keepers=0
  for task in /proc/$1/task/*; do
    cp "$task/status" "$dir/status" 2>/dev/null || continue
    caging=$(word "$dir/status" Seccomp) want=$4
    [ "${task##*/}" = "$1" ] && want=$3
    [ "$caging" = 2 ] && [ $((0x$(word "$dir/status" CapEff))) -eq 0 ] && want=0
    [ "$caging" = 2 ] && [ $((0x$(word "$dir/status" CapEff))) -ne 0 ] && keepers=$((keepers + 1))
    [ "$(word "$dir/status" NoNewPrivs)" = 1 ] || fail "$2: may get privileges: $(cat "$dir/status")"
    for rights in CapPrm CapEff; do
      [ $((0x$(word "$dir/status" $rights))) -eq $((want)) ] || fail "$2: $rights of thread ${task##*/} of $1, not $want: $(grep Cap "$dir/status")"
    done
    [ $((0x$(word "$dir/status" CapInh))) -eq 0 ] || fail "$2: $(grep Cap "$dir/status")"
    if [ "$caging" = 2 ]; then caged=$((caged + 1)); else free=$((free + 1)); fi
  done
  [ "$keepers" -eq $(($4 ? 2 : 0)) ] || fail "$2: $keepers threads in a sandbox may lock memory"
}

# HOW FIRST WHO...: flies in real time, with a log and a socket, and looks at the threads; then stops it by the socket
look() {
  how=$1
  first=$2
  shift 2
  rm -rf "$dir/seen"
  mkdir -m 700 "$dir/seen"
  [ $# -eq 0 ] || chown 65534 "$dir/seen"
  ORRERY_CTL=$dir/seen/ctl "$@" "$ORRERY" run "$dir/run.yaml" --mode realtime --duration 900s --set realtime.priority=0 --set links.fsw.wait=0s --log "$dir/seen/log.mcap" \
    --plot "$dir/seen/picture.svg" $how >"$dir/out" 2>"$dir/err" &
  run=$!
  await flies $run || fail "$how $*: does not fly: $(cat "$dir/err")"
  [ "$how" = --no-sandbox ] || judge_threads $run "$how $*" $((first ? first | memory : 0)) $((first ? memory : 0))
  ORRERY_CTL=$dir/seen/ctl "$@" "$ORRERY" ctl $run status >"$dir/answer" || fail "$how $*: orrery ctl: $(cat "$dir/answer")"
  ORRERY_CTL=$dir/seen/ctl "$@" "$ORRERY" ctl $run stop >"$dir/answer" || fail "$how $*: orrery ctl stop: $(cat "$dir/answer")"
  wait $run
  grep -q 'refused [0-9]* system calls' "$dir/out" && fail "$how $*: a call was refused: $(cat "$dir/out")"
  grep -q sandbox "$dir/err" && fail "$how $*: $(cat "$dir/err")"
  "$ORRERY" log info "$dir/seen/log.mcap" >"$dir/info" || fail "$how $*: $(cat "$dir/info")"
  grep -q ': complete$' "$dir/info" || fail "$how $*: the log is not whole: $(cat "$dir/info")"
  [ -s "$dir/seen/picture.svg" ] || fail "$how $*: no picture"
}

# DIR WHO...: everything that a run writes, in lockstep
fly() {
  to=$1
  shift
  "$fsw" "$url" >"$dir/peer" 2>&1 &
  peer=$!
  (cd "$to" && ORRERY_LOGS="$to/logs" "$@" "$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 5s --sandbox --plot picture.svg --csv table.csv --save-state state \
    --json summary.json >out 2>err) || fail "$*: $(cat "$to/out" "$to/err" "$dir/peer")"
  wait $peer || fail "$*: flight software: $(cat "$dir/peer")"
  for file in picture.svg table.csv state summary.json logs/*.mcap; do
    [ -s "$to/$file" ] || [ -s "$(echo "$to"/$file)" ] || fail "$*: no $file"
  done
  python3 -c 'import json, sys
said = json.load(open(sys.argv[1]))["io_thread"]
assert said == {"sandbox": True, "refused_calls": 0}, said' "$to/summary.json" || fail "$*: $(cat "$to/summary.json")"
}

mkdir "$dir/mine"
fly "$dir/mine"
look --sandbox "$files"
[ "$caged" -eq 3 ] && [ "$free" -eq 2 ] || fail "$caged threads in a sandbox, $free not"
look '' "$files"
[ "$caged" -eq 3 ] || fail "no sandbox by default"
caged=0
look --no-sandbox ''
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  nobody='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all'
  chmod 755 "$dir"
  # shellcheck disable=SC2086
  if $nobody test -x "$ORRERY"; then
    mkdir "$dir/theirs"
    chown 65534 "$dir/theirs"
    # at a port of their own: the kernel may still hold that of the run before, and nobody cannot
    # see that no process has it
    port=$((port + 1))
    url=$(url_of udp)
    over udp configs/cubesat.yaml >"$dir/run.yaml"
    fly "$dir/theirs" $nobody
    look --sandbox 0 $nobody
    [ "$caged" -eq 3 ] || fail "$caged threads of nobody in a sandbox"
  fi
fi
# in batch, the executive's thread is the first one
mkdir -m 700 "$dir/batch"
ORRERY_CTL=$dir/batch/ctl "$ORRERY" run configs/cubesat.yaml --mode batch --paused --log "$dir/batch/log.mcap" >"$dir/out" 2>"$dir/err" &
run=$!
await test -S "$dir/batch/ctl/$run.sock" || fail "batch: no socket"
ORRERY_CTL=$dir/batch/ctl "$ORRERY" ctl $run step 1 >"$dir/answer" || fail "batch: $(cat "$dir/answer")"
judge_threads $run batch "$files" $memory
[ "$caged" -eq 2 ] && [ "$free" -eq 1 ] || fail "batch: $caged threads in a sandbox, $free not"
ORRERY_CTL=$dir/batch/ctl "$ORRERY" ctl $run go >/dev/null
wait $run || fail "batch: $(cat "$dir/out" "$dir/err")"
# root with a limit on locked memory that it may not lift: who allocates keeps the right to, and flies on
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && command -v prlimit >/dev/null; then
  mkdir -m 700 "$dir/limit"
  ORRERY_CTL=$dir/limit/ctl setpriv --bounding-set=-sys_resource prlimit --memlock=65536:65536 "$ORRERY" run "$dir/run.yaml" --mode realtime --duration 900s --set realtime.priority=0 \
    --set links.fsw.wait=0s --log "$dir/limit/log.mcap" >"$dir/out" 2>"$dir/err" &
  run=$!
  await flies $run || fail "with a limit: does not fly: $(cat "$dir/err")"
  grep -l '^CapEff:.*4000$' /proc/$run/task/*/status >"$dir/keepers"
  [ "$(wc -l <"$dir/keepers")" -eq 3 ] || fail "with a limit: loop, log and ctl keep the right to lock memory: $(grep CapEff /proc/$run/task/*/status)"
  ORRERY_CTL=$dir/limit/ctl "$ORRERY" ctl $run stop >"$dir/answer" || fail "with a limit: $(cat "$dir/answer")"
  wait $run
  "$ORRERY" log info "$dir/limit/log.mcap" | grep -q ': complete$' || fail "with a limit: no whole log: $(cat "$dir/out" "$dir/err")"
fi
# where the kernel has none: a filter in front of ours, which lets no other be set
cat >"$dir/without.py" <<'P'
import ctypes, os, struct, sys
# BPF: load the call's number; seccomp(2) fails as on a kernel without it, all else is allowed
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
code = struct.pack("<HBBI", 0x20, 0, 0, 0) + struct.pack("<HBBI", 0x15, 0, 1, number) + struct.pack("<HBBI", 6, 0, 0, 0x00050000 | 38) + struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000)
buffer = ctypes.create_string_buffer(code, len(code))
program = struct.pack("<HxxxxxxQ", 4, ctypes.addressof(buffer))
c = ctypes.CDLL(None, use_errno=True)
assert c.prctl(38, 1, 0, 0, 0) == 0 and c.prctl(22, 2, program) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
P
python3 "$dir/without.py" "$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 1s --sandbox >"$dir/out" 2>"$dir/err" && fail "--sandbox flies without one"
grep -q 'error: no sandbox for the threads of the run: Function not implemented; --no-sandbox flies without' "$dir/err" || fail "$(cat "$dir/err")"
"$fsw" "$url" >"$dir/peer" 2>&1 &
peer=$!
python3 "$dir/without.py" "$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 1s >"$dir/out" 2>"$dir/err" || fail "without a sandbox nobody flies: $(cat "$dir/out" "$dir/err")"
wait $peer
grep -q 'warning: no sandbox for the threads of the run: Function not implemented' "$dir/err" || fail "$(cat "$dir/err")"
exit 0
