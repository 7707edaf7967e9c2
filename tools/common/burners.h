/* Ordinary processes that keep cores busy: each moves memory and enters the kernel, and ends with its parent. [init] */
#ifndef ORR_TOOLS_COMMON_BURNERS_H
#define ORR_TOOLS_COMMON_BURNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ORR_BURNERS_MAX = 256 };

struct orr_burners {
  size_t count;
  pid_t pid[ORR_BURNERS_MAX];
};

/* One more, on that core and no other. False with errno: no room, no process to be had, or it may not run there. */
bool orr_burners_add(struct orr_burners *burners, int core);
/* Ends them all, and waits for it. */
void orr_burners_end(struct orr_burners *burners);

#endif
