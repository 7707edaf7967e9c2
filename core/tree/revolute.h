/* The kernel of a revolute hinge: the three sweeps of core/tree/articulated.c, with z of the solver axes along the
 * hinge.
 *
 * H picks one component, so D is one number, and P+ has neither row nor column for that component. A rotation about z
 * changes two axes only. Between the solver axes of parent and child at q = 0 there is nothing, a change of names, or
 * (dense) a constant rotation. Where the parent's node deforms, the rotation of that site comes on top.
 *
 * For kinematics.c and forward.c only. Thread of the workspace; [rt] O(1) each.
 */
#ifndef ORR_CORE_TREE_REVOLUTE_H
#define ORR_CORE_TREE_REVOLUTE_H

#include "core/model/workspace.h"

/* y in the child's axes at q = 0 → the parent's axes, and back. */
static inline orr_vec3 turn_out(const struct orr_limb *limb, orr_vec3 y) {
  switch (limb->turn) {
  case ORR_TURN_NONE:
    return y;
  case ORR_TURN_XYZ_TO_YZX:
    return v3(y.z, y.x, y.y);
  case ORR_TURN_XYZ_TO_ZXY:
    return v3(y.y, y.z, y.x);
  case ORR_TURN_DENSE:
    break;
  }
  return m3_apply(limb->r0c, y);
}

static inline orr_vec3 turn_in(const struct orr_limb *limb, orr_vec3 v) {
  switch (limb->turn) {
  case ORR_TURN_NONE:
    return v;
  case ORR_TURN_XYZ_TO_YZX:
    return v3(v.y, v.z, v.x);
  case ORR_TURN_XYZ_TO_ZXY:
    return v3(v.z, v.x, v.y);
  case ORR_TURN_DENSE:
    break;
  }
  return m3_apply_t(limb->r0c, v);
}

/* Rz(q) y and Rz(q)ᵀ y. */
static inline orr_vec3 spin_out(const struct orr_flow *flow, orr_vec3 y) {
  double c = flow->cos_q, s = flow->sin_q;
  return v3(c * y.x - s * y.y, s * y.x + c * y.y, y.z);
}

static inline orr_vec3 spin_in(const struct orr_flow *flow, orr_vec3 y) {
  double c = flow->cos_q, s = flow->sin_q;
  return v3(c * y.x + s * y.y, c * y.y - s * y.x, y.z);
}

static inline orr_inertia turn_inertia_yzx(orr_inertia p) {
  orr_inertia o = {{p.a.zz, p.a.xx, p.a.yy, p.a.xz, p.a.yz, p.a.xy},
                   {{{p.b.m[2][2], p.b.m[2][0], p.b.m[2][1]},
                     {p.b.m[0][2], p.b.m[0][0], p.b.m[0][1]},
                     {p.b.m[1][2], p.b.m[1][0], p.b.m[1][1]}}},
                   {p.c.zz, p.c.xx, p.c.yy, p.c.xz, p.c.yz, p.c.xy}};
  return o;
}

static inline orr_inertia turn_inertia_zxy(orr_inertia p) {
  orr_inertia o = {{p.a.yy, p.a.zz, p.a.xx, p.a.yz, p.a.xy, p.a.xz},
                   {{{p.b.m[1][1], p.b.m[1][2], p.b.m[1][0]},
                     {p.b.m[2][1], p.b.m[2][2], p.b.m[2][0]},
                     {p.b.m[0][1], p.b.m[0][2], p.b.m[0][0]}}},
                   {p.c.yy, p.c.zz, p.c.xx, p.c.yz, p.c.xy, p.c.xz}};
  return o;
}

/* Base to tips: ω = Rᵀ (ω_P + w) + z β;  a = [Rᵀ (Ė θ̇ + ω_P × w) + ω × z β; Rᵀ ω_P × (ω_P × l + 2 l̇) + η̇ᵀ G η̇],
 * with w, l̇ and the last term of the parent's site, if there is one. sin_q and cos_q are there. */
static inline void revolute_outward(const struct orr_limb *limb, struct orr_flow *flow, const struct orr_flow *parent,
                                    const struct orr_site_state *site, double rate) {
  orr_vec3 w = v3_zero(), turn = v3_zero(), push = v3_zero();
  if (site) {
    w = m3_apply_t(site->r, v3_add(parent->omega, site->u.w));
    turn = m3_apply_t(site->r, v3_add(site->turn, v3_cross(parent->omega, site->u.w)));
    push = v3_cross(parent->omega, v3_madd(v3_cross(parent->omega, site->l), 2, site->u.v));
    if (site->curved)
      push = v3_add(push, site->push);
    push = m3_apply_t(site->r, push);
    turn = spin_in(flow, turn_in(limb, turn));
  } else if (parent) {
    w = parent->omega;
    push = v3_cross(w, v3_cross(w, limb->l0));
  }
  if (parent) {
    w = spin_in(flow, turn_in(limb, w));
    push = spin_in(flow, turn_in(limb, push));
  }
  w.z += rate;
  turn.x += w.y * rate;
  turn.y -= w.x * rate;
  flow->omega = w;
  flow->turn = turn;
  flow->push = push;
}

/* P+ = P − P H* D⁻¹ H P in the axes at q = 0: rows and columns of the hinge are zero before the turn and after it. */
static inline orr_inertia revolute_project(const struct orr_flow *flow, orr_inertia p, double inverse) {
  double ux = p.a.xz * inverse, uy = p.a.yz * inverse;
  double c = flow->cos_q, s = flow->sin_q, s2 = s * s, cs = c * s, cc = c * c - s2;
  orr_vec3 u = v3(p.b.m[2][0], p.b.m[2][1], p.b.m[2][2]);
  orr_inertia o;
  double axx = p.a.xx - ux * p.a.xz, ayy = p.a.yy - uy * p.a.yz, axy = p.a.xy - ux * p.a.yz;
  double b0x = p.b.m[0][0] - ux * u.x, b0y = p.b.m[0][1] - ux * u.y, b0z = p.b.m[0][2] - ux * u.z;
  double b1x = p.b.m[1][0] - uy * u.x, b1y = p.b.m[1][1] - uy * u.y, b1z = p.b.m[1][2] - uy * u.z;
  double vx = u.x * inverse, vy = u.y * inverse, vz = u.z * inverse;
  double cxx = p.c.xx - vx * u.x, cyy = p.c.yy - vy * u.y, czz = p.c.zz - vz * u.z;
  double cxy = p.c.xy - vx * u.y, cxz = p.c.xz - vx * u.z, cyz = p.c.yz - vy * u.z;
  /* turn about z: xx − k, yy + k, k = s² (xx − yy) + 2cs xy; xy → cs (xx − yy) + (c² − s²) xy */
  double ad = axx - ayy, ak = s2 * ad + 2 * cs * axy;
  double cd = cxx - cyy, ck = s2 * cd + 2 * cs * cxy;
  o.a = (orr_sym3){axx - ak, ayy + ak, 0, cs * ad + cc * axy, 0, 0};
  o.c = (orr_sym3){cxx - ck, cyy + ck, czz, cs * cd + cc * cxy, c * cxz - s * cyz, s * cxz + c * cyz};
  double r0x = c * b0x - s * b1x, r0y = c * b0y - s * b1y, r0z = c * b0z - s * b1z;
  double r1x = s * b0x + c * b1x, r1y = s * b0y + c * b1y, r1z = s * b0z + c * b1z;
  o.b =
      (orr_mat3){{{c * r0x - s * r0y, s * r0x + c * r0y, r0z}, {c * r1x - s * r1y, s * r1x + c * r1y, r1z}, {0, 0, 0}}};
  return o;
}

/* z += P+ a, where the hinge has neither row nor column in P+. */
static inline orr_spatial add_projected(orr_inertia p, orr_spatial a, orr_spatial z) {
  z.w.x += p.a.xx * a.w.x + p.a.xy * a.w.y + v3_dot(m3_row(p.b, 0), a.v);
  z.w.y += p.a.xy * a.w.x + p.a.yy * a.w.y + v3_dot(m3_row(p.b, 1), a.v);
  z.v.x += p.b.m[0][0] * a.w.x + p.b.m[1][0] * a.w.y + p.c.xx * a.v.x + p.c.xy * a.v.y + p.c.xz * a.v.z;
  z.v.y += p.b.m[0][1] * a.w.x + p.b.m[1][1] * a.w.y + p.c.xy * a.v.x + p.c.yy * a.v.y + p.c.yz * a.v.z;
  z.v.z += p.b.m[0][2] * a.w.x + p.b.m[1][2] * a.w.y + p.c.xz * a.v.x + p.c.yz * a.v.y + p.c.zz * a.v.z;
  return z;
}

/* Tips to base: D = P_zz, ν = (τ − z_z)/D, z+ = z + P_z ν + P+ a; P+ and z+ on to the parent. False if D is not a
 * positive finite number. */
static inline bool revolute_inward(const struct orr_limb *limb, struct orr_flow *flow, struct orr_flow *parent,
                                   struct orr_site_state *site, double tau) {
  const orr_inertia *p = &flow->p;
  double d = p->a.zz, inverse = 1 / d;
  double nu = (tau - flow->z.w.z) * inverse;
  flow->inverse = inverse;
  flow->nu = nu;
  /* the floor of orr_pivot_status; NaN and infinity fail both */
  if (!(d > 1e-14 * (p->a.xx + p->a.yy)) || !(fabs(nu) <= 1.7976931348623157e308) || !(d <= 1.7976931348623157e308))
    return false;
  if (!parent)
    return fabs(flow->sin_q) <= 2; /* the angle of a root enters nothing before its acceleration */
  orr_inertia q = revolute_project(flow, *p, inverse);
  orr_spatial a = {v3(flow->turn.x, flow->turn.y, 0), flow->push};
  orr_spatial z = {
      v3(flow->z.w.x + p->a.xz * nu, flow->z.w.y + p->a.yz * nu, tau),
      v3(flow->z.v.x + p->b.m[2][0] * nu, flow->z.v.y + p->b.m[2][1] * nu, flow->z.v.z + p->b.m[2][2] * nu)};
  /* in the axes at q = 0 */
  a.w = spin_out(flow, a.w);
  a.v = spin_out(flow, a.v);
  z.w = spin_out(flow, z.w);
  z.v = spin_out(flow, z.v);
  z = add_projected(q, a, z);
  z = (orr_spatial){turn_out(limb, z.w), turn_out(limb, z.v)};
  switch (limb->turn) {
  case ORR_TURN_NONE:
    break;
  case ORR_TURN_XYZ_TO_YZX:
    q = turn_inertia_yzx(q);
    break;
  case ORR_TURN_XYZ_TO_ZXY:
    q = turn_inertia_zxy(q);
    break;
  case ORR_TURN_DENSE:
    q = in_rotate(limb->r0c, q);
    break;
  }
  orr_vec3 l = limb->l0;
  if (site) {
    l = site->l;
    q = in_rotate(site->r, q);
    z = sp_rotate(site->r, z);
  }
  q = in_shift(l, q);
  z = sp_force_shift(l, z);
  parent->p = in_add(parent->p, q);
  parent->z = sp_add(parent->z, z);
  if (site) {
    site->gamma = site->loaded ? in_add(site->gamma, q) : q;
    site->zeta = sp_add(site->zeta, z);
    site->loaded = true;
  }
  return true;
}

/* Base to tips: β̇ = ν − P_z · (X α_P + a)/D; α = X α_P + a + z β̇. `on` is the parent's α and what the site adds. */
static inline double revolute_accelerate(const struct orr_limb *limb, struct orr_flow *flow,
                                         const struct orr_site_state *site, orr_spatial on) {
  const orr_inertia *p = &flow->p;
  on.v = v3_add(on.v, v3_cross(on.w, site ? site->l : limb->l0));
  if (site)
    on = sp_rotate_t(site->r, on);
  orr_vec3 w = spin_in(flow, turn_in(limb, on.w));
  orr_vec3 v = spin_in(flow, turn_in(limb, on.v));
  w = v3_add(w, flow->turn);
  v = v3_add(v, flow->push);
  double carried = p->a.xz * w.x + p->a.yz * w.y + v3_dot(m3_row(p->b, 2), v);
  double total = flow->nu - carried * flow->inverse; /* ω̇_z, the hinge's own included */
  double beta = total - w.z;
  w.z = total;
  flow->alpha = (orr_spatial){w, v};
  return beta;
}

#endif
