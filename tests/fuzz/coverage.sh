#!/bin/sh
# How many lines of the reader the kept corpora reach: prints each file, and fails below 90 % in all.
#
#   make && tests/fuzz/coverage.sh        wants gcc's gcov, and the built archives
#
# Settings of the command line (io/config/setting.c) are no file, and not counted.
set -eu
dir=build/coverage
rm -rf "$dir"
mkdir -p "$dir"
flags="-std=c17 -D_GNU_SOURCE -O0 -g --coverage -I. $(pkg-config --cflags libfyaml liburing)"
for f in io/config/*.c tests/replay.c tests/fuzz/model.c tests/fuzz/case.c tests/fuzz/run_file.c; do
  gcc $flags -c -o "$dir/$(echo "$f" | tr / _ | sed 's/c$/o/')" "$f"
done
for target in model case run_file; do
  gcc --coverage -o "$dir/$target-replay" "$dir/tests_fuzz_$target.o" "$dir"/tests_replay.o "$dir"/io_config_*.o build/release/libio.a \
    build/release/librt.a build/release/libcore.a $(pkg-config --libs libfyaml liburing) -lm
  "$dir/$target-replay" > "$dir/$target.log"
done
status=0
for f in io/config/*.c; do
  [ "$f" = io/config/setting.c ] && continue
  object=$dir/$(echo "$f" | tr / _ | sed 's/c$/o/')
  gcov -n -o "$object" "$f" 2> "$dir/gcov.errors" | awk -v file="File '$f'" -v name="$f" '
    $0 == file { getline; sub(/Lines executed:/, ""); split($0, part, "% of "); printf "%6.1f %% of %4d  %s\n", part[1], part[2], name }'
done > "$dir/lines"
cat "$dir/lines"
awk '{ reached += $1 * $4; all += $4 } END { printf "%6.1f %% of %4d  in all\n", reached / all, all; exit reached < 90 * all }' "$dir/lines" || status=1
exit $status
