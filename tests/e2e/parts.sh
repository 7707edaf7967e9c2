#!/bin/sh
# One file of an array serves both sides: a part with `mirror` is the image of the part in a mirror, and one with
# `rotation` is turned as by hand; tests/support/mirror.py judges random parts by what a mirror is. A part that says
# neither has the bits that it had.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
python3 tests/support/mirror.py "$ORRERY" "$dir" 24 >"$dir/out" || fail "$(cat "$dir/out")"

# --- an array on each side, with loops: their motions are images of each other ----------------------------------------
cat >"$dir/wing.yaml" <<'END'
bodies:
  inner: {mass: 3, com: [0.1, 0.5, 0], inertia: [0.3, 0.02, 0.3, 0.01, 0, 0.005], hinge: {kind: revolute, to: mount, axis: [1, 0, 0], stiffness: 2, rest: 0.1},
    nodes: {end: {at: [0, 1, 0]}}}
  outer: {mass: 2, com: [0.1, 0.5, 0], inertia: [0.2, 0.02, 0.2, 0, 0.004, 0], hinge: {kind: revolute, to: inner.end, axis: [1, 0, 0], damping: 0.1}}
loops:
  - {gear: {hinge: inner, drives: outer, ratio: -2}}
END
cat >"$dir/craft.yaml" <<'END'
orrery: 1
spacecraft:
  bodies:
    bus: {mass: 50, inertia: [5, 6, 7, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {left: {at: [0, 1, 0]}, right: {at: [0, -1, 0]}}}
  parts:
    left: {include: wing.yaml, prefix: l_, to: bus.left}
    right: {include: wing.yaml, prefix: r_, to: bus.right, mirror: y}
simulation: {step: 1 ms, duration: 3 s, initial: {l_inner: {q: [0.4]}, l_outer: {q: [-0.8]}, r_inner: {q: [0.4]}, r_outer: {q: [-0.8]}}}
END
"$ORRERY" run "$dir/craft.yaml" --mode batch --csv "$dir/both.csv" --channels '*_inner.q,bus.rate,bus.position' >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
# both wings swing alike, and so the bus neither rolls nor moves sideways; up and down it does
python3 - "$dir/both.csv" <<'P' || fail "wings that are images of each other do not swing as such"
import csv, sys
rows = [{k.split(" ")[0]: float(v) for k, v in r.items()} for r in csv.DictReader(open(sys.argv[1]))]
at = lambda name: [r[[k for k in r if k.startswith(name)][0]] for r in rows]
left, right = at("l_inner.q"), at("r_inner.q")
assert max(abs(a - b) for a, b in zip(left, right)) < 1e-9, "swing"
assert max(left) - min(left) > 0.1, "they do not move"
assert max(abs(x) for x in at("bus.rate.x") + at("bus.rate.z") + at("bus.position.y")) < 1e-9, "roll"
assert max(abs(x) for x in at("bus.position.z")) > 1e-3, "the bus does not recoil"
P

# --- what is wrong with them ------------------------------------------------------------------------------------------
wrong() { # VALUES WORDS
  sed "s/mirror: y/$1/" "$dir/craft.yaml" >"$dir/wrong.yaml"
  "$ORRERY" check "$dir/wrong.yaml" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "'$1' is taken"
  grep -q "$2" "$dir/out" || fail "'$1': $(cat "$dir/out")"
}
wrong 'mirror: w' 'none, x, y or z'
wrong 'mirror: [0, 1, 0]' "'mirror'"
wrong 'rotation: [0, 0, 1]' "'rotation'"
wrong 'rotation: [0, 0, 3, 1]' 'its length must be 1'
wrong 'mirrored: y' "did you mean 'mirror'"
exit 0
