/* io_uring, tried out rather than guessed from a version. */
#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/common/doctor_checks.h"

static int try_ring(unsigned flags) {
  struct io_uring ring;
  struct io_uring_params parameters = {.flags = flags};
  int error = io_uring_queue_init_params(8, &ring, &parameters);
  if (error == 0)
    io_uring_queue_exit(&ring);
  return -error;
}

enum { BUFFERS = 8, BUFFER_BYTES = 256, PAGE_BYTES = 4096 };

/* On a page of its own. */
struct receiving {
  struct io_uring_buf entries[BUFFERS];
  char memory[BUFFERS][BUFFER_BYTES];
};

/* One datagram through a multishot receive (6.0): it comes, and more may. */
static bool try_multishot(struct io_uring *ring) {
  struct msghdr message = {0};
  struct io_uring_cqe *cqe = NULL;
  struct __kernel_timespec second = {.tv_sec = 1};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
  io_uring_prep_recvmsg_multishot(sqe, ends[0], &message, 0);
  sqe->flags |= IOSQE_BUFFER_SELECT;
  bool came = io_uring_submit(ring) == 1 && write(ends[1], "x", 1) == 1 &&
              io_uring_wait_cqe_timeout(ring, &cqe, &second) == 0 && cqe->res > 0 && (cqe->flags & IORING_CQE_F_MORE);
  if (cqe)
    io_uring_cqe_seen(ring, cqe);
  close(ends[0]);
  close(ends[1]);
  return came;
}

/* A ring of provided buffers (5.19), and a receive that picks from it again and again. */
static void try_receiving(struct io_uring *ring, bool *buffer_rings, bool *multishot) {
  struct receiving *r = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
  struct io_uring_buf_ring *buffers = (struct io_uring_buf_ring *)(void *)r;
  _Static_assert(sizeof *r <= PAGE_BYTES, "one page");
  if (!r)
    return;
  memset(r, 0, sizeof *r);
  struct io_uring_buf_reg registration = {.ring_addr = (uint64_t)(uintptr_t)buffers, .ring_entries = BUFFERS};
  *buffer_rings = io_uring_register_buf_ring(ring, &registration, 0) == 0;
  if (*buffer_rings) {
    io_uring_buf_ring_init(buffers);
    for (int i = 0; i < BUFFERS; i++)
      io_uring_buf_ring_add(buffers, r->memory[i], BUFFER_BYTES, (unsigned short)i, io_uring_buf_ring_mask(BUFFERS), i);
    io_uring_buf_ring_advance(buffers, BUFFERS);
    *multishot = try_multishot(ring);
    io_uring_unregister_buf_ring(ring, 0);
  }
  free(r);
}

static bool try_operations(struct io_uring *ring) {
  static const int needed[] = {IORING_OP_RECVMSG, IORING_OP_SENDMSG, IORING_OP_TIMEOUT};
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
  check->why = "UDP links use it from the io thread; without it they fall back to plain calls";
  int error = -io_uring_queue_init(8, &ring, 0);
  if (error) {
    check->health = ORR_HEALTH_WARN;
    snprintf(check->finding, sizeof check->finding, "not available: %s", strerror(error));
    snprintf(check->mend, sizeof check->mend, "%s",
             error == ENOSYS ? "boot a kernel from 6.0 on"
                             : "echo 0 > /proc/sys/kernel/io_uring_disabled; check seccomp");
    return;
  }
  bool buffer_rings = false, multishot = false;
  try_receiving(&ring, &buffer_rings, &multishot);
  const struct {
    const char *name;
    bool there;
  } features[] = {
      {"operations", try_operations(&ring)},
      {"buffer rings", buffer_rings},
      {"multishot receive", multishot},
      {"SINGLE_ISSUER", try_ring(IORING_SETUP_SINGLE_ISSUER) == 0},
      {"DEFER_TASKRUN", try_ring(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) == 0},
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
