#!/bin/sh
# Logs by the reader of MCAP's authors (npm @mcap/core): a whole log by its index; one cut anywhere as a stream; a cut one, repaired, by its index.
# Each reads as many messages as `orrery log` does, sums are checked.
. tests/support/script.sh
command -v node >/dev/null && command -v npm >/dev/null || {
  echo "skipped: nodejs and npm are not installed"
  exit 77
}
cp tests/all/mcap/read.mjs "$dir"
(cd "$dir" && npm install --no-audit --no-fund --ignore-scripts @mcap/core >npm.log 2>&1) || {
  echo "skipped: npm cannot fetch @mcap/core"
  tail -n 3 "$dir/npm.log"
  exit 77
}
count() { "$ORRERY" log cat "$1" 2>/dev/null | wc -l; }
read_as() { # HOW LOG: what node counts
  node "$dir/read.mjs" "$1" "$2" 2>"$dir/err" || fail "$1 $2: $(cat "$dir/err")"
}
for config in cubesat wings-slew; do
  log=$dir/$config.mcap
  "$ORRERY" run configs/$config.yaml --mode batch --duration 10s --set 'record={channels: ["*"], checkpoint: 3 s}' --log "$log" >"$dir/out" || [ $? -eq 3 ] || fail "$config: $(cat "$dir/out")"
  # 3: what wings-slew expects of its whole flight lies beyond
  n=$(count "$log")
  [ "$n" -gt 1000 ] || fail "$config: $n messages"
  [ "$(read_as indexed "$log")" = "$n done" ] && [ "$(read_as stream "$log")" = "$n done" ] || fail "$config: other messages than $n"
  size=$(stat -c %s "$log")
  for i in $(seq 15); do
    head -c $((size * i / 16 + i)) "$log" >"$dir/cut.mcap"
    n=$(count "$dir/cut.mcap")
    [ "$(read_as stream "$dir/cut.mcap")" = "$n cut" ] || fail "$config, part $i: the stream has other messages than $n: $(read_as stream "$dir/cut.mcap")"
    "$ORRERY" log repair "$dir/cut.mcap" >"$dir/out" 2>&1 || {
      [ "$n" -eq 0 ] && continue # not even the head is there
      fail "$config, part $i: $(cat "$dir/out")"
    }
    [ "$(read_as indexed "$dir/cut.mcap")" = "$n done" ] || fail "$config, part $i: repaired, the index leads to other messages than $n"
  done
done
exit 0
