"""A TCP connection that is cut again and again: what comes to port FROM goes to port TO of this host, and back.

    tcp_cut.py FROM TO SEED COUNT

Cuts COUNT times, 50 to 150 ms apart, as the seed says, in the middle of whatever is on its way; every other cut is a reset. Says "cut COUNT" after the
last. Ends when its standard input does, or by a signal.
"""
import random
import select
import socket
import struct
import sys
import time


def main(argv):
    here, there, draw, count = int(argv[0]), int(argv[1]), random.Random(int(argv[2])), int(argv[3])
    listener = socket.create_server(("127.0.0.1", here))
    left, pair, due = count, [], None
    while True:
        readable = select.select([listener, sys.stdin, *pair], [], [], 0.005)[0]
        if sys.stdin in readable and not sys.stdin.buffer.read1(100):
            return 0
        if listener in readable:
            for s in pair:
                s.close()
            try:
                pair = [listener.accept()[0], socket.create_connection(("127.0.0.1", there))]
            except ConnectionRefusedError:
                return 0  # the run is over
            for s in pair:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            due = time.monotonic() + draw.uniform(0.05, 0.15) if left else None
            continue
        try:
            for s, other in zip(pair, pair[::-1]):
                if s in readable:
                    data = s.recv(65536)
                    other.sendall(data[: len(data) // 2] if due and time.monotonic() > due else data)
                    if not data:
                        raise ConnectionResetError
        except (ConnectionResetError, BrokenPipeError):
            for s in pair:
                s.close()
            pair = []
        if due and pair and time.monotonic() > due:
            left, due = left - 1, None
            for s in pair:
                if left % 2:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.close()
            pair = []
            if left == 0:
                print("cut", count, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
