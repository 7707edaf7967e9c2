#!/bin/sh
# When answers came: the summary of a run in real time says how long before their boundaries. Flight software that takes
# 40 of 100 ms before it answers is never said to be earlier than that; the state does not know of it; in lockstep, and
# over shared memory, where nothing stamps what comes, nothing is said.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/slow.py" <<'P'
import sys, time
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    while link.wait(60):
        time.sleep(float(sys.argv[2]))
        link.send({})
P
start_cable
for t in udp tcp serial shm; do
  over $t configs/cubesat.yaml >"$dir/$t.yaml"
  python3 -I "$dir/slow.py" "$(url_of $t)" 0.04 >"$dir/peer" 2>&1 &
  "$ORRERY" run "$dir/$t.yaml" --mode realtime --no-log --duration 3s --set 'realtime.overrun={policy: catch_up, limit: 1000000}' --set realtime.phase=0s --set realtime.spin=0s --set 'expect=[]' --json >"$dir/$t" 2>"$dir/err" || fail "$t: $(cat "$dir/err")"
  wait $!
  python3 - "$dir/$t" $t <<'P' || fail "$t"
import json, sys
link = json.load(open(sys.argv[1]))["links"]["fsw"]
b = link["came_before_boundary"]
print(sys.argv[2], b, link["answers"])
if sys.argv[2] == "shm":
    assert b is None
else:
    assert (b["count"] if b else 0) == link["answers"]["on_time"], "each answer in time has a stamp"
if b: # on a machine that stands still none is in time
    assert b["min_ns"] <= b["p1_ns"] <= b["p50_ns"] <= b["max_ns"] <= 60000000, "before flight software can have answered"
P
done
python3 -I "$dir/slow.py" "$(url_of udp)" 0 >"$dir/peer" 2>&1 &
"$ORRERY" run "$dir/udp.yaml" --mode lockstep --no-log --duration 2s --set 'expect=[]' --json >"$dir/step" 2>"$dir/err" || fail "lockstep: $(cat "$dir/err")"
grep -q '"came_before_boundary": null' "$dir/step" || fail "lockstep has no boundary in time"
exit 0
