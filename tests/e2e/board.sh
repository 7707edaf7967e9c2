#!/bin/sh
# The statistics of a run in real time are scribbled on and cut off, by whoever may write the file: the run flies
# on with the same bits, and its summary has its own numbers; `orrery top` shows the run or says that somebody
# has spoilt its statistics.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
"$ORRERY" run configs/cubesat.yaml --duration 12s --set 'expect=[]' --set 'links={}' --mode batch >"$dir/batch" || fail "batch: $(cat "$dir/batch")"

(exec "$ORRERY" run configs/cubesat.yaml --duration 12s --set 'expect=[]' --set 'links={}' --set realtime.spin=0s --no-log --mode realtime --json >"$dir/out" 2>"$dir/err") &
child=$!
board=/dev/shm/orrery.rt.$child
await [ -s "$board" ] || fail "no statistics: $(cat "$dir/err")"
cat >"$dir/scribble.py" <<'P'
import os, random, sys
random.seed(7)
path, done = sys.argv[1], 0
size = os.path.getsize(path)
try:
    while True:
        with open(path, "r+b") as file:
            how = random.randrange(8)
            if how == 0:
                file.truncate(random.choice([0, 1, 4096, size // 2, 2 * size]))
            elif how < 4: # every word the largest there is: indices, counts, sequences
                file.write(b"\xff" * size)
            else:
                file.seek(8 * random.randrange(size // 8))
                file.write(random.randbytes(8 * random.randrange(1, 500)))
        done += 1
except FileNotFoundError: # the run is over
    print(done)
P
python3 "$dir/scribble.py" "$board" >"$dir/done" 2>"$dir/scribble.err" &
scribbler=$!
for _ in 1 2 3 4 5 6 7 8; do
  "$ORRERY" top --once "$child" >"$dir/top" 2>&1
  [ $? -le 1 ] || fail "top: $(cat "$dir/top")"
  "$ORRERY" top --json "$child" >"$dir/top" 2>&1
  [ $? -le 1 ] || fail "top --json: $(cat "$dir/top")"
done
wait "$child"
status=$?
[ $status -eq 0 ] || fail "exit $status: $(cat "$dir/err")"
wait "$scribbler" || fail "the scribbler: $(cat "$dir/scribble.err")"
[ "$(cat "$dir/done")" -gt 100 ] || fail "only $(cat "$dir/done") scribbles"
[ ! -e "$board" ] || fail "the statistics stay"
python3 - "$dir/out" "$(hash_of "$dir/batch")" <<'P' || fail "the summary: $(cat "$dir/out")"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["state_hash"] == sys.argv[2], "other bits"
assert r["timing"]["counts"]["frames"] == 1200, r["timing"]["counts"]
assert r["verdict"] == "passed", r["verdict"]
assert r["timing"]["histograms"]["integrate"]["count"] == 1200, r["timing"]["histograms"]["integrate"]
assert sum(1 for w in r["timing"]["worst"] if w["frame"] < 1200) == len(r["timing"]["worst"]) > 0
P

# A umask that takes rights from its own user makes no segment that this user may not open, and so blames nobody
# for it. Root may open all.
as=""
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ -z "$as" ] || command -v setpriv >/dev/null; then
  cp -L "$ORRERY" "$dir/orrery" && over shm configs/cubesat.yaml >"$dir/ship.yaml" && chmod 755 "$dir" "$dir/orrery" "$dir/ship.yaml" || exit 1
  for mask in 0177 0777; do
    # shellcheck disable=SC2086
    ORRERY_LOGS= $as sh -c 'umask "$1"; shift; exec "$@"' sh $mask "$dir/orrery" run "$dir/ship.yaml" --mode lockstep --duration 100ms \
      --set links.fsw.wait=100ms --set 'links.fsw.lockstep={timeout: 200 ms, policy: continue}' >"$dir/out" 2>"$dir/err"
    [ $? -eq 3 ] || fail "umask $mask: $(cat "$dir/err")"
    grep -q 'another user' "$dir/err" && fail "umask $mask: $(cat "$dir/err")"
  done
  # the folders that it makes for its log and its socket are its user's, too, for later runs and `orrery ctl`
  mkdir "$dir/theirs" && chmod 777 "$dir/theirs" || exit 1
  for mask in 0177 022; do
    # shellcheck disable=SC2086
    ORRERY_LOGS=$dir/theirs/logs ORRERY_CTL=$dir/theirs/ctl $as sh -c 'umask "$1"; shift; exec "$@"' sh $mask "$dir/orrery" run "$dir/ship.yaml" --mode lockstep \
      --duration 100ms --set links.fsw.wait=100ms --set 'links.fsw.lockstep={timeout: 200 ms, policy: continue}' >"$dir/out" 2>"$dir/err"
    [ $? -eq 3 ] || fail "umask $mask: $(cat "$dir/err")"
    grep -qE 'no log of this run|no socket for' "$dir/err" && fail "umask $mask, folders: $(cat "$dir/err")"
  done
  [ "$(stat -c %a "$dir/theirs/ctl" "$dir/theirs/logs" | tr '\n' ' ')" = '700 700 ' ] || fail "umask 0177: $(stat -c '%a %n' "$dir"/theirs/*)"
fi
exit 0
