/* Everything that changes while a model moves. What one sweep reads together lies together in memory.
 *
 * A workspace is made once from a model and used by one thread at a time. Nothing allocates after orr_workspace_init.
 * It also holds what a run or a case may change without compiling again: which hinges are prescribed, and the mass
 * properties of bodies.
 */
#ifndef ORR_CORE_MODEL_WORKSPACE_H
#define ORR_CORE_MODEL_WORKSPACE_H

#include <stdint.h>

#include "core/model/model.h"

/* Mass properties of a limb's rigid part, S axes and origin. */
struct orr_rigid {
  double mass;
  orr_vec3 s;
  orr_sym3 i;
};

/* [a b; bᵀ c] and a force [w; v], four numbers side by side: core/tree/rows.h. */
struct orr_rows {
  orr_lanes bx, by, bz; /* rows of b */
  orr_lanes cx, cy, cz;
  orr_lanes d, o; /* a: [zz xx yy], [yz xz xy] */
  orr_lanes w, v;
};

/* Mass properties of a limb without modes, in that form. */
struct orr_lean_body {
  struct orr_rows p;  /* w and v are not used */
  orr_lanes xz_xy_yz; /* of its inertia */
  orr_lanes s_yzx, s_zxy;
};

/* What the sweeps pass from limb to limb, and all that the revolute kernel keeps. S axes and origin. */
struct orr_flow {
  orr_vec3 omega;      /* rad/s, inertial */
  double omega_beside; /* zero, as the next two: three numbers are read as four */
  orr_vec3 turn;       /* revolute kernel: the bias a, angular; rad/s² */
  double turn_beside;
  orr_vec3 push; /* revolute kernel: the bias a, linear; m/s² */
  double push_beside;
  struct {                      /* of limbs that are lean (ws->lean) */
    orr_lanes cosine, sine;     /* [c c 1 0], [−s s 0 0] */
    struct orr_rows added;      /* by the children, if they are lean: P and z */
    orr_lanes w, v;             /* z of the limb */
    orr_lanes gain_w, gain_v;   /* P_z */
    orr_lanes alpha_w, alpha_v; /* alpha */
  } lean;
  double sin_q, cos_q; /* revolute kernel */
  orr_inertia p;       /* own inertia and what the children add; then P_R(k), the modes eliminated */
  orr_spatial z;       /* the same for the force: z_R(k) */
  double inverse, nu;  /* revolute kernel: 1/D; (τ − H z)/D */
  orr_spatial alpha;   /* of S: [ω̇; acceleration − gravity] */
};

/* A lean limb on a place that bends: the turn R over its hinge by rows, and its transpose; where the place is. */
struct orr_bent {
  orr_lanes in[3], out[3], l;
};

/* What core/tree/modal_rows.h keeps of a site: what the limbs that hang there add, Π' η̈, and Π'ᵀ by rows. */
struct orr_site_rows {
  struct orr_rows added;
  orr_lanes motion_w, motion_v;
  orr_lanes *pi; /* [2 n] of a body with few modes, else NULL */
};

/* The rest of a limb's state, for any hinge. Limbs of the revolute kernel have it only after orr_limbs_complete. */
struct orr_limb_state {
  /* Filled base to tips by orr_state_set. S axes. */
  orr_mat3 r;       /* v_P = r v_S */
  orr_vec3 l;       /* m, origin of S from the parent's, P axes */
  orr_vec3 v;       /* m/s, of the origin, inertial */
  orr_vec3 g;       /* m/s², gravity */
  orr_spatial a;    /* the bias: the acceleration less the parent's and H* β̇ */
  orr_spatial b;    /* gyroscopic force */
  orr_spatial h[6]; /* columns of H_F* */
  /* Filled tips to base. */
  orr_spatial gain[6]; /* P_R H_F* */
  double d[6][6];      /* D_R(k) = L diag L*: unit lower L; on the diagonal, the inverses */
  double nu[6];        /* D_R⁻¹ ε_R; a prescribed hinge: its β̇ */
  /* Filled base to tips. */
  orr_spatial alpha_r; /* acceleration at the hinge's end of the body: α_R(k) */
  orr_spatial f;       /* force through the hinge, at the origin of S, where inverse dynamics has filled it */
  /* Filled by orr_poses_update. */
  orr_mat3 attitude; /* v_inertial = attitude v_S */
  orr_vec3 position; /* m, inertial */
};

/* A flexible body's modes. */
struct orr_flex_state {
  double *eta, *rate;      /* [ld] */
  double *force;           /* [ld] ε_f; then forward-substituted */
  double *accel;           /* [ld] η̈ */
  double *w;               /* [n][ldw] rows of [D_f | μ], eliminated in place: D_f = Uᵀ diag⁻¹ U */
  int ldw;                 /* ld + 8: μ stands in the columns ld … ld + 5 */
  double *coupling;        /* [6][ld] P_rf: angular rows, then linear */
  double *inverse;         /* [ld] 1/U_jj */
  struct orr_rows reduced; /* P_R of a lean limb */
  struct orr_modal_state mass;
  struct orr_modal modal; /* this workspace's copy of the integrals */
};

/* A site: where a node is now, and how modes move it, as seen from the body's origin. */
struct orr_site_state {
  orr_vec3 l;    /* m, from the origin of S */
  orr_mat3 r;    /* exp(θ): node axes in S axes */
  orr_mat3 e;    /* E(θ) */
  orr_spatial u; /* Π' η̇: [w; l̇], l̇ relative to S; w = E θ̇ */
  orr_vec3 turn; /* Ė θ̇ */
  double *pi;    /* [6][ld] Π' about the origin of S: E Π_s; Π_t + l × E Π_s */
  orr_vec3 push; /* m/s², η̇ᵀ G η̇: what is left of l̈ where η̈ = 0; of second-order shapes, else not set */
  bool curved;   /* of a body with second-order shapes */
  bool loaded;   /* gamma holds something */
  orr_inertia gamma; /* what hangs there adds, about the origin of S */
  orr_spatial zeta;
};

/* How core/tree/rows.h takes a limb: not at all; without modes and on a place that stays; any other. */
enum orr_lean { ORR_LEAN_NOT, ORR_LEAN_PLAIN, ORR_LEAN_BENT };

struct orr_world;

struct orr_workspace {
  const struct orr_model *model;
  struct orr_flow *flows;       /* [body_count] limbs */
  struct orr_limb_state *limbs; /* [body_count] */
  struct orr_flex_state *flexes;
  struct orr_site_state *sites;
  struct orr_site_rows *hung;   /* [site_count] */
  struct orr_bent *bents;       /* [body_count] limbs */
  struct orr_rigid *rigids;     /* [body_count] */
  struct orr_lean_body *bodies; /* [body_count] the same */
  struct orr_modal_node *nodes; /* [node_count] mass properties as they are now; flexible bodies */
  bool *prescribed;             /* [body_count] limbs */
  double *q, *u;                /* the state given to orr_state_set */
  double *rotor_speed;          /* [rotor_count] rad/s, relative to the body */
  double *rotor_torque;         /* N m, on the rotor */
  double *rotor_accel;          /* rad/s² */
  orr_spatial *external;        /* [body_count] wrench about the origin of S, S axes, that orr_force_* collects */
  double **external_modal;      /* [flex_count][ld] */
  bool *kept;                   /* [body_count] scratch */
  bool *laden;                  /* [body_count] limbs with a rotor geared to their hinge */
  int laden_count;              /* how many they are */
  double *hinge_inertia; /* [u_count] added to D_R at a hinge speed: a rotor geared to it, n² J; zero for modes */
  double *hinge_spin;    /* [u_count] n J of the same: its coupling with what carries it (core/tree/geared.h) */
  double implicit_s;     /* s: the factor has M + s D + s² K of modes and hinge springs in place of M; 0: M */
  bool *fast;            /* [body_count] limbs that this evaluation sends through the revolute kernel */
  enum orr_lean *lean;   /* [body_count] those of them that core/tree/rows.h computes */
  bool *puts;            /* [body_count] lean limbs that are the first to add to their parent */
  bool *adds;            /* [body_count] limbs not lean, or with modes, that lean children add to beside their sites */
  struct {               /* what these three were chosen for */
    bool valid, implicit, left;
    int laden_count;
    bool *prescribed; /* [body_count] */
  } chosen;
  double *scratch;                  /* [6][largest ld] */
  double *angles, *sines, *cosines; /* [angle_count, padded] */
  bool complete;                    /* revolute limbs have r, l, h, v, g and a too, not only what their kernel needs */
  bool forces_known;                /* limbs[].f is filled; else f = P_R α_R + z_R */
  uint64_t changes;                 /* counts new mass properties and geared rotors */
  int failed_body;                  /* file order, after a status other than ORR_OK */
  struct orr_world *world;          /* what is around (core/plant/world.h), or NULL; no sweep looks at it */
};

/* Bytes that a workspace takes. [init] */
size_t orr_workspace_size(const struct orr_model *model);

/* Lays it out in the block (64-byte aligned) at zero coordinates and speeds. NULL if the block is too small. [init] */
struct orr_workspace *orr_workspace_init(void *block, size_t bytes, const struct orr_model *model);

/* From now on the hinge of body `body` (file order) is driven, or is not. [rt] O(1). */
void orr_prescribe(struct orr_workspace *ws, int body, bool prescribed);

/* A rotor of spin inertia J, geared to a coordinate of the hinge of body `body` (file order) with n turns for one of
 * it. Several add up. [init] O(1). */
void orr_rotor_gear(struct orr_workspace *ws, int body, int coordinate, double ratio, double inertia);

/* New mass properties of a rigid body, as in its file: kg; m, body frame; kg m² about the mass centre. They count from
 * the next orr_state_set on, which computes biases with them. [rt] O(1). */
void orr_mass_set(struct orr_workspace *ws, int body, double mass, const double com[3], const double inertia[6]);

/* New mass properties of one node of a flexible body, from the next orr_state_set on; K and D stay. Integrals are the
 * model's plus the difference of the nodes changed so far, so that rounding does not add up over many small changes.
 * [rt] O(nodes + changed nodes · n²). */
void orr_node_mass_set(struct orr_workspace *ws, int body, int node, double mass, const double com[3],
                       const double inertia[6]);

#endif
