#!/bin/sh
# What is right and seldom meant is warned about; times stand where a time is meant; what is unknown is answered with the list or the nearest; a
# setting may name many places; `check` tells every parameter with its unit.
. tests/support/script.sh
cubesat=configs/cubesat.yaml
fly() { "$ORRERY" run "$cubesat" --mode batch --duration 10s "$@"; }
says() { # WORDS ARGUMENTS...
  words=$1
  shift
  fly "$@" >"$dir/out" 2>&1
  grep -q "$words" "$dir/out" || fail "$*: $(cat "$dir/out")"
}
quiet() { # ARGUMENTS...
  fly "$@" >"$dir/out" 2>&1 || fail "$*: $(cat "$dir/out")"
  grep -q 'warning:' "$dir/out" && fail "$*: $(cat "$dir/out")"
  hash_of "$dir/out" >"$dir/hash"
}
quiet

# --- a script beside a link: each form, a step too ----------------------------------------------------------------------------------
says "'wheel_x.torque' is set by the file's own 'commands' too, at 2 s" --set 'commands=[{channel: wheel_x.torque, at: 2 s, value: 0}]'
says "'wheel_x.torque' follows the file's own 'commands' too" --set 'commands=[{channel: wheel_x.torque, at: 2 s, ramp: {from: 0, to: 0, over: 1 s}}]'

# --- times ----------------------------------------------------------------------------------------------------------------------
same() { # A B: two settings mean the same, and not nothing
  [ "$(fly --set "$1" 2>&1 | hash_of)" = "$(fly --set "$2" 2>&1 | hash_of)" ] || fail "'$1' is not '$2'"
  [ "$(fly --set "$1" 2>&1 | hash_of)" != "$(fly | hash_of)" ] || fail "'$1' does nothing"
}
same 'sensors.gyro.delay=100 ms' 'sensors.gyro.delay=10'
same 'sensors.gyro.phase=30 ms' 'sensors.gyro.phase=3'
same 'links.fsw.phase=0.02 s' 'links.fsw.phase=2'
says "'delay' is a whole number of frames of 10 ms, .*'15 ms' is none" --set 'sensors.gyro.delay=15 ms'
says "'delay' takes a whole number of frames, or a time" --set sensors.gyro.delay=1.5
says "'delay' takes a plain number" --set 'sensors.gyro.delay=5 Hz'
quiet --set 'links.fsw.timeout.frames=5 s'
"$ORRERY" icd "$cubesat" >/dev/null || fail icd

# --- settings -------------------------------------------------------------------------------------------------------------------
[ "$(fly --set 'sensors.*.rate=5Hz' 2>&1 | hash_of)" = "$(fly --set sensors.gyro.rate=5Hz --set sensors.star.rate=5Hz 2>&1 | hash_of)" ] ||
  fail "a setting of many places is not those of each"
[ "$(fly --set 'actuators.wheel_*.max_torque=0.02 mN m' 2>&1 | hash_of)" != "$(fly | hash_of)" ] || fail "wheel_* is not set"
says "nothing there fits z\*" --set 'sensors.z*.rate=5Hz'
quiet --set links.fsw.transport=udp
"$ORRERY" run "$cubesat" --mode realtime --duration 100ms --set links.fsw.transport=udp --set links.fsw.listen="127.0.0.1:$port" \
  --set 'links.fsw.wait=50 ms' >"$dir/out" 2>"$dir/err"
grep -q "link 'fsw' at udp:127.0.0.1:$port waits" "$dir/err" || fail "over UDP by one setting: $(cat "$dir/err")"

# --- doubts ---------------------------------------------------------------------------------------------------------------------
says "'max_speed' is 3000 rad/s, which is 28647.9 rpm; .*'3000 rpm'" --set actuators.wheel_x.max_speed=3000
quiet --set 'actuators.wheel_x.max_speed=3000 rpm'
says "'q' is 90 rad, which is 5156.62 deg" --set 'spacecraft.bodies.arm={mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.imu, axis: [1, 0, 0]}}' --set 'simulation.initial.arm={q: [90]}'
says "'tug' hangs on 'inertial' beside 'bus', and nothing joins them" --set 'spacecraft.bodies.tug={mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}'
boom() { echo "spacecraft.bodies.boom={hinge: {kind: fixed, to: bus.imu}, modes: [{frequency: $1, damping: $2}], nodes: {origin: {at: [0, 0, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}, tip: {at: [1, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 1]]}}}"; }
quiet --set "$(boom 1 0.01)"
says "'damping' is a ratio: 2 means" --set "$(boom 1 2)"
says "a mode of frequency 0 has no stiffness" --set "$(boom 0 0)"
sed 's/duration: 60 s/duration: 20 s/' $cubesat >"$dir/short.yaml"
"$ORRERY" check "$dir/short.yaml" >"$dir/out" 2>&1 || fail "check: $(cat "$dir/out")"
grep -q 'warning: this target is at 25 s, and the run ends at 20 s' "$dir/out" || fail "a target after the end: $(cat "$dir/out")"

# --- what is unknown ------------------------------------------------------------------------------------------------------------
says "there is no kind of sensor 'lidar'; there are .*rate_gyro.*star_tracker" --set sensors.gyro.kind=lidar
says "unknown unit 'furlong'; 'orrery help units' has them all" --set 'sensors.gyro.rate=5 furlong'
says "no output fits 'qqqq'; there are wheel_x.speed, .* more ('orrery check' has them)" --set 'links.fsw.telemetry=[qqqq]'
says "no command fits 'qqqq'; there are wheel_x.torque, wheel_y.torque, wheel_z.torque$" --set 'links.fsw.commands=[qqqq]'
says "there is no channel 'qqqq'; there are " --set 'commands=[{channel: qqqq, at: 1 s, value: 0}]'
"$ORRERY" help units >/dev/null || fail "help units is named and not there"

# --- check tells parameters ------------------------------------------------------------------------------------------------------
"$ORRERY" check $cubesat >"$dir/out" || fail check
grep -q '^ *with axis \[1, 0, 0\], inertia 1e-05 kg m^2, max_torque 0.001 N m, max_speed 628.318531 rad/s' "$dir/out" || fail "$(cat "$dir/out")"
grep -q '^ *with noise.angle_random_walk 2.9.*e-05 rad/sqrt(s), noise.bias_instability 9.6.*e-06 rad/s' "$dir/out" || fail "$(cat "$dir/out")"
exit 0
