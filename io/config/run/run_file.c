#include "io/config/run/run_file.h"

#include <math.h>
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/config/spacecraft/mappings.h"

/* ---- simulation -------------------------------------------------------------------------------------------------- */

struct simulation_keys {
  int64_t step, substeps, duration, seed;
  int integrator;
  struct orr_place initial;
};

static const struct orr_range substeps_range = {1, 1000, false};
static const struct orr_range step_range = {1e-6, 10, false};
static const struct orr_range seed_range = {0, 9007199254740992.0, false};

static const struct orr_key simulation_table[] = {
    {.name = "step",
     .doc = "length of a frame; its inverse is the base rate, which all other rates divide",
     .type = ORR_KEY_TIME,
     .required = true,
     .range = &step_range,
     .offset = offsetof(struct simulation_keys, step)},
    {.name = "substeps",
     .doc = "steps of the integrator in a frame; commands are held over them",
     .type = ORR_KEY_WHOLE,
     .range = &substeps_range,
     .fallback = "1",
     .offset = offsetof(struct simulation_keys, substeps)},
    {.name = "integrator",
     .doc = "order 4, 2, 1, and 2 with stiff modes taken implicitly; semi_implicit not for trees that fly free",
     .type = ORR_KEY_CHOICE,
     .choices = orr_integrator_names,
     .fallback = "rk4",
     .offset = offsetof(struct simulation_keys, integrator)},
    {.name = "duration",
     .doc = "simulated time of the run, whole steps",
     .type = ORR_KEY_TIME,
     .range = &orr_range_positive,
     .absent = "until a signal or flight software ends it, in real time only",
     .offset = offsetof(struct simulation_keys, duration)},
    {.name = "seed",
     .doc = "of all noise: the same seed gives the same bits",
     .type = ORR_KEY_WHOLE,
     .range = &seed_range,
     .fallback = "1",
     .offset = offsetof(struct simulation_keys, seed)},
    {.name = "initial",
     .doc = "the state at frame 0, by body",
     .type = ORR_KEY_PLACE,
     .absent = "zero",
     .shape = ORR_NAMED("body", ORR_MAPPING(orr_state_mapping)),
     .offset = offsetof(struct simulation_keys, initial)},
};

const struct orr_mapping orr_simulation_mapping = {
    .name = "simulation",
    .doc = "How the motion is computed, from which state and for how long. Every run has this section.",
    ORR_KEYS(simulation_table),
    .example = "simulation:\n"
               "  step: 10 ms\n"
               "  integrator: rk4\n"
               "  duration: 60 s\n"
               "  seed: 1\n"
               "  initial: {bus: {rate: [1 deg/s, 0, 0]}, wing: {q: 0.1, eta: [0.002]}}\n",
};

/* The first section of the run, else its spacecraft. */
static orr_source anywhere(const struct orr_run_draft *d) {
  orr_source first = orr_config_description(d->config)->source;
  uint32_t offset = UINT32_MAX;
  for (size_t i = 0; i < ORR_SECTION_COUNT; i++) {
    struct orr_place key = orr_config_section_key(d->config, (enum orr_section)i);
    if (key.node && key.node->offset < offset) {
      offset = key.node->offset;
      first = orr_place_source(d->reader->diagnostics, key);
    }
  }
  return first;
}

bool orr_run_is_set(struct orr_run_draft *d, const struct orr_thing *thing, const char *key) {
  const struct orr_sources *sources = orr_diagnostics_sources(d->reader->diagnostics);
  struct orr_place value = thing->place.node ? orr_read_member(d->reader, thing, key) : thing->place;
  return value.node && strncmp(orr_sources_file_name(sources, value.node->file), "--set ", 6) == 0;
}

/* A body that flies free and carries others, or modes; NULL: there is none. */
static const char *free_tree(const struct orr_description *craft) {
  for (size_t i = 0; i < craft->body_count; i++) {
    const struct orr_body_desc *body = &craft->bodies[i];
    bool carries = body->mode_count > 0;
    for (size_t k = 0; k < craft->body_count; k++)
      carries |= craft->bodies[k].hinge.parent == (int)i;
    if (carries && body->hinge.kind == ORR_HINGE_FREE && body->hinge.parent == ORR_INERTIAL)
      return body->name;
  }
  return NULL;
}

/* Its first order loses momentum: 0.4 of it in 100 s of the flight that core/README.md tells of. */
static void judge_integrator(struct orr_run_draft *d, const struct orr_thing *thing, enum orr_integrator integrator) {
  const char *body = integrator == ORR_SEMI_IMPLICIT && !d->blind ? free_tree(orr_config_description(d->config)) : NULL;
  if (body)
    orr_read_error(d->reader, orr_read_member(d->reader, thing, "integrator"), "momentum",
                   "semi_implicit does not keep the momentum of '%s', which flies free with what hangs on it; take "
                   "rk4, or implicit_modal where modes are stiff",
                   body);
}

static void read_simulation(struct orr_run_draft *d) {
  struct simulation_keys keys = {.substeps = 1};
  const struct orr_thing thing = {.what = "simulation",
                                  .place = orr_config_section(d->config, ORR_SECTION_SIMULATION),
                                  .key = orr_config_section_key(d->config, ORR_SECTION_SIMULATION)};
  uint64_t present;
  if (!thing.place.node) {
    orr_report(d->reader->diagnostics, ORR_ERROR, anywhere(d), "missing-key",
               "a run needs a section 'simulation' with a 'step', and this file has none");
    return;
  }
  orr_read_mapping(d->reader, &thing, &orr_simulation_mapping, &keys, &present);
  if (keys.step % keys.substeps)
    orr_read_error(d->reader, orr_read_member(d->reader, &thing, "substeps"), "substeps",
                   "a step of %lld ns cannot be divided into %lld sub-steps of whole nanoseconds", (long long)keys.step,
                   (long long)keys.substeps);
  if (keys.step && keys.duration % keys.step)
    orr_read_error(d->reader, orr_read_member(d->reader, &thing, "duration"), "duration",
                   "the duration is no whole number of steps: %.9g s of %.9g s", 1e-9 * (double)keys.duration,
                   1e-9 * (double)keys.step);
  judge_integrator(d, &thing, (enum orr_integrator)keys.integrator);
  d->run->plant.step_ns = keys.step;
  d->run->step_source = orr_place_source(d->reader->diagnostics, orr_read_member(d->reader, &thing, "step"));
  d->run->plant.substeps = (int)keys.substeps;
  d->run->plant.integrator = (enum orr_integrator)keys.integrator;
  d->run->plant.seed = (uint64_t)keys.seed;
  d->run->duration_ns = keys.duration;
  d->ends_by_file = keys.duration > 0 && !orr_run_is_set(d, &thing, "duration");
  if (keys.initial.node && !orr_expect_mapping(d->reader, keys.initial, "initial"))
    keys.initial.node = NULL;
  if (!d->blind)
    d->run->initial = orr_case_read_state(d->config, keys.initial);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void build_table(struct orr_run_draft *d) {
  struct orr_channel_table *table = &d->run->table;
  orr_plant_declare(&d->run->plant, table);
  size_t bytes = orr_channels_size(table);
  struct orr_block block = {.base = orr_arena_alloc(d->reader->arena, 1, bytes), .size = bytes};
  orr_channels_place(table, &block);
  orr_plant_declare(&d->run->plant, table);
  orr_channels_seal(table);
}

static void finish_plant(struct orr_run_draft *d) {
  struct orr_run *run = d->run;
  const struct orr_body_desc *bodies = orr_config_description(d->config)->bodies;
  size_t rotors = orr_plant_rotors(bodies, d->devices, d->device_count, NULL);
  struct orr_rotor_desc *list = orr_arena_alloc(d->reader->arena, rotors, sizeof *list);
  orr_plant_rotors(bodies, d->devices, d->device_count, list);
  run->spacecraft = *orr_config_description(d->config);
  run->spacecraft.rotors = list;
  run->spacecraft.rotor_count = rotors;
  run->plant.spacecraft = &run->spacecraft;
  run->plant.devices = d->devices;
  run->plant.device_count = d->device_count;
}

static const struct orr_run *read_sections(struct orr_config *config) {
  struct orr_draft *draft = orr_config_draft(config);
  struct orr_run_draft d = {.config = config, .draft = draft, .reader = draft->reader};
  size_t errors = orr_diagnostics_errors(d.reader->diagnostics);
  d.run = orr_arena_alloc(d.reader->arena, 1, sizeof *d.run);
  d.run->config = config;
  d.blind = !orr_config_spacecraft_is_good(config);
  read_simulation(&d);
  orr_run_read_environment(&d);
  orr_run_read_realtime(&d);
  size_t before = orr_diagnostics_errors(d.reader->diagnostics);
  orr_run_read_devices(&d, ORR_SECTION_ACTUATORS, ORR_ACTUATOR);
  orr_run_read_devices(&d, ORR_SECTION_SENSORS, ORR_SENSOR);
  orr_run_check_devices(&d);
  orr_run_read_pointings(&d);
  orr_run_judge_starts(&d);
  orr_run_add_world(&d);
  d.partial = d.blind || orr_diagnostics_errors(d.reader->diagnostics) > before;
  finish_plant(&d);
  if (!d.blind)
    build_table(&d);
  orr_run_read_script(&d);
  orr_run_read_links(&d);
  orr_run_read_faults(&d);
  orr_run_read_sequence(&d);
  orr_run_read_record(&d);
  orr_run_read_expect(&d);
  if (!d.blind && orr_diagnostics_errors(d.reader->diagnostics) == errors) {
    orr_run_doubt_limits(&d);
    orr_run_judge_loop_forces(&d);
  }
  return d.blind || orr_diagnostics_errors(d.reader->diagnostics) > errors ? NULL : d.run;
}

const struct orr_run *orr_run_read(struct orr_config *config) {
  struct orr_diagnostics *d = orr_config_draft(config)->reader->diagnostics;
  size_t first = orr_diagnostics_count(d);
  const struct orr_run *run = read_sections(config);
  orr_diagnostics_sort(d, first);
  return run;
}

/* Both at once, so that the messages of both stand in one order. */
static struct orr_config *load(const char *path, const struct orr_config_options *options, struct orr_diagnostics *d,
                               bool always, const struct orr_run **run) {
  size_t errors = orr_diagnostics_errors(d), first = orr_diagnostics_count(d);
  struct orr_config *config = orr_config_read(path, options, d);
  *run = NULL;
  if (orr_config_is_run(config) || (always && orr_diagnostics_errors(d) == errors))
    *run = read_sections(config);
  orr_diagnostics_sort(d, first);
  return orr_diagnostics_errors(d) > errors ? NULL : config;
}

const struct orr_run *orr_run_load(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics) {
  const struct orr_run *run;
  return load(path, options, diagnostics, true, &run) ? run : NULL;
}

struct orr_config *orr_run_check(const char *path, const struct orr_config_options *options,
                                 struct orr_diagnostics *diagnostics, const struct orr_run **run) {
  return load(path, options, diagnostics, false, run);
}
