#!/bin/sh
# A thousand runs in real time killed at random instants: tests/e2e/log_killed.sh.
KILLS=1000 exec tests/e2e/log_killed.sh
