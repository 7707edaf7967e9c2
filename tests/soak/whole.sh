#!/bin/bash
# `make test`, whole, again and again: quiet, then beside four processes that compute without end. Says a line for each
# run; keeps the log of one that failed in build/whole. Exit 1 if any failed.
#
#   tests/soak/whole.sh [-q RUNS] [-b RUNS]     20 quiet ones, 10 busy ones; 0 leaves them out
set -u
cd "$(dirname "$0")/../.." || exit 2
quiet=20 busy=10
while getopts q:b: option; do
  case $option in
  q) quiet=$OPTARG ;;
  b) busy=$OPTARG ;;
  *) exit 2 ;;
  esac
done
case $quiet$busy in
*[!0-9]*) echo "whole: runs are counts" >&2; exit 2 ;;
esac
mkdir -p build/whole
burners=()
trap '[ ${#burners[@]} -eq 0 ] || kill "${burners[@]}"' EXIT
status=0
fly() { # KIND RUNS
  local passed=0 log begun i
  for ((i = 1; i <= $2; i++)); do
    log=build/whole/$1-$i.log begun=$SECONDS
    if make test >"$log" 2>&1; then
      passed=$((passed + 1))
    else
      status=1
      sed '1,/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d' "$log" | grep '^FAIL  '
    fi
    printf '%s %d of %d: %s, %d min %d s, load %s\n' "$1" "$i" "$2" "$(grep ' passed, .* failed, .* skipped$' "$log" | tail -n 1)" \
      $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60)) "$(cut -d ' ' -f 2 /proc/loadavg)"
  done
  [ "$2" -eq 0 ] || echo "$1: $passed of $2 passed"
}
fly quiet "$quiet"
for _ in 1 2 3 4; do
  [ "$busy" -gt 0 ] || break
  (while :; do :; done) &
  burners+=($!)
done
fly busy "$busy"
exit $status
