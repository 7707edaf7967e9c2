#!/bin/sh
# The upper stage that spins and nutates with the slosh of its tanks, in lockstep: it has nothing to command,
# so a wrench is put on it, and flight software that answers each frame with zeros. It meets what its file
# expects, with the bits of batch.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
wrench='actuators.push={kind: wrench, node: stage.imu}'
"$ORRERY" run configs/spinner.yaml --mode batch --no-log --set "$wrench" >"$dir/batch" 2>&1 || fail "in batch: $(cat "$dir/batch")"
PYTHONPATH=io/client python3 -B - "shm:$name" >"$dir/fsw" 2>&1 <<'P' &
import sys, orrery_client
with orrery_client.open(sys.argv[1], wait=60) as link:
    while link.wait(60):
        link.send()
P
peer=$!
"$ORRERY" run configs/spinner.yaml --mode lockstep --no-log --set "$wrench" \
  --set "links={fsw: {transport: shm, name: $name, rate: 10 Hz, telemetry: [gyro.rate], commands: ['push.*'], wait: 60 s}}" >"$dir/out" 2>&1 ||
  fail "in lockstep: $(cat "$dir/out" "$dir/fsw")"
wait $peer || fail "the flight software: $(cat "$dir/fsw" "$dir/out")"
grep -q '2400 frames out, 2399 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "frames: $(cat "$dir/out")"
grep -q '^verdict     passed: 4 met, 0 not met, 0 not judged' "$dir/out" || fail "the verdict: $(cat "$dir/out")"
[ "$(hash_of "$dir/out")" = "$(hash_of "$dir/batch")" ] || fail "other bits than in batch: $(hash_of "$dir/out" "$dir/batch")"
exit 0
