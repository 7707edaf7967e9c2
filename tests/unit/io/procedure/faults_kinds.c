/* Each fault of a channel on each kind of channel, one by one: scalars, whole vectors and single elements, attitudes
 * and their elements, whole numbers, flags; outputs, commands that stand and commands that come once. What each is to
 * be is written here once more, from the definition: attitudes by matrices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/flight.h"

enum { FRAMES = 600, TEXT = 6000, FROM = 100, TO = 500, MOST = 4 };

static const char craft[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {\n"
    "  bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}},\n"
    "  lid: {mass: 0.1, com: [0, 0, 0.1], inertia: [0.01, 0.01, 0.01, 0, 0, 0],\n"
    "    hinge: {kind: revolute, to: bus.n, axis: [1, 0, 0], motion: {table: [[0, 0], [1, 0.1], [9, 0.2]], starts: "
    "by_command}}},\n"
    "  dish: {mass: 0.2, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0],\n"
    "    hinge: {kind: universal, to: bus.n, axes: [[0, 0, 1], [0, 1, 0]], prescribed: true}}}}\n"
    "actuators:\n"
    "  wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1, initial_speed: 10}\n"
    "  jet: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 2}\n"
    "sensors:\n"
    "  gyro: {kind: rate_gyro, node: bus.n, rate: 50 Hz, noise: {angle_random_walk: 1e-3 rad/sqrt(s)}}\n"
    "  turned: {kind: rate_gyro, node: bus.n, rate: 50 Hz, integrating: {step: 1e-4 rad}}\n"
    "  star: {kind: star_tracker, node: bus.n, rate: 25 Hz, boresight: [0, 0, 1], noise: {across: 1e-4, about: 1e-4}}\n"
    "simulation: {step: 10 ms, duration: 6 s, seed: 7, initial: {bus: {rate: [0.2, 0.1, 0.9]}}}\n"
    "commands:\n"
    "  - {channel: wheel.torque, at: 0 s, sine: {amplitude: 0.05, frequency: 1 Hz}}\n"
    "  - {channel: dish.acceleration, at: 500 ms, value: [0.01, -0.02]}\n"
    "  - {channel: dish.acceleration, at: 2500 ms, value: [-0.02, 0.03]}\n"
    "  - {channel: jet.on_time, at: 500 ms, value: 8 ms}\n"
    "  - {channel: jet.on_time, at: 1500 ms, value: 6 ms}\n"
    "  - {channel: jet.on_time, at: 2500 ms, value: 4 ms}\n"
    "  - {channel: jet.on_time, at: 5500 ms, value: 3 ms}\n"
    "  - {channel: lid.motion, at: 4200 ms, value: 1}\n"
    "  - {channel: lid.motion, at: 5600 ms, value: 1}\n";

enum sort { REAL, WHOLE, FLAG, ATTITUDE };

static const struct kind {
  const char *channel;
  enum sort sort;
  int count, divisor;
  bool command, pulse;
  double low; /* of a command */
} kinds[] = {
    {"wheel.speed", REAL, 1, 1, false, false, 0},              /* a scalar */
    {"gyro.rate", REAL, 3, 2, false, false, 0},                /* a vector, all of it */
    {"gyro.rate.y", REAL, 1, 2, false, false, 0},              /* an element */
    {"star.attitude", ATTITUDE, 4, 4, false, false, 0},        /* an attitude */
    {"bus.attitude", ATTITUDE, 4, 1, false, false, 0},         /* that of truth */
    {"star.attitude.w", REAL, 1, 4, false, false, 0},          /* one number of it */
    {"turned.counts", WHOLE, 3, 2, false, false, 0},           /* counts */
    {"turned.counts[2]", WHOLE, 1, 2, false, false, 0},        /* one of them */
    {"star.valid", FLAG, 1, 4, false, false, 0},               /* a boolean */
    {"wheel.torque", REAL, 1, 1, true, false, -HUGE_VAL},      /* a command that stands */
    {"dish.acceleration", REAL, 2, 1, true, false, -HUGE_VAL}, /* a vector of them */
    {"dish.acceleration[1]", REAL, 1, 1, true, false, -HUGE_VAL},
    {"jet.on_time", REAL, 1, 1, true, true, 0}, /* a command that comes once */
    {"lid.motion", FLAG, 1, 1, true, true, 0},  /* a boolean that does */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Everything that stood in the block when frames were recorded. */
struct taken {
  struct orr_recorder recorder;
  struct orr_flight flight;
  double *rows;
  int width, count;
};

static void take(struct orr_recorder *recorder, const struct orr_session *session) {
  struct taken *t = (struct taken *)recorder;
  if (t->count < FRAMES)
    memcpy(t->rows + t->width * t->count++, session->plant->values, sizeof(double) * (size_t)t->width);
}

static void fly(struct taken *t, const char *faults) {
  char text[TEXT];
  snprintf(text, sizeof text, "%s%s%s\n", craft, *faults ? "faults:\n" : "", faults);
  memset(t, 0, sizeof *t);
  t->flight = orr_flight_make(text, "bus.attitude");
  t->width = t->flight.plant->table.value_count;
  t->rows = calloc((size_t)(FRAMES * t->width), sizeof *t->rows);
  assert_non_null(t->rows);
  t->recorder.frame = take;
  orr_session_tell(t->flight.session, &t->recorder);
  orr_flight_run(&t->flight, FRAMES);
  assert_int_equal(t->count, FRAMES);
}

static void end(struct taken *t) {
  free(t->rows);
  orr_flight_free(&t->flight);
}

/* The kind's numbers in a frame. */
static const double *at(const struct taken *t, const struct kind *k, int frame) {
  int element, channel = orr_channel_find_element(&t->flight.plant->table, k->channel, &element);
  assert_true(channel >= 0);
  const struct orr_channel *c = &t->flight.plant->table.channels[channel];
  assert_int_equal(element >= 0 ? 1 : c->count, k->count);
  assert_int_equal(c->type, k->sort == WHOLE  ? ORR_CHANNEL_WHOLE
                            : k->sort == FLAG ? ORR_CHANNEL_FLAG
                                              : ORR_CHANNEL_REAL);
  return t->rows + t->width * frame + c->offset + (element >= 0 ? element : 0);
}

static void fly_with(struct taken *t, const struct kind *k, const char *effect) {
  char line[500];
  snprintf(line, sizeof line, "  - {channel: '%s', at: 1 s, for: 4 s, %s}", k->channel, effect);
  fly(t, line);
}

/* ---- attitudes by matrices --------------------------------------------------------------------------------------- */

struct matrix {
  double a[3][3];
};

static struct matrix of_quaternion(const double *q) {
  double x = q[0], y = q[1], z = q[2], w = q[3];
  return (struct matrix){{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                          {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                          {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

static struct matrix times(struct matrix a, struct matrix b) {
  struct matrix c = {{{0}}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        c.a[i][j] += a.a[i][k] * b.a[k][j];
  return c;
}

/* 1 + sin θ ṽ + (1 − cos θ) ṽ², for the turn about θ v */
static struct matrix of_turn(const double *t) {
  double angle = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]), s = angle > 0 ? 1 / angle : 0;
  struct matrix v = {{{0, -t[2] * s, t[1] * s}, {t[2] * s, 0, -t[0] * s}, {-t[1] * s, t[0] * s, 0}}}, vv = times(v, v);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      v.a[i][j] = (i == j) + sin(angle) * v.a[i][j] + (1 - cos(angle)) * vv.a[i][j];
  return v;
}

static double apart(struct matrix a, struct matrix b) {
  double most = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      most = fmax(most, fabs(a.a[i][j] - b.a[i][j]));
  return most;
}

/* An attitude of the same sign, turned by t in its own axes. */
static bool is_turned(const double *was, const double *is, const double *t) {
  double length = 0, same = 0;
  for (int i = 0; i < 4; i++) {
    length += is[i] * is[i];
    same += is[i] * was[i];
  }
  return fabs(length - 1) < 1e-12 && same > 0 &&
         apart(of_quaternion(is), times(of_quaternion(was), of_turn(t))) < 1e-12;
}

/* ---- what is expected -------------------------------------------------------------------------------------------- */

/* A number as its channel can be. */
static double as_kind(const struct kind *k, double x) {
  x = k->sort == FLAG ? x >= 0.5 : k->sort == WHOLE ? rint(x) : x;
  return k->command ? fmax(k->low, x) : x;
}

static bool quiet(const struct kind *k, double x) { return k->pulse && x == 0; }

static const double per_number[MOST] = {0.011, -0.023, 0.037, 0.05};

static void expect_numbers(const struct kind *k, const char *effect, const struct taken *healthy,
                           const struct taken *broken, double (*of)(const struct kind *, int, int, double)) {
  int differ = 0;
  for (int frame = 0; frame < FRAMES; frame++) {
    const double *was = at(healthy, k, frame), *is = at(broken, k, frame);
    for (int i = 0; i < k->count; i++) {
      bool acts = frame >= FROM && frame < TO;
      double wanted = acts && !quiet(k, was[i]) ? as_kind(k, of(k, i, frame, was[i])) : was[i];
      if (fabs(wanted - is[i]) > 1e-14 * (fabs(wanted) + fabs(was[i])))
        fail_msg("%s of %s, frame %d: %.17g, not %.17g (healthy %.17g)", effect, k->channel, frame, is[i], wanted,
                 was[i]);
      differ += is[i] != was[i];
    }
  }
  if (!differ)
    fail_msg("%s of %s changes nothing", effect, k->channel);
}

static void expect_turned(const struct kind *k, const char *effect, const struct taken *healthy,
                          const struct taken *broken, double per_frame) {
  for (int frame = 0; frame < FRAMES; frame++) {
    bool acts = frame >= FROM && frame < TO;
    double turn[3], part = !acts ? 0 : per_frame > 0 ? per_frame * (frame - FROM) : 1;
    for (int i = 0; i < 3; i++)
      turn[i] = part * per_number[i];
    if (!is_turned(at(healthy, k, frame), at(broken, k, frame), turn))
      fail_msg("%s of %s, frame %d: not turned so", effect, k->channel, frame);
  }
}

/* The list of values for the kind, as a file has it: larger for counts and flags. */
static const char *values(const struct kind *k, const char *name, char *text, size_t size) {
  double scale = k->sort == WHOLE ? 1e4 : k->sort == FLAG ? -100 : 1;
  int count = k->sort == ATTITUDE ? 3 : k->count;
  size_t used = (size_t)snprintf(text, size, "%s: [", name);
  for (int i = 0; i < count && i < MOST; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%.17g", i ? ", " : "", scale * per_number[i]);
  snprintf(text + used, size - used, "]");
  return text;
}

static double value_of(const struct kind *k, int i) {
  return per_number[i] * (k->sort == WHOLE ? 1e4 : k->sort == FLAG ? -100 : 1);
}

static double biased(const struct kind *k, int i, int frame, double x) {
  (void)frame;
  return x + value_of(k, i);
}
static double drifted(const struct kind *k, int i, int frame, double x) {
  return x + value_of(k, i) * (0.01 * (frame - FROM));
}
static double scaled(const struct kind *k, int i, int frame, double x) {
  (void)k, (void)i, (void)frame;
  return -0.6 * x;
}

typedef void check_fn(const struct kind *k, const struct taken *healthy);

static void on_each_kind(check_fn *check) {
  struct taken healthy;
  fly(&healthy, "");
  for (int k = 0; k < KINDS; k++)
    check(&kinds[k], &healthy);
  end(&healthy);
}

static void check_bias(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  char text[200];
  fly_with(&t, k, values(k, "bias", text, sizeof text));
  if (k->sort == ATTITUDE)
    expect_turned(k, "bias", healthy, &t, 0);
  else
    expect_numbers(k, "bias", healthy, &t, biased);
  end(&t);
}

static void check_drift(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  char text[200];
  fly_with(&t, k, values(k, "drift", text, sizeof text));
  if (k->sort == ATTITUDE)
    expect_turned(k, "drift", healthy, &t, 0.01);
  else
    expect_numbers(k, "drift", healthy, &t, drifted);
  end(&t);
}

/* Half of a turn, done twice, is the turn. */
static void check_scale(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  fly_with(&t, k, k->sort == ATTITUDE ? "scale: 0.5" : "scale: -0.6");
  if (k->sort != ATTITUDE)
    expect_numbers(k, "scale", healthy, &t, scaled);
  bool turns_over = false; /* w goes below 0 */
  for (int frame = 0; frame < FRAMES && k->sort == ATTITUDE; frame++) {
    const double *q = at(healthy, k, frame), *half = at(&t, k, frame);
    double same = q[0] * half[0] + q[1] * half[1] + q[2] * half[2] + q[3] * half[3];
    turns_over |= q[3] < -0.1;
    assert_true(same > 0.5);
    bool acts = frame >= FROM && frame < TO;
    struct matrix was = of_quaternion(at(healthy, k, frame)), is = of_quaternion(at(&t, k, frame));
    assert_true(apart(acts ? times(is, is) : is, was) < 1e-12);
    assert_true(!acts || is.a[0][0] + is.a[1][1] + is.a[2][2] >= 1 - 1e-12); /* a quarter of a circle at most */
  }
  assert_true(k->sort != ATTITUDE || turns_over);
  end(&t);
}

static void check_stuck(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  const char *effect = k->sort == FLAG && !k->pulse ? "stuck_at: 0"
                       : k->sort == REAL            ? "stuck_at: 0.005"
                                                    : "stuck_at: 1";
  double stuck = k->sort == FLAG && !k->pulse ? 0 : k->sort == REAL ? 0.005 : 1;
  fly_with(&t, k, effect);
  for (int frame = 0; frame < FRAMES; frame++)
    for (int i = 0; i < k->count; i++)
      assert_true(at(&t, k, frame)[i] == (frame >= FROM && frame < TO ? stuck : at(healthy, k, frame)[i]));
  end(&t);
}

static void check_freeze(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  fly_with(&t, k, "freeze: true");
  for (int frame = 0; frame < FRAMES; frame++)
    for (int i = 0; i < k->count; i++) {
      double frozen = k->pulse ? 0 : at(healthy, k, FROM - 1)[i];
      assert_true(at(&t, k, frame)[i] == (frame >= FROM && frame < TO ? frozen : at(healthy, k, frame)[i]));
    }
  end(&t);
}

static void check_delay(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  fly_with(&t, k, "delay: 130 ms");
  for (int frame = 0; frame < FRAMES; frame++)
    for (int i = 0; i < k->count; i++)
      assert_true(at(&t, k, frame)[i] == at(healthy, k, frame >= FROM && frame < TO ? frame - 13 : frame)[i]);
  end(&t);
}

/* Bit 3: of a double one of the lowest, of a whole number 8, of a flag the flag. */
static void check_flip(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  fly_with(&t, k, "bit_flip: 3");
  for (int frame = 0; frame < FRAMES; frame++)
    for (int i = 0; i < k->count; i++) {
      double was = at(healthy, k, frame)[i], is = at(&t, k, frame)[i], wanted = was;
      bool acts = frame >= FROM && frame < TO && !quiet(k, was);
      if (acts && k->sort == FLAG) {
        wanted = 1 - was;
      } else if (acts && k->sort == WHOLE) {
        wanted = fmod(fmod(floor(was / 8), 2) + 2, 2) == 1 ? was - 8 : was + 8;
      } else if (acts) {
        uint64_t bits;
        memcpy(&bits, &was, sizeof bits);
        bits ^= 8;
        memcpy(&wanted, &bits, sizeof bits);
        wanted = k->command ? fmax(k->low, wanted) : wanted;
      }
      if (is != wanted)
        fail_msg("bit flip of %s, frame %d: %.17g, not %.17g (healthy %.17g)", k->channel, frame, is, wanted, was);
    }
  end(&t);
}

/* ---- what is random ---------------------------------------------------------------------------------------------- */

struct sums {
  double sum, squares, with_next; /* times the next number */
  int count;
};

static void add(struct sums *s, double x, double next) {
  s->sum += x;
  s->squares += x * x;
  s->with_next += x * next;
  s->count++;
}

/* Within five of what the mean, the variance and the covariance with another number scatter by. */
static bool is_normal(const struct sums *s, double sigma, bool alone) {
  double mean = s->sum / s->count, variance = s->squares / s->count;
  return fabs(mean) < 5 * sigma / sqrt(s->count) && fabs(variance / (sigma * sigma) - 1) < 5 * sqrt(2.0 / s->count) &&
         (alone || fabs(s->with_next / s->count) < 5 * sigma * sigma / sqrt(s->count));
}

/* The vector of a small turn: what is not symmetric in its matrix. */
static void turn_between(const double *was, const double *is, double *turn) {
  struct matrix a = of_quaternion(was), b = of_quaternion(is), back = {{{0}}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      back.a[i][j] = a.a[j][i];
  struct matrix m = times(back, b);
  turn[0] = 0.5 * (m.a[2][1] - m.a[1][2]);
  turn[1] = 0.5 * (m.a[0][2] - m.a[2][0]);
  turn[2] = 0.5 * (m.a[1][0] - m.a[0][1]);
}

static void check_noise(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  int numbers = k->sort == ATTITUDE ? 3 : k->count, ones = 0, flags = 0;
  double sigma = k->sort == WHOLE ? 50 : k->sort == FLAG ? 1 : 1e-3;
  struct sums sums[MOST] = {{0}};
  fly_with(&t, k, k->sort == WHOLE ? "noise: 50" : k->sort == FLAG ? "noise: 1" : "noise: 1e-3");
  for (int frame = 0; frame < FRAMES; frame++) {
    const double *was = at(healthy, k, frame), *is = at(&t, k, frame);
    bool acts = frame >= FROM && frame < TO;
    double off[MOST];
    if (k->sort == ATTITUDE)
      turn_between(was, is, off);
    for (int i = 0; i < numbers && k->sort != ATTITUDE; i++)
      off[i] = is[i] - was[i];
    for (int i = 0; i < numbers; i++) {
      if (!acts || quiet(k, was[i])) {
        assert_true(fabs(off[i]) < 1e-14);
        continue;
      }
      if (frame % k->divisor && frame > FROM) { /* the sample stands, and its noise */
        assert_true(memcmp(is, at(&t, k, frame - 1), sizeof *is * (size_t)k->count) == 0);
        continue;
      }
      assert_true(k->sort == REAL || k->sort == ATTITUDE || is[i] == rint(is[i]));
      add(&sums[i], off[i], off[(i + 1) % numbers]);
      ones += k->sort == FLAG && is[i] == 1;
      flags += k->sort == FLAG && was[i] == 1;
      assert_true(k->sort != FLAG || is[i] == 0 || is[i] == 1);
    }
  }
  for (int i = 0; i < numbers && !k->pulse && k->sort != FLAG; i++)
    if (!is_normal(&sums[i], sigma, numbers == 1))
      fail_msg("noise of %s, number %d: mean %g, variance %g in %d", k->channel, i, sums[i].sum / sums[i].count,
               sums[i].squares / sums[i].count, sums[i].count);
  /* P(1 + n ≥ ½) = 0.691 of those that were 1 */
  if (k->sort == FLAG && !k->pulse) {
    assert_int_equal(flags, sums[0].count);
    assert_true(fabs(ones - 0.6915 * flags) < 5 * sqrt(0.6915 * 0.3085 * flags));
  }
  end(&t);
}

static void check_drop(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  int lost = 0, samples = 0;
  fly_with(&t, k, "drop: 0.3");
  for (int frame = 0; frame < FRAMES; frame++) {
    size_t bytes = sizeof(double) * (size_t)k->count;
    const double *was = at(healthy, k, frame), *is = at(&t, k, frame);
    bool acts = frame >= FROM && frame < TO, came = memcmp(was, is, bytes) == 0;
    if (!acts || (frame % k->divisor && memcmp(is, at(&t, k, frame - 1), bytes) == 0)) {
      assert_true(acts || came);
      continue;
    }
    bool stays = k->pulse ? is[0] == 0 : memcmp(is, at(&t, k, frame - 1), bytes) == 0;
    assert_true(came || stays); /* all of its numbers together */
    lost += !came;
    samples += memcmp(was, at(healthy, k, frame - 1), bytes) != 0;
  }
  if (k->sort != FLAG && !k->pulse && samples > 50)
    assert_in_range(lost, 0.15 * samples, 0.45 * samples);
  end(&t);
}

/* In half of the spans of a quarter of a second, and in no part of the others. */
static void check_intermittent(const struct kind *k, const struct taken *healthy) {
  struct taken t;
  char effect[300], text[200];
  bool some = false, none = false;
  snprintf(effect, sizeof effect, "%s, intermittent: {every: 250 ms, chance: 0.5}",
           values(k, "bias", text, sizeof text));
  fly_with(&t, k, effect);
  for (int span = 0; span < (TO - FROM) / 25; span++) {
    int off = 0, could = 0;
    for (int frame = FROM + 25 * span; frame < FROM + 25 * (span + 1); frame++) {
      const double *was = at(healthy, k, frame), *is = at(&t, k, frame);
      off += memcmp(was, is, sizeof *was * (size_t)k->count) != 0;
      could += !quiet(k, was[0]);
      for (int i = 0; i < k->count && k->sort != ATTITUDE; i++)
        assert_true(is[i] == was[i] || fabs(is[i] - as_kind(k, was[i] + value_of(k, i))) < 1e-14 * (1 + fabs(is[i])));
    }
    assert_true(off == 0 || off == could);
    some |= off != 0;
    none |= could && off == 0;
  }
  assert_true(k->pulse || (some && none));
  end(&t);
}

static void bias_is_added(void **state) { (void)state, on_each_kind(check_bias); }
static void drift_grows(void **state) { (void)state, on_each_kind(check_drift); }
static void scale_multiplies(void **state) { (void)state, on_each_kind(check_scale); }
static void stuck_is_stuck(void **state) { (void)state, on_each_kind(check_stuck); }
static void frozen_is_as_before(void **state) { (void)state, on_each_kind(check_freeze); }
static void delayed_is_of_before(void **state) { (void)state, on_each_kind(check_delay); }
static void a_bit_flips(void **state) { (void)state, on_each_kind(check_flip); }
static void noise_scatters(void **state) { (void)state, on_each_kind(check_noise); }
static void dropped_leaves_the_last(void **state) { (void)state, on_each_kind(check_drop); }
static void intermittent_comes_and_goes(void **state) { (void)state, on_each_kind(check_intermittent); }

/* ---- values that are none ---------------------------------------------------------------------------------------- */

static void values_that_do_not_fit_the_kind_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *fault, *message;
  } cases[] = {
      {"channel: star.valid, stuck_at: 0.5", "'star.valid' is 0 or 1, and cannot be stuck at 0.5"},
      {"channel: turned.counts, stuck_at: 1.5", "'turned.counts' is a whole number, and cannot be stuck at 1.5"},
      {"channel: star.attitude, scale: [1, 1, 1]", "'scale' of an attitude takes one number, for its angle"},
      {"channel: star.attitude, bias: [1, 1, 1, 1]", "'bias' takes one number, or a list of 3"},
      {"channel: star.attitude, bias: 1 m", "'bias' is in rad"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT], message[300];
    size_t line;
    snprintf(text, sizeof text, "%sfaults: [{at: 1 s, %s}]\n", craft, cases[i].fault);
    orr_flight_refuse(text, message, sizeof message, &line);
    if (i < 4 && strcmp(message, cases[i].message) != 0)
      fail_msg("%s: %s", cases[i].fault, message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bias_is_added),
      cmocka_unit_test(drift_grows),
      cmocka_unit_test(scale_multiplies),
      cmocka_unit_test(stuck_is_stuck),
      cmocka_unit_test(frozen_is_as_before),
      cmocka_unit_test(delayed_is_of_before),
      cmocka_unit_test(a_bit_flips),
      cmocka_unit_test(noise_scatters),
      cmocka_unit_test(dropped_leaves_the_last),
      cmocka_unit_test(intermittent_comes_and_goes),
      cmocka_unit_test(values_that_do_not_fit_the_kind_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
