/* The benchmark spacecraft, made in memory: the same numbers wherever they are measured. [init]
 *
 * create → description → destroy. States of the rigid ones are those of the published benchmark: q = 0.3 sin(i + 1 +
 * .37 k), speed = 0.2 cos(1.7 i + .11 k), τ = 0.1 sin(2.3 i + .5 + .23 k), i = hinge number, k = 0 … 15.
 */
#ifndef ORR_TOOLS_BENCH_BENCH_MODELS_H
#define ORR_TOOLS_BENCH_BENCH_MODELS_H

#include "core/model/description.h"
#include "core/model/model.h"

enum { ORR_BENCH_STATES = 16 };

struct orr_bench_model;

/* N rigid bodies on revolute hinges about x, y, z in turn, base fixed. */
struct orr_bench_model *orr_bench_chain(int bodies);

/* A free bus with nine appendages on 22 revolute hinges, `bus_modes` modes on the bus. */
struct orr_bench_model *orr_bench_spacecraft(int bus_modes);

/* Ten (or more) beams of 2 m on revolute hinges, each with `modes` clamped modes. */
struct orr_bench_model *orr_bench_flexible_chain(int bodies, int modes, enum orr_deformation deformation);

const struct orr_description *orr_bench_description(const struct orr_bench_model *model);
void orr_bench_destroy(struct orr_bench_model *model);

/* State k and forces in the user order of the compiled model. */
void orr_bench_state(const struct orr_model *model, int k, double *q, double *u, double *force);

#endif
