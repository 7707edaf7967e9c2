/* `orrery bench --plant`: the time of a frame of a run, split by stage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/session/status_text.h"
#include "rt/machine/denormals.h"
#include "tools/bench/bench.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"
#include "tools/run/controller.h"

/* First the stages of a frame, then what an evaluation is made of. */
enum { PARTS = 3, MOST_SAMPLED = ORR_STAGES_MAX + PARTS };

static const char *const parts[PARTS] = {"state", "places", "forward"};

struct measured {
  int frames, stages;
  double *samples[MOST_SAMPLED]; /* [frames] ns */
  double cpu_ns;                 /* of the thread for a frame, stages only */
  struct orr_session *session;
};

static double cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Frames, a look at the clock between stages. */
static enum orr_status fly(struct measured *m) {
  int code = 0;
  struct orr_progress progress;
  orr_progress_begin(&progress, 0);
  double cpu = cpu_now_ns();
  for (int i = 0; i < m->frames && code == 0; i++) {
    double before = orr_bench_now_ns();
    for (int k = 0; k < m->stages && code == 0; k++) {
      code = orr_session_stage_run(&orr_session_stages[k], m->session);
      double now = orr_bench_now_ns();
      m->samples[k][i] = now - before;
      before = now;
    }
    if (i % 64 == 0)
      orr_progress_show(&progress, (i + 1.0) / m->frames);
  }
  m->cpu_ns = (cpu_now_ns() - cpu) / m->frames;
  orr_progress_wipe(&progress);
  return m->session->status;
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
    for (int part = 0; part < PARTS; part++)
      m->samples[m->stages + part][k] = t[part + 1] - t[part];
  }
}

static void print(struct measured *m, const char *path, json_t *json) {
  double step_ns = (double)m->session->plant->step_ns, sum = 0;
  if (!json)
    printf("%s: a frame of %.6g ms, ns\nstage        minimum    median\n", path, 1e-6 * step_ns);
  for (int k = 0; k < m->stages + PARTS; k++) {
    bool stage = k < m->stages;
    const char *name = stage ? orr_session_stages[k].name : parts[k - m->stages];
    struct orr_bench_stat stat = orr_bench_stat(m->samples[k], m->frames);
    sum += stage ? stat.median : 0;
    if (json)
      json_object_set_new(json, name, json_pack("{s:f, s:f}", "min_ns", stat.min, "median_ns", stat.median));
    else if (k == m->stages)
      printf("an evaluation within a step (rk4 makes four) is, each by itself:\n");
    if (!json)
      printf("%-10s %9.0f %9.0f\n", name, stat.min, stat.median);
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
  while (orr_session_stages[m.stages].name)
    m.stages++;
  for (int k = 0; k < m.stages + PARTS; k++)
    m.samples[k] = orr_aligned_block(sizeof(double) * (size_t)frames);
  orr_rt_flush_denormals();
  if (orr_session_start(m.session) == ORR_OK && fly(&m) == ORR_OK) {
    take_apart(&m);
    print(&m, path, json);
    exit_status = ORR_EXIT_OK;
  } else {
    fprintf(stderr, "%s: error: the run stops: %s\n", path, orr_status_text(m.session->status));
  }
  for (int k = 0; k < m.stages + PARTS; k++)
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
