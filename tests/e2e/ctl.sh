#!/bin/sh
# `orrery ctl` and orrery_ctl.py: a run is paused, stepped, commanded and stopped from outside, in batch, lockstep and
# real time; what they command stands in the log with its frame and flies again; who may speak; five clients at once
# that are killed at random cost the executive nothing.
#
#   tests/e2e/ctl.sh      SECONDS (4) of the five clients, SEED (1)
. tests/support/script.sh
file=configs/procedures/wheel-failure.yaml
PYTHONPATH=io/control
export PYTHONPATH
ctl() { "$ORRERY" ctl "$@"; }
identical() { # ARGUMENTS: of replay
  "$ORRERY" replay "$@" >"$dir/out" 2>"$dir/err" || fail "replay $*: $(cat "$dir/out" "$dir/err")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay $*: $(cat "$dir/out")"
}
says() { # FILE PATTERN
  grep -q -- "$2" "$1" || fail "no '$2' in: $(cat "$1")"
}
listens() { [ -S "$ORRERY_CTL/$1.sock" ]; } # PID

# --- nobody there, and command lines that are wrong
ctl status >"$dir/out" 2>"$dir/err" && fail "a run that is none answers"
says "$dir/err" 'no run of yours is going on'
for words in '' 'destroy' '--loud stop' 'pauze'; do
  # shellcheck disable=SC2086
  ctl $words >"$dir/out" 2>"$dir/err"
  [ $? -eq 2 ] || fail "'ctl $words' is no wrong command line: $(cat "$dir/out" "$dir/err")"
done
"$ORRERY" run configs/cubesat.yaml --mode realtime --paused >"$dir/out" 2>&1
[ $? -eq 2 ] || fail "--paused in real time: $(cat "$dir/out")"

# --- a run that is not in real time has no timing to watch
"$ORRERY" top --once 1 >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] || fail "a run that is none is watched"
says "$dir/err" 'there is no such run in real time'

# --- batch: from a script, frame by frame
"$ORRERY" run configs/cubesat.yaml --mode batch --paused --duration 20s --sequence $file --log "$dir/batch.mcap" --set 'expect=[]' >"$dir/batch" 2>"$dir/err" &
run=$!
await listens $run || fail "no socket: $(cat "$dir/err")"
[ "$(stat -c %a "$ORRERY_CTL")" = 700 ] && [ "$(stat -c %a "$ORRERY_CTL/$run.sock")" = 600 ] || fail "who may speak: $(ls -la "$ORRERY_CTL")"
ctl status >"$dir/out" || fail "status"
says "$dir/out" "pid $run  batch"
ctl --json $run step 100 >"$dir/out" || fail "step: $(cat "$dir/out")"
ctl $run get gyro.rate --json >"$dir/json" && python3 -c 'import json,sys; json.load(sys.stdin)' <"$dir/json" || fail "--json behind the channels: $(cat "$dir/json")"
ctl $run get 'wheel_x.speed,gyro.rate.y,star.attitude' >"$dir/got" || fail "get"
says "$dir/got" '^wheel_x.speed  *[-0-9.e]* rad/s$'
says "$dir/got" '^gyro.rate.y  *[-0-9.e]* rad/s$'
says "$dir/got" '^star.attitude  *[-0-9.e]* [-0-9.e]* [-0-9.e]* [-0-9.e]*$'
ctl $run get 'energy.*' >"$dir/json" 2>&1 && fail "channels that are not computed: $(cat "$dir/json")"
says "$dir/json" "'energy.kinetic', which 'energy.\*' fits, is not computed in this run"
[ "$(cat "$dir/out")" = '{"ok": true, "frame": 0, "time_s": 0, "stands_at": 100}' ] || fail "step: $(cat "$dir/out")"
python3 - $run <<'P' || fail "orrery_ctl.py"
import sys, orrery_ctl
pid = int(sys.argv[1])
assert orrery_ctl.runs() == [pid]
with orrery_ctl.open() as run, orrery_ctl.open(pid) as other:
    assert run.status()["frame"] == 100 and other.status()["paused"]
    rate = run.get("gyro.rate")["gyro.rate"]
    assert len(rate) == 3 and run.get("gyro.rate.y,wheel_*.speed")["gyro.rate.y"] == rate[1]
    assert run.step(5)["stands_at"] == 105
    answer = run.set("wheel_x.torque", "0.5 mN m")
    assert answer["frame"] == 105 and answer["commanded_by"] == "fsw", answer
    assert answer["note"] == "link 'fsw' commands it too, every 0.1 s: what was set lasts until the link's next command", answer
    assert other.fault("bearing") == {"ok": True, "frame": 105, "time_s": 1.05}
    assert run.step()["stands_at"] == 106
    assert run.get("wheel_x.torque") == {"wheel_x.torque": 0.0005} and run.frame == 106
    for wrong in ("set wheel_x.torque 1 deg", "fault berring", "get moon.*", "step 0", "x" * 1100):
        try:
            orrery_ctl.open(pid).ask(wrong)
            sys.exit(f"{wrong} passes")
        except orrery_ctl.Refused as why:
            print(why)
    assert run.mark("half way")["frame"] == 106 and run.step(394)["stands_at"] == 500
    assert run.clear()["ended"] == 1 and other.clear("bearing")["ended"] == 0
    assert run.go()["frame"] == 500
P
wait $run
[ $? -le 1 ] || fail "batch: $(cat "$dir/batch" "$dir/err")"
listens $run && fail "the socket is left"
says "$dir/batch" '^ctl         set wheel_x.torque 0.5 mN m at 1.05 s$'
says "$dir/batch" '^fault       bearing begins at 1.05 s$'
says "$dir/batch" '^fault       bearing ends at 5 s$'
identical "$dir/batch.mcap"
identical "$dir/batch.mcap" --from 15s
# going on from a moment within the fault: the bits of a run that was commanded the same, and flew through
"$ORRERY" run --from "$dir/batch.mcap@3s" --mode batch --duration 1s --set 'expect=[]' >"$dir/going" 2>&1
"$ORRERY" run configs/cubesat.yaml --mode batch --paused --duration 4s --sequence $file --set 'expect=[]' >"$dir/through" 2>&1 &
run=$!
await listens $run || fail "no socket"
ctl $run step 105 >"$dir/out" && ctl $run set wheel_x.torque 0.5 mN m >>"$dir/out" && ctl $run fault bearing >>"$dir/out" && ctl $run go >>"$dir/out" || fail "$(cat "$dir/out")"
says "$dir/out" "^set at frame 105, t = 1.05 s; link 'fsw' commands it too, every 0.1 s: what was set lasts until the link's next command\$"
wait $run
[ "$(hash_of "$dir/going")" = "$(hash_of "$dir/through")" ] || fail "going on has other bits: $(cat "$dir/going" "$dir/through")"
"$ORRERY" log cat "$dir/batch.mcap" --topics /orrery/event >"$dir/events" || fail "no events"
says "$dir/events" 'frame=105 kind="ctl" name="set" text="wheel_x.torque 0.5 mN m"'
says "$dir/events" 'frame=106 kind="ctl" name="mark" text="half way"'
# without the commands the bits are others, so that replay had them to do again
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 20s --sequence $file --set 'expect=[]' >"$dir/plain" 2>&1
[ "$(hash_of "$dir/plain")" != "$(hash_of "$dir/batch")" ] || fail "the commands did nothing"
# to be paused, stepped, looked at and marked changes no bit
"$ORRERY" run configs/cubesat.yaml --mode batch --paused --duration 20s --sequence $file --set 'expect=[]' >"$dir/again" 2>&1 &
run=$!
await listens $run || fail "no socket"
ctl $run step 7 >"$dir/out" && ctl $run mark here >>"$dir/out" && ctl $run get '*' >>"$dir/out" && ctl $run go >>"$dir/out" || fail "$(cat "$dir/out")"
wait $run
[ "$(hash_of "$dir/plain")" = "$(hash_of "$dir/again")" ] || fail "being looked at changes bits"

# --- lockstep: flight software waits with the run
over shm configs/cubesat.yaml >"$dir/ship.yaml"
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 4s --set 'expect=[]' >"$dir/plain" 2>&1 || fail "$(cat "$dir/plain")"
"$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
peer=$!
"$ORRERY" run "$dir/ship.yaml" --mode lockstep --paused --duration 4s --set 'expect=[]' --log "$dir/lockstep.mcap" >"$dir/lockstep" 2>"$dir/err" &
run=$!
await listens $run || fail "no socket: $(cat "$dir/err")"
ctl $run step 3 >"$dir/out" 2>&1 && ctl $run step 40 >>"$dir/out" 2>&1 || fail "lockstep: $(cat "$dir/out" "$dir/err")"
says "$dir/out" 'stands at frame 43'
ctl $run mark here >/dev/null && ctl $run go >/dev/null || fail "lockstep does not go on"
wait $run || fail "lockstep: $(cat "$dir/lockstep" "$dir/err")"
wait $peer
[ "$(hash_of "$dir/plain")" = "$(hash_of "$dir/lockstep")" ] || fail "lockstep that was paused has other bits"
identical "$dir/lockstep.mcap"

# commanded alike, batch and lockstep have the same bits, and both logs fly again
for mode in batch lockstep; do
  if [ $mode = lockstep ]; then
    "$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
    peer=$!
  fi
  "$ORRERY" run "$dir/ship.yaml" --mode $mode --paused --duration 4s --set 'expect=[]' --set 'faults=[{name: dull, channel: gyro.rate, scale: 0.5}]' --log "$dir/$mode.mcap" \
    >"$dir/$mode" 2>"$dir/err" &
  run=$!
  await listens $run || fail "no socket: $(cat "$dir/err")"
  for words in 'step 43' 'set wheel_x.torque 0.5 mN m' 'fault dull' 'step 40' 'get wheel_x.torque' 'clear' 'mark over' 'go'; do
    # shellcheck disable=SC2086
    ctl $run $words >"$dir/out" 2>&1 || fail "$mode, $words: $(cat "$dir/out" "$dir/err")"
  done
  wait $run || fail "$mode, commanded: $(cat "$dir/$mode" "$dir/err")"
  [ $mode = batch ] || wait $peer
  says "$dir/$mode" '^fault       dull begins at 0.43 s$'
  says "$dir/$mode" '^fault       dull ends at 0.83 s$'
  identical "$dir/$mode.mcap"
done
[ "$(hash_of "$dir/batch")" = "$(hash_of "$dir/lockstep")" ] || fail "commanded in lockstep: $(hash_of "$dir/lockstep"), in batch: $(hash_of "$dir/batch")"
[ "$(hash_of "$dir/batch")" != "$(hash_of "$dir/plain")" ] || fail "the commands did nothing"

# --- stop ends a run with its summary, also one that stands
"$ORRERY" run configs/cubesat.yaml --mode batch --paused >"$dir/out" 2>&1 &
run=$!
await listens $run || fail "no socket"
ctl $run stop >/dev/null || fail "stop"
wait $run
[ $? -eq 3 ] || fail "stopped: $(cat "$dir/out")"
says "$dir/out" 'ended       by orrery ctl stop'
"$ORRERY" run configs/cubesat.yaml --mode batch --paused >"$dir/out" 2>&1 &
run=$!
await listens $run || fail "no socket"
kill -TERM $run
wait $run
[ $? -eq 3 ] || fail "a signal to one that stands: $(cat "$dir/out")"

# --- who may not speak: a folder of others is refused, and the run flies without; an empty name is none
mkdir -m 777 "$dir/open" && chmod 777 "$dir/open"
ORRERY_CTL=$dir/open "$ORRERY" run configs/cubesat.yaml --mode batch --duration 1s >"$dir/out" 2>"$dir/err" || fail "without a socket: $(cat "$dir/err")"
says "$dir/err" 'the folder must be yours, with the mode 0700; the run flies without'
ORRERY_CTL='' "$ORRERY" run configs/cubesat.yaml --mode batch --duration 1s >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/err" ] || fail "no socket asked for: $(cat "$dir/err")"
# what a killed run leaves is swept
"$ORRERY" run configs/cubesat.yaml --mode batch --paused >"$dir/out" 2>&1 &
run=$!
await listens $run || fail "no socket"
{ kill -KILL $run && wait $run; } 2>/dev/null
ctl $run status >"$dir/out" 2>"$dir/err" && fail "a dead run answers"
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 1s >"$dir/out" 2>&1
listens $run && fail "the socket of a dead run stays"

# --- real time: five clients at once, killed at random
cat >"$dir/storm.yaml" <<'Y'
faults:
  - {name: stuck, channel: wheel_x.torque, stuck_at: 0.1 mN m}
sequence: [{mark: begin}, {wait: 300 ms}, {until: wheel_x.speed above 5000 rpm, timeout: 1000 s}]
Y
"$ORRERY" run "$dir/ship.yaml" --mode realtime --duration 1000s --sequence "$dir/storm.yaml" --set 'expect=[]' --set 'links={}' --set realtime.spin=0s --set realtime.phase=0s \
  --set 'actuators.push={kind: wrench, node: bus.imu, frame: body, max_force: 1 N}' \
  --set realtime.core=any --log "$dir/storm.mcap" --json >"$dir/storm.json" 2>"$dir/err" &
run=$!
await listens $run && await flies $run || fail "real time: $(cat "$dir/err")"
waits() { "$ORRERY" top --once $run >"$dir/top" 2>&1 && grep -q '^step 3 until wheel_x.speed above 5000 rpm  since 0.3 s$' "$dir/top"; }
await waits || fail "top does not tell the step: $(cat "$dir/top")"
"$ORRERY" top --json $run | python3 -c 'import json,sys; j=json.load(sys.stdin); sys.exit(not (j["step"].startswith("3 until") and abs(j["step_since_s"] - 0.3) < 1e-9))' || fail "top --json"
ctl $run status | grep -q '^step 3 until wheel_x.speed above 5000 rpm  since 0.3 s$' || fail "status tells no step"
ctl $run pause >"$dir/out" 2>&1 && fail "real time was paused"
says "$dir/out" 'a run in real time goes by the clock'
: >"$dir/answers"
python3 tests/support/ctl_clients.py storm $run "${SECONDS_OF_STORM:-4}" "${SEED:-1}" "$dir/answers" || fail "the clients"
ctl $run stop >/dev/null || fail "stop in real time"
wait $run
[ $? -eq 3 ] || fail "real time: $(cat "$dir/storm.json" "$dir/err")"
python3 tests/support/ctl_clients.py check "$dir/storm.mcap" "$dir/answers" || fail "the log"
python3 - "$dir/storm.json" <<'P' || fail "the loop: $(cat "$dir/storm.json")"
import json, sys
j = json.load(open(sys.argv[1]))
c = j["timing"]["counts"]
print({k: c[k] for k in ("frames", "minor_faults", "major_faults", "voluntary_switches")}, "lacks", j["lacks"])
sys.exit(0 if j["lacks"] or c["minor_faults"] == c["major_faults"] == c["voluntary_switches"] == 0 else 1)
P
identical "$dir/storm.mcap"
