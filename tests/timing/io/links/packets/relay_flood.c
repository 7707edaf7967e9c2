/* A run at 1 kHz with flight software over UDP while 100,000 packets of garbage a second come to its port, half from an
 * address that may send, half from one that may not: every one is accounted for by its cause, the run and the rt thread
 * are as without, and the answers of the flight software are still applied. Programs of their own: the run, its peer
 * (`echo`), and the flood, which this process sends.
 *
 * The rate is printed as achieved. No time is judged: whether answers come is tried three times, since the host may
 * take the cores away. The flight software goes before what else the machine does, and before the flood, where that may
 * be had. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "io/wire/wire.h"
#include "rt/machine/setup.h"
#include "tests/support/clock.h"
#include "tests/support/flood.h"
#include "tests/support/port.h"

enum { RATE_HZ = 100000, TRIES = 3, PATIENCE_MS = 20000, PEER_PRIORITY = 2 };

static const char pattern[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial},\n"
    "  nodes: {n: {at: [0, 0, 0]}}}}}\n"
    "actuators: {wheel: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.01, max_torque: 0.1}}\n"
    "sensors: {gyro: {kind: rate_gyro, node: bus.n, rate: 1 kHz}}\n"
    "simulation: {step: 1 ms, duration: %d ms, initial: {bus: {rate: [0, 0, 0.1]}}}\n"
    "realtime: {core: %d, spin: 0 s, phase: 0 s}\n"
    "links: {fsw: {transport: udp, listen: '127.0.0.1:%d', allow: [127.0.0.1], rate: 1 kHz, telemetry: [gyro.*], "
    "commands: [wheel.torque]}}\n";

struct trial {
  char dir[32], run[64], out[64], url[40];
  int core; /* of the executive; −1: any */
  struct sockaddr_in address;
};

static struct trial prepare(int duration_ms) {
  struct trial t = {.dir = "/tmp/orrery.flood.XXXXXX", .core = orr_setup_choose_core()};
  uint16_t port = orr_port_free();
  assert_non_null(mkdtemp(t.dir));
  snprintf(t.run, sizeof t.run, "%s/run.yaml", t.dir);
  snprintf(t.out, sizeof t.out, "%s/summary.json", t.dir);
  snprintf(t.url, sizeof t.url, "udp:127.0.0.1:%d", port);
  t.address =
      (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  FILE *f = fopen(t.run, "we");
  assert_non_null(f);
  fprintf(f, pattern, duration_ms, t.core > 0 ? t.core : 0, port);
  assert_int_equal(fclose(f), 0);
  return t;
}

static void tidy_up(const struct trial *t) {
  unlink(t->run);
  unlink(t->out);
  rmdir(t->dir);
}

/* What comes from outside comes on other cores than the executive's; where there is one other, which the io thread
 * needs, the flood comes from that one, too. Returns how many others there are. */
static int keep_off(int core) {
  cpu_set_t cores;
  if (core < 0 || sched_getaffinity(0, sizeof cores, &cores) != 0)
    return 0;
  CPU_CLR((size_t)core, &cores);
  if (CPU_COUNT(&cores) > 0)
    sched_setaffinity(0, sizeof cores, &cores);
  return CPU_COUNT(&cores);
}

static pid_t start(const char *program, char *const arguments[], const char *out, int priority) {
  const struct sched_param param = {.sched_priority = priority};
  pid_t child = fork();
  if (child != 0)
    return child;
  if (priority > 0)
    (void)sched_setscheduler(0, SCHED_FIFO, &param);
  if (out) {
    int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDOUT_FILENO);
  }
  execv(program, arguments);
  _exit(127);
}

static pid_t start_run(const struct trial *t) {
  char *orrery = getenv("ORRERY");
  assert_non_null(orrery);
  char word[] = "run", mode[] = "--mode", realtime[] = "realtime", json[] = "--json", run[64];
  snprintf(run, sizeof run, "%s", t->run);
  char *const arguments[] = {orrery, word, run, mode, realtime, json, NULL};
  return start(orrery, arguments, t->out, 0);
}

static pid_t start_peer(const struct trial *t) {
  char path[4096], program[4200], how[] = "futex", url[40];
  snprintf(path, sizeof path, "%s", getenv("ORRERY"));
  snprintf(program, sizeof program, "%s/echo", dirname(path));
  snprintf(url, sizeof url, "%s", t->url);
  char *const arguments[] = {program, how, url, NULL};
  return start(program, arguments, "/dev/null", PEER_PRIORITY);
}

/* Whether the io thread answers: asked for its description, which makes nobody its peer. */
static bool listens(const struct trial *t) {
  const struct orr_wire_packet question = {.id = ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND,
                                           .function = ORR_WIRE_DESCRIBE};
  const struct timeval patience = {.tv_usec = 20000};
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  size_t bytes = orr_wire_packet_write(packet, &question, NULL, 0);
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool heard = false;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  for (int i = 0; i < PATIENCE_MS / 20 && !heard; i++) {
    sendto(fd, packet, bytes, 0, (const struct sockaddr *)&t->address, sizeof t->address);
    heard = recv(fd, packet, sizeof packet, 0) > 0;
    if (!heard)
      nap_ms(5);
  }
  close(fd);
  return heard;
}

/* root.a.b.c, or root.a.b where c is NULL. */
static json_int_t number(const json_t *root, const char *a, const char *b, const char *c) {
  const json_t *inner = json_object_get(json_object_get(root, a), b), *j = c ? json_object_get(inner, c) : inner;
  if (!json_is_integer(j))
    fail_msg("the summary has no %s.%s.%s", a, b, c ? c : "");
  return json_integer_value(j);
}

static json_t *summary(const struct trial *t, pid_t run) {
  int status;
  json_error_t error;
  assert_int_equal(waitpid(run, &status, 0), run);
  json_t *root = json_load_file(t->out, 0, &error);
  if (!root || status != 0)
    fail_msg("the run ended with %d: %s", status, root ? "" : error.text);
  return root;
}

static void print_run(const char *what, const json_t *root) {
  const json_t *start = json_object_get(json_object_get(json_object_get(root, "timing"), "histograms"), "start");
  printf("%s: %lld frames, %lld late by our own doing, %lld involuntary switches, start p99 %.1f us, worst %.1f us\n",
         what, (long long)number(root, "timing", "counts", "frames"),
         (long long)number(root, "timing", "counts", "own"),
         (long long)number(root, "timing", "counts", "involuntary_switches"),
         1e-3 * (double)json_integer_value(json_object_get(start, "p99_ns")),
         1e-3 * (double)json_integer_value(json_object_get(start, "max_ns")));
  const json_t *link = json_object_get(json_object_get(root, "links"), "fsw");
  printf("%s: of %lld frames out %lld answered on time, %lld late, %lld superseded, %lld never\n", what,
         (long long)json_integer_value(json_object_get(link, "published")),
         (long long)number(link, "answers", "on_time", NULL), (long long)number(link, "answers", "late", NULL),
         (long long)number(link, "answers", "superseded", NULL),
         (long long)number(link, "answers", "unanswered", NULL));
}

/* What holds on any machine: all frames, and nothing of the rt thread's that the outside could have caused. */
static void assert_undisturbed(const json_t *root, int frames) {
  assert_int_equal(number(root, "timing", "counts", "frames"), frames);
  if (json_array_size(json_object_get(root, "lacks")) > 0) {
    printf("this machine does not give what a real-time run needs: page faults and switches are not judged\n");
    return;
  }
  assert_int_equal(number(root, "timing", "counts", "minor_faults"), 0);
  assert_int_equal(number(root, "timing", "counts", "major_faults"), 0);
  assert_int_equal(number(root, "timing", "counts", "voluntary_switches"), 0);
}

static json_int_t refused(const json_t *link, const char *cause) { return number(link, "refused", cause, NULL); }

/* Each packet was refused by its cause, or dropped by the kernel, which may have dropped commands, too. */
static void assert_accounted_for(const json_t *link, const struct orr_flood *f) {
  json_int_t malformed = refused(link, "malformed"), foreign = refused(link, "foreign"),
             dropped = number(link, "lost", "not_received_kernel_buffer_full", NULL);
  printf("flood: %lld refused as malformed, %lld as foreign, %lld dropped by the kernel\n", (long long)malformed,
         (long long)foreign, (long long)dropped);
  assert_true(malformed > 0 && foreign > 0);
  assert_true(malformed <= (json_int_t)f->from[0] && foreign <= (json_int_t)f->from[1]);
  assert_true(malformed + foreign + dropped >= (json_int_t)(f->from[0] + f->from[1]));
  assert_int_equal(refused(link, "wrong_version") + refused(link, "wrong_layout") + refused(link, "not_finite") +
                       refused(link, "out_of_range"),
                   0);
}

/* One flight, flooded for so many seconds. */
struct flight {
  bool flooded, answered; /* at the rate asked for; most frames */
  bool raised;            /* a real-time priority was to be had */
};

static struct flight fly(int duration_ms, double flood_s) {
  const uint32_t from[2] = {INADDR_LOOPBACK, INADDR_LOOPBACK + 1};
  struct trial t = prepare(duration_ms);
  struct orr_flood flood = {.wall_s = 1};
  pid_t run = start_run(&t);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  bool everywhere = keep_off(t.core) < 2;
  assert_true(listens(&t));
  pid_t peer = start_peer(&t);
  if (everywhere)
    sched_setaffinity(0, sizeof before, &before);
  nap_ms(300);
  if (flood_s > 0) {
    flood = orr_flood(&t.address, from, RATE_HZ, flood_s);
    printf("flood, from %s: ", everywhere ? "any core" : "cores that are not the executive's");
    orr_flood_print(&flood, RATE_HZ);
  }
  json_t *root = summary(&t, run);
  waitpid(peer, NULL, 0);
  sched_setaffinity(0, sizeof before, &before);
  const json_t *link = json_object_get(json_object_get(root, "links"), "fsw");
  print_run(flood_s > 0 ? "flooded" : "quiet", root);
  assert_undisturbed(root, duration_ms);
  if (flood_s > 0)
    assert_accounted_for(link, &flood);
  assert_int_equal(json_integer_value(json_object_get(link, "peers")), 1);
  json_int_t applied = json_integer_value(json_object_get(link, "applied"));
  json_decref(root);
  tidy_up(&t);
  return (struct flight){.flooded = (double)(flood.from[0] + flood.from[1]) >= 0.99 * RATE_HZ * flood.wall_s,
                         .answered = applied > duration_ms / 2,
                         .raised = flood.raised};
}

static void a_flood_of_garbage_leaves_run_and_answers_as_they_are(void **state) {
  (void)state;
  bool quiet = fly(1000, 0).answered, answered = false, flooded = false, raised = false;
  for (int i = 0; i < TRIES && !(answered && flooded); i++) {
    struct flight f = fly(6000, 2);
    answered |= f.answered;
    flooded |= f.flooded;
    raised |= f.raised;
  }
  if (!flooded)
    printf("in %d runs this machine did not send %d packets a second\n", TRIES, RATE_HZ);
  if (!answered && !quiet && !raised) {
    print_message("without a flood, too, less than half of the answers were applied: this machine is busy\n");
    skip(); /* all but that was judged */
  }
  if (!answered)
    fail_msg("in %d runs less than half of the answers were applied under the flood", TRIES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_flood_of_garbage_leaves_run_and_answers_as_they_are)};
  setvbuf(stdout, NULL, _IOLBF, 0);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
