#include "core/plant/motions.h"

#include "core/loops/loop.h"
#include "core/model/motion.h"
#include "core/plant/integrate.h"

int orr_motions_count(const struct orr_description *d) {
  int count = 0;
  for (size_t b = 0; b < d->body_count; b++)
    count += d->bodies[b].hinge.motion ? orr_hinge_speeds(d->bodies[b].hinge.kind) : 0;
  for (size_t i = 0; i < d->loop_count; i++)
    count += d->loops[i].motion ? 1 : 0;
  return count;
}

void orr_motions_layout(struct orr_motions *m, const struct orr_description *d, const struct orr_model *model,
                        struct orr_block *block) {
  int count = orr_motions_count(d), k = 0;
  m->items = ORR_TAKE(block, struct orr_motion_item, count);
  m->count = count;
  if (!block->base)
    return;
  for (int b = 0; b < (int)d->body_count; b++) {
    const struct orr_limb *limb = &model->limbs[model->limb_of_body[b]];
    const struct orr_motion_desc *motion = d->bodies[b].hinge.motion;
    for (int i = 0; motion && i < limb->dof; i++)
      m->items[k++] = (struct orr_motion_item){&motion[i], NULL, limb->hinge_q + i, limb->hinge_u + i, -1, -1};
  }
  for (int i = 0; i < (int)d->loop_count; i++)
    if (d->loops[i].motion)
      m->items[k++] = (struct orr_motion_item){d->loops[i].motion, NULL, -1, -1, i, -1};
}

void orr_motions_reset(struct orr_motions *m, const double *q, double *values) {
  for (int k = 0; k < m->count; k++) {
    const struct orr_motion_item *item = &m->items[k];
    double from = item->q >= 0 ? q[item->q] : item->desc->from;
    bool follows = item->desc->form == ORR_MOTION_COMMAND;
    m->state[k] = (struct orr_motion_state){.target = follows ? from : 0};
    if (follows && item->command >= 0)
      values[item->command] = from;
  }
}

/* ---- clocks ------------------------------------------------------------------------------------------------- */

bool orr_motions_clock(struct orr_motions *m, const struct orr_limb *limb, const struct orr_motion_clock *clock) {
  bool any = false;
  for (int k = 0; k < m->count; k++) {
    struct orr_motion_item *item = &m->items[k];
    if (item->u < limb->hinge_u || item->u >= limb->hinge_u + limb->dof)
      continue;
    item->clock = clock;
    any = true;
  }
  return any;
}

struct reading {
  double own_ns, pace, change; /* c, ċ, c̈ in 1/s */
};

static struct reading read_clock(const struct orr_motion_clock *c, double now_ns, bool before) {
  double gone = now_ns - (double)c->begun_ns, over = (double)c->over_ns, more = c->to - c->from;
  if (before ? gone > over : gone >= over)
    return (struct reading){c->own_ns + 0.5 * (c->from + c->to) * over + c->to * (gone - over), c->to, 0};
  return (struct reading){c->own_ns + gone * (c->from + 0.5 * more * gone / over), c->from + more * gone / over,
                          over > 0 ? more / (1e-9 * over) : 0};
}

void orr_motion_clock_turn(struct orr_motion_clock *c, int64_t now_ns, int64_t over_ns, double to) {
  struct reading now = read_clock(c, (double)now_ns, false);
  *c = (struct orr_motion_clock){now_ns, over_ns, now.own_ns, now.pace, to};
}

/* ---- at a moment -------------------------------------------------------------------------------------------- */

/* The polynomial of fifth degree, t seconds after it began. */
static struct orr_motion_now follow(const struct orr_motion_state *state, double over, double t) {
  double s = t / over, h = state->target - state->at_once.x, v = state->at_once.v * over;
  double a = 0.5 * state->at_once.a * over * over, p = 10 * h - 6 * v - 3 * a, q = -15 * h + 8 * v + 3 * a,
         r = 6 * h - 3 * v - a;
  return (struct orr_motion_now){
      .x = state->at_once.x + s * (v + s * (a + s * (p + s * (q + s * r)))),
      .v = (v + s * (2 * a + s * (3 * p + s * (4 * q + s * 5 * r)))) / over,
      .a = (2 * a + s * (6 * p + s * (12 * q + s * 20 * r))) / (over * over),
  };
}

/* By what its clock shows. */
static struct orr_motion_now moment_by_clock(const struct orr_motions *m, int k, double now_ns, bool before) {
  const struct orr_motion_desc *desc = m->items[k].desc;
  const struct orr_motion_state *state = &m->state[k];
  double t = 1e-9 * (now_ns - (double)state->begun_ns);
  if (desc->form == ORR_MOTION_COMMAND) {
    bool moves = state->begun && (before ? t <= desc->over_s : t < desc->over_s);
    return moves ? follow(state, desc->over_s, t) : (struct orr_motion_now){state->target, 0, 0};
  }
  return desc->waits && !state->begun ? orr_motion_begin(desc) : orr_motion_at(desc, t, before);
}

static struct orr_motion_now moment_of(const struct orr_motions *m, int k, double now_ns, bool before) {
  const struct orr_motion_clock *clock = m->items[k].clock;
  if (!clock)
    return moment_by_clock(m, k, now_ns, before);
  struct reading at = read_clock(clock, now_ns, before);
  struct orr_motion_now now = moment_by_clock(m, k, at.own_ns, before);
  return (struct orr_motion_now){now.x, now.v * at.pace, now.a * at.pace * at.pace + now.v * at.change};
}

void orr_motions_command(struct orr_motions *m, int64_t now_ns, const double *values) {
  for (int k = 0; k < m->count; k++) {
    const struct orr_motion_item *item = &m->items[k];
    struct orr_motion_state *state = &m->state[k];
    if (item->command < 0)
      continue;
    double command = values[item->command];
    int64_t at_ns = item->clock ? (int64_t)rint(read_clock(item->clock, (double)now_ns, false).own_ns) : now_ns;
    if (item->desc->form == ORR_MOTION_COMMAND) {
      if (command == state->target)
        continue;
      struct orr_motion_now now = moment_by_clock(m, k, (double)at_ns, false);
      *state = (struct orr_motion_state){1, at_ns, command, now};
    } else if (command != 0 && !state->begun) {
      state->begun = 1;
      state->begun_ns = at_ns;
    }
  }
}

/* ---- in a step ---------------------------------------------------------------------------------------------- */

static struct orr_motion_now moment_at(const struct orr_motions *m, int k, const struct orr_evaluation_point *point) {
  double now_ns = (double)point->start_ns + point->part * (double)point->step_ns;
  return moment_of(m, k, now_ns, point->part >= 1);
}

void orr_motions_put(const struct orr_motions *m, const struct orr_evaluation_point *point, double *q, double *u) {
  for (int k = 0; k < m->count; k++) {
    const struct orr_motion_item *item = &m->items[k];
    struct orr_motion_now now = moment_at(m, k, point);
    if (item->loop >= 0) {
      orr_loops_drive(m->loops, item->loop, now.x, now.v, now.a);
      continue;
    }
    q[item->q] = now.x;
    u[item->u] = now.v;
  }
}

void orr_motions_give(const struct orr_motions *m, const struct orr_evaluation_point *point, double *given) {
  for (int k = 0; k < m->count; k++) {
    const struct orr_motion_item *item = &m->items[k];
    struct orr_motion_now now = moment_at(m, k, point);
    if (item->loop >= 0)
      orr_loops_drive(m->loops, item->loop, now.x, now.v, now.a);
    else
      given[item->u] = now.a;
  }
}
