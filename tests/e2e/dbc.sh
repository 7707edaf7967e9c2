#!/bin/sh
# CAN databases: what `orrery icd --format dbc` prints is read back to the same bits, by the run and by a reader in
# Python (tests/support/dbc.py), and so is one that somebody else wrote, with other names and units. The bus is the
# stand-in of tests/e2e/can.sh.
. tests/support/script.sh
. tests/support/can_layouts.sh
start_stand_in

fly() { # NAME: in lockstep, with $peer already there
  on_bus "$ORRERY" run "$dir/$1.yaml" --mode lockstep --no-log --duration 20s >"$dir/$1" 2>"$dir/err" || fail "$1: $(cat "$dir/$1" "$dir/err" "$dir/peer")"
  [ "$1" != layout ] || kill $peer # over UDP
  wait $peer || fail "$1: $(cat "$dir/peer" "$dir/$1" "$dir/err")"
  grep -q '200 frames out, 199 commands applied, 0 of them late, 0 missed' "$dir/$1" || fail "$1: not each frame was answered: $(cat "$dir/$1" "$dir/err" "$dir/peer")"
}
peer() { # WHERE ARGUMENTS...
  rm -f "$dir/bus"
  python3 tests/support/can_peer.py "$@" >"$dir/peer" 2>&1 &
  peer=$!
  case $1 in unix:*) await test -e "$dir/bus" || fail "no bus: $(cat "$dir/peer")" ;; esac
}
same() { # NAME NAME
  [ -n "$(hash_of "$dir/$1")" ] && [ "$(hash_of "$dir/$1")" = "$(hash_of "$dir/$2")" ] || fail "$1 has other bits than $2: $(cat "$dir/$1" "$dir/$2")"
}
dbc_link() { # KEYS...: of the link
  awk '/^links:/ {exit} {print}' configs/cubesat.yaml
  printf 'links:\n  fsw:\n    transport: can\n    interface: vcan7\n    rate: 10 Hz\n    telemetry: [gyro.rate, star.attitude, bus.target]\n    commands: [wheel_*.torque]\n'
  printf '    %s\n' "$@"
}

# --- of a link on no bus: a double in each frame, with the bits of shared memory --------------------------------------
"$ORRERY" icd configs/cubesat.yaml --format dbc >"$dir/each.dbc" || fail "no database"
dbc_link 'dbc: each.dbc' >"$dir/each.yaml"
peer "unix:$dir/bus" "dbc:$dir/each.dbc"
fly each
over shm configs/cubesat.yaml >"$dir/shm.yaml"
python3 tests/support/can_peer.py "client:shm:$name" >"$dir/peer" 2>&1 &
peer=$!
fly shm
same each shm
"$ORRERY" icd "$dir/each.yaml" --format dbc >"$dir/again.dbc" || fail "no database of a database"
for file in each again; do sed 's/^CM_.*//; s/\[[^]]*\]//' "$dir/$file.dbc" | sort -u >"$dir/$file.lines"; done
cmp "$dir/each.lines" "$dir/again.lines" || fail "what was read is printed otherwise: $(diff "$dir/each.lines" "$dir/again.lines")"

# --- of a layout: whole numbers of both byte orders, the bits of that layout, spoken by who knows the layout and by
# who knows the file
can_link whole "transport: can
    interface: vcan7" >"$dir/whole.yaml"
peer "unix:$dir/bus" whole
fly whole
"$ORRERY" icd "$dir/whole.yaml" --format dbc >"$dir/whole.dbc" || fail "no database of a layout"
dbc_link 'dbc: whole.dbc' >"$dir/read.yaml"
for form in whole "dbc:$dir/whole.dbc"; do
  peer "unix:$dir/bus" "$form"
  fly read
  same read whole
done

# --- somebody else's: names, units, offsets, both byte orders, and much that is none of the run's ---------------------
cat >"$dir/theirs.dbc" <<'P2'
VERSION "a; BO_ 1 b: 8 c"

NS_ :
	CM_
	BA_DEF_
	SIG_VALTYPE_
	BO_TX_BU_

BS_: 500000 : 0,0

BU_: OBC AOCS_ Vector__XXX

VAL_TABLE_ onoff 1 "on; BO_ 5" 0 "off" ;

BO_ 2566844672 Rates: 8 AOCS_
 SG_ wx : 7|20@0- (0.0005,0) [-262|262] "deg/s"  OBC,AOCS_
 SG_ wy : 19|20@0- (0.0005,0) [-262|262] "deg/s" OBC
 SG_ wz : 40|20@1- (5E-004,-10) [-272|252] "deg/s" OBC
 SG_ unused : 60|4@1+ (1,0) [0|15] "" OBC

BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 Vector__XXX
 SG_ lonely : 0|8@1- (1,0) [0|0] "" Vector__XXX

BO_ 272 Quaternion: 8 AOCS_
 SG_ x : 7|32@0- (4.6566128730773926E-10,0) [-1|1] "" OBC
 SG_ y : 39|32@0- (4.6566128730773926E-10,0) [-1|1] "" OBC
BO_ 273 Quaternion2: 8 AOCS_
 SG_ x : 0|32@1- (4.6566128730773926E-10,0) [-1|1] "" OBC
 SG_ w : 32|32@1- (0,0) [0|0] "" OBC
P2
# a factor of 0 is refused, with its line
dbc_link 'dbc: theirs.dbc' >"$dir/theirs.yaml"
"$ORRERY" check "$dir/theirs.yaml" >"$dir/out" 2>&1 && fail "a factor of 0 is taken"
grep -q "theirs.dbc, line 29: 'w' has the factor 0" "$dir/out" || fail "no word of a factor of 0: $(cat "$dir/out")"
sed -i 's/(0,0) \[0|0\]/(1e-9,0) [0|0]/' "$dir/theirs.dbc"
cat >>"$dir/theirs.dbc" <<'P2'
BO_ 288 Target: 8 OBC
 SG_ a : 0|16@1- (1e-4,0) [0|0] "" OBC
 SG_ b : 16|16@1- (1e-4,0) [0|0] "" OBC
 SG_ c : 32|16@1- (1e-4,0) [0|0] "" OBC
 SG_ d : 48|16@1- (1e-4,0) [0|0] "" OBC
BO_ 300 Turns: 8 OBC
 SG_ which M : 0|8@1+ (1,0) [0|0] "" OBC
 SG_ one m0 : 8|8@1+ (1,0) [0|0] "" OBC
 SG_ other m1 : 8|8@1+ (1,0) [0|0] "" OBC
BO_ 512 Wheel: 8 OBC
 SG_ y : 16|16@1- (0.05,0) [0|0] "uN m" AOCS_
 SG_ x : 0|16@1- (0.05,0) [0|0] "uN m" AOCS_
BO_ 513 Wheel_z: 4 OBC
 SG_ z : 0|32@1- (1,0) [0|0] "mN m" AOCS_
EV_ something: 0 [0|0] "" 0 1 DUMMY_NODE_VECTOR0 Vector__XXX;
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 10000;
BA_ "GenMsgCycleTime" BO_ 272 100;
CM_ SG_ 272 x "of several lines;
BO_ 9 nothing: 8 X";
SIG_VALTYPE_ 513 z : 1;
P2
set -- 'dbc: theirs.dbc' 'signals:' \
  '  {gyro.rate.x: wx, gyro.rate.y: Rates.wy, gyro.rate.z: wz,' '   star.attitude.x: Quaternion.x, star.attitude.y: Quaternion.y,' \
  '   star.attitude.z: Quaternion2.x, star.attitude.w: Quaternion2.w,' '   bus.target.x: a, bus.target.y: b, bus.target.z: c, bus.target.w: d,' \
  '   wheel_x.torque: Wheel.x, wheel_y.torque: Wheel.y, wheel_z.torque: z}'
dbc_link "$@" >"$dir/theirs.yaml"
names='gyro_rate_x=wx gyro_rate_y=wy gyro_rate_z=wz star_attitude_x=Quaternion.x star_attitude_y=Quaternion.y star_attitude_z=Quaternion2.x star_attitude_w=w
  bus_target_x=a bus_target_y=b bus_target_z=c bus_target_w=d wheel_x_torque=Wheel.x wheel_y_torque=Wheel.y wheel_z_torque=z'
# shellcheck disable=SC2086
peer "unix:$dir/bus" "dbc:$dir/theirs.dbc" $names
fly theirs
# the same frames from a layout that says the units itself, over UDP behind their identifiers
cat >"$dir/layout.yaml" <<P2
$(awk '/^links:/ {exit} {print}' configs/cubesat.yaml)
links:
  fsw:
    transport: udp
    listen: 127.0.0.1:$port
    rate: 10 Hz
    wait: 60 s
    telemetry: [gyro.rate, star.attitude, bus.target]
    commands: [wheel_*.torque]
    layout:
      packets:
        hello: {direction: commands, fields: [{constant: 0x300, type: u32}, {constant: 0x5a, type: u8}]}
        rates:
          direction: telemetry
          fields:
            - {constant: 2566844672, type: u32}
            - {channel: gyro.rate.x, type: i20, lsb: 0.0005 deg/s}
            - {channel: gyro.rate.y, type: i20, lsb: 0.0005 deg/s}
            - {at: 9, channel: gyro.rate.z, type: i20, byte_order: little, lsb: 0.0005 deg/s, offset: -10 deg/s}
            - {at: 11, bit: 4, fill: 0, type: u4, byte_order: little}
        q1: {direction: telemetry, fields: [{constant: 272, type: u32}, {channel: star.attitude.x, type: i32, lsb: 4.6566128730773926e-10}, {channel: star.attitude.y, type: i32, lsb: 4.6566128730773926e-10}]}
        q2: {direction: telemetry, fields: [{constant: 273, type: u32}, {channel: star.attitude.z, type: i32, byte_order: little, lsb: 4.6566128730773926e-10}, {channel: star.attitude.w, type: i32, byte_order: little, lsb: 1e-9}]}
        target: {direction: telemetry, fields: [{constant: 288, type: u32}, {channel: bus.target, type: i16, byte_order: little, lsb: 1e-4}]}
        wheel: {direction: commands, answers: false, fields: [{constant: 512, type: u32}, {channel: wheel_x.torque, type: i16, byte_order: little, lsb: 0.05 uN m}, {channel: wheel_y.torque, type: i16, byte_order: little, lsb: 0.05 uN m}, {fill: 0, type: u32}]}
        wheel_z: {direction: commands, fields: [{constant: 513, type: u32}, {channel: wheel_z.torque, type: f32, byte_order: little, lsb: 1 mN m}]}
P2
# shellcheck disable=SC2086
peer "udp:$port" "dbc:$dir/theirs.dbc" $names
fly layout
same theirs layout
[ "$(hash_of "$dir/theirs")" != "$(hash_of "$dir/shm")" ] || fail "their bits and doubles are the same: the test shows nothing"
exit 0
