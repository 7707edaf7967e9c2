#!/bin/sh
# A log flies again: identical in every mode, from any checkpoint and when cut (log_lost.sh: when frames are missing);
# and one number that is another, of an output, a command or a state, is found where it stands.
. tests/support/script.sh

identical() { # ARGUMENTS: of replay; what it says in out
  "$ORRERY" replay "$@" >"$dir/out" 2>"$dir/err" || fail "replay $*: $(cat "$dir/out" "$dir/err")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay $*: $(cat "$dir/out")"
}

# batch: rigid, flexible, in loops, and with every channel there is
for config in cubesat wings-slew deployment; do
  duration=$([ $config = deployment ] && echo 12s || echo 25s)
  "$ORRERY" run configs/$config.yaml --mode batch --duration $duration --set 'expect=[]' --log "$dir/$config.mcap" --set 'record={channels: ["*"], checkpoint: 4 s}' >"$dir/run" ||
    fail "$config: $(cat "$dir/run")"
  identical "$dir/$config.mcap"
  grep -q 'the state_hash at the end$' "$dir/out" || fail "$config: no state_hash: $(cat "$dir/out")"
  identical "$dir/$config.mcap" --from 9s
  grep -q "frames $(sed -n 's/^flown  *[0-9]* frames of \([0-9.]*\) ms.*/\1/p' "$dir/run" | awk '{print 8000 / $1}') to" "$dir/out" ||
    fail "$config: it does not begin at the checkpoint before 9 s: $(cat "$dir/out")"
  identical "$dir/$config.mcap" --from 5s --to 6s
done

# a command that was given once, and stands beyond a checkpoint
cat >"$dir/held.yaml" <<'Y'
orrery: 1
spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}}}
actuators: {w: {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: 0.1}}
commands: [{channel: w.torque, at: 1 s, value: 0.01}]
simulation: {step: 10 ms, duration: 10 s}
record: {checkpoint: 4 s}
Y
"$ORRERY" run "$dir/held.yaml" --mode batch --log "$dir/held.mcap" >/dev/null || fail "held"
identical "$dir/held.mcap" --from 9s

# lockstep and real time, with flight software outside
for mode in lockstep realtime; do
  over shm configs/cubesat.yaml | sed "s|orrery: 1|&\nrecord: {checkpoint: 500 ms}|" >"$dir/ship.yaml"
  "$fsw" "$(url_of shm)" cubesat >"$dir/fsw" 2>&1 &
  peer=$!
  "$ORRERY" run "$dir/ship.yaml" --mode $mode --duration 6s --log "$dir/$mode.mcap" --set realtime.priority=0 --set realtime.core=any >"$dir/run" 2>&1
  wait $peer
  [ -s "$dir/$mode.mcap" ] || fail "$mode: $(cat "$dir/run")"
  identical "$dir/$mode.mcap"
  identical "$dir/$mode.mcap" --from 1s
  "$ORRERY" log cat "$dir/$mode.mcap" --topics '/orrery/link/fsw' >"$dir/link" && grep -q 'event="applied' "$dir/link" || fail "$mode: no command of the link in the log"
done
"$ORRERY" log cat "$dir/realtime.mcap" --topics /orrery/timing | wc -l >"$dir/timed"
[ "$(cat "$dir/timed")" -eq 600 ] || fail "$(cat "$dir/timed") records of 600 frames"

# the log is enough: its run file may be gone, and the settings are in it
mkdir "$dir/gone" && cp configs/wings-slew.yaml configs/wings.yaml "$dir/gone" || exit 1
"$ORRERY" run "$dir/gone/wings-slew.yaml" --mode batch --duration 3s --set 'expect=[]' --seed 7 --set simulation.substeps=2 --log "$dir/gone.mcap" >/dev/null || fail "a run from a folder"
rm -r "$dir/gone"
identical "$dir/gone.mcap"
# the same for the tables of an environment, one of them named by a setting
mkdir "$dir/gone" && cp -r configs/orbit.yaml configs/data "$dir/gone" || exit 1
"$ORRERY" run "$dir/gone/orbit.yaml" --mode batch --duration 20s --set 'expect=[]' --log "$dir/orbit.mcap" \
  --set "environment.magnetic_field.file=$dir/gone/data/wmm2025.cof" >"$dir/run" 2>&1 || fail "an orbit from a folder: $(cat "$dir/run")"
rm -r "$dir/gone"
identical "$dir/orbit.mcap"
echo '[{channel: bus.rate, below: 1 deg/s}]' >"$dir/rules.yaml"
"$ORRERY" judge "$dir/orbit.mcap" "$dir/rules.yaml" >"$dir/out" 2>&1 || fail "an orbit is judged: $(cat "$dir/out")"

# a log cut in a chunk
head -c $(($(stat -c %s "$dir/wings-slew.mcap") * 2 / 3)) "$dir/wings-slew.mcap" >"$dir/cut.mcap"
identical "$dir/cut.mcap"
grep -q 'no state_hash$' "$dir/out" && grep -q 'was cut' "$dir/err" || fail "a cut log: $(cat "$dir/out" "$dir/err")"

command -v python3 >/dev/null || exit 0
# another number in a log whose sums are right: which, is in $dir/what
cat >"$dir/spoil.py" <<'P'
import struct, sys, zlib
source, to, topic, message, at = sys.argv[1:4] + [int(a) for a in sys.argv[4:]]
def seal(data, begin, end):  # the sum of a saved state: FNV-1a over its words, folded
    total = 14695981039346656037
    for word, in struct.iter_unpack("<Q", data[begin:end - 8]):
        total = (total ^ word) * 1099511628211 % 2 ** 64
        total ^= total >> 32
    data[end - 8:end] = struct.pack("<Q", total)
data = bytearray(open(source, "rb").read())
place, channel, seen = 8, None, 0
while place < len(data):
    op, size = data[place], int.from_bytes(data[place + 1:place + 9], "little")
    body = place + 9
    if op == 4 and data[body + 8:body + 8 + len(topic)].decode("utf-8", "replace") == topic and int.from_bytes(data[body + 4:body + 8], "little") == len(topic):
        channel = int.from_bytes(data[body:body + 2], "little")
    if op == 6:
        how = int.from_bytes(data[body + 28:body + 32], "little")
        first = body + 40 + how
        inner = first
        while inner < body + size:
            n = int.from_bytes(data[inner + 1:inner + 9], "little")
            if data[inner] == 5 and int.from_bytes(data[inner + 9:inner + 11], "little") == channel:
                seen += 1
                if seen == message:
                    data[inner + 9 + 22 + 4 + at] ^= 1
                    if topic == "/orrery/checkpoint":
                        seal(data, inner + 9 + 22 + 4 + 16, inner + 9 + n)
                    data[body + 24:body + 28] = struct.pack("<I", zlib.crc32(data[first:body + size]))
            inner += 9 + n
    place = body + size
open(to, "wb").write(data)
P
differs() { # WHAT TOPIC MESSAGE BYTE PATTERN
  python3 "$dir/spoil.py" "$dir/cubesat.mcap" "$dir/spoiled.mcap" "$2" "$3" "$4" || fail "$1: spoil.py"
  timeout 60 "$ORRERY" replay "$dir/spoiled.mcap" >"$dir/out" 2>&1
  [ $? -eq 1 ] && grep -Eq "$5" "$dir/out" || fail "$1: $(cat "$dir/out")"
}
differs "an output" /gyro 12 8 '^differs     at frame 110 \(t = 1.1 s\), stage sensors: gyro.rate.y: [-0-9.e]+ in the log, [-0-9.e]+ now \(1 ulps\)$'
differs "a target" /bus 100 0 '^differs     at frame 99 \(t = 0.99 s\), stage sensors: bus.target.x: '
differs "a command in its topic" /wheel_y 51 0 '^differs     at frame 50 \(t = 0.5 s\), stage latch: wheel_y.torque: '
differs "the command that acts" /orrery/commands 6 8 '^differs     at frame 50 \(t = 0.5 s\), stage latch: wheel_x.torque: '
differs "a state" /orrery/checkpoint 2 264 '^differs     at frame 400 \(t = 4 s\), stage integrate: the state$'
"$ORRERY" replay "$dir/spoiled.mcap" --json >"$dir/out"
[ $? -eq 1 ] && python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["identical"] is False and r["frame"] == 400, r' "$dir/out" || fail "--json: $(cat "$dir/out")"
# a time of two years, in a run of 25 s: it is not flown there
differs "the time of a message" /gyro 12 -13 '^orrery replay: a message at 7[0-9.e+]+ s is not what its topic says, or beyond the end of the run$'

# a checkpoint of another frame than its message: nothing goes on from it
python3 "$dir/spoil.py" "$dir/cubesat.mcap" "$dir/spoiled.mcap" /orrery/checkpoint 1 0 || fail "the frame of a checkpoint: spoil.py"
"$ORRERY" run --from "$dir/spoiled.mcap@2s" --mode batch --duration 1s --no-log >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "^orrery run: cannot go on from '$dir/spoiled.mcap' at 2 s: its message is of another frame$" "$dir/out" ||
  fail "a run from the checkpoint of another frame: $(cat "$dir/out")"
# an end that is beyond the run's
LC_ALL=C sed 's/\(\x05\x00\x00\x00frame\x04\x00\x00\x00\)2500/\19999/' "$dir/cubesat.mcap" >"$dir/spoiled.mcap"
cmp -s "$dir/cubesat.mcap" "$dir/spoiled.mcap" && fail "the log does not say that it ends at frame 2500"
timeout 60 "$ORRERY" judge "$dir/spoiled.mcap" "$dir/rules.yaml" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q "^orrery replay: '$dir/spoiled.mcap' says that it ends beyond the end of its run$" "$dir/out" ||
  fail "an end beyond the run's: $(cat "$dir/out")"

# two logs beside each other
"$ORRERY" replay "$dir/cubesat.mcap" --with "$dir/cubesat.mcap" >"$dir/out" || fail "a log and itself: $(cat "$dir/out")"
python3 "$dir/spoil.py" "$dir/cubesat.mcap" "$dir/spoiled.mcap" /gyro 12 8 || exit 1
"$ORRERY" replay "$dir/cubesat.mcap" --with "$dir/spoiled.mcap" >"$dir/out"
[ $? -eq 1 ] && grep -q '^differs     first at t = 1.100000000 s: gyro.rate.y: ' "$dir/out" && grep -Eq '^  gyro.rate.y +1 times; largest [0-9.e-]+ rad/s at 1.1 s, 1 ulps at 1.1 s$' "$dir/out" ||
  fail "one number: $(cat "$dir/out")"
[ "$(grep -c ulps "$dir/out")" -eq 1 ] || fail "more than one channel: $(cat "$dir/out")"
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 25s --seed 2 --log "$dir/other.mcap" >/dev/null || fail "another seed"
"$ORRERY" replay "$dir/cubesat.mcap" --with "$dir/other.mcap" --to 0s >"$dir/out"
[ $? -eq 1 ] && grep -q 'first at t = 0.000000000 s: gyro.rate.x' "$dir/out" && ! grep -q 'wheel_x' "$dir/out" || fail "another seed at 0 s: $(cat "$dir/out")"

for wrong in "" "$dir/cubesat.mcap b" "$dir/cubesat.mcap --from" "$dir/cubesat.mcap --from soon" "$dir/cubesat.mcap --speed 2"; do
  # shellcheck disable=SC2086
  "$ORRERY" replay $wrong >/dev/null 2>&1
  [ $? -eq 2 ] || fail "a wrong command line was taken: replay $wrong"
done
for wrong in configs/cubesat.yaml "$dir/none.mcap"; do
  "$ORRERY" replay "$wrong" >/dev/null 2>"$dir/err"
  [ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "replay $wrong: $(cat "$dir/err")"
done
exit 0
