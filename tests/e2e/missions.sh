#!/bin/sh
# The other spacecraft that the sample flight software flies, the wings and the chain: each meets what it expects in
# batch, in lockstep over shared memory and over UDP, with one state_hash.
. tests/support/script.sh
fly() { # FILE URL MISSION ARGUMENTS...
  file=$1 url=$2 mission=$3
  shift 3
  "$fsw" "$url" "$mission" 2>"$dir/fsw" &
  peer=$!
  "$ORRERY" run "$file" --mode lockstep "$@" >"$dir/out" 2>"$dir/err" || fail "$mission, lockstep at $url: $(cat "$dir/out" "$dir/err")"
  wait "$peer" || fail "$mission: the flight software at $url: $(cat "$dir/fsw")"
  grep -q '^verdict     passed' "$dir/out" || fail "$mission, lockstep at $url: $(cat "$dir/out")"
  [ "$(hash_of "$dir/out")" = "$first" ] || fail "$mission: lockstep at $url has other bits than batch"
}
for mission in wings chain; do
  "$ORRERY" run "configs/$mission-slew.yaml" --mode batch >"$dir/batch" 2>&1 || fail "$mission, batch: $(cat "$dir/batch")"
  first=$(hash_of "$dir/batch")
  [ ${#first} -eq 16 ] || fail "$mission: no state_hash"
  fly configs/$mission-slew.yaml shm:$name $mission --set links.fsw.name=$name
  over udp configs/$mission-slew.yaml | sed "s|^spacecraft: |&$PWD/configs/|" >"$dir/udp.yaml"
  fly "$dir/udp.yaml" "$(url_of udp)" $mission
done
"$fsw" shm:$name chain 2>"$dir/fsw" &
peer=$!
"$ORRERY" run configs/wings-slew.yaml --mode lockstep --set links.fsw.name=$name --set links.fsw.wait=3s >"$dir/out" 2>&1 &
run=$!
wait "$peer" && fail "the chain's flight software flies the wings"
grep -q "not that of the mission 'chain'" "$dir/fsw" || fail "it says: $(cat "$dir/fsw")"
kill "$run"
wait "$run"
exit 0
