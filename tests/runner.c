/* Runs test programs and merges their results.
 *
 *   runner [-j N] [-t SECONDS] [NAME=VALUE] PROGRAM... [-j N] [-t SECONDS] PROGRAM...
 *
 * An option or a NAME=VALUE (environment) holds for the programs after it; a -j waits until all before it are done, so
 * `-j 1` leaves the machine to the tests that measure time. A program that prints a TAP plan (CMocka is told to) counts
 * test by test; any other counts as one: exit 0 passed, 77 skipped, else failed. On top of what its lines say, a
 * program fails once more for a signal, a time-out, a plan that does not match, or a bad exit status without a failed
 * test. The output of a program that fails is shown. Beside the time that a program took stands what it and the
 * children that it waited for computed. The closing line is `N passed, N failed, N skipped`; below it what failed is
 * named once more, a line each. Exit 0 if none failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 64, EXIT_SKIP = 77, EXIT_CANNOT_RUN = 127 };

struct counts {
  unsigned passed, failed, skipped;
};

struct job {
  const char *program;
  pid_t pid; /* 0: this place is free */
  FILE *output;
  double started_s, deadline_s;
  bool timed_out;
};

struct runner {
  struct job jobs[MAX_JOBS];
  unsigned places, running;
  double timeout_s;
  struct counts total;
  FILE *failures; /* a line for each, to be said at the end */
  char *said;
  size_t said_bytes;
  sigset_t signals;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what) {
  perror(what);
  exit(2);
}

/* In the child: its own process group, so that a time-out reaches its children too. */
static void become(const char *program, int output) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setpgid(0, 0);
  int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execl(program, program, (char *)NULL);
  fprintf(stderr, "%s: %s\n", program, strerror(errno));
  _exit(EXIT_CANNOT_RUN);
}

static void start(struct runner *r, const char *program) {
  struct job *j = r->jobs;
  while (j->pid)
    j++;
  FILE *output = tmpfile();
  if (!output)
    die("runner: temporary file");
  fcntl(fileno(output), F_SETFD, FD_CLOEXEC);
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0)
    die("runner: fork");
  if (pid == 0)
    become(program, fileno(output));
  setpgid(pid, pid);
  double t = now_s();
  *j = (struct job){.program = program, .pid = pid, .output = output, .started_s = t, .deadline_s = t + r->timeout_s};
  r->running++;
}

/* What the TAP lines of one program say. CMocka writes a skip as `not ok 3 # SKIP name`. */
struct tap {
  struct counts counts;
  unsigned plans, planned;
};

static void tap_line(struct tap *t, const char *line) {
  unsigned n;
  char end;
  if (sscanf(line, "1..%u%c", &n, &end) == 2 && end == '\n') {
    t->plans++;
    t->planned += n;
    return;
  }
  bool good = strncmp(line, "ok ", 3) == 0;
  if (!good && strncmp(line, "not ok ", 7) != 0)
    return;
  if (strstr(line, "# SKIP")) {
    t->counts.skipped++;
    printf("      %s", line);
  } else if (good)
    t->counts.passed++;
  else
    t->counts.failed++;
}

static struct tap read_tap(FILE *output) {
  struct tap t = {0};
  char *line = NULL;
  size_t room = 0;
  rewind(output);
  while (getline(&line, &room, output) > 0)
    tap_line(&t, line);
  free(line);
  return t;
}

/* Adds the failures that a program's own lines do not own up to; says in `why` what they were. */
static struct counts judge(const struct job *j, const struct tap *t, int status, char why[], size_t size) {
  struct counts c = t->plans ? t->counts : (struct counts){0};
  unsigned ran = c.passed + c.failed + c.skipped;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  why[0] = '\0';
  if (j->timed_out)
    snprintf(why, size, "timed out after %.0f s", j->deadline_s - j->started_s);
  else if (WIFSIGNALED(status))
    snprintf(why, size, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (t->plans && ran != t->planned)
    snprintf(why, size, "%u tests planned, %u reported", t->planned, ran);
  else if (t->plans && ran == 0 && code != EXIT_SKIP)
    snprintf(why, size, "ran no test");
  else if (code != 0 && code != EXIT_SKIP && c.failed == 0)
    snprintf(why, size, "exit status %d", code);
  if (why[0])
    c.failed++;
  else if (ran == 0 && code == EXIT_SKIP)
    c.skipped++;
  else if (!t->plans)
    c.passed++;
  return c;
}

static void show_output(FILE *output) {
  char *line = NULL;
  size_t room = 0;
  rewind(output);
  while (getline(&line, &room, output) > 0)
    printf("    | %s%s", line, line[strlen(line) - 1] == '\n' ? "" : "\n");
  free(line);
}

/* A line for each test that failed, and one for what the program's own lines do not own up to. */
static void note_failures(FILE *failures, const struct job *j, bool plan, const char *why) {
  char *line = NULL;
  size_t room = 0;
  rewind(j->output);
  while (plan && getline(&line, &room, j->output) > 0)
    if (strncmp(line, "not ok ", 7) == 0 && !strstr(line, "# SKIP")) {
      const char *name = strstr(line, " - ");
      fprintf(failures, "FAIL  %s: %.*s\n", j->program, (int)strcspn(name ? name + 3 : line, "\n"),
              name ? name + 3 : line);
    }
  free(line);
  if (why[0])
    fprintf(failures, "FAIL  %s: %s\n", j->program, why);
}

static double processor_s(const struct rusage *u) {
  return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static void finish(struct runner *r, struct job *j, int status, const struct rusage *used) {
  char why[128];
  kill(-j->pid, SIGKILL); /* whatever it left behind */
  struct tap t = read_tap(j->output);
  struct counts c = judge(j, &t, status, why, sizeof why);
  printf("%s  %s: %u passed, %u failed, %u skipped, %.1f s (%.1f s computing)%s%s\n",
         c.failed   ? "FAIL"
         : c.passed ? "ok  "
                    : "skip",
         j->program, c.passed, c.failed, c.skipped, now_s() - j->started_s, processor_s(used), why[0] ? ": " : "", why);
  if (c.failed) {
    show_output(j->output);
    note_failures(r->failures, j, t.plans > 0, why);
  }
  fflush(stdout);
  fclose(j->output);
  r->total.passed += c.passed;
  r->total.failed += c.failed;
  r->total.skipped += c.skipped;
  r->running--;
  j->pid = 0;
}

static void reap(struct runner *r) {
  int status;
  pid_t pid;
  struct rusage used;
  while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
    for (struct job *j = r->jobs; j < r->jobs + MAX_JOBS; j++)
      if (j->pid == pid)
        finish(r, j, status, &used);
}

static void kill_late(struct runner *r, bool all) {
  for (struct job *j = r->jobs; j < r->jobs + MAX_JOBS; j++)
    if (j->pid && !j->timed_out && (all || now_s() > j->deadline_s)) {
      j->timed_out = true;
      kill(-j->pid, SIGKILL);
    }
}

/* Waits until at most `most` programs are running. */
static void wait_for(struct runner *r, unsigned most) {
  while (r->running > most) {
    int s = sigtimedwait(&r->signals, NULL, &(struct timespec){.tv_nsec = 100000000});
    if (s == SIGINT || s == SIGTERM || s == SIGHUP) {
      kill_late(r, true);
      fputs("runner: interrupted\n", stderr);
      exit(2);
    }
    reap(r);
    kill_late(r, false);
  }
}

static double option_value(const char *option, const char *text, double most) {
  char *end = NULL;
  double v = text ? strtod(text, &end) : 0;
  if (!text || *end || !(v > 0 && v <= most)) {
    fprintf(stderr, "runner: %s takes a number up to %.0f\n", option, most);
    exit(2);
  }
  return v;
}

static bool is_assignment(const char *word) {
  size_t n = strcspn(word, "=/");
  return n > 0 && word[n] == '=';
}

int main(int argc, char **argv) {
  static struct runner r = {.places = 1, .timeout_s = 300};
  r.failures = open_memstream(&r.said, &r.said_bytes);
  if (!r.failures)
    die("runner: memory");
  sigemptyset(&r.signals);
  for (const int *s = (const int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP, 0}; *s; s++)
    sigaddset(&r.signals, *s);
  sigprocmask(SIG_BLOCK, &r.signals, NULL);
  setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-j") == 0) {
      r.places = (unsigned)option_value("-j", argv[++i], MAX_JOBS);
      wait_for(&r, 0);
    } else if (strcmp(argv[i], "-t") == 0) {
      r.timeout_s = option_value("-t", argv[++i], 1e6);
    } else if (argv[i][0] == '-') {
      fprintf(stderr, "runner: unknown option %s\n", argv[i]);
      return 2;
    } else if (is_assignment(argv[i])) {
      putenv(argv[i]);
    } else {
      wait_for(&r, r.places - 1);
      start(&r, argv[i]);
    }
  }
  wait_for(&r, 0);
  if (r.total.passed + r.total.failed + r.total.skipped == 0)
    fputs("runner: no test was run\n", stderr);
  fclose(r.failures);
  printf("%u passed, %u failed, %u skipped\n%s", r.total.passed, r.total.failed, r.total.skipped, r.said);
  free(r.said);
  return r.total.failed || r.total.passed + r.total.skipped == 0;
}
