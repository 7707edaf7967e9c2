/* How long a step may be, from the stiffest motions of a spacecraft and the rules of integrate.h.
 *
 * A rule multiplies a motion exp(s t) by R(h s) in a step:
 *
 *   rk4             1 + z + z²/2 + z³/6 + z⁴/24
 *   heun            1 + z + z²/2
 *   semi_implicit   stable while h² k + 2 h c ≤ 4 for s² + s c + k = 0
 *   implicit_modal  stable at any h for springs and modes; what devices add is explicit in it, as in heun
 *
 * The limit is the step beyond which the rule makes some motion grow that does not grow by itself. heun makes every
 * undamped motion grow, if slowly: for it the limit is the step at which a motion grows e-fold within the run.
 * Actuators and flight software, which act frame by frame, play no part.
 *
 * Call order, [init]: orr_plant_init, the state of the run → orr_stability_size → a block → orr_stability_find. Thread
 * of the plant, which has to be reset before it flies.
 */
#ifndef ORR_CORE_PLANT_STABILITY_H
#define ORR_CORE_PLANT_STABILITY_H

#include "core/plant/plant.h"
#include "core/plant/stiffness.h"

struct orr_stability {
  enum orr_status status;           /* of the solver */
  bool moves;                       /* something is sprung or damped; false: the rest says nothing */
  double limit_s;                   /* HUGE_VAL: none */
  struct orr_stiff_motion stiffest; /* of all */
  struct orr_stiff_motion limiting; /* the one that sets the limit; where there is none, the stiffest */
};

/* Bytes. [init] */
size_t orr_stability_size(const struct orr_model *model);

/* About the plant's initial state and with its rule, for a run of span_s seconds. A block that is too small:
 * ORR_ERROR_BLOCK. [init] as orr_stiffness_find, once or twice. */
struct orr_stability orr_stability_find(void *block, size_t bytes, const struct orr_plant *plant, double span_s);

/* The longest step for one root alone; semi_implicit takes a real root for the only one of its motion.
 * orr_stability_find takes the least of these. Public so that a test holds each rule's limit against runs of one
 * oscillator. [any] O(1). */
double orr_stability_limit(enum orr_integrator rule, struct orr_complex root, double span_s);

#endif
