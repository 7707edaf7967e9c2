#include "io/config/text/reader.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/elementary.h"
#include "io/config/text/names.h"
#include "io/config/text/unit.h"

const struct orr_range orr_range_positive = {0, HUGE_VAL, true};
const struct orr_range orr_range_not_negative = {0, HUGE_VAL, false};

const struct orr_shape orr_shape_node = {.kind = ORR_SHAPE_TEXT, .what = "a node, body.node"};
const struct orr_shape orr_shape_direction = {.kind = ORR_SHAPE_NUMBERS, .what = "[x, y, z], made unit", .count = 3};
const struct orr_shape orr_shape_quaternion = {
    .kind = ORR_SHAPE_NUMBERS, .what = "a unit quaternion [x, y, z, w]", .count = 4};
const struct orr_shape orr_shape_channels = {.kind = ORR_SHAPE_LIST,
                                             .of = ORR_TEXT("channels; * stands for any letters")};

void orr_read_error(struct orr_reader *r, struct orr_place place, const char *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  orr_report_list(r->diagnostics, ORR_ERROR, orr_place_source(r->diagnostics, place), code, format, arguments);
  va_end(arguments);
}

void orr_read_warning(struct orr_reader *r, struct orr_place place, const char *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  orr_report_list(r->diagnostics, ORR_WARNING, orr_place_source(r->diagnostics, place), code, format, arguments);
  va_end(arguments);
}

bool orr_read_may_suggest(const struct orr_reader *r) { return orr_diagnostics_errors(r->diagnostics) < 100; }

static const char *kind_text(const struct orr_yaml *node) {
  static const char *const texts[] = {"empty", "a single value", "a list", "a mapping"};
  return texts[node->kind];
}

size_t orr_place_count(struct orr_place place) {
  return place.node && place.node->kind >= ORR_YAML_SEQUENCE ? place.node->count : 0;
}

static bool expect(struct orr_reader *r, struct orr_place place, const char *name, enum orr_yaml_kind kind,
                   const char *wanted) {
  if (place.node->kind == kind || place.node->kind == ORR_YAML_NULL)
    return true;
  orr_read_error(r, place, "wrong-type", "'%.60s' takes %s and this is %s", name, wanted, kind_text(place.node));
  return false;
}

bool orr_expect_mapping(struct orr_reader *r, struct orr_place place, const char *name) {
  return expect(r, place, name, ORR_YAML_MAPPING, "a mapping (name: value)");
}

bool orr_expect_sequence(struct orr_reader *r, struct orr_place place, const char *name) {
  return expect(r, place, name, ORR_YAML_SEQUENCE, "a list [..]");
}

/* A scalar without a NUL inside, which JSON's escapes can write. */
static bool is_text(const struct orr_yaml *node) {
  return node->kind == ORR_YAML_SCALAR && strlen(node->text) == node->count;
}

static bool expect_scalar(struct orr_reader *r, struct orr_place place, const char *name, const char *wanted) {
  const struct orr_yaml *node = place.node;
  if (is_text(node))
    return true;
  if (node->kind == ORR_YAML_NULL)
    orr_read_error(r, place, "no-value", "'%.60s' has no value; it takes %s", name, wanted);
  else
    orr_read_error(r, place, "wrong-type", "'%.60s' takes %s and this is %s", name, wanted,
                   node->kind == ORR_YAML_SCALAR ? "a text with a NUL in it" : kind_text(node));
  return false;
}

/* --- numbers --------------------------------------------------------------------------------------------------- */

static const char *describe(const char *unit) {
  struct orr_unit parsed = {1, 1, {0}};
  const char *at;
  if (unit && *unit)
    orr_unit_parse(unit, &parsed, &at); /* stops at a `|`: the first of several is named */
  const char *text = orr_unit_describe(&parsed);
  return text ? text : unit;
}

static void report_unknown_unit(struct orr_reader *r, struct orr_place place, const char *at) {
  char word[32];
  size_t n = strcspn(at, " /*^().\t");
  n = n < sizeof word - 1 ? n : sizeof word - 1;
  memcpy(word, at, n);
  word[n] = '\0';
  struct orr_nearest nearest = {.wanted = word};
  for (size_t i = 0; orr_unit_name(i); i++)
    orr_nearest_offer(&nearest, orr_unit_name(i));
  if (nearest.best)
    orr_read_error(r, place, "unknown-unit", "unknown unit '%s', did you mean '%s'?", word, nearest.best);
  else
    orr_read_error(r, place, "unknown-unit", "unknown unit '%s'; 'orrery help units' has them all", word);
}

/* A bare number is SI. Where hardly anybody means that, in size or because the quantity is written in another unit
 * everywhere, the first line that fits says so. */
static void doubt_bare_number(struct orr_reader *r, struct orr_place place, const char *name, const char *unit,
                              double value) {
  static const double pi = 3.14159265358979323846;
  static const struct {
    const char *name; /* the last part of the key's; NULL: any */
    const char *unit, *other;
    double least, most; /* what is usual, in size; 0 is never doubted */
    double si;          /* one of `other` */
  } doubts[] = {
      {"across", "rad", "arcsec", 0, 0.1, pi / 648000},
      {"about", "rad", "arcsec", 0, 0.1, pi / 648000},
      {"angle_random_walk", "rad/sqrt(s)", "deg/sqrt(h)", 0, 0.01, pi / 10800},
      {"bias_instability", "rad/s", "deg/h", 0, 0.01, pi / 648000},
      {"rate", "rad/s", "deg/s", 0, 0.9, pi / 180},
      {"rate_limit", "rad/s", "deg/s", 0, 2 * pi, pi / 180},
      {"rate", "Hz", "kHz", 0, 1e5, 1000},
      {"mass", "kg", "g", 0, 1e6, 1e-3},
      {"semi_major_axis", "m", "km", 1e5, HUGE_VAL, 1000},
      {"base", "m", "km", 1000, HUGE_VAL, 1000},
      {"scale", "m", "km", 1000, HUGE_VAL, 1000},
      {"step", "s", "ms", 0, 0.999, 1e-3},
      {"wait", "s", "ms", 0, 999, 1e-3},
      {"timeout", "s", "ms", 0, 999, 1e-3},
      {"spin", "s", "us", 0, 0.1, 1e-6},
      {"below", "rad", "deg", 0, 0.1, pi / 180},
      {"above", "rad", "deg", 0, 0.1, pi / 180},
      {"between", "rad", "deg", 0, 0.1, pi / 180},
      {"is", "rad", "deg", 0, 0.1, pi / 180},
      {"tolerance", "rad", "deg", 0, 0.1, pi / 180},
      {NULL, "rad", "deg", 0, 2 * pi, pi / 180},
      {NULL, "rad/s", "rpm", 0, 1000, pi / 30},
      {NULL, "T", "nT", 0, 1e-3, 1e-9},
  };
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
    if (strcmp(unit, doubts[i].unit) != 0 || (doubts[i].name && strcmp(last, doubts[i].name) != 0))
      continue;
    if (value != 0 && (fabs(value) < doubts[i].least || fabs(value) > doubts[i].most))
      orr_read_warning(r, place, "bare-number",
                       "'%.60s' is %.9g %s, which is %.6g %s; if it is meant in another unit, say it: '%.9g %s'", name,
                       value, unit, value / doubts[i].si, doubts[i].other, value, doubts[i].other);
    return;
  }
}

static void report_wrong_unit(struct orr_reader *r, struct orr_place place, const char *name, const char *unit,
                              const struct orr_quantity *q) {
  const char *given = orr_unit_describe(&q->unit);
  static const struct orr_unit hertz = {1, 1, {0, 0, -2}}, rate = {1, 1, {0, 0, -2, 2}};
  struct orr_unit wanted = {1, 1, {0}};
  const char *at;
  if (*unit)
    orr_unit_parse(unit, &wanted, &at);
  bool mixed = (memcmp(q->unit.dimension, hertz.dimension, sizeof hertz.dimension) == 0 &&
                memcmp(wanted.dimension, rate.dimension, sizeof rate.dimension) == 0) ||
               (memcmp(q->unit.dimension, rate.dimension, sizeof rate.dimension) == 0 &&
                memcmp(wanted.dimension, hertz.dimension, sizeof hertz.dimension) == 0);
  orr_read_error(r, place, "wrong-unit", "'%.60s' takes %s and '%.60s' is %s%s", name, describe(unit), place.node->text,
                 given ? given : "something else",
                 mixed ? "; one Hz is one cycle in a second, that is 2 pi rad/s" : "");
}

static void report_quantity(struct orr_reader *r, struct orr_place place, const char *name, const char *unit,
                            enum orr_quantity_status status, const struct orr_quantity *q) {
  const char *text = place.node->text;
  switch (status) {
  case ORR_QUANTITY_NOT_FINITE:
    orr_read_error(r, place, "not-finite", "'%.60s' must be a finite number, not '%.60s'", name, text);
    break;
  case ORR_QUANTITY_UNKNOWN_UNIT:
    report_unknown_unit(r, place, q->at);
    break;
  case ORR_QUANTITY_BAD_UNIT:
    orr_read_error(r, place, "bad-unit", "cannot read the unit of '%.60s'; write it like 'N m/rad' or 'deg/sqrt(h)'",
                   text);
    break;
  case ORR_QUANTITY_WRONG_UNIT:
    report_wrong_unit(r, place, name, unit, q);
    break;
  case ORR_QUANTITY_NOT_WHOLE_NS:
    orr_read_error(r, place, "not-whole-ns", "'%.60s' must be a whole number of nanoseconds, not '%.60s'", name, text);
    break;
  default:
    orr_read_error(r, place, "wrong-type", "'%.60s' takes %s, not '%.60s'", name, describe(unit), text);
    break;
  }
}

/* Of a bare number that is no angle in range: whether it would be one in degrees. */
static bool may_be_degrees(const struct orr_range *range, const char *unit, const struct orr_quantity *q) {
  double degrees = q->value * (3.14159265358979323846 / 180);
  return !q->has_unit && strcmp(unit, "rad") == 0 && degrees >= range->low && degrees <= range->high;
}

static bool in_range(struct orr_reader *r, struct orr_place place, const char *name, const struct orr_range *range,
                     const char *unit, const struct orr_quantity *q) {
  double value = q->value;
  char asks[80] = "";
  if (!range || (value <= range->high && (range->open ? value > range->low : value >= range->low)))
    return true;
  const char *text = place.node->text;
  bool is_angle = strcmp(unit, "rad") == 0;
  if (may_be_degrees(range, unit, q))
    snprintf(asks, sizeof asks, "; '%.40s deg'?", text);
  if (isinf(range->high) && range->low == 0)
    orr_read_error(r, place, "out-of-range", "'%.60s' must %s, not '%.60s'", name,
                   range->open ? "be greater than zero" : "not be negative", text);
  else if (isinf(range->high))
    orr_read_error(r, place, "out-of-range", "'%.60s' must be %s %g, not '%.60s'", name,
                   range->open ? "greater than" : "at least", range->low, text);
  else
    orr_read_error(r, place, "out-of-range", "'%.60s' must be %s %g and at most %g%s, not '%.60s'%s", name,
                   range->open ? "greater than" : "at least", range->low, range->high, is_angle ? " rad" : "", text,
                   asks);
  return false;
}

bool orr_read_number(struct orr_reader *r, struct orr_place place, const char *name, const char *unit,
                     const struct orr_range *range, double *out) {
  struct orr_quantity q;
  unit = unit ? unit : "";
  if (!is_text(place.node)) {
    expect_scalar(r, place, name, describe(unit));
    return false;
  }
  enum orr_quantity_status status = orr_quantity_parse(place.node->text, unit, &q);
  if (status != ORR_QUANTITY_OK) {
    report_quantity(r, place, name, unit, status, &q);
    return false;
  }
  if (!in_range(r, place, name, range, unit, &q))
    return false;
  if (!q.has_unit)
    doubt_bare_number(r, place, name, unit, q.value);
  *out = q.value;
  return true;
}

static bool read_time(struct orr_reader *r, struct orr_place place, const struct orr_key *key, int64_t *out) {
  struct orr_quantity q;
  if (!expect_scalar(r, place, key->name, "a time such as 5 ms"))
    return false;
  enum orr_quantity_status status = orr_quantity_parse_time(place.node->text, &q);
  if (status != ORR_QUANTITY_OK) {
    report_quantity(r, place, key->name, "s", status, &q);
    return false;
  }
  if (!in_range(r, place, key->name, key->range, "s", &q))
    return false;
  if (!q.has_unit)
    doubt_bare_number(r, place, key->name, "s", q.value);
  *out = q.ns;
  return true;
}

static bool read_whole(struct orr_reader *r, struct orr_place place, const struct orr_key *key, int64_t *out) {
  double value = 0;
  if (!orr_read_number(r, place, key->name, "", key->range, &value))
    return false;
  if (value != floor(value) || fabs(value) > 9007199254740992.0) {
    orr_read_error(r, place, "not-whole", "'%.60s' must be a whole number, not '%.60s'", key->name, place.node->text);
    return false;
  }
  *out = (int64_t)value;
  return true;
}

bool orr_read_numbers(struct orr_reader *r, struct orr_place place, const struct orr_key *key, double *out) {
  enum { MOST = 32 };
  double values[MOST];
  assert(key->count <= MOST);
  const char *form = key->form ? key->form : "";
  if (place.node->kind != ORR_YAML_SEQUENCE) {
    orr_read_error(r, place, "wrong-type", "'%.60s' takes a list of %zu number%s%s%s and this is %s", key->name,
                   key->count, key->count == 1 ? "" : "s", *form ? " " : "", form, kind_text(place.node));
    return false;
  }
  if (place.node->count != key->count) {
    orr_read_error(r, place, "wrong-length", "'%.60s' takes %zu number%s%s%s and here %s %u", key->name, key->count,
                   key->count == 1 ? "" : "s", *form ? " " : "", form, place.node->count == 1 ? "is" : "are",
                   place.node->count);
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < key->count; i++)
    good &= orr_read_number(r, orr_place_item(r->diagnostics, place, i), key->name, key->unit, key->range, &values[i]);
  if (good)
    memcpy(out, values, key->count * sizeof *out);
  return good;
}

/* --- other values ---------------------------------------------------------------------------------------------- */

bool orr_read_text(struct orr_reader *r, struct orr_place place, const char *name, const char **out) {
  if (!expect_scalar(r, place, name, "a text"))
    return false;
  *out = place.node->text;
  return true;
}

static bool read_flag(struct orr_reader *r, struct orr_place place, const char *name, bool *out) {
  if (!expect_scalar(r, place, name, "true or false"))
    return false;
  const char *text = place.node->text;
  bool yes = strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "TRUE") == 0;
  bool no = strcmp(text, "false") == 0 || strcmp(text, "False") == 0 || strcmp(text, "FALSE") == 0;
  if (place.node->quoted || !(yes || no)) {
    orr_read_error(r, place, "wrong-type", "'%.60s' takes true or false, not '%.60s'", name, text);
    return false;
  }
  *out = yes;
  return true;
}

/* "a, b or c" of the names of choices or keys. */
static void list_names(char *text, size_t size, const char *const *names, const char *last_join) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; names[i] && used < size; i++) {
    const char *join = i == 0 ? "" : names[i + 1] ? ", " : last_join;
    used += (size_t)snprintf(text + used, size - used, "%s%s", join, names[i]);
  }
}

static bool read_choice(struct orr_reader *r, struct orr_place place, const struct orr_key *key, int *out) {
  char list[200];
  list_names(list, sizeof list, key->choices, " or ");
  if (!expect_scalar(r, place, key->name, list))
    return false;
  struct orr_nearest nearest = {.wanted = place.node->text};
  for (int i = 0; key->choices[i]; i++) {
    if (strcmp(key->choices[i], place.node->text) == 0) {
      *out = i;
      return true;
    }
    orr_nearest_offer(&nearest, key->choices[i]);
  }
  if (nearest.best)
    orr_read_error(r, place, "unknown-choice", "unknown %s '%.60s', did you mean '%s'?", key->name, place.node->text,
                   nearest.best);
  else
    orr_read_error(r, place, "unknown-choice", "unknown %s '%.60s'; it %s %s", key->name, place.node->text,
                   key->choices[1] ? "is one of" : "can only be", list);
  return false;
}

bool orr_read_name(struct orr_reader *r, struct orr_place key, const char *what) {
  const char *name = key.node->text;
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-");
  if (key.node->count <= 63 && good == key.node->count && strchr(letters, name[0]) && good > 0)
    return true;
  orr_read_error(r, key, "bad-name",
                 "'%.70s' cannot name %s %s: a name has letters, digits, _ and -, begins with a letter or _, and is at "
                 "most 63 long",
                 name, strchr("aeiou", what[0]) ? "an" : "a", what);
  return false;
}

bool orr_read_quaternion(struct orr_reader *r, struct orr_place place, const char *name, double out[4]) {
  const struct orr_key key = {.name = name, .count = 4, .form = "[x, y, z, w]"};
  double q[4];
  if (!orr_read_numbers(r, place, &key, q))
    return false;
  double norm = orr_hypot(orr_hypot(q[0], q[1]), orr_hypot(q[2], q[3]));
  if (!(fabs(norm - 1) <= 0.05)) { /* rounded by hand, not mistaken for something else */
    orr_read_error(r, place, "not-unit", "'%.60s' is a quaternion [x, y, z, w] of length %.6g; its length must be 1",
                   name, norm);
    return false;
  }
  if (fabs(norm - 1) > 1e-9)
    orr_read_warning(r, place, "nearly-unit", "'%.60s' is a quaternion of length %.12g; it was normalised", name, norm);
  for (size_t i = 0; i < 4; i++)
    out[i] = q[i] / norm;
  return true;
}

bool orr_read_direction(struct orr_reader *r, struct orr_place place, const char *name, double out[3]) {
  const struct orr_key key = {.name = name, .count = 3, .form = "[x, y, z]"};
  double u[3];
  if (!orr_read_numbers(r, place, &key, u))
    return false;
  double largest = fmax(fabs(u[0]), fmax(fabs(u[1]), fabs(u[2])));
  if (largest < 1e-12) {
    orr_read_error(r, place, "zero-axis", "'%.60s' has no length, so it points nowhere", name);
    return false;
  }
  double norm = largest * orr_hypot(orr_hypot(u[0] / largest, u[1] / largest), u[2] / largest);
  for (size_t i = 0; i < 3; i++)
    out[i] = u[i] / norm;
  return true;
}

/* --- mappings -------------------------------------------------------------------------------------------------- */

/* Whether a word stands in place of a number that has words, or what was meant as one. */
static bool is_word(const struct orr_yaml *node, const struct orr_key *key) {
  char c = node->kind == ORR_YAML_SCALAR ? node->text[0] : '0';
  return key->choices && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

static bool read_word(struct orr_reader *r, struct orr_place place, const struct orr_key *key, int64_t *out) {
  int word;
  if (!read_choice(r, place, key, &word))
    return false;
  *out = -1 - word;
  return true;
}

static bool read_value(struct orr_reader *r, struct orr_place place, const struct orr_key *key, unsigned char *target) {
  void *out = target + key->offset;
  if ((key->type == ORR_KEY_WHOLE || key->type == ORR_KEY_TIME) && is_word(place.node, key))
    return read_word(r, place, key, out);
  switch (key->type) {
  case ORR_KEY_NUMBER:
    return orr_read_number(r, place, key->name, key->unit, key->range, out);
  case ORR_KEY_NUMBERS:
    return orr_read_numbers(r, place, key, out);
  case ORR_KEY_WHOLE:
    return read_whole(r, place, key, out);
  case ORR_KEY_TIME:
    return read_time(r, place, key, out);
  case ORR_KEY_FLAG:
    return read_flag(r, place, key->name, out);
  case ORR_KEY_CHOICE:
    return read_choice(r, place, key, out);
  case ORR_KEY_TEXT:
    return orr_read_text(r, place, key->name, out);
  case ORR_KEY_PLACE:
    *(struct orr_place *)out = place;
    return true;
  default:
    return false;
  }
}

bool orr_read_time(struct orr_reader *r, struct orr_place place, const char *name, const struct orr_range *range,
                   int64_t *out) {
  const struct orr_key key = {.name = name, .type = ORR_KEY_TIME, .range = range};
  return read_time(r, place, &key, out);
}

static int word_index(const char *const *words, const char *text) {
  for (int i = 0; words && words[i]; i++)
    if (strcmp(words[i], text) == 0)
      return i;
  return -1;
}

static double number_of(const char *text, const char *unit) {
  struct orr_quantity q = {0};
  if (strcmp(text, "0") == 0)
    return 0;
  enum orr_quantity_status status = orr_quantity_parse(text, unit ? unit : "", &q);
  assert(status == ORR_QUANTITY_OK);
  (void)status;
  return q.value;
}

static int64_t time_of(const char *text) {
  struct orr_quantity q = {0};
  enum orr_quantity_status status = orr_quantity_parse_time(text, &q);
  assert(status == ORR_QUANTITY_OK);
  (void)status;
  return q.ns;
}

/* What holds without a key. All numbers of a list have one and the same. */
static void take_fallback(const struct orr_key *key, unsigned char *target) {
  void *out = target + key->offset;
  int word = word_index(key->choices, key->fallback);
  switch (key->type) {
  case ORR_KEY_NUMBER:
    *(double *)out = number_of(key->fallback, key->unit);
    break;
  case ORR_KEY_NUMBERS:
    for (size_t i = 0; i < key->count; i++)
      ((double *)out)[i] = number_of(key->fallback, key->unit);
    break;
  case ORR_KEY_WHOLE:
    *(int64_t *)out = word < 0 ? (int64_t)number_of(key->fallback, NULL) : -1 - word;
    break;
  case ORR_KEY_TIME:
    *(int64_t *)out = word < 0 ? time_of(key->fallback) : -1 - word;
    break;
  case ORR_KEY_FLAG:
    *(bool *)out = strcmp(key->fallback, "true") == 0;
    break;
  case ORR_KEY_CHOICE:
    assert(word >= 0);
    *(int *)out = word;
    break;
  case ORR_KEY_TEXT:
    *(const char **)out = key->fallback;
    break;
  default:
    assert(key->type != ORR_KEY_PLACE); /* it has no fallback: `absent` says what holds without it */
  }
}

/* That a key can be looked up (CONTRIBUTING.md, "To add"). */
static void judge_key(const struct orr_key *key) {
  assert(key->doc);
  assert(key->required || key->fallback || key->absent || key->type == ORR_KEY_UNBUILT);
  assert(key->shape || key->type != ORR_KEY_PLACE);
  (void)key;
}

static void take_fallbacks(const struct orr_mapping *mapping, void *target) {
  for (size_t k = 0; k < mapping->key_count; k++) {
    judge_key(&mapping->keys[k]);
    if (mapping->keys[k].fallback)
      take_fallback(&mapping->keys[k], target);
  }
}

static const char *name_of(struct orr_reader *r, const struct orr_thing *thing) {
  return thing->name ? orr_arena_format(r->arena, "%s '%.60s'", thing->what, thing->name) : thing->what;
}

static void report_unknown_key(struct orr_reader *r, const struct orr_thing *thing, struct orr_place key,
                               const struct orr_key *keys, size_t key_count) {
  const char *names[65] = {NULL};
  struct orr_nearest nearest = {.wanted = key.node->text};
  for (size_t i = 0; i < key_count; i++) {
    orr_nearest_offer(&nearest, keys[i].name);
    names[i] = keys[i].name;
  }
  if (nearest.best) {
    orr_read_error(r, key, "unknown-key", "unknown key '%.60s' in %s, did you mean '%s'?", key.node->text,
                   name_of(r, thing), nearest.best);
    return;
  }
  char list[300];
  list_names(list, sizeof list, names, " and ");
  orr_read_error(r, key, "unknown-key", "unknown key '%.60s' in %s; it takes %s", key.node->text, name_of(r, thing),
                 list);
}

struct orr_place orr_read_member(struct orr_reader *r, const struct orr_thing *thing, const char *key) {
  struct orr_place whole = thing->key.node ? thing->key : thing->place;
  if (thing->place.node->kind != ORR_YAML_MAPPING)
    return whole;
  size_t at = orr_yaml_find(thing->place.node, key);
  return at < orr_place_count(thing->place) ? orr_place_value(r->diagnostics, thing->place, at) : whole;
}

static bool report_missing(struct orr_reader *r, const struct orr_thing *thing, const struct orr_key *keys,
                           size_t key_count, uint64_t there) {
  bool good = true;
  for (size_t i = 0; i < key_count; i++) {
    if (!keys[i].required || there >> i & 1)
      continue;
    orr_read_error(r, thing->key.node ? thing->key : thing->place, "missing-key", "%s has no '%s', which it needs%s",
                   name_of(r, thing), keys[i].name,
                   strcmp(keys[i].name, "orrery") == 0 ? ": write 'orrery: 1' in its first line" : "");
    good = false;
  }
  return good;
}

bool orr_read_mapping(struct orr_reader *r, const struct orr_thing *thing, const struct orr_mapping *mapping,
                      void *target, uint64_t *present) {
  const struct orr_key *keys = mapping->keys;
  size_t key_count = mapping->key_count;
  assert(key_count <= 64);
  uint64_t there = 0;
  *present = 0;
  take_fallbacks(mapping, target);
  if (!thing->place.node)
    return true;
  if (thing->place.node->kind != ORR_YAML_MAPPING && thing->place.node->kind != ORR_YAML_NULL) {
    orr_read_error(r, thing->place, "wrong-type", "%s must be a mapping (name: value) and this is %s",
                   name_of(r, thing), kind_text(thing->place.node));
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < orr_place_count(thing->place); i++) {
    const char *name = thing->place.node->entries[i].key->text;
    size_t k = 0;
    while (k < key_count && strcmp(keys[k].name, name) != 0)
      k++;
    if (k == key_count) {
      report_unknown_key(r, thing, orr_place_key(r->diagnostics, thing->place, i), keys, key_count);
      good = false;
      continue;
    }
    there |= UINT64_C(1) << k;
    if (keys[k].type == ORR_KEY_UNBUILT) {
      orr_read_error(r, orr_place_key(r->diagnostics, thing->place, i), "not-built",
                     "'%s' is not built yet; this version cannot use it, so take it out", name);
      good = false;
    } else if (read_value(r, orr_place_value(r->diagnostics, thing->place, i), &keys[k], target)) {
      *present |= UINT64_C(1) << k;
    } else {
      good = false;
    }
  }
  return report_missing(r, thing, keys, key_count, there) && good;
}
