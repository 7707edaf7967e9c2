#!/usr/bin/env python3
"""A network between flight software and a run that loses, repeats, delays and reorders datagrams, as a seed says.

    network.py LISTEN_PORT RUN_PORT SEED PERCENT [GARBAGE_PERCENT]

Flight software talks to LISTEN_PORT of 127.0.0.1, the run is at RUN_PORT; each sender gets a socket of its own towards the run. In both directions each
datagram is lost, repeated and delayed with PERCENT each; one that is delayed is overtaken by those behind it. With GARBAGE_PERCENT, so many of the datagrams
are followed by a copy with a byte changed, half of the time in its heads, or its end cut off. The first line of output is "ready"; ended by SIGTERM it
says what it did. Serves the scripts of tests/e2e and tests/soak.
"""
import heapq
import random
import select
import signal
import socket
import sys
import time

HEADS = 16  # bytes of a packet's headers: half of the bytes that are changed are there
DELAY_S = 0.008  # at most: less than the 20 ms after which lockstep says a frame again


class Network:
    def __init__(self, listen, run, seed, percent, garbage):
        self.inner, self.run = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", run)
        self.inner.bind(("127.0.0.1", listen))
        self.outer, self.peers = {}, {}  # by peer; by socket
        self.waiting, self.number = [], 0  # (when, number, socket, to, datagram)
        # one for each direction, so that what one does is the same whatever the other does
        self.dice = {side: random.Random("%d %s" % (seed, side)) for side in ("out", "in")}
        self.part, self.garbage = percent / 100, garbage / 100
        self.done = {"passed": 0, "lost": 0, "repeated": 0, "delayed": 0, "garbled": 0}

    def _later(self, via, to, datagram, delay_s):
        self.number += 1
        heapq.heappush(self.waiting, (time.monotonic() + delay_s, self.number, via, to, datagram))

    def _garble(self, dice, datagram):
        if dice.random() < 0.5:
            return datagram[: dice.randrange(len(datagram) + 1)]
        places = min(len(datagram), HEADS) if dice.random() < 0.5 else len(datagram)
        at = dice.randrange(places) if datagram else 0
        return datagram[:at] + bytes([dice.randrange(256)]) + datagram[at + 1 :]

    def _pass(self, side, via, to, datagram):
        dice = self.dice[side]
        lost, repeated, delayed, garbled = (dice.random() < p for p in (self.part, self.part, self.part, self.garbage))
        delay_s = dice.random() * DELAY_S
        if garbled:
            self._later(via, to, self._garble(dice, datagram), 0)
        for what, so in (("lost", lost), ("repeated", repeated), ("delayed", delayed), ("garbled", garbled)):
            self.done[what] += so
        if repeated:
            self._later(via, to, datagram, dice.random() * DELAY_S)
        if not lost:
            self.done["passed"] += 1
            self._later(via, to, datagram, delay_s if delayed else 0)

    def _send_due(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, via, to, datagram = heapq.heappop(self.waiting)
            try:
                via.sendto(datagram, to)
            except OSError:
                pass  # nobody is there, or buffers are full: lost, too

    def _receive(self, one):
        try:
            datagram, sender = one.recvfrom(65536)
        except OSError:
            return  # nobody has the run's port: networks need not say so
        if one is not self.inner:
            self._pass("out", self.inner, self.peers[one], datagram)
            return
        if sender not in self.outer:
            self.outer[sender] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.peers[self.outer[sender]] = sender
        self._pass("in", self.outer[sender], self.run, datagram)

    def turn(self):
        self._send_due()
        nap_s = max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else 1
        for one in select.select([self.inner, *self.peers], [], [], nap_s)[0]:
            self._receive(one)


def main():
    numbers = [int(a) for a in sys.argv[1:4]] + [float(a) for a in sys.argv[4:]]
    network = Network(*numbers, *([0.0] if len(numbers) == 4 else []))

    def end(*_):
        print(" ".join("%s %d" % item for item in network.done.items()), flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    while True:
        network.turn()


if __name__ == "__main__":
    main()
