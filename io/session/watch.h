/* Numbers of a run to be shown while it flies: the executive writes them once a frame, any other thread reads them.
 *
 * orr_watch_init, orr_watch_add for each number [init], session->watch = … → orr_watch_put [rt] by orr_session_record;
 * orr_watch_get [any]. Each number is read whole; two numbers may be of neighbouring frames.
 */
#ifndef ORR_IO_WATCH_H
#define ORR_IO_WATCH_H

#include <stdatomic.h>

#include "core/plant/plant.h"
#include "io/links/terms/rules.h"

enum { ORR_WATCH_MAX = 32 };
/* Sums over all links to the outside. */
enum orr_watch_link {
  ORR_WATCH_OUT,
  ORR_WATCH_APPLIED,
  ORR_WATCH_LATE,
  ORR_WATCH_MISSED,
  ORR_WATCH_PEERS,
  ORR_WATCH_LINK_COUNTS
};

struct orr_watch {
  struct orr_plant *plant;
  int count;
  int offset[ORR_WATCH_MAX];
  _Atomic int64_t time_ns;
  _Atomic uint64_t numbers[ORR_WATCH_MAX]; /* bits of doubles */
  _Atomic uint64_t links[ORR_WATCH_LINK_COUNTS];
};

void orr_watch_init(struct orr_watch *watch, struct orr_plant *plant);
/* [init] Index of a number, or −1 when there are too many. Asks the plant for its channel. */
int orr_watch_add(struct orr_watch *watch, int channel, int element);
/* [rt] Copies the numbers from the frame's block. O(numbers), wait-free. */
void orr_watch_put(struct orr_watch *watch);
/* [rt] Adds the counts of one link, after orr_watch_put. `first` starts the sum again. */
void orr_watch_put_link(struct orr_watch *watch, const struct orr_link_counts *counts, bool first);
/* [any] */
double orr_watch_get(const struct orr_watch *watch, int index);

#endif
