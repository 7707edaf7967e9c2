/* Numbers with units, and exact times.
 *
 * A unit is factors such as `N m/rad`, `kg m^2`, `deg/sqrt(h)`: names with an optional prefix, joined by a space, `*`,
 * `.` or `/` (which takes the next factor only), with whole powers and square roots. Angle is a dimension: Hz is 1/s
 * and never rad/s. [any]: pure functions.
 */
#ifndef ORR_IO_CONFIG_TEXT_UNIT_H
#define ORR_IO_CONFIG_TEXT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORR_DIMENSIONS = 6 };

struct orr_unit {
  double numerator, denominator;    /* one of it in SI is the quotient: both are whole wherever they can be */
  int8_t dimension[ORR_DIMENSIONS]; /* twice the powers of m, kg, s, rad, A, K: halves come from square roots */
};

enum orr_quantity_status {
  ORR_QUANTITY_OK,
  ORR_QUANTITY_NOT_A_NUMBER, /* the text does not begin with a number */
  ORR_QUANTITY_NOT_FINITE,   /* .nan, .inf, or beyond what a double holds */
  ORR_QUANTITY_UNKNOWN_UNIT, /* `at` is the first letter of an unknown name */
  ORR_QUANTITY_BAD_UNIT,     /* the unit breaks off, or does not parse from `at` */
  ORR_QUANTITY_WRONG_UNIT,   /* another dimension than wanted */
  ORR_QUANTITY_NOT_WHOLE_NS, /* a time that is no whole number of nanoseconds, or beyond 292 years */
};

struct orr_quantity {
  double value;         /* SI */
  int64_t ns;           /* orr_quantity_parse_time only */
  const char *at;       /* of the text: where it went wrong */
  struct orr_unit unit; /* what was written; dimensionless where nothing was */
  bool has_unit;
};

/* [any] Parses a unit; `at` tells where it went wrong. O(length). */
enum orr_quantity_status orr_unit_parse(const char *text, struct orr_unit *unit, const char **at);

/* [any] Parses a number with an optional unit of the dimension of `wanted`: "" for a plain number, "N m/rad|N m" where
 * either will do. O(length). */
enum orr_quantity_status orr_quantity_parse(const char *text, const char *wanted, struct orr_quantity *out);

/* [any] The same for a time in whole nanoseconds. It reads the decimal digits, so it is exact: 1 ms is 1,000,000. */
enum orr_quantity_status orr_quantity_parse_time(const char *text, struct orr_quantity *out);

/* [any] "a torque (N m)" for units that have a common name, or NULL. */
const char *orr_unit_describe(const struct orr_unit *unit);

/* [any] For the reference: the units by name, with what one of each is in SI and whether it takes prefixes; the
 * prefixes; the quantities that have a name, as orr_unit_describe says them. Each by index from 0 until NULL. */
const char *orr_unit_named(size_t index, struct orr_unit *unit, bool *prefixed);
const char *orr_unit_prefix(size_t index, double *factor);
const char *orr_unit_quantity(size_t index);

/* [any] The names of units for a suggestion: index from 0 until NULL. */
const char *orr_unit_name(size_t index);

#endif
