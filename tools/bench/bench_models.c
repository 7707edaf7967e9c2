#include "tools/bench/bench_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orr_bench_model {
  struct orr_description d;
  struct orr_body_desc *bodies;
};

enum { BEAM_NODES = 9, BUS_NODES = 10, NAME_BYTES = 16, SC_APPENDAGES = 9, SC_BODIES = 23 };

static void *take(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  if (!p)
    abort();
  return p;
}

static struct orr_bench_model *start(int bodies) {
  struct orr_bench_model *model = take(1, sizeof *model);
  model->bodies = take((size_t)bodies, sizeof *model->bodies);
  model->d.bodies = model->bodies;
  model->d.body_count = (size_t)bodies;
  return model;
}

/* Body i of the benchmarks on a revolute hinge about coordinate axis `axis`, `count` nodes of its own. */
static struct orr_node_desc *generic_body(struct orr_body_desc *body, int i, double scale, int axis, int nodes) {
  double m = scale * (1 + 0.1 * (i % 7));
  char *name = take(NAME_BYTES, 1);
  snprintf(name, NAME_BYTES, "b%d", i);
  *body = (struct orr_body_desc){.name = name,
                                 .mass = m,
                                 .com = {.12, .03, .08},
                                 .inertia = {.05 * m, .06 * m, .04 * m, .004 * m, -.003 * m, .002 * m},
                                 .node_count = (size_t)nodes};
  body->hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE, .parent = ORR_INERTIAL, .rotation = {0, 0, 0, 1}};
  body->hinge.axes[0][axis] = 1;
  struct orr_node_desc *node = take((size_t)nodes, sizeof *node);
  for (int j = 0; j < nodes; j++)
    node[j].name = j ? "n" : "origin";
  body->nodes = node;
  return node;
}

struct orr_bench_model *orr_bench_chain(int bodies) {
  struct orr_bench_model *model = start(bodies);
  for (int i = 0; i < bodies; i++) {
    /* node 1 is where body i + 1 hangs */
    struct orr_node_desc *node = generic_body(&model->bodies[i], i, 1, i % 3, 2);
    int next = i + 1;
    node[1].at[0] = 0.3;
    node[1].at[1] = 0.1 * (next % 3 - 1);
    node[1].at[2] = 0.2;
    if (i) {
      model->bodies[i].hinge.parent = i - 1;
      model->bodies[i].hinge.parent_node = 1;
    }
  }
  return model;
}

/* Made-up modes of the bus, clamped at its origin: every node moves and turns by waves of unrelated lengths, scaled to
 * a modal mass of order one; frequencies from 5 to 40 Hz. */
static void bus_modes(struct orr_body_desc *bus, struct orr_node_desc *node, int modes) {
  struct orr_mode_desc *list = take((size_t)modes, sizeof *list);
  bus->flexible = true;
  bus->mode_count = (size_t)modes;
  bus->modes = list;
  for (int r = 0; r < modes; r++)
    list[r] = (struct orr_mode_desc){.frequency_hz = 5 + 35.0 * r / (modes > 1 ? modes - 1 : 1), .damping = 0.005};
  for (int j = 0; j < BUS_NODES; j++) {
    double *pi = take((size_t)modes * 6, sizeof *pi);
    node[j].modes = pi;
    node[j].mass = bus->mass / BUS_NODES;
    for (int c = 0; c < 6; c++)
      node[j].inertia[c] = bus->inertia[c] / BUS_NODES;
    for (int r = 0; r < modes; r++)
      for (int c = 0; c < 6; c++)
        pi[6 * r + c] = (c < 3 ? 0.01 : 0.03) * sin((0.7 + 0.53 * r + 0.37 * c + 0.11 * r * c) * j);
  }
}

struct orr_bench_model *orr_bench_spacecraft(int modes) {
  const double pi = 3.14159265358979323846;
  struct orr_bench_model *model = start(SC_BODIES);
  struct orr_node_desc *node = generic_body(&model->bodies[0], 0, 10, 0, BUS_NODES);
  struct orr_body_desc *bus = &model->bodies[0];
  bus->hinge.kind = ORR_HINGE_FREE;
  bus->mass = 1000;
  memcpy(bus->com, (double[]){.02, -.01, .03}, sizeof bus->com);
  memcpy(bus->inertia, (double[]){400, 500, 300, 5, -4, 3}, sizeof bus->inertia);
  int i = 1;
  for (int k = 0; k < SC_APPENDAGES; k++) {
    double a = 2 * pi * k / SC_APPENDAGES;
    memcpy(node[k + 1].at, (double[]){cos(a), sin(a), 0.1 * k - 0.4}, sizeof node->at);
    for (int j = 0; j < (k < 4 ? 3 : 2); j++, i++) {
      struct orr_node_desc *own = generic_body(&model->bodies[i], i, 10, (k + j) % 3, 2);
      memcpy(own[1].at, (double[]){.8, .1, .05}, sizeof own->at);
      model->bodies[i].hinge.parent = j ? i - 1 : 0;
      model->bodies[i].hinge.parent_node = j ? 1 : k + 1;
      if (!j)
        memcpy(model->bodies[i].hinge.rotation, (double[]){0, 0, sin(a / 2), cos(a / 2)}, sizeof(double[4]));
    }
  }
  if (modes)
    bus_modes(bus, node, modes);
  return model;
}

/* Clamped beam shapes along x: mode r bends by (x/L)² T_r, in y for even r and z for odd r, slopes to match. */
static void beam_shape(int r, double x, double *pi) {
  double k = 3.0 * (double)(r - r % 2) / 2, f = x * x * cos(k * x), slope = 2 * x * cos(k * x) - k * x * x * sin(k * x);
  memset(pi, 0, 6 * sizeof *pi);
  if (r % 2 == 0) {
    pi[4] = f;
    pi[2] = slope;
  } else {
    pi[5] = f;
    pi[1] = -slope;
  }
}

struct orr_bench_model *orr_bench_flexible_chain(int bodies, int modes, enum orr_deformation deformation) {
  const double length = 2;
  struct orr_bench_model *model = start(bodies);
  for (int i = 0; i < bodies; i++) {
    struct orr_body_desc *body = &model->bodies[i];
    struct orr_node_desc *node = generic_body(body, i, 1, i % 3, BEAM_NODES);
    struct orr_mode_desc *list = take((size_t)modes, sizeof *list);
    body->flexible = true;
    body->deformation = deformation;
    body->mode_count = (size_t)modes;
    body->modes = list;
    for (int r = 0; r < modes; r++)
      list[r] = (struct orr_mode_desc){.frequency_hz = 2.0 + r, .damping = 0.005};
    for (int j = 0; j < BEAM_NODES; j++) {
      double *pi = take((size_t)modes * 6, sizeof *pi), x = (double)j / (BEAM_NODES - 1);
      node[j].at[0] = length * x;
      node[j].mass = 10.0 / BEAM_NODES;
      memcpy(node[j].inertia, (double[]){.02, .01, .01, 0, 0, 0}, sizeof node->inertia);
      for (int r = 0; r < modes; r++)
        beam_shape(r, x, pi + 6 * r);
      node[j].modes = modes ? pi : NULL;
      if (!modes)
        free(pi);
    }
    if (i) {
      body->hinge.parent = i - 1;
      body->hinge.parent_node = BEAM_NODES - 1;
    }
  }
  return model;
}

const struct orr_description *orr_bench_description(const struct orr_bench_model *model) { return &model->d; }

void orr_bench_destroy(struct orr_bench_model *model) {
  for (size_t i = 0; i < model->d.body_count; i++) {
    struct orr_body_desc *body = &model->bodies[i];
    for (size_t j = 0; j < body->node_count; j++)
      free((double *)(uintptr_t)body->nodes[j].modes);
    free((void *)(uintptr_t)body->nodes);
    free((void *)(uintptr_t)body->modes);
    free((void *)(uintptr_t)body->name);
  }
  free(model->bodies);
  free(model);
}

void orr_bench_state(const struct orr_model *model, int k, double *q, double *u, double *force) {
  memset(q, 0, sizeof *q * (size_t)model->q_count);
  memset(u, 0, sizeof *u * (size_t)model->u_count);
  memset(force, 0, sizeof *force * (size_t)model->u_count);
  int i = 0;
  for (int body = 0; body < model->body_count; body++) {
    const struct orr_limb *limb = &model->limbs[model->limb_of_body[body]];
    for (int r = 0; r < limb->mode_count; r++) {
      q[limb->q + r] = 0.002 * sin(0.7 * r + .37 * k + body);
      u[limb->u + r] = 0.01 * cos(1.1 * r + .11 * k + body);
    }
    if (limb->kind == ORR_HINGE_FREE)
      q[limb->hinge_q + 6] = 1;
    if (limb->dof != 1)
      continue;
    q[limb->hinge_q] = 0.3 * sin(i + 1 + .37 * k);
    u[limb->hinge_u] = 0.2 * cos(1.7 * i + .11 * k);
    force[limb->hinge_u] = 0.1 * sin(2.3 * i + .5 + .23 * k);
    i++;
  }
}
