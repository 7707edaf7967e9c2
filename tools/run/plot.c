#include "tools/run/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/out_file.h"
#include "tools/run/svg.h"

static const double degree = 57.295779513082320876798, rpm = 9.549296585513720146133;

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static void add_line(struct orr_plot *p, struct orr_plot_panel *panel, int channel, int element, double scale) {
  const struct orr_channel *c = &p->samples.plant->table.channels[channel];
  if (panel->count == ORR_PLOT_LINES)
    return;
  struct orr_plot_line *line = &panel->lines[panel->count];
  line->sample = orr_samples_add(&p->samples, channel, element);
  line->scale = scale;
  if (line->sample < 0)
    return;
  if (c->count == 1)
    snprintf(line->name, sizeof line->name, "%.60s", c->name);
  else if (c->elements)
    snprintf(line->name, sizeof line->name, "%.50s.%s", c->name, c->elements[element]);
  else
    snprintf(line->name, sizeof line->name, "%.50s[%d]", c->name, element);
  panel->count++;
}

static struct orr_plot_panel *next_panel(struct orr_plot *p, const char *title, const char *unit, bool log) {
  struct orr_plot_panel *panel = &p->panels[p->panel_count];
  *panel = (struct orr_plot_panel){.title = title, .unit = unit, .log = log};
  return panel;
}

static void close_panel(struct orr_plot *p) { p->panel_count += p->panels[p->panel_count].count > 0; }

static void choose_pointing(struct orr_plot *p) {
  const struct orr_plant *plant = p->samples.plant;
  struct orr_plot_panel *panel = next_panel(p, "Pointing error", "deg", true);
  for (int i = 0; i < plant->pointing_count; i++)
    add_line(p, panel, plant->pointing_channel[i] + 1, 0, degree);
  close_panel(p);
}

static int device_channel(const struct orr_plant *plant, const char *device, const char *quantity) {
  char name[256];
  snprintf(name, sizeof name, "%s.%s", device, quantity);
  return orr_channel_find(&plant->table, name);
}

static void choose_devices(struct orr_plot *p, const struct orr_run *run, const char *kind, const char *quantity,
                           double scale) {
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    int channel = strcmp(d->kind->name, kind) == 0 ? device_channel(p->samples.plant, d->name, quantity) : -1;
    if (channel >= 0)
      add_line(p, &p->panels[p->panel_count], channel, 0, scale);
  }
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

void orr_plot_choose(struct orr_plot *p, struct orr_session *session, int64_t frames) {
  *p = (struct orr_plot){0};
  orr_samples_init(&p->samples, session->plant);
  choose_pointing(p);
  next_panel(p, "Wheel speeds", "rpm", false);
  choose_devices(p, session->run, "reaction_wheel", "speed", rpm);
  next_panel(p, "Thrust", "N", false);
  choose_devices(p, session->run, "thruster", "thrust", 1);
  choose_modes(p, session->run);
  choose_load(p, session->run);
  orr_samples_reserve(&p->samples, frames);
  session->samples = &p->samples;
}

void orr_plot_close(struct orr_plot *p) { orr_samples_destroy(&p->samples); }

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

struct span {
  double low, high;
};

static struct span span_of(const struct orr_plot *p, const struct orr_plot_panel *panel) {
  const struct orr_samples *s = &p->samples;
  struct span span = {HUGE_VAL, -HUGE_VAL};
  for (int r = 0; r < s->rows; r++)
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

static void draw_panel(const struct orr_plot *p, const struct orr_plot_panel *panel, struct orr_svg *svg,
                       const double *t, double *y) {
  const struct orr_samples *s = &p->samples;
  struct span span = span_of(p, panel);
  if (panel->log)
    span.low = fmax(span.low, 1e-5 * span.high);
  double from = s->rows ? t[0] : 0, to = s->rows > 1 ? t[s->rows - 1] : 1;
  struct orr_svg_axis time = {.label = "time, s", .low = from, .high = to > from ? to : from + 1};
  orr_svg_panel(svg, panel->title, time, orr_svg_axis_for(panel->unit, span.low, span.high, panel->log));
  for (int i = 0; i < panel->count; i++) {
    for (int r = 0; r < s->rows; r++)
      y[r] = panel->lines[i].scale * s->values[(size_t)r * (size_t)s->series_count + (size_t)panel->lines[i].sample];
    orr_svg_line(svg, panel->lines[i].name, t, y, (size_t)s->rows);
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
    snprintf(subtitle, sizeof subtitle, "%lld frames of %.6g ms, %d of them drawn; state_hash %016llx",
             (long long)orr_plant_frame(session->plant), 1e-6 * (double)session->plant->step_ns, s->rows,
             (unsigned long long)orr_session_hash(session));
    orr_svg_begin(&svg, file.out, p->panel_count + (stats != NULL), title, subtitle);
    for (int i = 0; i < p->panel_count; i++)
      draw_panel(p, &p->panels[i], &svg, t, y);
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
