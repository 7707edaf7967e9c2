#include "io/session/step_limit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/math/elementary.h"
#include "io/config/spacecraft/build.h"

static const double TWO_PI = 6.283185307179586476925;

/* A run without an end is judged as one of an hour. */
static double span_of(const struct orr_run *run) { return run->duration_ns ? 1e-9 * (double)run->duration_ns : 3600; }

/* ---- text -------------------------------------------------------------------------------------------------------- */

const char *orr_motion_pace(const struct orr_stiff_motion *m, char *text) {
  double rate = orr_hypot(m->root.re, m->root.im);
  if (m->root.im <= 1e-6 * rate)
    snprintf(text, ORR_MOTION_TEXT, "a decay of at least %.4g 1/s", rate);
  else
    snprintf(text, ORR_MOTION_TEXT, "at least %.4g Hz, damped by %.2g %%", rate / TWO_PI,
             fmax(0, -100 * m->root.re / rate));
  return text;
}

/* Some device stops this coordinate: its stiffness counts as if it were touched. */
static bool has_stop(const struct orr_run *run, const struct orr_stiff_motion *m) {
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    if (d->body == m->body && d->kind->host == ORR_ON_COORDINATE && d->coordinate == m->coordinate && d->kind->hold &&
        d->kind->hold(d->params).stiffness > 0)
      return true;
  }
  return false;
}

const char *orr_motion_place(const struct orr_run *run, const struct orr_stiff_motion *m, char *text) {
  const char *body = run->spacecraft.bodies[m->body].name;
  if (m->rotor >= 0)
    snprintf(text, ORR_MOTION_TEXT, "the rotor of '%.60s'", run->spacecraft.rotors[m->rotor].name);
  else if (m->mode >= 0)
    snprintf(text, ORR_MOTION_TEXT, "mode %d of '%.60s'", m->mode + 1, body);
  else
    snprintf(text, ORR_MOTION_TEXT, "the hinge of '%.60s'%s", body, has_stop(run, m) ? " at its stop" : "");
  return text;
}

/* ---- judgement --------------------------------------------------------------------------------------------------- */

static void warn(const struct orr_run *run, const struct orr_stability *found, struct orr_diagnostics *d) {
  char pace[ORR_MOTION_TEXT], place[ORR_MOTION_TEXT], substeps[64] = "";
  const char *rule = orr_integrator_names[run->plant.integrator];
  double step = 1e-9 * (double)run->plant.step_ns, limit = found->limit_s;
  if (run->plant.substeps > 1)
    snprintf(substeps, sizeof substeps, " in %d sub-steps", run->plant.substeps);
  orr_report(
      d, ORR_WARNING, run->step_source, "unstable-step",
      "a step of %.6g ms%s is too long for %s: the motion that limits it is %s, mostly %s, and %s%s stays stable up "
      "to %.4g ms; shorten the step, or divide it by 'substeps: %.0f'%s",
      1e3 * step, substeps, rule, orr_motion_pace(&found->limiting, pace),
      orr_motion_place(run, &found->limiting, place), run->plant.integrator == ORR_HEUN ? "over the run " : "", rule,
      1e3 * limit, ceil(1.02 * step / limit),
      run->plant.integrator == ORR_IMPLICIT_MODAL ? "" : ", or take 'integrator: implicit_modal'");
}

/* Whether mode shapes are right where the run begins. */
static void judge_shapes(const struct orr_run *run, struct orr_plant *plant, struct orr_diagnostics *d) {
  if (plant->bounds.count == 0 || orr_plant_reset(plant) != ORR_OK)
    return;
  for (int i = 0; i < plant->bounds.count; i++) {
    const struct orr_bound *b = &plant->bounds.items[i];
    const struct orr_body_desc *body = &run->spacecraft.bodies[b->body];
    if (b->fast)
      orr_report(d, ORR_WARNING, body->source, "fast-spin",
                 "'%s' turns at %.3g of the rate of its first mode, %.4g Hz: mode shapes are linear here, so its own "
                 "centrifugal pull does not stiffen it, and its frequencies are off by some %.2g %%; 'stiffening: on' "
                 "makes its shapes of second order, which are right at any spin",
                 body->name, b->fastest, b->pace / TWO_PI, 50 * b->fastest * b->fastest);
    if (b->bent)
      orr_report(d, ORR_WARNING, body->source, "steep-slope",
                 "a node of '%s' is turned by %.3g rad: mode shapes are %s here, and right to %.1g rad%s", body->name,
                 b->steepest, body->stiffening ? "of second order" : "linear", b->limit,
                 body->stiffening ? "; take several bodies, one behind the other"
                                  : "; with 'stiffening: on' they are of second order");
  }
}

struct orr_stability orr_run_judge_step(const struct orr_run *run, struct orr_diagnostics *d) {
  struct orr_build build;
  orr_build_create(&build, &run->spacecraft, ORR_MODEL_DEFAULT);
  orr_build_plant(&build, &run->plant, run->initial);
  struct orr_stability found = {.status = build.start, .limit_s = HUGE_VAL};
  if (build.start == ORR_OK) {
    size_t bytes = orr_stability_size(build.model);
    void *block = orr_aligned_block(bytes);
    found = orr_stability_find(block, bytes, build.plant, span_of(run));
    free(block);
    judge_shapes(run, build.plant, d);
  }
  orr_build_destroy(&build);
  if (orr_plant_frame_cost(&run->plant).not_located)
    orr_report(d, ORR_WARNING, run->step_source, "stops-not-located",
               "semi_implicit does not locate stops in the step, so a bounce loses or wins some of its speed; take "
               "'integrator: rk4' where that matters");
  if (found.status == ORR_OK && found.limit_s < 1e-9 * (double)run->plant.step_ns / run->plant.substeps)
    warn(run, &found, d);
  return found;
}
