/* The solver in a program of one's own: accelerations of a wing that is bent and turned.
 *
 *   cc accelerations.c $(pkg-config --static --cflags --libs orrery) -o accelerations \
 *     && ./accelerations wings.yaml wing_left
 */
#include <stdio.h>
#include <stdlib.h>

#include "io/solver.h"

int main(int argc, char **argv) {
  struct orr_solver_body body;
  struct orr_solver *s = argc == 3 ? orr_solver_load(argv[1], stderr) : NULL;
  if (argc != 3)
    fputs("usage: accelerations FILE BODY\n", stderr);
  if (!s) /* what is wrong with the file stands on stderr */
    return 1;
  if (!orr_solver_find(s, argv[2], &body)) {
    fprintf(stderr, "accelerations: '%s' has no body '%s'\n", argv[1], argv[2]);
    orr_solver_free(s);
    return 1;
  }
  int speeds = orr_solver_speeds(s);
  double *q = calloc((size_t)orr_solver_coordinates(s), sizeof *q);
  double *u = calloc((size_t)speeds, sizeof *u), *accel = calloc((size_t)speeds, sizeof *accel);
  orr_solver_rest(s, q, u);
  for (int r = 0; r < body.mode_count; r++)
    q[body.eta + r] = 0.01; /* its modes */
  for (int i = 0; i < body.u_count; i++)
    u[body.u + i] = 0.1; /* the speeds of its hinge */
  int status = orr_solver_accelerations(s, q, u, NULL, accel);
  if (status != 0)
    fprintf(stderr, "%s\n", orr_solver_why(status));
  for (int i = 0; status == 0 && i < speeds; i++)
    printf("%.17g\n", accel[i]);
  free(q);
  free(u);
  free(accel);
  orr_solver_free(s);
  return status != 0;
}
