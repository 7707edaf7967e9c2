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

enum { WORDS_MAX = 64 };

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
static _Noreturn void stress(int core, const char *arguments) {
  char number[16], *words[WORDS_MAX] = {(char[]){"stress-ng"}, (char[]){"--quiet"}, (char[]){"--taskset"}, number};
  char *copy = strdup(arguments), *rest = copy;
  size_t count = 4;
  snprintf(number, sizeof number, "%d", core);
  for (char *word; rest && (word = strtok_r(rest, " ", &rest)) != NULL && count < WORDS_MAX - 1;)
    words[count++] = word;
  words[count] = NULL;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  execvp(words[0], words);
  _exit(127);
}

static bool add_stress(struct orr_timing_loading *l, int core, const char *arguments) {
  pid_t child = l->count < ORR_BURNERS_MAX ? fork() : -1;
  if (child == 0)
    stress(core, arguments);
  if (child > 0) {
    setpgid(child, child); /* whoever is first */
    l->pid[l->count++] = child;
  }
  return child > 0;
}

bool orr_timing_load_start(const struct orr_timing_case *c, struct orr_timing_loading *l) {
  bool good = true, is_stress = orr_timing_load_is_stress(c);
  memset(l, 0, sizeof *l);
  if (c->core_count > 0 && is_stress && !is_installed("stress-ng")) {
    fprintf(stderr, "%s: error: stress-ng is not there: apt-get install stress-ng, or kind: burner\n", c->path);
    return false;
  }
  for (size_t i = 0; i < c->core_count && good; i++)
    for (int64_t k = 0; k < c->workers && good; k++)
      good = is_stress ? add_stress(l, c->core[i], c->stress) : orr_burners_add(&l->burners, c->core[i]);
  if (good)
    return true;
  fprintf(stderr, "%s: error: no process for the load\n", c->path);
  orr_timing_load_end(l);
  return false;
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
