# Guest of one processor whose time is its count of instructions: `orrery bench --rt` as on a
# machine, 20 pairs of slices.
orrery bench --rt --core 0 --slices 20 --slice-seconds "$SLICE_SECONDS" --rounds 0 2>/tmp/err || {
  cat /tmp/err
  exit 1
}
exit 0
