#!/usr/bin/env python3
"""Runs over each transport under faults drawn from a seed, one every few frames, for so long.

    torture.py ORRERY SECONDS SEED FOLDER NAME PORT

Each round flies cubesat under the sample flight software or a law in Python, in lockstep or in real time. Over UDP a network (network.py) loses, repeats,
delays, reorders and garbles, half of the time under a key; strangers try to take over and to end the run. Either side is stopped for a while; flight software is killed and started again,
or not; the run is killed; the segment is scribbled on and cut; the disk of the log is full. It must hold that
  - nobody crashes or hangs: a status of a run is 0, 1 or 3, or the signal that was sent;
  - every frame out is accounted for: answered in one way, or not;
  - in lockstep the bits are those of the quiet run, with status 0, where the same flight software flew to the end and nobody wrote into its memory; and the
    status is 3 where flight software went for good.
The first line that is not so ends it with status 1, and says seed and round. NAME and PORT are free for this program.
"""
import json
import os
import random
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
LAW = """
import sys
sys.path.insert(0, %r)
import orrery_client
with orrery_client.open(sys.argv[1], 20, *sys.argv[2:]) as link:
    sum = [0.0] * 3
    while link.wait(60):
        sum = [0.9 * s + 0.01 * r for s, r in zip(sum, link["gyro.rate"])]
        link.send({"wheel_%%s.torque" %% a: max(-1e-3, min(1e-3, s)) for a, s in zip("xyz", sum)})
""" % os.path.join(TREE, "io/client")


class Wrong(Exception):
    pass


class Torture:
    def __init__(self, orrery, seconds, seed, folder, name, port):
        self.orrery, self.fsw = orrery, os.path.join(os.path.dirname(orrery), "fsw")
        self.until, self.seed, self.folder, self.name, self.port = time.monotonic() + seconds, seed, folder, name, port
        self.quiet, self.quiet_frames, self.counts, self.children = {}, {}, {}, []
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
        child.out = out
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

    def run_command(self, transport, mode, seconds, more=(), keyed=False):
        place = ("{transport: shm, name: %s" % self.name if transport == "shm" else
                 "{transport: udp, listen: '127.0.0.1:%d', allow: [127.0.0.1]%s" % (self.port, ", key_file: " + self.key if keyed else ""))
        link = (place + ", rate: 10 Hz, telemetry: [gyro.rate, star.attitude, bus.target], commands: [wheel_*.torque], wait: 20 s, "
                "timeout: {frames: 10, policy: hold}, lockstep: {timeout: 8 s}}")
        return [self.orrery, "run", "configs/cubesat.yaml", "--mode", mode, "--duration", "%gs" % seconds, "--json", "--set", "links={fsw: %s}" % link, *more]

    def peer_command(self, kind, url, keyed=False):
        if kind == "c":
            return [self.fsw, *(["--key-file", self.key] if keyed else []), url]
        return [sys.executable, "-I", "-S", "-B", os.path.join(self.folder, "law.py"), url, *([self.key] if keyed else [])]

    def url(self, transport, through):
        return "shm:" + self.name if transport == "shm" else "udp:127.0.0.1:%d" % (self.port + 1 if through else self.port)

    # ---- faults ----

    def stranger(self, dice):
        """Packets that are right in all but that they are not the peer's."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for _ in range(dice.randrange(1, 20)):
                function = dice.choice((orrery_client.COMMANDS, orrery_client.END, orrery_client.BEAT, orrery_client.LEAVE, 77))
                frame = dice.getrandbits(32) << 32 | dice.choice((0, dice.getrandbits(32)))
                packet = orrery_client.write_command(0x1e80, 1, function, frame, 0, dice.choice((0, 10, orrery_client.NONE)), bytes(dice.choice((0, 8, 24, 25))))
                s.sendto(dice.choice((packet, packet[: dice.randrange(len(packet))], os.urandom(40))), ("127.0.0.1", self.port))

    def scribble(self, dice):
        """A word of the peer's area, or of anything behind it."""
        path = "/dev/shm" + self.name
        try:
            size = os.path.getsize(path)
            with open(path, "r+b", buffering=0) as f:
                f.seek(dice.choice((orrery_client.PEER_AT, dice.randrange(orrery_client.PEER_AT, size - 8))) // 8 * 8)
                f.write(struct.pack("<Q", dice.choice((0, 1, 2**63, 2**64 - 1, dice.getrandbits(64)))))
        except (OSError, ValueError):
            pass

    def pause(self, dice, child):
        if child.poll() is None:
            child.send_signal(signal.SIGSTOP)
            time.sleep(dice.uniform(0.01, 0.3))
            child.send_signal(signal.SIGCONT)

    def cut(self):
        try:
            os.truncate("/dev/shm" + self.name, 0)
        except OSError:
            pass

    # ---- a round ----

    def hash_of(self, kind, mode, seconds):
        """Of the quiet run, over shared memory."""
        if (kind, seconds) not in self.quiet:
            run = self.start("quiet", self.run_command("shm", mode, seconds))
            self.start("quiet-peer", self.peer_command(kind, self.url("shm", False)))
            if run.wait(HANG_S) != 0:
                raise Wrong("the quiet run does not fly: " + self.said("quiet"))
            summary = self.summary(run)
            self.quiet[kind, seconds] = summary["state_hash"]
            self.quiet_frames[summary["state_hash"]] = summary["frames"]
            self.end()
        return self.quiet[kind, seconds]

    def said(self, what):
        return "".join(open(os.path.join(self.folder, name)).read()[-2000:] for name in (what, what + ".err"))

    def summary(self, run):
        run.out.seek(0)
        return json.load(run.out)

    def accounted(self, summary):
        link = summary["links"]["fsw"]
        if sum(link["answers"].values()) != link["published"]:
            raise Wrong("not every frame out is accounted for: %s" % link)
        if link["refused"]["dropped"] > 2 * 65536 * 100:
            raise Wrong("absurd numbers: %s" % link)

    def round(self, number):
        dice = random.Random("%d %d" % (self.seed, number))
        transport, kind = dice.choice(("shm", "udp")), dice.choice(("c", "c", "python"))
        mode = dice.choice(("lockstep", "lockstep", "lockstep", "realtime"))
        end = dice.choice(("none", "none", "none", "none", "peer-killed", "run-killed", "peer-again") + (("cut", "scribbled") if transport == "shm" else ()))
        full = self.has_full and dice.random() < 0.25
        seconds = {"lockstep": 60, "realtime": 3}[mode]
        told = "round %d: %s, %s, %s, %s%s" % (number, transport, mode, kind, end, ", full disk" if full else "")
        self.counts[end] = self.counts.get(end, 0) + 1
        want = self.hash_of(kind, "lockstep", seconds) if mode == "lockstep" else None
        through = transport == "udp"
        keyed = through and dice.random() < 0.5
        told += ", keyed" if keyed else ""
        if through:
            network = self.start("network", [sys.executable, "-I", os.path.join(HERE, "network.py"), str(self.port + 1), str(self.port),
                                             str(dice.getrandbits(30)), "%g" % dice.choice((0.1, 1, 3, 6)), "5"])
            while not open(os.path.join(self.folder, "network")).read().startswith("ready") and network.poll() is None:
                time.sleep(0.01)
        more = ["--log", os.path.join(self.full, "%d.mcap" % number)] if full else ["--no-log"]
        run = self.start("run", self.run_command(transport, mode, seconds, more, keyed))
        peer = self.start("peer", self.peer_command(kind, self.url(transport, through), keyed))
        begin, faults, when, done = time.monotonic(), 0, dice.uniform(0.3, 1.5), end == "none"
        while run.poll() is None:
            time.sleep(dice.uniform(0.005, 0.1))
            if time.monotonic() - begin > HANG_S:
                raise Wrong(told + ": it hangs: " + self.said("run") + self.said("peer"))
            faults += 1
            dice.choice((lambda: self.pause(dice, run), lambda: self.pause(dice, peer),
                         lambda: self.stranger(dice) if through else self.pause(dice, peer)))()
            if end == "scribbled":
                self.scribble(dice)
            if not done and time.monotonic() - begin > when and run.poll() is None:
                done = True
                if end in ("peer-killed", "peer-again"):
                    peer.kill()
                if end == "peer-again":
                    peer = self.start("again", self.peer_command(kind, self.url(transport, through), keyed))
                if end == "run-killed":
                    run.kill()
                if end == "cut":
                    self.cut()
        status = run.wait()
        self.judge(told + ", %d faults" % faults, mode, end, status, want, run, peer)
        self.end()
        if full:
            for name in os.listdir(self.full):
                os.unlink(os.path.join(self.full, name))
        return told

    def judge(self, told, mode, end, status, want, run, peer):
        why = told + ": status %d: " % status + self.said("run") + self.said("peer")
        if status == -signal.SIGKILL and end == "run-killed":
            return
        if status not in (0, 1, 3):
            raise Wrong(why)
        summary = self.summary(run)
        self.accounted(summary)
        if peer.poll() is not None and peer.returncode not in (0, 1, -signal.SIGKILL):
            raise Wrong("the flight software crashed: %d: " % peer.returncode + why)
        flown = summary["state_hash"] if status == 0 else None
        if mode == "lockstep" and end == "none" and (status != 0 or flown != want):
            raise Wrong("not the bits of the quiet run, %s: " % want + why)
        if mode == "lockstep" and end == "peer-killed":  # perhaps behind the last answer that is waited for, the last but one
            whole = summary["frames"] == self.quiet_frames[want]
            if not whole and status != 3:
                raise Wrong("incomplete, and yet: " + why)
            if whole and (status != 0 or flown != want):
                raise Wrong("it flew to the end, and yet: " + why)

    def go(self):
        number = 0
        try:
            while time.monotonic() < self.until:
                self.round(number)
                number += 1
        except Wrong as wrong:
            print("seed %d: %s" % (self.seed, wrong))
            return 1
        finally:
            self.end()
            if self.has_full:
                subprocess.run(["umount", "-l", self.full])
            shutil.rmtree(self.full, ignore_errors=True)
        print("torture: %d rounds of seed %d: %s" % (number, self.seed, ", ".join("%s %d" % c for c in sorted(self.counts.items()))))
        return 0 if number else 1


if __name__ == "__main__":
    a = sys.argv
    sys.exit(Torture(a[1], float(a[2]), int(a[3]), a[4], a[5], int(a[6])).go())
