/* Revolute hinges, four numbers side by side: what core/tree/revolute.h computes, for hinges on places that bend and on
 * others. core/tree/modal_rows.h has the modes of these bodies.
 *
 * A vector has its three components in lanes 0 to 2 and zero in lane 3. The inertia [a b; bᵀ c] has b and c by rows,
 * and a in two: d = [zz xx yy], o = [yz xz xy]. A cross product is then lane by lane, and so are most steps of the
 * sweeps: a × b = a.yzx b.zxy − a.zxy b.yzx. revolute.h is the plain twin.
 *
 * For kinematics.c and forward.c only. Thread of the workspace; [rt] O(1) each.
 */
#ifndef ORR_CORE_TREE_ROWS_H
#define ORR_CORE_TREE_ROWS_H

#include "core/math/lanes.h"
#include "core/model/workspace.h"

#define ORR_ROWS_INLINE static inline __attribute__((always_inline))

ORR_ROWS_INLINE orr_lanes rows_from(const orr_vec3 *v) { return lanes_load_three((const double *)v); }
ORR_ROWS_INLINE orr_lanes rows_yzx(orr_lanes a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
ORR_ROWS_INLINE orr_lanes rows_zxy(orr_lanes a) { return __builtin_shufflevector(a, a, 2, 0, 1, 3); }
ORR_ROWS_INLINE orr_lanes rows_yx(orr_lanes a) { return __builtin_shufflevector(a, a, 1, 0, 2, 3); }
/* a b − c d */
ORR_ROWS_INLINE orr_lanes rows_difference(orr_lanes a, orr_lanes b, orr_lanes c, orr_lanes d) {
  return lanes_over(a, b, c * d);
}
/* a × b for a whose turned forms are at hand */
ORR_ROWS_INLINE orr_lanes rows_cross(orr_lanes a_yzx, orr_lanes a_zxy, orr_lanes b) {
  return rows_difference(a_yzx, rows_zxy(b), a_zxy, rows_yzx(b));
}
/* Rz x, and Rzᵀ x, with cosine [c c 1 0] and sine [−s s 0 0]. */
ORR_ROWS_INLINE orr_lanes rows_spin(orr_lanes cosine, orr_lanes sine, orr_lanes x) {
  return lanes_madd(rows_yx(x), sine, x * cosine);
}
ORR_ROWS_INLINE orr_lanes rows_unspin(orr_lanes cosine, orr_lanes sine, orr_lanes x) {
  return lanes_less(rows_yx(x), sine, x * cosine);
}

/* From the axes of the parent to those of the child at q = 0, and back. `turn` is a constant where this is called. */
ORR_ROWS_INLINE orr_lanes rows_in(enum orr_turn_kind turn, const struct orr_limb *limb, orr_lanes v) {
  if (turn == ORR_TURN_XYZ_TO_YZX)
    return rows_yzx(v);
  if (turn == ORR_TURN_XYZ_TO_ZXY)
    return rows_zxy(v);
  if (turn == ORR_TURN_NONE)
    return v;
  const orr_lanes *r = limb->lean.out;
  return lanes_madd(lanes_all(v[2]), r[2], lanes_madd(lanes_all(v[1]), r[1], lanes_all(v[0]) * r[0]));
}
ORR_ROWS_INLINE orr_lanes rows_out(enum orr_turn_kind turn, const struct orr_limb *limb, orr_lanes v) {
  if (turn == ORR_TURN_XYZ_TO_YZX)
    return rows_zxy(v);
  if (turn == ORR_TURN_XYZ_TO_ZXY)
    return rows_yzx(v);
  if (turn == ORR_TURN_NONE)
    return v;
  const orr_lanes *r = limb->lean.in;
  return lanes_madd(lanes_all(v[2]), r[2], lanes_madd(lanes_all(v[1]), r[1], lanes_all(v[0]) * r[0]));
}

/* Rows of a block of an inertia. */
struct rows_block {
  orr_lanes x, y, z;
};

/* R x Rᵀ from the axes at q = 0 to the parent's; the last row is zero where `flat`. */
ORR_ROWS_INLINE struct rows_block rows_turn(enum orr_turn_kind turn, const struct orr_limb *limb, orr_lanes x,
                                            orr_lanes y, orr_lanes z, bool flat) {
  x = rows_out(turn, limb, x);
  y = rows_out(turn, limb, y);
  z = flat ? z : rows_out(turn, limb, z);
  if (turn == ORR_TURN_XYZ_TO_YZX)
    return (struct rows_block){z, x, y};
  if (turn == ORR_TURN_XYZ_TO_ZXY)
    return (struct rows_block){y, z, x};
  if (turn == ORR_TURN_NONE)
    return (struct rows_block){x, y, z};
  orr_lanes out[3];
  for (int i = 0; i < 3; i++) {
    const double *r = limb->r0c.m[i];
    out[i] = lanes_madd(lanes_all(r[1]), y, lanes_all(r[0]) * x);
    out[i] = flat ? out[i] : lanes_madd(lanes_all(r[2]), z, out[i]);
  }
  return (struct rows_block){out[0], out[1], out[2]};
}

/* ---- base to tips: velocities ------------------------------------------------------------------------------ */

ORR_ROWS_INLINE void rows_outward_turned(enum orr_turn_kind turn, const struct orr_limb *limb, struct orr_flow *flow,
                                         const struct orr_flow *parent, double rate) {
  const orr_lanes one = {1, 1, 1, 0}, none = {0};
  orr_lanes cosine = __builtin_shufflevector(lanes_all(flow->cos_q), one, 0, 1, 6, 7);
  orr_lanes sine = lanes_all(flow->sin_q) * (orr_lanes){-1, 1, 0, 0}, w = none, push = none, rates = lanes_all(rate);
  flow->lean.cosine = cosine;
  flow->lean.sine = sine;
  if (parent) {
    orr_lanes on = lanes_load(&parent->omega.x), yzx = rows_yzx(on), zxy = rows_zxy(on);
    push = rows_cross(yzx, zxy, rows_difference(yzx, limb->lean.l_zxy, zxy, limb->lean.l_yzx));
    w = rows_unspin(cosine, sine, rows_in(turn, limb, on));
    push = rows_unspin(cosine, sine, rows_in(turn, limb, push));
  }
  lanes_store(&flow->turn.x, rows_yx(w) * (rates * (orr_lanes){1, -1, 0, 0}));
  lanes_store(&flow->omega.x, w + __builtin_shufflevector(rates, none, 4, 5, 2, 7));
  lanes_store(&flow->push.x, push);
}

/* Σ v_i m_i */
ORR_ROWS_INLINE orr_lanes rows_of(const orr_lanes m[3], orr_lanes v) {
  return lanes_madd(lanes_all(v[2]), m[2], lanes_madd(lanes_all(v[1]), m[1], lanes_all(v[0]) * m[0]));
}

/* Columns of a matrix whose rows are x, y, z. */
ORR_ROWS_INLINE void rows_transpose(orr_lanes x, orr_lanes y, orr_lanes z, orr_lanes out[3]) {
  const orr_lanes none = {0};
  orr_lanes even = __builtin_shufflevector(x, y, 0, 4, 2, 6), odd = __builtin_shufflevector(x, y, 1, 5, 3, 7);
  orr_lanes beside = __builtin_shufflevector(z, none, 0, 4, 2, 6), last = __builtin_shufflevector(z, none, 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(even, beside, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(odd, last, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(even, beside, 2, 3, 6, 7);
}

/* The turn R = exp(θ) r0c Rz(q) over a hinge whose place bends, and where that place is. */
ORR_ROWS_INLINE void rows_bend(const struct orr_limb *limb, const struct orr_flow *flow,
                               const struct orr_site_state *site, struct orr_bent *bent) {
  orr_lanes cosine = flow->lean.cosine, sine = flow->lean.sine;
  for (int i = 0; i < 3; i++) {
    orr_lanes row = lanes_load_three(site->r.m[i]);
    if (limb->turn == ORR_TURN_XYZ_TO_YZX)
      row = rows_yzx(row);
    else if (limb->turn == ORR_TURN_XYZ_TO_ZXY)
      row = rows_zxy(row);
    else if (limb->turn == ORR_TURN_DENSE)
      row = rows_in(ORR_TURN_DENSE, limb, row);
    bent->in[i] = rows_unspin(cosine, sine, row);
  }
  rows_transpose(bent->in[0], bent->in[1], bent->in[2], bent->out);
  bent->l = rows_from(&site->l);
}

/* As revolute_outward, on a site. */
static inline void rows_outward_bent(const struct orr_limb *limb, struct orr_flow *flow, struct orr_bent *bent,
                                     const struct orr_flow *parent, const struct orr_site_state *site, double rate) {
  const orr_lanes one = {1, 1, 1, 0}, none = {0};
  flow->lean.cosine = __builtin_shufflevector(lanes_all(flow->cos_q), one, 0, 1, 6, 7);
  flow->lean.sine = lanes_all(flow->sin_q) * (orr_lanes){-1, 1, 0, 0};
  rows_bend(limb, flow, site, bent);
  orr_lanes on = lanes_load(&parent->omega.x), yzx = rows_yzx(on), zxy = rows_zxy(on), rates = lanes_all(rate);
  orr_lanes spin = rows_from(&site->u.w), drift = rows_from(&site->u.v);
  orr_lanes push = rows_cross(yzx, zxy, lanes_madd(lanes_all(2), drift, rows_cross(yzx, zxy, bent->l)));
  if (site->curved)
    push += rows_from(&site->push);
  orr_lanes w = rows_of(bent->in, on + spin);
  orr_lanes turn = rows_of(bent->in, rows_from(&site->turn) + rows_cross(yzx, zxy, spin));
  lanes_store(&flow->turn.x, lanes_madd(rows_yx(w), rates * (orr_lanes){1, -1, 0, 0}, turn));
  lanes_store(&flow->omega.x, w + __builtin_shufflevector(rates, none, 4, 5, 2, 7));
  lanes_store(&flow->push.x, rows_of(bent->in, push));
}

/* As revolute_outward, without a site. */
static inline void rows_outward(const struct orr_limb *limb, struct orr_flow *flow, const struct orr_flow *parent,
                                double rate) {
  switch (limb->turn) {
  case ORR_TURN_NONE:
    rows_outward_turned(ORR_TURN_NONE, limb, flow, parent, rate);
    return;
  case ORR_TURN_XYZ_TO_YZX:
    rows_outward_turned(ORR_TURN_XYZ_TO_YZX, limb, flow, parent, rate);
    return;
  case ORR_TURN_XYZ_TO_ZXY:
    rows_outward_turned(ORR_TURN_XYZ_TO_ZXY, limb, flow, parent, rate);
    return;
  case ORR_TURN_DENSE:
    rows_outward_turned(ORR_TURN_DENSE, limb, flow, parent, rate);
    return;
  }
}

/* ---- tips to base: inertias and forces ---------------------------------------------------------------------- */

ORR_ROWS_INLINE struct orr_rows rows_sum(const struct orr_rows *x, const struct orr_rows *y) {
  return (struct orr_rows){x->bx + y->bx, x->by + y->by, x->bz + y->bz, x->cx + y->cx, x->cy + y->cy,
                           x->cz + y->cz, x->d + y->d,   x->o + y->o,   x->w + y->w,   x->v + y->v};
}

struct rows_wrench {
  orr_lanes w, v;
};

/* ω × I ω; ω × (ω × s) */
ORR_ROWS_INLINE struct rows_wrench rows_bias(const struct orr_lean_body *body, const struct orr_flow *flow) {
  orr_lanes w = lanes_load(&flow->omega.x), yzx = rows_yzx(w), zxy = rows_zxy(w);
  orr_lanes h_zxy = lanes_madd(body->xz_xy_yz, w, lanes_madd(body->p.o, yzx, body->p.d * zxy));
  orr_lanes s = rows_difference(yzx, body->s_zxy, zxy, body->s_yzx);
  return (struct rows_wrench){rows_difference(yzx, h_zxy, zxy, rows_zxy(h_zxy)), rows_cross(yzx, zxy, s)};
}

/* The same less the external force, onto p. */
ORR_ROWS_INLINE void rows_load(const struct orr_lean_body *body, const struct orr_flow *flow,
                               const orr_spatial *external, struct orr_rows *p) {
  struct rows_wrench bias = rows_bias(body, flow);
  p->w += bias.w - lanes_load_three((const double *)external);
  p->v += bias.v - lanes_load_three((const double *)external + 3);
}

static inline orr_vec3 rows_vec3(orr_lanes a) { return v3(a[0], a[1], a[2]); }

static inline orr_inertia rows_inertia(const struct orr_rows *p) {
  orr_inertia out = {{p->d[1], p->d[2], p->d[0], p->o[2], p->o[1], p->o[0]},
                     {{{0}}},
                     {p->cx[0], p->cy[1], p->cz[2], p->cx[1], p->cx[2], p->cy[2]}};
  for (int j = 0; j < 3; j++) {
    out.b.m[0][j] = p->bx[j];
    out.b.m[1][j] = p->by[j];
    out.b.m[2][j] = p->bz[j];
  }
  return out;
}

static inline orr_spatial rows_force(const struct orr_rows *p) {
  return (orr_spatial){rows_vec3(p->w), rows_vec3(p->v)};
}

/* Where the old origin is from the new one. */
struct rows_arm {
  orr_lanes x, y, z, yzx, zxy, half, half_yzx;
};

ORR_ROWS_INLINE struct rows_arm rows_arm(const struct orr_limb *limb) {
  return (struct rows_arm){lanes_all(limb->l0.x), lanes_all(limb->l0.y), lanes_all(limb->l0.z), limb->lean.l_yzx,
                           limb->lean.l_zxy,      limb->lean.half,       limb->lean.half_yzx};
}
ORR_ROWS_INLINE struct rows_arm rows_arm_bent(orr_lanes l) {
  orr_lanes half = 0.5 * l;
  return (struct rows_arm){lanes_all(l[0]), lanes_all(l[1]), lanes_all(l[2]), rows_yzx(l), rows_zxy(l), half,
                           rows_yzx(half)};
}

/* What `p` is about an origin from which the old one is at l: φ P φ*, φ z. With S = B + B'' of in_shift,
 * A'' = A + Y + Yᵀ, where row i of Y is ½ l × row i of S; Y is made by its columns z, x, y. */
ORR_ROWS_INLINE struct orr_rows rows_shift(struct rows_arm l, struct orr_rows p) {
  orr_lanes x = l.x, y = l.y, z = l.z, half = l.half, half_yzx = l.half_yzx;
  orr_lanes bx = lanes_madd(y, p.cz, lanes_less(z, p.cy, p.bx)), sx = p.bx + bx;
  orr_lanes by = lanes_madd(z, p.cx, lanes_less(x, p.cz, p.by)), sy = p.by + by;
  orr_lanes bz = lanes_madd(x, p.cy, lanes_less(y, p.cx, p.bz)), sz = p.bz + bz;
  orr_lanes tx = rows_difference(rows_yzx(sx), half, sx, half_yzx);
  orr_lanes ty = rows_difference(rows_yzx(sy), half, sy, half_yzx);
  orr_lanes tz = rows_difference(rows_yzx(sz), half, sz, half_yzx);
  /* lane by lane: diagonal [zz xx yy], then [yz zx xy], then [xz yx zy] */
  orr_lanes diagonal = __builtin_shufflevector(__builtin_shufflevector(tz, tx, 0, 5, 2, 3), ty, 0, 1, 6, 3);
  orr_lanes above = __builtin_shufflevector(__builtin_shufflevector(ty, tz, 0, 5, 2, 3), tx, 0, 1, 6, 3);
  orr_lanes below = __builtin_shufflevector(__builtin_shufflevector(tx, ty, 0, 5, 2, 3), tz, 0, 1, 6, 3);
  p.d += diagonal + diagonal;
  p.o += above + rows_zxy(below);
  p.bx = bx;
  p.by = by;
  p.bz = bz;
  p.w += rows_difference(l.yzx, rows_zxy(p.v), l.zxy, rows_yzx(p.v));
  return p;
}

/* a of [a b; bᵀ c], of which only x and y are there, from the axes at q = 0 to the parent's. */
ORR_ROWS_INLINE void rows_turn_corner(enum orr_turn_kind turn, const struct orr_limb *limb, orr_lanes x, orr_lanes y,
                                      struct orr_rows *p) {
  const orr_lanes none = {0};
  if (turn == ORR_TURN_NONE) { /* d = [0 xx yy], o = [0 0 xy] */
    p->d = __builtin_shufflevector(__builtin_shufflevector(x, y, 0, 0, 5, 5), none, 4, 0, 2, 7);
    p->o = __builtin_shufflevector(x, none, 4, 5, 1, 7);
  } else if (turn == ORR_TURN_XYZ_TO_YZX) { /* [yy 0 xx], [xy 0 0] */
    p->d = __builtin_shufflevector(__builtin_shufflevector(y, x, 1, 1, 4, 4), none, 0, 5, 2, 7);
    p->o = __builtin_shufflevector(x, none, 1, 5, 6, 7);
  } else if (turn == ORR_TURN_XYZ_TO_ZXY) { /* [xx yy 0], [0 xy 0] */
    p->d = __builtin_shufflevector(__builtin_shufflevector(x, y, 0, 5, 2, 3), none, 0, 1, 6, 7);
    p->o = __builtin_shufflevector(x, none, 4, 1, 6, 7);
  } else {
    struct rows_block a = rows_turn(turn, limb, x, y, none, true);
    p->d = __builtin_shufflevector(__builtin_shufflevector(a.z, a.x, 2, 4, 0, 3), a.y, 0, 1, 5, 3);
    p->o = __builtin_shufflevector(__builtin_shufflevector(a.y, a.x, 2, 6, 5, 3), none, 0, 1, 2, 7);
  }
}

/* What the acceleration over the hinge takes from the parent's: P_z/D about the parent's origin in its axes, so that it
 * need not wait for the turn into the limb's own; and ν − P_z a/D. */
ORR_ROWS_INLINE void rows_gains(enum orr_turn_kind turn, const struct orr_limb *limb, struct orr_flow *flow,
                                orr_lanes w, orr_lanes v) {
  orr_lanes cosine = flow->lean.cosine, sine = flow->lean.sine;
  orr_lanes bias = lanes_madd(v, lanes_load(&flow->push.x), w * lanes_load(&flow->turn.x));
  v = rows_out(turn, limb, rows_spin(cosine, sine, v));
  w = rows_out(turn, limb, rows_spin(cosine, sine, w));
  w += rows_difference(limb->lean.l_yzx, rows_zxy(v), limb->lean.l_zxy, rows_yzx(v));
  flow->lean.gain_w = w;
  flow->lean.gain_v = v;
  flow->nu -= lanes_sum(bias);
}

/* P+ and z+ in the limb's own axes: P+ has neither row nor column for the turn about z. */
struct rows_projected {
  orr_lanes ax, ay, bx, by, cx, cy, cz, zw, zv;
};

/* `part` is P_z/D, angular; `scaled` the same, linear. */
ORR_ROWS_INLINE struct rows_projected rows_project(const struct orr_flow *flow, const struct orr_rows *p,
                                                   orr_lanes part, orr_lanes scaled, orr_lanes nu, double tau) {
  const orr_lanes none = {0};
  orr_lanes u = p->bz, gain = __builtin_shufflevector(p->o, none, 1, 0, 6, 7);
  orr_lanes ux = lanes_all(part[0]), uy = lanes_all(part[1]);
  /* P − P H* D⁻¹ H P */
  orr_lanes ax = __builtin_shufflevector(__builtin_shufflevector(p->d, p->o, 1, 6, 3, 3), none, 0, 1, 6, 7);
  orr_lanes ay = __builtin_shufflevector(__builtin_shufflevector(p->o, p->d, 2, 6, 3, 3), none, 0, 1, 6, 7);
  ax = lanes_less(ux, gain, ax);
  ay = lanes_less(uy, gain, ay);
  orr_lanes bx = lanes_less(ux, u, p->bx), by = lanes_less(uy, u, p->by);
  orr_lanes cx = lanes_less(lanes_all(scaled[0]), u, p->cx), cy = lanes_less(lanes_all(scaled[1]), u, p->cy);
  orr_lanes cz = lanes_less(lanes_all(scaled[2]), u, p->cz);
  /* z + P_z ν + P+ a */
  orr_lanes v = lanes_load(&flow->push.x), mx = bx * v, my = by * v, wx = lanes_all(flow->turn.x);
  orr_lanes wy = lanes_all(flow->turn.y);
  orr_lanes sums = __builtin_shufflevector(mx, my, 0, 4, 2, 6) + __builtin_shufflevector(mx, my, 1, 5, 3, 7);
  sums += __builtin_shufflevector(sums, none, 2, 3, 6, 7);
  orr_lanes zw = lanes_madd(ay, wy, lanes_madd(ax, wx, lanes_madd(gain, nu, p->w))) + sums;
  zw = __builtin_shufflevector(zw, lanes_all(tau), 0, 1, 6, 7);
  orr_lanes zv = lanes_madd(by, wy, lanes_madd(bx, wx, lanes_madd(u, nu, p->v)));
  zv = lanes_madd(cx, lanes_all(flow->push.x), zv);
  zv = lanes_madd(cy, lanes_all(flow->push.y), zv);
  zv = lanes_madd(cz, lanes_all(flow->push.z), zv);
  return (struct rows_projected){ax, ay, bx, by, cx, cy, cz, zw, zv};
}

/* P+ and z+ in the parent's axes about the parent's origin, in place of P and z. */
ORR_ROWS_INLINE struct orr_rows rows_hand_over(enum orr_turn_kind turn, const struct orr_limb *limb,
                                               struct orr_flow *flow, struct orr_rows p, double tau) {
  const orr_lanes none = {0};
  orr_lanes inverse = lanes_all(flow->inverse), scaled = p.bz * inverse;
  orr_lanes part = __builtin_shufflevector(p.o, none, 1, 0, 6, 7) * inverse, nu = lanes_all(flow->nu);
  rows_gains(turn, limb, flow, part, scaled);
  struct rows_projected plus = rows_project(flow, &p, part, scaled, nu, tau);
  orr_lanes ax = plus.ax, ay = plus.ay, bx = plus.bx, by = plus.by, cx = plus.cx, cy = plus.cy, cz = plus.cz;
  /* to the axes at q = 0: rows, then columns */
  orr_lanes cosine = flow->lean.cosine, sine = flow->lean.sine, c = lanes_all(flow->cos_q), s = lanes_all(flow->sin_q);
  orr_lanes a0 = rows_spin(cosine, sine, lanes_less(s, ay, c * ax));
  orr_lanes a1 = rows_spin(cosine, sine, lanes_madd(s, ax, c * ay));
  orr_lanes b0 = rows_spin(cosine, sine, lanes_less(s, by, c * bx));
  orr_lanes b1 = rows_spin(cosine, sine, lanes_madd(s, bx, c * by));
  orr_lanes c0 = rows_spin(cosine, sine, lanes_less(s, cy, c * cx));
  orr_lanes c1 = rows_spin(cosine, sine, lanes_madd(s, cx, c * cy));
  /* c stays symmetric to the last bit */
  c1 = __builtin_shufflevector(c1, rows_yx(c0), 4, 1, 2, 3);
  orr_lanes c2 = __builtin_shufflevector(__builtin_shufflevector(c0, c1, 0, 4, 2, 6), cz, 2, 3, 6, 7);
  struct rows_block b = rows_turn(turn, limb, b0, b1, none, true), cc = rows_turn(turn, limb, c0, c1, c2, false);
  p.bx = b.x, p.by = b.y, p.bz = b.z;
  p.cx = cc.x, p.cy = cc.y, p.cz = cc.z;
  rows_turn_corner(turn, limb, a0, a1, &p);
  p.w = rows_out(turn, limb, rows_spin(cosine, sine, plus.zw));
  p.v = rows_out(turn, limb, rows_spin(cosine, sine, plus.zv));
  return rows_shift(rows_arm(limb), p);
}

/* A symmetric 3 x 3 given by its rows as d = [zz xx yy], o = [yz xz xy]; what is below the diagonal is not read. */
ORR_ROWS_INLINE orr_lanes rows_diagonal(struct rows_block a) {
  return __builtin_shufflevector(__builtin_shufflevector(a.z, a.x, 2, 4, 0, 3), a.y, 0, 1, 5, 3);
}
ORR_ROWS_INLINE orr_lanes rows_beside(struct rows_block a) {
  return __builtin_shufflevector(__builtin_shufflevector(a.y, a.x, 2, 6, 5, 3), (orr_lanes){0}, 0, 1, 2, 7);
}

/* As rows_hand_over, over a hinge whose place bends. */
ORR_ROWS_INLINE struct orr_rows rows_hand_over_bent(const struct orr_bent *bent, struct orr_flow *flow,
                                                    struct orr_rows p, double tau) {
  const orr_lanes none = {0}, *in = bent->in, *out = bent->out;
  orr_lanes inverse = lanes_all(flow->inverse), scaled = p.bz * inverse;
  orr_lanes part = __builtin_shufflevector(p.o, none, 1, 0, 6, 7) * inverse;
  struct rows_arm l = rows_arm_bent(bent->l);
  orr_lanes bias = lanes_madd(scaled, lanes_load(&flow->push.x), part * lanes_load(&flow->turn.x));
  struct rows_projected plus = rows_project(flow, &p, part, scaled, lanes_all(flow->nu), tau);
  orr_lanes gain_v = rows_of(out, scaled);
  flow->lean.gain_v = gain_v;
  flow->lean.gain_w = rows_of(out, part) + rows_difference(l.yzx, rows_zxy(gain_v), l.zxy, rows_yzx(gain_v));
  flow->nu -= lanes_sum(bias);
  /* columns, then rows */
  orr_lanes ax = lanes_madd(lanes_all(plus.ax[1]), out[1], lanes_all(plus.ax[0]) * out[0]);
  orr_lanes ay = lanes_madd(lanes_all(plus.ay[1]), out[1], lanes_all(plus.ay[0]) * out[0]);
  orr_lanes bx = rows_of(out, plus.bx), by = rows_of(out, plus.by);
  orr_lanes cx = rows_of(out, plus.cx), cy = rows_of(out, plus.cy), cz = rows_of(out, plus.cz), a[3], b[3], c[3];
  for (int i = 0; i < 3; i++) {
    orr_lanes x = lanes_all(in[i][0]), y = lanes_all(in[i][1]);
    a[i] = lanes_madd(y, ay, x * ax);
    b[i] = lanes_madd(y, by, x * bx);
    c[i] = lanes_madd(lanes_all(in[i][2]), cz, lanes_madd(y, cy, x * cx));
  }
  p.d = rows_diagonal((struct rows_block){a[0], a[1], a[2]});
  p.o = rows_beside((struct rows_block){a[0], a[1], a[2]});
  p.bx = b[0], p.by = b[1], p.bz = b[2];
  /* c stays symmetric to the last bit */
  p.cx = c[0];
  p.cy = __builtin_shufflevector(c[1], rows_yx(c[0]), 4, 1, 2, 3);
  p.cz = __builtin_shufflevector(__builtin_shufflevector(c[0], c[1], 2, 6, 2, 6), c[2], 0, 1, 6, 7);
  p.w = rows_of(out, plus.zw);
  p.v = rows_of(out, plus.zv);
  return rows_shift(l, p);
}

ORR_ROWS_INLINE void rows_inward_turned(enum orr_turn_kind turn, const struct orr_limb *limb, struct orr_flow *flow,
                                        struct orr_rows p, struct orr_rows *added, bool first, double tau) {
  if (!added) {
    orr_lanes inverse = lanes_all(flow->inverse);
    rows_gains(turn, limb, flow, __builtin_shufflevector(p.o, p.o, 1, 0, 3, 3) * inverse, p.bz * inverse);
    return;
  }
  p = rows_hand_over(turn, limb, flow, p, tau);
  *added = first ? p : rows_sum(&p, added);
}

/* ν = (τ − H z)/D of a limb with P and z; false where D is not a positive finite number. */
ORR_ROWS_INLINE bool rows_hinge(struct orr_flow *flow, const struct orr_rows *p, double tau) {
  double d = p->d[0], inverse = 1 / d, nu = (tau - p->w[2]) * inverse;
  flow->inverse = inverse;
  flow->nu = nu;
  flow->lean.w = p->w;
  flow->lean.v = p->v;
  /* the floor of orr_pivot_status; NaN and infinity fail both */
  return d > 1e-14 * (p->d[1] + p->d[2]) && fabs(nu) <= 1.7976931348623157e308 && d <= 1.7976931348623157e308;
}

/* P and z of a limb without modes, with what its children have added. */
ORR_ROWS_INLINE struct orr_rows rows_body(const struct orr_flow *flow, const struct orr_lean_body *body,
                                          const orr_spatial *external) {
  struct orr_rows p = rows_sum(&body->p, &flow->lean.added);
  rows_load(body, flow, external, &p);
  return p;
}

/* As revolute_inward, of a limb with P and z that is lean: `added` is what the children of the parent have added so
 * far, or NULL for a root; the first of them to come puts, and the others add. */
ORR_ROWS_INLINE bool rows_inward(const struct orr_limb *limb, struct orr_flow *flow, struct orr_rows p,
                                 struct orr_rows *added, bool first, double tau) {
  if (!rows_hinge(flow, &p, tau))
    return false;
  if (!added && !(fabs(flow->sin_q) <= 2)) /* the angle of a root enters nothing before its acceleration */
    return false;
  switch (limb->turn) {
  case ORR_TURN_NONE:
    rows_inward_turned(ORR_TURN_NONE, limb, flow, p, added, first, tau);
    return true;
  case ORR_TURN_XYZ_TO_YZX:
    rows_inward_turned(ORR_TURN_XYZ_TO_YZX, limb, flow, p, added, first, tau);
    return true;
  case ORR_TURN_XYZ_TO_ZXY:
    rows_inward_turned(ORR_TURN_XYZ_TO_ZXY, limb, flow, p, added, first, tau);
    return true;
  case ORR_TURN_DENSE:
    break;
  }
  rows_inward_turned(ORR_TURN_DENSE, limb, flow, p, added, first, tau);
  return true;
}

/* The same over a hinge whose place bends. */
ORR_ROWS_INLINE bool rows_inward_bent(const struct orr_bent *bent, struct orr_flow *flow, struct orr_rows p,
                                      struct orr_rows *added, bool first, double tau) {
  if (!rows_hinge(flow, &p, tau))
    return false;
  struct orr_rows handed = rows_hand_over_bent(bent, flow, p, tau);
  *added = first ? handed : rows_sum(&handed, added);
  return true;
}

/* ---- base to tips: accelerations ---------------------------------------------------------------------------- */

ORR_ROWS_INLINE double rows_accelerate_turned(enum orr_turn_kind turn, const struct orr_limb *limb,
                                              struct orr_flow *flow, orr_lanes on_w, orr_lanes on_v) {
  orr_lanes cosine = flow->lean.cosine, sine = flow->lean.sine;
  /* ω̇_z, the hinge's own included */
  double total = flow->nu - lanes_sum(lanes_madd(flow->lean.gain_v, on_v, flow->lean.gain_w * on_w));
  on_v += rows_difference(rows_yzx(on_w), limb->lean.l_zxy, rows_zxy(on_w), limb->lean.l_yzx);
  orr_lanes w = rows_unspin(cosine, sine, rows_in(turn, limb, on_w)) + lanes_load(&flow->turn.x);
  orr_lanes v = rows_unspin(cosine, sine, rows_in(turn, limb, on_v)) + lanes_load(&flow->push.x);
  double beta = total - w[2];
  w = __builtin_shufflevector(w, lanes_all(total), 0, 1, 6, 3);
  flow->lean.alpha_w = w;
  flow->lean.alpha_v = v;
  flow->alpha = (orr_spatial){v3(w[0], w[1], w[2]), v3(v[0], v[1], v[2])};
  return beta;
}

/* As revolute_accelerate, over a hinge whose place bends: `on` is of the place. */
static inline double rows_accelerate_bent(const struct orr_bent *bent, struct orr_flow *flow, orr_lanes on_w,
                                          orr_lanes on_v) {
  double total = flow->nu - lanes_sum(lanes_madd(flow->lean.gain_v, on_v, flow->lean.gain_w * on_w));
  on_v += rows_difference(rows_yzx(on_w), rows_zxy(bent->l), rows_zxy(on_w), rows_yzx(bent->l));
  orr_lanes w = rows_of(bent->in, on_w) + lanes_load(&flow->turn.x);
  orr_lanes v = rows_of(bent->in, on_v) + lanes_load(&flow->push.x);
  double beta = total - w[2];
  w = __builtin_shufflevector(w, lanes_all(total), 0, 1, 6, 3);
  flow->lean.alpha_w = w;
  flow->lean.alpha_v = v;
  flow->alpha = (orr_spatial){v3(w[0], w[1], w[2]), v3(v[0], v[1], v[2])};
  return beta;
}

/* As revolute_accelerate, without a site. */
static inline double rows_accelerate(const struct orr_limb *limb, struct orr_flow *flow, orr_lanes on_w,
                                     orr_lanes on_v) {
  switch (limb->turn) {
  case ORR_TURN_NONE:
    return rows_accelerate_turned(ORR_TURN_NONE, limb, flow, on_w, on_v);
  case ORR_TURN_XYZ_TO_YZX:
    return rows_accelerate_turned(ORR_TURN_XYZ_TO_YZX, limb, flow, on_w, on_v);
  case ORR_TURN_XYZ_TO_ZXY:
    return rows_accelerate_turned(ORR_TURN_XYZ_TO_ZXY, limb, flow, on_w, on_v);
  case ORR_TURN_DENSE:
    break;
  }
  return rows_accelerate_turned(ORR_TURN_DENSE, limb, flow, on_w, on_v);
}

#endif
