#!/bin/sh
# What is said of closed loops: their rank and how they were put together, states that do not close,
# postures that are singular.
. tests/support/script.sh
vectors=tests/vectors
# expect EXIT PATTERN COMMAND...: the command ends so and says so
expect() {
  want=$1 pattern=$2
  shift 2
  "$@" >"$dir/said" 2>&1
  got=$?
  [ $got -eq "$want" ] || fail "$*: exit $got, not $want"
  grep -q -- "$pattern" "$dir/said" || fail "$*: nothing like '$pattern' in: $(cat "$dir/said")"
}

expect 0 'loops: 3 equations of rank 2' "$ORRERY" check $vectors/four-bar/model.json
expect 0 'closing them at rest moves hinges by up to [0-9.]* rad' "$ORRERY" check $vectors/four-bar/model.json
expect 0 'warning: 1 of the 3 equations of loop 1 follows' "$ORRERY" check $vectors/four-bar/model.json
expect 0 '"rank": 2' "$ORRERY" check --json $vectors/four-bar/model.json

# no method in the file: chosen and said; a train of many gears is not made one aggregate
sed 's/, "method": "augment"//' $vectors/four-bar/model.json >"$dir/auto.json"
expect 0 'embed (chosen: a small aggregate)' "$ORRERY" check "$dir/auto.json"
expect 0 '"method_chosen": true' "$ORRERY" check --json "$dir/auto.json"
awk 'BEGIN {
  print "orrery: 1\nspacecraft:\n  bodies:"
  for (i = 0; i < 40; i++)
    printf "    w%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: %s, axis: [0, 0, 1]}}\n", i, i ? "w" i - 1 ".origin" : "inertial"
  print "  loops:"
  for (i = 1; i < 40; i++)
    printf "    - {gear: {hinge: w%d, drives: w%d, ratio: -1}}\n", i - 1, i
}' >"$dir/train.yaml"
expect 0 'augment (chosen: its aggregate would be large)' "$ORRERY" check "$dir/train.yaml"

# a gear that starts far out: 5000 rad between its hinges
sed 's/"offset": 0.1/"offset": 5000/' $vectors/gear/model.json >"$dir/far.json"
expect 0 'closing them at rest moves hinges by up to' "$ORRERY" check "$dir/far.json"

# a model that closes in no posture that is found may do so in the state of a case, which is judged in its place
printf '{"state": {}}' >"$dir/none.json"
expect 1 'does not close in any posture' "$ORRERY" check tests/wrong/open-loop.yaml
expect 1 'none.json: error: loop 1 of the model is not closed in this state' "$ORRERY" eval tests/wrong/open-loop.yaml "$dir/none.json"
grep -q 'does not close in any' "$dir/said" && fail "eval judges a model's loops without its state"

# a state that is not closed, speeds that do not fit, and what ignores loops
printf '{"state": {"crank": {"q": [1.1]}}}' >"$dir/open.json"
expect 1 'loop 1 of the model is not closed in this state: [0-9.]* m' "$ORRERY" eval $vectors/four-bar/model.json "$dir/open.json"
sed 's/"speed": \[0.9\]/"speed": [0.8]/' $vectors/four-bar/case.json >"$dir/fast.json"
expect 1 'loop 1 of the model opens at' "$ORRERY" eval $vectors/four-bar-embed/model.json "$dir/fast.json"
printf '{"state": {"crank": {"q": [1.1]}}, "accelerations": {}}' >"$dir/inverse.json"
expect 0 '"tau"' "$ORRERY" eval $vectors/four-bar/model.json "$dir/inverse.json" --inverse
expect 1 'is for trees' "$ORRERY" eval $vectors/four-bar/model.json $vectors/four-bar/case.json --method composite

# all bars on one line: 0.4 + 1.1 = 1.2 + 0.3
for method in embed augment; do
  sed "s/\"augment\"/\"$method\"/; s/\"at\": \[0, 0.8, 0\]/\"at\": [0, 0.3, 0]/" $vectors/four-bar/model.json >"$dir/flat.json"
  printf '{"state": {}}' >"$dir/flat-case.json"
  expect 1 'loop 1 of the model: the posture is singular' "$ORRERY" eval "$dir/flat.json" "$dir/flat-case.json"
done

# both ends driven apart
printf '{"state": {"a": {"q": [0.2]}, "b": {"q": [-0.6]}}, "prescribed": {"a": {"acceleration": [1]}, "b": {"acceleration": [2]}}}' >"$dir/driven.json"
expect 1 'loop 1 of the model: the prescribed hinges tear it open' "$ORRERY" eval $vectors/gear/model.json "$dir/driven.json"
printf '{"state": {"a": {"q": [0.2]}, "b": {"q": [-0.6]}}, "prescribed": {"a": {"acceleration": [1]}, "b": {"acceleration": [-3.5]}}}' >"$dir/driven.json"
expect 0 '"multipliers"' "$ORRERY" eval $vectors/gear/model.json "$dir/driven.json"
tr -d ' \n' <"$dir/said" | grep -q '"multipliers":\[null\]' || fail "a gear between two driven hinges has no multiplier that is known"
tr -d ' \n' <"$dir/said" | grep -q '"tau"' && fail "efforts of hinges that such a gear joins are not known"
exit 0
