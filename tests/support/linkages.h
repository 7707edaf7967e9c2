/* Hard linkages, drawn by a seed: overconstrained ones of the textbooks, nearly parallel and nearly singular ones, and
 * many loops at once; and the judgement of how one moves.
 *
 * orr_linkage_make → orr_linkage_judge by each method → orr_linkage_free. One thread per linkage.
 */
#ifndef ORR_TESTS_SUPPORT_LINKAGES_H
#define ORR_TESTS_SUPPORT_LINKAGES_H

#include "core/model/model.h"
#include "core/plant/integrate.h"
#include "tests/support/sample.h"

enum orr_linkage_kind {
  ORR_LINKAGE_BENNETT,  /* 4R; sin α / a = sin β / b */
  ORR_LINKAGE_GOLDBERG, /* 5R: two Bennett linkages about a common link, which is taken away */
  ORR_LINKAGE_BRICARD,  /* 6R, symmetric about a line */
  ORR_LINKAGE_MIRROR,   /* 6R, Bricard's symmetric about a plane */
  ORR_LINKAGE_SARRUS,   /* 6R: three axes along one direction, three along another */
  ORR_LINKAGE_PLANAR,   /* four to six bars in a plane that lies anyhow in space */
  ORR_LINKAGE_STACK,    /* parallelograms on parallelograms, some with a third crank */
  ORR_LINKAGE_PARALLEL, /* planar, but for an axis or two tilted by 1e-12 … 1e-3 rad */
  ORR_LINKAGE_SINGULAR, /* four-bars that pass, or nearly pass, a posture where all bars lie on one line */
  ORR_LINKAGE_MANY,     /* a fan of four-bars and Bennett linkages */
  ORR_LINKAGE_TILTED,   /* planar, each axis tilted by its own 1e-12 … 1e-3 rad or not at all */
  ORR_LINKAGE_SPHERE,   /* four to six axes through one point, or nearly through it */
  ORR_LINKAGE_NESTED,   /* loops on bodies of loops: Watt's and Stephenson's six bars, rings on rings, two bearings */
  ORR_LINKAGE_HUNG,     /* a free body on legs that stand on the ground: loops through the free hinge */
  ORR_LINKAGE_LONG,     /* rings of 8 to 20 bodies */
  ORR_LINKAGE_JOINTS,   /* rings with ball, universal and sliding hinges, bars that keep a distance, gears */
  ORR_LINKAGE_FLEXIBLE, /* rings of flexible bodies with stiff modes, by implicit_modal */
  ORR_LINKAGE_KINDS
};

extern const char *const orr_linkage_names[ORR_LINKAGE_KINDS];

enum { ORR_LINKAGE_MOST_BODIES = 40, ORR_LINKAGE_MOST_LOOPS = 12 };

struct orr_linkage {
  struct orr_sample *sample; /* q: closed, or open by as much as tilted axes miss; u: any, not made to fit */
  struct orr_loop_desc loops[ORR_LINKAGE_MOST_LOOPS]; /* with methods of their own in half of those with several */
  double step_s, duration_s;
  enum orr_integrator rule; /* rk4, but where modes are stiff */
};

struct orr_linkage *orr_linkage_make(enum orr_linkage_kind kind, uint64_t seed);
void orr_linkage_free(struct orr_linkage *linkage);

enum orr_linkage_verdict { ORR_LINKAGE_FINE, ORR_LINKAGE_REFUSED, ORR_LINKAGE_WRONG };

/* A motion by the step, by half of it and by a tenth. It is wrong where q differs from the motion by a tenth by more
 * than 20 times the difference between the step and its half, plus 1e-9, or the energy from that of the start by more
 * than 1e-6 of its range, or a loop is open beyond the tolerance. Energy is not judged where stiff modes are damped by
 * the rule. */
struct orr_linkage_result {
  enum orr_linkage_verdict verdict;
  enum orr_status status; /* of the step's motion, where it was refused */
  double stopped_s;       /* where it was; before the first step: 0 */
  double difference;      /* of q from the motion by a tenth */
  double halved;          /* of q from the motion by a half */
  double energy;          /* J, the most that it is off */
  double range;           /* J, of the kinetic energy */
  double gap;             /* m or rad, the widest */
  double end[4];          /* some of q at the end, by a tenth of the step */
  const char *why;
};

struct orr_linkage_result orr_linkage_judge(const struct orr_linkage *linkage, enum orr_loop_method method);

#endif
