# What the counted guests fly. The time of their one processor is its count of instructions, 4 ns each: 2 ms
# are half a million of them.

fly() { # NAME RUN SLICE PEER LOAD SETTINGS: the result is /tmp/out/NAME.json
  cat >"/tmp/$1.yaml" <<END
timing: 1
run: /configs/$2.yaml
set: [simulation.step=2ms, realtime.core=0, realtime.priority=80, realtime.phase=0s, realtime.spin=0s, "expect=[]"$6]
slices: 1
slice: $3
warm_up: 40 ms
peer: $4
$5
END
  mkdir -p /tmp/out
  orrery timing run "/tmp/$1.yaml" -o "/tmp/out/$1.json" 2>/tmp/err || {
    cat /tmp/err
    exit 1
  }
}
# The link has each frame, so that its way is in each.
linked=', links.fsw.rate=500Hz'
flight_software() { echo "exec chrt -f 70 fsw shm:$1 $2 >/dev/null 2>&1"; } # SEGMENT SPACECRAFT
fly_reference() { fly "reference.$1" reference '160 ms' none "$2" ''; } # NAME LOAD
fly_cassini() { fly "cassini.$1" cassini-slew '160 ms' "$(flight_software /orrery.cassini cassini)" "$2" "$linked"; }
fly_cubesat() { fly "cubesat.$1" cubesat '1200 ms' "$(flight_software /orrery.fsw cubesat)" "$2" "$linked"; } # more than a second: what comes once in one is seen

# The results, by the second serial line.
hand_over() {
  cd /tmp/out || exit 1
  stty raw -F /dev/ttyS1
  tar c . | gzip >/dev/ttyS1
}
