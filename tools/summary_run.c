#include "tools/summary_run.h"

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

static void print_devices(const struct orr_run *run, enum orr_device_role role, FILE *out) {
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    char host[300];
    if (d->kind->role != role)
      continue;
    print_host(run, d, host, sizeof host);
    fprintf(out, "  %-12s %s on %s", d->name, d->kind->name, host);
    if (role == ORR_SENSOR)
      fprintf(out, ", %.6g Hz", 1e9 / ((double)run->plant.step_ns * d->divisor));
    if (d->phase || d->delay)
      fprintf(out, ", phase %d, delay %d frames", d->phase, d->delay);
    print_channels(run, d, out);
    fputc('\n', out);
  }
}

void orr_summary_run_print(const struct orr_run *run, FILE *out) {
  fprintf(out, "run: %.6g Hz, %s%s", 1e9 / (double)run->plant.step_ns, orr_integrator_names[run->plant.integrator],
          run->duration_ns ? "" : ", until stopped");
  if (run->plant.substeps > 1)
    fprintf(out, ", %d sub-steps", run->plant.substeps);
  if (run->duration_ns)
    fprintf(out, ", %.9g s", 1e-9 * (double)run->duration_ns);
  fprintf(out, ", seed %llu\n", (unsigned long long)run->plant.seed);
  print_devices(run, ORR_ACTUATOR, out);
  print_devices(run, ORR_SENSOR, out);
  for (size_t i = 0; i < run->plant.pointing_count; i++)
    fprintf(out, "  %s points by %zu target%s\n", run->spacecraft.bodies[run->plant.pointings[i].body].name,
            run->plant.pointings[i].target_count, run->plant.pointings[i].target_count == 1 ? "" : "s");
  if (run->script_count)
    fprintf(out, "  %zu scripted command%s\n", run->script_count, run->script_count == 1 ? "" : "s");
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

json_t *orr_summary_run_json(const struct orr_run *run) {
  json_t *root = json_object(), *devices = json_array();
  json_object_set_new(root, "step_ns", json_integer(run->plant.step_ns));
  json_object_set_new(root, "substeps", json_integer(run->plant.substeps));
  json_object_set_new(root, "integrator", json_string(orr_integrator_names[run->plant.integrator]));
  json_object_set_new(root, "duration_ns", json_integer(run->duration_ns));
  json_object_set_new(root, "seed", json_integer((json_int_t)run->plant.seed));
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    char host[300];
    print_host(run, d, host, sizeof host);
    json_array_append_new(devices, json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:o}", "name", d->name, "kind",
                                             d->kind->name, "on", host, "divisor", d->divisor, "phase", d->phase,
                                             "delay", d->delay, "channels", channels_json(run, d->name)));
  }
  json_object_set_new(root, "devices", devices);
  json_object_set_new(root, "channels", json_integer(run->table.count));
  return root;
}
