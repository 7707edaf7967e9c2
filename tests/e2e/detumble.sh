#!/bin/sh
# The cubesat that stops its tumbling on magnetorquers and points on wheels: examples/detumble.py flies
# configs/detumble.yaml in lockstep to what the file expects, every frame answered. With rods that give nothing it does
# not, so it is the rods that stop it.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
fly() { # ARGUMENTS...: the summary into $dir/out
  PYTHONPATH=io/client python3 -B examples/detumble.py "shm:$name" 2>"$dir/fsw" &
  peer=$!
  "$ORRERY" run configs/detumble.yaml --mode lockstep --no-log --set links.fsw.name="$name" --set links.fsw.wait=60s "$@" >"$dir/out" 2>"$dir/err"
  status=$?
  wait "$peer" || fail "the flight software: $(cat "$dir/fsw" "$dir/out" "$dir/err")"
  return $status
}
fly || fail "it does not pass: $(cat "$dir/out" "$dir/err")"
grep -q '^verdict     passed: 8 met' "$dir/out" || fail "$(cat "$dir/out")"
grep -q '3600 frames out, 3599 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "frames: $(cat "$dir/out")"
dead=
for axis in x y z; do
  dead="$dead{channel: rod_$axis.dipole, at: 0 s, stuck_at: 0}, "
done
fly --set "faults=[$dead]" --duration 2200s && fail "it stops without rods: $(cat "$dir/out")"
grep -q '^NOT MET *gyro.rate .* until 2100 s' "$dir/out" || fail "without rods: $(cat "$dir/out" "$dir/err")"
exit 0
