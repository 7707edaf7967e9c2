/* Captures of any bytes (io/config/run/capture): datagrams that lie in the file, in order, or a message. What they say
 * is read by tests/fuzz/packet and tests/fuzz/telegram. */
#include <stdlib.h>
#include <string.h>

#include "io/config/run/capture.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1); /* of its own, so that the sanitizer sees a read beyond its end */
  orr_must(copy != NULL);
  if (size)
    memcpy(copy, data, size);
  struct orr_arena *arena = orr_arena_create();
  struct orr_table_problem problem = {0};
  struct orr_run_capture capture;
  if (!orr_capture_read((struct orr_text){(const char *)copy, size}, 5010, arena, &capture, &problem)) {
    orr_must(problem.text[0]);
  } else {
    int64_t before = 0;
    unsigned sum = 0;
    for (size_t i = 0; i < capture.count; i++) {
      const struct orr_run_datagram *d = &capture.datagrams[i];
      orr_must(d->bytes >= copy && d->count <= size && d->bytes + d->count <= copy + size && d->at_ns >= before);
      for (size_t k = 0; k < d->count; k++)
        sum += d->bytes[k];
      before = d->at_ns;
    }
    orr_must(sum <= 255 * size);
  }
  orr_arena_destroy(arena);
  free(copy);
  return 0;
}
