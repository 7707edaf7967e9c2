/* Searches that fly what no campaign has drawn: the smallest dispersion that still fails, and the worst case. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_SEARCH_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_SEARCH_H

#include "io/config/campaign/campaign_file.h"
#include "tools/common/ending.h"

struct orr_search_request {
  const struct orr_campaign *campaign;
  int64_t flight;      /* shrink: which one; also whose seeds the worst case has */
  const char *measure; /* worst: which is to be as large as can be; of a margin, as small */
  int64_t flights;     /* worst: how many may be flown; 0: 50 generations */
  int jobs;
  bool json;
};

/* What it found, on standard output. */
enum orr_exit orr_campaign_shrink(const struct orr_search_request *request);
enum orr_exit orr_campaign_worst(const struct orr_search_request *request);

#endif
