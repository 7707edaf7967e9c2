#include "io/links/packets/arrival.h"

#include <string.h>

#include "rt/tick/clock.h"

void orr_arrival_ask(int fd) { setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &(int){1}, sizeof(int)); }

/* The kernel stamps by the wall clock, which may jump: by how long ago it was, and not if that makes no sense. */
static int64_t monotonic(const struct timespec *stamp) {
  enum { MOST_S = 10 };
  struct timespec wall;
  int64_t now_ns = orr_clock_now_ns();
  if (clock_gettime(CLOCK_REALTIME, &wall) != 0)
    return now_ns;
  int64_t since_s = (int64_t)wall.tv_sec - (int64_t)stamp->tv_sec;
  if (since_s < -1 || since_s > MOST_S)
    return now_ns;
  int64_t since_ns = since_s * ORR_NS_PER_S + (wall.tv_nsec - stamp->tv_nsec);
  return since_ns > 0 ? now_ns - since_ns : now_ns;
}

int64_t orr_arrival_at(const struct cmsghdr *message) {
  struct timespec stamp;
  if (message->cmsg_level != SOL_SOCKET || message->cmsg_type != SCM_TIMESTAMPNS ||
      message->cmsg_len < CMSG_LEN(sizeof stamp))
    return 0;
  memcpy(&stamp, CMSG_DATA(message), sizeof stamp);
  return monotonic(&stamp);
}

int64_t orr_arrival_of_message(struct msghdr *message) {
  int64_t at_ns = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c && at_ns == 0; c = CMSG_NXTHDR(message, c))
    at_ns = orr_arrival_at(c);
  return at_ns ? at_ns : orr_clock_now_ns();
}
