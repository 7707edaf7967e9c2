#include "io/links/port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/links/owner.h"
#include "rt/tick/clock.h"

/* How long a wait lasts before it is asked whether it shall end; the first over shared memory, where a peer may not be
 * able to wake us: those that follow grow, so that looking again costs little, and an answer waits for us a part of the
 * time that it took. */
enum { SLICE_NS = 20000000, FIRST_SLICE_NS = 50000, SETTLE_NS = 100000000 };

void orr_port_init(struct orr_port *link, const struct orr_run_link *desc, const struct orr_channel_table *table,
                   struct orr_block *block) {
  void *entries = orr_block_take(block, orr_layout_size(desc->telemetry_count, desc->command_count));
  int telemetry = 0, commands = 0;
  for (int i = 0; i < desc->telemetry_count; i++)
    telemetry += table->channels[desc->telemetry[i]].count;
  for (int i = 0; i < desc->command_count; i++)
    commands += table->channels[desc->commands[i]].count;
  double *numbers = ORR_TAKE(block, double, 3 * commands);
  uint64_t *payload = ORR_TAKE(block, uint64_t, telemetry + 1), *taken = ORR_TAKE(block, uint64_t, commands + 1);
  if (!block->base)
    return;
  *link = (struct orr_port){.desc = desc, .payload = payload, .taken = taken, .beat_frame = -1};
  orr_layout_init(&link->layout, entries, table, desc->telemetry, desc->telemetry_count, desc->commands,
                  desc->command_count);
  orr_rules_init(&link->rules, &link->layout, desc->divisor, numbers);
}

static bool over_udp(const struct orr_port *link) { return link->desc->transport == ORR_TRANSPORT_UDP; }

static void listen_to(struct orr_port *link) {
  uint64_t beats =
      over_udp(link) ? atomic_load_explicit(&link->udp.heard, memory_order_relaxed) : orr_shm_beats(&link->shm);
  if (beats == link->beats)
    return;
  link->beats = beats;
  link->beat_frame = link->rules.published;
  link->mute = false;
}

static bool take(struct orr_port *link) {
  listen_to(link);
  bool end = over_udp(link) ? orr_udp_take(&link->udp, &link->rules) : orr_shm_take(&link->shm, &link->rules);
  for (int i = 0; i < ORR_PORT_KEPT && link->arrival_count < link->rules.counts.peers; i++)
    link->arrivals[link->arrival_count++ % ORR_PORT_KEPT] = link->rules.published;
  link->arrival_count = link->rules.counts.peers;
  return end;
}

/* Boundaries that follow one another without a command are one silence. */
static void note_silence(struct orr_port *link, int64_t frame) {
  struct orr_silence *last = &link->silences[(link->silence_count - 1) % ORR_PORT_KEPT];
  if (link->silence_count && last->last == frame - link->desc->divisor)
    last->last = frame;
  else
    link->silences[link->silence_count++ % ORR_PORT_KEPT] = (struct orr_silence){frame, frame};
}

static bool peer_lives(struct orr_port *link) {
  return over_udp(link) ? atomic_load(&link->udp.peers) > 0 : orr_shm_peer_lives(&link->shm);
}

/* Whose it is, and what to do. */
static void say_taken(const struct orr_port *link, const char *where, char *message, size_t size) {
  const struct orr_run_link *desc = link->desc;
  bool udp = over_udp(link);
  char owner[160];
  orr_owner_describe(udp ? orr_owner_of_port(desc->listen.ip, desc->listen.port) : orr_owner_of_segment(desc->name_shm),
                     owner, sizeof owner);
  snprintf(message, size,
           "link '%s': %s: %s has it open: %s. Let that end, or meet elsewhere: --set links.%s.%s (with make: %s), and "
           "the flight software at the same place",
           desc->name, where, udp ? "another run or program" : "another run", owner, desc->name,
           udp ? "listen=ADDRESS:PORT" : "name=/NAME", udp ? "PORT=N" : "SEGMENT=/NAME");
}

bool orr_port_open(struct orr_port *link, int64_t step_ns, bool lockstep, char *message, size_t size) {
  link->lockstep = lockstep;
  if (!lockstep) { /* there the answer is waited for, and what then is said apart */
    link->rules.silence_frames = link->desc->silence_frames;
    link->rules.policy = (enum orr_silence_policy)link->desc->silence_policy;
    link->rules.asap = link->desc->asap;
  }
  char where[80];
  orr_port_describe(link, where, sizeof where);
  int error = over_udp(link) ? orr_udp_open(&link->udp, link->desc, &link->layout, step_ns)
                             : orr_shm_open(&link->shm, link->desc->name_shm, &link->layout, step_ns,
                                            link->desc->divisor, link->taken);
  link->open = error == 0;
  if (error == EEXIST || error == EADDRINUSE)
    say_taken(link, where, message, size);
  else if (error == EPERM && !over_udp(link))
    snprintf(
        message, size,
        "link '%s': %s: another user has shared memory of that name; give the link another: --set links.%s.name=/NAME",
        link->desc->name, where, link->desc->name);
  else if (error)
    snprintf(message, size, "link '%s': %s: %s", link->desc->name, where,
             error == ENOENT ? "there is no shared memory here: mount a tmpfs on /dev/shm" : strerror(error));
  return link->open;
}

void orr_port_close(struct orr_port *link) {
  if (link->open && over_udp(link))
    orr_udp_close(&link->udp);
  else if (link->open)
    orr_shm_close(&link->shm);
  link->open = false;
}

bool orr_port_wait_for_peer(struct orr_port *link, int64_t begin_ns) {
  int64_t until_ns = begin_ns + link->desc->wait_ns;
  while (!peer_lives(link)) {
    int64_t left_ns = until_ns - orr_clock_now_ns();
    if (left_ns <= 0 || (link->interrupted && link->interrupted()))
      return false;
    orr_clock_sleep_until(orr_clock_now_ns() + (left_ns < SLICE_NS / 20 ? left_ns : SLICE_NS / 20));
  }
  return true;
}

void orr_port_publish(struct orr_port *link, int64_t frame, int64_t time_ns, const double *values) {
  const struct orr_rules *r = &link->rules;
  bool silent = r->silence_frames > 0 && r->silent == r->silence_frames;
  uint64_t flags = (silent ? ORR_WIRE_OUT_TIMED_OUT : 0) | (r->late ? ORR_WIRE_OUT_LATE : 0);
  const uint64_t head[ORR_WIRE_OUT_WORDS] = {(uint64_t)frame, (uint64_t)time_ns, (uint64_t)r->applied, flags};
  /* what came before this frame may not pass for an answer to it */
  orr_rules_publish(&link->rules, frame);
  orr_layout_pack(&link->layout.telemetry, values, link->payload);
  if (over_udp(link))
    orr_udp_publish(&link->udp, head, link->payload);
  else
    orr_shm_publish(&link->shm, head, link->payload);
}

/* Over UDP a frame or its answer may be lost: what is not answered in a slice is said again. */
static void wait_a_slice(struct orr_port *link, int64_t most_ns) {
  if (!over_udp(link)) {
    orr_shm_wait(&link->shm, most_ns);
    return;
  }
  int64_t begin_ns = orr_clock_now_ns();
  orr_udp_wait(&link->udp, most_ns);
  if (orr_clock_now_ns() - begin_ns >= most_ns)
    orr_udp_repeat(&link->udp);
}

/* Until the answer to the frame before is there, or the peer says that it is over, or it has lasted too long. */
static enum orr_port_end wait_for_answer(struct orr_port *link) {
  int64_t until_ns = orr_clock_now_ns() + link->desc->answer_ns;
  int64_t slice_ns = over_udp(link) ? SLICE_NS : FIRST_SLICE_NS;
  uint64_t beats = link->beats;
  if (!orr_rules_ready(&link->rules) && !over_udp(link))
    orr_shm_await(&link->shm, 1);
  while (!orr_rules_ready(&link->rules)) {
    int64_t left_ns = until_ns - orr_clock_now_ns();
    if (left_ns <= 0) {
      link->rules.counts.timeouts++;
      link->mute = link->beats == beats;
      return link->desc->answer_stop ? ORR_PORT_SILENT : ORR_PORT_GOES_ON;
    }
    if (link->interrupted && link->interrupted())
      return ORR_PORT_INTERRUPTED;
    wait_a_slice(link, left_ns < slice_ns ? left_ns : slice_ns);
    slice_ns = slice_ns < SLICE_NS * 4 / 5 ? slice_ns / 4 * 5 : SLICE_NS;
    if (take(link))
      return ORR_PORT_PEER_ENDED;
  }
  return ORR_PORT_GOES_ON;
}

enum orr_port_end orr_port_latch(struct orr_port *link, int64_t frame, double *values) {
  bool boundary = frame >= link->desc->phase && (frame - link->desc->phase) % link->desc->divisor == 0;
  if (!boundary && !link->rules.asap)
    return ORR_PORT_GOES_ON;
  if (take(link))
    return ORR_PORT_PEER_ENDED;
  if (frame <= link->desc->phase)
    return ORR_PORT_GOES_ON;
  if (!boundary) {
    orr_rules_latch_between(&link->rules, frame, values);
    return ORR_PORT_GOES_ON;
  }
  enum orr_port_end end = link->lockstep ? wait_for_answer(link) : ORR_PORT_GOES_ON;
  if (end != ORR_PORT_GOES_ON)
    return end;
  enum orr_latch latch = orr_rules_latch(&link->rules, values);
  if (latch == ORR_LATCH_APPLIED || latch == ORR_LATCH_EARLY)
    return ORR_PORT_GOES_ON;
  note_silence(link, frame);
  return latch == ORR_LATCH_STOP ? ORR_PORT_SILENT : ORR_PORT_GOES_ON;
}

void orr_port_settle(struct orr_port *link) {
  const struct orr_rules *r = &link->rules;
  int64_t until_ns = orr_clock_now_ns() + SETTLE_NS;
  while (!take(link) && r->published >= 0 && r->next.answers != r->published && r->due.answers != r->published &&
         r->applied != r->published && peer_lives(link) && orr_clock_now_ns() < until_ns)
    orr_clock_sleep_until(orr_clock_now_ns() + SETTLE_NS / 100);
}

struct orr_link_counts orr_port_counts(const struct orr_port *link) {
  struct orr_link_counts counts = link->rules.counts;
  if (over_udp(link))
    for (int i = 0; i < ORR_REFUSALS; i++)
      counts.refused[i] += atomic_load(&link->udp.refused[i]);
  return counts;
}

struct orr_port_losses orr_port_losses(const struct orr_port *link) {
  const struct orr_udp *u = &link->udp;
  if (!over_udp(link))
    return (struct orr_port_losses){0};
  return (struct orr_port_losses){.not_received = orr_udp_overflow(u),
                                  .full = atomic_load(&u->unsent_full),
                                  .unsent = atomic_load(&u->unsent),
                                  .error = atomic_load(&u->send_error),
                                  .not_relayed = orr_ring_refused(&u->out)};
}

enum orr_port_peer orr_port_peer(const struct orr_port *link) {
  enum { UNSAID = 10 };
  int64_t limit = link->desc->silence_frames > 0 ? link->desc->silence_frames : UNSAID;
  bool mute = link->mute || link->rules.published - link->beat_frame >= limit * link->desc->divisor;
  if (over_udp(link))
    return atomic_load(&link->udp.peers) == 0 ? ORR_PEER_NONE : mute ? ORR_PEER_MUTE : ORR_PEER_LIVES;
  static const enum orr_port_peer fates[] = {
      [ORR_SHM_NOBODY] = ORR_PEER_NONE, [ORR_SHM_LEFT] = ORR_PEER_LEFT, [ORR_SHM_GONE] = ORR_PEER_DEAD};
  enum orr_shm_process process = link->open ? orr_shm_peer_process(&link->shm) : ORR_SHM_NOBODY;
  return process != ORR_SHM_THERE ? fates[process] : mute ? ORR_PEER_HANGS : ORR_PEER_LIVES;
}

bool orr_port_dead(const struct orr_port *link) { return !over_udp(link) && atomic_load(&link->shm.dead); }

void orr_port_describe(const struct orr_port *link, char *text, size_t size) {
  uint32_t ip = link->desc->listen.ip;
  if (over_udp(link))
    snprintf(text, size, "udp:%u.%u.%u.%u:%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255,
             (unsigned)link->desc->listen.port);
  else
    snprintf(text, size, "shm:%s", link->desc->name_shm);
}
