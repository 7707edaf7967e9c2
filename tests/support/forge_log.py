"""Logs that were made to do harm, by the records of MCAP: tests/e2e/log_forged.sh and tests/all/hdf5.sh say what they try.

python3 tests/support/forge_log.py FOLDER
"""
import struct
import sys


def u16(n):
    return struct.pack("<H", n)


def u32(n):
    return struct.pack("<I", n)


def u64(n):
    return struct.pack("<Q", n)


def text(s):
    return u32(len(s)) + s


def pairs(of):
    return text(b"".join(text(k) + text(v) for k, v in of.items()))


def record(op, content):
    return bytes([op]) + u64(len(content)) + content


def schema(number, fields):
    return record(3, u16(number) + text(b"a") + text(b"ros2msg") + text(fields))


def channel(number, of_schema, topic, of):
    return record(4, u16(number) + u16(of_schema) + text(topic) + text(b"cdr") + pairs(of))


def message(to, ns, numbers):
    return record(5, u16(to) + u32(0) + u64(ns) * 2 + b"\0\1\0\0" + struct.pack("<%dd" % len(numbers), *numbers))


def chunk(records, size=None, how=b""):
    head = u64(0) + u64(2**64 - 1) + u64(size or len(records)) + u32(0)
    return record(6, head + text(how) + u64(len(records)) + records)


def metadata(name, of):
    return record(12, text(name) + pairs(of))


def attachment(name, data):
    return record(9, u64(0) * 2 + text(name) + text(b"text/plain") + u64(len(data)) + data + u32(0))


BLOCK = 1 << 17


def zstd(head, zeros):
    """`head`, and behind it so many blocks of zeros, each said in four bytes (RFC 8878)."""
    out = b"\x28\xb5\x2f\xfd\xa0" + u32(len(head) + zeros * BLOCK) + u32(len(head) << 3)[:3] + head
    for i in range(zeros):
        out += u32((i == zeros - 1) | 1 << 1 | BLOCK << 3)[:3] + b"\0"
    return out


def swelling(number):
    """A channel with 196 MB of metadata, in a chunk of 6 kB."""
    zeros = 1500
    inner = u16(number) + u16(1) + text(b"/t") + text(b"cdr") + u32(zeros * BLOCK)
    head = b"\x04" + u64(len(inner) + zeros * BLOCK) + inner
    return chunk(zstd(head, zeros), len(head) + zeros * BLOCK, b"zstd")


def write(name, *records):
    magic = b"\x89MCAP0\r\n"
    with open(sys.argv[1] + "/" + name + ".mcap", "wb") as out:
        out.write(magic + record(1, text(b"") + text(b"orrery")) + b"".join(records))
        out.write(record(15, u32(0)) + record(2, u64(0) * 2 + u32(0)) + magic)


# texts that steer a terminal, or end a column or a line
EVIL = b"\x1b[2J\r\n\x07\x9b2J\xc2\x9b2J"
facts = {b"a.channel": b'n,"' + EVIL, b"a.unit": b"u" + EVIL, b"a.elements": b"x" + EVIL + b" y"}
commands = {b"a.channels": b"p" + EVIL + b",q", b"a.units": EVIL + b",N"}
write(
    "steer",
    metadata(b"m" + EVIL, {b"k" + EVIL: b"v" + EVIL}),
    attachment(b"a" + EVIL, b"x"),
    chunk(
        schema(1, b"float64[2] a\nfloat64 b\n")
        + channel(1, 1, b"/t" + EVIL, facts)
        + channel(2, 1, b"/orrery/commands" + EVIL, commands)
        + message(1, 0, [1, 2, 3])
        + message(2, 0, [1, 2, 3])
    ),
)

# many columns, long names, one long schema of many topics
million = 1 << 20
write("columns", chunk(schema(1, b"float64[%d] a\n" % million) + channel(1, 1, b"/t", {}) + message(1, 0, [0.0] * million)))
long_names = {b"a.channel": b"n" * million, b"a.unit": b"u" * million}
write("names", chunk(schema(1, b"float64[65536] a\n") + channel(1, 1, b"/t", long_names) + message(1, 0, [0.0] * 65536)))
topics = b"".join(channel(i, 1, b"/t", {}) for i in range(4096))
write("schemas", chunk(schema(1, b"float64 a # " + b"x" * 4000000 + b"\n") + topics + message(0, 0, [1.0])))

# 20 GB of metadata in 600 kB
write("swells", chunk(schema(1, b"float64 a\n")), *[swelling(i) for i in range(100)])

# a channel that says later that its schema is one which cannot be there
again = channel(1, 1, b"/t", {}) + message(1, 0, [1.0]) + channel(1, 65535, b"/t", {}) + message(1, 1, [2.0])
write("again", chunk(schema(1, b"float64 a\n") + again))
