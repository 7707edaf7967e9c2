/* `orrery timing merge`: nights and machines into one. */
#include "tools/common/commands.h"
#include "tools/common/timing_report.h"
#include "tools/timing/timing_result.h"
#include "tools/timing/timing_verbs.h"

enum { FILES_MAX = 1000, COLUMN = 10 };

static const double fractions[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999};
enum { FRACTIONS = sizeof fractions / sizeof *fractions };

static void print_row(FILE *out, const struct orr_timing_set *set, int name) {
  char text[ORR_DURATION_TEXT];
  bool low = orr_timing_find(set, "slack") == name; /* the least matters */
  double count = (double)orr_timing_count(set, name);
  fprintf(out, "%-26s", set->name[name]);
  for (size_t k = 0; k < FRACTIONS; k++)
    if (k > 0 && count * (1 - fractions[k]) < 1)
      fprintf(out, "%*s", COLUMN, "-");
    else
      fprintf(
          out, "%*s", COLUMN,
          orr_duration_text((int64_t)orr_timing_percentile_ns(set, name, low ? 1 - fractions[k] : fractions[k]), text));
  fprintf(out, "%*s%13.0f\n", COLUMN,
          orr_duration_text(low ? orr_timing_least_ns(set, name) : orr_timing_most_ns(set, name), text), count);
}

void orr_timing_print_set(FILE *out, const struct orr_timing_set *set) {
  char text[16];
  fprintf(out, "%-26s", "");
  for (size_t k = 0; k < FRACTIONS; k++)
    fprintf(out, "%*s", COLUMN, orr_timing_fraction_text(fractions[k], text));
  fprintf(out, "%*s%13s\n", COLUMN, "worst", "samples");
  for (size_t i = 0; i < set->name_count; i++)
    if (orr_timing_count(set, (int)i) > 0)
      print_row(out, set, (int)i);
}

static bool add_file(const char *path, json_t *root) {
  struct orr_timing_result one;
  if (!orr_timing_result_load(path, &one)) {
    fprintf(stderr, "%s: error: %s\n", path, one.error);
    return false;
  }
  bool good = orr_timing_result_add(root, one.root, false);
  orr_timing_result_close(&one);
  return good;
}

static int tell(json_t *root, const char *out) {
  struct orr_timing_result all;
  if (!orr_timing_result_of(json_incref(root), &all)) {
    fprintf(stderr, "orrery timing merge: %s\n", all.error);
    return ORR_EXIT_BAD;
  }
  printf("%zu slices of %zu parts\n", all.set.slice_count, json_array_size(json_object_get(root, "parts")));
  orr_timing_print_set(stdout, &all.set);
  orr_timing_result_close(&all);
  return !out || orr_timing_result_save(out, root) ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

int orr_timing_merge(int argc, char **argv) {
  const char *out = NULL, *files[FILES_MAX];
  const struct orr_timing_option options[] = {{"-o", &out, NULL}};
  size_t count = 0;
  int status = orr_timing_parse(argc, argv, options, 1, files, FILES_MAX, &count);
  if (status != ORR_EXIT_OK)
    return status;
  if (count == 0)
    return orr_timing_usage("merge", "needs results of 'orrery timing run'", NULL);
  json_t *root = orr_timing_result_new();
  for (size_t i = 0; i < count && status == ORR_EXIT_OK; i++)
    status = add_file(files[i], root) ? ORR_EXIT_OK : ORR_EXIT_BAD;
  if (status == ORR_EXIT_OK)
    status = tell(root, out);
  json_decref(root);
  return status;
}
