#!/bin/sh
# The picture of a run: channels that are asked for, each unit in panels of its own with their elements in the legend;
# log axes that say so; the error towards targets that move; a raster of thrusters, filled while they burn by the table
# of the same flight; axes of a run that diverged, which keep to what was before it ran away.
. tests/support/script.sh

fly() { "$ORRERY" run configs/cassini-slew.yaml --mode batch --duration 12s --set 'expect=[]' "$@"; }
fly --plot "$dir/usual.svg" --csv "$dir/thrust.csv" --channels 'jet_*.thrust' >"$dir/out" 2>&1 || fail "the usual picture: $(cat "$dir/out")"
hash=$(hash_of "$dir/out")
fly --plot "$dir/asked.svg" --plot-channels 'gyro.rate,wheel_*.speed,jet_*.on_time,bus.attitude,jet_1.thrust,boom_root.moment.y' >"$dir/out" 2>&1 ||
  fail "channels that are asked for: $(cat "$dir/out")"
[ "$(hash_of "$dir/out")" = "$hash" ] || fail "what is drawn changes the bits"
# in the order in which they are asked for
titles=$(grep -o '>\(gyro.rate\|wheel_1.speed\|Thrusters\|bus.attitude\|jet_1.thrust\|boom_root.moment\)[^<]*<' "$dir/asked.svg" | tr -d '<>' | awk '!seen[$0]++ && !/\.[xyzw]$/' | tr '\n' ';')
case $titles in gyro.rate*wheel_1.speed*Thrusters*bus.attitude*jet_1.thrust*boom_root.moment*) ;; *) fail "the order of the panels: $titles" ;; esac
grep -q '>12000 frames of 1 ms, 12001 samples drawn; ' "$dir/asked.svg" || fail "the head of the picture: $(grep -m1 'frames of' "$dir/asked.svg")"
fly --plot "$dir/many.svg" --plot-channels '*' >"$dir/out" 2>"$dir/err" || fail "all channels: $(cat "$dir/out")"
grep -q "warning: a picture has 8 panels of 8 lines: [0-9]* numbers that fit are not drawn, '[a-z_0-9.]*' first" "$dir/err" || fail "what there is no room for: $(cat "$dir/err")"

# targets that move are drawn beside those that do not
"$ORRERY" run configs/detumble.yaml --mode batch --duration 2s --set 'expect=[]' --set 'links={}' --plot "$dir/moves.svg" >"$dir/out" 2>&1 ||
  fail "a target that moves: $(cat "$dir/out")"

# an axis of decades begins where the samples are, and not at the first, which is next to zero
"$ORRERY" run configs/cubesat.yaml --mode batch --duration 30s --set 'links={}' --set 'pointing.bus.target=[0, 0, 0, 1]' --set simulation.initial.bus.attitude=target \
  --set simulation.initial.bus.rate='[1 deg/s, 0, 0]' --plot "$dir/decades.svg" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
grep -q '>deg (log scale)<' "$dir/decades.svg" && grep -q '>0.1<' "$dir/decades.svg" || fail "no axis of decades"
grep -q '>0.01<' "$dir/decades.svg" && fail "the axis begins at the first sample: 0.01 deg after a frame, of 30"

# the longest name of a line fits: DejaVu Sans is at most 8 pixels wide at 12
fly --plot "$dir/long.svg" --plot-channels 'boom_root.moment,wheel_1.applied_torque' >"$dir/out" 2>&1 || fail "long names: $(cat "$dir/out")"
python3 - "$dir/long.svg" <<'P' || fail "a legend is cut at the edge of the picture"
import re, sys
text = open(sys.argv[1]).read()
width = int(re.search(r'width="(\d+)"', text)[1])
names = [(float(x), n) for x, n in re.findall(r'<text x="([0-9.]+)" y="[0-9.]+" [^>]*>(wheel_1[^<]*|boom_root[^<]*)</text>', text) if float(x) > 800]
assert len(names) >= 4 and all(x + 8 * len(n) <= width + 4 for x, n in names), (width, names)
P

# what is wrong: nothing is flown
fly --plot "$dir/wrong.svg" --plot-channels 'gyro.*,no.such' >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && grep -q "no channel fits 'no.such'" "$dir/err" || fail "a pattern that nothing fits: $(cat "$dir/err")"
[ ! -e "$dir/wrong.svg" ] || fail "a pattern that nothing fits leaves a picture"
fly --plot-channels 'gyro.*' >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] || fail "--plot-channels without --plot: $(cat "$dir/err")"

cat >"$dir/run.yaml" <<'END_OF_RUN'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {imu: {at: [0, 0, 0]}}}
    arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1], stiffness: 1e7}}
simulation: {step: 1 ms, duration: 5 s, initial: {arm: {q: [0.01]}}}
END_OF_RUN
"$ORRERY" run "$dir/run.yaml" --mode batch --plot "$dir/ran_away.svg" --plot-channels 'arm.load' --csv "$dir/load.csv" --channels 'arm.load' >"$dir/out" 2>&1
[ $? -eq 1 ] || fail "a run that diverges: $(cat "$dir/out")"

python3 - "$dir" <<'P' || fail "the pictures"
import csv, re, sys
import xml.etree.ElementTree as xml

folder = sys.argv[1]
SVG = "{http://www.w3.org/2000/svg}"
LEFT, WIDTH = 86, 1000 - 86 - 176


class Panel:
    def __init__(self, title):
        self.title, self.texts, self.lines, self.rows = title, [], 0, []


def panels(name):
    found, before = [], []
    for e in xml.parse(f"{folder}/{name}.svg").getroot():
        if e.tag == SVG + "text" and e.get("class") == "p":
            found.append(Panel(e.text))
            found[-1].texts += before
        elif e.tag == SVG + "text":
            (found[-1].texts if found and e.get("text-anchor") is None or found and "rotate" in (e.get("transform") or "") or found and e.text.startswith("time") else before).append(e.text)
        elif e.tag == SVG + "path" and e.get("class") == "l" and e.get("clip-path"):
            found[-1].lines += 1
            before = []
        elif e.tag == SVG + "path" and e.get("class") == "r":
            found[-1].rows.append(e.get("d"))
            before = []
    return found


def numbers(panel):
    return [float(t) for t in panel.texts if re.fullmatch(r"-?[0-9.]+(e[+-]?[0-9]+)?", t)]


usual = {p.title: p for p in panels("usual")}
assert any(t == "deg (log scale)" for t in usual["Pointing error"].texts), usual["Pointing error"].texts
assert "rpm" in usual["Wheel speeds"].texts, usual["Wheel speeds"].texts

moves = {p.title: p for p in panels("moves")}
assert moves["Pointing error"].lines == 1 and "bus.pointing_error" in moves["Pointing error"].texts, moves["Pointing error"].texts

# filled at the samples where the table has thrust, and not where it has none for long
raster = usual["Thrusters: filled while they burn"]
table = list(csv.reader(open(f"{folder}/thrust.csv")))
names = [c.split(".")[0] for c in table[0][1:]]
assert len(raster.rows) == len(names) == 8 and all(n in raster.texts for n in names), (raster.texts, names)
times = [float(r[0]) for r in table[1:]]
burns = empty = 0
for column, d in enumerate(raster.rows):
    boxes = [(float(a), float(b)) for a, b in re.findall(r"M([0-9.]+) [0-9.]+H([0-9.]+)", d)]
    on = [abs(float(r[column + 1])) > 0 for r in table[1:]]
    for i in range(len(times) - 1):
        x = LEFT + WIDTH * (times[i] - times[0]) / (times[-1] - times[0])
        inside = any(a - 0.2 <= x <= b + 0.2 for a, b in boxes)
        if on[i]:
            burns += 1
            assert inside, (names[column], times[i], "burns, and is not filled")
        elif not any(on[max(0, i - 200):i + 200]):
            empty += 1
            assert not inside, (names[column], times[i], "is filled, and does not burn")
assert burns > 100 and empty > 100, (burns, empty)

asked = panels("asked")
by_unit = {}
for p in asked:
    unit = [u for u in ("rad/s", "N m", "N", "no unit", "thruster") if u in p.texts]
    assert len(unit) == 1, (p.title, p.texts)
    by_unit[unit[0]] = p
assert len(by_unit) == len(asked) == 5, [(p.title, p.texts) for p in asked]
assert by_unit["rad/s"].lines == 6 and {"gyro.rate.x", "gyro.rate.z", "wheel_3.speed"} <= set(by_unit["rad/s"].texts), by_unit["rad/s"].texts
assert by_unit["N m"].lines == 1 and "boom_root.moment.y" in by_unit["N m"].texts, by_unit["N m"].texts
assert by_unit["no unit"].lines == 4 and "bus.attitude.w" in by_unit["no unit"].texts, by_unit["no unit"].texts
assert by_unit["N"].lines == 1 and len(by_unit["thruster"].rows) == 8

many = panels("many")
assert len(many) == 8 and all(p.lines <= 8 for p in many) and sum(p.lines for p in many) > 40, [(p.title, p.lines) for p in many]

ran = panels("ran_away")
rows = list(csv.reader(open(f"{folder}/load.csv")))
most = max(abs(float(v)) for r in rows[1:] for v in r[1:] if v not in ("nan", "inf", "-inf"))
start = max(abs(float(v)) for v in rows[1][1:])
assert "ran away after" in ran[0].title, ran[0].title
top = max(abs(n) for n in numbers(ran[0]))
assert start < top < 1e-3 * most, (start, top, most)
P
exit 0
