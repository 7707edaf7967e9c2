#!/bin/sh
# The command line itself: help, version, and what a wrong one gets.
. tests/support/script.sh

"$ORRERY" --help | grep -q '^usage: orrery COMMAND' || fail "--help gives the usage"
"$ORRERY" help | grep -q '^usage: orrery COMMAND' || fail "help gives the usage"
"$ORRERY" --version | grep -q '^flags: .*-ffp-contract=off' || fail "--version tells the flags"
"$ORRERY" --version | grep -qx "orrery $(sed -n "s/^VERSION := //p" Makefile)" || fail "--version tells the version of the Makefile"
"$ORRERY" --version | grep -q "^commit: ." || fail "--version tells the commit"

"$ORRERY" >/dev/null 2>&1
[ $? -eq 2 ] || fail "no command is exit 2"
out=$("$ORRERY" nonsense 2>&1)
[ $? -eq 2 ] || fail "an unknown command is exit 2"
case $out in *"unknown command 'nonsense'"*) ;; *) fail "an unknown command is named: $out" ;; esac
"$ORRERY" help nonsense >/dev/null 2>&1
[ $? -eq 2 ] || fail "help on an unknown command is exit 2"
if [ -w /dev/full ]; then
  "$ORRERY" --help >/dev/full 2>/dev/null && fail "output that cannot be written is not success"
fi

# A page whose reader has seen enough is no failure.
for page in 'help channels' --help 'run --help'; do
  # shellcheck disable=SC2086
  { sleep 0.1 && "$ORRERY" $page 2>"$dir/err"; echo $? >"$dir/status"; } | true
  [ ! -s "$dir/err" ] && [ "$(cat "$dir/status")" -eq 0 ] || fail "$page, not read to its end: $(cat "$dir/err")"
done

# The words of the table of times are explained.
"$ORRERY" help top >"$dir/top"
for word in start wake-up slack spin phase late overran 'caught up' slips 'by our own doing'; do
  grep -q "^  $word  " "$dir/top" || fail "help top does not explain '$word'"
done
"$ORRERY" help run | grep -q "explained by 'orrery help top'" || fail "help run does not lead there"

# Each command of the overview has a manual, and `--help` after it is the same manual.
for name in $("$ORRERY" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  "$ORRERY" help "$name" | grep -q "^usage: orrery $name" || fail "help $name"
  [ "$("$ORRERY" help "$name")" = "$("$ORRERY" "$name" --help)" ] || fail "$name --help"
  out=$("$ORRERY" "${name}z" 2>&1)
  case $out in *"did you mean '$name'?"*) ;; *) fail "suggestion for ${name}z: $out" ;; esac
done

# Every page of help fits a terminal of 100 columns, and so do the manual pages, which are printed from them.
"$ORRERY" --help >"$dir/help.overview"
for name in $(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p; /^topics/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$dir/help.overview"); do
  "$ORRERY" help "$name" >"$dir/help.$name" || fail "help $name"
done
for kind in $(sed -n '/^Actuators/,$s/^  \([a-z][a-z_]*\) .*/\1/p' "$dir/help.devices"); do
  "$ORRERY" help devices "$kind" >"$dir/help.devices.$kind" || fail "help devices $kind"
done
for section in $(sed -n '/SECTION$/,$s/^  \([a-z][a-z_.]*\) .*/\1/p' "$dir/help.run-file"); do
  "$ORRERY" help run-file "$section" >"$dir/help.run-file.$section" || fail "help run-file $section"
done
python3 - "$dir"/help.* <<'PYTHON' || fail "lines of more than 100 columns"
import sys
assert len(sys.argv) > 60, sys.argv
long = [(path, line) for path in sys.argv[1:] for line in open(path, encoding="utf-8") if len(line.rstrip("\n")) > 100]
print(*long, sep="\n")
sys.exit(bool(long))
PYTHON

# The links beside bare pairs: each path carried what it was given, and every trip is accounted for. How many a busy
# machine loses is its affair. At an ordinary priority: a thread of SCHED_FIFO that looks for answers all the time, and
# has them late, keeps runs of other tests off its core for a minute.
if [ "$(nproc)" -ge 2 ]; then
  exec 9>/tmp/orrery.test.core && flock 9 # where another test clears a core, one is left
  "$ORRERY" bench --links --quick --trips 100 --priority 0 --json >"$dir/links" 2>"$dir/err" &
  bench=$!
  wait $bench || fail "bench --links: $(cat "$dir/err")"
  exec 9>&-
  python3 -c '
import json, sys
got = json.load(open(sys.argv[1]))
for transport in "shm", "udp":
    for side in "bare", "link":
        trips = got["round_trip"][transport][side]
        assert trips["samples"] + trips["lost"] == 2 * 100 and trips["samples"] > 0, (transport, side, trips)
        assert 0 < trips["p50_ns"] <= trips["p99_ns"], (transport, side, trips)
        for what in "arrival", "interval":
            frames = got[what][transport][side]["samples"]
            assert 0 < frames <= 2 * 250, (transport, side, what, frames)
    for what in "round_trip", "arrival", "interval":
        assert got[what][transport]["ratio"]["p50"]["ratio"] > 0, (transport, what)
' "$dir/links" || fail "bench --links: $(cat "$dir/links")"
  ls /dev/shm/orrery*."$bench"* >/dev/null 2>&1 && fail "bench --links leaves a segment" # others' may be in use
fi
"$ORRERY" bench --links --trips none >/dev/null 2>&1
[ $? -eq 2 ] || fail "a bad value of bench --links is exit 2"
"$ORRERY" bench --links --core 1023 2>&1 | grep -q 'two cores that this process may use' || fail "bench --links flies without a core"
# the unit for systemd: its command is one that orrery takes, it holds what SECURITY.md says of it, and systemd reads it
unit=tools/orrery.service
line=$(sed -n 's/^ExecStart=//p' $unit)
case $line in '/usr/local/bin/orrery run /etc/orrery/%i.yaml '*) ;; *) fail "$unit starts '$line'" ;; esac
# shellcheck disable=SC2086
(set -- ${line#* run * } && exec "$ORRERY" run configs/cubesat.yaml "$@" --no-log --duration 100ms --set 'links={}' --set realtime.priority=0) >"$dir/out" 2>"$dir/err" ||
  fail "$unit: '$line': $(cat "$dir/err")"
while read -r key; do
  grep -qxF "$key" $unit || fail "$unit lacks $key"
done <<'END'
User=orrery
LimitRTPRIO=99
LimitMEMLOCK=infinity
LimitRTTIME=infinity
LimitNOFILE=4096
LimitCORE=0
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
SystemCallFilter=@system-service seccomp capset capget
END
if command -v systemd-analyze >/dev/null; then
  mkdir "$dir/unit"
  sed "s|/usr/local/bin/orrery|$(readlink -f "$ORRERY")|; s/^\(User\|Group\)=.*/\1=root/" $unit >"$dir/unit/orrery@.service"
  SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$dir/unit/orrery@cassini-slew.service" >"$dir/out" 2>&1
  status=$?
  if [ $status -ne 0 ] || grep -q 'orrery@' "$dir/out"; then fail "systemd-analyze, exit $status: $(cat "$dir/out")"; fi
fi
exit 0
