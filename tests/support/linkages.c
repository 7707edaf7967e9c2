#include "tests/support/linkages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/spatial.h"
#include "tests/support/loops.h"
#include "tests/support/prng.h"

const char *const orr_linkage_names[ORR_LINKAGE_KINDS] = {
    "bennett", "goldberg", "bricard", "mirror", "sarrus", "planar", "stack",  "parallel", "singular",
    "many",    "tilted",   "sphere",  "nested", "hung",   "long",   "joints", "flexible",
};

/* ---- drawing ----------------------------------------------------------------------------------------------- */

/* At zero coordinates every body's frame is parallel to the inertial axes, its origin on its hinge: then a linkage is
 * points and axes in space, at a posture in which it is closed. */
struct joint {
  orr_vec3 at, axis;
  enum orr_hinge_kind kind; /* ORR_HINGE_FIXED: as most are, revolute */
};

enum { MOST_NODES = 16, MOST_JOINTS = 20, MOST_MODES = 2 };

struct drawn {
  int parent;
  struct joint inboard;
  bool floats;
  int node_count;
  orr_vec3 nodes[MOST_NODES]; /* in space */
};

struct drawing {
  struct orr_prng rng;
  struct drawn bodies[ORR_LINKAGE_MOST_BODIES];
  int body_count, loop_count;
  struct orr_loop_desc loops[ORR_LINKAGE_MOST_LOOPS];
  bool flexible;
  int links[MOST_JOINTS]; /* of the last ring: the body between its joints i and i + 1 */
};

static int add_node(struct drawing *d, int body, orr_vec3 at) {
  struct drawn *b = &d->bodies[body];
  assert(b->node_count < MOST_NODES);
  b->nodes[b->node_count] = at;
  return b->node_count++;
}

static int add_body(struct drawing *d, int parent, struct joint inboard) {
  assert(d->body_count < ORR_LINKAGE_MOST_BODIES);
  struct drawn *b = &d->bodies[d->body_count];
  *b = (struct drawn){.parent = parent, .inboard = inboard};
  add_node(d, d->body_count, inboard.at);
  return d->body_count++;
}

static void add_loop(struct drawing *d, int a, int b, struct joint at, enum orr_loop_kind kind) {
  assert(d->loop_count < ORR_LINKAGE_MOST_LOOPS);
  bool swap = prng_chance(&d->rng, 0.5);
  struct orr_loop_desc *l = &d->loops[d->loop_count++];
  *l = (struct orr_loop_desc){.kind = kind, .body = {swap ? b : a, swap ? a : b}};
  for (int s = 0; s < 2; s++)
    l->node[s] = add_node(d, l->body[s], at.at);
  v3_to(l->axis, at.axis);
}

/* A ring of hinges from body `base` back to it: `count` joints, one of them closed by the loop, in half of the rings
 * the last. Where the loop is a weld that hinge stays in the tree and a body more is welded to the next one. */
static void add_ring(struct drawing *d, int base, const struct joint *joints, int count, enum orr_loop_kind kind) {
  int body = base, other = base, cut = prng_chance(&d->rng, 0.5) ? count - 1 : prng_pick(&d->rng, count);
  if (joints[cut].kind == ORR_HINGE_BALL && kind != ORR_LOOP_WELD)
    kind = ORR_LOOP_POINT;
  else if (joints[cut].kind != ORR_HINGE_FIXED)
    kind = ORR_LOOP_WELD;
  for (int i = 0; i < cut + (kind == ORR_LOOP_WELD); i++)
    d->links[i] = body = add_body(d, body, joints[i]);
  for (int i = count - 1; i > cut; i--)
    d->links[i - 1] = other = add_body(d, other, joints[i]);
  add_loop(d, other, body, joints[cut], kind);
}

static orr_vec3 random_vector(struct drawing *d, double size) {
  double x[3];
  prng_vector(&d->rng, size, x, 3);
  return v3_from(x);
}

static orr_vec3 random_direction(struct drawing *d) {
  double x[3];
  prng_direction(&d->rng, x, 3);
  return v3_from(x);
}

static orr_vec3 unit(orr_vec3 v) { return v3_scale(1 / v3_norm(v), v); }

static struct joint random_joint(struct drawing *d) {
  return (struct joint){.at = random_vector(d, 1), .axis = random_direction(d)};
}

/* A frame in space and what is moved with it. */
struct frame {
  orr_mat3 r;
  orr_vec3 p;
};

static struct frame random_frame(struct drawing *d) {
  double q[4];
  prng_direction(&d->rng, q, 4);
  return (struct frame){quat_matrix(q), random_vector(d, 0.3)};
}

static struct joint moved(struct frame f, struct joint j) {
  return (struct joint){v3_add(f.p, m3_apply(f.r, j.at)), m3_apply(f.r, j.axis), j.kind};
}

/* f · Rz(turn) · Tx(length) · Rx(twist) */
static struct frame along(struct frame f, double turn, double length, double twist) {
  double z[4] = {0, 0, sin(turn / 2), cos(turn / 2)}, x[4] = {sin(twist / 2), 0, 0, cos(twist / 2)};
  f.r = m3_mul(f.r, quat_matrix(z));
  f.p = v3_madd(f.p, length, m3_col(f.r, 0));
  f.r = m3_mul(f.r, quat_matrix(x));
  return f;
}

static struct joint joint_of(struct frame f) { return (struct joint){.at = f.p, .axis = m3_col(f.r, 2)}; }

static double apart(struct frame a, struct frame b) {
  double most = v3_norm(v3_sub(a.p, b.p));
  for (int i = 0; i < 3; i++)
    most = fmax(most, v3_norm(v3_sub(m3_col(a.r, i), m3_col(b.r, i))));
  return most;
}

/* Its four axes, seen from the link between the second and the third, which carries the frame: links of (a, α) and
 * (b, β) by turns, the angle at the third joint given. */
static void bennett_axes(struct frame link, double a, double alpha, double b, double beta, double turn,
                         struct joint out[4]) {
  double ratio = sin((alpha + beta) / 2) / sin((alpha - beta) / 2), best = HUGE_VAL;
  for (int sign = -1; sign <= 1; sign += 2) {
    double other = 2 * atan2(sign * ratio, tan(turn / 2));
    struct frame third = along(link, 0, a, alpha), fourth = along(third, turn, b, beta);
    struct frame first = along(fourth, other, a, alpha), second = along(along(first, -turn, b, beta), -other, 0, 0);
    if (apart(second, link) >= best)
      continue;
    best = apart(second, link);
    const struct frame f[4] = {first, link, third, fourth};
    for (int i = 0; i < 4; i++)
      out[i] = joint_of(f[i]);
  }
  assert(best < 1e-9);
}

/* b and β for a second kind of link, and a turn. */
static void bennett_numbers(struct drawing *d, double a, double alpha, double *b, double *beta, double *turn) {
  do {
    *beta = prng_between(&d->rng, 0.3, 1.5);
    *b = a * sin(*beta) / sin(alpha);
  } while (fabs(*beta - alpha) < 0.15 || *b > 3);
  *turn = prng_between(&d->rng, 0.5, 2.6) * (prng_chance(&d->rng, 0.5) ? 1 : -1);
}

static void draw_bennett(struct drawing *d, int base) {
  double a = prng_between(&d->rng, 0.4, 1.2), alpha = prng_between(&d->rng, 0.3, 1.5), b, beta, turn;
  struct joint axes[4] = {0};
  bennett_numbers(d, a, alpha, &b, &beta, &turn);
  bennett_axes(random_frame(d), a, alpha, b, beta, turn, axes);
  add_ring(d, base, axes, 4, ORR_LOOP_REVOLUTE);
}

static void draw_goldberg(struct drawing *d) {
  double a = prng_between(&d->rng, 0.4, 1.2), alpha = prng_between(&d->rng, 0.3, 1.5), b, beta, turn;
  struct joint one[4] = {0}, two[4] = {0};
  struct frame link = random_frame(d);
  bennett_numbers(d, a, alpha, &b, &beta, &turn);
  bennett_axes(link, a, alpha, b, beta, turn, one);
  bennett_numbers(d, a, alpha, &b, &beta, &turn);
  bennett_axes(link, a, alpha, b, beta, turn, two);
  const struct joint ring[5] = {one[0], one[1], two[0], two[3], one[3]};
  add_ring(d, 0, ring, 5, ORR_LOOP_REVOLUTE);
}

static void draw_bricard(struct drawing *d) {
  struct frame line = random_frame(d);
  struct joint ring[6] = {0};
  for (int i = 0; i < 3; i++) {
    struct joint j = random_joint(d), image = j; /* by half a turn about z */
    image.at.x = -j.at.x, image.at.y = -j.at.y;
    image.axis.x = -j.axis.x, image.axis.y = -j.axis.y;
    ring[i] = moved(line, j);
    ring[i + 3] = moved(line, image);
  }
  add_ring(d, 0, ring, 6, ORR_LOOP_REVOLUTE);
}

static void draw_mirror(struct drawing *d) {
  struct frame plane = random_frame(d);
  struct joint ring[6] = {0};
  for (int i = 0; i < 4; i++) {
    struct joint j = random_joint(d);
    if (i == 0 || i == 3) {
      j.at.z = j.axis.z = 0;
      j.axis = unit(j.axis);
      ring[i] = moved(plane, j);
      continue;
    }
    struct joint image = j;
    image.at.z = -j.at.z;
    image.axis.x = -j.axis.x, image.axis.y = -j.axis.y; /* an axis is a pseudovector; its sign does not matter */
    ring[i] = moved(plane, j);
    ring[6 - i] = moved(plane, image);
  }
  add_ring(d, 0, ring, 6, ORR_LOOP_REVOLUTE);
}

static void draw_sarrus(struct drawing *d) {
  struct frame f = random_frame(d);
  double turn = prng_between(&d->rng, 0.6, 2.5);
  struct joint ring[6] = {0};
  for (int i = 0; i < 6; i++) {
    ring[i] = random_joint(d);
    ring[i].axis = i < 3 ? v3(1, 0, 0) : v3(cos(turn), sin(turn), 0);
    ring[i] = moved(f, ring[i]);
  }
  add_ring(d, 0, ring, 6, ORR_LOOP_REVOLUTE);
}

static enum orr_loop_kind planar_closure(struct drawing *d) {
  static const enum orr_loop_kind kinds[] = {ORR_LOOP_POINT, ORR_LOOP_REVOLUTE, ORR_LOOP_REVOLUTE, ORR_LOOP_WELD};
  return kinds[prng_pick(&d->rng, 4)];
}

/* Corners of a polygon in the x-y plane, well apart. */
static void draw_polygon(struct drawing *d, struct joint *ring, int count) {
  for (int i = 0; i < count; i++) {
    double angle = 2 * 3.14159265358979 * (i + prng_between(&d->rng, -0.3, 0.3)) / count;
    double radius = prng_between(&d->rng, 0.4, 1.2);
    ring[i] = (struct joint){.at = v3(radius * cos(angle), radius * sin(angle), prng_between(&d->rng, -0.2, 0.2)),
                             .axis = v3(0, 0, 1)};
  }
}

static void draw_planar(struct drawing *d, int base, double tilt) {
  int count = 4 + prng_pick(&d->rng, 3), tilted = tilt > 0 ? 1 + prng_pick(&d->rng, 2) : 0;
  struct joint ring[6] = {0};
  struct frame f = random_frame(d);
  draw_polygon(d, ring, count);
  for (int i = 0; i < tilted; i++) {
    double angle = prng_between(&d->rng, 0, 6.28);
    int which = prng_pick(&d->rng, count - 1);
    ring[which].axis = v3(sin(tilt) * cos(angle), sin(tilt) * sin(angle), cos(tilt));
  }
  for (int i = 0; i < count; i++)
    ring[i] = moved(f, ring[i]);
  add_ring(d, base, ring, count, planar_closure(d));
}

/* An axis turned aside by so much. */
static orr_vec3 tilted(struct drawing *d, orr_vec3 axis, double tilt) {
  orr_vec3 aside = unit(v3_cross(axis, random_direction(d)));
  return v3_madd(v3_scale(cos(tilt), axis), sin(tilt), aside);
}

/* Most of them by nothing, the others each by its own. */
static void tilt_some(struct drawing *d, struct joint *ring, int count) {
  for (int i = 0; i < count; i++)
    if (prng_chance(&d->rng, 0.5))
      ring[i].axis = tilted(d, ring[i].axis, prng_scale(&d->rng, 1e-12, 1e-3));
}

static void draw_tilted(struct drawing *d, int base, int count) {
  struct joint ring[MOST_JOINTS] = {0};
  struct frame f = random_frame(d);
  draw_polygon(d, ring, count);
  for (int i = 0; i < count; i++)
    ring[i] = moved(f, ring[i]);
  tilt_some(d, ring, count);
  add_ring(d, base, ring, count, planar_closure(d));
}

static void draw_sphere(struct drawing *d) {
  int count = 4 + prng_pick(&d->rng, 3);
  struct frame f = random_frame(d);
  struct joint ring[6] = {0};
  for (int i = 0; i < count; i++) {
    ring[i] = random_joint(d);
    ring[i].at = v3_scale(prng_between(&d->rng, 0.3, 1), ring[i].axis);
    ring[i] = moved(f, ring[i]);
  }
  if (prng_chance(&d->rng, 0.3))
    tilt_some(d, ring, count);
  add_ring(d, 0, ring, count, prng_chance(&d->rng, 0.5) ? ORR_LOOP_REVOLUTE : ORR_LOOP_WELD);
}

/* Two more links between two bodies, all three hinges about `z`. */
static void add_dyad(struct drawing *d, int a, int b, orr_vec3 at_a, orr_vec3 at_b, orr_vec3 z) {
  orr_vec3 aside = v3_cross(z, v3_sub(at_b, at_a)), top = v3_scale(0.5, v3_add(at_a, at_b));
  top = v3_madd(top, prng_between(&d->rng, 0.4, 1), aside);
  int left = add_body(d, a, (struct joint){.at = at_a, .axis = z});
  int right = add_body(d, b, (struct joint){.at = at_b, .axis = z});
  add_loop(d, left, right, (struct joint){.at = top, .axis = z}, planar_closure(d));
}

/* A ring on the ground; on two of its bodies another; and once more a ring or a second hinge on the same axis. */
static void draw_nested(struct drawing *d) {
  int count = 4 + prng_pick(&d->rng, 2);
  struct joint ring[6] = {0};
  struct frame f = random_frame(d);
  draw_polygon(d, ring, count);
  for (int i = 0; i < count; i++)
    ring[i] = moved(f, ring[i]);
  if (prng_chance(&d->rng, 0.3))
    tilt_some(d, ring, count);
  add_ring(d, 0, ring, count, planar_closure(d));
  orr_vec3 z = m3_col(f.r, 2);
  int links[MOST_JOINTS], which = prng_pick(&d->rng, count - 2);
  memcpy(links, d->links, sizeof links);
  orr_vec3 on_a = v3_scale(0.5, v3_add(ring[which].at, ring[which + 1].at));
  orr_vec3 on_b = v3_scale(0.5, v3_add(ring[which + 1].at, ring[which + 2].at));
  switch (prng_pick(&d->rng, 4)) {
  case 0: /* Watt */
    add_dyad(d, links[which], links[which + 1], on_a, on_b, z);
    break;
  case 1: /* Stephenson */
    add_dyad(d, links[1], 0, v3_scale(0.5, v3_add(ring[1].at, ring[2].at)), moved(f, (struct joint){0}).at, z);
    break;
  case 2:
    draw_bennett(d, links[which]);
    break;
  default: { /* a hinge of two bearings, one of them a cut */
    struct joint bearing = ring[which + 1];
    bearing.at = v3_madd(bearing.at, 0.2, bearing.axis);
    add_loop(d, links[which], links[which + 1], bearing,
             prng_chance(&d->rng, 0.5) ? ORR_LOOP_POINT : ORR_LOOP_REVOLUTE);
    break;
  }
  }
}

/* Legs in a plane or anyhow, one link each and closed by revolutes; or bars that keep their distance. */
static void draw_hung(struct drawing *d) {
  struct frame f = random_frame(d);
  orr_vec3 z = m3_col(f.r, 2);
  int platform = add_body(d, ORR_INERTIAL, (struct joint){.at = v3_zero(), .axis = z});
  d->bodies[platform].floats = true;
  bool planar = prng_chance(&d->rng, 0.6);
  int legs = planar ? 2 + prng_chance(&d->rng, 0.3) : 3 + prng_pick(&d->rng, 3);
  orr_vec3 up = m3_apply(f.r, v3(prng_between(&d->rng, -0.5, 0.5), prng_between(&d->rng, 0.4, 1), 0));
  for (int i = 0; i < legs; i++) {
    orr_vec3 foot = moved(f, (struct joint){.at = v3(0.6 * i - 0.5, 0, 0)}).at, tip = v3_add(foot, up);
    if (!planar) {
      int a = add_node(d, 0, random_vector(d, 1)), b = add_node(d, platform, random_vector(d, 1));
      d->loops[d->loop_count++] =
          (struct orr_loop_desc){.kind = ORR_LOOP_DISTANCE, .body = {0, platform}, .node = {a, b}};
      continue;
    }
    if (legs == 2 && i == 1 && prng_chance(&d->rng, 0.5))
      tip = v3_add(tip, m3_apply(f.r, v3(0.2, 0.1, 0)));
    struct joint at_foot = {.at = foot, .axis = z}, at_tip = {.at = tip, .axis = z};
    if (prng_chance(&d->rng, 0.3))
      at_foot.axis = tilted(d, z, prng_scale(&d->rng, 1e-12, 1e-3));
    int leg = add_body(d, 0, at_foot);
    add_loop(d, platform, leg, at_tip, i == 0 || prng_chance(&d->rng, 0.5) ? ORR_LOOP_REVOLUTE : ORR_LOOP_POINT);
  }
}

/* Slider and crank, a spatial four-bar with a ball and a universal joint, two cranks and a bar, five bars geared. */
static void draw_joints(struct drawing *d) {
  struct frame f = random_frame(d);
  struct joint ring[5] = {0};
  draw_polygon(d, ring, 4);
  for (int i = 0; i < 4; i++)
    ring[i] = moved(f, ring[i]);
  switch (prng_pick(&d->rng, 4)) {
  case 0:
    ring[3].kind = ORR_HINGE_PRISMATIC;
    ring[3].axis = m3_apply(f.r, v3(cos(0.3), sin(0.3), 0));
    add_ring(d, 0, ring, 4, planar_closure(d));
    break;
  case 1:
    for (int i = 0; i < 4; i++)
      ring[i].axis = random_direction(d);
    ring[1].kind = ORR_HINGE_BALL;
    ring[2].kind = ORR_HINGE_UNIVERSAL;
    add_ring(d, 0, ring, 4, ORR_LOOP_REVOLUTE);
    break;
  case 2: {
    int a = add_body(d, 0, ring[0]), b = add_body(d, 0, ring[3]);
    int at_a = add_node(d, a, ring[1].at), at_b = add_node(d, b, ring[2].at);
    d->loops[d->loop_count++] = (struct orr_loop_desc){.kind = ORR_LOOP_DISTANCE, .body = {a, b}, .node = {at_a, at_b}};
    break;
  }
  default: {
    draw_polygon(d, ring, 5);
    for (int i = 0; i < 5; i++)
      ring[i] = moved(f, ring[i]);
    int a = add_body(d, 0, ring[0]), b = add_body(d, 0, ring[4]);
    int c = add_body(d, a, ring[1]), e = add_body(d, b, ring[3]);
    add_loop(d, c, e, ring[2], planar_closure(d));
    d->loops[d->loop_count++] =
        (struct orr_loop_desc){.kind = ORR_LOOP_GEAR,
                               .body = {a, b},
                               .ratio = prng_between(&d->rng, 0.5, 2) * (prng_chance(&d->rng, 0.5) ? 1 : -1)};
    break;
  }
  }
}

/* One floor: two or three cranks on body `base` at `at`, a coupler on them; returns the coupler. */
static int draw_floor(struct drawing *d, struct frame f, int base, orr_vec3 at, double angle, bool three) {
  double width = prng_between(&d->rng, 0.5, 1), crank = prng_between(&d->rng, 0.3, 0.7);
  orr_vec3 up = v3(crank * cos(angle), crank * sin(angle), 0), z = v3(0, 0, 1);
  enum orr_loop_kind kind = prng_chance(&d->rng, 0.5) ? ORR_LOOP_POINT : ORR_LOOP_REVOLUTE;
  int left = add_body(d, base, moved(f, (struct joint){.at = at, .axis = z}));
  int coupler = add_body(d, left, moved(f, (struct joint){.at = v3_add(at, up), .axis = z}));
  for (int i = 1; i <= 1 + three; i++) {
    orr_vec3 foot = v3_add(at, v3(width * i / (1 + three), 0, 0));
    int right = add_body(d, base, moved(f, (struct joint){.at = foot, .axis = z}));
    add_loop(d, coupler, right, moved(f, (struct joint){.at = v3_add(foot, up), .axis = z}), kind);
  }
  return coupler;
}

static void draw_stack(struct drawing *d, int floors) {
  struct frame f = random_frame(d);
  orr_vec3 at = v3(0, 0, 0);
  for (int i = 0, base = 0; i < floors; i++) {
    double angle = prng_between(&d->rng, 0.5, 2.6);
    int coupler = draw_floor(d, f, base, at, angle, prng_chance(&d->rng, 0.3));
    orr_vec3 foot = d->bodies[coupler].nodes[0]; /* back to the plane of the drawing, a little aside */
    at = v3_add(m3_apply_t(f.r, v3_sub(foot, f.p)), v3(prng_between(&d->rng, -0.1, 0.1), 0.1, 0));
    base = coupler;
  }
}

/* Crank a, coupler b, rocker c, base g with a + g = b + c but for a little: at a = b, c = g a parallelogram's cousin.
 */
struct bars {
  double a, b, c, g;
};

static struct bars draw_bars(struct drawing *d) {
  struct bars r;
  r.a = prng_between(&d->rng, 0.3, 0.6);
  r.c = prng_between(&d->rng, 0.7, 1.2);
  r.g = prng_between(&d->rng, 0.7, 1.2);
  r.b = r.a + r.g - r.c + prng_scale(&d->rng, 1e-7, 0.1) * (prng_chance(&d->rng, 0.5) ? 1 : -1);
  if (r.b < 0.1) {
    r.c = r.a;
    r.b = r.g + prng_scale(&d->rng, 1e-7, 0.1);
  }
  return r;
}

static void draw_singular(struct drawing *d) {
  enum { TRIES = 1000 }; /* then bars that close nowhere near the line give way to others */
  struct bars r = draw_bars(d);
  struct frame f = random_frame(d);
  orr_vec3 tip, z = v3(0, 0, 1);
  double x, y, far;
  int tries = 0;
  do {
    if (++tries % TRIES == 0)
      r = draw_bars(d);
    double angle = 3.14159265358979 + prng_between(&d->rng, -0.8, 0.8); /* at π they lie on the line */
    tip = v3(r.a * cos(angle), r.a * sin(angle), 0);
    double dx = r.g - tip.x, dy = -tip.y;
    far = sqrt(dx * dx + dy * dy);
    x = (r.b * r.b - r.c * r.c + far * far) / (2 * far);
    y = r.b * r.b - x * x;
    if (y > 1e-4)
      tip.z = sqrt(y);
  } while (!(y > 1e-4));
  double side = (prng_chance(&d->rng, 0.5) ? 1 : -1) * tip.z;
  tip.z = 0;
  orr_vec3 way = v3_scale(1 / far, v3(r.g - tip.x, -tip.y, 0)), across = v3(-way.y, way.x, 0);
  orr_vec3 joint = v3_madd(v3_madd(tip, x, way), side, across);
  const struct joint ring[4] = {{.at = v3(0, 0, 0), .axis = z},
                                {.at = tip, .axis = z},
                                {.at = joint, .axis = z},
                                {.at = v3(r.g, 0, 0), .axis = z}};
  struct joint in_space[4];
  for (int i = 0; i < 4; i++)
    in_space[i] = moved(f, ring[i]);
  add_ring(d, 0, in_space, 4, planar_closure(d));
}

static void draw(struct drawing *d, enum orr_linkage_kind kind) {
  add_body(d, ORR_INERTIAL, (struct joint){.at = v3_zero(), .axis = v3(0, 0, 1)});
  switch (kind) {
  case ORR_LINKAGE_BENNETT:
    draw_bennett(d, 0);
    break;
  case ORR_LINKAGE_GOLDBERG:
    draw_goldberg(d);
    break;
  case ORR_LINKAGE_BRICARD:
    draw_bricard(d);
    break;
  case ORR_LINKAGE_MIRROR:
    draw_mirror(d);
    break;
  case ORR_LINKAGE_SARRUS:
    draw_sarrus(d);
    break;
  case ORR_LINKAGE_STACK:
    draw_stack(d, 2 + prng_pick(&d->rng, 3));
    break;
  case ORR_LINKAGE_PARALLEL:
    draw_planar(d, 0, prng_scale(&d->rng, 1e-12, 1e-3));
    break;
  case ORR_LINKAGE_SINGULAR:
    draw_singular(d);
    break;
  case ORR_LINKAGE_MANY:
    for (int i = 0, count = 4 + prng_pick(&d->rng, 3); i < count; i++)
      if (prng_chance(&d->rng, 0.5))
        draw_bennett(d, 0);
      else
        draw_planar(d, 0, 0);
    break;
  case ORR_LINKAGE_TILTED:
    draw_tilted(d, 0, 4 + prng_pick(&d->rng, 3));
    break;
  case ORR_LINKAGE_SPHERE:
    draw_sphere(d);
    break;
  case ORR_LINKAGE_NESTED:
    draw_nested(d);
    break;
  case ORR_LINKAGE_HUNG:
    draw_hung(d);
    break;
  case ORR_LINKAGE_LONG:
    draw_tilted(d, 0, 8 + prng_pick(&d->rng, MOST_JOINTS - 7));
    break;
  case ORR_LINKAGE_JOINTS:
    draw_joints(d);
    break;
  case ORR_LINKAGE_FLEXIBLE:
    d->flexible = true;
    if (prng_chance(&d->rng, 0.5))
      draw_bennett(d, 0);
    else
      draw_planar(d, 0, 0);
    break;
  default:
    draw_planar(d, 0, 0);
    break;
  }
}

/* ---- bodies ------------------------------------------------------------------------------------------------- */

/* What the modes of a flexible body are made of. */
struct elastic {
  struct orr_mode_desc modes[MOST_MODES];
  double shapes[MOST_NODES][6 * MOST_MODES];
};

/* Its mass in nodes of its own, and modes of which all nodes have a part: soft and undamped, or stiff. */
static void bend(struct drawing *d, struct elastic *e, bool stiff, struct orr_node_desc *nodes,
                 struct orr_body_desc *out) {
  double from = stiff ? 30 : 1, to = stiff ? 1000 : 4;
  int massive = 4, first = (int)out->node_count;
  assert(first + massive <= MOST_NODES);
  for (int n = first; n < first + massive; n++) {
    nodes[n] = (struct orr_node_desc){.name = "lump", .mass = out->mass / massive};
    v3_to(nodes[n].at, v3_add(v3_from(out->com), random_vector(d, 0.3)));
    for (int k = 0; k < 3; k++)
      nodes[n].inertia[k] = out->inertia[k] / massive;
  }
  out->node_count += (size_t)massive;
  out->flexible = true;
  out->mode_count = (size_t)(1 + prng_pick(&d->rng, MOST_MODES));
  for (size_t r = 0; r < out->mode_count; r++)
    e->modes[r] = (struct orr_mode_desc){.frequency_hz = prng_scale(&d->rng, from, to),
                                         .damping = stiff ? prng_between(&d->rng, 0, 0.02) : 0};
  for (size_t n = 0; n < out->node_count; n++) {
    prng_vector(&d->rng, 0.3, e->shapes[n], (int)(6 * out->mode_count));
    nodes[n].modes = e->shapes[n];
  }
  out->modes = e->modes;
  out->mass = 0;
  memset(out->inertia, 0, sizeof out->inertia);
  memset(out->com, 0, sizeof out->com);
}

static void fill_body(struct drawing *d, int i, struct orr_node_desc *nodes, struct orr_body_desc *out) {
  const struct drawn *b = &d->bodies[i];
  orr_vec3 middle = v3_zero();
  double reach = 0.1;
  for (int n = 0; n < b->node_count; n++) {
    orr_vec3 at = v3_sub(b->nodes[n], b->nodes[0]);
    nodes[n] = (struct orr_node_desc){.name = n ? "end" : "origin"};
    v3_to(nodes[n].at, at);
    middle = v3_madd(middle, 1.0 / b->node_count, at);
    reach = fmax(reach, v3_norm(at));
  }
  *out = (struct orr_body_desc){.name = "link", .node_count = (size_t)b->node_count, .nodes = nodes};
  out->mass = prng_between(&d->rng, 0.5, 2) * (i ? 1 : 5);
  v3_to(out->com, middle);
  for (int k = 0; k < 3; k++)
    out->inertia[k] = out->mass * reach * reach * prng_between(&d->rng, 0.07, 0.12);
  out->hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE, .parent = b->parent, .rotation = {0, 0, 0, 1}};
  if (b->inboard.kind != ORR_HINGE_FIXED)
    out->hinge.kind = b->inboard.kind;
  if (b->floats)
    out->hinge.kind = ORR_HINGE_FREE;
  v3_to(out->hinge.axes[0], b->inboard.axis);
  if (out->hinge.kind == ORR_HINGE_UNIVERSAL)
    v3_to(out->hinge.axes[1], unit(v3_cross(b->inboard.axis, v3(0.3, 0.5, 0.8))));
  if (out->hinge.kind != ORR_HINGE_REVOLUTE)
    return;
  if (prng_chance(&d->rng, 0.1))
    out->hinge.stiffness[0] = prng_between(&d->rng, 1, 20);
}

struct orr_linkage *orr_linkage_make(enum orr_linkage_kind kind, uint64_t seed) {
  struct drawing d = {.rng = {seed * 64 + (uint64_t)kind}};
  struct orr_node_desc nodes[ORR_LINKAGE_MOST_BODIES][MOST_NODES];
  struct orr_body_desc bodies[ORR_LINKAGE_MOST_BODIES];
  struct elastic elastic[ORR_LINKAGE_MOST_BODIES];
  struct orr_linkage *l = calloc(1, sizeof *l);
  assert(l);
  draw(&d, kind);
  for (int i = 1; i < d.body_count; i++) { /* the node of the parent that the hinge is on */
    struct drawn *b = &d.bodies[i];
    if (b->parent >= 0)
      add_node(&d, b->parent, b->inboard.at);
  }
  for (int i = 0; i < d.body_count; i++)
    fill_body(&d, i, nodes[i], &bodies[i]);
  for (int i = 1; i < d.body_count; i++)
    for (int n = 0; d.bodies[i].parent >= 0 && n < d.bodies[d.bodies[i].parent].node_count; n++)
      if (v3_norm(v3_sub(d.bodies[d.bodies[i].parent].nodes[n], d.bodies[i].inboard.at)) < 1e-15)
        bodies[i].hinge.parent_node = n;
  bool floats = prng_chance(&d.rng, 0.3), stiff = prng_chance(&d.rng, 0.6);
  for (int i = 1; i < d.body_count && d.flexible; i++)
    if (prng_chance(&d.rng, 0.7))
      bend(&d, &elastic[i], stiff, nodes[i], &bodies[i]);
  bodies[0].hinge.kind = floats ? ORR_HINGE_FREE : ORR_HINGE_FIXED;
  bodies[0].hinge.stiffness[0] = 0;
  l->sample = orr_sample_of(bodies, (size_t)d.body_count);
  memcpy(l->loops, d.loops, sizeof l->loops);
  l->sample->description.loops = l->loops;
  l->sample->description.loop_count = (size_t)d.loop_count;
  v3_to(l->sample->description.gravity, random_vector(&d, floats ? 0 : 9.81));
  prng_vector(&d.rng, prng_between(&d.rng, 0, 4), l->sample->u, l->sample->u_count);
  if (kind == ORR_LINKAGE_SINGULAR)
    prng_vector(&d.rng, 6, l->sample->u, l->sample->u_count);
  if (kind == ORR_LINKAGE_LONG || d.flexible)
    prng_vector(&d.rng, 1, l->sample->u, l->sample->u_count);
  for (int i = 0; i < d.body_count && d.flexible; i++) /* undeformed, at rest in itself */
    memset(l->sample->u + l->sample->u_at[i], 0, sizeof(double) * bodies[i].mode_count);
  l->rule = d.flexible && stiff ? ORR_IMPLICIT_MODAL : ORR_RK4;
  bool mixed = d.loop_count > 1 && prng_chance(&d.rng, 0.5);
  for (int i = 0; i < d.loop_count && mixed; i++)
    l->loops[i].method = (enum orr_loop_method)prng_pick(&d.rng, 3);
  l->step_s = prng_chance(&d.rng, 0.5) ? 1e-3 : 2e-3;
  l->duration_s = kind == ORR_LINKAGE_MANY || kind == ORR_LINKAGE_LONG ? 0.16 : 0.48;
  if (kind == ORR_LINKAGE_PARALLEL &&
      prng_chance(&d.rng, 0.5)) { /* tilted in another posture: here it misses by that */
    struct orr_mechanism_trial t = orr_mechanism_trial_make(l->sample);
    for (int k = 0; k < t.loops->column_count; k++)
      t.loops->step[k] = prng_between(&d.rng, -0.3, 0.3);
    orr_loops_move(t.loops, t.loops->step, t.q);
    for (int i = 0; i < 20; i++) { /* in the plane */
      double *by = orr_vector_make(t.loops->g.width);
      orr_loops_place(t.loops, t.trial.ws, t.q);
      orr_loops_jacobian(t.loops);
      orr_loops_judge_free(t.loops, t.trial.ws);
      orr_pivot_factor(&t.loops->judge, 3e-3);
      orr_pivot_smallest(&t.loops->judge, t.loops->residual, by);
      for (int k = 0; k < t.loops->column_count; k++)
        by[k] = fmax(-0.2, fmin(0.2, -by[k]));
      orr_loops_move(t.loops, by, t.q);
      free(by);
    }
    memcpy(l->sample->q, t.q, sizeof *t.q * (size_t)l->sample->q_count);
    orr_mechanism_trial_free(&t);
  }
  return l;
}

void orr_linkage_free(struct orr_linkage *l) {
  orr_sample_free(l->sample);
  free(l);
}
