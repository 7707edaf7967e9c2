#!/bin/sh
# One hash for every build: gcc and clang from -O0 to -O3, processors without AVX, with and without fused multiply-adds. Each build is made in a folder of its own,
# flies every run of configs for a second and two hundred random spacecraft, and has the hashes of tests/baseline/state_hash.
. tests/support/script.sh
[ "$(uname -m)" = x86_64 ] || {
  echo "skipped: another machine than x86-64"
  exit 77
}
tree=$dir/tree
mkdir "$tree"
git ls-files -z | xargs -0 cp --parents -t "$tree" || fail "the tree cannot be copied"

judge() { # NAME VARIABLE=VALUE...
  name=$1
  shift
  make -C "$tree" --no-print-directory -j"$(nproc)" COMMIT=x B="build/$name" "$@" "build/$name/orrery" "build/$name/tests/unit/core/plant/integrate_bits" >"$dir/made" 2>&1 ||
    fail "make $*: $(tail -n 20 "$dir/made")"
  "$tree/build/$name/tests/unit/core/plant/integrate_bits" >"$dir/said" 2>&1 || fail "$name: random models: $(cat "$dir/said")"
  ORRERY=$tree/build/$name/orrery tests/e2e/same_bits.sh >"$dir/said" 2>&1 || fail "$name: $(cat "$dir/said")"
  echo "$name: one hash"
  rm -r "$tree/build/$name"
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
