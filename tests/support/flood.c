#include "tests/support/flood.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rt/tick/clock.h"
#include "tests/support/prng.h"

enum { AT_ONCE = 100, POOL = 1 << 16, LEAST = 8, MOST = 263 };

static void must(bool good, const char *what) {
  if (good)
    return;
  perror(what);
  abort();
}

static int sender(const struct sockaddr_in *to, uint32_t ip) {
  const struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(ip)};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  must(fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof here) == 0, "a sender's address");
  must(connect(fd, (const struct sockaddr *)to, sizeof *to) == 0, "connect");
  return fd;
}

/* Another AT_ONCE pieces of the pool; how many the kernel took. */
static int send_some(int fd, uint8_t *pool, struct orr_prng *random) {
  static struct mmsghdr messages[AT_ONCE];
  static struct iovec pieces[AT_ONCE];
  for (int i = 0; i < AT_ONCE; i++) {
    pieces[i].iov_len = LEAST + prng_next(random) % (MOST - LEAST + 1);
    pieces[i].iov_base = pool + prng_next(random) % (POOL - MOST);
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
  }
  int sent = sendmmsg(fd, messages, AT_ONCE, 0);
  return sent > 0 ? sent : 0; /* refused: nobody is there (any more) */
}

/* What comes from a network does not wait for the programs of this machine: above the ordinary ones, below the
 * run's. */
static bool rise(int *policy, struct sched_param *before) {
  const struct sched_param low = {.sched_priority = 1};
  *policy = sched_getscheduler(0);
  return *policy >= 0 && sched_getparam(0, before) == 0 && sched_setscheduler(0, SCHED_FIFO, &low) == 0;
}

struct orr_flood orr_flood(const struct sockaddr_in *to, const uint32_t from_ip[2], double rate_hz, double seconds) {
  struct orr_flood f = {.from = {0}};
  struct orr_prng random = {5};
  struct rusage before, after;
  uint8_t *pool = malloc(POOL);
  int fds[2] = {sender(to, from_ip[0]), sender(to, from_ip[1])};
  must(pool != NULL, "memory");
  for (int i = 0; i < POOL; i++)
    pool[i] = (uint8_t)prng_next(&random);
  struct sched_param ordinary;
  int policy;
  f.raised = rise(&policy, &ordinary);
  getrusage(RUSAGE_THREAD, &before);
  int64_t begin_ns = orr_clock_now_ns(), step_ns = (int64_t)(AT_ONCE / rate_hz * 1e9), now_ns = begin_ns;
  for (int64_t n = 0; now_ns - begin_ns < (int64_t)(seconds * 1e9); n++) {
    f.from[n % 2] += (uint64_t)send_some(fds[n % 2], pool, &random);
    orr_clock_sleep_until(begin_ns + (n + 1) * step_ns);
    now_ns = orr_clock_now_ns();
  }
  getrusage(RUSAGE_THREAD, &after);
  if (f.raised)
    sched_setscheduler(0, policy, &ordinary);
  f.wall_s = 1e-9 * (double)(now_ns - begin_ns);
  f.cpu_s = (double)(after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec - before.ru_stime.tv_sec) +
            1e-6 * (double)(after.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_utime.tv_usec -
                            before.ru_stime.tv_usec);
  f.taken_off = after.ru_nivcsw - before.ru_nivcsw;
  close(fds[0]);
  close(fds[1]);
  free(pool);
  return f;
}

void orr_flood_print(const struct orr_flood *f, double rate_hz) {
  double sent = (double)(f->from[0] + f->from[1]);
  printf("%.0f packets in %.2f s, %.0f a second; the sender had %.2f s of its core and was taken off it %ld "
         "times\n",
         sent, f->wall_s, sent / f->wall_s, f->cpu_s, f->taken_off);
  if (sent / f->wall_s < 0.99 * rate_hz)
    printf("less than the %.0f a second asked for: %s\n", rate_hz,
           f->cpu_s > 0.8 * f->wall_s ? "a core does not send more"
           : f->raised                ? "the io thread, which takes it in, had the core"
                                      : "others had the core, and no real-time priority is to be had");
}
