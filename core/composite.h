/* The mass matrix by composite bodies, and the O(N³) way to the same accelerations. flexible-operators (47)-(50),
 * sko-models 4.1, 4.2 and section 7.
 *
 * The matrix is kept in link order, lower triangle, row by row; rows of unrelated branches hold zeros and are never
 * visited. It needs a block of its own, since most runs never ask for it.
 */
#ifndef ORR_CORE_COMPOSITE_H
#define ORR_CORE_COMPOSITE_H

#include "workspace.h"

struct orr_composite {
  int count;        /* speeds */
  double *m;        /* [count][count], link order (user order through `user`); row i, columns of its ancestors and itself */
  int *user;        /* [count] index in user order */
  int *parent;      /* [count] the speed before this one on the way to the base, or -1: the tree of speeds */
  double *rhs;      /* [count] */
  double *column;   /* scratch */
};

/* Bytes, and the layout in a block of that size (64-byte aligned; NULL if too small). [init] O(u²). */
size_t orr_composite_size(const struct orr_model *model);
struct orr_composite *orr_composite_init(void *block, size_t bytes, const struct orr_model *model);

/* Fills composite->m at the set state. Rotors are free: their spin inertia is left out. [rt] O(Σ depth · dof²). */
void orr_composite_matrix(const struct orr_model *model, struct orr_workspace *ws, struct orr_composite *composite);

/* Copies it whole, user order, [u_count][u_count]. [any] O(u²). */
void orr_composite_dense(const struct orr_composite *composite, double *out);

/* L* D L of the lower triangle in place along the branches: zeros of unrelated branches stay zero and cost nothing.
 * ORR_ERROR_SINGULAR with the speed in *where. [rt] O(u depth²). */
enum orr_status orr_composite_factor(struct orr_composite *composite, const bool *held, int *where);

/* As orr_forward, by C from inverse dynamics and M from here. Leaves the hinge forces too. [rt] O(u depth²). */
enum orr_status orr_composite_forward(const struct orr_model *model, struct orr_workspace *ws,
                                      struct orr_composite *composite, const double *force, const double *given,
                                      double *accel);

#endif
