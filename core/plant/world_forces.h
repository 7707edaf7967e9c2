/* What world.c and its devices share; for core/plant/world*.c alone. [rt] */
#ifndef ORR_CORE_PLANT_WORLD_FORCES_H
#define ORR_CORE_PLANT_WORLD_FORCES_H

#include "core/plant/world.h"

/* Adds a completed step to the reference. */
void orr_world_settle(struct orr_world *world);

/* One evaluation: gravity and plates onto the workspace, the reference's slopes into the state. O(N) and one field. */
void orr_world_act(struct orr_world *world, struct orr_workspace *ws, const struct orr_evaluation_point *point);

/* The same at a frame, for sensors and channels; nothing is added to the workspace. */
void orr_world_observe(struct orr_world *world, struct orr_workspace *ws, double time_s);

/* Air and light on the plates, summed in `now`; onto the workspace too if `adds`. */
void orr_world_press(struct orr_world *world, struct orr_workspace *ws, bool adds);

#endif
