/* A campaign file while it is being read. For the readers of this folder only. */
#ifndef ORR_IO_CONFIG_CAMPAIGN_CAMPAIGN_DRAFT_H
#define ORR_IO_CONFIG_CAMPAIGN_CAMPAIGN_DRAFT_H

#include "io/config/campaign/campaign_file.h"

struct orr_campaign_draft {
  struct orr_reader *reader;
  struct orr_files *files;
  struct orr_campaign *c;
  struct orr_campaign_vary *varies;      /* those of c, while they can be written */
  struct orr_campaign_measure *measures; /* the same */
  const char **bases;                    /* the same, [ORR_CAMPAIGN_VARIED] */
  const struct orr_thing *thing;         /* the section */
};

extern const struct orr_mapping orr_variation_mapping, orr_correlated_mapping; /* campaign_vary.c */

/* [init] `vary`, `correlated` and `table`, with the number of flights that follows from them. */
void orr_campaign_read_vary(struct orr_campaign_draft *draft, struct orr_place vary, struct orr_place correlated,
                            const char *table);

/* [init] Lays the middle and the ends of all that varies over the run file, and reports what it does not take. */
void orr_campaign_judge(struct orr_campaign_draft *draft);

/* [init] The first channel of the run that fits, as a whole or by one of its numbers; NULL after reporting. */
const struct orr_channel *orr_campaign_check_pattern(struct orr_campaign_draft *draft, struct orr_place place,
                                                     const char *pattern);

#endif
