#include "core/tree/modal_rows.h"

#include <float.h>

#include "core/math/lanes.h"
#include "core/tree/modal_sweep.h"
#include "core/tree/rows.h"

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { FEW = ORR_FEW_MODES };

/* The rows of D_f | [μ ε] of a body. */
struct block {
  double d[FEW][FEW]; /* above the diagonal, and on it */
  orr_lanes w[FEW], v[FEW];
};

/* out[i] = [x_i y_i z_i last_i] of four modes, the first `count` of them. */
ORR_ROWS_INLINE void four_rows(const double *m, int ld, orr_lanes last, int count, orr_lanes *out) {
  orr_lanes x = lanes_load(m), y = lanes_load(m + ld), z = lanes_load(m + 2 * ld);
  orr_lanes even = __builtin_shufflevector(x, y, 0, 4, 2, 6), beside = __builtin_shufflevector(z, last, 0, 4, 2, 6);
  out[0] = __builtin_shufflevector(even, beside, 0, 1, 4, 5);
  if (count > 2)
    out[2] = __builtin_shufflevector(even, beside, 2, 3, 6, 7);
  if (count < 2)
    return;
  even = __builtin_shufflevector(x, y, 1, 5, 3, 7);
  beside = __builtin_shufflevector(z, last, 1, 5, 3, 7);
  out[1] = __builtin_shufflevector(even, beside, 0, 1, 4, 5);
  if (count > 3)
    out[3] = __builtin_shufflevector(even, beside, 2, 3, 6, 7);
}

/* Rows of all modes of two blocks [3][ld]; `beside` [ld] stands in the last place of the first. */
ORR_ROWS_INLINE void all_rows(int n, const double *a, const double *b, const double *beside, orr_lanes *w,
                              orr_lanes *v) {
  const int ld = n > ORR_LANES ? 2 * ORR_LANES : ORR_LANES;
  const orr_lanes none = {0};
  UNROLL
  for (int r = 0; r < ld; r += ORR_LANES) {
    four_rows(a + r, ld, beside ? lanes_load(beside + r) : none, n - r, w + r);
    four_rows(b + r, ld, none, n - r, v + r);
  }
}

/* ε_f = T_f + external − bias − K η − D η̇ − Π'ᵀ ζ of the sites. */
ORR_ROWS_INLINE void gather(int n, const struct orr_limb *limb, struct orr_workspace *ws, const double *force) {
  const int ld = n > ORR_LANES ? 2 * ORR_LANES : ORR_LANES;
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const double *external = ws->external_modal[limb->flex];
  UNROLL
  for (int r = 0; r < n; r++)
    flex->force[r] = force[limb->u + r];
  UNROLL
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes sum = lanes_load(flex->force + r) + lanes_load(external + r) - lanes_load(flex->mass.bias_f + r);
    for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++) {
      const double *pi = ws->sites[i].pi + r;
      orr_lanes w = ws->hung[i].added.w, v = ws->hung[i].added.v;
      if (!ws->sites[i].loaded)
        continue;
      for (int c = 0; c < 3; c++) {
        sum = lanes_less(lanes_all(w[c]), lanes_load(pi + c * ld), sum);
        sum = lanes_less(lanes_all(v[c]), lanes_load(pi + (3 + c) * ld), sum);
      }
    }
    lanes_store(flex->force + r, sum);
  }
  orr_modal_elastic(&flex->modal, flex->eta, flex->rate, flex->force);
}

/* D_f += Π'ᵀ Γ Π', μ += Γ Π' of a site, and P += Γ, z += ζ. */
ORR_ROWS_INLINE void add_site(int n, const struct orr_site_state *site, struct orr_site_rows *hung,
                              struct block *block) {
  const int ld = n > ORR_LANES ? 2 * ORR_LANES : ORR_LANES;
  const struct orr_rows *p = &hung->added;
  orr_lanes yw[FEW], yv[FEW], bt[3], *pi_w = hung->pi, *pi_v = hung->pi + n;
  all_rows(n, site->pi, site->pi + 3 * ld, NULL, pi_w, pi_v);
  /* rows of a from [zz xx yy], [yz xz xy]; columns of b */
  orr_lanes ax = __builtin_shufflevector(__builtin_shufflevector(p->d, p->o, 1, 6, 5, 3), p->d, 0, 1, 2, 3);
  orr_lanes ay = __builtin_shufflevector(__builtin_shufflevector(p->o, p->d, 2, 6, 0, 3), p->d, 0, 1, 2, 3);
  orr_lanes az = __builtin_shufflevector(p->o, p->d, 1, 0, 4, 3);
  rows_transpose(p->bx, p->by, p->bz, bt);
  UNROLL
  for (int r = 0; r < n; r++) {
    const double *x = site->pi + r;
    orr_lanes wx = lanes_all(x[0]), wy = lanes_all(x[ld]), wz = lanes_all(x[2 * ld]);
    orr_lanes vx = lanes_all(x[3 * ld]), vy = lanes_all(x[4 * ld]), vz = lanes_all(x[5 * ld]);
    yw[r] = lanes_madd(wz, az, lanes_madd(wy, ay, wx * ax));
    yv[r] = lanes_madd(wz, p->bz, lanes_madd(wy, p->by, wx * p->bx));
    yw[r] = lanes_madd(vz, bt[2], lanes_madd(vy, bt[1], lanes_madd(vx, bt[0], yw[r])));
    yv[r] = lanes_madd(vz, p->cz, lanes_madd(vy, p->cy, lanes_madd(vx, p->cx, yv[r])));
  }
  orr_lanes four[ORR_LANES] = {{0}};
  double *to[ORR_LANES];
  int count = 0;
  UNROLL
  for (int s = 0; s < n; s++) {
    UNROLL
    for (int r = s; r < n; r++) {
      four[count] = lanes_madd(pi_w[s], yw[r], pi_v[s] * yv[r]);
      to[count++] = &block->d[s][r];
      if (count < ORR_LANES && (s < n - 1 || r < n - 1))
        continue;
      orr_lanes sums = lanes_sums(four[0], four[1], four[2], four[3]);
      for (int i = 0; i < count; i++)
        *to[i] += sums[i];
      count = 0;
    }
    block->w[s] += yw[s];
    block->v[s] += yv[s];
  }
}

/* D_f = L diag Lᵀ, L⁻¹ of the rows [μ ε], and L itself below the diagonal of `d`. The first pivot that is below the
 * floor of orr_pivot_status or not finite, or n. */
ORR_ROWS_INLINE int factor(int n, const struct orr_modal *modal, struct block *block, double *inverse) {
  UNROLL
  for (int j = 0; j < n; j++) {
    double pivot = block->d[j][j], scale = modal->mff[j * modal->ld + j];
    if (!(pivot > 1e-14 * scale) || !(pivot <= DBL_MAX))
      return j;
    inverse[j] = 1 / pivot;
    UNROLL
    for (int i = j + 1; i < n; i++) {
      double l = block->d[j][i] * inverse[j];
      block->d[i][j] = l;
      UNROLL
      for (int r = i; r < n; r++)
        block->d[i][r] = fma(-l, block->d[j][r], block->d[i][r]);
      block->w[i] = lanes_less(lanes_all(l), block->w[j], block->w[i]);
      block->v[i] = lanes_less(lanes_all(l), block->v[j], block->v[i]);
    }
  }
  return n;
}

/* P_R = P − Σ μᵀ μ/d and z_R = z + Σ μᵀ ε/d over the rows of L⁻¹ [μ ε], which are divided by d then. */
ORR_ROWS_INLINE void reduce(int n, struct block *block, const double *inverse, struct orr_rows *p) {
  orr_lanes ax = {0}, ay = {0}, az = {0};
  UNROLL
  for (int j = 0; j < n; j++) {
    orr_lanes w = block->w[j], v = block->v[j], sw = w * inverse[j], sv = v * inverse[j];
    orr_lanes x = lanes_all(sw[0]), y = lanes_all(sw[1]), z = lanes_all(sw[2]);
    ax = lanes_madd(x, w, ax);
    ay = lanes_madd(y, w, ay);
    az = lanes_madd(z, w, az);
    p->bx = lanes_less(x, v, p->bx);
    p->by = lanes_less(y, v, p->by);
    p->bz = lanes_less(z, v, p->bz);
    p->cx = lanes_less(lanes_all(sv[0]), v, p->cx);
    p->cy = lanes_less(lanes_all(sv[1]), v, p->cy);
    p->cz = lanes_less(lanes_all(sv[2]), v, p->cz);
    p->v = lanes_madd(lanes_all(sw[3]), v, p->v);
    block->w[j] = sw;
    block->v[j] = sv;
  }
  const orr_lanes none = {0};
  struct rows_block a = {ax, ay, az};
  p->d -= rows_diagonal(a);
  p->o -= rows_beside(a);
  orr_lanes xy = __builtin_shufflevector(ax, ay, 3, 7, 3, 7);
  p->w += __builtin_shufflevector(__builtin_shufflevector(xy, az, 0, 1, 7, 3), none, 0, 1, 2, 7);
}

/* Lᵀ X = diag⁻¹ L⁻¹ [μ ε], from the last row; X into `out` [2 n]. */
ORR_ROWS_INLINE void substitute(int n, const struct block *block, orr_lanes *out) {
  orr_lanes w[FEW], v[FEW];
  UNROLL
  for (int i = n - 1; i >= 0; i--) {
    w[i] = block->w[i];
    v[i] = block->v[i];
    UNROLL
    for (int r = n - 1; r > i; r--) {
      orr_lanes l = lanes_all(block->d[r][i]);
      w[i] = lanes_less(l, w[r], w[i]);
      v[i] = lanes_less(l, v[r], v[i]);
    }
    out[2 * i] = w[i];
    out[2 * i + 1] = v[i];
  }
}

/* P and z of the body, with what hangs on its sites and beside them. */
ORR_ROWS_INLINE struct orr_rows body_rows(const struct orr_limb *limb, const struct orr_workspace *ws, int k) {
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const orr_lanes none = {0}, m = lanes_all(flex->modal.mass), s = rows_from(&flex->mass.s), less = none - s;
  const double *inertia = (const double *)&flex->mass.inertia;
  orr_lanes i = lanes_load_three(inertia), beside = lanes_load_three(inertia + 3);
  struct orr_rows p = {.bx = __builtin_shufflevector(less, s, 3, 2, 5, 7),
                       .by = __builtin_shufflevector(less, s, 6, 3, 0, 7),
                       .bz = __builtin_shufflevector(less, s, 1, 4, 3, 7),
                       .cx = __builtin_shufflevector(m, none, 0, 5, 6, 7),
                       .cy = __builtin_shufflevector(m, none, 4, 1, 6, 7),
                       .cz = __builtin_shufflevector(m, none, 4, 5, 2, 7),
                       .d = rows_zxy(i),
                       .o = __builtin_shufflevector(beside, beside, 2, 1, 0, 3)};
  const double *bias = (const double *)&ws->limbs[k].b, *external = (const double *)&ws->external[k];
  p.w = lanes_load_three(bias) - lanes_load_three(external);
  p.v = lanes_load_three(bias + 3) - lanes_load_three(external + 3);
  if (ws->adds[k])
    p = rows_sum(&p, &ws->flows[k].lean.added);
  for (int n = limb->site_first; n < limb->site_first + limb->site_count; n++)
    if (ws->sites[n].loaded)
      p = rows_sum(&p, &ws->hung[n].added);
  return p;
}

ORR_ROWS_INLINE enum orr_status inward(int n, const struct orr_limb *limb, struct orr_workspace *ws, int k,
                                       const double *force, struct orr_rows *out) {
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const struct orr_modal *modal = &flex->modal;
  const int ld = n > ORR_LANES ? 2 * ORR_LANES : ORR_LANES;
  struct block block;
  double inverse[FEW];
  gather(n, limb, ws, force);
  all_rows(n, flex->mass.l, flex->mass.s1, flex->force, block.w, block.v);
  UNROLL
  for (int s = 0; s < n; s++) {
    UNROLL
    for (int r = s; r < n; r++)
      block.d[s][r] = modal->mff[s * ld + r];
  }
  for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++)
    if (ws->sites[i].loaded)
      add_site(n, &ws->sites[i], &ws->hung[i], &block);
  int failed = factor(n, modal, &block, inverse);
  if (failed < n)
    return orr_pivot_status(block.d[failed][failed], modal->mff[failed * ld + failed]);
  struct orr_rows p = body_rows(limb, ws, k);
  reduce(n, &block, inverse, &p);
  substitute(n, &block, (orr_lanes *)(void *)flex->w);
  flex->reduced = p;
  *out = p;
  return ORR_OK;
}

ORR_ROWS_INLINE void outward(int n, const struct orr_limb *limb, struct orr_workspace *ws, int k, double *accel) {
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const struct orr_flow *flow = &ws->flows[k];
  const orr_lanes *x = (const orr_lanes *)(const void *)flex->w, one = {1, 1, 1, 1};
  const int ld = n > ORR_LANES ? 2 * ORR_LANES : ORR_LANES;
  orr_lanes w = __builtin_shufflevector(-flow->lean.alpha_w, one, 0, 1, 2, 7), v = -flow->lean.alpha_v;
  UNROLL
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes row[ORR_LANES] = {{0}};
    UNROLL
    for (int i = 0; i < ORR_LANES; i++)
      if (r + i < n)
        row[i] = lanes_madd(w, x[2 * (r + i)], v * x[2 * (r + i) + 1]);
    lanes_store(flex->accel + r, lanes_sums(row[0], row[1], row[2], row[3]));
  }
  UNROLL
  for (int r = 0; r < n; r++)
    accel[limb->u + r] = flex->accel[r];
  for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++) {
    struct orr_site_rows *hung = &ws->hung[i];
    orr_lanes motion_w = {0}, motion_v = {0};
    UNROLL
    for (int r = 0; r < n; r++) {
      orr_lanes rate = lanes_all(flex->accel[r]);
      motion_w = lanes_madd(rate, hung->pi[r], motion_w);
      motion_v = lanes_madd(rate, hung->pi[n + r], motion_v);
    }
    hung->motion_w = motion_w;
    hung->motion_v = motion_v;
  }
}

/* A kernel for each number of modes. */
#define KERNEL(n)                                                                                                      \
  static __attribute__((noinline)) enum orr_status inward_##n(const struct orr_limb *limb, struct orr_workspace *ws,   \
                                                              int k, const double *force, struct orr_rows *p) {        \
    return inward(n, limb, ws, k, force, p);                                                                           \
  }                                                                                                                    \
  static __attribute__((noinline)) void outward_##n(const struct orr_limb *limb, struct orr_workspace *ws, int k,      \
                                                    double *accel) {                                                   \
    outward(n, limb, ws, k, accel);                                                                                    \
  }
KERNEL(1)
KERNEL(2)
KERNEL(3)
KERNEL(4)
KERNEL(5)
KERNEL(6)
KERNEL(7)
KERNEL(8)

enum orr_status orr_modal_rows_inward(const struct orr_model *model, struct orr_workspace *ws, int k,
                                      const double *force, struct orr_rows *p) {
  static enum orr_status (*const kernels[])(const struct orr_limb *, struct orr_workspace *, int, const double *,
                                            struct orr_rows *) = {inward_1, inward_2, inward_3, inward_4,
                                                                  inward_5, inward_6, inward_7, inward_8};
  const struct orr_limb *limb = &model->limbs[k];
  return kernels[limb->mode_count - 1](limb, ws, k, force, p);
}

void orr_modal_rows_outward(const struct orr_model *model, struct orr_workspace *ws, int k, double *accel) {
  static void (*const kernels[])(const struct orr_limb *, struct orr_workspace *, int, double *) = {
      outward_1, outward_2, outward_3, outward_4, outward_5, outward_6, outward_7, outward_8};
  const struct orr_limb *limb = &model->limbs[k];
  kernels[limb->mode_count - 1](limb, ws, k, accel);
}
