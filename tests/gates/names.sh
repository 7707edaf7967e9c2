#!/bin/sh
# Public names start with orr_ (constants with ORR_): a program that links the archives finds no other name taken.
#
#   tests/gates/names.sh LIB...
set -eu
others=$(nm -A -g --defined-only "$@" 2>/dev/null | awk 'NF >= 3 && $NF !~ /^(orr|ORR)_/ { print $1 " defines " $NF }')
[ -n "$others" ] || exit 0
printf '%s\n' "$others"
exit 1
