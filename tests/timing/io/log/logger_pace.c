/* io/log/logger behind an executive at 20 kHz that hands over 400 numbers a frame, 64 MB/s, and computes nothing: what
 * it writes is whole, what it lost is told to the frame, also when the disk stands still for three seconds; and the
 * executive takes no page fault, no switch beyond its sleeps and no allocation meanwhile. This program's own pwrite
 * stands before libc's.
 *
 * LOG_SECONDS=60 flies so long, and then nothing may be lost while the disk moves: that needs a quiet machine. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/log/log_view.h"
#include "io/log/logger.h"
#include "rt/executive.h"
#include "tests/timing/counting.h"

enum { NUMBERS = 400, RATE = 20000, STEP_NS = 1000000000 / RATE };

static _Atomic int stalled;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  const struct timespec moment = {.tv_nsec = 1000000};
  while (stalled)
    nanosleep(&moment, NULL);
  return syscall(SYS_pwrite64, fd, bytes, size, at);
}

struct rig {
  double values[NUMBERS];
  struct orr_logger *logger;
  struct orr_executive executive;
  struct rusage first, last;
  uint64_t frames;
  int64_t stall_from, stall_to; /* frames while the disk stands still */
  long allocations;
  int64_t timed;
  char folder[64], path[96];
};

static void state_of(const void *user, uint64_t *words) {
  (void)user;
  words[0] = 1;
}

static int hand_over(void *user, struct orr_frame *frame) {
  struct rig *r = user;
  int64_t number = (int64_t)frame->number;
  const struct orr_live *live = &r->executive.cycle.live;
  stalled = number >= r->stall_from && number < r->stall_to;
  if (number == 0) {
    getrusage(RUSAGE_THREAD, &r->first);
    watch.on = 1;
  }
  for (int i = 0; i < NUMBERS; i += 40)
    r->values[i] = (double)number + i;
  orr_logger_frame(r->logger, number, (int64_t)live->frames > r->timed ? &live->last : NULL);
  r->timed = (int64_t)live->frames;
  if ((uint64_t)number + 1 == r->frames)
    getrusage(RUSAGE_THREAD, &r->last);
  return 0;
}

static void conclude(void *user, const struct orr_cycle_result *result) {
  struct rig *r = user;
  (void)result;
  watch.on = 0;
  r->allocations = watch.allocations;
}

static void start(struct rig *r) {
  static const bool chosen[] = {true};
  static struct orr_channel channel = {
      .name = "plant.numbers", .unit = "", .direction = ORR_CHANNEL_OUTPUT, .count = NUMBERS, .divisor = 1};
  static const struct orr_channel_table table = {
      .channels = &channel, .count = 1, .output_values = NUMBERS, .value_count = NUMBERS};
  char message[200];
  const char *where = getenv("LOG_FOLDER");
  snprintf(r->folder, sizeof r->folder, "%s/orrery-pace-XXXXXX", where ? where : "/tmp");
  assert_non_null(mkdtemp(r->folder));
  snprintf(r->path, sizeof r->path, "%s/log.mcap", r->folder);
  const struct orr_logger_desc desc = {.path = r->path,
                                       .library = "orrery test",
                                       .table = &table,
                                       .chosen = chosen,
                                       .values = r->values,
                                       .state_head = {.plant_words = 1},
                                       .state = state_of,
                                       .step_ns = STEP_NS};
  r->logger = orr_logger_start(&desc, message, sizeof message);
  if (!r->logger)
    fail_msg("%s", message);
}

/* Flies so many seconds; the disk stands still from `from_s` for three. */
static const struct orr_logger_result *fly(struct rig *r, int seconds, int from_s) {
  static const struct orr_work work = {
      .stages = {{.name = "record", .run = hand_over}}, .stage_count = 1, .finish = conclude};
  struct orr_region regions[ORR_LOGGER_REGIONS + 1] = {{r, sizeof *r}};
  start(r);
  r->frames = (uint64_t)seconds * RATE;
  if (from_s >= 0) {
    r->stall_from = (int64_t)from_s * RATE;
    r->stall_to = r->stall_from + INT64_C(3) * RATE;
  }
  const struct orr_executive_options options = {
      .cycle = {.period_ns = STEP_NS, .policy = ORR_OVERRUN_SLIP, .frames = r->frames},
      .name = "pace",
      .core = ORR_CORE_AUTO,
      .priority = 60,
      .regions = regions,
      .region_count = 1 + orr_logger_regions(r->logger, regions + 1, ORR_LOGGER_REGIONS)};
  const char *wrong = orr_executive_start(&r->executive, &options, &work, r);
  if (wrong)
    fail_msg("%s", wrong);
  orr_executive_join(&r->executive);
  stalled = 0;
  return orr_logger_stop(r->logger, (int64_t)r->frames, NULL, NULL, 0);
}

static void assert_unharmed(struct rig *r) {
  bool locked = true;
  for (unsigned i = 0; i < r->executive.lacks.count; i++)
    locked = locked && r->executive.lacks.entry[i].lack != ORR_LACK_MEMORY_LOCK;
  assert_int_equal(r->allocations, 0);
  if (!locked)
    return; /* without the right to lock memory nobody can promise */
  assert_int_equal(r->last.ru_minflt - r->first.ru_minflt, 0);
  assert_int_equal(r->last.ru_majflt - r->first.ru_majflt, 0);
  assert_true(r->last.ru_nvcsw - r->first.ru_nvcsw <= (long)r->frames - 1);
}

/* Every frame is there once, with its own number, or told to be lost. */
static void assert_accounted(struct rig *r, const struct orr_logger_result *result) {
  struct orr_view view = {0};
  struct orr_crc32 crc;
  struct orr_unpacker unpacker = {0};
  struct orr_walk walk;
  struct orr_walk_item item;
  char message[200];
  struct orr_walk_tables *tables = malloc(sizeof *tables);
  unsigned char *seen = calloc(r->frames, 1);
  assert_true(tables && seen && orr_view_open(&view, r->path, message, sizeof message));
  orr_crc32_init(&crc);
  assert_true(orr_walk_start(&walk, tables, &unpacker, &crc, view.bytes, view.size));
  uint64_t there = 0, told = 0;
  while (orr_walk_next(&walk, &item)) {
    if (item.kind != ORR_WALK_MESSAGE)
      continue;
    if (item.message.channel == ORR_LOG_LOST) {
      int64_t span[2];
      memcpy(span, item.message.data + 4, sizeof span);
      for (int64_t i = span[0]; i <= span[1]; i++, told++)
        assert_int_equal(seen[i]++, 0);
    } else if (item.message.size == 4 + 8 * NUMBERS) {
      uint64_t frame = item.message.log_ns / STEP_NS;
      double first;
      memcpy(&first, item.message.data + 4, sizeof first);
      assert_true(frame < r->frames && first == (double)frame);
      assert_int_equal(seen[frame]++, 0);
      there++;
    }
  }
  assert_int_equal(walk.end, ORR_WALK_COMPLETE);
  assert_int_equal(there + told, r->frames);
  assert_int_equal(there, result->frames);
  assert_int_equal(told, result->lost_ring);
  orr_unpacker_free(&unpacker);
  orr_view_close(&view);
  free(tables);
  free(seen);
}

static void tell(const struct rig *r, const struct orr_logger_result *result, const char *what) {
  struct orr_live live;
  if (orr_stats_live(r->executive.board.stats, &live))
    printf("%s: %llu frames, %llu in the log, %llu lost; %.3g MB; page faults %llu, switches %llu and %llu\n", what,
           (unsigned long long)r->frames, (unsigned long long)result->frames, (unsigned long long)result->lost_ring,
           1e-6 * (double)result->bytes, (unsigned long long)(live.minor_faults + live.major_faults),
           (unsigned long long)live.involuntary, (unsigned long long)live.voluntary);
}

static void end(struct rig *r) {
  orr_executive_close(&r->executive);
  orr_logger_free(r->logger);
  unlink(r->path);
  rmdir(r->folder);
}

static int seconds_of(int otherwise) {
  const char *text = getenv("LOG_SECONDS");
  return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void what_is_written_at_64_MB_a_second_is_whole(void **state) {
  (void)state;
  static struct rig r;
  const struct orr_logger_result *result = fly(&r, seconds_of(3), -1);
  tell(&r, result, "at pace");
  assert_unharmed(&r);
  assert_accounted(&r, result);
  if (getenv("LOG_SECONDS"))
    assert_true(result->complete && result->lost_ring == 0);
  end(&r);
}

static void a_disk_that_stands_still_loses_frames_that_are_told_and_harms_nobody(void **state) {
  (void)state;
  static struct rig r;
  int seconds = seconds_of(6);
  const struct orr_logger_result *result = fly(&r, seconds, seconds / 4);
  tell(&r, result, "stalled");
  assert_unharmed(&r);
  assert_true(result->lost_ring > RATE && result->lost_file == 0 && !result->complete);
  assert_accounted(&r, result);
  end(&r);
}

int main(void) {
  find_libc_clock();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_at_64_MB_a_second_is_whole),
      cmocka_unit_test(a_disk_that_stands_still_loses_frames_that_are_told_and_harms_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
