#include "io/links/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "rt/tick/clock.h"

/* ---- the rt thread ----------------------------------------------------------------------------------------------- */

static void hand_over(struct orr_udp *u, const uint64_t *words) {
  uint64_t *slot = orr_ring_claim(&u->out);
  if (!slot)
    return;
  memcpy(slot, words, u->out.slot_bytes);
  orr_ring_commit(&u->out);
}

void orr_udp_publish(struct orr_udp *u, const uint64_t head[ORR_WIRE_OUT_WORDS], const uint64_t *payload) {
  uint64_t *to = u->last[u->frames++ & 1];
  memcpy(to, head, 8 * ORR_WIRE_OUT_WORDS);
  memcpy(to + ORR_WIRE_OUT_WORDS, payload, 8 * orr_wire_words(u->layout->telemetry.bytes));
  u->before = orr_ring_used(&u->in);
  hand_over(u, to);
  atomic_store_explicit(&u->published_ns, orr_clock_now_ns(), memory_order_release); /* so that the next is expected */
}

void orr_udp_repeat(struct orr_udp *u) {
  if (u->frames > 1)
    hand_over(u, u->last[u->frames & 1]);
  hand_over(u, u->last[(u->frames - 1) & 1]);
}

bool orr_udp_take(struct orr_udp *u, struct orr_rules *rules) {
  rules->counts.peers = atomic_load_explicit(&u->peers, memory_order_relaxed);
  for (int i = 0; i < ORR_UDP_IN_SLOTS; i++) {
    const uint64_t *slot = orr_ring_peek(&u->in);
    if (!slot)
      break;
    if (u->before && slot[0] == (uint64_t)rules->published)
      orr_rules_refuse(rules, ORR_REFUSAL_MALFORMED);
    else
      orr_rules_offer(rules, slot[0], slot + 1);
    u->before -= u->before > 0;
    orr_ring_release(&u->in);
  }
  return atomic_load_explicit(&u->ended, memory_order_relaxed) != 0;
}

void orr_udp_wait(struct orr_udp *u, int64_t most_ns) {
  enum { SPIN_NS = 50000, NAP_NS = 20000 };
  int64_t begin_ns = orr_clock_now_ns(), now_ns = begin_ns;
  while (orr_ring_used(&u->in) == 0 && !atomic_load(&u->ended) && now_ns - begin_ns < most_ns) {
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
  for (int i = 0; i < u->desc->allow_count; i++)
    if (u->desc->allow[i] == ip)
      return true;
  return false;
}

/* Later in the sense of numbers that wrap. A copy of its packets from elsewhere does not lead its frames there. */
static bool enter_peer(struct orr_udp *u, uint32_t generation, const struct sockaddr_in *from) {
  uint32_t peers = atomic_load_explicit(&u->peers, memory_order_relaxed);
  bool told = u->desc->peer.port != 0;
  if (peers && generation == u->generation)
    return told || (u->peer.sin_addr.s_addr == from->sin_addr.s_addr && u->peer.sin_port == from->sin_port);
  if (peers && (int32_t)(generation - u->generation) < 0)
    return false;
  atomic_store(&u->peers, peers + 1);
  u->generation = generation;
  u->taken_count = 0;
  if (!told)
    u->peer = *from;
  return true;
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
                                    .time_ns = u->generation};
  return orr_wire_packet_write(reply, &p, u->description + at, bytes);
}

static uint64_t *handed_word(struct orr_udp *u, uint64_t frame, uint64_t *bit) {
  uint64_t at = frame / (uint64_t)u->desc->divisor % ORR_ANSWER_WINDOW;
  *bit = UINT64_C(1) << at % 64;
  return &u->handed[at / 64];
}

/* What the rules would say too, said early: a flood of old packets must not fill the ring, or disturb what is being
 * gathered. The first answer to a frame goes through all the same: they account for it. */
static bool is_stale(struct orr_udp *u, const struct orr_wire_packet *p) {
  if (u->applied == ORR_WIRE_NONE || p->answered >= u->applied)
    return false;
  uint64_t bit, *word = handed_word(u, p->answered, &bit);
  return *word & bit || (u->applied - p->answered) / (uint64_t)u->desc->divisor >= ORR_ANSWER_WINDOW;
}

static bool is_copy(const struct orr_udp *u, const struct orr_udp_taken *t) {
  for (uint32_t i = 0; i < ORR_UDP_TAKEN && i < u->taken_count; i++)
    if (u->taken[i].frame == t->frame && u->taken[i].answered == t->answered && u->taken[i].crc == t->crc)
      return true;
  return false;
}

static size_t take_command(struct orr_udp *u, const struct orr_wire_packet *p, const uint8_t *piece, size_t bytes) {
  if (is_stale(u, p))
    return refuse(u, ORR_REFUSAL_STALE);
  int whole = orr_wire_gather_add(&u->gather, p->frame, (uint32_t)(p->id - u->desc->command_id), piece, bytes,
                                  (uint8_t *)u->gathered, u->layout->commands.bytes, u->in_piece);
  if (whole < 0)
    return refuse(u, ORR_REFUSAL_MALFORMED);
  if (whole == 0)
    return 0;
  const struct orr_udp_taken taken = {p->frame, p->answered,
                                      orr_wire_crc((const uint8_t *)u->gathered, u->layout->commands.bytes)};
  if (is_copy(u, &taken))
    return refuse(u, ORR_REFUSAL_DUPLICATE);
  uint64_t *slot = orr_ring_claim(&u->in);
  if (!slot)
    return refuse(u, ORR_REFUSAL_DROPPED);
  u->taken[u->taken_count++ % ORR_UDP_TAKEN] = taken;
  uint64_t bit, *word = handed_word(u, p->answered, &bit);
  *word |= bit;
  slot[0] = p->answered;
  memcpy(slot + 1, u->gathered, 8 * orr_wire_words(u->layout->commands.bytes));
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
  return tag != 0 && tag != orr_wire_layout_tag(u->layout->hash);
}

size_t orr_udp_receive(struct orr_udp *u, const struct sockaddr_in *from, const uint8_t *bytes, size_t count,
                       uint8_t *reply) {
  struct orr_wire_packet p;
  const uint8_t *piece;
  size_t piece_bytes;
  if (!allowed(u, from))
    return refuse(u, ORR_REFUSAL_FOREIGN);
  if (!orr_wire_packet_read(bytes, count, &p, &piece, &piece_bytes))
    return refuse(u, is_of_another_version(bytes, count) ? ORR_REFUSAL_VERSION : ORR_REFUSAL_MALFORMED);
  if (p.id == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) && p.function == ORR_WIRE_DESCRIBE)
    return describe_piece(u, p.frame, reply);
  if (p.id < u->desc->command_id || p.id >= u->desc->command_id + u->in_pieces || p.function >= ORR_WIRE_FUNCTIONS)
    return refuse(u, ORR_REFUSAL_VERSION);
  if (is_of_another_layout(u, &p))
    return refuse(u, ORR_REFUSAL_LAYOUT);
  if (!enter_peer(u, (uint32_t)(p.frame >> 32), from))
    return refuse(u, ORR_REFUSAL_FOREIGN);
  atomic_fetch_add_explicit(&u->heard, 1, memory_order_relaxed);
  if (p.function == ORR_WIRE_END)
    atomic_store(&u->ended, 1);
  else if (p.function == ORR_WIRE_COMMANDS)
    return take_command(u, &p, piece, piece_bytes);
  return 0;
}

/* A frame goes out, or goes out again. */
static void note_frame(struct orr_udp *u, const uint64_t *slot) {
  uint64_t frame = slot[ORR_WIRE_OUT_FRAME], bit, *word = handed_word(u, frame, &bit);
  if (u->newest != ORR_WIRE_NONE && frame <= u->newest)
    return;
  *word &= ~bit;
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
  size_t at = *piece * u->out_piece, left = u->layout->telemetry.bytes - at;
  const struct orr_wire_packet p = {.id = (uint16_t)(u->desc->telemetry_id + *piece),
                                    .count = u->counts[*piece]++,
                                    .flags = (uint32_t)slot[ORR_WIRE_OUT_FLAGS],
                                    .frame = slot[ORR_WIRE_OUT_FRAME],
                                    .answered = slot[ORR_WIRE_OUT_ANSWERED],
                                    .time_ns = (int64_t)slot[ORR_WIRE_OUT_TIME_NS]};
  size_t bytes = orr_wire_packet_write(packet, &p, (const uint8_t *)(slot + ORR_WIRE_OUT_WORDS) + at,
                                       left < u->out_piece ? left : u->out_piece);
  if (++*piece < u->out_pieces)
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
  return u->peer.sin_port ? orr_wire_packet_write(packet, &p, NULL, 0) : 0;
}
