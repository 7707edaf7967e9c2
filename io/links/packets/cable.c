#include "io/links/packets/cable.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/plant/noise.h"
#include "io/links/packets/arrival.h"
#include "io/links/packets/relay.h"
#include "rt/machine/rights.h"
#include "rt/tick/clock.h"

static struct orr_cable *cable_of(struct orr_packets *k) { return (struct orr_cable *)k; }

/* ---- the descriptor ---------------------------------------------------------------------------------------------- */

static void begin(struct orr_cable *l, int fd) {
  l->fd = fd;
  l->in = (struct orr_deframer){.framing = l->in.framing};
  l->out_at = l->out_bytes = 0;
  l->packets.peer = ORR_SENDER_ONLY;
  l->is_socket = l->packets.base.desc->transport != ORR_TRANSPORT_SERIAL;
  if (l->is_socket)
    orr_arrival_ask(fd);
  atomic_store(&l->wanted, false);
  atomic_fetch_add(&l->met, 1);
}

/* What the io thread may not do to a descriptor before it is closed is left to the opener. */
static void drop(struct orr_cable *l, int fd) {
  int before = l->way->leave ? atomic_exchange(&l->gone, fd) : fd;
  if (before >= 0)
    close(before);
}

/* Nobody is there to be told anything. The peer may come back: it has not said that it leaves. */
static void lose(struct orr_cable *l) {
  drop(l, l->fd);
  l->fd = -1;
  l->packets.peer.way = 0;
  l->out_at = l->out_bytes = 0;
  atomic_store(&l->wanted, l->way->reach != NULL);
}

/* One that comes while another speaks is turned away, as over UDP; the peer's word, or half a second of its silence,
 * makes room. */
static void accept_one(struct orr_cable *l) {
  struct orr_packets *k = &l->packets;
  int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0)
    return;
  bool welcome = !l->way->may_stay || l->way->may_stay(l, fd);
  if (!welcome || (l->fd >= 0 && orr_packets_peer_lives(k))) {
    orr_packets_refuse(k, ORR_REFUSAL_FOREIGN);
    close(fd);
    return;
  }
  if (l->fd >= 0)
    lose(l);
  begin(l, fd);
}

static void look_for_one(struct orr_cable *l) {
  if (l->listener >= 0)
    accept_one(l);
  int fd = l->fd < 0 ? atomic_exchange(&l->fresh, -1) : -1;
  if (fd >= 0)
    begin(l, fd);
}

/* In lockstep the answer to the frame before a fault is still to come through. */
static bool is_answered(const struct orr_cable *l) {
  const struct orr_packets *k = &l->packets;
  return !k->in_turn || k->newest == ORR_WIRE_NONE ||
         orr_window_has(&k->handed, (uint64_t)k->base.desc->divisor, k->newest);
}

/* A fault has pulled the plug: what was connected is gone, and nobody comes. */
static bool is_unplugged(struct orr_cable *l) {
  bool is = l->packets.unplugged && is_answered(l);
  if (!is && !l->unplugged)
    return false;
  if (is && l->fd >= 0)
    lose(l);
  int other = atomic_exchange(&l->fresh, -1);
  if (other >= 0)
    drop(l, other);
  while (is && l->listener >= 0 && (other = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
    close(other);
  atomic_store(&l->wanted, !is && l->way->reach != NULL);
  l->unplugged = is;
  return is;
}

static void *open_again(void *user) {
  enum { APART_NS = 20000000 };
  struct orr_cable *l = user;
  (void)orr_rights_drop(ORR_RIGHTS_FILES | ORR_RIGHTS_MEMORY); /* it opens what a file's rights let it open */
  while (!atomic_load(&l->over)) {
    int gone = atomic_exchange(&l->gone, -1);
    if (gone >= 0)
      l->way->leave(gone);
    if (atomic_load(&l->wanted) && atomic_load(&l->fresh) < 0) {
      int fd = l->way->reach(l);
      atomic_store(&l->reached, fd < 0 ? -fd : 0);
      if (fd >= 0) {
        atomic_store(&l->wanted, false);
        atomic_store(&l->fresh, fd);
      }
    }
    orr_clock_sleep_until(orr_clock_now_ns() + APART_NS);
  }
  return NULL;
}

int orr_cable_start(struct orr_cable *l) {
  if (!l->way->reach)
    return 0;
  sigset_t all, before;
  sigfillset(&all);
  atomic_store(&l->wanted, atomic_load(&l->fresh) < 0);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
  int error = pthread_create(&l->opener, NULL, open_again, l);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  l->opening = error == 0;
  return error;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

static void flush(struct orr_cable *l) {
  while (l->fd >= 0 && l->out_at < l->out_bytes) {
    ssize_t n = write(l->fd, l->out + l->out_at, l->out_bytes - l->out_at);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (n < 0)
      lose(l);
    else
      l->out_at += (size_t)n;
  }
  l->out_at = l->out_bytes = 0;
}

/* Draw i of a frame, from the seed, the fault's name and the frame, as that which hit it. Draw 0 was that one. */
static double draw(const struct orr_packets_wound *w, uint64_t i) {
  return orr_noise_uniform(w->fault->key, w->frame, i + 1);
}

static size_t place(const struct orr_packets_wound *w, uint64_t i, size_t count) {
  size_t at = (size_t)(draw(w, i) * (double)count);
  return at < count ? at : count - 1;
}

static void wrong_bits(const struct orr_packets_wound *w, uint8_t *bytes, size_t count) {
  bool any = false;
  for (size_t i = 0; i < 8 * count; i++)
    if (draw(w, i) < w->fault->rate) {
      bytes[i / 8] ^= (uint8_t)(1u << i % 8);
      any = true;
    }
  size_t one = place(w, 8 * count, 8 * count);
  if (!any)
    bytes[one / 8] ^= (uint8_t)(1u << one % 8);
}

/* Each byte comes `times` times where it is hit: never, or twice. */
static size_t wrong_bytes(const struct orr_packets_wound *w, uint8_t *bytes, size_t count, size_t times) {
  uint8_t was[ORR_FRAMING_MOST];
  size_t one = place(w, count, count), out = 0;
  bool any = false;
  for (size_t i = 0; i < count; i++)
    any |= draw(w, i) < w->fault->rate;
  memcpy(was, bytes, count);
  for (size_t i = 0; i < count; i++) {
    bool hit = any ? draw(w, i) < w->fault->rate : i == one;
    for (size_t k = 0; k < (hit ? times : 1) && out < ORR_FRAMING_MOST - 2; k++)
      bytes[out++] = was[i];
  }
  return out;
}

static void rubbish(const struct orr_packets_wound *w, uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    bytes[i] = (uint8_t)(256 * draw(w, i));
}

/* What is left of a frame that a fault of the line hits. Its ends stay, or it might be whole without them. */
static size_t spoil(const struct orr_cable *l, uint8_t *bytes, size_t count) {
  const struct orr_packets_wound *w = &l->packets.wound;
  const size_t end = count > 2, inner = count - 2 * end;
  size_t left = inner;
  uint8_t last = bytes[count - 1];
  switch (w->fault->trouble) {
  case ORR_LINK_BIT_ERRORS:
    wrong_bits(w, bytes + end, inner);
    break;
  case ORR_LINK_LOSES_BYTES:
    left = wrong_bytes(w, bytes + end, inner, 0);
    break;
  case ORR_LINK_DOUBLES_BYTES:
    left = wrong_bytes(w, bytes + end, inner, 2);
    break;
  case ORR_LINK_STUCK:
    memset(bytes, w->fault->rate > 0 ? 0xff : 0, count);
    return count;
  case ORR_LINK_BABBLES:
    rubbish(w, bytes, count);
    return count;
  default:
    return 0;
  }
  if (end)
    bytes[end + left] = last;
  return left + 2 * end;
}

static void send_message(struct orr_cable *l, const uint8_t *packet, size_t bytes) {
  if (send(l->fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
    return;
  int error = errno;
  orr_packets_unsent(&l->packets, error);
  if (error == EPIPE || error == ECONNRESET)
    lose(l);
}

static void hear(struct orr_cable *l, const uint8_t *bytes, size_t count);

static void push(struct orr_packets *k, const uint8_t *packet, size_t bytes) {
  struct orr_cable *l = cable_of(k);
  if (l->fd < 0) {
    orr_packets_unsent(k, ENOTCONN);
    return;
  }
  if (l->in.framing == ORR_FRAMING_NONE) {
    send_message(l, packet, bytes);
    return;
  }
  if (l->out_at > 0 && l->out_bytes < ORR_CABLE_ROOM) { /* what waits moves to the front */
    memmove(l->out, l->out + l->out_at, l->out_bytes - l->out_at);
    l->out_bytes -= l->out_at;
    l->out_at = 0;
  }
  if (ORR_CABLE_ROOM - l->out_bytes < ORR_FRAMING_MOST) {
    orr_packets_unsent(k, EAGAIN);
    return;
  }
  uint8_t *frame = l->out + l->out_bytes;
  if (l->in.framing == ORR_FRAMING_RAW)
    memcpy(frame, packet, bytes);
  else
    bytes = orr_frame_write(l->in.framing, packet, bytes, frame);
  bool babbled = k->wound.fault && k->wound.fault->trouble == ORR_LINK_BABBLES;
  if (k->wound.fault && bytes > 0)
    bytes = spoil(l, frame, bytes);
  l->out_bytes += bytes;
  if (babbled && is_answered(l)) /* who talks into what we send is heard here, too */
    hear(l, frame, bytes);
  flush(l);
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static void judge(struct orr_cable *l, const uint8_t *packet, size_t bytes, uint8_t *reply) {
  size_t answer = orr_packets_receive(&l->packets, ORR_SENDER_ONLY, packet, bytes, reply);
  l->packets.wound = (struct orr_packets_wound){0};
  if (answer && l->fd >= 0)
    push(&l->packets, reply, answer);
}

static void judge_bad(struct orr_cable *l) {
  atomic_fetch_add_explicit(&l->bad, 1, memory_order_relaxed);
  orr_packets_refuse(&l->packets, ORR_REFUSAL_MALFORMED);
}

/* Takes a bare packet, or drops what belongs to none; that is counted once for each gap. False: more bytes are needed.
 */
static bool take_next(struct orr_cable *l, uint8_t *reply) {
  const struct orr_form *form = l->packets.form->form;
  struct orr_deframer *in = &l->in;
  size_t skip = 0, packet = form->find(l->packets.form, in->bytes, in->used, &skip);
  if (skip + packet > in->used || (skip + packet == 0 && in->used == ORR_WIRE_PACKET_MAX))
    skip = in->used, packet = 0; /* no form says so */
  if (skip && !in->wrong)
    judge_bad(l);
  in->wrong = packet == 0 && (in->wrong || skip > 0);
  if (packet)
    judge(l, in->bytes + skip, packet, reply);
  in->used -= (uint32_t)(skip + packet);
  memmove(in->bytes, in->bytes + skip + packet, in->used);
  return skip + packet > 0;
}

static void take_bare(struct orr_cable *l, const uint8_t *bytes, size_t count, uint8_t *reply) {
  struct orr_deframer *in = &l->in;
  for (size_t at = 0; at < count;) {
    size_t room = ORR_WIRE_PACKET_MAX - in->used, n = count - at < room ? count - at : room;
    memcpy(in->bytes + in->used, bytes + at, n);
    in->used += (uint32_t)n;
    at += n;
    while (take_next(l, reply))
      ;
  }
}

void orr_cable_give_up(struct orr_cable *l, uint8_t *reply) {
  struct orr_deframer *in = &l->in;
  while (l->in.framing == ORR_FRAMING_RAW && in->used > 0) {
    if (!in->wrong)
      judge_bad(l);
    in->wrong = true;
    memmove(in->bytes, in->bytes + 1, --in->used);
    while (take_next(l, reply))
      ;
  }
}

void orr_cable_take(struct orr_cable *l, const uint8_t *bytes, size_t count, uint8_t *reply) {
  if (l->in.framing == ORR_FRAMING_NONE) {
    judge(l, bytes, count <= ORR_WIRE_PACKET_MAX ? count : 0, reply);
    return;
  }
  if (l->in.framing == ORR_FRAMING_RAW) {
    take_bare(l, bytes, count, reply);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    int packet = orr_frame_read(&l->in, bytes[i]);
    if (packet > 0)
      judge(l, l->in.bytes, (size_t)packet, reply);
    else if (packet < 0)
      judge_bad(l);
  }
}

/* Bytes of others, none of which make a packet but by a chance that its sum finds. */
static void hear(struct orr_cable *l, const uint8_t *bytes, size_t count) {
  uint8_t reply[ORR_WIRE_PACKET_MAX], heard[ORR_FRAMING_MOST];
  memcpy(heard, bytes, count);
  orr_cable_take(l, heard, count, reply);
}

/* Bytes or a message, and when they came. */
static ssize_t receive(struct orr_cable *l, uint8_t *to, size_t most) {
  _Alignas(struct cmsghdr) char control[ORR_ARRIVAL_ROOM];
  struct iovec piece = {to, most};
  struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int flags = l->in.framing == ORR_FRAMING_NONE ? MSG_TRUNC | MSG_DONTWAIT : MSG_DONTWAIT;
  ssize_t n = l->is_socket ? recvmsg(l->fd, &m, flags) : read(l->fd, to, most);
  if (n > 0)
    l->packets.arrived_ns = l->is_socket ? orr_arrival_of_message(&m) : orr_clock_now_ns();
  return n;
}

/* At most so much at a time, so that one flooded link does not starve the others or what goes out. A bare packet is
 * looked for at each byte, which costs more. */
static bool pull(struct orr_packets *k, uint8_t *scratch, uint8_t *reply) {
  enum { AT_A_TIME = 16, BARE = 512 };
  struct orr_cable *l = cable_of(k);
  bool came = false;
  if (is_unplugged(l))
    return false;
  look_for_one(l);
  flush(l);
  const bool bare = l->in.framing == ORR_FRAMING_RAW;
  for (int i = 0; i < (bare ? 1 : AT_A_TIME) && l->fd >= 0; i++) {
    ssize_t n = receive(l, scratch, bare ? BARE : ORR_WIRE_PACKET_MAX);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      break;
    if (n <= 0) {
      lose(l);
      break;
    }
    came = true;
    orr_cable_take(l, scratch, (size_t)n, reply);
  }
  if (bare && l->in.used > 0) {
    int64_t now_ns = orr_clock_now_ns();
    if (came)
      l->heard_ns = now_ns;
    else if (now_ns - l->heard_ns > ORR_WIRE_SILENCE_MS * INT64_C(1000000))
      orr_cable_give_up(l, reply);
  }
  return came;
}

static int watch(struct orr_packets *k, struct pollfd *out) {
  struct orr_cable *l = cable_of(k);
  out[0] = (struct pollfd){.fd = l->fd, .events = (short)(POLLIN | (l->out_bytes > 0 ? POLLOUT : 0))};
  out[1] = (struct pollfd){.fd = l->listener, .events = POLLIN};
  return 2;
}

static const struct orr_packets_mover mover = {.watch = watch, .pull = pull, .push = push};

/* ---- the carrier ------------------------------------------------------------------------------------------------- */

struct orr_cable *orr_cable_of(struct orr_carrier *c) {
  return (struct orr_cable *)orr_packets_of(c);
}

/* Its memory is made when it is opened: for a run in batch there is none but this. */
void orr_cable_lay_out(struct orr_carrier *c, const struct orr_run_link *desc, const struct orr_channel_table *table,
                       struct orr_block *block) {
  (void)desc;
  (void)table;
  (void)block;
  if (!c)
    return;
  struct orr_cable *l = orr_cable_of(c);
  *l = (struct orr_cable){.packets.base = *c, .fd = -1, .listener = -1, .fresh = -1, .gone = -1};
}

int orr_cable_prepare(struct orr_cable *l, const struct orr_cable_way *way, int64_t step_ns) {
  const struct orr_carrier base = l->packets.base;
  *l = (struct orr_cable){.packets.base = {.kind = base.kind, .desc = base.desc, .layout = base.layout},
                          .packets.mover = &mover,
                          .way = way,
                          .fd = -1,
                          .listener = -1,
                          .fresh = -1,
                          .gone = -1,
                          .in.framing = base.desc->framing};
  atomic_store(&l->packets.base.shut, atomic_load(&base.shut));
  l->packets.told = ORR_SENDER_ONLY;
  l->packets.is_line = true;
  return orr_packets_make(&l->packets, step_ns);
}

void orr_cable_close(struct orr_cable *l) {
  atomic_store(&l->over, true);
  if (l->opening)
    pthread_join(l->opener, NULL);
  l->opening = false;
  const int all[] = {l->listener, l->fd, atomic_load(&l->fresh), atomic_exchange(&l->gone, -1)};
  for (int i = 0; i < 4; i++)
    if (all[i] >= 0 && i > 0 && l->way->leave)
      l->way->leave(all[i]);
    else if (all[i] >= 0)
      close(all[i]);
  l->fd = l->listener = -1;
  atomic_store(&l->fresh, -1);
  orr_packets_free(&l->packets);
}

void orr_cable_shut(struct orr_carrier *c) { orr_cable_close(orr_cable_of(c)); }

bool orr_cable_join(struct orr_carrier *c, struct orr_relay *relay) { return orr_relay_add(relay, orr_packets_of(c)); }

struct orr_link_losses orr_cable_losses(const struct orr_carrier *c) {
  const struct orr_cable *l = (const struct orr_cable *)c;
  struct orr_link_losses out = orr_packets_kind_losses(c);
  uint64_t met = atomic_load(&l->met);
  out.reconnected = met > 1 ? met - 1 : 0;
  out.bad_frames = atomic_load(&l->bad);
  out.not_reached = met == 0 ? atomic_load(&l->reached) : 0;
  return out;
}

void orr_cable_document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  static const char *const how[] = {
      [ORR_FRAMING_NONE] = "",
      [ORR_FRAMING_COBS] =
          "Each packet is a frame: the packet, its CRC-32C (u32, little-endian), coded by COBS, a zero "
          "before and behind. ",
      [ORR_FRAMING_SLIP] = "Each packet is a frame: the packet, its CRC-32C (u32, little-endian), coded by SLIP (RFC "
                           "1055), 0xc0 before and behind. ",
      [ORR_FRAMING_RAW] = "Packets stand bare behind one another. ",
  };
  static const char *const units[] = {"message", "frame", "frame", "packet"};
  int said = snprintf(text, size, "%s", how[desc->framing]);
  if (said >= 0 && (size_t)said < size)
    orr_form_of(desc)->document(desc, h, units[desc->framing], text + said, size - (size_t)said);
}
