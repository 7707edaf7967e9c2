#!/bin/sh
# `make run`, `make run-udp`, `make run-lockstep` as a new user has them: in a tree of their own, without git, by a user
# without rights where this one is root. What is said, the picture, the exit status, what is left behind; the two in
# real time for two seconds only.
. tests/support/script.sh
built=$(dirname "$ORRERY")
case ${built##*/} in release*) ;; *) exit 77 ;; esac
mkdir -p "$dir/tree/build/${built##*/}"
cp -a Makefile core rt io tools configs "$dir/tree"
(cd "$built" && find . -mindepth 1 -maxdepth 1 ! -name tests -exec cp -a -t "$dir/tree/build/${built##*/}" {} +) || fail "copying the build"
cp -P build/orrery "$dir/tree/build" 2>/dev/null
as=
[ "$(id -u)" -eq 0 ] && chown -R 65534:65534 "$dir" && as='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all'
# the variables that this was made with, but not its job server
variables=
case ${MAKEFLAGS-} in *'-- '*) variables=${MAKEFLAGS##*-- } ;; esac
make_in() { # LOG ARGUMENTS...
  log=$dir/$1
  shift
  # shellcheck disable=SC2086
  (cd "$dir/tree" && ulimit -l 64 && exec $as env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS HOME="$dir" make -j2 "$@" $variables SEGMENT=$name PORT=$port) >"$log" 2>&1
}
said() { grep -q -e "$2" "$dir/$1" || fail "make $1 does not say '$2': $(cat "$dir/$1")"; }

# a whole flight, as fast as it goes
make_in run-lockstep run-lockstep || fail "make run-lockstep: $(cat "$dir/run-lockstep")"
grep -q jobserver "$dir/run-lockstep" && fail "make -j2 does not reach the build: $(cat "$dir/run-lockstep")"
said run-lockstep '^build/.*/fsw shm:.* cassini &$'
said run-lockstep '^verdict     passed: 4 met, 0 not met, 1 not judged'
picture=build/cassini-slew.${name#/}.svg
said run-lockstep "^picture     $dir/tree/$picture"
[ "$(grep -c 'class="p"' "$dir/tree/$picture")" -eq 5 ] || fail "the picture has not its five panels"

# in real time: two seconds are not all that is expected, so the verdict is `incomplete`; on a machine that takes time
# away in pieces too short to be told from computing it is `failed` for overruns that count as our own, and says so.
# tests/timing shows that there are none on a machine that takes none.
for target in run run-udp; do
  port=$((port + 1))
  make_in $target $target DURATION=2s
  status=$?
  [ $status -ne 0 ] || fail "make $target of two seconds is a success: $(cat "$dir/$target")"
  own=$(sed -n 's/^overruns    own \([0-9]*\), .*/\1/p' "$dir/$target")
  if [ "$own" = 0 ]; then
    said $target '^verdict     incomplete: 3 met, 0 not met, 2 not judged'
    said $target '^make: .* 3$'
  else
    said $target '^NOT MET     overruns.own'
    said $target '^verdict     failed: '
    said $target '^make: .* 1$'
  fi
  said $target '^wake-up  .* [mun]s '
  said $target '^link fsw .* 200 frames out, '
  said $target '^picture     '
  if [ -n "$as" ]; then
    said $target '^warning: no SCHED_FIFO priority'
    said $target '^warning: memory is not locked'
    said $target '^loop .*no real-time priority'
  fi
done

# two at once: the second is refused, and neither it nor its flight software touches the first
has_its_link() { ls "$dir/tree/build"/.flight.*.ready >/dev/null 2>&1; }
for target in run run-udp; do
  port=$((port + 1))
  make_in first $target DURATION=1000s &
  first=$!
  await has_its_link || fail "make $target does not fly: $(cat "$dir/first")"
  make_in second $target DURATION=1s && fail "a second make $target is a success: $(cat "$dir/second")"
  kill -0 $first || fail "the first make $target is over before the second: nothing is shown"
  said second '^make: .* 1$'
  said second 'has it open: process [0-9]* (build/.*orrery run '
  said second "with make: \(SEGMENT=/NAME\|PORT=N\)"
  grep -q -e '^picture' -e '^fsw:' "$dir/second" && fail "the second make $target: $(cat "$dir/second")"
  run=$(cat "$dir"/tree/build/.flight.*.ready)
  await flies "$run" || fail "the first make $target does not fly"
  kill -TERM "$run"
  wait $first
  said first '^link fsw .* [1-9][0-9]* frames out, .*; 1 peers'
  said first '^picture     '
  grep -q -e foreign -e 'fsw: ' "$dir/first" && fail "the second make $target ruins the first: $(cat "$dir/first")"
done
[ -z "$(find "$dir/tree/build" -maxdepth 1 -name '.flight.*')" ] || fail "something stays: $(ls -A "$dir/tree/build")"

# what does not fly leaves no picture and no success
make_in wrong run-lockstep DURATION=3m && fail "a duration in metres is a success"
said wrong '^make: .* 1$'
grep -q '^picture' "$dir/wrong" && fail "a run that did not fly has a picture"

# Ctrl-C, to both programs and make: the summary comes, nothing stays
: >"$dir/ctrl-c"
(
  cd "$dir/tree" || exit 1
  # shellcheck disable=SC2086
  exec setsid $as env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS HOME="$dir" python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' make run $variables SEGMENT=$name
) >"$dir/ctrl-c" 2>&1 &
group=$!
# the first plain line of its status, after five seconds
await grep -q '^t = ' "$dir/ctrl-c" || fail "make run does not fly: $(cat "$dir/ctrl-c")"
kill -INT -$group
wait $group && fail "a run that was interrupted is a success"
said ctrl-c '^end         stopped'
said ctrl-c '^verdict     \(incomplete\|failed\)'
said ctrl-c '^picture'
[ ! -e "/dev/shm$name" ] || fail "the link's memory stays"
exit 0
