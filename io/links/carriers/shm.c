#include "io/links/carriers/shm.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/links/carriers/owner.h"
#include "io/links/terms/directory.h"

/* ---- what stands in the segment ---------------------------------------------------------------------------------- */

void orr_shm_lay_out_shut(struct orr_shm *shm, const struct orr_wire_header *h) {
  memset(shm->memory, 0, shm->bytes); /* touches every page */
  orr_directory_write(shm->base.layout, h, shm->memory);
  memcpy(shm->memory, h, sizeof *h);
  shm->run = (struct orr_wire_run *)(void *)(shm->memory + ORR_WIRE_RUN_AT);
  shm->peer = (struct orr_wire_peer *)(void *)(shm->memory + ORR_WIRE_PEER_AT);
  shm->out = shm->memory + h->out_at;
  shm->in = shm->memory + h->in_at;
  shm->out_slot_bytes = h->out_slot_bytes;
  shm->in_slot_bytes = h->in_slot_bytes;
}

void orr_shm_admit(struct orr_shm *shm) {
  atomic_thread_fence(memory_order_release);
  ((struct orr_wire_header *)(void *)shm->memory)->magic = ORR_WIRE_MAGIC;
}

void orr_shm_lay_out(struct orr_shm *shm, const struct orr_wire_header *h) {
  orr_shm_lay_out_shut(shm, h);
  orr_shm_admit(shm);
}

static void wake(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

void orr_shm_end(struct orr_shm *shm) {
  atomic_store(&shm->run->last, shm->published);
  atomic_store(&shm->run->ended, 1);
  atomic_fetch_add(&shm->run->published, 1);
  wake(&shm->run->published);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static _Atomic uint64_t *slot(char *first, size_t bytes, uint32_t number) {
  return (_Atomic uint64_t *)(void *)(first + bytes * (number % ORR_WIRE_SLOTS));
}

void orr_shm_publish(struct orr_shm *shm, const uint64_t head[ORR_WIRE_OUT_WORDS], const uint64_t *payload) {
  uint32_t number = ++shm->published;
  orr_wire_slot_write(slot(shm->out, shm->out_slot_bytes, number), head, ORR_WIRE_OUT_WORDS, payload,
                      orr_wire_words(shm->base.layout->telemetry.bytes));
  /* in lockstep the answer to the frame before is waited for next, until `await` says that it is there */
  bool in_turn = head[ORR_WIRE_OUT_FLAGS] & ORR_WIRE_OUT_LOCKSTEP && number > 1;
  atomic_store_explicit(&shm->run->awaited, number - in_turn, memory_order_relaxed);
  shm->before = atomic_load_explicit(&shm->peer->commanded, memory_order_relaxed);
  /* either the peer sees the new number before it sleeps, or we see that it sleeps */
  atomic_store_explicit(&shm->run->published, number, memory_order_seq_cst);
  if (atomic_load_explicit(&shm->peer->waits, memory_order_seq_cst))
    wake(&shm->run->published);
}

/* A copy that is whole by its sequence and not by its sum was left there by two that wrote at a time. What is of
 * another generation or version is refused as that, with whatever sum. */
static enum orr_refusal judge(const struct orr_shm *shm, const struct orr_rules *rules, const uint64_t *head,
                              uint32_t number) {
  uint64_t peer = head[ORR_WIRE_IN_PEER];
  bool end = orr_wire_peer_flags(peer) & ORR_WIRE_IN_END;
  if (orr_wire_peer_generation(peer) != shm->generation)
    return ORR_REFUSAL_FOREIGN;
  if (orr_wire_peer_version(peer) != ORR_WIRE_VERSION)
    return ORR_REFUSAL_VERSION;
  if (head[ORR_WIRE_IN_SUM] !=
      orr_wire_command_sum(head, rules->room, orr_wire_words(shm->base.layout->commands.bytes)))
    return ORR_REFUSAL_MALFORMED;
  if (head[ORR_WIRE_IN_LAYOUT] != shm->base.layout->hash)
    return ORR_REFUSAL_LAYOUT;
  if (!end && head[ORR_WIRE_IN_ANSWERS] == (uint64_t)rules->published && (int32_t)(shm->before - number) >= 0)
    return ORR_REFUSAL_MALFORMED;
  return ORR_REFUSAL_NONE;
}

/* False when the copy is torn, which by itself is nobody's fault. */
static bool take_one(struct orr_shm *shm, struct orr_rules *rules, uint32_t number, bool *end) {
  uint64_t head[ORR_WIRE_IN_WORDS];
  if (!orr_wire_slot_read(slot(shm->in, shm->in_slot_bytes, number), head, ORR_WIRE_IN_WORDS, rules->room,
                          orr_wire_words(shm->base.layout->commands.bytes)))
    return false;
  enum orr_refusal refusal = judge(shm, rules, head, number);
  if (refusal != ORR_REFUSAL_NONE)
    orr_rules_refuse(rules, refusal);
  else if (orr_wire_peer_flags(head[ORR_WIRE_IN_PEER]) & ORR_WIRE_IN_END) {
    orr_rules_end(rules, head[ORR_WIRE_IN_ANSWERS]);
    *end = true;
  } else
    orr_rules_offer(rules, head[ORR_WIRE_IN_ANSWERS]);
  return true;
}

/* The count never goes back, nor so far ahead: a store in pieces, or garbage. Found there twice, it goes on from
 * there. */
static void take_back(struct orr_shm *shm, struct orr_rules *rules, uint32_t newest) {
  orr_rules_refuse(rules, ORR_REFUSAL_MALFORMED);
  if (newest == shm->odd)
    shm->seen = newest;
  shm->odd = newest;
}

bool orr_shm_take(struct orr_shm *shm, struct orr_rules *rules) {
  enum { AHEAD_MOST = 1 << 16 }; /* commands between two looks: more than any peer writes */
  bool end = false;
  if (atomic_load_explicit(&shm->dead, memory_order_relaxed))
    return false; /* a page of zeros says nothing */
  orr_wire_slot_fetch(slot(shm->in, shm->in_slot_bytes, shm->seen + 1), ORR_WIRE_IN_WORDS,
                      orr_wire_words(shm->base.layout->commands.bytes));
  uint32_t newest = atomic_load_explicit(&shm->peer->commanded, memory_order_acquire);
  uint32_t generation = atomic_load_explicit(&shm->peer->generation, memory_order_acquire);
  if (generation != shm->generation) {
    shm->generation = generation;
    rules->counts.peers++;
  }
  uint32_t waiting = newest - shm->seen;
  if (waiting > AHEAD_MOST) {
    take_back(shm, rules, newest);
    return false;
  }
  if (waiting > ORR_WIRE_SLOTS) { /* overwritten */
    rules->counts.refused[ORR_REFUSAL_DROPPED] += waiting - ORR_WIRE_SLOTS;
    shm->seen = newest - ORR_WIRE_SLOTS;
  }
  while (shm->seen != newest) {
    if (!take_one(shm, rules, shm->seen + 1, &end))
      orr_rules_refuse(rules, ORR_REFUSAL_DROPPED);
    shm->seen++;
  }
  shm->odd = newest;
  return end;
}

bool orr_shm_peer_lives(const struct orr_shm *shm) {
  uint32_t pid = atomic_load(&shm->peer->pid);
  return atomic_load(&shm->peer->generation) != 0 && pid != 0 && pid <= INT_MAX &&
         (kill((pid_t)pid, 0) == 0 || errno == EPERM); /* that of another user lives, too */
}

/* ---- the carrier ------------------------------------------------------------------------------------------------- */

/* To publish or to take is to copy a few kilobytes and wake the peer by a system call: 30 µs at p99.99 (README.md). An
 * answer is waited for a little at first, and longer and longer: the peer may not be able to wake us, and so an answer
 * waits for us a part of the time that it took. */
enum { HANDOVER_NS = 100000, FIRST_WAIT_NS = 50000 };

struct orr_shm *orr_shm_of(struct orr_carrier *c) {
  assert(c->kind == &orr_carrier_shm);
  return (struct orr_shm *)c;
}

static const struct orr_shm *const_shm(const struct orr_carrier *c) { return (const struct orr_shm *)c; }

static void lay_out(struct orr_carrier *c, const struct orr_run_link *desc, const struct orr_channel_table *table,
                    struct orr_block *block) {
  size_t bytes = orr_run_payload(table, desc->telemetry, desc->telemetry_count).bytes;
  uint64_t *telemetry = ORR_TAKE(block, uint64_t, orr_wire_words(bytes) + 1);
  if (c)
    *orr_shm_of(c) = (struct orr_shm){.base = *c, .telemetry = telemetry, .fd = -1};
}

static int open_segment(struct orr_carrier *c, int64_t step_ns) {
  struct orr_shm *shm = orr_shm_of(c);
  const struct orr_carrier base = *c;
  uint64_t *telemetry = shm->telemetry;
  int error = orr_shm_make(shm, base.desc->name_shm, base.layout, step_ns, base.desc->divisor);
  if (!error && !base.shut)
    orr_shm_admit(shm);
  shm->base = base;
  shm->telemetry = telemetry;
  return error;
}

static void close_segment(struct orr_carrier *c) {
  struct orr_shm *shm = orr_shm_of(c);
  const struct orr_carrier base = *c;
  uint64_t *telemetry = shm->telemetry;
  orr_shm_close(shm);
  shm->base = base;
  shm->telemetry = telemetry;
}

static void admit(struct orr_carrier *c) { orr_shm_admit(orr_shm_of(c)); }

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  snprintf(text, size, "shm:%s", desc->name_shm);
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  if (error == EEXIST)
    orr_carrier_taken(desc, "another run", orr_owner_of_segment(desc->name_shm), "name=/NAME", "SEGMENT=/NAME", text,
                      size);
  else if (error == EPERM)
    snprintf(text, size,
             "another user has shared memory of that name; give the link another: --set links.%s.name=/NAME",
             desc->name);
  else
    snprintf(text, size, "%s",
             error == ENOENT ? "there is no shared memory here: mount a tmpfs on /dev/shm" : strerror(error));
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  snprintf(
      text, size,
      "Shared memory `%s`, %llu bytes, 0600. Layout version %d, byte order little-endian.\n"
      "Frames published so far: u32 at %zu; commands so far: u32 at %zu. Number n is in slot n mod %d.\n"
      "Telemetry slots at %u, one every %u bytes; command slots at %u, one every %u bytes; %d of each. A slot is a "
      "sequence (u64, odd while written), four words of head (u64) and the payload, zeros after it to a whole word; "
      "the payload is at byte %zu of it. Heads: telemetry frame, simulated time in ns, answered frame, flags; command "
      "answered frame, layout hash, peer (from bit 0: the generation; bit 32: end the run; from bit 48: the version), "
      "sum.\n"
      "The sum, with mix(s, w) = m ^ (m >> 32), m = (s ^ w) * 0x%016llx: of the head, with 0 in place of the sum, and "
      "the payload, mix word i into number i mod 4 of four that begin as 0x%016llx; add them up, each later one with "
      "three times the weight of the one before. All modulo 2^64.\n",
      desc->name_shm, (unsigned long long)h->segment_bytes, ORR_WIRE_VERSION,
      ORR_WIRE_RUN_AT + offsetof(struct orr_wire_run, published),
      ORR_WIRE_PEER_AT + offsetof(struct orr_wire_peer, commanded), ORR_WIRE_SLOTS, h->out_at, h->out_slot_bytes,
      h->in_at, h->in_slot_bytes, ORR_WIRE_SLOTS, 8 * (1 + (size_t)ORR_WIRE_IN_WORDS),
      (unsigned long long)ORR_WIRE_SUM_FACTOR, (unsigned long long)ORR_WIRE_MAGIC);
}

static void publish(struct orr_carrier *c, struct orr_rules *rules, const uint64_t head[ORR_WIRE_OUT_WORDS],
                    const double *values) {
  struct orr_shm *shm = orr_shm_of(c);
  (void)rules;
  orr_layout_pack(&c->layout->telemetry, values, shm->telemetry);
  orr_shm_publish(shm, head, shm->telemetry);
}

static bool take(struct orr_carrier *c, struct orr_rules *rules) { return orr_shm_take(orr_shm_of(c), rules); }

static uint64_t beats(const struct orr_carrier *c) {
  return atomic_load_explicit(&const_shm(c)->peer->heartbeat, memory_order_relaxed);
}

static void await_answer(struct orr_carrier *c, uint32_t back) {
  const struct orr_shm *shm = orr_shm_of(c);
  atomic_store_explicit(&shm->run->awaited, shm->published - back, memory_order_release);
}

static void wait_for_command(struct orr_carrier *c, int64_t most_ns) {
  enum { SPINS = 2000 };
  const struct orr_shm *shm = orr_shm_of(c);
  uint32_t seen = shm->seen;
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(&shm->peer->commanded, memory_order_acquire) != seen)
      return;
    orr_wire_pause();
  }
  const struct timespec most = {most_ns / 1000000000, most_ns % 1000000000};
  atomic_store(&shm->run->waits, 1);
  if (atomic_load(&shm->peer->commanded) == seen)
    syscall(SYS_futex, &shm->peer->commanded, FUTEX_WAIT, seen, &most, NULL, 0);
  atomic_store(&shm->run->waits, 0);
}

static bool lives(const struct orr_carrier *c) { return orr_shm_peer_lives(const_shm(c)); }

static bool left(const struct orr_carrier *c) {
  const struct orr_shm *shm = const_shm(c);
  return atomic_load(&shm->peer->generation) != 0 && atomic_load(&shm->peer->pid) == 0 && !atomic_load(&shm->dead);
}

/* Dead, but its parent has not asked yet: kill() would still find it. */
static bool unburied(uint32_t pid) {
  char path[40], text[512];
  snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)pid);
  FILE *file = fopen(path, "re");
  size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose(file);
  text[got] = 0;
  const char *name_ends = strrchr(text, ')'); /* pid (name) state … */
  return name_ends && name_ends[1] == ' ' && (name_ends[2] == 'Z' || name_ends[2] == 'X');
}

static enum orr_peer_process process(const struct orr_carrier *c) {
  const struct orr_shm *shm = const_shm(c);
  if (atomic_load(&shm->peer->generation) == 0)
    return ORR_PROCESS_NOBODY;
  uint32_t pid = atomic_load(&shm->peer->pid);
  if (pid == 0)
    return ORR_PROCESS_LEFT;
  return lives(c) && !unburied(pid) ? ORR_PROCESS_THERE : ORR_PROCESS_GONE;
}

static bool dead(const struct orr_carrier *c) { return atomic_load(&const_shm(c)->dead); }

/* It has no judge between the peer and the rules, and nothing is lost on the way. */
static void refused(const struct orr_carrier *c, uint64_t counts[ORR_REFUSALS]) {
  (void)c;
  (void)counts;
}

static struct orr_link_losses losses(const struct orr_carrier *c) {
  (void)c;
  return (struct orr_link_losses){0};
}

const struct orr_carrier_kind orr_carrier_shm = {
    .name = "shm",
    .outside = true,
    .handover_ns = HANDOVER_NS,
    .first_wait_ns = FIRST_WAIT_NS,
    .bytes = sizeof(struct orr_shm),
    .lay_out = lay_out,
    .open = open_segment,
    .close = close_segment,
    .admit = admit,
    .describe = describe,
    .explain = explain,
    .document = document,
    .publish = publish,
    .take = take,
    .beats = beats,
    .await = await_answer,
    .wait = wait_for_command,
    .lives = lives,
    .left = left,
    .process = process,
    .dead = dead,
    .refused = refused,
    .losses = losses,
};
