#!/bin/sh
# The picture at the head of a room's README names every source of the room.
#
#   tests/gates/pictures.sh [ROOT]
#
# The picture is the first block between ``` lines. A source is named by its stem; io/config has a README of its own.
set -eu
cd "${1:-.}"
for room in core rt io io/config tools; do
  [ -d "$room" ] || continue
  [ -e "$room/README.md" ] || { echo "$room has no README.md"; continue; }
  awk '/^```/ { n++; next } n == 1' "$room/README.md" | tr -c 'a-zA-Z0-9_' '\n' | sort -u >"${TMPDIR:-/tmp}/picture.$$"
  find "$room" -name '*.[ch]' | { [ "$room" = io ] && grep -v '^io/config/' || cat; } | sed 's|.*/||; s|\.[ch]$||' | sort -u |
    grep -vxF -f "${TMPDIR:-/tmp}/picture.$$" | sed "s|^|$room/README.md: its picture lacks |" || true
  rm -f "${TMPDIR:-/tmp}/picture.$$"
done | { ! grep . ; }
