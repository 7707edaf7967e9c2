#!/bin/sh
# Sun and Moon of runs against DE405, over a hundred years: tests/support/de405.py reads the
# ephemeris with code of its own.
. tests/support/script.sh
folder=${ORR_DE405:-/usr/share/casacore/data/ephemerides/DE405}
[ -e "$folder/table.f0i" ] || {
  echo "skipped: install with apt-get: casacore-data-jpl-de405"
  exit 77
}
program=build/release/tests/bench/sky
make -s "$program" >"$dir/made" 2>&1 || fail "$(cat "$dir/made")"
python3 -B tests/support/de405.py "$folder" "$program" || fail "too far from DE405"

# a judge that cannot fail shows nothing: places a minute late are seen, and so is a table with a number that is wrong
printf '#!/bin/sh\nawk "{ printf \\"%%.9f\\\\n\\", \\$1 + 1 / 1440 }" | %s\n' "$program" >"$dir/late"
chmod +x "$dir/late"
python3 -B tests/support/de405.py "$folder" "$dir/late" 30 >"$dir/said" && fail "a minute is not seen: $(cat "$dir/said")"
cp "$folder"/table.f0* "$dir"
printf '\100' | dd of="$dir/table.f0i" bs=1 seek=$((28 + 8 * (441 - 3) + 7)) conv=notrunc 2>"$dir/said" # a Moon of another size, in the first days
python3 -B tests/support/de405.py "$dir" "$program" 30 >"$dir/said" 2>&1 && fail "a wrong table is not seen: $(cat "$dir/said")"
exit 0
