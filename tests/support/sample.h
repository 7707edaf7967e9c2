/* Random spacecraft and random cases for them, as plain data: what property tests run on.
 *
 * orr_sample_make → change what a test wants changed (everything in it is the test's) → orr_sample_free. Nothing here
 * knows how core computes. A seed and its options always give the same sample. One thread per sample.
 */
#ifndef ORR_TESTS_SUPPORT_SAMPLE_H
#define ORR_TESTS_SUPPORT_SAMPLE_H

#include "core/model/description.h"

/* What to put in; shares are probabilities, 0 … 1. */
struct orr_sample_options {
  uint64_t seed;
  int bodies;
  int reach;         /* a parent is one of the last `reach` bodies: 1 makes a chain; 0 means any */
  double roots;      /* share of bodies on inertial, beside the first */
  double flexible;   /* share of flexible bodies */
  int modes_max;     /* of a flexible body: 0 … modes_max */
  double linearized; /* share of the flexible ones */
  double stiffened;  /* share of the others that have second-order shapes, given node by node */
  double prescribed; /* share of driven hinges */
  double rotors;     /* share of bodies with a rotor */
  double springs;    /* share of hinges with springs and dampers */
  double massless;   /* share of inner rigid bodies without mass, where a body fixed to them carries it */
  int pushes;        /* external forces */
  double spin;       /* rad/s and m/s: size of the speeds */
  double gravity;    /* m/s² */
  bool one_kind;     /* every hinge is `kind` */
  enum orr_hinge_kind kind;
};

enum orr_push_axes { ORR_PUSH_INERTIAL, ORR_PUSH_BODY, ORR_PUSH_NODE };

/* A force and a moment on a node, at its deformed place. */
struct orr_push {
  int body, node;
  enum orr_push_axes axes;
  double force[3], moment[3];
};

struct orr_sample {
  struct orr_description description; /* points into the arrays below */
  struct orr_body_desc *bodies;
  struct orr_rotor_desc *rotors;
  int q_count, u_count;
  int *q_at, *u_at; /* [bodies] where [η; q] and [η̇; β] of a body start; its hinge's own follow its modes */
  double *q, *u;    /* state */
  double *force;    /* what actuators supply */
  double *given;    /* β̇ of prescribed hinges */
  double *rotor_speed, *rotor_torque;
  int push_count;
  struct orr_push *pushes;
  struct orr_sample_memory *memory; /* all of the above */
};

/* Everything at once, of middling size. */
struct orr_sample_options orr_sample_default(uint64_t seed, int bodies);

struct orr_sample *orr_sample_make(const struct orr_sample_options *options);
/* The same spacecraft and case with the bodies in another order of the file; to[old body] = new body. */
struct orr_sample *orr_sample_renumber(const struct orr_sample *sample, uint64_t seed, int *to);
struct orr_sample *orr_sample_copy(const struct orr_sample *sample);
/* From bodies that a test has filled in itself (copied with their nodes and modes): zero state, no loads. */
struct orr_sample *orr_sample_of(const struct orr_body_desc *bodies, size_t count);
void orr_sample_free(struct orr_sample *sample);

/* The nodes of a body, to be changed. */
struct orr_node_desc *orr_sample_nodes(struct orr_sample *sample, int body);

/* Coordinates and speeds of a hinge kind, and where a quaternion stands in its coordinates (-1: none). */
int orr_sample_coordinates(enum orr_hinge_kind kind);
int orr_sample_speeds(enum orr_hinge_kind kind);
int orr_sample_quaternion(enum orr_hinge_kind kind);

/* Where the hinge speeds, and coordinates, of a body start. */
int orr_sample_hinge_u(const struct orr_sample *sample, int body);
int orr_sample_hinge_q(const struct orr_sample *sample, int body);

/* The state t seconds along a smooth path that leaves the sample's state with its speeds and the accelerations `accel`;
 * only that tangent is exact. q [q_count], u [u_count]. */
void orr_sample_along(const struct orr_sample *sample, const double *accel, double t, double *q, double *u);

#endif
