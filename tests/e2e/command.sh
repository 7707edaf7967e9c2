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
"$ORRERY" --version | grep -q '^orrery .' || fail "--version tells the commit"

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
exit 0
