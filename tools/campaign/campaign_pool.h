/* Workers: processes that fly what they are given, one flight after the other.
 *
 *   orr_pool_create → while there is work: orr_pool_give to those that are free, orr_pool_take what comes → _destroy
 *
 * The process that calls has no threads. A worker that crashes, takes too long or too much memory is a row with that
 * reason, and only it is started anew. All workers end with the process that started them. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_POOL_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_POOL_H

#include "io/config/campaign/campaign_file.h"

enum { ORR_POOL_MOST = 256 };

struct orr_pool;

struct orr_pool_row {
  int64_t flight; /* as it was given */
  char *text;     /* one line of JSON without its end; to be freed */
  double took_s;
  int worker;
};

/* `tag` is of no other campaign that flies on this machine; `log` takes what workers say (NULL: nobody). */
struct orr_pool *orr_pool_create(const struct orr_campaign *campaign, int workers, const char *tag);

bool orr_pool_has_free(const struct orr_pool *pool);
int orr_pool_flying(const struct orr_pool *pool);

/* To one that is free. `id` comes back with the row; `flight` is whose seeds it has. */
void orr_pool_give(struct orr_pool *pool, int64_t flight, const double *values);

/* Waits so long for a row (−1: until there is one); false: none came, or nothing flies, or a signal came. */
bool orr_pool_take(struct orr_pool *pool, int timeout_ms, struct orr_pool_row *row);

/* Ends all, whatever they do, and takes away what they have left. */
void orr_pool_destroy(struct orr_pool *pool);

#endif
