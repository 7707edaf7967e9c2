/* The report of a campaign: one page of HTML that needs nothing else. [init] */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_PAGE_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Of a folder that `orrery campaign run` or `gather` has left. False after a message. */
bool orr_campaign_page(const char *folder, const char *path);

/* Spearman's rank correlation of two columns, those rows left out in which either is no number; equal values share
 * their ranks. NaN where there is none. O(n log n). */
double orr_rank_correlation(const double *x, const double *y, size_t count);

#endif
