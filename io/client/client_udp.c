/* The client over UDP, and over whatever else carries packets (client_stream): asks for the description first, then
 * is as the one over shared memory. */
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
#include "io/client/client_seal.h"
#include "io/client/client_stream.h"

enum { DESCRIPTION_MAX = 1 << 22 };

static bool write_packet(struct orr_client *c, const struct orr_wire_packet *p, const void *piece, size_t bytes) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  size_t all = orr_wire_packet_write(packet, p, piece, bytes);
  if (c->seal)
    all = orr_client_seal_put(c->seal, packet, all, p->function == ORR_WIRE_DESCRIBE);
  if (c->stream)
    return orr_client_stream_send(c, packet, all);
  bool sent = send(c->fd, packet, all, MSG_NOSIGNAL) >= 0;
  c->refused |= !sent && errno == ECONNREFUSED;
  return sent;
}

/* A word without a seal, for people: the run takes another key than ours. */
static bool is_keyed(const uint8_t *packet, size_t bytes) {
  struct orr_wire_packet p;
  const uint8_t *piece;
  return orr_wire_packet_read(packet, bytes, &p, &piece, &bytes) && p.id == ORR_WIRE_DESCRIPTION_ID &&
         p.flags & ORR_WIRE_OUT_KEYED;
}

/* With a key: whether a datagram is for us, and new, as read_packet says it; the bytes of its packet. */
static int unseal(struct orr_client *c, const uint8_t *datagram, size_t bytes, size_t *packet_bytes) {
  switch (orr_client_seal_take(c->seal, datagram, bytes, packet_bytes)) {
  case ORR_CLIENT_SEALED:
    return 1;
  case ORR_CLIENT_ANOTHER_RUN: /* while the description comes together it is asked for anew */
    return c->places ? -ECONNRESET : 0;
  case ORR_CLIENT_REPLAYED:
    c->replayed++;
    return 0;
  case ORR_CLIENT_FORGED:
    break;
  }
  c->keyed |= is_keyed(datagram, bytes);
  c->forged++;
  return 0;
}

static ssize_t receive_datagram(struct orr_client *c, uint8_t *packet) {
  return c->stream ? orr_client_stream_receive(c, packet) : recv(c->fd, packet, ORR_WIRE_PACKET_MAX, MSG_TRUNC);
}

/* A datagram that is a packet: 1; another: 0; -EAGAIN: there is none; -ECONNREFUSED: nobody is there; -ECONNRESET:
 * another run answers. The kernel tells that nobody is there before it gives what had come. */
static int read_packet(struct orr_client *c, uint8_t *packet, struct orr_wire_packet *p, const uint8_t **piece,
                       size_t *bytes) {
  ssize_t got = receive_datagram(c, packet);
  if (got < 0 && errno == ECONNREFUSED) {
    c->refused = true;
    got = receive_datagram(c, packet);
  }
  if (got < 0)
    return c->refused ? -ECONNREFUSED : -EAGAIN;
  size_t size = (size_t)got;
  if (size > ORR_WIRE_PACKET_MAX)
    return 0;
  int status = c->seal ? unseal(c, packet, size, &size) : 1;
  return status == 1 ? orr_wire_packet_read(packet, size, p, piece, bytes) : status;
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
  enum { TRIES = 5 };
  int64_t begin_ms = orr_client_now_ms(), until_ms = begin_ms + answer_ms;
  for (int asked = 0;;) {
    if (orr_client_now_ms() >= begin_ms + asked * (answer_ms / TRIES)) { /* question or answer may be lost */
      write_question(c, number);
      asked++;
    }
    int status = read_packet(c, packet, &p, piece, &bytes);
    if (status == -ECONNREFUSED)
      return -ENOENT;
    if (status > 0 && p.id == ORR_WIRE_DESCRIPTION_ID && p.flags & ORR_WIRE_OUT_KEYED && !c->seal)
      return -ENOKEY;
    if (status > 0 && is_piece(&p, number) && bytes > 0) {
      *all = p.answered;
      c->generation = (uint32_t)p.time_ns;
      return (int)bytes;
    }
    if (orr_client_now_ms() >= until_ms)
      return -ENOENT;
    if (status == -EAGAIN)
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
  if (c->header.packet_max > ORR_WIRE_PACKET_MAX - (c->seal ? ORR_WIRE_SEAL_BYTES : 0) || c->header.packet_max < 100)
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
  c->places = calloc(ORR_CLIENT_WINDOW * (out + 1) + 2 * (in + 1), 8);
  if (!c->places)
    return ENOMEM;
  for (size_t i = 0; i < ORR_CLIENT_WINDOW; i++)
    c->window[i] = (struct orr_client_coming){.payload = c->places + i * (out + 1)};
  for (size_t i = 0; i < 2; i++)
    c->kept[i] = (struct orr_client_kept){.answers = ORR_WIRE_NONE,
                                          .payload = c->places + ORR_CLIENT_WINDOW * (out + 1) + i * (in + 1)};
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

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static void write_command(struct orr_client *c, const struct orr_client_kept *k) {
  struct orr_wire_packet p = {
      .function = (uint8_t)k->function,
      .frame = orr_wire_command_frame(c->generation, orr_wire_layout_tag(c->header.layout_hash), k->number),
      .answered = k->answers,
      .time_ns = k->time_ns};
  bool command = k->function == ORR_WIRE_COMMANDS;
  for (uint32_t i = 0; i < (command ? c->in_pieces : 1); i++) {
    size_t at = i * c->in_piece, left = c->header.command_bytes - at;
    p.id = (uint16_t)(c->header.command_id + i);
    p.count = c->counts[i]++;
    size_t bytes = left < c->in_piece ? left : c->in_piece;
    bool sent = write_packet(c, &p, command ? (const uint8_t *)k->payload + at : NULL, command ? bytes : 0);
    c->unsent += command && !sent;
  }
}

/* A word of ours that answers nothing. */
static void say(struct orr_client *c, enum orr_wire_function function, uint64_t frame) {
  const struct orr_client_kept word = {.number = c->sent, .answers = frame, .function = function};
  write_command(c, &word);
}

/* The answer to a frame that was answered, or NULL. */
static const struct orr_client_kept *answer_to(const struct orr_client *c, uint64_t frame) {
  for (int i = 0; i < 2; i++)
    if (c->kept[i].answers == frame)
      return &c->kept[i];
  return NULL;
}

/* The run sends a frame again that we have taken, when our answer did not arrive. */
static void answer_again(struct orr_client *c, uint64_t frame) {
  const struct orr_client_kept *k = answer_to(c, frame);
  if (k)
    write_command(c, k);
  if (c->end.function == ORR_WIRE_END)
    write_command(c, &c->end);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Asks which run this is; now and then. */
static void ask_again(struct orr_client *c) {
  enum { APART_MS = 100 };
  int64_t now_ms = orr_client_now_ms();
  if (now_ms - c->asked_ms < APART_MS)
    return;
  c->asked_ms = now_ms;
  write_question(c, 0);
}

/* Ours is over. Another that was told that we leave would, in lockstep, end where it began: what we said to ours may
 * have come to it, and made us its peer. */
static int see_another(struct orr_client *c) {
  c->over = true;
  return -ECONNRESET;
}

/* What the run says of itself while we fly: that it is over, or, asked, which it is. Only to ours we say that we live:
 * another would take us for its peer. */
static int hear(struct orr_client *c, const struct orr_wire_packet *p) {
  if (p->flags & ORR_WIRE_OUT_ENDED) {
    c->over = true;
    say(c, ORR_WIRE_LEAVE, ORR_WIRE_NONE); /* it says so until it has heard that */
    return -EPIPE;
  }
  if (p->flags & ORR_WIRE_OUT_TAKEN) {
    bool ours = (uint32_t)p->answered == c->generation;
    if (ours && (uint32_t)((uint64_t)p->time_ns >> 32) != (uint32_t)c->header.run)
      return see_another(c);
    c->taken |= ours;
    return ours && (int32_t)((uint32_t)p->time_ns - c->generation) > 0 ? -EOWNERDEAD : 0;
  }
  if (p->frame != 0)
    return 0;
  if ((uint32_t)((uint64_t)p->time_ns >> 32) != (uint32_t)c->header.run)
    return see_another(c);
  orr_client_udp_beat(c);
  return 0;
}

/* A piece of a frame that is not newer than the one taken last: a copy: our answer is asked for again; or late. */
static void come_late(struct orr_client *c, uint64_t frame, bool last_piece) {
  uint64_t back = (c->newest - frame) / c->divisor, bit = back && back <= 64 ? UINT64_C(1) << (back - 1) : 0;
  if (back == 0 || back > 64 || c->before & bit) {
    if (last_piece)
      answer_again(c, frame);
    return;
  }
  c->before |= bit;
  c->late++;
}

/* Where a frame comes together. In a window that is full the oldest gives way in real time, for its last piece was
 * lost; in lockstep the oldest is what is wanted, and one that is farther off comes again. NULL: then it goes. */
static struct orr_client_coming *place_of(struct orr_client *c, const struct orr_wire_packet *p) {
  bool lockstep = p->flags & ORR_WIRE_OUT_LOCKSTEP;
  struct orr_client_coming *idle = NULL, *first = NULL, *last = NULL;
  for (int i = 0; i < ORR_CLIENT_WINDOW; i++) {
    struct orr_client_coming *w = &c->window[i];
    if (w->used && w->frame.number == p->frame)
      return w;
    idle = w->used ? idle : w;
    first = w->used && (!first || w->frame.number < first->frame.number) ? w : first;
    last = w->used && (!last || w->frame.number > last->frame.number) ? w : last;
  }
  struct orr_client_coming *to = idle ? idle : lockstep ? last : first;
  if (!idle && lockstep && p->frame > last->frame.number)
    return NULL;
  to->used = false;
  return to;
}

static void take_piece(struct orr_client *c, const struct orr_wire_packet *p, const uint8_t *piece, size_t bytes) {
  uint32_t i = (uint32_t)(p->id - c->header.telemetry_id);
  if (c->any && p->frame != c->newest + c->divisor) /* it may be that of another run */
    ask_again(c);
  if (c->any && p->frame <= c->newest) {
    come_late(c, p->frame, i + 1 == c->out_pieces);
    return;
  }
  c->gap |= p->flags & ORR_WIRE_OUT_LOCKSTEP && (!c->any || p->frame != c->newest + c->divisor);
  struct orr_client_coming *to = place_of(c, p);
  if (to && to->used && to->whole) /* waited for since: whoever comes to a run that did not begin at 0 sees it so */
    to->frame.flags |= p->flags & ORR_WIRE_OUT_AWAITED;
  if (to && to->used) /* said again, it may be awaited now */
    to->frame.flags |= p->flags & ORR_WIRE_OUT_AWAITED;
  if (!to || (to->used && to->whole))
    return;
  if (!to->used)
    to->gather = (struct orr_wire_gather){.key = p->frame};
  int whole = orr_wire_gather_add(&to->gather, p->frame, i, piece, bytes, (uint8_t *)to->payload,
                                  c->header.telemetry_bytes, c->out_piece);
  if (whole < 0) { /* not cut as our layout says */
    ask_again(c);
    return;
  }
  uint64_t awaited = to->used ? to->frame.flags & ORR_WIRE_OUT_AWAITED : 0;
  to->used = true;
  to->whole = whole == 1;
  to->frame = (struct orr_client_frame){p->frame, p->time_ns, p->answered, p->flags | awaited};
}

/* Whether a frame is the next in turn. In lockstep none is left out but what the run awaits no more; and who comes in
 * the middle begins with the one that it awaits. */
static bool in_turn(const struct orr_client *c, const struct orr_client_coming *w) {
  uint64_t flags = w->frame.flags, number = w->frame.number;
  if (!w->used || !w->whole)
    return false;
  if (!(flags & ORR_WIRE_OUT_LOCKSTEP))
    return c->any && number == c->newest + c->divisor;
  return flags & ORR_WIRE_OUT_AWAITED || (c->any ? number == c->newest + c->divisor : number < c->divisor);
}

/* The oldest frame that may be taken: the next in turn, or with `left` in real time any. */
static struct orr_client_coming *oldest(struct orr_client *c, bool left) {
  struct orr_client_coming *first = NULL;
  for (int i = 0; i < ORR_CLIENT_WINDOW; i++) {
    struct orr_client_coming *w = &c->window[i];
    bool good = in_turn(c, w) || (left && w->used && w->whole && !(w->frame.flags & ORR_WIRE_OUT_LOCKSTEP));
    first = good && (!first || w->frame.number < first->frame.number) ? w : first;
  }
  return first;
}

static bool window_is_full(const struct orr_client *c) {
  for (int i = 0; i < ORR_CLIENT_WINDOW; i++)
    if (!c->window[i].used)
      return false;
  return true;
}

static int take_frame(struct orr_client *c, struct orr_client_coming *w) {
  uint64_t steps = c->any ? (w->frame.number - c->newest) / c->divisor : 1;
  steps = steps ? steps : 1; /* not a frame of this link's, whoever sent it */
  c->before = !c->any || steps > 64 ? 0 : (steps < 64 ? c->before << steps : 0) | UINT64_C(1) << (steps - 1);
  c->missed += steps - 1;
  c->newest = w->frame.number;
  c->any = true;
  c->gap = false;
  c->frame = w->frame;
  c->frame.flags &= ~(uint64_t)ORR_WIRE_OUT_AWAITED; /* ours alone: the same frame, said again or not */
  c->taken = false;
  memcpy(c->telemetry, w->payload, 8 * orr_wire_words(c->header.telemetry_bytes));
  for (int i = 0; i < ORR_CLIENT_WINDOW; i++)
    c->window[i].used &= c->window[i].frame.number > c->newest;
  return 1;
}

/* One datagram. 1: there was one; 0: none; or the reason to end. */
static int receive(struct orr_client *c) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  struct orr_wire_packet p;
  const uint8_t *piece;
  size_t bytes;
  int status = read_packet(c, packet, &p, &piece, &bytes);
  if (status <= 0)
    return status == -EAGAIN ? 0 : status < 0 ? -ECONNRESET : 1;
  if (p.id == ORR_WIRE_DESCRIPTION_ID) {
    status = hear(c, &p);
    return status ? status : 1;
  }
  if (p.id >= c->header.telemetry_id && p.id < c->header.telemetry_id + c->out_pieces)
    take_piece(c, &p, piece, bytes);
  else
    ask_again(c);
  return 1;
}

/* A frame that waits behind a missing one waits for it in lockstep, which asks for that one, and in real time only for
 * what the kernel has already. */
static int look_on(struct orr_client *c) {
  struct orr_client_coming *left = oldest(c, true);
  if (left)
    return take_frame(c, left);
  int ended = c->ended;
  c->ended = 0;
  if (ended)
    return ended;
  if (c->gap)
    say(c, ORR_WIRE_AGAIN, c->any ? c->newest + c->divisor : ORR_WIRE_NONE);
  c->gap = false;
  return 0;
}

int orr_client_udp_look(struct orr_client *c) {
  enum { AT_A_TIME = 64 };
  for (int i = 0; i < AT_A_TIME; i++) {
    struct orr_client_coming *next = oldest(c, window_is_full(c));
    if (next)
      return take_frame(c, next);
    int status = c->ended ? 0 : receive(c);
    if (status < 0)
      c->ended = status;
    if (status <= 0)
      return look_on(c);
  }
  return 0;
}

/* ICMP tells that a port is closed, but a network may drop it and a kernel need not send it. Of a port of this very
 * host it can be found out: one that can be had is nobody's. A run that hangs keeps its own. */
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
  if (c->end.function == ORR_WIRE_END)
    write_command(c, &c->end);
  c->refused |= !c->stream && nobody_has_it(c->fd); /* told by the next look, after all that came before */
  return 0;
}

void orr_client_udp_sleep(struct orr_client *c, int64_t most_ms) {
  struct pollfd one = {.fd = c->fd, .events = POLLIN};
  poll(&one, 1, (int)most_ms);
}

/* The first answer to a frame stands, as over shared memory: which of two arrives is not left to the network. */
static void send_command(struct orr_client *c) {
  struct orr_client_kept *k = &c->kept[++c->sent & 1];
  const struct orr_client_kept *first = answer_to(c, c->frame.number);
  if (first) {
    c->sent--;
    write_command(c, first);
    return;
  }
  k->number = c->sent;
  k->answers = c->frame.number;
  k->time_ns = c->frame.time_ns;
  memcpy(k->payload, c->command, 8 * orr_wire_words(c->header.command_bytes));
  write_command(c, k);
}

int orr_client_udp_send(struct orr_client *c, uint64_t flags) {
  if (!(flags & ORR_WIRE_IN_END)) {
    send_command(c);
    return 0;
  }
  if (c->end.function != ORR_WIRE_END) /* the first time stands */
    c->end = (struct orr_client_kept){
        .number = c->sent, .answers = c->frame.number, .time_ns = c->frame.time_ns, .function = ORR_WIRE_END};
  write_command(c, &c->end);
  return 0;
}

/* The word that the run shall end may be lost, and nobody would be there to say it again. */
static void see_it_end(struct orr_client *c) {
  enum { TRIES = 10, APART_MS = 20 };
  for (int i = 0; i < TRIES && !c->over; i++) {
    orr_client_udp_sleep(c, APART_MS);
    int status;
    while ((status = receive(c)) == 1) {
    }
    c->over |= status < 0;
    if (!c->over)
      write_command(c, &c->end);
  }
}

/* No other side reports a lost packet: in lockstep the run then waits as for a silent peer. */
void orr_client_udp_close(struct orr_client *c) {
  if (c->fd >= 0) {
    if (c->places && c->end.function == ORR_WIRE_END)
      see_it_end(c);
    if (c->places && !c->over)
      say(c, ORR_WIRE_LEAVE, ORR_WIRE_NONE);
    close(c->fd);
  }
  free(c->places);
  free(c->stream);
  c->places = NULL;
  c->stream = NULL;
  orr_client_seal_free(c->seal);
  c->seal = NULL;
  c->fd = -1;
  c->refused = false;
}

void orr_client_udp_beat(struct orr_client *c) { say(c, ORR_WIRE_BEAT, ORR_WIRE_NONE); }

const struct orr_client_carrier orr_client_udp = {
    .in_memory = false,
    .look = orr_client_udp_look,
    .sleep = orr_client_udp_sleep,
    .send = orr_client_udp_send,
    .beat = orr_client_udp_beat,
    .pulse = orr_client_udp_pulse,
};
