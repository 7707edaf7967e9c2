#!/bin/sh
# tests/gates/cppcheck.sh FILE...
exec cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
  --suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=invalidFunctionArg \
  --suppress=readdirCalled --suppress=selfAssignment --library=posix -D_GNU_SOURCE -I. "$@"
