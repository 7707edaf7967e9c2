"""Random layouts of packets, and a codec of them that was made from the conventions alone, to be held against the run's.

    layouts.py write SEED PORT DIR        the run file DIR/run.yaml with six links of drawn layouts
    layouts.py fly SEED PORT DIR          flight software of them all, in lockstep: each packet that comes is computed anew from numbers that come beside it,
                                          bit for bit; commands are drawn bit for bit, and what they mean goes to DIR/expected

A packet here is a list of bits; nothing is packed by shifting words, as the run does it.
"""
import json
import math
import random
import select
import socket
import struct
import sys
from fractions import Fraction

LINKS, FRAMES = 6, 60
OUT = [("gyro.rate", 3), ("star.attitude", 4), ("gyro.saturated", 1)]


# ---- what a layout is ------------------------------------------------------------------------------------------------
def draw_number(r, channel, element):
    kind = r.choice(["u", "i", "i", "f"])
    width = r.choice([32, 64]) if kind == "f" else r.randint(2, 64)
    field = {"channel": "%s%s" % (channel, element), "type": "%s%d" % (kind, width)}
    scale = r.choice(["0.001", "3e-5", "0.25", "1e-9", "0.0078125", "2"])
    if kind != "f" or r.random() < 0.5:
        field["lsb"] = scale
    if r.random() < 0.4:
        field["offset"] = r.choice(["-0.5", "0.125", "1", "-2e-3"])
    return field


def draw_fields(r, command, link):
    """Groups of one byte order, each filled up to whole bytes, so that no two fields can meet."""
    fields, names, order = [{"constant": r.randrange(1 << 16), "type": "u16", "name": "sync", "byte_order": "big"}], ["sync"], "big"
    pool = [("wheel_%d.torque" % link, "")] if command else [(c, e) for c, n in OUT for e in ([".x", ".y", ".z"] if n == 3 else ["[%d]" % k for k in range(n)] if n == 4 else [""])]
    pool = [(c, e) for c, e in pool if "[" not in e] or pool
    if not command:
        r.shuffle(pool)
        pool = pool[: r.randint(1, len(pool))]
    bits, k = 0, 0

    def add(field, width):
        nonlocal bits, k
        k += 1
        field["byte_order"], field["name"] = order, "f%d" % k
        names.append(field["name"])
        fields.append(field)
        bits += width

    def fill_up():
        if bits % 8:
            add({"fill": r.randrange(1 << (8 - bits % 8)), "type": "u%d" % (8 - bits % 8)}, 8 - bits % 8)

    for channel, element in pool:
        for _ in range(r.randint(0, 2)):
            what, width = r.choice(["fill", "constant", "counter", "time"]), r.randint(1, 40)
            field = {what: {"counter": r.choice(["frames", "packets"]), "time": "run"}.get(what, r.randrange(1 << width)), "type": "u%d" % width}
            if what == "time":
                field["lsb"] = r.choice(["1 ms", "250 us", "1 s"])
            if what == "counter" and r.random() < 0.5 and 1 < width < 30:
                field["modulo"] = r.randint(1, (1 << width) - 1)
            if command and what in ("counter", "time"):
                continue
            add(field, width)
        if r.random() < 0.5:
            fill_up()
            order = r.choice(["big", "little"])
        if channel == "gyro.saturated":
            field = {"channel": channel, "type": "u%d" % r.randint(3, 9), "states": {"no": [0, r.randint(0, 3)], "yes": [1, r.randint(4, 7)]}}
        else:
            field = draw_number(r, channel, element)
        if command:
            field = {"channel": channel, "type": "f64"} if r.random() < 0.3 else {"channel": channel, "type": "i%d" % r.randint(4, 20), "lsb": "1e-7"}
        add(field, int(field["type"][1:]))
    fill_up()
    order = "big"
    if r.random() < 0.6:
        first, last = sorted(r.sample(range(len(names)), 2)) if len(names) > 1 else (0, 0)
        add({"length": "bytes", "type": "u16", "over": [names[first], names[last]], "offset": r.randint(0, 9)}, 16)
    for _ in range(r.randint(1, 2)):
        what = r.choice(["xor", "sum", "twos_complement", "ones_complement", "crc", "crc"])
        width = 8 if what == "xor" else r.choice([8, 16, 24, 32])
        field = {"checksum": what, "type": "u%d" % width}
        if what == "crc":
            field.update(poly=r.randrange(1, 1 << width, 2), init=r.randrange(1 << width), xorout=r.randrange(1 << width), zeros=r.choice([0, 0, 2]),
                         reflect_in=r.random() < 0.5, reflect_out=r.random() < 0.5)
        if r.random() < 0.4:
            field["over"] = [names[r.randrange(len(names))], names[-1]]
        order = r.choice(["big", "little"])
        add(field, width)
        order = "big"
    return fields


def draw(seed):
    r = random.Random(seed)
    return [{"out": draw_fields(r, False, k), "in": draw_fields(r, True, k)} for k in range(LINKS)]


# ---- the codec -------------------------------------------------------------------------------------------------------
class Packet:
    def __init__(self, fields):
        self.fields, self.place, at = fields, {}, 0
        for f in fields:
            width = int(f["type"][1:])
            self.place[f["name"]] = (at, width)
            at += width
        self.bits = [[0] * 8 for _ in range(at // 8)]  # of each byte, its highest first
        assert at % 8 == 0

    def span(self, names):
        """First byte, and the byte behind the last."""
        (a, _), (b, width) = self.place[names[0]], self.place[names[-1]]
        return a // 8, (b + width + 7) // 8

    def put(self, f, raw):
        at, width = self.place[f["name"]]
        for i in range(width):
            if f["byte_order"] == "big":
                self.bits[(at + i) // 8][(at + i) % 8] = raw >> (width - 1 - i) & 1
            else:
                self.bits[(at + i) // 8][7 - (at + i) % 8] = raw >> i & 1

    def bytes(self):
        return bytes(int("".join(map(str, b)), 2) for b in self.bits)


def mirrored(x, width):
    return int(format(x, "0%db" % width)[::-1], 2)


def crc(data, width, f):
    """By long division of the whole message as one polynomial, not by a register."""
    message = 0
    for byte in data + bytes(f["zeros"]):
        message = message << 8 | (mirrored(byte, 8) if f["reflect_in"] else byte)
    length = 8 * (len(data) + f["zeros"])
    message <<= width
    message ^= f["init"] << length if length >= 0 else 0
    divisor = 1 << width | f["poly"]
    for i in range(length - 1, -1, -1):
        if message >> (i + width) & 1:
            message ^= divisor << i
    return (mirrored(message, width) if f["reflect_out"] else message) ^ f["xorout"]


def checksum(packet, f, width):
    first, last = packet.span(f["over"]) if "over" in f else (0, packet.place[f["name"]][0] // 8)
    packet.put(f, 0)
    data = packet.bytes()[first:last]
    if f["checksum"] == "crc":
        return crc(data, width, f)
    if f["checksum"] == "xor":
        total = 0
        for b in data:
            total ^= b
        return total
    return {"sum": sum(data), "twos_complement": -sum(data), "ones_complement": ~sum(data)}[f["checksum"]] % (1 << width)


def raw_of(f, value):
    kind, width = f["type"][0], int(f["type"][1:])
    if "states" in f:
        return {v: raw for v, raw in f["states"].values()}[value]
    x = (value - float(f.get("offset", "0"))) / float(f.get("lsb", "1"))
    if kind == "f":
        if width == 64:
            return struct.unpack(">Q", struct.pack(">d", x))[0]
        try:
            return struct.unpack(">I", struct.pack(">f", x))[0]
        except OverflowError:
            return struct.unpack(">I", struct.pack(">f", math.copysign(3.4028234663852886e38, x)))[0]
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind == "i" else (0, (1 << width) - 1)
    return max(low, min(high, round(x))) % (1 << width)


def finish(packet):
    for f in packet.fields:
        if "length" in f:
            first, last = packet.span(f["over"])
            packet.put(f, last - first + f["offset"])
        elif "constant" in f or "fill" in f:
            packet.put(f, f.get("constant", f.get("fill")))
    for f in packet.fields:
        if "checksum" in f:
            packet.put(f, checksum(packet, f, int(f["type"][1:])))
    return packet.bytes()


def encode(fields, numbers, frame, step_ns):
    packet = Packet(fields)
    for f in fields:
        width = int(f["type"][1:])
        if "channel" in f:
            packet.put(f, raw_of(f, numbers[f["channel"]]))
        elif "counter" in f:
            packet.put(f, frame % f.get("modulo", 1 << width) % (1 << width))
        elif "time" in f:
            lsb = {"1 ms": 10**6, "250 us": 250000, "1 s": 10**9}[f["lsb"]]
            packet.put(f, frame * step_ns // lsb % (1 << width))
    return finish(packet)


def command(r, fields):
    """A packet of drawn bits, and the number that it means: lsb raw + offset, exactly, then rounded once."""
    packet, value = Packet(fields), None
    for f in fields:
        if "channel" not in f:
            continue
        width = int(f["type"][1:])
        if f["type"] == "f64":
            value = r.uniform(-0.1, 0.1)
            packet.put(f, struct.unpack(">Q", struct.pack(">d", value))[0])
        else:
            raw = r.randrange(-(1 << (width - 1)), 1 << (width - 1))
            packet.put(f, raw % (1 << width))
            value = float(Fraction(raw) * Fraction(float(f["lsb"])))
    return finish(packet), value


# ---- the run and its flight software ---------------------------------------------------------------------------------


def yaml_of(fields):
    out = []
    for f in fields:
        f = dict(f)
        unit = " rad/s" if str(f.get("channel", "")).startswith("gyro.rate") else " N m" if str(f.get("channel", "")).startswith("wheel") else ""
        for key in ("lsb", "offset"):
            if key in f and "channel" in f:
                f[key] = f[key] + unit
        out.append(json.dumps(f))
    return "[\n            " + ",\n            ".join(out) + "]"


def write(seed, port, folder):
    names = ["wheel_%d" % k for k in range(LINKS)]
    text = """orrery: 1
spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}
actuators:
%s
sensors:
  gyro: {kind: rate_gyro, node: bus.n, rate: 100 Hz, range: 0.1 rad/s, noise: {angle_random_walk: 60 deg/sqrt(h)}}
  star: {kind: star_tracker, node: bus.n, rate: 100 Hz, boresight: [0, 0, 1]}
simulation: {step: 10 ms, duration: %d ms, seed: %d, initial: {bus: {rate: [0.05, -0.1, 0.1]}}}
links:
""" % ("\n".join("  %s: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.11}" % n for n in names), 10 * FRAMES, seed)
    for k, layout in enumerate(draw(seed)):
        carrier = "transport: udp" if k % 2 else "transport: tcp\n    framing: raw"
        text += """  l%d:
    %s
    listen: 127.0.0.1:%d
    rate: 100 Hz
    wait: 60 s
    lockstep: {timeout: 60 s}
    telemetry: [gyro.rate, gyro.saturated]
    commands: [wheel_%d.torque]
    layout:
      packets:
        truth: {direction: telemetry, fields: [{channel: gyro.rate, type: f64}, {channel: gyro.saturated, type: u8}]}
        out:
          direction: telemetry
          fields: %s
        in:
          direction: commands
          fields: %s
""" % (k, carrier, port + k, k, yaml_of(layout["out"]), yaml_of(layout["in"]))
    with open(folder + "/run.yaml", "w") as f:
        f.write(text)


class Peer:
    def __init__(self, port, k, layout):
        self.stream, self.layout, self.frame, self.left = k % 2 == 0, layout, 0, b""
        self.r, self.sent = random.Random("%d commands" % port), []
        self.size = len(Packet(layout["out"]).bits)
        self.s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if self.stream else socket.SOCK_DGRAM)
        for _ in range(1500):
            try:
                self.s.connect(("127.0.0.1", port + k))
                break
            except ConnectionRefusedError:
                select.select([], [], [], 0.02)
        self.s.setblocking(False)
        self.k = k

    def packets(self):
        try:
            came = self.s.recv(65536)
        except (BlockingIOError, ConnectionRefusedError):
            return
        if not self.stream:
            yield came
            return
        self.left += came
        while True:
            want = 25 if self.truth is None else self.size
            if len(self.left) < want:
                return
            packet, self.left = self.left[:want], self.left[want:]
            yield packet

    truth = None

    def take(self):
        for packet in self.packets():
            if self.truth is None:
                x, y, z, lit = struct.unpack(">dddB", packet)
                self.truth = {"gyro.rate.x": x, "gyro.rate.y": y, "gyro.rate.z": z, "gyro.saturated": lit}
                continue
            expected = encode(self.layout["out"], self.truth, self.frame, 10000000)
            assert packet == expected, "link %d, frame %d:\n%s\n%s\n%s\n%s" % (self.k, self.frame, packet.hex(), expected.hex(), self.truth, self.layout["out"])
            self.truth, self.frame = None, self.frame + 1
            data, value = command(self.r, self.layout["in"])
            self.sent.append(value)
            self.s.send(data)


def fly(seed, port, folder):
    peers = [Peer(port, k, layout) for k, layout in enumerate(draw(seed))]
    silent = 0
    for p in peers:
        p.s.send(command(random.Random(0), p.layout["in"])[0])  # that it is here: once, for behind frame 0 this would be an answer
    while any(p.frame < FRAMES for p in peers):
        if not select.select([p.s for p in peers if p.frame < FRAMES], [], [], 0.2)[0]:
            silent += 1
            assert silent < 300, "nothing comes: %s" % [p.frame for p in peers]
        for p in peers:
            p.take()
    with open(folder + "/expected", "w") as f:
        json.dump([p.sent for p in peers], f)
    lit = {x for p in peers for x in [p.frame]}
    print("%d links, %s frames each, packets of %s bytes" % (LINKS, lit, [p.size for p in peers]))


if __name__ == "__main__":
    {"write": write, "fly": fly}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
