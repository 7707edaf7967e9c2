#!/bin/sh
# The comparison of the vectors, with commands in place of orrery that answer right, wrong or not at all.
set -u
compare=$(dirname "$ORRERY")/tests/vectors/compare
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
  echo "FAIL: $1"
  cat "$dir/out"
  exit 1
}
fake() { # the body of the command on stdin; $2 is the model file
  { echo '#!/bin/sh'; cat; } >"$dir/fake"
  chmod +x "$dir/fake"
}
run() { ORRERY=$dir/fake "$compare" "$@" >"$dir/out" 2>&1; }
lines() { grep -c "$1" "$dir/out"; }

# All cases, with two of them on a list of pending ones, whatever the list of the house says today.
mkdir "$dir/all" && cp -r tests/vectors/. "$dir/all"
printf 'point-loop # not built\nweld-loop\n' >"$dir/all/pending.txt"
export ORR_VECTORS="$dir/all"
cases=$(find tests/vectors -name expected.json | wc -l)
pending=2

fake <<'E2'
cat "$(dirname "$2")/expected.json"
E2
run gravity-pendulum flexible-tree operational inverse || fail "the expected answers pass"
[ "$(lines '^ok')" -eq 5 ] || fail "four cases and the list are told"
run # all of them: every case is told, and those on the list are errors, for they pass
[ "$(lines '^ok\|^not ok')" -eq $((cases + 1)) ] || fail "every case is told"
[ "$(lines '^not ok')" -eq "$pending" ] || fail "a pending case that passes is an error"
[ "$(lines 'take it out of')" -eq "$pending" ] || fail "it is told what to do"

fake <<'E2'
sed 's/"kinetic_energy": \(-\{0,1\}[0-9]*\)\./"kinetic_energy": \11./' "$(dirname "$2")/expected.json"
E2
run springs-dampers && fail "a wrong energy passes"
grep -q '1 of .* fields differ, worst kinetic_energy' "$dir/out" || fail "the wrong field is named"

run point-loop && fail "a pending case that is answered wrongly passes"
grep -q 'refused, not answered wrongly' "$dir/out" || fail "it is told why"

fake <<'E2'
cat "$(dirname "$2")/expected.json"
exit 1
E2
run point-loop || fail "a pending case that is refused is skipped"
grep -q '^ok 1 - point-loop # SKIP' "$dir/out" || fail "it is told as a skip"
run gravity-pendulum && fail "a right answer with exit status 1 passes"
fake <<'E2'
echo '{'
E2
run gravity-pendulum && fail "half a line passes"
fake <<'E2'
kill -SEGV $$
E2
run gravity-pendulum && fail "a crash passes"
run point-loop && fail "a crash on a pending case passes"
run no-such-case && fail "a case without an expected result passes"

# The options of a case reach the command.
fake <<'E2'
shift 3
echo "$*" >&2
exit 1
E2
run operational
grep -q -- '^--operational b1.n0 b2.n1$' "$dir/out" || fail "args.json is passed on"
run trajectories/gear
grep -q -- '^--trajectory 0.5,1,2 --step 1ms$' "$dir/out" || fail "the times of a trajectory are asked for"

# A name on the list that is no case is an error, and so is a folder without cases.
mkdir "$dir/vectors" && cp -r tests/vectors/gravity-pendulum "$dir/vectors"
fake <<'E2'
cat "$(dirname "$2")/expected.json"
E2
ORR_VECTORS=$dir/vectors run || fail "one case alone passes"
echo 'gravty-pendulum # misspelt' >"$dir/vectors/pending.txt"
ORR_VECTORS=$dir/vectors run && fail "a stranger on the list passes"
mkdir "$dir/empty"
ORR_VECTORS=$dir/empty run && fail "no case at all passes"
exit 0
