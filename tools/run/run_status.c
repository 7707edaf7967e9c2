#include "tools/run/run_status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rt/tick/clock.h"
#include "tools/common/timing_report.h"
#include "tools/run/links_report.h"

enum { MODES = 4, BAR = 30 };
#define PLAIN_NS INT64_C(5000000000)

static const double degree = 57.295779513082320876798;

/* ---- what is watched --------------------------------------------------------------------------------------------- */

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
  const char *kind = getenv("TERM");
  *r = (struct orr_run_status){.session = session, .path = path, .pointing = -1, .modes = -1, .loads = -1};
  r->shown = wanted;
  r->terminal = isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
  if (!r->shown)
    return;
  orr_watch_init(&r->watch, session->plant);
  if (session->plant->pointing_count)
    r->pointing = orr_watch_add(&r->watch, session->plant->pointing_channel[0] + 1, 0);
  choose_modes(r, session);
  choose_loads(r, session);
  session->watch = &r->watch;
}

static double time_s(const struct orr_run_status *r) {
  return 1e-9 * (double)atomic_load_explicit(&r->watch.time_ns, memory_order_relaxed);
}

static uint64_t count(const struct orr_run_status *r, enum orr_watch_link which) {
  return atomic_load_explicit(&r->watch.links[which], memory_order_relaxed);
}

/* Commands that flight software must mend. The executive counts them for the summary. */
static uint64_t refused_on(const struct orr_port *port) {
  const struct orr_link_counts counts = orr_port_counts(port);
  uint64_t refused;
  orr_links_refusal(&counts, &refused);
  return refused;
}

/* On all links to the outside. */
static uint64_t refused_so_far(const struct orr_run_status *r) {
  uint64_t sum = 0;
  for (size_t i = 0; i < r->session->run->link_count; i++)
    if (r->session->links[i].outside)
      sum += refused_on(r->session->links[i].outside);
  return sum;
}

/* Once a run. What is refused beside a wrong number may be somebody else's, or noise, while commands are applied. */
static void say_refused(struct orr_run_status *r) {
  for (size_t i = 0; i < r->session->run->link_count && !r->said; i++) {
    const struct orr_port *port = r->session->links[i].outside;
    if (!port || !(r->refusing || refused_on(port)))
      continue;
    orr_run_status_wipe(r);
    r->said = orr_links_say_refused(port, r->refusing);
  }
}

static const char *links_word(const struct orr_run_status *r) {
  return r->refusing ? "REFUSED" : r->silent ? "SILENT" : "answered";
}

/* Are commands coming? Judged anew when a command was applied or two frames went out without one. */
static void look_at_links(struct orr_run_status *r) {
  uint64_t out = count(r, ORR_WATCH_OUT), applied = count(r, ORR_WATCH_APPLIED);
  if (applied == r->applied && out < r->out + 2)
    return;
  uint64_t refused = refused_so_far(r);
  r->silent = applied == r->applied;
  r->refusing = r->silent && refused > r->refused;
  r->refused = refused;
  r->out = out;
  r->applied = applied;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* A line of the screen, cut where a wrap would put the next redrawing out of step; none beyond the last row. */
__attribute__((format(printf, 2, 3))) static void line(struct orr_run_status *r, const char *format, ...) {
  char text[512];
  va_list list;
  if (r->lines + 1 >= r->rows)
    return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fprintf(stderr, "%.*s\033[K\n", r->columns - 1, text);
  r->lines++;
}

static void draw_progress(struct orr_run_status *r, const struct orr_live *live) {
  static const char full[] = "##############################", none[] = "..............................";
  double whole = 1e-9 * (double)r->session->run->duration_ns, t = time_s(r);
  int done = whole > 0 ? (int)fmin(BAR, BAR * t / whole) : 0;
  line(r, "%s", r->path);
  line(r, "  frame      %llu  t = %.2f s  [%.*s%.*s]", (unsigned long long)live->frames, t, done, full, BAR - done,
       none);
}

static void draw_histogram(struct orr_run_status *r, const char *name, const struct orr_histogram *h) {
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT], c[ORR_DURATION_TEXT];
  line(r, "  %-10s p50 %-9s p99.9 %-9s worst %s", name, orr_duration_text(orr_histogram_percentile_ns(h, 0.5), a),
       orr_duration_text(orr_histogram_percentile_ns(h, 0.999), b), orr_duration_text(h->max_ns, c));
}

static void draw_punctuality(struct orr_run_status *r, const struct orr_stats *stats, const struct orr_live *live) {
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT];
  uint64_t own = orr_live_own(live), late = orr_live_late(live);
  line(r, "  margin     %s of %s; late frames: own %llu, others %llu",
       orr_duration_text(stats->period_ns - live->last.end_ns, a), orr_duration_text(stats->period_ns, b),
       (unsigned long long)own, (unsigned long long)(late - own));
  draw_histogram(r, "start", &stats->histogram[ORR_HISTOGRAM_START]);
  draw_histogram(r, "wake-up", &stats->histogram[ORR_HISTOGRAM_WAKE_UP]);
  for (uint32_t i = 0; i < stats->stage_count; i++)
    if (stats->stage_name[i][0])
      draw_histogram(r, stats->stage_name[i], &stats->histogram[ORR_HISTOGRAM_STAGE_0 + i]);
}

static void draw_flight(struct orr_run_status *r) {
  if (r->pointing >= 0)
    line(r, "  pointing   %.4f deg off", degree * orr_watch_get(&r->watch, r->pointing));
  if (r->mode_count) {
    char text[MODES * 16] = "";
    for (int k = 0; k < r->mode_count; k++)
      snprintf(text + strlen(text), sizeof text - strlen(text), " %+.2e", orr_watch_get(&r->watch, r->modes + k));
    line(r, "  modes     %s", text);
  }
  if (r->loads >= 0)
    line(r, "  load       %s %+.3f %+.3f %+.3f N m", r->load_name, orr_watch_get(&r->watch, r->loads),
         orr_watch_get(&r->watch, r->loads + 1), orr_watch_get(&r->watch, r->loads + 2));
}

static void draw_links(struct orr_run_status *r) {
  unsigned long long n[ORR_WATCH_LINK_COUNTS];
  for (int i = 0; i < ORR_WATCH_LINK_COUNTS; i++)
    n[i] = count(r, (enum orr_watch_link)i);
  if (!n[ORR_WATCH_OUT])
    return;
  line(r, "  links      %s: %llu frames out, %llu commands applied, %llu late, %llu missed; %llu peers came",
       links_word(r), n[ORR_WATCH_OUT], n[ORR_WATCH_APPLIED], n[ORR_WATCH_LATE], n[ORR_WATCH_MISSED],
       n[ORR_WATCH_PEERS]);
}

/* A terminal of another size than before is drawn on afresh, below: what it made of the old lines is not known. */
static void measure(struct orr_run_status *r) {
  struct winsize size = {0};
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 1;
  int columns = known ? size.ws_col : 80, rows = known ? size.ws_row : 24;
  r->lines = columns == r->columns && rows == r->rows ? r->lines : 0;
  r->columns = columns;
  r->rows = rows;
}

static void draw_screen(struct orr_run_status *r, const struct orr_stats *stats, const struct orr_live *live) {
  measure(r);
  if (r->lines)
    fprintf(stderr, "\033[%dA", r->lines);
  r->lines = 0;
  draw_progress(r, live);
  draw_punctuality(r, stats, live);
  draw_flight(r);
  draw_links(r);
}

static void print_plainly(struct orr_run_status *r, const struct orr_stats *stats, const struct orr_live *live) {
  int64_t now_ns = orr_clock_now_ns();
  char margin[ORR_DURATION_TEXT];
  uint64_t own = orr_live_own(live);
  bool due = r->next_ns && now_ns >= r->next_ns;
  if (due || !r->next_ns)
    r->next_ns = now_ns + PLAIN_NS;
  if (!due)
    return;
  fprintf(stderr, "t = %.2f s  frame %llu  margin %s  late: own %llu, others %llu", time_s(r),
          (unsigned long long)live->frames, orr_duration_text(stats->period_ns - live->last.end_ns, margin),
          (unsigned long long)own, (unsigned long long)(orr_live_late(live) - own));
  if (r->pointing >= 0)
    fprintf(stderr, "  pointing %.4f deg off", degree * orr_watch_get(&r->watch, r->pointing));
  if (count(r, ORR_WATCH_OUT))
    fprintf(stderr, "  links %s", links_word(r));
  fputc('\n', stderr);
}

void orr_run_status_draw(struct orr_run_status *r, const struct orr_stats *stats) {
  struct orr_live live;
  if (!orr_stats_live(stats, &live) || !live.frames)
    return;
  look_at_links(r);
  if (!r->said)
    say_refused(r);
  if (!r->shown)
    return;
  (r->terminal ? draw_screen : print_plainly)(r, stats, &live);
}

void orr_run_status_wipe(struct orr_run_status *r) {
  if (r->lines)
    fprintf(stderr, "\033[%dA\033[J", r->lines);
  r->lines = 0;
}
