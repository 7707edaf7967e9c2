#!/bin/sh
# The main job: cassini's slew under the sample flight software. One state_hash in batch (linked in), in lockstep over
# shared memory and over UDP; flight software that is killed in the slew and started again settles it, by the policy of
# the link in between, over both.
. tests/support/script.sh
run() { "$ORRERY" run configs/cassini-slew.yaml "$@"; }

run --mode batch --plot "$dir/p.svg" >"$dir/batch" || fail "batch: $(cat "$dir/batch")"
grep -q '^verdict     passed: 4 met, 0 not met' "$dir/batch" || fail "the verdict in batch: $(cat "$dir/batch")"
grep -q '^met  *wheel_1.speed  *between -1900 rpm and 1900 rpm  *700 rpm at 0 s' "$dir/batch" || fail "a verdict in the unit of its bound: $(cat "$dir/batch")"
first=$(hash_of "$dir/batch")
[ ${#first} -eq 16 ] || fail "no state_hash"
[ "$(grep -c 'class="p"' "$dir/p.svg")" -eq 5 ] || fail "the picture has not its five panels"

"$fsw" "shm:$name" cassini 2>"$dir/fsw" &
peer=$!
run --mode lockstep --set links.fsw.name=$name >"$dir/shm" 2>"$dir/err" || fail "lockstep over shm: $(cat "$dir/shm" "$dir/err")"
wait "$peer" || fail "flight software over shm: $(cat "$dir/fsw")"
[ "$(hash_of "$dir/shm")" = "$first" ] || fail "lockstep over shm has other bits than batch"

over_udp() { # PORT
  echo "links.fsw={transport: udp, listen: '127.0.0.1:$1', allow: [127.0.0.1], rate: 100 Hz,
    telemetry: [gyro.rate, star.*, wheel_*.speed, bus.target], commands: [wheel_*.torque, jet_*.on_time], timeout: {frames: 50, policy: zero}}"
}
"$fsw" "udp:127.0.0.1:$port" cassini 2>"$dir/fsw" &
peer=$!
run --mode lockstep --set "$(over_udp "$port")" >"$dir/udp" 2>"$dir/err" || fail "lockstep over UDP: $(cat "$dir/udp" "$dir/err")"
kill "$peer" 2>/dev/null
wait "$peer" 2>/dev/null
[ "$(hash_of "$dir/udp")" = "$first" ] || fail "lockstep over UDP has other bits than batch"

# Killed at 8 s, in the middle of the slew; back after a second and a half, of which one is flown without commands; the
# run ends three seconds after it has settled: all by the run's own clock, whenever this script has its turn. Over
# shared memory and over UDP, side by side. The flight software has a priority where it can be had, so that a busy
# machine does not keep it from its core.
first=
chrt -f 70 true 2>/dev/null && first='chrt -f 70'
tell() { "$ORRERY" ctl --json "$@" 2>/dev/null; } # PID QUESTION
settled() { # PID: within 0.05 deg
  tell "$1" get bus.pointing_error | awk -F '"bus.pointing_error": *' 'NF > 1 { found = 1; off = $2 + 0 } END { exit !(found && off < 8.7e-4) }'
}
killed() { # LOG URL SETTING
  # shellcheck disable=SC2086
  $first "$fsw" "$2" cassini 2>/dev/null &
  mine=$!
  "$ORRERY" run configs/cassini-slew.yaml --mode realtime --set "$3" --duration 120s --set realtime.spin=0s --set realtime.phase=0s >"$dir/$1" 2>"$dir/$1.err" &
  flown=$!
  await flown_to $flown 8000 || fail "$1 does not fly: $(cat "$dir/$1.err")"
  kill -9 "$mine"
  wait "$mine" 2>/dev/null
  await flown_to $flown 1 || fail "$1 does not answer"
  await flown_to $flown $((frame + 1500)) || fail "$1 stands still"
  # shellcheck disable=SC2086
  $first "$fsw" "$2" cassini 2>/dev/null &
  mine=$!
  await settled $flown || echo "# $1 does not settle"
  await flown_to $flown 1 || fail "$1 does not answer"
  await flown_to $flown $((frame + 3000)) || fail "$1 stands still at its end" # what only drifts past the target has left it by then
  tell $flown stop >/dev/null
  wait $flown
  kill -9 "$mine" 2>/dev/null
  wait "$mine" 2>/dev/null
}
judge() { # LOG: where one answer in ten or more came late, the machine flew, not the flight software, and where it ends says nothing
  grep -q '^link fsw .* 2 peers' "$dir/$1" || fail "$1: two peers: $(cat "$dir/$1" "$dir/$1.err")"
  grep -q 'timed out' "$dir/$1" || fail "$1: the policy ruled nothing: $(cat "$dir/$1")"
  end=$(sed -n 's/^bus *\([0-9.e+-]*\) deg off.*/\1/p' "$dir/$1")
  sent=$(sed -n 's/^link .*: \([0-9]*\) frames out, .*/\1/p' "$dir/$1")
  late=$(sed -n 's/^link .* \([0-9]*\) of them late, .*/\1/p' "$dir/$1")
  [ -n "$end" ] && [ -n "$sent" ] && [ -n "$late" ] || fail "$1: no summary: $(cat "$dir/$1")"
  if [ $((10 * late)) -ge "$sent" ]; then
    echo "not judged: $1 had $late late answers of $sent"
  else
    awk -v e="$end" 'BEGIN { exit !(e < 0.05) }' || fail "$1: it does not settle again: $end deg: $(cat "$dir/$1")"
  fi
}
killed killed-shm "shm:$name" "links.fsw.name=$name" &
others=$!
port=$((port + 1))
killed killed-udp "udp:127.0.0.1:$port" "$(over_udp $port)"
wait "$others" || exit 1
judge killed-shm
judge killed-udp

# a value beside its bound is told apart from it
run --mode batch --duration 100ms --set actuators.wheel_1.initial_speed=699.97rpm --set 'expect=[{channel: wheel_1.speed, above: 699.98 rpm, until: 0 s}]' >"$dir/out" 2>&1
grep -q '^NOT MET .*above 699.98 rpm .* 699.97 rpm at 0 s' "$dir/out" || fail "digits: $(cat "$dir/out")"

# what a stand-in needs is asked for
for set in 'links.fsw.stand_in=galileo|no stand-in .galileo.; there are cassini' \
  'links.fsw.telemetry=[gyro.rate]|needs .star.attitude. among its telemetry' \
  'links.fsw.commands=[wheel_*.torque]|needs .jet_1.on_time. among its commands'; do
  run --mode batch --set "${set%%|*}" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "${set%%|*} is no error"
  grep -q "${set#*|}" "$dir/out" || fail "${set%%|*} says: $(cat "$dir/out")"
done
"$fsw" "shm:$name" galileo 2>"$dir/out"
[ $? -eq 2 ] || fail "an unknown mission is a wrong command line"
exit 0
