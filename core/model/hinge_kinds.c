#include "core/model/hinge_kinds.h"

#include <assert.h>

const struct orr_hinge_kind_info *orr_hinge_kind_info(enum orr_hinge_kind kind) {
  static const struct orr_hinge_kind_info table[ORR_HINGE_KIND_COUNT] = {
      [ORR_HINGE_FIXED] = {"fixed", 0, 0, 0, true, 0},
      [ORR_HINGE_REVOLUTE] = {"revolute", 1, 1, 1, true, 1},
      [ORR_HINGE_PRISMATIC] = {"prismatic", 1, 1, 1, true, 0},
      [ORR_HINGE_CYLINDRICAL] = {"cylindrical", 1, 2, 2, true, 1},
      [ORR_HINGE_UNIVERSAL] = {"universal", 2, 2, 2, true, 3},
      [ORR_HINGE_GIMBAL] = {"gimbal", 3, 3, 3, true, 7},
      [ORR_HINGE_BALL] = {"ball", 0, 4, 3, false, 7},
      [ORR_HINGE_PLANAR] = {"planar", 1, 3, 3, true, 1},
      [ORR_HINGE_FREE] = {"free", 0, 7, 6, false, 7},
  };
  assert((unsigned)kind < ORR_HINGE_KIND_COUNT);
  return &table[kind];
}
