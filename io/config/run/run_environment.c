/* `environment`: an epoch makes it a world around one orbit; without one it only says that there is no gravity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/devices/devices.h"
#include "core/math/elementary.h"
#include "io/config/environment/tables.h"
#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"

static const double longest = 10 * 366 * 86400.0; /* s, of a run whose sky is summed before it */

/* μ, equatorial radius: GRS 80 as in WGS 84; DE440 and the IAU's report of 2015. */
static const struct {
  double mu, radius;
} bodies[ORR_CENTRAL_COUNT] = {[ORR_EARTH] = {3.986004418e14, 6378137},
                               [ORR_MOON] = {4.902800118e12, 1737400},
                               [ORR_MARS] = {4.282837362e13, 3396190}};

/* ---- what the section may say ------------------------------------------------------------------------------------ */

static const char none_word[] = "none";
static const char *const none_words[] = {none_word, NULL};

#define OR_NONE(shape) ORR_EITHER(shape, ORR_WORD(none_words))

struct gravity_keys {
  struct orr_place file;
  int64_t degree, order;
  double j2;
};

static const struct orr_range degree_range = {2, ORR_HARMONICS_DEGREE, false},
                              order_range = {0, ORR_HARMONICS_DEGREE, false};

static const struct orr_key gravity_table[] = {
    {.name = "file",
     .doc = "coefficients as published: ICGEM .gfc, or a table like data/ggm03s_70.txt",
     .type = ORR_KEY_PLACE,
     .absent = "`j2` says the field",
     .shape = ORR_TEXT("a path"),
     .offset = offsetof(struct gravity_keys, file)},
    {.name = "degree",
     .doc = "degree up to which they are used; a `file` needs it",
     .type = ORR_KEY_WHOLE,
     .range = &degree_range,
     .absent = "`j2` says the field",
     .offset = offsetof(struct gravity_keys, degree)},
    {.name = "order",
     .doc = "order up to which they are used, at most the degree",
     .type = ORR_KEY_WHOLE,
     .range = &order_range,
     .absent = "the degree",
     .offset = offsetof(struct gravity_keys, order)},
    {.name = "j2",
     .doc = "J2, not normalised, in place of a file",
     .type = ORR_KEY_NUMBER,
     .absent = "a `file` says the field",
     .offset = offsetof(struct gravity_keys, j2)},
};

static const struct orr_mapping gravity_mapping = {
    .name = "environment.gravity",
    .doc = "The field of the central body, with its gradient: from a file, or with J2 alone.",
    ORR_KEYS(gravity_table)};

struct magnetic_keys {
  struct orr_place file, files;
};

static const struct orr_key magnetic_table[] = {
    {.name = "file",
     .doc = "coefficients as published: WMM (.cof) or IGRF (igrfNNcoeffs.txt)",
     .type = ORR_KEY_PLACE,
     .absent = "`files` are given",
     .shape = ORR_TEXT("a path"),
     .offset = offsetof(struct magnetic_keys, file)},
    {.name = "files",
     .doc = "two tables of IGRF, between whose epochs the run lies",
     .type = ORR_KEY_PLACE,
     .absent = "a `file` is given",
     .shape = ORR_PAIR(ORR_TEXT("a path"), ORR_TEXT("a path")),
     .offset = offsetof(struct magnetic_keys, files)},
};

static const struct orr_mapping magnetic_mapping = {
    .name = "environment.magnetic_field", .doc = "The magnetic field of the central body.", ORR_KEYS(magnetic_table)};

static const char *const atmosphere_names[] = {none_word, "exponential", "us76", "nrlmsise00", NULL};

struct atmosphere_keys {
  int model;
  double density, base, scale, f107, f107_average, ap;
};

#define AIR(member)                                                                                                    \
  .type = ORR_KEY_NUMBER, .range = &orr_range_not_negative, .offset = offsetof(struct atmosphere_keys, member)

static const struct orr_key atmosphere_table[] = {
    {.name = "model",
     .doc = "exponential with its three keys; us76 and nrlmsise00 are the Earth's",
     .type = ORR_KEY_CHOICE,
     .required = true,
     .choices = atmosphere_names,
     .offset = offsetof(struct atmosphere_keys, model)},
    {.name = "density",
     .doc = "exponential: density at `base`",
     .absent = "another model",
     .unit = "kg/m^3",
     AIR(density)},
    {.name = "base",
     .doc = "exponential: altitude where it is `density`",
     .absent = "another model",
     .unit = "m",
     AIR(base)},
    {.name = "scale",
     .doc = "exponential: altitude over which it falls by e",
     .absent = "another model",
     .unit = "m",
     AIR(scale)},
    {.name = "f107",
     .doc = "nrlmsise00: solar flux of the day before, 1e-22 W/m^2/Hz",
     .absent = "another model",
     AIR(f107)},
    {.name = "f107_average", .doc = "nrlmsise00: its mean over 81 days", .absent = "another model", AIR(f107_average)},
    {.name = "ap", .doc = "nrlmsise00: daily magnetic index", .absent = "another model", AIR(ap)},
};

static const struct orr_mapping atmosphere_mapping = {
    .name = "environment.atmosphere",
    .doc = "The air, which turns with the central body. Surfaces feel it.",
    ORR_KEYS(atmosphere_table)};

static const struct orr_range share_range = {0, 1, false};

struct sun_keys {
  bool pressure;
  double albedo, infrared;
};

static const struct orr_key sun_table[] = {
    {.name = "pressure",
     .doc = "sunlight presses on surfaces",
     .type = ORR_KEY_FLAG,
     .fallback = "false",
     .offset = offsetof(struct sun_keys, pressure)},
    {.name = "albedo",
     .doc = "part of the sunlight that the central body reflects, as if from its centre",
     .type = ORR_KEY_NUMBER,
     .range = &share_range,
     .fallback = "0",
     .offset = offsetof(struct sun_keys, albedo)},
    {.name = "infrared",
     .doc = "what the central body radiates at its surface",
     .type = ORR_KEY_NUMBER,
     .unit = "W/m^2",
     .range = &orr_range_not_negative,
     .fallback = "0",
     .offset = offsetof(struct sun_keys, infrared)},
};

static const struct orr_mapping sun_mapping = {
    .name = "environment.sun", .doc = "Light on the surfaces.", ORR_KEYS(sun_table)};

struct surface_keys {
  struct orr_place node, normal;
  double area, specular, diffuse, drag;
};

static const struct orr_key surface_table[] = {
    {.name = "node",
     .doc = "where its forces act",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_node,
     .offset = offsetof(struct surface_keys, node)},
    {.name = "normal",
     .doc = "outward normal, node axes",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_direction,
     .offset = offsetof(struct surface_keys, normal)},
    {.name = "area",
     .doc = "its area",
     .type = ORR_KEY_NUMBER,
     .required = true,
     .unit = "m^2",
     .range = &orr_range_positive,
     .offset = offsetof(struct surface_keys, area)},
    {.name = "specular",
     .doc = "part of light that it mirrors; with `diffuse` at most 1",
     .type = ORR_KEY_NUMBER,
     .range = &share_range,
     .fallback = "0",
     .offset = offsetof(struct surface_keys, specular)},
    {.name = "diffuse",
     .doc = "part of light that it scatters",
     .type = ORR_KEY_NUMBER,
     .range = &share_range,
     .fallback = "0",
     .offset = offsetof(struct surface_keys, diffuse)},
    {.name = "drag",
     .doc = "coefficient of drag",
     .type = ORR_KEY_NUMBER,
     .range = &orr_range_not_negative,
     .fallback = "2.2",
     .offset = offsetof(struct surface_keys, drag)},
};

static const struct orr_mapping surface_mapping = {
    .name = "environment.surfaces",
    .doc = "One side of a plate that feels air and light that meet it. Plates throw no shadow on each other.",
    ORR_KEYS(surface_table)};

struct element_keys {
  double a, e, i, node, perigee, anomaly;
};

static const struct orr_range ellipse_range = {0, 0.99, false};

#define ELEMENT(member) .type = ORR_KEY_NUMBER, .offset = offsetof(struct element_keys, member)

static const struct orr_key element_table[] = {
    {.name = "semi_major_axis",
     .doc = "half of the long axis of the ellipse",
     .unit = "m",
     .required = true,
     .range = &orr_range_positive,
     ELEMENT(a)},
    {.name = "eccentricity", .doc = "of the ellipse", .range = &ellipse_range, .fallback = "0", ELEMENT(e)},
    {.name = "inclination",
     .doc = "against the equator of the inertial axes",
     .unit = "rad",
     .required = true,
     ELEMENT(i)},
    {.name = "node", .doc = "right ascension of the ascending node", .unit = "rad", .fallback = "0", ELEMENT(node)},
    {.name = "perigee", .doc = "argument of perigee", .unit = "rad", .fallback = "0", ELEMENT(perigee)},
    {.name = "anomaly", .doc = "true anomaly at the epoch", .unit = "rad", .fallback = "0", ELEMENT(anomaly)},
};

static const struct orr_mapping element_mapping = {
    .name = "orbit.elements", .doc = "Kepler's elements at the epoch.", ORR_KEYS(element_table)};

struct orbit_keys {
  struct orr_place elements, position, velocity;
};

static const struct orr_key orbit_table[] = {
    {.name = "elements",
     .doc = "Kepler's elements, in place of position and velocity",
     .type = ORR_KEY_PLACE,
     .absent = "`position` and `velocity` are given",
     .shape = ORR_MAPPING(element_mapping),
     .offset = offsetof(struct orbit_keys, elements)},
    {.name = "position",
     .doc = "from the centre of the central body, inertial axes",
     .type = ORR_KEY_PLACE,
     .absent = "`elements` are given",
     .shape = ORR_NUMBERS(3, "m"),
     .offset = offsetof(struct orbit_keys, position)},
    {.name = "velocity",
     .doc = "the same, its rate",
     .type = ORR_KEY_PLACE,
     .absent = "`elements` are given",
     .shape = ORR_NUMBERS(3, "m/s"),
     .offset = offsetof(struct orbit_keys, velocity)},
    {.name = "tle", .doc = "a two-line element set", .type = ORR_KEY_UNBUILT},
};

const struct orr_mapping orr_orbit_mapping = {
    .name = "orbit",
    .doc = "Where the orbit of a run with an environment starts, under `simulation.initial` of one free body. Other "
           "spacecraft start from it by their `position` and `velocity`.",
    ORR_KEYS(orbit_table),
    .example = "simulation:\n"
               "  initial:\n"
               "    bus:\n"
               "      orbit:\n"
               "        elements: {semi_major_axis: 6878 km, eccentricity: 0.001, inclination: 51.6 deg,\n"
               "                   node: 0 deg, perigee: 0 deg, anomaly: 0 deg}\n"};

struct environment_keys {
  const char *epoch;
  int central, eclipse;
  struct orr_place epoch_place, gravity, third_bodies, magnetic_field, atmosphere, sun, eop, surfaces;
};

static const char *const eclipse_names[] = {none_word, "conical", NULL};
static const char *const gravity_words[] = {none_word, "central", NULL};
static const char *const third_words[] = {"sun", "moon", "earth", NULL};

#define PLACE(member) .type = ORR_KEY_PLACE, .offset = offsetof(struct environment_keys, member)

static const struct orr_key environment_table[] = {
    {.name = "epoch",
     .doc =
         "UTC at frame 0, 1972 to 2150, such as 2025-03-20T12:00:00; it makes the environment a world around one orbit",
     .absent = "there is no world, and `gravity: none` is all that may stand here",
     .shape = ORR_TEXT("a date and time of UTC"),
     PLACE(epoch_place)},
    {.name = "central",
     .doc = "the central body",
     .type = ORR_KEY_CHOICE,
     .choices = orr_central_names,
     .fallback = "earth",
     .offset = offsetof(struct environment_keys, central)},
    {.name = "gravity",
     .doc = "the field of the central body: none, central, or a field with harmonics",
     .absent = "central, where there is an epoch",
     .shape = ORR_EITHER(ORR_WORD(gravity_words), ORR_MAPPING(gravity_mapping)),
     PLACE(gravity)},
    {.name = "third_bodies",
     .doc = "what pulls besides: sun, moon, earth, but for the central body and the Moon at Mars",
     .absent = "none",
     .shape = ORR_LIST(ORR_WORD(third_words)),
     PLACE(third_bodies)},
    {.name = "magnetic_field",
     .doc = "the magnetic field",
     .absent = "none",
     .shape = OR_NONE(ORR_MAPPING(magnetic_mapping)),
     PLACE(magnetic_field)},
    {.name = "atmosphere",
     .doc = "the air",
     .absent = "none",
     .shape = OR_NONE(ORR_MAPPING(atmosphere_mapping)),
     PLACE(atmosphere)},
    {.name = "sun",
     .doc = "light on the surfaces",
     .absent = "none",
     .shape = OR_NONE(ORR_MAPPING(sun_mapping)),
     PLACE(sun)},
    {.name = "eclipse",
     .doc = "the shadow of the central body, with its penumbra",
     .type = ORR_KEY_CHOICE,
     .choices = eclipse_names,
     .fallback = "none",
     .offset = offsetof(struct environment_keys, eclipse)},
    {.name = "eop",
     .doc = "Earth orientation as IERS publishes it (finals2000A)",
     .absent = "UT1 is UTC, and the pole is in its place",
     .shape = ORR_TEXT("a path"),
     PLACE(eop)},
    {.name = "surfaces",
     .doc = "plates that feel air and light",
     .absent = "none",
     .shape = ORR_LIST(ORR_MAPPING(surface_mapping)),
     PLACE(surfaces)},
};

const struct orr_mapping orr_environment_mapping = {
    .name = "environment",
    .doc = "The world around one orbit. With an epoch, inertial axes are those of the GCRS, the inertial origin moves "
           "on the orbit that `simulation.initial` gives one free body, every root hangs freely, and the run has a "
           "duration. It gives the channels of `environment`.",
    ORR_KEYS(environment_table),
    .example = "environment:\n"
               "  epoch: 2025-03-20T12:00:00\n"
               "  central: earth\n"
               "  gravity: {file: data/ggm03s_70.txt, degree: 20, order: 20}\n"
               "  third_bodies: [sun, moon]\n"
               "  magnetic_field: {file: data/wmm2025.cof}\n"
               "  atmosphere: {model: nrlmsise00, f107: 150, f107_average: 150, ap: 8}\n"
               "  sun: {pressure: true, albedo: 0.3, infrared: 237 W/m^2}\n"
               "  eclipse: conical\n"
               "  surfaces: [{node: bus.imu, area: 2 m^2, normal: [1, 0, 0], specular: 0.1, diffuse: 0.2}]\n",
};

struct reading {
  struct orr_run_draft *d;
  struct orr_reader *reader;
  struct orr_thing thing;
  struct orr_world_desc *world;
  double year;
};

/* ---- time -------------------------------------------------------------------------------------------------------- */

static bool read_epoch(struct reading *r, struct orr_place place) {
  const char *text;
  struct orr_utc utc = {0};
  int used = 0, length = 0;
  if (!orr_read_text(r->reader, place, "epoch", &text))
    return false;
  /* widths bound what sscanf reads */
  bool good = sscanf(text, "%4d-%2d-%2dT%2d:%2d:%n%9lf%nZ%n", &utc.year, &utc.month, &utc.day, &utc.hour, &utc.minute,
                     &used, &utc.second, &length, &used) >= 6;
  good = good && (text[length] == 0 || strcmp(text + length, "Z") == 0);
  if (!good || utc.year < 1972 || utc.year > 2150 || !orr_sky_epoch(&utc, &r->world->sky.epoch)) {
    orr_read_error(
        r->reader, place, "epoch",
        "an epoch is a date and time of UTC from 1972 to 2150, such as 2025-03-20T12:00:00, and '%.60s' is none", text);
    return false;
  }
  r->year = orr_moment_year(r->world->sky.epoch);
  return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool read_file(struct reading *r, struct orr_place place, const char *key, struct orr_text *out) {
  const char *path;
  return orr_read_text(r->reader, place, key, &path) &&
         orr_config_text(r->d->config, path, orr_place_source(r->reader->diagnostics, place), &out->bytes,
                         &out->length);
}

static void table_error(struct reading *r, struct orr_place place, const struct orr_table_problem *problem) {
  const char *name = place.node->kind == ORR_YAML_SCALAR ? place.node->text : "the file";
  if (problem->line)
    orr_read_error(r->reader, place, "table", "%.100s, line %zu: %s", name, problem->line, problem->text);
  else
    orr_read_error(r->reader, place, "table", "%.100s: %s", name, problem->text);
}

static void read_eop(struct reading *r, struct orr_place place) {
  struct orr_text text;
  struct orr_table_problem problem;
  if (place.node && read_file(r, place, "eop", &text) &&
      !orr_eop_table_read(text, r->reader->arena, &r->world->sky.eop, &r->world->sky.eop_count, &problem))
    table_error(r, place, &problem);
}

/* ---- gravity ----------------------------------------------------------------------------------------------------- */

static void read_field(struct reading *r, struct orr_place place, const struct gravity_keys *keys) {
  struct orr_text text;
  struct orr_gravity_table table;
  struct orr_table_problem problem;
  int degree = (int)keys->degree, order = (int)(keys->order < 0 ? keys->degree : keys->order);
  if (degree < 2 || order > degree) {
    orr_read_error(r->reader, place, "gravity",
                   "a field needs its 'degree', 2 to %d, and an 'order' that is not larger", ORR_HARMONICS_DEGREE);
    return;
  }
  if (!read_file(r, keys->file, "file", &text))
    return;
  if (!orr_gravity_table_read(text, degree, order, r->reader->arena, &table, &problem)) {
    table_error(r, keys->file, &problem);
    return;
  }
  r->world->mu = table.mu;
  r->world->radius = table.radius;
  r->world->degree = degree;
  r->world->order = order > 1 ? order : 1;
  r->world->terms = table.terms;
  r->world->term_count = table.count;
}

static void read_gravity(struct reading *r, struct orr_place place) {
  struct gravity_keys keys = {.order = -1};
  uint64_t present;
  const char *text;
  r->world->attracts = true;
  if (!place.node)
    return;
  if (place.node->kind != ORR_YAML_MAPPING) {
    if (!orr_read_text(r->reader, place, "gravity", &text))
      return;
    r->world->attracts = strcmp(text, "none") != 0;
    if (r->world->attracts && strcmp(text, "central") != 0)
      orr_read_error(r->reader, place, "gravity",
                     "'gravity' is none, central, {j2: …} or {file: …, degree: …, order: …}");
    return;
  }
  const struct orr_thing thing = {.what = "gravity", .place = place, .key = r->thing.key};
  if (!orr_read_mapping(r->reader, &thing, &gravity_mapping, &keys, &present))
    return;
  if ((present & 1) == (present >> 3 & 1)) {
    orr_read_error(r->reader, place, "gravity", "a field is given by its 'file' or by its 'j2', and here is %s",
                   present & 1 ? "both" : "neither");
  } else if (present & 1) {
    read_field(r, place, &keys);
  } else {
    struct orr_harmonic_term *term = orr_arena_alloc(r->reader->arena, 1, sizeof *term);
    *term = (struct orr_harmonic_term){2, 0, -keys.j2 / sqrt(5), 0};
    r->world->degree = 2;
    r->world->order = 1;
    r->world->terms = term;
    r->world->term_count = 1;
  }
}

static void read_third(struct reading *r, struct orr_place place) {
  bool *const flags[] = {&r->world->sun, &r->world->moon, &r->world->earth};
  static const int central[] = {-1, ORR_MOON, ORR_EARTH};
  if (!place.node || !orr_expect_sequence(r->reader, place, "third_bodies"))
    return;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    struct orr_place item = orr_place_item(r->reader->diagnostics, place, i);
    const char *text;
    size_t k = 0;
    if (!orr_read_text(r->reader, item, "third_bodies", &text))
      return;
    while (third_words[k] && strcmp(third_words[k], text) != 0)
      k++;
    bool lost = third_words[k] && r->world->sky.central == ORR_MARS && k == 1;
    if (!third_words[k] || central[k] == (int)r->world->sky.central || lost)
      orr_read_error(r->reader, item, "third-body",
                     "'%.40s' is no third body here: sun, moon and earth are, but for the "
                     "central one, and the Moon at Mars",
                     text);
    else
      *flags[k] = true;
  }
}

/* ---- field and air ----------------------------------------------------------------------------------------------- */

static bool read_magnetic_file(struct reading *r, struct orr_place place, struct orr_magnetic_desc *out) {
  struct orr_text text;
  struct orr_table_problem problem;
  if (!read_file(r, place, "file", &text))
    return false;
  if (orr_magnetic_table_read(text, r->year, r->reader->arena, out, &problem))
    return true;
  table_error(r, place, &problem);
  return false;
}

static void read_magnetic_files(struct reading *r, struct orr_place place) {
  struct orr_magnetic_desc both[2];
  struct orr_table_problem problem;
  if (!orr_expect_sequence(r->reader, place, "files"))
    return;
  if (orr_place_count(place) != 2) {
    orr_read_error(r->reader, place, "magnetic-field", "'files' are two tables, between whose epochs the run lies");
    return;
  }
  for (size_t i = 0; i < 2; i++)
    if (!read_magnetic_file(r, orr_place_item(r->reader->diagnostics, place, i), &both[i]))
      return;
  if (!orr_magnetic_tables_join(&both[0], &both[1], r->year, r->reader->arena, &r->world->magnetic, &problem))
    table_error(r, place, &problem);
}

static bool says_none(struct orr_place place) {
  return place.node->kind == ORR_YAML_SCALAR && strcmp(place.node->text, "none") == 0;
}

static void read_magnetic(struct reading *r, struct orr_place place) {
  struct magnetic_keys keys = {0};
  uint64_t present;
  if (!place.node || says_none(place) || !orr_expect_mapping(r->reader, place, "magnetic_field"))
    return;
  const struct orr_thing thing = {.what = "magnetic_field", .place = place, .key = r->thing.key};
  if (!orr_read_mapping(r->reader, &thing, &magnetic_mapping, &keys, &present))
    return;
  if (present != 1 && present != 2)
    orr_read_error(r->reader, place, "magnetic-field", "a magnetic field is given by one 'file' or by two 'files'");
  else if (present == 1)
    read_magnetic_file(r, keys.file, &r->world->magnetic);
  else
    read_magnetic_files(r, keys.files);
}

static void read_atmosphere(struct reading *r, struct orr_place place) {
  struct atmosphere_keys keys = {0};
  uint64_t present;
  if (!place.node || says_none(place) || !orr_expect_mapping(r->reader, place, "atmosphere"))
    return;
  const struct orr_thing thing = {.what = "atmosphere", .place = place, .key = r->thing.key};
  if (!orr_read_mapping(r->reader, &thing, &atmosphere_mapping, &keys, &present))
    return;
  static const uint64_t needs[] = {1, 1 | 7 << 1, 1, 1 | 7 << 4};
  if (present != needs[keys.model])
    orr_read_error(r->reader, place, "atmosphere",
                   "exponential takes 'density', 'base' and 'scale'; nrlmsise00 takes 'f107', 'f107_average' and 'ap'; "
                   "us76 takes nothing more");
  else if (keys.model == ORR_EXPONENTIAL && !(keys.scale > 0))
    orr_read_error(r->reader, place, "atmosphere", "the 'scale' over which the density falls by e is positive");
  else if (r->world->sky.central != ORR_EARTH && keys.model > ORR_EXPONENTIAL)
    orr_read_error(r->reader, place, "atmosphere", "%s is the Earth's; another body takes exponential",
                   atmosphere_names[keys.model]);
  r->world->atmosphere = (enum orr_atmosphere)keys.model;
  r->world->density = keys.density;
  r->world->base = keys.base;
  r->world->scale = keys.scale > 0 ? keys.scale : 1;
  r->world->f107 = keys.f107;
  r->world->f107_average = keys.f107_average;
  r->world->ap = keys.ap;
}

static void read_sun(struct reading *r, struct orr_place place) {
  struct sun_keys keys = {0};
  uint64_t present;
  if (!place.node || says_none(place) || !orr_expect_mapping(r->reader, place, "sun"))
    return;
  const struct orr_thing thing = {.what = "sun", .place = place, .key = r->thing.key};
  orr_read_mapping(r->reader, &thing, &sun_mapping, &keys, &present);
  r->world->sunlight = keys.pressure;
  r->world->planet = (struct orr_planet_light){keys.albedo, keys.infrared};
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

static void read_surface(struct reading *r, struct orr_place place, struct orr_surface_desc *out) {
  struct surface_keys keys = {0};
  uint64_t present;
  double normal[3] = {0};
  const struct orr_thing thing = {.what = "a surface", .place = place};
  if (!orr_read_mapping(r->reader, &thing, &surface_mapping, &keys, &present) ||
      !orr_read_direction(r->reader, keys.normal, "normal", normal))
    return;
  if (keys.specular + keys.diffuse > 1)
    orr_read_error(r->reader, place, "surface",
                   "a surface cannot reflect more than all: 'specular' and 'diffuse' are %g",
                   keys.specular + keys.diffuse);
  if (!r->d->blind)
    orr_draft_read_reference(r->d->draft, &r->d->draft->own, keys.node, "node", &out->body, &out->node);
  out->plate = (struct orr_plate){keys.area, v3_from(normal), keys.specular, keys.diffuse, keys.drag};
}

static void read_surfaces(struct reading *r, struct orr_place place) {
  if (!place.node || !orr_expect_sequence(r->reader, place, "surfaces"))
    return;
  size_t n = orr_place_count(place);
  struct orr_surface_desc *list = orr_arena_alloc(r->reader->arena, n, sizeof *list);
  for (size_t i = 0; i < n; i++)
    read_surface(r, orr_place_item(r->reader->diagnostics, place, i), &list[i]);
  r->world->surfaces = list;
  r->world->surface_count = n;
}

static void judge_light(struct reading *r, struct orr_place sun) {
  if (r->world->sunlight && r->world->surface_count == 0)
    orr_read_warning(r->reader, sun, "no-surfaces",
                     "sunlight presses on 'surfaces', and the environment has none: nothing will be pushed");
}

/* ---- the orbit --------------------------------------------------------------------------------------------------- */

/* p = a (1 − e²), r = p/(1 + e cos ν); Q from the node, the inclination and the argument of perigee. */
static void from_elements(const struct element_keys *k, double mu, double *position, double *velocity) {
  double p = k->a * (1 - k->e * k->e), r = p / (1 + k->e * orr_cos(k->anomaly)), speed = sqrt(mu / p);
  double co = orr_cos(k->node), so = orr_sin(k->node), cw = orr_cos(k->perigee), sw = orr_sin(k->perigee),
         ci = orr_cos(k->i), si = orr_sin(k->i);
  orr_vec3 x = v3(co * cw - so * sw * ci, so * cw + co * sw * ci, sw * si);
  orr_vec3 y = v3(-co * sw - so * cw * ci, -so * sw + co * cw * ci, cw * si);
  v3_to(position, v3_madd(v3_scale(r * orr_cos(k->anomaly), x), r * orr_sin(k->anomaly), y));
  v3_to(velocity, v3_madd(v3_scale(-speed * orr_sin(k->anomaly), x), speed * (k->e + orr_cos(k->anomaly)), y));
}

static void read_orbit(struct reading *r, struct orr_place place) {
  static const struct orr_key position = {.name = "position", .unit = "m", .count = 3, .form = "[x, y, z]"};
  static const struct orr_key velocity = {.name = "velocity", .unit = "m/s", .count = 3, .form = "[x, y, z]"};
  struct orbit_keys keys = {0};
  uint64_t present;
  struct orr_world_desc *w = r->world;
  const struct orr_thing thing = {.what = "orbit", .place = place};
  if (!orr_read_mapping(r->reader, &thing, &orr_orbit_mapping, &keys, &present))
    return;
  if (present != 1 && present != 6) {
    orr_read_error(r->reader, place, "orbit", "an orbit is given by 'elements', or by 'position' and 'velocity'");
    return;
  }
  if (present == 1) {
    struct element_keys elements = {0};
    const struct orr_thing inner = {.what = "elements", .place = keys.elements};
    if (!orr_expect_mapping(r->reader, keys.elements, "elements") ||
        !orr_read_mapping(r->reader, &inner, &element_mapping, &elements, &present))
      return;
    from_elements(&elements, w->mu, w->position, w->velocity);
  } else if (!orr_read_numbers(r->reader, keys.position, &position, w->position) ||
             !orr_read_numbers(r->reader, keys.velocity, &velocity, w->velocity)) {
    return;
  }
  double height = v3_norm(v3_from(w->position));
  if (!(height > 0.9 * w->radius) || !(height < 1e10))
    orr_read_error(r->reader, place, "orbit", "the orbit starts %.6g km from the centre, whose radius is %.6g km",
                   1e-3 * height, 1e-3 * w->radius);
}

/* The one body with an orbit; roots hang freely where there is a world. */
static void find_orbit(struct reading *r) {
  const struct orr_description *s = orr_config_description(r->d->config);
  struct orr_place found = {0};
  if (r->d->blind || !r->d->run->initial) /* without `simulation`, which is told */
    return;
  for (size_t b = 0; b < s->body_count; b++) {
    const struct orr_hinge_desc *hinge = &s->bodies[b].hinge;
    if (hinge->parent == ORR_INERTIAL && hinge->kind != ORR_HINGE_FREE)
      orr_report(r->reader->diagnostics, ORR_ERROR, hinge->source, "orbit",
                 "'%.60s' does not hang freely, and in an orbit there is nothing to hold it", s->bodies[b].name);
    struct orr_place orbit = r->d->run->initial[b].orbit;
    if (!orbit.node)
      continue;
    if (found.node)
      orr_read_error(r->reader, orbit, "orbit",
                     "a run has one orbit; other spacecraft start from it by their 'position' and 'velocity'");
    found = orbit;
    r->world->body = (int)b;
    read_orbit(r, orbit);
  }
  if (!found.node)
    orr_read_error(r->reader, r->thing.place, "orbit",
                   "an environment with an epoch needs the 'orbit' of a spacecraft under simulation.initial");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void read_world(struct reading *r, const struct environment_keys *keys) {
  struct orr_world_desc *w = r->world;
  double duration = 1e-9 * (double)r->d->run->duration_ns;
  w->sky.central = (enum orr_central)keys->central;
  w->mu = bodies[keys->central].mu;
  w->radius = bodies[keys->central].radius;
  w->integrator = r->d->run->plant.integrator;
  w->eclipse = keys->eclipse == 1;
  w->sky.duration = duration;
  if (!(duration > 0) || duration > longest)
    orr_read_error(r->reader, r->thing.place, "duration",
                   "an environment needs a 'duration' of at most ten years: its sky is computed before the run");
  if (!read_epoch(r, keys->epoch_place))
    return;
  read_eop(r, keys->eop);
  read_gravity(r, keys->gravity);
  read_third(r, keys->third_bodies);
  read_magnetic(r, keys->magnetic_field);
  read_atmosphere(r, keys->atmosphere);
  read_sun(r, keys->sun);
  read_surfaces(r, keys->surfaces);
  judge_light(r, keys->sun);
  find_orbit(r);
  r->d->run->world = r->d->run->plant.world = w;
}

/* Without an epoch there is no world: only `gravity: none` then means something. */
static void read_still(struct reading *r, const struct environment_keys *keys, uint64_t present) {
  if (present & ~UINT64_C(4))
    orr_read_error(r->reader, r->thing.place, "epoch",
                   "an environment with more than 'gravity: none' needs an 'epoch'");
  else if (keys->gravity.node && !says_none(keys->gravity))
    orr_read_error(r->reader, keys->gravity, "gravity", "'gravity' is none here; an orbit's gravity needs an 'epoch'");
}

void orr_run_read_environment(struct orr_run_draft *d) {
  struct reading r = {.d = d,
                      .reader = d->reader,
                      .thing = {.what = "environment",
                                .place = orr_config_section(d->config, ORR_SECTION_ENVIRONMENT),
                                .key = orr_config_section_key(d->config, ORR_SECTION_ENVIRONMENT)}};
  const struct orr_description *s = orr_config_description(d->config);
  struct environment_keys keys = {0};
  uint64_t present = 0;
  if (r.thing.place.node)
    orr_read_mapping(r.reader, &r.thing, &orr_environment_mapping, &keys, &present);
  if (keys.gravity.node && (s->gravity[0] != 0 || s->gravity[1] != 0 || s->gravity[2] != 0))
    orr_read_error(r.reader, keys.gravity, "gravity-twice",
                   "gravity is given by the spacecraft and by the environment; it is given once");
  if (keys.epoch_place.node) {
    r.world = orr_arena_alloc(r.reader->arena, 1, sizeof *r.world);
    read_world(&r, &keys);
    return;
  }
  if (r.thing.place.node)
    read_still(&r, &keys, present);
  for (size_t b = 0; !d->blind && b < s->body_count; b++)
    if (d->run->initial && d->run->initial[b].orbit.node)
      orr_read_error(r.reader, d->run->initial[b].orbit, "orbit", "an orbit needs an 'environment' with an 'epoch'");
}

/* ---- its devices ------------------------------------------------------------------------------------------------- */

static void put_device(struct orr_run_draft *d, const char *name, const struct orr_device_kind *kind,
                       const void *params, int body) {
  d->devices[d->device_count++] =
      (struct orr_device_desc){.name = name, .kind = kind, .params = params, .body = body, .divisor = 1};
}

/* The world comes first: all others ask it. */
void orr_run_add_world(struct orr_run_draft *d) {
  const struct orr_description *s = orr_config_description(d->config);
  const struct orr_world_desc *w = d->run->world;
  for (size_t i = 0; i < d->device_count; i++) {
    struct orr_device_desc *device = &d->devices[i];
    unsigned needs = device->kind->needs_world;
    if (needs && (!w || ((needs & ORR_NEEDS_FIELD) && !w->magnetic.degree)))
      orr_report(d->reader->diagnostics, ORR_ERROR, device->source, "needs-environment",
                 "a %s needs an environment with %s", device->kind->name,
                 needs & ORR_NEEDS_FIELD ? "a 'magnetic_field'" : "an 'epoch' and an orbit");
    if (w)
      device->kind = orr_device_kind_in_world(device->kind);
  }
  if (!w || d->blind)
    return;
  const struct orr_device_desc *others = d->devices;
  size_t count = d->device_count;
  d->devices = orr_arena_alloc(d->reader->arena, count + s->body_count + 1, sizeof *d->devices);
  d->device_count = 0;
  if (orr_config_find_body(d->config, "environment") >= 0 || orr_names_find(&d->names, "environment") != ORR_NAME_NONE)
    orr_read_error(d->reader, orr_config_section(d->config, ORR_SECTION_ENVIRONMENT), "duplicate-name",
                   "beside an environment no body or device may have its name");
  put_device(d, "environment", &orr_world_kind, w, w->body);
  for (size_t b = 0; b < s->body_count; b++)
    if (s->bodies[b].hinge.parent == ORR_INERTIAL)
      put_device(d, s->bodies[b].name, &orr_world_place_kind, w, (int)b);
  if (count)
    memcpy(d->devices + d->device_count, others, count * sizeof *others);
  d->device_count += count;
  d->device_room = d->device_count;
}
