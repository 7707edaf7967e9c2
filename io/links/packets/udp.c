#include "io/links/packets/udp.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "io/links/carriers/owner.h"
#include "io/links/packets/arrival.h"
#include "io/links/packets/relay.h"
#include "io/wire/key.h"
#include "rt/tick/clock.h"

static bool allowed(const struct orr_udp *u, uint32_t ip) {
  const struct orr_run_link *desc = u->packets.base.desc;
  for (int i = 0; i < desc->allow_count; i++)
    if (desc->allow[i] == ip)
      return true;
  return false;
}

size_t orr_udp_receive(struct orr_udp *u, const struct sockaddr_in *from, const uint8_t *bytes, size_t count,
                       uint8_t *reply) {
  const struct orr_sender sender = {ntohl(from->sin_addr.s_addr), ntohs(from->sin_port)};
  if (!allowed(u, sender.host))
    return orr_packets_refuse(&u->packets, ORR_REFUSAL_FOREIGN);
  return orr_packets_receive(&u->packets, sender, bytes, count, reply);
}

struct sockaddr_in orr_udp_peer(const struct orr_udp *u) {
  struct sockaddr_in out = {.sin_family = AF_INET, .sin_port = htons((uint16_t)u->packets.peer.way)};
  out.sin_addr.s_addr = htonl(u->packets.peer.host);
  return out;
}

/* ---- by plain calls ---------------------------------------------------------------------------------------------- */

void orr_udp_send_to(struct orr_udp *u, const struct sockaddr_in *to, const uint8_t *packet, size_t bytes) {
  if (sendto(u->fd, packet, bytes, MSG_NOSIGNAL, (const struct sockaddr *)to, sizeof *to) < 0)
    orr_packets_unsent(&u->packets, errno);
}

static int watch(struct orr_packets *k, struct pollfd *out) {
  out[0] = (struct pollfd){.fd = ((struct orr_udp *)k)->fd, .events = POLLIN};
  return 1;
}

static void push(struct orr_packets *k, const uint8_t *packet, size_t bytes) {
  struct orr_udp *u = (struct orr_udp *)k;
  const struct sockaddr_in to = orr_udp_peer(u);
  orr_udp_send_to(u, &to, packet, bytes);
}

static bool pull(struct orr_packets *k, uint8_t *scratch, uint8_t *reply) {
  enum { AT_A_TIME = 32 };
  struct orr_udp *u = (struct orr_udp *)k;
  for (int i = 0; i < AT_A_TIME; i++) {
    struct sockaddr_in from = {0};
    _Alignas(struct cmsghdr) char control[ORR_ARRIVAL_ROOM];
    struct iovec piece = {scratch, ORR_WIRE_PACKET_MAX};
    struct msghdr m = {.msg_name = &from,
                       .msg_namelen = sizeof from,
                       .msg_iov = &piece,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    ssize_t got = recvmsg(u->fd, &m, MSG_TRUNC);
    if (got < 0 && errno != ECONNREFUSED)
      return i > 0;
    k->arrived_ns = got < 0 ? orr_clock_now_ns() : orr_arrival_of_message(&m);
    size_t bytes = got < 0 || got > ORR_WIRE_PACKET_MAX ? 0 : (size_t)got;
    size_t answer = orr_udp_receive(u, &from, scratch, bytes, reply);
    if (answer)
      orr_udp_send_to(u, &from, reply, answer);
  }
  return true;
}

const struct orr_packets_mover orr_udp_mover = {.watch = watch, .pull = pull, .push = push};

/* ---- the carrier ------------------------------------------------------------------------------------------------- */

/* To publish or to take is to copy a few kilobytes. A packet may be lost on the way: what is not answered within a wait
 * is said again, and a wait is long enough that few are said twice for nothing. */
enum { HANDOVER_NS = 100000, FIRST_WAIT_NS = 20000000 };

struct orr_udp *orr_udp_of(struct orr_carrier *c) {
  assert(c->kind == &orr_carrier_udp);
  return (struct orr_udp *)c;
}

/* Its memory is made when it is opened: for a run in batch there is none. */
static void lay_out(struct orr_carrier *c, const struct orr_run_link *desc, const struct orr_channel_table *table,
                    struct orr_block *block) {
  (void)desc;
  (void)table;
  (void)block;
  if (c)
    *orr_udp_of(c) = (struct orr_udp){.packets.base = *c, .fd = -1};
}

static int open_socket(struct orr_carrier *c, int64_t step_ns) {
  bool shut = c->shut;
  int error = orr_udp_open(orr_udp_of(c), c->desc, c->layout, step_ns);
  c->shut = shut;
  return error;
}

static void close_socket(struct orr_carrier *c) { orr_udp_close(orr_udp_of(c)); }

static bool join(struct orr_carrier *c, struct orr_relay *relay) { return orr_relay_add(relay, orr_packets_of(c)); }

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  uint32_t ip = desc->listen.ip;
  snprintf(text, size, "udp:%u.%u.%u.%u:%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255,
           (unsigned)desc->listen.port);
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  uint8_t key[ORR_WIRE_KEY_BYTES];
  if (error == EADDRINUSE)
    orr_carrier_taken(desc, "another run or program", orr_owner_of_port(desc->listen.ip, desc->listen.port),
                      "listen=ADDRESS:PORT", "PORT=N", text, size);
  else if (!desc->key_file || orr_wire_key_read(desc->key_file, key, text, size) == 0)
    snprintf(text, size, "%s", strerror(error));
  orr_wire_key_forget(key, sizeof key);
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  uint32_t ip = desc->listen.ip;
  int said = snprintf(text, size, "UDP: commands to %u.%u.%u.%u:%u. ", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
                      ip & 255, (unsigned)desc->listen.port);
  if (said > 0 && (size_t)said < size)
    orr_form_of(desc)->document(desc, h, "datagram", text + said, size - (size_t)said);
}

static struct orr_link_losses losses(const struct orr_carrier *c) {
  struct orr_link_losses out = orr_packets_kind_losses(c);
  out.not_received = orr_udp_overflow((const struct orr_udp *)c);
  return out;
}

const struct orr_carrier_kind orr_carrier_udp = {
    ORR_PACKETS_CALLBACKS,
    .name = "udp",
    .outside = true,
    .handover_ns = HANDOVER_NS,
    .first_wait_ns = FIRST_WAIT_NS,
    .bytes = sizeof(struct orr_udp),
    .lay_out = lay_out,
    .open = open_socket,
    .close = close_socket,
    .join = join,
    .describe = describe,
    .explain = explain,
    .document = document,
    .losses = losses,
};
