/* Compares a result of `orrery eval` with an expected one, field by field.
 *
 * Only what the expected result holds is asked for (a null is not). The difference of each vector or matrix is measured
 * against a scale, and passes if difference <= rtol * scale + atol:
 *   bodies.*                              max(own largest element, 1e-2 of the field's largest over all bodies);
 *                                         position max(1 m, itself); attitude 1, up to sign
 *   mass_matrix, operational_compliance   element ij against sqrt(ii * jj)
 *   log_det_mass_matrix                   max(1, |expected|)
 *   energies                              max(|each|, 1e-3 of their sum)
 *   momentum                              angular and linear part, each max(own, 1e-3 of both)
 *   multipliers                           max(own, 1e-3 of all)
 *   trajectory                            at each t: state like bodies, energies and momentum as above
 * From any thread; nothing is shared.
 */
#ifndef ORR_TESTS_SUPPORT_RESULTS_H
#define ORR_TESTS_SUPPORT_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct orr_tolerance {
  double relative, absolute;
};

struct orr_comparison {
  size_t compared;       /* vectors and matrices looked at */
  size_t failed;         /* those out of tolerance, missing, or of the wrong shape */
  double worst;          /* largest difference / (rtol * scale + atol); infinite for what is missing */
  double worst_relative; /* its difference / scale */
  char worst_field[160];
  char note[80]; /* why, when it is not a matter of digits */
};

/* [any] Cost: one pass over both. Never fails itself: what cannot be compared is a failed field. */
struct orr_comparison orr_results_compare(const json_t *expected, const json_t *actual, struct orr_tolerance tolerance);

/* [any] True if something was compared and nothing failed. */
bool orr_results_agree(const struct orr_comparison *c);

#endif
