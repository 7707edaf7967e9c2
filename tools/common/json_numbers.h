/* Numbers into JSON, and where in a result there is one that JSON has no word for. [init] */
#ifndef ORR_TOOLS_COMMON_JSON_NUMBERS_H
#define ORR_TOOLS_COMMON_JSON_NUMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A number; where it is not finite a string, since jansson makes nothing of such a number and would leave it out
 * unsaid. */
json_t *orr_json_number(double x);
json_t *orr_json_numbers(const double *x, size_t count);

/* True if all numbers of a result are finite; else the first that is not, as `bodies.arm.force[2]`, cut to `size`
 * bytes. O(result). */
bool orr_json_is_finite(json_t *result, char *path, size_t size);

#endif
