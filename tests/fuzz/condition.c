/* Reads a condition made of any bytes over a small table of signals. Whatever is read names its channels within the
 * block, has nodes that refer to nodes before them, and is judged over some frames; what is not has a message that
 * points into the text. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/run/condition.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void declare(struct orr_channel_table *t) {
  orr_channel_declare(
      t, "gyro",
      &(struct orr_channel){
          .name = "rate", .doc = "of the test", .unit = "rad/s", .count = 3, .elements = orr_channel_xyz});
  orr_channel_declare(t, "wheel",
                      &(struct orr_channel){.name = "torque", .doc = "of the test", .unit = "N m", .count = 1});
  orr_channel_declare(t, "s",
                      &(struct orr_channel){.name = "ok", .doc = "of the test", .type = ORR_CHANNEL_FLAG, .count = 1});
}

static void judge(const struct orr_condition *c) {
  int64_t state[ORR_CONDITION_NODES];
  double values[5] = {0};
  orr_must(c->count > 0 && c->count <= ORR_CONDITION_NODES && c->words <= c->count);
  for (int i = 0; i < c->count; i++) {
    const struct orr_condition_node *n = &c->nodes[i];
    orr_must(n->left < i && n->right < i && n->memory < c->words);
    orr_must(n->sort != ORR_CONDITION_BOUND || (n->first + n->count <= 5 && isfinite(n->low + n->high)));
  }
  orr_condition_reset(c, state);
  for (int f = 0; f < 20; f++) {
    for (int k = 0; k < 5; k++)
      values[k] = f % 7 == 3 ? nan("") : k == 4 ? f & 1 : 0.3 * f * (k - 1);
    orr_condition_judge(c, state, values, f * INT64_C(100000000));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct orr_arena *arena = orr_arena_create();
  struct orr_channel_table table = {0};
  struct orr_condition_error error = {0};
  char *text = malloc(size + 1); /* of its own, so that the sanitizer sees a read beyond its end */
  orr_must(text != NULL);
  if (size)
    memcpy(text, data, size);
  text[size] = '\0';
  declare(&table);
  size_t bytes = orr_channels_size(&table);
  struct orr_block block = {.base = orr_arena_alloc(arena, 1, bytes), .size = bytes};
  orr_channels_place(&table, &block);
  declare(&table);
  orr_channels_seal(&table);
  const struct orr_condition *c = orr_condition_parse(text, &table, arena, &error);
  if (c)
    judge(c);
  else
    orr_must(error.text[0] && error.code && error.at <= strlen(text));
  free(text);
  orr_arena_destroy(arena);
  return 0;
}
