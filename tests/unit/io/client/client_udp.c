/* The client over UDP takes frames in turn, whatever the order in which the network brings them. In lockstep that is
 * flown through a network that loses and reorders, by tests/e2e/lossy.sh. */
#undef _FORTIFY_SOURCE /* its recv is an inline function, and the one here takes the place of that of the C library */

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client.h"
#include "io/links/packets/udp.h"
#include "tests/support/clock.h"
#include "tests/support/flight.h"
#include "tests/support/port.h"

static const char pattern[] =
    ORR_FLIGHT_CRAFT "links: {fsw: {transport: udp, listen: '127.0.0.1:%u', allow: [127.0.0.1], rate: 10 Hz, "
                     "telemetry: [gyro.rate], commands: [wheel.torque]}}\n";

/* The network: in place of the C library's function. What is held comes when it is let go, by its place. */
enum { HELD_MAX = 32, ROOM = 2000 };
static struct {
  bool holds;
  int fd, count;
  ssize_t bytes[HELD_MAX];
  uint8_t held[HELD_MAX][ROOM];
  int order[HELD_MAX], next, last; /* those that come now */
} network;

ssize_t recv(int fd, void *to, size_t room, int flags) {
  if (!network.holds || fd != network.fd)
    return recvfrom(fd, to, room, flags, NULL, NULL);
  if (network.next == network.last)
    return recvfrom(-1, to, room, flags, NULL, NULL); /* nothing: an error that is no refusal */
  int i = network.order[network.next++];
  memcpy(to, network.held[i], (size_t)network.bytes[i]);
  return network.bytes[i];
}

static void hold(int fd, int count) {
  network.holds = true;
  network.fd = fd;
  for (int tries = 0; network.count < count && tries < 5000; tries++) {
    ssize_t got = recvfrom(fd, network.held[network.count], ROOM, MSG_DONTWAIT, NULL, NULL);
    struct orr_wire_packet p;
    const uint8_t *piece;
    size_t bytes;
    if (got < 0)
      nap_ms(1);
    else if (orr_wire_packet_read(network.held[network.count], (size_t)got, &p, &piece, &bytes) && p.id == 0x0e80)
      network.bytes[network.count++] = got;
  }
  assert_int_equal(network.count, count);
}

static void let_go(const int *order, int count) {
  memcpy(network.order, order, sizeof *order * (size_t)count);
  network.next = 0;
  network.last = count;
}

static void take(struct orr_client *c, uint64_t frame) {
  assert_int_equal(orr_client_wait(c, ORR_CLIENT_POLL, 0), 1);
  assert_int_equal(c->frame.number, frame);
}

/* Ten frames of a run in real time, held in the network. */
static void open_held(struct orr_flight *flight, struct orr_client *c) {
  char text[2000], url[60], message[200];
  unsigned port = orr_port_free();
  memset(&network, 0, sizeof network);
  snprintf(text, sizeof text, pattern, port);
  snprintf(url, sizeof url, "udp:127.0.0.1:%u", port);
  *flight = orr_flight_make(text, NULL);
  if (!orr_session_open_links(flight->session, false, NULL, message, sizeof message))
    fail_msg("%s", message);
  assert_int_equal(orr_client_open(c, url, 5000), 0);
  const struct orr_packets *udp = orr_packets_of(flight->session->links[0].outside->carrier);
  for (int i = 0; i < 5000 && !atomic_load(&udp->peers); i++)
    nap_ms(1);
  orr_flight_run(flight, 100);
  hold(c->fd, 10);
}

static void frames_that_overtook_each_other_are_taken_in_turn(void **state) {
  (void)state;
  struct orr_flight flight;
  struct orr_client c;
  open_held(&flight, &c);
  let_go((const int[]){1, 0, 3, 3, 2, 7, 6, 5, 4, 0, 9, 8}, 12);
  for (uint64_t k = 0; k < 10; k++)
    take(&c, 10 * k);
  assert_int_equal(orr_client_wait(&c, ORR_CLIENT_POLL, 0), 0);
  assert_int_equal(c.missed, 0);
  assert_int_equal(c.late, 0);
  orr_client_close(&c);
  orr_flight_free(&flight);
}

static void in_real_time_what_is_late_is_left_out_and_counted(void **state) {
  (void)state;
  struct orr_flight flight;
  struct orr_client c;
  open_held(&flight, &c);
  let_go((const int[]){2, 0}, 2);
  take(&c, 0);
  take(&c, 20); /* nothing more is there: it is not held back for the one between */
  assert_int_equal(c.missed, 1);
  let_go((const int[]){1, 1, 0, 5}, 4);
  take(&c, 50);
  assert_int_equal(c.missed, 3);
  assert_int_equal(c.late, 1); /* one frame, twice; the copy of another is none */
  let_go((const int[]){3, 4, 3, 6}, 4);
  take(&c, 60);
  assert_int_equal(c.missed, 3);
  assert_int_equal(c.late, 3);
  orr_client_close(&c);
  orr_flight_free(&flight);
}

/* But sequence and time in the headers, which nobody reads. */
static void a_frame_with_a_byte_of_its_head_changed_is_as_one_that_was_lost(void **state) {
  (void)state;
  static const int bytes[] = {0, 1, 4, 5, 12, 13, 14, 15};
  static const uint8_t changes[] = {1, ORR_WIRE_OUT_ENDED, ORR_WIRE_OUT_LOCKSTEP, ORR_WIRE_OUT_AWAITED, 0xff};
  struct orr_flight flight;
  struct orr_client c;
  open_held(&flight, &c);
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
    for (size_t k = 0; k < sizeof changes; k++) {
      network.held[0][bytes[i]] ^= changes[k];
      let_go((const int[]){0}, 1);
      if (orr_client_wait(&c, ORR_CLIENT_POLL, 0) != 0)
        fail_msg("byte %d changed by 0x%02x: frame %llu, flags 0x%llx", bytes[i], changes[k],
                 (unsigned long long)c.frame.number, (unsigned long long)c.frame.flags);
      network.held[0][bytes[i]] ^= changes[k];
    }
  for (int i = 6; i < 12; i++)
    network.held[0][i] ^= 0xff;
  let_go((const int[]){0}, 1);
  take(&c, 0);
  assert_int_equal(c.frame.flags, 0);
  orr_client_close(&c);
  orr_flight_free(&flight);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_that_overtook_each_other_are_taken_in_turn),
      cmocka_unit_test(in_real_time_what_is_late_is_left_out_and_counted),
      cmocka_unit_test(a_frame_with_a_byte_of_its_head_changed_is_as_one_that_was_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
