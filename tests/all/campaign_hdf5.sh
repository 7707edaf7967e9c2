#!/bin/sh
# The table of a campaign as HDF5, opened by h5py (python3-h5py): each number and verdict is that of the table in CSV.
. tests/support/script.sh
python=
for p in python3 /usr/bin/python3; do $p -c 'import h5py' 2>/dev/null && python=$p && break; done
[ -n "$python" ] || {
  echo "skipped: python3-h5py is not installed"
  exit 77
}
sed 's/duration: 60 s/duration: 2 s/; /attitude:/d; s/target: #.*/target: [0, 0, 0, 1]/' configs/cubesat.yaml >"$dir/ship.yaml"
echo 'expect: [{channel: bus.rate.x, below: 1.02 deg/s, name: slow}]' >>"$dir/ship.yaml"
cat >"$dir/c.yaml" <<'Y'
orrery: 1
campaign:
  run: ship.yaml
  flights: 30
  vary: {spacecraft.bodies.bus.mass: {uniform: [3.8 kg, 4.2 kg]}, "simulation.initial.bus.rate[0]": {uniform: [0.9 deg/s, 1.1 deg/s]}}
  keep: {measures: {final: [bus.rate], max: [gyro.rate.y]}}
Y
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/c" >"$dir/out" 2>&1
[ $? -eq 1 ] || fail "some pass and some fail: $(cat "$dir/out")"
"$ORRERY" campaign export "$dir/c" --hdf5 "$dir/c.h5" || fail "export"
$python -B - "$dir/c.h5" "$dir/c/table.csv" <<'P' || fail "h5py reads something else than the table holds"
import csv, re, sys
import h5py
rows = list(csv.DictReader(open(sys.argv[2])))
with h5py.File(sys.argv[1]) as h5:
    assert list(h5["flight"]) == [int(r["flight"]) for r in rows]
    assert [v.decode() for v in h5["verdict"]] == [r["verdict"] for r in rows]
    assert len({r["verdict"] for r in rows}) == 2
    heads = {re.sub(r" \([^()]*\)$", "", head).replace("/", "|"): head for head in rows[0]}
    seen = 0
    for group in ("values", "outcomes"):
        for name, column in h5[group].items():
            assert list(column) == [float(r[heads[name]]) for r in rows], name
            seen += 1
    assert seen == 2 + 1 + 4, seen
P
"$ORRERY" campaign export "$dir/c" --hdf5 "$dir/no/such" 2>"$dir/err" && fail "a file in no folder"
[ "$(wc -l <"$dir/err")" -eq 1 ] || fail "a file in no folder: $(cat "$dir/err")"
exit 0
