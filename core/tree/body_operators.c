#include "core/tree/body_operators.h"

#include "core/tree/kinematics.h"

/* Between the solver axes S of a limb and its body frame F: v_F = c v_S, and the origin of S is at `at` in F. */
static orr_spatial motion_to_body(const struct orr_limb *limb, orr_spatial x) {
  return sp_motion_shift(v3_neg(limb->at), sp_rotate(limb->c, x));
}
static orr_spatial motion_from_body(const struct orr_limb *limb, orr_spatial x) {
  return sp_rotate_t(limb->c, sp_motion_shift(limb->at, x));
}
static orr_spatial force_to_body(const struct orr_limb *limb, orr_spatial f) {
  return sp_force_shift(limb->at, sp_rotate(limb->c, f));
}

/* Column r of a [6][ld] array. */
static orr_spatial column(const double *rows, int ld, int r) {
  double six[6];
  for (int c = 0; c < 6; c++)
    six[c] = rows[c * ld + r];
  return sp_from(six);
}

static orr_spatial unit(int i) {
  double six[6] = {0};
  six[i] = 1;
  return sp_from(six);
}

int orr_body_parent(const struct orr_model *model, int body) {
  int parent = model->limbs[model->limb_of_body[body]].parent;
  return parent < 0 ? -1 : model->limbs[parent].body;
}

/* H = [1, −Π_d'ᵀ; 0, H_F] */
void orr_operator_joint_map(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out) {
  int k = model->limb_of_body[body];
  const struct orr_limb *limb = &model->limbs[k];
  int n = limb->mode_count, width = n + 6;
  memset(out, 0, sizeof(double) * (size_t)((n + limb->dof) * width));
  for (int r = 0; r < n; r++) {
    double *row = out + r * width;
    row[r] = 1;
    if (limb->site_own >= 0)
      sp_to(row + n, motion_to_body(limb, sp_sub(sp_zero(), column(ws->sites[limb->site_own].pi,
                                                                   ws->flexes[limb->flex].modal.ld, r))));
  }
  for (int i = 0; i < limb->dof; i++)
    sp_to(out + (n + i) * width + n, motion_to_body(limb, ws->limbs[k].h[i]));
}

/* Φ = [0, Π_t'ᵀ φ; 0, φ] with φ = φ(p, k): each row is the motion of body k under a unit motion of body p. */
void orr_operator_transform(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out) {
  int k = model->limb_of_body[body];
  const struct orr_limb *limb = &model->limbs[k], *parent = &model->limbs[limb->parent];
  const struct orr_limb_state *state = &ws->limbs[k];
  int n = parent->mode_count, width = limb->mode_count + 6;
  memset(out, 0, sizeof(double) * (size_t)((n + 6) * width));
  for (int i = 0; i < n + 6; i++) {
    orr_spatial on = sp_zero();
    if (i >= n)
      on = motion_from_body(parent, unit(i - n));
    else if (limb->site_parent >= 0)
      on = column(ws->sites[limb->site_parent].pi, ws->flexes[parent->flex].modal.ld, i);
    on = sp_rotate_t(state->r, sp_motion_shift(state->l, on));
    sp_to(out + i * width + limb->mode_count, motion_to_body(limb, on));
  }
}

/* M_m −= J a aᵀ with a = [Π_sᵀ u; u; 0] of a rotor's node: a free rotor does not follow its body about its axis u. */
static void free_rotor(const struct orr_limb *limb, const struct orr_workspace *ws, const struct orr_rotor *rotor,
                       double *out) {
  const struct orr_site_state *site = rotor->site >= 0 ? &ws->sites[rotor->site] : NULL;
  int n = limb->mode_count, width = n + 6;
  orr_spatial u = {site ? m3_apply(site->r, rotor->axis) : rotor->axis, v3_zero()};
  for (int i = 0; i < width; i++)
    for (int j = 0; j < width; j++) {
      double a[2];
      for (int side = 0; side < 2; side++) {
        int at = side ? j : i;
        orr_spatial motion = sp_zero();
        if (at >= n)
          motion = motion_from_body(limb, unit(at - n));
        else if (site)
          motion = column(site->pi, ws->flexes[limb->flex].modal.ld, at);
        a[side] = sp_dot(u, motion);
      }
      out[i * width + j] -= rotor->inertia * a[0] * a[1];
    }
}

void orr_operator_mass(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out) {
  int k = model->limb_of_body[body];
  const struct orr_limb *limb = &model->limbs[k];
  const struct orr_flex_state *flex = limb->flex >= 0 ? &ws->flexes[limb->flex] : NULL;
  const struct orr_rigid *rigid = &ws->rigids[k];
  int n = limb->mode_count, width = n + 6;
  orr_inertia own =
      flex ? in_rigid(flex->modal.mass, flex->mass.s, flex->mass.inertia) : in_rigid(rigid->mass, rigid->s, rigid->i);
  for (int s = 0; s < n; s++) {
    int ld = flex->modal.ld;
    const double *l = flex->mass.l, *s1 = flex->mass.s1;
    orr_spatial f = {v3(l[s], l[ld + s], l[2 * ld + s]), v3(s1[s], s1[ld + s], s1[2 * ld + s])};
    double pull[6];
    sp_to(pull, force_to_body(limb, f));
    for (int r = 0; r < n; r++)
      out[s * width + r] = flex->modal.mff[s <= r ? s * ld + r : r * ld + s];
    for (int i = 0; i < 6; i++)
      out[s * width + n + i] = out[(n + i) * width + s] = pull[i];
  }
  for (int j = 0; j < 6; j++) {
    double f[6];
    sp_to(f, force_to_body(limb, in_apply(own, motion_from_body(limb, unit(j)))));
    for (int i = 0; i <= j; i++)
      out[(n + i) * width + n + j] = out[(n + j) * width + n + i] = f[i];
  }
  for (int i = 0; i < model->rotor_count; i++)
    if (model->rotors[i].limb == k)
      free_rotor(limb, ws, &model->rotors[i], out);
}
