#include "tools/mechanism.h"

#include <stdlib.h>

void orr_mechanism_create(struct orr_mechanism *m, struct orr_compiled *compiled, const struct orr_description *d) {
  const struct orr_model *model = compiled->model;
  *m = (struct orr_mechanism){.bytes = orr_loops_size(d, model)};
  m->block = orr_aligned_block(m->bytes);
  m->loops = orr_loops_init(m->block, m->bytes, d, model);
  m->q = orr_aligned_block(sizeof(double) * (size_t)model->q_count);
  m->redundant = orr_aligned_block(sizeof(int) * d->loop_count);
  memcpy(m->q, compiled->ws->q, sizeof(double) * (size_t)model->q_count);
  void *scratch = orr_aligned_block(orr_assembly_size(m->loops));
  orr_loops_place(m->loops, compiled->ws, m->q);
  orr_loops_keep_distances(m->loops);
  m->assembly = orr_loops_assemble(m->loops, compiled->ws, scratch, m->q);
  orr_loops_rank(m->loops, compiled->ws, m->redundant);
  free(scratch);
}

void orr_mechanism_destroy(struct orr_mechanism *m) {
  free(m->redundant);
  free(m->q);
  free(m->block);
  *m = (struct orr_mechanism){0};
}
