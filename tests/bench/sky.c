/* Sun and Moon as runs have them: for each moment on standard input (TT, a modified Julian date) a line with both,
 * from the centre of the Earth, GCRS, m. tests/all/de405.sh holds them to an ephemeris. */
#include <stdio.h>
#include <stdlib.h>

#include "core/environment/sky.h"

int main(void) {
  const double tt_tai = 32.184, hour = 3600;
  size_t bytes = orr_sky_size(hour);
  void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
  double mjd;
  while (block && scanf("%lf", &mjd) == 1) {
    /* a run of an hour around it, so that the moment stands between two nodes */
    struct orr_moment epoch = {2400000.5, mjd - (tt_tai + 0.4 * hour) / 86400};
    struct orr_sky_desc desc = {.epoch = epoch, .duration = hour, .central = ORR_EARTH};
    struct orr_sky *sky = orr_sky_init(block, bytes, &desc);
    if (!sky)
      return 1;
    struct orr_sky_now now;
    orr_sky_at(sky, 0.4 * hour, &now);
    printf("%.3f %.3f %.3f %.3f %.3f %.3f\n", now.sun.x, now.sun.y, now.sun.z, now.moon.x, now.moon.y, now.moon.z);
  }
  free(block);
  return !block;
}
