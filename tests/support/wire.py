"""A serial cable without hardware: two pseudo-terminals, and what is written into one end comes out at the other.

    wire.py A B [--break SEED COUNT]

A and B become links to the two ends. It says "up" when they are there. With --break the cable is pulled COUNT times, for 20 to 80 ms each, 100 to
300 ms after something has come from each end, as the seed says: both ends hang up, and are other terminals afterwards, as after a USB adapter was
plugged in again. Then it says "broken COUNT". Ends when its standard input does, or by a signal.
"""
import os
import random
import select
import sys
import termios
import time
import tty


class End:
    def __init__(self, path):
        self.path = path
        self.master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self.master, False)
        self.slave, self.waiting, self.spoke = slave, b"", False  # held open, so that an end nobody has opened yet does not hang up
        name = path + ".new"
        os.symlink(os.ttyname(slave), name)
        os.replace(name, path)

    def pull(self):
        os.unlink(self.path)
        os.close(self.slave)
        os.close(self.master)


def carry(ends):
    for a, b in (ends, ends[::-1]):
        try:
            a.waiting += os.read(a.master, 65536) if len(a.waiting) < 1 << 16 else b""
        except (BlockingIOError, OSError):
            pass
        a.spoke |= len(a.waiting) > 0
        try:
            a.waiting = a.waiting[os.write(b.master, a.waiting) :] if a.waiting else b""
        except BlockingIOError:
            pass


def main(argv):
    paths, breaks = argv[:2], []
    if len(argv) == 5 and argv[2] == "--break":
        draw = random.Random(int(argv[3]))
        breaks = [(draw.uniform(0.1, 0.3), draw.uniform(0.02, 0.08)) for _ in range(int(argv[4]))]
    count, ends = len(breaks), [End(p) for p in paths]
    print("up", flush=True)
    due = None
    while True:
        readable = select.select([e.master for e in ends] + [sys.stdin], [], [], 0.01)[0]
        if sys.stdin in readable and not os.read(0, 1000):
            return 0
        carry(ends)
        if breaks and due is None and all(e.spoke for e in ends):  # nothing is pulled before both ends are in use, each time
            due = time.monotonic() + breaks[0][0]
        if due and time.monotonic() > due:
            for e in ends:
                e.pull()
            time.sleep(breaks.pop(0)[1])
            ends = [End(p) for p in paths]
            due = None
            if not breaks:
                print("broken", count, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
