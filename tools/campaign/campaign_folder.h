/* The folder of a campaign: what it is of, the rows as they come, and the tables that they become.
 *
 *   campaign.json     the build, the elementary functions, and the sums of the files that it is of
 *   journal.jsonl     rows as they come, in any order; one that was cut is flown again
 *   timing.jsonl      how long each took, where and by which worker
 *   attempts/NAME/    the same of one attempt of a job of a cluster, with `complete` when it is
 *   table.jsonl, table.csv   all rows in the order of the flights; histories.jsonl, what was kept over time
 *
 * orr_folder_open → orr_folder_has, _add → orr_folder_tables → _close. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_FOLDER_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_FOLDER_H

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

#include "io/config/campaign/campaign_file.h"

enum { ORR_FOLDER_JOURNALS = 4096 };

struct orr_folder {
  const struct orr_campaign *campaign;
  char path[PATH_MAX];
  int lock;
  FILE *journal, *timing;
  FILE *sources[ORR_FOLDER_JOURNALS]; /* [source_count] journals that have rows: its own is the first */
  size_t source_count;
  int64_t *at;    /* [flights] offset of its row; −1: there is none */
  uint16_t *from; /* [flights] which journal */
  uint16_t own;   /* which one rows are added to */
  int64_t rows;
  bool broken; /* a row could not be written: said on stderr */
};

enum orr_folder_use {
  ORR_FOLDER_NEW,    /* it must hold no campaign */
  ORR_FOLDER_RESUME, /* it may hold this one */
  ORR_FOLDER_READ,   /* it must hold this one; nobody else need be done with it */
};

/* False after a message: it is another campaign's, of another build, or cannot be written. */
bool orr_folder_open(struct orr_folder *folder, const char *path, enum orr_folder_use use,
                     const struct orr_campaign *campaign, struct orr_diagnostics *diagnostics);

/* One attempt of a job: a folder of its own below it, whose rows are not this folder's until it is gathered. */
bool orr_folder_attempt(struct orr_folder *folder, const char *name);
bool orr_folder_complete(struct orr_folder *folder);

bool orr_folder_has(const struct orr_folder *folder, int64_t flight);

/* One row, a line without its end. */
void orr_folder_add(struct orr_folder *folder, int64_t flight, const char *row, double took_s, int worker);

/* The row of a flight that is there; new reference, or NULL where the journal was damaged meanwhile. */
json_t *orr_folder_row(const struct orr_folder *folder, int64_t flight);

/* Writes table.jsonl, table.csv and histories.jsonl of the rows that there are. False after a message. */
bool orr_folder_tables(struct orr_folder *folder);

/* Whether this machine's fingerprint is the folder's: says on stderr what differs, and who (`host`). */
bool orr_folder_judge_fingerprint(const char *folder_has, const char *who);

/* Lets another command have it: no row may be added from now on. */
void orr_folder_unlock(struct orr_folder *folder);

void orr_folder_close(struct orr_folder *folder);

/* Of no other campaign: a short sum of where the folder is. */
enum { ORR_FOLDER_TAG = 20 };
const char *orr_folder_tag(const struct orr_folder *folder, char text[ORR_FOLDER_TAG]);

/* [any] " (rad)": values are in SI, whatever unit the file writes. Nothing where it writes none, or one without a
 * name. */
void orr_campaign_si_unit(const char *written, char *text, size_t size);

#endif
