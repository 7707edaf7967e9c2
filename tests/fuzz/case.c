/* Reads a case of `orrery eval` made of any bytes, for a model with a hinge of every kind. The first byte says which
 * kind of case: `i` for --inverse. What is read without an error has finite numbers, unit attitudes and nodes that
 * exist. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/spacecraft/case.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [1, 0, 0]}}}\n"
    "    fix: &b {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: bus.n}}\n"
    "    rev: {<<: *b, hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1]}}\n"
    "    pri: {<<: *b, hinge: {kind: prismatic, to: bus.n, axis: [0, 0, 1], prescribed: true}}\n"
    "    cyl: {<<: *b, hinge: {kind: cylindrical, to: bus.n, axis: [0, 0, 1]}}\n"
    "    uni: {<<: *b, hinge: {kind: universal, to: bus.n, axes: [[1, 0, 0], [0, 1, 0]]}}\n"
    "    gim: {<<: *b, hinge: {kind: gimbal, to: bus.n, axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}\n"
    "    bal: {<<: *b, hinge: {kind: ball, to: bus.n}}\n"
    "    pla: {<<: *b, hinge: {kind: planar, to: bus.n, normal: [0, 0, 1]}}\n"
    "    wing:\n"
    "      hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1]}\n"
    "      modes: [{frequency: 1}, {frequency: 2}]\n"
    "      nodes:\n"
    "        origin: {at: [0, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}\n"
    "        tip: {at: [0, 1, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0]]}\n";

static void all_finite(const double *values, size_t n) {
  for (size_t i = 0; i < n; i++)
    orr_must(isfinite(values[i]));
}

static void check(const struct orr_case *c, const struct orr_description *d) {
  for (size_t i = 0; i < d->body_count; i++) {
    const struct orr_case_body *b = &c->bodies[i];
    size_t n = d->bodies[i].mode_count;
    all_finite(b->q, 7);
    all_finite(b->speed, 6);
    all_finite(b->tau, 6);
    all_finite(b->acceleration, 6);
    all_finite(b->eta, n);
    all_finite(b->eta_rate, n);
    all_finite(b->modal, n);
    all_finite(b->eta_acceleration, n);
    const double *q = d->bodies[i].hinge.kind == ORR_HINGE_FREE ? b->q + 3 : b->q;
    if (d->bodies[i].hinge.kind == ORR_HINGE_FREE || d->bodies[i].hinge.kind == ORR_HINGE_BALL)
      orr_must(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-12);
  }
  for (size_t i = 0; i < c->external_count; i++) {
    orr_must(c->externals[i].body >= 0 && (size_t)c->externals[i].body < d->body_count);
    orr_must(c->externals[i].node >= 0 && (size_t)c->externals[i].node < d->bodies[c->externals[i].body].node_count);
    all_finite(c->externals[i].force, 3);
    all_finite(c->externals[i].moment, 3);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  char *text = malloc(size);
  orr_must(text != NULL);
  memcpy(text, data + 1, size - 1);
  const struct orr_text_file files[] = {{"model.yaml", model, sizeof model - 1}, {"case.yaml", text, size - 1}};
  const struct orr_config_options options = {.files = files, .file_count = 2};
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_config *config = orr_config_load("model.yaml", &options, d);
  orr_must(config != NULL);
  const struct orr_case *c =
      orr_case_load("case.yaml", config, data[0] == 'i' ? ORR_CASE_INVERSE : ORR_CASE_FORWARD, &options);
  orr_must((c != NULL) == (orr_diagnostics_errors(d) == 0));
  if (c)
    check(c, orr_config_description(config));
  orr_diagnostics_destroy(d);
  free(text);
  return 0;
}
