/* The contract of io/links/carriers/carrier: the same scripted exchange over every carrier gives the same applied
 * values, the same counts and the same bits, and each kind is whole. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client.h"
#include "rt/tick/clock.h"
#include "tests/support/flight.h"
#include "tests/support/port.h"

/* Frames of the simulation between two of the link, and the first of them. */
enum { DIVISOR = 10, PHASE = 3, FRAMES = 12, PATIENCE_NS = 1000000000 };

static const char pattern[] =
    ORR_FLIGHT_CRAFT "links: {fsw: {%s, rate: 10 Hz, phase: 3, telemetry: [gyro.saturated, gyro.rate], commands: "
                     "[jet.on_time, '*.torque']}}\n";

/* What the controller says to frame k, beside a part that follows what it was told: good, or not finite. Its fifth
 * answer is good but for a time that is out of range, and so is not applied at all. */
enum { OUT_OF_RANGE = 4 };
static const double script[FRAMES] = {0.05,  -0.06, __builtin_nan(""), 0.08,  0.02, -0.05,
                                      -0.01, 0.05,  HUGE_VAL,          -0.07, 0.06, 0.01};
static double torque_for(int k, double rate) { return script[k % FRAMES] + 0.1 * rate; }
static double on_time_for(int k) { return k == OUT_OF_RANGE ? -1 : 0.001 * k; }

/* ---- the same controller, linked in and outside ------------------------------------------------------------------ */

static void inside(const struct orr_answer *a) {
  int k = (int)a->memory[0]++;
  a->commands[0] = on_time_for(k);
  a->commands[1] = torque_for(k, a->telemetry[3]); /* after saturated, in the order of the run file */
}

struct exchange {
  struct orr_flight flight;
  struct orr_port *port;
  struct orr_client client;
  bool outside;
};

/* Those that a client of ours opens without a cable or a bus, and the controller inside. */
static const enum orr_transport flown[] = {ORR_TRANSPORT_LINKED, ORR_TRANSPORT_SHM, ORR_TRANSPORT_UDP,
                                           ORR_TRANSPORT_TCP, ORR_TRANSPORT_UNIX};
enum { FLOWN = sizeof flown / sizeof *flown };

static char folder[] = "/tmp/orrery.carrier.XXXXXX"; /* ours alone, as a run wants it for its socket */

static void name_ends(enum orr_transport transport, char *link, size_t link_size, char *url, size_t url_size) {
  unsigned port = orr_port_free();
  switch (transport) {
  case ORR_TRANSPORT_UDP:
    snprintf(link, link_size, "transport: udp, listen: '127.0.0.1:%u', allow: [127.0.0.1]", port);
    snprintf(url, url_size, "udp:127.0.0.1:%u", port);
    break;
  case ORR_TRANSPORT_TCP:
    snprintf(link, link_size, "transport: tcp, listen: '127.0.0.1:%u', allow: [127.0.0.1]", port);
    snprintf(url, url_size, "tcp:127.0.0.1:%u", port);
    break;
  case ORR_TRANSPORT_UNIX:
    snprintf(link, link_size, "transport: unix, path: %s/link", folder);
    snprintf(url, url_size, "unix:%s/link", folder);
    break;
  default:
    snprintf(link, link_size, "transport: shm, name: /orrery.carrier.%d", (int)getpid());
    snprintf(url, url_size, "shm:/orrery.carrier.%d", (int)getpid());
  }
}

static struct exchange begin(enum orr_transport transport) {
  struct exchange e = {.outside = orr_carrier_kind(transport)->outside};
  char text[2000], link[200], url[80], message[400];
  name_ends(transport, link, sizeof link, url, sizeof url);
  snprintf(text, sizeof text, pattern, link);
  e.flight = orr_flight_make(text, NULL);
  struct orr_session_link *l = &e.flight.session->links[0];
  orr_linked_answer_by(l->inside->carrier, inside);
  e.port = l->inside; /* answers as long as nothing is opened */
  if (!e.outside)
    return e;
  if (!orr_session_open_links(e.flight.session, false, NULL, message, sizeof message))
    fail_msg("%s", message);
  e.port = l->outside;
  assert_false(e.port->carrier->kind->lives(e.port->carrier));
  assert_int_equal(orr_client_open(&e.client, url, 2000), 0);
  assert_true(orr_port_wait_for_peer(e.port, orr_clock_now_ns()));
  assert_true(e.port->carrier->kind->lives(e.port->carrier));
  return e;
}

/* The answer is here, but not taken yet: `wait` ends when something has come. */
static void answer_from_outside(struct exchange *e, int k) {
  assert_int_equal(orr_client_wait(&e->client, ORR_CLIENT_FUTEX, 60000), 1);
  assert_int_equal(e->client.frame.number, PHASE + k * DIVISOR);
  double rate = orr_client_get(&e->client, orr_client_find(&e->client, "gyro.rate"), 2);
  orr_client_set(&e->client, orr_client_find(&e->client, "jet.on_time"), 0, on_time_for(k));
  orr_client_set(&e->client, orr_client_find(&e->client, "wheel.torque"), 0, torque_for(k, rate));
  assert_int_equal(orr_client_send(&e->client), 0);
  e->port->carrier->kind->wait(e->port->carrier, PATIENCE_NS);
}

/* What of an exchange is the same whatever carries it. */
struct outcome {
  double torque[FRAMES * DIVISOR], thrust[FRAMES * DIVISOR];
  struct orr_link_counts counts;
  struct orr_answers answers;
  uint64_t hash;
};

static struct outcome fly(enum orr_transport transport) {
  struct outcome o = {0};
  struct exchange e = begin(transport);
  for (int n = 0; n < FRAMES * DIVISOR; n++) {
    orr_flight_run(&e.flight, 1);
    o.torque[n] = orr_flight_value(&e.flight, "wheel.torque");
    o.thrust[n] = orr_flight_value(&e.flight, "jet.thrust");
    if (e.outside && n % DIVISOR == PHASE)
      answer_from_outside(&e, n / DIVISOR);
  }
  orr_session_settle(e.flight.session);
  o.counts = orr_port_counts(e.port);
  o.answers = orr_rules_answers(&e.port->rules);
  o.hash = orr_session_hash(e.flight.session);
  assert_int_equal(o.counts.peers, e.outside); /* who is linked in does not come */
  o.counts.peers = 0;
  const struct orr_link_losses lost = orr_port_losses(e.port);
  assert_int_equal(lost.not_received + lost.full + lost.unsent + lost.not_relayed, 0);
  if (e.outside)
    orr_client_close(&e.client);
  orr_flight_free(&e.flight);
  return o;
}

static void every_carrier_applies_the_same_values_at_the_same_frames(void **state) {
  (void)state;
  const struct outcome first = fly(ORR_TRANSPORT_LINKED);
  /* by the rule, without any code of ours: the answer to frame k holds from k + 1 on, unless it is not a value */
  for (int n = 0; n < FRAMES * DIVISOR; n++) {
    int k = n < PHASE ? -2 : (n - PHASE) / DIVISOR - 1;
    double expected = 0;
    for (int i = 0; i <= k; i++)
      expected = fabs(script[i]) < 0.1 && i != OUT_OF_RANGE ? script[i] : expected;
    if (!(fabs(first.torque[n] - expected) < 0.02))
      fail_msg("frame %d: %g, not %g", n, first.torque[n], expected);
  }
  assert_int_equal(first.counts.published, FRAMES);
  assert_int_equal(first.counts.applied, FRAMES - 4); /* three are refused, and the last one waits */
  assert_int_equal(first.counts.missed, 3);
  assert_int_equal(first.counts.refused[ORR_REFUSAL_NOT_FINITE], 2);
  assert_int_equal(first.counts.refused[ORR_REFUSAL_OUT_OF_RANGE], 1);
  assert_int_equal(first.answers.waiting, 1);
  for (int i = 0; i < FLOWN; i++) {
    const struct outcome o = fly(flown[i]);
    assert_memory_equal(o.torque, first.torque, sizeof o.torque);
    assert_memory_equal(o.thrust, first.thrust, sizeof o.thrust);
    assert_memory_equal(&o.counts, &first.counts, sizeof o.counts);
    assert_memory_equal(&o.answers, &first.answers, sizeof o.answers);
    assert_true(o.hash == first.hash);
  }
}

static void every_kind_is_whole_and_says_what_it_is(void **state) {
  (void)state;
  for (int i = 0; i < FLOWN; i++) {
    const struct orr_carrier_kind *kind = orr_carrier_kind(flown[i]);
    struct exchange e = begin(flown[i]);
    char text[ORR_CARRIER_DOCUMENT] = "";
    assert_non_null(kind);
    assert_ptr_equal(e.port->carrier->kind, kind);
    kind->describe(e.port->desc, text, sizeof text);
    assert_memory_equal(text, kind->name, strlen(kind->name));
    assert_int_equal(text[strlen(kind->name)], ':');
    const struct orr_wire_header header = {.layout_hash = e.port->layout.hash};
    kind->document(e.port->desc, &header, text, sizeof text);
    assert_in_range(strlen(text), 10, sizeof text - 2);
    assert_int_equal(text[strlen(text) - 1], '\n');
    kind->explain(e.port->desc, ENOMEM, text, sizeof text);
    assert_string_equal(text, strerror(ENOMEM));
    /* what can be saved is inside, and only that: then its time is not bounded by us */
    assert_true(kind->outside == (kind->state_words == NULL));
    assert_true(kind->outside == (kind->state_get == NULL));
    assert_true(kind->outside == (kind->state_put == NULL));
    assert_true(kind->outside == (kind->handover_ns > 0));
    assert_true(kind->outside == (kind->first_wait_ns > 0));
    assert_false(kind->dead(e.port->carrier));
    /* its own refusals are added to those of the rules */
    uint64_t counts[ORR_REFUSALS] = {[ORR_REFUSAL_STALE] = 7};
    kind->refused(e.port->carrier, counts);
    assert_int_equal(counts[ORR_REFUSAL_STALE], 7);
    if (kind->outside)
      orr_client_close(&e.client);
    orr_flight_free(&e.flight);
  }
}

/* Those that are not flown here, too: a callback may be missing only where the interface says what that means. */
static void no_table_lacks_a_callback(void **state) {
  (void)state;
  for (enum orr_transport t = 0; t <= ORR_TRANSPORT_PCAP; t++) {
    const struct orr_carrier_kind *k = orr_carrier_kind(t);
    assert_non_null(k);
    assert_non_null(k->name);
    assert_true(k->bytes >= sizeof(struct orr_carrier));
    assert_true(k->lay_out && k->open && k->close && k->admit && k->describe && k->explain && k->document);
    assert_true(k->publish && k->take && k->beats && k->wait);
    assert_true(k->lives && k->left && k->process && k->dead && k->refused && k->losses);
    assert_true(k->outside == (k->first_wait_ns > 0));
    assert_true(!k->state_words == k->outside && !k->state_get == k->outside && !k->state_put == k->outside);
    for (enum orr_transport other = 0; other < t; other++)
      assert_string_not_equal(k->name, orr_carrier_kind(other)->name);
  }
}

/* A frame that went out while nobody answered is missed by all, and one that is not of the link goes nowhere. */
static void frames_go_out_where_the_link_is_due_and_nowhere_else(void **state) {
  (void)state;
  for (int i = 0; i < FLOWN; i++) {
    struct exchange e = begin(flown[i]);
    orr_flight_run(&e.flight, PHASE);
    assert_int_equal(e.port->rules.counts.published, 0);
    orr_flight_run(&e.flight, 1);
    assert_int_equal(e.port->rules.counts.published, 1);
    assert_int_equal(e.port->rules.published, PHASE);
    orr_flight_run(&e.flight, DIVISOR - 1);
    assert_int_equal(e.port->rules.counts.published, 1);
    assert_int_equal(e.port->rules.counts.missed, 0);
    orr_flight_run(&e.flight, 1);
    assert_int_equal(e.port->rules.counts.published, 2);
    assert_int_equal(e.port->rules.counts.missed, e.outside);
    if (e.outside)
      orr_client_close(&e.client);
    orr_flight_free(&e.flight);
  }
}

/* Saved at any frame, also before the first of the link and where the answer that waits is not a value. */
static void a_saved_state_brings_back_the_answer_of_a_linked_controller(void **state) {
  (void)state;
  uint64_t words[2000];
  for (int at = 0; at < 6 * DIVISOR; at++) {
    struct exchange whole = begin(ORR_TRANSPORT_LINKED), later = begin(ORR_TRANSPORT_LINKED);
    assert_in_range(orr_session_state_words(whole.flight.session), 1, sizeof words / sizeof *words);
    orr_flight_run(&whole.flight, at);
    orr_session_state_get(whole.flight.session, words);
    /* in the order of the files that are there: the newest answer, the one before, what it remembers */
    double of_link[5], *newest = of_link, *before = of_link + 2, *memory = of_link + 4;
    memcpy(of_link, words + orr_plant_state_words(whole.flight.plant), sizeof of_link);
    int answers = at <= PHASE ? 0 : (at - 1 - PHASE) / DIVISOR + 1;
    assert_true(newest[0] == (answers > 0 ? on_time_for(answers - 1) : 0));
    assert_true(before[0] == (answers > 1 ? on_time_for(answers - 2) : 0));
    assert_true(*memory == answers);
    orr_flight_run(&later.flight, 17); /* whatever it did before */
    assert_int_equal(orr_session_state_put(later.flight.session, words), ORR_OK);
    for (int n = 0; n < 3 * DIVISOR; n++) {
      orr_flight_run(&whole.flight, 1);
      orr_flight_run(&later.flight, 1);
      assert_true(orr_flight_value(&later.flight, "wheel.torque") == orr_flight_value(&whole.flight, "wheel.torque"));
    }
    assert_true(orr_session_hash(later.flight.session) == orr_session_hash(whole.flight.session));
    orr_session_state_get(whole.flight.session, words);
    uint64_t others[2000];
    orr_session_state_get(later.flight.session, others);
    assert_memory_equal(others, words, 8 * orr_session_state_words(whole.flight.session));
    orr_flight_free(&whole.flight);
    orr_flight_free(&later.flight);
  }
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_carrier_applies_the_same_values_at_the_same_frames),
      cmocka_unit_test(every_kind_is_whole_and_says_what_it_is),
      cmocka_unit_test(no_table_lacks_a_callback),
      cmocka_unit_test(frames_go_out_where_the_link_is_due_and_nowhere_else),
      cmocka_unit_test(a_saved_state_brings_back_the_answer_of_a_linked_controller),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
