#!/bin/sh
# A thousand revolutions at 1 s, and at half of it, beside an integrator in quadruple precision:
# tests/unit/core/plant/world_revolutions.c says what has to hold. Then ten minutes of cassini at 1 ms, by
# tests/unit/core/plant/world_cassini.c, and days of a rigid body at 0.1 s, by world.c. Some five minutes of a core.
set -u
room=${ORR_TESTS:-build/release/tests/unit}/core/plant
for program in world_revolutions world_cassini world; do
  [ -x "$room/$program" ] || { echo "skipped: $room/$program is not built"; exit 77; }
done
ORR_REVOLUTIONS=1000 ORR_SAY=1 "$room/world_revolutions" && ORR_SECONDS=600 "$room/world_cassini" && ORR_LONG=1 "$room/world"
