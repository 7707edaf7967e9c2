#!/bin/sh
# Every run of configs has the state_hash of tests/baseline/state_hash, from the release build (gcc -O3) and from the
# one with sanitizers (-O1), where that is built: the bits are those of the source. tests/all/same_bits.sh flies other
# compilers and processors.
#
#   same_bits.sh             compares
#   same_bits.sh --only      compares this build alone
#   same_bits.sh --update    writes the file anew, and prints what differs (make bits-baseline)
. tests/support/script.sh
baseline=tests/baseline/state_hash

hashes() { # ORRERY
  for run in configs/*.yaml; do
    grep -q '^simulation:' "$run" || continue
    set -- "$1"
    case $run in configs/detumble.yaml | configs/geostationary.yaml | configs/vn100.yaml) set -- "$1" --set 'links={}' ;; esac # their flight software is outside
    orrery=$1
    shift
    "$orrery" run "$run" --mode batch --no-log --set 'expect=[]' "$@" --duration 1s >"$dir/said" 2>&1 || [ $? -eq 3 ] || fail "$orrery run $run: $(tail -n 5 "$dir/said")" >&2
    set -- "$orrery"
    printf '%s %s\n' "$(basename "$run" .yaml)" "$(sed -n 's/^state_hash *//p' "$dir/said")"
  done
}

hashes "$ORRERY" >"$dir/release"
if [ "${1:-}" = --update ]; then
  ORR_BITS_PRINT=1 "$(dirname "$ORRERY")/tests/unit/core/plant/integrate_bits" | sed -n 's/^# random-models/random-models/p' >>"$dir/release"
  diff "$baseline" "$dir/release"
  cp "$dir/release" "$baseline"
  exit 0
fi
grep -v '^random-models ' "$baseline" >"$dir/baseline"
diff "$dir/baseline" "$dir/release" >"$dir/differs" ||
  fail "other bits than in $baseline (make bits-baseline, where that is meant): $(cat "$dir/differs")"
other=build/sanitize/orrery
[ "${1:-}" != --only ] && [ -x "$other" ] || exit 0
hashes "$other" >"$dir/sanitize"
diff "$dir/baseline" "$dir/sanitize" >"$dir/differs" || fail "$other has other bits: $(cat "$dir/differs")"

# a log of the one flies again under the other
"$ORRERY" run configs/deployment.yaml --mode batch --duration 500ms --set 'expect=[]' --set 'record={channels: ["*"]}' --log "$dir/release.mcap" >"$dir/said" 2>&1 || fail "a log: $(cat "$dir/said")"
"$other" replay "$dir/release.mcap" >"$dir/said" 2>&1 && grep -qx 'identical   bit for bit' "$dir/said" || fail "$other replay: $(cat "$dir/said")"
