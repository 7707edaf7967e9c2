#!/bin/sh
# Packets that somebody else defined (`layout`), spoken by a Python program that knows the document alone. With doubles
# a run in lockstep has the bits of shared memory; a polled device answers with the frame that is answered next, so its
# bits do not depend on who was faster; what does not fit its bits is told.
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
P2
link() { # KEYS: of the link, behind those of its transport
  cat "$dir/craft"
  echo "links:"
  echo "  fsw:"
  echo "    rate: 100 Hz"
  echo "    telemetry: [gyro.rate]"
  echo "    commands: [wheel.torque]"
  cat
}
link >"$dir/shm.yaml" <<P2
    transport: shm
    name: $name
P2
link >"$dir/doubles.yaml" <<P2
    transport: udp
    listen: 127.0.0.1:$port
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
          fields: [{constant: 0xA5, type: u8}, {channel: wheel.torque, type: f64, byte_order: little}, {checksum: xor, type: u8}]
P2
link >"$dir/polled.yaml" <<P2
    transport: udp
    listen: 127.0.0.1:$port
    layout:
      packets:
        ask: {direction: commands, fields: [{constant: 0x34, type: u8}]}
        rate:
          direction: telemetry
          on: request ask
          fields: [{counter: packets, type: u8}, {counter: frames, type: u8}, {channel: gyro.rate.z, type: i16, lsb: 1e-6 rad/s}]
        torque:
          direction: commands
          fields: [{constant: 0xA5, type: u8}, {channel: wheel.torque, type: i16, lsb: 0.1 mN m}]
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
# from the document of the packets alone: struct, and the CRC of the standard library
cat >"$dir/peer.py" <<'P2'
import binascii, functools, operator, socket, struct, sys, time
what, port = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.settimeout(60)
send = lambda data: s.sendto(data, ("127.0.0.1", port))
def get():
    try:
        return s.recv(2048)
    except (TimeoutError, ConnectionRefusedError):
        return b""
def torque(x):
    out = b"\xa5" + struct.pack("<d", x)
    return out + bytes([functools.reduce(operator.xor, out)])
frames, total = 0, 0.0
if what == "doubles":
    send(torque(0.0))  # we are here
    while frames < 200:
        packet = get()
        assert packet, frames
        sync, count, x, y, z, crc = struct.unpack(">HHdddH", packet)
        assert (sync, count, crc) == (0xEB90, frames, binascii.crc_hqx(packet[:-2], 0xFFFF)), packet
        frames += 1
        total = 0.9 * total + z
        send(torque(max(-0.1, min(0.1, -0.1 * total))))
else:
    send(b"\x34\x35")  # one that is nobody's
    send(b"\x34")
    packet = get()
    while packet and frames < 199:
        if what == "late":
            time.sleep(0.001 * (frames % 3))
        sent, count, z = struct.unpack(">BBh", packet)
        assert count == frames, (count, frames)
        frames += 1
        total = 0.9 * total + 1e-6 * z
        send(b"\xa5" + struct.pack(">h", max(-1000, min(1000, round(-1000 * total)))))
        send(b"\x34")
        packet = get()
print(frames)
P2

fly() { # RUN PEER...
  file=$1
  shift
  rm -f "$dir/ready"
  "$ORRERY" run "$dir/$file.yaml" --mode lockstep --set links.fsw.wait=60s --ready "$dir/ready" >"$dir/$file" 2>"$dir/err" &
  run=$!
  await test -s "$dir/ready" || fail "$file: $(cat "$dir/err")"
  "$@" >"$dir/peer" 2>&1 || fail "$file: $(cat "$dir/peer" "$dir/err")"
  wait $run || fail "$file: $(cat "$dir/$file" "$dir/err" "$dir/peer")"
  grep -q ' 0 of them late, 0 missed' "$dir/$file" || fail "$file: not every frame was answered: $(cat "$dir/$file" "$dir/peer")"
}
fly shm python3 -I "$dir/law.py" "shm:$name"
fly doubles python3 -I "$dir/peer.py" doubles "$port"
[ "$(hash_of "$dir/shm" | wc -c)" -eq 17 ] || fail "no hash: $(cat "$dir/shm")"
[ "$(hash_of "$dir/doubles")" = "$(hash_of "$dir/shm")" ] || fail "doubles have other bits than shared memory: $(cat "$dir/doubles" "$dir/shm")"
echo "ok: doubles over UDP have the bits of shared memory"

for speed in quick late; do
  fly polled python3 -I "$dir/peer.py" $speed "$port"
  [ "$(cat "$dir/peer")" -eq 199 ] || fail "$speed: the device was asked for $(cat "$dir/peer") frames: $(cat "$dir/polled")"
  [ "$(hash_of "$dir/polled")" = "${first:=$(hash_of "$dir/polled")}" ] || fail "$speed: a polled device has other bits: $(cat "$dir/polled")"
done
[ "$first" != "$(hash_of "$dir/shm")" ] || fail "16 bits and a double have the same bits"
grep -q 'numbers beyond what the packet.s bits hold, sent as the nearest: first gyro.rate in packet rate, 0\.[0-9]* rad/s' "$dir/polled" ||
  fail "nothing is said of 0.1 rad/s in 16 bits of 1e-6: $(cat "$dir/polled")"
echo "ok: a polled device answers with the frame that is answered next"

"$ORRERY" icd "$dir/polled.yaml" | grep -q '^| 2 | 0 | 16 | i16 | big |  | `gyro.rate.z` | lsb 1e-6 rad/s | rad/s | -0.032768 … 0.032767 |$' ||
  fail "the document has another table: $("$ORRERY" icd "$dir/polled.yaml")"
"$ORRERY" icd "$dir/doubles.yaml" --format c >"$dir/link.h" || fail "no header"
cat >"$dir/use.c" <<'P2'
#include "link.h"
#include <stdio.h>
int main(void) {
  uint8_t packet[fsw_torque_BYTES] = {0};
  orrery_put(packet, fsw_torque_wheel_torque_1, UINT64_C(0x0102030405060708));
  printf("%02x%02x%d", packet[1], packet[8], orrery_get(packet, fsw_torque_wheel_torque_1) == UINT64_C(0x0102030405060708));
}
P2
cc -std=c17 -Wall -Wextra -Werror -o "$dir/use" "$dir/use.c" || fail "the header does not compile"
[ "$("$dir/use")" = 08011 ] || fail "the header's functions take other bits: $("$dir/use")"
echo "ok: the documents have each bit"
