#include "tools/check/summary_run.h"

#include <math.h>
#include <string.h>

/* "bus.imu", "hinge hga", "hinge hga [1]". */
static void print_host(const struct orr_run *run, const struct orr_device_desc *d, char *text, size_t size) {
  const struct orr_body_desc *body = &run->spacecraft.bodies[d->body];
  if (d->kind->host == ORR_ON_NODE)
    snprintf(text, size, "%s.%s", body->name, body->nodes[d->node].name);
  else if (d->kind->host == ORR_ON_COORDINATE && d->coordinate)
    snprintf(text, size, "hinge %s [%d]", body->name, d->coordinate);
  else
    snprintf(text, size, "hinge %s", body->name);
}

static bool belongs(const struct orr_channel *c, const char *device) {
  size_t n = strlen(device);
  return strncmp(c->name, device, n) == 0 && c->name[n] == '.';
}

static void print_channels(const struct orr_run *run, const struct orr_device_desc *d, FILE *out) {
  for (int pass = ORR_CHANNEL_COMMAND; pass >= ORR_CHANNEL_OUTPUT; pass--) {
    bool first = true;
    for (int i = 0; i < run->table.count; i++) {
      const struct orr_channel *c = &run->table.channels[i];
      if ((int)c->direction != pass || !belongs(c, d->name))
        continue;
      fprintf(out, "%s%s", first ? pass == ORR_CHANNEL_COMMAND ? "  takes " : "  tells " : ", ",
              c->name + strlen(d->name) + 1);
      if (c->count > 1)
        fprintf(out, "[%d]", c->count);
      if (*c->unit)
        fprintf(out, " (%s)", c->unit);
      first = false;
    }
  }
}

/* What the environment adds under the names of bodies has its own line. */
static bool is_body(const struct orr_run *run, const struct orr_device_desc *d) {
  return run->world && (d->kind == &orr_world_place_kind || d->kind == &orr_world_pointing_kind);
}

static void print_world(const struct orr_run *run, FILE *out) {
  const struct orr_world_desc *w = run->world;
  if (!w)
    return;
  fprintf(out, "environment: %s, ", orr_central_names[w->sky.central]);
  if (!w->attracts)
    fputs("no gravity", out);
  else if (w->degree)
    fprintf(out, "gravity of degree %d and order %d", w->degree, w->order);
  else
    fputs("central gravity", out);
  fprintf(out, "%s%s%s, %zu surface%s\n", w->sun ? ", Sun" : "", w->moon ? ", Moon" : "", w->earth ? ", Earth" : "",
          w->surface_count, w->surface_count == 1 ? "" : "s");
  if (w->sky.central == ORR_EARTH && !w->sky.eop_count)
    fputs("  UT1 is taken as UTC and the pole as in its place: no 'eop' file\n", out);
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    if (d->kind == &orr_world_pointing_kind)
      fprintf(out, "  %s points at %s\n", d->name, orr_aim_names[((const struct orr_world_pointing *)d->params)->aim]);
  }
}

/* On a coordinate that is a distance the second unit counts: "N m|N". */
static void unit_of(const struct orr_run *run, const struct orr_device_desc *d, const struct orr_param *p, char *text,
                    size_t size) {
  const struct orr_hinge_desc *h = &run->spacecraft.bodies[d->body].hinge;
  bool linear = d->kind->host == ORR_ON_COORDINATE && !(orr_hinge_kind_info(h->kind)->angles >> d->coordinate & 1);
  const char *unit = p->unit ? p->unit : "", *bar = strchr(unit, '|');
  if (bar && linear)
    snprintf(text, size, "%s", bar + 1);
  else
    snprintf(text, size, "%.*s", bar ? (int)(bar - unit) : (int)strlen(unit), unit);
}

/* As it was read, in SI; HUGE_VAL is no limit, and what is zero where the file says nothing is not said. */
static bool is_told(const struct orr_param *p, const double *numbers) {
  bool any = p->required || p->fallback != 0;
  for (int i = 0; i < (p->type == ORR_PARAM_NUMBER ? 1 : 3); i++)
    any |= numbers[i] != 0;
  return any;
}

static void print_parameters(const struct orr_run *run, const struct orr_device_desc *d, FILE *out) {
  const char *before = "\n               with ";
  for (size_t i = 0; i < d->kind->param_count; i++) {
    const struct orr_param *p = &d->kind->params[i];
    const void *at = (const char *)d->params + p->offset;
    double numbers[3] = {0};
    char unit[40];
    if (p->type == ORR_PARAM_CHOICE) {
      fprintf(out, "%s%s %s", before, p->name, p->choices[*(const int *)at]);
      before = ", ";
      continue;
    }
    memcpy(numbers, at, p->type == ORR_PARAM_NUMBER ? sizeof numbers[0] : sizeof numbers);
    if (!is_told(p, numbers))
      continue;
    unit_of(run, d, p, unit, sizeof unit);
    if (p->type != ORR_PARAM_NUMBER)
      fprintf(out, "%s%s [%.9g, %.9g, %.9g]", before, p->name, numbers[0], numbers[1], numbers[2]);
    else if (isinf(numbers[0]))
      fprintf(out, "%s%s unlimited", before, p->name);
    else
      fprintf(out, "%s%s %.9g", before, p->name, numbers[0]);
    fprintf(out, "%s%s", *unit && !isinf(numbers[0]) ? " " : "", isinf(numbers[0]) ? "" : unit);
    before = ", ";
  }
}

static void print_devices(const struct orr_run *run, enum orr_device_role role, FILE *out) {
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    char host[300];
    if (d->kind->role != role || is_body(run, d))
      continue;
    print_host(run, d, host, sizeof host);
    fprintf(out, "  %-12s %s on %s", d->name, d->kind->name, host);
    if (role == ORR_SENSOR)
      fprintf(out, ", %.6g Hz", 1e9 / ((double)run->plant.step_ns * d->divisor));
    if (d->phase || d->delay)
      fprintf(out, ", phase %d, delay %d frames", d->phase, d->delay);
    print_channels(run, d, out);
    print_parameters(run, d, out);
    fputc('\n', out);
  }
}

static void print_motion(const struct orr_run *run, const struct orr_stiff_motion *m, FILE *out) {
  char pace[ORR_MOTION_TEXT], place[ORR_MOTION_TEXT];
  fprintf(out, "%s, %.0f %% of it %s", orr_motion_pace(m, pace), 100 * m->share, orr_motion_place(run, m, place));
}

static bool same_motion(const struct orr_stiff_motion *a, const struct orr_stiff_motion *b) {
  return hypot(a->root.re - b->root.re, a->root.im - b->root.im) <= 1e-6 * hypot(a->root.re, a->root.im);
}

static void print_stability(const struct orr_run *run, const struct orr_stability *s, FILE *out) {
  const char *rule = orr_integrator_names[run->plant.integrator];
  if (s->status != ORR_OK || !s->moves)
    return;
  fputs("stiffest motion: ", out);
  print_motion(run, &s->stiffest, out);
  if (!isfinite(s->limit_s)) {
    fprintf(out, "; %s is stable at any step\n", rule);
    return;
  }
  if (!same_motion(&s->stiffest, &s->limiting)) {
    fputs("\n  the step is limited by: ", out);
    print_motion(run, &s->limiting, out);
  }
  bool long_step = s->limit_s >= 1;
  fprintf(out, "; %s is stable up to a step of %.4g %s%s\n", rule, long_step ? s->limit_s : 1e3 * s->limit_s,
          long_step ? "s" : "ms", run->plant.integrator == ORR_HEUN ? " over this run" : "");
}

void orr_summary_run_print(const struct orr_run *run, const struct orr_stability *stability, FILE *out) {
  fprintf(out, "run: %.6g Hz, %s%s", 1e9 / (double)run->plant.step_ns, orr_integrator_names[run->plant.integrator],
          run->duration_ns ? "" : ", until stopped");
  if (run->plant.substeps > 1)
    fprintf(out, ", %d sub-steps", run->plant.substeps);
  if (run->duration_ns)
    fprintf(out, ", %.9g s", 1e-9 * (double)run->duration_ns);
  fprintf(out, ", seed %llu\n", (unsigned long long)run->plant.seed);
  print_stability(run, stability, out);
  print_world(run, out);
  print_devices(run, ORR_ACTUATOR, out);
  print_devices(run, ORR_SENSOR, out);
  for (size_t i = 0; i < run->plant.pointing_count; i++)
    fprintf(out, "  %s points by %zu target%s\n", run->spacecraft.bodies[run->plant.pointings[i].body].name,
            run->plant.pointings[i].target_count, run->plant.pointings[i].target_count == 1 ? "" : "s");
  if (run->script_count)
    fprintf(out, "  %zu scripted command%s\n", run->script_count, run->script_count == 1 ? "" : "s");
  for (size_t i = 0; i < run->fault_count; i++)
    fprintf(out, "  fault %s\n", run->faults[i].name);
  for (size_t i = 0; i < run->link_count; i++)
    fprintf(out, "  link %s: %.6g Hz, %d channels out, %d in\n", run->links[i].name,
            1e9 / ((double)run->plant.step_ns * run->links[i].divisor), run->links[i].telemetry_count,
            run->links[i].command_count);
  fprintf(out, "channels: %d, with %d numbers out and %d in\n", run->table.count, run->table.output_values,
          run->table.value_count - run->table.output_values);
}

static json_t *channels_json(const struct orr_run *run, const char *device) {
  json_t *list = json_array();
  for (int i = 0; i < run->table.count; i++) {
    const struct orr_channel *c = &run->table.channels[i];
    if (belongs(c, device))
      json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:b}", "name", c->name, "unit", c->unit, "count", c->count,
                                            "command", c->direction == ORR_CHANNEL_COMMAND));
  }
  return list;
}

static json_t *motion_json(const struct orr_run *run, const struct orr_stiff_motion *m) {
  double rate = hypot(m->root.re, m->root.im);
  char place[ORR_MOTION_TEXT];
  return json_pack("{s:f, s:f, s:s, s:s, s:f}", "rate", rate, "damping", rate > 0 ? -m->root.re / rate : 0, "body",
                   run->spacecraft.bodies[m->body].name, "mostly", orr_motion_place(run, m, place), "share", m->share);
}

/* Null where nothing is stiff, or the initial state has no solution. */
static json_t *stability_json(const struct orr_run *run, const struct orr_stability *s) {
  if (s->status != ORR_OK || !s->moves)
    return json_null();
  return json_pack("{s:o, s:o, s:o}", "stiffest", motion_json(run, &s->stiffest), "limiting",
                   motion_json(run, &s->limiting), "step_limit",
                   isfinite(s->limit_s) ? json_real(s->limit_s) : json_null());
}

json_t *orr_summary_run_json(const struct orr_run *run, const struct orr_stability *stability) {
  json_t *root = json_object(), *devices = json_array();
  json_object_set_new(root, "step_ns", json_integer(run->plant.step_ns));
  json_object_set_new(root, "substeps", json_integer(run->plant.substeps));
  json_object_set_new(root, "integrator", json_string(orr_integrator_names[run->plant.integrator]));
  json_object_set_new(root, "duration_ns", json_integer(run->duration_ns));
  json_object_set_new(root, "seed", json_integer((json_int_t)run->plant.seed));
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    char host[300];
    if (is_body(run, d))
      continue;
    print_host(run, d, host, sizeof host);
    json_array_append_new(devices, json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:o}", "name", d->name, "kind",
                                             d->kind->name, "on", host, "divisor", d->divisor, "phase", d->phase,
                                             "delay", d->delay, "channels", channels_json(run, d->name)));
  }
  json_object_set_new(root, "stability", stability_json(run, stability));
  json_object_set_new(root, "devices", devices);
  json_object_set_new(root, "channels", json_integer(run->table.count));
  return root;
}
