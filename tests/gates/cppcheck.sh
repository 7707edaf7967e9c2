#!/bin/sh
# tests/gates/cppcheck.sh FILE...
#
# CPPCHECK_DIR: keeps what was found of each file, so that only changed ones are looked at again. It goes
# when this script changes.
dir=${CPPCHECK_DIR:-}
if [ -n "$dir" ]; then
  [ "$0" -nt "$dir" ] && rm -rf "$dir"
  mkdir -p "$dir"
fi
exec cppcheck --quiet --std=c11 --language=c --enable=warning,performance --inline-suppr --error-exitcode=1 \
  --suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=invalidFunctionArg \
  --suppress=selfAssignment --suppress=arrayIndexThenCheck --library=posix ${dir:+--cppcheck-build-dir="$dir"} \
  -D_GNU_SOURCE -I. "$@"
