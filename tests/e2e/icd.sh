#!/bin/sh
# `orrery icd`: real packets of a run, of several pieces and all types, taken apart with each format, give the numbers
# that the client reads. The Python client over both carriers; the capture as tshark sees it, where tshark is.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
over udp configs/cubesat.yaml | sed "s|transport: udp|transport: udp, mtu: 160|
  s|telemetry: .*target\]|telemetry: ['*']|; /stiffness/d; s/policy: hold},/policy: hold}}/
  s|commands: \[wheel_\*.torque\]|commands: [wheel_y.torque, wheel_z.torque]|" >"$dir/run.yaml"
near=$name.near
echo "  near: {transport: shm, name: $near, rate: 10 Hz, telemetry: [gyro.*, star.*], commands: [wheel_x.torque], wait: 60 s}" >>"$dir/run.yaml"
for format in markdown c python json xtce cosmos eds; do
  "$ORRERY" icd "$dir/run.yaml" --format $format >"$dir/icd.$format" || fail "icd --format $format"
done
cp "$dir/icd.python" "$dir/icd.py"
mv "$dir/icd.c" "$dir/icd.h"
"$ORRERY" icd "$dir/run.yaml" --format pigeon >/dev/null 2>&1
[ $? -eq 2 ] || fail "a format that is none"

# as the key's description says: on the wire in the order of the devices, flags last, whatever the order in the file
sed 's/telemetry: .*target\]/telemetry: [star.valid, bus.target, star.attitude, gyro.rate]/; /stiffness/d; s/policy: hold},/policy: hold}}/
  s/\[wheel_\*.torque\]/[wheel_z.torque, wheel_x.torque]/' configs/cubesat.yaml >"$dir/turned.yaml"
"$ORRERY" icd "$dir/turned.yaml" | sed -n 's/^| [0-9]* | `\([a-z_]*\.[a-z]*\).*/\1/p' | uniq | tr '\n' ' ' >"$dir/order"
[ "$(cat "$dir/order")" = 'gyro.rate star.attitude bus.target star.valid wheel_x.torque wheel_z.torque ' ] || fail "the order on the wire: $(cat "$dir/order")"

# what a format cannot say is said, and not written
"$ORRERY" icd configs/cubesat.yaml --format xtce >"$dir/none" 2>"$dir/err"
[ $? -eq 1 ] && [ ! -s "$dir/none" ] && grep -q 'no link over UDP' "$dir/err" || fail "xtce without packets: $(cat "$dir/err")"
sed 's/^  gyro:$/  gyro-1: \&gyro/; s/^  star:$/  gyro_1: *gyro\n&/; s/gyro\.[a-z*]*/gyro-1.rate, gyro_1.rate/; /stiffness/d; s/policy: hold},/policy: hold}}/' \
  configs/cubesat.yaml >"$dir/alike.yaml"
"$ORRERY" icd "$dir/alike.yaml" >"$dir/none" 2>"$dir/err" || fail "two names that markdown can tell apart: $(cat "$dir/err")"
"$ORRERY" icd "$dir/alike.yaml" --format c >"$dir/none" 2>"$dir/err"
[ $? -eq 1 ] && [ ! -s "$dir/none" ] && grep -q 'would both be fsw_gyro_1_rate_x' "$dir/err" || fail "two names that C cannot tell apart: $(cat "$dir/err")"
over udp "$dir/alike.yaml" | sed 's/gyro-1/GYRO/g; s/gyro_1/gyro/g' >"$dir/capitals.yaml"
"$ORRERY" icd "$dir/capitals.yaml" --format eds >"$dir/none" 2>"$dir/err" || fail "small letters and capitals: $(cat "$dir/err")"
"$ORRERY" icd "$dir/capitals.yaml" --format cosmos >"$dir/none" 2>"$dir/err"
[ $? -eq 1 ] && [ ! -s "$dir/none" ] && grep -q 'would both be FSW_GYRO_RATE_X' "$dir/err" || fail "small letters and capitals in COSMOS: $(cat "$dir/err")"
"$ORRERY" icd configs/cubesat.yaml --format json --set links.fsw.rate=50Hz | grep -q '"divisor": 2' || fail "icd --set"

# C: compiles by itself without a warning, also where a number's address is taken, in C++ too; it prints what it finds
# in a payload, and in the first packet of a frame, with the sum that its function gives
cat >"$dir/decode.c" <<'C'
#include <stdio.h>
#include "icd.h"
static double last_of(const double *numbers, int count) { return numbers[count - 1]; }
int main(int argc, char **argv) {
  struct fsw_telemetry t;
  struct fsw_telemetry_packet_0 p;
  (void)argv;
  if (argc == 1 && fread(&t, fsw_telemetry_BYTES, 1, stdin) == 1)
    printf("%.17g %.17g %d\n", last_of(t.gyro_rate, 3), t.bus_target[3], t.star_valid);
  if (argc > 1 && fread(&p, fsw_telemetry_PACKET_0_BYTES, 1, stdin) == 1)
    printf("%.17g %d %d %d\n", p.gyro_rate[1], (int)p.frame, orrery_crc32c((const char *)&p + fsw_telemetry_PACKET_0_SUM_AT, fsw_telemetry_PACKET_0_SUM_BYTES) == p.crc32c,
           (p.header[0] << 8 | p.header[1]) == fsw_telemetry_ID);
  return 0;
}
C
# as cFS compiles its apps
# shellcheck disable=SC2086
${CC:-cc} -std=c99 -pedantic -Wall -Wstrict-prototypes -Wwrite-strings -Wpointer-arith -Wcast-align -Werror -c -o "$dir/decode99" "$dir/decode.c" || fail "nor in C99"
cp "$dir/decode.c" "$dir/decode.cc"
warnings="-Wall -Wextra -Wpedantic -Wcast-align -Waddress-of-packed-member -Werror"
# shellcheck disable=SC2086
${CC:-cc} -std=c17 $warnings -o "$dir/decode" "$dir/decode.c" || fail "the C header does not compile"
# shellcheck disable=SC2086
if command -v c++ >/dev/null; then c++ -std=c++17 $warnings -o "$dir/decode++" "$dir/decode.cc" || fail "nor in C++"; fi
# what the formats' own rules refuse is refused by the readers here, so that they can fail
while IFS='|' read -r format break; do
  sed "$break" "$dir/icd.$format" >"$dir/broken"
  cmp -s "$dir/broken" "$dir/icd.$format" && fail "nothing is broken by $break"
  python3 tests/support/sheets.py "$dir/broken" 2>/dev/null && fail "$format takes $break"
done <<'B'
cosmos|s/ FSW_TELEMETRY_1 / FSW_TELEMETRY_0 /
cosmos|s/CCSDS_APID 11 UINT [0-9]*/CCSDS_APID 11 UINT 7/
cosmos|s/ITEM CCSDS_SEQCNT 14/ITEM CCSDS_SEQCNT 13/
cosmos|s/ITEM FRAME 64/ITEM TIME_NS 64/
cosmos|s/\(TORQUE 64 FLOAT\) [^ ]* [^ ]*/\1 1 2/
eds|s/type="U14"/type="U13"/
eds|s/ type="U11"//
eds|s/entry="Apid" value="[0-9]*"/entry="Apid" value="7"/
eds|s/fixedValue="5"/fixedValue="2"/
eds|s/rangeType="[a-zA-Z]*"//
B
grep -q '^COMMAND ORRERY FSW_LEAVE ' "$dir/icd.cosmos" || fail "COSMOS has no word to leave by"
# a link with a key says so in each format for programs
(umask 077 && od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$dir/key")
for format in c xtce; do
  "$ORRERY" icd "$dir/run.yaml" --format $format --set links.fsw.key_file="$dir/key" --set links.fsw.mtu=200 >"$dir/keyed.$format" || fail "icd of a keyed link"
done
grep -q '^#define fsw_SEAL_BYTES 40$' "$dir/keyed.c" && ! grep -q SEAL "$dir/icd.h" || fail "the C header says nothing of the seal"
[ "$(grep -c 'seal of 40 bytes follows' "$dir/keyed.xtce")" -gt 3 ] && ! grep -q seal "$dir/icd.xtce" || fail "XTCE says nothing of the seal"
python3 tests/support/xtce.py "$dir/keyed.xtce" || fail "XTCE of a keyed link"

cat >"$dir/peer.py" <<'P'
import json, re, struct, subprocess, sys
work, url = sys.argv[1:3]
sys.path[:0] = [work, "io/client", "tests/support"]
import icd, orrery_client, sheets, xtce as support

class Markdown:
    """A reader's document: of each link its text, and of each direction rows (offset, name, type, unit) and packets."""
    def __init__(self, path):
        self.links, side = {}, None
        for line in open(path):
            line = line.rstrip("\n")
            if line.startswith("## "):
                link = self.links[line[3:]] = {"text": ""}
            elif line.startswith("### "):
                name, size = re.fullmatch(r"### (telemetry|commands): (\d+) bytes", line).groups()
                side = link[name] = {"bytes": int(size), "rows": [], "packets": {}}
            elif re.match(r"\| \d", line):
                offset, name, form, unit = [cell.strip() for cell in line.split("|")[1:5]]
                side["rows"].append((int(offset), name.strip("`"), form, unit))
            elif line.startswith("Message id "):
                numbers = re.fullmatch(r"Message id 0x(\w{4}): payload bytes (\d+) to (\d+), at byte (\d+) of a packet of (\d+) bytes\.", line)
                side["packets"][int(numbers[1], 16)] = [int(n) for n in numbers.groups()[1:]]
            elif side is None or self.links and "rows" not in link.get("telemetry", {}):
                self.links and link.update(text=link["text"] + line + "\n")

    def payload(self, link, side, packets):
        """Put together from packets, by what the document says of their ids, places and lengths."""
        out = bytearray(self.links[link][side]["bytes"])
        for p in packets:
            first, end, at, size = self.links[link][side]["packets"][int.from_bytes(p[:2], "big")]
            assert len(p) == size
            out[first:end] = p[at : at + end - first]
        return bytes(out)

    def read(self, link, side, payload):
        """{name: (number, unit)}; no byte of the payload is without a name, or has two."""
        out, free = {}, bytearray(b"\1" * len(payload))
        for offset, name, form, unit in self.links[link][side]["rows"]:
            form = {"f64": "<d", "i64": "<q", "u8": "<B"}[form]
            size = struct.calcsize(form)
            assert bytes(free[offset : offset + size]) == b"\1" * size, name
            free[offset : offset + size] = bytes(size)
            out[name] = struct.unpack_from(form, payload, offset)[0], unit
        assert not any(free) and len(payload) == self.links[link][side]["bytes"]
        return out

def check_markdown(read, link, document, direction):
    """What was read against what the client has, names and units included."""
    count = 0
    for channel in document["telemetry" if direction == 0 else "commands"]["channels"]:
        numbers = link[channel["name"]]
        for k in range(channel["count"]):
            element = "" if channel["count"] == 1 else "." + channel["elements"][k] if channel["elements"] else "[%d]" % k
            value, unit = read[channel["name"] + element]
            assert same(value, numbers if channel["count"] == 1 else numbers[k]), channel
            of_load = {"n": "N m", "f": "N"}[channel["elements"][k][0]] if channel["elements"] == "nx ny nz fx fy fz".split() else ""
            assert unit == (link.channels[channel["name"]].unit or of_load), channel
            count += 1
    assert count == len(read) > 0

class Tap:
    """A socket that keeps what goes through it."""
    def __init__(self, socket):
        self.socket, self.got, self.sent = socket, [], []
    def recv(self, n):
        self.got.append(self.socket.recv(n))
        return self.got[-1]
    def send(self, data):
        self.sent.append(data)
        return self.socket.send(data)
    def __getattr__(self, name):
        return getattr(self.socket, name)

def same(a, b):
    return struct.pack("<d", a) == struct.pack("<d", b)

xtce, documents = support.Document(open(work + "/icd.xtce").read()), json.load(open(work + "/icd.json"))["links"]
cosmos, eds = sheets.Cosmos(open(work + "/icd.cosmos").read()), sheets.Eds(open(work + "/icd.eds").read())
markdown, document = Markdown(work + "/icd.markdown"), documents["fsw"]
assert set(markdown.links) == set(documents) == {"fsw", "near"}
# the same packets: as many, as long
for side in ("telemetry", "commands"):
    for i, p in enumerate(document[side]["packets"]):
        assert xtce.bits("fsw_%s_%d" % (side, i)) == (0, 8 * p["bytes"])
        assert cosmos.bits("FSW_%s_%d" % (side.upper(), i)) == eds.bits("fsw_%s_%d" % (side, i)) == 8 * p["bytes"]
        assert markdown.links["fsw"][side]["packets"][p["message_id"]] == [
            p["payload_from"], p["payload_from"] + p["payload_bytes"], p["at"], p["bytes"]]
    assert sum(p["payload_bytes"] for p in document[side]["packets"]) == document[side]["bytes"]

class Segment:
    """A segment, read by nothing but the reader's document."""
    def __init__(self, link, name):
        self.link, self.name, text = link, name, markdown.links[name]["text"]
        find = lambda pattern: [int(n) for n in re.search(pattern, text).groups()]
        self.counts = dict(zip(("telemetry", "commands"), find(r"published so far: u32 at (\d+); commands so far: u32 at (\d+)")))
        out, each_out, taken, each_in, self.slots = find(
            r"Telemetry slots at (\d+), one every (\d+) bytes; command slots at (\d+), one every (\d+) bytes; (\d+) of each")
        self.places = {"telemetry": (out, each_out), "commands": (taken, each_in)}
        self.payload_at, = find(r"payload is at byte (\d+) of it")
        self.factor, self.seed = (int(n, 16) for n in re.search(r"m = \(s \^ w\) \* 0x(\w+): .* four that begin as 0x(\w+);", text).groups())
        assert len(link.memory) == find(r", (\d+) bytes, 0600")[0]
        assert documents[name]["layout_hash"] == re.search(r"Layout hash\s+0x(\w+)", text)[1]

    def newest(self, side):
        """The head and the numbers of the newest slot."""
        number, = struct.unpack("<I", self.link.memory.read(self.counts[side], 4))
        at = self.places[side][0] + self.places[side][1] * (number % self.slots)
        size = markdown.links[self.name][side]["bytes"]
        sequence, *head = struct.unpack("<5Q", self.link.memory.read(at, 40))
        assert sequence % 2 == 0
        payload = self.link.memory.read(at + self.payload_at, size)
        assert self.payload_at == icd.LINKS[self.name][side]["payload_at"]
        return head, payload

    def sum(self, head, payload):
        """Of a command, by the document's words."""
        def mix(s, w):
            m = (s ^ w) * self.factor % 2**64
            return m ^ m >> 32
        payload += bytes(-len(payload) % 8)
        words = [*head[:3], 0, *struct.unpack("<%dQ" % (len(payload) // 8), payload)]
        lanes = [self.seed] * 4
        for i, w in enumerate(words):
            lanes[i % 4] = mix(lanes[i % 4], w)
        return sum(3**k * lane for k, lane in enumerate(lanes)) % 2**64

def answer_near(link, frame):
    """One frame of the link over shared memory: telemetry and command by the document's offsets."""
    assert link.wait(60)
    segment = Segment(link, "near")
    head, payload = segment.newest("telemetry")
    if head[0] == link.frame:  # the next may have gone out already
        assert head[1] == link.time_ns and head[2] == link.answered and head[3] == link.flags
        check_markdown(markdown.read("near", "telemetry", payload), link, documents["near"], 0)
        same_numbers = icd.unpack("near", "telemetry", payload)
        assert all(same_numbers[n] == link[n] for n in same_numbers)
    command = 1e-5 * frame
    link.send({"wheel_x.torque": command})
    answered, payload = segment.newest("commands")
    assert answered[0] == link.frame and "%016x" % answered[1] == documents["near"]["layout_hash"]
    assert answered[3] == segment.sum(answered, payload)
    read = markdown.read("near", "commands", payload)
    assert same(read["wheel_x.torque"][0], command) and read["wheel_x.torque"][1] == "N m"
    check_markdown(read, link, documents["near"], 1)
    assert payload == icd.pack("near", "commands", {"wheel_x.torque": command})
    return head[0] == link.frame

frames = seen_near = 0
near = orrery_client.open(sys.argv[3], 60)
with orrery_client.open(url, 60) as link:
    link.socket = tap = Tap(link.socket)
    assert format(link.header["layout_hash"], "016x") == document["layout_hash"]
    assert icd.LINKS["fsw"]["layout_hash"] == link.header["layout_hash"]
    while link.wait(60):
        frames += 1
        own = [p for p in tap.got if orrery_client.read_telemetry(p)[2] == link.frame]
        own = sorted({p[:2]: p for p in own}.values())
        assert len(own) == icd.LINKS["fsw"]["telemetry"]["packets"] == len(document["telemetry"]["packets"]) > 3
        frame, time_ns, answered, numbers = icd.unpack_packets("fsw", "telemetry", own)
        assert (frame, time_ns, answered) == (link.frame, link.time_ns, link.answered)
        named = {}
        for p in own:
            name, x = xtce.packet(p)
            assert name == "fsw_telemetry_%d" % own.index(p)
            assert (x["frame"], x["time_ns"], x["answered"]) == (frame, time_ns, answered)
            assert (x["seconds"] + x["subseconds"] / 65536) * 1e9 <= time_ns < (x["seconds"] + (x["subseconds"] + 1) / 65536) * 1e9
            assert x["crc32c"] == orrery_client.crc32c(p[12:-4]) and x["id_again"] == p[0] << 8 | p[1]
            named.update(x)
            (cosmos_name, c), (eds_name, e) = cosmos.packet(p), eds.packet(p)
            assert cosmos_name == name.upper() and eds_name == name
            assert (c["FRAME"], c["TIME_NS"], c["CRC32C"]) == (e["Frame"], e["TimeNs"], e["Crc32c"]) == (x["frame"], x["time_ns"], x["crc32c"])
            numbers_here = {n[4:]: v for n, v in x.items() if n.startswith("fsw_")}
            assert numbers_here and all(same(v, c[n.upper()]) and same(v, e[n]) for n, v in numbers_here.items())
        c = subprocess.run([work + "/decode"], input=link.telemetry, capture_output=True, check=True).stdout.split()
        assert same(float(c[0]), link["gyro.rate"][2]) and same(float(c[1]), link["bus.target"][3]) and int(c[2]) == link["star.valid"]
        c = subprocess.run([work + "/decode", "packet"], input=own[0], capture_output=True, check=True).stdout.split()
        assert same(float(c[0]), link["gyro.rate"][1]) and [int(n) for n in c[1:]] == [link.frame, 1, 1], c
        for channel in document["telemetry"]["channels"]:
            form = "<%d%s" % (channel["count"], {"f64": "d", "i64": "q", "u8": "B"}[channel["type"]])
            values = struct.unpack_from(form, link.telemetry, channel["offset"])
            mine = numbers[channel["name"]]
            for k, v in enumerate(values):
                element = ("_" + (channel["elements"][k] if channel["elements"] else str(k))) if channel["count"] > 1 else ""
                assert same(v, mine if channel["count"] == 1 else mine[k])
                assert same(v, named["fsw_" + channel["name"].replace(".", "_") + element]), channel
        payload = markdown.payload("fsw", "telemetry", own)
        assert payload == link.telemetry
        check_markdown(markdown.read("fsw", "telemetry", payload), link, document, 0)
        payload = b"".join(p[document["telemetry"]["packets"][i]["at"] :][: document["telemetry"]["packets"][i]["payload_bytes"]]
                           for i, p in enumerate(own))
        assert payload == link.telemetry, "by the JSON's places"
        seen_near += answer_near(near, frames)
        link.send({"wheel_z.torque": 1e-5 * frames})
        payload = markdown.payload("fsw", "commands", tap.sent[-1:])
        read = markdown.read("fsw", "commands", payload)
        assert same(read["wheel_z.torque"][0], 1e-5 * frames) and read["wheel_z.torque"][1] == "N m"
        check_markdown(read, link, document, 1)
        sent = tap.sent[-1]  # the heads as they are, the numbers as we know them
        heads = dict(zip(("count", "generation", "time_ns", "answered"), struct.unpack("<HxxIqQ", sent[8:32])))
        heads["command_count"], heads["command_checksum"] = int.from_bytes(sent[2:4], "big") & 0x3FFF, sent[7]
        heads["command_crc32c"] = int.from_bytes(sent[-4:], "little")
        numbers = {"fsw_wheel_y_torque": 0, "fsw_wheel_z_torque": 1e-5 * frames}
        assert heads["answered"] == link.frame and xtce.command("fsw_commands_0", dict(heads, **numbers)) == sent
        assert xtce.crc(sent[8:-4]) == heads["command_crc32c"]
        told = {"GENERATION": heads["generation"], "COUNT": heads["count"], "TIME_NS": heads["time_ns"], "ANSWERED": link.frame, "CRC32C": heads["command_crc32c"],
                "WHEEL_Z_TORQUE": 1e-5 * frames}
        assert cosmos.command("FSW_COMMANDS_0", dict(told, CCSDS_SEQCNT=heads["command_count"], CHECKSUM=sent[7])) == sent
        told = {"Generation": heads["generation"], "Count": heads["count"], "TimeNs": heads["time_ns"], "Answered": link.frame, "Crc32c": heads["command_crc32c"],
                "Version": 0, "SecondaryHeader": 1, "SequenceFlags": 3, "SequenceCount": heads["command_count"], "Length": len(sent) - 7, "Checksum": sent[7],
                "LayoutTag": int.from_bytes(sent[10:12], "little"), "wheel_z_torque": 1e-5 * frames}
        assert eds.command("fsw_commands_0", told) == sent
        payload = icd.pack("fsw", "commands", {"wheel_z.torque": 1e-5 * frames})
        assert tap.sent[-1][icd.LINKS["fsw"]["commands"]["payload_at"] : -4] == payload
        tap.got.clear()
assert frames == 5, frames
assert seen_near > 0
near.close()
P
capture=
if command -v tshark >/dev/null && command -v dumpcap >/dev/null; then
  tshark -q -i lo -f "udp port $port" -w "$dir/capture.pcapng" >/dev/null 2>&1 &
  capture=$!
  tries=0
  until [ -s "$dir/capture.pcapng" ] || [ $((tries += 1)) -gt 300 ]; do sleep 0.1; done # its head is there when it listens
fi
frames_seen() {
  tshark -r "$dir/capture.pcapng" -d "udp.port==$port,ccsds" -Y 'ccsds.apid == 0x680 && ccsds.type == 0 && ccsds.seqflag == 3' 2>/dev/null | wc -l
}
python3 "$dir/peer.py" "$dir" "udp:127.0.0.1:$port" "shm:$near" 2>"$dir/err" &
peer=$!
"$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 0.5s --set "links.fsw.lockstep={timeout: 60 s}" --set "links.near.lockstep={timeout: 60 s}" >"$dir/out" 2>&1 || fail "the run: $(cat "$dir/out" "$dir/err")"
wait $peer || fail "the packets: $(cat "$dir/err")"
grep -q '5 frames out, 4 commands applied' "$dir/out" || fail "the Python peer over UDP: $(cat "$dir/out")"
if [ -n "$capture" ]; then
  tries=0
  until seen=$(frames_seen) && [ "$seen" -ge 5 ] || [ $((tries += 1)) -gt 100 ]; do sleep 0.3; done
  kill -INT $capture
  wait $capture
  [ "$seen" -ge 5 ] || fail "tshark sees $seen packets of APID 0x680 as CCSDS"
  bad=$(tshark -r "$dir/capture.pcapng" -d "udp.port==$port,ccsds" -Y '_ws.malformed || (udp && !ccsds && !icmp)' 2>/dev/null | wc -l)
  [ "$bad" -eq 0 ] || fail "tshark finds $bad packets malformed"
fi

# the Python peer over shared memory: every frame answered, also one after the other
python3 io/client/orrery_client.py "shm:$name" >"$dir/echo" 2>"$dir/err" &
peer=$!
"$ORRERY" run configs/cubesat.yaml --set links.fsw.name=$name --mode lockstep --duration 5s >"$dir/out" 2>&1 || fail "shm: $(cat "$dir/out")"
wait $peer || fail "the Python peer over shared memory: $(cat "$dir/err")"
grep -q '50 frames out, 49 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "shm: $(cat "$dir/out")"
grep -q '^echo: frames 0 to 490: 50 seen, 0 lost, 50 answered$' "$dir/echo" || fail "the Python peer says: $(cat "$dir/echo")"
exit 0
