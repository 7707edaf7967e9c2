#!/bin/sh
# Every spacecraft that is shipped checks without an error or a warning and every run file meets what it expects.
set -u
status=0
for f in configs/*.yaml; do
  said=$("$ORRERY" check "$f" 2>&1 >/dev/null) && [ -z "$said" ] && continue
  echo "FAIL: orrery check $f: $said"
  status=1
done
# Each of these flies in batch and meets what it expects.
for f in cubesat cassini-slew wings-slew chain-slew chain-drive orbit wire-booms spinner; do
  said=$("$ORRERY" run "configs/$f.yaml" --mode batch 2>&1) && [ "${said#*verdict     passed}" != "$said" ] && continue
  echo "FAIL: orrery run configs/$f.yaml: $said"
  status=1
done
exit $status
