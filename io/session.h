/* One run: plant, scripted commands and links joined frame by frame.
 *
 * orr_session_stages is the order of a frame in every mode: batch and lockstep walk it by orr_session_frame, real time
 * makes it the executive's work (realtime.h).
 *
 * Call order: orr_session_create → orr_plant_ask for what is read besides → orr_session_start or _state_put [init] →
 * orr_session_frame [rt] for every frame, or the stages by another walk; orr_session_record once more for the last one
 * → orr_session_destroy. One thread at a time. Nothing allocates between create and destroy but the saving of states.
 */
#ifndef ORR_IO_SESSION_H
#define ORR_IO_SESSION_H

#include "core/plant/plant.h"
#include "io/config/run/run_file.h"
#include "io/config/spacecraft/build.h"
#include "io/expect.h"
#include "io/links/linked.h"
#include "io/links/port.h"
#include "io/links/relay.h"
#include "io/procedure.h"
#include "io/samples.h"
#include "io/watch.h"

struct orr_session_link {
  const struct orr_run_link *desc;
  struct orr_port *inside;  /* answered by the controller that is linked in, until `outside` is there */
  struct orr_port *outside; /* flight software outside; NULL: not open */
  struct orr_port *room;    /* for it; NULL where the transport leads nowhere outside */
  bool alone;               /* nobody came before frame 0 */
};

enum { ORR_SESSION_REGIONS = ORR_BUILD_PARTS + 2 };

struct orr_session;

/* Who else is told of every frame that is recorded: such as a table in a file, which real time may not write. The
 * recorder's struct begins with this one. */
struct orr_recorder {
  void (*frame)(struct orr_recorder *recorder, const struct orr_session *session);
  struct orr_recorder *next; /* of the session's */
};

struct orr_session_stage;

struct orr_session {
  const struct orr_session_stage *stages;    /* the order of its frames; ends as orr_session_stages does */
  int (*frame)(struct orr_session *session); /* walks them */
  const struct orr_run *run;
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_plant *plant;
  struct orr_session_link *links;  /* [run->link_count] */
  struct orr_expect_seen *seen;    /* [run->expect_count] */
  struct orr_procedure *procedure; /* NULL: nothing breaks */
  struct orr_samples *samples;     /* taken for a picture; NULL: none */
  struct orr_watch *watch;         /* shown while it flies; NULL: nobody looks */
  struct orr_recorder *recorders;  /* NULL: nobody */
  struct orr_build build;          /* model, ws and plant are its own */
  void *link_block;
  struct orr_region regions[ORR_SESSION_REGIONS]; /* the same blocks, and this struct: all that a frame touches */
  size_t region_count;
  enum orr_status status; /* of the first failure */
  struct orr_relay relay; /* of the links over UDP */
  enum orr_port_end end;  /* a link says that the run is over: set by latch */
  int end_link;           /* which */
};

/* [init] Compiles the spacecraft and lays everything out. `answer` is the controller that is linked in. Never NULL. */
struct orr_session *orr_session_create(const struct orr_run *run, orr_answer_fn *answer);
void orr_session_destroy(struct orr_session *session);

/* [init] Opens the links whose transport leads outside, for `realtime` or `lockstep`; without this call every link is
 * answered by the controller inside. False with what is wrong in `message`. `interrupted` is asked while a link waits
 * (NULL: never). */
bool orr_session_open_links(struct orr_session *session, bool lockstep, bool (*interrupted)(void), char *message,
                            size_t size);
/* [init] Before open: the links have their places, but no peer can come until it is admitted. What takes long before
 * frame 0 is done between, so that who came waits for nothing but the others. */
void orr_session_shut_links(struct orr_session *session);
void orr_session_admit_peers(struct orr_session *session);
/* [init] Waits for the peers of all links in the same time, each as long as the run file says; `alone` of each then
 * says whether none came. True: all have one. */
bool orr_session_wait_for_peers(struct orr_session *session);

/* [init] Frame 0. Fails where the solver does at the initial state. */
enum orr_status orr_session_start(struct orr_session *session);

/* [rt] The stages of a frame. Each returns 0, or what ended the frame there: of latch session->end, of advance and
 * sense session->status, which is the solver's, with the body in plant->failed_body. */
int orr_session_publish(struct orr_session *session);
int orr_session_latch(struct orr_session *session);
int orr_session_record(struct orr_session *session); /* what is expected and sampled, before the frame is computed */
int orr_session_advance(struct orr_session *session);
int orr_session_sense(struct orr_session *session);

/* What sort of work a stage does, for who measures it. */
enum orr_session_work {
  ORR_SESSION_HANDS_OVER, /* numbers to links and from them */
  ORR_SESSION_RECORDS,
  ORR_SESSION_INTEGRATES,
  ORR_SESSION_SENSES,
  ORR_SESSION_WORKS,
};

struct orr_session_stage {
  const char *name; /* as summaries and expectations write it */
  enum orr_session_work work;
  int (*run)(struct orr_session *session);
};

/* The order of a frame. Ends with a stage without a name; at most ORR_STAGES_MAX. With a procedure the same stages do
 * their part of it, too. */
extern const struct orr_session_stage orr_session_stages[], orr_session_stages_with_procedure[];

/* [rt] One frame: the stages in their order. 0, or what the stage returned that ended it. */
static inline int orr_session_frame(struct orr_session *session) { return session->frame(session); }

/* [init] After the last frame: its sensors are recorded. */
void orr_session_record_last(struct orr_session *session);

/* [rt] The parts of the procedure by themselves, for a replay: once before a frame's numbers are compared; and when its
 * commands are in the block. Nothing without one. */
void orr_session_begin_frame(struct orr_session *session);
void orr_session_judge(struct orr_session *session);

/* [init] From now on the recorder is told; and no longer. */
void orr_session_tell(struct orr_session *session, struct orr_recorder *recorder);
void orr_session_tell_no_more(struct orr_session *session, struct orr_recorder *recorder);

/* [init] The session goes on from a state that was put: every frame that goes out will say so. */
void orr_session_say_restored(struct orr_session *session);

/* [init] After the last frame: orr_port_settle for the links that lead outside, so that the answer to it is counted. */
void orr_session_settle(struct orr_session *session);

/* [init] The hash of the plant's state. And the words of the whole state, answers that wait in links included. */
uint64_t orr_session_hash(const struct orr_session *session);
size_t orr_session_state_words(const struct orr_session *session);
size_t orr_session_replayed_words(const struct orr_session *session); /* the first of them: a replay has them again */
void orr_session_state_get(const struct orr_session *session, uint64_t *words);
/* [init] Whether the procedure's part of words of any origin can be of a run that stands at the frame. O(words). */
bool orr_session_procedure_is_sound(const struct orr_session *session, const uint64_t *words, int64_t frame);
enum orr_status orr_session_state_put(struct orr_session *session, const uint64_t *words);

#endif
