/* A result of `orrery timing`: the file that `run` and `merge` write and the others read.
 *
 * JSON: {"orrery_timing": 1, "parts": [...]}, a part for each time that slices were flown on one machine with one
 * build: `when` (UTC), `build`, `case`, `environment`, `doctor`, `lacks`, and `slices`. A slice has `counts`,
 * `links`, `worst`, `state_hash`, `calm`, and `distributions`: the samples of each by place of the histogram, [place,
 * times, place, times]. What is read is judged before it is used: a file may come from anywhere.
 *
 * orr_timing_result_load or _of → use `set` and `root` → orr_timing_result_close. [init]
 */
#ifndef ORR_TOOLS_TIMING_TIMING_RESULT_H
#define ORR_TOOLS_TIMING_TIMING_RESULT_H

#include <jansson.h>

#include "tools/timing/timing_slices.h"

enum { ORR_TIMING_ERROR = 240, ORR_TIMING_SLICES_MOST = 100000 };

struct orr_timing_result {
  json_t *root;
  struct orr_timing_set set; /* the slices of all parts, in their order */
  char error[ORR_TIMING_ERROR];
};

/* False with `error`, also where no slice is in it; closed then. `_of` takes the reference. */
bool orr_timing_result_load(const char *path, struct orr_timing_result *result);
bool orr_timing_result_of(json_t *root, struct orr_timing_result *result);
void orr_timing_result_close(struct orr_timing_result *result);

/* A result without a part. */
json_t *orr_timing_result_new(void);

/* Adds the parts of another: where the last part of `to` is of the same build, case and machine, and `join` says so, as
 * further slices of it. False: no memory. */
bool orr_timing_result_add(json_t *to, const json_t *from, bool join);

/* False with a message on standard error. */
bool orr_timing_result_save(const char *path, const json_t *root);

/* What is flown slice by slice is saved in between, so that a kill does not lose the night: after the first slice, then
 * once a minute; a pipe and standard output get it once, at the end. */
struct orr_timing_saver {
  int64_t saved_ns; /* CLOCK_MONOTONIC; 0: not yet */
  bool at_end;      /* only then */
  size_t slices;    /* that were saved last */
};

/* Before the first slice. False with a message on standard error: it cannot be written. */
bool orr_timing_saver_open(struct orr_timing_saver *saver, const char *path);
/* After a slice. What fails is told, and tried again. */
void orr_timing_saver_save(struct orr_timing_saver *saver, const char *path, const json_t *root);
/* At the end, if not all slices are saved already. False with a message. */
bool orr_timing_saver_close(const struct orr_timing_saver *saver, const char *path, const json_t *root);

/* What keeps two results from being compared, in words ("the kernel differs: 6.1.0-rt, and 6.12.9-rt", "the load is not
 * known"), but for what `across` names ("kernel,load", or NULL). Returns how many. */
enum { ORR_TIMING_REASONS_MAX = 8, ORR_TIMING_REASON = 320 };
size_t orr_timing_incomparable(const struct orr_timing_result *base, const struct orr_timing_result *new,
                               const char *across, char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON]);

/* The words that `across` may have, ends with NULL. */
extern const char *const orr_timing_aspects[];

/* A histogram of a slice as it stands in a result; NULL: no memory. */
json_t *orr_timing_bins_json(const struct orr_histogram *h);

#endif
