#!/bin/sh
# Ten million arguments of each kind for each elementary function of core, beside MPFR: within 1 ulp. An hour of a core.
exec tests/all/elementary.sh 10000000
