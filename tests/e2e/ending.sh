#!/bin/sh
# How a command ends, as a user sees it: the exit status, the verdict and the reasons of each ending of a run, in each
# mode; and the same table for the other commands. configs/conventions.md, "How a command ends".
. tests/support/script.sh
cat >"$dir/run.yaml" <<END
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 4, inertia: [0.03, 0.03, 0.03, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}
actuators: {wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 1e-5, max_torque: 1e-3}}
sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 100 Hz}}
pointing: {bus: {node: bus.n, target: [0, 0, 0, 1]}}
simulation: {step: 10 ms, duration: 1 s, initial: {bus: {rate: [0, 0, 0.1]}}}
realtime: {core: any, priority: 0, spin: 0 s, phase: 0 s}
links: {fsw: {transport: shm, name: $name, rate: 100 Hz, telemetry: [gyro.rate], commands: [wheel.torque], wait: 60 s}}
END
sed 's/^links:.*/links: {}/' "$dir/run.yaml" >"$dir/free.yaml"
sed 's/duration: 1 s, //' "$dir/free.yaml" >"$dir/endless.yaml"
cat >"$dir/stiff.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}
    arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1], stiffness: 1e7}}
simulation: {step: 1 ms, duration: 5 s, initial: {arm: {q: [0.01]}}}
realtime: {core: any, priority: 0, spin: 0 s, phase: 0 s}
END

# Flight software: answers each frame with zeros; `end=N` ends the run at frame N, `mute` only listens, `wild`
# commands what is no number.
cat >"$dir/peer.py" <<'END'
import sys
sys.path.insert(0, "io/client")
import orrery_client
import time
url, how = sys.argv[1:]
for _ in range(600):
    try:
        link = orrery_client.open(url)
        break
    except OSError:
        time.sleep(0.05)
with link:
    while link.wait(60):
        if how.startswith("end=") and link.frame >= int(how[4:]):
            link.send(end=True)
            break
        if how != "mute":
            link.send({"wheel.torque": float("nan") if how == "wild" else 0.0})
END
peer() { python3 "$dir/peer.py" "shm:$name" "$1" 2>"$dir/peer.err" & }

# What is left in $dir/out and $dir/err is judged: ended EXIT VERDICT REASONS, the reasons with
# commas between, `-` for none.
status=
ended() {
  [ "$status" = "$1" ] || fail "$what: exit $status, not $1: $(cat "$dir/err" "$dir/out")"
  python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
got = ",".join(r["reason"] for r in j["reasons"]) or "-"
assert all(r["what"] and r["do"] for r in j["reasons"]), j["reasons"]
assert (str(j["verdict"]), got) == (sys.argv[2], sys.argv[3]), (j["verdict"], j["reasons"])' "$dir/out" "$2" "$3" >"$dir/why" 2>&1 ||
    fail "$what: not '$2' for $3: $(tail -n 1 "$dir/why")"
}
run() { # FILE MODE ARGUMENTS...
  what=$*
  file=$1 mode=$2
  shift 2
  "$ORRERY" run "$dir/$file.yaml" --mode "$mode" --json "$@" >"$dir/out" 2>"$dir/err"
  status=$?
}
soft='{channel: bus.pointing_error, below: 4 rad}'
hard='{channel: bus.pointing_error, below: 1 arcsec}'
later='{channel: bus.pointing_error, below: 4 rad, after: 2 s}'
beside='{measure: overruns.all, below: 1000000}, {measure: integrate.max, below: 1000 s}'

# --- endings that need no flight software, in each mode ---------------------------------------------------------------
for mode in batch lockstep realtime; do
  run free $mode
  ended 0 passed -
  run free $mode --set "expect=[$soft]"
  ended 0 passed -
  run free $mode --set "expect=[$soft, {channel: bus.pointing_error, below: 4 rad, after: 1 s}]" # the last frame counts
  ended 0 passed -
  run free $mode --set "expect=[$soft, $hard]"
  ended 1 failed not_met
  run free $mode --set "expect=[$soft, $later]"
  ended 3 incomplete begins_after_the_end
  run free $mode --set "expect=[$soft, $later]" --duration 2s
  ended 0 passed -
  run free $mode --set "expect=[$hard, $later]"
  ended 1 failed not_met,begins_after_the_end # 1 outranks 3
  run free $mode --set "expect=[$beside]" # what a mode does not measure does not matter
  ended 0 passed -
  if [ $mode != realtime ]; then
    [ "$(grep -c '"verdict": "not_judged"' "$dir/out")" -eq 2 ] || fail "$what: something was judged: $(cat "$dir/out")"
    run free $mode --set "expect=[$beside, $later]"
    ended 3 incomplete begins_after_the_end
  fi
  run stiff $mode
  ended 1 failed diverged
  grep -q 'error: diverged at ' "$dir/err" || fail "$what says: $(cat "$dir/err")"
  if [ -w /dev/full ]; then
    run free $mode --plot /dev/full
    ended 1 failed not_written
    run free $mode --plot /dev/full --set "expect=[$later]"
    ended 1 failed not_written,begins_after_the_end
  fi
  run free $mode --set sensors.gyro.rate=30Hz
  ended 1 failed not_flown
  run none $mode
  ended 1 failed not_flown
  run free $mode --nonsense 1
  ended 2 None usage
done
if [ -w /dev/full ]; then
  for mode in batch lockstep; do # the table has a writer that is asked at the end
    run free $mode --csv /dev/full
    ended 1 failed not_written
  done
  "$ORRERY" run "$dir/free.yaml" --mode batch --set "expect=[$later]" >/dev/full 2>"$dir/err"
  [ $? -eq 1 ] && grep -q 'cannot write the output' "$dir/err" || fail "an incomplete run that cannot say so is exit 1: $(cat "$dir/err")"
fi
run free batch --csv "$dir/t.csv" --csv-rate often
[ $status -eq 2 ] && [ ! -e "$dir/t.csv" ] || fail "$what: exit $status: $(cat "$dir/err")"

# a state goes on at its own time, and the duration is from there
leg='{channel: bus.pointing_error, below: 4 rad, after: 5 s}'
run free batch --duration 3s --save-state "$dir/state" --set "expect=[$leg]"
ended 3 incomplete begins_after_the_end
grep -q -e '--duration 5s at least' "$dir/out" || fail "$what: what to do: $(cat "$dir/out")"
run free batch --duration 1s --from-state "$dir/state" --set "expect=[$leg]"
ended 3 incomplete begins_after_the_end
grep -q 'from 5 s on, and the run is over at 4 s"' "$dir/out" && grep -q -e '--duration 2s at least' "$dir/out" || fail "$what: what to do: $(cat "$dir/out")"
run free batch --duration 2s --from-state "$dir/state" --set "expect=[$leg]"
ended 0 passed -
run free batch --duration 1s --from-state "$dir/state" --set 'expect=[{channel: bus.pointing_error, below: 4 rad, until: 2 s}]'
ended 0 passed - # the leg before has judged it

# --- a signal before the end ------------------------------------------------------------------------------------------
grows() { [ -e "$1" ] && [ "$(wc -c <"$1")" -gt "${2:-0}" ]; }
signalled() { # SIGNAL FILE MODE ARGUMENTS...: sent once frames were flown
  signal=$1
  shift
  what="$signal: $*"
  file=$1 mode=$2
  shift 2
  rm -f "$dir/t.csv"
  [ "$mode" = realtime ] || set -- --csv "$dir/t.csv" --csv-rate 100Hz "$@"
  "$ORRERY" run "$dir/$file.yaml" --mode "$mode" --json "$@" >"$dir/out" 2>"$dir/err" &
  child=$!
  if [ "$mode" = realtime ]; then await flies $child; else await grows "$dir/t.csv.$child.0.new" 4000; fi || fail "$what: it does not fly: $(cat "$dir/err")"
  kill -"$signal" $child
  wait $child
  status=$?
}
for signal in INT TERM; do
  signalled $signal free batch --duration 100000s
  ended 3 incomplete ended_early
  grep -q '"what": "the run ended after .* s of 100000 s: by a signal' "$dir/out" || fail "$what: the reason: $(cat "$dir/out")"
done
for mode in batch lockstep realtime; do
  signalled INT free $mode --duration 100000s
  ended 3 incomplete ended_early
  # what was to begin within the duration needs no reason of its own; what was broken until then outranks
  signalled INT free $mode --duration 100000s --set "expect=[$soft, {channel: bus.pointing_error, below: 4 rad, after: 100000 s}]"
  ended 3 incomplete ended_early
  signalled INT free $mode --duration 100000s --set "expect=[$hard]"
  ended 1 failed not_met,ended_early
done
# without a duration a signal is the end, and what had not begun by then is missing
signalled INT endless realtime --set "expect=[$soft]"
ended 0 passed -
signalled INT endless realtime --set 'expect=[{channel: bus.pointing_error, below: 4 rad, after: 99999 s}]'
ended 3 incomplete begins_after_the_end
# the hang-up of a terminal, which nohup has ignored, does not end a run
(trap '' HUP && exec "$ORRERY" run "$dir/free.yaml" --mode batch --json --duration 20s --paused >"$dir/out" 2>"$dir/err") &
child=$!
await test -S "$ORRERY_CTL/$child.sock" || fail "the run under nohup does not fly: $(cat "$dir/err")"
kill -HUP $child
"$ORRERY" ctl $child go >/dev/null || fail "a hang-up ends a run under nohup: $(cat "$dir/out" "$dir/err")"
wait $child
status=$? what='a hang-up under nohup'
ended 0 passed -

# --- with flight software ---------------------------------------------------------------------------------------------
for mode in lockstep realtime; do
  peer answers
  run run $mode --duration 8s
  wait
  ended 0 passed -
  peer end=30
  run run $mode --duration 20s
  wait
  ended 3 incomplete ended_early
  grep -q 'the flight software ended the run"' "$dir/out" || fail "$what: who ended it: $(cat "$dir/out")"
  peer end=30
  run run $mode --duration 20s --set "expect=[$hard]"
  wait
  ended 1 failed not_met,ended_early
  # the body turns away, so the frame that is worst is the last: it is judged, whoever ended the run
  python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); assert abs(j["expect"][0]["at_s"] - j["time_s"]) < 1e-9' "$dir/out" ||
    fail "$what: the last frame is not judged: $(cat "$dir/out")"
  for how in mute wild; do # none that the link takes is none
    peer $how
    run run $mode --set 'links.fsw.lockstep={timeout: 10 ms, policy: continue}'
    wait
    ended 3 incomplete no_commands
  done
  run run $mode --set links.fsw.wait=0s --set 'links.fsw.lockstep={timeout: 10 ms, policy: continue}'
  ended 3 incomplete no_commands
  run run $mode --set links.fsw.wait=0s --set 'links.fsw.lockstep={timeout: 10 ms, policy: continue}' --set "expect=[$hard]"
  ended 1 failed not_met,no_commands
  run run $mode --set links.fsw.wait=0s --set links.fsw.commands=[] --set 'links.fsw.lockstep={timeout: 10 ms, policy: continue}'
  ended 0 passed - # it was to bring none
  # the policy of the link ends the run
  run run $mode --set links.fsw.wait=0s --set 'links.fsw.timeout={frames: 3, policy: stop}' --set 'links.fsw.lockstep={timeout: 10 ms, policy: stop}'
  ended 3 incomplete ended_early,no_commands
  # a signal before the first frame
  : >"$dir/err" # what is looked for below stands there from the run before
  "$ORRERY" run "$dir/run.yaml" --mode $mode --json >"$dir/out" 2>"$dir/err" &
  child=$!
  await grep -q 'waits for flight software' "$dir/err" || fail "$mode: it does not wait: $(cat "$dir/err")"
  kill -INT $child
  wait $child
  status=$? what="$mode, a signal before the first frame"
  ended 3 incomplete ended_early,no_commands
  grep -q '"frames": 0' "$dir/out" || fail "$what: frames: $(cat "$dir/out")"
done
# an overrun ends the run where the file asks for that
run free realtime --step 1ms --set sensors.gyro.rate=1kHz --set simulation.substeps=1000 --set realtime.overrun.policy=stop
ended 3 incomplete ended_early
run free realtime --step 1ms --set sensors.gyro.rate=1kHz --set simulation.substeps=1000 --set realtime.overrun.policy=stop --set "expect=[{measure: overruns.all, is: 0}]"
ended 1 failed not_met,ended_early

# --- the same for people ----------------------------------------------------------------------------------------------
told() { # PATTERN...: lines of the summary, one after the other at its end
  for line in "$@"; do
    grep -q -e "$line" "$dir/text" || fail "the summary does not say '$line': $(cat "$dir/text")"
  done
}
"$ORRERY" run "$dir/free.yaml" --mode batch --set "expect=[$soft, $later]" >"$dir/text" 2>&1
told '^verdict     incomplete: 1 met, 0 not met, 1 not judged$' \
  '^            why: bus.pointing_error is expected from 2 s on, and the run is over at 1 s$' '^            do:  fly longer: --duration 2s at least'
"$ORRERY" run "$dir/run.yaml" --mode realtime --set links.fsw.wait=0s >"$dir/text" 2>&1
told '^verdict     incomplete: the file expects nothing$' "^            why: link 'fsw' got no command$" "^            do:  start flight software at shm:$name "
"$ORRERY" run "$dir/free.yaml" --mode batch --set "expect=[$soft]" >"$dir/text" 2>&1
told '^verdict     passed: 1 met, 0 not met, 0 not judged$'
grep -q 'why:' "$dir/text" && fail "a run that passed has a reason: $(cat "$dir/text")"
"$ORRERY" run "$dir/free.yaml" --mode batch --set "expect=[$hard]" >"$dir/text" 2>&1
told '^verdict     failed: 0 met, 1 not met, 0 not judged$'

# --- the other commands -----------------------------------------------------------------------------------------------
printf 'state: {}\n' >"$dir/case.yaml"
printf 'orrery: 2\n' >"$dir/wrong.yaml"
while read -r want arguments; do
  arguments=$(printf '%s' "$arguments" | sed "s|@|$dir/|g")
  # shellcheck disable=SC2086
  "$ORRERY" $arguments >"$dir/out" 2>"$dir/err"
  status=$?
  [ $status -eq "$want" ] || fail "orrery $arguments: exit $status, not $want: $(cat "$dir/out" "$dir/err")"
  [ "$want" -eq 0 ] || [ -s "$dir/err" ] || fail "orrery $arguments says nothing on standard error"
done <<'END'
0 check @run.yaml
1 check @run.yaml @wrong.yaml
1 check @none.yaml
2 check
2 check --nonsense @run.yaml
0 eval @free.yaml @case.yaml
1 eval @wrong.yaml @case.yaml
1 eval @free.yaml @none.yaml
2 eval @free.yaml
2 eval @free.yaml @case.yaml --method none
0 icd @run.yaml
1 icd @free.yaml
1 icd @wrong.yaml
2 icd
2 icd @run.yaml --format none
1 doctor @wrong.yaml --seconds 0
2 doctor --seconds never
1 bench --plant @wrong.yaml --quick
2 bench --plant --nonsense
2 bench --nonsense
1 top --once 999999999
2 top --nonsense
2 run @free.yaml
2 run @free.yaml --mode none
1 run @wrong.yaml --mode batch
2 nonsense
END
for command in check eval run icd bench doctor top; do
  "$ORRERY" help $command | grep -q '^Exit status' || fail "help $command does not state the exit statuses"
done
[ "$("$ORRERY" help | grep -c '^  [0-3]  ')" -eq 4 ] || fail "help does not state the four exit statuses"
exit 0
