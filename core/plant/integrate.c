#include "core/plant/integrate.h"

#include <float.h>

#include "core/loops/closed.h"
#include "core/math/elementary.h"
#include "core/plant/motions.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"

const char *const orr_integrator_names[ORR_INTEGRATOR_COUNT + 1] = {"rk4", "heun", "semi_implicit", "implicit_modal",
                                                                    NULL};
const int orr_integrator_evaluations[ORR_INTEGRATOR_COUNT] = {4, 2, 1, 2};

static struct orr_integration layout(struct orr_block *block, const struct orr_model *m,
                                     struct orr_integration **self) {
  struct orr_integration i = {.model = m};
  *self = ORR_TAKE(block, struct orr_integration, 1);
  i.q = ORR_TAKE(block, double, m->q_count);
  i.u = ORR_TAKE(block, double, m->u_count);
  i.spin = ORR_TAKE(block, double, m->rotor_count);
  i.force = ORR_TAKE(block, double, m->u_count);
  i.given = ORR_TAKE(block, double, m->u_count);
  i.q1 = ORR_TAKE(block, double, m->q_count);
  i.u1 = ORR_TAKE(block, double, m->u_count);
  i.spin1 = ORR_TAKE(block, double, m->rotor_count);
  i.sigma = ORR_TAKE(block, double, m->u_count);
  i.start = ORR_TAKE(block, double, m->u_count);
  i.seen.words = 2 * (size_t)m->u_count + 2 * (size_t)m->rotor_count + 6 * (size_t)m->body_count;
  for (int f = 0; f < m->flex_count; f++)
    i.seen.words += (size_t)m->modals[f].ld;
  i.seen.loads = ORR_TAKE(block, double, i.seen.words);
  i.seen.prescribed = ORR_TAKE(block, bool, m->body_count);
  i.free = ORR_TAKE(block, int, m->body_count);
  i.gimbals = ORR_TAKE(block, int, m->body_count);
  for (int s = 0; s < 4; s++) {
    i.kq[s] = ORR_TAKE(block, double, m->u_count);
    i.ku[s] = ORR_TAKE(block, double, m->u_count);
    i.ks[s] = ORR_TAKE(block, double, m->rotor_count);
  }
  return i;
}

size_t orr_integration_size(const struct orr_model *model) {
  struct orr_block block = {0};
  struct orr_integration *self;
  layout(&block, model, &self);
  return block.used;
}

struct orr_integration *orr_integration_init(void *block, size_t bytes, const struct orr_model *model,
                                             struct orr_workspace *ws, struct orr_drive *drive) {
  if (!block || bytes < orr_integration_size(model))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_integration *self, i = layout(&b, model, &self);
  *self = i;
  self->step = orr_integration_step;
  self->ws = ws;
  self->drive = drive;
  memcpy(self->q, ws->q, sizeof(double) * (size_t)model->q_count);
  for (int k = 0; k < model->body_count; k++) {
    if (model->limbs[k].kind == ORR_HINGE_FREE)
      self->free[self->free_count++] = k;
    if (model->limbs[k].kind == ORR_HINGE_GIMBAL)
      self->gimbals[self->gimbal_count++] = k;
  }
  return self;
}

/* ---- coordinates ------------------------------------------------------------------------------------------------ */

static void coordinates_add(const struct orr_model *model, const double *q, const double *t, double *out) {
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    int quaternion = orr_hinge_quaternion(limb->kind);
    int scalars = limb->mode_count + (quaternion < 0 ? limb->dof : 0);
    for (int i = 0; i < scalars; i++)
      out[limb->q + i] = q[limb->q + i] + t[limb->u + i];
    if (quaternion < 0)
      continue;
    const double *from = q + limb->hinge_q, *by = t + limb->hinge_u;
    double turn[4], *to = out + limb->hinge_q;
    quat_exp(v3_from(by), turn);
    quat_mul(from + quaternion, turn, to + quaternion);
    quat_normalise(to + quaternion);
    for (int i = 0; i < quaternion; i++) /* a free hinge's position */
      to[i] = from[i] + by[3 + i];
  }
}

/* The rate of `t` in q ⊕ t, at coordinates `now` = q ⊕ sigma and speeds u. */
static void coordinate_rates(const struct orr_model *m, const double *now, const double *sigma, const double *u,
                             double *rates) {
  memcpy(rates, u, sizeof(double) * (size_t)m->u_count);
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    int quaternion = orr_hinge_quaternion(limb->kind);
    if (quaternion < 0)
      continue;
    const double *beta = u + limb->hinge_u;
    double *rate = rates + limb->hinge_u;
    orr_vec3 w = v3_from(beta), s = v3_from(sigma + limb->hinge_u), sw = v3_cross(s, w);
    v3_to(rate, v3_madd(v3_madd(w, 0.5, sw), 1.0 / 12, v3_cross(s, sw)));
    if (quaternion > 0)
      v3_to(rate + 3, m3_apply(quat_matrix(now + limb->hinge_q + quaternion), v3_from(beta + 3)));
  }
}

/* ---- velocities of free hinges ----------------------------------------------------------------------------------- */

/* R of a free hinge at coordinates q. */
static orr_mat3 free_attitude(const struct orr_limb *limb, const double *q) {
  return quat_matrix(q + limb->hinge_q + 3);
}

/* u at the start of the step as the rules take it: y = R v of free hinges. */
static const double *start_speeds(struct orr_integration *i) {
  if (!i->free_count)
    return i->u;
  memcpy(i->start, i->u, sizeof(double) * (size_t)i->model->u_count);
  for (int f = 0; f < i->free_count; f++) {
    const struct orr_limb *limb = &i->model->limbs[i->free[f]];
    double *v = i->start + limb->hinge_u + 3;
    v3_to(v, m3_apply(free_attitude(limb, i->q), v3_from(v)));
  }
  return i->start;
}

/* v̇ in `accel` becomes ẏ = R (v̇ + ω × v), at coordinates q and speeds u. */
static void velocity_rates(const struct orr_integration *i, const double *q, const double *u, double *accel) {
  for (int f = 0; f < i->free_count; f++) {
    const struct orr_limb *limb = &i->model->limbs[i->free[f]];
    const double *now = u + limb->hinge_u;
    double *rate = accel + limb->hinge_u + 3;
    orr_vec3 carried = v3_cross(v3_from(now), v3_from(now + 3));
    v3_to(rate, m3_apply(free_attitude(limb, q), v3_add(v3_from(rate), carried)));
  }
}

/* y in u1 becomes v = Rᵀ y, at coordinates q1. */
static void velocities_back(struct orr_integration *i) {
  for (int f = 0; f < i->free_count; f++) {
    const struct orr_limb *limb = &i->model->limbs[i->free[f]];
    double *v = i->u1 + limb->hinge_u + 3;
    v3_to(v, m3_apply_t(free_attitude(limb, i->q1), v3_from(v)));
  }
}

/* ---- evaluations ------------------------------------------------------------------------------------------------ */

static void clear_loads(struct orr_integration *i) {
  const struct orr_model *m = i->model;
  memset(i->force, 0, sizeof(double) * (size_t)m->u_count);
  memset(i->given, 0, sizeof(double) * (size_t)m->u_count);
  memset(i->ws->rotor_torque, 0, sizeof(double) * (size_t)m->rotor_count);
  orr_force_clear(m, i->ws);
}

static void set_state(struct orr_integration *i, const double *q, const double *u, const double *spin) {
  orr_state_set(i->model, i->ws, q, u);
  memcpy(i->ws->rotor_speed, spin, sizeof(double) * (size_t)i->model->rotor_count);
}

/* Loads at the state set in the workspace. */
static void load(struct orr_integration *i, const struct orr_evaluation_point *point) {
  if (i->hook)
    i->hook->evaluation(i->hook, point);
  clear_loads(i);
  if (i->drive && i->drive->needs_places && !i->state_is_set)
    orr_poses_update(i->model, i->ws);
  if (i->drive)
    i->drive->apply(i->drive, i->ws, point, i->force, i->given);
  if (i->motions)
    orr_motions_give(i->motions, point, i->given);
}

/* Forward dynamics of what is set and loaded. */
static enum orr_status forward(struct orr_integration *i, double *accel) {
  return i->closed ? orr_closed_forward(i->closed, i->ws, i->force, i->given, accel)
                   : orr_forward(i->model, i->ws, i->force, i->given, accel);
}

/* Driven coordinates and speeds of a stage, and the dependent ones, which follow the others; those at the start of a
 * step do already. */
static enum orr_status close_stage(struct orr_integration *i, const struct orr_evaluation_point *point) {
  if (i->motions)
    orr_motions_put(i->motions, point, i->q1, i->u1);
  return i->closed ? orr_closed_close(i->closed, i->ws, i->q1, i->u1) : ORR_OK;
}

/* ---- what the sensors saw ---------------------------------------------------------------------------------------- */

/* All that acts at the state set, and the rotors' accelerations, one after the other: copied to `out`, or compared with
 * it. False where something differs. */
static bool loads_copy(const struct orr_integration *i, double *out, bool compare) {
  const struct orr_model *m = i->model;
  const struct orr_workspace *ws = i->ws;
  size_t u = (size_t)m->u_count, rotors = (size_t)m->rotor_count;
  const double *const from[] = {i->force, i->given, ws->rotor_torque, ws->rotor_accel, &ws->external->w.x};
  const size_t counts[] = {u, u, rotors, rotors, 6 * (size_t)m->body_count};
  bool same = true;
  for (int k = 0; k < (int)(sizeof counts / sizeof *counts) + m->flex_count && same; k++) {
    const int flex = k - (int)(sizeof counts / sizeof *counts);
    const double *piece = flex < 0 ? from[k] : ws->external_modal[flex];
    size_t count = flex < 0 ? counts[k] : (size_t)m->modals[flex].ld;
    if (compare)
      same = memcmp(out, piece, sizeof *out * count) == 0;
    else
      memcpy(out, piece, sizeof *out * count);
    out += count;
  }
  return same;
}

/* The sensors' evaluation at the end of a frame is the first of the next one where the same acts: neither commands nor
 * faults nor the moment of the step make a difference then. Its accelerations stand in ku[0]. */
static void keep_seen(struct orr_integration *i) {
  i->seen.valid = !i->closed;
  i->seen.changes = i->ws->changes;
  loads_copy(i, i->seen.loads, false);
  memcpy(i->seen.prescribed, i->ws->prescribed, sizeof(bool) * (size_t)i->model->body_count);
}

static bool was_seen(struct orr_integration *i, int slot) {
  return i->seen.valid && slot == 0 && i->seen.changes == i->ws->changes && loads_copy(i, i->seen.loads, true) &&
         memcmp(i->seen.prescribed, i->ws->prescribed, sizeof(bool) * (size_t)i->model->body_count) == 0;
}

/* The derivative at the stage's state into kq, ku, ks of `slot`. */
static enum orr_status evaluate(struct orr_integration *i, const struct orr_evaluation_point *point, const double *q,
                                const double *u, const double *spin, int slot) {
  if (!i->state_is_set)
    set_state(i, q, u, spin);
  load(i, point);
  i->state_is_set = false;
  coordinate_rates(i->model, q, i->sigma, u, i->kq[slot]);
  enum orr_status status = was_seen(i, slot) ? ORR_OK : forward(i, i->ku[slot]);
  i->seen.valid = false;
  velocity_rates(i, q, u, i->ku[slot]);
  memcpy(i->ks[slot], i->ws->rotor_accel, sizeof(double) * (size_t)i->model->rotor_count);
  return status;
}

/* The stage's state: what the start and `h` times the slopes of `slot` make. */
static void move_stage(struct orr_integration *i, double h, int slot) {
  const struct orr_model *m = i->model;
  const double *from = start_speeds(i);
  for (int k = 0; k < m->u_count; k++) {
    i->sigma[k] = h * i->kq[slot][k];
    i->u1[k] = from[k] + h * i->ku[slot][k];
  }
  for (int k = 0; k < m->rotor_count; k++)
    i->spin1[k] = i->spin[k] + h * i->ks[slot][k];
  coordinates_add(m, i->q, i->sigma, i->q1);
  velocities_back(i);
}

/* Loops closed at the end of a step. An implicit step projects in the measure of M + sD + s²K, in which a stiff mode
 * hardly gives way: in that of M it would be bent by what the step misses, and its own force would throw it back. */
static enum orr_status project(struct orr_integration *i) {
  i->ws->implicit_s = i->rule == ORR_IMPLICIT_MODAL ? i->implicit_s : 0;
  enum orr_status status = orr_closed_project(i->closed, i->ws, i->q1, i->u1);
  i->ws->implicit_s = 0;
  return status;
}

/* ---- gimbals ----------------------------------------------------------------------------------------------------- */

/* Where the first and the third axis of a gimbal come to lie within δ of each other, its outer angles turn as fast as
 * the body does across them over sin δ, and back: two large turns that nearly cancel. A rule of order p misses of them
 * some (h β)^(p+1). So near there (sin δ below a third) a step may turn an outer angle by so many radians at most; what
 * the energy then loses tests/unit/core/plant/integrate_gimbal.c measures. */
static const double gimbal_turn[ORR_INTEGRATOR_COUNT] = {0.3, 0.1, 0.01, 0.1};

/* False where the step at hand, which ends at q1 and u1, passes a gimbal's singular place too fast; it tells the
 * body. */
static bool gimbals_turn_freely(const struct orr_integration *i) {
  double h = 1e-9 * (double)i->end.step_ns;
  for (int g = 0; g < i->gimbal_count; g++) {
    const struct orr_limb *limb = &i->model->limbs[i->gimbals[g]];
    const double *rate = i->u1 + limb->hinge_u;
    struct orr_joint joint;
    if (h * orr_max(fabs(rate[0]), fabs(rate[2])) <= gimbal_turn[i->rule] || i->ws->prescribed[i->gimbals[g]])
      continue;
    orr_joint_pose(limb->kind, limb->axes, i->q1 + limb->hinge_q, &joint);
    if (v3_norm(v3_cross(joint.h[0].w, joint.h[2].w)) >= 1.0 / 3)
      continue;
    i->ws->failed_body = limb->body;
    return false;
  }
  return true;
}

/* The end of the step from its increments in sigma, u1, spin1; refused when it is not finite. */
static enum orr_status finish(struct orr_integration *i) {
  const struct orr_model *m = i->model;
  double sum = 0;
  for (int k = 0; k < m->u_count; k++)
    sum += fabs(i->u1[k]) + fabs(i->sigma[k]);
  for (int k = 0; k < m->rotor_count; k++)
    sum += fabs(i->spin1[k]);
  if (!(sum <= DBL_MAX)) {
    i->ws->failed_body = -1;
    for (int b = m->body_count - 1; b >= 0; b--) {
      const struct orr_limb *limb = &m->limbs[b];
      for (int k = limb->u; k < limb->hinge_u + limb->dof; k++)
        if (!(fabs(i->u1[k]) + fabs(i->sigma[k]) <= DBL_MAX))
          i->ws->failed_body = limb->body;
    }
    return ORR_ERROR_NOT_FINITE;
  }
  coordinates_add(m, i->q, i->sigma, i->q1);
  velocities_back(i);
  if (!gimbals_turn_freely(i))
    return ORR_ERROR_GIMBAL;
  if (i->motions)
    orr_motions_put(i->motions, &i->end, i->q1, i->u1);
  enum orr_status status = i->closed ? project(i) : ORR_OK;
  if (status != ORR_OK)
    return status;
  memcpy(i->q, i->q1, sizeof(double) * (size_t)m->q_count);
  memcpy(i->u, i->u1, sizeof(double) * (size_t)m->u_count);
  memcpy(i->spin, i->spin1, sizeof(double) * (size_t)m->rotor_count);
  return ORR_OK;
}

/* sigma, u1, spin1 = h Σ weight_s k_s onto the start. */
static enum orr_status combine(struct orr_integration *i, double h, const double *weights, int count) {
  const struct orr_model *m = i->model;
  const double *from = start_speeds(i);
  for (int k = 0; k < m->u_count; k++) {
    double dq = 0, du = 0;
    for (int s = 0; s < count; s++) {
      dq += weights[s] * i->kq[s][k];
      du += weights[s] * i->ku[s][k];
    }
    i->sigma[k] = h * dq;
    i->u1[k] = from[k] + h * du;
  }
  for (int k = 0; k < m->rotor_count; k++) {
    double ds = 0;
    for (int s = 0; s < count; s++)
      ds += weights[s] * i->ks[s][k];
    i->spin1[k] = i->spin[k] + h * ds;
  }
  return finish(i);
}

static enum orr_status first(struct orr_integration *i, struct orr_evaluation_point *point) {
  memset(i->sigma, 0, sizeof(double) * (size_t)i->model->u_count);
  return evaluate(i, point, i->q, i->u, i->spin, 0);
}

static enum orr_status next(struct orr_integration *i, struct orr_evaluation_point *point, int index, double part) {
  point->index = index;
  point->part = part;
  enum orr_status status = close_stage(i, point);
  return status != ORR_OK ? status : evaluate(i, point, i->q1, i->u1, i->spin1, index);
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static enum orr_status step_rk4(struct orr_integration *i, struct orr_evaluation_point *point, double h) {
  static const double weights[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, parts[4] = {0, 0.5, 0.5, 1};
  enum orr_status status = first(i, point);
  for (int s = 1; s < 4 && status == ORR_OK; s++) {
    move_stage(i, parts[s] * h, s - 1);
    status = next(i, point, s, parts[s]);
  }
  return status == ORR_OK ? combine(i, h, weights, 4) : status;
}

static enum orr_status step_heun(struct orr_integration *i, struct orr_evaluation_point *point, double h) {
  static const double weights[2] = {0.5, 0.5};
  enum orr_status status = first(i, point);
  if (status != ORR_OK)
    return status;
  move_stage(i, h, 0);
  status = next(i, point, 1, 1);
  return status == ORR_OK ? combine(i, h, weights, 2) : status;
}

/* u1 = u + h a(q, u), then q1 = q ⊕ h u1; a free body moves by its new y. */
static enum orr_status step_semi_implicit(struct orr_integration *i, struct orr_evaluation_point *point, double h) {
  const struct orr_model *m = i->model;
  enum orr_status status = first(i, point);
  if (status != ORR_OK)
    return status;
  const double *from = start_speeds(i);
  for (int k = 0; k < m->u_count; k++) {
    i->u1[k] = from[k] + h * i->ku[0][k];
    i->sigma[k] = h * i->u1[k];
  }
  for (int k = 0; k < m->rotor_count; k++)
    i->spin1[k] = i->spin[k] + h * i->ks[0][k];
  return finish(i);
}

/* The implicit coordinates: modes and sprung hinges, and all that an augmented loop depends on, for else the ones of
 * its coordinates would move without the others and open it by as much as the step bends the modes. */
static bool is_implicit(const struct orr_integration *i, const struct orr_limb *limb, int k) {
  if (k < limb->hinge_u)
    return true;
  if (i->closed && i->closed->augment.row_count && i->closed->loops->limb_at[limb - i->model->limbs] >= 0)
    return true;
  int d = k - limb->hinge_u;
  return limb->springs && (limb->stiffness[d] != 0 || limb->damping[d] != 0);
}

/* force += scale (K x + D y) over modes and sprung coordinates; y may be NULL. */
static void add_elastic(const struct orr_integration *i, double scale, const double *x, const double *y,
                        double *force) {
  const struct orr_model *m = i->model;
  for (int b = 0; b < m->body_count; b++) {
    const struct orr_limb *limb = &m->limbs[b];
    const struct orr_modal *modal = limb->flex >= 0 ? &i->ws->flexes[limb->flex].modal : NULL;
    for (int r = 0; modal && r < modal->n; r++) {
      double sum = 0;
      for (int s = 0; s < modal->n; s++) {
        sum += modal->stiffness[r * modal->ld + s] * x[limb->u + s];
        if (y)
          sum += modal->damping[r * modal->ld + s] * y[limb->u + s];
      }
      force[limb->u + r] += scale * sum;
    }
    for (int d = 0; limb->springs && d < limb->dof; d++)
      force[limb->hinge_u + d] +=
          scale * (limb->stiffness[d] * x[limb->hinge_u + d] + (y ? limb->damping[d] * y[limb->hinge_u + d] : 0));
  }
}

/* One stage: (M + sD + s²K) k_u = F − s K r_q + `extra`, k_q = r_q + s k_u on the implicit coordinates, where r_q comes
 * in kq. */
static enum orr_status implicit_stage(struct orr_integration *i, double s, int slot) {
  const struct orr_model *m = i->model;
  add_elastic(i, -s, i->kq[slot], NULL, i->force);
  i->ws->implicit_s = s;
  enum orr_status status = forward(i, i->ku[slot]);
  i->ws->implicit_s = 0;
  velocity_rates(i, i->ws->q, i->ws->u, i->ku[slot]);
  memcpy(i->ks[slot], i->ws->rotor_accel, sizeof(double) * (size_t)m->rotor_count);
  for (int b = 0; b < m->body_count; b++) {
    const struct orr_limb *limb = &m->limbs[b];
    for (int k = limb->u; k < limb->hinge_u + limb->dof; k++)
      if (is_implicit(i, limb, k))
        i->kq[slot][k] += s * i->ku[slot][k];
  }
  return status;
}

/* ROS2 (Verwer and others) with the Jacobian A of the elastic forces alone, γ = 1 − 1/√2:
 *
 *   (1 − γhA) k1 = f(y),  (1 − γhA) k2' = f(y + h k1) − 2γhA k1,  y += h/2 (k1 + k2')
 *
 * which is of order 2 for any A and L-stable where A is the whole Jacobian. A has rows [0 1; −M⁻¹K −M⁻¹D], so a stage
 * is one sweep with M + sD + s²K, s = γh, in place of M. Where A is zero the rule is heun's. */
static enum orr_status step_implicit_modal(struct orr_integration *i, struct orr_evaluation_point *point, double h) {
  static const double weights[2] = {0.5, 0.5};
  const struct orr_model *m = i->model;
  double s = (1 - 0.70710678118654752440) * h;
  i->implicit_s = s;
  memset(i->sigma, 0, sizeof(double) * (size_t)m->u_count);
  if (!i->state_is_set)
    set_state(i, i->q, i->u, i->spin);
  load(i, point);
  i->state_is_set = i->seen.valid = false;
  coordinate_rates(m, i->q, i->sigma, i->u, i->kq[0]);
  enum orr_status status = implicit_stage(i, s, 0);
  if (status != ORR_OK)
    return status;
  move_stage(i, h, 0);
  point->index = 1;
  point->part = 1;
  status = close_stage(i, point);
  if (status != ORR_OK)
    return status;
  set_state(i, i->q1, i->u1, i->spin1);
  load(i, point);
  coordinate_rates(m, i->q1, i->sigma, i->u1, i->kq[1]);
  for (int b = 0; b < m->body_count; b++) {
    const struct orr_limb *limb = &m->limbs[b];
    for (int k = limb->u; k < limb->hinge_u + limb->dof; k++)
      if (is_implicit(i, limb, k))
        i->kq[1][k] -= 2 * s * i->ku[0][k];
  }
  add_elastic(i, 2 * s, i->kq[0], i->ku[0], i->force);
  status = implicit_stage(i, s, 1);
  return status == ORR_OK ? combine(i, h, weights, 2) : status;
}

static enum orr_status step_by_rule(struct orr_integration *i, int64_t start_ns, int64_t step_ns) {
  struct orr_evaluation_point point = {.start_ns = start_ns, .step_ns = step_ns};
  double h = 1e-9 * (double)step_ns;
  i->end = (struct orr_evaluation_point){.start_ns = start_ns, .step_ns = step_ns, .index = -1, .part = 1};
  switch (i->rule) {
  case ORR_HEUN:
    return step_heun(i, &point, h);
  case ORR_SEMI_IMPLICIT:
    return step_semi_implicit(i, &point, h);
  case ORR_IMPLICIT_MODAL:
    return step_implicit_modal(i, &point, h);
  default:
    return step_rk4(i, &point, h);
  }
}

enum orr_status orr_integration_step(struct orr_integration *i, int64_t start_ns, int64_t step_ns) {
  enum orr_status status = ORR_OK;
  for (int64_t done_ns = 0, part_ns; done_ns < step_ns && status == ORR_OK; done_ns += part_ns) {
    part_ns = step_ns;
    if (i->closed && !i->undivided)
      part_ns = orr_closed_part(i->closed, i->ws, i->q, i->u, step_ns, step_ns - done_ns);
    status = step_by_rule(i, start_ns + done_ns, part_ns);
  }
  return status;
}

/* By way of a step, so that who has no stops pays nothing: there the rule stays in line. */
enum orr_status orr_integration_part(struct orr_integration *i, int64_t start_ns, int64_t part_ns) {
  i->undivided = true;
  enum orr_status status = orr_integration_step(i, start_ns, part_ns);
  i->undivided = false;
  return status;
}

void orr_integration_set(struct orr_integration *i) {
  set_state(i, i->q, i->u, i->spin);
  orr_poses_update(i->model, i->ws);
  i->state_is_set = true;
  i->seen.valid = false;
}

enum orr_status orr_integration_observe(struct orr_integration *i, int64_t now_ns) {
  assert(i->state_is_set);
  const struct orr_evaluation_point point = {.start_ns = now_ns, .index = -1};
  load(i, &point);
  i->seen.valid = false;
  enum orr_status status = forward(i, i->ku[0]);
  if (status == ORR_OK)
    keep_seen(i);
  return status;
}
