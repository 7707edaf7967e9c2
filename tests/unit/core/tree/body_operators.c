/* H, Φ and M_m of single bodies: what they make of speeds and of the mass matrix, beside the dense reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/body_operators.h"
#include "tests/support/dense.h"
#include "tests/support/trial.h"

/* A sample at its state, and the motion V_m of every body for some speeds. */
struct scene {
  struct orr_sample *s;
  struct orr_trial trial;
  struct orr_dense *dense;
  uint64_t seed;
  double *block, *moved; /* room for one block; V_m of every body */
  int *at;               /* [bodies] where V_m of a body starts in `moved` */
  int width;             /* numbers of all V_m */
};

static int modes_of(const struct scene *x, int body) {
  return x->trial.model->limbs[x->trial.model->limb_of_body[body]].mode_count;
}

static struct scene scene_make(uint64_t seed) {
  struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 9));
  o.rotors = 0.3;
  o.linearized = (double)(seed % 3) / 2;
  struct scene x = {.s = orr_sample_make(&o), .seed = seed};
  x.trial = orr_trial_make(x.s, 0);
  orr_trial_load(&x.trial);
  orr_limbs_complete(x.trial.model, x.trial.ws);
  x.dense = orr_dense_make(x.s);
  int bodies = (int)x.s->description.body_count, most = x.trial.model->mode_max + 6;
  x.block = orr_vector_make(most * most);
  x.at = calloc((size_t)bodies, sizeof *x.at);
  assert_non_null(x.at);
  for (int i = 0; i < bodies; i++) {
    x.at[i] = x.width;
    x.width += modes_of(&x, i) + 6;
  }
  x.moved = orr_vector_make(x.width);
  return x;
}

static void scene_free(struct scene *x) {
  free(x->block);
  free(x->moved);
  free(x->at);
  orr_dense_free(x->dense);
  orr_trial_free(&x->trial);
  orr_sample_free(x->s);
}

/* V_m(k) = Φ*(p, k) V_m(p) + H*(k) χ(k) of body k and, before it, of those it hangs on. */
static void move(struct scene *x, int body, const double *u) {
  const struct orr_model *m = x->trial.model;
  const struct orr_limb *limb = &m->limbs[m->limb_of_body[body]];
  int parent = orr_body_parent(m, body), width = limb->mode_count + 6;
  double *out = x->moved + x->at[body];
  memset(out, 0, sizeof(double) * (size_t)width);
  assert_int_equal(parent, x->s->bodies[body].hinge.parent);
  if (parent >= 0) {
    move(x, parent, u);
    orr_operator_transform(m, x->trial.ws, body, x->block);
    for (int i = 0; i < modes_of(x, parent) + 6; i++)
      for (int j = 0; j < width; j++)
        out[j] += x->block[i * width + j] * x->moved[x->at[parent] + i];
  }
  orr_operator_joint_map(m, x->trial.ws, body, x->block);
  for (int i = 0; i < limb->mode_count + limb->dof; i++)
    for (int j = 0; j < width; j++)
      out[j] += x->block[i * width + j] * u[x->s->u_at[body] + i];
}

static void the_blocks_carry_speeds_to_the_motion_of_body_frames(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct scene x = scene_make(seed);
    double *accel = orr_vector_make(x.s->u_count), *force = orr_vector_make(x.s->u_count);
    orr_dense_inverse(x.dense, accel, force); /* velocities of places come with accelerations */
    free(accel);
    free(force);
    for (int i = 0; i < (int)x.s->description.body_count; i++) {
      struct orr_dense_place place = orr_dense_place(x.dense, i, -1);
      double want[6] = {0};
      move(&x, i, x.s->u);
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
          want[a] += place.attitude[b][a] * place.omega[b];
          want[3 + a] += place.attitude[b][a] * place.v[b];
        }
      int n = modes_of(&x, i);
      orr_expect_below(orr_gap(x.moved + x.at[i] + n, want, 6), 1e-12, "V", seed);
      for (int r = 0; r < n; r++)
        assert_true(x.moved[x.at[i] + r] == x.s->u[x.s->u_at[i] + r]);
    }
    scene_free(&x);
  }
}

static void the_mass_of_a_body_without_rotors_is_that_of_its_nodes(void **state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct scene x = scene_make(seed);
    for (int i = 0; i < (int)x.s->description.body_count; i++) {
      const struct orr_body_desc *b = &x.s->bodies[i];
      bool carries = b->deformation == ORR_DEFORMATION_LINEARIZED || !b->flexible;
      for (size_t r = 0; r < x.s->description.rotor_count; r++)
        carries |= x.s->rotors[r].body == i;
      if (carries)
        continue;
      int width = modes_of(&x, i) + 6;
      double *want = orr_vector_make(width * width);
      orr_dense_body_mass(b, x.s->q + x.s->q_at[i], want);
      orr_operator_mass(x.trial.model, x.trial.ws, i, x.block);
      orr_expect_below(orr_gap(x.block, want, width * width), 1e-12, "M_m", seed);
      free(want);
      compared++;
    }
    scene_free(&x);
  }
  assert_true(compared > 20);
}

/* H Φ M Φ* H*, one unit speed after the other; rotors free, prescribed hinges like others. */
static void the_blocks_multiply_to_the_mass_matrix(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct scene x = scene_make(seed);
    int n = x.s->u_count, bodies = (int)x.s->description.body_count;
    double *moved = orr_vector_make(n * x.width), *have = orr_vector_make(n * n), *want = orr_vector_make(n * n);
    double *unit = orr_vector_make(n);
    for (int i = 0; i < n; i++) {
      unit[i] = 1;
      for (int b = 0; b < bodies; b++)
        move(&x, b, unit);
      memcpy(moved + i * x.width, x.moved, sizeof(double) * (size_t)x.width);
      unit[i] = 0;
    }
    for (int b = 0; b < bodies; b++) {
      int width = modes_of(&x, b) + 6;
      orr_operator_mass(x.trial.model, x.trial.ws, b, x.block);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          for (int r = 0; r < width; r++)
            for (int c = 0; c < width; c++)
              have[i * n + j] +=
                  moved[i * x.width + x.at[b] + r] * x.block[r * width + c] * moved[j * x.width + x.at[b] + c];
    }
    orr_dense_mass(x.dense, want);
    orr_expect_below(orr_gap_matrix(have, want, n), 1e-11, "HFMF*H*", seed);
    free(moved);
    free(have);
    free(want);
    free(unit);
    scene_free(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_blocks_carry_speeds_to_the_motion_of_body_frames),
      cmocka_unit_test(the_mass_of_a_body_without_rotors_is_that_of_its_nodes),
      cmocka_unit_test(the_blocks_multiply_to_the_mass_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
