/* Constraint embedding: the bodies of a closed loop become one aggregate body inside the same sweeps. interbody-forces
 * (47)-(69).
 *
 * With u_S the speeds of all hinges and modes of the aggregate S, its loop equations G u̇_S + Ġ u_S = 0 give
 *
 *   u̇_S = X u̇_I + c        u_I the independent ones, chosen by pivoting; c from Ġ u_S and from driven hinges
 *
 * Then S is a body with the hinge map H_S X between its one outer parent and everything that hangs on it:
 *
 *   D = X* (H φ P φ* H*) X,   W = E φ P φ* H* X,   P+ = E φ P φ* E* − W D⁻¹ W*
 *   ε = X* (τ − H φ (P φ* (H* c + a) + z)),   ν = D⁻¹ ε,   z+ = E φ (P φ* (H* c + a) + z) + W ν
 *   u̇_I = ν − D⁻¹ W* α_parent
 *
 * φ is that of the tree inside S. P and z of its limbs hold their own inertia and load, and those of all that hangs on
 * them outside S. A product with H φ P φ* H*, the mass matrix of the subgraph, is two sweeps over its limbs; the matrix
 * is not formed. The forces through the hinges inside S are gathered from the tips to the base (69), less what the cuts
 * carry. The multipliers of the cuts follow from H f = τ + Gᵀ λ on the dependent coordinates.
 *
 * loop_group.h says which limbs an aggregate has. In a sweep, all of an aggregate is done at its first limb; the sweep
 * passes over its other limbs.
 *
 * Call order: orr_embed_layout, orr_embed_fill [init]; for each q orr_embed_prepare; then the …_limb functions in place
 * of those of articulated.h. Thread of the workspace.
 */
#ifndef ORR_CORE_LOOPS_EMBED_H
#define ORR_CORE_LOOPS_EMBED_H

#include <stdint.h>

#include "core/loops/loop.h"

struct orr_aggregate_limb {
  int limb;
  int inner;         /* its parent's place in the aggregate, or −1: it hangs on the outer parent */
  int column;        /* first coordinate: its modes, then its hinge */
  orr_vec3 carried;  /* ω̇ of the parent's side of its hinge less the bias there, axes of S */
  orr_spatial alpha; /* α of its S */
  orr_spatial alpha_r;
  orr_spatial f; /* force through its hinge at the origin of S */
};

struct orr_aggregate {
  int parent; /* limb, or −1 */
  int site;   /* of the parent's node that its roots hang on, or −1 */
  int limb_count, count, row_count;
  struct orr_aggregate_limb *limbs;  /* [limb_count] parents first */
  int *u;                            /* [count] speeds of the user */
  int *column;                       /* [count] columns of orr_loops.g, or −1: no loop depends on it */
  int *rows;                         /* [row_count] rows of orr_loops.g */
  int *limb_of;                      /* [count] place in `limbs` */
  int *pattern;                      /* coordinates that rows may depend on, in ascending order */
  int *pattern_first, *pattern_past; /* [row_count] where those of a row are */
  bool *held;                        /* [count] driven, when the choice was made */
  int *driven, driven_count;         /* [count] those */
  /* The choice. */
  bool made;
  unsigned prepared; /* orr_loops.placed of the posture that lu and x are of; 0: none */
  int known_rank;    /* how many of its rows are independent at a posture like any other; −1: not known */
  int first_rank;    /* the same, as orr_closed_reference learned it */
  int rank, free_count;
  int *dependent;                      /* [rank] coordinates */
  int *independent;                    /* [free_count] */
  int *depends_at;                     /* [count] place in `dependent`, or −1 */
  int *chosen;                         /* [rank] places in `rows`: those that determine the dependent ones */
  int *other_dependent, *other_chosen; /* [rank] of another choice, to compare with */
  bool *kept;                          /* [row_count] scratch: rows that a choice may take */
  /* At the prepared q. */
  double *lu;              /* [rank][rank] G_D of the chosen rows over their gross size, factored */
  int *lu_first, *lu_past; /* [rank] columns outside which a row of it is zero */
  int *swap;               /* [rank] */
  double quality;          /* its smallest pivot */
  double *x;               /* [free_count][count] columns of X, each whole */
  double *d;               /* [free_count][free_count] L of D = L L* */
  orr_spatial *w;          /* [free_count] W L⁻*: force on the outer parent, at its origin, its axes */
  double *c, *rate;        /* [count]; u̇_S of a sweep */
  double *effort;          /* [count] H f of a sweep, and of modes */
  double *nu, *half;       /* [free_count] ν; L⁻¹ ε */
  double *right;           /* [row_count] */
  double *matrix;          /* [row_count][count] scratch of the choice */
  int *first, *past;       /* [row_count] columns outside which a row of it is zero */
  struct orr_best {
    int column; /* −1: nothing above the tolerance */
    double size, weighed;
  } * best; /* [row_count] the entry of a row of it to take first */
  int *few; /* [count] scratch */
};

struct orr_embed {
  struct orr_loops *loops;
  int count;
  struct orr_aggregate *aggregates;
  int failed_loop;   /* after ORR_ERROR_LOOP_CONFLICT */
  double *scratch;   /* [largest ld] */
  orr_inertia *sums; /* [limbs of the largest aggregate] scratch */
  int *limb_place;   /* [body_count] place of a limb in its aggregate's `limbs` */
  double *zero;      /* [u_count] zeros */
};

/* The memory for the grouping that the loops have now. [init] O(aggregates · N). */
void orr_embed_layout(struct orr_embed *embed, struct orr_loops *loops, struct orr_block *block);
void orr_embed_fill(struct orr_embed *embed);

/* The aggregate of a limb, or NULL. [any] */
static inline struct orr_aggregate *orr_embed_aggregate(const struct orr_embed *e, int limb) {
  int i = e->loops->aggregate_of[limb];
  return i < 0 ? NULL : &e->aggregates[i];
}

/* ---- choice and closure: embed_choice.c ---- */

/* Raises the rank that every aggregate is known to have to that of the placed posture with G filled, and chooses there.
 * [init] O(rank · rows · count) each. */
void orr_embed_learn(struct orr_embed *embed, const struct orr_workspace *ws);

/* X of every aggregate for the placed q with G filled. It chooses independent coordinates anew where hinges have been
 * prescribed or released, or, by the same rows, where the choice is singular at this posture. False when an equation is
 * lost: *failed is then a loop. [rt] O(rank² count) each. */
bool orr_embed_prepare(struct orr_embed *embed, const struct orr_workspace *ws, int *failed);

/* Chooses independent coordinates anew where another choice is more than twice as well conditioned as the present
 * one; by other rows only where that does not move what is closed (orr_row_may_be_taken). Between steps only. For the
 * placed q with G filled. True if a choice changed. [rt] O(rank · rows · count) each. */
bool orr_embed_choose(struct orr_embed *embed, const struct orr_workspace *ws);

/* Dependent coordinates of q from the independent ones: Newton from where they are; and of u. Loops are left placed at
 * q, prepared. ORR_ERROR_LOOP_OPEN or _SINGULAR with the loop in *failed. [rt] at most 12 steps. */
enum orr_status orr_embed_close(struct orr_embed *embed, struct orr_workspace *ws, double *q, double *u, int *failed);

/* c of u̇_S = X u̇_I + c for right = Ġ u + G_P u̇_P of the aggregate's rows; the driven coordinates of c are filled
 * before. Returns a loop whose redundant equations c does not satisfy, or −1. [rt] O(rank² + rank · count + row_count ·
 * count). */
int orr_aggregate_bias(struct orr_aggregate *a, const struct orr_loops *loops);

/* Multipliers of the chosen rows, zero elsewhere, from what effort exceeds tau by: into lambda [orr_loops.row_count].
 * [rt] */
void orr_aggregate_multipliers(struct orr_aggregate *a, const struct orr_loops *loops, const double *excess,
                               double *lambda);

/* The choices of all aggregates as words of a run's state, and setting them; prescribed hinges are as they were.
 * [any] */
size_t orr_embed_state_words(const struct orr_embed *embed);
void orr_embed_state_get(const struct orr_embed *embed, uint64_t *words);
void orr_embed_state_put(struct orr_embed *embed, const struct orr_workspace *ws, const uint64_t *words);

/* ---- sweeps: embed_sweep.c ---- */

/* As orr_articulated_…_limb, with tau, given and accel whole vectors. [rt] O(count² limbs) an aggregate. */
enum orr_status orr_embed_factor_limb(struct orr_embed *embed, struct orr_workspace *ws, int k);
enum orr_status orr_embed_forces_limb(struct orr_embed *embed, struct orr_workspace *ws, int k, const double *tau,
                                      const double *given, bool moving);
void orr_embed_accelerate_limb(struct orr_embed *embed, struct orr_workspace *ws, int k, orr_vec3 base, bool moving,
                               double *accel);

/* The same from accelerations that are known: what they make of limb k. [rt] O(limbs) an aggregate. */
void orr_embed_move_limb(struct orr_embed *embed, struct orr_workspace *ws, int k, orr_vec3 base, const double *accel);

/* f of every limb of the aggregates into limbs[].f, after the accelerations with the loads still in place; multipliers
 * of their loops into lambda. [rt] O(Σ limbs). */
void orr_embed_gather(struct orr_embed *embed, struct orr_workspace *ws, const double *tau, double *lambda);

#endif
