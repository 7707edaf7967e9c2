/* io/links/packets/arrival: a stamp is of when a packet came, and not of when it was read. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/links/packets/arrival.h"
#include "rt/tick/clock.h"

enum { LATER_NS = 50000000, SLACK_NS = 5000000 /* the clocks may be slewed apart */ };

struct came {
  int64_t sent_ns, read_ns, arrived_ns;
};

/* A datagram to itself, read a while later. */
static struct came send_and_read(int fd, bool asked) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  _Alignas(struct cmsghdr) char control[ORR_ARRIVAL_ROOM], text[8];
  struct iovec piece = {text, sizeof text};
  struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct came out;
  assert_int_equal(bind(fd, (struct sockaddr *)&here, size), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &size), 0);
  if (asked)
    orr_arrival_ask(fd);
  assert_int_equal(sendto(fd, "hello", 5, 0, (struct sockaddr *)&here, size), 5);
  out.sent_ns = orr_clock_now_ns();
  orr_clock_sleep_until(out.sent_ns + LATER_NS);
  out.read_ns = orr_clock_now_ns();
  assert_int_equal(recvmsg(fd, &m, 0), 5);
  out.arrived_ns = orr_arrival_of_message(&m);
  return out;
}

/* The kernel begins to stamp when the first socket asks, by a thread of its own that a busy machine keeps waiting;
 * until then its stamp is of the reading. */
static void the_stamp_is_of_the_arrival(void **state) {
  (void)state;
  int asks = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  assert_true(asks >= 0);
  orr_arrival_ask(asks);
  struct came c = {0};
  for (int i = 0; i < 200 && c.arrived_ns >= c.read_ns - LATER_NS / 2; i++) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    c = send_and_read(fd, true);
    close(fd);
  }
  close(asks);
  assert_true(c.arrived_ns <= c.sent_ns + SLACK_NS);
  assert_true(c.arrived_ns < c.read_ns - LATER_NS / 2);
}

static void without_a_stamp_it_is_now(void **state) {
  (void)state;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  const struct came c = send_and_read(fd, false);
  close(fd);
  assert_true(c.arrived_ns >= c.read_ns);
}

/* The wall clock was set meanwhile: what it says makes no sense. */
static void a_stamp_that_cannot_be_is_not_believed(void **state) {
  (void)state;
  _Alignas(struct cmsghdr) char room[ORR_ARRIVAL_ROOM] = {0};
  struct cmsghdr *c = (struct cmsghdr *)room;
  struct timespec stamp;
  static const int off_s[] = {-3600, 3600};
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_TIMESTAMPNS;
  c->cmsg_len = CMSG_LEN(sizeof stamp);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &stamp), 0);
    stamp.tv_sec += off_s[i];
    memcpy(CMSG_DATA(c), &stamp, sizeof stamp);
    int64_t before_ns = orr_clock_now_ns(), at_ns = orr_arrival_at(c);
    assert_true(at_ns >= before_ns && at_ns <= orr_clock_now_ns());
  }
  c->cmsg_type = SCM_RIGHTS;
  assert_int_equal(orr_arrival_at(c), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_stamp_is_of_the_arrival),
      cmocka_unit_test(without_a_stamp_it_is_now),
      cmocka_unit_test(a_stamp_that_cannot_be_is_not_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
