#include "rt/executive.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "rt/machine/rights.h"
#include "rt/tick/clock.h"

enum { STACK_BYTES = ORR_STACK_TOUCHED + 512 * 1024, CALIBRATE_DEFAULT_NS = 500 * ORR_NS_PER_MS };

static const char *const strict_message = "something the run needs cannot be had, and it is strict";

static void calibrate(struct orr_executive *e, struct orr_cycle_options *cycle) {
  int64_t budget_ns = e->options.calibrate_ns > 0 ? e->options.calibrate_ns : CALIBRATE_DEFAULT_NS;
  bool find_margin = cycle->margin_ns == ORR_AUTO_NS;
  if (cycle->phase_ns == ORR_AUTO_NS) {
    orr_calibrate_phase(&e->calibration, cycle->period_ns, find_margin ? 0 : cycle->margin_ns, budget_ns);
    cycle->phase_ns = e->calibration.phase_ns;
  }
  e->calibration.phase_ns = cycle->phase_ns;
  if (find_margin) {
    orr_calibrate_margin(&e->calibration, cycle->period_ns, budget_ns);
    /* a spin that is throttled away costs more than the late wake-ups it hides */
    if (orr_setup_throttles(cycle->period_ns, e->calibration.margin_ns, e->options.priority))
      e->calibration.margin_ns = cycle->period_ns / 2;
    cycle->margin_ns = e->calibration.margin_ns;
  }
  e->calibration.margin_ns = cycle->margin_ns;
}

/* On the rt thread, before the first tick. */
static const char *prepare(struct orr_executive *e, const struct orr_work *work, void *user) {
  struct orr_cycle_options cycle = e->options.cycle;
  struct orr_stats *stats = e->board.stats;
  int error = e->options.isolation ? orr_isolate_attach(e->options.isolation) : 0;
  if (error)
    orr_lacks_add(&e->lacks, ORR_LACK_AFFINITY, error);
  orr_setup_real_time(e->core, e->options.priority, &e->lacks);
  orr_setup_touch_stack();
  if (e->options.strict && e->lacks.count > 0)
    return strict_message; /* before half a second of calibration that would tell nothing */
  calibrate(e, &cycle);
  if (orr_setup_throttles(cycle.period_ns, cycle.margin_ns, e->options.priority))
    orr_lacks_add(&e->lacks, ORR_LACK_THROTTLING, 0);
  if (e->options.strict && e->lacks.count > 0)
    return strict_message;
  stats->core = e->core;
  stats->priority = e->options.priority;
  for (unsigned i = 0; i < e->lacks.count; i++) {
    if (e->lacks.entry[i].lack == ORR_LACK_AFFINITY)
      stats->core = -1;
    if (e->lacks.entry[i].lack == ORR_LACK_PRIORITY)
      stats->priority = 0;
  }
  if (!e->options.keeps_rights)
    (void)orr_rights_drop(ORR_RIGHTS_MEMORY); /* core, memory and priority are set; a segment may be shrunk under it */
  return orr_cycle_init(&e->cycle, &cycle, work, user, stats);
}

static void await(sem_t *sem) {
  while (sem_wait(sem) != 0) {
    /* a signal was handled meanwhile */
  }
}

static void *rt_thread(void *argument) {
  struct orr_executive *e = argument;
  e->wrong = prepare(e, e->cycle.work, e->cycle.user);
  bool go = e->wrong == NULL;
  sem_post(&e->ready);
  if (go)
    await(&e->go);
  if (atomic_load(&e->stop_asked))
    orr_cycle_stop(&e->cycle);
  if (go && !atomic_load(&e->refused))
    orr_cycle_run(&e->cycle);
  atomic_store(&e->ended, 1);
  return NULL;
}

static const char *start_thread(struct orr_executive *e) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return "no memory for the real-time thread";
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  int error = pthread_create(&e->thread, &attributes, rt_thread, e);
  if (error == EAGAIN) { /* the lock on future memory may not leave room for a stack */
    orr_setup_unlock_memory();
    orr_lacks_add(&e->lacks, ORR_LACK_MEMORY_LOCK, error);
    error = pthread_create(&e->thread, &attributes, rt_thread, e);
  }
  pthread_attr_destroy(&attributes);
  if (error)
    return "the real-time thread cannot be made";
  e->started = true;
  await(&e->ready);
  e->prepared = e->wrong == NULL;
  return e->wrong;
}

static const char *check(const struct orr_executive_options *options, const struct orr_work *work,
                         struct orr_executive *e) {
  struct orr_cycle_options cycle = options->cycle;
  if (cycle.phase_ns == ORR_AUTO_NS)
    cycle.phase_ns = 0;
  if (cycle.margin_ns == ORR_AUTO_NS)
    cycle.margin_ns = 0;
  return orr_cycle_init(&e->cycle, &cycle, work, NULL, e->board.stats);
}

const char *orr_executive_prepare(struct orr_executive *executive, const struct orr_executive_options *options,
                                  const struct orr_work *work, void *user) {
  struct orr_executive *e = executive;
  memset(e, 0, sizeof *e);
  e->options = *options;
  if (options->noted)
    e->lacks = *options->noted;
  e->dma_latency_fd = -1;
  sem_init(&e->ready, 0, 0);
  sem_init(&e->go, 0, 0);
  orr_board_sweep();
  int error = orr_board_create(&e->board);
  if (!e->board.stats)
    return "no memory for the statistics";
  if (error)
    orr_lacks_add(&e->lacks, ORR_LACK_SEGMENT, error);
  orr_stats_init(e->board.stats, options->name, options->cycle.period_ns);
  const char *wrong = check(options, work, e);
  if (wrong)
    return wrong;
  e->cycle.work = work;
  e->cycle.user = user;
  e->core = options->core == ORR_CORE_AUTO ? orr_setup_choose_core() : options->core < 0 ? -1 : options->core;
  orr_board_show(&e->board);
  if (options->core == ORR_CORE_AUTO && e->core < 0)
    orr_lacks_add(&e->lacks, ORR_LACK_AFFINITY, 0);
  orr_setup_lock_memory(options->regions, options->region_count, &e->lacks);
  e->dma_latency_fd = orr_setup_hold_dma_latency(&e->lacks);
  if (e->core >= 0)
    orr_setup_keep_off(e->core, &e->before, &e->lacks);
  return start_thread(e);
}

void orr_executive_go(struct orr_executive *executive) {
  if (executive->prepared)
    sem_post(&executive->go);
  executive->prepared = false;
}

const char *orr_executive_start(struct orr_executive *executive, const struct orr_executive_options *options,
                                const struct orr_work *work, void *user) {
  const char *wrong = orr_executive_prepare(executive, options, work, user);
  orr_executive_go(executive);
  return wrong;
}

void orr_executive_stop(struct orr_executive *executive) {
  atomic_store(&executive->stop_asked, 1);
  orr_cycle_stop(&executive->cycle);
}

bool orr_executive_ended(const struct orr_executive *executive) { return atomic_load(&executive->ended) != 0; }

void orr_executive_show(struct orr_executive *executive) { orr_board_show(&executive->board); }

void orr_executive_join(struct orr_executive *executive) {
  if (executive->prepared)
    atomic_store(&executive->refused, 1);
  orr_executive_go(executive);
  if (executive->started) {
    pthread_join(executive->thread, NULL);
    orr_board_show(&executive->board);
  }
  executive->started = false;
}

void orr_executive_close(struct orr_executive *executive) {
  orr_executive_join(executive);
  orr_board_close(&executive->board);
  if (executive->dma_latency_fd >= 0)
    close(executive->dma_latency_fd);
  executive->dma_latency_fd = -1;
  orr_setup_let_back(&executive->before);
  orr_setup_unlock_memory();
  sem_destroy(&executive->ready);
  sem_destroy(&executive->go);
}
