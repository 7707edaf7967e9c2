/* A frame with a fault to order, for tests of the executive: at one frame its compute stage burns, sleeps, faults or
 * goes silent. */
#ifndef ORR_TESTS_RIG_H
#define ORR_TESTS_RIG_H

#include <stdint.h>

#include "rt/tick/cycle.h"
#include "rt/tick/stats.h"

enum orr_rig_fault {
  ORR_RIG_NONE,
  ORR_RIG_BURN,   /* compute for `fault_ns` */
  ORR_RIG_SLEEP,  /* give up the core for `fault_ns` */
  ORR_RIG_TOUCH,  /* touch `fault_pages` pages that were never touched */
  ORR_RIG_SILENT, /* spin for `fault_ns` between two marks that usually lie microseconds apart */
  ORR_RIG_FAIL,   /* return `fault_code` */
};

enum { ORR_RIG_LOG = 4096 };

struct orr_rig {
  enum orr_rig_fault fault;
  uint64_t fault_frame, fault_frames; /* first, and how many (0 is 1) */
  int64_t fault_ns;
  unsigned char *fault_memory; /* of orr_rig_fresh_memory */
  uint64_t fault_pages;
  int fault_code;
  int64_t usual_ns;                                            /* what compute burns in every frame */
  void (*every_frame)(void *context, struct orr_frame *frame); /* called by publish; may be NULL */
  void *context;
  /* seen */
  char order[ORR_RIG_LOG]; /* p, l, c, d as the stages ran, f at finish */
  uint64_t order_used;
  uint64_t next_frame;   /* frames publish has seen */
  uint64_t out_of_order; /* frames whose number was not the next */
  int64_t tick_ns[ORR_RIG_LOG];
  int64_t publish_ns[ORR_RIG_LOG];
  uint64_t finished;
  int real_time; /* whether it had the priority */
  struct orr_cycle_result result;
};

/* publish, latch, "compute" (faulty), "device". */
extern const struct orr_work orr_rig_work;

void orr_rig_burn(int64_t ns);

/* Pages that exist but were never touched: the first touch of each is a minor fault. */
unsigned char *orr_rig_fresh_memory(uint64_t pages);

/* Runs the executive on the calling thread, at a real-time priority for the time when that is allowed, so that what
 * else the machine does stays out of the picture; fails the test when the options are refused. */
void orr_rig_run(struct orr_rig *rig, const struct orr_cycle_options *options, struct orr_stats *stats,
                 struct orr_live *live);

/* The record of a frame among the worst; NULL when it is not. */
const struct orr_frame_record *orr_rig_find(const struct orr_stats *stats, uint64_t frame,
                                            struct orr_frame_record *record);

#endif
