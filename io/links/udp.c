#include "io/links/udp.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "io/links/owner.h"
#include "io/links/relay.h"
#include "io/wire/key.h"
#include "rt/tick/clock.h"

/* ---- the rt thread ----------------------------------------------------------------------------------------------- */

void orr_udp_publish(struct orr_udp *u, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values) {
  uint64_t *slot = orr_ring_claim(&u->out), **last = &u->last[u->frames & 1];
  *last = slot ? slot : u->aside[u->frames & 1];
  u->frames++;
  memcpy(*last, head, 8 * ORR_WIRE_OUT_WORDS);
  orr_layout_pack(&u->base.layout->telemetry, values, *last + ORR_WIRE_OUT_WORDS);
  u->before = orr_ring_used(&u->in);
  atomic_store_explicit(&u->asked, 0, memory_order_relaxed); /* here is another: who misses one more asks again */
  if (slot)
    orr_ring_commit(&u->out);
  atomic_store_explicit(&u->published_ns, orr_clock_now_ns(), memory_order_release); /* so that the next is expected */
}

/* Frame `i` into the ring once more. It may still stand there, in a slot that comes to be filled again: that of the
 * newest copy, or the one aside, is safe until the next time. */
static void hand_over_again(struct orr_udp *u, uint64_t i, bool awaited) {
  uint64_t *slot = orr_ring_claim(&u->out), *from = u->last[i & 1], *to = slot ? slot : u->aside[i & 1];
  if (from != to)
    memcpy(to, from, u->out.slot_bytes);
  u->last[i & 1] = to;
  to[ORR_WIRE_OUT_FLAGS] |= awaited ? ORR_WIRE_OUT_AWAITED : 0;
  if (slot)
    orr_ring_commit(&u->out);
}

void orr_udp_repeat(struct orr_udp *u) {
  if (u->frames > 1)
    hand_over_again(u, u->frames - 2, true);
  if (u->frames > 0)
    hand_over_again(u, u->frames - 1, false);
}

bool orr_udp_take(struct orr_udp *u, struct orr_rules *rules) {
  rules->counts.peers = atomic_load_explicit(&u->peers, memory_order_relaxed);
  for (int i = 0; i < ORR_UDP_IN_SLOTS; i++) {
    struct orr_udp_command *slot = orr_ring_peek(&u->in);
    if (!slot)
      break;
    if (u->before && slot->answers == (uint64_t)rules->published) {
      orr_rules_refuse(rules, ORR_REFUSAL_MALFORMED);
    } else {
      uint64_t *came = slot->payload;
      slot->payload = rules->room;
      rules->room = came;
      orr_rules_offer(rules, slot->answers);
    }
    u->before -= u->before > 0;
    orr_ring_release(&u->in);
  }
  uint32_t ended = atomic_load(&u->ended);
  if (ended != u->ended_seen)
    orr_rules_end(rules, atomic_load(&u->end_answers));
  u->ended_seen = ended;
  return ended != 0;
}

void orr_udp_wait(struct orr_udp *u, int64_t most_ns) {
  enum { SPIN_NS = 50000, NAP_NS = 20000 };
  int64_t begin_ns = orr_clock_now_ns(), now_ns = begin_ns;
  while (orr_ring_used(&u->in) == 0 && atomic_load(&u->ended) == u->ended_seen && now_ns - begin_ns < most_ns) {
    if (atomic_exchange(&u->asked, 0))
      orr_udp_repeat(u);
    if (now_ns - begin_ns > SPIN_NS)
      orr_clock_sleep_until(now_ns + NAP_NS);
    else
      orr_wire_pause();
    now_ns = orr_clock_now_ns();
  }
}

/* ---- the relay --------------------------------------------------------------------------------------------------- */

static size_t refuse(struct orr_udp *u, enum orr_refusal why) {
  atomic_fetch_add_explicit(&u->refused[why], 1, memory_order_relaxed);
  return 0;
}

static bool allowed(const struct orr_udp *u, const struct sockaddr_in *from) {
  uint32_t ip = ntohl(from->sin_addr.s_addr);
  for (int i = 0; i < u->base.desc->allow_count; i++)
    if (u->base.desc->allow[i] == ip)
      return true;
  return false;
}

static bool same_address(const struct sockaddr_in *a, const struct sockaddr_in *b) {
  return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

static bool is_peer(const struct orr_udp *u, uint32_t generation, const struct sockaddr_in *from) {
  return (!u->seal || u->came.peer == u->seal->peer) && atomic_load_explicit(&u->peers, memory_order_relaxed) &&
         generation == u->generation && !atomic_load_explicit(&u->left, memory_order_relaxed) &&
         same_address(from, &u->commander);
}

static bool is_silent(const struct orr_udp *u, int64_t now_ns) {
  return now_ns - u->heard_ns >= ORR_WIRE_SILENCE_MS * INT64_C(1000000);
}

bool orr_udp_peer_lives(const struct orr_udp *u) {
  return atomic_load(&u->peers) > 0 && !atomic_load(&u->left) && !is_silent(u, orr_clock_now_ns());
}

/* Later in the sense of numbers that wrap. Where the run file names the peer it is of that address; it may command from
 * another port than it listens at. */
static bool may_enter(const struct orr_udp *u, uint32_t generation, const struct sockaddr_in *from, int64_t now_ns) {
  const struct orr_run_address *told = &u->base.desc->peer;
  if (told->port && ntohl(from->sin_addr.s_addr) != told->ip)
    return false;
  if (!atomic_load_explicit(&u->peers, memory_order_relaxed))
    return true;
  return (int32_t)(generation - u->generation) > 0 &&
         (same_address(from, &u->commander) || atomic_load(&u->left) || is_silent(u, now_ns));
}

static void enter_peer(struct orr_udp *u, uint32_t generation, const struct sockaddr_in *from) {
  u->generation = generation;
  u->commander = *from;
  u->taken_count = 0;
  if (!u->base.desc->peer.port)
    u->peer = *from;
  atomic_store(&u->left, false);
  atomic_fetch_add(&u->peers, 1);
  atomic_store(&u->asked, 1); /* where shall it begin? */
}

/* Those that are refused are not told so often that it would make traffic. */
static bool may_tell(int64_t *told_ns, int64_t now_ns) {
  enum { APART_NS = 5000000 };
  if (now_ns - *told_ns < APART_NS)
    return false;
  *told_ns = now_ns;
  return true;
}

/* Counts what is not the peer's, and tells its sender. */
static size_t refuse_foreign(struct orr_udp *u, uint32_t generation, int64_t now_ns, uint8_t *reply) {
  refuse(u, ORR_REFUSAL_FOREIGN);
  if (!may_tell(&u->told_ns, now_ns))
    return 0;
  const struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID,
                                    .count = u->description_count++,
                                    .flags = ORR_WIRE_OUT_TAKEN,
                                    .answered = generation,
                                    .time_ns = (int64_t)((uint64_t)u->run << 32 | u->generation)};
  return orr_wire_packet_write(reply, &p, NULL, 0);
}

static size_t describe_piece(struct orr_udp *u, uint64_t piece, uint8_t *reply) {
  uint64_t at = piece * u->description_piece;
  if (piece > UINT32_MAX || at >= u->description_bytes)
    return refuse(u, ORR_REFUSAL_MALFORMED);
  size_t left = u->description_bytes - at, bytes = left < u->description_piece ? left : u->description_piece;
  const struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID,
                                    .count = u->description_count++,
                                    .frame = piece,
                                    .answered = u->description_bytes,
                                    .time_ns = (int64_t)((uint64_t)u->run << 32 | u->generation)};
  return orr_wire_packet_write(reply, &p, u->description + at, bytes);
}

/* What the rules would say too, said early: a flood of old packets must not fill the ring, or disturb what is being
 * gathered. The first answer to a frame goes through all the same: they account for it. */
static bool is_stale(struct orr_udp *u, const struct orr_wire_packet *p) {
  if (u->applied == ORR_WIRE_NONE || p->answered >= u->applied)
    return false;
  uint64_t divisor = (uint64_t)u->base.desc->divisor;
  return orr_window_has(&u->handed, divisor, p->answered) || !orr_window_reaches(divisor, u->applied, p->answered);
}

static bool is_copy(const struct orr_udp *u, const struct orr_udp_taken *t) {
  for (uint32_t i = 0; i < ORR_UDP_TAKEN && i < u->taken_count; i++)
    if (u->taken[i].frame == t->frame && u->taken[i].answered == t->answered && u->taken[i].crc == t->crc)
      return true;
  return false;
}

/* Where a command comes together: the oldest that does so gives way to another. */
static struct orr_udp_gathering *gathering_of(struct orr_udp *u, uint64_t key) {
  struct orr_udp_gathering *to = &u->gathering[0];
  for (int i = 0; i < ORR_UDP_GATHERINGS; i++) {
    struct orr_udp_gathering *g = &u->gathering[i];
    if (g->gather.key == key) {
      to = g;
      break;
    }
    to = (int32_t)(g->age - to->age) < 0 ? g : to;
  }
  to->age = ++u->gathered;
  return to;
}

static size_t take_command(struct orr_udp *u, const struct orr_wire_packet *p, const uint8_t *piece, size_t bytes) {
  if (is_stale(u, p))
    return refuse(u, ORR_REFUSAL_STALE);
  struct orr_udp_gathering *g = gathering_of(u, p->frame);
  int whole = orr_wire_gather_add(&g->gather, p->frame, (uint32_t)(p->id - u->base.desc->command_id), piece, bytes,
                                  (uint8_t *)g->payload, u->base.layout->commands.bytes, u->in_cut.piece);
  if (whole < 0)
    return refuse(u, ORR_REFUSAL_MALFORMED);
  if (whole == 0)
    return 0;
  const struct orr_udp_taken taken = {p->frame, p->answered,
                                      orr_wire_crc((const uint8_t *)g->payload, u->base.layout->commands.bytes)};
  if (is_copy(u, &taken))
    return refuse(u, ORR_REFUSAL_DUPLICATE);
  struct orr_udp_command *slot = orr_ring_claim(&u->in);
  if (!slot)
    return refuse(u, ORR_REFUSAL_DROPPED);
  u->taken[u->taken_count++ % ORR_UDP_TAKEN] = taken;
  orr_window_add(&u->handed, (uint64_t)u->base.desc->divisor, p->answered);
  uint64_t *place = slot->payload;
  *slot = (struct orr_udp_command){p->answered, g->payload};
  g->payload = place;
  orr_ring_commit(&u->in);
  return 0;
}

/* Right in all but the version of CCSDS packets, which is in the first three bits. */
static bool is_of_another_version(const uint8_t *bytes, size_t count) {
  enum { LEAST = ORR_WIRE_COMMAND_AT + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES };
  uint32_t crc;
  if (count < LEAST || count > ORR_WIRE_PACKET_MAX || bytes[0] >> 5 == 0 || orr_wire_xor(bytes, count) != 0)
    return false;
  memcpy(&crc, bytes + count - ORR_WIRE_CRC_BYTES, sizeof crc);
  return crc == orr_wire_crc(bytes + ORR_WIRE_COMMAND_AT, count - ORR_WIRE_COMMAND_AT - ORR_WIRE_CRC_BYTES);
}

/* The tag of another layout; a peer that does not say any is judged by lengths alone. */
static bool is_of_another_layout(const struct orr_udp *u, const struct orr_wire_packet *p) {
  uint16_t tag = (uint16_t)(p->frame >> 16);
  return tag != 0 && tag != orr_wire_layout_tag(u->base.layout->hash);
}

/* A piece of a command has the length that it should have, and a word none. */
static bool is_whole(const struct orr_udp *u, const struct orr_wire_packet *p, size_t bytes) {
  size_t i = (size_t)(p->id - u->base.desc->command_id), all = u->base.layout->commands.bytes, whole = u->in_cut.piece;
  if (p->function != ORR_WIRE_COMMANDS)
    return bytes == 0;
  return bytes == (i + 1 < u->in_cut.pieces ? whole : all - i * whole);
}

/* Nobody is there to be told anything. */
static void leave(struct orr_udp *u) {
  atomic_store(&u->left, true);
  if (!u->base.desc->peer.port)
    u->peer.sin_port = 0;
}

static size_t receive(struct orr_udp *u, const struct sockaddr_in *from, const uint8_t *bytes, size_t count,
                      uint8_t *reply) {
  struct orr_wire_packet p;
  const uint8_t *piece;
  size_t piece_bytes;
  if (!orr_wire_packet_read(bytes, count, &p, &piece, &piece_bytes))
    return refuse(u, is_of_another_version(bytes, count) ? ORR_REFUSAL_VERSION : ORR_REFUSAL_MALFORMED);
  if (p.id == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) && p.function == ORR_WIRE_DESCRIBE)
    return atomic_load_explicit(&u->base.shut, memory_order_relaxed) ? 0 : describe_piece(u, p.frame, reply);
  if (p.id < u->base.desc->command_id || p.id >= u->base.desc->command_id + u->in_cut.pieces ||
      p.function >= ORR_WIRE_FUNCTIONS)
    return refuse(u, ORR_REFUSAL_VERSION);
  if (is_of_another_layout(u, &p))
    return refuse(u, ORR_REFUSAL_LAYOUT);
  if (!is_whole(u, &p, piece_bytes)) /* before it takes anybody's place */
    return refuse(u, ORR_REFUSAL_MALFORMED);
  uint32_t generation = (uint32_t)(p.frame >> 32);
  int64_t now_ns = orr_clock_now_ns();
  if (!is_peer(u, generation, from)) {
    bool greets = p.function == ORR_WIRE_COMMANDS || p.function == ORR_WIRE_BEAT || p.function == ORR_WIRE_AGAIN;
    if (!greets || !may_enter(u, generation, from, now_ns))
      return refuse_foreign(u, generation, now_ns, reply);
    enter_peer(u, generation, from);
  }
  if (u->seal)
    orr_seal_enter(u->seal, &u->came);
  u->heard_ns = now_ns;
  atomic_fetch_add_explicit(&u->heard, 1, memory_order_relaxed);
  if (p.function == ORR_WIRE_END) {
    if (atomic_load(&u->ended) == 0 || p.answered < atomic_load(&u->end_answers))
      atomic_store(&u->end_answers, p.answered);
    atomic_fetch_add(&u->ended, 1);
  } else if (p.function == ORR_WIRE_AGAIN)
    atomic_store(&u->asked, 1);
  else if (p.function == ORR_WIRE_LEAVE)
    leave(u);
  else if (p.function == ORR_WIRE_COMMANDS)
    return take_command(u, &p, piece, piece_bytes);
  return 0;
}

/* A packet as it goes out. */
static size_t sealed(struct orr_udp *u, uint64_t peer, uint8_t *packet, size_t bytes) {
  return u->seal && bytes ? orr_seal_put(u->seal, peer, packet, bytes) : bytes;
}

static bool is_question(const uint8_t *bytes, size_t count) {
  return count > ORR_WIRE_PRIMARY_BYTES &&
         orr_wire_get_big(bytes, 2) == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) &&
         bytes[ORR_WIRE_PRIMARY_BYTES] == ORR_WIRE_DESCRIBE;
}

/* Who asks without our key is told that there is one: its user will wonder. The word has no seal, and is worth nothing
 * else. */
static size_t refuse_forged(struct orr_udp *u, const uint8_t *bytes, size_t count, uint8_t *reply) {
  const struct orr_wire_packet p = {
      .id = ORR_WIRE_DESCRIPTION_ID, .count = u->description_count, .flags = ORR_WIRE_OUT_KEYED};
  refuse(u, ORR_REFUSAL_FORGED);
  return is_question(bytes, count) && may_tell(&u->keyed_ns, orr_clock_now_ns())
             ? orr_wire_packet_write(reply, &p, NULL, 0)
             : 0;
}

size_t orr_udp_receive(struct orr_udp *u, const struct sockaddr_in *from, const uint8_t *bytes, size_t count,
                       uint8_t *reply) {
  if (!allowed(u, from))
    return refuse(u, ORR_REFUSAL_FOREIGN);
  if (!u->seal)
    return receive(u, from, bytes, count, reply);
  size_t packet_bytes;
  if (!orr_seal_check(u->seal, bytes, count, &u->came, &packet_bytes))
    return refuse_forged(u, bytes, count, reply);
  bool asks = is_question(bytes, packet_bytes) && u->came.run == 0; /* by whom is known from the answer alone */
  if (!asks && orr_seal_is_old(u->seal, &u->came))
    return refuse(u, ORR_REFUSAL_REPLAYED);
  return sealed(u, u->came.peer, reply, receive(u, from, bytes, packet_bytes, reply));
}

/* A frame goes out, or goes out again. */
static void note_frame(struct orr_udp *u, const uint64_t *slot) {
  uint64_t frame = slot[ORR_WIRE_OUT_FRAME];
  if (u->newest != ORR_WIRE_NONE && frame <= u->newest)
    return;
  orr_window_remove(&u->handed, (uint64_t)u->base.desc->divisor, frame);
  u->newest = frame;
  u->applied = slot[ORR_WIRE_OUT_ANSWERED];
}

size_t orr_udp_send(struct orr_udp *u, uint32_t *piece, uint8_t *packet) {
  const uint64_t *slot = orr_ring_peek(&u->out);
  if (!slot)
    return 0;
  note_frame(u, slot);
  if (!u->peer.sin_port) { /* nobody to tell */
    orr_ring_release(&u->out);
    return 0;
  }
  size_t at = *piece * u->out_cut.piece, left = u->base.layout->telemetry.bytes - at;
  const struct orr_wire_packet p = {.id = (uint16_t)(u->base.desc->telemetry_id + *piece),
                                    .count = u->counts[*piece]++,
                                    .flags = (uint32_t)slot[ORR_WIRE_OUT_FLAGS],
                                    .frame = slot[ORR_WIRE_OUT_FRAME],
                                    .answered = slot[ORR_WIRE_OUT_ANSWERED],
                                    .time_ns = (int64_t)slot[ORR_WIRE_OUT_TIME_NS]};
  size_t bytes = orr_wire_packet_write(packet, &p, (const uint8_t *)(slot + ORR_WIRE_OUT_WORDS) + at,
                                       left < u->out_cut.piece ? left : u->out_cut.piece);
  bytes = sealed(u, u->seal ? u->seal->peer : 0, packet, bytes);
  if (++*piece < u->out_cut.pieces)
    return bytes;
  *piece = 0;
  orr_ring_release(&u->out);
  return bytes;
}

void orr_udp_unsent(struct orr_udp *u, int error) {
  if (error == EAGAIN || error == ENOBUFS || error == ENOMEM) {
    atomic_fetch_add_explicit(&u->unsent_full, 1, memory_order_relaxed);
    return;
  }
  atomic_store_explicit(&u->send_error, error, memory_order_relaxed);
  atomic_fetch_add_explicit(&u->unsent, 1, memory_order_relaxed);
}

size_t orr_udp_farewell(struct orr_udp *u, uint8_t *packet) {
  const struct orr_wire_packet p = {
      .id = ORR_WIRE_DESCRIPTION_ID, .count = u->description_count++, .flags = ORR_WIRE_OUT_ENDED};
  return u->peer.sin_port ? sealed(u, u->seal ? u->seal->peer : 0, packet, orr_wire_packet_write(packet, &p, NULL, 0))
                          : 0;
}

/* ---- the carrier ------------------------------------------------------------------------------------------------- */

/* To publish or to take is to copy a few kilobytes. A packet may be lost on the way: what is not answered within a wait
 * is said again, and a wait is long enough that few are said twice for nothing. */
enum { HANDOVER_NS = 100000, FIRST_WAIT_NS = 20000000 };

struct orr_udp *orr_udp_of(struct orr_carrier *c) {
  assert(c->kind == &orr_carrier_udp);
  return (struct orr_udp *)c;
}

static const struct orr_udp *const_udp(const struct orr_carrier *c) { return (const struct orr_udp *)c; }

/* Its memory is made when it is opened: for a run in batch there is none. */
static void lay_out(struct orr_carrier *c, const struct orr_run_link *desc, const struct orr_channel_table *table,
                    struct orr_block *block) {
  (void)desc;
  (void)table;
  (void)block;
  if (c)
    *orr_udp_of(c) = (struct orr_udp){.base = *c, .fd = -1};
}

static int open_socket(struct orr_carrier *c, int64_t step_ns) {
  bool shut = c->shut;
  int error = orr_udp_open(orr_udp_of(c), c->desc, c->layout, step_ns);
  c->shut = shut;
  return error;
}

static void close_socket(struct orr_carrier *c) { orr_udp_close(orr_udp_of(c)); }

static bool join(struct orr_carrier *c, struct orr_relay *relay) { return orr_relay_add(relay, orr_udp_of(c)); }

/* No answer before that: a client asks until it is answered. */
static void admit(struct orr_carrier *c) { (void)c; }

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
  int said = snprintf(
      text, size,
      "UDP: commands to %u.%u.%u.%u:%u. One CCSDS space packet per datagram, cFE's default headers (big-endian): 6 "
      "bytes primary; "
      "telemetry then u32 seconds, u16 subseconds, u32 flags; commands then u8 function code (0 command, 1 end the "
      "run, 2 alive, "
      "4 say again what is not answered, 5 the sender closes the link), u8 checksum. Then little-endian: u64 frame, "
      "i64 simulated time in ns, u64 "
      "answered frame, payload, u32 "
      "CRC-32C from the "
      "frame on. In a command the frame is the sender's generation (upper 32 bits: a later number for each start), the "
      "layout's tag (16 bits: 0x%04x, or 0 for a sender that does not say) and a count (16 bits). Flags of a frame: %d "
      "commands have stopped, %d the last one came late, %d lockstep, %d said again and awaited. Take frames in turn, "
      "whatever the order in which they come; in lockstep leave none out, and answer one that comes again by the same "
      "packets. A later generation takes the place of a peer that has left, or was silent for %d ms.\n",
      ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255, (unsigned)desc->listen.port,
      (unsigned)orr_wire_layout_tag(h->layout_hash), ORR_WIRE_OUT_TIMED_OUT, ORR_WIRE_OUT_LATE, ORR_WIRE_OUT_LOCKSTEP,
      ORR_WIRE_OUT_AWAITED, ORR_WIRE_SILENCE_MS);
  if (desc->key_file && said > 0 && (size_t)said < size)
    snprintf(text + said, size - (size_t)said,
             "A seal stands behind each packet in its datagram, both ways, little-endian: u64 run, u64 peer, u64 "
             "counter, then %d bytes of BLAKE2b with the key of %d bytes over the packet and these three. The packet's "
             "own length does not count it. The peer's number is random, another for each opening, and the run answers "
             "with it; the run's number is in its answer to function code 3, which is sealed with 0 in its place. The "
             "counter goes up by one with each packet; either side takes one of each number, and none of another run. "
             "All together are io/wire/wire.h.\n",
             ORR_WIRE_MAC_BYTES, ORR_WIRE_KEY_BYTES);
}

static void publish(struct orr_carrier *c, struct orr_rules *rules, const uint64_t head[ORR_WIRE_OUT_WORDS],
                    const double *values) {
  (void)rules;
  orr_udp_publish(orr_udp_of(c), head, values);
}

static bool take(struct orr_carrier *c, struct orr_rules *rules) { return orr_udp_take(orr_udp_of(c), rules); }

static uint64_t beats(const struct orr_carrier *c) {
  return atomic_load_explicit(&const_udp(c)->heard, memory_order_relaxed);
}

static void wait_for_command(struct orr_carrier *c, int64_t most_ns) { orr_udp_wait(orr_udp_of(c), most_ns); }

static void repeat(struct orr_carrier *c) { orr_udp_repeat(orr_udp_of(c)); }

static bool left(const struct orr_carrier *c) { return atomic_load(&const_udp(c)->left); }

static bool lives(const struct orr_carrier *c) { return atomic_load(&const_udp(c)->peers) > 0 && !left(c); }

static enum orr_peer_process process(const struct orr_carrier *c) {
  return left(c) ? ORR_PROCESS_LEFT : lives(c) ? ORR_PROCESS_UNSEEN : ORR_PROCESS_NOBODY;
}

static bool dead(const struct orr_carrier *c) {
  (void)c;
  return false;
}

static void add_refused(const struct orr_carrier *c, uint64_t counts[ORR_REFUSALS]) {
  for (int i = 0; i < ORR_REFUSALS; i++)
    counts[i] += atomic_load(&const_udp(c)->refused[i]);
}

static struct orr_link_losses losses(const struct orr_carrier *c) {
  const struct orr_udp *u = const_udp(c);
  return (struct orr_link_losses){.not_received = orr_udp_overflow(u),
                                  .full = atomic_load(&u->unsent_full),
                                  .unsent = atomic_load(&u->unsent),
                                  .error = atomic_load(&u->send_error),
                                  .not_relayed = orr_ring_refused(&u->out)};
}

const struct orr_carrier_kind orr_carrier_udp = {
    .name = "udp",
    .outside = true,
    .packets = true,
    .handover_ns = HANDOVER_NS,
    .first_wait_ns = FIRST_WAIT_NS,
    .bytes = sizeof(struct orr_udp),
    .lay_out = lay_out,
    .open = open_socket,
    .close = close_socket,
    .join = join,
    .admit = admit,
    .describe = describe,
    .explain = explain,
    .document = document,
    .publish = publish,
    .take = take,
    .beats = beats,
    .wait = wait_for_command,
    .repeat = repeat,
    .lives = lives,
    .left = left,
    .process = process,
    .dead = dead,
    .refused = add_refused,
    .losses = losses,
};
