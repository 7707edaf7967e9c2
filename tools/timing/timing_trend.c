/* `orrery timing trend`: the results of a folder in their order of time, as a page that needs nothing else. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"
#include "tools/common/timing_report.h"
#include "tools/run/junit.h"
#include "tools/run/svg.h"
#include "tools/timing/timing_changes.h"
#include "tools/timing/timing_result.h"
#include "tools/timing/timing_verbs.h"

enum { POINTS_MAX = 5000, PATH_TEXT = 4096, WORD = 160, TRACES = 3 };

static const double traces[TRACES] = {0.5, 0.99, 0.999};

/* A result, of which only the percentiles are kept. */
struct point {
  char file[WORD], when[32], commit[WORD], kernel[WORD];
  size_t slices;
  double us[ORR_TIMING_NAMES_MAX][TRACES]; /* by name of the trend; 0: none */
};

struct trend {
  const char *folder;
  size_t count, name_count;
  char name[ORR_TIMING_NAMES_MAX][ORR_TIMING_NAME];
  struct point *point;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void take_text(const json_t *object, const char *key, char *to, size_t size) {
  const char *text = json_string_value(json_object_get(object, key));
  orr_text_clean(text ? text : "unknown", "", to, size);
}

static int name_index(struct trend *t, const char *name) {
  for (size_t i = 0; i < t->name_count; i++)
    if (strcmp(t->name[i], name) == 0)
      return (int)i;
  if (t->name_count == ORR_TIMING_NAMES_MAX)
    return -1;
  snprintf(t->name[t->name_count], ORR_TIMING_NAME, "%s", name);
  return (int)t->name_count++;
}

static void take_percentiles(struct trend *t, struct point *p, const struct orr_timing_set *set) {
  for (size_t i = 0; i < set->name_count; i++) {
    int at = orr_timing_count(set, (int)i) > 0 ? name_index(t, set->name[i]) : -1;
    for (size_t k = 0; k < TRACES && at >= 0; k++) {
      double fraction = strcmp(set->name[i], "slack") == 0 ? 1 - traces[k] : traces[k];
      if ((double)orr_timing_count(set, (int)i) * (1 - traces[k]) >= 1)
        p->us[at][k] = fmax(1e-3, 1e-3 * orr_timing_percentile_ns(set, (int)i, fraction));
    }
  }
}

static bool read_point(struct trend *t, const char *file) {
  struct orr_timing_result r;
  char path[PATH_TEXT];
  snprintf(path, sizeof path, "%s/%s", t->folder, file);
  if (!orr_timing_result_load(path, &r)) {
    fprintf(stderr, "%s: warning: left out: %s\n", path, r.error);
    return false;
  }
  struct point *p = &t->point[t->count++];
  const json_t *part = json_array_get(json_object_get(r.root, "parts"), 0);
  orr_text_clean(file, "", p->file, sizeof p->file);
  take_text(part, "when", p->when, sizeof p->when);
  take_text(json_object_get(part, "build"), "commit", p->commit, sizeof p->commit);
  take_text(json_object_get(json_object_get(part, "environment"), "kernel"), "release", p->kernel, sizeof p->kernel);
  p->slices = r.set.slice_count;
  take_percentiles(t, p, &r.set);
  orr_timing_result_close(&r);
  return true;
}

static int by_time(const void *a, const void *b) {
  const struct point *x = a, *y = b;
  int order = strcmp(x->when, y->when);
  return order ? order : strcmp(x->file, y->file);
}

static bool read_folder(struct trend *t) {
  DIR *folder = opendir(t->folder);
  if (!folder) {
    fprintf(stderr, "orrery timing trend: cannot read '%s': %s\n", t->folder, strerror(errno));
    return false;
  }
  for (struct dirent *entry; (entry = readdir(folder)) != NULL && t->count < POINTS_MAX;) {
    size_t length = strlen(entry->d_name);
    if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0)
      read_point(t, entry->d_name);
  }
  closedir(folder);
  if (t->count == 0)
    fprintf(stderr, "orrery timing trend: no result in '%s'\n", t->folder);
  else
    qsort(t->point, t->count, sizeof *t->point, by_time);
  return t->count > 0;
}

/* ---- one distribution -------------------------------------------------------------------------------------------- */

struct series {
  size_t count;
  double x[POINTS_MAX], y[POINTS_MAX]; /* number of the point, from 1; us */
  struct orr_timing_change change[ORR_TIMING_CHANGES_MAX];
  size_t changes;
};

static void take_series(const struct trend *t, size_t name, size_t trace, struct series *s) {
  s->count = 0;
  for (size_t i = 0; i < t->count; i++) {
    if (!(t->point[i].us[name][trace] > 0))
      continue;
    s->x[s->count] = (double)i + 1;
    s->y[s->count++] = t->point[i].us[name][trace];
  }
  s->changes = orr_timing_changes(s->y, s->count, s->change, ORR_TIMING_CHANGES_MAX);
}

/* Up and down at each change; along the lower edge between them. */
static void draw_changes(struct orr_svg *svg, const struct series *s, const char *name, double low, double high) {
  double x[3 * ORR_TIMING_CHANGES_MAX], y[3 * ORR_TIMING_CHANGES_MAX];
  for (size_t i = 0; i < s->changes; i++)
    for (size_t k = 0; k < 3; k++) {
      x[3 * i + k] = s->x[s->change[i].at] - 0.5;
      y[3 * i + k] = k == 1 ? high : low;
    }
  if (s->changes > 0)
    orr_svg_line(svg, name, x, y, 3 * s->changes);
}

static void draw(struct orr_svg *svg, const struct trend *t, size_t name, struct series s[TRACES]) {
  double low = HUGE_VAL, high = 0;
  char text[16], label[32];
  for (size_t k = 0; k < TRACES; k++)
    for (size_t i = 0; i < s[k].count; i++) {
      low = fmin(low, s[k].y[i]);
      high = fmax(high, s[k].y[i]);
    }
  struct orr_svg_axis y = orr_svg_axis_for("us, log", low, high, true);
  orr_svg_panel(svg, t->name[name], orr_svg_axis_for("result", 1, fmax(2, (double)t->count), false), y);
  for (size_t k = 0; k < TRACES; k++)
    if (s[k].count > 0)
      orr_svg_line(svg, orr_timing_fraction_text(traces[k], text), s[k].x, s[k].y, s[k].count);
  for (size_t k = 0; k < TRACES; k++) {
    snprintf(label, sizeof label, "%s changes", orr_timing_fraction_text(traces[k], text));
    draw_changes(svg, &s[k], label, y.low, y.high);
  }
}

static void list_changes(FILE *out, const struct trend *t, size_t name, const struct series *s, double fraction) {
  char text[16], a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT];
  for (size_t i = 0; i < s->changes; i++) {
    const struct orr_timing_change *c = &s->change[i];
    const struct point *p = &t->point[(size_t)s->x[c->at] - 1];
    fprintf(out, "<li>%s %s: %s to %s (%+.1f %%) from result %.0f on, ", t->name[name],
            orr_timing_fraction_text(fraction, text), orr_duration_text((int64_t)(1e3 * c->before), a),
            orr_duration_text((int64_t)(1e3 * c->after), b), 100 * (c->after / c->before - 1), s->x[c->at]);
    orr_junit_text(out, p->when);
    fputs(", commit ", out);
    orr_junit_text(out, p->commit);
    fputs(", kernel ", out);
    orr_junit_text(out, p->kernel);
    fputs("</li>\n", out);
  }
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static void put_table(FILE *out, const struct trend *t) {
  fputs("<table><tr><th>result</th><th>when</th><th>commit</th><th>kernel</th><th>slices</th><th>file</th></tr>\n",
        out);
  for (size_t i = 0; i < t->count; i++) {
    const char *const cells[] = {t->point[i].when, t->point[i].commit, t->point[i].kernel};
    fprintf(out, "<tr><td>%zu</td>", i + 1);
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
      fputs("<td>", out);
      orr_junit_text(out, cells[k]);
      fputs("</td>", out);
    }
    fprintf(out, "<td>%zu</td><td>", t->point[i].slices);
    orr_junit_text(out, t->point[i].file);
    fputs("</td></tr>\n", out);
  }
  fputs("</table>\n", out);
}

static bool put_page(FILE *out, const struct trend *t) {
  struct series *s = calloc(TRACES, sizeof *s);
  struct orr_svg svg;
  if (!s)
    return false;
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>orrery timing</title>\n"
        "<style>body{font-family:sans-serif;max-width:64em;margin:1em auto;color:#222}table{border-collapse:collapse}"
        "td,th{border:1px solid #ccc;padding:2px 8px;text-align:left}</style></head><body>\n<h1>Timing of ",
        out);
  orr_junit_text(out, t->folder);
  fprintf(out,
          "</h1>\n<p>%zu results in their order of time. A change is where the ranks before and behind differ more "
          "than in 99 of 100 random orders.</p>\n<h2>Changes</h2>\n<ul>\n",
          t->count);
  for (size_t i = 0; i < t->name_count; i++)
    for (size_t k = 0; k < TRACES; k++) {
      take_series(t, i, k, s);
      list_changes(out, t, i, s, traces[k]);
    }
  fputs("</ul>\n", out);
  orr_svg_begin(&svg, out, (int)t->name_count, 0, "percentiles", t->folder);
  for (size_t i = 0; i < t->name_count; i++) {
    for (size_t k = 0; k < TRACES; k++)
      take_series(t, i, k, &s[k]);
    draw(&svg, t, i, s);
  }
  orr_svg_end(&svg);
  put_table(out, t);
  fputs("</body></html>\n", out);
  free(s);
  return true;
}

static int write_page(const char *path, const struct trend *t) {
  struct orr_out_file file;
  bool good = orr_out_file_open(&file, path);
  if (good)
    good = orr_out_file_close(&file, put_page(file.out, t));
  if (!good)
    fprintf(stderr, "orrery timing trend: cannot write '%s': %s\n", path, strerror(errno));
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

int orr_timing_trend(int argc, char **argv) {
  const char *out = NULL;
  struct trend t = {.folder = NULL};
  const struct orr_timing_option options[] = {{"-o", &out, NULL}};
  size_t words = 0;
  int status = orr_timing_parse(argc, argv, options, 1, &t.folder, 1, &words);
  if (status != ORR_EXIT_OK)
    return status;
  if (words == 0)
    return orr_timing_usage("trend", "needs a folder of results", NULL);
  if (!out)
    return orr_timing_usage("trend", "needs -o PAGE.html", NULL);
  t.point = calloc(POINTS_MAX, sizeof *t.point);
  if (!t.point)
    return ORR_EXIT_BAD;
  status = read_folder(&t) ? write_page(out, &t) : ORR_EXIT_BAD;
  free(t.point);
  return status;
}
