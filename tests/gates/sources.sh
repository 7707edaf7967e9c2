#!/bin/sh
# Every tracked source is built, or run, by somebody.
#
#   tests/gates/sources.sh LIST [ROOT]     LIST: what `make` knows (`make -s sources` prints it, one file a line)
#
# A source that stands in no list is compiled by nobody, judged by no gate and fails nothing: it has vanished. The same
# holds for a script of tests/e2e, tests/all or tests/soak that is not executable, and for a test in
# Python that no script runs.
set -eu
list=$(realpath "$1")
cd "${2:-.}"
{
  git ls-files -- '*.c' '*.h' | grep -v '^tests/fuzz/corpus/' | grep -vxF -f "$list" | sed 's/$/ is in no list of the Makefile/' || true
  git ls-files -- 'tests/e2e/*.sh' 'tests/soak/*.sh' 'tests/all/*.sh' | grep -v '^tests/[a-z0-9]*/.*/' | while read -r f; do
    [ -x "$f" ] || echo "$f is not executable, so nobody runs it"
  done
  git ls-files -- 'tests/*.py' | while read -r f; do
    [ -x "$f" ] || grep -rqF "$(basename "$f" .py)" tests --include='*.sh' || echo "$f: no script runs it"
  done
} | { ! grep . ; }
