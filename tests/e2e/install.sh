#!/bin/sh
# What is installed works from another folder: the examples are compiled against it by pkg-config alone, fly the cubesat
# with the same bits in C, C++ and Python, and the solver gives what `orrery eval` gives. Uninstalling leaves nothing.
. tests/support/script.sh
command -v pkg-config >/dev/null && command -v cc >/dev/null || exit 77
build=$(dirname "$ORRERY")
version=$("$ORRERY" --version | sed -n 's/^orrery //p')
tools/install "$build" "$version" "$dir/usr" || fail "tools/install: $?"
top=$PWD
find "$dir/usr" | sort >"$dir/list"
[ "$(wc -l <"$dir/list")" -ge 150 ] || fail "few files are installed: $(cat "$dir/list")"
# a tree may be /orrery, as the topics of logs are, and what is installed may stand in /usr/share/orrery: so a folder of
# it, and no part of a longer path
tree="(^|[^[:alnum:]._/-])$(printf %s "$top" | sed 's/[^[:alnum:]/_-]/\\&/g')"
grep -rlE "$tree(/|\$)" "$dir/usr/lib/pkgconfig" && fail "what is installed names the tree that it comes from"
grep -rlE "$tree/(build|configs|core|examples|io|rt|tests|tools)" "$dir/usr/share" && fail "what is installed names the tree that it comes from"

# below DESTDIR stand the same files, which name the folder where they will run
tools/install "$build" "$version" /opt/orrery "$dir/root" || fail "tools/install below DESTDIR: $?"
(cd "$dir/root/opt/orrery" && find . -type f | sort) >"$dir/below"
(cd "$dir/usr" && find . -type f | sort) | cmp - "$dir/below" || fail "below DESTDIR stand other files"
grep -qx 'prefix=/opt/orrery' "$dir/root/opt/orrery/lib/pkgconfig/orrery.pc" || fail "orrery.pc names another folder than PREFIX"

mkdir "$dir/away"
cd "$dir/away" || exit 1
# by the line that the installed READMEs give for such a prefix
unset PKG_CONFIG_PATH LD_LIBRARY_PATH PYTHONPATH
examples=$dir/usr/share/doc/orrery/examples
line=$(sed -n 's|^ *P=/opt/orrery; export |export |p' "$dir/usr/share/doc/orrery/README.md")
[ -n "$line" ] && [ "$line" = "$(sed -n 's|^ *P=/opt/orrery; export |export |p' "$examples/README.md")" ] ||
  fail "the READMEs do not say alike what to export: '$line'"
# shellcheck disable=SC2034 # the line names it
P=$dir/usr
eval "$line"
[ "$(command -v orrery)" = "$dir/usr/bin/orrery" ] || fail "PATH does not lead to what is installed"
warnings='-Wall -Wextra -Wpedantic -Werror'
compile() { "$@" 2>"$dir/err" || fail "$*: $(cat "$dir/err")"; }
[ "$(pkg-config --modversion orrery-client)" = "$version" ] || fail "orrery-client.pc has another version than $version"
# shellcheck disable=SC2046,SC2086
compile cc -std=c17 $warnings "$examples/peer.c" $(pkg-config --cflags --libs orrery-client) -o peer_c
compile cc -std=c17 $warnings "$examples/accelerations.c" $(pkg-config --static --cflags --libs orrery) -o accelerations
ldd ./peer_c | grep -q "$dir/usr/lib/liborrery-client.so.0" || fail "the peer does not use the shared library: $(ldd ./peer_c)"
peers=c
for compiler in c++ clang++; do
  command -v $compiler >/dev/null || continue
  compile $compiler -std=c++17 $warnings "$examples/peer.cpp" $(pkg-config --cflags --libs orrery-client) -o peer_cpp
  printf '#include "io/solver.h"\nint main() { return orr_solver_load("none.yaml", nullptr) != nullptr; }\n' >solver.cpp
  compile $compiler -std=c++17 $warnings solver.cpp $(pkg-config --static --cflags --libs orrery) -o solver_cpp
  ./solver_cpp || fail "the solver from C++ reads what is not there"
  peers="c cpp"
done

# the cubesat, flown in lockstep by each; without the controller that is linked in, which would want a certain telemetry
orrery=$dir/usr/bin/orrery
sed "s|name: /orrery.fsw|name: $name|" "$dir/usr/share/orrery/configs/cubesat.yaml" >cubesat.yaml
fly() { # PEER...
  "$@" "shm:$name" 2>"$dir/peer" &
  peer=$!
  "$orrery" run cubesat.yaml --mode lockstep --duration 10s --no-log >"$dir/out" 2>&1 || fail "$*: $(cat "$dir/out" "$dir/peer")"
  wait $peer || fail "$*: $(cat "$dir/peer")"
  grep -q '100 frames out, 99 commands applied, 0 of them late, 0 missed' "$dir/out" || fail "$*: $(cat "$dir/out")"
  sed -n 's/^state_hash *//p' "$dir/out"
}
first=
for peer in $peers; do
  hash=$(fly "./peer_$peer")
  [ -n "$hash" ] && [ "${first:=$hash}" = "$hash" ] || fail "peer_$peer flies to $hash, the first to $first"
done
if command -v python3 >/dev/null; then
  hash=$(fly python3 -B "$examples/peer.py")
  [ "$hash" = "$first" ] || fail "peer.py flies to $hash, the others to $first"
fi

# The solver: what `orrery eval` says of the same state.
wings=$dir/usr/share/orrery/configs/wings.yaml
./accelerations "$wings" wing_left >"$dir/embedded" 2>&1 || fail "accelerations: $(cat "$dir/embedded")"
if command -v python3 >/dev/null; then
  python3 - "$orrery" "$wings" "$dir/embedded" <<'PYTHON' || fail "the embedded solver and orrery eval differ"
import json, subprocess, sys
orrery, wings, embedded = sys.argv[1:]
modes = json.loads(subprocess.check_output([orrery, "check", "--json", wings]))[0]["spacecraft"]["bodies"]
wing = modes["wing_left"] if isinstance(modes, dict) else next(b for b in modes if b["name"] == "wing_left")
case = {"state": {"wing_left": {"eta": [0.01] * wing["modes"]}}}
for key in ("speed", "rate"):
    case["state"]["wing_left"].pop(key, None)
    trial = json.loads(json.dumps(case))
    trial["state"]["wing_left"][key] = 0.1
    open("case.json", "w").write(json.dumps(trial))
    done = subprocess.run([orrery, "eval", wings, "case.json"], capture_output=True, text=True)
    if done.returncode == 0:
        break
else: # a fixed hinge has no speed
    open("case.json", "w").write(json.dumps(case))
    done = subprocess.run([orrery, "eval", wings, "case.json"], capture_output=True, text=True, check=True)
wanted = []
for body in json.loads(done.stdout)["bodies"].values():
    wanted += body.get("eta_acceleration", []) + body.get("acceleration", [])
got = [float(line) for line in open(embedded)]
assert len(got) == len(wanted) and any(got), (len(got), len(wanted))
worst = max(abs(a - b) for a, b in zip(got, wanted)) / max(map(abs, wanted))
assert worst < 1e-13, worst
PYTHON
fi
told=$(sed -n 's/.* && \.\/accelerations wings.yaml \([a-z_]*\)$/\1/p' "$examples/accelerations.c") # as its comment says
[ -n "$told" ] && ./accelerations "$wings" "$told" >/dev/null || fail "accelerations does not fly as its comment says: '$told'"
./accelerations "$wings" nobody 2>"$dir/err" && fail "accelerations finds a body that is not there"
grep -q "has no body 'nobody'" "$dir/err" || fail "accelerations does not name the body that is not there: $(cat "$dir/err")"
printf 'orrery: 1\nspacecraft: {bodies: {a: {}}}\n' >wrong.yaml
./accelerations wrong.yaml a 2>"$dir/err" && fail "accelerations takes a wrong file"
grep -q 'wrong.yaml:2' "$dir/err" || fail "accelerations does not say what is wrong with a file: $(cat "$dir/err")"

# the documents: every link leads to a file that is installed; the program of the README is
# compiled by its line, and flies
find "$dir/usr/share" -name '*.md' | while read -r page; do
  grep -o '](\([^)#]*\)[^)]*)' "$page" | sed 's/^](//; s/[)#].*//' | grep -v '^https*:' | while read -r target; do
    [ -z "$target" ] || [ -e "$(dirname "$page")/$target" ] || echo "${page#"$dir"}: $target"
  done
done >"$dir/dead"
[ ! -s "$dir/dead" ] || fail "links that lead nowhere: $(cat "$dir/dead")"
readme=$dir/usr/share/doc/orrery/README.md
[ "$(grep -c '](' "$readme")" -ge 7 ] || fail "the README leads nowhere"
grep -n 'build/orrery run\|make run\|-I\. ' "$readme" && fail "the README is that of the source tree"
awk '/^```$/ { on = 0 } on { print } $0 == "```c" { on = 1 }' "$readme" | sed 's/FUTEX, 1000)/FUTEX, 60000)/' >yours.c
line=$(sed -n 's/^    \(cc yours.c .*\)$/\1/p' "$readme")
[ -n "$line" ] && eval "$line" || fail "the README's program is not compiled by its line: $line"
[ -n "$(fly ./yours)" ] || fail "the README's program does not fly"
"$dir/usr/bin/orrery-fsw" --help | grep -q orrery-fsw || fail "the sample flight software does not say its name where it is installed"

# manual pages: each command and topic has one, and man lays them out without a warning
for page in orrery orrery-fsw $("$orrery" --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/orrery-\1/p; /^topics/,/^$/s/^  \([a-z-]*\) .*/orrery-\1/p'); do
  [ -s "$dir/usr/share/man/man1/$page.1" ] || fail "no manual page of $page"
  if command -v man >/dev/null; then
    man --warnings -l "$dir/usr/share/man/man1/$page.1" >"$dir/text" 2>"$dir/err" || fail "man $page: $(cat "$dir/err")"
    [ ! -s "$dir/err" ] || fail "man $page: $(cat "$dir/err")"
  fi
done

# completion offers what the command has
if command -v bash >/dev/null; then
  offered() { PATH=$dir/usr/bin:$PATH bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _orrery; echo "${COMPREPLY[*]}"' - \
    "$dir/usr/share/bash-completion/completions/orrery" "$@"; }
  [ "$(offered orrery che)" = check ] || fail "completion of 'che': $(offered orrery che)"
  [ "$(offered orrery help devices rate_)" = rate_gyro ] || fail "completion of a kind: $(offered orrery help devices rate_)"
  case $(offered orrery run --du) in --duration*) ;; *) fail "completion of an option: $(offered orrery run --du)" ;; esac
  case " $(offered orrery help '') " in *' run '*' units '*) ;; *) fail "completion of help: $(offered orrery help '')" ;; esac
fi
if command -v zsh >/dev/null; then
  zsh -n "$dir/usr/share/zsh/vendor-completions/_orrery" || fail "zsh cannot read its completion"
fi

cd "$top" || exit 1
tools/install --remove "$build" "$version" "$dir/usr" || fail "uninstall: $?"
left=$(find "$dir/usr" ! -type d)
[ -z "$left" ] || fail "uninstalling leaves $left"
find "$dir/usr" -name 'orrery*' | grep . && fail "uninstalling leaves folders of its own"
exit 0
