#!/bin/sh
# Debian's PREEMPT_RT kernel in an emulator as a gate (make rt-vm):
#   counted   one processor whose time is its count of instructions: reference, cassini and cubesat, idle and
#             loaded, with executive, io thread and flight software. The figures by stage stand beside
#             tests/baseline/counted_guest: 50 instructions more in any stage fail, and the stage is named; so do
#             frames late, page faults, switches, and a priority that is another. Boots are taken until two have
#             one checksum, four at most.
#   features  what --fix does on cgroup v2, and on v1: jobs of tests/all/rt-kernel.sh
#
#   tests/all/rt-vm.sh                       both; JOBS="counted" one of them; exit 77 where kernel, compiler or
#                                            emulator are not those of the baseline
#   tests/all/rt-vm.sh --update              writes the baseline anew, and prints what differs (make rt-baseline)
#   tests/all/rt-vm.sh compare KERNEL KERNEL2   figures of two kernels side by side, of the second's own boot image
#   BOOTS=40 tests/all/rt-vm.sh              so many boots, and how many of them have the commonest checksum
# RT_KERNEL is a file or a Debian package (guest_kernel in tests/support/guest.sh). With KEEP=FOLDER
# consoles and results stay there.
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
baseline=tests/baseline/counted_guest
dir=${KEEP:-$(mktemp -d)}
mkdir -p "$dir"
. tests/support/guest.sh
cleanup() {
  guest_end
  [ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
guest_needs python3 chrt
status=0
failed() {
  echo "FAIL: $1"
  status=1
}

prepare() { # KERNEL
  guest_kernel "$1"
  guest_files "$ORRERY" "$(dirname "$ORRERY")/fsw" "$(command -v chrt)"
  guest_pack "$dir/initrd"
  echo "kernel $(basename "$kernel"), $(qemu-system-x86_64 --version | head -n 1)"
}
head_of() { # NAME: what the figures of a boot are of
  about="$("$ORRERY" --version | sed -n 's/^compiler: //p')"
  about="$about, flags $("$ORRERY" --version | sed -n 's/^flags: //p' | cksum | cut -d ' ' -f 1)"
  about="$about, $(getconf GNU_LIBC_VERSION), $(qemu-system-x86_64 --version | head -n 1)"
  echo "# instructions of a frame by stage in the counted guest: $about, $(figures about "$dir/$1.results")"
}

# boots until two are alike, the later of which is $agreed
agree() {
  agreed=
  for n in 1 2 3 4; do
    guest_counted $n counted
    for before in 1 2 3; do
      [ $before -lt $n ] && cmp -s "$dir/$before.checksum" "$dir/$n.checksum" && agreed=$n
    done
    [ -z "$agreed" ] || {
      echo "two of $n boots are alike"
      return
    }
    [ $n = 1 ] || figures beside "$dir/1.figures" "$dir/$n.figures"
  done
  failed 'no two of four boots are alike'
  agreed=4
}
many() { # so many boots: the rate
  for n in $(seq "$BOOTS"); do guest_counted "$n" counted; done
  cat "$dir"/[0-9]*.checksum | sort | uniq -c | sort -rn >"$dir/rate"
  echo "of $BOOTS boots $(awk 'NR == 1 { print $1 }' "$dir/rate") have one checksum; host load $(cut -d ' ' -f 1-3 /proc/loadavg)"
  cat "$dir/rate"
  [ "$(awk 'NR == 1 { print $1 }' "$dir/rate")" = "$BOOTS" ] || failed 'boots differ'
}
judged() { # NAME: beside the baseline
  cat "$dir/$1.figures"
  [ "$(head -n 1 "$baseline" 2>/dev/null)" = "$(head_of "$1")" ] || {
    echo 'not judged: the baseline is of others, and make rt-baseline writes one of these:'
    head -n 1 "$baseline"
    head_of "$1"
    [ $status -ne 0 ] || status=77
    return
  }
  figures judge "$baseline" "$dir/$1.figures" && echo "ok: no stage has $(sed -n 's/^ALLOWED = \([0-9]*\).*/\1/p' tests/support/figures.py) instructions more than in $baseline" || status=1
}

case ${1:-} in
compare)
  for side in 1 2; do
    shift
    prepare "${1:?compare needs two kernels}"
    guest_counted "kernel.$side" counted
    echo "$side: $(figures about "$dir/kernel.$side.results")"
  done
  echo 'What differs, in instructions:'
  figures beside "$dir/kernel.1.figures" "$dir/kernel.2.figures"
  echo 'What counts more in the second kernel, by the same rules as the baseline:'
  figures judge "$dir/kernel.1.figures" "$dir/kernel.2.figures" | sed 's/^FAIL: //; s/: make rt-baseline$//'
  exit 0
  ;;
--update)
  prepare "${RT_KERNEL:-}"
  agree
  [ $status -eq 0 ] || exit 1
  { head_of "$agreed" && cat "$dir/$agreed.figures"; } >"$dir/now"
  diff "$baseline" "$dir/now"
  cp "$dir/now" "$baseline"
  exit 0
  ;;
'') ;;
*)
  sed -n '2,/^set/s/^# \?//p' "$0"
  exit 2
  ;;
esac
jobs=" ${JOBS:-counted features} "
case $jobs in
*' counted '*)
  prepare "${RT_KERNEL:-}"
  if [ -n "${BOOTS:-}" ]; then
    many
  else
    agree
    judged "$agreed"
  fi
  ;;
esac
case $jobs in
*' features '*)
  begun=$(date +%s)
  JOBS='older features' KEEP='' tests/all/rt-kernel.sh || status=1
  echo "features: $(($(date +%s) - begun)) s"
  ;;
esac
exit $status
