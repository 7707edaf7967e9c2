/* io/log/message: what a schema says, and numbers through CDR and back. */
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/log/message.h"

static struct orr_mcap_text text(const char *t) { return (struct orr_mcap_text){t, strlen(t)}; }

static void a_schema_is_its_fields(void **state) {
  (void)state;
  struct orr_mcap_text schema =
      text("# about\nint32 MOST=5\n  float64[3] rate # rad/s\n\nstring name\r\nuint8[] raw\nbool ok");
  struct orr_field f;
  bool good;
  assert_true(orr_schema_next(&schema, &f, &good));
  assert_true(f.type == ORR_FIELD_FLOAT64 && f.array && !f.sequence && f.count == 3);
  assert_true(f.name.size == 4 && memcmp(f.name.text, "rate", 4) == 0);
  assert_true(orr_schema_next(&schema, &f, &good));
  assert_true(f.type == ORR_FIELD_STRING && !f.array && f.count == 1);
  assert_true(orr_schema_next(&schema, &f, &good));
  assert_true(f.type == ORR_FIELD_UINT8 && f.sequence);
  assert_true(orr_schema_next(&schema, &f, &good));
  assert_true(f.type == ORR_FIELD_BOOL);
  assert_false(orr_schema_next(&schema, &f, &good));
  assert_true(good);
}

static void what_is_not_known_is_said(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "geometry_msgs/Point p", "float64[0] x",  "float64[-1] x", "float64[9999999999] x",
      "float64[3 x",           "float64",       "float64 3x",    "floats x",
      "float64[<=3] x",        "float64[] a-b", "float6 x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct orr_mcap_text schema = text(wrong[i]);
    struct orr_field f;
    bool good = true;
    if (orr_schema_next(&schema, &f, &good) || good)
      fail_msg("'%s' was taken", wrong[i]);
  }
}

/* The bytes of OMG's CDR (formal/02-06-51, 15.3) written out by hand. */
static const uint8_t by_hand[] = {0, 1, 0, 0,                       /* little-endian */
                                  7, 0, 0, 0,                       /* uint32 */
                                  3, 0, 0, 0, 'a', 'b', 0,          /* string */
                                  0, 0, 0, 0, 0,                    /* to a multiple of 8 */
                                  0, 0, 0, 0, 0,   0,   0xf0, 0x3f, /* 1.0 */
                                  2, 0, 0, 0, 0,   0,   0,    0,    /* two of them, and a gap */
                                  1, 0, 0, 0, 0,   0,   0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const char BY_HAND[] = "uint32 n\nstring s\nfloat64 x\nint64[] list\n";

static void numbers_stand_where_cdr_puts_them(void **state) {
  (void)state;
  uint8_t bytes[sizeof by_hand] = {0};
  const uint32_t n = 7;
  const double x = 1;
  const int64_t list[] = {1, -1};
  struct orr_cdr_out out = {0};
  for (int pass = 0; pass < 2; pass++) {
    orr_cdr_begin(&out, pass ? bytes : NULL);
    orr_cdr_put32(&out, &n, 1);
    orr_cdr_put_string(&out, "ab");
    orr_cdr_put64(&out, &x, 1, false);
    orr_cdr_put64(&out, list, 2, true);
    assert_int_equal(out.used, sizeof by_hand);
  }
  assert_memory_equal(bytes, by_hand, sizeof by_hand);
}

static bool visit(const uint8_t *bytes, size_t size, struct orr_value *last) {
  struct orr_mcap_text schema = text(BY_HAND);
  struct orr_field f;
  struct orr_cdr cdr;
  uint32_t count;
  bool good;
  if (!orr_cdr_start(&cdr, bytes, size))
    return false;
  while (orr_schema_next(&schema, &f, &good)) {
    if (!orr_cdr_count(&cdr, &f, &count))
      return false;
    for (uint32_t i = 0; i < count; i++)
      if (!orr_cdr_value(&cdr, &f, last))
        return false;
  }
  return true;
}

static void a_message_is_read_as_it_was_written_and_never_beyond_its_end(void **state) {
  (void)state;
  struct orr_value last = {0};
  assert_true(visit(by_hand, sizeof by_hand, &last));
  assert_int_equal(last.whole, -1);
  for (size_t size = 0; size < sizeof by_hand; size++)
    assert_false(visit(by_hand, size, &last));
  uint8_t wrong[sizeof by_hand];
  memcpy(wrong, by_hand, sizeof wrong);
  wrong[31] = 0x7f; /* of the count of the list */
  assert_false(visit(wrong, sizeof wrong, &last));
  memcpy(wrong, by_hand, sizeof wrong);
  wrong[1] = 0; /* big-endian */
  assert_false(visit(wrong, sizeof wrong, &last));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_schema_is_its_fields),
      cmocka_unit_test(what_is_not_known_is_said),
      cmocka_unit_test(numbers_stand_where_cdr_puts_them),
      cmocka_unit_test(a_message_is_read_as_it_was_written_and_never_beyond_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
