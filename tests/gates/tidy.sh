#!/bin/sh
# tests/gates/tidy.sh FILE [COMPILER FLAG...]
#
# TIDY_NODES: how many nodes of a function's states the analyzer walks before it gives the function up.
file=$1
shift
out=$(clang-tidy --quiet --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \
  --extra-arg=max-nodes="${TIDY_NODES:-50000}" "$file" -- "$@" 2>&1) && exit 0
printf '%s\n' "$out" | grep -v 'warnings generated\|warning generated'
exit 1
