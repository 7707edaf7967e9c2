#!/usr/bin/env python3
"""A line between flight software and a run that garbles, delays, loses and is cut, as a seed says: what network.py is for datagrams.

    line.py KIND OUTER INNER SEED PERCENT CUTS

KIND     tcp: OUTER and INNER are ports of 127.0.0.1; unix (messages) and stream (bytes): paths of sockets; serial: links to the ends of a cable
PERCENT  of the pieces that are read from a stream so many, each, have a bit turned over, a byte lost, a byte doubled, rubbish put in, and their second half held
         up; of messages so many, each, are lost, repeated, held up (and so overtaken) and followed by a copy that is garbled
CUTS     so often it is cut while both sides talk: in the middle of a piece, by an end or by a reset, or the cable is pulled for 5 to 50 ms

Flight software talks to OUTER, the run is at INNER; each that comes has a way of its own to the run. The first line of output is "ready"; ended by SIGTERM it says
what it did. Serves torture.py.
"""
import os
import random
import select
import signal
import socket
import struct
import sys
import time

from wire import End

DELAY_S = 0.008  # at most: less than the 20 ms after which lockstep says a frame again
PIECES_TO_CUT = 20, 80  # that go either way, from one cut to the next


class Side:
    """One end: what is to be written into it, in order (a stream) or as it is due (messages)."""

    def __init__(self, fd, close, messages):
        self.fd, self.close, self.messages, self.out, self.spoke = fd, close, messages, [], False

    def take(self):
        return os.read(self.fd, 65536)

    def put(self, data, delay_s):
        self.out.append((time.monotonic() + delay_s, data))

    def flush(self):
        now = time.monotonic()
        if self.messages:
            due, self.out = [d for t, d in self.out if t <= now], [(t, d) for t, d in self.out if t > now]
            for data in due:
                try:
                    os.write(self.fd, data)
                except BlockingIOError:
                    pass  # lost, too
            return
        while self.out and self.out[0][0] <= now:
            try:
                gone = os.write(self.fd, self.out[0][1])
            except BlockingIOError:
                return
            self.out[0] = (now, self.out[0][1][gone:])
            if not self.out[0][1]:
                self.out.pop(0)


class Line:
    def __init__(self, kind, outer, inner, seed, percent, cuts):
        self.kind, self.outer, self.inner, self.cuts, self.part = kind, outer, inner, cuts, percent / 100
        self.dice = random.Random("%d line" % seed)
        self.pairs, self.listener, self.due = [], None, 0
        self.done = {what: 0 for what in ("passed", "bit", "lost", "doubled", "rubbish", "held", "garbled", "cut")}
        self._next_cut()
        if kind == "serial":
            self._plug()
        else:
            self.listener = self._socket()
            if kind == "tcp":
                self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.listener.bind(self._at(outer))
            self.listener.listen()

    def _socket(self):
        family = socket.AF_INET if self.kind == "tcp" else socket.AF_UNIX
        return socket.socket(family, socket.SOCK_SEQPACKET if self.kind == "unix" else socket.SOCK_STREAM)

    def _at(self, place):
        return ("127.0.0.1", int(place)) if self.kind == "tcp" else place

    def _next_cut(self):
        self.due = self.dice.randint(*PIECES_TO_CUT) if self.cuts else 0

    def _plug(self):
        ends = [End(self.inner), End(self.outer)]
        self.pairs = [[Side(e.master, e.pull, False) for e in ends]]

    def _accept(self):
        came, there = self.listener.accept()[0], self._socket()
        try:
            there.connect(self._at(self.inner))
        except OSError:
            came.close()  # no run is there
            there.close()
            return
        for s in (came, there):
            s.setblocking(False)
            if self.kind == "tcp":
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pairs.append([Side(s.fileno(), s.close, self.kind == "unix") for s in (came, there)])
        for side, s in zip(self.pairs[-1], (came, there)):
            side.socket = s

    def _drop(self, pair):
        self.pairs.remove(pair)
        for side in pair:
            side.close()
        if self.kind == "serial":
            time.sleep(self.dice.uniform(0.005, 0.05))
            self._plug()

    def _cut(self, pair):
        self.done["cut"] += 1
        self.cuts -= 1
        self._next_cut()
        if self.kind == "tcp" and self.dice.random() < 0.5:
            for side in pair:
                side.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._drop(pair)

    def _hit(self, what):
        hit = self.dice.random() < self.part
        self.done[what] += hit
        return hit

    def _bytes(self, to, data):
        place = lambda: self.dice.randrange(len(data)) if data else 0
        data = bytearray(data)
        if self._hit("bit") and data:
            data[place()] ^= 1 << self.dice.randrange(8)
        if self._hit("lost") and data:
            del data[place()]
        if self._hit("doubled") and data:
            at = place()
            data[at:at] = data[at : at + 1]
        if self._hit("rubbish"):
            at = place()
            data[at:at] = self.dice.randbytes(self.dice.randrange(1, 40))
        half = self.dice.randrange(len(data) + 1) if self._hit("held") else len(data)
        to.put(bytes(data[:half]), 0)
        if data[half:]:
            to.put(bytes(data[half:]), self.dice.uniform(0, DELAY_S))

    def _message(self, to, data):
        if not self._hit("lost"):
            to.put(data, self.dice.uniform(0, DELAY_S) if self._hit("held") else 0)
        if self._hit("doubled"):
            to.put(data, self.dice.uniform(0, DELAY_S))
        if self._hit("garbled"):
            bad = bytearray(data)
            bad[self.dice.randrange(len(bad))] ^= 1 << self.dice.randrange(8)
            to.put(bytes(bad if self.dice.random() < 0.5 else bad[: self.dice.randrange(1, len(bad) + 1)]), 0)  # one without a byte would be an end

    def _carry(self, pair, side):
        other = pair[1 - pair.index(side)]
        data = side.take()
        if not data:
            raise ConnectionResetError
        side.spoke = True
        self.done["passed"] += 1
        if self.due and all(s.spoke for s in pair):
            self.due -= 1
            if self.due == 0:
                other.put(data[: len(data) // 2] if not other.messages else data, 0)
                other.flush()
                self._cut(pair)
                return
        (self._message if other.messages else self._bytes)(other, data)

    def turn(self):
        sides = {side.fd: (pair, side) for pair in self.pairs for side in pair}
        waits = any(side.out for _, side in sides.values())
        poll = select.poll()
        for fd in [*sides, *([self.listener.fileno()] if self.listener else [])]:
            poll.register(fd, select.POLLIN)
        ready = [fd for fd, _ in poll.poll(1 if waits else 1000)]
        for fd, (pair, side) in sides.items():
            if pair not in self.pairs:
                continue
            try:
                if fd in ready:
                    self._carry(pair, side)
                if pair in self.pairs:
                    for s in pair:
                        s.flush()
            except BlockingIOError:
                pass
            except OSError:  # one end is gone, and so is the other; what was on its way arrives where it can
                try:
                    for s in pair:
                        s.out = [(0, data) for _, data in s.out]
                        s.flush()
                except OSError:
                    pass
                if pair in self.pairs:
                    self._drop(pair)
        if self.listener and self.listener.fileno() in ready:
            self._accept()


def main(argv):
    line = Line(argv[0], argv[1], argv[2], int(argv[3]), float(argv[4]), int(argv[5]))

    def end(*_):
        print(" ".join("%s %d" % item for item in line.done.items()), flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    while True:
        line.turn()


if __name__ == "__main__":
    main(sys.argv[1:])
