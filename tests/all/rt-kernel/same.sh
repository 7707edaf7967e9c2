# Guest of one processor whose time is its count of instructions: every number of a run in real time, to be compared
# with those of another boot.
numbers() { # all but the id of the process
  grep -v '"pid"' /tmp/json >/tmp/numbers
  echo "$1: $(wc -c </tmp/numbers) bytes, md5 $(md5sum </tmp/numbers)"
}
orrery doctor --seconds 2 --json 2>/dev/null >/tmp/json
sed -n '/"wake-up": {/,/}/p' /tmp/json
numbers 'the empty loop, 2000 frames and the 64 worst of them'
set -- --mode realtime --step 1ms --duration 1s --set realtime.core=0 --set realtime.phase=0s
orrery run /configs/reference.yaml "$@" --json 2>/dev/null >/tmp/json || exit 1
grep state_hash /tmp/json
numbers 'the reference spacecraft, 1000 frames and the 64 worst of them'
grep '^intr\|^ctxt' /proc/stat | cut -d ' ' -f 1,2
exit 0
