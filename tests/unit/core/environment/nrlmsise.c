/* core/environment/nrlmsise: the seventeen published cases. */
#include "core/environment/nrlmsise.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct orr_nrlmsise_model model;

static double number(const json_t *from, const char *key) { return json_number_value(json_object_get(from, key)); }

/* Seven figures are printed. */
static void printed(int row, const char *what, double got, double want) {
  if (want == 0 ? got != 0 : fabs(got - want) > 0.5 * pow(10, floor(log10(want)) - 6) * (1 + 1e-6))
    fail_msg("case %d, %s: %.9e is not %.6e", row, what, got, want);
}

static void check_case(int row, const json_t *in, const json_t *out) {
  double history[7];
  const json_t *list = json_object_get(in, "ap_history");
  for (size_t i = 0; i < 7 && list; i++)
    history[i] = json_number_value(json_array_get(list, i));
  struct orr_nrlmsise_input at = {.day_of_year = number(in, "doy"),
                                  .seconds = number(in, "sec"),
                                  .altitude_km = number(in, "alt"),
                                  .latitude_deg = number(in, "lat"),
                                  .longitude_deg = number(in, "lon"),
                                  .solar_time_h = number(in, "lst"),
                                  .f107_average = number(in, "f107A"),
                                  .f107 = number(in, "f107"),
                                  .ap = number(in, "ap"),
                                  .ap_history = list ? history : NULL};
  struct orr_nrlmsise air;
  orr_nrlmsise_evaluate(&model, &at, &air);
  printed(row, "He", 1e-6 * air.he, number(out, "He"));
  printed(row, "O", 1e-6 * air.o, number(out, "O"));
  printed(row, "N2", 1e-6 * air.n2, number(out, "N2"));
  printed(row, "O2", 1e-6 * air.o2, number(out, "O2"));
  printed(row, "Ar", 1e-6 * air.ar, number(out, "Ar"));
  printed(row, "H", 1e-6 * air.h, number(out, "H"));
  printed(row, "N", 1e-6 * air.n, number(out, "N"));
  printed(row, "anomalous O", 1e-6 * air.anomalous_o, number(out, "anomalous_O"));
  printed(row, "density", 1e-3 * air.density, number(out, "rho_g_cm3"));
  printed(row, "exospheric temperature", air.exospheric_temperature, number(out, "T_exospheric"));
  printed(row, "temperature", air.temperature, number(out, "T"));
}

static void the_published_cases_agree_to_the_last_digit(void **state) {
  (void)state;
  json_t *all = json_load_file("tests/data/nrlmsise00_test_cases.json", 0, NULL),
         *cases = json_object_get(all, "cases");
  assert_int_equal(json_array_size(cases), 17);
  for (size_t i = 0; i < 17; i++) {
    const json_t *one = json_array_get(cases, i);
    check_case((int)i + 1, json_object_get(one, "input"), json_object_get(one, "output"));
  }
  json_decref(all);
}

/* Drag's density has anomalous oxygen too; between cases, density falls with height and is smooth where pieces join. */
static void density_falls_smoothly_with_height(void **state) {
  (void)state;
  struct orr_nrlmsise_input at = {80, 40000, 0, 30, 20, 12, 140, 150, 8, NULL};
  struct orr_nrlmsise air;
  double last = 2, slope = 0;
  for (int i = 0; i <= 10000; i++) {
    at.altitude_km = 0.1 * i;
    orr_nrlmsise_evaluate(&model, &at, &air);
    double now = log(air.density_drag);
    assert_true(air.density_drag >= air.density && now < last);
    if (i > 1)
      assert_true(fabs(now - last - slope) < 2e-3);
    slope = i ? now - last : -0.01;
    last = now;
  }
}

int main(void) {
  orr_nrlmsise_init(&model);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_published_cases_agree_to_the_last_digit),
      cmocka_unit_test(density_falls_smoothly_with_height),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
