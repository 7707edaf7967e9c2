#!/bin/sh
# tests/gates/cppcheck.sh FILE...
exec cppcheck --quiet --std=c11 --language=c --enable=warning,performance --inline-suppr --error-exitcode=1 \
  --suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=invalidFunctionArg \
  --suppress=selfAssignment --suppress=arrayIndexThenCheck --library=posix -D_GNU_SOURCE -I. "$@"
