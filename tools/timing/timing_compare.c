/* `orrery timing compare`: two results, or two cases that are flown in turn until there is a verdict. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/machine/make_folder.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"
#include "tools/timing/timing_flier.h"
#include "tools/timing/timing_verbs.h"
#include "tools/timing/verdict_report.h"

enum { SLICES = 12, LIMIT = 96, PATH_TEXT = 4096 };

static const double false_alarm = 0.01;

struct arguments {
  const char *paths[2], *program[2];
  const char *across, *decide_text, *junit, *plot, *slices_text, *limit_text, *keep;
  bool json, fly;
  double decide;
  long slices, limit;
};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool is_aspect(const char *word, size_t length) {
  for (size_t i = 0; orr_timing_aspects[i]; i++)
    if (strlen(orr_timing_aspects[i]) == length && strncmp(orr_timing_aspects[i], word, length) == 0)
      return true;
  return false;
}

static int check_across(const char *across) {
  for (const char *word = across; word && *word;) {
    size_t length = strcspn(word, ",");
    if (!is_aspect(word, length))
      return orr_timing_usage("compare", "--across takes kernel, processor, isolation, case and load, not", across);
    word += length + (word[length] == ',');
  }
  return ORR_EXIT_OK;
}

static int check_numbers(struct arguments *a) {
  char *end = NULL;
  a->decide = 0.99;
  if (a->decide_text) {
    a->decide = a->decide_text[0] == 'p' ? strtod(a->decide_text + 1, &end) / 100 : -1;
    if (!(a->decide > 0 && a->decide < 1) || !end || *end)
      return orr_timing_usage("compare", "--decide takes a percentile such as p99.9, not", a->decide_text);
  }
  a->slices = SLICES;
  if (a->slices_text && !orr_timing_whole(a->slices_text, ORR_TIMING_SLICES_FEWEST, 10000, &a->slices))
    return orr_timing_usage("compare", "--slices takes a whole number from 8 to 10000, not", a->slices_text);
  a->limit = a->slices > LIMIT ? a->slices : LIMIT;
  if (a->limit_text && !orr_timing_whole(a->limit_text, a->slices, 10000, &a->limit))
    return orr_timing_usage("compare", "--limit takes a whole number from --slices to 10000, not", a->limit_text);
  return ORR_EXIT_OK;
}

static int parse(int argc, char **argv, struct arguments *a) {
  const struct orr_timing_option options[] = {{"--across", &a->across, NULL},
                                              {"--decide", &a->decide_text, NULL},
                                              {"--junit", &a->junit, NULL},
                                              {"--plot", &a->plot, NULL},
                                              {"--slices", &a->slices_text, NULL},
                                              {"--limit", &a->limit_text, NULL},
                                              {"--keep", &a->keep, NULL},
                                              {"--base-program", &a->program[0], NULL},
                                              {"--new-program", &a->program[1], NULL},
                                              {"--json", NULL, &a->json},
                                              {"--fly", NULL, &a->fly}};
  size_t words = 0;
  int status = orr_timing_parse(argc, argv, options, sizeof options / sizeof *options, a->paths, 2, &words);
  if (status != ORR_EXIT_OK)
    return status;
  if (words < 2)
    return orr_timing_usage("compare", a->fly ? "needs two timing cases" : "needs two results", NULL);
  if (!a->fly && (a->program[0] || a->program[1] || a->slices_text || a->limit_text || a->keep))
    return orr_timing_usage("compare", "--base-program, --new-program, --slices, --limit and --keep go with --fly",
                            NULL);
  status = check_across(a->across);
  return status == ORR_EXIT_OK ? check_numbers(a) : status;
}

/* ---- a look ------------------------------------------------------------------------------------------------------ */

struct look {
  const struct arguments *a;
  struct orr_timing_result result[2];
  struct orr_timing_comparison comparison;
  char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON];
  size_t reason_count;
  bool facts_differ;
};

static struct orr_timing_report report_of(struct look *l) {
  return (struct orr_timing_report){.base_path = l->a->paths[0],
                                    .new_path = l->a->paths[1],
                                    .base = &l->result[0],
                                    .new = &l->result[1],
                                    .comparison = &l->comparison,
                                    .reason_count = l->reason_count,
                                    .reasons = l->reasons,
                                    .facts_differ = l->facts_differ};
}

static bool look_at(struct look *l, bool paired, double alarm) {
  const struct orr_timing_options options = {.paired = paired, .alarm = alarm, .decide = l->a->decide, .seed = 1};
  l->reason_count = orr_timing_incomparable(&l->result[0], &l->result[1], l->a->across, l->reasons);
  l->facts_differ = l->reason_count > 0;
  if (l->facts_differ) {
    l->comparison = (struct orr_timing_comparison){.verdict = ORR_TIMING_NOT_COMPARABLE};
    return true;
  }
  bool good = orr_timing_compare(&l->result[0].set, &l->result[1].set, &options, &l->comparison);
  if (!good)
    fputs("orrery timing compare: out of memory\n", stderr);
  if (good && l->comparison.verdict == ORR_TIMING_NOT_COMPARABLE)
    snprintf(l->reasons[l->reason_count++], ORR_TIMING_REASON, "no distribution has samples in both");
  return good;
}

static int tell(struct look *l) {
  static const enum orr_exit exits[] = {[ORR_TIMING_SAME] = ORR_EXIT_OK,
                                        [ORR_TIMING_FASTER] = ORR_EXIT_OK,
                                        [ORR_TIMING_SLOWER] = ORR_EXIT_BAD,
                                        [ORR_TIMING_NOISY] = ORR_EXIT_INCOMPLETE,
                                        [ORR_TIMING_NOT_COMPARABLE] = ORR_EXIT_INCOMPLETE};
  const struct orr_timing_report report = report_of(l);
  bool good = true;
  if (l->a->json) {
    json_t *root = orr_timing_report_json(&report);
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(root);
  } else {
    orr_timing_report_print(stdout, &report);
  }
  good = !l->a->junit || orr_timing_report_junit(l->a->junit, &report);
  good = (!l->a->plot || orr_timing_report_plot(l->a->plot, &report)) && good;
  return (int)orr_exit_outranking(exits[l->comparison.verdict], good ? ORR_EXIT_OK : ORR_EXIT_BAD);
}

static int compare_files(struct look *l) {
  for (int side = 0; side < 2; side++)
    if (!orr_timing_result_load(l->a->paths[side], &l->result[side])) {
      fprintf(stderr, "%s: error: %s\n", l->a->paths[side], l->result[side].error);
      return ORR_EXIT_BAD;
    }
  return look_at(l, false, false_alarm) ? tell(l) : ORR_EXIT_BAD;
}

/* ---- flown in turn ----------------------------------------------------------------------------------------------- */

/* The two files of --keep, and the others that are written at the end: what cannot be written is told before the first
 * slice flies. */
struct keeper {
  char path[2][PATH_TEXT];
  struct orr_timing_saver saver[2];
};

static bool open_keeper(const struct arguments *a, struct keeper *k) {
  static const char *const names[] = {"base.json", "new.json"};
  struct orr_timing_saver once;
  bool good =
      (!a->junit || orr_timing_saver_open(&once, a->junit)) && (!a->plot || orr_timing_saver_open(&once, a->plot));
  if (!a->keep || !good)
    return good;
  if (orr_make_folder(a->keep, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "orrery timing compare: cannot make '%s': %s\n", a->keep, strerror(errno));
    return false;
  }
  for (int side = 0; side < 2 && good; side++) {
    snprintf(k->path[side], sizeof k->path[side], "%s/%s", a->keep, names[side]);
    good = orr_timing_saver_open(&k->saver[side], k->path[side]);
  }
  return good;
}

/* A pair, whoever was first in the last one second in this. */
static int fly_pair(const struct arguments *a, struct orr_timing_flier *flier, json_t *root[2], long pair) {
  int status = ORR_EXIT_OK;
  for (int turn = 0; turn < 2 && status == ORR_EXIT_OK; turn++) {
    int side = (turn + (int)(pair % 2)) % 2;
    const char *words[] = {"timing", "run", a->paths[side], "--slices", "1"};
    status = orr_timing_flier_fly(flier, a->program[side], words, sizeof words / sizeof *words, root[side]);
  }
  return status;
}

static void forget(struct look *l) {
  for (int side = 0; side < 2; side++)
    orr_timing_result_close(&l->result[side]);
}

static bool look_anew(struct look *l, json_t *root[2], double alarm) {
  forget(l);
  for (int side = 0; side < 2; side++)
    if (!orr_timing_result_of(json_incref(root[side]), &l->result[side])) {
      fprintf(stderr, "orrery timing compare: %s\n", l->result[side].error);
      return false;
    }
  return look_at(l, true, alarm);
}

/* Looks after --slices, and after twice as many again and again; each has its share of the false alarms. */
static int looks_of(const struct arguments *a) {
  int looks = 1;
  for (long at = a->slices; at < a->limit; at *= 2)
    looks++;
  return looks;
}

/* Where a side has a part more than before, another machine or case has flown: if that makes the two incomparable, what
 * flies from then on would be in vain. False: no memory. */
static bool look_at_facts(struct look *l, json_t *root[2], size_t *parts) {
  size_t before = *parts;
  *parts = 0;
  for (int side = 0; side < 2; side++)
    *parts += json_array_size(json_object_get(root[side], "parts"));
  return *parts == before || look_anew(l, root, false_alarm);
}

static int fly_on(struct look *l, struct orr_timing_flier *flier, struct keeper *k, json_t *root[2]) {
  const struct arguments *a = l->a;
  struct orr_progress bar;
  long until = a->slices;
  int status = ORR_EXIT_OK;
  double alarm = false_alarm / looks_of(a);
  size_t parts = 0;
  orr_progress_begin(&bar, 0);
  for (long pair = 0; pair < a->limit && status == ORR_EXIT_OK; pair++) {
    orr_progress_show(&bar, (double)pair / (double)until);
    status = fly_pair(a, flier, root, pair);
    for (int side = 0; side < 2 && a->keep && status == ORR_EXIT_OK; side++)
      orr_timing_saver_save(&k->saver[side], k->path[side], root[side]);
    if (status == ORR_EXIT_OK && !look_at_facts(l, root, &parts))
      status = ORR_EXIT_BAD;
    if (status != ORR_EXIT_OK || (pair + 1 < until && !l->facts_differ))
      continue;
    orr_progress_wipe(&bar);
    if (!look_anew(l, root, alarm))
      status = ORR_EXIT_BAD;
    if (status != ORR_EXIT_OK || l->comparison.verdict != ORR_TIMING_NOISY)
      break;
    until = 2 * until < a->limit ? 2 * until : a->limit;
    if (pair + 1 < a->limit)
      fprintf(stderr, "too noisy after %ld slices of each; flying on to %ld\n", pair + 1, until);
  }
  orr_progress_wipe(&bar);
  return status;
}

static bool keep(const struct arguments *a, const struct keeper *k, json_t *root[2]) {
  bool good = true;
  for (int side = 0; side < 2 && a->keep; side++)
    if (json_array_size(json_object_get(root[side], "parts")) > 0) /* else one that stands there is better */
      good = orr_timing_saver_close(&k->saver[side], k->path[side], root[side]) && good;
  return good;
}

static int fly_and_compare(struct look *l) {
  json_t *root[2] = {orr_timing_result_new(), orr_timing_result_new()};
  struct orr_timing_flier flier;
  struct keeper keeper;
  int status = ORR_EXIT_BAD;
  if (open_keeper(l->a, &keeper) && orr_timing_flier_open(&flier)) {
    status = fly_on(l, &flier, &keeper, root);
    orr_timing_flier_close(&flier);
    if (!keep(l->a, &keeper, root))
      status = (int)orr_exit_outranking((enum orr_exit)status, ORR_EXIT_BAD);
  }
  if (status == ORR_EXIT_OK)
    status = tell(l);
  json_decref(root[0]);
  json_decref(root[1]);
  return status;
}

int orr_timing_compare_files(int argc, char **argv) {
  struct arguments a = {.json = false};
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  struct look *l = calloc(1, sizeof *l);
  if (!l)
    return ORR_EXIT_BAD;
  l->a = &a;
  status = a.fly ? fly_and_compare(l) : compare_files(l);
  forget(l);
  free(l);
  return status;
}
