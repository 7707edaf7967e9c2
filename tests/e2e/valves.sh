#!/bin/sh
# A thruster's valve closes when commands stop, without a `timeout` of the link: when flight software leaves, at the
# next boundary of the link; when it falls silent, after more than a second. In lockstep and real time; a log replays
# it, and a run that goes on from a log knows whether the pulse is the link's to end.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
cat >"$dir/run.yaml" <<Y
orrery: 1
spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}
actuators:
  jet: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 1}
  push: {kind: wrench, node: bus.n, max_force: 1}
simulation: {step: 10 ms, duration: 3 s}
record: {channels: ["*"], checkpoint: 0.5 s}
links:
  fsw: {transport: shm, name: $name, rate: 10 Hz, telemetry: [jet.thrust], commands: [jet.on_time, push.force], wait: 10 s,
    lockstep: {timeout: 1 s, policy: continue}}
Y
# one long pulse in the answer to frame 0, then zeros; then it leaves, or says nothing and stays
cat >"$dir/peer.py" <<'P'
import sys, time
sys.path.insert(0, "io/client")
import orrery_client
link = orrery_client.open(sys.argv[1], 60)
for k in range(4):
    link.wait(60)
    link.send({"jet.on_time": 0 if k else 100, "push.force": [0.5, 0, 0]})
if sys.argv[2] == "stays":
    while link.wait(60):
        pass
link.close()
P
cat >"$dir/judge.py" <<'P'
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
names = [n.split(" ")[0] for n in rows[0]]
at, thrust, force = (names.index(n) for n in ("time", "jet.thrust", "push.force.x"))
rows = [[float(x) for x in r] for r in rows[1:]]
open_ = [round(r[at], 6) for r in rows if r[thrust] > 0]
assert open_, "it never opened"
first, last = float(sys.argv[2]), float(sys.argv[3])
assert abs(open_[0] - 0.11) < 1e-6 or sys.argv[4] == "realtime", open_[0]
assert first - 1e-6 <= open_[-1] <= last + 1e-6, f"open until {open_[-1]}"
assert rows[-1][force] == 0.5, "a level did not stay"
P
on() { # ARGUMENTS...: without flight software, into $dir/on.mcap
  rm -f "$dir/on.mcap"
  "$ORRERY" run "$@" --mode lockstep --set links.fsw.wait=100ms --set 'links.fsw.lockstep.timeout=1 ms' --log "$dir/on.mcap" >"$dir/out" 2>&1
  [ $? -eq 3 ] || fail "$what: $(cat "$dir/out")" # for nobody commanded
}
opened() { # LOG FROM TO MODE: the last frame in which the valve may be open
  "$ORRERY" log export "$1" --csv "$dir/run.csv" >"$dir/said" 2>&1 || fail "export: $(cat "$dir/said")"
  python3 -I -S "$dir/judge.py" "$dir/run.csv" "$2" "$3" "$4" 2>"$dir/said" || fail "$what: $(tail -n 1 "$dir/said")"
}
fly() { # MODE TRANSPORT PEER FROM TO ARGUMENTS...
  what="$1 over $2, $3" mode=$1 transport=$2 peer_does=$3 from=$4 to=$5
  shift 5
  over "$transport" "$dir/run.yaml" >"$dir/$transport.yaml"
  python3 -I -S -B "$dir/peer.py" "$(url_of "$transport")" "$peer_does" 2>"$dir/peer" &
  peer=$!
  log=$dir/$mode.$transport.$peer_does.mcap # one that is there would stay
  "$ORRERY" run "$dir/$transport.yaml" --mode "$mode" --log "$log" "$@" >"$dir/out" 2>&1 || fail "$what: exit $?: $(cat "$dir/out")"
  wait $peer || fail "$what: the peer: $(cat "$dir/peer")"
  opened "$log" "$from" "$to" "$mode"
  hash_of "$dir/out" >"$dir/$transport.$peer_does.hash"
  "$ORRERY" replay "$log" >"$dir/said" 2>&1 || fail "replay of $what: $(cat "$dir/said")"
  "$ORRERY" replay "$log" --from 1s >"$dir/said" 2>&1 || fail "replay from 1 s of $what: $(cat "$dir/said")"
}
# the answers to frames 0 to 30 act at 0.1 to 0.4 s; nothing is left for 0.5 s, and 11 frames of silence are more than a
# second. Who leaves is not waited for; who stays and says nothing is, a second at each boundary.
for transport in shm udp; do
  fly lockstep $transport leaves 0.5 0.5 --set 'links.fsw.lockstep.timeout=100 s'
done
cmp "$dir/shm.leaves.hash" "$dir/udp.leaves.hash" || fail "the carriers have other bits"
fly lockstep shm stays 1.5 1.5 --duration 1.7s

# it goes on in the middle of the pulse, between two checkpoints, and nobody comes: it is the link's, and ends
what='going on in the pulse'
on --from "$dir/lockstep.shm.leaves.mcap@300ms"
sed 's/rows\[-1\]\[force\] == 0.5/True/; s/abs(open_\[0\] - 0.11) < 1e-6/True/' "$dir/judge.py" >"$dir/judge.on" && mv "$dir/judge.on" "$dir/judge.py"
opened "$dir/on.mcap" 1.3 1.6 lockstep
# a pulse of the file is not the link's, and stays: in one run, and where one goes on from a log
sed 's/^links:/commands: [{channel: jet.on_time, at: 100 ms, value: 9 s}]\nlinks:/' "$dir/shm.yaml" >"$dir/script.yaml"
what='a pulse of the file'
on "$dir/script.yaml"
opened "$dir/on.mcap" 2.99 3 lockstep
mv "$dir/on.mcap" "$dir/whole.mcap"
for at in 1s 1250ms; do
  what="a pulse of the file, going on from $at"
  on --from "$dir/whole.mcap@$at"
  opened "$dir/on.mcap" 3.99 4.25 lockstep # three seconds on
done

# By the clock a machine may be late, never as late as the pulse's own end at 10.1 s. With a timeout of ten seconds only
# the leaving can close it.
fly realtime shm leaves 0.11 9 --duration 10.5s --set 'links.fsw.timeout={frames: 100, policy: hold}'
fly realtime udp stays 0.11 9 --duration 10.5s
exit 0
