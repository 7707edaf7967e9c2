# What scripts of tests/e2e and tests/soak share: the first thing they source, from the top of the tree.
#   $ORRERY        the command under test; what `make` built, where nobody says another
#   $dir           a folder of the script's own, gone when it ends; so is every process that it left in the background
#   $name, $port   shared memory and UDP ports that no other script uses
#   $fsw           the sample flight software beside $ORRERY
set -u
export "ORRERY=$(readlink -f "${ORRERY:-build/release/orrery}")" # build/orrery is a link, and fsw lies beside what it leads to
dir=$(mktemp -d) || exit 1
name=/orrery.$(basename "$0" .sh).$$

# Sixteen ports from $port on, below those that the kernel gives out; a lock keeps others off them while this
# script or a child of it lives.
claim_ports() {
  for k in $(seq 750); do
    port=$((20000 + ($$ + k) % 750 * 16))
    { exec 8>>"/tmp/orrery.test.ports.$port"; } 2>/dev/null && flock -n 8 && return
  done
  return 1
}
fsw=$(dirname "$ORRERY")/fsw
# python3 itself, where a script that looks for it (pyenv) stands in its place: that costs more than what most calls do
case $(head -c 2 "$(command -v python3)" 2>/dev/null) in
'#!') PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH ;;
esac

cleanup() {
  jobs -p >"$dir/jobs" # not in $(…), which is a shell without jobs
  jobs=$(cat "$dir/jobs")
  # shellcheck disable=SC2086
  [ -z "$jobs" ] || {
    kill -TERM $jobs # what they did to the machine they take back
    kill -CONT $jobs
    sleep 0.3
    kill -KILL $jobs
  } 2>/dev/null
  rm -rf "$dir" "/dev/shm$name" "/dev/shm$name".*
}
trap cleanup EXIT
export "ORRERY_LOGS=$dir/logs" # of runs that log by themselves
export "ORRERY_CTL=$dir/ctl"   # where runs take commands

claim_ports || exit 1

fail() { # WORDS: of what is not so
  echo "FAIL: $*"
  exit 1
}
incomplete() { # COMMAND...: it is neither passed nor failed
  "$@"
  [ $? -eq 3 ]
}
hash_of() { sed -n 's/^state_hash *//p' "$@"; } # [SUMMARY]

url_of() { # TRANSPORT: where flight software finds the run
  case $1 in
  shm) echo "shm:$name" ;;
  udp) echo "udp:127.0.0.1:$port" ;;
  tcp) echo "tcp:127.0.0.1:$port" ;;
  unix) echo "unix:$dir/link.sock" ;;
  stream) echo "unix:$dir/link.sock,slip" ;;
  serial) echo "serial:$dir/cable.b@115200" ;;
  esac
}
over() { # TRANSPORT RUN.yaml: the run file with its link there; for `serial` start_cable comes first
  lines="s|wait: 10 s|wait: 60 s|; s|transport: shm, name: [^,]*|transport" # on a busy machine python takes its time
  case $1 in
  tcp) sed "$lines: tcp, listen: '127.0.0.1:$port'|" "$2" ;;
  unix) sed "$lines: unix, path: $dir/link.sock|" "$2" ;;
  stream) sed "$lines: unix, path: $dir/link.sock, socket: stream, framing: slip|" "$2" ;;
  serial) sed "$lines: serial, device: $dir/cable.a|" "$2" ;;
  shm) sed "$lines: shm, name: $name|" "$2" ;;
  udp) sed "$lines: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]|" "$2" ;;
  esac
}

start_cable() { # [--break SEED COUNT]: a serial cable, $dir/cable.a to $dir/cable.b
  [ -p "$dir/hold" ] || mkfifo "$dir/hold"
  python3 tests/support/wire.py "$dir/cable.a" "$dir/cable.b" "$@" <"$dir/hold" >"$dir/cable" &
  exec 7>"$dir/hold" # it ends with this script
  for _ in $(seq 300); do
    grep -q up "$dir/cable" && return
    sleep 0.05
  done
  fail "no cable"
}

await() { # COMMAND...: half a minute for it to succeed
  for _ in $(seq 300); do
    "$@" && return
    sleep 0.1
  done
  return 1
}
flies() { # PID: a run in real time is past its first frame; what `orrery top` says of it is in $dir/top
  "$ORRERY" top --once "$1" >"$dir/top" 2>/dev/null && grep -q '^integrate ' "$dir/top"
}
flown_to() { # PID FRAME: a run, in any mode, is at that frame or past it; `frame` says at which
  frame=$("$ORRERY" ctl --json "$1" status 2>/dev/null | sed -n 's/.*"frame": *\([0-9]*\).*/\1/p')
  [ "${frame:-0}" -ge "$2" ]
}
npm_install() { # PACKAGE...: into $dir, or this script is skipped
  command -v node >/dev/null && command -v npm >/dev/null || {
    echo "skipped: nodejs and npm are not installed"
    exit 77
  }
  # npm, too, may hang once it is done (nodejs/node issue 54918): what counts is what is there
  (cd "$dir" && timeout 300 npm install --no-audit --no-fund --ignore-scripts --no-package-lock "$@" >npm.log 2>&1)
  for package in "$@"; do
    [ -d "$dir/node_modules/$package" ] || {
      echo "skipped: npm cannot fetch $package"
      tail -n 3 "$dir/npm.log"
      exit 77
    }
  done
}
