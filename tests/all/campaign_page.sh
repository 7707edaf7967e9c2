#!/bin/sh
# The report of a campaign in a browser (Debian's chromium, without a window): its script runs to the end, draws what
# there is to draw, fetches nothing, and what the page says of the flights is what the table holds.
. tests/support/script.sh
command -v chromium >/dev/null || {
  echo "skipped: chromium is not installed"
  exit 77
}
"$ORRERY" campaign run configs/campaigns/wings-slew.yaml -o "$dir/c" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
"$ORRERY" campaign report "$dir/c" -o "$dir/x.html" || fail "no report"
grep -qE 'src=|href=|url\(|@import|https?://[^w]' "$dir/x.html" && fail "the page needs something else"
timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --virtual-time-budget=5000 --dump-dom "file://$dir/x.html" >"$dir/dom" 2>"$dir/err" ||
  fail "chromium: $(tail -n 3 "$dir/err")"
grep -q 'data-wrong=' "$dir/dom" && fail "the script: $(grep -o 'data-wrong="[^"]*"' "$dir/dom")"
python3 - "$dir/dom" "$dir/c" <<'P' || fail "the page and the table differ"
import csv, json, re, sys
dom, folder = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2]
rows = [json.loads(line) for line in open(folder + "/table.jsonl")]
curves = json.loads(open(folder + "/histories.jsonl").readline())["histories"]
outcomes = [f"margin of {e['name']}" for e in rows[0]["expect"] if "margin" in e] + list(rows[0]["measures"])
charts = len(rows[0]["values"]) + len(outcomes) + len(curves)
drawn = int(re.search(r'data-drawn="(\d+)"', dom)[1])
assert drawn == charts + 1, (drawn, charts)
assert dom.count("<circle") == len(rows), dom.count("<circle")
body = re.sub(r"<script.*?</script>", "", dom, flags=re.S)
for name in list(rows[0]["values"]) + outcomes + list(curves):
    assert name in body, name
summary = json.load(open(folder + "/summary.json"))
assert len(summary["worst"]) == 10
for one in summary["worst"]:
    assert f"--flight {one['flight']}<" in body
P
exit 0
