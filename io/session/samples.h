/* Samples of a run, kept in memory for a picture of it: chosen numbers of the frame's block at every k-th frame.
 *
 * orr_samples_init [init], once for each number orr_samples_add [init] (which asks the plant for its channel) →
 * orr_samples_reserve [init] → orr_samples_take [rt] for each frame → read → orr_samples_destroy. One thread at a time.
 */
#ifndef ORR_IO_SAMPLES_H
#define ORR_IO_SAMPLES_H

#include "core/plant/plant.h"

enum { ORR_SAMPLES_SERIES_MAX = 64, ORR_SAMPLES_ROWS_MAX = 60000 };

struct orr_samples {
  struct orr_plant *plant;
  int series_count, rows, room, divisor;
  int offset[ORR_SAMPLES_SERIES_MAX]; /* in the frame's block */
  int64_t *time_ns;                   /* [room] */
  double *values;                     /* [room][series_count] */
};

void orr_samples_init(struct orr_samples *samples, struct orr_plant *plant);
void orr_samples_destroy(struct orr_samples *samples);

/* [init] Adds a number; returns its index, or −1 when there are too many. */
int orr_samples_add(struct orr_samples *samples, int channel, int element);

/* [init] Makes room for so many frames; every k-th is kept where they are more than ORR_SAMPLES_ROWS_MAX. Touches every
 * page. */
void orr_samples_reserve(struct orr_samples *samples, int64_t frames);

/* [rt] Takes a sample of the frame's block, if this frame is one to be kept. O(series). */
void orr_samples_take(struct orr_samples *samples);

#endif
