#include "io/procedure/faults.h"

#include <math.h>
#include <string.h>

#include "core/math/bits.h"
#include "core/math/elementary.h"
#include "core/math/spatial.h"
#include "core/plant/noise.h"

enum { PHASE, SINCE, FROM, HEAD_WORDS };

/* Draws of a fault beside those of its numbers. */
#define DRAW_SPAN (UINT64_C(1) << 40)

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* Whether one has come (0 or 1), then the last good numbers or those of the frames before. */
static size_t memory_words(const struct orr_run_fault *f) {
  if (f->target != ORR_FAULT_NUMBERS)
    return 0;
  size_t frames = f->form == ORR_FAULT_DELAY ? (size_t)f->delay_frames : 1;
  return 1 + frames * (size_t)f->count;
}

static bool is_command(const struct orr_plant *p, const struct orr_run_fault *f) {
  return f->target == ORR_FAULT_NUMBERS && p->table.channels[f->channel].direction == ORR_CHANNEL_COMMAND;
}

/* What a replay cannot know, for a log has commands as they acted, stands behind the rest: what faults of commands
 * remember. Returns where that begins; *all are the words of both. */
static size_t place_words(const struct orr_run *run, const struct orr_plant *p, struct orr_fault_place *places,
                          size_t *all) {
  size_t used = 0, replayed = 0;
  for (int commands = 0; commands < 2; commands++) {
    for (size_t i = 0; i < run->fault_count; i++) {
      const struct orr_run_fault *f = &run->faults[i];
      struct orr_fault_place at = {.at = used, .condition = used + HEAD_WORDS};
      if (commands == 0)
        used = at.condition + (f->when ? (size_t)f->when->words : 0);
      if (commands == 0 && places)
        places[i] = at;
      if (is_command(p, f) != commands)
        continue;
      if (places)
        places[i].memory = used;
      used += memory_words(f);
    }
    replayed = commands == 0 ? used : replayed;
  }
  *all = used;
  return replayed;
}

/* Faults of one device share a trouble, those of one hinge a jam. */
static void share(struct orr_faults *s) {
  int troubles = 0;
  const struct orr_run_fault *all = s->run->faults;
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &all[i];
    s->trouble_of[i] = -1;
    for (size_t k = 0; k < i; k++)
      if (all[k].target == f->target && all[k].device == f->device && all[k].body == f->body)
        s->trouble_of[i] = s->trouble_of[k];
    if (f->target == ORR_FAULT_DEVICE && s->trouble_of[i] < 0) {
      orr_trouble_init(&s->troubles[troubles], s->plant, f->device);
      s->trouble_of[i] = troubles++;
    } else if (f->target == ORR_FAULT_HINGE && s->trouble_of[i] < 0) {
      s->jams[s->jam_count] = (struct orr_jam){.body = f->body};
      s->trouble_of[i] = s->jam_count++;
    }
    s->commands |= is_command(s->plant, f);
  }
}

struct orr_faults *orr_faults_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_block *block) {
  size_t n = run->fault_count, told, replayed = place_words(run, plant, NULL, &told);
  size_t commands = n ? (size_t)(plant->table.value_count - plant->table.output_values) : 0;
  struct orr_faults *s = ORR_TAKE(block, struct orr_faults, 1);
  struct orr_fault_place *places = ORR_TAKE(block, struct orr_fault_place, n);
  uint64_t *words = ORR_TAKE(block, uint64_t, told + commands);
  struct orr_trouble *troubles = ORR_TAKE(block, struct orr_trouble, n);
  struct orr_jam *jams = ORR_TAKE(block, struct orr_jam, n);
  int *trouble_of = ORR_TAKE(block, int, n);
  if (!block->base)
    return NULL;
  *s = (struct orr_faults){.run = run,
                           .plant = plant,
                           .places = places,
                           .words = words,
                           .word_count = told + commands,
                           .replayed = replayed,
                           .told_at = told,
                           .troubles = troubles,
                           .jams = jams,
                           .trouble_of = trouble_of};
  place_words(run, plant, places, &told);
  share(s);
  plant->jams = jams;
  plant->jam_count = s->jam_count;
  orr_faults_start(s);
  return s;
}

/* ---- what is broken ---------------------------------------------------------------------------------------------- */

static uint64_t *head(const struct orr_faults *s, size_t i) { return &s->words[s->places[i].at]; }

enum orr_fault_phase orr_fault_phase(const struct orr_faults *s, int index) {
  return (enum orr_fault_phase)head(s, (size_t)index)[PHASE];
}

static bool acts(const struct orr_faults *s, size_t i) {
  return head(s, i)[PHASE] == ORR_FAULT_ACTS || head(s, i)[PHASE] == ORR_FAULT_ENDS;
}

void orr_fault_due(struct orr_faults *s, int index, bool begins) {
  uint64_t *phase = &head(s, (size_t)index)[PHASE];
  if (begins)
    *phase = ORR_FAULT_DUE;
  else if (*phase == ORR_FAULT_ACTS)
    *phase = ORR_FAULT_ENDS;
}

/* Of several faults of a device or a hinge that act, the last of the file has it. */
static void settle_device(struct orr_faults *s, int device) {
  for (size_t k = s->run->fault_count; k-- > 0;) {
    const struct orr_run_fault *f = &s->run->faults[k];
    if (f->target != ORR_FAULT_DEVICE || f->device != device)
      continue;
    struct orr_trouble *trouble = &s->troubles[s->trouble_of[k]];
    if (acts(s, k)) {
      orr_device_break(s->plant, device, trouble, f->fault, f->number, (int64_t)head(s, k)[SINCE],
                       orr_double_of(head(s, k)[FROM]));
      return;
    }
    orr_device_mend(s->plant, device, trouble);
  }
}

static void settle_hinge(struct orr_faults *s, int body) {
  for (size_t k = s->run->fault_count; k-- > 0;) {
    const struct orr_run_fault *f = &s->run->faults[k];
    if (f->target != ORR_FAULT_HINGE || f->body != body)
      continue;
    if (acts(s, k)) {
      orr_hinge_jam(s->plant, s->trouble_of[k], (int64_t)head(s, k)[SINCE] + f->over_ns);
      return;
    }
    orr_hinge_release(s->plant, s->trouble_of[k]);
  }
}

static void settle(struct orr_faults *s, const struct orr_run_fault *f) {
  if (f->target == ORR_FAULT_DEVICE)
    settle_device(s, f->device);
  if (f->target == ORR_FAULT_HINGE)
    settle_hinge(s, f->body);
}

/* Settled now, at the coordinates of the frame. */
static void settle_now(struct orr_faults *s, const struct orr_run_fault *f) {
  settle(s, f);
  if (f->target == ORR_FAULT_HINGE)
    orr_plant_settle_jams(s->plant, s->plant->integration->q);
}

/* ---- start, state ------------------------------------------------------------------------------------------------ */

void orr_faults_ask(struct orr_faults *s) {
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &s->run->faults[i];
    if (f->target == ORR_FAULT_NUMBERS)
      orr_plant_ask(s->plant, f->channel);
    for (int k = 0; f->when && k < f->when->channel_count; k++)
      orr_plant_ask(s->plant, f->when->channels[k]);
  }
}

void orr_faults_start(struct orr_faults *s) {
  bool jammed = false;
  for (int i = 0; i < s->jam_count; i++)
    jammed |= s->jams[i].on;
  memset(s->words, 0, 8 * s->word_count);
  for (size_t i = 0; i < s->run->fault_count; i++)
    if (s->run->faults[i].when)
      orr_condition_reset(s->run->faults[i].when, (int64_t *)&s->words[s->places[i].condition]);
  for (size_t i = 0; i < s->run->fault_count; i++)
    settle(s, &s->run->faults[i]);
  orr_plant_jams(s->plant, s->jams, s->jam_count);
  if (jammed)
    orr_plant_settle_jams(s->plant, s->plant->q0);
}

size_t orr_faults_state_words(const struct orr_faults *s) {
  return s->word_count + ORR_JAM_WORDS * (size_t)s->jam_count;
}

size_t orr_faults_replayed_words(const struct orr_faults *s) {
  return s->replayed + ORR_JAM_WORDS * (size_t)s->jam_count;
}

/* Times are those of the past. All else is compared, or a number. */
bool orr_faults_state_is_sound(const struct orr_faults *s, const uint64_t *words, int64_t now_ns) {
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const uint64_t *h = words + s->places[i].at;
    const struct orr_condition *when = s->run->faults[i].when;
    if (h[PHASE] > ORR_FAULT_OVER || h[SINCE] > (uint64_t)now_ns)
      return false;
    if (when && !orr_condition_is_sound(when, (const int64_t *)(words + s->places[i].condition), now_ns))
      return false;
  }
  for (int i = 0; i < s->jam_count; i++)
    if (!orr_jam_words_are_sound(&s->jams[i], words + s->replayed + ORR_JAM_WORDS * i, now_ns))
      return false;
  return true;
}

void orr_faults_state_get(const struct orr_faults *s, uint64_t *words) {
  memcpy(words, s->words, 8 * s->replayed);
  words += s->replayed;
  for (int i = 0; i < s->jam_count; i++, words += ORR_JAM_WORDS)
    orr_jam_words_get(&s->jams[i], words);
  memcpy(words, s->words + s->replayed, 8 * (s->word_count - s->replayed));
}

void orr_faults_state_put(struct orr_faults *s, const uint64_t *words) {
  const uint64_t *jams = words + s->replayed;
  memcpy(s->words, words, 8 * s->replayed);
  memcpy(s->words + s->replayed, jams + ORR_JAM_WORDS * s->jam_count, 8 * (s->word_count - s->replayed));
  for (size_t i = 0; i < s->run->fault_count; i++)
    settle(s, &s->run->faults[i]);
  for (int i = 0; i < s->jam_count; i++, jams += ORR_JAM_WORDS)
    orr_jam_words_put(&s->jams[i], jams);
}

/* ---- begin, end -------------------------------------------------------------------------------------------------- */

void orr_fault_begin(struct orr_faults *s, int index) {
  const struct orr_run_fault *f = &s->run->faults[index];
  uint64_t *h = head(s, (size_t)index);
  bool acted = h[PHASE] == ORR_FAULT_ACTS;
  h[PHASE] = ORR_FAULT_ACTS;
  h[SINCE] = (uint64_t)orr_plant_time_ns(s->plant);
  h[FROM] = orr_bits_of(f->target == ORR_FAULT_DEVICE ? orr_rotor_speed(s->plant, f->device) : 0);
  settle_now(s, f);
  if (s->told && !acted)
    s->told(s->user, f, true);
}

void orr_fault_end(struct orr_faults *s, int index) {
  const struct orr_run_fault *f = &s->run->faults[index];
  uint64_t *h = head(s, (size_t)index);
  bool acted = acts(s, (size_t)index);
  h[PHASE] = ORR_FAULT_OVER;
  settle_now(s, f);
  if (s->told && acted)
    s->told(s->user, f, false);
}

/* By the time, or because a condition held in the frame before. */
static void begin_and_end(struct orr_faults *s, int64_t now_ns) {
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &s->run->faults[i];
    const uint64_t *h = head(s, i);
    bool due = h[PHASE] == ORR_FAULT_DUE || (h[PHASE] == ORR_FAULT_WAITS && f->at_ns >= 0 && now_ns >= f->at_ns);
    if (due)
      orr_fault_begin(s, (int)i);
    else if (h[PHASE] == ORR_FAULT_ENDS || (h[PHASE] == ORR_FAULT_ACTS && now_ns - (int64_t)h[SINCE] >= f->for_ns))
      orr_fault_end(s, (int)i);
  }
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* The numbers of one fault in one frame. */
struct pass {
  const struct orr_run_fault *f;
  const struct orr_channel *channel;
  uint64_t *memory;
  double *numbers; /* of the block */
  int64_t frame;
  uint64_t sample; /* its number */
  double since_s;
  bool acts, fresh, pulse;
};

/* In the types and the range of its channel: a flag is the nearest of 0 and 1, a whole number is rounded; what has no
 * place there is as it was. */
static double fit(const struct pass *p, double was, double is) {
  const struct orr_channel *c = p->channel;
  if (c->type != ORR_CHANNEL_REAL && !isfinite(is))
    return was;
  if (c->type == ORR_CHANNEL_FLAG)
    return is >= 0.5;
  if (c->type == ORR_CHANNEL_WHOLE)
    is = orr_max(orr_min(rint(is), 9007199254740992.0), -9007199254740992.0);
  if (c->direction == ORR_CHANNEL_OUTPUT)
    return is;
  return isfinite(is) ? orr_max(orr_min(is, c->high), c->low) : was;
}

static double flip(const struct pass *p, int i, double x) {
  const struct orr_run_fault *f = p->f;
  uint64_t draw = 2 * (uint64_t)i;
  if (!(orr_noise_uniform(f->key, p->sample, draw) < f->chance))
    return x;
  int bit = f->bit >= 0 ? f->bit : (int)(64 * orr_noise_uniform(f->key, p->sample, draw + 1));
  if (p->channel->type == ORR_CHANNEL_FLAG)
    return x == 0;
  if (p->channel->type == ORR_CHANNEL_WHOLE)
    return (double)(int64_t)((uint64_t)(int64_t)x ^ UINT64_C(1) << bit);
  return orr_double_of(orr_bits_of(x) ^ UINT64_C(1) << bit);
}

/* A pulse is a command that comes once: without one (0, or −1 where commands have stopped) nothing is biased, and a
 * stuck one comes with each sample. */
static double altered(const struct pass *p, int i, double x) {
  const struct orr_run_fault *f = p->f;
  if (p->pulse && x <= 0 && f->form != ORR_FAULT_STUCK_AT)
    return x;
  switch (f->form) {
  case ORR_FAULT_BIAS:
    return x + f->values[i];
  case ORR_FAULT_DRIFT:
    return x + f->values[i] * p->since_s;
  case ORR_FAULT_SCALE:
    return x * f->values[i];
  case ORR_FAULT_NOISE:
    return x + f->values[i] * orr_noise_normal(f->key, p->sample, (uint64_t)i);
  case ORR_FAULT_STUCK_AT:
    return p->pulse && !p->fresh ? 0 : f->values[i];
  case ORR_FAULT_BIT_FLIP:
    return flip(p, i, x);
  default:
    return x;
  }
}

/* The turn of q by `part` of its angle, the shorter way; its sign and size stay. */
static void scale_turn(const double *q, double part, double *out) {
  double sine = v3_norm(v3_from(q)), size = sqrt(sine * sine + q[3] * q[3]), sign = q[3] < 0 ? -1 : 1;
  double angle = 2 * orr_atan2(sine, fabs(q[3]));
  quat_exp(v3_scale(sine > 0 ? part * sign * angle / sine : 0, v3_from(q)), out);
  for (int i = 0; i < 4; i++)
    out[i] *= sign * size;
}

/* q ∘ exp(v) */
static void turn(const struct pass *p) {
  const struct orr_run_fault *f = p->f;
  double v[3], by[4], out[4];
  for (int i = 0; i < 3; i++) {
    double n = f->form == ORR_FAULT_NOISE ? orr_noise_normal(f->key, p->sample, (uint64_t)i) : 1;
    v[i] = f->values[f->form == ORR_FAULT_SCALE ? 0 : i] * (f->form == ORR_FAULT_DRIFT ? p->since_s : n);
  }
  quat_exp(v3_from(v), by);
  if (f->form == ORR_FAULT_SCALE)
    scale_turn(p->numbers, f->values[0], out);
  else
    quat_mul(p->numbers, by, out);
  memcpy(p->numbers, out, sizeof out);
}

/* memory: whether there is a past, then [delay_frames][count], the frame's own place the oldest. */
static void delay(const struct pass *p) {
  size_t n = (size_t)p->f->count, frames = (size_t)p->f->delay_frames;
  uint64_t *slot = p->memory + 1 + n * ((size_t)p->frame % frames);
  for (size_t k = 0; k < frames && !p->memory[0]; k++)
    for (size_t i = 0; i < n; i++)
      p->memory[1 + k * n + i] = orr_bits_of(p->pulse ? 0 : p->numbers[i]);
  p->memory[0] = 1;
  for (size_t i = 0; i < n; i++) {
    double was = orr_double_of(slot[i]);
    slot[i] = orr_bits_of(p->numbers[i]);
    if (p->acts)
      p->numbers[i] = was;
  }
}

/* memory: whether there is a past, then the last numbers that came through. */
static void hold(const struct pass *p) {
  bool drops = p->f->form == ORR_FAULT_DROP, lost = drops && orr_noise_uniform(p->f->key, p->sample, 0) < p->f->chance;
  bool through = !p->acts || !p->memory[0] || (drops && !lost);
  p->memory[0] = 1;
  for (int i = 0; i < p->f->count; i++) {
    if (through)
      p->memory[1 + i] = orr_bits_of(p->numbers[i]);
    else
      p->numbers[i] = p->pulse ? 0 : orr_double_of(p->memory[1 + i]);
  }
}

static void run_pass(const struct pass *p) {
  switch (p->f->form) {
  case ORR_FAULT_DELAY:
    delay(p);
    return;
  case ORR_FAULT_FREEZE:
  case ORR_FAULT_DROP:
    hold(p);
    return;
  default:
    if (p->acts && p->f->turns) {
      turn(p);
      return;
    }
    for (int i = 0; p->acts && i < p->f->count; i++)
      p->numbers[i] = fit(p, p->numbers[i], altered(p, i, p->numbers[i]));
  }
}

/* Whether a fault that comes and goes is there. */
static bool is_there(const struct orr_run_fault *f, int64_t since_ns) {
  return f->every_ns == 0 || orr_noise_uniform(f->key, (uint64_t)(since_ns / f->every_ns), DRAW_SPAN) < f->part;
}

static void pass_numbers(struct orr_faults *s, bool commands) {
  int64_t frame = orr_plant_frame(s->plant), now_ns = orr_plant_time_ns(s->plant);
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &s->run->faults[i];
    if (f->target != ORR_FAULT_NUMBERS || is_command(s->plant, f) != commands)
      continue;
    int64_t since_ns = now_ns - (int64_t)head(s, i)[SINCE], past = frame - f->phase;
    const struct orr_channel *c = &s->plant->table.channels[f->channel];
    const struct pass p = {.f = f,
                           .channel = c,
                           .memory = &s->words[s->places[i].memory],
                           .numbers = s->plant->values + f->first,
                           .frame = frame,
                           .sample = past >= 0 ? (uint64_t)(past / f->divisor) + 1 : 0,
                           .since_s = 1e-9 * (double)since_ns,
                           .acts = acts(s, i) && is_there(f, since_ns),
                           .fresh = past >= 0 && past % f->divisor == 0,
                           .pulse = c->hold == ORR_CHANNEL_PULSE};
    run_pass(&p);
  }
}

/* ---- the frame --------------------------------------------------------------------------------------------------- */

void orr_faults_begin_frame(struct orr_faults *s) {
  begin_and_end(s, orr_plant_time_ns(s->plant));
  pass_numbers(s, false);
}

/* Commands are levels that stand until others come: as they were told, not as a fault made them. */
void orr_faults_before_latch(struct orr_faults *s) {
  const struct orr_plant *p = s->plant;
  for (size_t i = 0; s->commands && i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &s->run->faults[i];
    if (!is_command(s->plant, f) || p->table.channels[f->channel].hold == ORR_CHANNEL_PULSE)
      continue;
    memcpy(p->values + f->first, s->words + s->told_at + (f->first - p->table.output_values), 8 * (size_t)f->count);
  }
}

void orr_faults_after_latch(struct orr_faults *s) {
  const struct orr_plant *p = s->plant;
  if (!s->commands)
    return;
  memcpy(s->words + s->told_at, p->values + p->table.output_values,
         8 * (size_t)(p->table.value_count - p->table.output_values));
  pass_numbers(s, true);
}

/* Drawn for each frame, so that every mode loses the same. The first one of the file that does something has it. */
const struct orr_run_fault *orr_faults_of_link(const struct orr_faults *s, int link, bool telemetry) {
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &s->run->faults[i];
    bool this_way = f->both_ways || f->of_telemetry == telemetry;
    if (f->target == ORR_FAULT_LINK && f->link == link && this_way && acts(s, i) &&
        orr_noise_uniform(f->key, (uint64_t)orr_plant_frame(s->plant), 0) < f->chance)
      return f;
  }
  return NULL;
}

void orr_faults_judge(struct orr_faults *s) {
  for (size_t i = 0; i < s->run->fault_count; i++) {
    const struct orr_run_fault *f = &s->run->faults[i];
    if (!f->when)
      continue;
    int64_t *state = (int64_t *)&s->words[s->places[i].condition];
    bool holds = orr_condition_judge(f->when, state, s->plant->values, orr_plant_time_ns(s->plant));
    if (holds && head(s, i)[PHASE] == ORR_FAULT_WAITS)
      head(s, i)[PHASE] = ORR_FAULT_DUE;
  }
}
