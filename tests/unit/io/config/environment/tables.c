/* io/config/environment/tables: coefficients as published, and texts that are none. */
#include "io/config/environment/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fields.h"

static struct orr_text text(const char *s) { return (struct orr_text){s, strlen(s)}; }

static void gravity_is_read_from_both_forms(void **state) {
  (void)state;
  struct orr_arena *arena = orr_arena_create();
  struct orr_gravity_table t;
  struct orr_table_problem p;
  assert_true(orr_gravity_table_read(orr_field_text(arena, "configs/data/ggm03s_70.txt"), 70, 70, arena, &t, &p));
  assert_int_equal(t.degree, 70);
  assert_int_equal(t.count, 71 * 72 / 2);
  assert_true(t.mu == 3.986004415e14 && t.radius == 6378136.3);
  assert_true(t.terms[3].n == 2 && t.terms[3].m == 0 && t.terms[3].c == -4.841692638330e-04);
  const char *icgem =
      "product_type gravity_field\nearth_gravity_constant 0.3986004415D+15\nradius 0.63781363E+07\n"
      "max_degree 3\nnorm fully_normalized\nend_of_head ====\n"
      "gfc 0 0 1.0 0.0 0.0 0.0\ngfc 2 0 -4.84D-04 0 0 0\r\ngfc   2 2 2.4e-06 -1.4e-06 0 0\ngfc 3 1 2e-6 2e-7\n";
  assert_true(orr_gravity_table_read(text(icgem), 3, 3, arena, &t, &p));
  assert_int_equal(t.count, 4);
  assert_true(t.mu == 3.986004415e14 && t.terms[1].c == -4.84e-4 && t.terms[2].s == -1.4e-6);
  assert_true(orr_gravity_table_read(text(icgem), 2, 1, arena, &t, &p));
  assert_int_equal(t.count, 2);
  orr_arena_destroy(arena);
}

static void a_wrong_gravity_file_is_told_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *said;
    size_t line;
  } wrong[] = {
      {"", "empty", 0},
      {"# nothing\n\n", "empty", 0},
      {"radius 6e6\n", "end_of_head", 0},
      {"end_of_head\n", "must be positive", 0},
      {"radius x\nend_of_head\n", "radius is no number", 1},
      {"radius 6e6\ngravity_constant nan\nend_of_head\n", "constant is no number", 2},
      {"radius 6e6\ngravity_constant 4e14\nnorm unnormalized\nend_of_head\ngfc 2 0 1 0\n", "not fully normalised", 4},
      {"radius 6e6\ngravity_constant 4e14\nend_of_head\ngfct 2 0 1 0\n", "only static", 4},
      {"radius 6e6\ngravity_constant 4e14\nend_of_head\ngfc 2 3 1 0\n", "not larger", 4},
      {"radius 6e6\ngravity_constant 4e14\nend_of_head\ngfc 2 0 1\n", "needs degree", 4},
      {"radius 6e6\ngravity_constant 4e14\nend_of_head\ngfc 2 0 1 0\ngfc 2 0 1 0\n", "twice", 5},
      {"radius 6e6\ngravity_constant 4e14\nend_of_head\ngfc 2 0 1e999 0\n", "no numbers", 4},
      {"radius 6e6\ngravity_constant 4e14\nend_of_head\ngfc 1 0 0 0\n", "ends at degree 1", 0},
      {"6e6, 4e14, 0, 2, 2, 0\n2, 0, 1, 0\n", "not fully normalised", 1},
      {"6e6, 4e14, 0\n", "neither", 1},
      {"6e6, 4e14, 0, 2, 2, 1\n2, 0, 1\n", "needs degree", 2},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct orr_arena *arena = orr_arena_create();
    struct orr_gravity_table t;
    struct orr_table_problem p;
    assert_false(orr_gravity_table_read(text(wrong[i].text), 2, 2, arena, &t, &p));
    if (!strstr(p.text, wrong[i].said) || p.line != wrong[i].line)
      fail_msg("%zu: line %zu, %s", i, p.line, p.text);
    orr_arena_destroy(arena);
  }
}

static void magnetic_fields_are_read_from_three_forms(void **state) {
  (void)state;
  struct orr_arena *arena = orr_arena_create();
  struct orr_magnetic_desc d;
  struct orr_table_problem p;
  assert_true(orr_magnetic_table_read(orr_field_text(arena, "configs/data/wmm2025.cof"), 2026, arena, &d, &p));
  assert_int_equal(d.degree, 12);
  assert_true(d.epoch == 2025 && d.gauss[orr_gauss_index(1, 1)].h_rate == -21.5);
  assert_false(orr_magnetic_table_read(orr_field_text(arena, "configs/data/wmm2025.cof"), 2031, arena, &d, &p));
  assert_non_null(strstr(p.text, "2025.0 to 2030.0"));
  const char *igrf = "# comment\nc/s deg ord IGRF IGRF IGRF SV\ng/h n m 2010.0 2015.0 2020.0 2020-25\n"
                     "g 1 0 -29496.57 -29441.46 -29404.8 5.7\ng 1 1 -1586.42 -1501.77 -1450.9 7.4\n"
                     "h 1 1 4944.26 4795.99 4652.5 -25.9\n";
  assert_true(orr_magnetic_table_read(text(igrf), 2012.5, arena, &d, &p));
  assert_true(d.epoch == 2010 && d.degree == 1);
  assert_true(fabs(d.gauss[orr_gauss_index(1, 1)].h_rate - (4795.99 - 4944.26) / 5) < 1e-12);
  assert_true(orr_magnetic_table_read(text(igrf), 2023, arena, &d, &p));
  assert_true(d.epoch == 2020 && d.gauss[orr_gauss_index(1, 0)].g_rate == 5.7);
  assert_false(orr_magnetic_table_read(text(igrf), 2026, arena, &d, &p));
  assert_false(orr_magnetic_table_read(text(igrf), 1999, arena, &d, &p));
  struct orr_magnetic_desc a, b;
  assert_true(orr_magnetic_table_read(orr_field_text(arena, "configs/data/igrf_2015.txt"), 2017, arena, &a, &p));
  assert_true(orr_magnetic_table_read(orr_field_text(arena, "configs/data/igrf_2020.txt"), 2017, arena, &b, &p));
  assert_true(a.degree == 13 && a.radius == 6371200 && a.epoch == 2015);
  assert_true(orr_magnetic_tables_join(&a, &b, 2017, arena, &d, &p));
  assert_false(orr_magnetic_tables_join(&b, &a, 2017, arena, &d, &p));
  assert_false(orr_magnetic_tables_join(&a, &b, 2021, arena, &d, &p));
  orr_arena_destroy(arena);
}

static void a_wrong_magnetic_file_is_told(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "",
      "x\n",
      "x\n13 0 2015\n1 0 1 0\n",
      "x\n21 6371.2 2015\n",
      "2025.0 WMM x\n",
      "2025.0 WMM x\n1 0 1 0 0\n",
      "2025.0 WMM x\n0 0 1 0 0 0\n",
      "2025.0 WMM x\n1 2 1 0 0 0\n",
      "2025.0 WMM x\n21 2 1 0 0 0\n",
      "2025.0 WMM x\n1 0 inf 0 0 0\n",
      "c/s a\n",
      "g/h n m 2025.0\n",
      "g/h n m 2020.0 2025.0 SV\ng 1 0 1 2\n",
      "g/h n m 2030.0 2025.0 SV\ng 1 0 1 2 3\n",
      "g/h n m 2020.0 2025.0 SV\nx 1 0 1 2 3\n",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct orr_arena *arena = orr_arena_create();
    struct orr_magnetic_desc d;
    struct orr_table_problem p;
    assert_false(orr_magnetic_table_read(text(wrong[i]), 2026, arena, &d, &p));
    assert_true(p.text[0] != 0);
    orr_arena_destroy(arena);
  }
}

/* Lines of the IERS' finals2000A.all, the last one without a prediction of UT1. */
static void earth_orientation_is_read_by_its_columns(void **state) {
  (void)state;
  const char *finals =
      "23 1 1 59945.00 I  0.049120 0.000090  0.202850 0.000090  I-0.0179260 0.0000070  0.1230 0.0050  I\n"
      "23 1 2 59946.00 I  0.047290 0.000090  0.202750 0.000090  I-0.0179970 0.0000070  0.0180 0.0050  I\n"
      "24 1 2 60311.00\n";
  struct orr_arena *arena = orr_arena_create();
  const struct orr_eop *days;
  size_t count;
  struct orr_table_problem p;
  assert_true(orr_eop_table_read(text(finals), arena, &days, &count, &p));
  assert_int_equal(count, 2);
  assert_true(days[1].mjd == 59946 && days[1].ut1_utc == -0.017997);
  assert_true(fabs(days[0].x - 0.049120 * 4.84813681109536e-6) < 1e-18);
  assert_false(orr_eop_table_read(text("x\n"), arena, &days, &count, &p));
  assert_false(orr_eop_table_read(text("24 1 2 60311.00\n"), arena, &days, &count, &p));
  orr_arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gravity_is_read_from_both_forms),
      cmocka_unit_test(a_wrong_gravity_file_is_told_with_its_line),
      cmocka_unit_test(magnetic_fields_are_read_from_three_forms),
      cmocka_unit_test(a_wrong_magnetic_file_is_told),
      cmocka_unit_test(earth_orientation_is_read_by_its_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
