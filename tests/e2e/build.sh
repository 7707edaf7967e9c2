#!/bin/sh
# The Makefile on a house of two rooms: what is rebuilt when, where variants go, and what a missing package says.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tools/common" "$dir/core" "$dir/bin"
cp Makefile "$dir"
cp tools/setup "$dir/tools"
cp tools/common/version.c tools/common/version.h "$dir/tools/common"
cd "$dir" || exit 1
# whatever the make that runs the tests was told is not for this one
unset MAKEFLAGS MAKELEVEL MFLAGS CC CFLAGS ARCH DEBUG SANITIZE FUZZ

fail() {
  echo "FAIL: $1"
  cat log
  exit 1
}
build() { make "$@" >log 2>&1; }
compiled() { grep -q "^  cc .*$1" log; }
says() { [ "$(build/orrery | head -n 1)" = "$1" ] || fail "orrery says '$(build/orrery)', not '$1'"; }

cat >core/a.h <<'E2'
enum { ORR_A = 1 };
double orr_a(double x, double y, double z);
int orr_twice(int x);
E2
cat >core/a.c <<'E2'
#include "core/a.h"
double orr_a(double x, double y, double z) { return x * y + z; }
int orr_twice(int x) { return 2 * x; }
E2
cat >tools/main.c <<'E2'
#include <stdio.h>
#include "core/a.h"
#include "tools/common/version.h"
#ifndef MARK
#define MARK 0
#endif
int main(void) {
  printf("%d %d %.0f\n%s\n", ORR_A, MARK, orr_a(2, orr_twice(1), 6), orr_version_commit());
  return 0;
}
E2

build || fail "make"
says '1 0 10'
[ "$(build/orrery | tail -n 1)" = unversioned ] || fail "outside a repository the version is unversioned"
build || fail "make again"
compiled . && fail "the second make compiles"

sed -i 's/ORR_A = 1/ORR_A = 2/' core/a.h
build || fail "make after a header changed"
says '2 0 10'
build CFLAGS=-DMARK=7 || fail "make with other flags"
says '2 7 10'
build || fail "make with the old flags"
says '2 0 10'

build DEBUG=1 || fail "make DEBUG=1"
build SANITIZE=1 || fail "make SANITIZE=1"
compiled build/sanitize/core/a.o || fail "the sanitizer build has its own folder"
nm build/sanitize/orrery | grep -q __asan_init || fail "the sanitizer build has no address sanitizer"
nm build/sanitize/orrery | grep -q __ubsan_handle || fail "the sanitizer build has no undefined-behaviour sanitizer"
build/debug/orrery >/dev/null || fail "build/debug/orrery"
[ "$(readlink build/orrery)" = release/orrery ] || fail "build/orrery is not the release build"
build || fail "make after the variants"
compiled . && fail "the variants disturb the release build"

if [ "$(uname -m)" = x86_64 ]; then
  objdump -d build/release/libcore.a | grep -q vmulsd || fail "no AVX for x86-64-v3"
  objdump -d build/release/libcore.a | grep -q vfmadd && fail "the compiler fuses a product with a sum"
  build ARCH=x86-64-v2 || fail "make ARCH=x86-64-v2"
  objdump -d build/release/libcore.a | grep -q vmulsd && fail "AVX for x86-64-v2"
fi

# Files that come and go, in a folder of the room too.
mkdir -p core/math/deep
echo 'int orr_b(void); int orr_b(void) { return 1; }' >core/math/deep/b.c
build || fail "make with a new file"
ar t build/release/libcore.a | grep -q '^b.o$' || fail "a new file is not in its archive"
rm core/math/deep/b.c
build || fail "make without it"
ar t build/release/libcore.a | grep -q '^b.o$' && fail "a removed file is still in its archive"

# What core must not see, and warnings.
echo '#include <time.h>
long orr_b(void);
long orr_b(void) { struct timespec t; return clock_gettime(CLOCK_MONOTONIC, &t); }' >core/b.c
build && fail "POSIX is declared in core"
echo 'double orr_b(float x); double orr_b(float x) { return x * 2.0; }' >core/b.c
build && fail "a float promoted to double passes"
rm core/b.c

if command -v clang >/dev/null; then
  build CC=clang || fail "make CC=clang"
  [ "$(readlink build/orrery)" = release-clang/orrery ] || fail "build/orrery is not the last release build"
  says '2 0 10'
fi

printf '#!/bin/sh\n[ "$2" != jansson ]\n' >bin/pkg-config
chmod +x bin/pkg-config
touch tools/main.c
PATH=$dir/bin:$PATH build && fail "make with a missing package"
grep -q 'libjansson-dev' log && grep -q '^Install them with: tools/setup build' log || fail "a missing package is not named"
exit 0
