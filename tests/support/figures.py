#!/usr/bin/env python3
"""Figures of the counted guest, from the results of `orrery timing` that it handed over. Its clock counts 4 ns an instruction.

  figures.py table FOLDER            a line for each figure, in instructions
  figures.py checksum FOLDER         one checksum over all figures, histograms included
  figures.py about FOLDER            kernel and compiler that they are of
  figures.py judge BASE NOW          tables: exit 1 and a line FAIL for what is worse in NOW; what is better is told
  figures.py beside BASE NOW         tables: both, and their difference, where there is one
"""
import glob
import hashlib
import json
import os
import sys

NS = 4  # of an instruction: -icount shift=2
ALLOWED = 50  # instructions of a stage, in its quickest calm frame
# On average over calm frames: which of them are calm depends on where interrupts fall:
# boot images of other lengths moved one mean by 478 of 278,436, up or down. Instructions, and a part of the whole.
ALLOWED_MEAN, ALLOWED_MEAN_PART = 100, 0.0025
# The way from the timer to the executive, on average: its least was moved by 110 in an image that was packed
# otherwise, its mean by 23.
ALLOWED_WAKE_UP = 150
ALLOWED_INVOLUNTARY = 3  # threads of the kernel, which come when they come
COUNTS = ("priority", "frames", "late", "faults", "voluntary", "involuntary", "lacks")


def slices(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            part = json.load(file)["parts"][0]
        yield os.path.basename(path)[: -len(".json")], part, part["slices"][0]


def table(folder):
    lines = []
    for name, part, s in slices(folder):
        spacecraft, load = name.split(".", 1)
        calm = s["calm"]
        for stage, of in calm["stages"].items():
            lines.append((spacecraft, load, stage, "least", round(of["min_ns"] / NS), "mean", round(of["sum_ns"] / calm["frames"] / NS, 1)))
        wake = s["distributions"]["wake-up"]
        lines.append((spacecraft, load, "wake-up", "least", round(wake["min_ns"] / NS), "mean", round(wake["sum_ns"] / wake["count"] / NS, 1),
                      "most", round(wake["max_ns"] / NS)))
        c = s["counts"]
        counts = (s["priority"], c["frames"], c["late"], c["minor_faults"] + c["major_faults"], c["voluntary_switches"], c["involuntary_switches"],
                  len(part["lacks"]))
        lines.append((spacecraft, load, "counts") + tuple(x for pair in zip(COUNTS, counts) for x in pair))
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def checksum(folder):
    kept = [(name, {k: s[k] for k in ("state_hash", "counts", "calm", "distributions", "links", "worst")}) for name, _, s in slices(folder)]
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16] + "\n" if kept else "nothing\n"


def about(folder):
    for _, part, _ in slices(folder):
        kernel = part["environment"]["kernel"]
        return f"kernel {kernel['release']} {kernel['version']}"
    return "nothing"


def read(path):
    """{(spacecraft, load, stage): {word: number}}; lines that begin with # are comments."""
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not line.startswith("#"):
                rows[tuple(words[:3])] = {words[i]: float(words[i + 1]) for i in range(3, len(words), 2)}
    return rows


WORSE = {
    "late": "frames late",
    "faults": "page faults in frames",
    "voluntary": "voluntary switches in frames (a lock, or another call that blocks)",
    "involuntary": "involuntary switches (another thread came in between)",
    "lacks": "things that the machine could not give",
}


def judge_counts(where, was, now):
    wrong = []
    if now["priority"] != was["priority"]:
        wrong.append(f"{where}: the priority of the executive is {now['priority']:g}, not {was['priority']:g}")
    if now["frames"] != was["frames"]:
        wrong.append(f"{where}: {now['frames']:g} frames were flown, not {was['frames']:g}")
    for word, means in WORSE.items():
        if now[word] > was[word] + (ALLOWED_INVOLUNTARY if word == "involuntary" else 0):
            wrong.append(f"{where}: {now[word]:g} {means}, not {was[word]:g}")
    return wrong


def judge_wake_up(where, was, now):
    mean = now["mean"] - was["mean"]
    if mean >= ALLOWED_WAKE_UP:
        return [f"{where}: the wake-up takes {mean:.0f} instructions more than its {was['mean']:g} on average"]
    if mean <= -ALLOWED_WAKE_UP:
        print(f"{where}: the wake-up takes {-mean:.0f} instructions fewer than its {was['mean']:g} on average: make rt-baseline")
    return []


def judge_stage(where, stage, was, now):
    least, mean = now["least"] - was["least"], now["mean"] - was["mean"]
    allowed = max(ALLOWED_MEAN, ALLOWED_MEAN_PART * was["mean"])
    if least >= ALLOWED:
        return [f"{where}: stage {stage} has {least:g} instructions more than its {was['least']:g}"]
    if mean >= allowed:
        return [f"{where}: stage {stage} has {mean:.0f} instructions more than its {was['mean']:g} on average, in its quickest frame {least:g} more"]
    if least <= -ALLOWED or mean <= -allowed:
        print(f"{where}: stage {stage} has {-least:g} instructions fewer than its {was['least']:g}, on average {-mean:.0f}: make rt-baseline")
    return []


def judge(base, now):
    wrong = []
    for key, was in base.items():
        where = f"{key[0]} {key[1]}"
        if key not in now:
            wrong.append(f"{where}: {key[2]} is not there")
        elif key[2] == "counts":
            wrong += judge_counts(where, was, now[key])
        elif key[2] == "wake-up":
            wrong += judge_wake_up(where, was, now[key])
        else:
            wrong += judge_stage(where, key[2], was, now[key])
    wrong += [f"{key[0]} {key[1]}: {key[2]} is new: make rt-baseline" for key in now if key not in base]
    for line in wrong:
        print("FAIL:", line)
    return 1 if wrong or not base else 0


def beside(base, now):
    for key, was in base.items():
        if key in now and was != now[key]:
            print(*key, *(f"{word} {value:g} and {now[key][word]:g} ({now[key][word] - value:+.6g})" for word, value in was.items()))
    return 0


def main(words):
    if len(words) == 2 and words[0] in ("table", "checksum", "about"):
        sys.stdout.write({"table": table, "checksum": checksum, "about": about}[words[0]](words[1]))
        return 0
    if len(words) == 3 and words[0] in ("judge", "beside"):
        return {"judge": judge, "beside": beside}[words[0]](read(words[1]), read(words[2]))
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
