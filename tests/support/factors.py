"""The identities of the papers for the factors that `orrery eval --factors --solve` prints, by dense algebra written here.

    factors.py ORRERY FOLDER...   each with model.json, case.json and expected.json (tests/vectors)

What is compared with: mass_matrix, momentum and kinetic_energy of expected.json, which another program computed. Equation
numbers are those of flexible-operators.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

TOLERANCE = 1e-11


def mul(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column) if x and y) for column in columns] for row in a]


def transpose(a):
    return [list(row) for row in zip(*a)]


def add(a, b, sign=1):
    return [[x + sign * y for x, y in zip(r, s)] for r, s in zip(a, b)]


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


def inverse(a):
    """By Gauss and Jordan, with pivots."""
    n = len(a)
    rows = [list(row) + unit for row, unit in zip(a, identity(n))]
    for j in range(n):
        best = max(range(j, n), key=lambda i: abs(rows[i][j]))
        rows[j], rows[best] = rows[best], rows[j]
        rows[j] = [x / rows[j][j] for x in rows[j]]
        for i in range(n):
            if i != j and rows[i][j]:
                rows[i] = [x - rows[i][j] * y for x, y in zip(rows[i], rows[j])]
    return [row[n:] for row in rows]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turn(q):
    x, y, z, w = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]


def apply(a, x):
    return [sum(p * q for p, q in zip(row, x)) for row in a]


class Case:
    def __init__(self, name):
        self.name = name
        self.worst = 0.0

    def near(self, what, have, want, scale=None):
        """Element by element, each against sqrt(scale_i scale_j), or against the largest."""
        if [len(row) for row in have] != [len(row) for row in want]:
            sys.exit(f"FAIL: {self.name}: {what}: shape")
        largest = max([abs(x) for row in want for x in row] + [1e-12])
        for i, (a, b) in enumerate(zip(have, want)):
            for j, (x, y) in enumerate(zip(a, b)):
                size = (scale[i] * scale[j]) ** 0.5 if scale else largest
                gap = abs(x - y) / size
                self.worst = max(self.worst, gap)
                if not gap <= TOLERANCE:
                    sys.exit(f"FAIL: {self.name}: {what}: element {i}, {j} is {x}, not {y}")


def stack(blocks, rows, columns):
    """A matrix from {(i, j): block} with the sizes of the rows and columns of blocks."""
    at_row, at_column = [sum(rows[:i]) for i in range(len(rows))], [sum(columns[:i]) for i in range(len(columns))]
    out = [[0.0] * sum(columns) for _ in range(sum(rows))]
    for (i, j), block in blocks.items():
        for r, row in enumerate(block):
            for c, x in enumerate(row):
                out[at_row[i] + r][at_column[j] + c] = x
    return out


def speeds(case, bodies, factors):
    """[η̇; β] of the case, body after body."""
    out = []
    for name in bodies:
        state = case.get("state", {}).get(name, {})
        own, modes = len(factors[name]["D"]), len(factors[name]["M"]) - 6
        eta = list(state.get("eta_rate", [])) or [0.0] * modes
        if "speed" in state:
            hinge = list(state["speed"])
        elif "velocity" in state or own - modes == 6:
            hinge = list(state.get("rate", [0.0] * 3)) + list(state.get("velocity", [0.0] * 3))
        else:
            hinge = list(state.get("rate", []))
        out += eta + (hinge or [0.0] * (own - modes))
    return out


def check(case, model, given, expected, result, x):
    factors = result["factors"]["bodies"]
    bodies = list(model["spacecraft"]["bodies"])
    if list(factors) != bodies:
        sys.exit(f"FAIL: {case.name}: bodies are not in the order of the file")
    place = {name: i for i, name in enumerate(bodies)}
    own = [len(factors[b]["D"]) for b in bodies]
    wide = [len(factors[b]["M"]) for b in bodies]
    mass = expected["mass_matrix"]
    count = len(mass)
    scale = [mass[i][i] for i in range(count)]
    parents = {}
    for name in bodies:
        to = model["spacecraft"]["bodies"][name]["hinge"]["to"].split(".")[0]
        parents[name] = None if to == "inertial" else to
        if factors[name]["parent"] != parents[name] or (factors[name]["Phi"] is None) != (parents[name] is None):
            sys.exit(f"FAIL: {case.name}: parent of {name}")

    diagonal = {(i, i): factors[b]["D"] for i, b in enumerate(bodies)}
    d = stack(diagonal, own, own)
    h = stack({(i, i): factors[b]["H"] for i, b in enumerate(bodies)}, own, wide)
    m = stack({(i, i): factors[b]["M"] for i, b in enumerate(bodies)}, wide, wide)
    step = stack({(place[parents[b]], place[b]): factors[b]["Phi"] for b in bodies if parents[b]}, wide, wide)
    phi = inverse(add(identity(sum(wide)), step, -1))  # (21)
    colour, innovate = result["factors"]["I_plus_HPhiK"], result["factors"]["I_minus_HPsiK"]

    case.near("(54) (I+HΦK) D (I+HΦK)* = M", mul(mul(colour, d), transpose(colour)), mass, scale)
    case.near("(55) (I-HΨK)(I+HΦK) = I", mul(innovate, colour), identity(count))
    by_factors = mul(mul(transpose(innovate), inverse(d)), innovate)
    case.near("(56) (I-HΨK)* D⁻¹ (I-HΨK) M = I", mul(by_factors, mass), identity(count))
    h_phi = mul(h, phi)
    case.near("(45) HΦMΦ*H* = M", mul(mul(h_phi, m), transpose(h_phi)), mass, scale)

    # (51): from the tips, the articulated inertias by themselves
    p, gain, done = {b: factors[b]["M"] for b in bodies}, {}, []
    while len(done) < len(bodies):
        for b in bodies:
            if b in done or any(parents[c] == b and c not in done for c in bodies):
                continue
            hb = factors[b]["H"]
            done.append(b)
            gain[b] = [[] for _ in range(wide[place[b]])]
            plus = p[b]
            if hb:
                ph = mul(p[b], transpose(hb))
                at = sum(own[:place[b]])
                case.near(f"(51) D of {b} = HPH*", mul(hb, ph), factors[b]["D"], scale[at:at + own[place[b]]])
                gain[b] = mul(ph, inverse(factors[b]["D"]))
                plus = add(p[b], mul(gain[b], transpose(ph)), -1)
            if parents[b]:
                up = factors[b]["Phi"]
                p[parents[b]] = add(p[parents[b]], mul(mul(up, plus), transpose(up)))
    g = stack({(i, i): gain[b] for i, b in enumerate(bodies)}, wide, own)
    k = mul(step, g)  # (52)
    case.near("(54) I+HΦK from the blocks", add(identity(count), mul(h_phi, k)), colour)
    psi = inverse(add(identity(sum(wide)), mul(step, add(identity(sum(wide)), mul(g, h), -1)), -1))  # (53)
    case.near("(55) I-HΨK from the blocks", add(identity(count), mul(mul(h, psi), k), -1), innovate)

    # V_m = Φ* H* χ (22): momentum and energy of all bodies are those of the case
    u = speeds(given, bodies, factors)
    v = apply(transpose(h_phi), u)
    momentum = apply(m, v)
    total, at = [0.0] * 6, 0
    for b in bodies:
        pose = result["bodies"][b]
        end = at + wide[place[b]]
        moment, force = (apply(turn(pose["attitude"]), momentum[end - 6 + 3 * i:end - 3 + 3 * i]) for i in range(2))
        arm = cross(pose["position"], force)
        total = [t + z for t, z in zip(total, [a + c for a, c in zip(moment, arm)] + force)]
        at = end
    case.near("momentum", [total[:3]], [expected["momentum"][:3]])
    case.near("momentum", [total[3:]], [expected["momentum"][3:]])
    energy = sum(a * c for a, c in zip(v, momentum)) / 2
    case.near("kinetic energy", [[energy]], [[expected["kinetic_energy"]]])

    case.near("M solution = x", [apply(mass, result["solution"])], [x])
    case.near("residual", [[r + y for r, y in zip(result["residual"], x)]], [x])


def main():
    orrery, checked, refused = sys.argv[1], 0, 0
    for folder in sys.argv[2:]:
        with open(os.path.join(folder, "model.json")) as f:
            model = json.load(f)
        with open(os.path.join(folder, "case.json")) as f:
            given = json.load(f)
        with open(os.path.join(folder, "expected.json")) as f:
            expected = json.load(f)
        if "mass_matrix" not in expected:
            continue
        generator = random.Random(folder)
        x = [generator.uniform(-1, 1) for _ in expected["mass_matrix"]]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as numbers:
            json.dump(x, numbers)
            numbers.flush()
            words = [orrery, "eval", os.path.join(folder, "model.json"), os.path.join(folder, "case.json"), "--factors",
                     "--solve", "@" + numbers.name] + (["--inverse"] if "accelerations" in given else [])
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        if model["spacecraft"].get("loops"):
            if done.returncode != 1 or "--factors is for trees" not in done.stderr or done.stdout:
                sys.exit(f"FAIL: {folder}: closed loops are not refused: {done.stderr}")
            refused += 1
            continue
        if done.returncode:
            sys.exit(f"FAIL: {folder}: {done.stderr}")
        case = Case(folder)
        check(case, model, given, expected, json.loads(done.stdout), x)
        print(f"{folder}: worst {case.worst:.1e}")
        checked += 1
    print(f"{checked} checked, {refused} refused for their loops")
    if checked < 15 or refused < 5:
        sys.exit("FAIL: too few cases were checked")


main()
