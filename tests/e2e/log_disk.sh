#!/bin/sh
# A disk that fails a log in the middle of a run in real time: too little room, at the start or while it flies; the file
# removed, or cut short by somebody else; a disk that takes no writes; a file that may not grow. Each is told, the run
# flies all its frames and ends as it would have, and what is in the log is whole. The disks are small ones in memory,
# in a name space of mounts.
. tests/support/script.sh
if [ -z "${IN_NAMESPACE-}" ]; then
  how=$([ "$(id -u)" -eq 0 ] && echo -m || echo -rm)
  unshare "$how" sh -c 'mount -t tmpfs -o size=1m none "$1" && umount "$1"' sh "$dir" 2>/dev/null || {
    echo "skipped: no name space of mounts to be had here"
    exit 77
  }
  IN_NAMESPACE=yes unshare "$how" "$0"
  exit
fi
{
  sed '/^links:/,$d' configs/cubesat.yaml
  echo 'record: {checkpoint: 1 s, channels: ["*"]}'
} >"$dir/ship.yaml"
disk=$dir/disk
mkdir "$disk"
hash=$("$ORRERY" run "$dir/ship.yaml" --mode batch --duration 8s | hash_of)

begin() { # LOG: a flight of 800 frames in real time begins
  "$ORRERY" run "$dir/ship.yaml" --mode realtime --duration 8s --set realtime.priority=0 --set realtime.core=any --log "$1" >"$dir/out" 2>"$dir/err" &
  pid=$!
}
grown() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }
in_flight() { # LOG: its first chunk is written
  await grown "$1" 60000 || fail "no chunk in $1: $(ls -l "$disk") $(cat "$dir/out" "$dir/err")"
}
ends_well() { # WHAT WARNING SUMMARY
  wait "$pid" || fail "$1: exit status $?: $(cat "$dir/out" "$dir/err")"
  [ "$(hash_of "$dir/out")" = "$hash" ] || fail "$1: another flight: $(cat "$dir/out")"
  grep -Eq "^orrery run: warning: $2\$" "$dir/err" || fail "$1 is not told at once: $(cat "$dir/err")"
  grep -Eq "$3" "$dir/out" || fail "$1: the summary does not say so: $(cat "$dir/out")"
}
readable() { # LOG: whole, and flies again
  "$ORRERY" log info "$1" | grep -q ': complete$' || fail "$1: $("$ORRERY" log info "$1" | tail -n 1)"
  "$ORRERY" replay "$1" >"$dir/replay" || fail "$1: $(cat "$dir/replay")"
}

mount -t tmpfs -o size=1m none "$disk" || fail "mount"
begin "$disk/a"
ends_well "a full disk" "no log of this run: '$disk/a': less than 1 GB is free on the disk" "^log         none: '$disk/a': less than 1 GB is free"
[ ! -e "$disk/a" ] || fail "a log that could not begin is left"
umount "$disk"

mount -t tmpfs -o size=1050m none "$disk" || fail "mount"
begin "$disk/a"
in_flight "$disk/a"
fallocate -l 110M "$disk/other" || fail "fallocate"
ends_well "less than 1 GB" "the log '$disk/a' stopped: less than 1 GB is free on the disk; the run goes on" \
  "^            incomplete: [0-9]+ frames are not in it, of [0-9]+ to 800: less than 1 GB is free on the disk"
readable "$disk/a"
lost=$(sed -n 's/.*incomplete: \([0-9]*\) frames.*/\1/p' "$dir/out")
there=$("$ORRERY" log cat "$disk/a" --topics /bus | wc -l)
[ $((lost + there)) -eq 801 ] || fail "of 801 frames $there are there and $lost lost"
rm "$disk/other"

begin "$disk/b"
in_flight "$disk/b"
rm "$disk/b"
ends_well "a removed file" "the log '$disk/b' stopped: the file was removed; the run goes on" "^            incomplete: 801 frames are not in it, of 0 to 800: the file was removed"
grep -q "orrery replay $disk/b" "$dir/out" && fail "a log that is gone is to be replayed: $(cat "$dir/out")"

begin "$disk/c"
in_flight "$disk/c"
: >"$disk/c"
ends_well "a file cut short" "the log '$disk/c' stopped: another program cut the file short; the run goes on" "^            incomplete: 801 frames are not in it, of 0 to 800: another program"

mount -o remount,ro "$disk" || fail "remount"
begin "$disk/d"
ends_well "a disk that takes no writes" "no log of this run: '$disk/d': Read-only file system" "^log         none: '$disk/d': Read-only file system"
umount "$disk"

(
  ulimit -f 780 # of 512 bytes: two seconds take 300 kB, three 450 kB, and the end of the log needs some kB behind two
  begin "$dir/e"
  ends_well "a file that may not grow" "the log '$dir/e' stopped: File too large; the run goes on" "^            incomplete: [0-9]+ frames are not in it, of [0-9]+ to 800: File too large"
) || exit 1
readable "$dir/e"
exit 0
