#include "io/links/packets/packets.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "rt/tick/clock.h"

/* ---- the rt thread ----------------------------------------------------------------------------------------------- */

/* Beside the flags that go out. */
#define DAMAGED (UINT64_C(1) << 63)

/* The word behind the payload of a slot: the fault of the line, an address; 0: none. */
static uint64_t *fault_word(const struct orr_packets *k, uint64_t *slot) {
  return slot + ORR_WIRE_OUT_WORDS + orr_wire_words(k->base.layout->telemetry.bytes);
}

static void fill(const struct orr_packets *k, uint64_t *slot, const uint64_t head[ORR_WIRE_OUT_WORDS],
                 const double *values) {
  memcpy(slot, head, 8 * ORR_WIRE_OUT_WORDS);
  orr_layout_pack(&k->base.layout->telemetry, values, slot + ORR_WIRE_OUT_WORDS);
  *fault_word(k, slot) = 0;
}

void orr_packets_publish(struct orr_packets *k, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values) {
  uint64_t *slot = orr_ring_claim(&k->out), **last = &k->last[k->frames & 1];
  *last = slot ? slot : k->aside[k->frames & 1];
  k->frames++;
  fill(k, *last, head, values);
  k->before = orr_ring_used(&k->in);
  atomic_store_explicit(&k->asked, 0, memory_order_relaxed); /* here is another: who misses one more asks again */
  if (slot)
    orr_ring_commit(&k->out);
  atomic_store_explicit(&k->published_ns, orr_clock_now_ns(), memory_order_release); /* so that the next is expected */
}

/* Frame `i` into the ring once more. It may still stand there, in a slot that comes to be filled again: that of the
 * newest copy, or the one aside, is safe until the next time. */
static void hand_over_again(struct orr_packets *k, uint64_t i, bool awaited) {
  uint64_t *slot = orr_ring_claim(&k->out), *from = k->last[i & 1], *to = slot ? slot : k->aside[i & 1];
  if (from != to)
    memcpy(to, from, k->out.slot_bytes);
  k->last[i & 1] = to;
  to[ORR_WIRE_OUT_FLAGS] |= awaited ? ORR_WIRE_OUT_AWAITED : 0;
  if (slot)
    orr_ring_commit(&k->out);
}

void orr_packets_repeat(struct orr_packets *k) {
  if (!k->form->form->echoes)
    return;
  bool newest = k->base.newest_kept_back; /* the newest that went out is awaited, else the one before */
  if (k->frames > 1)
    hand_over_again(k, k->frames - 2, !newest);
  if (k->frames > 0)
    hand_over_again(k, k->frames - 1, newest);
}

/* Nobody asks for these again: what is lost of them is lost. */
static void hand_over_damaged(struct orr_packets *k, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values) {
  uint64_t *slot = k->form->form->sums ? orr_ring_claim(&k->out) : NULL;
  if (!slot)
    return;
  fill(k, slot, head, values);
  slot[ORR_WIRE_OUT_FLAGS] |= DAMAGED;
  orr_ring_commit(&k->out);
}

/* The frame that a fault of the line hits: what is left of it goes out, and counts for nothing. */
static void hand_over_wounded(struct orr_packets *k, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values) {
  uint64_t *slot = orr_ring_claim(&k->out);
  if (!slot)
    return;
  fill(k, slot, head, values);
  slot[ORR_WIRE_OUT_FLAGS] |= ORR_FORM_SPOILT;
  *fault_word(k, slot) = (uint64_t)(uintptr_t)k->base.fault;
  orr_ring_commit(&k->out);
}

/* A period after the next one, which a peer has read by then: else it would sort the two. */
enum { FRAMES_BEHIND = 2 };

static void hand_over_behind(struct orr_packets *k) {
  bool comes = k->comes_behind > 0 && --k->comes_behind == 0;
  uint64_t *slot = comes ? orr_ring_claim(&k->out) : NULL;
  if (!slot)
    return;
  memcpy(slot, k->behind, k->out.slot_bytes);
  orr_ring_commit(&k->out);
}

void orr_packets_kind_spoil(struct orr_carrier *c, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values,
                            enum orr_link_trouble trouble) {
  struct orr_packets *k = orr_packets_of(c);
  if (trouble >= ORR_LINK_BIT_ERRORS && k->is_line && k->base.fault)
    hand_over_wounded(k, head, values);
  if (!k->form->form->echoes) /* nobody could tell an old frame or a copy from a new one */
    return;
  hand_over_behind(k);
  if (trouble == ORR_LINK_CORRUPTS)
    hand_over_damaged(k, head, values);
  if (trouble == ORR_LINK_COPIES)
    hand_over_again(k, k->frames - 1, false);
  if (trouble == ORR_LINK_REORDERS) {
    k->comes_behind = FRAMES_BEHIND;
    fill(k, k->behind, head, values);
  }
}

bool orr_packets_take(struct orr_packets *k, struct orr_rules *rules) {
  rules->counts.peers = atomic_load_explicit(&k->peers, memory_order_relaxed);
  for (int i = 0; i < ORR_PACKETS_IN_SLOTS; i++) {
    struct orr_packets_command *slot = orr_ring_peek(&k->in);
    if (!slot)
      break;
    if (k->before && slot->answers == (uint64_t)rules->published) {
      orr_rules_refuse(rules, ORR_REFUSAL_MALFORMED);
    } else {
      uint64_t *came = slot->payload;
      slot->payload = rules->room;
      rules->room = came;
      rules->arrived_ns = slot->arrived_ns;
      orr_rules_offer(rules, slot->answers);
    }
    k->before -= k->before > 0;
    orr_ring_release(&k->in);
  }
  uint32_t ended = atomic_load(&k->ended);
  if (ended != k->ended_seen)
    orr_rules_end(rules, atomic_load(&k->end_answers));
  k->ended_seen = ended;
  return ended != 0;
}

void orr_packets_wait(struct orr_packets *k, int64_t most_ns) {
  enum { SPIN_NS = 50000, NAP_NS = 20000 };
  int64_t begin_ns = orr_clock_now_ns(), now_ns = begin_ns;
  while (orr_ring_used(&k->in) == 0 && atomic_load(&k->ended) == k->ended_seen && now_ns - begin_ns < most_ns) {
    if (atomic_exchange(&k->asked, 0))
      orr_packets_repeat(k);
    if (now_ns - begin_ns > SPIN_NS)
      orr_clock_sleep_until(now_ns + NAP_NS);
    else
      orr_wire_pause();
    now_ns = orr_clock_now_ns();
  }
}

/* ---- the io thread ----------------------------------------------------------------------------------------------- */

size_t orr_packets_refuse(struct orr_packets *k, enum orr_refusal why) {
  atomic_fetch_add_explicit(&k->refused[why], 1, memory_order_relaxed);
  return 0;
}

static bool is_same(struct orr_sender a, struct orr_sender b) { return a.host == b.host && a.way == b.way; }

static bool is_peer(const struct orr_packets *k, uint32_t generation, struct orr_sender from) {
  return (!k->seal || k->came.peer == k->seal->peer) && atomic_load_explicit(&k->peers, memory_order_relaxed) &&
         generation == k->generation && !atomic_load_explicit(&k->left, memory_order_relaxed) &&
         is_same(from, k->commander);
}

static bool is_silent(const struct orr_packets *k, int64_t now_ns) {
  return now_ns - k->heard_ns >= ORR_WIRE_SILENCE_MS * INT64_C(1000000);
}

bool orr_packets_peer_lives(const struct orr_packets *k) {
  return atomic_load(&k->peers) > 0 && !atomic_load(&k->left) && !is_silent(k, orr_clock_now_ns());
}

/* Later in the sense of numbers that wrap; a form without an echo has none. Where the run file names the peer it is of
 * that address; it may command from another port than it listens at. */
static bool may_enter(const struct orr_packets *k, uint32_t generation, struct orr_sender from, int64_t now_ns) {
  if (k->told.way && from.host != k->told.host)
    return false;
  if (!atomic_load_explicit(&k->peers, memory_order_relaxed))
    return true;
  bool later = !k->form->form->echoes || (int32_t)(generation - k->generation) > 0;
  if (k->told.way && !k->seal && is_silent(k, now_ns)) /* its clock, which gives generations, may have begun again */
    return true;
  return later && (is_same(from, k->commander) || atomic_load(&k->left) || is_silent(k, now_ns));
}

static void enter_peer(struct orr_packets *k, uint32_t generation, struct orr_sender from) {
  k->generation = generation;
  k->commander = from;
  k->taken_count = 0;
  if (!k->told.way)
    k->peer = from;
  atomic_store(&k->left, false);
  atomic_fetch_add(&k->peers, 1);
  atomic_store(&k->asked, 1); /* where shall it begin? */
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
static size_t refuse_foreign(struct orr_packets *k, uint32_t generation, int64_t now_ns, uint8_t *reply) {
  orr_packets_refuse(k, ORR_REFUSAL_FOREIGN);
  if (!k->form->form->echoes || !may_tell(&k->told_ns, now_ns))
    return 0;
  const struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID,
                                    .count = k->description_count++,
                                    .flags = ORR_WIRE_OUT_TAKEN,
                                    .frame = orr_wire_word_frame(ORR_WIRE_OUT_TAKEN),
                                    .answered = generation,
                                    .time_ns = (int64_t)((uint64_t)k->run << 32 | k->generation)};
  return orr_wire_packet_write(reply, &p, NULL, 0);
}

static size_t describe_piece(struct orr_packets *k, uint64_t piece, uint8_t *reply) {
  uint64_t at = piece * k->description_piece;
  if (piece > UINT32_MAX || at >= k->description_bytes)
    return orr_packets_refuse(k, ORR_REFUSAL_MALFORMED);
  size_t left = k->description_bytes - at, bytes = left < k->description_piece ? left : k->description_piece;
  const struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID,
                                    .count = k->description_count++,
                                    .frame = piece,
                                    .answered = k->description_bytes,
                                    .time_ns = (int64_t)((uint64_t)k->run << 32 | k->generation)};
  return orr_wire_packet_write(reply, &p, k->description + at, bytes);
}

/* What the rules would say too, said early: a flood of old packets must not fill the ring, or disturb what is being
 * gathered. The first answer to a frame goes through all the same: they account for it. */
static bool is_stale(struct orr_packets *k, const struct orr_form_word *p) {
  if (k->applied == ORR_WIRE_NONE || p->answered >= k->applied)
    return false;
  uint64_t divisor = (uint64_t)k->base.desc->divisor;
  return orr_window_has(&k->handed, divisor, p->answered) || !orr_window_reaches(divisor, k->applied, p->answered);
}

static bool is_copy(const struct orr_packets *k, const struct orr_packets_taken *t) {
  for (uint32_t i = 0; i < ORR_PACKETS_TAKEN && i < k->taken_count; i++)
    if (k->taken[i].frame == t->frame && k->taken[i].answered == t->answered && k->taken[i].crc == t->crc)
      return true;
  return false;
}

/* Where a command comes together: the oldest that does so gives way to another. */
static struct orr_packets_gathering *gathering_of(struct orr_packets *k, uint64_t key) {
  struct orr_packets_gathering *to = &k->gathering[0];
  for (int i = 0; i < ORR_PACKETS_GATHERINGS; i++) {
    struct orr_packets_gathering *g = &k->gathering[i];
    if (g->gather.key == key) {
      to = g;
      break;
    }
    to = (int32_t)(g->age - to->age) < 0 ? g : to;
  }
  to->age = ++k->gathered;
  return to;
}

static size_t take_command(struct orr_packets *k, const struct orr_form_word *p) {
  if (is_stale(k, p))
    return orr_packets_refuse(k, ORR_REFUSAL_STALE);
  struct orr_packets_gathering *g = gathering_of(k, p->frame);
  int whole = orr_wire_gather_add(&g->gather, p->frame, p->index, p->piece, p->piece_bytes, (uint8_t *)g->payload,
                                  k->base.layout->commands.bytes, k->form->in_cut.piece);
  if (whole < 0)
    return orr_packets_refuse(k, ORR_REFUSAL_MALFORMED);
  if (whole == 0)
    return 0;
  const struct orr_packets_taken taken = {p->frame, p->answered,
                                          orr_wire_crc((const uint8_t *)g->payload, k->base.layout->commands.bytes)};
  if (is_copy(k, &taken))
    return orr_packets_refuse(k, ORR_REFUSAL_DUPLICATE);
  struct orr_packets_command *slot = orr_ring_claim(&k->in);
  if (!slot)
    return orr_packets_refuse(k, ORR_REFUSAL_DROPPED);
  k->taken[k->taken_count++ % ORR_PACKETS_TAKEN] = taken;
  orr_window_add(&k->handed, (uint64_t)k->base.desc->divisor, p->answered);
  uint64_t *place = slot->payload;
  *slot = (struct orr_packets_command){p->answered, g->payload, k->arrived_ns};
  g->payload = place;
  orr_ring_commit(&k->in);
  return 0;
}

/* Which frame a command without an echo answers. In lockstep two are out where one has no answer yet. */
static void find_answered(const struct orr_packets *k, struct orr_form_word *word) {
  uint64_t divisor = (uint64_t)k->base.desc->divisor;
  word->answered = k->newest;
  if (k->newest == ORR_WIRE_NONE)
    return;
  if (k->in_turn && k->second != ORR_WIRE_NONE && !orr_window_has(&k->handed, divisor, k->second))
    word->answered = k->second;
  word->open = !orr_window_has(&k->handed, divisor, word->answered);
}

/* Nobody is there to be told anything. */
static void leave(struct orr_packets *k) {
  atomic_store(&k->left, true);
  if (!k->told.way)
    k->peer.way = 0;
}

/* What a sender is judged by is its packet, whole and right: before that it takes nobody's place. */
static size_t receive(struct orr_packets *k, struct orr_sender from, const uint8_t *bytes, size_t count,
                      uint8_t *reply) {
  struct orr_form_word word = {0};
  bool echoes = k->form->form->echoes;
  enum orr_refusal why = k->form->form->read(k->form, bytes, count, &word, reply);
  if (why != ORR_REFUSAL_NONE)
    return orr_packets_refuse(k, why);
  if (word.asks)
    return atomic_load_explicit(&k->base.shut, memory_order_relaxed) ? 0 : describe_piece(k, word.frame, reply);
  uint32_t generation = (uint32_t)(word.frame >> 32);
  int64_t now_ns = orr_clock_now_ns();
  if (!is_peer(k, generation, from)) {
    bool greets =
        word.function == ORR_WIRE_COMMANDS || word.function == ORR_WIRE_BEAT || word.function == ORR_WIRE_AGAIN;
    if (!greets || !may_enter(k, generation, from, now_ns))
      return refuse_foreign(k, generation, now_ns, reply);
    enter_peer(k, generation, from);
  }
  if (k->seal)
    orr_seal_enter(k->seal, &k->came);
  k->heard_ns = now_ns;
  atomic_fetch_add_explicit(&k->heard, 1, memory_order_relaxed);
  if (!echoes)
    find_answered(k, &word);
  if (k->form->form->accept)
    word.reply_bytes = k->form->form->accept(k->form, &word, reply);
  if (word.kept)
    return word.reply_bytes;
  if (!echoes && k->newest == ORR_WIRE_NONE) /* there is no frame yet that it could answer */
    return orr_packets_refuse(k, ORR_REFUSAL_MALFORMED);
  if (word.function == ORR_WIRE_END) {
    if (atomic_load(&k->ended) == 0 || word.answered < atomic_load(&k->end_answers))
      atomic_store(&k->end_answers, word.answered);
    atomic_fetch_add(&k->ended, 1);
  } else if (word.function == ORR_WIRE_AGAIN)
    atomic_store(&k->asked, 1);
  else if (word.function == ORR_WIRE_LEAVE)
    leave(k);
  else if (word.function == ORR_WIRE_COMMANDS)
    take_command(k, &word);
  return word.reply_bytes;
}

/* A packet as it goes out. */
static size_t sealed(struct orr_packets *k, uint64_t peer, uint8_t *packet, size_t bytes) {
  return k->seal && bytes ? orr_seal_put(k->seal, peer, packet, bytes) : bytes;
}

static bool is_question(const uint8_t *bytes, size_t count) {
  return count > ORR_WIRE_PRIMARY_BYTES &&
         orr_wire_get_big(bytes, 2) == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) &&
         bytes[ORR_WIRE_PRIMARY_BYTES] == ORR_WIRE_DESCRIBE;
}

/* Who asks without our key is told that there is one: its user will wonder. The word has no seal, and is worth nothing
 * else. */
static size_t refuse_forged(struct orr_packets *k, const uint8_t *bytes, size_t count, uint8_t *reply) {
  const struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID,
                                    .count = k->description_count,
                                    .flags = ORR_WIRE_OUT_KEYED,
                                    .frame = orr_wire_word_frame(ORR_WIRE_OUT_KEYED)};
  orr_packets_refuse(k, ORR_REFUSAL_FORGED);
  return is_question(bytes, count) && may_tell(&k->keyed_ns, orr_clock_now_ns())
             ? orr_wire_packet_write(reply, &p, NULL, 0)
             : 0;
}

size_t orr_packets_receive(struct orr_packets *k, struct orr_sender from, const uint8_t *bytes, size_t count,
                           uint8_t *reply) {
  if (!k->seal)
    return receive(k, from, bytes, count, reply);
  size_t packet_bytes;
  if (!orr_seal_check(k->seal, bytes, count, &k->came, &packet_bytes))
    return refuse_forged(k, bytes, count, reply);
  bool asks = is_question(bytes, packet_bytes) && k->came.run == 0; /* by whom is known from the answer alone */
  if (!asks && orr_seal_is_old(k->seal, &k->came))
    return orr_packets_refuse(k, ORR_REFUSAL_REPLAYED);
  return sealed(k, k->came.peer, reply, receive(k, from, bytes, packet_bytes, reply));
}

/* A frame goes out, or goes out again. */
static void note_frame(struct orr_packets *k, const uint64_t *slot) {
  uint64_t frame = slot[ORR_WIRE_OUT_FRAME];
  if (k->newest != ORR_WIRE_NONE && frame <= k->newest)
    return;
  orr_window_remove(&k->handed, (uint64_t)k->base.desc->divisor, frame);
  k->second = k->newest;
  k->newest = frame;
  k->in_turn = slot[ORR_WIRE_OUT_FLAGS] & ORR_WIRE_OUT_LOCKSTEP;
  k->applied = slot[ORR_WIRE_OUT_ANSWERED];
}

/* Where nothing is repeated, a frame that is awaited waits for a line that is not connected yet, or again. Two are out
 * at most. */
static bool waits_for_line(const struct orr_packets *k, const uint64_t *slot) {
  enum { OUT = 2 };
  return k->is_line && !k->form->form->echoes && slot[ORR_WIRE_OUT_FLAGS] & ORR_WIRE_OUT_LOCKSTEP &&
         orr_ring_used(&k->out) <= OUT;
}

size_t orr_packets_send(struct orr_packets *k, uint32_t *piece, uint8_t *packet) {
  uint64_t *slot = orr_ring_peek(&k->out);
  if (!slot)
    return 0;
  const struct orr_run_fault *fault = (const struct orr_run_fault *)(uintptr_t)*fault_word(k, slot);
  k->wound = (struct orr_packets_wound){fault, slot[ORR_WIRE_OUT_FRAME]};
  k->unplugged = fault && fault->trouble == ORR_LINK_UNPLUGGED;
  if (!fault && !k->peer.way && waits_for_line(k, slot))
    return 0;
  if (!fault)
    note_frame(k, slot);
  if (!k->peer.way || k->unplugged) { /* nobody to tell */
    orr_ring_release(&k->out);
    return 0;
  }
  size_t bytes = 0;
  while (bytes == 0 && *piece < k->form->out_cut.pieces)
    bytes = k->form->form->write(k->form, slot, (*piece)++, packet);
  bytes = sealed(k, k->seal ? k->seal->peer : 0, packet, bytes);
  if (slot[ORR_WIRE_OUT_FLAGS] & DAMAGED)
    packet[bytes / 2] ^= 1; /* of what the sum is over */
  if (*piece < k->form->out_cut.pieces)
    return bytes;
  *piece = 0;
  orr_ring_release(&k->out);
  return bytes;
}

void orr_packets_unsent(struct orr_packets *k, int error) {
  if (error == EAGAIN || error == ENOBUFS || error == ENOMEM) {
    atomic_fetch_add_explicit(&k->unsent_full, 1, memory_order_relaxed);
    return;
  }
  atomic_store_explicit(&k->send_error, error, memory_order_relaxed);
  atomic_fetch_add_explicit(&k->unsent, 1, memory_order_relaxed);
}

size_t orr_packets_farewell(struct orr_packets *k, uint8_t *packet) {
  const struct orr_wire_packet p = {.id = ORR_WIRE_DESCRIPTION_ID,
                                    .count = k->description_count++,
                                    .flags = ORR_WIRE_OUT_ENDED,
                                    .frame = orr_wire_word_frame(ORR_WIRE_OUT_ENDED)};
  if (!k->peer.way || !k->form->form->echoes)
    return 0;
  return sealed(k, k->seal ? k->seal->peer : 0, packet, orr_wire_packet_write(packet, &p, NULL, 0));
}

/* ---- what the carriers in packets have in their tables ----------------------------------------------------------- */

struct orr_packets *orr_packets_of(struct orr_carrier *c) {
  assert(c->kind->packets);
  return (struct orr_packets *)c;
}

static const struct orr_packets *const_packets(const struct orr_carrier *c) { return (const struct orr_packets *)c; }

void orr_packets_kind_publish(struct orr_carrier *c, struct orr_rules *rules, const uint64_t head[ORR_WIRE_OUT_WORDS],
                              const double *values) {
  (void)rules;
  orr_packets_publish(orr_packets_of(c), head, values);
}

bool orr_packets_kind_take(struct orr_carrier *c, struct orr_rules *rules) {
  return orr_packets_take(orr_packets_of(c), rules);
}

uint64_t orr_packets_kind_beats(const struct orr_carrier *c) {
  return atomic_load_explicit(&const_packets(c)->heard, memory_order_relaxed);
}

void orr_packets_kind_wait(struct orr_carrier *c, int64_t most_ns) { orr_packets_wait(orr_packets_of(c), most_ns); }

void orr_packets_kind_repeat(struct orr_carrier *c) { orr_packets_repeat(orr_packets_of(c)); }

/* No answer before that: a client asks until it is answered. */
void orr_packets_kind_admit(struct orr_carrier *c) { (void)c; }

bool orr_packets_kind_left(const struct orr_carrier *c) { return atomic_load(&const_packets(c)->left); }

bool orr_packets_kind_lives(const struct orr_carrier *c) {
  return atomic_load(&const_packets(c)->peers) > 0 && !orr_packets_kind_left(c);
}

enum orr_peer_process orr_packets_kind_process(const struct orr_carrier *c) {
  return orr_packets_kind_left(c)    ? ORR_PROCESS_LEFT
         : orr_packets_kind_lives(c) ? ORR_PROCESS_UNSEEN
                                     : ORR_PROCESS_NOBODY;
}

bool orr_packets_kind_dead(const struct orr_carrier *c) {
  (void)c;
  return false;
}

void orr_packets_kind_refused(const struct orr_carrier *c, uint64_t counts[ORR_REFUSALS]) {
  for (int i = 0; i < ORR_REFUSALS; i++)
    counts[i] += atomic_load(&const_packets(c)->refused[i]);
}

struct orr_link_losses orr_packets_kind_losses(const struct orr_carrier *c) {
  const struct orr_packets *k = const_packets(c);
  const bool clips = k->form && k->form->form->clipped;
  return (struct orr_link_losses){.clipped = clips ? k->form->form->clipped(k->form) : (struct orr_form_clipped){0},
                                  .full = atomic_load(&k->unsent_full),
                                  .unsent = atomic_load(&k->unsent),
                                  .error = atomic_load(&k->send_error),
                                  .not_relayed = orr_ring_refused(&k->out)};
}
