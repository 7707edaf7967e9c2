#include "io/links/terms/directory.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static size_t names_of(const struct orr_layout_side *side) {
  size_t bytes = 0;
  for (int i = 0; i < side->count; i++)
    bytes += strlen(side->entries[i].channel->name) + strlen(side->entries[i].channel->unit) + 2;
  return bytes;
}

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

struct orr_wire_header orr_directory_header(const struct orr_layout *l, int64_t step_ns, int divisor) {
  struct orr_wire_header h = {.byte_order = ORR_WIRE_BYTE_ORDER, .version = ORR_WIRE_VERSION, .layout_hash = l->hash};
  h.step_ns = step_ns;
  h.divisor = (uint32_t)divisor;
  h.channel_count = (uint32_t)(l->telemetry.count + l->commands.count);
  h.directory_at = ORR_WIRE_DIRECTORY_AT;
  h.names_at = h.directory_at + h.channel_count * (uint32_t)sizeof(struct orr_wire_channel);
  h.names_bytes = (uint32_t)(names_of(&l->telemetry) + names_of(&l->commands));
  h.telemetry_bytes = l->telemetry.bytes;
  h.command_bytes = l->commands.bytes;
  h.out_slot_bytes = (uint32_t)orr_wire_slot_bytes(ORR_WIRE_OUT_WORDS, h.telemetry_bytes);
  h.in_slot_bytes = (uint32_t)orr_wire_slot_bytes(ORR_WIRE_IN_WORDS, h.command_bytes);
  h.out_at = (uint32_t)rounded(h.names_at + h.names_bytes);
  h.in_at = h.out_at + ORR_WIRE_SLOTS * h.out_slot_bytes;
  h.segment_bytes = h.in_at + (uint64_t)ORR_WIRE_SLOTS * h.in_slot_bytes;
  h.run_pid = (uint32_t)getpid();
  if (getrandom(&h.run, sizeof h.run, GRND_NONBLOCK) != sizeof h.run)
    h.run = h.run_pid;
  return h;
}

static char *write_side(const struct orr_layout_side *side, struct orr_wire_channel *to, const char *names,
                        char *text) {
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    to[i] = (struct orr_wire_channel){.count = (uint32_t)c->count,
                                      .offset = side->entries[i].at,
                                      .type = (uint8_t)c->type,
                                      .direction = (uint8_t)c->direction,
                                      .hold = (uint8_t)c->hold,
                                      .low = c->low,
                                      .high = c->high};
    to[i].name_at = (uint32_t)(text - names);
    text = stpcpy(text, c->name) + 1;
    to[i].unit_at = (uint32_t)(text - names);
    text = stpcpy(text, c->unit) + 1;
  }
  return text;
}

_Static_assert((int)ORR_CHANNEL_REAL == ORR_WIRE_REAL && (int)ORR_CHANNEL_WHOLE == ORR_WIRE_WHOLE &&
                   (int)ORR_CHANNEL_FLAG == ORR_WIRE_FLAG && (int)ORR_CHANNEL_OUTPUT == ORR_WIRE_TELEMETRY &&
                   (int)ORR_CHANNEL_COMMAND == ORR_WIRE_COMMAND && (int)ORR_CHANNEL_PULSE == ORR_WIRE_PULSE,
               "one numbering");

void orr_directory_write(const struct orr_layout *layout, const struct orr_wire_header *header, char *memory) {
  struct orr_wire_channel *directory = (struct orr_wire_channel *)(void *)(memory + header->directory_at);
  char *names = memory + header->names_at;
  char *text = write_side(&layout->telemetry, directory, names, names);
  write_side(&layout->commands, directory + layout->telemetry.count, names, text);
}
