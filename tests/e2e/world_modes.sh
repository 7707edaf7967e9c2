#!/bin/sh
# A run with every term of the environment has one state_hash in batch, in lockstep and in real time, and another one without any one of its forces.
. tests/support/script.sh
fly() { # MODE ARGUMENTS...: the hash
  mode=$1
  shift
  "$ORRERY" run configs/orbit.yaml --mode "$mode" --no-log --set 'expect=[]' --set simulation.step=5ms --duration 2s "$@" >"$dir/out" 2>"$dir/err" ||
    fail "$mode $*: $(cat "$dir/out" "$dir/err")"
  hash_of "$dir/out"
}
batch=$(fly batch)
[ ${#batch} -eq 16 ] || fail "no state_hash: $batch"
for mode in lockstep realtime; do
  hash=$(fly $mode)
  [ "$hash" = "$batch" ] || fail "$mode has other bits than batch: $hash, $batch"
done
for term in gravity=central third_bodies=[sun] third_bodies=[moon] atmosphere=none sun=none sun.albedo=0 sun.infrared=0; do
  hash=$(fly batch --set "environment.$term")
  [ "$hash" != "$batch" ] || fail "without $term nothing changes"
done
behind=simulation.initial.bus.orbit.elements.anomaly=180deg
[ "$(fly batch --set "$behind")" != "$(fly batch --set "$behind" --set environment.eclipse=none)" ] || fail "without a shadow nothing changes"
exit 0
