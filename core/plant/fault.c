#include "core/plant/fault.h"

#include "core/loops/closed.h"
#include "core/math/bits.h"
#include "core/math/elementary.h"

/* ---- devices ----------------------------------------------------------------------------------------------------- */

void orr_trouble_init(struct orr_trouble *trouble, const struct orr_plant *plant, int device) {
  const struct orr_device_kind *kind = plant->devices[device].kind;
  *trouble = (struct orr_trouble){.kind = *kind, .healthy = kind};
}

void orr_device_break(struct orr_plant *plant, int device, struct orr_trouble *trouble,
                      const struct orr_device_fault *fault, double number, int64_t since_ns, double from) {
  struct orr_device *d = &plant->devices[device];
  trouble->kind.apply = fault->apply ? fault->apply : trouble->healthy->apply;
  trouble->kind.sense = fault->sense ? fault->sense : trouble->healthy->sense;
  trouble->number = number;
  trouble->since_ns = since_ns;
  trouble->from = from;
  d->trouble = trouble;
  d->kind = &trouble->kind;
}

void orr_device_mend(struct orr_plant *plant, int device, const struct orr_trouble *trouble) {
  plant->devices[device].kind = trouble->healthy;
  plant->devices[device].trouble = NULL;
}

double orr_rotor_speed(const struct orr_plant *plant, int device) {
  int rotor = plant->devices[device].rotor;
  return rotor >= 0 ? plant->integration->spin[rotor] : 0;
}

/* ---- hinges ------------------------------------------------------------------------------------------------------ */

static const struct orr_limb *limb_of(const struct orr_plant *p, const struct orr_jam *jam) {
  return &p->model->limbs[p->model->limb_of_body[jam->body]];
}

static bool *prescribed(const struct orr_plant *p, const struct orr_jam *jam) {
  return &p->ws->prescribed[p->model->limb_of_body[jam->body]];
}

/* β̇ = −β/(what is left of the time to rest, to the end of the frame at least), chosen at the start of each frame and
 * of each part of one, and held in it. */
static void brake(const struct orr_plant *p, struct orr_jam *jam, const struct orr_limb *limb,
                  const struct orr_evaluation_point *point) {
  int64_t frame_end_ns = orr_plant_time_ns(p) + p->step_ns;
  int64_t rest_ns = jam->rest_ns > frame_end_ns ? jam->rest_ns : frame_end_ns;
  double left_s = 1e-9 * (double)(rest_ns - point->start_ns);
  for (int i = 0; i < limb->dof; i++)
    jam->acceleration[i] = -p->ws->u[limb->hinge_u + i] / left_s;
}

static void act_with_jams(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                          double *force, double *given) {
  struct orr_plant *p = (struct orr_plant *)drive;
  orr_plant_act(drive, ws, point, force, given);
  for (int j = 0; j < p->jam_count; j++) {
    struct orr_jam *jam = &p->jams[j];
    const struct orr_limb *limb = limb_of(p, jam);
    if (!jam->holds)
      continue;
    if (point->index == 0 && p->acting.first)
      brake(p, jam, limb, point);
    for (int i = 0; i < limb->dof; i++)
      given[limb->hinge_u + i] = jam->acceleration[i];
  }
}

void orr_plant_jams(struct orr_plant *plant, struct orr_jam *jams, int count) {
  plant->jams = jams;
  plant->jam_count = count;
  for (int i = 0; i < count; i++) {
    jams[i].clock = (struct orr_motion_clock){.from = 1, .to = 1};
    jams[i].has_clock = orr_motions_clock(&plant->motions, limb_of(plant, &jams[i]), &jams[i].clock);
  }
}

void orr_hinge_jam(struct orr_plant *plant, int index, int64_t rest_ns) {
  struct orr_jam *jam = &plant->jams[index];
  int64_t now_ns = orr_plant_time_ns(plant), over_ns = rest_ns - now_ns;
  if (!jam->on)
    jam->was_prescribed = *prescribed(plant, jam);
  jam->on = true;
  jam->rest_ns = rest_ns;
  if (jam->has_clock) {
    orr_motion_clock_turn(&jam->clock, now_ns, over_ns > plant->step_ns ? over_ns : plant->step_ns, 0);
    return;
  }
  jam->holds = *prescribed(plant, jam) = true;
  memset(jam->acceleration, 0, sizeof jam->acceleration);
  plant->drive.apply = act_with_jams;
}

void orr_hinge_release(struct orr_plant *plant, int index) {
  struct orr_jam *jam = &plant->jams[index];
  bool any = false;
  if (jam->on && jam->has_clock)
    orr_motion_clock_turn(&jam->clock, orr_plant_time_ns(plant), jam->clock.over_ns, 1);
  else if (jam->on)
    *prescribed(plant, jam) = jam->was_prescribed;
  jam->on = jam->holds = false;
  for (int i = 0; i < plant->jam_count; i++)
    any |= plant->jams[i].on && !plant->jams[i].has_clock;
  plant->drive.apply = any ? act_with_jams : orr_plant_act;
}

/* ---- jams in closed loops ---------------------------------------------------------------------------------------- */

/* A jam that takes a freedom of closed loops. */
static bool is_of_loops(const struct orr_plant *p, const struct orr_jam *jam) {
  return jam->on && !jam->has_clock && !jam->was_prescribed &&
         p->integration->closed->loops->limb_at[p->model->limb_of_body[jam->body]] >= 0;
}

/* The next one to hold: the first at rest, and the first of these. NULL: there is none. */
static struct orr_jam *next_to_hold(struct orr_plant *p) {
  struct orr_jam *next = NULL;
  for (int j = 0; j < p->jam_count; j++) {
    struct orr_jam *jam = &p->jams[j];
    if (is_of_loops(p, jam) && !jam->settled && (!next || jam->rest_ns < next->rest_ns))
      next = jam;
  }
  return next;
}

/* Something of the loops is moved from outside. */
static bool is_driven(const struct orr_plant *p) {
  const struct orr_loops *l = p->integration->closed->loops;
  bool driven = false;
  for (int i = 0; i < l->limb_count; i++)
    driven |= p->ws->prescribed[l->limbs[i].limb];
  for (int i = 0; i < p->motions.count; i++)
    driven |= p->motions.items[i].loop >= 0;
  return driven;
}

void orr_plant_settle_jams(struct orr_plant *plant, const double *q) {
  struct orr_closed *closed = plant->integration->closed;
  if (!closed || plant->jam_count == 0)
    return;
  for (int j = 0; j < plant->jam_count; j++) {
    plant->jams[j].settled = false;
    if (is_of_loops(plant, &plant->jams[j]))
      plant->jams[j].holds = *prescribed(plant, &plant->jams[j]) = false;
  }
  bool driven = is_driven(plant), jammed = false;
  orr_loops_update(closed->loops, plant->ws, q);
  int rank = orr_loops_rank(closed->loops, plant->ws, NULL, NULL);
  for (struct orr_jam *jam; (jam = next_to_hold(plant)); jam->settled = true) {
    *prescribed(plant, jam) = true;
    int left = orr_loops_rank(closed->loops, plant->ws, NULL, NULL);
    jam->holds = driven || left > rank - limb_of(plant, jam)->dof;
    *prescribed(plant, jam) = jam->holds;
    rank = jam->holds ? left : rank;
    jammed |= jam->holds;
  }
  orr_closed_learn_here(closed, plant->ws, q, !jammed);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

void orr_jam_words_get(const struct orr_jam *jam, uint64_t words[ORR_JAM_WORDS]) {
  const struct orr_motion_clock *c = &jam->clock;
  const uint64_t of_clock[ORR_JAM_WORDS] = {(uint64_t)c->begun_ns, (uint64_t)c->over_ns, orr_bits_of(c->own_ns),
                                            orr_bits_of(c->from),  orr_bits_of(c->to),   0};
  memcpy(words, jam->has_clock ? (const void *)of_clock : jam->acceleration, sizeof of_clock);
}

static bool within(uint64_t word, double high) {
  double x = orr_double_of(word);
  return x >= 0 && x <= high;
}

bool orr_jam_words_are_sound(const struct orr_jam *jam, const uint64_t words[ORR_JAM_WORDS], int64_t now_ns) {
  return !jam->has_clock || (words[0] <= (uint64_t)now_ns && words[1] <= INT64_MAX / 2 &&
                             within(words[2], (double)now_ns) && within(words[3], 1) && within(words[4], 1));
}

void orr_jam_words_put(struct orr_jam *jam, const uint64_t words[ORR_JAM_WORDS]) {
  if (jam->has_clock)
    jam->clock = (struct orr_motion_clock){(int64_t)words[0], (int64_t)words[1], orr_double_of(words[2]),
                                           orr_double_of(words[3]), orr_double_of(words[4])};
  else
    memcpy(jam->acceleration, words, sizeof jam->acceleration);
}
