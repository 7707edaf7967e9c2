#!/bin/sh
# configs/deployment.yaml: five geared panels and a four-bar unfold, come to rest and leave the bus at rest, by both
# methods of solving loops alike; a run that is saved on the way goes on with the same bits.
. tests/support/script.sh
run() { "$ORRERY" run configs/deployment.yaml --mode batch --step 10ms --json "$@" 2>&1; }
# the first number of a channel in a JSON summary
number() { sed -n "/\"$2\": \[/{n;s/[ ,]//g;p;}" "$1"; }
close() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(a != "" && d <= e && d >= -e) }'; }

run >"$dir/embed" || fail "it does not fly: $(cat "$dir/embed")"
close "$(number "$dir/embed" angle_1.position)" 0 1e-3 || fail "the root panel is not unfolded"
close "$(number "$dir/embed" angle_5.position)" 0 2e-3 || fail "the last panel is not unfolded"
close "$(number "$dir/embed" gyro.rate)" 0 1e-9 || fail "the bus still turns"

# that soon nothing is at rest yet, and nothing is expected
incomplete run --duration 20s >"$dir/embed20" || fail "embed, 20 s: $(cat "$dir/embed20")"
augment=$(for i in 0 1 2 3 4; do printf ' --set spacecraft.loops.%d.method=augment' $i; done)
# shellcheck disable=SC2086
incomplete run --duration 20s $augment >"$dir/augment20" || fail "augment, 20 s: $(cat "$dir/augment20")"
for channel in angle_1.position angle_5.position root_load.moment root_load.force gyro.rate; do
  close "$(number "$dir/embed20" $channel)" "$(number "$dir/augment20" $channel)" 1e-8 ||
    fail "$channel: embed $(number "$dir/embed20" $channel), augment $(number "$dir/augment20" $channel)"
done

incomplete run --duration 12s --save-state "$dir/state" >"$dir/half" || fail "saving: $(cat "$dir/half")"
incomplete run --duration 8s --from-state "$dir/state" >"$dir/whole" || fail "going on: $(cat "$dir/whole")"
[ "$(grep state_hash "$dir/whole")" = "$(grep state_hash "$dir/embed20")" ] || fail "saved and continued, it has other bits"

# the crank driven: the aggregate has no freedom of its own left; and a start that is not closed is
# closed around it, and said
incomplete "$ORRERY" run configs/deployment.yaml --mode batch --step 10ms --duration 1s --set simulation.initial.crank.q.0=0.5 \
  --set 'actuators.brake={kind: hinge_motor, hinge: crank, mode: rate}' >"$dir/driven" 2>&1 || fail "driven: $(cat "$dir/driven")"
grep -q 'loops  *closed at the start by moving hinges by up to 0.751 rad (panel_2)' "$dir/driven" ||
  fail "it is not said that the start was closed: $(cat "$dir/driven")"
run --set spacecraft.bodies.rod.nodes.end.at.1=3 >"$dir/long" && fail "a rod of 3 m closed its loop"
grep -q 'loop 1 does not close.* m remain open' "$dir/long" || fail "an open loop is not named: $(cat "$dir/long")"
run --set 'simulation.initial.panel_1={q: [88 deg], speed: [0.1]}' >"$dir/speed" && fail "speeds that do not fit were flown"
grep -q 'opens at' "$dir/speed" || fail "speeds that do not fit are not told: $(cat "$dir/speed")"
exit 0
