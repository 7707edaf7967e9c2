/* One evaluation of `orrery eval`: puts a case into a compiled model, solves it, and writes the result as JSON
 * (configs/conventions.md). [init] */
#ifndef ORR_TOOLS_EVAL_EVALUATION_H
#define ORR_TOOLS_EVAL_EVALUATION_H

#include <jansson.h>

#include "core/model/workspace.h"
#include "io/config/spacecraft/build.h"
#include "io/config/spacecraft/case.h"

struct orr_evaluation {
  const struct orr_description *description;
  struct orr_build build;
  const struct orr_case *given;
  bool inverse, composite;
  int *operational; /* node indices of `--operational` */
  int operational_count;
  const double *solve; /* [u_count] the vector of `--solve`, or NULL */
  bool factors;        /* `--factors` */
  double *q, *u;       /* state */
  double *force;       /* generalised forces: given, or the result of inverse dynamics */
  double *accel;       /* accelerations: the result, or given */
  double *prescribed;  /* β̇ of prescribed hinges */
};

/* Allocates, and sets state, forces and prescribed motion of the case. */
void orr_evaluation_create(struct orr_evaluation *e, const struct orr_description *description,
                           const struct orr_case *given);
void orr_evaluation_destroy(struct orr_evaluation *e);

/* Sets the case's external forces, and no others, in the workspace. Its state and poses are set before. */
void orr_evaluation_externals(const struct orr_evaluation *e);

/* Loops of the case's state that are not closed, in place or in speed, to 1e-6: the first as an index, with what is
 * wrong as a text of at most `size` bytes; −1 when there is none. Before orr_evaluation_run. */
int orr_evaluation_open_loop(struct orr_evaluation *e, char *text, size_t size);

/* Solves. On failure *body is the body (file order); of a loop, build.closed->failed_loop tells. */
enum orr_status orr_evaluation_run(struct orr_evaluation *e, int *body);

/* After a run that went well. Numbers that are not finite: json_numbers.h. */
json_t *orr_evaluation_json(struct orr_evaluation *e);

#endif
