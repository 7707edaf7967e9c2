/* The comparator of results: what it lets through and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/results.h"

static const struct orr_tolerance tolerance = {.relative = 1e-9, .absolute = 1e-12};

static bool agree(const char *expected, const char *actual) {
  json_t *e = json_loads(expected, 0, NULL), *a = json_loads(actual, 0, NULL);
  assert_non_null(e);
  assert_non_null(a);
  struct orr_comparison r = orr_results_compare(e, a, tolerance);
  json_decref(e);
  json_decref(a);
  return orr_results_agree(&r);
}

static json_t *load(const char *path) {
  json_t *x = json_load_file(path, 0, NULL);
  if (!x)
    fail_msg("cannot read %s", path);
  return x;
}

/* Multiplies the number at `where` of a nested list or object by `factor`. */
static void scale(json_t *x, double factor) {
  assert_true(json_is_real(x));
  json_real_set(x, json_real_value(x) * factor);
}

static const char *const example = "tests/vectors/conventions-example/expected.json";

/* The worst element that counts for `field` must pass at 1e-11 and fail at 1e-8. */
static void digits_matter(json_t *(*pick)(json_t *)) {
  const double factors[] = {1, 1 + 1e-11, 1 - 1e-11, 1 + 1e-8, 1 - 1e-8};
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    json_t *e = load(example), *a = load(example);
    scale(pick(a), factors[i]);
    struct orr_comparison r = orr_results_compare(e, a, tolerance);
    if (r.failed != (i < 3 ? 0 : 1))
      fail_msg("times %.17g: %zu fields fail, worst %s", factors[i], r.failed, r.worst_field);
    assert_true(r.compared > 10);
    json_decref(e);
    json_decref(a);
  }
}

/* The largest element of a list: the one whose digits are told most sharply. */
static json_t *largest(json_t *list) {
  json_t *best = json_array_get(list, 0), *x;
  size_t i;
  json_array_foreach(list, i, x) {
    double v = json_number_value(x), b = json_number_value(best);
    if (v * v > b * b)
      best = x;
  }
  return best;
}

static json_t *body(json_t *x, const char *name) { return json_object_get(json_object_get(x, "bodies"), name); }

static json_t *pick_acceleration(json_t *x) { return largest(json_object_get(body(x, "wing"), "acceleration")); }
static json_t *pick_modal(json_t *x) { return largest(json_object_get(body(x, "wing"), "eta_acceleration")); }
static json_t *pick_force(json_t *x) { return largest(json_object_get(body(x, "wing"), "force")); }
static json_t *pick_energy(json_t *x) { return json_object_get(x, "kinetic_energy"); }
static json_t *pick_angular(json_t *x) { return json_array_get(json_object_get(x, "momentum"), 2); }
static json_t *pick_log_det(json_t *x) { return json_object_get(x, "log_det_mass_matrix"); }
static json_t *pick_element(json_t *x) { return largest(json_array_get(json_object_get(x, "mass_matrix"), 0)); }
static json_t *pick_attitude(json_t *x) { return largest(json_object_get(body(x, "wing"), "attitude")); }
static json_t *pick_node(json_t *x) {
  return largest(json_object_get(json_object_get(json_object_get(body(x, "wing"), "nodes"), "tip"), "position"));
}

static void a_digit_at_1e_8_fails_and_one_at_1e_11_passes(void **state) {
  (void)state;
  digits_matter(pick_acceleration);
  digits_matter(pick_modal);
  digits_matter(pick_force);
  digits_matter(pick_energy);
  digits_matter(pick_angular);
  digits_matter(pick_log_det);
  digits_matter(pick_element);
  digits_matter(pick_attitude);
  digits_matter(pick_node);
}

static void small_elements_are_measured_against_their_vector(void **state) {
  (void)state;
  const char *e = "{\"bodies\": {\"a\": {\"acceleration\": [1000, 1e-7]}}}";
  assert_true(agree(e, "{\"bodies\": {\"a\": {\"acceleration\": [1000, 2e-7]}}}"));
  assert_false(agree(e, "{\"bodies\": {\"a\": {\"acceleration\": [1000, 3e-6]}}}"));
}

static void small_bodies_are_measured_against_a_hundredth_of_the_largest(void **state) {
  (void)state;
  const char *e = "{\"bodies\": {\"a\": {\"force\": [1e5]}, \"b\": {\"force\": [1]}}}";
  assert_true(agree(e, "{\"bodies\": {\"a\": {\"force\": [1e5]}, \"b\": {\"force\": [1.0000009]}}}"));
  assert_false(agree(e, "{\"bodies\": {\"a\": {\"force\": [1e5]}, \"b\": {\"force\": [1.0000011]}}}"));
}

static void matrix_elements_are_measured_against_their_diagonals(void **state) {
  (void)state;
  const char *e = "{\"mass_matrix\": [[1e6, 0], [0, 1e-6]]}";
  assert_true(agree(e, "{\"mass_matrix\": [[1e6, 0.9e-9], [0, 1e-6]]}"));
  assert_false(agree(e, "{\"mass_matrix\": [[1e6, 1.1e-9], [0, 1e-6]]}"));
  assert_false(agree(e, "{\"mass_matrix\": [[1e6, 0], [0, 1.00001e-6]]}"));
}

static void attitude_has_no_sign(void **state) {
  (void)state;
  const char *e = "{\"bodies\": {\"a\": {\"attitude\": [0, 0, 0.6, 0.8]}}}";
  assert_true(agree(e, "{\"bodies\": {\"a\": {\"attitude\": [0, 0, -0.6, -0.8]}}}"));
  assert_false(agree(e, "{\"bodies\": {\"a\": {\"attitude\": [0, 0, -0.6, 0.8]}}}"));
}

static void missing_and_misshapen_fields_fail(void **state) {
  (void)state;
  const char *e = "{\"bodies\": {\"a\": {\"acceleration\": [1, 2], \"nodes\": {\"n\": {\"position\": [0, 0, 0]}}}},"
                  " \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": 1}";
  assert_true(agree(e, e));
  static const char *const wrong[] = {
      "{}",
      "{\"bodies\": {}, \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": 1}",
      "{\"bodies\": {\"a\": {\"acceleration\": [1], \"nodes\": {\"n\": {\"position\": [0, 0, 0]}}}},"
      " \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": 1}",
      "{\"bodies\": {\"a\": {\"acceleration\": [1, \"2\"], \"nodes\": {\"n\": {\"position\": [0, 0, 0]}}}},"
      " \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": 1}",
      "{\"bodies\": {\"a\": {\"acceleration\": [1, 2], \"nodes\": {}}},"
      " \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": 1}",
      "{\"bodies\": {\"a\": {\"acceleration\": [1, 2], \"nodes\": {\"n\": {\"position\": [0, 0, 0]}}}},"
      " \"mass_matrix\": [[1, 0]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": 1}",
      "{\"bodies\": {\"a\": {\"acceleration\": [1, 2], \"nodes\": {\"n\": {\"position\": [0, 0, 0]}}}},"
      " \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1], \"kinetic_energy\": 1}",
      "{\"bodies\": {\"a\": {\"acceleration\": [1, 2], \"nodes\": {\"n\": {\"position\": [0, 0, 0]}}}},"
      " \"mass_matrix\": [[1, 0], [0, 1]], \"momentum\": [0, 0, 1, 0, 0, 0], \"kinetic_energy\": null}",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(agree(e, wrong[i]));
}

static void null_is_not_asked_for(void **state) {
  (void)state;
  assert_true(agree("{\"multipliers\": [null, [1]]}", "{\"multipliers\": [[5], [1]]}"));
  assert_false(agree("{\"multipliers\": [null, [1]]}", "{\"multipliers\": [[5], null]}"));
  assert_false(agree("{\"multipliers\": [null, [1]]}", "{\"multipliers\": [[1]]}"));
}

static void nothing_compared_is_no_agreement(void **state) {
  (void)state;
  assert_false(agree("{}", "{}"));
  assert_false(agree("{\"multipliers\": [null]}", "{}"));
}

static void trajectories_match_by_time(void **state) {
  (void)state;
  const char *e =
      "{\"trajectory\": [{\"t\": 0.5, \"state\": {\"a\": {\"q\": [1]}}}, {\"t\": 1, \"kinetic_energy\": 2}]}";
  assert_true(agree(
      e, "{\"trajectory\": [{\"t\": 1, \"kinetic_energy\": 2}, {\"t\": 0.5, \"state\": {\"a\": {\"q\": [1]}}}]}"));
  assert_false(agree(e, "{\"trajectory\": [{\"t\": 0.5, \"state\": {\"a\": {\"q\": [1]}}}]}"));
  assert_false(agree(
      e, "{\"trajectory\": [{\"t\": 1, \"kinetic_energy\": 2}, {\"t\": 0.5, \"state\": {\"a\": {\"q\": [1.1]}}}]}"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_digit_at_1e_8_fails_and_one_at_1e_11_passes),
      cmocka_unit_test(small_elements_are_measured_against_their_vector),
      cmocka_unit_test(small_bodies_are_measured_against_a_hundredth_of_the_largest),
      cmocka_unit_test(matrix_elements_are_measured_against_their_diagonals),
      cmocka_unit_test(attitude_has_no_sign),
      cmocka_unit_test(missing_and_misshapen_fields_fail),
      cmocka_unit_test(null_is_not_asked_for),
      cmocka_unit_test(nothing_compared_is_no_agreement),
      cmocka_unit_test(trajectories_match_by_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
