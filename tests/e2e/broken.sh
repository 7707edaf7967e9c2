#!/bin/sh
# Faults in the three modes: their logs fly again to the same bits, from any checkpoint; a fault is in the log and the
# summary with its frame; batch and lockstep have one hash where the same flight software answers; a run without
# faults has the hash it had.
. tests/support/script.sh

faults='faults=[{name: shake, channel: gyro.rate, at: 2 s, for: 3 s, noise: 0.1 deg/s},
  {channel: wheel_x.torque, when: "norm(gyro.rate) above 0.5 deg/s for 100 ms", for: 2 s, delay: 200 ms},
  {channel: wheel_y.torque, at: 3 s, drop: 0.5}, {channel: star.attitude, at: 1 s, delay: 300 ms},
  {channel: wheel_x.speed, at: 2 s, bit_flip: any, chance: 0.1},
  {channel: wheel_y.speed, at: 1 s, bias: 1 rpm, intermittent: {every: 200 ms, chance: 0.5}},
  {device: wheel_z, at: 4 s, seized: true}, {device: star, at: 5 s, for: 1 s, dead: true}]'

identical() { # ARGUMENTS: of replay
  "$ORRERY" replay "$@" >"$dir/out" 2>"$dir/err" || fail "replay $*: $(cat "$dir/out" "$dir/err")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay $*: $(cat "$dir/out")"
}

"$ORRERY" run configs/cubesat.yaml --mode batch --duration 8s --log "$dir/batch.mcap" --set 'record={channels: ["*"], checkpoint: 1 s}' --set "$faults" >"$dir/run" || fail "$(cat "$dir/run")"
identical "$dir/batch.mcap"
identical "$dir/batch.mcap" --from 3500ms
grep -qx 'fault       shake begins at 2 s' "$dir/run" || fail "the summary does not tell of it: $(cat "$dir/run")"
"$ORRERY" log cat "$dir/batch.mcap" --topics /orrery/event >"$dir/events" || fail "no events"
grep -q 'frame=200 kind="fault" name="shake" text="begins"' "$dir/events" || fail "not in the log: $(cat "$dir/events")"
grep -q 'frame=500 kind="fault" name="shake" text="ends"' "$dir/events" || fail "its end is not in the log: $(cat "$dir/events")"
first=$(hash_of "$dir/run")
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 8s --set "$faults" --seed 2 >"$dir/run" || fail "$(cat "$dir/run")"
[ "$(hash_of "$dir/run")" != "$first" ] || fail "another seed, the same flight"

for mode in lockstep lockstep realtime; do
  over shm configs/cubesat.yaml | sed "s|orrery: 1|&\nrecord: {checkpoint: 500 ms}|" >"$dir/ship.yaml"
  "$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
  peer=$!
  rm -f "$dir/$mode.mcap"
  "$ORRERY" run "$dir/ship.yaml" --mode $mode --duration 6s --log "$dir/$mode.mcap" --set "$faults" --set realtime.priority=0 --set realtime.core=any >"$dir/run" 2>&1
  wait $peer
  [ -s "$dir/$mode.mcap" ] || fail "$mode: $(cat "$dir/run")"
  identical "$dir/$mode.mcap"
  identical "$dir/$mode.mcap" --from 4s
  [ $mode = realtime ] || hash_of "$dir/run" >>"$dir/hashes"
done
[ "$(sort -u "$dir/hashes" | wc -l)" -eq 1 ] || fail "lockstep twice: $(cat "$dir/hashes")"
