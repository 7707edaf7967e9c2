#!/bin/sh
# A minute at 100 Hz over each carrier in real time, with the echo peer: every frame has one end, none is lost on the
# way, and what is told: the round trip, from the tick of a frame until its answer is there, by the stamps of the
# kernel where it has some.
#
#   tests/soak/carriers.sh      SECONDS_EACH (60)
#
# How long a round trip takes, and how many answers were late, is told and not judged: that is the machine's. A frame
# without an answer is judged where nothing was late and nothing was overtaken.
. tests/support/script.sh
seconds=${SECONDS_EACH:-60}
start_cable
status=0
for t in shm udp tcp unix stream serial; do
  sed 's/rate: 10 Hz, *$/rate: 100 Hz,/; s/name: \/orrery.fsw, rate: 10 Hz/name: \/orrery.fsw, rate: 100 Hz/' configs/cubesat.yaml >"$dir/cubesat.yaml"
  over "$t" "$dir/cubesat.yaml" >"$dir/$t.yaml"
  speed=
  [ "$t" = serial ] && speed='--set links.fsw.baud=921600' # a pseudo-terminal has no speed; a line for 132 bytes at 100 Hz needs 230400 baud
  # shellcheck disable=SC2086
  "$(dirname "$ORRERY")/echo" "$(url_of "$t" | sed 's/@115200/@921600/')" >"$dir/peer" 2>&1 &
  peer=$!
  # shellcheck disable=SC2086
  "$ORRERY" run "$dir/$t.yaml" --mode realtime --no-log --duration "${seconds}s" --set 'expect=[]' $speed --json >"$dir/json" 2>"$dir/err" || {
    echo "FAIL: $t: $(cat "$dir/err")"
    status=1
    continue
  }
  wait $peer || {
    echo "FAIL: the peer over $t: $(cat "$dir/peer")"
    status=1
  }
  python3 - "$dir/json" "$t" "$seconds" "$(cat "$dir/peer")" <<'P' || status=1
import json, re, sys
run, name, seconds, said = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3]), sys.argv[4]
link = run["links"]["fsw"]
a, b, lost = link["answers"], link["came_before_boundary"], {k: v for k, v in link["lost"].items() if v}
frames = 100 * seconds
trip = "no stamps" if b is None else "round trip p50 %.3f ms, p99 %.3f ms, most %.3f ms" % tuple(10 - 1e-6 * b[k] for k in ("p50_ns", "p1_ns", "min_ns"))
print("%-7s %d frames: %d on time, %d late, %d overtaken, %d never answered; %s; lost %s; the machine's overruns %d" % (
    name, link["published"], a["on_time"], a["late"], a["superseded"], a["unanswered"], trip, lost or "nothing", run["overruns"]["machine"]))
wrong = []
if link["published"] != frames or sum(a.values()) != frames:
    wrong.append("each frame has one end")
if {k for k in lost} - {"connected_again"}:
    wrong.append("something was lost on the way")
if a["unanswered"] and not (a["late"] or a["superseded"]):
    wrong.append("frames without an answer, though nothing was late")
if wrong:
    print("FAIL: " + name + ": " + ", ".join(wrong) + "; " + said)
sys.exit(1 if wrong else 0)
P
done
exit $status
