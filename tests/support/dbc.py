"""A reader of CAN databases, written for the tests alone: messages, and their signals bit by bit."""
import math
import re
import struct

UNITS = {"": 1.0, "rad/s": 1.0, "deg/s": math.pi / 180, "N m": 1.0, "mN m": 1e-3, "uN m": 1e-6}
SIGNAL = re.compile(r'^\s*SG_\s+(\w+)\s*([Mm]?\d*M?)\s*:\s*(\d+)\|(\d+)@([01])([-+])\s*\(([^,]+),([^)]+)\)\s*\[[^]]*\]\s*"([^"]*)"')


class Signal:
    def __init__(self, match):
        name, self.turns, start, width, order, sign, factor, offset, unit = match.groups()
        self.name, self.width, self.signed, self.real = name, int(width), sign == "-", False
        self.factor, self.offset, self.unit = float(factor), float(offset), UNITS.get(unit)
        # the bits, the lowest first: a big-endian signal names its highest, and goes on at bit 7 of the next byte
        at = int(start)
        self.bits = [at + k for k in range(self.width)] if order == "1" else []
        for _ in range(self.width if order == "0" else 0):
            self.bits.insert(0, at)
            at = at - 1 if at % 8 else at + 15
        assert len(self.bits) == self.width

    def get(self, data):
        raw = sum((data[at // 8] >> at % 8 & 1) << k for k, at in enumerate(self.bits))
        if self.real:
            raw = struct.unpack(*(("<d", struct.pack("<Q", raw)) if self.width == 64 else ("<f", struct.pack("<I", raw))))[0]
        elif self.signed and raw >> self.width - 1:
            raw -= 1 << self.width
        return (raw * self.factor + self.offset) * self.unit

    def put(self, data, value):
        raw = (value / self.unit - self.offset) / self.factor
        if self.real:
            raw = struct.unpack(*(("<Q", struct.pack("<d", raw)) if self.width == 64 else ("<I", struct.pack("<f", raw))))[0]
        else:
            raw = round(raw) & (1 << self.width) - 1
        data = bytearray(data)
        for k, at in enumerate(self.bits):
            data[at // 8] = data[at // 8] & ~(1 << at % 8) | (raw >> k & 1) << at % 8
        return bytes(data)


class Message:
    def __init__(self, identifier, name, count):
        self.id, self.name, self.bytes, self.signals = int(identifier), name, int(count), {}


def read(path):
    """{identifier: Message}"""
    text = open(path, encoding="latin-1").read()
    text = re.sub(r'CM_[^";]*"[^"]*"\s*;', "", text)
    out, message = {}, None
    for line in text.splitlines():
        head = re.match(r"^BO_\s+(\d+)\s+(\w+)\s*:\s*(\d+)", line)
        match = SIGNAL.match(line)
        kind = re.match(r"^SIG_VALTYPE_\s+(\d+)\s+(\w+)\s*:\s*([12])", line)
        if head:
            message = out[int(head[1])] = Message(*head.groups())
        elif match:
            message.signals[match[1]] = Signal(match)
        elif kind:
            out[int(kind[1])].signals[kind[2]].real = True
    return out


def find(base, name):
    """(Message, Signal) of MESSAGE.SIGNAL or SIGNAL"""
    where, _, signal = name.rpartition(".")
    found = [(m, m.signals[signal]) for m in base.values() if signal in m.signals and where in ("", m.name)]
    assert len(found) == 1, (name, found)
    return found[0]
