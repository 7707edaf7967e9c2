#!/bin/sh
# The gates that need no further tool: they can fail, and the house passes them as it stands.
set -eu
dir=$(dirname "$ORRERY")
tests/gates/selftest.sh rooms pictures sources columns core names
tests/gates/rooms.sh
tests/gates/pictures.sh
tests/gates/columns.sh $(find core rt io tools tests -name '*.[ch]' ! -path '*/corpus/*')
list=$(mktemp)
make -s sources >"$list"
tests/gates/sources.sh "$list"
rm "$list"
tests/gates/core.sh "$dir/libcore.a"
tests/gates/names.sh "$dir"/libcore.a "$dir"/librt.a "$dir"/libio.a "$dir"/libclient.a "$dir"/libtools.a
