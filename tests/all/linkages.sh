#!/bin/sh
# Hard linkages of 300 seeds, drawn and judged, by as many processes as there are cores: none moves wrongly, at most a
# tenth are refused. tests/support/linkages.h says what is judged. linkages.sh [FIRST [COUNT]] judges others.
set -u
program=${ORR_LINKAGES:-build/release/tests/unit/core/loops/closed_linkages}
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
first=${1:-0} count=${2:-300} cores=$(nproc)
part=$(((count + cores - 1) / cores)) last=$((first + count)) pids='' status=0
while [ "$first" -lt "$last" ]; do
  [ $((first + part)) -le "$last" ] || part=$((last - first))
  "$program" "$first" "$part" & pids="$pids $!"
  first=$((first + part))
done
for pid in $pids; do wait "$pid" || status=1; done
exit "$status"
