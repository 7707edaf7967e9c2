/* Energies, momentum and mass properties at the set state.  Thread of the workspace; [rt] O(N + Σn²) each.
 * Call order: orr_state_set → orr_poses_update → these. */
#ifndef ORR_CORE_TREE_ENERGY_H
#define ORR_CORE_TREE_ENERGY_H

#include "core/model/massprops.h"
#include "core/model/workspace.h"

/* J: ½ V_mᵀ M_m V_m of every body, rotors included. */
double orr_kinetic_energy(const struct orr_model *model, struct orr_workspace *ws);

/* J: gravity (zero at the inertial origin), hinge springs, modal stiffness. */
double orr_potential_energy(const struct orr_model *model, struct orr_workspace *ws);

/* [angular about the inertial origin; linear], inertial axes, N m s and N s; rotors included. */
orr_spatial orr_momentum(const struct orr_model *model, struct orr_workspace *ws);

/* Of the whole system in its present posture, rotors locked; linearized bodies undeformed, as in M_m(0). */
struct orr_mass_properties orr_mass_properties(const struct orr_model *model, struct orr_workspace *ws);

#endif
