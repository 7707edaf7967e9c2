/* A session flown in real time: orr_session_stages as the work of rt's executive, with a mark at every evaluation of
 * the equations of motion.
 *
 * Call order: orr_session_create and orr_session_start → orr_realtime_init [init] → orr_realtime_options,
 * orr_executive_start with &realtime.work and the realtime as its user → join → orr_realtime_close, before the session
 * is destroyed. While the executive runs, the session belongs to its thread.
 *
 * init rehearses: it flies the same frames three times, at once, and puts the state back. That measures what a frame
 * costs and how far apart two marks lie by our own computing; a longer gap in the run is time that the machine took. It
 * also fetches into memory all that a frame touches.
 */
#ifndef ORR_IO_REALTIME_H
#define ORR_IO_REALTIME_H

#include "io/session/recording.h"
#include "io/session/session.h"
#include "rt/executive.h"

enum { ORR_REHEARSED_FRAMES_MAX = 1024 };

/* What frames cost without disturbance: of each frame the fastest of its rehearsals. */
struct orr_rehearsal {
  int frames;            /* 0: the first one failed; the run will say why */
  int64_t typical_ns;    /* median of integrate + sensors */
  int64_t longest_ns;    /* the most expensive frame */
  int64_t evaluation_ns; /* longest stretch between two marks of integrate */
  int64_t sensors_ns;    /* longest stretch between two marks of sensors */
};

/* Marks the frame at every evaluation. */
struct orr_marking {
  struct orr_integration_hook hook; /* first member: the integrator passes a pointer to it */
  struct orr_frame *frame;          /* NULL outside the stages that mark */
};

struct orr_realtime {
  struct orr_session *session;
  struct orr_marking marking;
  struct orr_rehearsal rehearsal;
  struct orr_work work;
  struct orr_lacks noted;          /* of the links' io thread */
  struct orr_recording *recording; /* NULL: no log */
  orr_stage_fn *last;              /* the stage of the work that the log's stage follows */
  struct orr_region regions[ORR_SESSION_REGIONS + 1 + ORR_LOGGER_REGIONS];
  size_t region_count;
};

/* [init] Rehearses and makes the work. The session is started, or set to a state; the integration calls back into
 * `realtime` from then until close. A tenth of a second, or six of the run's frames where they are longer. */
void orr_realtime_init(struct orr_realtime *realtime, struct orr_session *session);
void orr_realtime_close(struct orr_realtime *realtime);

/* [init] From now on the work takes the checkpoints of a log that was started; the stages of a run without one are as
 * they were. `live` is the struct that the executive will update. Before orr_realtime_options. */
void orr_realtime_log(struct orr_realtime *realtime, struct orr_recording *recording, const struct orr_live *live);

/* [init] What the run file asks of the executive, for the frames from where the session stands to the duration's end
 * (0: until stopped). */
struct orr_executive_options orr_realtime_options(const struct orr_realtime *realtime, const char *name,
                                                  uint64_t frames);

/* [init] Work that computes frames of the session without publishing or latching. `orrery doctor` flies it to measure
 * the machine. A frame that fails does not end it. */
struct orr_work orr_realtime_computing(const struct orr_realtime *realtime);

#endif
