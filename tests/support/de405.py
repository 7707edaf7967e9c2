"""Sun and Moon against JPL's DE405, as casacore has it (Debian: casacore-data-jpl-de405).

    de405.py FOLDER PROGRAM [DAYS]     the worst over the table's century, a moment every so many days

PROGRAM takes moments (TT, modified Julian dates) on its standard input and answers each with a line: Sun and Moon from the Earth's centre, m.

The table has a row for every 32 days: the epoch MJD (TDB) in table.f0, and in table.f0i an array of doubles, little-endian, which is JPL's record without its two
dates. There each body has Chebyshev coefficients of x, y, z, km, one set for each of so many equal parts of the 32 days:

    x(t) = sum c_k T_k(s),   s from -1 to 1 within the part

The places are JPL's: of the Earth-Moon barycentre and the Sun from the barycentre of the solar system, of the Moon from the Earth.
"""
import math
import struct
import subprocess
import sys

SPAN = 32  # days of a row
BARYCENTRE, MOON, SUN = (231, 13, 2), (441, 13, 8), (753, 11, 2)  # where they begin (from 1, two dates before), coefficients, parts
RECORD = 1018  # numbers
EMRAT = 81.30056  # mass of the Earth over that of the Moon, of DE405


def rows(folder):
    """The arrays by their epoch, and the epochs as the table's own file has them."""
    with open(folder + "/table.f0i", "rb") as file:
        arrays = file.read()
    with open(folder + "/table.f0", "rb") as file:
        epochs = file.read()
    at, starts = 16, []
    while at + 12 + 8 * RECORD <= len(arrays):
        one, dimensions, length = struct.unpack_from("<III", arrays, at)
        assert (one, dimensions, length) == (1, 1, RECORD), f"array at byte {at}: {one} {dimensions} {length}"
        starts.append(at + 12)
        at += 12 + 8 * RECORD + 4
    # Each epoch stands before the place of its array: a double, then the place.
    first = epochs.index(struct.pack("<I", starts[0] - 12), 512) - 8
    begin = struct.unpack_from("<d", epochs, first)[0]
    found = {}
    for k, start in enumerate(starts):
        mjd = begin + SPAN * k
        assert struct.pack("<d", mjd) in epochs, f"the table has no epoch {mjd}"
        found[mjd] = start
    return begin, begin + SPAN * len(starts), found, arrays


def chebyshev(arrays, start, body, offset):
    """Position, km, so many days into the row."""
    place, count, parts = body
    part = min(int(offset / SPAN * parts), parts - 1)
    s = 2 * (offset / SPAN * parts - part) - 1
    out = []
    for axis in range(3):
        c = struct.unpack_from(f"<{count}d", arrays, start + 8 * (place - 3 + (3 * part + axis) * count))
        low, high, value = 1.0, s, c[0] + c[1] * s
        for k in range(2, count):
            low, high = high, 2 * s * high - low
            value += c[k] * high
        out.append(value)
    return out


def place(table, mjd):
    """Sun and Moon from the Earth's centre, km; mjd is TDB."""
    begin, end, found, arrays = table
    row = begin + SPAN * math.floor((mjd - begin) / SPAN)
    start, offset = found[row], mjd - row
    barycentre, moon, sun = (chebyshev(arrays, start, body, offset) for body in (BARYCENTRE, MOON, SUN))
    earth = [b - m / (1 + EMRAT) for b, m in zip(barycentre, moon)]
    return [s - e for s, e in zip(sun, earth)], moon


def joints(table):
    """How far the pieces miss each other where they meet, km: a wrong reading of the file would not be continuous."""
    begin, end, found, arrays = table
    worst = 0
    for body in (BARYCENTRE, MOON, SUN):
        step = SPAN / body[2]
        for k in range(1, 400):
            at = begin + k * step
            row = begin + SPAN * math.floor((at - begin) / SPAN)
            offset = at - row
            before = chebyshev(arrays, found[row], body, offset - 1e-9) if offset else chebyshev(arrays, found[row - SPAN], body, SPAN)
            worst = max(worst, math.dist(before, chebyshev(arrays, found[row], body, offset)))
    return worst


def main():
    table = rows(sys.argv[1])
    begin, end = table[:2]
    days = float(sys.argv[3]) if len(sys.argv) > 3 else 2.37
    gap = joints(table)
    assert gap < 0.01, f"the pieces of the table are {gap} km apart"
    moments = [begin + 1 + days * k for k in range(int((end - begin - 2) / days))]
    said = subprocess.run([sys.argv[2]], input="".join(f"{t!r}\n" for t in moments), capture_output=True, text=True, check=True).stdout.split("\n")
    worst, sums = [0, 0], [0, 0]
    for t, line in zip(moments, said):
        numbers = [1e-3 * float(x) for x in line.split()]
        for k, true in enumerate(place(table, t)):  # TT for TDB: 1.7 ms, 1.7 m of the Moon
            off = math.dist(true, numbers[3 * k:3 * k + 3])
            worst[k] = max(worst[k], off)
            sums[k] += off * off
    years = [1858.877 + x / 365.25 for x in (begin, end)]
    print(f"{len(moments)} moments from {years[0]:.1f} to {years[1]:.1f}: Sun within {worst[0]:.1f} km ({math.sqrt(sums[0] / len(moments)):.1f} rms), "
          f"Moon within {worst[1]:.1f} km ({math.sqrt(sums[1] / len(moments)):.1f} rms)")
    return not (len(moments) > 1000 and worst[0] < 12 and worst[1] < 25)


sys.exit(main())
