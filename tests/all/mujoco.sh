#!/bin/sh
# Cassini with its bus made rigid against MuJoCo: ten seconds from the same model data. Built and run where
# libmujoco-dev is installed.
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
program=$(dirname "$ORRERY")/tests/bench/mujoco_cassini
printf '#include <mujoco/mujoco.h>\nint main(void) { return mj_version() == 0; }\n' |
  ${CC:-gcc} -xc - -lmujoco -o /dev/null 2>/dev/null || {
  echo "skipped: libmujoco-dev is not installed"
  exit 77
}
make --no-print-directory "build/release/tests/bench/mujoco_cassini" >/dev/null || exit 1
"$program"
