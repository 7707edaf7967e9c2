#!/bin/sh
# Instructions of one frame by stage, counted by valgrind's callgrind in batch, beside
# tests/baseline/stage_instructions: 50 more in any stage fail, and the stage is named; 50 fewer are told. The same on
# every run, whatever else the machine does. Only publish of cassini-slew is left out: its linked-in controller copies
# numbers by where the stack lies, which a longer variable of the environment moves by a hundred instructions.
#
#   tests/all/stage_instructions.sh            compares; exit 77 where compiler, flags, C library, valgrind or processor
#                                              are not those of the baseline
#   tests/all/stage_instructions.sh --update   writes the baseline anew, and prints what differs (make rt-baseline)
set -u
orrery=$(readlink -f "${ORRERY:-build/release/orrery}")
baseline=tests/baseline/stage_instructions
allowed=50
command -v valgrind >/dev/null || {
  echo 'skipped: install with apt-get: valgrind'
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# callgrind's inclusive counts of the stages in so many frames, a line each
counted() { # RUN FRAMES
  env -i "PATH=$PATH" valgrind --tool=callgrind --callgrind-out-file="$work/out" "$orrery" run "configs/$1.yaml" --mode batch --no-log --set expect=[] --step 1ms \
    --duration "$2ms" >"$work/said" 2>&1
  [ -s "$work/out" ] || {
    cat "$work/said" >&2
    return 1
  }
  callgrind_annotate --inclusive=yes --threshold=100 "$work/out" | tr -d ',' |
    sed -n 's/^ *\([0-9]*\) .*:\(orr_session_\(publish\|latch\|record\|advance\|sense\)\)\( .*\)\?$/\2 \1/p' | sort -k1,1 -k2,2nr | awk '!seen[$1]++' # listed by file, too
}

about=$("$orrery" --version | sed -n 's/^compiler: //p')
about="$about, flags $("$orrery" --version | sed -n 's/^flags: //p' | cksum | cut -d ' ' -f 1)"
about="$about, $(getconf GNU_LIBC_VERSION), $(valgrind --version)"
about="$about, $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" # the C library chooses by processor how it copies
head="# instructions of a frame by stage, on average over 200: $about"
[ "${1:-}" = --update ] || [ "$(head -n 1 "$baseline")" = "$head" ] || {
  echo "skipped: the baseline is of others, and make rt-baseline writes one of these:"
  head -n 1 "$baseline"
  echo "$head"
  exit 77
}
{
  echo "$head"
  for run in reference cassini-slew cubesat; do
    counted $run 100 >"$work/few" && counted $run 300 >"$work/many" || exit 1
    [ "$(wc -l <"$work/many")" -eq 5 ] || {
      echo "not all stages are seen: $(cat "$work/many")" >&2
      exit 1
    }
    join "$work/few" "$work/many" | { [ $run = cassini-slew ] && grep -v publish || cat; } | sed 's/orr_session_//; s/^advance /integrate /; s/^sense /sensors /' | awk -v run=$run '{ printf "%s %s %d\n", run, $1, ($3 - $2) / 200 + 0.5 }'
  done
} >"$work/now" || exit 1

if [ "${1:-}" = --update ]; then
  diff "$baseline" "$work/now"
  cp "$work/now" "$baseline"
  exit 0
fi
awk -v allowed=$allowed '/^#/ { next } NR == FNR { was[$1 " " $2] = $3; next }
  {
    more = $3 - was[$1 " " $2]; n++
    if (more >= allowed) { printf "FAIL: %s: stage %s has %d instructions more than its %d\n", $1, $2, more, was[$1 " " $2]; wrong = 1 }
    else if (more <= -allowed) printf "%s: stage %s has %d instructions fewer than its %d: make rt-baseline\n", $1, $2, -more, was[$1 " " $2]
  }
  END { if (n != 14) { print "FAIL: not all stages were counted"; wrong = 1 } exit wrong }' "$baseline" "$work/now" || exit 1
sed 1d "$work/now"
