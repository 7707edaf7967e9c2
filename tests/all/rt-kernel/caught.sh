# As counted.sh: a spacecraft as it is, with one thing made worse at a time by a program that was linked
# for this (tests/soak/rt_vm.sh), and as it is again. cubesat with all that is to be caught, the other
# two with each stage longer.
. /rt-kernel/flights.sh
mv /bin/orrery-seam /bin/orrery
set -- none.0 none.1 publish.49 publish.50 latch.50 record.50 integrate.50 sensors.50 priority.40 fault.1 lock.1 none.2
for what; do
  export "SEAM=$what"
  fly_cubesat "$what" ''
done
for spacecraft in reference cassini; do
  for what in none.0 publish.50 latch.50 record.50 integrate.50 sensors.50 none.2; do
    export "SEAM=$what"
    fly_$spacecraft "$what" ''
  done
done
hand_over
exit 0
