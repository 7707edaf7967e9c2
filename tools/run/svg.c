#include "tools/run/svg.h"

#include <math.h>
#include <string.h>

#include "tools/common/text.h"

enum { LEFT = 86, RIGHT = 176, TOP = 30, BOTTOM = 44 };
enum { PLOT_WIDTH = ORR_SVG_WIDTH - LEFT - RIGHT, PLOT_HEIGHT = ORR_SVG_PANEL_HEIGHT - TOP - BOTTOM };
enum { TICKS_WANTED = 5, DECADES_MAX = 12 };

/* Told apart by people who do not see all colours (Okabe and Ito), darkest first. */
static const char *const colours[ORR_SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#e69f00", "#56b4e9", "#333333", "#a0a000"};

static void put_text(FILE *out, const char *text) {
  for (; *text; text++)
    switch (*text) {
    case '<':
      fputs("&lt;", out);
      break;
    case '>':
      fputs("&gt;", out);
      break;
    case '&':
      fputs("&amp;", out);
      break;
    default:
      fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void label(FILE *out, double x, double y, const char *attributes, const char *text) {
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  put_text(out, text);
  fputs("</text>\n", out);
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, so that there are about as many ticks as wanted. */
static double tick_step(double low, double high) {
  double raw = (high - low) / TICKS_WANTED, power = pow(10, floor(log10(raw))), part = raw / power;
  return power * (part <= 1.5 ? 1 : part <= 3.5 ? 2 : part <= 7.5 ? 5 : 10);
}

struct orr_svg_axis orr_svg_axis_for(const char *text, double low, double high, bool log) {
  struct orr_svg_axis a = {.label = text, .log = log};
  if (log) {
    a.high = pow(10, ceil(log10(fmax(high, 1e-300)) - 1e-9));
    a.low = pow(10, floor(log10(fmax(low, a.high * pow(10, -DECADES_MAX))) + 1e-9));
    a.low = fmin(a.low, a.high / 10);
    return a;
  }
  if (!(high - low > 1e-12 * fmax(fabs(low), fabs(high)))) {
    double room = fabs(low) > 0 ? 0.5 * fabs(low) : 1;
    low -= room;
    high += room;
  }
  double step = tick_step(low, high);
  a.low = step * floor(low / step + 1e-9);
  a.high = step * ceil(high / step - 1e-9);
  return a;
}

/* A little beyond the axis at most: a line that leaves it is cut off there. What is too small for decades lies on their
 * end. */
static double part_of(const struct orr_svg_axis *a, double value) {
  double part = a->log ? log10(value / a->low) / log10(a->high / a->low) : (value - a->low) / (a->high - a->low);
  return value > 0 || !a->log ? fmax(a->log ? 0 : -1, fmin(2, part)) : 0;
}

static double top_of(const struct orr_svg *s) { return ORR_SVG_HEAD + (s->panels - 1) * ORR_SVG_PANEL_HEIGHT + TOP; }

static double place_x(const struct orr_svg *s, double value) { return LEFT + PLOT_WIDTH * part_of(&s->x, value); }

static double place_y(const struct orr_svg *s, double value) {
  return top_of(s) + PLOT_HEIGHT * (1 - part_of(&s->y, value));
}

static void draw_tick(const struct orr_svg *s, bool vertical, double value) {
  char text[32];
  double x = place_x(s, value), y = place_y(s, value), top = top_of(s);
  snprintf(text, sizeof text, "%.6g", value);
  if (vertical) {
    fprintf(s->out, "<path class=\"g\" d=\"M%d %.1fh%d\"/>\n", LEFT, y, PLOT_WIDTH);
    label(s->out, LEFT - 8, y + 4, "text-anchor=\"end\"", text);
  } else {
    fprintf(s->out, "<path class=\"g\" d=\"M%.1f %.1fv%d\"/>\n", x, top, PLOT_HEIGHT);
    label(s->out, x, top + PLOT_HEIGHT + 17, "text-anchor=\"middle\"", text);
  }
}

static void draw_ticks(const struct orr_svg *s, bool vertical) {
  const struct orr_svg_axis *a = vertical ? &s->y : &s->x;
  if (a->rows)
    return;
  if (a->log) {
    int decades = (int)lround(log10(a->high / a->low)), every = vertical ? (decades + 4) / 5 : 1;
    for (int i = 0; i <= decades; i += every)
      draw_tick(s, vertical, a->low * pow(10, i));
    return;
  }
  double step = tick_step(a->low, a->high);
  long first = lround(ceil(a->low / step - 1e-9)), last = lround(floor(a->high / step + 1e-9));
  for (long k = first; k <= last; k++)
    draw_tick(s, vertical, step * (double)k);
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

void orr_svg_begin(struct orr_svg *s, FILE *out, int panels, int letters, const char *title, const char *subtitle) {
  enum { LETTERS = 18, LETTER_WIDTH = 8 }; /* those that RIGHT has room for; the width of a wide one */
  char clean[ORR_TEXT_MAX];
  int width = ORR_SVG_WIDTH + (letters > LETTERS ? (letters - LETTERS) * LETTER_WIDTH : 0);
  int height = ORR_SVG_HEAD + panels * ORR_SVG_PANEL_HEIGHT + ORR_SVG_FOOT;
  *s = (struct orr_svg){.out = out};
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
          "<style>text{font:12px 'DejaVu Sans','Helvetica Neue',Arial,sans-serif;fill:#444}.t{font-size:18px;fill:#111}"
          ".p{font-size:13px;font-weight:bold;fill:#222}.g{stroke:#e4e4e4;fill:none}.f{stroke:#999;fill:none}"
          ".l{fill:none;stroke-width:1.4;stroke-linejoin:round}</style>\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
          width, height, width, height);
  label(out, LEFT, 28, "class=\"t\"", orr_text_clean(title, "", clean, sizeof clean));
  label(out, LEFT, 48, "", subtitle);
}

static void axis_label(FILE *out, double x, double y, const char *attributes, const struct orr_svg_axis *a) {
  char text[96];
  snprintf(text, sizeof text, "%.72s%s", a->label, a->log ? " (log scale)" : "");
  label(out, x, y, attributes, text);
}

void orr_svg_panel(struct orr_svg *s, const char *title, struct orr_svg_axis x, struct orr_svg_axis y) {
  s->panels++;
  s->lines = 0;
  s->x = x;
  s->y = y;
  double top = top_of(s);
  draw_ticks(s, false);
  draw_ticks(s, true);
  fprintf(s->out, "<path class=\"f\" d=\"M%d %.1fv%dh%d\"/>\n", LEFT, top, PLOT_HEIGHT, PLOT_WIDTH);
  label(s->out, LEFT, top - 9, "class=\"p\"", title);
  axis_label(s->out, LEFT + PLOT_WIDTH, top + PLOT_HEIGHT + 33, "text-anchor=\"end\"", &x);
  char turn[96];
  snprintf(turn, sizeof turn, "text-anchor=\"middle\" transform=\"rotate(-90 %d %.1f)\"", 22, top + PLOT_HEIGHT / 2.0);
  axis_label(s->out, 22, top + PLOT_HEIGHT / 2.0, turn, &y);
  fprintf(s->out, "<clipPath id=\"c%d\"><rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/></clipPath>\n", s->panels,
          LEFT, top - 1, PLOT_WIDTH, PLOT_HEIGHT + 2);
}

/* A name beside the panel; a long one is pressed together. */
static void legend(const struct orr_svg *s, double y, const char *name) {
  enum { ROOM = RIGHT - 36 - 6, LETTERS = 19 };
  char attributes[64] = "";
  if (strlen(name) > LETTERS)
    snprintf(attributes, sizeof attributes, "textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", ROOM);
  label(s->out, LEFT + PLOT_WIDTH + 36, y, attributes, name);
}

/* The points of one column of the paper, in their order. */
struct column {
  int at, points;
  double x[2], y[2];
};

static void put_column(const struct orr_svg *s, const struct column *c, bool *begun) {
  for (int i = 0; i < c->points; i++) {
    fprintf(s->out, "%s%.1f %.1f", *begun ? " " : "M", c->x[i], c->y[i]);
    *begun = true;
  }
}

/* Keeps the least and the largest of a column, in the order of their coming. */
static void keep(struct column *c, double x, double y) {
  if (c->points < 2) {
    c->x[c->points] = x;
    c->y[c->points++] = y;
    return;
  }
  bool falls = c->y[1] < c->y[0];
  double low = falls ? c->y[1] : c->y[0], high = falls ? c->y[0] : c->y[1];
  if (y > high || y < low) {
    int keep_at = (y > high) == falls ? 1 : 0; /* the other end stays, and stands first */
    c->x[0] = c->x[keep_at];
    c->y[0] = c->y[keep_at];
    c->x[1] = x;
    c->y[1] = y;
  }
}

/* A burst in a row, with a little paper above and below. */
static void put_box(FILE *out, double from, double to, double top, double high) {
  if (to > from)
    fprintf(out, "M%.1f %.1fH%.1fV%.1fH%.1fz", from, top + 0.15 * high, to, top + 0.85 * high, from);
}

void orr_svg_line(struct orr_svg *s, const char *name, const double *x, const double *y, size_t count) {
  const char *colour = colours[s->lines % ORR_SVG_COLOURS];
  struct column c = {.at = -1};
  bool begun = false;
  fprintf(s->out, "<path class=\"l\" stroke=\"%s\" clip-path=\"url(#c%d)\" d=\"", colour, s->panels);
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(y[i]))
      continue;
    double px = place_x(s, x[i]);
    if ((int)px != c.at) {
      put_column(s, &c, &begun);
      c = (struct column){.at = (int)px};
    }
    keep(&c, px, place_y(s, y[i]));
  }
  put_column(s, &c, &begun);
  fputs("\"/>\n", s->out);
  double at = top_of(s) + 8 + 16 * s->lines++;
  fprintf(s->out, "<path class=\"l\" stroke=\"%s\" stroke-width=\"3\" d=\"M%d %.1fh18\"/>\n", colour,
          LEFT + PLOT_WIDTH + 12, at);
  legend(s, at + 4, name);
}

void orr_svg_row(struct orr_svg *s, const char *name, const double *x, const double *y, size_t count) {
  const double pen = 0.5, high = (double)PLOT_HEIGHT / s->y.rows;
  double top = top_of(s) + high * s->lines, from = 0, to = -1; /* of what is not drawn yet; none */
  fprintf(s->out, "<path class=\"r\" fill=\"%s\" d=\"", colours[s->lines % ORR_SVG_COLOURS]);
  for (size_t i = 0; i + 1 < count; i++) {
    double begin = place_x(s, x[i]), end = fmax(place_x(s, x[i + 1]), begin + pen);
    if (!(fabs(y[i]) > 0))
      continue;
    if (to < 0 || begin > to + pen) {
      put_box(s->out, from, to, top, high);
      from = begin;
    }
    to = end;
  }
  put_box(s->out, from, to, top, high);
  fputs("\"/>\n", s->out);
  fprintf(s->out, "<path class=\"g\" d=\"M%d %.1fh%d\"/>\n", LEFT, top, PLOT_WIDTH);
  legend(s, top + 0.5 * high + 4, name);
  s->lines++;
}

void orr_svg_end(struct orr_svg *s) { fputs("</svg>\n", s->out); }
