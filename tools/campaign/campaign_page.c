#include "tools/campaign/campaign_page.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/campaign/campaign_columns.h"
#include "tools/campaign/campaign_script.h"
#include "tools/common/json_file.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"

enum { SHOWN = 4000, CORRELATIONS = 20, CURVES = 64 };

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

struct ranked {
  double value;
  size_t row;
};

static int by_value(const void *a, const void *b) {
  double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
  return (x > y) - (x < y);
}

static void *must(void *memory) {
  if (!memory)
    abort();
  return memory;
}

static void rank(struct ranked *list, size_t n, double *ranks) {
  qsort(list, n, sizeof *list, by_value);
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i; j < n && list[j].value <= list[i].value; j++)
      ;
    for (size_t k = i; k < j; k++)
      ranks[list[k].row] = 0.5 * (double)(i + j - 1);
  }
}

double orr_rank_correlation(const double *x, const double *y, size_t count) {
  struct ranked *list = must(calloc(2 * count + 1, sizeof *list)), *other = list + count;
  double *ranks = must(calloc(2 * count + 1, sizeof *ranks)), *theirs = ranks + count;
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(x[i]) && isfinite(y[i])) {
      list[n] = (struct ranked){x[i], n};
      other[n] = (struct ranked){y[i], n};
      n++;
    }
  rank(list, n, ranks);
  rank(other, n, theirs);
  double mean = 0.5 * ((double)n - 1), xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < n; i++) {
    xx += (ranks[i] - mean) * (ranks[i] - mean);
    yy += (theirs[i] - mean) * (theirs[i] - mean);
    xy += (ranks[i] - mean) * (theirs[i] - mean);
  }
  free(list);
  free(ranks);
  return n > 2 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : nan("");
}

/* ---- over time --------------------------------------------------------------------------------------------------- */

struct curves {
  size_t count;
  char *name[CURVES];
  json_t *rows[CURVES]; /* lists of samples, one for each flight */
};

static void take_curves(void *to, json_t *row) {
  struct curves *c = to;
  const char *name;
  json_t *samples;
  json_object_foreach(json_object_get(row, "histories"), name, samples) {
    size_t i = 0;
    while (i < c->count && strcmp(c->name[i], name) != 0)
      i++;
    if (i == CURVES)
      continue;
    if (i == c->count) {
      c->name[c->count] = must(strdup(name));
      c->rows[c->count++] = json_array();
    }
    json_array_append(c->rows[i], samples);
  }
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Least, 5 %, half, 95 % and largest at each moment: a list of five lists. */
static json_t *envelope(json_t *rows) {
  static const double parts[] = {0, 0.05, 0.5, 0.95, 1};
  json_t *bands = json_array(), *samples;
  size_t moments = 0, i, n;
  double *x = must(calloc(json_array_size(rows) + 1, sizeof *x));
  for (int b = 0; b < 5; b++)
    json_array_append_new(bands, json_array());
  json_array_foreach(rows, i, samples) moments =
      json_array_size(samples) > moments ? json_array_size(samples) : moments;
  for (size_t k = 0; k < moments; k++) {
    n = 0;
    json_array_foreach(rows, i, samples) if (json_is_number(json_array_get(samples, k))) x[n++] =
        json_number_value(json_array_get(samples, k));
    qsort(x, n, sizeof *x, by_size);
    for (size_t b = 0; b < 5 && n; b++)
      json_array_append_new(json_array_get(bands, b), json_real(x[(size_t)(parts[b] * (double)(n - 1) + 0.5)]));
  }
  free(x);
  return bands;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text) {
  char clean[ORR_TEXT_MAX];
  for (const char *c = orr_text_clean(text ? text : "", "", clean, sizeof clean); *c; c++) {
    const char *entity = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
    if (entity)
      fputs(entity, out);
    else
      fputc(*c, out);
  }
}

static const char *text_in(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static long long number_in(const json_t *object, const char *key) {
  return (long long)json_integer_value(json_object_get(object, key));
}

static void put_verdict(FILE *out, const json_t *summary) {
  const char *verdict = text_in(summary, "verdict"), *name;
  json_t *one, *count;
  size_t i;
  fputs("<h1>Campaign <span class=\"", out);
  put_text(out, verdict);
  fputs("\">", out);
  put_text(out, verdict);
  fputs("</span></h1>\n<p>", out);
  put_text(out, text_in(summary, "campaign"));
  fputs(", of ", out);
  put_text(out, text_in(summary, "run"));
  fprintf(out, ": %lld of %lld flights flown.", number_in(summary, "flown"), number_in(summary, "flights"));
  json_object_foreach(json_object_get(summary, "counts"), name, count) if (json_integer_value(count)) {
    fprintf(out, " %lld ", (long long)json_integer_value(count));
    put_text(out, name);
    fputc('.', out);
  }
  fputs("<br>Fingerprint of build and elementary functions: <code>", out);
  put_text(out, text_in(summary, "fingerprint"));
  fputs("</code></p>\n", out);
  json_array_foreach(json_object_get(summary, "shares"), i, one) {
    const json_t *lower = json_object_get(one, "lower");
    bool holds = json_is_true(json_object_get(one, "holds"));
    fprintf(out, "<p><b class=\"%s\">%s</b> %g of the flights ", holds ? "passed" : "failed",
            holds ? "holds" : "not shown", json_number_value(json_object_get(one, "share")));
    fputs(json_is_string(json_object_get(one, "meets")) ? "meet " : "pass", out);
    put_text(out, text_in(one, "meets"));
    fprintf(out, ": %lld of %lld", number_in(one, "met"), number_in(one, "flown"));
    if (lower)
      fprintf(out, ", so at least %.5f with confidence %g (Clopper and Pearson)", json_real_value(lower),
              json_number_value(json_object_get(one, "confidence")));
    fputs("</p>\n", out);
  }
  fputs("<table><tr><th>expectation</th><th>met</th><th>judged</th><th>least margin</th><th>flight</th></tr>\n", out);
  json_array_foreach(json_object_get(summary, "expect"), i, one) {
    const json_t *margin = json_object_get(one, "least_margin");
    fputs("<tr><td>", out);
    put_text(out, text_in(one, "name"));
    fprintf(out, "</td><td>%lld</td><td>%lld</td>", number_in(one, "met"), number_in(one, "judged"));
    if (margin)
      fprintf(out, "<td>%.4g</td><td>%lld</td></tr>\n", json_real_value(margin), number_in(one, "least_flight"));
    else
      fputs("<td></td><td></td></tr>\n", out);
  }
  fputs("</table>\n", out);
}

static void put_worst(FILE *out, const json_t *summary) {
  json_t *one;
  size_t i;
  fputs("<h2>The worst flights</h2>\n<table><tr><th>flight</th><th>margin, as a part of the bound</th><th>flies it "
        "again</th></tr>\n",
        out);
  json_array_foreach(json_object_get(summary, "worst"), i, one) {
    const json_t *margin = json_object_get(one, "margin");
    fprintf(out, "<tr><td>%lld</td><td>", number_in(one, "flight"));
    if (json_is_number(margin))
      fprintf(out, "%.4g", json_number_value(margin));
    else
      fputs("lost", out);
    fputs("</td><td><code>orrery campaign fly ", out);
    put_text(out, text_in(summary, "campaign"));
    fprintf(out, " --flight %lld</code></td></tr>\n", number_in(one, "flight"));
  }
  fputs("</table>\n", out);
}

struct correlation {
  double r;
  const struct orr_column *input, *outcome;
};

static int by_strength(const void *a, const void *b) {
  double x = fabs(((const struct correlation *)a)->r), y = fabs(((const struct correlation *)b)->r);
  return (x < y) - (x > y);
}

static void put_correlations(FILE *out, const struct orr_columns *t) {
  size_t n = 0;
  struct correlation *list = must(calloc(t->column_count * t->column_count + 1, sizeof *list));
  for (size_t i = 0; i < t->column_count; i++)
    for (size_t k = 0; k < t->column_count && t->columns[i].is_input; k++) {
      double r = t->columns[k].is_input ? nan("") : orr_rank_correlation(t->columns[i].x, t->columns[k].x, t->rows);
      if (isfinite(r))
        list[n++] = (struct correlation){r, &t->columns[i], &t->columns[k]};
    }
  qsort(list, n, sizeof *list, by_strength);
  fprintf(out,
          "<h2>Rank correlations</h2>\n<p>Spearman's, the %d largest. By chance one of %zu flights is beyond %.2f once "
          "in twenty.</p>\n<table><tr><th>varied</th><th>outcome</th><th>correlation</th></tr>\n",
          CORRELATIONS, t->rows, t->rows > 2 ? 1.96 / sqrt((double)t->rows - 1) : 1);
  for (size_t i = 0; i < n && i < CORRELATIONS; i++) {
    fputs("<tr><td>", out);
    put_text(out, list[i].input->name);
    fputs("</td><td>", out);
    put_text(out, list[i].outcome->name);
    fprintf(out, "</td><td>%+.3f</td></tr>\n", list[i].r);
  }
  fputs("</table>\n", out);
  free(list);
}

static json_t *numbers(const double *x, size_t rows, size_t every) {
  json_t *list = json_array();
  for (size_t i = 0; i < rows; i += every)
    json_array_append_new(list, isfinite(x[i]) ? json_real(x[i]) : json_null());
  return list;
}

/* What the script draws. Of many flights some: the page says so. */
static json_t *data_of(const struct orr_columns *t, const struct curves *c) {
  size_t every = (t->rows + SHOWN - 1) / SHOWN;
  json_t *root = json_object(), *columns = json_array(), *curves = json_array(), *verdicts = json_array();
  every += every == 0;
  for (size_t i = 0; i < t->column_count; i++)
    json_array_append_new(columns, json_pack("{s:o, s:b, s:o}", "name", orr_json_text(t->columns[i].name), "input",
                                             t->columns[i].is_input, "x", numbers(t->columns[i].x, t->rows, every)));
  for (size_t i = 0; i < t->rows; i += every)
    json_array_append_new(verdicts, json_boolean(strcmp(t->verdicts[i], "passed") == 0));
  for (size_t i = 0; i < c->count; i++)
    json_array_append_new(curves,
                          json_pack("{s:o, s:o}", "name", orr_json_text(c->name[i]), "bands", envelope(c->rows[i])));
  json_object_set_new(root, "columns", columns);
  json_object_set_new(root, "flights", numbers(t->flights, t->rows, every));
  json_object_set_new(root, "passed", verdicts);
  json_object_set_new(root, "curves", curves);
  json_object_set_new(root, "every", json_integer((json_int_t)every));
  return root;
}

/* JSON inside a page: no letter of it may end the element. */
static void put_data(FILE *out, const json_t *data) {
  char *text = must(json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(6)));
  fputs("<script type=\"application/json\" id=\"data\">", out);
  for (const char *c = text; *c; c++) {
    if (*c == '<')
      fputs("\\u003c", out);
    else
      fputc(*c, out);
  }
  fputs("</script>\n", out);
  free(text);
}

static void put_page(FILE *out, const json_t *summary, const struct orr_columns *t, const struct curves *c) {
  json_t *data = data_of(t, c);
  fputs(orr_campaign_head, out);
  put_verdict(out, summary);
  fputs(orr_campaign_body, out);
  if (number_in(data, "every") > 1)
    fprintf(out, "<p>Drawn is one flight of %lld; all are in the tables and the correlations.</p>\n",
            number_in(data, "every"));
  if (t->left_out)
    fprintf(out, "<p>Only the first %d columns are here; the table has all.</p>\n", ORR_COLUMNS_MOST);
  put_correlations(out, t);
  put_worst(out, summary);
  put_data(out, data);
  for (size_t i = 0; orr_campaign_script[i]; i++)
    fputs(orr_campaign_script[i], out);
  fputs("</body>\n</html>\n", out);
  json_decref(data);
}

static void free_all(struct orr_columns *t, struct curves *c) {
  orr_columns_free(t);
  for (size_t i = 0; i < c->count; i++) {
    free(c->name[i]);
    json_decref(c->rows[i]);
  }
}

bool orr_campaign_page(const char *folder, const char *path) {
  struct orr_columns *t = must(calloc(1, sizeof *t));
  struct curves curves = {.count = 0};
  struct orr_out_file file;
  char at[PATH_MAX], trouble[ORR_JSON_TROUBLE];
  snprintf(at, sizeof at, "%.3900s/summary.json", folder);
  json_t *summary = orr_json_load(at, 0, trouble);
  bool good = summary && orr_columns_read(t, folder);
  if (!good)
    fprintf(stderr, "orrery campaign: '%s' has no tables of a campaign: %s%s: 'orrery campaign run' writes them\n",
            folder, summary ? "no table.jsonl" : "summary.json: ", summary ? "" : trouble);
  orr_columns_each_line(folder, "histories.jsonl", &curves, take_curves);
  if (good && (good = orr_out_file_open(&file, path))) {
    put_page(file.out, summary, t, &curves);
    good = orr_out_file_close(&file, true);
  }
  if (!good && summary)
    fprintf(stderr, "orrery campaign: cannot write '%s': %s\n", path, strerror(errno));
  free_all(t, &curves);
  free(t);
  json_decref(summary);
  return good;
}
