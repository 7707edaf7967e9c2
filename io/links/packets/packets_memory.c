/* How a link in packets gets its memory, and gives it back. What comes and goes there is
 * io/links/packets/packets.c's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/packets/packets.h"
#include "io/links/terms/directory.h"

static size_t out_words(const struct orr_packets *k) {
  return ORR_WIRE_OUT_WORDS + orr_wire_words(k->base.layout->telemetry.bytes) + 1; /* which fault hits it */
}

static bool describe(struct orr_packets *k, int64_t step_ns) {
  struct orr_wire_header h = orr_directory_header(k->base.layout, step_ns, k->base.desc->divisor);
  h.magic = ORR_WIRE_MAGIC;
  h.telemetry_id = k->base.desc->telemetry_id;
  h.command_id = k->base.desc->command_id;
  h.packet_max = k->base.desc->packet_max;
  k->run = (uint32_t)h.run;
  size_t skipped = h.directory_at - sizeof h; /* the words of run and peer */
  k->description_bytes = h.names_at + h.names_bytes;
  k->description = calloc(1, k->description_bytes + 8);
  if (!k->description)
    return false;
  orr_directory_write(k->base.layout, &h, (char *)k->description);
  memmove(k->description + sizeof h, k->description + h.directory_at, k->description_bytes - h.directory_at);
  k->description_bytes -= skipped;
  h.segment_bytes = k->description_bytes;
  h.directory_at -= (uint32_t)skipped;
  h.names_at -= (uint32_t)skipped;
  memcpy(k->description, &h, sizeof h);
  k->description_piece = orr_wire_piece_bytes(ORR_WIRE_DESCRIPTION_ID, k->description_bytes, h.packet_max);
  return true;
}

/* The rings, and the places of payloads: one in each slot, and those where the io thread gathers. All is touched
 * here. */
static bool make_rings(struct orr_packets *k) {
  size_t out = 8 * out_words(k), words = orr_wire_words(k->base.layout->commands.bytes) + 1;
  size_t payloads = (8 * words * (ORR_PACKETS_IN_SLOTS + ORR_PACKETS_GATHERINGS) + 63) / 64 * 64,
         in = sizeof(struct orr_packets_command);
  k->out_memory = aligned_alloc(64, (orr_ring_size(ORR_PACKETS_OUT_SLOTS, out) + 63) / 64 * 64);
  k->in_memory = aligned_alloc(64, (orr_ring_size(ORR_PACKETS_IN_SLOTS, in) + 63) / 64 * 64);
  k->payloads = aligned_alloc(64, payloads);
  k->aside[0] = calloc(3 * out_words(k), 8);
  if (!k->out_memory || !k->in_memory || !k->payloads || !k->aside[0])
    return false;
  k->aside[1] = k->aside[0] + out_words(k);
  k->behind = k->aside[1] + out_words(k);
  memset(k->payloads, 0, payloads);
  if (!orr_ring_init(&k->out, k->out_memory, ORR_PACKETS_OUT_SLOTS, out) ||
      !orr_ring_init(&k->in, k->in_memory, ORR_PACKETS_IN_SLOTS, in))
    return false;
  struct orr_packets_command *slots = k->in_memory;
  for (size_t i = 0; i < ORR_PACKETS_IN_SLOTS; i++)
    slots[i].payload = k->payloads + i * words;
  for (size_t i = 0; i < ORR_PACKETS_GATHERINGS; i++)
    k->gathering[i] = (struct orr_packets_gathering){.gather.key = UINT64_MAX,
                                                     .payload = k->payloads + (ORR_PACKETS_IN_SLOTS + i) * words};
  return true;
}

int orr_packets_make(struct orr_packets *k, int64_t step_ns) {
  const struct orr_run_link *desc = k->base.desc;
  k->newest = k->second = k->applied = ORR_WIRE_NONE;
  k->period_ns = step_ns * desc->divisor;
  int error = orr_form_of(desc)->make(desc, k->base.layout, &k->form);
  if (error)
    return error;
  k->seal = desc->key_file ? orr_seal_make(desc->key_file, &error) : NULL;
  if (!error && !(describe(k, step_ns) && make_rings(k)))
    error = ENOMEM;
  if (error)
    orr_packets_free(k);
  return error;
}

void orr_packets_free(struct orr_packets *k) {
  if (k->form)
    k->form->form->unmake(k->form);
  orr_seal_free(k->seal);
  k->form = NULL;
  k->seal = NULL;
  free(k->description);
  free(k->out_memory);
  free(k->in_memory);
  free(k->payloads);
  free(k->aside[0]);
  k->description = NULL;
  k->out_memory = k->in_memory = NULL;
  k->payloads = NULL;
  k->last[0] = k->last[1] = k->aside[0] = k->aside[1] = k->behind = NULL;
}
