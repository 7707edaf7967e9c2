#!/bin/bash
# Runs every program and script of `make test` many times, each by itself in the test runner: quiet, and beside four
# processes that compute without end, all on one core and all on two. Prints a table of what failed how often; keeps the
# log of each failure. Build first: `make test`.
#
#   tests/soak/flaky.sh [-q RUNS] [-b RUNS] [-t SECONDS] [-l] [TEST...]
#
#   -q, -b    runs quiet (50); runs on each of one busy core and two (20); 0 leaves them out
#   -t        limit of a run (600, as in `make test`)
#   -l        lists the tests and runs none
#   TEST      a program of one's own, with a / in its name; else those whose path has TEST in it: all without any
#
# All tests as often as that take a day: the table is printed, too, when Ctrl-C ends it. Exit 1 if any failed.
set -um # jobs are told to end by this script, Ctrl-C or not
cd "$(dirname "$0")/../.." || exit 2
quiet=50 busy=20 limit=600 list=''
while getopts q:b:t:l option; do
  case $option in
  q) quiet=$OPTARG ;;
  b) busy=$OPTARG ;;
  t) limit=$OPTARG ;;
  l) list=yes ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
case $quiet$busy in
*[!0-9]*) echo "flaky: runs are counts" >&2; exit 2 ;;
esac
runner=build/release/tests/runner
[ -x $runner ] || { echo "flaky: $runner is not built: run make test"; exit 77; }

# as in the Makefile: found by folder
mapfile -t known < <({
  for source in $(find tests/unit -name "*.c"); do
    name=${source%.c}
    printf '%s\n' "build/release/$name" "build/sanitize/$name"
  done
  for source in tests/fuzz/*.c; do echo "build/sanitize/${source%.c}-replay"; done
  printf '%s\n' build/release/tests/vectors/compare build/sanitize/tests/vectors/compare
  find tests/e2e -maxdepth 1 -type f -perm -u+x
  for source in $(find tests/timing -name "*.c"); do echo "build/release/${source%.c}"; done
} | sort)
tests=()
for word in "$@"; do
  case $word in
  /* | ./* | ../*) tests+=("$word") ;;
  *) mapfile -t -O ${#tests[@]} tests < <(printf '%s\n' "${known[@]}" | grep -F -e "$word") ;;
  esac
done
[ $# -gt 0 ] || tests=("${known[@]}")
[ ${#tests[@]} -gt 0 ] || { echo "flaky: no test is named so" >&2; exit 2; }
[ -z "$list" ] || { printf '%s\n' "${tests[@]}"; exit 0; }
for test in "${tests[@]}"; do
  [ -x "$test" ] || { echo "flaky: $test is not there: run make test" >&2; exit 2; }
done

# the last core that may be used, and the last two
mapfile -t cores < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
one=${cores[-1]} two=''
[ ${#cores[@]} -lt 2 ] || two=${cores[-2]},$one

mkdir -p build
logs=$(mktemp -d build/flaky.XXXXXX) || exit 2
declare -A runs failures
burners=()
burn() { # CORES: until this script is gone, however it went
  # shellcheck disable=SC2016
  for _ in 1 2 3 4; do
    taskset -c "$1" bash -c 'while kill -0 "$1" 2>/dev/null; do for ((i = 0; i < 200000; i++)); do :; done; done' burner $$ &
    burners+=($!)
  done
  for pid in "${burners[@]}"; do # they burn
    until grep -qzx burner "/proc/$pid/cmdline" || ! kill -0 "$pid"; do sleep 0.01; done 2>/dev/null
  done
}
quench() {
  [ ${#burners[@]} -eq 0 ] || { kill "${burners[@]}"; wait "${burners[@]}"; } 2>/dev/null
  burners=()
}
table() {
  failed=0
  printf '\n| test | quiet | busy, on one core | busy, on two |\n| --- | --- | --- | --- |\n'
  for test in "${tests[@]}" all; do
    row='' bad=0
    for where in quiet one two; do
      n=${runs[$test.$where]:-0} f=${failures[$test.$where]:-0}
      bad=$((bad + f))
      [ "$n" -gt 0 ] && row+=" | $f of $n" || row+=' | -'
    done
    if [ "$test" = all ]; then
      echo "| all ${#tests[@]}$row |"
      failed=$bad
    elif [ $bad -gt 0 ]; then
      echo "| $test$row |"
    fi
  done
  if [ $failed -gt 0 ]; then
    echo "their output is in $logs"
  else
    rm -r "$logs"
  fi
}
finish() {
  [ -z "$child" ] || { kill "$child"; wait "$child"; } 2>/dev/null # the runner ends what it runs
  quench
  table
  [ -n "$ended" ] || exit 130
  [ $failed -eq 0 ] || exit 1
}
ended='' child=''
trap finish EXIT
trap 'exit 130' INT TERM HUP

round() { # WHERE TIMES CORES
  for k in "${!tests[@]}"; do
    test=${tests[$k]} begun=$SECONDS
    for i in $(seq "$2"); do
      log=$logs/$(basename "$test").$k.$1.$i.log
      case $test in
      build/sanitize/*) orrery=build/sanitize/orrery ;;
      *) orrery=build/release/orrery ;;
      esac
      taskset -c "$3" $runner -j 1 -t "$limit" ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1 \
        "ORRERY=$PWD/$orrery" "$test" >"$log" 2>&1 &
      child=$!
      wait $child
      status=$? child=''
      for key in "$test.$1" "all.$1"; do
        runs[$key]=$((${runs[$key]:-0} + 1))
        [ $status -eq 0 ] || failures[$key]=$((${failures[$key]:-0} + 1))
      done
      [ $status -eq 0 ] && rm "$log"
      [ ! -t 2 ] || printf '\r%s: %s of %s ' "$test" "$i" "$2" >&2
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    echo "$1, $((k + 1)) of ${#tests[@]}: $test: ${failures[$test.$1]:-0} of ${runs[$test.$1]} failed, $(((SECONDS - begun) / $2)) s each" >&2
  done
}
[ "$quiet" -eq 0 ] || round quiet "$quiet" "$(IFS=,; echo "${cores[*]}")"
if [ "$busy" -gt 0 ]; then
  burn "$one"
  round one "$busy" "$one"
  quench
fi
if [ "$busy" -gt 0 ] && [ -n "$two" ]; then
  burn "$two"
  round two "$busy" "$two"
  quench
fi
ended=yes
