/* A whole flight in lockstep over UDP: the run's link and the client of a flight software, and between them a network
 * that does to each datagram what the input says, both ways: it is passed, lost, repeated, overtaken, changed in a byte
 * or cut. Whatever it does, the client takes every frame once and in turn, the run applies the answer to each frame at
 * its boundary, and both come to the end once the network is well again. No socket; what the relay does is done here.
 *
 * The first byte is the shape, as orr_link_rig_init takes it; then two bytes a datagram: what, and where. The headers
 * of telemetry between message id and block carry no sum of ours (cFE may write them anew): there nothing is changed.
 * Fuzz with: -max_len=512
 */
#undef _FORTIFY_SOURCE /* its recv is an inline function, and the one here takes the place of that of the C library */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/client/client_carrier.h"
#include "io/links/packets/udp.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WIRE = 1000, QUEUE = 64, BYTES = 512, FRAMES = 12, PATIENCE = 1000 };

struct datagram {
  uint8_t bytes[BYTES];
  size_t size;
};

struct queue {
  struct datagram *datagrams; /* [QUEUE] a ring from `first` on */
  int first, count;
};

struct flight {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_udp udp;
  struct orr_client client;
  struct orr_signal torque, mode, time;
  struct sockaddr_in from;
  struct queue out, in;
  struct orr_steps fates;
  bool open;
  uint64_t taken; /* frames by the client */
};

static struct flight *flight;

static int fate_byte(void) {
  if (!flight->open || flight->fates.left == 0)
    return 0;
  flight->fates.left--;
  return *flight->fates.data++;
}

static struct datagram *nth(const struct queue *q, int n) { return &q->datagrams[(q->first + n) % QUEUE]; }

static void put(struct queue *q, const uint8_t *bytes, size_t size) {
  orr_must(size <= BYTES);
  if (q->count == QUEUE)
    return;
  struct datagram *to = nth(q, q->count++);
  memcpy(to->bytes, bytes, size);
  to->size = size;
}

static size_t get(struct queue *q, uint8_t *bytes) {
  if (q->count == 0)
    return 0;
  const struct datagram *from = nth(q, 0);
  memcpy(bytes, from->bytes, from->size);
  q->first = (q->first + 1) % QUEUE;
  q->count--;
  return from->size;
}

static void swap_last(struct queue *q) {
  if (q->count < 2)
    return;
  struct datagram *a = nth(q, q->count - 2), *b = nth(q, q->count - 1), kept = *a;
  *a = *b;
  *b = kept;
}

static void pass(struct queue *q, const uint8_t *bytes, size_t size, bool telemetry) {
  uint8_t changed[BYTES];
  int fate = fate_byte() % 8, arg = fate_byte();
  orr_must(size <= sizeof changed);
  memcpy(changed, bytes, size);
  size_t first = telemetry ? ORR_WIRE_TELEMETRY_AT : 0, at = first + (size_t)arg % (size - first);
  switch (fate) {
  case 1: /* lost */
    return;
  case 2:
    put(q, bytes, size);
    break;
  case 3:
    put(q, bytes, size);
    swap_last(q);
    return;
  case 4:
    changed[at] ^= (uint8_t)(1 << arg / 32);
    put(q, changed, size);
    return;
  case 5:
    put(q, changed, (size_t)arg % size);
    break;
  default:
    break;
  }
  put(q, bytes, size);
}

/* ---- the network, in place of the C library's functions ---------------------------------------------------------- */

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  (void)flags;
  orr_must(fd == WIRE);
  pass(&flight->in, bytes, size, false);
  return (ssize_t)size;
}

static void deliver_to_run(void) {
  uint8_t datagram[BYTES], reply[ORR_WIRE_PACKET_MAX];
  for (size_t size; (size = get(&flight->in, datagram)) > 0;) {
    size_t answer = orr_udp_receive(&flight->udp, &flight->from, datagram, size, reply);
    if (answer)
      pass(&flight->out, reply, answer, true);
  }
}

ssize_t recv(int fd, void *to, size_t room, int flags) {
  orr_must(fd == WIRE && flags == MSG_TRUNC && room >= BYTES);
  if (!flight->open)
    deliver_to_run();
  size_t size = get(&flight->out, to);
  errno = EAGAIN;
  return size ? (ssize_t)size : -1;
}

int poll(struct pollfd *what, nfds_t count, int most_ms) {
  (void)what;
  (void)count;
  (void)most_ms;
  return 0;
}

int close(int fd) { return fd == WIRE ? 0 : (int)syscall(SYS_close, fd); }

/* ---- the flight -------------------------------------------------------------------------------------------------- */

static double law(uint64_t frame) { return 0.01 * (double)(frame + 1); }

static void fly_client(struct flight *f) {
  int status;
  while ((status = orr_client_wait(&f->client, ORR_CLIENT_POLL, 0)) == 1) {
    orr_must(f->client.frame.number == f->taken * ORR_RIG_DIVISOR);
    f->taken++;
    orr_client_set(&f->client, f->torque, 0, law(f->client.frame.number));
    orr_client_set(&f->client, f->mode, 0, 3);
    orr_client_set(&f->client, f->time, 0, 0.5);
    orr_must(orr_client_send(&f->client) == 0);
  }
  orr_must(status == 0 && f->client.missed == 0);
}

static void send_all(struct flight *f) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint32_t piece = 0;
  for (size_t n; (n = orr_packets_send(&f->udp.packets, &piece, packet)) > 0;)
    pass(&f->out, packet, n, true);
}

static void await_answer(struct flight *f) {
  int patience = PATIENCE;
  for (orr_packets_take(&f->udp.packets, &f->link.rules); !orr_rules_ready(&f->link.rules); patience--) {
    orr_must(patience > 0);
    orr_client_beat(&f->client); /* as it does while it waits, by the clock */
    fly_client(f);
    deliver_to_run();
    orr_packets_take(&f->udp.packets, &f->link.rules);
    if (!orr_rules_ready(&f->link.rules))
      orr_packets_repeat(&f->udp.packets);
    send_all(f);
  }
}

static void publish(struct flight *f) {
  uint64_t head[ORR_WIRE_OUT_WORDS];
  orr_link_rig_publish(&f->link, head);
  head[ORR_WIRE_OUT_FLAGS] |= ORR_WIRE_OUT_LOCKSTEP;
  orr_packets_publish(&f->udp.packets, head, f->link.values);
  send_all(f);
}

static void fly(struct flight *f) {
  const double *torque = &f->link.values[f->link.channels[3].offset];
  orr_client_beat(&f->client);
  deliver_to_run();
  for (uint64_t k = 0; k < FRAMES; k++) {
    publish(f);
    fly_client(f);
    deliver_to_run();
    if (k > 0) {
      await_answer(f);
      orr_must(orr_rules_latch(&f->link.rules, f->link.values) == ORR_LATCH_APPLIED);
      orr_must(*torque == law((k - 1) * ORR_RIG_DIVISOR) && f->link.rules.counts.late == 0);
    }
    f->link.frame += ORR_RIG_DIVISOR; /* latched here, not by the rig */
    f->link.out = false;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint32_t allow[] = {INADDR_LOOPBACK};
  static struct flight f;
  static struct datagram out[QUEUE], in[QUEUE]; /* what was in them last time is not read */
  memset(&f, 0, sizeof f);
  f.out.datagrams = out;
  f.in.datagrams = in;
  f.client = (struct orr_client){.fd = WIRE};
  f.fates = (struct orr_steps){data + (size > 0), size ? size - 1 : 0};
  flight = &f;
  orr_link_rig_init(&f.link, size ? data[0] & 1 : 0, 40);
  f.desc = (struct orr_run_link){.divisor = ORR_RIG_DIVISOR,
                                 .telemetry_id = 0x0880,
                                 .command_id = 0x1880,
                                 .packet_max = 256,
                                 .allow = allow,
                                 .allow_count = 1};
  f.from = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  orr_must(orr_udp_prepare(&f.udp, &f.desc, &f.link.layout, 1000000) == 0);
  orr_must(orr_client_udp_enter(&f.client, 0) == 0);
  f.torque = orr_client_find(&f.client, "b.torque");
  f.mode = orr_client_find(&f.client, "c.mode");
  f.time = orr_client_find(&f.client, "b.time");
  orr_client_visit(&f.client, 0.5);
  f.open = true;
  fly(&f);
  orr_client_close(&f.client);
  orr_udp_close(&f.udp);
  return 0;
}
