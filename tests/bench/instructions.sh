#!/bin/sh
# Instructions of one forward-dynamics evaluation, and of one command over shared memory, counted by valgrind's
# callgrind: the same on every run of the same build, whatever else the machine does. Two runs of different length;
# their difference has no start-up in it.
set -eu
orrery=${ORRERY:-build/orrery}
commands=$(dirname "$(readlink -f "$orrery")")/tests/bench/commands
few=200 many=1200
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

counted() { # PROGRAM WORDS...: with $only, in that function and what it calls
  valgrind --tool=callgrind ${only:+--toggle-collect=$only} --callgrind-out-file="$work/out" "$@" >"$work/said" 2>&1 || {
    cat "$work/said" >&2
    echo "instructions: valgrind cannot run this build; if it met an unknown instruction, build with another ARCH" >&2
    exit 1
  }
  sed -n 's/^summary: *//p; s/^totals: *//p' "$work/out" | head -n 1
}

count() { # MODEL EVALUATIONS
  only=
  counted "$orrery" bench --only "$1" "$2"
}

row() { # MODEL BODIES
  a=$(count "$1" $few)
  b=$(count "$1" $many)
  awk -v name="$1" -v bodies="$2" -v n=$((many - few)) -v d=$((b - a)) \
    'BEGIN { printf "%-14s %7d %14.1f %12.1f\n", name, bodies, d / n, d / n / bodies }'
}

printf '%-14s %7s %14s %12s\n' model bodies instructions 'per body'
row chain10 10
row chain20 20
row chain100 100
row spacecraft0 23
row spacecraft20 23
row flexible0 10
row flexible5 10
row flexible10 10

side() { # FUNCTION BYTES [PROGRAM]
  only=$1
  a=$(counted "${3:-$commands}" "$2" $few)
  b=$(counted "${3:-$commands}" "$2" $many)
  echo $(((b - a) / (many - few)))
}

printf '\n%-14s %14s %12s %12s\n' 'command bytes' taken applied sent
for bytes in 104 65536; do
  taken=$(side orr_shm_take $bytes)
  applied=$(side orr_rules_latch $bytes)
  sent=$(side orr_client_send $bytes)
  printf '%-14s %14d %12d %12d\n' $bytes "$taken" "$applied" "$sent"
done

printf '\n%-14s %14s %12s\n' 'packet bytes' 'sealed (run)' 'taken (client)'
for bytes in 136 680 1432; do
  printf '%-14s %14d %12d\n' $bytes "$(side orr_seal_put $bytes "$(dirname "$commands")/seals")" \
    "$(side orr_client_seal_take $bytes "$(dirname "$commands")/seals")"
done
