#!/bin/sh
# Linkages drawn by a seed: eval, --trajectory and run give the same answer of the same state, be it a motion or a
# refusal, and embedding and augmentation the same motion, driven ones included, whose speeds at the start are found.
. tests/support/script.sh
exec python3 - "$ORRERY" "$dir" ${1:-0} ${2:-18} <<'E2'
import csv, json, math, random, subprocess, sys

orrery, scratch, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
failures, moved, refused = [], 0, 0


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(w) for w in words))


def call(*arguments):
    return subprocess.run([orrery, *arguments], capture_output=True, text=True)


def store(name, data):
    with open(f"{scratch}/{name}.json", "w") as file:
        json.dump(data, file)
    return f"{scratch}/{name}.json"


def turn(axis, angle):
    x, y, z = axis
    c, s, d = math.cos(angle), math.sin(angle), 1 - math.cos(angle)
    return [[c + x * x * d, x * y * d - z * s, x * z * d + y * s],
            [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
            [z * x * d - y * s, z * y * d + x * s, c + z * z * d]]


def times(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def apply(a, v):
    return [sum(a[i][k] * v[k] for k in range(3)) for i in range(3)]


def unit(v):
    return [x / math.sqrt(sum(y * y for y in v)) for x in v]


class Linkage:
    """Chains on a ground, each closed by a point where its tip stands."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.bodies, self.state, self.loops, self.tips = {}, {}, [], {}
        self.ground = {"mass": 5, "inertia": [1, 1, 1, 0, 0, 0], "hinge": {"kind": "fixed", "to": "inertial"}, "nodes": {}}
        self.bodies["g"] = self.ground
        self.flat = seed % 3 != 0  # in a plane that lies anyhow in space
        self.normal = unit([self.random.gauss(0, 1) for _ in range(3)])
        many = seed % 7 == 6  # loops that have nothing in common but a body that flies
        self.free = many or seed % 5 == 4
        if self.free:
            self.ground["hinge"]["kind"] = "free"
        for loop in range(6 if many else 1 + seed % 3):
            self.chain(loop, 3 + self.random.randrange(3) + (0 if self.flat else 1))

    def axis(self):
        if not self.flat:
            return unit([self.random.gauss(0, 1) for _ in range(3)])
        if self.random.random() < 0.8:
            return self.normal
        tilt = 10 ** self.random.uniform(-12, -7)
        return unit([n + tilt * self.random.gauss(0, 1) for n in self.normal])

    def link(self):
        v = [self.random.gauss(0, 1) for _ in range(3)]
        if self.flat:
            along = sum(a * b for a, b in zip(v, self.normal))
            v = [a - along * n for a, n in zip(v, self.normal)]
        return v

    def chain(self, loop, length):
        at = [0.3 * x for x in self.link()]
        self.ground["nodes"][f"r{loop}"] = {"at": at}
        pose, parent = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], f"g.r{loop}"
        for i in range(length):
            name, axis, tip, q = f"b{loop}_{i}", self.axis(), self.link(), self.random.uniform(-2, 2)
            mass = 10 ** self.random.uniform(-1, 1)
            size = mass * sum(x * x for x in tip) / 3 + 1e-3
            self.bodies[name] = {"mass": mass, "com": [x / 2 for x in tip], "inertia": [size, size, size, 0, 0, 0],
                                 "hinge": {"kind": "revolute", "axis": axis, "to": parent}, "nodes": {"e": {"at": tip}}}
            self.state[name] = {"q": [q], "speed": [0]}
            pose = times(pose, turn(axis, q))
            at = [a + b for a, b in zip(at, apply(pose, tip))]
            parent = f"{name}.e"
        self.ground["nodes"][f"t{loop}"] = {"at": at}
        ends = [f"g.t{loop}", parent]
        self.random.shuffle(ends)
        self.loops.append({"name": f"ring{loop}", "between": ends, "kind": "point"})

    def model(self, method):
        loops = [{**loop, "method": method} for loop in self.loops]
        return {"orrery": 1, "spacecraft": {"gravity": [1, -3, 2], "bodies": self.bodies, "loops": loops}}


def trajectory(path, case, step, samples):
    said = call("eval", path, case, "--trajectory", ",".join(f"{t:.9f}" for t in samples), "--step", f"{step:.9f}")
    return (json.loads(said.stdout)["trajectory"] if said.returncode == 0 else None), said.stderr.strip()


def end_of_run(path, name):
    said = call("run", path, "--mode", "batch", "--csv", f"{scratch}/{name}.csv", "--channels", "*.q")
    if said.returncode:
        return None, said.stderr.strip()
    with open(f"{scratch}/{name}.csv") as file:
        return {key.split(" ")[0]: value for key, value in list(csv.DictReader(file))[-1].items()}, ""


for seed in range(first, first + count):
    linkage, ends = Linkage(seed), {}
    hinges = list(linkage.state)
    for method in ("embed", "augment"):
        name, model = f"linkage {seed} by {method}", linkage.model(method)
        path, case = store("model", model), store("case", {"state": linkage.state})
        said = call("eval", path, case)
        flown, why = trajectory(path, case, 1e-3, [0.1, 0.2])
        simulation = {"step": "1 ms", "duration": "0.2 s", "initial": linkage.state}
        end, why_not = end_of_run(store("run", {**model, "simulation": simulation}), "run")
        expect((flown is None) == (end is None), name, "--trajectory:", why or "moves", "| run:", why_not or "moves")
        expect(said.returncode == 0 or flown is None, name, "moves, but eval says", said.stderr.strip())
        if flown is None or end is None:
            refused += 1
            expect("ring" in why or "loop" in why, name, "--trajectory does not name the loop:", why)
            expect("ring" in why_not or "loop" in why_not, name, "run does not name the loop:", why_not)
            continue
        moved += 1
        ends[method] = [flown[-1]["state"][b]["q"][0] for b in hinges]
        off = max(abs(float(end[f"{b}.q"]) - q) for b, q in zip(hinges, ends[method]))
        expect(off < 1e-11, name, f"run ends {off:.3g} from --trajectory")
        # the acceleration of eval is the rate of the speeds of --trajectory
        h = 1e-4
        soon, _ = trajectory(path, case, h / 10, [h, 2 * h])
        for b in hinges:
            one, two = (sample["state"][b]["speed"][0] for sample in soon)
            said_rate, rate = json.loads(said.stdout)["bodies"][b]["acceleration"][0], (4 * one - two) / (2 * h)
            expect(abs(said_rate - rate) <= 1e-3 * max(1, abs(rate)), name, b, f"eval accelerates by {said_rate}, --trajectory by {rate}")
    if len(ends) == 2:
        off = max(abs(a - b) for a, b in zip(ends["embed"], ends["augment"]))
        expect(off < 1e-6, f"linkage {seed}: the methods end {off:.3g} apart")

# the last chain's tip on a jack that moves from the first
for seed in range(first, first + count, 3):
    linkage, ends = Linkage(seed), {}
    away = unit(linkage.link())
    for method in ("embed", "augment"):
        model = json.loads(json.dumps(linkage.model(method)))
        jack = model["spacecraft"]["loops"][-1]
        node = next(e for e in jack["between"] if e.startswith("g."))[2:]
        at = model["spacecraft"]["bodies"]["g"]["nodes"][node]["at"]
        at[:] = [a + 0.9 * x for a, x in zip(at, away)]
        jack.update(kind="distance", motion={"sine": {"amplitude": "0.02 m", "frequency": "2 Hz", "offset": "0.9 m"}})
        initial = {b: {"q": state["q"]} for b, state in linkage.state.items()}
        case = store("case", {"state": initial})
        flown, why_not = trajectory(store("model", model), case, 1e-3, [0.1])
        model["simulation"] = {"step": "1 ms", "duration": "0.1 s", "initial": initial}
        ends[method], why = end_of_run(store("driven", model), "driven")
        moved, refused = moved + (ends[method] is not None), refused + (ends[method] is None)
        expect(ends[method] is not None or "loop" in why or "ring" in why, f"driven {seed} by {method}:", why)
        expect((flown is None) == (ends[method] is None), f"driven {seed} by {method}: run:", why, "--trajectory:", why_not)
        if flown and ends[method]:
            off = max(abs(float(ends[method][f"{b}.q"]) - flown[0]["state"][b]["q"][0]) for b in linkage.state)
            expect(off < 1e-11, f"driven {seed} by {method}: run ends {off:.3g} from --trajectory")
    if all(ends.values()):
        off = max(abs(float(ends["embed"][f"{b}.q"]) - float(ends["augment"][f"{b}.q"])) for b in linkage.state)
        expect(off < 1e-6, f"driven {seed}: the methods end {off:.3g} apart")

expect(20 * refused <= moved + refused, refused, "refused,", moved, "moved")
print(f"# {moved} moved, {refused} refused")
print("\n".join("FAIL: " + f for f in failures))
sys.exit(1 if failures else 0)
E2
