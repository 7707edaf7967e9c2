/* One evaluation of `orrery eval`: a case put into a compiled model, solved, and its result as JSON in the shape of the
 * conventions. [init] */
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
  double *force;       /* generalised forces: given, or the answer of inverse dynamics */
  double *accel;       /* accelerations: the answer, or given */
  double *prescribed;  /* β̇ of prescribed hinges */
};

/* Takes memory, puts state, forces and prescribed motion of the case in place. */
void orr_evaluation_create(struct orr_evaluation *e, const struct orr_description *description,
                           const struct orr_case *given);
void orr_evaluation_destroy(struct orr_evaluation *e);

/* Puts the case's external forces, and no others, on the workspace, whose state and poses are set. */
void orr_evaluation_externals(const struct orr_evaluation *e);

/* Loops of the case's state that are not closed, in place or in speed, to 1e-6: the first as an index, with what is
 * wrong as a text of at most `size` bytes; −1 when there is none. Before orr_evaluation_run. */
int orr_evaluation_open_loop(struct orr_evaluation *e, char *text, size_t size);

/* Solves. On failure *body is the body (file order); of a loop, build.closed->failed_loop tells. */
enum orr_status orr_evaluation_run(struct orr_evaluation *e, int *body);

/* After a run that went well. Numbers that are not finite: json_numbers.h. */
json_t *orr_evaluation_json(struct orr_evaluation *e);

#endif
