/* Which command applies when, and which never does: io/links/terms/rules and io/links/terms/layout, without any
 * transport. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/links/terms/rules.h"
#include "tests/support/prng.h"

enum { DIVISOR = 10, VALUES = 16 };

/* Commands: torque[2] in ±1, mode whole in 0…5, valve a pulse in 0…1, lamp a flag. Telemetry: rate[3], count whole,
 * valid flag. */
static struct orr_channel channels[] = {
    {.name = "gyro.valid", .unit = "", .type = ORR_CHANNEL_FLAG, .count = 1, .offset = 0},
    {.name = "gyro.rate", .unit = "rad/s", .count = 3, .offset = 1},
    {.name = "gyro.samples", .unit = "", .type = ORR_CHANNEL_WHOLE, .count = 1, .offset = 4},
    {.name = "lamp.on",
     .unit = "",
     .type = ORR_CHANNEL_FLAG,
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .low = 0,
     .high = 1,
     .offset = 5},
    {.name = "wheel.torque",
     .unit = "N m",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 2,
     .low = -1,
     .high = 1,
     .offset = 6},
    {.name = "wheel.mode",
     .unit = "",
     .type = ORR_CHANNEL_WHOLE,
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .low = 0,
     .high = 5,
     .offset = 8},
    {.name = "jet.on_time",
     .unit = "s",
     .direction = ORR_CHANNEL_COMMAND,
     .hold = ORR_CHANNEL_PULSE,
     .count = 1,
     .low = 0,
     .high = 1,
     .offset = 9},
};
enum { TORQUE = 6, MODE = 8, JET = 9, LAMP = 5 };

static const struct orr_channel_table table = {
    .channels = channels, .count = sizeof channels / sizeof *channels, .output_values = 5, .value_count = 10};

struct rig {
  struct orr_layout layout;
  struct orr_rules rules;
  void *block;
  uint64_t places[ORR_RULES_PLACES * 5];
  double values[VALUES];
};

static void make(struct rig *r, int silence, enum orr_silence_policy policy) {
  static const int telemetry[] = {2, 0, 1}, commands[] = {6, 5, 4, 3};
  memset(r, 0, sizeof *r);
  r->block = malloc(orr_layout_size(3, 4));
  orr_layout_init(&r->layout, r->block, &table, telemetry, 3, commands, 4);
  orr_rules_init(&r->rules, &r->layout, DIVISOR, r->places);
  r->rules.silence_frames = silence;
  r->rules.policy = policy;
}

static void done(struct rig *r) { free(r->block); }

/* torque[0], torque[1], on_time as reals; then mode; then lamp */
static enum orr_refusal command(struct rig *r, uint64_t answers, double torque) {
  uint64_t payload[5] = {0};
  const double reals[3] = {torque, torque / 2, 0.25};
  const int64_t mode = 3;
  memcpy(payload, reals, 24);
  memcpy(payload + 3, &mode, 8);
  ((unsigned char *)payload)[32] = 1;
  memcpy(r->rules.room, payload, sizeof payload);
  return orr_rules_offer(&r->rules, answers);
}

static enum orr_latch latch(struct rig *r) { return orr_rules_latch(&r->rules, r->values); }

static void a_payload_holds_reals_then_wholes_then_flags_in_the_order_of_the_table(void **state) {
  (void)state;
  struct rig r;
  uint64_t payload[5] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
  double values[VALUES] = {1, 0.5, -2, 3, 77}, real;
  int64_t whole;
  make(&r, 0, ORR_SILENCE_HOLD);
  assert_int_equal(r.layout.telemetry.bytes, 33);
  assert_int_equal(r.layout.commands.bytes, 33);
  orr_layout_pack(&r.layout.telemetry, values, payload);
  for (int i = 0; i < 3; i++) {
    memcpy(&real, payload + i, 8);
    assert_true(real == values[1 + i]);
  }
  memcpy(&whole, payload + 3, 8);
  assert_int_equal(whole, 77);
  assert_int_equal(payload[4], 1);
  done(&r);
}

static void the_layout_hash_tells_layouts_apart(void **state) {
  (void)state;
  struct rig r;
  struct orr_layout other;
  static const int telemetry[] = {0, 1, 2}, fewer[] = {3, 4, 5}, commands[] = {3, 4, 5, 6};
  make(&r, 0, ORR_SILENCE_HOLD);
  void *block = malloc(orr_layout_size(3, 4));
  orr_layout_init(&other, block, &table, telemetry, 3, commands, 4);
  assert_true(other.hash == r.layout.hash);
  orr_layout_init(&other, block, &table, telemetry, 3, fewer, 3);
  assert_true(other.hash != r.layout.hash);
  channels[1].unit = "deg/s";
  orr_layout_init(&other, block, &table, telemetry, 3, commands, 4);
  assert_true(other.hash != r.layout.hash);
  channels[1].unit = "rad/s";
  free(block);
  done(&r);
}

static void an_answer_is_applied_one_frame_of_the_link_later(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  orr_rules_publish(&r.rules, 0);
  assert_int_equal(command(&r, 0, 0.5), ORR_REFUSAL_NONE);
  assert_false(r.rules.due.answers >= 0);
  orr_rules_publish(&r.rules, 10);
  /* a quick peer answers frame 10 before it is latched: that is for frame 20 */
  assert_int_equal(command(&r, 10, -0.5), ORR_REFUSAL_NONE);
  assert_true(orr_rules_ready(&r.rules));
  assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
  assert_true(r.values[TORQUE] == 0.5 && r.values[TORQUE + 1] == 0.25 && r.values[MODE] == 3 && r.values[JET] == 0.25 &&
              r.values[LAMP] == 1);
  orr_rules_publish(&r.rules, 20);
  assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
  assert_true(r.values[TORQUE] == -0.5);
  assert_int_equal(r.rules.counts.applied, 2);
  assert_int_equal(r.rules.counts.late, 0);
  done(&r);
}

static void a_late_answer_is_applied_late_and_counted_and_of_several_the_newest(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  for (int64_t frame = 0; frame <= 30; frame += 10)
    orr_rules_publish(&r.rules, frame);
  assert_int_equal(command(&r, 0, 0.1), ORR_REFUSAL_NONE);
  assert_int_equal(command(&r, 10, 0.2), ORR_REFUSAL_NONE);
  assert_int_equal(command(&r, 0, 0.3), ORR_REFUSAL_STALE); /* older than what waits */
  assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
  assert_true(r.values[TORQUE] == 0.2);
  assert_int_equal(r.rules.applied, 10);
  assert_int_equal(r.rules.counts.late, 1);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_STALE], 2); /* the answer to 0 was overtaken */
  assert_true(r.rules.late);
  done(&r);
}

static void each_late_answer_is_recorded_with_the_frame_at_which_it_was_applied(void **state) {
  (void)state;
  enum { LATE = ORR_LATE_KEPT + 5 };
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  orr_rules_publish(&r.rules, 0);
  for (int64_t k = 1; k <= 2 * LATE; k++) { /* the answers to frames 0, 20, 40, … two frames of the link after each */
    orr_rules_publish(&r.rules, 10 * k);
    if (k % 2 == 0)
      assert_int_equal(command(&r, (uint64_t)(10 * k - 20), 0.5), ORR_REFUSAL_NONE);
    assert_int_equal(latch(&r), k % 2 == 0 ? ORR_LATCH_APPLIED : ORR_LATCH_NOTHING);
  }
  assert_int_equal(r.rules.counts.late, LATE);
  for (int64_t i = LATE - ORR_LATE_KEPT; i < LATE; i++) {
    assert_int_equal(r.rules.late_ones[i % ORR_LATE_KEPT].answers, 20 * i);
    assert_int_equal(r.rules.late_ones[i % ORR_LATE_KEPT].applied_at, 20 * i + 20);
  }
  done(&r);
}

static void stale_duplicate_and_unpublished_answers_are_counted_and_never_applied(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  assert_int_equal(command(&r, 0, 0.1), ORR_REFUSAL_MALFORMED); /* before anything was published */
  orr_rules_publish(&r.rules, 0);
  orr_rules_publish(&r.rules, 10);
  command(&r, 0, 0.5);
  assert_int_equal(command(&r, 0, 0.6), ORR_REFUSAL_DUPLICATE);
  latch(&r);
  assert_int_equal(command(&r, 0, 0.7), ORR_REFUSAL_DUPLICATE);
  orr_rules_publish(&r.rules, 20);
  command(&r, 10, 0.8);
  latch(&r);
  assert_int_equal(command(&r, 0, 0.9), ORR_REFUSAL_STALE);
  assert_int_equal(command(&r, 30, 0.9), ORR_REFUSAL_MALFORMED);
  assert_int_equal(command(&r, 15, 0.9), ORR_REFUSAL_MALFORMED);
  assert_int_equal(command(&r, UINT64_MAX, 0.9), ORR_REFUSAL_MALFORMED);
  orr_rules_publish(&r.rules, 30);
  assert_int_equal(latch(&r), ORR_LATCH_NOTHING);
  assert_true(r.values[TORQUE] == 0.8);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_DUPLICATE], 2);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_STALE], 1);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_MALFORMED], 4);
  done(&r);
}

static void a_command_with_one_bad_number_is_refused_whole(void **state) {
  (void)state;
  static const struct {
    double real;
    int64_t whole;
    int flag;
    enum orr_refusal refusal;
  } cases[] = {
      {(double)NAN, 3, 1, ORR_REFUSAL_NOT_FINITE}, {HUGE_VAL, 3, 1, ORR_REFUSAL_NOT_FINITE},
      {1.0000001, 3, 1, ORR_REFUSAL_OUT_OF_RANGE}, {0, 6, 1, ORR_REFUSAL_OUT_OF_RANGE},
      {0, INT64_MIN, 1, ORR_REFUSAL_OUT_OF_RANGE}, {0, INT64_MAX, 1, ORR_REFUSAL_OUT_OF_RANGE},
      {0, 3, 2, ORR_REFUSAL_OUT_OF_RANGE},         {0, 3, 1, ORR_REFUSAL_NONE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct rig r;
    uint64_t payload[5] = {0};
    const double reals[3] = {0.5, cases[i].real, 0.25};
    make(&r, 0, ORR_SILENCE_HOLD);
    orr_rules_publish(&r.rules, 0);
    orr_rules_publish(&r.rules, 10);
    memcpy(payload, reals, 24);
    memcpy(payload + 3, &cases[i].whole, 8);
    ((unsigned char *)payload)[32] = (unsigned char)cases[i].flag;
    memcpy(r.rules.room, payload, sizeof payload);
    assert_int_equal(orr_rules_offer(&r.rules, 0), cases[i].refusal);
    latch(&r);
    assert_true(r.values[TORQUE] == (cases[i].refusal ? 0 : 0.5));
    assert_int_equal(r.rules.counts.refused[cases[i].refusal], cases[i].refusal != ORR_REFUSAL_NONE);
    done(&r);
  }
}

/* As a script, a sequence or ctl set it: before the link speaks. */
static void a_pulse_of_zero_leaves_one_that_was_set_and_any_other_overrules_it(void **state) {
  (void)state;
  const double said[] = {0, 0, 0.25, 0.25}, set[] = {0, 0.5, 0, 0.5}, want[] = {0, 0.5, 0.25, 0.25};
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  orr_rules_publish(&r.rules, 0);
  for (int i = 0; i < 4; i++) {
    command(&r, (uint64_t)(10 * i), 0.5);
    memcpy(r.rules.next.payload + 2, &said[i], 8);
    orr_rules_publish(&r.rules, 10 * (i + 1));
    r.values[JET] = set[i];
    r.values[TORQUE] = 0.7;
    assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
    assert_true(r.values[JET] == want[i] && r.values[TORQUE] == 0.5);
    assert_int_equal(r.rules.overruled, i == 3);
  }
  const struct orr_first *first = &r.rules.first_overruled;
  assert_true(first->number.channel == &channels[6] && first->number.value == 0.5 && first->frame == 40);
  done(&r);
}

static void the_first_number_that_is_refused_is_kept_with_its_frame(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  orr_rules_publish(&r.rules, 0);
  assert_int_equal(command(&r, 5, 7), ORR_REFUSAL_MALFORMED);
  assert_null(r.rules.first_refused.number.channel); /* no number is to blame */
  assert_int_equal(command(&r, 0, 0.5), ORR_REFUSAL_NONE);
  orr_rules_publish(&r.rules, 10);
  assert_int_equal(command(&r, 10, -1.5), ORR_REFUSAL_OUT_OF_RANGE);
  assert_int_equal(command(&r, 10, 2.5), ORR_REFUSAL_OUT_OF_RANGE);
  const struct orr_first *first = &r.rules.first_refused;
  assert_true(first->number.channel == &channels[4] && first->number.element == 0 && first->number.value == -1.5);
  assert_int_equal(first->frame, 10);
  done(&r);
}

static void when_commands_stop_the_policy_rules_and_pulses_end_in_any_case(void **state) {
  (void)state;
  static const double held[] = {[ORR_SILENCE_HOLD] = 0.5, [ORR_SILENCE_ZERO] = 0, [ORR_SILENCE_STOP] = 0.5};
  for (int policy = ORR_SILENCE_HOLD; policy <= ORR_SILENCE_STOP; policy++) {
    struct rig r;
    make(&r, 3, (enum orr_silence_policy)policy);
    orr_rules_publish(&r.rules, 0);
    command(&r, 0, 0.5);
    for (int64_t frame = 10; frame <= 60; frame += 10) {
      orr_rules_publish(&r.rules, frame);
      enum orr_latch got = latch(&r);
      int silent = (int)(frame / 10) - 1;
      enum orr_latch want = frame == 10                                 ? ORR_LATCH_APPLIED
                            : silent == 3 && policy == ORR_SILENCE_STOP ? ORR_LATCH_STOP
                                                                        : ORR_LATCH_NOTHING;
      assert_int_equal(got, want);
      assert_true(r.values[TORQUE] == (silent < 3 ? 0.5 : held[policy]));
      assert_true(r.values[JET] == (silent < 3 ? 0.25 : ORR_CHANNEL_PULSE_ENDS)); /* no plant spends it here */
    }
    assert_int_equal(r.rules.counts.timeouts, 1);
    assert_int_equal(r.rules.counts.missed, 5);
    command(&r, 60, 0.75); /* it comes back */
    orr_rules_publish(&r.rules, 70);
    assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
    assert_true(r.values[TORQUE] == 0.75);
    done(&r);
  }
}

/* What the pulse of each boundary is where no command comes: the plant has spent the one before. */
static double silent_boundary(struct rig *r, int64_t frame) {
  r->values[JET] = 0;
  orr_rules_publish(&r->rules, frame);
  assert_int_equal(latch(r), ORR_LATCH_NOTHING);
  return r->values[JET];
}

/* Without a timeout of the link: pulses end once in each silence, and no level changes. */
static void without_a_timeout_pulses_end_when_commands_stop_and_nothing_else(void **state) {
  (void)state;
  struct rig r;
  int64_t frame = 0;
  make(&r, 0, ORR_SILENCE_ZERO);
  r.rules.pulse_frames = 3;
  for (; frame < 60; frame += 10) /* nobody has commanded anything: a pulse of a script goes on */
    assert_true(silent_boundary(&r, frame) == 0);
  for (int time = 0; time < 2; time++) {
    command(&r, (uint64_t)(frame - 10), 0.5);
    orr_rules_publish(&r.rules, frame);
    assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
    assert_true(r.values[JET] == 0.25);
    for (int silent = 1; silent <= 6; silent++)
      assert_true(silent_boundary(&r, frame += 10) == (silent == 3 ? ORR_CHANNEL_PULSE_ENDS : 0));
    assert_true(r.values[TORQUE] == 0.5 && r.values[MODE] == 3 && r.values[LAMP] == 1);
    frame += 10;
  }
  assert_int_equal(r.rules.counts.timeouts, 0);
  done(&r);
}

/* What it sent before acts first. */
static void when_the_peer_is_gone_pulses_end_at_the_next_boundary_without_a_command(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  r.rules.pulse_frames = 100;
  r.rules.gone = true; /* nobody came yet */
  for (int64_t frame = 0; frame < 30; frame += 10)
    assert_true(silent_boundary(&r, frame) == 0);
  command(&r, 20, 0.5);
  orr_rules_publish(&r.rules, 30);
  assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
  assert_true(r.values[JET] == 0.25);
  assert_true(silent_boundary(&r, 40) == ORR_CHANNEL_PULSE_ENDS);
  for (int64_t frame = 50; frame < 2000; frame += 10) /* nor by the silence that follows */
    assert_true(silent_boundary(&r, frame) == 0);
  assert_true(r.values[TORQUE] == 0.5 && r.values[MODE] == 3 && r.values[LAMP] == 1);
  orr_rules_resume(&r.rules, 2000);
  assert_int_equal(r.rules.pulse_frames, 100);
  done(&r);
}

/* Such a flag lets a motion begin, which nobody shall do by saying nothing. */
static void a_pulse_that_is_a_flag_does_not_end_when_commands_stop(void **state) {
  (void)state;
  struct rig r;
  channels[3].hold = ORR_CHANNEL_PULSE;
  make(&r, 2, ORR_SILENCE_ZERO);
  orr_rules_publish(&r.rules, 0);
  command(&r, 0, 0.5);
  for (int64_t frame = 10; frame <= 60; frame += 10) {
    r.values[LAMP] = 0; /* as the plant does */
    orr_rules_publish(&r.rules, frame);
    latch(&r);
    assert_true(r.values[LAMP] == (frame == 10));
  }
  assert_int_equal(r.rules.counts.timeouts, 1);
  channels[3].hold = ORR_CHANNEL_LEVEL;
  done(&r);
}

/* Flight software may say it again in its next answer, before anybody has looked. */
static void the_first_frame_answered_by_the_word_that_ends_the_run_stands(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  assert_true(r.rules.end_answers == ORR_WIRE_NONE);
  orr_rules_end(&r.rules, 300);
  orr_rules_end(&r.rules, 310);
  assert_true(r.rules.end_answers == 300);
  orr_rules_resume(&r.rules, 400);
  assert_true(r.rules.end_answers == ORR_WIRE_NONE);
  done(&r);
}

/* One answer per frame of the link, applied between boundaries: none is missed, none late, and no silence is seen. */
static void under_asap_an_answer_is_applied_at_the_first_frame_after_it_came(void **state) {
  (void)state;
  struct rig r;
  make(&r, 1, ORR_SILENCE_ZERO);
  r.rules.asap = true;
  orr_rules_publish(&r.rules, 0);
  for (int64_t frame = 1; frame <= 30; frame++) {
    bool boundary = frame % 10 == 0;
    if (boundary)
      orr_rules_publish(&r.rules, frame);
    if (frame % 10 == 4)
      command(&r, (uint64_t)(frame - 4), 0.01 * (double)frame);
    enum orr_latch want = boundary ? ORR_LATCH_EARLY : frame % 10 == 4 ? ORR_LATCH_APPLIED : ORR_LATCH_NOTHING;
    assert_int_equal(boundary ? latch(&r) : orr_rules_latch_between(&r.rules, frame, r.values), want);
    if (frame % 10 == 4)
      assert_true(r.values[TORQUE] == 0.01 * (double)frame);
  }
  assert_int_equal(r.rules.counts.missed + r.rules.counts.timeouts + r.rules.counts.late, 0);
  assert_int_equal(r.rules.counts.applied, 3);
  command(&r, 30, 0.5); /* before the latch of that frame: at once, and it is not asked for again at 40 */
  assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
  orr_rules_publish(&r.rules, 40);
  assert_int_equal(latch(&r), ORR_LATCH_EARLY);
  orr_rules_publish(&r.rules, 50); /* that to 40 did not come in time */
  assert_int_equal(latch(&r), ORR_LATCH_NOTHING);
  assert_int_equal(r.rules.counts.missed, 1);
  assert_int_equal(r.rules.counts.timeouts, 1);
  command(&r, 40, 0.25);
  assert_int_equal(orr_rules_latch_between(&r.rules, 53, r.values), ORR_LATCH_APPLIED);
  assert_int_equal(r.rules.counts.late, 1);
  assert_int_equal(r.rules.late_ones[0].answers, 40);
  assert_int_equal(r.rules.late_ones[0].applied_at, 53);
  done(&r);
}

/* Any order, any repetition: what is applied grows, was published, answers an older frame, and every offer is accounted
 * for. */
static void any_sequence_of_offers_is_accounted_for(void **state) {
  (void)state;
  struct orr_prng random = {7};
  struct rig r;
  static bool seen[10000]; /* by frame of the link, the slow way */
  uint64_t offers = 0, seen_count = 0;
  int64_t before = -1;
  make(&r, 4, ORR_SILENCE_ZERO);
  for (int64_t frame = 0; frame < 100000; frame += 10) {
    orr_rules_publish(&r.rules, frame);
    for (int n = (int)(prng_next(&random) % 5); n > 0; n--, offers++) {
      int64_t answers = frame - 40 + (int64_t)(prng_next(&random) % 60);
      command(&r, (uint64_t)answers, 0.5);
      if (answers >= 0 && answers <= frame && answers % 10 == 0)
        seen[answers / 10] = true;
    }
    if (frame == 0)
      continue;
    if (latch(&r) == ORR_LATCH_APPLIED) {
      assert_true(r.rules.applied > before && r.rules.applied < frame && r.rules.applied % 10 == 0);
      before = r.rules.applied;
    }
  }
  for (int i = 0; i < 10000; i++)
    seen_count += seen[i];
  uint64_t accounted = r.rules.counts.applied + (r.rules.next.answers >= 0) + (r.rules.due.answers >= 0);
  for (int i = 0; i < ORR_REFUSALS; i++)
    accounted += r.rules.counts.refused[i];
  assert_int_equal(accounted, offers);
  assert_true(r.rules.counts.applied > 1000 && r.rules.counts.late > 100);
  struct orr_answers a = orr_rules_answers(&r.rules);
  assert_int_equal(a.on_time + a.late, r.rules.counts.applied);
  assert_int_equal(a.on_time + a.late + a.superseded + a.waiting + a.unanswered, 10000);
  assert_int_equal(a.superseded + a.on_time + a.late + a.waiting, seen_count);
  done(&r);
}

/* ---- faults of the run file -------------------------------------------------------------------------------------- */

/* Boundary (k + 1) d with the answer to kd in time: its torque is k + 1 hundredths. */
static enum orr_latch boundary(struct rig *r, int k, enum orr_link_trouble trouble) {
  if (k == 0)
    orr_rules_publish(&r->rules, 0);
  command(r, (uint64_t)(k * DIVISOR), 0.01 * (k + 1));
  orr_rules_publish(&r->rules, (k + 1) * DIVISOR);
  orr_rules_trouble(&r->rules, trouble);
  return latch(r);
}

static void a_command_that_is_reordered_is_stale_behind_the_next_one(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  assert_int_equal(boundary(&r, 0, ORR_LINK_WORKS), ORR_LATCH_APPLIED);
  assert_int_equal(boundary(&r, 1, ORR_LINK_REORDERS), ORR_LATCH_NOTHING);
  assert_true(r.values[TORQUE] == 0.01 && r.values[JET] == 0.25 && r.values[MODE] == 3 && r.values[LAMP] == 1);
  assert_int_equal(orr_rules_answers(&r.rules).waiting, 1);
  memset(r.values, 0, sizeof r.values);
  assert_int_equal(boundary(&r, 2, ORR_LINK_REORDERS), ORR_LATCH_APPLIED); /* it goes before the one that is held */
  assert_true(r.values[TORQUE] == 0.03);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_STALE], 1);
  assert_int_equal(orr_rules_answers(&r.rules).superseded, 1);
  /* what came behind is gone: it does not act later */
  orr_rules_publish(&r.rules, 4 * DIVISOR);
  orr_rules_trouble(&r.rules, ORR_LINK_WORKS);
  assert_int_equal(latch(&r), ORR_LATCH_NOTHING);
  done(&r);
}

static void a_command_that_is_held_back_acts_late_where_nothing_newer_comes(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  boundary(&r, 0, ORR_LINK_REORDERS);
  assert_int_equal(command(&r, 0, 0.7), ORR_REFUSAL_DUPLICATE); /* it has come, though it does not act */
  orr_rules_publish(&r.rules, 2 * DIVISOR);
  orr_rules_trouble(&r.rules, ORR_LINK_WORKS);
  assert_int_equal(latch(&r), ORR_LATCH_APPLIED);
  assert_true(r.values[TORQUE] == 0.01);
  assert_int_equal(r.rules.counts.late, 1);
  /* unless all that comes there is lost */
  boundary(&r, 2, ORR_LINK_REORDERS);
  boundary(&r, 3, ORR_LINK_LOSES);
  assert_true(r.values[TORQUE] == 0.01);
  assert_int_equal(orr_rules_answers(&r.rules).lost_by_fault, 2);
  done(&r);
}

static void a_copy_of_a_command_is_a_duplicate_and_its_pulse_comes_once(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  assert_int_equal(boundary(&r, 0, ORR_LINK_COPIES), ORR_LATCH_APPLIED);
  assert_true(r.values[TORQUE] == 0.01 && r.values[JET] == 0.25);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_DUPLICATE], 1);
  r.values[JET] = 0; /* as the device does */
  orr_rules_publish(&r.rules, 2 * DIVISOR);
  orr_rules_trouble(&r.rules, ORR_LINK_COPIES); /* of nothing */
  assert_int_equal(latch(&r), ORR_LATCH_NOTHING);
  assert_true(r.values[JET] == 0);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_DUPLICATE], 1);
  done(&r);
}

static void a_lost_or_damaged_command_changes_no_number_and_is_counted(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  boundary(&r, 0, ORR_LINK_WORKS);
  double before[VALUES];
  memcpy(before, r.values, sizeof before);
  assert_int_equal(boundary(&r, 1, ORR_LINK_LOSES), ORR_LATCH_NOTHING);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_MALFORMED], 0);
  assert_int_equal(boundary(&r, 2, ORR_LINK_CORRUPTS), ORR_LATCH_NOTHING);
  assert_int_equal(r.rules.counts.refused[ORR_REFUSAL_MALFORMED], 1);
  assert_memory_equal(before, r.values, sizeof before);
  assert_int_equal(orr_rules_answers(&r.rules).lost_by_fault, 2);
  done(&r);
}

static void nobody_answers_a_frame_that_was_kept_back(void **state) {
  (void)state;
  struct rig r;
  make(&r, 0, ORR_SILENCE_HOLD);
  orr_rules_publish(&r.rules, 0);
  orr_rules_publish(&r.rules, DIVISOR);
  orr_rules_keep_back(&r.rules);
  assert_int_equal(command(&r, DIVISOR, 0.5), ORR_REFUSAL_MALFORMED);
  assert_int_equal(command(&r, 0, 0.5), ORR_REFUSAL_NONE);
  orr_rules_publish(&r.rules, 2 * DIVISOR);
  assert_int_equal(command(&r, DIVISOR, 0.5), ORR_REFUSAL_MALFORMED);
  assert_int_equal(command(&r, 2 * DIVISOR, 0.5), ORR_REFUSAL_NONE);
  struct orr_answers a = orr_rules_answers(&r.rules);
  assert_int_equal(a.kept_back, 1);
  assert_int_equal(a.unanswered, 0);
  for (int k = 3; k < 2000; k++) /* the window comes round */
    orr_rules_publish(&r.rules, k * DIVISOR);
  assert_int_equal(command(&r, (1 + ORR_ANSWER_WINDOW) * DIVISOR, 0.5), ORR_REFUSAL_NONE);
  done(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_payload_holds_reals_then_wholes_then_flags_in_the_order_of_the_table),
      cmocka_unit_test(the_layout_hash_tells_layouts_apart),
      cmocka_unit_test(an_answer_is_applied_one_frame_of_the_link_later),
      cmocka_unit_test(a_late_answer_is_applied_late_and_counted_and_of_several_the_newest),
      cmocka_unit_test(each_late_answer_is_recorded_with_the_frame_at_which_it_was_applied),
      cmocka_unit_test(stale_duplicate_and_unpublished_answers_are_counted_and_never_applied),
      cmocka_unit_test(a_command_with_one_bad_number_is_refused_whole),
      cmocka_unit_test(a_pulse_of_zero_leaves_one_that_was_set_and_any_other_overrules_it),
      cmocka_unit_test(the_first_number_that_is_refused_is_kept_with_its_frame),
      cmocka_unit_test(when_commands_stop_the_policy_rules_and_pulses_end_in_any_case),
      cmocka_unit_test(without_a_timeout_pulses_end_when_commands_stop_and_nothing_else),
      cmocka_unit_test(when_the_peer_is_gone_pulses_end_at_the_next_boundary_without_a_command),
      cmocka_unit_test(a_pulse_that_is_a_flag_does_not_end_when_commands_stop),
      cmocka_unit_test(the_first_frame_answered_by_the_word_that_ends_the_run_stands),
      cmocka_unit_test(under_asap_an_answer_is_applied_at_the_first_frame_after_it_came),
      cmocka_unit_test(any_sequence_of_offers_is_accounted_for),
      cmocka_unit_test(a_command_that_is_reordered_is_stale_behind_the_next_one),
      cmocka_unit_test(a_command_that_is_held_back_acts_late_where_nothing_newer_comes),
      cmocka_unit_test(a_copy_of_a_command_is_a_duplicate_and_its_pulse_comes_once),
      cmocka_unit_test(a_lost_or_damaged_command_changes_no_number_and_is_counted),
      cmocka_unit_test(nobody_answers_a_frame_that_was_kept_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
