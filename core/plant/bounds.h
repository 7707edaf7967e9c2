/* Where mode shapes stop being right: counted frame by frame, so that nobody has to guess.
 *
 * Shapes that are linear in η know nothing of the pull that stiffens a body which turns. For a beam on a hub that
 * turns at Ω the first frequency is ω = ω₁ sqrt(1 + c (Ω/ω₁)²), with c of the order of one (Southwell), so what is left
 * out is about (Ω/ω₁)²/2 of a frequency: 2 % at 0.2 ω₁. Beyond ω₁ itself such shapes lose their stiffness. The mass
 * matrix is of second order in the slopes θ: at 0.3 rad its next term is some 0.3³/6, half a percent; places, which
 * are linear, are off by θ²/2, 4.5 %.
 *
 * Second-order shapes (stiffening) know that pull, so no spin counts for them. What their places leave out is of third
 * order, θ²/6 of the displacement: as much as that at twice the slope.
 *
 * A plant looks at each body with modes once a frame. Nothing of this is state, and it changes no bit.
 */
#ifndef ORR_CORE_PLANT_BOUNDS_H
#define ORR_CORE_PLANT_BOUNDS_H

#include <stdint.h>

#include "core/model/workspace.h"

#define ORR_BOUND_SPIN   0.2 /* of the first mode's rate */
#define ORR_BOUND_SLOPE  0.3 /* rad */
#define ORR_BOUND_CURVED 0.6 /* rad, of second-order shapes */

struct orr_bound {
  int body; /* file order */
  int limb;
  double pace;     /* rad/s, ω₁: the lowest mode that has stiffness; 0: none has, or shapes are of second order */
  double *slopes;  /* [modes] the largest slope of any node per η */
  int64_t fast;    /* frames with a spin above ORR_BOUND_SPIN ω₁ */
  double limit;    /* rad: ORR_BOUND_SLOPE or ORR_BOUND_CURVED */
  int64_t bent;    /* frames with a slope above it */
  double fastest;  /* largest spin so far, over ω₁ */
  double steepest; /* largest slope of those frames, rad */
};

struct orr_bounds {
  int count; /* bodies with modes */
  struct orr_bound *items;
};

/* [init] Takes the memory from the block, or measures it; fills it where the block gives. O(Σ nodes n + n³). */
void orr_bounds_layout(struct orr_bounds *bounds, const struct orr_model *model, struct orr_block *block);

/* [init] Forgets what was counted. */
void orr_bounds_reset(struct orr_bounds *bounds);

/* [rt] Looks at the state that is set. O(Σ n); O(Σ nodes n) where slopes may be large. */
void orr_bounds_look(struct orr_bounds *bounds, const struct orr_workspace *ws);

#endif
