#!/bin/sh
# A device by its maker's interface document: the inertial unit of configs/vn100.yaml, asked over a pseudo-terminal by a
# program that was written from that document alone (tests/support/vn100_host.py). What it reads are the numbers of the
# sensors, rounded to 32 bits, at their times, whatever lies between its requests on the line.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
"$ORRERY" run configs/vn100.yaml --mode batch --no-log --set 'links={}' --csv "$dir/truth.csv" >"$dir/out" 2>&1 || fail "batch: $(cat "$dir/out")"
start_cable
for seed in 0 1; do
  python3 tests/support/vn100_host.py "$dir/cable.b" 399 $seed >"$dir/read" 2>"$dir/host" &
  host=$!
  "$ORRERY" run configs/vn100.yaml --mode lockstep --no-log --set "links.imu.device=$dir/cable.a" >"$dir/out" 2>"$dir/err" ||
    fail "the run: $(cat "$dir/out" "$dir/err" "$dir/host")"
  wait $host || fail "the host: $(cat "$dir/host" "$dir/out" "$dir/err")"
  python3 - "$dir/truth.csv" "$dir/read" <<'P2' || fail "seed $seed: the host reads other numbers: $(cat "$dir/out")"
import csv, struct, sys
single = lambda x: struct.unpack("<f", struct.pack("<f", float(x)))[0]
names = ["gyro.rate.%s (rad/s)" % a for a in "xyz"] + ["accel.acceleration.%s (m/s^2)" % a for a in "xyz"]
truth = {}
for row in csv.DictReader(open(sys.argv[1])):
    truth[round(float(row["time (s)"]) * 1e9)] = [single(row[n]) for n in names]
rows = [line.split() for line in open(sys.argv[2])]
expected = [25000000 * i for i in range(399)]
assert [int(r[0]) for r in rows] == expected, ("times", [(r[0], t) for r, t in zip(rows, expected) if int(r[0]) != t][:3])
worst = [r for r in rows if [float.fromhex(x) for x in r[1:]] != truth[int(r[0])]]
assert not worst, (worst[0], truth[int(worst[0][0])])
assert len({r[1] for r in rows}) > 300, "the spacecraft does not move"
P2
  [ $seed -eq 0 ] && grep -q malformed "$dir/out" && fail "what is right is called malformed: $(cat "$dir/out")"
  [ $seed -eq 1 ] && ! grep -q malformed "$dir/out" && fail "rubbish is not counted: $(cat "$dir/out")"
done
exit 0
