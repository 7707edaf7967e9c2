#!/bin/sh
# Runs under faults that a seed draws, for a minute: tests/support/torture.py says which, and what must hold. An hour:
# tests/soak/torture.sh.
#   tests/e2e/torture.sh      SECONDS_ALL (60)      SEED (1)      ROUND (0): the one to begin with
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
python3 -B tests/support/torture.py "$ORRERY" "${SECONDS_ALL:-60}" "${SEED:-1}" "$dir" "$name" "$port" "${ROUND:-0}"
