#!/bin/sh
# Shows of each gate that it lets right things through and stops wrong ones.
#
#   tests/gates/selftest.sh GATE...       from the top of the repository
set -u
gates=$PWD/tests/gates
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp .clang-format .clang-tidy "$dir"
cd "$dir" || exit 1
failed=0

passes() {
  "$@" >out 2>&1 && return
  echo "FAIL: stopped, but is right: $*"
  cat out
  failed=1
}
stops() { # PATTERN COMMAND...
  pattern=$1
  shift
  if "$@" >out 2>&1; then
    echo "FAIL: let through, though '$pattern' was to be said: $*"
    failed=1
  elif ! grep -q -e "$pattern" out; then
    echo "FAIL: '$pattern' is not what was said: $*"
    cat out
    failed=1
  fi
}
file() { # NAME, content on stdin
  mkdir -p "$(dirname "$1")"
  cat >"$1"
}

test_rooms() {
  rm -rf house && mkdir house
  for f in core/a.h core/devices/d.h rt/k.h io/s.h io/wire/wire.h io/client/c.h tools/common/commands.h tests/support/s.h; do
    file house/$f </dev/null
  done
  file house/core/good_core.c <<'E2'
#include <math.h>
#include "a.h"
#include "core/devices/d.h"
#include "devices/../a.h"
E2
  printf '#include "core/a.h"\n#include "rt/k.h"\n#include <stdio.h>\n' | file house/io/good_io.c
  printf '#include "io/wire/wire.h"\n#include "c.h"\n#include <stdio.h>\n' | file house/io/client/good_client.c
  printf '#include "io/wire/wire.h"\n#include "io/client/c.h"\n' | file house/tools/fsw/good_fsw.c
  printf '#include "core/a.h"\n#include "io/client/c.h"\n' | file house/tools/good_tools.c
  passes "$gates/rooms.sh" house
  while IFS='|' read -r where what said; do
    printf '#include %s\n' "$what" | file "house/$where"
    stops "$said" "$gates/rooms.sh" house
    rm "house/$where"
    passes "$gates/rooms.sh" house
  done <<'E2'
core/bad.c|"io/s.h"|core/bad.c:1: core may not include io/s.h
core/bad.c|"../io/s.h"|core may not include io/s.h
core/devices/bad.h|"rt/k.h"|core may not include rt/k.h
core/bad.c|<stdio.h>|core may not include <stdio.h>
core/bad.c|<stdlib.h>|core may not include <stdlib.h>
core/bad.c|<time.h>|core may not include <time.h>
core/bad.c|<pthread.h>|core may not include <pthread.h>
core/bad.c|<erfa.h>|core may not include <erfa.h>
core/bad.c|"nowhere.h"|no file "nowhere.h"
rt/bad.c|"core/a.h"|rt may not include core/a.h
io/bad.c|"tools/common/commands.h"|io may not include tools/common/commands.h
io/bad.c|"io/client/c.h"|io may not include io/client/c.h
io/client/bad.c|"io/s.h"|io/client may not include io/s.h
io/client/bad.c|"core/a.h"|io/client may not include core/a.h
tools/fsw/bad.c|"io/s.h"|tools/fsw may not include io/s.h
tools/fsw/bad.c|"tools/common/commands.h"|tools/fsw may not include tools/common/commands.h
tools/bad.c|"nowhere.h"|no file "nowhere.h"
E2
  printf '#include "io/s.h"\n' | file house/io/wire/wire.h
  stops 'io may not include io/s.h' "$gates/rooms.sh" house

  rm -rf house && mkdir house
  for f in core/math/m.h core/tree/t.h core/plant/p.h rt/tick/k.h rt/machine/n.h rt/top.h io/wire/wire.h io/config/text/x.h \
    io/config/run/r.h io/links/l.h io/s.h tools/common/c.h tools/run/u.h tools/eval/e.h; do
    file house/$f </dev/null
  done
  file house/rt/top.c <<'E2'
#include "rt/machine/n.h"
#include "rt/tick/k.h"
E2
  printf '#include "core/math/m.h"\n' | file house/core/tree/t.c
  printf '#include "io/links/l.h"\n#include "io/config/run/r.h"\n' | file house/io/s.c
  printf '#include "tools/run/u.h"\n#include "tools/common/c.h"\n' | file house/tools/eval/e.c
  passes "$gates/rooms.sh" house
  while IFS='|' read -r where what said; do
    printf '#include %s\n' "$what" | file "house/$where"
    stops "$said" "$gates/rooms.sh" house
    rm "house/$where"
    passes "$gates/rooms.sh" house
  done <<'E2'
core/math/bad.c|"core/tree/t.h"|core/math comes before core/tree
core/tree/bad.c|"core/plant/p.h"|core/tree comes before core/plant
rt/tick/bad.c|"rt/machine/n.h"|rt/tick comes before rt/machine
rt/tick/bad.c|"rt/top.h"|rt/tick comes before rt and
io/config/text/bad.c|"io/config/run/r.h"|io/config/text comes before io/config/run
io/links/bad.c|"io/s.h"|io/links comes before io and
tools/run/bad.c|"tools/eval/e.h"|tools/run comes before tools/eval
tools/common/bad.c|"tools/run/u.h"|tools/common comes before tools/run
E2
  file house/io/links/t.h </dev/null
  stops 't: .*/t has that name already' "$gates/rooms.sh" house
  rm house/io/links/t.h

  for f in unit/io/s.c unit/io/s_two_ways.c timing/io/links/l_pace.c unit/support/p.c unit/core/core_allocation.c support/p.h; do
    file house/tests/$f </dev/null
  done
  passes "$gates/rooms.sh" house
  for f in unit/io/links/s.c unit/io/sx.c timing/io/l_pace.c unit/support/q.c; do
    file house/tests/$f </dev/null
    stops "tests/$f: no source in that folder bears its stem" "$gates/rooms.sh" house
    rm house/tests/$f
  done
}

test_sources() {
  rm -rf house && mkdir -p house/core house/tests/e2e house/tests/unit
  (
    cd house
    git init -q .
    echo 'int a;' >core/a.c
    printf '#!/bin/sh\npython3 tests/unit/p.py\n' >tests/e2e/s.sh
    echo 'pass' >tests/unit/p.py
    chmod +x tests/e2e/s.sh
    git add -A
  )
  echo core/a.c >list
  passes "$gates/sources.sh" list house
  echo 'int b;' >house/core/b.c
  git -C house add -A
  stops 'core/b.c is in no list' "$gates/sources.sh" list house
  echo core/b.c >>list
  passes "$gates/sources.sh" list house
  chmod -x house/tests/e2e/s.sh
  stops 'tests/e2e/s.sh is not executable' "$gates/sources.sh" list house
  chmod +x house/tests/e2e/s.sh
  echo 'pass' >house/tests/unit/q.py
  git -C house add -A
  stops 'tests/unit/q.py: no script runs it' "$gates/sources.sh" list house
}

library() { # C source on stdin, extra flags as arguments; makes lib.a
  rm -f lib.a
  gcc -x c -std=c17 -march=x86-64-v3 -O3 -ffp-contract=off -fno-math-errno "$@" -c -o one.o - && ar rcs lib.a one.o
}

test_core() {
  library <<'E2'
#include <math.h>
#include <string.h>
static const char *const names[] = {"a", "b"};
double orr_other(const double *x);
double orr_one(double *x, int i) { memset(x, 0, 8); return sqrt(x[0]) + fma(x[1], x[2], names[i][0] == 'a'); }
double orr_other(const double *x) { return floor(x[0]) + rint(x[1]); }
E2
  passes "$gates/core.sh" lib.a
  for call in 'malloc(8)' 'printf("x")' 'fopen("x", "r")' 'pthread_mutex_lock(0)' 'clock_gettime(0, 0)' 'abort()' 'snprintf(0, 0, "x")' 'eraEra00(0, 0)'; do
    printf '#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#include <pthread.h>\ndouble orr_f(double a, double b, double c) { %s; return a * b + c; }\n' "$call" |
      library -w -D_GNU_SOURCE -fno-builtin
    stops "one.o refers to ${call%%(*}" "$gates/core.sh" lib.a
  done
  for state in 'static int count' 'static _Thread_local int count' 'static int count = 3' 'int count'; do
    printf '%s;\ndouble orr_f(double a, double b, double c) { return a * b + c + ++count; }\n' "$state" | library
    stops 'has writable data count' "$gates/core.sh" lib.a
  done
  for call in 'sin(a)' 'exp(a)' 'fmax(a, b)' 'pow(a, b)'; do
    printf '#include <math.h>\ndouble orr_f(double a, double b) { return %s; }\n' "$call" | library -fno-builtin
    stops "one.o refers to ${call%%(*}" "$gates/core.sh" lib.a
  done
  echo 'void orr_f(double *restrict c, const double *a, const double *b) { c[0] = a[0] * b[0] - a[1] * b[1]; c[1] = a[0] * b[1] + a[1] * b[0]; }' |
    library -ffp-contract=fast
  stops 'vfmaddsub' "$gates/core.sh" lib.a
}

test_names() {
  echo 'static int hidden(void) { return 1; } int orr_f(void) { return hidden(); }' | library
  passes "$gates/names.sh" lib.a
  echo 'int open_door(void) { return 1; }' | library
  stops 'defines open_door' "$gates/names.sh" lib.a
}

test_hardened() {
  printf '#include <stdio.h>\n#include <string.h>\nint main(int n, char **v) { char t[64]; memcpy(t, v[0], (size_t)n); return printf("%%s", t); }\n' >hard.c
  hard="-O2 -fPIE -pie -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack"
  # shellcheck disable=SC2086
  gcc $hard -o hard hard.c
  passes "$gates/hardened.sh" hard
  while IFS='|' read -r without said; do
    # shellcheck disable=SC2086
    gcc $hard $without -o soft hard.c
    stops "soft lacks $said" "$gates/hardened.sh" hard soft
  done <<'E2'
-no-pie -fno-pie|PIE
-Wl,-z,norelro|RELRO
-Wl,-z,lazy|BIND_NOW
-Wl,-z,execstack|a stack that is not executable
-fno-stack-protector|canaries
-U_FORTIFY_SOURCE|checked copies
E2
}

test_format() {
  printf 'int orr_f(int a) { return a; }\n' >good.c
  passes "$gates/format.sh" good.c
  printf 'int orr_f( int a )\n{return a;}\n' >bad.c
  stops 'clang-format' "$gates/format.sh" good.c bad.c
}

test_pictures() {
  rm -rf house && mkdir -p house/core/math
  echo 'int a;' >house/core/math/seen.c
  printf '# core\n\n```\nmath/  seen   what it is\n```\n\n```\nunseen\n```\n' >house/core/README.md
  passes "$gates/pictures.sh" house
  echo 'int b;' >house/core/math/unseen.h
  stops 'core/README.md: its picture lacks unseen' "$gates/pictures.sh" house
  printf '# core\n\n```\nmath/  seen   what it is, beside unseen\n       unseen the other\n```\n' >house/core/README.md
  passes "$gates/pictures.sh" house
  echo '#include "core/math/unseen.h"' >house/core/math/seen.h
  stops 'core/README.md: seen stands before unseen, which its header includes' "$gates/pictures.sh" house
  rm house/core/math/unseen.h house/core/math/seen.h house/core/README.md
  stops 'core has no README.md' "$gates/pictures.sh" house
}

test_columns() {
  printf '/* %s */\n' "$(printf '\316\267%.0s' $(seq 114))" >good.c
  passes "$gates/columns.sh" good.c
  printf '/* %s */\n' "$(printf 'x%.0s' $(seq 115))" >bad.c
  stops 'bad.c:1: 121 characters' "$gates/columns.sh" good.c bad.c
  for f in good.sh good Makefile good.yaml; do
    { printf '# %s\n' "$(printf '\316\267%.0s' $(seq 118))"; printf 'x%.0s' $(seq 200); echo ' # long code'; } >$f
  done
  passes "$gates/columns.sh" good.c good.sh good Makefile good.yaml
  for f in bad.sh bad.py bad bad.yaml; do
    printf 'code\n  # %s\n' "$(printf 'x%.0s' $(seq 117))" >$f
    stops "$f:2: 121 characters" "$gates/columns.sh" good.c good.sh $f
  done
}

test_tidy() {
  printf 'int orr_f(int a);\nint orr_f(int a) { return a; }\n' >good.c
  passes "$gates/tidy.sh" good.c -std=c17
  printf '#include <stdlib.h>\nint orr_f(int a);\nint orr_f(int a) {\n  int *p = NULL;\n  return a ? *p : 0;\n}\n' >bad.c
  stops 'NullDereference' "$gates/tidy.sh" bad.c -std=c17
  { echo 'int orr_f(int a);'; echo 'int orr_f(int a) {'; yes '  a++;' | head -n 100; echo '  return a; }'; } >bad.c
  stops 'readability-function-size' "$gates/tidy.sh" bad.c -std=c17
}

test_cppcheck() {
  printf 'int orr_f(int a) { return a; }\n' >good.c
  passes "$gates/cppcheck.sh" good.c
  printf 'int orr_f(int a) {\n  int v[4] = {0};\n  v[4] = a;\n  return v[0];\n}\n' >bad.c
  stops 'arrayIndexOutOfBounds' "$gates/cppcheck.sh" good.c bad.c
}

for gate in "$@"; do
  "test_$gate"
done
exit $failed
