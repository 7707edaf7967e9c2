#include "io/procedure/sequence.h"

#include <math.h>
#include <string.h>

#include "core/math/bits.h"

/* Words: whether the first frame was begun; the step; since when it is entered, −1: not yet; of a ramp, from where.
 * Then counters, then conditions; then, which no replay has, the commands to give. */
enum { BEGUN, STEP, SINCE, FROM, HEAD_WORDS };

static const uint64_t NOT_ENTERED = UINT64_MAX;

/* ---- layout ------------------------------------------------------------------------------------------------------ */

struct orr_sequence *orr_sequence_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_faults *faults,
                                         struct orr_assess *assess, struct orr_block *block) {
  const struct orr_run_sequence *desc = &run->sequence;
  size_t memory = desc->count ? HEAD_WORDS + (size_t)desc->counters : 0, replayed = memory + (size_t)desc->words;
  size_t commands = desc->count ? (size_t)(plant->table.value_count - plant->table.output_values) : 0;
  struct orr_sequence *s = ORR_TAKE(block, struct orr_sequence, 1);
  uint64_t *words = ORR_TAKE(block, uint64_t, replayed + 2 * commands);
  if (!block->base)
    return NULL;
  *s = (struct orr_sequence){.desc = desc,
                             .plant = plant,
                             .faults = faults,
                             .assess = assess,
                             .words = words,
                             .word_count = replayed + 2 * commands,
                             .replayed = replayed,
                             .memory = memory,
                             .pending = replayed,
                             .values = replayed + commands};
  return s;
}

void orr_sequence_ask(struct orr_sequence *s) {
  for (int i = 0; i < s->desc->count; i++) {
    const struct orr_condition *c = s->desc->steps[i].condition;
    for (int k = 0; c && k < c->channel_count; k++)
      orr_plant_ask(s->plant, c->channels[k]);
  }
}

void orr_sequence_start(struct orr_sequence *s) {
  memset(s->words, 0, 8 * s->word_count);
  if (s->desc->count)
    s->words[SINCE] = NOT_ENTERED;
}

const struct orr_run_step *orr_sequence_at(const struct orr_sequence *s, int64_t *since_ns) {
  *since_ns = s->words[SINCE] == NOT_ENTERED ? -1 : (int64_t)s->words[SINCE];
  return &s->desc->steps[s->words[STEP]];
}

bool orr_sequence_is_sound(const struct orr_sequence *s, const uint64_t *words, int64_t now_ns) {
  if (s->desc->count == 0)
    return true;
  if (words[STEP] >= (uint64_t)s->desc->count || words[BEGUN] > 1)
    return false;
  /* it is entered for the frame that follows the one recorded: now */
  if (words[SINCE] != NOT_ENTERED && words[SINCE] > (uint64_t)now_ns)
    return false;
  for (int i = 0; i < s->desc->count; i++) {
    const struct orr_run_step *step = &s->desc->steps[i];
    const int64_t *memory = (const int64_t *)(words + s->memory + step->memory);
    bool waits = step->sort == ORR_STEP_UNTIL && words[STEP] == (uint64_t)i;
    if (waits && !orr_condition_is_sound(step->condition, memory, now_ns))
      return false;
  }
  return true;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* One look at the steps. */
struct turn {
  struct orr_sequence *s;
  const double *values; /* of the frame recorded; NULL before the first */
  int64_t recorded_ns;
  int64_t now_ns; /* of the frame in which it acts */
};

static void tell(const struct turn *t, const struct orr_run_step *step, const char *what) {
  if (t->s->told)
    t->s->told(t->s->user, step, what);
}

static void verdict(const struct turn *t, const struct orr_run_step *step, bool met) {
  if (step->expect >= 0)
    orr_assess_note(t->s->assess, (size_t)(t->s->desc->first_expect + step->expect), met, t->now_ns);
}

static void give(struct orr_sequence *s, int number, double value) {
  size_t k = (size_t)(number - s->plant->table.output_values);
  s->words[s->pending + k] = 1;
  s->words[s->values + k] = orr_bits_of(value);
}

static void go_to(struct orr_sequence *s, int step) {
  s->words[STEP] = (uint64_t)step;
  s->words[SINCE] = NOT_ENTERED;
}

static int64_t *memory_of(const struct orr_sequence *s, const struct orr_run_step *step) {
  return (int64_t *)(s->words + s->memory + step->memory);
}

static bool holds(const struct turn *t, const struct orr_run_step *step) {
  return t->values && orr_condition_judge(step->condition, memory_of(t->s, step), t->values, t->recorded_ns);
}

/* Whether it is the first look at this step. */
static bool enter(const struct turn *t, const struct orr_run_step *step) {
  if (t->s->words[SINCE] != NOT_ENTERED)
    return false;
  t->s->words[SINCE] = (uint64_t)t->now_ns;
  if (step->condition)
    orr_condition_reset(step->condition, memory_of(t->s, step));
  return true;
}

static int64_t lasted(const struct turn *t) { return t->now_ns - (int64_t)t->s->words[SINCE]; }

/* The steps that take time return whether they are over; it goes on with *next. */
static bool until(const struct turn *t, const struct orr_run_step *step, int *next) {
  if (enter(t, step))
    tell(t, step, step->text);
  if (holds(t, step)) {
    verdict(t, step, true);
    return true;
  }
  if (lasted(t) < step->span_ns)
    return false;
  tell(t, step, "timed out");
  verdict(t, step, false);
  if (step->otherwise != ORR_OTHERWISE_GO_ON)
    *next = t->s->desc->count - 1;
  return true;
}

static bool ramp(const struct turn *t, const struct orr_run_step *step) {
  struct orr_sequence *s = t->s;
  if (enter(t, step)) {
    tell(t, step, step->text);
    s->words[FROM] = orr_bits_of(t->values ? t->values[step->first] : 0);
  }
  double part = fmin(1, (double)lasted(t) / (double)step->span_ns), from = orr_double_of(s->words[FROM]);
  give(s, step->first, part < 1 ? from + part * (step->values[0] - from) : step->values[0]);
  return part >= 1;
}

static bool wait(const struct turn *t, const struct orr_run_step *step) {
  if (enter(t, step) && step->span_ns > 0)
    tell(t, step, step->text);
  return lasted(t) >= step->span_ns;
}

static void clear(struct orr_sequence *s, int fault) {
  for (int i = 0; i < (int)s->faults->run->fault_count; i++)
    if (fault < 0 || i == fault)
      orr_fault_due(s->faults, i, false);
}

/* Does the step; false while it lasts. */
static bool run(const struct turn *t, const struct orr_run_step *step, int *next) {
  struct orr_sequence *s = t->s;
  bool met;
  switch (step->sort) {
  case ORR_STEP_WAIT:
    return wait(t, step);
  case ORR_STEP_UNTIL:
    return until(t, step, next);
  case ORR_STEP_RAMP:
    return ramp(t, step);
  case ORR_STEP_SET:
    for (int k = 0; k < step->count; k++)
      give(s, step->first + k, step->values[k]);
    tell(t, step, step->text);
    return true;
  case ORR_STEP_FAULT:
    orr_fault_due(s->faults, step->fault, true);
    return true;
  case ORR_STEP_CLEAR:
    clear(s, step->fault);
    return true;
  case ORR_STEP_EXPECT:
    met = holds(t, step);
    verdict(t, step, met);
    tell(t, step, met ? "met" : "not met");
    return true;
  case ORR_STEP_MARK:
    tell(t, step, step->text);
    return true;
  case ORR_STEP_REPEAT:
    s->words[HEAD_WORDS + step->counter] = (uint64_t)step->times;
    return true;
  case ORR_STEP_AGAIN:
    if (s->words[HEAD_WORDS + step->counter] > 1) {
      s->words[HEAD_WORDS + step->counter]--;
      *next = step->target;
    }
    return true;
  case ORR_STEP_UNLESS:
    if (!holds(t, step))
      *next = step->target;
    return true;
  case ORR_STEP_JUMP:
    *next = step->target;
    return true;
  default:
    return false;
  }
}

static void turn(const struct turn *t) {
  struct orr_sequence *s = t->s;
  for (int i = 0; i < ORR_SEQUENCE_STEPS; i++) {
    int at = (int)s->words[STEP], next = at + 1;
    if (!run(t, &s->desc->steps[at], &next))
      return;
    go_to(s, next);
  }
}

void orr_sequence_begin(struct orr_sequence *s) {
  if (s->desc->count == 0 || s->words[BEGUN])
    return;
  s->words[BEGUN] = 1;
  turn(&(struct turn){.s = s, .now_ns = orr_plant_time_ns(s->plant)});
}

void orr_sequence_step(struct orr_sequence *s) {
  int64_t now_ns = orr_plant_time_ns(s->plant);
  if (s->desc->count)
    turn(&(struct turn){
        .s = s, .values = s->plant->values, .recorded_ns = now_ns, .now_ns = now_ns + s->plant->step_ns});
}

void orr_sequence_give(struct orr_sequence *s) {
  const struct orr_channel_table *table = &s->plant->table;
  size_t commands = s->desc->count ? (size_t)(table->value_count - table->output_values) : 0;
  for (size_t k = 0; k < commands; k++)
    if (s->words[s->pending + k]) {
      s->words[s->pending + k] = 0;
      s->plant->values[(size_t)table->output_values + k] = orr_double_of(s->words[s->values + k]);
    }
}
