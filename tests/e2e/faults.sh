#!/bin/sh
# A run at 1 kHz with two links at once, one over shared memory and one over UDP, whose flight software is killed and
# started again, suspended, late, hostile, or cuts the segment: the run goes on by the policy of each link, and the
# summary says what happened, counted by cause.
#
# What a busy machine may delay is waited for: the flight software goes on when the run says that an answer was
# applied, and the run ends then.
. tests/support/script.sh
python=$(python3 -c 'import sys; print(sys.executable)') # itself, not a script that looks for it
shm=$(url_of shm)
udp=$(url_of udp)
peers=
cat >"$dir/run.yaml" <<END
orrery: 1
spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}
actuators:
  wheel_s: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1}
  wheel_u: {kind: reaction_wheel, node: bus.n, axis: [1, 0, 0], inertia: 0.01, max_torque: 0.1}
  jet_s: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 1}
  jet_u: {kind: thruster, node: bus.n, direction: [0, 1, 0], thrust: 1}
sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 1 kHz}}
simulation: {step: 1 ms, duration: 1 s}
realtime: {spin: 0 s, phase: 0 s}
links:
  s: {transport: shm, name: $name, rate: 100 Hz, telemetry: [gyro.*], commands: [wheel_s.torque, jet_s.on_time], timeout: {frames: 10, policy: hold}}
  u: {transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1], rate: 100 Hz, telemetry: [gyro.*], commands: [wheel_u.torque, jet_u.on_time],
      timeout: {frames: 10, policy: hold}}
END
fly() { "$ORRERY" run "$dir/run.yaml" "$@"; }
peer() { # NAME URL WORDS...: in the background
  who=$1
  shift
  "$python" tests/support/faulty_peer.py "$@" >"$dir/$who" 2>"$dir/$who.err" &
  peers="$peers $!"
}
gone() {
  for p in $peers; do wait "$p"; done 2>/dev/null
  peers=
}
# FILE EXPRESSION: over the summary as j, its links as s and u, and what the two peers say they did as did
said() {
  "$python" - "$dir" "$1" "$2" <<'END'
import json, os, sys

dir, file, expression = sys.argv[1:]
j = json.load(open(os.path.join(dir, file)))
did = {}
for who in "su":
    try:
        did[who] = json.load(open(os.path.join(dir, who)))
    except (OSError, ValueError):
        did[who] = None
s, u = j["links"]["s"], j["links"]["u"]
links = [(s, "s"), (u, "u")]


def counted(link, who):
    """Every fault by its cause, and nothing else; what was overtaken on the way is stale, too, and told apart as superseded."""
    d, r = did[who], link["refused"]
    n = lambda *names: sum(d.get(name, 0) for name in names)
    return d and (r["not_finite"], r["out_of_range"], r["wrong_layout"], r["wrong_version"], r["foreign"], r["malformed"], r["dropped"],
                  r["stale"] + r["duplicate"]) == (n("nan", "inf"), n("range"), n("layout"), n("version"), n("foreign"), n("future", "sum"), 0,
                                                  n("replay", "old") + link["answers"]["superseded"])


counts = j.get("timing", {}).get("counts", {})
# judged where the machine gives what a real-time run needs
undisturbed = j.get("lacks") or counts.get("minor_faults") == counts.get("major_faults") == counts.get("voluntary_switches") == 0
sys.exit(0 if eval("(" + expression + ")") else 1)
END
}
show() { # FILE: what there is to see
  echo "$1:"
  "$python" -c 'import json, sys; j = json.load(open(sys.argv[1])); print(j["frames"], j["links"], j.get("timing", {}).get("counts"))' "$dir/$1"
  cat "$dir/s" "$dir/u" "$dir"/*err
}

# --- hostile: every fault by its cause; in lockstep with the bits of a run without ------------------------------------
all=nan,inf,range,layout,version,foreign,future,replay,old,sum
peer s $shm torque=0.02 on_time=0.001
peer u $udp torque=0.03 on_time=0.002
fly --mode lockstep --json >"$dir/good" 2>"$dir/err" || fail "lockstep: $(show good)"
gone
peer s $shm torque=0.02 on_time=0.001 from=100 to=900 faults=$all
peer u $udp torque=0.03 on_time=0.002 from=100 to=900 faults=$all
fly --mode lockstep --json >"$dir/hostile" 2>"$dir/err" || fail "lockstep under faults: $(show hostile)"
gone
said hostile 'all(counted(l, w) and l["applied"] == 99 and len(did[w]) == 10 for l, w in links)' || fail "lockstep: $(show hostile)"
said hostile "j['state_hash'] == '$(sed -n 's/.*"state_hash": "\(.*\)".*/\1/p' "$dir/good")'" || fail "faults change the bits in lockstep"

# the same in real time; an answer that is late is recorded with the frame at which it was applied
peer s $shm torque=0.02 on_time=0.001 from=100 to=900 faults=$all late=300,600
peer u $udp torque=0.03 on_time=0.002 from=100 to=900 faults=$all late=300,600
fly --mode realtime --duration 5s --json >"$dir/hostile" 2>"$dir/err" || fail "real time under faults: $(show hostile)"
gone
said hostile 'all(counted(l, w) for l, w in links) and undisturbed and j["frames"] == 5000' || fail "real time: $(show hostile)"
said hostile 'j["channels"]["wheel_s.torque"][0] == 0.02 and j["channels"]["wheel_u.torque"][0] == 0.03' || fail "what is applied: $(show hostile)"
said hostile 'all(l["late"] == l["answers"]["late"] and len(l["last_late"]) == min(l["late"], 16) and
                  all(x["applied_at"] > x["answers"] + 10 and x["applied_at"] % 10 == 0 for x in l["last_late"]) for l, w in links)' ||
  fail "late answers: $(show hostile)"
# of more than sixteen late ones the first are not kept
said hostile 'all(len(did[w]["late"]) == 2 and l["late"] >= 2 and (l["late"] > 16 or set(did[w]["late"]) <= {x["answers"] for x in l["last_late"]})
                  for l, w in links)' || fail "two answers of each were not late: $(show hostile)"

# --- killed and started again, then suspended, in real time -----------------------------------------------------------
# Silence lasts longer than the link allows, from whenever it began. The run has no end of its own: it is ended
# when both have recovered.
sed 's/, duration: 1 s//' "$dir/run.yaml" >"$dir/endless.yaml"
look_after() { # LINK URL
  "$python" tests/support/faulty_peer.py "$2" torque=0.02 die=400 2>>"$dir/$1.err"
  sleep 0.3
  "$python" tests/support/faulty_peer.py "$2" torque=0.05 stop_after=30 back="$dir/$1.back" 2>>"$dir/$1.err" &
  p=$!
  while state=$(sed 's/.*) //; s/ .*//' /proc/$p/stat 2>/dev/null) && [ "$state" != T ] && [ "$state" != Z ]; do sleep 0.02; done
  sleep 0.3
  kill -CONT $p 2>/dev/null
  wait $p
}
look_after s $shm >/dev/null 2>&1 &
peers="$peers $!"
look_after u $udp >/dev/null 2>&1 &
peers="$peers $!"
"$ORRERY" run "$dir/endless.yaml" --mode realtime --json --set 'links.s.timeout={frames: 10, policy: zero}' >"$dir/killed" 2>"$dir/err" &
run=$!
await test -e "$dir/s.back" && await test -e "$dir/u.back"
back=$?
kill -INT $run
wait $run || fail "killed: $(show killed)"
[ $back -eq 0 ] || fail "after a kill and a stop it does not recover: $(show killed)"
gone
said killed 'undisturbed and all(l["published"] == -(-j["frames"] // 10) and not l["dead"] for l, w in links)' ||
  fail "killed, started again, suspended: $(show killed)"
# nobody waits for a peer that does not read: what is for it is in its own buffer
said killed 'sum(u["lost"].values()) == 0' || fail "suspended over UDP: $(show killed)"
said killed 'all(l["peers"] == 2 and l["timeouts"] >= 2 and l["silences"] >= 2 and len(l["last_peers_came_at"]) == 2 and
                 l["last_peers_came_at"][1] > 400 for l, w in links)' || fail "killed, started again, suspended: $(show killed)"
# a machine that takes the core from s at the very end makes its torque zero, by its policy
said killed 'j["channels"]["wheel_u.torque"][0] == 0.05 and
             j["channels"]["wheel_s.torque"][0] in (0.05, 0 if s["last_silences"][-1]["last"] > j["frames"] - 20 else 0.05)' ||
  fail "recovered: $(show killed)"

# --- commands stop: hold, zero, stop, each link by its own policy -----------------------------------------------------
peer s $shm torque=0.02 on_time=0.5 die=300
peer u $udp torque=0.03 on_time=0.5 die=300
fly --mode realtime --duration 5s --json --set 'links.u.timeout={frames: 10, policy: zero}' >"$dir/policy" 2>"$dir/err" || fail "hold and zero: $(show policy)"
gone
said policy 'j["channels"]["wheel_s.torque"][0] == 0.02 and j["channels"]["wheel_u.torque"][0] == 0 and
             j["channels"]["jet_s.on_time"][0] == j["channels"]["jet_u.on_time"][0] == 0 and
             all(l["timeouts"] >= 1 and l["last_silences"][-1]["last"] == 4990 for l, w in links)' || fail "hold and zero: $(show policy)"
for link in s u; do
  peer s $shm torque=0.02 die=$([ $link = s ] && echo 300 || echo 99999)
  peer u $udp torque=0.03 die=$([ $link = u ] && echo 300 || echo 99999)
  fly --mode realtime --duration 60s --set "links.$link.timeout={frames: 300, policy: stop}" >"$dir/stop" 2>"$dir/err"
  [ $? -eq 3 ] || fail "a run that a link stops is not incomplete: $(cat "$dir/stop")"
  gone
  grep -q "^ended  *by link '$link': $([ $link = s ] && echo 'the flight software died, then ')no command for as long as the run file allows" "$dir/stop" || fail "stop: $(cat "$dir/stop")"
  grep -q 'timed out 1 times: no command for 300 frames of the link; then the run stops' "$dir/stop" || fail "stop is told: $(cat "$dir/stop")"
done

# --- the segment cut to nothing under us ------------------------------------------------------------------------------
peer s $shm torque=0.02 truncate=300
peer u $udp torque=0.03
fly --mode realtime --duration 5s --json >"$dir/cut" 2>"$dir/err" || fail "truncated: $(show cut)"
gone
said cut 's["dead"] and not u["dead"] and j["frames"] == 5000 and u["published"] == 500 and u["peers"] == 1 and
          j["channels"]["wheel_s.torque"][0] == 0.02 and s["last_silences"][-1]["last"] == 4990' || fail "truncated: $(show cut)"
peer s $shm torque=0.02 truncate=300
peer u $udp torque=0.03
fly --mode lockstep --set 'links.s.lockstep={timeout: 5 s, policy: stop}' >"$dir/cut" 2>"$dir/err"
[ $? -eq 3 ] || fail "lockstep without a segment is not incomplete: $(cat "$dir/cut")"
gone
grep -q 'the shared memory was shrunk under us' "$dir/cut" && grep -q "^ended  *by link 's': no command" "$dir/cut" ||
  fail "truncated in lockstep: $(cat "$dir/cut")"

# --- the peer ends the run --------------------------------------------------------------------------------------------
while read -r mode link; do
  peer s $shm torque=0.02 end=$([ $link = s ] && echo 300 || echo 999999)
  peer u $udp torque=0.03 end=$([ $link = u ] && echo 300 || echo 999999)
  incomplete fly --mode "$mode" --duration 60s >"$dir/end" 2>"$dir/err" || fail "ended by the peer: $(cat "$dir/end")"
  gone
  grep -q "^ended  *by link '$link': the flight software ended the run" "$dir/end" || fail "ended by the peer: $(cat "$dir/end")"
done <<'END'
lockstep s
lockstep u
realtime s
realtime u
END
exit 0
