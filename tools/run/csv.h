/* Chosen channels of a run as comma-separated values: a head of names, then a row for each sample.
 *
 * orr_csv_open, after which the session's `record` writes the rows → the flight → orr_csv_close. [init]
 */
#ifndef ORR_TOOLS_RUN_CSV_H
#define ORR_TOOLS_RUN_CSV_H

#include "io/session/session.h"
#include "tools/common/out_file.h"

struct orr_csv {
  struct orr_recorder recorder; /* first member: the session passes a pointer to it */
  struct orr_session *session;
  struct orr_out_file file;
  int *channels, count;
  int divisor; /* frames between rows */
};

/* Opens the file, chooses the channels that fit one of the comma-separated patterns (NULL: all channels of devices and
 * pointing), asks the plant for them and writes the head. From then on every `divisor`-th frame becomes a row. False
 * after a message on stderr. `divisor` ≥ 1. */
bool orr_csv_open(struct orr_csv *csv, const char *path, const char *patterns, int divisor,
                  struct orr_session *session);

/* With `keep` the new file replaces an old one. False after a message when something could not be written. */
bool orr_csv_close(struct orr_csv *csv, const char *path, bool keep);

#endif
