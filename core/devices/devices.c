#include "core/devices/devices.h"

#include <string.h>

extern const struct orr_device_kind orr_reaction_wheel;
extern const struct orr_device_kind orr_rate_gyro, orr_star_tracker;

const struct orr_device_kind *const orr_device_kinds[] = {
    &orr_reaction_wheel,
    &orr_rate_gyro,
    &orr_star_tracker,
    NULL,
};

const struct orr_device_kind *orr_device_kind_find(const char *name) {
  for (const struct orr_device_kind *const *kind = orr_device_kinds; *kind; kind++)
    if (strcmp((*kind)->name, name) == 0)
      return *kind;
  return NULL;
}
