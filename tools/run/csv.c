#include "tools/run/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/patterns.h"

/* What devices and pointing declare comes before the truth of the first body. */
static int truth_starts(const struct orr_session *s) { return s->plant->truth_count ? s->plant->truths[0].channel : 0; }

/* "gyro.rate.x (rad/s)"; a plain number has no unit. */
static void head_cell(FILE *out, const struct orr_channel *c, int element) {
  if (c->count == 1)
    fprintf(out, ",%s", c->name);
  else if (c->elements)
    fprintf(out, ",%s.%s", c->name, c->elements[element]);
  else
    fprintf(out, ",%s[%d]", c->name, element);
  const char *unit = orr_channel_unit(c, element);
  if (*unit)
    fprintf(out, " (%s)", unit);
}

static void head(struct orr_csv *csv, const struct orr_session *s) {
  fputs("time (s)", csv->file.out);
  for (int i = 0; i < csv->count; i++) {
    const struct orr_channel *c = &s->plant->table.channels[csv->channels[i]];
    for (int k = 0; k < c->count; k++)
      head_cell(csv->file.out, c, k);
  }
  fputc('\n', csv->file.out);
}

static void row(struct orr_recorder *recorder, const struct orr_session *s) {
  const struct orr_csv *csv = (const struct orr_csv *)recorder;
  if (orr_plant_frame(s->plant) % csv->divisor)
    return;
  fprintf(csv->file.out, "%.9f", 1e-9 * (double)orr_plant_time_ns(s->plant));
  for (int i = 0; i < csv->count; i++) {
    const struct orr_channel *c = &s->plant->table.channels[csv->channels[i]];
    for (int k = 0; k < c->count; k++)
      fprintf(csv->file.out, ",%.17g", s->plant->values[c->offset + k]);
  }
  fputc('\n', csv->file.out);
}

/* Whether each pattern fits some channel; says which does not. */
static bool all_fit(const char *patterns, const struct orr_channel_table *table) {
  char pattern[ORR_PATTERN_TEXT];
  while (orr_patterns_cut(&patterns, pattern)) {
    int i = 0;
    while (i < table->count && !orr_channel_matches(pattern, table->channels[i].name))
      i++;
    if (i < table->count)
      continue;
    orr_patterns_report(pattern, "--channels", table);
    return false;
  }
  return true;
}

bool orr_csv_open(struct orr_csv *csv, const char *path, const char *patterns, int divisor, struct orr_session *s) {
  const struct orr_channel_table *table = &s->plant->table;
  *csv = (struct orr_csv){.recorder.frame = row, .divisor = divisor};
  csv->channels = calloc((size_t)table->count + 1, sizeof *csv->channels);
  if (!csv->channels)
    abort();
  for (int i = 0; i < table->count; i++)
    if (patterns ? orr_patterns_fit(patterns, table->channels[i].name) : i < truth_starts(s))
      csv->channels[csv->count++] = i;
  if (patterns && !all_fit(patterns, table))
    return false;
  for (int i = 0; i < csv->count; i++)
    orr_plant_ask(s->plant, csv->channels[i]);
  if (!orr_out_file_open(&csv->file, path)) {
    fprintf(stderr, "orrery run: cannot write '%s': %s\n", path, strerror(errno));
    return false;
  }
  head(csv, s);
  csv->session = s;
  orr_session_tell(s, &csv->recorder);
  return true;
}

bool orr_csv_close(struct orr_csv *csv, const char *path, bool keep) {
  bool good = true;
  if (csv->file.out) {
    if (csv->session)
      orr_session_tell_no_more(csv->session, &csv->recorder);
    good = orr_out_file_close(&csv->file, keep);
    if (!good)
      fprintf(stderr, "orrery run: cannot write all of '%s': %s; %s\n", path, strerror(errno),
              "what stood there before, if anything, still does");
  }
  free(csv->channels);
  *csv = (struct orr_csv){0};
  return good;
}
