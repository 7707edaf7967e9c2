#include "io/links/rules.h"

#include <string.h>

void orr_rules_init(struct orr_rules *rules, const struct orr_layout *layout, int divisor, double *numbers) {
  int n = layout->commands.numbers;
  *rules = (struct orr_rules){.layout = layout,
                              .divisor = divisor,
                              .first = -1,
                              .published = -1,
                              .applied = -1,
                              .next = {-1, numbers},
                              .due = {-1, numbers + n},
                              .scratch = numbers + 2 * n};
}

void orr_rules_refuse(struct orr_rules *rules, enum orr_refusal refusal) { rules->counts.refused[refusal]++; }

static uint64_t *answered_word(struct orr_rules *rules, int64_t frame, uint64_t *bit) {
  uint64_t at = (uint64_t)(frame / rules->divisor) % ORR_ANSWER_WINDOW;
  *bit = UINT64_C(1) << at % 64;
  return &rules->answered[at / 64];
}

/* One that is taken is the first to its frame. One that is stale may not be: beyond the window nobody remembers. */
static void note_answer(struct orr_rules *rules, int64_t frame, bool taken) {
  uint64_t bit, *word = answered_word(rules, frame, &bit);
  bool remembered = (rules->published - frame) / rules->divisor < ORR_ANSWER_WINDOW;
  rules->counts.answered += taken || (remembered && !(*word & bit));
  if (remembered)
    *word |= bit;
}

void orr_rules_publish(struct orr_rules *rules, int64_t frame) {
  uint64_t bit, *word = answered_word(rules, frame, &bit);
  *word &= ~bit;
  rules->first = rules->first < 0 ? frame : rules->first;
  rules->published = frame;
  rules->counts.published++;
  if (rules->next.answers < 0)
    return;
  if (rules->due.answers >= 0)
    orr_rules_refuse(rules, ORR_REFUSAL_STALE);
  struct orr_waiting moved = rules->due;
  rules->due = rules->next;
  rules->next = (struct orr_waiting){-1, moved.numbers};
}

static enum orr_refusal judge(struct orr_rules *rules, uint64_t answers, const uint64_t *payload) {
  if (rules->published < 0 || answers > (uint64_t)rules->published || answers < (uint64_t)rules->first ||
      ((uint64_t)rules->published - answers) % (uint64_t)rules->divisor)
    return ORR_REFUSAL_MALFORMED;
  int64_t frame = (int64_t)answers;
  if (frame == rules->applied || frame == rules->next.answers || frame == rules->due.answers)
    return ORR_REFUSAL_DUPLICATE;
  if (frame < rules->applied || (frame != rules->published && frame < rules->due.answers))
    return ORR_REFUSAL_STALE;
  return orr_layout_unpack(&rules->layout->commands, payload, rules->scratch);
}

enum orr_refusal orr_rules_offer(struct orr_rules *rules, uint64_t answers, const uint64_t *payload) {
  enum orr_refusal refusal = judge(rules, answers, payload);
  if (refusal == ORR_REFUSAL_NONE || refusal == ORR_REFUSAL_STALE)
    note_answer(rules, (int64_t)answers, refusal == ORR_REFUSAL_NONE);
  if (refusal != ORR_REFUSAL_NONE) {
    orr_rules_refuse(rules, refusal);
    return refusal;
  }
  bool now = (int64_t)answers < rules->published || rules->asap;
  struct orr_waiting *to = now ? &rules->due : &rules->next;
  if (to->answers >= 0)
    orr_rules_refuse(rules, ORR_REFUSAL_STALE); /* the one it overtakes */
  double *numbers = to->numbers;
  *to = (struct orr_waiting){(int64_t)answers, rules->scratch};
  rules->scratch = numbers;
  return ORR_REFUSAL_NONE;
}

bool orr_rules_ready(const struct orr_rules *rules) { return rules->due.answers == rules->published - rules->divisor; }

/* Levels too, under `zero`; as near to zero as the channel's range allows. */
static void fall_silent(const struct orr_rules *rules, double *values) {
  const struct orr_layout_side *side = &rules->layout->commands;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    double rest = c->low > 0 ? c->low : c->high < 0 ? c->high : 0;
    if (c->hold == ORR_CHANNEL_PULSE)
      memset(values + c->offset, 0, sizeof(double) * (size_t)c->count);
    else if (rules->policy == ORR_SILENCE_ZERO)
      for (int k = 0; k < c->count; k++)
        values[c->offset + k] = rest;
  }
}

/* `in_time`: the oldest frame whose answer is not late at `frame`. */
static enum orr_latch apply_due(struct orr_rules *rules, int64_t frame, int64_t in_time, double *values) {
  rules->late = rules->due.answers < in_time;
  rules->applied = rules->due.answers;
  rules->due.answers = -1;
  rules->silent = 0;
  rules->counts.applied++;
  if (rules->late)
    rules->late_ones[rules->counts.late++ % ORR_LATE_KEPT] = (struct orr_late){rules->applied, frame};
  orr_layout_apply(&rules->layout->commands, rules->due.numbers, values);
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
  if (rules->silence_frames == 0 || rules->silent == rules->silence_frames || ++rules->silent < rules->silence_frames)
    return ORR_LATCH_NOTHING;
  rules->counts.timeouts++;
  fall_silent(rules, values);
  return rules->policy == ORR_SILENCE_STOP ? ORR_LATCH_STOP : ORR_LATCH_NOTHING;
}

struct orr_answers orr_rules_answers(const struct orr_rules *rules) {
  const struct orr_link_counts *c = &rules->counts;
  uint64_t waiting = (uint64_t)(rules->next.answers >= 0) + (uint64_t)(rules->due.answers >= 0);
  return (struct orr_answers){.on_time = c->applied - c->late,
                              .late = c->late,
                              .superseded = c->answered - c->applied - waiting,
                              .waiting = waiting,
                              .unanswered = c->published - c->answered};
}
