#!/bin/sh
# Fuzzes each target in turn; goes on after a finding, ends with a line each and exit 1 if there was one.
#
#   tests/fuzz/run.sh SECONDS EXECUTIONS TARGET...     whichever comes first
#
# A target that wants an option of its own says so in a line ` * Fuzz with: -OPTION=VALUE` of its head. ASan holds back
# 4 MB of freed memory, not 256: blocks of one execution are tried again while they are in the cache.
# A minute for one input is for what hangs: a model that closes loops with 0.2 s of computing took more than ten seconds
# beside other processes. What took ten seconds or more is kept as slow-unit-*.
# What a target finds stays in build/fuzz/found/<target>; the inputs worth keeping go to
# tests/fuzz/corpus/<target> by hand.
set -u
export ASAN_OPTIONS="quarantine_size_mb=4${ASAN_OPTIONS+:$ASAN_OPTIONS}"
seconds=$1
executions=$2
shift 2
status=0
for target in "$@"; do
  name=$(basename "$target")
  found=build/fuzz/found/$name
  mkdir -p "$found/corpus"
  dictionary=tests/fuzz/$name.dict
  log=$found/log
  "$target" -max_total_time="$seconds" -runs="$executions" -timeout=60 -print_final_stats=1 -artifact_prefix="$found/" \
    $(sed -n 's/^ \* Fuzz with: *//p' "tests/fuzz/$name.c") ${FUZZ_OPTIONS-} $([ -e "$dictionary" ] && echo "-dict=$dictionary") \
    "$found/corpus" "tests/fuzz/corpus/$name" >"$log" 2>&1
  code=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ $code -eq 0 ]; then
    echo "ok    fuzz $name: ${runs:-0} executions, no finding"
  else
    status=1
    echo "FAIL  fuzz $name: exit $code after ${runs:-?} executions"
    tail -n 60 "$log"
  fi
done
exit $status
