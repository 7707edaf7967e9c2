/* The summary of a spacecraft as text: the tree with its hinges, then what the whole weighs, then the modes. */
#include <string.h>

#include "core/model/hinge_kinds.h"
#include "core/plant/channel.h"
#include "tools/check/summary.h"

enum { DEEPEST_DRAWN = 24 }; /* deeper bodies are not indented further; their depth is printed */

struct drawing {
  const struct orr_summary *s;
  FILE *out;
  const char *bold, *dim, *plain;
  bool last[DEEPEST_DRAWN + 1]; /* whether the ancestor at a depth is the last child of its parent */
};

/* A number in brackets for each of n, "[0 0 1]". */
static void print_list(FILE *out, size_t n, const double *values) {
  for (size_t i = 0; i < n; i++)
    fprintf(out, "%s%.6g", i ? " " : "[", values[i]);
  fputc(']', out);
}

static void print_branch(const struct drawing *d, size_t depth, bool last) {
  size_t drawn = depth < DEEPEST_DRAWN ? depth : DEEPEST_DRAWN;
  for (size_t i = 1; i < drawn; i++)
    fputs(d->last[i] ? "   " : "\u2502  ", d->out);
  fputs(last ? "\u2514\u2500 " : "\u251c\u2500 ", d->out);
  if (depth > DEEPEST_DRAWN)
    fprintf(d->out, "%s(%zu deep)%s ", d->dim, depth, d->plain);
}

static void print_body(const struct drawing *d, int index) {
  const struct orr_body_desc *b = &d->s->description->bodies[index];
  double mass = orr_body_inertia_at_rest(b).c.xx;
  fprintf(d->out, "%s%s%s  %s", d->bold, b->name, d->plain, b->flexible ? "flexible" : "rigid");
  fprintf(d->out, ", %.6g kg", mass);
  if (b->mode_count)
    fprintf(d->out, ", %zu mode%s", b->mode_count, b->mode_count == 1 ? "" : "s");
  if (b->flexible && b->deformation == ORR_DEFORMATION_LINEARIZED)
    fputs(", linearized", d->out);
  if (b->stiffening)
    fputs(", stiffening", d->out);
}

static void print_springs(const struct drawing *d, const struct orr_hinge_desc *h) {
  const struct orr_hinge_kind_info *kind = orr_hinge_kind_info(h->kind);
  static const struct {
    const char *name, *angular, *linear;
  } parts[] = {{"spring", "N m/rad", "N/m"}, {"damper", "N m s/rad", "N s/m"}};
  for (size_t p = 0; p < 2; p++) {
    const double *values = p ? h->damping : h->stiffness;
    for (size_t i = 0; i < kind->speed_count; i++)
      if (values[i] != 0)
        fprintf(d->out, ", %s %.6g %s", parts[p].name, values[i],
                kind->angles >> i & 1 ? parts[p].angular : parts[p].linear);
  }
}

static const char *direction_word(enum orr_hinge_kind kind) {
  switch (kind) {
  case ORR_HINGE_PLANAR:
    return " normal to ";
  case ORR_HINGE_PRISMATIC:
    return " along ";
  case ORR_HINGE_CYLINDRICAL:
    return " about and along ";
  default:
    return " about ";
  }
}

static void print_hinge(const struct drawing *d, int index) {
  const struct orr_description *description = d->s->description;
  const struct orr_hinge_desc *h = &description->bodies[index].hinge;
  const struct orr_hinge_kind_info *kind = orr_hinge_kind_info(h->kind);
  fprintf(d->out, "  %s%s", d->dim, kind->name);
  for (size_t i = 0; i < kind->axis_count; i++) {
    fputs(i ? " " : direction_word(h->kind), d->out);
    print_list(d->out, 3, h->axes[i]);
  }
  if (h->parent != ORR_INERTIAL)
    fprintf(d->out, " on %s.%s", description->bodies[h->parent].name,
            description->bodies[h->parent].nodes[h->parent_node].name);
  fprintf(d->out, ", %zu dof", kind->speed_count);
  if (h->prescribed)
    fputs(", prescribed", d->out);
  print_springs(d, h);
  fprintf(d->out, "%s\n", d->plain);
}

/* Depth first, without recursion: chains may be thousands deep. */
static void print_tree(struct drawing *d) {
  const struct orr_topology *t = &d->s->topology;
  fputs("inertial\n", d->out);
  size_t depth = 1;
  for (int i = t->first_child[0]; i >= 0;) {
    bool last = t->next_sibling[i] < 0;
    d->last[depth < DEEPEST_DRAWN ? depth : DEEPEST_DRAWN] = last;
    print_branch(d, depth, last);
    print_body(d, i);
    print_hinge(d, i);
    if (t->first_child[i + 1] >= 0) {
      i = t->first_child[i + 1];
      depth++;
      continue;
    }
    while (i >= 0 && t->next_sibling[i] < 0) {
      i = d->s->description->bodies[i].hinge.parent;
      depth--;
    }
    i = i >= 0 ? t->next_sibling[i] : -1;
  }
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static void print_head(const struct drawing *d, const char *path) {
  const struct orr_summary *s = d->s;
  size_t bodies = s->description->body_count, loops = s->description->loop_count;
  fprintf(d->out, "%s%s%s: %zu bod%s", d->bold, path, d->plain, bodies, bodies == 1 ? "y" : "ies");
  if (s->trees > 1)
    fprintf(d->out, " in %zu trees", s->trees);
  fprintf(d->out, ", %zu degree%s of freedom in the hinges", s->freedoms, plural(s->freedoms));
  if (s->prescribed)
    fprintf(d->out, " (%zu prescribed)", s->prescribed);
  fprintf(d->out, ", %zu mode%s, %zu loop%s\n", s->modes, plural(s->modes), loops, plural(loops));
}

/* "moment x, y": the numbers of a loop's channel that nothing determines. */
static void print_open_numbers(const struct drawing *d, const char *channel, const bool *open, int count, bool *any) {
  bool here = false;
  for (int k = 0; k < count; k++) {
    if (!open[k])
      continue;
    if (!here)
      fprintf(d->out, "%s%s", *any ? "; " : "  undetermined: ", channel);
    if (count > 1)
      fprintf(d->out, "%s %s", here ? "," : "", count == 2 ? k ? "across" : "along" : orr_channel_xyz[k]);
    *any = here = true;
  }
}

static void print_undetermined(const struct drawing *d, size_t loop) {
  const struct orr_loop_summary *l = &d->s->loops;
  struct orr_loop_numbers n = l->numbers[loop];
  bool any = false;
  print_open_numbers(d, "moment", l->undetermined[loop], n.moments, &any);
  print_open_numbers(d, "force", l->undetermined[loop] + n.moments, n.forces, &any);
  if (any)
    fprintf(d->out, " of loops.%s, which read 0\n", d->s->description->loops[loop].name);
}

static void print_loops(const struct drawing *d) {
  static const char *const kinds[] = {"point", "weld", "revolute", "distance", "gear", "rolling"};
  static const char *const methods[] = {"", ", embed", ", augment"};
  static const char *const reasons[] = {"", " (chosen: a small aggregate)", " (chosen: its aggregate would be large)",
                                        " (chosen: near to losing an equation where it closes)"};
  const struct orr_description *description = d->s->description;
  const struct orr_body_desc *bodies = description->bodies;
  for (size_t i = 0; i < description->loop_count; i++) {
    const struct orr_loop_desc *l = &description->loops[i];
    fprintf(d->out, "loop %zu (%s): %s", i + 1, l->name, kinds[l->kind]);
    if (l->kind == ORR_LOOP_GEAR)
      fprintf(d->out, ", q of %s = %.6g q of %s %+.6g", bodies[l->body[1]].name, l->ratio, bodies[l->body[0]].name,
              l->offset);
    else
      fprintf(d->out, ", %s.%s to %s.%s", bodies[l->body[0]].name, bodies[l->body[0]].nodes[l->node[0]].name,
              bodies[l->body[1]].name, bodies[l->body[1]].nodes[l->node[1]].name);
    fprintf(d->out, "%s%s\n", methods[d->s->loops.method[i]], reasons[d->s->loops.reason[i]]);
    print_undetermined(d, i);
  }
}

/* How the loops hold together at rest, and what it took. */
static void print_assembly(const struct drawing *d) {
  const struct orr_summary *s = d->s;
  const struct orr_assembly *a = &s->loops.assembly;
  const struct orr_body_desc *bodies = s->description->bodies;
  bool turned = a->radians > 1e-9, slid = a->metres > 1e-9;
  if (s->description->loop_count == 0)
    return;
  fprintf(d->out, "loops: %d equation%s of rank %d\n", s->loops.equations, plural((size_t)s->loops.equations), a->rank);
  if (!turned && !slid && !a->modes)
    return;
  fputs("  closing them at rest moves", d->out);
  if (turned)
    fprintf(d->out, " hinges by up to %.6g rad (%s)", a->radians, bodies[a->turned].name);
  if (slid)
    fprintf(d->out, "%s hinges by up to %.6g m (%s)", turned ? " and" : "", a->metres, bodies[a->slid].name);
  if (a->modes)
    fprintf(d->out, "%s modes", turned || slid ? " and" : "");
  fprintf(d->out, "%s\n", a->prescribed ? ", prescribed hinges included" : "");
}

static void print_modes(const struct drawing *d) {
  const struct orr_description *description = d->s->description;
  for (size_t i = 0; i < description->body_count; i++) {
    const struct orr_body_modes *m = &d->s->bodies[i];
    if (m->count == 0)
      continue;
    const double *shown = m->given_hz ? m->given_hz : m->coupled_hz;
    fprintf(d->out, "modes of %s: ", description->bodies[i].name);
    if (shown)
      print_list(d->out, m->count, shown);
    fputs(shown ? " Hz\n" : "too many to compute from the matrices\n", d->out);
    if (!m->differ)
      continue;
    fputs("  coupled by its masses: ", d->out);
    print_list(d->out, m->count, m->coupled_hz);
    fputs(" Hz\n", d->out);
  }
}

void orr_summary_print(const struct orr_summary *s, const char *path, bool colour, FILE *out) {
  struct drawing d = {.s = s, .out = out};
  d.bold = colour ? "\033[1m" : "";
  d.dim = colour ? "\033[2m" : "";
  d.plain = colour ? "\033[0m" : "";
  print_head(&d, path);
  print_tree(&d);
  print_loops(&d);
  print_assembly(&d);
  fprintf(out, "total mass %.9g kg\ncentre of mass ", s->rest.mass);
  print_list(out, 3, s->rest.com);
  fputs(" m (at rest, inertial axes)\ninertia about it ", out);
  print_list(out, 6, s->rest.inertia);
  fputs(" kg m^2 (xx yy zz xy xz yz)\n", out);
  print_modes(&d);
  fprintf(out, "memory: model %zu bytes, workspace %zu bytes", s->model_bytes, s->workspace_bytes);
  if (s->loops.bytes)
    fprintf(out, ", loops %zu bytes", s->loops.bytes);
  fputc('\n', out);
}
