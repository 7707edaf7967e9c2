#include "io/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fail(struct orr_client *c, int error, const char *what) {
  snprintf(c->error, sizeof c->error, "%s: %s", what, strerror(error));
  return -error;
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_us(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

static bool inside(uint64_t at, uint64_t bytes, uint64_t all) { return at % 4 == 0 && at <= all && bytes <= all - at; }

static bool text_inside(const struct orr_wire_header *h, const char *names, uint32_t at) {
  return at < h->names_bytes && memchr(names + at, 0, h->names_bytes - at) != NULL;
}

/* Whether everything the header speaks of lies in the segment. */
static bool sound(const struct orr_wire_header *h, const char *memory, uint64_t bytes) {
  if (h->byte_order != ORR_WIRE_BYTE_ORDER || h->version != ORR_WIRE_VERSION || h->segment_bytes != bytes ||
      h->telemetry_bytes > ORR_WIRE_PAYLOAD_MAX || h->command_bytes > ORR_WIRE_PAYLOAD_MAX || h->divisor == 0 ||
      h->out_slot_bytes != orr_wire_slot_bytes(ORR_WIRE_OUT_WORDS, h->telemetry_bytes) ||
      h->in_slot_bytes != orr_wire_slot_bytes(ORR_WIRE_IN_WORDS, h->command_bytes) || h->out_at % 64 || h->in_at % 64 ||
      h->directory_at % 8 || h->names_bytes == 0)
    return false;
  if (!inside(h->directory_at, (uint64_t)h->channel_count * sizeof(struct orr_wire_channel), bytes) ||
      h->names_at > bytes || h->names_bytes > bytes - h->names_at ||
      !inside(h->out_at, (uint64_t)ORR_WIRE_SLOTS * h->out_slot_bytes, bytes) ||
      !inside(h->in_at, (uint64_t)ORR_WIRE_SLOTS * h->in_slot_bytes, bytes))
    return false;
  const struct orr_wire_channel *d = (const struct orr_wire_channel *)(const void *)(memory + h->directory_at);
  for (uint32_t i = 0; i < h->channel_count; i++) {
    uint64_t limit = d[i].direction == ORR_WIRE_COMMAND ? h->command_bytes : h->telemetry_bytes;
    uint64_t size = (d[i].type == ORR_WIRE_FLAG ? 1u : 8u) * (uint64_t)d[i].count;
    if (d[i].type > ORR_WIRE_FLAG || d[i].direction > ORR_WIRE_COMMAND || d[i].offset > limit ||
        size > limit - d[i].offset || !text_inside(h, memory + h->names_at, d[i].name_at) ||
        !text_inside(h, memory + h->names_at, d[i].unit_at))
      return false;
  }
  return true;
}

/* The directory and the names are copied too: what was checked stays as it was. */
static bool copy_directory(struct orr_client *c) {
  const struct orr_wire_header *h = &c->header;
  size_t entries = h->channel_count * sizeof(struct orr_wire_channel);
  size_t out = orr_wire_words(h->telemetry_bytes), in = orr_wire_words(h->command_bytes);
  char *copy = calloc(1, entries + h->names_bytes);
  c->telemetry = calloc(out + in + 2, 8);
  c->directory = (const struct orr_wire_channel *)(const void *)copy;
  if (!copy || !c->telemetry)
    return false;
  c->command = c->telemetry + out + 1;
  memcpy(copy, c->memory + h->directory_at, entries);
  memcpy(copy + entries, c->memory + h->names_at, h->names_bytes);
  copy[entries + h->names_bytes - 1] = 0;
  c->names = copy + entries;
  return true;
}

/* Takes the place of whoever was there: the next generation. */
static void enter(struct orr_client *c) {
  c->run = (struct orr_wire_run *)(void *)(c->memory + ORR_WIRE_RUN_AT);
  c->peer = (struct orr_wire_peer *)(void *)(c->memory + ORR_WIRE_PEER_AT);
  atomic_store(&c->peer->pid, (uint32_t)getpid());
  c->generation = atomic_fetch_add(&c->peer->generation, 1) + 1;
  c->sent = atomic_load(&c->peer->commanded);
  c->step_ns = c->header.step_ns;
  c->divisor = c->header.divisor;
  orr_client_beat(c);
}

static int map(struct orr_client *c, const char *name) {
  struct stat status;
  int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0)
    return fail(c, errno, name);
  bool good = fstat(fd, &status) == 0 && status.st_size >= (off_t)ORR_WIRE_DIRECTORY_AT;
  size_t bytes = good ? (size_t)status.st_size : 0;
  void *memory = good ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (memory == MAP_FAILED)
    return fail(c, good ? errno : EAGAIN, name);
  c->memory = memory;
  memcpy(&c->header, memory, sizeof c->header);
  atomic_thread_fence(memory_order_acquire);
  if (c->header.magic != ORR_WIRE_MAGIC || !sound(&c->header, memory, bytes)) {
    /* one that has no magic yet is still being made */
    bool unmade = c->header.magic == 0;
    munmap(memory, bytes);
    c->memory = NULL;
    return fail(c, unmade ? EAGAIN : EPROTO, name);
  }
  c->header.segment_bytes = bytes;
  return copy_directory(c) ? 0 : fail(c, ENOMEM, name);
}

int orr_client_open(struct orr_client *c, const char *url, int wait_ms) {
  int64_t until_ms = now_ms() + wait_ms;
  *c = (struct orr_client){0};
  if (strncmp(url, "shm:/", 5) != 0)
    return fail(c, EINVAL, url);
  for (;;) {
    int error = map(c, url + 4);
    if (error == 0 && atomic_load(&((struct orr_wire_run *)(void *)(c->memory + ORR_WIRE_RUN_AT))->ended)) {
      orr_client_close(c); /* on its way out */
      error = fail(c, ENOENT, url);
    }
    if (error == 0)
      break;
    if ((error != -ENOENT && error != -EAGAIN) || now_ms() >= until_ms)
      return error;
    pause_us(2000);
  }
  enter(c);
  return 0;
}

void orr_client_close(struct orr_client *c) {
  if (c->peer && atomic_load(&c->peer->generation) == c->generation)
    atomic_store(&c->peer->pid, 0);
  if (c->memory)
    munmap(c->memory, c->header.segment_bytes);
  free(c->telemetry);
  free((void *)(uintptr_t)c->directory);
  c->memory = NULL;
  c->telemetry = c->command = NULL;
  c->directory = NULL;
  c->peer = NULL;
}

/* ---- directory ---------------------------------------------------------------------------------------------------- */

const struct orr_wire_channel *orr_client_channel(const struct orr_client *c, uint32_t i) {
  return i < c->header.channel_count ? &c->directory[i] : NULL;
}

const char *orr_client_name(const struct orr_client *c, uint32_t i) { return c->names + c->directory[i].name_at; }

const char *orr_client_unit(const struct orr_client *c, uint32_t i) { return c->names + c->directory[i].unit_at; }

struct orr_signal orr_client_find(const struct orr_client *c, const char *name) {
  for (uint32_t i = 0; i < c->header.channel_count; i++) {
    const struct orr_wire_channel *d = &c->directory[i];
    if (strcmp(c->names + d->name_at, name) == 0)
      return (struct orr_signal){d->offset, d->count, d->type, d->direction};
  }
  return (struct orr_signal){0};
}

double orr_client_get(const struct orr_client *c, struct orr_signal s, uint32_t element) {
  if (element >= s.count)
    return (double)NAN;
  const unsigned char *from = (const unsigned char *)(s.direction == ORR_WIRE_COMMAND ? c->command : c->telemetry);
  from += s.offset + (s.type == ORR_WIRE_FLAG ? 1 : 8) * (size_t)element;
  double real;
  int64_t whole;
  switch (s.type) {
  case ORR_WIRE_REAL:
    memcpy(&real, from, 8);
    return real;
  case ORR_WIRE_WHOLE:
    memcpy(&whole, from, 8);
    return (double)whole;
  default:
    return from[0];
  }
}

bool orr_client_set(struct orr_client *c, struct orr_signal s, uint32_t element, double value) {
  if (element >= s.count || s.direction != ORR_WIRE_COMMAND)
    return false;
  unsigned char *to = (unsigned char *)c->command + s.offset + (s.type == ORR_WIRE_FLAG ? 1 : 8) * (size_t)element;
  int64_t whole = (int64_t)fmax(-9e18, fmin(9e18, value));
  if (s.type == ORR_WIRE_REAL)
    memcpy(to, &value, 8);
  else if (s.type == ORR_WIRE_WHOLE)
    memcpy(to, &whole, 8);
  else
    to[0] = value != 0;
  return true;
}

/* ---- frames ------------------------------------------------------------------------------------------------------- */

static _Atomic uint64_t *slot(const struct orr_client *c, uint32_t at, uint32_t bytes, uint32_t number) {
  return (_Atomic uint64_t *)(void *)(c->memory + at + bytes * (number % ORR_WIRE_SLOTS));
}

/* The next frame in turn that is still whole: of ORR_WIRE_SLOTS, one may just be being written over. */
static uint32_t next_of(const struct orr_client *c, uint32_t newest) {
  uint32_t from = c->any ? c->seen + 1 : atomic_load_explicit(&c->run->awaited, memory_order_acquire);
  return newest - from <= ORR_WIRE_SLOTS - 2 ? from : newest - (ORR_WIRE_SLOTS - 2);
}

static bool look(struct orr_client *c) {
  uint64_t head[ORR_WIRE_OUT_WORDS];
  uint32_t newest = atomic_load_explicit(&c->run->published, memory_order_acquire);
  if (newest == c->seen)
    return false;
  uint32_t next = next_of(c, newest);
  if (!orr_wire_slot_read(slot(c, c->header.out_at, c->header.out_slot_bytes, next), head, ORR_WIRE_OUT_WORDS,
                          c->telemetry, orr_wire_words(c->header.telemetry_bytes)))
    return false;
  c->missed += c->any ? next - c->seen - 1 : 0;
  c->any = true;
  c->seen = next;
  c->frame = (struct orr_client_frame){head[ORR_WIRE_OUT_FRAME], (int64_t)head[ORR_WIRE_OUT_TIME_NS],
                                       head[ORR_WIRE_OUT_ANSWERED], head[ORR_WIRE_OUT_FLAGS]};
  return true;
}

static int state(const struct orr_client *c) {
  if (atomic_load_explicit(&c->run->ended, memory_order_acquire))
    return -EPIPE;
  return atomic_load_explicit(&c->peer->generation, memory_order_relaxed) != c->generation ? -EOWNERDEAD : 0;
}

static void sleep_on_frame(struct orr_client *c, int64_t most_ms) {
  const struct timespec most = {most_ms / 1000, most_ms % 1000 * 1000000};
  atomic_store(&c->peer->waits, 1);
  if (atomic_load(&c->run->published) == c->seen && !atomic_load(&c->run->ended))
    syscall(SYS_futex, &c->run->published, FUTEX_WAIT, c->seen, &most, NULL, 0);
  atomic_store(&c->peer->waits, 0);
}

int orr_client_wait(struct orr_client *c, enum orr_client_how how, int most_ms) {
  enum { SPINS = 1000 };
  int64_t until_ms = now_ms() + most_ms;
  orr_client_beat(c);
  for (;;) {
    for (int i = 0; i < SPINS; i++) {
      int status = state(c);
      if (status)
        return status;
      if (look(c))
        return 1;
      if (how == ORR_CLIENT_POLL)
        break;
      __builtin_ia32_pause();
    }
    int64_t left_ms = until_ms - now_ms();
    if (left_ms <= 0)
      return 0;
    if (how == ORR_CLIENT_FUTEX)
      sleep_on_frame(c, left_ms);
    else if (how == ORR_CLIENT_POLL)
      pause_us(50);
  }
}

void orr_client_beat(struct orr_client *c) { atomic_fetch_add_explicit(&c->peer->heartbeat, 1, memory_order_relaxed); }

static void zero_pulses(struct orr_client *c) {
  for (uint32_t i = 0; i < c->header.channel_count; i++) {
    const struct orr_wire_channel *d = &c->directory[i];
    if (d->direction == ORR_WIRE_COMMAND && d->hold == ORR_WIRE_PULSE)
      memset((char *)c->command + d->offset, 0, (d->type == ORR_WIRE_FLAG ? 1 : 8) * (size_t)d->count);
  }
}

static int send(struct orr_client *c, uint64_t flags) {
  int status = state(c);
  if (status || !c->any)
    return status ? status : -EAGAIN;
  uint32_t number = ++c->sent;
  const uint64_t head[ORR_WIRE_IN_WORDS] = {c->frame.number, c->header.layout_hash, c->generation, flags};
  orr_wire_slot_write(slot(c, c->header.in_at, c->header.in_slot_bytes, number), head, ORR_WIRE_IN_WORDS, c->command,
                      orr_wire_words(c->header.command_bytes));
  orr_client_beat(c);
  atomic_store(&c->peer->commanded, number);
  if (atomic_load(&c->run->waits))
    syscall(SYS_futex, &c->peer->commanded, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  zero_pulses(c);
  return 0;
}

int orr_client_send(struct orr_client *c) { return send(c, 0); }

int orr_client_end(struct orr_client *c) { return send(c, ORR_WIRE_IN_END); }
