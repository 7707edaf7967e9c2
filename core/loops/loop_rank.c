/* Which loop equations say something new, and what the others leave open. */
#include "core/loops/loop.h"

void orr_loops_judge_free(struct orr_loops *l, const struct orr_workspace *ws) {
  struct orr_pivot *j = &l->judge;
  for (int r = 0; r < l->row_count; r++) { /* what the last factoring left, and G */
    size_t at = (size_t)r * (size_t)j->width, first = (size_t)l->span_first[r], past = (size_t)l->span_past[r];
    memset(j->a + at + j->first[r], 0, sizeof *j->a * (size_t)(j->past[r] - j->first[r]));
    memcpy(j->a + at + first, l->g.a + at + first, sizeof *j->a * (past - first));
  }
  memcpy(j->gross, l->g.gross, sizeof *j->gross * (size_t)l->row_count);
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_loop_limb *k = &l->limbs[i];
    for (int c = 0; c < l->model->limbs[k->limb].dof && ws->prescribed[k->limb]; c++)
      for (int r = 0; r < l->row_count; r++)
        j->a[(size_t)r * (size_t)j->width + (size_t)(k->column + k->modes + c)] = 0;
  }
}

bool orr_row_may_be_taken(const struct orr_loops *l, int row, double least) {
  static const double MOVES = 1e-9;
  return fabs(l->residual[row]) <= MOVES * least * l->g.gross[row];
}

/* Rows of the one method get their size, the others none. */
static void size_rows(struct orr_loops *l, bool embedded) {
  for (int r = 0; r < l->row_count; r++)
    l->judge.gross[r] = (l->loops[l->row_loop[r]].method == ORR_LOOP_EMBED) == embedded ? l->g.gross[r] : 0;
}

int orr_loops_rank(struct orr_loops *l, const struct orr_workspace *ws, int *embedded, int *redundant) {
  orr_loops_judge_free(l, ws);
  size_rows(l, true);
  orr_pivot_factor(&l->judge, ORR_LOOP_TOLERANCE);
  if (embedded)
    *embedded = l->judge.rank;
  size_rows(l, false);
  orr_pivot_continue(&l->judge, ORR_LOOP_TOLERANCE, l->row_count);
  for (int i = 0; redundant && i < l->count; i++)
    redundant[i] = 0;
  for (int r = l->judge.rank; redundant && r < l->row_count; r++)
    redundant[l->row_loop[l->judge.order[r]]]++;
  return l->judge.rank;
}

/* A part of a sum that is more than rounding of its terms. */
static bool remains(double part, double terms) { return part > 1e-9 * terms; }

/* The wrenches of one vanishing combination, summed over what lies beyond the hinge of limb k. */
static bool loads_hinge(const struct orr_loops *l, const double *v, int k) {
  orr_spatial sum = sp_zero();
  double moments = 0, forces = 0;
  for (int i = 0; i < l->count; i++) {
    const struct orr_loop *loop = &l->loops[i];
    for (int s = 0; s < 2; s++)
      for (int t = 0; t < loop->steps[s]; t++) {
        if (l->path[loop->path[s] + t] != k)
          continue;
        for (int r = 0; r < loop->rows; r++) {
          orr_spatial w = l->carried[loop->carried[s] + r * loop->steps[s] + t];
          sum = sp_madd(sum, v[loop->row + r], w);
          moments += fabs(v[loop->row + r]) * v3_norm(w.w);
          forces += fabs(v[loop->row + r]) * v3_norm(w.v);
        }
      }
  }
  moments += forces * l->size; /* of a force through the hinge's point only the rounding of its arm is left */
  return remains(v3_norm(sum.w), moments) || remains(v3_norm(sum.v), forces);
}

static bool loads_coordinate(const struct orr_loops *l, const double *v, int column) {
  double sum = 0, terms = 0;
  for (int r = 0; r < l->row_count; r++) {
    double part = v[r] * l->g.a[(size_t)r * (size_t)l->g.width + (size_t)column];
    sum += part;
    terms += fabs(v[r]) * l->g.gross[r];
  }
  return remains(fabs(sum), terms);
}

struct orr_loop_numbers orr_loop_numbers(enum orr_loop_kind kind, bool turns) {
  switch (kind) {
  case ORR_LOOP_POINT:
    return (struct orr_loop_numbers){0, 3};
  case ORR_LOOP_DISTANCE:
    return (struct orr_loop_numbers){0, 1};
  case ORR_LOOP_ROLLING:
    return (struct orr_loop_numbers){0, 2};
  case ORR_LOOP_GEAR:
    return (struct orr_loop_numbers){turns, !turns};
  default:
    return (struct orr_loop_numbers){3, 3};
  }
}

int orr_loop_multipliers(const struct orr_loop *loop, const double *lambda, double *out) {
  if (loop->kind != ORR_LOOP_REVOLUTE) {
    memcpy(out, lambda, sizeof *out * (size_t)loop->rows);
    if (loop->kind != ORR_LOOP_ROLLING)
      return loop->rows;
    out[1] = loop->rows > 1 ? out[1] : 0; /* it slides */
    return 2;
  }
  orr_vec3 moment = v3_madd(v3_scale(lambda[0], loop->e1), lambda[1], loop->e2);
  v3_to(out, loop->driven >= 0 ? v3_madd(moment, lambda[2], loop->axis) : moment);
  memcpy(out + 3, lambda + loop->rows - 3, 3 * sizeof *out);
  return 6;
}

void orr_loops_undetermined_numbers(const struct orr_loops *l, bool (*out)[ORR_LOOP_MAX_ROWS]) {
  for (int n = 0; n < l->row_count - l->judge.rank; n++) {
    double *v = l->judge.y, terms = 0, numbers[ORR_LOOP_MAX_ROWS];
    orr_pivot_null(&l->judge, n, v);
    for (int r = 0; r < l->row_count; r++) {
      v[r] *= l->g.gross[r] > 0 ? l->g.gross[r] : 1; /* an equation without anything in it is open by itself */
      terms += fabs(v[r]);
    }
    for (int i = 0; i < l->count; i++) {
      int count = orr_loop_multipliers(&l->loops[i], v + l->loops[i].row, numbers);
      for (int k = 0; k < count; k++)
        out[i][k] = out[i][k] || !(fabs(numbers[k]) <= ORR_LOOP_TOLERANCE * terms);
    }
  }
}

void orr_loops_undetermined(const struct orr_loops *l, bool *multipliers, bool *forces, bool *efforts) {
  const struct orr_model *m = l->model;
  memset(multipliers, 0, sizeof *multipliers * (size_t)l->count);
  memset(forces, 0, sizeof *forces * (size_t)m->body_count);
  memset(efforts, 0, sizeof *efforts * (size_t)m->body_count);
  for (int n = 0; n < l->row_count - l->judge.rank; n++) {
    double *v = l->judge.y, terms = 0;
    orr_pivot_null(&l->judge, n, v);
    for (int r = 0; r < l->row_count; r++)
      terms += fabs(v[r]) * l->g.gross[r];
    /* An equation without anything in it (terms 0) is open by itself. One that has no part but rounding must not pass
     * that on to hinges which it alone loads. */
    for (int r = 0; r < l->row_count; r++) {
      if (fabs(v[r]) * l->g.gross[r] < 1e-9 * terms)
        v[r] = 0;
      multipliers[l->row_loop[r]] = multipliers[l->row_loop[r]] || v[r] != 0;
    }
    for (int i = 0; i < l->limb_count; i++) {
      const struct orr_loop_limb *k = &l->limbs[i];
      const struct orr_limb *limb = &m->limbs[k->limb];
      forces[limb->body] = forces[limb->body] || loads_hinge(l, v, k->limb);
      for (int c = 0; c < limb->dof; c++)
        efforts[limb->body] = efforts[limb->body] || loads_coordinate(l, v, k->column + k->modes + c);
    }
  }
}
