#!/bin/sh
# Given motions of hinges and loops in a run: commanded from a script and by flight software, with one state_hash in
# every mode, out of saved states and logs; and in `orrery eval`.
. tests/support/script.sh
cat >"$dir/run.yaml" <<Y
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 50, inertia: [20, 20, 20, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {r: {at: [0, 1, 0]}}}
    dish: {mass: 3, com: [0, 0, 0.2], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: universal, to: bus.origin, axes: [[1, 0, 0], [0, 1, 0]],
      motion: [{table: [[0.1 s, 0 deg], [0.5 s, 40 deg], [0.9 s, 10 deg]]}, {sine: {amplitude: 2 deg, frequency: 1.5 Hz}}]}}
    boom: {mass: 4, com: [0, 0.5, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [1, 0, 0]}, nodes: {eye: {at: [0, 0.6, 0]}}}
    mast: {mass: 2, com: [0, 0, 0.5], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [1, 0, 0]}, nodes: {eye: {at: [0, 0, 0.8]}}}
    flap: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [0, 0, 1], motion: {table: [[0, 0], [0.5, 0.5]], starts: by_command}}}
    arm: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [0, 1, 0], motion: {command: {over: 300 ms}}}}
  loops:
    - {name: jack, between: [boom.eye, mast.eye], kind: distance, motion: {command: {over: 0.4 s, from: 1 m}}}
actuators: {push: {kind: wrench, node: bus.origin}}
simulation: {step: 5 ms, duration: 1 s}
commands: [{channel: arm.motion, at: 0.2 s, value: 30 deg}, {channel: arm.motion, at: 0.35 s, value: -10 deg}, {channel: flap.motion, at: 0.3 s, value: 1},
  {channel: loops.jack.motion, at: 0.4 s, value: 0.8 m}]
links: {fsw: {transport: shm, name: $name, rate: 200 Hz, telemetry: ['loops.jack.*', arm.q], commands: [push.force], wait: 60 s}}
expect: [{channel: loops.jack.force, between: [-50 N, 50 N]}, {channel: arm.q, is: -0.17453292519943295, after: 0.65 s}, {channel: flap.q, is: 0.5, after: 0.8 s}]
Y
sed '/^links/d' "$dir/run.yaml" >"$dir/alone.yaml"
run() { "$ORRERY" run "$dir/alone.yaml" --mode batch "$@"; }
run --json --csv "$dir/run.csv" --channels '*.q,loops.*' --log "$dir/a.mcap" --set 'record={channels: ["*.q", "loops.*"], checkpoint: 0.3 s}' >"$dir/batch" 2>"$dir/err" || fail "batch: $(cat "$dir/err" "$dir/batch")"
grep -q '"loops.jack.motion"' "$dir/batch" || fail "the summary has no command of the jack"
for integrator in heun implicit_modal; do
  for method in embed augment; do
    run --set simulation.integrator=$integrator --set spacecraft.loops.0.method=$method >"$dir/said" 2>&1 || fail "$integrator, $method: $(cat "$dir/said")"
  done
done
"$ORRERY" replay "$dir/a.mcap" >"$dir/said" 2>&1 || fail "replay: $(cat "$dir/said")"
"$ORRERY" replay "$dir/a.mcap" --from 0.5s >"$dir/said" 2>&1 || fail "replay from a checkpoint: $(cat "$dir/said")"

# saved in the middle of every motion
incomplete run --duration 0.45s --save-state "$dir/state" >"$dir/half" 2>&1 || fail "saving: $(cat "$dir/half")"
run --duration 0.55s --from-state "$dir/state" --json >"$dir/whole" 2>&1 || fail "going on: $(cat "$dir/whole")"
[ "$(grep state_hash "$dir/whole")" = "$(grep state_hash "$dir/batch")" ] || fail "saved and continued, it has other bits"

"$ORRERY" icd "$dir/run.yaml" --set 'links.fsw.commands=[arm.motion, flap.motion, loops.jack.motion]' >"$dir/icd" || fail "icd"
grep -q '| `arm.motion` | f64 | rad | level |' "$dir/icd" && grep -q '| `flap.motion` | u8 |  | pulse |' "$dir/icd" && grep -q '| `loops.jack.motion` | f64 | m | level |' "$dir/icd" ||
  fail "icd: $(cat "$dir/icd")"

grep -q '| `arm.motion` | .* | level | -16 … 16 |' "$dir/icd" && grep -q '| `loops.jack.motion` | .* | level | 0.001 … 21.3333333 |' "$dir/icd" ||
  fail "the ranges of motions: $(cat "$dir/icd")"

# lockstep; then flight software moves the arm itself
command -v python3 >/dev/null || exit 0
cat >"$dir/peer.py" <<'P'
import sys
sys.path[:0] = ["io/client"]
import orrery_client
last, name = None, sys.argv[2]
with orrery_client.open(sys.argv[1]) as link:
    while link.wait(60):
        last = link["arm.q"]
        link.send({"push.force": [0, 0, 0]} if name == "push" else {"arm.motion": 1e150 if name == "wild" else 0.25})
print(last)
P
lockstep() { # WHAT FILE ARGUMENTS...
  what=$1 file=$2
  shift 2
  python3 -I -S -B "$dir/peer.py" "shm:$name" "$what" >"$dir/peer" 2>&1 &
  peer=$!
  "$ORRERY" run "$file" --mode lockstep --json --no-log "$@" >"$dir/lockstep" 2>"$dir/err" || fail "lockstep: $(cat "$dir/err" "$dir/lockstep")"
  wait $peer || fail "the peer: $(cat "$dir/peer")"
}
lockstep push "$dir/run.yaml"
[ "$(grep state_hash "$dir/lockstep")" = "$(grep state_hash "$dir/batch")" ] || fail "lockstep has other bits than batch"
sed '/^expect/d; /^commands/,/jack.motion/d; s/push.force/arm.motion/' "$dir/run.yaml" >"$dir/commanded.yaml"
lockstep arm "$dir/commanded.yaml"
grep -q '^0.25$' "$dir/peer" || fail "flight software did not move the arm: $(cat "$dir/peer")"

# what no hinge does is refused
python3 -I -S -B "$dir/peer.py" "shm:$name" wild >"$dir/peer" 2>&1 &
"$ORRERY" run "$dir/commanded.yaml" --mode lockstep --no-log --duration 100ms --set 'links.fsw.lockstep={timeout: 50 ms, policy: continue}' >"$dir/said" 2>&1
grep -q 'diverged' "$dir/said" && fail "1e150 is flown: $(cat "$dir/said")"
grep -q ' refused: out_of_range' "$dir/said" || fail "1e150 is not refused: $(cat "$dir/said")"

# eval: at t = 0, and along a trajectory
sed -n '/^orrery/p; /^spacecraft/,/jack/p' "$dir/run.yaml" >"$dir/model.yaml"
echo '{}' >"$dir/case.yaml"
"$ORRERY" eval "$dir/model.yaml" "$dir/case.yaml" >"$dir/eval" 2>&1 || fail "eval: $(cat "$dir/eval")"
"$ORRERY" eval "$dir/model.yaml" "$dir/case.yaml" --trajectory 0.5,0.9 >"$dir/eval" 2>&1 || fail "trajectory: $(cat "$dir/eval")"
tr -d ' \n' <"$dir/eval" | grep -q '"dish":{"q":\[0.698131700797731' || fail "trajectory: $(cat "$dir/eval")"
echo '{state: {dish: {q: [0, 0]}}}' >"$dir/case.yaml"
"$ORRERY" eval "$dir/model.yaml" "$dir/case.yaml" >"$dir/eval" 2>&1 && fail "a state of what is driven"
grep -q "the motion of 'dish' is given, so it takes no 'q'" "$dir/eval" || fail "eval: $(cat "$dir/eval")"
exit 0
