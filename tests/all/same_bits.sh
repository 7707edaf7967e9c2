#!/bin/sh
# One hash for every build: gcc and clang from -O0 to -O3, processors without AVX, with and without fused multiply-adds.
# Each build is made in a folder of its own, flies every run of configs for a second and two hundred random spacecraft,
# and has the hashes of tests/baseline/state_hash. Logs of the release build (gcc -O3, x86-64-v3) fly again under each,
# and those that each records under the release build. aarch64.sh does the same for AArch64.
. tests/support/script.sh
. tests/support/builds.sh
[ "$(uname -m)" = x86_64 ] || {
  echo "skipped: another machine than x86-64"
  exit 77
}
tree=$dir/tree
mkdir "$tree"
git ls-files -z | xargs -0 cp --parents -t "$tree" || fail "the tree cannot be copied"

record "$dir/release" "$ORRERY" "$fsw"

has_the_hashes() { # NAME FOLDER
  "$2/tests/unit/core/plant/integrate_bits" >"$dir/said" 2>&1 || fail "$1: random models: $(cat "$dir/said")"
  ORRERY=$2/orrery tests/e2e/same_bits.sh --only >"$dir/said" 2>&1 || fail "$1: $(cat "$dir/said")"
}

judge() { # NAME VARIABLE=VALUE...
  build=$1
  shift
  make -C "$tree" --no-print-directory -j"$(nproc)" COMMIT=x B="build/$build" "$@" "build/$build/orrery" "build/$build/fsw" "build/$build/tests/unit/core/plant/integrate_bits" >"$dir/made" 2>&1 ||
    fail "make $*: $(tail -n 20 "$dir/made")"
  has_the_hashes "$build" "$tree/build/$build"
  replay "$dir/release" "$tree/build/$build/orrery"
  record "$dir/of-$build" "$tree/build/$build/orrery" "$tree/build/$build/fsw"
  replay "$dir/of-$build" "$ORRERY"
  rm -r "$dir/of-$build"
  # the C library chooses its fma and floor by the processor: as on one that has neither
  [ "$build" != gcc-O3-x86-64 ] || (
    export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-AVX,-AVX_Usable,-SSE4_1
    has_the_hashes "$build without FMA" "$tree/build/$build"
  ) || exit 1
  echo "$build: one hash, and its logs fly elsewhere"
  rm -r "$tree/build/$build"
}

judge gcc-O0 CC=gcc OPTIMIZE=-O0 HARDEN=
judge gcc-O2-v2 CC=gcc OPTIMIZE=-O2 ARCH=x86-64-v2
judge gcc-O3-x86-64 CC=gcc ARCH=x86-64
if command -v clang >/dev/null; then
  judge clang-O1-x86-64 CC=clang OPTIMIZE=-O1 ARCH=x86-64
  judge clang-O3-v3 CC=clang
else
  echo "without clang: make check installs it"
fi
