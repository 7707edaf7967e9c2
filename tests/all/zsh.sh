#!/bin/sh
# Completion in zsh, asked for in a terminal of its own as a user would by the tabulator: commands, options,
# kinds, sections and files.
. tests/support/script.sh
command -v zsh >/dev/null || {
  echo "skipped: zsh is not installed"
  exit 77
}
mkdir "$dir/bin" "$dir/work"
ln -s "$ORRERY" "$dir/bin/orrery"
touch "$dir/work/ship.yaml"
zsh -n tools/completion/_orrery || fail "zsh cannot read the completion"
cat >"$dir/ask.zsh" <<'Z'
# ask.zsh FOLDER LINE: what the tabulator makes of the line, as the terminal shows it
zmodload zsh/zpty
zpty shell 'zsh -f -i'
await() { # WORD: what is shown up to it, five seconds at most
  local got all=
  integer n=0
  while (( n++ < 100 )); do
    if zpty -r -t shell got 2>/dev/null; then
      all+=$got
      [[ $all == *$1* ]] && break
    else
      sleep 0.05
    fi
  done
  print -r -- "$all"
}
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/.dump; compdef _orrery orrery; setopt no_beep; LISTMAX=0; PS1='re''ady>'"
await 'ready>' >/dev/null
zpty -w -n shell "$2"$'\t\t'
sleep 1
await 'nothing shows this'
Z
mkdir "$dir/fpath" && cp tools/completion/_orrery "$dir/fpath/" || exit 1
asked() { (cd "$dir/work" && PATH=$dir/bin:$PATH TERM=xterm zsh -f "$dir/ask.zsh" "$dir/fpath" "$1" 2>&1 | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' | tr -d '\r\b'); }
offers() { # LINE WORD...: the tabulator shows each word
  line=$1
  shift
  for try in 1 2 3; do # a busy machine may be late
    shown=$(asked "$line")
    all=yes
    for word in "$@"; do
      case $shown in *"$word"*) ;; *) all= ;; esac
    done
    [ -z "$all" ] || return 0
  done
  fail "the tabulator after '$line' does not show '$*': $shown"
}
offers 'orrery che' 'orrery check'
offers 'orrery ' check eval replay judge doctor schema
offers 'orrery run --pl' --plot --plot-channels
offers 'orrery help devices rate_' rate_gyro
offers 'orrery help run-file environment.' environment.gravity environment.magnetic_field
offers 'orrery check sh' ship.yaml
exit 0
