/* Stops located in the step. The force of a stop has a kink where it is touched and where it is left, and a rule that
 * steps across a kink loses its order: a bounce lost percents of its speed. So a step is divided there.
 *
 * Each contact has a side, chosen at the start of a step and kept until it changes in it, so that forces are smooth
 * between. With x the way beyond the stop and v its rate, it touches while x > 0 and k x + c v > 0: stops push and
 * never pull. A part is tried to the end of its step. Where a contact then should have the other side, its moment is
 * found by bisection on the cubic through places and speeds at both ends. The part is taken again up to there, the
 * contact has its other side, and the rest follows.
 *
 * The cost is bounded: two splits a frame, so four steps of the rule more than without. Contacts that change at the
 * same nanosecond do so together, in the order of the file. What would need a third split waits for the end of its
 * step, and is counted.
 *
 * A side is no state: at the start of a step it follows from places and speeds, looked at a thousandth of the step
 * ahead, so that a contact that has just been made or left is not taken for the other.
 *
 * A gear with backlash is a contact, too: of its shaft, the rotor over the gear's ratio, with the hinge, over the way
 * between them. The shaft's angle is a state of the plant. It follows the rotor's speed by the rule at hand, by the
 * stages that the integration keeps, so rotor and hinge are of one order.
 *
 * semi_implicit keeps the energy of a swing because all its steps are as long as each other, and knows forces at the
 * start of a step alone. Divided it would lose more than it does at a kink, so with it nothing is located.
 *
 * Call order: orr_events_layout [init], then its items, integration, step_s, first and device_state, and `events` and
 * `step` of the integration; then orr_events_step in place of orr_integration_step [rt].
 */
#ifndef ORR_CORE_PLANT_EVENTS_H
#define ORR_CORE_PLANT_EVENTS_H

#include "core/plant/integrate.h"

enum { ORR_EVENT_SPLITS = 2, ORR_EVENT_BISECTIONS = 40 };

/* What a device stops its coordinate with; no end where low or high is not finite. */
struct orr_device_stops {
  double low, high, stiffness, damping;
};

struct orr_stop {
  int q, u; /* of the coordinate */
  struct orr_device_stops stops;
  double *shaft; /* of a gear with backlash: its angle in the plant's state; what is stopped is q less it; or NULL */
  int rotor;     /* that turns it, `ratio` times as far */
  double ratio;
  int side;              /* −1 on the low stop, 1 on the high one, 0 between them */
  double from, from_u;   /* at the start of the part */
  double until, until_u; /* at its end, as tried */
  double moment;         /* 0 … 1 of the part at which it changes; above 1: it does not */
};

struct orr_events {
  int count;
  struct orr_stop *items; /* in the order of the file */
  const struct orr_integration *integration;
  double *step_s;        /* how long the part at hand is, for devices */
  bool *first;           /* it is the first of its frame, for devices; set at the start of a frame */
  int splits_left;       /* in this frame */
  int64_t located, late; /* contacts made and left in the middle of a step; those that had to wait */
  /* What a part is tried from. */
  double *q, *u, *spin;
  double *part_spin; /* at the start of the part at hand */
  void *device_state;
  void *kept_state;
  size_t device_bytes;
};

/* [any] The force of a contact at q, u by the side that it has. */
double orr_stop_force(const struct orr_stop *contact, double q, double u);

/* [any] The force of stops at q, u, by where they are: outside steps. */
double orr_stops_force(const struct orr_device_stops *stops, double q, double u);

/* [rt] By how much q is before the shaft of a gear with backlash, and how fast that grows, at the evaluation at hand;
 * `spin` is the rotor's speed there. */
double orr_shaft_lag(const struct orr_events *events, const struct orr_stop *contact,
                     const struct orr_evaluation_point *point, double q);
double orr_shaft_drift(const struct orr_stop *contact, double u, double spin);

/* [init] Takes the memory for `count` contacts, and `device_bytes` of the devices' state, from the block, or measures
 * it. O(state). */
void orr_events_layout(struct orr_events *events, const struct orr_model *model, int count, size_t device_bytes,
                       struct orr_block *block);

/* [rt] As orr_integration_step, with the contacts of its events located. At most ORR_EVENT_SPLITS splits a frame, each
 * for two steps more of the rule (with loops: for as many parts more as orr_closed_part makes), and a copy of the state
 * for each part. */
enum orr_status orr_events_step(struct orr_integration *integration, int64_t start_ns, int64_t step_ns);

#endif
