/* How a slender body is foreshortened where it bends: the second-order shapes of a body whose nodes stand in a line.
 *
 * A line that bends keeps its length, so a node comes closer to the hinge by half the integral of the square of the
 * slope of the line, along it from the body's own hinge node (`at`) to the node:
 *
 *   G_rs = −e h_rs,   h_rs = ∫ φ_r'·φ_s' dx,   φ_r the part of Π_t of mode r across the line, e along it
 *
 * φ' is that of the cubic spline through the nodes (not-a-knot, so that nothing is assumed about the ends): it needs no
 * slopes of sections, which shear makes another thing than the slope of the line. Twist and stretch add nothing.
 *
 * orr_spine_find judges a body; orr_foreshorten computes. No state; [init].
 */
#ifndef ORR_CORE_MODEL_FORESHORTEN_H
#define ORR_CORE_MODEL_FORESHORTEN_H

#include "core/math/block.h"
#include "core/math/spatial.h"
#include "core/model/description.h"

enum orr_spine_fault {
  ORR_SPINE_OK,
  ORR_SPINE_POINT, /* all nodes stand at one place */
  ORR_SPINE_OFF,   /* node `node` is `off` m off the line through the first and the last */
  ORR_SPINE_ORDER, /* node `node` comes before the one before it */
  ORR_SPINE_TWICE, /* node `node` stands where the one before it does, and modes move it otherwise */
};

struct orr_spine {
  enum orr_spine_fault fault;
  size_t node;
  double off;     /* m */
  double length;  /* m */
  orr_vec3 along; /* unit, from the first node to the last, body axes */
};

/* The line of a body's nodes, in their order. O(nodes n). */
struct orr_spine orr_spine_find(const struct orr_body_desc *body);

/* Whether the file gives the second-order shapes of a body; else they are those of its line. O(nodes). */
bool orr_curves_given(const struct orr_body_desc *body);

/* Scratch of orr_foreshorten. */
struct orr_foreshorten {
  double *at;          /* [nodes] m, of the stations: nodes at one place are one */
  int *station;        /* [nodes] of a node */
  double *slope;       /* [nodes][n][3] φ' at the stations */
  orr_vec3 *phi;       /* [nodes] φ of one mode at the stations */
  double *over, *diag; /* [nodes] of the spline */
  double *sum;         /* [n][n] */
};
struct orr_foreshorten orr_foreshorten_layout(const struct orr_body_desc *body, struct orr_block *block);

/* h_rs of every node into out [nodes][n][n]; the body has a line. O(nodes n²). */
void orr_foreshorten(const struct orr_body_desc *body, const struct orr_spine *line, struct orr_foreshorten *scratch,
                     double *out);

#endif
