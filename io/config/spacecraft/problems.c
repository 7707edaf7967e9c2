/* Turns what core/model/validate finds into messages: the place of the field, what is wrong, what to do. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/hinge_kinds.h"
#include "core/model/validate.h"
#include "io/config/spacecraft/draft.h"

struct telling {
  struct orr_draft *draft;
  const struct orr_description *d;
  const struct orr_problem *p;
  orr_source at;    /* of the field */
  char what[160];   /* "node 'tip' of 'wing'" */
  const char *unit; /* of the field */
};

static const char *unit_of(const struct telling *t) {
  const char *field = t->p->field ? t->p->field : "";
  static const struct {
    const char *field, *unit;
  } units[] = {{"mass", " kg"},        {"com", " m"},         {"at", " m"},
               {"inertia", " kg m^2"}, {"gravity", " m/s^2"}, {"frequency", " Hz"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(units[i].field, field) == 0)
      return units[i].unit;
  return "";
}

static void name_entity(struct telling *t) {
  const struct orr_problem *p = t->p;
  const struct orr_body_desc *b =
      p->entity == ORR_ENTITY_SPACECRAFT || p->entity == ORR_ENTITY_LOOP ? NULL : &t->d->bodies[p->body];
  switch (p->entity) {
  case ORR_ENTITY_BODY:
    snprintf(t->what, sizeof t->what, "'%.60s'", b->name);
    break;
  case ORR_ENTITY_HINGE:
    snprintf(t->what, sizeof t->what, "the hinge of '%.60s'", b->name);
    break;
  case ORR_ENTITY_NODE:
    snprintf(t->what, sizeof t->what, "node '%.60s' of '%.60s'", b->nodes[p->index].name, b->name);
    break;
  case ORR_ENTITY_MODE:
    snprintf(t->what, sizeof t->what, "mode %zu of '%.60s'", p->index + 1, b->name);
    break;
  case ORR_ENTITY_LOOP:
    snprintf(t->what, sizeof t->what, "loop %zu", p->index + 1);
    break;
  default:
    snprintf(t->what, sizeof t->what, "the spacecraft");
    break;
  }
}

static void tell(const struct telling *t, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void tell(const struct telling *t, const char *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  enum orr_severity severity = t->p->severity == ORR_PROBLEM_ERROR ? ORR_ERROR : ORR_WARNING;
  orr_report_list(t->draft->reader->diagnostics, severity, t->at, code, format, arguments);
  va_end(arguments);
}

/* "a on b on c on a", the first ones of a long one. */
static void tell_cycle(const struct telling *t) {
  char path[400];
  size_t used = 0, shown = 0, length = (size_t)t->p->value[0];
  int at = (int)t->p->body;
  for (; shown < length && shown < 4; shown++, at = t->d->bodies[at].hinge.parent)
    used += (size_t)snprintf(path + used, sizeof path - used, "'%.60s' on ", t->d->bodies[at].name);
  snprintf(path + used, sizeof path - used, "%s'%.60s'", shown < length ? "... on " : "",
           t->d->bodies[t->p->body].name);
  tell(t, "parent-cycle", "these bodies hang on each other and not on inertial: %s", path);
}

/* How the speed of a hinge moves. */
static const char *motion(const struct telling *t, char *text, size_t size) {
  static const char axis[] = "xyz";
  const struct orr_hinge_desc *h = &t->d->bodies[t->p->body].hinge;
  const struct orr_hinge_kind_info *kind = orr_hinge_kind_info(h->kind);
  size_t i = t->p->index;
  bool angular = kind->angles >> i & 1;
  const char *verb = angular ? "turns about" : "slides along";
  if (kind->axis_count == 0)
    snprintf(text, size, "%s %c", verb, axis[i % 3]);
  else if (kind->axis_count > 1)
    snprintf(text, size, "%s axis %zu", verb, i + 1);
  else
    snprintf(text, size, "%s its %s", verb, h->kind != ORR_HINGE_PLANAR ? "axis" : i == 0 ? "normal" : "plane");
  return text;
}

static void tell_tree(const struct telling *t) {
  char text[60];
  switch (t->p->code) {
  case ORR_PROBLEM_NO_BODIES:
    tell(t, "no-bodies", "the spacecraft has no bodies; give it at least one under 'bodies'");
    break;
  case ORR_PROBLEM_NO_ROOT:
    tell(t, "no-root",
         "no body hangs on inertial: one hinge needs 'to: inertial', with kind 'free' for a flying spacecraft");
    break;
  case ORR_PROBLEM_CYCLE:
    tell_cycle(t);
    break;
  case ORR_PROBLEM_NO_INERTIA:
    tell(t, "no-inertia",
         "%s %s, and nothing beyond it has inertia against that: give it mass, or make the hinge fixed", t->what,
         motion(t, text, sizeof text));
    break;
  case ORR_PROBLEM_HINGE_REPEATS:
    tell(t, "hinge-repeats", "%s %s, and hinges or modes beyond it can move that way alone: one of the two is too many",
         t->what, motion(t, text, sizeof text));
    break;
  case ORR_PROBLEM_DIGITS:
    tell(
        t, "digits",
        "what hangs on '%.60s', most of it '%.60s', has %.1e times the inertia that its hinge turns or slides against: "
        "accelerations lose up to %.0f of 16 digits; give the lighter one more mass, or join the two",
        t->d->bodies[t->p->body].name, t->d->bodies[(size_t)t->p->value[1]].name, t->p->value[0],
        log10(t->p->value[0]));
    break;
  default: /* ORR_PROBLEM_INDEX: what was read here leads somewhere */
    assert(false && "a description with loose ends");
    break;
  }
}

static void tell_modes(const struct telling *t) {
  double mode = t->p->value[0]; /* its index, or an eigenvalue */
  switch (t->p->code) {
  case ORR_PROBLEM_MODE_MASSLESS:
    tell(t, "massless-mode", "mode %.0f of '%.60s' moves no mass: every node it moves is massless", mode,
         t->d->bodies[t->p->body].name);
    break;
  case ORR_PROBLEM_MODES_DEPEND:
    tell(t, "dependent-modes",
         "mode %.0f of '%.60s' moves the masses as the modes before it do together: the modal mass matrix is singular",
         mode, t->d->bodies[t->p->body].name);
    break;
  case ORR_PROBLEM_MODES_REPEAT:
    tell(t, "modes-repeat",
         "mode %.0f of '%.60s' moves nothing while its hinge is held, or only what hinges can move: one of the two is "
         "too many",
         mode, t->d->bodies[t->p->body].name);
    break;
  default:
    tell(t, "unstable-modes", "'%s' of %s has the negative eigenvalue %.6g: its motion grows by itself", t->p->field,
         t->what, t->p->value[0]);
    break;
  }
}

/* Of a body with second-order shapes. */
static void tell_curves(const struct telling *t) {
  const char *body = t->d->bodies[t->p->body].name;
  static const char *const way =
      "give the second-order shapes of every node by 'second_order', or leave 'stiffening' off";
  switch (t->p->code) {
  case ORR_PROBLEM_CURVED_LINEARIZED:
    tell(t, "stiffening-linearized",
         "'stiffening: on' needs 'deformation: full', and '%.60s' is linearized: its inertia does not follow the modes",
         body);
    break;
  case ORR_PROBLEM_CURVED_RIGID:
    tell(t, "stiffening-rigid", "'%.60s' has no modes that 'stiffening: on' could stiffen", body);
    break;
  case ORR_PROBLEM_CURVED_LARGE:
    tell(t, "stiffening-large",
         "'stiffening: on' makes %.3g numbers of pairs of modes over the nodes of '%.60s', and at most %.0e are taken: "
         "take fewer modes or nodes",
         t->p->value[0], body, t->p->value[1]);
    break;
  case ORR_PROBLEM_CURVE_MISSING:
    tell(t, "second-order-missing",
         "%s is moved by the modes and has no 'second_order', as other nodes of '%.60s' have; [] says that it has none",
         t->what, body);
    break;
  case ORR_PROBLEM_LINE_POINT:
    tell(t, "not-a-line",
         "all nodes of '%.60s' stand at one place, so there is no line that could be foreshortened: %s", body, way);
    break;
  case ORR_PROBLEM_LINE_OFF:
    tell(t, "not-a-line",
         "'stiffening: on' takes a body whose nodes stand on a line, and %s is %.3g m off the line from the first node "
         "to the last, %.6g m long: %s",
         t->what, t->p->value[0], t->p->value[1], way);
    break;
  case ORR_PROBLEM_LINE_ORDER:
    tell(t, "line-order",
         "'stiffening: on' takes nodes in the order in which they stand on their line, and %s stands before the one "
         "above it: write it where it stands",
         t->what);
    break;
  default:
    tell(t, "line-twice",
         "%s stands where the one above it does, and the modes move them across their line by different amounts",
         t->what);
    break;
  }
}

static void tell_number(const struct telling *t) {
  const double *v = t->p->value;
  const char *field = t->p->field;
  switch (t->p->code) {
  case ORR_PROBLEM_ABSURD:
    tell(t, "absurd", "'%s' of %s is %.6g%s, beyond anything sensible (%.0e at most)", field, t->what, v[0], t->unit,
         v[1]);
    break;
  case ORR_PROBLEM_TINY:
    tell(t, "tiny", "'%s' of %s is %.6g%s, too small to compute with (%.0e at least, or 0 where that is allowed)",
         field, t->what, v[0], t->unit, v[1]);
    break;
  case ORR_PROBLEM_TOO_MANY:
    tell(t, "too-many", "%s has %.0f %s, and at most %.0f are taken", t->what, v[0],
         strcmp(field, "bodies") == 0 ? "bodies" : "modes", v[1]);
    break;
  case ORR_PROBLEM_NOT_POSITIVE:
    tell(t, "not-positive", "'%s' of %s must be greater than zero, not %.6g%s", field, t->what, v[0], t->unit);
    break;
  case ORR_PROBLEM_NEGATIVE:
    tell(t, "negative", "'%s' of %s must not be negative, as %.6g%s is", field, t->what, v[0], t->unit);
    break;
  case ORR_PROBLEM_INERTIA:
    tell(t, "inertia", "the inertia of %s is not positive definite: its principal moments go from %.6g to %.6g kg m^2",
         t->what, v[0], v[1]);
    break;
  case ORR_PROBLEM_TRIANGLE:
    tell(t, "triangle",
         "the principal moments of %s are %.6g, %.6g and %.6g kg m^2; no mass has one greater than the sum of the "
         "others",
         t->what, v[0], v[1], v[2]);
    break;
  default: /* the reader takes no NaN, and normalises axes and rotations */
    assert(false && "a number that the reader refuses");
    break;
  }
}

static void tell_problem(struct orr_draft *draft, const struct orr_description *d, const struct orr_problem *p) {
  struct telling t = {.draft = draft, .d = d, .p = p};
  t.at = orr_place_member(draft->reader->diagnostics, p->source, p->field);
  t.unit = unit_of(&t);
  name_entity(&t);
  switch (p->code) {
  case ORR_PROBLEM_MODE_MASSLESS:
  case ORR_PROBLEM_MODES_DEPEND:
  case ORR_PROBLEM_MODES_REPEAT:
  case ORR_PROBLEM_UNSTABLE_MODES:
    tell_modes(&t);
    break;
  case ORR_PROBLEM_CURVED_LINEARIZED:
  case ORR_PROBLEM_CURVED_RIGID:
  case ORR_PROBLEM_CURVED_LARGE:
  case ORR_PROBLEM_CURVE_MISSING:
  case ORR_PROBLEM_LINE_POINT:
  case ORR_PROBLEM_LINE_OFF:
  case ORR_PROBLEM_LINE_ORDER:
  case ORR_PROBLEM_LINE_TWICE:
    tell_curves(&t);
    break;
  case ORR_PROBLEM_NO_BODIES:
  case ORR_PROBLEM_NO_ROOT:
  case ORR_PROBLEM_CYCLE:
  case ORR_PROBLEM_INDEX:
  case ORR_PROBLEM_NO_INERTIA:
  case ORR_PROBLEM_HINGE_REPEATS:
  case ORR_PROBLEM_DIGITS:
    tell_tree(&t);
    break;
  case ORR_PROBLEM_NORMAL:
    tell(&t, "normal",
         "the normal of a planar hinge must be x, y or z of the body: [1, 0, 0], [0, 1, 0] or [0, 0, 1]; turn the "
         "hinge by 'rotation'");
    break;
  default:
    tell_number(&t);
    break;
  }
}

void orr_draft_judge(struct orr_draft *draft, const struct orr_description *d) {
  struct orr_reader *r = draft->reader;
  /* With nothing readable under `bodies` there is no saying that there are none. */
  if (d->body_count == 0 && orr_diagnostics_errors(r->diagnostics) > draft->errors_before)
    return;
  struct orr_problem *problems = orr_arena_alloc(r->arena, ORR_MESSAGES_KEPT, sizeof *problems);
  void *scratch = orr_arena_alloc(r->arena, orr_validate_scratch_size(d), 1);
  size_t count = orr_validate(d, draft->broken, scratch, problems, ORR_MESSAGES_KEPT);
  for (size_t i = 0; i < count && i < ORR_MESSAGES_KEPT; i++)
    tell_problem(draft, d, &problems[i]);
}
