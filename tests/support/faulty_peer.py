"""Flight software with faults, in real time or lockstep: answers each frame with the torque and on-time it is told, and does wrong when told.

    faulty_peer.py URL torque=0.02 on_time=1 from=300 to=800 faults=nan,range,… late=300,600 die=500 stop_after=30 back=FILE truncate=300 end=900

faults   one of the list in turn before each good answer to frames `from` to `to`: nan inf range layout version foreign future replay old sum
late     the answer to these frames comes after 25 ms, and no other until the run says that it was applied
die, truncate, end   at this frame: SIGKILL to itself; the segment cut to nothing; the run told to end
stop_after   so many answers: SIGSTOP to itself
back     made when the run says that it has applied an answer that was given after the stop

Prints how often it committed which fault, and which late answers were applied, as JSON.
"""
import json
import math
import os
import signal
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "io", "client"))
import orrery_client  # noqa: E402

OLDEST_KEPT = 50


class Faulty:
    def __init__(self, url, options):
        self.link = orrery_client.open(url, 60)
        self.udp = url.startswith("udp:")
        self.options = options
        self.torque = next(n for n, c in self.link.channels.items() if c.direction and n.endswith(".torque"))
        self.on_time = next(n for n, c in self.link.channels.items() if c.direction and n.endswith(".on_time"))
        self.sent, self.done, self.answers = [], {}, 0
        self.stopped = None  # the frame at which it stopped itself
        self.late = [int(f) for f in options.get("late", "").split(",") if f]

    def write(self, payload, answers, generation=0, layout=0, version=0, spoil=False):
        """A command as the client writes it but for what is asked for; remembered for replays when it is good."""
        link, h = self.link, self.link.header
        if self.udp:
            word = link._sender(link.sent) - (generation << 32) ^ layout << 16
            packet = bytearray(orrery_client.write_command(h["command_id"], 0, orrery_client.COMMANDS, word, link.time_ns, answers, payload))
            packet[0] ^= version << 5
            if spoil:
                packet[-1] ^= 1
            packet[7] = 0
            packet[7] = orrery_client._xor(packet)
            self.put(bytes(packet))
            return bytes(packet)
        generation = (link.generation - generation) % 2**32
        command = orrery_client.slot_command(answers, h["layout_hash"] ^ layout, generation, 0, payload, orrery_client.VERSION + version)
        if spoil:
            command = command[:24] + bytes((command[24] ^ 1,)) + command[25:]
        self.put(command)
        return command

    def put(self, raw):
        link = self.link
        if self.udp:
            link.sent = (link.sent + 1) % 2**32
            link.socket.send(raw)
        else:
            link._put(raw)

    def payload(self, torque, on_time):
        self.link._fill({self.torque: torque, self.on_time: on_time})
        return bytes(self.link.command)

    def commit(self, fault):
        good, wrong, frame = float(self.options.get("torque", 0)), 0.09, self.link.frame
        p = self.payload
        if fault == "nan":
            self.write(p(math.nan, 0), frame)
        elif fault == "inf":
            self.write(p(good, math.inf), frame)
        elif fault == "range":
            self.write(p(wrong, -1e-9), frame)
        elif fault == "layout":
            self.write(p(wrong, 0), frame, layout=1)
        elif fault == "version":
            self.write(p(wrong, 0), frame, version=1)
        elif fault == "foreign":
            self.write(p(wrong, 0), frame, generation=1)
        elif fault == "future":
            self.write(p(wrong, 0), frame + 1)
        elif fault == "sum":
            self.write(p(wrong, 0), frame, spoil=True)
        elif fault == "replay":
            self.put(self.sent[-1])
        elif fault == "old":
            self.put(self.sent[0])
        else:
            raise ValueError(fault)
        self.done[fault] = self.done.get(fault, 0) + 1

    def until_applied(self, frame):
        """Answers nothing more until the run says that the answer to `frame` was applied."""
        while self.link.answered != frame and self.link.wait(60):
            pass
        if self.link.answered == frame:
            self.done.setdefault("late", []).append(frame)

    def look_back(self):
        if self.stopped is not None and orrery_client.NONE > self.link.answered > self.stopped and "back" in self.options:
            open(self.options.pop("back"), "w").close()

    def at(self, name):
        return name in self.options and self.link.frame >= int(self.options[name])

    def answer(self):
        link, options = self.link, self.options
        late = self.late and link.frame >= self.late[0]  # a machine that holds this up leaves frames out
        if late:
            self.late.pop(0)
        if self.at("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.answers == int(options.get("stop_after", -1)):
            self.stopped = link.frame
            os.kill(os.getpid(), signal.SIGSTOP)
        if self.at("truncate"):
            os.truncate("/dev/shm" + sys.argv[1][4:], 0)
            os._exit(0)
        if self.at("end"):
            link.send(end=True)
            return
        faults = options.get("faults", "").split(",")
        if faults[0] and int(options["from"]) <= link.frame <= int(options["to"]):
            self.commit(faults[link.frame // int(link.header["divisor"]) % len(faults)])
        self.answers += 1
        frame = link.frame
        if late:
            time.sleep(0.025)
        raw = self.write(self.payload(float(options.get("torque", 0)), float(options.get("on_time", 0))), frame)
        self.sent = (self.sent + [raw])[-OLDEST_KEPT:]
        if late:
            self.until_applied(frame)

    def fly(self):
        while self.link.wait(60):
            self.look_back()
            self.answer()
        print(json.dumps(self.done))


Faulty(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])).fly()
