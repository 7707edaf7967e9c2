/* Modal integrals: the mass matrix and the bias of one body against T of the conventions, written out node by node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/modal.h"
#include "tests/support/dense.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

enum { MOST = 8, PADDED = 8 };

/* One body's integrals by themselves, with all that they need to be evaluated. */
struct bench {
  struct orr_modal modal;
  struct orr_modal_state out;
  void *block;
  _Alignas(64) double shapes[16][2][3][PADDED]; /* by node: slope, shift */
  struct orr_modal_node nodes[16];
  _Alignas(64) double curves[16][MOST][3][PADDED]; /* by node: G */
  _Alignas(64) double s1[3][PADDED];
  _Alignas(64) double l[3][PADDED];
  _Alignas(64) double bias[PADDED];
  _Alignas(64) double eta[PADDED];
  _Alignas(64) double rate[PADDED];
};

static struct bench *bench_make(const struct orr_body_desc *body) {
  struct bench *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
  struct orr_block measure = {0};
  assert_non_null(b);
  memset(b, 0, sizeof *b);
  int n = (int)body->mode_count;
  b->modal.linearized = body->deformation == ORR_DEFORMATION_LINEARIZED;
  b->modal.curved = body->stiffening;
  orr_modal_layout(&b->modal, n, &measure);
  b->block = aligned_alloc(64, measure.used + 64);
  assert_non_null(b->block);
  struct orr_block block = {.base = b->block, .size = measure.used};
  orr_modal_layout(&b->modal, n, &block);
  assert_int_equal(block.used, measure.used);
  assert_true(b->modal.ld <= PADDED && body->node_count <= 16);
  for (size_t j = 0; j < body->node_count; j++) {
    const struct orr_node_desc *desc = &body->nodes[j];
    double *slope = b->shapes[j][0][0], *shift = b->shapes[j][1][0];
    for (int r = 0; r < n; r++)
      for (int c = 0; c < 3; c++) {
        slope[c * b->modal.ld + r] = desc->modes[6 * r + c];
        shift[c * b->modal.ld + r] = desc->modes[6 * r + 3 + c];
      }
    b->nodes[j] = (struct orr_modal_node){.mass = desc->mass,
                                          .at = v3_from(desc->at),
                                          .com = v3_from(desc->com),
                                          .inertia = s3_from(desc->inertia),
                                          .slope = slope,
                                          .shift = shift,
                                          .curve = b->curves[j][0][0]};
    for (size_t i = 0; i < desc->curve_count; i++)
      for (int c = 0; c < 3; c++) {
        const struct orr_curve_desc *pair = &desc->curves[i];
        int r = (int)pair->r, s = (int)pair->s;
        orr_curve_at(b->curves[j][0][0], 3, n, s, r)[4 * c] = orr_curve_at(b->curves[j][0][0], 3, n, r, s)[4 * c] =
            pair->g[c];
      }
    orr_modal_add_node(&b->modal, 1, &b->nodes[j]);
  }
  b->out.l = b->l[0];
  b->out.s1 = b->modal.curved ? b->s1[0] : b->modal.s1;
  b->out.bias_f = b->bias;
  return b;
}

static void bench_free(struct bench *b) {
  free(b->block);
  free(b);
}

/* A flexible body with modes, out of a random spacecraft. */
static struct orr_sample *flexible(uint64_t seed, bool linearized) {
  struct orr_sample_options o = orr_sample_default(seed, 1);
  o.flexible = 1;
  o.linearized = linearized;
  for (;; o.seed += 1000) {
    struct orr_sample *s = orr_sample_make(&o);
    if (s->bodies[0].mode_count > 0)
      return s;
    orr_sample_free(s);
  }
}

/* [mff, Lᵀ, Sᵀ; L, I, s̃; S, s̃ᵀ, m] times x = [η̈; ω̇; a] */
static void times_mass(const struct bench *b, const double *x, double *out) {
  int n = b->modal.n, ld = b->modal.ld;
  orr_inertia frame = in_rigid(b->modal.mass, b->out.s, b->out.inertia);
  sp_to(out + n, in_apply(frame, sp_from(x + n)));
  for (int r = 0; r < n; r++) {
    out[r] = 0;
    for (int s = 0; s < n; s++)
      out[r] += b->modal.mff[r * ld + s] * x[s];
    for (int c = 0; c < 3; c++) {
      out[r] += b->out.l[c * ld + r] * x[n + c] + b->out.s1[c * ld + r] * x[n + 3 + c];
      out[n + c] += b->out.l[c * ld + r] * x[r];
      out[n + 3 + c] += b->out.s1[c * ld + r] * x[r];
    }
  }
}

static void mass_matrix_is_the_hessian_of_t(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample *s = flexible(seed, seed % 3 == 0);
    struct bench *b = bench_make(&s->bodies[0]);
    int n = b->modal.n, size = n + 6;
    double have[14 * 14], want[14 * 14];
    memcpy(b->eta, s->q + s->q_at[0], sizeof(double) * (size_t)n);
    orr_modal_evaluate(&b->modal, b->eta, b->rate, v3_zero(), v3_zero(), &b->out);
    for (int i = 0; i < size; i++) {
      double unit[14] = {0}, column[14];
      unit[i] = 1;
      times_mass(b, unit, column);
      for (int k = 0; k < size; k++)
        have[k * size + i] = column[k];
    }
    orr_dense_body_mass(&s->bodies[0], b->eta, want);
    orr_expect_below(orr_gap_matrix(have, want, size), 1e-14, "M_m", seed);
    bench_free(b);
    orr_sample_free(s);
  }
}

/* M_m [η̈; ω̇; a] + bias, a = v̇ + ω × v, is what Lagrange and Newton-Euler make of T. */
static void bias_is_what_is_left_of_lagranges_equations(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample *s = flexible(seed, seed % 3 == 0);
    struct bench *b = bench_make(&s->bodies[0]);
    struct orr_prng p = {seed};
    int n = b->modal.n;
    double v[14] = {0}, v_dot[14] = {0}, x[14], have[14], want[14], frame[6];
    prng_vector(&p, 2, v, n + 6);
    prng_vector(&p, 2, v_dot, n + 6);
    memcpy(b->eta, s->q + s->q_at[0], sizeof(double) * (size_t)n);
    memcpy(b->rate, v, sizeof(double) * (size_t)n);
    orr_modal_evaluate(&b->modal, b->eta, b->rate, v3_from(v + n), v3_from(v + n + 3), &b->out);
    memcpy(x, v_dot, sizeof x);
    v3_to(x + n + 3, v3_add(v3_from(v_dot + n + 3), v3_cross(v3_from(v + n), v3_from(v + n + 3))));
    times_mass(b, x, have);
    sp_to(frame, b->out.bias);
    for (int r = 0; r < n; r++)
      have[r] += b->out.bias_f[r];
    for (int c = 0; c < 6; c++)
      have[n + c] += frame[c];
    orr_dense_body_force(&s->bodies[0], b->eta, v, v_dot, want);
    orr_expect_below(orr_gap(have, want, n + 6), 1e-14, "force", seed);
    bench_free(b);
    orr_sample_free(s);
  }
}

/* Gyroscopic terms do no work but what changes the kinetic energy: V·(force) = dT/dt for any V, V̇. With V̇ = 0 and
 * η̇ = 0, T is constant and the power of the bias is nil. */
static void a_deformed_body_at_constant_speed_takes_no_power(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_sample *s = flexible(seed, seed % 2);
    struct bench *b = bench_make(&s->bodies[0]);
    struct orr_prng p = {seed};
    double w[3], v[3];
    prng_vector(&p, 2, w, 3);
    prng_vector(&p, 2, v, 3);
    memcpy(b->eta, s->q + s->q_at[0], sizeof(double) * (size_t)b->modal.n);
    orr_modal_evaluate(&b->modal, b->eta, b->rate, v3_from(w), v3_from(v), &b->out);
    double size = v3_norm(b->out.bias.w) + v3_norm(b->out.bias.v);
    /* the frame's ω moment; its force is for a = 0, that is v̇ = −ω × v */
    orr_vec3 a = v3_cross(v3_from(w), v3_from(v));
    orr_spatial f =
        sp_add(b->out.bias, in_apply(in_rigid(b->modal.mass, b->out.s, b->out.inertia), (orr_spatial){v3_zero(), a}));
    double power = v3_dot(v3_from(w), f.w) + v3_dot(v3_from(v), f.v);
    orr_expect_below(fabs(power) / (1 + size), 1e-13, "power", seed);
    bench_free(b);
    orr_sample_free(s);
  }
}

static void taking_a_node_out_undoes_putting_it_in(void **state) {
  (void)state;
  struct orr_sample *s = flexible(3, false);
  struct bench *all = bench_make(&s->bodies[0]), *less;
  struct orr_body_desc fewer = s->bodies[0];
  fewer.node_count -= 2;
  less = bench_make(&fewer);
  for (int j = 0; j < 2; j++)
    orr_modal_add_node(&all->modal, -1, &all->nodes[fewer.node_count + (size_t)j]);
  struct bench *pair[2] = {all, less};
  for (int k = 0; k < 2; k++) {
    for (int r = 0; r < all->modal.n; r++)
      pair[k]->eta[r] = 0.1 * (r + 1), pair[k]->rate[r] = 0.3 - 0.1 * r;
    orr_modal_evaluate(&pair[k]->modal, pair[k]->eta, pair[k]->rate, v3(1, 2, 3), v3(1, 0, 0), &pair[k]->out);
  }
  double x[14], have[14], want[14];
  for (int i = 0; i < 14; i++)
    x[i] = 1 + i;
  times_mass(all, x, have);
  times_mass(less, x, want);
  orr_expect_below(orr_gap(have, want, all->modal.n + 6), 1e-13, "M_m", 3);
  orr_expect_below(orr_gap(all->bias, less->bias, all->modal.n), 1e-12, "bias", 3);
  bench_free(all);
  bench_free(less);
  orr_sample_free(s);
}

/* A node cut in two halves at the same place changes nothing, so the cost is not in the nodes. */
static void a_node_in_two_halves_changes_nothing(void **state) {
  (void)state;
  struct orr_sample *s = flexible(4, false);
  struct bench *one = bench_make(&s->bodies[0]), *two = bench_make(&s->bodies[0]);
  struct orr_modal_node half = two->nodes[0];
  half.mass *= 0.5;
  half.inertia = s3_scale(0.5, half.inertia);
  orr_modal_add_node(&two->modal, -1, &two->nodes[0]);
  orr_modal_add_node(&two->modal, 1, &half);
  orr_modal_add_node(&two->modal, 1, &half);
  struct bench *pair[2] = {one, two};
  for (int k = 0; k < 2; k++) {
    for (int r = 0; r < one->modal.n; r++)
      pair[k]->eta[r] = 0.2 - 0.1 * r, pair[k]->rate[r] = 0.3 * r;
    orr_modal_evaluate(&pair[k]->modal, pair[k]->eta, pair[k]->rate, v3(0.3, -2, 1), v3_zero(), &pair[k]->out);
  }
  orr_expect_below(orr_gap(two->bias, one->bias, one->modal.n), 1e-13, "bias", 4);
  orr_expect_below(orr_gap(two->l[0], one->l[0], 3 * one->modal.ld), 1e-14, "L", 4);
  bench_free(one);
  bench_free(two);
  orr_sample_free(s);
}

static void elastic_forces_are_k_eta_and_d_eta_rate(void **state) {
  (void)state;
  struct orr_sample *s = flexible(5, false);
  struct bench *b = bench_make(&s->bodies[0]);
  struct orr_prng p = {5};
  int n = b->modal.n, ld = b->modal.ld;
  double out[PADDED] = {0};
  for (int r = 0; r < n; r++) {
    b->eta[r] = prng_between(&p, -1, 1);
    b->rate[r] = prng_between(&p, -1, 1);
    out[r] = 0.5 * r;
    for (int k = 0; k < n; k++) {
      b->modal.stiffness[r * ld + k] = prng_between(&p, -1, 1);
      b->modal.damping[r * ld + k] = prng_between(&p, -1, 1);
    }
  }
  orr_modal_elastic(&b->modal, b->eta, b->rate, out);
  for (int r = 0; r < n; r++) {
    double want = 0.5 * r;
    for (int k = 0; k < n; k++)
      want -= b->modal.stiffness[r * ld + k] * b->eta[k] + b->modal.damping[r * ld + k] * b->rate[k];
    orr_expect_below(fabs(out[r] - want), 1e-14, "elastic", (uint64_t)r);
  }
  bench_free(b);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_matrix_is_the_hessian_of_t),
      cmocka_unit_test(bias_is_what_is_left_of_lagranges_equations),
      cmocka_unit_test(a_deformed_body_at_constant_speed_takes_no_power),
      cmocka_unit_test(taking_a_node_out_undoes_putting_it_in),
      cmocka_unit_test(a_node_in_two_halves_changes_nothing),
      cmocka_unit_test(elastic_forces_are_k_eta_and_d_eta_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
