/* Finds other real-time runs on the core that a run is to use. [init] */
#ifndef ORR_TOOLS_COMMON_NEIGHBOURS_H
#define ORR_TOOLS_COMMON_NEIGHBOURS_H

#include <stdbool.h>
#include <stdio.h>

/* Whether another process has cleared the core (--fix) for itself. Prints which process, and what to do: `option` names
 * the option that chooses another core. */
bool orr_neighbours_refuse(int core, const char *who, const char *option, FILE *out);

/* Warns of other runs on the core, as far as this user may see them. */
void orr_neighbours_warn(int core, FILE *out);

#endif
