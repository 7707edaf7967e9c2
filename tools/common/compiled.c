#include "tools/common/compiled.h"

#include <stdio.h>
#include <stdlib.h>

void *orr_aligned_block(size_t bytes) {
  size_t whole = (bytes / ORR_ALIGNMENT + 1) * ORR_ALIGNMENT;
  void *block = aligned_alloc(ORR_ALIGNMENT, whole);
  if (!block) {
    fprintf(stderr, "orrery: no memory for %zu bytes\n", bytes);
    abort();
  }
  return memset(block, 0, whole);
}

void orr_compiled_create(struct orr_compiled *compiled, const struct orr_description *description, unsigned options) {
  enum orr_status status;
  int where = -1;
  compiled->model_bytes = orr_model_size(description, options);
  compiled->model_block = orr_aligned_block(compiled->model_bytes);
  compiled->model = orr_model_init(compiled->model_block, compiled->model_bytes, description, options, &status, &where);
  assert(compiled->model && "a description that the reader accepted compiles");
  compiled->workspace_bytes = orr_workspace_size(compiled->model);
  compiled->workspace_block = orr_aligned_block(compiled->workspace_bytes);
  compiled->ws = orr_workspace_init(compiled->workspace_block, compiled->workspace_bytes, compiled->model);
}

void orr_compiled_destroy(struct orr_compiled *compiled) {
  free(compiled->workspace_block);
  free(compiled->model_block);
  *compiled = (struct orr_compiled){0};
}

const char *orr_status_text(enum orr_status status) {
  switch (status) {
  case ORR_OK:
    return "no error";
  case ORR_ERROR_CYCLE:
    return "its parents lead back to it";
  case ORR_ERROR_BLOCK:
    return "the memory block is too small";
  case ORR_ERROR_SINGULAR:
    return "its D(k) is singular or negative: nothing beyond its hinge or its modes resists some motion, or a body is "
           "deformed further than second order in its slopes holds";
  case ORR_ERROR_NOT_FINITE:
    return "its D(k), or the force on it, is not a finite number";
  case ORR_ERROR_LOOP_SINGULAR:
    return "the posture is singular: equations of the loop coincide, and its motion is not determined";
  case ORR_ERROR_LOOP_CONFLICT:
    return "the prescribed hinges tear it open: they are more than the loop leaves free, and do not fit together";
  case ORR_ERROR_LOOP_OPEN:
    return "it could not be closed from its last posture";
  }
  return "unknown status";
}

bool orr_status_is_of_loop(enum orr_status status) { return status >= ORR_ERROR_LOOP_SINGULAR; }
