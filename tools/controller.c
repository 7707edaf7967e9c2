#include "tools/controller.h"

#include "tools/fsw/attitude.h"

enum { RATE = 0, ATTITUDE = 3, TARGET = 7 };

void orr_controller_answer(const struct orr_run_link *link, const double *telemetry, double *commands) {
  orr_attitude_control(telemetry + RATE, telemetry + ATTITUDE, telemetry + TARGET, link->stiffness, link->damping,
                       commands);
}
