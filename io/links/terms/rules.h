/* Decides which command applies at which frame, for every carrier. Pure bookkeeping: no clock, no system call, nothing
 * shared.
 *
 *   at frame kd    orr_rules_publish(kd); then answers arrive, in any order, with any content: orr_rules_offer
 *   at (k+1)d      orr_rules_publish((k+1)d); offer what has come meanwhile; orr_rules_latch((k+1)d)
 *
 * The answer to frame kd is applied at (k+1)d: on time. A later one is applied at the next boundary of the link, and
 * counted late. Of several that are due, the newest is applied and the others are stale. An answer to the frame just
 * published waits for its own boundary. Nothing is applied in part. Under asap (real time only) an answer is applied at
 * the first latch after it came.
 *
 * A command is not copied here. A carrier writes its payload to `room` and offers it. The rules judge it there; when
 * they accept it, they keep that memory and `room` points to another place. A carrier with memory of its own swaps it
 * with `room`. [init] orr_rules_init over memory that the caller gives; all else [rt], one thread, O(numbers).
 */
#ifndef ORR_IO_LINKS_RULES_H
#define ORR_IO_LINKS_RULES_H

#include "io/config/run/run_file.h"
#include "io/links/terms/layout.h"
#include "io/links/terms/window.h"

/* When no command has come for silence_frames. Pulses end in any case, and also where the peer is gone or, without such
 * a limit, none has come for pulse_frames: each time once, and only those after a command of the link. */
enum orr_silence_policy { ORR_SILENCE_HOLD, ORR_SILENCE_ZERO, ORR_SILENCE_STOP };

struct orr_link_counts {
  uint64_t published; /* frames out */
  uint64_t answered;  /* of those: an answer came, in time or not; stale ones count for ORR_ANSWER_WINDOW frames */
  uint64_t applied;   /* commands, late ones included */
  uint64_t late;      /* of those */
  uint64_t missed;    /* boundaries without a command to apply */
  uint64_t timeouts;  /* how often no command came for as many frames as the run file says */
  uint64_t refused[ORR_REFUSALS]; /* by cause */
  uint64_t peers;                 /* that came */
};

/* Every frame out is one of these; their sum is `published`. */
struct orr_answers {
  uint64_t on_time;       /* its answer was applied at its own boundary */
  uint64_t late;          /* its answer was applied at a later one */
  uint64_t superseded;    /* the answer to a newer frame came first, or overtook it while it waited: it is stale */
  uint64_t waiting;       /* its answer waits for a boundary: at the end of a run the last one does */
  uint64_t lost_by_fault; /* its answer would have been applied, had no fault of the run file been in its way */
  uint64_t kept_back;     /* a fault of the run file kept it from flight software */
  uint64_t unanswered;
};

/* An answer that was applied late, and when. The newest few are kept: number i of all in [i mod ORR_LATE_KEPT]. */
enum { ORR_LATE_KEPT = 16 };
struct orr_late {
  int64_t answers, applied_at; /* frames of the simulation */
};

/* The first number of its kind, and the frame: one for which a command was refused, and the frame it answers; a pulse
 * set for a frame that a pulse of the link overruled, and that frame. */
struct orr_first {
  struct orr_layout_number number; /* no channel: there was none */
  int64_t frame;
};

/* A command that waits for its boundary. */
struct orr_waiting {
  int64_t answers;    /* −1: none */
  uint64_t *payload;  /* [words of a command] judged good */
  int64_t arrived_ns; /* as the carrier said */
};

struct orr_rules {
  const struct orr_layout *layout;
  int divisor, silence_frames; /* 0: no limit */
  int pulse_frames;            /* boundaries without a command after which pulses end; 0: no limit */
  enum orr_silence_policy policy;
  int64_t first, published; /* −1 before the first */
  int64_t applied;          /* the frame that the command last applied answers; −1: none */
  struct orr_waiting next, due;
  struct orr_waiting held; /* by a fault: it comes behind the next one */
  uint64_t *room;          /* [words of a command] where the carrier writes the next command, to be judged, */
  int64_t arrived_ns;      /* and when that came, on CLOCK_MONOTONIC; 0: it does not know. Nothing is decided by it */
  int64_t applied_arrived_ns; /* of the command last applied */
  int silent;                 /* boundaries since the last command */
  bool asap;                  /* an answer is due at once */
  bool gone;                  /* set before a latch: the peer left, or nothing can come from it any more */
  bool pulsing;               /* a command was applied, and pulses have not ended since */
  bool early;                 /* one was applied since the last boundary, before it was due */
  bool late;                  /* the command last applied */
  struct orr_late late_ones[ORR_LATE_KEPT];
  struct orr_window answered; /* frames */
  uint64_t lost_by_fault;     /* answers */
  uint64_t kept_back;         /* frames that a fault kept from flight software */
  struct orr_window kept;     /* which: nobody can answer them */
  uint64_t overruled;         /* frames in which a pulse of the link took the place of one that was set */
  struct orr_first first_refused, first_overruled;
  _Atomic bool refused_is_known; /* first_refused is written, and stays: other threads may read it */
  uint64_t end_answers;          /* the first frame that a peer answered by asking the run to end */
  struct orr_link_counts counts;
};

enum orr_latch {
  ORR_LATCH_NOTHING,
  ORR_LATCH_APPLIED,
  ORR_LATCH_EARLY, /* nothing now: under asap it was applied before this boundary */
  ORR_LATCH_STOP
};

/* [init] `places` is [ORR_RULES_PLACES][words of a command]. */
enum { ORR_RULES_PLACES = 4 };
void orr_rules_init(struct orr_rules *rules, const struct orr_layout *layout, int divisor, uint64_t *places);

/* [init] Whether there are pulses among the commands that can end early. O(channels). */
bool orr_rules_have_pulses(const struct orr_rules *rules);

/* [init] The commands of a frame of a log, and whether some were the link's: whether its pulses can go on. */
void orr_rules_note(struct orr_rules *rules, bool applied, const double *values);

/* [init] Starts again after frame `frame`, as if that were the only frame out and no command had come; −1: no frame is
 * out. The settings of the run file stay. */
void orr_rules_resume(struct orr_rules *rules, int64_t frame);

/* [rt] Frame `frame` goes out: the answer to the frame before it becomes due. */
void orr_rules_publish(struct orr_rules *rules, int64_t frame);

/* [rt] The frame that was published last is kept from flight software by a fault. O(1). */
void orr_rules_keep_back(struct orr_rules *rules);

/* [rt] A command that answers `answers`, its payload in rules->room. Returns why it is refused (and counts it), or
 * ORR_REFUSAL_NONE. */
enum orr_refusal orr_rules_offer(struct orr_rules *rules, uint64_t answers);
/* [rt] Counts a command that was refused before its content was judged. */
void orr_rules_refuse(struct orr_rules *rules, enum orr_refusal refusal);
/* [rt] A peer asked the run to end, in its answer to frame `answers`. The first such frame counts: a peer may ask again
 * in its next answer. */
void orr_rules_end(struct orr_rules *rules, uint64_t answers);

/* [rt] In lockstep: whether the request to end has its turn, as the answer to that frame would. So the last frame is
 * the same however fast the request came. */
bool orr_rules_end_is_due(const struct orr_rules *rules);

/* [rt] Whether the command for the next latch is there. */
bool orr_rules_ready(const struct orr_rules *rules);
/* [any] Whether the answer to the newest frame was taken, or no frame is out. */
bool orr_rules_answered(const struct orr_rules *rules);

/* [rt] At a boundary of the link after frame 0: applies what is due to the frame's block, or what the policy says. */
enum orr_latch orr_rules_latch(struct orr_rules *rules, double *values);

/* [rt] Under asap, at a frame between boundaries: applies what has come. A command that comes after its own boundary is
 * late. */
enum orr_latch orr_rules_latch_between(struct orr_rules *rules, int64_t frame, double *values);

/* [rt] Before a latch of a link that a fault is of: what a fault does to the command that is due, if one is. One that
 * was held back comes behind it: it is stale, or acts late where nothing is due. O(numbers). */
void orr_rules_trouble(struct orr_rules *rules, enum orr_link_trouble trouble);

/* [init] The command that is held back, for a saved state: the frame that it answers, −1 for none, and its payload.
 * hold: takes it from `room`; false where it cannot be one. */
int64_t orr_rules_held(const struct orr_rules *rules, const uint64_t **payload);
bool orr_rules_hold(struct orr_rules *rules, int64_t answers);

/* [any] How the frames so far were answered. O(1). */
struct orr_answers orr_rules_answers(const struct orr_rules *rules);

#endif
