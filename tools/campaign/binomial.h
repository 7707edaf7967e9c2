/* Bounds on a share from a count. [any]: pure functions. */
#ifndef ORR_TOOLS_CAMPAIGN_BINOMIAL_H
#define ORR_TOOLS_CAMPAIGN_BINOMIAL_H

#include <stdint.h>

/* Clopper and Pearson's bounds (1934), each one-sided: with this confidence the share is at least the lower one, when
 * `met` of `count` were. 0 and 1 where there is none. */
double orr_binomial_lower(int64_t met, int64_t count, double confidence);
double orr_binomial_upper(int64_t met, int64_t count, double confidence);

/* The least number of flights that show a share with this confidence when all of them meet it. */
int64_t orr_binomial_needed(double share, double confidence);

#endif
