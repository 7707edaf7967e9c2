/* `orrery eval --solve` and `--factors`: a product with the inverse mass matrix, and the factors of the mass matrix, as
 * JSON. Form and order of rows: configs/conventions.md.
 *
 * Both are for the matrix that eval prints as `mass_matrix`, in which prescribed hinges move freely as others do. For
 * models without closed loops. Call order: orr_evaluation_run → orr_factors_take → the others, any number of times.
 * [init]
 */
#ifndef ORR_TOOLS_EVAL_FACTORS_H
#define ORR_TOOLS_EVAL_FACTORS_H

#include "tools/eval/evaluation.h"

/* Factors the mass matrix with all hinges free, and then restores which of them are prescribed. On failure *body is the
 * body (file order). O(N + Σn³). */
enum orr_status orr_factors_take(struct orr_evaluation *e, int *body);

/* `solution` = M⁻¹ x for the numbers e->solve, and `residual` = M solution − x, into `root`. O(N + Σn²). */
void orr_factors_put_solution(struct orr_evaluation *e, json_t *root);

/* `factors` into `root`. O(u_count (N + Σn²)). */
void orr_factors_put(struct orr_evaluation *e, json_t *root);

#endif
