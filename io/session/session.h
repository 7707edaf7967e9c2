/* One run: plant, scripted commands and links joined frame by frame.
 *
 * orr_session_stages is the order of a frame in every mode: batch and lockstep run it by orr_session_frame, in real
 * time the executive runs it (realtime.h).
 *
 * Call order: orr_session_create → orr_plant_ask for what is read besides → orr_session_start or _state_put [init] →
 * orr_session_frame [rt] for every frame, or the stages by another walk; orr_session_record_last after the last one
 * → orr_session_destroy. One thread at a time. Nothing allocates between create and destroy but the saving of states.
 */
#ifndef ORR_IO_SESSION_H
#define ORR_IO_SESSION_H

#include "core/plant/plant.h"
#include "io/config/run/run_file.h"
#include "io/config/spacecraft/build.h"
#include "io/control/control.h"
#include "io/links/carriers/linked.h"
#include "io/links/packets/relay.h"
#include "io/links/port.h"
#include "io/procedure/expect.h"
#include "io/procedure/procedure.h"
#include "io/session/samples.h"
#include "io/session/watch.h"

struct orr_session_link {
  const struct orr_run_link *desc;
  struct orr_port *inside;  /* the controller that is linked in; it answers until `outside` is there */
  struct orr_port *outside; /* flight software outside; NULL: not open */
  struct orr_port *room;    /* memory of `outside`; NULL where the transport does not lead outside */
  bool alone;               /* no peer came before frame 0 */
};

enum { ORR_SESSION_REGIONS = ORR_BUILD_PARTS + 3 };

struct orr_session;

/* A callback for every frame that is recorded, such as a writer of tables (not in real time: it writes files). The
 * recorder's struct begins with this one. */
struct orr_recorder {
  void (*frame)(struct orr_recorder *recorder, const struct orr_session *session);
  struct orr_recorder *next; /* of the session's */
};

struct orr_session_stage;

struct orr_session {
  int64_t tick_ns;                           /* real time: when the frame at hand began by the grid; 0: no real time */
  int (*frame)(struct orr_session *session); /* walks the stages of a frame */
  const struct orr_run *run;
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_plant *plant;
  struct orr_session_link *links;  /* [run->link_count] */
  struct orr_expect_seen *seen;    /* [run->expect_count] */
  struct orr_procedure *procedure; /* NULL: the run has none */
  struct orr_control *control;     /* NULL: no commands from outside */
  struct orr_samples *samples;     /* taken for a picture; NULL: none */
  struct orr_watch *watch;         /* numbers to show while it flies; NULL: none */
  struct orr_recorder *recorders;  /* NULL: none */
  struct orr_build build;          /* model, ws and plant are its own */
  void *link_block;
  struct orr_region regions[ORR_SESSION_REGIONS]; /* the same blocks, and this struct: all that a frame touches */
  size_t region_count;
  enum orr_status status; /* of the first failure */
  struct orr_relay relay; /* of the links in packets */
  enum orr_port_end end;  /* set by latch when a link ends the run, by publish when a command does */
  int end_link;           /* which */
};

/* [init] Compiles the spacecraft and lays everything out. `answer` is the controller that is linked in. Never NULL. */
struct orr_session *orr_session_create(const struct orr_run *run, orr_answer_fn *answer);
void orr_session_destroy(struct orr_session *session);

/* [init] Commands from outside are taken from now on, with `paused` from the first frame on: in a run that is not in
 * real time. Asked while it is paused: `interrupted` (NULL: never). Before orr_realtime_init. */
void orr_session_take_control(struct orr_session *session, bool may_pause, bool paused, bool (*interrupted)(void));

/* [init] Opens the links whose transport leads outside, for `realtime` or `lockstep`; without this call every link is
 * answered by the controller inside. False with what is wrong in `message`. `interrupted` is asked while a link waits
 * (NULL: never). */
bool orr_session_open_links(struct orr_session *session, bool lockstep, bool (*interrupted)(void), char *message,
                            size_t size);
/* [init] shut: call it before open; the links are then opened, but no peer can come until admit is called. Between open
 * and admit do what takes long before frame 0, so that a peer that came waits for nothing but the other peers. */
void orr_session_shut_links(struct orr_session *session);
void orr_session_admit_peers(struct orr_session *session);
/* [init] Waits for the peers of all links in the same time, each as long as the run file says; `alone` of each link
 * then tells whether none came. True: every link has a peer. */
bool orr_session_wait_for_peers(struct orr_session *session);

/* [init] Frame 0. Fails where the solver does at the initial state. */
enum orr_status orr_session_start(struct orr_session *session);

/* [rt] The stages of a frame. Each returns 0, or what ended the frame there: of publish and latch session->end, of
 * advance and sense session->status, which is the solver's, with the body in plant->failed_body. */
int orr_session_publish(struct orr_session *session);
int orr_session_latch(struct orr_session *session);
int orr_session_record(struct orr_session *session); /* what is expected and sampled, before the frame is computed */
int orr_session_advance(struct orr_session *session);
int orr_session_sense(struct orr_session *session);

/* What sort of work a stage does, for those who measure it. */
enum orr_session_work {
  ORR_SESSION_HANDS_OVER, /* numbers to links and from them */
  ORR_SESSION_RECORDS,
  ORR_SESSION_INTEGRATES,
  ORR_SESSION_SENSES,
  ORR_SESSION_WORKS,
};

enum orr_session_column { ORR_SESSION_PLAIN, ORR_SESSION_WITH_PROCEDURE, ORR_SESSION_COLUMNS };

struct orr_session_stage {
  const char *name; /* as summaries and expectations write it */
  enum orr_session_work work;
  int (*run[ORR_SESSION_COLUMNS])(struct orr_session *session); /* with a procedure it also does the procedure's part */
};

/* The order of a frame, in every mode. Ends with a stage without a name; at most ORR_STAGES_MAX. */
extern const struct orr_session_stage orr_session_stages[];

/* [rt] One stage of the session's frames. */
static inline int orr_session_stage_run(const struct orr_session_stage *stage, struct orr_session *session) {
  return stage->run[session->procedure ? ORR_SESSION_WITH_PROCEDURE : ORR_SESSION_PLAIN](session);
}

/* [any] Whether it computes the next frame, and neither hands over nor records. */
static inline bool orr_session_stage_computes(const struct orr_session_stage *stage) {
  return stage->work == ORR_SESSION_INTEGRATES || stage->work == ORR_SESSION_SENSES;
}

/* [rt] One frame: the stages in their order. 0, or what the stage returned that ended it. */
static inline int orr_session_frame(struct orr_session *session) { return session->frame(session); }

/* [init] After the last frame: its sensors are recorded. */
void orr_session_record_last(struct orr_session *session);

/* [rt] The parts of a frame for who brings the commands of a log: begin_frame is the procedure's part before the
 * numbers of a frame are compared; without a procedure it does nothing. compute is what comes when the commands are in
 * the block: the procedure judges, then the stages that compute. 0, or what the stage returned that ended it. */
void orr_session_begin_frame(struct orr_session *session);
int orr_session_compute(struct orr_session *session);
void orr_session_trouble_links(struct orr_session *session); /* before commands are latched */

/* [init] Adds a recorder, and removes it. */
void orr_session_tell(struct orr_session *session, struct orr_recorder *recorder);
void orr_session_tell_no_more(struct orr_session *session, struct orr_recorder *recorder);

/* [init] The session goes on from a state that was put: every frame that goes out will say so. */
void orr_session_say_restored(struct orr_session *session);

/* [init] After the last frame: orr_port_settle for the links that lead outside, so that the answer to it is counted. */
void orr_session_settle(struct orr_session *session);

/* [init] The hash of the plant's state; and the words of the whole state, with the answers that wait in links. */
uint64_t orr_session_hash(const struct orr_session *session);
size_t orr_session_state_words(const struct orr_session *session);
size_t orr_session_replayed_words(const struct orr_session *session); /* the first of them: the same in a replay */
void orr_session_state_get(const struct orr_session *session, uint64_t *words);
/* [init] Whether the procedure's part of words that are not trusted can be that of a run at this frame. O(words). */
bool orr_session_procedure_is_sound(const struct orr_session *session, const uint64_t *words, int64_t frame);
enum orr_status orr_session_state_put(struct orr_session *session, const uint64_t *words);

#endif
