#include "io/control/control.h"

#include <stdlib.h>
#include <string.h>

#include "io/config/spacecraft/build.h"
#include "rt/tick/clock.h"

enum { LOOK_NS = 200000, STEP_SHIFT = 48 };

const char *const orr_control_verbs[ORR_CONTROL_SORTS + 1] = {
    [ORR_CONTROL_PAUSE] = "pause",  [ORR_CONTROL_STEP] = "step",   [ORR_CONTROL_GO] = "go",
    [ORR_CONTROL_SET] = "set",      [ORR_CONTROL_FAULT] = "fault", [ORR_CONTROL_CLEAR] = "clear",
    [ORR_CONTROL_MARK] = "mark",    [ORR_CONTROL_GET] = "get",     [ORR_CONTROL_STOP] = "stop",
    [ORR_CONTROL_STATUS] = "status"};

static size_t commands_of(const struct orr_plant *p) { return (size_t)(p->table.value_count - p->table.output_values); }

static struct orr_control *lay_out(const struct orr_plant *p, struct orr_block *block) {
  struct orr_control *c = ORR_TAKE(block, struct orr_control, 1);
  bool *given = ORR_TAKE(block, bool, commands_of(p) + 1);
  double *values = ORR_TAKE(block, double, commands_of(p) + 1);
  double *snapshot = ORR_TAKE(block, double, (size_t)p->table.value_count + 1);
  if (block->base)
    *c = (struct orr_control){.given = given, .values = values, .snapshot = snapshot};
  return c;
}

struct orr_control *orr_control_create(struct orr_plant *plant, struct orr_procedure *procedure, bool may_pause) {
  struct orr_block block = {0};
  lay_out(plant, &block);
  block = (struct orr_block){.base = orr_aligned_block(block.used), .size = block.used};
  struct orr_control *c = lay_out(plant, &block);
  c->plant = plant;
  c->procedure = procedure;
  c->may_pause = may_pause;
  c->until = -1;
  c->bytes = orr_aligned_bytes(block.size);
  atomic_store(&c->frame, -1);
  return c;
}

void orr_control_destroy(struct orr_control *c) { free(c); }

/* ---- the thread that commits ------------------------------------------------------------------------------------- */

struct orr_control_slot *orr_control_claim(struct orr_control *c) {
  uint64_t head = atomic_load_explicit(&c->head, memory_order_relaxed);
  if (head - atomic_load_explicit(&c->tail, memory_order_acquire) == ORR_CONTROL_SLOTS)
    return NULL;
  return &c->slots[head % ORR_CONTROL_SLOTS];
}

void orr_control_commit(struct orr_control *c) {
  uint64_t head = atomic_load_explicit(&c->head, memory_order_relaxed);
  atomic_store_explicit(&c->head, head + 1, memory_order_release);
}

const struct orr_control_slot *orr_control_done(const struct orr_control *c, uint64_t number) {
  uint64_t tail = atomic_load_explicit(&c->tail, memory_order_acquire);
  return number < tail ? &c->slots[number % ORR_CONTROL_SLOTS] : NULL;
}

const struct orr_run_step *orr_control_step(const struct orr_control *c, int64_t *since) {
  const struct orr_run_sequence *desc = c->procedure ? c->procedure->sequence->desc : NULL;
  uint64_t word = atomic_load_explicit(&c->step, memory_order_relaxed);
  *since = (int64_t)(word & ((UINT64_C(1) << STEP_SHIFT) - 1));
  return desc && desc->count ? &desc->steps[word >> STEP_SHIFT] : NULL;
}

/* ---- the thread of the frames ------------------------------------------------------------------------------------ */

/* A step that is not entered yet is entered with this frame. */
static void show(struct orr_control *c, int64_t frame) {
  atomic_store_explicit(&c->frame, frame, memory_order_relaxed);
  const struct orr_sequence *s = c->procedure ? c->procedure->sequence : NULL;
  if (!s || !s->desc->count)
    return;
  int64_t since_ns;
  uint64_t step = (uint64_t)(orr_sequence_at(s, &since_ns) - s->desc->steps);
  int64_t since = since_ns < 0 ? frame : since_ns / c->plant->step_ns;
  atomic_store_explicit(&c->step, step << STEP_SHIFT | (uint64_t)since, memory_order_relaxed);
}

static void note(struct orr_control *c, const struct orr_control_command *command, int64_t frame) {
  const struct orr_event event = {frame, "ctl", orr_control_verbs[command->sort], command->text};
  if (c->event_count < ORR_CONTROL_KEPT) {
    struct orr_control_event *e = &c->events[c->event_count];
    e->frame = frame;
    e->sort = command->sort;
    memcpy(e->text, command->text, sizeof e->text);
  }
  c->event_count++;
  if (c->tell)
    c->tell(c->user, &event);
}

int orr_control_break(struct orr_procedure *p, int fault, bool begins) {
  int count = p ? (int)p->faults->run->fault_count : 0, changed = 0;
  for (int i = 0; i < count; i++) {
    enum orr_fault_phase phase = orr_fault_phase(p->faults, i);
    bool there = phase == ORR_FAULT_ACTS || phase == ORR_FAULT_ENDS || phase == ORR_FAULT_DUE;
    if ((fault >= 0 && i != fault) || (!begins && !there))
      continue;
    (begins ? orr_fault_begin : orr_fault_end)(p->faults, i);
    changed++;
  }
  return changed;
}

static void set(struct orr_control *c, const struct orr_control_command *command) {
  for (int k = 0; k < command->count; k++) {
    int number = command->first + k - c->plant->table.output_values;
    c->given[number] = true;
    c->values[number] = command->values[k];
  }
  c->any = true;
}

static void apply(struct orr_control *c, struct orr_control_slot *slot, int64_t frame) {
  const struct orr_control_command *command = &slot->command;
  slot->frame = frame;
  slot->changed = 0;
  if (command->sort != ORR_CONTROL_GET)
    note(c, command, frame);
  switch (command->sort) {
  case ORR_CONTROL_PAUSE:
    c->paused = true;
    c->until = -1;
    break;
  case ORR_CONTROL_STEP:
  case ORR_CONTROL_GO:
    c->paused = false;
    c->until = command->sort == ORR_CONTROL_STEP ? frame + command->frames : -1;
    atomic_store(&c->pausing, 0); /* so that where it is seen to stand, it stands anew */
    break;
  case ORR_CONTROL_SET:
    set(c, command);
    break;
  case ORR_CONTROL_FAULT:
  case ORR_CONTROL_CLEAR:
    slot->changed = orr_control_break(c->procedure, command->fault, command->sort == ORR_CONTROL_FAULT);
    break;
  case ORR_CONTROL_GET:
    memcpy(c->snapshot, c->plant->values, sizeof *c->snapshot * (size_t)c->plant->table.value_count);
    break;
  case ORR_CONTROL_STOP:
    c->stopped = true;
    break;
  default:
    break;
  }
}

/* Requests behind the one that stops the run are not applied. */
static void take(struct orr_control *c, int64_t frame) {
  uint64_t head = atomic_load_explicit(&c->head, memory_order_acquire);
  uint64_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
  for (; tail != head && !c->stopped; tail++) {
    apply(c, &c->slots[tail % ORR_CONTROL_SLOTS], frame);
    atomic_store_explicit(&c->tail, tail + 1, memory_order_release);
  }
}

/* Not [rt]: a run that keeps to the clock is never paused. */
static enum orr_control_end stand(struct orr_control *c, int64_t frame) {
  while (c->paused && !c->stopped) {
    atomic_store(&c->pausing, 1);
    if (c->interrupted && c->interrupted())
      return ORR_CONTROL_INTERRUPTED;
    orr_clock_sleep_until(orr_clock_now_ns() + LOOK_NS);
    take(c, frame);
  }
  atomic_store(&c->pausing, 0);
  return ORR_CONTROL_GOES_ON;
}

enum orr_control_end orr_control_begin_frame(struct orr_control *c) {
  int64_t frame = orr_plant_frame(c->plant);
  if (c->until >= 0 && frame >= c->until) {
    c->paused = true;
    c->until = -1;
  }
  show(c, frame);
  take(c, frame);
  if (c->paused && !c->stopped && stand(c, frame) != ORR_CONTROL_GOES_ON)
    return ORR_CONTROL_INTERRUPTED;
  return c->stopped ? ORR_CONTROL_STOPPED : ORR_CONTROL_GOES_ON;
}

void orr_control_give(struct orr_control *c) {
  size_t count = commands_of(c->plant);
  if (!c->any)
    return;
  for (size_t k = 0; k < count; k++)
    if (c->given[k]) {
      c->given[k] = false;
      c->plant->values[(size_t)c->plant->table.output_values + k] = c->values[k];
    }
  c->any = false;
}
