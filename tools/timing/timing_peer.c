#include "tools/timing/timing_peer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/client/client.h"
#include "rt/tick/clock.h"

enum { OPEN_MS = 10000, SILENCE_MS = 5000, ECHO_PRIORITY = 70, URL_TEXT = 300 };

static void url_of(const struct orr_run_link *link, char url[URL_TEXT]) {
  uint32_t ip = link->listen.ip ? link->listen.ip : 0x7f000001; /* all addresses: by the loopback */
  if (link->transport == ORR_TRANSPORT_SHM)
    snprintf(url, URL_TEXT, "shm:%s", link->name_shm);
  else
    snprintf(url, URL_TEXT, "udp:%u.%u.%u.%u:%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255,
             (unsigned)link->listen.port);
}

static void keep_off(int core) {
  cpu_set_t set;
  if (core < 0 || sched_getaffinity(0, sizeof set, &set) != 0)
    return;
  CPU_CLR((size_t)core, &set);
  if (CPU_COUNT(&set) > 0)
    sched_setaffinity(0, sizeof set, &set);
}

/* Below the executive, above whatever else there is, where that may be had. */
static _Noreturn void echo(const struct orr_run_link *link, struct orr_timing_seen *seen, uint64_t frames) {
  const struct sched_param rise = {.sched_priority = ECHO_PRIORITY};
  struct orr_client c;
  char url[URL_TEXT];
  sched_setscheduler(0, SCHED_FIFO, &rise);
  url_of(link, url);
  if (orr_client_open(&c, url, OPEN_MS) != 0) {
    fprintf(stderr, "orrery timing: link '%s': %s\n", link->name, c.error);
    _exit(1);
  }
  while (orr_client_wait(&c, ORR_CLIENT_FUTEX, SILENCE_MS) == 1) {
    int64_t came_ns = orr_clock_now_ns();
    bool answered = orr_client_send(&c) == 0;
    if (c.frame.number < frames)
      seen[c.frame.number] = (struct orr_timing_seen){came_ns, answered ? orr_clock_now_ns() : 0};
  }
  _exit(0);
}

static _Noreturn void command(const char *text) {
  char *const words[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)text, NULL};
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execv("/bin/sh", words);
  _exit(127);
}

/* In the child, once it may go. */
static _Noreturn void be(const struct orr_timing_case *c, const struct orr_timing_peers *p, size_t i, int core,
                         pid_t parent) {
  char none;
  sigset_t all;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) /* it has ended before that */
    _exit(1);
  keep_off(core);
  close(p->gate[1]);
  while (read(p->gate[0], &none, 1) < 0 && errno == EINTR) {
  }
  close(p->gate[0]);
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  if (p->link[i])
    echo(p->link[i], p->seen[i], p->frames);
  command(c->peer);
}

static bool add(const struct orr_timing_case *c, const struct orr_run_link *link, int core,
                struct orr_timing_peers *p) {
  size_t i = p->count, bytes = (p->frames + 1) * sizeof(struct orr_timing_seen);
  if (i == ORR_TIMING_PEERS_MAX) {
    fprintf(stderr, "%s: error: at most %d links can be answered\n", c->path, ORR_TIMING_PEERS_MAX);
    return false;
  }
  p->link[i] = link;
  p->seen[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p->seen[i] == MAP_FAILED) {
    fprintf(stderr, "%s: error: no memory for what the echo sees\n", c->path);
    return false;
  }
  p->count++;
  pid_t parent = getpid();
  p->pid[i] = fork();
  if (p->pid[i] == 0)
    be(c, p, i, core, parent);
  if (p->pid[i] > 0)
    setpgid(p->pid[i], p->pid[i]);
  return p->pid[i] > 0;
}

bool orr_timing_peers_open(const struct orr_timing_case *c, uint64_t frames, int core, struct orr_timing_peers *p) {
  bool good = true, echoes = strcmp(c->peer, "echo") == 0;
  *p = (struct orr_timing_peers){.frames = frames};
  if (pipe(p->gate) != 0) {
    fprintf(stderr, "%s: error: no pipe to the peers: %s\n", c->path, strerror(errno));
    return false;
  }
  for (size_t i = 0; i < c->run->link_count && echoes && good; i++)
    if (c->run->links[i].transport != ORR_TRANSPORT_LINKED && !c->run->links[i].capture)
      good = add(c, &c->run->links[i], core, p);
  if (!echoes && strcmp(c->peer, "none") != 0)
    good = add(c, NULL, core, p);
  return good;
}

static void open_gate(struct orr_timing_peers *p) {
  for (int i = 0; i < 2; i++)
    if (p->gate[i] > 0)
      close(p->gate[i]);
  p->gate[0] = p->gate[1] = 0;
}

void orr_timing_peers_go(struct orr_timing_peers *p) { open_gate(p); }

void orr_timing_peers_end(struct orr_timing_peers *p) {
  open_gate(p);
  for (size_t i = 0; i < p->count; i++) {
    if (p->pid[i] <= 0)
      continue;
    kill(-p->pid[i], SIGKILL);
    while (waitpid(p->pid[i], NULL, 0) < 0 && errno == EINTR) {
    }
    p->pid[i] = 0;
  }
}

void orr_timing_peers_close(struct orr_timing_peers *p) {
  orr_timing_peers_end(p);
  for (size_t i = 0; i < p->count; i++)
    munmap(p->seen[i], (p->frames + 1) * sizeof *p->seen[i]);
  p->count = 0;
}

void orr_timing_peers_judge(const struct orr_timing_peers *p, size_t peer, const int64_t *tick_ns, uint64_t first,
                            struct orr_histogram *publication, struct orr_histogram *round_trip) {
  for (uint64_t k = first; k < p->frames; k++) {
    const struct orr_timing_seen *seen = &p->seen[peer][k];
    if (tick_ns[k] == 0 || seen->came_ns == 0)
      continue;
    orr_histogram_add(publication, seen->came_ns - tick_ns[k]);
    if (seen->answered_ns)
      orr_histogram_add(round_trip, seen->answered_ns - tick_ns[k]);
  }
}
