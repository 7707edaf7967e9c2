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

/* The model is read once for so many cases: to read it takes longer than all else. */
enum { CASES = 32 };
static struct {
  struct orr_diagnostics *diagnostics;
  struct orr_config *config;
  char *texts[CASES]; /* of the cases so far; the diagnostics refer to them */
  int count;
} rig;

static void read_model(void) {
  const struct orr_text_file file = {"model.yaml", model, sizeof model - 1};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  orr_diagnostics_destroy(rig.diagnostics);
  for (int i = 0; i < rig.count; i++)
    free(rig.texts[i]);
  rig.count = 0;
  rig.diagnostics = orr_diagnostics_create();
  rig.config = orr_config_load("model.yaml", &options, rig.diagnostics);
  orr_must(rig.config != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  if (!rig.config || rig.count == CASES)
    read_model();
  char *text = rig.texts[rig.count++] = malloc(size);
  orr_must(text != NULL);
  memcpy(text, data + 1, size - 1);
  const struct orr_text_file file = {"case.yaml", text, size - 1};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  size_t errors = orr_diagnostics_errors(rig.diagnostics);
  const struct orr_case *c =
      orr_case_load("case.yaml", rig.config, data[0] == 'i' ? ORR_CASE_INVERSE : ORR_CASE_FORWARD, &options);
  orr_must((c != NULL) == (orr_diagnostics_errors(rig.diagnostics) == errors));
  if (c)
    check(c, orr_config_description(rig.config));
  return 0;
}
