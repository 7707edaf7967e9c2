#!/bin/sh
# The app of tools/cfs, compiled against a stand-in for the headers of cFE (tests/cfe), flies the run file beside
# it: in lockstep with Orrery's packets and with bare messages of cFE, with the same bits; in real time, where its
# clock begins again, beside software with other message ids. It only reacts, so no run waits for it. What speaks
# and never answers brings a hint.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
app=$((port + 1))
sed "s/127.0.0.1:5010/127.0.0.1:$port/; s/127.0.0.1:5011/127.0.0.1:$app/" tools/cfs/cubesat.yaml >"$dir/run.yaml"

# the app's own include, which is cFE's elsewhere
echo '#include "tests/cfe/stand_in.h"' >"$dir/cfe.h"
# as cFS compiles its apps, which is more than its own warnings
build() { # FRAMING: $dir/FRAMING.app
  mkdir -p "$dir/$1"
  "$ORRERY" icd "$dir/run.yaml" --format c --set links.fsw.framing="$1" >"$dir/$1/orrery_links.h" || fail "icd of framing $1"
  ${CC:-cc} -std=c99 -D_GNU_SOURCE -pedantic -Wall -Wextra -Wstrict-prototypes -Wwrite-strings -Wpointer-arith -Wcast-align -Waddress-of-packed-member \
    -Werror -O1 -g ${2:+"$2"} -DORRERY_APP_RUN_PORT="$port" -DORRERY_APP_LISTENS="$app" -I . -I "$dir" -I "$dir/$1" -I tools/cfs/orrery_app/fsw/src \
    -c tools/cfs/orrery_app/fsw/src/orrery_app.c -o "$dir/$1/app.o" || fail "the app does not compile with framing $1 $2"
  [ -n "$2" ] || ${CC:-cc} -std=gnu17 -O1 -g -I tools/cfs/orrery_app/fsw/src "$dir/$1/app.o" tools/cfs/orrery_app/fsw/src/orrery_law.c \
    tests/cfe/cfe.c -o "$dir/$1.app" -lpthread || fail "the stand-in does not compile"
}
start() { # FRAMING CLOCK: the app flies
  "$dir/$1.app" 600 "$2" >"$dir/$1.said" 2>&1 &
  flying=$!
  await grep -q '^event 1 ' "$dir/$1.said" || fail "the app does not start: $(cat "$dir/$1.said")"
}
stop() {
  kill -KILL $flying
  wait $flying 2>/dev/null
}
build orrery -DORRERY_APP_OWN_UDP=0 # by ci_lab and to_lab
build cfe ''
build orrery ''

# lockstep, in both framings: each frame is answered, and the bits are the same
for framing in orrery cfe; do
  start $framing 1000000
  "$ORRERY" run "$dir/run.yaml" --mode lockstep --set links.fsw.framing=$framing >"$dir/$framing.out" 2>&1 || fail "lockstep, $framing: $(cat "$dir/$framing.out" "$dir/$framing.said")"
  stop
  grep -q 'waits for flight software' "$dir/$framing.out" && fail "frame 0 waits for software that only reacts: $(cat "$dir/$framing.out")"
  grep -q '600 frames out, 599 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/$framing.out" || fail "lockstep, $framing: $(cat "$dir/$framing.out")"
  grep -q '^verdict *passed: 1 met' "$dir/$framing.out" || fail "the verdict, $framing: $(cat "$dir/$framing.out")"
done
[ "$(hash_of "$dir/orrery.out")" = "$(hash_of "$dir/cfe.out")" ] || fail "other bits by the other framing: $(hash_of "$dir/orrery.out" "$dir/cfe.out")"
"$ORRERY" run "$dir/run.yaml" --mode lockstep --duration 1s --set links.fsw.wait=0.2s --set links.fsw.lockstep.timeout=0.2s >"$dir/out" 2>&1
grep -q 'waits for flight software, 0.2 s' "$dir/out" || fail "a 'wait' of the file: $(cat "$dir/out")"

# real time: the app starts anew, its clock earlier than before; beside it somebody sends what is not ours
start orrery 2000000000
"$ORRERY" run "$dir/run.yaml" --mode realtime --duration 1000s --json >"$dir/json" 2>"$dir/out" &
run=$!
await grep -q '^event 3 ' "$dir/orrery.said" || fail "the app gets no frame: $(cat "$dir/orrery.said" "$dir/out")"
python3 - "$port" <<'P'
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for k in range(10):
    s.sendto(bytes.fromhex("0880c000000d") + bytes(14), ("127.0.0.1", int(sys.argv[1])))
    time.sleep(0.1)
P
stop
start orrery 7
await grep -q '^event 3 ' "$dir/orrery.said" || fail "the app that began anew gets no frame: $(cat "$dir/orrery.said" "$dir/out")"
await flown_to $run 1 && await flown_to $run $((frame + 400)) || fail "it stands still" # the half a second that its generation waits for, and answers
"$ORRERY" ctl $run stop >/dev/null || fail "stop"
wait $run
stop
python3 - "$dir/json" <<'P' || fail "real time: $(cat "$dir/out")"
import json, sys
link = json.load(open(sys.argv[1]))["links"]["fsw"]
assert link["peers"] == 2 and link["applied"] > 10, link
assert link["refused"]["other_id"] == 10 and link["refused"]["malformed"] == 0 and link["refused"]["foreign"] < 10, link["refused"]
assert link["hint"] is None, link
P

# who speaks and answers nothing, and whom telemetry does not reach; whose answers are refused for a range, and
# who leaves, needs no 'peer'
sed "s/, peer: '[^']*'/, wait: 60 s/" "$dir/run.yaml" >"$dir/nopeer.yaml"
cat >"$dir/speak.py" <<'P'
import socket, sys, time
sys.path.insert(0, "io/client")
import orrery_client
port, what = int(sys.argv[1]), sys.argv[2]
if what == "range":
    with orrery_client.open(f"udp:127.0.0.1:{port}", 60) as link:
        while link.wait(60):
            link.send({"wheel_x.torque": 1e6})
    sys.exit()
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for k in range(30):
    leaves = what == "leave" and k > 3
    s.sendto(orrery_client.write_command(0x1e80, k, orrery_client.LEAVE if leaves else orrery_client.BEAT, 5 << 32, 0, orrery_client.NONE, b""), ("127.0.0.1", port))
    time.sleep(0.1)
P
speak() { # WHAT: beat, range or leave
  : >"$dir/out" # what runs in the background empties it later than it is read here
  "$ORRERY" run "$dir/nopeer.yaml" --mode realtime --duration 5s >"$dir/out" 2>&1 &
  run=$!
  await grep -q 'waits for flight software' "$dir/out" || fail "a run that listens: $(cat "$dir/out")"
  python3 "$dir/speak.py" "$port" "$1" 2>"$dir/err"
  wait $run
}
hint="do:  flight software speaks and answers no frame.*set 'peer: ADDRESS:PORT'"
speak beat
grep -q "$hint" "$dir/out" || fail "no hint: $(cat "$dir/out" "$dir/err")"
speak range
grep -q ' refused: out_of_range ' "$dir/out" && ! grep -q "$hint" "$dir/out" || fail "commands out of range, and a hint: $(cat "$dir/out" "$dir/err")"
speak leave
grep -q 'flight software at the end: has closed the link' "$dir/out" && ! grep -q "$hint" "$dir/out" || fail "a link that is closed, and a hint: $(cat "$dir/out" "$dir/err")"

# what goes with a framing, and what does not
while IFS='|' read -r settings says; do
  # shellcheck disable=SC2086
  "$ORRERY" icd "$dir/run.yaml" $settings >"$dir/out" 2>&1 && fail "taken: $settings"
  grep -qF "$says" "$dir/out" || fail "$settings: $(cat "$dir/out")"
done <<'END'
--set links.fsw.framing=cf|'framing' says
--set links.fsw.endian=big|'endian' is for 'framing: cfe'
--set links.fsw.framing=cfe --set links.fsw.key_file=/dev/null|has no room for a seal
--set links.fsw.framing=cfe --set links.fsw.mtu=128|is one message
END
# into a checkout: the app stands where cFS looks for apps, and is named once, however often it is added
mkdir -p "$dir/cFS/cfe" "$dir/cFS/osal" "$dir/cFS/sample_defs"
echo 'list(APPEND MISSION_GLOBAL_APPLIST sample_app)' >"$dir/cFS/sample_defs/targets.cmake"
printf 'CFE_APP, to_lab, TO_LAB_AppMain, TO_LAB_APP, 70, 16384, 0x0, 0;\n!\n! notes\n' >"$dir/cFS/sample_defs/cpu1_cfe_es_startup.scr"
for framing in orrery cfe; do
  tools/cfs/add "$dir/cFS" "$dir/run.yaml" --set links.fsw.framing=$framing >"$dir/out" 2>&1 || fail "tools/cfs/add: $(cat "$dir/out")"
  cmp "$dir/$framing/orrery_links.h" "$dir/cFS/apps/orrery_app/fsw/src/orrery_links.h" || fail "another interface"
done
[ "$(grep -c orrery_app "$dir/cFS/sample_defs/targets.cmake")" -eq 1 ] || fail "targets.cmake: $(cat "$dir/cFS/sample_defs/targets.cmake")"
[ "$(sed -n 2p "$dir/cFS/sample_defs/cpu1_cfe_es_startup.scr")" = 'CFE_APP, orrery_app,  ORRERY_APP_Main,    ORRERY_APP,   90,   16384, 0x0, 0;' ] &&
  [ "$(grep -c orrery_app "$dir/cFS/sample_defs/cpu1_cfe_es_startup.scr")" -eq 1 ] || fail "the startup script: $(cat "$dir/cFS/sample_defs/cpu1_cfe_es_startup.scr")"
diff -r -x orrery_links.h tools/cfs/orrery_app "$dir/cFS/apps/orrery_app" >"$dir/out" || fail "the app: $(cat "$dir/out")"
tools/cfs/add "$dir" >"$dir/out" 2>&1 && fail "a folder that is no cFS"
for format in xtce cosmos eds python; do
  "$ORRERY" icd "$dir/run.yaml" --format $format --set links.fsw.framing=cfe >"$dir/none" 2>"$dir/err"
  [ $? -eq 1 ] && [ ! -s "$dir/none" ] && grep -q "has 'framing: cfe'" "$dir/err" || fail "$format of messages: $(cat "$dir/err")"
done
exit 0
