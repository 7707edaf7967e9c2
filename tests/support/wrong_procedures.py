"""A hundred wrong procedures and more: a right one with one mistake each, at every place where that mistake can be made.

    wrong_procedures.py ORRERY FOLDER

Each is refused with an error at the line and within the columns of the mistake, and the first error is of that line; the line is shown and marked there. Where a name
is misspelled, the right one is suggested."""
import collections
import re
import subprocess
import sys

orrery, folder = sys.argv[1:]
RIGHT = open("configs/procedures/wheel-failure.yaml").read().rstrip() + """
  - {channel: gyro.rate, of: settling_time, tolerance: 1 deg/s, below: 30 s, name: settles}
  - {eventually: norm(gyro.rate) below 0.5 deg/s for 1 s and not star.valid below 0.5, within: 20 s}
"""
RIGHT = RIGHT.replace("  - clear: all\n", """  - {set: {wheel_x.torque: 1 mN m}}
  - {ramp: {channel: wheel_x.torque, to: 0.5 mN m, over: 2 s}}
  - {if: star.valid and (wheel_z.speed above 1 rpm or time above 3 s), then: [{mark: yes there}], else: [{wait: 500 ms}]}
  - {until: rising gyro.rate.z above 5 deg/s, timeout: 1 s, otherwise: go_on}
  - {clear: dropouts}
  - clear: all
""").replace("  - {name: dropouts,", """  - {hinge_of: none}
  - {name: scaled, channel: gyro.rate.x, when: bus.rate.z above 90 deg/s for 2 s, for: 5 s, scale: 0.5}
  - {name: dropouts,""").replace("  - {hinge_of: none}\n", "")
FLIGHT = ["run", "configs/cubesat.yaml", "--mode", "batch", "--duration", "10ms", "--set", "links={}"]

# What is replaced, by what, and whether the right word is to be suggested. `\\b…\\b` with a group marks
# where the error may stand.
MISSPELT = ["name", "device", "seized", "channel", "drop", "when", "for", "scale", "until", "timeout", "requirement", "mark", "otherwise", "fault", "repeat",
            "wait", "expect", "clear", "set", "ramp", "to", "over", "if", "then", "else", "always", "of", "after", "below", "tolerance", "eventually", "within"]
MISTAKES = [(rf"(?<=[{{ ])({key})(?=: )", lambda m: m[:-1] + m[-1] * 2 + "x", False) for key in MISSPELT]
MISTAKES += [
    (r"(?<=[ (])((gyro|bus|wheel_z|star|wheel_x)\.[a-z_]+(\.[xyz])?)", lambda m: m + "q", True),  # channels, wherever
    (r"(?<= )(\d+(\.\d+)? (deg/s|rpm|deg|mN m))\b", lambda m: m.split()[0] + " kg", False),  # a unit that does not fit
    (r"(?<!below: )(?<=: )(\d+ m?s)\b", lambda m: "-" + m, False),  # times
    (r"(?<=: )(\d+ m?s)\b", lambda m: m.split()[0] + " parsec", False),
    (r"(?<=for )(\d+ s)\b", lambda m: m.split()[0] + " deg", False),
    (r"(?<=[a-z)] )(above|below)(?= -?\d)", lambda m: m + "x", True),  # comparisons
    (r"(norm)(?=\()", lambda m: "nrom", True),
    (r"(?<=\) )(below [\d.]+ deg/s( for)?)", lambda m: m.replace(" for", "") + " or for", False),  # an alternative that is none
    (r"(?<=fault: )(\w+)", lambda m: m + "x", True),
    (r"(?<=clear: )(dropouts)", lambda m: m + "x", True),
    (r"(?<=otherwise: )(\w+)", lambda m: m + "x", True),
    (r"(?<=device: )(\w+)", lambda m: m + "z", True),
    (r"(?<=of: )(\w+)", lambda m: m + "x", False),
    (r"(?<=repeat: )(3)", lambda m: "-3", False),
    (r"(?<=repeat: )(3)", lambda m: "often", False),
    (r"(?<=drop: )(0\.5)", lambda m: "1.5", False),
    (r"(?<=scale: )(0\.5)", lambda m: "half", False),
    (r"(?<= )(rising) ", lambda m: "risnig", False),
    (r"(?<=: )(all|dropouts)(?=[}\n])", lambda m: "[" + m + "]", False),  # a list where a name stands
    (r"(?<=name: )(dropouts)", lambda m: "bearing", False),  # the name of another
]


def errors(text):
    path = f"{folder}/wrong.yaml"
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([orrery, *FLIGHT, "--sequence", path], capture_output=True, text=True)
    lines = done.stderr.splitlines()
    found = [(re.match(rf"{re.escape(path)}:(\d+):(\d+): error: (.*)", line), i) for i, line in enumerate(lines)]
    return done.returncode, [(int(m[1]), int(m[2]), m[3], lines[i + 1:i + 3]) for m, i in found if m], done.stderr


def judge(at, end, wrong, right, suggests):
    text = RIGHT[:at] + wrong + RIGHT[end:]
    line, column = text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
    status, found, said = errors(text)
    where = f"{right!r} as {wrong!r} at {line}:{column}: exit {status}: {said}"
    if status != 1 or not found:
        return where
    here = [e for e in found if e[0] == line and column <= e[1] <= column + len(wrong)]
    if not here or found[0][0] != line:
        return where
    _, is_column, message, shown = here[0]
    mark = shown[1].find("^") if len(shown) == 2 else -1
    if mark < 0 or not shown[0].lstrip().startswith(f"{line} |"):
        return "not shown: " + where
    word = text.splitlines()[line - 1][is_column - 1]
    if shown[0][mark] != word:
        return "marked elsewhere: " + where
    hint = re.search(r"did you mean '(.*)'", message)
    if suggests and not (hint and right.startswith(hint[1])):
        return "no suggestion: " + where
    return None


status, found, said = errors(RIGHT)
if found:
    sys.exit(f"the right one is refused: {said}")
counts, bad = collections.Counter(), []
for k, (pattern, change, suggests) in enumerate(MISTAKES):
    for match in re.finditer(pattern, RIGHT):
        if RIGHT.rfind("#", 0, match.start()) > RIGHT.rfind("\n", 0, match.start()):
            continue  # in a comment
        wrong = change(match[1])
        why = judge(match.start(1), match.end(1), wrong, match[1], suggests)
        counts[k] += 1
        if why:
            bad.append(why)
for why in bad:
    print(why)
idle = [MISTAKES[k][0] for k in range(len(MISTAKES)) if not counts[k]]
print(f"{sum(counts.values())} wrong procedures of {len(counts)} sorts, {len(bad)} told wrongly")
if idle:
    print("never made:", idle)
sys.exit(bool(bad or idle or sum(counts.values()) < 100))
