#!/bin/sh
# No line of a source in C is longer than 120 characters, comments included, and no line of anything else that is all
# comment. What # begins in a document within a script counts as one.   tests/gates/columns.sh FILE...
LC_ALL=C exec awk '
FILENAME !~ /\.[ch](pp)?$/ && !/^[ \t]*#/ { next }
# bytes that begin a character
{ line = $0; gsub(/[\200-\277]/, "", line); if (length(line) > 120) { print FILENAME ":" FNR ": " length(line) " characters"; wrong = 1 } }
END { exit wrong }' "$@"
