/* The client library at the other end of a run, over both transports: how it waits, how it shows that it lives, what it
 * makes of addresses, and a run that dies under it and comes back as another. What the tests of io/links show is
 * not shown again. */
#undef _FORTIFY_SOURCE /* its recv is an inline function, and the one here takes the place of that of the C library */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client.h"
#include "io/links/carriers/shm.h"
#include "tests/support/clock.h"
#include "tests/support/flight.h"
#include "tests/support/port.h"

static const char pattern[] = ORR_FLIGHT_CRAFT "links: {fsw: {%s, rate: 10 Hz, telemetry: %s, commands: %s}}\n";

/* Two runs that have only their place in common: payloads of the same length that mean something else. */
struct shape {
  const char *telemetry, *commands;
};
static const struct shape one = {"[gyro.rate]", "[wheel.torque]"};
static const struct shape other = {"[wheel.speed, wheel.friction, jet.thrust]", "[jet.on_time]"};

enum carrier { SHM, UDP, CARRIERS };
static const enum orr_client_how ways[] = {ORR_CLIENT_SPIN, ORR_CLIENT_FUTEX, ORR_CLIENT_POLL};
enum { WAYS = sizeof ways / sizeof *ways };

/* Where a link is: on both sides. */
struct place {
  char keys[120], url[80];
};

struct rig {
  struct place place;
  struct orr_flight flight;
  struct orr_port *port;
};

/* A network that does not say that nobody has a port, while `mute`: in place of the C library's functions. */
static bool mute;

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  ssize_t sent = sendto(fd, bytes, size, flags, NULL, 0);
  return mute && sent < 0 && errno == ECONNREFUSED ? (ssize_t)size : sent;
}

ssize_t recv(int fd, void *to, size_t room, int flags) {
  ssize_t got = recvfrom(fd, to, room, flags, NULL, NULL);
  if (mute && got < 0 && errno == ECONNREFUSED)
    errno = EAGAIN;
  return got;
}

static struct place find_place(enum carrier carrier) {
  struct place p;
  if (carrier == UDP) {
    uint16_t port = orr_port_free();
    snprintf(p.keys, sizeof p.keys, "transport: udp, listen: '127.0.0.1:%u', allow: [127.0.0.1]", (unsigned)port);
    snprintf(p.url, sizeof p.url, "udp:127.0.0.1:%u", (unsigned)port);
  } else {
    snprintf(p.keys, sizeof p.keys, "transport: shm, name: /orrery.client.%d", (int)getpid());
    snprintf(p.url, sizeof p.url, "shm:/orrery.client.%d", (int)getpid());
  }
  return p;
}

static struct rig make_shut(struct place place, struct shape shape, bool shut) {
  struct rig r = {.place = place};
  char text[2000], message[200];
  snprintf(text, sizeof text, pattern, place.keys, shape.telemetry, shape.commands);
  r.flight = orr_flight_make(text, NULL);
  if (shut)
    orr_session_shut_links(r.flight.session);
  if (!orr_session_open_links(r.flight.session, false, NULL, message, sizeof message))
    fail_msg("%s", message);
  r.port = r.flight.session->links[0].outside;
  return r;
}

static struct rig make(struct place place, struct shape shape) { return make_shut(place, shape, false); }

static void done(struct rig *r) { orr_flight_free(&r->flight); }

/* One frame of the link: ten of the run. */
static void fly(struct rig *r) { orr_flight_run(&r->flight, 10); }

/* A client that the run knows of, so that frames go to it. */
static void open_known(struct orr_client *c, struct rig *r) {
  assert_int_equal(orr_client_open(c, r->place.url, 60000), 0);
  for (int i = 0; i < 5000 && r->port->desc->transport == ORR_TRANSPORT_UDP &&
                  !atomic_load(&orr_packets_of(r->port->carrier)->peers);
       i++)
    nap_ms(1);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

static void each_way_of_waiting_takes_frames_in_turn(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++)
    for (int way = 0; way < WAYS; way++) {
      struct rig r = make(find_place((enum carrier)carrier), one);
      struct orr_client c;
      open_known(&c, &r);
      for (uint64_t frame = 0; frame < 300; frame += 10) {
        for (int i = 0; frame % 30 == 0 && i < 3; i++)
          fly(&r);
        assert_int_equal(orr_client_wait(&c, ways[way], 60000), 1);
        assert_int_equal(c.frame.number, frame);
        assert_int_equal(orr_client_send(&c), 0);
      }
      assert_int_equal(c.missed, 0);
      done(&r);
      assert_int_equal(orr_client_wait(&c, ways[way], 60000), -EPIPE);
      orr_client_close(&c);
    }
}

static void each_way_of_waiting_gives_up_when_its_time_is_over(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++) {
    struct rig r = make(find_place((enum carrier)carrier), one);
    struct orr_client c;
    open_known(&c, &r);
    for (int way = 0; way < WAYS; way++)
      for (int most_ms = 0; most_ms < 300; most_ms += 130) {
        double begin_s = now_s();
        assert_int_equal(orr_client_wait(&c, ways[way], most_ms), 0);
        assert_true(now_s() - begin_s > 1e-3 * (most_ms - 2)); /* whole milliseconds */
      }
    orr_client_close(&c);
    done(&r);
  }
}

struct cost {
  long switches; /* given up the core of its own will */
  double cpu_s;
};

static struct cost cost_now(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (struct cost){u.ru_nvcsw, (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                                       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec)};
}

/* What a wait of `most_ms` for nothing costs, in a process of its own (ours has the relay's thread). */
static struct cost wait_for_nothing(const char *url, enum orr_client_how how, int most_ms) {
  int ends[2];
  struct cost cost = {0};
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    struct orr_client c;
    if (orr_client_open(&c, url, 60000) != 0 || orr_client_wait(&c, how, 20) != 0)
      _exit(1);
    struct cost before = cost_now();
    if (orr_client_wait(&c, how, most_ms) != 0)
      _exit(2);
    struct cost after = cost_now();
    cost = (struct cost){after.switches - before.switches, after.cpu_s - before.cpu_s};
    orr_client_close(&c); /* makes room for the next */
    _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 3);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_int_equal(read(ends[0], &cost, sizeof cost), sizeof cost);
  close(ends[0]);
  close(ends[1]);
  return cost;
}

/* Other programs that take the cores meanwhile make every sleep longer, and so fewer: what polls still sleeps more
 * often than what the heartbeat alone wakes, each tenth of a second, unless it is held up nearly all of the time: then
 * it is asked again. They add nothing to the processor's time. */
static void spinning_never_sleeps_the_futex_sleeps_long_and_polling_often(void **state) {
  (void)state;
  enum { MOST_MS = 400 };
  for (int carrier = 0; carrier < CARRIERS; carrier++) {
    struct rig r = make(find_place((enum carrier)carrier), one);
    struct cost spin = wait_for_nothing(r.place.url, ORR_CLIENT_SPIN, MOST_MS);
    struct cost futex = wait_for_nothing(r.place.url, ORR_CLIENT_FUTEX, MOST_MS);
    struct cost poll = {0};
    for (int i = 0; i < 50 && poll.switches <= 2 * futex.switches; i++)
      poll = wait_for_nothing(r.place.url, ORR_CLIENT_POLL, MOST_MS);
    print_message("%s: sleeps %ld, %ld, %ld; CPU ms %.1f, %.1f, %.1f\n", carrier ? "udp" : "shm", spin.switches,
                  futex.switches, poll.switches, 1e3 * spin.cpu_s, 1e3 * futex.cpu_s, 1e3 * poll.cpu_s);
    assert_int_equal(spin.switches, 0);
    assert_in_range(futex.switches, 1, 19);
    assert_true(poll.switches > 2 * futex.switches);
    assert_true(futex.cpu_s < 0.25e-3 * MOST_MS);
    assert_true(poll.cpu_s < 0.75e-3 * MOST_MS);
    done(&r);
  }
}

/* A peer that has just gone to sleep is woken by the next frame, not by its own next look a tenth of a second later;
 * only such a one asks the run to enter the kernel. In ten frames, or a thousand of a busy machine, once at least. */
static void a_peer_that_sleeps_on_the_futex_is_woken_and_no_other_is_called(void **state) {
  (void)state;
  enum { FRAMES = 10, BUSY_FRAMES = 1000 };
  for (int way = 0; way < WAYS; way++) {
    struct rig r = make(find_place(SHM), one);
    pid_t child = fork();
    if (child == 0) {
      struct orr_client c;
      int status = orr_client_open(&c, r.place.url, 60000);
      while (status == 0 && (status = orr_client_wait(&c, ways[way], 60000)) == 1)
        status = orr_client_send(&c);
      _exit(status == -EPIPE ? 0 : 1);
    }
    double least_s = 1;
    int asleep = 0;
    bool sleeps = ways[way] == ORR_CLIENT_FUTEX;
    for (uint32_t frame = 1; frame <= FRAMES || (sleeps && least_s >= 0.05 && frame <= BUSY_FRAMES); frame++) {
      for (int i = 0; i < (sleeps ? 60000 : 40) && !atomic_load(&orr_shm_of(r.port->carrier)->peer->waits); i++)
        nap_ms(1);
      asleep += atomic_load(&orr_shm_of(r.port->carrier)->peer->waits) == 1;
      double begin_s = now_s();
      fly(&r);
      while (atomic_load(&orr_shm_of(r.port->carrier)->peer->commanded) != frame && now_s() - begin_s < 60)
        ;
      double took_s = now_s() - begin_s;
      assert_true(took_s < 60);
      least_s = took_s < least_s ? took_s : least_s;
    }
    if (sleeps) {
      assert_true(asleep > 0);
      assert_true(least_s < 0.05);
    } else {
      assert_int_equal(asleep, 0);
    }
    done(&r);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
  }
}

/* ---- showing that it lives --------------------------------------------------------------------------------------- */

static uint64_t beats(const struct rig *r) { return atomic_load(&orr_shm_of(r->port->carrier)->peer->heartbeat); }

static void a_peer_beats_while_it_waits_with_each_frame_and_when_it_says_so(void **state) {
  (void)state;
  for (int way = 0; way < WAYS; way++) {
    struct rig r = make(find_place(SHM), one);
    struct orr_client c;
    open_known(&c, &r);
    uint64_t before = beats(&r);
    assert_int_equal(orr_client_wait(&c, ways[way], 500), 0); /* nothing comes */
    assert_true(beats(&r) >= before + 2);                     /* of five, should others have the core now and then */
    for (int i = 0; i < 5; i++) {                             /* frames that are there already, never answered */
      before = beats(&r);
      fly(&r);
      assert_int_equal(orr_client_wait(&c, ways[way], 60000), 1);
      assert_true(beats(&r) > before);
    }
    before = beats(&r);
    nap_ms(250); /* it hangs */
    assert_int_equal(beats(&r), before);
    orr_client_beat(&c);
    assert_int_equal(beats(&r), before + 1);
    assert_int_equal(orr_client_send(&c), 0);
    assert_int_equal(beats(&r), before + 2);
    orr_client_close(&c);
    done(&r);
  }
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static void a_host_may_be_a_name(void **state) {
  (void)state;
  struct rig r = make(find_place(UDP), one);
  struct orr_client c;
  char url[80];
  snprintf(url, sizeof url, "udp:localhost%s", strrchr(r.place.url, ':'));
  assert_int_equal(orr_client_open(&c, url, 60000), 0);
  assert_int_equal(orr_client_find(&c, "gyro.rate").count, 3);
  orr_client_close(&c);
  done(&r);
}

static void an_address_that_is_none_is_refused_with_what_would_be_one(void **state) {
  (void)state;
  static const struct {
    const char *url, *says;
    int error;
  } wrong[] = {
      {"udp:[::1]:5010", "no IPv6", -EAFNOSUPPORT},
      {"udp:::1:5010", "no IPv6", -EAFNOSUPPORT},
      {"udp:127.0.0.1", "udp:host:port", -EINVAL},
      {"udp::5010", "udp:host:port", -EINVAL},
      {"udp:127.0.0.1:", "from 1 to 65535", -EINVAL},
      {"udp:127.0.0.1:0", "from 1 to 65535", -EINVAL},
      {"udp:127.0.0.1:65536", "from 1 to 65535", -EINVAL},
      {"udp:127.0.0.1:http", "from 1 to 65535", -EINVAL},
      {"udp:a..b:5010", "a..b:5010: ", -EHOSTUNREACH},
      {"shm:orrery.fsw", "shm:/name, udp:host:port, tcp:host:port", -EINVAL},
      {"ftp:127.0.0.1:5010", "shm:/name, udp:host:port, tcp:host:port", -EINVAL},
      {"tcp:[::1]:5010", "no IPv6", -EAFNOSUPPORT},
      {"tcp:127.0.0.1:0", "from 1 to 65535", -EINVAL},
      {"tcp:127.0.0.1:5010,morse", ",slip or ,cobs", -EINVAL},
      {"unix:here.sock", "begins with /", -EINVAL},
      {"serial:/dev/null@fast", "a number behind @", -EINVAL},
      {"serial:/dev/null@9600,9N1", "8N1", -EINVAL},
      {"serial:/dev/null@9600", "/dev/null@9600: ", -ENOTTY},
      {"", "shm:/name, udp:host:port, tcp:host:port", -EINVAL},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct orr_client c;
    double begin_s = now_s();
    int error = orr_client_open(&c, wrong[i].url, 20000);
    if (error != wrong[i].error || !strstr(c.error, wrong[i].says))
      fail_msg("%s: %d, %s", wrong[i].url, error, c.error);
    assert_true(now_s() - begin_s < 10); /* waiting would mend nothing */
    orr_client_close(&c);
  }
}

static void nobody_at_an_address_is_told_from_a_file_that_is_not_there(void **state) {
  (void)state;
  char urls[4][80], says[4][480];
  int port = orr_port_free();
  snprintf(urls[0], sizeof urls[0], "shm:/orrery.test.nobody.%d", (int)getpid());
  snprintf(urls[1], sizeof urls[1], "udp:127.0.0.1:%d", port);
  snprintf(urls[2], sizeof urls[2], "tcp:127.0.0.1:1,slip"); /* nobody has port 1 */
  snprintf(urls[3], sizeof urls[3], "unix:/tmp/orrery.test.nobody.%d", (int)getpid());
  snprintf(says[0], sizeof says[0], "no run has opened %s; start a run whose file has a link of that name",
           urls[0] + strlen("shm:"));
  for (int i = 1; i < 4; i++)
    snprintf(says[i], sizeof says[i], "nobody answers at %s; start a run whose file has a link there",
             strchr(urls[i], ':') + 1);
  for (int i = 0; i < 4; i++) {
    struct orr_client c;
    assert_int_equal(orr_client_open(&c, urls[i], 0), -ENOENT);
    assert_string_equal(c.error, says[i]);
    orr_client_close(&c);
  }
  struct orr_client c;
  assert_int_equal(orr_client_open(&c, "serial:/dev/orrery.test.none@9600", 0), -ENOENT); /* of a port it is the file */
  assert_string_equal(c.error, "/dev/orrery.test.none@9600: No such file or directory");
  orr_client_close(&c);
}

static void a_name_that_is_none_is_told_with_the_nearest(void **state) {
  (void)state;
  static const struct {
    const char *name, *says;
  } wrong[] = {
      {"gyro.rat", "the link has no channel 'gyro.rat'; did you mean 'gyro.rate'?"},
      {"gryo.rate", "the link has no channel 'gryo.rate'; did you mean 'gyro.rate'?"},
      {"wheel_1.torque", "the link has no channel 'wheel_1.torque'; did you mean 'wheel.torque'?"},
      {"thermometer", "the link has no channel 'thermometer'"},
      {"", "the link has no channel ''"},
  };
  struct rig r = make(find_place(SHM), one);
  struct orr_client c;
  char text[300], says[300];
  assert_int_equal(orr_client_open(&c, r.place.url, 60000), 0);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(orr_client_find(&c, wrong[i].name).count, 0);
    assert_string_equal(c.error, wrong[i].says);
  }
  memset(text, 'g', sizeof text - 1); /* a name longer than the text has room for */
  text[sizeof text - 1] = 0;
  snprintf(says, sizeof says, "the link has no channel '%.200s'", text);
  assert_int_equal(orr_client_find(&c, text).count, 0);
  assert_string_equal(c.error, says);
  c.error[0] = 0;
  assert_int_equal(orr_client_find(&c, "gyro.rate").count, 3);
  assert_string_equal(c.error, ""); /* of what is there nothing is said */
  orr_client_close(&c);
  assert_int_equal(orr_client_find(&c, "gyro.rate").count, 0); /* nor looked for behind the end */
  assert_string_equal(c.error, "the link has no channel 'gyro.rate'");
  done(&r);
}

/* ---- a run that dies --------------------------------------------------------------------------------------------- */

/* A run in a process of its own: frames of the link, apart by some milliseconds, until it has had `enough` commands or
 * is killed. */
static pid_t start_run(struct place place, struct shape shape, uint64_t enough) {
  pid_t child = fork();
  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would not end by itself when a test fails */
  struct rig r = make(place, shape);
  while (orr_port_counts(r.port).applied < enough) {
    fly(&r);
    nap_ms(3);
  }
  struct orr_link_counts counts = orr_port_counts(r.port);
  uint64_t wrong = counts.refused[ORR_REFUSAL_VERSION] + counts.refused[ORR_REFUSAL_MALFORMED];
  done(&r);
  _exit(wrong ? 1 : 0);
}

static void kill_run(pid_t run) {
  kill(run, SIGKILL);
  waitpid(run, NULL, 0);
}

/* Answers frames until the run is over. */
static int fly_client(struct orr_client *c, enum orr_client_how how, const char *command) {
  struct orr_signal signal = orr_client_find(c, command);
  int status;
  while ((status = orr_client_wait(c, how, 60000)) == 1) {
    orr_client_set(c, signal, 0, 0.01);
    orr_client_send(c);
  }
  return status;
}

static void take_some(struct orr_client *c, const char *url, enum orr_client_how how) {
  assert_int_equal(orr_client_open(c, url, 60000), 0);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(orr_client_wait(c, how, 60000), 1);
    assert_int_equal(orr_client_send(c), 0);
  }
}

static void a_run_that_is_killed_is_noticed_and_the_next_can_be_opened_whatever_its_layout(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++)
    for (int way = 0; way < WAYS; way++) {
      struct place place = find_place((enum carrier)carrier);
      struct orr_client c;
      int status;
      pid_t run = start_run(place, one, UINT64_MAX);
      take_some(&c, place.url, ways[way]);
      kill_run(run);
      assert_int_equal(fly_client(&c, ways[way], "wheel.torque"), -ECONNRESET);
      orr_client_close(&c);
      assert_int_equal(orr_client_open(&c, place.url, 0), -ENOENT); /* what is left of it is no run */
      run = start_run(place, other, 5);
      assert_int_equal(orr_client_open(&c, place.url, 60000), 0);
      assert_int_equal(orr_client_find(&c, "gyro.rate").count, 0);
      assert_int_equal(orr_client_find(&c, "jet.thrust").count, 1);
      assert_int_equal(fly_client(&c, ways[way], "jet.on_time"), -EPIPE);
      orr_client_close(&c);
      waitpid(run, &status, 0);
      assert_int_equal(status, 0);
    }
}

/* Nor is word of it needed from the network. */
static void a_run_that_is_killed_is_noticed_also_where_no_port_is_refused(void **state) {
  (void)state;
  for (int way = 0; way < WAYS; way++) {
    struct place place = find_place(UDP);
    struct orr_client c;
    pid_t run = start_run(place, one, UINT64_MAX);
    take_some(&c, place.url, ways[way]);
    kill_run(run);
    mute = true;
    int status = fly_client(&c, ways[way], "wheel.torque");
    orr_client_close(&c);
    int again = orr_client_open(&c, place.url, 0);
    mute = false;
    assert_int_equal(status, -ECONNRESET);
    assert_int_equal(again, -ENOENT);
  }
}

/* The client looks elsewhere meanwhile, and comes back to the same place: nothing of the new run may pass for the old
 * one. */
static void a_run_that_was_replaced_unseen_is_not_taken_for_the_one_before(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++) {
    struct place place = find_place((enum carrier)carrier);
    struct orr_client c, second;
    int status;
    pid_t run = start_run(place, one, UINT64_MAX);
    take_some(&c, place.url, ORR_CLIENT_FUTEX);
    kill_run(run);
    run = start_run(place, other, 5);
    assert_int_equal(orr_client_open(&second, place.url, 60000), 0); /* it is there */
    while ((status = orr_client_wait(&c, ORR_CLIENT_FUTEX, 60000)) == 1)
      ; /* what was on its way */
    assert_int_equal(status, -ECONNRESET);
    orr_client_close(&c);
    assert_int_equal(fly_client(&second, ORR_CLIENT_FUTEX, "jet.on_time"), -EPIPE);
    orr_client_close(&second);
    waitpid(run, &status, 0);
    assert_int_equal(status, 0);
  }
}

/* What takes long before frame 0 is done while links are shut: who comes in waits for nothing but the others. */
static void a_link_that_is_shut_is_found_when_peers_are_admitted(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++) {
    struct rig r = make_shut(find_place((enum carrier)carrier), one, true);
    struct orr_client c;
    int status = orr_client_open(&c, r.place.url, 300);
    assert_true(status == -EAGAIN || status == -ENOENT); /* both: not yet */
    assert_true(c.error[0]);
    orr_client_close(&c);
    orr_session_admit_peers(r.flight.session);
    open_known(&c, &r);
    fly(&r);
    assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 60000), 1);
    orr_client_close(&c);
    done(&r);
  }
}

/* The tries of an open before it succeeded are not what a wait in vain met. */
static void the_error_is_of_the_last_call_that_failed(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++) {
    struct rig r = make_shut(find_place((enum carrier)carrier), one, true);
    struct orr_client c;
    pid_t opens_later = fork();
    if (opens_later == 0) { /* the mapping is one for both */
      nap_ms(200);
      orr_session_admit_peers(r.flight.session);
      _exit(0);
    }
    if (carrier == UDP) {
      nap_ms(20);
      orr_session_admit_peers(r.flight.session);
    }
    assert_int_equal(orr_client_open(&c, r.place.url, 20000), 0);
    assert_string_equal(c.error, "");
    assert_int_equal(orr_client_wait(&c, ORR_CLIENT_FUTEX, 30), 0);
    assert_string_equal(c.error, "no frame came in 30 ms");
    orr_client_close(&c);
    waitpid(opens_later, NULL, 0);
    done(&r);
  }
}

/* By whoever may: the same user. The run was started elsewhere, so that it guards nothing here. */
static void a_segment_that_is_shrunk_ends_the_link_and_not_the_program(void **state) {
  (void)state;
  for (int way = 0; way < WAYS; way++) {
    struct place place = find_place(SHM);
    pid_t run = start_run(place, one, UINT64_MAX), child = fork();
    int status;
    if (child == 0) {
      struct orr_client c;
      take_some(&c, place.url, ways[way]);
      kill(run, SIGSTOP);
      char path[100];
      snprintf(path, sizeof path, "/dev/shm%s", place.url + 4);
      if (truncate(path, 0) != 0)
        _exit(4);
      int ended = orr_client_send(&c), waited = orr_client_wait(&c, ways[way], 60000);
      orr_client_close(&c);
      _exit(ended == -ECONNRESET && waited == -ECONNRESET ? 0 : 5);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    kill_run(run);
    char path[100];
    snprintf(path, sizeof path, "/dev/shm%s", place.url + 4);
    unlink(path);
  }
}

/* A run that hangs is not dead. */
static void a_run_that_is_suspended_is_waited_for(void **state) {
  (void)state;
  for (int carrier = 0; carrier < CARRIERS; carrier++) {
    struct place place = find_place((enum carrier)carrier);
    struct orr_client c;
    int status;
    pid_t run = start_run(place, one, 20);
    take_some(&c, place.url, ORR_CLIENT_FUTEX);
    kill(run, SIGSTOP);
    while ((status = orr_client_wait(&c, ORR_CLIENT_FUTEX, 400)) == 1)
      ;
    assert_int_equal(status, 0);
    kill(run, SIGCONT);
    assert_int_equal(fly_client(&c, ORR_CLIENT_FUTEX, "wheel.torque"), -EPIPE);
    orr_client_close(&c);
    waitpid(run, &status, 0);
    assert_int_equal(status, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_way_of_waiting_takes_frames_in_turn),
      cmocka_unit_test(each_way_of_waiting_gives_up_when_its_time_is_over),
      cmocka_unit_test(spinning_never_sleeps_the_futex_sleeps_long_and_polling_often),
      cmocka_unit_test(a_peer_that_sleeps_on_the_futex_is_woken_and_no_other_is_called),
      cmocka_unit_test(a_peer_beats_while_it_waits_with_each_frame_and_when_it_says_so),
      cmocka_unit_test(a_host_may_be_a_name),
      cmocka_unit_test(an_address_that_is_none_is_refused_with_what_would_be_one),
      cmocka_unit_test(nobody_at_an_address_is_told_from_a_file_that_is_not_there),
      cmocka_unit_test(a_name_that_is_none_is_told_with_the_nearest),
      cmocka_unit_test(a_run_that_is_killed_is_noticed_and_the_next_can_be_opened_whatever_its_layout),
      cmocka_unit_test(a_run_that_is_killed_is_noticed_also_where_no_port_is_refused),
      cmocka_unit_test(a_run_that_was_replaced_unseen_is_not_taken_for_the_one_before),
      cmocka_unit_test(a_link_that_is_shut_is_found_when_peers_are_admitted),
      cmocka_unit_test(the_error_is_of_the_last_call_that_failed),
      cmocka_unit_test(a_segment_that_is_shrunk_ends_the_link_and_not_the_program),
      cmocka_unit_test(a_run_that_is_suspended_is_waited_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
