/* io/log/mcap_write against io/log/mcap_read, with chunks as they are and made smaller: what goes in comes out; a file
 * that is cut anywhere is readable to its last whole chunk; a byte that is wrong is noticed; and a little file byte by
 * byte as the specification has it. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/log/log_view.h"
#include "io/log/mcap_write.h"

enum { ROOM = 1 << 16, CHUNKS = 5, MESSAGES = 7 };

struct made {
  struct orr_crc32 crc;
  struct orr_unpacker unpacker;
  struct orr_mcap_index index;
  struct orr_mcap_bytes out;
  uint8_t bytes[ROOM], lists[ORR_MCAP_LISTS][4096], records[4096];
  struct orr_mcap_entry entries[64];
  size_t ends[CHUNKS + 1]; /* of the chunks, without their indexes; [0] of what stands before them */
};

static void make_head(struct made *m) {
  const struct orr_mcap_schema schema = {3, {"orrery/msg/Gyro", 15}, {"ros2msg", 7}, {"float64 rate\n", 13}};
  const struct orr_mcap_pair pair = {{"rate.unit", 9}, {"rad/s", 5}};
  const struct orr_mcap_attachment attachment = {
      .name = {"run.yaml", 8}, .media_type = {"t", 1}, .data = {"orrery: 1", 9}};
  orr_mcap_begin(&m->out, "", "orrery");
  orr_mcap_write_schema(&m->out, &m->index, &schema);
  for (uint16_t c = 1; c <= 2; c++) {
    const struct orr_mcap_channel channel = {c, 3, {c == 1 ? "/a" : "/b", 2}, {"cdr", 3}, {NULL, 0}};
    orr_mcap_write_channel(&m->out, &m->index, &channel, &pair, 1);
  }
  orr_mcap_write_metadata(&m->out, &m->index, "orrery", &pair, 1);
  orr_mcap_write_attachment(&m->out, &m->index, &m->crc, &attachment);
}

static void unmake(struct made *m) {
  orr_unpacker_free(&m->unpacker);
  free(m);
}

static struct made *make(bool zstd) {
  struct orr_packer *packer = zstd ? orr_packer_create() : NULL;
  struct made *m = calloc(1, sizeof *m);
  assert_non_null(m);
  orr_crc32_init(&m->crc);
  m->out = (struct orr_mcap_bytes){.bytes = m->bytes, .room = ROOM};
  for (int i = 0; i < ORR_MCAP_LISTS; i++)
    m->index.lists[i] = (struct orr_mcap_bytes){.bytes = m->lists[i], .room = sizeof m->lists[i]};
  struct orr_mcap_chunk chunk = {
      .records = {.bytes = m->records, .room = sizeof m->records}, .entries = m->entries, .entry_room = 64};
  make_head(m);
  m->ends[0] = m->out.used;
  for (uint64_t k = 0; k < CHUNKS; k++) {
    for (uint64_t i = 0; i < MESSAGES; i++) {
      const struct orr_mcap_message message = {
          .channel = i % 3 ? 1 : 2, .sequence = (uint32_t)i, .log_ns = 100 * k + i, .publish_ns = i, .size = 8};
      uint8_t *data = orr_mcap_chunk_message(&chunk, &message);
      assert_non_null(data);
      memset(data, (int)(16 * k + i), 8);
    }
    struct orr_mcap_text stored = {(const char *)chunk.records.bytes, chunk.records.used};
    if (zstd)
      stored = orr_pack(packer, chunk.records.bytes, chunk.records.used);
    size_t content = (zstd ? 44u : 40u) + stored.size;
    m->ends[k + 1] = m->out.used + ORR_MCAP_HEAD_BYTES + content;
    assert_true(orr_mcap_chunk_close(&chunk, &m->out, &m->index, &m->crc, zstd ? "zstd" : "", &stored));
  }
  orr_packer_destroy(packer);
  orr_mcap_finish(&m->out, &m->index, &m->crc);
  assert_false(m->out.full);
  return m;
}

/* Messages that the walk gives, each judged. */
static size_t walk(struct made *m, size_t size, enum orr_walk_end *end) {
  struct orr_walk_tables *tables = calloc(1, sizeof *tables);
  uint8_t *exact = malloc(size + 1); /* so that the sanitizer sees a byte beyond */
  struct orr_walk w;
  struct orr_walk_item item;
  size_t messages = 0;
  assert_true(tables && exact);
  memcpy(exact, m->bytes, size);
  bool begun = orr_walk_start(&w, tables, &m->unpacker, &m->crc, exact, size);
  while (begun && orr_walk_next(&w, &item)) {
    if (item.kind != ORR_WALK_MESSAGE)
      continue;
    uint64_t k = messages / MESSAGES, i = messages % MESSAGES;
    assert_int_equal(item.message.log_ns, 100 * k + i);
    assert_int_equal(item.message.channel, i % 3 ? 1 : 2);
    assert_int_equal(item.message.size, 8);
    assert_int_equal(item.message.data[7], 16 * k + i);
    messages++;
  }
  *end = begun ? w.end : ORR_WALK_CUT;
  free(exact);
  free(tables);
  return messages;
}

static void check_what_goes_in(bool zstd) {
  struct made *m = make(zstd);
  enum orr_walk_end end;
  struct orr_mcap_extent extent;
  assert_int_equal(walk(m, m->out.used, &end), CHUNKS * MESSAGES);
  assert_int_equal(end, ORR_WALK_COMPLETE);
  assert_true(orr_mcap_measure(m->bytes, m->out.used, &m->unpacker, &m->crc, &extent));
  assert_true(extent.complete && !extent.damaged && extent.chunks == CHUNKS);
  unmake(m);
}

static void check_cuts(bool zstd) {
  struct made *m = make(zstd);
  for (size_t size = 0; size < m->out.used; size++) {
    size_t whole = 0;
    enum orr_walk_end end;
    struct orr_mcap_extent extent;
    while (whole < CHUNKS && m->ends[whole + 1] <= size)
      whole++;
    assert_int_equal(walk(m, size, &end), whole * MESSAGES);
    if (size < m->ends[0])
      continue;
    assert_true(orr_mcap_measure(m->bytes, size, &m->unpacker, &m->crc, &extent));
    assert_int_equal(extent.chunks, whole);
    assert_int_equal(extent.end, m->ends[whole]);
    assert_false(extent.complete || extent.damaged);
  }
  unmake(m);
}

static void check_wrong_bytes(bool zstd) {
  struct made *m = make(zstd);
  for (size_t at = m->ends[2] - (zstd ? 60 : 200); at < m->ends[2]; at++) {
    enum orr_walk_end end;
    struct orr_mcap_extent extent;
    m->bytes[at] ^= 16;
    assert_int_equal(walk(m, m->out.used, &end), MESSAGES);
    assert_int_equal(end, ORR_WALK_DAMAGED);
    assert_true(orr_mcap_measure(m->bytes, m->out.used, &m->unpacker, &m->crc, &extent));
    assert_true(extent.damaged && extent.chunks == 1);
    m->bytes[at] ^= 16;
  }
  unmake(m);
}

static void what_goes_in_comes_out(void **state) {
  (void)state;
  check_what_goes_in(false);
  check_what_goes_in(true);
}

static void a_file_that_is_cut_anywhere_is_readable_to_its_last_whole_chunk(void **state) {
  (void)state;
  check_cuts(false);
  check_cuts(true);
}

static void a_wrong_byte_in_a_chunk_is_noticed(void **state) {
  (void)state;
  check_wrong_bytes(false);
  check_wrong_bytes(true);
}

/* A chunk that says of itself what is not so: damaged; one of another compression: not known, and nobody's fault. */
static void a_chunk_holds_just_what_it_says(void **state) {
  (void)state;
  static const uint8_t bytes[1000] = {1, 2, 3};
  struct orr_crc32 crc;
  struct orr_unpacker unpacker = {0};
  struct orr_packer *packer = orr_packer_create();
  struct orr_mcap_text out;
  orr_crc32_init(&crc);
  struct orr_mcap_chunk_head c = {.uncompressed_size = sizeof bytes,
                                  .crc = orr_crc32(&crc, 0, bytes, sizeof bytes),
                                  .compression = {"zstd", 4},
                                  .records = orr_pack(packer, bytes, sizeof bytes)};
  assert_true(c.records.size < 100);
  assert_int_equal(orr_unpack(&unpacker, &c, &crc, &out), ORR_UNPACKED);
  assert_int_equal(out.size, sizeof bytes);
  assert_memory_equal(out.text, bytes, sizeof bytes);
  const uint64_t sizes[] = {sizeof bytes - 1, sizeof bytes + 1, 0, ORR_UNPACK_MAX + UINT64_C(1), UINT64_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    c.uncompressed_size = sizes[i];
    assert_int_equal(orr_unpack(&unpacker, &c, &crc, &out), ORR_UNPACK_DAMAGED);
  }
  c.uncompressed_size = sizeof bytes;
  c.crc ^= 1;
  assert_int_equal(orr_unpack(&unpacker, &c, &crc, &out), ORR_UNPACK_DAMAGED);
  c.compression = (struct orr_mcap_text){"lz4", 3};
  assert_int_equal(orr_unpack(&unpacker, &c, &crc, &out), ORR_UNPACK_UNKNOWN);
  orr_packer_destroy(packer);
  orr_unpacker_free(&unpacker);
}

/* Each index of a chunk leads to the chunk, each entry of a message index to a message of its channel and time. */
static void indexes_lead_where_they_say(void **state) {
  (void)state;
  struct made *m = make(false);
  struct orr_mcap_reader r;
  struct orr_mcap_record record, chunk_record;
  struct orr_mcap_chunk_head head = {0};
  struct orr_mcap_message message = {0};
  size_t seen = 0, indexes = 0;
  assert_true(orr_mcap_start(&r, m->bytes, m->out.used));
  while (orr_mcap_next(&r, &record) == ORR_MCAP_NEXT_RECORD) {
    struct orr_mcap_chunk_index index;
    if (record.op == ORR_MCAP_CHUNK)
      assert_true(orr_mcap_read_chunk(&record, &head));
    if (record.op == ORR_MCAP_CHUNK_INDEX) {
      assert_true(orr_mcap_read_chunk_index(&record, &index));
      assert_true(orr_mcap_at(&r, index.at, &chunk_record));
      assert_int_equal(chunk_record.op, ORR_MCAP_CHUNK);
      assert_int_equal(chunk_record.size + ORR_MCAP_HEAD_BYTES, index.size);
      indexes++;
    }
    if (record.op != ORR_MCAP_MESSAGE_INDEX)
      continue;
    uint16_t channel;
    memcpy(&channel, record.content, 2);
    for (size_t at = 6; at < record.size; at += 16, seen++) {
      uint64_t entry[2];
      memcpy(entry, record.content + at, 16);
      struct orr_mcap_reader records;
      orr_mcap_start_records(&records, (const uint8_t *)head.records.text, head.records.size);
      assert_true(orr_mcap_at(&records, entry[1], &chunk_record) && orr_mcap_read_message(&chunk_record, &message));
      assert_true(message.channel == channel && message.log_ns == entry[0]);
    }
  }
  assert_int_equal(seen, CHUNKS * MESSAGES);
  assert_int_equal(indexes, CHUNKS);
  free(m);
}

/* mcap.dev/spec: magic; header 01, 8 bytes of length, two texts; data end 0f with 4 bytes; statistics 0b; a summary
 * offset 0e; footer 02 with 20 bytes; magic. */
static void an_empty_file_is_as_the_specification_has_it(void **state) {
  (void)state;
  static const uint8_t expected[] = {
      0x89, 'M', 'C', 'A', 'P', 0x30, '\r', '\n', 0x01, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0,    1,   0,   0,   0,   'x',  0x0f, 4,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* data end */
      0x0b, 46,  0,   0,   0,   0,    0,    0,    0};
  struct made *m = calloc(1, sizeof *m);
  assert_non_null(m);
  orr_crc32_init(&m->crc);
  m->out = (struct orr_mcap_bytes){.bytes = m->bytes, .room = ROOM};
  orr_mcap_begin(&m->out, "", "x");
  orr_mcap_finish(&m->out, &m->index, &m->crc);
  assert_memory_equal(m->bytes, expected, sizeof expected);
  size_t statistics = sizeof expected - 9, offset = statistics + 9 + 46, footer = offset + 9 + 17;
  assert_int_equal(m->bytes[offset], 0x0e);
  assert_int_equal(m->bytes[offset + 9], 0x0b);
  assert_int_equal(m->bytes[footer], 0x02);
  assert_int_equal(m->bytes[footer + 9], statistics);
  assert_int_equal(m->bytes[footer + 17], offset);
  uint32_t crc;
  memcpy(&crc, m->bytes + footer + 25, 4);
  assert_int_equal(crc, orr_crc32(&m->crc, 0, m->bytes + statistics, footer + 25 - statistics));
  assert_memory_equal(m->bytes + footer + 29, expected, 8);
  assert_int_equal(m->out.used, footer + 37);
  free(m);
}

static void what_finds_no_room_is_left_out_whole(void **state) {
  (void)state;
  struct made *m = calloc(1, sizeof *m);
  assert_non_null(m);
  orr_crc32_init(&m->crc);
  struct orr_mcap_chunk chunk = {
      .records = {.bytes = m->records, .room = 100}, .entries = m->entries, .entry_room = 64};
  const struct orr_mcap_message message = {.channel = 1, .size = 10};
  assert_non_null(orr_mcap_chunk_message(&chunk, &message));
  assert_non_null(orr_mcap_chunk_message(&chunk, &message));
  assert_null(orr_mcap_chunk_message(&chunk, &message));
  size_t size = orr_mcap_chunk_size(&chunk, chunk.records.used);
  m->index.lists[ORR_MCAP_LIST_CHUNKS] = (struct orr_mcap_bytes){.bytes = m->lists[0], .room = sizeof m->lists[0]};
  m->out = (struct orr_mcap_bytes){.bytes = m->bytes, .room = size - 9};
  assert_false(orr_mcap_chunk_close(&chunk, &m->out, &m->index, &m->crc, "", NULL));
  assert_true(m->out.used == 0 && chunk.entry_count == 2 && m->index.statistics.chunks == 0);
  m->out.room = size;
  assert_true(orr_mcap_chunk_close(&chunk, &m->out, &m->index, &m->crc, "", NULL));
  assert_true(m->out.used <= size && chunk.entry_count == 0 && m->index.statistics.messages == 2);
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_goes_in_comes_out),
      cmocka_unit_test(a_file_that_is_cut_anywhere_is_readable_to_its_last_whole_chunk),
      cmocka_unit_test(a_wrong_byte_in_a_chunk_is_noticed),
      cmocka_unit_test(a_chunk_holds_just_what_it_says),
      cmocka_unit_test(indexes_lead_where_they_say),
      cmocka_unit_test(an_empty_file_is_as_the_specification_has_it),
      cmocka_unit_test(what_finds_no_room_is_left_out_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
