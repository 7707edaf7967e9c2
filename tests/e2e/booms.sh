#!/bin/sh
# configs/wire-booms.yaml in batch, in lockstep and in real time: one state_hash, with flight software that leaves the jet shut.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/peer.py" <<'P'
import sys
sys.path[:0] = ["io/client"]
import orrery_client
with orrery_client.open(sys.argv[1]) as link:
    while link.wait():
        link.send({"jet.on_time": 0})
P
fly() { # MODE ARGUMENTS...
  mode=$1
  shift
  "$ORRERY" run configs/wire-booms.yaml --mode "$mode" --no-log --json "$@" >"$dir/$mode" 2>"$dir/err"
}
fly batch || fail "batch: $(cat "$dir/err" "$dir/batch")"
fly batch --duration 2s || fail "batch, 2 s: $(cat "$dir/err")"
link="links={fsw: {transport: shm, name: $name, rate: 10 Hz, telemetry: [gyro.rate], commands: [jet.on_time], wait: 10 s}}"
for mode in lockstep realtime; do
  python3 -I -S -B "$dir/peer.py" "shm:$name" >"$dir/peer" 2>&1 &
  peer=$!
  fly $mode --duration 2s --set "$link" || fail "$mode: $(cat "$dir/err" "$dir/$mode")"
  wait $peer || fail "the peer: $(cat "$dir/peer")"
  [ "$(grep state_hash "$dir/$mode")" = "$(grep state_hash "$dir/batch")" ] || fail "$mode has other bits than batch"
done
exit 0
