/* `orrery help devices` and `orrery help channels`. */
#include <string.h>

#include "core/devices/devices.h"
#include "core/plant/plant.h"
#include "core/plant/world.h"
#include "io/config/text/names.h"
#include "tools/reference/language.h"
#include "tools/reference/reference.h"

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* "N m (N on a distance), x y z": unit and numbers of a channel. */
static void describe_numbers(const char *unit, const char *linear, enum orr_channel_type type, int count,
                             const char *const *elements, char text[ORR_LANGUAGE_TEXT]) {
  const char *what = type == ORR_CHANNEL_FLAG ? "0 or 1" : unit && *unit ? unit : "plain number";
  int used = snprintf(text, ORR_LANGUAGE_TEXT, "%s", what);
  if (linear)
    used += snprintf(text + used, (size_t)(ORR_LANGUAGE_TEXT - used), " or %s", linear);
  if (elements)
    used += snprintf(text + used, (size_t)(ORR_LANGUAGE_TEXT - used), " as");
  for (int i = 0; elements && i < count; i++)
    used += snprintf(text + used, (size_t)(ORR_LANGUAGE_TEXT - used), " %s", elements[i]);
  if (!elements && count > 1)
    snprintf(text + used, (size_t)(ORR_LANGUAGE_TEXT - used), ", %d numbers", count);
  else if (!elements && count == 0)
    snprintf(text + used, (size_t)(ORR_LANGUAGE_TEXT - used), ", as many as there are");
}

static const char *direction(enum orr_channel_direction direction, enum orr_channel_hold hold) {
  return direction == ORR_CHANNEL_OUTPUT ? "output" : hold == ORR_CHANNEL_PULSE ? "command, once" : "command";
}

static const char *const channel_titles[] = {"channel", "unit", "direction", "what it is"};

static void print_channels(struct orr_page *page, const struct orr_device_kind *kind, const char *entity) {
  orr_page_titles(page, channel_titles, 4);
  for (size_t i = 0; i < kind->channel_count; i++) {
    const struct orr_device_channel *c = &kind->channels[i];
    char name[128], numbers[ORR_LANGUAGE_TEXT];
    snprintf(name, sizeof name, "%s.%s", entity, c->name);
    describe_numbers(c->unit, c->unit_linear, c->type, c->count, c->elements, numbers);
    const char *const cells[] = {name, numbers, direction(c->direction, c->hold), c->doc};
    orr_page_row(page, cells, 4);
  }
}

enum orr_exit orr_reference_channels(struct orr_page *page, const char *nothing, bool example) {
  (void)nothing;
  (void)example;
  orr_page_heading(page, 1, "Channels");
  orr_page_paragraph(page,
                     "A channel is a named signal: `DEVICE.quantity`, `BODY.quantity` or `BODY.NODE.quantity`. It "
                     "has numbers of one unit, in SI, and a direction: an output comes from the plant, a command "
                     "goes to it and is held until the next one (or is applied once). One number of a channel is "
                     "named by its element or index: `gyro.rate.x`, `gyro.rate[0]`. `*` stands for any letters in "
                     "lists of channels. `orrery check --channels FILE` lists the channels of a run.");
  orr_page_heading(page, 2, "Bodies, nodes and loops");
  orr_page_paragraph(page,
                     "What is ideal: without noise, in every frame, computed where somebody asks for it. The unit "
                     "of coordinates follows from the hinge.");
  orr_page_titles(page, channel_titles, 4);
  const struct orr_channel *c;
  const char *of;
  for (size_t i = 0; (c = orr_plant_channel(i, &of)); i++) {
    char name[128], numbers[ORR_LANGUAGE_TEXT];
    snprintf(name, sizeof name, "%s.%s", of, c->name);
    describe_numbers(c->unit ? c->unit : "of the hinge", NULL, c->type, c->count, c->elements, numbers);
    const char *const cells[] = {name, numbers, direction(c->direction, c->hold), c->doc};
    orr_page_row(page, cells, 4);
  }
  orr_page_heading(page, 2, "The environment");
  orr_page_paragraph(page, "In a run whose `environment` has an epoch, where it has the term.");
  print_channels(page, &orr_world_kind, "environment");
  print_channels(page, &orr_world_place_kind, "BODY");
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++) {
    orr_page_heading(page, 2, (*k)->name);
    print_channels(page, *k, "DEVICE");
  }
  return ORR_EXIT_OK;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static const char *host(const struct orr_device_kind *kind) {
  if (kind->host == ORR_ON_NODE)
    return kind->flexible_host ? "It sits on a node of a body with modes." : "It sits on a node.";
  return kind->host == ORR_ON_HINGE ? "It sits on a hinge." : "It sits on one coordinate of a hinge.";
}

static const char *const roles[] = {[ORR_ACTUATOR] = "actuators", [ORR_SENSOR] = "sensors"};

/* Bytes up to and with the next comma between the keys of an entry: outside lists and the mappings in it. */
static size_t next_key(const char *at, int *depth) {
  size_t n = 0;
  for (; at[n]; n++) {
    *depth += (at[n] == '{' || at[n] == '[') - (at[n] == '}' || at[n] == ']');
    if (at[n] == ',' && *depth == 1)
      return n + 1;
  }
  return n;
}

/* The entry of an example two columns in, broken between its keys so that no line is over 98 columns. */
static void lay_out(const char *example, char *lines, size_t size) {
  enum { WIDTH = 98 };
  int depth = 0;
  size_t used = (size_t)snprintf(lines, size, "  "), column = used, indent = strcspn(example, "{") + 3;
  for (bool first = true; *example && used < size; first = false) {
    size_t n = next_key(example, &depth);
    if (!first && column + n > WIDTH) {
      example++; /* the space before it */
      used += (size_t)snprintf(lines + used, size - used, "\n%*s", (int)indent, "");
      column = indent;
      n--;
    }
    used += (size_t)snprintf(lines + used, used < size ? size - used : 0, "%.*s", (int)n, example);
    column += n;
    example += n;
  }
  if (used < size)
    snprintf(lines + used, size - used, "\n");
}

static void print_keys(struct orr_page *page, const struct orr_device_kind *kind) {
  enum { MOST = 64 };
  struct orr_key keys[MOST];
  struct orr_range ranges[MOST];
  char texts[MOST][ORR_LANGUAGE_TEXT];
  size_t count = 0;
  for (size_t i = 0; i < orr_device_mapping.key_count; i++)
    if (orr_device_takes(kind, &orr_device_mapping.keys[i]) && strcmp(orr_device_mapping.keys[i].name, "kind") != 0)
      keys[count++] = orr_device_mapping.keys[i];
  for (size_t i = 0; i < kind->param_count && count < MOST; i++, count++)
    keys[count] = orr_language_param(&kind->params[i], &ranges[count], texts[count]);
  orr_reference_keys(page, keys, count);
}

static void print_kind(struct orr_page *page, const struct orr_device_kind *kind) {
  char text[1000];
  orr_page_heading(page, page->markdown ? 3 : 1, kind->name);
  snprintf(text, sizeof text, "%s %s%s", kind->doc, host(kind),
           kind->needs_world & ORR_NEEDS_FIELD ? " It needs an environment with a magnetic field."
           : kind->needs_world                 ? " It needs an environment with an epoch."
                                               : "");
  orr_page_paragraph(page, text);
  orr_page_code(page, "text", kind->equation);
  print_keys(page, kind);
  print_channels(page, kind, "NAME");
  size_t used = (size_t)snprintf(text, sizeof text, "%s:\n", roles[kind->role]);
  lay_out(kind->example, text + used, sizeof text - used);
  orr_page_code(page, "yaml", text);
}

static void print_kinds(struct orr_page *page, enum orr_device_role role) {
  static const char *const titles[] = {"kind", "what it is"};
  orr_page_heading(page, 2, role == ORR_SENSOR ? "Sensors" : "Actuators");
  if (!page->markdown)
    orr_page_titles(page, titles, 2);
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++) {
    if ((*k)->role != role)
      continue;
    if (page->markdown)
      print_kind(page, *k);
    else
      fprintf(page->out, "  %-20s%.*s\n", (*k)->name, (int)strcspn((*k)->doc, ".:,"), (*k)->doc);
  }
}

/* A run file with every kind. */
static void print_example(FILE *out) {
  fprintf(out, "orrery: 1\n%s", orr_body_mapping.example);
  for (int role = ORR_ACTUATOR; role <= ORR_SENSOR; role++) {
    fprintf(out, "%s:\n", roles[role]);
    for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
      if ((int)(*k)->role == role) {
        char lines[1000];
        lay_out((*k)->example, lines, sizeof lines);
        fputs(lines, out);
      }
  }
  fprintf(out, "%s%s  step: 10 ms\n  duration: 2 s\n", orr_environment_mapping.example, orr_orbit_mapping.example);
}

static enum orr_exit unknown_kind(const char *name) {
  struct orr_nearest nearest = {.wanted = name};
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
    orr_nearest_offer(&nearest, (*k)->name);
  fprintf(stderr, "orrery help devices: no kind '%s'", name);
  if (nearest.best)
    fprintf(stderr, ", did you mean '%s'?", nearest.best);
  fputs("\n'orrery help devices' lists them.\n", stderr);
  return ORR_EXIT_USAGE;
}

enum orr_exit orr_reference_devices(struct orr_page *page, const char *name, bool example) {
  const struct orr_device_kind *kind = name ? orr_device_kind_find(name) : NULL;
  if (example) {
    print_example(page->out);
    return ORR_EXIT_OK;
  }
  if (name && !kind)
    return unknown_kind(name);
  if (kind) {
    print_kind(page, kind);
    return ORR_EXIT_OK;
  }
  orr_page_heading(page, 1, "Sensors and actuators");
  if (page->markdown)
    orr_page_paragraph(page,
                       "Printed by `orrery help devices --markdown` from the tables that the reader reads by; `make "
                       "reference` writes it again. Frames and signs stand in [conventions.md](conventions.md), the "
                       "sections of a file in [run-file.md](run-file.md). `orrery help devices --example` prints a run "
                       "file with every kind, which flies beside a copy of `configs/data`.");
  orr_page_paragraph(page,
                     "A device stands under `actuators` or `sensors` by its name, with a `kind`. Its name and its "
                     "channels join: `gyro.rate`. A key with a dot, `noise.across`, stands in a mapping of its "
                     "own: `noise: {across: 10 arcsec}`. A unit is what a bare number means; where two are named, "
                     "the first is of an angle and the second of a distance. n stands for normal noise of deviation "
                     "1, T for the time between samples.");
  orr_page_paragraph(page, "What all have; the last three are of sensors:");
  orr_reference_keys(page, orr_device_mapping.keys, orr_device_mapping.key_count);
  print_kinds(page, ORR_ACTUATOR);
  print_kinds(page, ORR_SENSOR);
  if (!page->markdown)
    fputs("\n  'orrery help devices KIND' has its equation, keys, channels and an example;\n"
          "  'orrery help devices --example' prints a run file with every kind; it flies beside a copy of\n"
          "  configs/data, whose tables it names.\n",
          page->out);
  return ORR_EXIT_OK;
}
