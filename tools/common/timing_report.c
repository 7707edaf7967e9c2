#include "tools/common/timing_report.h"

#include <string.h>

#include "rt/tick/cycle.h"
#include "rt/tick/verdict.h"
#include "tools/common/text.h"

static const double fractions[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
static const char *const fraction_names[] = {"p50", "p90", "p99", "p99.9", "p99.99"};
enum { FRACTIONS = sizeof fractions / sizeof *fractions };

const char *orr_duration_text(int64_t ns, char text[ORR_DURATION_TEXT]) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  double value = (double)ns;
  size_t unit = 0;
  while (unit < 3 && (value >= 999.5 || value <= -999.5)) {
    value /= 1000.0;
    unit++;
  }
  double size = value < 0 ? -value : value;
  int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  snprintf(text, ORR_DURATION_TEXT, "%.*f %s", decimals, value, units[unit]);
  return text;
}

/* Name of a histogram: fixed ones first, then the stages of the run. NULL beyond the last. */
static const char *histogram_name(const struct orr_stats *stats, unsigned id) {
  static const char *const fixed[] = {"start", "wake-up", "slack"};
  if (id < ORR_HISTOGRAM_STAGE_0)
    return fixed[id];
  return id - ORR_HISTOGRAM_STAGE_0 < stats->stage_count ? stats->stage_name[id - ORR_HISTOGRAM_STAGE_0] : NULL;
}

/* A stage without a name is a place in the frame that the run leaves empty. */
static bool worth_showing(const char *name, const struct orr_histogram *h) { return name[0] && h->total > 0; }

/* The lowest slack matters, so its percentiles are read from the other end. */
static double fraction_of(unsigned id, size_t i) {
  return id == ORR_HISTOGRAM_SLACK ? 1.0 - fractions[i] : fractions[i];
}

static void print_percentiles(FILE *out, const struct orr_stats *stats) {
  char text[ORR_DURATION_TEXT];
  fprintf(out, "%-14s", "");
  for (size_t i = 0; i < FRACTIONS; i++)
    fprintf(out, "%10s", fraction_names[i]);
  fprintf(out, "%10s\n", "worst");
  const char *name;
  for (unsigned id = 0; id < ORR_HISTOGRAM_COUNT && (name = histogram_name(stats, id)) != NULL; id++) {
    const struct orr_histogram *h = &stats->histogram[id];
    if (!worth_showing(name, h))
      continue;
    fprintf(out, "%-14.14s", name);
    for (size_t i = 0; i < FRACTIONS; i++)
      fprintf(out, "%10s", orr_duration_text(orr_histogram_percentile_ns(h, fraction_of(id, i)), text));
    fprintf(out, "%10s\n", orr_duration_text(id == ORR_HISTOGRAM_SLACK ? h->min_ns : h->max_ns, text));
  }
}

static void print_late(FILE *out, const struct orr_stats *stats, const struct orr_live *live) {
  uint64_t late = orr_live_late(live);
  fprintf(out, "late: %llu of %llu frames", (unsigned long long)late, (unsigned long long)live->frames);
  const char *separator = " (";
  for (unsigned cause = ORR_CAUSE_NONE + 1; cause < ORR_CAUSE_COUNT; cause++)
    if (live->late[cause]) {
      fprintf(out, "%s%s %llu", separator, orr_cause_name((enum orr_cause)cause),
              (unsigned long long)live->late[cause]);
      separator = ", ";
    }
  fprintf(out, "%s; by our own doing %llu\n", late ? ")" : "", (unsigned long long)orr_live_own(live));
  for (unsigned i = 0; i < stats->stage_count && i < ORR_STAGES_MAX; i++)
    if (live->late_stage[i])
      fprintf(out, "  stage %s: %llu\n", stats->stage_name[i], (unsigned long long)live->late_stage[i]);
}

void orr_timing_print(FILE *out, const struct orr_stats *stats, const struct orr_live *live) {
  print_percentiles(out, stats);
  print_late(out, stats, live);
  fprintf(out, "overran: %llu, caught up %llu, slips %llu, periods skipped %llu (in the percentiles of start)\n",
          (unsigned long long)live->overran, (unsigned long long)live->caught_up, (unsigned long long)live->slips,
          (unsigned long long)live->skipped_periods);
  uint64_t faults = live->minor_faults + live->major_faults;
  fprintf(out, "page faults: %llu; switches: %llu involuntary, %llu voluntary beyond %llu sleeps\n",
          (unsigned long long)faults, (unsigned long long)live->involuntary, (unsigned long long)live->voluntary,
          (unsigned long long)live->sleeps);
}

static void print_frame(FILE *out, const struct orr_stats *stats, const struct orr_frame_record *r) {
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT];
  fprintf(out, "%10llu %10s %10s  %-18s", (unsigned long long)r->frame, orr_duration_text(r->start_ns, a),
          orr_duration_text(r->end_ns, b), orr_cause_name((enum orr_cause)r->cause));
  for (unsigned i = 0; i < stats->stage_count && i < ORR_STAGES_MAX; i++)
    if (stats->stage_name[i][0])
      fprintf(out, " %s %s", stats->stage_name[i], orr_duration_text(r->stage_ns[i], a));
  if (r->minor_faults + r->major_faults)
    fprintf(out, " faults %u", r->minor_faults + r->major_faults);
  if (r->involuntary + r->voluntary)
    fprintf(out, " switches %u+%u", r->involuntary, r->voluntary);
  if (r->lost_ns > ORR_MINOR_FAULT_MAX_NS)
    fprintf(out, " lost %s", orr_duration_text(r->lost_ns, a));
  fputc('\n', out);
}

void orr_timing_print_worst(FILE *out, const struct orr_stats *stats, size_t count) {
  struct orr_frame_record records[ORR_WORST_COUNT];
  size_t found = orr_worst_read(&stats->worst, records);
  fprintf(out, "%10s %10s %10s  %s\n", "frame", "start", "end", "worst frames");
  for (size_t i = 0; i < found && i < count; i++)
    print_frame(out, stats, &records[i]);
}

void orr_timing_print_lacks(FILE *out, const struct orr_lacks *lacks) {
  for (unsigned i = 0; i < lacks->count; i++) {
    enum orr_lack lack = lacks->entry[i].lack;
    fprintf(out, "warning: %s", orr_lack_what(lack));
    if (lacks->entry[i].error)
      fprintf(out, " (%s)", strerror(lacks->entry[i].error));
    fprintf(out, "\n  so: %s\n  do: %s\n", orr_lack_consequence(lack), orr_lack_remedy(lack));
  }
}

static json_t *integer(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *histogram_json(const struct orr_histogram *h, unsigned id) {
  json_t *o = json_pack("{s:I, s:f, s:I, s:I, s:I, s:I}", "count", (json_int_t)h->total, "mean_ns",
                        orr_histogram_mean_ns(h), "min_ns", (json_int_t)h->min_ns, "max_ns", (json_int_t)h->max_ns,
                        "overflow", (json_int_t)h->overflow, "underflow", (json_int_t)h->underflow);
  for (size_t i = 0; i < FRACTIONS; i++) {
    char key[16];
    snprintf(key, sizeof key, "%s_ns", fraction_names[i]);
    json_object_set_new(o, key, json_integer(orr_histogram_percentile_ns(h, fraction_of(id, i))));
  }
  return o;
}

static json_t *frame_json(const struct orr_stats *stats, const struct orr_frame_record *r) {
  json_t *stages = json_object();
  for (unsigned i = 0; i < stats->stage_count && i < ORR_STAGES_MAX; i++)
    if (stats->stage_name[i][0])
      json_object_set_new(stages, stats->stage_name[i], json_integer(r->stage_ns[i]));
  return json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:o, s:I, s:I, s:i, s:i, s:i, s:i}", "frame",
                   (json_int_t)r->frame, "cause", orr_cause_name((enum orr_cause)r->cause), "stage",
                   r->stage < ORR_STAGES_MAX ? stats->stage_name[r->stage] : "", "start_ns", (json_int_t)r->start_ns,
                   "woke_ns", (json_int_t)r->woke_ns, "end_ns", (json_int_t)r->end_ns, "slept", (int)r->slept,
                   "overran", (int)r->overran, "stages_ns", stages, "lost_ns", (json_int_t)r->lost_ns, "gap_ns",
                   (json_int_t)r->gap_ns, "minor_faults", (int)r->minor_faults, "major_faults", (int)r->major_faults,
                   "involuntary", (int)r->involuntary, "voluntary", (int)r->voluntary);
}

static json_t *live_json(const struct orr_live *live) {
  json_t *causes = json_object();
  for (unsigned cause = ORR_CAUSE_NONE + 1; cause < ORR_CAUSE_COUNT; cause++)
    json_object_set_new(causes, orr_cause_name((enum orr_cause)cause), integer(live->late[cause]));
  json_t *o = json_pack(
      "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "late_by_cause", causes, "frames",
      (json_int_t)live->frames, "late", (json_int_t)orr_live_late(live), "own", (json_int_t)orr_live_own(live),
      "overran", (json_int_t)live->overran, "caught_up", (json_int_t)live->caught_up, "slips", (json_int_t)live->slips,
      "skipped_periods", (json_int_t)live->skipped_periods, "minor_faults", (json_int_t)live->minor_faults,
      "major_faults", (json_int_t)live->major_faults, "involuntary_switches", (json_int_t)live->involuntary,
      "voluntary_switches", (json_int_t)live->voluntary, "sleeps", (json_int_t)live->sleeps, "ended", (int)live->ended);
  if (o && live->ended)
    json_object_set_new(o, "end", json_string(orr_cycle_end_name((enum orr_cycle_end)live->reason)));
  return o;
}

json_t *orr_timing_json(const struct orr_stats *stats, const struct orr_live *live) {
  struct orr_frame_record records[ORR_WORST_COUNT];
  json_t *histograms = json_object(), *worst = json_array();
  const char *name;
  for (unsigned id = 0; id < ORR_HISTOGRAM_COUNT && (name = histogram_name(stats, id)) != NULL; id++)
    if (worth_showing(name, &stats->histogram[id]))
      json_object_set_new(histograms, name, histogram_json(&stats->histogram[id], id));
  size_t count = orr_worst_read(&stats->worst, records);
  for (size_t i = 0; i < count; i++)
    json_array_append_new(worst, frame_json(stats, &records[i]));
  return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:o, s:o, s:o}", "name", orr_json_text(stats->name), "pid",
                   (json_int_t)stats->pid, "period_ns", (json_int_t)stats->period_ns, "phase_ns",
                   (json_int_t)stats->phase_ns, "margin_ns", (json_int_t)stats->margin_ns, "late_start_ns",
                   (json_int_t)stats->late_start_ns, "core", (int)stats->core, "priority", (int)stats->priority,
                   "counts", live_json(live), "histograms", histograms, "worst", worst);
}

json_t *orr_environment_json(const struct orr_environment *e) {
  json_t *kernel =
      json_pack("{s:s, s:s, s:b}", "release", e->kernel, "version", e->version, "preempt_rt", (int)e->preempt_rt);
  json_t *isolation = json_pack("{s:b, s:b, s:b, s:b, s:i, s:s}", "isolcpus", (int)e->isolated, "nohz_full",
                                (int)e->nohz_full, "rcu_nocbs", (int)e->rcu_nocbs, "cpuset_exclusive",
                                (int)e->cpuset_exclusive, "irqs", e->irqs, "siblings", e->siblings);
  json_t *power = json_pack("{s:s, s:s, s:i, s:s, s:I}", "cpu", e->cpu, "governor", e->governor, "turbo", e->turbo,
                            "idle_driver", e->idle_driver, "idle_exit_us", (json_int_t)e->idle_exit_us);
  json_t *clock = json_pack("{s:s, s:b, s:b, s:b, s:f}", "source", e->clock_source, "tsc_constant",
                            (int)e->tsc_constant, "tsc_nonstop", (int)e->tsc_nonstop, "hypervisor", (int)e->hypervisor,
                            "steal", e->total_ticks > 0 ? (double)e->steal_ticks / (double)e->total_ticks : 0.0);
  json_t *limits =
      json_pack("{s:I, s:I, s:I, s:I, s:s, s:I}", "rt_runtime_us", (json_int_t)e->rt_runtime_us, "rt_period_us",
                (json_int_t)e->rt_period_us, "memlock_bytes", (json_int_t)e->memlock_bytes, "rtprio",
                (json_int_t)e->rtprio_limit, "huge_pages", e->huge_pages, "swap_kib", (json_int_t)e->swap_kib);
  return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "core", e->core, "cores_online", e->cores_online, "kernel",
                   kernel, "isolation", isolation, "power", power, "clock", clock, "limits", limits);
}

json_t *orr_lacks_json(const struct orr_lacks *lacks) {
  json_t *list = json_array();
  for (unsigned i = 0; i < lacks->count; i++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "what", orr_lack_what(lacks->entry[i].lack),
                                          "consequence", orr_lack_consequence(lacks->entry[i].lack), "remedy",
                                          orr_lack_remedy(lacks->entry[i].lack), "errno", lacks->entry[i].error));
  return list;
}
