#!/bin/sh
# `orrery run --json` prints one object on standard output, whatever the end: flown, diverged, a signal, links that are
# dead or silent, and where nothing was flown. A signal that ends a process ends a run with its summary, and leaves
# nothing in shared memory.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
export ORRERY_LOGS=
cat >"$dir/judge.py" <<'P'
import json, sys
def refuse(word):
    raise ValueError(word)
path, verdict, reason = sys.argv[1:4]
r = json.load(open(path), parse_constant=refuse)
assert isinstance(r, dict) and (r["verdict"] or "null") == verdict, (r["verdict"], verdict)
assert reason == "-" or reason in [x["reason"] for x in r["reasons"]], r["reasons"]
for x in r["reasons"]:
    assert x["what"] and x["do"], x
if "channels" in r: # with every number, also where it is none
    assert all(isinstance(v, list) and v for v in r["channels"].values()), r["channels"]
    assert len(r["channels"]["gyro.rate"]) == 3, r["channels"]["gyro.rate"]
P
ends() { # STATUS VERDICT REASON ARGUMENTS...
  expected=$1 verdict=$2 reason=$3
  shift 3
  "$ORRERY" run "$@" --json >"$dir/out" 2>"$dir/err"
  status=$?
  [ $status -eq "$expected" ] || fail "$*: exit $status: $(cat "$dir/err")"
  python3 "$dir/judge.py" "$dir/out" "$verdict" "$reason" 2>"$dir/judged" || fail "$*: $(cat "$dir/judged" "$dir/out")"
}
over shm configs/cubesat.yaml >"$dir/ship.yaml"

# nothing was flown
ends 1 failed not_flown "$dir/none.yaml" --mode batch
grep -q 'cannot read' "$dir/out" || fail "the file is not named: $(cat "$dir/out")"
ends 1 failed not_flown "$dir/ship.yaml" --mode batch --set simulation.step=0s
grep -q "'step'" "$dir/out" || fail "the mistake is not told: $(cat "$dir/out")"
ends 2 null usage "$dir/ship.yaml" --mode bath
ends 2 null usage --json --mode
ends 1 failed not_flown "$dir/ship.yaml" --mode batch --plot /nowhere/p.svg
ends 1 failed not_flown "$dir/ship.yaml" --mode batch --csv /nowhere/t.csv
ends 1 failed not_flown "$dir/ship.yaml" --mode batch --from-state "$dir/none"
ends 1 failed not_flown "$dir/ship.yaml" --mode lockstep --ready /nowhere/ready
ends 1 failed not_flown "$dir/ship.yaml" --mode realtime --set links.fsw.name=/a/b
[ "$(id -u)" -ne 0 ] && ends 1 failed not_flown "$dir/ship.yaml" --mode realtime --set 'realtime={strict: true}' --set 'links={}'

# flown, diverged, with a file that cannot be written, alone, silent
for mode in batch realtime; do
  ends 0 passed - "$dir/ship.yaml" --mode $mode --duration 300ms --set 'links={}' --set 'expect=[]'
  ends 1 failed diverged "$dir/ship.yaml" --mode $mode --duration 1s --set 'links={}' --set 'simulation.initial.bus.rate=[1e155,2e155,1e155]'
done
ends 1 failed not_written "$dir/ship.yaml" --mode batch --duration 10s --csv /dev/full
for mode in lockstep realtime; do
  ends 3 incomplete no_commands "$dir/ship.yaml" --mode $mode --set links.fsw.wait=100ms --set 'links.fsw.lockstep={timeout: 200 ms, policy: stop}' --duration 300ms
done
"$fsw" "$(url_of shm)" cubesat >/dev/null 2>&1 &
peer=$!
"$ORRERY" run "$dir/ship.yaml" --mode lockstep --set 'links.fsw.lockstep={timeout: 3 s, policy: stop}' --duration 100000s --json >"$dir/out" 2>"$dir/err" &
child=$!
await flown_to $child 10 || fail "it does not fly: $(cat "$dir/err")"
kill -KILL $peer
wait $child
status=$?
[ $status -eq 3 ] || fail "lockstep that stops: exit $status"
python3 "$dir/judge.py" "$dir/out" incomplete ended_early || fail "lockstep that stops: $(cat "$dir/out")"

# signals, none of them ignored as whoever calls this may have done; 16 is STKFLT, whose name not every shell knows
for signal in QUIT USR1 USR2 ALRM XCPU 16 RTMIN+3; do
  for mode in batch lockstep realtime; do
    case $signal-$mode in USR2-realtime | ALRM-realtime | XCPU-realtime | 16-realtime | *-lockstep) [ $signal = QUIT ] || continue ;; esac
    links=links={}
    set --
    [ $mode = batch ] && set -- --csv "$dir/t.csv"
    [ $mode = lockstep ] && links=links.fsw.wait=100s
    # shellcheck disable=SC2086
    (exec env --default-signal "$ORRERY" run "$dir/ship.yaml" --mode $mode --set $links --duration 1000000s --json "$@" >"$dir/out" 2>"$dir/err") &
    child=$!
    case $mode in
    batch) await [ -s "$dir/t.csv.$child.0.new" ] || fail "it does not fly: $(cat "$dir/err")" ;;
    lockstep) await [ -e "/dev/shm$name" ] || fail "no segment: $(cat "$dir/err")" ;;
    realtime) await flies $child || fail "it does not fly: $(cat "$dir/err")" ;;
    esac
    kill -$signal $child
    wait $child
    status=$?
    [ $status -eq 3 ] || fail "$signal, $mode: exit $status: $(cat "$dir/err")"
    python3 "$dir/judge.py" "$dir/out" incomplete ended_early || fail "$signal, $mode: $(cat "$dir/out")"
    [ ! -e "/dev/shm$name" ] && [ ! -e "/dev/shm/orrery.rt.$child" ] || fail "$signal, $mode: a segment stays"
  done
done

# a file that may not grow is one that cannot be written
for mode in batch realtime; do
  {
    (
      ulimit -f 8
      exec "$ORRERY" run "$dir/ship.yaml" --mode $mode --set 'links={}' --set 'expect=[]' --duration 1s --log "$dir/$mode.mcap" --json 2>/dev/null
    )
    echo $? >"$dir/status"
  } | cat >"$dir/out"
  [ "$(cat "$dir/status")" -eq 0 ] || fail "XFSZ, $mode: exit $(cat "$dir/status")"
  python3 "$dir/judge.py" "$dir/out" passed - || fail "XFSZ, $mode: $(cat "$dir/out")"
done
exit 0
