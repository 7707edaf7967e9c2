#include "core/plant/stability.h"

#include "core/math/elementary.h"

/* ---- one motion -------------------------------------------------------------------------------------------------- */

/* ln |R(z)| of the explicit rules: Horner on 1 + z (1 + z/2 (1 + z/3 (1 + z/4))). */
static double growth(enum orr_integrator rule, double re, double im) {
  double x = 1, y = 0;
  for (int n = rule == ORR_RK4 ? 4 : 2; n >= 1; n--) {
    double next = 1 + (re * x - im * y) / n;
    y = (re * y + im * x) / n;
    x = next;
  }
  return orr_log(orr_hypot(x, y));
}

/* Whether a step h makes the motion grow, where it would not by itself; with heun, e-fold within the run. */
static bool runs_away(enum orr_integrator rule, struct orr_complex s, double span_s, double h) {
  double own = orr_max(0, h * s.re), rounding = 1e-12;
  return growth(rule, h * s.re, h * s.im) - own > (rule == ORR_HEUN ? h / orr_max(span_s, h) : rounding);
}

double orr_stability_limit(enum orr_integrator rule, struct orr_complex s, double span_s) {
  double size = orr_hypot(s.re, s.im), c = s.im != 0 ? -2 * s.re : -s.re, k = s.im != 0 ? size * size : 0;
  if (size == 0)
    return HUGE_VAL;
  if (rule == ORR_SEMI_IMPLICIT) /* h² k + 2 h c = 4 */
    return c <= 0 && k == 0 ? HUGE_VAL : 4 / (c + sqrt(c * c + 4 * k));
  if (rule == ORR_IMPLICIT_MODAL)
    rule = ORR_HEUN;
  double low = 0, high = 4 / size; /* beyond every explicit region in the left half-plane */
  if (!runs_away(rule, s, span_s, high))
    return HUGE_VAL;
  for (int i = 0; i < 60; i++) {
    double h = 0.5 * (low + high);
    *(runs_away(rule, s, span_s, h) ? &high : &low) = h;
  }
  return low;
}

/* ---- a plant ----------------------------------------------------------------------------------------------------- */

size_t orr_stability_size(const struct orr_model *model) { return orr_stiffness_size(model); }

/* What the devices hold. True if there is anything. */
static bool add_devices(struct orr_stiffness *s, const struct orr_plant *plant) {
  bool any = false;
  for (int i = 0; i < plant->device_count; i++) {
    const struct orr_device *d = &plant->devices[i];
    if (d->mesh) {
      s->gears[s->gear_count++] =
          (struct orr_stiff_gear){d->u, d->rotor, d->mesh->ratio, d->mesh->stops.stiffness, d->mesh->stops.damping};
      any = true;
    }
    if (!d->kind->hold)
      continue;
    struct orr_device_hold held = d->kind->hold(d->params);
    int at = d->kind->rotor ? s->model->u_count + d->rotor : d->u;
    s->stiffness[at] += held.stiffness;
    s->damping[at] += held.damping;
    any |= held.stiffness != 0 || held.damping != 0;
  }
  return any;
}

static struct orr_complex stiffest(const struct orr_stiffness *s) {
  struct orr_complex most = {0, 0};
  for (int i = 0; i < s->root_count; i++)
    if (orr_hypot(s->roots[i].re, s->roots[i].im) > orr_hypot(most.re, most.im))
      most = s->roots[i];
  return most;
}

/* semi_implicit: of 4 g² − 2 g C − K = 0, g = 1/h, the largest root; exact also where C and K do not share their
 * motions. Leaves K and C of the span changed. */
static double semi_implicit_limit(struct orr_stiffness *s) {
  int n = s->count;
  double most = 0;
  for (int i = 0; i < n * n; i++) {
    s->c[i] *= -0.5;
    s->k[i] *= -0.25;
  }
  if (!orr_quadratic_roots((size_t)n, s->c, s->k, s->work, s->roots))
    return HUGE_VAL;
  for (int i = 0; i < 2 * n; i++)
    most = orr_max(most, s->roots[i].re);
  return most > 0 ? 1 / most : HUGE_VAL;
}

/* The root that limits the step: sets *limit_s. */
static struct orr_complex limiting(struct orr_stiffness *s, enum orr_integrator rule, double span_s, double *limit_s) {
  struct orr_complex worst = {0, 0};
  *limit_s = HUGE_VAL;
  for (int i = 0; i < s->root_count; i++) {
    double limit = orr_stability_limit(rule, s->roots[i], span_s);
    if (limit < *limit_s) {
      *limit_s = limit;
      worst = s->roots[i];
    }
  }
  return worst;
}

struct orr_stability orr_stability_find(void *block, size_t bytes, const struct orr_plant *plant, double span_s) {
  struct orr_stability out = {.status = ORR_ERROR_BLOCK, .limit_s = HUGE_VAL};
  enum orr_integrator rule = plant->integration->rule;
  struct orr_stiffness *s = orr_stiffness_init(block, bytes, plant->model, plant->ws, plant->integration->closed);
  if (!s)
    return out;
  bool devices = add_devices(s, plant);
  out.status = orr_stiffness_find(s, plant->q0);
  if (out.status != ORR_OK || s->root_count == 0)
    return out;
  out.moves = true;
  out.stiffest = orr_stiffness_motion(s, stiffest(s));
  out.limiting = out.stiffest;
  if (rule == ORR_IMPLICIT_MODAL) { /* only what devices add limits it */
    if (!devices)
      return out;
    s->elastic = false;
    out.status = orr_stiffness_find(s, plant->q0);
  }
  if (out.status != ORR_OK)
    return out;
  struct orr_complex worst = limiting(s, rule, span_s, &out.limit_s);
  if (worst.re != 0 || worst.im != 0)
    out.limiting = orr_stiffness_motion(s, worst);
  if (rule == ORR_SEMI_IMPLICIT)
    out.limit_s = semi_implicit_limit(s);
  return out;
}
