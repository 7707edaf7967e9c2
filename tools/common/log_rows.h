/* Opens a log, and reads the numbers of its devices and bodies as rows. [init] */
#ifndef ORR_TOOLS_COMMON_LOG_ROWS_H
#define ORR_TOOLS_COMMON_LOG_ROWS_H

#include "io/log/log_view.h"
#include "io/log/message.h"

struct orr_log_open {
  const char *who, *path; /* `who` begins messages: "orrery log" */
  struct orr_view view;
  struct orr_walk_tables *tables;
  struct orr_crc32 crc;
  struct orr_unpacker unpacker;
  struct orr_walk walk;
};

/* A log ready to be walked; false after a message on stderr, and nothing is open then. */
bool orr_log_open(struct orr_log_open *log, const char *who, const char *path);
void orr_log_close(struct orr_log_open *log);

/* After the walk: prints on stderr why it ended early. False where the log is damaged or cannot be read; a log that was
 * cut is no failure. */
bool orr_log_ended(const struct orr_log_open *log);

/* Whether the topic fits one of the patterns, A,B,C (NULL: any). */
bool orr_log_wants(const char *patterns, struct orr_mcap_text topic);

/* Whether each of the patterns (NULL: there is none) fits a topic among those read so far; says on stderr which does
 * not, and the nearest topic. */
bool orr_log_has_topics(const struct orr_log_open *log, const char *patterns);

/* A time on the command line, "12s". */
bool orr_log_time(const char *text, uint64_t *ns);

struct orr_log_column {
  char *name; /* `gyro.rate.x`, `gyro.rate[0]`, `wheel.speed` */
  char *unit;
  double value;
  bool seen;  /* a message had it */
  bool fresh; /* a message of this row has it */
};

struct orr_log_rows {
  struct orr_log_open log;
  const char *patterns;
  struct orr_log_column *columns; /* [count] */
  size_t count, room;
  size_t first[ORR_WALK_IDS]; /* column of a channel; SIZE_MAX: none */
  size_t width[ORR_WALK_IDS];
  uint64_t time_ns; /* of the row */
  struct orr_walk_item item;
  bool ahead; /* `item` belongs to the next row */
  bool wrong; /* a message does not fit its schema; that was printed on stderr */
};

/* The columns are there when it returns. False after a message on stderr. */
bool orr_log_rows_open(struct orr_log_rows *rows, const char *who, const char *path, const char *patterns);
/* Reads all messages of the next time. A column without a message keeps its value. */
bool orr_log_rows_next(struct orr_log_rows *rows);
void orr_log_rows_close(struct orr_log_rows *rows);

#endif
