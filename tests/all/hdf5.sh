#!/bin/sh
# A log as HDF5, opened by h5py (python3-h5py) and by h5dump (hdf5-tools): each number, text and unit is that of the
# log, by the Python reader of logs.
. tests/support/script.sh
python=
for p in python3 /usr/bin/python3; do $p -c 'import h5py' 2>/dev/null && python=$p && break; done
[ -n "$python" ] && command -v h5dump >/dev/null || {
  echo "skipped: python3-h5py and hdf5-tools are not installed"
  exit 77
}
over shm configs/cubesat.yaml >"$dir/ship.yaml"
"$fsw" "$(url_of shm)" cubesat 2>"$dir/fsw" &
peer=$!
"$ORRERY" run "$dir/ship.yaml" --mode realtime --duration 2s --log "$dir/cubesat.mcap" --set realtime.priority=0 --set realtime.core=any >"$dir/out" 2>&1 || [ $? -eq 3 ] || fail "a run in real time: $(cat "$dir/out")"
wait $peer
"$ORRERY" run configs/wings-slew.yaml --mode batch --duration 6s --set 'expect=[]' --set 'record={channels: ["*"], compression: zstd}' --log "$dir/wings.mcap" >"$dir/out" || fail "wings: $(cat "$dir/out")"
"$ORRERY" run configs/wings-slew.yaml --mode batch --duration 6s --set 'expect=[]' --set 'record={channels: ["*"]}' --log "$dir/plain.mcap" >"$dir/out" || fail "wings: $(cat "$dir/out")"
cat >"$dir/judge.py" <<'P'
import sys
import h5py, numpy
sys.path.insert(0, "io/log")
import orrery_log
with h5py.File(sys.argv[1]) as h5, orrery_log.open(sys.argv[2]) as log:
    counts = {}
    for message in log.messages():
        name = message.topic.name
        if name == "/orrery/checkpoint":
            continue
        counts.setdefault(name, []).append(message)
    numbers = 0
    for name, messages in counts.items():
        group, topic = h5[name], messages[0].topic
        assert set(group) == {"time"} | {f.name for f in topic.fields}, name
        assert list(group["time"]) == [m.time for m in messages], name
        for field in topic.fields:
            ours, theirs = group[field.name][()], [m[field.name] for m in messages]
            if field.type == "string":
                ours = [t.decode() for t in ours]
                assert ours == theirs, (name, field.name)
            else:
                theirs = numpy.array(theirs, dtype=ours.dtype)
                assert ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes(), (name, field.name)
                numbers += ours.size
            for what in ("unit", "channel", "elements"):
                assert group[field.name].attrs.get(what) == topic.metadata.get(f"{field.name}.{what}"), (name, field.name, what)
    assert "checkpoint" not in h5["orrery"] and numbers > 3000, numbers
    for name, pairs in log.metadata.items():
        assert dict(h5["metadata"][name].attrs) == pairs, name
    print(len(counts), "topics,", numbers, "numbers")
P
$python -c 'import zstandard' 2>/dev/null && compressed=wings
for log in cubesat plain ${compressed-}; do
  "$ORRERY" log export "$dir/$log.mcap" --hdf5 "$dir/$log.h5" || fail "export of $log"
  $python -B "$dir/judge.py" "$dir/$log.h5" "$dir/$log.mcap" || fail "$log: h5py reads something else than the log holds"
done
"$ORRERY" log export "$dir/wings.mcap" --hdf5 "$dir/wings.h5" --from 2s --to 3s --topics '/gyro,/bus' || fail "export of a span"
h5dump -d /gyro/time "$dir/wings.h5" >"$dir/dump" || fail "h5dump"
grep -q '^   (0): 2, ' "$dir/dump" && grep -q '3$' "$dir/dump" || fail "a span of time: $(head -n 8 "$dir/dump")"
[ "$(h5dump -n "$dir/wings.h5" | grep -c 'group  */[^m]')" -eq 2 ] || fail "other topics than were asked for: $(h5dump -n "$dir/wings.h5")"

# a log that was made to do harm: a channel whose schema changes to one that cannot be there
$python -B tests/support/forge_log.py "$dir" || fail "forge_log.py"
"$ORRERY" log export "$dir/again.mcap" --hdf5 "$dir/again.h5" >"$dir/out" 2>&1
[ $? -lt 2 ] || fail "a schema that is not there: $(cat "$dir/out")"

# a file that cannot be written, and a library that is not there
"$ORRERY" log export "$dir/plain.mcap" --hdf5 "$dir/no/such/folder" 2>"$dir/err" && fail "a file in no folder"
[ "$(wc -l <"$dir/err")" -eq 1 ] || fail "a file in no folder: $(cat "$dir/err")"
exit 0
