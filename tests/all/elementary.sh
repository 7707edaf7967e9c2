#!/bin/sh
# The elementary functions of core are within 1 ulp of MPFR's: elementary.sh [COUNT [NAME...]], so many
# arguments of each kind (100,000), of these functions or of all.
set -u
program=${ORR_ELEMENTARY:-build/release/tests/bench/elementary}
[ -e /usr/include/mpfr.h ] || {
  echo "skipped: install with apt-get: libmpfr-dev"
  exit 77
}
make -s "$program" || exit 1
[ $# -gt 0 ] || set -- 100000
exec "$program" "$@"
