#!/bin/sh
# The log of a run: what it holds, as the command, the Python reader and the run itself say; what a log that cannot be
# written costs; which logs are kept.
. tests/support/script.sh
cubesat=configs/cubesat.yaml
run="$ORRERY run $cubesat --mode batch"

# the table of the run, written by the run and by way of the log, is one
$run --log "$dir/a.mcap" --csv "$dir/run.csv" >"$dir/out" || fail "a run with a log"
grep -qx "log         $dir/a.mcap, .* MB" "$dir/out" || fail "the summary does not name the log: $(cat "$dir/out")"
[ "$(tail -n 1 "$dir/out")" = "            orrery replay $dir/a.mcap" ] || fail "the summary does not end with the replay: $(cat "$dir/out")"
"$ORRERY" log export "$dir/a.mcap" --csv "$dir/log.csv" || fail "export"
cmp "$dir/run.csv" "$dir/log.csv" || fail "export says other numbers than the run"

# what is attached is what was read, and the state is that of a run without a log
"$ORRERY" log info "$dir/a.mcap" >"$dir/info" || fail "info"
grep -q "state_hash  *$($run | hash_of)\$" "$dir/info" || fail "info: $(cat "$dir/info")"
grep -q '^  /gyro  *601 messages, 0 to 60 s$' "$dir/info" || fail "a gyro of 10 Hz: $(cat "$dir/info")"
grep -q ': complete$' "$dir/info" || fail "not complete: $(cat "$dir/info")"
"$ORRERY" log info "$dir/a.mcap" --json >"$dir/info.json" || fail "info --json"

# each message alike in both readers; each fact of the log as it should be
if command -v python3 >/dev/null; then
  "$ORRERY" log cat "$dir/a.mcap" --json >"$dir/c" || fail "cat"
  python3 -I -S -B io/log/orrery_log.py "$dir/a.mcap" >"$dir/python" || fail "the Python reader"
  cat >"$dir/judge.py" <<'P'
import json, sys
sys.path.insert(0, "io/log")
import orrery_log
folder, run = sys.argv[1:]
a, b = ([json.loads(line) for line in open(folder + "/" + name)] for name in ("c", "python"))
assert a == b and len(a) > 20000, (len(a), len(b))
info = json.load(open(folder + "/info.json"))
assert info["messages"] == len(a) and info["state"] == "complete"
with orrery_log.open(folder + "/a.mcap") as log:
    assert log.complete and log.metadata == info["metadata"]
    assert list(log.attachments.values()) == [open(run, "rb").read()]
    assert log.topics["/gyro"].unit("rate") == "rad/s" and log.topics["/gyro"].metadata["rate.elements"] == "x y z"
    time, torque = log.columns("/wheel_x", "torque", start=1, end=2)
    assert time[0] == 1 and abs(time[-1] - 2) < 1e-9 and len(time) == len(torque) == 101
    commands = [m for m in log.messages("/orrery/commands")]
    assert all(m["frame"] * 10_000_000 == m.time_ns for m in commands) and len(commands) == 600
    assert [m["frame"] for m in log.messages("/orrery/checkpoint")] == [0, 1000, 2000, 3000, 4000, 5000]
P
  python3 -I -B "$dir/judge.py" "$dir" $cubesat || fail "the two readers"
  head -c 900000 "$dir/a.mcap" >"$dir/cut.mcap"
  python3 -I -S -B io/log/orrery_log.py "$dir/cut.mcap" >"$dir/python" 2>"$dir/err" && grep -q 'was cut$' "$dir/err" || fail "a cut log in Python"
  "$ORRERY" log cat "$dir/cut.mcap" --json 2>/dev/null | wc -l >"$dir/lines"
  [ "$(wc -l <"$dir/python")" -eq "$(cat "$dir/lines")" ] || fail "a cut log has other messages in Python"
  echo "no log" >"$dir/none"
  python3 -I -S -B io/log/orrery_log.py "$dir/none" 2>"$dir/err" && fail "Python took what is no log"
  [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "Python: $(cat "$dir/err")"
fi

# record: only what fits, at the rate, up to the limit
record() { # SETTINGS: into r.mcap
  rm -f "$dir/r.mcap"
  $run --log "$dir/r.mcap" --set "record=$1" >"$dir/out" 2>&1 || fail "record $1: $(cat "$dir/out")"
  "$ORRERY" log info "$dir/r.mcap" >"$dir/info" || fail "record $1: $(cat "$dir/info")"
}
record '{channels: [bus.rate, "wheel_*"], rate: 5 Hz, checkpoint: 25 s}'
grep -q '^  /bus  *301 messages' "$dir/info" && grep -q '^  /wheel_z  *301 messages' "$dir/info" || fail "rate: $(cat "$dir/info")"
grep -q '^  /gyro' "$dir/info" && fail "a channel that was not asked for: $(cat "$dir/info")"
grep -q '^  /orrery/checkpoint  *3 messages' "$dir/info" || fail "checkpoint: $(cat "$dir/info")"
"$ORRERY" replay "$dir/r.mcap" >"$dir/out" || fail "replay of it: $(cat "$dir/out")"
# what fits no topic is said, with the nearest one, and no table is written
wants_gyro() { # PATTERN, arguments of log
  wanted=$1
  shift
  "$ORRERY" log "$@" --topics "/star,$wanted" >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] && grep -q "no topic of '.*a.mcap' fits '$wanted', did you mean '/gyro'?" "$dir/err" || fail "$1 --topics $wanted: $(cat "$dir/err")"
}
for wrong in gyro /gryo; do
  wants_gyro $wrong cat "$dir/a.mcap"
  wants_gyro $wrong export "$dir/a.mcap" --csv "$dir/none.csv"
done
"$ORRERY" log cat "$dir/a.mcap" --topics '/q*' 2>&1 | grep -q "'orrery log info' lists them" || fail "a pattern near nothing"
"$ORRERY" log export "$dir/a.mcap" --csv "$dir/none.csv" --topics /orrery/commands >"$dir/out" 2>&1
[ $? -eq 1 ] && [ ! -e "$dir/none.csv" ] || fail "a table without columns: $(cat "$dir/out")"

# for people: numbers with their units, commands by name, letters as they are; JSON as ever
"$ORRERY" log cat "$dir/a.mcap" --topics /orrery/commands --to 1s >"$dir/out" && grep -q ' wheel_x.torque=[-0-9.e]* N m wheel_y.torque=[-0-9.e]* N m wheel_z.torque=[-0-9.e]* N m$' "$dir/out" || fail "commands: $(head -3 "$dir/out")"
"$ORRERY" log cat "$dir/a.mcap" --topics /gyro --to 0s >"$dir/out" && grep -q ' rate=\[[^]]*\] rad/s' "$dir/out" || fail "units: $(cat "$dir/out")"
"$ORRERY" log cat "$dir/a.mcap" --topics /orrery/commands --to 0s --json >"$dir/out" && grep -q '"values":\[0,0,0\]}$' "$dir/out" || fail "JSON: $(cat "$dir/out")"
printf 'sequence: [{mark: drehe um 2° → „schnell“}]\n' >"$dir/mark.yaml"
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 1s --sequence "$dir/mark.yaml" --log "$dir/mark.mcap" >/dev/null 2>&1 || fail "a mark"
"$ORRERY" log cat "$dir/mark.mcap" --topics /orrery/event >"$dir/out" && grep -q 'text="drehe um 2° → „schnell“"' "$dir/out" || fail "letters: $(cat "$dir/out")"
"$ORRERY" log cat "$dir/mark.mcap" --topics /orrery/event --json | python3 -c 'import json, sys; assert [json.loads(l)["text"] for l in sys.stdin][0] == "drehe um 2° → „schnell“"' || fail "letters in JSON"
"$ORRERY" log export "$dir/a.mcap" --hdf5 "$dir/none.h5" --topics /gryo 2>"$dir/err"
[ $? -eq 1 ] && grep -q "did you mean '/gyro'?" "$dir/err" && [ ! -e "$dir/none.h5" ] || fail "HDF5 of no topic: $(cat "$dir/err")"

[ "$("$ORRERY" log cat "$dir/r.mcap" --topics /bus --to 0s | wc -l)" -eq 1 ] || fail "bus.rate is one message a time"
record '{compression: zstd}'
[ "$(stat -c %s "$dir/r.mcap")" -lt $(($(stat -c %s "$dir/a.mcap") * 2 / 3)) ] || fail "zstd: $(ls -l "$dir/r.mcap" "$dir/a.mcap")"
for log in a r; do "$ORRERY" log cat "$dir/$log.mcap" >"$dir/$log.cat" || fail "cat of $log"; done
cmp "$dir/a.cat" "$dir/r.cat" || fail "zstd: other messages"
# in Python by a module that need not be there: then it says which
for p in python3 /usr/bin/python3; do
  command -v $p >/dev/null || continue
  if $p -B io/log/orrery_log.py "$dir/r.mcap" >"$dir/python" 2>"$dir/err"; then
    [ "$(wc -l <"$dir/python")" -eq "$(wc -l <"$dir/r.cat")" ] || fail "zstd: other messages in Python"
  else
    [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q 'python3-zstandard' "$dir/err" || fail "zstd in Python: $(cat "$dir/err")"
  fi
done
head -c 500000 "$dir/r.mcap" >"$dir/cut.mcap"
"$ORRERY" log repair "$dir/cut.mcap" >"$dir/out" && "$ORRERY" log info "$dir/cut.mcap" | grep -q ': complete$' || fail "zstd: repair: $(cat "$dir/out")"
for log in r cut; do "$ORRERY" replay "$dir/$log.mcap" --from 15s >"$dir/out" || fail "zstd: replay of $log: $(cat "$dir/out")"; done
record '{limit: 300 kB}'
[ "$(stat -c %s "$dir/r.mcap")" -lt 320000 ] || fail "limit: $(ls -l "$dir/r.mcap")"
grep -q ': complete$' "$dir/info" || fail "limit: its index is not there: $(cat "$dir/info")"
grep -Eq "^            incomplete: [0-9]+ frames are not in it, of [0-9]+ to 6000: the file is as large as 'limit' allows" "$dir/out" || fail "limit: $(cat "$dir/out")"
"$ORRERY" replay "$dir/r.mcap" >"$dir/out" || fail "replay of what there is: $(cat "$dir/out")"

# a log that cannot be written is told, and the flight is as it is; no file is overwritten
hash=$($run | hash_of)
refused() { # PATH: --log that cannot be
  $run --log "$1" >"$dir/out" 2>"$dir/err" || fail "--log $1 spoils the exit status: $(cat "$dir/err")"
  [ "$(hash_of "$dir/out")" = "$hash" ] || fail "--log $1 spoils the flight"
  grep -q "^orrery run: warning: no log of this run: '$1': " "$dir/err" || fail "--log $1: $(cat "$dir/err")"
  grep -q "^log         none: '$1': " "$dir/out" || fail "--log $1: $(cat "$dir/out")"
}
echo kept >"$dir/there"
refused "$dir/there"
[ "$(cat "$dir/there")" = kept ] || fail "a file was overwritten"
mkfifo "$dir/fifo"
refused "$dir/fifo"
refused "$dir/no/such/folder"
mkdir "$dir/locked" && chmod 555 "$dir/locked"
[ -w "$dir/locked" ] || refused "$dir/locked/log" # root may write anywhere

# no log where none is wanted, and by itself in lockstep, the newest ten of each name
$run --no-log >"$dir/out" && [ ! -e "$ORRERY_LOGS" ] || fail "batch logs by itself"
grep -q '^log' "$dir/out" && fail "a log where none was wanted: $(cat "$dir/out")"
sed '/^links:/,$d' $cubesat >"$dir/ship.yaml"
lockstep() { "$ORRERY" run "$dir/$1.yaml" --mode lockstep --duration 100ms "$2" >"$dir/out" 2>&1; }
lockstep ship --no-log && [ ! -e "$ORRERY_LOGS" ] || fail "--no-log: $(cat "$dir/out")"
mkdir "$ORRERY_LOGS"
for i in 01 02 03 04 05 06 07 08 09 10 11; do : >"$ORRERY_LOGS/ship-20260101T0000$i.000Z.mcap"; done
for other in ship-2-20250101T000000.000Z.mcap ship-mine.mcap other-20250101T000000.000Z.mcap; do : >"$ORRERY_LOGS/$other"; done
lockstep ship --json || fail "a run in lockstep: $(cat "$dir/out")"
[ "$(find "$ORRERY_LOGS" -name 'ship-20*Z.mcap' | wc -l)" -eq 10 ] || fail "kept: $(ls "$ORRERY_LOGS")"
[ ! -e "$ORRERY_LOGS/ship-20260101T000002.000Z.mcap" ] && [ -e "$ORRERY_LOGS/ship-20260101T000003.000Z.mcap" ] || fail "not the oldest went: $(ls "$ORRERY_LOGS")"
[ "$(find "$ORRERY_LOGS" -name 'ship-2-*' -o -name '*mine*' -o -name 'other*' | wc -l)" -eq 3 ] || fail "others' went: $(ls "$ORRERY_LOGS")"
log=$(sed -n 's/^  *"path": "\(.*mcap\)",*$/\1/p' "$dir/out")
[ -s "$log" ] && "$ORRERY" replay "$log" >"$dir/out" || fail "the log of lockstep, '$log': $(cat "$dir/out")"

# HDF5 wants a library that need not be there: then it says which package has it
"$ORRERY" log export "$dir/a.mcap" --hdf5 "$dir/a.h5" 2>"$dir/err"
case $? in
0) [ "$(head -c 4 "$dir/a.h5" | tail -c 3)" = HDF ] || fail "no file of HDF5" ;;
1) [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q 'apt-get install hdf5-tools$' "$dir/err" || fail "HDF5: $(cat "$dir/err")" ;;
*) fail "HDF5: exit status" ;;
esac

# repair of what was cut, here and there; and of what was not
"$ORRERY" log repair "$dir/a.mcap" >"$dir/out" && grep -q 'nothing to do$' "$dir/out" || fail "repair of a whole log: $(cat "$dir/out")"
size=$(stat -c %s "$dir/a.mcap")
for part in 99 80 50 20 5; do
  head -c $((size * part / 100)) "$dir/a.mcap" >"$dir/cut.mcap"
  "$ORRERY" log cat "$dir/cut.mcap" >"$dir/before" 2>"$dir/err" || fail "cat of a cut log"
  grep -q 'was cut' "$dir/err" || fail "a cut log is not called so: $(cat "$dir/err")"
  "$ORRERY" log repair "$dir/cut.mcap" >"$dir/out" || fail "repair: $(cat "$dir/out")"
  "$ORRERY" log info "$dir/cut.mcap" | grep -q ': complete$' || fail "repaired, and not complete"
  "$ORRERY" log cat "$dir/cut.mcap" >"$dir/after" 2>"$dir/err" || fail "cat of a repaired log"
  cmp "$dir/before" "$dir/after" || fail "repair changes what is in a log"
  [ ! -s "$dir/err" ] || fail "a repaired log: $(cat "$dir/err")"
  "$ORRERY" replay "$dir/cut.mcap" >"$dir/out" || fail "replay of a repaired log: $(cat "$dir/out")"
done
for wrong in "$dir/none.mcap" $cubesat "$dir"; do
  for verb in info cat repair; do
    "$ORRERY" log $verb "$wrong" >"$dir/out" 2>"$dir/err"
    [ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "log $verb $wrong: $(cat "$dir/err")"
  done
done
for wrong in "" "info" "cat" "shout $dir/a.mcap" "info $dir/a.mcap b" "export $dir/a.mcap" "cat $dir/a.mcap --from later" "info --csv x $dir/a.mcap" "repair $dir/a.mcap --json"; do
  # shellcheck disable=SC2086
  "$ORRERY" log $wrong >/dev/null 2>&1
  [ $? -eq 2 ] || fail "a wrong command line was taken: log $wrong"
done
exit 0
