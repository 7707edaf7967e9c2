#!/bin/sh
# The identities of the papers, in octave as core/README.md shows them: for each tree of tests/vectors, and
# for spacecraft with modes.
. tests/support/script.sh
command -v octave-cli >/dev/null || {
  echo "skipped: octave is not installed"
  exit 77
}
awk '/^```octave$/ { on = 1; next } /^```$/ { on = 0 } on' core/README.md >"$dir/shown.m"
[ "$(grep -c '^norm(' "$dir/shown.m")" -ge 4 ] || fail "core/README.md shows no identities"

judge() { # NAME MODEL CASE: the norms, against the largest number of what they are of
  "$ORRERY" eval "$2" "$3" --factors >"$dir/result.json" 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
  {
    cat "$dir/shown.m"
    printf '%s\n' 'printf("scale %.17g %.17g\n", norm(Mass), cond(Mass));'
  } >"$dir/judged.m"
  (cd "$dir" && octave-cli --no-gui --no-init-file judged.m) >"$dir/out" 2>&1 || fail "$1: octave says $(cat "$dir/out")"
  awk '$1 == "ans" { norm[++n] = $3 } $1 == "scale" { mass = $2; cond = $3 }
    END { good = n == 4 && mass > 0
      for (i = 1; i <= 2; i++) good = good && norm[i] <= 1e-12 * mass
      good = good && norm[3] <= 1e-10 && norm[4] <= 1e-13 * cond + 1e-10
      exit !good }' "$dir/out" || fail "$1: an identity does not hold: $(cat "$dir/out")"
  count=$((count + 1))
}
count=0
for folder in $(dirname tests/vectors/*/expected.json); do
  model=$folder/model.json
  "$ORRERY" check --json "$model" 2>/dev/null | tr -d '[:space:]' | grep -q '"loops":\[\]' || continue # factors are of trees
  [ -f "$folder/case.json" ] && ! grep -q '"accelerations"' "$folder/case.json" || continue
  judge "$folder" "$model" "$folder/case.json"
done
[ "$count" -ge 12 ] || fail "only $count vectors have factors"
echo 'state: {}' >"$dir/rest.yaml"
for config in wings cassini chain; do
  judge $config configs/$config.yaml "$dir/rest.yaml"
done
# an example that cannot fail shows nothing: a wrong block is seen
sed 's|L \* D \* L|L * (D + 1e-6 * eye(rows(D))) * L|' "$dir/shown.m" >"$dir/wrong.m"
cmp -s "$dir/shown.m" "$dir/wrong.m" && fail "core/README.md shows (54) in other words"
(cd "$dir" && octave-cli --no-gui --no-init-file wrong.m) >"$dir/out" 2>&1
awk '$1 == "ans" { norm[++n] = $3 } END { exit !(norm[2] > 1e-8) }' "$dir/out" || fail "a wrong D is not seen: $(cat "$dir/out")"
exit 0
