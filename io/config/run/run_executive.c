/* The section `realtime` of a run file. What the machine can give is found out at the start of a run, not here. */
#include <string.h>

#include "io/config/run/run_draft.h"

enum { DEFAULT_PRIORITY = 80, DEFAULT_LIMIT = 3, WORD_KEYS = 3 };

struct realtime_keys {
  int64_t core, priority, spin, phase;
  int word; /* of a value that is one: the target of every choice below */
  struct orr_place overrun;
  bool strict;
};

struct overrun_keys {
  int policy;
  int64_t limit;
};

static const struct orr_range core_range = {0, CPU_SETSIZE - 1, false};
static const struct orr_range priority_range = {0, 99, false};
static const struct orr_range limit_range = {1, 1000000, false};
static const char *const core_words[] = {"auto", "any", NULL};
static const char *const auto_word[] = {"auto", NULL};
static const char *const policies[] = {
    [ORR_OVERRUN_CATCH_UP] = "catch_up", [ORR_OVERRUN_SLIP] = "slip", [ORR_OVERRUN_STOP] = "stop", [3] = NULL};

enum { CORE, SPIN, PHASE, PRIORITY, OVERRUN, STRICT, REALTIME_KEYS };

static const struct orr_key realtime_table[REALTIME_KEYS] = {
    [CORE] = {.name = "core",
              .type = ORR_KEY_WHOLE,
              .range = &core_range,
              .choices = core_words,
              .offset = offsetof(struct realtime_keys, core)},
    [SPIN] = {.name = "spin",
              .type = ORR_KEY_TIME,
              .range = &orr_range_not_negative,
              .choices = auto_word,
              .offset = offsetof(struct realtime_keys, spin)},
    [PHASE] = {.name = "phase",
               .type = ORR_KEY_TIME,
               .range = &orr_range_not_negative,
               .choices = auto_word,
               .offset = offsetof(struct realtime_keys, phase)},
    [PRIORITY] = {.name = "priority",
                  .type = ORR_KEY_WHOLE,
                  .range = &priority_range,
                  .offset = offsetof(struct realtime_keys, priority)},
    [OVERRUN] = {.name = "overrun", .type = ORR_KEY_PLACE, .offset = offsetof(struct realtime_keys, overrun)},
    [STRICT] = {.name = "strict", .type = ORR_KEY_FLAG, .offset = offsetof(struct realtime_keys, strict)},
};

static const struct orr_key overrun_table[] = {
    {.name = "policy", .type = ORR_KEY_CHOICE, .choices = policies, .offset = offsetof(struct overrun_keys, policy)},
    {.name = "limit", .type = ORR_KEY_WHOLE, .range = &limit_range, .offset = offsetof(struct overrun_keys, limit)},
};

/* Whether a key holds a word in place of its number: `auto`, or something that does not begin like one. */
static bool is_word(struct orr_place section, const char *name) {
  if (section.node->kind != ORR_YAML_MAPPING)
    return false;
  size_t at = orr_yaml_find(section.node, name);
  if (at >= orr_place_count(section) || section.node->entries[at].value->kind != ORR_YAML_SCALAR)
    return false;
  char c = section.node->entries[at].value->text[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The table with a choice where the file has a word. */
static void choose_types(struct orr_place section, struct orr_key table[REALTIME_KEYS]) {
  memcpy(table, realtime_table, sizeof realtime_table);
  for (size_t i = 0; i < WORD_KEYS; i++)
    if (is_word(section, table[i].name)) {
      table[i].type = ORR_KEY_CHOICE;
      table[i].offset = offsetof(struct realtime_keys, word);
    }
}

static bool is_any(struct orr_place section, bool word) {
  return word && strcmp(section.node->entries[orr_yaml_find(section.node, "core")].value->text, "any") == 0;
}

static void read_overrun(struct orr_run_draft *d, struct orr_place place, struct orr_run_realtime *out) {
  struct overrun_keys keys = {.policy = ORR_OVERRUN_CATCH_UP, .limit = DEFAULT_LIMIT};
  const struct orr_thing thing = {.what = "overrun", .place = place};
  uint64_t present;
  if (!place.node)
    return;
  orr_read_mapping(d->reader, &thing, overrun_table, 2, &keys, &present);
  out->policy = (enum orr_overrun_policy)keys.policy;
  out->limit = (uint32_t)keys.limit;
  if ((present & 2) && out->policy != ORR_OVERRUN_CATCH_UP)
    orr_read_error(d->reader, place, "overrun",
                   "'limit' is how many frames in a row catch_up runs at once; %s has none", policies[out->policy]);
}

/* A time within the period, or auto. */
static int64_t within_period(struct orr_run_draft *d, const struct orr_thing *thing, const struct orr_key *key,
                             int64_t value_ns, int64_t most_ns) {
  if (key->type == ORR_KEY_CHOICE || most_ns <= 0)
    return ORR_AUTO_NS;
  if (value_ns > most_ns)
    orr_read_error(d->reader, orr_read_member(d->reader, thing, key->name), "out-of-range",
                   "'%s' must be at most %lld ns, with a step of %lld ns", key->name, (long long)most_ns,
                   (long long)d->run->plant.step_ns);
  return value_ns;
}

void orr_run_read_realtime(struct orr_run_draft *d) {
  struct orr_run_realtime *out = &d->run->realtime;
  const struct orr_thing thing = {.what = "realtime",
                                  .place = orr_config_section(d->config, ORR_SECTION_REALTIME),
                                  .key = orr_config_section_key(d->config, ORR_SECTION_REALTIME)};
  struct realtime_keys keys = {
      .core = ORR_CORE_AUTO, .priority = DEFAULT_PRIORITY, .spin = ORR_AUTO_NS, .phase = ORR_AUTO_NS};
  struct orr_key table[REALTIME_KEYS];
  int64_t step_ns = d->run->plant.step_ns;
  uint64_t present = 0;
  *out = (struct orr_run_realtime){.core = ORR_CORE_AUTO,
                                   .priority = DEFAULT_PRIORITY,
                                   .spin_ns = ORR_AUTO_NS,
                                   .phase_ns = ORR_AUTO_NS,
                                   .policy = ORR_OVERRUN_CATCH_UP,
                                   .limit = DEFAULT_LIMIT};
  if (!thing.place.node)
    return;
  choose_types(thing.place, table);
  orr_read_mapping(d->reader, &thing, table, REALTIME_KEYS, &keys, &present);
  bool word = table[CORE].type == ORR_KEY_CHOICE;
  out->core = is_any(thing.place, word) ? ORR_CORE_ANY : word ? ORR_CORE_AUTO : (int)keys.core;
  out->priority = (int)keys.priority;
  out->strict = keys.strict;
  out->spin_ns = within_period(d, &thing, &table[SPIN], keys.spin, step_ns);
  out->phase_ns = within_period(d, &thing, &table[PHASE], keys.phase, step_ns - 1);
  read_overrun(d, keys.overrun, out);
  if (step_ns > 0 && (step_ns < ORR_PERIOD_MIN_NS || step_ns > ORR_PERIOD_MAX_NS))
    orr_read_error(d->reader, thing.key, "realtime-step",
                   "a run in real time has 10 to 20000 frames a second, and the step is %lld ns", (long long)step_ns);
}
