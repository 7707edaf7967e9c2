/* A spacecraft as plain data: what a model file says, resolved and in SI, before any physics is compiled.
 *
 * Made by io/config from YAML (or by hand in tests), judged by core/model/validate, compiled by core/model.
 * Everything here is const to core; the maker owns all memory and keeps it until the model is compiled.
 * Frames, signs and the meaning of every number: conventions, "Bodies, nodes, hinges" and "Flexible bodies".
 * Names are for messages only; references between things are indices into the arrays below.
 */
#ifndef ORR_CORE_MODEL_DESCRIPTION_H
#define ORR_CORE_MODEL_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a thing was written: an index into a table of whoever made the description. 0 = unknown. core copies it into
 * problems and does nothing else with it. */
typedef uint32_t orr_source;

enum { ORR_INERTIAL = -1 };

enum orr_hinge_kind {
  ORR_HINGE_FIXED,
  ORR_HINGE_REVOLUTE,
  ORR_HINGE_PRISMATIC,
  ORR_HINGE_CYLINDRICAL,
  ORR_HINGE_UNIVERSAL,
  ORR_HINGE_GIMBAL,
  ORR_HINGE_BALL,
  ORR_HINGE_PLANAR,
  ORR_HINGE_FREE,
  ORR_HINGE_KIND_COUNT
};

enum orr_deformation { ORR_DEFORMATION_FULL, ORR_DEFORMATION_LINEARIZED };

/* A mode by frequency and damping: K_rr = (2πf)² M_rr, D_rr = 2ζ(2πf) M_rr. */
struct orr_mode_desc {
  double frequency_hz;
  double damping; /* ζ, of critical */
  orr_source source;
};

/* Half of the product of two amplitudes times g is a part of the node's displacement: G_rs = G_sr. */
struct orr_curve_desc {
  size_t r, s; /* modes, from 0; each pair once */
  double g[3]; /* m per unit η², body axes */
};

struct orr_node_desc {
  const char *name;
  double at[3]; /* m, undeformed body frame */
  /* Flexible bodies only; all zero on a rigid body. */
  double mass;         /* kg */
  double com[3];       /* m, offset p_j of the node's mass centre from the node, body axes */
  double inertia[6];   /* kg m², about that mass centre, body axes: xx yy zz xy xz yz */
  const double *modes; /* [mode_count][6]: Π_r = [slope; translation], body axes; NULL when mode_count is 0 */
  const struct orr_curve_desc *curves; /* [curve_count] G of a body with stiffening; NULL: the file says none */
  size_t curve_count;
  orr_source source;
};

enum orr_motion_form { ORR_MOTION_TABLE, ORR_MOTION_SINE, ORR_MOTION_POLYNOMIAL, ORR_MOTION_COMMAND };

/* A motion that is given: of a prescribed coordinate, or of what a loop keeps; rad or m over s. */
struct orr_motion_desc {
  enum orr_motion_form form;
  bool waits;                                        /* until its channel says so; not of a command */
  size_t count;                                      /* rows of a table, ≥ 2; coefficients of a polynomial */
  const double *at_s, *values, *bends;               /* [count]; the last by orr_spline_bend; polynomial: values */
  double amplitude, frequency_hz, phase_rad, offset; /* sine */
  double from, over_s; /* command: of a loop where it begins; how long it takes to get to a new one */
  orr_source source;
};

struct orr_hinge_desc {
  enum orr_hinge_kind kind;
  int parent;         /* body index, or ORR_INERTIAL */
  int parent_node;    /* node index on the parent; 0 under ORR_INERTIAL */
  int node;           /* the body's own node `at` */
  double axes[3][3];  /* unit; axis or normal in [0]; as many as the kind takes */
  double rotation[4]; /* unit quaternion x y z w, turns the parent's node frame into O+ */
  bool prescribed;
  const struct orr_motion_desc *motion;     /* [speeds] of a prescribed hinge of scalar coordinates, or NULL */
  double stiffness[6], damping[6], rest[6]; /* per coordinate; scalar coordinates only */
  orr_source source;
};

struct orr_body_desc {
  const char *name;
  bool flexible; /* mass and inertia come from the nodes; mode_count may still be 0 */
  /* Rigid. */
  double mass;       /* kg */
  double com[3];     /* m, body frame */
  double inertia[6]; /* kg m², about the mass centre, body axes: xx yy zz xy xz yz */
  /* Flexible. */
  enum orr_deformation deformation;
  bool stiffening; /* second-order shapes: of its nodes' `curves`, or of their line where no node has any */
  size_t mode_count;
  const struct orr_mode_desc *modes; /* [mode_count]; NULL where the matrices are given */
  const double *stiffness;           /* [mode_count][mode_count], or NULL */
  const double *damping;             /* [mode_count][mode_count], or NULL (then zero with `stiffness`) */
  size_t node_count;                 /* a rigid body's implied `origin` is among them */
  const struct orr_node_desc *nodes;
  struct orr_hinge_desc hinge; /* inboard */
  orr_source source;
};

enum orr_loop_kind {
  ORR_LOOP_POINT,
  ORR_LOOP_WELD,
  ORR_LOOP_REVOLUTE,
  ORR_LOOP_DISTANCE,
  ORR_LOOP_GEAR,
  ORR_LOOP_ROLLING
};
enum orr_loop_method { ORR_LOOP_AUTO, ORR_LOOP_EMBED, ORR_LOOP_AUGMENT };

struct orr_loop_desc {
  const char *name; /* of its channels; NULL: it has none */
  enum orr_loop_kind kind;
  enum orr_loop_method method;
  int body[2]; /* point, weld, revolute, distance: the nodes joined; gear: hinge A and hinge B, as bodies */
  int node[2]; /* not for gear */
  double
      axis[3]; /* revolute: unit, the same components in both nodes' frames; rolling: the wheel's, its node's frame */
  double normal[3];                     /* rolling: unit, of the ground, the first node's frame */
  double radius;                        /* m, rolling: of the wheel, about the second node */
  bool slides;                          /* rolling: freely across its way */
  double ratio, offset;                 /* gear: q_B = ratio q_A + offset */
  const struct orr_motion_desc *motion; /* distance: of it; revolute: of the angle; gear: of the offset; or NULL */
  orr_source source;
};

/* A spinning wheel on a node. The body's mass properties hold it with the rotor locked. */
struct orr_rotor_desc {
  const char *name;
  int body, node;
  double axis[3]; /* unit, node axes */
  double inertia; /* kg m², about the axis */
  orr_source source;
};

struct orr_description {
  double gravity[3]; /* m/s², inertial */
  size_t body_count;
  const struct orr_body_desc *bodies; /* file order */
  size_t loop_count;
  const struct orr_loop_desc *loops;
  size_t rotor_count;
  const struct orr_rotor_desc *rotors;
  orr_source source;
};

#endif
