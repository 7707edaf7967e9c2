/* Mechanisms for tests of closed loops: random loops on random spacecraft, textbook linkages, and what a test needs to
 * run them. orr_…_make → orr_mechanism_trial_make → calls of core → free both. One thread per object.
 */
#ifndef ORR_TESTS_SUPPORT_LOOPS_H
#define ORR_TESTS_SUPPORT_LOOPS_H

#include "core/loops/assemble.h"
#include "core/loops/closed.h"
#include "tests/support/trial.h"

struct orr_mechanism_trial {
  struct orr_trial trial;
  struct orr_loops *loops;
  struct orr_closed *closed;
  double *q, *u; /* the sample's, to be moved */
  double *accel;
};

/* A compiled sample (whose description has loops) with its loops placed at the sample's state, distances as they are
 * there. */
struct orr_mechanism_trial orr_mechanism_trial_make(const struct orr_sample *sample);
void orr_mechanism_trial_free(struct orr_mechanism_trial *t);

/* Assembles t->q from where it is. */
struct orr_assembly orr_mechanism_trial_assemble(struct orr_mechanism_trial *t);

/* Assembles t->q and takes the least from t->u that keeps the loops closed, driven hinges left alone. False when it
 * cannot be done. */
bool orr_mechanism_trial_fit(struct orr_mechanism_trial *t);

/* The solver, every loop by `method` (ORR_LOOP_AUTO: as the description or the program has it), for motion from
 * t->q. */
void orr_mechanism_trial_solver(struct orr_mechanism_trial *t, enum orr_loop_method method);

/* State t->q, t->u with the sample's pushes and rotors into the workspace, then forward dynamics into t->accel. */
enum orr_status orr_mechanism_trial_forward(struct orr_mechanism_trial *t);

/* Up to `count` random loops of every kind on a sample, into `loops`; returns how many. */
size_t orr_random_loops(const struct orr_sample *sample, uint64_t seed, size_t count, struct orr_loop_desc *loops);

/* A planar four-bar about x in the y-z plane, at zero angles along y: bodies ground (fixed), crank, coupler (on the
 * crank), rocker (on the ground, `base` away), joined at the ends of coupler and rocker by a point loop. Lengths in
 * m. */
struct orr_sample *orr_four_bar(double crank, double coupler, double rocker, double base);

/* The same with a second coupler on the rocker's end and a second rocker on the ground at its origin, `lengths` of the
 * two: a six-bar, two loops through one rocker. */
struct orr_sample *orr_six_bar(double crank, double coupler, double rocker, double base, const double lengths[2]);

/* Lazy tongs: pairs of bars of 1 m that cross in their middles, each pair on the ends of the one before, the first kept
 * symmetric by a gear: one coordinate, `open` [rad] from flat. */
enum { ORR_TONGS_MOST = 40 };
struct orr_sample *orr_tongs(size_t pairs, double open);

/* `count` panels of 1 m hinged end to end about x on a free bus, each geared to the one before by −1, the first to the
 * motor's wheel on the bus by 1/ratio. */
struct orr_sample *orr_panels(size_t count, double ratio);

/* So many wheels on the inertial frame, each turning about z with the given inertia: what gears are tried on. */
struct orr_sample *orr_wheels(size_t count, const double *inertia);

#endif
