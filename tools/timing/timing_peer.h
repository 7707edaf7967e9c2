/* Who answers the links of a case while it is timed: an echo of our own for each, which notes when a frame came to it
 * and when its answer was handed over, or a command of the user.
 *
 * orr_timing_peers_open, before there are threads → orr_timing_peers_go, once the links have their places → the run →
 * orr_timing_peers_end. [init]
 */
#ifndef ORR_TOOLS_TIMING_TIMING_PEER_H
#define ORR_TOOLS_TIMING_TIMING_PEER_H

#include <sys/types.h>

#include "rt/tick/histogram.h"
#include "tools/timing/timing_case.h"

enum { ORR_TIMING_PEERS_MAX = 8 };

/* What an echo saw of a frame, CLOCK_MONOTONIC; 0: not seen. Shared with it. */
struct orr_timing_seen {
  int64_t came_ns, answered_ns;
};

struct orr_timing_peers {
  size_t count;
  pid_t pid[ORR_TIMING_PEERS_MAX];
  const struct orr_run_link *link[ORR_TIMING_PEERS_MAX]; /* of an echo; NULL: the command */
  struct orr_timing_seen *seen[ORR_TIMING_PEERS_MAX];    /* [frames] */
  uint64_t frames;
  int gate[2]; /* closed: go */
};

/* Makes the processes, off that core (−1: anywhere). False after a message. */
bool orr_timing_peers_open(const struct orr_timing_case *c, uint64_t frames, int core, struct orr_timing_peers *peers);
void orr_timing_peers_go(struct orr_timing_peers *peers);
/* Ends the processes; what they saw stays until close. */
void orr_timing_peers_end(struct orr_timing_peers *peers);
void orr_timing_peers_close(struct orr_timing_peers *peers);

/* From the tick of a frame to when it was in the hands of the echo, and to when its answer had been handed over; frames
 * from `first` on. `tick_ns` [frames]: of each frame, 0 for one that was not flown. */
void orr_timing_peers_judge(const struct orr_timing_peers *peers, size_t peer, const int64_t *tick_ns, uint64_t first,
                            struct orr_histogram *publication, struct orr_histogram *round_trip);

#endif
