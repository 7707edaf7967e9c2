#!/bin/sh
# The sample flight software stays when no frame comes for longer than five seconds: it says so, and answers the next
# one. Here the run is suspended.
. tests/support/script.sh
over shm configs/cubesat.yaml >"$dir/run.yaml"
"$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 100000s --no-log >"$dir/out" 2>&1 &
run=$!
"$fsw" "shm:$name" 2>"$dir/fsw" &
peer=$!
await flown_to $run 10 || fail "no run: $(cat "$dir/out")"
kill -STOP $run
await grep -q '^fsw: no frame for five seconds; holding until a frame comes$' "$dir/fsw" || fail "it does not say that it holds: $(cat "$dir/fsw")"
kill -0 $peer || fail "it left: $(cat "$dir/fsw")"
kill -CONT $run
await flown_to $run 1 || fail "the run does not answer"
await flown_to $run $((frame + 100)) || fail "it does not go on: $(cat "$dir/fsw")"
kill -INT $run
wait $run
wait $peer || fail "it ends badly: $(cat "$dir/fsw")"
grep -q ' 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "it does not go on: $(cat "$dir/out")"
exit 0
