#!/bin/sh
# The picture at the head of a room's README names every source of the room, in order of dependence.
#
#   tests/gates/pictures.sh [ROOT]
#
# The picture is the first block between ``` lines. A source is named by its stem; io/config has a README of its own.
# Order: what a header of the room includes of the room stands before it. A name counts where it leads a line; one that
# leads none, where it first stands.
set -eu
cd "${1:-.}"
for room in core rt io io/config tools; do
  [ -d "$room" ] || continue
  [ -e "$room/README.md" ] || { echo "$room has no README.md"; continue; }
  awk '/^```/ { n++; next } n == 1' "$room/README.md" | tr -c 'a-zA-Z0-9_' '\n' | sort -u >"${TMPDIR:-/tmp}/picture.$$"
  find "$room" -name '*.[ch]' | { [ "$room" = io ] && grep -v '^io/config/' || cat; } | sed 's|.*/||; s|\.[ch]$||' | sort -u |
    grep -vxF -f "${TMPDIR:-/tmp}/picture.$$" | sed "s|^|$room/README.md: its picture lacks |" || true
  rm -f "${TMPDIR:-/tmp}/picture.$$"
  find "$room" -name '*.h' | { [ "$room" = io ] && grep -v '^io/config/' || cat; } | sort |
    xargs -r grep -HoE '^#include "'"$room"'/[^"]*\.h"' | awk -v room="$room" '
    function stem(path) { sub(/.*\//, "", path); sub(/\.h$/, "", path); return path }
    FNR == NR {
      if (/^```/) { blocks++; next }
      if (blocks != 1) next
      line = $0; sub(/^[a-z_]+(\/[a-z_]+)*\/ */, "", line); sub(/^ */, "", line)
      if (match(line, /^[a-z_0-9]+(, [a-z_0-9]+)*/)) {
        n = split(substr(line, 1, RLENGTH), names, ", ")
        for (i = 1; i <= n; i++) if (!(names[i] in leads)) leads[names[i]] = FNR + i / 100
      }
      n = split($0, names, /[^a-zA-Z0-9_]+/)
      for (i = 1; i <= n; i++) if (!(names[i] in stands)) stands[names[i]] = FNR
      next
    }
    {
      file = included = $0
      sub(/:.*/, "", file); sub(/^[^"]*"/, "", included); sub(/"$/, "", included)
      a = stem(file); b = stem(included)
      at = a in leads ? leads[a] : stands[a]; first = b in leads ? leads[b] : stands[b]
      if (a != b && at && first > at) print room "/README.md: " a " stands before " b ", which its header includes"
    }' "$room/README.md" -
done | { ! grep . ; }
