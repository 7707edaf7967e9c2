#include "tools/run_status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/timing_report.h"

enum { MODES = 4, BAR = 30 };

static const double degree = 57.295779513082320876798;

/* ---- what is watched ------------------------------------------------------------------------------------------------- */

static int channel_of(const struct orr_session *s, const char *entity, const char *quantity) {
  char name[256];
  snprintf(name, sizeof name, "%s.%s", entity, quantity);
  return orr_channel_find(&s->plant->table, name);
}

static void choose_modes(struct orr_run_status *r, const struct orr_session *s) {
  for (size_t i = 0; i < s->run->spacecraft.body_count && r->mode_count < MODES; i++) {
    int n = (int)s->run->spacecraft.bodies[i].mode_count;
    int channel = n ? channel_of(s, s->run->spacecraft.bodies[i].name, "eta") : -1;
    for (int k = 0; channel >= 0 && k < n && r->mode_count < MODES; k++) {
      int index = orr_watch_add(&r->watch, channel, k);
      r->modes = r->mode_count++ ? r->modes : index;
    }
  }
}

static void choose_loads(struct orr_run_status *r, const struct orr_session *s) {
  for (size_t i = 0; i < s->run->plant.device_count && r->loads < 0; i++) {
    const struct orr_device_desc *d = &s->run->plant.devices[i];
    int channel = strcmp(d->kind->name, "hinge_load") == 0 ? channel_of(s, d->name, "moment") : -1;
    if (channel < 0)
      continue;
    r->load_name = d->name;
    r->loads = orr_watch_add(&r->watch, channel, 0);
    orr_watch_add(&r->watch, channel, 1);
    orr_watch_add(&r->watch, channel, 2);
  }
}

void orr_run_status_choose(struct orr_run_status *r, struct orr_session *session, const char *path, bool wanted) {
  *r = (struct orr_run_status){.session = session, .path = path, .pointing = -1, .modes = -1, .loads = -1};
  r->shown = wanted && isatty(STDERR_FILENO);
  if (!r->shown)
    return;
  orr_watch_init(&r->watch, session->plant);
  if (session->plant->pointing_count)
    r->pointing = orr_watch_add(&r->watch, session->plant->pointing_channel[0] + 1, 0);
  choose_modes(r, session);
  choose_loads(r, session);
  session->watch = &r->watch;
}

/* ---- drawing --------------------------------------------------------------------------------------------------------- */

static void end_line(struct orr_run_status *r) {
  fputs("\033[K\n", stderr);
  r->lines++;
}

static void draw_progress(struct orr_run_status *r, const struct orr_live *live, double t) {
  static const char full[] = "##############################", none[] = "..............................";
  double whole = 1e-9 * (double)r->session->run->duration_ns;
  int done = whole > 0 ? (int)fmin(BAR, BAR * t / whole) : 0;
  fprintf(stderr, "%s  t = %.2f s  frame %llu  [%.*s%.*s]", r->path, t, (unsigned long long)live->frames, done, full,
          BAR - done, none);
  end_line(r);
}

static void draw_histogram(struct orr_run_status *r, const char *name, const struct orr_histogram *h) {
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT], c[ORR_DURATION_TEXT];
  fprintf(stderr, "  %-10s p50 %-9s p99.9 %-9s worst %s", name,
          orr_duration_text(orr_histogram_percentile_ns(h, 0.5), a),
          orr_duration_text(orr_histogram_percentile_ns(h, 0.999), b), orr_duration_text(h->max_ns, c));
  end_line(r);
}

static void draw_punctuality(struct orr_run_status *r, const struct orr_stats *stats, const struct orr_live *live) {
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT];
  uint64_t own = orr_live_own(live), late = orr_live_late(live);
  fprintf(stderr, "  margin     %s of %s; late frames: own %llu, others %llu",
          orr_duration_text(stats->period_ns - live->last.end_ns, a), orr_duration_text(stats->period_ns, b),
          (unsigned long long)own, (unsigned long long)(late - own));
  end_line(r);
  draw_histogram(r, "start", &stats->histogram[ORR_HISTOGRAM_START]);
  draw_histogram(r, "wake-up", &stats->histogram[ORR_HISTOGRAM_WAKE_UP]);
  for (uint32_t i = 0; i < stats->stage_count; i++)
    if (stats->stage_name[i][0])
      draw_histogram(r, stats->stage_name[i], &stats->histogram[ORR_HISTOGRAM_STAGE_0 + i]);
}

static void draw_flight(struct orr_run_status *r) {
  if (r->pointing >= 0) {
    fprintf(stderr, "  pointing   %.4f deg off", degree * orr_watch_get(&r->watch, r->pointing));
    end_line(r);
  }
  if (r->mode_count) {
    fputs("  modes     ", stderr);
    for (int k = 0; k < r->mode_count; k++)
      fprintf(stderr, " %+.2e", orr_watch_get(&r->watch, r->modes + k));
    end_line(r);
  }
  if (r->loads >= 0) {
    fprintf(stderr, "  load       %s %+.3f %+.3f %+.3f N m", r->load_name, orr_watch_get(&r->watch, r->loads),
            orr_watch_get(&r->watch, r->loads + 1), orr_watch_get(&r->watch, r->loads + 2));
    end_line(r);
  }
}

static void draw_links(struct orr_run_status *r) {
  unsigned long long n[ORR_WATCH_LINK_COUNTS];
  for (int i = 0; i < ORR_WATCH_LINK_COUNTS; i++)
    n[i] = atomic_load_explicit(&r->watch.links[i], memory_order_relaxed);
  if (!n[ORR_WATCH_OUT])
    return;
  fprintf(stderr, "  links      %llu frames out, %llu commands applied, %llu late, %llu missed; %llu peers came",
          n[ORR_WATCH_OUT], n[ORR_WATCH_APPLIED], n[ORR_WATCH_LATE], n[ORR_WATCH_MISSED], n[ORR_WATCH_PEERS]);
  end_line(r);
}

void orr_run_status_draw(struct orr_run_status *r, const struct orr_stats *stats) {
  struct orr_live live;
  if (!r->shown || !orr_stats_live(stats, &live) || !live.frames)
    return;
  if (r->lines)
    fprintf(stderr, "\033[%dA", r->lines);
  r->lines = 0;
  draw_progress(r, &live, 1e-9 * (double)atomic_load_explicit(&r->watch.time_ns, memory_order_relaxed));
  draw_punctuality(r, stats, &live);
  draw_flight(r);
  draw_links(r);
}

void orr_run_status_wipe(struct orr_run_status *r) {
  if (r->lines)
    fprintf(stderr, "\033[%dA\033[J", r->lines);
  r->lines = 0;
}
