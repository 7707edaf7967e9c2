#include "io/links/carriers/linked.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct orr_linked *linked(struct orr_carrier *c) { return (struct orr_linked *)c; }

static const struct orr_linked *const_linked(const struct orr_carrier *c) { return (const struct orr_linked *)c; }

void orr_linked_answer_by(struct orr_carrier *c, orr_answer_fn *answer) {
  assert(c->kind == &orr_carrier_linked);
  linked(c)->answer = answer;
}

static void lay_out(struct orr_carrier *c, const struct orr_run_link *desc, const struct orr_channel_table *table,
                    struct orr_block *block) {
  int in = orr_run_payload(table, desc->telemetry, desc->telemetry_count).numbers;
  int out = orr_run_payload(table, desc->commands, desc->command_count).numbers;
  double *telemetry = ORR_TAKE(block, double, in), *newest = ORR_TAKE(block, double, out);
  double *before = ORR_TAKE(block, double, out), *memory = ORR_TAKE(block, double, ORR_ANSWER_MEMORY);
  int *place = ORR_TAKE(block, int, desc->command_count);
  if (!c)
    return;
  for (int i = 0, at = 0; i < desc->command_count; at += table->channels[desc->commands[i++]].count)
    for (int k = 0; k < c->layout->commands.count; k++)
      if (c->layout->commands.entries[k].channel == &table->channels[desc->commands[i]])
        place[k] = at;
  *linked(c) = (struct orr_linked){.base = *c,
                                   .table = table,
                                   .command_numbers = out,
                                   .place = place,
                                   .telemetry = telemetry,
                                   .newest = newest,
                                   .before = before,
                                   .memory = memory};
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* A number as a payload has it. What has no place there becomes one that the rules refuse: they judge. */
static void put_number(unsigned char *to, enum orr_channel_type type, double number) {
  int64_t whole;
  switch (type) {
  case ORR_CHANNEL_REAL:
    memcpy(to, &number, 8);
    return;
  case ORR_CHANNEL_WHOLE:
    whole = number == floor(number) && fabs(number) < 0x1p62 ? (int64_t)number : INT64_MAX;
    memcpy(to, &whole, 8);
    return;
  default:
    *to = number == 0 ? 0 : number == 1 ? 1 : 255;
  }
}

/* The controller has its numbers in the order of the link's channels, a payload in that of the layout. */
static void offer(const struct orr_linked *l, struct orr_rules *rules, uint64_t frame) {
  const struct orr_layout_side *side = &l->base.layout->commands;
  unsigned char *payload = (unsigned char *)rules->room;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    const double *numbers = l->newest + l->place[i];
    for (int k = 0; k < c->count; k++)
      put_number(payload + side->entries[i].at + orr_wire_number_bytes(c->type) * (uint32_t)k, c->type, numbers[k]);
  }
  orr_rules_offer(rules, frame);
}

static void publish(struct orr_carrier *c, struct orr_rules *rules, const uint64_t head[ORR_WIRE_OUT_WORDS],
                    const double *values) {
  struct orr_linked *l = linked(c);
  double *to = l->telemetry;
  if (!l->answer)
    return;
  for (int i = 0; i < c->desc->telemetry_count; i++) {
    const struct orr_channel *channel = &l->table->channels[c->desc->telemetry[i]];
    memcpy(to, values + channel->offset, sizeof(double) * (size_t)channel->count);
    to += channel->count;
  }
  memcpy(l->before, l->newest, sizeof(double) * (size_t)l->command_numbers);
  const struct orr_answer answer = {.link = c->desc,
                                    .table = l->table,
                                    .time_ns = (int64_t)head[ORR_WIRE_OUT_TIME_NS],
                                    .telemetry = l->telemetry,
                                    .commands = l->newest,
                                    .memory = l->memory};
  l->answer(&answer);
  offer(l, rules, head[ORR_WIRE_OUT_FRAME]);
}

/* It was offered when the frame went out. */
static bool take(struct orr_carrier *c, struct orr_rules *rules) {
  (void)c;
  (void)rules;
  return false;
}

/* ---- saved states ------------------------------------------------------------------------------------------------ */

static size_t state_words(const struct orr_carrier *c) {
  return 2 * (size_t)const_linked(c)->command_numbers + ORR_ANSWER_MEMORY;
}

static void state_get(const struct orr_carrier *c, uint64_t *words) {
  const struct orr_linked *l = const_linked(c);
  size_t n = (size_t)l->command_numbers;
  memcpy(words, l->newest, 8 * n);
  memcpy(words + n, l->before, 8 * n);
  memcpy(words + 2 * n, l->memory, 8 * ORR_ANSWER_MEMORY);
}

static void state_put(struct orr_carrier *c, struct orr_rules *rules, const uint64_t *words) {
  struct orr_linked *l = linked(c);
  size_t n = (size_t)l->command_numbers;
  memcpy(l->newest, words, 8 * n);
  memcpy(l->before, words + n, 8 * n);
  memcpy(l->memory, words + 2 * n, 8 * ORR_ANSWER_MEMORY);
  if (rules->published >= 0 && rules->kept_back == 0) /* it answered that frame */
    offer(l, rules, (uint64_t)rules->published);
}

/* ---- the rest: there is nobody outside --------------------------------------------------------------------------- */

static int open_nothing(struct orr_carrier *c, int64_t step_ns) {
  (void)c;
  (void)step_ns;
  return 0;
}

static void close_nothing(struct orr_carrier *c) { (void)c; }

static void admit(struct orr_carrier *c) { (void)c; }

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  snprintf(text, size, "linked:%s", desc->stand_in_name ? desc->stand_in_name : "");
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  (void)desc;
  snprintf(text, size, "%s", strerror(error));
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  (void)h;
  snprintf(text, size, "A controller inside the program%s%s: nothing outside takes part.\n",
           desc->stand_in_name ? ", " : "", desc->stand_in_name ? desc->stand_in_name : "");
}

static uint64_t beats(const struct orr_carrier *c) {
  (void)c;
  return 0;
}

static void wait_for_nothing(struct orr_carrier *c, int64_t most_ns) {
  (void)c;
  (void)most_ns;
}

static bool lives(const struct orr_carrier *c) { return const_linked(c)->answer != NULL; }

static enum orr_peer_process process(const struct orr_carrier *c) {
  return const_linked(c)->answer ? ORR_PROCESS_THERE : ORR_PROCESS_NOBODY;
}

static bool left(const struct orr_carrier *c) {
  (void)c;
  return false;
}

static bool dead(const struct orr_carrier *c) {
  (void)c;
  return false;
}

static void refused(const struct orr_carrier *c, uint64_t counts[ORR_REFUSALS]) {
  (void)c;
  (void)counts;
}

static struct orr_link_losses losses(const struct orr_carrier *c) {
  (void)c;
  return (struct orr_link_losses){0};
}

const struct orr_carrier_kind orr_carrier_linked = {
    .name = "linked",
    .flies = true,
    .bytes = sizeof(struct orr_linked),
    .lay_out = lay_out,
    .open = open_nothing,
    .close = close_nothing,
    .admit = admit,
    .describe = describe,
    .explain = explain,
    .document = document,
    .publish = publish,
    .take = take,
    .beats = beats,
    .wait = wait_for_nothing,
    .lives = lives,
    .left = left,
    .process = process,
    .dead = dead,
    .refused = refused,
    .losses = losses,
    .state_words = state_words,
    .state_get = state_get,
    .state_put = state_put,
};
