#!/bin/sh
# A minute in real time at 1 kHz and at 5 kHz with configs/reference.yaml: no page fault, no voluntary switch beyond the
# sleep of each frame, by the kernel's counters; prints the frame split by stage, the table of rt/README.md. Then
# the same in tests/timing/rt/executive_proofs.c, which counts allocations too. With SECONDS_EACH=N another length.
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
status=0
for step in 1ms 200us; do
  "$ORRERY" run configs/reference.yaml --mode realtime --step "$step" --duration "${SECONDS_EACH:-60}s" --set links={} --json \
    >"$dir/json" 2>"$dir/err" || {
    cat "$dir/err"
    echo "FAIL: the run with a step of $step"
    exit 1
  }
  cat "$dir/err"
  python3 - "$dir/json" "$step" <<'P' || status=1
import json, sys
j = json.load(open(sys.argv[1]))
t, c = j["timing"], j["timing"]["counts"]
print(f"step {sys.argv[2]}: {c['frames']} frames on core {t['core']}, SCHED_FIFO {t['priority']}, "
      f"phase {t['phase_ns'] / 1e3:g} us, spin {t['margin_ns'] / 1e3:.3g} us, "
      f"{'PREEMPT_RT' if j['environment']['kernel']['preempt_rt'] else 'not PREEMPT_RT'}, "
      f"stolen {100 * j['environment']['clock']['steal']:.2g} %")
print("| us | p50 | p99 | p99.9 | max |\n| --- | --- | --- | --- | --- |")
for name in ("start", "wake-up", "publish", "latch", "integrate", "sensors"):
    h = t["histograms"].get(name)
    if h:
        print(f"| {name} | " + " | ".join(f"{h[k] / 1e3:.3g}" for k in ("p50_ns", "p99_ns", "p99.9_ns", "max_ns")) + " |")
print("overruns: own {own}, the machine's {machine}, following {following}".format(**j["overruns"]),
      f"({', '.join(f'{k} {v}' for k, v in c['late_by_cause'].items() if v) or 'none late'}); {c['skipped_periods']} periods skipped")
print(f"page faults {c['minor_faults'] + c['major_faults']}, voluntary switches {c['voluntary_switches']} beyond {c['sleeps']} sleeps, "
      f"involuntary {c['involuntary_switches']}; state_hash {j['state_hash']}\n")
wrong = []
if any(l["what"] == "memory is not locked" for l in j["lacks"]):
    print("without locked memory nobody can promise: faults are not judged")
elif c["minor_faults"] + c["major_faults"]:
    wrong.append("page faults")
if c["voluntary_switches"] or c["sleeps"] > c["frames"]:
    wrong.append("switches beyond one a frame")
if wrong:
    print("FAIL: " + ", ".join(wrong))
sys.exit(1 if wrong else 0)
P
done
PROOF_SECONDS=${SECONDS_EACH:-60} "$(dirname "$ORRERY")/tests/timing/rt/executive_proofs" >"$dir/out" 2>&1 || {
  cat "$dir/out"
  status=1
}
grep -c '^\[       OK \] seconds_of' "$dir/out" | sed 's/$/ of 2 runs without an allocation/'
exit $status
