#!/bin/sh
# A client and a run of other versions of the wire: the client refuses, names both, and says what to do; in C and in
# Python. Over UDP: tests/unit/io.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
over shm configs/cubesat.yaml >"$dir/run.yaml"
"$ORRERY" run "$dir/run.yaml" --mode realtime --duration 900s --set realtime.priority=0 --set links.fsw.wait=0s >"$dir/run" 2>"$dir/err" &
run=$!
await flies $run || fail "the run does not fly: $(cat "$dir/err")"
version=$(sed -n 's/.*ORR_WIRE_VERSION = \([0-9]*\),.*/\1/p' io/wire/wire.h)
echo="$(dirname "$ORRERY")/echo"
refuses() { # VERSION MORE: both clients, of a run of that version
  python3 -c 'import os, struct, sys; os.pwrite(os.open(sys.argv[1], os.O_RDWR), struct.pack("<I", int(sys.argv[2])), 12)' "/dev/shm$name" "$1" || fail "the segment's header"
  timeout 30 "$echo" "shm:$name" >"$dir/out" 2>&1 && fail "a C client of version $version flies a run of version $1"
  grep -q "the run speaks version $1 of the wire, this program version $version: build it with the client of the Orrery that runs$2\$" "$dir/out" || fail "C: $(cat "$dir/out")"
  timeout 30 python3 -I -S -B io/client/orrery_client.py "shm:$name" >"$dir/out" 2>&1 && fail "the client in Python of version $version flies a run of version $1"
  grep -q "the run speaks version $1 of the wire, this client version $version: take the orrery_client.py of the Orrery that runs$2\$" "$dir/out" || fail "Python: $(cat "$dir/out")"
}
refuses $((version + 1)) ''
refuses $((version - 1)) ', or fly with a newer Orrery'
python3 -c 'import os, struct, sys; os.pwrite(os.open(sys.argv[1], os.O_RDWR), struct.pack("<I", int(sys.argv[2])), 12)' "/dev/shm$name" "$version"
timeout 150 python3 -I -S -B - "$name" <<'P' || fail "and of its own version it flies"
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open("shm:" + sys.argv[1], 60) as link:
    link.wait(60)
    link.send(end=True)
P
wait $run
grep -q 'the flight software ended the run' "$dir/run" || fail "$(cat "$dir/run" "$dir/err")"
exit 0
