/* What other runs in real time have to do with the core that a run is to have. [init] */
#ifndef ORR_TOOLS_COMMON_NEIGHBOURS_H
#define ORR_TOOLS_COMMON_NEIGHBOURS_H

#include <stdbool.h>
#include <stdio.h>

/* Whether another process has cleared the core (--fix) and so has it for itself; says which, and what to do: `option`
 * is how another core is named. */
bool orr_neighbours_refuse(int core, const char *who, const char *option, FILE *out);

/* Warns of runs that are on the core, too, as far as this user may see them. */
void orr_neighbours_warn(int core, FILE *out);

#endif
