/* The carrier `pcap`: commands come from a capture of a network, and telemetry goes nowhere. It is inside the program:
 * all is read when it is laid out, and what a datagram says is judged by the link's form, as if it came by UDP.
 *
 * When a command counts follows from simulated time alone, so a replay has the same bits in every mode. A datagram with
 * an echo says which frame it answers. One without answers the frame that was the newest at its time: its stamp, from
 * the first one of the capture on, which came at `begin`.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/carriers/carrier.h"

/* A command that was whole. */
struct command {
  int64_t at_ns;    /* simulated */
  uint64_t answers; /* with an echo */
  uint64_t *payload;
};

struct moment {
  uint64_t frame;
  int64_t ns;
};

struct replay {
  struct orr_carrier base;
  bool echoes;
  size_t words; /* of a payload */
  struct command *commands;
  size_t count, next;
  struct moment newest, before; /* frames out; ORR_WIRE_NONE: none */
  uint64_t refused[ORR_REFUSALS];
};

static struct replay *replay_of(struct orr_carrier *c) {
  assert(c->kind == &orr_carrier_pcap);
  return (struct replay *)c;
}
static const struct replay *const_replay(const struct orr_carrier *c) { return (const struct replay *)c; }

/* ---- what was captured ------------------------------------------------------------------------------------------- */

/* What is used while a capture is read. */
struct reading {
  struct replay *to;
  struct orr_form_state *form;
  struct orr_wire_gather gather;
  uint8_t *scratch; /* [ORR_WIRE_PACKET_MAX] */
};

static void take_datagram(struct reading *r, const struct orr_run_datagram *d) {
  struct replay *to = r->to;
  struct orr_form_word word = {0};
  const struct orr_form *form = r->form->form;
  enum orr_refusal why = form->read(r->form, d->bytes, d->count, &word, r->scratch);
  if (why != ORR_REFUSAL_NONE) {
    to->refused[why]++;
    return;
  }
  if (form->accept)
    form->accept(r->form, &word, r->scratch);
  if (word.asks || word.kept || word.function != ORR_WIRE_COMMANDS)
    return;
  struct command *c = &to->commands[to->count];
  int whole = orr_wire_gather_add(&r->gather, word.frame, word.index, word.piece, word.piece_bytes,
                                  (uint8_t *)c->payload, to->base.layout->commands.bytes, r->form->in_cut.piece);
  if (whole < 0)
    to->refused[ORR_REFUSAL_MALFORMED]++;
  if (whole <= 0)
    return;
  r->gather.key = UINT64_MAX;
  c->at_ns = to->base.desc->capture->begin_ns + d->at_ns;
  c->answers = word.answered;
  to->count++;
}

/* A form without an echo keeps what comes before a frame, and here each comes behind one. */
static void show_a_frame(const struct reading *r, uint64_t *slot) {
  slot[ORR_WIRE_OUT_FRAME] = (uint64_t)r->to->base.desc->phase;
  (void)r->form->form->write(r->form, slot, 0, r->scratch);
}

static bool read_all(struct replay *to) {
  const struct orr_run_capture *capture = to->base.desc->capture;
  struct reading r = {.to = to, .gather.key = UINT64_MAX, .scratch = malloc(ORR_WIRE_PACKET_MAX)};
  uint64_t *slot = calloc(ORR_WIRE_OUT_WORDS + orr_wire_words(to->base.layout->telemetry.bytes), sizeof *slot);
  bool good = r.scratch && slot && orr_form_of(to->base.desc)->make(to->base.desc, to->base.layout, &r.form) == 0;
  if (good && !to->echoes)
    show_a_frame(&r, slot);
  for (size_t i = 0; i < capture->count && good; i++)
    take_datagram(&r, &capture->datagrams[i]);
  if (good)
    r.form->form->unmake(r.form);
  free(slot);
  free(r.scratch);
  return good;
}

static void lay_out(struct orr_carrier *c, const struct orr_run_link *desc, const struct orr_channel_table *table,
                    struct orr_block *block) {
  size_t n = desc->capture->count,
         words = orr_wire_words(orr_run_payload(table, desc->commands, desc->command_count).bytes) + 1;
  struct command *commands = ORR_TAKE(block, struct command, n + 1);
  uint64_t *payloads = ORR_TAKE(block, uint64_t, (n + 1) * words);
  if (!c)
    return;
  *replay_of(c) = (struct replay){.base = *c,
                                  .echoes = orr_form_of(desc)->echoes,
                                  .words = words,
                                  .commands = commands,
                                  .newest.frame = ORR_WIRE_NONE,
                                  .before.frame = ORR_WIRE_NONE};
  for (size_t i = 0; i <= n; i++)
    commands[i].payload = payloads + i * words;
  if (!read_all(replay_of(c)))
    abort(); /* out of memory, as in the arena of the run file */
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void publish(struct orr_carrier *c, struct orr_rules *rules, const uint64_t head[ORR_WIRE_OUT_WORDS],
                    const double *values) {
  struct replay *r = replay_of(c);
  (void)rules;
  (void)values;
  r->before = r->newest;
  r->newest = (struct moment){head[ORR_WIRE_OUT_FRAME], (int64_t)head[ORR_WIRE_OUT_TIME_NS]};
}

/* Whether a command came before the newest frame went out, and which frame it answers; ORR_WIRE_NONE: there was none
 * yet. */
static bool is_due(const struct replay *r, const struct command *c, uint64_t *answers) {
  if (r->newest.frame == ORR_WIRE_NONE)
    return false;
  *answers = r->echoes ? c->answers : r->before.frame;
  return r->echoes ? c->answers < r->newest.frame || c->answers == ORR_WIRE_NONE : c->at_ns < r->newest.ns;
}

static bool take(struct orr_carrier *carrier, struct orr_rules *rules) {
  struct replay *r = replay_of(carrier);
  rules->counts.peers = r->next > 0;
  for (int i = 0; i < ORR_WIRE_SLOTS && r->next < r->count; i++) {
    const struct command *c = &r->commands[r->next];
    uint64_t answers;
    if (!is_due(r, c, &answers))
      break;
    r->next++;
    if (answers == ORR_WIRE_NONE)
      continue;
    memcpy(rules->room, c->payload, 8 * r->words - 8);
    orr_rules_offer(rules, answers);
  }
  return false;
}

/* ---- saved states ------------------------------------------------------------------------------------------------ */

enum { NEXT, NEWEST, NEWEST_NS, BEFORE, BEFORE_NS, WORDS };

static size_t state_words(const struct orr_carrier *c) {
  (void)c;
  return WORDS;
}

static void state_get(const struct orr_carrier *c, uint64_t *words) {
  const struct replay *r = const_replay(c);
  words[NEXT] = r->next;
  words[NEWEST] = r->newest.frame;
  words[NEWEST_NS] = (uint64_t)r->newest.ns;
  words[BEFORE] = r->before.frame;
  words[BEFORE_NS] = (uint64_t)r->before.ns;
}

static void state_put(struct orr_carrier *c, struct orr_rules *rules, const uint64_t *words) {
  struct replay *r = replay_of(c);
  (void)rules;
  r->next = words[NEXT] < r->count ? (size_t)words[NEXT] : r->count;
  r->newest = (struct moment){words[NEWEST], (int64_t)words[NEWEST_NS]};
  r->before = (struct moment){words[BEFORE], (int64_t)words[BEFORE_NS]};
}

/* ---- the rest: there is nobody outside --------------------------------------------------------------------------- */

static int open_nothing(struct orr_carrier *c, int64_t step_ns) {
  (void)c;
  (void)step_ns;
  return 0;
}

static void close_nothing(struct orr_carrier *c) { (void)c; }

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  snprintf(text, size, "pcap:%s", desc->capture_name);
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  (void)desc;
  snprintf(text, size, "%s", strerror(error));
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  (void)h;
  snprintf(text, size, "Commands come from the capture %s: nothing outside takes part.\n", desc->capture_name);
}

static uint64_t beats(const struct orr_carrier *c) { return const_replay(c)->next; }

static void wait_for_nothing(struct orr_carrier *c, int64_t most_ns) {
  (void)c;
  (void)most_ns;
}

static bool lives(const struct orr_carrier *c) {
  (void)c;
  return true;
}

static enum orr_peer_process process(const struct orr_carrier *c) {
  return const_replay(c)->next < const_replay(c)->count ? ORR_PROCESS_THERE : ORR_PROCESS_LEFT;
}

static bool never(const struct orr_carrier *c) {
  (void)c;
  return false;
}

static void refused(const struct orr_carrier *c, uint64_t counts[ORR_REFUSALS]) {
  for (int i = 0; i < ORR_REFUSALS; i++)
    counts[i] += const_replay(c)->refused[i];
}

static struct orr_link_losses losses(const struct orr_carrier *c) {
  (void)c;
  return (struct orr_link_losses){0};
}

const struct orr_carrier_kind orr_carrier_pcap = {
    .name = "pcap",
    .bytes = sizeof(struct replay),
    .lay_out = lay_out,
    .open = open_nothing,
    .close = close_nothing,
    .admit = close_nothing,
    .describe = describe,
    .explain = explain,
    .document = document,
    .publish = publish,
    .take = take,
    .beats = beats,
    .wait = wait_for_nothing,
    .lives = lives,
    .left = never,
    .process = process,
    .dead = never,
    .refused = refused,
    .losses = losses,
    .state_words = state_words,
    .state_get = state_get,
    .state_put = state_put,
};
