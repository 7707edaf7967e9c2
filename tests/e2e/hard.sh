#!/bin/sh
# The linkages of tests/vectors/hard move rightly, by their README: the motion by a step against that by a tenth of it,
# energy where nothing brakes, both methods, and eval, --trajectory and run against each other.
. tests/support/script.sh
exec python3 - "$ORRERY" tests/vectors/hard "$dir" <<'E2'
import csv, json, subprocess, sys

orrery, folder, scratch = sys.argv[1:4]
failures = []


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(w) for w in words))


def call(*arguments):
    return subprocess.run([orrery, *arguments], capture_output=True, text=True)


def load(name):
    with open(f"{folder}/{name}.json") as file:
        return json.load(file)


def store(name, data):
    with open(f"{scratch}/{name}.json", "w") as file:
        json.dump(data, file)
    return f"{scratch}/{name}.json"


def motion(model, case, step, times, rule="rk4"):
    """[(q of all hinges, kinetic, potential energy)], or the status that came in its place."""
    said = call("eval", model, case, "--trajectory", ",".join(map(str, times)), "--step", step, "--integrator", rule)
    if said.returncode:
        return None, said.stderr
    samples = json.loads(said.stdout)["trajectory"]
    return [([q for b in s["state"].values() for q in b.get("q", [])], s["kinetic_energy"], s["potential_energy"])
            for s in samples], ""


def difference(a, b):
    return max(abs(x - y) for s, t in zip(a, b) for x, y in zip(s[0], t[0]))


def judge(name, model, case, times, steps=("1ms", "0.5ms", "0.1ms"), rule="rk4", conserves=True, moves=True):
    runs = [motion(model, case, step, times, rule) for step in steps]
    for run, why in runs:
        if run is None:
            expect(False, name, "does not move:", why.strip().splitlines()[-1])
            return None
    runs = [run for run, _ in runs]
    off, half = difference(runs[0], runs[2]), difference(runs[0], runs[1])
    expect(off <= 20 * half + 1e-9, name, f"q is off by {off:.3g}, and by {half:.3g} from half the step")
    kinetic = [s[1] for s in runs[0]]
    if moves:
        expect(max(kinetic) > 0.1, name, "does not move")
    if conserves:
        energy = [s[1] + s[2] for s in runs[0]]
        start = runs[2][0][1] + runs[2][0][2]
        lost = max(abs(e - start) for e in energy)
        expect(lost <= 1e-6 * max(max(kinetic), 1e-6), name, f"loses {lost:.3g} of {max(kinetic):.3g} J")
    return runs


def with_method(model, method):
    changed = json.loads(json.dumps(model))
    for loop in changed["spacecraft"]["loops"]:
        loop["method"] = method
    return changed


def as_run(model, case, seconds):
    return {**model, "simulation": {"step": "1 ms", "duration": f"{seconds} s", "initial": case["state"]}}


def end_of_run(path, name):
    said = call("run", path, "--mode", "batch", "--csv", f"{scratch}/{name}.csv", "--channels", "*.q")
    expect(said.returncode == 0, name, "run:", said.stderr.strip())
    if said.returncode:
        return None
    with open(f"{scratch}/{name}.csv") as file:
        rows = list(csv.DictReader(file))
    return {key.split(" ")[0]: float(value) for key, value in rows[-1].items() if value}


def q_of_run(row, bodies):
    return [row[f"{b}.q"] for b in bodies]


times = [k / 10 for k in range(1, 21)]

# overconstrained: by each method, and a method that the program chooses with modes in it
model, case = load("bricard_model"), f"{folder}/bricard_case.json"
ends = {}
for method in ("auto", "embed", "augment"):
    path = store(f"bricard_{method}", with_method(model, method))
    for steps in (("1ms", "0.5ms", "0.1ms"), ("0.25ms", "0.125ms", "0.025ms")):
        runs = judge(f"bricard by {method} at {steps[0]}", path, case, times[:10], steps)
        if runs:
            ends[method, steps[0]] = runs[2]
if len(ends) == 6:
    for key, run in ends.items():
        expect(difference(run, ends["embed", "0.25ms"]) < 1e-7, "bricard", key, "moves otherwise than by embed")
    expect(abs(ends["augment", "1ms"][4][0][0] - 2.0922) < 1e-4, "bricard: b1 at 0.5 s")
judge("bricard_auto", f"{folder}/bricard_auto_model.json", f"{folder}/bricard_auto_case.json", times[:10],
      ("2ms", "1ms", "0.2ms"), conserves=False)

# nearly parallel axes: one answer of eval, --trajectory and run, the same for every tilt within the tolerance
model, case = load("fourbar_1e-7_model"), load("fourbar_1e-7_case")
ends = {}
for tilt in (0, 1e-12, 1e-9, 1e-7):
    for method in ("auto", "embed", "augment"):
        name = f"fourbar_{tilt}_{method}"
        tilted = with_method(model, method)
        tilted["spacecraft"]["bodies"]["coupler"]["hinge"]["axis"] = [tilt, 0, 1]
        path, state = store(name, tilted), store(f"{name}_case", case)
        runs = judge(name, path, state, times)
        said = call("eval", path, state)
        expect(said.returncode == 0, name, "eval:", said.stderr.strip())
        end = end_of_run(store(f"{name}_run", as_run(tilted, case, 2)), name)
        if runs is None or said.returncode or end is None:
            continue
        expect(abs(json.loads(said.stdout)["bodies"]["crank"]["acceleration"][0]) > 1, name, "eval says that it is locked")
        bodies = ("crank", "coupler", "rocker")
        off = max(abs(a - b) for a, b in zip(q_of_run(end, bodies), runs[0][-1][0]))
        expect(off < 1e-11, name, f"run ends {off:.3g} from --trajectory")
        ends[tilt, method] = runs[2]
for key, run in ends.items():
    expect(difference(run, ends[0, "embed"]) < 1e-5, "fourbar", key, "moves otherwise than without a tilt")
# beyond the tolerance it does not close there, and is not moved elsewhere without a word
tilted = json.loads(json.dumps(model))
tilted["spacecraft"]["bodies"]["coupler"]["hinge"]["axis"] = [1e-4, 0, 1]
path, state = store("tilted", tilted), store("tilted_case", case)
for arguments in ((), ("--trajectory", "1")):
    said = call("eval", path, state, *arguments)
    expect(said.returncode == 1 and "is not closed in this state" in said.stderr, "tilted by 1e-4:", said.stderr.strip())
for name in ("fourbar_1e-9_run", "fourbar_1e-9_augment_run"):
    end = end_of_run(f"{folder}/{name}.json", name)
    if end:
        expect(len(end) > 1, name, "has no end")

# a stiff mode in an augmented loop, implicitly at any step: of second order
for step in (1, 0.5, 0.25, 0.1):
    judge(f"impaug at {step} ms", f"{folder}/impaug_model.json", f"{folder}/impaug_case.json", [0.01, 0.25, 0.5],
          tuple(f"{1e-3 * step / part:.9f}" for part in (1, 2, 10)), "implicit_modal", conserves=False)

# the method does not depend on the order in `between`, and nobody speaks of full rank
model, said = load("swap_model"), []
for turned in (False, True):
    swapped = json.loads(json.dumps(model))
    if turned:
        swapped["spacecraft"]["loops"][0]["between"].reverse()
    path = store(f"swap_{turned}", swapped)
    summary = json.loads(call("check", "--json", path).stdout)[0]["spacecraft"]
    said.append((summary["loops"][0]["method"], summary["loops"][0]["redundant"], summary["assembly"]["rank"]))
    expect("full rank" not in call("check", path).stdout, "swap: full rank")
    judge(f"swap {turned}", path, f"{folder}/swap_case.json", [0.2], moves=False)
expect(said[0] == said[1], "swap:", *said)

print("\n".join("FAIL: " + f for f in failures))
sys.exit(1 if failures else 0)
E2
