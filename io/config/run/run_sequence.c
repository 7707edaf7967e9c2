/* The section `sequence` of a run file: the steps of a test procedure, compiled into a list with jumps. */
#include <math.h>
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"

enum {
  WAIT,
  UNTIL,
  SET,
  RAMP,
  FAULT,
  CLEAR,
  EXPECT,
  MARK,
  REPEAT,
  IF,
  ACTIONS, /* one of those before */
  TIMEOUT = ACTIONS,
  OTHERWISE,
  STEPS,
  THEN,
  ELSE,
  NAME,
  REQUIREMENT,
  STEP_KEYS,
  MOST_STEPS = 1000,
  DEEPEST = 8,
};

static const char *const otherwise_words[] = {"fail", "go_on", "end", NULL};
static const struct orr_range times_range = {1, 1e9, false};

struct step_keys {
  struct orr_place at[STEP_KEYS];
  int64_t wait, timeout, repeat;
  int otherwise;
  const char *requirement;
};

struct ramp_keys {
  struct orr_place channel, to;
  int64_t over;
};

static const struct orr_key ramp_table[] = {
    {.name = "channel",
     .doc = "a command of one number",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_TEXT("a channel"),
     .offset = offsetof(struct ramp_keys, channel)},
    {.name = "to",
     .doc = "where it goes from where it is",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
     .offset = offsetof(struct ramp_keys, to)},
    {.name = "over",
     .doc = "in what time",
     .type = ORR_KEY_TIME,
     .required = true,
     .range = &orr_range_positive,
     .offset = offsetof(struct ramp_keys, over)},
};

static const struct orr_mapping ramp_mapping = {
    .name = "sequence.ramp", .doc = "A command on its way.", ORR_KEYS(ramp_table)};

#define PLACE(which) .type = ORR_KEY_PLACE, .offset = offsetof(struct step_keys, at[which])
#define ANOTHER      .absent = "the step does something else"

static const struct orr_key step_table[STEP_KEYS] = {
    [WAIT] = {.name = "wait",
              .doc = "for a time",
              .type = ORR_KEY_TIME,
              .range = &orr_range_not_negative,
              ANOTHER,
              .offset = offsetof(struct step_keys, wait)},
    [UNTIL] = {.name = "until",
               .doc = "waits until a condition holds; its `for` and `rising` begin with the step",
               ANOTHER,
               .shape = ORR_TEXT("a condition (`orrery help conditions`)"),
               PLACE(UNTIL)},
    [SET] = {.name = "set",
             .doc =
                 "gives commands: a mapping of channels to their values; one that a link commands, too, is held until "
                 "the link's next command",
             ANOTHER,
             .shape = ORR_NAMED("channel", ORR_NUMBER(ORR_UNIT_OF_CHANNEL)),
             PLACE(SET)},
    [RAMP] = {.name = "ramp",
              .doc = "takes a command somewhere, and waits until it is there",
              ANOTHER,
              .shape = ORR_MAPPING(ramp_mapping),
              PLACE(RAMP)},
    [FAULT] = {.name = "fault", .doc = "begins a fault", ANOTHER, .shape = ORR_TEXT("a fault's name"), PLACE(FAULT)},
    [CLEAR] = {.name = "clear",
               .doc = "ends a fault, or all",
               ANOTHER,
               .shape = ORR_TEXT("a fault's name, or all"),
               PLACE(CLEAR)},
    [EXPECT] = {.name = "expect",
                .doc = "a condition that holds when the sequence comes here",
                ANOTHER,
                .shape = ORR_TEXT("a condition (`orrery help conditions`)"),
                PLACE(EXPECT)},
    [MARK] = {.name = "mark", .doc = "a text into log and summary", ANOTHER, .shape = ORR_TEXT("a text"), PLACE(MARK)},
    [REPEAT] = {.name = "repeat",
                .doc = "flies `steps` so many times",
                .type = ORR_KEY_WHOLE,
                .range = &times_range,
                ANOTHER,
                .offset = offsetof(struct step_keys, repeat)},
    [IF] = {.name = "if",
            .doc = "a condition: where it holds `then` is flown, else `else`",
            ANOTHER,
            .shape = ORR_TEXT("a condition (`orrery help conditions`)"),
            PLACE(IF)},
    [TIMEOUT] = {.name = "timeout",
                 .doc = "how long `until` waits at most",
                 .type = ORR_KEY_TIME,
                 .range = &orr_range_positive,
                 .absent = "it waits to the end of the run",
                 .offset = offsetof(struct step_keys, timeout)},
    [OTHERWISE] = {.name = "otherwise",
                   .doc = "what then: the expectation that it comes is not met and the sequence ends; it goes on; it "
                          "ends",
                   .type = ORR_KEY_CHOICE,
                   .fallback = "fail",
                   .choices = otherwise_words,
                   .offset = offsetof(struct step_keys, otherwise)},
    [STEPS] = {.name = "steps",
               .doc = "what `repeat` flies",
               .absent = "nothing is repeated",
               .shape = ORR_LIST(ORR_LATER("sequence")),
               PLACE(STEPS)},
    [THEN] = {.name = "then",
              .doc = "steps of `if`",
              .absent = "none",
              .shape = ORR_LIST(ORR_LATER("sequence")),
              PLACE(THEN)},
    [ELSE] = {.name = "else",
              .doc = "steps of `if`",
              .absent = "none",
              .shape = ORR_LIST(ORR_LATER("sequence")),
              PLACE(ELSE)},
    [NAME] = {.name = "name",
              .doc = "what its verdict is called, of expect and until",
              .absent = "by its condition",
              .shape = ORR_TEXT("a name"),
              PLACE(NAME)},
    [REQUIREMENT] = {.name = "requirement",
                     .doc = "the requirement that it shows",
                     .type = ORR_KEY_TEXT,
                     .absent = "none",
                     .offset = offsetof(struct step_keys, requirement)},
};

const struct orr_mapping orr_step_mapping = {
    .name = "sequence",
    .doc =
        "One step of a test procedure. Steps follow one another with the run, at exact frames: what takes no time is "
        "done in the frame in which the step before ended. A condition is judged on what the frame before "
        "recorded. What `expect`, and `until` with `otherwise: fail`, judge are expectations of the run.",
    ORR_KEYS(step_table),
    .example = "sequence:\n"
               "  - until: norm(gyro.rate) below 2 deg/s for 1 s\n"
               "    timeout: 50 s\n"
               "  - mark: at rest\n"
               "  - fault: bearing\n"
               "  - wait: 2 s\n"
               "  - clear: all\n"
               "  - {expect: norm(gyro.rate) below 5 deg/s, requirement: R-7}\n",
};

struct compiling {
  struct orr_run_draft *d;
  struct orr_run_step *steps;
  size_t count, room;
  int counters, words, depth, written; /* steps of the file */
  bool wrong;
};

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static int add(struct compiling *c, struct orr_run_step step) {
  if (c->count == c->room)
    c->steps = orr_arena_grow(c->d->reader->arena, c->steps, c->count, sizeof *c->steps, &c->room);
  step.memory = c->words;
  c->words += step.condition ? step.condition->words : 0;
  c->steps[c->count] = step;
  return (int)c->count++;
}

static const char *text_of(struct orr_place place) {
  return place.node->kind == ORR_YAML_SCALAR ? place.node->text : "";
}

/* What the verdict on a step is called, as an expectation of the run. Its number among those of the sequence. */
static int promise(struct compiling *c, const struct step_keys *keys, const struct orr_condition *condition,
                   const char *bound) {
  struct orr_run_draft *d = c->d;
  struct orr_run_probe *probe = orr_arena_alloc(d->reader->arena, 1, sizeof *probe);
  struct orr_run_expect e = {.requirement = keys->requirement,
                             .probe = probe,
                             .channel = -1,
                             .element = -1,
                             .form = ORR_EXPECT_IS,
                             .low = 1,
                             .high = 1,
                             .until_ns = INT64_MAX,
                             .subject = condition->text,
                             .bound = bound,
                             .told = bound,
                             .unit = "",
                             .shown_unit = "",
                             .shown_unit_si = 1};
  *probe = (struct orr_run_probe){.kind = ORR_PROBE_STEP, .channel = -1};
  if (keys->at[NAME].node)
    c->wrong |= !orr_read_text(d->reader, keys->at[NAME], "name", &e.name);
  if (d->promise_count == d->promise_room)
    d->promises =
        orr_arena_grow(d->reader->arena, d->promises, d->promise_count, sizeof *d->promises, &d->promise_room);
  d->promises[d->promise_count] = e;
  return (int)d->promise_count++;
}

/* Of `expect` and `if`, which look once: nothing that needs a past. */
static const struct orr_condition *read_moment(struct compiling *c, struct orr_place place, const char *name) {
  const struct orr_condition *condition = orr_run_read_condition(c->d, place, name);
  if (!condition || condition->words == 0)
    return condition;
  orr_read_error(c->d->reader, place, "sequence",
                 "'%s' looks at one moment, so 'for' and 'rising' have no past there; wait with 'until' before it",
                 name);
  return NULL;
}

static const struct orr_channel *find_command(struct compiling *c, struct orr_place place, const char *name, int *first,
                                              int *count) {
  int element, index = orr_run_find_channel(c->d, place, name, &element);
  if (index < 0)
    return NULL;
  const struct orr_channel *channel = &c->d->run->table.channels[index];
  *first = channel->offset + (element >= 0 ? element : 0);
  *count = element >= 0 ? 1 : channel->count;
  if (channel->direction == ORR_CHANNEL_COMMAND)
    return channel;
  orr_read_error(c->d->reader, place, "not-a-command", "'%.80s' is an output; a sequence sets commands", name);
  return NULL;
}

/* A step sets once, or along a ramp; the link's next command takes its place. Said once for each channel. */
static void judge_linked(struct compiling *c, struct orr_place place, const struct orr_channel *channel) {
  const struct orr_run *run = c->d->run;
  for (size_t i = 0; i < c->count; i++) {
    const struct orr_run_step *s = &c->steps[i];
    bool sets = s->sort == ORR_STEP_SET || s->sort == ORR_STEP_RAMP;
    if (sets && s->first >= channel->offset && s->first < channel->offset + channel->count)
      return;
  }
  for (size_t i = 0; i < run->link_count; i++) {
    const struct orr_run_link *link = &run->links[i];
    struct orr_run_given given = orr_run_link_given(link, link->transport == ORR_TRANSPORT_LINKED);
    for (int k = 0; k < given.count; k++)
      if (&run->table.channels[given.channels[k]] == channel)
        orr_read_warning(c->d->reader, place, "sequenced-and-linked",
                         "'%.80s' is commanded by the link '%.60s' too, every %.9g s: what a step sets lasts until the "
                         "link's next command%s; leave it out of the link's 'commands', or let a fault stick it",
                         channel->name, link->name, 1e-9 * (double)link->period_ns,
                         link->effects && link->effects[k].kind == ORR_EFFECT_NONE
                             ? " (in batch it stays: the linked-in controller does not give it)"
                             : "");
  }
}

static bool read_command(struct compiling *c, struct orr_place place, const struct orr_channel *channel,
                         double *value) {
  const struct orr_range range = {channel->low, channel->high, false};
  if (!orr_read_number(c->d->reader, place, channel->name, channel->unit, &range, value))
    return false;
  if (orr_channel_accepts(channel, *value))
    return true;
  orr_read_error(c->d->reader, place, "not-accepted", "'%.80s' takes %s, not '%.60s'", channel->name,
                 channel->type == ORR_CHANNEL_FLAG ? "0 or 1" : "a whole number", text_of(place));
  return false;
}

static bool read_set(struct compiling *c, struct orr_place place, const char *name) {
  struct orr_reader *reader = c->d->reader;
  if (!orr_expect_mapping(reader, place, "set"))
    return false;
  bool good = true;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    struct orr_place key = orr_place_key(reader->diagnostics, place, i);
    struct orr_place value = orr_place_value(reader->diagnostics, place, i);
    int first, count;
    const struct orr_channel *channel = find_command(c, key, key.node->text, &first, &count);
    good = good && channel;
    if (!channel)
      continue;
    if (channel->hold != ORR_CHANNEL_PULSE)
      judge_linked(c, key, channel);
    double *values = orr_arena_alloc(reader->arena, (size_t)count, sizeof *values);
    bool list = value.node->kind == ORR_YAML_SEQUENCE;
    if (list ? orr_place_count(value) != (size_t)count : count > 1) {
      orr_read_error(reader, value, "wrong-length", "'%.80s' takes %d numbers", channel->name, count);
      return false;
    }
    for (int k = 0; k < count; k++)
      good =
          read_command(c, list ? orr_place_item(reader->diagnostics, value, (size_t)k) : value, channel, &values[k]) &&
          good;
    add(c, (struct orr_run_step){.sort = ORR_STEP_SET,
                                 .name = name,
                                 .text = orr_arena_format(reader->arena, "%s", key.node->text),
                                 .first = first,
                                 .count = count,
                                 .values = values});
  }
  return good;
}

static bool read_ramp(struct compiling *c, struct orr_place place, const char *name) {
  struct ramp_keys keys = {0};
  uint64_t present;
  const char *channel_name;
  const struct orr_thing thing = {.what = "a ramp", .place = place};
  if (!orr_expect_mapping(c->d->reader, place, "ramp") ||
      !orr_read_mapping(c->d->reader, &thing, &ramp_mapping, &keys, &present) ||
      !orr_read_text(c->d->reader, keys.channel, "channel", &channel_name))
    return false;
  int first, count;
  const struct orr_channel *channel = find_command(c, keys.channel, channel_name, &first, &count);
  if (!channel)
    return false;
  if (count > 1 || channel->hold == ORR_CHANNEL_PULSE || channel->type != ORR_CHANNEL_REAL) {
    orr_read_error(c->d->reader, keys.channel, "sequence", "a ramp is of one number that is held, and '%.80s' is not",
                   channel_name);
    return false;
  }
  judge_linked(c, keys.channel, channel);
  double *to = orr_arena_alloc(c->d->reader->arena, 1, sizeof *to);
  if (!read_command(c, keys.to, channel, to))
    return false;
  add(c, (struct orr_run_step){.sort = ORR_STEP_RAMP,
                               .name = name,
                               .text = channel_name,
                               .span_ns = keys.over,
                               .first = first,
                               .count = 1,
                               .values = to});
  return true;
}

static bool read_fault(struct compiling *c, struct orr_place place, const char *name, bool clear) {
  const struct orr_run *run = c->d->run;
  const char *wanted;
  if (!orr_read_text(c->d->reader, place, clear ? "clear" : "fault", &wanted))
    return false;
  struct orr_nearest nearest = {.wanted = wanted};
  const char *all = "";
  int found = clear && strcmp(wanted, "all") == 0 ? -1 : -2;
  for (size_t i = 0; i < run->fault_count; i++) {
    if (strcmp(run->faults[i].name, wanted) == 0)
      found = (int)i;
    orr_nearest_offer(&nearest, run->faults[i].name);
    if (i < 12)
      all = orr_arena_format(c->d->reader->arena, "%s%s%.60s", all, *all ? ", " : "", run->faults[i].name);
  }
  if (found > -2) {
    add(c, (struct orr_run_step){
               .sort = clear ? ORR_STEP_CLEAR : ORR_STEP_FAULT, .name = name, .text = wanted, .fault = found});
    return true;
  }
  if (nearest.best)
    orr_read_error(c->d->reader, place, "unknown-fault", "there is no fault '%.60s', did you mean '%s'?", wanted,
                   nearest.best);
  else
    orr_read_error(c->d->reader, place, "unknown-fault", "there is no fault '%.60s' under 'faults'; there are %s",
                   wanted, *all ? all : "none");
  return false;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void read_steps(struct compiling *c, struct orr_place list, const char *name);

static bool read_until(struct compiling *c, const struct step_keys *keys, uint64_t present, const char *name) {
  struct orr_run_step step = {.sort = ORR_STEP_UNTIL,
                              .name = name,
                              .text = text_of(keys->at[UNTIL]),
                              .span_ns = present >> TIMEOUT & 1 ? keys->timeout : INT64_MAX,
                              .condition = orr_run_read_condition(c->d, keys->at[UNTIL], "until"),
                              .otherwise = (enum orr_step_otherwise)keys->otherwise,
                              .expect = -1};
  if (!step.condition)
    return false;
  if (step.otherwise == ORR_OTHERWISE_FAIL)
    step.expect = promise(c, keys, step.condition, "until");
  add(c, step);
  return true;
}

static bool read_expectation(struct compiling *c, const struct step_keys *keys, const char *name) {
  struct orr_run_step step = {.sort = ORR_STEP_EXPECT,
                              .name = name,
                              .text = text_of(keys->at[EXPECT]),
                              .condition = read_moment(c, keys->at[EXPECT], "expect")};
  if (!step.condition)
    return false;
  step.expect = promise(c, keys, step.condition, "at its step");
  add(c, step);
  return true;
}

static bool read_repeat(struct compiling *c, const struct step_keys *keys, const char *name) {
  int counter = c->counters++;
  add(c, (struct orr_run_step){
             .sort = ORR_STEP_REPEAT, .name = name, .text = "", .counter = counter, .times = keys->repeat});
  int begin = (int)c->count;
  read_steps(c, keys->at[STEPS], "steps");
  add(c, (struct orr_run_step){.sort = ORR_STEP_AGAIN, .name = name, .text = "", .counter = counter, .target = begin});
  return true;
}

static bool read_if(struct compiling *c, const struct step_keys *keys, const char *name) {
  struct orr_run_step step = {.sort = ORR_STEP_UNLESS,
                              .name = name,
                              .text = text_of(keys->at[IF]),
                              .condition = read_moment(c, keys->at[IF], "if")};
  int unless = add(c, step);
  if (keys->at[THEN].node)
    read_steps(c, keys->at[THEN], "then");
  int jump = add(c, (struct orr_run_step){.sort = ORR_STEP_JUMP, .name = name, .text = ""});
  c->steps[unless].target = (int)c->count;
  if (keys->at[ELSE].node)
    read_steps(c, keys->at[ELSE], "else");
  c->steps[jump].target = (int)c->count;
  return step.condition != NULL;
}

/* What goes only with which action. */
static bool fits(struct compiling *c, const struct orr_thing *thing, uint64_t present, int action) {
  static const struct {
    int key, first, second;
  } parts[] = {{TIMEOUT, UNTIL, UNTIL}, {OTHERWISE, UNTIL, UNTIL}, {STEPS, REPEAT, REPEAT},     {THEN, IF, IF},
               {ELSE, IF, IF},          {NAME, UNTIL, EXPECT},     {REQUIREMENT, UNTIL, EXPECT}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (present >> parts[i].key & 1 && action != parts[i].first && action != parts[i].second) {
      const char *key = step_table[parts[i].key].name;
      orr_read_error(c->d->reader, orr_read_member(c->d->reader, thing, key), "sequence", "'%s' does not go with '%s'",
                     key, step_table[action].name);
      return false;
    }
  if (action != REPEAT || present >> STEPS & 1)
    return true;
  orr_read_error(c->d->reader, thing->place, "missing-key", "'repeat' needs 'steps'");
  return false;
}

static bool read_action(struct compiling *c, const struct step_keys *keys, uint64_t present, int action) {
  const char *name = orr_arena_format(c->d->reader->arena, "%d %s", c->written, step_table[action].name);
  const char *text;
  switch (action) {
  case WAIT:
    add(c, (struct orr_run_step){.sort = ORR_STEP_WAIT,
                                 .name = name,
                                 .text = orr_arena_format(c->d->reader->arena, "%.9g s", 1e-9 * (double)keys->wait),
                                 .span_ns = keys->wait});
    return true;
  case UNTIL:
    return read_until(c, keys, present, name);
  case SET:
    return read_set(c, keys->at[SET], name);
  case RAMP:
    return read_ramp(c, keys->at[RAMP], name);
  case FAULT:
  case CLEAR:
    return read_fault(c, keys->at[action], name, action == CLEAR);
  case EXPECT:
    return read_expectation(c, keys, name);
  case MARK:
    if (!orr_read_text(c->d->reader, keys->at[MARK], "mark", &text))
      return false;
    add(c, (struct orr_run_step){.sort = ORR_STEP_MARK, .name = name, .text = text});
    return true;
  case REPEAT:
    return read_repeat(c, keys, name);
  default:
    return read_if(c, keys, name);
  }
}

static void read_one(struct compiling *c, struct orr_place place) {
  struct step_keys keys = {.timeout = INT64_MAX};
  uint64_t present;
  int action = -1;
  const struct orr_thing thing = {.what = "a step", .place = place};
  c->written++;
  if (!orr_read_mapping(c->d->reader, &thing, &orr_step_mapping, &keys, &present)) {
    c->wrong = true;
    return;
  }
  for (int i = 0; i < ACTIONS; i++) {
    if (!(present >> i & 1))
      continue;
    if (action >= 0) {
      orr_read_error(c->d->reader, place, "sequence", "a step does one thing, and this one has '%s' and '%s'",
                     step_table[action].name, step_table[i].name);
      c->wrong = true;
      return;
    }
    action = i;
  }
  if (action < 0)
    orr_read_error(c->d->reader, place, "sequence",
                   "a step is one of wait, until, set, ramp, fault, clear, expect, mark, repeat and if");
  c->wrong |= action < 0 || !fits(c, &thing, present, action) || !read_action(c, &keys, present, action);
}

static void read_steps(struct compiling *c, struct orr_place list, const char *name) {
  if (!orr_expect_sequence(c->d->reader, list, name)) {
    c->wrong = true;
    return;
  }
  if (++c->depth > DEEPEST) {
    orr_read_error(c->d->reader, list, "sequence", "steps are nested at most %d deep", DEEPEST);
    c->wrong = true;
  }
  for (size_t i = 0; i < orr_place_count(list) && c->depth <= DEEPEST; i++) {
    if (c->written == MOST_STEPS) {
      orr_read_error(c->d->reader, list, "sequence", "a sequence has at most %d steps", MOST_STEPS);
      c->written++;
    }
    if (c->written > MOST_STEPS)
      break;
    read_one(c, orr_place_item(c->d->reader->diagnostics, list, i));
  }
  c->depth--;
}

void orr_run_read_sequence(struct orr_run_draft *d) {
  struct orr_place list = orr_config_section(d->config, ORR_SECTION_SEQUENCE);
  struct compiling c = {.d = d};
  if (!list.node || orr_place_count(list) == 0) {
    if (list.node)
      orr_expect_sequence(d->reader, list, "sequence");
    return;
  }
  read_steps(&c, list, "sequence");
  add(&c, (struct orr_run_step){.sort = ORR_STEP_END, .name = "end", .text = ""});
  if (!c.wrong)
    d->run->sequence =
        (struct orr_run_sequence){.count = (int)c.count, .steps = c.steps, .counters = c.counters, .words = c.words};
}
