#!/bin/bash
# A fresh Debian 12 with only git, make and gcc: `make run` and `make test` from a clone, then both again without a
# network. Then `make deb`, also without a network, the package installed, and cubesat flown from another folder by a
# client that pkg-config links.
#
#   tests/soak/fresh-machine.sh [package | test]      only what is about the package; only the first `make test`
#
# Needs root and debootstrap (else skipped, exit 77); takes what packages it wants from wherever
# this machine's apt does.
# Says how long each took, installing and building included: README.md has the first two. `make run`
# flies for 30 s of its time.
# Its /tmp is this machine's, whose locks keep tests of both off each other's ports.
# The system it makes is thrown away at the end; its mounts live in a namespace of their own. Of a step that fails the
# whole log is kept, in build/fresh-machine; the names of the tests that failed are said last.
set -u
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "skipped: needs root and debootstrap"
  exit 77
fi
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
fail() {
  echo "FAIL: $1"
  exit 1
}

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Origin: Debian' 'Component: main' | head -n 1)
[ -n "$mirror" ] || fail "apt knows no source of Debian 12"
debootstrap --variant=minbase --include=git,make,gcc,ca-certificates bookworm "$root" "$mirror" >"$work/debootstrap" 2>&1 || {
  tail "$work/debootstrap"
  fail "debootstrap"
}
# the ways to the network that this machine uses
cp /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | grep -i '^Acquire::.*proxy' >"$root/etc/apt/apt.conf.d/99proxy"
git clone --quiet --no-hardlinks "$top" "$root/orrery" || fail "clone"

inside() { # [--net] COMMAND: in the fresh system, with mounts and processes of its own
  net=
  if [ "$1" = --net ]; then
    net=--net
    shift
  fi
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child $net bash -c '
    mount -t proc proc "$0/proc" && mount -t sysfs sys "$0/sys" && mount --rbind /dev "$0/dev" &&
      mount --bind /tmp "$0/tmp" || exit 1
    [ -z "$2" ] || ip link set lo up
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb chroot "$0" bash -c "cd /orrery && $1"' \
    "$root" "$1" "$net"
}
step() { # TEXT LOG COMMAND...
  text=$1 log=$work/$2
  shift 2
  begun=$(date +%s)
  if inside "$@" >"$log" 2>&1; then
    took=$(($(date +%s) - begun))
    echo "ok    $text: $((took / 60)) min $((took % 60)) s: $(grep "^verdict\|passed, " "$log" | tail -n 1)"
  else
    tail -n 80 "$log"
    mkdir -p "$top/build/fresh-machine"
    cp "$log" "$top/build/fresh-machine/" && echo "the whole log is in $top/build/fresh-machine/${log##*/}"
    echo "FAIL: $text"
    sed '1,/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d' "$log" | grep '^FAIL  '
    exit 1
  fi
}

inside 'su -s /bin/sh nobody -c tools/setup\ build' >"$work/nobody" 2>&1 && fail "set-up without root and sudo succeeds"
grep -q '^As root, run: apt-get update && apt-get install .*libfyaml-dev' "$work/nobody" || fail "it does not say what root is to run: $(cat "$work/nobody")"
inside 'make' >"$work/plain" 2>&1 && fail "make without the packages succeeds"
grep -q '^Install them with: tools/setup build' "$work/plain" || fail "make does not say what to run: $(cat "$work/plain")"
# shellcheck disable=SC2016
package() {
  step 'make deb' deb 'make deb'
  step 'make deb, offline' deb-offline --net 'make deb'
  step 'the package installed' installed 'apt-get install -y ./build/deb/orrery_*.deb pkg-config'
  step 'cubesat from another folder, offline' away --net 'mkdir /tmp/away && cd /tmp/away && cp /usr/share/doc/orrery/examples/peer.c . &&
    cc peer.c $(pkg-config --cflags --libs orrery-client) -o peer && { ./peer shm:/orrery.fsw & } &&
    orrery run /usr/share/orrery/configs/cubesat.yaml --mode lockstep --duration 10s --no-log && wait $!'
  grep -q '100 frames out, 99 commands applied, 0 of them late, 0 missed' "$work/away" || fail "the client was not heard: $(cat "$work/away")"
}
case ${1-} in
package) package; exit 0 ;;
test) step 'make test' test 'make test'; exit 0 ;;
esac
step 'make run' run 'make run'
grep -q '^Installing with apt-get:' "$work/run" || fail "make run does not say what it installs"
step 'make test' test 'make test'
step 'make run, offline' run-offline --net 'make clean && make run'
grep -q 'Installing' "$work/run-offline" && fail "the second make run installs again"
step 'make test, offline' test-offline --net 'make test'
package
exit 0
