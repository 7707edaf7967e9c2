#include "tests/support/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/energy.h"
#include "tests/support/fields.h"

static const struct orr_run *read_text(const char *text, struct orr_diagnostics *d) {
  const struct orr_text_file file = {"run.yaml", text, strlen(text)};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  return orr_run_load("run.yaml", &options, d);
}

static void die(struct orr_diagnostics *d, const char *what) {
  orr_diagnostics_print(d, 0, stderr, false);
  fprintf(stderr, "%s\n", what);
  abort();
}

static struct orr_flight fly(const struct orr_run *run, struct orr_diagnostics *d, const char *watch) {
  struct orr_flight f = {.diagnostics = d, .run = run};
  if (!f.run)
    die(f.diagnostics, "the run file of a test is wrong");
  f.session = orr_session_create(f.run, NULL);
  f.plant = f.session->plant;
  for (int i = 0; watch && i < f.plant->table.count; i++)
    if (orr_channel_matches(watch, f.plant->table.channels[i].name))
      orr_plant_ask(f.plant, i);
  if (orr_session_start(f.session) != ORR_OK)
    die(f.diagnostics, "the solver fails at the initial state");
  return f;
}

struct orr_flight orr_flight_make(const char *text, const char *watch) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  return fly(read_text(text, d), d, watch);
}

struct orr_flight orr_flight_beside(const char *text, const char *path, const char *name, const char *watch) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_text other = orr_field_text(orr_diagnostics_arena(d), path);
  const struct orr_text_file files[2] = {{"run.yaml", text, strlen(text)}, {name, other.bytes, other.length}};
  const struct orr_config_options options = {.files = files, .file_count = 2};
  return fly(orr_run_load("run.yaml", &options, d), d, watch);
}

struct orr_flight orr_flight_in_field(const char *text, const char *watch) {
  return orr_flight_beside(text, "configs/data/wmm2025.cof", "wmm.cof", watch);
}

void orr_flight_free(struct orr_flight *f) {
  orr_session_destroy(f->session);
  orr_diagnostics_destroy(f->diagnostics);
}

void orr_flight_refuse(const char *text, char *message, size_t size, size_t *line) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  if (read_text(text, d))
    die(d, "the wrong run file of a test is accepted");
  for (size_t i = 0; i < orr_diagnostics_count(d); i++) {
    struct orr_message m = orr_diagnostics_get(d, i);
    if (m.severity != ORR_ERROR)
      continue;
    struct orr_location at = orr_sources_get(orr_diagnostics_sources(d), m.at);
    snprintf(message, size, "%s", m.text);
    *line = at.file ? orr_sources_line(orr_diagnostics_sources(d), at.file, at.offset).number : 0;
    break;
  }
  orr_diagnostics_destroy(d);
}

void orr_flight_run(struct orr_flight *f, int frames) {
  for (int i = 0; i < frames; i++)
    for (const struct orr_session_stage *stage = orr_session_stages; stage->name; stage++)
      if (orr_session_stage_run(stage, f->session) != 0 && f->session->status != ORR_OK)
        die(f->diagnostics, "the solver fails in flight");
}

static double *number(const struct orr_flight *f, const char *name) {
  int element, channel = orr_channel_find_element(&f->plant->table, name, &element);
  if (channel < 0) {
    fprintf(stderr, "a test asks for the channel '%s', which is not there\n", name);
    abort();
  }
  return f->plant->values + f->plant->table.channels[channel].offset + (element < 0 ? 0 : element);
}

double orr_flight_value(const struct orr_flight *f, const char *name) { return *number(f, name); }

void orr_flight_command(struct orr_flight *f, const char *name, double value) { *number(f, name) = value; }

double orr_flight_energy(struct orr_flight *f) {
  return orr_kinetic_energy(f->session->model, f->session->ws) +
         orr_potential_energy(f->session->model, f->session->ws);
}

orr_vec3 orr_flight_vector(const struct orr_flight *f, const char *name) {
  char text[80];
  double x[3];
  for (int k = 0; k < 3; k++) {
    snprintf(text, sizeof text, "%s.%c", name, "xyz"[k]);
    x[k] = orr_flight_value(f, text);
  }
  return v3_from(x);
}

orr_mat3 orr_flight_turn(const struct orr_flight *f, const char *name) {
  char text[80];
  double q[4];
  for (int k = 0; k < 4; k++) {
    snprintf(text, sizeof text, "%s.%c", name, "xyzw"[k]);
    q[k] = orr_flight_value(f, text);
  }
  return quat_matrix(q);
}

orr_spatial orr_flight_momentum(struct orr_flight *f) { return orr_momentum(f->session->model, f->session->ws); }
