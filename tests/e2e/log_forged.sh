#!/bin/sh
# Logs that were made to do harm, read by every verb: their texts steer no terminal and end no column of a table, and
# what they promise costs no memory and no hours. Damaged ones: broken.sh; what replay makes of forged ones: replay.sh.
. tests/support/script.sh
command -v python3 >/dev/null || {
  echo "skipped: no python3"
  exit 77
}
python3 tests/support/forge_log.py "$dir" || fail "forge_log.py"

# nothing but letters comes out, and what has two columns has two
steers() { LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177\233]')" "$1"; }
clean() { # WORDS: of log
  timeout 60 "$ORRERY" "$@" >"$dir/out" 2>"$dir/err"
  status=$?
  steers "$dir/out" && fail "$*: $(cat -v "$dir/out")"
  steers "$dir/err" && fail "$* on stderr: $(cat -v "$dir/err")"
  return $status
}
printf 'a\033b\n' >"$dir/out" && steers "$dir/out" || fail "nothing is seen to steer"
clean log info "$dir/steer.mcap" || fail "info: $(cat "$dir/err")"
clean log info --json "$dir/steer.mcap" || fail "info --json: $(cat "$dir/err")"
python3 -m json.tool "$dir/out" >/dev/null || fail "info --json is no JSON"
clean log cat "$dir/steer.mcap" || fail "cat: $(cat "$dir/err")"
clean log cat --json "$dir/steer.mcap" || fail "cat --json: $(cat "$dir/err")"
clean log cat "$dir/steer.mcap" --topics /tt && fail "a topic that is not there"
clean log export "$dir/steer.mcap" --csv "$dir/steer.csv" || fail "export: $(cat "$dir/err")"
steers "$dir/steer.csv" && fail "export: $(cat -v "$dir/steer.csv")"
[ "$(wc -l <"$dir/steer.csv")" -eq 2 ] && awk -F, 'NF != 4 { exit 1 }' "$dir/steer.csv" || fail "a table of other columns: $(cat -v "$dir/steer.csv")"
clean replay "$dir/steer.mcap" --with "$dir/steer.mcap" || fail "replay --with: $(cat "$dir/err")"

# a channel whose schema changes to one that is not there
for verb in "log info" "log cat" "log export --csv $dir/again.csv"; do
  # shellcheck disable=SC2086
  clean $verb "$dir/again.mcap"
  [ $? -lt 2 ] || fail "$verb: $(cat "$dir/err")"
done

# 2 GB of memory are enough, and a minute
within() { # WORDS
  (ulimit -v 2000000 && exec timeout 60 "$ORRERY" "$@") >"$dir/out" 2>"$dir/err"
}
within log export "$dir/names.mcap" --csv "$dir/names.csv" || fail "long names: $? $(head -c 500 "$dir/err")"
[ "$(head -n 1 "$dir/names.csv" | tr ',' '\n' | wc -l)" -eq 65537 ] || fail "not 65536 columns"
within replay "$dir/columns.mcap" --with "$dir/columns.mcap" || fail "a million columns beside each other: $? $(head -c 500 "$dir/err")"
within log info --json "$dir/schemas.mcap" || fail "a schema of four thousand topics: $? $(head -c 500 "$dir/err")"
[ "$(grep -c '"topic": "/t"' "$dir/out")" -eq 4096 ] || fail "not four thousand topics"
[ "$(wc -c <"$dir/out")" -lt 200000000 ] || fail "a schema of four thousand topics is told in $(wc -c <"$dir/out") bytes"
within log info "$dir/swells.mcap"
[ $? -eq 1 ] && grep -q "is damaged" "$dir/err" || fail "a log that swells: $(head -c 500 "$dir/err")"
exit 0
