#!/bin/sh
# More than a hundred wrong procedures, each with one mistake: each told at its place, shown, and with a suggestion
# where a name is misspelled.
. tests/support/script.sh
python3 tests/support/wrong_procedures.py "$ORRERY" "$dir" || fail "a mistake is told wrongly"
