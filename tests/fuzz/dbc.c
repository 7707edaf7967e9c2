/* CAN databases of any bytes (io/config/run/dbc): a table whose signals lie in their messages, or a message with its
 * line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/run/dbc.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct orr_dbc_message *m) {
  orr_must(m->name[0] && (m->bytes <= ORR_RUN_CAN_FD_DATA || m->id == 0xc0000000));
  for (size_t i = 0; i < m->signal_count; i++) {
    const struct orr_dbc_signal *s = &m->signals[i];
    orr_must(s->name[0] && s->width >= 1 && s->width <= 64 && isfinite(s->factor) && s->factor != 0 &&
             isfinite(s->offset));
    orr_must(m->id == 0xc0000000 || s->bit + (uint32_t)s->width <= 8 * m->bytes);
    orr_must(s->number != ORR_FIELD_FLOAT || s->width == 32 || s->width == 64);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *copy = malloc(size ? size : 1); /* of its own, so that the sanitizer sees a read beyond its end */
  orr_must(copy != NULL);
  if (size)
    memcpy(copy, data, size);
  struct orr_arena *arena = orr_arena_create();
  struct orr_table_problem problem = {0};
  struct orr_dbc dbc;
  if (!orr_dbc_read((struct orr_text){copy, size}, arena, &dbc, &problem))
    orr_must(problem.text[0]);
  else
    for (size_t i = 0; i < dbc.message_count; i++)
      judge(&dbc.messages[i]);
  orr_arena_destroy(arena);
  free(copy);
  return 0;
}
