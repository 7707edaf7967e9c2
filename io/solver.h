/* The solver for programs of your own: a spacecraft file and a state in, accelerations out. For C17 and C++17.
 *
 *   struct orr_solver *s = orr_solver_load("ship.yaml", stderr);
 *   struct orr_solver_body wing;
 *   orr_solver_find(s, "wing", &wing);
 *   double *q = …, *u = …;                                  // orr_solver_coordinates, orr_solver_speeds of them
 *   orr_solver_rest(s, q, u);
 *   q[wing.q] = 0.3;                                        // its first coordinate
 *   orr_solver_accelerations(s, q, u, NULL, accel);
 *   orr_solver_free(s);
 *
 * Bodies stand one after another in q and u, in the order of the file: first the modes of a body, then its hinge, with
 * coordinates and speeds as configs/conventions.md has them. load is [init]: it reads files and allocates. The other
 * functions do neither. One thread at a time for each solver. Link with orrery.pc (pkg-config --static).
 */
#ifndef ORR_IO_SOLVER_H
#define ORR_IO_SOLVER_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orr_solver;

/* Where a body is in q and u. */
struct orr_solver_body {
  int q, q_count; /* its hinge's coordinates */
  int u, u_count; /* its hinge's speeds */
  int eta;        /* its modes' amplitudes, in q; their rates begin at `eta_rate` in u */
  int eta_rate, mode_count;
};

/* [init] Reads a model or run file. NULL when anything is wrong with it: `messages` then gets what `orrery check` says;
 * NULL for silence. Ends the program when there is no memory. */
struct orr_solver *orr_solver_load(const char *path, FILE *messages);
void orr_solver_free(struct orr_solver *solver);

/* [any] Lengths of q and u. */
int orr_solver_coordinates(const struct orr_solver *solver);
int orr_solver_speeds(const struct orr_solver *solver);

/* [any] A body by its name; false when there is none. O(bodies). */
bool orr_solver_find(const struct orr_solver *solver, const char *name, struct orr_solver_body *body);

/* [any] All zero, with quaternions that turn nothing. O(bodies). */
void orr_solver_rest(const struct orr_solver *solver, double *q, double *u);

/* [rt] Accelerations [speeds] in this state, under the forces [speeds] that actuators give (NULL: none); springs,
 * dampers and gravity are added. Prescribed hinges do not accelerate. Where the spacecraft has closed loops, q and u
 * must fit them: q within 1e-6; dependent coordinates are then computed from the independent ones. 0, or what
 * orr_solver_why says in words: nothing is then written. O(N + modes²), and the loops. */
int orr_solver_accelerations(struct orr_solver *solver, const double *q, const double *u, const double *force,
                             double *accel);
const char *orr_solver_why(int status);

/* [rt] Position (m) and attitude (x y z w) of a node, `body.node`, in inertial axes, in the state of the last
 * accelerations. False when there is none of that name. O(bodies). */
bool orr_solver_node(const struct orr_solver *solver, const char *name, double position[3], double attitude[4]);

#ifdef __cplusplus
}
#endif

#endif
