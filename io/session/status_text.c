#include "io/session/status_text.h"

const char *orr_status_text(enum orr_status status) {
  switch (status) {
  case ORR_OK:
    return "no error";
  case ORR_ERROR_CYCLE:
    return "its parents lead back to it";
  case ORR_ERROR_BLOCK:
    return "the memory block is too small";
  case ORR_ERROR_SINGULAR:
    return "its D(k) is singular or negative: nothing beyond its hinge or its modes resists some motion, or a body is "
           "deformed further than second order in its slopes holds";
  case ORR_ERROR_NOT_FINITE:
    return "its D(k), or the force on it, is not a finite number";
  case ORR_ERROR_GIMBAL:
    return "the first and the third axis of its gimbal are nearly parallel and its angles turn too fast for the step: "
           "take a shorter step, another order of axes, or a ball";
  case ORR_ERROR_LOOP_SINGULAR:
    return "the posture is singular, or a step passes too close to one that is: there equations of the loop coincide, "
           "and its "
           "motion is not determined";
  case ORR_ERROR_LOOP_CONFLICT:
    return "the prescribed hinges tear it open: they are more than the loop leaves free, and do not fit together";
  case ORR_ERROR_LOOP_OPEN:
    return "it could not be closed from its last posture, or equations that followed from others there no longer do";
  }
  return "unknown status";
}

bool orr_status_is_of_loop(enum orr_status status) { return status >= ORR_ERROR_LOOP_SINGULAR; }
