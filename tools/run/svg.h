/* A small writer of SVG charts: panels under each other, each with its axes, grid and legend.
 *
 * orr_svg_begin → for each panel orr_svg_panel, then orr_svg_line for each of its lines, or orr_svg_row for each of the
 * rows of a raster → orr_svg_end. The caller checks the stream for errors. [init]
 */
#ifndef ORR_TOOLS_RUN_SVG_H
#define ORR_TOOLS_RUN_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ORR_SVG_WIDTH = 1000, ORR_SVG_PANEL_HEIGHT = 196, ORR_SVG_HEAD = 64, ORR_SVG_FOOT = 18, ORR_SVG_COLOURS = 8 };

struct orr_svg_axis {
  const char *label; /* with its unit */
  double low, high;
  bool log; /* decades; the label says so */
  int rows; /* above 0: a raster of so many rows, without numbers */
};

struct orr_svg {
  FILE *out;
  int panels, lines; /* so far; lines or rows of the panel */
  struct orr_svg_axis x, y;
};

/* `letters`: of the longest name of a line, for which the picture has room on its right. */
void orr_svg_begin(struct orr_svg *svg, FILE *out, int panels, int letters, const char *title, const char *subtitle);
void orr_svg_panel(struct orr_svg *svg, const char *title, struct orr_svg_axis x, struct orr_svg_axis y);
/* Draws only what the picture can show: the least and largest value of each column of pixels. Cut off where the axes
 * end. */
void orr_svg_line(struct orr_svg *svg, const char *name, const double *x, const double *y, size_t count);
/* The next row of a raster: filled from x[i] to x[i + 1] where y[i] is not 0. A bar narrower than the pen is as wide as
 * the pen. */
void orr_svg_row(struct orr_svg *svg, const char *name, const double *x, const double *y, size_t count);
void orr_svg_end(struct orr_svg *svg);

/* An axis with round numbers as ends that contains [low, high]. */
struct orr_svg_axis orr_svg_axis_for(const char *label, double low, double high, bool log);

#endif
