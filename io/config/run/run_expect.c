/* The section `expect` of a run file: what a run must show to be a good one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/config/text/unit.h"

struct expect_keys {
  struct orr_place channel, measure, below, above, between, is, of_peak;
  int64_t after, until, within;
  struct orr_place name, always, eventually, to, tolerance, level;
  const char *requirement;
  int of;
};

enum {
  CHANNEL,
  MEASURE,
  BELOW,
  ABOVE,
  BETWEEN,
  IS,
  OF_PEAK,
  AFTER,
  UNTIL,
  NAME,
  REQUIREMENT,
  OF,
  TO,
  TOLERANCE,
  LEVEL,
  ALWAYS,
  EVENTUALLY,
  WITHIN,
  EXPECT_KEYS
};

static const char *const statistics[] = {"rms", "integral", "overshoot", "settling_time", "crossings", NULL};

#define PLACE(field) .type = ORR_KEY_PLACE, .offset = offsetof(struct expect_keys, field)

static const struct orr_key expect_table[EXPECT_KEYS] = {
    [CHANNEL] = {.name = "channel",
                 .doc = "the channel, or one number of it (gyro.rate.x), that is judged",
                 .absent = "a `measure` is",
                 .shape = ORR_TEXT("a channel"),
                 PLACE(channel)},
    [MEASURE] = {.name = "measure",
                 .doc = "a measure of the whole run: overruns.own, overruns.machine, overruns.all (frames), "
                        "links.late, links.missed, links.refused, links.timeouts, or p50, p90, p99, p99.9 or max of "
                        "wake_up, start, publish, latch, record, integrate and sensors (s), as in wake_up.p99.9",
                 .absent = "a `channel` is",
                 .shape = ORR_TEXT("a measure"),
                 PLACE(measure)},
    [BELOW] = {.name = "below",
               .doc = "every number is below this",
               .absent = "another bound stands",
               .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
               PLACE(below)},
    [ABOVE] = {.name = "above",
               .doc = "every number is above this",
               .absent = "another bound stands",
               .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
               PLACE(above)},
    [BETWEEN] = {.name = "between",
                 .doc = "every number is from low to high",
                 .absent = "another bound stands",
                 .shape = ORR_NUMBERS(2, ORR_UNIT_OF_CHANNEL),
                 PLACE(between)},
    [IS] = {.name = "is",
            .doc = "every number is this one",
            .absent = "another bound stands",
            .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
            PLACE(is)},
    [OF_PEAK] = {.name = "of_peak",
                 .doc = "what may be left after `after` of the largest magnitude before it, above 0 to 1",
                 .absent = "another bound stands",
                 .shape = ORR_NUMBER(NULL),
                 PLACE(of_peak)},
    [AFTER] = {.name = "after",
               .doc = "from when on a channel is judged, simulated time",
               .type = ORR_KEY_TIME,
               .range = &orr_range_not_negative,
               .fallback = "0",
               .offset = offsetof(struct expect_keys, after)},
    [UNTIL] = {.name = "until",
               .doc = "until when, both ends included",
               .type = ORR_KEY_TIME,
               .range = &orr_range_not_negative,
               .absent = "the end of the run",
               .offset = offsetof(struct expect_keys, until)},
    [NAME] = {.name = "name",
              .doc = "what it is called in summaries and JUnit files",
              .absent = "by what is judged and its bound",
              .shape = ORR_TEXT("a name"),
              PLACE(name)},
    [REQUIREMENT] = {.name = "requirement",
                     .doc = "the requirement that it shows, as your documents call it",
                     .type = ORR_KEY_TEXT,
                     .absent = "none",
                     .offset = offsetof(struct expect_keys, requirement)},
    [OF] = {.name = "of",
            .doc = "what of the channel over the time judged is held against the bound, for each of its numbers; "
                   "integral in unit s, settling_time in s, crossings as a count",
            .type = ORR_KEY_CHOICE,
            .absent = "each number in each frame",
            .choices = statistics,
            .offset = offsetof(struct expect_keys, of)},
    [TO] = {.name = "to",
            .doc = "of overshoot and settling_time: where it goes to",
            .absent = "0",
            .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
            PLACE(to)},
    [TOLERANCE] = {.name = "tolerance",
                   .doc = "of settling_time: how near to that it stays",
                   .absent = "settling_time needs it",
                   .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
                   PLACE(tolerance)},
    [LEVEL] = {.name = "level",
               .doc = "of crossings: what is crossed",
               .absent = "0",
               .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
               PLACE(level)},
    [ALWAYS] = {.name = "always",
                .doc = "a condition that holds in every frame judged",
                .absent = "something else is judged",
                .shape = ORR_TEXT("a condition (`orrery help conditions`)"),
                PLACE(always)},
    [EVENTUALLY] = {.name = "eventually",
                    .doc = "a condition that holds in some frame judged",
                    .absent = "something else is judged",
                    .shape = ORR_TEXT("a condition (`orrery help conditions`)"),
                    PLACE(eventually)},
    [WITHIN] = {.name = "within",
                .doc = "of eventually: how long after `after`",
                .type = ORR_KEY_TIME,
                .range = &orr_range_positive,
                .absent = "to `until`",
                .offset = offsetof(struct expect_keys, within)},
};

const struct orr_mapping orr_expectation_mapping = {
    .name = "expect",
    .doc = "What must hold for the run to have passed: a `channel` or a `measure`, and one bound; or `always` or "
           "`eventually` a condition. A run whose end "
           "comes before a bound could be judged is incomplete; what a mode does not measure is not judged.",
    ORR_KEYS(expect_table),
    .example = "expect:\n"
               "  - {channel: bus.pointing_error, below: 30 deg, after: 1 s}\n"
               "  - {channel: gyro.rate.x, between: [-10 deg/s, 10 deg/s]}\n"
               "  - {channel: gyro.rate, of: settling_time, tolerance: 5 deg/s, below: 20 s, requirement: R-12}\n"
               "  - {eventually: norm(gyro.rate) below 2 deg/s for 1 s, within: 50 s}\n"
               "  - {measure: overruns.own, is: 0}\n",
};

static const char *const measures[] = {
    [ORR_MEASURE_OVERRUNS_OWN] = "overruns.own",     [ORR_MEASURE_OVERRUNS_MACHINE] = "overruns.machine",
    [ORR_MEASURE_OVERRUNS_ALL] = "overruns.all",     [ORR_MEASURE_LINKS_LATE] = "links.late",
    [ORR_MEASURE_LINKS_MISSED] = "links.missed",     [ORR_MEASURE_LINKS_REFUSED] = "links.refused",
    [ORR_MEASURE_LINKS_TIMEOUTS] = "links.timeouts",
};

static const char *const histograms[] = {"wake_up", "start", "publish", "latch", "record", "integrate", "sensors"};

static const struct {
  const char *name;
  double fraction;
} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct orr_range part_range = {0, 1, true};

struct reading {
  struct orr_reader *reader;
  struct orr_run_draft *d;
  struct orr_run_expect *out;
};

/* ---- what is judged ---------------------------------------------------------------------------------------------- */

static bool find_latency(struct orr_run_expect *out, const char *name) {
  const char *dot = strchr(name, '.');
  size_t n = dot ? (size_t)(dot - name) : 0;
  for (size_t h = 0; dot && h < COUNT(histograms); h++)
    for (size_t p = 0; p < COUNT(percentiles); p++)
      if (strlen(histograms[h]) == n && strncmp(histograms[h], name, n) == 0 &&
          strcmp(dot + 1, percentiles[p].name) == 0) {
        out->measure = ORR_MEASURE_LATENCY;
        out->histogram = histograms[h];
        out->fraction = percentiles[p].fraction;
        out->unit = "s";
        return true;
      }
  return false;
}

static bool find_measure(struct reading *r, struct orr_place place) {
  const char *name;
  struct orr_nearest nearest = {0};
  if (!orr_read_text(r->reader, place, "measure", &name))
    return false;
  nearest.wanted = name;
  r->out->subject = name;
  r->out->channel = r->out->element = -1;
  for (size_t i = 0; i < COUNT(measures); i++) {
    if (strcmp(name, measures[i]) == 0) {
      r->out->measure = (enum orr_measure)i;
      return true;
    }
    orr_nearest_offer(&nearest, measures[i]);
  }
  if (find_latency(r->out, name))
    return true;
  if (nearest.best)
    orr_read_error(r->reader, place, "unknown-measure", "there is no measure '%.60s', did you mean '%s'?", name,
                   nearest.best);
  else
    orr_read_error(r->reader, place, "unknown-measure",
                   "there is no measure '%.60s'; there are overruns.own, .machine and .all, links.late, .missed, "
                   ".refused and .timeouts, and p50, p90, p99, p99.9 or max of wake_up, start, publish, latch, record, "
                   "integrate and sensors, as in wake_up.p99.9",
                   name);
  return false;
}

static bool find_subject(struct reading *r, const struct expect_keys *keys, struct orr_place place) {
  r->out->unit = "";
  if (!keys->channel.node == !keys->measure.node) {
    orr_read_error(r->reader, place, "expect", "an expectation is of one 'channel' or of one 'measure'");
    return false;
  }
  if (keys->measure.node)
    return find_measure(r, keys->measure);
  if (!orr_read_text(r->reader, keys->channel, "channel", &r->out->subject))
    return false;
  r->out->channel = orr_run_find_channel(r->d, keys->channel, r->out->subject, &r->out->element);
  if (r->out->channel < 0)
    return false;
  r->out->unit = orr_channel_unit(&r->d->run->table.channels[r->out->channel], r->out->element);
  r->out->source = orr_place_source(r->reader->diagnostics, keys->channel);
  return true;
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* The report of the run uses the unit of the bound. */
static void keep_unit(struct orr_run_expect *out, const char *text) {
  struct orr_quantity q;
  char *end;
  out->shown_unit = out->unit;
  out->shown_unit_si = 1;
  if (orr_quantity_parse(text, out->unit, &q) != ORR_QUANTITY_OK || !q.has_unit)
    return;
  strtod(text, &end);
  out->shown_unit = end + strspn(end, " ");
  out->shown_unit_si = q.unit.numerator / q.unit.denominator;
}

/* The bound as it is told: a bare number has the unit of the channel. */
static const char *with_unit(struct reading *r, const char *text) {
  struct orr_quantity q;
  bool bare = *r->out->unit && orr_quantity_parse(text, r->out->unit, &q) == ORR_QUANTITY_OK && !q.has_unit;
  return bare ? orr_arena_format(r->reader->arena, "%s %s", text, r->out->unit) : text;
}

static bool read_between(struct reading *r, struct orr_place place) {
  const struct orr_key key = {.name = "between", .unit = r->out->unit, .count = 2, .form = "[low, high]"};
  double ends[2];
  if (!orr_read_numbers(r->reader, place, &key, ends))
    return false;
  const char *text[2];
  for (size_t i = 0; i < 2; i++)
    text[i] = orr_place_item(r->reader->diagnostics, place, i).node->text;
  keep_unit(r->out, text[0]);
  r->out->bound = orr_arena_format(r->reader->arena, "between %s and %s", text[0], text[1]);
  r->out->told = orr_arena_format(r->reader->arena, "between %s and %s", with_unit(r, text[0]), with_unit(r, text[1]));
  r->out->low = ends[0];
  r->out->high = ends[1];
  if (ends[0] < ends[1])
    return true;
  orr_read_error(r->reader, place, "order", "'between' takes [low, high], and here low is not below high");
  return false;
}

static bool read_of_peak(struct reading *r, struct orr_place place, const struct expect_keys *keys) {
  if (r->out->channel < 0 || keys->after == 0) {
    orr_read_error(r->reader, place, "expect",
                   "'of_peak' is of a channel, and needs 'after': what is left then, as part of the largest before");
    return false;
  }
  return orr_read_number(r->reader, place, "of_peak", "", &part_range, &r->out->high);
}

static bool read_bound(struct reading *r, const struct expect_keys *keys, struct orr_place place) {
  const struct orr_place forms[] = {[ORR_EXPECT_BELOW] = keys->below,
                                    [ORR_EXPECT_ABOVE] = keys->above,
                                    [ORR_EXPECT_BETWEEN] = keys->between,
                                    [ORR_EXPECT_IS] = keys->is,
                                    [ORR_EXPECT_OF_PEAK] = keys->of_peak};
  static const char *const names[] = {"below", "above", "between", "is", "of_peak"};
  int found = -1, given = 0;
  for (int i = 0; i < (int)COUNT(forms); i++)
    if (forms[i].node) {
      found = i;
      given++;
    }
  if (given != 1) {
    orr_read_error(r->reader, place, "expect",
                   "an expectation has one of 'below', 'above', 'between', 'is' and 'of_peak'");
    return false;
  }
  r->out->form = (enum orr_expect_form)found;
  struct orr_place bound = forms[found];
  if (found == ORR_EXPECT_BETWEEN)
    return read_between(r, bound);
  bool good = found == ORR_EXPECT_OF_PEAK
                  ? read_of_peak(r, bound, keys)
                  : orr_read_number(r->reader, bound, names[found], r->out->unit, NULL, &r->out->high);
  r->out->low = r->out->high;
  if (!good)
    return false;
  r->out->bound = orr_arena_format(r->reader->arena, "%s %s", names[found], bound.node->text);
  r->out->told = found == ORR_EXPECT_OF_PEAK
                     ? r->out->bound
                     : orr_arena_format(r->reader->arena, "%s %s", names[found], with_unit(r, bound.node->text));
  keep_unit(r->out, bound.node->text);
  return true;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* A run of the file's own duration that leaves an expectation out is incomplete. One cut short from the command line is
 * no mistake of the file. */
static void judge_end(struct reading *r, struct orr_place entry) {
  struct orr_place section = orr_config_section(r->d->config, ORR_SECTION_SIMULATION);
  int64_t end_ns = orr_config_end_ns(r->d->config, r->d->run->duration_ns);
  if (end_ns <= 0 || r->out->after_ns <= end_ns)
    return;
  const struct orr_yaml *duration = section.node->entries[orr_yaml_find(section.node, "duration")].value;
  if (duration->file == entry.node->file)
    orr_read_warning(r->reader, entry, "never-judged",
                     "the run is over after %.9g s, so what is expected after %.9g s is never judged and the run "
                     "is incomplete",
                     1e-9 * (double)end_ns, 1e-9 * (double)r->out->after_ns);
}

static bool read_span(struct reading *r, const struct expect_keys *keys, uint64_t present, struct orr_place place) {
  r->out->after_ns = keys->after;
  r->out->until_ns = present >> UNTIL & 1 ? keys->until : INT64_MAX;
  if (r->out->channel < 0 && !r->out->probe && (present & (UINT64_C(1) << AFTER | UINT64_C(1) << UNTIL))) {
    orr_read_error(r->reader, place, "expect", "a measure is of the whole run; 'after' and 'until' go with a channel");
    return false;
  }
  judge_end(r, place);
  if (r->out->until_ns >= r->out->after_ns)
    return true;
  orr_read_error(r->reader, place, "order", "'until' is before 'after', so there is nothing to judge");
  return false;
}

/* ---- statistics and conditions ----------------------------------------------------------------------------------- */

static bool read_level(struct reading *r, struct orr_place place, const char *name, const struct orr_range *range,
                       const struct orr_channel *c, double *out) {
  return !place.node || orr_read_number(r->reader, place, name, orr_channel_unit(c, r->out->element), range, out);
}

/* What goes with which statistic; the bound is then in the statistic's unit. */
static bool read_statistic(struct reading *r, const struct expect_keys *keys, struct orr_place place) {
  struct orr_run_probe *p = orr_arena_alloc(r->reader->arena, 1, sizeof *p);
  enum orr_probe_kind kind = (enum orr_probe_kind)keys->of;
  bool settles = kind == ORR_PROBE_SETTLING_TIME, crosses = kind == ORR_PROBE_CROSSINGS;
  if (r->out->channel < 0) {
    orr_read_error(r->reader, place, "expect", "'of: %s' is of a channel", statistics[keys->of]);
    return false;
  }
  const struct orr_channel *c = &r->d->run->table.channels[r->out->channel];
  const struct {
    struct orr_place place;
    const char *name;
    bool goes;
  } parts[] = {{keys->to, "to", settles || kind == ORR_PROBE_OVERSHOOT},
               {keys->tolerance, "tolerance", settles},
               {keys->level, "level", crosses},
               {keys->of_peak, "of_peak", false}};
  for (size_t i = 0; i < COUNT(parts); i++)
    if (parts[i].place.node && !parts[i].goes) {
      orr_read_error(r->reader, parts[i].place, "expect", "'%s' does not go with 'of: %s'", parts[i].name,
                     statistics[keys->of]);
      return false;
    }
  if (settles && !keys->tolerance.node) {
    orr_read_error(r->reader, place, "missing-key", "'of: settling_time' needs a 'tolerance'");
    return false;
  }
  *p = (struct orr_run_probe){.kind = kind,
                              .channel = r->out->channel,
                              .first = c->offset + (r->out->element >= 0 ? r->out->element : 0),
                              .count = r->out->element >= 0 ? 1 : c->count};
  if (!read_level(r, crosses ? keys->level : keys->to, crosses ? "level" : "to", NULL, c, &p->to) ||
      !read_level(r, keys->tolerance, "tolerance", &orr_range_not_negative, c, &p->tolerance))
    return false;
  r->out->probe = p;
  if (settles)
    r->out->unit = "s";
  if (crosses)
    r->out->unit = "";
  const char *unit = orr_channel_unit(c, r->out->element);
  if (kind == ORR_PROBE_INTEGRAL)
    r->out->unit = *unit ? orr_arena_format(r->reader->arena, "%s s", unit) : "s";
  return true;
}

static bool read_promise(struct reading *r, const struct expect_keys *keys, struct orr_place place) {
  const struct orr_place others[] = {keys->channel, keys->measure, keys->below, keys->above,     keys->between,
                                     keys->is,      keys->of_peak, keys->to,    keys->tolerance, keys->level};
  struct orr_run_probe *p = orr_arena_alloc(r->reader->arena, 1, sizeof *p);
  bool always = keys->always.node != NULL;
  bool alone = keys->of < 0 && !(always && keys->eventually.node);
  for (size_t i = 0; i < COUNT(others); i++)
    alone = alone && !others[i].node;
  if (!alone) {
    orr_read_error(r->reader, place, "expect",
                   "'always' and 'eventually' are a condition each, alone: no channel, measure or bound beside it");
    return false;
  }
  *p = (struct orr_run_probe){.kind = always ? ORR_PROBE_ALWAYS : ORR_PROBE_EVENTUALLY, .channel = -1};
  p->condition =
      orr_run_read_condition(r->d, always ? keys->always : keys->eventually, always ? "always" : "eventually");
  if (!p->condition)
    return false;
  r->out->probe = p;
  r->out->subject = p->condition->text;
  r->out->bound = r->out->told = always ? "always" : "eventually";
  r->out->channel = r->out->element = -1;
  r->out->form = ORR_EXPECT_IS;
  r->out->low = r->out->high = 1;
  r->out->unit = r->out->shown_unit = "";
  r->out->shown_unit_si = 1;
  return true;
}

static bool read_within(struct reading *r, const struct expect_keys *keys, uint64_t present, struct orr_place place) {
  if (!(present >> WITHIN & 1))
    return true;
  if (!keys->eventually.node || present >> UNTIL & 1) {
    orr_read_error(r->reader, place, "expect", "'within' goes with 'eventually', and in place of 'until'");
    return false;
  }
  r->out->until_ns = keys->within > INT64_MAX - keys->after ? INT64_MAX : keys->after + keys->within;
  return true;
}

/* A channel or a measure and its bound; or a condition. */
static bool read_judged(struct reading *r, const struct expect_keys *keys, struct orr_place place) {
  if (keys->always.node || keys->eventually.node)
    return read_promise(r, keys, place);
  if (!find_subject(r, keys, place))
    return false;
  if (keys->of < 0 && (keys->to.node || keys->tolerance.node || keys->level.node)) {
    orr_read_error(r->reader, place, "expect", "'to', 'tolerance' and 'level' go with 'of'");
    return false;
  }
  if (keys->of >= 0 && !read_statistic(r, keys, place))
    return false;
  if (!read_bound(r, keys, place))
    return false;
  if (r->out->probe) {
    r->out->bound = orr_arena_format(r->reader->arena, "%s %s", statistics[keys->of], r->out->bound);
    r->out->told = orr_arena_format(r->reader->arena, "%s %s", statistics[keys->of], r->out->told);
    r->out->channel = -1;
  }
  return true;
}

static bool read_entry(struct reading *r, struct orr_place place) {
  struct expect_keys keys = {.of = -1};
  uint64_t present;
  const struct orr_thing thing = {.what = "an expectation", .place = place};
  *r->out = (struct orr_run_expect){0};
  if (!orr_read_mapping(r->reader, &thing, &orr_expectation_mapping, &keys, &present) ||
      !read_judged(r, &keys, place) || !read_span(r, &keys, present, place) || !read_within(r, &keys, present, place))
    return false;
  r->out->requirement = keys.requirement;
  return !keys.name.node || orr_read_text(r->reader, keys.name, "name", &r->out->name);
}

/* The entries of the section, and behind them what steps of the sequence judge. */
void orr_run_read_expect(struct orr_run_draft *d) {
  struct orr_place list = orr_config_section(d->config, ORR_SECTION_EXPECT);
  bool there = list.node && orr_expect_sequence(d->reader, list, "expect");
  size_t n = there ? orr_place_count(list) : 0, good = 0;
  struct orr_run_expect *entries = orr_arena_alloc(d->reader->arena, n + d->promise_count, sizeof *entries);
  for (size_t i = 0; i < n; i++) {
    struct reading r = {.reader = d->reader, .d = d, .out = &entries[good]};
    if (read_entry(&r, orr_place_item(d->reader->diagnostics, list, i)))
      good++;
  }
  d->run->sequence.first_expect = (int)good;
  d->run->replaced = orr_config_replaced(d->config);
  if (d->promise_count)
    memcpy(entries + good, d->promises, d->promise_count * sizeof *entries);
  d->run->expects = entries;
  d->run->expect_count = good + d->promise_count;
}

bool orr_run_check_rules(const struct orr_text_file *file, struct orr_diagnostics *diagnostics) {
  size_t errors = orr_diagnostics_errors(diagnostics);
  const struct orr_config *config = orr_config_read_rules(file, diagnostics);
  struct orr_reader reader = {diagnostics, orr_diagnostics_arena(diagnostics)};
  struct orr_place list = orr_config_section(config, ORR_SECTION_EXPECT);
  size_t n = list.node && orr_expect_sequence(&reader, list, "expect") ? orr_place_count(list) : 0;
  for (size_t i = 0; i < n; i++) {
    struct expect_keys keys = {.of = -1};
    uint64_t present;
    const struct orr_thing thing = {.what = "an expectation", .place = orr_place_item(diagnostics, list, i)};
    orr_read_mapping(&reader, &thing, &orr_expectation_mapping, &keys, &present);
  }
  return orr_diagnostics_errors(diagnostics) == errors;
}
