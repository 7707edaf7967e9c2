/* Reads results of `orrery timing` made of any bytes, and compares what can be read with itself. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/support/steps.h"
#include "tools/timing/timing_result.h"
#include "tools/timing/timing_verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLICES_COMPARED = 12 };

static void compare(const struct orr_timing_set *set) {
  const struct orr_timing_options options = {.draws = 20, .seed = 1};
  struct orr_timing_comparison *c = calloc(1, sizeof *c);
  orr_must(c != NULL);
  orr_must(orr_timing_compare(set, set, &options, c));
  orr_must(c->verdict != ORR_TIMING_SLOWER && c->verdict != ORR_TIMING_FASTER); /* than itself */
  free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON];
  struct orr_timing_result r;
  json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  if (!root)
    return 0;
  if (!orr_timing_result_of(root, &r)) {
    orr_must(r.error[0] != '\0');
    for (const char *c = r.error; *c; c++)
      orr_must((unsigned char)*c >= ' ' && *c != 127);
    return 0;
  }
  for (size_t i = 0; i < r.set.name_count; i++) {
    double value = orr_timing_percentile_ns(&r.set, (int)i, 0.999);
    orr_must(orr_timing_count(&r.set, (int)i) == 0 || (value >= (double)orr_timing_least_ns(&r.set, (int)i) &&
                                                       value <= (double)orr_timing_most_ns(&r.set, (int)i)));
  }
  orr_timing_incomparable(&r, &r, NULL, reasons);
  if (r.set.slice_count <= SLICES_COMPARED)
    compare(&r.set);
  json_t *all = orr_timing_result_new();
  orr_must(orr_timing_result_add(all, r.root, true));
  json_decref(all);
  orr_timing_result_close(&r);
  return 0;
}
