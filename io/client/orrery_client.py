"""The flight software's side of a link (io/wire.h) in Python, for quick experiments. Standard library only; x86-64 or another machine whose
stores are seen in order (shared memory is written without fences here).

    with orrery_client.open("shm:/orrery.fsw") as link:       # or "udp:127.0.0.1:5010"
        while link.wait():                                     # the next frame in turn; False when the run is over
            link.send({"wheel_x.torque": 0.02 * link["gyro.rate"][0]})

link.channels describes both directions; link.frame, link.time_ns, link.answered and link.flags belong to the frame. `python3 orrery_client.py URL`
is a minimal peer: it answers every frame with what was commanded last (zeros), and says what it saw; exit status 1 when frames were lost.
"""
import functools
import mmap
import os
import socket
import struct
import sys
import time

MAGIC, SLOTS, NONE = 0x314B4E494C52524F, 128, 2**64 - 1
HEADER = struct.Struct("<QIIQQq2I3I2I4IIHHI")
CHANNEL = struct.Struct("<4I3B5x2d")
RUN_AT, PEER_AT, DIRECTORY_AT = 128, 192, 256
DESCRIPTION_ID, COMMAND_FLAG = 0x0FFE, 0x1000
COMMANDS, END, BEAT, DESCRIBE = range(4)
VERSION = 2
ENDED = 4
NAMES = ("magic order version layout_hash bytes step_ns divisor channel_count directory_at names_at names_bytes telemetry_bytes "
         "command_bytes out_at out_slot in_at in_slot pid telemetry_id command_id packet_max").split()


class Channel:
    def __init__(self, row, names):
        text = lambda at: names[at : names.index(b"\0", at)].decode()
        name, unit, self.count, self.offset, self.type, self.direction, self.hold, self.low, self.high = row
        self.name, self.unit = text(name), text(unit)
        self.format = "<%d%s" % (self.count, "dqB"[self.type])


class Link:
    """What both carriers share. Raises ValueError for what is no link, ConnectionError when another peer took our place."""

    def _describe(self, memory):
        self.header = dict(zip(NAMES, HEADER.unpack_from(memory, 0)))
        h = self.header
        if h["magic"] != MAGIC or h["order"] != 0x01020304 or h["version"] != VERSION:
            raise ValueError("not a link of this version")
        names = bytes(memory[h["names_at"] : h["names_at"] + h["names_bytes"]])
        rows = [CHANNEL.unpack_from(memory, h["directory_at"] + i * CHANNEL.size) for i in range(h["channel_count"])]
        self.channels = {}
        for row in rows:
            c = Channel(row, names)
            self.channels[c.name] = c
        self.frame, self.time_ns, self.answered, self.flags = None, 0, NONE, 0
        self.telemetry, self.command = bytes(h["telemetry_bytes"]), bytearray(h["command_bytes"])

    def __getitem__(self, name):
        c = self.channels[name]
        numbers = struct.unpack_from(c.format, self.command if c.direction else self.telemetry, c.offset)
        return numbers[0] if c.count == 1 else numbers

    def _fill(self, values):
        for name, value in (values or {}).items():
            c = self.channels[name]
            if not c.direction:
                raise KeyError(name + " is telemetry")
            numbers = [value] if c.count == 1 else value
            struct.pack_into(c.format, self.command, c.offset, *numbers)

    def _forget_pulses(self):
        for c in self.channels.values():
            if c.direction and c.hold:
                struct.pack_into(c.format, self.command, c.offset, *([0] * c.count))

    def send(self, values=None, end=False):
        """Answers the frame; channels that are left out stay as they were, pulses go to zero."""
        if self.frame is None:
            raise ValueError("no frame to answer yet")
        self._fill(values)
        self._send(end)
        self._forget_pulses()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class SharedMemory(Link):
    def __init__(self, name):
        fd = os.open("/dev/shm" + name, os.O_RDWR)
        try:
            self.memory = mmap.mmap(fd, 0)
        finally:
            os.close(fd)
        self._describe(self.memory)
        if self._u32(RUN_AT + 8):
            raise FileNotFoundError("the run is over")
        self.any, self.seen = False, max(0, self._u32(RUN_AT + 12) - 1)
        self._put("<I", PEER_AT + 8, os.getpid())
        self.generation = self._u32(PEER_AT + 12) + 1
        self._put("<I", PEER_AT + 12, self.generation)
        self.sent = self._u32(PEER_AT)

    def _u32(self, at):
        return struct.unpack_from("<I", self.memory, at)[0]

    def _put(self, form, at, *values):
        struct.pack_into(form, self.memory, at, *values)

    def _look(self):
        newest = self._u32(RUN_AT + (16 if self._u32(RUN_AT + 8) else 0))  # the last one, once the run is over
        if newest == self.seen:
            return False
        following = (self.seen + 1) % 2**32
        if not self.any:  # in lockstep an older one may be awaited
            following = min(following, self._u32(RUN_AT + 12))
        if (newest - following) % 2**32 > SLOTS - 2:
            following = (newest - SLOTS + 2) % 2**32
        at = self.header["out_at"] + self.header["out_slot"] * (following % SLOTS)
        copy = self.memory[at : at + 40 + len(self.telemetry)]
        sequence, *head = struct.unpack_from("<QQqQQ", copy)
        if sequence & 1 or struct.unpack_from("<Q", self.memory, at)[0] != sequence:
            return False
        self.any, self.seen, self.telemetry = True, following, copy[40:]
        self.frame, self.time_ns, self.answered, self.flags = head
        return True

    def wait(self, timeout=5.0):
        until = time.monotonic() + timeout
        self._put("<Q", PEER_AT + 16, struct.unpack_from("<Q", self.memory, PEER_AT + 16)[0] + 1)
        while True:
            over = self._u32(RUN_AT + 8)
            if self._u32(PEER_AT + 12) != self.generation:
                raise ConnectionError("another peer has taken our place")
            if self._look():
                return True
            if over:
                return False
            if time.monotonic() > until:
                raise TimeoutError("no frame")
            time.sleep(20e-6)

    def _send(self, end):
        self.sent = (self.sent + 1) % 2**32
        at = self.header["in_at"] + self.header["in_slot"] * (self.sent % SLOTS)
        sequence = struct.unpack_from("<Q", self.memory, at)[0] | 1
        self._put("<Q", at, sequence)
        self._put("<4Q", at + 8, self.frame, self.header["layout_hash"], self.generation, VERSION << 32 | int(end))
        self.memory[at + 40 : at + 40 + len(self.command)] = bytes(self.command)
        self._put("<Q", at, (sequence + 1) % 2**64)
        self._put("<I", PEER_AT, self.sent)  # an executive that sleeps looks again by itself

    def close(self):
        self._put("<I", PEER_AT + 8, 0)
        self.memory.close()


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ b) & 255]
    return crc ^ 0xFFFFFFFF


def _xor(data):
    total = 0xFF
    for b in data:
        total ^= b
    return total


def write_command(message_id, count, function, frame, time_ns, answered, piece=b""):
    block = struct.pack("<QqQ", frame, time_ns, answered) + piece
    block += struct.pack("<I", crc32c(block))
    packet = bytearray(struct.pack(">HHHBB", message_id, 0xC000 | count & 0x3FFF, 8 + len(block) - 7, function, 0) + block)
    packet[7] = _xor(packet)
    return bytes(packet)


def read_telemetry(packet):
    """message id, flags, frame, simulated time in ns, answered frame, piece of payload; None for what is no such packet."""
    if len(packet) < 44:
        return None
    message_id, sequence, length = struct.unpack_from(">HHH", packet)
    if message_id >> 11 != 1 or sequence >> 14 != 3 or length + 7 != len(packet):
        return None
    if crc32c(packet[16:-4]) != struct.unpack("<I", packet[-4:])[0]:
        return None
    return (message_id, struct.unpack_from(">I", packet, 12)[0], *struct.unpack_from("<QqQ", packet, 16), packet[40:-4])


class Udp(Link):
    def __init__(self, host, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.connect((host, port))
        self.generation, self.sent, self.counts = int(time.time() * 1000) % 2**32, 0, {}
        self._describe(self._fetch())
        self.pieces, self.newest, self.delivered, self.kept = {}, -1, [], {}
        self._packet(BEAT, 0, b"", NONE)

    def _fetch(self):
        got, number, whole = b"", 0, 1
        while len(got) < whole:
            self.socket.settimeout(0.1)
            self.socket.send(write_command(DESCRIPTION_ID | COMMAND_FLAG, number, DESCRIBE, number, 0, 0))
            p = read_telemetry(self.socket.recv(9000))
            if p and p[0] == DESCRIPTION_ID and p[2] == number:
                got, number, whole = got + p[5], number + 1, p[4]
        return got

    def _sender(self):
        """The frame word of a command: generation, tag of the layout, count."""
        tag = functools.reduce(lambda a, b: a ^ b, struct.unpack("<4H", struct.pack("<Q", self.header["layout_hash"])))
        return self.generation << 32 | (tag or 1) << 16 | self.sent & 0xFFFF

    def _packet(self, function, index, piece, answered):
        message_id = self.header["command_id"] + index
        count = self.counts[message_id] = self.counts.get(message_id, -1) + 1
        return self.socket.send(write_command(message_id, count, function, self._sender(), self.time_ns,
                                              answered, piece))

    def _piece_bytes(self, size, overhead):
        return max(8, min(size, (self.header["packet_max"] - overhead) // 8 * 8))

    def wait(self, timeout=5.0):
        until = time.monotonic() + timeout
        size = self.header["telemetry_bytes"]
        whole = self._piece_bytes(size, 44)
        count = max(1, -(-size // whole))
        while True:
            self.socket.settimeout(max(1e-3, until - time.monotonic()))
            try:
                p = read_telemetry(self.socket.recv(9000))
            except ConnectionRefusedError:
                return False
            if p and p[0] == DESCRIPTION_ID and p[1] & ENDED:
                return False
            if not p or not 0 <= p[0] - self.header["telemetry_id"] < count:
                continue
            frame = p[2]
            if frame in self.delivered:
                if frame in self.kept:
                    self._write(*self.kept[frame])
                continue
            if frame < self.newest - self.header["divisor"]:
                continue
            here = self.pieces.setdefault(frame, {})
            here[p[0] - self.header["telemetry_id"]] = p[5]
            if len(here) < count:
                continue
            self.telemetry = b"".join(here[i] for i in range(count))
            self.pieces = {k: v for k, v in self.pieces.items() if k > frame}
            self.frame, self.time_ns, self.answered, self.flags = frame, p[3], p[4], p[1]
            self.newest, self.delivered = max(self.newest, frame), (self.delivered + [frame])[-4:]
            return True

    def _write(self, function, payload, answered):
        size = len(payload)
        whole = self._piece_bytes(size, 36)
        for i in range(1 if function != COMMANDS else max(1, -(-size // whole))):
            self._packet(function, i, payload[i * whole : (i + 1) * whole] if function == COMMANDS else b"", answered)

    def _send(self, end):
        self.sent += 1
        command = (END if end else COMMANDS, bytes(self.command), self.frame)
        self.kept = dict(list(self.kept.items())[-1:] + [(self.frame, command)])
        self._write(*command)

    def close(self):
        self.socket.close()


def open(url, wait=10.0):  # noqa: A001
    """shm:/name or udp:host:port; tries again for `wait` seconds while nobody is there."""
    kind, _, rest = url.partition(":")
    if kind not in ("shm", "udp"):
        raise ValueError("a link is shm:/name or udp:host:port, not " + url)
    until = time.monotonic() + wait
    while True:
        try:
            if kind == "shm":
                return SharedMemory(rest)
            host, _, port = rest.rpartition(":")
            return Udp(host, int(port))
        except (FileNotFoundError, ConnectionRefusedError, TimeoutError):
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: orrery_client.py URL")
    seen = first = last = 0
    with open(sys.argv[1]) as link:
        while link.wait():
            link.send()
            last = max(last, link.frame)
            first = first if seen else link.frame
            seen += 1
        lost = (last - first) // link.header["divisor"] + 1 - seen if seen else 0
    print(f"echo: frames {first} to {last}: {seen} seen, {lost} lost, {seen} answered")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
