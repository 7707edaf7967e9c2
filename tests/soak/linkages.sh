#!/bin/sh
# Hard linkages of 10,000 seeds, drawn and judged: tests/all/linkages.sh.
exec tests/all/linkages.sh 0 10000
