#!/bin/sh
# What is right and seldom meant is warned about; times stand where a time is meant; what is unknown is answered with
# the list or the nearest; a setting may name many places; `check` tells every parameter with its unit.
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

# --- a script beside a link: each form, a step too --------------------------------------------------------------------
says "'wheel_x.torque' is set by the file's own 'commands' too, at 2 s" --set 'commands=[{channel: wheel_x.torque, at: 2 s, value: 0}]'
says "'wheel_x.torque' follows the file's own 'commands' too" --set 'commands=[{channel: wheel_x.torque, at: 2 s, ramp: {from: 0, to: 0, over: 1 s}}]'

# --- times ------------------------------------------------------------------------------------------------------------
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

# --- settings ---------------------------------------------------------------------------------------------------------
[ "$(fly --set 'sensors.*.rate=5Hz' 2>&1 | hash_of)" = "$(fly --set sensors.gyro.rate=5Hz --set sensors.star.rate=5Hz 2>&1 | hash_of)" ] ||
  fail "a setting of many places is not those of each"
[ "$(fly --set 'actuators.wheel_*.max_torque=0.02 mN m' 2>&1 | hash_of)" != "$(fly | hash_of)" ] || fail "wheel_* is not set"
says "nothing there fits z\*" --set 'sensors.z*.rate=5Hz'
quiet --set links.fsw.transport=udp
"$ORRERY" run "$cubesat" --mode realtime --duration 100ms --set links.fsw.transport=udp --set links.fsw.listen="127.0.0.1:$port" \
  --set 'links.fsw.wait=50 ms' >"$dir/out" 2>"$dir/err"
grep -q "link 'fsw' at udp:127.0.0.1:$port waits" "$dir/err" || fail "over UDP by one setting: $(cat "$dir/err")"

# --- doubts -----------------------------------------------------------------------------------------------------------
says "'max_speed' is 3000 rad/s, which is 28647.9 rpm; .*'3000 rpm'" --set actuators.wheel_x.max_speed=3000
quiet --set 'actuators.wheel_x.max_speed=3000 rpm'
says "'q' is 90 rad, which is 5156.62 deg" --set 'spacecraft.bodies.arm={mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.imu, axis: [1, 0, 0]}}' --set 'simulation.initial.arm={q: [90]}'
# each quantity that is written in another unit nearly everywhere: the bare number is doubted, the
# same with its unit is not
doubted() { # WORDS PATH NUMBER UNIT
  says "$1; if it is meant in another unit, say it: '$3 $4'" --set "$2=$3"
  "$ORRERY" run $cubesat --mode batch --duration 1s --set "$2=$3 $4" >"$dir/out" 2>&1
  grep -q 'if it is meant' "$dir/out" && fail "$2=$3 $4 is doubted: $(cat "$dir/out")"
}
doubted "'max_speed' is 6000 rad/s, which is 57295.8 rpm" actuators.wheel_x.max_speed 6000 rpm
doubted "'across' is 10 rad, which is 2.06265e+06 arcsec" sensors.star.noise.across 10 arcsec
doubted "'about' is 0.5 rad, which is 103132 arcsec" sensors.star.noise.about 0.5 arcsec
doubted "'angle_random_walk' is 0.1 rad/sqrt(s), which is 343.775 deg/sqrt(h)" sensors.gyro.noise.angle_random_walk 0.1 'deg/sqrt(h)'
doubted "'bias_instability' is 2 rad/s, which is 412530 deg/h" sensors.gyro.noise.bias_instability 2 deg/h
doubted "'rate_limit' is 10 rad/s, which is 572.958 deg/s" sensors.star.rate_limit 10 deg/s
doubted "'mass' is 4000000 kg, which is 4e+09 g" spacecraft.bodies.bus.mass 4000000 g
doubted "'step' is 1 s, which is 1000 ms" simulation.step 1 ms
doubted "'wait' is 5000 s, which is 5e+06 ms" links.fsw.wait 5000 ms
ground() { echo "pointing.bus.target={aim: ground, latitude: $1, longitude: 0}"; }
says "'latitude' must be at least -1.5708 and at most 1.5708 rad, not '48'; '48 deg'?$" --set "$(ground 48)"
says "'latitude' must be at least -1.5708 and at most 1.5708 rad, not '91'$" --set "$(ground 91)"
says "'latitude' must be at least -1.5708 and at most 1.5708 rad, not '91 deg'$" --set "$(ground '91 deg')"
says "'rate' is 30 rad/s, which is 1718.87 deg/s" --set 'simulation.initial.bus.rate=[30, 0, 0]'
says "'rate' is 1 rad/s, which is 57.2958 deg/s" --set 'simulation.initial.bus.rate=[1, 2, 3]'
quiet --set 'simulation.initial.bus.rate=[1 rad/s, 2 rad/s, 3 rad/s]'
quiet --set 'simulation.initial.bus.rate=[0.1, 0, 0]'
for bound in below above is; do
  says "'$bound' is 1 rad, which is 57.2958 deg; if it is meant in another unit, say it: '1 deg'" --set "expect=[{channel: bus.pointing_error, $bound: 1}]"
done
says "'between' is 2 rad, which is 114.592 deg" --set 'expect=[{channel: bus.pointing_error, between: [0, 2]}]'
quiet --set 'expect=[{channel: bus.pointing_error, below: 2 rad}]'
quiet --set 'expect=[{channel: bus.rate, below: 1}]'
says "'delay' is 200 frames, which is 2 s; if it is meant as a time, say it: '200 ms'" --set sensors.gyro.delay=200
quiet --set sensors.gyro.delay=20
says "a ball of 4000 kg with this inertia has a radius of 4.74 mm; .*'4000 g'" --set spacecraft.bodies.bus.mass=4000
says "a ball of 4 kg with this inertia has a radius of 150 m; .*'36000 kg mm^2'" --set 'spacecraft.bodies.bus.inertia=[36000, 36000, 7000, 0, 0, 0]'
world='environment={epoch: 2025-03-20T12:00:00, magnetic_field: {file: '$PWD'/configs/data/wmm2025.cof}, atmosphere: {model: exponential, density: 1e-12, base: 500, scale: 60 km}}'
orbit='simulation.initial.bus.orbit={elements: {semi_major_axis: 6878 km, inclination: 51 deg}}'
says "'base' is 500 m, which is 0.5 km" --set "$world" --set "$orbit"
says "'bias' is 50 T, which is 5e+10 nT" --set "$world" --set "$orbit" --set 'sensors.mag={kind: magnetometer, node: bus.imu, bias: [50, 0, 0]}'
says "'semi_major_axis' is 6878 m, which is 6.878 km" --set "$world" --set 'simulation.initial.bus.orbit={elements: {semi_major_axis: 6878, inclination: 51 deg}}'
says "'tug' hangs on 'inertial' beside 'bus', and nothing joins them" --set 'spacecraft.bodies.tug={mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}'
boom() { echo "spacecraft.bodies.boom={hinge: {kind: fixed, to: bus.imu}, modes: [{frequency: $1, damping: $2}], nodes: {origin: {at: [0, 0, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}, tip: {at: [1, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 1]]}}}"; }
quiet --set "$(boom 1 0.01)"
says "'damping' is a ratio: 2 means" --set "$(boom 1 2)"
says "'damping' is a ratio: 0.5 is 50 %, which is much for a structure; 0.5 % is 0.005" --set "$(boom 1 0.5)"
quiet --set "$(boom 1 0.2)"
says "a mode of frequency 0 has no stiffness" --set "$(boom 0 0)"
says "'boom' turns at 0.318 of the rate of its first mode, 1 Hz" --set "$(boom 1 0.01)" --set 'simulation.initial.bus={rate: [0, 0, 2]}'
says "^shapes  *'boom' turned faster than 0.2 of its first mode in [0-9]* frames" --set "$(boom 1 0.01)" --set 'simulation.initial.bus={rate: [0, 0, 2]}'
sed 's/duration: 60 s/duration: 20 s/' $cubesat >"$dir/short.yaml"
"$ORRERY" check "$dir/short.yaml" >"$dir/out" 2>&1 || fail "check: $(cat "$dir/out")"
grep -q 'warning: this target is at 25 s, and the run ends at 20 s' "$dir/out" || fail "a target after the end: $(cat "$dir/out")"

# --- a wrench that nothing bounds: who may command it, and what to do -------------------------------------------------
push() { echo "actuators.push={kind: wrench, node: bus.imu$1}"; }
no_limit="'push' has no 'max_torque', so"
by_link='links.fsw.commands=[wheel_*.torque, push.torque]'
says "warning: $no_limit the link 'fsw' can command up to 1000000 N m, .*: give it a 'max_torque'" \
  --set "$(push '')" --set "$by_link"
says "$no_limit the sequence, step 1 set, can command" --set "$(push '')" --set 'sequence=[{set: {push.torque.x: 0}}]'
says "$no_limit the fault 'kick' can command" --set "$(push '')" --set 'faults=[{name: kick, channel: push.torque, at: 1 s, bias: 0}]'
says "'push' has no 'max_force', so the link 'fsw' can command up to 1000000 N," --set "$(push ', max_torque: 1 mN m')" --set 'links.fsw.commands=[wheel_*.torque, "push.*"]'
for check in check run; do
  "$ORRERY" $check $cubesat --set "$(push '')" --set "$by_link" $([ $check = check ] || echo '--mode batch --duration 1s') >"$dir/out" 2>&1
  [ "$(grep -c "$no_limit" "$dir/out")" -eq 1 ] || fail "$check does not say it once: $(cat "$dir/out")"
done
quiet --set "$(push '')"
quiet --set "$(push ', max_torque: 1 mN m')" --set "$by_link"
quiet --set "$(push '')" --set 'commands=[{channel: push.torque.x, at: 1 s, value: 1 mN m}]'
for run in configs/*.yaml; do
  "$ORRERY" check "$run" >"$dir/out" 2>&1
  grep -q "has no 'max_" "$dir/out" && fail "$run: $(cat "$dir/out")"
done

# --- what is unknown --------------------------------------------------------------------------------------------------
says "there is no kind of sensor 'lidar'; there are .*rate_gyro.*star_tracker" --set sensors.gyro.kind=lidar
says "unknown unit 'furlong'; 'orrery help units' has them all" --set 'sensors.gyro.rate=5 furlong'
says "no output fits 'qqqq'; there are wheel_x.speed, .* more ('orrery check --channels' has them)" --set 'links.fsw.telemetry=[qqqq]'
says "no body 'imu', did you mean 'bus.imu'?" --set sensors.gyro.node=imu
says "no body 'qqqq'$" --set sensors.gyro.node=qqqq
says "no body 'imu'$" --set sensors.gyro.node=imu --set 'spacecraft.bodies.arm={mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: bus.imu}, nodes: {imu: {at: [0, 0, 0]}}}'
says "no command fits 'qqqq'; there are wheel_x.torque, wheel_y.torque, wheel_z.torque$" --set 'links.fsw.commands=[qqqq]'
says "there is no channel 'qqqq'; there are " --set 'commands=[{channel: qqqq, at: 1 s, value: 0}]'
says "no channel fits 'gyro.rat', did you mean 'gyro.rate'" --set 'record={channels: [gyro.rat]}'
says "no channel fits 'qqqq'; there are wheel_x.torque, " --set 'record={channels: [qqqq]}'
says "there is no channel 'gyro.rat.x', did you mean 'gyro.rate.x'" --set 'expect=[{always: gyro.rat.x below 1}]'
says "there is no channel 'qqqq'; there are .*('orrery check --channels' has them)" --set 'expect=[{always: qqqq below 1}]'
says "there is no channel 'gyro.rat', did you mean 'gyro.rate'" --set 'expect=[{channel: gyro.rat, below: 1}]'
says "there is no measure 'overruns.ow', did you mean 'overruns.own'" --set 'expect=[{measure: overruns.ow, is: 0}]'
says "there is no fault 'xx' under 'faults'; there are stiff" --set 'sequence=[{fault: xx}]' --set 'faults=[{name: stiff, device: wheel_x, drag: 1e-6}]'
says "no channel fits 'gyro.rat' of --plot-channels, did you mean 'gyro.rate'" --plot "$dir/p.svg" --plot-channels gyro.rat
says "no channel fits 'gyro.rat' of --channels, did you mean 'gyro.rate'" --csv "$dir/p.csv" --channels 'star.attitude,gyro.rat'
says "there is no 'gyroo', so it is added; did you mean 'gyro'" --set sensors.gyroo.rate=5Hz
says "unknown key 'sensrs' in a model file, did you mean 'sensors'" --set sensrs.gyro.rate=5Hz
says "unknown key 'rte' in rate_gyro 'gyro', did you mean 'rate'" --set sensors.gyro.rte=5Hz
quiet --set sensors.gyro.noise.angle_random_walk='0.1 deg/sqrt(h)'
"$ORRERY" help units >/dev/null || fail "help units is named and not there"

# --- check tells parameters -------------------------------------------------------------------------------------------
"$ORRERY" check $cubesat >"$dir/out" || fail check
grep -q '^ *with axis \[1, 0, 0\], inertia 1e-05 kg m^2, max_torque 0.001 N m, max_speed 628.318531 rad/s' "$dir/out" || fail "$(cat "$dir/out")"
grep -q '^ *with noise.angle_random_walk 2.9.*e-05 rad/sqrt(s), noise.bias_instability 9.6.*e-06 rad/s' "$dir/out" || fail "$(cat "$dir/out")"
# the same as data, and what a procedure would do
"$ORRERY" check --json $cubesat >"$dir/out" || fail "check --json"
python3 - "$dir/out" <<'PYTHON' || fail "check --json tells parameters otherwise: $(cat "$dir/out")"
import json, math, sys
devices = {d["name"]: d["parameters"] for d in json.load(open(sys.argv[1]))[0]["run"]["devices"]}
wheel, gyro = devices["wheel_x"], devices["gyro"]
assert wheel["axis"] == {"value": [1, 0, 0], "unit": ""}, wheel
assert wheel["inertia"] == {"value": 1e-5, "unit": "kg m^2"} and wheel["max_torque"]["unit"] == "N m", wheel
assert math.isclose(wheel["max_speed"]["value"], 6000 * math.pi / 30) and wheel["max_speed"]["unit"] == "rad/s", wheel
assert math.isclose(gyro["noise.angle_random_walk"]["value"], 0.1 * math.pi / 180 / 60), gyro
assert devices["star"]["rate_limit"] == {"value": None, "unit": "rad/s"}, devices["star"]
PYTHON
"$ORRERY" check configs/cubesat.yaml >/dev/null || fail check
{
  cat $cubesat
  echo 'commands: [{channel: wheel_x.torque, at: 2 s, value: 0}]'
  echo 'faults: [{name: blind, device: star, at: 5 s, for: 2 s, dead: true}]'
  echo 'sequence: [{wait: 1 s}, {mark: there}]'
  echo 'expect: [{channel: bus.rate, below: 5 deg/s}]'
} >"$dir/all.yaml"
"$ORRERY" check "$dir/all.yaml" >"$dir/out" 2>/dev/null || fail "check: $(cat "$dir/out")"
for line in 'command wheel_x.torque: a value at 2 s' 'fault blind: star.* at 5 s, for 2 s' 'sequence of 2 steps' '1 expectation$'; do
  grep -q "^  $line" "$dir/out" || fail "check does not tell '$line': $(cat "$dir/out")"
done
exit 0
