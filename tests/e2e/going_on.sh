#!/bin/sh
# A run goes on from any moment of a log: with the bits that it had where nothing is another; with other
# parameters, scripts, links and flight software; in every mode, and flight software outside is told. What cannot
# be gone on from is refused.
. tests/support/script.sh
cubesat=configs/cubesat.yaml
fly() { "$ORRERY" run "$@" >"$dir/out" 2>"$dir/err" || fail "run $*: $(cat "$dir/out" "$dir/err")"; }
free="--set realtime.priority=0 --set realtime.core=any"

# batch: the same bits from a checkpoint, from between two, from the first frame; also from a log that is
# compressed, cut, or went on itself
"$ORRERY" run $cubesat --mode batch --duration 20s --log "$dir/a.mcap" --set 'record={checkpoint: 4 s}' >"$dir/whole" || fail "the whole run"
hash=$(hash_of "$dir/whole")
"$ORRERY" run $cubesat --mode batch --duration 20s --log "$dir/z.mcap" --set 'record={checkpoint: 4 s, compression: zstd}' >/dev/null || fail "zstd"
same() { # LOG T DURATION
  fly --from "$dir/$1.mcap@$2" --mode batch --duration "$3" --log "$dir/on.mcap"
  [ "$(hash_of "$dir/out")" = "$hash" ] || fail "from $1 at $2: other bits: $(cat "$dir/out")"
  grep -q "^restored    from $dir/$1.mcap at t = ${2%s} s, frame " "$dir/out" || fail "from $1 at $2: $(cat "$dir/out")"
  "$ORRERY" replay "$dir/on.mcap" >"$dir/replay" || fail "from $1 at $2: $(cat "$dir/replay")"
  mv "$dir/on.mcap" "$dir/again.mcap"
}
same a 8s 12s
same a 9.5s 10.5s
same again 15s 5s
same z 9.57s 10.43s
same a 0s 20s

# a procedure is read from the disk, also by its name alone, and flies again; what begins when is told
# from where the run begins
cat >"$dir/leg.yaml" <<'Y'
sequence:
  - {wait: 100 ms}
  - {mark: leg}
expect:
  - {channel: bus.pointing_error, below: 4 rad, until: 2 s}
  - {eventually: time above 90 s for 3 s, within: 10 s}
  - {eventually: time above 14 s, within: 17 s}
faults:
  - {name: within, channel: gyro.rate, at: 11 s, for: 1 s, bias: 0.1 deg/s}
Y
(cd "$dir" && "$ORRERY" run --from a.mcap@10s --mode batch --duration 8s --sequence leg.yaml --log leg.mcap >leg 2>err) || fail "a procedure beside a log: $(cat "$dir/leg" "$dir/err")"
[ ! -s "$dir/err" ] || fail "there is nothing to warn of: $(cat "$dir/err")"
for line in 'step .*mark leg at 10.1 s' 'fault .*within begins at 11 s' 'not judged .*its time was over when the run began' \
  'not judged .*its time was nearly over when the run began' 'met .*time above 14 s' 'verdict .*passed: 1 met, 0 not met, 2 not judged'; do
  grep -q "^$line" "$dir/leg" || fail "no '$line': $(cat "$dir/leg")"
done
"$ORRERY" replay "$dir/leg.mcap" >"$dir/replay" || fail "a procedure beside a log: $(cat "$dir/replay")"
(cd "$dir" && "$ORRERY" run --from a.mcap@2s --mode batch --duration 8s --sequence leg.yaml >leg 2>err)
grep -q 'the run is over at 10 s, so this fault never begins' "$dir/err" || fail "no warning: $(cat "$dir/err")"
grep -q "^NOT MET .*time above 90 s for 3 s .*never" "$dir/leg" && grep -q '^            why: time above 14 s is expected by 17 s, and the run is over at 10 s' "$dir/leg" || fail "within its time it is judged: $(cat "$dir/leg")"
head -c $(($(stat -c %s "$dir/a.mcap") * 3 / 4)) "$dir/a.mcap" >"$dir/cut.mcap"
same cut 9.5s 10.5s
fly --from "$dir/a.mcap@9.5s" $cubesat --mode batch --duration 10.5s
[ "$(hash_of "$dir/out")" = "$hash" ] || fail "with a run file of its own: $(cat "$dir/out")"
fly --from "$dir/a.mcap@5s" --mode batch --duration 4.5s --save-state "$dir/state"
fly $cubesat --from-state "$dir/state" --mode batch --duration 10.5s
[ "$(hash_of "$dir/out")" = "$hash" ] || fail "by way of a saved state: $(cat "$dir/out")"

# flexible, and in loops: what these remember is in the checkpoint, too
for config in wings-slew deployment; do
  "$ORRERY" run configs/$config.yaml --mode batch --duration 3s --set 'expect=[]' --log "$dir/$config.mcap" --set 'record={checkpoint: 1 s}' >"$dir/whole" || fail "$config: $(cat "$dir/whole")"
  fly --from "$dir/$config.mcap@1.5s" --mode batch --duration 1.5s --set 'expect=[]'
  [ "$(hash_of "$dir/out")" = "$(hash_of "$dir/whole")" ] || fail "$config: other bits: $(cat "$dir/out")"
done

# other parameters, scripts and links take effect from there on, and not before
other() { # SETTING: another end than that of the logged run; says which
  fly --from "$dir/a.mcap@9.5s" --mode batch --duration 10.5s --set "$1" --log "$dir/other.mcap" --set 'record={channels: [bus.rate]}'
  hash_of "$dir/out"
  "$ORRERY" log cat "$dir/other.mcap" --topics /bus --to 9.5s >"$dir/first"
  "$ORRERY" log cat "$dir/plain.mcap" --topics /bus --from 9.5s --to 9.5s | cmp -s - "$dir/first" || fail "$1: another first frame: $(cat "$dir/first")"
  rm "$dir/other.mcap"
}
fly $cubesat --mode batch --duration 20s --log "$dir/plain.mcap" --set 'record={channels: [bus.rate]}'
for setting in spacecraft.bodies.bus.mass=8 'spacecraft.bodies.bus.inertia=[0.05, 0.05, 0.01, 0, 0, 0]' 'links={}' links.fsw.damping.0=0.03 'commands=[{channel: wheel_x.torque, at: 12.05 s, value: 0.0001}]'; do
  this=$(other "$setting") || fail "$this"
  [ "$setting" = spacecraft.bodies.bus.mass=8 ] || [ "$this" != "$hash" ] || fail "$setting changes nothing"
done

# Flight software outside: new here, and told. The law of the cubesat remembers nothing, so it has the same bits in
# every mode, over every transport, and linked in.
for t in shm udp; do over $t $cubesat | sed 's|orrery: 1|&\nrecord: {checkpoint: 1 s}|' >"$dir/$t.yaml"; done
"$fsw" "$(url_of shm)" cubesat 2>"$dir/fsw" &
peer=$!
"$ORRERY" run "$dir/shm.yaml" --mode lockstep --duration 4s --log "$dir/lockstep.mcap" >"$dir/out" 2>&1 || fail "lockstep: $(cat "$dir/out")"
wait $peer
grep -q 'saved state' "$dir/fsw" && fail "a run from frame 0 says that it was restored"
fly --from "$dir/lockstep.mcap@2.35s" --mode batch --duration 6s
[ "$(grep -c '^restored' "$dir/out")" -eq 1 ] || fail "batch from a log of lockstep: $(cat "$dir/out")"
wanted=$(hash_of "$dir/out")
for t in shm udp; do
  "$fsw" "$(url_of $t)" cubesat 2>"$dir/fsw" &
  peer=$!
  fly --from "$dir/lockstep.mcap@2.35s" "$dir/$t.yaml" --mode lockstep --duration 6s
  wait $peer
  grep -qx 'fsw: the run goes on from a saved state, at frame 240' "$dir/fsw" || fail "$t: flight software is not told: $(cat "$dir/fsw")"
  [ "$(hash_of "$dir/out")" = "$wanted" ] || fail "$t: other bits than in batch: $(cat "$dir/out")"
  grep -q '60 frames out, 59 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$t: $(cat "$dir/out")"
done
"$fsw" "$(url_of shm)" cubesat 2>"$dir/fsw" &
peer=$!
# shellcheck disable=SC2086
fly --from "$dir/lockstep.mcap@2s" "$dir/shm.yaml" --mode realtime --duration 6s --log "$dir/realtime.mcap" --save-state "$dir/state" $free
wait $peer
grep -q 'saved state, at frame 200' "$dir/fsw" || fail "real time: flight software is not told: $(cat "$dir/fsw")"
"$ORRERY" replay "$dir/realtime.mcap" >"$dir/replay" || fail "the log of a restored run in real time: $(cat "$dir/replay")"
"$fsw" "$(url_of shm)" cubesat 2>"$dir/fsw" &
peer=$!
fly "$dir/shm.yaml" --from-state "$dir/state" --mode lockstep --duration 1s
wait $peer
grep -q 'saved state, at frame 800' "$dir/fsw" || fail "a saved state: flight software is not told: $(cat "$dir/fsw")"
if command -v python3 >/dev/null; then
  PYTHONPATH=io/client python3 -I -c 'import sys; sys.path.insert(0, "io/client"); import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    while link.wait(60):
        assert link.flags & orrery_client.RESTORED, link.flags
        link.send({})' "$(url_of udp)" 2>"$dir/fsw" &
  peer=$!
  fly --from "$dir/lockstep.mcap@2s" "$dir/udp.yaml" --mode lockstep --duration 1s
  wait $peer || fail "Python is not told: $(cat "$dir/fsw")"
fi

# what cannot be gone on from
refused() { # PATTERN ARGUMENTS
  pattern=$1
  shift
  "$ORRERY" run --mode batch --duration 1s "$@" >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q "$pattern" "$dir/err" || fail "$*: not '$pattern': $(cat "$dir/out" "$dir/err")"
}
refused "at 30 s: it tells nothing beyond 20 s" --from "$dir/a.mcap@30s"
refused "cannot read '$dir/none'" --from "$dir/none@1s"
refused "is no MCAP file" --from "$cubesat@1s"
refused "first checkpoint is at 9.5 s" --from "$dir/again.mcap@1s"
refused "another step" --from "$dir/a.mcap@9.5s" --step 5ms
refused "another spacecraft" --from "$dir/a.mcap@9.5s" configs/wings-slew.yaml --step 10ms --set 'expect=[]'
refused "another spacecraft" --from "$dir/a.mcap@9.5s" --set 'sensors.more={kind: rate_gyro, node: bus.imu, rate: 10 Hz}'
for wrong in "--from $dir/a.mcap" "--from @1s" "--from $dir/a.mcap@soon" "--from $dir/a.mcap@1s --from-state $dir/state" "--from"; do
  # shellcheck disable=SC2086
  "$ORRERY" run --mode batch $wrong >/dev/null 2>&1
  [ $? -eq 2 ] || fail "a wrong command line was taken: $wrong"
done
exit 0
