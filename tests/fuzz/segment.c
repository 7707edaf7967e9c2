/* The peer's part of a shared segment filled with any bytes, under a link that flies (io/links/shm, rules, layout); and the whole segment,
 * under a client that opens it. The first byte says which: even, the peer's part; odd, the client. The rest is a list of writes: two bytes
 * of place, one of length, so many bytes; after each, a frame. Nothing crashes or hangs, and the plant's numbers stay values of their channels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/client/client.h"
#include "io/links/shm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct orr_channel channels[] = {
    {.name = "a.rate", .unit = "rad/s", .count = 2, .offset = 0},
    {.name = "b.torque",
     .unit = "N m",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .low = -1,
     .high = 1,
     .offset = 2},
    {.name = "b.time",
     .unit = "s",
     .direction = ORR_CHANNEL_COMMAND,
     .hold = ORR_CHANNEL_PULSE,
     .count = 1,
     .low = 0,
     .high = 2,
     .offset = 3},
    {.name = "c.mode",
     .unit = "",
     .type = ORR_CHANNEL_WHOLE,
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .low = 0,
     .high = 9,
     .offset = 4},
    {.name = "d.on",
     .unit = "",
     .type = ORR_CHANNEL_FLAG,
     .direction = ORR_CHANNEL_COMMAND,
     .count = 2,
     .low = 0,
     .high = 1,
     .offset = 5},
};
enum { VALUES = 7, COUNT = 5 };

static const struct orr_channel_table table = {
    .channels = channels, .count = COUNT, .output_values = 2, .value_count = VALUES};

static void must(bool good) {
  if (!good)
    abort();
}

struct rig {
  struct orr_layout layout;
  struct orr_rules rules;
  struct orr_shm shm;
  double values[VALUES];
  int64_t frame;
  char url[64];
};

static void fly(struct rig *r) {
  const uint64_t head[ORR_WIRE_OUT_WORDS] = {(uint64_t)r->frame}, payload[2] = {0};
  orr_rules_publish(&r->rules, r->frame);
  orr_shm_publish(&r->shm, head, payload);
  orr_shm_take(&r->shm, &r->rules);
  if (r->frame > 0)
    orr_rules_latch(&r->rules, r->values);
  r->frame += 2;
  for (int i = 1; i < COUNT; i++)
    for (int k = 0; k < channels[i].count; k++)
      must(orr_channel_accepts(&channels[i], r->values[channels[i].offset + k]));
}

/* A client of what stands there: whatever it finds, it reads and writes within it. */
static void visit(struct rig *r) {
  struct orr_client c;
  if (orr_client_open(&c, r->url, 0) == 0) {
    for (uint32_t i = 0; i < c.header.channel_count; i++) {
      struct orr_signal s = orr_client_find(&c, orr_client_name(&c, i));
      must(strlen(orr_client_unit(&c, i)) < c.header.names_bytes);
      (void)orr_client_get(&c, s, s.count - 1);
      orr_client_set(&c, s, s.count - 1, 0.5);
    }
    if (orr_client_wait(&c, ORR_CLIENT_POLL, 0) == 1)
      orr_client_send(&c);
  }
  orr_client_close(&c);
}

static void play(struct rig *r, const uint8_t *data, size_t size) {
  bool client = size > 0 && data[0] & 1;
  size_t first = client ? 0 : ORR_WIRE_PEER_AT;
  for (size_t at = 1; at + 3 <= size;) {
    size_t place = (size_t)data[at] << 8 | data[at + 1], length = data[at + 2];
    at += 3;
    length = length < size - at ? length : size - at;
    place = first + place % (r->shm.bytes - first);
    length = length < r->shm.bytes - place ? length : r->shm.bytes - place;
    if (!client && place < ORR_WIRE_DIRECTORY_AT && place + length > ORR_WIRE_DIRECTORY_AT)
      length = ORR_WIRE_DIRECTORY_AT - place;
    memcpy(r->shm.memory + place, data + at, length);
    at += length;
    if (client)
      visit(r);
    fly(r);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int telemetry[] = {0}, commands[] = {1, 2, 3, 4};
  struct rig r = {0};
  struct orr_layout_entry entries[6];
  double numbers[3 * 6];
  uint64_t taken[8];
  snprintf(r.url, sizeof r.url, "shm:/orrery.fuzz.%d", (int)getpid());
  orr_layout_init(&r.layout, entries, &table, telemetry, 1, commands, 4);
  orr_rules_init(&r.rules, &r.layout, 2, numbers);
  r.rules.silence_frames = 3;
  r.rules.policy = ORR_SILENCE_ZERO;
  must(orr_shm_open(&r.shm, r.url + 4, &r.layout, 1000000, 2, taken) == 0);
  fly(&r);
  play(&r, data, size);
  orr_shm_close(&r.shm);
  return 0;
}
