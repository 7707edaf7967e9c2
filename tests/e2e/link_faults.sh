#!/bin/sh
# Faults of links: commands that are cut off, lost or damaged on their way, in the frames that the seed says.
# The same bits in batch and in lockstep over both carriers; each lost answer is a boundary missed, and
# counted; the log flies again.
. tests/support/script.sh
cat >"$dir/faults.yaml" <<'Y'
faults:
  - {link: fsw, at: 2 s, for: 2 s, cut: true}
  - {link: fsw, at: 5 s, for: 4 s, loss: 0.5}
  - {link: fsw, at: 10 s, for: 4 s, corruption: 0.5}
Y
fly() { # RUN ARGUMENTS...
  run=$1
  shift
  "$ORRERY" run "$run" --duration 15s --set 'expect=[]' "$@"
}
fly configs/cubesat.yaml --mode batch >"$dir/plain" 2>&1 || fail "$(cat "$dir/plain")"
fly configs/cubesat.yaml --mode batch --sequence "$dir/faults.yaml" --log "$dir/batch.mcap" >"$dir/batch" 2>&1 || fail "$(cat "$dir/batch")"
[ "$(hash_of "$dir/plain")" != "$(hash_of "$dir/batch")" ] || fail "nothing was lost"
fly configs/cubesat.yaml --mode batch --sequence "$dir/faults.yaml" --seed 2 >"$dir/other" 2>&1
[ "$(hash_of "$dir/other")" != "$(hash_of "$dir/batch")" ] || fail "another seed loses the same"
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  "$fsw" "$(url_of $transport)" cubesat >"$dir/fsw" 2>&1 &
  peer=$!
  fly "$dir/$transport.yaml" --mode lockstep --sequence "$dir/faults.yaml" --log "$dir/$transport.mcap" --json >"$dir/$transport" 2>"$dir/err" || fail "$transport: $(cat "$dir/err")"
  wait $peer
  python3 - "$dir/$transport" "$(hash_of "$dir/batch")" <<'P' || fail "$transport: $(cat "$dir/$transport")"
import json, sys
j = json.load(open(sys.argv[1]))
link = j["links"]["fsw"]
a, lost, damaged = link["answers"], link["answers"]["lost_by_fault"], link["refused"]["malformed"]
print(j["state_hash"], a, "malformed", damaged, "missed", link["missed"])
assert j["state_hash"] == sys.argv[2], "other bits than in batch"
# at 10 Hz: 20 cut, of 40 half are lost, of 40 half are damaged
assert 10 <= damaged <= 30 and 30 <= lost - damaged <= 50 and link["missed"] == lost, "counts"
assert sum(a.values()) == link["published"], "every frame has one end"
assert [e["name"] for e in j["events"]] == [f"fsw {w}" for w in ("cut", "cut", "loss", "loss", "corruption", "corruption")], j["events"]
P
  "$ORRERY" replay "$dir/$transport.mcap" >"$dir/out" 2>&1 || fail "replay: $(cat "$dir/out")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay: $(cat "$dir/out")"
done
"$ORRERY" replay "$dir/batch.mcap" --from 8s >"$dir/out" 2>&1 || fail "replay: $(cat "$dir/out")"
# going on from within the losses: the same ones come
"$ORRERY" run --from "$dir/batch.mcap@6s" --mode batch --duration 9s --set 'expect=[]' >"$dir/going" 2>&1
[ "$(hash_of "$dir/going")" = "$(hash_of "$dir/batch")" ] || fail "going on loses others: $(cat "$dir/going")"
