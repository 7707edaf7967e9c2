"""io/client/orrery_client.py alone: packets byte by byte, addresses, and a link over UDP to an executive that is played here, which loses, cuts,
repeats and reorders as a network does. tests/e2e/python.sh runs it with nothing but the standard library, and flies the module over both carriers."""
import errno
import fcntl
import os
import socket
import re
import struct
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../io/client"))
import orrery_client as oc

TELEMETRY_ID, COMMAND_ID = 0x0e80, 0x1e80
RATES = (1.5, -2.5, 0.0, 1e-300, 4.0, 5.0, 6.0, 7.0)


def telemetry_packet(message_id, frame, time_ns=0, answered=oc.NONE, piece=b"", flags=0):
    described = message_id == oc.DESCRIPTION_ID
    packet = struct.pack(">HHHIHHH", message_id, 0xC000, 44 + len(piece) - 7, time_ns // 10**9, 0, 0 if described else message_id, flags)
    packet += struct.pack("<QqQ", frame, time_ns, answered) + piece
    return packet + struct.pack("<I", oc.crc32c(packet[16 if described else 12 :]))


def word_packet(flags, time_ns=0, answered=0):
    """What the run says of itself."""
    return telemetry_packet(oc.DESCRIPTION_ID, 2**64 - 1 - flags, time_ns, answered, flags=flags)


REWRITTEN = list(range(8 * 2 + 2, 8 * 4)) + list(range(8 * 6, 8 * 12))  # bits of sequence and time, which cFE's tools write anew


def each_bit_wrong(packet, but):
    for bit in set(range(8 * len(packet))) - set(but):
        bad = bytearray(packet)
        bad[bit // 8] ^= 0x80 >> bit % 8
        yield bytes(bad)


def description(run=1, packet_max=100, divisor=10, version=oc.VERSION):
    """Eight real numbers, a whole one and a flag out; a level and a pulse in."""
    channels = [("gyro.rate", "rad/s", 8, 0, 0, 0, 0), ("mode", "", 1, 64, 1, 0, 0), ("on", "", 1, 72, 2, 0, 0),
                ("wheel.torque", "N m", 1, 0, 0, 1, 0), ("jet.on_time", "s", 1, 8, 0, 1, 1)]
    names, rows = b"", b""
    for name, unit, count, offset, kind, direction, hold in channels:
        at = len(names)
        names += name.encode() + b"\0" + unit.encode() + b"\0"
        rows += oc.CHANNEL.pack(at, at + len(name) + 1, count, offset, kind, direction, hold, -1.0, 1.0)
    directory_at = 128
    names_at = directory_at + len(rows)
    head = oc.HEADER.pack(oc.MAGIC, 0x01020304, version, 0x1111222233334444, names_at + len(names), 10**7, divisor, len(channels),
                          directory_at, names_at, len(names), 73, 16, 0, 0, 0, 0, os.getpid(), TELEMETRY_ID, COMMAND_ID, packet_max, run)
    return head.ljust(directory_at, b"\0") + rows + names


def segment():
    """The same link in shared memory: one frame is published."""
    text, slot = bytearray(description()), lambda payload: (8 * (5 + -(-payload // 8)) + 63) // 64 * 64
    front = text[128:]
    out_at = -(-(oc.DIRECTORY_AT + len(front)) // 64) * 64
    in_at = out_at + oc.SLOTS * slot(73)
    head = list(oc.HEADER.unpack_from(text))
    head[4] = in_at + oc.SLOTS * slot(16)  # bytes
    head[8:10] = oc.DIRECTORY_AT, head[9] - head[8] + oc.DIRECTORY_AT
    head[13:17] = out_at, slot(73), in_at, slot(16)
    image = bytearray(head[4])
    oc.HEADER.pack_into(image, 0, *head)
    struct.pack_into("<5I", image, oc.RUN_AT, 1, 0, 0, 1, 0)
    image[oc.DIRECTORY_AT : oc.DIRECTORY_AT + len(front)] = front
    struct.pack_into("<QQqQQ8dqB", image, out_at + slot(73), 2, 0, 0, oc.NONE, 0, *RATES, -7, 1)
    return bytes(image)


class Executive(threading.Thread):
    """Answers questions and keeps commands."""

    def __init__(self, run=1, port=0, version=oc.VERSION):
        super().__init__(daemon=True)
        self.version = version
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.socket.settimeout(0.05)
        self.port, self.run_id, self.commands, self.peer, self.over = self.socket.getsockname()[1], run, [], None, False
        self.arrived = threading.Condition()
        self.start()

    def run(self):
        while not self.over:
            try:
                packet, peer = self.socket.recvfrom(9000)
            except TimeoutError:
                continue
            message_id, function = struct.unpack_from(">H", packet)[0], packet[6]
            if message_id == oc.DESCRIPTION_ID | oc.COMMAND_FLAG and function == oc.DESCRIBE:
                text, number = description(self.run_id, version=self.version), struct.unpack_from("<Q", packet, 8)[0]
                piece = text[number * 200 : number * 200 + 200]
                self.socket.sendto(telemetry_packet(oc.DESCRIPTION_ID, number, self.run_id << 32, len(text), piece), peer)
                continue
            with self.arrived:
                self.peer = peer
                if function != oc.BEAT:
                    self.commands.append(packet)
                self.arrived.notify_all()

    def await_commands(self, count):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.commands) >= count, 10), self.commands
            return self.commands

    def pieces(self, frame, flags=0):
        payload = struct.pack("<8dqB", *RATES, -7, 1)
        return [telemetry_packet(TELEMETRY_ID + i, frame, frame * 10**6, oc.NONE, payload[56 * i : 56 * i + 56], flags) for i in range(2)]

    def send(self, *packets):
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.peer, 10)
        for p in packets:
            self.socket.sendto(p, self.peer)

    def stop(self):
        self.over = True
        self.join()
        self.socket.close()


class Packets(unittest.TestCase):
    def test_the_checksum_is_that_of_rfc_3720(self):
        for data, crc in ((bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E), (b"123456789", 0xE3069283)):
            self.assertEqual(oc.crc32c(data), crc)

    def test_a_command_in_a_slot_has_the_sum_that_the_run_reckons(self):
        payload = struct.pack("<5d3B", 0.5, -0.5, 1e-300, 3.0, -7.25, 1, 0, 1)  # the numbers of tests/unit/io/links/carriers/shm_peers.c
        command = oc.slot_command(1234, 0x1111222233334444, 7, 1, payload, 3)
        self.assertEqual((len(command), command[:24]), (80, struct.pack("<3Q", 1234, 0x1111222233334444, 3 << 48 | 1 << 32 | 7)))
        self.assertEqual((command[32:], struct.unpack_from("<Q", command, 24)[0]), (payload + bytes(5), 0x18264B71926587EA))

    def test_a_command_is_laid_out_as_cfe_has_it(self):
        p = oc.write_command(0x1881, 0x4005, 3, 9, -1, 7, b"x" * 8)
        self.assertEqual(p[:7], bytes((0x18, 0x81, 0xC0, 0x05, 0, len(p) - 7, 3)))
        self.assertEqual(struct.unpack_from("<QqQ", p, 8), (9, -1, 7))
        total = 0xFF
        for b in p:
            total ^= b
        self.assertEqual((len(p), total), (44, 0))

    def test_a_packet_with_any_one_bit_wrong_is_refused(self):
        good = telemetry_packet(TELEMETRY_ID, 5, 3, 4, bytes(range(16)), 2)
        self.assertEqual(oc.read_telemetry(good), (TELEMETRY_ID, 2, 5, 3, 4, bytes(range(16))))
        for bad in each_bit_wrong(good, REWRITTEN):
            self.assertIsNone(oc.read_telemetry(bad), bad)
        for bad in each_bit_wrong(good, set(range(8 * len(good))) - set(REWRITTEN)):
            self.assertEqual(oc.read_telemetry(bad), oc.read_telemetry(good))
        self.assertIsNone(oc.read_telemetry(good[:-1]))
        self.assertIsNone(oc.read_telemetry(b""))

    def test_with_any_one_byte_wrong_no_piece_of_a_description_is_a_word_of_the_run_and_no_word_another(self):
        piece, end = telemetry_packet(oc.DESCRIPTION_ID, oc.ENDED, 3, 4, b"description"), word_packet(oc.ENDED)
        self.assertEqual(oc.read_telemetry(end)[1], oc.ENDED)
        for good in (piece, end):
            for at in range(len(good)):
                for change in range(1, 256):
                    bad = good[:at] + bytes([good[at] ^ change]) + good[at + 1 :]
                    p, was = oc.read_telemetry(bad), oc.read_telemetry(good)
                    if p is not None and p != was:  # a word without flags is a piece that nobody asks for
                        self.assertEqual((good, p), (end, (was[0], 0, *was[2:])))


class Seals(unittest.TestCase):
    def test_any_one_bit_wrong_is_forged_and_each_packet_is_taken_once(self):
        ours, theirs = oc.Seal(bytes(range(32))), oc.Seal(bytes(range(32)))
        ours.run = theirs.run = 7
        theirs.peer = ours.peer  # as a run seals for its peer
        packets = [theirs.put(telemetry_packet(TELEMETRY_ID, k)) for k in range(3)]
        for bit in range(8 * len(packets[0])):
            bad = bytearray(packets[0])
            bad[bit // 8] ^= 1 << bit % 8
            self.assertEqual(ours.take(bytes(bad)), (None, "forged"))
        for k in (1, 0, 2):
            self.assertEqual(ours.take(packets[k]), (telemetry_packet(TELEMETRY_ID, k), "sealed"))
            self.assertEqual(ours.take(packets[k]), (None, "replayed"))
        self.assertEqual(oc.Seal(bytes(32)).take(packets[0]), (None, "forged"))
        self.assertEqual(ours.take(packets[0][:39]), (None, "forged"))
        self.assertEqual(ours.take(ours.put(oc.write_command(COMMAND_ID, 0, 0, 0, 0, 0))), (None, "forged"))  # our own, sent back

    def test_what_is_of_another_run_or_for_another_is_not_taken(self):
        key = bytes(range(32))
        ours, run = oc.Seal(key), oc.Seal(key)
        run.run = 8
        self.assertEqual(ours.take(run.put(telemetry_packet(TELEMETRY_ID, 0))), (None, "replayed"))  # not for us, and tells nothing
        self.assertEqual(ours.run, 0)
        run.peer = ours.peer
        self.assertEqual(ours.take(run.put(telemetry_packet(TELEMETRY_ID, 0)))[1], "sealed")
        run.run = 9
        self.assertEqual(ours.take(run.put(telemetry_packet(TELEMETRY_ID, 0))), (None, "another run"))

    def test_counters_are_taken_once_whatever_their_order(self):
        ours, run = oc.Seal(bytes(32)), oc.Seal(bytes(32))
        ours.run = run.run = 1
        run.peer, newest, came = ours.peer, 0, set()
        for k in range(6000):
            run.sent = (k + (k * 7907) % (40 if k % 5 else 2600)) // 2
            counter = run.sent + 1
            old = counter in came or counter + oc.SEEN <= newest
            self.assertEqual(ours.take(run.put(b"\x08"))[1], "replayed" if old else "sealed")
            came.add(counter)
            newest = max(newest, counter)
        self.assertGreater(len(came), 1000)
        self.assertLess(len(ours.seen), 2 * oc.SEEN + 2)


class Versions(unittest.TestCase):
    def test_a_run_of_another_version_is_told_with_both_and_what_to_do(self):
        for version, more in ((oc.VERSION - 1, "or fly with a newer Orrery"), (oc.VERSION + 1, "orrery_client.py of the Orrery that runs")):
            e = Executive(version=version)
            try:
                with self.assertRaisesRegex(oc.NotALink, "speaks version %d of the wire, this client version %d: .*%s" % (version, oc.VERSION, more)):
                    oc.open("udp:127.0.0.1:%d" % e.port, 5)
            finally:
                e.stop()


class Shrinking(unittest.TestCase):
    """A segment that is cut at whatever moment ends the link, and not this process. Every read and write of one flight is a moment."""

    def setUp(self):
        self.name = "/orrery.shrinks.%d" % os.getpid()
        self.image = segment()
        self.path = "/dev/shm" + self.name

    def tearDown(self):
        os.unlink(self.path)

    def fly(self, cut_at):
        """Calls on the segment until it ends; how it ended."""
        with open(self.path, "wb") as f:
            f.write(self.image)
        holder = os.open(self.path, os.O_RDWR)
        fcntl.flock(holder, fcntl.LOCK_EX)  # as a run that lives
        calls, really = [0], {name: getattr(os, name) for name in ("pread", "pwrite")}

        def counted(name):
            def call(*args):
                calls[0] += 1
                if calls[0] == cut_at:
                    os.truncate(self.path, 0)
                return really[name](*args)
            return call

        try:
            for name in really:
                setattr(os, name, counted(name))
            with oc.open("shm:" + self.name, 0) as link:
                self.assertTrue(link.wait(0.2))
                self.assertEqual(link["gyro.rate"], RATES)
                link.send({"wheel.torque": 0.5})
            return calls[0], None
        except (ConnectionResetError, FileNotFoundError) as error:
            return calls[0], error
        finally:
            for name, call in really.items():
                setattr(os, name, call)
            os.close(holder)

    def test_at_every_moment(self):
        calls, error = self.fly(0)
        self.assertIsNone(error)
        self.assertGreater(calls, 20)
        ends = [self.fly(k)[1] for k in range(1, calls + 1)]
        self.assertGreater(sum(isinstance(e, ConnectionResetError) for e in ends), calls // 2)


class Addresses(unittest.TestCase):
    def test_what_is_no_address_is_said_at_once(self):
        for url, says in (("udp:[::1]:5010", "no IPv6"), ("udp:::1:5010", "no IPv6"), ("udp:127.0.0.1", "udp:host:port"),
                          ("udp::5010", "udp:host:port"), ("udp:127.0.0.1:0", "from 1 to"), ("udp:127.0.0.1:x", "from 1 to"),
                          ("udp:127.0.0.1:65536", "from 1 to"), ("shm:orrery", "shm:/name"), ("ftp:127.0.0.1:1", "shm:/name"), ("tcp:127.0.0.1:x", "from 1 to"),
                          ("tcp:127.0.0.1:1,morse", "shm:/name"), ("unix:here", "shm:/name"), ("serial:/dev/null@fast", "a serial port is"), ("", "shm:/name")):
            with self.assertRaisesRegex(ValueError, says):
                oc.open(url, wait=60)

    def test_nobody_is_there(self):
        name = "/orrery.nobody.%d" % os.getpid()
        with self.assertRaisesRegex(FileNotFoundError, "no run has opened %s; start a run .*'shm:/orrery.nobody" % name):
            oc.open("shm:" + name, wait=0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        for url, kind, code in (("udp:127.0.0.1:%d" % port, ConnectionRefusedError, errno.ECONNREFUSED),
                                ("tcp:127.0.0.1:1,slip", ConnectionRefusedError, errno.ECONNREFUSED),
                                ("unix:/tmp" + name, FileNotFoundError, errno.ENOENT)):
            with self.assertRaises(kind) as caught:
                oc.open(url, wait=0)
            self.assertEqual(str(caught.exception),
                             "nobody answers at %s; start a run whose file has a link there (tried for 0 s)" % url.partition(":")[2])
            self.assertEqual(caught.exception.errno, code)
        with self.assertRaisesRegex(FileNotFoundError, "No such file or directory: '/dev/none"):  # of a port it is the file
            oc.open("serial:/dev/none%s@9600" % name.replace("/", "."), wait=0)


class Ends(unittest.TestCase):
    def test_a_run_that_dies_in_the_moment_of_opening_is_nobody(self):
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with here, there:
            here.send(b"a question that it never reads")
            there.close()
            with self.assertRaises(ConnectionRefusedError):  # oc.open tries again then
                oc.Messages(here).recv(9000)


class Mute:
    """A socket whose network does not say that nobody has a port."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def send(self, packet):
        try:
            return self.inner.send(packet)
        except ConnectionRefusedError:
            return len(packet)

    def recv(self, room):
        try:
            return self.inner.recv(room)
        except ConnectionRefusedError:
            raise TimeoutError from None


class OverUdp(unittest.TestCase):
    def setUp(self):
        self.executive = Executive()
        self.addCleanup(lambda: self.executive.stop())
        self.link = oc.open("udp:localhost:%d" % self.executive.port)
        self.addCleanup(lambda: self.link.close())

    def test_the_description_comes_in_pieces_and_says_all_of_each_channel(self):
        self.assertGreater(len(description()), 200)
        self.assertEqual([(c.name, c.unit, c.count) for c in self.link.channels.values()],
                         [("gyro.rate", "rad/s", 8), ("mode", "", 1), ("on", "", 1), ("wheel.torque", "N m", 1), ("jet.on_time", "s", 1)])

    def test_a_frame_in_pieces_in_any_order_among_garbage(self):
        first, second = self.executive.pieces(0)
        self.executive.send(b"garbage", second, second[:-1], first)
        self.assertTrue(self.link.wait())
        self.assertEqual((self.link["gyro.rate"], self.link["mode"], self.link["on"]), (RATES, -7, 1))
        self.assertEqual((self.link.frame, self.link.time_ns, self.link.answered), (0, 0, oc.NONE))

    def test_levels_stay_and_pulses_do_not(self):
        sent = []
        for frame, values in ((0, {"wheel.torque": 0.5, "jet.on_time": 0.1}), (10, {})):
            self.executive.send(*self.executive.pieces(frame))
            self.assertTrue(self.link.wait())
            self.link.send(values)
            sent.append(self.executive.await_commands(frame // 10 + 1)[-1])
        self.assertEqual([struct.unpack_from("<2d", p, 32) for p in sent], [(0.5, 0.1), (0.5, 0.0)])
        self.assertEqual([struct.unpack_from("<Q", p, 24)[0] for p in sent], [0, 10])

    def test_what_cannot_be_commanded_is_refused(self):
        with self.assertRaises(ValueError):
            self.link.send()  # no frame to answer yet
        self.executive.send(*self.executive.pieces(0))
        self.link.wait()
        for name, says in (("gyro.rate", "is telemetry"), ("nothing", "no channel 'nothing'"), ("wheel.torqe", "did you mean 'wheel.torque'")):
            with self.assertRaisesRegex(KeyError, says):
                self.link.send({name: 1.0})
        with self.assertRaisesRegex(KeyError, "did you mean 'gyro.rate'"):
            self.link["gyro.rte"]
        for value in ("1", [1.0, 2.0], None):
            with self.assertRaisesRegex(TypeError, re.escape(f"wheel.torque takes a number, not {value!r}")):
                self.link.send({"wheel.torque": value})

    def test_a_frame_that_comes_again_is_answered_again_and_one_that_is_left_out_is_counted(self):
        self.executive.send(*self.executive.pieces(0))
        self.link.wait()
        self.link.send({"wheel.torque": 0.25})
        self.executive.send(*self.executive.pieces(0), *self.executive.pieces(30))
        self.assertTrue(self.link.wait())
        first, again = self.executive.await_commands(2)
        self.assertEqual(first[16:-4], again[16:-4])
        self.assertEqual((self.link.frame, self.link.missed), (30, 2))

    def take(self, *frames):
        for frame in frames:
            self.assertTrue(self.link.wait())
            self.assertEqual(self.link.frame, frame)

    def test_frames_that_overtook_each_other_are_taken_in_turn_and_in_real_time_late_ones_are_left_out(self):
        first, second, third, fourth = (self.executive.pieces(10 * k) for k in range(4))
        self.executive.send(*first)
        self.take(0)
        self.executive.send(third[1], second[0], third[0], first[1], second[1])
        self.take(10, 20)
        self.executive.send(*self.executive.pieces(50))
        self.take(50)
        self.executive.send(*fourth, *fourth, *self.executive.pieces(60))
        self.take(60)
        self.assertEqual((self.link.missed, self.link.late), (2, 1))

    def test_in_lockstep_a_missing_frame_is_asked_for_and_what_is_awaited_no_more_is_left_out(self):
        lockstep, awaited = oc.LOCKSTEP, oc.LOCKSTEP | oc.AWAITED
        self.executive.send(*self.executive.pieces(0, lockstep))
        self.take(0)
        self.executive.send(*self.executive.pieces(20, lockstep))
        with self.assertRaisesRegex(TimeoutError, "no frame came in 0.2 s: the run stands, or in lockstep waits"):
            self.link.wait(0.2)
        question = [p for p in self.executive.await_commands(1) if p[6] == oc.AGAIN]
        self.assertEqual([struct.unpack_from("<Q", p, 24)[0] for p in question], [10])
        self.executive.send(*self.executive.pieces(10, awaited))
        self.take(10, 20)
        self.assertEqual(self.link.flags, lockstep)
        self.executive.send(*self.executive.pieces(60, lockstep), *self.executive.pieces(50, awaited))
        self.take(50, 60)
        self.assertEqual((self.link.missed, self.link.late), (2, 0))

    def test_in_lockstep_who_comes_in_the_middle_begins_where_an_answer_is_awaited(self):
        self.executive.send(*self.executive.pieces(80, oc.LOCKSTEP), *self.executive.pieces(70, oc.LOCKSTEP | oc.AWAITED))
        self.take(70, 80)

    def test_in_lockstep_a_frame_that_waits_may_become_the_one_that_is_awaited(self):
        self.executive.send(*self.executive.pieces(80, oc.LOCKSTEP))
        with self.assertRaises(TimeoutError):
            self.link.wait(0.2)
        self.executive.send(*self.executive.pieces(80, oc.LOCKSTEP | oc.AWAITED))
        self.take(80)

    def test_the_first_answer_to_a_frame_stands(self):
        self.executive.send(*self.executive.pieces(0))
        self.take(0)
        for torque in (0.25, 0.5):
            self.link.send({"wheel.torque": torque})
        self.assertEqual([struct.unpack_from("<d", p, 32)[0] for p in self.executive.await_commands(2)], [0.25, 0.25])

    def test_no_frame_the_end_of_the_run_and_its_death_are_three_things(self):
        with self.assertRaises(TimeoutError):
            self.link.wait(0.3)
        self.executive.send(word_packet(oc.ENDED))
        self.assertFalse(self.link.wait())
        self.executive.stop()
        with self.assertRaises(ConnectionResetError):
            self.link.wait(10)

    def test_its_death_is_noticed_also_where_no_port_is_refused(self):
        self.link.socket = Mute(self.link.socket)
        self.executive.stop()
        with self.assertRaises(ConnectionResetError):
            self.link.wait(10)

    def test_another_run_in_the_same_place_is_noticed(self):
        self.executive.send(*self.executive.pieces(100))
        self.link.wait()
        self.executive.run_id = 2
        with self.assertRaises(ConnectionResetError):
            while True:
                self.link.wait(10)
        said = []
        self.link._transmit = said.append
        self.link.close()
        self.assertEqual(said, [])  # what leaves ours would end the other one

    def test_life_is_shown_while_nothing_comes(self):
        self.executive.send()
        self.executive.peer = None
        with self.assertRaises(TimeoutError):
            self.link.wait(3)
        self.assertIsNotNone(self.executive.peer)


if __name__ == "__main__":
    unittest.main()
