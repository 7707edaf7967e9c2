/* The modal integrals of one flexible body: its mass matrix M_m(η), its bias, its elastic forces.
 *
 * T = ½ V_mᵀ M_m(η) V_m of the conventions, V_m = [η̇; ω; v], is a polynomial in η. With θ_j = S_j η, Γ_j = Π_t + Π_s ×
 * p_j and c_j = c0_j + Γ_j η, summed over the nodes once, before the run:
 *
 *   s(η)  = s0 + Σ s1_r η_r                first moment;    s1_r = Σ_j m Γ_r is also the v–η̇ block of M_m
 *   L_r(η) = l0_r + Σ_s η_s n_sr           ω–η̇ block;       l0_r = Σ_j m c0 × Γ_r + J S_r
 *                                                           n_sr = Σ_j m Γ_s × Γ_r + S_s × J S_r − ½ J (S_s × S_r)
 *   I(η)  = i0 + Σ η_r i1_r + Σ η_r η_s i2_rs   ω block;    i1_r = Σ_j −m (c̃0 Γ̃_r + Γ̃_r c̃0) + S̃_r J − J S̃_r
 *                     i2_rs, the symmetric part in rs of Σ_j −m Γ̃_r Γ̃_s − S̃_r J S̃_s + ½ (J S̃_r S̃_s + S̃_r S̃_s J)
 *   mff   = Σ_j m Γᵀ Γ + Sᵀ J S            η̇ block
 *
 * so an evaluation costs O(n²) whatever the number of nodes. Rows are padded with zeros to
 * `ld`, a multiple of four, so that loops over modes need no remainder.
 *
 * Second-order shapes (stiffening): a mass centre is at c0 + Γ η + ½ Σ η_r η_s g_rs, with g_rs = G_rs and the part of
 * S_r × (S_s × p) that is symmetric in rs. T takes the last term with the motion of the undeformed body alone, so it
 * keeps its form (core/README.md derives it):
 *
 *   s(η)   = s0 + Σ ½ (s1_r + S_r(η)) η_r,   S_r(η) = s1_r + Σ_s η_s k_rs   v–η̇ block;   k_rs = Σ_j m g_rs
 *   n_sr  += Σ_j m c0 × g_rs;   i2_rs += Σ_j −½ m (c̃0 g̃_rs + g̃_rs c̃0)
 */
#ifndef ORR_CORE_MODEL_MODAL_H
#define ORR_CORE_MODEL_MODAL_H

#include <stdbool.h>

#include "core/math/block.h"
#include "core/math/spatial.h"
#include "core/model/description.h"

enum {
  ORR_MODAL_PAIR = 12,
  ORR_MODAL_CURVE = 3,
  ORR_FEW_MODES = 8, /* bodies with no more have kernels of their own (core/tree/modal_rows.h) */
};

/* Constant in the model; each workspace has its own copy, so that a node's mass may change in a run. Solver axes. */
struct orr_modal {
  int n, ld;
  bool uncoupled;  /* K and D are diagonal */
  bool linearized; /* only s0, s1, l0, i0, mff are used */
  bool curved;     /* shapes are of second order; set before the layout, as it takes `curve` */
  bool line;       /* those of a line: every G is along `along`, and nodes keep one number of it, not three */
  bool straight;   /* the same of every k, as no mass stands beside its node: `lean` has them */
  orr_vec3 along;  /* unit */
  bool plain;      /* neither */
  double mass;     /* kg */
  orr_vec3 s0;     /* kg m */
  orr_sym3 i0;     /* kg m², about the origin */
  double *s1;      /* [3][ld] kg m per unit η */
  double *l0;      /* [3][ld] */
  double *i1;      /* [6][ld] */
  double *mff;     /* [n][ld] */
  double *pairs;   /* [ld/4][n][12][4]: for four modes r and one s, n_sr, then n_sr − n_rs, then i2_rs */
  bool few;        /* no more than ORR_FEW_MODES, and plain. Then [n][n][3][4] of r and s: i2_rs but xz and yz; n_sr,
                      i2 xz; n_sr − n_rs, i2 yz */
  double *firsts;  /* [n][4][4] where they are few: i1 but xz and yz; l0, i1 xz; 0, i1 yz; s1, 0 */
  double *stiffness, *damping; /* [n][ld], K and D of the conventions */
  double *diagonal;            /* [2][ld] those of K and of D, if they are diagonal */
  double *curve;               /* [ld/4][n][3][4]: for four modes r and one s, k_sr; NULL where shapes are linear */
  double *lean;                /* [ld/4][n][4] along·k_sr of a line, else NULL */
};

/* A node of a flexible body in solver axes. */
struct orr_modal_node {
  double mass;
  orr_vec3 at, com;
  orr_sym3 inertia;
  const double *slope, *shift; /* [3][ld]: Π_s, Π_t by component, mode fastest */
  const double *curve;         /* G_sr as `curve` above, of a line as `lean`; NULL where shapes are linear */
};

/* What one evaluation gives; arrays from the caller, 64-byte aligned. */
struct orr_modal_state {
  orr_vec3 s;
  orr_sym3 inertia;
  orr_spatial bias; /* force on the body frame when [η̈; ω̇; a] = 0, a the inertial acceleration of the origin */
  double *l;        /* [3][ld] L(η) */
  double *s1;       /* [3][ld] S(η) where shapes are of second order; else left alone: it is the integrals' s1 */
  double *bias_f;   /* [ld] of the modes, elastic forces not included */
};

/* The numbers of modes s and r, `each` of them, in such an array of a body with n modes; each four apart from the next.
 */
static inline double *orr_curve_at(double *curve, int each, int n, int s, int r) {
  return curve + ((r / 4 * n + s) * each) * 4 + r % 4;
}

/* G_sr of a node. [any] */
static inline orr_vec3 orr_node_bend(const struct orr_modal *modal, const struct orr_modal_node *node, int s, int r) {
  const double *g = orr_curve_at((double *)node->curve, modal->line ? 1 : ORR_MODAL_CURVE, modal->n, s, r);
  return modal->line ? v3_scale(g[0], modal->along) : v3(g[0], g[4], g[8]);
}

/* Takes the arrays from the ledger (zeroed); `linearized`, `curved`, `line` and `along` are there. [init] O(n²)
 * bytes. */
void orr_modal_layout(struct orr_modal *modal, int n, struct orr_block *ledger);

/* Adds `sign` times one node's mass to the integrals (sign −1 takes it out again). [init], and [rt] on a copy.
 * O(n²). */
void orr_modal_add_node(struct orr_modal *modal, double sign, const struct orr_modal_node *node);

/* M_m(η) and the bias for η, η̇ [ld, zero padded], ω and, for linearized bodies, v. [rt] O(n²), never fails. */
void orr_modal_evaluate(const struct orr_modal *modal, const double *eta, const double *rate, orr_vec3 omega,
                        orr_vec3 v, struct orr_modal_state *out);

/* out[r] −= (K η + D η̇)_r. [rt] O(n) where K and D are diagonal, else O(n²). */
void orr_modal_elastic(const struct orr_modal *modal, const double *eta, const double *rate, double *out);

#endif
