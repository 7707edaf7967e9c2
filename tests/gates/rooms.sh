#!/bin/sh
# Who may include whom. Prints each include that the house forbids; exits 1 if there is one.
#
#   tests/gates/rooms.sh [ROOT]
#
#   core, rt             themselves            io          core, rt, io
#   io/wire.h            nothing of ours       io/client   io/wire.h and itself
#   tools                all                   tools/fsw   the same as io/client, the client and itself
#   tests                all
# core may use only those system headers that bring no clock, file, thread or heap.
set -eu
cd "${1:-.}"

core_system=' assert.h float.h inttypes.h limits.h math.h stdalign.h stdarg.h stdbool.h stddef.h stdint.h string.h immintrin.h '

room_of() {
  case $1 in
  io/client/*) echo io/client ;;
  tools/fsw/*) echo tools/fsw ;;
  *) echo "${1%%/*}" ;;
  esac
}

# Does a file of room $1 have leave to include $2?
may() {
  to=$(room_of "$2")
  [ "$1" = "$to" ] && return 0
  case $1 in
  io) [ "$to" = core ] || [ "$to" = rt ] ;;
  io/client) [ "$2" = io/wire.h ] ;;
  tools/fsw) [ "$2" = io/wire.h ] || [ "$to" = io/client ] ;;
  tools | tests) true ;;
  *) false ;;
  esac
}

# The file an include means: beside the one that includes it, or from the top.
resolve() {
  for base in "$(dirname "$1")/" ""; do
    path=$(printf '%s\n' "$base$2" | sed -e ':a' -e 's|[^/][^/]*/\.\./||;ta' -e 's|\./||g')
    if [ -e "$path" ]; then
      printf '%s\n' "$path"
      return
    fi
  done
}

wrong=0
complain() {
  echo "$1"
  wrong=1
}

includes=$(find core rt io tools tests -name '*.[ch]' -exec grep -HnE '^[[:space:]]*#[[:space:]]*include' {} + 2>/dev/null || true)
while IFS=: read -r file line text; do
  [ -n "$file" ] || continue
  room=$(room_of "$file")
  name=$(printf '%s\n' "$text" | sed 's/^[^"<]*["<]\([^">]*\)[">].*/\1/')
  case $text in
  *\<*)
    [ "$room" = core ] || continue
    case $core_system in
    *" $name "*) ;;
    *) complain "$file:$line: core may not include <$name>" ;;
    esac
    ;;
  *build_info.h*) ;; # written by the Makefile
  *)
    path=$(resolve "$file" "$name")
    if [ -z "$path" ]; then
      complain "$file:$line: no file \"$name\" beside it or from the top"
    elif [ "$file" = io/wire.h ] || ! may "$room" "$path"; then
      complain "$file:$line: $room may not include $path"
    fi
    ;;
  esac
done <<LIST
$includes
LIST
exit $wrong
