/* Chosen channels of a run as comma-separated values: a head of names, then a row for each sample. [init] */
#ifndef ORR_TOOLS_RUN_CSV_H
#define ORR_TOOLS_RUN_CSV_H

#include <stdio.h>

#include "io/session.h"

struct orr_csv {
  FILE *out;
  int *channels, count;
  int divisor; /* frames between rows */
};

/* Opens the file, chooses the channels that fit one of the comma-separated patterns (NULL: what devices and pointing
 * tell and take), asks the plant for them and writes the head. False after a message on stderr. `divisor` ≥ 1. */
bool orr_csv_open(struct orr_csv *csv, const char *path, const char *patterns, int divisor,
                  struct orr_session *session);

/* A row, if the frame is one of those wanted. */
void orr_csv_row(struct orr_csv *csv, const struct orr_session *session);

/* False after a message when something could not be written. */
bool orr_csv_close(struct orr_csv *csv, const char *path);

#endif
