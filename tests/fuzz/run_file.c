/* Reads the sections of a run file made of any bytes behind a spacecraft with rigid, sprung, sliding and flexible
 * bodies, judges the step of what is right, and flies it for three frames. Whatever is read without an error can be
 * laid out and started or says which body fails. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/session/session.h"
#include "io/session/step_limit.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ship[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [1, 0, 0]}}}\n"
    "    arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1], stiffness: "
    "1}}\n"
    "    rail: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: bus.n, axis: [0, 0, 1], prescribed: "
    "true}}\n"
    "    two: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: cylindrical, to: bus.n, axis: [0, 0, 1]}}\n"
    "    ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: ball, to: bus.n}}\n"
    "    wing:\n"
    "      hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1]}\n"
    "      modes: [{frequency: 1}, {frequency: 2}]\n"
    "      nodes:\n"
    "        origin: {at: [0, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}\n"
    "        tip: {at: [0, 1, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0]]}\n";

static void judge(const struct orr_run *run, struct orr_diagnostics *d) {
  struct orr_stability found = orr_run_judge_step(run, d);
  orr_must(found.limit_s > 0);
  orr_must(!found.moves || (found.limiting.body >= 0 && (size_t)found.limiting.body < run->spacecraft.body_count));
}

static void fly(const struct orr_run *run) {
  struct orr_session *s = orr_session_create(run, NULL);
  for (int i = 0; i < s->plant->table.count; i++)
    orr_plant_ask(s->plant, i);
  bool flies = orr_session_start(s) == ORR_OK;
  for (int i = 0; i < 3 && flies; i++)
    flies = orr_session_frame(s) == 0;
  orr_must(s->status == ORR_OK || s->plant->failed_body < s->model->body_count);
  orr_session_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(sizeof ship + size);
  orr_must(text != NULL);
  memcpy(text, ship, sizeof ship - 1);
  if (size)
    memcpy(text + sizeof ship - 1, data, size);
  const struct orr_text_file file = {"run.yaml", text, sizeof ship - 1 + size};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *run = orr_run_load("run.yaml", &options, d);
  orr_must((run != NULL) == (orr_diagnostics_errors(d) == 0));
  if (run && run->link_count == 0 && run->plant.substeps <= 10) {
    judge(run, d);
    fly(run);
  }
  orr_diagnostics_destroy(d);
  free(text);
  return 0;
}
