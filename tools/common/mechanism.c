#include "tools/common/mechanism.h"

#include <stdlib.h>

void orr_mechanism_create(struct orr_mechanism *m, struct orr_compiled *compiled, const struct orr_description *d) {
  *m = (struct orr_mechanism){.bytes = orr_loops_size(d, compiled->model)};
  m->block = orr_aligned_block(m->bytes);
  m->loops = orr_loops_init(m->block, m->bytes, d, compiled->model);
}

void orr_mechanism_destroy(struct orr_mechanism *m) {
  free(m->closed_block);
  free(m->reason);
  free(m->redundant);
  free(m->q);
  free(m->block);
  *m = (struct orr_mechanism){0};
}

void orr_mechanism_assemble(struct orr_mechanism *m, struct orr_compiled *compiled) {
  size_t bytes = sizeof(double) * (size_t)compiled->model->q_count;
  m->q = orr_aligned_block(bytes);
  m->redundant = orr_aligned_block(sizeof *m->redundant * (size_t)m->loops->count);
  memcpy(m->q, compiled->ws->q, bytes);
  void *scratch = orr_aligned_block(orr_assembly_size(m->loops));
  m->assembly = orr_loops_assemble_first(m->loops, compiled->ws, scratch, m->q);
  orr_loops_rank(m->loops, compiled->ws, NULL, m->redundant);
  free(scratch);
}

void orr_mechanism_solver(struct orr_mechanism *m, struct orr_compiled *compiled, const double *q) {
  orr_loops_place(m->loops, compiled->ws, q);
  orr_loops_keep_distances(m->loops);
  m->reason = orr_aligned_block(sizeof *m->reason * (size_t)m->loops->count);
  orr_loops_settle(m->loops, compiled->ws, m->reason);
  size_t bytes = orr_closed_size(m->loops);
  m->closed_block = orr_aligned_block(bytes);
  m->closed = orr_closed_init(m->closed_block, bytes, m->loops);
  m->bytes += bytes;
  orr_closed_reference(m->closed, compiled->ws, q);
}
