/* Reads the run that a log holds: its files, settings and checkpoints, to be flown again. [init] */
#ifndef ORR_TOOLS_COMMON_LOG_RUN_H
#define ORR_TOOLS_COMMON_LOG_RUN_H

#include "io/config/run/run_file.h"
#include "io/log/state_record.h"
#include "tools/common/log_rows.h"

enum { ORR_LOG_RUN_SETTINGS = 64 };

struct orr_log_checkpoint {
  int64_t frame;                 /* −1: there is none */
  enum orr_state_fault fault;    /* of the record; `state` is set where it is good */
  struct orr_state_record state; /* its bytes lie in the message, or in `words` of the run */
};

struct orr_log_run {
  struct orr_text_file *files; /* [file_count] the first is the run file */
  size_t file_count;
  const char *settings[ORR_LOG_RUN_SETTINGS + 1];
  size_t setting_count;
  struct orr_mcap_text facts, end;      /* metadata; empty: not there */
  char *path;                           /* of the run file */
  struct orr_log_checkpoint checkpoint; /* the last one at or before the asked time */
  uint8_t *words;                       /* of the state of the checkpoint */
  int64_t step_ns;
  void **owned; /* texts */
  size_t owned_count;
};

/* Reads the whole log to its end. False after a message on stderr. */
bool orr_log_run_read(struct orr_log_run *run, struct orr_log_open *log, uint64_t from_ns);
void orr_log_run_free(struct orr_log_run *run);

/* A message of the topic `/orrery/checkpoint`; false where it is none. */
bool orr_log_checkpoint_read(const struct orr_mcap_message *message, struct orr_log_checkpoint *out);
/* [any] NULL, or why the checkpoint is none of this run: its record is bad, or of another frame or step than the log
 * says. */
const char *orr_log_checkpoint_wrong(const struct orr_log_run *run, const struct orr_log_checkpoint *checkpoint);

/* [any] Whether the channel has this topic. */
bool orr_log_is_topic(const struct orr_log_open *log, uint16_t channel, const char *topic);

/* [any] The whole number of a key in metadata, or `otherwise`. */
int64_t orr_log_number(struct orr_mcap_text pairs, const char *key, int64_t otherwise);

#endif
