/* From a description to what can be solved and flown: model, workspace, closed loops and plant, each in a block of its
 * own. The one place where a spacecraft is put together, for check, eval, run, benchmarks and tests.
 *
 *   orr_build_create                                    model and workspace; loops laid out where there are any
 *     orr_build_plant                                   a run: devices, loops closed at its initial state, solver
 *     or [orr_build_assemble, orr_build_hold or orr_build_close] → orr_build_solver     loops without a plant
 *   → use → orr_build_destroy
 *
 * All of it is [init] and ends the program where there is no memory. One thread at a time.
 */
#ifndef ORR_IO_CONFIG_SPACECRAFT_BUILD_H
#define ORR_IO_CONFIG_SPACECRAFT_BUILD_H

#include "core/loops/assemble.h"
#include "core/loops/closed.h"
#include "core/plant/plant.h"
#include "core/plant/world.h"
#include "io/config/spacecraft/case.h"

enum orr_build_part {
  ORR_BUILD_MODEL,
  ORR_BUILD_WORKSPACE,
  ORR_BUILD_WORLD,
  ORR_BUILD_PLANT,
  ORR_BUILD_LOOPS,
  ORR_BUILD_REASONS,
  ORR_BUILD_SOLVER,
  ORR_BUILD_PARTS
};

struct orr_build {
  const struct orr_description *description;
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_loops *loops;      /* NULL without loops, as are the next two */
  struct orr_closed *closed;    /* orr_build_solver, orr_build_plant */
  enum orr_loop_reason *reason; /* [loops->count] why each has its method; the same */
  struct orr_assembly assembly; /* orr_build_assemble, orr_build_plant: how far the coordinates were from closed */
  struct orr_plant *plant;      /* orr_build_plant */
  /* Of orr_build_plant: ORR_OK, or ORR_ERROR_LOOP_OPEN where the loops cannot be closed at the initial state with
   * driven hinges left where they are, or another status of theirs. */
  enum orr_status start;
  bool opens;       /* the initial speeds do not fit */
  double open_rate; /* m/s or rad/s: how fast the worst equation opens with the initial speeds */
  struct orr_build_block {
    void *base;   /* NULL: not built */
    size_t bytes; /* that the part asked for; the block is a whole number of cache lines */
  } blocks[ORR_BUILD_PARTS];
};

/* Bytes in whole cache lines, aligned to one, zeroed; never NULL: ends the program when there is no memory. free()
 * it. */
void *orr_aligned_block(size_t bytes);

/* How many bytes such a block has. */
size_t orr_aligned_bytes(size_t bytes);

/* The description has passed the reader, and must live as long as the build; options of orr_model_init. O(N), and
 * rows · columns of the loops. */
void orr_build_create(struct orr_build *build, const struct orr_description *description, unsigned options);

/* For the reader: false where the model cannot be compiled. Then nothing was built, and nothing is to be destroyed. */
bool orr_build_try(struct orr_build *build, const struct orr_description *description, unsigned options);

/* Frees all, and zeroes the build. */
void orr_build_destroy(struct orr_build *build);

/* Closes q [q_count] in place. Hinges that are prescribed in the workspace move last. Finds the length that each
 * `distance` loop keeps. Leaves the loops placed there. As orr_loops_assemble_first. */
void orr_build_assemble(struct orr_build *build, double *q);

/* Takes q as closed: each `distance` loop keeps the length that it has at q. Leaves the loops placed there.
 * O(loops). */
void orr_build_hold(struct orr_build *build, const double *q);

/* The same; then a q that is closed within the tolerance is closed as a run closes it at its start. Any other q stays
 * as it is, and orr_loops_open tells how far open it is. */
void orr_build_close(struct orr_build *build, double *q);

/* Chooses the method of each loop at the posture where the loops are placed, and makes the solver. q [q_count] is that
 * posture: the rank of the equations there is kept (orr_closed_reference). With NULL no posture is judged singular.
 * Called again, it replaces the last solver. */
void orr_build_solver(struct orr_build *build, const double *q);

/* Speeds u [u_count] at q, where the loops are closed, that fit what motions drive from the first on: the change that
 * fits and has the least kinetic energy, whatever method the loops are solved by, for a motion is not another by
 * another method. Without motions nothing is done. The loops are left placed at q; the solver may be there already. */
void orr_build_fit_speeds(struct orr_build *build, const double *q, double *u);

/* The plant of a run, and its world where it has one, at its initial state [body_count]: places and speeds there, loops
 * closed at them. `desc` is copied but for q and u; what it points to must live as long. The plant is not yet reset. */
void orr_build_plant(struct orr_build *build, const struct orr_plant_desc *desc, const struct orr_case_body *initial);

#endif
