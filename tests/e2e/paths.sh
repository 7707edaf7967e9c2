#!/bin/sh
# Files whose names have spaces, letters beyond ASCII, what means something to a shell, to XML or to C, bytes that
# are no letters at all, or are long: they are read and written, and what is said of them is still JSON, SVG, C and
# Python with nothing left out.
. tests/support/script.sh
command -v python3 >/dev/null || exit 77
python3 - "$dir" <<'P' >"$dir/names" || exit 1
import os, sys
for name in (b"two words & <more>", "schön".encode(), b"x" * 60 + "äöü".encode(), b'quote"\\N', b"end*", b"lat\xe9n", b"$HOME;ls"):
    os.mkdir(os.path.join(sys.argv[1].encode(), name))
    sys.stdout.buffer.write(name + b"\n")
P
while IFS= read -r folder; do
  run=$folder/run.yaml
  cp configs/cubesat.yaml "$dir/$run"
  cd "$dir" || exit 1
  "$ORRERY" run "$run" --mode batch --duration 1s --csv "$folder/a.csv" --plot "$folder/a.svg" --save-state "$folder/state" --json >batch 2>err || fail "$folder: $(cat err)"
  "$ORRERY" run "$run" --mode batch --duration 1s --from-state "$folder/state" >out 2>err || fail "$folder, from its state: $(cat err)"
  incomplete "$ORRERY" run "$run" --mode realtime --duration 0.1s --set links.fsw.wait=0s --set realtime.spin=0s --set realtime.phase=0s --json \
    --set links.fsw.name="$name" >real 2>err || fail "$folder, real time: $(cat err)"
  "$ORRERY" check "$run" "$folder/none.yaml" --json >check 2>err
  for format in markdown c python json; do
    "$ORRERY" icd "$run" --format $format >icd.$format || fail "$folder: icd --format $format"
  done
  "${CC:-cc}" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc icd.c || fail "$folder: the header does not compile"
  python3 - "$run" <<'P' || fail "$folder: what is written of it: $(head -n 1 icd.python)"
import json, os, sys, xml.dom.minidom
clean = os.fsencode(sys.argv[1]).decode(errors="replace").replace("\ufffd", "?")
batch, real, check, icd = (json.load(open(n)) for n in ("batch", "real", "check", "icd.json"))
assert batch["run"] == real["run"] == icd["run"] == check[0]["file"] == clean, (batch.get("run"), clean)
assert real["timing"]["counts"]["frames"] == 10 and clean.startswith(real["timing"]["name"]), real["timing"]["name"]
assert len(real["timing"]["name"].encode()) >= min(len(clean.encode()), 60)
assert check[0]["ok"] and not check[1]["ok"] and check[1]["messages"][0]["message"], check[1]["messages"]
folder = os.path.dirname(os.fsencode(sys.argv[1]))
svg = xml.dom.minidom.parse(os.fsdecode(os.path.join(folder, b"a.svg")))
assert any(t.firstChild.data == clean for t in svg.getElementsByTagName("text"))
assert os.path.getsize(os.path.join(folder, b"a.csv")) > 1000
compile(open("icd.python", "rb").read(), "icd", "exec", dont_inherit=True)
open("icd.markdown").read()
P
  cd - >/dev/null || exit 1
done <"$dir/names"
exit 0
