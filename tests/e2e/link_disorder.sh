#!/bin/sh
# Faults of links beyond lost commands: commands that come in another order or twice, and telemetry that is cut, lost,
# damaged, out of order or copied. Batch, lockstep over both carriers with flight software in C, and in Python, have the
# same bits; each kind shows in its counts; saved states go on with the same; logs fly again; and where every answer was
# on time, real time has these bits, too.
#
#   tests/e2e/link_disorder.sh      TRIES (3) in real time
. tests/support/script.sh
tries=${TRIES:-3}
cat >"$dir/faults.yaml" <<'Y'
faults:
  - {link: fsw, at: 1 s, for: 2 s, reorder: 0.5}
  - {link: fsw, at: 3 s, for: 2 s, copies: 0.5}
  - {link: fsw, of: telemetry, at: 5 s, for: 2 s, loss: 0.4}
  - {link: fsw, of: telemetry, at: 6 s, for: 3 s, corruption: 0.4}
  - {link: fsw, of: telemetry, at: 8 s, for: 2 s, reorder: 0.4}
  - {link: fsw, of: telemetry, at: 10 s, for: 2 s, copies: 0.5}
  - {link: fsw, of: telemetry, at: 12 s, for: 800 ms, cut: true}
  - {link: fsw, at: 12 s, for: 1 s, reorder: 0.5}
Y
fly() { # RUN ARGUMENTS...
  run=$1
  shift
  "$ORRERY" run "$run" --set 'expect=[]' --set 'links.fsw.timeout={frames: 5, policy: zero}' --duration 14s "$@"
}
only() { # FAULT: the hash of a flight in batch that has it alone
  printf 'faults:\n  - {link: fsw, at: 2 s, for: 4 s, %s}\n' "$1" >"$dir/one.yaml"
  fly configs/cubesat.yaml --mode batch --sequence "$dir/one.yaml" >"$dir/one" 2>&1 || fail "$1: $(cat "$dir/one")"
  hash_of "$dir/one"
}
fly configs/cubesat.yaml --mode batch >"$dir/plain" 2>&1 || fail "$(cat "$dir/plain")"
plain=$(hash_of "$dir/plain")
# what comes twice changes nothing; what is lost, damaged or overtaken is not seen, whichever it is; each kind of
# the rest changes the flight
for fault in 'copies: 1' 'of: telemetry, copies: 1' 'loss: 0' 'of: telemetry, reorder: 0'; do
  [ "$(only "$fault")" = "$plain" ] || fail "$fault changes the flight"
done
cut=$(only 'of: telemetry, cut: true')
[ "$cut" = "$(only 'of: telemetry, loss: 1')" ] && [ "$cut" = "$(only 'of: telemetry, corruption: 1')" ] || fail "all lost is not all cut"
for fault in 'reorder: 1' 'of: telemetry, loss: 0.3' 'of: telemetry, corruption: 0.3' 'of: telemetry, reorder: 0.3' 'cut: true'; do
  [ "$(only "$fault")" != "$plain" ] || fail "$fault changes nothing"
done

fly configs/cubesat.yaml --mode batch --sequence "$dir/faults.yaml" --log "$dir/batch.mcap" >"$dir/batch" 2>&1 || fail "$(cat "$dir/batch")"
[ "$(hash_of "$dir/batch")" != "$plain" ] || fail "nothing was lost"
for at in 1.35 8.75 12.45 12.95; do # within commands held back, telemetry kept back, a silence that lasts, and both
  fly configs/cubesat.yaml --mode batch --sequence "$dir/faults.yaml" --duration ${at}s --save-state "$dir/state" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
  fly configs/cubesat.yaml --mode batch --sequence "$dir/faults.yaml" --from-state "$dir/state" --duration "$(awk "BEGIN {print 14 - $at}")s" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
  [ "$(hash_of "$dir/out")" = "$(hash_of "$dir/batch")" ] || fail "a state saved at $at s goes on otherwise: $(cat "$dir/out")"
done
"$ORRERY" run --from "$dir/batch.mcap@8.75s" --mode batch --duration 5.25s --set 'expect=[]' >"$dir/out" 2>&1
[ "$(hash_of "$dir/out")" = "$(hash_of "$dir/batch")" ] || fail "going on loses others: $(cat "$dir/out")"

identical() { # LOG
  "$ORRERY" replay "$1" >"$dir/out" 2>&1 || fail "replay: $(cat "$dir/out")"
  grep -qx 'identical   bit for bit' "$dir/out" || fail "replay: $(cat "$dir/out")"
}
judge() { # JSON
  python3 - "$1" "$2" <<'P' || fail "$1: $(cat "$1")"
import json, sys
j = json.load(open(sys.argv[1]))
link = j["links"]["fsw"]
a, refused = link["answers"], link["refused"]
print(sys.argv[1].rsplit("/", 1)[1], j["state_hash"], a, refused, "missed", link["missed"])
assert sum(a.values()) == link["published"], "every frame has one end"
# at 10 Hz: of 30 answers a part is overtaken, of 20 half come twice; of some 78 frames a part is kept back
assert a["superseded"] >= 5 and refused["stale"] >= 5 and refused["duplicate"] >= 4 and a["kept_back"] >= 20, "counts"
# by frames: of packets refused as stale or duplicate there are more over UDP, where one that is waited for comes again
assert a["unanswered"] == 0 and link["missed"] == a["kept_back"] + a["superseded"], "nothing else was lost"
assert j["state_hash"] == sys.argv[2], "other bits than in batch"
P
}
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  "$fsw" "$(url_of $transport)" cubesat >"$dir/fsw" 2>&1 &
  peer=$!
  fly "$dir/$transport.yaml" --mode lockstep --sequence "$dir/faults.yaml" --log "$dir/$transport.mcap" --json >"$dir/json.$transport" 2>"$dir/err" || fail "$transport: $(cat "$dir/err" "$dir/fsw")"
  wait $peer
  judge "$dir/json.$transport" "$(hash_of "$dir/batch")"
  identical "$dir/$transport.mcap"
done
identical "$dir/batch.mcap"

# flight software in Python that counts what it saw: the same over both
cat >"$dir/counts.py" <<'P'
import sys
import orrery_client
seen = 0
with orrery_client.open(sys.argv[1]) as link:
    while link.wait(60):
        seen += 1
        link.send({"wheel_x.torque": 1e-6 * (seen % 97) - 0.02 * link["gyro.rate"][0]})
print(seen)
P
for transport in shm udp; do
  PYTHONPATH=io/client python3 "$dir/counts.py" "$(url_of $transport)" >"$dir/seen.$transport" 2>&1 &
  peer=$!
  fly "$dir/$transport.yaml" --mode lockstep --sequence "$dir/faults.yaml" >"$dir/python.$transport" 2>&1 || fail "Python, $transport: $(cat "$dir/python.$transport")"
  wait $peer || fail "Python: $(cat "$dir/seen.$transport")"
done
[ "$(hash_of "$dir/python.shm")" = "$(hash_of "$dir/python.udp")" ] || fail "Python: $(cat "$dir/python.shm" "$dir/python.udp")"
cmp -s "$dir/seen.shm" "$dir/seen.udp" && [ "$(cat "$dir/seen.udp")" -lt 120 ] || fail "it saw $(cat "$dir/seen.shm") and $(cat "$dir/seen.udp") frames of 140"

# in real time, 4 s of it: whether answers are on time is for the machine to say
cat >"$dir/short.yaml" <<'Y'
faults:
  - {link: fsw, at: 500 ms, for: 1 s, reorder: 0.5}
  - {link: fsw, of: telemetry, at: 1 s, for: 1 s, loss: 0.4}
  - {link: fsw, of: telemetry, at: 1500 ms, for: 1 s, corruption: 0.4}
  - {link: fsw, of: telemetry, at: 2 s, for: 1 s, reorder: 0.5}
  - {link: fsw, of: telemetry, at: 3 s, for: 700 ms, cut: true}
Y
fly configs/cubesat.yaml --mode batch --sequence "$dir/short.yaml" --duration 4s >"$dir/batch" 2>&1 || fail "$(cat "$dir/batch")"
first=
chrt -f 70 true 2>/dev/null && first='chrt -f 70'
for transport in shm udp; do
  same=
  for try in $(seq "$tries"); do
    # shellcheck disable=SC2086
    $first "$fsw" "$(url_of $transport)" cubesat >"$dir/fsw" 2>&1 &
    peer=$!
    fly "$dir/$transport.yaml" --mode realtime --sequence "$dir/short.yaml" --duration 4s --json --set realtime.spin=0s --set realtime.phase=0s --set realtime.core=any \
      >"$dir/real" 2>"$dir/err" || fail "real time, $transport: $(cat "$dir/real" "$dir/err")"
    wait $peer
    python3 - "$dir/real" "$(hash_of "$dir/batch")" <<'P'
import json, sys
j = json.load(open(sys.argv[1]))
link = j["links"]["fsw"]
a = link["answers"]
assert sum(a.values()) == link["published"] == 40 and a["kept_back"] >= 8, link
assert link["refused"]["malformed"] == 0, "a frame that was kept back was answered"
same = j["state_hash"] == sys.argv[2]
on_time = a["late"] + a["unanswered"] + link["refused"]["stale"] - a["superseded"] == 0
print("real time:", "the bits of batch" if same else "other bits", a, link["refused"])
assert same or not on_time, "other bits, and every answer was on time"
sys.exit(0 if same else 77)
P
    status=$?
    [ $status -eq 0 ] && same=yes && break
    [ $status -eq 77 ] || fail "real time, $transport"
  done
  [ "$same" ] || echo "over $transport none of $tries runs had every answer on time"
done
