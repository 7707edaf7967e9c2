/* The part of `orrery check` about the spacecraft: computed once, then printed as text or as JSON.
 *
 * create → orr_summary_print or orr_summary_json → destroy, while the description lives. [init]
 */
#ifndef ORR_TOOLS_CHECK_SUMMARY_H
#define ORR_TOOLS_CHECK_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/loops/assemble.h"
#include "core/loops/loop_group.h"
#include "core/model/description.h"
#include "core/model/massprops.h"
#include "core/model/topology.h"

/* Modes of one body with its inboard node held: as the file gives them, and as computed from masses and stiffness. */
struct orr_body_modes {
  size_t count;
  double *given_hz;   /* [count]; NULL where the file gives matrices */
  double *coupled_hz; /* [count], ascending; negative for a motion that grows; NULL for more modes than are computed */
  bool differ;        /* the two do, by more than 1e-6: the modes are not orthogonal in the masses */
};

/* The closed loops, put together from rest. */
struct orr_loop_summary {
  struct orr_assembly assembly;
  int equations;
  int *redundant;                          /* [loop_count] equations that follow from others */
  enum orr_loop_method *method;            /* [loop_count] asked for or chosen */
  enum orr_loop_reason *reason;            /* [loop_count] */
  bool (*undetermined)[ORR_LOOP_MAX_ROWS]; /* [loop_count] moments, then forces, that the equations do not determine */
  struct orr_loop_numbers *numbers;        /* [loop_count] how many there are */
  size_t bytes;
};

struct orr_summary {
  const struct orr_description *description;
  struct orr_topology topology;
  struct orr_mass_properties rest;
  size_t trees, freedoms, prescribed, modes; /* freedoms: speeds of all hinges; prescribed: of these, given ones */
  struct orr_body_modes *bodies;             /* [body_count] */
  struct orr_loop_summary loops;             /* zero without loops */
  size_t model_bytes, workspace_bytes;
  void *memory; /* of topology */
};

/* The description has passed the reader. O(N + modes³). */
void orr_summary_create(struct orr_summary *summary, const struct orr_description *description);
void orr_summary_destroy(struct orr_summary *summary);

/* The tree, mass properties and modes, with units. */
void orr_summary_print(const struct orr_summary *summary, const char *path, bool colour, FILE *out);

/* The same as data, SI. The caller owns the reference. */
json_t *orr_summary_json(const struct orr_summary *summary);

#endif
