#!/bin/sh
# Files that are made to hang or to exhaust: a FIFO without a writer, a huge list, a text without end. Each is refused
# with a message, in bounded memory.
. tests/support/script.sh
refused() { # PATTERN COMMAND...
  pattern=$1
  shift
  case $1 in
  small) (small "$@" >"$dir/out" 2>"$dir/err") ;;
  *) (ulimit -v 2600000; exec timeout 500 "$@" >"$dir/out" 2>"$dir/err") ;;
  esac
  status=$?
  [ $status -eq 1 ] && grep -q "$pattern" "$dir/err" || fail "$*: exit $status, not '$pattern': $(head -c 600 "$dir/err")"
}

small() { # small COMMAND...: in 256 MB
  shift
  ulimit -v 250000 && exec timeout 60 "$@"
}

# a FIFO: named, it may have no writer; from the shell, it has
mkfifo "$dir/fifo.yaml"
refused 'it is a FIFO' "$ORRERY" check "$dir/fifo.yaml"
refused 'it is a FIFO' "$ORRERY" run "$dir/fifo.yaml" --mode batch
sed 's|^spacecraft:|spacecraft: fifo.yaml #|' configs/cassini-slew.yaml >"$dir/includes.yaml"
refused 'it is a FIFO' "$ORRERY" check "$dir/includes.yaml"
sleep 0.2 | cat - configs/cubesat.yaml | "$ORRERY" check /dev/stdin >/dev/null 2>"$dir/err" || fail "a pipe from the shell: $(cat "$dir/err")"

# where else a file is named, or stands in a folder that is named
mkdir "$dir/folder" && mkfifo "$dir/folder/campaign.json" "$dir/folder/summary.json"
printf '{"orrery_timing": 1, "parts": []}' >"$dir/none.json"
refused 'it is a FIFO' small "$ORRERY" timing compare "$dir/fifo.yaml" "$dir/none.json"
refused 'it is a FIFO' small "$ORRERY" timing merge "$dir/fifo.yaml"
mkdir "$dir/trend" && mkfifo "$dir/trend/one.json"
refused 'it is a FIFO' small "$ORRERY" timing trend "$dir/trend" -o "$dir/trend.html"
refused 'it is a FIFO' small "$ORRERY" judge "$dir/none.json" "$dir/fifo.yaml"
refused 'it is a FIFO' small "$ORRERY" campaign run configs/campaigns/wings-slew.yaml --resume -o "$dir/folder"
refused 'it is a FIFO' small "$ORRERY" campaign report "$dir/folder" -o "$dir/page.html"
refused 'it is a FIFO' small "$ORRERY" eval tests/vectors/cart-pendulum/model.json tests/vectors/cart-pendulum/case.json --solve "@$dir/fifo.yaml"

# 80 MB of a flow list, 40 million numbers
{
  printf 'orrery: 1\nspacecraft: {bodies: {}}\nsimulation: {step: 1 ms, x: ['
  head -c 80000000 /dev/zero | tr '\0' ',' | sed 's/,/0,/g' | head -c 80000000
  printf '0]}\n'
} >"$dir/list.yaml"
refused 'more than 8,000,000 values' "$ORRERY" check "$dir/list.yaml"
rm -f "$dir/list.yaml"

# results of JSON: lists of nothing, of which each is two bytes of a text; numbers; white space. What is within bounds
# is read, to its own mistakes
{ printf '{"orrery_timing": 1, "x": [[]'; yes ',[]' | head -n 3000000 | tr -d '\n'; printf '], "parts": []}'; } >"$dir/big.json"
refused 'more than 4000000 values, or 500000 lists and objects: give a smaller one' small "$ORRERY" timing merge "$dir/big.json"
{ printf '{"orrery_timing": 1, "x": [0'; yes ',0' | head -n 5000000 | tr -d '\n'; printf '], "parts": []}'; } >"$dir/big.json"
refused 'more than 4000000 values' small "$ORRERY" timing compare "$dir/big.json" "$dir/none.json"
{ head -c 70000000 /dev/zero | tr '\0' ' '; cat "$dir/none.json"; } >"$dir/big.json"
refused 'it is longer than 64 MiB: give a smaller one' small "$ORRERY" timing merge "$dir/big.json"
rm -f "$dir/big.json"
printf '{"orrery_timing": 1, "x": "[{,\\"[,", "parts": []}' >"$dir/text.json"
refused 'no slice is in it' small "$ORRERY" timing merge "$dir/text.json" # a text with brackets is no list

# numbers without end
refused 'longer than 16 MiB' small "$ORRERY" eval tests/vectors/cart-pendulum/model.json tests/vectors/cart-pendulum/case.json --solve @/dev/zero

# many sensors, each with a delay within its bounds
{
  printf 'sensors:\n  s: &s {kind: rate_gyro, node: bus.imu, delay: 1000 s}\n'
  seq -f '  s%.0f: *s' 3000
  sed '/^sensors:/,/^pointing:/{/^pointing:/!d}' configs/cubesat.yaml | sed '/^pointing:/,$d'
  echo 'simulation: {step: 10 ms, duration: 1 s}'
} >"$dir/delays.yaml"
refused 'the delays of sensors and faults up to here keep more than 8,000,000 numbers' small "$ORRERY" check "$dir/delays.yaml"

# a text without end
yes '# a comment' | refused 'longer than 128 MiB' "$ORRERY" check /dev/stdin || exit 1
exit 0
