/* `orrery bench --plant`: the time of a frame of a run, split by stage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "rt/machine/denormals.h"
#include "tools/bench/bench.h"
#include "tools/common/commands.h"
#include "tools/common/compiled.h"
#include "tools/run/controller.h"

enum { PUBLISH, LATCH, ADVANCE, SENSE, STAGES, SET = STAGES, PLACES, FORWARD, SAMPLED };

static const char *const names[SAMPLED] = {"publish", "latch", "advance", "sense", "  state", "  places", "  forward"};

struct measured {
  int frames;
  double *samples[SAMPLED]; /* [frames] ns */
  double cpu_ns;            /* of the thread for a frame, stages only */
  struct orr_session *session;
};

static double cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Frames, a mark between stages. */
static enum orr_status fly(struct measured *m) {
  enum orr_status status = ORR_OK;
  double cpu = cpu_now_ns();
  for (int i = 0; i < m->frames && status == ORR_OK; i++) {
    double t[STAGES + 1] = {orr_bench_now_ns()};
    orr_session_publish(m->session);
    t[1] = orr_bench_now_ns();
    orr_session_latch(m->session);
    t[2] = orr_bench_now_ns();
    status = orr_session_advance(m->session);
    t[3] = orr_bench_now_ns();
    status = status == ORR_OK ? orr_session_sense(m->session) : status;
    t[4] = orr_bench_now_ns();
    for (int k = 0; k < STAGES; k++)
      m->samples[k][i] = t[k + 1] - t[k];
  }
  m->cpu_ns = (cpu_now_ns() - cpu) / m->frames;
  return status;
}

/* What an evaluation is made of, on the state that stands: each again and again by itself. */
static void take_apart(struct measured *m) {
  struct orr_session *s = m->session;
  struct orr_integration *i = s->plant->integration;
  for (int k = 0; k < m->frames; k++) {
    double t[4] = {orr_bench_now_ns()};
    orr_state_set(s->model, s->ws, i->q, i->u);
    t[1] = orr_bench_now_ns();
    orr_poses_update(s->model, s->ws);
    t[2] = orr_bench_now_ns();
    (void)orr_forward(s->model, s->ws, i->force, i->given, i->ku[0]);
    t[3] = orr_bench_now_ns();
    for (int part = 0; part < 3; part++)
      m->samples[SET + part][k] = t[part + 1] - t[part];
  }
}

static void print(struct measured *m, const char *path, json_t *json) {
  double step_ns = (double)m->session->plant->step_ns, sum = 0;
  if (!json)
    printf("%s: a frame of %.6g ms, ns\nstage        minimum    median\n", path, 1e-6 * step_ns);
  for (int k = 0; k < SAMPLED; k++) {
    struct orr_bench_stat stat = orr_bench_stat(m->samples[k], m->frames);
    sum += k < STAGES ? stat.median : 0;
    if (json)
      json_object_set_new(json, names[k] + strspn(names[k], " "),
                          json_pack("{s:f, s:f}", "min_ns", stat.min, "median_ns", stat.median));
    else if (k == STAGES)
      printf("an evaluation within advance (rk4 makes four) is, each by itself:\n");
    if (!json)
      printf("%-10s %9.0f %9.0f\n", names[k], stat.min, stat.median);
  }
  if (json) {
    json_object_set_new(json, "cpu_ns", json_real(m->cpu_ns));
    json_object_set_new(json, "real_time_factor", json_real(step_ns / m->cpu_ns));
    return;
  }
  printf(
      "a frame takes %.1f us by the medians and %.1f us of this thread's own time: %.1f times faster than real time\n",
      1e-3 * sum, 1e-3 * m->cpu_ns, step_ns / m->cpu_ns);
}

static int measure(const struct orr_run *run, const char *path, int frames, json_t *json) {
  struct measured m = {.frames = frames, .session = orr_session_create(run, orr_controller_answer)};
  int exit_status = ORR_EXIT_BAD;
  for (int k = 0; k < SAMPLED; k++)
    m.samples[k] = orr_aligned_block(sizeof(double) * (size_t)frames);
  orr_rt_flush_denormals();
  if (orr_session_start(m.session) == ORR_OK && fly(&m) == ORR_OK) {
    take_apart(&m);
    print(&m, path, json);
    exit_status = ORR_EXIT_OK;
  } else {
    fprintf(stderr, "%s: error: the run stops: %s\n", path, orr_status_text(m.session->status));
  }
  for (int k = 0; k < SAMPLED; k++)
    free(m.samples[k]);
  orr_session_destroy(m.session);
  return exit_status;
}

static int run(int argc, char **argv, json_t *json) {
  const char *path = "configs/reference.yaml";
  int frames = 20000;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0)
      frames = 2000;
    else if (argv[i][0] == '-') {
      fprintf(stderr, "orrery bench: unknown option '%s'\nTry 'orrery help bench'.\n", argv[i]);
      return ORR_EXIT_USAGE;
    } else
      path = argv[i];
  }
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *file = orr_run_load(path, NULL, d);
  orr_diagnostics_print(d, 0, stderr, false);
  int status = file ? measure(file, path, frames, json) : ORR_EXIT_BAD;
  orr_diagnostics_destroy(d);
  return status;
}

const struct orr_bench orr_bench_plant = {
    .name = "plant",
    .summary = "a frame of a run, by stage",
    .run = run,
};
