#!/bin/sh
# A link over UDP with a key_file. The sample flight software, the echo peer and the client in Python fly with the key,
# with the bits of the flight without; through a network that loses, repeats, delays and garbles, too. Without the key,
# or with another, nobody flies, and is told why. What a stranger sends, and what he took down of the run before, ends
# nothing and is counted apart.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
run() { "$ORRERY" run "$@"; }

new_key() { (umask 077; od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$1"); }
new_key "$dir/key"
new_key "$dir/other"
over udp configs/cubesat.yaml | sed 's/stiffness.*/}/; /^  *damping/d; s/policy: hold},/policy: hold}, lockstep: {timeout: 30 s}/' >"$dir/open.yaml"
grep -q 'transport: udp' "$dir/open.yaml" || fail "no link over UDP: $(cat "$dir/open.yaml")"
sed 's|allow: .127.0.0.1.|&, key_file: key|' "$dir/open.yaml" >"$dir/keyed.yaml" # beside the run file, from wherever it flies
url="udp:127.0.0.1:$port"

fly() { # RUN.yaml OUT PEER...: in lockstep for 10 s; both end well
  what=$1 out=$2
  shift 2
  "$@" >"$dir/peer" 2>&1 &
  peer=$!
  run "$what" --mode lockstep --duration 10s >"$out" 2>"$dir/err" || fail "$*: $(cat "$out" "$dir/err" "$dir/peer")"
  wait $peer || fail "$*: the peer: $(cat "$dir/peer")"
}
fly "$dir/open.yaml" "$dir/quiet" "$fsw" "$url"
for peer in "$fsw" "$(dirname "$ORRERY")/echo" 'python3 -I -S -B io/client/orrery_client.py'; do
  # shellcheck disable=SC2086
  fly "$dir/keyed.yaml" "$dir/out" $peer --key-file "$dir/key" "$url"
  grep -q '100 frames out, 99 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$peer: $(cat "$dir/out")"
  grep -q -e forged -e replayed "$dir/out" && fail "$peer: refused on a quiet network: $(cat "$dir/out")"
  [ "$peer" != "$fsw" ] || [ "$(hash_of "$dir/out")" = "$(hash_of "$dir/quiet")" ] || fail "a key changes the bits: $(cat "$dir/out" "$dir/quiet")"
done

# a network that does everything to datagrams, copies among it; each copy is refused by its counter, and each
# that is garbled by its seal
for peer in "$fsw" 'python3 -I -S -B io/client/orrery_client.py'; do
  : >"$dir/net"
  python3 -I tests/support/network.py $((port + 1)) "$port" 5 10 5 >"$dir/net" 2>&1 &
  net=$!
  await grep -q ready "$dir/net" || fail "no network: $(cat "$dir/net")"
  # shellcheck disable=SC2086
  $peer --key-file "$dir/key" "udp:127.0.0.1:$((port + 1))" >"$dir/peer" 2>&1 &
  peer_id=$!
  run "$dir/keyed.yaml" --mode lockstep --duration 10s --json >"$dir/out" 2>"$dir/err" || fail "$peer, garbled: $(cat "$dir/out" "$dir/err" "$dir/peer")"
  kill $net $peer_id 2>/dev/null
  wait $net $peer_id 2>/dev/null
  python3 - "$dir/out" <<'P' || fail "$peer, garbled: $(cat "$dir/out" "$dir/net")"
import json, sys
link = json.load(open(sys.argv[1]))["links"]["fsw"]
refused = link["refused"]
assert refused["forged"] > 0 and refused["replayed"] > 0, refused
assert refused["malformed"] == 0, refused  # nothing of that gets so far
P
  [ "$peer" != "$fsw" ] || grep -q "\"$(hash_of "$dir/quiet")\"" "$dir/out" || fail "other bits: $(cat "$dir/out" "$dir/quiet")"
done

# nobody flies without the key, and each is told what to do
"$ORRERY" run "$dir/keyed.yaml" --mode realtime --duration 900s --set realtime.priority=0 --set links.fsw.wait=0s --json >"$dir/run" 2>"$dir/err" &
run=$!
await flies $run || fail "the run does not fly: $(cat "$dir/err")"
refuses() { # WHAT SAYS COMMAND...: ends with a status that is not 0, and that word
  what=$1 says=$2
  shift 2
  timeout 30 "$@" >"$dir/out" 2>&1 && fail "$what: flies: $(cat "$dir/out")"
  grep -q "$says" "$dir/out" || fail "$what: says: $(cat "$dir/out")"
}
chmod 644 "$dir/other"
for peer in "$fsw" 'python3 -I -S -B io/client/orrery_client.py'; do
  # shellcheck disable=SC2086
  {
    refuses 'without a key' "takes packets with a key alone: give the key file that its link has as 'key_file'" $peer "$url"
    refuses 'a key for all to read' 'chmod 600' $peer --key-file "$dir/other" "$url"
    refuses 'a key that is not there' 'No such file' $peer --key-file "$dir/none" "$url"
    refuses 'a key over shared memory' 'links in packets' $peer --key-file "$dir/key" "shm:$name"
  }
done
chmod 600 "$dir/other"
refuses 'the wrong key' 'has another key' "$(dirname "$ORRERY")/echo" --key-file "$dir/other" "$url"
cat >"$dir/wrong.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
for _ in range(40):  # it is told where the last of its questions was answered in time
    try:
        orrery_client.open(sys.argv[1], 0.5, key_file=sys.argv[2])
    except ConnectionRefusedError as error:
        if "another key" in str(error):
            sys.exit(str(error))
P
refuses 'the wrong key in Python' 'has another key' python3 -I -S -B "$dir/wrong.py" "$url" "$dir/other"

# the packets of a flight, taken down on the way, then said again to the next run; and a stranger's
# END of a later generation
cat >"$dir/recorded.py" <<'P'
import pickle, socket, sys
sys.path.insert(0, "io/client")
import orrery_client as oc
url, key, kept = sys.argv[1:4]
packets = []
put = oc.Seal.put
def listened(self, packet, question=False):
    packets.append(put(self, packet, question))
    return packets[-1]
oc.Seal.put = listened
with oc.open(url, key_file=key) as link:
    for _ in range(10):
        link.wait(60)
        link.send()
    link.send(end=True)
    assert link.forged == 0 and link.replayed == 0
pickle.dump(packets, open(kept, "wb"))
P
cat >"$dir/stranger.py" <<'P'
import pickle, socket, sys
sys.path.insert(0, "io/client")
import orrery_client as oc
packets = pickle.load(open(sys.argv[2], "rb"))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for p in packets:
        s.sendto(p, ("127.0.0.1", int(sys.argv[1])))
    for f in (oc.COMMANDS, oc.END, oc.BEAT, oc.LEAVE):
        for generation in range(2**32 - 1, 0, -2**28):
            s.sendto(oc.write_command(0x1e80, 1, f, generation << 32, 0, 0, bytes(24 if f == oc.COMMANDS else 0)), ("127.0.0.1", int(sys.argv[1])))
print(sum(1 for p in packets if p[-40:-32] != bytes(8)))
P
python3 -I -S -B "$dir/recorded.py" "$url" "$dir/key" "$dir/packets" >"$dir/peer" 2>&1 || fail "the recorded flight: $(cat "$dir/peer")"
wait $run
[ $? -eq 3 ] || fail "a run that its peer ends is incomplete: $(cat "$dir/run" "$dir/err")"
"$ORRERY" run "$dir/keyed.yaml" --mode realtime --duration 900s --set realtime.priority=0 --set links.fsw.wait=0s --json >"$dir/run" 2>"$dir/err" &
run=$!
await flies $run || fail "the next run does not fly: $(cat "$dir/err")"
told=$(python3 -I -S -B "$dir/stranger.py" "$port" "$dir/packets") || fail "the stranger"
sleep 2
kill -0 $run 2>/dev/null || fail "a stranger ended the run: $(cat "$dir/run")"
kill -TERM $run
wait $run
python3 - "$dir/run" "$told" <<'P' || fail "strangers: $(cat "$dir/run")"
import json, sys
link = json.load(open(sys.argv[1]))["links"]["fsw"]
assert link["refused"]["replayed"] == int(sys.argv[2]) > 10 and link["refused"]["forged"] == 64, (link["refused"], sys.argv[2])
assert link["peers"] == 0 and link["applied"] == 0, link
P

# what is wrong with the key's file, from the run
chmod 640 "$dir/key"
run "$dir/keyed.yaml" --mode lockstep >"$dir/out" 2>&1 && fail "a run takes a key that others may read"
grep -q "link 'fsw'.*others may read or write it (mode 0640): chmod 600 it" "$dir/out" || fail "$(cat "$dir/out")"
rm "$dir/key"
"$ORRERY" check "$dir/keyed.yaml" >"$dir/out" 2>&1 || fail "a file is checked where its key is not: $(cat "$dir/out")"
run "$dir/keyed.yaml" --mode lockstep >"$dir/out" 2>&1 && fail "a run flies without its key"
grep -q 'key file .*/key: No such file' "$dir/out" || fail "$(cat "$dir/out")"
sed 's/key_file: key/&, mtu: 160/' "$dir/keyed.yaml" >"$dir/short.yaml"
"$ORRERY" check "$dir/short.yaml" >"$dir/out" 2>&1 && fail "an mtu without room for the seal"
grep -q "with 'key_file' the 'mtu' is at least 168" "$dir/out" || fail "$(cat "$dir/out")"
exit 0
