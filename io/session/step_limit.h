/* Tells before a run whether its step is short enough for the stiffest motion of its spacecraft, and whether it begins
 * where mode shapes are right (core/plant/bounds.h).
 *
 * orr_run_load → orr_run_judge_step → the messages among the diagnostics, the figures for a summary. [init]
 */
#ifndef ORR_IO_STEP_LIMIT_H
#define ORR_IO_STEP_LIMIT_H

#include "core/plant/stability.h"
#include "io/config/run/run_file.h"

enum { ORR_MOTION_TEXT = 256 };

/* Builds the spacecraft with its plant, and nothing else of the run, and judges its initial state. A step beyond the
 * limit of the integrator is reported as a warning at the run's `step`, a body that turns too fast for its mode shapes,
 * or is bent too far, at the body. Where the initial state cannot be solved
 * nothing is reported here: the run itself will report it. As orr_build_plant, and some 50 to 100 solutions. */
struct orr_stability orr_run_judge_step(const struct orr_run *run, struct orr_diagnostics *diagnostics);

/* "at least 412 Hz, damped by 0.5 %" or "a decay of at least 3200 1/s", text [ORR_MOTION_TEXT]; and what moves most in
 * it: "mode 5 of 'link_10'". Both return the text. [any] */
const char *orr_motion_pace(const struct orr_stiff_motion *motion, char *text);
const char *orr_motion_place(const struct orr_run *run, const struct orr_stiff_motion *motion, char *text);

#endif
