/* Conditions: what each means, held against an evaluation that looks at the whole past, and where mistakes are told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/run/condition.h"
#include "tests/support/prng.h"

enum { STEP_MS = 100, FRAMES = 60, MOST = 31 };
#define STEP_NS INT64_C(100000000)

struct rig {
  struct orr_arena *arena;
  struct orr_channel_table table;
};

/* a.x … of 3 numbers in rad/s, b.v a plain one in N m, s.ok a flag. */
static void declare(struct orr_channel_table *t) {
  orr_channel_declare(
      t, "a",
      &(struct orr_channel){
          .name = "rate", .doc = "of the test", .unit = "rad/s", .count = 3, .elements = orr_channel_xyz});
  orr_channel_declare(t, "b", &(struct orr_channel){.name = "torque", .doc = "of the test", .unit = "N m", .count = 1});
  orr_channel_declare(t, "s",
                      &(struct orr_channel){.name = "ok", .doc = "of the test", .type = ORR_CHANNEL_FLAG, .count = 1});
}

static struct rig make(void) {
  struct rig r = {.arena = orr_arena_create()};
  declare(&r.table);
  size_t bytes = orr_channels_size(&r.table);
  struct orr_block block = {.base = orr_arena_alloc(r.arena, 1, bytes), .size = bytes};
  orr_channels_place(&r.table, &block);
  declare(&r.table);
  orr_channels_seal(&r.table);
  return r;
}

static const struct orr_condition *parsed(struct rig *r, const char *text) {
  struct orr_condition_error error = {0};
  const struct orr_condition *c = orr_condition_parse(text, &r->table, r->arena, &error);
  if (!c)
    fail_msg("%s: %zu: %s", text, error.at, error.text);
  return c;
}

/* ---- what it means ----------------------------------------------------------------------------------------------- */

static bool holds_once(struct rig *r, const char *text, const double values[5], double seconds) {
  const struct orr_condition *c = parsed(r, text);
  int64_t state[ORR_CONDITION_NODES];
  orr_condition_reset(c, state);
  return orr_condition_judge(c, state, values, (int64_t)(seconds * 1e9));
}

static void comparisons_know_units_elements_norms_and_the_time(void **state) {
  (void)state;
  struct rig r = make();
  const double v[5] = {0.03, 0.04, -0.12, 2, 1}; /* norm 0.13 */
  const struct {
    const char *text;
    bool holds;
  } cases[] = {
      {"a.rate.x above 1 deg/s", true},
      {"a.rate.x above 2 deg/s", false},
      {"a.rate[1] < 0.041 rad/s", true},
      {"a.rate.x is 0.03", true},
      {"a.rate.x is not 0.03", false},
      {"a.rate.x == 0.03", true},
      {"a.rate.x != 0.031", true},
      {"a.rate.x above 0.03", false},
      {"a.rate.x at least 0.03", true},
      {"a.rate.x at most 0.03", true},
      {"a.rate.x >= 0.0301", false},
      {"a.rate.x <= 0.0299", false},
      {"norm(a.rate) between 0.129 and 0.131", true},
      {"norm( a.rate ) above 0.131", false},
      {"norm(a.rate.z) above 0.11", true},
      {"a.rate.z between -0.12 and 0", true},
      {"b.torque above 1999 mN m", true},
      {"s.ok", true},
      {"not s.ok", false},
      {"s.ok is 0", false},
      {"time above 3 s", false},
      {"time at least 3000 ms", true},
      {"b.torque above 3 or s.ok and a.rate.x above 1", false},
      {"(b.torque above 3 or s.ok) and a.rate.x above 0", true},
      {"not b.torque above 3 and s.ok", true},
      {"rising s.ok", false}, /* there was no frame before */
      {"s.ok for 0 s", true},
      {"s.ok for 1 s", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (holds_once(&r, cases[i].text, v, 3) != cases[i].holds)
      fail_msg("%s", cases[i].text);
  const double none[5] = {(double)NAN, 0, 0, 0, 0};
  assert_false(holds_once(&r, "a.rate.x is not 0", none, 0));
  assert_true(holds_once(&r, "not a.rate.x above 0", none, 0));
  orr_arena_destroy(r.arena);
}

/* ---- against the whole past -------------------------------------------------------------------------------------- */

/* A condition drawn at random, as a tree of its own. */
struct tree {
  int sort; /* 0 a bound, 1 and, 2 or, 3 not, 4 rising, 5 for */
  int left, right, number, span_ms;
  bool above;
  double bound;
};

struct drawn {
  struct tree trees[MOST];
  int count;
  char text[4096];
};

static int draw(struct orr_prng *random, struct drawn *d, int depth) {
  struct tree t = {.sort = depth <= 0 || d->count > MOST - 8 ? 0 : prng_pick(random, 6)};
  if (t.sort == 0) {
    t.number = prng_pick(random, 3);
    t.above = prng_chance(random, 0.5);
    t.bound = prng_pick(random, 8) / 8.0;
  }
  if (t.sort == 5)
    t.span_ms = STEP_MS * prng_pick(random, 6);
  if (t.sort)
    t.left = draw(random, d, depth - 1);
  if (t.sort == 1 || t.sort == 2)
    t.right = draw(random, d, depth - 1);
  d->trees[d->count] = t;
  return d->count++;
}

static void write_tree(struct drawn *d, int at, size_t *used) {
  static const char *const names[] = {"a.rate.x", "a.rate.y", "a.rate.z"};
  const struct tree *t = &d->trees[at];
  char *to = d->text;
#define PUT(...) *used += (size_t)snprintf(to + *used, sizeof d->text - *used, __VA_ARGS__)
  if (t->sort == 0) {
    PUT("%s %s %.17g", names[t->number], t->above ? "above" : "at most", t->bound);
    return;
  }
  PUT("%s(", t->sort == 3 ? "not " : t->sort == 4 ? "rising " : "");
  write_tree(d, t->left, used);
  PUT(")");
  if (t->sort == 1 || t->sort == 2) {
    PUT(" %s (", t->sort == 1 ? "and" : "or");
    write_tree(d, t->right, used);
    PUT(")");
  }
  if (t->sort == 5)
    PUT(" for %d ms", t->span_ms);
#undef PUT
}

/* By definition, from the first frame on, without a memory. */
static bool held(const struct drawn *d, int at, double (*values)[5], int frame) {
  const struct tree *t = &d->trees[at];
  double value = values[frame][t->number];
  bool all = true;
  switch (t->sort) {
  case 0:
    return t->above ? value > t->bound : value <= t->bound;
  case 1:
    return held(d, t->left, values, frame) && held(d, t->right, values, frame);
  case 2:
    return held(d, t->left, values, frame) || held(d, t->right, values, frame);
  case 3:
    return !held(d, t->left, values, frame);
  case 4:
    return frame > 0 && held(d, t->left, values, frame) && !held(d, t->left, values, frame - 1);
  default:
    if (frame * STEP_MS < t->span_ms)
      return false;
    for (int k = frame; k >= 0 && (frame - k) * STEP_MS <= t->span_ms; k--)
      all = all && held(d, t->left, values, k);
    return all;
  }
}

static void random_conditions_agree_with_their_definition(void **state) {
  (void)state;
  struct rig r = make();
  struct orr_prng random = {20260419};
  int held_often = 0, judged = 0;
  for (int i = 0; i < 600; i++) {
    struct drawn d = {.count = 0};
    double values[FRAMES][5] = {{0}};
    int64_t words[ORR_CONDITION_NODES];
    size_t used = 0;
    int top = draw(&random, &d, 3);
    write_tree(&d, top, &used);
    for (int f = 0; f < FRAMES; f++)
      for (int k = 0; k < 3; k++) /* slow enough for spans to hold */
        values[f][k] = f && prng_chance(&random, 0.7) ? values[f - 1][k] : prng_pick(&random, 9) / 8.0;
    const struct orr_condition *c = parsed(&r, d.text);
    orr_condition_reset(c, words);
    for (int f = 0; f < FRAMES; f++) {
      bool is = orr_condition_judge(c, words, values[f], f * STEP_NS);
      if (is != held(&d, top, values, f))
        fail_msg("%s: frame %d: %d", d.text, f, is);
      held_often += is;
      judged++;
    }
  }
  assert_in_range(held_often, judged / 10, judged * 9 / 10);
  orr_arena_destroy(r.arena);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void mistakes_are_told_at_their_place(void **state) {
  (void)state;
  struct rig r = make();
  static const struct {
    const char *text;
    size_t at;
    const char *says;
  } cases[] = {
      {"", 0, "the condition breaks off where a channel should stand"},
      {"a.rat.x above 1", 0, "there is no channel 'a.rat.x', did you mean 'a.rate.x'?"},
      {"a.rate above 1", 0, "'a.rate' has 3 numbers: say which, as in a.rate.x, or norm(a.rate)"},
      {"a.rate.x abov 1", 9, "'abov' is no comparison, did you mean 'above'?"},
      {"a.rate.x", 8, "'a.rate.x' is no flag: say what it is compared with, as in a.rate.x above 0 rad/s"},
      {"a.rate.x above", 14, "a number is missing here"},
      {"a.rate.x above x", 15, "a number is wanted here, not 'x'"},
      {"a.rate.x above 1 m", 15, "an angular rate (rad/s) is wanted here, and '1 m' is something else"},
      {"a.rate.x above 1 deg/ss", 21, "'ss' is no unit, did you mean 's'?"},
      {"a.rate.x above 1 fro 2 s", 17, "'fro' is no unit, did you mean 'for'?"},
      {"a.rate.x above 1 for 2 m", 21, "a time (s) is wanted here, and '2 m' is something else"},
      {"a.rate.x above 1 for 0.5 ns", 21, "'0.5 ns' is no whole number of nanoseconds"},
      {"a.rate.x above 1 for -1 s", 21, "a span of time is not negative"},
      {"a.rate.x above .inf", 15, "'.inf' is no finite number"},
      {"a.rate.x between 2 and 1", 17, "'between' takes the lower bound first, and here it is not below the other"},
      {"a.rate.x between 2", 18, "'between' takes two bounds, as in between 1 and 2"},
      {"(s.ok", 0, "this '(' has no ')'"},
      {"s.ok)", 4, "the condition is whole before ')'; 'and' or 'or' would go on"},
      {"s.ok & s.ok", 5,
       "a comparison is wanted here (above, below, is, between, at least, at most, or a sign such as "
       ">=), not '&'"},
      {"s.ok is 1 for 1 s qq.ok", 18, "'qq.ok' is no unit; a time (s) is wanted here"},
      {"norm a.rate above 1", 0, "'norm' takes a channel in parentheses, as in norm(gyro.rate)"},
      {"nrom(a.rate) above 1", 0, "'nrom' is no function of a channel, did you mean 'norm'?"},
      {"norm(a.rate above 1", 12, "the ')' of 'norm' is missing"},
      {"not", 3, "the condition breaks off where a channel should stand"},
      {"s.ok and", 8, "the condition breaks off where a channel should stand"},
      {"5 above a.rate.x", 0, "the name of a channel is wanted here, not '5'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct orr_condition_error error = {0};
    if (orr_condition_parse(cases[i].text, &r.table, r.arena, &error))
      fail_msg("'%s' is taken", cases[i].text);
    bool same = strncmp(error.text, cases[i].says, strlen(cases[i].says)) == 0;
    if (error.at != cases[i].at || !same)
      print_error("'%s': %zu: %s\n", cases[i].text, error.at, error.text);
    if (error.at != cases[i].at || !same)
      fail_msg("'%s' not told at %zu as: %s", cases[i].text, cases[i].at, cases[i].says);
  }
  orr_arena_destroy(r.arena);
}

static void what_would_take_too_long_is_refused(void **state) {
  (void)state;
  struct rig r = make();
  char text[4096];
  size_t at = (size_t)snprintf(text, sizeof text, "s.ok");
  struct orr_condition_error error;
  for (int i = 1; i < 40; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, " and s.ok");
  assert_null(orr_condition_parse(text, &r.table, r.arena, &error));
  assert_non_null(strstr(error.text, "at most 64"));
  at = 0;
  for (int i = 0; i < 200; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "not ");
  snprintf(text + at, sizeof text - at, "s.ok");
  assert_null(orr_condition_parse(text, &r.table, r.arena, &error));
  assert_non_null(strstr(error.text, "32 deep"));
  orr_arena_destroy(r.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparisons_know_units_elements_norms_and_the_time),
      cmocka_unit_test(random_conditions_agree_with_their_definition),
      cmocka_unit_test(mistakes_are_told_at_their_place),
      cmocka_unit_test(what_would_take_too_long_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
