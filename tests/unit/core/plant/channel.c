/* core/plant/channel: the one table of signals. */
#include "core/plant/channel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void declare(struct orr_channel_table *t) {
  orr_channel_declare(t, "wheel",
                      &(struct orr_channel){.name = "torque",
                                            .doc = "a channel",
                                            .unit = "N m",
                                            .direction = ORR_CHANNEL_COMMAND,
                                            .count = 1,
                                            .low = -0.1,
                                            .high = 0.1});
  orr_channel_declare(
      t, "gyro",
      &(struct orr_channel){
          .name = "rate", .doc = "a channel", .unit = "rad/s", .count = 3, .elements = orr_channel_xyz, .divisor = 10});
  orr_channel_declare(
      t, "gyro", &(struct orr_channel){.name = "saturated", .doc = "a channel", .type = ORR_CHANNEL_FLAG, .count = 1});
  orr_channel_declare(t, "thruster",
                      &(struct orr_channel){.name = "steps",
                                            .doc = "a channel",
                                            .type = ORR_CHANNEL_WHOLE,
                                            .direction = ORR_CHANNEL_COMMAND,
                                            .hold = ORR_CHANNEL_PULSE,
                                            .count = 1});
  orr_channel_declare(
      t, "bus.imu",
      &(struct orr_channel){.name = "attitude", .doc = "a channel", .count = 4, .elements = orr_channel_xyzw});
}

struct fixture {
  struct orr_channel_table table;
  void *block;
};

static int setup(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  declare(&f->table);
  size_t bytes = orr_channels_size(&f->table);
  f->block = aligned_alloc(64, bytes);
  struct orr_block block = {.base = f->block, .size = bytes};
  orr_channels_place(&f->table, &block);
  assert_int_equal(block.used, bytes);
  declare(&f->table);
  orr_channels_seal(&f->table);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  struct fixture *f = *state;
  free(f->block);
  free(f);
  return 0;
}

static void outputs_stand_before_commands_in_the_block(void **state) {
  const struct orr_channel_table *t = &((struct fixture *)*state)->table;
  assert_int_equal(t->count, 5);
  assert_int_equal(t->output_values, 8);
  assert_int_equal(t->value_count, 10);
  const int offsets[] = {8, 0, 3, 9, 4};
  for (int i = 0; i < 5; i++)
    assert_int_equal(t->channels[i].offset, offsets[i]);
  assert_int_equal(t->channels[1].divisor, 10);
  assert_int_equal(t->channels[2].divisor, 1);
}

static void channels_and_their_elements_are_found_by_name(void **state) {
  const struct orr_channel_table *t = &((struct fixture *)*state)->table;
  int element;
  assert_int_equal(orr_channel_find(t, "gyro.rate"), 1);
  assert_int_equal(orr_channel_find(t, "gyro.rat"), -1);
  assert_int_equal(orr_channel_find_element(t, "gyro.rate", &element), 1);
  assert_int_equal(element, -1);
  assert_int_equal(orr_channel_find_element(t, "gyro.rate.z", &element), 1);
  assert_int_equal(element, 2);
  assert_int_equal(orr_channel_find_element(t, "bus.imu.attitude[3]", &element), 4);
  assert_int_equal(element, 3);
  const char *const none[] = {"gyro.rate.w",
                              "gyro.rate[3]",
                              "gyro.rate[-1]",
                              "gyro.rate[]",
                              "gyro.rate[0",
                              "gyro.rate[0]x",
                              "gyro",
                              "",
                              "gyro.",
                              ".",
                              "[0]"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    assert_int_equal(orr_channel_find_element(t, none[i], &element), -1);
}

static void a_star_stands_for_any_letters(void **state) {
  (void)state;
  assert_true(orr_channel_matches("*", "gyro.rate"));
  assert_true(orr_channel_matches("gyro.*", "gyro.rate"));
  assert_true(orr_channel_matches("wheel_*.speed", "wheel_x.speed"));
  assert_true(orr_channel_matches("*a*e", "gyro.rate"));
  assert_true(orr_channel_matches("gyro.rate", "gyro.rate"));
  assert_true(orr_channel_matches("gyro.rate*", "gyro.rate"));
  assert_false(orr_channel_matches("gyro.rat", "gyro.rate"));
  assert_false(orr_channel_matches("*.speed", "wheel.speeds"));
  assert_false(orr_channel_matches("", "gyro.rate"));
}

static void a_command_is_accepted_by_type_and_range(void **state) {
  const struct orr_channel *c = ((struct fixture *)*state)->table.channels;
  assert_true(orr_channel_accepts(&c[0], 0.1));
  assert_false(orr_channel_accepts(&c[0], 0.1001));
  assert_false(orr_channel_accepts(&c[0], (double)NAN));
  assert_false(orr_channel_accepts(&c[1], -HUGE_VAL));
  assert_true(orr_channel_accepts(&c[1], -1e300));
  assert_true(orr_channel_accepts(&c[2], 1));
  assert_false(orr_channel_accepts(&c[2], 2));
  assert_true(orr_channel_accepts(&c[3], -7));
  assert_false(orr_channel_accepts(&c[3], 0.5));
}

static void the_hash_tells_layouts_apart(void **state) {
  struct fixture *f = *state;
  uint64_t hash = orr_channels_hash(&f->table);
  f->table.channels[0].hold = ORR_CHANNEL_PULSE;
  assert_true(orr_channels_hash(&f->table) != hash);
  f->table.channels[0].hold = ORR_CHANNEL_LEVEL;
  assert_true(orr_channels_hash(&f->table) == hash);
  f->table.channels[1].unit = "deg/s";
  assert_true(orr_channels_hash(&f->table) != hash);
}

static void each_number_of_a_wrench_has_its_unit(void **state) {
  (void)state;
  const struct orr_channel load = {.unit = "", .count = 6, .elements = orr_channel_wrench};
  const struct orr_channel rate = {.unit = "rad/s", .count = 3, .elements = orr_channel_xyz};
  for (int k = 0; k < 6; k++)
    assert_string_equal(orr_channel_unit(&load, k), k < 3 ? "N m" : "N");
  assert_string_equal(orr_channel_unit(&load, -1), "");
  assert_string_equal(orr_channel_unit(&rate, 2), "rad/s");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(outputs_stand_before_commands_in_the_block, setup, teardown),
      cmocka_unit_test_setup_teardown(channels_and_their_elements_are_found_by_name, setup, teardown),
      cmocka_unit_test(each_number_of_a_wrench_has_its_unit),
      cmocka_unit_test(a_star_stands_for_any_letters),
      cmocka_unit_test_setup_teardown(a_command_is_accepted_by_type_and_range, setup, teardown),
      cmocka_unit_test_setup_teardown(the_hash_tells_layouts_apart, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
