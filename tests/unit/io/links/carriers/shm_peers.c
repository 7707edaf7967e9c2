/* Peers of a link over shared memory that come, go, are replaced, and write what they should not: what each side makes
 * of it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client_carrier.h"
#include "io/links/carriers/shm.h"

/* A link without a run around it: two numbers out, one in. */
struct rig {
  struct orr_channel channels[2];
  struct orr_channel_table table;
  struct orr_layout layout;
  struct orr_layout_entry entries[3];
  struct orr_rules rules;
  uint64_t places[ORR_RULES_PLACES];
  struct orr_shm shm;
  char name[64], url[70];
};

static void lay_out(struct rig *r, const char *name) {
  static const int telemetry[] = {0}, commands[] = {1};
  memset(r, 0, sizeof *r);
  r->channels[0] = (struct orr_channel){.name = "s.all", .unit = "", .count = 2, .offset = 0};
  r->channels[1] = (struct orr_channel){
      .name = "a.all", .unit = "", .direction = ORR_CHANNEL_COMMAND, .count = 1, .low = -1, .high = 1, .offset = 2};
  r->table = (struct orr_channel_table){.channels = r->channels, .count = 2};
  orr_layout_init(&r->layout, r->entries, &r->table, telemetry, 1, commands, 1);
  orr_rules_init(&r->rules, &r->layout, 1, r->places);
  snprintf(r->name, sizeof r->name, "/orrery.peers.%d.%s", (int)getpid(), name);
  snprintf(r->url, sizeof r->url, "shm:%s", r->name);
}

static int start(struct rig *r) { return orr_shm_open(&r->shm, r->name, &r->layout, 1000000, 1); }

static void make(struct rig *r, const char *name) {
  lay_out(r, name);
  assert_int_equal(start(r), 0);
}

/* Frame `frame`, with numbers that are never zero. */
static void publish(struct rig *r, uint64_t frame) {
  const double values[3] = {3 + (double)frame, 4, 0};
  const uint64_t head[ORR_WIRE_OUT_WORDS] = {frame, frame * 1000000, ORR_WIRE_NONE, 0};
  uint64_t payload[4];
  orr_layout_pack(&r->layout.telemetry, values, payload);
  orr_rules_publish(&r->rules, (int64_t)frame);
  orr_shm_publish(&r->shm, head, payload);
}

static void a_peer_of_another_user_lives(void **state) {
  (void)state;
  struct rig r;
  int status;
  make(&r, "user");
  atomic_store(&r.shm.peer->generation, 1);
  pid_t child = fork();
  if (child == 0) { /* nobody may signal the first process but its owner */
    atomic_store(&r.shm.peer->pid, 1);
    _exit(geteuid() == 0 && setresuid(65534, 65534, 65534) != 0 ? 2 : !orr_shm_peer_lives(&r.shm));
  }
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  atomic_store(&r.shm.peer->pid, (uint32_t)child); /* that one is gone */
  assert_false(orr_shm_peer_lives(&r.shm));
  orr_shm_close(&r.shm);
}

static void *wait_for_a_frame(void *client) {
  static int got;
  got = orr_client_wait(client, ORR_CLIENT_FUTEX, 60000);
  return &got;
}

/* The one that was replaced passes its own sleep while the newer one is in its. Without a word there nobody would wake
 * that one. */
static void a_replaced_peer_does_not_take_the_wake_up_of_the_newer(void **state) {
  (void)state;
  struct rig r;
  struct orr_client old, newer;
  pthread_t thread;
  void *got;
  make(&r, "wake");
  publish(&r, 0);
  assert_int_equal(orr_client_open(&old, r.url, 0), 0);
  assert_int_equal(orr_client_wait(&old, ORR_CLIENT_SPIN, 1000), 1);
  publish(&r, 1);
  assert_int_equal(orr_client_open(&newer, r.url, 0), 0);
  assert_int_equal(orr_client_wait(&newer, ORR_CLIENT_SPIN, 1000), 1);
  assert_int_equal(pthread_create(&thread, NULL, wait_for_a_frame, &newer), 0);
  while (atomic_load(&r.shm.peer->waits) == 0)
    sched_yield();
  orr_client_shm_sleep(&old, 1);
  assert_int_not_equal(atomic_load(&r.shm.peer->waits), 0);
  publish(&r, 2);
  pthread_join(thread, &got);
  assert_int_equal(*(int *)got, 1);
  assert_int_equal(newer.frame.number, 2);
  assert_int_equal(atomic_load(&r.shm.peer->waits), 0);
  orr_client_close(&old);
  orr_client_close(&newer);
  orr_shm_close(&r.shm);
}

static void who_is_replaced_is_told_so_in_words(void **state) {
  (void)state;
  struct rig r;
  struct orr_client old, newer;
  make(&r, "words");
  assert_int_equal(orr_client_open(&old, r.url, 0), 0);
  assert_int_equal(orr_client_open(&newer, r.url, 0), 0);
  assert_string_equal(orr_client_why(orr_client_wait(&old, ORR_CLIENT_SPIN, 1000)), "another peer has taken our place");
  orr_client_close(&old);
  orr_shm_end(&r.shm);
  assert_string_equal(orr_client_why(orr_client_wait(&newer, ORR_CLIENT_SPIN, 1000)), "the run is over");
  orr_client_close(&newer);
  orr_shm_close(&r.shm);
}

/* Between its stores of `awaited` and `published` the executive is one ahead of what it has published. */
static void a_peer_that_joins_during_a_publication_begins_with_a_frame_that_was_published(void **state) {
  (void)state;
  struct rig r;
  struct orr_client c;
  make(&r, "joins");
  publish(&r, 0);
  assert_int_equal(orr_client_open(&c, r.url, 0), 0);
  c.seen = 2; /* as one has it that came while awaited was 3 */
  atomic_store(&r.shm.run->awaited, 3);
  assert_int_equal(orr_client_shm_look(&c), 1);
  assert_int_equal(c.frame.number, 0);
  assert_true(orr_client_get(&c, orr_client_find(&c, "s.all"), 0) == 3);
  orr_client_close(&c);
  orr_shm_close(&r.shm);
}

static void a_slot_that_was_never_written_is_not_whole(void **state) {
  (void)state;
  _Atomic uint64_t slot[8] = {0};
  const uint64_t in[2] = {5, 6};
  uint64_t head[1], payload[1];
  assert_false(orr_wire_slot_read(slot, head, 1, payload, 1));
  orr_wire_slot_write(slot, in, 1, in + 1, 1);
  assert_true(orr_wire_slot_read(slot, head, 1, payload, 1));
  assert_int_equal(payload[0], 6);
}

/* Opens a leftover as soon as the pipe is closed, and tells the errno by its exit status. Who has it keeps it until the
 * second pipe is closed. */
static pid_t contend(struct rig *r, const int *go, const int *end, int result) {
  pid_t child = fork();
  if (child != 0)
    return child;
  char byte;
  close(go[1]);
  close(end[1]);
  bool woken = read(go[0], &byte, 1) == 0;
  int error = woken ? start(r) : EIO;
  if (write(result, &error, sizeof error) != sizeof error || read(end[0], &byte, 1) != 0)
    _exit(1);
  if (!error)
    orr_shm_close(&r->shm);
  _exit(0);
}

/* Who loses waits for a tenth of a second before it says so: many pairs do so at the same time. */
enum { SIDE_BY_SIDE = 15 };
struct race {
  struct rig rig;
  int result[2];
  pid_t runs[2];
};

static void race_begins(struct race *r, int number, const int *go, const int *end) {
  char name[16];
  snprintf(name, sizeof name, "race%d", number);
  lay_out(&r->rig, name);
  int fd = shm_open(r->rig.name, O_CREAT | O_RDWR, 0600);
  assert_int_equal(ftruncate(fd, 64), 0);
  close(fd);
  assert_int_equal(pipe(r->result), 0);
  for (int k = 0; k < 2; k++)
    r->runs[k] = contend(&r->rig, go, end, r->result[1]);
}

static void one_has_won(const struct race *r) {
  int errors[2];
  for (int k = 0; k < 2; k++)
    assert_int_equal(read(r->result[0], &errors[k], sizeof errors[k]), sizeof errors[k]);
  close(r->result[0]);
  close(r->result[1]);
  assert_int_equal(errors[0] ? errors[0] : errors[1], EEXIST);
  assert_int_equal(errors[0] && errors[1], 0);
}

static void race_is_over(const struct race *r) {
  int status;
  for (int k = 0; k < 2; k++) {
    assert_int_equal(waitpid(r->runs[k], &status, 0), r->runs[k]);
    assert_int_equal(status, 0);
  }
  assert_int_equal(shm_open(r->rig.name, O_RDWR, 0), -1); /* and its owner removed it */
}

static void of_two_runs_that_find_one_leftover_one_takes_its_place(void **state) {
  (void)state;
  enum { ROUNDS = 20 };
  for (int round = 0; round < ROUNDS; round++) {
    static struct race races[SIDE_BY_SIDE];
    int go[2], end[2];
    assert_int_equal(pipe(go) | pipe(end), 0);
    for (int i = 0; i < SIDE_BY_SIDE; i++)
      race_begins(&races[i], i, go, end);
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < SIDE_BY_SIDE; i++)
      one_has_won(&races[i]);
    close(end[0]);
    close(end[1]);
    for (int i = 0; i < SIDE_BY_SIDE; i++)
      race_is_over(&races[i]);
  }
}

/* Called in place of the C library's before a name is unlinked, where it is set. */
static void (*before_unlink)(void);

int shm_unlink(const char *name) {
  char path[100];
  if (before_unlink)
    before_unlink();
  snprintf(path, sizeof path, "/dev/shm%s", name);
  return unlink(path);
}

static struct {
  const char *url;
  int asked, status;
} newcomer;

static void a_peer_comes(void) {
  struct orr_client c;
  newcomer.asked++;
  newcomer.status = orr_client_open(&c, newcomer.url, 0);
  orr_client_close(&c);
}

/* The next run has the leftover locked, and has not yet unlinked it. */
static void a_leftover_is_no_run_while_the_next_clears_it_away(void **state) {
  (void)state;
  struct rig r;
  lay_out(&r, "corpse");
  pid_t child = fork();
  if (child == 0)
    _exit(start(&r)); /* without an end */
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  newcomer.url = r.url;
  newcomer.asked = 0;
  before_unlink = a_peer_comes;
  int error = start(&r);
  before_unlink = NULL;
  assert_int_equal(error, 0);
  assert_int_equal(newcomer.asked, 1);
  assert_int_equal(newcomer.status, -ENOENT);
  orr_shm_close(&r.shm);
}

/* Another run that clears the same leftover away has locks for a moment. */
static int held_until_a_nap = -1;
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left) {
  if (held_until_a_nap >= 0)
    close(held_until_a_nap);
  held_until_a_nap = -1;
  return syscall(SYS_clock_nanosleep, clock, flags, until, left) == 0 ? 0 : errno;
}

static void a_lock_for_a_moment_is_not_another_run(void **state) {
  (void)state;
  struct rig r;
  lay_out(&r, "moment");
  int fd = shm_open(r.name, O_CREAT | O_RDWR, 0600);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
  assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
  held_until_a_nap = fd;
  assert_int_equal(start(&r), 0);
  assert_int_equal(held_until_a_nap, -1); /* it has waited */
  orr_shm_close(&r.shm);
}

static void the_end_of_a_run_leaves_a_segment_that_took_its_name_alone(void **state) {
  (void)state;
  struct rig r, other;
  make(&r, "removed");
  shm_unlink(r.name);
  make(&other, "removed");
  orr_shm_close(&r.shm);
  int fd = shm_open(other.name, O_RDWR, 0);
  assert_true(fd >= 0);
  close(fd);
  orr_shm_close(&other.shm);
  assert_int_equal(shm_open(other.name, O_RDWR, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_peer_of_another_user_lives),
      cmocka_unit_test(a_replaced_peer_does_not_take_the_wake_up_of_the_newer),
      cmocka_unit_test(a_peer_that_joins_during_a_publication_begins_with_a_frame_that_was_published),
      cmocka_unit_test(who_is_replaced_is_told_so_in_words),
      cmocka_unit_test(a_slot_that_was_never_written_is_not_whole),
      cmocka_unit_test(of_two_runs_that_find_one_leftover_one_takes_its_place),
      cmocka_unit_test(a_leftover_is_no_run_while_the_next_clears_it_away),
      cmocka_unit_test(a_lock_for_a_moment_is_not_another_run),
      cmocka_unit_test(the_end_of_a_run_leaves_a_segment_that_took_its_name_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
