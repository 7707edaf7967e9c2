/* The summary of a spacecraft as data. */
#include "core/model/hinge_kinds.h"
#include "tools/check/summary.h"
#include "tools/common/json_numbers.h"

static json_t *count(size_t n) { return json_integer((json_int_t)n); }

static json_t *hinge_json(const struct orr_description *d, const struct orr_hinge_desc *h) {
  const struct orr_hinge_kind_info *kind = orr_hinge_kind_info(h->kind);
  json_t *o = json_object();
  json_object_set_new(o, "kind", json_string(kind->name));
  json_object_set_new(o, "degrees_of_freedom", count(kind->speed_count));
  json_object_set_new(o, "prescribed", json_boolean(h->prescribed));
  if (h->parent == ORR_INERTIAL)
    json_object_set_new(o, "to", json_string("inertial"));
  else
    json_object_set_new(
        o, "to", json_sprintf("%s.%s", d->bodies[h->parent].name, d->bodies[h->parent].nodes[h->parent_node].name));
  json_t *axes = json_array();
  for (size_t i = 0; i < kind->axis_count; i++)
    json_array_append_new(axes, orr_json_numbers(h->axes[i], 3));
  json_object_set_new(o, "axes", axes);
  if (kind->scalar && kind->speed_count) {
    json_object_set_new(o, "stiffness", orr_json_numbers(h->stiffness, kind->speed_count));
    json_object_set_new(o, "damping", orr_json_numbers(h->damping, kind->speed_count));
  }
  return o;
}

static json_t *body_json(const struct orr_summary *s, size_t i) {
  const struct orr_body_desc *b = &s->description->bodies[i];
  const struct orr_body_modes *m = &s->bodies[i];
  json_t *o = json_object(), *nodes = json_array();
  json_object_set_new(o, "name", json_string(b->name));
  json_object_set_new(o, "flexible", json_boolean(b->flexible));
  json_object_set_new(o, "mass", json_real(orr_body_inertia_at_rest(b).c.xx));
  json_object_set_new(o, "hinge", hinge_json(s->description, &b->hinge));
  for (size_t k = 0; k < b->node_count; k++)
    json_array_append_new(nodes, json_string(b->nodes[k].name));
  json_object_set_new(o, "nodes", nodes);
  json_object_set_new(o, "modes", count(b->mode_count));
  if (m->given_hz)
    json_object_set_new(o, "frequencies", orr_json_numbers(m->given_hz, m->count));
  if (m->coupled_hz)
    json_object_set_new(o, "coupled_frequencies", orr_json_numbers(m->coupled_hz, m->count));
  if (b->flexible) {
    json_object_set_new(o, "deformation", json_string(b->deformation == ORR_DEFORMATION_FULL ? "full" : "linearized"));
    json_object_set_new(o, "stiffening", json_boolean(b->stiffening));
  }
  return o;
}

static json_t *loop_json(const struct orr_summary *s, size_t index) {
  const struct orr_description *d = s->description;
  const struct orr_loop_desc *l = &d->loops[index];
  static const char *const kinds[] = {"point", "weld", "revolute", "distance", "gear", "rolling"};
  static const char *const methods[] = {"auto", "embed", "augment"};
  json_t *o = json_object(), *between = json_array();
  json_object_set_new(o, "name", json_string(l->name));
  json_object_set_new(o, "kind", json_string(kinds[l->kind]));
  json_object_set_new(o, "method", json_string(methods[s->loops.method[index]]));
  json_object_set_new(o, "method_chosen", json_boolean(s->loops.reason[index] != ORR_LOOP_ASKED));
  for (size_t i = 0; i < 2; i++) {
    const struct orr_body_desc *b = &d->bodies[l->body[i]];
    json_array_append_new(between, l->kind == ORR_LOOP_GEAR
                                       ? json_string(b->name)
                                       : json_sprintf("%s.%s", b->name, b->nodes[l->node[i]].name));
  }
  json_object_set_new(o, "between", between);
  json_object_set_new(o, "redundant", json_integer(s->loops.redundant[index]));
  json_t *moment = json_array(), *force = json_array();
  struct orr_loop_numbers n = s->loops.numbers[index];
  for (int i = 0; i < n.moments + n.forces; i++)
    json_array_append_new(i < n.moments ? moment : force, json_boolean(!s->loops.undetermined[index][i]));
  json_object_set_new(o, "determined", json_pack("{s:o, s:o}", "moment", moment, "force", force));
  return o;
}

static json_t *assembly_json(const struct orr_summary *s) {
  const struct orr_assembly *a = &s->loops.assembly;
  json_t *o = json_object();
  json_object_set_new(o, "equations", json_integer(s->loops.equations));
  json_object_set_new(o, "rank", json_integer(a->rank));
  json_object_set_new(o, "moved_angle", json_real(a->radians));
  json_object_set_new(o, "moved_distance", json_real(a->metres));
  json_object_set_new(o, "moved_modes", json_boolean(a->modes));
  json_object_set_new(o, "moved_prescribed", json_boolean(a->prescribed));
  return o;
}

json_t *orr_summary_json(const struct orr_summary *s) {
  const struct orr_description *d = s->description;
  json_t *o = json_object(), *bodies = json_array(), *loops = json_array();
  for (size_t i = 0; i < d->body_count; i++)
    json_array_append_new(bodies, body_json(s, i));
  for (size_t i = 0; i < d->loop_count; i++)
    json_array_append_new(loops, loop_json(s, i));
  json_object_set_new(o, "degrees_of_freedom", count(s->freedoms));
  json_object_set_new(o, "prescribed", count(s->prescribed));
  json_object_set_new(o, "modes", count(s->modes));
  json_object_set_new(o, "trees", count(s->trees));
  json_object_set_new(o, "mass", json_real(s->rest.mass));
  json_object_set_new(o, "com", orr_json_numbers(s->rest.com, 3));
  json_object_set_new(o, "inertia", orr_json_numbers(s->rest.inertia, 6));
  json_object_set_new(o, "gravity", orr_json_numbers(d->gravity, 3));
  json_object_set_new(o, "bodies", bodies);
  json_object_set_new(o, "loops", loops);
  if (d->loop_count)
    json_object_set_new(o, "assembly", assembly_json(s));
  json_object_set_new(o, "model_bytes", count(s->model_bytes));
  json_object_set_new(o, "workspace_bytes", count(s->workspace_bytes));
  json_object_set_new(o, "loop_bytes", count(s->loops.bytes));
  return o;
}
