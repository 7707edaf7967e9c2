#include "tools/common/burners.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void burn_on(int core) {
  enum { BYTES = 4 << 20 };
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET((size_t)core, &only);
  sched_setaffinity(0, sizeof only, &only);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  char *from = calloc(1, BYTES), *to = malloc(BYTES);
  if (!from || !to)
    _exit(1);
  for (unsigned i = 0;; i++) {
    memcpy(to, from, BYTES);
    from[i % BYTES] = to[(i * 7919u) % BYTES];
    sched_yield();
  }
}

bool orr_burners_add(struct orr_burners *burners, int core) {
  pid_t child = burners->count < ORR_BURNERS_MAX ? fork() : -1;
  if (child == 0)
    burn_on(core);
  if (child > 0)
    burners->pid[burners->count++] = child;
  return child > 0;
}

void orr_burners_end(struct orr_burners *burners) {
  for (size_t i = 0; i < burners->count; i++) {
    kill(burners->pid[i], SIGKILL);
    waitpid(burners->pid[i], NULL, 0);
  }
  burners->count = 0;
}
