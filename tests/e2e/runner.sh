#!/bin/sh
# The test runner on programs that pass, fail, crash, hang, skip and miscount.
set -u
runner=$(dirname "$ORRERY")/tests/runner
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

program() { # NAME, then the body on stdin
  { echo '#!/bin/sh'; cat; } >"$1"
  chmod +x "$1"
}
expect() { # LAST-LINE EXIT-STATUS ARGUMENTS...; below it only the names of what failed
  want_line=$1 want_status=$2
  shift 2
  "$runner" "$@" >out 2>err
  status=$?
  line=$(sed -n '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/,$p' out | head -n 1)
  sed '1,/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d' out >below
  if [ "$line" != "$want_line" ] || [ $status -ne "$want_status" ]; then
    echo "FAIL: runner $*: got '$line', exit $status; want '$want_line', exit $want_status"
    cat out err
    exit 1
  fi
}
named() { # LINES: what is said below the counts, in any order: side by side some end sooner
  printf '%s' "$1" | sort >wanted
  sort below | cmp -s - wanted || { echo "FAIL: below the counts:"; cat below; exit 1; }
}
shown() { grep -q "$1" out || { echo "FAIL: '$1' is not in the output:"; cat out; exit 1; }; }

program good <<'E2'
echo fine
E2
program bad <<'E2'
echo a reason
exit 1
E2
program skip <<'E2'
exit 77
E2
program crash <<'E2'
kill -SEGV $$
E2
program hang <<'E2'
sleep 60 &
echo $! >child
wait
E2
program tap <<'E2'
printf '1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 # SKIP c\n'
exit 1
E2
program tap_good <<'E2'
printf '1..2\nok 1 - a\nok 2 - b\n'
E2
program two_groups <<'E2'
printf '1..1\nok 1 - a\n1..1\nok 1 - b\n'
E2
program cut_short <<'E2'
printf '1..3\nok 1 - a\n'
exit 0
E2
program bad_exit <<'E2'
printf '1..1\nok 1 - a\n'
exit 1
E2
program two_ways <<'E2'
printf '1..3\nnot ok 1 - a: with a colon\nok 2 - b\n'
E2
program crash_after <<'E2'
printf '1..1\nok 1 - a\n'
kill -ABRT $$
E2
program empty_plan <<'E2'
echo 1..0
E2
program environment <<'E2'
[ "$COLOUR" = red ] && [ "$CMOCKA_MESSAGE_OUTPUT" = TAP ]
E2
program alone <<'E2'
[ -e running ] && exit 1
touch running
sleep 0.3
rm running
E2
program together <<'E2'
touch "met.$$"
for _ in $(seq 300); do
  [ "$(find . -name 'met.*' | wc -l)" -eq 2 ] && exit 0
  sleep 0.1
done
exit 1
E2
program hold_on <<'E2'
sleep 0.5
E2
program computes <<'E2'
sh -c 'ulimit -t 2; while :; do :; done'
exit 0
E2

expect '1 passed, 0 failed, 0 skipped' 0 ./good
named ''
expect '0 passed, 0 failed, 1 skipped' 0 ./skip
expect '0 passed, 1 failed, 0 skipped' 1 ./bad
shown 'a reason'
expect '0 passed, 1 failed, 0 skipped' 1 ./crash
shown 'killed by signal 11'
expect '1 passed, 1 failed, 0 skipped' 1 -t 3 ./hang -t 300 ./good
shown 'timed out after 3 s'
tries=100
while grep -q '^State:[[:space:]]*[RSD]' "/proc/$(cat child)/status" 2>/dev/null; do # a zombie is as good as gone
  tries=$((tries - 1))
  [ $tries -gt 0 ] || { echo "FAIL: a child of the hanging program lives on"; exit 1; }
  sleep 0.1
done
expect '1 passed, 1 failed, 1 skipped' 1 ./tap
named 'FAIL  ./tap: b
'
expect '2 passed, 0 failed, 0 skipped' 0 ./tap_good
expect '2 passed, 0 failed, 0 skipped' 0 ./two_groups
expect '1 passed, 1 failed, 0 skipped' 1 ./cut_short
shown '3 tests planned, 1 reported'
expect '1 passed, 1 failed, 0 skipped' 1 ./bad_exit
expect '1 passed, 1 failed, 0 skipped' 1 ./crash_after
expect '0 passed, 1 failed, 0 skipped' 1 ./empty_plan
expect '0 passed, 1 failed, 0 skipped' 1 ./not-there
expect '1 passed, 0 failed, 0 skipped' 0 COLOUR=red ./environment
expect '0 passed, 1 failed, 0 skipped' 1 COLOUR=blue ./environment
expect '0 passed, 0 failed, 0 skipped' 1
expect '2 passed, 0 failed, 0 skipped' 0 -j 1 ./alone ./alone
expect '2 passed, 0 failed, 0 skipped' 0 -j 2 ./together ./together
expect '2 passed, 0 failed, 0 skipped' 0 -j 2 ./computes ./hold_on
shown '^ok .*computes: .* s ([1-9][0-9.]* s computing)$'
shown '^ok .*hold_on: .* s (0\.0 s computing)$'
# A failure early on stops nothing after it.
expect '4 passed, 3 failed, 2 skipped' 1 -j 2 ./bad ./crash ./skip ./tap ./good -j 1 ./two_groups
named 'FAIL  ./bad: exit status 1
FAIL  ./crash: killed by signal 11 (Segmentation fault)
FAIL  ./tap: b
'
# what one test is told by and what its program's lines do not own up to
expect '1 passed, 2 failed, 0 skipped' 1 ./two_ways
named 'FAIL  ./two_ways: a: with a colon
FAIL  ./two_ways: 3 tests planned, 2 reported
'
