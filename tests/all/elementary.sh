#!/bin/sh
# The elementary functions of core are within 1 ulp of MPFR's: elementary.sh [COUNT], so many arguments of each kind (100,000).
set -u
program=${ORR_ELEMENTARY:-build/release/tests/bench/elementary}
[ -e /usr/include/mpfr.h ] || {
  echo "skipped: install with apt-get: libmpfr-dev"
  exit 77
}
make -s "$program" && exec "$program" "${1:-100000}"
