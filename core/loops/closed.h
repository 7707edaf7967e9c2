/* Forward dynamics with closed loops. Embedded loops make aggregates of some bodies of the tree (embed.h). The other
 * loops are augmented: they have multipliers on top of the tree's solution (augment.h).
 *
 * Call order, all at init:
 *   model, workspace, loops (loop.h) → place the loops at the first posture, orr_loops_keep_distances →
 *   orr_loops_settle → orr_closed_size → a block → orr_closed_init → orr_closed_reference
 * then for every evaluation
 *   orr_closed_close → orr_state_set, [orr_poses_update, orr_force_*] → orr_closed_forward → queries
 * and for every step of an integrator, in parts of orr_closed_part, after each
 *   orr_closed_project
 * The state is every q in file order and the set of independent coordinates, which only orr_closed_project changes.
 * Thread of the workspace.
 */
#ifndef ORR_CORE_LOOPS_CLOSED_H
#define ORR_CORE_LOOPS_CLOSED_H

#include "core/loops/augment.h"
#include "core/loops/embed.h"
#include "core/loops/loop_choice.h"
#include "core/loops/loop_group.h"

struct orr_closed {
  struct orr_loops *loops;
  struct orr_embed embed;
  struct orr_augment augment;
  struct orr_choice choice;
  int failed_loop;                         /* after ORR_ERROR_LOOP_* */
  bool (*undetermined)[ORR_LOOP_MAX_ROWS]; /* [orr_loops.count] of a loop's multipliers, as they are ordered */
  /* As orr_closed_reference learned it. */
  bool (*first_undetermined)[ORR_LOOP_MAX_ROWS];
  int first_augment_rank;
  double *lambda;       /* [orr_loops.row_count] multipliers of all rows; redundant ones zero */
  double *tau;          /* [u_count] hinge forces with springs */
  double *move, *speed; /* [u_count], [orr_loops.row_count] of projection */
  double *other_q;      /* [q_count] of orr_closed_reference */
  void *assembly;       /* of orr_assembly_size, for the same */
  uint64_t *kept;       /* [state words] of orr_closed_keep */
};

/* For the methods that the loops have now. [init] O(loops · N). */
size_t orr_closed_size(struct orr_loops *loops);
struct orr_closed *orr_closed_init(void *block, size_t bytes, struct orr_loops *loops);

/* Learns the rank of the equations near q, with the hinges that are prescribed now. A later posture with a smaller rank
 * is singular. Call it again when other hinges are prescribed. Leaves the loops placed at q. [init] some assemblies. */
void orr_closed_reference(struct orr_closed *closed, struct orr_workspace *ws, const double *q);

/* The same at the posture q alone, of closed loops, when hinges have been prescribed or released since; `as_at_first`:
 * they are as they were for orr_closed_reference, whose ranks then hold again. Equations and independent coordinates
 * are chosen anew. Leaves the loops placed at q. [rt] O(rows² columns) and O(rank · rows · count) of each aggregate. */
void orr_closed_learn_here(struct orr_closed *closed, struct orr_workspace *ws, const double *q, bool as_at_first);

/* Makes q and u fit: dependent coordinates and speeds of embedded loops from the independent ones. Loops that are
 * augmented are left as they are. ORR_ERROR_LOOP_OPEN, _SINGULAR. [rt] O(Σ aggregates). */
enum orr_status orr_closed_close(struct orr_closed *closed, struct orr_workspace *ws, double *q, double *u);

/* As orr_forward, and leaves multipliers in closed->lambda and the force through every hinge for orr_hinge_force.
 * It solves for φ̈ = 0, whether the loops are exactly closed or not. ORR_ERROR_LOOP_* with the loop in failed_loop.
 * [rt] As orr_forward, O(rows³) of the augmented loops and O(count³) of each aggregate. */
enum orr_status orr_closed_forward(struct orr_closed *closed, struct orr_workspace *ws, const double *force,
                                   const double *given, double *accel);

/* Products with the inverse mass matrix of the motions that the loops allow, at the set state, without speeds. First
 * the factors, then any number of products out = M⁻¹ (x + Gᵀ λ) with G out = 0 and prescribed hinges held. `x`, `out`
 * [u_count]; rotors by ws->rotor_torque and _accel. Springs, gravity and speeds play no part. [init] O(N) and the loops
 * each. */
enum orr_status orr_closed_factor(struct orr_closed *closed, struct orr_workspace *ws);
enum orr_status orr_closed_inverse_mass_apply(struct orr_closed *closed, struct orr_workspace *ws, const double *x,
                                              double *out);

/* What the actuator of a hinge supplies, as orr_hinge_effort, less what gears add. [rt] O(gears). */
void orr_closed_effort(const struct orr_closed *closed, const struct orr_workspace *ws, int body, double *out);

/* Multipliers of loop i as the conventions order them, out [6]; their number. [any] */
int orr_closed_multipliers(const struct orr_closed *closed, int i, double *out);

/* The same with zero for those that redundant equations leave undetermined (`undetermined`, which orr_closed_reference
 * learns). [any] */
int orr_closed_determined(const struct orr_closed *closed, int i, double *out);

/* How much of the left_ns of a step of step_ns that begins or goes on at q, u is to be done next: equations of loops
 * that turn fast, near a singular posture, want shorter parts (loop_choice.h). [rt] at most a thousand parts a step. */
int64_t orr_closed_part(struct orr_closed *closed, struct orr_workspace *ws, const double *q, const double *u,
                        int64_t step_ns, int64_t left_ns);

/* The choices of independent coordinates and of equations, and how fast equations turn, as words of a run's state, and
 * setting them; prescribed hinges are as they were. [any] */
size_t orr_closed_state_words(const struct orr_closed *closed);
size_t orr_closed_hash_words(const struct orr_closed *closed); /* the first of them, the choices */
void orr_closed_state_get(const struct orr_closed *closed, uint64_t *words);
void orr_closed_state_put(struct orr_closed *closed, const struct orr_workspace *ws, const uint64_t *words);

/* The same into memory of its own, and back from there: for a part of a step that is tried. [rt] O(state). */
void orr_closed_keep(struct orr_closed *closed);
void orr_closed_go_back(struct orr_closed *closed, const struct orr_workspace *ws);

/* Brings q back onto the loops along M⁻¹ Gᵀ, and u so that G u = 0 with the least change of kinetic energy; dependent
 * coordinates of embedded loops are closed as by orr_closed_close, and their choice is reconsidered. At the end of a
 * step; the workspace's state has to be set again after it. [rt] at most 6 rounds of a factor and a sweep, usually one
 * or two. */
enum orr_status orr_closed_project(struct orr_closed *closed, struct orr_workspace *ws, double *q, double *u);

#endif
