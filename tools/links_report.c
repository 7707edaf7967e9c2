#include "tools/links_report.h"

#include <signal.h>
#include <stdio.h>

bool orr_links_interrupted(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

bool orr_links_batch(const struct orr_run *run, const char *path) {
  for (size_t i = 0; i < run->link_count; i++) {
    if (run->links[i].transport == ORR_TRANSPORT_LINKED || run->links[i].stand_in)
      continue;
    fprintf(stderr,
            "%s: error: link '%s' leads to flight software outside, which a batch run has not: fly it with --mode "
            "lockstep, or give the link a 'stand_in', or 'stiffness' and 'damping' for the plain law\n",
            path, run->links[i].name);
    return false;
  }
  return true;
}

bool orr_links_start(struct orr_session *s, bool lockstep) {
  char message[200];
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  if (!orr_session_open_links(s, lockstep, orr_links_interrupted, message, sizeof message)) {
    fprintf(stderr, "orrery run: %s\n", message);
    return false;
  }
  if (s->relay.note[0])
    fprintf(stderr, "orrery run: warning: links over UDP use %s\n", s->relay.note);
  for (size_t i = 0; i < s->run->link_count; i++) {
    if (!s->links[i].outside)
      continue;
    orr_port_describe(s->links[i].outside, message, sizeof message);
    fprintf(stderr, "link '%s' at %s waits for flight software\n", s->run->links[i].name, message);
  }
  int without = orr_session_wait_for_peers(s);
  if (orr_links_interrupted())
    return false;
  if (without >= 0)
    fprintf(stderr, "link '%s': no flight software came in %.9g s; going on without\n", s->run->links[without].name,
            1e-9 * (double)s->run->links[without].wait_ns);
  return true;
}

static const char *end_text(enum orr_port_end end) {
  switch (end) {
  case ORR_PORT_PEER_ENDED:
    return "the flight software ended the run";
  case ORR_PORT_SILENT:
    return "no command for as long as the run file allows";
  case ORR_PORT_INTERRUPTED:
    return "interrupted";
  case ORR_PORT_BROKEN:
    return "the io thread of the links over UDP failed";
  default:
    return "all frames flown";
  }
}

void orr_links_print(const struct orr_session *s) {
  for (size_t i = 0; i < s->run->link_count; i++) {
    char where[80];
    if (!s->links[i].outside)
      continue;
    const struct orr_port *p = s->links[i].outside;
    const struct orr_link_counts counts = orr_port_counts(p), *c = &counts;
    orr_port_describe(p, where, sizeof where);
    printf("link %-6s %s: %llu frames out, %llu commands applied, %llu of them late, %llu missed; %llu peers\n",
           s->run->links[i].name, where, (unsigned long long)c->published, (unsigned long long)c->applied,
           (unsigned long long)c->late, (unsigned long long)c->missed, (unsigned long long)c->peers);
    for (int k = ORR_REFUSAL_NONE + 1; k < ORR_REFUSALS; k++)
      if (c->refused[k])
        printf("            %llu refused: %s\n", (unsigned long long)c->refused[k],
               orr_refusal_name((enum orr_refusal)k));
    if (c->missed)
      printf("            no command from frame %lld to %lld%s\n", (long long)p->first_silent,
             (long long)p->last_silent, c->timeouts ? ": timed out" : "");
    if (p->desc->transport == ORR_TRANSPORT_UDP && (p->udp.unsent || orr_ring_refused(&p->udp.out)))
      printf("            %llu packets that the kernel did not take, %llu frames that did not reach the relay\n",
             (unsigned long long)p->udp.unsent, (unsigned long long)orr_ring_refused(&p->udp.out));
    if (orr_port_dead(p))
      printf("            the shared memory was shrunk under us: the link is dead\n");
  }
  if (s->end != ORR_PORT_GOES_ON)
    printf("ended       by link '%s': %s\n", s->run->links[s->end_link].name, end_text(s->end));
}

void orr_links_json(const struct orr_session *s, json_t *root) {
  json_t *links = json_object();
  for (size_t i = 0; i < s->run->link_count; i++) {
    if (!s->links[i].outside)
      continue;
    const struct orr_port *p = s->links[i].outside;
    const struct orr_link_counts counts = orr_port_counts(p), *c = &counts;
    json_t *one = json_object(), *refused = json_object();
    json_object_set_new(one, "published", json_integer((json_int_t)c->published));
    json_object_set_new(one, "applied", json_integer((json_int_t)c->applied));
    json_object_set_new(one, "late", json_integer((json_int_t)c->late));
    json_object_set_new(one, "missed", json_integer((json_int_t)c->missed));
    json_object_set_new(one, "timeouts", json_integer((json_int_t)c->timeouts));
    json_object_set_new(one, "peers", json_integer((json_int_t)c->peers));
    json_object_set_new(one, "dead", json_boolean(orr_port_dead(p)));
    for (int k = ORR_REFUSAL_NONE + 1; k < ORR_REFUSALS; k++)
      json_object_set_new(refused, orr_refusal_name((enum orr_refusal)k), json_integer((json_int_t)c->refused[k]));
    json_object_set_new(one, "refused", refused);
    json_object_set_new(links, s->run->links[i].name, one);
  }
  json_object_set_new(root, "links", links);
  json_object_set_new(root, "links_end", json_string(end_text(s->end)));
}

bool orr_links_failed(const struct orr_session *s) {
  return s->end == ORR_PORT_SILENT || s->end == ORR_PORT_INTERRUPTED || s->end == ORR_PORT_BROKEN;
}
