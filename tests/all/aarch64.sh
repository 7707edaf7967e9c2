#!/bin/sh
# AArch64: cross-compiled, and run by qemu-aarch64. It has the hashes of tests/baseline/state_hash, for every run of
# configs and two hundred random spacecraft, from gcc and from clang; logs of the release build fly again there, and its
# logs here. tests/all/same_bits.sh holds x86-64's builds to the same.
. tests/support/script.sh
. tests/support/builds.sh
skip() {
  echo "skipped: $*"
  exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "another machine than x86-64"
tools/setup --check aarch64 || skip "tools/setup aarch64 installs what is missing"
sysroot=$PWD/build/arm64
tools/sysroot arm64 "$sysroot" || skip "no libraries for AArch64"
tree=$dir/tree
mkdir "$tree"
git ls-files -z | xargs -0 cp --parents -t "$tree" || fail "the tree cannot be copied"

emulated() { # FOLDER PROGRAM...: they stand there under their own names, and run by the emulator
  mkdir -p "$1"
  folder=$1
  shift
  for program in "$@"; do
    cat >"$folder/$(basename "$program")" <<S
#!/bin/sh
exec qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$sysroot/usr/lib/aarch64-linux-gnu" "$program" "\$@"
S
    chmod +x "$folder/$(basename "$program")"
  done
}

record "$dir/release" "$ORRERY" "$fsw"

judge() { # NAME VARIABLE=VALUE...
  build=$1 b=$tree/build/$1
  shift
  make -C "$tree" --no-print-directory -j"$(nproc)" COMMIT=x B="build/$build" SYSROOT="$sysroot" "$@" "build/$build/orrery" "build/$build/fsw" "build/$build/tests/unit/core/plant/integrate_bits" \
    "build/$build/tests/unit/core/math/elementary" "build/$build/tests/unit/core/math/spatial" >"$dir/made" 2>&1 || fail "make $*: $(tail -n 20 "$dir/made")"
  readelf -h "$b/orrery" | grep -q 'Machine: *AArch64' || fail "$build is not for AArch64"
  emulated "$dir/$build" "$b/orrery" "$b/fsw" "$b/tests/unit/core/plant/integrate_bits" "$b/tests/unit/core/math/elementary" "$b/tests/unit/core/math/spatial"
  for unit in integrate_bits elementary spatial; do
    "$dir/$build/$unit" >"$dir/said" 2>&1 || fail "$build: $unit: $(cat "$dir/said")"
  done
  ORRERY=$dir/$build/orrery tests/e2e/same_bits.sh --only >"$dir/said" 2>&1 || fail "$build: $(cat "$dir/said")"
  echo "$build: one hash"
}

judge gcc-O2 CC=aarch64-linux-gnu-gcc OPTIMIZE=-O2
replay "$dir/release" "$dir/gcc-O2/orrery"
record "$dir/there" "$dir/gcc-O2/orrery" "$dir/gcc-O2/fsw"
replay "$dir/there" "$ORRERY"
echo "gcc-O2: logs of x86-64 fly there, and its logs here"
if command -v clang >/dev/null; then
  judge clang-O1 CC='clang --target=aarch64-linux-gnu' OPTIMIZE=-O1
else
  echo "without clang: make check installs it"
fi
