/* Given motions: where a driven coordinate, or what a loop keeps, is at a time, with rate and acceleration. */
#ifndef ORR_CORE_MODEL_MOTION_H
#define ORR_CORE_MODEL_MOTION_H

#include "core/math/spline.h"
#include "core/model/model.h"

/* The motion `t` seconds after it began; not of a command. At a moment where the acceleration jumps, `before` takes
 * what held until then. [rt] O(log rows). */
struct orr_motion_now orr_motion_at(const struct orr_motion_desc *motion, double t, bool before);

/* How it begins: at t = 0, or where it waits at rest. Of a command: `from`, at rest. [any] O(log rows). */
struct orr_motion_now orr_motion_begin(const struct orr_motion_desc *motion);

/* What the motions of hinges are at the start of a run, into q, u and accel of the user; each may be NULL. Hinges that
 * follow a command stay where q has them, at rest. [any] O(bodies). */
void orr_motions_begin(const struct orr_description *description, const struct orr_model *model, double *q, double *u,
                       double *accel);

#endif
