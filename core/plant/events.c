#include "core/plant/events.h"

#include <math.h>

#include "core/loops/closed.h"

/* ---- one contact ------------------------------------------------------------------------------------------------- */

/* The way beyond the stop of a side, and how it grows. */
static double beyond(const struct orr_device_stops *s, int side, double q) {
  return side > 0 ? q - s->high : s->low - q;
}

/* k x + c v on a side, by its sign a force inwards. */
static double push(const struct orr_device_stops *s, int side, double q, double u) {
  return s->stiffness * beyond(s, side, q) + s->damping * (side > 0 ? u : -u);
}

static bool touches(const struct orr_device_stops *s, int side, double q, double u) {
  return beyond(s, side, q) > 0 && push(s, side, q, u) > 0;
}

static int side_at(const struct orr_device_stops *s, double q, double u) {
  return touches(s, 1, q, u) ? 1 : touches(s, -1, q, u) ? -1 : 0;
}

double orr_stop_force(const struct orr_stop *c, double q, double u) {
  return c->side ? -c->side * push(&c->stops, c->side, q, u) : 0;
}

double orr_stops_force(const struct orr_device_stops *s, double q, double u) {
  int side = side_at(s, q, u);
  return side ? -side * push(s, side, q, u) : 0;
}

/* Where the coordinate is at `s` of the part, 0 … 1, of h seconds: the cubic through its ends. */
static void course(const struct orr_stop *c, double h, double s, double *q, double *u) {
  double v0 = h * c->from_u, v1 = h * c->until_u, way = c->until - c->from;
  double a = 3 * way - 2 * v0 - v1, b = v0 + v1 - 2 * way;
  *q = c->from + s * (v0 + s * (a + s * b));
  *u = (v0 + s * (2 * a + s * 3 * b)) / h;
}

/* Whether the contact should have another side than it has, at `s`. */
static bool differs(const struct orr_stop *c, double h, double s) {
  double q, u;
  course(c, h, s, &q, &u);
  return side_at(&c->stops, q, u) != c->side;
}

/* Where the coordinate turns back within the part, if it does: there it may have touched, or let go, and come back. */
static double turns_back(const struct orr_stop *c, double h) {
  double low = 0, high = 1;
  if (!(c->from_u * c->until_u < 0))
    return 1;
  for (int i = 0; i < ORR_EVENT_BISECTIONS; i++) {
    double middle = 0.5 * (low + high), q, u;
    course(c, h, middle, &q, &u);
    *(u * c->from_u > 0 ? &low : &high) = middle;
  }
  return high;
}

/* The moment at which it changes, as a part of the part; 2: it does not. */
static double moment_of(const struct orr_stop *c, double h) {
  double low = 0, high = 1;
  if (side_at(&c->stops, c->until, c->until_u) == c->side) {
    high = turns_back(c, h);
    if (high >= 1 || !differs(c, h, high))
      return 2;
  }
  for (int i = 0; i < ORR_EVENT_BISECTIONS; i++) {
    double middle = 0.5 * (low + high);
    *(differs(c, h, middle) ? &high : &low) = middle;
  }
  return high;
}

/* The side that it takes at its moment. */
static void change(struct orr_stop *c, double h) {
  double q, u;
  course(c, h, c->moment, &q, &u);
  c->side = side_at(&c->stops, q, u);
}

/* ---- shafts of gears with backlash ------------------------------------------------------------------------------- */

/* The shaft within the step: rk4 and heun reach a stage by the speed of the stage before. */
double orr_shaft_lag(const struct orr_events *e, const struct orr_stop *c, const struct orr_evaluation_point *point,
                     double q) {
  const struct orr_integration *i = e->integration;
  if (point->index <= 0)
    return q - *c->shaft;
  double h = 1e-9 * (double)point->step_ns, spin = i->spin[c->rotor];
  if (point->index > 1)
    spin += 0.5 * h * i->ks[point->index - 2][c->rotor];
  return q - (*c->shaft + point->part * h * spin / c->ratio);
}

double orr_shaft_drift(const struct orr_stop *c, double u, double spin) { return u - spin / c->ratio; }

/* The contact's coordinate and speed between steps. */
static double place(const struct orr_stop *c, const struct orr_integration *i) {
  return c->shaft ? i->q[c->q] - *c->shaft : i->q[c->q];
}

static double speed(const struct orr_stop *c, const struct orr_integration *i) {
  return c->shaft ? orr_shaft_drift(c, i->u[c->u], i->spin[c->rotor]) : i->u[c->u];
}

/* The shafts at the end of a part of h seconds, from the rotors' speeds at its start and their accelerations at its
 * stages: h Σ w_s Ω_s written out. */
static void turn_shafts(struct orr_events *e, const struct orr_integration *i, const double *spin, double h) {
  for (int k = 0; k < e->count; k++) {
    struct orr_stop *c = &e->items[k];
    if (!c->shaft)
      continue;
    double mean = spin[c->rotor];
    if (i->rule == ORR_SEMI_IMPLICIT)
      mean = i->spin[c->rotor];
    else if (i->rule == ORR_RK4)
      mean += h / 6 * (i->ks[0][c->rotor] + i->ks[1][c->rotor] + i->ks[2][c->rotor]);
    else
      mean += h / 2 * i->ks[0][c->rotor];
    *c->shaft += h * mean / c->ratio;
  }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void orr_events_layout(struct orr_events *e, const struct orr_model *model, int count, size_t device_bytes,
                       struct orr_block *block) {
  e->count = count;
  e->items = ORR_TAKE(block, struct orr_stop, count);
  e->device_bytes = device_bytes;
  if (count == 0)
    return;
  e->q = ORR_TAKE(block, double, model->q_count);
  e->u = ORR_TAKE(block, double, model->u_count);
  e->spin = ORR_TAKE(block, double, model->rotor_count);
  e->part_spin = ORR_TAKE(block, double, model->rotor_count);
  e->kept_state = ORR_TAKE(block, char, device_bytes);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void keep(struct orr_events *e, const struct orr_integration *i) {
  memcpy(e->q, i->q, sizeof(double) * (size_t)i->model->q_count);
  memcpy(e->u, i->u, sizeof(double) * (size_t)i->model->u_count);
  memcpy(e->spin, i->spin, sizeof(double) * (size_t)i->model->rotor_count);
  memcpy(e->kept_state, e->device_state, e->device_bytes);
  for (int k = 0; k < e->count; k++) {
    e->items[k].from = place(&e->items[k], i);
    e->items[k].from_u = speed(&e->items[k], i);
  }
  if (i->closed)
    orr_closed_keep(i->closed);
}

static void go_back(const struct orr_events *e, struct orr_integration *i) {
  memcpy(i->q, e->q, sizeof(double) * (size_t)i->model->q_count);
  memcpy(i->u, e->u, sizeof(double) * (size_t)i->model->u_count);
  memcpy(i->spin, e->spin, sizeof(double) * (size_t)i->model->rotor_count);
  memcpy(e->device_state, e->kept_state, e->device_bytes);
  if (i->closed)
    orr_closed_go_back(i->closed, i->ws);
}

/* Sides at the start of a step, by where the coordinates are ahead_s later. */
static void choose_sides(struct orr_events *e, const struct orr_integration *i, double ahead_s) {
  for (int k = 0; k < e->count; k++) {
    struct orr_stop *c = &e->items[k];
    double q = place(c, i), u = speed(c, i);
    c->side = side_at(&c->stops, q + ahead_s * u, u);
  }
}

/* How much of the left_ns of the step is done next. */
static int64_t part_of(struct orr_integration *i, int64_t step_ns, int64_t left_ns) {
  return i->closed ? orr_closed_part(i->closed, i->ws, i->q, i->u, step_ns, left_ns) : left_ns;
}

static enum orr_status part(struct orr_integration *i, int64_t start_ns, int64_t part_ns) {
  struct orr_events *e = i->events;
  *e->step_s = 1e-9 * (double)part_ns;
  memcpy(e->part_spin, i->spin, sizeof(double) * (size_t)i->model->rotor_count);
  enum orr_status status = orr_integration_part(i, start_ns, part_ns);
  if (status == ORR_OK)
    turn_shafts(e, i, e->part_spin, 1e-9 * (double)part_ns);
  return status;
}

/* The step from `done` up to `until`, with the sides as they are. */
static enum orr_status advance(struct orr_integration *i, int64_t start_ns, int64_t step_ns, int64_t done,
                               int64_t until) {
  enum orr_status status = ORR_OK;
  for (int64_t part_ns; done < until && status == ORR_OK; done += part_ns) {
    part_ns = part_of(i, step_ns, until - done);
    status = part(i, start_ns + done, part_ns);
    *i->events->first = false;
  }
  return status;
}

/* The first moment at which a contact changes in the part that was tried, ns; INT64_MAX: none does. */
static int64_t first_moment(struct orr_events *e, const struct orr_integration *i, int64_t part_ns) {
  int64_t first = INT64_MAX;
  for (int k = 0; k < e->count; k++) {
    struct orr_stop *c = &e->items[k];
    c->until = place(c, i);
    c->until_u = speed(c, i);
    c->moment = moment_of(c, 1e-9 * (double)part_ns);
    int64_t at = c->moment <= 1 ? llrint(c->moment * (double)part_ns) : INT64_MAX;
    first = at < first ? at : first;
  }
  return first < 1 ? 1 : first;
}

/* All that change at that moment. */
static int change_sides(struct orr_events *e, int64_t part_ns, int64_t at) {
  int changed = 0;
  for (int k = 0; k < e->count; k++) {
    struct orr_stop *c = &e->items[k];
    if (!(c->moment <= 1) || llrint(c->moment * (double)part_ns) > at)
      continue;
    change(c, 1e-9 * (double)part_ns);
    changed++;
  }
  return changed;
}

/* Those that should have changed by the end of the step, and could not. */
static void count_late(struct orr_events *e) {
  for (int k = 0; k < e->count; k++)
    e->late += e->items[k].moment <= 1;
}

enum orr_status orr_events_step(struct orr_integration *i, int64_t start_ns, int64_t step_ns) {
  struct orr_events *e = i->events;
  double whole_s = *e->step_s;
  enum orr_status status = ORR_OK;
  if (i->rule == ORR_SEMI_IMPLICIT) {
    choose_sides(e, i, 0);
    status = advance(i, start_ns, step_ns, 0, step_ns);
    *e->step_s = whole_s;
    return status;
  }
  if (*e->first)
    e->splits_left = ORR_EVENT_SPLITS;
  choose_sides(e, i, 1e-12 * (double)step_ns);
  for (int64_t done = 0, part_ns; done < step_ns && status == ORR_OK; done += part_ns) {
    keep(e, i);
    part_ns = part_of(i, step_ns, step_ns - done);
    status = part(i, start_ns + done, part_ns);
    int64_t at = status == ORR_OK ? first_moment(e, i, part_ns) : part_ns;
    if (at < part_ns && e->splits_left > 0) {
      go_back(e, i);
      status = advance(i, start_ns, step_ns, done, done + at);
      e->splits_left--;
      e->located += change_sides(e, part_ns, at);
      part_ns = at;
    } else if (at < part_ns) {
      count_late(e);
    }
    *e->first = false;
  }
  *e->step_s = whole_s;
  return status;
}
