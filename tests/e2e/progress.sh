#!/bin/sh
# What takes more than two seconds tells how far it is, and the time left: `orrery bench` and `orrery doctor`, as batch
# runs do (screen.sh). On a terminal alone, and nothing of it is left between their lines.
. tests/support/script.sh
cat >"$dir/watch.py" <<'P'
import os, pty, re, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
all = b""
try:
    while part := os.read(fd, 4096):
        all += part
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = all.decode()
bars = [int(p) for p in re.findall(r"\r\[#*\.*\] +(\d+) %, \d+ (?:s|min) left\x1b\[K", text)]
assert len(bars) >= 2 and bars == sorted(bars) and 0 <= bars[0] < bars[-1] <= 100, (bars, text)
lines = []
for line in text.split("\r\n"):
    shown = ""
    for piece in line.split("\r"): # each begins at the left again
        kept = piece.replace("\x1b[K", "")
        assert "\x1b[K" not in piece or piece.startswith("\x1b[K") or piece.endswith("\x1b[K"), repr(piece)
        shown = kept if "\x1b[K" in piece else kept + shown[len(kept):]
    lines.append(shown)
assert not any(re.search(r"\] +\d+ %", l) for l in lines), lines
print("\n".join(lines))
sys.exit(status)
P
python3 "$dir/watch.py" "$ORRERY" bench --dynamics >"$dir/bench" || fail "bench on a terminal: $(cat "$dir/bench")"
[ "$(grep -c '^chain [0-9]* ' "$dir/bench")" -eq 8 ] || fail "the table on a terminal: $(cat "$dir/bench")"
[ "$(grep -c '^ *[0-9]* .* [0-9.]* .* [0-9.]*$' "$dir/bench")" -ge 16 ] || fail "the second table on a terminal: $(cat "$dir/bench")"
python3 "$dir/watch.py" "$ORRERY" doctor --seconds 4 --rate 100 --priority 0 >"$dir/doctor"
[ $? -le 1 ] || fail "doctor on a terminal: $(cat "$dir/doctor")"
grep -q '^wake-up latency on core' "$dir/doctor" || fail "doctor on a terminal: $(cat "$dir/doctor")"

# elsewhere nothing
"$ORRERY" doctor --seconds 2.5 --rate 100 --priority 0 >"$dir/out" 2>"$dir/err"
grep -q '%, ' "$dir/err" && fail "doctor draws where there is no terminal: $(cat "$dir/err")"
"$ORRERY" bench --links --quick --trips 100 --priority 0 >"$dir/out" 2>"$dir/err"
grep -q "$(printf '\r')" "$dir/err" && fail "bench draws where there is no terminal: $(cat "$dir/err")"
exit 0
