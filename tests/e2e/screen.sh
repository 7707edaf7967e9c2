#!/bin/sh
# The live screen of a run in real time, seen through a terminal of our own: what stands on it, that it is redrawn in
# place, also on a narrow and on a low terminal, and that it says when the flight software falls silent; without a
# terminal plain lines. No time is judged.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir" /dev/shm/orrery.screen.$$.*' EXIT
python3 - "$ORRERY" "$dir" $$ <<'P'
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, threading, time

orrery, folder, unique = sys.argv[1:]
wrong = []


class Terminal:
    """As much of one as the screen needs: lines that wrap, scrolling, cursor up, erase to the end of the line and of the screen."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells, self.x, self.y, self.wrapped, self.strange = [[" "] * columns for _ in range(rows)], 0, 0, 0, []

    def down(self):
        if self.y + 1 < self.rows:
            self.y += 1
        else:
            self.cells = self.cells[1:] + [[" "] * self.columns]

    def put(self, text):
        for m in re.finditer(r"\x1b\[(\d*)([A-Za-z])|\x1b|([^\x1b])", text, re.S):
            number, letter, c = m.groups()
            if letter == "A":
                self.y = max(0, self.y - int(number or 1))
            elif letter in ("K", "J") and not number:
                self.cells[self.y][self.x:] = [" "] * (self.columns - self.x)
                for y in range(self.y + 1, self.rows if letter == "J" else 0):
                    self.cells[y] = [" "] * self.columns
            elif c is None:
                self.strange.append(m.group())
            elif c == "\r":
                self.x = 0
            elif c == "\n":
                self.down()
            else:
                if self.x == self.columns:
                    self.x, self.wrapped = 0, self.wrapped + 1
                    self.down()
                self.cells[self.y][self.x] = c
                self.x += 1

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]


class Flight(threading.Thread):
    """A run on a terminal of that size, or (columns 0) on none; what was on its screen, again and again."""

    def __init__(self, name, columns, rows, seconds, term="xterm", kill=False):
        super().__init__()
        self.name, self.size, self.seconds, self.term, self.kill = name, (columns, rows), seconds, term, kill
        self.link = f"/orrery.screen.{unique}.{name}"
        self.shots, self.all, self.terminal = [], "", Terminal(columns or 80, rows or 24)

    def peer(self):
        fsw = os.path.join(os.path.dirname(orrery), "fsw")
        return subprocess.Popen([fsw, "shm:" + self.link, "cassini"], stderr=subprocess.DEVNULL)

    def run(self):
        columns, rows = self.size
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        seen = os.path.join(folder, self.name)
        with open(seen + ".out", "w") as out, open(seen + ".err", "w") as err:
            command = [orrery, "run", "configs/cassini-slew.yaml", "--mode", "realtime", "--duration", f"{self.seconds}s"]
            for setting in ("links.fsw.name=" + self.link, "realtime.priority=0", "realtime.spin=0s", "realtime.phase=0s", "expect=[]"):
                command += ["--set", setting]
            flown = subprocess.Popen(command, stdout=out, stderr=slave if columns else err, env=dict(os.environ, TERM=self.term))
        os.close(slave)
        peer, killed = self.peer(), False
        while True:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    text = os.read(master, 65536).decode()
                except OSError:
                    break  # nobody has the terminal open any more
                self.all += text
                self.terminal.put(text)
            elif self.all:
                self.shots.append(self.terminal.lines())
            if self.kill and not killed and self.shots and any("answered" in l for l in self.shots[-1]):
                peer.kill()
                peer.wait()
                killed = True
            elif killed and self.kill and any("SILENT" in l for l in self.shots[-1]):
                peer, self.kill = self.peer(), False
        os.close(master)
        self.status = flown.wait()
        peer.wait()
        self.out, self.err = open(seen + ".out").read(), open(seen + ".err").read()


def check(what, true, show=None):
    if not true:
        wrong.append(f"FAIL: {what}: {show if show is not None else ''}")


wide = Flight("wide", 100, 30, 15, kill=True)
narrow = Flight("narrow", 34, 40, 8)
low = Flight("low", 100, 7, 8)
plain = Flight("plain", 0, 0, 15)
dumb = Flight("dumb", 80, 24, 2, term="dumb")
flights = (wide, narrow, low, plain, dumb)
for f in flights:
    f.start()
for f in flights:
    f.join()
for f in flights:
    check(f"the run '{f.name}'", f.status == 0 and "state_hash" in f.out, f.out + f.err + f.all)

# what is named stands there, once, and the screen is redrawn in place
labels = ["frame", "margin", "start", "wake-up", "publish", "latch", "integrate", "sensors", "pointing", "modes", "load", "links"]
says = {
    "frame": r"\d+  t = [\d.]+ s  \[#*\.*\]$", "margin": r"-?[\d.]+ [mun]?s of 1.00 ms; late frames: own \d+, others \d+$",
    "wake-up": r"p50 .* p99.9 .* worst [\d.]+ [mun]?s$", "integrate": r"p50 .* p99.9 .* worst [\d.]+ [mun]?s$",
    "pointing": r"[\d.]+ deg off$", "modes": r"([-+]\d\.\d\de[-+]\d\d ?){4}$", "load": r"boom_root( [-+][\d.]+){3} N m$",
    "links": r"(answered|SILENT): \d+ frames out, \d+ commands applied, \d+ late, \d+ missed; \d+ peers came$",
}


def line_of(shot, label):
    found = [l for l in shot if re.match(rf"  {label} +", l)]
    return found[0] if len(found) == 1 else None


drawn = [s for s in wide.shots if any(l.startswith("  frame") for l in s)]
check("the screen is drawn again and again", len(drawn) >= 10, wide.all[-2000:])
for label in labels:
    for shot in drawn:
        found = line_of(shot, label)
        check(f"'{label}' stands on the screen once", found is not None, "\n".join(shot))
        check(f"'{label}' says what it should", found is None or re.search(says.get(label, ""), found), found)
frames = [int(re.search(r"\d+", line_of(s, "frame"))[0]) for s in drawn if line_of(s, "frame")]
check("frames go on", frames == sorted(frames) and len(set(frames)) >= 10, frames)
moving = {line_of(s, "pointing") for s in drawn} if drawn else set()
check("the pointing error moves", len(moving) >= 5, moving)
health = [re.search("answered|SILENT", line_of(s, "links") or "") for s in drawn]
health = [h[0] for i, h in enumerate(health) if h and (i == 0 or not health[i - 1] or h[0] != health[i - 1][0])]
check("killed flight software is seen as silent, and as back", "answered SILENT answered" in " ".join(health), health)
check("two peers came", "2 peers" in wide.out, wide.out)
check("the screen is wiped at the end", not any(line_of(wide.terminal.lines(), l) for l in labels), "\n".join(wide.terminal.lines()))

# cut, not wrapped, on a terminal that is narrow; on one that is low what fits, from the top, and the rest is left out
for f, there in ((narrow, labels), (low, labels[:4])):
    drawn = [s for s in f.shots if any(l.startswith("  frame") for l in s)]
    check(f"{f.name}: the screen is drawn", len(drawn) >= 3, f.all[-2000:])
    for shot in drawn:
        for label in there:
            check(f"{f.name}: '{label}' stands on the screen once", line_of(shot, label) is not None, "\n".join(shot))
before = [l for l in narrow.all.split("\r\n") if "\x1b" not in l]
check("narrow: no line of the screen wraps", narrow.terminal.wrapped == sum((len(l) - 1) // 34 for l in before if l), narrow.all[:3000])
for f in (wide, narrow, low):
    check(f"{f.name}: nothing strange is sent", not f.terminal.strange, f.terminal.strange)

# elsewhere plain lines, one in five seconds
lines = [l for l in plain.err.split("\n") if l.startswith("t = ")]
check("without a terminal: a line in five seconds", lines, plain.err)
for l in lines:
    check("without a terminal: what it says", re.fullmatch(
        r"t = [\d.]+ s  frame \d+  margin -?[\d.]+ [mun]?s  late: own \d+, others \d+  pointing [\d.]+ deg off  links (answered|SILENT)", l), l)
check("without a terminal: nothing but text", "\x1b" not in plain.err + plain.out, plain.err)
check("TERM=dumb: nothing but text", "\x1b" not in dumb.all and "waits for flight software" in dumb.all, dumb.all)
print("\n".join(dict.fromkeys(wrong)))
sys.exit(1 if wrong else 0)
P

# --- a batch run of more than two seconds tells how far it is, and the time left; on a terminal alone -----------------
cat >"$dir/watch.py" <<'P'
import os, pty, re, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
begin, seen = time.monotonic(), b""
while time.monotonic() - begin < 60 and not re.search(rb"\] +\d+ %, \d+ (s|min) left", seen):
    seen += os.read(fd, 4096)
first = time.monotonic() - begin
os.kill(pid, signal.SIGINT)
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
os.waitpid(pid, 0)
assert re.search(rb"\] +\d+ %, \d+ (s|min) left", seen), seen
assert first > 1.9, first
P
python3 "$dir/watch.py" "$ORRERY" run configs/cubesat.yaml --mode batch --duration 1000000s || {
  echo "FAIL: no progress on a terminal"
  exit 1
}
