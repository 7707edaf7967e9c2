#!/bin/sh
# Standard streams that are closed, or whose reader goes away: what the run says gets into no shared memory, it flies to
# its end, takes back what it did, and does not call that a success.
. tests/support/script.sh
fly() { # ARGUMENTS...
  exec "$ORRERY" run configs/cubesat.yaml --mode realtime --set links.fsw.name=$name --set realtime.phase=0s --set realtime.spin=0s "$@"
}

# what is opened first would have the number of a closed stream, and messages would go there
(fly --duration 5s >"$dir/out" 2>&-) &
run=$!
"$(dirname "$ORRERY")/echo" "shm:$name" >"$dir/echo" 2>&1 || fail "without a standard error nobody can open the link: $(cat "$dir/echo")"
wait $run || fail "without a standard error the run fails: $(cat "$dir/out")"
grep -q '^link fsw .* 1 peers' "$dir/out" || fail "without a standard error: $(cat "$dir/out")"
(fly --duration 0.2s --set links.fsw.wait=0s >&- 2>"$dir/err")
[ $? -eq 1 ] && grep -q 'cannot write the output' "$dir/err" || fail "a closed standard output is a success: $(cat "$dir/err")"

# what only shows a file may be read as far as somebody wants: head and less end it in silence
{ "$ORRERY" check --channels configs/cassini-slew.yaml 2>"$dir/err"; "$ORRERY" check --json configs/cassini-slew.yaml 2>>"$dir/err"; } | head -1 >/dev/null
{ sleep 1; "$ORRERY" schema; } 2>>"$dir/err" | true
[ -s "$dir/err" ] && fail "a reader that has enough is told: $(cat "$dir/err")"

# flight software that is a daemon says that it was replaced, and not into the segment that others open after it
(fly --duration 900s >"$dir/out" 2>"$dir/err") &
run=$!
("$fsw" "shm:$name" >&- 2>&-) &
await flies $run || fail "the run does not fly: $(cat "$dir/err")"
for _ in 1 2; do
  python3 -c 'import sys; sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link: link.wait(60)' "shm:$name" 2>"$dir/peer" || fail "the segment is no link any more: $(tail -n 1 "$dir/peer")"
  sleep 0.5 # the one that was replaced notices
done
kill -TERM $run
wait $run

# nobody reads the summary, or what is said on the way: neither ends the run before its time, and --fix is taken back
sleep 60 &
sleeper=$!
exec 9>/tmp/orrery.test.core && flock 9 # whoever clears that core in a test does so alone
runtime=$(cat /proc/sys/kernel/sched_rt_runtime_us)
fix=
[ "$(id -u)" -eq 0 ] && [ "$(nproc)" -ge 2 ] && fix="--set realtime.core=$(($(nproc) - 1)) --fix --move $sleeper"
# shellcheck disable=SC2086
(
  (fly --json --duration 0.5s --set links.fsw.wait=0s $fix 2>"$dir/err")
  echo $? >"$dir/status"
) | true
[ "$(cat "$dir/status")" = 1 ] || fail "a summary that nobody reads: exit $(cat "$dir/status"): $(cat "$dir/err")"
grep -q 'cannot write the output' "$dir/err" || fail "nobody says that the summary was not read: $(cat "$dir/err")"
[ -z "$fix" ] || grep -q '^fix: everything taken back' "$dir/err" || fail "--fix is not taken back: $(cat "$dir/err")"
[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = "$runtime" ] || fail "throttling is not back"
exec 9>&-
(
  (fly --duration 1s --set links.fsw.wait=0.3s 2>&1 >"$dir/out")
  echo $? >"$dir/status"
) | true
[ "$(cat "$dir/status")" = 3 ] && grep -q '^flown       100 frames' "$dir/out" || fail "what nobody reads on the way ends the run: $(cat "$dir/status" "$dir/out")"
[ ! -e "/dev/shm$name" ] || fail "the link's memory stays"
exit 0
