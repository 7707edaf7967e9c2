#!/bin/bash
# A minute at 1 kHz with the echo peer over each transport: every frame out is seen by the peer and answered, none is
# lost, and the rt thread takes no page fault and no voluntary switch but its sleeps. Then the same in
# tests/timing/io/links/packets/relay_links.c, which counts allocations too and compares with a run without links; and
# ten seconds with the echo peer in Python.
#
#   tests/soak/links.sh      SECONDS_EACH (60)
#
# How many answers were late is told and not judged: a frame that the machine starts late leaves the peer no time.
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
here=$(dirname "$ORRERY")
seconds=${SECONDS_EACH:-60}
port=$((20000 + $$ % 750 * 16))
status=0
# The peer runs off the core of the executive (the last one), with a priority where that may be had.
peer=()
[ "$(nproc)" -gt 1 ] && peer=(taskset -c "0-$(($(nproc) - 2))")
chrt -f 70 true 2>/dev/null && peer+=(chrt -f 70)

fly() { # TRANSPORT SECONDS PEER...
  transport=$1 length=$2 url=shm:/orrery.soak.$$
  link="transport: shm, name: /orrery.soak.$$"
  shift 2
  [ "$transport" = udp ] && url=udp:127.0.0.1:$port link="transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]"
  "${peer[@]}" "$@" "$url" >"$dir/peer" 2>&1 &
  pid=$!
  "$ORRERY" run configs/cubesat.yaml --mode realtime --step 1ms --duration "${length}s" --json \
    --set "links={fsw: {$link, rate: 1 kHz, wait: 10 s, telemetry: [gyro.rate, star.attitude, bus.target], commands: [wheel_*.torque]}}" \
    >"$dir/json" 2>"$dir/err" || {
    cat "$dir/err"
    echo "FAIL: the run over $transport"
    status=1
  }
  wait $pid || {
    echo "FAIL: the peer over $transport"
    status=1
  }
  echo "$transport, $(basename "$1"): $(cat "$dir/peer")"
  python3 - "$dir/json" $((length * 1000)) "$(cat "$dir/peer")" <<'P' || status=1
import json, re, sys
run, frames, said = json.load(open(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
link, counts = run["links"]["fsw"], run["timing"]["counts"]
answers, refused = link["answers"], {k: v for k, v in link["refused"].items() if v}
print(f"  answers {answers}; refused {refused or 'none'}; lost {sum(link['lost'].values())}")
print(f"  overruns: own {run['overruns']['own']}, the machine's {run['overruns']['machine']}, following {run['overruns']['following']};"
      f" page faults {counts['minor_faults'] + counts['major_faults']}, voluntary switches {counts['voluntary_switches']} beyond"
      f" {counts['sleeps']} sleeps; stolen {100 * run['environment']['clock']['steal']:.2g} %")
seen = re.search(r"frames 0 to (\d+): (\d+) seen, 0 lost, (\d+) answered", said)
wrong = []
if not seen or (int(seen[1]), int(seen[2]), int(seen[3])) != (frames - 1, frames, frames) or link["published"] != frames:
    wrong.append("frames lost on the way to the peer")
if answers["unanswered"] or answers["waiting"] != 1 or sum(answers.values()) != frames:
    wrong.append("frames without an answer")
if sum(link["lost"].values()) or set(refused) - {"stale"} or refused.get("stale", 0) != answers["superseded"]:
    wrong.append("packets or commands lost")
if counts["minor_faults"] + counts["major_faults"] and not any(l["what"] == "memory is not locked" for l in run["lacks"]):
    wrong.append("page faults")
if counts["voluntary_switches"] or counts["sleeps"] > counts["frames"]:
    wrong.append("switches beyond one a frame")
if wrong:
    print("FAIL: " + ", ".join(wrong))
sys.exit(1 if wrong else 0)
P
}
for transport in shm udp; do
  fly $transport "$seconds" "$here/echo" futex
done
for transport in shm udp; do
  fly $transport 10 python3 io/client/orrery_client.py
done
PROOF_SECONDS=$seconds "$here/tests/timing/io/links/packets/relay_links" >"$dir/out" 2>&1 || {
  cat "$dir/out"
  status=1
}
grep -a 'peer waits' "$dir/out"
exit $status
