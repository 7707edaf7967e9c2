/* The form `layout`: packets that somebody else defined, one telegram each (io/links/forms/telegram.h). It has no echo.
 *
 * What flight software commands is kept here as one payload: a telegram changes the numbers that it has, and the others
 * stay. A telegram that answers hands the whole payload over; one that does not is kept. A request is answered with the
 * newest frame. In lockstep it is the frame that flight software answers next (by a request that answers one itself,
 * the frame behind that), and where it has answered all that went out the request waits for one more: so what it gets
 * does not depend on who was faster. A request that comes before any frame waits, too.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/forms/form.h"
#include "io/links/forms/telegram.h"

struct state {
  struct orr_form_state base;
  struct orr_telegrams telegrams;
  void *block;
  uint64_t *slots[2];               /* the newest frames, head and payload: frame i of all in [i mod 2] */
  uint64_t frames;                  /* so far */
  uint64_t *held;                   /* the commands so far, */
  uint64_t *next;                   /* and with what was read last */
  int read;                         /* the telegram that was read last, until it is known whether it is the peer's */
  bool waits_for_more;              /* the telegram before it answers nothing: what it said is not handed over yet */
  bool good;                        /* its numbers are values of their channels */
  bool waits[ORR_TELEGRAMS_MAX];    /* telemetry that was asked for, and goes out with the next frame */
  uint64_t sent[ORR_TELEGRAMS_MAX]; /* of each kind */
  struct orr_telegram_clipped clipped;
  _Atomic uint64_t clipped_count; /* for other threads; the rest of `clipped` stands once this is not 0 */
};

static struct state *of(struct orr_form_state *state) { return (struct state *)state; }

static bool lay_out(struct state *s, const struct orr_run_link *desc, const struct orr_layout *layout) {
  struct orr_block measured = {0};
  orr_telegrams_init(&s->telegrams, desc->layout, layout, &measured);
  s->block = aligned_alloc(ORR_ALIGNMENT, measured.used);
  size_t out = ORR_WIRE_OUT_WORDS + orr_wire_words(layout->telemetry.bytes),
         in = orr_wire_words(layout->commands.bytes) + 1;
  s->slots[0] = calloc(2 * out + 2 * in, sizeof *s->slots[0]);
  if (!s->block || !s->slots[0])
    return false;
  s->slots[1] = s->slots[0] + out;
  struct orr_block block = {.base = s->block, .size = measured.used};
  orr_telegrams_init(&s->telegrams, desc->layout, layout, &block);
  s->held = s->slots[1] + out;
  s->next = s->held + in;
  orr_telegram_rest(&s->telegrams, s->held);
  return true;
}

static void unmake(struct orr_form_state *state) {
  free(of(state)->block);
  free(of(state)->slots[0]);
  free(state);
}

static int make(const struct orr_run_link *desc, const struct orr_layout *layout, struct orr_form_state **state) {
  struct state *s = calloc(1, sizeof *s);
  if (!s)
    return ENOMEM;
  s->base = (struct orr_form_state){.form = &orr_form_telegram,
                                    .desc = desc,
                                    .layout = layout,
                                    .out_cut = {layout->telemetry.bytes, (uint32_t)desc->layout->count},
                                    .in_cut = {layout->commands.bytes + 1, 1}};
  s->read = -1;
  if (!lay_out(s, desc, layout)) {
    unmake(&s->base);
    return ENOMEM;
  }
  *state = &s->base;
  return 0;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

static uint64_t number_of(const struct state *s, const uint64_t *slot) {
  const struct orr_run_link *desc = s->base.desc;
  return (slot[ORR_WIRE_OUT_FRAME] - (uint64_t)desc->phase) / (uint64_t)desc->divisor;
}

static size_t write_telegram(struct state *s, int which, const uint64_t *slot, uint8_t *packet) {
  const struct orr_telegram_moment m = {
      .number = number_of(s, slot), .sent = s->sent[which]++, .time_ns = (int64_t)slot[ORR_WIRE_OUT_TIME_NS]};
  size_t bytes = orr_telegram_write(&s->telegrams, which, &m, slot + ORR_WIRE_OUT_WORDS, packet, &s->clipped);
  atomic_store_explicit(&s->clipped_count, s->clipped.count, memory_order_release);
  return bytes;
}

static size_t write_packet(struct orr_form_state *state, const uint64_t *slot, uint32_t piece, uint8_t *packet) {
  struct state *s = of(state);
  const bool spoilt = slot[ORR_WIRE_OUT_FLAGS] & ORR_FORM_SPOILT;
  if (piece == 0 && !spoilt)
    memcpy(s->slots[s->frames++ % 2], slot, 8 * (ORR_WIRE_OUT_WORDS + orr_wire_words(state->layout->telemetry.bytes)));
  bool waits = s->waits[piece] && !spoilt;
  if (waits)
    s->waits[piece] = false;
  return waits || orr_telegram_is_due(s->telegrams.all[piece].desc, number_of(s, slot))
             ? write_telegram(s, (int)piece, slot, packet)
             : 0;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* The frame that a request gets; NULL: the next one. */
static const uint64_t *frame_for(const struct state *s, const struct orr_form_word *word) {
  if (s->frames == 0)
    return NULL;
  const uint64_t *newest = s->slots[(s->frames - 1) % 2], *before = s->slots[s->frames % 2];
  if (!(newest[ORR_WIRE_OUT_FLAGS] & ORR_WIRE_OUT_LOCKSTEP))
    return newest;
  if (s->telegrams.all[s->read].desc->answers) /* the one behind that, out or not, so that nobody gets one twice */
    return word->open && newest[ORR_WIRE_OUT_FRAME] != word->answered ? newest : NULL;
  return !word->open ? NULL : s->frames > 1 && before[ORR_WIRE_OUT_FRAME] == word->answered ? before : newest;
}

static enum orr_refusal read_packet(struct orr_form_state *state, const uint8_t *bytes, size_t count,
                                    struct orr_form_word *word, uint8_t *reply) {
  struct state *s = of(state);
  (void)reply;
  enum orr_telegram_verdict verdict = orr_telegram_judge(&s->telegrams, bytes, count, &s->read);
  if (verdict != ORR_TELEGRAM_GOOD) {
    s->read = -1;
    return verdict == ORR_TELEGRAM_OTHER ? ORR_REFUSAL_OTHER_ID : ORR_REFUSAL_MALFORMED;
  }
  const struct orr_layout_side *side = &state->layout->commands;
  const struct orr_run_telegram *t = s->telegrams.all[s->read].desc;
  memcpy(s->next, s->held, 8 * orr_wire_words(side->bytes));
  (s->waits_for_more ? orr_telegram_add : orr_telegram_read)(&s->telegrams, s->read, bytes, s->next);
  enum orr_refusal refusal = orr_layout_judge(side, s->next);
  s->good = refusal == ORR_REFUSAL_NONE;
  if (!t->answers && !s->good)
    return refusal;
  word->kept = !t->answers || s->frames == 0;
  word->function = ORR_WIRE_COMMANDS;
  word->piece = (const uint8_t *)s->next;
  word->piece_bytes = side->bytes;
  return ORR_REFUSAL_NONE;
}

/* What was read is the peer's: its commands are held, and what it asks for is answered. */
static size_t accept_packet(struct orr_form_state *state, const struct orr_form_word *word, uint8_t *reply) {
  struct state *s = of(state);
  int read = s->read;
  size_t bytes = 0;
  const uint64_t *slot = frame_for(s, word);
  for (int i = 0; i < s->telegrams.desc->count; i++) {
    if (s->telegrams.all[i].desc->request != read)
      continue;
    if (slot)
      bytes = write_telegram(s, i, slot, reply);
    else
      s->waits[i] = true;
  }
  if (s->good) {
    uint64_t *held = s->held;
    s->held = s->next;
    s->next = held;
  }
  s->waits_for_more = !s->telegrams.all[read].desc->answers;
  s->read = -1;
  return bytes;
}

static size_t find(struct orr_form_state *state, const uint8_t *bytes, size_t count, size_t *skip) {
  struct state *s = of(state);
  for (size_t at = 0; at < count; at++) {
    int which;
    enum orr_telegram_verdict verdict = orr_telegram_begins(&s->telegrams, bytes + at, count - at, &which);
    *skip = at;
    if (verdict == ORR_TELEGRAM_GOOD)
      return s->telegrams.all[which].desc->bytes;
    if (verdict == ORR_TELEGRAM_PART)
      return 0;
  }
  *skip = count;
  return 0;
}

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static struct orr_form_clipped clipped(const struct orr_form_state *state) {
  const struct state *s = (const struct state *)state;
  struct orr_form_clipped out = {.count = atomic_load_explicit(&s->clipped_count, memory_order_acquire)};
  if (out.count) {
    out.packet = s->clipped.telegram->name;
    out.channel = s->clipped.field->channel_name;
    out.element = s->clipped.field->element;
    out.value = s->clipped.value;
  }
  return out;
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, const char *unit, char *text,
                     size_t size) {
  (void)desc;
  (void)h;
  snprintf(
      text, size,
      "One packet of those below per %s, as the run file's `layout` has them. A packet of commands that answers "
      "counts for the newest frame that went out; numbers that it has not keep the values that came last (before "
      "the first: 0, or as near to it as their range allows), and pulses that neither it nor those kept since the last "
      "answer have are none. The run says "
      "nothing else: no description, no farewell, and nothing twice.\n",
      unit);
}

const struct orr_form orr_form_telegram = {
    .name = "layout",
    .echoes = false,
    .sums = true, /* or not, as somebody else decided: nothing is added */
    .make = make,
    .unmake = unmake,
    .read = read_packet,
    .accept = accept_packet,
    .write = write_packet,
    .find = find,
    .clipped = clipped,
    .document = document,
};
