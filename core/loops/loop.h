/* The geometry of closed loops: how far they are from closed, and how that changes with the coordinates.
 *
 * A loop is a set of scalar equations φ(q) = 0 on two nodes (or, for a gear, on two hinges), each with a row of G =
 * ∂φ/∂u over the generalised speeds. A row is also a pair of opposite wrenches on the two nodes, Gᵀ λ, and its
 * multiplier is their size. Everything is relative to the nearest common ancestor of the two bodies (`meet`), so a row
 * depends only on the bodies of the two paths to it. With d = p_B − p_A, R = R_Aᵀ R_B and R_A the axes of the first
 * node:
 *
 *   point     φ = R_Aᵀ d                                     3
 *   weld      φ = [rotation vector of R; R_Aᵀ d]             6
 *   revolute  φ = [what turns R u onto u, along e1, e2 ⟂ u; R_Aᵀ d]   5
 *   distance  φ = |d| − d0                                   1
 *   gear      φ = q_B − n q_A − offset                       1
 *   rolling   w·t = 0, w·s = 0                               2, or 1 where it slides: speeds alone, no φ
 *   revolute, driven: with one more before R_Aᵀ d, the angle of R about u less that wanted
 *
 * A driven loop keeps what its motion says, φ(q, t): orr_loops_drive. φ̇ and φ̈ have its rate and acceleration in them.
 *
 * A rolling wheel is about the second node, with the axis a; the ground has the normal n. The wheel touches it at
 * P = p_B − r t × a, with t = a × n/|a × n| along its way and s = n × t across. w is the speed of its matter at P
 * against the ground's. Its rows are equations of speeds, the rate of no φ: φ counts as zero wherever the wheel is.
 *
 * Call order: orr_loops_size → a block → orr_loops_init (once per workspace), then orr_loops_place whenever q is new,
 * then the rest. No velocity enters here. Of the workspace only the modal coordinates η are used, which orr_loops_place
 * writes. Thread of the workspace.
 */
#ifndef ORR_CORE_LOOPS_LOOP_H
#define ORR_CORE_LOOPS_LOOP_H

#include "core/math/pivot.h"
#include "core/model/workspace.h"

enum { ORR_LOOP_MAX_ROWS = 6 };

/* A loop, compiled. Sides are 0 (the first node or hinge of the file) and 1. */
struct orr_loop {
  enum orr_loop_kind kind;
  enum orr_loop_method method;
  int limb[2];           /* where its nodes are; gear: whose hinges */
  int node[2];           /* indices of orr_model_node; gear: −1 */
  orr_vec3 axis, e1, e2; /* revolute: node axes */
  double ratio, offset;  /* gear */
  double distance;       /* m, d0: zero until orr_loops_keep_distances */
  int driven;            /* which of its rows a motion drives, or −1 */
  double angle;          /* rad, of a driven revolute loop */
  orr_vec3 normal;       /* rolling: unit, axes of the first node; `axis` in those of the second */
  double radius;         /* m */
  bool flat;             /* the wheel, at the placed q */
  double rate, accel;    /* of what is driven */
  int meet;              /* limb of the nearest common ancestor, or −1; gear: −1 */
  int path[2];    /* where each path begins in orr_loops.path: the limb of the node, its parent … before `meet` */
  int steps[2];   /* limbs on it; gear: 0 */
  int row, rows;  /* its equations */
  int carried[2]; /* where its first row's wrenches begin in orr_loops.carried: [rows][steps] per side */
  orr_mat3 r;     /* at the placed q: v_A = r v_B, node axes */
  orr_vec3 d;     /* m, from the first node to the second, axes of the first */
  double half[4]; /* weld: the quaternion of r, its last part not negative */
};

/* A limb that some loop equation depends on, where it is relative to its parent. */
struct orr_loop_limb {
  int limb;
  int column, modes; /* first column of G: the modes, then the hinge */
  orr_mat3 r;        /* as in orr_limb_state, from q alone */
  orr_vec3 l;
  orr_spatial h[6];
  double *pi_own,
      *pi_parent; /* [6][ld] Π' of the own node, and of the parent's node on the parent; NULL where it is still */
};

/* One equation at the placed q. */
struct orr_loop_row {
  orr_spatial wrench[2]; /* on the limb of each side per unit of multiplier: about the origin of S, S axes */
  double *modal[2];      /* [ld] the same on its modes, Π'ᵀ wrench; NULL on a body without modes */
};

struct orr_loops {
  const struct orr_model *model;
  int count, row_count, limb_count, column_count;
  struct orr_loop *loops;      /* [count] file order */
  int *path;                   /* limbs */
  struct orr_loop_limb *limbs; /* [limb_count] parents first */
  int *limb_at;                /* [body_count] index into limbs, or −1 */
  int *column_u;               /* [column_count] which speed of the user a column is */
  int *row_loop;               /* [row_count] */
  struct orr_loop_row *rows;   /* [row_count] */
  orr_spatial *carried;        /* wrench of a row as the path hands it from limb to limb, at each limb's origin */
  int aggregate_count;         /* of embedded loops: loop_group.h */
  int *aggregate_of;           /* [body_count] limbs, or −1 */
  bool *marks;                 /* [body_count] scratch */
  int *tally;                  /* [3 count + 2 body_count] scratch */
  double *placed_q;            /* [q_count] where the limbs were placed last */
  unsigned placed;             /* counts placings; 0: never */
  bool filled;                 /* G is that of the placed q */
  int *span_first, *span_past; /* [row_count] columns of G outside which a row is zero, in fours */
  double *residual;            /* [row_count] φ: m, rad, or the unit of the gear's q_B */
  double *pi[2], *scratch;     /* [6][largest ld] of the two nodes at hand; [largest ld] */
  double *step;                /* [g.width] scratch for orr_loops_move */
  double size;                 /* m, of the mechanism: the longest arm of its limbs */
  struct orr_pivot g;          /* a, gross: G as it is after orr_loops_jacobian */
  struct orr_pivot judge;      /* a copy of G over free columns, factored: orr_loops_rank, loop_choice.h */
};

/* [init] O(loops · depth). */
size_t orr_loops_size(const struct orr_description *description, const struct orr_model *model);
struct orr_loops *orr_loops_init(void *block, size_t bytes, const struct orr_description *description,
                                 const struct orr_model *model);

/* Places of the limbs on the paths at q (user order), φ and the wrenches of every row. [rt] O(Σ path n). */
void orr_loops_place(struct orr_loops *loops, struct orr_workspace *ws, const double *q);

/* orr_loops_place and orr_loops_jacobian, unless that has been done for this very q. [rt] */
void orr_loops_update(struct orr_loops *loops, struct orr_workspace *ws, const double *q);

/* What driven loop i keeps from now on, a distance, an angle or a gear's offset, with its rate and acceleration. [rt]
 */
void orr_loops_drive(struct orr_loops *loops, int i, double x, double rate, double accel);

/* Where a rolling wheel touches the ground, at the placed q, axes of the first node; false where it lies flat. [any] */
struct orr_contact {
  orr_vec3 axis;        /* a */
  orr_vec3 along, side; /* t, s */
  double sine;          /* |a × n| */
  orr_vec3 arm;         /* m, P − p_B */
};
bool orr_loop_contact(const struct orr_loop *loop, struct orr_contact *out);

/* A loop whose wheel lies flat at the placed q, or −1. Its rows are empty, so no rank tells. [rt] O(loops). */
int orr_loops_flat_wheel(const struct orr_loops *loops);

/* From now on every `distance` loop that is not driven keeps the distance of the placed q. [any] */
void orr_loops_keep_distances(struct orr_loops *loops);

/* Fills loops->g.a and .gross with G of the placed q: [row_count] rows over the columns. Columns of hinges that are
 * prescribed stay in. [rt] O(rows · columns). */
void orr_loops_jacobian(struct orr_loops *loops);

/* How far loop i is from closed at the placed q: m between the nodes (or of a sliding gear), and rad. [any] */
struct orr_loop_gap {
  double metres, radians;
};
struct orr_loop_gap orr_loop_gap(const struct orr_loops *loops, int i);

/* loops->judge becomes G, as it is filled, over free columns, not factored. [rt] O(rows · columns). */
void orr_loops_judge_free(struct orr_loops *loops, const struct orr_workspace *ws);

/* A loop that is open beyond the tolerance at the placed q, or −1. [rt] O(rows). */
int orr_loops_open(const struct orr_loops *loops);

/* Whether a row that has not been solved so far may be from here on, where the weakest of the rows has `least` of its
 * gross size: what it is open by would move the mechanism by no more than 1e-9. A row that only counts as redundant,
 * because axes are nearly parallel, is another constraint than those it would replace. [any] */
bool orr_row_may_be_taken(const struct orr_loops *loops, int row, double least);

/* The rank of G, as it is filled, over free columns. Rows of embedded loops come first, so that an equation which both
 * have counts as redundant in the augmented loop. *embedded: the rank of the embedded loops alone; redundant [count]:
 * equations of each loop that follow from others; both may be NULL. Leaves loops->judge factored. [rt] O(rows²
 * columns). */
int orr_loops_rank(struct orr_loops *loops, const struct orr_workspace *ws, int *embedded, int *redundant);

/* What redundant equations leave undetermined, after orr_loops_rank: multipliers of loops, forces through hinges,
 * efforts of driven hinges. Arrays [count], [body_count] and [body_count], bodies in file order; the loops are placed.
 * [any] O(rows² path). */
void orr_loops_undetermined(const struct orr_loops *loops, bool *multipliers, bool *forces, bool *efforts);

/* The numbers of a loop's multipliers as the conventions order them: moments, then forces. */
struct orr_loop_numbers {
  int moments, forces;
};
/* Of a rolling wheel: along its way and across it, where nothing acts if it slides. */
struct orr_loop_numbers orr_loop_numbers(enum orr_loop_kind kind, bool turns); /* turns: a gear's hinge B is an angle */

/* Marks, in out [count], those of them that redundant equations leave undetermined: that have more than the tolerance
 * of a combination of equations that vanishes. After orr_loops_rank; the loops are placed. [any] O(rows²). */
void orr_loops_undetermined_numbers(const struct orr_loops *loops, bool (*out)[ORR_LOOP_MAX_ROWS]);

/* Multipliers of loop i, from those of its rows, as the conventions order them: out [6]; how many. [any] */
int orr_loop_multipliers(const struct orr_loop *loop, const double *lambda, double *out);

/* q ⊕ by for one limb: `by` its modes, then its hinge, as speeds times a time; rotations along the exponential map.
 * [rt] O(n). */
void orr_limb_move(const struct orr_limb *limb, const double *by, double *q);

/* q ⊕ step: columns of G added to coordinates, rotations along the exponential map. [rt] O(columns). */
void orr_loops_move(const struct orr_loops *loops, const double *step, double *q);

/* The one tolerance of loops, in m (of mechanisms beyond a metre, in their size) and rad. A loop whose nodes are within
 * it is closed. An equation that a motion of one radian, or of the size, opens by less than it while the others hold is
 * redundant. */
#define ORR_LOOP_TOLERANCE 1e-6

/* The cosine of the angle within which the rows of angles are those of its sine; beyond, where loops are only being
 * assembled, those of a plain turn. */
#define ORR_LOOP_NEAR 0.9

/* How far the equations that are solved are closed by projection: m (as above) and rad. */
#define ORR_LOOP_CLOSED 1e-12

#endif
