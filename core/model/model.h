/* The compiled model: a description turned into constants. What changes while it moves is in the workspace.
 *
 * Call order, all at init:
 *   orr_model_size → a block → orr_model_init → (once per workspace) orr_workspace_size → a block → orr_workspace_init
 * then, any number of times, the functions of kinematics.h, forward.h, inverse.h, composite.h, operators.h, energy.h.
 * A model is const after init and may be shared by threads; a workspace belongs to one thread at a time.
 *
 * Order. Users see bodies in file order; state vectors hold, per body of the file, [η; q] in `q` and [η̇; β] in `u`
 * (conventions, "Generalised vectors"). Inside, a body is a limb. Limbs are numbered parents first and level by level,
 * so that neighbours in a sweep seldom depend on each other and the processor computes them side by side.
 *
 * Axes. Limb k computes in its solver axes S_k. Their origin is the body's own hinge node in the undeformed body. They
 * are the axes of the body frame F turned by the constant `c` (v_F = c v_S). For a limb of the revolute kernel, c turns
 * S_k so that the hinge's axis is z; all others have c = 1.
 */
#ifndef ORR_CORE_MODEL_MODEL_H
#define ORR_CORE_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/math/block.h"
#include "core/math/lanes.h"
#include "core/math/spatial.h"
#include "core/model/description.h"
#include "core/model/hinge.h"
#include "core/model/modal.h"

/* Which code computes a limb. It is chosen once, when the model is compiled. */
enum orr_kernel {
  ORR_KERNEL_GENERAL,  /* any hinge, any body, any place of the hinge */
  ORR_KERNEL_REVOLUTE, /* revolute hinge whose own node the body's modes do not move */
};

/* How the solver axes of a revolute limb at q = 0 lie in those of its parent. */
enum orr_turn_kind { ORR_TURN_DENSE, ORR_TURN_NONE, ORR_TURN_XYZ_TO_YZX, ORR_TURN_XYZ_TO_ZXY };

/* Constants of one body, in solver axes. */
struct orr_limb {
  enum orr_kernel kernel;
  enum orr_turn_kind turn;
  int angle;                    /* revolute kernel and `turning`: where its angles are among those taken together */
  int turning;                  /* index among the limbs of core/tree/turning.h, or -1 */
  int parent;                   /* limb, or -1 under inertial */
  int body;                     /* in the file */
  int first_child, child_count; /* limbs; children of one parent are neighbours */
  bool last_child;              /* of its parent: a sweep from the tips meets it first */
  bool on_revolute;             /* a limb between it and inertial takes the revolute kernel */
  int q, u;                     /* where this body's [η; q] and [η̇; β] start in the state vectors */
  int mode_count;               /* n */
  int hinge_q, hinge_u;         /* where its hinge coordinates and speeds start */
  int dof;                      /* speeds of the hinge */
  enum orr_hinge_kind kind;
  double axes[3][3];          /* O axes */
  orr_mat3 c;                 /* v_F = c v_S; O is parallel to F where the body is not deformed */
  orr_vec3 at;                /* m, origin of S in F */
  int site_parent;            /* site of the parent's node, or -1 where that node does not deform */
  int site_own;               /* site of the own node where modes move it, or -1 */
  orr_mat3 r0;                /* O+ axes in the parent's S axes, undeformed: v_P = r0 v_O+ */
  orr_mat3 r0c;               /* r0 c: S axes at zero coordinates in the parent's S axes */
  orr_vec3 l0;                /* m, the parent's node from the origin of the parent's S, undeformed */
  struct {                    /* the same for core/tree/rows.h */
    orr_lanes out[3], in[3];  /* rows of r0c and of its transpose */
    orr_lanes l_yzx, l_zxy;   /* l0, components turned about */
    orr_lanes half, half_yzx; /* of l0 */
  } lean;
  bool springs; /* some stiffness or damping is not zero */
  double stiffness[6], damping[6], rest[6];
  int flex;      /* index among the flexible bodies with modes, or -1 */
  bool flexible; /* as the file says it, modes or none */
  bool linearized;
  bool curved;                /* its shapes are of second order */
  bool bends;                 /* its own shapes, or its parent's, are */
  int site_first, site_count; /* the sites of this body */
  double mass;                /* kg; rigid bodies and flexible ones without modes */
  orr_vec3 s;                 /* kg m, first moment in S */
  orr_sym3 inertia;           /* kg m², about the origin of S */
  const char *name;
};

/* A node of a body in solver axes. */
struct orr_node {
  int limb;
  int site;                   /* where the sweeps follow it, or -1 */
  orr_vec3 at;                /* m, undeformed, from the origin of S */
  struct orr_modal_node mass; /* flexible bodies */
};

/* A node that the sweeps follow through the deformation: a hinge hangs there, on one side or the other. */
struct orr_site {
  int limb, node;
  int children; /* number of limbs that hang there */
};

/* What core/tree/turning.h reads of a limb. */
struct orr_turning {
  orr_lanes r0[3]; /* rows */
  struct orr_turn_axis axes[3];
};

struct orr_rotor {
  int limb, node, site; /* site -1 where the node does not deform */
  orr_vec3 axis;        /* S axes, undeformed */
  double inertia;       /* kg m² */
};

struct orr_model {
  int body_count;
  int node_count; /* of all bodies, in file order */
  int flex_count; /* bodies with modes */
  int site_count;
  int rotor_count;
  int q_count, u_count;           /* lengths of the state vectors */
  int revolute_count;             /* limbs with ORR_KERNEL_REVOLUTE */
  int turning_count;              /* limbs of core/tree/turning.h */
  int angle_count;                /* what these two kinds take sines of */
  int mode_max;                   /* most modes of a body */
  bool needs_velocity;            /* some linearized body: v and gravity are carried along */
  orr_vec3 gravity;               /* m/s², inertial */
  const struct orr_limb *limbs;   /* [body_count] solver order */
  const int *limb_of_body;        /* [body_count] file order → limb */
  const int *node_first;          /* [body_count + 1] file order → first node */
  const struct orr_node *nodes;   /* [node_count] */
  const struct orr_modal *modals; /* [flex_count] */
  const struct orr_site *sites;   /* [site_count] */
  const struct orr_rotor *rotors; /* [rotor_count] */
  const bool *prescribed;         /* [body_count] limbs, as the file says */
  /* [turning_count] */
  const struct orr_turning *turnings;
};

enum orr_model_option {
  ORR_MODEL_DEFAULT = 0,
  ORR_MODEL_PLAIN = 1, /* every limb on ORR_KERNEL_GENERAL, to compare the fast kernel with: tests and benchmarks */
};

/* How init and the sweeps end. */
enum orr_status {
  ORR_OK = 0,
  ORR_ERROR_CYCLE,      /* a body's parents lead back to it; body in `where` */
  ORR_ERROR_BLOCK,      /* the block is smaller than the size asked for */
  ORR_ERROR_SINGULAR,   /* D(k) is not positive: nothing beyond the hinge or the mode resists it; or slopes of some
                           three radians have made M_m(η), which is of second order in them, indefinite */
  ORR_ERROR_NOT_FINITE, /* D(k) or the force on it is not a finite number */
  ORR_ERROR_GIMBAL,     /* a gimbal's outer axes are so nearly parallel that a step would lose energy */
  /* Of a closed loop: orr_closed.failed_loop. */
  ORR_ERROR_LOOP_SINGULAR, /* equations coincide at this posture, so the loop's motion is not determined */
  ORR_ERROR_LOOP_CONFLICT, /* the motion of the driven hinges would open it */
  ORR_ERROR_LOOP_OPEN,     /* its coordinates could not be closed */
};

/* Bytes that the model takes. [init] O(description). */
size_t orr_model_size(const struct orr_description *description, unsigned options);

/* Compiles into the block (64-byte aligned, of at least orr_model_size bytes). The description must have passed
 * orr_validate. NULL and *status, with the body in *where, on failure. Names are copied. [init] O(nodes n²). */
const struct orr_model *orr_model_init(void *block, size_t bytes, const struct orr_description *description,
                                       unsigned options, enum orr_status *status, int *where);

/* Node `node` of body `body` (file order) as an index into model->nodes. [any] */
int orr_model_node(const struct orr_model *model, int body, int node);

/* The nearest common ancestor of two limbs, or −1. [any] O(depth). */
int orr_common_ancestor(const struct orr_model *model, int a, int b);

#endif
