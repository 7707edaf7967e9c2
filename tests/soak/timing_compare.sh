#!/bin/sh
# Does `orrery timing compare --fly` tell the truth on this machine? It wants the machine to itself, for less than an
# hour with the defaults.
#   twenty comparisons of the build with itself, without a load and with one:
#     no `slower` but once; `too noisy` twice at most, and only for tails (p99)
#   twenty of it with a build that takes 5 % longer in integrate, and 200 ns longer in each other stage: found in
#     18, and the stage is named
# The slower build is a copy of the sources with a pause behind each stage; the product has no such thing.
#
# Each comparison is a line as soon as it ends, and stays in KEEP with its rows: a run that was killed goes on where it
# stopped. With other settings, another build or another kernel all begins anew, and what stood there is put aside.
#   COMPARISONS=20  LOADS='0 4'  STAGES='integrate publish latch record sensors'   STAGES='' only with itself
#   SLICE='200 ms'  WARM_UP='50 ms'  STEP=200us  SLICES=12  LIMIT=96
#   RUN=configs/reference.yaml  KEEP=build/timing_compare
. tests/support/script.sh
times=${COMPARISONS:-20}
slice=${SLICE:-200 ms} warm_up=${WARM_UP:-50 ms} step=${STEP:-200us} slices=${SLICES:-12} limit=${LIMIT:-96}
run=$(readlink -f "${RUN:-configs/reference.yaml}")
stages=${STAGES-integrate publish latch record sensors}
core=$(($(nproc) - 1))
orrery=$(readlink -f "$ORRERY")
kept=${KEEP:-build/timing_compare}
trap 'exit 1' INT TERM HUP
mkdir -p "$(dirname "$kept")" && exec 9>"$kept.lock" || fail "cannot write to $(dirname "$kept")"
flock -n 9 || {
  echo "waiting for one that flies for $kept already, or what is left of it"
  flock 9
}

# --- what was compared already ---
{
  echo "slice $slice, warm-up $warm_up, step $step, slices $slices to $limit, core $core, $(nproc) processors, kernel $(uname -r)"
  cksum <"$run"
  cksum <"$orrery"
  cksum <"$0"
} >"$dir/settings"
if [ -e "$kept" ] && ! cmp -s "$dir/settings" "$kept/settings"; then
  aside=$kept.$(date +%Y%m%d-%H%M%S)
  echo "what is in $kept was of other settings, and is put aside: $aside"
  mv "$kept" "$aside" || fail "cannot put $kept aside"
fi
mkdir -p "$kept" && cp "$dir/settings" "$kept" || fail "cannot write to $kept"

# --- a copy whose stages pause: PAD="stage ns" ---
copy=$dir/copy
mkdir -p "$copy/build" "$copy/tests"
cp -a Makefile core rt io tools "$copy" # what was built comes along, and one file is built anew
cp -a "$(dirname "$orrery")" "$copy/build"
python3 - "$copy/io/session/realtime.c" <<'PYTHON' || fail "the copy cannot be changed: io/session/realtime.c is another"
import sys
path = sys.argv[1]
s = open(path).read()
call = "int code = orr_session_stage_run(&orr_session_stages[frame->which], r->session);\n"
assert s.count(call) == 1
s = s.replace(call, call + "  linger(orr_session_stages[frame->which].name);\n")
place = "/* The stage of the session that the frame names. */\n"
assert s.count(place) == 1
s = s.replace(place, """static char padded[32];
static int64_t pad_ns;
static void linger(const char *stage) {
  if (strcmp(stage, padded) != 0)
    return;
  for (int64_t end_ns = orr_clock_now_ns() + pad_ns; orr_clock_now_ns() < end_ns;)
    ;
}
/* A look at the clock before, one behind and half of one over: they are part of the pause. */
static void read_pad(void) {
  enum { LOOKS = 2000 };
  long long ns = 0;
  const char *words = getenv("PAD");
  if (!words || sscanf(words, "%31s %lld", padded, &ns) != 2)
    return;
  int64_t begin_ns = orr_clock_now_ns();
  for (int i = 0; i < LOOKS; i++)
    (void)orr_clock_now_ns();
  pad_ns = ns - 3 * (orr_clock_now_ns() - begin_ns) / (2 * LOOKS);
}

""" + place)
begin = "  r->session = session;\n"
assert s.count(begin) == 1
open(path, "w").write(s.replace(begin, begin + "  read_pad();\n"))
PYTHON
(cd "$copy" && make -s COMMIT=padded build/release/orrery) >"$dir/make" 2>&1 || fail "the copy: $(tail -n 20 "$dir/make")"
slower=$copy/build/release/orrery

case_of() { # WORKERS: on the other cores
  echo 'timing: 1'
  echo "run: $run"
  echo "set: [realtime.core=$core, realtime.phase=0s, realtime.spin=0s, simulation.step=$step]"
  echo "slice: $slice"
  echo "warm_up: $warm_up"
  echo 'peer: none'
  [ "$1" = 0 ] || echo "load: {cores: [$(seq -s ', ' 0 $((core > 0 ? core - 1 : 0)))], workers: $1, kind: burner}"
}

# --- one comparison: a line of its verdict, whom it names, slices of each side, seconds, load of the host ---
now_ms() { date +%s%3N; }
clock() { printf '%d:%02d:%02d' $(($1 / 3600)) $(($1 / 60 % 60)) $(($1 % 60)); }
line_of() { # JSON MILLISECONDS. Of `too noisy` the rows are named that make it so
  python3 - "$@" <<'PYTHON'
import json, sys
j = json.load(open(sys.argv[1]))
verdict = j["verdict"]
rows = [r for r in j["rows"] if r["verdict"] == verdict and (verdict != "too noisy" or r["decides"])]
named = {r["distribution"] + (" " + r["measure"].replace(",", "") if verdict == "too noisy" else "") for r in rows}
load = open("/proc/loadavg").read().split()[0]
print(f"{verdict}: {', '.join(sorted(named)) or '-'}; {j['new_slices']} slices of each, {int(sys.argv[2]) / 1000:.1f} s, host load {load}")
PYTHON
}
compare() { # NAME NUMBER PROGRAM of the new side
  begun=$(now_ms)
  "$orrery" timing compare --fly "$dir/case.yaml" "$dir/case.yaml" --base-program "$slower" --new-program "$3" \
    --slices "$slices" --limit "$limit" --json >"$dir/json" 2>"$dir/err" &
  wait $! # a signal ends both
  [ -s "$dir/json" ] || fail "a comparison: $(cat "$dir/err")"
  took=$(($(now_ms) - begun))
  line=$(line_of "$dir/json" "$took") || fail "a comparison: $(cat "$dir/json")"
  case $line in
  'not comparable'*) # somebody clears a core, say: no verdict, and flown again
    spoilt=$((spoilt + 1))
    echo "$(date +%T) $1 $2: the machine was changed meanwhile: $(python3 -c 'import json,sys; print(*json.load(open(sys.argv[1]))["not_comparable"])' "$dir/json")"
    [ $spoilt -lt 3 ] || fail "three times in a row; go on when nothing else uses the machine"
    return
    ;;
  esac
  spoilt=0
  cp "$dir/json" "$kept/$1.$2.json"
  echo "$line" >>"$kept/$1"
  flown=$((flown + 1)) spent=$((spent + took))
  left=$(((all - found - flown) * (spent / flown) / 1000))
  echo "$(date +%T) $1 $2 of $times: $line; $((found + flown)) of $all, $(clock $((spent / 1000))) flown, some $(clock $left) left"
}
lines_of() { [ ! -e "$kept/$1" ] && echo 0 || wc -l <"$kept/$1"; }
fly_all() { # NAME PROGRAM: those that are not there yet; then all of them stand in $dir/lines
  while [ "$(lines_of "$1")" -lt "$times" ]; do
    compare "$1" $(($(lines_of "$1") + 1)) "$2"
  done
  head -n "$times" "$kept/$1" >"$dir/lines"
  echo "$1: $(cut -d : -f 1 "$dir/lines" | sort | uniq -c | sed 's/^ *//' | paste -sd ';' | sed 's/;/, /g'); $(seconds) s each on average"
}
seconds() { sed 's/.* of each, \([0-9.]*\) s, .*/\1/' "$dir/lines" | awk '{ sum += $1 } END { printf "%.1f", sum / NR }'; }

flown=0 spent=0 found=0 all=0 spoilt=0
for load in ${LOADS:-0 4}; do
  for stage in itself $stages; do
    there=$(lines_of "load-$load.$stage")
    found=$((found + (there < times ? there : times))) all=$((all + times))
  done
done
echo "$all comparisons, $found of them are there; host load $(cut -d ' ' -f 1-3 /proc/loadavg)"

status=0
judge() { # WORDS: of what is not so
  echo "FAIL: $*"
  status=1
}
for load in ${LOADS:-0 4}; do
  case_of "$load" >"$dir/case.yaml"
  fly_all "load-$load.itself" "$slower"
  [ "$(grep -c '^slower' "$dir/lines")" -le $((times / 20)) ] || judge "load $load: false alarms"
  [ "$(grep -c '^too noisy' "$dir/lines")" -le $((times / 10)) ] || judge "load $load: too noisy"
  grep '^too noisy' "$dir/lines" | sed 's/^too noisy: //; s/;.*//' | tr ',' '\n' | grep -v ' p99$' && judge "load $load: too noisy for what is no tail"
  for stage in $stages; do
    name=load-$load.$stage
    case $stage in
    integrate) # of the mean of calm frames, or of the median; once, for all comparisons
      [ -s "$kept/$name.ns" ] || {
        "$orrery" timing run "$dir/case.yaml" --slices 5 -o "$dir/some.json" >"$dir/some" 2>"$dir/err" || fail "slices: $(cat "$dir/err")"
        python3 - "$dir/some.json" >"$dir/ns" <<'PYTHON' || fail "5 % of integrate: $(cat "$dir/some")"
import json, sys
slices = [s for p in json.load(open(sys.argv[1]))["parts"] for s in p["slices"]]
calm = [s["calm"]["stages"]["integrate"]["sum_ns"] / s["calm"]["frames"] for s in slices if s.get("calm", {}).get("frames", 0) > 9]
means = [s["distributions"]["integrate"]["sum_ns"] / s["distributions"]["integrate"]["count"] for s in slices]
print(round(sorted(calm or means)[len(calm or means) // 2] / 20))
PYTHON
        cp "$dir/ns" "$kept/$name.ns"
      }
      ns=$(cat "$kept/$name.ns")
      ;;
    *) ns=200 ;;
    esac
    # both sides fly the same program; only this wrapper tells it to pause
    printf '#!/bin/sh\nPAD="%s %s" exec "%s" "$@"\n' "$stage" "$ns" "$slower" >"$dir/new"
    chmod +x "$dir/new"
    echo "$name: $ns ns more"
    fly_all "$name" "$dir/new"
    [ "$(grep -c "^slower:.*[ ,]${stage}[,;]" "$dir/lines")" -ge $((times * 9 / 10)) ] || judge "load $load: $stage"
  done
done
exit $status
