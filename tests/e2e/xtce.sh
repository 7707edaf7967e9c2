#!/bin/sh
# `orrery icd --format xtce`: the documents of many runs hold to the schema of XTCE 1.2 and add up; one that is broken
# in any of many ways is refused; flight software that knows the document and nothing else reads the packets of a run
# and commands it. Where XTCE_SCHEMA names a copy of OMG's SpaceSystem.xsd, xmllint judges all of that, too.
command -v python3 >/dev/null || exit 77
. tests/support/script.sh

# every run file that has a link, over UDP, with all channels of its spacecraft in small packets
cp configs/*.yaml "$dir"
for file in cassini-slew chain-slew cubesat wings-slew; do
  over udp configs/$file.yaml | sed "s/transport: udp,/transport: udp, mtu: 400,/; /stiffness: \[0.004/d; s/policy: hold},/policy: hold}}/
    s/telemetry: \[[^]]*\]/telemetry: ['*']/; s/commands: \[[^]]*\]/commands: ['*']/" >"$dir/$file.yaml"
  "$ORRERY" icd "$dir/$file.yaml" --format xtce >"$dir/$file.xml" || fail "icd of $file"
  [ "$(grep -c '<SequenceContainer' "$dir/$file.xml")" -gt 4 ] || fail "$file has few packets"
done
# one whose commands, too, take several packets
sed "s/mtu: 400/mtu: 150/; s/telemetry: \[[^]]*\]/telemetry: [gyro.*, star.*, wheel_*, bus.target]/" "$dir/cassini-slew.yaml" >"$dir/small.yaml"
"$ORRERY" icd "$dir/small.yaml" --format xtce >"$dir/small.xml" || fail "icd of a small packet"
# and one with names as long and as odd as they may be, with links that have nothing to tell or to take
long() { printf "$1%062d" 0; }
cat >"$dir/odd.yaml" <<Y
orrery: 1
spacecraft:
  bodies: {$(long b): {mass: 4, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {$(long n): {at: [0, 0, 1]}}}}
actuators:
  $(long w): {kind: reaction_wheel, node: $(long b).$(long n), axis: [1, 0, 0], inertia: 1e-5 kg m^2, max_torque: 1 mN m, max_speed: 6000 rpm}
sensors:
  _a-b: {kind: star_tracker, node: $(long b).$(long n), rate: 10 Hz, boresight: [0, 0, 1], noise: {across: 10 arcsec, about: 60 arcsec}}
simulation: {step: 10 ms, duration: 1 s, seed: 1}
links:
  $(long l): {transport: udp, listen: '127.0.0.1:5011', allow: [127.0.0.1], mtu: 150, rate: 10 Hz, telemetry: ['*'], commands: ['*']}
  _x-Y: {transport: udp, listen: '127.0.0.1:5012', allow: [127.0.0.1], message_ids: {telemetry: '0x0990', commands: '0x1990'}, rate: 10 Hz, telemetry: [_a-b.valid], commands: []}
  none: {transport: udp, listen: '127.0.0.1:5013', allow: [127.0.0.1], message_ids: {telemetry: '0x0aa0', commands: '0x1e80'}, rate: 10 Hz, telemetry: [], commands: []}
  near: {transport: shm, name: /orrery.odd, rate: 10 Hz, telemetry: ['*'], commands: []}
Y
"$ORRERY" icd "$dir/odd.yaml" --format xtce >"$dir/odd.xml" || fail "icd of odd names"
python3 tests/support/xtce.py "$dir"/*.xml || fail "a document"

# what the format cannot tell apart is said, and not written
"$ORRERY" icd "$dir/odd.yaml" --set links.none.message_ids.telemetry=0x0e81 --format xtce >"$dir/none" 2>"$dir/err"
[ $? -eq 1 ] && [ ! -s "$dir/none" ] && grep -q "'$(long l)' and 'none' both send the message id 0x0e81" "$dir/err" || fail "one id twice: $(cat "$dir/err")"
sed 's/^  none:/  x_Y-:/' "$dir/odd.yaml" >"$dir/alike.yaml"
for format in xtce c; do
  "$ORRERY" icd "$dir/alike.yaml" --format $format >"$dir/none" 2>"$dir/err"
  [ $? -eq 1 ] && [ ! -s "$dir/none" ] && grep -q "'_x-Y' and 'x_Y-' would both be x_Y in the format $format" "$dir/err" || fail "one name twice: $(cat "$dir/err")"
done

# each of these is refused by our rules; those marked by the schema as well
cat >"$dir/break.py" <<'P'
import re, sys
sys.path.insert(0, "tests/support")
import xtce

text = open(sys.argv[1]).read()
BREAKS = [  # whether the schema sees it; what; for what
    (1, r' name="u14"', ' name="u11"'), (1, r' name="u14"', ' name="u.14"'), (1, r' name="u14"', ""), (1, 'signed="false"', 'signed="no"'),
    (1, 'encoding="twosComplement"', 'encoding="twosCompliment"'), (1, 'byteOrder="leastS', 'byteOrder="s'), (1, 'sizeInBits="14"', 'sizeInBits="0"'),
    (1, 'sizeInBits="64" encoding="IEEE754_1985"', 'sizeInBits="63" encoding="IEEE754_1985"'), (1, "<UnitSet>(.*?)</UnitSet>(<F.*?/>)", r"\2<UnitSet>\1</UnitSet>"),
    (1, r"<ParameterSet>(.|\n)*?</ParameterSet>", "<ParameterSet></ParameterSet>"), (1, r"(<ParameterTypeSet>(?:.|\n)*?</ParameterTypeSet>)((?:.|\n)*?</ParameterSet>)", r"\2\1"),
    (1, ' parameterTypeRef="u14"', ""), (1, '<ParameterRefEntry parameterRef="frame"/>', "<ParameterRefEntry/>"), (1, '(parameterRef="frame")', r'\1 at="0"'),
    (1, "(<EntryList>(?:.|\n)*?</EntryList>)((?:.|\n)*?)(<BaseContainer(?:.|\n)*?</BaseContainer>)", r"\3\1\2"), (1, ' containerRef="[^"]*"', ""),
    (1, '<Comparison (.*?) value="\\d+"', r"<Comparison \1"), (1, "<ComparisonList>(.|\n)*?</ComparisonList>", "<ComparisonList></ComparisonList>"),
    (1, "<SizeInBits><DynamicValue>.*?</SizeInBits>", ""), (0, '(<SequenceContainer name="fsw_telemetry_0".*?>)', r"\1<BinaryEncoding><SizeInBits><FixedValue>8</FixedValue></SizeInBits></BinaryEncoding>"),
    (1, '<MetaCommand name="describe"', '<MetaCommand name="fsw_end"'), (1, '<CommandContainer name="describe"', "<CommandContainer"),
    (1, "(<ArgumentList>(?:.|\n)*?</ArgumentList>)\\s*(<CommandContainer(?:.|\n)*?</CommandContainer>)", r"\2\1"), (1, "<ArgumentList>(.|\n)*?</ArgumentList>", "<ArgumentList></ArgumentList>"),
    (1, 'Argument name="generation"', 'Argument name="count"'), (1, ' argumentTypeRef="argument_u16le"', ""), (1, 'binaryValue="03"', 'binaryValue="3"'), (1, 'binaryValue="03"', ""),
    (1, "<ValidRangeSet>(.*?)</ValidRangeSet>", r"\1"), (1, 'minInclusive="0"', 'minInclusive="none"'), (1, 'dataSource="local"', 'dataSource="here"'),
    (1, "<ArgumentRefEntry argumentRef", "<ArgumentRefEntry parameterRef"), (1, "<MetaCommandSet>(.|\n)*</MetaCommandSet>", "<MetaCommandSet></MetaCommandSet>"),
    (1, "XTCE/20180204\"", 'XTCE/20250214"'), (1, "(<TelemetryMetaData>(?:.|\n)*</TelemetryMetaData>)((?:.|\n)*</CommandMetaData>)", r"\2\1"), (1, "<ContainerSet>", "<ContainerSet>and"),
    (0, 'parameterTypeRef="u14"', 'parameterTypeRef="u15"'), (0, '<ParameterRefEntry parameterRef="frame"/>', '<ParameterRefEntry parameterRef="frames"/>'),
    (0, 'containerRef="primary_header"', 'containerRef="secondary_header"'), (0, 'argumentTypeRef="argument_u16le"', 'argumentTypeRef="argument_u17le"'),
    (0, 'argumentRef="answered"', 'argumentRef="asked"'), (0, 'parameterRef="apid" value', 'parameterRef="function" value'), (0, '<Comparison parameterRef="apid".*?/>', ""),
    (0, '<ParameterRefEntry parameterRef="frame"/>', ""), (0, '(<ParameterRefEntry parameterRef="frame"/>)', r"\1\1"), (0, 'sizeInBits="14"', 'sizeInBits="15"'),
    (0, 'intercept="-296"', 'intercept="-288"'), (0, '<FixedValueEntry name="layout_tag".*?/>', ""), (0, 'binaryValue="03"', 'binaryValue="07"'),
    (0, '(name="length" binaryValue=")..', r"\g<1>77"), (0, 'signed="false" sizeInBits="64"', 'signed="true" sizeInBits="64"'), (0, 'signed="true" sizeInBits="64"', 'signed="true" sizeInBits="32"'),
    (0, "(<IntegerParameterType name=\"u1\".*\n)", r"\1" + '<IntegerParameterType name="u5" signed="false"><IntegerDataEncoding sizeInBits="5"/></IntegerParameterType>'),
    (0, '(<Parameter name="version")', r'<Parameter name="more" parameterTypeRef="u8"/>\1'),
]
for i, (seen, what, then) in enumerate(BREAKS):
    broken, count = re.subn(what, then, text, count=1)
    assert count == 1 and broken != text, what
    try:
        xtce.Document(broken)
    except (xtce.Wrong, StopIteration):
        open("%s/%s-%02d.broken" % (sys.argv[2], "seen" if seen else "unseen", i), "w").write(broken)
    else:
        sys.exit("not refused: %s for %s" % (then, what))
P
python3 "$dir/break.py" "$dir/small.xml" "$dir" || fail "a broken document"

# flight software that knows only the document: it describes, lives, takes every frame, answers in two packets
# or more, and ends the run
cat >"$dir/peer.py" <<'P'
import functools, re, socket, sys
sys.path.insert(0, "tests/support")
import xtce

document, wanted = xtce.Document(open(sys.argv[1]).read()), 8
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.connect(("127.0.0.1", int(sys.argv[2])))
link.settimeout(0.1)
sent = {}

def send(name, **values):
    """With the three things that a sender works out: the sequence count, the CRC, the checksum."""
    message_id = document.command(name, dict(values, command_count=0))[:2]
    values["command_count"] = sent[message_id] = sent.get(message_id, -1) + 1
    values["command_crc32c"] = document.crc(document.command(name, values)[8:-4])
    values["command_checksum"] = functools.reduce(lambda a, b: a ^ b, document.command(name, values)) ^ 0xFF
    try:
        link.send(document.command(name, values))
    except ConnectionRefusedError:  # told of what went before: nobody was there yet
        pass

def receive(again):
    for _ in range(300):
        try:
            packet = link.recv(65536)
        except ConnectionRefusedError:  # told before what has come
            continue
        except TimeoutError:
            again()
            continue
        name, numbers = document.packet(packet)
        assert numbers["crc32c"] == document.crc(packet[16 if numbers["id_again"] == 0 else 12 : -4]), name
        return name, numbers
    raise SystemExit("nobody there")

name, piece = receive(lambda: send("describe"))
assert name == "description_piece" and piece["frame"] == 0 and piece["description"][:8] == b"ORRLINK1", piece
mine = {"generation": piece["time_ns"] + 1}
alive = lambda: send("fsw_alive", count=0, **mine)
alive()
out = {n for n in document.containers if n.startswith("fsw_telemetry_")}
words = sorted(n for n in document.commands if n.startswith("fsw_commands_"))
torques = [n for n in document.argument_types if re.match("fsw_wheel_.*_torque_type$", n)]
assert len(out) > 1 and len(words) > 1 and torques
seen, answers = {}, {}
while True:
    name, numbers = receive(alive)
    if name == "description_piece" and numbers["flags"] & 4:
        break
    if name == "description_piece":
        continue
    frame = numbers["frame"]
    again, here = name in seen.setdefault(frame, {}), seen[frame]
    here[name] = numbers
    if set(here) != out or again and name != max(out):
        continue
    count = answers.setdefault(frame, len(answers) + 1)  # once more, where a frame comes once more
    if count >= wanted:
        send("fsw_end", count=count, **mine)
        continue
    for word in words:
        given = {a: 1e-3 * count if a + "_type" in torques else 0 for a in document.arguments(document.commands[word]) if a.startswith("fsw_")}
        send(word, count=count, answered=frame, **mine, **given)
assert any(n.endswith("_valid") and p[n] == 1 for here in seen.values() for p in here.values() for n in p), "a flag"
print("%d frames, %d packets of a command" % (len(answers), len(words)))
P
"$ORRERY" run "$dir/small.yaml" --mode lockstep --duration 60s >"$dir/out" 2>&1 &
run=$!
python3 "$dir/peer.py" "$dir/small.xml" "$port" >"$dir/peer" 2>&1 || fail "a peer that knows the document: $(cat "$dir/peer" "$dir/out")"
wait $run
[ $? -eq 3 ] || fail "a run that its flight software ends is not incomplete: $(cat "$dir/out")"
# the end may overtake the seventh, which is applied a frame after it came
grep -q ' [67] commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "commands by the document: $(cat "$dir/peer" "$dir/out")"

[ -n "${XTCE_SCHEMA:-}" ] || {
  echo "not judged by the schema itself: XTCE_SCHEMA names none"
  exit 0
}
# xmllint fetches nothing from the net, so what the schema imports, for an attribute that we do not use, is left out
sed '/ref="xml:base"/d; /<import /d' "$XTCE_SCHEMA" >"$dir/SpaceSystem.xsd"
for document in "$dir"/*.xml; do
  xmllint --nonet --noout --schema "$dir/SpaceSystem.xsd" "$document" 2>"$dir/err" || fail "by the schema: $(head -3 "$dir/err")"
done
for broken in "$dir"/seen-*.broken; do
  xmllint --nonet --noout --schema "$dir/SpaceSystem.xsd" "$broken" 2>/dev/null && fail "the schema takes $broken: $(diff "$dir/small.xml" "$broken" | head -4)"
done
exit 0
