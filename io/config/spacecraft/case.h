/* Reads a case of `orrery eval`: a state, and what acts (conventions, "`orrery eval`").
 *
 * orr_config_load the model → orr_case_load → use it while the diagnostics live. [init]; one thread at a time.
 */
#ifndef ORR_IO_CONFIG_SPACECRAFT_CASE_H
#define ORR_IO_CONFIG_SPACECRAFT_CASE_H

#include "io/config/spacecraft/config.h"

enum orr_case_kind {
  ORR_CASE_FORWARD, /* forces in: the case may have `forces` and `prescribed` */
  ORR_CASE_INVERSE, /* accelerations in: the case has `accelerations` (and `prescribed`), no `forces` */
};

/* What a case says of one body; what it leaves out is zero, attitudes the identity. */
struct orr_case_body {
  double q[7];                     /* as the hinge's kind orders them; free: position, then quaternion x y z w */
  double speed[6];                 /* β; free: rate, then velocity */
  double tau[6];                   /* generalised forces of the hinge */
  double acceleration[6];          /* β̇: given to a prescribed hinge, or to every hinge (inverse) */
  bool prescribed;                 /* by the model or by the case */
  bool driven;                     /* by the case */
  const double *eta, *eta_rate;    /* [mode_count]; never NULL where there are modes */
  const double *modal;             /* [mode_count] */
  const double *eta_acceleration;  /* [mode_count]; inverse */
  struct orr_place orbit;          /* free: as written, for a run to read; or no node */
  struct orr_place like_target[2]; /* free, ball: `attitude: target` and `rate: target` as written; or no node */
};

struct orr_case_external {
  int body, node;
  double force[3], moment[3];
  bool body_axes; /* `frame: body`; else inertial */
};

struct orr_case {
  struct orr_case_body *bodies; /* [body_count of the description] */
  const struct orr_case_external *externals;
  size_t external_count;
};

/* [init] NULL when anything is wrong: every mistake is then among the diagnostics the model was loaded with, and the
 * case lives as long as they do. Options may be NULL. O(text). */
const struct orr_case *orr_case_load(const char *path, struct orr_config *config, enum orr_case_kind kind,
                                     const struct orr_config_options *options);

/* [init] The `state` of a case, or the `initial` of a run: [body_count], what is left out is zero. Mistakes are among
 * the diagnostics of the config. */
const struct orr_case_body *orr_case_read_state(struct orr_config *config, struct orr_place state);

#endif
