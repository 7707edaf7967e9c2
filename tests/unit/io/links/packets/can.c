/* The carrier `can`, with a stand-in for the bus at the border of the system: a socket of messages in place of the
 * kernel's. What is asked of the kernel, what goes out and comes in, what waits, what is counted. */
#undef _FORTIFY_SOURCE /* its calls are inline functions, and those here take the place of the C library's */
#include <errno.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/links/packets/can.h"
#include "tests/support/flight.h"

/* ---- a kernel with a bus ----------------------------------------------------------------------------------------- */

enum { FILTERS = 8 };

static struct {
  int ours, bus; /* two ends */
  int mtu, full; /* so many writes find no room */
  bool down, fd_frames, stamps;
  struct can_filter filters[FILTERS];
  size_t filter_count;
  can_err_mask_t errors;
  int64_t lay_ns;
  int index;
} kernel;

int socket(int domain, int type, int protocol) {
  if (domain != PF_CAN)
    return (int)syscall(SYS_socket, domain, type, protocol);
  int fds[2];
  assert_int_equal(type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), SOCK_RAW);
  assert_int_equal(protocol, CAN_RAW);
  assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
  kernel.ours = fds[0];
  kernel.bus = fds[1];
  return fds[0];
}

int setsockopt(int fd, int level, int what, const void *value, socklen_t size) {
  if (level == SOL_CAN_RAW && what == CAN_RAW_FILTER) {
    kernel.filter_count = size / sizeof *kernel.filters;
    memcpy(kernel.filters, value, size);
  } else if (level == SOL_CAN_RAW && what == CAN_RAW_ERR_FILTER) {
    memcpy(&kernel.errors, value, sizeof kernel.errors);
  } else if (level == SOL_CAN_RAW && what == CAN_RAW_FD_FRAMES) {
    kernel.fd_frames = true;
  } else if (level == SOL_SOCKET && what == SO_TIMESTAMPNS) {
    kernel.stamps = true;
  } else {
    return (int)syscall(SYS_setsockopt, fd, level, what, value, size);
  }
  return 0;
}

unsigned if_nametoindex(const char *name) { return strcmp(name, "vcan3") == 0 ? 3 : 0; }

int ioctl(int fd, unsigned long what, ...) {
  va_list all;
  va_start(all, what);
  struct ifreq *r = va_arg(all, struct ifreq *);
  va_end(all);
  (void)fd;
  if (what == SIOCGIFMTU)
    r->ifr_mtu = kernel.mtu;
  else if (what == SIOCGIFFLAGS)
    r->ifr_flags = kernel.down ? 0 : IFF_UP;
  else
    return -1;
  return 0;
}

int bind(int fd, __CONST_SOCKADDR_ARG to, socklen_t size) {
  struct sockaddr_can at;
  if (to.__sockaddr__->sa_family != AF_CAN)
    return (int)syscall(SYS_bind, fd, to.__sockaddr__, size);
  memcpy(&at, to.__sockaddr__, sizeof at);
  kernel.index = at.can_ifindex;
  return 0;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  if (fd == kernel.ours && kernel.ours > 0 && kernel.full > 0) {
    kernel.full--;
    errno = ENOBUFS;
    return -1;
  }
  return syscall(SYS_write, fd, bytes, size);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags) {
  if (kernel.down) {
    kernel.down = false;
    errno = ENETDOWN;
    return -1;
  }
  void *control = m->msg_control;
  size_t room = m->msg_controllen;
  ssize_t n = syscall(SYS_recvmsg, fd, m, flags);
  if (n <= 0 || !kernel.stamps || room < CMSG_SPACE(sizeof(struct timespec)))
    return n;
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  int64_t ns = t.tv_sec * INT64_C(1000000000) + t.tv_nsec - kernel.lay_ns;
  t = (struct timespec){ns / 1000000000, ns % 1000000000};
  m->msg_control = control;
  m->msg_controllen = CMSG_SPACE(sizeof t);
  struct cmsghdr *h = CMSG_FIRSTHDR(m);
  *h = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPNS, .cmsg_len = CMSG_LEN(sizeof t)};
  memcpy(CMSG_DATA(h), &t, sizeof t);
  return n;
}

/* ---- a run on it ------------------------------------------------------------------------------------------------- */

static const char run_text[] = ORR_FLIGHT_CRAFT
    "links:\n"
    "  fsw:\n"
    "    transport: can\n"
    "    interface: vcan3\n"
    "    fd: %s\n"
    "    rate: 100 Hz\n"
    "    telemetry: [gyro.rate]\n"
    "    commands: [wheel.torque, jet.on_time]\n"
    "    layout:\n"
    "      packets:\n"
    "        rate: {id: 0x123, direction: telemetry, fields: [{channel: gyro.rate.z, type: i16, lsb: 0.01 rad/s}, "
    "{constant: 0xa5, type: u8}]}\n"
    "        torque: {id: 0x18daf110, extended: true, direction: commands, fields: [{channel: wheel.torque, type: i16, "
    "lsb: 1 mN m}]}\n"
    "        jet: {id: 0x456, direction: commands, answers: false, fields: [{channel: jet.on_time, type: u8, lsb: 1 "
    "ms}, {at: 3, checksum: xor, type: u8}]}\n"
    "        ask: {id: 0x457, direction: commands, fields: [{constant: 7, type: u8}]}\n"
    "        told: {id: 0x458, direction: telemetry, on: request ask, fields: [{counter: packets, type: u8}]}\n";

struct rig {
  struct orr_flight flight;
  struct orr_port *port;
  struct orr_can *can;
  uint8_t scratch[ORR_WIRE_PACKET_MAX], reply[ORR_WIRE_PACKET_MAX];
};

/* The io thread's work is done here, so that nothing comes at a time of its own. */
static void make(struct rig *r, bool fd) {
  char text[4000];
  memset(&kernel, 0, sizeof kernel);
  kernel.mtu = CANFD_MTU;
  snprintf(text, sizeof text, run_text, fd ? "on" : "off");
  r->flight = orr_flight_make(text, NULL);
  r->port = r->flight.session->links[0].room;
  r->can = orr_can_of(r->port->carrier);
}

static bool open_port(struct rig *r, char *message, size_t size) {
  return orr_port_open(r->port, r->flight.plant->step_ns, false, message, size);
}

static void begin(struct rig *r, bool fd) {
  char message[400];
  make(r, fd);
  if (!open_port(r, message, sizeof message))
    fail_msg("%s", message);
}

static void done(struct rig *r) {
  close(kernel.bus);
  orr_port_close(r->port);
  orr_flight_free(&r->flight);
}

static void publish(struct rig *r, int64_t frame) {
  uint32_t piece = 0;
  orr_port_publish(r->port, frame, frame * 10000000, r->flight.plant->values);
  for (size_t n; (n = orr_packets_send(&r->can->packets, &piece, r->scratch)) > 0;)
    r->can->packets.mover->push(&r->can->packets, r->scratch, n);
}

static bool pull(struct rig *r) { return r->can->packets.mover->pull(&r->can->packets, r->scratch, r->reply); }

/* What a node of the bus sends; `size` as the kernel counts it. */
static void send_from_bus(canid_t id, const uint8_t *data, uint8_t n, size_t size) {
  struct canfd_frame f = {.can_id = id, .len = n};
  for (size_t i = 0; data && i < n; i++)
    f.data[i] = data[i];
  assert_int_equal(syscall(SYS_write, kernel.bus, &f, size), size);
}

static ssize_t next_on_bus(struct canfd_frame *f) {
  memset(f, 0xff, sizeof *f);
  return recv(kernel.bus, f, sizeof *f, MSG_DONTWAIT);
}

static uint64_t refused(const struct rig *r, enum orr_refusal why) { return orr_port_counts(r->port).refused[why]; }

static void the_kernel_is_asked_for_commands_errors_and_stamps(void **state) {
  (void)state;
  struct rig r;
  begin(&r, true);
  assert_int_equal(kernel.index, 3);
  assert_true(kernel.stamps && kernel.fd_frames);
  assert_int_equal(kernel.errors, CAN_ERR_MASK);
  static const struct can_filter wanted[] = {{0x18daf110 | CAN_EFF_FLAG, CAN_EFF_MASK | CAN_EFF_FLAG | CAN_RTR_FLAG},
                                             {0x456, CAN_SFF_MASK | CAN_EFF_FLAG | CAN_RTR_FLAG},
                                             {0x457, CAN_SFF_MASK | CAN_EFF_FLAG | CAN_RTR_FLAG}};
  assert_int_equal(kernel.filter_count, 3);
  assert_memory_equal(kernel.filters, wanted, sizeof wanted);
  done(&r);
}

static void frames_go_out_as_the_kernel_has_them(void **state) {
  (void)state;
  for (int fd = 0; fd < 2; fd++) {
    struct rig r;
    struct canfd_frame f;
    begin(&r, fd);
    publish(&r, 0);
    assert_int_equal(next_on_bus(&f), fd ? CANFD_MTU : CAN_MTU);
    assert_int_equal(f.can_id, 0x123);
    assert_int_equal(f.len, 3);
    assert_int_equal(f.flags, fd ? CANFD_BRS : 0);
    assert_memory_equal(f.data, ((const uint8_t[]){0, 10, 0xa5, 0, 0, 0, 0, 0}), 8); /* 0.1 rad/s */
    assert_int_equal(next_on_bus(&f), -1);
    done(&r);
  }
}

static void commands_come_in_and_wait_for_the_one_that_answers(void **state) {
  (void)state;
  struct rig r;
  begin(&r, false);
  publish(&r, 0);
  send_from_bus(0x456, (const uint8_t[]){5, 0, 0, 5}, 4, CAN_MTU);
  send_from_bus(0x18daf110 | CAN_EFF_FLAG, (const uint8_t[]){0xff, 0xf6}, 2, CANFD_MTU); /* either kind is taken */
  assert_true(pull(&r));
  publish(&r, 1);
  assert_int_equal(orr_port_latch(r.port, 1, r.flight.plant->values), ORR_PORT_GOES_ON);
  assert_true(orr_flight_value(&r.flight, "wheel.torque") == -0.01);
  assert_true(orr_flight_value(&r.flight, "jet.on_time") == 0.005);
  assert_int_equal(orr_port_counts(r.port).applied, 1);
  done(&r);
}

static void a_request_is_answered_at_once(void **state) {
  (void)state;
  struct rig r;
  struct canfd_frame f;
  begin(&r, false);
  publish(&r, 0);
  assert_int_equal(next_on_bus(&f), CAN_MTU);
  for (int i = 0; i < 2; i++) {
    send_from_bus(0x457, (const uint8_t[]){7}, 1, CAN_MTU);
    assert_true(pull(&r));
    assert_int_equal(next_on_bus(&f), CAN_MTU);
    assert_int_equal(f.can_id, 0x458);
    assert_int_equal(f.data[0], i);
  }
  done(&r);
}

static void what_is_no_command_is_counted(void **state) {
  (void)state;
  struct rig r;
  uint8_t bytes[CANFD_MTU] = {0};
  begin(&r, false);
  publish(&r, 0);
  send_from_bus(0x7ff, (const uint8_t[]){0xff, 0xf6}, 2, CAN_MTU);                  /* nobody's */
  send_from_bus(0x18daf110, (const uint8_t[]){0xff, 0xf6}, 2, CAN_MTU);             /* without its bit 31 */
  send_from_bus(0x18daf110 | CAN_EFF_FLAG, (const uint8_t[]){1, 2, 3}, 3, CAN_MTU); /* of another length */
  send_from_bus(0x18daf110 | CAN_EFF_FLAG | CAN_RTR_FLAG, NULL, 2, CAN_MTU);        /* asks, and has no data */
  send_from_bus(0x456, (const uint8_t[]){5, 0, 0, 6}, 4, CAN_MTU);                  /* its sum is wrong */
  send_from_bus(0x456, NULL, 9, CAN_MTU);                                           /* longer than a frame */
  send_from_bus(0x456, NULL, 65, CANFD_MTU);
  send_from_bus(CAN_ERR_FLAG | CAN_ERR_BUSOFF, bytes, 8, CAN_MTU);
  send_from_bus(CAN_ERR_FLAG | CAN_ERR_ACK, bytes, 8, CAN_MTU);
  while (pull(&r))
    ;
  assert_int_equal(orr_can_take(r.can, bytes, 15, r.reply), 0);
  assert_int_equal(orr_can_take(r.can, bytes, 0, r.reply), 0);
  const struct orr_link_losses lost = orr_port_losses(r.port);
  assert_int_equal(lost.error_frames, 2);
  assert_int_equal(lost.bus_off, 1);
  assert_int_equal(refused(&r, ORR_REFUSAL_OTHER_ID), 4);
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 5);
  assert_int_equal(orr_port_counts(r.port).applied, 0);
  done(&r);
}

static void what_the_bus_does_not_take_waits_in_turn(void **state) {
  (void)state;
  enum { OVER = 3 };
  struct rig r;
  struct canfd_frame f;
  begin(&r, false);
  kernel.full = 1000;
  for (int i = 0; i < ORR_CAN_WAITING + OVER; i++)
    publish(&r, i);
  assert_int_equal(next_on_bus(&f), -1);
  assert_int_equal(orr_port_losses(r.port).full, OVER);
  kernel.full = 0;
  (void)pull(&r);
  int count = 0;
  while (next_on_bus(&f) == CAN_MTU)
    count++;
  assert_int_equal(count, ORR_CAN_WAITING);
  assert_false(pull(&r));
  done(&r);
}

static void stamps_tell_how_long_what_came_lay(void **state) {
  (void)state;
  struct rig r;
  begin(&r, false);
  kernel.lay_ns = 250000000;
  send_from_bus(0x456, (const uint8_t[]){5, 0, 0, 5}, 4, CAN_MTU);
  (void)pull(&r);
  assert_true(orr_port_losses(r.port).lay_ns >= 250000000);
  done(&r);
}

static void an_interface_that_goes_down_is_told_and_taken_again(void **state) {
  (void)state;
  struct rig r;
  begin(&r, false);
  publish(&r, 0);
  kernel.down = true;
  (void)pull(&r);
  assert_int_equal(orr_port_losses(r.port).downs, 1);
  send_from_bus(0x18daf110 | CAN_EFF_FLAG, (const uint8_t[]){0, 20}, 2, CAN_MTU);
  assert_true(pull(&r));
  publish(&r, 1);
  assert_int_equal(orr_port_latch(r.port, 1, r.flight.plant->values), ORR_PORT_GOES_ON);
  assert_true(orr_flight_value(&r.flight, "wheel.torque") == 0.02);
  done(&r);
}

static void what_is_wrong_with_an_interface_is_told(void **state) {
  (void)state;
  struct rig r;
  char message[400];
  make(&r, true);
  kernel.mtu = CAN_MTU;
  assert_false(open_port(&r, message, sizeof message));
  assert_non_null(strstr(message, "can:vcan3,fd: 'vcan3' has no CAN FD"));
  close(kernel.bus);
  kernel.mtu = CANFD_MTU;
  kernel.down = true;
  assert_false(open_port(&r, message, sizeof message));
  assert_non_null(strstr(message, "'vcan3' is down"));
  close(kernel.bus);
  orr_flight_free(&r.flight);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_kernel_is_asked_for_commands_errors_and_stamps),
      cmocka_unit_test(frames_go_out_as_the_kernel_has_them),
      cmocka_unit_test(commands_come_in_and_wait_for_the_one_that_answers),
      cmocka_unit_test(a_request_is_answered_at_once),
      cmocka_unit_test(what_is_no_command_is_counted),
      cmocka_unit_test(what_the_bus_does_not_take_waits_in_turn),
      cmocka_unit_test(stamps_tell_how_long_what_came_lay),
      cmocka_unit_test(an_interface_that_goes_down_is_told_and_taken_again),
      cmocka_unit_test(what_is_wrong_with_an_interface_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
