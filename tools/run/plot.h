/* A picture of a run: pointing error, wheel speeds, burning thrusters, first modal coordinates, a hinge load; or the
 * channels that are asked for; and the latencies of its frames.
 *
 * orr_plot_choose, after orr_session_create and before the start → the run, which samples → orr_plot_write →
 * orr_plot_close. [init]
 */
#ifndef ORR_TOOLS_RUN_PLOT_H
#define ORR_TOOLS_RUN_PLOT_H

#include "io/session/session.h"
#include "rt/tick/stats.h"

enum { ORR_PLOT_PANELS = 8, ORR_PLOT_LINES = 8, ORR_PLOT_ROWS = 16 };

struct orr_plot_line {
  char name[64];
  int sample;   /* which series of the samples */
  double scale; /* from SI to the panel's unit */
};

struct orr_plot_panel {
  char title[96];
  const char *unit;
  bool log, raster; /* a row for each thruster, filled while it burns */
  int count;        /* at most ORR_PLOT_LINES; of a raster ORR_PLOT_ROWS */
  struct orr_plot_line lines[ORR_PLOT_ROWS];
};

struct orr_plot {
  struct orr_samples samples;
  struct orr_plot_panel panels[ORR_PLOT_PANELS];
  int panel_count;
};

/* Chooses what to draw of this spacecraft; the session samples it from now on, for a run of so many frames. With
 * `patterns` (patterns.h) it draws the channels and elements that fit one, each unit in panels of its own. Channels
 * without room are named on standard error. False after saying that nothing fits a pattern; close the plot all the
 * same. */
bool orr_plot_choose(struct orr_plot *plot, struct orr_session *session, const char *patterns, int64_t frames);

/* Writes the SVG; with `stats`, the latency histograms too. The axes of a run that diverged leave out the last samples,
 * which are huge. False after saying what is wrong. */
bool orr_plot_write(const struct orr_plot *plot, const char *path, const char *title, const struct orr_session *session,
                    const struct orr_stats *stats);

void orr_plot_close(struct orr_plot *plot);

#endif
