#!/bin/sh
# Hard linkages of 10,000 seeds, as tests/all/linkages.sh judges 300. linkages.sh [FIRST [COUNT]]
exec tests/all/linkages.sh "${1:-0}" "${2:-10000}"
