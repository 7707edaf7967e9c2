/* A description compiled for a command that runs once: model, workspace and their memory together.
 *
 * create → use → destroy. [init]
 */
#ifndef ORR_TOOLS_COMMON_COMPILED_H
#define ORR_TOOLS_COMMON_COMPILED_H

#include "core/model/workspace.h"

struct orr_compiled {
  const struct orr_model *model;
  struct orr_workspace *ws;
  size_t model_bytes, workspace_bytes;
  void *model_block, *workspace_block;
};

/* Bytes in whole cache lines, aligned to one, zeroed; never NULL: ends the program when there is no memory. free()
 * it. */
void *orr_aligned_block(size_t bytes);

/* The description must have passed the reader. */
void orr_compiled_create(struct orr_compiled *compiled, const struct orr_description *description, unsigned options);
void orr_compiled_destroy(struct orr_compiled *compiled);

/* What a status of the solver means, for a message. */
const char *orr_status_text(enum orr_status status);

/* It is about a closed loop, not a body. */
bool orr_status_is_of_loop(enum orr_status status);

#endif
