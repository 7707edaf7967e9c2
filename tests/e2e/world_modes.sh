#!/bin/sh
# A run with every term of the environment has one state_hash in batch, in lockstep and in real time, and another one
# without any one of its forces.
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
grep -q "^sky  *UT1 is taken as UTC and the pole as in its place: no 'eop' file" "$dir/out" || fail "the summary does not say that it has no 'eop': $(cat "$dir/out")"
cat >"$dir/finals" <<'DAYS' # of IERS: the pole 0.05 and 0.35 arcsec, UT1 0.05 s ahead
25 319 60753.00 I  0.050000 0.000090  0.350000 0.000090  I 0.0500000 0.0000070  0.0180 0.0050  I
25 322 60756.00 I  0.050000 0.000090  0.350000 0.000090  I 0.0500000 0.0000070  0.0180 0.0050  I
DAYS
[ "$(fly batch --set "environment.eop=$dir/finals")" != "$batch" ] || fail "with another Earth orientation nothing changes"
"$ORRERY" run configs/orbit.yaml --mode batch --no-log --set 'expect=[]' --duration 1s --set "environment.eop=$dir/finals" --csv "$dir/turned.csv" --channels environment.longitude >"$dir/out" 2>&1 ||
  fail "with an 'eop': $(cat "$dir/out")"
grep -q '^sky ' "$dir/out" && fail "the summary with an 'eop': $(cat "$dir/out")"
"$ORRERY" run configs/orbit.yaml --mode batch --no-log --set 'expect=[]' --duration 1s --csv "$dir/plain.csv" --channels environment.longitude >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
# 0.05 s of UT1 turn the Earth by 3.646e-6 rad more; the pole moves the longitude by its place times the tangent of the
# latitude, here next to none
paste -d, "$dir/turned.csv" "$dir/plain.csv" | awk -F, 'NR == 2 { exit !($2 - $4 < -3.5e-6 && $2 - $4 > -3.8e-6) }' ||
  fail "0.05 s of UT1 are not 3.65e-6 rad of longitude: $(head -n 2 "$dir/turned.csv" "$dir/plain.csv")"
behind=simulation.initial.bus.orbit.elements.anomaly=180deg
[ "$(fly batch --set "$behind")" != "$(fly batch --set "$behind" --set environment.eclipse=none)" ] || fail "without a shadow nothing changes"
exit 0
