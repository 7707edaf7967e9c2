/* `orrery timing merge`: nights and machines into one. */
#include "tools/common/commands.h"
#include "tools/common/text.h"
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

struct merging {
  json_t *root;
  const char *const *file;
  size_t parts[FILES_MAX]; /* that each file has */
};

/* Whose part it is in the result. */
static const char *owner_of(const struct merging *m, size_t part) {
  size_t file = 0;
  for (size_t before = m->parts[0]; before <= part; before += m->parts[file])
    file++;
  return m->file[file];
}

/* Where one equal to it stands, before `end`; `end`: nowhere. */
static size_t place_of(const json_t *part, const json_t *parts, size_t end) {
  size_t k = 0;
  while (k < end && !json_equal(part, json_array_get(parts, k)))
    k++;
  return k;
}

/* A part that is there already, in an earlier file or in this one, would count its samples twice. */
static bool are_new(const struct merging *m, const char *path, const json_t *parts) {
  const json_t *part, *all = json_object_get(m->root, "parts");
  char when[64];
  size_t i;
  json_array_foreach(parts, i, part) {
    const size_t there = place_of(part, all, json_array_size(all)),
                 slices = json_array_size(json_object_get(part, "slices"));
    const bool old = there < json_array_size(all);
    if (!old && place_of(part, parts, i) == i)
      continue;
    const char *text = json_string_value(json_object_get(part, "when"));
    text = text ? orr_text_clean(text, "", when, sizeof when) : "an unknown time";
    if (old)
      fprintf(stderr, "%s: error: its part of %s, %zu slices, stands in '%s', too: name such a night once\n", path,
              text, slices, owner_of(m, there));
    else
      fprintf(stderr, "%s: error: its part of %s, %zu slices, stands in it twice: merge its nights anew, each once\n",
              path, text, slices);
    return false;
  }
  return true;
}

static bool add_file(struct merging *m, size_t file) {
  struct orr_timing_result one;
  const char *path = m->file[file];
  if (!orr_timing_result_load(path, &one)) {
    fprintf(stderr, "%s: error: %s\n", path, one.error);
    return false;
  }
  const json_t *parts = json_object_get(one.root, "parts");
  m->parts[file] = json_array_size(parts);
  bool good = are_new(m, path, parts) && orr_timing_result_add(m->root, one.root, false);
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
  struct merging m = {.root = orr_timing_result_new(), .file = files};
  for (size_t i = 0; i < count && status == ORR_EXIT_OK; i++)
    status = add_file(&m, i) ? ORR_EXIT_OK : ORR_EXIT_BAD;
  if (status == ORR_EXIT_OK)
    status = tell(m.root, out);
  json_decref(m.root);
  return status;
}
