#!/bin/sh
# A run in real time killed at any instant leaves a log that is whole up to its last chunk: it has lost no more than a
# second and what the disk had not, it can be repaired, and it flies again bit for bit. KILLS=N kills so many runs.
. tests/support/script.sh
kills=${KILLS:-15} seed=${SEED:-$$} beside=5
{
  sed '/^links:/,$d' configs/cubesat.yaml
  echo 'record: {checkpoint: 1 s, channels: ["*"]}'
} >"$dir/ship.yaml"

# Milliseconds from 100 to 3000, another for each.
random() { awk -v seed="$1" 'BEGIN { srand(seed); rand(); print 100 + int(2900 * rand()) }'; }
fly_and_kill() { # NUMBER
  log=$dir/$1.mcap
  ms=$(random $((seed * 1000 + $1)))
  "$ORRERY" run "$dir/ship.yaml" --mode realtime --duration 60s --log "$log" --set realtime.priority=0 --set realtime.core=any >"$dir/$1.out" 2>&1 &
  pid=$!
  await flies_now "$pid" || exit 1
  sleep "$(awk -v ms="$ms" 'BEGIN { print ms / 1000 }')"
  frame=$("$ORRERY" top --once "$pid" 2>/dev/null | sed -n 's/.*frame *\([0-9]*\).*/\1/p' | head -n 1)
  kill -9 "$pid"
  wait "$pid" 2>/dev/null
  echo "${frame:-0} $ms" >"$dir/$1.frame"
}
flies_now() { "$ORRERY" top --once "$1" 2>/dev/null | grep -q '^integrate '; }

judge() { # NUMBER
  log=$dir/$1.mcap
  read -r frame ms <"$dir/$1.frame" || fail "kill $1: the run did not fly: $(cat "$dir/$1.out")"
  "$ORRERY" log info "$log" >"$dir/info" 2>/dev/null || fail "kill $1 after $ms ms: $(cat "$dir/info")"
  grep -q ': cut$' "$dir/info" || fail "kill $1 after $ms ms: not cut: $(tail -n 1 "$dir/info")"
  last=$("$ORRERY" log cat "$log" --topics /bus 2>/dev/null | tail -n 1 | awk '{print int($1 * 100 + 0.5)}')
  # a chunk is closed when a frame comes that is a second behind its first one
  [ "${last:--1}" -ge $((frame - 101 - 10)) ] || fail "kill $1 after $ms ms, at frame $frame: the log ends at frame ${last:-none}"
  "$ORRERY" log repair "$log" >"$dir/out" || fail "kill $1: $(cat "$dir/out")"
  "$ORRERY" log info "$log" | grep -q ': complete$' || fail "kill $1: repaired, and not complete"
  [ -z "$last" ] || "$ORRERY" replay "$log" >"$dir/out" 2>&1 || fail "kill $1 after $ms ms: $(cat "$dir/out")"
}

n=0
while [ $n -lt "$kills" ]; do
  pids=
  for i in $(seq $beside); do
    [ $n -lt "$kills" ] || break
    n=$((n + 1))
    fly_and_kill $n &
    pids="$pids $!"
  done
  # shellcheck disable=SC2086
  wait $pids
done
for i in $(seq "$kills"); do judge "$i"; done
echo "$kills runs killed, seed $seed"
