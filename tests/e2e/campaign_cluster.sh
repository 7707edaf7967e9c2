#!/bin/sh
# The tasks of a cluster, by a stand-in for sbatch that runs them here one after the other: submitted once each,
# attempts apart, only those that came to their end count, other builds are refused by name, what is missing is flown
# later. tests/all/slurm.sh has a real one.
. tests/support/script.sh
mkdir "$dir/bin"
cat >"$dir/bin/sbatch" <<'S'
#!/bin/sh
# the words are kept; tasks of an array run at once, but for the third, whose node has died; the gathering job, too
echo "$@" >>"$(dirname "$0")/said"
for word in "$@"; do case $word in --array=0-*) last=${word#--array=0-} ;; esac; done
for task in $(seq 0 "${last:--1}"); do
  [ "$task" -eq 2 ] || SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task sh "$word" >&2
done
[ -n "${last-}" ] && echo 7 && exit
echo 8
sh "$word" >&2
exit 0
S
chmod +x "$dir/bin/sbatch"
sed 's/duration: 60 s/duration: 5 s/; /attitude:/d; s/target: #.*/target: [0, 0, 0, 1]/' configs/cubesat.yaml >"$dir/ship.yaml"
cat >"$dir/c.yaml" <<'Y'
orrery: 1
campaign: {run: ship.yaml, flights: 23, seed: 3, vary: {simulation.seed: each}}
Y
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/here" >"$dir/out" 2>&1 || fail "here: $(cat "$dir/out")"
PATH=$dir/bin:$PATH "$ORRERY" campaign run "$dir/c.yaml" -o "$dir/there" --slurm --partition quick --array-size 5 --jobs 2 >"$dir/out" 2>"$dir/err" || fail "submit: $(cat "$dir/out" "$dir/err")"
[ "$(grep -c -- '--partition=quick' "$dir/bin/said")" -eq 2 ] && grep -q -- '--array=0-4 --cpus-per-task=2' "$dir/bin/said" && grep -q -- '--dependency=afterany:7' "$dir/bin/said" ||
  fail "what was submitted: $(cat "$dir/bin/said")"
"$ORRERY" campaign status "$dir/c.yaml" -o "$dir/there" >"$dir/out"
[ $? -eq 3 ] && grep -q '^flown  *19 of 23, in 4 attempts' "$dir/out" || fail "one task is missing: $(cat "$dir/out")"
[ "$(wc -l <"$dir/there/table.csv")" -eq 20 ] || fail "the table of what there is"

# an attempt that did not come to its end does not count, nor does one of another build
task() { "$ORRERY" campaign work "$dir/c.yaml" -o "$dir/there" --task 2 --tasks 5 --attempt "$1" --jobs 1; }
task 7.2.1 >"$dir/out" 2>&1 || fail "the third task: $(cat "$dir/out")"
rm "$dir"/there/attempts/7.2.1.*/complete
"$ORRERY" campaign gather "$dir/c.yaml" -o "$dir/there" >"$dir/out" 2>&1
[ $? -eq 3 ] || fail "gathered what is not complete: $(cat "$dir/out")"
cp "$dir/there/campaign.json" "$dir/kept.json"
sed -i 's/\("fingerprint": "[0-9a-f]*-\).\{4\}/\1zzzz/' "$dir/there/campaign.json"
task 7.2.2 >"$dir/out" 2>&1 && fail "a node with other elementary functions flew"
cp "$dir/kept.json" "$dir/there/campaign.json"
[ -z "$(find "$dir/there/attempts" -name '7.2.2*')" ] || fail "it left an attempt"
"$ORRERY" campaign gather "$dir/c.yaml" -o "$dir/there" >"$dir/out" 2>"$dir/err"
grep -q "node $(uname -n) was refused" "$dir/err" || fail "refused by name: $(cat "$dir/err")"

# once it is flown again, twice even, the table is that of here
task 7.2.3 >"$dir/out" 2>&1 && cp -r "$dir"/there/attempts/7.2.3.* "$dir/there/attempts/again" || fail "$(cat "$dir/out")"
"$ORRERY" campaign gather "$dir/c.yaml" -o "$dir/there" >"$dir/out" 2>&1 || fail "gather: $(cat "$dir/out")"
cmp "$dir/here/table.csv" "$dir/there/table.csv" && cmp "$dir/here/table.jsonl" "$dir/there/table.jsonl" || fail "the tables differ"
# or what is missing is flown here
rm -r "$dir/there/attempts/again" "$dir"/there/attempts/7.2.3.* "$dir/there/table.csv"
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/there" --resume >"$dir/out" 2>&1 || fail "resume: $(cat "$dir/out")"
cmp "$dir/here/table.csv" "$dir/there/table.csv" || fail "the tables differ after resume"
[ "$(wc -l <"$dir/there/journal.jsonl")" -eq 4 ] || fail "only what was missing was flown"
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/never" --slurm --print-script >"$dir/out" 2>&1 && grep -q '^sbatch .*--array=0-22 ' "$dir/out" || fail "--print-script: $(cat "$dir/out")"
exit 0
