"""Flight software for the cubesat on a CAN bus, from the document of its frames alone, and the same law over a client or UDP.

  can_peer.py can:IFACE | unix:PATH | udp:PORT | client:URL   [doubles | fd | whole | dbc:FILE [CHANNEL=MESSAGE.SIGNAL...]] [bus-off]

unix: a stand-in for a bus on a machine that has none: one socket of messages, each a frame as the kernel has it. udp: the same frames in
datagrams, four bytes of identifier before the data. bus-off: it also sends an error frame that says so, and what is nobody's. dbc: frames
as a CAN database has them, by the reader in dbc.py; it begins when the first of them comes.

It leaves when the socket of the stand-in ends, after three seconds without a frame on a bus, and when it is told to (SIGTERM): over UDP the
end of a run looks like a long pause.
"""
import os
import signal
import socket
import struct
import sys
import time

WHOLE = {"rate": 1e-6, "attitude": 2.0**-30, "torque": 3e-8}  # what one count is


def law(rate, q, target):
    """Torque on the rotors: a spring to the target and a damper."""
    x, y, z, w = (-target[0], -target[1], -target[2], target[3])
    error = (
        w * q[0] + x * q[3] + y * q[2] - z * q[1],
        w * q[1] - x * q[2] + y * q[3] + z * q[0],
        w * q[2] + x * q[1] - y * q[0] + z * q[3],
    )
    sign = 1.0 if w * q[3] - x * q[0] - y * q[1] - z * q[2] >= 0 else -1.0
    gains = ((0.004, 0.02), (0.004, 0.02), (0.0015, 0.006))
    return [max(-1e-3, min(1e-3, 2 * k * sign * e + c * r)) for (k, c), e, r in zip(gains, error, rate)]


told_to_leave = []
signal.signal(signal.SIGTERM, lambda *_: told_to_leave.append(True))


class Bus:
    def __init__(self, where, fd):
        kind, place = where.split(":", 1)
        self.kind, self.fd = kind, fd
        if kind == "can":
            self.socket = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
            if fd:
                self.socket.setsockopt(socket.SOL_CAN_RAW, socket.CAN_RAW_FD_FRAMES, 1)
            self.socket.bind((place,))
        elif kind == "unix":
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.bind(place + ".new")
            listener.listen(1)
            os.rename(place + ".new", place)  # whoever sees it can connect
            listener.settimeout(60)
            self.socket = listener.accept()[0]
        else:
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.connect(("127.0.0.1", int(place.split(":")[-1])))
        self.socket.settimeout(0.2)

    def is_over(self, heard):
        return told_to_leave or self.kind == "can" and heard and time.monotonic() - heard > 3

    def send(self, identifier, data):
        if self.kind == "udp":
            message = struct.pack(">I", identifier) + data
        elif self.fd:
            message = struct.pack("=IBBBB64s", identifier, len(data), 1, 0, 0, data)
        else:
            message = struct.pack("=IB3x8s", identifier, len(data), data)
        try:
            self.socket.send(message)
            return True
        except OSError:
            return False

    def receive(self):
        """(identifier, data), or None where nothing came; EOFError where the other end is gone."""
        try:
            message = self.socket.recv(100)
        except (TimeoutError, ConnectionRefusedError):
            return None
        except OSError:  # the interface went down
            time.sleep(0.01)
            return None
        if self.kind == "udp":
            return struct.unpack(">I", message[:4])[0], message[4:]
        if not message:
            raise EOFError
        identifier, length = struct.unpack("=IB", message[:5])
        return identifier, message[8 : 8 + length]


def whole(data, *counts):
    """Little-endian numbers of so many bits, one behind the other."""
    all_bits, at, out = int.from_bytes(data, "little"), 0, []
    for width in counts:
        raw = all_bits >> at & (1 << width) - 1
        out.append(raw - (raw >> width - 1 << width))
        at += width
    return out


def fly_by_dbc(where, path, names):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import dbc

    base = dbc.read(path)
    bus = Bus(where, any(m.bytes > 8 for m in base.values()))
    outputs = [f"gyro_rate_{a}" for a in "xyz"] + [f"{c}_{a}" for c in ("star_attitude", "bus_target") for a in "xyzw"]
    commands = [f"wheel_{a}_torque" for a in "xyz"]
    place = {channel: dbc.find(base, names.get(channel, channel)) for channel in outputs + commands}
    awaited, values, seen, answered, begun, heard = {place[c][0].id for c in outputs}, {}, set(), 0, time.monotonic(), None
    while time.monotonic() - begun < 300:
        try:
            frame = bus.receive()
        except EOFError:
            break
        if frame is None:
            if bus.is_over(heard):
                break
            if not heard and bus.kind == "udp":
                bus.send(0x300, b"\x5a")
            continue
        heard = time.monotonic()
        identifier, data = frame
        for c in outputs:
            if place[c][0].id == identifier:
                values[c] = place[c][1].get(data)
        seen.add(identifier)
        if not awaited <= seen:
            continue
        seen = set()
        torque = law(*([values[c] for c in outputs[a:b]] for a, b in ((0, 3), (3, 7), (7, 11))))
        for message in sorted({place[c][0] for c in commands}, key=lambda m: m.id):
            data = bytes(message.bytes)
            for c, t in zip(commands, torque):
                if place[c][0] is message:
                    data = place[c][1].put(data, t)
            bus.send(message.id, data)
        answered += 1
    print(answered)


def main():
    where, form = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "doubles"
    if where.startswith("client:"):
        sys.path.insert(0, "io/client")
        import orrery_client

        answered = 0
        with orrery_client.open(where[7:], 60) as link:
            while link.wait(60):
                torque = law(link["gyro.rate"], link["star.attitude"], link["bus.target"])
                link.send({f"wheel_{axis}.torque": t for axis, t in zip("xyz", torque)})
                answered += 1
        print(answered)
        return
    if form.startswith("dbc:"):
        fly_by_dbc(where, form[4:], dict(word.split("=") for word in sys.argv[3:]))
        return
    bus, rate, attitude, target, answered = Bus(where, form == "fd"), [0] * 3, [0] * 4, [0] * 4, 0
    begun, heard = time.monotonic(), None
    while time.monotonic() - begun < 300:
        try:
            frame = bus.receive()
        except EOFError:
            break
        if frame is None:
            if bus.is_over(heard):
                break
            if not heard:
                bus.send(0x300, b"\x5a")
            continue
        heard = time.monotonic()
        identifier, data = frame
        if form == "doubles":
            group, k = identifier & 0x7F0, identifier & 15
            {0x100: rate, 0x110: attitude, 0x120: target}[group][k] = struct.unpack(">d", data)[0]
            last = identifier == 0x123
        elif form == "fd":
            numbers = struct.unpack("<%dd" % (len(data) // 8), data)
            {0x100: rate, 0x110: attitude, 0x18FF1234 | 1 << 31: target}[identifier][:] = numbers
            last = identifier == 0x18FF1234 | 1 << 31
        else:
            if identifier == 0x100:
                rate = [WHOLE["rate"] * n for n in whole(data, 21, 21, 21)]
            else:
                to = attitude if identifier & 0xFF0 == 0x110 else target
                at = 2 * (identifier & 1)
                to[at : at + 2] = [WHOLE["attitude"] * n for n in struct.unpack(">ii", data)]
            last = identifier == 0x121
        if not last:
            continue
        torque = law(rate, attitude, target)
        answered += 1
        if "bus-off" in sys.argv[3:] and answered == 5:
            bus.send(0x20000000 | 0x40, bytes(8))
            bus.send(0x7AB, b"nobody's")
        if form == "doubles":
            for k in range(3):
                bus.send(0x200 + k, struct.pack("<d", torque[k]))
        elif form == "fd":
            bus.send(0x200, struct.pack("<ddd", *torque))
        else:
            bus.send(0x200, struct.pack(">hxxhh", *(round(t / WHOLE["torque"]) for t in torque)))
    print(answered)


main()
