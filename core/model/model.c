#include "core/model/model.h"

#include "core/model/foreshorten.h"

/* What a body takes to be foreshortened. */
struct line {
  struct orr_foreshorten scratch;
  double *h; /* [nodes][n][n] */
};

/* The arrays of a model while they are being filled: the same pointers as in the model, not const. */
struct build {
  struct orr_model *model;
  const struct orr_description *d;
  unsigned options;
  struct orr_limb *limbs;
  int *limb_of_body, *node_first;
  struct orr_node *nodes;
  struct orr_modal *modals;
  struct orr_site *sites;
  struct line *lines; /* [flex_count] scratch of those with second-order shapes */
  struct orr_rotor *rotors;
  struct orr_turning *turnings;
  bool *prescribed;
  int *next_sibling, *first_son; /* by body of the file; scratch */
  int *site_of_node;             /* [node_count], -1: none */
  char *names;
};

static size_t name_bytes(const struct orr_description *d) {
  size_t bytes = 0;
  for (size_t i = 0; i < d->body_count; i++)
    bytes += strlen(d->bodies[i].name) + 1;
  return bytes;
}

/* Whether core/tree/turning.h has a kernel for it. */
static bool turns_alone(enum orr_hinge_kind kind) { return kind == ORR_HINGE_UNIVERSAL || kind == ORR_HINGE_GIMBAL; }

/* Takes every array, in one order, from a ledger that measures or one that gives. */
static struct build layout(struct orr_block *ledger, const struct orr_description *d) {
  struct build b = {.d = d};
  size_t nodes = 0, flexes = 0, turnings = 0;
  for (size_t i = 0; i < d->body_count; i++) {
    nodes += d->bodies[i].node_count;
    flexes += d->bodies[i].mode_count > 0;
    turnings += turns_alone(d->bodies[i].hinge.kind);
  }
  b.model = ORR_TAKE(ledger, struct orr_model, 1);
  b.limbs = ORR_TAKE(ledger, struct orr_limb, d->body_count);
  b.limb_of_body = ORR_TAKE(ledger, int, d->body_count);
  b.node_first = ORR_TAKE(ledger, int, d->body_count + 1);
  b.nodes = ORR_TAKE(ledger, struct orr_node, nodes);
  b.modals = ORR_TAKE(ledger, struct orr_modal, flexes);
  b.sites = ORR_TAKE(ledger, struct orr_site, 2 * d->body_count + d->rotor_count);
  b.lines = ORR_TAKE(ledger, struct line, flexes);
  b.rotors = ORR_TAKE(ledger, struct orr_rotor, d->rotor_count);
  b.turnings = ORR_TAKE(ledger, struct orr_turning, turnings);
  b.prescribed = ORR_TAKE(ledger, bool, d->body_count);
  b.next_sibling = ORR_TAKE(ledger, int, d->body_count);
  b.first_son = ORR_TAKE(ledger, int, d->body_count + 1);
  b.site_of_node = ORR_TAKE(ledger, int, nodes);
  b.names = ORR_TAKE(ledger, char, name_bytes(d));
  return b;
}

/* `line` is NULL while memory is measured. */
static void layout_line(struct orr_block *ledger, const struct orr_body_desc *body, struct line *line) {
  struct line taken;
  taken.scratch = orr_foreshorten_layout(body, ledger);
  taken.h = ORR_TAKE(ledger, double, body->node_count * body->mode_count * body->mode_count);
  if (line)
    *line = taken;
}

/* Arrays of the flexible bodies: integrals, and each node's modes in solver axes. */
static void layout_modes(struct orr_block *ledger, const struct orr_description *d, struct build *b) {
  int flex = 0, node = 0;
  for (size_t i = 0; i < d->body_count; i++) {
    const struct orr_body_desc *body = &d->bodies[i];
    int n = (int)body->mode_count;
    struct orr_modal scratch = {0}, *modal = ledger->base && n ? &b->modals[flex++] : &scratch;
    modal->linearized = body->deformation == ORR_DEFORMATION_LINEARIZED;
    modal->curved = body->stiffening;
    modal->line = body->stiffening && !orr_curves_given(body);
    if (n)
      orr_modal_layout(modal, n, ledger);
    for (size_t j = 0; n && j < body->node_count; j++) {
      double *modes = ORR_TAKE(ledger, double, 6 * (size_t)modal->ld);
      size_t each = modal->line ? 1 : ORR_MODAL_CURVE;
      double *curve = modal->curved ? ORR_TAKE(ledger, double, each *(size_t)n *(size_t)modal->ld) : NULL;
      if (!ledger->base)
        continue;
      b->nodes[node + (int)j].mass.curve = curve;
      b->nodes[node + (int)j].mass.slope = modes;
      b->nodes[node + (int)j].mass.shift = modes + 3 * modal->ld;
    }
    if (n && modal->line)
      layout_line(ledger, body, ledger->base ? &b->lines[flex - 1] : NULL);
    node += (int)body->node_count;
  }
}

size_t orr_model_size(const struct orr_description *description, unsigned options) {
  (void)options;
  struct orr_block ledger = {0};
  struct build b = layout(&ledger, description);
  layout_modes(&ledger, description, &b);
  return ledger.used;
}

/* Limbs in order: all bodies on inertial, then their children, level by level. False if some body is never reached;
 * *where is then the first such body. */
static bool order_limbs(struct build *b, int *where) {
  int count = (int)b->d->body_count, *son = b->first_son + 1; /* son[-1]: of inertial */
  for (int i = -1; i < count; i++)
    son[i] = -1;
  for (int i = count - 1; i >= 0; i--) {
    int parent = b->d->bodies[i].hinge.parent;
    b->next_sibling[i] = son[parent];
    son[parent] = i;
    b->limb_of_body[i] = -1;
  }
  int filled = 0;
  for (int from = -1; from < filled; from++) {
    int body = from < 0 ? ORR_INERTIAL : b->limbs[from].body, first = filled;
    for (int i = son[body]; i >= 0; i = b->next_sibling[i]) {
      b->limbs[filled].body = i;
      b->limbs[filled].parent = from;
      b->limb_of_body[i] = filled++;
    }
    if (filled > first)
      b->limbs[filled - 1].last_child = true;
    if (from < 0)
      continue;
    b->limbs[from].first_child = first;
    b->limbs[from].child_count = filled - first;
  }
  for (int i = 0; i < count; i++) {
    if (b->limb_of_body[i] >= 0)
      continue;
    *where = i;
    return false;
  }
  return true;
}

/* Where each body's numbers stand in the vectors of the user, in file order. */
static void number_states(struct build *b) {
  int q = 0, u = 0, node = 0, flex = 0;
  for (size_t i = 0; i < b->d->body_count; i++) {
    const struct orr_body_desc *body = &b->d->bodies[i];
    struct orr_limb *limb = &b->limbs[b->limb_of_body[i]];
    limb->kind = body->hinge.kind;
    limb->mode_count = (int)body->mode_count;
    limb->dof = orr_hinge_speeds(limb->kind);
    limb->q = q;
    limb->u = u;
    limb->hinge_q = q + limb->mode_count;
    limb->hinge_u = u + limb->mode_count;
    q = limb->hinge_q + orr_hinge_coordinates(limb->kind);
    u = limb->hinge_u + limb->dof;
    limb->flexible = body->flexible;
    limb->linearized = body->flexible && body->deformation == ORR_DEFORMATION_LINEARIZED;
    limb->curved = body->mode_count > 0 && body->stiffening;
    limb->flex = body->mode_count ? flex++ : -1;
    size_t bytes = strlen(body->name) + 1;
    limb->name = memcpy(b->names, body->name, bytes);
    b->names += bytes;
    b->node_first[i] = node;
    node += (int)body->node_count;
    if (limb->mode_count > b->model->mode_max)
      b->model->mode_max = limb->mode_count;
    if (limb->flex >= 0 && limb->linearized)
      b->model->needs_velocity = true;
  }
  b->node_first[b->d->body_count] = node;
  b->model->q_count = q;
  b->model->u_count = u;
  b->model->node_count = node;
  b->model->flex_count = flex;
}

/* A node of a line that bends comes closer to the hinge even where the modes do not move it across. */
static bool moves_with_modes(const struct orr_body_desc *body, int node) {
  if (body->stiffening && body->mode_count)
    if (body->nodes[node].curve_count || (node != body->hinge.node && !orr_curves_given(body)))
      return true;
  for (size_t i = 0; i < 6 * body->mode_count; i++)
    if (body->nodes[node].modes[i] != 0)
      return true;
  return false;
}

/* The site of a node, made if it deforms and has none yet; -1 if it does not deform. */
static int site_at(struct build *b, int body, int node) {
  if (!moves_with_modes(&b->d->bodies[body], node))
    return -1;
  int *site = &b->site_of_node[b->node_first[body] + node];
  if (*site < 0) {
    *site = b->model->site_count++;
    b->sites[*site] = (struct orr_site){.limb = b->limb_of_body[body], .node = b->node_first[body] + node};
    b->limbs[b->limb_of_body[body]].site_count++;
  }
  return *site;
}

/* Sites limb by limb, so that a body's sites are neighbours. */
static void find_sites(struct build *b) {
  for (int i = 0; i < b->model->node_count; i++)
    b->site_of_node[i] = -1;
  for (int k = 0; k < (int)b->d->body_count; k++) {
    struct orr_limb *limb = &b->limbs[k];
    const struct orr_body_desc *body = &b->d->bodies[limb->body];
    limb->site_first = b->model->site_count;
    limb->site_own = site_at(b, limb->body, body->hinge.node);
    for (int c = limb->first_child; c < limb->first_child + limb->child_count; c++) {
      int site = site_at(b, limb->body, b->d->bodies[b->limbs[c].body].hinge.parent_node);
      b->limbs[c].site_parent = site;
      if (site >= 0)
        b->sites[site].children++;
    }
    if (limb->parent < 0)
      limb->site_parent = -1;
    for (size_t i = 0; i < b->d->rotor_count; i++)
      if (b->d->rotors[i].body == limb->body)
        (void)site_at(b, limb->body, b->d->rotors[i].node);
  }
}

/* Whether w is the i-th coordinate axis; a part of 1 alone does not tell, for axes within 1e-8 of it have that. */
static bool is_axis(orr_vec3 w, int i) { return w.x == (i == 0) && w.y == (i == 1) && w.z == (i == 2); }

/* A rotation whose third column is u: a cyclic change of axes for a coordinate axis. */
static orr_mat3 axes_with_z(orr_vec3 u) {
  if (is_axis(u, 2))
    return m3_identity();
  if (is_axis(u, 0))
    return (orr_mat3){{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
  if (is_axis(u, 1))
    return (orr_mat3){{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
  orr_vec3 far = fabs(u.x) < 0.5 ? v3(1, 0, 0) : v3(0, 1, 0);
  orr_vec3 e2 = v3_cross(u, far);
  e2 = v3_scale(1 / v3_norm(e2), e2);
  orr_vec3 e1 = v3_cross(e2, u);
  return (orr_mat3){{{e1.x, e2.x, u.x}, {e1.y, e2.y, u.y}, {e1.z, e2.z, u.z}}};
}

/* The coordinate axis that w is to rounding, or w itself. */
static orr_vec3 snapped(orr_vec3 w) {
  const orr_vec3 e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; i++)
    if (v3_norm(v3_sub(w, e[i])) < 1e-15)
      return e[i];
  return w;
}

/* Solver axes of a revolute limb: z along the hinge. If the hinge's axis is one of the parent's solver axes, the other
 * two are the parent's under new names, and going from one body to the other costs one plane rotation. */
static void revolute_axes(struct orr_limb *limb) {
  orr_vec3 u = v3_from(limb->axes[0]), w = snapped(m3_apply(limb->r0, u));
  if (is_axis(w, 0) || is_axis(w, 1) || is_axis(w, 2)) {
    limb->r0c = axes_with_z(w);
    limb->c = m3_mul(m3_transpose(limb->r0), limb->r0c);
    limb->turn = is_axis(w, 2) ? ORR_TURN_NONE : is_axis(w, 0) ? ORR_TURN_XYZ_TO_YZX : ORR_TURN_XYZ_TO_ZXY;
    return;
  }
  limb->c = axes_with_z(snapped(u));
  limb->r0c = m3_mul(limb->r0, limb->c);
  limb->turn = ORR_TURN_DENSE;
}

static bool has_rotor(const struct orr_description *d, int body) {
  for (size_t i = 0; i < d->rotor_count; i++)
    if (d->rotors[i].body == body)
      return true;
  return false;
}

/* What core/tree/rows.h reads of a limb, four numbers side by side. */
static void place_lean(struct orr_limb *limb) {
  orr_vec3 l = limb->l0, half = v3_scale(0.5, l);
  for (int i = 0; i < 3; i++) {
    orr_vec3 row = m3_row(limb->r0c, i), column = m3_col(limb->r0c, i);
    lanes_put(&limb->lean.out[i], row.x, row.y, row.z);
    lanes_put(&limb->lean.in[i], column.x, column.y, column.z);
  }
  lanes_put(&limb->lean.l_yzx, l.y, l.z, l.x);
  lanes_put(&limb->lean.l_zxy, l.z, l.x, l.y);
  lanes_put(&limb->lean.half, half.x, half.y, half.z);
  lanes_put(&limb->lean.half_yzx, half.y, half.z, half.x);
}

/* Constants of limb k for core/tree/turning.h, if it is one of those. */
static void place_turning(struct build *b, struct orr_limb *limb) {
  limb->turning = -1;
  if (!turns_alone(limb->kind) || limb->site_own >= 0 || b->options & ORR_MODEL_PLAIN)
    return;
  limb->turning = b->model->turning_count++;
  limb->angle = b->model->angle_count;
  b->model->angle_count += limb->dof;
  struct orr_turning *turning = &b->turnings[limb->turning];
  for (int i = 0; i < 3; i++)
    lanes_put(&turning->r0[i], limb->r0.m[i][0], limb->r0.m[i][1], limb->r0.m[i][2]);
  for (int i = 0; i < limb->dof; i++)
    orr_turn_axis_put(&turning->axes[i], v3_from(limb->axes[i]));
}

/* The hinge and the solver axes of limb k; the parent's are there already. */
static void place_limb(struct build *b, int k) {
  struct orr_limb *limb = &b->limbs[k];
  const struct orr_body_desc *body = &b->d->bodies[limb->body];
  const struct orr_hinge_desc *hinge = &body->hinge;
  memcpy(limb->axes, hinge->axes, sizeof limb->axes);
  for (int i = 0; i < 6; i++) {
    limb->stiffness[i] = hinge->stiffness[i];
    limb->damping[i] = hinge->damping[i];
    limb->rest[i] = hinge->rest[i];
    if (i < limb->dof && (hinge->stiffness[i] != 0 || hinge->damping[i] != 0))
      limb->springs = true;
  }
  b->prescribed[k] = hinge->prescribed;
  limb->at = v3_from(body->nodes[hinge->node].at);
  limb->c = m3_identity();
  limb->r0 = quat_matrix(hinge->rotation);
  limb->l0 = v3_zero();
  if (limb->parent >= 0) {
    const struct orr_limb *parent = &b->limbs[limb->parent];
    const struct orr_body_desc *on = &b->d->bodies[hinge->parent];
    limb->on_revolute = parent->kernel == ORR_KERNEL_REVOLUTE || parent->on_revolute;
    limb->l0 = m3_apply_t(parent->c, v3_sub(v3_from(on->nodes[hinge->parent_node].at), parent->at));
    limb->r0 = m3_mul(m3_transpose(parent->c), limb->r0);
  }
  limb->r0c = limb->r0;
  place_turning(b, limb);
  bool fast = limb->kind == ORR_HINGE_REVOLUTE && limb->site_own < 0 && !(b->options & ORR_MODEL_PLAIN) &&
              !has_rotor(b->d, limb->body);
  if (!fast)
    return;
  limb->kernel = ORR_KERNEL_REVOLUTE;
  revolute_axes(limb);
  place_lean(limb);
  limb->angle = b->model->angle_count++;
  b->model->revolute_count++;
}

/* Components about the mass centre in F → inertia about the origin of S in S axes, from a mass centre at c (S). */
static orr_sym3 inertia_in_s(orr_mat3 f_to_s, const double inertia[6]) { return s3_rotate(f_to_s, s3_from(inertia)); }

static void place_node(struct build *b, const struct orr_limb *limb, const struct orr_node_desc *desc, int index) {
  struct orr_node *node = &b->nodes[index];
  orr_mat3 f_to_s = m3_transpose(limb->c);
  node->limb = b->limb_of_body[limb->body];
  node->site = b->site_of_node[index];
  node->at = m3_apply(f_to_s, v3_sub(v3_from(desc->at), limb->at));
  node->mass.at = node->at;
  node->mass.mass = desc->mass;
  node->mass.com = m3_apply(f_to_s, v3_from(desc->com));
  node->mass.inertia = inertia_in_s(f_to_s, desc->inertia);
  if (limb->flex < 0)
    return;
  int ld = b->modals[limb->flex].ld;
  double *slope = (double *)node->mass.slope, *shift = (double *)node->mass.shift;
  for (int r = 0; r < limb->mode_count; r++) {
    orr_spatial pi = sp_rotate(f_to_s, sp_from(desc->modes + 6 * r));
    const double w[3] = {pi.w.x, pi.w.y, pi.w.z}, v[3] = {pi.v.x, pi.v.y, pi.v.z};
    for (int c = 0; c < 3; c++) {
      slope[c * ld + r] = w[c];
      shift[c * ld + r] = v[c];
    }
  }
}

/* K and D: the matrices as given, or (2πf)² M_rr and 2ζ(2πf) M_rr on the diagonal. */
static void elastic(const struct orr_body_desc *body, struct orr_modal *modal) {
  const double two_pi = 6.283185307179586476925;
  int n = modal->n, ld = modal->ld;
  modal->uncoupled = body->modes != NULL;
  for (int r = 0; r < n; r++) {
    for (int s = 0; s < n && !body->modes; s++) {
      modal->stiffness[r * ld + s] = body->stiffness ? body->stiffness[r * n + s] : 0;
      modal->damping[r * ld + s] = body->damping ? body->damping[r * n + s] : 0;
    }
    if (!body->modes)
      continue;
    double m = modal->mff[r * ld + r], w = two_pi * body->modes[r].frequency_hz;
    modal->stiffness[r * ld + r] = modal->diagonal[r] = w * w * m;
    modal->damping[r * ld + r] = modal->diagonal[ld + r] = 2 * body->modes[r].damping * w * m;
  }
}

/* G_sr of a node, from body axes, for both orders of the pair. */
static void set_curve(const struct orr_limb *limb, double *curve, int s, int r, const double given[3]) {
  orr_vec3 g = m3_apply_t(limb->c, v3_from(given));
  for (int k = 0; k < 2; k++) {
    double *at = orr_curve_at(curve, ORR_MODAL_CURVE, limb->mode_count, k ? r : s, k ? s : r);
    at[0] = g.x;
    at[4] = g.y;
    at[8] = g.z;
  }
}

/* G of all nodes of a body with second-order shapes, in solver axes: of the file, or of the line of its nodes. */
static void fill_curves(struct build *b, const struct orr_limb *limb) {
  const struct orr_body_desc *body = &b->d->bodies[limb->body];
  const struct orr_node *nodes = &b->nodes[b->node_first[limb->body]];
  struct orr_modal *modal = &b->modals[limb->flex];
  struct line *own = &b->lines[limb->flex];
  int n = limb->mode_count;
  if (modal->line) {
    struct orr_spine line = orr_spine_find(body);
    modal->along = m3_apply_t(limb->c, line.along);
    orr_foreshorten(body, &line, &own->scratch, own->h);
  }
  for (int j = 0; j < (int)body->node_count; j++) {
    double *curve = (double *)nodes[j].mass.curve;
    for (int i = 0; modal->line && i < n * n; i++)
      *orr_curve_at(curve, 1, n, i / n, i % n) = -own->h[j * n * n + i];
    for (size_t i = 0; i < body->nodes[j].curve_count; i++) {
      const struct orr_curve_desc *c = &body->nodes[j].curves[i];
      set_curve(limb, curve, (int)c->r, (int)c->s, c->g);
    }
  }
}

static void fill_mass(struct build *b, struct orr_limb *limb) {
  const struct orr_body_desc *body = &b->d->bodies[limb->body];
  orr_mat3 f_to_s = m3_transpose(limb->c);
  if (!body->flexible) {
    orr_vec3 c = m3_apply(f_to_s, v3_sub(v3_from(body->com), limb->at));
    limb->mass = body->mass;
    limb->s = v3_scale(body->mass, c);
    limb->inertia = s3_add(inertia_in_s(f_to_s, body->inertia), s3_point(body->mass, c));
  }
  struct orr_modal *modal = limb->flex >= 0 ? &b->modals[limb->flex] : NULL;
  limb->bends = limb->curved || (limb->parent >= 0 && b->limbs[limb->parent].curved);
  if (limb->curved)
    fill_curves(b, limb);
  for (size_t j = 0; j < body->node_count; j++) {
    int index = b->node_first[limb->body] + (int)j;
    const struct orr_modal_node *node = &b->nodes[index].mass;
    place_node(b, limb, &body->nodes[j], index);
    if (modal) {
      orr_modal_add_node(modal, 1, node);
    } else if (body->flexible) {
      orr_vec3 c = v3_add(node->at, node->com);
      limb->mass += node->mass;
      limb->s = v3_madd(limb->s, node->mass, c);
      limb->inertia = s3_add(limb->inertia, s3_add(node->inertia, s3_point(node->mass, c)));
    }
  }
  if (modal)
    elastic(body, modal);
}

static void place_rotors(struct build *b) {
  for (size_t i = 0; i < b->d->rotor_count; i++) {
    const struct orr_rotor_desc *desc = &b->d->rotors[i];
    struct orr_limb *limb = &b->limbs[b->limb_of_body[desc->body]];
    int node = b->node_first[desc->body] + desc->node;
    b->rotors[i] = (struct orr_rotor){.limb = b->limb_of_body[desc->body],
                                      .node = node,
                                      .site = b->site_of_node[node],
                                      .axis = m3_apply_t(limb->c, v3_from(desc->axis)),
                                      .inertia = desc->inertia};
  }
}

static void publish(struct build *b) {
  struct orr_model *m = b->model;
  m->body_count = (int)b->d->body_count;
  m->rotor_count = (int)b->d->rotor_count;
  m->gravity = v3_from(b->d->gravity);
  m->limbs = b->limbs;
  m->limb_of_body = b->limb_of_body;
  m->node_first = b->node_first;
  m->nodes = b->nodes;
  m->modals = b->modals;
  m->sites = b->sites;
  m->rotors = b->rotors;
  m->turnings = b->turnings;
  m->prescribed = b->prescribed;
}

const struct orr_model *orr_model_init(void *block, size_t bytes, const struct orr_description *description,
                                       unsigned options, enum orr_status *status, int *where) {
  *status = ORR_ERROR_BLOCK;
  if (!block || bytes < orr_model_size(description, options))
    return NULL;
  struct orr_block ledger = {.base = block, .size = bytes};
  struct build b = layout(&ledger, description);
  b.options = options;
  *status = ORR_ERROR_CYCLE;
  if (!order_limbs(&b, where))
    return NULL;
  number_states(&b);
  layout_modes(&ledger, description, &b);
  find_sites(&b);
  for (int k = 0; k < (int)description->body_count; k++) {
    place_limb(&b, k);
    fill_mass(&b, &b.limbs[k]);
  }
  place_rotors(&b);
  publish(&b);
  *status = ORR_OK;
  return b.model;
}

int orr_model_node(const struct orr_model *model, int body, int node) { return model->node_first[body] + node; }

/* Parents have lower numbers. */
int orr_common_ancestor(const struct orr_model *model, int a, int b) {
  while (a != b) {
    if (a > b)
      a = model->limbs[a].parent;
    else
      b = model->limbs[b].parent;
  }
  return a;
}
