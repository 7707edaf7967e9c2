#!/bin/sh
# The command line itself: help, version, and what a wrong one gets.
set -u
fail() {
  echo "FAIL: $1"
  exit 1
}

"$ORRERY" --help | grep -q '^usage: orrery COMMAND' || fail "--help gives the usage"
"$ORRERY" help | grep -q '^usage: orrery COMMAND' || fail "help gives the usage"
"$ORRERY" --version | grep -q '^flags: .*-ffp-contract=fast' || fail "--version tells the flags"
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

# Each command of the overview has a manual, and `--help` after it is the same manual.
for name in $("$ORRERY" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  "$ORRERY" help "$name" | grep -q "^usage: orrery $name" || fail "help $name"
  [ "$("$ORRERY" help "$name")" = "$("$ORRERY" "$name" --help)" ] || fail "$name --help"
  out=$("$ORRERY" "${name}z" 2>&1)
  case $out in *"did you mean '$name'?"*) ;; *) fail "suggestion for ${name}z: $out" ;; esac
done

# The links beside bare pairs: each path carried what it was given, and every trip is accounted for. How many a busy machine loses is its affair.
if [ "$(nproc)" -ge 2 ]; then
  links=$("$ORRERY" bench --links --quick --json 2>/dev/null) || fail "bench --links"
  echo "$links" | python3 -c '
import json, sys
got = json.load(sys.stdin)
for transport in "shm", "udp":
    for side in "bare", "link":
        trips = got["round_trip"][transport][side]
        assert trips["samples"] + trips["lost"] == 2 * 1000 and trips["samples"] > 0, (transport, side, trips)
        assert 0 < trips["p50_ns"] <= trips["p99_ns"], (transport, side, trips)
        for what in "arrival", "interval":
            frames = got[what][transport][side]["samples"]
            assert 0 < frames <= 2 * 250, (transport, side, what, frames)
    for what in "round_trip", "arrival", "interval":
        assert got[what][transport]["ratio"]["p50"]["ratio"] > 0, (transport, what)
' || fail "bench --links: $links"
  ls /dev/shm/orrery.bench.* >/dev/null 2>&1 && fail "bench --links leaves a segment"
fi
"$ORRERY" bench --links --trips none >/dev/null 2>&1
[ $? -eq 2 ] || fail "a bad value of bench --links is exit 2"
"$ORRERY" bench --links --core 1023 2>&1 | grep -q 'two cores that this process may use' || fail "bench --links flies without a core"
exit 0
