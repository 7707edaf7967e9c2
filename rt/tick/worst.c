#include "rt/tick/worst.h"

#include <stdlib.h>
#include <string.h>

enum { READ_TRIES = 100 };

static void put(struct orr_worst *worst, size_t i, const struct orr_frame_record *record) {
  uint64_t words[ORR_RECORD_WORDS];
  memcpy(words, record, sizeof words);
  orr_seqlock_store(&worst->entry[i].lock, worst->entry[i].words, words, ORR_RECORD_WORDS);
  worst->response_ns[i] = record->end_ns;
}

static uint64_t find_least(const struct orr_worst *worst) {
  uint64_t least = 0;
  for (uint64_t i = 1; i < ORR_WORST_COUNT; i++)
    if (worst->response_ns[i] < worst->response_ns[least])
      least = i;
  return least;
}

void orr_worst_add(struct orr_worst *worst, const struct orr_frame_record *record) {
  if (worst->used < ORR_WORST_COUNT) {
    put(worst, worst->used++, record);
    if (worst->used == ORR_WORST_COUNT)
      worst->least = find_least(worst);
  } else if (record->end_ns > worst->response_ns[worst->least]) {
    put(worst, worst->least, record);
    worst->least = find_least(worst);
  }
}

void orr_worst_copy(const struct orr_worst *worst, struct orr_worst *to) {
  for (size_t i = 0; i < ORR_WORST_COUNT; i++) {
    uint64_t words[ORR_RECORD_WORDS];
    const struct orr_seqlock *lock = &worst->entry[i].lock;
    if (lock->sequence != 0 && orr_seqlock_load(lock, worst->entry[i].words, words, ORR_RECORD_WORDS, READ_TRIES))
      orr_seqlock_store(&to->entry[i].lock, to->entry[i].words, words, ORR_RECORD_WORDS);
  }
}

static int by_response(const void *a, const void *b) {
  const struct orr_frame_record *x = a, *y = b;
  if (x->end_ns != y->end_ns)
    return x->end_ns > y->end_ns ? -1 : 1;
  return x->frame < y->frame ? -1 : x->frame > y->frame;
}

size_t orr_worst_read(const struct orr_worst *worst, struct orr_frame_record *records) {
  size_t count = 0;
  for (size_t i = 0; i < ORR_WORST_COUNT; i++) {
    uint64_t words[ORR_RECORD_WORDS];
    const struct orr_seqlock *lock = &worst->entry[i].lock;
    /* a sequence of 0 was never written */
    if (lock->sequence != 0 && orr_seqlock_load(lock, worst->entry[i].words, words, ORR_RECORD_WORDS, READ_TRIES))
      memcpy(&records[count++], words, sizeof words);
  }
  qsort(records, count, sizeof *records, by_response);
  return count;
}
