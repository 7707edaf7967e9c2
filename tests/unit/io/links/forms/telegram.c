/* io/links/forms/telegram: bits, numbers, checksums and what is refused, by values that are known from elsewhere. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/links/forms/telegram.h"
#include "tests/support/prng.h"
#include "tests/support/steps.h"

enum { MOST = 16, BYTES = 64, RATE = 0, COUNT = 1, LIT = 2, TORQUE = 3, ON_TIME = 4, MODE = 5, ON = 6 };

/* A link of a few channels of all types, and one or two telegrams of it. */
struct rig {
  struct orr_link_rig link;
  struct orr_run_field fields[2][MOST];
  struct orr_run_telegram described[2];
  struct orr_run_layout layout;
  struct orr_telegrams telegrams;
  struct orr_block block;
  uint64_t out[ORR_RIG_WORDS], in[ORR_RIG_WORDS];
  struct orr_telegram_clipped clipped;
  uint8_t bytes[BYTES];
};

static const struct orr_run_field plain = {.by = -1, .set = -1, .lsb = 1, .width = 8};

static struct orr_run_field channel_field(int channel, int element, enum orr_field_number number, int width,
                                          uint32_t bit) {
  struct orr_run_field f = plain;
  static const char *const names[] = {"a.rate", "a.count", "a.on", "b.torque", "b.time", "c.mode", "d.on"};
  f.channel = channel;
  f.channel_name = names[channel];
  f.element = element;
  f.number = number;
  f.width = width;
  f.bit = bit;
  return f;
}

static struct orr_run_field fixed_field(uint64_t raw, int width, uint32_t bit) {
  struct orr_run_field f = plain;
  f.kind = ORR_FIELD_CONSTANT;
  f.raw = raw;
  f.width = width;
  f.bit = bit;
  return f;
}

static struct orr_run_field sum_field(enum orr_field_sum sum, uint32_t to, uint32_t bit) {
  struct orr_run_field f = plain;
  f.kind = ORR_FIELD_CHECKSUM;
  f.sum = sum;
  f.to = to;
  f.bit = bit;
  return f;
}

/* The rig over the telegrams that were described. */
static void begin(struct rig *r, int count) {
  orr_link_rig_init(&r->link, 0, 1);
  for (int i = 0; i < count; i++) {
    r->described[i].fields = r->fields[i];
    r->described[i].every = 1;
    r->described[i].request = -1;
  }
  r->layout = (struct orr_run_layout){count, r->described};
  struct orr_block measured = {0};
  orr_telegrams_init(&r->telegrams, &r->layout, &r->link.layout, &measured);
  r->block = (struct orr_block){.base = aligned_alloc(ORR_ALIGNMENT, measured.used), .size = measured.used};
  assert_non_null(r->block.base);
  orr_telegrams_init(&r->telegrams, &r->layout, &r->link.layout, &r->block);
  orr_telegram_rest(&r->telegrams, r->in);
}

static void end(struct rig *r) { free(r->block.base); }

/* A rig whose one telegram is made of these fields. */
static void begin_one(struct rig *r, bool command, uint32_t bytes, int count, const struct orr_run_field *fields) {
  *r =
      (struct rig){.described = {{.name = "one", .command = command, .answers = true, .bytes = bytes, .count = count}}};
  memcpy(r->fields[0], fields, (size_t)count * sizeof *fields);
  begin(r, 1);
}

static void write_values(struct rig *r, uint64_t number, int64_t time_ns) {
  const struct orr_telegram_moment m = {.number = number, .sent = number, .time_ns = time_ns};
  orr_layout_pack(&r->link.layout.telemetry, r->link.values, r->out);
  assert_int_equal(orr_telegram_write(&r->telegrams, 0, &m, r->out, r->bytes, &r->clipped), r->described[0].bytes);
}

static double *value(struct rig *r, int channel) { return &r->link.values[r->link.channels[channel].offset]; }

static void expect_bytes(const struct rig *r, const char *hex) {
  for (size_t i = 0; hex[2 * i]; i++) {
    const char pair[3] = {hex[2 * i], hex[2 * i + 1]};
    if (r->bytes[i] != strtoul(pair, NULL, 16))
      fail_msg("byte %zu is %02x, not %s", i, r->bytes[i], pair);
  }
}

/* ---- bits -------------------------------------------------------------------------------------------------------- */

/* From what the words say: big-endian, the highest bit first; little-endian, the lowest bit first. */
static void fields_stand_on_the_bits_that_their_byte_order_counts(void **state) {
  (void)state;
  uint8_t bytes[4] = {0};
  struct orr_run_field f = plain;
  f.width = 12;
  f.bit = 4;
  orr_field_put(&f, bytes, 0xABC);
  assert_memory_equal(bytes, "\x0A\xBC\x00\x00", 4);
  assert_int_equal(orr_field_get(&f, bytes), 0xABC);
  f.little = true;
  memset(bytes, 0, 4);
  orr_field_put(&f, bytes, 0xABC);
  assert_memory_equal(bytes, "\xC0\xAB\x00\x00", 4);
  f.bit = 7;
  f.width = 3;
  memset(bytes, 0xFF, 4);
  orr_field_put(&f, bytes, 2); /* 0, 1, 0 from the lowest on */
  assert_memory_equal(bytes, "\x7F\xFD\xFF\xFF", 4);
  f = plain;
  f.width = 32;
  orr_field_put(&f, bytes, 0x12345678);
  assert_memory_equal(bytes, "\x12\x34\x56\x78", 4);
  f.little = true;
  orr_field_put(&f, bytes, 0x12345678);
  assert_memory_equal(bytes, "\x78\x56\x34\x12", 4);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void numbers_are_rounded_to_even_and_held_at_the_ends_of_their_bits(void **state) {
  (void)state;
  static const struct {
    double value;
    int raw;
    bool fits;
  } cases[] = {{0.25, 0, true},         {0.75, 2, true},      {1.25, 2, true},      {-0.25, 0, true},
               {-0.75, -2, true},       {63.5, 127, true},    {63.75, 127, false},  {63.7, 127, true},
               {-64, -128, true},       {-64.25, -128, true}, {-64.3, -128, false}, {1e300, 127, false},
               {-HUGE_VAL, -128, false}};
  struct orr_run_field f = channel_field(RATE, 0, ORR_FIELD_SIGNED, 8, 0);
  struct rig r;
  f.lsb = 0.5;
  begin_one(&r, false, 1, 1, &f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    r.clipped.count = 0;
    *value(&r, RATE) = cases[i].value;
    write_values(&r, 0, 0);
    if ((int8_t)r.bytes[0] != cases[i].raw || (r.clipped.count == 0) != cases[i].fits)
      fail_msg("%g became %d, with %d clipped", cases[i].value, (int8_t)r.bytes[0], (int)r.clipped.count);
  }
  assert_ptr_equal(r.clipped.field, &r.fields[0][0]);
  assert_true(r.clipped.value == -HUGE_VAL);
  end(&r);
}

static void what_is_no_number_is_sent_as_the_field_says_and_counted(void **state) {
  (void)state;
  struct orr_run_field fields[] = {channel_field(RATE, 0, ORR_FIELD_SIGNED, 16, 0),
                                   channel_field(RATE, 1, ORR_FIELD_FLOAT, 32, 16),
                                   channel_field(RATE, 2, ORR_FIELD_UNSIGNED, 64, 48)};
  struct rig r;
  fields[0].nan = 0x8000;
  begin_one(&r, false, 14, 3, fields);
  value(&r, RATE)[0] = (double)NAN;
  value(&r, RATE)[1] = 1e39;
  value(&r, RATE)[2] = 0x1p64;
  write_values(&r, 0, 0);
  expect_bytes(&r, "80007f7fffffffffffffffffffff");
  assert_int_equal(r.clipped.count, 3);
  value(&r, RATE)[1] = (double)NAN;
  value(&r, RATE)[2] = 0x1p64 - 2048;
  r.clipped.count = 0;
  write_values(&r, 0, 0);
  assert_int_equal(r.bytes[2] & 0x7f, 0x7f);
  assert_true(r.bytes[3] > 0x80); /* NaN, not infinite */
  assert_int_equal(r.bytes[13], 0);
  assert_int_equal(r.bytes[12], 0xf8);
  assert_int_equal(r.clipped.count, 1);
  end(&r);
}

/* A double that goes out and comes back has the same bits. */
static void doubles_keep_their_bits_both_ways(void **state) {
  (void)state;
  static const double all[] = {0.0, -0.0, 1.0 / 3, -DBL_MAX, DBL_MIN / 3, 1e-300};
  struct orr_run_field out = channel_field(RATE, 0, ORR_FIELD_FLOAT, 64, 0),
                       in = channel_field(TORQUE, 0, ORR_FIELD_FLOAT, 64, 0);
  struct rig to, from;
  out.little = true;
  in.little = true;
  begin_one(&to, false, 8, 1, &out);
  begin_one(&from, true, 8, 1, &in);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    int which;
    *value(&to, RATE) = all[i];
    write_values(&to, 0, 0);
    assert_memory_equal(to.bytes, &all[i], 8);
    assert_int_equal(orr_telegram_judge(&from.telegrams, to.bytes, 8, &which), ORR_TELEGRAM_GOOD);
    orr_telegram_read(&from.telegrams, which, to.bytes, from.in);
    assert_memory_equal(from.in, &all[i], 8); /* the first of the commands */
  }
  end(&to);
  end(&from);
}

static void counters_and_times_wrap(void **state) {
  (void)state;
  struct orr_run_field fields[] = {plain, plain, plain};
  struct rig r;
  fields[0].kind = ORR_FIELD_COUNTER;
  fields[0].start = 250;
  fields[1].kind = ORR_FIELD_COUNTER;
  fields[1].modulo = 10;
  fields[1].bit = 8;
  fields[2].kind = ORR_FIELD_TIME;
  fields[2].width = 16;
  fields[2].bit = 16;
  fields[2].lsb_ns = 1e6;
  fields[2].offset_ns = 2000000;
  begin_one(&r, false, 4, 3, fields);
  write_values(&r, 7, 65535999999); /* 7 + 250; 7; 65535 ms, and 2 of offset */
  expect_bytes(&r, "01070001");
  write_values(&r, 13, 999999);
  expect_bytes(&r, "07030002");
  end(&r);
}

static void states_have_numbers_of_their_own(void **state) {
  (void)state;
  static const struct orr_field_state states[] = {{"off", 0, 0x55}, {"on", 1, 0xAA}};
  struct orr_run_field out = channel_field(LIT, 1, ORR_FIELD_UNSIGNED, 8, 0),
                       in = channel_field(ON, 2, ORR_FIELD_UNSIGNED, 8, 0);
  struct rig to, from;
  int which;
  out.states = in.states = states;
  out.state_count = in.state_count = 2;
  begin_one(&to, false, 1, 1, &out);
  begin_one(&from, true, 1, 1, &in);
  value(&to, LIT)[1] = 1;
  write_values(&to, 0, 0);
  expect_bytes(&to, "aa");
  assert_int_equal(to.clipped.count, 0);
  assert_int_equal(orr_telegram_judge(&from.telegrams, to.bytes, 1, &which), ORR_TELEGRAM_GOOD);
  orr_telegram_read(&from.telegrams, which, to.bytes, from.in);
  orr_layout_unpack(&from.link.layout.commands, from.in, from.link.values);
  assert_true(value(&from, ON)[2] == 1 && value(&from, ON)[1] == 0);
  assert_int_equal(orr_telegram_judge(&from.telegrams, (const uint8_t *)"\x56", 1, &which), ORR_TELEGRAM_BROKEN);
  end(&to);
  end(&from);
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

/* mode and flags are whole; what is not a value of the channel is left to the judgement of all commands. */
static void commands_that_no_channel_takes_are_refused_by_the_layout(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[9];
    enum orr_refusal refusal;
  } cases[] = {
      {{0, 0, 0, 0, 0, 0, 0, 5, 1}, ORR_REFUSAL_NONE},
      {{0, 0, 0, 0, 0, 0, 0, 5, 2}, ORR_REFUSAL_OUT_OF_RANGE},
      {{0, 0, 0, 0, 0, 0, 0, 0, 1}, ORR_REFUSAL_OUT_OF_RANGE},
      {{0x80, 0, 0, 0, 0, 0, 0, 5, 1}, ORR_REFUSAL_OUT_OF_RANGE},
      {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 255}, ORR_REFUSAL_OUT_OF_RANGE},
  };
  struct orr_run_field fields[] = {channel_field(MODE, 0, ORR_FIELD_UNSIGNED, 64, 0),
                                   channel_field(ON, 0, ORR_FIELD_UNSIGNED, 8, 64)};
  struct rig r;
  begin_one(&r, true, 9, 2, fields);
  assert_int_equal(orr_layout_judge(&r.link.layout.commands, r.in), ORR_REFUSAL_NONE); /* what stands before any */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    orr_telegram_read(&r.telegrams, 0, cases[i].bytes, r.in);
    assert_int_equal(orr_layout_judge(&r.link.layout.commands, r.in), cases[i].refusal);
  }
  end(&r);
}

static void commands_of_other_telegrams_stay_and_pulses_do_not(void **state) {
  (void)state;
  struct orr_run_field torque = channel_field(TORQUE, 0, ORR_FIELD_SIGNED, 8, 8),
                       on_time = channel_field(ON_TIME, 0, ORR_FIELD_UNSIGNED, 8, 8);
  struct rig r = {.described = {{.name = "a", .command = true, .bytes = 2, .count = 2},
                                {.name = "b", .command = true, .bytes = 2, .count = 2}}};
  torque.lsb = on_time.lsb = 0.125;
  r.fields[0][0] = fixed_field(1, 8, 0);
  r.fields[0][1] = torque;
  r.fields[1][0] = fixed_field(2, 8, 0);
  r.fields[1][1] = on_time;
  begin(&r, 2);
  static const struct {
    uint8_t bytes[2];
    double torque, on_time;
  } steps[] = {{{1, 0xfe}, -0.25, 0}, {{2, 8}, -0.25, 1}, {{1, 4}, 0.5, 0}, {{2, 0}, 0.5, 0}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    int which;
    assert_int_equal(orr_telegram_judge(&r.telegrams, steps[i].bytes, 2, &which), ORR_TELEGRAM_GOOD);
    orr_telegram_read(&r.telegrams, which, steps[i].bytes, r.in);
    assert_int_equal(orr_layout_judge(&r.link.layout.commands, r.in), ORR_REFUSAL_NONE);
    *value(&r, ON_TIME) = 0; /* each frame begins without pulses */
    orr_layout_unpack(&r.link.layout.commands, r.in, r.link.values);
    assert_true(*value(&r, TORQUE) == steps[i].torque);
    assert_true(*value(&r, ON_TIME) == steps[i].on_time);
  }
  end(&r);
}

/* Garbage, halves and wrong checksums between telegrams: each whole one is found, and nothing else. */
static void telegrams_are_found_again_behind_garbage(void **state) {
  (void)state;
  enum { LENGTH = 4000, GOOD = 6 };
  const struct orr_run_field fields[] = {fixed_field(0xA55A, 16, 0), channel_field(TORQUE, 0, ORR_FIELD_SIGNED, 24, 16),
                                         sum_field(ORR_SUM_TWOS, 5, 40)};
  static uint8_t stream[LENGTH];
  struct orr_prng rng = {7};
  size_t used = 0, written = 0, read = 0;
  struct rig r;
  begin_one(&r, true, GOOD, 3, fields);
  while (used + 30 < LENGTH) {
    size_t noise = prng_next(&rng) % 8;
    for (size_t i = 0; i < noise; i++)
      stream[used++] = prng_next(&rng) % 2 ? 0xA5 : (uint8_t)(prng_next(&rng) % 0x5A);
    uint8_t *t = stream + used;
    memcpy(t, "\xA5\x5A", 2);
    for (size_t i = 2; i < 5; i++)
      t[i] = (uint8_t)(prng_next(&rng) % 0x5A);
    t[5] = (uint8_t)(0 - (t[0] + t[1] + t[2] + t[3] + t[4]));
    bool good = prng_next(&rng) % 4 != 0;
    t[5] = (uint8_t)(t[5] + !good);
    written += good;
    used += GOOD;
  }
  for (size_t at = 0; at < used;) {
    int which;
    enum orr_telegram_verdict verdict = orr_telegram_begins(&r.telegrams, stream + at, used - at, &which);
    assert_true(verdict != ORR_TELEGRAM_PART || used - at < GOOD);
    read += verdict == ORR_TELEGRAM_GOOD;
    at += verdict == ORR_TELEGRAM_GOOD ? GOOD : 1;
  }
  assert_int_equal(read, written);
  assert_true(written > 200);
  end(&r);
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* The check values are those of the "Catalogue of parametrised CRC algorithms" (G. Cook), each of the text
 * 123456789. */
static void crcs_have_the_check_values_of_the_catalogue(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int width;
    uint64_t poly, init;
    bool in, out;
    uint64_t xorout, check;
  } all[] = {
      {"CRC-3/GSM", 3, 0x3, 0, false, false, 0x7, 0x4},
      {"CRC-5/USB", 5, 0x05, 0x1f, true, true, 0x1f, 0x19},
      {"CRC-7/MMC", 7, 0x09, 0, false, false, 0, 0x75},
      {"CRC-8/SMBUS", 8, 0x07, 0, false, false, 0, 0xf4},
      {"CRC-8/MAXIM-DOW", 8, 0x31, 0, true, true, 0, 0xa1},
      {"CRC-12/UMTS", 12, 0x80f, 0, false, true, 0, 0xdaf},
      {"CRC-15/CAN", 15, 0x4599, 0, false, false, 0, 0x059e},
      {"CRC-16/XMODEM", 16, 0x1021, 0, false, false, 0, 0x31c3},
      {"CRC-16/IBM-3740", 16, 0x1021, 0xffff, false, false, 0, 0x29b1},
      {"CRC-16/KERMIT", 16, 0x1021, 0, true, true, 0, 0x2189},
      {"CRC-16/MODBUS", 16, 0x8005, 0xffff, true, true, 0, 0x4b37},
      {"CRC-24/OPENPGP", 24, 0x864cfb, 0xb704ce, false, false, 0, 0x21cf02},
      {"CRC-32/ISO-HDLC", 32, 0x04c11db7, 0xffffffff, true, true, 0xffffffff, 0xcbf43926},
      {"CRC-32/ISCSI", 32, 0x1edc6f41, 0xffffffff, true, true, 0xffffffff, 0xe3069283},
      {"CRC-32/MPEG-2", 32, 0x04c11db7, 0xffffffff, false, false, 0, 0x0376e6e7},
      {"CRC-64/ECMA-182", 64, UINT64_C(0x42f0e1eba9ea3693), 0, false, false, 0, UINT64_C(0x6c40df5f0b497347)},
      {"CRC-64/XZ", 64, UINT64_C(0x42f0e1eba9ea3693), UINT64_MAX, true, true, UINT64_MAX, UINT64_C(0x995dc9bbdf1939fa)},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct orr_run_field f = sum_field(ORR_SUM_CRC, 9, 72);
    f.width = all[i].width;
    f.crc = (struct orr_field_crc){all[i].poly, all[i].init, all[i].xorout, all[i].in, all[i].out};
    uint64_t crc = orr_field_checksum(&f, (const uint8_t *)"123456789\xff\xff\xff\xff\xff\xff\xff\xff");
    if (crc != all[i].check)
      fail_msg("%s is %llx", all[i].name, (unsigned long long)crc);
  }
}

static void sums_take_their_range_alone_and_their_own_bits_as_zero(void **state) {
  (void)state;
  const uint8_t bytes[] = {0x11, 0xff, 0x22, 0x33, 0x44};
  struct orr_run_field f = sum_field(ORR_SUM_XOR, 5, 8);
  assert_int_equal(orr_field_checksum(&f, bytes), 0x11 ^ 0x22 ^ 0x33 ^ 0x44);
  f.sum = ORR_SUM_PLAIN;
  assert_int_equal(orr_field_checksum(&f, bytes), 0xaa);
  f.sum = ORR_SUM_TWOS;
  assert_int_equal(orr_field_checksum(&f, bytes), 0x56);
  f.sum = ORR_SUM_ONES;
  assert_int_equal(orr_field_checksum(&f, bytes), 0x55);
  f.from = 2;
  assert_int_equal(orr_field_checksum(&f, bytes), 0x66);
  f = sum_field(ORR_SUM_PLAIN, 2, 12); /* half a byte of its own */
  f.width = 4;
  assert_int_equal(orr_field_checksum(&f, bytes), (0x11 + 0xf0) & 0xf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_stand_on_the_bits_that_their_byte_order_counts),
      cmocka_unit_test(numbers_are_rounded_to_even_and_held_at_the_ends_of_their_bits),
      cmocka_unit_test(what_is_no_number_is_sent_as_the_field_says_and_counted),
      cmocka_unit_test(doubles_keep_their_bits_both_ways),
      cmocka_unit_test(counters_and_times_wrap),
      cmocka_unit_test(states_have_numbers_of_their_own),
      cmocka_unit_test(commands_that_no_channel_takes_are_refused_by_the_layout),
      cmocka_unit_test(commands_of_other_telegrams_stay_and_pulses_do_not),
      cmocka_unit_test(telegrams_are_found_again_behind_garbage),
      cmocka_unit_test(crcs_have_the_check_values_of_the_catalogue),
      cmocka_unit_test(sums_take_their_range_alone_and_their_own_bits_as_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
