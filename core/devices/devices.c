#include "core/devices/devices.h"

#include <string.h>

extern const struct orr_device_kind orr_hinge_motor, orr_magnetorquer, orr_reaction_wheel, orr_tank, orr_thruster,
    orr_torquer, orr_wrench;
extern const struct orr_device_kind orr_accelerometer, orr_accelerometer_falling, orr_coarse_sun_sensor,
    orr_gps_receiver, orr_hinge_encoder, orr_hinge_load, orr_horizon_sensor, orr_magnetometer, orr_rate_gyro,
    orr_star_tracker, orr_strain, orr_sun_sensor, orr_tachometer;

const struct orr_device_kind *const orr_device_kinds[] = {
    &orr_hinge_motor,
    &orr_magnetorquer,
    &orr_reaction_wheel,
    &orr_tank,
    &orr_thruster,
    &orr_torquer,
    &orr_wrench,
    &orr_accelerometer,
    &orr_coarse_sun_sensor,
    &orr_gps_receiver,
    &orr_hinge_encoder,
    &orr_hinge_load,
    &orr_horizon_sensor,
    &orr_magnetometer,
    &orr_rate_gyro,
    &orr_star_tracker,
    &orr_strain,
    &orr_sun_sensor,
    &orr_tachometer,
    NULL,
};

const struct orr_device_kind *orr_device_kind_find(const char *name) {
  for (const struct orr_device_kind *const *kind = orr_device_kinds; *kind; kind++)
    if (strcmp((*kind)->name, name) == 0)
      return *kind;
  return NULL;
}

const struct orr_device_kind *orr_device_kind_in_world(const struct orr_device_kind *kind) {
  return kind == &orr_accelerometer ? &orr_accelerometer_falling : kind;
}
