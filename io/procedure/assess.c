#include "io/procedure/assess.h"

#include <math.h>

#include "io/procedure/expect.h"

struct orr_assess *orr_assess_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_block *block) {
  struct orr_assess *a = ORR_TAKE(block, struct orr_assess, 1);
  struct orr_assess_seen *all = ORR_TAKE(block, struct orr_assess_seen, run->expect_count);
  bool any = false;
  for (size_t i = 0; i < run->expect_count; i++) {
    const struct orr_run_probe *p = run->expects[i].probe;
    struct orr_assess_seen seen = {.begin_ns = -1};
    if (!p)
      continue;
    any = true;
    seen.sum = ORR_TAKE(block, double, p->count);
    seen.last = ORR_TAKE(block, double, p->count);
    seen.condition = ORR_TAKE(block, int64_t, p->condition ? p->condition->words : 0);
    if (block->base)
      all[i] = seen;
  }
  if (!block->base)
    return NULL;
  *a = (struct orr_assess){.run = run, .plant = plant, .seen = all, .any = any};
  return a;
}

void orr_assess_ask(struct orr_assess *a) {
  for (size_t i = 0; i < a->run->expect_count; i++) {
    const struct orr_run_probe *p = a->run->expects[i].probe;
    if (p && p->channel >= 0)
      orr_plant_ask(a->plant, p->channel);
    for (int k = 0; p && p->condition && k < p->condition->channel_count; k++)
      orr_plant_ask(a->plant, p->condition->channels[k]);
  }
}

void orr_assess_start(struct orr_assess *a) {
  for (size_t i = 0; i < a->run->expect_count; i++) {
    const struct orr_run_probe *p = a->run->expects[i].probe;
    struct orr_assess_seen *s = &a->seen[i];
    if (!p)
      continue;
    s->begin_ns = s->last_ns = s->at_ns = -1;
    s->held = true;
    for (int k = 0; k < p->count; k++)
      s->sum[k] = s->last[k] = 0;
    if (p->condition)
      orr_condition_reset(p->condition, s->condition);
  }
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Where a number is: above the level, below it, or (0) never off it. On it, it is where it was. */
static double side(double x, double level, double before) { return x > level ? 1 : x < level ? -1 : before; }

static void gather(const struct orr_run_probe *p, struct orr_assess_seen *s, int k, double x, int64_t now_ns) {
  bool first = s->begin_ns == now_ns;
  switch (p->kind) {
  case ORR_PROBE_RMS: /* Σ x² */
    s->sum[k] += x * x;
    s->last[k]++;
    break;
  case ORR_PROBE_INTEGRAL: /* the trapezoid */
    s->sum[k] += first ? 0 : 0.5 * (s->last[k] + x) * (1e-9 * (double)(now_ns - s->last_ns));
    s->last[k] = x;
    break;
  case ORR_PROBE_OVERSHOOT: /* beyond the target as seen from the start; last: from which side it comes */
    if (first)
      s->last[k] = x < p->to ? 1 : -1;
    s->sum[k] = isnan(x) ? x : fmax(s->sum[k], s->last[k] * (x - p->to));
    break;
  case ORR_PROBE_SETTLING_TIME: { /* since when it is within; last: whether it is */
    bool within = fabs(x - p->to) <= p->tolerance;
    if (within && s->last[k] == 0)
      s->sum[k] = 1e-9 * (double)(now_ns - s->begin_ns);
    s->last[k] = within;
    break;
  }
  default: { /* crossings; last: the side */
    double now = side(x, p->to, s->last[k]);
    s->sum[k] += s->last[k] != 0 && now != s->last[k];
    s->last[k] = now;
  }
  }
}

static void look(const struct orr_assess *a, const struct orr_run_expect *e, struct orr_assess_seen *s,
                 int64_t now_ns) {
  const struct orr_run_probe *p = e->probe;
  const double *values = a->plant->values;
  bool holds = p->condition && orr_condition_judge(p->condition, s->condition, values, now_ns);
  if (now_ns < e->after_ns || now_ns > e->until_ns)
    return;
  if (s->begin_ns < 0)
    s->begin_ns = now_ns;
  for (int k = 0; k < p->count; k++)
    gather(p, s, k, values[p->first + k], now_ns);
  if (p->condition && s->at_ns < 0 && holds == (p->kind == ORR_PROBE_EVENTUALLY))
    s->at_ns = now_ns;
  s->last_ns = now_ns;
}

void orr_assess_look(struct orr_assess *a) {
  int64_t now_ns = orr_plant_time_ns(a->plant);
  for (size_t i = 0; a->any && i < a->run->expect_count; i++)
    if (a->run->expects[i].probe && a->run->expects[i].probe->kind != ORR_PROBE_STEP)
      look(a, &a->run->expects[i], &a->seen[i], now_ns);
}

void orr_assess_note(struct orr_assess *a, size_t i, bool met, int64_t now_ns) {
  struct orr_assess_seen *s = &a->seen[i];
  if (s->held)
    s->at_ns = now_ns;
  s->begin_ns = now_ns;
  s->held &= met;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static double result_of(const struct orr_run_probe *p, const struct orr_assess_seen *s, int k) {
  if (p->kind == ORR_PROBE_RMS)
    return sqrt(s->sum[k] / s->last[k]);
  if (p->kind == ORR_PROBE_SETTLING_TIME && s->last[k] == 0)
    return HUGE_VAL;
  return s->sum[k];
}

/* Whether the run began so late in the time of a promise that it could not have kept it: in its last frame, or with
 * less of it left than the condition has to hold. */
static bool is_too_late(const struct orr_run_expect *e, const struct orr_assess_seen *s, int64_t step_ns) {
  const struct orr_condition *c = e->probe->condition;
  int64_t needs_ns = 1;
  for (int i = 0; i < c->count; i++)
    if (c->nodes[i].sort == ORR_CONDITION_FOR && c->nodes[i].span_ns > needs_ns)
      needs_ns = c->nodes[i].span_ns;
  return step_ns <= s->begin_ns - e->after_ns && e->until_ns < INT64_MAX && e->until_ns - s->begin_ns < needs_ns;
}

struct orr_assess_result orr_assess_result(const struct orr_assess *a, size_t i) {
  const struct orr_run_expect *e = &a->run->expects[i];
  const struct orr_run_probe *p = e->probe;
  const struct orr_assess_seen *s = &a->seen[i];
  struct orr_assess_result r = {.value = nan(""), .at_ns = s->at_ns};
  if (s->begin_ns < 0)
    return r;
  if (p->kind == ORR_PROBE_STEP)
    r.value = s->held;
  else if (p->kind == ORR_PROBE_ALWAYS)
    r.value = s->at_ns < 0;
  else if (p->kind == ORR_PROBE_EVENTUALLY) /* it may still come */
    r.value = s->at_ns >= 0                                                              ? 1
              : e->until_ns < INT64_MAX && s->last_ns + a->plant->step_ns <= e->until_ns ? nan("")
              : is_too_late(e, s, a->plant->step_ns)                                     ? nan("")
                                                                                         : 0;
  for (int k = 0; k < p->count; k++) {
    double value = result_of(p, s, k);
    if (k == 0 || orr_expect_is_worse(e, value, r.value))
      r.value = value;
  }
  return r;
}
