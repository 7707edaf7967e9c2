#!/bin/sh
# What fields, air and plates cost beside one evaluation of cassini, in instructions, which no load changes:
# `orrery bench --environment` under callgrind.
. tests/support/script.sh
command -v valgrind >/dev/null || {
  echo "skipped: valgrind is not installed"
  exit 77
}
program=build/release/orrery
valgrind --tool=callgrind --callgrind-out-file="$dir/counts" "$program" bench --environment --quick >"$dir/said" 2>&1 || fail "$(cat "$dir/said")"
callgrind_annotate --inclusive=yes --threshold=99.99 --auto=no "$dir/counts" >"$dir/functions" 2>"$dir/err" || fail "$(cat "$dir/err")"
judge() { # FUNCTION MOST
  awk -v name=":$1 " -v most="$2" '
    function count(line) { sub(/^ */, "", line); sub(/ .*/, "", line); gsub(/,/, "", line); return line + 0 }
    index($0, ":evaluate_cassini ") { of = count($0) }
    index($0, name) && !it { it = count($0) }
    END { if (!of || !it) exit 1; printf "%-16s %.3f of an evaluation of cassini, at most %s\n", substr(name, 2), it / of, most; exit it > most * of }' "$dir/functions" ||
    fail "$1 costs more, or was not found: $(cat "$dir/functions")"
}
judge large_gradient 0.5
judge large_hessian 1
judge all_of_it 0.5
