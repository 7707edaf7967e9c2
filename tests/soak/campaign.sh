#!/bin/sh
# Campaigns at length: 50 kills and resumes; a thousand flights of cassini on two cores beside half the sum of what the
# flights took; 100,000 flights without growth of memory; 100 flights in lockstep with flight software as a process,
# which leave nothing behind.
#
#   tests/soak/campaign.sh [kills | speed | memory | lockstep]...   without a word: all
. tests/support/script.sh
wanted() { [ $# -eq 1 ] && { [ -z "$words" ] || case " $words " in *" $1 "*) ;; *) false ;; esac; }; }
words=$*

if wanted kills; then
  sed 's/duration: 60 s/duration: 20 s/; s/at: 25 s/at: 15 s/' configs/cubesat.yaml >"$dir/ship.yaml"
  cat >"$dir/c.yaml" <<'Y'
orrery: 1
campaign:
  run: ship.yaml
  flights: 3000
  sampling: latin_hypercube
  vary: {spacecraft.bodies.bus.mass: {normal: [4 kg, 0.1 kg], within: [3.8 kg, 4.2 kg]}, simulation.seed: each}
  keep: {measures: {max: [bus.rate]}}
Y
  "$ORRERY" campaign run "$dir/c.yaml" -o "$dir/whole" --jobs 2 >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
  i=0
  while [ $i -lt 50 ]; do
    "$ORRERY" campaign run "$dir/c.yaml" -o "$dir/killed" --jobs $((i % 5 + 1)) --resume >"$dir/out" 2>&1 &
    victim=$!
    await test -e "$dir/killed/journal.jsonl"
    before=$(wc -l <"$dir/killed/journal.jsonl")
    more() { [ "$(wc -l <"$dir/killed/journal.jsonl")" -gt "$before" ] || ! kill -0 $victim 2>"$dir/err"; }
    await more
    kill -9 $victim 2>"$dir/err"
    wait $victim 2>"$dir/err"
    i=$((i + 1))
  done
  left=$((3000 - $(wc -l <"$dir/killed/journal.jsonl")))
  "$ORRERY" campaign run "$dir/c.yaml" -o "$dir/killed" --resume >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
  cmp "$dir/whole/table.csv" "$dir/killed/table.csv" && cmp "$dir/whole/table.jsonl" "$dir/killed/table.jsonl" || fail "after 50 kills"
  echo "50 kills, the last with $left flights left: tables equal"
fi

# the sum of processor time of the workers is what the solver and the reading took: the rest is the campaign's own
if wanted speed; then
  cat >"$dir/speed.yaml" <<Y
orrery: 1
campaign: {run: $PWD/configs/cassini-slew.yaml, flights: 1000, vary: {simulation.duration: {one_of: [60 s]}, simulation.seed: each}, expect: [{share: 0.001}]}
Y
  begun=$(date +%s.%N)
  "$ORRERY" campaign run "$dir/speed.yaml" -o "$dir/speed" --jobs 2 >"$dir/out" 2>&1
  [ $? -lt 2 ] || fail "$(cat "$dir/out")"
  python3 - "$dir/speed" "$begun" "$(date +%s.%N)" <<'P' || fail "slower than 1.1 times half the sum"
import json, sys
took = float(sys.argv[3]) - float(sys.argv[2])
total = sum(json.loads(line)["wall_s"] for line in open(sys.argv[1] + "/timing.jsonl"))
print(f"1000 flights of cassini: {took:.1f} s; half the sum of the flights {total / 2:.1f} s; {took / (total / 2):.3f} times")
sys.exit(took > 1.1 * total / 2)
P
fi

# what each process has at its most after the first thousand flights, and at the end
if wanted memory; then
  sed 's/duration: 60 s/duration: 1 s/; /attitude:/d; s/target: #.*/target: [0, 0, 0, 1]/' configs/cubesat.yaml >"$dir/brief.yaml"
  cat >"$dir/many.yaml" <<'Y'
orrery: 1
campaign: {run: brief.yaml, flights: 100000, vary: {spacecraft.bodies.bus.mass: {uniform: [3.8 kg, 4.2 kg]}, simulation.seed: each}}
Y
  "$ORRERY" campaign run "$dir/many.yaml" -o "$dir/many" --jobs 2 >"$dir/out" 2>&1 &
  victim=$!
  flown() { [ "$(wc -l <"$dir/many/journal.jsonl" 2>"$dir/err")" -ge "$1" ] || ! kill -0 $victim; }
  peaks() { for p in $victim $(pgrep -P $victim); do sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status"; done; }
  until flown 1000; do sleep 0.1; done 2>"$dir/err"
  peaks >"$dir/early"
  until flown 99000; do sleep 0.5; done 2>"$dir/err"
  peaks >"$dir/late"
  wait $victim || fail "$(cat "$dir/out")"
  [ "$(wc -l <"$dir/many/table.csv")" -eq 100001 ] || fail "100,000 rows"
  paste "$dir/early" "$dir/late" | awk '{print "peak after 1000 and 99000 flights, kB: " $1 " " $2; if ($2 > $1 + 512) grown = 1} END {exit grown || NR < 3}' || fail "memory grows"
fi

if wanted lockstep; then
  sed 's/duration: 60 s/duration: 5 s/' configs/cubesat.yaml >"$dir/five.yaml"
  sed "s|transport: shm, name: [^,]*|transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]|" "$dir/five.yaml" >"$dir/five-udp.yaml"
  ls /dev/shm >"$dir/before"
  for ship in five five-udp; do
    cat >"$dir/$ship-c.yaml" <<Y
orrery: 1
campaign: {run: $ship.yaml, flights: 100, vary: {simulation.seed: each}, software: {command: 'exec $fsw \$ORRERY_LINK cubesat'}}
Y
    "$ORRERY" campaign run "$dir/$ship-c.yaml" -o "$dir/$ship" --jobs 4 >"$dir/out" 2>&1 || fail "$ship: $(cat "$dir/out")"
  done
  cmp "$dir/five/table.csv" "$dir/five-udp/table.csv" || fail "over shm and over UDP"

  ls /dev/shm | comm -13 "$dir/before" - | grep '^orrery\.c' && fail "segments are left"
  echo "100 flights in lockstep over shm and 100 over UDP: nothing is left"
fi
exit 0
