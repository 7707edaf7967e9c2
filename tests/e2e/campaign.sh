#!/bin/sh
# Campaigns: one table to the byte whatever the workers, kills and resumes; a flight flown again; flights that
# crash, hang and take too much memory; files that are wrong; another build or other elementary functions;
# flight software outside.
. tests/support/script.sh

sed 's/duration: 60 s/duration: 20 s/; s/at: 25 s/at: 15 s/' configs/cubesat.yaml >"$dir/ship.yaml"
cat >"$dir/c.yaml" <<Y
orrery: 1
campaign:
  run: ship.yaml
  flights: 40
  seed: 3
  sampling: latin_hypercube
  vary:
    spacecraft.bodies.bus.mass: {normal: [4 kg, 0.1 kg], within: [3.8 kg, 4.2 kg]}
    sensors.gyro.bias[1]: {uniform: [-0.1 deg/s, 0.1 deg/s]}
    simulation.initial.bus.rate[0]: {triangular: [0 deg/s, 1 deg/s, 2 deg/s]}
    simulation.seed: each
  correlated: [{paths: ["spacecraft.bodies.bus.com[0]", "spacecraft.bodies.bus.com[1]"], mean: [0 mm, 0 mm], covariance: [[1e-6, 5e-7], [5e-7, 1e-6]]}]
  keep:
    measures: {final: [bus.pointing_error], max: [bus.rate.x], rms: [gyro.rate], settling: {bus.pointing_error: 0.5 deg}}
    channels: {names: [bus.rate], rate: 1 Hz, worst: 2}
    envelopes: [bus.pointing_error]
    points: 20
Y
campaign() { "$ORRERY" campaign "$@"; }
same() { # FOLDER FOLDER
  for table in table.csv table.jsonl histories.jsonl summary.json; do
    cmp "$1/$table" "$2/$table" || fail "$table of $1 and $2"
  done
}

# what varies is told without a flight; what cannot be flown is refused before the first one
campaign check "$dir/c.yaml" >"$dir/out" 2>&1 || fail "check: $(cat "$dir/out")"
for line in 'flown       in batch, by the controllers inside' 'varies      spacecraft.bodies.bus.mass (kg): normal, mean and deviation 4, 0.1, within 3.8 and 4.2' \
  'varies      sensors.gyro.bias\[1\] (rad/s): uniform from and to -0.00174532925, 0.00174532925' 'varies      simulation.seed: a whole number for each flight'; do
  grep -qx "$line" "$dir/out" || fail "check, no '$line': $(cat "$dir/out")"
done
sed 's/stiffness: .*/}/' "$dir/ship.yaml" >"$dir/alone.yaml"
sed 's/ship.yaml/alone.yaml/' "$dir/c.yaml" >"$dir/alone.c.yaml"
for verb in check run; do
  campaign $verb "$dir/alone.c.yaml" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "$verb: a link that nobody answers is taken: $(cat "$dir/out")"
  grep -q "link 'fsw' leads to flight software outside, .*: name some under 'software' of the campaign" "$dir/out" || fail "$verb: $(cat "$dir/out")"
done
campaign chekc "$dir/c.yaml" 2>&1 | grep -q 'takes check, run, fly, report, .* not .chekc' || fail "the verbs"

# workers
campaign run "$dir/c.yaml" -o "$dir/one" --jobs 1 --junit "$dir/junit.xml" >"$dir/out" || fail "$(cat "$dir/out")"
for jobs in 2 5; do
  campaign run "$dir/c.yaml" -o "$dir/w$jobs" --jobs $jobs >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
  same "$dir/one" "$dir/w$jobs"
done
[ "$(wc -l <"$dir/one/table.csv")" -eq 41 ] && [ "$(cut -d, -f5 "$dir/one/table.csv" | sort -u | wc -l)" -eq 41 ] || fail "40 flights, each other than the rest"
[ "$(find "$dir/one/histories" -name '*.csv' | wc -l)" -eq 2 ] || fail "histories of the worst two"
python3 tests/support/junit.py "$dir/junit.xml" || fail "JUnit: $(cat "$dir/junit.xml")"
grep -q 'tests="2" failures="0"' "$dir/junit.xml" || fail "JUnit: $(cat "$dir/junit.xml")"

# a flight flown again has the hash in the table
for flight in 0 17 39; do
  hash=$(sed -n "$((flight + 2))p" "$dir/one/table.csv" | cut -d, -f5)
  [ "$(campaign fly "$dir/c.yaml" --flight $flight | hash_of)" = "$hash" ] || fail "flight $flight again"
done
campaign fly "$dir/c.yaml" --flight 3 --settings | grep -q '^simulation.seed=' || fail "--settings"
campaign fly "$dir/c.yaml" --flight 40 2>"$dir/err" && fail "a flight that there is not"

# kills and resumes: each loses only flights in the air
i=0
while [ $i -lt 5 ]; do
  "$ORRERY" campaign run "$dir/c.yaml" -o "$dir/killed" --jobs 2 --resume >"$dir/out" 2>&1 &
  victim=$!
  await test -e "$dir/killed/journal.jsonl"
  before=$(wc -l <"$dir/killed/journal.jsonl")
  more() { [ "$(wc -l <"$dir/killed/journal.jsonl")" -gt "$before" ] || ! kill -0 $victim; }
  await more 2>"$dir/err"
  kill -9 $victim 2>"$dir/err"
  wait $victim 2>"$dir/err"
  i=$((i + 1))
done
printf '{"flight":39,"seed":' >>"$dir/killed/journal.jsonl" # as a kill in the middle of a row would leave it
campaign run "$dir/c.yaml" -o "$dir/killed" --resume >"$dir/out" 2>&1 || fail "resume: $(cat "$dir/out")"
same "$dir/one" "$dir/killed"

# Ctrl-C: incomplete, and the same in the end
"$ORRERY" campaign run "$dir/c.yaml" -o "$dir/ended" --jobs 2 >"$dir/out" 2>&1 &
victim=$!
await test -s "$dir/ended/journal.jsonl"
kill -TERM $victim
wait $victim
status=$?
[ $status -eq 3 ] || [ "$(wc -l <"$dir/ended/table.csv")" -eq 41 ] || fail "after SIGTERM: $status $(cat "$dir/out")"
campaign run "$dir/c.yaml" -o "$dir/ended" --resume >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
same "$dir/one" "$dir/ended"

# a worker that crashes is one row
cat >"$dir/crash.yaml" <<Y
orrery: 1
campaign: {run: $PWD/configs/cubesat.yaml, sampling: grid, vary: {simulation.duration: {one_of: [10000000 s, 1 s, 2 s]}}}
Y
"$ORRERY" campaign run "$dir/crash.yaml" -o "$dir/crashed" --jobs 1 >"$dir/out" 2>&1 &
victim=$!
child() { # of the campaign; a bare Debian has no pgrep
  awk -v parent="$victim" '{ pid = $1; sub(/.*\) /, ""); if ($2 == parent) print pid }' /proc/[0-9]*/stat >"$dir/child" 2>/dev/null
  [ -s "$dir/child" ]
}
await child && kill -SEGV "$(head -n 1 "$dir/child")"
wait $victim
[ $? -eq 1 ] || fail "a campaign with a flight that crashed: $(cat "$dir/out")"
[ "$(grep -c 'crashed,signal 11 (Segmentation fault)' "$dir/crashed/table.csv")" -eq 1 ] && [ "$(grep -c 'passed' "$dir/crashed/table.csv")" -eq 2 ] ||
  fail "a crash is one row: $(cut -d, -f1-5 "$dir/crashed/table.csv")"

# one that hangs, and one that takes too much memory
cat >"$dir/hang.yaml" <<Y
orrery: 1
campaign: {run: $PWD/configs/cubesat.yaml, sampling: grid, vary: {simulation.duration: {one_of: [1 s, 10000000 s, 2 s]}}, limits: {wall: 20 s}}
Y
campaign run "$dir/hang.yaml" -o "$dir/hung" --jobs 3 >"$dir/out" 2>&1 && fail "a flight that hangs"
[ "$(cut -d, -f1,3,4 "$dir/hung/table.csv" | tail -n 3 | tr '\n' ' ')" = '0,passed, 1,hung,took longer than 20 s on the clock 2,passed, ' ] ||
  fail "one hangs: $(cat "$dir/hung/table.csv")"
{
  printf 'orrery: 1\nspacecraft:\n  bodies:\n    b0: &b {mass: 1 kg, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [1, 0, 0]}}}\n'
  seq 600 | awk '{printf "    b%d: {<<: *b, hinge: {kind: revolute, to: b%d.n, axis: [0, 0, 1]}}\n", $1, $1 - 1}'
  echo 'simulation: {step: 10 ms, duration: 20 ms}'
} >"$dir/many.yaml"
cat >"$dir/memory.yaml" <<Y
orrery: 1
campaign: {run: many.yaml, flights: 2, vary: {simulation.seed: each}, limits: {memory: 1}}
Y
campaign run "$dir/memory.yaml" -o "$dir/fat" >"$dir/out" 2>&1 && fail "flights without memory"
[ "$(grep -c 'out_of_memory,needs more than 1 MB' "$dir/fat/table.csv")" -eq 2 ] || fail "no memory: $(cat "$dir/fat/table.csv")"

# values from a table; shares with confidence
printf 'simulation.seed, "spacecraft.bodies.bus.mass"\n1, 4 kg\n2, 4.1 kg\n3, 3900 g\n' >"$dir/rows.csv"
cat >"$dir/list.yaml" <<Y
orrery: 1
campaign: {run: short.yaml, sampling: list, table: rows.csv, expect: [{share: 0.3, confidence: 0.95}, {share: 0.9, meets: steady}]}
Y
{ sed 's/duration: 60 s/duration: 2 s/' configs/cubesat.yaml && echo 'expect: [{channel: bus.rate, below: 10 deg/s, name: steady}]'; } >"$dir/short.yaml"
campaign run "$dir/list.yaml" -o "$dir/list" >"$dir/out" 2>&1 || fail "three that meet show 0.3 with 0.95: $(cat "$dir/out")"
[ "$(cut -d, -f6,7 "$dir/list/table.csv" | tail -n 3 | tr '\n' ' ')" = '1,4 2,4.0999999999999996 3,3.8999999999999999 ' ] || fail "values of a table: $(cat "$dir/list/table.csv")"
head -n 1 "$dir/list/table.csv" | grep -q ',simulation.seed,spacecraft.bodies.bus.mass (kg),' || fail "units of what varies: $(head -n 1 "$dir/list/table.csv")"
sed 's/share: 0.3,/share: 0.4,/' "$dir/list.yaml" >"$dir/less.yaml"
campaign run "$dir/less.yaml" -o "$dir/less" >"$dir/out" 2>&1 && fail "0.05^(1/3) is 0.368 and below 0.4"
grep -q '^NOT SHOWN .*it takes 4 flights' "$dir/out" || fail "what it takes: $(cat "$dir/out")"

# `meets` with several of that subject means them all, and says so; one that fits nothing is told what would
sed '$d' "$dir/short.yaml" >"$dir/twice.yaml"
echo 'expect: [{channel: bus.rate, below: 10 deg/s}, {channel: bus.rate, below: 9 rad/s, requirement: ACS-1}]' >>"$dir/twice.yaml"
sed 's/short.yaml/twice.yaml/; s/meets: steady/meets: bus.rate/' "$dir/list.yaml" >"$dir/both.yaml"
campaign run "$dir/both.yaml" -o "$dir/both" >"$dir/out" 2>"$dir/err" || fail "both: $(cat "$dir/out" "$dir/err")"
grep -q "2 expectations of 'bus.rate', and a flight must meet them all" "$dir/err" || fail "several: $(cat "$dir/err")"
for name in ACS-1 nothing; do
  sed "s/meets: bus.rate/meets: $name/" "$dir/both.yaml" >"$dir/name.yaml"
  campaign run "$dir/name.yaml" -o "$dir/never" >"$dir/out" 2>"$dir/$name.err" && fail "meets $name"
done
grep -q "that is a requirement, and the expectation it stands at is named 'bus.rate'" "$dir/ACS-1.err" || fail "$(cat "$dir/ACS-1.err")"
grep -q "expects nothing of 'nothing'; it expects 'bus.rate'" "$dir/nothing.err" || fail "$(cat "$dir/nothing.err")"

# what is wrong is told before the first flight
wrong() { # SED WORDS
  sed "$1" "$dir/c.yaml" >"$dir/wrong.yaml"
  campaign run "$dir/wrong.yaml" -o "$dir/never" >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] && [ ! -e "$dir/never" ] && grep -q "$2" "$dir/err" || fail "$1: $(cat "$dir/err")"
}
wrong 's/sensors.gyro.bias/sensors.gyr.bias/' "there is no 'gyr' in the run file, did you mean 'gyro'"
wrong 's/bodies.bus.mass/bodies.bus.mas/' "unknown key 'mas' in body 'bus', did you mean 'mass'"
wrong 's/4 kg, 0.1 kg/4 m, 0.1 m/; s/, within: [^}]*//' "'4 m' is a length"
wrong 's/4 kg, 0.1 kg/0.2 kg, 0.1 kg/; s/, within: [^}]*//' "'mass' of 'bus' must be greater than zero"
wrong 's/bus.com\[0\]/bus.com[3]/' 'that list has no item'
wrong 's/bus.pointing_error\], max/bus.pointing_eror], max/' "did you mean 'bus.pointing_error'"
wrong 's/5e-7, 1e-6\]\]/5e-7, 1e-8]]/' 'positive definite'
wrong 's/flights: 40//' "says how many 'flights'"
wrong 's/latin_hypercube/latin/' "latin_hypercube"

# another campaign, another build, other elementary functions: refused by name
mkdir "$dir/other" && cp "$dir/ship.yaml" "$dir/other"
sed 's/seed: 3/seed: 4/' "$dir/c.yaml" >"$dir/other/c.yaml"
campaign run "$dir/other/c.yaml" -o "$dir/one" --resume >"$dir/out" 2>"$dir/err" && fail "another campaign's folder"
grep -q "'c.yaml' has changed" "$dir/err" || fail "$(cat "$dir/err")"
campaign run "$dir/c.yaml" -o "$dir/one" >"$dir/out" 2>"$dir/err" && fail "a folder that is taken"
cp -r "$dir/one" "$dir/functions"
sed -i 's/\("fingerprint": "[0-9a-f]*-\).\{4\}/\1zzzz/' "$dir/functions/campaign.json"
campaign run "$dir/c.yaml" -o "$dir/functions" --resume >"$dir/out" 2>"$dir/err" && fail "other elementary functions"
grep -q "$(uname -n) has another variant of the elementary functions" "$dir/err" || fail "$(cat "$dir/err")"
cp -r "$dir/one" "$dir/build"
sed -i 's/\("fingerprint": "\).\{4\}/\1zzzz/' "$dir/build/campaign.json"
campaign run "$dir/c.yaml" -o "$dir/build" --resume >"$dir/out" 2>"$dir/err" && fail "another build"
grep -q 'has another build than' "$dir/err" || fail "$(cat "$dir/err")"
sed -i 's/\("fingerprint": "\)/\1\\u001b[2J/' "$dir/build/campaign.json"
campaign run "$dir/c.yaml" -o "$dir/build" --resume >"$dir/out" 2>"$dir/err" && fail "another build"
grep -q 'they have ?\[2Jzzzz' "$dir/err" || fail "control characters of a folder: $(cat -v "$dir/err")"

# nor does its page hold words of a folder as they are
sed -i 's|\("verdict": "\)|\1<script>|' "$dir/build/summary.json"
campaign report "$dir/build" -o "$dir/page.html" >"$dir/out" 2>"$dir/err" || fail "report: $(cat "$dir/err")"
grep -q '<script>pa\|<script>fa\|<script>in' "$dir/page.html" && fail "the page holds a script of a folder"
grep -q '&lt;script&gt;' "$dir/page.html" || fail "the page lacks the verdict: $(head -n 30 "$dir/page.html")"

# it stands in the summary of a run, its log and the table, and depends on the functions of the C library
print=$(sed -n 's/.*"fingerprint": "\(.*\)",/\1/p' "$dir/one/campaign.json")
"$ORRERY" run "$dir/short.yaml" --mode batch --log "$dir/a.mcap" >"$dir/out" 2>&1 && grep -qx "fingerprint $print" "$dir/out" || fail "the summary: $(cat "$dir/out")"
"$ORRERY" log info "$dir/a.mcap" --json | grep -q "\"fingerprint\": \"$print\"" || fail "the log has no fingerprint"
[ "$(grep -c "\"fingerprint\":\"$print\"" "$dir/one/table.jsonl")" -eq 40 ] || fail "the table has no fingerprint"
if grep -qw fma /proc/cpuinfo; then # other variants of sin and exp
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2,-AVX2_Usable,-FMA4 "$ORRERY" campaign run "$dir/c.yaml" -o "$dir/one" --resume >"$dir/out" 2>"$dir/err" && fail "without FMA it is the same"
  grep -q 'another variant of the elementary functions' "$dir/err" || fail "$(cat "$dir/err")"
fi

# flight software outside, a process for each flight: the same bits as the controller inside; nothing is left behind
sed 's/duration: 60 s/duration: 4 s/' configs/cubesat.yaml >"$dir/six.yaml"
cat >"$dir/inside.yaml" <<Y
orrery: 1
campaign:
  run: six.yaml
  flights: 8
  vary: {spacecraft.bodies.bus.mass: {uniform: [3.8 kg, 4.2 kg]}, simulation.seed: each}
Y
{ cat "$dir/inside.yaml" && echo "  software: {command: 'echo \"\$ORRERY_FLIGHT \$MASS\" >>$dir/told; exec $fsw \$ORRERY_LINK cubesat', environment: {MASS: spacecraft.bodies.bus.mass}}"; } >"$dir/outside.yaml"
campaign run "$dir/inside.yaml" -o "$dir/inside" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
campaign run "$dir/outside.yaml" -o "$dir/outside" --jobs 3 >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
cmp "$dir/inside/table.csv" "$dir/outside/table.csv" || fail "inside and outside differ"
[ "$(sort -n "$dir/told" | tr ' ' ,)" = "$(tail -n +2 "$dir/inside/table.csv" | cut -d, -f1,6)" ] || fail "what it was told: $(cat "$dir/told")"
tag=$(python3 -c "
import os, sys
h = 0xcbf29ce484222325
for c in os.path.realpath(sys.argv[1]).encode():
    h = (h ^ c) * 0x100000001b3 % 2**64
print('orrery.c%012x' % (h >> 16))" "$dir/outside")
[ -z "$(find /dev/shm -name "$tag*")" ] || fail "segments are left: $(ls /dev/shm)"
exit 0
