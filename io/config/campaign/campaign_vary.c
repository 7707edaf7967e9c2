/* What varies in a campaign: `vary`, `correlated` and `table`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/campaign/campaign_draft.h"
#include "io/config/text/unit.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

struct variation_keys {
  struct orr_place normal, uniform, log_uniform, triangular, one_of, within;
};

#define NUMBERS ORR_SHAPE(.kind = ORR_SHAPE_NUMBERS, .what = "list of numbers with the path's unit")

static const struct orr_key variation_table[] = {
    {.name = "normal",
     .doc = "[mean, standard deviation]",
     .type = ORR_KEY_PLACE,
     .absent = "another law stands",
     .shape = NUMBERS,
     .offset = offsetof(struct variation_keys, normal)},
    {.name = "uniform",
     .doc = "[low, high]",
     .type = ORR_KEY_PLACE,
     .absent = "another law stands",
     .shape = NUMBERS,
     .offset = offsetof(struct variation_keys, uniform)},
    {.name = "log_uniform",
     .doc = "[low, high], both above 0: even in the logarithm",
     .type = ORR_KEY_PLACE,
     .absent = "another law stands",
     .shape = NUMBERS,
     .offset = offsetof(struct variation_keys, log_uniform)},
    {.name = "triangular",
     .doc = "[low, most likely, high]",
     .type = ORR_KEY_PLACE,
     .absent = "another law stands",
     .shape = NUMBERS,
     .offset = offsetof(struct variation_keys, triangular)},
    {.name = "one_of",
     .doc = "values as the run file would write them, each as likely; of the sampling `grid` each in its turn",
     .type = ORR_KEY_PLACE,
     .absent = "another law stands",
     .shape = ORR_LIST(ORR_TEXT("a value of that key")),
     .offset = offsetof(struct variation_keys, one_of)},
    {.name = "within",
     .doc = "[low, high]: of `normal`, no value is outside; the law is cut there and not heaped up",
     .type = ORR_KEY_PLACE,
     .absent = "any value",
     .shape = NUMBERS,
     .offset = offsetof(struct variation_keys, within)},
};

const struct orr_mapping orr_variation_mapping = {
    .name = "campaign.vary",
    .doc = "How the value of a path varies: one law. `each` alone gives every flight a whole number of its own, for "
           "seeds. Numbers may carry the unit of the path; a bare one is SI. Times need their unit, and are rounded to "
           "nanoseconds.",
    ORR_KEYS(variation_table)};

struct correlated_keys {
  struct orr_place paths, mean, covariance;
};

static const struct orr_key correlated_table[] = {
    {.name = "paths",
     .doc = "the paths, at most eight",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_LIST(ORR_TEXT("a path")),
     .offset = offsetof(struct correlated_keys, paths)},
    {.name = "mean",
     .doc = "their means",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = NUMBERS,
     .offset = offsetof(struct correlated_keys, mean)},
    {.name = "covariance",
     .doc = "their covariance: rows in the order of the paths, plain numbers, SI; symmetric and positive definite",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_LIST(NUMBERS),
     .offset = offsetof(struct correlated_keys, covariance)},
};

const struct orr_mapping orr_correlated_mapping = {
    .name = "campaign.correlated", .doc = "Normals that are drawn together.", ORR_KEYS(correlated_table)};

enum { JOINT = 8, CELLS = 100000000 };

/* ---- numbers of any unit ----------------------------------------------------------------------------------------- */

struct written {
  double si;
  struct orr_unit unit;
  bool has_unit;
};

static bool parse_any(const char *text, struct written *out) {
  struct orr_quantity q;
  enum orr_quantity_status status = orr_quantity_parse(text, "", &q);
  *out = (struct written){.si = q.value, .unit = q.unit, .has_unit = q.has_unit};
  if (status == ORR_QUANTITY_WRONG_UNIT)
    out->si = q.value * q.unit.numerator / q.unit.denominator;
  return (status == ORR_QUANTITY_OK || status == ORR_QUANTITY_WRONG_UNIT) && isfinite(out->si);
}

static bool is_time_unit(const struct orr_unit *unit) {
  struct orr_unit second;
  const char *at;
  return orr_unit_parse("s", &second, &at) == ORR_QUANTITY_OK &&
         memcmp(second.dimension, unit->dimension, sizeof second.dimension) == 0;
}

static const char *unit_text(const char *text) {
  char *end;
  strtod(text, &end);
  while (*end == ' ')
    end++;
  return end;
}

/* Numbers of one law: all of one dimension, whatever it is; the run file's reader knows which it must be. */
static bool read_law(struct orr_campaign_draft *d, struct orr_place place, const char *name, size_t count,
                     struct orr_campaign_vary *v, double *out) {
  if (!orr_expect_sequence(d->reader, place, name))
    return false;
  if (orr_place_count(place) != count) {
    orr_read_error(d->reader, place, "wrong-length", "'%s' takes %zu numbers, and here are %zu", name, count,
                   orr_place_count(place));
    return false;
  }
  struct written first = {0}, one;
  for (size_t i = 0; i < count; i++) {
    struct orr_place item = orr_place_item(d->reader->diagnostics, place, i);
    const char *text;
    if (!item.node || item.node->kind != ORR_YAML_SCALAR || !parse_any(text = item.node->text, &one)) {
      orr_read_error(d->reader, item, "not-a-number", "'%s' takes numbers, with the unit of the path or none", name);
      return false;
    }
    if (i == 0)
      first = one;
    if (one.has_unit != first.has_unit ||
        memcmp(one.unit.dimension, first.unit.dimension, sizeof one.unit.dimension) != 0) {
      orr_read_error(d->reader, item, "wrong-unit", "all numbers of '%s' have one unit, or none", name);
      return false;
    }
    if (i == 0 && !*v->unit && one.has_unit) {
      v->unit = unit_text(text);
      v->is_time = is_time_unit(&one.unit);
    }
    out[i] = one.si;
  }
  return true;
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* `a.b[0].c` as a setting has it: a.b.0.c. */
static const char *setting_of(struct orr_campaign_draft *d, const char *path) {
  char *out = orr_arena_copy(d->reader->arena, path, strlen(path)), *to = out;
  for (const char *p = path; *p; p++) {
    if (*p == '[')
      *to++ = '.';
    else if (*p != ']')
      *to++ = *p;
  }
  *to = '\0';
  return out;
}

/* Whether the run file takes these settings, behind the bases. */
static bool takes(struct orr_campaign_draft *d, const char *setting, struct orr_diagnostics *own) {
  const char *settings[ORR_CAMPAIGN_VARIED + 1];
  size_t n = 0;
  for (int i = 0; i < d->c->base_count; i++)
    settings[n++] = d->c->bases[i];
  settings[n++] = setting;
  const struct orr_config_options options = {
      .files = d->files->memory, .file_count = d->files->memory_count, .settings = settings, .setting_count = n};
  return orr_run_load(d->c->run_path, &options, own);
}

/* A list that the file leaves out, so that its items can vary: zeros, as many as the reader takes. */
static bool add_base(struct orr_campaign_draft *d, const char *setting, size_t list, unsigned long index) {
  enum { LONGEST = 9 };
  for (int i = 0; i < d->c->base_count; i++)
    if (strncmp(d->bases[i], setting, list) == 0 && d->bases[i][list] == '=')
      return true;
  const char *zeros = "";
  for (unsigned long n = 1; n <= LONGEST; n++) {
    zeros = orr_arena_format(d->reader->arena, "%s%s0", zeros, n > 1 ? ", " : "");
    const char *base = orr_arena_format(d->reader->arena, "%.*s=[%s]", (int)list, setting, zeros);
    struct orr_diagnostics *own = orr_diagnostics_create();
    bool good = n > index && takes(d, base, own);
    orr_diagnostics_destroy(own);
    if (good)
      d->bases[d->c->base_count++] = base;
    if (good)
      return true;
  }
  return false;
}

/* Every part of a path but the last must stand in the file: what a setting would add there is a slip of the pen. The
 * last one is judged by the reader, which knows the keys that may be left out. */
static bool walk_path(struct orr_campaign_draft *d, struct orr_place at, const char *setting) {
  const struct orr_file *file = orr_files_open(d->files, d->c->run_path, NULL, 0);
  const struct orr_yaml *node = file->root;
  for (const char *p = setting; node;) {
    size_t n = strcspn(p, ".");
    const char *name = orr_arena_copy(d->reader->arena, p, n);
    bool last = !p[n];
    if (node->kind == ORR_YAML_SCALAR && p != setting && strncmp(setting, "spacecraft.", 11) == 0 &&
        p == setting + 11) {
      const struct orr_file *other = orr_files_open(d->files, node->text, file->path, 0);
      file = other;
      node = other->root && other->root->kind == ORR_YAML_MAPPING &&
                     orr_yaml_find(other->root, "spacecraft") < other->root->count
                 ? other->root->entries[orr_yaml_find(other->root, "spacecraft")].value
                 : NULL;
      continue;
    }
    if (last || strchr(name, '*') || node->kind == ORR_YAML_NULL)
      return true;
    if (node->kind == ORR_YAML_SEQUENCE) {
      char *end;
      unsigned long index = strtoul(name, &end, 10);
      if (*end || index >= node->count) {
        orr_read_error(d->reader, at, "unknown-path", "'%.80s': that list has no item '%.20s'", setting, name);
        return false;
      }
      node = node->items[index].value;
    } else if (node->kind == ORR_YAML_MAPPING) {
      size_t k = orr_yaml_find(node, name);
      const char *rest = p + n + 1;
      if (k == node->count && *rest && !rest[strspn(rest, "0123456789")] &&
          add_base(d, setting, (size_t)(p - setting) + n, strtoul(rest, NULL, 10)))
        return true;
      if (k == node->count) {
        struct orr_nearest nearest = {.wanted = name};
        for (size_t i = 0; i < node->count; i++)
          if (node->entries[i].key->kind == ORR_YAML_SCALAR)
            orr_nearest_offer(&nearest, node->entries[i].key->text);
        orr_read_error(d->reader, at, "unknown-path", "'%.80s': there is no '%.60s' in the run file%s%s%s", setting,
                       name, nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "",
                       nearest.best ? "'?" : "");
        return false;
      }
      node = node->entries[k].value;
    } else {
      orr_read_error(d->reader, at, "unknown-path", "'%.80s': there is a single value where '%.60s' should be found",
                     setting, name);
      return false;
    }
    p += n + 1;
  }
  return true;
}

static struct orr_campaign_vary *new_vary(struct orr_campaign_draft *d, struct orr_place at, const char *path) {
  if (d->c->vary_count == ORR_CAMPAIGN_VARIED) {
    orr_read_error(d->reader, at, "too-many", "at most %d paths vary", ORR_CAMPAIGN_VARIED);
    return NULL;
  }
  if (strpbrk(path, "=\n") || !*path) {
    orr_read_error(d->reader, at, "bad-path", "'%.60s' is no path", path);
    return NULL;
  }
  const char *setting = setting_of(d, path);
  for (int i = 0; i < d->c->vary_count; i++)
    if (strcmp(d->varies[i].setting, setting) == 0) {
      orr_read_error(d->reader, at, "twice", "'%.80s' varies twice", path);
      return NULL;
    }
  if (!walk_path(d, at, setting))
    return NULL;
  struct orr_campaign_vary *v = &d->varies[d->c->vary_count++];
  *v = (struct orr_campaign_vary){.path = path,
                                  .setting = setting,
                                  .low = -HUGE_VAL,
                                  .high = HUGE_VAL,
                                  .dimension = -1,
                                  .unit = "",
                                  .source = orr_place_source(d->reader->diagnostics, at)};
  return v;
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

static void take_texts(struct orr_campaign_draft *d, struct orr_campaign_vary *v, const char *const *texts, int count) {
  double *values = orr_arena_alloc(d->reader->arena, (size_t)count, sizeof *values);
  v->law = ORR_LAW_ONE_OF;
  v->texts = texts;
  v->text_values = values;
  v->text_count = count;
  for (int i = 0; i < count; i++) {
    struct written one;
    values[i] = parse_any(texts[i], &one) ? one.si : nan("");
    if (i == 0 && isfinite(values[i]) && one.has_unit)
      v->unit = unit_text(texts[i]);
  }
}

static bool read_one_of(struct orr_campaign_draft *d, struct orr_place place, struct orr_campaign_vary *v) {
  size_t n = place.node ? orr_place_count(place) : 0;
  if (!orr_expect_sequence(d->reader, place, "one_of"))
    return false;
  const char **texts = orr_arena_alloc(d->reader->arena, n + 1, sizeof *texts);
  for (size_t i = 0; i < n; i++) {
    struct orr_place item = orr_place_item(d->reader->diagnostics, place, i);
    if (!item.node || item.node->kind != ORR_YAML_SCALAR || strpbrk(item.node->text, "\n\"")) {
      orr_read_error(d->reader, item, "wrong-type", "'one_of' takes single values");
      return false;
    }
    if (item.node->count >= ORR_CAMPAIGN_VALUE)
      orr_read_error(d->reader, item, "too-long", "a value has at most %d letters", ORR_CAMPAIGN_VALUE - 1);
    texts[i] = item.node->text;
  }
  if (!n)
    orr_read_error(d->reader, place, "wrong-length", "'one_of' has no value");
  take_texts(d, v, texts, (int)n);
  return n > 0;
}

static bool judge_law(struct orr_campaign_draft *d, struct orr_place at, const struct orr_campaign_vary *v) {
  const double *x = v->number;
  const char *wrong = NULL;
  if (v->law == ORR_LAW_NORMAL && !(x[1] > 0))
    wrong = "the standard deviation must be above 0";
  if ((v->law == ORR_LAW_UNIFORM || v->law == ORR_LAW_LOG_UNIFORM) && !(x[0] < x[1]))
    wrong = "low must be below high";
  if (v->law == ORR_LAW_LOG_UNIFORM && !(x[0] > 0))
    wrong = "both ends must be above 0";
  if (v->law == ORR_LAW_TRIANGULAR && !(x[0] < x[2] && x[0] <= x[1] && x[1] <= x[2]))
    wrong = "low, most likely and high must stand in that order";
  if (!(v->low < v->high))
    wrong = "'within' takes low below high";
  if (v->law == ORR_LAW_NORMAL && !wrong && !(v->low < x[0] + 6 * x[1] && v->high > x[0] - 6 * x[1]))
    wrong = "'within' leaves nothing of this law: it lies more than six standard deviations off the mean";
  if (wrong)
    orr_read_error(d->reader, at, "law", "'%.80s': %s", v->path, wrong);
  return !wrong;
}

static void read_variation(struct orr_campaign_draft *d, struct orr_place key, struct orr_place value) {
  struct orr_campaign_vary *v = new_vary(d, key, key.node->text);
  struct variation_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "the variation of", .name = key.node->text, .place = value, .key = key};
  if (!v)
    return;
  if (value.node && value.node->kind == ORR_YAML_SCALAR && strcmp(value.node->text, "each") == 0) {
    v->law = ORR_LAW_EACH;
    return;
  }
  if (!orr_read_mapping(d->reader, &thing, &orr_variation_mapping, &keys, &present))
    return;
  const struct {
    struct orr_place place;
    const char *name;
    size_t count;
    enum orr_campaign_law law;
  } laws[] = {{keys.normal, "normal", 2, ORR_LAW_NORMAL},
              {keys.uniform, "uniform", 2, ORR_LAW_UNIFORM},
              {keys.log_uniform, "log_uniform", 2, ORR_LAW_LOG_UNIFORM},
              {keys.triangular, "triangular", 3, ORR_LAW_TRIANGULAR},
              {keys.one_of, "one_of", 0, ORR_LAW_ONE_OF}};
  int which = -1, count = 0;
  for (int i = 0; i < 5; i++)
    if (laws[i].place.node) {
      which = i;
      count++;
    }
  if (count != 1) {
    orr_read_error(d->reader, key, "law", "'%.80s' takes one of normal, uniform, log_uniform, triangular and one_of",
                   v->path);
    return;
  }
  v->law = laws[which].law;
  bool good = v->law == ORR_LAW_ONE_OF
                  ? read_one_of(d, keys.one_of, v)
                  : read_law(d, laws[which].place, laws[which].name, laws[which].count, v, v->number);
  double ends[2];
  if (good && keys.within.node) {
    if (v->law != ORR_LAW_NORMAL) {
      orr_read_error(d->reader, keys.within, "law",
                     "'within' goes with 'normal': the other laws have ends of their own");
      return;
    }
    good = read_law(d, keys.within, "within", 2, v, ends);
    v->low = good ? ends[0] : v->low;
    v->high = good ? ends[1] : v->high;
  }
  if (good && judge_law(d, key, v) && d->c->sampling == ORR_SAMPLING_GRID && v->law != ORR_LAW_ONE_OF)
    orr_read_error(d->reader, key, "law", "'%.80s': the sampling 'grid' takes 'one_of' (or 'each')", v->path);
  v->dimension = d->c->dimensions++;
}

/* ---- correlated -------------------------------------------------------------------------------------------------- */

/* A = L Lᵀ by rows; false where A is not positive definite. */
static bool factor(double a[JOINT][JOINT], size_t n, double l[JOINT][JOINT]) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = a[i][j];
      for (size_t k = 0; k < j; k++)
        sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 1e-12 * a[i][i]))
        return false;
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
  return true;
}

static bool read_covariance(struct orr_campaign_draft *d, struct orr_place place, size_t n, double l[JOINT][JOINT]) {
  double a[JOINT][JOINT] = {{0}};
  if (!orr_expect_sequence(d->reader, place, "covariance"))
    return false;
  bool good = orr_place_count(place) == n;
  for (size_t i = 0; good && i < n; i++) {
    struct orr_place row = orr_place_item(d->reader->diagnostics, place, i);
    good = row.node && row.node->kind == ORR_YAML_SEQUENCE && orr_place_count(row) == n;
    for (size_t j = 0; good && j < n; j++)
      if (!orr_read_number(d->reader, orr_place_item(d->reader->diagnostics, row, j), "covariance", NULL, NULL,
                           &a[i][j]))
        return false;
  }
  if (!good) {
    orr_read_error(d->reader, place, "wrong-length", "the covariance of %zu paths has %zu rows of %zu numbers", n, n,
                   n);
    return false;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      good &= fabs(a[i][j] - a[j][i]) <= 1e-12 * fmax(fabs(a[i][j]), fabs(a[j][i]));
  if (!good || !factor(a, n, l)) {
    orr_read_error(d->reader, place, "covariance", "a covariance is symmetric and positive definite, and this is not");
    return false;
  }
  return true;
}

static void read_group(struct orr_campaign_draft *d, struct orr_place item) {
  struct correlated_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "correlated", .place = item};
  double l[JOINT][JOINT] = {{0}}, means[JOINT];
  if (!orr_read_mapping(d->reader, &thing, &orr_correlated_mapping, &keys, &present) ||
      !orr_expect_sequence(d->reader, keys.paths, "paths") || !orr_expect_sequence(d->reader, keys.mean, "mean"))
    return;
  size_t n = orr_place_count(keys.paths);
  if (n < 2 || n > JOINT || orr_place_count(keys.mean) != n) {
    orr_read_error(d->reader, keys.paths, "wrong-length", "two to %d paths, with as many means", JOINT);
    return;
  }
  if (!read_covariance(d, keys.covariance, n, l))
    return;
  int first = d->c->dimensions;
  for (size_t i = 0; i < n; i++) {
    struct orr_place at = orr_place_item(d->reader->diagnostics, keys.paths, i),
                     mean = orr_place_item(d->reader->diagnostics, keys.mean, i);
    const char *path;
    struct written one;
    if (!orr_read_text(d->reader, at, "paths", &path))
      return;
    if (mean.node->kind != ORR_YAML_SCALAR || !parse_any(mean.node->text, &one)) {
      orr_read_error(d->reader, mean, "not-a-number", "'mean' takes numbers, with the units of the paths or none");
      return;
    }
    struct orr_campaign_vary *v = new_vary(d, at, path);
    if (!v)
      return;
    double *row = orr_arena_alloc(d->reader->arena, n, sizeof *row);
    memcpy(row, l[i], (i + 1) * sizeof *row);
    means[i] = one.si;
    v->law = ORR_LAW_JOINT;
    v->number[0] = means[i];
    double variance = 0;
    for (size_t k = 0; k <= i; k++)
      variance += l[i][k] * l[i][k];
    v->number[1] = sqrt(variance);
    v->factor = row;
    v->joint_first = first;
    v->unit = one.has_unit ? unit_text(mean.node->text) : "";
    v->is_time = one.has_unit && is_time_unit(&one.unit);
    v->dimension = d->c->dimensions++;
  }
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

/* The next cell of a row, without its quotes and the spaces around it; *end is behind its comma. */
static char *next_cell(char **at) {
  char *p = *at + strspn(*at, " \t"), *cell = p, *to;
  if (*p == '"') {
    for (cell = to = ++p; *p && (*p != '"' || p[1] == '"'); p++) {
      p += *p == '"';
      *to++ = *p;
    }
    p += *p == '"';
    p += strcspn(p, ",");
  } else {
    p += strcspn(p, ",");
    to = p;
    while (to > cell && (to[-1] == ' ' || to[-1] == '\t'))
      to--;
  }
  *at = *p ? p + 1 : NULL;
  *to = '\0';
  return cell;
}

static char *next_line(char **at) {
  for (char *line = *at; line && *line;) {
    size_t n = strcspn(line, "\n");
    *at = line[n] ? line + n + 1 : line + n;
    line[n] = '\0';
    if (n && line[n - 1] == '\r')
      line[n - 1] = '\0';
    if (line[strspn(line, " \t")] && *line != '#')
      return line;
    line = *at;
  }
  return NULL;
}

/* Columns become paths that take one of their cells. */
static void read_table(struct orr_campaign_draft *d, const char *path) {
  struct orr_place at = orr_read_member(d->reader, d->thing, "table");
  const char *text;
  size_t length, columns = 0, rows = 0;
  if (!orr_files_text(d->files, path, d->c->path, orr_place_source(d->reader->diagnostics, at), &text, &length))
    return;
  char *copy = orr_arena_copy(d->reader->arena, text, length), *rest = copy, *line = next_line(&rest);
  const char **cells[ORR_CAMPAIGN_VARIED] = {NULL};
  struct orr_campaign_vary *vary[ORR_CAMPAIGN_VARIED];
  size_t most = 1;
  for (const char *p = rest; p && *p; p++)
    most += *p == '\n';
  while (line) {
    char *cell = next_cell(&line);
    vary[columns] = new_vary(d, at, cell);
    if (!vary[columns])
      return;
    cells[columns++] = orr_arena_alloc(d->reader->arena, most, sizeof **cells);
  }
  while ((line = next_line(&rest))) {
    size_t k = 0;
    for (; line && k < columns; k++)
      if (strlen(cells[k][rows] = next_cell(&line)) >= ORR_CAMPAIGN_VALUE || !*cells[k][rows])
        break;
    if (line || k < columns) {
      orr_read_error(d->reader, at, "table",
                     "row %zu of '%.60s' has not the %zu cells of its head, or one is empty or over 159 letters",
                     rows + 1, path, columns);
      return;
    }
    rows++;
  }
  if (!rows || !columns) {
    orr_read_error(d->reader, at, "table", "'%.60s' has a head with paths, and a row for each flight", path);
    return;
  }
  for (size_t k = 0; k < columns; k++) {
    take_texts(d, vary[k], cells[k], (int)rows);
    vary[k]->dimension = d->c->dimensions++;
  }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* How many flights there are of a grid or a table; 0: that is not what they are counted by. */
static int64_t count_cells(struct orr_campaign_draft *d) {
  int64_t cells = 1;
  if (d->c->sampling == ORR_SAMPLING_LIST) {
    for (int i = 0; i < d->c->vary_count; i++)
      if (d->varies[i].law == ORR_LAW_ONE_OF)
        return d->varies[i].text_count;
    return 0;
  }
  if (d->c->sampling != ORR_SAMPLING_GRID)
    return 0;
  for (int i = 0; i < d->c->vary_count; i++)
    if (d->varies[i].law == ORR_LAW_ONE_OF) {
      cells *= d->varies[i].text_count;
      if (cells > CELLS)
        return cells;
    }
  return cells;
}

static void count_flights(struct orr_campaign_draft *d) {
  struct orr_place at = orr_read_member(d->reader, d->thing, "flights");
  int64_t cells = count_cells(d);
  if (cells > ORR_CAMPAIGN_FLIGHTS)
    orr_read_error(d->reader, at, "flights", "this grid has more than %d flights", ORR_CAMPAIGN_FLIGHTS);
  else if (cells && d->c->flights > cells)
    orr_read_error(d->reader, at, "flights", "there are %lld flights, not %lld", (long long)cells,
                   (long long)d->c->flights);
  else if (!cells && !d->c->flights)
    orr_read_error(d->reader, at, "missing-key", "a campaign of this sampling says how many 'flights' there are");
  if (!d->c->flights)
    d->c->flights = cells;
  if (d->c->sampling == ORR_SAMPLING_SOBOL && d->c->dimensions > ORR_CAMPAIGN_SOBOL)
    orr_read_error(d->reader, orr_read_member(d->reader, d->thing, "sampling"), "too-many",
                   "the sequence of Sobol fills at most %d dimensions: use latin_hypercube", ORR_CAMPAIGN_SOBOL);
}

void orr_campaign_read_vary(struct orr_campaign_draft *d, struct orr_place vary, struct orr_place correlated,
                            const char *table) {
  d->varies = orr_arena_alloc(d->reader->arena, ORR_CAMPAIGN_VARIED, sizeof *d->varies);
  d->c->varies = d->varies;
  d->bases = orr_arena_alloc(d->reader->arena, ORR_CAMPAIGN_VARIED, sizeof *d->bases);
  d->c->bases = d->bases;
  if (vary.node && orr_expect_mapping(d->reader, vary, "vary"))
    for (size_t i = 0; i < orr_place_count(vary); i++)
      read_variation(d, orr_place_key(d->reader->diagnostics, vary, i),
                     orr_place_value(d->reader->diagnostics, vary, i));
  if (correlated.node && orr_expect_sequence(d->reader, correlated, "correlated"))
    for (size_t i = 0; i < orr_place_count(correlated); i++)
      read_group(d, orr_place_item(d->reader->diagnostics, correlated, i));
  bool list = d->c->sampling == ORR_SAMPLING_LIST, drawn = false;
  for (int i = 0; i < d->c->vary_count; i++)
    drawn |= d->varies[i].law != ORR_LAW_EACH;
  if (list != (table != NULL) || (list && drawn))
    orr_read_error(d->reader, d->thing->key, "table",
                   "'table' and 'sampling: list' go together, with nothing else that varies but 'each'");
  else if (table)
    read_table(d, table);
  count_flights(d);
}

const char *orr_campaign_value(const struct orr_campaign_vary *v, double value, char text[ORR_CAMPAIGN_VALUE]) {
  if (v->law == ORR_LAW_ONE_OF)
    snprintf(text, ORR_CAMPAIGN_VALUE, "%s", v->texts[(int)value]);
  else if (v->law == ORR_LAW_EACH)
    snprintf(text, ORR_CAMPAIGN_VALUE, "%.0f", value);
  else if (v->is_time)
    snprintf(text, ORR_CAMPAIGN_VALUE, "%.0f ns", 1e9 * value);
  else
    snprintf(text, ORR_CAMPAIGN_VALUE, "%.17g", value);
  return text;
}

const struct orr_channel *orr_campaign_check_pattern(struct orr_campaign_draft *d, struct orr_place place,
                                                     const char *pattern) {
  const struct orr_channel_table *table = &d->c->nominal->table;
  struct orr_nearest nearest = {.wanted = pattern};
  int element;
  for (int i = 0; i < table->count; i++) {
    if (orr_channel_matches(pattern, table->channels[i].name))
      return &table->channels[i];
    orr_nearest_offer(&nearest, table->channels[i].name);
  }
  int found = orr_channel_find_element(table, pattern, &element);
  if (found >= 0)
    return &table->channels[found];
  orr_read_error(d->reader, place, "unknown-channel", "no channel fits '%.80s'%s%s%s", pattern,
                 nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
  return NULL;
}

/* ---- whether the run file takes it ------------------------------------------------------------------------------- */

/* Reads the run file with one setting, in diagnostics of its own, and reports its first mistake here. */
static bool try_setting(struct orr_campaign_draft *d, const struct orr_campaign_vary *v, const char *value) {
  struct orr_diagnostics *own = orr_diagnostics_create();
  const char *setting = orr_arena_format(d->reader->arena, "%s=%s", v->setting, value);
  bool good = takes(d, setting, own);
  for (size_t i = 0; !good && i < orr_diagnostics_count(own); i++) {
    struct orr_message m = orr_diagnostics_get(own, i);
    if (m.severity != ORR_ERROR)
      continue;
    orr_report(d->reader->diagnostics, ORR_ERROR, v->source, "bad-value", "%.80s = %.40s: %s", v->path, value, m.text);
    break;
  }
  orr_diagnostics_destroy(own);
  return good;
}

static void try_number(struct orr_campaign_draft *d, const struct orr_campaign_vary *v, double si, bool *good) {
  char text[ORR_CAMPAIGN_VALUE];
  if (!*good || !isfinite(si))
    return;
  /* with the unit that is written, so that the reader sees it */
  struct written unit = {.unit = {1, 1, {0}}};
  if (*v->unit && parse_any(orr_arena_format(d->reader->arena, "1 %s", v->unit), &unit) && !v->is_time) {
    snprintf(text, sizeof text, "%.17g %.30s", si / unit.si, v->unit);
    *good = try_setting(d, v, text);
  } else {
    *good = try_setting(d, v, orr_campaign_value(v, si, text));
  }
}

void orr_campaign_judge(struct orr_campaign_draft *d) {
  enum { TEXTS = 64 }; /* of a long table the rest is judged when it is flown */
  for (int i = 0; i < d->c->vary_count; i++) {
    const struct orr_campaign_vary *v = &d->c->varies[i];
    bool good = true;
    if (v->law == ORR_LAW_EACH)
      good = try_setting(d, v, "9007199254740991");
    for (int k = 0; good && v->law == ORR_LAW_ONE_OF && k < v->text_count && k < TEXTS; k++)
      good = try_setting(d, v, v->texts[k]);
    if (v->law == ORR_LAW_NORMAL || v->law == ORR_LAW_JOINT) {
      try_number(d, v, v->number[0], &good);
      try_number(d, v, fmax(v->low, v->number[0] - 3 * v->number[1]), &good);
      try_number(d, v, fmin(v->high, v->number[0] + 3 * v->number[1]), &good);
    } else if (v->law == ORR_LAW_UNIFORM || v->law == ORR_LAW_LOG_UNIFORM || v->law == ORR_LAW_TRIANGULAR) {
      try_number(d, v, v->number[0], &good);
      try_number(d, v, v->number[v->law == ORR_LAW_TRIANGULAR ? 2 : 1], &good);
    }
  }
}
