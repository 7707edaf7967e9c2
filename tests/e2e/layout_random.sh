#!/bin/sh
# Layouts that nobody chose: fields of any width and both byte orders, scales, states, counters, times, lengths and
# checksums, drawn from a seed, each packet held bit for bit against a codec in Python that was made from the
# conventions alone; and commands of drawn bits, whose numbers are those that the codec says.
#
#   tests/e2e/layout_random.sh     SEEDS ("1 2")
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
for seed in ${SEEDS:-1 2}; do
  python3 -I tests/support/layouts.py write "$seed" "$port" "$dir" || fail "seed $seed: no layout"
  "$ORRERY" check "$dir/run.yaml" >/dev/null 2>"$dir/err" || fail "seed $seed: $(grep error "$dir/err" | head -n 3)"
  rm -f "$dir/ready"
  "$ORRERY" run "$dir/run.yaml" --mode lockstep --no-log --csv "$dir/flight.csv" --ready "$dir/ready" >"$dir/out" 2>"$dir/err" &
  run=$!
  await [ -e "$dir/ready" ] || fail "seed $seed: $(cat "$dir/out" "$dir/err")"
  python3 -I tests/support/layouts.py fly "$seed" "$port" "$dir" >"$dir/peer" 2>&1 &
  peer=$!
  wait $run || [ $? -eq 3 ] || fail "seed $seed: $(cat "$dir/out" "$dir/err" "$dir/peer")"
  wait $peer || fail "seed $seed: $(cat "$dir/peer")"
  python3 - "$dir/flight.csv" "$dir/expected" <<'P' || fail "seed $seed: $(tail -n 3 "$dir/out")"
import csv, json, sys
rows, expected = list(csv.DictReader(open(sys.argv[1]))), json.load(open(sys.argv[2]))
for k, sent in enumerate(expected):
    acted = [float(r["wheel_%d.torque (N m)" % k]) for r in rows]
    # the answer to frame i acts in frame i + 1
    assert acted[1:60] == sent[:59], (k, [(i, a, s) for i, (a, s) in enumerate(zip(acted[1:60], sent)) if a != s][:3])
P
done
exit 0
