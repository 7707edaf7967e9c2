#!/bin/sh
# Hard linkages of 10,000 seeds, drawn and judged: none moves wrongly, at most a tenth are refused. tests/support/linkages.h says what is judged.
# linkages.sh [FIRST [COUNT]]      Of the seeds 0 to 299 two fail today; core/README.md says which.
set -u
program=${ORR_LINKAGES:-build/release/tests/unit/core/loops/linkages}
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
exec "$program" "${1:-0}" "${2:-10000}"
