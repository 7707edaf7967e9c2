#include "io/links/shm.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/links/directory.h"

/* ---- what stands in the segment ---------------------------------------------------------------------------------- */

void orr_shm_lay_out(struct orr_shm *shm, const struct orr_wire_header *h) {
  memset(shm->memory, 0, shm->bytes); /* touches every page */
  orr_directory_write(shm->layout, h, shm->memory);
  memcpy(shm->memory, h, sizeof *h);
  shm->run = (struct orr_wire_run *)(void *)(shm->memory + ORR_WIRE_RUN_AT);
  shm->peer = (struct orr_wire_peer *)(void *)(shm->memory + ORR_WIRE_PEER_AT);
  shm->out = shm->memory + h->out_at;
  shm->in = shm->memory + h->in_at;
  shm->out_slot_bytes = h->out_slot_bytes;
  shm->in_slot_bytes = h->in_slot_bytes;
  atomic_thread_fence(memory_order_release);
  ((struct orr_wire_header *)(void *)shm->memory)->magic = ORR_WIRE_MAGIC;
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
                      orr_wire_words(shm->layout->telemetry.bytes));
  atomic_store_explicit(&shm->run->awaited, number, memory_order_relaxed);
  shm->before = atomic_load_explicit(&shm->peer->commanded, memory_order_relaxed);
  /* either the peer sees the new number before it sleeps, or we see that it sleeps */
  atomic_store_explicit(&shm->run->published, number, memory_order_seq_cst);
  if (atomic_load_explicit(&shm->peer->waits, memory_order_seq_cst))
    wake(&shm->run->published);
}

void orr_shm_await(struct orr_shm *shm, uint32_t back) {
  atomic_store_explicit(&shm->run->awaited, shm->published - back, memory_order_release);
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
  if (head[ORR_WIRE_IN_SUM] != orr_wire_command_sum(head, shm->payload, orr_wire_words(shm->layout->commands.bytes)))
    return ORR_REFUSAL_MALFORMED;
  if (head[ORR_WIRE_IN_LAYOUT] != shm->layout->hash)
    return ORR_REFUSAL_LAYOUT;
  if (!end && head[ORR_WIRE_IN_ANSWERS] == (uint64_t)rules->published && (int32_t)(shm->before - number) >= 0)
    return ORR_REFUSAL_MALFORMED;
  return ORR_REFUSAL_NONE;
}

/* False when the copy is torn, which by itself is nobody's fault. */
static bool take_one(struct orr_shm *shm, struct orr_rules *rules, uint32_t number, bool *end) {
  uint64_t head[ORR_WIRE_IN_WORDS];
  if (!orr_wire_slot_read(slot(shm->in, shm->in_slot_bytes, number), head, ORR_WIRE_IN_WORDS, shm->payload,
                          orr_wire_words(shm->layout->commands.bytes)))
    return false;
  enum orr_refusal refusal = judge(shm, rules, head, number);
  if (refusal != ORR_REFUSAL_NONE)
    orr_rules_refuse(rules, refusal);
  else if (orr_wire_peer_flags(head[ORR_WIRE_IN_PEER]) & ORR_WIRE_IN_END)
    *end = true;
  else
    orr_rules_offer(rules, head[ORR_WIRE_IN_ANSWERS], shm->payload);
  return true;
}

/* The count never goes back: a store in pieces, or garbage. Found there twice, it goes on from there. */
static void take_back(struct orr_shm *shm, struct orr_rules *rules, uint32_t newest) {
  orr_rules_refuse(rules, ORR_REFUSAL_MALFORMED);
  if (newest == shm->odd)
    shm->seen = newest;
  shm->odd = newest;
}

bool orr_shm_take(struct orr_shm *shm, struct orr_rules *rules) {
  bool end = false;
  if (atomic_load_explicit(&shm->dead, memory_order_relaxed))
    return false; /* a page of zeros says nothing */
  orr_wire_slot_fetch(slot(shm->in, shm->in_slot_bytes, shm->seen + 1), ORR_WIRE_IN_WORDS,
                      orr_wire_words(shm->layout->commands.bytes));
  uint32_t newest = atomic_load_explicit(&shm->peer->commanded, memory_order_acquire);
  uint32_t generation = atomic_load_explicit(&shm->peer->generation, memory_order_acquire);
  if (generation != shm->generation) {
    shm->generation = generation;
    rules->counts.peers++;
  }
  uint32_t waiting = newest - shm->seen;
  if ((int32_t)waiting < 0) {
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

void orr_shm_wait(struct orr_shm *shm, int64_t most_ns) {
  enum { SPINS = 2000 };
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

bool orr_shm_peer_lives(const struct orr_shm *shm) {
  uint32_t pid = atomic_load(&shm->peer->pid);
  return atomic_load(&shm->peer->generation) != 0 && pid != 0 && pid <= INT_MAX &&
         (kill((pid_t)pid, 0) == 0 || errno == EPERM); /* that of another user lives, too */
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

enum orr_shm_process orr_shm_peer_process(const struct orr_shm *shm) {
  if (atomic_load(&shm->peer->generation) == 0)
    return ORR_SHM_NOBODY;
  uint32_t pid = atomic_load(&shm->peer->pid);
  if (pid == 0)
    return ORR_SHM_LEFT;
  return orr_shm_peer_lives(shm) && !unburied(pid) ? ORR_SHM_THERE : ORR_SHM_GONE;
}

uint64_t orr_shm_beats(const struct orr_shm *shm) {
  return atomic_load_explicit(&shm->peer->heartbeat, memory_order_relaxed);
}
