/* `orrery replay A --with B`: two logs beside each other. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/common/text.h"
#include "tools/replay/replay.h"

/* A column that both have. */
struct pair {
  size_t a, b;
  uint64_t differences, largest_ulps, largest_at_ns, ulps_at_ns;
  double largest; /* in its unit; NaN where one is no number and the other is */
};

struct comparison {
  struct orr_log_rows *a, *b;
  struct pair *pairs;
  size_t count;
  uint64_t rows, only_a, only_b, differing;
  bool differs;
  uint64_t first_ns;
  size_t first; /* pair */
  double first_a, first_b;
};

static int by_name(const void *a, const void *b) {
  const struct orr_log_column *x = *(struct orr_log_column *const *)a, *y = *(struct orr_log_column *const *)b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x > y) - (x < y);
}

/* In the order of the first; of columns with one name, the first of the other. A log can have a million. */
static void match(struct comparison *c) {
  struct orr_log_column **of_b = calloc(c->b->count + 1, sizeof *of_b);
  c->pairs = calloc(c->a->count + 1, sizeof *c->pairs);
  if (!c->pairs || !of_b)
    abort();
  for (size_t k = 0; k < c->b->count; k++)
    of_b[k] = &c->b->columns[k];
  qsort(of_b, c->b->count, sizeof *of_b, by_name);
  for (size_t i = 0; i < c->a->count; i++) {
    size_t low = 0, high = c->b->count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (strcmp(of_b[middle]->name, c->a->columns[i].name) < 0)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < c->b->count && strcmp(of_b[low]->name, c->a->columns[i].name) == 0)
      c->pairs[c->count++] = (struct pair){.a = i, .b = (size_t)(of_b[low] - c->b->columns)};
  }
  free(of_b);
}

static void judge(struct comparison *c, size_t index) {
  struct pair *p = &c->pairs[index];
  const struct orr_log_column *x = &c->a->columns[p->a], *y = &c->b->columns[p->b];
  double a = x->value, b = y->value;
  if (memcmp(&a, &b, 8) == 0 || !x->seen || !y->seen || !(x->fresh || y->fresh))
    return;
  if (!c->differs) {
    c->differs = true;
    c->first = index;
    c->first_ns = c->a->time_ns;
    c->first_a = a;
    c->first_b = b;
  }
  uint64_t ulps = orr_replay_ulps(a, b);
  double size = fabs(a - b);
  if (p->differences++ == 0)
    c->differing++;
  if (size > p->largest || isnan(size)) {
    p->largest = size;
    p->largest_at_ns = c->a->time_ns;
  }
  if (ulps > p->largest_ulps) {
    p->largest_ulps = ulps;
    p->ulps_at_ns = c->a->time_ns;
  }
}

static void walk(struct comparison *c, const struct orr_replay_arguments *arguments) {
  bool a = orr_log_rows_next(c->a), b = orr_log_rows_next(c->b);
  while (a || b) {
    uint64_t now = a && (!b || c->a->time_ns <= c->b->time_ns) ? c->a->time_ns : c->b->time_ns;
    bool in = now >= arguments->from_ns && now <= arguments->to_ns;
    bool of_a = a && c->a->time_ns == now, of_b = b && c->b->time_ns == now;
    if (in && of_a && of_b) {
      c->rows++;
      for (size_t i = 0; i < c->count; i++)
        judge(c, i);
    } else if (in) {
      c->only_a += of_a;
      c->only_b += of_b;
    }
    a = of_a ? orr_log_rows_next(c->a) : a;
    b = of_b ? orr_log_rows_next(c->b) : b;
  }
}

static void print(const struct comparison *c) {
  printf("compared    %" PRIu64 " rows, %zu columns that both have; %zu and %zu are in one alone\n", c->rows, c->count,
         c->a->count - c->count, c->b->count - c->count);
  if (c->only_a + c->only_b)
    printf("rows        %" PRIu64 " only in the first, %" PRIu64 " only in the second\n", c->only_a, c->only_b);
  if (!c->differs) {
    puts("identical   every number that both have");
    return;
  }
  const struct orr_log_column *first = &c->a->columns[c->pairs[c->first].a];
  printf("differs     first at t = %.9f s: %s: %.17g and %.17g %s\n", 1e-9 * (double)c->first_ns, first->name,
         c->first_a, c->first_b, first->unit);
  for (size_t i = 0; i < c->count; i++) {
    const struct pair *p = &c->pairs[i];
    if (p->differences)
      printf("  %-28s %10" PRIu64 " times; largest %.4g %s at %.9g s, %" PRIu64 " ulps at %.9g s\n",
             c->a->columns[p->a].name, p->differences, p->largest, c->a->columns[p->a].unit,
             1e-9 * (double)p->largest_at_ns, p->largest_ulps, 1e-9 * (double)p->ulps_at_ns);
  }
}

static json_t *json_of(const struct comparison *c) {
  json_t *root = json_object(), *list = json_array();
  json_object_set_new(root, "identical", json_boolean(!c->differs));
  json_object_set_new(root, "rows", json_integer((json_int_t)c->rows));
  json_object_set_new(root, "columns", json_integer((json_int_t)c->count));
  json_object_set_new(root, "only_first", json_integer((json_int_t)c->only_a));
  json_object_set_new(root, "only_second", json_integer((json_int_t)c->only_b));
  if (c->differs) {
    json_object_set_new(root, "first_ns", json_integer((json_int_t)c->first_ns));
    json_object_set_new(root, "first", orr_json_text(c->a->columns[c->pairs[c->first].a].name));
  }
  for (size_t i = 0; i < c->count; i++) {
    const struct pair *p = &c->pairs[i];
    if (!p->differences)
      continue;
    json_t *one = json_object();
    json_object_set_new(one, "channel", orr_json_text(c->a->columns[p->a].name));
    json_object_set_new(one, "unit", orr_json_text(c->a->columns[p->a].unit));
    json_object_set_new(one, "differences", json_integer((json_int_t)p->differences));
    json_object_set_new(one, "largest", isfinite(p->largest) ? json_real(p->largest) : json_null());
    json_object_set_new(one, "largest_ulps",
                        p->largest_ulps <= INT64_MAX ? json_integer((json_int_t)p->largest_ulps) : json_null());
    json_array_append_new(list, one);
  }
  json_object_set_new(root, "channels", list);
  return root;
}

static int tell(struct comparison *c, const struct orr_replay_arguments *arguments) {
  match(c);
  walk(c, arguments);
  bool good = orr_log_ended(&c->a->log);
  good = orr_log_ended(&c->b->log) && good && !c->a->wrong && !c->b->wrong;
  if (c->rows == 0 || c->count == 0) {
    fprintf(stderr, "orrery replay: the two logs have no number in common\n");
    good = false;
  }
  if (arguments->json) {
    json_t *root = json_of(c);
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
  } else {
    print(c);
  }
  free(c->pairs);
  return good && !c->differs ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

int orr_replay_compare(const struct orr_replay_arguments *arguments) {
  struct orr_log_rows *rows = calloc(2, sizeof *rows);
  if (!rows)
    abort();
  struct comparison c = {.a = &rows[0], .b = &rows[1]};
  int status = ORR_EXIT_BAD;
  if (orr_log_rows_open(c.a, "orrery replay", arguments->path, NULL)) {
    if (orr_log_rows_open(c.b, "orrery replay", arguments->with, NULL)) {
      status = tell(&c, arguments);
      orr_log_rows_close(c.b);
    }
    orr_log_rows_close(c.a);
  }
  free(rows);
  return status;
}
