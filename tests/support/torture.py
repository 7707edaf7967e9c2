#!/usr/bin/env python3
"""Runs over each transport under faults drawn from a seed, one every few frames, for so long.

    torture.py ORRERY SECONDS SEED FOLDER NAME PORT [ROUND]

Each round flies cubesat under the sample flight software or a law in Python that has a memory, in lockstep or in real time. Carriers, endings and laws come in an
order that the seed shuffles, so that six rounds fly each carrier once. A round in lockstep goes in steps of a few frames of the link (`step` of `orrery ctl`), and
in each step there is a fault; in real time there is one each 5 to 100 ms. Over UDP a network (network.py), over the others but shared memory half of the time a
line (line.py) loses, repeats, delays, reorders, garbles and cuts; half of the time under a key. Strangers try to take over and to end the run, or a second flight
software does. Either side is stopped for a while; flight software leaves, is killed and started again, or not; the run is killed, and started again, or not; the
segment is scribbled on and cut; the disk of the log is full. CAN is not among them: nothing in its frames is said twice, so a bus that loses or a peer that is
killed has no way on to hold it to, and tests/e2e/can.sh flies what is left. It must hold that
  - nobody crashes or hangs: a status of a run is 0, 1 or 3, or the signal that was sent; in lockstep 0 or 3;
  - every frame out is accounted for: answered in one way, or not; in lockstep each on time, but for the two that may be out when it ends;
  - in lockstep a status of 0 is that of a run that flew all its frames, and 3 that of one that did not;
  - it flies all of them where flight software stayed, came again, or a second one came, whatever was lost, cut and garbled on the way, and whoever was stopped; and
    does not where flight software went for good, or its segment did, more than two frames before the end;
  - what it flew, all frames or not, has the bits of the quiet run after as many. The law in Python remembers, so a frame that was left out, or taken twice, would show; where
    another process took over from it, the bits are those of a quiet run in which a second one took over at the frames that it says, where the first may have
    answered the two that were out. Only where somebody wrote into the telemetry itself there are other bits.
The first line that is not so ends it with status 1, and says seed and round; ROUND is the one to begin with. NAME and PORT are free for this program.
"""
import json
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(TREE, "io/client"))
import orrery_client  # noqa: E402

HANG_S = 120
DIVISOR, FRAMES = 10, 200  # of the simulation for each of the link; of the link, in lockstep
CARRIERS = "shm", "udp", "tcp", "unix", "stream", "serial"
ENDS = ("none",) * 4 + ("peer-killed", "peer-leaves", "peer-again", "takeover", "run-killed", "run-again", "broken", "broken")
PATIENCE_S = {"peer-killed": 3, "peer-leaves": 3, "cut": 3, "scribbled": 3, "scribbled-telemetry": 3}  # of lockstep, for who does not come back; of the others 100

# A peer with a memory: [SEEN UPTO] are two, of which the second sees those frames, and all behind them, and the first
# answers frames up to UPTO. What it said to a frame it says again when the run asks again over another connection.
LAW = """
import signal, sys
sys.path.insert(0, %r)
import orrery_client
url, key, *second = sys.argv[1:]
seen, upto = (eval(second[0]), int(second[1])) if second else ([2**62], 2**62)
run, given, sums = None, {}, ()
def follow(sum, rate):
    sum[:] = [0.9 * s + 0.01 * r for s, r in zip(sum, rate)]
    return {"wheel_%%s.torque" %% a: max(-1e-3, min(1e-3, s)) for a, s in zip("xyz", sum)}
def leave(*_):
    sys.exit(0)
while True:
    try:
        with orrery_client.open(url, 60, *[key] * (key != "-")) as link:
            if link.header["run"] != run:
                run, given, sums = link.header["run"], {}, ([0.0] * 3, [0.0] * 3)
            new = 8
            signal.signal(signal.SIGTERM, leave)
            while link.wait(60):
                if new:
                    print(link.frame, flush=True)
                    new -= 1
                if link.frame not in given:
                    answers = [follow(s, link["gyro.rate"]) for s in sums[: 1 + (link.frame in seen or link.frame > seen[-1])]]
                    given[link.frame] = answers[link.frame > upto]
                    given.pop(link.frame - 200, None)
                link.send(given[link.frame])
        break
    except ConnectionResetError:
        pass
""" % os.path.join(TREE, "io/client")


class Wrong(Exception):
    pass


class Steps:
    """A run in lockstep that goes a few frames at a time, as `orrery ctl` has it."""

    def __init__(self, run):
        self.run, self.came = run, b""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = "%s/%d.sock" % (os.environ["ORRERY_CTL"], run.pid)
        while run.poll() is None:
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.005)
        self.socket.setblocking(False)

    def go(self, frames):
        """By so many of the link."""
        self.came = b""
        try:
            self.socket.send(b"step %d\n" % (frames * DIVISOR))
        except OSError:
            pass  # it is over

    def stands(self, seconds):
        """Whether it stands again, or is over."""
        if b"\n" not in self.came and select.select([self.socket], [], [], seconds)[0]:
            try:
                more = self.socket.recv(65536)
            except OSError:
                more = b""
            if not more:
                time.sleep(0.005)
                return self.run.poll() is not None
            self.came += more
        return b"\n" in self.came

    def frame(self):
        """Of the link, at which it stands; where it is over, that of its end."""
        return json.loads(self.came).get("stands_at", FRAMES * DIVISOR) // DIVISOR if b"\n" in self.came else FRAMES

    def close(self):
        self.socket.close()


class Round:
    """What the dice say of one."""

    def __init__(self, seed, number, has_full):
        self.number, self.dice = number, random.Random("%d %d" % (seed, number))
        dice = self.dice
        self.carrier = self.dealt(seed, "carrier", CARRIERS)
        self.end = self.dealt(seed, "end", ENDS)
        self.kind = dice.choice(("c", "c", "python"))
        self.mode = self.dealt(seed, "mode", ("lockstep",) * 7 + ("realtime",))
        if self.end == "broken":
            self.end = dice.choice(("cut", "scribbled", "scribbled-telemetry")) if self.carrier == "shm" else "none"
        if self.end == "peer-leaves":
            self.kind = "python"
        if self.end == "takeover" and self.carrier == "serial":  # two at one end of a cable are one
            self.end = "peer-again"
        self.through = self.carrier in ("udp", "serial") or (self.carrier != "shm" and dice.random() < 0.5)
        self.keyed = self.carrier != "shm" and dice.random() < 0.5
        self.full = has_full and dice.random() < 0.25
        self.percent = dice.choice((0.1, 1, 3, 6))
        self.cuts = dice.choice((0, 1, 4)) if self.carrier != "udp" else 0
        if self.carrier == "serial" and self.end == "run-again":  # a run does not begin at a port that is unplugged
            self.cuts = 0
        self.seconds = {"lockstep": FRAMES * DIVISOR / 100, "realtime": 3}[self.mode]
        self.when = dice.randrange(5, FRAMES)
        if self.end == "run-again":  # a run that has come to its end has told flight software, which does not come to another
            self.when = min(self.when, FRAMES - 10)
        self.slots_alone = dice.random() < 0.7  # is scribbled on; else the peer's words before them, which seldom goes well for long
        self.stood = 0  # frames of the link that it had flown for sure, and at most, when its end was made
        self.at_most = 0
        self.faults = 0

    def dealt(self, seed, what, cards):
        """One of a pack that is shuffled anew when it is out."""
        pack = list(cards)
        random.Random("%d %s %d" % (seed, what, self.number // len(pack))).shuffle(pack)
        return pack[self.number % len(pack)]

    def told(self):
        more = [self.carrier + (" by a line of %g %%, %d cuts" % (self.percent, self.cuts) if self.through else ""), self.mode, self.kind, self.end]
        more += ["full disk"] * self.full + ["keyed"] * self.keyed + ["%d faults" % self.faults] * (self.faults > 0)
        return "round %d: %s" % (self.number, ", ".join(more))


class Torture:
    def __init__(self, orrery, seconds, seed, folder, name, port, first):
        self.orrery, self.fsw = orrery, os.path.join(os.path.dirname(orrery), "fsw")
        self.until, self.seed, self.folder, self.name, self.port = time.monotonic() + seconds, seed, folder, name, port
        self.first, self.quiet, self.counts, self.children = first, {}, {}, []
        with open(os.path.join(folder, "law.py"), "w") as f:
            f.write(LAW)
        self.key = os.path.join(folder, "key")
        with os.fdopen(os.open(self.key, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(os.urandom(32).hex())
        self.full = os.path.join(folder, "full")
        os.mkdir(self.full)
        self.has_full = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.full], stderr=subprocess.DEVNULL).returncode == 0

    # ---- processes ----

    def start(self, what, command):
        out = open(os.path.join(self.folder, what), "w+")
        child = subprocess.Popen(command, stdout=out, stderr=open(os.path.join(self.folder, what + ".err"), "w"), cwd=TREE,
                                 env={**os.environ, "ORRERY_LOGS": os.path.join(self.folder, "logs")})
        child.out, child.what = out, what
        self.children.append(child)
        return child

    def end(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.send_signal(signal.SIGCONT)
            child.wait()
            child.out.close()
        self.children = []

    def at(self, name):
        return os.path.join(self.folder, name)

    def place(self, r):
        return {"shm": "transport: shm, name: " + self.name,
                "udp": "transport: udp, listen: '127.0.0.1:%d', allow: [127.0.0.1]" % self.port,
                "tcp": "transport: tcp, listen: '127.0.0.1:%d'" % self.port,
                "unix": "transport: unix, path: " + self.at("link.sock"),
                "stream": "transport: unix, path: %s, socket: stream, framing: slip" % self.at("link.sock"),
                "serial": "transport: serial, device: " + self.at("cable.a")}[r.carrier]

    def url(self, r):
        port, path = (self.port + 1, self.at("line.sock")) if r.through else (self.port, self.at("link.sock"))
        return {"shm": "shm:" + self.name, "udp": "udp:127.0.0.1:%d" % port, "tcp": "tcp:127.0.0.1:%d" % port, "unix": "unix:" + path,
                "stream": "unix:%s,slip" % path, "serial": "serial:%s@115200" % self.at("cable.b")}[r.carrier]

    def run_command(self, r, more=()):
        link = ("{%s%s, rate: 10 Hz, telemetry: [gyro.rate, star.attitude, bus.target], commands: [wheel_*.torque], wait: %s, "
                "timeout: {frames: 10, policy: hold}, lockstep: {timeout: %d s}}"
                % (self.place(r), ", key_file: " + self.key if r.keyed else "", "100 s" if r.mode == "lockstep" else "5 s", PATIENCE_S.get(r.end, 100)))
        return [self.orrery, "run", "configs/cubesat.yaml", "--mode", r.mode, "--duration", "%gs" % r.seconds, "--json", "--set", "links={fsw: %s}" % link, *more]

    def peer_command(self, r, second=()):
        if r.kind == "c":
            return [self.fsw, *(["--key-file", self.key] if r.keyed else []), self.url(r)]
        return [sys.executable, "-I", "-S", "-B", self.at("law.py"), self.url(r), self.key if r.keyed else "-", *map(str, second)]

    def start_line(self, r):
        for name in ("line.sock", "link.sock"):
            if os.path.lexists(self.at(name)):
                os.unlink(self.at(name))
        seed, percent = str(r.dice.getrandbits(30)), "%g" % r.percent
        if r.carrier == "udp":
            words = ["network.py", str(self.port + 1), str(self.port), seed, percent, "5"]
        else:
            ends = {"tcp": (str(self.port + 1), str(self.port)), "serial": (self.at("cable.b"), self.at("cable.a"))}
            words = ["line.py", r.carrier, *ends.get(r.carrier, (self.at("line.sock"), self.at("link.sock"))), seed, percent, str(r.cuts)]
        line = self.start("line", [sys.executable, "-B", os.path.join(HERE, words[0]), *words[1:]])
        while not self.read("line").startswith("ready"):
            if line.poll() is not None:
                raise Wrong("no line: " + self.said("line"))
            time.sleep(0.01)

    # ---- faults ----

    def stranger(self, r):
        """Packets that are right in all but that they are not the peer's, or of bytes that are nothing."""
        dice = r.dice
        for _ in range(dice.randrange(1, 20 if r.carrier == "udp" else 4)):
            function = dice.choice((orrery_client.COMMANDS, orrery_client.END, orrery_client.BEAT, orrery_client.LEAVE, 77))
            frame = dice.getrandbits(32) << 32 | dice.choice((0, dice.getrandbits(32)))
            packet = orrery_client.write_command(0x1e80, 1, function, frame, 0, dice.choice((0, 10, orrery_client.NONE)), bytes(dice.choice((0, 8, 24, 25))))
            packet = dice.choice((packet, packet[: dice.randrange(len(packet))], dice.randbytes(40)))
            if r.carrier != "udp" and r.through and r.cuts:
                packet = dice.randbytes(40)  # where the peer's connection is cut, its place is free for who is right in all
            kind = {"udp": socket.SOCK_DGRAM, "unix": socket.SOCK_SEQPACKET}.get(r.carrier, socket.SOCK_STREAM)
            with socket.socket(socket.AF_INET if r.carrier in ("udp", "tcp") else socket.AF_UNIX, kind) as s:
                try:
                    s.connect(("127.0.0.1", self.port) if r.carrier in ("udp", "tcp") else self.at("link.sock"))
                    if r.carrier in ("tcp", "stream"):
                        crc = struct.pack("<I", orrery_client.crc32c(packet))
                        packet = (orrery_client._slip if r.carrier == "stream" else orrery_client._cobs)(packet + crc)
                    s.send(packet)
                except OSError:
                    pass  # it was turned away

    def scribble(self, r):
        """A word of what the peer writes, mostly of the slot that it wrote last; or of anything behind its area, telemetry too."""
        path = "/dev/shm" + self.name
        try:
            with open(path, "r+b", buffering=0) as f:
                h = orrery_client._header(f.read(orrery_client.DIRECTORY_AT))
                if r.end == "scribbled":
                    f.seek(orrery_client.PEER_AT)
                    last = h["in_at"] + h["in_slot"] * (struct.unpack("<I", f.read(4))[0] % orrery_client.SLOTS)
                    low, high = r.dice.choice(((last, last + h["in_slot"]),) * 3 + ((h["in_at"], h["in_at"] + orrery_client.SLOTS * h["in_slot"]),))
                    if not r.slots_alone:
                        low, high = orrery_client.PEER_AT, orrery_client.DIRECTORY_AT
                else:
                    low, high = orrery_client.PEER_AT, h["bytes"]
                f.seek(r.dice.randrange(low, high - 7) // 8 * 8)
                f.write(struct.pack("<Q", r.dice.choice((0, 1, 2**63, 2**64 - 1, r.dice.getrandbits(64)))))
        except (OSError, ValueError):
            pass

    def pause(self, dice, child, meanwhile=lambda: None):
        if child.poll() is None:
            child.send_signal(signal.SIGSTOP)
            time.sleep(dice.uniform(0.001, 0.3 if dice.random() < 0.05 else 0.03))
            meanwhile()
            child.send_signal(signal.SIGCONT)

    def cut(self):
        try:
            os.truncate("/dev/shm" + self.name, 0)
        except OSError:
            pass

    def fault(self, r):
        r.faults += 1
        if r.mode == "lockstep" and r.dice.random() < 0.7:
            time.sleep(r.dice.uniform(0, 0.002))  # so that it hits a step that flies, at any place of it
        what = r.dice.choice(("run", "peer", "peer", "nothing"))
        if what == "nothing" and r.mode == "realtime" and r.carrier not in ("shm", "serial"):
            self.stranger(r)
        elif what != "nothing":
            self.pause(r.dice, self.run if what == "run" else self.peer)
        if r.end.startswith("scribbled"):  # behind the back of the run, and of what it has not read yet
            self.pause(r.dice, self.run, lambda: self.scribble(r))

    def make_end(self, r):
        """What the round is about, besides its faults."""
        if self.run.poll() is not None:
            return
        if r.end in ("peer-killed", "peer-again"):
            self.peer.kill()
            self.peer.wait()
        if r.end in ("peer-again", "takeover"):
            self.peer = self.start("again", self.peer_command(r))
        if r.end == "peer-leaves":
            self.peer.terminate()
        if r.end in ("run-killed", "run-again"):
            self.run.kill()
            self.run.wait()
        if r.end == "cut":
            self.cut()

    # ---- a round ----

    def hash_of(self, kind, second=(), frames=FRAMES * DIVISOR):
        """Of the quiet run in lockstep, over shared memory, after so many frames of the simulation."""
        if (kind, second, frames) not in self.quiet:
            r = Round(0, 0, False)
            r.carrier, r.through, r.keyed, r.mode, r.kind, r.end, r.seconds = "shm", False, False, "lockstep", kind, "none", frames / 100
            run = self.start("quiet", self.run_command(r, ["--no-log"]))
            self.start("quiet-peer", self.peer_command(r, second))
            if run.wait(HANG_S) != 0:
                raise Wrong("the quiet run does not fly: " + self.said("quiet") + self.said("quiet-peer"))
            self.quiet[kind, second, frames] = self.summary(run)["state_hash"]
        return self.quiet[kind, second, frames]

    def wanted(self, r, frames):
        """The hashes that it may have after so many frames."""
        wanted = {self.hash_of(r.kind, (), frames)}
        if r.kind == "python" and r.end in ("peer-again", "takeover"):
            seen = list(map(int, self.read("again").split()))[:8]
            if seen:  # those that it took first: where bytes for the first one were still on the line, there may be a gap
                wanted |= {self.hash_of(r.kind, (str(sorted(set(seen))), seen[0] + k * DIVISOR), frames) for k in (-1, 0, 1, 2)}
        return wanted

    def read(self, name):
        with open(self.at(name)) as f:
            return f.read()

    def said(self, *names):
        return "".join("\n--- %s: " % n + self.read(n)[:1000] for what in names for n in (what, what + ".err") if os.path.exists(self.at(n)))

    def summary(self, run):
        run.out.seek(0)
        return json.load(run.out)

    def patient(self, r, begin):
        if time.monotonic() - begin > HANG_S:
            raise Wrong(r.told() + ": it hangs: " + self.said("run", "peer", "again", "line"))

    def fly_in_steps(self, r, begin):
        """In lockstep: a step of a few frames, and a fault while it flies."""
        steps, stood, done = self.steps, 0, r.end in ("none", "scribbled", "scribbled-telemetry")
        while self.run.poll() is None:
            far = r.dice.randrange(1, 9) if stood else 2
            if stood and r.carrier not in ("shm", "serial") and r.dice.random() < 0.3:  # the peer has just answered: its place is not free
                self.stranger(r)
            if stood:
                steps.go(far)
            if not done and stood and stood + far >= r.when:  # behind the first step, so that flight software has come
                done, r.stood, r.at_most = True, stood, stood + far
                time.sleep(r.dice.choice((0, r.dice.uniform(0, 0.003))))
                self.make_end(r)
                if r.end == "run-again":
                    steps.close()
                    self.run = self.start("run", self.command)
                    steps, stood = Steps(self.run), 0
                    steps.go(2)  # flight software may be there at once: then it flies a little before that comes
                    continue
            else:
                self.fault(r)
            while not steps.stands(0.05) and self.run.poll() is None:
                self.patient(r, begin)
            stood = steps.frame()
        steps.close()

    def fly_by_the_clock(self, r, begin):
        when, done = r.dice.uniform(0.3, 1.5), False
        while self.run.poll() is None:
            time.sleep(r.dice.uniform(0.005, 0.1))
            self.patient(r, begin)
            if r.faults < 80:  # a run that is stopped again and again takes its time
                self.fault(r)
            if not done and time.monotonic() - begin > when:
                done = True
                self.make_end(r)
                if r.end == "run-again":
                    self.run = self.start("run", self.command)

    def round(self, number):
        r = Round(self.seed, number, self.has_full)
        for what in (r.end, r.carrier):
            self.counts[what] = self.counts.get(what, 0) + 1
        for name in ("again", "again.err"):
            if os.path.exists(self.at(name)):
                os.unlink(self.at(name))
        if r.carrier != "shm":
            self.start_line(r)
        more = ["--log", os.path.join(self.full, "%d.mcap" % number)] if r.full else ["--no-log"]
        self.command = self.run_command(r, more)
        self.run = self.start("run", self.command)
        if r.mode == "lockstep":  # before flight software comes, so that no frame flies by itself
            self.steps = Steps(self.run)
            self.steps.go(2)
        self.first_peer = self.peer = self.start("peer", self.peer_command(r))
        (self.fly_in_steps if r.mode == "lockstep" else self.fly_by_the_clock)(r, time.monotonic())
        self.judge(r)
        self.end()
        for name in os.listdir(self.full) if r.full else ():
            os.unlink(os.path.join(self.full, name))
        return r

    def judge(self, r):
        status = self.run.wait()
        summary = self.summary(self.run) if status in (0, 1, 3) else {}
        link = summary.get("links", {}).get("fsw")
        why = "%s: status %d: %s, %s" % (r.told(), status, summary.get("reasons"), link) + self.said("peer", "again", "line", "run")
        for peer in (self.first_peer, self.peer):
            if peer.poll() is not None and peer.returncode not in (0, 1, -signal.SIGKILL, -signal.SIGTERM):
                raise Wrong("the flight software crashed: %d: " % peer.returncode + why)
        if status == -signal.SIGKILL and r.end == "run-killed":
            return
        if status not in (0, 1, 3):
            raise Wrong("a crash: " + why)
        if not link:
            raise Wrong("it did not fly: " + why)
        if sum(link["answers"].values()) != link["published"]:
            raise Wrong("not every frame out is accounted for: " + why)
        if link["refused"]["dropped"] > 2 * 65536 * 100:
            raise Wrong("absurd numbers: " + why)
        if r.mode == "lockstep":
            self.end()  # who waits for another run is not to find a quiet one
            self.judge_lockstep(r, status, summary, link, why)

    def judge_lockstep(self, r, status, summary, link, why):
        whole = summary["frames"] == FRAMES * DIVISOR
        if status != (0 if whole else 3):
            raise Wrong("%d frames of %d, and yet: " % (summary["frames"], FRAMES * DIVISOR) + why)
        if not link["published"] - 2 <= link["answers"]["on_time"] or link["late"] or link["missed"]:
            raise Wrong("answers are not all on time in lockstep: " + why)
        stays = r.end in ("none", "peer-again", "takeover", "run-again", "run-killed")
        if stays and not whole:
            raise Wrong("flight software was there to the end, and yet: " + why)
        if r.end in ("peer-killed", "peer-leaves", "cut") and whole and r.at_most < FRAMES - 2:  # behind that no answer is waited for
            raise Wrong("flight software was not there to the end, and yet: " + why)
        if r.end != "scribbled-telemetry" and summary["frames"] > 0:
            wanted = self.wanted(r, summary["frames"])
            if summary["state_hash"] not in wanted:
                raise Wrong("it has bits %s after %d frames, and those of the quiet run are %s: " % (summary["state_hash"], summary["frames"], " or ".join(sorted(wanted))) + why)

    def go(self):
        number = self.first
        try:
            while time.monotonic() < self.until:
                r = self.round(number)
                if os.environ.get("TORTURE_TOLD"):
                    print(r.told(), flush=True)
                number += 1
        except Wrong as wrong:
            print("seed %d: %s" % (self.seed, wrong))
            return 1
        finally:
            self.end()
            if self.has_full:
                subprocess.run(["umount", "-l", self.full])
            shutil.rmtree(self.full, ignore_errors=True)
        print("torture: %d rounds of seed %d: %s" % (number - self.first, self.seed, ", ".join("%s %d" % c for c in sorted(self.counts.items()))))
        return 0 if number > self.first else 1


if __name__ == "__main__":
    a = sys.argv
    sys.exit(Torture(a[1], float(a[2]), int(a[3]), a[4], a[5], int(a[6]), int(a[7]) if len(a) > 7 else 0).go())
