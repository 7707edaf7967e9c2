# Guest of one processor whose time is its count of instructions: three spacecraft, idle and beside a busy process, each
# with its executive, io thread and flight software. The host judges the results.
. /rt-kernel/flights.sh
for spacecraft in reference cassini cubesat; do
  fly_$spacecraft idle ''
  fly_$spacecraft loaded 'load: {cores: [0], workers: 1, kind: burner}'
done
hand_over
exit 0
