"""Spacecraft with a part in a mirror, judged by what a mirror is: python3 mirror.py ORRERY FOLDER [CASES].

Each case is a random part (flexible and rigid bodies, hinges of every kind) on a random bus. One model uses it as it is; another has the
bus mirrored by hand here, by whole matrices S A S, and the part by `mirror:`. In mirrored states the second must be the mirror image of the first:
every node's place and attitude, momentum, energies and the accelerations. Nothing here knows how a mirrored part is made: numbers of hinges and
modes are given as they are, but for the two kinds whose coordinates change sign, which conventions.md names. With `rotation:` the same is asked of a
part whose own hinge has that turn multiplied in, as matrices. A part within a part is both.
"""
import json
import math
import random
import subprocess
import sys

orrery, folder = sys.argv[1:3]
cases = int(sys.argv[3]) if len(sys.argv) > 3 else 12
AXES = "xyz"


def mul(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def apply(a, v):
    return [sum(x * y for x, y in zip(row, v)) for row in a]


def reflection(axis):
    return [[(1.0 if i != axis else -1.0) if i == j else 0.0 for j in range(3)] for i in range(3)]


def matrix(j):
    xx, yy, zz, xy, xz, yz = j
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def six(m):
    return [m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]]


def rotation_of(q):
    x, y, z, w = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]


def quaternion_of(m):
    """By the largest of the four, as in any textbook."""
    t = [1 + m[0][0] - m[1][1] - m[2][2], 1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2], 1 + m[0][0] + m[1][1] + m[2][2]]
    k = max(range(4), key=lambda i: t[i])
    s = 2 * math.sqrt(t[k])
    if k == 3:
        return [(m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s, s / 4]
    i, j, l = k, (k + 1) % 3, (k + 2) % 3
    q = [0.0] * 4
    q[i], q[j], q[l] = s / 4, (m[i][j] + m[j][i]) / s, (m[i][l] + m[l][i]) / s
    q[3] = (m[l][j] - m[j][l]) / s
    return q


def image(s, q):
    return quaternion_of(mul(mul(s, rotation_of(q)), s))


def axial(s, v):
    """A rate w is a skew matrix W; its image is S W S."""
    w = [[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]]
    w = mul(mul(s, w), s)
    return [w[2][1], w[0][2], w[1][0]]


rng = random.Random(7)
num = lambda size=1.0: rng.uniform(-size, size)
vec = lambda size=1.0: [num(size) for _ in range(3)]


def unit(n):
    v = [rng.gauss(0, 1) for _ in range(n)]
    r = math.sqrt(sum(x * x for x in v))
    return [x / r for x in v]


def inertia():
    a = [[num() for _ in range(3)] for _ in range(3)]
    m = mul(a, [list(row) for row in zip(*a)])
    return six([[0.5 * m[i][j] + (4.0 if i == j else 0) for j in range(3)] for i in range(3)])


COUNT = {"fixed": 0, "revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "gimbal": 3, "ball": 3, "planar": 3}


def hinge(kind, to):
    h = {"kind": kind, "to": to, "rotation": unit(4)}
    if kind in ("revolute", "prismatic", "cylindrical"):
        h["axis"] = unit(3)
    elif kind == "universal":
        h["axes"] = [unit(3), unit(3)]
    elif kind == "gimbal":
        h["axes"] = [unit(3), unit(3), unit(3)]
    elif kind == "planar":
        h["normal"] = rng.choice([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    if kind not in ("ball", "fixed"):
        n = COUNT[kind]
        for key, size in (("stiffness", 5), ("damping", 1), ("rest", 0.3)):
            values = [abs(num(size)) if key != "rest" else num(size) for _ in range(n)]
            h[key] = values if n > 1 else values[0]
    return h


def flexible(kind, to, modes):
    node = lambda moves: {"at": vec(2), "mass": 1 + rng.random(), "com": vec(0.2), "inertia": inertia(),
                          "modes": [[num(0.3) for _ in range(6)] if moves else [0.0] * 6 for _ in range(modes)]}
    h = hinge(kind, to)
    h["at"] = "root"
    return {"hinge": h, "modes": [{"frequency": 0.5 + rng.random(), "damping": 0.01} for _ in range(modes)],
            "nodes": {"root": node(rng.random() < 0.5), "mid": node(True), "tip": node(True)}}


def rigid(kind, to):
    return {"mass": 1 + rng.random(), "com": vec(0.5), "inertia": inertia(), "hinge": hinge(kind, to), "nodes": {"end": {"at": vec()}}}


def signs(h, s):
    """Of the coordinates of a hinge in the mirror, as conventions.md says."""
    d = [s[i][i] for i in range(3)]
    det = d[0] * d[1] * d[2]
    if h["kind"] == "cylindrical":
        return [1, det]
    if h["kind"] == "planar":
        n = h["normal"].index(1)
        return [det * d[n], d[(n + 1) % 3], d[(n + 2) % 3]]
    return [1] * COUNT[h["kind"]]


def state_of(body):
    kind, out = body["hinge"]["kind"], {}
    if kind == "ball":
        out.update(attitude=unit(4), rate=vec())
    elif COUNT[kind]:
        out.update(q=vec()[: COUNT[kind]], speed=vec()[: COUNT[kind]])
    n = len(body.get("modes", []))
    if n:
        out.update(eta=[num(0.2) for _ in range(n)], eta_rate=[num(0.2) for _ in range(n)])
    return out


def image_of_state(state, body, s):
    out = dict(state)
    if "attitude" in out:
        out["attitude"], out["rate"] = image(s, out["attitude"]), axial(s, out["rate"])
    if "q" in out:
        f = signs(body["hinge"], s)
        out["q"], out["speed"] = [a * b for a, b in zip(f, out["q"])], [a * b for a, b in zip(f, out["speed"])]
    return out


def write(name, what):
    path = "%s/%s" % (folder, name)
    with open(path, "w") as f:
        json.dump(what, f)
    return path


def evaluate(model, case):
    done = subprocess.run([orrery, "eval", write("model.yaml", model), write("case.yaml", case)], capture_output=True, text=True)
    if done.returncode:
        sys.exit("eval: " + done.stderr + json.dumps(model))
    return json.loads(done.stdout)


worst = 0.0


def same(what, a, b, size=None):
    global worst
    a, b = ([x] if isinstance(x, (int, float)) else x for x in (a, b))
    scale = max([1.0] + [abs(x) for x in a] + [abs(x) for x in b])
    off = max([0.0] + [abs(x - y) for x, y in zip(a, b)]) / scale
    worst = max(worst, off)
    if len(a) != len(b) or not off < 1e-9:
        sys.exit("%s: %s is not %s" % (what, a, b))


def same_attitude(what, a, b):
    same(what, sum(rotation_of(a), []), sum(rotation_of(b), []))


def compare(what, first, second, s, part, prefix):
    """The second is the image of the first in the mirror s; s the identity: the same."""
    for key in ("kinetic_energy", "potential_energy"):
        same("%s: %s" % (what, key), second[key], first[key])
    same(what + ": angular momentum", second["momentum"][:3], axial(s, first["momentum"][:3]))
    same(what + ": momentum", second["momentum"][3:], apply(s, first["momentum"][3:]))
    for name, one in first["bodies"].items():
        two = second["bodies"][name]
        same("%s: place of %s" % (what, name), two["position"], apply(s, one["position"]))
        same_attitude("%s: attitude of %s" % (what, name), two["attitude"], image(s, one["attitude"]))
        for node, at in one["nodes"].items():
            same("%s: %s.%s" % (what, name, node), two["nodes"][node]["position"], apply(s, at["position"]))
            same_attitude("%s: attitude of %s.%s" % (what, name, node), two["nodes"][node]["attitude"], image(s, at["attitude"]))
        if name == "bus":
            same(what + ": of the bus", two["acceleration"], axial(s, one["acceleration"][:3]) + apply(s, one["acceleration"][3:]))
            continue
        body = part[name[len(prefix):]]
        if "eta_acceleration" in one:
            same("%s: modes of %s" % (what, name), two["eta_acceleration"], one["eta_acceleration"])
        if body["hinge"]["kind"] == "ball":
            same("%s: hinge of %s" % (what, name), two["acceleration"], axial(s, one["acceleration"]))
        elif COUNT[body["hinge"]["kind"]]:
            f = signs(body["hinge"], s)
            same("%s: hinge of %s" % (what, name), two["acceleration"], [a * b for a, b in zip(f, one["acceleration"])])


IDENTITY = [[1.0 if i == j else 0.0 for j in range(3)] for i in range(3)]
kinds = list(COUNT)
for case in range(cases):
    axis = case % 3
    s = reflection(axis)
    kind = [kinds[(case + i) % len(kinds)] for i in range(3)]
    part = {"one": flexible(kind[0], "mount", 2), "two": rigid(kind[1], "one.tip"), "three": flexible(kind[2], "one.mid", 1)}
    write("part.yaml", {"bodies": part, "loops": []})
    turn = unit(4)
    bus = {"mass": 5.0, "com": vec(), "inertia": inertia(), "hinge": {"kind": "free", "to": "inertial"}, "nodes": {"port": {"at": vec()}}}
    seen = dict(bus, com=apply(s, bus["com"]), inertia=six(mul(mul(s, matrix(bus["inertia"])), s)), nodes={"port": {"at": apply(s, bus["nodes"]["port"]["at"])}})
    gravity = vec()
    craft = lambda body, field, **how: {"orrery": 1, "spacecraft": {"gravity": field, "bodies": {"bus": body},
                                        "parts": {"p": dict({"include": "part.yaml", "prefix": "p_", "to": "bus.port"}, **how)}}}
    free = {"position": vec(), "attitude": unit(4), "rate": vec(), "velocity": vec()}
    free_seen = {"position": apply(s, free["position"]), "attitude": image(s, free["attitude"]), "rate": axial(s, free["rate"]), "velocity": apply(s, free["velocity"])}
    states = {"p_" + k: state_of(b) for k, b in part.items()}
    images = {"p_" + k: image_of_state(states["p_" + k], b, s) for k, b in part.items()}
    plain = evaluate(craft(bus, gravity), {"state": dict(states, bus=free)})
    mirrored = evaluate(craft(seen, apply(s, gravity), mirror=AXES[axis]), {"state": dict(images, bus=free_seen)})
    compare("case %d, mirror %s" % (case, AXES[axis]), plain, mirrored, s, part, "p_")

    # turned, and mirrored and turned: the image of a turn R is S R S
    turned = evaluate(craft(bus, gravity, rotation=turn), {"state": dict(states, bus=free)})
    by_hand = json.loads(json.dumps(part))
    by_hand["one"]["hinge"]["rotation"] = quaternion_of(mul(rotation_of(turn), rotation_of(part["one"]["hinge"]["rotation"])))
    write("part.yaml", {"bodies": by_hand})
    compare("case %d, rotation" % case, evaluate(craft(bus, gravity), {"state": dict(states, bus=free)}), turned, IDENTITY, part, "p_")
    write("part.yaml", {"bodies": part})
    both = evaluate(craft(seen, apply(s, gravity), mirror=AXES[axis], rotation=image(s, turn)), {"state": dict(images, bus=free_seen)})
    compare("case %d, mirror and rotation" % case, turned, both, s, part, "p_")

    # a mirror within a mirror is none where the two are one; and a part that turns another, seen in a mirror
    write("inner.yaml", {"bodies": part})
    carrier = {"beam": rigid("revolute", "mount")}
    outer = lambda **how: write("part.yaml", {"bodies": carrier, "parts": {"in": dict({"include": "inner.yaml", "prefix": "i_", "to": "beam.end"}, **how)}})
    whole = dict({"i_" + k: b for k, b in part.items()}, **carrier)
    states = {"p_" + k: state_of(b) for k, b in whole.items()}
    images = {"p_" + k: image_of_state(states["p_" + k], b, s) for k, b in whole.items()}
    outer(rotation=turn)
    plain = evaluate(craft(bus, gravity), {"state": dict(states, bus=free)})
    mirrored = evaluate(craft(seen, apply(s, gravity), mirror=AXES[axis]), {"state": dict(images, bus=free_seen)})
    compare("case %d, a part within a mirrored part" % case, plain, mirrored, s, whole, "p_")
    outer(mirror=AXES[axis])
    unseen = {k: images[k] if k.startswith("p_i_") else v for k, v in states.items()}
    twice = evaluate(craft(seen, apply(s, gravity), mirror=AXES[axis]), {"state": dict({k: states[k] if k.startswith("p_i_") else v for k, v in images.items()}, bus=free_seen)})
    once = evaluate(craft(bus, gravity), {"state": dict(unseen, bus=free)})
    compare("case %d, a mirror within a mirror" % case, once, twice, s, whole, "p_")
print("%d cases, worst %.1e" % (cases, worst))
