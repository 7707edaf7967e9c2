/* Every case under tests/vectors, run through `orrery eval` and compared with its expected result; prints TAP.
 *
 *   compare [NAME...]     all cases, or those named; the command is $ORRERY, the folder $ORR_VECTORS or tests/vectors
 *
 * A case listed in pending.txt is run too. It counts as skipped while the command refuses it (exit 1 or 2), and as
 * failed if the command crashes or answers, rightly or wrongly: what is not built is refused, and the list cannot
 * outlive its reasons.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/results.h"

enum { MOST_CASES = 512, MOST_ARGUMENTS = 64, PATH_SIZE = 512 };

static const struct orr_tolerance eval_tolerance = {.relative = 1e-9, .absolute = 1e-12};
/* rk4 at a step of 1 ms */
static const struct orr_tolerance trajectory_tolerance = {.relative = 1e-6, .absolute = 1e-12};

struct cases {
  size_t count;
  char *names[MOST_CASES]; /* relative to `folder` */
  size_t pending_count;
  char *pending[MOST_CASES];
  const char *folder;
  const char *orrery;
};

static void path(char out[PATH_SIZE], const struct cases *c, const char *name, const char *file) {
  snprintf(out, PATH_SIZE, "%s/%s/%s", c->folder, name, file);
}

static int is_visible(const struct dirent *d) { return d->d_name[0] != '.'; }

/* Folders below `folder`/`below`, in order of name, each a case; `trajectories` holds more of them, `hard` none
 * with expected numbers: tests/e2e/hard.sh judges those. */
static void find_cases(struct cases *c, const char *below) {
  char where[PATH_SIZE], name[PATH_SIZE];
  struct dirent **entries;
  path(where, c, below, ".");
  int n = scandir(where, &entries, is_visible, alphasort);
  for (int i = 0; i < n; i++) {
    snprintf(name, sizeof name, "%s%s%s", below, below[0] ? "/" : "", entries[i]->d_name);
    if (entries[i]->d_type == DT_DIR && strcmp(name, "trajectories") == 0)
      find_cases(c, name);
    else if (entries[i]->d_type == DT_DIR && c->count < MOST_CASES && strcmp(name, "hard") != 0)
      c->names[c->count++] = strdup(name);
    free(entries[i]);
  }
  if (n >= 0)
    free(entries);
}

/* One name a line; # starts a comment. */
static void read_pending(struct cases *c) {
  char where[PATH_SIZE], line[PATH_SIZE], name[PATH_SIZE];
  path(where, c, ".", "pending.txt");
  FILE *f = fopen(where, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "#")] = '\0';
    if (sscanf(line, "%511s", name) == 1 && c->pending_count < MOST_CASES)
      c->pending[c->pending_count++] = strdup(name);
  }
  if (f)
    fclose(f);
}

static bool contains(char *const list[], size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i], name) == 0)
      return true;
  return false;
}

/* `--trajectory` with the times of the expected result, or the words of args.json. */
static size_t arguments(char *argv[], const json_t *expected, const json_t *args) {
  static char times[PATH_SIZE];
  size_t n = 0, i, used = 0;
  json_t *x;
  const json_t *trajectory = json_object_get(expected, "trajectory");
  json_array_foreach(trajectory, i, x) used += (size_t)snprintf(
      times + used, sizeof times - used, "%s%.17g", used ? "," : "", json_number_value(json_object_get(x, "t")));
  if (trajectory) {
    argv[n++] = "--trajectory";
    argv[n++] = times;
    argv[n++] = "--step";
    argv[n++] = "1ms";
  }
  json_array_foreach(args, i, x) if (n < MOST_ARGUMENTS) argv[n++] = (char *)json_string_value(x);
  return n;
}

enum outcome { AGREES, DIFFERS, REFUSED, BROKEN };

/* Runs the command; its standard output as JSON, or NULL with what happened in `outcome` and `why`. */
static json_t *run(char *argv[], enum outcome *outcome, char why[], size_t size) {
  FILE *output = tmpfile();
  pid_t pid = output ? fork() : -1;
  if (pid == 0) {
    dup2(fileno(output), STDOUT_FILENO);
    execv(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
  }
  int status = -1;
  json_t *result = NULL;
  json_error_t error;
  *outcome = BROKEN;
  if (pid < 0 || waitpid(pid, &status, 0) < 0)
    snprintf(why, size, "cannot run %s: %s", argv[0], strerror(errno));
  else if (WIFSIGNALED(status))
    snprintf(why, size, "signal %d", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0) {
    snprintf(why, size, "exit status %d", WEXITSTATUS(status));
    *outcome = WEXITSTATUS(status) <= 2 ? REFUSED : BROKEN;
  } else {
    rewind(output);
    result = json_loadf(output, 0, &error);
    if (!result)
      snprintf(why, size, "line %d of the result: %.100s", error.line, error.text);
  }
  if (output)
    fclose(output);
  return result;
}

static json_t *load(const struct cases *c, const char *name, const char *file) {
  char where[PATH_SIZE];
  path(where, c, name, file);
  return json_load_file(where, 0, NULL);
}

/* Runs one way through a case and compares. */
static enum outcome run_way(char *argv[], const json_t *expected, char why[], size_t size) {
  enum outcome outcome = BROKEN;
  json_t *actual = run(argv, &outcome, why, size);
  if (!actual)
    return outcome;
  bool moves = json_object_get(expected, "trajectory") != NULL;
  struct orr_comparison r = orr_results_compare(expected, actual, moves ? trajectory_tolerance : eval_tolerance);
  snprintf(why, size, "%zu of %zu fields differ, worst %s: relative %.2e%s%s", r.failed, r.compared, r.worst_field,
           r.worst_relative, r.note[0] ? ", " : "", r.note);
  json_decref(actual);
  return orr_results_agree(&r) ? AGREES : DIFFERS;
}

/* Forward dynamics of a tree: there is a second way to its accelerations. */
static bool has_two_ways(const struct cases *c, const char *name, const json_t *expected, const json_t *args) {
  json_t *model = load(c, name, "model.json");
  const json_t *craft = json_object_get(model, "spacecraft");
  bool two = json_array_size(json_object_get(craft, "loops")) == 0 && !json_object_get(expected, "trajectory") && !args;
  json_decref(model);
  return two;
}

/* Runs one case and says in `why` how it went: by the articulated sweep, and by the mass matrix where that is a way
 * too. */
static enum outcome run_case(const struct cases *c, const char *name, char why[], size_t size) {
  char model[PATH_SIZE], state[PATH_SIZE], *way = "--method", *composite = "composite";
  char *argv[MOST_ARGUMENTS + 8] = {(char *)c->orrery, "eval", model, state};
  json_t *expected = load(c, name, "expected.json"), *args = load(c, name, "args.json");
  enum outcome outcome = BROKEN;
  path(model, c, name, "model.json");
  path(state, c, name, "case.json");
  argv[4 + arguments(argv + 4, expected, args)] = NULL;
  if (!expected)
    snprintf(why, size, "no readable expected.json");
  else
    outcome = run_way(argv, expected, why, size);
  if (outcome == AGREES && has_two_ways(c, name, expected, args)) {
    size_t used = strlen(why);
    snprintf(why + used, size - used, "; composite: ");
    used = strlen(why);
    argv[4] = way;
    argv[5] = composite;
    argv[6] = NULL;
    outcome = run_way(argv, expected, why + used, size - used);
  }
  json_decref(expected);
  json_decref(args);
  return outcome;
}

/* Says how one case went; true if that is a failed test. */
static bool report(const struct cases *c, size_t number, const char *name) {
  char why[512] = "";
  bool pending = contains(c->pending, c->pending_count, name);
  enum outcome outcome = run_case(c, name, why, sizeof why);
  bool good = outcome == (pending ? REFUSED : AGREES);
  if (pending && good)
    printf("ok %zu - %s # SKIP pending, and refused\n", number, name);
  else
    printf("%s %zu - %s\n# %s\n", good ? "ok" : "not ok", number, name, why);
  if (pending && outcome == AGREES)
    printf("# passes now: take it out of %s/pending.txt\n", c->folder);
  else if (pending && outcome == DIFFERS)
    printf("# what is not built is to be refused, not answered wrongly\n");
  fflush(stdout);
  return !good;
}

int main(int argc, char **argv) {
  static struct cases c;
  const char *folder = getenv("ORR_VECTORS");
  c.folder = folder ? folder : "tests/vectors";
  c.orrery = getenv("ORRERY");
  if (!c.orrery) {
    fputs("compare: say in ORRERY which orrery to run\n", stderr);
    return 2;
  }
  read_pending(&c);
  if (argc > 1)
    for (int i = 1; i < argc && c.count < MOST_CASES; i++)
      c.names[c.count++] = strdup(argv[i]);
  else
    find_cases(&c, "");
  int failed = 0;
  size_t strangers = 0;
  for (size_t i = 0; i < c.pending_count && argc == 1; i++)
    strangers += !contains(c.names, c.count, c.pending[i]);
  printf("1..%zu\n", c.count + 1);
  for (size_t i = 0; i < c.count; i++)
    failed += report(&c, i + 1, c.names[i]);
  printf("%s %zu - every pending name is a case\n", strangers ? "not ok" : "ok", c.count + 1);
  for (size_t i = 0; i < c.count; i++)
    free(c.names[i]);
  for (size_t i = 0; i < c.pending_count; i++)
    free(c.pending[i]);
  return failed || strangers || c.count == 0;
}
