#!/bin/sh
# No line of a source is longer than 120 characters, comments included.   tests/gates/columns.sh FILE...
LC_ALL=C exec awk '
# bytes that begin a character
{ line = $0; gsub(/[\200-\277]/, "", line); if (length(line) > 120) { print FILENAME ":" FNR ": " length(line) " characters"; wrong = 1 } }
END { exit wrong }' "$@"
