#!/bin/sh
# Hinges that jam in closed loops (a four-bar and geared panels, each by both methods) and one that has a motion: the
# same bits in batch, in lockstep and in real time; the log flies again, whole and from within a jam; from outside they
# begin and end as in the file.
. tests/support/script.sh

cat >"$dir/jams.yaml" <<'Y'
faults:
  - {hinge: panel_1, at: 1 s, for: 1200 ms, jammed: 500 ms}
  - {hinge: panel_3, at: 1200 ms, for: 600 ms, jammed: true} # of the same mechanism: it is at rest first, and holds both
  - {hinge: crank, at: 2500 ms, for: 200 ms, jammed: true}
  - {hinge: dish, at: 800 ms, for: 1 s, jammed: 300 ms}
Y
link="{fsw: {transport: shm, name: $name, rate: 100 Hz, telemetry: [angle_1.position], commands: [brake.torque], wait: 60 s}}"
dish='{mass: 2, com: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.imu, axis: [0, 0, 1], motion: {sine: {amplitude: 20 deg, frequency: 0.3 Hz}}}}'
fly() { # MODE ARGUMENTS...
  mode=$1
  shift
  links=$link
  [ "$mode" = batch ] && links='{}' # the peer commands nothing but zeros
  "$ORRERY" run "$dir/run.yaml" --mode "$mode" --duration 3s --set "links=$links" --set "spacecraft.bodies.dish=$dish" --set 'expect=[]' "$@" >"$dir/$mode" 2>&1
}
identical() { # ARGUMENTS: of replay
  "$ORRERY" replay "$@" >"$dir/out" 2>"$dir/err" || fail "replay $*: $(cat "$dir/out" "$dir/err")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay $*: $(cat "$dir/out")"
}

for method in embed augment; do
  sed "s/kind: point}/kind: point, method: $method}/; s/^\(    - {gear: {.*}\)}/\1, method: $method}/" configs/deployment.yaml >"$dir/run.yaml"
  [ "$(grep -c "method: $method" "$dir/run.yaml")" -eq 5 ] || fail "not every loop has its method"
  fly batch || fail "$method, free: $(cat "$dir/batch")"
  free=$(hash_of "$dir/batch")
  rm -f "$dir"/*.mcap
  fly batch --sequence "$dir/jams.yaml" --log "$dir/batch.mcap" --set record.checkpoint=500ms --csv "$dir/jams.csv" --channels angle_1.position ||
    fail "$method: $(cat "$dir/batch")"
  [ "$(grep -c '^fault ' "$dir/batch")" -eq 8 ] || fail "not all jams begin and end: $(cat "$dir/batch")"
  [ "$(hash_of "$dir/batch")" != "$free" ] || fail "$method: jams change nothing"
  # at rest from 1.2 s (the encoder tells it 10 ms later) to the release at 2.2 s, and then not
  awk -F, -v m="$method" 'NR > 1 && $1 > 1.2125 && $1 < 2.1995 {if (!n++) held = $2; off = $2 - held; if (off * off > 1e-20) bad = 1}
      $1 > 2.45 && $1 < 2.4995 {later = $2} END {exit bad || n < 400 || (later - held) ^ 2 < 1e-12}' "$dir/jams.csv" || fail "$method: it is not held, or not released"
  identical "$dir/batch.mcap"
  identical "$dir/batch.mcap" --from 1500ms # a jam holds for two
  "$ORRERY" run --from "$dir/batch.mcap@1500ms" --mode batch --duration 1500ms >"$dir/going" 2>&1 || fail "$method, from 1.5 s: $(cat "$dir/going")"
  [ "$(hash_of "$dir/going")" = "$(hash_of "$dir/batch")" ] || fail "$method, from 1.5 s: $(cat "$dir/going")"
  for mode in lockstep realtime; do
    "$(dirname "$ORRERY")/echo" "$(url_of shm)" >"$dir/echo" 2>&1 &
    peer=$!
    fly $mode --sequence "$dir/jams.yaml" --log "$dir/$mode.mcap" --set realtime.priority=0 --set realtime.core=any || fail "$method, $mode: $(cat "$dir/$mode")"
    wait $peer
    [ "$(hash_of "$dir/$mode")" = "$(hash_of "$dir/batch")" ] || fail "$method, $mode: $(cat "$dir/$mode" "$dir/batch")"
    identical "$dir/$mode.mcap"
  done
done

# from outside: the bits of a file that says the same, and its log flies again
cat >"$dir/named.yaml" <<'Y'
faults:
  - {name: wing, hinge: panel_1, jammed: 500 ms}
  - {name: dish, hinge: dish, jammed: true}
sequence: [{mark: begin}]
Y
sed 's/name: wing,/name: wing, at: 500 ms, for: 500 ms,/; s/name: dish,/name: dish, at: 500 ms, for: 500 ms,/' "$dir/named.yaml" >"$dir/timed.yaml"
fly batch --sequence "$dir/timed.yaml" || fail "$(cat "$dir/batch")"
cp "$dir/batch" "$dir/timed"
fly batch --sequence "$dir/named.yaml" --log "$dir/batch.mcap" --paused &
run=$!
speaks() { # until the run listens
  "$ORRERY" ctl status >"$dir/out" 2>&1
}
await speaks || fail "no run: $(cat "$dir/batch")"
for words in 'step 250' 'fault wing' 'fault dish' 'step 250' 'clear' 'go'; do
  # shellcheck disable=SC2086
  "$ORRERY" ctl $words >"$dir/out" 2>&1 || fail "$words: $(cat "$dir/out")"
done
wait $run || fail "commanded: $(cat "$dir/batch")"
[ "$(grep -c '^fault ' "$dir/batch")" -eq 4 ] || fail "commanded: $(cat "$dir/batch")"
[ "$(hash_of "$dir/batch")" = "$(hash_of "$dir/timed")" ] || fail "commanded it has other bits: $(cat "$dir/batch" "$dir/timed")"
identical "$dir/batch.mcap"
