#!/bin/sh
# Who may include whom. Prints each include that the house forbids; exits 1 if there is one.
#
#   tests/gates/rooms.sh [ROOT]
#
#   core, rt             themselves            io          core, rt, io
#   io/wire/wire.h       nothing of ours       io/client   io/wire and itself
#   tools                all                   tools/fsw   the same as io/client, the client and itself
#   tests                all
#   tools/cfs            an app of cFS, compiled in cFS's own tree: not judged here
#
# Inside core, rt and io, rooms stand in the order of `order` below: a file includes its own room and those before it.
# Inside tools, a subcommand includes its own folder and tools/common; those that fly a run borrow from tools/run, too.
# core may use only those system headers that bring no clock, file, thread or heap; ERFA's, which is
# as pure, in sky.c alone.
# No two sources of the product share a stem, except main: a file is found by its name.
# A test stands in tests/unit or tests/timing as what it tests stands in the tree, and bears its stem, or STEM_WHAT.
set -eu
cd "${1:-.}"

core_system=' assert.h float.h inttypes.h limits.h math.h stdalign.h stdarg.h stdbool.h stddef.h stdint.h string.h immintrin.h '

# Sub-rooms of a room, what is included first standing first. A file that stands in the room itself comes last.
order='core/math core/environment core/model core/tree core/loops core/plant core/devices
rt/tick rt/machine
io/wire io/config/text io/config/environment io/config/spacecraft io/config/run io/config/campaign io/links/terms io/links/forms io/links/carriers io/links/packets io/links io/log io/procedure io/control io/session'

includes=$(find core rt io tools tests -name '*.[ch]' -exec grep -HnE '^[[:space:]]*#[[:space:]]*include' {} + 2>/dev/null || true)
printf '%s\n' "$includes" | awk -v core_system="$core_system" -v order="$order" '
function room_of(f) {
  if (f ~ /^io\/client\//) return "io/client"
  if (f ~ /^tools\/fsw\//) return "tools/fsw"
  return substr(f, 1, index(f, "/") - 1)
}
function folder_of(f) { return match(f, /\/[^\/]*$/) ? substr(f, 1, RSTART - 1) : "." }

# Has a file of room `r` leave to include the file `t`?
function may(r, t,   to) {
  to = room_of(t)
  if (r == to || r == "tools" || r == "tests") return 1
  if (r == "io") return to == "core" || to == "rt"
  if (r == "io/client") return folder_of(t) == "io/wire"
  if (r == "tools/fsw") return t == "io/wire/wire.h" || to == "io/client"
  return 0
}

# Does the file `t` stand, in the order of rooms, before `f` or beside it?
function before(f, t,   a, b) {
  a = folder_of(f); b = folder_of(t)
  if (room_of(f) != room_of(t) || a == b) return 1
  if (room_of(f) == "tools") return b == "tools/common" || b == "tools/fsw" || (b == "tools/run" && a != "tools/common") || a == "tools"
  if (!(room_of(f) in ordered)) return 1
  return (b in place) && (!(a in place) || place[b] < place[a])
}

# The file that an include means: beside the one that includes it, or from the top.
function resolve(f, name,   path, i) {
  for (i = 0; i < 2; i++) {
    path = i ? name : folder_of(f) "/" name
    while (match(path, /[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
    gsub(/\/\.\//, "/", path)
    sub(/^\.\//, "", path)
    if (system("test -e \"" path "\"") == 0) return path
  }
  return ""
}
function complain(text) { print text; wrong = 1 }

BEGIN {
  n = split(order, rooms, /[ \n]+/)
  for (i = 1; i <= n; i++) { place[rooms[i]] = i; ordered[room_of(rooms[i])] = 1 }
}
{
  if (!match($0, /^[^:]*:[0-9]+:/)) next
  where = substr($0, 1, RLENGTH - 1); text = substr($0, RLENGTH + 1)
  file = where; sub(/:.*/, "", file)
  if (file ~ /^tools\/cfs\//) next
  room = room_of(file)
  name = text
  sub(/^[^"<]*["<]/, "", name)
  sub(/[">].*/, "", name)
  if (text ~ /build_info\.h/) next # written by the Makefile
  if (text ~ /</) {
    if (file == "core/environment/sky.c" && name == "erfa.h") next
    if (room == "core" && index(core_system, " " name " ") == 0) complain(where ": core may not include <" name ">")
    next
  }
  key = folder_of(file) " " name
  if (!(key in known)) known[key] = resolve(file, name)
  path = known[key]
  if (path == "") complain(where ": no file \"" name "\" beside it or from the top")
  else if (file == "io/wire/wire.h" || !may(room, path)) complain(where ": " room " may not include " path)
  else if (!before(file, path)) complain(where ": " folder_of(file) " comes before " folder_of(path) " and may not include " path)
}
END { exit wrong }
' || wrong=1

# Stems: one for each pair of header and source in a folder.
find core rt io tools -name '*.[ch]' 2>/dev/null | awk -F/ '
{
  stem = $NF; sub(/\.[ch]$/, "", stem)
  folder = $0; sub(/\/[^\/]*$/, "", folder)
  if (stem == "main") next
  if (stem in first && first[stem] != folder) { print folder "/" stem ": " first[stem] "/" stem " has that name already"; wrong = 1 }
  else first[stem] = folder
}
END { exit wrong }' || wrong=1

# Tests, beside the sources that they test; core_allocation.c is of all of core, and counting.h of several tests.
{
  find core rt io tools tests/support -name '*.[ch]' -o -name '*.py'
  find tests/unit tests/timing -name '*.[ch]' -o -name '*.py'
} 2>/dev/null | awk '
{ path = $0; sub(/\.[a-z]+$/, "", path) }
!/^tests\/(unit|timing)\// { source[path]; next }
/\/core_allocation\.c$|\/counting\.h$/ { next }
{
  sub(/^tests\/[a-z]+\//, "", path)
  sub(/^support\//, "tests/support/", path)
  while (!(path in source) && sub(/_[^_\/]*$/, "", path)) continue
  if (!(path in source)) { print $0 ": no source in that folder bears its stem"; wrong = 1 }
}
END { exit wrong }' || wrong=1
exit ${wrong:-0}
