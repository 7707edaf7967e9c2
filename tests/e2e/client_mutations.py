#!/usr/bin/env python3
"""The client in Python under segments and datagrams that are wrong in a few places: what a real run wrote, changed by a generator with a fixed
seed. Nothing escapes but what the module says that it raises; some are taken and some refused, so the changes are neither all harmless nor all fatal.
"""
import fcntl
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, "io/client")
import orrery_client as client

COUNT = 4000
SAID = (client.NotALink, FileNotFoundError, ConnectionError, TimeoutError)
NAME = f"/orrery.mutations.{os.getpid()}"


def claimed_port():
    """The first of sixteen that no other test has, as in tests/support/script.sh; held while this lives."""
    for k in range(750):
        port = 20000 + (os.getpid() + k) % 750 * 16
        try:
            held = open(f"/tmp/orrery.test.ports.{port}", "a")
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return port, held
        except OSError:
            pass
    sys.exit("no port is free")


PORT, LOCK = claimed_port()


def changed(rng, whole, front):
    """A few bytes or words of it; most of them where a reader looks first."""
    out = bytearray(whole)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if not out:
            break
        at = rng.randrange(min(len(out), rng.choice((front // 4, front, len(whole)))))
        if rng.random() < 0.5:
            out[at] = rng.choice((0, 1, 255, out[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
        elif len(out) >= 8:
            at = min(at, len(out) - 8) // 4 * 4
            number = rng.choice((0, 1, 4, 63, 64, 65, len(out), 2**16, 2**31, 2**32 - 1, rng.randrange(2**32)))
            struct.pack_into("<I", out, at, number)
    return bytes(out)


def resized(rng, whole):
    size = max(0, len(whole) + rng.choice((-1, 1, -4, 8, -64, 64, rng.randrange(-len(whole), len(whole)))))
    out = bytearray(whole[:size].ljust(size, b"\0"))
    if size >= 32 and rng.random() < 0.7:
        struct.pack_into("<Q", out, 24, size)  # and the header says so
    return bytes(out)


def fly(link):
    """All that flight software does with a frame. False when there is none, or the run is over."""
    try:
        if not link.wait(0):
            return False
    except TimeoutError:
        return False
    for name, c in link.channels.items():
        link[name]
        if c.direction:
            link.send({name: 1 if c.count == 1 else [1] * c.count})
    return True


def tried(outcomes, what):
    try:
        outcomes["taken" if what() else "no frame"] += 1
    except SAID as e:
        outcomes[type(e).__name__] = outcomes.get(type(e).__name__, 0) + 1


# ---- shared memory


def try_segment(image):
    fd = os.open("/dev/shm" + NAME, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, image)
        fcntl.flock(fd, fcntl.LOCK_EX)  # as a run that lives
        with client.SharedMemory(NAME) as link:
            return fly(link)
    finally:
        os.unlink("/dev/shm" + NAME)
        os.close(fd)


def mutate_segments(whole):
    rng, outcomes = random.Random(1), {"taken": 0, "no frame": 0}
    if not try_segment(whole):
        sys.exit("FAIL: the segment as it was has no frame")
    for i in range(COUNT):
        image = resized(rng, whole) if i % 8 == 0 else whole
        image = changed(rng, image, 700) if i % 16 else image
        tried(outcomes, lambda: try_segment(image))
    return outcomes


# ---- UDP


def telemetry(message_id, flags, frame, time_ns, answered, piece):
    described = message_id == client.DESCRIPTION_ID
    again = 0 if described else message_id & 0xFFFF
    packet = struct.pack(">HHHIHHH", message_id & 0xFFFF, 0xC000, 44 + len(piece) - 7, 0, 0, again, flags & 0xFFFF)
    packet += struct.pack("<QqQ", frame, time_ns, answered) + piece
    return packet + struct.pack("<I", client.crc32c(packet[16 if described else 12 :]))


class Wire:
    """A socket whose other end tells what it is given: a description, then datagrams."""

    def __init__(self, description, datagrams):
        self.description, self.datagrams, self.queue = description, datagrams, []
        header = client.HEADER.unpack_from(description) if len(description) >= client.HEADER.size else ()
        run = dict(zip(client.NAMES, header)).get("run", 0) % 2**32
        self.run = (run - 2**32 if run >= 2**31 else run) << 32  # as the run says it, with no generation: 64 bits with a sign

    def send(self, packet):
        message_id, _, length = struct.unpack_from(">HHH", packet)
        if message_id >> 11 != 3 or length + 7 != len(packet) or len(packet) > 8192 or client._xor(packet) != 0:
            sys.exit(f"FAIL: the client sends what is no command: {packet.hex()}")
        if packet[6] == client.DESCRIBE:
            number = struct.unpack_from("<Q", packet, 8)[0]
            piece = self.description[96 * number : 96 * (number + 1)]
            self.queue.append(telemetry(client.DESCRIPTION_ID, 0, number, self.run, len(self.description), piece))

    def recv(self, _):
        for source in (self.queue, self.datagrams):
            if source:
                return source.pop(0)
        raise TimeoutError

    def getsockname(self):  # not on this host, where a port that nobody has would be looked for
        return "192.0.2.1", 1

    def getpeername(self):
        return "192.0.2.2", 1

    def connect(self, _): ...
    def setsockopt(self, *_): ...
    def settimeout(self, _): ...
    def close(self): ...


def try_packets(description, datagrams):
    wire = Wire(description, list(datagrams))
    real, client.socket.socket = client.socket.socket, lambda *_: wire
    try:
        with client.Packets(client._datagrams, "127.0.0.1", 1) as link:
            seen = 0
            while wire.datagrams:
                seen += fly(link)
            return seen > 0
    finally:
        client.socket.socket = real


def mutate_packets(description, frames):
    rng, outcomes = random.Random(2), {"taken": 0, "no frame": 0}
    if not try_packets(description, frames):
        sys.exit("FAIL: the packets as they were make no frame")
    for i in range(COUNT):
        told = description
        if i % 2:
            told = resized(rng, told) if i % 16 == 1 else told
            told = changed(rng, told, 256)
        datagrams = [changed(rng, d, 48) if rng.random() < 0.1 else d for d in frames]
        for k in range(len(datagrams)):  # right in form, wrong in what it says
            p = client.read_telemetry(datagrams[k])
            if p and rng.random() < 0.2:
                step = rng.choice((-(2**20), -2, -1, 0, 1, 2, 63))
                datagrams[k] = telemetry(p[0] + rng.choice((0, 0, 1, 64)), p[1] & rng.randrange(8), max(0, p[2] + step), p[3],
                                         p[4], p[5][: rng.choice((None, 8, -1, 0))])
        tried(outcomes, lambda: try_packets(told, datagrams))
    return outcomes


# ---- what a real run says


def run(directory, settings, url):
    """Flies a few frames in lockstep; the segment, and the datagrams."""
    seen, read = [], client.read_telemetry
    client.read_telemetry = lambda packet: seen.append(packet) or read(packet)
    log = open(os.path.join(directory, "log"), "w")
    sets = [word for s in settings for word in ("--set", s)]
    process = subprocess.Popen([os.environ["ORRERY"], "run", "configs/cubesat.yaml", "--mode", "lockstep", "--duration", "0.5s", *sets],
                               stdout=log, stderr=log)
    image = None
    with client.open(url) as link:
        while link.wait(60):
            if isinstance(link, client.SharedMemory) and link.frame >= 20:
                image = link.memory.read(0, len(link.memory))
            link.send()
    client.read_telemetry = read
    if process.wait(60) != 0:
        sys.exit("FAIL: the run:\n" + open(log.name).read())
    return image, seen


def judged(what, outcomes):
    print(what + ": " + ", ".join(f"{n} {k}" for k, n in outcomes.items()))
    if outcomes["taken"] < COUNT / 10 or sum(outcomes.values()) - outcomes["taken"] < COUNT / 10:
        sys.exit(f"FAIL: {what}: the changes are all harmless, or all fatal")


with tempfile.TemporaryDirectory() as work:
    segment, _ = run(work, [f"links.fsw.name={NAME}"], "shm:" + NAME)
    link = f"links.fsw={{transport: udp, listen: '127.0.0.1:{PORT}', allow: [127.0.0.1], mtu: 160, rate: 10 Hz, " \
        "telemetry: [gyro.rate, star.*, bus.target], commands: ['wheel_*.torque'], wait: 10 s}"
    _, packets = run(work, [link], f"udp:127.0.0.1:{PORT}")
judged("segments", mutate_segments(segment))
parts = [client.read_telemetry(p) for p in packets]
told = {p[2]: p[5] for p in parts if p[0] == client.DESCRIPTION_ID and not p[1]}
judged("packets", mutate_packets(b"".join(told[k] for k in sorted(told)), [d for d, p in zip(packets, parts) if p[0] != client.DESCRIPTION_ID]))
