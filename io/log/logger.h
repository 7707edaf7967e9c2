/* Writes the log of a run. The executive puts frames into a ring; a thread makes messages of them and writes them
 * (io/log/log_file).
 *
 *   orr_logger_start [init] → per frame orr_logger_frame, and where orr_logger_is_checkpoint says so before a frame
 *   orr_logger_checkpoint [rt] → orr_logger_stop [init] → read `result` → orr_logger_free
 *
 * The executive never waits for the disk: when the ring is full the frame is left out, and the log says which frames
 * are missing. A run that is not in real time waits for the ring (`patient`).
 */
#ifndef ORR_IO_LOG_LOGGER_H
#define ORR_IO_LOG_LOGGER_H

#include "io/links/terms/rules.h"
#include "io/log/log_file.h"
#include "io/log/state_record.h"
#include "io/log/topics.h"
#include "rt/machine/setup.h"
#include "rt/tick/record.h"

struct orr_logger;

struct orr_logger_link {
  const char *name;
  const struct orr_rules *rules; /* of the thread of the frames */
};

struct orr_logger_text {
  const char *name, *media_type;
  struct orr_mcap_text text;
};

struct orr_logger_desc {
  const char *path;
  const char *library; /* what wrote it, "orrery 0.1.0" */
  const struct orr_channel_table *table;
  const bool *chosen;   /* [table->count] */
  const double *values; /* the frame's block */
  const struct orr_logger_link *links;
  int link_count;
  struct orr_state_head state_head;                 /* of every checkpoint, but for its frame */
  void (*state)(const void *user, uint64_t *words); /* [rt] the whole state */
  const void *user;
  int64_t step_ns, first_frame;
  int64_t every;             /* frames between messages of devices and bodies; 0: whenever they have something new */
  int64_t checkpoint_frames; /* 0: only before the first frame */
  uint64_t limit, keep_free; /* bytes; 0: none */
  bool patient;
  bool zstd;                 /* chunks are compressed */
  bool caged;                /* the thread goes into a sandbox (io/links/packets/sandbox.h), which was prepared */
  const char *const *stages; /* [ORR_STAGES_MAX] names, NULL beyond the last; NULL: no executive */
  const struct orr_mcap_pair *facts; /* metadata `orrery` */
  size_t fact_count;
  const struct orr_mcap_pair *machine; /* metadata `machine` */
  size_t machine_count;
  const struct orr_logger_text *texts; /* attachments */
  size_t text_count;
};

struct orr_logger_result {
  enum orr_log_stop stop;
  int error;
  bool complete;                 /* every frame and the index are in the file */
  uint64_t bytes;                /* of the file */
  uint64_t frames;               /* in the file */
  uint64_t lost_ring;            /* the ring was full */
  uint64_t lost_file;            /* not written, for the reason `stop` */
  int64_t lost_first, lost_last; /* frames of the simulation, the first and the last that are lost */
  uint64_t lost_checkpoints;     /* that did not fit into the ring */
  uint64_t lost_events;          /* the same */
};

/* [init] Creates the file and writes its head, and starts the thread. NULL with what is wrong in `message`. */
struct orr_logger *orr_logger_start(const struct orr_logger_desc *desc, char *message, size_t size);

/* [init] The memory that the rt thread touches, for locking. */
enum { ORR_LOGGER_REGIONS = 5 };
size_t orr_logger_regions(const struct orr_logger *logger, struct orr_region *regions, size_t room);

/* [rt] Hands over the frame in the block, with the commands that will act in it. `timing` is that of an earlier frame
 * (NULL: nothing is measured). Wait-free unless patient. O(numbers). */
void orr_logger_frame(struct orr_logger *logger, int64_t frame, const struct orr_frame_record *timing);

/* [rt] Whether a checkpoint is due before this frame; and making one. O(state). */
bool orr_logger_is_checkpoint(const struct orr_logger *logger, int64_t frame);
void orr_logger_checkpoint(struct orr_logger *logger, int64_t frame);

/* [any] The state of the log while the run flies. O(1). */
struct orr_logger_trouble {
  enum orr_log_stop stop;
  int error;
  bool behind; /* frames were lost because the ring was full */
};
struct orr_logger_trouble orr_logger_trouble(const struct orr_logger *logger);
/* [rt] An event in a frame that was not handed over yet. Texts are cut to what an event holds. An event that does not
 * fit into the ring is counted. Wait-free unless patient. */
void orr_logger_event(struct orr_logger *logger, int64_t frame, const char *kind, const char *name, const char *text);

/* [init] After the last frame, `next` being the one that would follow: `timing` of the last one or NULL, and the facts
 * about the end of the run (metadata `end`). Waits until all is written. */
const struct orr_logger_result *orr_logger_stop(struct orr_logger *logger, int64_t next,
                                                const struct orr_frame_record *timing, const struct orr_mcap_pair *end,
                                                size_t end_count);
void orr_logger_free(struct orr_logger *logger);

#endif
