#include "tools/run/diverged.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/tree/kinematics.h"
#include "io/session/status_text.h"

static const double degree = 57.295779513082320876798;

bool orr_diverged(const struct orr_session *s) {
  return s->status != ORR_OK && !orr_status_is_of_loop(s->status) && orr_plant_frame(s->plant) > 0;
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...) {
  size_t used = strlen(text);
  va_list list;
  va_start(list, format);
  vsnprintf(text + used, ORR_DIVERGED_TEXT - used, format, list);
  va_end(list);
}

/* Of a body that hangs on nothing, its angular velocity; the fastest, where there are several. */
static void add_rate(const struct orr_session *s, char *text, const char **comma) {
  const struct orr_description *craft = &s->run->spacecraft;
  const char *name = NULL;
  double most = 0;
  for (size_t i = 0; i < craft->body_count; i++) {
    struct orr_node_state state;
    if (craft->bodies[i].hinge.parent != ORR_INERTIAL)
      continue;
    orr_body_query(s->model, s->ws, (int)i, &state);
    double w = sqrt(v3_dot(state.omega, state.omega));
    if (w > most) {
      most = w;
      name = craft->bodies[i].name;
    }
  }
  if (name)
    add(text, "%s%.64s rate %.3g rad/s", *comma, name, most);
  *comma = name ? ", " : *comma;
}

/* The fastest mode of the body that the solver names, and the fastest coordinate of its hinge to another. */
static void add_failed(const struct orr_session *s, char *text, const char **comma) {
  int body = s->plant->failed_body;
  if (body < 0)
    return;
  bool hangs = s->run->spacecraft.bodies[body].hinge.parent != ORR_INERTIAL;
  const struct orr_limb *limb = &s->model->limbs[s->model->limb_of_body[body]];
  const char *name = s->run->spacecraft.bodies[body].name;
  double mode = 0, hinge = 0;
  for (int i = 0; i < limb->mode_count + limb->dof; i++) {
    double *most = i < limb->mode_count ? &mode : &hinge;
    *most = fmax(*most, fabs(s->ws->u[limb->u + i]));
  }
  if (mode > 0) {
    add(text, "%s%.64s's fastest mode %.3g 1/s", *comma, name, mode);
    *comma = ", ";
  }
  if (hinge > 0 && hangs) {
    add(text, "%s%.64s's hinge %.3g rad/s or m/s", *comma, name, hinge);
    *comma = ", ";
  }
}

static void add_pointing(const struct orr_session *s, char *text, const char **comma) {
  const struct orr_plant *p = s->plant;
  for (int i = 0; i < p->pointing_count; i++) {
    double error = p->values[p->table.channels[p->pointing_channel[i] + 1].offset];
    if (!isfinite(error))
      continue;
    if (p->pointing_count > 1)
      add(text, "%s%.64s pointing error %.3g deg", *comma, s->run->spacecraft.bodies[p->pointings[i].body].name,
          error * degree);
    else
      add(text, "%spointing error %.3g deg", *comma, error * degree);
    *comma = ", ";
  }
}

void orr_diverged_words(const struct orr_session *s, char text[ORR_DIVERGED_TEXT]) {
  const struct orr_integration *i = s->plant->integration;
  const char *comma = ": ";
  text[0] = '\0';
  add(text, "diverged at %.4g s", 1e-9 * (double)orr_plant_time_ns(s->plant));
  orr_state_set(s->model, s->ws, i->q, i->u);
  orr_poses_update(s->model, s->ws);
  add_rate(s, text, &comma);
  add_failed(s, text, &comma);
  add_pointing(s, text, &comma);
}

void orr_diverged_reason(const struct orr_session *s, char text[ORR_DIVERGED_TEXT]) {
  int body = s->plant->failed_body;
  text[0] = '\0';
  add(text, "frame %lld: body '%.64s': %s", (long long)orr_plant_frame(s->plant),
      body >= 0 ? s->run->spacecraft.bodies[body].name : "?", orr_status_text(s->status));
}
