/* Flying the flights of a campaign into a folder. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_RUN_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_RUN_H

#include "tools/campaign/campaign_folder.h"

/* Counts SIGINT and SIGTERM from now on: the first ends after the flights in the air, the second now. */
void orr_campaign_catch_signals(void);
int orr_campaign_signals(void);

/* Flies what the folder has not of the flights from `first` to before `end`, with so many workers. False when there are
 * no workers. */
bool orr_campaign_fly_all(struct orr_folder *folder, int64_t first, int64_t end, int jobs);

/* How many workers there are without --jobs: the processors that this process may use. */
int orr_campaign_jobs(void);

/* Flies one flight by `orrery run`, in this process, with the words behind it (--mode, --csv, --log …). Returns an exit
 * status. */
int orr_campaign_fly_one(const struct orr_campaign *campaign, const double *values, int word_count, char **words);

/* The time histories and logs that `keep` asks for. False after a message. */
bool orr_campaign_keep(struct orr_folder *folder);

#endif
