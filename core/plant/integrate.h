/* One step of the equations of motion, by one of four rules, on preallocated memory.
 *
 *   rk4             classical Runge-Kutta, order 4
 *   heun            explicit trapezoid, order 2
 *   semi_implicit   u first, then q with the new u: order 1; symplectic, so the energy of oscillations does not drift
 *   implicit_modal  order 2, L-stable for stiff modes and hinge springs; two sweeps a step, see integrate.c
 *
 * Rotations advance on their group: within a step a quaternion is q₀ ∘ exp(σ) and the rule runs on σ, with
 * σ̇ = ω + ½ σ × ω + 1/12 σ × (σ × ω) (Bortz, to the order of rk4). Rotor speeds are advanced by the same stages.
 * The velocity v of a free hinge stands in its own axes, which turn; the rules run on y = R v, in axes of the parent's
 * node, ẏ = R (v̇ + ω × v). So a body on which nothing acts coasts straight, however fast it goes and turns.
 *
 * Call order: orr_integration_size → a block → orr_integration_init [init], then fill q, u, spin and call
 * orr_integration_step [rt] any number of times. Thread of the workspace.
 */
#ifndef ORR_CORE_PLANT_INTEGRATE_H
#define ORR_CORE_PLANT_INTEGRATE_H

#include <stdint.h>

#include "core/model/workspace.h"

struct orr_closed;  /* core/loops/closed.h */
struct orr_motions; /* core/plant/motions.h */
struct orr_events;  /* core/plant/events.h */

enum orr_integrator { ORR_RK4, ORR_HEUN, ORR_SEMI_IMPLICIT, ORR_IMPLICIT_MODAL, ORR_INTEGRATOR_COUNT };

/* As run files write them; ends with NULL. */
extern const char *const orr_integrator_names[ORR_INTEGRATOR_COUNT + 1];

/* How many evaluations a step of each rule takes. */
extern const int orr_integrator_evaluations[ORR_INTEGRATOR_COUNT];

/* Where an evaluation stands. */
struct orr_evaluation_point {
  int64_t start_ns; /* of the step */
  int64_t step_ns;  /* its length */
  int index;        /* 0 at the start of the step, then 1, 2, 3; −1 outside steps, where nothing is to be kept */
  double part;      /* 0 … 1 of the step gone */
};

/* What acts on the system. The caller's struct begins with this one; `apply` is called at every evaluation with the
 * state set and force, given, external forces and rotor torques zero, and adds to them. */
struct orr_drive {
  void (*apply)(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                double *force, double *given);
  bool needs_places; /* poses in inertial axes are wanted in apply */
};

/* A callback before every evaluation, when nothing of it is computed yet: `evaluation` may read a clock, and changes
 * nothing of the system. The watcher's struct begins with this one. [rt] */
struct orr_integration_hook {
  void (*evaluation)(struct orr_integration_hook *hook, const struct orr_evaluation_point *point);
};

struct orr_integration {
  /* How a step is done: orr_integration_step, or orr_events_step where there are stops. */
  enum orr_status (*step)(struct orr_integration *i, int64_t start_ns, int64_t step_ns);
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_drive *drive;
  struct orr_integration_hook *hook; /* NULL: nobody. Set and taken away between steps; a result is the same with it */
  enum orr_integrator rule;
  struct orr_closed *closed;         /* closed loops, or NULL: closed at every stage, projected at the end of a step */
  struct orr_events *events;         /* of orr_events_step */
  bool undivided;                    /* the step at hand is a part that is not divided further */
  const struct orr_motions *motions; /* given motions of hinges and loops, or NULL */
  struct orr_evaluation_point end;   /* of the step at hand */
  double *q, *u, *spin;              /* the state: [q_count], [u_count], [rotor_count] rad/s */
  double implicit_s;                 /* s, γh, of an implicit_modal step */
  bool state_is_set;                 /* the workspace holds this very state: the first evaluation need not set it */
  struct {
    bool valid;       /* ku[0] has the accelerations of the state set, under these loads */
    uint64_t changes; /* those of the workspace, then */
    size_t words;
    double *loads;    /* [words] what acted */
    bool *prescribed; /* [body_count] limbs */
  } seen;
  double *force, *given;   /* [u_count] of the last evaluation */
  double *q1, *u1, *spin1; /* the state of a stage */
  double *sigma;           /* [u_count] its q1 = q ⊕ sigma */
  int free_count;          /* free hinges */
  int *free;               /* [free_count] their limbs */
  int gimbal_count;        /* gimbals */
  int *gimbals;            /* [gimbal_count] their limbs */
  double *start;           /* [u_count] u at the start of a step, with y in place of v */
  double *kq[4], *ku[4], *ks[4];
};

/* [init] Bytes. */
size_t orr_integration_size(const struct orr_model *model);

/* [init] At zero coordinates and speeds. NULL if the block is too small. The drive may be NULL: nothing acts. */
struct orr_integration *orr_integration_init(void *block, size_t bytes, const struct orr_model *model,
                                             struct orr_workspace *ws, struct orr_drive *drive);

/* [rt] Advances q, u and spin from start_ns by step_ns: 4, 2, 1 or 2 forward-dynamics evaluations; near a singular
 * posture of closed loops in up to a thousand parts. On failure the state is that of the last part that succeeded, and
 * ws->failed_body tells the body. */
enum orr_status orr_integration_step(struct orr_integration *i, int64_t start_ns, int64_t step_ns);

/* [rt] One part of a step, undivided; for who divides steps himself (core/plant/events.h). */
enum orr_status orr_integration_part(struct orr_integration *i, int64_t start_ns, int64_t part_ns);

/* [rt] Sets the workspace to q, u, spin with poses, and leaves it so. O(N + Σn²). */
void orr_integration_set(struct orr_integration *i);

/* [rt] One forward-dynamics evaluation at the set state, with the drive applied at index −1. Then the queries for
 * accelerations and hinge forces have answers. After orr_integration_set. O(N + Σn²). */
enum orr_status orr_integration_observe(struct orr_integration *i, int64_t now_ns);

#endif
