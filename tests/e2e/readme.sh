#!/bin/sh
# What README.md shows is so. Every command on a line of its own is tried, and one that this test does not know fails
# it; the programs in C and in Python are compiled and started by the lines beside them and fly the run beside them; the
# flights of the Makefile are flown by its own recipes. Verbatim but for names and ports (tests run side by side), how
# long it takes, and real time. Then the manuals' own examples.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
built=$(dirname "$ORRERY")
nm "$built/libclient.a" 2>/dev/null | grep -q __asan && exit 77 # a user's compiler has no sanitizer to link it with
# the tree as its reader has it, around the programs under test
mkdir "$dir/build"
ln -s "$PWD/io" "$PWD/configs" "$dir"
ln -s "$built" "$dir/build/release"
ln -s "$ORRERY" "$dir/build/orrery"

block() { awk -v fence="\`\`\`$1" '/^```$/ { on = 0 } on { print } $0 == fence { on = 1 }' README.md; }
own() { sed "s|/orrery.fsw|$name|; s|FUTEX, 1000)|FUTEX, 60000)|"; } # a busy machine may say nothing for a second
[ "$(grep -c '^```c$' README.md)" -eq 1 ] && [ "$(grep -c '^```python$' README.md)" -eq 1 ] ||
  fail "README.md no longer shows one program in C and one in Python"
block c | own >"$dir/yours.c"
block python | own >"$dir/yours.py"
awk '/^```/ { code = !code } !code && /^    [^ ]/ { sub(/^ */, ""); sub(/ +#.*/, ""); print }' README.md >"$dir/commands"

# --- the spacecraft is the file that it says it is, laid out to be read -----------------------------------------------
block yaml >"$dir/shown.yaml"
cmp -s "$dir/shown.yaml" configs/cubesat.yaml || fail "README.md shows another configs/cubesat.yaml: $(diff "$dir/shown.yaml" configs/cubesat.yaml)"
for kind in yaml c python; do
  block $kind | awk 'length > 100 { bad = 1; print } END { exit bad }' || fail "README.md: lines of more than 100 columns"
done

# --- the commands -----------------------------------------------------------------------------------------------------
recipe() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n "$1"; }
# a flight of the Makefile, two seconds of it, in lockstep; what it expects of the whole flight it cannot meet
fly_recipe() {
  recipe "$1" | sed -n '/& peer=/p' | sed "s|[^ ;']*/fsw \([^ ]*\) |'$built/fsw' \1 |g; s|[^ ;']*/orrery run|'$ORRERY' run|g; s|5010|$port|g
    s|shm:/orrery.cassini|shm:$name|g; s|--mode [a-z]*|--mode lockstep --duration 2s --set links.fsw.wait=20s|g
    s|--plot [^;']*|--plot $dir/$1.svg|g; /udp:/!s|--mode|--set links.fsw.name=$name --mode|g" >"$dir/$1"
  sh "$dir/$1" >"$dir/out" 2>&1
  grep -q ' 200 frames out, 199 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "make $1: $(cat "$dir/out")"
  [ -s "$dir/$1.svg" ] || fail "make $1 leaves no picture"
}
compile= start_python= start_c= fly_line= real_line=
while read -r command; do
  case $command in
  'make run' | 'make run-udp' | 'make run-lockstep') fly_recipe "${command#make }" ;;
  'make test') recipe test >/dev/null || fail "$command" ;; # this is it
  'cc '*) compile=$command ;;
  './yours') start_c=$command ;;
  *' python3 yours.py') start_python=$command ;;
  'build/orrery run '*' --mode lockstep') fly_line=$command ;;
  'build/orrery run '*' --mode realtime') real_line=$command ;;
  'build/orrery '*) (cd "$dir" && eval "$command") >"$dir/out" 2>&1 || fail "$command: $(cat "$dir/out")" ;;
  'M(q) u̇ = '*) ;;
  *) fail "README.md shows a command that nobody has tried: $command" ;;
  esac
done <"$dir/commands"
[ -n "$compile" ] && [ -n "$start_c" ] && [ -n "$start_python" ] && [ -n "$fly_line" ] && [ -n "$real_line" ] || fail "what flies your own software is not in README.md"
for file in flight.csv flight.svg; do
  [ -s "$dir/$file" ] || fail "the first flight leaves no $file"
done
for target in run-udp run-lockstep; do
  grep -q "\`make $target\`" README.md || fail "README.md no longer names make $target"
  fly_recipe $target
done

# --- your own flight software -----------------------------------------------------------------------------------------
(cd "$dir" && eval "$compile") || fail "$compile"
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -o "$dir/strict" "$dir/yours.c" "$built/libclient.a" ||
  fail "the program in C, with gcc and every warning"
[ "$(readelf -d "$dir/yours" | grep -c NEEDED)" -eq 1 ] && readelf -d "$dir/yours" | grep -q 'NEEDED.*libc\.so' ||
  fail "the client needs more than the C library: $(readelf -d "$dir/yours" | grep NEEDED)"

# $1 how to start the peer, $2… more for the run
fly() {
  start=$1
  shift
  (cd "$dir" && eval "exec env $start") 2>"$dir/err" &
  peer=$!
  (cd "$dir" && eval "$fly_line --duration 5s \"\$@\"") >"$dir/out" 2>&1 || fail "$start: $(cat "$dir/out" "$dir/err")"
  wait "$peer" || fail "$start ends badly: $(cat "$dir/err")"
  grep -q '50 frames out, 49 commands applied, 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "$start: $(cat "$dir/out")"
}
fly "$start_c" --set links.fsw.name="$name" --csv "$dir/c.csv"
in_c=$(hash_of "$dir/out")
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { sub(/ .*/, "", $i); at[$i] = i } next }
  NR == 2 { first = $at["gyro.rate.x"] } { last = $at["gyro.rate.x"]; torque = $at["wheel_x.torque"] }
  END { exit !(torque != 0 && last * last < 0.5 * first * first) }' "$dir/c.csv" || fail "the law in C turns nothing"
fly "$start_python" --set links.fsw.name="$name"
[ "$(hash_of "$dir/out")" = "$in_c" ] || fail "the same law in Python has other bits"
# the same in real time, by the lines beside them: commands are applied, and both programs say that all went well. A
# machine that stalls for a second ends the program in C, which waits no longer: then another try
fly_live() { # START
  for try in 1 2 3; do
    (cd "$dir" && eval "exec env $1") 2>"$dir/err" &
    peer=$!
    (cd "$dir" && eval "$real_line --duration 3s --set links.fsw.name=$name") >"$dir/out" 2>"$dir/err.run"
    flown=$?
    wait "$peer" && [ $flown -eq 0 ] && grep -q '30 frames out, [12][0-9] commands applied' "$dir/out" && return
  done
  fail "$1 in real time: $(cat "$dir/out" "$dir/err" "$dir/err.run")"
}
fly_live "$start_c"
fly_live "$start_python"
# a wrong letter in a name of a channel is told, with the right one
sed -i.right 's|"wheel_x.torque"|"wheel_x.torq"|' "$dir/yours.c"
(cd "$dir" && eval "$compile") || fail "$compile"
(cd "$dir" && eval "exec env $start_c") 2>"$dir/err" &
peer=$!
(cd "$dir" && eval "$fly_line --duration 1s --set links.fsw.name=$name --set 'links.fsw.lockstep={timeout: 10 ms, policy: continue}'") >"$dir/out" 2>&1
wait "$peer" && fail "the program in C flies without its wheel"
grep -qx "the link has no channel 'wheel_x.torq'; did you mean 'wheel_x.torque'?" "$dir/err" || fail "of a wrong name it says: $(cat "$dir/err")"
mv "$dir/yours.c.right" "$dir/yours.c"
over_udp="links.fsw={transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1], rate: 10 Hz, telemetry: [gyro.rate],
  commands: [wheel_*.torque], wait: 20 s}"
grep -q '/\* or "udp:127.0.0.1:5010" \*/' "$dir/yours.c" || fail "the program in C no longer says how it is over UDP"
sed -i "s|shm:$name|udp:127.0.0.1:$port|" "$dir/yours.c" "$dir/yours.py"
(cd "$dir" && eval "$compile") || fail "$compile"
for start in "$start_c" "$start_python"; do
  fly "$start" --set "$over_udp"
  [ "$(hash_of "$dir/out")" = "$in_c" ] || fail "$start has other bits over UDP"
done

# --- the manuals' own examples ----------------------------------------------------------------------------------------
{
  printf '#include "io/client/client.h"\nint main(void) {\n'
  awk '/^ \*   struct orr_client c;/ { on = 1 } on && /^ \*$/ { exit } on { sub(/^ \*/, ""); print }' io/client/client.h
  printf '  return 0;\n}\n'
} | own >"$dir/yours.c"
(cd "$dir" && eval "$compile") || fail "the example in client.h does not compile: $(cat "$dir/yours.c")"
fly "$start_c" --set links.fsw.name="$name"
[ "$(hash_of "$dir/out")" = "$in_c" ] || fail "the example in client.h has other bits"
python3 -c 'import ast, sys, textwrap
lines = ast.get_docstring(ast.parse(open("io/client/orrery_client.py").read())).split("\n")
print("import orrery_client\n" + textwrap.dedent("\n".join(l for l in lines if l.startswith("    "))))' | own >"$dir/yours.py"
fly "$start_python" --set links.fsw.name="$name"
[ "$(hash_of "$dir/out")" = "$in_c" ] || fail "the example in orrery_client.py has other bits"
# --- what the READMEs name to see a figure again ----------------------------------------------------------------------
# runs as it is named: from the top of the tree, on what make built, where nobody says another
for script in $(grep -ho '`tests/[a-z0-9_/-]*\.sh`' README.md ./*/README.md | tr -d '`' | sort -u); do
  [ -x "$script" ] || fail "a README names $script"
  grep -q 'support/script.sh\|{ORRERY:-' "$script" || ! grep -q ORRERY "$script" || fail "$script does not run as it is named"
done
exit 0
