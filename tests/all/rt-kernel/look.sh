# What the guests' scripts look at: tasks, from the kernel's own files.

# each task: id, cores it may use, its group; not the kernel's threads for interrupts, which follow the interrupt
tasks() {
  grep -Hs -e '^Name:' -e '^Cpus_allowed_list:' -e '^0::' -e ':cpuset:' /proc/[0-9]*/task/[0-9]*/status /proc/[0-9]*/task/[0-9]*/cgroup |
    awk -F / '{
        what = $6; task = $5; line = $0
        sub(/^[a-z]*:/, "", what)
        if (what ~ /^Name:.irq$/) irq[task] = 1 # its name has a slash
        else if (what ~ /^Cpus/) { sub(/.*\t/, "", what); cores[task] = what }
        else if (what ~ /^[0-9]+:/) { sub(/.*cgroup:/, "", line); group[task] = group[task] " " line }
      }
      END { for (t in cores) if (!(t in irq)) print t, cores[t] group[t] }' | sort
}
# field of /proc/PID/task/TID/stat, counted as in proc(5)
field() { # TASK-FOLDER NUMBER
  sed 's/.*) //' "$1/stat" 2>/dev/null | cut -d ' ' -f $(($2 - 2))
}
rt_thread_of() { # PID
  for task in /proc/"$1"/task/*; do
    [ "$(field "$task" 40)" = 80 ] && [ "$(field "$task" 41)" = 1 ] && echo "${task##*/}"
  done
}
# those whom the kernel lets be bound (no PF_NO_SETAFFINITY) and who may use a core, but for one
# thread; and how many may not
on_core() { # CORE BUT-THREAD
  tasks | while read -r id cores _; do
    [ "$id" = "$2" ] && continue
    case $cores in *$1*) ;; *) echo off && continue ;; esac
    flags=$(field "/proc/$id" 9)
    [ -z "$flags" ] || [ $((flags & 0x04000000)) -ne 0 ] || echo "task $id ($(cat "/proc/$id/comm")) may use $cores"
  done
}
# what has changed of the tasks that are in both lists; the kernel's workers (PF_NO_SETAFFINITY)
# bind themselves as they like
changed() { # BEFORE AFTER
  awk 'NR == FNR { before[$1] = $0; next } ($1 in before) { n++; if (before[$1] != $0) print $1, "was", before[$1], "is", $0 }
    END { if (n < 20) print 0, "only", n, "tasks seen" }' "$1" "$2" | while read -r id what; do
    flags=$(field "/proc/$id" 9)
    [ -n "$flags" ] && [ $((flags & 0x04000000)) -ne 0 ] || echo "task $id: $what"
  done | grep .
}
