/* `motion:` of a hinge or of a loop: a table, a sine, a polynomial or a command. */
#include <math.h>

#include "core/model/motion.h"
#include "io/config/spacecraft/draft.h"
#include "io/config/spacecraft/mappings.h"

struct sine_keys {
  struct orr_place amplitude, frequency, phase, offset;
};

static const struct orr_key sine_table[] = {
    {.name = "amplitude",
     .doc = "how far it goes to either side",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER("rad|m"),
     .offset = offsetof(struct sine_keys, amplitude)},
    {.name = "frequency",
     .doc = "how often",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER("Hz"),
     .offset = offsetof(struct sine_keys, frequency)},
    {.name = "phase",
     .doc = "where in its turn it begins",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = ORR_NUMBER("rad"),
     .offset = offsetof(struct sine_keys, phase)},
    {.name = "offset",
     .doc = "its middle",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = ORR_NUMBER("rad|m"),
     .offset = offsetof(struct sine_keys, offset)},
};

static const struct orr_mapping sine_mapping = {
    .name = "motion.sine", .doc = "offset + amplitude sin(2 pi frequency t + phase).", ORR_KEYS(sine_table)};

struct command_keys {
  struct orr_place over, from;
};

static const struct orr_key command_table[] = {
    {.name = "over",
     .doc = "how long it takes from where it is to a new command",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER("s"),
     .offset = offsetof(struct command_keys, over)},
    {.name = "from",
     .doc = "of a loop, which needs it: where it begins; a hinge begins where the initial state has it",
     .type = ORR_KEY_PLACE,
     .absent = "the initial state says it",
     .shape = ORR_NUMBER("rad|m"),
     .offset = offsetof(struct command_keys, from)},
};

static const struct orr_mapping command_mapping = {
    .name = "motion.command",
    .doc =
        "It goes to what its channel says, BODY.motion or loops.NAME.motion. A command that changes is followed from "
        "there by the polynomial of fifth degree that keeps position, rate and acceleration continuous and arrives "
        "at rest.",
    ORR_KEYS(command_table)};

struct motion_keys {
  struct orr_place table, sine, polynomial, command;
  int starts;
};

enum motion_key { TABLE, SINE, POLYNOMIAL, COMMAND, STARTS, MOTION_KEYS };

enum { MOST_COEFFICIENTS = 16 };

static const char *const starts[] = {"at_once", "by_command", NULL};

static const struct orr_key motion_table[MOTION_KEYS] = {
    [TABLE] = {.name = "table",
               .doc = "rows of time and place; between them a cubic spline, at rest at both ends and beyond them",
               .type = ORR_KEY_PLACE,
               .absent = "another key says the motion",
               .shape = ORR_LIST(ORR_PAIR(ORR_NUMBER("s"), ORR_NUMBER("rad|m"))),
               .offset = offsetof(struct motion_keys, table)},
    [SINE] = {.name = "sine",
              .doc = "a sine of time",
              .type = ORR_KEY_PLACE,
              .absent = "another key says the motion",
              .shape = ORR_MAPPING(sine_mapping),
              .offset = offsetof(struct motion_keys, sine)},
    [POLYNOMIAL] = {.name = "polynomial",
                    .doc = "c0 + c1 t + c2 t^2 and so on, up to 16 coefficients, in rad or m over powers of s",
                    .type = ORR_KEY_PLACE,
                    .absent = "another key says the motion",
                    .shape = ORR_NUMBERS(0, NULL),
                    .offset = offsetof(struct motion_keys, polynomial)},
    [COMMAND] = {.name = "command",
                 .doc = "it follows a channel",
                 .type = ORR_KEY_PLACE,
                 .absent = "another key says the motion",
                 .shape = ORR_MAPPING(command_mapping),
                 .offset = offsetof(struct motion_keys, command)},
    [STARTS] = {.name = "starts",
                .doc = "when its time begins: with the run, or in the first frame in which its channel, BODY.motion or "
                       "loops.NAME.motion, is 1; until then it stands where it begins, which must be at rest",
                .type = ORR_KEY_CHOICE,
                .choices = starts,
                .fallback = "at_once",
                .offset = offsetof(struct motion_keys, starts)},
};

const struct orr_mapping orr_motion_mapping = {
    .name = "motion",
    .doc = "A motion that is given: of each coordinate of a hinge, which is prescribed by it; of the distance of a "
           "distance loop, the angle about the axis of a revolute loop, or the offset of a gear. Exact in position, "
           "rate and acceleration at every step.",
    ORR_KEYS(motion_table),
    .example = "spacecraft:\n"
               "  bodies:\n"
               "    bus: {mass: 1200, inertia: [800, 900, 700, 0, 0, 0], hinge: {kind: free, to: inertial},\n"
               "          nodes: {root: {at: [0, 1, 0]}}}\n"
               "    array: {mass: 20, com: [0, 2, 0], inertia: [30, 2, 30, 0, 0, 0],\n"
               "            hinge: {kind: revolute, to: bus.root, axis: [0, 1, 0],\n"
               "                    motion: {sine: {amplitude: 10 deg, frequency: 0.01 Hz}}}}\n",
};

struct reading {
  struct orr_reader *reader;
  struct orr_place place;
  const char *unit;
  bool of_loop;
  struct orr_motion_desc *out;
};

/* A number of one of the mappings above; where it does not stand, `out` stays. */
static bool number(struct reading *r, struct orr_place place, const char *name, const char *unit,
                   const struct orr_range *range, double *out) {
  return !place.node || orr_read_number(r->reader, place, name, unit, range, out);
}

static bool read_row(struct reading *r, struct orr_place row, double *at, double *value) {
  if (!orr_expect_sequence(r->reader, row, "table"))
    return false;
  if (orr_place_count(row) != 2) {
    orr_read_error(r->reader, row, "wrong-length", "a row of 'table' has a time and a place, and here %s %zu",
                   orr_place_count(row) == 1 ? "is" : "are", orr_place_count(row));
    return false;
  }
  bool good = orr_read_number(r->reader, orr_place_item(r->reader->diagnostics, row, 0), "table", "s",
                              &orr_range_not_negative, at);
  return orr_read_number(r->reader, orr_place_item(r->reader->diagnostics, row, 1), "table", r->unit, NULL, value) &&
         good;
}

static bool read_table(struct reading *r, struct orr_place place) {
  if (!orr_expect_sequence(r->reader, place, "table"))
    return false;
  size_t n = orr_place_count(place);
  if (n < 2) {
    orr_read_error(r->reader, place, "wrong-length", "a 'table' of motion needs two rows or more");
    return false;
  }
  double *at = orr_arena_alloc(r->reader->arena, 4 * n, sizeof *at), *values = at + n, *bends = values + n;
  for (size_t i = 0; i < n; i++) {
    struct orr_place row = orr_place_item(r->reader->diagnostics, place, i);
    if (!read_row(r, row, &at[i], &values[i]))
      return false;
    if (i > 0 && !(at[i] - at[i - 1] >= 1e-6)) {
      orr_read_error(r->reader, row, "order", "rows of 'table' stand in the order of their times, 1 us apart or more");
      return false;
    }
  }
  orr_spline_bend(n, at, values, bends, bends + n);
  r->out->form = ORR_MOTION_TABLE;
  r->out->count = n;
  r->out->at_s = at;
  r->out->values = values;
  r->out->bends = bends;
  return true;
}

static bool read_sine(struct reading *r, struct orr_place place) {
  struct sine_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "a sine of motion", .place = place};
  bool good = orr_read_mapping(r->reader, &thing, &sine_mapping, &keys, &present);
  r->out->form = ORR_MOTION_SINE;
  good &= number(r, keys.amplitude, "amplitude", r->unit, NULL, &r->out->amplitude);
  good &= number(r, keys.frequency, "frequency", "Hz", &orr_range_positive, &r->out->frequency_hz);
  good &= number(r, keys.phase, "phase", "rad", NULL, &r->out->phase_rad);
  return number(r, keys.offset, "offset", r->unit, NULL, &r->out->offset) && good;
}

static bool read_polynomial(struct reading *r, struct orr_place place) {
  if (!orr_expect_sequence(r->reader, place, "polynomial"))
    return false;
  size_t n = orr_place_count(place);
  if (n < 1 || n > MOST_COEFFICIENTS) {
    orr_read_error(r->reader, place, "wrong-length", "a 'polynomial' has 1 to %d coefficients, and here are %zu",
                   MOST_COEFFICIENTS, n);
    return false;
  }
  double *values = orr_arena_alloc(r->reader->arena, n, sizeof *values);
  r->out->form = ORR_MOTION_POLYNOMIAL;
  r->out->count = n;
  r->out->values = values;
  for (size_t i = 0; i < n; i++)
    if (!orr_read_number(r->reader, orr_place_item(r->reader->diagnostics, place, i), "polynomial", NULL, NULL,
                         &values[i]))
      return false;
  return true;
}

static bool read_command(struct reading *r, struct orr_place place) {
  struct command_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "a command of motion", .place = place};
  bool good = orr_read_mapping(r->reader, &thing, &command_mapping, &keys, &present);
  r->out->form = ORR_MOTION_COMMAND;
  good &= number(r, keys.over, "over", "s", &orr_range_positive, &r->out->over_s);
  good &= number(r, keys.from, "from", r->unit, NULL, &r->out->from);
  if (good && !r->of_loop && keys.from.node) {
    orr_read_error(r->reader, keys.from, "motion", "a hinge begins where the initial state has it: leave out 'from'");
    return false;
  }
  if (good && r->of_loop && !keys.from.node) {
    orr_read_error(r->reader, place, "missing-key", "the command of a loop needs 'from', where it begins");
    return false;
  }
  return good;
}

static bool read_form(struct reading *r, const struct motion_keys *keys) {
  const struct orr_place forms[] = {keys->table, keys->sine, keys->polynomial, keys->command};
  static bool (*const readers[])(struct reading *, struct orr_place) = {read_table, read_sine, read_polynomial,
                                                                        read_command};
  int found = -1, given = 0;
  for (int i = 0; i < 4; i++)
    if (forms[i].node) {
      found = i;
      given++;
    }
  if (given == 1)
    return readers[found](r, forms[found]);
  orr_read_error(r->reader, r->place, "motion",
                 "a motion has one of 'table', 'sine', 'polynomial' and 'command', and this one has %s",
                 given ? "more" : "none");
  return false;
}

/* What waits begins at rest, or it would jump. */
static bool waits_rightly(struct reading *r) {
  if (r->out->form == ORR_MOTION_COMMAND) {
    orr_read_error(r->reader, r->place, "motion", "a 'command' is followed from the start: leave out 'starts'");
    return false;
  }
  double rate = orr_motion_at(r->out, 0, false).v, most = 0;
  for (int i = 0; i < 100; i++)
    most = fmax(most, fabs(orr_motion_at(r->out, 0.01 * i, false).v));
  if (fabs(rate) <= 1e-12 * fmax(1, most))
    return true;
  orr_read_error(r->reader, r->place, "motion",
                 "a motion that starts by command begins at rest, and this one at %.4g %s/s%s", rate, r->unit,
                 r->out->form == ORR_MOTION_SINE ? "; 'phase: 90 deg' begins at its end" : "");
  return false;
}

bool orr_draft_read_motion(struct orr_reader *reader, struct orr_place place, struct orr_place key, const char *unit,
                           bool of_loop, struct orr_motion_desc *out) {
  struct reading r = {.reader = reader, .place = place, .unit = unit, .of_loop = of_loop, .out = out};
  struct motion_keys keys = {0};
  uint64_t present;
  *out = (struct orr_motion_desc){.source = orr_place_source(reader->diagnostics, place)};
  const struct orr_thing thing = {.what = "a motion", .place = place, .key = key};
  if (!orr_expect_mapping(reader, place, "motion") ||
      !orr_read_mapping(reader, &thing, &orr_motion_mapping, &keys, &present) || !read_form(&r, &keys))
    return false;
  out->waits = keys.starts == 1;
  return !out->waits || waits_rightly(&r);
}
