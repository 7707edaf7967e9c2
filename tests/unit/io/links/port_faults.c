/* A link under a peer that is hostile, dies, is stopped, or does not read: the same checks over shared memory and over
 * UDP, in lockstep and as in real time. Frames are flown one after the other, without a clock. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/links/packets/udp.h"
#include "tests/support/clock.h"
#include "tests/support/flight.h"
#include "tests/support/forger.h"
#include "tests/support/port.h"

static const char pattern[] =
    ORR_FLIGHT_CRAFT "links: {fsw: {%s, rate: 10 Hz, telemetry: [gyro.*], commands: ['*.torque', jet.on_time],\n"
                     "  lockstep: {timeout: %d ms, policy: %s}, timeout: {frames: 3, policy: %s}}}\n";

/* Frames of the simulation between two of the link. */
enum { DIVISOR = 10, PATIENCE_MS = 20000 };

enum transport { SHM, UDP, TRANSPORTS };

struct shape {
  enum transport transport;
  bool lockstep;
  int timeout_ms;     /* lockstep */
  const char *policy; /* when commands stop */
  int peer;           /* UDP: the port where frames go; 0: to whom it hears */
};

struct rig {
  struct shape shape;
  struct orr_flight flight;
  struct orr_port *port;
  struct sockaddr_in address;
  char name[64], url[80];
};

/* The run file flown, its link not open yet. */
static struct rig prepare(struct shape s) {
  struct rig r = {.shape = s};
  char text[2000], link[200];
  uint16_t port = orr_port_free();
  snprintf(r.name, sizeof r.name, "/orrery.faults.%d.%u", (int)getpid(), port); /* one that nobody else has */
  if (s.transport == SHM) {
    snprintf(link, sizeof link, "transport: shm, name: %s", r.name);
    snprintf(r.url, sizeof r.url, "shm:%s", r.name);
  } else {
    int said = snprintf(link, sizeof link, "transport: udp, listen: '127.0.0.1:%d', allow: [127.0.0.1", port);
    if (s.peer)
      snprintf(link + said, sizeof link - (size_t)said, ", 127.0.0.2], peer: '127.0.0.1:%d'", s.peer);
    else
      snprintf(link + said, sizeof link - (size_t)said, "]");
    snprintf(r.url, sizeof r.url, "udp:127.0.0.1:%d", port);
  }
  snprintf(text, sizeof text, pattern, link, s.timeout_ms ? s.timeout_ms : PATIENCE_MS,
           strcmp(s.policy, "stop") ? "continue" : "stop", s.policy);
  r.address =
      (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  r.flight = orr_flight_make(text, NULL);
  r.port = r.flight.session->links[0].room;
  return r;
}

static struct rig make(struct shape s) {
  struct rig r = prepare(s);
  char message[200];
  if (!orr_session_open_links(r.flight.session, s.lockstep, NULL, message, sizeof message))
    fail_msg("%s", message);
  return r;
}

static void done(struct rig *r) { orr_flight_free(&r->flight); }

/* From one frame of the link to the next: the first of them is published and latched. */
static void fly(struct rig *r) { orr_flight_run(&r->flight, DIVISOR); }

static double torque(const struct rig *r) { return orr_flight_value(&r->flight, "wheel.torque"); }

static uint64_t refused(const struct rig *r, enum orr_refusal why) { return orr_port_counts(r->port).refused[why]; }

/* Packets that the relay has judged so far: handed over or refused. Over shared memory nobody is in between. */
static uint64_t judged(const struct rig *r) {
  if (r->shape.transport != UDP)
    return 0;
  uint64_t sum = atomic_load(&orr_packets_of(r->port->carrier)->in.head);
  for (int i = 0; i < ORR_REFUSALS; i++)
    sum += atomic_load(&orr_packets_of(r->port->carrier)->refused[i]);
  return sum;
}

static void await_judged(const struct rig *r, uint64_t count) {
  for (int i = 0; r->shape.transport == UDP && i < PATIENCE_MS && judged(r) < count; i++)
    nap_ms(1);
}

static void await_peers(const struct rig *r, uint64_t count) {
  for (int i = 0;
       r->shape.transport == UDP && i < PATIENCE_MS && atomic_load(&orr_packets_of(r->port->carrier)->peers) < count;
       i++)
    nap_ms(1);
}

/* As many frames of the link at a time as half the ring to the relay holds; then until it has taken them all: false
 * when it does not. */
enum { SALVO = ORR_PACKETS_OUT_SLOTS / 2 };
static bool fly_salvo(struct rig *r) {
  const struct timespec nap = {0, 100000};
  for (int i = 0; i < SALVO; i++)
    fly(r);
  for (int i = 0; i < PATIENCE_MS * 10 && orr_ring_used(&orr_packets_of(r->port->carrier)->out) > 0; i++)
    nanosleep(&nap, NULL);
  return orr_ring_used(&orr_packets_of(r->port->carrier)->out) == 0;
}

/* ---- a peer in this process -------------------------------------------------------------------------------------- */

struct peer {
  struct rig *rig;
  struct orr_client client;
  struct orr_forger forger;
  struct orr_signal wheel, jet;
};

static void enter(struct peer *p, struct rig *r) {
  *p = (struct peer){.rig = r};
  assert_int_equal(orr_client_open(&p->client, r->url, PATIENCE_MS), 0);
  p->forger.client = &p->client;
  p->wheel = orr_client_find(&p->client, "wheel.torque");
  p->jet = orr_client_find(&p->client, "jet.on_time");
  await_peers(r, 1); /* frames go to whom the relay has heard of */
}

static void leave(struct peer *p) {
  orr_client_close(&p->client);
  done(p->rig);
}

static void see(struct peer *p, uint64_t frame) {
  assert_int_equal(orr_client_wait(&p->client, ORR_CLIENT_FUTEX, PATIENCE_MS), 1);
  assert_int_equal(p->client.frame.number, frame);
}

/* The same where others may have gone before. */
static bool reach(struct peer *p, uint64_t frame) {
  while (orr_client_wait(&p->client, ORR_CLIENT_FUTEX, PATIENCE_MS) == 1)
    if (p->client.frame.number == frame)
      return true;
  return false;
}

static void command(struct peer *p, double value, struct orr_forgery f) {
  uint64_t before = judged(p->rig);
  assert_true(orr_client_set(&p->client, p->wheel, 0, value));
  orr_forge(&p->forger, &f);
  await_judged(p->rig, before + 1);
}

/* The frame that just went out, answered well. */
static void answer(struct peer *p, uint64_t frame, double value) {
  see(p, frame);
  command(p, value, (struct orr_forgery){.answers = frame});
}

/* ---- what is never applied --------------------------------------------------------------------------------------- */

enum fault {
  NOT_A_NUMBER,
  INFINITE,
  BEYOND_RANGE,
  OTHER_LAYOUT,
  OTHER_VERSION,
  OLD,
  NEVER_OUT,
  FORMER_PEER,
  WRONG_SUM,
  COPY,
  FAULTS
};

static const enum orr_refusal verdicts[FAULTS] = {
    [NOT_A_NUMBER] = ORR_REFUSAL_NOT_FINITE,   [INFINITE] = ORR_REFUSAL_NOT_FINITE,
    [BEYOND_RANGE] = ORR_REFUSAL_OUT_OF_RANGE, [OTHER_LAYOUT] = ORR_REFUSAL_LAYOUT,
    [OTHER_VERSION] = ORR_REFUSAL_VERSION,     [OLD] = ORR_REFUSAL_STALE,
    [NEVER_OUT] = ORR_REFUSAL_MALFORMED,       [FORMER_PEER] = ORR_REFUSAL_FOREIGN,
    [WRONG_SUM] = ORR_REFUSAL_MALFORMED,       [COPY] = ORR_REFUSAL_DUPLICATE,
};

/* Frame `now` is out; the answers to now - DIVISOR and before are applied or will be at once. */
static void commit_fault(struct peer *p, enum fault fault, uint64_t now) {
  struct orr_forgery f = {.answers = now};
  double value = 0.07;
  uint64_t before = judged(p->rig);
  switch (fault) {
  case NOT_A_NUMBER:
    value = (double)NAN;
    break;
  case INFINITE:
    value = -HUGE_VAL;
    break;
  case BEYOND_RANGE:
    assert_true(orr_client_set(&p->client, p->jet, 0, -1e-9)); /* a wheel takes any torque and gives what it can */
    break;
  case OTHER_LAYOUT:
    f.other_layout = true;
    break;
  case OTHER_VERSION:
    f.other_version = true;
    break;
  case OLD:
    f.answers = now - 2 * DIVISOR;
    break;
  case NEVER_OUT:
    f.answers = now + DIVISOR;
    break;
  case FORMER_PEER:
    f.generations_ago = 1;
    break;
  case WRONG_SUM:
    f.bad_sum = true;
    break;
  default: /* COPY */
    orr_forge_again(&p->forger);
    await_judged(p->rig, before + 1);
    return;
  }
  command(p, value, f);
  assert_true(orr_client_set(&p->client, p->jet, 0, 0));
}

/* Good answers, and between two of them the fault: `times` of it, or none. Returns the hash of the state. */
static uint64_t fly_with_fault(struct shape shape, enum fault fault, int times) {
  struct rig r = make(shape);
  struct peer p;
  enter(&p, &r);
  fly(&r);
  for (uint64_t frame = 0; frame < 6 * DIVISOR; frame += DIVISOR) {
    double value = 0.01 + 1e-4 * (double)frame;
    if (fault != COPY)
      see(&p, frame);
    for (int i = 0; i < (frame == 3 * DIVISOR ? times : 0); i++)
      commit_fault(&p, fault, frame);
    if (fault == COPY) /* of the last good one */
      see(&p, frame);
    command(&p, value, (struct orr_forgery){.answers = frame});
    fly(&r);
    if (torque(&r) != value)
      fail_msg("fault %d over %s%s, frame %d: %.9g, not %.9g", (int)fault, r.url, shape.lockstep ? ", lockstep" : "",
               (int)frame, torque(&r), value);
  }
  struct orr_link_counts counts = orr_port_counts(r.port);
  assert_int_equal(counts.applied, 6);
  assert_int_equal(counts.late + counts.missed, 0);
  assert_int_equal(counts.peers, 1);
  for (int i = ORR_REFUSAL_NONE + 1; i < ORR_REFUSALS; i++)
    if (counts.refused[i] != (i == (int)verdicts[fault] ? (uint64_t)times : 0))
      fail_msg("fault %d over %s: %llu refused as %s, not %d", (int)fault, r.url, (unsigned long long)counts.refused[i],
               orr_refusal_name((enum orr_refusal)i), i == (int)verdicts[fault] ? times : 0);
  uint64_t hash = orr_session_hash(r.flight.session);
  leave(&p);
  return hash;
}

static void each_fault_is_counted_by_its_cause_and_leaves_the_bits_as_they_were(void **state) {
  (void)state;
  uint64_t hash = fly_with_fault((struct shape){SHM, true, 0, "hold", 0}, COPY, 0);
  for (enum transport t = SHM; t < TRANSPORTS; t++)
    for (int lockstep = 0; lockstep < 2; lockstep++)
      for (enum fault fault = 0; fault < FAULTS; fault++)
        assert_true(fly_with_fault((struct shape){t, lockstep, 0, "hold", 0}, fault, 3) == hash);
}

/* Over shared memory the count of commands may be anything. */
static void a_count_that_goes_back_is_counted_once_and_taken_up_where_it_stays(void **state) {
  (void)state;
  struct rig r = make((struct shape){SHM, false, 0, "hold", 0});
  struct peer p;
  enter(&p, &r);
  fly(&r);
  for (int k = 0; k < 5; k++) {
    answer(&p, (uint64_t)(k * DIVISOR), 0.01 * (k + 1));
    fly(&r);
  }
  uint32_t good = atomic_load(&p.client.peer->commanded);
  atomic_store(&p.client.peer->commanded, 0);
  fly(&r);
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 1);
  atomic_store(&p.client.peer->commanded, good);
  see(&p, 5 * DIVISOR);
  answer(&p, 6 * DIVISOR, 0.07);
  fly(&r);
  assert_true(torque(&r) == 0.07);
  atomic_store(&p.client.peer->commanded, 1);
  p.client.sent = 1;
  fly(&r);
  fly(&r);
  see(&p, 7 * DIVISOR);
  see(&p, 8 * DIVISOR);
  answer(&p, 9 * DIVISOR, 0.08);
  fly(&r);
  assert_true(torque(&r) == 0.08);
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 3);
  /* so far ahead as no peer can have come: that is not so many commands dropped */
  good = atomic_load(&p.client.peer->commanded);
  for (int k = 0; k < 10; k++) {
    atomic_store(&p.client.peer->commanded, good + (k % 2 ? 0x7fffffffu : 0x100000u));
    fly(&r);
  }
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 13);
  assert_int_equal(refused(&r, ORR_REFUSAL_DROPPED) + refused(&r, ORR_REFUSAL_STALE), 0);
  atomic_store(&p.client.peer->commanded, good);
  for (uint64_t k = 10; k < 20; k++)
    see(&p, k * DIVISOR);
  answer(&p, 20 * DIVISOR, 0.05);
  fly(&r);
  assert_true(torque(&r) == 0.05);
  leave(&p);
}

/* Over UDP the bytes may be wrong, too, and the sender another one. */
static void a_wrong_sum_another_id_or_another_sender_is_counted_and_does_not_lead_frames_away(void **state) {
  (void)state;
  struct rig r = make((struct shape){UDP, false, 0, "hold", 0});
  struct peer p;
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int elsewhere = socket(AF_INET, SOCK_DGRAM, 0), stranger = socket(AF_INET, SOCK_DGRAM, 0);
  assert_int_equal(bind(elsewhere, (const struct sockaddr *)&a, sizeof a), 0);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  assert_int_equal(bind(stranger, (const struct sockaddr *)&a, sizeof a), 0);
  enter(&p, &r);
  fly(&r);
  see(&p, 0);
  command(&p, 0.07, (struct orr_forgery){.bad_sum = true});
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 1);
  command(&p, 0.07, (struct orr_forgery){.other_id = true});
  assert_int_equal(refused(&r, ORR_REFUSAL_OTHER_ID), 1);
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 1);
  assert_int_equal(refused(&r, ORR_REFUSAL_VERSION), 0);
  command(&p, 0.02, (struct orr_forgery){0});
  uint64_t before = judged(&r);
  orr_forge_again_from(&p.forger, elsewhere, &r.address); /* the same bytes from another port of the same machine */
  orr_forge_again_from(&p.forger, stranger, &r.address);
  await_judged(&r, before + 2);
  assert_int_equal(refused(&r, ORR_REFUSAL_FOREIGN), 2);
  fly(&r);
  answer(&p, DIVISOR, 0.03); /* the frame came here */
  fly(&r);
  assert_true(torque(&r) == 0.03);
  assert_int_equal(orr_port_counts(r.port).peers, 1);
  uint8_t told[2] = {0}; /* no frame: that it is not the peer */
  recv(elsewhere, told, sizeof told, MSG_DONTWAIT);
  assert_int_equal(orr_wire_get_big(told, 2), ORR_WIRE_DESCRIPTION_ID);
  assert_int_equal(recv(elsewhere, told, sizeof told, MSG_DONTWAIT), -1);
  close(elsewhere);
  close(stranger);
  leave(&p);
}

/* More copies between two frames than there are places for commands: they take none from a good answer. */
static void a_flood_of_replays_displaces_no_good_answer(void **state) {
  (void)state;
  enum { REPLAYS = 10 * ORR_PACKETS_IN_SLOTS, BATCH = 64, LAST = ORR_PACKETS_TAKEN + 40 };
  static struct orr_forger all[LAST + 1]; /* more than are remembered as copies */
  uint64_t sent = 0;
  struct rig r = make((struct shape){UDP, false, 0, "hold", 0});
  struct peer p;
  enter(&p, &r);
  for (int k = 0; k <= LAST; k++) {
    fly(&r);
    for (int i = 0; i < (k ? REPLAYS : 0); i++) {
      orr_forge_again(&all[i % k]);
      if (++sent % BATCH == 0) /* the relay keeps up */
        await_judged(&r, sent);
    }
    answer(&p, (uint64_t)(k * DIVISOR), 1e-3 * k);
    await_judged(&r, ++sent); /* the answer, too, and not only a copy before it: else the next frame may go out first */
    all[k] = p.forger;
  }
  fly(&r);
  assert_true(torque(&r) == 1e-3 * LAST);
  struct orr_link_counts counts = orr_port_counts(r.port);
  assert_int_equal(counts.applied, LAST + 1);
  assert_int_equal(counts.late + counts.missed, 0);
  assert_int_equal(counts.refused[ORR_REFUSAL_DROPPED], 0);
  assert_int_equal(counts.refused[ORR_REFUSAL_STALE] + counts.refused[ORR_REFUSAL_DUPLICATE], LAST * REPLAYS);
  leave(&p);
}

/* ---- late -------------------------------------------------------------------------------------------------------- */

static void a_late_answer_is_applied_late_and_recorded_with_its_frame(void **state) {
  (void)state;
  for (enum transport t = SHM; t < TRANSPORTS; t++) {
    struct rig r = make((struct shape){t, false, 0, "hold", 0});
    struct peer p;
    enter(&p, &r);
    fly(&r); /* 0 */
    see(&p, 0);
    fly(&r); /* 10: nothing is there */
    fly(&r); /* 20 */
    command(&p, 0.04, (struct orr_forgery){.answers = 0});
    fly(&r); /* 30 */
    assert_true(torque(&r) == 0.04);
    see(&p, DIVISOR);
    see(&p, 2 * DIVISOR);
    assert_int_equal(r.port->rules.counts.late, 1);
    assert_int_equal(r.port->rules.late_ones[0].answers, 0);
    assert_int_equal(r.port->rules.late_ones[0].applied_at, 3 * DIVISOR);
    assert_int_equal(r.port->silence_count, 1);
    assert_int_equal(r.port->silences[0].first, DIVISOR);
    assert_int_equal(r.port->silences[0].last, 2 * DIVISOR);
    fly(&r); /* 40 tells the peer */
    see(&p, 3 * DIVISOR);
    see(&p, 4 * DIVISOR);
    assert_true(p.client.frame.flags & ORR_WIRE_OUT_LATE);
    assert_int_equal(p.client.frame.answered, 0);
    leave(&p);
  }
}

/* Over UDP the relay refuses old packets early; the first answer to a frame is none of them. */
static void an_answer_that_is_overtaken_is_superseded_and_its_copies_are_stale(void **state) {
  (void)state;
  for (enum transport t = SHM; t < TRANSPORTS; t++) {
    struct rig r = make((struct shape){t, false, 0, "hold", 0});
    struct peer p;
    enter(&p, &r);
    fly(&r); /* 0 */
    see(&p, 0);
    fly(&r); /* 10 */
    answer(&p, DIVISOR, 0.02);
    fly(&r); /* 20: applied */
    fly(&r); /* 30 says so */
    see(&p, 2 * DIVISOR);
    see(&p, 3 * DIVISOR);
    command(&p, 0.01, (struct orr_forgery){.answers = 0});
    for (int i = 0; i < 5; i++) {
      uint64_t before = judged(&r);
      orr_forge_again(&p.forger);
      await_judged(&r, before + 1);
    }
    fly(&r);
    assert_true(torque(&r) == 0.02);
    assert_int_equal(orr_rules_answers(&r.port->rules).superseded, 1);
    assert_int_equal(refused(&r, ORR_REFUSAL_STALE) + refused(&r, ORR_REFUSAL_DUPLICATE), 6);
    leave(&p);
  }
}

/* In lockstep an answer is late only where the run file says to go on without. */
static void lockstep_that_goes_on_applies_a_late_answer_late(void **state) {
  (void)state;
  for (enum transport t = SHM; t < TRANSPORTS; t++) {
    struct rig r = make((struct shape){t, true, 50, "hold", 0});
    struct peer p;
    enter(&p, &r);
    fly(&r);
    see(&p, 0);
    fly(&r); /* 10: waits for 50 ms in vain */
    assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
    assert_int_equal(r.port->rules.counts.timeouts, 1);
    see(&p, DIVISOR);
    command(&p, 0.04, (struct orr_forgery){.answers = 0});
    fly(&r); /* 20: waits for the answer to 10 in vain, and takes that to 0 */
    assert_true(torque(&r) == 0.04);
    assert_int_equal(r.port->rules.counts.timeouts, 2);
    assert_int_equal(r.port->rules.counts.late, 1);
    assert_int_equal(r.port->rules.late_ones[0].applied_at, 2 * DIVISOR);
    leave(&p);
  }
}

/* ---- commands stop ----------------------------------------------------------------------------------------------- */

static void when_commands_stop_levels_follow_the_policy_and_pulses_end(void **state) {
  (void)state;
  static const char *const policies[] = {"hold", "zero", "stop"};
  for (enum transport t = SHM; t < TRANSPORTS; t++)
    for (int i = 0; i < 3; i++) {
      struct rig r = make((struct shape){t, false, 0, policies[i], 0});
      struct peer p;
      enter(&p, &r);
      fly(&r);
      assert_true(orr_client_set(&p.client, p.jet, 0, 5));
      answer(&p, 0, 0.05);
      fly(&r); /* applied */
      fly(&r);
      fly(&r);
      assert_true(torque(&r) == 0.05);
      assert_true(orr_flight_value(&r.flight, "jet.thrust") > 0.5); /* what is left of the pulse */
      assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
      fly(&r); /* the third boundary without a command */
      assert_true(torque(&r) == (i == 1 ? 0 : 0.05));
      assert_int_equal(r.flight.session->end, i == 2 ? ORR_PORT_SILENT : ORR_PORT_GOES_ON);
      assert_int_equal(r.port->rules.counts.timeouts, 1);
      if (i != 2) { /* where the run goes on, the valve is closed */
        assert_true(orr_flight_value(&r.flight, "jet.on_time") == 0);
        assert_true(orr_flight_value(&r.flight, "jet.thrust") == 0);
      }
      fly(&r); /* tells the peer */
      assert_true(reach(&p, 5 * DIVISOR) && p.client.frame.flags & ORR_WIRE_OUT_TIMED_OUT);
      leave(&p);
    }
}

static void lockstep_without_an_answer_stops_or_goes_on_as_the_run_file_says(void **state) {
  (void)state;
  for (enum transport t = SHM; t < TRANSPORTS; t++)
    for (int stop = 0; stop < 2; stop++) {
      struct rig r = make((struct shape){t, true, 50, stop ? "stop" : "hold", 0});
      struct peer p;
      enter(&p, &r);
      fly(&r);
      answer(&p, 0, 0.05);
      fly(&r);
      orr_flight_run(&r.flight, 1);
      assert_int_equal(r.flight.session->end, stop ? ORR_PORT_SILENT : ORR_PORT_GOES_ON);
      assert_int_equal(r.port->rules.counts.timeouts, 1);
      assert_true(torque(&r) == 0.05);
      leave(&p);
    }
}

/* Over shared memory a peer finds by itself where to begin: with the frame before, from when the next one goes out
 * until its answer is there, also before the run waits for that; then with the newest. (Over UDP the run sends again
 * what it waits for.) */
static void a_peer_that_comes_in_lockstep_begins_with_the_oldest_frame_without_an_answer(void **state) {
  (void)state;
  for (int moment = 0; moment < 3; moment++) { /* nothing is out; frame 0 is; the next goes out */
    struct rig r = make((struct shape){SHM, true, 50, "stop", 0});
    struct orr_session *s = r.flight.session;
    const struct orr_session_stage *stage = orr_session_stages;
    struct peer p, q;
    if (moment == 0)
      enter(&p, &r);
    fly(&r);
    if (moment == 1)
      enter(&p, &r);
    assert_int_equal(orr_session_stage_run(stage++, s), 0); /* publish */
    if (moment == 2)
      enter(&p, &r);
    answer(&p, 0, 0.05);
    while (stage->name)
      assert_int_equal(orr_session_stage_run(stage++, s), 0);
    assert_int_equal(s->end, ORR_PORT_GOES_ON);
    assert_true(torque(&r) == 0.05);
    orr_client_close(&p.client);
    enter(&q, &r);
    answer(&q, DIVISOR, 0.06);
    fly(&r);
    assert_int_equal(s->end, ORR_PORT_GOES_ON);
    assert_true(torque(&r) == 0.06);
    assert_int_equal(r.port->rules.counts.timeouts, 0);
    leave(&q);
  }
}

/* It says so over UDP, and leaves its place over shared memory; its last answer is applied. */
static void a_peer_that_closes_its_link_in_lockstep_is_not_waited_for(void **state) {
  (void)state;
  enum { LONG_MS = 100000 };
  for (enum transport t = SHM; t < TRANSPORTS; t++)
    for (int stop = 0; stop < 2; stop++) {
      struct rig r = make((struct shape){t, true, LONG_MS, stop ? "stop" : "hold", 0});
      struct peer p;
      enter(&p, &r);
      fly(&r);
      answer(&p, 0, 0.05);
      orr_client_close(&p.client);
      fly(&r);
      assert_true(torque(&r) == 0.05);
      assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
      orr_flight_run(&r.flight, 1);
      assert_int_equal(r.flight.session->end, stop ? ORR_PORT_LEFT : ORR_PORT_GOES_ON);
      assert_int_equal(r.port->rules.counts.timeouts, 0);
      assert_int_equal(orr_port_peer(r.port), ORR_PEER_LEFT);
      done(&r);
    }
}

static void the_peer_ends_the_run(void **state) {
  (void)state;
  for (enum transport t = SHM; t < TRANSPORTS; t++)
    for (int lockstep = 0; lockstep < 2; lockstep++) {
      struct rig r = make((struct shape){t, lockstep, 0, "hold", 0});
      struct peer p;
      enter(&p, &r);
      fly(&r);
      answer(&p, 0, 0.05);
      fly(&r);
      see(&p, DIVISOR);
      assert_int_equal(orr_client_end(&p.client), 0);
      for (int i = 0; t == UDP && i < PATIENCE_MS && !atomic_load(&orr_packets_of(r.port->carrier)->ended); i++)
        nap_ms(1);
      orr_flight_run(&r.flight, 1);
      assert_int_equal(r.flight.session->end, ORR_PORT_PEER_ENDED);
      done(&r);
      int status;
      while ((status = orr_client_wait(&p.client, ORR_CLIENT_FUTEX, 60000)) == 1) {
      }
      assert_int_equal(status, -EPIPE);
      orr_client_close(&p.client);
    }
}

/* ---- lockstep under a process that dies or is stopped ------------------------------------------------------------ */

/* Turns the rate down; before the answer to frame number `at` it sends itself the signal. */
static void fly_peer(const char *url, int at, int signal) {
  struct orr_client c;
  if (orr_client_open(&c, url, PATIENCE_MS) != 0)
    _exit(2);
  struct orr_signal rate = orr_client_find(&c, "gyro.rate"), wheel = orr_client_find(&c, "wheel.torque");
  while (orr_client_wait(&c, ORR_CLIENT_FUTEX, PATIENCE_MS) == 1) {
    orr_client_set(&c, wheel, 0, 0.5 * orr_client_get(&c, rate, 2));
    if (signal && c.frame.number == (uint64_t)at)
      raise(signal);
    orr_client_send(&c);
  }
  _exit(0);
}

static pid_t start_peer(const struct rig *r, int at, int signal) {
  pid_t child = fork();
  if (child == 0)
    fly_peer(r->url, at, signal);
  return child;
}

/* Waits for the signal to do its work, then undoes it: after a while in which the run waits. */
static pid_t start_healer(pid_t peer, int signal) {
  pid_t child = fork();
  if (child != 0)
    return child;
  if (signal == SIGSTOP) {
    char path[40], text[400] = "", stopped = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)peer);
    for (int i = 0; i < PATIENCE_MS && stopped != 'T'; i++) {
      int fd = open(path, O_RDONLY | O_CLOEXEC);
      ssize_t got = read(fd, text, sizeof text - 1);
      const char *state = got > 0 ? strrchr(text, ')') : NULL;
      stopped = state ? state[2] : 0;
      close(fd);
      nap_ms(1);
    }
    nap_ms(100);
    kill(peer, SIGCONT);
  }
  _exit(0);
}

static uint64_t fly_lockstep(enum transport t, int signal) {
  enum { FRAMES = 600, AT = 200 };
  struct rig r = make((struct shape){t, true, 0, "stop", 0});
  pid_t peer = start_peer(&r, AT, signal), healer = signal == SIGSTOP ? start_healer(peer, signal) : 0;
  int status;
  for (int i = 0; i < FRAMES; i++) {
    assert_int_equal(orr_session_frame(r.flight.session), 0);
    assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
    if (i == AT && signal == SIGKILL) { /* that frame is out: its answer will never come from there */
      waitpid(peer, &status, 0);
      assert_true(WIFSIGNALED(status));
      peer = start_peer(&r, 0, 0);
    }
  }
  uint64_t hash = orr_session_hash(r.flight.session);
  struct orr_link_counts counts = orr_port_counts(r.port);
  assert_int_equal(counts.applied, FRAMES / DIVISOR - 1);
  assert_int_equal(counts.late + counts.missed + counts.timeouts, 0);
  assert_int_equal(counts.peers, signal == SIGKILL ? 2 : 1);
  if (signal == SIGKILL) {
    assert_int_equal(r.port->arrival_count, 2);
    assert_in_range(r.port->arrivals[1], AT, AT + DIVISOR);
  }
  done(&r);
  waitpid(peer, &status, 0);
  assert_int_equal(status, 0);
  if (healer)
    waitpid(healer, &status, 0);
  return hash;
}

static void lockstep_has_the_same_bits_when_the_peer_is_killed_or_suspended(void **state) {
  (void)state;
  uint64_t hash = fly_lockstep(SHM, 0);
  for (enum transport t = SHM; t < TRANSPORTS; t++) {
    assert_true(fly_lockstep(t, SIGKILL) == hash);
    assert_true(fly_lockstep(t, SIGSTOP) == hash);
  }
}

static void a_truncated_segment_is_a_dead_link_and_in_lockstep_the_run_ends_by_its_policy(void **state) {
  (void)state;
  for (int lockstep = 0; lockstep < 2; lockstep++)
    for (int stop = 0; stop < 2; stop++) {
      struct rig r = make((struct shape){SHM, lockstep, 50, stop ? "stop" : "hold", 0});
      struct peer p;
      enter(&p, &r);
      fly(&r);
      answer(&p, 0, 0.05);
      fly(&r);
      orr_client_close(&p.client);
      int fd = shm_open(r.name, O_RDWR, 0);
      assert_int_equal(ftruncate(fd, 0), 0);
      close(fd);
      orr_flight_run(&r.flight, 1);
      assert_true(orr_port_dead(r.port));
      assert_int_equal(r.flight.session->end, lockstep && stop ? ORR_PORT_SILENT : ORR_PORT_GOES_ON);
      assert_int_equal(r.port->rules.counts.timeouts, lockstep);
      assert_true(torque(&r) == 0.05);
      done(&r);
    }
}

/* ---- full buffers ------------------------------------------------------------------------------------------------ */

/* The link is open and nobody reads its socket, as when the io thread has no core. */
static void packets_that_the_kernel_drops_are_counted_to_the_last(void **state) {
  (void)state;
  enum { MOST = 200000, BYTES = 200 };
  struct rig r = prepare((struct shape){UDP, false, 0, "hold", 0});
  char bytes[BYTES] = {0}, message[200];
  uint64_t sent = 0, read = 0;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  assert_true(orr_port_open(r.port, r.flight.session->plant->step_ns, false, message, sizeof message));
  assert_int_equal(orr_port_losses(r.port).not_received, 0);
  while (sent < MOST && (sent % 1000 || orr_port_losses(r.port).not_received < 1000))
    sent += sendto(fd, bytes, BYTES, 0, (const struct sockaddr *)&r.address, sizeof r.address) == BYTES;
  while (recv(orr_udp_of(r.port->carrier)->fd, bytes, BYTES, MSG_DONTWAIT) == BYTES)
    read++;
  uint64_t lost = orr_port_losses(r.port).not_received;
  print_message("%llu packets sent, %llu in the buffer, %llu dropped\n", (unsigned long long)sent,
                (unsigned long long)read, (unsigned long long)lost);
  assert_true(lost >= 1000);
  assert_int_equal(read + lost, sent);
  close(fd);
  orr_port_close(r.port);
  done(&r);
}

/* A network of its own whose loopback lets a byte through now and then: what is sent stays charged to the socket that
 * sent it. */
static bool slow_network(void) {
  return unshare(CLONE_NEWNET) == 0 && system("ip link set lo up 2>/dev/null") == 0 &&
         system("tc qdisc add dev lo root tbf rate 1mbit burst 10kb limit 100mb 2>/dev/null") == 0;
}

/* In a process of its own, so no assertion of the framework's. */
static void must(bool good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "full send buffer: not so: %s\n", what);
  _exit(1);
}

static void fly_with_full_send_buffer(bool plain) {
  enum { MOST = 20000 };
  struct rig r = prepare((struct shape){UDP, false, 0, "hold", 0});
  struct peer p;
  char message[200];
  r.flight.session->relay.plain = plain;
  must(orr_session_open_links(r.flight.session, false, NULL, message, sizeof message), "the link opens");
  must(r.flight.session->relay.plain == plain, "the relay is what was asked for");
  enter(&p, &r);
  must(system("tc qdisc change dev lo root tbf rate 8bit burst 1500 limit 100mb") == 0, "a slower network");
  int out = 0;
  for (; out < MOST && orr_port_losses(r.port).full < 100; out += SALVO)
    must(fly_salvo(&r), "the relay does not wait for the kernel");
  struct orr_link_losses lost = orr_port_losses(r.port);
  fprintf(stderr, "%s: %d frames out, %llu packets not taken by the kernel\n", plain ? "plain" : "io_uring", out,
          (unsigned long long)lost.full);
  must(lost.full >= 100 && lost.unsent + lost.not_relayed == 0, "what is not sent is counted by its cause");
  must(system("tc qdisc del dev lo root") == 0, "a quick network again");
  uint64_t frame = (uint64_t)orr_plant_frame(r.flight.plant);
  fly(&r);
  must(reach(&p, frame), "the next frame arrives");
  command(&p, 0.06, (struct orr_forgery){.answers = frame});
  fly(&r);
  must(torque(&r) == 0.06, "its answer is applied");
  leave(&p);
}

static void a_full_send_buffer_is_counted_and_nobody_waits_for_it(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      if (!slow_network())
        _exit(77);
      fly_with_full_send_buffer(plain);
      _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
      print_message("no network of one's own with a token bucket here: root, and `tc` of iproute2, are needed\n");
      skip();
    }
    assert_int_equal(status, 0);
  }
}

/* Its socket takes what it has room for, and the rest is dropped there. */
static void a_suspended_peer_over_udp_holds_up_nobody_and_recovers(void **state) {
  (void)state;
  enum { FRAMES = 3000 };
  struct rig r = make((struct shape){UDP, false, 0, "zero", 0});
  int small = 4096;
  struct peer p;
  enter(&p, &r);
  assert_int_equal(setsockopt(p.client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  fly(&r);
  answer(&p, 0, 0.05);
  for (int i = 0; i < FRAMES; i += SALVO)
    assert_true(fly_salvo(&r));
  assert_true(torque(&r) == 0);
  assert_int_equal(orr_port_losses(r.port).not_relayed + orr_port_losses(r.port).full, 0);
  assert_int_equal(r.port->rules.counts.timeouts, 1);
  uint64_t frame = (uint64_t)orr_plant_frame(r.flight.plant);
  while (orr_client_wait(&p.client, ORR_CLIENT_FUTEX, 100) == 1) { /* what it finds when it goes on */
    uint64_t before = judged(&r);
    assert_int_equal(orr_client_send(&p.client), 0);
    await_judged(&r, before + 1);
  }
  fly(&r);
  assert_in_range(r.port->rules.counts.late, 1, 2);
  answer(&p, frame, 0.06);
  assert_true(p.client.missed > FRAMES / 2);
  fly(&r);
  assert_true(torque(&r) == 0.06);
  leave(&p);
}

/* Whatever a clock says: the one before may have come from a machine whose clock is ahead. */
static void a_peer_over_udp_follows_the_newest_whatever_that_ones_generation(void **state) {
  (void)state;
  struct rig r = make((struct shape){UDP, false, 0, "hold", 0});
  struct peer ahead, next;
  enter(&ahead, &r);
  ahead.client.generation += 1u << 30;
  orr_client_beat(&ahead.client);
  await_peers(&r, 2);
  assert_int_equal(atomic_load(&orr_packets_of(r.port->carrier)->peers), 2);
  orr_client_close(&ahead.client);
  enter(&next, &r);
  await_peers(&r, 3);
  assert_int_equal(atomic_load(&orr_packets_of(r.port->carrier)->peers), 3);
  assert_int_equal(refused(&r, ORR_REFUSAL_FOREIGN), 0);
  orr_client_close(&next.client);
  done(&r);
}

/* A packet of a later peer, from a socket of no client. */
static void send_as(const struct rig *r, const struct peer *p, int fd, enum orr_wire_function function, int later,
                    size_t payload) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  static const uint8_t zeros[64] = {0};
  const struct orr_wire_packet head = {.id = 0x1e80,
                                       .function = (uint8_t)function,
                                       .frame = orr_wire_command_frame(p->client.generation + (uint32_t)later, 0, 1),
                                       .answered = p->client.frame.number};
  size_t bytes = orr_wire_packet_write(packet, &head, zeros, payload);
  assert_int_equal(sendto(fd, packet, bytes, 0, (const struct sockaddr *)&r->address, sizeof r->address), bytes);
}

static void nobody_takes_over_or_ends_a_run_whose_peer_lives(void **state) {
  (void)state;
  struct rig r = make((struct shape){UDP, false, 0, "hold", 0});
  struct peer p;
  int stranger = socket(AF_INET, SOCK_DGRAM, 0);
  size_t bytes;
  uint64_t foreign = 0, malformed = 0;
  enter(&p, &r);
  bytes = p.client.header.command_bytes;
  for (int k = 0; k < 4; k++) {
    fly(&r);
    answer(&p, (uint64_t)(k * DIVISOR), 0.01 * k);
    uint64_t before = judged(&r);
    for (int later = 0; later < 2; later++) {
      send_as(&r, &p, stranger, ORR_WIRE_COMMANDS, later, bytes);
      send_as(&r, &p, stranger, ORR_WIRE_BEAT, later, 0);
      send_as(&r, &p, stranger, ORR_WIRE_END, later, 0);
      send_as(&r, &p, stranger, ORR_WIRE_LEAVE, later, 0);
      send_as(&r, &p, stranger, ORR_WIRE_COMMANDS, later, bytes - 1); /* of no possible length */
      send_as(&r, &p, p.client.fd, ORR_WIRE_COMMANDS, 1, bytes + 8);  /* the peer's own mistake */
    }
    await_judged(&r, before + 12);
    assert_int_equal(refused(&r, ORR_REFUSAL_FOREIGN), foreign += 8);
    assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), malformed += 4);
  }
  fly(&r);
  assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
  assert_int_equal(orr_port_counts(r.port).peers, 1);
  assert_true(torque(&r) == 0.03);
  /* nor may one that begins by it, once the peer is silent */
  nap_ms(ORR_WIRE_SILENCE_MS + 50);
  send_as(&r, &p, stranger, ORR_WIRE_END, 1, 0);
  for (int i = 0; i < 2000 && refused(&r, ORR_REFUSAL_FOREIGN) == foreign; i++)
    nap_ms(1);
  fly(&r);
  assert_int_equal(r.flight.session->end, ORR_PORT_GOES_ON);
  close(stranger);
  leave(&p);
}

/* Somebody without our client: a socket at an address of this machine. */
static int somebody(uint32_t host, int port) {
  const struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(host)}};
  int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
  return fd;
}

/* An answer of a generation to a frame; returns how many of a cause are refused then. */
static uint64_t refused_of(struct rig *r, int fd, uint32_t generation, uint64_t answers, double value,
                           enum orr_refusal why) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  const struct orr_wire_packet head = {
      .id = 0x1e80, .frame = orr_wire_command_frame(generation, 0, 1), .answered = answers};
  uint64_t before = judged(r), payload[8] = {0};
  memcpy(payload, &value, sizeof value);
  size_t bytes = orr_wire_packet_write(packet, &head, payload, r->port->layout.commands.bytes);
  assert_int_equal(sendto(fd, packet, bytes, 0, (const struct sockaddr *)&r->address, sizeof r->address), bytes);
  await_judged(r, before + 1);
  return refused(r, why);
}

/* Of the two shapes one names its peer, whose clock may begin again: after a silence its earlier generation is heard.
 * Nobody else gains by it: not while it speaks, not from another machine, and not where no peer is named. */
static void a_named_peer_whose_clock_begins_again_is_heard_after_a_silence(void **state) {
  (void)state;
  for (int named = 0; named < 2; named++) {
    int port = orr_port_free(), here = somebody(INADDR_LOOPBACK, port), elsewhere = somebody(INADDR_LOOPBACK + 1, 0);
    struct rig r = make((struct shape){UDP, false, 0, "hold", named ? port : 0});
    fly(&r);
    assert_int_equal(refused_of(&r, here, 2000000000, 0, 0.01, ORR_REFUSAL_FOREIGN), 0);
    fly(&r);
    assert_true(torque(&r) == 0.01);
    assert_int_equal(refused_of(&r, here, 7, DIVISOR, 0.02, ORR_REFUSAL_FOREIGN), 1);
    nap_ms(ORR_WIRE_SILENCE_MS + 50);
    assert_int_equal(refused_of(&r, elsewhere, 7, DIVISOR, 0.03, ORR_REFUSAL_FOREIGN), 2);
    assert_int_equal(refused_of(&r, here, 7, DIVISOR, 0.04, ORR_REFUSAL_FOREIGN), named ? 2 : 3);
    fly(&r);
    assert_true(torque(&r) == (named ? 0.04 : 0.01));
    assert_int_equal(orr_port_counts(r.port).peers, 1 + named);
    assert_int_equal(refused_of(&r, here, 6, 2 * DIVISOR, 0.05, ORR_REFUSAL_FOREIGN), named ? 3 : 4);
    close(here);
    close(elsewhere);
    done(&r);
  }
}

/* What other software sends to the same port, whole space packets without our sum, is counted for itself. */
static void packets_of_other_software_are_not_called_malformed(void **state) {
  (void)state;
  struct rig r = make((struct shape){UDP, false, 0, "hold", 0});
  int fd = somebody(INADDR_LOOPBACK, 0);
  uint8_t packet[60] = {0x08, 0x80, 0xc0, 0, 0, sizeof packet - 7};
  uint64_t before = judged(&r);
  for (int k = 0; k < 3; k++) { /* the second says another length, the third is of another version */
    packet[5] = (uint8_t)(sizeof packet - 7 + (k == 1));
    packet[0] = k == 2 ? 0x28 : 0x08;
    assert_int_equal(sendto(fd, packet, sizeof packet, 0, (const struct sockaddr *)&r.address, sizeof r.address),
                     sizeof packet);
  }
  await_judged(&r, before + 3);
  assert_int_equal(refused(&r, ORR_REFUSAL_OTHER_ID), 1);
  assert_int_equal(refused(&r, ORR_REFUSAL_MALFORMED), 2);
  assert_int_equal(orr_port_counts(r.port).peers, 0);
  close(fd);
  done(&r);
}

static void a_second_peer_waits_for_the_silence_of_the_first_which_is_told_then(void **state) {
  (void)state;
  struct rig r = make((struct shape){UDP, false, 0, "hold", 0});
  struct peer p, q;
  enter(&p, &r);
  fly(&r);
  answer(&p, 0, 0.01);
  assert_int_equal(orr_client_open(&q.client, r.url, 2000), 0);
  assert_int_equal(orr_client_wait(&q.client, ORR_CLIENT_FUTEX, 200), -EBUSY);
  assert_non_null(strstr(q.client.error, "another peer commands"));
  /* the first gives no sign any more */
  for (int i = 0; i < 100 && orr_port_counts(r.port).peers < 2; i++)
    assert_true(orr_client_wait(&q.client, ORR_CLIENT_FUTEX, 100) <= 0);
  await_peers(&r, 2);
  fly(&r);
  assert_int_equal(orr_client_wait(&q.client, ORR_CLIENT_FUTEX, 60000), 1);
  assert_int_equal(q.client.frame.number, DIVISOR);
  int status;
  while ((status = orr_client_wait(&p.client, ORR_CLIENT_FUTEX, 60000)) == 1) {
  }
  assert_int_equal(status, -EOWNERDEAD);
  assert_int_equal(orr_port_counts(r.port).peers, 2);
  orr_client_close(&q.client);
  leave(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_fault_is_counted_by_its_cause_and_leaves_the_bits_as_they_were),
      cmocka_unit_test(a_count_that_goes_back_is_counted_once_and_taken_up_where_it_stays),
      cmocka_unit_test(a_wrong_sum_another_id_or_another_sender_is_counted_and_does_not_lead_frames_away),
      cmocka_unit_test(a_flood_of_replays_displaces_no_good_answer),
      cmocka_unit_test(a_late_answer_is_applied_late_and_recorded_with_its_frame),
      cmocka_unit_test(an_answer_that_is_overtaken_is_superseded_and_its_copies_are_stale),
      cmocka_unit_test(lockstep_that_goes_on_applies_a_late_answer_late),
      cmocka_unit_test(when_commands_stop_levels_follow_the_policy_and_pulses_end),
      cmocka_unit_test(lockstep_without_an_answer_stops_or_goes_on_as_the_run_file_says),
      cmocka_unit_test(a_peer_that_comes_in_lockstep_begins_with_the_oldest_frame_without_an_answer),
      cmocka_unit_test(a_peer_that_closes_its_link_in_lockstep_is_not_waited_for),
      cmocka_unit_test(the_peer_ends_the_run),
      cmocka_unit_test(lockstep_has_the_same_bits_when_the_peer_is_killed_or_suspended),
      cmocka_unit_test(a_truncated_segment_is_a_dead_link_and_in_lockstep_the_run_ends_by_its_policy),
      cmocka_unit_test(packets_that_the_kernel_drops_are_counted_to_the_last),
      cmocka_unit_test(a_full_send_buffer_is_counted_and_nobody_waits_for_it),
      cmocka_unit_test(a_peer_over_udp_follows_the_newest_whatever_that_ones_generation),
      cmocka_unit_test(nobody_takes_over_or_ends_a_run_whose_peer_lives),
      cmocka_unit_test(a_named_peer_whose_clock_begins_again_is_heard_after_a_silence),
      cmocka_unit_test(packets_of_other_software_are_not_called_malformed),
      cmocka_unit_test(a_second_peer_waits_for_the_silence_of_the_first_which_is_told_then),
      cmocka_unit_test(a_suspended_peer_over_udp_holds_up_nobody_and_recovers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
