#include "io/procedure/expect.h"

#include <math.h>

struct orr_expect_seen *orr_expect_layout(const struct orr_run *run, struct orr_block *block) {
  struct orr_expect_seen *all = ORR_TAKE(block, struct orr_expect_seen, run->expect_count);
  for (size_t i = 0; i < run->expect_count; i++) {
    const struct orr_run_expect *e = &run->expects[i];
    struct orr_expect_seen seen = {.worst_ns = -1};
    if (e->channel >= 0) {
      const struct orr_channel *c = &run->table.channels[e->channel];
      seen.first = c->offset + (e->element >= 0 ? e->element : 0);
      seen.count = e->element >= 0 ? 1 : c->count;
    }
    if (e->form == ORR_EXPECT_OF_PEAK) {
      seen.peak = ORR_TAKE(block, double, seen.count);
      seen.left = ORR_TAKE(block, double, seen.count);
    }
    if (block->base)
      all[i] = seen;
  }
  return all;
}

/* How far inside its bound a value is; negative beyond it, NaN for one that is no number. */
static double margin(const struct orr_run_expect *e, double value) {
  switch (e->form) {
  case ORR_EXPECT_BELOW:
    return e->high - value;
  case ORR_EXPECT_ABOVE:
    return value - e->low;
  case ORR_EXPECT_BETWEEN:
    return fmin(value - e->low, e->high - value);
  default:
    return -fabs(value - e->high);
  }
}

bool orr_expect_is_worse(const struct orr_run_expect *e, double value, double than) {
  return isnan(value) || margin(e, value) < margin(e, than);
}

/* `below` and `above` leave the bound itself out; `between` and `is` do not. */
bool orr_expect_holds(const struct orr_run_expect *e, double value) {
  double m = margin(e, value);
  return e->form == ORR_EXPECT_BELOW || e->form == ORR_EXPECT_ABOVE ? m > 0 : m >= 0;
}

static void look_at_bound(const struct orr_run_expect *e, struct orr_expect_seen *s, const double *values,
                          int64_t now_ns) {
  for (int k = 0; k < s->count; k++) {
    double value = values[s->first + k];
    bool first = s->worst_ns < 0;
    if (first || isnan(value) || margin(e, value) < margin(e, s->worst)) {
      s->worst = value;
      s->worst_ns = now_ns;
    }
    s->broken |= !orr_expect_holds(e, value);
  }
  s->samples++;
}

static void look_at_peak(const struct orr_run_expect *e, struct orr_expect_seen *s, const double *values,
                         int64_t now_ns) {
  bool left = now_ns >= e->after_ns;
  double *largest = left ? s->left : s->peak;
  for (int k = 0; k < s->count; k++)
    largest[k] = fmax(largest[k], fabs(values[s->first + k]));
  s->samples += left;
}

void orr_expect_look(const struct orr_run *run, struct orr_expect_seen *seen, const double *values, int64_t now_ns) {
  for (size_t i = 0; i < run->expect_count; i++) {
    const struct orr_run_expect *e = &run->expects[i];
    if (e->channel < 0 || now_ns > e->until_ns)
      continue;
    if (e->form == ORR_EXPECT_OF_PEAK)
      look_at_peak(e, &seen[i], values, now_ns);
    else if (now_ns >= e->after_ns)
      look_at_bound(e, &seen[i], values, now_ns);
  }
}

/* The largest part of its peak that a number kept. One that never moved has kept nothing. */
static struct orr_expect_verdict judge_peak(const struct orr_run_expect *e, const struct orr_expect_seen *s) {
  struct orr_expect_verdict v = {.kind = ORR_EXPECT_MET, .at_ns = -1};
  for (int k = 0; k < s->count; k++) {
    double part = s->left[k] > 0 ? s->left[k] / s->peak[k] : 0;
    v.value = fmax(v.value, part);
  }
  if (!(v.value <= e->high))
    v.kind = ORR_EXPECT_NOT_MET;
  return v;
}

struct orr_expect_verdict orr_expect_judge(const struct orr_run_expect *e, const struct orr_expect_seen *s,
                                           double measured) {
  if (e->channel < 0) {
    enum orr_verdict_kind kind = isnan(measured)                 ? ORR_EXPECT_NOT_JUDGED
                                 : orr_expect_holds(e, measured) ? ORR_EXPECT_MET
                                                                 : ORR_EXPECT_NOT_MET;
    return (struct orr_expect_verdict){.kind = kind, .value = measured, .at_ns = -1};
  }
  if (!s->samples)
    return (struct orr_expect_verdict){.kind = ORR_EXPECT_NOT_JUDGED, .value = nan(""), .at_ns = -1};
  if (e->form == ORR_EXPECT_OF_PEAK)
    return judge_peak(e, s);
  return (struct orr_expect_verdict){s->broken ? ORR_EXPECT_NOT_MET : ORR_EXPECT_MET, s->worst, s->worst_ns};
}
