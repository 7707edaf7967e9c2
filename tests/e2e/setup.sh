#!/bin/sh
# tools/setup: silent when all is there; else it names what is missing and why, and asks for root only then.
# The package manager, sudo and id are stand-ins that write down how they were called.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
  echo "FAIL: $1"
  cat "$dir/out" "$dir/calls" 2>/dev/null
  exit 1
}
stand_in() { # NAME, body on stdin
  { echo '#!/bin/sh'; cat; } >"$dir/bin/$1"
  chmod +x "$dir/bin/$1"
}
setup() { # USER-ID ARGUMENTS...
  user=$1
  shift
  rm -f "$dir/calls"
  USER_ID=$user CALLS=$dir/calls PATH=$dir/bin:$PATH tools/setup "$@" >"$dir/out" 2>&1
}
said() { grep -q -e "$1" "$dir/out" || fail "'$1' is not said"; }
called() { grep -qx -e "$1" "$dir/calls" || fail "'$1' is not called"; }
mkdir "$dir/bin"
stand_in id <<'E2'
echo "$USER_ID"
E2
stand_in apt-get <<'E2'
echo "apt-get $*" >>"$CALLS"
E2
stand_in sudo <<'E2'
echo "sudo $1" >>"$CALLS"
exec "$@"
E2

# Everything is there: not a word, not a call.
stand_in pkg-config <<'E2'
exit 0
E2
setup 1000 build || fail "set-up with everything there"
[ ! -s "$dir/out" ] && [ ! -e "$dir/calls" ] || fail "set-up with everything there is not silent"
setup 1000 --check build || fail "--check with everything there"

# Two libraries are missing.
stand_in pkg-config <<'E2'
[ "$2" != libfyaml ] && [ "$2" != liburing ]
E2
setup 0 build || fail "set-up as root"
said '^Installing with apt-get:'
said 'libfyaml-dev  *reads model and run files'
said 'liburing-dev '
called 'apt-get -q update'
called 'apt-get -q -y install --no-install-recommends libfyaml-dev liburing-dev'
grep -q sudo "$dir/calls" && fail "root needs no sudo"
setup 1000 build || fail "set-up with sudo"
said '^Installing with sudo apt-get:'
called 'sudo apt-get'
setup 1000 --check build && fail "--check with packages missing is exit 1"
said '^Install them with: tools/setup build'
[ ! -e "$dir/calls" ] || fail "--check changes something"

# --list names all, there or not, and installs none.
setup 0 --list build || fail "--list"
said '^libfyaml-dev$'
said '^libcmocka-dev$'
[ ! -e "$dir/calls" ] || fail "--list changes something"

# What cannot be downloaded for another processor is said in a line, and nothing is taken for done.
stand_in apt-get <<'E2'
echo "no such place" >&2
exit 100
E2
USER_ID=0 PATH=$dir/bin:$PATH tools/sysroot arm64 "$dir/sysroot" >"$dir/out" 2>&1 && fail "a download fails and tools/sysroot succeeds"
said 'the packages for arm64 cannot be had: no such place'
[ ! -e "$dir/sysroot/unpacked" ] || fail "a sysroot that is not there is called unpacked"

# A package manager that fails is not passed over.
stand_in apt-get <<'E2'
exit 100
E2
setup 0 build && fail "apt-get fails and set-up succeeds"

setup 0 nonsense && fail "an unknown goal is accepted"
said "unknown goal 'nonsense'"
exit 0
