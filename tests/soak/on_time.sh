#!/bin/sh
# Half a minute in real time of each flight over each transport, every answer on time: the state_hash of batch.
# See tests/e2e/on_time.sh.
SECONDS_EACH=${SECONDS_EACH:-30} TRIES=${TRIES:-6} exec tests/e2e/on_time.sh
