#include "tools/run/run_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plant/world.h"
#include "io/session/status_text.h"
#include "tools/common/fingerprint.h"
#include "tools/common/out_file.h"
#include "tools/common/text.h"
#include "tools/run/diverged.h"
#include "tools/run/ending_report.h"
#include "tools/run/expect_report.h"
#include "tools/run/faults_report.h"
#include "tools/run/links_report.h"

static json_t *channels_json(const struct orr_plant *p) {
  json_t *channels = json_object();
  for (int i = 0; i < p->table.count; i++) {
    const struct orr_channel *c = &p->table.channels[i];
    bool truth = p->truth_count && i >= p->truths[0].channel && i < p->truths[0].channel + p->truth_count;
    if (truth && !c->asked)
      continue;
    json_t *list = json_array();
    for (int k = 0; k < c->count; k++)
      json_array_append_new(list,
                            isfinite(p->values[c->offset + k]) ? json_real(p->values[c->offset + k]) : json_null());
    json_object_set_new(channels, c->name, list);
  }
  return channels;
}

static double event_s(const struct orr_session *s, const struct orr_event *e) {
  return 1e-9 * (double)(e->frame * s->plant->step_ns);
}

static void event_json(const struct orr_session *s, const struct orr_event *e, json_t *list) {
  json_t *one = json_object();
  json_object_set_new(one, "frame", json_integer(e->frame));
  json_object_set_new(one, "t_s", json_real(event_s(s, e)));
  json_object_set_new(one, "kind", json_string(e->kind));
  json_object_set_new(one, "name", orr_json_text(e->name));
  json_object_set_new(one, "text", orr_json_text(e->text));
  json_array_append_new(list, one);
}

static void print_event(const struct orr_session *s, const struct orr_event *e, json_t *list) {
  (void)list;
  printf("%-11s %s%s%s at %.9g s\n", e->kind, e->name, e->text[0] ? " " : "", e->text, event_s(s, e));
}

typedef void event_fn(const struct orr_session *session, const struct orr_event *event, json_t *list);

static struct orr_event commanded(const struct orr_control *c, uint64_t i) {
  const struct orr_control_event *e = &c->events[i];
  return (struct orr_event){e->frame, "ctl", orr_control_verbs[e->sort], e->text};
}

/* What a procedure did and what was commanded from outside, the first of both, by their frames. Returns how many of all
 * were told. */
static uint64_t each_event(const struct orr_session *s, event_fn *tell, json_t *list) {
  const struct orr_procedure *p = s->procedure;
  uint64_t steps = p ? p->event_count : 0, commands = s->control ? s->control->event_count : 0, i = 0, k = 0;
  steps = steps < ORR_EVENTS_KEPT ? steps : ORR_EVENTS_KEPT;
  commands = commands < ORR_CONTROL_KEPT ? commands : ORR_CONTROL_KEPT;
  while (i < steps || k < commands) {
    bool command = k < commands && (i == steps || s->control->events[k].frame <= p->events[i].frame);
    const struct orr_event event = command ? commanded(s->control, k++) : p->events[i++];
    tell(s, &event, list);
  }
  return steps + commands;
}

static void print_events(const struct orr_session *s) {
  uint64_t all = (s->procedure ? s->procedure->event_count : 0) + (s->control ? s->control->event_count : 0);
  uint64_t told = each_event(s, print_event, NULL);
  if (told < all)
    printf("            and %llu more; a log has them all\n", (unsigned long long)(all - told));
}

static json_t *events_json(const struct orr_session *s) {
  json_t *list = json_array();
  each_event(s, event_json, list);
  return list;
}

/* Bodies that turned too fast for their mode shapes, or were bent too far: a line each, or an object each. */
static void tell_shapes(const struct orr_run_report *r, json_t *list) {
  const struct orr_bounds *bounds = &r->session->plant->bounds;
  for (int i = 0; i < bounds->count; i++) {
    const struct orr_bound *b = &bounds->items[i];
    const char *name = r->session->run->spacecraft.bodies[b->body].name;
    if (b->fast && !list)
      printf(
          "shapes      '%s' turned faster than %g of its first mode in %lld frames, up to %.3g: linear shapes do not "
          "stiffen\n",
          name, ORR_BOUND_SPIN, (long long)b->fast, b->fastest);
    if (b->bent && !list)
      printf("shapes      '%s' was turned by more than %g rad at a node in %lld frames, up to %.3g rad\n", name,
             b->limit, (long long)b->bent, b->steepest);
    if ((b->fast || b->bent) && list)
      json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:I, s:f}", "body", name, "fast_frames",
                                            (json_int_t)b->fast, "fastest", b->fastest, "steep_frames",
                                            (json_int_t)b->bent, "steepest_rad", b->steepest));
  }
}

/* The parameter of a device that sets a limit; NaN where none does. */
static double limit_value(const struct orr_device *d, const struct orr_limit *limit, const char **unit) {
  for (size_t i = 0; i < d->kind->param_count; i++) {
    const struct orr_param *p = &d->kind->params[i];
    double value;
    if (p->type != ORR_PARAM_NUMBER || strcmp(p->name, limit->name) != 0)
      continue;
    memcpy(&value, (const char *)d->params + p->offset, sizeof value);
    *unit = p->unit;
    return value;
  }
  return (double)NAN;
}

/* The first of units that are told apart by the hinge ("N m|N"): an angle's, which most hinges have. */
static int unit_length(const struct orr_run_report *r, const struct orr_device *d, const char **unit) {
  const char *second = strchr(*unit, '|');
  const struct orr_model *m = r->session->plant->model;
  const struct orr_limb *limb = &m->limbs[m->limb_of_body[d->body]];
  const struct orr_hinge_kind_info *hinge = orr_hinge_kind_info(r->session->run->spacecraft.bodies[d->body].hinge.kind);
  if (second && d->kind->host == ORR_ON_COORDINATE && !(hinge->angles >> (d->u - limb->hinge_u) & 1))
    *unit = second + 1;
  return (int)strcspn(*unit, "|");
}

static void limit_json(const struct orr_run_report *r, const struct orr_device *d, int k, json_t *list) {
  const struct orr_limit *limit = &d->kind->limits[k];
  int64_t frames = d->limited->met[k].frames, step_ns = r->session->plant->step_ns;
  const char *unit = "";
  double value = limit_value(d, limit, &unit);
  json_t *one = json_pack("{s:s, s:s, s:s, s:I, s:f, s:I}", "device", d->name, "limit", limit->name, "what",
                          limit->words, limit->pulses ? "pulses" : "frames", (json_int_t)frames, "first_s",
                          1e-9 * (double)(d->limited->met[k].first * step_ns), "first_frame",
                          (json_int_t)d->limited->met[k].first);
  if (!limit->pulses)
    json_object_set_new(one, "time_s", json_real(1e-9 * (double)(frames * step_ns)));
  if (isfinite(value)) {
    int length = unit_length(r, d, &unit);
    json_object_set_new(one, "value", json_real(value));
    json_object_set_new(one, "unit", json_stringn(unit, (size_t)length));
  }
  json_array_append_new(list, one);
}

static void print_limit(const struct orr_run_report *r, const struct orr_device *d, int k) {
  const struct orr_limit *limit = &d->kind->limits[k];
  int64_t frames = d->limited->met[k].frames, step_ns = r->session->plant->step_ns;
  const char *unit = "";
  double value = limit_value(d, limit, &unit);
  printf("saturated   %s ", d->name);
  if (limit->pulses)
    printf("%lld pulse%s ", (long long)frames, frames == 1 ? "" : "s");
  fputs(limit->words, stdout);
  if (isfinite(value)) {
    int length = unit_length(r, d, &unit);
    printf(" (%.6g%s%.*s)", value, length ? " " : "", length, unit);
  }
  if (!limit->pulses)
    printf(" in %lld frame%s, %.6g s", (long long)frames, frames == 1 ? "" : "s", 1e-9 * (double)(frames * step_ns));
  printf("; first at %.6g s\n", 1e-9 * (double)(d->limited->met[k].first * step_ns));
}

/* Commands that actuators could not follow: a line each, or an object each. */
static void tell_limits(const struct orr_run_report *r, json_t *list) {
  const struct orr_plant *p = r->session->plant;
  for (int i = 0; i < p->device_count; i++)
    for (int k = 0; k < p->devices[i].kind->limit_count; k++) {
      if (p->devices[i].limited->met[k].frames == 0)
        continue;
      if (list)
        limit_json(r, &p->devices[i], k, list);
      else
        print_limit(r, &p->devices[i], k);
    }
}

/* Contacts with stops that were found within steps, and those that had to wait for the end of one. */
static void tell_stops(const struct orr_run_report *r, json_t *root) {
  const struct orr_events *e = &r->session->plant->events;
  if (!e->located && !e->late)
    return;
  if (root) {
    json_object_set_new(root, "stops",
                        json_pack("{s:I, s:I}", "located", (json_int_t)e->located, "late", (json_int_t)e->late));
    return;
  }
  printf("stops       %lld times touched or left, located in the step", (long long)e->located);
  if (e->late)
    printf("; %lld more at the end of one: a frame is divided %d times at most", (long long)e->late, ORR_EVENT_SPLITS);
  putchar('\n');
}

json_t *orr_run_report_json(const struct orr_run_report *r) {
  const struct orr_plant *p = r->session->plant;
  json_t *root = json_object();
  char hash[20], print[ORR_FINGERPRINT_TEXT];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)orr_session_hash(r->session));
  json_object_set_new(root, "run", orr_json_text(r->path));
  json_object_set_new(root, "mode", json_string(r->mode));
  if (r->origin && r->origin[0])
    json_object_set_new(root, "restored_from", orr_json_text(r->origin));
  json_object_set_new(root, "frames", json_integer(orr_plant_frame(p) - r->first_frame));
  json_object_set_new(root, "step_ns", json_integer(p->step_ns));
  json_object_set_new(root, "time_s", json_real(1e-9 * (double)orr_plant_time_ns(p)));
  json_object_set_new(root, "wall_s", json_real(r->took_s));
  json_object_set_new(root, "state_hash", json_string(hash));
  json_object_set_new(root, "fingerprint", json_string(orr_fingerprint(print)));
  json_object_set_new(root, "channels", channels_json(p));
  json_t *shapes = json_array();
  tell_shapes(r, shapes);
  if (json_array_size(shapes))
    json_object_set(root, "shapes", shapes);
  json_decref(shapes);
  tell_stops(r, root);
  json_t *limits = json_array();
  tell_limits(r, limits);
  json_object_set_new(root, "saturated", limits);
  orr_links_json(r->session, r->end ? r->end : "all frames flown", root);
  if (r->session->procedure || (r->session->control && r->session->control->event_count))
    json_object_set_new(root, "events", events_json(r->session));
  if (r->session->procedure && r->session->run->fault_count)
    json_object_set_new(root, "faults_never_begun", orr_faults_json(r->session));
  const struct orr_expect_report expect = {r->session, r->stats, r->live, r->first_frame * r->session->plant->step_ns};
  if (r->session->run->expect_count)
    json_object_set_new(root, "expect", orr_expect_json(&expect));
  orr_ending_report_json(r, root);
  if (r->log)
    orr_run_log_json(r->log, root);
  return root;
}

/* A start whose loops were open was moved; the report says so. */
static void tell_assembly(const struct orr_session *session) {
  const struct orr_assembly *a = &session->build.assembly;
  const struct orr_body_desc *bodies = session->run->spacecraft.bodies;
  if (!session->build.closed || (a->radians < 1e-6 && a->metres < 1e-6))
    return;
  fputs("loops       closed at the start by moving hinges", stdout);
  if (a->radians >= 1e-6)
    printf(" by up to %.3g rad (%s)", a->radians, bodies[a->turned].name);
  if (a->metres >= 1e-6)
    printf(" by up to %.3g m (%s)", a->metres, bodies[a->slid].name);
  putchar('\n');
}

void orr_run_report_heading(const struct orr_run_report *r) {
  const struct orr_plant *p = r->session->plant;
  int64_t frames = orr_plant_frame(p) - r->first_frame;
  double flown = 1e-9 * (double)(frames * p->step_ns);
  printf("run         %s, %s\n", r->path, r->mode);
  if (r->origin && r->origin[0])
    printf("restored    from %s\n", r->origin);
  printf("flown       %lld frames of %.6g ms, %.6g s to t = %.6g s\n", (long long)frames, 1e-6 * (double)p->step_ns,
         flown, 1e-9 * (double)orr_plant_time_ns(p));
  printf("took        %.3g s, %.4g times real time\n", r->took_s, r->took_s > 0 ? flown / r->took_s : 0);
  tell_assembly(r->session);
  const struct orr_world *world = r->session->ws->world;
  if (world && world->desc->sky.central == ORR_EARTH && !world->desc->sky.eop_count)
    puts("sky         UT1 is taken as UTC and the pole as in its place: no 'eop' file");
}

static void print_off_target(const char *body, double error) {
  printf("%-11s %.4g deg off its target at the end\n", body, error * 57.295779513082320876798);
}

void orr_run_report_end(const struct orr_run_report *r) {
  char print[ORR_FINGERPRINT_TEXT];
  const struct orr_plant *p = r->session->plant;
  for (int i = 0; i < p->pointing_count; i++) {
    const struct orr_channel *c = &p->table.channels[p->pointing_channel[i] + 1];
    print_off_target(r->session->run->spacecraft.bodies[p->pointings[i].body].name, p->values[c->offset]);
  }
  for (int i = 0; i < p->device_count; i++) /* targets that move: the error stands behind the target */
    if (p->devices[i].kind == &orr_world_pointing_kind)
      print_off_target(p->devices[i].name, p->values[p->devices[i].output + 4]);
  tell_shapes(r, NULL);
  tell_stops(r, NULL);
  tell_limits(r, NULL);
  orr_links_print(r->session);
  print_events(r->session);
  orr_links_print_end(r->session);
  orr_faults_print(r->session);
  printf("state_hash  %016llx\n", (unsigned long long)orr_session_hash(r->session));
  printf("fingerprint %s\n", orr_fingerprint(print));
  const struct orr_expect_report expect = {r->session, r->stats, r->live, r->first_frame * r->session->plant->step_ns};
  orr_expect_print(&expect);
  orr_ending_report_print(r);
  if (r->log)
    orr_run_log_print(r->log);
}

void orr_run_report_tell(const struct orr_run_report *r, bool json) {
  if (!json) {
    orr_run_report_heading(r);
    orr_run_report_end(r);
    return;
  }
  json_t *root = orr_run_report_json(r);
  json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(root);
}

bool orr_run_report_save(const char *path, const json_t *root) {
  struct orr_out_file file;
  bool good = orr_out_file_open(&file, path);
  if (good) {
    bool dumped = json_dumpf(root, file.out, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
    good = orr_out_file_close(&file, dumped) && dumped;
  }
  if (!good)
    fprintf(stderr, "orrery run: cannot write '%s': %s\n", path, strerror(errno));
  return good;
}

json_t *orr_run_report_nothing(const char *path, const char *mode, const char *what, bool usage) {
  json_t *root = json_object(), *reasons = json_array();
  json_object_set_new(root, "run", path ? orr_json_text(path) : json_null());
  json_object_set_new(root, "mode", mode ? orr_json_text(mode) : json_null());
  json_object_set_new(root, "frames", json_integer(0));
  json_object_set_new(root, "verdict", usage ? json_null() : json_string("failed"));
  json_array_append_new(reasons, json_pack("{s:s, s:o, s:s}", "reason", usage ? "usage" : "not_flown", "what",
                                           orr_json_text(what && what[0] ? what : "nothing was flown"), "do",
                                           "mend what standard error names"));
  json_object_set_new(root, "reasons", reasons);
  return root;
}

static void report_loop_failure(const char *path, const struct orr_session *session, enum orr_status status) {
  const struct orr_build *b = &session->build;
  bool fits = b->assembly.closed && !b->assembly.prescribed;
  if (b->start != ORR_OK && fits && !b->opens) {
    fprintf(stderr, "%s: error: initial state: loop %d of the model: %s\n", path, b->closed->failed_loop + 1,
            orr_status_text(status));
  } else if (b->start == ORR_OK) {
    fprintf(stderr, "%s: error: the run stopped at frame %lld (t = %.9g s): loop %d of the model: %s\n", path,
            (long long)orr_plant_frame(session->plant), 1e-9 * (double)orr_plant_time_ns(session->plant),
            b->closed->failed_loop + 1, orr_status_text(status));
  } else if (!fits) {
    fprintf(stderr, "%s: error: the loops of the initial state do not close %s\n", path,
            b->assembly.closed ? "while the driven hinges stay where it puts them" : "from there");
  } else {
    fprintf(stderr,
            "%s: error: with the speeds of the initial state a loop opens at %.3g m/s or rad/s; give speeds that fit\n",
            path, b->open_rate);
  }
}

void orr_run_report_failure(const char *path, const struct orr_session *session, enum orr_status status) {
  const struct orr_plant *p = session->plant;
  int body = p->failed_body;
  if (orr_status_is_of_loop(status)) {
    report_loop_failure(path, session, status);
    return;
  }
  if (orr_diverged(session)) {
    char words[ORR_DIVERGED_TEXT], reason[ORR_DIVERGED_TEXT];
    orr_diverged_words(session, words);
    orr_diverged_reason(session, reason);
    fprintf(stderr, "%s: error: %s\n  %s\n", path, words, reason);
    return;
  }
  fprintf(stderr, "%s: error: the run stopped at frame %lld (t = %.9g s): body '%s': %s\n", path,
          (long long)orr_plant_frame(p), 1e-9 * (double)orr_plant_time_ns(p),
          body >= 0 ? session->run->spacecraft.bodies[body].name : "?", orr_status_text(status));
}
