/* Sample flight software: points the cubesat (configs/cubesat.yaml) with its gyro, star tracker and wheels.
 *
 *   fsw [URL]     shm:/orrery.fsw unless given; the run may start before or after it
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/client/client.h"
#include "tools/fsw/attitude.h"

static const double stiffness[3] = {0.004, 0.004, 0.0015}; /* N m/rad */
static const double damping[3] = {0.02, 0.02, 0.006};      /* N m s/rad */
static const char *const wheel_names[3] = {"wheel_x.torque", "wheel_y.torque", "wheel_z.torque"};

static int fly(struct orr_client *link) {
  const struct orr_signal gyro = orr_client_find(link, "gyro.rate"), star = orr_client_find(link, "star.attitude"),
                          aim = orr_client_find(link, "bus.target");
  struct orr_signal wheels[3];
  for (int i = 0; i < 3; i++)
    wheels[i] = orr_client_find(link, wheel_names[i]);
  if (gyro.count != 3 || star.count != 4 || aim.count != 4 || !wheels[0].count || !wheels[1].count ||
      !wheels[2].count) {
    fprintf(stderr, "fsw: this link is not that of the cubesat\n");
    return 1;
  }
  int status;
  while ((status = orr_client_wait(link, ORR_CLIENT_FUTEX, 5000)) > 0) {
    double rate[3], attitude[4], target[4], torque[3];
    for (unsigned i = 0; i < 3; i++)
      rate[i] = orr_client_get(link, gyro, i);
    for (unsigned i = 0; i < 4; i++) {
      attitude[i] = orr_client_get(link, star, i);
      target[i] = orr_client_get(link, aim, i);
    }
    orr_attitude_control(rate, attitude, target, stiffness, damping, torque);
    for (int i = 0; i < 3; i++)
      orr_client_set(link, wheels[i], 0, torque[i]);
    orr_client_send(link);
  }
  if (status != -EPIPE)
    fprintf(stderr, "fsw: %s\n", status ? strerror(-status) : "no frame for five seconds");
  return status != -EPIPE;
}

int main(int argc, char **argv) {
  struct orr_client link;
  int status = orr_client_open(&link, argc > 1 ? argv[1] : "shm:/orrery.fsw", 10000);
  if (status != 0) {
    fprintf(stderr, "fsw: %s\n", link.error);
    return 1;
  }
  status = fly(&link);
  orr_client_close(&link);
  return status;
}
