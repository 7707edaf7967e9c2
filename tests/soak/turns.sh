#!/bin/sh
# A million steps of a driven four-bar by each way of solving loops:
# tests/unit/core/loops/closed_turns.c says what has to hold.
set -u
program=${ORR_TURNS:-build/release/tests/unit/core/loops/closed_turns}
[ -x "$program" ] || { echo "skipped: $program is not built"; exit 77; }
ORR_STEPS=1000000 ORR_SAY=1 "$program"
