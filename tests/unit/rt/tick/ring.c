/* The ring and the seqlock under a second thread. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/ring.h"
#include "rt/tick/seqlock.h"
#include "tests/support/clock.h"

struct message {
  uint64_t number;
  uint64_t check[5];
};

static void fill(struct message *m, uint64_t number) {
  m->number = number;
  for (unsigned i = 0; i < 5; i++)
    m->check[i] = number * 2654435761u + i;
}

static int whole(const struct message *m) {
  struct message want;
  fill(&want, m->number);
  return memcmp(&want, m, sizeof want) == 0;
}

static void only_powers_of_two_have_a_size(void **state) {
  (void)state;
  assert_int_equal(orr_ring_size(8, 24), 192);
  assert_int_equal(orr_ring_size(8, 21), 192);
  assert_int_equal(orr_ring_size(6, 24), 0);
  assert_int_equal(orr_ring_size(0, 24), 0);
  assert_int_equal(orr_ring_size(8, 0), 0);
  assert_int_equal(orr_ring_size((size_t)1 << 62, 64), 0);
}

static void a_full_ring_refuses_and_counts_and_then_takes_again(void **state) {
  (void)state;
  struct orr_ring ring;
  _Alignas(64) uint64_t memory[4];
  assert_true(orr_ring_init(&ring, memory, 4, 8));
  assert_null(orr_ring_peek(&ring));
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t *slot = orr_ring_claim(&ring);
    assert_non_null(slot);
    *slot = i;
    orr_ring_commit(&ring);
  }
  assert_null(orr_ring_claim(&ring));
  assert_null(orr_ring_claim(&ring));
  assert_int_equal(orr_ring_refused(&ring), 2);
  assert_int_equal(orr_ring_used(&ring), 4);
  for (uint64_t i = 0; i < 4; i++) {
    assert_int_equal(*(const uint64_t *)orr_ring_peek(&ring), i);
    orr_ring_release(&ring);
  }
  assert_null(orr_ring_peek(&ring));
  assert_non_null(orr_ring_claim(&ring));
}

/* Where two threads share a core with others, a message has to wait for its turn: then as many as go in some seconds.
 * */
enum { MESSAGES = 300000, FEWEST = 1000, SLOTS = 64, SECONDS = 5 };

struct flow {
  struct orr_ring ring;
  atomic_bool stop;
};

static void *produce(void *argument) {
  struct flow *flow = argument;
  for (uint64_t n = 0; n < MESSAGES && !atomic_load(&flow->stop);) {
    struct message *m = orr_ring_claim(&flow->ring);
    if (!m) {
      sched_yield();
      continue;
    }
    fill(m, n++);
    orr_ring_commit(&flow->ring);
  }
  return NULL;
}

static void messages_arrive_whole_and_in_order(void **state) {
  (void)state;
  struct flow flow = {0};
  void *memory = aligned_alloc(64, orr_ring_size(SLOTS, sizeof(struct message)));
  assert_true(orr_ring_init(&flow.ring, memory, SLOTS, sizeof(struct message)));
  pthread_t producer;
  assert_int_equal(pthread_create(&producer, NULL, produce, &flow), 0);
  int wrong = 0;
  double begin_s = now_s();
  for (uint64_t n = 0; n < FEWEST || (n < MESSAGES && now_s() - begin_s < SECONDS);) {
    const struct message *m = orr_ring_peek(&flow.ring);
    if (!m) {
      sched_yield();
      continue;
    }
    wrong += m->number != n || !whole(m);
    n++;
    orr_ring_release(&flow.ring);
  }
  atomic_store(&flow.stop, true);
  pthread_join(producer, NULL);
  assert_int_equal(wrong, 0);
  free(memory);
}

enum { WORDS = sizeof(struct message) / 8 };

struct shared {
  struct orr_seqlock lock;
  _Atomic uint64_t words[WORDS];
  _Atomic int stop;
};

static void *write_on(void *argument) {
  struct shared *s = argument;
  for (uint64_t n = 1; !s->stop; n++) {
    struct message m;
    uint64_t words[WORDS];
    fill(&m, n);
    memcpy(words, &m, sizeof words);
    orr_seqlock_store(&s->lock, s->words, words, WORDS);
  }
  return NULL;
}

static void a_reader_never_takes_a_torn_record(void **state) {
  (void)state;
  struct shared s = {0};
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, write_on, &s), 0);
  int wrong = 0, taken = 0, changed = 0;
  uint64_t last = 0;
  double begin_s = now_s(), took_s = 0;
  /* until enough records were seen to change under the reader: fewer where it shares a core with the writer */
  for (long tries = 0; changed <= 100 ? took_s < 60 : changed < 20000 && took_s < SECONDS; tries++) {
    struct message m;
    uint64_t words[WORDS];
    if (tries % 1000 == 999) {
      sched_yield();
      took_s = now_s() - begin_s;
    }
    if (!orr_seqlock_load(&s.lock, s.words, words, WORDS, 10))
      continue;
    memcpy(&m, words, sizeof m);
    if (m.number == 0)
      continue;
    taken++;
    changed += m.number != last;
    wrong += !whole(&m) || m.number < last;
    last = m.number;
  }
  s.stop = 1;
  pthread_join(writer, NULL);
  assert_true(taken > 0 && changed > 100);
  assert_int_equal(wrong, 0);
}

static void a_writer_that_died_inside_does_not_hang_the_reader(void **state) {
  (void)state;
  struct shared s = {.lock = {.sequence = 7}};
  uint64_t words[WORDS];
  assert_false(orr_seqlock_load(&s.lock, s.words, words, WORDS, 1000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_powers_of_two_have_a_size),
      cmocka_unit_test(a_full_ring_refuses_and_counts_and_then_takes_again),
      cmocka_unit_test(messages_arrive_whole_and_in_order),
      cmocka_unit_test(a_reader_never_takes_a_torn_record),
      cmocka_unit_test(a_writer_that_died_inside_does_not_hang_the_reader),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
