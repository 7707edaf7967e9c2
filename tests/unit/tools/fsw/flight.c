/* The sample flight software alone, against a rigid body integrated here: what each part of it must do. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/fsw/flight.h"

/* A rigid body about its principal axes, small angles: enough to close the loop. */
struct body {
  double phi[3], rate[3], speed[ORR_FSW_WHEELS];
  double star[4];  /* the tracker's last sample */
  double queue[3]; /* s of thrust still to come about each axis, with its sign */
};

static const double STEP_S = 0.01;

/* The tracker has a new sample each ten frames; a part of a microradian tells it from the last. */
static void look(struct body *b, int64_t frame, struct orr_fsw_in *in) {
  *in = (struct orr_fsw_in){.time_ns = frame * 10000000, .valid = 1, .target = {0, 0, 0, 1}};
  if (frame % 10 == 0) {
    double square = 0;
    for (int i = 0; i < 3; i++) {
      b->star[i] = 0.5 * b->phi[i] + 1e-9 * (double)(frame / 10 % 7);
      square += b->star[i] * b->star[i];
    }
    b->star[3] = sqrt(1 - square);
  }
  memcpy(in->attitude, b->star, sizeof b->star);
  for (int i = 0; i < 3; i++) {
    in->rate[i] = b->rate[i];
    in->wheel_speed[i] = b->speed[i];
  }
}

static void move(struct body *b, const struct orr_mission *m, const struct orr_fsw_out *out) {
  double torque[3] = {0};
  for (int k = 0; k < ORR_FSW_WHEELS; k++) {
    b->speed[k] += out->wheel_torque[k] / m->wheel_inertia * STEP_S;
    for (int i = 0; i < 3; i++)
      torque[i] -= m->wheel_axis[k][i] * out->wheel_torque[k];
  }
  for (int i = 0; i < 3 && m->jet_period > 0; i++) {
    const int(*pair)[2] = m->jet_pair[i]; /* a thruster is of two pairs: what the pair for another axis does cancels */
    b->queue[i] += 0.5 * (out->on_time[pair[0][0] - 1] + out->on_time[pair[0][1] - 1] - out->on_time[pair[1][0] - 1] -
                          out->on_time[pair[1][1] - 1]);
    double now = fmax(-STEP_S, fmin(STEP_S, b->queue[i]));
    b->queue[i] -= now;
    torque[i] += m->jet_torque[i] * now / STEP_S;
  }
  for (int i = 0; i < 3; i++) {
    b->rate[i] += torque[i] / m->inertia[i] * STEP_S;
    b->phi[i] += b->rate[i] * STEP_S;
  }
}

/* Flies frames from `*frame` on; the largest rate on the way. */
static double fly(const struct orr_mission *m, struct orr_fsw *fsw, struct body *b, int64_t *frame, int count) {
  double fastest = 0;
  for (int k = 0; k < count; k++, ++*frame) {
    struct orr_fsw_in in;
    struct orr_fsw_out out;
    look(b, *frame, &in);
    orr_fsw_step(m, fsw, &in, &out);
    move(b, m, &out);
    for (int i = 0; i < 3; i++)
      fastest = fmax(fastest, fabs(b->rate[i]));
  }
  return fastest;
}

static double off(const struct body *b) {
  return sqrt(b->phi[0] * b->phi[0] + b->phi[1] * b->phi[1] + b->phi[2] * b->phi[2]);
}

static void every_mission_turns_to_its_target_within_its_rate(void **state) {
  (void)state;
  for (int k = 0; orr_mission_get(k); k++)
    for (int axis = 0; axis < 3; axis++) {
      const struct orr_mission *m = orr_mission_get(k);
      struct orr_fsw fsw = {0};
      struct body b = {.phi = {0}};
      int64_t frame = 0;
      b.phi[axis] = axis == 1 ? 0.06 : -0.06;
      double fastest = fly(m, &fsw, &b, &frame, 6000);
      if (!(off(&b) < 1e-4))
        fail_msg("%s, axis %d: %g rad off", m->name, axis, off(&b));
      assert_true(fastest < 1.15 * m->rate_limit);
      assert_int_equal((int)fsw.mode, ORR_FSW_WHEELS_HOLD);
    }
}

static void a_large_error_is_for_thrusters_and_a_small_one_for_wheels(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("cassini");
  struct orr_fsw fsw = {0};
  struct body b = {.phi = {0, 0, -0.035}};
  int64_t frame = 0;
  fly(m, &fsw, &b, &frame, 100);
  assert_int_equal((int)fsw.mode, ORR_FSW_JETS_SLEW);
  b = (struct body){.phi = {0, 0, -0.001}};
  fsw = (struct orr_fsw){0};
  frame = 0;
  fly(m, &fsw, &b, &frame, 100);
  assert_int_equal((int)fsw.mode, ORR_FSW_WHEELS_HOLD);
}

static void wheels_that_are_too_fast_are_unloaded_by_thrusters(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("cassini");
  struct orr_fsw fsw = {0};
  struct body b = {.speed = {1.02 * m->dump_above, 0.3 * m->dump_above, -0.2 * m->dump_above}};
  int64_t frame = 0;
  fly(m, &fsw, &b, &frame, 60000);
  for (int k = 0; k < ORR_FSW_WHEELS; k++)
    assert_true(fabs(b.speed[k]) < 1.05 * m->dump_below);
  assert_true(off(&b) < 5e-4);
}

static void a_gap_in_telemetry_leads_to_a_safe_hold_on_wheels_alone(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("cassini");
  struct orr_fsw fsw = {0};
  struct body b = {.phi = {0, 0, -0.035}};
  int64_t frame = 0;
  fly(m, &fsw, &b, &frame, 200);
  frame += 100;
  struct orr_fsw_in in;
  struct orr_fsw_out out;
  look(&b, frame, &in);
  orr_fsw_step(m, &fsw, &in, &out);
  assert_int_equal((int)fsw.mode, ORR_FSW_SAFE);
  for (int j = 0; j < ORR_FSW_JETS; j++)
    assert_true(out.on_time[j] == 0);
  fly(m, &fsw, &b, &frame, 6000); /* and out of it when the stars are back */
  assert_true(off(&b) < 1e-4);
}

static void without_stars_it_does_not_trust_its_attitude(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("wings");
  struct orr_fsw fsw = {0};
  struct body b = {.phi = {0.05}};
  struct orr_fsw_in in;
  struct orr_fsw_out out;
  for (int64_t frame = 0; frame < 1000; frame++) {
    look(&b, frame, &in);
    in.valid = frame < 100;
    orr_fsw_step(m, &fsw, &in, &out);
  }
  assert_int_equal((int)fsw.mode, ORR_FSW_SAFE);
}

/* The first samples are taken whole: zeros that a tracker calls valid may not blind the flight. */
static void a_star_sample_that_is_no_attitude_is_not_taken(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("cassini");
  struct orr_fsw fsw = {0};
  struct body b = {.phi = {0.002}};
  struct orr_fsw_in in;
  struct orr_fsw_out out;
  for (int64_t frame = 0; frame < 100; frame++) {
    b.phi[0] += 1e-9; /* each sample is a new one */
    look(&b, frame, &in);
    if (frame == 20) /* the third */
      memset(in.attitude, 0, sizeof in.attitude);
    orr_fsw_step(m, &fsw, &in, &out);
  }
  look(&b, 99, &in);
  for (int i = 0; i < 4; i++)
    assert_true(fabs(fsw.attitude[i] - in.attitude[i]) < 1e-3);
}

static void what_is_no_number_commands_nothing(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("cassini");
  struct body b = {.phi = {0, 0, -0.035}};
  struct orr_fsw fsw = {0};
  int64_t frame = 0;
  fly(m, &fsw, &b, &frame, 100);
  struct orr_fsw before = fsw;
  struct orr_fsw_in in;
  struct orr_fsw_out out;
  look(&b, frame, &in);
  in.rate[1] = nan("");
  orr_fsw_step(m, &fsw, &in, &out);
  for (int k = 0; k < ORR_FSW_WHEELS; k++)
    assert_true(out.wheel_torque[k] == 0);
  assert_memory_equal(&before, &fsw, sizeof fsw);
}

static void the_gyros_bias_is_learnt(void **state) {
  (void)state;
  const struct orr_mission *m = orr_mission_find("cassini");
  struct orr_fsw fsw = {0};
  struct body b = {.phi = {0}};
  for (int64_t frame = 0; frame < 60000; frame++) {
    struct orr_fsw_in in;
    struct orr_fsw_out out;
    look(&b, frame, &in);
    in.rate[0] += 1e-5;
    orr_fsw_step(m, &fsw, &in, &out);
    move(&b, m, &out);
  }
  assert_true(fabs(fsw.bias[0] - 1e-5) < 1e-6);
}

/* The largest torque of a wheel in the last of 60 s, when the gyro shakes by 1e-4 rad/s at so many rad/s. */
static double felt(const struct orr_mission *m, double shake) {
  struct orr_fsw fsw = {0};
  double most = 0;
  for (int64_t frame = 0; frame < 6000; frame++) {
    struct body still = {.star = {0, 0, 0, 1}};
    struct orr_fsw_in in;
    struct orr_fsw_out out;
    look(&still, frame, &in);
    in.rate[0] = 1e-4 * sin(shake * 0.01 * (double)frame);
    orr_fsw_step(m, &fsw, &in, &out);
    most = frame > 5000 ? fmax(most, fabs(out.wheel_torque[0])) : 0;
  }
  return most;
}

/* The notch takes its own frequency out and leaves what is well below it: seen at the wheels, by a gyro that shakes. */
static void the_first_mode_is_notched(void **state) {
  (void)state;
  struct orr_mission m = *orr_mission_find("wings");
  double with = felt(&m, m.notch), shake = m.notch;
  m.notch = 0;
  assert_true(with < 0.1 * felt(&m, shake));
}

/* A lag of first order: ten times above its corner a tenth is left. */
static void what_is_limp_beyond_the_loop_is_not_shaken(void **state) {
  (void)state;
  struct orr_mission m = *orr_mission_find("chain");
  double shake = 10 * m.roll_off, with = felt(&m, shake);
  m.roll_off = 0;
  assert_true(with < 0.13 * felt(&m, shake) && with > 0.07 * felt(&m, shake));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mission_turns_to_its_target_within_its_rate),
      cmocka_unit_test(a_large_error_is_for_thrusters_and_a_small_one_for_wheels),
      cmocka_unit_test(wheels_that_are_too_fast_are_unloaded_by_thrusters),
      cmocka_unit_test(a_gap_in_telemetry_leads_to_a_safe_hold_on_wheels_alone),
      cmocka_unit_test(without_stars_it_does_not_trust_its_attitude),
      cmocka_unit_test(a_star_sample_that_is_no_attitude_is_not_taken),
      cmocka_unit_test(what_is_no_number_commands_nothing),
      cmocka_unit_test(the_gyros_bias_is_learnt),
      cmocka_unit_test(the_first_mode_is_notched),
      cmocka_unit_test(what_is_limp_beyond_the_loop_is_not_shaken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
