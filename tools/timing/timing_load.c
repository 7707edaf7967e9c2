#include "tools/timing/timing_load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/machine/cpulist.h"

enum { WORDS_MAX = 64, CORES_TEXT = 4096 };

static bool is_installed(const char *program) {
  char path[512];
  const char *folder = getenv("PATH");
  while (folder && *folder) {
    int length = (int)strcspn(folder, ":");
    snprintf(path, sizeof path, "%.*s/%s", length, folder, program);
    if (access(path, X_OK) == 0)
      return true;
    folder += length + (folder[length] == ':');
  }
  return false;
}

bool orr_timing_load_is_stress(const struct orr_timing_case *c) {
  return c->load == ORR_TIMING_LOAD_STRESS_NG || (c->load == ORR_TIMING_LOAD_AUTO && is_installed("stress-ng"));
}

const char *orr_timing_load_text(const struct orr_timing_case *c, char *text, size_t size) {
  if (c->core_count == 0) {
    snprintf(text, size, "none");
    return text;
  }
  bool stress = orr_timing_load_is_stress(c);
  int used = snprintf(text, size, "%s%s%s, %lld on each of cores", stress ? "stress-ng" : "burner", stress ? " " : "",
                      stress ? c->stress : "", (long long)c->workers);
  for (size_t i = 0; i < c->core_count && used > 0 && (size_t)used < size; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%d", i ? ", " : " ", c->core[i]);
  return text;
}

/* Becomes stress-ng on that core; its words stand between blanks. */
static _Noreturn void stress(int core, const char *arguments, pid_t parent) {
  char number[16], *words[WORDS_MAX] = {(char[]){"stress-ng"}, (char[]){"--quiet"}, (char[]){"--taskset"}, number};
  char *copy = strdup(arguments), *rest = copy;
  size_t count = 4;
  snprintf(number, sizeof number, "%d", core);
  for (char *word; rest && (word = strtok_r(rest, " ", &rest)) != NULL && count < WORDS_MAX - 1;)
    words[count++] = word;
  words[count] = NULL;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) /* it has ended before that */
    _exit(1);
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  execvp(words[0], words);
  _exit(127);
}

static bool add_stress(struct orr_timing_loading *l, int core, const char *arguments) {
  pid_t parent = getpid(), child = l->count < ORR_BURNERS_MAX ? fork() : -1;
  if (child == 0)
    stress(core, arguments, parent);
  if (child > 0) {
    setpgid(child, child); /* whoever is first */
    l->pid[l->count++] = child;
  }
  return child > 0;
}

/* Where the kernel does not say which are online, a process that is put there finds out. */
static bool are_online(const struct orr_timing_case *c) {
  char text[CORES_TEXT] = "";
  cpu_set_t online;
  FILE *file = fopen("/sys/devices/system/cpu/online", "re");
  bool known = file && fgets(text, sizeof text, file) && orr_cpulist_parse(text, &online);
  if (file)
    fclose(file);
  for (size_t i = 0; i < c->core_count && known; i++)
    if (!CPU_ISSET((size_t)c->core[i], &online)) {
      fprintf(stderr, "%s: error: load.cores: core %d is not online; name some of %s\n", c->path, c->core[i],
              strtok(text, "\n"));
      return false;
    }
  return true;
}

bool orr_timing_load_start(const struct orr_timing_case *c, struct orr_timing_loading *l) {
  bool good = true, is_stress = orr_timing_load_is_stress(c);
  int core = 0;
  memset(l, 0, sizeof *l);
  if (!are_online(c))
    return false;
  if (c->core_count > 0 && is_stress && !is_installed("stress-ng")) {
    fprintf(stderr, "%s: error: stress-ng is not there: apt-get install stress-ng, or kind: burner\n", c->path);
    return false;
  }
  for (size_t i = 0; i < c->core_count && good; i++)
    for (int64_t k = 0; k < c->workers && good; k++) {
      core = c->core[i];
      good = is_stress ? add_stress(l, core, c->stress) : orr_burners_add(&l->burners, core);
    }
  if (good)
    return true;
  fprintf(stderr, "%s: error: no process for the load on core %d: %s\n", c->path, core, strerror(errno));
  orr_timing_load_end(l);
  return false;
}

/* It stays to be waited for. */
static bool has_ended(pid_t pid, siginfo_t *how) {
  how->si_pid = 0;
  return waitid(P_PID, (id_t)pid, how, WEXITED | WNOHANG | WNOWAIT) == 0 && how->si_pid == pid;
}

bool orr_timing_load_lasts(const struct orr_timing_case *c, const struct orr_timing_loading *l) {
  const bool is_stress = l->count > 0;
  const pid_t *pid = is_stress ? l->pid : l->burners.pid;
  siginfo_t how;
  for (size_t i = 0; i < (is_stress ? l->count : l->burners.count); i++) {
    if (!has_ended(pid[i], &how))
      continue;
    int core = c->core[i / (size_t)c->workers];
    fprintf(stderr,
            "%s: error: the load on core %d has ended by itself (%s %d): the slice that flew had not all of it\n",
            c->path, core, how.si_code == CLD_EXITED ? "exit status" : "signal", how.si_status);
    if (is_stress)
      fprintf(stderr, "  do: see what this says: stress-ng --taskset %d %s\n", core, c->stress);
    return false;
  }
  return true;
}

void orr_timing_load_end(struct orr_timing_loading *l) {
  orr_burners_end(&l->burners);
  for (size_t i = 0; i < l->count; i++) {
    kill(-l->pid[i], SIGTERM);
    while (waitpid(l->pid[i], NULL, 0) < 0 && errno == EINTR) {
    }
  }
  l->count = 0;
}
