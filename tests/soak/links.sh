#!/bin/sh
# A minute at 1 kHz with flight software over each transport: every frame answered, none lost, and no page fault of the rt thread.
#
#   tests/soak/links.sh      SECONDS_EACH (60)
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
seconds=${SECONDS_EACH:-60}
name=/orrery.soak.$$
port=$((20000 + $$ % 20000))
status=0
# the flight software has a priority, too: the test is of the link, not of what else the machine does
first=
chrt -f 70 true 2>/dev/null && first='chrt -f 70'
sed 's/rate: 10 Hz/rate: 1 kHz/' configs/cubesat.yaml >"$dir/shm.yaml"
sed "s|transport: shm, name: /orrery.fsw|transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]|" "$dir/shm.yaml" >"$dir/udp.yaml"
for transport in shm udp; do
  set -- "$dir/$transport.yaml" --mode realtime --step 1ms --duration "${seconds}s"
  [ $transport = shm ] && set -- "$@" --set links.fsw.name=$name && url=shm:$name || url=udp:127.0.0.1:$port
  $first "$(dirname "$ORRERY")/fsw" $url &
  peer=$!
  "$ORRERY" run "$@" >"$dir/out" 2>&1 || status=1
  wait $peer || status=1
  frames=$((seconds * 1000))
  grep -q "$frames frames out, $((frames - 1)) commands applied, .* 0 missed" "$dir/out" || status=1
  grep -q '^page faults: 0' "$dir/out" || status=1
  echo "$transport: $(grep '^link' "$dir/out"); $(grep '^page faults' "$dir/out")"
done
exit $status
