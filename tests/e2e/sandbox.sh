#!/bin/sh
# Of a run over UDP the io thread alone is in a sandbox, by the kernel's own words, as root and as nobody; what else a run does goes on: its log, picture, table,
# state and summary. What a thread in it cannot do: tests/unit/io/links/sandbox.c.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
over udp configs/cubesat.yaml >"$dir/run.yaml"
url=$(url_of udp)

# HOW WHO...: flies in real time, and looks at the threads
look() {
  how=$1
  shift
  "$@" "$ORRERY" run "$dir/run.yaml" --mode realtime --duration 900s --set realtime.priority=0 --set links.fsw.wait=0s --no-log $how >"$dir/out" 2>"$dir/err" &
  run=$!
  await flies $run || fail "$how $*: does not fly: $(cat "$dir/err")"
  caged=0 free=0
  for task in /proc/$run/task/*; do
    if [ "$(sed -n 's/^Seccomp:[[:space:]]*//p' "$task/status")" = 2 ]; then
      caged=$((caged + 1))
      [ "$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' "$task/status")" = 1 ] || fail "$how $*: may get privileges"
      for rights in CapPrm CapEff CapInh; do
        [ "$(sed -n "s/^$rights:[[:space:]]*//p" "$task/status")" = 0000000000000000 ] || fail "$how $*: $rights: $(grep Cap "$task/status")"
      done
    else
      free=$((free + 1))
    fi
  done
  kill -TERM $run
  wait $run
  grep -q 'refused by its sandbox' "$dir/out" && fail "$how $*: a call was refused: $(cat "$dir/out")"
  grep -q sandbox "$dir/err" && fail "$how $*: $(cat "$dir/err")"
  return 0
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
look --sandbox
[ "$caged" -eq 1 ] && [ "$free" -ge 2 ] || fail "$caged threads in a sandbox, $free not"
look ''
[ "$caged" -eq 1 ] || fail "no sandbox by default"
look --no-sandbox
[ "$caged" -eq 0 ] || fail "a sandbox in spite of --no-sandbox"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  nobody='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all'
  chmod 755 "$dir"
  # shellcheck disable=SC2086
  if $nobody test -x "$ORRERY"; then
    mkdir "$dir/theirs"
    chown 65534 "$dir/theirs"
    fly "$dir/theirs" $nobody
    look --sandbox $nobody
    [ "$caged" -eq 1 ] || fail "$caged threads of nobody in a sandbox"
  fi
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
grep -q 'error: no sandbox for the io thread of the links: Function not implemented; --no-sandbox flies without' "$dir/err" || fail "$(cat "$dir/err")"
"$fsw" "$url" >"$dir/peer" 2>&1 &
peer=$!
python3 "$dir/without.py" "$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 1s >"$dir/out" 2>"$dir/err" || fail "without a sandbox nobody flies: $(cat "$dir/out" "$dir/err")"
wait $peer
grep -q 'warning: no sandbox for the io thread of the links: Function not implemented' "$dir/err" || fail "$(cat "$dir/err")"
exit 0
