#include "tools/campaign/campaign_search.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/config/text/names.h"
#include "tools/campaign/campaign_flight.h"
#include "tools/campaign/campaign_pool.h"
#include "tools/campaign/campaign_run.h"
#include "tools/campaign/cmaes.h"
#include "tools/campaign/draw.h"
#include "tools/common/text.h"

enum { VARIED = ORR_CAMPAIGN_VARIED, BATCH = 64 };

struct search {
  const struct orr_campaign *c;
  struct orr_pool *pool;
  int jobs;
  int64_t flight, flown;
  bool ended;                           /* by a signal, or no worker is left */
  double middle[VARIED], scale[VARIED]; /* of each path: scale 0 where it is not moved */
};

/* Flies n ≤ BATCH points; rows[i] is a new reference, or NULL where there is none. */
static void fly_points(struct search *s, double (*points)[VARIED], int n, json_t **rows) {
  int given = 0;
  struct orr_pool_row row;
  memset(rows, 0, (size_t)n * sizeof *rows);
  while (orr_campaign_signals() == 0) {
    /* the number of the flight is what tells the rows from each other */
    for (; given < n && orr_pool_has_free(s->pool); given++)
      orr_pool_give(s->pool, given, points[given]);
    if (!orr_pool_flying(s->pool))
      break;
    if (!orr_pool_take(s->pool, 500, &row))
      continue;
    rows[row.flight] = json_loads(row.text, 0, NULL);
    free(row.text);
    s->flown++;
  }
  s->ended |= given < n || orr_campaign_signals() > 0;
}

/* Whether each of the points fails: a flight that is not `passed`. */
static void try_points(struct search *s, double (*points)[VARIED], int n, bool *fails) {
  json_t *rows[BATCH];
  fly_points(s, points, n, rows);
  for (int i = 0; i < n; i++) {
    const char *verdict = json_string_value(json_object_get(rows[i], "verdict"));
    fails[i] = verdict && strcmp(verdict, "passed") != 0;
    json_decref(rows[i]);
  }
}

static void open_search(struct search *s, const struct orr_search_request *r) {
  char tag[40];
  *s = (struct search){.c = r->campaign, .jobs = r->jobs > BATCH ? BATCH : r->jobs, .flight = r->flight};
  snprintf(tag, sizeof tag, "s%lld", (long long)getpid());
  orr_campaign_catch_signals();
  s->pool = orr_pool_create(r->campaign, s->jobs, tag);
  for (int i = 0; i < s->c->vary_count; i++) {
    const struct orr_campaign_vary *v = &s->c->varies[i];
    const double *x = v->number;
    bool normal = v->law == ORR_LAW_NORMAL || v->law == ORR_LAW_JOINT;
    bool fixed = v->law == ORR_LAW_EACH || v->law == ORR_LAW_ONE_OF;
    double high = v->law == ORR_LAW_TRIANGULAR ? x[2] : x[1];
    s->middle[i] = normal || v->law == ORR_LAW_TRIANGULAR ? x[v->law == ORR_LAW_TRIANGULAR]
                   : v->law == ORR_LAW_LOG_UNIFORM        ? sqrt(x[0] * x[1])
                                                          : 0.5 * (x[0] + x[1]);
    s->scale[i] = fixed ? 0 : normal ? x[1] : 0.5 * (high - x[0]);
  }
}

/* ---- shrink ------------------------------------------------------------------------------------------------------ */

static double size_of(const struct search *s, const double *x) {
  double sum = 0;
  for (int i = 0; i < s->c->vary_count; i++)
    if (s->scale[i] > 0)
      sum += (x[i] - s->middle[i]) * (x[i] - s->middle[i]) / (s->scale[i] * s->scale[i]);
  return sqrt(sum);
}

static void between(const struct search *s, const double *from, const double *to, double part, double *out) {
  for (int i = 0; i < s->c->vary_count; i++)
    out[i] = from[i] + part * (to[i] - from[i]);
}

/* The least part of the way from `from` to `x`, which fails, that still fails, to a thousandth of it; x moves there. As
 * many points at once as there are workers. */
static void shorten(struct search *s, const double *from, double *x) {
  double low = 0, high = 1, points[BATCH][VARIED];
  bool fails[BATCH];
  memcpy(points[0], from, sizeof points[0]);
  try_points(s, points, 1, fails);
  if (fails[0])
    high = 0;
  while (high - low > 1e-3 * high && high > 1e-6 && !s->ended) {
    int first = s->jobs;
    for (int k = 0; k < s->jobs; k++)
      between(s, from, x, low + (high - low) * (k + 1) / (s->jobs + 1), points[k]);
    try_points(s, points, s->jobs, fails);
    for (int k = s->jobs - 1; k >= 0; k--)
      first = fails[k] ? k : first;
    double width = (high - low) / (s->jobs + 1);
    high = first < s->jobs ? low + width * (first + 1) : high;
    low = low + width * first;
  }
  if (s->ended)
    return;
  double moved[VARIED];
  between(s, from, x, high, moved);
  memcpy(x, moved, sizeof moved);
}

/* Each path by itself towards its middle. */
static void shorten_each(struct search *s, double *x) {
  for (int i = 0; i < s->c->vary_count; i++) {
    double from[VARIED];
    memcpy(from, x, sizeof from);
    from[i] = s->scale[i] > 0 ? s->middle[i] : x[i];
    if (fabs(x[i] - from[i]) > 1e-9 * s->scale[i])
      shorten(s, from, x);
  }
}

static void middle_of(const struct search *s, const double *x, double *out) {
  for (int i = 0; i < VARIED; i++)
    out[i] = i < s->c->vary_count && s->scale[i] > 0 ? s->middle[i] : x[i];
}

/* Other directions, a little nearer: as long as some of them fail there. */
static void turn(struct search *s, double *x) {
  enum { ROUNDS = 24 };
  double step = 0.3, centre[VARIED], points[BATCH][VARIED];
  bool fails[BATCH];
  uint64_t drawn = 0;
  int n = s->jobs < 4 ? 4 : s->jobs;
  middle_of(s, x, centre);
  for (int round = 0; round < ROUNDS && step > 0.005 && !s->ended; round++) {
    double size = size_of(s, x);
    int found = -1;
    for (int k = 0; k < n; k++) {
      memcpy(points[k], x, sizeof points[k]);
      for (int i = 0; i < s->c->vary_count; i++)
        points[k][i] += step * size * s->scale[i] / sqrt(s->c->vary_count) *
                        orr_draw_normal_quantile(orr_draw_unit(orr_draw_bits(s->c->seed, drawn++, UINT64_C(1) << 44)));
      double length = size_of(s, points[k]), part = length > 0 ? 0.995 * size / length : 0;
      for (int i = 0; i < s->c->vary_count; i++)
        if (s->scale[i] > 0)
          points[k][i] = centre[i] + part * (points[k][i] - centre[i]);
    }
    try_points(s, points, n, fails);
    for (int k = n - 1; k >= 0; k--)
      found = fails[k] ? k : found;
    step *= found >= 0 ? 1.2 : 0.6;
    if (found < 0 || s->ended)
      continue;
    memcpy(x, points[found], sizeof points[found]);
    shorten(s, centre, x);
  }
}

static void tell_values(const struct search *s, const double *x, const double *of, json_t *root) {
  json_t *values = json_object();
  char text[ORR_CAMPAIGN_VALUE];
  for (int i = 0; i < s->c->vary_count; i++) {
    const struct orr_campaign_vary *v = &s->c->varies[i];
    json_t *one = json_object();
    json_object_set_new(one, "value", orr_json_text(orr_campaign_value(v, x[i], text)));
    if (of)
      json_object_set_new(one, "flight", orr_json_text(orr_campaign_value(v, of[i], text)));
    if (s->scale[i] > 0) {
      json_object_set_new(one, "middle", json_real(s->middle[i]));
      json_object_set_new(one, "off", json_real((x[i] - s->middle[i]) / s->scale[i]));
    }
    json_object_set_new(values, v->path, one);
  }
  json_object_set_new(root, "values", values);
}

static void print_values(const struct search *s, const double *x, const char *title) {
  char text[ORR_CAMPAIGN_VALUE];
  printf("%s\n", title);
  for (int i = 0; i < s->c->vary_count; i++) {
    printf("  %-44s %s", s->c->varies[i].path, orr_campaign_value(&s->c->varies[i], x[i], text));
    if (s->scale[i] > 0)
      printf("  (%+.4f)", (x[i] - s->middle[i]) / s->scale[i]);
    putchar('\n');
  }
  printf("flies it    orrery run %s --mode batch", s->c->run_path);
  struct orr_flight_settings settings;
  orr_flight_settings_make(&settings, s->c, x);
  for (size_t i = 0; i < settings.count; i++)
    printf(" --set '%s'", settings.text[i]);
  putchar('\n');
  orr_flight_settings_free(&settings);
}

static enum orr_exit nothing_to_shrink(struct search *s, bool fails) {
  if (s->ended)
    return ORR_EXIT_INCOMPLETE;
  if (!fails)
    fprintf(stderr, "orrery campaign: flight %lld passes: there is nothing to shrink\n", (long long)s->flight);
  return ORR_EXIT_BAD;
}

enum orr_exit orr_campaign_shrink(const struct orr_search_request *r) {
  struct search s;
  double x[1][VARIED] = {{0}}, of[VARIED], centre[VARIED];
  bool fails;
  open_search(&s, r);
  if (!s.pool)
    return ORR_EXIT_BAD;
  orr_draw_flight(s.c, r->flight, x[0]);
  memcpy(of, x[0], sizeof of);
  try_points(&s, x, 1, &fails);
  if (!fails || s.ended) {
    orr_pool_destroy(s.pool);
    return nothing_to_shrink(&s, fails);
  }
  middle_of(&s, x[0], centre);
  shorten(&s, centre, x[0]);
  for (int pass = 0; pass < 3 && size_of(&s, x[0]) > 0 && !s.ended; pass++) {
    double before = size_of(&s, x[0]);
    shorten_each(&s, x[0]);
    turn(&s, x[0]);
    if (size_of(&s, x[0]) > 0.998 * before)
      break;
  }
  orr_pool_destroy(s.pool);
  if (r->json) {
    json_t *root = json_pack("{s:I, s:I, s:f, s:f, s:b}", "flight", (json_int_t)r->flight, "flown", (json_int_t)s.flown,
                             "size", size_of(&s, x[0]), "size_of_flight", size_of(&s, of), "whole", !s.ended);
    tell_values(&s, x[0], of, root);
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(root);
  } else {
    printf(
        "shrunk      flight %lld, %.4g off the middle, to %.4g, in %lld flights; in brackets: standard deviations, or "
        "halves of the range\n",
        (long long)r->flight, size_of(&s, of), size_of(&s, x[0]), (long long)s.flown);
    print_values(&s, x[0], "the smallest dispersion found that still fails:");
  }
  return s.ended ? ORR_EXIT_INCOMPLETE : ORR_EXIT_OK;
}

/* ---- worst ------------------------------------------------------------------------------------------------------- */

/* Whether there is such a number, and whether it is a margin. */
static bool find_measure(const struct orr_campaign *c, const char *name, bool *margin, size_t *which) {
  struct orr_flight_measure *list;
  struct orr_nearest nearest = {.wanted = name};
  size_t count = orr_flight_measures(c, &c->nominal->table, &list);
  char label[ORR_FLIGHT_LABEL];
  bool found = false;
  *margin = false;
  for (size_t i = 0; i < count; i++) {
    found |= strcmp(list[i].name, name) == 0;
    orr_nearest_offer(&nearest, list[i].name);
  }
  for (size_t i = 0; i < c->nominal->expect_count && !found; i++) {
    orr_flight_label(c->nominal, i, label);
    *margin = strcmp(label, name) == 0 || (strncmp(name, "margin of ", 10) == 0 && strcmp(label, name + 10) == 0);
    *which = i;
    found = *margin;
  }
  if (!found)
    fprintf(stderr,
            "orrery campaign: no measure is called '%s'%s%s%s; 'keep' has the measures, and expectations have "
            "margins\n",
            name, nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
  free(list);
  return found;
}

/* What is to be small: a margin, or the measure turned over. NaN where the flight has none. */
static double cost_of(const json_t *row, const char *name, bool margin, size_t which) {
  const json_t *number = margin ? json_object_get(json_array_get(json_object_get(row, "expect"), which), "margin")
                                : json_object_get(json_object_get(row, "measures"), name);
  double x = json_is_number(number) ? json_number_value(number) : nan("");
  return margin ? x : -x;
}

/* Of a law without ends the middle 99.73 %, three standard deviations. */
static void put_into(const struct orr_campaign *c, const double *point, double *cube) {
  const double tail = 0.0013498980316300945;
  for (int i = 0; i < c->vary_count; i++) {
    const struct orr_campaign_vary *v = &c->varies[i];
    if (v->dimension < 0)
      continue;
    bool open = v->law == ORR_LAW_JOINT || (v->law == ORR_LAW_NORMAL && (isinf(v->low) || isinf(v->high)));
    double u = point[v->dimension];
    cube[v->dimension] = open ? tail + u * (1 - 2 * tail) : fmin(fmax(u, 0x1p-53), 1 - 0x1p-53);
  }
}

struct worst {
  double cost, values[VARIED];
};

static void fly_generation(struct search *s, struct orr_cmaes *e, const struct orr_search_request *r, bool margin,
                           size_t which, struct worst *best) {
  double points[ORR_CMAES_POINTS][VARIED] = {{0}}, costs[ORR_CMAES_POINTS];
  json_t *rows[ORR_CMAES_POINTS];
  orr_cmaes_ask(e);
  for (int k = 0; k < e->lambda; k++) {
    double cube[VARIED] = {0};
    put_into(s->c, e->x[k], cube);
    orr_draw_values(s->c, s->flight, cube, points[k]);
  }
  fly_points(s, points, e->lambda, rows);
  for (int k = 0; k < e->lambda; k++) {
    costs[k] = cost_of(rows[k], r->measure, margin, which);
    if (costs[k] < best->cost) {
      best->cost = costs[k];
      memcpy(best->values, points[k], sizeof best->values);
    }
    json_decref(rows[k]);
  }
  if (!s->ended)
    orr_cmaes_tell(e, costs);
}

enum orr_exit orr_campaign_worst(const struct orr_search_request *r) {
  struct search s;
  bool margin;
  size_t which = 0;
  struct worst best = {.cost = HUGE_VAL};
  if (!find_measure(r->campaign, r->measure, &margin, &which))
    return ORR_EXIT_USAGE;
  if (!r->campaign->dimensions) {
    fputs("orrery campaign: nothing varies that could be searched\n", stderr);
    return ORR_EXIT_BAD;
  }
  struct orr_cmaes *e = malloc(sizeof *e);
  open_search(&s, r);
  if (!e || !s.pool) {
    free(e);
    return ORR_EXIT_BAD;
  }
  orr_cmaes_init(e, s.c->dimensions, s.c->seed);
  int64_t most = r->flights ? r->flights : 50 * (int64_t)e->lambda;
  while (s.flown + e->lambda <= most && e->sigma > 1e-6 && !s.ended)
    fly_generation(&s, e, r, margin, which, &best);
  orr_pool_destroy(s.pool);
  free(e);
  bool found = isfinite(best.cost);
  double number = margin ? best.cost : -best.cost;
  if (r->json) {
    json_t *root = json_pack("{s:o, s:I, s:b}", "measure", orr_json_text(r->measure), "flown", (json_int_t)s.flown,
                             "whole", !s.ended);
    if (found) {
      json_object_set_new(root, "worst", json_real(number));
      tell_values(&s, best.values, NULL, root);
    }
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(root);
  } else if (found) {
    printf("worst       %s: %.6g, in %lld flights\n", r->measure, number, (long long)s.flown);
    print_values(&s, best.values, "at (in brackets: standard deviations off the middle, or halves of the range):");
  }
  if (!found)
    fprintf(stderr, "orrery campaign: no flight has a number '%s'\n", r->measure);
  return s.ended ? ORR_EXIT_INCOMPLETE : found ? ORR_EXIT_OK : ORR_EXIT_BAD;
}
