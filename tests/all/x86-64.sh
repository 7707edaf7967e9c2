#!/bin/sh
# `make ARCH=x86-64`: it builds for processors without AVX, in a tree of its own; the vectors hold, and a flight passes.
# That its bits are those of every build is for same_bits.sh.
. tests/support/script.sh
[ "$(uname -m)" = x86_64 ] || {
  echo "skipped: another machine than x86-64"
  exit 77
}
tree=$dir/tree
mkdir "$tree"
git ls-files -z | xargs -0 cp --parents -t "$tree" || fail "the tree cannot be copied"
make -C "$tree" --no-print-directory -j"$(nproc)" ARCH=x86-64 COMMIT=x all build/release/tests/vectors/compare >"$dir/made" 2>&1 ||
  fail "make ARCH=x86-64: $(tail -n 20 "$dir/made")"
objdump -d "$tree/build/release/orrery" | grep -q '%ymm' && fail "there are instructions of AVX in it"
export ORRERY="$tree/build/release/orrery"
"$tree/build/release/tests/vectors/compare" >"$dir/said" 2>&1 || fail "vectors: $(grep -v '^ok' "$dir/said")"
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 20s >"$dir/said" 2>&1 || fail "cubesat: $(cat "$dir/said")"
exit 0
