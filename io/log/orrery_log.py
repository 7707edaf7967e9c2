#!/usr/bin/env python3
"""Reads the log of a run (MCAP): one file, standard library only.

    import orrery_log
    with orrery_log.open("flight.mcap") as log:
        print(log.metadata["orrery"]["mode"], log.attachments.keys(), log.topics.keys())
        for message in log.messages("/gyro"):
            print(message.time, message["rate"])            # seconds of simulated time; SI
        time, rate = log.columns("/gyro", "rate")           # arrays of numpy where it is installed, else lists

Run by itself it prints what `orrery log cat --json` prints. A log that was cut is read to its last whole chunk, and
`log.complete` is False. Chunks compressed with zstd need the module `zstandard`, or Python 3.14.
"""
import fnmatch
import io
import json
import mmap
import struct
import sys
import zlib

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 1, 2, 3, 4, 5, 6
ATTACHMENT, METADATA, DATA_END = 9, 12, 15
TYPES = {"float64": ("d", 8), "float32": ("f", 4), "int64": ("q", 8), "uint64": ("Q", 8), "int32": ("i", 4),
         "uint32": ("I", 4), "int16": ("h", 2), "uint16": ("H", 2), "int8": ("b", 1), "uint8": ("B", 1),
         "bool": ("?", 1)}


class Damaged(ValueError):
    """What a record says of itself cannot be."""


class _Fields:
    """The fields of a record, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if size > len(self.data) - self.at:
            raise Damaged("a record is shorter than its fields")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def text(self):
        return bytes(self.take(self.number(4))).decode("utf-8", "replace")

    def pairs(self):
        inner, out = _Fields(self.take(self.number(4))), {}
        while inner.at < len(inner.data):
            key = inner.text()
            out[key] = inner.text()
        return out


def _records(data, at):
    """(opcode, content, where the next one begins) of every whole record."""
    while len(data) - at >= 9:
        size = int.from_bytes(data[at + 1:at + 9], "little")
        if size > len(data) - at - 9:
            return
        yield data[at], data[at + 9:at + 9 + size], at + 9 + size
        at += 9 + size


def _uncompress(how, data, size):
    if how == "":
        return data
    if how != "zstd":
        raise Damaged(f"chunks are compressed with {how!r}, which is not known here")
    try:
        import zstandard
        return zstandard.ZstdDecompressor().decompress(bytes(data), max_output_size=size)
    except ImportError:
        try:
            from compression import zstd
        except ImportError:
            raise ImportError("chunks are compressed with zstd: install the module zstandard (Debian: python3-zstandard)") from None
        return zstd.decompress(bytes(data))


class Field:
    """One field of a topic: `name`, `type`, `count` (1 where it is no array, None for a sequence)."""

    def __init__(self, text):
        kind, self.name = text.split()
        self.type, bracket, count = kind.partition("[")
        self.array = bool(bracket)
        self.count = (int(count[:-1]) if count != "]" else None) if bracket else 1
        if self.type != "string" and self.type not in TYPES:
            raise Damaged(f"a field of the type {self.type!r} is not known here")

    def read(self, data, at):
        """(value, where the next field begins), both counted from behind the four bytes of the message."""
        count = self.count
        if count is None:
            at += -at % 4
            (count,), at = struct.unpack_from("<I", data, at), at + 4
        if self.type == "string":
            values = []
            for _ in range(count):
                at += -at % 4
                (size,), at = struct.unpack_from("<I", data, at), at + 4
                if size == 0 or size > len(data) - at:
                    raise Damaged("a string is longer than its message")
                values.append(bytes(data[at:at + size - 1]).decode("utf-8", "replace"))
                at += size
        else:
            code, size = TYPES[self.type]
            at += -at % size if count else 0
            if count * size > len(data) - at:
                raise Damaged("an array is longer than its message")
            values = list(struct.unpack_from(f"<{count}{code}", data, at))
            at += count * size
        return (values if self.array else values[0]), at


class Topic:
    """A topic: `name`, `fields`, `metadata` (channel, unit, elements of each field)."""

    def __init__(self, name, encoding, schema, metadata):
        self.name, self.encoding, self.schema, self.metadata = name, encoding, schema, metadata
        lines = (line.split("#")[0].strip() for line in schema.splitlines())
        self.fields = [Field(line) for line in lines if line and "=" not in line]

    def unit(self, field):
        return self.metadata.get(field + ".unit", "")

    def read(self, data):
        if self.encoding != "cdr" or bytes(data[:2]) != b"\0\1":
            raise Damaged("a message is no CDR in little-endian order")
        out, at, body = {}, 0, data[4:]
        try:
            for field in self.fields:
                out[field.name], at = field.read(body, at)
        except struct.error:
            raise Damaged("a message is shorter than its fields") from None
        return out


class Message:
    """`topic`, `time_ns`, `time` in seconds, `sequence`; its fields by name."""

    def __init__(self, topic, sequence, time_ns, data):
        self.topic, self.sequence, self.time_ns, self.data = topic, sequence, time_ns, data
        self._fields = None

    @property
    def time(self):
        return 1e-9 * self.time_ns

    @property
    def fields(self):
        if self._fields is None:
            self._fields = self.topic.read(self.data)
        return self._fields

    def __getitem__(self, name):
        return self.fields[name]


class Log:
    """An open log: `topics` by name, `metadata` by name, `attachments` by name (bytes), `complete`."""

    def __init__(self, path):
        with io.open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._data = memoryview(self._map)
        if bytes(self._data[:8]) != MAGIC:
            self.close()
            raise Damaged(f"{path} is no MCAP file")
        self.topics, self.metadata, self.attachments, self.complete = {}, {}, {}, False
        self._schemas, self._channels = {}, {}
        for op, content, _ in _records(self._data, 8):
            if op == DATA_END:
                self.complete = True
                break
            self._note(op, content)

    def close(self):
        self._data.release()
        self._map.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.close()
        except BufferError:
            pass  # a message is still held, and with it the file

    def _note(self, op, content):
        fields = _Fields(content)
        if op == SCHEMA:
            number, _, _ = fields.number(2), fields.text(), fields.text()
            self._schemas[number] = fields.text()
        elif op == CHANNEL:
            number, schema, name, encoding = fields.number(2), fields.number(2), fields.text(), fields.text()
            if number not in self._channels:
                self._channels[number] = Topic(name, encoding, self._schemas.get(schema, ""), fields.pairs())
                self.topics[name] = self._channels[number]
        elif op == METADATA:
            name = fields.text()
            self.metadata[name] = fields.pairs()
        elif op == ATTACHMENT:
            fields.take(16)
            name, _ = fields.text(), fields.text()
            data = bytes(fields.take(fields.number(8)))
            summed, crc = fields.at, fields.number(4)
            if crc and zlib.crc32(content[:summed]) != crc:
                raise Damaged(f"the attachment {name} has a wrong sum")
            self.attachments[name] = data

    def _message(self, content, start_ns, end_ns, wanted):
        channel, sequence, log_ns, _ = struct.unpack_from("<HIQQ", content)
        topic = self._channels.get(channel)
        if topic and start_ns <= log_ns <= end_ns and wanted(topic.name):
            return Message(topic, sequence, log_ns, content[22:])
        return None

    def messages(self, topics="*", start=0.0, end=float("inf")):
        """Messages of the topics that fit a pattern, or one of a list, from `start` to `end` in seconds, as they stand."""
        patterns = [topics] if isinstance(topics, str) else list(topics)
        wanted = lambda name: any(fnmatch.fnmatchcase(name, p) for p in patterns)
        start_ns, end_ns = round(start * 1e9), round(end * 1e9) if end != float("inf") else 1 << 64
        for op, content, _ in _records(self._data, 8):
            if op == DATA_END:
                return
            if op == MESSAGE:
                message = self._message(content, start_ns, end_ns, wanted)
                if message:
                    yield message
            elif op == CHUNK:
                first, last, size, crc = struct.unpack_from("<QQQI", content)
                if last < start_ns or first > end_ns:
                    continue
                fields = _Fields(content)
                fields.take(28)
                how = fields.text()
                data = _uncompress(how, fields.take(fields.number(8)), size)
                if len(data) != size or (crc and zlib.crc32(data) != crc):
                    raise Damaged("a chunk has a wrong sum")
                for inner, record, _ in _records(memoryview(data), 0):
                    if inner == MESSAGE:
                        message = self._message(record, start_ns, end_ns, wanted)
                        if message:
                            yield message
                    else:
                        self._note(inner, record)

    def columns(self, topic, *names, start=0.0, end=float("inf")):
        """Times in seconds and the values of fields of one topic."""
        rows = [(m.time, *(m[n] for n in names)) for m in self.messages(topic, start, end)]
        lists = [list(column) for column in zip(*rows)] if rows else [[] for _ in range(1 + len(names))]
        try:
            import numpy
        except ImportError:
            return lists
        return [numpy.array(column) for column in lists]


def open(path):  # noqa: A001: as orrery_client.open
    """The log at a path. ValueError where it is none, OSError where it cannot be read."""
    return Log(path)


def _main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print("usage: orrery_log.py LOG [TOPIC...]", file=sys.stderr)
        return 2
    try:
        with open(arguments[0]) as log:
            for message in log.messages(arguments[1:] or "*"):
                line = {"time_ns": message.time_ns, "topic": message.topic.name, **message.fields}
                print(json.dumps(line, separators=(",", ":")))
            if not log.complete:
                print(f"orrery_log: warning: {arguments[0]} was cut", file=sys.stderr)
    except (OSError, ValueError, ImportError) as wrong:
        print(f"orrery_log: {arguments[0]}: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
