#!/bin/sh
# Forces in closed loops as channels of a run: in the table, the log, the interface document, expectations and the
# summary of `check`; by name, with the prefix of a part; with the same bits in every mode.
. tests/support/script.sh
cat >"$dir/wing.yaml" <<'Y'
bodies:
  root: {mass: 4, com: [0, 0.5, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: mount, axis: [1, 0, 0]}, nodes: {pin: {at: [0, 0.3, 0]}}}
  tip: {mass: 2, com: [0, 0.3, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: root.pin, axis: [1, 0, 0]}, nodes: {end: {at: [0, 0.4, 0]}}}
  strut: {mass: 1, com: [0, 0.3, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: root.origin, axis: [1, 0, 0]}, nodes: {end: {at: [0, 0.5, 0]}}}
  drum: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: root.origin, axis: [1, 0, 0]}}
loops:
  - {gear: {hinge: root, drives: drum, ratio: -3}}
  - {name: stay, between: [strut.end, tip.end], kind: revolute, axis: [1, 0, 0]}
Y
cat >"$dir/run.yaml" <<Y
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 50, inertia: [20, 20, 20, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {r: {at: [0, 1, 0]}}}
  parts: {right: {include: wing.yaml, prefix: r_, to: bus.r}}
actuators: {push: {kind: wrench, node: bus.origin}, motor: {kind: hinge_motor, hinge: r_root, mode: torque}}
simulation: {step: 5 ms, duration: 1 s, initial: {r_root: {q: [0.3]}, r_tip: {q: [1.5707963267948966]}, r_strut: {q: [0.9272952180016122]}, r_drum: {q: [-0.9]}}}
commands: [{channel: motor.torque, at: 0 s, sine: {amplitude: 2 N m, frequency: 1 Hz}}]
links: {fsw: {transport: shm, name: $name, rate: 200 Hz, telemetry: ['loops.*'], commands: [push.force], wait: 60 s}}
expect:
  - {channel: loops.r_loop0.moment, between: [-20 N m, 20 N m]}
  - {channel: loops.r_stay.force.y, above: -1 kN}
Y
"$ORRERY" check "$dir/run.yaml" >"$dir/said" 2>/dev/null || fail "check"
grep -q '^loop 1 (r_loop0): gear' "$dir/said" && grep -q '^loop 2 (r_stay): revolute' "$dir/said" || fail "names: $(cat "$dir/said")"
grep -q '^  undetermined: moment y, z; force x of loops.r_stay, which read 0$' "$dir/said" || fail "what nobody can know: $(cat "$dir/said")"

# what nobody can know is not expected
sed 's/stay.force.y/stay.force.x/' "$dir/run.yaml" >"$dir/open.yaml"
"$ORRERY" run "$dir/open.yaml" --mode batch >"$dir/said" 2>&1 && fail "an expectation of what nobody can know was judged"
grep -q "open.yaml:12:15: error: 'loops.r_stay.force.x' cannot be expected" "$dir/said" || fail "it is not told where: $(cat "$dir/said")"

sed '/^links/d' "$dir/run.yaml" >"$dir/alone.yaml"
run() { "$ORRERY" run "$dir/alone.yaml" "$@"; }
run --mode batch --json --csv "$dir/run.csv" --channels 'loops.*' --set 'record={channels: ["loops.*"]}' --log "$dir/a.mcap" >"$dir/batch" 2>"$dir/err" || fail "batch: $(cat "$dir/err" "$dir/batch")"
head -n 1 "$dir/run.csv" >"$dir/head"
[ "$(sed 's/ ([^)]*)//g' "$dir/head")" = "time,loops.r_loop0.moment,loops.r_loop0.determined,loops.r_stay.moment.x,loops.r_stay.moment.y,loops.r_stay.moment.z,loops.r_stay.force.x,loops.r_stay.force.y,loops.r_stay.force.z,loops.r_stay.determined.nx,loops.r_stay.determined.ny,loops.r_stay.determined.nz,loops.r_stay.determined.fx,loops.r_stay.determined.fy,loops.r_stay.determined.fz" ] ||
  fail "the table's head: $(cat "$dir/head")"
awk -F, 'NR > 4 && ($3 != 1 || $4 != 0 || $5 != 0 || $6 != 0 || $7 != 0 || $8 == 0 || $9 == 0 || $10 $11 $12 $13 $14 $15 != "100011") { exit 1 } END { exit NR != 202 }' \
  "$dir/run.csv" || fail "the table: $(sed -n 5p "$dir/run.csv")"
"$ORRERY" log export "$dir/a.mcap" --csv "$dir/log.csv" || fail "export"
cmp "$dir/run.csv" "$dir/log.csv" || fail "the log says other numbers than the run"
"$ORRERY" replay "$dir/a.mcap" >"$dir/said" 2>&1 || fail "replay: $(cat "$dir/said")"
for method in embed augment; do
  sed "s/ratio: -3}/&, method: $method/; s/kind: revolute, axis/method: $method, &/" "$dir/wing.yaml" >"$dir/$method.yaml"
  run --mode batch --set "spacecraft.parts.right.include=$method.yaml" --csv "$dir/$method.csv" --channels 'loops.*' >"$dir/said" 2>&1 || fail "$method: $(cat "$dir/said")"
done
paste -d , "$dir/embed.csv" "$dir/augment.csv" | awk -F, 'NR > 1 { for (i = 2; i <= 9; i++) { d = $i - $(i + 15); if (d > 1e-9 || d < -1e-9) exit 1 } }' ||
  fail "embed and augment tell other forces"

# the interface document
"$ORRERY" icd "$dir/run.yaml" >"$dir/icd" 2>/dev/null || fail "icd"
grep -q '| `loops.r_loop0.moment` | f64 | N m |' "$dir/icd" && grep -q '| `loops.r_stay.force.z` | f64 | N |' "$dir/icd" || fail "icd: $(cat "$dir/icd")"
grep -q 'Always 0, since redundant equations of the loops leave them undetermined: `loops.r_stay.moment.y`, `loops.r_stay.moment.z`, `loops.r_stay.force.x`.$' "$dir/icd" ||
  fail "icd does not tell what nobody can know: $(cat "$dir/icd")"
"$ORRERY" icd "$dir/run.yaml" --format json 2>/dev/null | tr -d ' \n' | grep -q '"name":"loops.r_stay.moment","unit":"Nm",.*"undetermined":\[1,2\]' || fail "icd as data"

# lockstep, with flight software that answers and looks at its telemetry
command -v python3 >/dev/null || exit 0
cat >"$dir/peer.py" <<'P'
import sys
sys.path[:0] = ["io/client"]
import orrery_client
most = 0
with orrery_client.open(sys.argv[1]) as link:
    while link.wait(60):
        most = max(most, abs(link["loops.r_stay.force"][1]))
        assert list(link["loops.r_stay.determined"]) == [1, 0, 0, 0, 1, 1]
        link.send({"push.force": [0, 0, 0]})
assert most > 0.1, most
P
python3 -I -S -B "$dir/peer.py" "shm:$name" >"$dir/peer" 2>&1 &
peer=$!
"$ORRERY" run "$dir/run.yaml" --mode lockstep --json --no-log >"$dir/lockstep" 2>"$dir/err" || fail "lockstep: $(cat "$dir/err" "$dir/lockstep")"
wait $peer || fail "the peer: $(cat "$dir/peer")"
[ "$(grep state_hash "$dir/lockstep")" = "$(grep state_hash "$dir/batch")" ] || fail "lockstep has other bits than batch"

# eval tells them by name, with both methods, and null for what nobody can know
sed 's/^  parts.*//' "$dir/run.yaml" | sed -n '1,/bus:/p' >"$dir/model.yaml"
echo '  parts: {right: {include: embed.yaml, prefix: r_, to: bus.r}}' >>"$dir/model.yaml"
echo '{state: {r_tip: {q: 1.5707963267948966}, r_strut: {q: 0.9272952180016122}}, forces: {r_root: {tau: [2]}}}' >"$dir/case.yaml"
"$ORRERY" eval "$dir/model.yaml" "$dir/case.yaml" >"$dir/eval" 2>/dev/null || fail "eval"
tr -d ' \n' <"$dir/eval" | grep -q '"loops":{"r_loop0":{"moment":\[[-0-9.e]*\]},"r_stay":{"moment":\[0.0,null,null\],"force":\[null,' || fail "eval: $(cat "$dir/eval")"
tr -d ' \n' <"$dir/eval" | grep -q '"multipliers":\[null,null\]' || fail "eval's list of multipliers is another: $(cat "$dir/eval")"
exit 0
