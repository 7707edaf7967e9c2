#include "io/client/client_carrier.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PULSE_MS = 100 }; /* so often while nothing comes */

int64_t orr_client_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void orr_client_pause_us(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

/* ---- what the run says of itself --------------------------------------------------------------------------------- */

static bool inside(uint64_t at, uint64_t bytes, uint64_t all) { return at % 4 == 0 && at <= all && bytes <= all - at; }

bool orr_client_sound(const struct orr_wire_header *h, uint64_t bytes, bool segment) {
  if (h->magic != ORR_WIRE_MAGIC || h->byte_order != ORR_WIRE_BYTE_ORDER || h->version != ORR_WIRE_VERSION ||
      h->segment_bytes != bytes || h->telemetry_bytes > ORR_WIRE_PAYLOAD_MAX ||
      h->command_bytes > ORR_WIRE_PAYLOAD_MAX || h->divisor == 0 || h->directory_at % 8 || h->names_bytes == 0)
    return false;
  if (!inside(h->directory_at, (uint64_t)h->channel_count * sizeof(struct orr_wire_channel), bytes) ||
      h->names_at > bytes || h->names_bytes > bytes - h->names_at)
    return false;
  return !segment ||
         (h->out_slot_bytes == orr_wire_slot_bytes(ORR_WIRE_OUT_WORDS, h->telemetry_bytes) &&
          h->in_slot_bytes == orr_wire_slot_bytes(ORR_WIRE_IN_WORDS, h->command_bytes) && h->out_at % 64 == 0 &&
          h->in_at % 64 == 0 && inside(h->out_at, (uint64_t)ORR_WIRE_SLOTS * h->out_slot_bytes, bytes) &&
          inside(h->in_at, (uint64_t)ORR_WIRE_SLOTS * h->in_slot_bytes, bytes));
}

static bool channel_sound(const struct orr_wire_header *h, const struct orr_wire_channel *d) {
  uint64_t limit = d->direction == ORR_WIRE_COMMAND ? h->command_bytes : h->telemetry_bytes;
  uint64_t size = orr_wire_number_bytes(d->type) * (uint64_t)d->count;
  return d->type <= ORR_WIRE_FLAG && d->direction <= ORR_WIRE_COMMAND && d->offset <= limit &&
         size <= limit - d->offset && d->name_at < h->names_bytes && d->unit_at < h->names_bytes;
}

/* What is judged is the copy, which nobody else can change. */
int orr_client_copy(struct orr_client *c, const char *memory) {
  const struct orr_wire_header *h = &c->header;
  size_t entries = h->channel_count * sizeof(struct orr_wire_channel);
  size_t out = orr_wire_words(h->telemetry_bytes), in = orr_wire_words(h->command_bytes);
  char *copy = calloc(1, entries + h->names_bytes);
  c->telemetry = calloc(out + in + 2, 8);
  c->directory = (const struct orr_wire_channel *)(const void *)copy;
  if (!copy || !c->telemetry)
    return ENOMEM;
  c->command = c->telemetry + out + 1;
  memcpy(copy, memory + h->directory_at, entries);
  memcpy(copy + entries, memory + h->names_at, h->names_bytes);
  copy[entries + h->names_bytes - 1] = 0; /* so every text ends */
  c->names = copy + entries;
  for (uint32_t i = 0; i < h->channel_count; i++)
    if (!channel_sound(h, &c->directory[i]))
      return EPROTO;
  c->step_ns = h->step_ns;
  c->divisor = h->divisor;
  return 0;
}

void orr_client_close(struct orr_client *c) {
  orr_client_shm_close(c);
  orr_client_udp_close(c);
  free(c->telemetry);
  free((void *)(uintptr_t)c->directory);
  c->telemetry = c->command = NULL;
  c->directory = NULL;
  c->header.channel_count = 0;
}

/* ---- directory --------------------------------------------------------------------------------------------------- */

const struct orr_wire_channel *orr_client_channel(const struct orr_client *c, uint32_t i) {
  return i < c->header.channel_count ? &c->directory[i] : NULL;
}

const char *orr_client_name(const struct orr_client *c, uint32_t i) { return c->names + c->directory[i].name_at; }

const char *orr_client_unit(const struct orr_client *c, uint32_t i) { return c->names + c->directory[i].unit_at; }

enum { COMPARED = 64 }; /* of a name, the letters that are looked at for the nearest */

/* How many letters are to be put in, taken out or changed to make one of the other. */
static size_t distance(const char *a, const char *b) {
  size_t row[COMPARED + 1], length = strnlen(b, COMPARED);
  for (size_t j = 0; j <= length; j++)
    row[j] = j;
  for (size_t i = 0; i < COMPARED && a[i]; i++) {
    size_t corner = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < length; j++) {
      size_t changed = corner + (a[i] != b[j]), other = 1 + (row[j] < row[j + 1] ? row[j] : row[j + 1]);
      corner = row[j + 1];
      row[j + 1] = changed < other ? changed : other;
    }
  }
  return row[length];
}

/* It came from the other side, and goes to somebody's terminal. */
static bool is_plain(const char *name) {
  size_t i = 0;
  while (name[i] > ' ' && name[i] <= '~')
    i++;
  return i > 0 && !name[i];
}

/* In client.error, with the nearest name where one is near. */
static void say_not_found(struct orr_client *c, const char *name) {
  const char *nearest = NULL;
  size_t least = strnlen(name, COMPARED) / 3 + 1;
  for (uint32_t i = 0; i < c->header.channel_count; i++) {
    const char *other = c->names + c->directory[i].name_at;
    size_t far = distance(name, other);
    if (far > least || (far == least && nearest) || !is_plain(other))
      continue;
    nearest = other;
    least = far;
  }
  int length = snprintf(c->error, sizeof c->error, "the link has no channel '%.200s'", name);
  if (nearest && length > 0)
    snprintf(c->error + length, sizeof c->error - (size_t)length, "; did you mean '%.200s'?", nearest);
}

struct orr_signal orr_client_find(struct orr_client *c, const char *name) {
  for (uint32_t i = 0; i < c->header.channel_count; i++) {
    const struct orr_wire_channel *d = &c->directory[i];
    if (strcmp(c->names + d->name_at, name) == 0)
      return (struct orr_signal){d->offset, d->count, d->type, d->direction};
  }
  say_not_found(c, name);
  return (struct orr_signal){0};
}

double orr_client_get(const struct orr_client *c, struct orr_signal s, uint32_t element) {
  if (element >= s.count)
    return (double)NAN;
  const unsigned char *from = (const unsigned char *)(s.direction == ORR_WIRE_COMMAND ? c->command : c->telemetry);
  from += s.offset + orr_wire_number_bytes(s.type) * (size_t)element;
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
  unsigned char *to = (unsigned char *)c->command + s.offset + orr_wire_number_bytes(s.type) * (size_t)element;
  int64_t whole = (int64_t)(value < 9e18 ? value > -9e18 ? value : -9e18 : 9e18); /* NaN too: outside any range */
  if (s.type == ORR_WIRE_REAL)
    memcpy(to, &value, 8);
  else if (s.type == ORR_WIRE_WHOLE)
    memcpy(to, &whole, 8);
  else
    to[0] = value != 0;
  return true;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static const struct orr_client_carrier *carrier_of(const struct orr_client *c) {
  return c->fd >= 0 ? &orr_client_udp : &orr_client_shm;
}

static int pulse(struct orr_client *c, int64_t now_ms) {
  if (now_ms < c->pulse_ms)
    return 0;
  c->pulse_ms = now_ms + PULSE_MS;
  return carrier_of(c)->pulse(c);
}

static int wait_for_frame(struct orr_client *c, enum orr_client_how how, int most_ms) {
  enum { SPINS = 1000 };
  const struct orr_client_carrier *carrier = carrier_of(c);
  int64_t until_ms = -1; /* the clock is not looked at while a quick answer may do */
  int spins = how == ORR_CLIENT_SPIN || (how == ORR_CLIENT_FUTEX && carrier->in_memory) ? SPINS : 1;
  for (;;) {
    for (int i = 0; i < spins; i++) {
      int status = carrier->look(c);
      if (status == 1 && carrier->in_memory)
        carrier->beat(c);
      if (status)
        return status;
      if (carrier->in_memory)
        orr_wire_pause();
    }
    int64_t now_ms = orr_client_now_ms();
    int status = pulse(c, now_ms);
    if (status)
      return status;
    if (until_ms < 0)
      until_ms = now_ms + most_ms;
    if (now_ms >= until_ms)
      return c->taken ? -EBUSY : 0;
    int64_t left_ms = until_ms - now_ms < PULSE_MS ? until_ms - now_ms : PULSE_MS;
    if (how == ORR_CLIENT_FUTEX)
      carrier->sleep(c, left_ms);
    else if (how == ORR_CLIENT_POLL)
      orr_client_pause_us(50);
  }
}

int orr_client_wait(struct orr_client *c, enum orr_client_how how, int most_ms) {
  int status = wait_for_frame(c, how, most_ms);
  if (status == 0)
    snprintf(c->error, sizeof c->error, "no frame came in %d ms", most_ms);
  else if (status < 0)
    snprintf(c->error, sizeof c->error, "%s", orr_client_why(status));
  return status;
}

const char *orr_client_why(int status) {
  switch (status) {
  case 0:
    return "no frame came in time";
  case -EPIPE:
    return "the run is over";
  case -ECONNRESET:
    return "the run has died, or another has taken its place";
  case -EOWNERDEAD:
    return "another peer has taken our place";
  case -EBUSY:
    return "another peer commands the run; it must leave, or be silent for half a second";
  case -EAGAIN:
    return "there is no frame to answer yet";
  default:
    return status < 0 ? strerror(-status) : "a frame came";
  }
}

static void zero_pulses(struct orr_client *c) {
  for (uint32_t i = 0; i < c->header.channel_count; i++) {
    const struct orr_wire_channel *d = &c->directory[i];
    if (d->direction == ORR_WIRE_COMMAND && d->hold == ORR_WIRE_PULSE)
      memset((char *)c->command + d->offset, 0, orr_wire_number_bytes(d->type) * (size_t)d->count);
  }
}

static int send(struct orr_client *c, uint64_t flags) {
  if (!c->any)
    return -EAGAIN;
  int status = carrier_of(c)->send(c, flags);
  if (status == 0)
    zero_pulses(c);
  return status;
}

int orr_client_send(struct orr_client *c) { return send(c, 0); }

int orr_client_end(struct orr_client *c) { return send(c, ORR_WIRE_IN_END); }

void orr_client_beat(struct orr_client *c) { carrier_of(c)->beat(c); }
