# Completion of the orrery command for bash. What it offers it asks the command itself for, so it never lags behind.
_orrery() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} all
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    all="$(orrery --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p') help --help --version"
  elif [ "$command" = help ] && [ "$COMP_CWORD" -eq 2 ]; then
    all=$(orrery --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p; /^topics/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
  elif [ "$command" = help ] && [ "$COMP_CWORD" -eq 3 ]; then
    case ${COMP_WORDS[2]} in
    devices) all="$(orrery help devices | sed -n '/^Actuators/,$s/^  \([a-z][a-z_]*\) .*/\1/p') --example --markdown" ;;
    run-file) all="$(orrery help run-file | sed -n '/SECTION$/,$s/^  \([a-z][a-z_.]*\) .*/\1/p') --example --markdown" ;;
    esac
  elif [ "${word#-}" != "$word" ]; then
    all=$(orrery help "$command" 2>/dev/null | grep -oE '(^|[[ |])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u)
  fi
  if [ -n "$all" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$all" -- "$word")
  else
    compopt -o default 2>/dev/null # files
  fi
}
complete -F _orrery orrery
