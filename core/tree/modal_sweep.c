#include "core/tree/modal_sweep.h"

#include <float.h>

#include "core/math/lanes.h"

/* A pivot below this part of the number that it is measured against is singular: a double has sixteen digits, and a
 * sweep cancels some. */
static const double PIVOT_FLOOR = 1e-14;

enum orr_status orr_pivot_status(double pivot, double scale) {
  if (!(fabs(pivot) <= DBL_MAX) || !(scale <= DBL_MAX))
    return ORR_ERROR_NOT_FINITE;
  return pivot > PIVOT_FLOOR * scale ? ORR_OK : ORR_ERROR_SINGULAR;
}

/* Six rows of n: out = P x for x = [6][ld]. */
static void inertia_rows(const orr_inertia *p, const double *restrict x, double *restrict out, int ld) {
  double full[6][6];
  in_full(p, full);
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes y[6];
    for (int c = 0; c < 6; c++)
      y[c] = lanes_load(x + c * ld + r);
    for (int i = 0; i < 6; i++) {
      orr_lanes sum = full[i][0] * y[0];
      for (int c = 1; c < 6; c++)
        sum = lanes_madd(lanes_all(full[i][c]), y[c], sum);
      lanes_store(out + i * ld + r, sum);
    }
  }
}

/* Upper triangle of W += sign Σ_c xᵀ_c y_c over six rows; the start of each row is rounded down to a whole vector. */
static void add_products(double *restrict w, int ldw, int n, int ld, const double *restrict x, const double *restrict y,
                         double sign) {
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes column[6];
    for (int c = 0; c < 6; c++)
      column[c] = sign * lanes_load(y + c * ld + r);
    int rows = r + ORR_LANES < n ? r + ORR_LANES : n;
    for (int s = 0; s < rows; s++) {
      orr_lanes sum = lanes_load(w + s * ldw + r);
      for (int c = 0; c < 6; c++)
        sum = lanes_madd(lanes_all(x[c * ld + s]), column[c], sum);
      lanes_store(w + s * ldw + r, sum);
    }
  }
}

/* W += s D + s² K: the modal block of a step that takes elastic forces where it ends. */
static void add_elastic(const struct orr_modal *modal, double step, double *restrict w, int ldw) {
  for (int s = 0; s < modal->n; s++)
    for (int r = 0; r < modal->n; r++)
      w[s * ldw + r] =
          fma(step, fma(step, modal->stiffness[s * modal->ld + r], modal->damping[s * modal->ld + r]), w[s * ldw + r]);
}

/* P_ff, P_rf from the mass matrix and the sites, then D_f and μ = P_rf − P_rr Π_d'. */
void orr_modes_assemble(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &model->limbs[k];
  double *y = ws->scratch; /* [6][ld] */
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const struct orr_modal *modal = &flex->modal;
  int n = modal->n, ld = modal->ld, ldw = flex->ldw;
  double *restrict coupling = flex->coupling, *restrict w = flex->w;
  for (int r = 0; r < 3 * ld; r += ORR_LANES) {
    lanes_store(coupling + r, lanes_load(flex->mass.l + r));
    lanes_store(coupling + 3 * ld + r, lanes_load(flex->mass.s1 + r));
  }
  for (int s = 0; s < n; s++)
    for (int r = s / ORR_LANES * ORR_LANES; r < ld; r += ORR_LANES)
      lanes_store(w + s * ldw + r, lanes_load(modal->mff + s * ld + r));
  if (ws->implicit_s != 0)
    add_elastic(modal, ws->implicit_s, w, ldw);
  for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++) {
    const struct orr_site_state *site = &ws->sites[i];
    if (!site->loaded)
      continue;
    inertia_rows(&site->gamma, site->pi, y, ld);
    add_products(w, ldw, n, ld, site->pi, y, 1);
    for (int r = 0; r < 6 * ld; r++)
      coupling[r] += y[r];
  }
  if (limb->site_own >= 0) {
    /* D_f = P_ff − Π_d'ᵀ μ − P_frΠ_d' */
    const double *pi = ws->sites[limb->site_own].pi;
    inertia_rows(&ws->flows[k].p, pi, y, ld);
    add_products(w, ldw, n, ld, coupling, pi, -1);
    for (int r = 0; r < 6 * ld; r++)
      coupling[r] -= y[r];
    add_products(w, ldw, n, ld, pi, coupling, -1);
  }
  for (int s = 0; s < n; s++) {
    double *tail = w + s * ldw + ld;
    for (int c = 0; c < 6; c++)
      tail[c] = coupling[c * ld + s];
    tail[6] = tail[7] = 0;
  }
}

/* P −= Σ_j μ_jᵀ μ_j / U_jj over the eliminated rows, and z += Σ_j μ_jᵀ ε_j / U_jj where ε stands beside μ (else it is
 * 0). */
static void subtract_modes(const struct orr_flex_state *flex, orr_inertia *p, orr_spatial *z) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  orr_lanes sum[6][2] = {{{0}}};
  for (int j = 0; j < n; j++) {
    const double *row = flex->w + j * ldw + ld;
    orr_lanes a = lanes_load(row), b = lanes_load(row + ORR_LANES);
    for (int c = 0; c < 6; c++) {
      double k = row[c] * flex->inverse[j];
      sum[c][0] = lanes_madd(lanes_all(k), a, sum[c][0]);
      sum[c][1] = lanes_madd(lanes_all(k), b, sum[c][1]);
    }
  }
  p->a = s3_add(p->a,
                (orr_sym3){-sum[0][0][0], -sum[1][0][1], -sum[2][0][2], -sum[0][0][1], -sum[0][0][2], -sum[1][0][2]});
  for (int i = 0; i < 3; i++) {
    p->b.m[i][0] -= sum[i][0][3];
    p->b.m[i][1] -= sum[i][1][0];
    p->b.m[i][2] -= sum[i][1][1];
  }
  p->c = s3_add(p->c,
                (orr_sym3){-sum[3][0][3], -sum[4][1][0], -sum[5][1][1], -sum[3][1][0], -sum[3][1][1], -sum[4][1][1]});
  orr_spatial pull = {v3(sum[0][1][2], sum[1][1][2], sum[2][1][2]), v3(sum[3][1][2], sum[4][1][2], sum[5][1][2])};
  *z = sp_add(*z, pull);
}

/* [D_f μ; μᵀ P] by Gaussian elimination of the first n rows, from the top, each row whole: U stays in W, P becomes
 * P_R. */
static enum orr_status eliminate_modes(struct orr_flex_state *flex, struct orr_flow *flow) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  for (int j = 0; j < n; j++) {
    const double *row = flex->w + j * ldw;
    enum orr_status status = orr_pivot_status(row[j], flex->modal.mff[j * ld + j]);
    if (status != ORR_OK)
      return status;
    double inverse = 1 / row[j];
    flex->inverse[j] = inverse;
    for (int i = j + 1; i < n; i++) {
      double k = row[i] * inverse;
      double *under = flex->w + i * ldw;
      for (int r = i / ORR_LANES * ORR_LANES; r < ldw; r += ORR_LANES)
        lanes_store(under + r, lanes_madd(lanes_all(-k), lanes_load(row + r), lanes_load(under + r)));
    }
  }
  subtract_modes(flex, &flow->p, &flow->z);
  return ORR_OK;
}

enum orr_status orr_modes_factor(const struct orr_model *model, struct orr_workspace *ws, int k) {
  int flex = model->limbs[k].flex;
  if (flex < 0)
    return ORR_OK;
  orr_modes_assemble(model, ws, k);
  return eliminate_modes(&ws->flexes[flex], &ws->flows[k]);
}

void orr_site_force(const struct orr_site_state *site, orr_spatial f, double sign, double *out, int ld) {
  double k[6];
  sp_to(k, f);
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes sum = k[0] * lanes_load(site->pi + r);
    for (int c = 1; c < 6; c++)
      sum = lanes_madd(lanes_all(k[c]), lanes_load(site->pi + c * ld + r), sum);
    lanes_store(out + r, lanes_load(out + r) + sign * sum);
  }
}

/* ε_f = T_f − z_f + Π_d'ᵀ z_r, in place of T_f less own forces. */
static void gather_forces(const struct orr_limb *limb, struct orr_workspace *ws, const struct orr_flow *flow) {
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  int ld = flex->modal.ld;
  for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++)
    if (ws->sites[i].loaded)
      orr_site_force(&ws->sites[i], ws->sites[i].zeta, -1, flex->force, ld);
  if (limb->site_own >= 0)
    orr_site_force(&ws->sites[limb->site_own], flow->z, 1, flex->force, ld);
}

/* ε_f; L⁻¹ ε_f; z_R = z_r + μᵀ D_f⁻¹ ε_f */
void orr_modes_forces(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &model->limbs[k];
  if (limb->flex < 0)
    return;
  struct orr_flow *flow = &ws->flows[k];
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *restrict e = flex->force;
  gather_forces(limb, ws, flow);
  orr_lanes a = {0}, b = {0};
  for (int j = 0; j < n; j++) {
    const double *restrict row = flex->w + j * ldw;
    double pull = e[j] * flex->inverse[j];
    int whole = (j / ORR_LANES + 1) * ORR_LANES;
    for (int r = j + 1; r < whole; r++)
      e[r] -= pull * row[r];
    for (int r = whole; r < ld; r += ORR_LANES)
      lanes_store(e + r, lanes_madd(lanes_all(-pull), lanes_load(row + r), lanes_load(e + r)));
    a = lanes_madd(lanes_all(pull), lanes_load(row + ld), a);
    b = lanes_madd(lanes_all(pull), lanes_load(row + ld + ORR_LANES), b);
  }
  flow->z = sp_add(flow->z, (orr_spatial){v3(a[0], a[1], a[2]), v3(a[3], b[0], b[1])});
}

orr_spatial orr_site_motion(const struct orr_site_state *site, const double *x, int ld) {
  orr_lanes sum[6] = {{0}};
  for (int r = 0; r < ld; r += ORR_LANES)
    for (int c = 0; c < 6; c++)
      sum[c] = lanes_madd(lanes_load(site->pi + c * ld + r), lanes_load(x + r), sum[c]);
  orr_lanes a = lanes_sums(sum[0], sum[1], sum[2], sum[3]), b = lanes_sums(sum[4], sum[5], sum[4], sum[5]);
  return (orr_spatial){v3(a[0], a[1], a[2]), v3(a[3], b[0], b[1])};
}

/* D_f η̈ = ε_f − μᵀ α_R, backwards through U. */
static void modal_accelerations(struct orr_flex_state *flex, orr_spatial alpha_r) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *x = flex->accel;
  for (int j = n - 1; j >= 0; j--) {
    const double *row = flex->w + j * ldw;
    double sum = flex->force[j] - sp_dot(sp_from(row + ld), alpha_r);
    int whole = (j / ORR_LANES + 1) * ORR_LANES;
    for (int r = j + 1; r < whole && r < n; r++)
      sum -= row[r] * x[r];
    if (whole < ld) {
      orr_lanes rest = {0};
      for (int r = whole; r < ld; r += ORR_LANES)
        rest = lanes_madd(lanes_load(row + r), lanes_load(x + r), rest);
      sum -= lanes_sum(rest);
    }
    x[j] = sum * flex->inverse[j];
  }
}

void orr_modes_accelerations(const struct orr_model *model, struct orr_workspace *ws, int k, orr_spatial alpha_r,
                             double *accel) {
  const struct orr_limb *limb = &model->limbs[k];
  if (limb->flex < 0)
    return;
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  modal_accelerations(flex, alpha_r);
  for (int r = 0; r < limb->mode_count; r++)
    accel[limb->u + r] = flex->accel[r];
}

/* U X = [μ ε], row by row from the last, where μ and ε stand: X = D_f⁻¹ [μ ε] of the original ones. */
static void solve_columns(struct orr_flex_state *flex) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  for (int j = n - 1; j >= 0; j--) {
    double *row = flex->w + j * ldw;
    orr_lanes a = lanes_load(row + ld), b = lanes_load(row + ld + ORR_LANES);
    for (int r = n - 1; r > j; r--) {
      const double *under = flex->w + r * ldw + ld;
      a = lanes_madd(lanes_all(-row[r]), lanes_load(under), a);
      b = lanes_madd(lanes_all(-row[r]), lanes_load(under + ORR_LANES), b);
    }
    lanes_store(row + ld, flex->inverse[j] * a);
    lanes_store(row + ld + ORR_LANES, flex->inverse[j] * b);
  }
}

enum orr_status orr_modes_inward(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &model->limbs[k];
  if (limb->flex < 0)
    return ORR_OK;
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  orr_modes_assemble(model, ws, k);
  gather_forces(limb, ws, &ws->flows[k]);
  for (int s = 0; s < flex->modal.n; s++)
    flex->w[s * flex->ldw + flex->modal.ld + 6] = flex->force[s];
  enum orr_status status = eliminate_modes(flex, &ws->flows[k]);
  if (status == ORR_OK)
    solve_columns(flex);
  return status;
}

void orr_modes_outward(const struct orr_model *model, struct orr_workspace *ws, int k, orr_spatial alpha_r,
                       double *accel) {
  const struct orr_limb *limb = &model->limbs[k];
  if (limb->flex < 0)
    return;
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  int n = flex->modal.n, ldw = flex->ldw;
  const double *x = flex->w + flex->modal.ld;
  orr_lanes a = {-alpha_r.w.x, -alpha_r.w.y, -alpha_r.w.z, -alpha_r.v.x}, b = {-alpha_r.v.y, -alpha_r.v.z, 1, 0};
  for (int r = 0; r < n; r += ORR_LANES) {
    orr_lanes row[ORR_LANES] = {{0}};
    for (int i = 0; i < ORR_LANES && r + i < n; i++)
      row[i] = lanes_madd(a, lanes_load(x + (r + i) * ldw), b * lanes_load(x + (r + i) * ldw + ORR_LANES));
    lanes_store(flex->accel + r, lanes_sums(row[0], row[1], row[2], row[3]));
  }
  for (int r = 0; r < n; r++)
    accel[limb->u + r] = flex->accel[r];
}
