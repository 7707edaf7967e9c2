/* The client over UDP: asks for the description first, then is as the one over shared memory. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/client/client_carrier.h"

enum { DESCRIPTION_MAX = 1 << 22 };

static bool write_packet(struct orr_client *c, const struct orr_wire_packet *p, const void *piece, size_t bytes) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  size_t all = orr_wire_packet_write(packet, p, piece, bytes);
  bool sent = send(c->fd, packet, all, MSG_NOSIGNAL) >= 0;
  c->refused |= !sent && errno == ECONNREFUSED;
  return sent;
}

/* A datagram that is a packet: 1; none: 0; or -ECONNREFUSED when nobody is there. The kernel tells that before it gives
 * what had come. */
static int read_packet(struct orr_client *c, uint8_t *packet, struct orr_wire_packet *p, const uint8_t **piece,
                       size_t *bytes) {
  ssize_t got = recv(c->fd, packet, ORR_WIRE_PACKET_MAX, MSG_TRUNC);
  if (got < 0 && errno == ECONNREFUSED) {
    c->refused = true;
    got = recv(c->fd, packet, ORR_WIRE_PACKET_MAX, MSG_TRUNC);
  }
  if (got < 0)
    return c->refused ? -ECONNREFUSED : 0;
  return got <= ORR_WIRE_PACKET_MAX && orr_wire_packet_read(packet, (size_t)got, p, piece, bytes);
}

/* ---- the description --------------------------------------------------------------------------------------------- */

static bool is_piece(const struct orr_wire_packet *p, uint64_t number) {
  return p->id == ORR_WIRE_DESCRIPTION_ID && !p->flags && p->frame == number;
}

static void write_question(struct orr_client *c, uint64_t number) {
  const struct orr_wire_packet question = {.id = ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND,
                                           .count = (uint16_t)number,
                                           .function = ORR_WIRE_DESCRIBE,
                                           .frame = number};
  write_packet(c, &question, NULL, 0);
}

/* Asks for a piece and waits for it, in `packet`: its bytes from *piece on, all bytes of the description in *all. */
static int ask(struct orr_client *c, uint64_t number, int answer_ms, uint8_t *packet, const uint8_t **piece,
               uint64_t *all) {
  struct orr_wire_packet p;
  size_t bytes;
  int64_t until_ms = orr_client_now_ms() + answer_ms;
  write_question(c, number);
  for (;;) {
    int status = read_packet(c, packet, &p, piece, &bytes);
    if (status < 0)
      return -ENOENT;
    if (status > 0 && is_piece(&p, number) && bytes > 0) {
      *all = p.answered;
      c->generation = (uint32_t)p.time_ns;
      return (int)bytes;
    }
    if (orr_client_now_ms() >= until_ms)
      return -ENOENT;
    if (status == 0)
      orr_client_udp_sleep(c, 10);
  }
}

/* The whole description, to be freed; NULL after a failure in *status. */
static uint8_t *fetch(struct orr_client *c, int answer_ms, uint64_t *all, int *status) {
  uint8_t packet[ORR_WIRE_PACKET_MAX], *description = NULL;
  const uint8_t *piece;
  uint64_t got = 0;
  *all = 1;
  *status = 0;
  for (uint64_t number = 0; *status >= 0 && got < *all; number++) {
    *status = ask(c, number, answer_ms, packet, &piece, all);
    size_t bytes = *status > 0 ? (size_t)*status : 0;
    uint8_t *longer = got + bytes <= DESCRIPTION_MAX ? realloc(description, got + bytes + 1) : NULL;
    if (!longer) {
      *status = got + bytes <= DESCRIPTION_MAX ? -ENOMEM : -EPROTO;
      break;
    }
    description = longer;
    if (bytes)
      memcpy(description + got, piece, bytes);
    got += bytes;
  }
  if (*status >= 0 && got == *all && got >= sizeof c->header)
    return description;
  *status = *status >= 0 ? -EPROTO : *status;
  free(description);
  return NULL;
}

/* Later than that of the newest peer, which the description told; two that come at a time shall differ. */
static uint32_t generation_after(uint32_t newest) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return newest + 1 + (((uint32_t)getpid() * 7919u + (uint32_t)t.tv_nsec) & 0xffff);
}

/* Of one kind from the first piece to the last, so that no piece grows by a longer head; and none that means something
 * else. */
static bool ids_sound(uint16_t first, unsigned type, uint32_t pieces) {
  return (first & 0xf800) == (ORR_WIRE_ID_SECONDARY | type) &&
         (first & 0x7ff) + pieces <= (ORR_WIRE_DESCRIPTION_ID & 0x7ff);
}

static int prepare(struct orr_client *c) {
  size_t in = orr_wire_words(c->header.command_bytes), out = orr_wire_words(c->header.telemetry_bytes);
  if (c->header.packet_max > ORR_WIRE_PACKET_MAX || c->header.packet_max < 100)
    return EPROTO;
  const struct orr_wire_header *h = &c->header;
  const struct orr_wire_cut out_cut = orr_wire_cut(h->telemetry_id, h->telemetry_bytes, h->packet_max);
  const struct orr_wire_cut in_cut = orr_wire_cut(h->command_id, h->command_bytes, h->packet_max);
  c->out_piece = out_cut.piece;
  c->out_pieces = out_cut.pieces;
  c->in_piece = in_cut.piece;
  c->in_pieces = in_cut.pieces;
  if (c->out_pieces > ORR_WIRE_PIECES_MAX || c->in_pieces > ORR_WIRE_PIECES_MAX ||
      !ids_sound(c->header.telemetry_id, 0, c->out_pieces) ||
      !ids_sound(c->header.command_id, ORR_WIRE_ID_COMMAND, c->in_pieces))
    return EPROTO;
  c->gathered = calloc(out + 2 * in + 3, 8);
  if (!c->gathered)
    return ENOMEM;
  c->kept[0].payload = c->gathered + out + 1;
  c->kept[1].payload = c->kept[0].payload + in + 1;
  c->kept[0].answers = c->kept[1].answers = ORR_WIRE_NONE;
  c->gather.key = UINT64_MAX;
  c->generation = generation_after(c->generation);
  return 0;
}

int orr_client_udp_enter(struct orr_client *c, int answer_ms) {
  uint64_t bytes;
  int status;
  uint8_t *description = fetch(c, answer_ms, &bytes, &status);
  if (!description)
    return -status;
  memcpy(&c->header, description, sizeof c->header);
  int error = orr_client_sound(&c->header, bytes, false) ? orr_client_copy(c, (const char *)description) : EPROTO;
  free(description);
  return error ? error : prepare(c);
}

void orr_client_udp_close(struct orr_client *c) {
  if (c->fd >= 0)
    close(c->fd);
  free(c->gathered);
  c->gathered = NULL;
  c->fd = -1;
  c->refused = false;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void write_command(struct orr_client *c, const struct orr_client_kept *k, enum orr_wire_function function) {
  struct orr_wire_packet p = {
      .function = (uint8_t)function,
      .frame = orr_wire_command_frame(c->generation, orr_wire_layout_tag(c->header.layout_hash), k->number),
      .answered = k->answers,
      .time_ns = k->time_ns};
  for (uint32_t i = 0; i < (function == ORR_WIRE_COMMANDS ? c->in_pieces : 1); i++) {
    size_t at = i * c->in_piece, left = c->header.command_bytes - at;
    p.id = (uint16_t)(c->header.command_id + i);
    p.count = c->counts[i]++;
    size_t bytes = left < c->in_piece ? left : c->in_piece;
    bool command = function == ORR_WIRE_COMMANDS;
    bool sent = write_packet(c, &p, (const uint8_t *)k->payload + at, command ? bytes : 0);
    c->unsent += command && !sent;
  }
}

/* A frame that we have seen is sent again when its answer did not arrive. */
static void answer_again(struct orr_client *c, uint64_t frame) {
  for (int i = 0; i < 2; i++)
    if (c->kept[i].answers == frame)
      write_command(c, &c->kept[i], ORR_WIRE_COMMANDS);
}

/* A frame that overtook another does not hide it: in lockstep both are wanted. */
static bool is_news(const struct orr_client *c, uint64_t frame) {
  for (int i = 0; i < ORR_CLIENT_DELIVERED; i++)
    if (c->delivered[i] == frame && (uint32_t)i < c->next_delivered)
      return false;
  return frame > c->newest || c->newest - frame <= c->divisor;
}

/* Asks which run this is; now and then. */
static void ask_again(struct orr_client *c) {
  enum { APART_MS = 100 };
  int64_t now_ms = orr_client_now_ms();
  if (now_ms - c->asked_ms < APART_MS)
    return;
  c->asked_ms = now_ms;
  write_question(c, 0);
}

/* What the run says of itself while we fly: that it is over, or, asked, which it is. Only to ours we say that we live:
 * another would take us for its peer. */
static int hear(struct orr_client *c, const struct orr_wire_packet *p, const uint8_t *piece, size_t bytes) {
  struct orr_wire_header header;
  if (p->flags & ORR_WIRE_OUT_ENDED)
    return -EPIPE;
  if (p->frame != 0 || bytes < sizeof header)
    return 0;
  memcpy(&header, piece, sizeof header);
  if (header.run != c->header.run)
    return -ECONNRESET;
  orr_client_udp_beat(c);
  return 0;
}

/* A frame, whole, that is not the next in turn may be that of another run. */
static bool take_frame(struct orr_client *c, const struct orr_wire_packet *p) {
  if (c->any && p->frame != c->newest + c->divisor)
    ask_again(c);
  if (c->any && !is_news(c, p->frame)) {
    answer_again(c, p->frame);
    return false;
  }
  c->delivered[c->next_delivered++ % ORR_CLIENT_DELIVERED] = p->frame;
  if (!c->any || p->frame > c->newest) {
    c->missed += c->any ? (p->frame - c->newest - 1) / c->divisor : 0;
    c->newest = p->frame;
  }
  c->any = true;
  c->frame = (struct orr_client_frame){p->frame, p->time_ns, p->answered, p->flags};
  memcpy(c->telemetry, c->gathered, 8 * orr_wire_words(c->header.telemetry_bytes));
  return true;
}

int orr_client_udp_look(struct orr_client *c) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  struct orr_wire_packet p;
  const uint8_t *piece;
  size_t bytes;
  int status = read_packet(c, packet, &p, &piece, &bytes);
  if (status <= 0)
    return status < 0 ? -ECONNRESET : 0;
  if (p.id == ORR_WIRE_DESCRIPTION_ID)
    return hear(c, &p, piece, bytes);
  bool ours = p.id >= c->header.telemetry_id && p.id < c->header.telemetry_id + c->out_pieces;
  int whole = ours ? orr_wire_gather_add(&c->gather, p.frame, (uint32_t)(p.id - c->header.telemetry_id), piece, bytes,
                                         (uint8_t *)c->gathered, c->header.telemetry_bytes, c->out_piece)
                   : -1;
  if (whole < 0) /* not cut as our layout says */
    ask_again(c);
  return whole == 1 && take_frame(c, &p);
}

/* That nobody has a port is told by ICMP, which a network may keep back and a kernel need not send. Of a port of this
 * very host it can be found out: one that can be had is nobody's. A run that hangs keeps its own. */
static bool nobody_has_it(int fd) {
  struct sockaddr_in here = {0}, there = {0};
  socklen_t here_bytes = sizeof here, there_bytes = sizeof there;
  if (getsockname(fd, (struct sockaddr *)&here, &here_bytes) ||
      getpeername(fd, (struct sockaddr *)&there, &there_bytes))
    return false;
  bool loopback = ntohl(there.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  if (!loopback && here.sin_addr.s_addr != there.sin_addr.s_addr)
    return false;
  int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool had = probe >= 0 && bind(probe, (const struct sockaddr *)&there, sizeof there) == 0;
  if (probe >= 0)
    close(probe);
  return had;
}

int orr_client_udp_pulse(struct orr_client *c) {
  ask_again(c);
  c->refused |= nobody_has_it(c->fd); /* told by the next look, after all that came before */
  return 0;
}

void orr_client_udp_sleep(struct orr_client *c, int64_t most_ms) {
  struct pollfd one = {.fd = c->fd, .events = POLLIN};
  poll(&one, 1, (int)most_ms);
}

int orr_client_udp_send(struct orr_client *c, uint64_t flags) {
  struct orr_client_kept *k = &c->kept[++c->sent & 1];
  k->number = c->sent;
  k->answers = c->frame.number;
  k->time_ns = c->frame.time_ns;
  memcpy(k->payload, c->command, 8 * orr_wire_words(c->header.command_bytes));
  write_command(c, k, flags & ORR_WIRE_IN_END ? ORR_WIRE_END : ORR_WIRE_COMMANDS);
  return 0;
}

void orr_client_udp_beat(struct orr_client *c) {
  const struct orr_client_kept nothing = {.number = c->sent, .answers = ORR_WIRE_NONE, .payload = c->gathered};
  write_command(c, &nothing, ORR_WIRE_BEAT);
}
