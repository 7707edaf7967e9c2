#!/bin/sh
# Files that are made to hang or to exhaust: a FIFO without a writer, a huge list, a text without end. Each is refused with a message, in bounded
# memory.
. tests/support/script.sh
refused() { # PATTERN COMMAND...
  pattern=$1
  shift
  (ulimit -v 2600000; exec timeout 500 "$@" >"$dir/out" 2>"$dir/err")
  status=$?
  [ $status -eq 1 ] && grep -q "$pattern" "$dir/err" || fail "$*: exit $status, not '$pattern': $(head -c 600 "$dir/err")"
}

# a FIFO: named, it may have no writer; from the shell, it has
mkfifo "$dir/fifo.yaml"
refused 'it is a FIFO' "$ORRERY" check "$dir/fifo.yaml"
refused 'it is a FIFO' "$ORRERY" run "$dir/fifo.yaml" --mode batch
sed 's|^spacecraft:|spacecraft: fifo.yaml #|' configs/cassini-slew.yaml >"$dir/includes.yaml"
refused 'it is a FIFO' "$ORRERY" check "$dir/includes.yaml"
sleep 0.2 | cat - configs/cubesat.yaml | "$ORRERY" check /dev/stdin >/dev/null 2>"$dir/err" || fail "a pipe from the shell: $(cat "$dir/err")"

# 80 MB of a flow list, 40 million numbers
{
  printf 'orrery: 1\nspacecraft: {bodies: {}}\nsimulation: {step: 1 ms, x: ['
  head -c 80000000 /dev/zero | tr '\0' ',' | sed 's/,/0,/g' | head -c 80000000
  printf '0]}\n'
} >"$dir/list.yaml"
refused 'more than 8,000,000 values' "$ORRERY" check "$dir/list.yaml"
rm -f "$dir/list.yaml"

# a text without end
yes '# a comment' | refused 'longer than 128 MiB' "$ORRERY" check /dev/stdin || exit 1
exit 0
