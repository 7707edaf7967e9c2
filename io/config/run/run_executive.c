/* The section `realtime` of a run file. What the machine can give is found out at the start of a run, not here. */
#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"

struct realtime_keys {
  int64_t core, priority, spin, phase; /* negative for a word */
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

static const struct orr_key overrun_table[] = {
    {.name = "policy",
     .doc = "catch_up runs late frames at once, as many in a row as `limit`, and then slips; slip moves the grid; stop "
            "ends the run",
     .type = ORR_KEY_CHOICE,
     .choices = policies,
     .fallback = "catch_up",
     .offset = offsetof(struct overrun_keys, policy)},
    {.name = "limit",
     .doc = "frames in a row that catch_up runs at once",
     .type = ORR_KEY_WHOLE,
     .range = &limit_range,
     .fallback = "3",
     .offset = offsetof(struct overrun_keys, limit)},
};

static const struct orr_mapping overrun_mapping = {
    .name = "realtime.overrun", .doc = "What happens when a frame ends after its period.", ORR_KEYS(overrun_table)};

static const struct orr_key realtime_table[] = {
    {.name = "core",
     .doc = "the core that the executive is bound to: its number, auto (the fittest), or any (not bound)",
     .type = ORR_KEY_WHOLE,
     .range = &core_range,
     .choices = core_words,
     .fallback = "auto",
     .offset = offsetof(struct realtime_keys, core)},
    {.name = "spin",
     .doc = "how long before a tick it stops sleeping and looks at the clock; at most a period",
     .type = ORR_KEY_TIME,
     .range = &orr_range_not_negative,
     .choices = auto_word,
     .fallback = "auto",
     .offset = offsetof(struct realtime_keys, spin)},
    {.name = "phase",
     .doc = "where in a period of the clock the ticks stand; less than a period",
     .type = ORR_KEY_TIME,
     .range = &orr_range_not_negative,
     .choices = auto_word,
     .fallback = "auto",
     .offset = offsetof(struct realtime_keys, phase)},
    {.name = "priority",
     .doc = "of SCHED_FIFO; 0: the common scheduler",
     .type = ORR_KEY_WHOLE,
     .range = &priority_range,
     .fallback = "80",
     .offset = offsetof(struct realtime_keys, priority)},
    {.name = "overrun",
     .doc = "what happens when a frame is late",
     .type = ORR_KEY_PLACE,
     .absent = "as its keys say",
     .shape = ORR_MAPPING(overrun_mapping),
     .offset = offsetof(struct realtime_keys, overrun)},
    {.name = "strict",
     .doc = "what the machine cannot give (priority, locked memory, core) ends the start in place of a warning",
     .type = ORR_KEY_FLAG,
     .fallback = "false",
     .offset = offsetof(struct realtime_keys, strict)},
};

const struct orr_mapping orr_realtime_mapping = {
    .name = "realtime",
    .doc = "How the executive keeps time in a run in real time, which has 10 to 20000 frames a second. It means "
           "nothing in batch and lockstep.",
    ORR_KEYS(realtime_table),
    .example = "realtime: {core: auto, priority: 80, spin: auto, overrun: {policy: catch_up, limit: 3}}\n",
};

static void read_overrun(struct orr_run_draft *d, struct orr_place place, struct orr_run_realtime *out) {
  struct overrun_keys keys = {0};
  const struct orr_thing thing = {.what = "overrun", .place = place};
  uint64_t present = 0;
  orr_read_mapping(d->reader, &thing, &overrun_mapping, &keys, &present);
  out->policy = (enum orr_overrun_policy)keys.policy;
  out->limit = (uint32_t)keys.limit;
  if ((present & 2) && out->policy != ORR_OVERRUN_CATCH_UP)
    orr_read_error(d->reader, place, "overrun",
                   "'limit' is how many frames in a row catch_up runs at once; %s has none", policies[out->policy]);
}

/* A time within the period, or auto. */
static int64_t within_period(struct orr_run_draft *d, const struct orr_thing *thing, const char *key, int64_t value_ns,
                             int64_t most_ns) {
  if (value_ns < 0 || most_ns <= 0)
    return ORR_AUTO_NS;
  if (value_ns > most_ns)
    orr_read_error(d->reader, orr_read_member(d->reader, thing, key), "out-of-range",
                   "'%s' must be at most %lld ns, with a step of %lld ns", key, (long long)most_ns,
                   (long long)d->run->plant.step_ns);
  return value_ns;
}

void orr_run_read_realtime(struct orr_run_draft *d) {
  struct orr_run_realtime *out = &d->run->realtime;
  const struct orr_thing thing = {.what = "realtime",
                                  .place = orr_config_section(d->config, ORR_SECTION_REALTIME),
                                  .key = orr_config_section_key(d->config, ORR_SECTION_REALTIME)};
  static const int cores[] = {ORR_CORE_AUTO, ORR_CORE_ANY}; /* as core_words */
  struct realtime_keys keys = {0};
  int64_t step_ns = d->run->plant.step_ns;
  uint64_t present = 0;
  orr_read_mapping(d->reader, &thing, &orr_realtime_mapping, &keys, &present);
  out->core = keys.core < 0 ? cores[-1 - keys.core] : (int)keys.core;
  out->priority = (int)keys.priority;
  out->strict = keys.strict;
  out->spin_ns = within_period(d, &thing, "spin", keys.spin, step_ns);
  out->phase_ns = within_period(d, &thing, "phase", keys.phase, step_ns - 1);
  read_overrun(d, keys.overrun, out);
  if (thing.place.node && step_ns > 0 && (step_ns < ORR_PERIOD_MIN_NS || step_ns > ORR_PERIOD_MAX_NS))
    orr_read_error(d->reader, thing.key, "realtime-step",
                   "a run in real time has 10 to 20000 frames a second, and the step is %lld ns", (long long)step_ns);
}
