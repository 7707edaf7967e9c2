"""Flight software that has a VectorNav VN-100: polls its binary output 1 over a serial line and prints what it reads.

    vn100_host.py PORT COUNT SEED

Made from the VN-100 User Manual, UM001 v2.22, chapters 3.2 and 4, alone: the check of both directions is first held to the manual's own example. A row of
what it prints has the time in ns and the six numbers as hexadecimal floats. With a SEED other than 0 it sends rubbish before some polls, and cuts
some polls off and begins anew, as software that is restarted does.
"""
import random
import struct
import sys
import time

import wires

EXAMPLE = bytes.fromhex("FA01080093502E42833EF13F48B504BB9288")  # yaw, pitch and roll, chapter 4.3.7, example 1
LENGTHS = (8, 8, 8, 12, 16, 12, 24, 12, 12, 24, 20, 28, 2, 4, 8)  # of the fields of group 1
TIME, RATE, ACCEL = 0, 5, 8


def crc16(data):  # the manual's bitwise steps, written as a loop over bits
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def request(text):  # chapter 3.2: the XOR of all between the dollar sign and the asterisk
    check = 0
    for c in text.encode():
        check ^= c
    return b"$%s*%02X\r\n" % (text.encode(), check)


def find(data):
    """The first packet of group 1 that is right: what lies before it, and its length."""
    at = 0
    while True:
        at = data.find(b"\xfa\x01", at)
        if at < 0:
            return max(0, len(data) - 1), 0
        if len(data) < at + 4:
            return at, 0
        fields = struct.unpack_from("<H", data, at + 2)[0]
        length = 4 + sum(n for i, n in enumerate(LENGTHS) if fields >> i & 1) + 2
        if len(data) < at + length:
            return at, 0
        if crc16(data[at + 1 : at + length]) == 0:  # with its own bytes behind it the remainder is 0
            return at, length
        at += 1


def read(packet):
    fields, at, out = struct.unpack_from("<H", packet, 2)[0], 4, {}
    for i, n in enumerate(LENGTHS):
        if fields >> i & 1:
            out[i] = packet[at : at + n]
            at += n
    return out


def main(argv):
    assert find(b"\x01\x02" + EXAMPLE + b"\xfa") == (2, 18) and request("VNBOM,1") == b"$VNBOM,1*45\r\n"
    line, count, draw = wires.Line("serial:" + argv[0], "raw"), int(argv[1]), random.Random(int(argv[2]))
    poll, spoils, begin = request("VNBOM,1"), argv[2] != "0", time.monotonic()
    for i in range(count):
        if spoils and i % 3 == 1:
            line.write(bytes(draw.choice(b"$VNBOM,1*45\r\n\xfa") for _ in range(draw.randrange(1, 40))))
        if spoils and i % 5 == 2:
            line.write(poll[: draw.randrange(1, len(poll))])
        line.write(poll)
        packet = line.packet(find, 60)
        assert packet, "no answer to poll %d after %.1f s" % (i, time.monotonic() - begin)
        got = read(packet)
        assert sorted(got) == [TIME, RATE, ACCEL], got
        numbers = struct.unpack("<3f", got[RATE]) + struct.unpack("<3f", got[ACCEL])
        print(struct.unpack("<Q", got[TIME])[0], *(x.hex() for x in numbers))
    line.write(poll)  # the last answer is nobody's
    assert line.bad == 0, "%d gaps in what the unit sends" % line.bad


if __name__ == "__main__":
    main(sys.argv[1:])
