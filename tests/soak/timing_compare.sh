#!/bin/sh
# Does `orrery timing compare --fly` tell the truth on this machine? It wants the machine to itself: some
# hours with the defaults.
#   twenty comparisons of the build with itself, without a load and with one:
#     no `slower` but once, `too noisy` twice at most
#   twenty of it with a build that takes 5 % longer in integrate, and 200 ns longer in each other stage: found in
#     18, and the stage is named
# The slower build is a copy of the sources with a pause behind each stage; the product has no such thing.
#   COMPARISONS=20  LOADS='0 4'  SLICE='2 s'  WARM_UP='1 s'  STEP=1ms  STAGES='integrate publish latch record sensors'
#   RUN=configs/cassini.yaml-like run file
. tests/support/script.sh
times=${COMPARISONS:-20}
slice=${SLICE:-2 s} warm_up=${WARM_UP:-1 s} step=${STEP:-1ms}
run=${RUN:-$PWD/configs/reference.yaml}
stages=${STAGES:-integrate publish latch record sensors}
core=$(($(nproc) - 1))
orrery=$(readlink -f "$ORRERY")

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
static void read_pad(void) {
  long long ns = 0;
  const char *words = getenv("PAD");
  if (words && sscanf(words, "%31s %lld", padded, &ns) == 2)
    pad_ns = ns;
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
compare() { # PROGRAM of the new side: the verdict, with the distributions that it names
  "$orrery" timing compare --fly "$dir/case.yaml" "$dir/case.yaml" --base-program "$slower" --new-program "$1" --json >"$dir/json" 2>"$dir/err"
  [ -s "$dir/json" ] || fail "a comparison: $(cat "$dir/err")"
  python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); print(j["verdict"], *sorted({r["distribution"] for r in j["rows"] if r["verdict"] == j["verdict"]}), *j["not_comparable"])' "$dir/json"
}

status=0
judge() { # WORDS: of what is not so
  echo "FAIL: $*"
  status=1
}
for load in ${LOADS:-0 4}; do
  case_of "$load" >"$dir/case.yaml"
  : >"$dir/same"
  for _ in $(seq "$times"); do compare "$slower" >>"$dir/same"; done
  echo "load $load, the build with itself:"
  sort "$dir/same" | uniq -c
  [ "$(grep -c '^slower' "$dir/same")" -le $((times / 20)) ] || judge "load $load: false alarms"
  [ "$(grep -c '^too noisy' "$dir/same")" -le $((times / 10)) ] || judge "load $load: too noisy"
  "$orrery" timing run "$dir/case.yaml" --slices 1 -o "$dir/one.json" >"$dir/one" 2>"$dir/err" || fail "a slice: $(cat "$dir/err")"
  for stage in $stages; do
    case $stage in
    integrate) ns=$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1]))["parts"][0]["slices"][0]["distributions"]["integrate"]; print(d["sum_ns"] // d["count"] // 20)' "$dir/one.json") ;;
    *) ns=200 ;;
    esac
    # both sides fly the same program; only this wrapper tells it to pause
    printf '#!/bin/sh\nPAD="%s %s" exec "%s" "$@"\n' "$stage" "$ns" "$slower" >"$dir/new"
    chmod +x "$dir/new"
    : >"$dir/found"
    for _ in $(seq "$times"); do compare "$dir/new" >>"$dir/found"; done
    echo "load $load, $ns ns more in $stage:"
    sort "$dir/found" | uniq -c
    [ "$(grep -c "^slower.* $stage" "$dir/found")" -ge $((times * 9 / 10)) ] || judge "load $load: $stage"
  done
done
exit $status
