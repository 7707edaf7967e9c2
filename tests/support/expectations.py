"""What `expect` says of a run, computed anew from its exported table.

  expectations.py RUN.json TABLE.csv        each verdict and value against the table
"""
import csv, json, math, re, sys

DEG = math.pi / 180


def column(rows, name):
    return [float(r[name]) for r in rows]


def window(rows, after, until=math.inf):
    return [r for r in rows if after - 1e-12 <= float(r["time"]) <= until + 1e-12]


def rms(rows, names):
    return max(math.sqrt(sum(x * x for x in column(rows, n)) / len(rows)) for n in names)


def integral(rows, name):
    t, x = column(rows, "time"), column(rows, name)
    return sum((t[i + 1] - t[i]) * (x[i] + x[i + 1]) / 2 for i in range(len(x) - 1))


def overshoot(rows, name, to):
    x = column(rows, name)
    sign = 1 if x[0] < to else -1
    return max(0, max(sign * (v - to) for v in x))


def settling(rows, names, to, tolerance):
    worst = 0
    for n in names:
        x, t = column(rows, n), column(rows, "time")
        outside = [i for i, v in enumerate(x) if abs(v - to) > tolerance]
        if outside and outside[-1] == len(x) - 1:
            return math.inf
        worst = max(worst, t[outside[-1] + 1] - t[0] if outside else 0)
    return worst


def crossings(rows, name, level):
    sides = [1 if v > level else -1 for v in column(rows, name) if v != level]
    return sum(a != b for a, b in zip(sides, sides[1:]))


def norm(row):
    return math.sqrt(sum(float(row["gyro.rate." + a]) ** 2 for a in "xyz"))


def promise(rows, holds, span_s, after, until, always):
    since, at = None, None
    for r in rows:
        t = float(r["time"])
        since = (t if since is None else since) if holds(r) else None
        now = since is not None and t - since >= span_s - 1e-9
        if after - 1e-12 <= t <= until + 1e-12 and at is None and now != always:
            at = t
    return at


def judge(run, table):
    rows = [{k.split(" ")[0]: v for k, v in r.items()} for r in csv.DictReader(open(table))]
    told = {e["name"]: e for e in json.load(open(run))["expect"]}
    xyz = ["gyro.rate." + a for a in "xyz"]
    late = window(rows, 2)
    values = {
        "rms": rms(late, xyz),
        "integral": integral(window(rows, 0, 5), "gyro.rate.x"),
        "overshoot": overshoot(rows, "bus.pointing_error", 1 * DEG),
        "settles": settling(window(rows, 1), xyz, 0, 1 * DEG),
        "never settles": settling(rows, xyz, 0, 0.001 * DEG),
        "settles from below": settling(rows, xyz[1:2], 0, 0.1 * DEG),
        "crossings": crossings(rows, "gyro.rate.x", 0.1 * DEG),
    }
    ats = {
        "comes": promise(rows, lambda r: norm(r) < 0.5 * DEG, 1, 0, 20, False),
        "breaks": promise(rows, lambda r: norm(r) < 1 * DEG, 0, 0, math.inf, True),
        "holds": promise(rows, lambda r: norm(r) < 5 * DEG, 0, 1, math.inf, True),
        "never": promise(rows, lambda r: norm(r) > 50 * DEG, 0, 0, 10, False),
    }
    for name, value in values.items():
        one = told[name]
        is_value = one.get("value", math.inf)
        assert value == is_value or abs(value - is_value) <= 1e-9 * abs(value), (name, value, one)
        bound = float(re.search(r"below ([0-9.e-]+)", one["bound"]).group(1))
        si = DEG if "deg" in one["bound"] else 1
        assert (one["verdict"] == "met") == (value < bound * si), (name, value, one)
    for name, at in ats.items():
        one = told[name]
        assert (at is None) == ("at_s" not in one), (name, at, one)
        assert at is None or abs(at - one["at_s"]) < 1e-9, (name, at, one)
        assert (one["verdict"] == "met") == ((at is None) if name in ("breaks", "holds") else (at is not None)), (name, at, one)
    assert told["settles"]["requirement"] == "R-12"
    verdicts = {e["verdict"] for e in told.values()}
    assert verdicts == {"met", "not_met"}, verdicts


judge(sys.argv[1], sys.argv[2])
