/* Bodies, their nodes and modes. */
#include <math.h>
#include <string.h>

#include "core/model/validate.h"
#include "io/config/spacecraft/draft.h"
#include "io/config/spacecraft/mappings.h"
#include "io/config/text/unit.h"

static const char *const deformations[] = {"full", "linearized", NULL};
static const char *const switches[] = {"off", "on", NULL};

static const char com_form[] = "[x, y, z]", inertia_form[] = "[xx, yy, zz, xy, xz, yz]";

/* A body is rigid when it says `mass`, `com` or `inertia`; it is flexible when it says how it deforms, or when only its
 * nodes have mass. */
struct body_keys {
  double mass, com[3], inertia[6];
  int deformation, stiffening;
  struct orr_place hinge, nodes, modes, stiffness, damping_matrix;
};

enum body_key {
  MASS,
  COM,
  INERTIA,
  HINGE,
  NODES,
  DEFORMATION,
  STIFFENING,
  MODES,
  STIFFNESS,
  DAMPING_MATRIX,
  BODY_KEYS
};

struct mode_keys {
  double frequency, damping;
};

static const struct orr_key mode_table[] = {
    {.name = "frequency",
     .doc = "frequency f of the undamped mode: K = (2 pi f)^2 M with its modal mass M",
     .type = ORR_KEY_NUMBER,
     .required = true,
     .unit = "Hz",
     .range = &orr_range_not_negative,
     .offset = offsetof(struct mode_keys, frequency)},
    {.name = "damping",
     .doc = "damping ratio: D = 2 damping (2 pi f) M",
     .type = ORR_KEY_NUMBER,
     .range = &orr_range_not_negative,
     .fallback = "0",
     .offset = offsetof(struct mode_keys, damping)},
};

static const struct orr_mapping mode_mapping = {
    .name = "bodies.modes", .doc = "A mode of a flexible body, by frequency and damping.", ORR_KEYS(mode_table)};

struct node_keys {
  double at[3], mass, com[3], inertia[6];
  struct orr_place modes, second_order;
};

enum node_key { NODE_AT, NODE_MASS, NODE_COM, NODE_INERTIA, NODE_MODES, NODE_SECOND_ORDER, NODE_KEYS };

static const struct orr_key node_table[NODE_KEYS] = {
    [NODE_AT] = {.name = "at",
                 .doc = "where it is on the undeformed body, body axes",
                 .type = ORR_KEY_NUMBERS,
                 .required = true,
                 .unit = "m",
                 .count = 3,
                 .form = com_form,
                 .offset = offsetof(struct node_keys, at)},
    [NODE_MASS] = {.name = "mass",
                   .doc = "its mass, on a flexible body",
                   .type = ORR_KEY_NUMBER,
                   .unit = "kg",
                   .fallback = "0",
                   .offset = offsetof(struct node_keys, mass)},
    [NODE_COM] = {.name = "com",
                  .doc = "its centre of mass off the node, body axes, on a flexible body",
                  .type = ORR_KEY_NUMBERS,
                  .unit = "m",
                  .count = 3,
                  .form = com_form,
                  .fallback = "0",
                  .offset = offsetof(struct node_keys, com)},
    [NODE_INERTIA] = {.name = "inertia",
                      .doc = "its inertia about its own centre of mass, body axes, on a flexible body",
                      .type = ORR_KEY_NUMBERS,
                      .unit = "kg m^2",
                      .count = 6,
                      .form = inertia_form,
                      .fallback = "0",
                      .offset = offsetof(struct node_keys, inertia)},
    [NODE_MODES] = {.name = "modes",
                    .doc = "how each mode moves the node: a row [slope x, y, z, translation x, y, z] for every mode of "
                           "its body, rad and m per unit of amplitude",
                    .type = ORR_KEY_PLACE,
                    .absent = "right on a body without modes only",
                    .shape = ORR_LIST(ORR_NUMBERS(6, NULL)),
                    .offset = offsetof(struct node_keys, modes)},
    [NODE_SECOND_ORDER] =
        {.name = "second_order",
         .doc = "its second-order shapes G on a body with `stiffening: on`: a row [r, s, x, y, z] for a pair of modes "
                "counted from 1, each pair once, [s, r] being the same; the node is moved by G eta_r eta_s, of r = s "
                "by half of that, m per product of amplitudes; pairs that are left out are zero",
         .type = ORR_KEY_PLACE,
         .absent = "where no node of the body has any: how the line of its nodes is foreshortened where it bends",
         .shape = ORR_LIST(ORR_NUMBERS(5, NULL)),
         .offset = offsetof(struct node_keys, second_order)},
};

static const struct orr_mapping node_mapping = {
    .name = "bodies.nodes",
    .doc = "A named place on a body. On a rigid body it has `at` alone; `origin` is there without being named. On a "
           "flexible body the nodes carry the mass.",
    ORR_KEYS(node_table)};

static const char body_example[] = "spacecraft:\n"
                                   "  bodies:\n"
                                   "    bus: {mass: 1200, com: [0, 0, 0.4], inertia: [800, 900, 700, 0, 0, 0],\n"
                                   "          hinge: {kind: free, to: inertial},\n"
                                   "          nodes: {imu: {at: [0, 0, 0.5]}, root: {at: [0, 1.1, 0]}}}\n"
                                   "    wing:\n"
                                   "      hinge: {kind: revolute, to: bus.root, axis: [0, 1, 0], damping: 0.02}\n"
                                   "      modes: [{frequency: 0.35 Hz, damping: 0.003}]\n"
                                   "      nodes:\n"
                                   "        origin: {at: [0, 0, 0], mass: 4, inertia: [1, 0.1, 1, 0, 0, 0],\n"
                                   "                 modes: [[0, 0, 0, 0, 0, 0]]}\n"
                                   "        tip: {at: [0, 4, 0], mass: 3, modes: [[0.14, 0, 0, 0, 0, 0.35]]}\n";

static const struct orr_key body_table[BODY_KEYS] = {
    [MASS] = {.name = "mass",
              .doc = "mass of a rigid body, with all that rides on it; 0, without inertia, makes a massless body: what "
                     "hangs on it has the inertia",
              .type = ORR_KEY_NUMBER,
              .unit = "kg",
              .absent = "the body is flexible: its nodes have the mass",
              .offset = offsetof(struct body_keys, mass)},
    [COM] = {.name = "com",
             .doc = "centre of mass of a rigid body, in its own axes",
             .type = ORR_KEY_NUMBERS,
             .unit = "m",
             .count = 3,
             .form = com_form,
             .fallback = "0",
             .offset = offsetof(struct body_keys, com)},
    [INERTIA] = {.name = "inertia",
                 .doc = "inertia of a rigid body about its centre of mass, body axes; xy is the matrix element, minus "
                        "the product of inertia",
                 .type = ORR_KEY_NUMBERS,
                 .unit = "kg m^2",
                 .count = 6,
                 .form = inertia_form,
                 .absent = "the body is flexible, or its mass is 0",
                 .offset = offsetof(struct body_keys, inertia)},
    [HINGE] = {.name = "hinge",
               .doc = "what joins the body to its parent, or to `inertial`",
               .type = ORR_KEY_PLACE,
               .required = true,
               .shape = ORR_MAPPING(orr_hinge_mapping),
               .offset = offsetof(struct body_keys, hinge)},
    [NODES] = {.name = "nodes",
               .doc = "named places, where hinges, devices and loops sit",
               .type = ORR_KEY_PLACE,
               .absent = "a rigid body has the node `origin`",
               .shape = ORR_NAMED("node", ORR_MAPPING(node_mapping)),
               .offset = offsetof(struct body_keys, nodes)},
    [DEFORMATION] = {.name = "deformation",
                     .doc = "how inertia follows the deformation: in full, or as of the undeformed body (for low spin)",
                     .type = ORR_KEY_CHOICE,
                     .choices = deformations,
                     .fallback = "full",
                     .offset = offsetof(struct body_keys, deformation)},
    [STIFFENING] = {.name = "stiffening",
                    .doc =
                        "on: shapes of second order, so that spin and acceleration stiffen the body or soften it; they "
                        "are given by `second_order` of its nodes, or are those of the line in which its nodes stand, "
                        "in the order of the file",
                    .type = ORR_KEY_CHOICE,
                    .choices = switches,
                    .fallback = "off",
                    .offset = offsetof(struct body_keys, stiffening)},
    [MODES] = {.name = "modes",
               .doc = "the modes of a flexible body; each node says how it moves in them",
               .type = ORR_KEY_PLACE,
               .absent = "none",
               .shape = ORR_LIST(ORR_MAPPING(mode_mapping)),
               .offset = offsetof(struct body_keys, modes)},
    [STIFFNESS] = {.name = "stiffness",
                   .doc = "the modal stiffness as a symmetric n x n matrix, in place of `modes`",
                   .type = ORR_KEY_PLACE,
                   .absent = "`modes` say it",
                   .shape = ORR_LIST(ORR_NUMBERS(0, NULL)),
                   .offset = offsetof(struct body_keys, stiffness)},
    [DAMPING_MATRIX] = {.name = "damping_matrix",
                        .doc = "the modal damping as a symmetric n x n matrix, beside `stiffness`",
                        .type = ORR_KEY_PLACE,
                        .absent = "no damping",
                        .shape = ORR_LIST(ORR_NUMBERS(0, NULL)),
                        .offset = offsetof(struct body_keys, damping_matrix)},
};

const struct orr_mapping orr_body_mapping = {
    .name = "bodies",
    .doc = "A body, rigid or flexible. A rigid one says its mass and inertia. A flexible one says modes or matrices, "
           "and its nodes say their mass and how each mode moves them.",
    ORR_KEYS(body_table),
    .example = body_example,
};

enum {
  RIGID_KEYS = 1 << MASS | 1 << COM | 1 << INERTIA,
  FLEXIBLE_KEYS = 1 << DEFORMATION | 1 << STIFFENING | 1 << MODES | 1 << STIFFNESS | 1 << DAMPING_MATRIX
};

/* A body being read. */
struct reading {
  struct orr_draft *draft;
  struct orr_reader *reader;
  size_t index;
  struct orr_body_desc *body;
  struct orr_draft_body *home;
  struct body_keys keys;
  uint64_t there;       /* keys that stand in the file, right or wrong */
  bool modes_known;     /* how many modes there are */
  unsigned char *pairs; /* [modes][modes] pairs that a node has said so far, or NULL */
};

static void break_body(struct reading *r) { r->draft->broken[r->index] = 1; }

static struct orr_place key_place(struct reading *r, const char *name, bool value) {
  size_t i = orr_yaml_find(r->home->value.node, name);
  return value ? orr_place_value(r->reader->diagnostics, r->home->value, i)
               : orr_place_key(r->reader->diagnostics, r->home->value, i);
}

static uint64_t keys_there(const struct orr_yaml *mapping) {
  uint64_t there = 0;
  for (size_t k = 0; k < BODY_KEYS; k++)
    if (orr_yaml_find(mapping, body_table[k].name) < mapping->count)
      there |= UINT64_C(1) << k;
  return there;
}

/* --- matrices and modes ---------------------------------------------------------------------------------------- */

static bool symmetric(struct reading *r, struct orr_place place, const char *name, size_t n, const double *a) {
  double largest = 0;
  for (size_t i = 0; i < n * n; i++)
    largest = fmax(largest, fabs(a[i]));
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      if (fabs(a[i * n + j] - a[j * n + i]) > 1e-9 * largest) {
        orr_read_error(r->reader, place, "not-symmetric",
                       "'%s' must be symmetric: element [%zu][%zu] is %.9g and [%zu][%zu] is %.9g", name, i + 1, j + 1,
                       a[i * n + j], j + 1, i + 1, a[j * n + i]);
        return false;
      }
  return true;
}

/* An n × n matrix; n is the number of rows where it is still 0. NULL after reporting. */
static const double *read_matrix(struct reading *r, struct orr_place place, const char *name, size_t *n) {
  struct orr_reader *reader = r->reader;
  if (place.node->kind != ORR_YAML_SEQUENCE || place.node->count == 0) {
    orr_read_error(reader, place, "wrong-type", "'%s' takes a square matrix [[..], ..]", name);
    return NULL;
  }
  size_t rows = place.node->count;
  if (*n && rows != *n) {
    orr_read_error(reader, place, "wrong-length", "'%s' must be %zu by %zu like 'stiffness' and has %zu rows", name, *n,
                   *n, rows);
    return NULL;
  }
  bool good = true;
  for (size_t i = 0; i < rows; i++) { /* lengths first: they bound what is allocated by what is written */
    struct orr_place row = orr_place_item(reader->diagnostics, place, i);
    if (orr_place_count(row) == rows && row.node->kind == ORR_YAML_SEQUENCE)
      continue;
    orr_read_error(reader, row, "wrong-length", "'%s' must be square: %zu rows of %zu numbers", name, rows, rows);
    good = false;
  }
  if (!good)
    return NULL;
  double *a = orr_arena_alloc(reader->arena, rows * rows, sizeof *a);
  for (size_t i = 0; i < rows; i++) {
    struct orr_place row = orr_place_item(reader->diagnostics, place, i);
    for (size_t j = 0; j < rows; j++)
      good &= orr_read_number(reader, orr_place_item(reader->diagnostics, row, j), name, NULL, NULL, &a[i * rows + j]);
  }
  *n = rows;
  return good && symmetric(r, place, name, rows, a) ? a : NULL;
}

static void read_matrices(struct reading *r) {
  size_t n = 0;
  r->body->stiffness = read_matrix(r, r->keys.stiffness, "stiffness", &n);
  if (r->body->stiffness) {
    r->body->mode_count = n;
    r->modes_known = true;
  } else {
    break_body(r);
  }
  if (!(r->there & 1 << DAMPING_MATRIX))
    return;
  r->body->damping = read_matrix(r, r->keys.damping_matrix, "damping_matrix", &n);
  if (!r->body->damping)
    break_body(r);
}

/* Right, and seldom meant. */
static void doubt_mode(struct reading *r, struct orr_place mode, const struct mode_keys *keys) {
  if (keys->frequency == 0)
    orr_read_warning(r->reader, mode, "frequency-zero",
                     "a mode of frequency 0 has no stiffness: nothing brings it back, and it drifts");
  if (keys->damping > 1)
    orr_read_warning(r->reader, mode, "overdamped",
                     "'damping' is a ratio: %.9g means that the mode creeps back without swinging; %.9g %% is %.9g",
                     keys->damping, keys->damping, keys->damping / 100);
  else if (keys->damping > 0.2)
    orr_read_warning(r->reader, mode, "much-damping",
                     "'damping' is a ratio: %.9g is %.9g %%, which is much for a structure; %.9g %% is %.9g",
                     keys->damping, 100 * keys->damping, keys->damping, keys->damping / 100);
}

static void read_modes(struct reading *r) {
  struct orr_reader *reader = r->reader;
  if (!orr_expect_sequence(reader, r->keys.modes, "modes")) {
    break_body(r);
    return;
  }
  size_t n = orr_place_count(r->keys.modes);
  struct orr_mode_desc *modes = orr_arena_alloc(reader->arena, n, sizeof *modes);
  for (size_t i = 0; i < n; i++) {
    struct orr_place place = orr_place_item(reader->diagnostics, r->keys.modes, i);
    struct mode_keys keys = {0};
    uint64_t present;
    const struct orr_thing thing = {.what = "a mode", .place = place};
    if (!orr_read_mapping(reader, &thing, &mode_mapping, &keys, &present))
      break_body(r);
    else
      doubt_mode(r, place, &keys);
    modes[i] = (struct orr_mode_desc){keys.frequency, keys.damping, orr_place_source(reader->diagnostics, place)};
  }
  r->body->modes = n ? modes : NULL;
  r->body->mode_count = n;
  r->modes_known = true;
}

/* --- nodes ----------------------------------------------------------------------------------------------------- */

/* What only a flexible body's node may say. */
static void refuse_flexible_keys(struct reading *r, const char *name, struct orr_place value, uint64_t present) {
  for (size_t k = NODE_MASS; k < NODE_KEYS; k++)
    if (present >> k & 1) {
      size_t i = orr_yaml_find(value.node, node_table[k].name);
      orr_read_error(
          r->reader, orr_place_key(r->reader->diagnostics, value, i), "rigid-node",
          "'%s' of node '%.60s' belongs to a flexible body, and '%.60s' is rigid: it has its own 'mass' or 'inertia'",
          node_table[k].name, name, r->body->name);
      break_body(r);
    }
}

/* The node's part of every mode: mode_count rows of slope and translation. NULL after reporting. */
static const double *read_shapes(struct reading *r, struct orr_place place) {
  static const struct orr_key row_key = {.name = "modes", .count = 6, .form = "[slope x, y, z, translation x, y, z]"};
  struct orr_reader *reader = r->reader;
  if (!orr_expect_sequence(reader, place, "modes"))
    return NULL;
  size_t n = r->body->mode_count;
  if (orr_place_count(place) != n) {
    orr_read_error(reader, place, "wrong-length",
                   "a node of '%.60s' takes a row of 'modes' for each of its %zu mode%s, and here %s %zu",
                   r->body->name, n, n == 1 ? "" : "s", orr_place_count(place) == 1 ? "is" : "are",
                   orr_place_count(place));
    return NULL;
  }
  double *rows = orr_arena_alloc(reader->arena, n, 6 * sizeof *rows);
  bool good = true;
  for (size_t i = 0; i < n; i++)
    good &= orr_read_numbers(reader, orr_place_item(reader->diagnostics, place, i), &row_key, rows + 6 * i);
  return good ? rows : NULL;
}

/* One row [r, s, x, y, z] of a node's second-order shapes. */
static bool read_pair(struct reading *r, struct orr_place row, struct orr_curve_desc *out) {
  static const struct orr_key row_key = {.name = "second_order", .count = 5, .form = "[mode, mode, x, y, z]"};
  double numbers[5];
  size_t n = r->body->mode_count;
  if (!orr_read_numbers(r->reader, row, &row_key, numbers))
    return false;
  for (int i = 0; i < 2; i++)
    if (!(numbers[i] >= 1 && numbers[i] <= (double)n && numbers[i] == floor(numbers[i]))) {
      orr_read_error(r->reader, orr_place_item(r->reader->diagnostics, row, (size_t)i), "no-such-mode",
                     "a row of 'second_order' begins with two modes, from 1 to the %zu of '%.60s', and not with %.9g",
                     n, r->body->name, numbers[i]);
      return false;
    }
  *out = (struct orr_curve_desc){(size_t)numbers[0] - 1, (size_t)numbers[1] - 1, {numbers[2], numbers[3], numbers[4]}};
  if (r->pairs[out->r * n + out->s]) {
    orr_read_error(r->reader, row, "repeated-pair",
                   "modes %zu and %zu stand twice in 'second_order'; [%zu, %zu] is the same pair as [%zu, %zu]",
                   out->r + 1, out->s + 1, out->r + 1, out->s + 1, out->s + 1, out->r + 1);
    return false;
  }
  r->pairs[out->r * n + out->s] = r->pairs[out->s * n + out->r] = 1;
  return true;
}

static void read_second_order(struct reading *r, struct orr_node_desc *node, struct orr_place place) {
  struct orr_reader *reader = r->reader;
  size_t n = r->body->mode_count, count = orr_place_count(place), read = 0;
  if (!r->body->stiffening) {
    orr_read_error(reader, place, "no-stiffening",
                   "'second_order' of node '%.60s' does nothing while '%.60s' has no 'stiffening: on'", node->name,
                   r->body->name);
    break_body(r);
    return;
  }
  if (!orr_expect_sequence(reader, place, "second_order") || n == 0 || n > ORR_MOST_MODES) {
    break_body(r);
    return;
  }
  if (!r->pairs)
    r->pairs = orr_arena_alloc(reader->arena, n * n, 1);
  struct orr_curve_desc *curves = orr_arena_alloc(reader->arena, count + 1, sizeof *curves);
  while (read < count && read_pair(r, orr_place_item(reader->diagnostics, place, read), &curves[read]))
    read++;
  for (size_t i = 0; i < read; i++)
    r->pairs[curves[i].r * n + curves[i].s] = r->pairs[curves[i].s * n + curves[i].r] = 0;
  if (read < count)
    break_body(r);
  node->curves = curves;
  node->curve_count = read;
}

static void read_flexible_node(struct reading *r, struct orr_node_desc *node, const struct node_keys *keys,
                               uint64_t present, const struct orr_thing *thing) {
  memcpy(node->com, keys->com, sizeof node->com);
  memcpy(node->inertia, keys->inertia, sizeof node->inertia);
  node->mass = keys->mass;
  bool given = present >> NODE_MODES & 1;
  if (present >> NODE_SECOND_ORDER & 1 && r->modes_known)
    read_second_order(r, node, keys->second_order);
  if (!r->modes_known || (r->body->mode_count == 0 && !given))
    return;
  if (!given) {
    orr_read_error(r->reader, thing->key, "missing-key",
                   "node '%.60s' has no 'modes': it needs a row for each of the %zu mode%s of '%.60s', zeros where a "
                   "mode does not move it",
                   node->name, r->body->mode_count, r->body->mode_count == 1 ? "" : "s", r->body->name);
    break_body(r);
    return;
  }
  const double *shapes = read_shapes(r, keys->modes);
  node->modes = r->body->mode_count ? shapes : NULL;
  if (!shapes)
    break_body(r);
}

static void read_node(struct reading *r, struct orr_node_desc *node, struct orr_place key, struct orr_place value) {
  struct node_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "node", .name = key.node->text, .place = value, .key = key};
  node->name = key.node->text;
  node->source = orr_place_entity(r->reader->diagnostics, key, value);
  if (!orr_read_name(r->reader, key, "node"))
    break_body(r);
  if (!orr_read_mapping(r->reader, &thing, &node_mapping, &keys, &present))
    break_body(r);
  memcpy(node->at, keys.at, sizeof node->at);
  if (r->body->flexible)
    read_flexible_node(r, node, &keys, present, &thing);
  else
    refuse_flexible_keys(r, node->name, value, present);
}

enum { MANY_NODES = 16 }; /* from so many on their names have a table */

static void read_nodes(struct reading *r) {
  struct orr_place nodes = r->keys.nodes;
  if (nodes.node && !orr_expect_mapping(r->reader, nodes, "nodes")) {
    break_body(r);
    nodes = (struct orr_place){0};
  }
  size_t listed = orr_place_count(nodes);
  bool implied = !r->body->flexible && (listed == 0 || orr_yaml_find(nodes.node, "origin") == listed);
  struct orr_node_desc *list = orr_arena_alloc(r->reader->arena, listed + 1, sizeof *list);
  if (implied)
    list[0] = (struct orr_node_desc){.name = "origin", .source = r->body->source};
  for (size_t i = 0; i < listed; i++)
    read_node(r, &list[i + implied], orr_place_key(r->reader->diagnostics, nodes, i),
              orr_place_value(r->reader->diagnostics, nodes, i));
  r->body->nodes = r->home->nodes = list;
  r->body->node_count = listed + implied;
  if (r->body->node_count >= MANY_NODES)
    for (size_t i = 0; i < r->body->node_count; i++)
      orr_names_add(&r->home->node_names, r->reader->arena, list[i].name, (int32_t)i);
}

/* --- the body -------------------------------------------------------------------------------------------------- */

static bool nodes_have_mass(const struct orr_yaml *nodes) {
  if (!nodes || nodes->kind != ORR_YAML_MAPPING)
    return false;
  for (size_t i = 0; i < nodes->count; i++) {
    const struct orr_yaml *node = nodes->entries[i].value;
    if (node->kind == ORR_YAML_MAPPING && orr_yaml_find(node, "mass") < node->count)
      return true;
  }
  return false;
}

static void refuse_mixture(struct reading *r) {
  size_t rigid = r->there & 1 << MASS ? MASS : r->there & 1 << INERTIA ? INERTIA : COM, flexible = DEFORMATION;
  while (!(r->there >> flexible & 1))
    flexible++;
  orr_read_error(r->reader, key_place(r, body_table[rigid].name, false), "rigid-or-flexible",
                 "'%s' belongs to a rigid body, and '%.60s' has '%s' and so is flexible: its mass is that of its nodes",
                 body_table[rigid].name, r->body->name, body_table[flexible].name);
  break_body(r);
}

/* Reports a key that a rigid body needs. */
static void need(struct reading *r, enum body_key key) {
  if (r->there >> key & 1)
    return;
  orr_read_error(r->reader, r->home->key, "missing-key", "body '%.60s' has no '%s', which a rigid body needs",
                 r->body->name, body_table[key].name);
  break_body(r);
}

static void read_flexible(struct reading *r) {
  r->body->flexible = true;
  r->body->deformation = r->keys.deformation ? ORR_DEFORMATION_LINEARIZED : ORR_DEFORMATION_FULL;
  r->body->stiffening = r->keys.stiffening == 1;
  bool matrices = r->there & (1 << STIFFNESS | 1 << DAMPING_MATRIX);
  if (matrices && r->there & 1 << MODES) {
    orr_read_error(
        r->reader, key_place(r, "modes", false), "two-stiffnesses",
        "'%.60s' has its stiffness twice: give either 'modes' or the matrices 'stiffness' and 'damping_matrix'",
        r->body->name);
    break_body(r);
  } else if (matrices && !(r->there & 1 << STIFFNESS)) {
    orr_read_error(r->reader, key_place(r, "damping_matrix", false), "missing-key",
                   "'damping_matrix' of '%.60s' needs a 'stiffness' matrix beside it", r->body->name);
    break_body(r);
  } else if (r->keys.stiffness.node) {
    read_matrices(r);
  } else if (r->keys.modes.node) {
    read_modes(r);
  } else {
    r->modes_known = true;
  }
}

static bool is_bare(struct orr_place place) {
  struct orr_quantity q;
  return place.node->kind == ORR_YAML_SCALAR && orr_quantity_parse(place.node->text, "kg", &q) == ORR_QUANTITY_OK &&
         !q.has_unit;
}

/* Mass and inertia tell a size: a ball of radius R has I = 2/5 m R^2. One that is denser than a thousand times the
 * densest metal has its mass in g; one whose radius is beyond 100 m has its inertia in another unit, too. */
static void doubt_size(struct reading *r) {
  const double *i = r->keys.inertia, mass = r->keys.mass, largest = fmax(i[0], fmax(i[1], i[2]));
  double radius = mass > 0 && largest > 0 ? sqrt(2.5 * largest / mass) : 0;
  double density = radius > 0 ? mass / (4.1887902 * radius * radius * radius) : 0;
  struct orr_place place = key_place(r, "mass", true);
  if (density > 2.26e7 && mass >= 10 && is_bare(place))
    orr_read_warning(r->reader, place, "bare-number",
                     "a ball of %.9g kg with this inertia has a radius of %.3g mm; if the mass is meant in another "
                     "unit, say it: '%.9g g'",
                     mass, 1e3 * radius, mass);
  else if (radius > 100 && mass >= 0.001)
    orr_read_warning(r->reader, key_place(r, "inertia", false), "bare-number",
                     "a ball of %.9g kg with this inertia has a radius of %.3g m; inertia is in kg m^2, or has a unit "
                     "in each number: '%.9g kg mm^2'",
                     mass, radius, largest);
}

static void read_rigid(struct reading *r) {
  need(r, MASS);
  if (!(r->there >> MASS & 1) || r->keys.mass != 0)
    need(r, INERTIA);
  if (r->there & 1 << MASS && r->there & 1 << INERTIA)
    doubt_size(r);
  r->body->mass = r->keys.mass;
  memcpy(r->body->com, r->keys.com, sizeof r->body->com);
  memcpy(r->body->inertia, r->keys.inertia, sizeof r->body->inertia);
}

void orr_draft_read_body(struct orr_draft *draft, size_t index) {
  struct reading r = {.draft = draft,
                      .reader = draft->reader,
                      .index = index,
                      .body = &draft->bodies[index],
                      .home = &draft->drafts[index]};
  r.body->source = orr_place_entity(draft->reader->diagnostics, r.home->key, r.home->value);
  const struct orr_thing thing = {.what = "body", .name = r.body->name, .place = r.home->value, .key = r.home->key};
  uint64_t present;
  if (!orr_read_mapping(draft->reader, &thing, &orr_body_mapping, &r.keys, &present))
    break_body(&r);
  if (r.home->value.node->kind == ORR_YAML_MAPPING)
    r.there = keys_there(r.home->value.node);
  if (r.there & RIGID_KEYS && r.there & FLEXIBLE_KEYS)
    refuse_mixture(&r);
  if (r.there & FLEXIBLE_KEYS || (!(r.there & RIGID_KEYS) && nodes_have_mass(r.keys.nodes.node)))
    read_flexible(&r);
  else if (r.home->value.node->kind == ORR_YAML_MAPPING || r.home->value.node->kind == ORR_YAML_NULL)
    read_rigid(&r);
  read_nodes(&r);
  if (orr_scope_is_mirrored(r.home->scope))
    orr_mirror_body(draft, r.body, r.home->nodes, r.home->scope->mirror);
  r.home->hinge = r.keys.hinge;
  if (r.keys.hinge.node)
    r.home->hinge_key = key_place(&r, "hinge", false);
}
