/* The section `faults` of a run file: what breaks, how, and when. The faults of devices come from the tables of their
 * kinds. */
#include <math.h>
#include <string.h>

#include "core/devices/devices.h"
#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/config/text/names.h"

enum {
  NAME,
  CHANNEL,
  DEVICE,
  HINGE,
  LINK,
  AT,
  FRAME,
  WHEN,
  FOR,
  INTERMITTENT,
  CHANCE,
  OF,
  FORMS, /* the forms of faults of channels, from here on */
  JAMMED = FORMS + ORR_FAULT_FORMS,
  DEAD,
  LOST,
  SEIZED, /* those of the kinds of devices, from here on */
  DRAG,
  STUCK_ON,
  STUCK_OFF,
  LEAK,
  CUT, /* those of links */
  LOSS,
  CORRUPTION,
  REORDER,
  COPIES,
  BIT_ERRORS,
  LOST_BYTES,
  DOUBLED_BYTES,
  STUCK_LINE,
  BABBLING,
  UNPLUGGED,
  FAULT_KEYS,
  TWO,
  MOST_DELAYED = 4000000, /* numbers that a delay may keep */
};

const char *const orr_fault_form_names[ORR_FAULT_FORMS + 1] = {"bias",     "drift",    "scale", "noise", "freeze",
                                                               "stuck_at", "bit_flip", "delay", "drop",  NULL};

static const struct orr_range part_range = {0, 1, false};
static const struct orr_range frame_range = {0, 9007199254740992.0, false};

struct keys {
  struct orr_place at[FAULT_KEYS];
};

struct intermittent_keys {
  int64_t every;
  double chance;
};

static const struct orr_key intermittent_table[] = {
    {.name = "every",
     .doc = "the spans of time of which each has the fault or has it not",
     .type = ORR_KEY_TIME,
     .required = true,
     .range = &orr_range_positive,
     .offset = offsetof(struct intermittent_keys, every)},
    {.name = "chance",
     .doc = "the part of the spans that have it, drawn from the seed",
     .type = ORR_KEY_NUMBER,
     .required = true,
     .range = &part_range,
     .offset = offsetof(struct intermittent_keys, chance)},
};

static const struct orr_mapping intermittent_mapping = {
    .name = "faults.intermittent", .doc = "A fault that comes and goes.", ORR_KEYS(intermittent_table)};

#define PLACE(which) .type = ORR_KEY_PLACE, .offset = offsetof(struct keys, at[which])
#define ONE_OF       .absent = "something else breaks"
#define TRUE_WORD    ORR_WORD(true_word)
#define FORM(which)  .absent = "another effect", PLACE(FORMS + (which))

static const char *const true_word[] = {"true", NULL}, *const any_word[] = {"any", NULL};
static const char *const way_words[] = {"commands", "telemetry", NULL}, *const levels[] = {"low", "high", NULL};

static const struct orr_key fault_table[FAULT_KEYS] = {
    [NAME] = {.name = "name",
              .doc = "its name, by which others begin and end it and logs tell of it",
              .absent = "what breaks and how, as in gyro.rate bias",
              .shape = ORR_TEXT("a name"),
              PLACE(NAME)},
    [CHANNEL] = {.name = "channel",
                 .doc = "the channel, or one number of it, that is told wrongly or commanded wrongly",
                 ONE_OF,
                 .shape = ORR_TEXT("a channel"),
                 PLACE(CHANNEL)},
    [DEVICE] =
        {.name = "device", .doc = "the device that breaks", ONE_OF, .shape = ORR_TEXT("a device"), PLACE(DEVICE)},
    [HINGE] = {.name = "hinge",
               .doc = "the body whose inboard hinge jams",
               ONE_OF,
               .shape = ORR_TEXT("a body"),
               PLACE(HINGE)},
    [LINK] = {.name = "link",
              .doc = "the link that does not bring all that goes by it",
              ONE_OF,
              .shape = ORR_TEXT("a link"),
              PLACE(LINK)},
    [AT] = {.name = "at",
            .doc = "when it begins: in the first frame at or after this time",
            .absent = "`frame` or `when` says it",
            .shape = ORR_SHAPE(.kind = ORR_SHAPE_TIME),
            PLACE(AT)},
    [FRAME] = {.name = "frame",
               .doc = "the frame in which it begins",
               .absent = "`at` or `when` says it",
               .shape = ORR_NUMBER(NULL),
               PLACE(FRAME)},
    [WHEN] = {.name = "when",
              .doc = "a condition: it begins in the frame after the first one in which this holds",
              .absent = "`at` or `frame` says it",
              .shape = ORR_TEXT("a condition (`orrery help conditions`)"),
              PLACE(WHEN)},
    [FOR] = {.name = "for",
             .doc = "how long it lasts",
             .absent = "to the end of the run",
             .shape = ORR_SHAPE(.kind = ORR_SHAPE_TIME),
             PLACE(FOR)},
    [INTERMITTENT] = {.name = "intermittent",
                      .doc = "it comes and goes; with no other effect the channel freezes meanwhile",
                      .absent = "it is there all the time",
                      .shape = ORR_MAPPING(intermittent_mapping),
                      PLACE(INTERMITTENT)},
    [CHANCE] = {.name = "chance",
                .doc = "the part of the samples that `bit_flip` hits",
                .absent = "all",
                .shape = ORR_NUMBER(NULL),
                PLACE(CHANCE)},
    [OF] = {.name = "of",
            .doc = "what of a link it is of: the commands that come by it, or the telemetry that goes out",
            .absent = "commands",
            .shape = ORR_WORD(way_words),
            PLACE(OF)},
    [FORMS + ORR_FAULT_BIAS] = {.name = "bias",
                                .doc =
                                    "what is added; a list has one for each number. To a whole attitude: a turn about "
                                    "each axis of its node, rad",
                                .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
                                FORM(ORR_FAULT_BIAS)},
    [FORMS + ORR_FAULT_DRIFT] = {.name = "drift",
                                 .doc = "what is added for each second since it began, in the unit of the channel per "
                                        "second; to a whole attitude turns, rad/s",
                                 .shape = ORR_TEXT("a number"),
                                 FORM(ORR_FAULT_DRIFT)},
    [FORMS + ORR_FAULT_SCALE] = {.name = "scale",
                                 .doc = "what it is multiplied by; of a whole attitude, its angle",
                                 .shape = ORR_NUMBER(NULL),
                                 FORM(ORR_FAULT_SCALE)},
    [FORMS + ORR_FAULT_NOISE] = {.name = "noise",
                                 .doc = "normal noise of this standard deviation, new for each sample; to a whole "
                                        "attitude turns, rad",
                                 .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
                                 FORM(ORR_FAULT_NOISE)},
    [FORMS + ORR_FAULT_FREEZE] = {.name = "freeze",
                                  .doc = "what stood in the frame before it began stands",
                                  .shape = TRUE_WORD,
                                  FORM(ORR_FAULT_FREEZE)},
    [FORMS + ORR_FAULT_STUCK_AT] = {.name = "stuck_at",
                                    .doc = "this value, whatever is measured or commanded",
                                    .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
                                    FORM(ORR_FAULT_STUCK_AT)},
    [FORMS +
        ORR_FAULT_BIT_FLIP] = {.name = "bit_flip",
                               .doc =
                                   "the bit of 64 that is turned over, 0 the lowest, or any, drawn from the seed: of "
                                   "a double, of a whole number in two's complement; a flag has only one",
                               .shape = ORR_EITHER(ORR_NUMBER(NULL), ORR_WORD(any_word)),
                               FORM(ORR_FAULT_BIT_FLIP)},
    [FORMS + ORR_FAULT_DELAY] = {.name = "delay",
                                 .doc = "how much later it comes, whole frames",
                                 .shape = ORR_SHAPE(.kind = ORR_SHAPE_TIME),
                                 FORM(ORR_FAULT_DELAY)},
    [FORMS + ORR_FAULT_DROP] = {.name = "drop",
                                .doc = "the part of the samples that is lost, so that the one before stands",
                                .shape = ORR_NUMBER(NULL),
                                FORM(ORR_FAULT_DROP)},
    [JAMMED] = {.name = "jammed",
                .doc = "of a hinge: true, or the time in which it comes to rest; it is held there, and a motion "
                       "that it has goes on later by as long",
                .absent = "another effect",
                .shape = ORR_EITHER(TRUE_WORD, ORR_SHAPE(.kind = ORR_SHAPE_TIME)),
                PLACE(JAMMED)},
    [DEAD] = {.name = "dead",
              .doc = "of a sensor: all that it tells is 0, its flags too",
              .absent = "another effect",
              .shape = TRUE_WORD,
              PLACE(DEAD)},
    [LOST] = {.name = "lost",
              .doc = "the same, as one says of an encoder",
              .absent = "another effect",
              .shape = TRUE_WORD,
              PLACE(LOST)},
    [SEIZED] = {.name = "seized",
                .doc = "of a wheel: true, or the time in which its rotor comes to rest against its body; true is 0.1 s",
                .absent = "another effect",
                .shape = ORR_EITHER(TRUE_WORD, ORR_SHAPE(.kind = ORR_SHAPE_TIME)),
                PLACE(SEIZED)},
    [DRAG] = {.name = "drag",
              .doc = "of a wheel: viscous drag that comes on top",
              .absent = "another effect",
              .shape = ORR_NUMBER("N m s/rad"),
              PLACE(DRAG)},
    [STUCK_ON] = {.name = "stuck_on",
                  .doc = "of a thruster: its valve is open",
                  .absent = "another effect",
                  .shape = TRUE_WORD,
                  PLACE(STUCK_ON)},
    [STUCK_OFF] = {.name = "stuck_off",
                   .doc = "of a thruster: its valve is shut",
                   .absent = "another effect",
                   .shape = TRUE_WORD,
                   PLACE(STUCK_OFF)},
    [LEAK] = {.name = "leak",
              .doc = "of a thruster: the part of its thrust that it gives at least",
              .absent = "another effect",
              .shape = ORR_NUMBER(NULL),
              PLACE(LEAK)},
    [CUT] = {.name = "cut",
             .doc = "of a link: nothing comes through",
             .absent = "another effect",
             .shape = TRUE_WORD,
             PLACE(CUT)},
    [LOSS] = {.name = "loss",
              .doc = "of a link: the part that is lost, drawn from the seed and the frame",
              .absent = "another effect",
              .shape = ORR_NUMBER(NULL),
              PLACE(LOSS)},
    [CORRUPTION] =
        {.name = "corruption",
         .doc = "of a link: the part that comes damaged, which its sum tells, so that it is refused as malformed",
         .absent = "another effect",
         .shape = ORR_NUMBER(NULL),
         PLACE(CORRUPTION)},
    [REORDER] = {.name = "reorder",
                 .doc = "of a link: the part that comes behind the next one, and so is stale",
                 .absent = "another effect",
                 .shape = ORR_NUMBER(NULL),
                 PLACE(REORDER)},
    [COPIES] = {.name = "copies",
                .doc = "of a link: the part that comes twice; the copy is refused as a duplicate",
                .absent = "another effect",
                .shape = ORR_NUMBER(NULL),
                PLACE(COPIES)},
    [BIT_ERRORS] = {.name = "bit_errors",
                    .doc = "of a line that carries bytes: the part of the bits that are wrong; a packet with one is "
                           "refused as malformed",
                    .absent = "another effect",
                    .shape = ORR_NUMBER(NULL),
                    PLACE(BIT_ERRORS)},
    [LOST_BYTES] = {.name = "lost_bytes",
                    .doc = "of such a line: the part of the bytes that are lost",
                    .absent = "another effect",
                    .shape = ORR_NUMBER(NULL),
                    PLACE(LOST_BYTES)},
    [DOUBLED_BYTES] = {.name = "doubled_bytes",
                       .doc = "of such a line: the part of the bytes that come twice",
                       .absent = "another effect",
                       .shape = ORR_NUMBER(NULL),
                       PLACE(DOUBLED_BYTES)},
    [STUCK_LINE] = {.name = "stuck_line",
                    .doc = "of such a line: it stands at a level, and nothing comes through",
                    .absent = "another effect",
                    .shape = ORR_WORD(levels),
                    PLACE(STUCK_LINE)},
    [BABBLING] = {.name = "babbling",
                  .doc = "of such a line, both ways: the part of the frames into which another node of the line talks, "
                         "so that both they and what answers then are damaged",
                  .absent = "another effect",
                  .shape = ORR_NUMBER(NULL),
                  PLACE(BABBLING)},
    [UNPLUGGED] = {.name = "unplugged",
                   .doc = "of a link outside, both ways: nothing comes through; a connection is closed, and made again "
                          "afterwards",
                   .absent = "another effect",
                   .shape = TRUE_WORD,
                   PLACE(UNPLUGGED)},
};

const struct orr_mapping orr_fault_mapping = {
    .name = "faults",
    .doc = "What breaks: one `channel`, `device`, `hinge` or `link`, one effect, and when it begins. What is "
           "random is drawn from the seed, the name and the frame, so that every mode has the same.",
    ORR_KEYS(fault_table),
    .example = "faults:\n"
               "  - {channel: gyro.rate, at: 20 s, for: 5 s, bias: 0.01 deg/s}\n"
               "  - {channel: wheel_x.torque, when: bus.rate.z above 1 deg/s for 2 s, scale: 0.5}\n"
               "  - {name: bearing, device: wheel_x, frame: 4000, drag: 1e-4 N m s/rad}\n"
               "  - {link: fsw, at: 30 s, for: 10 s, loss: 0.2}\n"
               "  - {link: fsw, of: telemetry, at: 45 s, for: 10 s, reorder: 0.1}\n",
};

struct reading {
  struct orr_run_draft *d;
  struct orr_place place;
  struct keys keys;
  const char *target, *effect; /* in words */
  struct orr_run_fault *out;
};

static struct orr_place given(const struct reading *r, size_t key) { return r->keys.at[key]; }

static bool is_effect(size_t key) { return key >= FORMS; }

/* The one effect of the entry; FAULT_KEYS where there is none, TWO after reporting that there are two. */
static size_t find_effect(struct reading *r) {
  size_t found = FAULT_KEYS;
  for (size_t i = 0; i < FAULT_KEYS; i++) {
    if (!given(r, i).node || !is_effect(i))
      continue;
    if (found < FAULT_KEYS) {
      orr_read_error(r->d->reader, given(r, i), "fault",
                     "a fault does one thing, and this one has '%s' and '%s'; write two entries",
                     fault_table[found].name, fault_table[i].name);
      return TWO;
    }
    found = i;
  }
  return found;
}

static bool read_true(struct reading *r, struct orr_place place, const char *name) {
  const char *text;
  if (!orr_read_text(r->d->reader, place, name, &text))
    return false;
  if (strcmp(text, "true") == 0)
    return true;
  orr_read_error(r->d->reader, place, "fault", "'%s' takes true, not '%.60s'", name, text);
  return false;
}

/* ---- when -------------------------------------------------------------------------------------------------------- */

static bool read_span(struct reading *r, size_t key, const struct orr_range *range, int64_t *out) {
  return orr_read_time(r->d->reader, given(r, key), fault_table[key].name, range, out);
}

static bool read_start(struct reading *r) {
  struct orr_run_fault *out = r->out;
  int64_t step = r->d->run->plant.step_ns;
  int count = (given(r, AT).node != NULL) + (given(r, FRAME).node != NULL) + (given(r, WHEN).node != NULL);
  out->at_ns = -1;
  if (count > 1) {
    orr_read_error(r->d->reader, r->place, "fault",
                   "a fault begins by one of 'at' (a time), 'frame' (a number) and 'when' (a condition)");
    return false;
  }
  if (count == 0) {
    if (!orr_config_section(r->d->config, ORR_SECTION_SEQUENCE).node)
      orr_read_warning(r->d->reader, r->place, "never",
                       "nothing begins this fault: give it 'at', 'frame' or 'when', let a sequence begin it, or "
                       "'orrery ctl fault' while it flies");
    return true;
  }
  if (given(r, WHEN).node) {
    out->when = orr_run_read_condition(r->d, given(r, WHEN), "when");
    return out->when != NULL;
  }
  if (given(r, AT).node)
    return read_span(r, AT, &orr_range_not_negative, &out->at_ns);
  double frame;
  if (!orr_read_number(r->d->reader, given(r, FRAME), "frame", "", &frame_range, &frame))
    return false;
  if (frame != floor(frame) || frame * (double)step > 9e18) {
    orr_read_error(r->d->reader, given(r, FRAME), "fault", "'frame' is the whole number of a frame of the run");
    return false;
  }
  out->at_ns = (int64_t)frame * step;
  return true;
}

static bool read_when(struct reading *r) {
  struct orr_run_fault *out = r->out;
  out->for_ns = INT64_MAX;
  bool good = read_start(r);
  if (given(r, FOR).node)
    good = read_span(r, FOR, &orr_range_positive, &out->for_ns) && good;
  int64_t end = orr_config_end_ns(r->d->config, r->d->run->duration_ns);
  if (good && end > 0 && out->at_ns >= end)
    orr_read_warning(r->d->reader, r->place, "never", "the run is over at %.9g s, so this fault never begins",
                     1e-9 * (double)end);
  return good;
}

static bool read_intermittent(struct reading *r) {
  struct intermittent_keys keys = {0};
  uint64_t present;
  struct orr_place place = given(r, INTERMITTENT);
  const struct orr_thing thing = {.what = "'intermittent'", .place = place};
  if (!place.node)
    return true;
  if (!orr_expect_mapping(r->d->reader, place, "intermittent") ||
      !orr_read_mapping(r->d->reader, &thing, &intermittent_mapping, &keys, &present))
    return false;
  r->out->every_ns = keys.every;
  r->out->part = keys.chance;
  return true;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* One number for all, or a list of one each. */
static bool read_values(struct reading *r, struct orr_place place, const char *name, const char *unit,
                        const struct orr_range *range) {
  size_t count = r->out->turns ? 3 : (size_t)r->out->count;
  double *values = orr_arena_alloc(r->d->reader->arena, count, sizeof *values);
  bool list = place.node->kind == ORR_YAML_SEQUENCE, good = true;
  if (list && orr_place_count(place) != count) {
    orr_read_error(r->d->reader, place, "wrong-length", "'%s' takes one number, or a list of %zu", name, count);
    return false;
  }
  for (size_t i = 0; i < count && good; i++) {
    struct orr_place item = list ? orr_place_item(r->d->reader->diagnostics, place, i) : place;
    good = orr_read_number(r->d->reader, item, name, unit, range, &values[i]);
  }
  r->out->values = values;
  return good;
}

static bool read_bit(struct reading *r, struct orr_place place) {
  static const struct orr_range bits = {0, 63, false};
  const char *text;
  double bit;
  r->out->bit = -1;
  if (!orr_read_text(r->d->reader, place, "bit_flip", &text))
    return false;
  if (strcmp(text, "any") == 0)
    return true;
  if (!orr_read_number(r->d->reader, place, "bit_flip", "", &bits, &bit))
    return false;
  if (bit != floor(bit)) {
    orr_read_error(r->d->reader, place, "fault", "'bit_flip' takes the whole number of a bit, 0 to 63, or any");
    return false;
  }
  r->out->bit = (int)bit;
  return true;
}

static bool read_delay(struct reading *r, struct orr_place place) {
  int64_t step = r->d->run->plant.step_ns, ns;
  if (!read_span(r, FORMS + ORR_FAULT_DELAY, &orr_range_positive, &ns) || step <= 0)
    return false;
  if (ns % step) {
    orr_read_error(r->d->reader, place, "fault", "a delay is a whole number of frames of %.9g s", 1e-9 * (double)step);
    return false;
  }
  if (ns / step > MOST_DELAYED / r->out->count) {
    orr_read_error(r->d->reader, place, "out-of-range",
                   "a delay of %.9g s is %lld frames of %d numbers, too many to keep", 1e-9 * (double)ns,
                   (long long)(ns / step), r->out->count);
    return false;
  }
  r->out->delay_frames = (int)(ns / step);
  return orr_run_count_delayed(r->d, orr_place_source(r->d->reader->diagnostics, place), ns / step, r->out->count);
}

/* What it is stuck at is one of its values. */
static bool judge_stuck(struct reading *r, const struct orr_channel *c, struct orr_place place) {
  for (int i = 0; i < r->out->count && c->type != ORR_CHANNEL_REAL; i++)
    if (!orr_channel_accepts(c, r->out->values[i])) {
      orr_read_error(r->d->reader, place, "fault", "'%s' is %s, and cannot be stuck at %.9g", c->name,
                     c->type == ORR_CHANNEL_FLAG ? "0 or 1" : "a whole number", r->out->values[i]);
      return false;
    }
  return true;
}

static bool read_form(struct reading *r, const struct orr_channel *c, enum orr_fault_form form) {
  struct orr_reader *reader = r->d->reader;
  struct orr_place place = given(r, FORMS + form);
  const struct orr_range commanded = {c->low, c->high, false};
  const char *name = orr_fault_form_names[form];
  r->out->form = form;
  r->out->turns = c->elements == orr_channel_xyzw && r->out->count == 4 && form <= ORR_FAULT_NOISE;
  const char *unit = r->out->turns ? "rad" : c->unit;
  switch (form) {
  case ORR_FAULT_DRIFT:
    return read_values(r, place, name, *unit ? orr_arena_format(reader->arena, "%s/s", unit) : "Hz", NULL);
  case ORR_FAULT_SCALE:
    if (r->out->turns && place.node->kind == ORR_YAML_SEQUENCE) {
      orr_read_error(reader, place, "wrong-length", "'scale' of an attitude takes one number, for its angle");
      return false;
    }
    return read_values(r, place, name, "", NULL);
  case ORR_FAULT_NOISE:
    return read_values(r, place, name, unit, &orr_range_not_negative);
  case ORR_FAULT_STUCK_AT:
    return read_values(r, place, name, c->unit, c->direction == ORR_CHANNEL_COMMAND ? &commanded : NULL) &&
           judge_stuck(r, c, place);
  case ORR_FAULT_FREEZE:
    return read_true(r, place, name);
  case ORR_FAULT_BIT_FLIP:
    return read_bit(r, place);
  case ORR_FAULT_DELAY:
    return read_delay(r, place);
  case ORR_FAULT_DROP:
    return orr_read_number(reader, place, name, "", &part_range, &r->out->chance);
  default:
    return read_values(r, place, name, unit, NULL);
  }
}

/* When a channel has something new: an output as its device samples, a command as its link commands. */
static void find_samples(struct reading *r, int channel) {
  const struct orr_run *run = r->d->run;
  const struct orr_channel *c = &run->table.channels[channel];
  r->out->divisor = c->divisor;
  r->out->phase = c->phase;
  for (size_t i = 0; i < run->plant.device_count && c->direction == ORR_CHANNEL_OUTPUT; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    size_t n = strlen(d->name);
    if (strncmp(c->name, d->name, n) == 0 && c->name[n] == '.')
      r->out->phase += d->delay;
  }
  for (size_t i = 0; i < run->link_count; i++)
    for (int k = 0; k < run->links[i].command_count; k++)
      if (run->links[i].commands[k] == channel) {
        r->out->divisor = run->links[i].divisor;
        r->out->phase = run->links[i].phase;
      }
}

static bool read_channel(struct reading *r, size_t effect) {
  int element;
  const char *name;
  if (!orr_read_text(r->d->reader, given(r, CHANNEL), "channel", &name))
    return false;
  r->target = name;
  r->out->channel = orr_run_find_channel(r->d, given(r, CHANNEL), name, &element);
  bool none = effect == FAULT_KEYS && given(r, INTERMITTENT).node;
  if (r->out->channel < 0)
    return false;
  if (!none && (effect < FORMS || effect >= JAMMED)) {
    orr_read_error(
        r->d->reader, effect < FAULT_KEYS ? given(r, effect) : r->place, "fault",
        "a fault of a channel is one of bias, drift, scale, noise, freeze, stuck_at, bit_flip, delay, drop and "
        "intermittent");
    return false;
  }
  const struct orr_channel *c = &r->d->run->table.channels[r->out->channel];
  r->out->first = c->offset + (element >= 0 ? element : 0);
  r->out->count = element >= 0 ? 1 : c->count;
  find_samples(r, r->out->channel);
  r->out->form = ORR_FAULT_FREEZE; /* what comes and goes, and does nothing else, is not heard meanwhile */
  r->effect = none ? "intermittent" : fault_table[effect].name;
  bool good = none || read_form(r, c, (enum orr_fault_form)(effect - FORMS));
  if (!given(r, CHANCE).node)
    return good;
  if (r->out->form == ORR_FAULT_BIT_FLIP)
    return orr_read_number(r->d->reader, given(r, CHANCE), "chance", "", &part_range, &r->out->chance) && good;
  orr_read_error(r->d->reader, given(r, CHANCE), "fault", "'chance' goes with 'bit_flip'");
  return false;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static int find_device(struct reading *r, const char *name) {
  const struct orr_run *run = r->d->run;
  struct orr_nearest nearest = {.wanted = name};
  for (size_t i = 0; i < run->plant.device_count; i++) {
    const struct orr_device_desc *d = &run->plant.devices[i];
    if (!orr_device_kind_find(d->kind->name))
      continue; /* not one of the file: the world */
    if (strcmp(d->name, name) == 0)
      return (int)i;
    orr_nearest_offer(&nearest, d->name);
  }
  if (r->d->partial)
    return -1;
  if (nearest.best)
    orr_read_error(r->d->reader, given(r, DEVICE), "unknown-device", "there is no device '%.60s', did you mean '%s'?",
                   name, nearest.best);
  else
    orr_read_error(r->d->reader, given(r, DEVICE), "unknown-device", "there is no device '%.60s'", name);
  return -1;
}

/* All that a sensor says is zero, its flags too. */
static bool read_silence(struct reading *r, const struct orr_device_desc *device, size_t effect) {
  const struct orr_channel_table *table = &r->d->run->table;
  size_t n = strlen(device->name);
  struct orr_run_fault *out = r->out;
  if (device->kind->role != ORR_SENSOR) {
    orr_read_error(r->d->reader, given(r, effect), "fault", "'%s' is of sensors, and '%.60s' is an actuator",
                   fault_table[effect].name, device->name);
    return false;
  }
  out->channel = -1;
  for (int i = 0; i < table->count; i++) {
    const struct orr_channel *c = &table->channels[i];
    if (strncmp(c->name, device->name, n) != 0 || c->name[n] != '.' || c->direction != ORR_CHANNEL_OUTPUT)
      continue;
    if (out->channel < 0) {
      out->channel = i;
      out->first = c->offset;
    }
    out->count += c->count;
  }
  out->target = ORR_FAULT_NUMBERS;
  out->form = ORR_FAULT_STUCK_AT;
  out->divisor = 1;
  out->values = orr_arena_alloc(r->d->reader->arena, (size_t)out->count, sizeof *out->values);
  return read_true(r, given(r, effect), fault_table[effect].name);
}

static const char *faults_of(struct reading *r, const struct orr_device_kind *kind) {
  const char *list = kind->role == ORR_SENSOR ? "dead, lost" : "";
  for (size_t i = 0; i < kind->fault_count; i++)
    list = orr_arena_format(r->d->reader->arena, "%s%s%s", list, *list ? ", " : "", kind->faults[i].name);
  return list;
}

static bool read_number(struct reading *r, size_t effect, const struct orr_device_fault *fault) {
  const struct orr_range range = {fault->low, fault->high, false};
  struct orr_place place = given(r, effect);
  bool is_true = place.node->kind == ORR_YAML_SCALAR && strcmp(place.node->text, "true") == 0;
  r->out->number = fault->fallback;
  if (!fault->number)
    return read_true(r, place, fault->name);
  if (is_true && fault->has_fallback)
    return true;
  return orr_read_number(r->d->reader, place, fault->name, fault->unit, &range, &r->out->number);
}

static bool read_device(struct reading *r, size_t effect) {
  const char *name;
  if (!orr_read_text(r->d->reader, given(r, DEVICE), "device", &name) || r->d->blind)
    return false;
  r->target = name;
  r->out->device = find_device(r, name);
  if (r->out->device < 0)
    return false;
  const struct orr_device_desc *device = &r->d->run->plant.devices[r->out->device];
  const struct orr_device_kind *kind = device->kind;
  r->out->target = ORR_FAULT_DEVICE;
  r->effect = effect < FAULT_KEYS ? fault_table[effect].name : "";
  if (effect == DEAD || effect == LOST)
    return read_silence(r, device, effect);
  for (size_t i = 0; i < kind->fault_count; i++)
    if (strcmp(kind->faults[i].name, r->effect) == 0) {
      r->out->fault = &kind->faults[i];
      return read_number(r, effect, &kind->faults[i]);
    }
  const char *list = faults_of(r, kind);
  orr_read_error(r->d->reader, effect < FAULT_KEYS ? given(r, effect) : r->place, "fault",
                 *list ? "what can break in a %s: %s%s%s"
                       : "nothing of its own can break in a %s; its channels can%s%s",
                 kind->name, list, *list ? "; its channels can have faults of their own" : "", "");
  return false;
}

static bool read_hinge(struct reading *r, size_t effect) {
  static const struct orr_range over = {0, 1e6, false};
  const struct orr_description *spacecraft = orr_config_description(r->d->config);
  const char *name, *text;
  r->out->target = ORR_FAULT_HINGE;
  if (!orr_read_text(r->d->reader, given(r, HINGE), "hinge", &name) || r->d->blind)
    return false;
  r->target = name;
  r->effect = "jammed";
  r->out->body = orr_draft_find_body(r->d->draft, &r->d->draft->own, given(r, HINGE), name);
  if (r->out->body < 0)
    return false;
  if (effect != JAMMED) {
    orr_read_error(r->d->reader, effect < FAULT_KEYS ? given(r, effect) : r->place, "fault",
                   "the fault of a hinge is 'jammed: true', or the time in which it comes to rest");
    return false;
  }
  enum orr_hinge_kind kind = spacecraft->bodies[r->out->body].hinge.kind;
  if (kind == ORR_HINGE_FREE || kind == ORR_HINGE_FIXED) {
    orr_read_error(r->d->reader, given(r, HINGE), "fault", "a %s hinge has nothing that could jam",
                   orr_hinge_kind_info(kind)->name);
    return false;
  }
  if (orr_read_text(r->d->reader, given(r, JAMMED), "jammed", &text) && strcmp(text, "true") == 0)
    return true;
  return read_span(r, JAMMED, &over, &r->out->over_ns);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static bool find_link(struct reading *r, const char *name) {
  struct orr_nearest nearest = {.wanted = name};
  for (size_t i = 0; i < r->d->run->link_count; i++) {
    orr_nearest_offer(&nearest, r->d->run->links[i].name);
    if (strcmp(r->d->run->links[i].name, name) == 0)
      r->out->link = (int)i;
  }
  if (r->out->link >= 0)
    return true;
  if (nearest.best)
    orr_read_error(r->d->reader, given(r, LINK), "unknown-link", "there is no link '%.60s', did you mean '%s'?", name,
                   nearest.best);
  else
    orr_read_error(r->d->reader, given(r, LINK), "unknown-link", "there is no link '%.60s' under 'links'", name);
  return false;
}

static bool read_way(struct reading *r) {
  const char *way = way_words[0];
  if (given(r, OF).node && !orr_read_text(r->d->reader, given(r, OF), "of", &way))
    return false;
  r->out->of_telemetry = strcmp(way, way_words[1]) == 0;
  if (!r->out->of_telemetry && strcmp(way, way_words[0]) != 0) {
    orr_read_error(r->d->reader, given(r, OF), "fault", "'of' is commands or telemetry, not '%.60s'", way);
    return false;
  }
  const struct orr_run_link *link = &r->d->run->links[r->out->link];
  if (r->out->both_ways && given(r, OF).node) {
    orr_read_error(r->d->reader, given(r, OF), "fault", "'%s' is of both ways: leave 'of' out", r->effect);
    return false;
  }
  if (r->out->of_telemetry || r->out->both_ways || link->command_count)
    return true;
  orr_read_error(r->d->reader, r->place, "fault", "link '%s' has no commands", link->name);
  return false;
}

/* `stuck_line: low`. */
static bool read_level(struct reading *r) {
  const char *level;
  if (!orr_read_text(r->d->reader, given(r, STUCK_LINE), "stuck_line", &level))
    return false;
  r->out->rate = strcmp(level, levels[1]) == 0;
  if (r->out->rate > 0 || strcmp(level, levels[0]) == 0)
    return true;
  orr_read_error(r->d->reader, given(r, STUCK_LINE), "fault", "'stuck_line' is low or high, not '%.60s'", level);
  return false;
}

static bool read_amount(struct reading *r, size_t effect) {
  const bool of_bits = effect >= BIT_ERRORS && effect <= DOUBLED_BYTES;
  if (effect == STUCK_LINE)
    return read_level(r);
  if (effect == CUT || effect == UNPLUGGED)
    return read_true(r, given(r, effect), fault_table[effect].name);
  return orr_read_number(r->d->reader, given(r, effect), fault_table[effect].name, "", &part_range,
                         of_bits ? &r->out->rate : &r->out->chance);
}

static bool read_link(struct reading *r, size_t effect) {
  static const enum orr_link_trouble troubles[] = {/* from CUT on */
                                                   ORR_LINK_LOSES,       ORR_LINK_LOSES,         ORR_LINK_CORRUPTS,
                                                   ORR_LINK_REORDERS,    ORR_LINK_COPIES,        ORR_LINK_BIT_ERRORS,
                                                   ORR_LINK_LOSES_BYTES, ORR_LINK_DOUBLES_BYTES, ORR_LINK_STUCK,
                                                   ORR_LINK_BABBLES,     ORR_LINK_UNPLUGGED};
  const char *name;
  r->out->target = ORR_FAULT_LINK;
  if (!orr_read_text(r->d->reader, given(r, LINK), "link", &name) || !find_link(r, name))
    return false;
  r->target = name;
  if (effect < CUT || effect > UNPLUGGED) {
    orr_read_error(r->d->reader, effect < FAULT_KEYS ? given(r, effect) : r->place, "fault",
                   "a fault of a link is one of cut, loss, corruption, reorder, copies, bit_errors, lost_bytes, "
                   "doubled_bytes, stuck_line, babbling and unplugged");
    return false;
  }
  r->effect = fault_table[effect].name;
  r->out->trouble = troubles[effect - CUT];
  r->out->both_ways = effect == BABBLING || effect == UNPLUGGED;
  if (!read_way(r))
    return false;
  if (r->out->of_telemetry)
    r->effect = orr_arena_format(r->d->reader->arena, "telemetry %s", r->effect);
  return read_amount(r, effect) &&
         (effect < BIT_ERRORS || orr_run_judge_line_fault(r->d, given(r, effect), fault_table[effect].name, r->out));
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static bool read_target(struct reading *r) {
  int given_count = 0;
  size_t effect = find_effect(r);
  for (size_t i = CHANNEL; i <= LINK; i++)
    given_count += given(r, i).node != NULL;
  if (effect == TWO)
    return false;
  if (given_count != 1) {
    orr_read_error(r->d->reader, r->place, "fault", "a fault is of one 'channel', 'device', 'hinge' or 'link'");
    return false;
  }
  if (given(r, INTERMITTENT).node && !given(r, CHANNEL).node) {
    orr_read_error(r->d->reader, given(r, INTERMITTENT), "fault", "'intermittent' is of channels");
    return false;
  }
  if (given(r, CHANCE).node && !given(r, CHANNEL).node) {
    orr_read_error(r->d->reader, given(r, CHANCE), "fault", "'chance' goes with 'bit_flip' of a channel");
    return false;
  }
  if (given(r, OF).node && !given(r, LINK).node) {
    orr_read_error(r->d->reader, given(r, OF), "fault", "'of' goes with 'link'");
    return false;
  }
  if (given(r, CHANNEL).node)
    return read_channel(r, effect);
  if (given(r, LINK).node)
    return read_link(r, effect);
  return given(r, DEVICE).node ? read_device(r, effect) : read_hinge(r, effect);
}

static bool is_taken(const struct orr_run_fault *faults, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(faults[i].name, name) == 0)
      return true;
  return false;
}

/* The one that is given, or "gyro.rate bias", with a number where that is taken. */
static bool name_it(struct reading *r, const struct orr_run_fault *faults, size_t count) {
  struct orr_reader *reader = r->d->reader;
  struct orr_place place = given(r, NAME);
  const char *base = orr_arena_format(reader->arena, "%s %s", r->target, r->effect);
  r->out->name = base;
  for (int k = 2; !place.node && is_taken(faults, count, r->out->name); k++)
    r->out->name = orr_arena_format(reader->arena, "%s %d", base, k);
  r->out->what = base;
  if (place.node && (!orr_read_text(reader, place, "name", &r->out->name) || !orr_read_name(reader, place, "fault")))
    return false;
  if (is_taken(faults, count, r->out->name)) {
    orr_read_error(reader, place, "duplicate-name", "'%.60s' is the name of another fault", r->out->name);
    return false;
  }
  r->out->key = orr_noise_key(r->d->run->plant.seed, orr_arena_format(reader->arena, "fault %s", r->out->name));
  return true;
}

void orr_run_read_faults(struct orr_run_draft *d) {
  struct orr_place list = orr_config_section(d->config, ORR_SECTION_FAULTS);
  if (!list.node || !orr_expect_sequence(d->reader, list, "faults"))
    return;
  size_t n = orr_place_count(list), good = 0;
  struct orr_run_fault *faults = orr_arena_alloc(d->reader->arena, n, sizeof *faults);
  for (size_t i = 0; i < n; i++) {
    struct reading r = {.d = d, .out = &faults[good], .target = "", .effect = ""};
    uint64_t present;
    r.place = orr_place_item(d->reader->diagnostics, list, i);
    const struct orr_thing thing = {.what = "a fault", .place = r.place};
    *r.out = (struct orr_run_fault){.channel = -1, .device = -1, .body = -1, .link = -1, .chance = 1, .divisor = 1};
    if (!orr_read_mapping(d->reader, &thing, &orr_fault_mapping, &r.keys, &present))
      continue;
    bool right = read_target(&r);
    right = read_when(&r) && right;
    right = read_intermittent(&r) && right;
    good += right && name_it(&r, faults, good);
  }
  d->run->faults = faults;
  d->run->fault_count = good;
}
