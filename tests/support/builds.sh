# What a build for another compiler or processor is held to: sourced after script.sh by
# tests/all/same_bits.sh and aarch64.sh.

# record FOLDER ORRERY FSW: logs of every run of configs with every number of every channel, and of a flight in lockstep
# and one in real time with flight software outside
record() {
  mkdir -p "$1"
  for run in configs/*.yaml; do
    grep -q '^simulation:' "$run" || continue
    ship=$(basename "$run" .yaml) orrery=$2 folder=$1 pilot=$3
    case $ship in # as much as an emulator replays in seconds
    cassini-slew | chain-drive | chain-slew | reference) set -- --duration 1s ;;
    deployment) set -- --duration 12s ;;
    orbit) set -- --duration 2000s ;;
    detumble | vn100) set -- --set 'links={}' ;; # their flight software is outside
    geostationary) set -- --set 'links={}' --duration 100s ;;
    *) set -- ;;
    esac
    "$orrery" run "$run" --mode batch --set 'expect=[]' --set 'record={channels: ["*"]}' --log "$folder/$ship.mcap" "$@" >"$dir/said" 2>&1 || [ $? -eq 3 ] || fail "$orrery run $run: $(tail -n 5 "$dir/said")"
    set -- "$folder" "$orrery" "$pilot"
  done
  over shm configs/cubesat.yaml >"$dir/ship.yaml"
  for mode in lockstep realtime; do
    "$3" "$(url_of shm)" cubesat >"$dir/pilot" 2>&1 &
    peer=$!
    "$2" run "$dir/ship.yaml" --mode $mode --duration 2s --set 'expect=[]' --set 'record={channels: ["*"]}' --log "$1/$mode.mcap" --set realtime.priority=0 --set realtime.core=any >"$dir/said" 2>&1
    wait $peer
    [ -s "$1/$mode.mcap" ] || fail "$2, $mode: $(cat "$dir/said")"
  done
}

# replay FOLDER ORRERY: every log of that folder flies again, and every number is the same
replay() {
  for log in "$1"/*.mcap; do
    "$2" replay "$log" >"$dir/said" 2>&1 && grep -qx 'identical   bit for bit' "$dir/said" || fail "$2 replay $(basename "$log"): $(cat "$dir/said")"
  done
}
