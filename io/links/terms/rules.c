#include "io/links/terms/rules.h"

#include <stdatomic.h>
#include <string.h>

void orr_rules_init(struct orr_rules *rules, const struct orr_layout *layout, int divisor, uint64_t *places) {
  size_t n = orr_wire_words(layout->commands.bytes);
  *rules = (struct orr_rules){.layout = layout,
                              .divisor = divisor,
                              .first = -1,
                              .published = -1,
                              .applied = -1,
                              .next = {-1, places, 0},
                              .due = {-1, places + n, 0},
                              .held = {-1, places + 2 * n, 0},
                              .room = places + 3 * n,
                              .end_answers = ORR_WIRE_NONE};
}

void orr_rules_resume(struct orr_rules *rules, int64_t frame) {
  *rules = (struct orr_rules){.layout = rules->layout,
                              .divisor = rules->divisor,
                              .silence_frames = rules->silence_frames,
                              .pulse_frames = rules->pulse_frames,
                              .policy = rules->policy,
                              .asap = rules->asap,
                              .first = frame,
                              .published = frame,
                              .applied = -1,
                              .next = {-1, rules->next.payload, 0},
                              .due = {-1, rules->due.payload, 0},
                              .held = {-1, rules->held.payload, 0},
                              .room = rules->room,
                              .end_answers = ORR_WIRE_NONE,
                              .counts.published = frame >= 0};
}

void orr_rules_refuse(struct orr_rules *rules, enum orr_refusal refusal) { rules->counts.refused[refusal]++; }

/* One that is taken is the first to its frame. One that is stale may not be: beyond the window nobody remembers. */
static void note_answer(struct orr_rules *rules, int64_t frame, bool taken) {
  uint64_t divisor = (uint64_t)rules->divisor, number = (uint64_t)frame;
  bool remembered = orr_window_reaches(divisor, (uint64_t)rules->published, number);
  rules->counts.answered += taken || (remembered && !orr_window_has(&rules->answered, divisor, number));
  if (remembered)
    orr_window_add(&rules->answered, divisor, number);
}

void orr_rules_publish(struct orr_rules *rules, int64_t frame) {
  orr_window_remove(&rules->answered, (uint64_t)rules->divisor, (uint64_t)frame);
  if (rules->kept_back)
    orr_window_remove(&rules->kept, (uint64_t)rules->divisor, (uint64_t)frame);
  rules->first = rules->first < 0 ? frame : rules->first;
  rules->published = frame;
  rules->counts.published++;
  if (rules->next.answers < 0)
    return;
  if (rules->due.answers >= 0)
    orr_rules_refuse(rules, ORR_REFUSAL_STALE);
  struct orr_waiting moved = rules->due;
  rules->due = rules->next;
  rules->next = (struct orr_waiting){-1, moved.payload, 0};
}

void orr_rules_keep_back(struct orr_rules *rules) {
  uint64_t divisor = (uint64_t)rules->divisor, frame = (uint64_t)rules->published;
  if (rules->kept_back++ == 0)
    rules->kept = (struct orr_window){0};
  orr_window_add(&rules->kept, divisor, frame);
}

/* Of frames beyond the window nobody remembers whether they went out. */
static bool went_out(const struct orr_rules *rules, uint64_t frame) {
  uint64_t divisor = (uint64_t)rules->divisor;
  return orr_window_reaches(divisor, (uint64_t)rules->published, frame) &&
         !orr_window_has(&rules->kept, divisor, frame);
}

static enum orr_refusal judge(const struct orr_rules *rules, uint64_t answers) {
  if (rules->published < 0 || answers > (uint64_t)rules->published || answers < (uint64_t)rules->first ||
      ((uint64_t)rules->published - answers) % (uint64_t)rules->divisor)
    return ORR_REFUSAL_MALFORMED;
  if (rules->kept_back && !went_out(rules, answers))
    return ORR_REFUSAL_MALFORMED;
  int64_t frame = (int64_t)answers;
  if (frame == rules->applied || frame == rules->next.answers || frame == rules->due.answers ||
      frame == rules->held.answers)
    return ORR_REFUSAL_DUPLICATE;
  if (frame < rules->applied || (frame != rules->published && frame < rules->due.answers))
    return ORR_REFUSAL_STALE;
  return orr_layout_judge(&rules->layout->commands, rules->room);
}

void orr_rules_end(struct orr_rules *rules, uint64_t answers) {
  rules->end_answers = answers < rules->end_answers ? answers : rules->end_answers;
}

enum orr_refusal orr_rules_offer(struct orr_rules *rules, uint64_t answers) {
  enum orr_refusal refusal = judge(rules, answers);
  if (refusal == ORR_REFUSAL_NONE || refusal == ORR_REFUSAL_STALE)
    note_answer(rules, (int64_t)answers, refusal == ORR_REFUSAL_NONE);
  if (refusal != ORR_REFUSAL_NONE) {
    orr_rules_refuse(rules, refusal);
    if ((refusal == ORR_REFUSAL_NOT_FINITE || refusal == ORR_REFUSAL_OUT_OF_RANGE) &&
        !rules->first_refused.number.channel) {
      rules->first_refused =
          (struct orr_first){orr_layout_refused(&rules->layout->commands, rules->room), (int64_t)answers};
      atomic_store_explicit(&rules->refused_is_known, true, memory_order_release);
    }
    return refusal;
  }
  bool now = (int64_t)answers < rules->published || rules->asap;
  struct orr_waiting *to = now ? &rules->due : &rules->next;
  if (to->answers >= 0)
    orr_rules_refuse(rules, ORR_REFUSAL_STALE); /* the one it overtakes */
  uint64_t *overtaken = to->payload;
  *to = (struct orr_waiting){(int64_t)answers, rules->room, rules->arrived_ns};
  rules->room = overtaken;
  return ORR_REFUSAL_NONE;
}

bool orr_rules_end_is_due(const struct orr_rules *rules) {
  bool answers_one = rules->published >= 0 && rules->end_answers <= (uint64_t)rules->published;
  return !answers_one || rules->end_answers + (uint64_t)rules->divisor <= (uint64_t)rules->published;
}

bool orr_rules_ready(const struct orr_rules *rules) { return rules->due.answers == rules->published - rules->divisor; }

bool orr_rules_answered(const struct orr_rules *rules) {
  int64_t newest = rules->published;
  return newest < 0 || rules->next.answers == newest || rules->due.answers == newest || rules->applied == newest;
}

/* Something of a pulse goes on after its frame, as an on-time does. A flag only begins something. */
static bool lasts(const struct orr_channel *c) { return c->hold == ORR_CHANNEL_PULSE && c->type != ORR_CHANNEL_FLAG; }

bool orr_rules_have_pulses(const struct orr_rules *rules) {
  const struct orr_layout_side *side = &rules->layout->commands;
  for (int i = 0; i < side->count; i++)
    if (lasts(side->entries[i].channel))
      return true;
  return false;
}

/* Commands have stopped: valves close. */
static void end_pulses(struct orr_rules *rules, double *values) {
  const struct orr_layout_side *side = &rules->layout->commands;
  rules->pulsing = false;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    for (int k = 0; k < c->count && lasts(c); k++)
      values[c->offset + k] = ORR_CHANNEL_PULSE_ENDS;
  }
}

void orr_rules_note(struct orr_rules *rules, bool applied, const double *values) {
  const struct orr_layout_side *side = &rules->layout->commands;
  rules->pulsing = rules->pulsing || applied;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    if (lasts(c) && values[c->offset] == ORR_CHANNEL_PULSE_ENDS)
      rules->pulsing = false;
  }
}

/* Pulses end; levels are zero under `zero`, or as near to it as the channel's range allows. */
static void fall_silent(struct orr_rules *rules, double *values) {
  const struct orr_layout_side *side = &rules->layout->commands;
  end_pulses(rules, values);
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    double rest = c->low > 0 ? c->low : c->high < 0 ? c->high : 0;
    for (int k = 0; k < c->count && c->hold == ORR_CHANNEL_LEVEL && rules->policy == ORR_SILENCE_ZERO; k++)
      values[c->offset + k] = rest;
  }
}

/* `in_time`: the oldest frame whose answer is not late at `frame`. */
static enum orr_latch apply_due(struct orr_rules *rules, int64_t frame, int64_t in_time, double *values) {
  rules->late = rules->due.answers < in_time;
  rules->applied = rules->due.answers;
  rules->applied_arrived_ns = rules->due.arrived_ns;
  rules->due.answers = -1;
  rules->silent = 0;
  rules->pulsing = true;
  rules->counts.applied++;
  if (rules->late)
    rules->late_ones[rules->counts.late++ % ORR_LATE_KEPT] = (struct orr_late){rules->applied, frame};
  struct orr_layout_number over = orr_layout_unpack(&rules->layout->commands, rules->due.payload, values);
  if (over.channel && rules->overruled++ == 0)
    rules->first_overruled = (struct orr_first){over, frame};
  return ORR_LATCH_APPLIED;
}

enum orr_latch orr_rules_latch_between(struct orr_rules *rules, int64_t frame, double *values) {
  if (rules->due.answers < 0)
    return ORR_LATCH_NOTHING;
  rules->early = true;
  return apply_due(rules, frame, rules->published, values);
}

enum orr_latch orr_rules_latch(struct orr_rules *rules, double *values) {
  bool early = rules->early;
  rules->early = rules->due.answers == rules->published; /* to the frame that has just gone out */
  if (rules->due.answers >= 0)
    return apply_due(rules, rules->published, rules->published - rules->divisor, values);
  if (early)
    return ORR_LATCH_EARLY;
  rules->counts.missed++;
  int most = rules->silence_frames > 0 ? rules->silence_frames : rules->pulse_frames;
  bool stopped = rules->silent < most && ++rules->silent == most;
  if (rules->pulsing && (stopped || rules->gone))
    end_pulses(rules, values);
  if (!stopped || rules->silence_frames == 0)
    return ORR_LATCH_NOTHING;
  rules->counts.timeouts++;
  fall_silent(rules, values);
  return rules->policy == ORR_SILENCE_STOP ? ORR_LATCH_STOP : ORR_LATCH_NOTHING;
}

/* What comes at this boundary does not come through. */
static void lose(struct orr_rules *rules, struct orr_waiting *w, bool damaged) {
  if (w->answers < 0)
    return;
  w->answers = -1;
  rules->lost_by_fault++;
  if (damaged)
    orr_rules_refuse(rules, ORR_REFUSAL_MALFORMED);
}

static void swap(struct orr_waiting *a, struct orr_waiting *b) {
  struct orr_waiting was = *a;
  *a = *b;
  *b = was;
}

/* Behind what is due, which is newer. */
static void let_held_come(struct orr_rules *rules) {
  if (rules->held.answers < 0)
    return;
  if (rules->due.answers < 0) {
    swap(&rules->due, &rules->held);
    return;
  }
  rules->held.answers = -1;
  orr_rules_refuse(rules, ORR_REFUSAL_STALE);
}

static void copy_due(struct orr_rules *rules) {
  if (rules->due.answers < 0)
    return;
  memcpy(rules->room, rules->due.payload, 8 * orr_wire_words(rules->layout->commands.bytes));
  orr_rules_offer(rules, (uint64_t)rules->due.answers);
}

void orr_rules_trouble(struct orr_rules *rules, enum orr_link_trouble trouble) {
  if (trouble == ORR_LINK_REORDERS && rules->held.answers < 0) {
    swap(&rules->due, &rules->held);
    return;
  }
  bool silent = trouble == ORR_LINK_LOSES || trouble == ORR_LINK_STUCK || trouble == ORR_LINK_UNPLUGGED;
  bool damages = !silent && trouble != ORR_LINK_WORKS && trouble != ORR_LINK_REORDERS && trouble != ORR_LINK_COPIES;
  if (silent || damages) {
    lose(rules, &rules->due, damages);
    lose(rules, &rules->held, damages);
  }
  let_held_come(rules);
  if (trouble == ORR_LINK_COPIES)
    copy_due(rules);
}

int64_t orr_rules_held(const struct orr_rules *rules, const uint64_t **payload) {
  *payload = rules->held.payload;
  return rules->held.answers;
}

bool orr_rules_hold(struct orr_rules *rules, int64_t answers) {
  if (answers < 0 || answers >= rules->published || (rules->published - answers) % rules->divisor ||
      orr_layout_judge(&rules->layout->commands, rules->room) != ORR_REFUSAL_NONE)
    return false;
  uint64_t *free_place = rules->held.payload;
  rules->held = (struct orr_waiting){answers, rules->room, 0};
  rules->room = free_place;
  rules->counts.published++;
  rules->counts.answered++;
  return true;
}

struct orr_answers orr_rules_answers(const struct orr_rules *rules) {
  const struct orr_link_counts *c = &rules->counts;
  uint64_t waiting =
      (uint64_t)(rules->next.answers >= 0) + (uint64_t)(rules->due.answers >= 0) + (uint64_t)(rules->held.answers >= 0);
  return (struct orr_answers){.on_time = c->applied - c->late,
                              .late = c->late,
                              .superseded = c->answered - c->applied - waiting - rules->lost_by_fault,
                              .waiting = waiting,
                              .lost_by_fault = rules->lost_by_fault,
                              .kept_back = rules->kept_back,
                              .unanswered = c->published - c->answered - rules->kept_back};
}
