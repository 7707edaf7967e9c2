/* Judges the physics of a description before it is compiled: topology, masses, inertias, modes, hinges.
 *
 * orr_validate_scratch_size → memory → orr_validate → the problems, each with what it is about and the numbers that
 * show it; whoever made the description turns them into messages. No state; any thread.
 */
#ifndef ORR_CORE_MODEL_VALIDATE_H
#define ORR_CORE_MODEL_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/model/description.h"

/* A ratio above this costs more than six of some sixteen digits: tests/unit/core/tree/forward_ratio.c. */
#define ORR_DIGITS_RATIO 1e6

enum orr_problem_code {
  ORR_PROBLEM_NO_BODIES,
  ORR_PROBLEM_NO_ROOT,        /* no body hangs on inertial */
  ORR_PROBLEM_CYCLE,          /* the body is its own ancestor; value[0] bodies in the cycle */
  ORR_PROBLEM_INDEX,          /* an index or a pointer of the description leads nowhere: its maker's mistake */
  ORR_PROBLEM_NOT_FINITE,     /* `field` is NaN or infinite */
  ORR_PROBLEM_ABSURD,         /* |value[0]| is beyond the largest sensible value[1] */
  ORR_PROBLEM_TINY,           /* value[0] is below the smallest sensible value[1] */
  ORR_PROBLEM_TOO_MANY,       /* value[0] of them, at most value[1] */
  ORR_PROBLEM_NOT_POSITIVE,   /* `field`, value[0], must be greater than zero */
  ORR_PROBLEM_NEGATIVE,       /* `field`, value[0], must not be negative */
  ORR_PROBLEM_INERTIA,        /* not positive definite: least principal moment value[0], largest value[1] */
  ORR_PROBLEM_TRIANGLE,       /* principal moments value[0] + value[1] < value[2] */
  ORR_PROBLEM_AXIS,           /* an axis of the hinge, or of a revolute loop, is not of unit length, value[0] */
  ORR_PROBLEM_NORMAL,         /* a planar hinge's normal is no coordinate axis */
  ORR_PROBLEM_ROTATION,       /* the hinge's fixed rotation is not a unit quaternion, value[0] its length */
  ORR_PROBLEM_MODE_MASSLESS,  /* mode `index` moves no mass */
  ORR_PROBLEM_MODES_DEPEND,   /* mode `index` is a combination of the modes before it: singular modal mass matrix */
  ORR_PROBLEM_MODES_REPEAT,   /* mode `index` moves what the hinges beyond the body could move alone, or nothing, with
                                 the inboard node held: the system's mass matrix is singular */
  ORR_PROBLEM_UNSTABLE_MODES, /* `field` (stiffness, damping) has the negative eigenvalue value[0] */
  ORR_PROBLEM_NO_INERTIA,     /* nothing beyond the hinge has inertia against its speed `index` */
  ORR_PROBLEM_HINGE_REPEATS,  /* speed `index` of the hinge moves what hinges or modes beyond it could move alone */
  ORR_PROBLEM_DIGITS,         /* what hangs on the body has value[0] times the inertia D(k) of its hinge, most of it on
                                 body value[1]: accelerations lose as many digits */
  /* Second-order shapes (stiffening) of a body that … */
  ORR_PROBLEM_CURVED_LINEARIZED, /* is linearized */
  ORR_PROBLEM_CURVED_RIGID,      /* has no modes */
  ORR_PROBLEM_CURVED_LARGE,      /* has value[0] pairs of modes over all its nodes, at most value[1] */
  ORR_PROBLEM_CURVE_MISSING,     /* gives them, but not of this node, which modes move */
  ORR_PROBLEM_LINE_POINT,        /* has all its nodes at one place */
  ORR_PROBLEM_LINE_OFF,          /* has this node value[0] m off the line of the others, value[1] m long */
  ORR_PROBLEM_LINE_ORDER,        /* has this node on its line before the node that is written before it */
  ORR_PROBLEM_LINE_TWICE,        /* has this node where the one before it is, and they move otherwise */
  ORR_PROBLEM_CODE_COUNT
};

enum orr_problem_severity { ORR_PROBLEM_WARNING, ORR_PROBLEM_ERROR };

enum orr_problem_entity {
  ORR_ENTITY_SPACECRAFT,
  ORR_ENTITY_BODY,
  ORR_ENTITY_HINGE, /* the inboard hinge of `body` */
  ORR_ENTITY_NODE,  /* node `index` of `body` */
  ORR_ENTITY_MODE,  /* mode `index` of `body` */
  ORR_ENTITY_LOOP,  /* loop `index` */
};

struct orr_problem {
  enum orr_problem_code code;
  enum orr_problem_severity severity;
  enum orr_problem_entity entity;
  size_t body, index;
  orr_source source; /* of the entity */
  const char *field; /* as the model file calls it; NULL for the whole */
  double value[3];
};

/* More than this is absurd. */
enum { ORR_MOST_BODIES = 1000000, ORR_MOST_MODES = 500, ORR_MOST_CURVES = 2000000 };

/* [init] Bytes of scratch that orr_validate needs; O(N). */
size_t orr_validate_scratch_size(const struct orr_description *description);

/* [init] Judges every body for which skip[body] is 0 (skip may be NULL: all), and when all of those are sound and none
 * was skipped, the mass matrix at rest. Writes the first `capacity` problems and returns how many there are. Scratch is
 * aligned to 16. O(N + nodes n² + n³). */
size_t orr_validate(const struct orr_description *description, const unsigned char *skip, void *scratch,
                    struct orr_problem *problems, size_t capacity);

#endif
