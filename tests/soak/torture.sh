#!/bin/sh
# An hour of tests/e2e/torture.sh, by a seed of today's, which is said where something is not so; SEED=N flies another.
#   tests/soak/torture.sh      SECONDS_ALL (3600)      SEED (the day of the epoch)
SECONDS_ALL=${SECONDS_ALL:-3600} SEED=${SEED:-$(($(date +%s) / 86400))} exec sh tests/e2e/torture.sh
