#!/bin/sh
# A million frames of the reference spacecraft, in one piece and in two with the state saved between: the same bits.
# About a minute and a half of processor time.
. tests/support/script.sh
fly() { "$ORRERY" run configs/reference.yaml --mode batch "$@" 2>"$dir/err" || fail "$(cat "$dir/err")"; }
whole=$(fly --duration 1000s | hash_of)
fly --duration 400s --save-state "$dir/state" >/dev/null
rest=$(fly --duration 600s --from-state "$dir/state" | hash_of)
[ ${#whole} -eq 16 ] && [ "$whole" = "$rest" ] || fail "in one piece $whole, in two $rest"
echo "1000000 frames twice, state_hash $whole"
