/* The mass matrix by composite bodies, and the O(N³) way to the same accelerations. flexible-operators (47)-(50),
 * sko-models 4.1, 4.2 and section 7.
 *
 * Speeds are numbered here branch by branch. The ancestors of a speed are the speeds of its own body before it and
 * those of all bodies on its way to the base. Row k holds only its ancestors and itself, by depth. The ancestors of an
 * ancestor are a prefix of the same list, so to subtract a multiple of one row from another is a contiguous operation
 * on any tree. Blocks of unrelated branches are neither stored nor computed. A composite needs a block of its own,
 * since most runs never use it. Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_COMPOSITE_H
#define ORR_CORE_TREE_COMPOSITE_H

#include "core/model/workspace.h"

enum { ORR_COMPOSITE_GROUP = 4 };

struct orr_composite {
  int count;        /* speeds */
  int *user;        /* [count] index in user order */
  int *parent;      /* [count] the ancestor just before, or -1 */
  int *depth;       /* [count] number of ancestors */
  int *limb;        /* [count] */
  int *first;       /* [body_count] number of a limb's first speed (or of where it would be) */
  int *above;       /* [body_count] the last speed on the way to the base from outside the limb, or -1 */
  double **row;     /* [count] of depth + 1 numbers, padded: M(k, ancestor at that depth); diagonal last */
  bool *held;       /* [count] speeds of prescribed hinges: no equation of their own */
  double *diagonal; /* [count] D after the factor */
  double *x;        /* [count] */
  double *bias;     /* [count] user order */
};

/* Bytes, and the layout in a block of that size (64-byte aligned; NULL if too small). [init] O(Σ depth). */
size_t orr_composite_size(const struct orr_model *model);
struct orr_composite *orr_composite_init(void *block, size_t bytes, const struct orr_model *model);

/* Fills the rows at the set state. Rotors are free: their spin inertia is left out. [rt] O(Σ depth). */
void orr_composite_matrix(const struct orr_model *model, struct orr_workspace *ws, struct orr_composite *composite);

/* Copies it whole, user order, out [u_count][u_count]. [any] O(u²). */
void orr_composite_dense(const struct orr_composite *composite, double *out);

/* M = L* D L in place, from the tips to the base: row k becomes L. Held speeds are passed by. ORR_ERROR_* with the limb
 * in *where. A step of orr_composite_solve; public so that a benchmark times it beside LAPACK's dpotrf.
 * [rt] O(Σ depth²). */
enum orr_status orr_composite_factor(struct orr_composite *composite, int *where);

/* Accelerations as of orr_forward, by C from inverse dynamics and M from here; rotors geared to hinges (hinge_inertia)
 * and implicit steps are not in it. Statuses as of orr_forward, and then nothing is written to `accel`. [rt] O(Σ
 * depth²). */
enum orr_status orr_composite_solve(const struct orr_model *model, struct orr_workspace *ws,
                                    struct orr_composite *composite, const double *force, const double *given,
                                    double *accel);

/* The same with one step of refinement; it leaves accelerations and hinge forces as orr_inverse does. [rt] O(Σ depth²).
 */
enum orr_status orr_composite_forward(const struct orr_model *model, struct orr_workspace *ws,
                                      struct orr_composite *composite, const double *force, const double *given,
                                      double *accel);

#endif
