#include "tools/campaign/campaign_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/campaign/campaign_flight.h"

enum { HEAD = 16, LONGEST_ROW = 1 << 28 };

struct worker {
  pid_t pid;
  int to, from, said; /* tasks, rows, what it said on standard error */
  bool flies, dead;
  int64_t flight;
  double values[ORR_CAMPAIGN_VARIED];
  double began_s;
};

struct orr_pool {
  const struct orr_campaign *campaign;
  char tag[48];
  int count;
  struct worker workers[ORR_POOL_MOST];
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* False at the end of the stream, or where it broke. */
static bool read_all(int fd, void *to, size_t bytes) {
  for (char *at = to; bytes;) {
    ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t bytes) {
  for (const char *at = from; bytes;) {
    ssize_t n = write(fd, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* ---- in the worker ----------------------------------------------------------------------------------------------- */

struct task {
  int64_t flight;
  double values[ORR_CAMPAIGN_VARIED];
};

struct head {
  double took_s;
  uint64_t bytes;
};

/* What it may take beside what it has by now. */
static void limit_memory(int64_t mb) {
  FILE *in = fopen("/proc/self/statm", "r");
  unsigned long long pages = 0;
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (in && fscanf(in, "%llu", &pages) == 1 && mb > 0) {
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)mb * 1000000;
    const struct rlimit limit = {most, most};
    setrlimit(RLIMIT_AS, &limit);
  }
  if (in)
    fclose(in);
}

static void work(const struct orr_campaign *c, const struct orr_flight_place *place, const struct worker *w) {
  struct task task;
  while (read_all(w->to, &task, sizeof task)) {
    struct head head = {.took_s = now_s()};
    if (ftruncate(w->said, 0) != 0 || lseek(w->said, 0, SEEK_SET) < 0)
      return;
    json_t *row = orr_flight_fly(c, place, task.flight, task.values);
    char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(ORR_FLIGHT_DIGITS));
    if (!text)
      abort();
    head.bytes = strlen(text);
    head.took_s = now_s() - head.took_s;
    bool told = write_all(w->from, &head, sizeof head) && write_all(w->from, text, head.bytes);
    free(text);
    json_decref(row);
    if (!told)
      return;
  }
}

/* A process group of its own: what the terminal sends to that of the command does not reach it, and what it starts ends
 * with it. */
static void become_worker(struct orr_pool *pool, int index, pid_t parent) {
  struct worker *w = &pool->workers[index];
  const struct orr_flight_place place = {pool->tag, index};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  for (int i = 0; i < pool->count; i++)
    if (i != index && pool->workers[i].pid > 0 && !pool->workers[i].dead) {
      close(pool->workers[i].to);
      close(pool->workers[i].from);
      close(pool->workers[i].said);
    }
  dup2(w->said, STDERR_FILENO);
  dup2(w->said, STDOUT_FILENO);
  limit_memory(pool->campaign->memory_mb);
  work(pool->campaign, &place, w);
  _exit(0);
}

/* ---- in the command ---------------------------------------------------------------------------------------------- */

static bool start(struct orr_pool *pool, int index) {
  struct worker *w = &pool->workers[index];
  int tasks[2], rows[2];
  *w = (struct worker){.pid = -1};
  if (pipe2(tasks, O_CLOEXEC) != 0)
    return false;
  if (pipe2(rows, O_CLOEXEC) != 0) {
    close(tasks[0]);
    close(tasks[1]);
    return false;
  }
  w->said = memfd_create("orrery-worker", MFD_CLOEXEC);
  fflush(stdout);
  fflush(stderr);
  pid_t parent = getpid();
  w->pid = w->said >= 0 ? fork() : -1;
  if (w->pid == 0) {
    close(tasks[1]);
    close(rows[0]);
    w->to = tasks[0];
    w->from = rows[1];
    become_worker(pool, index, parent);
  }
  close(tasks[0]);
  close(rows[1]);
  w->to = tasks[1];
  w->from = rows[0];
  if (w->pid > 0) {
    setpgid(w->pid, w->pid); /* whoever is first */
    return true;
  }
  close(w->to);
  close(w->from);
  if (w->said >= 0)
    close(w->said);
  return false;
}

static void unlink_segments(const struct orr_pool *pool, int index) {
  char name[ORR_FLIGHT_SEGMENT];
  const struct orr_flight_place place = {pool->tag, index};
  for (size_t i = 0; pool->campaign->software && i < pool->campaign->nominal->link_count; i++)
    shm_unlink(orr_flight_segment(&place, i, name));
}

/* With all that it has started. Its wait status. */
static int end(struct orr_pool *pool, int index) {
  struct worker *w = &pool->workers[index];
  int status = 0;
  kill(-w->pid, SIGKILL);
  kill(w->pid, SIGKILL);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
    ;
  close(w->to);
  close(w->from);
  unlink_segments(pool, index);
  return status;
}

struct orr_pool *orr_pool_create(const struct orr_campaign *c, int workers, const char *tag) {
  struct orr_pool *pool = calloc(1, sizeof *pool);
  if (!pool)
    abort();
  pool->campaign = c;
  snprintf(pool->tag, sizeof pool->tag, "%s", tag);
  for (int i = 0; i < workers && i < ORR_POOL_MOST; i++) {
    unlink_segments(pool, i);
    pool->count = i + 1;
    if (!start(pool, i)) {
      pool->count = i;
      break;
    }
  }
  if (!pool->count) {
    fprintf(stderr, "orrery campaign: no worker can be started: %s\n", strerror(errno));
    free(pool);
    return NULL;
  }
  return pool;
}

static struct worker *free_one(const struct orr_pool *pool) {
  for (int i = 0; i < pool->count; i++)
    if (!pool->workers[i].flies && !pool->workers[i].dead)
      return (struct worker *)&pool->workers[i];
  return NULL;
}

bool orr_pool_has_free(const struct orr_pool *pool) { return free_one(pool); }

int orr_pool_flying(const struct orr_pool *pool) {
  int n = 0;
  for (int i = 0; i < pool->count; i++)
    n += pool->workers[i].flies;
  return n;
}

void orr_pool_give(struct orr_pool *pool, int64_t flight, const double *values) {
  struct worker *w = free_one(pool);
  if (!w)
    return;
  struct task task = {.flight = flight};
  memcpy(task.values, values, (size_t)pool->campaign->vary_count * sizeof *values);
  memcpy(w->values, task.values, sizeof w->values);
  w->flight = flight;
  w->flies = true;
  w->began_s = now_s();
  write_all(w->to, &task, sizeof task); /* one that died in between is seen by its row that does not come */
}

/* The last line that it said. */
static void last_words(int fd, char *text, size_t size) {
  char all[4096];
  off_t length = lseek(fd, 0, SEEK_END), from = length > (off_t)sizeof all ? length - (off_t)sizeof all : 0;
  ssize_t n = pread(fd, all, sizeof all - 1, from);
  text[0] = '\0';
  if (n <= 0)
    return;
  while (n > 0 && (all[n - 1] == '\n' || all[n - 1] == '\r'))
    n--;
  all[n] = '\0';
  char *line = strrchr(all, '\n');
  snprintf(text, size, "%.180s", line ? line + 1 : all);
}

/* The row of a flight that did not come to its end. */
static char *row_of_lost(struct orr_pool *pool, struct worker *w, int status, bool hung) {
  char said[200], why[300];
  const char *verdict = "crashed";
  bool asserted, aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  last_words(w->said, said, sizeof said);
  asserted = strstr(said, "ssertion");
  if (hung) {
    verdict = "hung";
    snprintf(why, sizeof why, "took longer than %.9g s on the clock", 1e-9 * (double)pool->campaign->wall_ns);
  } else if (strstr(said, "out of memory") || (aborted && !asserted && pool->campaign->memory_mb)) {
    verdict = "out_of_memory";
    if (pool->campaign->memory_mb)
      snprintf(why, sizeof why, "needs more than %lld MB", (long long)pool->campaign->memory_mb);
    else
      snprintf(why, sizeof why, "the machine had no more memory");
  } else if (WIFSIGNALED(status)) {
    snprintf(why, sizeof why, "signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)), asserted ? ": " : "",
             asserted ? said : "");
  } else {
    snprintf(why, sizeof why, "its process ended with status %d", WEXITSTATUS(status));
  }
  json_t *row = orr_flight_lost(pool->campaign, w->flight, w->values, verdict, why);
  char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(ORR_FLIGHT_DIGITS));
  json_decref(row);
  if (!text)
    abort();
  return text;
}

static bool restart(struct orr_pool *pool, int index, bool hung, struct orr_pool_row *row) {
  struct worker *w = &pool->workers[index];
  struct worker old = *w;
  /* one that ended by itself is asked how before anybody ends it */
  int status = 0;
  pid_t gone = hung ? 0 : waitpid(w->pid, &status, 0);
  int ended = end(pool, index);
  if (gone != old.pid)
    status = ended;
  *row = (struct orr_pool_row){old.flight, row_of_lost(pool, &old, status, hung), now_s() - old.began_s, index};
  close(old.said);
  if (!start(pool, index)) {
    fprintf(stderr, "orrery campaign: a worker could not be started again: %s\n", strerror(errno));
    pool->workers[index].dead = true;
  }
  return true;
}

static bool take_from(struct orr_pool *pool, int index, struct orr_pool_row *row) {
  struct worker *w = &pool->workers[index];
  struct head head;
  char *text = NULL;
  bool good = read_all(w->from, &head, sizeof head) && head.bytes < LONGEST_ROW && (text = malloc(head.bytes + 1)) &&
              read_all(w->from, text, head.bytes);
  if (!good) {
    free(text);
    return restart(pool, index, false, row);
  }
  text[head.bytes] = '\0';
  *row = (struct orr_pool_row){w->flight, text, head.took_s, index};
  w->flies = false;
  return true;
}

bool orr_pool_take(struct orr_pool *pool, int timeout_ms, struct orr_pool_row *row) {
  double until = timeout_ms < 0 ? HUGE_VAL : now_s() + 1e-3 * timeout_ms,
         wall_s = 1e-9 * (double)pool->campaign->wall_ns;
  while (orr_pool_flying(pool)) {
    struct pollfd fds[ORR_POOL_MOST];
    double now = now_s(), next = until;
    for (int i = 0; i < pool->count; i++) {
      struct worker *w = &pool->workers[i];
      fds[i] = (struct pollfd){.fd = w->flies ? w->from : -1, .events = POLLIN};
      if (w->flies && wall_s > 0)
        next = fmin(next, w->began_s + wall_s);
    }
    int wait = isinf(next) ? -1 : (int)fmin(1e9, fmax(0, ceil(1e3 * (next - now))));
    int n = poll(fds, (nfds_t)pool->count, wait);
    if (n < 0)
      return false;
    for (int i = 0; n > 0 && i < pool->count; i++)
      if (fds[i].revents)
        return take_from(pool, i, row);
    now = now_s();
    for (int i = 0; wall_s > 0 && i < pool->count; i++)
      if (pool->workers[i].flies && now >= pool->workers[i].began_s + wall_s)
        return restart(pool, i, true, row);
    if (now >= until)
      return false;
  }
  return false;
}

void orr_pool_destroy(struct orr_pool *pool) {
  for (int i = 0; pool && i < pool->count; i++) {
    if (pool->workers[i].dead)
      continue;
    int said = pool->workers[i].said;
    end(pool, i);
    close(said);
  }
  free(pool);
}
