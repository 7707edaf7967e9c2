#!/bin/sh
# `orrery timing`: a case is flown and kept, results are merged, compared and drawn; what is said and how it ends. No
# time is judged: what has to differ is put into the files.
. tests/support/script.sh
core=$(($(nproc) - 1))
cat >"$dir/case.yaml" <<END
timing: 1
run: $PWD/configs/cubesat.yaml
set: [realtime.core=$core, simulation.step=2ms, links.fsw.rate=50 Hz, links.fsw.name=$name, realtime.phase=0s, realtime.spin=0s]
slices: 2
slice: 200 ms
warm_up: 100 ms
load: {cores: [0], kind: burner}
END
timing() { "$ORRERY" timing "$@" >"$dir/out" 2>"$dir/err"; }
said() { # FILE EXPRESSION: of JSON, as j; its slices are s
  python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); s=[s for p in j.get("parts", []) for s in p["slices"]]; sys.exit(0 if eval(sys.argv[2], {"j": j, "s": s}) else 1)' "$1" "$2"
}

with() { # WORD...: which processes have these words in their command line; a bare Debian has no pgrep
  some=$(echo /proc/[0-9]*/cmdline)
  # shellcheck disable=SC2086
  for word in "$@"; do some=$(grep -lzxF -e "$word" /dev/null $some 2>/dev/null); done
  printf '%s\n' $some >"$dir/left"
}
gone() { with slice "$1" && ! grep -q . "$dir/left"; } # CASE: no slice of it flies

exec 9>/tmp/orrery.test.core && flock 9 # a core that a test clears meanwhile makes two parts of two slices, rightly
timing run "$dir/case.yaml" -o "$dir/a.json" || fail "run: $(cat "$dir/out" "$dir/err")"
said "$dir/a.json" 'j["orrery_timing"] == 1 and len(j["parts"]) == 1 and len(s) == 2' || fail "one part of two slices: $(cat "$dir/a.json")"
exec 9>&-
said "$dir/a.json" 'all(x["counts"]["frames"] == 100 and x["distributions"]["integrate"]["count"] == 100 for x in s)' || fail "100 frames each, without the warm-up"
said "$dir/a.json" 'all({"start", "wake-up", "slack", "publish", "latch", "record", "integrate", "sensors"} <= set(x["distributions"]) for x in s)' || fail "distributions"
# In two seconds a peer that a busy machine holds up has a turn; in 200 ms it may have none, and sees no frame.
seen='[x["distributions"] for x in s if "link fsw round trip" in x["distributions"]]'
sed 's/slice: 200 ms/slice: 2 s/' "$dir/case.yaml" >"$dir/peer.yaml"
timing run "$dir/peer.yaml" -o "$dir/peer.json" --slices 1 || fail "run with a peer: $(cat "$dir/out" "$dir/err")"
said "$dir/peer.json" "len($seen) == 1 and 0 < s[0]['distributions']['link fsw publication']['count'] <= 101" || fail "publication of 100 frames or so: $(cat "$dir/out")"
for slices in a peer; do
  said "$dir/$slices.json" "all(d['link fsw publication']['min_ns'] <= d['link fsw round trip']['min_ns'] for d in $seen)" || fail "a round trip is no shorter"
done
said "$dir/a.json" 'all(x["calm"]["frames"] <= 100 and all(c["min_ns"] >= x["distributions"][n]["min_ns"] for n, c in x["calm"]["stages"].items()) for x in s if "calm" in x)' || fail "calm frames"
said "$dir/a.json" 'all(0 < len(x["worst"]) <= 8 and "cause" in x["worst"][0] and "links" in x for x in s)' || fail "worst frames and links"
said "$dir/a.json" 'all(k in p for p in j["parts"] for k in ("when", "build", "case", "environment", "doctor", "lacks")) and "burner" in j["parts"][0]["case"]["load"]' ||
  fail "facts"
said "$dir/a.json" 'len(set(x["state_hash"] for x in s)) == 1' || fail "slices of one case have the same bits"
left=/dev/shm/orrery.timing.$$ # by one that was killed: days ago, or by another just now
{ : >"$left.old" && touch -d '3 days ago' "$left.old" && : >"$left.new"; } 2>/dev/null
timing run "$dir/case.yaml" -o "$dir/b.json" --for 10ms --set simulation.seed=2 || fail "--for: $(cat "$dir/err")"
said "$dir/b.json" 'len(s) == 1' || fail "--for 10ms flies one slice"
if [ -w /dev/shm ]; then
  [ ! -e "$left.old" ] && [ -e "$left.new" ] || fail "what is left in memory: $(ls -l "$left".*)"
  rm -f "$left.new"
fi
timing run "$dir/case.yaml" -o "$dir/c.json" --slices 1 --set realtime.core=x && fail "a wrong setting is taken"
grep -q 'core' "$dir/err" || fail "a wrong setting: $(cat "$dir/err")"
printf 'timing: 1\nrum: x\n' >"$dir/wrong.yaml"
timing run "$dir/wrong.yaml" -o "$dir/c.json" && fail "a wrong case is taken"
grep -q "wrong.yaml:2:1: error: unknown key 'rum'.*did you mean 'run'" "$dir/err" || fail "a wrong case: $(cat "$dir/err")"
[ ! -e "$dir/c.json" ] || fail "a result of nothing"
# a load that is not there: a core that no machine has, words that stress-ng does not know
sed 's/cores: .0./cores: [1023]/' "$dir/case.yaml" >"$dir/nowhere.yaml"
timing run "$dir/nowhere.yaml" -o "$dir/c.json" && fail "a load on core 1023"
grep -q 'nowhere.yaml: error: load.cores: core 1023 is not online; name some of 0' "$dir/err" || fail "core 1023: $(cat "$dir/err")"
ln -s dangling.json "$dir/out.json" # and what a link leads to, nowhere yet, is not made
timing run "$dir/nowhere.yaml" -o "$dir/out.json" && fail "a load on core 1023"
[ -L "$dir/out.json" ] && [ ! -e "$dir/dangling.json" ] || fail "a result of nothing behind a link"
mkdir "$dir/bin"
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/stress-ng"
chmod +x "$dir/bin/stress-ng"
sed 's/kind: burner/kind: stress-ng/' "$dir/case.yaml" >"$dir/words.yaml"
PATH="$dir/bin:$PATH" "$ORRERY" timing run "$dir/words.yaml" -o "$dir/c.json" --slices 100 >"$dir/out" 2>"$dir/err" && fail "a load that has ended"
grep -q 'the load on core 0 has ended by itself (exit status 1)' "$dir/err" || fail "a load that has ended: $(cat "$dir/err")"
rm -f "$dir/c.json"
# a signal ends it
: >"$dir/err" # what runs in the background empties it later than the next line reads it
"$ORRERY" timing run "$dir/case.yaml" -o "$dir/cut.json" --slices 1000 >"$dir/out" 2>"$dir/err" &
pid=$!
await grep -q 'waits for flight software' "$dir/err"
kill -TERM $pid
wait $pid
[ $? -eq 3 ] || fail "a signal: $(cat "$dir/err")"
# a file that cannot be written is told before the first slice, and a kill leaves what was saved
for words in "run $dir/case.yaml -o $dir/no/where.json" "compare --fly $dir/case.yaml $dir/case.yaml --keep $dir/no/where" \
  "compare --fly $dir/case.yaml $dir/case.yaml --junit $dir/no/where.xml" "run $dir/case.yaml -o $dir"; do
  # shellcheck disable=SC2086
  timeout 60 "$ORRERY" timing $words >"$dir/out" 2>"$dir/err"
  [ $? -eq 1 ] && grep -q "orrery timing.*: cannot .* '$dir" "$dir/err" || fail "$words: $(cat "$dir/err")"
  grep -q 'waits for flight software' "$dir/err" && fail "$words: flies first"
done
"$ORRERY" timing run "$dir/case.yaml" -o "$dir/killed.json" --slices 1000 >"$dir/out" 2>"$dir/err" &
pid=$!
await [ -s "$dir/killed.json" ] || fail "nothing is saved: $(cat "$dir/err")"
kill -KILL $pid
await gone "$dir/case.yaml" || fail "a slice flies on: $(cat "$dir/left")"
said "$dir/killed.json" 'len(s) >= 1' || fail "what was saved: $(cat "$dir/killed.json")"
rm "$dir/killed.json"
mkfifo "$dir/pipe"
cat "$dir/pipe" >"$dir/piped" &
pid=$!
timing run "$dir/case.yaml" -o "$dir/pipe" --slices 2 || fail "to a pipe: $(cat "$dir/err")"
wait $pid
said "$dir/piped" 'len(s) == 2' || fail "a pipe gets it once: $(cut -c 1-100 "$dir/piped")"
# SIGKILL, in a slice of five minutes: it ends, and so does its peer
sed 's/slice: 200 ms/slice: 5 min/' "$dir/case.yaml" >"$dir/long.yaml"
"$ORRERY" timing run "$dir/long.yaml" -o "$dir/killed.json" >"$dir/out" 2>"$dir/err" &
pid=$!
two_fly() { with slice "$dir/long.yaml" && [ "$(grep -c . "$dir/left")" -eq 2 ]; }
await two_fly || fail "no slice with a peer: $(cat "$dir/err")"
kill -KILL $pid
await gone "$dir/long.yaml" || fail "a slice flies on: $(cat "$dir/left")"

# over UDP, the load by stress-ng where it is installed; so many bytes are nobody else's
bytes=$((8000000 + $$))
link="{transport: udp, listen: \"127.0.0.1:$port\", allow: [127.0.0.1], rate: 50 Hz, telemetry: [gyro.rate], commands: [wheel_*.torque], wait: 60 s, timeout: {frames: 50, policy: hold}}"
sed "s|links.fsw.rate=50 Hz, links.fsw.name=$name|'links.fsw=$link'|" "$dir/peer.yaml" >"$dir/udp.yaml"
command -v stress-ng >/dev/null && sed -i "s/kind: burner/kind: stress-ng, stress: --cpu 1 --vm 1 --vm-bytes $bytes/" "$dir/udp.yaml"
timing run "$dir/udp.yaml" -o "$dir/udp.json" --slices 1 || fail "over UDP: $(cat "$dir/out" "$dir/err")"
grep -q "waits for flight software" "$dir/err" && grep -q "udp:127.0.0.1:$port" "$dir/err" || fail "the link is not on UDP: $(cat "$dir/err")"
said "$dir/udp.json" "len($seen) == 1 and all(0 < d['link fsw round trip']['count'] <= 101 for d in $seen) and s[0]['links']['fsw']['applied'] > 0" ||
  fail "a round trip over UDP: $(cat "$dir/out")"
said "$dir/udp.json" "all(0 < d['link fsw publication']['min_ns'] <= d['link fsw round trip']['min_ns'] for d in $seen)" ||
  fail "a round trip over UDP is no shorter than its way out"
if command -v stress-ng >/dev/null; then
  grep -q "load: stress-ng --cpu 1 --vm 1 --vm-bytes $bytes, 1 on each of cores 0" "$dir/out" || fail "the load is not stress-ng: $(cat "$dir/out")"
  none_left() { with --vm-bytes "$bytes" && ! grep -q . "$dir/left"; }
  await none_left || fail "stress-ng is left behind: $(cat "$dir/left")"
else
  echo 'not shown: stress-ng is not installed'
  sed 's/kind: burner/kind: stress-ng/' "$dir/case.yaml" >"$dir/stress.yaml"
  timing run "$dir/stress.yaml" -o "$dir/stress.json" && fail 'a load by stress-ng, which is not there'
  grep -q 'apt-get install stress-ng' "$dir/err" || fail "stress-ng is not there: $(cat "$dir/err")"
fi

# merge
timing merge "$dir/a.json" "$dir/b.json" -o "$dir/m.json" || fail "merge: $(cat "$dir/err")"
grep -q '^integrate .* 300$' "$dir/out" || fail "merge counts 300 frames: $(cat "$dir/out")"
grep -q 'p99.9999' "$dir/out" || fail "merge has p99.9999"
said "$dir/m.json" 'len(j["parts"]) == 2' || fail "another case is another part"
python3 -c 'import json,sys; d=sys.argv[1]; j=json.load(open(d+"/b.json")); j["parts"][0]["environment"]["kernel"]["release"]="6.12.0-rt"; j["parts"][0]["host"]="another"; json.dump(j, open(d+"/elsewhere.json", "w"))' "$dir"
timing merge "$dir/b.json" "$dir/elsewhere.json" "$dir/a.json" -o "$dir/machines.json" || fail "merge of two machines: $(cat "$dir/err")"
grep -q '^4 slices of 3 parts' "$dir/out" && grep -q '^integrate .* 400$' "$dir/out" || fail "merge of two machines: $(cat "$dir/out")"
said "$dir/machines.json" '[p["host"] for p in j["parts"]][1] == "another" and [p["environment"]["kernel"]["release"] for p in j["parts"]].count("6.12.0-rt") == 1' || fail "parts of two machines keep their facts"
for again in b m machines; do # one night twice: by its name, another, and within others
  cp "$dir/b.json" "$dir/again.json"
  timing merge "$dir/a.json" "$dir/again.json" "$dir/$again.json" -o "$dir/twice.json"
  [ $? -eq 1 ] && [ ! -e "$dir/twice.json" ] || fail "a night is counted twice: $(cat "$dir/out")"
  grep -q "/$again.json: error: its part of 20.* stands in '.*/a\(gain\)*.json', too.*name .* once" "$dir/err" || fail "one night twice: $(cat "$dir/err")"
done
python3 -c 'import json,sys; d=sys.argv[1]; j=json.load(open(d+"/b.json")); j["parts"] *= 2; json.dump(j, open(d+"/within.json", "w"))' "$dir"
timing merge "$dir/a.json" "$dir/within.json" -o "$dir/twice.json"
[ $? -eq 1 ] && [ ! -e "$dir/twice.json" ] && grep -q '/within.json: error: its part of 20.*, 1 slices, stands in it twice' "$dir/err" || fail "a night twice in one file: $(cat "$dir/out" "$dir/err")"
timing merge "$dir/case.yaml" && fail "merge takes what is no result"

# a result in which nothing was flown
echo '{"orrery_timing": 1, "parts": [{"slices": []}]}' >"$dir/none.json"
for verb in compare merge; do
  timing $verb "$dir/none.json" "$dir/none.json"
  [ $? -eq 1 ] && grep -q 'none.json: error: no slice is in it' "$dir/err" || fail "$verb takes a result without slices: $(cat "$dir/out" "$dir/err")"
done

# compare: files with as many slices as it takes, NEW with 1.6 us more in integrate, another kernel, wild samples
python3 - "$dir" <<'END' || fail "making results"
import copy, json, os, random, sys
d = sys.argv[1]
random.seed(1)
part = json.load(open(d + "/a.json"))["parts"][0]
def index(ns):
    if ns < 128:
        return ns
    shift = ns.bit_length() - 8
    return ((shift + 1) << 7) + (ns >> shift) - 128
def slice_of(shift, wild):
    s = copy.deepcopy(part["slices"][0])
    s["distributions"] = {}
    for name, ns in (("publish", 400), ("integrate", 32000 + shift)):
        luck = random.gauss(1, 0.002 + wild)
        values = [max(0, int(ns * luck * random.gauss(1, 0.02))) for _ in range(2000)]
        bins = {}
        for v in values:
            bins[index(v)] = bins.get(index(v), 0) + 1
        s["distributions"][name] = {"count": 2000, "sum_ns": sum(values), "min_ns": min(values), "max_ns": max(values),
                                    "bins": [x for k in sorted(bins) for x in (k, bins[k])]}
    s["calm"] = {"frames": 0, "stages": {}}
    return s
def write(name, shift, slices=12, wild=0, kernel=None, when=None):
    p = copy.deepcopy(part)
    p["slices"] = [slice_of(shift, wild) for _ in range(slices)]
    if kernel:
        p["environment"]["kernel"]["release"] = kernel
    if when:
        p["when"] = when
    json.dump({"orrery_timing": 1, "parts": [p]}, open(d + "/" + name, "w"))
write("base.json", 0)
write("same.json", 0)
write("slower.json", 1600)
write("faster.json", -3200)
write("wild.json", 0, wild=0.3)
write("wild.2.json", 0, wild=0.3)
write("few.json", 1600, slices=3)
write("kernel.json", 0, kernel="6.12.0-rt")
for side, shift in (("base", 0), ("new", 1600), ("wild", 0)): # what programs "fly", slice by slice
    for n in range(16):
        write("%s.%d" % (side, n), shift, slices=1, wild=0.3 if side == "wild" else 0)
for n in range(4):
    write("another.%d" % n, 0, slices=1, kernel="6.12.0-rt" if n == 3 else None)
os.mkdir(d + "/nights")
for n in range(16):
    write("nights/%02d.json" % n, 0 if n < 9 else 3200, slices=1, when="2026-01-%02dT00:00:00Z" % (n + 1))
open(d + "/nights/other.json", "w").write("{}")
END
base=base
verdict() { # FILE STATUS VERDICT [OPTIONS...]
  file=$1 expected=$2 word=$3
  shift 3
  timing compare "$dir/$base.json" "$dir/$file.json" "$@"
  [ $? -eq "$expected" ] || fail "$file: not exit $expected: $(cat "$dir/out" "$dir/err")"
  grep -q "^verdict     $word" "$dir/out" || fail "$file is not $word: $(cat "$dir/out")"
}
verdict same 0 same
verdict slower 1 'slower: integrate$'
verdict faster 0 'faster: integrate$'
base=wild
verdict wild.2 3 'too noisy'
base=base
verdict few 3 'too noisy'
grep -q 'more slices of each' "$dir/out" || fail "no more slices are asked for"
verdict kernel 3 'not comparable'
grep -q 'the kernel differs: .*6.12.0-rt' "$dir/out" || fail "the kernel is not named: $(cat "$dir/out")"
verdict kernel 0 same --across kernel
timing compare "$dir/base.json" "$dir/slower.json" --json --junit "$dir/junit.xml" --plot "$dir/plot.svg"
said "$dir/out" 'j["verdict"] == "slower" and any(r["distribution"] == "integrate" and r["verdict"] == "slower" and 1200 < r["worse_by_ns"] < 2000 and r["low_ns"] <= r["worse_by_ns"] <= r["high_ns"] for r in j["rows"])' ||
  fail "--json: $(cat "$dir/out")"
said "$dir/out" 'j["effect"]["integrate"] > 0.5 and abs(j["effect"]["publish"]) < 0.2' || fail "effects: $(cat "$dir/out")"
python3 tests/support/junit.py "$dir/junit.xml" || fail "JUnit"
python3 - "$dir" <<'END' || fail "JUnit and the picture"
import sys, xml.etree.ElementTree as t
suite = t.parse(sys.argv[1] + "/junit.xml").getroot()[0]
failed = {c.get("name").split()[0] for c in suite.iter("testcase") if c.find("failure") is not None}
assert failed == {"integrate"} and int(suite.get("failures")) >= 1 and suite.get("tests") == str(len(list(suite.iter("testcase"))))
text = " ".join(t.parse(sys.argv[1] + "/plot.svg").getroot().itertext())
assert "base" in text and "new" in text and "integrate" in text and "log" in text
END
# nothing in common, and rows of which none decides: no verdict without an error in JUnit
sed 's/"integrate"/"steer"/g; s/"publish"/"tell"/g' "$dir/base.json" >"$dir/others.json"
verdict others 3 'not comparable' --junit "$dir/others.xml"
grep -q 'no distribution has samples in both' "$dir/out" || fail "nothing in common: $(cat "$dir/out")"
grep -q -- '--across' "$dir/out" && fail "--across would not help: $(cat "$dir/out")"
verdict few 3 'too noisy' --decide p10 --junit "$dir/few.xml"
for junit in others few; do
  python3 tests/support/junit.py "$dir/$junit.xml" && grep -q 'name="comparable".*' "$dir/$junit.xml" && grep -q 'errors="1"' "$dir/$junit.xml" ||
    fail "JUnit of $junit: $(cat "$dir/$junit.xml")"
done
timing compare "$dir/a.json" "$dir/a.json" --plot "$dir/plot.svg"
grep -q '>slack<' "$dir/plot.svg" && [ "$(grep -o '>smaller (log scale)<' "$dir/plot.svg" | wc -l)" -eq 1 ] && [ "$(grep -o '>larger (log scale)<' "$dir/plot.svg" | wc -l)" -ge 9 ] ||
  fail "the picture has not slack beside the others: $(grep -o '>[a-z ]*(log scale)<' "$dir/plot.svg")"
for wrong in "compare $dir/base.json" "compare $dir/base.json $dir/same.json --across moon" "compare $dir/base.json $dir/same.json --decide 5" 'run' 'nothing' \
  "run $dir/case.yaml" "compare $dir/base.json $dir/same.json --slices 9" 'trend'; do
  # shellcheck disable=SC2086
  timing $wrong
  [ $? -eq 2 ] || fail "not a wrong command line: $wrong"
done

# flown in turn: whatever so few slices say, both are kept (also where a test clears a core meanwhile)
timing compare --fly "$dir/case.yaml" "$dir/case.yaml" --slices 8 --limit 8 --keep "$dir/kept" --across isolation
[ $? -ne 2 ] && grep -q '^verdict ' "$dir/out" || fail "--fly: $(cat "$dir/out" "$dir/err")"
for side in base new; do
  said "$dir/kept/$side.json" 'len(s) == 8' || fail "--keep: $side"
done

# its folder is one that its user can enter, whatever the umask
(umask 0177 && timing compare --fly "$dir/case.yaml" "$dir/case.yaml" --base-program false --new-program false --keep "$dir/shut")
[ "$(stat -c %a "$dir/shut")" = 700 ] || fail "--keep under a umask: $(stat -c %a "$dir/shut")"

# on and on until it can say, or to the limit, by two programs that have flown already: they take the words of
# `timing run`, and leave the next slice of their kind. Of eight pairs and two looks none can be slower: there are too
# few ways to deal them out
for side in base new wild another; do
  cat >"$dir/$side" <<END
#!/bin/sh
n=\$(cat "$dir/$side.count" 2>/dev/null || echo 0)
echo \$((n + 1)) >"$dir/$side.count"
echo "$side \$*" >>"$dir/turns"
for out; do :; done
cp "$dir/$side.\$n" "\$out"
END
  chmod +x "$dir/$side"
done
in_turn() { # BASE NEW STATUS VERDICT LIMIT SLICES LOOKS
  rm -f "$dir/turns" "$dir"/*.count
  timing compare --fly "$dir/case.yaml" "$dir/udp.yaml" --base-program "$dir/$1" --new-program "$dir/$2" --slices 8 --limit "$5" --keep "$dir/turned"
  [ $? -eq "$3" ] && grep -q "^verdict     $4" "$dir/out" || fail "$1 and $2 in turn are not $4: $(cat "$dir/out" "$dir/err")"
  said "$dir/turned/base.json" "len(s) == $6" && said "$dir/turned/new.json" "len(s) == $6" || fail "$1 and $2: not $6 slices of each"
  [ "$(grep 'flying on' "$dir/err")" = "$7" ] || fail "$1 and $2: looks: $(cat "$dir/err")"
}
in_turn base new 1 'slower: integrate$' 16 16 'too noisy after 8 slices of each; flying on to 16'
for _ in $(seq 8); do # whoever was first is second the next time
  printf '%s\n' "base timing run $dir/case.yaml" "new timing run $dir/udp.yaml" "new timing run $dir/udp.yaml" "base timing run $dir/case.yaml"
done >"$dir/expected"
[ ! -w /dev/shm ] || [ "$(grep -c ' -o /dev/shm/orrery.timing' "$dir/turns")" -eq 32 ] || fail "a slice goes by a disk: $(cat "$dir/turns")"
sed 's/ --slices 1 -o .*//' "$dir/turns" | cmp -s - "$dir/expected" || fail "who flies what, in turn: $(cat "$dir/turns")"
in_turn base wild 3 'too noisy' 10 10 'too noisy after 8 slices of each; flying on to 10'

in_turn base another 3 'not comparable' 16 4 '' # from the fourth on

# trend: one change, at the tenth night
timing trend "$dir/nights" -o "$dir/page.html" || fail "trend: $(cat "$dir/err")"
grep -q 'other.json: warning: left out' "$dir/err" || fail "what is no result is left out: $(cat "$dir/err")"
[ "$(grep -c '<li>integrate p50: .* from result 10 on, 2026-01-10T00:00:00Z, commit ' "$dir/page.html")" -eq 1 ] || fail "the change: $(grep '<li>' "$dir/page.html")"
grep -q '<li>publish' "$dir/page.html" && fail "a change that is none: $(grep '<li>' "$dir/page.html")"
grep -Eq 'src=|href=|url\([^#]|@import' "$dir/page.html" && fail "the page needs something else"
exit 0
