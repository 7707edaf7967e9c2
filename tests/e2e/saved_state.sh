#!/bin/sh
# Saved states: any damage is noticed, and states of another form, build or run are refused with what to do. What a run
# leaves is written beside its place, so that a full disk destroys nothing.
. tests/support/script.sh
ship=configs/cubesat.yaml
fly() { "$ORRERY" run $ship --mode batch --duration 1s --set 'expect=[]' "$@"; }
refused() { # FILE PATTERN
  fly --from-state "$1" >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] || fail "taken: $1, of which was to be said: $2"
  [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q "cannot start from '$1': .*$2" "$dir/err" || fail "not '$2': $(cat "$dir/err")"
}
fly --save-state "$dir/state" >/dev/null || fail "saving a state"
fly --from-state "$dir/state" >/dev/null || fail "going on from it"

# what is no state, and what was one
printf '{\n "orrery_state": 1,\n "time_s": 1.0,\n "words": []\n}\n' >"$dir/old"
refused "$dir/old" 'another version of Orrery saved it.*save it anew'
refused configs/cubesat.yaml 'not a state that orrery has saved'
refused "$dir/none" 'No such file'
refused "$dir" 'not a regular file'
mkfifo "$dir/fifo"
refused "$dir/fifo" 'not a regular file'
: >"$dir/empty"
refused "$dir/empty" 'not a state'
head -c 1000 "$dir/state" >"$dir/cut"
refused "$dir/cut" 'cut off'
{ cat "$dir/state"; printf x; } >"$dir/longer"
refused "$dir/longer" 'cut off, or something'

# another machine's word in every eighth of its bytes, and in its last
size=$(stat -c %s "$dir/state")
for at in $(seq 8 $((size / 40 + 1)) $((size - 1))) $((size - 1)); do
  cp "$dir/state" "$dir/damaged"
  printf '\252' | cmp -s -n 1 -i "0:$at" - "$dir/state" && continue
  printf '\252' | dd of="$dir/damaged" bs=1 seek="$at" conv=notrunc status=none
  fly --from-state "$dir/damaged" >/dev/null 2>"$dir/err" && fail "a state whose byte $at is another is taken"
  grep -q 'cannot start from' "$dir/err" || fail "byte $at: $(cat "$dir/err")"
done

# of another build: the sum is right, its name is not
if command -v python3 >/dev/null; then
  python3 - "$dir/state" "$dir/foreign" <<'P' || fail "another build's state"
import struct, sys
words = list(struct.unpack(f"<{len(open(sys.argv[1], 'rb').read()) // 8}Q", open(sys.argv[1], "rb").read()))
words[9] = int.from_bytes(b"9.9.9 be", "little")
total = 14695981039346656037
for word in words[:-1]:
    total = (total ^ word) * 1099511628211 % 2 ** 64
    total ^= total >> 32
words[-1] = total
open(sys.argv[2], "wb").write(struct.pack(f"<{len(words)}Q", *words))
P
  refused "$dir/foreign" 'another build saved it (9.9.9 be.*save it anew'
fi

# of another spacecraft
"$ORRERY" run configs/wings-slew.yaml --mode batch --duration 1s --set 'expect=[]' --set simulation.step=10ms --save-state "$dir/wings" >/dev/null || fail "saving wings"
refused "$dir/wings" 'another spacecraft'

# A disk on which 2 KiB are left. What stood there stands, nothing else is left, and the run has failed.
files="state table.csv picture.svg"
mkdir "$dir/small" || exit 1
for file in $files; do echo "what was there" >"$dir/small/$file"; done
for option in "--save-state $dir/small/state" "--csv $dir/small/table.csv" "--plot $dir/small/picture.svg"; do
  # shellcheck disable=SC2086
  (
    ulimit -f 2
    exec env --ignore-signal=XFSZ "$ORRERY" run $ship --mode batch --duration 10s --set 'expect=[]' $option >/dev/null 2>"$dir/err"
  )
  [ $? -eq 1 ] || fail "$option on a full disk is no error"
  grep -q 'cannot write' "$dir/err" || fail "$option: $(cat "$dir/err")"
done
for file in $files; do [ "$(cat "$dir/small/$file")" = "what was there" ] || fail "a full disk destroyed $file"; done
[ "$(find "$dir/small" -type f | wc -l)" -eq 3 ] || fail "something is left: $(ls "$dir/small")"

# with room, each takes its place, keeps its mode, and a link stays one
chmod 600 "$dir/small/state"
ln -s state "$dir/small/link"
fly --save-state "$dir/small/link" --csv "$dir/small/table.csv" --plot "$dir/small/picture.svg" >/dev/null || fail "with room"
[ -L "$dir/small/link" ] && cmp -s "$dir/small/state" "$dir/state" || fail "a link is not followed"
[ "$(stat -c %a "$dir/small/state")" = 600 ] || fail "its mode is $(stat -c %a "$dir/small/state")"
[ "$(find "$dir/small" -type f | wc -l)" -eq 3 ] || fail "something is left: $(ls "$dir/small")"
fly --csv /dev/null --save-state /dev/null >/dev/null || fail "/dev/null"
fly --csv /dev/full >/dev/null 2>&1 && fail "/dev/full takes a table"
exit 0
