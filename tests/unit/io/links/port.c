/* A run with flight software outside over shared memory: the client library and io/session/session in one process.
 * What a link makes of a peer that is hostile, dies or is stopped is in port_faults.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client.h"
#include "io/links/carriers/shm.h"
#include "tests/support/flight.h"

static const char pattern[] = ORR_FLIGHT_CRAFT
    "links: {fsw: {transport: shm, name: %s, rate: 10 Hz, telemetry: [gyro.*], commands: ['*.torque', jet.on_time]}}\n";

struct rig {
  struct orr_flight flight;
  struct orr_port *port;
  char name[64], url[70];
};

static struct rig make(const char *name) {
  struct rig r;
  char text[2000], message[200];
  snprintf(r.name, sizeof r.name, "/orrery.test.%d.%s", (int)getpid(), name);
  snprintf(r.url, sizeof r.url, "shm:%s", r.name);
  snprintf(text, sizeof text, pattern, r.name);
  r.flight = orr_flight_make(text, NULL);
  assert_true(orr_session_open_links(r.flight.session, false, NULL, message, sizeof message));
  r.port = r.flight.session->links[0].outside;
  return r;
}

static void done(struct rig *r) { orr_flight_free(&r->flight); }

/* One frame of the link: ten of the run. */
static void fly(struct rig *r) { orr_flight_run(&r->flight, 10); }

static uint64_t refused(const struct rig *r, enum orr_refusal why) { return r->port->rules.counts.refused[why]; }

static void answer(struct orr_client *c, double torque) {
  assert_int_equal(orr_client_wait(c, ORR_CLIENT_SPIN, 1000), 1);
  assert_true(orr_client_set(c, orr_client_find(c, "wheel.torque"), 0, torque));
  assert_int_equal(orr_client_send(c), 0);
}

static double torque(const struct rig *r) { return orr_flight_value(&r->flight, "wheel.torque"); }

static void the_segment_describes_itself_and_is_its_owners_alone(void **state) {
  (void)state;
  struct rig r = make("describe");
  struct orr_client c;
  struct stat status;
  char path[90];
  snprintf(path, sizeof path, "/dev/shm%s", r.name);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(orr_client_open(&c, r.url, 0), 0);
  struct orr_signal rate = orr_client_find(&c, "gyro.rate"), on = orr_client_find(&c, "jet.on_time");
  assert_int_equal(rate.count, 3);
  assert_int_equal(on.count, 1);
  assert_int_equal(orr_client_find(&c, "gyro.rat").count, 0);
  assert_int_equal(orr_client_find(&c, "gyro.saturated").type, ORR_WIRE_FLAG);
  assert_string_equal(orr_client_name(&c, 0), "gyro.rate");
  assert_string_equal(orr_client_unit(&c, 0), "rad/s");
  assert_int_equal(c.step_ns, 10000000);
  assert_int_equal(c.divisor, 10);
  fly(&r);
  assert_int_equal(orr_client_wait(&c, ORR_CLIENT_POLL, 100), 1);
  assert_int_equal(c.frame.number, 0);
  assert_true(c.frame.answered == ORR_WIRE_NONE);
  assert_true(fabs(orr_client_get(&c, rate, 2) - 0.1) < 1e-12);
  assert_true(isnan(orr_client_get(&c, rate, 3)));
  assert_false(orr_client_set(&c, rate, 0, 1));
  fly(&r);
  assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 100), 1);
  assert_int_equal(c.frame.number, 10);
  assert_int_equal(c.frame.time_ns, 100000000);
  assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 20), 0);
  orr_client_close(&c);
  done(&r);
  assert_int_equal(stat(path, &status), -1);
}

static void a_command_is_applied_one_frame_later_and_the_frame_out_says_which(void **state) {
  (void)state;
  struct rig r = make("apply");
  struct orr_client c;
  assert_int_equal(orr_client_open(&c, r.url, 0), 0);
  assert_int_equal(orr_client_send(&c), -EAGAIN);
  fly(&r);
  answer(&c, 0.05);
  assert_true(torque(&r) == 0);
  orr_flight_run(&r.flight, 1);
  assert_true(torque(&r) == 0.05);
  orr_flight_run(&r.flight, 9);
  answer(&c, 0.06);
  fly(&r);
  answer(&c, 0.07);
  assert_int_equal(c.frame.number, 20);
  assert_int_equal(c.frame.answered, 0); /* what was applied before frame 20 went out: the answer to 0, at frame 10 */
  assert_int_equal(r.port->rules.counts.applied, 2);
  assert_int_equal(r.port->rules.counts.late, 0);
  orr_client_close(&c);
  done(&r);
}

static void a_pulse_is_applied_once(void **state) {
  (void)state;
  struct rig r = make("pulse");
  struct orr_client c;
  assert_int_equal(orr_client_open(&c, r.url, 0), 0);
  struct orr_signal on = orr_client_find(&c, "jet.on_time");
  fly(&r);
  orr_client_wait(&c, ORR_CLIENT_SPIN, 100);
  orr_client_set(&c, on, 0, 0.02);
  orr_client_send(&c);
  assert_true(orr_client_get(&c, on, 0) == 0); /* the client forgets it, too */
  int open = 0;
  for (int i = 0; i < 20; i++) {
    orr_flight_run(&r.flight, 1);
    open += orr_flight_value(&r.flight, "jet.thrust") > 0.5;
  }
  assert_in_range(open, 1, 2);
  orr_client_close(&c);
  done(&r);
}

static void a_second_peer_takes_the_place_of_the_first(void **state) {
  (void)state;
  struct rig r = make("second");
  struct orr_client first, second;
  assert_int_equal(orr_client_open(&first, r.url, 0), 0);
  fly(&r);
  answer(&first, 0.01);
  fly(&r);
  assert_int_equal(orr_client_open(&second, r.url, 0), 0);
  assert_int_equal(orr_client_wait(&first, ORR_CLIENT_SPIN, 10), -EOWNERDEAD);
  answer(&second, 0.02);
  fly(&r);
  assert_true(torque(&r) == 0.02);
  assert_int_equal(r.port->rules.counts.peers, 2);
  orr_client_close(&first);
  assert_true(orr_shm_peer_lives(orr_shm_of(r.port->carrier)));
  orr_client_close(&second);
  assert_false(orr_shm_peer_lives(orr_shm_of(r.port->carrier)));
  done(&r);
}

/* Whatever stands in the peer's part of the segment, a frame takes its bounded time and nothing is applied that is not
 * a command. */
static void garbage_in_the_segment_neither_crashes_nor_hangs(void **state) {
  (void)state;
  struct rig r = make("garbage");
  size_t bytes = orr_shm_of(r.port->carrier)->bytes;
  unsigned seed = 5;
  for (int round = 0; round < 3000; round++) {
    for (size_t i = 0; i < bytes; i++)
      if (rand_r(&seed) % 3 == 0)
        orr_shm_of(r.port->carrier)->memory[i] = (char)rand_r(&seed);
    orr_flight_run(&r.flight, 10);
    assert_true(torque(&r) == 0);
  }
  assert_true(refused(&r, ORR_REFUSAL_DROPPED) + refused(&r, ORR_REFUSAL_FOREIGN) > 3000);
  assert_int_equal(r.port->rules.counts.applied, 0);
  done(&r);
}

static void a_client_refuses_what_is_no_link(void **state) {
  (void)state;
  struct rig r = make("refuse");
  struct orr_client c;
  struct orr_wire_header *header = (struct orr_wire_header *)(void *)orr_shm_of(r.port->carrier)->memory,
                         good = *header;
  assert_int_equal(orr_client_open(&c, "shm:/orrery.test.nobody", 0), -ENOENT);
  assert_int_equal(orr_client_open(&c, "file:/x", 0), -EINVAL);
  unsigned seed = 11;
  int opened = 0;
  for (int round = 0; round < 2000; round++) {
    size_t at = 8 + (size_t)rand_r(&seed) % (offsetof(struct orr_wire_header, run_pid) - 8);
    ((unsigned char *)header)[at] ^= (unsigned char)(1 + rand_r(&seed) % 255);
    if (orr_client_open(&c, r.url, 0) == 0) { /* harmless: step, divisor, hash, or a shorter directory */
      opened++;
      for (uint32_t i = 0; i < c.header.channel_count; i++)
        assert_true(strlen(orr_client_name(&c, i)) < 100);
    }
    orr_client_close(&c);
    *header = good;
  }
  assert_in_range(opened, 1, 1500);
  header->version++;
  assert_int_equal(orr_client_open(&c, r.url, 0), -EPROTO);
  *header = good;
  header->byte_order = 0x04030201;
  assert_int_equal(orr_client_open(&c, r.url, 0), -EPROTO);
  orr_client_close(&c);
  *header = good;
  done(&r);
}

static void a_name_that_another_run_has_open_is_refused_and_an_abandoned_one_is_taken_over(void **state) {
  (void)state;
  struct rig r = make("name");
  struct orr_shm other;
  assert_int_equal(orr_shm_open(&other, r.name, &r.port->layout, 1, 1), EEXIST);
  pid_t child = fork();
  if (child == 0) {
    char left[80];
    snprintf(left, sizeof left, "%s.left", r.name);
    struct orr_shm mine;
    _exit(orr_shm_open(&mine, left, &r.port->layout, 1, 1));
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  char left[80];
  snprintf(left, sizeof left, "%s.left", r.name);
  assert_int_equal(orr_shm_open(&other, left, &r.port->layout, 1, 1), 0);
  orr_shm_close(&other);
  done(&r);
}

static void a_peer_that_stalls_loses_no_frame_and_sees_the_last_ones_after_the_end(void **state) {
  (void)state;
  struct rig r = make("stall");
  struct orr_client c;
  enum { FRAMES = ORR_WIRE_SLOTS - 2 };
  assert_int_equal(orr_client_open(&c, r.url, 0), 0);
  for (int i = 0; i < FRAMES; i++)
    fly(&r);
  for (int i = 0; i < FRAMES; i++) {
    answer(&c, 0.001 * i);
    assert_int_equal(c.frame.number, 10 * i);
  }
  fly(&r);
  fly(&r);
  assert_true(torque(&r) == 0.001 * (FRAMES - 1));
  assert_int_equal(r.port->rules.counts.applied, 1);
  assert_int_equal(refused(&r, ORR_REFUSAL_STALE), FRAMES - 1);
  assert_int_equal(refused(&r, ORR_REFUSAL_DROPPED), 0);
  done(&r);
  answer(&c, 0);
  answer(&c, 0);
  assert_int_equal(c.frame.number, 10 * (FRAMES + 1));
  assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 100), -EPIPE);
  assert_int_equal(c.missed, 0);
  orr_client_close(&c);
}

/* The answer to frame 0 comes during frame 4: applied at 5 in real time; in lockstep, where it means nothing, at 10. */
static void asap_means_the_first_frame_in_real_time_and_nothing_in_lockstep(void **state) {
  (void)state;
  for (int lockstep = 0; lockstep < 2; lockstep++) {
    struct rig r = make("asap");
    struct orr_client c;
    orr_port_close(r.port); /* and opened again as the run file would have it */
    struct orr_run_link asap = *r.port->desc;
    char message[200];
    asap.asap = true;
    r.port->desc = &asap;
    assert_true(orr_port_open(r.port, 10000000, lockstep, message, sizeof message));
    assert_int_equal(orr_client_open(&c, r.url, 0), 0);
    orr_flight_run(&r.flight, 5);
    answer(&c, 0.05);
    assert_true(torque(&r) == 0);
    for (int frame = 5; frame <= 10; frame++) {
      orr_flight_run(&r.flight, 1);
      assert_true(torque(&r) == (lockstep && frame < 10 ? 0 : 0.05));
    }
    assert_int_equal(r.port->rules.counts.applied, 1);
    assert_int_equal(r.port->rules.counts.missed + r.port->rules.counts.late, 0);
    orr_client_close(&c);
    done(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_segment_describes_itself_and_is_its_owners_alone),
      cmocka_unit_test(a_command_is_applied_one_frame_later_and_the_frame_out_says_which),
      cmocka_unit_test(a_pulse_is_applied_once),
      cmocka_unit_test(a_second_peer_takes_the_place_of_the_first),
      cmocka_unit_test(garbage_in_the_segment_neither_crashes_nor_hangs),
      cmocka_unit_test(a_client_refuses_what_is_no_link),
      cmocka_unit_test(a_name_that_another_run_has_open_is_refused_and_an_abandoned_one_is_taken_over),
      cmocka_unit_test(asap_means_the_first_frame_in_real_time_and_nothing_in_lockstep),
      cmocka_unit_test(a_peer_that_stalls_loses_no_frame_and_sees_the_last_ones_after_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
