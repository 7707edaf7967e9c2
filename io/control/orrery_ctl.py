"""Commands a run of Orrery that is going on, from Python. Standard library only.

    import orrery_ctl
    with orrery_ctl.open() as run:          # the only run, or open(pid)
        run.pause()
        run.step(100)                       # returns when the run stands again
        print(run.get("gyro.*")["gyro.rate"])
        run.set("wheel_x.torque", "1 mN m")
        run.fault("bearing")
        run.go()

Each call returns what the run answered, as a dict: ok, frame (at the top of which it was applied), time_s. What is
refused raises Refused with the run's words; a run that ended raises Over. `orrery help ctl` tells what each does.
"""

import json
import os
import socket
import stat
import sys


class Refused(Exception):
    """The run did not apply it; why stands in the text."""


class Over(Exception):
    """The run ended before it answered."""


def _folders():
    named = os.environ.get("ORRERY_CTL")
    if named is not None:
        return [named] if named else []
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [runtime + "/orrery"] if runtime.startswith("/") else []
    uid = os.geteuid()
    return list(dict.fromkeys(own + [f"/run/user/{uid}/orrery", f"/tmp/orrery-{uid}"]))


def _is_ours(folder):
    """Whether nobody else can have put a socket there."""
    try:
        there = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(there.st_mode) and there.st_uid == os.geteuid() and not there.st_mode & 0o077


def _connect(path):
    at = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        at.connect(path)
    except OSError:
        at.close()
        return None
    return at


def _listening(pid):
    found = []
    for folder in filter(_is_ours, _folders()):
        for name in sorted(os.listdir(folder)):
            number, ending = os.path.splitext(name)
            if ending == ".sock" and number.isdigit() and (pid is None or int(number) == int(pid)):
                at = _connect(f"{folder}/{name}")
                if at:
                    found.append((int(number), at))
    return found


def runs():
    """The process ids of the runs that take commands."""
    found = _listening(None)
    for _, at in found:
        at.close()
    return [pid for pid, _ in found]


def open(pid=None):
    """A connection to the run of that process, or to the only one there is."""
    found = _listening(pid)
    if len(found) != 1:
        for _, at in found:
            at.close()
        who = "no run takes commands" if not found else f"several runs: {[pid for pid, _ in found]}"
        raise LookupError(who if pid is None or found else f"no run {pid} takes commands")
    return Run(*found[0])


class Run:
    def __init__(self, pid, at):
        self.pid, self._at, self._rest = pid, at, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._at.close()

    def ask(self, line):
        """One line as `orrery ctl` has it, such as "set wheel_x.torque 1 mN m"; waits for its answer."""
        if "\n" in line:
            raise ValueError("a command is one line")
        try:
            self._at.sendall(line.encode() + b"\n")
            while b"\n" not in self._rest:
                more = self._at.recv(65536)
                if not more:
                    raise Over("the run ended before it answered")
                self._rest += more
        except OSError as why:
            raise Over(f"the run ended before it answered: {why}") from why
        text, self._rest = self._rest.split(b"\n", 1)
        answer = json.loads(text)
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer

    def pause(self):
        return self.ask("pause")

    def step(self, frames=1):
        return self.ask(f"step {frames}")

    def go(self):
        return self.ask("go")

    def set(self, command, value):
        """A number, a text with a unit, or a list of either."""
        if isinstance(value, (list, tuple)):
            value = "[" + ", ".join(str(v) for v in value) + "]"
        return self.ask(f"set {command} {value}")

    def fault(self, name):
        return self.ask(f"fault {name}")

    def clear(self, name="all"):
        return self.ask(f"clear {name}")

    def mark(self, text):
        return self.ask(f"mark {text}")

    def get(self, patterns):
        """The values by channel; the answer's frame stands in `self.frame`."""
        answer = self.ask(f"get {patterns}")
        self.frame = answer["frame"]
        return answer["values"]

    def status(self):
        return self.ask("status")

    def stop(self):
        return self.ask("stop")


if __name__ == "__main__":
    with open() as only:
        print(json.dumps(only.ask(" ".join(sys.argv[1:]) or "status")))
