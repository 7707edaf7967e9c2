#include "tests/support/results.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NUMBERS = 4096, FIELD_SIZE = 160 };

/* A comparison under way: where we are (`field`) and what was found. */
struct walk {
  struct orr_comparison found;
  struct orr_tolerance tolerance;
};

struct numbers {
  size_t count;
  bool valid; /* nothing but numbers, and not too many */
  double v[MOST_NUMBERS];
};

static void collect(struct numbers *n, const json_t *x) {
  size_t i;
  json_t *e;
  if (json_is_array(x)) {
    json_array_foreach(x, i, e) collect(n, e);
  } else if (json_is_number(x) && n->count < MOST_NUMBERS) {
    n->v[n->count++] = json_number_value(x);
  } else {
    n->valid = false;
  }
}

/* Nested lists as one vector. */
static void flatten(struct numbers *n, const json_t *x) {
  n->count = 0;
  n->valid = x != NULL;
  if (x)
    collect(n, x);
}

static double largest(const json_t *x) {
  static _Thread_local struct numbers n;
  flatten(&n, x);
  double most = 0;
  for (size_t i = 0; i < n.count; i++)
    most = fmax(most, fabs(n.v[i]));
  return most;
}

static void record(struct walk *w, const char *field, double ratio, double relative, const char *note) {
  w->found.compared++;
  if (!(ratio <= 1))
    w->found.failed++;
  if (w->found.worst_field[0] && ratio <= w->found.worst)
    return;
  w->found.worst = ratio;
  w->found.worst_relative = relative;
  snprintf(w->found.worst_field, sizeof w->found.worst_field, "%s", field);
  snprintf(w->found.note, sizeof w->found.note, "%s", note);
}

static void wrong(struct walk *w, const char *field, const char *note) { record(w, field, HUGE_VAL, HUGE_VAL, note); }

static double allowed(const struct walk *w, double scale) {
  return w->tolerance.relative * scale + w->tolerance.absolute;
}

/* |x - y|, with anything that is not finite as far away as can be. */
static double difference(double x, double y) { return isfinite(x) && isfinite(y) ? fabs(x - y) : HUGE_VAL; }

__attribute__((format(printf, 2, 3))) static void name(char field[FIELD_SIZE], const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(field, FIELD_SIZE, format, args);
  va_end(args);
}

/* Elements first..first+count-1 of two vectors, `sign` times the actual one. */
static void compare_part(struct walk *w, const char *field, const struct numbers *e, const struct numbers *a,
                         size_t first, size_t count, double sign, double scale) {
  double most = 0;
  for (size_t i = first; i < first + count; i++)
    most = fmax(most, difference(e->v[i], sign * a->v[i]));
  record(w, field, most / allowed(w, scale), scale > 0 ? most / scale : most, "");
}

/* Both as numbers of the same count; a wrong shape is recorded. */
static bool same_shape(struct walk *w, const char *field, const json_t *expected, const json_t *actual,
                       struct numbers *e, struct numbers *a) {
  flatten(e, expected);
  flatten(a, actual);
  if (!e->valid || !a->valid)
    wrong(w, field, actual ? "not numbers" : "missing");
  else if (e->count != a->count)
    wrong(w, field, "wrong length");
  else
    return true;
  return false;
}

static void compare_vector(struct walk *w, const char *field, const json_t *expected, const json_t *actual,
                           double scale) {
  static _Thread_local struct numbers e, a;
  if (same_shape(w, field, expected, actual, &e, &a))
    compare_part(w, field, &e, &a, 0, e.count, 1, scale);
}

/* Quaternions: q and -q are one attitude. */
static void compare_attitude(struct walk *w, const char *field, const json_t *expected, const json_t *actual) {
  static _Thread_local struct numbers e, a;
  if (!same_shape(w, field, expected, actual, &e, &a))
    return;
  double dot = 0;
  for (size_t i = 0; i < e.count; i++)
    dot += e.v[i] * a.v[i];
  compare_part(w, field, &e, &a, 0, e.count, dot < 0 ? -1 : 1, 1);
}

static void compare_momentum(struct walk *w, const char *pre, const json_t *expected, const json_t *actual) {
  static _Thread_local struct numbers e, a;
  char field[FIELD_SIZE];
  name(field, "%smomentum", pre);
  if (!same_shape(w, field, expected, actual, &e, &a))
    return;
  if (e.count != 6) {
    wrong(w, field, "wrong length");
    return;
  }
  for (size_t part = 0; part < 2; part++) {
    double own = 0;
    for (size_t i = 3 * part; i < 3 * part + 3; i++)
      own = fmax(own, fabs(e.v[i]));
    name(field, "%smomentum.%s", pre, part ? "linear" : "angular");
    compare_part(w, field, &e, &a, 3 * part, 3, 1, fmax(own, 1e-3 * largest(expected)));
  }
}

static bool is_square(const json_t *m, size_t n) {
  size_t i;
  json_t *row;
  if (!json_is_array(m) || json_array_size(m) != n)
    return false;
  json_array_foreach(m, i, row) {
    if (!json_is_array(row) || json_array_size(row) != n)
      return false;
    for (size_t j = 0; j < n; j++)
      if (!json_is_number(json_array_get(row, j)))
        return false;
  }
  return true;
}

static double element(const json_t *m, size_t i, size_t j) {
  return json_number_value(json_array_get(json_array_get(m, i), j));
}

static void compare_matrix(struct walk *w, const char *field, const json_t *e, const json_t *a) {
  size_t n = json_array_size(e);
  if (!is_square(e, n) || !is_square(a, n)) {
    wrong(w, field, a ? "not a square matrix of the right size" : "missing");
    return;
  }
  double worst = 0, relative = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double scale = fmax(sqrt(fabs(element(e, i, i) * element(e, j, j))), 1e-300);
      double d = difference(element(e, i, j), element(a, i, j));
      if (d / allowed(w, scale) > worst) {
        worst = d / allowed(w, scale);
        relative = d / scale;
      }
    }
  record(w, field, worst, relative, "");
}

/* Position and attitude, of those that `e` holds. */
static void compare_pose(struct walk *w, const char *pre, const json_t *e, const json_t *a) {
  char field[FIELD_SIZE];
  const json_t *position = json_object_get(e, "position"), *attitude = json_object_get(e, "attitude");
  if (position) {
    name(field, "%s.position", pre);
    compare_vector(w, field, position, json_object_get(a, "position"), fmax(1, largest(position)));
  }
  if (attitude) {
    name(field, "%s.attitude", pre);
    compare_attitude(w, field, attitude, json_object_get(a, "attitude"));
  }
}

static bool is_empty(const json_t *x) { return !x || json_is_null(x) || (json_is_array(x) && json_array_size(x) == 0); }

static bool is_place(const char *key) {
  return strcmp(key, "position") == 0 || strcmp(key, "attitude") == 0 || strcmp(key, "nodes") == 0;
}

static double largest_over_bodies(const json_t *bodies, const char *field) {
  const char *body;
  json_t *fields;
  double top = 0;
  json_object_foreach((json_t *)bodies, body, fields) {
    const json_t *x = json_object_get(fields, field);
    if (!is_empty(x))
      top = fmax(top, largest(x));
  }
  return top;
}

static void compare_body(struct walk *w, const char *pre, const json_t *bodies, const json_t *e, const json_t *a) {
  char field[FIELD_SIZE];
  const char *key;
  json_t *x;
  json_object_foreach((json_t *)e, key, x) {
    if (is_place(key) || is_empty(x)) /* a fixed hinge's empty list may be left out */
      continue;
    name(field, "%s.%s", pre, key);
    compare_vector(w, field, x, json_object_get(a, key), fmax(largest(x), 1e-2 * largest_over_bodies(bodies, key)));
  }
  compare_pose(w, pre, e, a);
  const json_t *nodes = json_object_get(a, "nodes");
  json_object_foreach(json_object_get(e, "nodes"), key, x) {
    name(field, "%s.nodes.%s", pre, key);
    compare_pose(w, field, x, json_object_get(nodes, key));
  }
}

static void compare_bodies(struct walk *w, const char *pre, const json_t *expected, const json_t *actual) {
  char field[FIELD_SIZE];
  const char *key;
  json_t *e;
  json_object_foreach((json_t *)expected, key, e) {
    name(field, "%s.%s", pre, key);
    compare_body(w, field, expected, e, json_object_get(actual, key));
  }
}

static void compare_multipliers(struct walk *w, const json_t *e, const json_t *a) {
  char field[FIELD_SIZE];
  double all = 0;
  size_t i;
  json_t *x;
  json_array_foreach(e, i, x) if (!is_empty(x)) all = fmax(all, largest(x));
  bool asked = false;
  json_array_foreach(e, i, x) asked = asked || !json_is_null(x);
  if (!asked)
    return;
  if (!json_is_array(a) || json_array_size(a) != json_array_size(e)) {
    wrong(w, "multipliers", a ? "not one entry per loop" : "missing");
    return;
  }
  json_array_foreach(e, i, x) {
    name(field, "multipliers[%zu]", i);
    if (!json_is_null(x))
      compare_vector(w, field, x, json_array_get(a, i), fmax(largest(x), 1e-3 * all));
  }
}

static void compare_object(struct walk *w, const char *pre, const json_t *expected, const json_t *actual);

static void compare_trajectory(struct walk *w, const json_t *expected, const json_t *actual) {
  char pre[FIELD_SIZE];
  size_t i, j;
  json_t *e, *a;
  json_array_foreach(expected, i, e) {
    double t = json_number_value(json_object_get(e, "t"));
    const json_t *match = NULL;
    json_array_foreach(actual, j, a) {
      const json_t *u = json_object_get(a, "t");
      if (json_is_number(u) && fabs(json_number_value(u) - t) < 1e-9)
        match = a;
    }
    name(pre, "t=%g ", t);
    if (match)
      compare_object(w, pre, e, match);
    else
      wrong(w, pre, "missing");
  }
}

static double energy(const json_t *e) {
  return fabs(json_number_value(json_object_get(e, "kinetic_energy"))) +
         fabs(json_number_value(json_object_get(e, "potential_energy")));
}

static bool ends_with(const char *word, const char *end) {
  size_t n = strlen(word), m = strlen(end);
  return n >= m && strcmp(word + n - m, end) == 0;
}

static void compare_field(struct walk *w, const char *pre, const char *key, const json_t *e, const json_t *a,
                          double energy) {
  char field[FIELD_SIZE];
  name(field, "%s%s", pre, key);
  if (strcmp(key, "bodies") == 0 || strcmp(key, "state") == 0)
    compare_bodies(w, field, e, a);
  else if (strcmp(key, "trajectory") == 0)
    compare_trajectory(w, e, a);
  else if (strcmp(key, "multipliers") == 0)
    compare_multipliers(w, e, a);
  else if (strcmp(key, "momentum") == 0)
    compare_momentum(w, pre, e, a);
  else if (strcmp(key, "mass_matrix") == 0 || strcmp(key, "operational_compliance") == 0)
    compare_matrix(w, field, e, a);
  else if (strcmp(key, "log_det_mass_matrix") == 0)
    compare_vector(w, field, e, a, fmax(1, largest(e)));
  else if (ends_with(key, "_energy"))
    compare_vector(w, field, e, a, fmax(largest(e), 1e-3 * energy));
  else
    compare_vector(w, field, e, a, largest(e));
}

static void compare_object(struct walk *w, const char *pre, const json_t *expected, const json_t *actual) {
  const char *key;
  json_t *e;
  json_object_foreach((json_t *)expected, key, e) {
    if (strcmp(key, "t") != 0 && !json_is_null(e))
      compare_field(w, pre, key, e, json_object_get(actual, key), energy(expected));
  }
}

struct orr_comparison orr_results_compare(const json_t *expected, const json_t *actual,
                                          struct orr_tolerance tolerance) {
  struct walk w = {.tolerance = tolerance};
  compare_object(&w, "", expected, actual);
  return w.found;
}

bool orr_results_agree(const struct orr_comparison *c) { return c->compared > 0 && c->failed == 0; }
