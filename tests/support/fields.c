#include "tests/support/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void end(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  abort();
}

struct orr_text orr_field_text(struct orr_arena *arena, const char *path) {
  enum { MOST = 1 << 20 };
  FILE *in = fopen(path, "rb");
  char *bytes = orr_arena_alloc(arena, MOST, 1);
  if (!in)
    end(path, "cannot be opened");
  size_t length = fread(bytes, 1, MOST, in);
  fclose(in);
  return (struct orr_text){bytes, length};
}

struct orr_field_file orr_field_gravity(const char *path, int degree) {
  struct orr_field_file f = {.arena = orr_arena_create()};
  struct orr_table_problem problem;
  if (!orr_gravity_table_read(orr_field_text(f.arena, path), degree, degree, f.arena, &f.gravity, &problem))
    end(path, problem.text);
  size_t bytes = orr_harmonics_size(degree, degree);
  f.block = aligned_alloc(64, bytes);
  f.harmonics = orr_harmonics_init(f.block, bytes, f.gravity.mu, f.gravity.radius, degree, degree);
  for (size_t i = 0; i < f.gravity.count; i++) {
    const struct orr_harmonic_term *t = &f.gravity.terms[i];
    orr_harmonics_set(f.harmonics, t->n, t->m, t->c, t->s);
  }
  return f;
}

struct orr_field_file orr_field_magnetic(const char *path, const char *second, double year) {
  struct orr_field_file f = {.arena = orr_arena_create()};
  struct orr_table_problem problem;
  if (!orr_magnetic_table_read(orr_field_text(f.arena, path), year, f.arena, &f.desc, &problem))
    end(path, problem.text);
  if (second) {
    struct orr_magnetic_desc a = f.desc, b;
    if (!orr_magnetic_table_read(orr_field_text(f.arena, second), year, f.arena, &b, &problem) ||
        !orr_magnetic_tables_join(&a, &b, year, f.arena, &f.desc, &problem))
      end(second, problem.text);
  }
  size_t bytes = orr_magnetic_size(f.desc.degree);
  f.block = aligned_alloc(64, bytes);
  f.magnetic = orr_magnetic_init(f.block, bytes, &f.desc);
  orr_magnetic_set_year(f.magnetic, year);
  return f;
}

void orr_field_free(struct orr_field_file *file) {
  orr_arena_destroy(file->arena);
  free(file->block);
}
