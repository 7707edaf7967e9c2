#!/bin/sh
# `orrery schema` by an independent validator (npm ajv and yaml): every file that the reader takes is good, and every
# file whose mistake is one of structure (a key, a type, a word, a name) is not.
. tests/support/script.sh
cp tests/all/schema/validate.mjs "$dir"
npm_install ajv yaml
for file in run part case; do
  "$ORRERY" schema "$file" >"$dir/$file.json" || fail "orrery schema $file"
done
judge() { # WHICH FILE...: into $dir/verdicts
  which=$1
  shift
  timeout 60 node "$dir/validate.mjs" "$dir/$which.json" "$@" >"$dir/said" 2>"$dir/err"
  [ "$(tail -n 1 "$dir/said")" = judged ] || fail "$which: $(cat "$dir/err")"
  sed '$d' "$dir/said" >"$dir/verdicts"
}
all_good() { # HOW MANY AT LEAST
  grep -v '^good ' "$dir/verdicts" && fail "the schema refuses what the reader takes"
  [ "$(grep -c '^good ' "$dir/verdicts")" -ge "$1" ] || fail "fewer than $1 files were judged"
}

"$ORRERY" help devices --example >"$dir/devices.yaml"
"$ORRERY" help run-file --example >"$dir/run-file.yaml"
judge run configs/*.yaml "$dir/devices.yaml" "$dir/run-file.yaml" tests/vectors/*/model.*
all_good 40
judge case tests/vectors/*/case.*
all_good 25
judge part tests/wrong/part/good.yaml tests/wrong/part/chain-*.yaml
all_good 10

# Files that are wrong by themselves, with the codes of their mistakes; those that are only warned about are right.
judge run tests/wrong/*.yaml tests/wrong/run/*.yaml
python3 - "$dir/verdicts" <<'PYTHON' || fail "the schema and the reader differ"
import re, sys
structure = {"unknown-key", "wrong-type", "unknown-choice", "no-value", "device-kind", "bad-name", "unknown-unit", "bad-unit",
             "duplicate-key", "bad-key", "not-whole"}
looser = {"tests/wrong/run/doubts.yaml"} # `delay: 1.5`: frames are whole, and the schema takes a bare number for a time
seen, good = set(), 0
for line in open(sys.argv[1], encoding="utf-8"):
    verdict, path = re.match(r"(\w+) ([^:\n]+)", line).groups()
    text = open(path, "rb").read().decode("utf-8", "replace")
    if re.search(r"^# set ", text, re.M):
        continue
    errors = re.findall(r"^# expect (\S+?): error: .* \[([a-z0-9-]+)\]$", text, re.M)
    own = {code for where, code in errors if "/" not in where}
    if verdict == "good" and own & structure and path not in looser:
        sys.exit(f"{path}: the schema takes it, and the reader says {sorted(own & structure)}")
    if verdict != "good" and not errors:
        sys.exit(f"{path}: the reader takes it, and the schema does not: {line}")
    seen |= own & structure
    good += not errors
if seen != structure or good < 5:
    sys.exit(f"not judged: {sorted(structure - seen)}; {good} good files")
PYTHON
judge case tests/wrong/case/*.yaml
grep -q '^bad tests/wrong/case/keys.yaml' "$dir/verdicts" || fail "a case with an unknown key is good"
grep -q '^bad tests/wrong/case/not-mapping.yaml' "$dir/verdicts" || fail "a case that is no mapping is good"

# What no file of tests/wrong has: the types, words, lengths and ranges of a run that is right but for one place.
broken() { # SED: the place
  sed "$1" "$dir/run-file.yaml" >"$dir/broken.yaml"
  cmp -s "$dir/broken.yaml" "$dir/run-file.yaml" && fail "nothing to break: $1"
  judge run "$dir/broken.yaml"
  grep -q '^bad ' "$dir/verdicts" || fail "the schema takes: $1"
}
broken 's/kind: rate_gyro/kind: rate_gyr/'
broken 's/max_torque: 2 N m/max_torq: 2 N m/'
broken 's/integrator: rk4/integrator: rk5/'
broken 's/duration: 60 s/duration: long/'
broken 's/transport: shm/transprt: shm/'
broken 's/axis: \[0, 1, 0\]/axis: [0, 1]/'
broken 's/seed: 1/seed: -1/'
broken 's/policy: hold/policy: keep/'
broken '/^simulation:/,/^commands:/s/^  step: 10 ms//'
broken 's/boresight: /boresite: /'
broken 's/^orrery: 1//'
exit 0
