#include "tools/timing/verdict_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json_numbers.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"
#include "tools/common/timing_report.h"
#include "tools/run/junit.h"
#include "tools/run/svg.h"

enum { PANELS_MAX = 16 };

/* ---- words ------------------------------------------------------------------------------------------------------- */

static size_t fewer_slices(const struct orr_timing_report *r) {
  size_t a = r->base->set.slice_count, b = r->new->set.slice_count;
  return a < b ? a : b;
}

/* An interval shrinks with the root of the slices; a fifth more for luck. */
size_t orr_timing_report_wants(const struct orr_timing_report *r) {
  double most = 0, have = (double)fewer_slices(r);
  if (r->comparison->verdict != ORR_TIMING_NOISY)
    return 0;
  for (size_t i = 0; i < r->comparison->row_count; i++) {
    const struct orr_timing_row *row = &r->comparison->row[i];
    if (row->verdict == ORR_TIMING_NOISY && row->decides) {
      double wide = 0.5 * (row->high_ns - row->low_ns) / (2 * row->counts_ns);
      most = fmax(most, have * wide * wide * 1.2);
    }
  }
  most = fmin(fmax(fmax(most, ORR_TIMING_SLICES_FEWEST + 2), have + 4), 10000);
  return (size_t)ceil(most - have);
}

static void print_row(FILE *out, const struct orr_timing_row *row) {
  char kind[16], base[ORR_DURATION_TEXT], new[ORR_DURATION_TEXT], low[ORR_DURATION_TEXT], high[ORR_DURATION_TEXT];
  double part = row->base_ns > 0 ? 100 * row->difference_ns / row->base_ns : 0;
  fprintf(out, "%-24s %-11s %10s %10s %+7.1f %%  [%9s, %9s]  %s%s\n", row->name, orr_timing_row_text(row, kind),
          orr_duration_text((int64_t)row->base_ns, base), orr_duration_text((int64_t)row->new_ns, new), part,
          orr_duration_text((int64_t)row->low_ns, low), orr_duration_text((int64_t)row->high_ns, high),
          orr_timing_verdict_name(row->verdict),
          row->verdict == ORR_TIMING_NOISY && !row->decides ? " (does not decide)" : "");
}

/* Whether the verdict comes from this row. */
static bool is_blamed(const struct orr_timing_comparison *c, const struct orr_timing_row *row) {
  return row->verdict == c->verdict && (c->verdict != ORR_TIMING_NOISY || row->decides);
}

static void print_blamed(FILE *out, const struct orr_timing_comparison *c) {
  const char *before = "";
  for (size_t i = 0; i < c->row_count; i++)
    if (is_blamed(c, &c->row[i]) && strcmp(before, c->row[i].name) != 0) {
      fprintf(out, "%s %s", *before ? "," : ":", c->row[i].name);
      before = c->row[i].name;
    }
  fputc('\n', out);
}

void orr_timing_report_print(FILE *out, const struct orr_timing_report *r) {
  const struct orr_timing_comparison *c = r->comparison;
  fprintf(out, "base  %s, %zu slices\nnew   %s, %zu slices\n\n", r->base_path, r->base->set.slice_count, r->new_path,
          r->new->set.slice_count);
  if (c->row_count > 0)
    fprintf(out, "%-24s %-11s %10s %10s %9s  %-22s\n", "", "", "base", "new", "change", "95 % of resamples");
  for (size_t i = 0; i < c->row_count; i++)
    print_row(out, &c->row[i]);
  if (c->name_count > 0)
    fprintf(out, "\neffect (how much more often new is the larger of two samples):");
  for (size_t i = 0; i < c->name_count; i++)
    fprintf(out, " %s %+.2f%s", c->name[i], c->effect[i], i + 1 < c->name_count ? "," : "\n\n");
  fprintf(out, "verdict     %s", orr_timing_verdict_name(c->verdict));
  if (c->verdict == ORR_TIMING_NOT_COMPARABLE) {
    fputc('\n', out);
    for (size_t i = 0; i < r->reason_count; i++)
      fprintf(out, "  %s\n", r->reasons[i]);
    if (r->facts_differ)
      fputs("  --across compares all the same\n", out);
  } else if (c->verdict == ORR_TIMING_SAME) {
    fputc('\n', out);
  } else {
    print_blamed(out, c);
  }
  if (orr_timing_report_wants(r) > 0)
    fprintf(out, "  fly some %zu more slices of each (orrery timing run, then merge), or let --fly do it\n",
            orr_timing_report_wants(r));
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *row_json(const struct orr_timing_row *row) {
  char kind[16];
  return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "distribution", row->name, "measure",
                   orr_timing_row_text(row, kind), "verdict", orr_timing_verdict_name(row->verdict), "decides",
                   (int)row->decides, "base_ns", orr_json_number(row->base_ns), "new_ns", orr_json_number(row->new_ns),
                   "worse_by_ns", orr_json_number(row->difference_ns), "low_ns", orr_json_number(row->low_ns),
                   "high_ns", orr_json_number(row->high_ns), "counts_from_ns", orr_json_number(row->counts_ns),
                   "chance", orr_json_number(row->chance));
}

json_t *orr_timing_report_json(const struct orr_timing_report *r) {
  const struct orr_timing_comparison *c = r->comparison;
  json_t *rows = json_array(), *effects = json_object(), *reasons = json_array();
  for (size_t i = 0; i < c->row_count; i++)
    json_array_append_new(rows, row_json(&c->row[i]));
  for (size_t i = 0; i < c->name_count; i++)
    json_object_set_new(effects, c->name[i], orr_json_number(c->effect[i]));
  for (size_t i = 0; i < r->reason_count; i++)
    json_array_append_new(reasons, orr_json_text(r->reasons[i]));
  return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "verdict", orr_timing_verdict_name(c->verdict),
                   "base", orr_json_text(r->base_path), "new", orr_json_text(r->new_path), "base_slices",
                   (json_int_t)r->base->set.slice_count, "new_slices", (json_int_t)r->new->set.slice_count,
                   "more_slices_wanted", (json_int_t)orr_timing_report_wants(r), "not_comparable", reasons, "effect",
                   effects, "rows", rows);
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

static void put_case(FILE *out, const struct orr_timing_row *row) {
  char kind[16], base[ORR_DURATION_TEXT], new[ORR_DURATION_TEXT];
  fprintf(out, "    <testcase classname=\"timing\" name=\"");
  orr_junit_text(out, row->name);
  fprintf(out, " %s\" time=\"0\"", orr_timing_row_text(row, kind));
  if (row->verdict == ORR_TIMING_SLOWER)
    fprintf(out, ">\n      <failure type=\"slower\" message=\"%s, and it was %s\"/>\n    </testcase>\n",
            orr_duration_text((int64_t)row->new_ns, new), orr_duration_text((int64_t)row->base_ns, base));
  else if (row->verdict == ORR_TIMING_NOISY && row->decides)
    fputs(">\n      <error type=\"too noisy\" message=\"more slices may tell\"/>\n    </testcase>\n", out);
  else if (row->verdict == ORR_TIMING_NOISY)
    fputs(">\n      <skipped/>\n    </testcase>\n", out);
  else
    fputs("/>\n", out);
}

static int count(const struct orr_timing_comparison *c, enum orr_timing_verdict verdict, bool decides) {
  int n = 0;
  for (size_t i = 0; i < c->row_count; i++)
    n += c->row[i].verdict == verdict && (verdict != ORR_TIMING_NOISY || c->row[i].decides == decides);
  return n;
}

/* Why nobody can say, where no row says so: collectors look at cases, not at the verdict. */
static void put_apart(FILE *out, const struct orr_timing_report *r) {
  const char *verdict = orr_timing_verdict_name(r->comparison->verdict);
  fprintf(out,
          "    <testcase classname=\"timing\" name=\"comparable\" time=\"0\">\n      <error type=\"%s\" message=\"",
          verdict);
  for (size_t i = 0; i < r->reason_count; i++) {
    orr_junit_text(out, i ? "; " : "");
    orr_junit_text(out, r->reasons[i]);
  }
  orr_junit_text(out, r->reason_count > 0 ? "" : "more slices may tell");
  fputs("\"/>\n    </testcase>\n", out);
}

static void put_suite(FILE *out, const struct orr_timing_report *r) {
  const struct orr_timing_comparison *c = r->comparison;
  int errors = count(c, ORR_TIMING_NOISY, true);
  bool apart =
      c->verdict == ORR_TIMING_NOT_COMPARABLE || c->row_count == 0 || (c->verdict == ORR_TIMING_NOISY && errors == 0);
  orr_junit_begin(out, &(struct orr_junit_suite){.name = "orrery timing",
                                                 .tests = (int)c->row_count + apart,
                                                 .failures = count(c, ORR_TIMING_SLOWER, true),
                                                 .errors = errors + apart,
                                                 .skipped = count(c, ORR_TIMING_NOISY, false)});
  orr_junit_property(out, "verdict", orr_timing_verdict_name(c->verdict));
  orr_junit_cases(out);
  if (apart)
    put_apart(out, r);
  for (size_t i = 0; i < c->row_count; i++)
    put_case(out, &c->row[i]);
  orr_junit_end(out);
}

/* Writes a file by `put`. False after a message. */
static bool write_file(const char *path, const struct orr_timing_report *r,
                       void (*put)(FILE *out, const struct orr_timing_report *r)) {
  struct orr_out_file file;
  bool good = orr_out_file_open(&file, path);
  if (good) {
    put(file.out, r);
    good = orr_out_file_close(&file, true);
  }
  if (!good)
    fprintf(stderr, "orrery timing: cannot write '%s': %s\n", path, strerror(errno));
  return good;
}

bool orr_timing_report_junit(const char *path, const struct orr_timing_report *r) {
  return write_file(path, r, put_suite);
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

/* Of the samples, the part that is larger than x, in µs; of slack, whose small values matter, the part that is not.
 * What is negative stands at 1 ns: axes are logarithmic. */
struct curve {
  size_t count;
  double *x, *y;
};

static bool draw_up(const struct orr_timing_set *set, int name, struct curve *curve) {
  struct orr_timing_bins pool;
  bool less = orr_timing_more_is_better(set->name[name]);
  double beyond = 0;
  if (!orr_timing_pool(set, name, &pool))
    return false;
  *curve = (struct curve){.x = calloc(pool.used + 1, sizeof *curve->x), .y = calloc(pool.used + 1, sizeof *curve->y)};
  for (size_t i = pool.used; i-- > 0 && curve->x && curve->y;) {
    double larger = beyond;
    beyond += (double)pool.times[i];
    curve->x[i] = 1e-3 * fmax(orr_timing_bin_high_ns(&pool, i), 1);
    curve->y[i] = fmax(less ? (double)pool.count - larger : larger, 0.5) / (double)pool.count;
  }
  curve->count = curve->x && curve->y ? pool.used : 0;
  orr_timing_bins_free(&pool);
  return curve->count > 0;
}

static void close_curve(struct curve *curve) {
  free(curve->x);
  free(curve->y);
}

static void draw(struct orr_svg *svg, const char *name, const struct curve *base, const struct curve *new) {
  double low = fmin(base->x[0], new->x[0]), high = fmax(base->x[base->count - 1], new->x[new->count - 1]);
  double rare = fmin(fmin(base->y[0], base->y[base->count - 1]), fmin(new->y[0], new->y[new->count - 1]));
  const char *part = orr_timing_more_is_better(name) ? "smaller" : "larger";
  orr_svg_panel(svg, name, orr_svg_axis_for("us", low, high, true), orr_svg_axis_for(part, rare, 1, true));
  orr_svg_line(svg, "base", base->x, base->y, base->count);
  orr_svg_line(svg, "new", new->x, new->y, new->count);
}

static void put_picture(FILE *out, const struct orr_timing_report *r) {
  struct orr_svg svg;
  int names[PANELS_MAX], others[PANELS_MAX], panels = 0;
  char subtitle[ORR_TEXT_MAX];
  for (size_t i = 0; i < r->base->set.name_count && panels < PANELS_MAX; i++) {
    int other = orr_timing_find(&r->new->set, r->base->set.name[i]);
    if (other < 0 || orr_timing_count(&r->base->set, (int)i) == 0 || orr_timing_count(&r->new->set, other) == 0)
      continue;
    names[panels] = (int)i;
    others[panels++] = other;
  }
  snprintf(subtitle, sizeof subtitle,
           "base %.2000s, new %.2000s: the part of the samples that is larger, of slack smaller", r->base_path,
           r->new_path);
  orr_svg_begin(&svg, out, panels, 0, orr_timing_verdict_name(r->comparison->verdict), subtitle);
  for (int i = 0; i < panels; i++) {
    struct curve base = {0}, new = {0};
    if (draw_up(&r->base->set, names[i], &base) && draw_up(&r->new->set, others[i], &new))
      draw(&svg, r->base->set.name[names[i]], &base, &new);
    close_curve(&base);
    close_curve(&new);
  }
  orr_svg_end(&svg);
}

bool orr_timing_report_plot(const char *path, const struct orr_timing_report *r) {
  return write_file(path, r, put_picture);
}
