#include "io/links/port.h"

#include <stdio.h>
#include <string.h>

#include "rt/tick/clock.h"

/* How long a wait lasts at most before it is asked whether it shall end. The first is as long as the carrier wants;
 * those that follow grow, so that looking again costs little. */
enum { SLICE_NS = 20000000, SETTLE_NS = 100000000, LONG_NS = 1000000000 };

static void lay_out_payloads(struct orr_port *link, const struct orr_run_link *desc, void *entries,
                             const struct orr_channel_table *table) {
  struct orr_run_given given = orr_run_link_given(desc, link->carrier->kind->flies);
  orr_layout_init(&link->layout, entries, table, desc->telemetry, desc->telemetry_count, given.channels, given.count);
}

/* In every mode: by the link's timeout, and where it has none after more than a second. */
static int pulse_frames(const struct orr_port *link) {
  enum { SECOND_NS = 1000000000, LEAST = 2 };
  if (!orr_rules_have_pulses(&link->rules))
    return 0;
  if (link->desc->silence_frames > 0)
    return link->desc->silence_frames;
  int64_t frames = link->desc->period_ns > 0 ? SECOND_NS / link->desc->period_ns + 1 : 0;
  return frames > LEAST ? (int)frames : LEAST;
}

static void begin_rules(struct orr_port *link) {
  orr_rules_init(&link->rules, &link->layout, link->desc->divisor, link->places);
  link->rules.pulse_frames = pulse_frames(link);
}

void orr_port_init(struct orr_port *link, const struct orr_run_link *desc, const struct orr_carrier_kind *kind,
                   const struct orr_channel_table *table, struct orr_block *block) {
  void *entries = orr_block_take(block, orr_layout_size(desc->telemetry_count, desc->command_count));
  size_t bytes = orr_run_payload(table, desc->commands, desc->command_count).bytes;
  uint64_t *places = ORR_TAKE(block, uint64_t, ORR_RULES_PLACES * orr_wire_words(bytes) + 1);
  struct orr_carrier *carrier = orr_block_take(block, kind->bytes);
  if (block->base) {
    *link = (struct orr_port){.desc = desc, .places = places, .carrier = carrier, .beat_frame = -1};
    *carrier = (struct orr_carrier){.kind = kind, .desc = desc, .layout = &link->layout};
    lay_out_payloads(link, desc, entries, table);
    begin_rules(link);
  }
  kind->lay_out(carrier, desc, table, block);
}

static void listen_to(struct orr_port *link) {
  uint64_t beats = link->carrier->kind->beats(link->carrier);
  if (beats == link->beats)
    return;
  link->beats = beats;
  link->beat_frame = link->rules.published;
  link->mute = false;
}

static bool take(struct orr_port *link) {
  listen_to(link);
  bool end = link->carrier->kind->take(link->carrier, &link->rules);
  for (int i = 0; i < ORR_PORT_KEPT && link->arrival_count < link->rules.counts.peers; i++)
    link->arrivals[link->arrival_count++ % ORR_PORT_KEPT] = link->rules.published;
  link->arrival_count = link->rules.counts.peers;
  link->ended |= end;
  return link->ended && (!link->lockstep || orr_rules_end_is_due(&link->rules));
}

/* Boundaries that follow one another without a command are one silence. */
static void note_silence(struct orr_port *link, int64_t frame) {
  struct orr_silence *last = &link->silences[(link->silence_count - 1) % ORR_PORT_KEPT];
  if (link->silence_count && last->last == frame - link->desc->divisor)
    last->last = frame;
  else
    link->silences[link->silence_count++ % ORR_PORT_KEPT] = (struct orr_silence){frame, frame};
}

/* Whoever commands pulses is there no more, by what the carrier knows at once. */
static bool is_gone(const struct orr_port *link) {
  const struct orr_carrier_kind *kind = link->carrier->kind;
  return link->rules.pulse_frames > 0 && (kind->left(link->carrier) || kind->dead(link->carrier));
}

static bool peer_lives(const struct orr_port *link) { return link->carrier->kind->lives(link->carrier); }

static void heed_silence(struct orr_port *link) {
  link->rules.silence_frames = link->desc->silence_frames;
  link->rules.policy = (enum orr_silence_policy)link->desc->silence_policy;
}

void orr_port_expect_trouble(struct orr_port *link) {
  link->troubled = true;
  heed_silence(link);
}

bool orr_port_open(struct orr_port *link, int64_t step_ns, bool lockstep, char *message, size_t size) {
  const struct orr_carrier_kind *kind = link->carrier->kind;
  begin_rules(link);
  link->lockstep = lockstep;
  link->step_ns = step_ns;
  link->flags = (link->flags & ORR_WIRE_OUT_RESTORED) | (lockstep ? ORR_WIRE_OUT_LOCKSTEP : 0);
  link->ended = false;
  if (!lockstep || link->troubled) /* in lockstep the answer is waited for: without faults there is no silence */
    heed_silence(link);
  link->rules.asap = !lockstep && link->desc->asap;
  int error = kind->open(link->carrier, step_ns);
  link->open = error == 0;
  if (error) {
    char where[80], why[400];
    kind->describe(link->desc, where, sizeof where);
    kind->explain(link->desc, error, why, sizeof why);
    snprintf(message, size, "link '%s': %s: %s", link->desc->name, where, why);
  }
  return link->open;
}

void orr_port_admit(struct orr_port *link) {
  link->carrier->shut = false;
  if (link->open)
    link->carrier->kind->admit(link->carrier);
}

bool orr_port_join(struct orr_port *link, struct orr_relay *relay, char *message, size_t size) {
  const struct orr_carrier_kind *kind = link->carrier->kind;
  if (!kind->join || kind->join(link->carrier, relay))
    return true;
  snprintf(message, size, "link '%s': the io thread has no room for one more link like it", link->desc->name);
  return false;
}

void orr_port_close(struct orr_port *link) {
  if (link->open)
    link->carrier->kind->close(link->carrier);
  link->open = false;
}

bool orr_port_wait_for_peer(struct orr_port *link, int64_t begin_ns) {
  int64_t until_ns = begin_ns + link->desc->wait_ns;
  while (!peer_lives(link)) {
    int64_t left_ns = until_ns - orr_clock_now_ns();
    if (left_ns <= 0 || (link->interrupted && link->interrupted()))
      return false;
    orr_clock_sleep_until(orr_clock_now_ns() + (left_ns < SLICE_NS / 20 ? left_ns : SLICE_NS / 20));
  }
  return true;
}

/* Whether a fault keeps the frame from flight software, for which it is out all the same: nobody answers it. The one
 * after a frame that comes behind it goes before. */
static bool keep_back(struct orr_port *link) {
  if (link->out_trouble == ORR_LINK_REORDERS && link->overtaken)
    link->out_trouble = ORR_LINK_WORKS;
  link->overtaken = link->out_trouble == ORR_LINK_REORDERS;
  bool kept = link->out_trouble != ORR_LINK_WORKS && link->out_trouble != ORR_LINK_COPIES;
  link->kept_back = (link->kept_back << 1 | kept) & 3;
  link->carrier->newest_kept_back = kept;
  if (kept)
    orr_rules_keep_back(&link->rules);
  return kept;
}

/* Nobody asks again for a frame that was kept back: the run awaits the answer to this one, and to none before. */
static void publish_troubled(struct orr_port *link, uint64_t head[ORR_WIRE_OUT_WORDS], const double *values) {
  const struct orr_carrier_kind *kind = link->carrier->kind;
  bool kept = keep_back(link);
  if (link->lockstep && kind->repeat && link->kept_back & 2)
    head[ORR_WIRE_OUT_FLAGS] |= ORR_WIRE_OUT_AWAITED;
  if (!kept)
    kind->publish(link->carrier, &link->rules, head, values);
  link->carrier->fault = link->out_fault;
  if (kind->spoil)
    kind->spoil(link->carrier, head, values, link->out_trouble);
}

void orr_port_publish(struct orr_port *link, int64_t frame, int64_t time_ns, const double *values) {
  const struct orr_rules *r = &link->rules;
  if (!orr_run_link_due(link->desc, frame))
    return;
  bool silent = r->silence_frames > 0 && r->silent == r->silence_frames;
  uint64_t flags = link->flags | (silent ? ORR_WIRE_OUT_TIMED_OUT : 0) | (r->late ? ORR_WIRE_OUT_LATE : 0);
  uint64_t head[ORR_WIRE_OUT_WORDS] = {(uint64_t)frame, (uint64_t)time_ns, (uint64_t)r->applied, flags};
  /* what came before this frame may not pass for an answer to it */
  orr_rules_publish(&link->rules, frame);
  if (link->troubled)
    publish_troubled(link, head, values);
  else
    link->carrier->kind->publish(link->carrier, &link->rules, head, values);
}

/* Where a frame or its answer may be lost, a frame without an answer in a slice is sent again. */
static void wait_a_slice(struct orr_port *link, int64_t most_ns) {
  const struct orr_carrier_kind *kind = link->carrier->kind;
  int64_t begin_ns = orr_clock_now_ns();
  kind->wait(link->carrier, most_ns);
  if (kind->repeat && orr_clock_now_ns() - begin_ns >= most_ns)
    kind->repeat(link->carrier);
}

/* Where a peer begins that comes now. */
static void begin_peers_at(struct orr_port *link, uint32_t back) {
  if (link->carrier->kind->await)
    link->carrier->kind->await(link->carrier, back);
}

/* Until the answer to the frame before is there, or the peer says that it is over or that it leaves, or it has lasted
 * too long. */
static enum orr_port_end wait_for_answer(struct orr_port *link) {
  int64_t begin_ns = orr_clock_now_ns(), until_ns = begin_ns + link->desc->answer_ns;
  const struct orr_carrier_kind *kind = link->carrier->kind;
  int64_t slice_ns = kind->first_wait_ns;
  uint64_t beats = link->beats;
  if (!orr_rules_ready(&link->rules))
    begin_peers_at(link, link->kept_back & 1 ? 0 : 1); /* before the newest that went out */
  while (!orr_rules_ready(&link->rules)) {
    int64_t now_ns = orr_clock_now_ns(), left_ns = until_ns - now_ns;
    if (link->look)
      link->look(link, now_ns - begin_ns > LONG_NS);
    bool left = kind->left(link->carrier); /* what it sent came before */
    if (left && take(link))
      return ORR_PORT_PEER_ENDED;
    if (orr_rules_ready(&link->rules))
      break;
    if (left)
      return link->desc->answer_stop ? ORR_PORT_LEFT : ORR_PORT_GOES_ON;
    if (left_ns <= 0) {
      link->rules.counts.timeouts++;
      link->mute = link->beats == beats;
      return link->desc->answer_stop ? ORR_PORT_SILENT : ORR_PORT_GOES_ON;
    }
    if (link->interrupted && link->interrupted())
      return ORR_PORT_INTERRUPTED;
    wait_a_slice(link, left_ns < slice_ns ? left_ns : slice_ns);
    slice_ns = slice_ns < SLICE_NS * 4 / 5 ? slice_ns / 4 * 5 : SLICE_NS;
    if (take(link))
      return ORR_PORT_PEER_ENDED;
  }
  return ORR_PORT_GOES_ON;
}

/* A command was applied at `frame`: how long after the frame that it answers did it come? */
static void note_arrival(struct orr_port *link, int64_t frame) {
  const struct orr_rules *r = &link->rules;
  int64_t answered_ns = link->tick_ns - (frame - r->applied) * link->step_ns;
  if (link->tick_ns && r->applied_arrived_ns && !r->late)
    orr_histogram_add(&link->took, r->applied_arrived_ns - answered_ns);
}

enum orr_port_end orr_port_latch(struct orr_port *link, int64_t frame, double *values) {
  bool boundary = orr_run_link_due(link->desc, frame);
  if (!boundary && !link->rules.asap)
    return ORR_PORT_GOES_ON;
  bool gone = is_gone(link); /* what it sent came before */
  if (take(link))
    return ORR_PORT_PEER_ENDED;
  if (frame <= link->rules.first || link->rules.first < 0)
    return ORR_PORT_GOES_ON; /* nothing that went out has an answer that is due */
  if (!boundary) {
    if (link->troubled)
      orr_rules_trouble(&link->rules, link->trouble);
    if (orr_rules_latch_between(&link->rules, frame, values) == ORR_LATCH_APPLIED)
      note_arrival(link, frame);
    return ORR_PORT_GOES_ON;
  }
  if (link->look)
    link->look(link, false);
  bool waits = link->lockstep && !(link->kept_back & 2); /* nobody answers a frame that was kept back */
  enum orr_port_end end = waits ? wait_for_answer(link) : ORR_PORT_GOES_ON;
  if (end != ORR_PORT_GOES_ON)
    return end;
  if (link->lockstep && (!waits || orr_rules_ready(&link->rules)))
    begin_peers_at(link, 0);
  link->rules.gone = link->lockstep ? waits && is_gone(link) : gone; /* in lockstep it answers all that it is asked */
  if (link->troubled)
    orr_rules_trouble(&link->rules, link->trouble);
  enum orr_latch latch = orr_rules_latch(&link->rules, values);
  if (latch == ORR_LATCH_APPLIED)
    note_arrival(link, frame);
  if (latch == ORR_LATCH_APPLIED || latch == ORR_LATCH_EARLY)
    return ORR_PORT_GOES_ON;
  note_silence(link, frame);
  return latch == ORR_LATCH_STOP ? ORR_PORT_SILENT : ORR_PORT_GOES_ON;
}

void orr_port_settle(struct orr_port *link) {
  int64_t until_ns = orr_clock_now_ns() + SETTLE_NS;
  while (!take(link) && !(link->kept_back & 1) && !orr_rules_answered(&link->rules) && peer_lives(link) &&
         orr_clock_now_ns() < until_ns)
    orr_clock_sleep_until(orr_clock_now_ns() + SETTLE_NS / 100);
}

struct orr_link_counts orr_port_counts(const struct orr_port *link) {
  struct orr_link_counts counts = link->rules.counts;
  link->carrier->kind->refused(link->carrier, counts.refused);
  return counts;
}

struct orr_link_losses orr_port_losses(const struct orr_port *link) {
  return link->carrier->kind->losses(link->carrier);
}

enum orr_port_peer orr_port_peer(const struct orr_port *link) {
  enum { UNSAID = 10 };
  int64_t limit = link->desc->silence_frames > 0 ? link->desc->silence_frames : UNSAID;
  bool mute = link->mute || link->rules.published - link->beat_frame >= limit * link->desc->divisor;
  switch (link->open ? link->carrier->kind->process(link->carrier) : ORR_PROCESS_NOBODY) {
  case ORR_PROCESS_LEFT:
    return ORR_PEER_LEFT;
  case ORR_PROCESS_GONE:
    return ORR_PEER_DEAD;
  case ORR_PROCESS_THERE:
    return mute ? ORR_PEER_HANGS : ORR_PEER_LIVES;
  case ORR_PROCESS_UNSEEN:
    return mute ? ORR_PEER_MUTE : ORR_PEER_LIVES;
  default:
    return ORR_PEER_NONE;
  }
}

bool orr_port_dead(const struct orr_port *link) { return link->carrier->kind->dead(link->carrier); }

void orr_port_describe(const struct orr_port *link, char *text, size_t size) {
  link->carrier->kind->describe(link->desc, text, size);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

/* Behind the words of the carrier. With pulses or faults of the link: boundaries without a command, and whether pulses
 * can go on. With faults then which frames were kept back, the frame that a held command answers and its payload. */
enum { SILENT, PULSING, SILENCE_WORDS };
enum { KEPT_BACK, OVERTAKEN, HELD, TROUBLE_WORDS };

static size_t payload_words(const struct orr_port *link) { return orr_wire_words(link->layout.commands.bytes); }

static size_t carrier_words(const struct orr_port *link) {
  const struct orr_carrier_kind *kind = link->carrier->kind;
  return kind->state_words ? kind->state_words(link->carrier) : 0;
}

static size_t silence_words(const struct orr_port *link) {
  return link->troubled || link->rules.pulse_frames > 0 ? SILENCE_WORDS : 0;
}

size_t orr_port_state_words(const struct orr_port *link) {
  size_t words = carrier_words(link);
  if (!words)
    return 0;
  return words + silence_words(link) + (link->troubled ? TROUBLE_WORDS + payload_words(link) : 0);
}

static void get_silence(const struct orr_port *link, uint64_t *words) {
  words[SILENT] = (uint64_t)link->rules.silent;
  words[PULSING] = link->rules.pulsing;
}

/* Words that nobody has checked. */
static void put_silence(struct orr_port *link, const uint64_t *words) {
  struct orr_rules *r = &link->rules;
  int most = r->silence_frames > 0 ? r->silence_frames : r->pulse_frames;
  r->silent = words[SILENT] > (uint64_t)most ? most : (int)words[SILENT];
  r->pulsing = words[PULSING] & 1;
}

static void get_trouble(const struct orr_port *link, uint64_t *words) {
  const uint64_t *payload;
  words[KEPT_BACK] = link->kept_back;
  words[OVERTAKEN] = link->overtaken;
  words[HELD] = (uint64_t)(orr_rules_held(&link->rules, &payload) + 1);
  memset(words + TROUBLE_WORDS, 0, 8 * payload_words(link));
  if (words[HELD])
    memcpy(words + TROUBLE_WORDS, payload, 8 * payload_words(link));
}

/* Words that nobody has checked. */
static void put_trouble(struct orr_port *link, const uint64_t *words) {
  struct orr_rules *r = &link->rules;
  link->kept_back = words[KEPT_BACK] & 3;
  link->overtaken = words[OVERTAKEN] & 1;
  if (r->published < 0)
    return;
  if (link->kept_back & 1)
    orr_rules_keep_back(r);
  memcpy(r->room, words + TROUBLE_WORDS, 8 * payload_words(link));
  orr_rules_hold(r, (int64_t)(words[HELD] & INT64_MAX) - 1);
}

void orr_port_state_get(const struct orr_port *link, const struct orr_port *acting, uint64_t *words) {
  size_t own = carrier_words(link), silence = silence_words(link);
  if (!own)
    return;
  link->carrier->kind->state_get(link->carrier, words);
  if (silence)
    get_silence(acting, words + own);
  if (link->troubled)
    get_trouble(link, words + own + silence);
}

void orr_port_state_put(struct orr_port *link, int64_t frame, const uint64_t *words) {
  if (!link->carrier->kind->state_put)
    return;
  size_t own = carrier_words(link);
  bool flew = false; /* one that has neither seen nor said anything begins anew; the silence may be another port's */
  for (size_t i = 0; i < orr_port_state_words(link); i++)
    flew = flew || (words[i] != 0 && (i < own || i >= own + silence_words(link)));
  orr_rules_resume(&link->rules, flew ? orr_run_link_before(link->desc, frame) : -1);
  if (silence_words(link))
    put_silence(link, words + own);
  if (link->troubled)
    put_trouble(link, words + own + silence_words(link));
  link->carrier->kind->state_put(link->carrier, &link->rules, words);
}

void orr_port_take_over_pulses(struct orr_port *link, const struct orr_port *before) {
  link->rules.pulsing = before->rules.pulsing;
}

void orr_port_note_commands(struct orr_port *link, bool applied, const double *values) {
  orr_rules_note(&link->rules, applied, values);
}

void orr_port_restart(struct orr_port *link) {
  orr_rules_resume(&link->rules, -1);
  link->kept_back = 0;
  link->overtaken = false;
}
