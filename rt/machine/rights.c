#include "rt/machine/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel takes 64 bits as two halves. */
struct sets {
  struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3];
};

static uint64_t bit(int capability) { return UINT64_C(1) << capability; }

static bool has(const struct sets *s, int capability) {
  return s->half[capability / 32].effective >> capability % 32 & 1;
}

/* Whether memory can be locked without a right to. */
static bool locks_freely(const struct sets *now) {
  const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
    return true;
  return !has(now, CAP_IPC_LOCK) || setrlimit(RLIMIT_MEMLOCK, &none) == 0;
}

static uint64_t set_of(unsigned kept, const struct sets *now) {
  uint64_t set = 0;
  if (kept & ORR_RIGHTS_FILES)
    set |= bit(CAP_DAC_OVERRIDE) | bit(CAP_FOWNER) | bit(CAP_CHOWN);
  if (kept & ORR_RIGHTS_UNDO)
    set |= bit(CAP_SYS_NICE) | bit(CAP_DAC_OVERRIDE);
  if (kept & ORR_RIGHTS_MEMORY && !locks_freely(now))
    set |= bit(CAP_IPC_LOCK);
  return set;
}

int orr_rights_drop(unsigned kept) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct sets now;
  memset(&now, 0, sizeof now);
  if (syscall(SYS_capget, &head, now.half) != 0)
    return errno;
  uint64_t set = set_of(kept, &now);
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
    uint32_t half = (uint32_t)(set >> 32 * i);
    now.half[i].permitted &= half;
    now.half[i].effective &= half;
    now.half[i].inheritable = 0;
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  return syscall(SYS_capset, &head, now.half) == 0 ? 0 : errno;
}
