"""The flight software's side of a link (io/wire/wire.h) in Python 3.11, for quick experiments. Standard library only.

    with orrery_client.open("shm:/orrery.fsw") as link:       # or "udp:127.0.0.1:5010", tcp:, unix:, serial:
        while link.wait():                                     # the next frame in turn; False when the run is over
            link.send({"wheel_x.torque": 0.02 * link["gyro.rate"][0]})

A channel of one number is that number, one of several a tuple: link["gyro.rate"][0], but link["wheel_x.speed"] and link["star.valid"]; send takes them so, too.

link.channels describes both directions; link.frame, link.time_ns, link.answered and link.flags belong to the frame, link.missed counts those that
went by unseen, link.late those of them that came over UDP when a newer one had been taken. link.flags & RESTORED: the run goes on from a saved state. open raises NotALink for what is none. wait raises TimeoutError when no frame comes, and ConnectionResetError when the run died or another took its place: then close, and
open again. `python3 orrery_client.py URL` is a minimal peer: it answers every frame with what was commanded last (zeros), and says what it saw; exit
status 1 when frames were lost, or it ended before the run, with a word on why.
"""
import errno
import fcntl
import functools
import hashlib
import hmac
import os
import re
import select
import socket
import stat
import struct
import sys
import time

MAGIC, SLOTS, NONE = 0x314B4E494C52524F, 128, 2**64 - 1
HEADER = struct.Struct("<QIIQQq2I3I2I4IIHHIQ")
CHANNEL = struct.Struct("<4I3B5x2d")
RUN_AT, PEER_AT, DIRECTORY_AT = 128, 192, 256
DESCRIPTION_ID, COMMAND_FLAG = 0x0FFE, 0x1000
COMMANDS, END, BEAT, DESCRIBE, AGAIN, LEAVE = range(6)
VERSION = 5
TIMED_OUT, LATE, ENDED, RESTORED, LOCKSTEP, AWAITED, TAKEN, KEYED = 1, 2, 4, 8, 16, 32, 64, 128  # flags of a frame
KEY_BYTES, MAC_BYTES, SEAL_BYTES, SEEN = 32, 16, 40, 1024
WINDOW = 8  # frames over UDP that come together, or wait for their turn
PAYLOAD_MAX, PACKET_MAX, PIECES_MAX, DESCRIPTION_MAX = 1 << 16, 8192, 64, 1 << 22
PULSE_S = 0.1  # so often, while nothing comes, we say that we live and ask whether the run does
NAMES = ("magic order version layout_hash bytes step_ns divisor channel_count directory_at names_at names_bytes telemetry_bytes "
         "command_bytes out_at out_slot in_at in_slot pid telemetry_id command_id packet_max run").split()


class NotALink(ValueError):
    """What is there is not a link of this version, or contradicts itself."""


class NotAKey(ValueError):
    """The key file is none, or others may read it; or the run wants a key."""


class Channel:
    def __init__(self, row, names):
        text = lambda at: names[at : names.index(b"\0", at)].decode(errors="replace")
        name, unit, self.count, self.offset, self.type, self.direction, self.hold, self.low, self.high = row
        self.name, self.unit = text(name), text(unit)
        self.format = "<%d%s" % (self.count, "dqB"[self.type])


def _inside(at, size, whole):
    return at % 4 == 0 and at <= whole and size <= whole - at


def _slot_bytes(payload):
    return (8 * (5 + -(-payload // 8)) + 63) // 64 * 64


def _mix(words):
    total = MAGIC
    for word in words:
        total = (total ^ word) * 0x9E3779B97F4A7C15 % 2**64
        total ^= total >> 32
    return total


def command_sum(words):
    """Of the words of a command, head (0 in place of the sum) and payload, as io/wire/wire.h has it: four lanes, of which the later weigh more."""
    return sum(3**lane * _mix(words[lane::4]) for lane in range(4)) % 2**64


def slot_command(answers, layout_hash, generation, flags, payload, version=VERSION):
    """What stands in a slot after its sequence; the payload is filled up with zeros to whole words."""
    whole = struct.pack("<QQIHHQ", answers, layout_hash, generation, flags, version, 0) + payload + bytes(-len(payload) % 8)
    return whole[:24] + struct.pack("<Q", command_sum(struct.unpack("<%dQ" % (len(whole) // 8), whole))) + whole[32:]


def _header(memory):
    if len(memory) < HEADER.size:
        raise NotALink("too short")
    return dict(zip(NAMES, HEADER.unpack_from(memory, 0)))


def _sound(h, size):
    """Whether all that the header speaks of lies within `size` bytes."""
    return (h["magic"] == MAGIC and h["order"] == 0x01020304 and h["version"] == VERSION and h["bytes"] == size
            and h["telemetry_bytes"] <= PAYLOAD_MAX and h["command_bytes"] <= PAYLOAD_MAX and h["divisor"] > 0
            and h["directory_at"] % 8 == 0 and _inside(h["directory_at"], h["channel_count"] * CHANNEL.size, size)
            and h["names_bytes"] > 0 and h["names_at"] <= size and h["names_bytes"] <= size - h["names_at"])


def other_version(theirs):
    """In words: what to do with a run that speaks another version of the wire."""
    return ("the run speaks version %d of the wire, this client version %d: take the orrery_client.py of the Orrery that runs"
            % (theirs, VERSION) + (", or fly with a newer Orrery" if theirs < VERSION else ""))


def _slots_sound(h):
    return all(h[slot] == _slot_bytes(h[payload]) and h[at] % 64 == 0 and _inside(h[at], SLOTS * h[slot], h["bytes"])
               for at, slot, payload in (("out_at", "out_slot", "telemetry_bytes"), ("in_at", "in_slot", "command_bytes")))


def _channel_sound(row, h):
    name_at, unit_at, count, offset, kind, direction = row[:6]
    limit = h["command_bytes" if direction else "telemetry_bytes"]
    return (kind <= 2 and direction <= 1 and offset + count * (1 if kind == 2 else 8) <= limit
            and name_at < h["names_bytes"] and unit_at < h["names_bytes"])


class Link:
    """What both carriers share. Raises NotALink for what is none, ConnectionError when another peer took our place."""

    def _describe(self, memory, size=None):
        """From the bytes in front of what is `size` long in all."""
        size = len(memory) if size is None else size
        h = self.header = _header(memory)
        if h["magic"] == MAGIC and h["order"] == 0x01020304 and h["version"] != VERSION:
            raise NotALink(other_version(h["version"]))
        if not _sound(h, size) or max(h["names_at"] + h["names_bytes"], h["directory_at"] + h["channel_count"] * CHANNEL.size) > len(memory):
            raise NotALink("not a link, or one that contradicts itself")
        names = bytes(memory[h["names_at"] : h["names_at"] + h["names_bytes"]]) + b"\0"
        rows = [CHANNEL.unpack_from(memory, h["directory_at"] + i * CHANNEL.size) for i in range(h["channel_count"])]
        if not all(_channel_sound(row, h) for row in rows):
            raise NotALink("a channel lies outside its payload")
        self.channels = {}
        for row in rows:
            c = Channel(row, names)
            self.channels[c.name] = c
        self.frame, self.time_ns, self.answered, self.flags, self.missed, self.late = None, 0, NONE, 0, 0, 0
        self.telemetry, self.command = bytes(h["telemetry_bytes"]), bytearray(h["command_bytes"])

    def channel(self, name):
        """The description of a channel."""
        if name in self.channels:
            return self.channels[name]
        import difflib

        near = difflib.get_close_matches(name, self.channels, 1)
        raise KeyError("this link has no channel %r%s" % (name, ", did you mean %r?" % near[0] if near else "; link.channels has them all"))

    def __getitem__(self, name):
        c = self.channel(name)
        numbers = struct.unpack_from(c.format, self.command if c.direction else self.telemetry, c.offset)
        return numbers[0] if c.count == 1 else numbers

    def _fill(self, values):
        for name, value in (values or {}).items():
            c = self.channel(name)
            if not c.direction:
                raise KeyError(name + " is telemetry")
            numbers = [value] if c.count == 1 else value
            try:
                struct.pack_into(c.format, self.command, c.offset, *numbers)
            except (struct.error, TypeError):
                takes = "a number" if c.count == 1 else f"{c.count} numbers"
                raise TypeError(f"{name} takes {takes}, not {value!r}") from None

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


class Segment:
    """A file in shared memory, read and written by calls: through a mapping, one that is shrunk would end this process by SIGBUS, which Python cannot
    catch. Whole words of eight bytes, so that the other side sees no number half written."""

    def __init__(self, fd):
        self.fd, self.size = fd, os.fstat(fd).st_size

    def __len__(self):
        return self.size

    def read(self, at, count):
        data = os.pread(self.fd, count, at)
        if len(data) != count:
            raise ConnectionResetError("the segment was shrunk")
        return data

    def words(self, at, count):
        """Words that one writer changes one by one, as they stood at a moment."""
        data, again = None, self.read(at, 8 * count)
        while data != again:
            data, again = again, self.read(at, 8 * count)
        return struct.unpack("<%dQ" % count, data)

    def write(self, at, *words):
        self.write_bytes(at, struct.pack("<%dQ" % len(words), *words))

    def write_bytes(self, at, data):
        if os.fstat(self.fd).st_size < self.size:  # it does not grow again by us
            raise ConnectionResetError("the segment was shrunk")
        os.pwrite(self.fd, data, at)


def _no_frame(seconds):
    return f"no frame came in {seconds:g} s: the run stands, or in lockstep waits for an answer that it can take"


def _halves(word):
    return word % 2**32, word >> 32


class SharedMemory(Link):
    def __init__(self, name):
        self.fd = os.open("/dev/shm" + name, os.O_RDWR | os.O_CLOEXEC)
        self.memory, self.generation = None, None
        try:
            self._enter()
        except BaseException:
            self.close()
            raise

    def _enter(self):
        self.memory = Segment(self.fd)
        if self.memory.size < DIRECTORY_AT or self.memory.words(0, 1)[0] == 0:
            raise FileNotFoundError("the segment is still being made")
        h = _header(self.memory.read(0, DIRECTORY_AT))
        whole = h["names_at"] + h["names_bytes"] if h["version"] == VERSION else DIRECTORY_AT
        self._describe(self.memory.read(0, min(whole, self.memory.size)), self.memory.size)
        if not _slots_sound(self.header):
            raise NotALink("a slot lies outside the segment")
        if self._run()["ended"] or not self._run_lives():
            raise FileNotFoundError("the run is over")
        self.any, self.seen, self.beats = False, max(0, self._run()["awaited"] - 1), 0
        commanded, ours = self.memory.words(PEER_AT, 2)
        self.generation = ((ours >> 32) + 1) % 2**32
        self.memory.write(PEER_AT + 8, os.getpid() | self.generation << 32)
        self.sent = commanded % 2**32

    def _run(self):
        """The words of the run."""
        a, b, c = self.memory.words(RUN_AT, 3)
        (published, _), (ended, awaited), (last, _) = _halves(a), _halves(b), _halves(c)
        return {"published": published, "ended": ended, "awaited": awaited, "last": last}

    def _is_ours(self):
        return self.memory.words(PEER_AT + 8, 1)[0] >> 32 == self.generation

    def _run_lives(self):
        """A run that lives holds a lock on its segment; the kernel gives it back when it dies."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self.fd, fcntl.LOCK_UN)
        return False

    def beat(self):
        """We live, though we have nothing to command."""
        self.memory.write(PEER_AT + 16, (self.memory.words(PEER_AT + 16, 1)[0] + 1) % 2**64)

    def _look(self, run):
        newest = run["last"] if run["ended"] else run["published"]  # once it has ended, that is one more than the last one
        if newest == self.seen:
            return False
        following = (self.seen + 1) % 2**32
        if not self.any:  # in lockstep an older one may be awaited
            following = min(following, run["awaited"])
        if (newest - following) % 2**32 >= 2**31:  # what is awaited is written before what is published
            following = newest
        if (newest - following) % 2**32 > SLOTS - 2:
            following = (newest - SLOTS + 2) % 2**32
        at = self.header["out_at"] + self.header["out_slot"] * (following % SLOTS)
        sequence = self.memory.read(at, 8)
        copy = self.memory.read(at + 8, 32 + len(self.telemetry))
        if not any(sequence) or sequence[0] & 1 or self.memory.read(at, 8) != sequence:
            return False
        self.missed += (following - self.seen - 1) % 2**32 if self.any else 0
        self.any, self.seen, self.telemetry = True, following, copy[32:]
        self.frame, self.time_ns, self.answered, self.flags = struct.unpack_from("<QqQQ", copy)
        return True

    def wait(self, timeout=5.0):
        until, pulse = time.monotonic() + timeout, 0
        while True:
            run = self._run()
            if not self._is_ours():
                raise ConnectionError("another peer has taken our place")
            if self._look(run):
                self.beat()
                return True
            if run["ended"]:
                return False
            now = time.monotonic()
            if now > pulse:
                self.beat()
                if not self._run_lives() and not self._run()["ended"]:
                    raise ConnectionResetError("the run has died")
                pulse = now + PULSE_S
            if now > until:
                raise TimeoutError(_no_frame(timeout))
            time.sleep(20e-6)

    def _put(self, command):
        """Into the next slot, which is odd while it is written; an executive that sleeps looks again by itself."""
        self.sent = (self.sent + 1) % 2**32
        at = self.header["in_at"] + self.header["in_slot"] * (self.sent % SLOTS)
        sequence = self.memory.words(at, 1)[0] | 1
        self.memory.write(at, sequence)
        self.memory.write_bytes(at + 8, command)
        self.memory.write(at, (sequence + 1) % 2**64)
        self.beat()
        self.memory.write(PEER_AT, self.sent)  # and that we do not sleep

    def _send(self, end):
        self._put(slot_command(self.frame, self.header["layout_hash"], self.generation, int(end), bytes(self.command)))

    def close(self):
        try:
            if self.generation is not None and self._is_ours():
                self.memory.write(PEER_AT + 8, self.generation << 32)
        except ConnectionResetError:
            pass
        self.generation = None
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


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
    again, flags = struct.unpack_from(">HH", packet, 12)
    described = message_id == DESCRIPTION_ID  # of every version, so that a client of another one reads the version
    if again != (0 if described else message_id) or crc32c(packet[16 if described else 12 : -4]) != struct.unpack("<I", packet[-4:])[0]:
        return None
    frame, time_ns, answered = struct.unpack_from("<QqQ", packet, 16)
    if described and flags and frame != 2**64 - 1 - flags:  # flags that were changed on the way
        return None
    return message_id, flags, frame, time_ns, answered, packet[40:-4]


def read_key(path):
    """The key in a file of 64 hexadecimal digits, which must be a regular one, ours, and for nobody else to read or write."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotAKey("key file %s: it is not a regular file" % path)
        if status.st_uid != os.geteuid():
            raise NotAKey("key file %s: it belongs to user %d, and this is user %d: chown it, or make a copy of one's own"
                          % (path, status.st_uid, os.geteuid()))
        if status.st_mode & 0o077:
            raise NotAKey("key file %s: others may read or write it (mode %04o): chmod 600 it, and make a new key if they may have"
                          % (path, status.st_mode & 0o7777))
        text = file.read(2 * KEY_BYTES + 2)
    digits = text.removesuffix(b"\n")
    if len(text) > 2 * KEY_BYTES + 1 or len(digits) != 2 * KEY_BYTES or not set(digits) <= set(b"0123456789abcdefABCDEF"):
        raise NotAKey("key file %s: a key is 64 hexadecimal digits: (umask 077; od -An -tx1 -N32 /dev/urandom | tr -d ' \\n' > FILE)" % path)
    return bytes.fromhex(digits.decode())


class Seal:
    """Behind each packet of a link with a key: numbers of run and peer, a counter, and a keyed BLAKE2b over all before it."""

    def __init__(self, key):
        self.key, self.run, self.peer, self.sent, self.newest, self.seen = key, 0, 0, 0, 0, set()
        while self.peer == 0:
            self.peer = int.from_bytes(os.urandom(8), "little")

    def _sum(self, data):
        return hashlib.blake2b(data, digest_size=MAC_BYTES, key=self.key).digest()

    def put(self, packet, question=False):
        self.sent += 1
        packet += struct.pack("<3Q", 0 if question else self.run, self.peer, self.sent)
        return packet + self._sum(packet)

    def take(self, datagram):
        """The packet and "sealed", or None and "forged" (our own, sent back, too), "replayed" or "another run". The first one sealed for us tells the run."""
        if len(datagram) < SEAL_BYTES or datagram[0] & 0x10 or not hmac.compare_digest(self._sum(datagram[:-MAC_BYTES]), datagram[-MAC_BYTES:]):
            return None, "forged"
        run, peer, counter = struct.unpack("<3Q", datagram[-SEAL_BYTES:-MAC_BYTES])
        if peer != self.peer:
            return None, "replayed"
        self.run = self.run or run
        if run != self.run:
            return None, "another run"
        if counter == 0 or counter + SEEN <= self.newest or counter in self.seen:
            return None, "replayed"
        self.seen.add(counter)
        if counter > self.newest:
            self.newest = counter
            if len(self.seen) > 2 * SEEN:
                self.seen = {c for c in self.seen if c + SEEN > counter}
        return datagram[:-SEAL_BYTES], "sealed"


def _cobs(data):
    """Consistent Overhead Byte Stuffing, a zero before and behind."""
    out, block = bytearray(1), bytearray()
    for b in data:
        if b:
            block.append(b)
        if not b or len(block) == 254:
            out += bytes([len(block) + 1]) + block
            block.clear()
    return bytes(out + bytes([len(block) + 1]) + block + b"\0")


def _uncobs(data):
    out, at = bytearray(), 0
    while at < len(data):
        code = data[at]
        block = data[at + 1 : at + code]
        if len(block) != code - 1:
            return b""
        out += block
        at += code
        if code < 255 and at < len(data):
            out.append(0)
    return bytes(out)


def _slip(data):
    return b"\xc0" + data.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


def _unslip(data):
    good = all(data[i + 1 : i + 2] in (b"\xdc", b"\xdd") for i in range(len(data)) if data[i] == 0xDB)
    return data.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb") if good else b""


class Frames:
    """A stream of bytes, used like a socket of datagrams: each packet is a frame by COBS or SLIP, with its CRC-32C (io/wire/framing.h)."""

    def __init__(self, file, slip):
        self.file, self.slip, self.end = file, slip, 0xC0 if slip else 0
        self.came, self.seconds = bytearray(), None
        os.set_blocking(file.fileno(), False)

    def settimeout(self, seconds):
        self.seconds = seconds

    def send(self, packet):
        data = packet + struct.pack("<I", crc32c(packet))
        data = _slip(data) if self.slip else _cobs(data)
        while data:
            try:
                data = data[os.write(self.file.fileno(), data) :]
            except BlockingIOError:
                if not select.select([], [self.file], [], 1.0)[1]:
                    return  # what the other end does not take in a second is lost
            except OSError:
                raise ConnectionRefusedError("the other end is gone") from None

    def _frame(self):
        """The next whole frame's packet, or None."""
        while (at := self.came.find(self.end)) >= 0:
            frame = bytes(self.came[:at])
            del self.came[: at + 1]
            packet = _unslip(frame) if self.slip else _uncobs(frame)
            if len(packet) > 4 and struct.unpack("<I", packet[-4:])[0] == crc32c(packet[:-4]):
                return packet[:-4]
        if len(self.came) > 4 * PACKET_MAX:
            self.came.clear()  # no frame is so long
        return None

    def recv(self, most):
        until = None if self.seconds is None else time.monotonic() + self.seconds
        while (packet := self._frame()) is None:
            left = None if until is None else max(0, until - time.monotonic())
            if not select.select([self.file], [], [], left)[0]:
                raise TimeoutError
            try:
                data = os.read(self.file.fileno(), 65536)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                raise ConnectionRefusedError("the other end is gone")
            self.came += data
        return packet[:most]

    def close(self):
        self.file.close()


def _tcp(host, port, slip):
    s = socket.create_connection((host, port), timeout=1.0)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Frames(s, slip)


def _unix(path, slip):
    """Its kind is the run's choice: messages first, then a stream."""
    for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
        s = socket.socket(socket.AF_UNIX, kind)
        try:
            s.connect(path)
        except OSError as error:
            s.close()
            if error.errno != errno.EPROTOTYPE:
                raise
        else:
            return Frames(s, slip) if kind == socket.SOCK_STREAM else Messages(s)
    raise ConnectionRefusedError(path)


class Messages:
    """A socket of messages; an empty one is its end."""

    def __init__(self, s):
        self.s, self.settimeout, self.close = s, s.settimeout, s.close

    def send(self, packet):
        try:
            self.s.send(packet)
        except (BrokenPipeError, ConnectionResetError):
            raise ConnectionRefusedError("the other end is gone") from None

    def recv(self, most):
        try:
            data = self.s.recv(most)
        except ConnectionResetError:  # it went without having read all that came
            data = b""
        if not data:
            raise ConnectionRefusedError("the other end is gone")
        return data


def _serial(path, baud, bits, rs485, slip):
    """Any rate (termios2), raw, as io/wire/serial_port.c opens it."""
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    file = os.fdopen(fd, "r+b", buffering=0)
    try:
        sizes, stop, parity, odd = {"5": 0, "6": 0x10, "7": 0x20, "8": 0x30}, 0x40, 0x100, 0x200
        flags = 0x80 | 0x800 | 0x1000 | 0x1000 << 16 | sizes[bits[0]]  # CREAD CLOCAL BOTHER, both ways
        flags |= (stop if bits[2] == "2" else 0) | {"N": 0, "E": parity, "O": parity | odd}[bits[1]]
        chars = bytearray(19)
        chars[6] = 1  # VMIN
        fcntl.ioctl(fd, 0x402C542B, struct.pack("<4IB19s2I", 0x10 if bits[1] != "N" else 0, 0, flags, 0, 0, bytes(chars), baud, baud))  # TCSETS2
        if rs485:
            fcntl.ioctl(fd, 0x542F, struct.pack("<8I", 1 | 2, 0, 0, 0, 0, 0, 0, 0))  # TIOCSRS485, RTS while it sends
    except BaseException:
        file.close()
        raise
    return Frames(file, slip)


def _datagrams(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    try:
        s.connect((host, port))
    except BaseException:
        s.close()
        raise
    return s


class _NoAnswerToKey(ConnectionRefusedError):
    """With words of its own."""


class Packets(Link):
    """A link over whatever carries packets: a socket of datagrams, or what is used like one."""

    def __init__(self, connect, *where, key=None):
        self.entered = False
        self.seal, self.keyed, self.forged, self.replayed = Seal(key) if key else None, False, 0, 0
        self.over_udp, self.socket = connect is _datagrams, connect(*where)
        try:
            self.generation, self.sent, self.counts = 0, 0, {}
            try:
                self._describe(self._fetch())
            except TimeoutError:  # whether the network tells so or not
                if not key:
                    raise ConnectionRefusedError("no answer") from None
                why = (": the run there has another key: give the file that its link has as 'key_file'" if self.keyed else
                       " with this key: is the run there, and has its link 'key_file'?")
                raise _NoAnswerToKey("nobody answers at %s%s" % (":".join(map(str, where[:2])), why)) from None
            # later than the newest peer's; two that come at a time shall differ
            self.generation = (self.generation + 1 + int.from_bytes(os.urandom(2), "little")) % 2**32
            self._judge_packets()
        except BaseException:
            self.close()
            raise
        self.window, self.here, self.kept, self.ending = {}, [], {}, None  # frames that come; numbers of the last ones that were here; answers
        self.pulse, self.refused, self.gap, self.ended, self.taken, self.over = 0.0, False, False, None, False, False
        self.entered = True
        self.beat()

    def _question(self, number):
        packet = write_command(DESCRIPTION_ID | COMMAND_FLAG, number, DESCRIBE, number, 0, 0)
        return self.seal.put(packet, question=True) if self.seal else packet

    def _read(self, datagram):
        """As read_telemetry, behind the seal where there is a key."""
        if not self.seal:
            return read_telemetry(datagram)
        packet, what = self.seal.take(datagram)
        if what == "another run" and self.entered:
            raise ConnectionResetError("another run has taken its place")
        if what == "forged":
            p = read_telemetry(datagram)  # a word for people, and worth nothing else
            self.keyed |= bool(p and p[0] == DESCRIPTION_ID and p[1] & KEYED)
        self.forged += what == "forged"
        self.replayed += what == "replayed"
        return read_telemetry(packet) if packet else None

    def _ask(self, number):
        """The answer to a question; both may be lost."""
        for _ in range(5):
            self.socket.send(self._question(number))
            until = time.monotonic() + 0.02
            while (left := until - time.monotonic()) > 0:
                self.socket.settimeout(left)
                try:
                    p = self._read(self.socket.recv(9000))
                except TimeoutError:
                    break
                if p and p[0] == DESCRIPTION_ID and p[1] & KEYED and not self.seal:
                    raise NotAKey("the run there takes packets with a key alone: give the key file that its link has as 'key_file'")
                if p and p[0] == DESCRIPTION_ID and p[2] == number and not p[1] and p[5]:
                    return p
        raise TimeoutError

    def _fetch(self):
        got, number, whole = b"", 0, 1
        while len(got) < whole:
            p = self._ask(number)
            got, number, whole, self.generation = got + p[5], number + 1, p[4], p[3] % 2**32
            if len(got) > whole or whole > DESCRIPTION_MAX:
                raise NotALink("a description without end")
        return got

    def _judge_packets(self):
        """All pieces of a payload have message ids of one kind, none of them the description's."""
        h = self.header
        if not 100 <= h["packet_max"] <= PACKET_MAX - (SEAL_BYTES if self.seal else 0):
            raise NotALink("packets of no possible length")
        for key, kind, size, overhead in (("telemetry_id", 1, h["telemetry_bytes"], 44), ("command_id", 3, h["command_bytes"], 36)):
            pieces = max(1, -(-size // self._piece_bytes(size, overhead)))
            if h[key] >> 11 != kind or pieces > PIECES_MAX or (h[key] & 0x7FF) + pieces > DESCRIPTION_ID & 0x7FF:
                raise NotALink("message ids that are none")

    def _sender(self, number):
        """The frame word of a command: generation, tag of the layout, count."""
        tag = functools.reduce(lambda a, b: a ^ b, struct.unpack("<4H", struct.pack("<Q", self.header["layout_hash"])))
        return self.generation << 32 | (tag or 1) << 16 | number & 0xFFFF

    def _transmit(self, packet):
        try:
            self.socket.send(packet)
        except ConnectionRefusedError:
            self.refused = True  # told by the next wait, after all that came before

    def _packet(self, function, answered, piece=b"", index=0, number=None, time_ns=None):
        message_id = self.header["command_id"] + index
        count = self.counts[message_id] = self.counts.get(message_id, -1) + 1
        sender = self._sender(self.sent if number is None else number)
        packet = write_command(message_id, count, function, sender, self.time_ns if time_ns is None else time_ns, answered, piece)
        self._transmit(self.seal.put(packet) if self.seal else packet)

    def beat(self):
        """We live, though we have nothing to command."""
        self._packet(BEAT, NONE)

    def _ask_again(self):
        """Which run is this? Now and then."""
        if time.monotonic() > self.pulse:
            self.pulse = time.monotonic() + PULSE_S
            self._transmit(self._question(0))

    def _nobody_has_it(self):
        """ICMP need not tell that nobody has a port. One of this very host that can be had is nobody's; a run that hangs keeps its own."""
        if not self.over_udp:
            return False
        here, there = self.socket.getsockname(), self.socket.getpeername()
        if here[0] != there[0] and not there[0].startswith("127."):
            return False
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(there)
            except OSError:
                return False
        return True

    def _piece_bytes(self, size, overhead):
        return max(8, min(size, (self.header["packet_max"] - overhead) // 8 * 8))

    def _receive(self, seconds):
        """A packet as read_telemetry has it, or None."""
        self.socket.settimeout(0 if self.refused else max(0, seconds))
        try:
            return self._read(self.socket.recv(9000))
        except ConnectionRefusedError:
            if not self.over_udp:  # the end of a connection, behind all that came by it
                raise ConnectionResetError("the run has died") from None
            self.refused = True
        except (TimeoutError, BlockingIOError):
            if self.refused:
                raise ConnectionResetError("the run has died") from None
        return None

    def _hear(self, p):
        """What the run says of itself: False when it is over."""
        if p[1] & ENDED:
            self.over = True
            self._packet(LEAVE, NONE)  # the run says it until it has heard that
            return False
        if p[1] & TAKEN:
            if p[4] == self.generation and p[3] >> 32 & 0xFFFFFFFF != self.header["run"] & 0xFFFFFFFF:
                self.over = True  # what is left is not to be said to the other: in lockstep it would end by it
                raise ConnectionResetError("another run has taken its place")
            self.taken |= p[4] == self.generation
            if p[4] == self.generation and 0 < (p[3] - self.generation) % 2**32 < 2**31:
                raise ConnectionAbortedError("another peer has taken our place")
            return True
        if p[2] == 0:
            if p[3] >> 32 & 0xFFFFFFFF != self.header["run"] & 0xFFFFFFFF:
                self.over = True  # what is left is not to be said to the other: in lockstep it would end by it
                raise ConnectionResetError("another run has taken its place")
            self.beat()  # only to ours: another would take us for its peer
        return True

    def _come_late(self, frame, last_piece):
        """A piece of a frame that is not newer than the one taken last: a copy, which asks for our answer once more, or late."""
        if frame in self.here or frame < self.here[0]:
            if last_piece and frame in self.kept:
                self._answer(*self.kept[frame])
            if last_piece and self.ending is not None:
                self._packet(END, self.ending)
            return
        self.here = sorted(self.here + [frame])
        self.late += 1

    def _gather(self, p):
        """A piece of a frame."""
        size = self.header["telemetry_bytes"]
        whole = self._piece_bytes(size, 44)
        count, piece, frame = max(1, -(-size // whole)), p[0] - self.header["telemetry_id"], p[2]
        following = None if self.frame is None else self.frame + self.header["divisor"]
        if following is not None and frame != following:
            self._ask_again()  # it may be that of another run
        if not 0 <= piece < count or len(p[5]) != (whole if piece + 1 < count else size - piece * whole):
            self._ask_again()  # not cut as our layout says
            return
        if self.frame is not None and frame <= self.frame:
            self._come_late(frame, piece + 1 == count)
            return
        self.gap |= p[1] & LOCKSTEP and frame != following
        if len(self.window) >= WINDOW and frame not in self.window:
            away = (max if p[1] & LOCKSTEP else min)(self.window)  # in lockstep what is far comes again
            if p[1] & LOCKSTEP and frame > away:
                return
            del self.window[away]
        here = self.window.setdefault(frame, {"pieces": {}, "count": count, "head": p, "awaited": 0})
        here["pieces"][piece] = p[5]
        here["awaited"] |= p[1] & AWAITED  # said again, it may be awaited now

    def _oldest(self, left):
        """The oldest frame that may be taken: the next in turn, or with `left` in real time any. In lockstep none is left out but what the run awaits no
        more; and who comes in the middle begins with the one that it awaits."""
        for frame in sorted(self.window):
            here, flags = self.window[frame], self.window[frame]["head"][1]
            if len(here["pieces"]) < here["count"]:
                continue
            in_turn = frame == self.frame + self.header["divisor"] if self.frame is not None else flags & LOCKSTEP and frame < self.header["divisor"]
            if in_turn or (here["awaited"] if flags & LOCKSTEP else left):
                return frame
        return None

    def _take(self, frame):
        here = self.window[frame]
        self.telemetry = b"".join(here["pieces"][i] for i in range(here["count"]))
        if self.frame is not None:
            self.missed += max(0, (frame - self.frame) // self.header["divisor"] - 1)
        p = here["head"]
        self.frame, self.time_ns, self.answered, self.flags, self.gap = frame, p[3], p[4], p[1] & ~AWAITED, False
        self.taken = False
        self.here = (self.here + [frame])[-64:]
        self.window = {n: w for n, w in self.window.items() if n > frame}

    def _listen(self, seconds):
        """One packet, or none for so long: whether there was one. What ends the link is kept until all that came before is taken."""
        try:
            p = self._receive(seconds)
            if p and p[0] == DESCRIPTION_ID:
                self.ended = None if self._hear(p) else False
            elif p:
                self._gather(p)
        except (ConnectionResetError, ConnectionAbortedError) as error:
            self.ended = error
        return p is not None if self.ended is None else False

    def wait(self, timeout=5.0):
        until = time.monotonic() + timeout
        while True:
            frame = self._oldest(len(self.window) >= WINDOW)
            if frame is None and self.ended is None and self._listen(0):
                continue
            frame = self._oldest(True) if frame is None else frame
            if frame is not None:
                self._take(frame)
                return True
            ended, self.ended = self.ended, None
            if isinstance(ended, Exception):
                raise ended
            if ended is False:
                return False
            if self.gap:
                self._packet(AGAIN, NONE if self.frame is None else self.frame + self.header["divisor"])
                self.gap = False
            if not self._listen(min(until - time.monotonic(), PULSE_S)) and self.ended is None and time.monotonic() > self.pulse:
                self._ask_again()
                if self.ending is not None:
                    self._packet(END, self.ending)
                self.refused |= self._nobody_has_it()
            if time.monotonic() > until:
                raise TimeoutError("another peer commands the run; it must leave, or be silent for half a second" if self.taken else _no_frame(timeout))

    def _answer(self, payload, answered, number, time_ns):
        whole = self._piece_bytes(len(payload), 36)
        for i in range(max(1, -(-len(payload) // whole))):
            self._packet(COMMANDS, answered, payload[i * whole : (i + 1) * whole], i, number, time_ns)

    def _send(self, end):
        if end:
            self.ending = self.frame if self.ending is None else self.ending  # the first time stands
            self._packet(END, self.ending)
            return
        if self.frame not in self.kept:  # the first answer to a frame stands, as over shared memory
            self.sent += 1
            self.kept = dict(list(self.kept.items())[-1:] + [(self.frame, (bytes(self.command), self.frame, self.sent, self.time_ns))])
        self._answer(*self.kept[self.frame])

    def _see_it_end(self):
        """The word that the run shall end may be lost, and nobody would be there to say it again."""
        for _ in range(10):
            self._listen(0.02)
            if self.over or self.refused or self.ended is not None:
                return
            self._packet(END, self.ending)

    def close(self):
        if self.entered and self.ending is not None:
            self._see_it_end()
        if self.entered and not self.over:
            self._packet(LEAVE, NONE)
        self.entered = False
        self.socket.close()


def _host_and_port(url, rest):
    host, colon, port = rest.rpartition(":")
    if not colon or not host:
        raise ValueError("a link over a network is udp:host:port or tcp:host:port, not " + url)
    if ":" in host:
        raise ValueError(url + ": links have no IPv6: give an IPv4 address or a name that has one")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(url + ": the port is a number from 1 to 65535")
    return host, int(port)


def _serial_parts(url, rest, words):
    path, at, rate = rest.rpartition("@")
    path, rate = (path, rate) if at else (rest, "115200")
    bits = [w for w in words if re.fullmatch("[5-8][NEO][12]", w)]
    if not (rate.isascii() and rate.isdigit() and int(rate) > 0) or len(bits) > 1 or set(words) - set(bits) - {"rs485"}:
        raise ValueError(url + ": a serial port is serial:/dev/ttyUSB0@115200, and behind it ,8N1 ,rs485 ,slip or nothing")
    return path, int(rate), (bits or ["8N1"])[0], "rs485" in words


def _parts(url):
    """A URL's kind and what is after it, as its class takes them."""
    kind, _, rest = url.partition(":")
    if kind == "shm" and rest.startswith("/"):
        return SharedMemory, (rest,)
    if kind == "udp":
        return Packets, (_datagrams, *_host_and_port(url, rest))
    rest, *words = rest.split(",")
    slip = "slip" in words
    words = [w for w in words if w not in ("slip", "cobs")]
    if kind == "serial" and rest:
        return Packets, (_serial, *_serial_parts(url, rest, words), slip)
    if words or kind not in ("tcp", "unix") or (kind == "unix" and not rest.startswith("/")):
        raise ValueError("a link is shm:/name, udp:host:port, tcp:host:port, unix:/path or serial:/dev/ttyUSB0@115200, not " + url)
    return Packets, (_tcp, *_host_and_port(url, rest), slip) if kind == "tcp" else (_unix, rest, slip)


def _nobody(error, url, wait):
    """The same error in words for who wants a link; its type and errno stay."""
    kind, _, address = url.partition(":")
    if isinstance(error, _NoAnswerToKey) or (kind == "serial" and isinstance(error, FileNotFoundError)):
        return error
    if kind == "shm":
        why = "%s: %s" % (address, error) if error.errno is None else "no run has opened " + address
        return FileNotFoundError(errno.ENOENT, "%s; start a run whose file has a link of that name (tried for %g s)" % (why, wait), url)
    told = type(error)("nobody answers at %s; start a run whose file has a link there (tried for %g s)" % (address, wait))
    told.errno = errno.ENOENT if isinstance(error, FileNotFoundError) else errno.ECONNREFUSED
    return told


def open(url, wait=10.0, key_file=None):  # noqa: A001
    """shm:/name, udp:host:port, tcp:host:port, unix:/path or serial:/dev/ttyUSB0@115200; host an IPv4 address or a name that has one. Behind what streams
    may stand ,slip, behind a serial port ,8N1 and ,rs485. Tries again for `wait` seconds while nobody is there; then FileNotFoundError or
    ConnectionRefusedError says at which address. In packets with the key of the link's
    `key_file`; raises NotAKey where that is none, or the run wants one."""
    carrier, where = _parts(url)
    key = {}
    if key_file is not None:
        if carrier is not Packets:
            raise ValueError(url + ": a key is for links in packets, as over UDP")
        key = {"key": read_key(key_file)}
    until = time.monotonic() + wait
    while True:
        try:
            return carrier(*where, **key)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            if time.monotonic() > until:
                raise _nobody(error, url, wait) from None
            time.sleep(0.01)


def _echo(url, key_file):
    """Answers every frame until the run is over: what was seen in words, and why it ended before, or None."""
    seen = first = last = 0
    why = None
    with open(url, key_file=key_file) as link:
        try:
            while link.wait():
                link.send()
                last = max(last, link.frame)
                first = first if seen else link.frame
                seen += 1
        except (ConnectionError, TimeoutError) as error:
            why = str(error)
        lost = (last - first) // link.header["divisor"] + 1 - seen if seen else 0
    return f"echo: frames {first} to {last}: {seen} seen, {lost} lost, {seen} answered", why or ("frames were lost" if lost else None)


def main():
    words, key_file = sys.argv[1:], None
    if len(words) == 3 and words[0] == "--key-file":
        key_file, words = words[1], words[2:]
    if len(words) != 1:
        print("usage: orrery_client.py [--key-file FILE] URL", file=sys.stderr)
        return 2
    try:
        said, why = _echo(words[0], key_file)
    except (OSError, ValueError) as error:
        said, why = "", str(error)
    if said:
        print(said)
    if why:
        print("echo: " + why, file=sys.stderr)
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main())
