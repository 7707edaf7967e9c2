#include "tools/run/ending_report.h"

#include <stdio.h>

#include "io/session/status_text.h"
#include "tools/common/text.h"
#include "tools/run/diverged.h"
#include "tools/run/expect_report.h"
#include "tools/run/links_report.h"

enum { WHAT_TEXT = 400, DO_TEXT = 240, REFUSED_TEXT = 280 };

/* ---- what is known ----------------------------------------------------------------------------------------------- */

static struct orr_expect_report expect_of(const struct orr_run_report *r) {
  return (struct orr_expect_report){r->session, r->stats, r->live, r->first_frame * r->session->plant->step_ns};
}

static int64_t frames_flown(const struct orr_run_report *r) {
  return orr_plant_frame(r->session->plant) - r->first_frame;
}

/* When the duration in force is over; of a run without one, when it ended. */
static int64_t end_ns(const struct orr_run_report *r) {
  int64_t frames = r->frames_asked > 0 ? r->frames_asked : frames_flown(r);
  return (r->first_frame + frames) * r->session->plant->step_ns;
}

/* Whether a link that should bring commands brought none. One that was refused is none. */
static bool is_uncommanded(const struct orr_session_link *link) {
  const struct orr_port *port = link->outside ? link->outside : link->inside;
  return link->desc->command_count > 0 && orr_port_counts(port).answered == 0;
}

static struct orr_ending ending_of(const struct orr_run_report *r) {
  const struct orr_session *s = r->session;
  const struct orr_expect_report expect = expect_of(r);
  struct orr_ending e = {
      .frames_asked = r->frames_asked,
      .frames_flown = frames_flown(r),
      .told_to_end =
          r->signalled || s->end == ORR_PORT_INTERRUPTED || s->end == ORR_PORT_PEER_ENDED || s->end == ORR_PORT_STOPPED,
      .diverged = s->status != ORR_OK,
      .unwritten = r->unwritten,
  };
  orr_expect_count(&expect, end_ns(r), &e);
  for (size_t i = 0; r->with_links && i < s->run->link_count; i++)
    e.uncommanded += is_uncommanded(&s->links[i]);
  return e;
}

struct orr_judgement orr_ending_report_judge(const struct orr_run_report *r) {
  const struct orr_ending e = ending_of(r);
  return orr_ending_judge(&e);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Where reasons go: to people or into a list. */
struct teller {
  void (*tell)(struct teller *teller, enum orr_reason reason, const char *what, const char *todo);
  json_t *list;
};

static const char *what_to_do_about_end(const struct orr_run_report *r) {
  switch (r->session->end) {
  case ORR_PORT_PEER_ENDED:
  case ORR_PORT_LEFT:
    return "let the flight software stay to the end, or ask for less with --duration";
  case ORR_PORT_SILENT:
    switch (orr_links_peer_of_silence(r->session)) {
    case ORR_PEER_LEFT:
      return "let the flight software stay to the end; or let the run go on without (timeout, lockstep)";
    case ORR_PEER_DEAD:
      return "see in its own output why the flight software died; or let the run go on without (timeout, lockstep)";
    case ORR_PEER_MUTE:
      return "see whether the flight software died or hangs; or let the link wait longer or go on without (timeout, "
             "lockstep)";
    case ORR_PEER_HANGS:
      return "see where the flight software hangs; or let the link wait longer or go on without (timeout, lockstep)";
    default:
      break;
    }
    return "let the flight software answer in time, or let the link wait longer or go on without (timeout, lockstep)";
  case ORR_PORT_BROKEN:
    return "mend what failed, and fly again";
  default:
    break;
  }
  if (r->signalled || r->session->end == ORR_PORT_INTERRUPTED || r->session->end == ORR_PORT_STOPPED)
    return "let it fly to its end, or ask for less with --duration";
  return "see what 'orrery doctor' says of this machine; a longer step, or an overrun policy that goes on";
}

/* Commands came on a link, and none was applied: in words why, or ORR_REFUSAL_NONE. */
static enum orr_refusal refused_all(const struct orr_session_link *link, char what[REFUSED_TEXT]) {
  const struct orr_link_counts counts = orr_port_counts(link->outside ? link->outside : link->inside);
  uint64_t refused;
  enum orr_refusal why = counts.applied ? ORR_REFUSAL_NONE : orr_links_refusal(&counts, &refused);
  if (why != ORR_REFUSAL_NONE)
    snprintf(what, REFUSED_TEXT, "of the commands of link '%.64s' %llu were refused and none was applied: %s (%s)",
             link->desc->name, (unsigned long long)refused, orr_refusal_name(why), orr_refusal_text(why));
  return why;
}

static const char *what_to_do_about_refusals(enum orr_refusal why) {
  return why == ORR_REFUSAL_OUT_OF_RANGE
             ? "let the flight software clip its commands; 'orrery icd' has the range of each channel"
             : "let the flight software answer with commands that fit the link";
}

/* The link that ended the run for want of commands: those that came were refused. */
static enum orr_refusal ended_by_refusals(const struct orr_session *s, char what[REFUSED_TEXT]) {
  bool unheard = s->run->link_count && (s->end == ORR_PORT_LEFT || s->end == ORR_PORT_SILENT);
  return unheard ? refused_all(&s->links[s->end_link], what) : ORR_REFUSAL_NONE;
}

static void tell_early(const struct orr_run_report *r, struct teller *t) {
  char what[WHAT_TEXT], by[ORR_LINKS_END_TEXT], refused[REFUSED_TEXT], of[48] = "";
  double step_s = 1e-9 * (double)r->session->plant->step_ns;
  const char *end = orr_links_end(r->session, by) ? by : r->end ? r->end : "its end is not known";
  enum orr_refusal why = ended_by_refusals(r->session, refused);
  end = why != ORR_REFUSAL_NONE ? refused : end;
  if (r->frames_asked > 0)
    snprintf(of, sizeof of, " of %.9g s", step_s * (double)r->frames_asked);
  if (frames_flown(r) == 0)
    snprintf(what, sizeof what, "the run ended before its first frame was flown: %s", end);
  else
    snprintf(what, sizeof what, "the run ended after %.9g s%s: %s", step_s * (double)frames_flown(r), of, end);
  t->tell(t, ORR_REASON_ENDED_EARLY, what,
          why != ORR_REFUSAL_NONE ? what_to_do_about_refusals(why) : what_to_do_about_end(r));
}

static void tell_out_of_reach(const struct orr_run_report *r, struct teller *t) {
  const struct orr_expect_report expect = expect_of(r);
  char what[WHAT_TEXT], todo[DO_TEXT];
  int64_t over_ns = end_ns(r), first_ns = r->first_frame * r->session->plant->step_ns;
  for (size_t i = 0; i < r->session->run->expect_count; i++) {
    const struct orr_run_expect *e = &r->session->run->expects[i];
    if (!orr_expect_is_out_of_reach(&expect, i, over_ns))
      continue;
    int64_t needs_ns = orr_expect_needs_ns(e);
    if (orr_expect_is_of_step(e)) {
      snprintf(what, sizeof what, "the sequence did not come to its step that judges '%.64s'", e->subject);
      t->tell(t, ORR_REASON_OUT_OF_REACH, what, "fly longer, or see in the steps above what it waits for");
      continue;
    }
    snprintf(what, sizeof what, "%.64s is expected %s %.9g s%s, and the run is over at %.9g s", e->subject,
             needs_ns > e->after_ns ? "by" : "from", 1e-9 * (double)needs_ns, needs_ns > e->after_ns ? "" : " on",
             1e-9 * (double)over_ns);
    snprintf(todo, sizeof todo, "fly longer: --duration %.9gs at least; or expect it earlier",
             1e-9 * (double)(needs_ns - first_ns));
    t->tell(t, ORR_REASON_OUT_OF_REACH, what, todo);
  }
}

static void tell_uncommanded(const struct orr_run_report *r, struct teller *t) {
  char what[WHAT_TEXT], todo[DO_TEXT], where[80];
  for (size_t i = 0; i < r->session->run->link_count; i++) {
    const struct orr_session_link *link = &r->session->links[i];
    if (!is_uncommanded(link))
      continue;
    enum orr_refusal why = refused_all(link, what);
    if (why != ORR_REFUSAL_NONE) {
      bool told = (int)i == r->session->end_link && ended_by_refusals(r->session, what) != ORR_REFUSAL_NONE;
      if (told && !t->list) /* people have read it as the cause of the end */
        continue;
      t->tell(t, ORR_REASON_UNCOMMANDED, what, what_to_do_about_refusals(why));
      continue;
    }
    snprintf(what, sizeof what, "link '%.64s' got no command", link->desc->name);
    snprintf(todo, sizeof todo, "fly for longer than the link's first frame takes");
    if (link->outside) {
      orr_port_describe(link->outside, where, sizeof where);
      snprintf(todo, sizeof todo,
               orr_port_counts(link->outside).peers
                   ? "let the flight software at %s answer with commands that fit the link"
                   : "start flight software at %s while the run waits for it, or let the link wait longer",
               where);
    }
    t->tell(t, ORR_REASON_UNCOMMANDED, what, todo);
  }
}

static void tell_failures(const struct orr_run_report *r, const struct orr_judgement *j, struct teller *t) {
  char what[WHAT_TEXT];
  const struct orr_ending e = ending_of(r);
  if (j->reason[ORR_REASON_DIVERGED]) {
    if (orr_diverged(r->session))
      orr_diverged_words(r->session, what);
    else
      snprintf(what, sizeof what, "the solver failed at frame %lld: %s", (long long)orr_plant_frame(r->session->plant),
               orr_status_text(r->session->status));
    t->tell(t, ORR_REASON_DIVERGED, what, "try a shorter step; look at the state and the commands just before");
  }
  if (j->reason[ORR_REASON_NOT_MET]) {
    snprintf(what, sizeof what, "%zu of %zu expectations are not met", e.not_met, e.met + e.not_met + e.not_judged);
    t->tell(t, ORR_REASON_NOT_MET, what, "see each in 'expect'");
  }
  if (j->reason[ORR_REASON_UNWRITTEN])
    t->tell(t, ORR_REASON_UNWRITTEN, "a file that the run was to leave could not be written",
            "the error on standard error names it");
}

static void tell_all(const struct orr_run_report *r, const struct orr_judgement *j, struct teller *t) {
  tell_failures(r, j, t);
  if (j->reason[ORR_REASON_ENDED_EARLY])
    tell_early(r, t);
  if (j->reason[ORR_REASON_OUT_OF_REACH])
    tell_out_of_reach(r, t);
  if (j->reason[ORR_REASON_UNCOMMANDED])
    tell_uncommanded(r, t);
}

/* What is not met has a line of its own above. */
static void tell_people(struct teller *t, enum orr_reason reason, const char *what, const char *todo) {
  (void)t;
  if (reason != ORR_REASON_NOT_MET)
    printf("            why: %s\n            do:  %s\n", what, todo);
}

static void tell_programs(struct teller *t, enum orr_reason reason, const char *what, const char *todo) {
  json_array_append_new(t->list, json_pack("{s:s, s:o, s:o}", "reason", orr_reason_name(reason), "what",
                                           orr_json_text(what), "do", orr_json_text(todo)));
}

void orr_ending_report_print(const struct orr_run_report *r) {
  struct teller people = {.tell = tell_people};
  const struct orr_ending e = ending_of(r);
  const struct orr_judgement j = orr_ending_judge(&e);
  printf("verdict     %s: ", j.verdict);
  if (r->session->run->expect_count)
    printf("%zu met, %zu not met, %zu not judged%s\n", e.met, e.not_met, e.not_judged,
           e.met + e.not_met ? "" : ": nothing could be judged, so this says only that the run was flown");
  else
    puts("the file expects nothing");
  tell_all(r, &j, &people);
}

void orr_ending_report_json(const struct orr_run_report *r, json_t *root) {
  struct teller programs = {.tell = tell_programs, .list = json_array()};
  const struct orr_judgement j = orr_ending_report_judge(r);
  tell_all(r, &j, &programs);
  json_object_set_new(root, "verdict", json_string(j.verdict));
  json_object_set_new(root, "reasons", programs.list);
}
