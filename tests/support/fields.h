/* Coefficients from files, for tests. [any] */
#ifndef ORR_TESTS_SUPPORT_FIELDS_H
#define ORR_TESTS_SUPPORT_FIELDS_H

#include "core/environment/harmonics.h"
#include "core/environment/magnetic.h"
#include "io/config/environment/tables.h"

struct orr_field_file {
  struct orr_arena *arena;
  void *block;
  struct orr_gravity_table gravity;
  struct orr_harmonics *harmonics;
  struct orr_magnetic_desc desc;
  struct orr_magnetic *magnetic;
};

/* The whole of a file in the arena; the program ends if it cannot be read. */
struct orr_text orr_field_text(struct orr_arena *arena, const char *path);

/* A gravity field to a degree. */
struct orr_field_file orr_field_gravity(const char *path, int degree);

/* A magnetic field at a year, from one file or between two. */
struct orr_field_file orr_field_magnetic(const char *path, const char *second, double year);

void orr_field_free(struct orr_field_file *file);

#endif
