/* Mass properties of a description at rest: every coordinate zero, nothing deformed, loops ignored. No state; any
 * thread. */
#ifndef ORR_CORE_MODEL_MASSPROPS_H
#define ORR_CORE_MODEL_MASSPROPS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/math/spatial.h"
#include "core/model/description.h"

struct orr_mass_properties {
  double mass;       /* kg */
  double com[3];     /* m, inertial */
  double inertia[6]; /* kg m², about the centre of mass, inertial axes: xx yy zz xy xz yz */
};

/* [init] One body alone, undeformed: about the origin of its body frame, body axes. O(nodes). */
orr_inertia orr_body_inertia_at_rest(const struct orr_body_desc *body);

/* [any] A rigid body with neither mass nor inertia: what hangs on it has them. */
static inline bool orr_body_is_massless(const struct orr_body_desc *body) {
  bool any = body->flexible || body->mass != 0;
  for (int i = 0; i < 6; i++)
    any |= body->inertia[i] != 0;
  return !any;
}

/* [init] The constant block of a flexible body's modal mass matrix, mff [mode_count][mode_count]:
 * Σ_j m Γᵀ Γ + Π_sᵀ J Π_s, Γ = Π_t + Π_s × p. O(nodes n²). */
void orr_body_modal_mass(const struct orr_body_desc *body, double *mff);

/* [init] Bytes of scratch for orr_mass_properties_at_rest. O(1). */
size_t orr_mass_properties_scratch_size(const struct orr_description *description);

/* [init] The whole spacecraft; its bodies form a tree. Scratch is aligned to 16. O(N + nodes). */
struct orr_mass_properties orr_mass_properties_at_rest(const struct orr_description *description, void *scratch);

#endif
