/* io_uring, tried out rather than guessed from a version. */
#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/doctor_checks.h"

static int try_ring(unsigned flags) {
  struct io_uring ring;
  struct io_uring_params parameters = {.flags = flags};
  int error = io_uring_queue_init_params(8, &ring, &parameters);
  if (error == 0)
    io_uring_queue_exit(&ring);
  return -error;
}

/* A ring of provided buffers (5.19), which multishot receive picks from. */
static bool try_buffer_ring(struct io_uring *ring) {
  struct io_uring_buf_ring *buffers = NULL;
  size_t bytes = 8 * sizeof(struct io_uring_buf);
  if (posix_memalign((void **)&buffers, 4096, bytes) != 0)
    return false;
  memset(buffers, 0, bytes);
  struct io_uring_buf_reg registration = {.ring_addr = (uint64_t)(uintptr_t)buffers, .ring_entries = 8};
  bool ok = io_uring_register_buf_ring(ring, &registration, 0) == 0;
  if (ok)
    io_uring_unregister_buf_ring(ring, 0);
  free(buffers);
  return ok;
}

static bool try_operations(struct io_uring *ring) {
  static const int needed[] = {IORING_OP_RECVMSG, IORING_OP_SENDMSG, IORING_OP_WRITE_FIXED, IORING_OP_TIMEOUT};
  struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
  bool ok = probe != NULL;
  for (size_t i = 0; ok && i < sizeof needed / sizeof *needed; i++)
    ok = io_uring_opcode_supported(probe, needed[i]) != 0;
  io_uring_free_probe(probe);
  return ok;
}

void orr_doctor_judge_uring(struct orr_check *check) {
  struct io_uring ring;
  memset(check, 0, sizeof *check);
  check->name = "io_uring";
  check->why = "UDP links and the recorder use it from the io thread; without it they fall back to plain calls";
  int error = -io_uring_queue_init(8, &ring, 0);
  if (error) {
    check->health = ORR_HEALTH_WARN;
    snprintf(check->finding, sizeof check->finding, "not available: %s", strerror(error));
    snprintf(check->mend, sizeof check->mend, "%s",
             error == ENOSYS ? "boot a kernel from 6.0 on"
                             : "echo 0 > /proc/sys/kernel/io_uring_disabled; check seccomp");
    return;
  }
  const struct {
    const char *name;
    bool there;
  } features[] = {
      {"operations", try_operations(&ring)},
      {"buffer rings", try_buffer_ring(&ring)},
      {"SINGLE_ISSUER", try_ring(IORING_SETUP_SINGLE_ISSUER) == 0},
      {"DEFER_TASKRUN", try_ring(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) == 0},
      {"SQPOLL", try_ring(IORING_SETUP_SQPOLL) == 0},
  };
  io_uring_queue_exit(&ring);
  size_t used = 0;
  for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
    if (!features[i].there)
      check->health = ORR_HEALTH_WARN;
    if (used < sizeof check->finding)
      used += (size_t)snprintf(check->finding + used, sizeof check->finding - used, "%s%s%s", i ? ", " : "",
                               features[i].there ? "" : "no ", features[i].name);
  }
  if (check->health != ORR_HEALTH_OK)
    snprintf(check->mend, sizeof check->mend, "boot a kernel from 6.1 on");
}
