/* What the rows of a campaign say together. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_VERDICT_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_VERDICT_H

#include "tools/campaign/campaign_folder.h"
#include "tools/common/ending.h"

enum orr_flight_verdict {
  ORR_FLIGHT_PASSED,
  ORR_FLIGHT_FAILED,
  ORR_FLIGHT_INCOMPLETE,
  ORR_FLIGHT_CRASHED,
  ORR_FLIGHT_HUNG,
  ORR_FLIGHT_OUT_OF_MEMORY,
  ORR_FLIGHT_WRONG,
  ORR_FLIGHT_VERDICTS
};
extern const char *const orr_flight_verdict_names[];

struct orr_verdict_line { /* of an expectation of the run */
  char label[200];
  int64_t met, judged;
  double worst; /* margin; NaN: none has one */
  int64_t worst_flight;
};

struct orr_verdict_share { /* of an expectation of the campaign */
  const struct orr_campaign_expect *of;
  int64_t met, flown;
  double lower, upper; /* bounds on the share, where there is a confidence */
  bool holds;
};

struct orr_verdict {
  const struct orr_campaign *campaign;
  int64_t flown, counts[ORR_FLIGHT_VERDICTS];
  struct orr_verdict_line *lines;   /* [nominal->expect_count] */
  struct orr_verdict_share *shares; /* [expect_count] */
  int64_t *worst;                   /* [worst_count] flights, the worst first */
  double *badness;
  int64_t worst_count, worst_room;
  enum orr_exit exit;
  const char *verdict; /* passed, failed or incomplete */
};

/* Reads all rows; `worst` of them are ranked. */
void orr_verdict_make(struct orr_verdict *verdict, const struct orr_folder *folder, int64_t worst);
void orr_verdict_free(struct orr_verdict *verdict);

/* How near a flight was to breaking what it must meet, as a part of the bound: below 0 it broke it; −HUGE_VAL for one
 * that was lost. */
double orr_verdict_margin(const struct orr_campaign *campaign, const json_t *row);

/* On standard output; as data, new reference; and as JUnit, false with errno. */
void orr_verdict_print(const struct orr_verdict *verdict, const struct orr_folder *folder);
json_t *orr_verdict_json(const struct orr_verdict *verdict);
bool orr_verdict_junit(const struct orr_verdict *verdict, const char *path);

/* "0.99 of the flights meet bus.pointing_error, with confidence 0.95" and what was found. */
void orr_verdict_share_words(const struct orr_verdict_share *share, char *asked, char *found, size_t size);

#endif
