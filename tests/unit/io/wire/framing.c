/* Packets in a stream (io/wire/framing): whatever they hold, and however the stream comes, they come out as they went
 * in; and what was lost or changed costs the packets that it hit, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/wire/framing.h"
#include "tests/support/prng.h"

enum { PACKETS = 400, MOST = 700 };

static const enum orr_framing framings[] = {ORR_FRAMING_COBS, ORR_FRAMING_SLIP};

static void a_frame_has_its_end_at_its_ends_alone(void **state) {
  (void)state;
  uint8_t packet[MOST], out[ORR_FRAMING_MOST];
  struct orr_prng prng = {7};
  for (int f = 0; f < 2; f++)
    for (int k = 0; k < PACKETS; k++) {
      size_t bytes = 1 + prng_next(&prng) % MOST;
      for (size_t i = 0; i < bytes; i++)
        packet[i] = k % 3 == 0 ? 0 : k % 3 == 1 ? (uint8_t)(0xc0 + i % 30) : (uint8_t)prng_next(&prng);
      size_t n = orr_frame_write(framings[f], packet, bytes, out);
      uint8_t end = f ? 0xc0 : 0;
      assert_true(n <= ORR_FRAMING_MOST && out[0] == end && out[n - 1] == end);
      assert_null(memchr(out + 1, end, n - 2));
      /* COBS adds a byte for each 254, and one; SLIP a byte for each that is escaped */
      assert_true(f || n <= bytes + 4 + (bytes + 4) / 254 + 3);
    }
}

/* The published example of COBS: 11 22 00 33 is 03 11 22 02 33. The sum stands behind. */
static void cobs_codes_as_its_paper_says(void **state) {
  (void)state;
  static const uint8_t packet[] = {0x11, 0x22, 0x00, 0x33}, begins[] = {0x00, 0x03, 0x11, 0x22};
  uint8_t out[ORR_FRAMING_MOST];
  orr_frame_write(ORR_FRAMING_COBS, packet, sizeof packet, out);
  assert_memory_equal(out, begins, sizeof begins);
  uint8_t longest[254], coded[ORR_FRAMING_MOST];
  memset(longest, 1, sizeof longest);
  orr_frame_write(ORR_FRAMING_COBS, longest, sizeof longest, coded);
  assert_int_equal(coded[1], 0xff); /* a block of 254 bytes stands for no zero */
  static const uint8_t escaped[] = {0xc0, 0xdb}, slip[] = {0xc0, 0xdb, 0xdc, 0xdb, 0xdd};
  orr_frame_write(ORR_FRAMING_SLIP, escaped, sizeof escaped, out);
  assert_memory_equal(out, slip, sizeof slip);
}

struct stream {
  uint8_t bytes[PACKETS * 2 * (MOST + 8)];
  size_t size;
  size_t ends[PACKETS]; /* of each packet's frame */
};

static void packet_of(int k, uint8_t packet[MOST], size_t *bytes) {
  struct orr_prng prng = {(uint64_t)k * 77 + 1};
  *bytes = 1 + prng_next(&prng) % MOST;
  for (size_t i = 0; i < *bytes; i++)
    packet[i] = k % 4 ? (uint8_t)prng_next(&prng) : (uint8_t)(prng_next(&prng) % 3 * 0xc0);
}

static struct stream *stream_of(enum orr_framing framing) {
  struct stream *s = calloc(1, sizeof *s);
  uint8_t packet[MOST];
  size_t bytes;
  assert_non_null(s);
  for (int k = 0; k < PACKETS; k++) {
    packet_of(k, packet, &bytes);
    s->size += orr_frame_write(framing, packet, bytes, s->bytes + s->size);
    s->ends[k] = s->size;
  }
  return s;
}

/* Reads a stream; returns how many of the packets came out, in order, and asserts that nothing else did. */
static int come_out(enum orr_framing framing, const struct stream *s, int *bad) {
  struct orr_deframer d = {.framing = framing};
  uint8_t packet[MOST];
  size_t bytes;
  int next = 0, came = 0;
  for (size_t i = 0; i < s->size; i++) {
    int n = orr_frame_read(&d, s->bytes[i]);
    *bad += n < 0;
    if (n <= 0)
      continue;
    do {
      assert_true(next < PACKETS);
      packet_of(next++, packet, &bytes);
    } while (bytes != (size_t)n || memcmp(packet, d.bytes, bytes) != 0);
    came++;
  }
  return came;
}

static void packets_come_out_as_they_went_in(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    struct stream *s = stream_of(framings[f]);
    int bad = 0;
    assert_int_equal(come_out(framings[f], s, &bad), PACKETS);
    assert_int_equal(bad, 0);
    free(s);
  }
}

/* A byte changed, lost or doubled costs two packets at most: the one that it stands in, and, where an end went, the
 * next. */
static void what_is_hit_is_lost_and_nothing_else(void **state) {
  (void)state;
  enum { HITS = 30, KINDS = 3 };
  for (int f = 0; f < 2; f++)
    for (int kind = 0; kind < KINDS; kind++) {
      struct stream *s = stream_of(framings[f]);
      struct orr_prng prng = {(uint64_t)kind + 5};
      int bad = 0;
      for (int i = 0; i < HITS; i++) {
        size_t at = prng_next(&prng) % s->size;
        if (kind == 0)
          s->bytes[at] ^= (uint8_t)(1 << prng_next(&prng) % 8);
        else
          memmove(s->bytes + at + (kind == 2), s->bytes + at + (kind == 1), s->size - at - 1);
        s->size -= kind == 1;
      }
      int came = come_out(framings[f], s, &bad);
      assert_in_range(came, PACKETS - 2 * HITS, PACKETS - 1);
      assert_in_range(bad, 1, 2 * HITS);
      free(s);
    }
}

static void what_is_too_long_is_no_frame(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    struct orr_deframer d = {.framing = framings[f]};
    for (int i = 0; i < 3 * ORR_FRAMED_MOST; i++)
      assert_int_equal(orr_frame_read(&d, 1), 0);
    assert_int_equal(orr_frame_read(&d, f ? 0xc0 : 0), -1);
    assert_int_equal(orr_frame_read(&d, f ? 0xc0 : 0), 0); /* and nothing is no frame */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_frame_has_its_end_at_its_ends_alone), cmocka_unit_test(cobs_codes_as_its_paper_says),
      cmocka_unit_test(packets_come_out_as_they_went_in),      cmocka_unit_test(what_is_hit_is_lost_and_nothing_else),
      cmocka_unit_test(what_is_too_long_is_no_frame),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
