#!/bin/sh
# Captures of a network as a source of commands: what flight software said over UDP, written to pcap files of every kind
# by a script of the tests, flies again to the bits of the live run, in every mode; with an echo whatever the stamps
# are, without one by its stamps.
. tests/support/script.sh
. tests/support/can_layouts.sh

recorder() { # FILE: between $port and $port + 1
  rm -f "$dir/ready"
  python3 tests/support/pcap.py record $((port + 1)) "$port" "$1" >"$dir/ready" 2>&1 &
  recorder=$!
  await grep -q ready "$dir/ready" || fail "no recorder: $(cat "$dir/ready")"
}
live() { # NAME COMMAND...: of flight software; the run is $dir/NAME.yaml
  live=$1
  shift
  recorder "$dir/$live.said"
  "$@" >"$dir/peer" 2>&1 &
  peer=$!
  "$ORRERY" run "$dir/$live.yaml" --mode lockstep --no-log --duration 20s >"$dir/$live" 2>"$dir/err" || fail "$live: $(cat "$dir/$live" "$dir/err" "$dir/peer")"
  [ "$live" = echo ] || kill $peer # the sample notices the end
  wait $peer || fail "$live: $(cat "$dir/peer")"
  kill $recorder
  wait $recorder
  grep -q '200 frames out, 199 commands applied, 0 of them late, 0 missed' "$dir/$live" || fail "$live: $(cat "$dir/$live")"
}
again() { # NAME FILE MODE [FLAG...]: the commands of the file
  file=$2 mode=$3 from=$1
  shift 3
  case $from in
  echo) sed "s|transport: udp, .*|transport: pcap, file: $dir/$file,|" "$dir/echo.yaml" ;;
  *) sed "s|transport: udp|transport: pcap|; s|listen: .*|file: $dir/$file|" "$dir/$from.yaml" ;;
  esac >"$dir/again.yaml"
  "$ORRERY" run "$dir/again.yaml" --mode "$mode" --no-log --duration 20s --set "links.fsw.port=$port" "$@" >"$dir/again" 2>"$dir/err" || fail "$file, $mode: $(cat "$dir/again" "$dir/err")"
}
same() { # NAME WHAT
  [ -n "$(hash_of "$dir/$1")" ] && [ "$(hash_of "$dir/again")" = "$(hash_of "$dir/$1")" ] || fail "$2: other bits than live: $(cat "$dir/again" "$dir/$1")"
}

# --- with an echo -----------------------------------------------------------------------------------------------------
over udp configs/cubesat.yaml | sed 's|transport: udp, \(.*\), rate|transport: udp, \1,\n     rate|' >"$dir/echo.yaml"
live echo "$fsw" "udp:127.0.0.1:$((port + 1))"
for kind in ethernet-us-little ethernet-ns-big vlan-us-big cooked-ns-little cooked2-us-little raw-ns-little; do
  python3 tests/support/pcap.py write "$dir/echo.said" $kind "$port" "$dir/$kind.pcap" || fail "no capture $kind"
  again echo $kind.pcap batch
  same echo $kind
done
again echo raw-ns-little.pcap lockstep
same echo lockstep
grep -q '200 frames out, 199 commands applied, 0 of them late, 0 missed' "$dir/again" || fail "what is told of a replay: $(cat "$dir/again")"
again echo raw-ns-little.pcap batch --duration 2s
cp "$dir/again" "$dir/short"
again echo raw-ns-little.pcap realtime --duration 2s
same short 'real time'

# --- without ----------------------------------------------------------------------------------------------------------
can_link whole "transport: udp
    listen: 127.0.0.1:$port" >"$dir/bare.yaml"
live bare python3 -I tests/support/can_peer.py "udp:$((port + 1))" whole
for seed in 1 2; do
  python3 tests/support/pcap.py write "$dir/bare.said" ethernet-ns-little "$port" "$dir/bare.pcap" 0.1 $seed || fail "no capture"
  again bare bare.pcap batch
  same bare "stamps, seed $seed"
done
# what comes half a period later answers another frame
again bare bare.pcap batch --set 'links.fsw.begin=60 ms'
[ "$(hash_of "$dir/again")" != "$(hash_of "$dir/bare")" ] || fail "stamps mean nothing: the test shows nothing"

# --- going on from a checkpoint ---------------------------------------------------------------------------------------
again bare bare.pcap batch
cp "$dir/again" "$dir/whole"
"$ORRERY" run "$dir/again.yaml" --mode batch --duration 10s --set "links.fsw.port=$port" --no-log --save-state "$dir/state" >"$dir/first" 2>&1 || fail "half: $(cat "$dir/first")"
"$ORRERY" run "$dir/again.yaml" --mode batch --duration 10s --set "links.fsw.port=$port" --no-log --from-state "$dir/state" >"$dir/again" 2>&1 || fail "the other half: $(cat "$dir/again")"
same whole 'from a saved state'

# --- what is cut, and what is none ------------------------------------------------------------------------------------
python3 tests/support/pcap.py cut "$dir/bare.pcap" "$dir/cut.pcap" 5
again bare cut.pcap batch
grep -q 'cut.pcap ends within a packet' "$dir/err" || fail "no word of a capture that was cut: $(cat "$dir/err")"
exit 0
