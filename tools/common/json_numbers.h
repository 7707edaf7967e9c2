/* Writes numbers as JSON, and finds a number in a result that JSON cannot hold. [init] */
#ifndef ORR_TOOLS_COMMON_JSON_NUMBERS_H
#define ORR_TOOLS_COMMON_JSON_NUMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A number; a string where it is not finite, because jansson would drop such a number without an error. */
json_t *orr_json_number(double x);
json_t *orr_json_numbers(const double *x, size_t count);

/* True if all numbers of a result are finite; else the first that is not, as `bodies.arm.force[2]`, cut to `size`
 * bytes. O(result). */
bool orr_json_is_finite(json_t *result, char *path, size_t size);

#endif
