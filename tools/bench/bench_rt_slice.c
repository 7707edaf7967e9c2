#include "tools/bench/bench_rt_slice.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/executive.h"
#include "rt/tick/clock.h"

/* As cyclictest does it: read the clock after the wake-up, and count whole microseconds. */
static int sample(void *user, struct orr_frame *frame) {
  orr_pool_add(user, (orr_clock_now_ns() - frame->tick_ns) / ORR_NS_PER_US, 1);
  return 0;
}

static const struct orr_work sampling = {.stages = {{.name = "sample", .run = sample}}, .stage_count = 1};

const char *orr_slice_ours(const struct orr_slice_conditions *conditions, bool auto_phase, bool auto_spin,
                           struct orr_pool *pool, struct orr_slice_outcome *outcome) {
  struct orr_executive executive;
  const struct orr_region region = {pool, sizeof *pool};
  const struct orr_executive_options o = {
      .cycle = {.period_ns = conditions->period_us * ORR_NS_PER_US,
                .phase_ns = auto_phase ? ORR_AUTO_NS : conditions->phase_us * ORR_NS_PER_US,
                .margin_ns = auto_spin ? ORR_AUTO_NS : 0,
                .policy = ORR_OVERRUN_CATCH_UP,
                .catch_up_limit = UINT32_MAX, /* every tick is a sample, however late */
                .frames = conditions->frames},
      .name = "bench",
      .core = conditions->core,
      .priority = conditions->priority,
      .regions = &region,
      .region_count = 1,
  };
  const char *wrong = orr_executive_start(&executive, &o, &sampling, pool);
  if (!wrong) {
    orr_executive_join(&executive);
    *outcome = (struct orr_slice_outcome){
        .phase_ns = executive.board.stats->phase_ns,
        .margin_ns = executive.board.stats->margin_ns,
        .real_time = executive.board.stats->core >= 0 && executive.board.stats->priority > 0,
    };
  }
  orr_executive_close(&executive);
  return wrong;
}

/* "000012 000345": so many samples of so many µs; and at the end, of one thread, "# Max Latencies: 00042". */
static void read_histogram(FILE *in, struct orr_pool *pool, int64_t *max_us, uint64_t *overflows) {
  char line[4096];
  while (fgets(line, sizeof line, in)) {
    long long latency_us, times;
    if (sscanf(line, "# Max Latencies: %lld", &latency_us) == 1)
      *max_us = latency_us;
    else if (sscanf(line, "# Histogram Overflows: %lld", &times) == 1)
      *overflows = (uint64_t)times;
    else if (line[0] != '#' && sscanf(line, "%lld %lld", &latency_us, &times) == 2 && times > 0)
      orr_pool_add(pool, latency_us, (uint64_t)times);
  }
}

static pid_t spawn_into(int output, char *const argv[]) {
  posix_spawn_file_actions_t actions;
  pid_t child = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) != 0)
    child = -1;
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

const char *orr_slice_cyclictest(const struct orr_slice_conditions *conditions, struct orr_pool *pool) {
  char core[32], priority[32], interval[32], loops[32], limit[32], other[48], aligned[48];
  const struct orr_slice_conditions *c = conditions;
  snprintf(core, sizeof core, "-a%d", c->core);
  snprintf(priority, sizeof priority, "-p%d", c->priority);
  snprintf(interval, sizeof interval, "-i%lld", (long long)c->period_us);
  snprintf(loops, sizeof loops, "-l%llu", (unsigned long long)c->frames);
  snprintf(limit, sizeof limit, "-h%d", ORR_POOL_LIMIT_US);
  snprintf(other, sizeof other, "--mainaffinity=%d", c->core == 0 ? 1 : 0);
  snprintf(aligned, sizeof aligned, "--secaligned=%lld", (long long)c->phase_us);
  char *const argv[] = {(char[]){"cyclictest"},
                        (char[]){"-m"},
                        (char[]){"-q"},
                        (char[]){"-t1"},
                        core,
                        priority,
                        interval,
                        loops,
                        limit,
                        aligned,
                        sysconf(_SC_NPROCESSORS_ONLN) > 1 ? other : NULL,
                        NULL};
  int ends[2], status = -1;
  if (pipe(ends) != 0)
    return "no pipe to cyclictest";
  pid_t child = spawn_into(ends[1], argv);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return "cyclictest is not there: apt-get install rt-tests";
  }
  int64_t max_us = 0;
  uint64_t overflows = 0;
  FILE *in = fdopen(ends[0], "r");
  if (in) {
    read_histogram(in, pool, &max_us, &overflows);
    fclose(in);
  }
  waitpid(child, &status, 0);
  if (!in || status != 0)
    return "cyclictest failed: it needs the right to SCHED_FIFO and to lock memory";
  orr_pool_add(pool, max_us > ORR_POOL_LIMIT_US ? max_us : ORR_POOL_LIMIT_US, overflows);
  orr_pool_add_skipped(pool, c->period_us);
  return NULL;
}
