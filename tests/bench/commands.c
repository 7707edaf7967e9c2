/* What a command over shared memory costs its peer and the executive, without what it costs to bring it from one core
 * to another: both are this one thread.
 *
 *   commands [BYTES COUNT]     a link with so long a command, and so many frames
 *   commands                   two lengths, and what a frame takes
 *
 * tests/bench/instructions.sh counts the instructions of either side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/client/client_carrier.h"
#include "io/links/carriers/shm.h"
#include "io/links/terms/directory.h"
#include "rt/tick/clock.h"

enum { NUMBERS_MAX = ORR_WIRE_PAYLOAD_MAX / 8 };

struct rig {
  struct orr_channel channels[2];
  struct orr_channel_table table;
  struct orr_layout_entry entries[3];
  struct orr_layout layout;
  struct orr_rules rules;
  struct orr_shm shm;
  struct orr_client client;
  uint64_t places[ORR_RULES_PLACES * NUMBERS_MAX];
  double values[1 + NUMBERS_MAX];
};

/* The segment is plain memory, so no lock says that the run lives; nobody asks. */
static void make(struct rig *r, int numbers) {
  static const int telemetry[] = {0}, commands[] = {1};
  memset(r, 0, sizeof *r);
  r->channels[0] = (struct orr_channel){.name = "s.all", .unit = "", .count = 1};
  r->channels[1] = (struct orr_channel){.name = "a.all",
                                        .unit = "",
                                        .direction = ORR_CHANNEL_COMMAND,
                                        .count = numbers,
                                        .low = -1,
                                        .high = 1,
                                        .offset = 1};
  r->table = (struct orr_channel_table){.channels = r->channels, .count = 2};
  orr_layout_init(&r->layout, r->entries, &r->table, telemetry, 1, commands, 1);
  orr_rules_init(&r->rules, &r->layout, 1, r->places);
  struct orr_wire_header head = orr_directory_header(&r->layout, 1000000, 1);
  r->shm =
      (struct orr_shm){.fd = -1, .bytes = head.segment_bytes, .base = {.kind = &orr_carrier_shm, .layout = &r->layout}};
  r->shm.memory = aligned_alloc(64, (r->shm.bytes + 63) / 64 * 64);
  if (!r->shm.memory)
    abort();
  orr_shm_lay_out(&r->shm, &head);
  r->client = (struct orr_client){.fd = -1, .memory = r->shm.memory, .memory_bytes = r->shm.bytes};
  if (orr_client_shm_enter(&r->client) != 0)
    abort();
}

static void discard(struct rig *r) {
  r->client.memory = NULL; /* no mapping */
  orr_client_close(&r->client);
  free(r->shm.memory);
}

static void fly(struct rig *r, int frames) {
  const struct orr_signal all = orr_client_find(&r->client, "a.all");
  for (int i = 0; i < frames; i++) {
    const uint64_t head[ORR_WIRE_OUT_WORDS] = {(uint64_t)i, 0, ORR_WIRE_NONE, 0}, payload[2] = {0};
    orr_rules_publish(&r->rules, i);
    orr_shm_publish(&r->shm, head, payload);
    orr_client_wait(&r->client, ORR_CLIENT_SPIN, 0);
    orr_client_set(&r->client, all, 0, 1e-9 * i);
    orr_client_send(&r->client);
    orr_shm_take(&r->shm, &r->rules);
    orr_rules_latch(&r->rules, r->values);
  }
  if (r->rules.counts.applied != (uint64_t)frames - 1) {
    fprintf(stderr, "commands: not every command was applied\n");
    exit(1);
  }
}

int main(int argc, char **argv) {
  static const int bytes[] = {104, ORR_WIRE_PAYLOAD_MAX}, frames[] = {200000, 2000};
  static struct rig r;
  if (argc == 3) {
    make(&r, atoi(argv[1]) / 8);
    fly(&r, atoi(argv[2]));
    discard(&r);
    return 0;
  }
  for (int i = 0; i < 2; i++) {
    make(&r, bytes[i] / 8);
    int64_t begin_ns = orr_clock_now_ns();
    fly(&r, frames[i]);
    printf("command of %5d bytes: %.0f ns a frame, peer and executive\n", bytes[i],
           (double)(orr_clock_now_ns() - begin_ns) / frames[i]);
    discard(&r);
  }
  return 0;
}
