#!/bin/sh
# Packets that somebody else defined, in streams of bytes: bare (`framing: raw`), and by COBS and SLIP, over a serial
# port, TCP both ways and Unix sockets. With doubles a run in lockstep has the bits of shared memory; what lies between
# packets on the line is skipped and counted; a device that is asked answers with the frame that is answered next.
# Flight software is a Python program that knows the documents alone.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77

cat >"$dir/craft" <<'P2'
orrery: 1
spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}
actuators:
  wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1}
sensors:
  gyro: {kind: rate_gyro, node: bus.n, rate: 100 Hz, noise: {angle_random_walk: 0.1 deg/sqrt(h)}}
simulation: {step: 10 ms, duration: 2 s, initial: {bus: {rate: [0, 0, 0.1]}}}
links:
  fsw:
    rate: 100 Hz
    telemetry: [gyro.rate]
    commands: [wheel.torque]
P2
cat >"$dir/doubles" <<'P2'
    layout:
      packets:
        imu:
          direction: telemetry
          fields:
            - {constant: 0xEB90, type: u16}
            - {counter: frames, type: u16}
            - {channel: gyro.rate, type: f64}
            - {checksum: crc, type: u16, poly: 0x1021, init: 0xffff}
        torque:
          direction: commands
          fields:
            - {constant: 0xA55A, type: u16}
            - {length: bytes, type: u8, over: [torque, torque]}
            - {name: torque, channel: wheel.torque, type: f64, byte_order: little}
            - {checksum: crc, type: u16, poly: 0x1021, init: 0xffff}
P2
cat >"$dir/polled" <<'P2'
    layout:
      packets:
        ask: {direction: commands, fields: [{constant: 0x34, type: u8}]}
        rate:
          direction: telemetry
          on: request ask
          fields: [{counter: packets, type: u8}, {counter: frames, type: u8}, {channel: gyro.rate.z, type: i16, lsb: 1e-6 rad/s}]
        torque:
          direction: commands
          fields: [{constant: 0xA5, type: u8}, {channel: wheel.torque, type: i16, lsb: 0.1 mN m}, {checksum: sum, type: u8}]
P2

cat >"$dir/peer.py" <<'P2'
import binascii, os, random, struct, sys, time
sys.path.insert(0, "tests/support")
import wires
what, noise = sys.argv[1], random.Random(sys.argv[4]) if sys.argv[4] != "0" else None
line = wires.Line(sys.argv[2], sys.argv[3])
total, frames, begin = 0.0, 0, time.monotonic()
with_sum = lambda data: data + struct.pack(">H", binascii.crc_hqx(data, 0xFFFF))
rubbish = lambda: bytes(noise.choice([0xA5, 0x5A, 8, noise.randrange(256)]) for _ in range(noise.randrange(40))) if noise else b""


def find(data):  # what a receiver does: sync word, length known, checksum
    at = 0
    while True:
        at = data.find(b"\xeb\x90", at)
        if at < 0:
            return max(0, len(data) - 1), 0
        if len(data) < at + 30:
            return at, 0
        if with_sum(data[at : at + 28]) == data[at : at + 30]:
            return at, 30
        at += 1


if what == "doubles":
    torque = lambda x: line.write(rubbish()) or line.send(with_sum(b"\xa5\x5a\x08" + struct.pack("<d", x)))
    while not os.path.exists(os.environ["READY"]):  # a second word would be the answer to frame 0
        time.sleep(0.01)
    torque(0.0)  # we are here
    while frames < 200:
        packet = line.packet(find, 60)
        assert packet, frames
        sync, count, x, y, z, crc = struct.unpack(">HHdddH", packet)
        assert (sync, count, crc) == (0xEB90, frames, binascii.crc_hqx(packet[:-2], 0xFFFF)), packet
        frames += 1
        total = 0.9 * total + z
        torque(max(-0.1, min(0.1, -0.1 * total)))
    assert noise or line.bad == 0, line.bad
else:
    ask = lambda: line.send(b"\x34")
    answer = lambda data: (0, 4) if len(data) >= 4 else (0, 0)
    line.write(b"\xa5")  # the end of something that was on its way when the line was opened: what follows is not its rest
    ask()
    packet = b""
    while not packet and time.monotonic() - begin < 60:
        packet = line.packet(answer, 5)
    while packet and frames < 199:
        if what == "late":
            time.sleep(0.001 * (frames % 3))
        sent, count, z = struct.unpack(">BBh", packet)
        assert count == frames, (count, frames)
        frames += 1
        total = 0.9 * total + 1e-6 * z
        out = b"\xa5" + struct.pack(">h", max(-1000, min(1000, round(-1000 * total))))
        line.send(out + bytes([sum(out) & 255]))
        ask()
        packet = line.packet(answer, 60)  # every question is answered: the run waits for this device
print(frames)
P2

cat >"$dir/law.py" <<'P2'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    total = 0.0
    while link.wait(60):
        total = 0.9 * total + link["gyro.rate"][2]
        link.send({"wheel.torque": max(-0.1, min(0.1, -0.1 * total))})
P2

fly() { # NAME LAYOUT 'KEYS of the link' PEER...: the summary in $dir/NAME
  this=$1
  {
    cat "$dir/craft"
    echo "$3" | sed 's/; */\n/g; s/^/    /; s/\n/\n    /g'
    cat "$dir/$2"
  } >"$dir/$this.yaml"
  shift 3
  rm -f "$dir/ready"
  READY="$dir/ready" "$@" >"$dir/peer" 2>&1 &
  peer=$!
  "$ORRERY" run "$dir/$this.yaml" --mode lockstep --no-log --set links.fsw.wait=60s --ready "$dir/ready" >"$dir/$this" 2>"$dir/err" || fail "$this: $(cat "$dir/$this" "$dir/err" "$dir/peer")"
  wait $peer || fail "$this: $(cat "$dir/peer" "$dir/$this" "$dir/err")"
  grep -q ' 0 of them late, 0 missed' "$dir/$this" || fail "$this: not every frame was answered: $(cat "$dir/$this" "$dir/peer")"
}
python="python3 -I"
: >"$dir/none"
# isolated Python finds no folder of ours by itself; the programs name theirs
fly shm none "transport: shm; name: $name" $python "$dir/law.py" "shm:$name"
hash=$(hash_of "$dir/shm")
[ "${#hash}" -eq 16 ] || fail "no hash: $(cat "$dir/shm")"
start_cable

serial="transport: serial; device: $dir/cable.a"
same() { # NAME
  [ "$(hash_of "$dir/$1")" = "$hash" ] || fail "$1 has other bits than shared memory: $(cat "$dir/$1" "$dir/shm")"
}
for line in "serial raw" "tcp raw" "connect raw" "stream raw" "serial cobs" "tcp cobs" "connect slip" "stream slip"; do
  t=${line% *} framing=${line#* }
  case $t in
  serial) keys=$serial url=serial:$dir/cable.b ;;
  tcp) keys="transport: tcp; listen: 127.0.0.1:$port" url=tcp:$port ;;
  connect) keys="transport: tcp; connect: 127.0.0.1:$((port + 1))" url=accept:$((port + 1)) ;;
  stream) keys="transport: unix; socket: stream; path: $dir/link.sock" url=unix:$dir/link.sock ;;
  esac
  fly "$t-$framing" doubles "$keys; framing: $framing" $python "$dir/peer.py" doubles "$url" $framing 0
  same "$t-$framing"
  grep -q 'malformed\|damaged' "$dir/$t-$framing" && fail "$t-$framing: what was right is called malformed: $(cat "$dir/$t-$framing")"
done
fly messages doubles "transport: unix; path: $dir/link.sock" $python "$dir/peer.py" doubles "packets:$dir/link.sock" none 0
same messages
echo "ok: a layout over streams has the bits of shared memory"

# rubbish before each packet, full of sync words and lengths
fly rubbish doubles "$serial; framing: raw" $python "$dir/peer.py" doubles "serial:$dir/cable.b" raw 1
same rubbish
damaged=$(sed -n 's/ *\([0-9]*\) frames to us damaged on the line.*/\1/p' "$dir/rubbish")
[ "${damaged:-0}" -ge 150 ] || fail "rubbish before 200 packets is not counted: $(cat "$dir/rubbish")"
echo "ok: rubbish between bare packets is skipped and counted"

for speed in quick late; do
  fly asked polled "$serial; framing: raw" $python "$dir/peer.py" $speed "serial:$dir/cable.b" raw 0
  [ "$(cat "$dir/peer")" -eq 199 ] || fail "$speed: the device was asked for $(cat "$dir/peer") frames: $(cat "$dir/asked")"
  [ "$(hash_of "$dir/asked")" = "${first:=$(hash_of "$dir/asked")}" ] || fail "$speed: a polled device has other bits: $(cat "$dir/asked")"
done
[ "$first" != "$hash" ] || fail "16 bits and a double have the same bits"
echo "ok: a device that is asked over a serial port answers with the frame that is answered next"

# the run as the one that connects: what it connects to goes away and comes back, twice, and is spoken to each time
cat >"$dir/again.py" <<'P2'
import binascii, struct, sys
sys.path.insert(0, "tests/support")
import wires
line = wires.Line("accept:" + sys.argv[1], "raw")
with_sum = lambda data: data + struct.pack(">H", binascii.crc_hqx(data, 0xFFFF))
find = lambda data: (data.find(b"\xeb\x90"), 30) if len(data) >= data.find(b"\xeb\x90") + 30 > 29 else (0, 0)
for life in range(3):
    if life:
        line.close()
        line.again()
    for _ in range(10):
        line.send(with_sum(b"\xa5\x5a\x08" + struct.pack("<d", 0.01)))
        packet = line.packet(find, 30)
        assert with_sum(packet[:28]) == packet, packet
print("three lives", flush=True)
try:
    while line.packet(find, 30):
        pass
except (EOFError, ConnectionResetError):
    pass
P2
sed "s/connect: .*/connect: 127.0.0.1:$port/" "$dir/connect-raw.yaml" >"$dir/again.yaml"
python3 -I "$dir/again.py" "$port" >"$dir/peer" 2>&1 &
peer=$!
"$ORRERY" run "$dir/again.yaml" --mode realtime --no-log --duration 1000s --set realtime.phase=0s --set realtime.spin=0s >"$dir/again" 2>"$dir/err" &
run=$!
await grep -q 'three lives' "$dir/peer" || fail "connect: $(cat "$dir/peer" "$dir/err")"
kill -INT $run
wait $run
[ $? -eq 3 ] || fail "connect: $(cat "$dir/again" "$dir/err" "$dir/peer")"
wait $peer || fail "connect: $(cat "$dir/peer" "$dir/again")"
grep -q 'three lives' "$dir/peer" && grep -q 'connected again 2 times' "$dir/again" || fail "connect: $(cat "$dir/peer" "$dir/again")"
echo "ok: what the run connects to comes back"

"$ORRERY" icd "$dir/serial-raw.yaml" | grep -q 'Packets stand bare behind one another' || fail "the document does not say how packets stand"
"$ORRERY" icd "$dir/stream-slip.yaml" | grep -q 'coded by SLIP' || fail "the document does not say SLIP"
exit 0
