/* A body that begins on its pointing target: with its attitude, its rate, or both.
 *
 * The plant itself tells the target of frame 0, whatever kind it is; the free or ball hinge that the body hangs by on
 * inertial is turned until the pointed node has it, with q' = F⁻¹ ∘ d ∘ F ∘ q, where F is the hinge's fixed rotation
 * and d = target ∘ node⁻¹. A target that depends on where the node is (a place on the ground) is followed by turning
 * again. The rate of a target in time is that of its span; of one that moves it comes from differences of its axes, to
 * about 1e-9 rad/s.
 */
#ifndef ORR_CORE_PLANT_ON_TARGET_H
#define ORR_CORE_PLANT_ON_TARGET_H

#include "core/plant/plant.h"

enum { ORR_ON_TARGET_ATTITUDE = 1, ORR_ON_TARGET_RATE = 2 };

/* [init] Changes the initial state q, u, which the plant begins from (desc->q, desc->u), and resets the plant. The body
 * is a root on a free or ball hinge, and has a pointing. A status is one of the solver's at the initial state. */
enum orr_status orr_plant_begin_on_target(struct orr_plant *plant, int body, unsigned what, double *q, double *u);

#endif
