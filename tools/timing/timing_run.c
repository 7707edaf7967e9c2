/* `orrery timing run` and `orrery timing slice`: a case flown many times, and once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/unit.h"
#include "rt/tick/clock.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"
#include "tools/run/controller.h"
#include "tools/timing/timing_flier.h"
#include "tools/timing/timing_load.h"
#include "tools/timing/timing_slice.h"
#include "tools/timing/timing_verbs.h"

struct arguments {
  const char *path, *out, *slices, *span;
  const char *settings[ORR_TIMING_SETTINGS_MAX];
  size_t setting_count;
};

/* --set may stand more than once: taken out before the rest is looked at. */
static int take_settings(const char *verb, int *argc, char **argv, struct arguments *a) {
  int kept = 1;
  for (int i = 1; i < *argc; i++) {
    if (strcmp(argv[i], "--set") != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    if (i + 1 == *argc)
      return orr_timing_usage(verb, "a value is missing after", "--set");
    if (a->setting_count == ORR_TIMING_SETTINGS_MAX)
      return orr_timing_usage(verb, "too many settings", NULL);
    a->settings[a->setting_count++] = argv[++i];
  }
  *argc = kept;
  return ORR_EXIT_OK;
}

static int parse(const char *verb, bool many, int argc, char **argv, struct arguments *a) {
  const struct orr_timing_option options[] = {
      {"-o", &a->out, NULL}, {"--slices", &a->slices, NULL}, {"--for", &a->span, NULL}};
  size_t words = 0;
  int status = take_settings(verb, &argc, argv, a);
  if (status == ORR_EXIT_OK)
    status = orr_timing_parse(argc, argv, options, many ? 3 : 1, &a->path, 1, &words);
  if (status == ORR_EXIT_OK && words == 0)
    return orr_timing_usage(verb, "needs a timing case", NULL);
  if (status == ORR_EXIT_OK && !a->out)
    return orr_timing_usage(verb, "needs -o FILE for the result", NULL);
  return status;
}

/* The case, or false after its messages. */
static bool load(const struct arguments *a, struct orr_diagnostics *d, struct orr_timing_case *c) {
  bool good = orr_timing_case_load(a->path, a->settings, a->setting_count, d, c);
  orr_diagnostics_print(d, 0, stderr, false);
  return good && orr_controller_fits(c->run, c->run_path, stderr);
}

/* ---- one --------------------------------------------------------------------------------------------------------- */

int orr_timing_run_slice(int argc, char **argv) {
  struct arguments a = {0};
  struct orr_timing_case c;
  json_t *result = NULL;
  int status = parse("slice", false, argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  struct orr_diagnostics *d = orr_diagnostics_create();
  status = load(&a, d, &c) ? orr_timing_slice_fly(&c, &result) : ORR_EXIT_BAD;
  if (result && !orr_timing_result_save(a.out, result))
    status = ORR_EXIT_BAD;
  json_decref(result);
  orr_diagnostics_destroy(d);
  return status;
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

struct campaign {
  const struct arguments *a;
  const struct orr_timing_case *c;
  int64_t slices; /* 0: as many as there is time for */
  int64_t span_ns;
  const struct orr_timing_loading *loading;
  struct orr_timing_saver saver;
  json_t *root;
};

static bool goes_on(const struct campaign *run, int64_t flown, int64_t begin_ns) {
  if (run->slices > 0)
    return flown < run->slices;
  return flown == 0 || orr_clock_now_ns() - begin_ns < run->span_ns;
}

static double part_of(const struct campaign *run, int64_t flown, int64_t begin_ns) {
  return run->slices > 0 ? (double)flown / (double)run->slices
                         : (double)(orr_clock_now_ns() - begin_ns) / (double)run->span_ns;
}

/* Adds a slice, if the load was there to its end, and saves it. */
static int fly_one(struct campaign *run, struct orr_timing_flier *flier, const char *const *words, size_t count) {
  json_t *slice = orr_timing_result_new();
  int status = orr_timing_flier_fly(flier, NULL, words, count, slice);
  if (status == ORR_EXIT_OK &&
      (!orr_timing_load_lasts(run->c, run->loading) || !orr_timing_result_add(run->root, slice, true)))
    status = ORR_EXIT_BAD;
  if (status == ORR_EXIT_OK)
    orr_timing_saver_save(&run->saver, run->a->out, run->root);
  json_decref(slice);
  return status;
}

static int fly_all(struct campaign *run) {
  const char *words[3 + 2 * ORR_TIMING_SETTINGS_MAX] = {"timing", "slice", run->a->path};
  size_t count = 3;
  struct orr_timing_flier flier;
  struct orr_progress bar;
  for (size_t i = 0; i < run->a->setting_count; i++) {
    words[count++] = "--set";
    words[count++] = run->a->settings[i];
  }
  if (!orr_timing_flier_open(&flier))
    return ORR_EXIT_BAD;
  int64_t begin_ns = orr_clock_now_ns();
  int status = ORR_EXIT_OK;
  orr_progress_begin(&bar, 0);
  for (int64_t flown = 0; status == ORR_EXIT_OK && goes_on(run, flown, begin_ns); flown++) {
    orr_progress_show(&bar, part_of(run, flown, begin_ns));
    status = fly_one(run, &flier, words, count);
  }
  orr_progress_wipe(&bar);
  orr_timing_flier_close(&flier);
  return status;
}

/* What the machine could not give, as the first slice found it. */
static void tell_lacks(const json_t *root) {
  const json_t *lacks = json_object_get(json_array_get(json_object_get(root, "parts"), 0), "lacks"), *lack;
  size_t i;
  json_array_foreach(lacks, i, lack) {
    const char *what = json_string_value(json_object_get(lack, "what"));
    const char *remedy = json_string_value(json_object_get(lack, "remedy"));
    fprintf(stderr, "warning: %s\n  do: %s\n", what ? what : "?", remedy ? remedy : "?");
  }
}

static int save_and_tell(const struct campaign *run, int status) {
  struct orr_timing_result result;
  char load[400];
  if (json_array_size(json_object_get(run->root, "parts")) == 0)
    return status;
  if (!orr_timing_saver_close(&run->saver, run->a->out, run->root))
    status = (int)orr_exit_outranking((enum orr_exit)status, ORR_EXIT_BAD);
  if (!orr_timing_result_of(json_incref(run->root), &result)) {
    fprintf(stderr, "orrery timing: %s\n", result.error);
    return ORR_EXIT_BAD;
  }
  tell_lacks(run->root);
  printf("%s: %zu slices of %g s at %g Hz; load: %s\n", run->a->out, result.set.slice_count,
         1e-9 * (double)run->c->slice_ns, 1e9 / (double)run->c->run->plant.step_ns,
         orr_timing_load_text(run->c, load, sizeof load));
  orr_timing_print_set(stdout, &result.set);
  orr_timing_result_close(&result);
  return status;
}

static bool take_span(const char *word, int64_t *span_ns) {
  struct orr_quantity q;
  if (orr_quantity_parse_time(word, &q) != ORR_QUANTITY_OK || q.ns <= 0)
    return false;
  *span_ns = q.ns;
  return true;
}

static int run_case(const struct arguments *a, const struct orr_timing_case *c, long slices, int64_t span_ns) {
  struct campaign run = {.a = a, .c = c, .root = orr_timing_result_new(), .span_ns = span_ns};
  struct orr_timing_loading loading;
  run.loading = &loading;
  run.slices = slices > 0 ? slices : span_ns > 0 ? 0 : c->slices;
  if (c->run->realtime.core >= 0)
    for (size_t i = 0; i < c->core_count; i++)
      if (c->core[i] == c->run->realtime.core && c->run->realtime.priority == 0)
        fprintf(stderr, "%s: warning: the load is on the executive's core, which has no real-time priority\n", c->path);
  int status = ORR_EXIT_BAD;
  if (orr_timing_saver_open(&run.saver, a->out) && orr_timing_load_start(c, &loading)) {
    status = fly_all(&run);
    orr_timing_load_end(&loading);
    status = save_and_tell(&run, status);
  }
  json_decref(run.root);
  return status;
}

int orr_timing_run(int argc, char **argv) {
  struct arguments a = {0};
  struct orr_timing_case c;
  long slices = 0;
  int64_t span_ns = 0;
  int status = parse("run", true, argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  if (a.slices && !orr_timing_whole(a.slices, 1, ORR_TIMING_SLICES_MOST, &slices))
    return orr_timing_usage("run", "--slices takes a whole number from 1 on, not", a.slices);
  if (a.span && !take_span(a.span, &span_ns))
    return orr_timing_usage("run", "--for takes a time such as 10min, not", a.span);
  if (a.span && a.slices)
    return orr_timing_usage("run", "--slices and --for exclude each other", NULL);
  struct orr_diagnostics *d = orr_diagnostics_create();
  status = load(&a, d, &c) ? run_case(&a, &c, slices, span_ns) : ORR_EXIT_BAD;
  orr_diagnostics_destroy(d);
  return status;
}
