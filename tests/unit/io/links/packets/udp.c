/* A run with flight software over UDP: packets, the relay's thread, packets that are lost. A hostile peer is in
 * port_faults.c, a flood in tests/timing/io/links/packets/relay_flood.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
#include "tools/run/links_report.h"

static const char pattern[] = ORR_FLIGHT_CRAFT
    "links: {fsw: {transport: udp, listen: '127.0.0.1:%d', allow: [127.0.0.1], mtu: %d, rate: 10 Hz, telemetry: %s, "
    "commands: ['*.torque', jet.on_time], lockstep: {timeout: 60 s}}}\n";

struct rig {
  struct orr_flight flight;
  struct orr_port *port;
  char url[60];
};

struct shape {
  const char *telemetry;
  int mtu;
  bool lockstep, plain;
};

static const struct shape ordinary = {"[gyro.*]", 1500, false, false};

static struct rig make(struct shape s) {
  struct rig r;
  char text[2000], message[200];
  uint16_t port = orr_port_free();
  snprintf(text, sizeof text, pattern, port, s.mtu, s.telemetry);
  r.flight = orr_flight_make(text, NULL);
  snprintf(r.url, sizeof r.url, "udp:127.0.0.1:%d", port);
  r.flight.session->relay.plain = s.plain;
  if (!orr_session_open_links(r.flight.session, s.lockstep, NULL, message, sizeof message))
    fail_msg("%s", message);
  r.port = r.flight.session->links[0].outside;
  return r;
}

static void done(struct rig *r) { orr_flight_free(&r->flight); }

static void fly(struct rig *r) { orr_flight_run(&r->flight, 10); }

static double torque(const struct rig *r) { return orr_flight_value(&r->flight, "wheel.torque"); }

static void await_command(const struct rig *r, uint64_t count) {
  for (int i = 0; i < 2000 && orr_ring_used(&orr_packets_of(r->port->carrier)->in) < count; i++)
    nap_ms(1);
  assert_int_equal(orr_ring_used(&orr_packets_of(r->port->carrier)->in), count);
}

static void answer(struct orr_client *c, double value) {
  assert_int_equal(orr_client_wait(c, ORR_CLIENT_FUTEX, 60000), 1);
  assert_true(orr_client_set(c, orr_client_find(c, "wheel.torque"), 0, value));
  assert_int_equal(orr_client_send(c), 0);
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static void the_checksum_is_that_of_rfc_3720(void **state) {
  (void)state;
  uint8_t bytes[32] = {0};
  assert_int_equal(orr_wire_crc(bytes, 32), 0x8a9136aa);
  memset(bytes, 0xff, 32);
  assert_int_equal(orr_wire_crc(bytes, 32), 0x62a8ab43);
  for (uint8_t i = 0; i < 32; i++)
    bytes[i] = i;
  assert_int_equal(orr_wire_crc(bytes, 32), 0x46dd794e);
  assert_int_equal(orr_wire_crc((const uint8_t *)"123456789", 9), 0xe3069283);
}

static void packets_are_laid_out_as_cfe_has_them(void **state) {
  (void)state;
  uint8_t bytes[200] = {0};
  const struct orr_wire_packet t = {
      .id = 0x0881, .count = 0x4005, .flags = 2, .frame = 7, .answered = 6, .time_ns = INT64_C(3500000000)};
  const double piece = 1.5;
  size_t n = orr_wire_packet_write(bytes, &t, &piece, 8);
  const uint8_t head[16] = {0x08, 0x81, 0xc0, 0x05, 0, 52 - 7, 0, 0, 0, 3, 0x80, 0, 0x08, 0x81, 0, 2};
  assert_int_equal(n, 52);
  assert_memory_equal(bytes, head, 16);
  assert_int_equal(bytes[16], 7);
  assert_memory_equal(bytes + 40, &piece, 8);
  const struct orr_wire_packet c = {.id = 0x1881, .count = 1, .function = 3, .frame = 9};
  n = orr_wire_packet_write(bytes, &c, &piece, 8);
  assert_int_equal(n, 44);
  assert_int_equal(bytes[6], 3);
  assert_int_equal(orr_wire_xor(bytes, n), 0);
}

/* Sequence count and time in telemetry's headers, which cFE's tools write anew: nobody reads them. */
static bool is_rewritten(size_t bit) {
  return (bit / 8 == 2 && bit % 8 < 6) || bit / 8 == 3 || (bit >= 48 && bit < 96);
}

static void a_packet_with_any_one_bit_wrong_is_refused(void **state) {
  (void)state;
  const uint8_t payload[16] = {1, 2, 3};
  for (int command = 0; command < 2; command++) {
    uint8_t bytes[200] = {0};
    const uint8_t *piece = NULL;
    size_t piece_bytes = 0;
    struct orr_wire_packet p = {.id = command ? 0x1881 : 0x0881, .frame = 5, .answered = 4, .time_ns = 3};
    size_t n = orr_wire_packet_write(bytes, &p, payload, sizeof payload);
    assert_true(orr_wire_packet_read(bytes, n, &p, &piece, &piece_bytes));
    assert_int_equal(piece_bytes, 16);
    assert_memory_equal(piece, payload, 16);
    assert_int_equal(p.answered, 4);
    assert_false(orr_wire_packet_read(bytes, n - 1, &p, &piece, &piece_bytes));
    for (size_t bit = 0; bit < 8 * n; bit++) {
      bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
      assert_int_equal(orr_wire_packet_read(bytes, n, &p, &piece, &piece_bytes), !command && is_rewritten(bit));
      assert_true(command || p.flags == 0);
      bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
  }
}

static void with_any_one_byte_wrong_no_piece_of_a_description_is_a_word_of_the_run(void **state) {
  (void)state;
  const uint8_t text[8] = {1, 2, 3}, *piece = NULL;
  uint8_t bytes[200];
  size_t piece_bytes = 0;
  struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID, .frame = ORR_WIRE_OUT_ENDED, .answered = 1000};
  const size_t n = orr_wire_packet_write(bytes, &p, text, sizeof text);
  assert_true(orr_wire_packet_read(bytes, n, &p, &piece, &piece_bytes));
  for (size_t at = 0; at < n; at++)
    for (int change = 1; change < 256; change++) {
      bytes[at] ^= (uint8_t)change;
      assert_true(!orr_wire_packet_read(bytes, n, &p, &piece, &piece_bytes) || p.flags == 0);
      bytes[at] ^= (uint8_t)change;
    }
}

static void a_word_of_the_run_with_any_one_byte_wrong_is_no_other(void **state) {
  (void)state;
  const uint8_t *piece = NULL;
  uint8_t bytes[200];
  size_t piece_bytes = 0;
  const uint32_t taken = ORR_WIRE_OUT_TAKEN;
  struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID, .flags = taken, .frame = orr_wire_word_frame(taken)};
  const size_t n = orr_wire_packet_write(bytes, &p, NULL, 0);
  assert_true(orr_wire_packet_read(bytes, n, &p, &piece, &piece_bytes));
  for (size_t at = 0; at < n; at++)
    for (int change = 1; change < 256; change++) {
      bytes[at] ^= (uint8_t)change;
      if (orr_wire_packet_read(bytes, n, &p, &piece, &piece_bytes))
        assert_true(p.flags == taken || p.flags == 0); /* without flags: a piece that nobody asks for */
      bytes[at] ^= (uint8_t)change;
    }
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void fly_and_answer(struct shape shape) {
  struct rig r = make(shape);
  struct orr_client c;
  assert_int_equal(r.flight.session->relay.plain, shape.plain);
  assert_int_equal(orr_client_open(&c, r.url, 2000), 0);
  struct orr_signal rate = orr_client_find(&c, "gyro.rate");
  assert_int_equal(rate.count, 3);
  assert_int_equal(orr_client_send(&c), -EAGAIN);
  for (int i = 0; i < 2000 && !atomic_load(&orr_packets_of(r.port->carrier)->peers); i++)
    nap_ms(1);
  for (int i = 0; i < 20; i++) {
    fly(&r);
    answer(&c, 0.001 * i);
    assert_int_equal(c.frame.number, 10 * i);
    assert_int_equal(c.frame.time_ns, INT64_C(100000000) * i);
    assert_true(i < 2 ? c.frame.answered == ORR_WIRE_NONE || i : c.frame.answered == (uint64_t)(10 * (i - 2)));
    assert_true(i > 2 || fabs(orr_client_get(&c, rate, 2) - 0.1) < 1e-3);
    await_command(&r, 1);
    assert_true(torque(&r) == (i ? 0.001 * (i - 1) : 0));
  }
  struct orr_link_counts counts = orr_port_counts(r.port);
  assert_int_equal(counts.applied, 19);
  assert_int_equal(counts.late + counts.missed, 0);
  assert_int_equal(counts.peers, 1);
  done(&r);
  assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 1000), -EPIPE);
  orr_client_close(&c);
}

static void a_run_over_io_uring_answers_every_frame(void **state) {
  (void)state;
  struct rig r = make(ordinary);
  bool plain = r.flight.session->relay.plain;
  if (plain)
    print_message("%s\n", r.flight.session->relay.note);
  done(&r);
  if (plain)
    skip();
  fly_and_answer(ordinary);
}

/* Closes the io thread's ring under it, as nothing but a failing kernel would. */
static int close_rings(void) {
  int closed = 0;
  for (int fd = 3; fd < 64; fd++) {
    char path[40], to[80] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, to, sizeof to - 1) > 0 && strcmp(to, "anon_inode:[io_uring]") == 0)
      closed += close(fd) == 0;
  }
  return closed;
}

static void a_failure_of_the_io_thread_ends_the_run(void **state) {
  (void)state;
  struct rig r = make(ordinary);
  if (r.flight.session->relay.plain) {
    done(&r);
    skip();
  }
  fly(&r);
  assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
  assert_int_equal(close_rings(), 1);
  for (int i = 0; i < 2000 && !atomic_load(&r.flight.session->relay.failed); i++)
    nap_ms(1);
  assert_int_equal(atomic_load(&r.flight.session->relay.failed), EBADF);
  fly(&r);
  assert_int_equal(r.flight.session->end, ORR_PORT_BROKEN);
  char text[ORR_LINKS_END_TEXT];
  assert_string_equal(orr_links_end(r.flight.session, text),
                      "by the io thread of the links, which failed: Bad file descriptor");
  done(&r);
}

static void a_run_over_plain_sockets_answers_every_frame(void **state) {
  (void)state;
  struct shape plain = ordinary;
  plain.plain = true;
  fly_and_answer(plain);
}

/* All the truth there is, in datagrams of 128 bytes. */
static void a_frame_that_exceeds_the_mtu_goes_in_several_packets(void **state) {
  (void)state;
  struct shape cut = {"['*']", 128, false, false};
  struct rig r = make(cut);
  assert_in_range(orr_packets_of(r.port->carrier)->form->out_cut.pieces, 4, ORR_WIRE_PIECES_MAX);
  done(&r);
  fly_and_answer(cut);
}

/* ---- lockstep ---------------------------------------------------------------------------------------------------- */

static void fly_peer(const char *url, unsigned seed) {
  struct orr_client c;
  if (orr_client_open(&c, url, 5000) != 0)
    _exit(2);
  struct orr_signal rate = orr_client_find(&c, "gyro.rate"), wheel = orr_client_find(&c, "wheel.torque");
  int nowhere = socket(AF_INET, SOCK_DGRAM, 0);
  while (orr_client_wait(&c, ORR_CLIENT_FUTEX, 60000) == 1) {
    orr_client_set(&c, wheel, 0, 0.5 * orr_client_get(&c, rate, 2));
    if (seed && rand_r(&seed) % 10 == 0)
      nap_ms(3);
    int there = c.fd;
    if (seed && rand_r(&seed) % 20 == 0) { /* the answer is lost */
      c.fd = nowhere;
    }
    orr_client_send(&c);
    c.fd = there;
    if (seed && rand_r(&seed) % 20 == 0) { /* the next frame is lost */
      uint8_t lost[ORR_WIRE_PACKET_MAX];
      nap_ms(1);
      recv(c.fd, lost, sizeof lost, 0);
    }
  }
  _exit(0);
}

static uint64_t fly_lockstep(unsigned seed) {
  struct shape shape = ordinary;
  shape.lockstep = true;
  struct rig r = make(shape);
  pid_t peer = fork();
  if (peer == 0)
    fly_peer(r.url, seed);
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(orr_session_frame(r.flight.session), 0);
    assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
  }
  uint64_t hash = orr_session_hash(r.flight.session);
  assert_int_equal(orr_port_counts(r.port).applied, 99);
  assert_true(fabs(orr_flight_value(&r.flight, "gyro.rate")) < 0.09);
  done(&r);
  int status;
  waitpid(peer, &status, 0);
  assert_int_equal(status, 0);
  return hash;
}

static void lockstep_has_the_same_bits_with_a_slow_peer_and_lost_packets(void **state) {
  (void)state;
  assert_true(fly_lockstep(0) == fly_lockstep(7));
}

static double seconds_of(clockid_t clock) {
  struct timespec t = {0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Before what else this machine does, where that may be had: 0 gives it back. */
static void take_priority(int priority) {
  const struct sched_param param = {.sched_priority = priority};
  (void)pthread_setschedparam(pthread_self(), priority ? SCHED_FIFO : SCHED_OTHER, &param);
}

/* At its real-time priority nobody else would run on its core while it has something to do: four fifths of the time is
 * its own. */
static void an_io_thread_that_could_work_all_the_time_leaves_its_core_to_others(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    struct shape shape = ordinary;
    shape.plain = plain;
    struct rig r = make(shape);
    struct orr_client c;
    clockid_t its_own;
    const uint64_t head[ORR_WIRE_OUT_WORDS] = {0};
    assert_int_equal(orr_client_open(&c, r.url, 2000), 0);
    assert_int_equal(pthread_getcpuclockid(r.flight.session->relay.thread, &its_own), 0);
    take_priority(1);
    double begin_s = seconds_of(CLOCK_MONOTONIC), spent_s = -seconds_of(its_own), took_s;
    do /* more frames than it can send */
      orr_packets_publish(orr_packets_of(r.port->carrier), head, r.flight.session->plant->values);
    while ((took_s = seconds_of(CLOCK_MONOTONIC) - begin_s) < 0.5);
    spent_s += seconds_of(its_own);
    take_priority(0);
    bool real_time = r.flight.session->relay.priority > 0;
    print_message("busy for %.0f %% of the time\n", 100 * spent_s / took_s);
    orr_client_close(&c);
    done(&r);
    if (!real_time)
      skip(); /* then the kernel shares out the core */
    assert_true(spent_s < 0.9 * took_s);
  }
}

/* The last of them would be written beyond the buffer of a packet: its second piece has the longer head of
 * telemetry. */
static void a_client_refuses_message_ids_that_are_none(void **state) {
  (void)state;
  static const uint16_t wrong[][2] = {{0x0e80, 0x0e80}, {0x1e80, 0x1e80}, {0x2e80, 0x1e80},
                                      {0x0080, 0x1e80}, {0x0ffe, 0x1e80}, {0x0e80, 0x1fff}};
  struct rig r = make(ordinary);
  struct orr_client c;
  struct orr_wire_header *h = (struct orr_wire_header *)(void *)orr_packets_of(r.port->carrier)->description;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    h->telemetry_id = wrong[i][0];
    h->command_id = wrong[i][1];
    assert_int_equal(orr_client_open(&c, r.url, 2000), -EPROTO);
    orr_client_close(&c);
  }
  h->telemetry_id = 0x0e80;
  h->command_id = 0x1e80;
  assert_int_equal(orr_client_open(&c, r.url, 1000), 0);
  orr_client_close(&c);
  done(&r);
}

static void a_run_of_another_version_is_named_with_what_to_do(void **state) {
  (void)state;
  struct rig r = make(ordinary);
  struct orr_client c;
  char says[120];
  struct orr_wire_header *h = (struct orr_wire_header *)(void *)orr_packets_of(r.port->carrier)->description;
  for (uint32_t version = ORR_WIRE_VERSION - 1; version <= ORR_WIRE_VERSION + 1; version += 2) {
    h->version = version;
    assert_int_equal(orr_client_open(&c, r.url, 2000), -EPROTO);
    snprintf(says, sizeof says, "the run speaks version %u of the wire, this program version %d: build it", version,
             ORR_WIRE_VERSION);
    assert_non_null(strstr(c.error, says));
    assert_true(!strstr(c.error, "newer Orrery") == (version > ORR_WIRE_VERSION));
    orr_client_close(&c);
  }
  done(&r);
}

/* The places of payloads go round between relay, ring and rules: what waits for its boundary is in none that is filled
 * again, however many commands come meanwhile. */
static void a_command_that_waits_is_untouched_by_those_that_follow(void **state) {
  (void)state;
  enum { FRAMES_OUT = 4, SALVOS = 3, OTHERS = ORR_PACKETS_IN_SLOTS / 2 }; /* more than go round */
  struct rig r = make(ordinary);
  struct orr_client c;
  assert_int_equal(orr_client_open(&c, r.url, 1000), 0);
  for (int i = 0; i < 2000 && atomic_load(&orr_packets_of(r.port->carrier)->peers) == 0; i++)
    nap_ms(1); /* to nobody the relay sends nothing */
  fly(&r);
  for (int k = 0; k < FRAMES_OUT; k++) {
    answer(&c, 0.0005 * k);
    await_command(&r, 1);
    assert_int_equal(orr_session_frame(r.flight.session), ORR_OK); /* publishes, and takes it: it is due now */
    assert_true(torque(&r) == 0.0005 * k);
    assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 60000), 1);
    orr_client_set(&c, orr_client_find(&c, "wheel.torque"), 0, 0.07);
    assert_int_equal(orr_client_send(&c), 0);
    await_command(&r, 1);
    orr_packets_take(orr_packets_of(r.port->carrier), &r.port->rules); /* it waits */
    for (int i = 0; i < SALVOS * OTHERS; i++) {                        /* copies with another content: duplicates */
      orr_client_set(&c, orr_client_find(&c, "wheel.torque"), 0, -0.09);
      c.kept[0].answers = c.kept[1].answers = ORR_WIRE_NONE; /* our client would send the first answer again */
      assert_int_equal(orr_client_send(&c), 0);
      if ((i + 1) % OTHERS)
        continue;
      await_command(&r, OTHERS);
      orr_packets_take(orr_packets_of(r.port->carrier), &r.port->rules);
    }
    orr_flight_run(&r.flight, 9);
    assert_true(torque(&r) == 0.0005 * k);
    assert_int_equal(orr_session_frame(r.flight.session), ORR_OK);
    assert_true(torque(&r) == 0.07);
    orr_flight_run(&r.flight, 9);
  }
  assert_int_equal(r.port->rules.counts.refused[ORR_REFUSAL_DUPLICATE], SALVOS * OTHERS * FRAMES_OUT);
  orr_client_close(&c);
  done(&r);
}

/* The frame that a packet of the link carries, whose one number says the same. */
static uint64_t sent_frame(struct orr_packets *u) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint32_t piece = 0;
  struct orr_wire_packet p = {0};
  const uint8_t *bytes = packet;
  double number;
  size_t count, n = orr_packets_send(u, &piece, packet);
  if (n == 0)
    return ORR_WIRE_NONE;
  assert_true(orr_wire_packet_read(packet, n, &p, &bytes, &count));
  memcpy(&number, bytes, sizeof number);
  assert_true(number == (double)p.frame);
  return p.frame;
}

static void send_what_waits(struct orr_packets *u) {
  while (sent_frame(u) != ORR_WIRE_NONE) {
  }
}

static void assert_said_again(struct orr_packets *u, uint64_t newest) {
  orr_packets_repeat(u);
  assert_int_equal(sent_frame(u), newest - 1);
  assert_int_equal(sent_frame(u), newest);
  assert_true(sent_frame(u) == ORR_WIRE_NONE);
}

/* Frames up to `count`, whose one number says which. */
static void publish_up_to(struct orr_packets *u, uint64_t *frame, uint64_t count) {
  double values[64] = {0};
  for (; *frame < count; ++*frame) {
    const uint64_t head[ORR_WIRE_OUT_WORDS] = {*frame};
    values[u->base.layout->telemetry.entries[0].channel->offset] = (double)*frame;
    orr_packets_publish(u, head, values);
  }
}

/* Frame `frame` under a fault of what goes out: as io/links/port does it. */
static void publish_spoilt(struct orr_packets *u, uint64_t frame, enum orr_link_trouble trouble) {
  double values[64] = {0};
  const uint64_t head[ORR_WIRE_OUT_WORDS] = {frame};
  values[u->base.layout->telemetry.entries[0].channel->offset] = (double)frame;
  if (trouble == ORR_LINK_WORKS || trouble == ORR_LINK_COPIES)
    orr_packets_publish(u, head, values);
  orr_carrier_udp.spoil(&u->base, head, values, trouble);
}

/* So many frames wait to be sent, and these are they. */
static void assert_sent(struct orr_packets *u, int count, uint64_t first, uint64_t second) {
  for (int i = 0; i < count; i++)
    assert_int_equal(sent_frame(u), i == 0 ? first : second);
  assert_true(sent_frame(u) == ORR_WIRE_NONE);
}

static void on_the_wire_a_frame_is_damaged_comes_behind_or_comes_twice(void **state) {
  (void)state;
  struct rig r = make(ordinary);
  struct orr_udp udp;
  struct orr_packets *u = &udp.packets;
  struct orr_wire_packet p;
  const uint8_t *bytes;
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint32_t piece = 0;
  size_t count;
  assert_int_equal(orr_udp_prepare(&udp, r.port->desc, &r.port->layout, 1000000), 0);
  u->peer.way = 1;
  publish_spoilt(u, 0, ORR_LINK_CORRUPTS);
  size_t n = orr_packets_send(u, &piece, packet);
  assert_true(n > 0 && !orr_wire_packet_read(packet, n, &p, &bytes, &count));
  packet[n / 2] ^= 1; /* one bit of it */
  assert_true(orr_wire_packet_read(packet, n, &p, &bytes, &count) && p.frame == 0);
  publish_spoilt(u, 1, ORR_LINK_LOSES);
  assert_true(sent_frame(u) == ORR_WIRE_NONE);
  publish_spoilt(u, 2, ORR_LINK_COPIES);
  assert_sent(u, 2, 2, 2);
  publish_spoilt(u, 3, ORR_LINK_REORDERS);
  assert_true(sent_frame(u) == ORR_WIRE_NONE);
  publish_spoilt(u, 4, ORR_LINK_WORKS);
  assert_sent(u, 1, 4, 0);
  publish_spoilt(u, 5, ORR_LINK_REORDERS);
  assert_sent(u, 1, 3, 0);
  publish_spoilt(u, 6, ORR_LINK_LOSES);
  publish_spoilt(u, 7, ORR_LINK_WORKS);
  assert_sent(u, 2, 7, 5);
  orr_udp_close(&udp);
  done(&r);
}

/* Also where the ring had no room for them, or for one of them, and however often. */
static void what_is_said_again_is_the_newest_two_frames(void **state) {
  (void)state;
  enum { TIMES = 3 * ORR_PACKETS_OUT_SLOTS, MANY = ORR_PACKETS_OUT_SLOTS + 10 };
  struct rig r = make(ordinary);
  struct orr_udp u;
  uint64_t frame = 0;
  assert_int_equal(orr_udp_prepare(&u, r.port->desc, &r.port->layout, 1000000), 0);
  u.packets.peer = (struct orr_sender){0, 1};
  orr_packets_repeat(&u.packets); /* nothing yet */
  assert_true(sent_frame(&u.packets) == ORR_WIRE_NONE);
  for (int round = 0; round < 5; round++) {
    /* none of both found room */
    publish_up_to(&u.packets, &frame, frame + MANY);
    orr_packets_repeat(&u.packets);
    send_what_waits(&u.packets);
    assert_said_again(&u.packets, frame - 1);
    /* one place at a time comes free: for the older one, or, after one more, for the newer one */
    publish_up_to(&u.packets, &frame, frame + (uint64_t)round);
    for (int i = 0; i < ORR_PACKETS_OUT_SLOTS; i++)
      orr_packets_repeat(&u.packets);
    for (int i = 0; i < TIMES; i++) {
      sent_frame(&u.packets);
      orr_packets_repeat(&u.packets);
    }
    send_what_waits(&u.packets);
    assert_said_again(&u.packets, frame - 1);
    /* in the ring, from any place of it */
    publish_up_to(&u.packets, &frame, frame + 1);
    send_what_waits(&u.packets);
    for (int i = 0; i < TIMES; i++)
      assert_said_again(&u.packets, frame - 1);
  }
  orr_udp_close(&u);
  done(&r);
}

static void a_frame_out_of_step_counts_no_frame_as_missed(void **state) {
  (void)state;
  struct rig r = make(ordinary);
  struct orr_client c;
  assert_int_equal(orr_client_open(&c, r.url, 1000), 0);
  for (int i = 0; i < 2000 && atomic_load(&orr_packets_of(r.port->carrier)->peers) == 0; i++)
    nap_ms(1); /* to nobody the relay sends nothing */
  for (uint64_t frame = 10; frame <= 11; frame++) {
    const uint64_t head[ORR_WIRE_OUT_WORDS] = {frame};
    orr_packets_publish(orr_packets_of(r.port->carrier), head, r.flight.session->plant->values);
    assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 60000), 1);
    assert_int_equal(c.frame.number, frame);
    assert_int_equal(c.missed, 0);
  }
  orr_client_close(&c);
  done(&r);
}

/* A socket on its way through another is in no process's hands, as that of a run whose io_uring the kernel still takes
 * down. It is let go of when both ends of its way are closed. */
static void leave_port_to_nobody(uint16_t port, long ms) {
  const struct sockaddr_in here = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
  struct iovec text = {&byte, 1};
  struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  int way[2], fd = socket(AF_INET, SOCK_DGRAM, 0);
  assert_int_equal(bind(fd, (const struct sockaddr *)&here, sizeof here), 0);
  assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, way), 0);
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  assert_int_equal(sendmsg(way[0], &m, 0), 1);
  close(fd);
  if (fork() == 0) {
    nap_ms(ms);
    _exit(0);
  }
  close(way[0]);
  close(way[1]);
}

static void a_port_that_no_process_has_is_waited_for(void **state) {
  (void)state;
  struct rig r = make(ordinary);
  struct orr_run_link desc = *r.port->desc;
  struct orr_udp u, second;
  desc.listen.port = orr_port_free();
  leave_port_to_nobody(desc.listen.port, 1500);
  assert_int_equal(orr_udp_open(&u, &desc, &r.port->layout, 1000000), 0);
  double before = now_s();
  assert_int_equal(orr_udp_open(&second, &desc, &r.port->layout, 1000000), EADDRINUSE);
  assert_true(now_s() - before > 0.4);
  orr_udp_close(&u);
  wait(NULL);
  done(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_port_that_no_process_has_is_waited_for),
      cmocka_unit_test(the_checksum_is_that_of_rfc_3720),
      cmocka_unit_test(packets_are_laid_out_as_cfe_has_them),
      cmocka_unit_test(a_packet_with_any_one_bit_wrong_is_refused),
      cmocka_unit_test(with_any_one_byte_wrong_no_piece_of_a_description_is_a_word_of_the_run),
      cmocka_unit_test(a_word_of_the_run_with_any_one_byte_wrong_is_no_other),
      cmocka_unit_test(a_run_over_io_uring_answers_every_frame),
      cmocka_unit_test(a_run_over_plain_sockets_answers_every_frame),
      cmocka_unit_test(a_failure_of_the_io_thread_ends_the_run),
      cmocka_unit_test(a_frame_that_exceeds_the_mtu_goes_in_several_packets),
      cmocka_unit_test(an_io_thread_that_could_work_all_the_time_leaves_its_core_to_others),
      cmocka_unit_test(a_client_refuses_message_ids_that_are_none),
      cmocka_unit_test(a_run_of_another_version_is_named_with_what_to_do),
      cmocka_unit_test(a_frame_out_of_step_counts_no_frame_as_missed),
      cmocka_unit_test(a_command_that_waits_is_untouched_by_those_that_follow),
      cmocka_unit_test(what_is_said_again_is_the_newest_two_frames),
      cmocka_unit_test(on_the_wire_a_frame_is_damaged_comes_behind_or_comes_twice),
      cmocka_unit_test(lockstep_has_the_same_bits_with_a_slow_peer_and_lost_packets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
