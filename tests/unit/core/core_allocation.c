/* What core computes allocates nothing: the whole of it runs with the allocator trapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/articulated.h"
#include "core/tree/compliance.h"
#include "core/tree/composite.h"
#include "core/tree/energy.h"
#include "core/tree/inverse.h"
#include "core/tree/operators.h"
#include "tests/support/trial.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRAP_BY_HOOK 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TRAP_BY_HOOK 1
#endif

static atomic_bool armed;
static atomic_int calls; /* of the allocator, while armed */

static void note(void) {
  if (atomic_load(&armed))
    atomic_fetch_add(&calls, 1);
}

#ifdef TRAP_BY_HOOK
/* The sanitizer owns malloc; it calls these. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
static void on_malloc(const volatile void *p, size_t bytes) {
  (void)p;
  (void)bytes;
  note();
}
static void on_free(const volatile void *p) {
  (void)p;
  note();
}
static void install(void) { assert_int_not_equal(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free), 0); }
#else
/* This program's own allocator stands in front of the C library's. */
void *libc_malloc(size_t bytes) __asm__("__libc_malloc");
void *libc_calloc(size_t count, size_t bytes) __asm__("__libc_calloc");
void *libc_realloc(void *p, size_t bytes) __asm__("__libc_realloc");
void *libc_memalign(size_t alignment, size_t bytes) __asm__("__libc_memalign");
void libc_free(void *p) __asm__("__libc_free");
void *malloc(size_t size) {
  note();
  return libc_malloc(size);
}
void *calloc(size_t nmemb, size_t size) {
  note();
  return libc_calloc(nmemb, size);
}
void *realloc(void *ptr, size_t size) {
  note();
  return libc_realloc(ptr, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return libc_memalign(alignment, size);
}
void free(void *ptr) {
  note();
  libc_free(ptr);
}
static void install(void) {}
#endif

static void the_trap_sees_malloc_and_free(void **state) {
  (void)state;
  install();
  atomic_store(&calls, 0);
  atomic_store(&armed, true);
  void *volatile p = malloc(100);
  free(p);
  atomic_store(&armed, false);
  assert_int_equal(atomic_load(&calls), 2);
}

/* Every function that may run in a frame, once. */
static enum orr_status run_all(struct orr_trial *t, struct orr_composite *composite, void *scratch, double *matrix,
                               double *x) {
  const struct orr_sample *s = t->sample;
  const struct orr_model *m = t->model;
  struct orr_workspace *ws = t->ws;
  const int nodes[2] = {0, m->node_count - 1};
  enum orr_status status = orr_trial_forward(t);
  struct orr_node_state node;
  for (int i = 0; i < (int)s->description.body_count && status == ORR_OK; i++) {
    double effort[6];
    (void)orr_hinge_force(m, ws, i);
    orr_hinge_effort(m, ws, i, effort);
    orr_body_query(m, ws, i, &node);
  }
  orr_node_query(m, ws, nodes[1], &node);
  (void)orr_node_acceleration(m, ws, nodes[1]);
  orr_inverse(m, ws, t->accel, t->force);
  if (status == ORR_OK)
    status = orr_composite_forward(m, ws, composite, s->force, s->given, t->accel);
  if (status == ORR_OK)
    status = orr_articulated_factor(m, ws);
  orr_inverse_mass_apply(m, ws, s->force, x);
  orr_mass_apply(m, ws, s->force, x);
  orr_compliance(m, ws, nodes, 2, scratch, matrix);
  (void)orr_kinetic_energy(m, ws);
  (void)orr_potential_energy(m, ws);
  (void)orr_momentum(m, ws);
  (void)orr_mass_properties(m, ws);
  for (int i = 0; i < (int)s->description.body_count; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    orr_prescribe(ws, i, !b->hinge.prescribed);
    orr_prescribe(ws, i, b->hinge.prescribed);
    if (b->flexible)
      orr_node_mass_set(ws, i, 0, 1, b->nodes[0].com, b->nodes[0].inertia);
    else
      orr_mass_set(ws, i, 1 + b->mass, b->com, b->inertia);
  }
  double det;
  orr_trial_load(t); /* new masses take effect with the state */
  return status == ORR_OK ? orr_log_det_mass(m, ws, &det) : status;
}

static void nothing_in_the_loop_allocates(void **state) {
  (void)state;
  install();
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, seed < 9 ? 8 : 100);
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial t = orr_trial_make(s, 0);
    struct orr_composite *composite = orr_trial_composite(&t);
    void *scratch = aligned_alloc(64, (orr_compliance_size(t.model, 2) + 64) / 64 * 64);
    double *matrix = orr_vector_make(144), *x = orr_vector_make(s->u_count);
    atomic_store(&calls, 0);
    atomic_store(&armed, true);
    enum orr_status status = run_all(&t, composite, scratch, matrix, x);
    atomic_store(&armed, false);
    assert_int_equal(status, ORR_OK);
    assert_int_equal(atomic_load(&calls), 0);
    free(scratch);
    free(matrix);
    free(x);
    orr_trial_free(&t);
    orr_sample_free(s);
  }
}

static void compiling_allocates_nothing_either(void **state) {
  (void)state;
  install();
  struct orr_sample_options o = orr_sample_default(3, 30);
  struct orr_sample *s = orr_sample_make(&o);
  size_t bytes = orr_model_size(&s->description, 0);
  void *block = aligned_alloc(64, bytes + 64 - bytes % 64), *second = NULL;
  enum orr_status status = ORR_OK;
  int where = 0;
  atomic_store(&calls, 0);
  atomic_store(&armed, true);
  const struct orr_model *model = orr_model_init(block, bytes, &s->description, 0, &status, &where);
  size_t more = orr_workspace_size(model);
  atomic_store(&armed, false);
  second = aligned_alloc(64, more + 64 - more % 64);
  atomic_store(&armed, true);
  const struct orr_workspace *ws = orr_workspace_init(second, more, model);
  atomic_store(&armed, false);
  assert_int_equal(atomic_load(&calls), 0);
  assert_non_null(ws);
  free(block);
  free(second);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_trap_sees_malloc_and_free),
      cmocka_unit_test(nothing_in_the_loop_allocates),
      cmocka_unit_test(compiling_allocates_nothing_either),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
