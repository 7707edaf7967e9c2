/* Tanks: who feeds from them, and whether their bodies can do without what leaves. */
#include <math.h>
#include <string.h>

#include "core/devices/devices.h"
#include "core/math/eigen.h"
#include "core/math/spatial.h"
#include "io/config/run/run_draft.h"

static void report(struct orr_run_draft *d, const struct orr_device_desc *device, const char *text) {
  orr_report(d->reader->diagnostics, ORR_ERROR, device->source, "tank", "%s '%.60s': %s", device->kind->name,
             device->name, text);
}

static void check_feed(struct orr_run_draft *d, const struct orr_device_desc *device) {
  const char *name = device->kind->feeds_from(device->params);
  struct orr_nearest nearest = {.wanted = name};
  for (size_t i = 0; name && i < d->device_count; i++) {
    if (!d->devices[i].kind->draw)
      continue;
    if (strcmp(d->devices[i].name, name) == 0)
      return;
    orr_nearest_offer(&nearest, d->devices[i].name);
  }
  if (name)
    report(
        d, device,
        nearest.best
            ? orr_arena_format(d->reader->arena, "there is no tank '%.60s', did you mean '%s'?", name, nearest.best)
            : orr_arena_format(d->reader->arena, "there is no tank '%.60s'; a device of the kind 'tank' is one", name));
}

static bool is_near(double a, double b) { return fabs(a - b) <= 0.01 * fabs(b); }

static void check_pendulum(struct orr_run_draft *d, const struct orr_device_desc *tank, const char *name) {
  const struct orr_description *s = orr_config_description(d->config);
  int b = orr_config_find_body(d->config, name);
  if (b < 0) {
    report(d, tank, orr_arena_format(d->reader->arena, "there is no body '%.60s' for its 'slosh'", name));
    return;
  }
  const struct orr_body_desc *bob = &s->bodies[b];
  struct orr_stock stock = tank->kind->stock(tank->params, NULL);
  double arm = v3_norm(v3_from(bob->com)), off = v3_norm(v3_from(bob->nodes[bob->hinge.node].at));
  if (bob->flexible || bob->hinge.parent != tank->body || bob->hinge.parent_node != tank->node || off > 0)
    report(d, tank,
           orr_arena_format(d->reader->arena,
                            "'%.60s' is no pendulum of this tank: a rigid body that hangs on the tank's node by its "
                            "own origin",
                            name));
  else if (!is_near(bob->mass, stock.bob) || !is_near(arm, stock.arm))
    report(d, tank,
           orr_arena_format(d->reader->arena,
                            "the pendulum of this level has %.4g kg at %.4g m from its hinge, and '%.60s' has %.4g kg "
                            "at %.4g m; the rest of the propellant, %.4g kg, is part of the tank's body",
                            stock.bob, stock.arm, name, bob->mass, arm, stock.left - stock.bob));
}

/* J += m (a·a 1 − a aᵀ) */
static void add_point(double j[9], double m, const double a[3]) {
  double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      j[3 * r + c] += m * ((r == c ? square : 0) - a[r] * a[c]);
}

/* A rigid body whose tanks are empty still is one: its principal moments are positive, none more than the other two. */
static void check_empty(struct orr_run_draft *d, const struct orr_device_desc *tank) {
  const struct orr_body_desc *body = &orr_config_description(d->config)->bodies[tank->body];
  const double *i = body->inertia;
  double j[9] = {i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]}, mass = body->mass, moment[3], com[3], p[3];
  add_point(j, mass, body->com);
  for (int k = 0; k < 3; k++)
    moment[k] = mass * body->com[k];
  for (size_t n = 0; n < d->device_count; n++) {
    const struct orr_device_desc *other = &d->devices[n];
    if (other->body != tank->body || !other->kind->stock)
      continue;
    if (other < tank)
      return; /* said of the first one */
    double gone = other->kind->stock(other->params, NULL).most;
    mass -= gone;
    for (int k = 0; k < 3; k++)
      moment[k] -= gone * body->nodes[other->node].at[k];
    add_point(j, -gone, body->nodes[other->node].at);
  }
  if (!(mass > 0))
    return; /* reported as too much propellant */
  for (int k = 0; k < 3; k++)
    com[k] = moment[k] / mass;
  add_point(j, -mass, com);
  orr_eigen_symmetric(3, j, p);
  if (!(p[0] > 0) || p[0] + p[1] < 0.99 * p[2])
    report(d, tank,
           orr_arena_format(d->reader->arena,
                            "without the propellant of its tanks '%.60s' has the principal moments %.4g, %.4g and %.4g "
                            "kg m^2, which no body has; its mass and inertia in the file are those with full tanks",
                            body->name, p[0], p[1], p[2]));
}

void orr_run_check_tank(struct orr_run_draft *d, const struct orr_device_desc *device) {
  if (device->kind->feeds_from)
    check_feed(d, device);
  if (!device->kind->stock)
    return;
  const char *pendulum = device->kind->swings(device->params);
  if (pendulum)
    check_pendulum(d, device, pendulum);
  if (!orr_config_description(d->config)->bodies[device->body].flexible)
    check_empty(d, device);
}
