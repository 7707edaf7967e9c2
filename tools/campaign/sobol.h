/* The sequence of Sobol, by any of its points. [any]: pure functions. */
#ifndef ORR_TOOLS_CAMPAIGN_SOBOL_H
#define ORR_TOOLS_CAMPAIGN_SOBOL_H

#include <stdint.h>

#include "io/config/campaign/campaign_file.h"

enum { ORR_SOBOL_DIMENSIONS = ORR_CAMPAIGN_SOBOL };

/* Number `dimension` of point `index`, as a fraction of 2^32. O(bits of the index). */
uint32_t orr_sobol(int dimension, uint32_t index);

#endif
