/* One frame as it went, in numbers: what the executive measures, the verdict judges and readers are shown.
 *
 * All times but `tick_ns` are relative to the frame's own tick, so a record is readable by itself. Plain data, a whole
 * number of 8-byte words, the same in every process of one build (the statistics board carries it).
 */
#ifndef ORR_RT_TICK_RECORD_H
#define ORR_RT_TICK_RECORD_H

#include <stdint.h>

enum { ORR_STAGES_MAX = 16, ORR_STAGE_NAME_MAX = 24 };

/* Why a frame was late. Own: our computing (stage) or our memory (page fault). The rest is the machine's doing, or
 * follows from an earlier frame. */
enum orr_cause {
  ORR_CAUSE_NONE,       /* on time */
  ORR_CAUSE_WAKE_UP,    /* the sleep ended late */
  ORR_CAUSE_PREVIOUS,   /* the frame before ran past this one's tick */
  ORR_CAUSE_STAGE,      /* a stage took that long, on the core and undisturbed */
  ORR_CAUSE_PAGE_FAULT, /* page faults inside the frame */
  ORR_CAUSE_PREEMPTED,  /* lost the core to another thread (involuntary switch) */
  ORR_CAUSE_BLOCKED,    /* gave up the core inside the frame (voluntary switch): a blocking call, or SIGSTOP */
  ORR_CAUSE_STOLEN,     /* lost time with no switch: a hypervisor, an interrupt, firmware */
  ORR_CAUSE_COUNT
};

struct orr_frame_record {
  uint64_t frame;
  int64_t tick_ns;  /* absolute, CLOCK_MONOTONIC */
  int64_t entry_ns; /* began to wait: negative when there was time to spare */
  int64_t asked_ns; /* end of the sleep asked for: minus the spin margin */
  int64_t woke_ns;  /* end of the sleep; entry_ns when there was none */
  int64_t start_ns; /* work began: the start latency */
  int64_t end_ns;   /* work ended: the response time */
  int64_t stage_ns[ORR_STAGES_MAX];
  int64_t lost_ns;         /* inside the frame or its spin, not on the core, by the kernel's CPU clock */
  int64_t gap_ns;          /* time between marks beyond what the stages declare as their own */
  int64_t previous_end_ns; /* end of the frame before, relative to this tick */
  uint32_t minor_faults;
  uint32_t major_faults;
  uint32_t involuntary;
  uint32_t voluntary; /* beyond the one of the sleep */
  uint32_t slept;
  uint32_t cause;   /* enum orr_cause */
  uint32_t stage;   /* with ORR_CAUSE_STAGE and ORR_CAUSE_PAGE_FAULT: the stage that exceeded its usual time most */
  uint32_t overran; /* ended after the next tick */
};

_Static_assert(sizeof(struct orr_frame_record) % 8 == 0, "a record is copied word by word");

enum { ORR_RECORD_WORDS = sizeof(struct orr_frame_record) / 8 };

#endif
