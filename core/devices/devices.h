/* Every kind of device there is. [any] */
#ifndef ORR_CORE_DEVICES_DEVICES_H
#define ORR_CORE_DEVICES_DEVICES_H

#include "core/plant/device.h"

/* In alphabetical order within actuators, then sensors; ends with NULL. */
extern const struct orr_device_kind *const orr_device_kinds[];

/* The kind of a name, or NULL. O(kinds). */
const struct orr_device_kind *orr_device_kind_find(const char *name);

/* The kind that works under the same name where the run has an environment: most are the same. O(1). */
const struct orr_device_kind *orr_device_kind_in_world(const struct orr_device_kind *kind);

#endif
