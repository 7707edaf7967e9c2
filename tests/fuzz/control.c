/* Reads lines made of any bytes, as they come from the socket of `orrery ctl`, over a small table of signals. Whatever
 * is read names numbers of commands within the block, accepted values, and faults that are there; what is not has a
 * message. What is answered is one line of text without control characters. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/arena.h"
#include "io/control/control_text.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUTS = 4, COMMANDS = 5, FAULTS = 2 };

static void declare(struct orr_channel_table *t) {
  orr_channel_declare(
      t, "gyro",
      &(struct orr_channel){
          .name = "rate", .doc = "of the test", .unit = "rad/s", .count = 3, .elements = orr_channel_xyz});
  orr_channel_declare(t, "s",
                      &(struct orr_channel){.name = "ok", .doc = "of the test", .type = ORR_CHANNEL_FLAG, .count = 1});
  orr_channel_declare(t, "wheel",
                      &(struct orr_channel){.name = "torque",
                                            .doc = "of the test",
                                            .unit = "N m",
                                            .direction = ORR_CHANNEL_COMMAND,
                                            .count = 3,
                                            .elements = orr_channel_xyz,
                                            .low = -1,
                                            .high = 1});
  orr_channel_declare(t, "v",
                      &(struct orr_channel){.name = "open",
                                            .doc = "of the test",
                                            .type = ORR_CHANNEL_FLAG,
                                            .direction = ORR_CHANNEL_COMMAND,
                                            .count = 1,
                                            .low = 0,
                                            .high = 1});
  orr_channel_declare(t, "v",
                      &(struct orr_channel){.name = "count",
                                            .doc = "of the test",
                                            .type = ORR_CHANNEL_WHOLE,
                                            .direction = ORR_CHANNEL_COMMAND,
                                            .count = 1,
                                            .low = -HUGE_VAL,
                                            .high = HUGE_VAL});
}

static void judge_text(const char *text, size_t most) {
  size_t n = strnlen(text, most);
  orr_must(n < most);
  for (size_t i = 0; i < n; i++)
    orr_must((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void judge(const struct orr_control_scope *scope, const struct orr_control_command *c) {
  static const double values[OUTPUTS + COMMANDS] = {0.5, -1, (double)NAN, 1, 0, 0, 0, 1, HUGE_VAL};
  char *text = NULL;
  size_t size = 0;
  orr_must(c->sort < ORR_CONTROL_SORTS && (scope->may_pause || c->sort > ORR_CONTROL_GO));
  judge_text(c->text, sizeof c->text);
  if (c->sort == ORR_CONTROL_SET) {
    orr_must(c->count > 0 && c->first >= OUTPUTS && c->first + c->count <= OUTPUTS + COMMANDS);
    for (int i = 0; i < c->count; i++)
      orr_must(isfinite(c->values[i]) && (c->first + i > OUTPUTS + 2 || fabs(c->values[i]) <= 1));
  }
  orr_must(c->sort != ORR_CONTROL_STEP || c->frames > 0);
  orr_must(c->sort != ORR_CONTROL_FAULT || (c->fault >= 0 && c->fault < FAULTS));
  orr_must(c->sort != ORR_CONTROL_CLEAR || (c->fault >= -1 && c->fault < FAULTS));
  if (c->sort != ORR_CONTROL_GET)
    return;
  FILE *out = open_memstream(&text, &size);
  orr_must(out != NULL);
  orr_control_write_values(out, scope, c->text, values);
  fclose(out);
  judge_text(text, size + 1);
  free(text);
}

static void judge_line(const struct orr_control_scope *scope, const uint8_t *data, size_t size) {
  struct orr_control_command command;
  char message[ORR_CONTROL_MESSAGE] = "", *line = malloc(size ? size : 1), *text = NULL;
  size_t length = 0;
  orr_must(line != NULL); /* of its own, so that the sanitizer sees a read beyond its end */
  if (size)
    memcpy(line, data, size);
  if (orr_control_parse(scope, line, size, &command, message, sizeof message)) {
    judge(scope, &command);
  } else {
    orr_must(message[0]);
    FILE *out = open_memstream(&text, &length);
    orr_must(out != NULL);
    orr_control_write_error(out, message);
    fclose(out);
    orr_must(length > 2 && text[length - 1] == '\n');
    text[length - 1] = '\0';
    judge_text(text, length);
    free(text);
  }
  free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct orr_run_fault faults[FAULTS] = {{.name = "bearing"}, {.name = "gyro.rate bias"}};
  static const bool known[] = {true, false, true, true, true};
  struct orr_arena *arena = orr_arena_create();
  struct orr_channel_table table = {0};
  declare(&table);
  size_t bytes = orr_channels_size(&table);
  struct orr_block block = {.base = orr_arena_alloc(arena, 1, bytes), .size = bytes};
  orr_channels_place(&table, &block);
  declare(&table);
  orr_channels_seal(&table);
  const struct orr_control_scope scope = {
      .table = &table, .known = known, .faults = faults, .fault_count = FAULTS, .may_pause = size && data[0] & 1};
  while (size) {
    const uint8_t *end = memchr(data, '\n', size);
    size_t n = end ? (size_t)(end - data) : size;
    judge_line(&scope, data, n);
    data += end ? n + 1 : n;
    size -= end ? n + 1 : n;
  }
  orr_arena_destroy(arena);
  return 0;
}
