"""Captures for the tests: records the datagrams to a run, and writes them as pcap files of every kind.

  pcap.py record PORT RUN_PORT FILE   flight software talks to PORT, the run is at RUN_PORT; ended by SIGTERM it writes to FILE each datagram to the run
  pcap.py write FILE KIND PORT OUT [PERIOD SEED]   KIND is ethernet, vlan, cooked, cooked2 or raw, then -us or -ns, then -little or -big; with PERIOD the stamps are
                                      simulated: what begins with the bytes of 0x300 at 0, the k-th of the others half a period and at most 0.4 periods off k periods
  pcap.py cut FILE OUT BYTES          without the last so many bytes
"""
import random
import select
import signal
import socket
import struct
import sys
import time


def record(port, run_port, path):
    def end(*_):
        raise SystemExit

    signal.signal(signal.SIGTERM, end)
    front, run, client = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM), None
    front.bind(("127.0.0.1", port))
    run.connect(("127.0.0.1", run_port))
    seen = []
    print("ready", flush=True)
    try:
        while True:
            for s in select.select([front, run], [], [])[0]:
                try:
                    data, sender = s.recvfrom(65535)
                except ConnectionRefusedError:
                    continue
                if s is front:
                    client = sender
                    seen.append((time.time_ns(), data))
                    try:
                        run.send(data)
                    except ConnectionRefusedError:
                        pass
                elif client:
                    front.sendto(data, client)
    finally:
        with open(path, "wb") as out:
            for stamp, data in seen:
                out.write(struct.pack("<QI", stamp, len(data)) + data)


def recorded(path):
    everything, at = open(path, "rb").read(), 0
    while at < len(everything):
        stamp, count = struct.unpack_from("<QI", everything, at)
        yield stamp, everything[at + 12 : at + 12 + count]
        at += 12 + count


def ip(data, port, protocol=17, flags=0):
    """Of protocol 17 a datagram to the port, with four bytes of options every now and then."""
    options = b"\x01" * 4 if len(data) % 3 == 0 else b""
    inner = struct.pack(">HHHH", 40000, port, 8 + len(data), 0) + data
    head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(inner), 7, flags, 64, protocol, 0)
    return head + socket.inet_aton("10.0.0.2") + socket.inet_aton("10.0.0.1") + options + inner


AROUND = {
    "ethernet": (1, lambda kind: bytes(12) + struct.pack(">H", kind)),
    "vlan": (1, lambda kind: bytes(12) + struct.pack(">HHH", 0x8100, 5, kind)),
    "cooked": (113, lambda kind: bytes(14) + struct.pack(">H", kind)),
    "cooked2": (276, lambda kind: struct.pack(">H", kind) + bytes(18)),
    "raw": (101, lambda kind: b""),
}


def write(source, kind, port, path, period=None, seed=0):
    around, unit, order = kind.split("-")
    link, head = AROUND[around]
    order = "<" if order == "little" else ">"
    per_second = 10**6 if unit == "us" else 10**9
    draw, k = random.Random(int(seed)), 0
    with open(path, "wb") as out:
        out.write(struct.pack(order + "IHHiIII", 0xA1B2C3D4 if unit == "us" else 0xA1B23C4D, 2, 4, 0, 0, 65535, link))

        def put(ns, packet, kind=0x0800, whole=None):
            bytes_ = head(kind) + packet
            part = ns % 10**9 * per_second // 10**9
            out.write(struct.pack(order + "IIII", ns // 10**9, part, len(bytes_), whole or len(bytes_)) + bytes_)

        for stamp, data in recorded(source):
            if period:
                late = 0.5 + draw.uniform(-0.4, 0.4)
                hello = data[:4] == b"\0\0\x03\0"
                stamp = 1700000000 * 10**9 + (0 if hello else round((k + late) * float(period) * 1e9))
                k += not hello
            if draw.random() < 0.2:  # what is none of the link's
                put(stamp, ip(data, port + 1))
                put(stamp, ip(data, port, protocol=6))
                put(stamp, ip(data, port, flags=0x2000))
                put(stamp, ip(data, port, flags=1))
                if around != "raw":
                    put(stamp, ip(data, port), kind=0x86DD)
                put(stamp, ip(data, port)[:10])
                put(stamp, b"")
            put(stamp, ip(data, port) + bytes(draw.choice((0, 3))))  # Ethernet fills up


if sys.argv[1] == "record":
    record(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
elif sys.argv[1] == "write":
    write(sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
else:
    content = open(sys.argv[2], "rb").read()
    open(sys.argv[3], "wb").write(content[: len(content) - int(sys.argv[4])])
