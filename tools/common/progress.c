#include "tools/common/progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void orr_progress_begin(struct orr_progress *p, double expected_s) {
  const double patience_s = 2;
  double start_s = now_s();
  *p = (struct orr_progress){.terminal = isatty(STDERR_FILENO),
                             .start_s = start_s,
                             .next_s = expected_s > patience_s ? start_s : start_s + patience_s,
                             .expected_s = expected_s};
}

void orr_progress_show(struct orr_progress *p, double part) {
  enum { WIDTH = 40 };
  static const char full[] = "########################################",
                    none[] = "........................................";
  if (!p->terminal)
    return;
  double now = now_s();
  if (now < p->next_s)
    return;
  p->next_s = now + 0.1;
  part = fmax(0, fmin(1, part));
  int done = (int)(part * WIDTH);
  double left_s = part > 0 ? (now - p->start_s) * (1 - part) / part : p->expected_s;
  char left[32] = "";
  if (part > 0 || p->expected_s > 0)
    snprintf(left, sizeof left, left_s < 90 ? ", %.0f s left" : ", %.0f min left",
             ceil(left_s < 90 ? left_s : left_s / 60));
  fprintf(stderr, "\r[%.*s%.*s] %3.0f %%%s\033[K", done, full, WIDTH - done, none, 100 * part, left);
  p->drawn = true;
}

void orr_progress_wipe(struct orr_progress *p) {
  if (p->drawn)
    fputs("\r\033[K", stderr);
  p->drawn = false;
}
