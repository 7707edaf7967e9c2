"""Lines to a run, for programs of the tests that speak packets of somebody else: made from the documents alone (RFC 1055 for SLIP, Cheshire and Baker
for COBS, a CRC-32C by its polynomial), with nothing of io/client.

    line = Line("serial:/dev/pts/5", "raw")      # tcp:PORT, accept:PORT, unix:PATH, packets:PATH (seqpacket), udp:PORT; raw, cobs, slip or none
    line.send(b"...")      # one packet
    line.write(b"...")     # bytes as they are
    line.packet(find, s)   # the next packet, b"" after s seconds without one; in a raw stream find(bytes) says (skip, length)
"""
import os
import select
import socket
import termios
import time
import tty


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def slip(data):
    return b"\xc0" + data.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


def unslip(frame):
    return frame.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")


def cobs(data):
    out = b"\0"
    rest = data + b"\0"
    while rest:
        run = rest.split(b"\0", 1)[0][:254]
        out += bytes([len(run) + 1]) + run
        rest = rest[len(run) + (len(run) < 254):]
        if len(run) == 254 and rest == b"\0":
            break  # what was added stands behind a full block
    return out + b"\0"


def uncobs(frame):
    out = b""
    while frame:
        n, run = frame[0], frame[1 : frame[0]]
        if n == 0 or len(run) != n - 1:
            return b""
        frame = frame[n:]
        out += run + (b"\0" if n < 255 and frame else b"")
    return out


class Line:
    def __init__(self, url, framing="raw", patience=30):
        kind, where = url.split(":", 1)
        self.framing, self.waiting, self.listener, self.bad = framing, b"", None, 0
        self.message = kind in ("packets", "udp")
        until = time.monotonic() + patience
        if kind == "accept":
            self.listener = socket.create_server(("127.0.0.1", int(where)))
            self.listener.settimeout(patience)
            self.again()
            return
        while True:
            try:
                self.fd = self.open(kind, where)
                return
            except (OSError, termios.error):
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def open(self, kind, where):
        if kind == "serial":
            fd = os.open(where, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(fd)
            return fd
        family = socket.AF_UNIX if kind in ("unix", "packets") else socket.AF_INET
        s = socket.socket(family, {"packets": socket.SOCK_SEQPACKET, "udp": socket.SOCK_DGRAM}.get(kind, socket.SOCK_STREAM))
        try:
            s.connect(where if family == socket.AF_UNIX else ("127.0.0.1", int(where)))
            if kind == "tcp":
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            s.close()
            raise
        return s.detach()

    def again(self):
        """Another connection, where we listen."""
        s = self.listener.accept()[0]
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.fd, self.waiting = s.detach(), b""

    def close(self):
        os.close(self.fd)

    def write(self, data):
        while data:
            data = data[os.write(self.fd, data) :]

    def send(self, packet):
        if self.framing == "slip":
            packet = slip(packet + crc32c(packet).to_bytes(4, "little"))
        elif self.framing == "cobs":
            packet = cobs(packet + crc32c(packet).to_bytes(4, "little"))
        self.write(packet)

    def next(self, find):
        """A packet of what waits, or None."""
        if self.framing == "raw" and find:
            skip, length = find(self.waiting)
            packet, self.waiting = self.waiting[skip : skip + length], self.waiting[skip + length :]
            self.bad += skip > 0
            return packet or None
        end, undo = (b"\xc0", unslip) if self.framing == "slip" else (b"\0", uncobs)
        while end in self.waiting:
            frame, self.waiting = self.waiting.split(end, 1)
            packet = undo(frame)
            if len(packet) > 4 and crc32c(packet[:-4]).to_bytes(4, "little") == packet[-4:]:
                return packet[:-4]
            self.bad += frame != b""
        return None

    def packet(self, find=None, seconds=0.2):
        until = time.monotonic() + seconds
        while True:
            packet = None if self.message else self.next(find)
            left = until - time.monotonic()
            if packet or left <= 0:
                return packet or b""
            if select.select([self.fd], [], [], left)[0]:
                came = os.read(self.fd, 65536)
                if not came:
                    raise EOFError
                if self.message:
                    return came
                self.waiting += came
