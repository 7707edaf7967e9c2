#include "io/config/text/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METRE, KILOGRAM, SECOND, RADIAN, AMPERE, KELVIN };

#define PI 3.14159265358979323846264338327950288

struct named_unit {
  const char *name;
  struct orr_unit unit;
  bool prefixed; /* takes n u m c k M G */
};

/* Dimensions are twice the powers: N is kg m s⁻² and so {2, 2, -4}. */
static const struct named_unit names[] = {
    {"m", {1, 1, {2}}, true},
    {"g", {1, 1000, {0, 2}}, true},
    {"t", {1000, 1, {0, 2}}, false},
    {"s", {1, 1, {0, 0, 2}}, true},
    {"min", {60, 1, {0, 0, 2}}, false},
    {"h", {3600, 1, {0, 0, 2}}, false},
    {"d", {86400, 1, {0, 0, 2}}, false},
    {"rad", {1, 1, {0, 0, 0, 2}}, true},
    {"deg", {PI, 180, {0, 0, 0, 2}}, true},
    {"\u00b0", {PI, 180, {0, 0, 0, 2}}, false},
    {"arcmin", {PI, 10800, {0, 0, 0, 2}}, false},
    {"arcsec", {PI, 648000, {0, 0, 0, 2}}, true},
    {"rev", {2 * PI, 1, {0, 0, 0, 2}}, false},
    {"rpm", {PI, 30, {0, 0, -2, 2}}, false},
    {"Hz", {1, 1, {0, 0, -2}}, true},
    {"N", {1, 1, {2, 2, -4}}, true},
    {"Nm", {1, 1, {4, 2, -4}}, true},
    {"Nms", {1, 1, {4, 2, -2}}, true},
    {"J", {1, 1, {4, 2, -4}}, true},
    {"W", {1, 1, {4, 2, -6}}, true},
    {"Pa", {1, 1, {-2, 2, -4}}, true},
    {"A", {1, 1, {0, 0, 0, 0, 2}}, true},
    {"V", {1, 1, {4, 2, -6, 0, -2}}, true},
    {"T", {1, 1, {0, 2, -4, 0, -2}}, true},
    {"K", {1, 1, {0, 0, 0, 0, 0, 2}}, true},
    {"%", {1, 100, {0}}, false},
    {"ppm", {1, 1000000, {0}}, false},
};

static const struct prefix {
  const char *name;
  double numerator, denominator;
} prefixes[] = {
    {"n", 1, 1e9}, {"u", 1, 1e6}, {"\u00b5", 1, 1e6}, {"\u03bc", 1, 1e6}, {"m", 1, 1e3},
    {"c", 1, 1e2}, {"k", 1e3, 1}, {"M", 1e6, 1},      {"G", 1e9, 1},
};

enum { NAME_COUNT = sizeof names / sizeof *names, PREFIX_COUNT = sizeof prefixes / sizeof *prefixes };

const char *orr_unit_name(size_t index) {
  static const char *const common[] = {"kg",  "mm",   "cm",   "km", "ms", "us", "ns",
                                       "kHz", "mrad", "urad", "mN", "kN", "mNm"};
  if (index < NAME_COUNT)
    return names[index].name;
  index -= NAME_COUNT;
  return index < sizeof common / sizeof *common ? common[index] : NULL;
}

static const struct quantity {
  int8_t dimension[ORR_DIMENSIONS];
  const char *text;
} quantities[] = {
    {{0}, "a plain number"},
    {{2}, "a length (m)"},
    {{0, 2}, "a mass (kg)"},
    {{0, 0, 2}, "a time (s)"},
    {{0, 0, 0, 2}, "an angle (rad)"},
    {{0, 0, -2}, "a frequency (Hz)"},
    {{0, 0, -2, 2}, "an angular rate (rad/s)"},
    {{0, 0, -4, 2}, "an angular acceleration (rad/s^2)"},
    {{2, 0, -2}, "a velocity (m/s)"},
    {{2, 0, -4}, "an acceleration (m/s^2)"},
    {{2, 2, -4}, "a force (N)"},
    {{4, 2, -4}, "a torque (N m)"},
    {{4, 2, -2}, "an angular momentum (N m s)"},
    {{4, 2, -4, -2}, "a torsional stiffness (N m/rad)"},
    {{4, 2, -2, -2}, "a torsional damping (N m s/rad)"},
    {{0, 2, -4}, "a stiffness (N/m)"},
    {{0, 2, -2}, "a damping (N s/m)"},
    {{4, 2}, "an inertia (kg m^2)"},
    {{4, 2, -6}, "a power (W)"},
    {{-2, 2, -4}, "a pressure (Pa)"},
    {{0, 0, -1, 2}, "an angle random walk (rad/sqrt(s))"},
    {{0, 0, 0, 0, 2}, "a current (A)"},
    {{4, 2, -6, 0, -2}, "a voltage (V)"},
    {{4, 0, 0, 0, 2}, "a magnetic moment (A m^2)"},
    {{0, 2, -4, 0, -2}, "a magnetic field (T)"},
    {{0, 0, 0, 0, 0, 2}, "a temperature (K)"},
};

enum { QUANTITY_COUNT = sizeof quantities / sizeof *quantities };

const char *orr_unit_describe(const struct orr_unit *unit) {
  for (size_t i = 0; i < QUANTITY_COUNT; i++)
    if (memcmp(quantities[i].dimension, unit->dimension, sizeof unit->dimension) == 0)
      return quantities[i].text;
  return NULL;
}

const char *orr_unit_quantity(size_t index) { return index < QUANTITY_COUNT ? quantities[index].text : NULL; }

const char *orr_unit_named(size_t index, struct orr_unit *unit, bool *prefixed) {
  if (index >= NAME_COUNT)
    return NULL;
  *unit = names[index].unit;
  *prefixed = names[index].prefixed;
  return names[index].name;
}

const char *orr_unit_prefix(size_t index, double *factor) {
  if (index >= PREFIX_COUNT)
    return NULL;
  *factor = prefixes[index].numerator / prefixes[index].denominator;
  return prefixes[index].name;
}

/* --- the grammar of units -------------------------------------------------------------------------------------- */

struct scan {
  const char *p;
  enum orr_quantity_status status;
  int depth;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%' || ((unsigned char)c & 0x80);
}
static bool starts(const char *p, const char *what) { return strncmp(p, what, strlen(what)) == 0; }

#define DOT     "\u00b7"
#define SQUARED "\u00b2"
#define CUBED   "\u00b3"

static size_t name_length(const char *p) {
  size_t n = 0;
  while (is_letter(p[n]) && !starts(p + n, DOT) && !starts(p + n, SQUARED) && !starts(p + n, CUBED))
    n++;
  return n;
}

static void fail(struct scan *s, enum orr_quantity_status status) {
  if (s->status == ORR_QUANTITY_OK)
    s->status = status;
}

static const struct named_unit *find_name(const char *p, size_t length) {
  for (size_t i = 0; i < NAME_COUNT; i++)
    if (strlen(names[i].name) == length && memcmp(names[i].name, p, length) == 0)
      return &names[i];
  return NULL;
}

static bool find_unit(const char *p, size_t length, struct orr_unit *unit) {
  const struct named_unit *plain = find_name(p, length);
  if (plain) {
    *unit = plain->unit;
    return true;
  }
  for (size_t i = 0; i < PREFIX_COUNT; i++) {
    size_t n = strlen(prefixes[i].name);
    const struct named_unit *base = n < length && starts(p, prefixes[i].name) ? find_name(p + n, length - n) : NULL;
    if (!base || !base->prefixed)
      continue;
    *unit = base->unit;
    unit->numerator *= prefixes[i].numerator;
    unit->denominator *= prefixes[i].denominator;
    return true;
  }
  return false;
}

static void multiply(struct scan *s, struct orr_unit *unit, const struct orr_unit *by, int power) {
  for (int i = 0; i < ORR_DIMENSIONS; i++) {
    int sum = unit->dimension[i] + by->dimension[i] * power;
    if (sum < -100 || sum > 100)
      fail(s, ORR_QUANTITY_BAD_UNIT);
    else
      unit->dimension[i] = (int8_t)sum;
  }
  for (int i = 0; i < abs(power); i++) {
    unit->numerator *= power > 0 ? by->numerator : by->denominator;
    unit->denominator *= power > 0 ? by->denominator : by->numerator;
  }
}

static struct orr_unit scan_product(struct scan *s);

static struct orr_unit square_root(struct scan *s, struct orr_unit unit) {
  for (int i = 0; i < ORR_DIMENSIONS; i++) {
    if (unit.dimension[i] % 2)
      fail(s, ORR_QUANTITY_BAD_UNIT);
    unit.dimension[i] = (int8_t)(unit.dimension[i] / 2);
  }
  unit.numerator = sqrt(unit.numerator);
  unit.denominator = sqrt(unit.denominator);
  return unit;
}

static struct orr_unit scan_group(struct scan *s) {
  struct orr_unit unit = {1, 1, {0}};
  s->p++;
  if (++s->depth > 8)
    fail(s, ORR_QUANTITY_BAD_UNIT);
  else
    unit = scan_product(s);
  s->depth--;
  if (*s->p == ')')
    s->p++;
  else
    fail(s, ORR_QUANTITY_BAD_UNIT);
  return unit;
}

static struct orr_unit scan_base(struct scan *s) {
  struct orr_unit unit = {1, 1, {0}};
  if (starts(s->p, "sqrt(")) {
    s->p += 4;
    return square_root(s, scan_group(s));
  }
  if (*s->p == '(')
    return scan_group(s);
  if (*s->p == '1' && !is_digit(s->p[1])) { /* 1/s */
    s->p++;
    return unit;
  }
  size_t length = name_length(s->p);
  if (length == 0)
    fail(s, ORR_QUANTITY_BAD_UNIT);
  else if (!find_unit(s->p, length, &unit))
    fail(s, ORR_QUANTITY_UNKNOWN_UNIT);
  else
    s->p += length;
  return unit;
}

static int scan_power(struct scan *s) {
  if (starts(s->p, SQUARED) || starts(s->p, CUBED)) {
    int power = starts(s->p, SQUARED) ? 2 : 3;
    s->p += strlen(SQUARED);
    return power;
  }
  if (*s->p != '^')
    return 1;
  s->p++;
  int sign = *s->p == '-' ? -1 : 1;
  s->p += *s->p == '-';
  if (!is_digit(*s->p) || is_digit(s->p[1])) {
    fail(s, ORR_QUANTITY_BAD_UNIT);
    return 1;
  }
  return sign * (*s->p++ - '0');
}

static void skip_spaces(struct scan *s) {
  while (*s->p == ' ' || *s->p == '\t')
    s->p++;
}

/* factor { (space | * | · | /) factor } */
static struct orr_unit scan_product(struct scan *s) {
  struct orr_unit unit = {1, 1, {0}};
  int sign = 1;
  skip_spaces(s);
  for (;;) {
    struct orr_unit factor = scan_base(s);
    if (s->status != ORR_QUANTITY_OK)
      return unit;
    int power = scan_power(s);
    multiply(s, &unit, &factor, sign * power);
    skip_spaces(s);
    if (s->status != ORR_QUANTITY_OK || *s->p == '\0' || *s->p == ')' || *s->p == '|')
      return unit;
    sign = *s->p == '/' ? -1 : 1;
    if (*s->p == '/' || *s->p == '*' || *s->p == '.')
      s->p++;
    else if (starts(s->p, DOT))
      s->p += strlen(DOT);
    skip_spaces(s);
  }
}

/* Up to the end of the text or a `|`. */
static enum orr_quantity_status parse_unit(const char *text, struct orr_unit *unit, const char **at) {
  struct scan s = {.p = text, .status = ORR_QUANTITY_OK};
  *unit = scan_product(&s);
  if (s.status == ORR_QUANTITY_OK && *s.p == ')')
    s.status = ORR_QUANTITY_BAD_UNIT;
  if (s.status == ORR_QUANTITY_OK && !(isfinite(unit->numerator / unit->denominator) && unit->numerator > 0))
    s.status = ORR_QUANTITY_BAD_UNIT;
  *at = s.p;
  return s.status;
}

enum orr_quantity_status orr_unit_parse(const char *text, struct orr_unit *unit, const char **at) {
  enum orr_quantity_status status = parse_unit(text, unit, at);
  return status == ORR_QUANTITY_OK && **at == '|' ? ORR_QUANTITY_BAD_UNIT : status;
}

/* --- numbers --------------------------------------------------------------------------------------------------- */

/* The end of a decimal number: [+-] digits [. digits] [e [+-] digits], with at least one digit; NULL where there is
 * none. */
static const char *number_end(const char *text) {
  const char *p = text + (*text == '+' || *text == '-');
  size_t digits = 0;
  for (; is_digit(*p); p++)
    digits++;
  if (*p == '.')
    for (p++; is_digit(*p); p++)
      digits++;
  if (digits == 0)
    return NULL;
  if (*p == 'e' || *p == 'E') {
    const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-');
    if (is_digit(*exponent))
      for (p = exponent; is_digit(*p); p++)
        ;
  }
  return p;
}

static bool is_not_finite(const char *text) {
  static const char *const words[] = {".nan", ".NaN", ".NAN", "nan", "NaN", "NAN",      ".inf",
                                      ".Inf", ".INF", "inf",  "Inf", "INF", "Infinity", "infinity"};
  const char *p = text + (*text == '+' || *text == '-');
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(p, words[i]) == 0)
      return true;
  return false;
}

static enum orr_quantity_status scan_number(const char *text, const char **rest, struct orr_quantity *out) {
  *out = (struct orr_quantity){.at = text, .unit = {1, 1, {0}}};
  if (is_not_finite(text))
    return ORR_QUANTITY_NOT_FINITE;
  *rest = number_end(text);
  if (!*rest)
    return ORR_QUANTITY_NOT_A_NUMBER;
  out->value = strtod(text, NULL); /* reads exactly what number_end saw, but for 0x.. whose x would be a unit */
  if (!isfinite(out->value))
    return ORR_QUANTITY_NOT_FINITE;
  const char *unit = *rest;
  while (*unit == ' ' || *unit == '\t')
    unit++;
  if (*unit == '\0')
    return ORR_QUANTITY_OK;
  out->has_unit = true;
  return orr_unit_parse(unit, &out->unit, &out->at);
}

static bool is_wanted(const struct orr_unit *unit, const char *wanted) {
  for (const char *w = wanted; w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL) {
    struct orr_unit one = {1, 1, {0}};
    const char *at;
    if (*w)
      parse_unit(w, &one, &at);
    if (memcmp(one.dimension, unit->dimension, sizeof one.dimension) == 0)
      return true;
  }
  return false;
}

enum orr_quantity_status orr_quantity_parse(const char *text, const char *wanted, struct orr_quantity *out) {
  const char *rest;
  enum orr_quantity_status status = scan_number(text, &rest, out);
  if (status != ORR_QUANTITY_OK || !out->has_unit)
    return status;
  out->at = rest;
  if (!is_wanted(&out->unit, wanted))
    return ORR_QUANTITY_WRONG_UNIT;
  out->value = out->value * out->unit.numerator / out->unit.denominator;
  return isfinite(out->value) ? ORR_QUANTITY_OK : ORR_QUANTITY_NOT_FINITE;
}

/* The digits of a decimal number as a whole number and a power of ten. False when they are beyond int64. */
static bool decimal(const char *text, const char *end, int64_t *digits, long *power) {
  *digits = 0;
  *power = 0;
  bool fraction = false;
  const char *p = text + (*text == '+' || *text == '-');
  for (; p < end && *p != 'e' && *p != 'E'; p++) {
    if (*p == '.') {
      fraction = true;
      continue;
    }
    int digit = *p - '0';
    if (*digits > (INT64_MAX - digit) / 10)
      return false;
    *digits = 10 * *digits + digit;
    *power -= fraction;
  }
  enum { MOST = 1000000000 }; /* far beyond what matters, and far from the ends of a long */
  long exponent = p < end ? strtol(p + 1, NULL, 10) : 0;
  *power += exponent > MOST ? MOST : exponent < -MOST ? -MOST : exponent;
  while (*digits && *digits % 10 == 0) {
    *digits /= 10;
    ++*power;
  }
  return true;
}

/* digits × 10^power × (ns per unit), if whole and within int64. */
static bool whole_ns(int64_t digits, long power, const struct orr_unit *unit, int64_t *ns) {
  __extension__ typedef __int128 wide;
  *ns = 0;
  if (digits == 0) /* whatever the power */
    return true;
  wide value = (wide)digits * (int64_t)unit->numerator * 1000000000; /* below 2^63 · 2^17 · 2^30 */
  wide divisor = (int64_t)unit->denominator;
  for (; power < 0 && divisor < (wide)1 << 100; power++)
    divisor *= 10;
  if (power < 0 || value % divisor)
    return false;
  value /= divisor;
  for (; power > 0 && value < (wide)1 << 100; power--)
    value *= 10;
  if (power > 0 || value > INT64_MAX)
    return false;
  *ns = (int64_t)value;
  return true;
}

enum orr_quantity_status orr_quantity_parse_time(const char *text, struct orr_quantity *out) {
  const char *end;
  enum orr_quantity_status status = orr_quantity_parse(text, "s", out);
  if (status != ORR_QUANTITY_OK)
    return status;
  end = number_end(text);
  static const struct orr_unit second = {1, 1, {0, 0, 2}};
  const struct orr_unit *unit = out->has_unit ? &out->unit : &second;
  bool whole_unit = unit->numerator == floor(unit->numerator) && unit->denominator == floor(unit->denominator) &&
                    unit->numerator <= 86400 && unit->denominator <= 1e9;
  int64_t digits;
  long power;
  if (!whole_unit || !decimal(text, end, &digits, &power) || !whole_ns(digits, power, unit, &out->ns))
    return ORR_QUANTITY_NOT_WHOLE_NS;
  if (*text == '-')
    out->ns = -out->ns;
  return ORR_QUANTITY_OK;
}
