/* Packets of any layout and any bytes (io/links/forms/telegram). The first byte says how many fields a packet of
 * commands has and its size, then come six bytes for each field, then the bytes that arrive: as one packet, and as a
 * stream. What is judged good is read, and what is read is written again as telemetry of the same fields.
 *
 * Whatever comes, nothing beyond the bytes is read, and a stream never stands still.
 * Fuzz with: -max_len=256
 */
#include <stdlib.h>
#include <string.h>

#include "io/links/forms/telegram.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 16, FIELD_BYTES = 6, BYTES = 32 };

static const char *const names[] = {"a.rate", "a.count", "a.on", "b.torque", "b.time", "c.mode", "d.on"};
static const struct orr_field_state states[] = {{"off", 0, 0}, {"on", 1, 1}, {"more", 2, 7}};

/* As the reader would have left it: inside the packet, its range inside it, too. */
static struct orr_run_field make_field(const uint8_t *b, int number, uint32_t bytes, bool command) {
  struct orr_run_field f = {.by = -1, .set = -1, .lsb = 0.25, .kind = (enum orr_field_kind)(b[0] % 7)};
  f.number = (enum orr_field_number)(b[0] / 8 % 3);
  f.width = f.number == ORR_FIELD_FLOAT && f.kind == ORR_FIELD_CHANNEL ? (b[1] & 1 ? 32 : 64) : 1 + b[1] % 64;
  f.number = f.kind == ORR_FIELD_CHANNEL ? f.number : ORR_FIELD_UNSIGNED;
  if ((uint32_t)f.width > 8 * bytes)
    f.width = f.number == ORR_FIELD_FLOAT ? 32 : 8;
  f.bit = (b[2] + 256U * (b[3] & 1)) % (8 * bytes - (uint32_t)f.width + 1);
  f.little = b[3] & 2;
  f.channel_name = names[command ? 3 + b[4] % 4 : b[4] % 3];
  f.offset = b[3] & 4 ? 1 : 0;
  if (b[3] & 8 && f.number != ORR_FIELD_FLOAT && f.width >= 3 && f.kind == ORR_FIELD_CHANNEL) {
    f.states = states;
    f.state_count = 3;
  }
  f.raw = f.width >= 8 ? b[5] : b[5] & 1;
  f.from = b[4] % bytes;
  f.to = f.from + b[5] % (bytes - f.from + 1);
  f.zeros = b[3] >> 5;
  f.sum = (enum orr_field_sum)(b[3] % 5);
  f.crc = (struct orr_field_crc){b[5] | 1, b[4], b[2], b[1] & 64, b[1] & 128};
  f.lsb_ns = 1 + b[5];
  f.modulo = b[4];
  if (f.kind != ORR_FIELD_CHECKSUM && b[3] & 16 && number > 0) {
    f.by = 0;
    f.set = b[5] % 4;
  }
  return f;
}

static void take(const struct orr_telegrams *t, const uint8_t *bytes, const struct orr_link_rig *rig,
                 uint64_t *payload) {
  orr_telegram_read(t, 0, bytes, payload);
  (void)orr_layout_judge(&rig->layout.commands, payload);
}

/* As one packet, then byte by byte: each is exactly as large as what arrived, so that the sanitizer sees a byte
 * beyond. */
static void arrive(const struct orr_telegrams *t, const uint8_t *data, size_t size, const struct orr_link_rig *rig) {
  uint64_t payload[ORR_RIG_WORDS] = {0};
  uint8_t *exact = malloc(size ? size : 1);
  int which;
  orr_must(exact != NULL);
  if (size)
    memcpy(exact, data, size);
  orr_telegram_rest(t, payload);
  orr_must(orr_layout_judge(&rig->layout.commands, payload) == ORR_REFUSAL_NONE);
  if (orr_telegram_judge(t, exact, size, &which) == ORR_TELEGRAM_GOOD)
    take(t, exact, rig, payload);
  for (size_t at = 0; at < size;) {
    enum orr_telegram_verdict verdict = orr_telegram_begins(t, exact + at, size - at, &which);
    if (verdict == ORR_TELEGRAM_PART) {
      orr_must(size - at < t->desc->telegrams[0].bytes);
      break;
    }
    if (verdict == ORR_TELEGRAM_GOOD)
      take(t, exact + at, rig, payload);
    at += verdict == ORR_TELEGRAM_GOOD ? t->desc->telegrams[which].bytes : 1;
  }
  free(exact);
}

static void depart(const struct orr_telegrams *t, const uint8_t *data, size_t size) {
  uint64_t payload[ORR_RIG_WORDS] = {0};
  struct orr_telegram_clipped clipped = {0};
  const struct orr_telegram_moment m = {.number = size, .sent = UINT64_MAX, .time_ns = INT64_MIN + (int64_t)size};
  uint8_t *to = malloc(t->desc->telegrams[1].bytes);
  orr_must(to != NULL);
  if (size)
    memcpy(payload, data, size < sizeof payload ? size : sizeof payload);
  orr_must(orr_telegram_write(t, 1, &m, payload, to, &clipped) == t->desc->telegrams[1].bytes);
  free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct orr_run_field fields[2][FIELDS];
  struct orr_link_rig rig;
  int count = size ? 1 + data[0] % FIELDS : 1;
  uint32_t bytes = size ? 8 + data[0] / FIELDS % (BYTES - 7) : 8;
  if (size < 1 + (size_t)count * FIELD_BYTES)
    return 0;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 2; k++)
      fields[k][i] = make_field(data + 1 + i * FIELD_BYTES, i, bytes, k == 0);
  const struct orr_run_telegram all[] = {
      {.name = "in", .command = true, .request = -1, .bytes = bytes, .count = count, .fields = fields[0]},
      {.name = "out", .every = 1, .request = -1, .bytes = bytes, .count = count, .fields = fields[1]}};
  const struct orr_run_layout layout = {2, all};
  struct orr_telegrams telegrams;
  struct orr_block block = {0};
  orr_link_rig_init(&rig, 0, 1);
  orr_telegrams_init(&telegrams, &layout, &rig.layout, &block);
  block = (struct orr_block){.base = aligned_alloc(ORR_ALIGNMENT, block.used), .size = block.used};
  orr_must(block.base != NULL);
  orr_telegrams_init(&telegrams, &layout, &rig.layout, &block);
  data += 1 + count * FIELD_BYTES;
  size -= 1 + (size_t)count * FIELD_BYTES;
  arrive(&telegrams, data, size, &rig);
  depart(&telegrams, data, size);
  free(block.base);
  return 0;
}
