/* Tables of coefficients, as their publishers write them: gravity fields, magnetic fields, the Earth's orientation.
 *
 * A text of any bytes becomes plain numbers in an arena, or a message with its line. The text is not trusted: degrees
 * and counts are bounded, every pair comes once, every number is finite. [init]; one thread at a time for an arena.
 */
#ifndef ORR_IO_CONFIG_ENVIRONMENT_TABLES_H
#define ORR_IO_CONFIG_ENVIRONMENT_TABLES_H

#include "core/environment/magnetic.h"
#include "core/environment/sky.h"
#include "io/config/text/arena.h"

struct orr_text {
  const char *bytes;
  size_t length;
};

/* What is wrong, and in which line from 1; 0: of the whole. */
struct orr_table_problem {
  size_t line;
  char text[160];
};

struct orr_gravity_table {
  double mu, radius; /* m³/s², m */
  int degree, order; /* the largest there are */
  size_t count;
  const struct orr_harmonic_term *terms;
};

/* [init] An ICGEM file (.gfc, format 1.0, static: gfct and the like are refused), or a plain table: a first line
 * `radius, GM, rotation, degree, order, normalised (1)`, then `n, m, C, S`. Terms beyond `degree` and `order` are
 * skipped (and may be missing). False with the problem. O(text). */
bool orr_gravity_table_read(struct orr_text text, int degree, int order, struct orr_arena *arena,
                            struct orr_gravity_table *out, struct orr_table_problem *problem);

/* [init] A magnetic field for a decimal year: WMM.COF (epoch and rates), igrfNNcoeffs.txt (epochs every five years and
 * a last rate; the two around the year become a value and a rate) or a plain table of one epoch (`name`, then `degree
 * radius/km epoch`, then `n m g h`), whose rates are zero. A year outside what the file covers is refused. */
bool orr_magnetic_table_read(struct orr_text text, double year, struct orr_arena *arena, struct orr_magnetic_desc *out,
                             struct orr_table_problem *problem);

/* [init] Two plain tables of different epochs as one field between them: values of the first, rates from both. False
 * where they do not fit together, or the year is not between. */
bool orr_magnetic_tables_join(const struct orr_magnetic_desc *first, const struct orr_magnetic_desc *second,
                              double year, struct orr_arena *arena, struct orr_magnetic_desc *out,
                              struct orr_table_problem *problem);

/* [init] IERS finals (finals2000A.all and its like): the days that have all three values. */
bool orr_eop_table_read(struct orr_text text, struct orr_arena *arena, const struct orr_eop **out, size_t *count,
                        struct orr_table_problem *problem);

#endif
