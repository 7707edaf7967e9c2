#include "io/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/elementary.h"
#include "core/math/hash.h"
#include "rt/tick/clock.h"

static int frame(struct orr_session *s);
static int frame_with_procedure(struct orr_session *s);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void add_region(struct orr_session *s, void *base, size_t bytes) {
  assert(s->region_count < ORR_SESSION_REGIONS);
  s->regions[s->region_count++] = (struct orr_region){base, bytes};
}

static void layout_links(struct orr_session *s, orr_answer_fn *answer, struct orr_block *block) {
  struct orr_session_link *links = ORR_TAKE(block, struct orr_session_link, s->run->link_count);
  for (size_t i = 0; i < s->run->link_count; i++) {
    const struct orr_run_link *desc = &s->run->links[i];
    const struct orr_carrier_kind *kind = orr_carrier_kind(desc->transport);
    struct orr_session_link link = {.desc = desc, .inside = ORR_TAKE(block, struct orr_port, 1)};
    bool linked = kind->outside || kind == &orr_carrier_linked; /* else another kind inside answers, in every mode */
    orr_port_init(link.inside, desc, linked ? &orr_carrier_linked : kind, &s->plant->table, block);
    if (kind->outside) {
      link.room = ORR_TAKE(block, struct orr_port, 1);
      orr_port_init(link.room, desc, kind, &s->plant->table, block);
    }
    if (!links || !link.inside) /* it measures */
      continue;
    if (linked)
      orr_linked_answer_by(link.inside->carrier, answer);
    links[i] = link;
  }
  s->links = links;
  s->seen = orr_expect_layout(s->run, block);
  if (orr_procedure_needed(s->run))
    s->procedure = orr_procedure_layout(s->run, s->plant, block);
}

/* Everything that the run reads is computed from frame 0 on. */
static void ask(struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count; i++)
    for (int k = 0; k < s->run->links[i].telemetry_count; k++)
      orr_plant_ask(s->plant, s->run->links[i].telemetry[k]);
  for (size_t i = 0; i < s->run->expect_count; i++)
    if (s->run->expects[i].channel >= 0)
      orr_plant_ask(s->plant, s->run->expects[i].channel);
  if (s->procedure)
    orr_procedure_ask(s->procedure);
}

static void expect_trouble(const struct orr_session_link *link) {
  orr_port_expect_trouble(link->inside);
  if (link->room)
    orr_port_expect_trouble(link->room);
}

struct orr_session *orr_session_create(const struct orr_run *run, orr_answer_fn *answer) {
  struct orr_session *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  add_region(s, s, sizeof *s);
  s->run = run;
  orr_build_create(&s->build, &run->spacecraft, ORR_MODEL_DEFAULT);
  orr_build_plant(&s->build, &run->plant, run->initial);
  s->model = s->build.model;
  s->ws = s->build.ws;
  s->plant = s->build.plant;
  for (int i = 0; i < ORR_BUILD_PARTS; i++)
    if (s->build.blocks[i].base)
      add_region(s, s->build.blocks[i].base, orr_aligned_bytes(s->build.blocks[i].bytes));
  struct orr_block measured = {0};
  layout_links(s, answer, &measured);
  s->link_block = orr_aligned_block(measured.used);
  add_region(s, s->link_block, orr_aligned_bytes(measured.used));
  struct orr_block links = {.base = s->link_block, .size = measured.used};
  layout_links(s, answer, &links);
  s->frame = s->procedure ? frame_with_procedure : frame;
  ask(s);
  for (size_t i = 0; i < run->fault_count; i++)
    if (run->faults[i].target == ORR_FAULT_LINK)
      expect_trouble(&s->links[run->faults[i].link]);
  return s;
}

void orr_session_take_control(struct orr_session *s, bool may_pause, bool paused, bool (*interrupted)(void)) {
  s->control = orr_control_create(s->plant, s->procedure, may_pause);
  s->control->paused = paused && may_pause;
  s->control->interrupted = interrupted;
  add_region(s, s->control, s->control->bytes);
}

void orr_session_shut_links(struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].room)
      s->links[i].room->carrier->shut = true;
}

void orr_session_admit_peers(struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].outside)
      orr_port_admit(s->links[i].outside);
}

bool orr_session_open_links(struct orr_session *s, bool lockstep, bool (*interrupted)(void), char *message,
                            size_t size) {
  for (size_t i = 0; i < s->run->link_count; i++) {
    struct orr_port *outside = s->links[i].room;
    if (!outside)
      continue;
    outside->interrupted = interrupted;
    if (!orr_port_open(outside, s->plant->step_ns, lockstep, message, size))
      return false;
    orr_port_take_over_pulses(outside, s->links[i].inside);
    s->links[i].outside = outside;
    if (!orr_port_join(outside, &s->relay, message, size))
      return false;
  }
  int core = s->run->realtime.core; /* its thread stays off that of the executive */
  if (lockstep || core == ORR_CORE_ANY)
    core = -1;
  else if (core == ORR_CORE_AUTO)
    core = orr_setup_choose_core();
  /* between the executive's and what flight software would take */
  s->relay.priority = lockstep || s->run->realtime.priority < 2 ? 0 : s->run->realtime.priority - 1;
  int error = s->relay.count ? orr_relay_start(&s->relay, core) : 0;
  if (error)
    snprintf(message, size, "no thread for the links over UDP: %s", strerror(error));
  return error == 0;
}

bool orr_session_wait_for_peers(struct orr_session *s) {
  int64_t begin_ns = orr_clock_now_ns();
  bool all = true;
  for (size_t i = 0; i < s->run->link_count; i++) {
    s->links[i].alone = s->links[i].outside && !orr_port_wait_for_peer(s->links[i].outside, begin_ns);
    all = all && !s->links[i].alone;
  }
  return all;
}

void orr_session_destroy(struct orr_session *s) {
  if (!s)
    return;
  orr_relay_stop(&s->relay);
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].outside)
      orr_port_close(s->links[i].outside);
  orr_control_destroy(s->control);
  free(s->link_block);
  orr_build_destroy(&s->build);
  free(s);
}

enum orr_status orr_session_start(struct orr_session *s) {
  if (s->build.start != ORR_OK)
    return s->status = s->build.start;
  for (size_t i = 0; i < s->run->link_count; i++)
    orr_port_restart(s->links[i].inside);
  if (s->procedure)
    orr_procedure_start(s->procedure);
  return s->status = orr_plant_reset(s->plant);
}

/* ---- publish ----------------------------------------------------------------------------------------------------- */

static struct orr_port *port_of(const struct orr_session_link *link) {
  return link->outside ? link->outside : link->inside;
}

/* Commands from outside come before all else of a frame. */
static int obey(struct orr_session *s) {
  enum orr_control_end end = s->control ? orr_control_begin_frame(s->control) : ORR_CONTROL_GOES_ON;
  if (end == ORR_CONTROL_GOES_ON)
    return 0;
  s->end = end == ORR_CONTROL_STOPPED ? ORR_PORT_STOPPED : ORR_PORT_INTERRUPTED;
  return (int)s->end;
}

static int publish(struct orr_session *s) {
  int64_t frame = orr_plant_frame(s->plant);
  for (size_t i = 0; i < s->run->link_count; i++)
    orr_port_publish(port_of(&s->links[i]), frame, orr_plant_time_ns(s->plant), s->plant->values);
  return 0;
}

int orr_session_publish(struct orr_session *s) {
  int code = obey(s);
  return code ? code : publish(s);
}

/* ---- latch ------------------------------------------------------------------------------------------------------- */

static double table_value(const struct orr_script_entry *e, int64_t since_ns) {
  size_t i = 0;
  while (i + 1 < e->row_count && e->row_ns[i + 1] <= since_ns)
    i++;
  if (i + 1 == e->row_count || since_ns <= e->row_ns[i])
    return e->row_values[i];
  double part = (double)(since_ns - e->row_ns[i]) / (double)(e->row_ns[i + 1] - e->row_ns[i]);
  return e->row_values[i] + part * (e->row_values[i + 1] - e->row_values[i]);
}

static double script_value(const struct orr_script_entry *e, int i, int64_t since_ns) {
  switch (e->form) {
  case ORR_SCRIPT_RAMP: {
    double part = since_ns >= e->over_ns ? 1 : (double)since_ns / (double)e->over_ns;
    return e->from + part * (e->to - e->from);
  }
  case ORR_SCRIPT_SINE:
    return e->offset +
           e->amplitude * orr_sin(6.283185307179586476925 * e->frequency_hz * 1e-9 * (double)since_ns + e->phase_rad);
  case ORR_SCRIPT_TABLE:
    return table_value(e, since_ns);
  default:
    return e->values[i];
  }
}

static void latch_script(struct orr_session *s, int64_t now_ns) {
  for (size_t k = 0; k < s->run->script_count; k++) {
    const struct orr_script_entry *e = &s->run->script[k];
    const struct orr_channel *c = &s->plant->table.channels[e->channel];
    int64_t since_ns = now_ns - e->at_ns;
    /* a step writes its value once, so that it does not undo later commands; other forms write in every frame */
    bool once = e->form == ORR_SCRIPT_STEP;
    if (since_ns < 0 || now_ns >= e->until_ns || (once && since_ns >= s->plant->step_ns))
      continue;
    int first = e->element >= 0 ? e->element : 0, count = e->element >= 0 ? 1 : c->count;
    for (int i = 0; i < count; i++) {
      double value = script_value(e, i, since_ns);
      s->plant->values[c->offset + first + i] = orr_max(orr_min(value, c->high), c->low);
    }
  }
}

void orr_session_trouble_links(struct orr_session *s) {
  for (size_t i = 0; s->procedure && i < s->run->link_count; i++) {
    struct orr_port *port = port_of(&s->links[i]);
    if (!port->troubled)
      continue;
    const struct orr_run_fault *in = orr_faults_of_link(s->procedure->faults, (int)i, false);
    port->out_fault = orr_faults_of_link(s->procedure->faults, (int)i, true);
    port->trouble = in ? in->trouble : ORR_LINK_WORKS;
    port->out_trouble = port->out_fault ? port->out_fault->trouble : ORR_LINK_WORKS;
  }
}

int orr_session_latch(struct orr_session *s) {
  int64_t frame = orr_plant_frame(s->plant);
  if (s->control)
    orr_control_give(s->control);
  latch_script(s, orr_plant_time_ns(s->plant));
  if (s->end == ORR_PORT_GOES_ON && atomic_load_explicit(&s->relay.failed, memory_order_relaxed))
    s->end = ORR_PORT_BROKEN;
  for (size_t i = 0; i < s->run->link_count; i++) {
    struct orr_port *port = port_of(&s->links[i]);
    port->tick_ns = s->tick_ns;
    enum orr_port_end end = orr_port_latch(port, frame, s->plant->values);
    if (end != ORR_PORT_GOES_ON && s->end == ORR_PORT_GOES_ON) {
      s->end = end;
      s->end_link = (int)i;
    }
  }
  return (int)s->end;
}

int orr_session_record(struct orr_session *s) {
  orr_expect_look(s->run, s->seen, s->plant->values, orr_plant_time_ns(s->plant));
  if (s->samples)
    orr_samples_take(s->samples);
  if (s->watch) {
    bool first = true;
    orr_watch_put(s->watch);
    for (size_t i = 0; i < s->run->link_count; i++)
      if (s->links[i].outside) {
        orr_watch_put_link(s->watch, &s->links[i].outside->rules.counts, first);
        first = false;
      }
  }
  for (struct orr_recorder *r = s->recorders; r; r = r->next)
    r->frame(r, s);
  return 0;
}

void orr_session_tell(struct orr_session *s, struct orr_recorder *recorder) {
  recorder->next = s->recorders;
  s->recorders = recorder;
}

void orr_session_tell_no_more(struct orr_session *s, struct orr_recorder *recorder) {
  for (struct orr_recorder **at = &s->recorders; *at; at = &(*at)->next)
    if (*at == recorder) {
      *at = recorder->next;
      return;
    }
}

void orr_session_say_restored(struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].room)
      s->links[i].room->flags = ORR_WIRE_OUT_RESTORED;
}

void orr_session_settle(struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count && s->end == ORR_PORT_GOES_ON; i++)
    if (s->links[i].outside)
      orr_port_settle(s->links[i].outside);
}

/* ---- compute ----------------------------------------------------------------------------------------------------- */

int orr_session_advance(struct orr_session *s) {
  s->status = orr_plant_advance(s->plant);
  return (int)s->status;
}

int orr_session_sense(struct orr_session *s) {
  s->status = orr_plant_sense(s->plant);
  return (int)s->status;
}

/* ---- the frame --------------------------------------------------------------------------------------------------- */

void orr_session_begin_frame(struct orr_session *s) {
  if (s->procedure)
    orr_procedure_begin_frame(s->procedure);
}

static int publish_with_procedure(struct orr_session *s) {
  int code = obey(s);
  if (code)
    return code;
  orr_procedure_begin_frame(s->procedure);
  orr_session_trouble_links(s);
  return publish(s);
}

static int latch_with_procedure(struct orr_session *s) {
  orr_procedure_before_latch(s->procedure);
  int code = orr_session_latch(s);
  orr_procedure_after_latch(s->procedure);
  return code;
}

static int record_with_procedure(struct orr_session *s) {
  int code = orr_session_record(s);
  orr_procedure_look(s->procedure);
  orr_procedure_judge(s->procedure);
  return code;
}

void orr_session_record_last(struct orr_session *s) {
  orr_session_begin_frame(s);
  orr_session_record(s);
  if (s->procedure)
    orr_procedure_look(s->procedure);
}

const struct orr_session_stage orr_session_stages[] = {
    {"publish", ORR_SESSION_HANDS_OVER, {orr_session_publish, publish_with_procedure}},
    {"latch", ORR_SESSION_HANDS_OVER, {orr_session_latch, latch_with_procedure}},
    {"record", ORR_SESSION_RECORDS, {orr_session_record, record_with_procedure}},
    {"integrate", ORR_SESSION_INTEGRATES, {orr_session_advance, orr_session_advance}},
    {"sensors", ORR_SESSION_SENSES, {orr_session_sense, orr_session_sense}},
    {0},
};

/* `which` is a constant where it is called, so the compiler knows the functions. */
static inline int walk(struct orr_session *s, enum orr_session_column which) {
  int code = 0;
  for (const struct orr_session_stage *stage = orr_session_stages; stage->name && code == 0; stage++)
    code = stage->run[which](s);
  return code;
}

static int frame(struct orr_session *s) { return walk(s, ORR_SESSION_PLAIN); }

static int frame_with_procedure(struct orr_session *s) { return walk(s, ORR_SESSION_WITH_PROCEDURE); }

int orr_session_compute(struct orr_session *s) {
  if (s->procedure)
    orr_procedure_judge(s->procedure);
  int code = 0;
  for (const struct orr_session_stage *stage = orr_session_stages; stage->name && code == 0; stage++)
    if (orr_session_stage_computes(stage))
      code = orr_session_stage_run(stage, s);
  return code;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static size_t loop_words(const struct orr_session *s) {
  return s->build.closed ? orr_closed_state_words(s->build.closed) : 0;
}

/* The plant's, and with loops the sets of independent coordinates and of the equations that are solved. */
uint64_t orr_session_hash(const struct orr_session *s) {
  uint64_t hash = orr_plant_hash(s->plant);
  size_t count = s->build.closed ? orr_closed_hash_words(s->build.closed) : 0;
  uint64_t *words = count ? calloc(loop_words(s), sizeof *words) : NULL;
  if (!words)
    return hash;
  orr_closed_state_get(s->build.closed, words);
  for (size_t i = 0; i < count; i++)
    hash = orr_hash_mix(hash, words[i]);
  free(words);
  return hash;
}

/* Of links that lead outside, too: what flies in batch, or is rehearsed, is the controller inside. */
size_t orr_session_state_words(const struct orr_session *s) {
  size_t words = orr_plant_state_words(s->plant);
  for (size_t i = 0; i < s->run->link_count; i++)
    words += orr_port_state_words(s->links[i].inside);
  return words + loop_words(s) + (s->procedure ? orr_procedure_state_words(s->procedure) : 0);
}

size_t orr_session_replayed_words(const struct orr_session *s) {
  size_t words = orr_session_state_words(s);
  if (s->procedure)
    words -= orr_procedure_state_words(s->procedure) - orr_procedure_replayed_words(s->procedure);
  return words;
}

void orr_session_state_get(const struct orr_session *s, uint64_t *words) {
  orr_plant_state_get(s->plant, words);
  words += orr_plant_state_words(s->plant);
  for (size_t i = 0; i < s->run->link_count; i++) {
    const struct orr_session_link *link = &s->links[i];
    orr_port_state_get(link->inside, link->outside ? link->outside : link->inside, words);
    words += orr_port_state_words(s->links[i].inside);
  }
  if (s->build.closed)
    orr_closed_state_get(s->build.closed, words);
  if (s->procedure)
    orr_procedure_state_get(s->procedure, words + loop_words(s));
}

bool orr_session_procedure_is_sound(const struct orr_session *s, const uint64_t *words, int64_t frame) {
  if (!s->procedure)
    return true;
  words += orr_session_state_words(s) - orr_procedure_state_words(s->procedure);
  return orr_procedure_state_is_sound(s->procedure, words, frame * s->plant->step_ns);
}

enum orr_status orr_session_state_put(struct orr_session *s, const uint64_t *words) {
  const uint64_t *of_links = words + orr_plant_state_words(s->plant), *rest = of_links;
  for (size_t i = 0; i < s->run->link_count; i++)
    rest += orr_port_state_words(s->links[i].inside);
  if (s->procedure) { /* first: which hinges are jammed decides what can be chosen, at the coordinates put */
    orr_procedure_state_put(s->procedure, rest + loop_words(s));
    memcpy(s->plant->integration->q, words, 8 * (size_t)s->plant->model->q_count);
    orr_plant_settle_jams(s->plant, s->plant->integration->q);
  }
  if (s->build.closed)
    orr_closed_state_put(s->build.closed, s->ws, rest);
  s->status = orr_plant_state_put(s->plant, words);
  for (size_t i = 0; i < s->run->link_count; i++) {
    orr_port_state_put(s->links[i].inside, orr_plant_frame(s->plant), of_links);
    of_links += orr_port_state_words(s->links[i].inside);
  }
  return s->status;
}
