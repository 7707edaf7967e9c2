/* `orrery bench --links`: round trips over a link beside a bare pair with the same payload and the same threads on the same cores, in
 * alternating slices.
 *
 *   shm   a frame out, a spinning peer on another core answers it, the command is judged and due; beside two seqlocks and no rules
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/client/client.h"
#include "io/links/shm.h"
#include "rt/clock.h"
#include "rt/seqlock.h"
#include "tools/bench.h"
#include "tools/commands.h"

enum { OUT_NUMBERS = 40, IN_NUMBERS = 8, WARM_UP = 1000 };

struct pair_memory {
  _Alignas(64) struct orr_seqlock out_lock;
  _Atomic uint64_t out[OUT_NUMBERS + 4];
  _Alignas(64) struct orr_seqlock in_lock;
  _Atomic uint64_t in[IN_NUMBERS + 4];
};

struct series {
  double *ns; /* [room] */
  int count;
};

static void pin(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/* ---- the bare pair ---------------------------------------------------------------------------------------------------- */

static _Noreturn void bare_peer(struct pair_memory *m) {
  uint64_t last = 0, got[OUT_NUMBERS + 4], answer[IN_NUMBERS + 4] = {0};
  for (;;) {
    if (!orr_seqlock_load(&m->out_lock, m->out, got, OUT_NUMBERS + 4, 1) || got[0] == last)
      continue;
    answer[0] = last = got[0];
    orr_seqlock_store(&m->in_lock, m->in, answer, IN_NUMBERS + 4);
  }
}

static void bare_slice(struct pair_memory *m, struct series *s, int trips) {
  uint64_t out[OUT_NUMBERS + 4] = {0}, in[IN_NUMBERS + 4] = {0};
  pid_t peer = fork();
  if (peer == 0) {
    pin(1);
    bare_peer(m);
  }
  for (int i = 1; i <= trips + WARM_UP; i++) {
    int64_t begin_ns = orr_clock_now_ns();
    out[0] = (uint64_t)begin_ns;
    orr_seqlock_store(&m->out_lock, m->out, out, OUT_NUMBERS + 4);
    while (!orr_seqlock_load(&m->in_lock, m->in, in, IN_NUMBERS + 4, 1) || in[0] != out[0]) {
    }
    if (i > WARM_UP)
      s->ns[s->count++] = (double)(orr_clock_now_ns() - begin_ns);
  }
  kill(peer, SIGKILL);
  waitpid(peer, NULL, 0);
}

/* ---- ours --------------------------------------------------------------------------------------------------------------- */

static _Noreturn void our_peer(const char *url) {
  struct orr_client c;
  if (orr_client_open(&c, url, 5000) != 0)
    _exit(1);
  while (orr_client_wait(&c, ORR_CLIENT_SPIN, 5000) == 1)
    orr_client_send(&c);
  _exit(0);
}

static bool our_slice(struct series *s, int trips) {
  static const struct orr_channel channels[] = {{.name = "sensors.all", .unit = "", .count = OUT_NUMBERS},
                                                {.name = "actuators.all",
                                                 .unit = "",
                                                 .direction = ORR_CHANNEL_COMMAND,
                                                 .count = IN_NUMBERS,
                                                 .low = -HUGE_VAL,
                                                 .high = HUGE_VAL,
                                                 .offset = OUT_NUMBERS}};
  struct orr_channel copies[2];
  memcpy(copies, channels, sizeof copies);
  const struct orr_channel_table table = {.channels = copies, .count = 2};
  static const int telemetry[] = {0}, commands[] = {1};
  struct orr_layout layout;
  struct orr_layout_entry entries[3];
  struct orr_rules rules;
  struct orr_shm shm;
  double numbers[3 * IN_NUMBERS], values[OUT_NUMBERS + IN_NUMBERS] = {0};
  uint64_t payload[OUT_NUMBERS + 1], taken[IN_NUMBERS + 1];
  char url[64];
  snprintf(url, sizeof url, "shm:/orrery.bench.%d", (int)getpid());
  orr_layout_init(&layout, entries, &table, telemetry, 1, commands, 1);
  orr_rules_init(&rules, &layout, 1, numbers);
  if (orr_shm_open(&shm, url + 4, &layout, 1000000, 1, taken) != 0)
    return false;
  pid_t peer = fork();
  if (peer == 0) {
    pin(1);
    our_peer(url);
  }
  while (!orr_shm_peer_lives(&shm))
    orr_clock_sleep_until(orr_clock_now_ns() + ORR_NS_PER_MS);
  for (int64_t frame = 0; frame < trips + WARM_UP; frame++) {
    int64_t begin_ns = orr_clock_now_ns();
    const uint64_t head[ORR_WIRE_OUT_WORDS] = {(uint64_t)frame, (uint64_t)begin_ns};
    orr_rules_publish(&rules, frame);
    orr_layout_pack(&layout.telemetry, values, payload);
    orr_shm_publish(&shm, head, payload);
    while (rules.next.answers != frame)
      orr_shm_take(&shm, &rules);
    if (frame >= WARM_UP)
      s->ns[s->count++] = (double)(orr_clock_now_ns() - begin_ns);
    orr_rules_latch(&rules, values);
  }
  orr_shm_close(&shm);
  waitpid(peer, NULL, 0);
  return true;
}

/* ---- all ---------------------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percentile(const struct series *s, double p) { return s->ns[(int)(p * (s->count - 1))]; }

static void report(const char *name, struct series *s, json_t *json) {
  qsort(s->ns, (size_t)s->count, sizeof *s->ns, ascending);
  double p50 = percentile(s, 0.5), p99 = percentile(s, 0.99), p999 = percentile(s, 0.999);
  if (json)
    json_object_set_new(
        json, name,
        json_pack("{s:f, s:f, s:f, s:i}", "p50_ns", p50, "p99_ns", p99, "p999_ns", p999, "trips", s->count));
  else
    printf("%-18s %10.0f %10.0f %10.0f\n", name, p50, p99, p999);
}

static int run(int argc, char **argv, json_t *json) {
  int slices = 10, trips = 20000;
  if (argc > 1 && strcmp(argv[1], "--quick") == 0)
    slices = 2;
  else if (argc > 1)
    return fprintf(stderr, "orrery bench: unknown option '%s'\n", argv[1]), ORR_EXIT_USAGE;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    return fprintf(stderr, "orrery bench: a round trip takes two cores\n"), ORR_EXIT_BAD;
  struct pair_memory *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct series bare = {calloc((size_t)(slices * trips), sizeof(double)), 0};
  struct series ours = {calloc((size_t)(slices * trips), sizeof(double)), 0};
  bool good = m != MAP_FAILED && bare.ns && ours.ns;
  pin(0);
  for (int i = 0; i < slices && good; i++) {
    bare_slice(m, &bare, trips);
    good = our_slice(&ours, trips);
  }
  if (good) {
    if (!json)
      printf("round trip, %d numbers out and %d in, both sides spin on cores 0 and 1\n%-18s %10s %10s %10s\n",
             OUT_NUMBERS, IN_NUMBERS, "ns", "p50", "p99", "p99.9");
    report("bare seqlock pair", &bare, json);
    report("link over shm", &ours, json);
    double ratio = percentile(&ours, 0.5) / percentile(&bare, 0.5);
    if (json)
      json_object_set_new(json, "ratio_p50", json_real(ratio));
    else
      printf("%-18s %10.2f %10.2f\n", "ratio", ratio, percentile(&ours, 0.99) / percentile(&bare, 0.99));
  }
  free(bare.ns);
  free(ours.ns);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

const struct orr_bench orr_bench_links = {
    .name = "links", .summary = "round trips over a link beside a bare pair", .run = run};
