/* How often actuators could not give what was asked of them: counted frame by frame, for the summary of a run.
 *
 * A kind names the limits that its devices have (`limits` in core/plant/device.h), most of them by the parameter that
 * sets one. A device that meets one in a frame says so by orr_device_limited, once a frame. A frame in which none is
 * met costs a comparison at most. Nothing of this is state, and it changes no bit.
 */
#ifndef ORR_CORE_PLANT_LIMITS_H
#define ORR_CORE_PLANT_LIMITS_H

#include <stdint.h>

#include "core/math/block.h"

enum { ORR_LIMITS_MAX = 4 };

/* A limit of a kind. */
struct orr_limit {
  const char *name;  /* "max_torque": of the parameter where it is one */
  const char *words; /* what happened, for people: "at its max_torque"; of pulses "cut to max_on_time" */
  bool pulses;       /* it counts commands, and not frames */
};

/* What one device met. */
struct orr_limited {
  struct {
    int64_t frames;      /* in which the limit held, or commands that met it */
    int64_t first, last; /* the first and the last of these frames */
  } met[ORR_LIMITS_MAX];
};

#endif
