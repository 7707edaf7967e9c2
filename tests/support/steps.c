#include "tests/support/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool orr_steps_next(struct orr_steps *steps, struct orr_step *step) {
  if (steps->left < 2)
    return false;
  size_t behind = steps->left - 2;
  *step = (struct orr_step){steps->data[0], steps->data + 2, steps->data[1] < behind ? steps->data[1] : behind};
  steps->data += 2 + step->size;
  steps->left = behind - step->size;
  return true;
}

unsigned orr_step_byte(const struct orr_step *step, size_t i) { return i < step->size ? step->bytes[i] : 0; }

void orr_must(bool good) {
  if (!good)
    abort();
}

static const struct orr_channel
    rate = {.name = "a.rate", .unit = "rad/s"},
    count = {.name = "a.count", .unit = "", .type = ORR_CHANNEL_WHOLE, .count = 1},
    lit = {.name = "a.on", .unit = "", .type = ORR_CHANNEL_FLAG, .count = 3},
    torque = {.name = "b.torque", .unit = "N m", .direction = ORR_CHANNEL_COMMAND, .low = -1, .high = 1},
    on_time = {.name = "b.time",
               .unit = "s",
               .direction = ORR_CHANNEL_COMMAND,
               .hold = ORR_CHANNEL_PULSE,
               .count = 1,
               .high = 2},
    mode = {.name = "c.mode",
            .unit = "",
            .type = ORR_CHANNEL_WHOLE,
            .direction = ORR_CHANNEL_COMMAND,
            .count = 1,
            .low = 1,
            .high = 9},
    on = {
        .name = "d.on", .unit = "", .type = ORR_CHANNEL_FLAG, .direction = ORR_CHANNEL_COMMAND, .count = 9, .high = 1};

void orr_link_rig_init(struct orr_link_rig *r, unsigned shape, int torques) {
  static const int telemetry[] = {0, 1, 2}, commands[] = {3, 4, 5, 6};
  *r = (struct orr_link_rig){.channels = {rate, count, lit, torque, on_time, mode, on}};
  r->channels[0].count = shape & 1 ? 30 : 3;
  r->channels[3].count = shape & 1 ? torques : 1;
  for (int i = 0; i < ORR_RIG_CHANNELS; i++) {
    r->channels[i].offset = r->table.value_count;
    r->table.value_count += r->channels[i].count;
  }
  r->table.channels = r->channels;
  r->table.count = ORR_RIG_CHANNELS;
  r->table.output_values = r->channels[3].offset;
  r->values[r->channels[5].offset] = mode.low;
  orr_must(orr_layout_size(3, 4) <= sizeof r->entries);
  orr_layout_init(&r->layout, r->entries, &r->table, telemetry, 3, commands, 4);
  orr_rules_init(&r->rules, &r->layout, ORR_RIG_DIVISOR, r->places);
  r->rules.silence_frames = 3;
  r->rules.policy = (enum orr_silence_policy)((shape >> 1 & 3) % 3);
  r->rules.asap = shape >> 3 & 1;
}

void orr_link_rig_publish(struct orr_link_rig *r, uint64_t head[ORR_WIRE_OUT_WORDS]) {
  head[ORR_WIRE_OUT_FRAME] = (uint64_t)r->frame;
  head[ORR_WIRE_OUT_TIME_NS] = (uint64_t)r->frame * 1000000;
  head[ORR_WIRE_OUT_ANSWERED] = (uint64_t)r->rules.applied;
  head[ORR_WIRE_OUT_FLAGS] = r->rules.late ? ORR_WIRE_OUT_LATE : 0;
  r->values[0] = (double)r->frame;
  r->values[r->channels[1].offset] = (double)r->frame;
  r->values[r->channels[2].offset] = 1;
  orr_must(!r->out);
  r->out = true;
  orr_rules_publish(&r->rules, r->frame);
  orr_layout_pack(&r->layout.telemetry, r->values, r->payload);
}

void orr_link_rig_latch(struct orr_link_rig *r) {
  bool ready = orr_rules_ready(&r->rules);
  if (!r->out && r->rules.asap && r->frame > 0)
    orr_rules_latch_between(&r->rules, r->rules.published + 1, r->values);
  else if (r->out && r->frame > 0)
    orr_must(orr_rules_latch(&r->rules, r->values) == ORR_LATCH_APPLIED || !ready);
  r->frame += r->out ? ORR_RIG_DIVISOR : 0;
  r->out = false;
  for (int i = 3; i < ORR_RIG_CHANNELS; i++) /* the rules alone say that a pulse ends, which is no value of its range */
    for (int k = 0; k < r->channels[i].count; k++) {
      double value = r->values[r->channels[i].offset + k];
      bool ends = r->channels[i].hold == ORR_CHANNEL_PULSE && value == ORR_CHANNEL_PULSE_ENDS;
      orr_must(ends || orr_channel_accepts(&r->channels[i], value));
    }
}

void orr_link_rig_account(const struct orr_link_rig *r, uint64_t offered) {
  const struct orr_link_counts *c = &r->rules.counts;
  struct orr_answers a = orr_rules_answers(&r->rules);
  orr_must(a.on_time <= c->published && a.late <= c->published && a.superseded <= c->published &&
           a.unanswered <= c->published);
  uint64_t known = c->applied + a.waiting;
  for (int i = 0; i < ORR_REFUSALS; i++) {
    known += c->refused[i];
    orr_must(orr_refusal_name((enum orr_refusal)i)[0] && orr_refusal_text((enum orr_refusal)i)[0]);
  }
  orr_must(known == offered || offered == 0);
}

void orr_client_visit(struct orr_client *c, double value) {
  static const char absent[] = "no such channel";
  const struct orr_signal none = orr_client_find(c, absent);
  bool there = false; /* who writes the directory may give a channel that name, too */
  for (uint32_t i = 0; i < c->header.channel_count; i++)
    there |= strcmp(orr_client_name(c, i), absent) == 0;
  orr_must(there || (none.count == 0 && isnan(orr_client_get(c, none, 0))));
  orr_must(!orr_client_channel(c, c->header.channel_count));
  for (uint32_t i = 0; i < c->header.channel_count; i++) {
    struct orr_signal s = orr_client_find(c, orr_client_name(c, i));
    orr_must(strlen(orr_client_unit(c, i)) < c->header.names_bytes);
    (void)orr_client_get(c, s, s.count - 1);
    orr_must(orr_client_set(c, s, 0, value) == (s.count > 0 && s.direction == ORR_WIRE_COMMAND));
    orr_must(!orr_client_set(c, s, s.count, value));
    orr_client_set(c, s, s.count - 1, value);
  }
}
