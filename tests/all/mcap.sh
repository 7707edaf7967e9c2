#!/bin/bash
# Logs by the reader of MCAP's authors (npm @mcap/core; fzstd unpacks for it): a whole log by its index; one cut
# anywhere, or of a run that was killed, as a stream; a cut one, repaired, by its index. Plain and packed with zstd.
# Each reads as many messages as `orrery log` does; sums are checked.
. tests/support/script.sh
cp tests/all/mcap/read.mjs "$dir"
npm_install @mcap/core fzstd
count() { "$ORRERY" log cat "$1" 2>/dev/null | wc -l; }
# One node reads them all: of five hundred, each for a log of its own, one did not end once it had answered
# (nodejs/node issue 54918).
mkfifo "$dir/logs.fifo" "$dir/counts.fifo"
node "$dir/read.mjs" <"$dir/logs.fifo" >"$dir/counts.fifo" 2>"$dir/err" &
exec 5>"$dir/logs.fifo" 6<"$dir/counts.fifo"
read_as() { # HOW LOG: what node counts
  echo "$1 $2" >&5
  read -r -t 60 counted <&6 || counted="node says nothing: $(cat "$dir/err")"
  echo "$counted"
}
same_when_cut() { # LOG WHAT: to node it is cut, and once repaired it has an index
  n=$(count "$1")
  [ "$(read_as stream "$1")" = "$n cut" ] || fail "$2: the stream has other messages than $n: $(read_as stream "$1")"
  "$ORRERY" log repair "$1" >"$dir/out" 2>&1 || {
    [ "$n" -eq 0 ] && return # not even the head is there
    fail "$2: $(cat "$dir/out")"
  }
  [ "$(read_as indexed "$1")" = "$n done" ] || fail "$2, repaired: the index leads to other messages than $n"
}
for config in cubesat wings-slew; do
  for compression in none zstd; do
    what="$config, compression $compression"
    log=$dir/$config.$compression.mcap
    "$ORRERY" run configs/$config.yaml --mode batch --duration 10s --set "record={channels: ['*'], checkpoint: 3 s, compression: $compression}" --log "$log" >"$dir/out" ||
      [ $? -eq 3 ] || fail "$what: $(cat "$dir/out")"
    # 3: what wings-slew expects of its whole flight lies beyond
    [ "$("$ORRERY" log info "$log" | grep -c 'chunks (compressed)')" -eq "$([ $compression = zstd ] && echo 1 || echo 0)" ] || fail "$what: $("$ORRERY" log info "$log")"
    n=$(count "$log")
    [ "$n" -gt 1000 ] || fail "$what: $n messages"
    [ "$(read_as indexed "$log")" = "$n done" ] && [ "$(read_as stream "$log")" = "$n done" ] || fail "$what: other messages than $n: $(read_as indexed "$log") $(read_as stream "$log")"
    size=$(stat -c %s "$log")
    for i in $(seq 15); do
      head -c $((size * i / 16 + i)) "$log" >"$dir/cut.mcap"
      same_when_cut "$dir/cut.mcap" "$what, part $i"
    done
  done
done

# real time, killed: once before the first chunk is there, then at other places in a chunk
has_chunk() { [ "$(count "$1")" -gt 0 ]; }
for k in 1 2 3 4 5; do
  log=$dir/killed.$k.mcap
  "$ORRERY" run configs/wings-slew.yaml --mode realtime --log "$log" --set 'record={channels: ["*"], checkpoint: 1 s}' --set realtime.priority=0 --set realtime.core=any >"$dir/out" 2>&1 &
  run=$!
  await test -s "$log" || fail "killed run $k does not log: $(cat "$dir/out")"
  [ $k -eq 1 ] || await has_chunk "$log" || fail "killed run $k: no chunk"
  sleep 0.$((2 * k - 1))
  kill -9 $run
  wait $run 2>/dev/null
  same_when_cut "$log" "killed run $k"
done
exit 0
