/* Large models: ten thousand bodies are read and checked in under a second of the processor's time, memory grows
 * linearly, a bomb is refused at once.
 *
 * Each size is read in a process of its own, three times; the least time counts, and the most memory. What others have
 * of the processor is not in that time, what they do to its caches is. The numbers it prints are those of io/README.md.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/config/spacecraft/config.h"
#include "tools/check/summary.h"

struct cost {
  double seconds;
  double megabytes; /* resident, above those of the empty process */
  bool good;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)u.ru_maxrss / 1024;
}

/* A tree like a spacecraft's: chains of ten bodies on one bus, as a person writes YAML or as a program writes JSON, in
 * one line. */
static char *write_model(size_t bodies, bool json, size_t *length) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  assert_non_null(out);
  fputs(json ? "{\"orrery\": 1, \"spacecraft\": {\"bodies\": {" : "orrery: 1\nspacecraft:\n  bodies:\n", out);
  for (size_t i = 0; i < bodies; i++) {
    char to[40] = "inertial";
    if (i > 0)
      snprintf(to, sizeof to, "b%zu.end", i % 10 == 1 ? 0 : i - 1);
    const char *kind = i > 0 ? "revolute" : "free",
               *axis = i > 0 ? (json ? ", \"axis\": [0, 1, 0]" : ", axis: [0, 1, 0]") : "";
    if (json)
      fprintf(out,
              "%s\"b%zu\": {\"mass\": 4.9559, \"com\": [0.0926, -0.2081, 0.0602], \"inertia\": [0.61, 0.83, 0.68, "
              "-0.0025, 0.0105, 0.0241], "
              "\"hinge\": {\"kind\": \"%s\", \"to\": \"%s\"%s}, \"nodes\": {\"end\": {\"at\": [1, 0.2, 0]}}}",
              i ? ", " : "", i, kind, to, axis);
    else
      fprintf(out,
              "    b%zu:\n      mass: 4.9559 kg\n      com: [0.0926, -0.2081, 0.0602]\n      inertia: [0.61, 0.83, "
              "0.68, -0.0025, 0.0105, 0.0241]\n"
              "      hinge: {kind: %s, to: %s%s}\n      nodes: {end: {at: [1, 0.2, 0]}}\n",
              i, kind, to, axis);
  }
  fputs(json ? "}}}\n" : "", out);
  fclose(out);
  return text;
}

/* What `orrery check` does, but for the printing. */
static bool read_and_check(const char *text, size_t length) {
  const struct orr_text_file file = {"m", text, length};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_config *config = orr_config_load("m", &options, d);
  bool good = config != NULL;
  if (config) {
    struct orr_summary summary;
    orr_summary_create(&summary, orr_config_description(config));
    good = summary.rest.mass > 0;
    orr_summary_destroy(&summary);
  }
  orr_diagnostics_destroy(d);
  return good;
}

static struct cost in_a_process(const char *text, size_t length) {
  int ends[2];
  struct cost cost = {0};
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    double before = resident(), start = now();
    cost.good = read_and_check(text, length);
    cost.seconds = now() - start;
    cost.megabytes = resident() - before;
    _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
  }
  close(ends[1]);
  ssize_t got = read(ends[0], &cost, sizeof cost);
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  assert_true(got == sizeof cost && status == 0);
  return cost;
}

static struct cost measure(const char *what, const char *text, size_t length) {
  struct cost least = in_a_process(text, length);
  for (int i = 0; i < 2; i++) {
    struct cost again = in_a_process(text, length);
    least.seconds = again.seconds < least.seconds ? again.seconds : least.seconds;
    least.megabytes = again.megabytes > least.megabytes ? again.megabytes : least.megabytes;
    least.good = least.good && again.good;
  }
  printf("# %-26s %8.1f kB of text %8.3f s %8.1f MB\n", what, (double)length / 1e3, least.seconds, least.megabytes);
  return least;
}

static struct cost measure_model(size_t bodies, bool json) {
  size_t length;
  char *text = write_model(bodies, json, &length), what[40];
  snprintf(what, sizeof what, "%zu bodies, %s", bodies, json ? "JSON" : "YAML");
  struct cost cost = measure(what, text, length);
  assert_true(cost.good);
  free(text);
  return cost;
}

static void ten_thousand_bodies_take_less_than_a_second(void **state) {
  (void)state;
  assert_true(measure_model(10000, false).seconds < 1);
  assert_true(measure_model(10000, true).seconds < 1);
}

static void memory_grows_linearly(void **state) {
  (void)state;
  double one = measure_model(1000, false).megabytes, ten = measure_model(10000, false).megabytes,
         fifty = measure_model(50000, false).megabytes;
  double early = (ten - one) / 9, late = (fifty - ten) / 40; /* MB for a thousand more bodies */
  assert_true(late < 1.3 * early);
  assert_true(early < 1.3 * late);
}

static void an_alias_bomb_is_refused_at_once(void **state) {
  (void)state;
  char bomb[2000] = "orrery: 1\nspacecraft:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; i++)
    sprintf(bomb + strlen(bomb), "  a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1, i - 1,
            i - 1);
  struct cost cost = measure("alias bomb of 5^19 nodes", bomb, strlen(bomb));
  assert_false(cost.good);
  assert_true(cost.seconds < 0.1);
  assert_true(cost.megabytes < 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_thousand_bodies_take_less_than_a_second),
      cmocka_unit_test(memory_grows_linearly),
      cmocka_unit_test(an_alias_bomb_is_refused_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
