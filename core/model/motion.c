#include "core/model/motion.h"

#include <math.h>

#include "core/math/elementary.h"
#include "core/model/hinge_kinds.h"

static struct orr_motion_now sine_at(const struct orr_motion_desc *m, double t) {
  double w = 6.283185307179586476925 * m->frequency_hz, angle = w * t + m->phase_rad;
  double x = m->amplitude * orr_sin(angle);
  return (struct orr_motion_now){m->offset + x, w * m->amplitude * orr_cos(angle), -w * w * x};
}

static struct orr_motion_now polynomial_at(const struct orr_motion_desc *m, double t) {
  struct orr_motion_now out = {0, 0, 0};
  for (size_t i = m->count; i-- > 0;) {
    out.a = out.a * t + 2 * out.v; /* Horner, derived twice */
    out.v = out.v * t + out.x;
    out.x = out.x * t + m->values[i];
  }
  return out;
}

struct orr_motion_now orr_motion_at(const struct orr_motion_desc *m, double t, bool before) {
  switch (m->form) {
  case ORR_MOTION_TABLE:
    return orr_spline_at(m->count, m->at_s, m->values, m->bends, t, before);
  case ORR_MOTION_SINE:
    return sine_at(m, t);
  case ORR_MOTION_POLYNOMIAL:
    return polynomial_at(m, t);
  default:
    return (struct orr_motion_now){m->from, 0, 0};
  }
}

struct orr_motion_now orr_motion_begin(const struct orr_motion_desc *m) {
  struct orr_motion_now out = orr_motion_at(m, 0, false);
  return m->waits ? (struct orr_motion_now){out.x, 0, 0} : out;
}

void orr_motions_begin(const struct orr_description *d, const struct orr_model *model, double *q, double *u,
                       double *accel) {
  for (int b = 0; b < (int)d->body_count; b++) {
    const struct orr_motion_desc *motion = d->bodies[b].hinge.motion;
    const struct orr_limb *limb = &model->limbs[model->limb_of_body[b]];
    for (int i = 0; motion && i < limb->dof; i++) {
      struct orr_motion_now begin = orr_motion_begin(&motion[i]);
      if (q && motion[i].form != ORR_MOTION_COMMAND)
        q[limb->hinge_q + i] = begin.x;
      if (u)
        u[limb->hinge_u + i] = begin.v;
      if (accel)
        accel[limb->hinge_u + i] = begin.a;
    }
  }
}
