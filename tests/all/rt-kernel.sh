#!/bin/sh
# Debian's PREEMPT_RT kernel in an emulator, with the programs as built and busybox around them:
#   latency   one processor whose time is its count of instructions: the tick beside cyclictest, spacecraft at 1 kHz. It
#             is the length of the way through a real RT kernel; hardware jitter is not in it.
#   same      such a guest booted twice: every number of a run is the same in both
#   features  two processors in their own time: what --fix does on cgroup v2, seen from outside, and what undoes it.
#   older     the same of `doctor --fix` on cgroup v1, where it moves every task
#   both      three processors, two of them cleared at the same time on cgroup v2, and given back in either order
#   log       such a guest with memory for files: what a log costs the wake-up
#   flight    such a guest, with a flight whose log the host replays
#   can       such a guest with a virtual CAN bus, vcan: in lockstep over it the bits of shared memory and of
#             UDP here, then real time
#   bench     with SLICE_SECONDS=10: `orrery bench --rt` in the guest of the first kind
# With JOBS="log features" only these jobs run. With KEEP=FOLDER the guests and their consoles stay there.
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
dir=${KEEP:-$(mktemp -d)}
emulators=
cleanup() {
  # shellcheck disable=SC2086
  [ -n "$emulators" ] && kill $emulators 2>/dev/null
  [ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
. tests/support/guest.sh
guest_needs cyclictest chrt setpriv
guest_kernel "${RT_KERNEL:-}"
echo "kernel $(basename "$kernel"), $(qemu-system-x86_64 --version | head -n 1)"
guest_files "$ORRERY" "$(dirname "$ORRERY")/fsw" cyclictest chrt setpriv
guest_pack "$dir/initrd"
wanted() { case " ${JOBS:-latency same log flight older both features can} " in *" $1 "*) ;; *) return 1 ;; esac }

# --- boots ---
boot() { # NAME JOB ARGUMENTS...: the console becomes NAME
  name=$1 job=$2
  shift 2
  guest_boot "$dir/$name" "$job" "$dir/initrd" -m 512 "$@"
}
counted='-accel tcg,thread=single -smp 1 -icount shift=0,sleep=off'
ended() { guest_ended "$dir/$1"; }
judge() { # NAME: shows its console
  tr -d '\r' <"$dir/$1"
  ended "$1" || {
    echo "FAIL: $1 did not end well"
    status=1
  }
}
status=0
start() { # JOB: in the background, its time is its count of instructions
  job=$1
  shift
  # shellcheck disable=SC2086
  wanted $job && boot $job $job $counted "$@" &
  emulators="$emulators $!"
}
emulators=
start latency
# The emulator is the same to the bit mostly: on a busy host a timer of its own may fall
# elsewhere. Hence three attempts.
if wanted same; then
  for attempt in 1 2 3; do
    for name in same.1 same.2; do
      # shellcheck disable=SC2086
      boot $name same $counted &
      same=$!
      emulators="$emulators $same"
      wait $same
    done
    cmp "$dir/same.1" "$dir/same.2" && break
    diff "$dir/same.1" "$dir/same.2"
  done
fi
start log -m 2048
start flight -m 2048
wait
emulators=
! wanted latency || judge latency
if wanted same; then
  judge same.1
  if cmp -s "$dir/same.1" "$dir/same.2"; then
    echo "ok: two boots print the same $(wc -c <"$dir/same.1") bytes (attempt $attempt)"
  else
    echo 'FAIL: two boots differ, three times'
    status=1
  fi
fi
! wanted log || judge log
if wanted flight; then
  if ended flight && tr -d '\r' <"$dir/flight" | sed -n '/^log begins$/,/^log ends$/p' | sed '1d;$d' | base64 -d >"$dir/flight.mcap" &&
    "$ORRERY" replay "$dir/flight.mcap" >"$dir/replay" 2>&1 && grep -qx 'identical   bit for bit' "$dir/replay"; then
    echo "ok: the guest's log of $(wc -c <"$dir/flight.mcap") bytes replays here, bit for bit"
  else
    echo "FAIL: the guest's log does not replay here: $(head -c 3000 "$dir/flight") $(cat "$dir/replay")"
    status=1
  fi
fi
# A guest with modules of the kernel, and python3 for its flight software. The bits that it shall have are flown here.
if wanted can; then
  guest_modules can can-raw can-dev vcan
  guest_python 'os, socket, struct, time'
  install -D -m 644 -t "$root/tests/support" tests/support/can_layouts.sh tests/support/can_peer.py
  guest_pack "$dir/initrd.can"
  # shellcheck disable=SC2086
  guest_boot "$dir/can" can "$dir/initrd.can" -m 512 $counted &
  emulators=$!
  . tests/support/can_layouts.sh
  port=$((20000 + $$ % 12000))
  sed "s|name: /orrery.fsw|name: /orrery.can.$$|" configs/cubesat.yaml >"$dir/shm.yaml"
  can_link whole "transport: udp
    listen: 127.0.0.1:$port" >"$dir/udp.yaml"
  for over in "shm client:shm:/orrery.can.$$" "udp udp:127.0.0.1:$port"; do
    # shellcheck disable=SC2086
    python3 tests/support/can_peer.py ${over#* } whole >"$dir/peer" 2>&1 &
    peer=$!
    "$ORRERY" run "$dir/${over%% *}.yaml" --mode lockstep --no-log --duration 20s >"$dir/here" 2>&1 || [ $? -eq 3 ] || cat "$dir/here"
    [ "${over%% *}" = shm ] || kill $peer
    wait $peer || cat "$dir/peer"
    sed -n "s/^state_hash */${over%% *} /p" "$dir/here" >>"$dir/hashes"
  done
  wait $emulators
  emulators=
  judge can
  for pair in 'doubles shm' 'fd shm' 'whole udp'; do
    there=$(tr -d '\r' <"$dir/can" | sed -n "s/^${pair% *}: state_hash *//p") here=$(sed -n "s/^${pair#* } //p" "$dir/hashes")
    if [ -n "$there" ] && [ "$there" = "$here" ]; then
      echo "ok: ${pair% *} over vcan in the guest have the bits of ${pair#* } here, $here"
    else
      echo "FAIL: ${pair% *} over vcan in the guest have the bits '$there', and ${pair#* } here '$here'"
      status=1
    fi
  done
fi
if [ -n "${SLICE_SECONDS:-}" ]; then
  # shellcheck disable=SC2086
  boot bench bench $counted &
  emulators=$!
  wait
  emulators=
  judge bench
  [ "${SLICE_SECONDS%%.*}" -lt 10 ] || [ "$(grep -c '^ratio of p99.*: met' "$dir/bench")" -eq 2 ] || status=1
fi
# an emulator of several processors on a machine that is busy may stand still: then once more
for job in older both features; do
  wanted $job || continue
  case $job in both) processors=3 ;; *) processors=2 ;; esac
  for attempt in 1 2; do
    boot $job $job -accel tcg,thread=multi -smp $processors &
    emulators=$!
    wait
    emulators=
    grep -q "^job $job ended" "$dir/$job" && break
    echo "$job: boot $attempt did not come to its end"
  done
  judge $job
done
exit $status
