#!/bin/sh
# Several links of one run: both transports, four rates, a phase, telemetry alone and commands alone; peers in C
# and in Python. One state_hash whoever answers; each link waits for its own peer before frame 0, whether those
# before it have one or not.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
built=$(dirname "$ORRERY")
pids=
cat >"$dir/run.yaml" <<E
orrery: 1
spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}
actuators:
  wheel_a: &wheel {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1}
  wheel_b: {<<: *wheel, axis: [0, 1, 0]}
  jet: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 1}
sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 100 Hz}}
simulation: {step: 1 ms, duration: 2 s, initial: {bus: {rate: [0, 0, 0.1]}}}
realtime: {spin: 0 s, phase: 0 s, priority: 0}
links:
  monitor: {transport: shm, name: $name.m, rate: 1 Hz, telemetry: ['*'], commands: [], wait: 20 s}
  fsw: {transport: shm, name: $name.f, rate: 500 Hz, telemetry: [gyro.*], commands: [wheel_a.torque], wait: 20 s}
  radio: {transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1], rate: 50 Hz, phase: 7, telemetry: [], commands: [wheel_b.torque], wait: 20 s}
  slow: {transport: udp, listen: '127.0.0.1:$((port + 1))', allow: [127.0.0.1], rate: 2 Hz, telemetry: ['*'], commands: [jet.on_time], mtu: 128, wait: 20 s}
E
cat >"$dir/peer.py" <<'P'
import sys
sys.path.insert(0, "io/client")
import orrery_client
with orrery_client.open(sys.argv[1], 60) as link:
    while link.wait(60):
        link.send({n: 1e-6 * link.frame for n, c in link.channels.items() if c.direction})
P
cat >"$dir/peer.c" <<'C'
#include "io/client/client.h"
int main(int argc, char **argv) {
  struct orr_client link;
  int status = argc == 2 ? orr_client_open(&link, argv[1], 20000) : 1;
  if (status != 0)
    return 1;
  while ((status = orr_client_wait(&link, ORR_CLIENT_FUTEX, 20000)) > 0) {
    for (uint32_t i = 0; orr_client_channel(&link, i); i++)
      orr_client_set(&link, orr_client_find(&link, orr_client_name(&link, i)), 0, 1e-6 * (double)link.frame.number);
    orr_client_send(&link);
  }
  orr_client_close(&link);
  return orr_client_why(status)[0] != 't';
}
C
cc -I. -o "$dir/peer" "$dir/peer.c" "$built/libclient.a" 2>"$dir/err" || exit 77 # a library with sanitizers
url() {
  case $1 in
  monitor) echo "shm:$name.m" ;;
  fsw) echo "shm:$name.f" ;;
  radio) echo "udp:127.0.0.1:$port" ;;
  slow) echo "udp:127.0.0.1:$((port + 1))" ;;
  esac
}
peer() { # LINK LANGUAGE
  case $2 in
  c) "$dir/peer" "$(url "$1")" & ;;
  python) python3 "$dir/peer.py" "$(url "$1")" & ;;
  esac
  pids="$pids $!"
}
gone() {
  for p in $pids; do wait "$p" || fail "a peer ends badly, $1"; done
  pids=
}
hash=
for languages in 'c c c c' 'python c python c' 'c python c python'; do
  # shellcheck disable=SC2086
  set -- $languages
  for link in monitor fsw radio slow; do
    peer $link "$1"
    shift
  done
  "$ORRERY" run "$dir/run.yaml" --mode lockstep >"$dir/out" 2>"$dir/err" || fail "$languages: $(cat "$dir/out" "$dir/err")"
  gone "$languages"
  while read -r link out; do
    grep -q "^link $link  *[^ ]*: $out frames out, $((out - 1)) commands applied, 0 of them late, 0 missed; 1 peers" "$dir/out" ||
      fail "$languages: $link: $(cat "$dir/out")"
  done <<E
monitor 2
fsw 1000
radio 100
slow 4
E
  new=$(hash_of "$dir/out")
  [ ${#new} -eq 16 ] && [ "$new" = "${hash:=$new}" ] || fail "$languages: other bits: $new, not $hash"
done

# the first has nobody and does not wait, the next waits for one that comes a second later: no frame goes out before
(sleep 1 && exec "$built/echo" "$(url fsw)" >"$dir/echo" 2>&1) &
pids=$!
incomplete "$ORRERY" run "$dir/run.yaml" --mode realtime --set links.monitor.wait=0s --set links.radio.wait=0s --set links.slow.wait=0s \
  --set links.fsw.rate=10Hz >"$dir/out" 2>"$dir/err" ||
  fail "a link without a peer: $(cat "$dir/out" "$dir/err")"
wait $pids
pids=
grep -q '^echo: frames 0 to 1900: 20 seen' "$dir/echo" || fail "a link does not wait for its peer: $(cat "$dir/echo" "$dir/err")"
for link in monitor radio slow; do
  grep -q "^link '$link': no flight software came in 0 s; going on without" "$dir/err" || fail "nobody says that $link has none: $(cat "$dir/err")"
done
grep -q "^link 'fsw': no flight" "$dir/err" && fail "it says that fsw has none: $(cat "$dir/err")"

# they wait in the same time, not one after the other
begin=$(date +%s%N)
incomplete "$ORRERY" run "$dir/run.yaml" --mode realtime --duration 10ms --set links.monitor.wait=10s --set links.radio.wait=10s --set links.slow.wait=10s \
  --set links.fsw.wait=10s >"$dir/out" 2>"$dir/err" || fail "four links without a peer: $(cat "$dir/out" "$dir/err")"
waited=$((($(date +%s%N) - begin) / 1000000))
[ "$(grep -c 'going on without' "$dir/err")" -eq 4 ] && [ $waited -ge 10000 ] && [ $waited -lt 30000 ] ||
  fail "four links that wait for ten seconds each took $waited ms: $(cat "$dir/err")"

# lockstep goes as fast as both can, with a peer that cannot wake the run, too: over shared memory not
# much slower than over UDP
took() { # LINK MAPPING
  peer "$1" python
  "$ORRERY" run "$dir/run.yaml" --mode lockstep --set "links={$1: $2}" >"$dir/out" 2>&1 || fail "$1 alone: $(cat "$dir/out")"
  gone "$1 alone"
  sed -n 's/^took *\([^ ]*\) s.*/\1/p' "$dir/out"
}
body="rate: 500 Hz, telemetry: [gyro.*], commands: [wheel_a.torque], wait: 20 s"
# The least of each, in turns, of up to twelve: other programs only ever add. A run that sleeps too long
# does so in each of them.
over_shm='' over_udp=''
near() { # the least of the first list is below three times that of the second
  echo "$over_shm | $over_udp" | awk -F'|' '
    function least(text, n, t, i, m) { n = split(text, t, " "); m = t[1]; for (i = 2; i <= n; i++) if (t[i] < m) m = t[i]; return m + 0 }
    { s = least($1); u = least($2); exit !(s > 0 && s < 3 * u) }'
}
for _ in $(seq 12); do
  over_shm="$over_shm $(took fsw "{transport: shm, name: $name.f, $body}")"
  over_udp="$over_udp $(took radio "{transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1], $body}")"
  near && break
done
near || fail "a peer in Python takes $over_shm s over shared memory and $over_udp s over UDP"
exit 0
