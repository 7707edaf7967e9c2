/* V = a Σ (a/r)ⁿ⁺¹ (g cos mλ + h sin mλ) P(sin φ), Schmidt: P = P̄ / √(2n + 1). */
#include "core/environment/magnetic.h"

#include <assert.h>

#include "core/math/block.h"

size_t orr_magnetic_size(int degree) {
  struct orr_block block = {0};
  (void)ORR_TAKE(&block, struct orr_magnetic, 1);
  return block.used + orr_harmonics_size(degree, degree);
}

struct orr_magnetic *orr_magnetic_init(void *block, size_t bytes, const struct orr_magnetic_desc *desc) {
  assert(desc->degree >= 1 && desc->degree <= ORR_MAGNETIC_DEGREE);
  if (!block || bytes < orr_magnetic_size(desc->degree))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_magnetic *m = ORR_TAKE(&b, struct orr_magnetic, 1);
  m->desc = *desc;
  m->field = orr_harmonics_init(b.base + b.used, bytes - b.used, desc->radius * desc->radius, desc->radius,
                                desc->degree, desc->degree);
  orr_harmonics_set(m->field, 0, 0, 0, 0);
  orr_magnetic_set_year(m, desc->epoch);
  return m;
}

void orr_magnetic_set_year(struct orr_magnetic *magnetic, double year) {
  const struct orr_magnetic_desc *d = &magnetic->desc;
  double gone = year - d->epoch;
  for (int n = 1; n <= d->degree; n++) {
    double scale = 1e-9 / sqrt(2.0 * n + 1);
    for (int m = 0; m <= n; m++) {
      const struct orr_gauss *k = &d->gauss[orr_gauss_index(n, m)];
      orr_harmonics_set(magnetic->field, n, m, scale * (k->g + gone * k->g_rate), scale * (k->h + gone * k->h_rate));
    }
  }
}

orr_vec3 orr_magnetic_field(const struct orr_magnetic *magnetic, orr_vec3 at) {
  return v3_neg(orr_harmonics_gradient(magnetic->field, at));
}
