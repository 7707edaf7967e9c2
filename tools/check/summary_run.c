#include "tools/check/summary_run.h"

#include <math.h>
#include <string.h>

#include "tools/run/controller_report.h"
#include "tools/run/patterns.h"

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

/* What a body takes from its target at the start, behind the sentence on where it points. */
static const char *start_of(const struct orr_run *run, int body) {
  static const char *const words[] = {"", ", and begins with its attitude", ", and begins with its rate",
                                      ", and begins on it, with its rate"};
  const struct orr_case_body *initial = &run->initial[body];
  return words[(initial->like_target[0].node ? 1 : 0) + (initial->like_target[1].node ? 2 : 0)];
}

static void print_world(const struct orr_run *run, FILE *out) {
  const struct orr_world_desc *w = run->world;
  if (!w)
    return;
  fprintf(out, "environment: %s, ", orr_central_names[w->sky.central]);
  if (!w->attracts)
    fputs("no gravity", out);
  else if (w->term_count == 1 && w->degree == 2 && w->terms[0].m == 0)
    fputs("gravity with J2", out);
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
      fprintf(out, "  %s points at %s%s\n", d->name, orr_aim_names[((const struct orr_world_pointing *)d->params)->aim],
              start_of(run, d->body));
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

/* A parameter as it was read, in SI. */
struct told {
  const char *word;  /* of a choice; else NULL */
  double numbers[3]; /* HUGE_VAL: no limit */
  int count;
  char unit[40];
};

/* False for what is zero where the file says nothing: that is left out. */
static bool tell(const struct orr_run *run, const struct orr_device_desc *d, const struct orr_param *p,
                 struct told *out) {
  const void *at = (const char *)d->params + p->offset;
  bool any = p->required || p->fallback != 0;
  *out = (struct told){.count = p->type == ORR_PARAM_NUMBER ? 1 : 3};
  if (p->type == ORR_PARAM_CHOICE) {
    out->word = p->choices[*(const int *)at];
    return true;
  }
  if (p->type == ORR_PARAM_NAME) {
    out->word = *(const char *const *)at;
    return out->word;
  }
  memcpy(out->numbers, at, (size_t)out->count * sizeof out->numbers[0]);
  unit_of(run, d, p, out->unit, sizeof out->unit);
  for (int i = 0; i < out->count; i++)
    any |= out->numbers[i] != 0;
  return any;
}

static void print_parameters(const struct orr_run *run, const struct orr_device_desc *d, FILE *out) {
  const char *before = "\n               with ";
  for (size_t i = 0; i < d->kind->param_count; i++) {
    const struct orr_param *p = &d->kind->params[i];
    struct told t;
    if (!tell(run, d, p, &t))
      continue;
    fprintf(out, "%s%s ", before, p->name);
    if (t.word)
      fputs(t.word, out);
    else if (t.count > 1)
      fprintf(out, "[%.9g, %.9g, %.9g]", t.numbers[0], t.numbers[1], t.numbers[2]);
    else if (isinf(t.numbers[0]))
      fputs("unlimited", out);
    else
      fprintf(out, "%.9g", t.numbers[0]);
    fprintf(out, "%s%s", *t.unit && !isinf(t.numbers[0]) ? " " : "", isinf(t.numbers[0]) ? "" : t.unit);
    before = ", ";
  }
}

/* By name: {value, unit}; the value is null where there is no limit. */
static json_t *parameters_json(const struct orr_run *run, const struct orr_device_desc *d) {
  json_t *all = json_object();
  for (size_t i = 0; i < d->kind->param_count; i++) {
    const struct orr_param *p = &d->kind->params[i];
    struct told t;
    if (!tell(run, d, p, &t))
      continue;
    json_t *value = t.word ? json_string(t.word) : t.count > 1 ? json_array() : json_null();
    for (int k = 0; !t.word && t.count > 1 && k < t.count; k++)
      json_array_append_new(value, json_real(t.numbers[k]));
    if (!t.word && t.count == 1 && isfinite(t.numbers[0])) {
      json_decref(value);
      value = json_real(t.numbers[0]);
    }
    json_object_set_new(all, p->name, json_pack("{s:o, s:s}", "value", value, "unit", t.unit));
  }
  return all;
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

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static void print_cost(const struct orr_run *run, FILE *out) {
  struct orr_frame_cost cost = orr_plant_frame_cost(&run->plant);
  fprintf(out, "worst frame: %d evaluation%s of the equations of motion", cost.worst, plural((size_t)cost.worst));
  if (cost.stops)
    fprintf(out, "; %d where no stop is touched or left", cost.plain);
  if (run->spacecraft.loop_count)
    fputs("; more near a singular posture of the loops", out);
  fputc('\n', out);
}

/* Scripted commands by channel, faults, and how many steps and expectations there are. */
static void print_procedure(const struct orr_run *run, FILE *out) {
  for (size_t i = 0; i < run->script_count; i++) {
    const struct orr_script_entry *e = &run->script[i];
    static const char *const forms[] = {[ORR_SCRIPT_STEP] = "a value",
                                        [ORR_SCRIPT_RAMP] = "a ramp",
                                        [ORR_SCRIPT_SINE] = "a sine",
                                        [ORR_SCRIPT_TABLE] = "a table"};
    fprintf(out, "  command %s: %s at %.9g s\n", run->table.channels[e->channel].name, forms[e->form],
            1e-9 * (double)e->at_ns);
  }
  for (size_t i = 0; i < run->fault_count; i++) {
    const struct orr_run_fault *f = &run->faults[i];
    fprintf(out, "  fault %s: %s", f->name, f->what);
    if (f->at_ns >= 0)
      fprintf(out, ", at %.9g s", 1e-9 * (double)f->at_ns);
    if (f->when)
      fprintf(out, ", when %s", f->when->text);
    if (f->for_ns != INT64_MAX)
      fprintf(out, ", for %.9g s", 1e-9 * (double)f->for_ns);
    fputc('\n', out);
  }
  if (run->sequence.count > 0)
    fprintf(out, "  sequence of %d step%s\n", run->sequence.count - 1, plural((size_t)run->sequence.count - 1));
  if (run->expect_count)
    fprintf(out, "  %zu expectation%s\n", run->expect_count, plural(run->expect_count));
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
  print_cost(run, out);
  print_world(run, out);
  print_devices(run, ORR_ACTUATOR, out);
  print_devices(run, ORR_SENSOR, out);
  for (size_t i = 0; i < run->plant.pointing_count; i++)
    fprintf(out, "  %s points by %zu target%s%s\n", run->spacecraft.bodies[run->plant.pointings[i].body].name,
            run->plant.pointings[i].target_count, run->plant.pointings[i].target_count == 1 ? "" : "s",
            start_of(run, run->plant.pointings[i].body));
  print_procedure(run, out);
  for (size_t i = 0; i < run->link_count; i++) {
    fprintf(out, "  link %s: %.6g Hz, %d channels out, %d in\n", run->links[i].name,
            1e9 / ((double)run->plant.step_ns * run->links[i].divisor), run->links[i].telemetry_count,
            run->links[i].command_count);
    orr_controller_print(run, &run->links[i], out);
  }
  fprintf(out, "channels: %d, with %d numbers out and %d in\n", run->table.count, run->table.output_values,
          run->table.value_count - run->table.output_values);
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* "3: x y z", or how many there are. */
static void numbers_of(const struct orr_channel *c, char *text, size_t size) {
  int n = snprintf(text, size, "%d", c->count);
  for (int i = 0; c->elements && i < c->count && (size_t)n < size; i++)
    n += snprintf(text + n, size - (size_t)n, "%s%s", i ? " " : ": ", c->elements[i]);
}

static bool is_wanted(const struct orr_channel *c, const char *patterns) {
  return !patterns || orr_patterns_fit(patterns, c->name);
}

int orr_summary_channels_print(const struct orr_run *run, const char *patterns, FILE *out) {
  int width = 0, count = 0;
  for (int i = 0; i < run->table.count; i++) {
    int n = (int)strlen(run->table.channels[i].name);
    if (n > width && is_wanted(&run->table.channels[i], patterns))
      width = n;
  }
  for (int i = 0; i < run->table.count; i++) {
    const struct orr_channel *c = &run->table.channels[i];
    char numbers[128];
    if (!is_wanted(c, patterns))
      continue;
    numbers_of(c, numbers, sizeof numbers);
    fprintf(out, "%-*s  %-7s  %-10s  %-7s  %s\n", width, c->name,
            c->direction == ORR_CHANNEL_COMMAND ? "command" : "output", numbers, *c->unit ? c->unit : "-",
            c->doc ? c->doc : "");
    count++;
  }
  return count;
}

static json_t *channel_json(const struct orr_channel *c) {
  return json_pack("{s:s, s:s, s:i, s:b}", "name", c->name, "unit", c->unit, "count", c->count, "command",
                   c->direction == ORR_CHANNEL_COMMAND);
}

static json_t *channels_json(const struct orr_run *run, const char *device) {
  json_t *list = json_array();
  for (int i = 0; i < run->table.count; i++)
    if (belongs(&run->table.channels[i], device))
      json_array_append_new(list, channel_json(&run->table.channels[i]));
  return list;
}

/* With the names of the numbers, where they have some. */
static json_t *channel_list_json(const struct orr_run *run, const char *patterns) {
  json_t *list = json_array();
  for (int i = 0; i < run->table.count; i++) {
    const struct orr_channel *c = &run->table.channels[i];
    if (!is_wanted(c, patterns))
      continue;
    json_t *o = channel_json(c), *elements = json_array();
    for (int k = 0; c->elements && k < c->count; k++)
      json_array_append_new(elements, json_string(c->elements[k]));
    json_object_set_new(o, "elements", elements);
    json_array_append_new(list, o);
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

json_t *orr_summary_run_json(const struct orr_run *run, const struct orr_stability *stability, const char *patterns) {
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
    json_array_append_new(devices,
                          json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o}", "name", d->name, "kind", d->kind->name,
                                    "on", host, "divisor", d->divisor, "phase", d->phase, "delay", d->delay,
                                    "parameters", parameters_json(run, d), "channels", channels_json(run, d->name)));
  }
  json_t *links = json_array();
  for (size_t i = 0; i < run->link_count; i++)
    json_array_append_new(links, json_pack("{s:s, s:f, s:o}", "name", run->links[i].name, "rate",
                                           1e9 / ((double)run->plant.step_ns * run->links[i].divisor), "inside",
                                           orr_controller_json(run, &run->links[i])));
  json_object_set_new(root, "links", links);
  struct orr_frame_cost cost = orr_plant_frame_cost(&run->plant);
  json_object_set_new(root, "evaluations", json_pack("{s:i, s:i}", "plain", cost.plain, "worst", cost.worst));
  json_object_set_new(root, "stability", stability_json(run, stability));
  json_object_set_new(root, "devices", devices);
  json_object_set_new(root, "procedure",
                      json_pack("{s:i, s:I, s:I}", "steps", run->sequence.count > 0 ? run->sequence.count - 1 : 0,
                                "faults", (json_int_t)run->fault_count, "expectations", (json_int_t)run->expect_count));
  json_object_set_new(root, "channels", json_integer(run->table.count));
  json_object_set_new(root, "channel_list", channel_list_json(run, patterns));
  return root;
}
