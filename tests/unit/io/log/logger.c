/* io/log/logger under a disk that stalls, fails or fills: what is lost is told to the frame, what is there is whole.
 * This program's own pwrite stands before libc's. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/log/log_view.h"
#include "io/session/recording.h"
#include "tests/support/flight.h"

static struct {
  _Atomic int stalled;
  _Atomic int writes, fail_at, error; /* the fail_at-th write and all later ones fail; 0: none */
} disk;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  const struct timespec moment = {.tv_nsec = 1000000};
  int number = atomic_fetch_add(&disk.writes, 1) + 1;
  while (disk.stalled)
    nanosleep(&moment, NULL);
  if (disk.fail_at && number >= disk.fail_at) {
    errno = disk.error;
    return -1;
  }
  return syscall(SYS_pwrite64, fd, bytes, size, at);
}

static const char spacecraft[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
    "actuators: {w: {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: 0.1}}\n"
    "sensors: {g: {kind: rate_gyro, node: bus.origin, rate: 100 Hz}}\n"
    "commands: [{channel: w.torque, at: 0 s, sine: {amplitude: 0.5, frequency: 3 Hz}}]\n"
    "simulation: {step: 1 ms, duration: 1 s}\n"
    "record: {checkpoint: 1 s}\n";

struct rig {
  struct orr_flight flight;
  struct orr_recording recording;
  char folder[64], path[96];
};

static void set_up(struct rig *r, bool patient) {
  char message[200] = "";
  memset(&disk, 0, sizeof disk);
  r->flight = orr_flight_make(spacecraft, "*");
  snprintf(r->folder, sizeof r->folder, "/tmp/orrery-logger-XXXXXX");
  assert_non_null(mkdtemp(r->folder));
  snprintf(r->path, sizeof r->path, "%s/log.mcap", r->folder);
  orr_recording_choose(&r->recording, r->flight.session);
  const struct orr_recording_request request = {.path = r->path, .library = "orrery test", .patient = patient};
  if (!orr_recording_start(&r->recording, &request, message, sizeof message))
    fail_msg("%s", message);
}

static void tear_down(struct rig *r) {
  orr_recording_free(&r->recording);
  orr_flight_free(&r->flight);
  unlink(r->path);
  rmdir(r->folder);
}

static void fly(struct rig *r, int frames) {
  struct orr_session *s = r->flight.session;
  for (int i = 0; i < frames; i++) {
    orr_recording_checkpoint(&r->recording);
    assert_int_equal(orr_session_frame(s), 0);
  }
}

/* What the file itself says: which frames have a wheel's message, and which are told to be lost. */
enum { MOST = 200000 };
struct seen {
  unsigned char there[MOST], told[MOST];
  int count, told_count;
  enum orr_walk_end end;
};

static bool is_topic(const struct orr_walk_tables *t, uint16_t channel, const char *name) {
  struct orr_mcap_text topic = t->channels[channel].topic;
  return topic.size == strlen(name) && memcmp(topic.text, name, topic.size) == 0;
}

static struct seen *look(const char *path) {
  struct orr_view view = {0};
  struct orr_crc32 crc;
  struct orr_unpacker unpacker = {0};
  struct orr_walk walk;
  struct orr_walk_item item;
  char message[200];
  struct orr_walk_tables *tables = malloc(sizeof *tables);
  struct seen *seen = calloc(1, sizeof *seen);
  assert_true(tables && seen && orr_view_open(&view, path, message, sizeof message));
  orr_crc32_init(&crc);
  assert_true(orr_walk_start(&walk, tables, &unpacker, &crc, view.bytes, view.size));
  while (orr_walk_next(&walk, &item)) {
    if (item.kind != ORR_WALK_MESSAGE)
      continue;
    uint64_t frame = item.message.log_ns / 1000000;
    assert_true(frame < MOST);
    if (is_topic(tables, item.message.channel, "/w")) {
      assert_false(seen->there[frame]);
      seen->there[frame] = 1;
      seen->count++;
    } else if (is_topic(tables, item.message.channel, "/orrery/lost")) {
      int64_t span[2];
      memcpy(span, item.message.data + 4, sizeof span);
      for (int64_t i = span[0]; i <= span[1]; i++, seen->told_count++)
        seen->told[i] = 1;
    }
  }
  seen->end = walk.end;
  orr_unpacker_free(&unpacker);
  orr_view_close(&view);
  free(tables);
  return seen;
}

static void every_frame_is_there_when_the_ring_is_waited_for(void **state) {
  (void)state;
  struct rig r;
  set_up(&r, true);
  fly(&r, 5000);
  const struct orr_logger_result *result = orr_recording_stop(&r.recording, NULL, 0);
  assert_true(result->complete && result->frames == 5000 && result->lost_ring + result->lost_file == 0);
  struct seen *seen = look(r.path);
  assert_int_equal(seen->count, 5000);
  assert_int_equal(seen->end, ORR_WALK_COMPLETE);
  free(seen);
  tear_down(&r);
}

/* The run goes on at its own pace; the ring holds some frames, the others are lost, and each is told. */
static void a_disk_that_stalls_loses_frames_that_are_told_one_by_one(void **state) {
  (void)state;
  struct rig r;
  struct timespec pause = {.tv_nsec = 300000000};
  set_up(&r, false);
  disk.stalled = 1;
  for (int i = 0; i < 30; i++) /* more than the first chunk and the ring together */
    fly(&r, 4000);
  disk.stalled = 0;
  nanosleep(&pause, NULL);
  fly(&r, 100);
  nanosleep(&pause, NULL);
  const struct orr_logger_result *result = orr_recording_stop(&r.recording, NULL, 0);
  struct seen *seen = look(r.path);
  const int flown = 120100;
  assert_true(result->lost_ring > 0 && result->lost_file == 0 && !result->complete);
  assert_int_equal(result->stop, ORR_LOG_GOES_ON);
  assert_int_equal(seen->count + (int)result->lost_ring, flown);
  assert_int_equal(seen->told_count, result->lost_ring);
  for (int i = 0; i < flown; i++)
    if (seen->there[i] == seen->told[i])
      fail_msg("frame %d is %s", i, seen->there[i] ? "there and told lost" : "neither there nor told");
  assert_true(!seen->there[result->lost_first] && !seen->there[result->lost_last]);
  assert_true(seen->there[result->lost_first - 1]);
  assert_int_equal(seen->end, ORR_WALK_COMPLETE);
  free(seen);
  tear_down(&r);
}

/* Whichever write fails first, the frames before it are whole and indexed, the others counted. */
static void a_disk_that_fails_leaves_a_whole_log_of_what_was_written(void **state) {
  (void)state;
  for (int at = 2; at < 7; at++) {
    struct rig r;
    set_up(&r, true);
    disk.error = at % 2 ? EIO : ENOSPC;
    disk.fail_at = at; /* the first one was the head */
    fly(&r, 5500);
    for (int i = 0; i < 2000 && atomic_load(&disk.writes) < at; i++)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    disk.fail_at = disk.writes >= at ? 0 : at; /* the end can be written again */
    const struct orr_logger_result *result = orr_recording_stop(&r.recording, NULL, 0);
    assert_true(!result->complete && result->stop == ORR_LOG_ERROR && result->error == disk.error);
    assert_int_equal(result->frames, 1000 * (at - 2));
    assert_int_equal(result->frames + result->lost_file, 5500);
    assert_int_equal(result->lost_first, result->frames);
    assert_int_equal(result->lost_last, 5499);
    struct seen *seen = look(r.path);
    assert_int_equal(seen->count, result->frames);
    assert_int_equal(seen->end, ORR_WALK_COMPLETE);
    free(seen);
    tear_down(&r);
  }
}

static void a_disk_that_takes_not_even_the_end_leaves_whole_chunks(void **state) {
  (void)state;
  struct rig r;
  set_up(&r, true);
  disk.error = ENOSPC;
  disk.fail_at = 4;
  fly(&r, 5500);
  const struct orr_logger_result *result = orr_recording_stop(&r.recording, NULL, 0);
  assert_true(!result->complete && result->frames == 2000);
  struct seen *seen = look(r.path);
  assert_int_equal(seen->count, 2000);
  assert_int_equal(seen->end, ORR_WALK_CUT);
  free(seen);
  tear_down(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_frame_is_there_when_the_ring_is_waited_for),
      cmocka_unit_test(a_disk_that_stalls_loses_frames_that_are_told_one_by_one),
      cmocka_unit_test(a_disk_that_fails_leaves_a_whole_log_of_what_was_written),
      cmocka_unit_test(a_disk_that_takes_not_even_the_end_leaves_whole_chunks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
