/* Air that turns with the central body: v = v_node + v_ref − ω × r. Light from the Sun, less what an eclipse takes, and
 * what the central body reflects and emits, as if from its centre (light.c has the equations of plates).
 */
#include "core/plant/world_forces.h"

#include "core/tree/kinematics.h"

/* Where one spacecraft's plates are, density and light are the same for all of them: taken at its base. */
struct around {
  orr_vec3 wind; /* velocity of the air against the reference */
  double density, sun, planet;
  orr_vec3 to_sun, to_planet;
};

static struct around look(const struct orr_world *w, orr_vec3 base) {
  const struct orr_world_desc *d = w->desc;
  orr_vec3 at = orr_world_place(w, base), sun = v3_sub(w->now.sky.sun, at);
  struct around a = {.wind = v3_sub(v3_cross(w->now.sky.spin, at), w->now.v), .density = orr_world_density(w, base)};
  double distance = v3_norm(sun), r = v3_norm(at);
  a.to_sun = v3_scale(1 / distance, sun);
  a.to_planet = v3_scale(-1 / r, at);
  if (d->sunlight)
    a.sun = orr_world_sunshine(w, base) * orr_light_irradiance(distance);
  if (d->planet.albedo > 0)
    a.planet += orr_light_reflected(&d->planet, d->radius, at, w->now.sky.sun);
  if (d->planet.emission > 0)
    a.planet += orr_light_emitted(&d->planet, d->radius, r);
  return a;
}

void orr_world_press(struct orr_world *w, struct orr_workspace *ws, bool adds) {
  const struct orr_world_desc *d = w->desc;
  struct around a = {0};
  int last = -1;
  w->now.drag = w->now.light = v3_zero();
  for (size_t i = 0; i < d->surface_count; i++) {
    struct orr_node_state node;
    int craft = w->root[w->model->nodes[w->surface_node[i]].limb];
    if (craft != last)
      a = look(w, w->base[craft]);
    last = craft;
    orr_node_query(w->model, ws, w->surface_node[i], &node);
    struct orr_plate plate = d->surfaces[i].plate;
    plate.normal = m3_apply(node.attitude, plate.normal);
    orr_vec3 drag = a.density > 0 ? orr_plate_drag(&plate, a.density, v3_sub(node.v, a.wind)) : v3_zero();
    orr_vec3 light = v3_add(orr_plate_light(&plate, a.sun, a.to_sun), orr_plate_light(&plate, a.planet, a.to_planet));
    w->now.drag = v3_add(w->now.drag, drag);
    w->now.light = v3_add(w->now.light, light);
    if (adds)
      orr_force_add(w->model, ws, w->surface_node[i], ORR_AXES_INERTIAL, v3_add(drag, light), v3_zero());
  }
}
