#!/bin/bash
# tests/soak/flaky.sh on a program that fails in every third run: the table, the logs, four busy processes when they
# are wanted and none left.
. tests/support/script.sh
burners() { grep -lzx -e"$1" /proc/[0-9]*/cmdline 2>/dev/null | wc -l; } # PID of flaky.sh
cat >"$dir/third" <<END
#!/bin/sh
echo x >>$dir/runs
parent=\$(cut -d ' ' -f 4 /proc/\$PPID/stat)
echo "\$(grep -lzx -e"\$parent" /proc/[0-9]*/cmdline 2>/dev/null | wc -l) \$(nproc)" >>$dir/seen
[ \$((\$(wc -l <$dir/runs) % 3)) -ne 0 ] || { echo a reason; exit 1; }
END
printf '#!/bin/sh\nsleep 60\n' >"$dir/long"
chmod +x "$dir/third" "$dir/long"
tests/soak/flaky.sh -q 4 -b 2 "$dir/third" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] || fail "a failure is no exit 1: $(cat "$dir/out" "$dir/err")"
logs=$(sed -n 's/^their output is in //p' "$dir/out")
all=8 row='| 1 of 4 | 1 of 2 | 0 of 2 |'
[ "$(nproc)" -gt 1 ] || all=6 row='| 1 of 4 | 1 of 2 | - |'
grep -qxF "| $dir/third $row" "$dir/out" && grep -qxF "| all 1 $row" "$dir/out" || fail "the table: $(cat "$dir/out")"
[ "$(wc -l <"$dir/runs")" -eq $all ] || fail "it ran $(wc -l <"$dir/runs") times"
[ "$(find "$logs" -type f | wc -l)" -eq 2 ] && grep -qr 'a reason' "$logs" || fail "the logs: $(ls "$logs")"
rm -r "$logs"
# how many burned, and on how many cores: quiet, on one, on two
want=$(printf '%s\n' "0 $(nproc)" "0 $(nproc)" "0 $(nproc)" "0 $(nproc)" '4 1' '4 1' '4 2' '4 2' | head -n $all)
[ "$(cat "$dir/seen")" = "$want" ] || fail "burners and cores: $(cat "$dir/seen")"

# a limit, as the runner has it; ended early, it prints the table and leaves nobody
tests/soak/flaky.sh -q 1 -b 0 -t 1 "$dir/long" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] || fail "a time-out is no failure: $(cat "$dir/out")"
logs=$(sed -n 's/^their output is in //p' "$dir/out")
grep -qr 'timed out after 1 s' "$logs" || fail "the limit: $(cat "$dir/out")"
rm -r "$logs"
tests/soak/flaky.sh -q 0 -b 1 "$dir/long" >"$dir/out" 2>"$dir/err" &
child=$!
burns() { [ "$(burners $child)" -eq 4 ]; }
await burns || fail "it does not burn"
kill -TERM $child
wait $child
[ $? -eq 130 ] || fail "ended early it exits with another status: $(cat "$dir/out" "$dir/err")"
[ "$(burners $child)" -eq 0 ] || fail "busy processes are left"
grep -q '^| all 1 | - | - | - |' "$dir/out" || fail "ended early it prints no table: $(cat "$dir/out")"

# names stand for all that have them
tests/soak/flaky.sh -l links >"$dir/out"
grep -qx build/release/tests/unit/io/links/port "$dir/out" && grep -qx build/release/tests/timing/io/links/packets/relay_links "$dir/out" && grep -qx tests/e2e/links.sh "$dir/out" ||
  fail "tests named so: $(cat "$dir/out")"
tests/soak/flaky.sh -l nosuchtest >"$dir/out" 2>&1 && fail "a name that no test has is taken"
exit 0
