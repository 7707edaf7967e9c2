#!/bin/sh
# Faults of the line that carries a link: wrong bits, lost and doubled bytes, a line that is stuck, a node that
# babbles, a cable that is out for a while. The same bits in batch and in lockstep over a serial port, TCP and a Unix
# stream; the parts that were asked for; the log flies again; and on the line the damage is there, so that flight
# software has to find it.
. tests/support/script.sh
cat >"$dir/faults.yaml" <<'Y'
faults:
  - {link: fsw, at: 1 s, for: 20 s, bit_errors: 2e-4}
  - {link: fsw, of: telemetry, at: 22 s, for: 20 s, bit_errors: 2e-4}
  - {link: fsw, of: telemetry, at: 43 s, for: 10 s, lost_bytes: 2e-3}
  - {link: fsw, at: 54 s, for: 10 s, doubled_bytes: 2e-3}
  - {link: fsw, of: telemetry, at: 65 s, for: 2 s, stuck_line: low}
  - {link: fsw, of: telemetry, at: 68 s, for: 2 s, stuck_line: high}
  - {link: fsw, at: 71 s, for: 8 s, babbling: 0.25}
  - {link: fsw, at: 80 s, for: 3 s, unplugged: true}
Y
fly() { # RUN ARGUMENTS...
  run=$1
  shift
  "$ORRERY" run "$run" --duration 85s --set 'expect=[]' --sequence "$dir/faults.yaml" "$@"
}
start_cable
over serial configs/cubesat.yaml >"$dir/serial.yaml"
fly "$dir/serial.yaml" --mode batch --no-log --json >"$dir/batch" 2>&1 || fail "$(cat "$dir/batch")"
hash=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["state_hash"])' "$dir/batch")
fly "$dir/serial.yaml" --mode batch --no-log --seed 2 >"$dir/other" 2>&1
[ "$(hash_of "$dir/other")" != "$hash" ] || fail "another seed damages the same"
"$ORRERY" run "$dir/serial.yaml" --mode batch --no-log --duration 85s --set 'expect=[]' >"$dir/plain" 2>&1
[ "$(hash_of "$dir/plain")" != "$hash" ] || fail "nothing was damaged"

come_again() { # URL: where the plug is pulled, flight software ends, and comes again
  until "$fsw" "$1" cubesat 2>"$dir/fsw"; do
    kill -0 "$run" 2>/dev/null || break
    sleep 0.02
  done
}
for transport in serial tcp stream; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  fly "$dir/$transport.yaml" --mode lockstep --log "$dir/$transport.mcap" --json >"$dir/$transport" 2>"$dir/err" &
  run=$!
  come_again "$(url_of $transport)" &
  wait $run || fail "$transport: $(cat "$dir/$transport" "$dir/err")"
  wait $!
  python3 - "$dir/$transport" "$hash" <<'P' || fail "$transport: $(cat "$dir/$transport" "$dir/err")"
import json, sys
j = json.load(open(sys.argv[1]))
link = j["links"]["fsw"]
a = link["answers"]
assert j["state_hash"] == sys.argv[2], "other bits than in batch"
assert sum(a.values()) == link["published"] == 850, "every frame has one end"
print(sys.argv[1], a, link["refused"])
# packets of commands have 8 + 24 + 24 + 4 bytes, of telemetry 16 + 24 + 88 + 4, and frames 7 more; at 10 Hz, means and
# four deviations. Unplugged: 30 frames, and the answer to the one before; stuck: 40 of telemetry; babbling: a quarter
# of 80, and the answers then to frames that came
share = lambda rate, n: 1 - (1 - rate) ** n
def near(what, got, *parts):
    mean = sum(n * p for n, p in parts)
    wide = 4 * sum(n * p * (1 - p) for n, p in parts) ** 0.5
    assert mean - wide <= got <= mean + wide, (what, got, mean, wide)
near("commands", a["lost_by_fault"], (200, share(2e-4, 8 * 67)), (100, share(2e-3, 67)), (80, 0.25 * 0.75), (1, 1))
near("telemetry", a["kept_back"], (200, share(2e-4, 8 * 139)), (100, share(2e-3, 139)), (40, 1), (80, 0.25), (30, 1))
names = [e["name"] for e in j["events"]]
assert len(names) == 16 and "fsw telemetry stuck_line" in names and "fsw unplugged" in names, names
P
  "$ORRERY" replay "$dir/$transport.mcap" >"$dir/out" 2>&1 || fail "replay: $(cat "$dir/out")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay: $(cat "$dir/out")"
done
"$ORRERY" run --from "$dir/serial.mcap@50s" --mode batch --no-log --duration 35s --set 'expect=[]' >"$dir/going" 2>&1
[ "$(hash_of "$dir/going")" = "$hash" ] || fail "going on damages others: $(cat "$dir/going")"

# packets of somebody else, bare on a serial line: what a program that knows their document alone sees of it. Twice the
# same bits, whoever is slow
cat >"$dir/bare.yaml" <<Y
orrery: 1
spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}
actuators: {wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1}}
sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 100 Hz}}
simulation: {step: 10 ms, duration: 6 s, initial: {bus: {rate: [0, 0, 0.1]}}}
links:
  fsw:
    {transport: serial, device: $dir/cable.a, framing: raw, rate: 100 Hz, telemetry: [gyro.rate], commands: [wheel.torque],
     layout: {packets: {
       rate: {direction: telemetry, fields: [{constant: 0xEB90, type: u16}, {counter: frames, type: u16}, {channel: gyro.rate, type: f64}, {checksum: crc, type: u16, poly: 0x1021}]},
       torque: {direction: commands, fields: [{constant: 0xA5, type: u8}, {channel: wheel.torque, type: f64}, {checksum: crc, type: u16, poly: 0x1021}]}}}}
faults:
  - {link: fsw, of: telemetry, at: 1 s, for: 1 s, bit_errors: 1e-3}
  - {link: fsw, of: telemetry, at: 2 s, for: 1 s, lost_bytes: 1e-2}
  - {link: fsw, of: telemetry, at: 3 s, for: 1 s, doubled_bytes: 1e-2}
  - {link: fsw, at: 4 s, for: 1 s, babbling: 0.3}
  - {link: fsw, at: 1 s, for: 4 s, bit_errors: 1e-3}
  - {link: fsw, at: 5.2 s, for: 0.2 s, unplugged: true}
  - {link: fsw, of: telemetry, at: 5.5 s, for: 0.2 s, stuck_line: high}
Y
cat >"$dir/peer.py" <<'P'
import binascii, struct, sys, time
sys.path.insert(0, "tests/support")
import wires
line, slow = wires.Line("serial:" + sys.argv[1], "raw"), sys.argv[2] == "slow"
with_sum = lambda data: data + struct.pack(">H", binascii.crc_hqx(data, 0))
def find(data):
    at = data.find(b"\xeb\x90")
    while at >= 0 and len(data) >= at + 30:
        if with_sum(data[at : at + 28]) == data[at : at + 30]:
            return at, 30
        at = data.find(b"\xeb\x90", at + 1)
    return (at, 0) if at >= 0 else (max(0, len(data) - 1), 0)
line.send(with_sum(b"\xa5" + struct.pack(">d", 0.0)))
total, seen, packet = 0.0, [], line.packet(find, 30)
while packet:
    total = 0.9 * total + struct.unpack(">d", packet[20:28])[0]
    seen.append(struct.unpack(">H", packet[2:4])[0])
    if slow and len(seen) % 50 == 0:
        time.sleep(0.01)
    line.send(with_sum(b"\xa5" + struct.pack(">d", max(-0.1, min(0.1, -0.1 * total)))))
    packet = b"" if seen[-1] >= 599 else line.packet(find, 30)
print(len(seen), line.bad)
assert seen == sorted(set(seen)), "a frame that was damaged is seen"
assert line.bad > 50, "no damage is on the line: %d" % line.bad
P
for speed in quick slow; do
  python3 -I "$dir/peer.py" "$dir/cable.b" $speed >"$dir/peer" 2>&1 &
  "$ORRERY" run "$dir/bare.yaml" --mode lockstep --no-log >"$dir/bare" 2>"$dir/err" || fail "bare: $(cat "$dir/bare" "$dir/err" "$dir/peer")"
  wait $! || fail "bare: $(cat "$dir/peer" "$dir/bare")"
  seen=$(cut -d' ' -f1 "$dir/peer")
  grep -q "$((600 - seen)) frames kept from flight software by faults" "$dir/bare" || fail "flight software saw $seen frames: $(cat "$dir/bare")"
  [ "$(hash_of "$dir/bare")" = "${bare:=$(hash_of "$dir/bare")}" ] || fail "bare: other bits: $(cat "$dir/bare")"
done

# in real time the plug is out for a second, and flight software that comes again is heard
over tcp configs/cubesat.yaml >"$dir/tcp.yaml"
echo 'faults: [{link: fsw, at: 1 s, for: 1 s, unplugged: true}]' >"$dir/plug.yaml"
"$ORRERY" run "$dir/tcp.yaml" --mode realtime --no-log --duration 10s --set 'expect=[]' --set realtime.phase=0s --set realtime.spin=0s --sequence "$dir/plug.yaml" >"$dir/real" 2>"$dir/err" &
run=$!
come_again "$(url_of tcp)" &
wait $run || fail "real time: $(cat "$dir/real" "$dir/err")"
grep -q 'connected again' "$dir/real" || fail "nobody was thrown out by the plug: $(cat "$dir/real")"
exit 0
