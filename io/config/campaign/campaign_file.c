#include "io/config/campaign/campaign_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/campaign/campaign_draft.h"
#include "io/config/spacecraft/spacecraft.h"
#include "io/config/text/unit.h"

const char *const orr_sampling_names[] = {"monte_carlo", "latin_hypercube", "sobol", "grid", "list", NULL};
const char *const orr_kept_names[] = {"max", "rms", "final", "settling", NULL};

/* ---- keep -------------------------------------------------------------------------------------------------------- */

struct measures_keys {
  struct orr_place max, rms, final, settling;
};

static const struct orr_key measures_table[] = {
    {.name = "max",
     .doc = "the largest magnitude in the flight",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = &orr_shape_channels,
     .offset = offsetof(struct measures_keys, max)},
    {.name = "rms",
     .doc = "the root of the mean square over all frames",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = &orr_shape_channels,
     .offset = offsetof(struct measures_keys, rms)},
    {.name = "final",
     .doc = "the value after the last frame",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = &orr_shape_channels,
     .offset = offsetof(struct measures_keys, final)},
    {.name = "settling",
     .doc =
         "the time of the last frame in which the magnitude was above this number; nothing for a flight that ends so",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_NAMED("channel", ORR_NUMBER(ORR_UNIT_OF_CHANNEL)),
     .offset = offsetof(struct measures_keys, settling)},
};

static const struct orr_mapping measures_mapping = {
    .name = "campaign.measures",
    .doc = "Numbers of each flight, of each number of the channels that fit.",
    ORR_KEYS(measures_table)};

static const struct orr_range whole_range = {0, 9007199254740992.0, false}, count_range = {0, 1e6, false},
                              flights_range = {1, ORR_CAMPAIGN_FLIGHTS, false}, points_range = {2, 1000, false},
                              share_range = {0, 1, true}, memory_range = {0, 1e9, false};

struct chosen_keys {
  struct orr_place names;
  const char *rate;
  int64_t worst;
  bool failed;
};

static const struct orr_key chosen_table[] = {
    {.name = "names",
     .doc = "the channels; of logs the run file's `record` says it",
     .type = ORR_KEY_PLACE,
     .absent = "all that devices and pointing tell and take",
     .shape = &orr_shape_channels,
     .offset = offsetof(struct chosen_keys, names)},
    {.name = "rate",
     .doc = "how often there is a row, a frequency that divides that of the frames",
     .type = ORR_KEY_TEXT,
     .absent = "in each frame",
     .offset = offsetof(struct chosen_keys, rate)},
    {.name = "worst",
     .doc = "of so many flights, those with the least margins",
     .type = ORR_KEY_WHOLE,
     .range = &count_range,
     .fallback = "0",
     .offset = offsetof(struct chosen_keys, worst)},
    {.name = "failed",
     .doc = "of all flights that have not passed",
     .type = ORR_KEY_FLAG,
     .fallback = "false",
     .offset = offsetof(struct chosen_keys, failed)},
};

static const struct orr_mapping chosen_mapping = {
    .name = "campaign.of",
    .doc = "Of which flights more than a row is kept. They are flown again for it, once all are flown.",
    ORR_KEYS(chosen_table)};

struct keep_keys {
  struct orr_place measures, channels, logs, envelopes;
  int64_t points;
};

static const struct orr_key keep_table[] = {
    {.name = "measures",
     .doc = "numbers of each flight, columns of the table",
     .type = ORR_KEY_PLACE,
     .absent = "none beside the expectations",
     .shape = ORR_MAPPING(measures_mapping),
     .offset = offsetof(struct keep_keys, measures)},
    {.name = "channels",
     .doc = "time histories of some flights, as FOLDER/histories/FLIGHT.csv",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_MAPPING(chosen_mapping),
     .offset = offsetof(struct keep_keys, channels)},
    {.name = "logs",
     .doc = "logs of some flights, as FOLDER/logs/FLIGHT.mcap",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_MAPPING(chosen_mapping),
     .offset = offsetof(struct keep_keys, logs)},
    {.name = "envelopes",
     .doc = "channels whose course over time is kept of every flight, for the envelopes of the report",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = &orr_shape_channels,
     .offset = offsetof(struct keep_keys, envelopes)},
    {.name = "points",
     .doc = "at how many moments, evenly over the run",
     .type = ORR_KEY_WHOLE,
     .range = &points_range,
     .fallback = "100",
     .offset = offsetof(struct keep_keys, points)},
};

static const struct orr_mapping keep_mapping = {
    .name = "campaign.keep", .doc = "What is kept of the flights.", ORR_KEYS(keep_table)};

/* ---- expect ------------------------------------------------------------------------------------------------------ */

struct expect_keys {
  double share, confidence;
  const char *meets;
};

static const struct orr_key expect_table[] = {
    {.name = "share",
     .doc = "of the flights, at least",
     .type = ORR_KEY_NUMBER,
     .required = true,
     .range = &share_range,
     .offset = offsetof(struct expect_keys, share)},
    {.name = "meets",
     .doc = "the expectation of the run file, by its name or its subject, that these flights meet; where several have "
            "it, all of them",
     .type = ORR_KEY_TEXT,
     .absent = "they pass",
     .offset = offsetof(struct expect_keys, meets)},
    {.name = "confidence",
     .doc = "how sure: the lower bound of Clopper and Pearson at this confidence is held against the share; 0: the "
            "share among those flown",
     .type = ORR_KEY_NUMBER,
     .range = &(const struct orr_range){0, 0.999999999, false},
     .fallback = "0",
     .offset = offsetof(struct expect_keys, confidence)},
};

static const struct orr_mapping expect_mapping = {
    .name = "campaign.expect",
    .doc = "What must hold over all flights. A flight that crashed, hung or could not be flown meets nothing.",
    ORR_KEYS(expect_table)};

/* ---- limits, software -------------------------------------------------------------------------------------------- */

struct limits_keys {
  int64_t wall, memory;
};

static const struct orr_key limits_table[] = {
    {.name = "wall",
     .doc = "time on the clock that a flight may take, its reading included",
     .type = ORR_KEY_TIME,
     .range = &orr_range_positive,
     .absent = "any",
     .offset = offsetof(struct limits_keys, wall)},
    {.name = "memory",
     .doc = "MB that a flight may take beside the program itself",
     .type = ORR_KEY_WHOLE,
     .range = &memory_range,
     .fallback = "0",
     .offset = offsetof(struct limits_keys, memory)},
};

static const struct orr_mapping limits_mapping = {
    .name = "campaign.limits",
    .doc = "What a flight may take. One that takes more ends, and is a row with that reason. Memory of 0 is any.",
    ORR_KEYS(limits_table)};

struct software_keys {
  const char *command;
  struct orr_place environment;
};

static const struct orr_key software_table[] = {
    {.name = "command",
     .doc = "for the shell, in the folder of the command; it finds its link by the variable ORRERY_LINK, and that of "
            "link NAME by ORRERY_LINK_NAME",
     .type = ORR_KEY_TEXT,
     .required = true,
     .offset = offsetof(struct software_keys, command)},
    {.name = "environment",
     .doc = "variables with the values of paths that vary, in SI",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_NAMED("variable", ORR_TEXT("a path of `vary`")),
     .offset = offsetof(struct software_keys, environment)},
};

static const struct orr_mapping software_mapping = {
    .name = "campaign.software",
    .doc =
        "Flight software outside: it is started for each flight, which is flown in lockstep with it. Each worker has "
        "segments and ports of its own, whatever the run file names.",
    ORR_KEYS(software_table)};

/* ---- campaign ---------------------------------------------------------------------------------------------------- */

struct campaign_keys {
  const char *run, *table;
  int64_t flights, seed;
  int sampling;
  struct orr_place run_place, vary, correlated, keep, expect, limits, software;
};

static const struct orr_key campaign_table[] = {
    {.name = "run",
     .doc = "the run file, beside the campaign's",
     .type = ORR_KEY_TEXT,
     .required = true,
     .offset = offsetof(struct campaign_keys, run)},
    {.name = "flights",
     .doc = "how many",
     .type = ORR_KEY_WHOLE,
     .range = &flights_range,
     .absent = "of grid and list all there are; others need it",
     .offset = offsetof(struct campaign_keys, flights)},
    {.name = "seed",
     .doc = "of all that is drawn",
     .type = ORR_KEY_WHOLE,
     .range = &whole_range,
     .fallback = "0",
     .offset = offsetof(struct campaign_keys, seed)},
    {.name = "sampling",
     .doc = "how the space of what varies is filled: independent draws; one in each of as many layers as flights; the "
            "sequence of Sobol with the numbers of Joe and Kuo, shifted by the seed; all of `one_of` with each other, "
            "the last one fastest; the rows of `table`",
     .type = ORR_KEY_CHOICE,
     .choices = orr_sampling_names,
     .fallback = "monte_carlo",
     .offset = offsetof(struct campaign_keys, sampling)},
    {.name = "vary",
     .doc = "what varies: paths of the run file, as `--set` takes them, items of lists also as [0]",
     .type = ORR_KEY_PLACE,
     .absent = "nothing beside `correlated` and `table`",
     .shape = ORR_NAMED("path", ORR_EITHER(ORR_TEXT("each"), ORR_MAPPING(orr_variation_mapping))),
     .offset = offsetof(struct campaign_keys, vary)},
    {.name = "correlated",
     .doc = "normals with a covariance",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_LIST(ORR_MAPPING(orr_correlated_mapping)),
     .offset = offsetof(struct campaign_keys, correlated)},
    {.name = "table",
     .doc = "for the sampling `list`: a CSV file beside the campaign's; its head has paths, each row is a flight",
     .type = ORR_KEY_TEXT,
     .absent = "none",
     .offset = offsetof(struct campaign_keys, table)},
    {.name = "keep",
     .doc = "what is kept of the flights",
     .type = ORR_KEY_PLACE,
     .absent = "parameters, seed, hash, verdict and margins",
     .shape = ORR_MAPPING(keep_mapping),
     .offset = offsetof(struct campaign_keys, keep)},
    {.name = "expect",
     .doc = "what must hold over all flights",
     .type = ORR_KEY_PLACE,
     .absent = "every flight passes",
     .shape = ORR_LIST(ORR_MAPPING(expect_mapping)),
     .offset = offsetof(struct campaign_keys, expect)},
    {.name = "limits",
     .doc = "what a flight may take",
     .type = ORR_KEY_PLACE,
     .absent = "any time and memory",
     .shape = ORR_MAPPING(limits_mapping),
     .offset = offsetof(struct campaign_keys, limits)},
    {.name = "software",
     .doc = "flight software outside",
     .type = ORR_KEY_PLACE,
     .absent = "batch flights, with the controllers inside",
     .shape = ORR_MAPPING(software_mapping),
     .offset = offsetof(struct campaign_keys, software)},
};

static const struct orr_mapping campaign_mapping = {
    .name = "campaign",
    .doc = "A run file flown many times. Flight i depends on this file, on the files it names and on i alone.",
    ORR_KEYS(campaign_table),
    .example = "campaign:\n"
               "  run: wings-slew.yaml\n"
               "  flights: 1000\n"
               "  seed: 3\n"
               "  sampling: latin_hypercube\n"
               "  vary:\n"
               "    spacecraft.bodies.bus.mass: {normal: [1200 kg, 15 kg], within: [1150 kg, 1250 kg]}\n"
               "    sensors.gyro.bias[0]: {uniform: [-0.1 deg/s, 0.1 deg/s]}\n"
               "    simulation.seed: each\n"
               "  keep: {measures: {final: [bus.pointing_error], max: [\"*.rate\"]}, channels: {worst: 10}}\n"
               "  expect: [{share: 0.99, meets: bus.pointing_error, confidence: 0.95}]\n"};

struct file_keys {
  struct orr_place version, campaign;
};

static const struct orr_key file_table[] = {
    {.name = "orrery",
     .doc = "the version of the language, 1",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER(""),
     .offset = offsetof(struct file_keys, version)},
    {.name = "campaign",
     .doc = "the campaign",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_MAPPING(campaign_mapping),
     .offset = offsetof(struct file_keys, campaign)},
};

const struct orr_mapping orr_campaign_file_mapping = {
    .name = "campaign file",
    .doc = "What `orrery campaign` reads: a run file, what varies from flight to flight, and what must hold over all.",
    ORR_KEYS(file_table)};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static struct orr_place member_key(struct orr_campaign_draft *d, struct orr_place place, const char *name) {
  struct orr_thing thing = {.what = name, .place = place};
  return orr_read_member(d->reader, &thing, name);
}

/* A list of patterns as one text with commas between; NULL for none. */
static const char *read_patterns(struct orr_campaign_draft *d, struct orr_place place, const char *name) {
  const char *all = NULL;
  if (!place.node || !orr_expect_sequence(d->reader, place, name))
    return NULL;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    const char *one;
    struct orr_place item = orr_place_item(d->reader->diagnostics, place, i);
    if (orr_read_text(d->reader, item, name, &one) && orr_campaign_check_pattern(d, item, one))
      all = all ? orr_arena_format(d->reader->arena, "%s,%s", all, one) : one;
  }
  return all;
}

static void add_measure(struct orr_campaign_draft *d, struct orr_campaign_measure measure) {
  size_t room;
  if ((d->c->measure_count & (d->c->measure_count - 1)) == 0 && (d->c->measure_count >= 8 || !d->c->measure_count)) {
    struct orr_campaign_measure *grown =
        orr_arena_grow(d->reader->arena, d->measures, (size_t)d->c->measure_count, sizeof *grown, &room);
    d->measures = grown;
    d->c->measures = grown;
  }
  d->measures[d->c->measure_count++] = measure;
}

static void read_settling(struct orr_campaign_draft *d, struct orr_place place) {
  if (!place.node || !orr_expect_mapping(d->reader, place, "settling"))
    return;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    struct orr_place key = orr_place_key(d->reader->diagnostics, place, i),
                     value = orr_place_value(d->reader->diagnostics, place, i);
    struct orr_campaign_measure m = {.kind = ORR_KEPT_SETTLING, .pattern = key.node->text};
    m.source = orr_place_source(d->reader->diagnostics, key);
    const struct orr_channel *channel = orr_campaign_check_pattern(d, key, m.pattern);
    if (channel && orr_read_number(d->reader, value, "settling", channel->unit, &orr_range_positive, &m.tolerance_si)) {
      m.tolerance = value.node->text;
      add_measure(d, m);
    }
  }
}

static void read_measures(struct orr_campaign_draft *d, struct orr_place place) {
  struct measures_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "measures", .place = place};
  if (!place.node)
    return;
  orr_read_mapping(d->reader, &thing, &measures_mapping, &keys, &present);
  const struct orr_place lists[] = {keys.max, keys.rms, keys.final};
  for (int k = 0; k < 3; k++) {
    if (!lists[k].node || !orr_expect_sequence(d->reader, lists[k], orr_kept_names[k]))
      continue;
    for (size_t i = 0; i < orr_place_count(lists[k]); i++) {
      struct orr_place item = orr_place_item(d->reader->diagnostics, lists[k], i);
      struct orr_campaign_measure m = {.kind = (enum orr_campaign_measure_kind)k};
      m.source = orr_place_source(d->reader->diagnostics, item);
      if (orr_read_text(d->reader, item, orr_kept_names[k], &m.pattern) &&
          orr_campaign_check_pattern(d, item, m.pattern))
        add_measure(d, m);
    }
  }
  read_settling(d, keys.settling);
}

static void read_chosen(struct orr_campaign_draft *d, struct orr_place place, const char *what,
                        struct orr_campaign_chosen *out) {
  struct chosen_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = what, .place = place};
  if (!place.node)
    return;
  orr_read_mapping(d->reader, &thing, &chosen_mapping, &keys, &present);
  *out = (struct orr_campaign_chosen){.patterns = read_patterns(d, keys.names, "names"),
                                      .rate = keys.rate,
                                      .worst = keys.worst,
                                      .failed = keys.failed,
                                      .wanted = keys.worst > 0 || keys.failed};
  struct orr_quantity q;
  if (keys.rate && (orr_quantity_parse(keys.rate, "Hz", &q) != ORR_QUANTITY_OK || !(q.value > 0)))
    orr_read_error(d->reader, member_key(d, place, "rate"), "rate", "'rate' is a frequency such as 10 Hz, not '%.40s'",
                   keys.rate);
  if (!out->wanted)
    orr_read_error(d->reader, place, "of-none", "'%s' says of which flights: 'worst: 10' or 'failed: true'", what);
}

static void read_keep(struct orr_campaign_draft *d, struct orr_place place) {
  struct keep_keys keys = {.points = 100};
  uint64_t present;
  const struct orr_thing thing = {.what = "keep", .place = place};
  if (place.node)
    orr_read_mapping(d->reader, &thing, &keep_mapping, &keys, &present);
  read_measures(d, keys.measures);
  read_chosen(d, keys.channels, "channels", &d->c->channels);
  read_chosen(d, keys.logs, "logs", &d->c->logs);
  d->c->envelopes = read_patterns(d, keys.envelopes, "envelopes");
  d->c->envelope_points = keys.points;
}

/* How many expectations of the run have it as their name or subject. */
static size_t count_expected(const struct orr_run *run, const char *what) {
  size_t count = 0;
  for (size_t i = 0; i < run->expect_count; i++) {
    const struct orr_run_expect *e = &run->expects[i];
    count += strcmp(e->subject, what) == 0 || (e->name && strcmp(e->name, what) == 0);
  }
  return count;
}

/* "; it expects bus.rate, settled", each once; or that it expects nothing. */
static const char *list_expected(struct orr_campaign_draft *d) {
  const struct orr_run *run = d->c->nominal;
  const char *list = run->expect_count ? "; it expects" : "; it has no 'expect'";
  for (size_t i = 0; i < run->expect_count; i++) {
    const struct orr_run_expect *e = &run->expects[i];
    const char *name = e->name ? e->name : e->subject;
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again |= strcmp(run->expects[k].name ? run->expects[k].name : run->expects[k].subject, name) == 0;
    if (strlen(list) > 200)
      return orr_arena_format(d->reader->arena, "%s, …", list);
    if (!again)
      list = orr_arena_format(d->reader->arena, "%s%s '%.60s'", list, i ? "," : "", name);
  }
  return list;
}

/* The name of the expectation that a requirement stands at. */
static const char *name_of_requirement(const struct orr_run *run, const char *what) {
  for (size_t i = 0; i < run->expect_count; i++)
    if (run->expects[i].requirement && strcmp(run->expects[i].requirement, what) == 0)
      return run->expects[i].name ? run->expects[i].name : run->expects[i].subject;
  return NULL;
}

static void judge_meets(struct orr_campaign_draft *d, struct orr_place place, const char *meets) {
  struct orr_nearest nearest = {.wanted = meets};
  const struct orr_run *run = d->c->nominal;
  size_t count = count_expected(run, meets);
  if (count > 1)
    orr_read_warning(d->reader, place, "several",
                     "the run file has %zu expectations of '%.60s', and a flight must meet "
                     "them all; to mean one of them, give it a 'name' there and write that here",
                     count, meets);
  if (count > 0)
    return;
  for (size_t i = 0; i < run->expect_count; i++) {
    orr_nearest_offer(&nearest, run->expects[i].subject);
    if (run->expects[i].name)
      orr_nearest_offer(&nearest, run->expects[i].name);
  }
  if (name_of_requirement(run, meets))
    orr_read_error(
        d->reader, place, "unknown-expectation",
        "the run file expects nothing of '%.60s': that is a requirement, and the expectation it stands at is "
        "named '%.60s'",
        meets, name_of_requirement(run, meets));
  else if (nearest.best)
    orr_read_error(d->reader, place, "unknown-expectation",
                   "the run file expects nothing of '%.60s', did you mean '%.60s'?", meets, nearest.best);
  else
    orr_read_error(d->reader, place, "unknown-expectation", "the run file expects nothing of '%.60s'%s", meets,
                   list_expected(d));
}

static void read_expect(struct orr_campaign_draft *d, struct orr_place place) {
  if (!place.node || !orr_expect_sequence(d->reader, place, "expect"))
    return;
  size_t n = orr_place_count(place);
  struct orr_campaign_expect *list = orr_arena_alloc(d->reader->arena, n, sizeof *list);
  d->c->expects = list;
  d->c->expect_count = (int)n;
  for (size_t i = 0; i < n; i++) {
    struct expect_keys keys = {0};
    uint64_t present;
    struct orr_place item = orr_place_item(d->reader->diagnostics, place, i);
    const struct orr_thing thing = {.what = "an expectation", .place = item};
    if (!orr_read_mapping(d->reader, &thing, &expect_mapping, &keys, &present))
      continue;
    list[i] = (struct orr_campaign_expect){keys.share, keys.meets, keys.confidence,
                                           orr_place_source(d->reader->diagnostics, item)};
    if (keys.meets)
      judge_meets(d, orr_read_member(d->reader, &thing, "meets"), keys.meets);
    if (keys.confidence > 0 && keys.share >= 1)
      orr_read_error(d->reader, item, "share", "no number of flights shows a share of 1 with confidence: ask for less");
  }
}

static void read_variables(struct orr_campaign_draft *d, struct orr_place place) {
  if (!place.node || !orr_expect_mapping(d->reader, place, "environment"))
    return;
  size_t n = orr_place_count(place);
  struct orr_campaign_variable *list = orr_arena_alloc(d->reader->arena, n, sizeof *list);
  d->c->variables = list;
  d->c->variable_count = (int)n;
  for (size_t i = 0; i < n; i++) {
    struct orr_place key = orr_place_key(d->reader->diagnostics, place, i),
                     value = orr_place_value(d->reader->diagnostics, place, i);
    const char *path = "";
    struct orr_nearest nearest = {0};
    if (!orr_read_name(d->reader, key, "variable") || !orr_read_text(d->reader, value, "environment", &path))
      continue;
    list[i] = (struct orr_campaign_variable){key.node->text, -1};
    nearest.wanted = path;
    for (int k = 0; k < d->c->vary_count; k++) {
      if (strcmp(d->c->varies[k].path, path) == 0)
        list[i].vary = k;
      orr_nearest_offer(&nearest, d->c->varies[k].path);
    }
    if (list[i].vary < 0)
      orr_read_error(d->reader, value, "unknown-path", "'%.80s' does not vary%s%s%s", path,
                     nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "",
                     nearest.best ? "'?" : "");
  }
}

static void read_software(struct orr_campaign_draft *d, struct orr_place place) {
  struct software_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "software", .place = place};
  if (!place.node || !orr_read_mapping(d->reader, &thing, &software_mapping, &keys, &present))
    return;
  d->c->software = keys.command;
  read_variables(d, keys.environment);
  bool any = false;
  for (size_t i = 0; i < d->c->nominal->link_count; i++)
    any |= d->c->nominal->links[i].transport != ORR_TRANSPORT_LINKED;
  if (!any)
    orr_read_error(d->reader, place, "no-link", "the run file has no link to flight software outside");
}

static void read_limits(struct orr_campaign_draft *d, struct orr_place place) {
  struct limits_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "limits", .place = place};
  if (place.node)
    orr_read_mapping(d->reader, &thing, &limits_mapping, &keys, &present);
  d->c->wall_ns = keys.wall;
  d->c->memory_mb = keys.memory;
}

/* The run file as it is, without which nothing else can be judged. */
static bool read_run(struct orr_campaign_draft *d, const char *path, struct orr_place place) {
  const char *slash = path[0] != '/' ? strrchr(d->c->path, '/') : NULL;
  d->c->run_path =
      slash ? orr_arena_format(d->reader->arena, "%.*s/%s", (int)(slash - d->c->path), d->c->path, path) : path;
  const struct orr_config_options options = {.files = d->files->memory, .file_count = d->files->memory_count};
  d->c->nominal = orr_run_load(d->c->run_path, &options, d->reader->diagnostics);
  if (d->c->nominal && !d->c->nominal->duration_ns) {
    orr_read_error(d->reader, place, "no-duration", "a campaign needs a run with a duration: 'simulation.duration'");
    return false;
  }
  return d->c->nominal;
}

static void read_campaign(struct orr_campaign_draft *d, const struct orr_thing *thing) {
  struct campaign_keys keys = {0};
  uint64_t present;
  bool good = orr_read_mapping(d->reader, thing, &campaign_mapping, &keys, &present);
  d->c->seed = (uint64_t)keys.seed;
  d->c->sampling = (enum orr_campaign_sampling)keys.sampling;
  d->c->flights = keys.flights;
  d->thing = thing;
  if (!keys.run || !read_run(d, keys.run, orr_read_member(d->reader, thing, "run")))
    return;
  orr_campaign_read_vary(d, keys.vary, keys.correlated, keys.table);
  read_keep(d, keys.keep);
  read_expect(d, keys.expect);
  read_limits(d, keys.limits);
  read_software(d, keys.software);
  if (good && orr_diagnostics_errors(d->reader->diagnostics) == 0)
    orr_campaign_judge(d);
}

const struct orr_campaign *orr_campaign_load(const char *path, const struct orr_config_options *options,
                                             struct orr_diagnostics *diagnostics) {
  size_t errors = orr_diagnostics_errors(diagnostics);
  struct orr_reader reader = {diagnostics, orr_diagnostics_arena(diagnostics)};
  struct orr_files files = {.reader = &reader};
  if (options) {
    files.memory = options->files;
    files.memory_count = options->file_count;
  }
  struct orr_campaign_draft d = {.reader = &reader, .files = &files};
  d.c = orr_arena_alloc(reader.arena, 1, sizeof *d.c);
  const struct orr_file *file = orr_files_open(&files, path, NULL, 0);
  if (!file->root)
    return NULL;
  d.c->path = file->path;
  struct orr_place root = {.node = file->root};
  struct file_keys keys = {0};
  uint64_t present;
  const struct orr_thing whole = {.what = "a campaign file", .place = root};
  if (file->root->kind != ORR_YAML_MAPPING) {
    orr_read_error(&reader, root, "wrong-type", "a campaign file is a mapping that begins with 'orrery: 1'");
    return NULL;
  }
  orr_read_mapping(&reader, &whole, &orr_campaign_file_mapping, &keys, &present);
  orr_spacecraft_check_version(&reader, keys.version);
  if (keys.campaign.node) {
    const struct orr_thing thing = {.what = "a campaign",
                                    .place = keys.campaign,
                                    .key = orr_place_key(diagnostics, root, orr_yaml_find(file->root, "campaign"))};
    read_campaign(&d, &thing);
  }
  return orr_diagnostics_errors(diagnostics) > errors ? NULL : d.c;
}
