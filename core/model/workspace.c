#include "core/model/workspace.h"

static void layout_flex(struct orr_block *ledger, const struct orr_modal *of, struct orr_flex_state *flex) {
  int n = of->n;
  flex->modal = (struct orr_modal){.linearized = of->linearized, .curved = of->curved, .line = of->line};
  orr_modal_layout(&flex->modal, n, ledger);
  size_t ld = (size_t)flex->modal.ld;
  flex->ldw = flex->modal.ld + 8; /* six columns of μ and padding */
  flex->eta = ORR_TAKE(ledger, double, ld);
  flex->rate = ORR_TAKE(ledger, double, ld);
  flex->force = ORR_TAKE(ledger, double, ld);
  flex->accel = ORR_TAKE(ledger, double, ld);
  flex->w = ORR_TAKE(ledger, double, n * flex->ldw);
  flex->coupling = ORR_TAKE(ledger, double, 6 * ld);
  flex->inverse = ORR_TAKE(ledger, double, ld);
  flex->mass.l = ORR_TAKE(ledger, double, 3 * ld);
  flex->mass.bias_f = ORR_TAKE(ledger, double, ld);
  flex->mass.s1 = of->curved ? ORR_TAKE(ledger, double, 3 * ld) : flex->modal.s1;
}

static struct orr_workspace layout(struct orr_block *ledger, const struct orr_model *m, struct orr_workspace **self) {
  struct orr_workspace ws = {.model = m};
  int padded = (m->angle_count + 3) / 4 * 4;
  *self = ORR_TAKE(ledger, struct orr_workspace, 1);
  ws.flows = ORR_TAKE(ledger, struct orr_flow, m->body_count);
  ws.limbs = ORR_TAKE(ledger, struct orr_limb_state, m->body_count);
  ws.rigids = ORR_TAKE(ledger, struct orr_rigid, m->body_count);
  ws.bodies = ORR_TAKE(ledger, struct orr_lean_body, m->body_count);
  ws.flexes = ORR_TAKE(ledger, struct orr_flex_state, m->flex_count);
  ws.sites = ORR_TAKE(ledger, struct orr_site_state, m->site_count);
  ws.hung = ORR_TAKE(ledger, struct orr_site_rows, m->site_count);
  ws.bents = ORR_TAKE(ledger, struct orr_bent, m->body_count);
  ws.nodes = ORR_TAKE(ledger, struct orr_modal_node, m->node_count);
  ws.prescribed = ORR_TAKE(ledger, bool, m->body_count);
  ws.q = ORR_TAKE(ledger, double, m->q_count);
  ws.u = ORR_TAKE(ledger, double, m->u_count);
  ws.rotor_speed = ORR_TAKE(ledger, double, m->rotor_count);
  ws.rotor_torque = ORR_TAKE(ledger, double, m->rotor_count);
  ws.rotor_accel = ORR_TAKE(ledger, double, m->rotor_count);
  ws.external = ORR_TAKE(ledger, orr_spatial, m->body_count);
  ws.external_modal = ORR_TAKE(ledger, double *, m->flex_count);
  ws.kept = ORR_TAKE(ledger, bool, m->body_count);
  ws.laden = ORR_TAKE(ledger, bool, m->body_count);
  ws.hinge_inertia = ORR_TAKE(ledger, double, m->u_count);
  ws.hinge_spin = ORR_TAKE(ledger, double, m->u_count);
  ws.fast = ORR_TAKE(ledger, bool, m->body_count);
  ws.lean = ORR_TAKE(ledger, enum orr_lean, m->body_count);
  ws.puts = ORR_TAKE(ledger, bool, m->body_count);
  ws.adds = ORR_TAKE(ledger, bool, m->body_count);
  ws.chosen.prescribed = ORR_TAKE(ledger, bool, m->body_count);
  ws.scratch = ORR_TAKE(ledger, double, 6 * ((m->mode_max + 3) / 4 * 4));
  ws.angles = ORR_TAKE(ledger, double, padded);
  ws.sines = ORR_TAKE(ledger, double, padded);
  ws.cosines = ORR_TAKE(ledger, double, padded);
  for (int i = 0; i < m->flex_count; i++) {
    struct orr_flex_state scratch;
    layout_flex(ledger, &m->modals[i], ledger->base ? &ws.flexes[i] : &scratch);
    double *external = ORR_TAKE(ledger, double, m->modals[i].ld);
    if (ledger->base)
      ws.external_modal[i] = external;
  }
  for (int i = 0; i < m->site_count; i++) {
    const struct orr_limb *limb = &m->limbs[m->sites[i].limb];
    double *pi = ORR_TAKE(ledger, double, 6 * m->modals[limb->flex].ld);
    bool few = limb->mode_count <= ORR_FEW_MODES;
    orr_lanes *rows = few ? ORR_TAKE(ledger, orr_lanes, 2 * limb->mode_count) : NULL;
    if (ledger->base) {
      ws.hung[i].pi = rows;
      ws.sites[i].pi = pi;
      ws.sites[i].curved = limb->curved;
    }
  }
  return ws;
}

size_t orr_workspace_size(const struct orr_model *model) {
  struct orr_block ledger = {0};
  struct orr_workspace *self;
  layout(&ledger, model, &self);
  return ledger.used;
}

/* The workspace's own integrals start as the model's. */
static void copy_modal(struct orr_modal *to, const struct orr_modal *from) {
  size_t row = (size_t)from->ld * sizeof(double), square = (size_t)from->n * row;
  struct orr_modal own = *to;
  *to = *from;
  to->s1 = memcpy(own.s1, from->s1, 3 * row);
  to->l0 = memcpy(own.l0, from->l0, 3 * row);
  to->i1 = memcpy(own.i1, from->i1, 6 * row);
  to->mff = memcpy(own.mff, from->mff, square);
  to->stiffness = memcpy(own.stiffness, from->stiffness, square);
  to->damping = memcpy(own.damping, from->damping, square);
  to->diagonal = memcpy(own.diagonal, from->diagonal, 2 * row);
  to->firsts = memcpy(own.firsts, from->firsts, 16 * sizeof(double) * (size_t)from->n);
  to->pairs = memcpy(own.pairs, from->pairs, ORR_MODAL_PAIR * square);
  if (from->curved)
    to->curve = memcpy(own.curve, from->curve, ORR_MODAL_CURVE * square);
  if (from->lean)
    to->lean = memcpy(own.lean, from->lean, square);
}

/* A limb's rigid part is this from now on. */
static void put_rigid(struct orr_workspace *ws, int k, double m, orr_vec3 s, orr_sym3 i) {
  ws->rigids[k] = (struct orr_rigid){m, s, i};
  struct orr_lean_body *body = &ws->bodies[k];
  lanes_put(&body->p.bx, 0, -s.z, s.y);
  lanes_put(&body->p.by, s.z, 0, -s.x);
  lanes_put(&body->p.bz, -s.y, s.x, 0);
  lanes_put(&body->p.cx, m, 0, 0);
  lanes_put(&body->p.cy, 0, m, 0);
  lanes_put(&body->p.cz, 0, 0, m);
  lanes_put(&body->p.d, i.zz, i.xx, i.yy);
  lanes_put(&body->p.o, i.yz, i.xz, i.xy);
  lanes_put(&body->xz_xy_yz, i.xz, i.xy, i.yz);
  lanes_put(&body->s_yzx, s.y, s.z, s.x);
  lanes_put(&body->s_zxy, s.z, s.x, s.y);
}

struct orr_workspace *orr_workspace_init(void *block, size_t bytes, const struct orr_model *model) {
  if (!block || bytes < orr_workspace_size(model))
    return NULL;
  struct orr_block ledger = {.base = block, .size = bytes};
  struct orr_workspace *self, ws = layout(&ledger, model, &self);
  *self = ws;
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    put_rigid(self, k, limb->mass, limb->s, limb->inertia);
    self->prescribed[k] = model->prescribed[k];
    int quaternion = orr_hinge_quaternion(limb->kind);
    if (quaternion >= 0)
      self->q[limb->hinge_q + quaternion + 3] = 1;
  }
  for (int i = 0; i < model->flex_count; i++)
    copy_modal(&self->flexes[i].modal, &model->modals[i]);
  for (int i = 0; i < model->node_count; i++)
    self->nodes[i] = model->nodes[i].mass;
  self->failed_body = -1;
  return self;
}

void orr_prescribe(struct orr_workspace *ws, int body, bool prescribed) {
  ws->prescribed[ws->model->limb_of_body[body]] = prescribed;
}

void orr_rotor_gear(struct orr_workspace *ws, int body, int coordinate, double ratio, double inertia) {
  int k = ws->model->limb_of_body[body], at = ws->model->limbs[k].hinge_u + coordinate;
  if (inertia == 0)
    return;
  ws->hinge_inertia[at] += ratio * ratio * inertia;
  ws->hinge_spin[at] += ratio * inertia;
  ws->laden_count += !ws->laden[k];
  ws->laden[k] = true;
  ws->changes++;
  ws->chosen.valid = false;
}

void orr_mass_set(struct orr_workspace *ws, int body, double mass, const double com[3], const double inertia[6]) {
  int k = ws->model->limb_of_body[body];
  const struct orr_limb *limb = &ws->model->limbs[k];
  assert(!limb->flexible);
  ws->changes++;
  orr_vec3 c = m3_apply_t(limb->c, v3_sub(v3_from(com), limb->at));
  orr_sym3 about_com = s3_rotate(m3_transpose(limb->c), s3_from(inertia));
  put_rigid(ws, k, mass, v3_scale(mass, c), s3_add(about_com, s3_point(mass, c)));
}

static bool same_mass(const struct orr_modal_node *a, const struct orr_modal_node *b) {
  return a->mass == b->mass && memcmp(&a->com, &b->com, sizeof a->com) == 0 &&
         memcmp(&a->inertia, &b->inertia, sizeof a->inertia) == 0;
}

/* A flexible body without modes is rigid. */
static void rigid_node_mass(struct orr_rigid *rigid, double sign, const struct orr_modal_node *node) {
  orr_vec3 c = v3_add(node->at, node->com);
  rigid->mass += sign * node->mass;
  rigid->s = v3_madd(rigid->s, sign * node->mass, c);
  rigid->i = s3_add(rigid->i, s3_scale(sign, s3_add(node->inertia, s3_point(node->mass, c))));
}

void orr_node_mass_set(struct orr_workspace *ws, int body, int node, double mass, const double com[3],
                       const double inertia[6]) {
  const struct orr_model *m = ws->model;
  int k = m->limb_of_body[body], first = m->node_first[body], count = m->node_first[body + 1] - first;
  const struct orr_limb *limb = &m->limbs[k];
  assert(limb->flexible);
  ws->changes++;
  struct orr_modal_node *changed = &ws->nodes[first + node];
  changed->mass = mass;
  changed->com = m3_apply_t(limb->c, v3_from(com));
  changed->inertia = s3_rotate(m3_transpose(limb->c), s3_from(inertia));
  struct orr_modal *modal = limb->flex >= 0 ? &ws->flexes[limb->flex].modal : NULL;
  struct orr_rigid rigid = {limb->mass, limb->s, limb->inertia};
  if (modal)
    copy_modal(modal, &m->modals[limb->flex]);
  for (int i = first; i < first + count; i++) {
    const struct orr_modal_node *now = &ws->nodes[i], *was = &m->nodes[i].mass;
    if (same_mass(now, was))
      continue;
    if (modal) {
      orr_modal_add_node(modal, -1, was);
      orr_modal_add_node(modal, 1, now);
    } else {
      rigid_node_mass(&rigid, -1, was);
      rigid_node_mass(&rigid, 1, now);
    }
  }
  put_rigid(ws, k, rigid.mass, rigid.s, rigid.i);
}
