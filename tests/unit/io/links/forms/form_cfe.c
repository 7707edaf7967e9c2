/* Messages of cFE, byte by byte: what goes out, what is taken, and what is refused why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "io/links/forms/form.h"
#include "tests/support/steps.h"

struct rig {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_form_state *form;
};

static int make_with(struct rig *r, bool big, uint32_t packet_max) {
  orr_link_rig_init(&r->link, 0, 1);
  r->desc = (struct orr_run_link){.divisor = ORR_RIG_DIVISOR,
                                  .form = ORR_FORM_CFE,
                                  .big_endian = big,
                                  .telemetry_id = 0x0e80,
                                  .command_id = 0x1e80,
                                  .packet_max = packet_max};
  return orr_form_of(&r->desc)->make(&r->desc, &r->link.layout, &r->form);
}

static void make(struct rig *r, bool big) { assert_int_equal(make_with(r, big, 1472), 0); }

static void done(struct rig *r) { r->form->form->unmake(r->form); }

static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

/* The numbers of 8 bytes of a side, which stand before its flags. */
static size_t words_of(const struct orr_layout_side *side) {
  size_t words = 0;
  for (int i = 0; i < side->count; i++)
    words += side->entries[i].channel->type == ORR_CHANNEL_FLAG ? 0 : (size_t)side->entries[i].channel->count;
  return words;
}

static void telemetry_is_a_message_in_either_order(void **state) {
  (void)state;
  for (int big = 0; big < 2; big++) {
    struct rig r;
    uint64_t slot[ORR_WIRE_OUT_WORDS + ORR_RIG_WORDS] = {0};
    uint8_t packet[ORR_WIRE_PACKET_MAX];
    make(&r, big);
    const size_t bytes = r.link.layout.telemetry.bytes, words = words_of(&r.link.layout.telemetry);
    assert_true(bytes % 8 != 0 && words > 0); /* there are flags */
    uint8_t *payload = (uint8_t *)(slot + ORR_WIRE_OUT_WORDS);
    for (size_t i = 0; i < bytes; i++)
      payload[i] = (uint8_t)(i + 1);
    slot[ORR_WIRE_OUT_TIME_NS] = 5250000000;
    slot[ORR_WIRE_OUT_FLAGS] = ORR_WIRE_OUT_LOCKSTEP;
    for (unsigned count = 0; count < 3; count++) {
      assert_int_equal(r.form->form->write(r.form, slot, 0, packet), 16 + padded(bytes));
      const uint8_t head[16] = {0x0e, 0x80, 0xc0, (uint8_t)count, 0, (uint8_t)(16 + padded(bytes) - 7), 0, 0,
                                0,    5,    0x40};
      assert_memory_equal(packet, head, sizeof head);
      for (size_t i = 0; i < padded(bytes); i++) {
        size_t from = big && i < 8 * words ? i / 8 * 8 + 7 - i % 8 : i;
        assert_int_equal(packet[16 + i], from < bytes ? from + 1 : 0);
      }
    }
    done(&r);
  }
}

static enum orr_refusal read_of(struct rig *r, const uint8_t *packet, size_t size, struct orr_form_word *word) {
  uint8_t reply[ORR_WIRE_PACKET_MAX];
  *word = (struct orr_form_word){0};
  return r->form->form->read(r->form, packet, size, word, reply);
}

static void a_command_is_its_payload_whatever_its_function_code(void **state) {
  (void)state;
  for (int big = 0; big < 2; big++) {
    struct rig r;
    struct orr_form_word word;
    uint8_t packet[ORR_WIRE_PACKET_MAX] = {0x1e, 0x80, 0xc0, 7};
    make(&r, big);
    const size_t bytes = r.link.layout.commands.bytes, words = words_of(&r.link.layout.commands);
    assert_true(bytes % 8 != 0 && words > 0);
    for (int pad = 0; pad < 2; pad++) { /* as long as the numbers, or as the struct */
      const size_t all = 8 + (pad ? padded(bytes) : bytes);
      packet[5] = (uint8_t)(all - 7);
      packet[6] = 9;
      packet[7] = 0;
      for (size_t i = 0; i < bytes; i++)
        packet[8 + i] = (uint8_t)(i + 1);
      for (int sum = 0; sum < 2; sum++) { /* not worked out, or right */
        packet[7] = sum ? orr_wire_xor(packet, all) : 0;
        assert_int_equal(read_of(&r, packet, all, &word), ORR_REFUSAL_NONE);
        assert_int_equal(word.function, ORR_WIRE_COMMANDS);
        assert_int_equal(word.piece_bytes, bytes);
        assert_false(word.asks || word.kept || word.reply_bytes);
        for (size_t i = 0; i < bytes; i++)
          assert_int_equal(word.piece[i], 1 + (big && i < 8 * words ? i / 8 * 8 + 7 - i % 8 : i));
      }
      packet[7] = packet[7] ^ 1 ? packet[7] ^ 1 : 2;
      assert_int_equal(read_of(&r, packet, all, &word), ORR_REFUSAL_MALFORMED);
    }
    done(&r);
  }
}

static void what_is_no_command_is_refused_by_its_cause(void **state) {
  (void)state;
  struct rig r;
  struct orr_form_word word;
  uint8_t packet[ORR_WIRE_PACKET_MAX] = {0x1e, 0x80, 0xc0, 7};
  make(&r, false);
  const size_t all = 8 + r.link.layout.commands.bytes;
  packet[5] = (uint8_t)(all - 7);
  for (size_t size = 0; size < all + 20; size++)
    assert_int_equal(read_of(&r, packet, size, &word), size == all ? ORR_REFUSAL_NONE : ORR_REFUSAL_MALFORMED);
  packet[5]++; /* it says so, and is no payload of ours */
  assert_int_equal(read_of(&r, packet, all + 1, &word), ORR_REFUSAL_MALFORMED);
  packet[5]--;
  for (unsigned id = 0; id < 0x10000; id++) {
    orr_wire_put_big(packet, id, 2);
    assert_int_equal(read_of(&r, packet, all, &word), id == 0x1e80 ? ORR_REFUSAL_NONE : ORR_REFUSAL_OTHER_ID);
  }
  done(&r);
}

static void a_stream_finds_its_messages_behind_whatever_comes(void **state) {
  (void)state;
  struct rig r;
  uint8_t bytes[200];
  size_t skip;
  make(&r, false);
  const size_t all = 8 + r.link.layout.commands.bytes;
  memset(bytes, 0x1e, sizeof bytes);
  memcpy(bytes + 11, (const uint8_t[]){0x1e, 0x80, 0xc0, 0, 0, (uint8_t)(all - 7)}, 6);
  for (size_t count = 0; count <= sizeof bytes; count++) {
    size_t found = r.form->form->find(r.form, bytes, count, &skip);
    assert_true(skip + found <= count);
    assert_int_equal(found, count >= 11 + all ? all : 0);
    assert_true(skip <= 11);
    assert_true(!found || skip == 11);
  }
  done(&r);
}

static void a_message_that_is_too_long_is_none(void **state) {
  (void)state;
  struct rig r;
  make(&r, false);
  const size_t out = 16 + padded(r.link.layout.telemetry.bytes), in = 8 + padded(r.link.layout.commands.bytes);
  const uint32_t least = (uint32_t)(out > in ? out : in);
  done(&r);
  assert_int_equal(make_with(&r, false, least - 1), EMSGSIZE);
  assert_int_equal(make_with(&r, false, least), 0);
  done(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(telemetry_is_a_message_in_either_order),
      cmocka_unit_test(a_command_is_its_payload_whatever_its_function_code),
      cmocka_unit_test(what_is_no_command_is_refused_by_its_cause),
      cmocka_unit_test(a_stream_finds_its_messages_behind_whatever_comes),
      cmocka_unit_test(a_message_that_is_too_long_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
