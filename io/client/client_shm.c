/* The client over shared memory. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/client/client_carrier.h"
#include "io/client/client_guard.h"

/* Replaces the peer that was there: takes the next generation. */
static void enter(struct orr_client *c) {
  /* before the run may know of us, and go on */
  uint32_t awaited = atomic_load_explicit(&c->run->awaited, memory_order_acquire);
  c->seen = awaited ? awaited - 1 : 0;
  c->peer = (struct orr_wire_peer *)(void *)(c->memory + ORR_WIRE_PEER_AT);
  atomic_store(&c->peer->pid, (uint32_t)getpid());
  c->generation = atomic_fetch_add(&c->peer->generation, 1) + 1;
  c->sent = atomic_load(&c->peer->commanded);
}

/* A run that lives holds a lock on its segment, and the kernel gives it back when it dies, however. Asked for in
 * common, so that those who ask do not take each other for the run. */
static bool run_lives(const struct orr_client *c) {
  if (c->lock_fd <= 0 || flock(c->lock_fd, LOCK_SH | LOCK_NB) != 0)
    return true;
  flock(c->lock_fd, LOCK_UN);
  return false;
}

int orr_client_shm_enter(struct orr_client *c) {
  c->run = (struct orr_wire_run *)(void *)(c->memory + ORR_WIRE_RUN_AT);
  c->dead = false;
  orr_client_guard_add(c->memory, c->memory_bytes, &c->dead);
  memcpy(&c->header, c->memory, sizeof c->header);
  atomic_thread_fence(memory_order_acquire);
  if (c->header.magic == 0)
    return EAGAIN;
  if (!orr_client_sound(&c->header, c->memory_bytes, true))
    return EPROTO;
  if (atomic_load(&c->run->ended) || !run_lives(c))
    return ENOENT;
  int error = orr_client_copy(c, c->memory);
  if (!error)
    enter(c);
  return error;
}

void orr_client_shm_close(struct orr_client *c) {
  if (c->peer && atomic_load(&c->peer->generation) == c->generation)
    atomic_store(&c->peer->pid, 0);
  if (c->memory) {
    orr_client_guard_remove(c->memory);
    munmap(c->memory, c->memory_bytes);
  }
  if (c->lock_fd > 0)
    close(c->lock_fd);
  c->lock_fd = 0;
  c->memory = NULL;
  c->peer = NULL;
}

static _Atomic uint64_t *slot(const struct orr_client *c, uint32_t at, uint32_t bytes, uint32_t number) {
  return (_Atomic uint64_t *)(void *)(c->memory + at + bytes * (number % ORR_WIRE_SLOTS));
}

/* The next frame in turn that is still whole: of ORR_WIRE_SLOTS, one may just be being written over. Lockstep may want
 * an older one first. */
static uint32_t next_of(const struct orr_client *c, uint32_t newest) {
  uint32_t from = c->seen + 1, awaited = atomic_load_explicit(&c->run->awaited, memory_order_acquire);
  if (!c->any && (int32_t)(awaited - from) < 0)
    from = awaited;
  if ((int32_t)(newest - from) < 0) /* `awaited` is written before `published` */
    from = newest;
  return newest - from <= ORR_WIRE_SLOTS - 2 ? from : newest - (ORR_WIRE_SLOTS - 2);
}

static bool displaced(const struct orr_client *c) {
  return atomic_load_explicit(&c->peer->generation, memory_order_relaxed) != c->generation;
}

static bool take_next(struct orr_client *c, uint32_t newest) {
  uint64_t head[ORR_WIRE_OUT_WORDS];
  if (newest == c->seen)
    return false;
  uint32_t next = next_of(c, newest);
  if (!orr_wire_slot_read(slot(c, c->header.out_at, c->header.out_slot_bytes, next), head, ORR_WIRE_OUT_WORDS,
                          c->telemetry, orr_wire_words(c->header.telemetry_bytes)))
    return false;
  c->missed += (int32_t)(next - c->seen) > 1 ? next - c->seen - 1 : 0;
  c->any = true;
  c->seen = next;
  c->frame = (struct orr_client_frame){head[ORR_WIRE_OUT_FRAME], (int64_t)head[ORR_WIRE_OUT_TIME_NS],
                                       head[ORR_WIRE_OUT_ANSWERED], head[ORR_WIRE_OUT_FLAGS]};
  return true;
}

static int look(struct orr_client *c) {
  orr_wire_slot_fetch(slot(c, c->header.out_at, c->header.out_slot_bytes, c->seen + 1), ORR_WIRE_OUT_WORDS,
                      orr_wire_words(c->header.telemetry_bytes));
  if (displaced(c))
    return -EOWNERDEAD;
  uint32_t published = atomic_load_explicit(&c->run->published, memory_order_acquire); /* before `ended`, see there */
  if (!atomic_load_explicit(&c->run->ended, memory_order_acquire))
    return take_next(c, published);
  /* what went out before the end is still there */
  return take_next(c, atomic_load_explicit(&c->run->last, memory_order_relaxed)) ? 1 : -EPIPE;
}

/* What a segment says that was shrunk is zeros. */
int orr_client_shm_look(struct orr_client *c) {
  int status = look(c);
  return c->dead ? -ECONNRESET : status;
}

int orr_client_shm_pulse(struct orr_client *c) {
  orr_client_shm_beat(c);
  if (run_lives(c))
    return 0;
  int status = orr_client_shm_look(c); /* it says that it is over before it lets go */
  return status ? status : -ECONNRESET;
}

void orr_client_shm_sleep(struct orr_client *c, int64_t most_ms) {
  const struct timespec most = {most_ms / 1000, most_ms % 1000 * 1000000};
  uint32_t sleeper = atomic_load(&c->peer->waits);
  /* a newer peer's value stays: a peer that was replaced neither overwrites nor clears it */
  do {
    if (displaced(c))
      return;
  } while (!atomic_compare_exchange_weak(&c->peer->waits, &sleeper, c->generation));
  if (atomic_load(&c->run->published) == c->seen && !atomic_load(&c->run->ended))
    syscall(SYS_futex, &c->run->published, FUTEX_WAIT, c->seen, &most, NULL, 0);
  sleeper = c->generation;
  atomic_compare_exchange_strong(&c->peer->waits, &sleeper, 0);
}

int orr_client_shm_send(struct orr_client *c, uint64_t flags) {
  if (displaced(c))
    return c->dead ? -ECONNRESET : -EOWNERDEAD;
  uint32_t number = ++c->sent;
  size_t words = orr_wire_words(c->header.command_bytes);
  uint64_t head[ORR_WIRE_IN_WORDS] = {c->frame.number, c->header.layout_hash,
                                      orr_wire_command_peer(c->generation, flags, ORR_WIRE_VERSION)};
  head[ORR_WIRE_IN_SUM] = orr_wire_command_sum(head, c->command, words);
  orr_wire_slot_write(slot(c, c->header.in_at, c->header.in_slot_bytes, number), head, ORR_WIRE_IN_WORDS, c->command,
                      words);
  atomic_store(&c->peer->commanded, number);
  orr_client_shm_beat(c);
  if (atomic_load(&c->run->waits))
    syscall(SYS_futex, &c->peer->commanded, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  return c->dead ? -ECONNRESET : 0;
}

/* One writer: no need for a locked addition. */
void orr_client_shm_beat(struct orr_client *c) {
  uint64_t beats = atomic_load_explicit(&c->peer->heartbeat, memory_order_relaxed);
  atomic_store_explicit(&c->peer->heartbeat, beats + 1, memory_order_relaxed);
}

const struct orr_client_carrier orr_client_shm = {
    .in_memory = true,
    .look = orr_client_shm_look,
    .sleep = orr_client_shm_sleep,
    .send = orr_client_shm_send,
    .beat = orr_client_shm_beat,
    .pulse = orr_client_shm_pulse,
};
