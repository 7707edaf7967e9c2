/* The given motions of a run: hinges and loops that follow a table, a sine, a polynomial or a command.
 *
 * A hinge's q, β and β̇ are those of its motion at every stage and at the end of every step, so no error of an
 * integrator gathers in them. What a loop keeps follows in the same way (orr_loops_drive). A motion that waits begins
 * at the frame in which its channel is 1. One that follows a command goes to it, from where it is when the command
 * changes, by the polynomial of fifth degree in time that keeps position, rate and acceleration continuous and arrives
 * at rest after `over_s`:
 *
 *   x = p + v T s + ½ a T² s² + (10 h − 6 v T − 3/2 a T²) s³ − (15 h − 8 v T − 3/2 a T²) s⁴ + (6 h − 3 v T − ½ a T²) s⁵
 *   s = t/T, h = target − p
 *
 * The motion of a hinge that can jam (core/plant/fault.h) goes by a clock of its own. The clock comes to a stand evenly
 * when the hinge jams, and up to pace again when it is released, so that x(c(t)) is continuous with its rate, and what
 * is left of the motion comes later by as long as the hinge was jammed:
 *
 *   v = x' ċ,  a = x'' ċ² + x' c̈
 *
 * Call order: orr_motions_layout [init]; orr_motions_reset; then at the start of a frame orr_motions_command, and in
 * the integration orr_motions_put and orr_motions_give [rt]. Thread of the plant.
 */
#ifndef ORR_CORE_PLANT_MOTIONS_H
#define ORR_CORE_PLANT_MOTIONS_H

#include <stdint.h>

#include "core/math/spline.h"
#include "core/model/model.h"

struct orr_evaluation_point; /* core/plant/integrate.h */
struct orr_loops;            /* core/loops/loop.h */

/* The state of one motion in a run, as words. */
struct orr_motion_state {
  int64_t begun; /* 1: a motion that waits has begun, a command is followed */
  int64_t begun_ns;
  double target;                 /* command */
  struct orr_motion_now at_once; /* command: where it was when it began */
};

/* A clock whose pace changes evenly: 1 is that of time, at 0 it stands. */
struct orr_motion_clock {
  int64_t begun_ns, over_ns; /* when the change began, and the time that it takes */
  double own_ns;             /* what the clock showed when it began */
  double from, to;           /* its pace then, and from the end of the change on */
};

struct orr_motion_item {
  const struct orr_motion_desc *desc;
  const struct orr_motion_clock *clock; /* NULL: time itself */
  int q, u;                             /* of a hinge's coordinate; −1: of a loop */
  int loop;                             /* file order, or −1 */
  int command;                          /* index of its command in the frame's block, or −1 */
};

struct orr_motions {
  int count;
  struct orr_motion_item *items;
  struct orr_motion_state *state; /* [count] */
  struct orr_loops *loops;        /* NULL: none; set by whoever joins them */
};

/* [any] How many coordinates and loops of a description have a motion. O(N). */
int orr_motions_count(const struct orr_description *description);

/* [init] Takes the memory for the items, not for the state; fills them where the block gives. O(N). */
void orr_motions_layout(struct orr_motions *motions, const struct orr_description *description,
                        const struct orr_model *model, struct orr_block *block);

/* [init] The start of a run at coordinates q: commands stand where their coordinates are, and are told so in `values`
 * (NULL: there are no commands). */
void orr_motions_reset(struct orr_motions *motions, const double *q, double *values);

/* [rt] At the start of the frame at now_ns: commands that have changed are followed from here. O(motions log rows). */
void orr_motions_command(struct orr_motions *motions, int64_t now_ns, const double *values);

/* [init] The coordinates of a limb go by this clock, which must live as long; true if they have a motion.
 * O(motions). */
bool orr_motions_clock(struct orr_motions *motions, const struct orr_limb *limb, const struct orr_motion_clock *clock);

/* [rt] From now_ns on the pace goes to `to` within over_ns. O(1). */
void orr_motion_clock_turn(struct orr_motion_clock *clock, int64_t now_ns, int64_t over_ns, double to);

/* [rt] Driven coordinates and speeds of a stage into q, u, and what driven loops keep. O(motions log rows). */
void orr_motions_put(const struct orr_motions *motions, const struct orr_evaluation_point *point, double *q, double *u);

/* [rt] Their accelerations into given, and what driven loops keep. O(motions log rows). */
void orr_motions_give(const struct orr_motions *motions, const struct orr_evaluation_point *point, double *given);

#endif
