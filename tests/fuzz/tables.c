/* Reads tables of coefficients made of any bytes, by each of their readers: there is a table that can be used, or a
 * message. The first byte chooses a degree. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/environment/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void told(const struct orr_table_problem *problem) {
  if (!problem->text[0])
    abort();
}

static void gravity(struct orr_text text, int degree, struct orr_arena *arena) {
  struct orr_gravity_table t;
  struct orr_table_problem problem;
  if (!orr_gravity_table_read(text, degree, degree, arena, &t, &problem)) {
    told(&problem);
    return;
  }
  for (size_t i = 0; i < t.count; i++)
    if (t.terms[i].n > degree || t.terms[i].m > t.terms[i].n || !isfinite(t.terms[i].c + t.terms[i].s))
      abort();
}

static void magnetic(struct orr_text text, double year, struct orr_arena *arena) {
  struct orr_magnetic_desc d, joined;
  struct orr_table_problem problem;
  if (!orr_magnetic_table_read(text, year, arena, &d, &problem)) {
    told(&problem);
    return;
  }
  if (d.degree < 1 || d.degree > ORR_MAGNETIC_DEGREE)
    abort();
  struct orr_magnetic_desc later = d;
  later.epoch += 5;
  if (!orr_magnetic_tables_join(&d, &later, year, arena, &joined, &problem))
    told(&problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int degree = size ? 1 + data[0] % 8 : 1;
  char *copy = malloc(size ? size : 1); /* of its own, so that the sanitizer sees a read beyond its end */
  if (!copy)
    abort();
  memcpy(copy, data + (size > 0), size - (size > 0));
  struct orr_text text = {copy, size - (size > 0)};
  struct orr_arena *arena = orr_arena_create();
  const struct orr_eop *days;
  size_t count;
  struct orr_table_problem problem;
  gravity(text, degree, arena);
  magnetic(text, 2015 + degree, arena);
  if (!orr_eop_table_read(text, arena, &days, &count, &problem))
    told(&problem);
  orr_arena_destroy(arena);
  free(copy);
  return 0;
}
