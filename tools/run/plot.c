#include "tools/run/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plant/world.h"
#include "tools/common/out_file.h"
#include "tools/run/diverged.h"
#include "tools/run/patterns.h"
#include "tools/run/svg.h"

static const double degree = 57.295779513082320876798, rpm = 9.549296585513720146133;

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

/* As the legend has it, and a pattern: "gyro.rate.x". */
static void name_line(char *name, size_t size, const struct orr_channel *c, int element) {
  if (c->count == 1)
    snprintf(name, size, "%.60s", c->name);
  else if (c->elements)
    snprintf(name, size, "%.50s.%s", c->name, c->elements[element]);
  else
    snprintf(name, size, "%.50s[%d]", c->name, element);
}

static bool add_line(struct orr_plot *p, struct orr_plot_panel *panel, int channel, int element, double scale) {
  struct orr_plot_line *line = &panel->lines[panel->count];
  if (panel->count == (panel->raster ? ORR_PLOT_ROWS : ORR_PLOT_LINES))
    return false;
  line->sample = orr_samples_add(&p->samples, channel, element);
  line->scale = scale;
  if (line->sample < 0)
    return false;
  name_line(line->name, sizeof line->name, &p->samples.plant->table.channels[channel], element);
  panel->count++;
  return true;
}

static struct orr_plot_panel *next_panel(struct orr_plot *p, const char *title, const char *unit, bool log) {
  struct orr_plot_panel *panel = &p->panels[p->panel_count];
  *panel = (struct orr_plot_panel){.unit = unit, .log = log};
  snprintf(panel->title, sizeof panel->title, "%s", title);
  return panel;
}

static void close_panel(struct orr_plot *p) { p->panel_count += p->panels[p->panel_count].count > 0; }

static int device_channel(const struct orr_plant *plant, const char *device, const char *quantity) {
  char name[256];
  snprintf(name, sizeof name, "%s.%s", device, quantity);
  return orr_channel_find(&plant->table, name);
}

/* Targets that move are devices of the world. */
static void choose_pointing(struct orr_plot *p, const struct orr_run *run) {
  const struct orr_plant *plant = p->samples.plant;
  struct orr_plot_panel *panel = next_panel(p, "Pointing error", "deg", true);
  for (int i = 0; i < plant->pointing_count; i++)
    add_line(p, panel, plant->pointing_channel[i] + 1, 0, degree);
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    int channel = d->kind == &orr_world_pointing_kind ? device_channel(plant, d->name, "pointing_error") : -1;
    if (channel >= 0)
      add_line(p, panel, channel, 0, degree);
  }
  close_panel(p);
}

static void choose_wheels(struct orr_plot *p, const struct orr_run *run) {
  struct orr_plot_panel *panel = next_panel(p, "Wheel speeds", "rpm", false);
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    int channel =
        strcmp(d->kind->name, "reaction_wheel") == 0 ? device_channel(p->samples.plant, d->name, "speed") : -1;
    if (channel >= 0)
      add_line(p, panel, channel, 0, rpm);
  }
  close_panel(p);
}

static struct orr_plot_panel *next_raster(struct orr_plot *p) {
  struct orr_plot_panel *panel = next_panel(p, "Thrusters: filled while they burn", "thruster", false);
  panel->raster = true;
  return panel;
}

static bool add_thruster(struct orr_plot *p, struct orr_plot_panel *panel, const char *name) {
  int channel = device_channel(p->samples.plant, name, "thrust");
  if (channel < 0 || !add_line(p, panel, channel, 0, 1))
    return false;
  snprintf(panel->lines[panel->count - 1].name, sizeof panel->lines->name, "%.60s", name);
  return true;
}

static void choose_thrusters(struct orr_plot *p, const struct orr_run *run) {
  struct orr_plot_panel *panel = next_raster(p);
  for (size_t i = 0; i < run->plant.device_count; i++)
    if (strcmp(run->plant.devices[i].kind->name, "thruster") == 0)
      add_thruster(p, panel, run->plant.devices[i].name);
  close_panel(p);
}

/* The first modes of each flexible body: three of one, two of two, else one. */
static void choose_modes(struct orr_plot *p, const struct orr_run *run) {
  struct orr_plot_panel *panel = next_panel(p, "First modal coordinates", "of the mode's shape", false);
  size_t flexible = 0;
  for (size_t i = 0; i < run->spacecraft.body_count; i++)
    flexible += run->spacecraft.bodies[i].mode_count > 0;
  int most = flexible < 2 ? 3 : flexible == 2 ? 2 : 1;
  for (size_t i = 0; i < run->spacecraft.body_count; i++) {
    int channel = run->spacecraft.bodies[i].mode_count
                      ? device_channel(p->samples.plant, run->spacecraft.bodies[i].name, "eta")
                      : -1;
    for (int k = 0; channel >= 0 && k < most && k < p->samples.plant->table.channels[channel].count; k++)
      add_line(p, panel, channel, k, 1);
  }
  close_panel(p);
}

/* The first load cell; without one, the truth of the first hinge that is not a root. */
static void choose_load(struct orr_plot *p, const struct orr_run *run) {
  const struct orr_plant *plant = p->samples.plant;
  struct orr_plot_panel *panel = next_panel(p, "Hinge load: moment", "N m", false);
  int channel = -1;
  for (size_t i = 0; i < run->plant.device_count && channel < 0; i++)
    if (strcmp(run->plant.devices[i].kind->name, "hinge_load") == 0)
      channel = device_channel(plant, run->plant.devices[i].name, "moment");
  for (size_t i = 0; i < run->spacecraft.body_count && channel < 0; i++)
    if (run->spacecraft.bodies[i].hinge.parent != ORR_INERTIAL)
      channel = device_channel(plant, run->spacecraft.bodies[i].name, "load");
  for (int k = 0; channel >= 0 && k < 3; k++)
    add_line(p, panel, channel, k, 1);
  close_panel(p);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* The thruster whose on-time the channel is, or NULL. */
static const char *thruster_of(const struct orr_run *run, const char *channel) {
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const char *name = run->plant.devices[i].name;
    size_t n = strlen(name);
    if (strcmp(run->plant.devices[i].kind->name, "thruster") == 0 && strncmp(channel, name, n) == 0 &&
        strcmp(channel + n, ".on_time") == 0)
      return name;
  }
  return NULL;
}

/* The newest panel of that unit with room, or a new one; NULL: there is no room. */
static struct orr_plot_panel *panel_for(struct orr_plot *p, const char *unit, bool raster) {
  for (int i = p->panel_count - 1; i >= 0; i--) {
    struct orr_plot_panel *panel = &p->panels[i];
    if (panel->raster == raster && (raster || strcmp(panel->unit, unit) == 0) &&
        panel->count < (raster ? ORR_PLOT_ROWS : ORR_PLOT_LINES))
      return panel;
  }
  if (p->panel_count == ORR_PLOT_PANELS || p->samples.series_count == ORR_SAMPLES_SERIES_MAX)
    return NULL;
  struct orr_plot_panel *panel = raster ? next_raster(p) : next_panel(p, "", unit, false);
  p->panel_count++;
  return panel;
}

/* The channels of a panel, as many as its title holds. */
static void add_to_title(struct orr_plot_panel *panel, const char *channel) {
  size_t used = strlen(panel->title), n = strlen(channel);
  bool cut = used >= 3 && strcmp(panel->title + used - 3, "...") == 0;
  if (cut)
    return;
  if (used + n + 8 < sizeof panel->title)
    snprintf(panel->title + used, sizeof panel->title - used, "%s%s", used ? ", " : "", channel);
  else if (used)
    snprintf(panel->title + used, sizeof panel->title - used, ", ...");
  else
    snprintf(panel->title, sizeof panel->title, "%.80s", channel);
}

static bool add_asked(struct orr_plot *p, const struct orr_run *run, int channel, int element, bool first) {
  const struct orr_channel *c = &p->samples.plant->table.channels[channel];
  const char *thruster = thruster_of(run, c->name);
  struct orr_plot_panel *panel = panel_for(p, orr_channel_unit(c, element), thruster);
  if (!panel)
    return false;
  if (thruster)
    return add_thruster(p, panel, thruster);
  if (first || panel->count == 0)
    add_to_title(panel, c->name);
  return add_line(p, panel, channel, element, 1);
}

/* True for a channel, or one of its elements, that fits. */
static bool fits(const char *patterns, const struct orr_channel *c, int element) {
  char name[sizeof((struct orr_plot_line *)NULL)->name];
  name_line(name, sizeof name, c, element);
  return orr_patterns_fit(patterns, c->name) || orr_patterns_fit(patterns, name);
}

static bool fits_any(const struct orr_plot *p, const char *pattern) {
  const struct orr_channel_table *table = &p->samples.plant->table;
  for (int i = 0; i < table->count; i++)
    for (int k = 0; k < table->channels[i].count; k++)
      if (fits(pattern, &table->channels[i], k))
        return true;
  return false;
}

/* What there is no room for. */
struct left {
  const char *first;
  int count;
};

/* What fits a pattern and none before it, so that panels stand in the order in which they are asked for. */
static void choose_pattern(struct orr_plot *p, const struct orr_run *run, const char *pattern, const char *before,
                           struct left *left) {
  const struct orr_channel_table *table = &p->samples.plant->table;
  for (int i = 0; i < table->count; i++) {
    const struct orr_channel *c = &table->channels[i];
    bool first = true;
    for (int k = 0; k < c->count; k++) {
      if (!fits(pattern, c, k) || (*before && fits(before, c, k)))
        continue;
      if (!add_asked(p, run, i, k, first)) {
        left->first = left->first ? left->first : c->name;
        left->count++;
      }
      first = false;
    }
  }
}

static bool choose_asked(struct orr_plot *p, const struct orr_run *run, const char *patterns) {
  char pattern[ORR_PATTERN_TEXT], before[ORR_PATTERN_TEXT];
  const char *rest = patterns;
  struct left left = {0};
  while (orr_patterns_cut(&rest, pattern))
    if (!fits_any(p, pattern)) {
      orr_patterns_report(pattern, "--plot-channels", &p->samples.plant->table);
      return false;
    }
  rest = patterns;
  for (const char *begin = rest; orr_patterns_cut(&rest, pattern); begin = rest) {
    snprintf(before, sizeof before, "%.*s", (int)(begin - patterns), patterns);
    choose_pattern(p, run, pattern, before, &left);
  }
  if (left.count)
    fprintf(stderr,
            "orrery run: warning: a picture has %d panels of %d lines: %d numbers that fit are not drawn, '%s' "
            "first; ask for fewer\n",
            ORR_PLOT_PANELS, ORR_PLOT_LINES, left.count, left.first);
  return true;
}

bool orr_plot_choose(struct orr_plot *p, struct orr_session *session, const char *patterns, int64_t frames) {
  *p = (struct orr_plot){0};
  orr_samples_init(&p->samples, session->plant);
  if (patterns && !choose_asked(p, session->run, patterns))
    return false;
  if (!patterns) {
    choose_pointing(p, session->run);
    choose_wheels(p, session->run);
    choose_thrusters(p, session->run);
    choose_modes(p, session->run);
    choose_load(p, session->run);
  }
  orr_samples_reserve(&p->samples, frames);
  session->samples = &p->samples;
  return true;
}

void orr_plot_close(struct orr_plot *p) { orr_samples_destroy(&p->samples); }

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

struct span {
  double low, high;
};

/* Of the first rows. */
static struct span span_of(const struct orr_plot *p, const struct orr_plot_panel *panel, int rows) {
  const struct orr_samples *s = &p->samples;
  struct span span = {HUGE_VAL, -HUGE_VAL};
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < panel->count; i++) {
      double v =
          panel->lines[i].scale * s->values[(size_t)r * (size_t)s->series_count + (size_t)panel->lines[i].sample];
      if (!isfinite(v) || (panel->log && !(v > 0)))
        continue;
      span.low = fmin(span.low, v);
      span.high = fmax(span.high, v);
    }
  if (span.low > span.high)
    span = (struct span){panel->log ? 0.1 : 0, 1};
  return span;
}

/* Rows before the samples of a run that diverged ran away: without a last twentieth, again and again, as long as that
 * makes the span less than a third. A span of decades needs no such thing. */
static int calm_rows(const struct orr_plot *p, const struct orr_plot_panel *panel) {
  int all = p->samples.rows, rows = all, piece = all / 20 + 1;
  struct span span = span_of(p, panel, rows);
  while (!panel->log && rows - piece >= all / 4 && rows > piece) {
    struct span less = span_of(p, panel, rows - piece);
    if (!(span.high - span.low > 3 * (less.high - less.low)))
      break;
    rows -= piece;
    span = less;
  }
  return rows;
}

static int longest_name(const struct orr_plot *p) {
  int longest = 0;
  for (int i = 0; i < p->panel_count; i++)
    for (int k = 0; k < p->panels[i].count; k++) {
      int letters = (int)strlen(p->panels[i].lines[k].name);
      longest = letters > longest ? letters : longest;
    }
  return longest;
}

static bool is_below(double value, double low) { return value > 0 && value < low; }

/* An axis of decades is at most five long, and begins where less than a fiftieth of the samples lies below: an error
 * that passes through zero, or begins there, would else press all others to its top. */
static double lowest_decade(const struct orr_plot *p, const struct orr_plot_panel *panel, struct span span) {
  const struct orr_samples *s = &p->samples;
  double low = fmax(span.low, 1e-5 * span.high);
  for (;;) {
    double next = pow(10, floor(log10(low)) + 1);
    long below = 0, all = (long)s->rows * panel->count;
    for (int r = 0; r < s->rows; r++)
      for (int i = 0; i < panel->count; i++)
        below += is_below(panel->lines[i].scale *
                              s->values[(size_t)r * (size_t)s->series_count + (size_t)panel->lines[i].sample],
                          next);
    if (next >= span.high || below * 50 >= all)
      return low;
    low = next;
  }
}

/* The span of the axis; where that is not of all samples, the title says so. */
static struct span axis_of(const struct orr_plot *p, const struct orr_plot_panel *panel, bool diverged, char *title,
                           size_t size) {
  struct span all = span_of(p, panel, p->samples.rows), span = all;
  int rows = diverged ? calm_rows(p, panel) : p->samples.rows;
  snprintf(title, size, "%s", panel->title);
  if (rows < p->samples.rows) {
    span = span_of(p, panel, rows);
    double room = 0.5 * (span.high - span.low);
    span = (struct span){span.low - room, span.high + room};
    snprintf(title, size, "%s (ran away after %.4g s: from %.3g to %.3g%s%s)", panel->title,
             1e-9 * (double)p->samples.time_ns[rows - 1], all.low, all.high, *panel->unit ? " " : "", panel->unit);
  }
  if (panel->log)
    span.low = lowest_decade(p, panel, span);
  return span;
}

static void draw_panel(const struct orr_plot *p, const struct orr_plot_panel *panel, bool diverged, struct orr_svg *svg,
                       const double *t, double *y) {
  const struct orr_samples *s = &p->samples;
  char title[200];
  struct span span = axis_of(p, panel, diverged && !panel->raster, title, sizeof title);
  double from = s->rows ? t[0] : 0, to = s->rows > 1 ? t[s->rows - 1] : 1;
  struct orr_svg_axis time = {.label = "time, s", .low = from, .high = to > from ? to : from + 1};
  if (panel->raster)
    orr_svg_panel(svg, title, time, (struct orr_svg_axis){.label = panel->unit, .high = 1, .rows = panel->count});
  else
    orr_svg_panel(svg, title, time,
                  orr_svg_axis_for(*panel->unit ? panel->unit : "no unit", span.low, span.high, panel->log));
  for (int i = 0; i < panel->count; i++) {
    for (int r = 0; r < s->rows; r++)
      y[r] = panel->lines[i].scale * s->values[(size_t)r * (size_t)s->series_count + (size_t)panel->lines[i].sample];
    (panel->raster ? orr_svg_row : orr_svg_line)(svg, panel->lines[i].name, t, y, (size_t)s->rows);
  }
}

/* Frames per bin of a tenth of a decade, from 0.1 us to 100 ms, as steps. */
enum { BINS = 60, BINS_PER_DECADE = 10 };
static const double FIRST_US = 0.1;

static void bin(const struct orr_histogram *h, double *counts) {
  memset(counts, 0, BINS * sizeof *counts);
  for (size_t i = 0; i < ORR_HISTOGRAM_BUCKETS; i++) {
    uint64_t n = h->bucket[i];
    double us = 1e-3 * (double)orr_histogram_floor_ns(i);
    int k = us > FIRST_US ? (int)(BINS_PER_DECADE * log10(us / FIRST_US)) : 0;
    if (n)
      counts[k < BINS ? k : BINS - 1] += (double)n;
  }
}

static void draw_steps(struct orr_svg *svg, const char *name, const double *counts) {
  double x[2 * BINS], y[2 * BINS];
  for (int k = 0; k < BINS; k++) {
    x[2 * k] = FIRST_US * pow(10, (double)k / BINS_PER_DECADE);
    x[2 * k + 1] = FIRST_US * pow(10, (k + 0.999) / BINS_PER_DECADE);
    y[2 * k] = y[2 * k + 1] = counts[k];
  }
  orr_svg_line(svg, name, x, y, 2 * BINS);
}

static void draw_latency(struct orr_svg *svg, const struct orr_stats *stats) {
  double counts[BINS], most = 10;
  const struct orr_svg_axis x = {.label = "time, us", .low = FIRST_US, .high = 1e5, .log = true};
  for (uint32_t i = 0; i < ORR_HISTOGRAM_STAGE_0 + stats->stage_count; i++)
    most = fmax(most, (double)stats->histogram[i].total);
  orr_svg_panel(svg, "Punctuality: frames by start latency and by the time of each stage", x,
                orr_svg_axis_for("frames", 1, most, true));
  bin(&stats->histogram[ORR_HISTOGRAM_START], counts);
  draw_steps(svg, "start after the tick", counts);
  for (uint32_t i = 0; i < stats->stage_count; i++) {
    if (stats->histogram[ORR_HISTOGRAM_STAGE_0 + i].total == 0)
      continue;
    bin(&stats->histogram[ORR_HISTOGRAM_STAGE_0 + i], counts);
    draw_steps(svg, stats->stage_name[i], counts);
  }
}

bool orr_plot_write(const struct orr_plot *p, const char *path, const char *title, const struct orr_session *session,
                    const struct orr_stats *stats) {
  const struct orr_samples *s = &p->samples;
  struct orr_out_file file;
  bool good = orr_out_file_open(&file, path);
  double *t = calloc(2 * (size_t)s->rows + 1, sizeof *t), *y;
  char subtitle[160];
  struct orr_svg svg;
  if (!t)
    abort();
  y = t + s->rows;
  for (int r = 0; r < s->rows; r++)
    t[r] = 1e-9 * (double)s->time_ns[r];
  if (good) {
    snprintf(subtitle, sizeof subtitle, "%lld frames of %.6g ms, %d samples drawn; state_hash %016llx",
             (long long)orr_plant_frame(session->plant), 1e-6 * (double)session->plant->step_ns, s->rows,
             (unsigned long long)orr_session_hash(session));
    orr_svg_begin(&svg, file.out, p->panel_count + (stats != NULL), longest_name(p), title, subtitle);
    for (int i = 0; i < p->panel_count; i++)
      draw_panel(p, &p->panels[i], orr_diverged(session), &svg, t, y);
    if (stats)
      draw_latency(&svg, stats);
    orr_svg_end(&svg);
    good = orr_out_file_close(&file, true);
  }
  free(t);
  if (!good)
    fprintf(stderr, "orrery run: cannot write '%s': %s\n", path, strerror(errno));
  return good;
}
