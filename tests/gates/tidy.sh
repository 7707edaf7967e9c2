#!/bin/sh
# tests/gates/tidy.sh FILE [COMPILER FLAG...]
file=$1
shift
out=$(clang-tidy --quiet "$file" -- "$@" 2>&1) && exit 0
printf '%s\n' "$out" | grep -v 'warnings generated\|warning generated'
exit 1
