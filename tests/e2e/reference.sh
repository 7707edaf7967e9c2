#!/bin/sh
# The reference: its pages are what the command prints, its examples fly, and no mapping of the reader is missing in it.
. tests/support/script.sh

for page in devices run-file campaign-file; do
  "$ORRERY" help "$page" --markdown > "$dir/$page.md" || fail "help $page --markdown"
  cmp "$dir/$page.md" "configs/$page.md" || fail "configs/$page.md is not what 'orrery help $page --markdown' prints: make reference"
done

# Every page fits a terminal of 100 columns.
for page in devices channels units run-file campaign-file; do
  "$ORRERY" help "$page" > "$dir/$page" || fail "help $page"
done
for kind in $(sed -n 's/^  \([a-z_]*\)  *[A-Z].*/\1/p' "$dir/devices"); do
  "$ORRERY" help devices "$kind" > "$dir/kind.$kind" || fail "help devices $kind"
  for part in "^  node\|^  hinge" "^  NAME\." "kind: $kind"; do
    grep -q -- "$part" "$dir/kind.$kind" || fail "help devices $kind has no '$part'"
  done
done
[ "$(ls "$dir" | grep -c '^kind\.')" -ge 18 ] || fail "help devices lists the kinds"
for section in $(sed -n '/SECTION$/,$s/^  \([a-z_.]*\)  *[A-Z].*/\1/p' "$dir/run-file"); do
  "$ORRERY" help run-file "$section" > "$dir/section.$section" || fail "help run-file $section"
done
[ "$(ls "$dir" | grep -c '^section\.')" -ge 30 ] || fail "help run-file lists the sections"
python3 - "$dir"/devices "$dir"/channels "$dir"/units "$dir"/run-file "$dir"/campaign-file "$dir"/kind.* "$dir"/section.* <<'PYTHON' || fail "lines of more than 100 columns"
import sys
long = [(path, line) for path in sys.argv[1:] for line in open(path, encoding="utf-8") if len(line.rstrip("\n")) > 100]
print(*long, sep="\n")
sys.exit(bool(long))
PYTHON

# The examples are run files that fly.
ln -s "$PWD/configs/data" "$dir/data"
for page in devices run-file; do
  "$ORRERY" help "$page" --example > "$dir/$page.yaml"
  "$ORRERY" check "$dir/$page.yaml" > "$dir/out" 2>&1 || fail "the example of $page is wrong: $(cat "$dir/out")"
  grep -q warning "$dir/out" && fail "the example of $page is warned about: $(cat "$dir/out")"
  "$ORRERY" run "$dir/$page.yaml" --mode batch > "$dir/out" 2>&1 || fail "the example of $page does not fly: $(cat "$dir/out")"
done
# those that are a spacecraft or a file of their own, as the page shows them
example_of() { # SECTION
  awk -v head="$1" '/^#/ {here = $0 ~ "^##+ " head "$"} /^```/ {if (here && code) exit; code = /^```yaml/; next} here && code' configs/run-file.md
}
example_of 'part file' >"$dir/boom.yaml"
for section in loops parts motion; do
  { echo 'orrery: 1' && example_of "$section"; } >"$dir/$section.yaml"
  echo 'simulation: {step: 10 ms, duration: 1 s}' >>"$dir/$section.yaml"
  "$ORRERY" check "$dir/$section.yaml" > "$dir/out" 2>&1 || fail "the example of $section is wrong: $(cat "$dir/out")"
  grep -q warning "$dir/out" && fail "the example of $section is warned about: $(cat "$dir/out")"
  "$ORRERY" run "$dir/$section.yaml" --mode batch > "$dir/out" 2>&1 || fail "the example of $section does not fly: $(cat "$dir/out")"
done
{ echo 'orrery: 1' && example_of bodies; } >"$dir/bodies.yaml"
example_of case >"$dir/case.yaml"
"$ORRERY" eval "$dir/bodies.yaml" "$dir/case.yaml" > "$dir/out" 2>&1 || fail "the example of case is wrong: $(cat "$dir/out")"

# what the pages show is what was flown
for kind in $(sed -n 's/^  [a-z_]*: {kind: \([a-z_]*\),.*/\1/p' "$dir/devices.yaml"); do
  [ -f "$dir/kind.$kind" ] || fail "the example has a kind '$kind' that has no page"
done
sed -e '/aim: lvlh/!d' configs/run-file.md > "$dir/aim"
{ sed '/^environment:/,$d' "$dir/devices.yaml"; cat "$dir/aim"; echo 'expect: [{channel: bus.pointing_error, below: 181 deg}]'; sed -n '/^environment:/,$p' "$dir/devices.yaml"; } > "$dir/aim.yaml"
"$ORRERY" run "$dir/aim.yaml" --mode batch > "$dir/out" 2>&1 || fail "the example of pointing.aim does not fly: $(cat "$dir/out")"
grep -q '^met ' "$dir/out" || fail "the example of pointing.aim points nowhere: $(cat "$dir/out")"

# Each mapping that the reader has, by its name in the sources, stands in the reference.
cat io/config/run/*.c io/config/spacecraft/*.c io/config/campaign/*.c |
  awk '/^(static )?const struct orr_mapping [a-z_]+ *= *\{/ {looking = 1} looking && match($0, /\.name = "[^"]*"/) {
    print substr($0, RSTART + 9, RLENGTH - 10); looking = 0}' | sort -u > "$dir/sources"
sed -n 's/^##* //p' configs/run-file.md configs/campaign-file.md | sort -u > "$dir/told"
missing=$(grep -vx device "$dir/sources" | comm -23 - "$dir/told")
[ -z "$missing" ] || fail "no section reaches by its shape what the reader reads: $missing"
[ "$(wc -l < "$dir/sources")" -ge 38 ] || fail "the mappings of the sources are found"

# What is not there is answered with the nearest.
out=$("$ORRERY" help devices rate_gyr 2>&1)
[ $? -eq 2 ] || fail "an unknown kind is exit 2"
case $out in *"did you mean 'rate_gyro'?"*) ;; *) fail "an unknown kind gets the nearest: $out" ;; esac
out=$("$ORRERY" help run-file lnks 2>&1)
[ $? -eq 2 ] || fail "an unknown section is exit 2"
case $out in *"did you mean 'links'?"*) ;; *) fail "an unknown section gets the nearest: $out" ;; esac
"$ORRERY" help run-file timeout | grep -q '^links.timeout' || fail "a section is found by its last name"
"$ORRERY" help units metres 2> /dev/null
[ $? -eq 2 ] || fail "a word too many is exit 2"
out=$("$ORRERY" help device 2>&1)
case $out in *"did you mean 'devices'?"*) ;; *) fail "an unknown topic gets the nearest: $out" ;; esac
out=$("$ORRERY" help rate_gyro 2>&1)
[ $? -eq 2 ] || fail "a device is no topic, and exit 2"
case $out in *"'orrery help devices rate_gyro'"*) ;; *) fail "a device's name leads to its page: $out" ;; esac
exit 0
