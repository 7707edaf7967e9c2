/* Faults: each on each kind of channel against what a healthy flight and the definition say; those of devices and
 * hinges against momentum and impulse; when they begin and end; a saved state that goes on with the same bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/devices/devices.h"
#include "core/math/bits.h"
#include "tests/support/flight.h"

enum { FRAMES = 400, TEXT = 6000, FROM = 100, TO = 300 };

/* A bus with an arm, a wheel, a thruster, a gyro of every second frame and an encoder of every frame that comes three
 * frames late; 100 frames a second. The wheel's command is a sine and the thruster's a pulse in some frames. */
#define CRAFT                                                                                                          \
  "orrery: 1\n"                                                                                                        \
  "spacecraft: {bodies: {\n"                                                                                           \
  "  bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}},\n"  \
  "  arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"                                            \
  "    hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1]}}}}\n"                                                       \
  "actuators:\n"                                                                                                       \
  "  wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1, initial_speed: 10}\n" \
  "  jet: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 2, isp: 200 s, propellant: 0.5}\n"               \
  "sensors:\n"                                                                                                         \
  "  gyro: {kind: rate_gyro, node: bus.n, rate: 50 Hz, noise: {angle_random_walk: 1e-3 rad/sqrt(s)}, range: 1}\n"      \
  "  enc: {kind: hinge_encoder, hinge: arm, delay: 3}\n"                                                               \
  "simulation: {step: 10 ms, duration: 4 s, seed: 7, initial: {bus: {rate: [0, 0, 0.1]}, arm: {speed: [0.5]}}}\n"
#define COMMANDS                                                                                                       \
  "commands:\n"                                                                                                        \
  "  - {channel: wheel.torque, at: 0 s, sine: {amplitude: 0.05, frequency: 1 Hz}}\n"                                   \
  "  - {channel: jet.on_time, at: 500 ms, value: 8 ms}\n"                                                              \
  "  - {channel: jet.on_time, at: 1500 ms, value: 6 ms}\n"                                                             \
  "  - {channel: jet.on_time, at: 2500 ms, value: 4 ms}\n"

/* Everything that stood in the block when frames were recorded. */
struct taken {
  struct orr_recorder recorder;
  struct orr_flight flight;
  double *rows; /* [FRAMES][value_count] */
  int width, count;
};

static void take(struct orr_recorder *recorder, const struct orr_session *session) {
  struct taken *t = (struct taken *)recorder;
  if (t->count < FRAMES)
    memcpy(t->rows + t->width * t->count++, session->plant->values, sizeof(double) * (size_t)t->width);
}

static void begin(struct taken *t, const char *text) {
  memset(t, 0, sizeof *t);
  t->flight = orr_flight_make(text, "bus.*");
  t->width = t->flight.plant->table.value_count;
  t->rows = calloc((size_t)(FRAMES * t->width), sizeof *t->rows);
  assert_non_null(t->rows);
  t->recorder.frame = take;
  orr_session_tell(t->flight.session, &t->recorder);
}

static void end(struct taken *t) {
  free(t->rows);
  orr_flight_free(&t->flight);
}

static void fly(struct taken *t, const char *faults) {
  char text[TEXT];
  snprintf(text, sizeof text, "%s%s%s%s\n", CRAFT, COMMANDS, *faults ? "faults:\n" : "", faults);
  begin(t, text);
  orr_flight_run(&t->flight, FRAMES);
}

static int place(const struct taken *t, const char *name) {
  int element, channel = orr_channel_find_element(&t->flight.plant->table, name, &element);
  assert_true(channel >= 0);
  return t->flight.plant->table.channels[channel].offset + (element >= 0 ? element : 0);
}

static double at(const struct taken *t, const char *name, int frame) {
  assert_in_range(frame, 0, t->count - 1);
  return t->rows[t->width * frame + place(t, name)];
}

/* ---- each form on each kind of channel --------------------------------------------------------------------------- */

static const struct subject {
  const char *channel;
  bool command, pulse, flag;
  int divisor; /* of its samples */
  const char *unit, *per_s;
} subjects[] = {
    {"gyro.rate.z", false, false, false, 2, "rad/s", "rad/s^2"}, /* a sensor that samples */
    {"enc.position", false, false, false, 1, "rad", "rad/s"},    /* one that comes late */
    {"gyro.saturated", false, false, true, 2, "", ""},           /* a flag */
    {"wheel.speed", false, false, false, 1, "rad/s", "rad/s^2"}, /* telemetry of an actuator */
    {"bus.rate.z", false, false, false, 1, "rad/s", "rad/s^2"},  /* truth */
    {"wheel.torque", true, false, false, 1, "N m", "N m/s"},     /* a level that is commanded */
    {"jet.on_time", true, true, false, 1, "s", ""},              /* a pulse */
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* What the definition makes of the healthy values h of all frames in frame k; the random kinds are judged elsewhere. */
static double expected(enum orr_fault_form form, const struct subject *s, const double *h, int k) {
  const double value = s->flag ? 1 : 0.01;
  bool quiet = s->pulse && h[k] == 0;
  if (k < FROM || k >= TO)
    return h[k];
  double x = h[k];
  switch (form) {
  case ORR_FAULT_BIAS:
    x = quiet ? x : x + value;
    break;
  case ORR_FAULT_DRIFT:
    x = quiet ? x : x + value * (0.01 * (k - FROM));
    break;
  case ORR_FAULT_SCALE:
    x = x * -0.5;
    break;
  case ORR_FAULT_FREEZE:
    x = s->pulse ? 0 : h[FROM - 1];
    break;
  case ORR_FAULT_STUCK_AT:
    x = value;
    break;
  case ORR_FAULT_DELAY:
    x = h[k - 7];
    break;
  case ORR_FAULT_BIT_FLIP: {
    uint64_t word = orr_bits_of(x) ^ UINT64_C(1) << 50;
    memcpy(&x, &word, 8);
    x = quiet ? h[k] : x;
    break;
  }
  default:
    fail();
  }
  if (s->flag)
    return form == ORR_FAULT_BIT_FLIP ? h[k] == 0 : x >= 0.5;
  double low = s->pulse ? 0 : -HUGE_VAL;
  return s->command ? fmax(low, fmin(HUGE_VAL, x)) : x;
}

static void each_effect_is_as_defined_on_each_kind_of_channel(void **state) {
  (void)state;
  static const enum orr_fault_form forms[] = {ORR_FAULT_BIAS,     ORR_FAULT_DRIFT, ORR_FAULT_SCALE,   ORR_FAULT_FREEZE,
                                              ORR_FAULT_STUCK_AT, ORR_FAULT_DELAY, ORR_FAULT_BIT_FLIP};
  static const char *const values[ORR_FAULT_FORMS] = {[ORR_FAULT_SCALE] = "-0.5",
                                                      [ORR_FAULT_FREEZE] = "true",
                                                      [ORR_FAULT_DELAY] = "70 ms",
                                                      [ORR_FAULT_BIT_FLIP] = "50"};
  struct taken healthy;
  fly(&healthy, "");
  assert_null(healthy.flight.session->procedure);
  for (int s = 0; s < SUBJECTS; s++)
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
      char line[300];
      double h[FRAMES];
      struct taken broken;
      int differ = 0;
      const char *value = values[forms[f]] ? values[forms[f]] : subjects[s].flag ? "1" : "0.01";
      snprintf(line, sizeof line, "  - {channel: %s, at: 1 s, for: 2 s, %s: %s}", subjects[s].channel,
               orr_fault_form_names[forms[f]], value);
      fly(&broken, line);
      /* a command that acts otherwise moves the craft otherwise, but comes as it came */
      for (int k = 0; k < FRAMES; k++)
        h[k] = at(&healthy, subjects[s].channel, k);
      for (int k = 0; k < FRAMES; k++) {
        double wanted = expected(forms[f], &subjects[s], h, k), is = at(&broken, subjects[s].channel, k);
        if (fabs(wanted - is) > 1e-15 * (fabs(h[k]) + fabs(wanted))) /* sums may be fused */
          fail_msg("%s, frame %d: %.17g, not %.17g (healthy %.17g)", line, k, is, wanted, h[k]);
        differ += is != h[k];
      }
      bool idle = subjects[s].flag &&
                  (forms[f] == ORR_FAULT_SCALE || forms[f] == ORR_FAULT_FREEZE || forms[f] == ORR_FAULT_DELAY);
      if (!idle && !differ)
        fail_msg("%s changes nothing", line);
      end(&broken);
    }
  end(&healthy);
}

/* fmax(0, -0.0) is either, by compiler and processor, and a log of one build shall fly again under another. */
static void a_zero_at_a_limit_of_zero_keeps_its_sign(void **state) {
  (void)state;
  struct taken t;
  begin(
      &t, CRAFT
      "commands: [{channel: jet.on_time, at: 500 ms, value: -0.0}, {channel: jet.on_time, at: 1500 ms, value: 8 ms}]\n"
      "faults: [{channel: jet.on_time, at: 1 s, for: 2 s, scale: -0.5}]\n");
  orr_flight_run(&t.flight, FRAMES);
  assert_int_equal(orr_bits_of(at(&t, "jet.on_time", 50)), orr_bits_of(-0.0));
  assert_int_equal(orr_bits_of(at(&t, "jet.on_time", 150)), orr_bits_of(0.0)); /* -4 ms, held to 0 */
  end(&t);
}

static void noise_is_new_for_each_sample_and_has_its_size(void **state) {
  (void)state;
  struct taken healthy, broken, again;
  fly(&healthy, "");
  for (int s = 0; s < SUBJECTS; s++) {
    char line[200];
    double sum = 0, squares = 0;
    int count = 0;
    if (subjects[s].flag || subjects[s].pulse)
      continue;
    snprintf(line, sizeof line, "  - {channel: %s, at: 0 s, noise: 0.01}", subjects[s].channel);
    fly(&broken, line);
    fly(&again, line);
    for (int k = 0; k < FRAMES; k++) {
      double now = at(&broken, subjects[s].channel, k), off = now - at(&healthy, subjects[s].channel, k);
      assert_true(now == at(&again, subjects[s].channel, k));
      if (k % subjects[s].divisor) { /* the sample still stands, and so does its noise */
        assert_true(now == at(&broken, subjects[s].channel, k - 1));
        continue;
      }
      sum += off;
      squares += off * off;
      count++;
    }
    /* the mean within four of its standard deviations, the variance too */
    assert_true(fabs(sum / count) < 4 * 0.01 / sqrt(count));
    assert_true(fabs(squares / count - 1e-4) < 4 * 1e-4 * sqrt(2.0 / count));
    end(&broken);
    end(&again);
  }
  end(&healthy);
}

static void what_is_dropped_leaves_the_sample_before(void **state) {
  (void)state;
  struct taken healthy, broken;
  fly(&healthy, "");
  for (int s = 0; s < SUBJECTS; s++) {
    char line[200];
    int lost = 0, samples = 0;
    const struct subject *of = &subjects[s];
    if (of->flag)
      continue;
    snprintf(line, sizeof line, "  - {channel: %s, at: 100 ms, drop: 0.3}", of->channel);
    fly(&broken, line);
    double last = at(&healthy, of->channel, 9);
    for (int k = 10; k < FRAMES; k++) {
      double h = at(&healthy, of->channel, k), is = at(&broken, of->channel, k);
      if (k % of->divisor == 0) {
        bool came = is == h;
        assert_true(came || is == (of->pulse ? 0 : last));
        lost += !came;
        samples += of->pulse ? h != 0 : 1;
        last = is;
      } else {
        assert_true(is == last);
      }
    }
    if (!of->pulse)
      assert_in_range(lost, samples * 0.2, samples * 0.4);
    end(&broken);
  }
  end(&healthy);
}

static void bits_flip_at_their_chance_and_anywhere(void **state) {
  (void)state;
  struct taken healthy, broken;
  uint64_t seen = 0;
  int hits = 0;
  fly(&healthy, "");
  fly(&broken, "  - {channel: wheel.speed, at: 0 s, bit_flip: any, chance: 0.5}");
  for (int k = 0; k < FRAMES; k++) {
    uint64_t off = orr_bits_of(at(&healthy, "wheel.speed", k)) ^ orr_bits_of(at(&broken, "wheel.speed", k));
    assert_true((off & (off - 1)) == 0);
    hits += off != 0;
    seen |= off;
  }
  assert_in_range(hits, 160, 240);
  assert_in_range(__builtin_popcountll(seen), 55, 64);
  end(&healthy);
  end(&broken);
}

static void what_is_intermittent_comes_and_goes_in_whole_spans(void **state) {
  (void)state;
  struct taken healthy, broken, frozen;
  int there = 0;
  fly(&healthy, "");
  fly(&broken, "  - {channel: wheel.speed, at: 0 s, bias: 1, intermittent: {every: 50 ms, chance: 0.5}}");
  fly(&frozen, "  - {channel: wheel.speed, at: 100 ms, intermittent: {every: 50 ms, chance: 0.5}}");
  for (int k = 0; k < FRAMES; k++) {
    double off = at(&broken, "wheel.speed", k) - at(&healthy, "wheel.speed", k);
    assert_true(off == 0 || fabs(off - 1) < 1e-12);
    if (k % 5)
      assert_true((off != 0) == (at(&broken, "wheel.speed", k - 1) != at(&healthy, "wheel.speed", k - 1)));
    there += off != 0;
    double f = at(&frozen, "wheel.speed", k), h = at(&healthy, "wheel.speed", k);
    assert_true(f == h || f == at(&frozen, "wheel.speed", k - 1));
  }
  assert_in_range(there, FRAMES / 4, FRAMES * 3 / 4);
  assert_true(at(&frozen, "wheel.speed", 9) == at(&healthy, "wheel.speed", 9));
  end(&healthy);
  end(&broken);
  end(&frozen);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void a_dead_sensor_says_nothing_and_a_lost_encoder_too(void **state) {
  (void)state;
  struct taken healthy, broken;
  fly(&healthy, "");
  fly(&broken, "  - {device: gyro, at: 1 s, for: 1 s, dead: true}\n  - {device: enc, frame: 150, lost: true}");
  for (int k = 0; k < FRAMES; k++) {
    bool dead = k >= 100 && k < 200;
    for (int i = 0; i < 3; i++) {
      char name[32];
      snprintf(name, sizeof name, "gyro.rate[%d]", i);
      assert_true(at(&broken, name, k) == (dead ? 0 : at(&healthy, name, k)));
    }
    assert_true(at(&broken, "enc.position", k) == (k >= 150 ? 0 : at(&healthy, "enc.position", k)));
  }
  end(&healthy);
  end(&broken);
}

/* Momentum about z of bus, arm and rotor is what it was: nothing acts from outside. */
static void a_wheel_that_seizes_hands_its_momentum_over(void **state) {
  (void)state;
  struct taken t;
  char text[TEXT];
  snprintf(text, sizeof text, "%sfaults: [{device: wheel, at: 1 s, seized: 200 ms}]\n", CRAFT);
  begin(&t, text);
  orr_spatial before = orr_flight_momentum(&t.flight);
  double speed0 = orr_flight_value(&t.flight, "wheel.speed");
  orr_flight_run(&t.flight, FRAMES);
  orr_spatial after = orr_flight_momentum(&t.flight);
  assert_true(fabs(after.w.z - before.w.z) < 1e-12);
  assert_true(fabs(before.w.z) > 0.1);
  for (int k = 100; k < 120; k++) /* evenly to rest: nearly: a step behind */
    assert_true(fabs(at(&t, "wheel.speed", k) - speed0 * (1 - (k - 100) / 20.0)) < 0.01 * speed0);
  assert_true(fabs(at(&t, "wheel.speed", 160)) < 1e-6 * speed0);
  /* the motor does nothing */
  orr_flight_command(&t.flight, "wheel.torque", 0.1);
  orr_flight_run(&t.flight, 20);
  assert_true(fabs(orr_flight_value(&t.flight, "wheel.speed")) < 1e-6 * speed0);
  end(&t);
}

/* J Ω̇ = −d Ω against a bus that is a hundred thousand times as heavy. */
static void drag_slows_a_wheel_by_its_exponential(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 1e5, inertia: [1e5, 1e5, 1e5, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {wheel: {kind: reaction_wheel, node: bus.origin, axis: [0, 0, 1], inertia: 0.01, initial_speed: "
      "10}}\n"
      "simulation: {step: 10 ms, duration: 4 s}\n"
      "faults: [{device: wheel, at: 1 s, for: 1 s, drag: 0.01 N m s/rad}]\n",
      NULL);
  orr_flight_run(&f, 100);
  assert_true(fabs(orr_flight_value(&f, "wheel.speed") - 10) < 1e-12);
  orr_flight_run(&f, 50);
  assert_true(fabs(orr_flight_value(&f, "wheel.friction") + 0.01 * 10 * exp(-0.5)) < 1e-6);
  orr_flight_run(&f, 100);
  assert_true(fabs(orr_flight_value(&f, "wheel.speed") - 10 * exp(-1)) < 1e-6);
  assert_true(orr_flight_value(&f, "wheel.friction") == 0);
  orr_flight_free(&f);
}

/* The body's momentum along x is the impulse; the propellant is impulse/(g0 isp). */
static void thrusters_stick_and_leak_by_their_impulse(void **state) {
  (void)state;
  static const struct {
    const char *fault;
    double impulse; /* of four seconds under the pulses of 8, 6 and 4 ms, of which one falls into the fault */
  } cases[] = {
      {"stuck_on: true", 2 * (0.008 + 1 + 0.004)},
      {"stuck_off: true", 2 * (0.008 + 0.004)},
      {"leak: 0.1", 2 * (0.008 + 0.1 * 0.99 + 0.006 + 0.004)}, /* the frame of the pulse gives more than the leak */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    struct taken t;
    snprintf(text, sizeof text, "%s%sfaults: [{device: jet, at: 1 s, for: 1 s, %s}]\n", CRAFT, COMMANDS,
             cases[i].fault);
    begin(&t, text);
    orr_flight_run(&t.flight, FRAMES);
    double used = 0.5 - orr_flight_value(&t.flight, "jet.propellant");
    double mass = cases[i].impulse / (9.80665 * 200);
    if (fabs(used - mass) > 1e-12)
      fail_msg("%s: %.12g kg, not %.12g", cases[i].fault, used, mass);
    end(&t);
  }
}

static void a_hinge_jams_at_its_place_and_is_released(void **state) {
  (void)state;
  struct taken t, soft;
  fly(&t, "  - {hinge: arm, at: 1 s, for: 1 s, jammed: true}");
  double q = at(&t, "enc.position", 110);
  assert_true(fabs(q - at(&t, "enc.position", 103)) < 0.01); /* within the frame, by half of what it moved in one */
  for (int k = 104; k < 203; k++)
    assert_true(fabs(at(&t, "enc.position", k) - q) < 1e-12);
  assert_true(fabs(at(&t, "enc.position", 300) - q) > 1e-3);
  end(&t);
  fly(&soft, "  - {hinge: arm, at: 1 s, jammed: 500 ms}");
  double moved = at(&soft, "enc.position", 200) - at(&soft, "enc.position", 103);
  assert_true(fabs(moved) > 0.05); /* evenly to rest: half of what 0.5 s would have been */
  assert_true(fabs(at(&soft, "enc.position", 399) - at(&soft, "enc.position", 160)) < 1e-12);
  end(&soft);
}

/* How much of the momentum about z a jam loses, at a step. */
static double lost_by_jam(const char *step, int frames) {
  char text[TEXT], *at;
  snprintf(text, sizeof text, "%sfaults: [{hinge: arm, at: 1 s, for: 1 s, jammed: 100 ms}]\n", CRAFT);
  at = strstr(text, "step: 10 ms");
  assert_non_null(at);
  memcpy(at, step, strlen(step));
  struct orr_flight f = orr_flight_make(text, NULL);
  orr_spatial before = orr_flight_momentum(&f);
  orr_flight_run(&f, frames);
  orr_spatial after = orr_flight_momentum(&f);
  orr_flight_free(&f);
  return fabs(after.w.z - before.w.z);
}

/* What the arm had goes into both bodies. What is lost is the integrator's own, of fourth order. */
static void a_jam_keeps_momentum(void **state) {
  (void)state;
  double coarse = lost_by_jam("step: 10 ms", 400), fine = lost_by_jam("step: 05 ms", 800);
  assert_true(coarse < 1e-9);
  assert_true(fine < coarse / 10 + 1e-14);
}

/* A kind of device whose fault no key can name would be out of reach. */
static void every_fault_of_a_kind_can_be_written(void **state) {
  (void)state;
  static const char *const hosts[] = {
      [ORR_ON_NODE] = "node: bus.n", [ORR_ON_HINGE] = "hinge: arm", [ORR_ON_COORDINATE] = "hinge: arm"};
  int found = 0;
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
    for (size_t i = 0; i < (*k)->fault_count; i++, found++) {
      char text[TEXT];
      const char *name = (*k)->faults[i].number ? (*k)->faults[i].has_fallback ? "true" : "0.1" : "true";
      const char *device = strcmp((*k)->name, "thruster") == 0 ? "jet" : "wheel";
      assert_non_null(hosts[(*k)->host]);
      snprintf(text, sizeof text, "%sfaults: [{device: %s, at: 1 s, %s: %s}]\n", CRAFT, device, (*k)->faults[i].name,
               name);
      struct orr_flight f = orr_flight_make(text, NULL);
      assert_int_equal(f.run->fault_count, 1);
      assert_true(f.run->faults[0].fault == &(*k)->faults[i]);
      orr_flight_free(&f);
    }
  assert_int_equal(found, 5);
}

/* ---- when -------------------------------------------------------------------------------------------------------- */

static int first_off(const struct taken *healthy, const struct taken *broken, const char *channel, int *last) {
  int first = -1;
  for (int k = 0; k < FRAMES; k++)
    if (at(healthy, channel, k) != at(broken, channel, k)) {
      first = first < 0 ? k : first;
      *last = k;
    }
  return first;
}

static void faults_begin_by_time_frame_and_condition(void **state) {
  (void)state;
  struct taken healthy, broken;
  int last = -1, crossing = 0;
  fly(&healthy, "");
  fly(&broken,
      "  - {channel: gyro.rate.x, at: 1234 ms, for: 1 s, bias: 1}\n"
      "  - {channel: gyro.rate.y, frame: 77, bias: 1}\n"
      "  - {name: third, channel: gyro.rate.z, when: wheel.torque below -0.03 for 50 ms, for: 100 ms, bias: 1}");
  assert_int_equal(first_off(&healthy, &broken, "gyro.rate.x", &last), 124); /* the first frame at or after */
  assert_int_equal(last, 223);
  assert_int_equal(first_off(&healthy, &broken, "gyro.rate.y", &last), 77);
  assert_int_equal(last, FRAMES - 1);
  while (!(at(&healthy, "wheel.torque", crossing) < -0.03))
    crossing++;
  /* it has held for 50 ms five frames later, and acts from the next one on; once only, though it holds again */
  assert_int_equal(first_off(&healthy, &broken, "gyro.rate.z", &last), crossing + 6);
  assert_int_equal(last, crossing + 15);
  const struct orr_procedure *p = broken.flight.session->procedure;
  assert_int_equal(p->event_count, 5);
  int third = 0;
  for (int i = 0; i < 5; i++) {
    bool is = strcmp(p->events[i].name, "third") == 0, begins = strcmp(p->events[i].text, "begins") == 0;
    third += is;
    if (is)
      assert_int_equal(p->events[i].frame, crossing + (begins ? 6 : 16));
  }
  assert_int_equal(third, 2);
  end(&healthy);
  end(&broken);
}

static void a_saved_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  static const char faults[] = "  - {channel: gyro.rate, at: 0 s, noise: 0.1}\n"
                               "  - {channel: wheel.speed, at: 1 s, delay: 500 ms}\n"
                               "  - {channel: wheel.torque, at: 1 s, drop: 0.5}\n"
                               "  - {channel: wheel.torque, at: 2 s, delay: 300 ms}\n"
                               "  - {hinge: arm, at: 1500 ms, for: 1 s, jammed: 1 s}\n"
                               "  - {device: wheel, when: time above 1.8 s for 100 ms, for: 1 s, seized: 300 ms}\n"
                               "  - {channel: bus.rate, at: 1 s, freeze: true}\n"
                               "  - {device: jet, at: 500 ms, leak: 0.1}\n";
  struct taken whole, later;
  char text[TEXT];
  snprintf(text, sizeof text, "%s%sfaults:\n%s", CRAFT, COMMANDS, faults);
  for (int cut = 20; cut < FRAMES; cut += 60) {
    begin(&whole, text);
    begin(&later, text);
    orr_flight_run(&whole.flight, cut);
    size_t words = orr_session_state_words(whole.flight.session);
    uint64_t *saved = calloc(words, sizeof *saved);
    assert_non_null(saved);
    orr_session_state_get(whole.flight.session, saved);
    orr_flight_run(&later.flight, 3); /* somewhere else */
    later.count = 0;
    assert_int_equal(orr_session_state_put(later.flight.session, saved), ORR_OK);
    orr_flight_run(&whole.flight, FRAMES - cut);
    orr_flight_run(&later.flight, FRAMES - cut);
    assert_int_equal(later.count, FRAMES - cut);
    for (int k = cut; k < FRAMES; k++)
      if (memcmp(whole.rows + whole.width * k, later.rows + later.width * (k - cut), 8 * (size_t)whole.width) != 0)
        fail_msg("cut at %d: frame %d differs", cut, k);
    assert_true(orr_session_hash(whole.flight.session) == orr_session_hash(later.flight.session));
    free(saved);
    end(&whole);
    end(&later);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_effect_is_as_defined_on_each_kind_of_channel),
      cmocka_unit_test(a_zero_at_a_limit_of_zero_keeps_its_sign),
      cmocka_unit_test(noise_is_new_for_each_sample_and_has_its_size),
      cmocka_unit_test(what_is_dropped_leaves_the_sample_before),
      cmocka_unit_test(bits_flip_at_their_chance_and_anywhere),
      cmocka_unit_test(what_is_intermittent_comes_and_goes_in_whole_spans),
      cmocka_unit_test(a_dead_sensor_says_nothing_and_a_lost_encoder_too),
      cmocka_unit_test(a_wheel_that_seizes_hands_its_momentum_over),
      cmocka_unit_test(drag_slows_a_wheel_by_its_exponential),
      cmocka_unit_test(thrusters_stick_and_leak_by_their_impulse),
      cmocka_unit_test(a_hinge_jams_at_its_place_and_is_released),
      cmocka_unit_test(a_jam_keeps_momentum),
      cmocka_unit_test(every_fault_of_a_kind_can_be_written),
      cmocka_unit_test(faults_begin_by_time_frame_and_condition),
      cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
