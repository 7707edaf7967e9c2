#include "tools/common/burners.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void burn(pid_t parent) {
  enum { BYTES = 4 << 20 };
  setpgid(0, 0); /* Ctrl-C is a word to the command, which ends it */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) /* it has ended before that */
    _exit(1);
  char *from = calloc(1, BYTES), *to = malloc(BYTES);
  if (!from || !to)
    _exit(1);
  for (unsigned i = 0;; i++) {
    memcpy(to, from, BYTES);
    from[i % BYTES] = to[(i * 7919u) % BYTES];
    sched_yield();
  }
}

static void end(pid_t burner) {
  kill(burner, SIGKILL);
  while (waitpid(burner, NULL, 0) < 0 && errno == EINTR) {
  }
}

bool orr_burners_add(struct orr_burners *burners, int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET((size_t)core, &only);
  pid_t parent = getpid(), child = burners->count < ORR_BURNERS_MAX ? fork() : -1;
  if (child == 0)
    burn(parent);
  if (child < 0)
    return false;
  setpgid(child, child); /* whoever is first */
  burners->pid[burners->count++] = child;
  if (sched_setaffinity(child, sizeof only, &only) == 0)
    return true;
  int error = errno;
  end(burners->pid[--burners->count]);
  errno = error;
  return false;
}

void orr_burners_end(struct orr_burners *burners) {
  for (size_t i = 0; i < burners->count; i++)
    end(burners->pid[i]);
  burners->count = 0;
}
