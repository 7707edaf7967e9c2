# What scripts share that boot a PREEMPT_RT kernel in an emulator. It is sourced from the top of the tree, with $dir as
# a folder of the script's own.
#   guest_needs PROGRAMS   skips where one of them, the emulator or busybox is not installed
#   guest_kernel NAME      $kernel: the image NAME (a file), that of the Debian package NAME, which is fetched and not
#                          installed, or without NAME the newest that is installed, else that of linux-image-rt-amd64.
#                          What was fetched stays in build/kernels
#   guest_files PROGRAMS   $dir/root: what the guest finds
#   guest_modules NAMES    modules of $kernel into it, as /modules/NAME.ko
#   guest_python MODULES   python3 into it, with those modules of its library and what they load; /bin/python3 starts it
#   guest_pack FILE        the image of it; the same files give the same bytes
#   guest_boot FILE JOB INITRD ARGUMENTS...   becomes the emulator; the console is FILE
#   guest_counted NAME JOB [INITRD]   boots a counted guest: console, results, figures and checksum are $dir/NAME,
#                          NAME.results, ...; guest_end ends it

skip() {
  echo "skipped: $1"
  exit 77
}
guest_needs() {
  [ "$(uname -m)" = x86_64 ] || skip 'the kernel and the emulator are for x86_64'
  lacking=
  command -v qemu-system-x86_64 >/dev/null || lacking="$lacking qemu-system-x86"
  busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1 || lacking="$lacking busybox-static"
  for needed; do
    command -v "$needed" >/dev/null || case $needed in
    cyclictest) lacking="$lacking rt-tests" ;;
    *) lacking="$lacking $needed" ;;
    esac
  done
  [ -z "$lacking" ] || skip "install with apt-get:$lacking (the kernel is fetched and not installed)"
}

kernel_of_package() { # NAME: the path of its image, fetched if need be; nothing where it cannot be had
  # a package that only names another
  real=$(apt-cache depends "$1" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
  real=${real:-$1}
  kept=build/kernels/$real
  [ -n "$(find "$kept" -name 'vmlinuz-*' 2>/dev/null)" ] && [ -d "$kept/lib" ] || {
    rm -rf "$kept" "$kept.$$"
    mkdir -p "$kept.$$/lib"
    (cd "$kept.$$" && apt-get -q -o APT::Sandbox::User=root download "$real" && for deb in *.deb; do
      dpkg-deb --fsys-tarfile "$deb" | tar x --wildcards './boot/vmlinuz-*' './lib/modules/*/net/can/*' || exit 1
      rm "$deb"
    done) >"$dir/fetch" 2>&1 && mv "$kept.$$" "$kept" || rm -rf "$kept.$$"
  }
  find "$kept" -name 'vmlinuz-*' 2>/dev/null | tail -n 1
}
guest_kernel() {
  case ${1:-} in
  '')
    kernel=$(find /boot -name 'vmlinuz-*-rt-amd64' 2>/dev/null | sort -V | tail -n 1)
    [ -r "$kernel" ] || kernel=$(kernel_of_package linux-image-rt-amd64)
    [ -n "$kernel" ] || skip "no kernel of the package linux-image-rt-amd64 is installed, and it cannot be fetched: $(tail -n 1 "$dir/fetch")"
    ;;
  */* | vmlinuz*)
    kernel=$1
    [ -r "$kernel" ] || {
      echo "FAIL: there is no kernel $kernel"
      exit 1
    }
    ;;
  *)
    kernel=$(kernel_of_package "$1")
    [ -n "$kernel" ] || {
      echo "FAIL: '$1' is no file, and no package of a kernel that can be fetched: $(tail -n 1 "$dir/fetch"). For its name: apt-cache search linux-image, apt-get update"
      exit 1
    }
    ;;
  esac
}

put() { # PROGRAM [NAME]: with its libraries
  install -D "$1" "$root/bin/${2:-$(basename "$1")}"
  for library in $(ldd "$1" | grep -o '/[^ ]*'); do
    install -D "$(readlink -f "$library")" "$root$library"
  done
}
guest_files() {
  root=$dir/root
  rm -rf "$root"
  for folder in bin proc sys dev tmp run; do mkdir -p "$root/$folder"; done
  install tests/all/rt-kernel/init "$root/init"
  cp -r tests/all/rt-kernel configs "$root"
  install "$busybox" "$root/bin/busybox"
  for program; do put "$(command -v "$program")"; done
}
guest_modules() {
  version=$(basename "$kernel")
  version=${version#vmlinuz-}
  mkdir -p "$root/modules"
  for module; do
    found=$(find "$(dirname "$kernel")/../lib/modules/$version" "/lib/modules/$version" -name "$module.ko*" 2>/dev/null | head -n 1)
    case $found in
    *.ko) cp "$found" "$root/modules/$module.ko" ;;
    *.xz) xz -dc "$found" >"$root/modules/$module.ko" ;;
    *.zst) zstd -q -dc "$found" >"$root/modules/$module.ko" ;;
    *) skip "the kernel $version has no module $module" ;;
    esac
  done
}
guest_python() {
  python3 -S -E -c "import sys, $1
print(sys.executable)
print(sys.prefix)
for module in list(sys.modules.values()):
    print(getattr(module, '__file__', None) or '')" >"$dir/python" || skip "python3 has not the modules $1"
  real=$(readlink -f "$(sed -n 1p "$dir/python")")
  put "$real" python3.real
  sed 1,2d "$dir/python" | sort -u | grep '^/' | while read -r file; do
    install -D "$file" "$root$file"
    case $file in *.so) for library in $(ldd "$file" | grep -o '/[^ ]*'); do install -D "$(readlink -f "$library")" "$root$library"; done ;; esac
  done
  printf '#!/bin/sh\nPYTHONHOME=%s exec /bin/python3.real -S "$@"\n' "$(sed -n 2p "$dir/python")" >"$root/bin/python3"
  chmod +x "$root/bin/python3"
}
# Without symbols, sorted, of one date, and with numbers of inodes of its own.
guest_pack() {
  strip "$root/bin/orrery" "$root/bin/fsw" 2>/dev/null
  find "$root" -exec touch -h -d @0 {} +
  (cd "$root" && find . | LC_ALL=C sort | busybox cpio -o -H newc --renumber-inodes --ignore-devno 2>/dev/null) >"$1"
}

guest_boot() {
  console=$1 job=$2 initrd=$3
  shift 3
  exec timeout -k 5 2400 nice -n "${GUEST_NICE:-5}" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -serial "file:$console" \
    -kernel "$kernel" -initrd "$initrd" -rtc base=2026-01-01,clock=vm -seed 1 -M pc,hpet=off -cpu max \
    -append "console=ttyS0 panic=-1 tsc=reliable clocksource=tsc nokaslr norandmaps quiet orrery.job=$job orrery.seconds=${SLICE_SECONDS:-10} $guest_words" "$@"
}
guest_words=
guest_ended() { tr -d '\r' <"$1" | grep -q '^job .* ended with 0$'; } # CONSOLE

figures() { python3 tests/support/figures.py "$@"; }

# One processor whose time is its count of instructions, 4 ns each. The recording is what makes boots alike:
# timers of the emulator fire at instructions, not at dates of the host. Nobody replays it, so it goes
# nowhere. No disk, no network.
counted_guest='-m 512 -net none -accel tcg,thread=single -smp 1 -icount shift=2,sleep=off,rr=record,rrfile=/dev/null'
emulator=
guest_end() {
  [ -z "$emulator" ] || kill "$emulator" 2>/dev/null
  emulator=
}
guest_counted() {
  begun=$(date +%s)
  # shellcheck disable=SC2086
  guest_boot "$dir/$1" "$2" "${3:-$dir/initrd}" -serial "file:$dir/$1.out" $counted_guest &
  emulator=$!
  wait $emulator
  emulator=
  rm -rf "$dir/$1.results"
  mkdir "$dir/$1.results"
  guest_ended "$dir/$1" && tar xzf "$dir/$1.out" -C "$dir/$1.results" && figures table "$dir/$1.results" >"$dir/$1.figures" || {
    tr -d '\r' <"$dir/$1"
    echo "FAIL: boot $1 did not end well"
    exit 1
  }
  figures checksum "$dir/$1.results" >"$dir/$1.checksum"
  echo "boot $1: checksum $(cat "$dir/$1.checksum"), $(($(date +%s) - begun)) s"
}
