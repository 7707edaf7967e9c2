#!/bin/sh
# `orrery run --mode batch`: the cubesat flies to its target; the same file and seed give the same bits whatever else is
# asked for; a saved state goes on as if it had never stopped.
. tests/support/script.sh
here=$(pwd)
fly() { "$ORRERY" run "$here/configs/cubesat.yaml" --mode batch "$@"; }

out=$(fly) || fail "the cubesat does not fly"
error=$(printf '%s\n' "$out" | sed -n 's/^bus *\([0-9.e+-]*\) deg off.*/\1/p')
awk -v e="$error" 'BEGIN { exit !(e != "" && e > 0 && e < 0.057) }' || fail "it points $error deg off its target"
first=$(printf '%s\n' "$out" | hash_of)
[ ${#first} -eq 16 ] || fail "no state hash: $out"

[ "$(fly | hash_of)" = "$first" ] || fail "a second run has other bits"
[ "$(cd "$dir" && fly --csv a.csv | hash_of)" = "$first" ] || fail "a table, or another directory, changes the bits"
[ "$(fly --csv "$dir/b.csv" --channels '*' --csv-rate 1Hz | hash_of)" = "$first" ] || fail "all channels change the bits"
[ "$(fly --json | sed -n 's/.*"state_hash": "\(.*\)".*/\1/p')" = "$first" ] || fail "--json changes the bits"
[ "$(fly --seed 2 | hash_of)" != "$first" ] || fail "another seed has the same bits"
[ "$(fly --set sensors.gyro.bias=[0,0,1e-6] | hash_of)" != "$first" ] || fail "--set does nothing"
[ "$(fly --duration 59.99s | hash_of)" != "$first" ] || fail "--duration does nothing"

"$ORRERY" run "$here/configs/cubesat.yaml" --mode batch --csv "$dir/c.csv" --channels 'nothing.*' >/dev/null 2>&1 &&
  fail "a pattern that fits no channel is taken"
fly --csv "$dir/c.csv" --csv-rate 3Hz >/dev/null 2>&1 && fail "a rate that does not divide is taken"
fly --csv "$dir/none/c.csv" >/dev/null 2>&1 && fail "a table that cannot be written is no error"
fly --save-state "$dir/none/state" >/dev/null 2>&1 && fail "a state that cannot be written is no error"

rows=$(wc -l <"$dir/a.csv")
[ "$rows" -eq 6002 ] || fail "$rows lines in a table of 6001 frames and a head"
rows=$(wc -l <"$dir/b.csv")
[ "$rows" -eq 62 ] || fail "$rows lines in a table of 61 samples and a head"
head -1 "$dir/b.csv" | grep -q ',bus.imu.attitude.w,' || fail "truth is not among all channels"
head -1 "$dir/a.csv" | grep -q '^time (s),wheel_x.torque (N m),wheel_x.speed (rad/s),' || fail "the head has no units: $(head -1 "$dir/a.csv")"

fly --duration 17.34s --save-state "$dir/state" >"$dir/out" || fail "saving a state"
[ "$(fly --duration 42.66s --from-state "$dir/state" | hash_of)" = "$first" ] || fail "a saved state goes on with other bits"
fly --step 5ms --from-state "$dir/state" >"$dir/out" 2>&1 && fail "a state of another step is taken"
grep -q 'another step' "$dir/out" || fail "what is wrong with the state: $(cat "$dir/out")"

# each line: what is set, and what must be said of it
while IFS='|' read -r set says; do
  fly --set "$set" >"$dir/out" 2>&1
  [ $? -eq 1 ] || fail "--set $set is not an error"
  grep -q "$says" "$dir/out" || fail "--set $set says: $(cat "$dir/out")"
done <<'END'
sensors.gyro.kind=rate_gyr|did you mean 'rate_gyro'
sensors.gyro.kind=reaction_wheel|put it under 'actuators'
sensors.gyro.rate=30Hz|does not divide the base rate
sensors.gyro.phase=10|at most 9
sensors.gyro.node=bus.imi|
sensors.gyro.noise.angle_random_walk=1 deg|takes
sensors.gyro.noise.white=1|unknown key 'white'
actuators.wheel_x.inertia=-1|must be greater than zero
actuators.wheel_x.max_torqe=1|did you mean 'max_torque'
actuators.bus.kind=reaction_wheel|is the name of a body already
links.fsw.commands=[wheel_x.torque]|do not span the three axes
links.fsw.transport=pigeon|not built yet
simulation.integrator=rk5|did you mean 'rk4'
simulation.substeps=3|cannot be divided
simulation.initial.bus.rate=[1]|takes 3 numbers
faults=[{link: fsw, at: 1 s}]|is one of cut, loss, corruption, reorder, copies, bit_errors, lost_bytes, doubled_bytes, stuck_line, babbling and unplugged
commands=[{channel: wheel_x.torqe, value: 0}]|did you mean 'wheel_x.torque'
commands=[{channel: gyro.rate, value: 0}]|is an output
commands=[{channel: wheel_x.torque, at: 1 s}]|takes one of
END
"$ORRERY" check "$here/configs/cubesat.yaml" >"$dir/out" || fail "check"
grep -q 'wheel_x  *reaction_wheel on bus.imu  takes torque (N m)  tells speed (rad/s)' "$dir/out" || fail "check tells of wheels: $(cat "$dir/out")"
grep -q 'gyro  *rate_gyro on bus.imu, 10 Hz  tells rate\[3\] (rad/s)' "$dir/out" || fail "check tells of the gyro: $(cat "$dir/out")"
"$ORRERY" check --json "$here/configs/cubesat.yaml" | grep -q '"gyro.rate"' || fail "check --json tells channels"

# what the file expects decides the exit status, in each mode
bound='expect=[{channel: bus.pointing_error, below: LIMIT, after: 50 s}]'
fly --set "$(echo "$bound" | sed 's/LIMIT/0.05 deg/')" >"$dir/out" || fail "an expectation that is met fails: $(cat "$dir/out")"
grep -q '^verdict     passed: 1 met' "$dir/out" || fail "the verdict: $(cat "$dir/out")"
fly --set "$(echo "$bound" | sed 's/LIMIT/1 arcsec/')" >"$dir/out"
[ $? -eq 1 ] || fail "an expectation that is not met does not fail"
grep -q '^NOT MET .*bus.pointing_error' "$dir/out" || fail "what is not met: $(cat "$dir/out")"
fly --json --set "$(echo "$bound" | sed 's/LIMIT/1 arcsec/')" | grep -q '"verdict": "not_met"' || fail "--json has no verdict"

# one that the file's own duration leaves out is a warning; one that the command line leaves out is not
{
  cat "$here/configs/cubesat.yaml"
  echo 'expect: [{channel: bus.pointing_error, below: 0.05 deg, after: 61 s}]'
} >"$dir/late.yaml"
"$ORRERY" check "$dir/late.yaml" 2>&1 | grep -q 'warning: the run is over after 60 s, so .* never judged' || fail "check does not see what is never judged"
"$ORRERY" run "$dir/late.yaml" --mode batch --duration 62s >"$dir/out" 2>&1 || fail "an expectation after 61 s of 62: $(cat "$dir/out")"
grep -q '^met ' "$dir/out" && ! grep -q warning "$dir/out" || fail "an expectation after 61 s of 62: $(cat "$dir/out")"
sed 's/after: 61 s/after: 50 s/' "$dir/late.yaml" >"$dir/cut.yaml"
"$ORRERY" run "$dir/cut.yaml" --mode batch --duration 2s 2>&1 | grep -q warning && fail "a run cut short is warned of"

# a picture is XML with a panel for each thing there is to see, and changes no bits
[ "$(fly --plot "$dir/p.svg" | hash_of)" = "$first" ] || fail "a picture changes the bits"
[ "$(grep -c 'class="p"' "$dir/p.svg")" -eq 2 ] || fail "a cubesat's picture has pointing and wheels"
[ "$(grep -c 'wheel_[xyz].speed' "$dir/p.svg")" -eq 3 ] || fail "three wheels are not drawn"
[ "$(tail -1 "$dir/p.svg")" = "</svg>" ] || fail "the picture is not whole"
grep -q 'NaN\|nan\|inf' "$dir/p.svg" && fail "the picture holds what is no number"
fly --plot /nowhere/p.svg >/dev/null 2>&1 && fail "a picture that cannot be written is no error"

fly --mode realtim >/dev/null 2>&1
[ $? -eq 2 ] || fail "an unknown mode is a wrong command line"
exit 0
