/* The stiffest motions of a spacecraft about a posture, from O(N) solutions alone.
 *
 *   M ẍ + C ẋ + K x = 0        x: speeds and rotors; M as the sweeps solve it, loops closed, prescribed hinges held
 *
 * K and C are hinge springs and dampers, modal stiffness and damping, and what the devices add on the diagonal or
 * between a hinge and its rotor. Speeds, gravity and the turning of static forces play no part. The method is Lanczos'
 * iteration in the measure of M with B = h² K + 2h C. There h is near the step at which the fastest motion becomes
 * unstable, so that both springs and dampers which limit a step have a large part in B:
 *
 *   v_0 random, B v_j = M w; w less its part along v_0 … v_j; v_{j+1} = w / |w|_M
 *
 * In the span of the v_j the quadratic problem is small and solved directly. The estimate is a lower bound of the
 * stiffness. With as many directions as coordinates it is exact.
 *
 * Call order, [init]: orr_stiffness_size → a block → orr_stiffness_init → fill `stiffness` and `damping` →
 * orr_stiffness_find → roots, orr_stiffness_motion. Thread of the workspace, whose state is overwritten.
 */
#ifndef ORR_CORE_PLANT_STIFFNESS_H
#define ORR_CORE_PLANT_STIFFNESS_H

#include "core/math/roots.h"
#include "core/model/workspace.h"

struct orr_closed; /* core/loops/closed.h */

enum { ORR_STIFF_SPAN = ORR_QUADRATIC_MOST };

/* A motion exp(s t). */
struct orr_stiff_motion {
  struct orr_complex root; /* s, 1/s; of a pair the upper one */
  int body;                /* file order: the coordinate that takes most part is one of its … */
  int mode;                /* … modes, or −1 */
  int coordinate;          /* … or of its hinge, or −1 */
  int rotor;               /* … or a rotor on it, of the model; or −1 */
  double share;            /* of that coordinate in the work of springs and dampers */
};

/* A spring and a damper between a speed and a rotor over its ratio. */
struct orr_stiff_gear {
  int u, rotor;
  double ratio, stiffness, damping;
};

struct orr_stiffness {
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_closed *closed;   /* or NULL */
  bool elastic;                /* springs, dampers and modes count; false: only what devices add */
  int size;                    /* speeds and rotors */
  double *stiffness, *damping; /* [size] what devices add to the diagonals of K and C */
  int gear_count;
  struct orr_stiff_gear *gears; /* [gear_count] what they add between the two, at most one a rotor */
  /* The span. */
  int count;
  double *v, *p; /* [ORR_STIFF_SPAN][size] v_j, and M v_j without the forces of loops */
  double *w, *x; /* [size] */
  double *k, *c; /* [count][count] K and C in the span */
  int root_count;
  struct orr_complex *roots; /* [root_count] */
  struct orr_complex *vector, *work;
};

/* Bytes. [init] */
size_t orr_stiffness_size(const struct orr_model *model);

/* NULL if the block is too small. `closed` NULL: a tree. [init] */
struct orr_stiffness *orr_stiffness_init(void *block, size_t bytes, const struct orr_model *model,
                                         struct orr_workspace *ws, struct orr_closed *closed);

/* The roots about q [q_count]. Fails where the solver does, with ws->failed_body or closed->failed_loop; without roots
 * (root_count 0) where nothing is sprung or damped. [init] some 50 solutions, O(N + Σn²) each. */
enum orr_status orr_stiffness_find(struct orr_stiffness *s, const double *q);

/* The motion of one of the roots. [init] O(N + Σn²). */
struct orr_stiff_motion orr_stiffness_motion(struct orr_stiffness *s, struct orr_complex root);

#endif
