#!/bin/sh
# The geostationary satellite through the shadow of the Earth: examples/geostationary.py flies
# configs/geostationary.yaml in lockstep to what the file expects, every frame answered. Where the Earth throws no
# shadow, or a drive stands still, it does not meet that.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
fly() { # ARGUMENTS...: the summary into $dir/out
  PYTHONPATH=io/client python3 -B examples/geostationary.py "shm:$name" 2>"$dir/fsw" &
  peer=$!
  "$ORRERY" run configs/geostationary.yaml --mode lockstep --no-log --set links.fsw.name="$name" --set links.fsw.wait=60s "$@" >"$dir/out" 2>"$dir/err"
  status=$?
  wait "$peer" || fail "the flight software: $(cat "$dir/fsw" "$dir/out" "$dir/err")"
  return $status
}
fly || fail "it does not pass: $(cat "$dir/out" "$dir/err")"
grep -q '^verdict     passed: 13 met' "$dir/out" || fail "$(cat "$dir/out")"
grep -q '2850 frames out, 2849 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "frames: $(cat "$dir/out")"
fly --set environment.eclipse=none --set 'faults=[{channel: drive_north.rate, at: 300 s, stuck_at: 0}]' --duration 900s && fail "it passes in the Sun: $(cat "$dir/out")"
for unmet in environment.sunlight environment.light sun_south.valid north.pointing_error; do
  grep -q "^NOT MET *$unmet " "$dir/out" || fail "$unmet is met: $(cat "$dir/out" "$dir/err")"
done
grep -q '^NOT MET *south.pointing_error' "$dir/out" && fail "the other wing, too: $(cat "$dir/out")"
exit 0
