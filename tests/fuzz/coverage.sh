#!/bin/sh
# How many lines of the readers the kept corpora reach: prints each file; fails below 90 % of the model and run file
# reader in all, or of any of the files that read what comes over links.
#
#   make && tests/fuzz/coverage.sh        wants gcc's gcov, and the built archives
#
# A reader is a file that looks at bytes of others. Counted are whole files; not counted is what looks at none: settings
# of the command line (io/config/text/setting.c); names, files, mappings and sockets, and the threads that move what
# others read (io/links/carriers/shm_segment.c, socket.c, guard.c, relay.c, port.c, io/client/open.c). Of a header, what
# the readers call: a target's own calls do not count.
set -eu
dir=build/coverage
rm -rf "$dir"
mkdir -p "$dir"
flags="-std=c17 -D_GNU_SOURCE -O0 -g -I. $(pkg-config --cflags libfyaml liburing)"
object() { echo "$dir/$(echo "$1" | tr / _ | sed 's/c$/o/')"; }
config=$(find io/config -name "*.c" | sort)
links="io/links/packets/udp.c io/links/carriers/shm.c io/links/terms/layout.c io/links/terms/rules.c io/links/terms/directory.c io/client/client.c io/client/client_shm.c io/client/client_udp.c"
targets="model case run_file condition control packet segment client_packet client_segment"
for f in $config $links; do
  gcc $flags --coverage -c -o "$(object "$f")" "$f"
done
for target in $targets; do
  gcc $flags -o "$dir/$target-replay" "tests/fuzz/$target.c" tests/replay.c "$dir"/io_*.o build/release/libsupport.a build/release/libio.a \
    build/release/libclient.a build/release/librt.a build/release/libcore.a $(pkg-config --libs libfyaml liburing) -lgcov -lm
  "$dir/$target-replay" > "$dir/$target.log"
done

# Lines of a file, merged over the objects that hold some of it: `percent lines name`.
lines() {
  gcov -n "$dir"/io_*.o 2> "$dir/gcov.errors" | awk -v file="File '$1'" -v name="$1" '
    $0 == file { getline; sub(/Lines executed:/, ""); split($0, part, "% of "); printf "%6.1f %% of %4d  %s\n", part[1], part[2], name }'
}
status=0
for f in $config; do
  [ "$f" = io/config/text/setting.c ] || lines "$f"
done | tee "$dir/config"
awk '{ reached += $1 * $4; all += $4 } END { printf "%6.1f %% of %4d  in all\n", reached / all, all; exit reached < 90 * all }' "$dir/config" || status=1
for f in io/wire/wire.h $links; do
  lines "$f"
done | tee "$dir/links"
awk '$1 < 90 { print $5 ": below 90 %"; low = 1 } END { exit low || NR != 9 }' "$dir/links" || status=1
exit $status
