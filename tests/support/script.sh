# What scripts of tests/e2e and tests/soak share: the first thing they source, from the top of the tree.
#   $ORRERY        the command under test; what `make` built, where nobody says another
#   $dir           a folder of the script's own, gone when it ends; so is every process that it left in the background
#   $name, $port   shared memory and UDP ports that no other script uses
#   $fsw           the sample flight software beside $ORRERY
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
dir=$(mktemp -d) || exit 1
name=/orrery.$(basename "$0" .sh).$$

# Sixteen ports from $port on, below those that the kernel gives out; a lock keeps others off them while this script or a child of it lives.
claim_ports() {
  for k in $(seq 750); do
    port=$((20000 + ($$ + k) % 750 * 16))
    { exec 8>>"/tmp/orrery.test.ports.$port"; } 2>/dev/null && flock -n 8 && return
  done
  return 1
}
fsw=$(dirname "$ORRERY")/fsw

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
  esac
}
over() { # TRANSPORT RUN.yaml: the run file with its link there
  case $1 in
  shm) sed "s|transport: shm, name: [^,]*|transport: shm, name: $name|" "$2" ;;
  udp) sed "s|transport: shm, name: [^,]*|transport: udp, listen: '127.0.0.1:$port', allow: [127.0.0.1]|" "$2" ;;
  esac
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
