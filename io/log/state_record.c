#include "io/log/state_record.h"

#include <stdio.h>
#include <string.h>

#include "core/math/hash.h"

/* The first words of a record, in this order; the build follows. */
enum { MAGIC, FORM, WORDS, FRAME, STEP, LAYOUT, OF_PLANT, OF_LINKS, OF_LOOPS, BUILD };

static const char magic[8] = "ORRSTATE";

size_t orr_state_record_words(const struct orr_state_head *h) {
  return ORR_STATE_HEAD_WORDS + (size_t)(h->plant_words + h->link_words + h->loop_words) + 1;
}

void orr_state_record_seal(uint64_t *record, const struct orr_state_head *h) {
  size_t words = orr_state_record_words(h);
  char build[ORR_STATE_BUILD] = {0};
  snprintf(build, sizeof build, "%s", h->build);
  memcpy(&record[MAGIC], magic, sizeof magic);
  record[FORM] = ORR_STATE_FORM;
  record[WORDS] = words;
  record[FRAME] = (uint64_t)h->frame;
  record[STEP] = (uint64_t)h->step_ns;
  record[LAYOUT] = h->layout;
  record[OF_PLANT] = h->plant_words;
  record[OF_LINKS] = h->link_words;
  record[OF_LOOPS] = h->loop_words;
  memcpy(&record[BUILD], build, sizeof build);
  record[words - 1] = orr_hash_words(ORR_HASH_BEGIN, record, 8 * (words - 1));
}

/* Up to form 1 a state was a JSON object with this key. */
static bool is_old(const char *text, size_t size) {
  static const char key[] = "\"orrery_state\"";
  size_t length = sizeof key - 1;
  for (size_t i = 0; i + length <= size && i < 64; i++)
    if (memcmp(text + i, key, length) == 0)
      return true;
  return false;
}

enum orr_state_fault orr_state_record_open(const void *bytes, size_t size, struct orr_state_record *out) {
  uint64_t head[ORR_STATE_HEAD_WORDS], sum;
  if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
    return is_old(bytes, size) ? ORR_STATE_OLD : ORR_STATE_ALIEN;
  if (size < sizeof head + sizeof sum)
    return ORR_STATE_CUT;
  memcpy(head, bytes, sizeof head);
  if (head[FORM] != ORR_STATE_FORM)
    return ORR_STATE_OLD;
  uint64_t words = size / 8, left = words - ORR_STATE_HEAD_WORDS - 1;
  if (size % 8 || head[WORDS] != words)
    return ORR_STATE_CUT;
  memcpy(&sum, (const char *)bytes + size - sizeof sum, sizeof sum);
  if (orr_hash_words(ORR_HASH_BEGIN, bytes, size - sizeof sum) != sum || head[OF_PLANT] > left ||
      head[OF_LINKS] > left - head[OF_PLANT] || head[OF_LOOPS] != left - head[OF_PLANT] - head[OF_LINKS])
    return ORR_STATE_DAMAGED;
  *out = (struct orr_state_record){.head = {.frame = (int64_t)head[FRAME],
                                            .step_ns = (int64_t)head[STEP],
                                            .layout = head[LAYOUT],
                                            .plant_words = head[OF_PLANT],
                                            .link_words = head[OF_LINKS],
                                            .loop_words = head[OF_LOOPS]},
                                   .state = (const unsigned char *)bytes + sizeof head,
                                   .state_words = left};
  memcpy(out->head.build, &head[BUILD], sizeof out->head.build);
  out->head.build[sizeof out->head.build - 1] = '\0';
  return ORR_STATE_GOOD;
}

const char *orr_state_fault_text(enum orr_state_fault fault) {
  switch (fault) {
  case ORR_STATE_OLD:
    return "another version of Orrery saved it, in another form: save it anew with this one";
  case ORR_STATE_CUT:
    return "it is cut off, or something stands behind its end";
  case ORR_STATE_DAMAGED:
    return "it is damaged: its checksum does not fit";
  case ORR_STATE_ALIEN:
    return "it is not a state that orrery has saved";
  default:
    return "nothing";
  }
}
