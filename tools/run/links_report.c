#include "tools/run/links_report.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/links/packets/sandbox.h"
#include "tools/run/controller_report.h"

/* Those that end a process that knows nothing of them; a run ends with its summary and takes back what it has made. The
 * C library keeps the first two or three of real time to itself, and SIGRTMIN is the first that it leaves. */
static const int endings[] = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,  SIGALRM,
                              SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,  SIGSTKFLT};
enum { NAMED = sizeof endings / sizeof *endings };

static int ending_count(void) { return NAMED + SIGRTMAX - SIGRTMIN + 1; }
static int ending(int i) { return i < NAMED ? endings[i] : SIGRTMIN + i - NAMED; }

/* A batch run asks every 64 frames: a system call, and 44 signals. The C library's sigisemptyset would be shorter and
 * does not see those of real time (glibc 2.36). */
bool orr_links_interrupted(void) {
  sigset_t pending;
  if (sigpending(&pending) != 0)
    return false;
  for (int i = 0; i < ending_count(); i++)
    if (sigismember(&pending, ending(i)) == 1)
      return true;
  return false;
}

/* What the caller has ignored stays so, as `nohup` does with the hang-up; a script's shell has so done with SIGINT of
 * what it runs in the background, of which nothing is meant. */
void orr_links_signals(sigset_t *signals) {
  struct sigaction now;
  sigemptyset(signals);
  sigaddset(signals, SIGINT);
  sigaddset(signals, SIGTERM);
  for (int i = 0; i < ending_count(); i++)
    if (sigaction(ending(i), NULL, &now) != 0 || now.sa_handler != SIG_IGN)
      sigaddset(signals, ending(i));
}

static void block_signals(void) {
  sigset_t ends;
  orr_links_signals(&ends);
  sigprocmask(SIG_BLOCK, &ends, NULL);
}

/* Outside real time there is no moment at which an answer arrives. */
static void say_asap_means_nothing(const struct orr_run *run) {
  for (size_t i = 0; i < run->link_count; i++)
    if (run->links[i].asap)
      fprintf(stderr,
              "orrery run: warning: link '%s': 'latch: asap' is for real time only; answers are applied at the "
              "boundaries of the link\n",
              run->links[i].name);
}

bool orr_links_batch(const struct orr_run *run, const char *path) {
  say_asap_means_nothing(run);
  block_signals();
  return orr_links_inside(run, path,
                          "fly it with --mode lockstep, or give the link a 'stand_in', or 'stiffness' and 'damping' "
                          "for the plain law; or fly without links: --set 'links={}'");
}

bool orr_links_inside(const struct orr_run *run, const char *path, const char *todo) {
  for (size_t i = 0; i < run->link_count; i++) {
    if (!orr_carrier_kind(run->links[i].transport)->outside || run->links[i].stand_in)
      continue;
    fprintf(stderr, "%s: error: link '%s' leads to flight software outside, which a batch run has not: %s\n", path,
            run->links[i].name, todo);
    return false;
  }
  return true;
}

/* So that what starts flight software need not start it towards another run. */
static bool say_ready(const char *path) {
  FILE *f = path ? fopen(path, "we") : NULL;
  bool good = !path || (f && fprintf(f, "%ld\n", (long)getpid()) > 0);
  if (f)
    good = fclose(f) == 0 && good;
  if (!good)
    fprintf(stderr, "orrery run: --ready %s: %s\n", path, strerror(errno));
  return good;
}

bool orr_links_sandbox_prepare(enum orr_links_sandbox *sandbox) {
  int error = *sandbox == ORR_LINKS_NO_SANDBOX ? 0 : orr_sandbox_prepare();
  bool wanted = *sandbox == ORR_LINKS_SANDBOX;
  if (!error)
    return true;
  fprintf(stderr, "orrery run: %s: no sandbox for the threads of the run: %s%s\n", wanted ? "error" : "warning",
          strerror(error),
          wanted ? "; --no-sandbox flies without" : "; they read packets with all that this user may do");
  *sandbox = ORR_LINKS_NO_SANDBOX;
  return !wanted;
}

/* Unasked the io thread goes without where the kernel has none, and says so; asked for, the run does not start. */
static bool judge_sandbox(const struct orr_session *s, bool wanted) {
  const struct orr_relay *r = &s->relay;
  if (r->count == 0 || r->loose || r->sandbox_error == 0)
    return true;
  fprintf(stderr, "orrery run: %s: no sandbox for the io thread of the links: %s%s\n", wanted ? "error" : "warning",
          strerror(r->sandbox_error),
          wanted ? "; --no-sandbox flies without" : "; it reads packets with all that this user may do");
  return !wanted;
}

/* A copy, one that comes too late or too fast, and what is not the link's at all: no command that cannot be taken. */
static bool is_mistaken(enum orr_refusal why) {
  return why != ORR_REFUSAL_STALE && why != ORR_REFUSAL_DUPLICATE && why != ORR_REFUSAL_DROPPED &&
         why != ORR_REFUSAL_OTHER_ID;
}

enum orr_refusal orr_links_refusal(const struct orr_link_counts *counts, uint64_t *refused) {
  enum orr_refusal most = ORR_REFUSAL_NONE;
  *refused = 0;
  for (int k = ORR_REFUSAL_NONE + 1; k < ORR_REFUSALS; k++) {
    if (!is_mistaken((enum orr_refusal)k) || !counts->refused[k])
      continue;
    *refused += counts->refused[k];
    most = most == ORR_REFUSAL_NONE || counts->refused[k] > counts->refused[most] ? (enum orr_refusal)k : most;
  }
  return most;
}

enum { NUMBER_TEXT = 160 };

/* "w1.torque", or of several numbers "jets.force.x" or "jets.force[3]". */
static const char *number_name(const struct orr_layout_number *n, char *text, size_t size) {
  const struct orr_channel *c = n->channel;
  if (c->count == 1)
    snprintf(text, size, "%s", c->name);
  else if (c->elements)
    snprintf(text, size, "%s.%s", c->name, c->elements[n->element]);
  else
    snprintf(text, size, "%s[%d]", c->name, n->element);
  return text;
}

/* "w1.torque = 3 N m, its range is -1 to 1 N m; in the answer to frame 7" */
static void tell_refused(const struct orr_first *refused, FILE *out) {
  const struct orr_channel *c = refused->number.channel;
  const char *gap = *c->unit ? " " : "";
  char name[NUMBER_TEXT];
  fprintf(out, "%s = %.9g%s%s, its range is %.9g to %.9g%s%s; in the answer to frame %lld",
          number_name(&refused->number, name, sizeof name), refused->number.value, gap, c->unit, c->low, c->high, gap,
          c->unit, (long long)refused->frame);
}

bool orr_links_say_refused(const struct orr_port *port, bool missed) {
  const struct orr_link_counts counts = orr_port_counts(port);
  uint64_t refused;
  enum orr_refusal why = orr_links_refusal(&counts, &refused);
  bool mistaken = why == ORR_REFUSAL_OUT_OF_RANGE || why == ORR_REFUSAL_NOT_FINITE || why == ORR_REFUSAL_LAYOUT ||
                  why == ORR_REFUSAL_VERSION;
  if (why == ORR_REFUSAL_NONE || (!missed && !mistaken))
    return false;
  fprintf(stderr, "%slink '%s': commands are refused: %s (%s)", isatty(STDERR_FILENO) ? "\r\033[K" : "",
          port->desc->name, orr_refusal_name(why), orr_refusal_text(why)); /* over a bar of progress */
  if (atomic_load_explicit(&port->rules.refused_is_known, memory_order_acquire)) {
    fputs(": first ", stderr);
    tell_refused(&port->rules.first_refused, stderr);
  }
  fputs("; the summary counts them\n", stderr);
  return true;
}

/* Once for each link. */
static void look_in_lockstep(struct orr_port *port, bool long_waited) {
  if (orr_links_say_refused(port, long_waited))
    port->look = NULL;
}

bool orr_links_open(struct orr_session *s, bool lockstep, enum orr_links_sandbox sandbox) {
  char message[600];
  s->relay.loose = sandbox == ORR_LINKS_NO_SANDBOX;
  block_signals();
  if (lockstep)
    say_asap_means_nothing(s->run);
  orr_session_shut_links(s);
  if (!orr_session_open_links(s, lockstep, orr_links_interrupted, message, sizeof message)) {
    fprintf(stderr, "orrery run: %s\n", message);
    return false;
  }
  for (size_t i = 0; lockstep && i < s->run->link_count; i++)
    if (s->links[i].outside)
      s->links[i].outside->look = look_in_lockstep;
  if (s->relay.note[0])
    fprintf(stderr, "orrery run: warning: links over UDP use %s\n", s->relay.note);
  return judge_sandbox(s, sandbox == ORR_LINKS_SANDBOX);
}

/* What then becomes of the run. */
static void say_alone(const struct orr_port *p) {
  const struct orr_run_link *d = p->desc;
  double answer_s = 1e-9 * (double)d->answer_ns;
  fprintf(stderr, "link '%s': no flight software came in %.9g s; ", d->name, 1e-9 * (double)d->wait_ns);
  if (p->lockstep && d->answer_stop)
    fprintf(stderr, "its first answer is waited for %.9g s more, and without it the run ends\n", answer_s);
  else if (p->lockstep)
    fprintf(stderr, "each answer is waited for %.9g s, and without it the run goes on\n", answer_s);
  else if (p->rules.silence_frames > 0 && p->rules.policy == ORR_SILENCE_STOP)
    fprintf(stderr, "the run ends after %d frames of the link without a command\n", d->silence_frames);
  else
    fputs("going on without\n", stderr);
}

bool orr_links_wait(struct orr_session *s, const char *ready) {
  char message[600];
  orr_session_admit_peers(s);
  for (size_t i = 0; i < s->run->link_count; i++) {
    if (!s->links[i].outside)
      continue;
    orr_port_describe(s->links[i].outside, message, sizeof message);
    if (s->run->links[i].wait_ns > 0)
      fprintf(stderr, "link '%s' at %s waits for flight software, %.9g s at most\n", s->run->links[i].name, message,
              1e-9 * (double)s->run->links[i].wait_ns);
  }
  if (!say_ready(ready))
    return false;
  orr_session_wait_for_peers(s);
  if (orr_links_interrupted()) {
    fputs("orrery run: ended by a signal before the first frame: it still waited for flight software\n", stderr);
    s->end = ORR_PORT_INTERRUPTED;
    return true;
  }
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].alone && (s->run->links[i].wait_ns > 0 || !s->run->links[i].peer.port)) /* a peer may only react */
      say_alone(s->links[i].outside);
  return true;
}

enum orr_port_peer orr_links_peer_of_silence(const struct orr_session *s) {
  const struct orr_port *p = s->run->link_count ? s->links[s->end_link].outside : NULL;
  if (!p)
    return ORR_PEER_LIVES;
  uint64_t last = p->silence_count - 1;
  bool spoke_in_it = p->silence_count && p->beat_frame > p->silences[last % ORR_PORT_KEPT].first;
  return spoke_in_it ? ORR_PEER_LIVES : orr_port_peer(p);
}

/* What came before the silence comes first. */
static void tell_silence(const struct orr_session *s, char text[ORR_LINKS_END_TEXT]) {
  static const char *const befores[] = {[ORR_PEER_NONE] = "",
                                        [ORR_PEER_LIVES] = "",
                                        [ORR_PEER_HANGS] = "",
                                        [ORR_PEER_DEAD] = "the flight software died, then ",
                                        [ORR_PEER_LEFT] = "the flight software closed the link, then ",
                                        [ORR_PEER_MUTE] = ""};
  snprintf(text, ORR_LINKS_END_TEXT, "by link '%.64s': %sno command for as long as the run file allows",
           s->run->links[s->end_link].name, befores[orr_links_peer_of_silence(s)]);
}

const char *orr_links_end(const struct orr_session *s, char text[ORR_LINKS_END_TEXT]) {
  const char *name = s->run->link_count ? s->run->links[s->end_link].name : "";
  switch (s->end) {
  case ORR_PORT_GOES_ON:
    return NULL;
  case ORR_PORT_PEER_ENDED:
    snprintf(text, ORR_LINKS_END_TEXT, "by link '%.64s': the flight software ended the run", name);
    break;
  case ORR_PORT_LEFT:
    snprintf(text, ORR_LINKS_END_TEXT, "by link '%.64s': the flight software closed the link", name);
    break;
  case ORR_PORT_SILENT:
    tell_silence(s, text);
    break;
  case ORR_PORT_INTERRUPTED:
    snprintf(text, ORR_LINKS_END_TEXT, "by a signal");
    break;
  case ORR_PORT_STOPPED:
    snprintf(text, ORR_LINKS_END_TEXT, "by orrery ctl stop");
    break;
  case ORR_PORT_BROKEN:
    snprintf(text, ORR_LINKS_END_TEXT, "by the io thread of the links, which failed: %s",
             strerror(atomic_load(&s->relay.failed)));
    break;
  }
  return text;
}

/* Peers after the first, silences and late answers: the newest of each. */
enum { SHOWN = 3 };

static uint64_t first_shown(uint64_t count, uint64_t most) { return count > most ? count - most : 0; }

/* What happened to a link, told in the order of time. */
enum told { CAME, LATE, LAST_SIGN, SILENCE };
struct happening {
  int64_t frame;
  enum told what;
  uint64_t number;
};
enum { HAPPENINGS = 3 * SHOWN + 1 };

static void add_happening(struct happening *list, int *count, struct happening new) {
  int at = (*count)++;
  for (; at > 0 && list[at - 1].frame > new.frame; at--)
    list[at] = list[at - 1];
  list[at] = new;
}

static int gather_happenings(const struct orr_port *p, struct happening *list) {
  const struct orr_link_counts *c = &p->rules.counts;
  int count = 0;
  for (uint64_t i = first_shown(p->arrival_count, SHOWN); i < p->arrival_count; i++)
    if (i > 0)
      add_happening(list, &count, (struct happening){p->arrivals[i % ORR_PORT_KEPT], CAME, i});
  for (uint64_t i = first_shown(c->late, SHOWN); i < c->late; i++)
    add_happening(list, &count, (struct happening){p->rules.late_ones[i % ORR_LATE_KEPT].applied_at, LATE, i});
  if (p->beat_frame >= 0 && (c->missed || c->timeouts))
    add_happening(list, &count, (struct happening){p->beat_frame, LAST_SIGN, 0});
  for (uint64_t i = first_shown(p->silence_count, SHOWN); i < p->silence_count; i++)
    add_happening(list, &count, (struct happening){p->silences[i % ORR_PORT_KEPT].first, SILENCE, i});
  return count;
}

static void print_history(const struct orr_port *p) {
  struct happening list[HAPPENINGS];
  int count = gather_happenings(p, list);
  for (int i = 0; i < count; i++) {
    const struct orr_silence *silence = &p->silences[list[i].number % ORR_PORT_KEPT];
    const struct orr_late *late = &p->rules.late_ones[list[i].number % ORR_LATE_KEPT];
    switch (list[i].what) {
    case CAME:
      printf("            peer %llu came at frame %lld\n", (unsigned long long)(list[i].number + 1),
             (long long)list[i].frame);
      break;
    case LATE:
      printf("            late: the answer to frame %lld was applied at %lld\n", (long long)late->answers,
             (long long)late->applied_at);
      break;
    case LAST_SIGN:
      printf("            the last sign of life of flight software at frame %lld\n", (long long)list[i].frame);
      break;
    case SILENCE:
      printf("            no command from frame %lld to %lld\n", (long long)silence->first, (long long)silence->last);
      break;
    }
  }
}

static void print_peer(const struct orr_port *p) {
  static const char *const fates[] = {[ORR_PEER_NONE] = "none came",
                                      [ORR_PEER_LIVES] = "lives",
                                      [ORR_PEER_HANGS] = "hangs: its process is there",
                                      [ORR_PEER_DEAD] = "is dead: its process is gone",
                                      [ORR_PEER_LEFT] = "has closed the link",
                                      [ORR_PEER_MUTE] = "hangs or is dead"};
  if (p->rules.counts.missed == 0 && p->rules.counts.timeouts == 0)
    return;
  printf("            flight software at the end: %s\n", fates[orr_port_peer(p)]);
}

static void print_clipped(const struct orr_port *p, const struct orr_form_clipped *c) {
  const struct orr_layout_side *side = &p->layout.telemetry;
  const char *unit = "";
  for (int i = 0; i < side->count; i++)
    if (strcmp(side->entries[i].channel->name, c->channel) == 0)
      unit = side->entries[i].channel->unit;
  printf(
      "            %llu number%s beyond what the packet's bits hold, sent as the nearest: first %s in packet %s, %.6g",
      (unsigned long long)c->count, c->count == 1 ? "" : "s", c->channel, c->packet, c->value);
  printf("%s%s\n", *unit ? " " : "", unit);
}

/* How long before its boundary each answer came that was applied in time, by the stamps of the kernel where it has
 * some: a period less what it took. */
struct before {
  uint64_t count;
  int64_t min_ns, p50_ns, max_ns;
};

static struct before before_boundary(const struct orr_port *p) {
  const struct orr_histogram *h = &p->took;
  int64_t period_ns = p->desc->period_ns;
  return (struct before){h->total, period_ns - h->max_ns, period_ns - orr_histogram_percentile_ns(h, 0.5),
                         period_ns - h->min_ns};
}

static void print_arrivals(const struct orr_port *p) {
  const struct before b = before_boundary(p);
  if (b.count > 0)
    printf("            came %.3f ms before their boundary (p50; min %.3f ms, max %.3f ms), of a period of %.6g ms\n",
           1e-6 * (double)b.p50_ns, 1e-6 * (double)b.min_ns, 1e-6 * (double)b.max_ns,
           1e-6 * (double)p->desc->period_ns);
}

/* null in lockstep, and where nobody stamps what comes. */
static json_t *arrivals_json(const struct orr_port *p) {
  const struct before b = before_boundary(p);
  if (b.count == 0)
    return json_null();
  return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)b.count, "min_ns", (json_int_t)b.min_ns, "p50_ns",
                   (json_int_t)b.p50_ns, "p1_ns",
                   (json_int_t)(p->desc->period_ns - orr_histogram_percentile_ns(&p->took, 0.99)), "max_ns",
                   (json_int_t)b.max_ns);
}

static void print_losses(const struct orr_port *p) {
  const struct orr_link_losses lost = orr_port_losses(p);
  if (lost.clipped.count)
    print_clipped(p, &lost.clipped);
  if (lost.not_received)
    printf("            %llu packets to us dropped by the kernel: the socket's buffer was full\n",
           (unsigned long long)lost.not_received);
  if (lost.full)
    printf("            %llu packets from us not sent: the kernel's buffers were full\n",
           (unsigned long long)lost.full);
  if (lost.unsent)
    printf("            %llu packets from us not sent: %s\n", (unsigned long long)lost.unsent, strerror(lost.error));
  if (lost.reconnected)
    printf("            connected again %llu times\n", (unsigned long long)lost.reconnected);
  if (lost.bad_frames)
    printf("            %llu frames to us damaged on the line (among the malformed)\n",
           (unsigned long long)lost.bad_frames);
  if (lost.not_reached)
    printf("            never connected: %s\n", strerror(lost.not_reached));
  if (lost.error_frames)
    printf("            %llu error frames of the bus; it was off %llu times\n", (unsigned long long)lost.error_frames,
           (unsigned long long)lost.bus_off);
  if (lost.downs)
    printf("            its interface went down %llu times\n", (unsigned long long)lost.downs);
  if (lost.not_relayed)
    printf("            %llu frames not sent: the io thread was behind\n", (unsigned long long)lost.not_relayed);
}

static void print_firsts(const struct orr_rules *r) {
  const struct orr_first *overruled = &r->first_overruled;
  char name[NUMBER_TEXT];
  if (r->first_refused.number.channel) {
    fputs("            the first refused for a number: ", stdout);
    tell_refused(&r->first_refused, stdout);
    putchar('\n');
  }
  if (overruled->number.channel)
    printf("            %llu times a pulse of the link overruled one that was set for the same frame: first %s = %.9g "
           "%s at frame %lld\n",
           (unsigned long long)r->overruled, number_name(&overruled->number, name, sizeof name),
           overruled->number.value, overruled->number.channel->unit, (long long)overruled->frame);
}

/* Whether what came shows that telemetry arrives, or why commands are not applied: 'peer' would mend nothing. */
static bool is_explained(const struct orr_port *p, const struct orr_link_counts *c) {
  static const enum orr_refusal known[] = {ORR_REFUSAL_STALE,  ORR_REFUSAL_DUPLICATE,  ORR_REFUSAL_VERSION,
                                           ORR_REFUSAL_LAYOUT, ORR_REFUSAL_NOT_FINITE, ORR_REFUSAL_OUT_OF_RANGE,
                                           ORR_REFUSAL_DROPPED};
  bool is = c->answered > 0 || orr_port_peer(p) == ORR_PEER_LEFT;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    is |= c->refused[known[i]] > 0;
  return is;
}

/* What to look at where flight software was heard and never answered; NULL: nothing to say. */
static const char *hint_of(const struct orr_port *p, const struct orr_link_counts *c) {
  if (p->desc->transport != ORR_TRANSPORT_UDP || p->desc->peer.port || c->published < 2 || is_explained(p, c))
    return NULL;
  if (c->peers > 0)
    return "flight software speaks and answers no frame: telemetry goes to where it speaks from; set 'peer: "
           "ADDRESS:PORT' where it listens elsewhere";
  return c->refused[ORR_REFUSAL_OTHER_ID]
             ? "packets come, and none has a message id of this link: compare 'message_ids'; flight software that only "
               "reacts gets telemetry where 'peer: ADDRESS:PORT' says where it listens"
             : NULL;
}

static void print_link(const char *name, const struct orr_port *p) {
  static const char *const policies[] = {"commands are held", "levels go to zero", "the run stops"};
  const struct orr_link_counts counts = orr_port_counts(p), *c = &counts;
  char where[80];
  orr_port_describe(p, where, sizeof where);
  printf("link %-6s %s: %llu frames out, %llu commands applied, %llu of them late, %llu missed; %llu peers\n", name,
         where, (unsigned long long)c->published, (unsigned long long)c->applied, (unsigned long long)c->late,
         (unsigned long long)c->missed, (unsigned long long)c->peers);
  const struct orr_answers a = orr_rules_answers(&p->rules);
  printf("            answers to them: %llu on time, %llu late, %llu superseded, %llu waiting; %llu never came\n",
         (unsigned long long)a.on_time, (unsigned long long)a.late, (unsigned long long)a.superseded,
         (unsigned long long)a.waiting, (unsigned long long)a.unanswered);
  print_arrivals(p);
  if (a.lost_by_fault)
    printf("            %llu answers lost by faults of the run file\n", (unsigned long long)a.lost_by_fault);
  if (a.kept_back)
    printf("            %llu frames kept from flight software by faults of the run file\n",
           (unsigned long long)a.kept_back);
  for (int k = ORR_REFUSAL_NONE + 1; k < ORR_REFUSALS; k++)
    if (c->refused[k])
      printf("            %llu refused: %s (%s)\n", (unsigned long long)c->refused[k],
             orr_refusal_name((enum orr_refusal)k), orr_refusal_text((enum orr_refusal)k));
  print_firsts(&p->rules);
  print_history(p);
  if (c->timeouts && p->lockstep && !p->troubled)
    printf("            timed out %llu times: the answer did not come in %.9g s\n", (unsigned long long)c->timeouts,
           1e-9 * (double)p->desc->answer_ns);
  else if (c->timeouts)
    printf("            timed out %llu times: no command for %d frames of the link; then %s\n",
           (unsigned long long)c->timeouts, p->desc->silence_frames, policies[p->desc->silence_policy]);
  print_peer(p);
  const char *hint = hint_of(p, c);
  if (hint)
    printf("            do:  %s\n", hint);
  print_losses(p);
  if (orr_port_dead(p))
    printf("            the shared memory was shrunk under us: the link is dead\n");
}

/* Of a controller inside the program only what nobody expects is told. */
static bool has_firsts(const struct orr_rules *r) {
  return r->first_refused.number.channel || r->first_overruled.number.channel;
}

static void print_inside(const struct orr_run *run, const struct orr_run_link *link, const struct orr_port *p) {
  char *left = orr_controller_left(run, link);
  if (left || has_firsts(&p->rules))
    printf("link %-6s inside the program\n", link->name);
  if (left)
    printf("            the linked-in controller commands wheels and thrusters alone, so it left %s as %s\n", left,
           strchr(left, ',') ? "they were" : "it was");
  print_firsts(&p->rules);
  free(left);
}

enum { TRIED_TEXT = 40 };

/* What a sandboxed thread was made to try, by its last try. */
static const char *tried_name(struct orr_sandbox_tried tried, char text[TRIED_TEXT]) {
  const char *name = orr_sandbox_call_name(tried.last);
  if (name)
    return name;
  snprintf(text, TRIED_TEXT, "number %d", tried.last);
  return text;
}

static void print_sandbox(void) {
  const struct orr_sandbox_tried tried = orr_sandbox_tried();
  char text[TRIED_TEXT];
  if (tried.count == 0)
    return;
  printf("sandbox     refused %llu system calls, the last one %s. No thread in one needs any: packets or commands may "
         "have been made to take it over, so trust neither this run nor its state\n",
         (unsigned long long)tried.count, tried_name(tried, text));
}

void orr_links_print(const struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].outside)
      print_link(s->run->links[i].name, s->links[i].outside);
    else if (s->run->links[i].capture)
      print_link(s->run->links[i].name, s->links[i].inside);
    else
      print_inside(s->run, &s->run->links[i], s->links[i].inside);
  print_sandbox();
}

void orr_links_print_end(const struct orr_session *s) {
  char text[ORR_LINKS_END_TEXT];
  if (orr_links_end(s, text))
    printf("ended       %s\n", text);
}

static void set_count(json_t *to, const char *name, uint64_t count) {
  json_object_set_new(to, name, json_integer((json_int_t)count));
}

static void history_json(const struct orr_port *p, json_t *to) {
  const struct orr_rules *r = &p->rules;
  json_t *arrivals = json_array(), *silences = json_array(), *late = json_array();
  for (uint64_t i = first_shown(p->arrival_count, ORR_PORT_KEPT); i < p->arrival_count; i++)
    json_array_append_new(arrivals, json_integer(p->arrivals[i % ORR_PORT_KEPT]));
  for (uint64_t i = first_shown(p->silence_count, ORR_PORT_KEPT); i < p->silence_count; i++)
    json_array_append_new(silences, json_pack("{s:I, s:I}", "first", (json_int_t)p->silences[i % ORR_PORT_KEPT].first,
                                              "last", (json_int_t)p->silences[i % ORR_PORT_KEPT].last));
  for (uint64_t i = first_shown(r->counts.late, ORR_LATE_KEPT); i < r->counts.late; i++)
    json_array_append_new(late, json_pack("{s:I, s:I}", "answers", (json_int_t)r->late_ones[i % ORR_LATE_KEPT].answers,
                                          "applied_at", (json_int_t)r->late_ones[i % ORR_LATE_KEPT].applied_at));
  json_object_set_new(to, "last_peers_came_at", arrivals);
  json_object_set_new(to, "last_silences", silences);
  json_object_set_new(to, "last_late", late);
}

static json_t *losses_json(const struct orr_port *p) {
  const struct orr_link_losses lost = orr_port_losses(p);
  json_t *to = json_object();
  set_count(to, "not_received_kernel_buffer_full", lost.not_received);
  set_count(to, "not_sent_kernel_buffer_full", lost.full);
  set_count(to, "not_sent_error", lost.unsent);
  set_count(to, "frames_not_sent_io_thread_behind", lost.not_relayed);
  set_count(to, "numbers_beyond_their_bits", lost.clipped.count);
  set_count(to, "connected_again", lost.reconnected);
  set_count(to, "frames_damaged_on_the_line", lost.bad_frames);
  set_count(to, "error_frames", lost.error_frames);
  set_count(to, "bus_off", lost.bus_off);
  set_count(to, "interface_down", lost.downs);
  set_count(to, "longest_in_the_socket_ns", (uint64_t)lost.lay_ns);
  return to;
}

static json_t *answers_json(const struct orr_rules *rules) {
  const struct orr_answers a = orr_rules_answers(rules);
  json_t *to = json_object();
  set_count(to, "on_time", a.on_time);
  set_count(to, "late", a.late);
  set_count(to, "superseded", a.superseded);
  set_count(to, "waiting", a.waiting);
  set_count(to, "lost_by_fault", a.lost_by_fault);
  set_count(to, "kept_back", a.kept_back);
  set_count(to, "unanswered", a.unanswered);
  return to;
}

/* null where there was none; a value that JSON has no number for is text. */
static json_t *first_json(const struct orr_first *first) {
  const struct orr_layout_number *n = &first->number;
  char name[NUMBER_TEXT], value[40];
  if (!n->channel)
    return json_null();
  snprintf(value, sizeof value, "%g", n->value);
  json_t *one = json_pack("{s:s, s:o, s:s, s:I}", "number", number_name(n, name, sizeof name), "value",
                          isfinite(n->value) ? json_real(n->value) : json_string(value), "unit", n->channel->unit,
                          "frame", (json_int_t)first->frame);
  if (isfinite(n->channel->low) && isfinite(n->channel->high))
    json_object_set_new(one, "range", json_pack("[f, f]", n->channel->low, n->channel->high));
  return one;
}

static void firsts_json(const struct orr_rules *r, json_t *to) {
  json_object_set_new(to, "first_refused", first_json(&r->first_refused));
  set_count(to, "overruled", r->overruled);
  json_object_set_new(to, "first_overruled", first_json(&r->first_overruled));
}

static json_t *link_json(const struct orr_port *p) {
  const struct orr_link_counts counts = orr_port_counts(p), *c = &counts;
  static const char *const peers[] = {[ORR_PEER_NONE] = "none", [ORR_PEER_LIVES] = "lives", [ORR_PEER_HANGS] = "hangs",
                                      [ORR_PEER_DEAD] = "dead", [ORR_PEER_LEFT] = "left",   [ORR_PEER_MUTE] = "mute"};
  json_t *one = json_object(), *refused = json_object();
  set_count(one, "published", c->published);
  set_count(one, "applied", c->applied);
  set_count(one, "late", c->late);
  set_count(one, "missed", c->missed);
  set_count(one, "timeouts", c->timeouts);
  set_count(one, "silences", p->silence_count);
  set_count(one, "peers", c->peers);
  json_object_set_new(one, "dead", json_boolean(orr_port_dead(p)));
  json_object_set_new(one, "peer", json_string(peers[orr_port_peer(p)]));
  json_object_set_new(one, "last_sign_of_life", json_integer(p->beat_frame));
  for (int k = ORR_REFUSAL_NONE + 1; k < ORR_REFUSALS; k++)
    set_count(refused, orr_refusal_name((enum orr_refusal)k), c->refused[k]);
  json_object_set_new(one, "refused", refused);
  const char *hint = hint_of(p, c);
  json_object_set_new(one, "hint", hint ? json_string(hint) : json_null());
  firsts_json(&p->rules, one);
  json_object_set_new(one, "lost", losses_json(p));
  json_object_set_new(one, "answers", answers_json(&p->rules));
  json_object_set_new(one, "came_before_boundary", arrivals_json(p));
  history_json(p, one);
  return one;
}

static json_t *io_thread_json(const struct orr_relay *r) {
  const struct orr_sandbox_tried tried = orr_sandbox_tried();
  char text[TRIED_TEXT];
  json_t *to = json_object();
  json_object_set_new(to, "sandbox", json_boolean(!r->loose && r->sandbox_error == 0));
  set_count(to, "refused_calls", tried.count);
  if (tried.count > 0)
    json_object_set_new(to, "last_refused_call", json_string(tried_name(tried, text)));
  return to;
}

static void inside_json(const struct orr_session *s, size_t i, json_t *to) {
  const struct orr_run_link *link = &s->run->links[i];
  json_t *one = json_object();
  if (has_firsts(&s->links[i].inside->rules))
    firsts_json(&s->links[i].inside->rules, one);
  if (link->flown && link->flown_count < link->command_count) {
    json_t *controller = orr_controller_json(s->run, link);
    json_object_set(one, "left", json_object_get(controller, "left"));
    json_decref(controller);
  }
  if (json_object_size(one))
    json_object_set(to, link->name, one);
  json_decref(one);
}

void orr_links_json(const struct orr_session *s, const char *otherwise, json_t *root) {
  char text[ORR_LINKS_END_TEXT];
  json_t *links = json_object(), *inside = json_object();
  for (size_t i = 0; i < s->run->link_count; i++) {
    const char *name = s->run->links[i].name;
    if (s->links[i].outside) {
      json_object_set_new(links, name, link_json(s->links[i].outside));
    } else if (s->run->links[i].capture) {
      json_object_set_new(links, name, link_json(s->links[i].inside));
    } else {
      inside_json(s, i, inside);
    }
  }
  json_object_set_new(root, "links", links);
  if (json_object_size(inside))
    json_object_set(root, "links_inside", inside);
  json_decref(inside);
  if (s->relay.count > 0)
    json_object_set_new(root, "io_thread", io_thread_json(&s->relay));
  const struct orr_sandbox_tried tried = orr_sandbox_tried();
  char call[TRIED_TEXT];
  if (tried.count > 0)
    json_object_set_new(root, "sandbox_refused",
                        json_pack("{s:I, s:s}", "calls", (json_int_t)tried.count, "last", tried_name(tried, call)));
  json_object_set_new(root, "links_end", json_string(orr_links_end(s, text) ? text : otherwise));
}
