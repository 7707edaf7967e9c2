#!/bin/sh
# A lost packet costs time and no bits: lockstep over UDP through a network that loses, repeats, delays and reorders 0.1
# to 30 % of the datagrams in both directions, as a seed says. Cassini under the sample flight software has the bits of
# batch; a law in Python has those that it has over shared memory. Then the same with frames and commands that take
# several packets each, and where half of the datagrams are followed by a copy that is cut or has a byte changed.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
run() { "$ORRERY" run "$@"; }

network() { # SEED PERCENT GARBAGE_PERCENT: between $((port + 1)) and the run; its process is $net
  : >"$dir/net"
  python3 -I tests/support/network.py $((port + 1)) "$port" "$@" >"$dir/net" 2>&1 &
  net=$!
  await grep -q ready "$dir/net" || fail "no network: $(cat "$dir/net")"
}
ends() { # PID...: without a word about it
  kill "$@"
  wait "$@"
} 2>/dev/null

# RUN.yaml SEED PERCENT COMMAND...: flight software, given its URL; leaves the summary in $dir/out
fly() {
  what=$1 seed=$2 percent=$3
  shift 3
  network "$seed" "$percent" "${garbage:-0}"
  "$@" "udp:127.0.0.1:$((port + 1))" ${mission:-} >"$dir/peer" 2>&1 &
  peer=$!
  run "$what" --mode lockstep >"$dir/out" 2>"$dir/err" || fail "$percent % of seed $seed: $(cat "$dir/out" "$dir/err" "$dir/peer")"
  ends $peer $net
  tail -n 1 "$dir/net"
}
same() { # WHAT HASH
  [ "$(hash_of "$dir/out")" = "$2" ] || fail "$1 has other bits: $(cat "$dir/out" "$dir/net" "$dir/peer")"
  grep -q ' 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$1: not every frame was answered in turn: $(cat "$dir/out")"
}
patient() { sed "s|allow: .127.0.0.1.|&, lockstep: {timeout: 30 s}$2|" "$1" >"$1.yaml"; } # FILE MORE

cp -r configs "$dir/configs"
mission=cassini
over udp configs/cassini-slew.yaml | sed '/after: 2[79] s/d; s/duration: [^,}]*/duration: 4 s/' >"$dir/configs/slew"
patient "$dir/configs/slew" ''
run "$dir/configs/slew.yaml" --mode batch >"$dir/batch" 2>&1
[ "$(hash_of "$dir/batch" | wc -c)" -eq 17 ] || fail "batch: $(cat "$dir/batch")"
for percent in 0.1 1 3 10 30; do
  fly "$dir/configs/slew.yaml" 7 $percent "$fsw"
  same "cassini at $percent %" "$(hash_of "$dir/batch")"
done
garbage=50
for seed in 1 2 3 4; do
  fly "$dir/configs/slew.yaml" $seed 10 "$fsw"
  same "cassini among garbage" "$(hash_of "$dir/batch")"
done
garbage=0

# a law with a memory, which a frame out of turn, twice or left out would show in
cat >"$dir/law.py" <<'P2'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 300) as link:
    sum, last = [0.0] * 3, -1
    while link.wait(60):
        assert link.frame > last, (link.frame, last)
        last = link.frame
        sum = [0.9 * s + 0.01 * r for s, r in zip(sum, link["gyro.rate"])]
        link.send({"wheel_%s.torque" % a: max(-1e-3, min(1e-3, s)) for a, s in zip("xyz", sum)})
        link.send({"wheel_x.torque": 1e-4})  # the first answer to a frame stands
P2
mission=
sed "s|name: [^,]*|name: $name|; s|, stiffness.*|}|; s/^  *stiffness.*//; s/policy: hold},/policy: hold}}/; s/duration: [^,}]*/duration: 20 s/" configs/cubesat.yaml >"$dir/configs/shm.yaml"
python3 -I -S -B "$dir/law.py" "shm:$name" >"$dir/peer" 2>&1 &
peer=$!
run "$dir/configs/shm.yaml" --mode lockstep >"$dir/quiet" 2>"$dir/err" || fail "over shared memory: $(cat "$dir/quiet" "$dir/err" "$dir/peer")"
wait $peer
over udp "$dir/configs/shm.yaml" >"$dir/configs/one"
patient "$dir/configs/one" ''
patient "$dir/configs/one" ', mtu: 140'
mv "$dir/configs/one.yaml" "$dir/configs/several.yaml"
sed -i "s|telemetry: .[^]]*.|telemetry: ['*']|" "$dir/configs/several.yaml"
patient "$dir/configs/one" ''
for percent in 1 30; do
  fly "$dir/configs/one.yaml" 11 $percent python3 -I -S -B "$dir/law.py"
  same "the law in Python at $percent %" "$(hash_of "$dir/quiet")"
  fly "$dir/configs/several.yaml" 13 $percent python3 -I -S -B "$dir/law.py"
  same "the law in Python in several packets at $percent %" "$(hash_of "$dir/quiet")"
done
garbage=50
fly "$dir/configs/one.yaml" 17 10 python3 -I -S -B "$dir/law.py"
same "the law in Python among garbage" "$(hash_of "$dir/quiet")"
fly "$dir/configs/several.yaml" 19 10 python3 -I -S -B "$dir/law.py"
same "the law in Python in several packets among garbage" "$(hash_of "$dir/quiet")"
exit 0
