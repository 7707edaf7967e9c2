#!/bin/sh
# The Debian package: built without a network, unpacked into a root of its own, and the cubesat flown from another
# folder by a client that pkg-config links. The state at the end is that of the build it was made from.
. tests/support/script.sh
command -v dh >/dev/null && command -v dpkg-buildpackage >/dev/null || {
  echo "skipped: debhelper is not installed"
  exit 77
}
offline=
[ "$(id -u)" -ne 0 ] || offline='unshare --net'
# shellcheck disable=SC2086
$offline make --no-print-directory deb >"$dir/made" 2>&1 || fail "make deb: $(tail -n 40 "$dir/made")"
deb=$(tail -n 1 "$dir/made")
version=$("$ORRERY" --version | sed -n 's/^orrery //p')
[ "$(dpkg-deb -f "$deb" Version)" = "$version" ] || fail "the package is of another version than $version"
for library in libfyaml0 libjansson4 liburing2 liberfa1; do
  dpkg-deb -f "$deb" Depends | grep -q "$library" || fail "the package does not depend on $library: $(dpkg-deb -f "$deb" Depends)"
done
root=$dir/root
dpkg-deb -x "$deb" "$root" || fail "the package cannot be unpacked"
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
for file in "$root/usr/bin/orrery" "$root/usr/share/man/man1/orrery-run.1.gz" "$root/usr/lib/python3/dist-packages/orrery_client.py" \
  "$lib/liborrery-client.so.0" "$lib/pkgconfig/orrery.pc" "$root/usr/share/bash-completion/completions/orrery"; do
  [ -e "$file" ] || fail "the package lacks ${file#"$root"}"
done
grep -rlF "$PWD" "$root/usr/share" "$lib/pkgconfig" && fail "the package names the tree that it was built in"

mkdir "$dir/away"
cd "$dir/away" || exit 1
export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" LD_LIBRARY_PATH="$lib" PYTHONPATH="$root/usr/lib/python3/dist-packages"
examples=$root/usr/share/doc/orrery/examples
[ -f "$examples/peer.c" ] || gunzip -r "$examples"
# shellcheck disable=SC2046
cc "$examples/peer.c" $(pkg-config --cflags --libs orrery-client) -o peer || fail "the client is not linked"
sed "s|name: /orrery.fsw|name: $name|" "$root/usr/share/orrery/configs/cubesat.yaml" >cubesat.yaml
fly() { # ORRERY PEER...
  orrery=$1
  shift
  "$@" "shm:$name" 2>"$dir/peer" &
  peer=$!
  "$orrery" run cubesat.yaml --mode lockstep --duration 10s --no-log >"$dir/out" 2>&1 || fail "$orrery, $*: $(cat "$dir/out" "$dir/peer")"
  wait $peer || fail "$*: $(cat "$dir/peer")"
  sed -n 's/^state_hash *//p' "$dir/out"
}
installed=$(fly "$root/usr/bin/orrery" ./peer)
[ -n "$installed" ] && [ "$installed" = "$(fly "$ORRERY" ./peer)" ] || fail "the package flies to $installed, the build to another state"
[ "$installed" = "$(fly "$root/usr/bin/orrery" python3 -B "$examples/peer.py")" ] || fail "Python flies to another state"
exit 0
