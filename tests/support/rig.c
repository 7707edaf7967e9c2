#include "tests/support/rig.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rt/tick/clock.h"

enum { RIG_PRIORITY = 50 };

void orr_rig_burn(int64_t ns) {
  int64_t end_ns = orr_clock_now_ns() + ns;
  while (orr_clock_now_ns() < end_ns) {
  }
}

unsigned char *orr_rig_fresh_memory(uint64_t pages) {
  size_t bytes = pages * (size_t)sysconf(_SC_PAGESIZE);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(memory != MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

static void note(struct orr_rig *rig, char c) {
  if (rig->order_used < ORR_RIG_LOG)
    rig->order[rig->order_used++] = c;
}

static int publish(void *user, struct orr_frame *frame) {
  struct orr_rig *rig = user;
  note(rig, 'p');
  rig->out_of_order += frame->number != rig->next_frame;
  rig->next_frame = frame->number + 1;
  rig->tick_ns[frame->number % ORR_RIG_LOG] = frame->tick_ns;
  rig->publish_ns[frame->number % ORR_RIG_LOG] = orr_clock_now_ns();
  if (rig->every_frame)
    rig->every_frame(rig->context, frame);
  return 0;
}

static int latch(void *user, struct orr_frame *frame) {
  (void)frame;
  note(user, 'l');
  return 0;
}

static void touch_fresh(const struct orr_rig *rig) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (uint64_t i = 0; i < rig->fault_pages; i++)
    *(volatile unsigned char *)(rig->fault_memory + i * page) = 1;
}

static int provoke(struct orr_rig *rig, struct orr_frame *frame) {
  const struct timespec nap = {.tv_sec = rig->fault_ns / ORR_NS_PER_S, .tv_nsec = rig->fault_ns % ORR_NS_PER_S};
  switch (rig->fault) {
  case ORR_RIG_BURN:
    /* real work passes its marks */
    for (int64_t end_ns = orr_clock_now_ns() + rig->fault_ns; orr_clock_now_ns() < end_ns;)
      orr_frame_mark(frame);
    break;
  case ORR_RIG_SLEEP:
    nanosleep(&nap, NULL);
    break;
  case ORR_RIG_TOUCH:
    touch_fresh(rig);
    break;
  case ORR_RIG_SILENT:
    orr_frame_mark(frame);
    orr_rig_burn(rig->fault_ns);
    orr_frame_mark(frame);
    break;
  case ORR_RIG_FAIL:
    return rig->fault_code;
  case ORR_RIG_NONE:
    break;
  }
  return 0;
}

static int compute(void *user, struct orr_frame *frame) {
  struct orr_rig *rig = user;
  note(rig, 'c');
  for (int64_t end_ns = orr_clock_now_ns() + rig->usual_ns; rig->usual_ns > 0 && orr_clock_now_ns() < end_ns;)
    orr_frame_mark(frame);
  uint64_t frames = rig->fault_frames ? rig->fault_frames : 1;
  if (frame->number >= rig->fault_frame && frame->number - rig->fault_frame < frames)
    return provoke(rig, frame);
  return 0;
}

static int device(void *user, struct orr_frame *frame) {
  (void)frame;
  note(user, 'd');
  return 0;
}

static void finish(void *user, const struct orr_cycle_result *result) {
  struct orr_rig *rig = user;
  note(rig, 'f');
  rig->finished++;
  rig->result = *result;
}

/* 2 ms: the rig marks every microsecond or so, but a busy machine takes a slice now and then that is not what a test is
 * about. */
const struct orr_work orr_rig_work = {
    .stages = {{.name = "publish", .run = publish},
               {.name = "latch", .run = latch},
               {.name = "compute", .run = compute, .mark_gap_ns = 2000000},
               {.name = "device", .run = device}},
    .stage_count = 4,
    .finish = finish,
};

void orr_rig_run(struct orr_rig *rig, const struct orr_cycle_options *options, struct orr_stats *stats,
                 struct orr_live *live) {
  struct orr_cycle loop;
  orr_stats_init(stats, "rig", options->period_ns);
  struct sched_param before, fifo = {.sched_priority = RIG_PRIORITY};
  int policy = SCHED_OTHER;
  pthread_getschedparam(pthread_self(), &policy, &before);
  const char *wrong = orr_cycle_init(&loop, options, &orr_rig_work, rig, stats);
  if (wrong)
    fail_msg("%s", wrong);
  rig->real_time = policy != SCHED_OTHER || pthread_setschedparam(pthread_self(), SCHED_FIFO, &fifo) == 0;
  orr_cycle_run(&loop);
  pthread_setschedparam(pthread_self(), policy, &before);
  assert_true(orr_stats_live(stats, live));
  assert_int_equal(live->ended, 1);
}

const struct orr_frame_record *orr_rig_find(const struct orr_stats *stats, uint64_t frame,
                                            struct orr_frame_record *record) {
  static struct orr_frame_record records[ORR_WORST_COUNT];
  size_t count = orr_worst_read(&stats->worst, records);
  for (size_t i = 0; i < count; i++)
    if (records[i].frame == frame) {
      *record = records[i];
      return record;
    }
  return NULL;
}
