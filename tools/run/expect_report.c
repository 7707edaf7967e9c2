#include "tools/run/expect_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/text.h"
#include "tools/common/timing_report.h"

/* ---- measures ---------------------------------------------------------------------------------------------------- */

static double overruns(const struct orr_live *live, enum orr_measure which) {
  uint64_t own = orr_live_own(live), all = orr_live_late(live);
  if (which == ORR_MEASURE_OVERRUNS_OWN)
    return (double)own;
  return (double)(which == ORR_MEASURE_OVERRUNS_ALL ? all : all - own - live->late[ORR_CAUSE_PREVIOUS]);
}

static double links(const struct orr_session *s, enum orr_measure which) {
  double sum = 0;
  bool any = false;
  for (size_t i = 0; i < s->run->link_count; i++) {
    if (!s->links[i].outside)
      continue;
    const struct orr_link_counts counts = orr_port_counts(s->links[i].outside), *c = &counts;
    any = true;
    sum += which == ORR_MEASURE_LINKS_LATE       ? (double)c->late
           : which == ORR_MEASURE_LINKS_MISSED   ? (double)c->missed
           : which == ORR_MEASURE_LINKS_TIMEOUTS ? (double)c->timeouts
                                                 : 0;
    for (int k = ORR_REFUSAL_NONE + 1; which == ORR_MEASURE_LINKS_REFUSED && k < ORR_REFUSALS; k++)
      sum += k == ORR_REFUSAL_OTHER_ID ? 0 : (double)c->refused[k]; /* no commands of ours */
  }
  return any ? sum : nan("");
}

static double latency(const struct orr_stats *stats, const struct orr_run_expect *e) {
  const struct orr_histogram *h = NULL;
  if (strcmp(e->histogram, "start") == 0)
    h = &stats->histogram[ORR_HISTOGRAM_START];
  if (strcmp(e->histogram, "wake_up") == 0)
    h = &stats->histogram[ORR_HISTOGRAM_WAKE_UP];
  for (uint32_t i = 0; i < stats->stage_count; i++)
    if (strcmp(e->histogram, stats->stage_name[i]) == 0)
      h = &stats->histogram[ORR_HISTOGRAM_STAGE_0 + i];
  if (!h || !h->total)
    return nan("");
  return 1e-9 * (double)(e->fraction < 1 ? orr_histogram_percentile_ns(h, e->fraction) : h->max_ns);
}

/* NaN where there is nothing of the kind in this mode. */
static double measured(const struct orr_expect_report *r, const struct orr_run_expect *e) {
  if (e->channel >= 0)
    return nan("");
  switch (e->measure) {
  case ORR_MEASURE_OVERRUNS_OWN:
  case ORR_MEASURE_OVERRUNS_MACHINE:
  case ORR_MEASURE_OVERRUNS_ALL:
    return r->live ? overruns(r->live, e->measure) : nan("");
  case ORR_MEASURE_LATENCY:
    return r->stats ? latency(r->stats, e) : nan("");
  default:
    return links(r->session, e->measure);
  }
}

static struct orr_expect_verdict verdict(const struct orr_expect_report *r, size_t i) {
  const struct orr_run_expect *e = &r->session->run->expects[i];
  if (!e->probe)
    return orr_expect_judge(e, &r->session->seen[i], measured(r, e));
  struct orr_assess_result result = orr_assess_result(r->session->procedure->assess, i);
  struct orr_expect_verdict v = orr_expect_judge(e, &r->session->seen[i], result.value);
  v.at_ns = result.at_ns;
  return v;
}

/* Whether it has a window in time. */
static bool has_window(const struct orr_run_expect *e) { return e->channel >= 0 || e->probe; }

bool orr_expect_is_of_step(const struct orr_run_expect *e) { return e->probe && e->probe->kind == ORR_PROBE_STEP; }

int64_t orr_expect_needs_ns(const struct orr_run_expect *e) {
  bool promise = e->probe && e->probe->kind == ORR_PROBE_EVENTUALLY && e->until_ns < INT64_MAX;
  return promise ? e->until_ns : e->after_ns;
}

bool orr_expect_is_out_of_reach(const struct orr_expect_report *r, size_t i, int64_t end_ns) {
  const struct orr_run_expect *e = &r->session->run->expects[i];
  bool late = orr_expect_is_of_step(e) || orr_expect_needs_ns(e) > end_ns;
  return has_window(e) && late && verdict(r, i).kind == ORR_EXPECT_NOT_JUDGED;
}

void orr_expect_count(const struct orr_expect_report *r, int64_t end_ns, struct orr_ending *ending) {
  size_t counts[] = {[ORR_EXPECT_MET] = 0, [ORR_EXPECT_NOT_MET] = 0, [ORR_EXPECT_NOT_JUDGED] = 0};
  for (size_t i = 0; i < r->session->run->expect_count; i++) {
    counts[verdict(r, i).kind]++;
    ending->out_of_reach += orr_expect_is_out_of_reach(r, i, end_ns);
  }
  ending->met = counts[ORR_EXPECT_MET];
  ending->not_met = counts[ORR_EXPECT_NOT_MET];
  ending->not_judged = counts[ORR_EXPECT_NOT_JUDGED];
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

enum { CONDITION_TEXT = 500 };

static const char *const kinds[] = {
    [ORR_EXPECT_MET] = "met", [ORR_EXPECT_NOT_MET] = "NOT MET", [ORR_EXPECT_NOT_JUDGED] = "not judged"};

/* "below 0.05 deg after 20 s" */
static void bound_text(const struct orr_run_expect *e, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "%.90s", e->told);
  if (e->after_ns > 0 && used < size)
    used += (size_t)snprintf(text + used, size - used, " after %.9g s", 1e-9 * (double)e->after_ns);
  if (e->until_ns < INT64_MAX && used < size)
    snprintf(text + used, size - used, " until %.9g s", 1e-9 * (double)e->until_ns);
}

/* Of one with a name: what is judged, and its bound. "always norm(gyro.rate) below 1 deg/s" */
static void condition_text(const struct orr_run_expect *e, char *text, size_t size) {
  char bound[160];
  bound_text(e, bound, sizeof bound);
  size_t word = e->probe && e->probe->condition ? strlen(e->told) : 0;
  if (orr_expect_is_of_step(e)) /* "until", "at its step" */
    snprintf(text, size, "%.40s: %.300s", e->told, e->subject);
  else if (word) /* "always", "eventually": what holds then stands behind them */
    snprintf(text, size, "%.40s %.300s%s", e->told, e->subject, bound + word);
  else
    snprintf(text, size, "%.300s %s", e->subject, bound);
}

/* With four digits, or as many as it takes to see on which side of the bound it is. */
static const char *number_text(const struct orr_run_expect *e, double value, char text[32]) {
  double unit = e->form == ORR_EXPECT_OF_PEAK ? 1 : e->shown_unit_si;
  for (int digits = 4; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value / unit);
    double shown = strtod(text, NULL) * unit;
    bool same = e->form == ORR_EXPECT_OF_PEAK ? (shown <= e->high) == (value <= e->high)
                                              : orr_expect_holds(e, shown) == orr_expect_holds(e, value);
    if (same)
      break;
  }
  return text;
}

/* In the unit of the bound; latencies in what suits. */
static void value_text(const struct orr_run_expect *e, const struct orr_expect_verdict *v, int64_t begin_ns,
                       int64_t now_ns, char *text, size_t size) {
  char duration[ORR_DURATION_TEXT], at[48] = "", number[32];
  if (v->at_ns >= 0)
    snprintf(at, sizeof at, " at %.9g s", 1e-9 * (double)v->at_ns);
  if (v->kind == ORR_EXPECT_NOT_JUDGED)
    snprintf(text, size, "%s",
             !has_window(e)                     ? "not measured in this mode"
             : e->after_ns > now_ns             ? "the run ended before"
             : e->probe && e->until_ns > now_ns ? "the run ended before it could be told"
             : e->until_ns < begin_ns           ? "its time was over when the run began"
             : e->after_ns < begin_ns           ? "its time was nearly over when the run began"
                                                : "no frame of the run is in its time");
  else if (e->form == ORR_EXPECT_OF_PEAK)
    snprintf(text, size, "%s of it", number_text(e, v->value, number));
  else if (orr_expect_is_of_step(e))
    snprintf(text, size, "%s%s", v->value > 0 ? "held" : "did not hold", at);
  else if (e->probe && e->probe->condition)
    snprintf(text, size, "%s%s",
             v->at_ns < 0   ? (v->value > 0 ? "held" : "never")
             : v->value > 0 ? "held"
                            : "broken",
             at);
  else if (isinf(v->value))
    snprintf(text, size, "does not settle");
  else if (!has_window(e) && e->measure == ORR_MEASURE_LATENCY)
    snprintf(text, size, "%s", orr_duration_text(llrint(1e9 * v->value), duration));
  else
    snprintf(text, size, "%s%s%s%s", number_text(e, v->value, number), *e->shown_unit ? " " : "", e->shown_unit, at);
}

void orr_expect_print(const struct orr_expect_report *r) {
  const struct orr_run *run = r->session->run;
  if (run->replaced.count)
    printf("expects     what '%s' does (%d), in place of '%s' (%zu)\n", run->replaced.by, run->sequence.first_expect,
           run->replaced.file, run->replaced.count);
  for (size_t i = 0; i < run->expect_count; i++) {
    const struct orr_run_expect *e = &run->expects[i];
    struct orr_expect_verdict v = verdict(r, i);
    char bound[160], value[120], condition[CONDITION_TEXT] = "";
    bound_text(e, bound, sizeof bound);
    if (e->name && v.kind == ORR_EXPECT_NOT_MET)
      condition_text(e, condition, sizeof condition);
    value_text(e, &v, r->begin_ns, orr_plant_time_ns(r->session->plant), value, sizeof value);
    const char *what = *condition ? condition : bound;
    printf("%-11s %-22s %-38s%s %s%s%s%s\n", kinds[v.kind], e->name ? e->name : e->subject, what,
           strlen(what) > 38 ? ":" : "", value, e->requirement ? " [" : "", e->requirement ? e->requirement : "",
           e->requirement ? "]" : "");
  }
}

json_t *orr_expect_json(const struct orr_expect_report *r) {
  static const char *const words[] = {"met", "not_met", "not_judged"};
  json_t *list = json_array();
  for (size_t i = 0; i < r->session->run->expect_count; i++) {
    const struct orr_run_expect *e = &r->session->run->expects[i];
    struct orr_expect_verdict v = verdict(r, i);
    char bound[160], value[120], condition[CONDITION_TEXT];
    bound_text(e, bound, sizeof bound);
    condition_text(e, condition, sizeof condition);
    value_text(e, &v, r->begin_ns, orr_plant_time_ns(r->session->plant), value, sizeof value);
    json_t *one = json_pack("{s:s, s:s, s:s, s:s}", "subject", e->subject, "bound", bound, "verdict", words[v.kind],
                            "unit", e->form == ORR_EXPECT_OF_PEAK ? "" : e->unit);
    if (e->name)
      json_object_set_new(one, "name", orr_json_text(e->name));
    if (e->requirement)
      json_object_set_new(one, "requirement", orr_json_text(e->requirement));
    json_object_set_new(one, "asked", orr_json_text(condition));
    json_object_set_new(one, "told", orr_json_text(value));
    if (isfinite(v.value))
      json_object_set_new(one, "value", json_real(v.value));
    if (v.at_ns >= 0)
      json_object_set_new(one, "at_s", json_real(1e-9 * (double)v.at_ns));
    json_array_append_new(list, one);
  }
  return list;
}
