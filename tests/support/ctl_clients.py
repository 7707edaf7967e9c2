"""Clients of a run that flies, some of which die: each says what the run answered, so that the log can be held to it.

    ctl_clients.py storm PID SECONDS SEED ANSWERS    five clients at once, killed and started again at random
    ctl_clients.py client PID ANSWERS NAME           one of them: a line in ANSWERS for each answer it got
    ctl_clients.py check LOG ANSWERS                 each answered command stands in the log at its frame, and acted whole
"""
import json
import random
import signal
import subprocess
import sys
import time

sys.path[:0] = ["io/control", "io/log"]
import orrery_ctl
import orrery_log


def client(pid, answers, name):
    """Commands that tell whose they are: marks by their text, torques and forces by their values, of which a force has three."""
    with orrery_ctl.open(pid) as run, open(answers, "a", buffering=1) as out:
        count = 0
        while True:
            count += 1
            torque = f"{random.randrange(1, 10**9)}e-13"
            force = random.randrange(1, 10**6)
            line = random.choice([f"mark {name}-{count}", f"set wheel_x.torque {torque}", "fault stuck", "clear stuck", "get gyro.*", "status",
                                  f"set push.force [{force}e-13, {2 * force}e-13, {3 * force}e-13]"])
            answer = run.ask(line)
            if line.split()[0] in ("mark", "set", "fault", "clear"):
                out.write(f"{answer['frame']} {line}\n")


def enough(answers):
    """What `check` asks of the log was surely answered."""
    lines = [line.split() for line in open(answers)]
    return all(len({l[0] for l in lines if l[1:3] == ["set", what]}) >= count for what, count in (("wheel_x.torque", 60), ("push.force", 20)))


def storm(pid, seconds, seed, answers):
    rng = random.Random(seed)
    end, living, killed = time.monotonic() + seconds, {}, 0
    while time.monotonic() < end or not enough(answers) and time.monotonic() < end + 300:
        for k in range(5):
            if k not in living or living[k].poll() is not None:
                name = f"c{k}-{killed}"
                living[k] = subprocess.Popen([sys.executable, __file__, "client", str(pid), answers, name], stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 0.4))
        living.pop(k := rng.choice(list(living))).send_signal(signal.SIGKILL)
        killed += 1
    for process in living.values():
        process.kill()
        process.wait()
    print(f"{killed} clients killed")


def check(log_path, answers):
    """An answer may be missing, for its client died; a command that was answered may not."""
    events, acted = {}, {}
    with orrery_log.open(log_path) as log:
        for message in log.messages("/orrery/event"):
            if message["kind"] == "ctl":
                events.setdefault(message["frame"], []).append(f"{message['name']} {message['text']}")
        for message in log.messages("/orrery/commands"):
            acted[message["frame"]] = message.fields
    count = 0
    for line in open(answers):
        if not line.endswith("\n"):
            continue  # its client died while it wrote
        frame, command = line[:-1].split(" ", 1)
        if command not in events.get(int(frame), []):
            sys.exit(f"'{command}' was answered with frame {frame}, where the log has {events.get(int(frame))}")
        count += 1
    sets = stuck = forces = 0
    for frame in sorted(events):
        torques = [e.split()[2] for e in events[frame] if e.startswith("set wheel_x.torque ")]
        pushes = [json.loads(e.split(" ", 2)[2]) for e in events[frame] if e.startswith("set push.force ")]
        for event in events[frame]:
            stuck = {"fault stuck": 1, "clear stuck": 0}.get(event, stuck)
        if torques and not stuck:
            values = [v for f in acted.get(frame, {}).values() if isinstance(f, (list, tuple)) for v in f]
            if float(torques[-1]) not in values:
                sys.exit(f"frame {frame}: {torques[-1]} was set, and {values} acted")
            sets += 1
        if pushes:  # the last one, all of it
            values = [list(v) for f in acted.get(frame, {}).values() if isinstance(f, (list, tuple)) for v in (f, *f) if isinstance(v, (list, tuple))]
            whole = [v for v in values if any(v[i:i + 3] == pushes[-1] for i in range(len(v) - 2))]
            if not whole:
                sys.exit(f"frame {frame}: {pushes[-1]} was set, and {values} acted")
            forces += 1
    print(f"{count} answered, {sum(map(len, events.values()))} in the log, {sets} torques and {forces} forces acted in their frames")
    if count < 50 or sets < 10 or forces < 10:
        sys.exit("too few to show anything")


if __name__ == "__main__":
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "storm":
        storm(int(rest[0]), float(rest[1]), int(rest[2]), rest[3])
    elif what == "client":
        client(int(rest[0]), rest[1], rest[2])
    else:
        check(*rest)
