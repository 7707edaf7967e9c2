/* Chosen channels of a run as comma-separated values: a head of names, then a row for each sample.
 *
 * orr_csv_open, after which the session's `record` writes the rows → the flight → orr_csv_close. [init]
 */
#ifndef ORR_TOOLS_RUN_CSV_H
#define ORR_TOOLS_RUN_CSV_H

#include "io/session.h"
#include "tools/common/out_file.h"

struct orr_csv {
  struct orr_recorder recorder; /* first: the session calls back with it */
  struct orr_session *session;
  struct orr_out_file file;
  int *channels, count;
  int divisor; /* frames between rows */
};

/* Opens the file, chooses the channels that fit one of the comma-separated patterns (NULL: what devices and pointing
 * tell and take), asks the plant for them, writes the head, and has the session tell of every
 * frame: those wanted become a row. False after a message on stderr. `divisor` ≥ 1. */
bool orr_csv_open(struct orr_csv *csv, const char *path, const char *patterns, int divisor,
                  struct orr_session *session);

/* With `keep` the table takes its place. False after a message when something could not be written. */
bool orr_csv_close(struct orr_csv *csv, const char *path, bool keep);

#endif
