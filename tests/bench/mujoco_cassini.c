/* Cassini with its bus made rigid, ten seconds of motion under the same torques, here and in MuJoCo from the same model
 * data.
 *
 * Links with: -lmujoco
 *
 * Both integrate with the classical Runge-Kutta rule at 1 ms; a moment on the bus changes from step to step and reaches
 * what thrusters and wheels reach together. Compared every 10 ms: the attitude of the bus and its place, and each of
 * the 22 hinge angles against the largest of its body. Prints the agreement; fails where it is worse than LIMIT.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plant/integrate.h"
#include "io/config/spacecraft/build.h"
#include "io/config/spacecraft/config.h"
#include "tests/bench/mjcf.h"

static const double LIMIT = 1e-6; /* of the largest motion of its kind */
enum { STEPS = 10000, COMPARED = 10, STEP_NS = 1000000 };

/* ---- the model --------------------------------------------------------------------------------------------- */

/* The sums over the nodes, written out here rather than taken from core. */
static void make_rigid(struct orr_body_desc *b, struct orr_node_desc *nodes) {
  double mass = 0, com[3] = {0}, inertia[6] = {0};
  memcpy(nodes, b->nodes, b->node_count * sizeof *nodes);
  for (size_t j = 0; j < b->node_count; j++)
    for (int i = 0; i < 3; i++) {
      com[i] += nodes[j].mass * (nodes[j].at[i] + nodes[j].com[i]);
      mass += i == 0 ? nodes[j].mass : 0;
    }
  for (int i = 0; i < 3; i++)
    com[i] /= mass;
  for (size_t j = 0; j < b->node_count; j++) {
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double d[3], m = nodes[j].mass;
    for (int i = 0; i < 3; i++)
      d[i] = nodes[j].at[i] + nodes[j].com[i] - com[i];
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int i = 0; i < 6; i++)
      inertia[i] += nodes[j].inertia[i] + m * ((row[i] == column[i] ? square : 0) - d[row[i]] * d[column[i]]);
    nodes[j].mass = 0;
    memset(nodes[j].com, 0, sizeof nodes[j].com);
    memset(nodes[j].inertia, 0, sizeof nodes[j].inertia);
    nodes[j].modes = NULL;
  }
  b->flexible = false;
  b->mass = mass;
  memcpy(b->com, com, sizeof com);
  memcpy(b->inertia, inertia, sizeof inertia);
  b->mode_count = 0;
  b->modes = NULL;
  b->nodes = nodes;
}

/* ---- the motion -------------------------------------------------------------------------------------------- */

/* N m about the axes of the bus, which MuJoCo's free joint takes too; constant within a step. */
static void moment_at(int64_t step, double moment[3]) {
  double t = 1e-3 * (double)step;
  moment[0] = 2 * sin(0.9 * t);
  moment[1] = t < 5 ? 3.1 : -3.1;
  moment[2] = step / 100 % 2 ? 3.1 : 0.5 * cos(2 * t);
}

struct pushing {
  struct orr_drive drive; /* first */
  int u;                  /* where the speeds of the bus begin */
};

static void apply(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                  double *force, double *given) {
  (void)ws;
  (void)given;
  moment_at(point->start_ns / STEP_NS, force + ((struct pushing *)drive)->u);
}

/* The largest difference of one body's coordinates, and the largest of them. */
struct seen {
  double difference, size;
};

static void look(struct seen *s, double ours, double theirs) {
  s->difference = fmax(s->difference, fabs(ours - theirs));
  s->size = fmax(s->size, fabs(theirs));
}

/* Bodies in file order here and there: the file is depth first. */
static void compare(const struct orr_model *m, const double *q, const mjData *data, struct seen *seen, int bodies) {
  int at = 0;
  for (int b = 0; b < bodies; b++) {
    const struct orr_limb *limb = &m->limbs[m->limb_of_body[b]];
    const double *ours = q + limb->hinge_q;
    if (limb->dof != 6) {
      for (int i = 0; i < limb->dof; i++)
        look(&seen[b], ours[i], data->qpos[at++]);
      continue;
    }
    double sign = ours[6] * data->qpos[3] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) {
      look(&seen[bodies], ours[i], data->qpos[i]);
      look(&seen[b], ours[3 + i], sign * data->qpos[4 + i]);
    }
    at += 7;
  }
}

static double fly(const struct orr_description *d) {
  struct orr_build c;
  orr_build_create(&c, d, ORR_MODEL_DEFAULT);
  mjModel *model = mjcf_model(d, "timestep='0.001' integrator='RK4'");
  mjData *data = mj_makeData(model);
  int bodies = (int)d->body_count;
  struct pushing push = {.drive = {.apply = apply}, .u = c.model->limbs[c.model->limb_of_body[0]].hinge_u};
  size_t bytes = orr_integration_size(c.model);
  void *block = orr_aligned_block(bytes);
  struct orr_integration *i = orr_integration_init(block, bytes, c.model, c.ws, &push.drive);
  struct seen *seen = orr_aligned_block(((size_t)bodies + 1) * sizeof *seen);
  double worst = 0;
  for (int64_t step = 0; step < STEPS; step++) {
    moment_at(step, data->qfrc_applied + 3);
    mj_step(model, data);
    if (orr_integration_step(i, step * STEP_NS, STEP_NS) != ORR_OK)
      abort();
    if ((step + 1) % COMPARED == 0)
      compare(c.model, i->q, data, seen, bodies);
  }
  printf("%-14s %14s %14s %10s\n", "", "largest", "difference", "part");
  for (int b = 0; b <= bodies; b++) {
    printf("%-14s %14.6e %14.2e %10.1e\n", b < bodies ? d->bodies[b].name : "bus, position", seen[b].size,
           seen[b].difference, seen[b].difference / seen[b].size);
    worst = fmax(worst, seen[b].size > 0 ? seen[b].difference / seen[b].size : HUGE_VAL);
  }
  free(seen);
  free(block);
  mj_deleteData(data);
  mj_deleteModel(model);
  orr_build_destroy(&c);
  return worst;
}

int main(void) {
  struct orr_diagnostics *diagnostics = orr_diagnostics_create();
  struct orr_config *config = orr_config_load("configs/cassini.yaml", NULL, diagnostics);
  orr_diagnostics_print(diagnostics, 0, stderr, false);
  if (!config)
    return 1;
  struct orr_description d = *orr_config_description(config);
  struct orr_body_desc *bodies = orr_aligned_block(d.body_count * sizeof *bodies);
  struct orr_node_desc *nodes = orr_aligned_block(d.bodies[0].node_count * sizeof *nodes);
  memcpy(bodies, d.bodies, d.body_count * sizeof *bodies);
  make_rigid(&bodies[0], nodes);
  d.bodies = bodies;
  double worst = fly(&d);
  printf("cassini with a rigid bus, 10 s: agrees with MuJoCo %s to %.1e of the largest motion of each body\n",
         mj_versionString(), worst);
  free(nodes);
  free(bodies);
  orr_diagnostics_destroy(diagnostics);
  return worst < LIMIT ? 0 : 1;
}
