/* How a log's chunks of 4 MiB get to the disk, at 64 MB/s: by pwrite as io/log/log_file does, by io_uring with
 * registered buffers, each through the page cache and with O_DIRECT. Of each, in turn, a slice of seconds: processor
 * time of the whole process without its ticking thread, the longest time that a chunk took, and how late a thread of
 * SCHED_FIFO 80 woke that ticks at 5 kHz meanwhile.
 *
 *   log_writes [FOLDER [SECONDS [ROUNDS]]]    /tmp, 5, 3
 *
 * Links with: -luring
 */
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 4 << 20, RATE = 64000000, BUFFERS = 4, TICK_NS = 200000, MOST = 1 << 20, WAYS = 5 };

struct way {
  const char *name;
  bool uring, direct, writes;
};

static const struct way ways[WAYS] = {{"nothing is written", false, false, false},
                                      {"pwrite, page cache", false, false, true},
                                      {"pwrite, O_DIRECT", false, true, true},
                                      {"io_uring, registered buffers, page cache", true, false, true},
                                      {"io_uring, registered buffers, O_DIRECT", true, true, true}};

struct sum {
  double cpu_s, took_s, longest_s;
  int64_t late[MOST];
  size_t late_count;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(struct rusage *u) {
  return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

struct ticker {
  _Atomic int stop;
  struct sum *sum;
  double cpu_s;
};

static void *tick(void *user) {
  struct ticker *k = user;
  struct timespec next, now;
  struct rusage mine;
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (!k->stop) {
    next.tv_nsec += TICK_NS;
    next.tv_sec += next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t late = (now.tv_sec - next.tv_sec) * 1000000000 + now.tv_nsec - next.tv_nsec;
    if (k->sum->late_count < MOST)
      k->sum->late[k->sum->late_count++] = late;
  }
  getrusage(RUSAGE_THREAD, &mine);
  k->cpu_s = seconds_of(&mine);
  return NULL;
}

static void on_core(pthread_t thread, size_t core, int priority) {
  cpu_set_t set;
  const struct sched_param p = {.sched_priority = priority};
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(thread, sizeof set, &set);
  if (priority && pthread_setschedparam(thread, SCHED_FIFO, &p) != 0)
    fputs("no SCHED_FIFO here: run as root\n", stderr);
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* The next chunk; with io_uring the one BUFFERS before must have been written. */
static void write_chunk(const struct way *w, struct io_uring *ring, int fd, char **buffers, int number, off_t at) {
  char *bytes = buffers[number % BUFFERS];
  memset(bytes, number, CHUNK / 4); /* as new messages would */
  if (!w->uring) {
    for (size_t done = 0; done < CHUNK;) {
      ssize_t n = pwrite(fd, bytes + done, CHUNK - done, at + (off_t)done);
      if (n <= 0)
        fail("pwrite");
      done += (size_t)n;
    }
    return;
  }
  struct io_uring_cqe *cqe;
  if (number >= BUFFERS) {
    if (io_uring_wait_cqe(ring, &cqe) != 0 || cqe->res != CHUNK)
      fail("io_uring");
    io_uring_cqe_seen(ring, cqe);
  }
  struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
  io_uring_prep_write_fixed(sqe, fd, bytes, CHUNK, (__u64)at, number % BUFFERS);
  io_uring_submit(ring);
}

static void measure(const struct way *w, const char *path, double seconds, struct sum *sum) {
  struct io_uring ring;
  char *buffers[BUFFERS];
  struct iovec places[BUFFERS];
  struct ticker ticker = {.sum = sum};
  struct rusage before, after;
  pthread_t thread;
  for (int i = 0; i < BUFFERS; i++) {
    buffers[i] = aligned_alloc(4096, CHUNK);
    if (!buffers[i])
      fail("memory");
    memset(buffers[i], i, CHUNK);
    places[i] = (struct iovec){buffers[i], CHUNK};
  }
  if (w->uring &&
      (io_uring_queue_init(BUFFERS, &ring, 0) != 0 || io_uring_register_buffers(&ring, places, BUFFERS) != 0))
    fail("io_uring");
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | (w->direct ? O_DIRECT : 0), 0600);
  if (fd < 0)
    fail(path);
  pthread_create(&thread, NULL, tick, &ticker);
  on_core(thread, 1, 80);
  on_core(pthread_self(), 0, 0);
  getrusage(RUSAGE_SELF, &before);
  double begin = now_s(), period = (double)CHUNK / RATE;
  int count = (int)(seconds / period);
  for (int i = 0; i < count; i++) {
    double due = begin + i * period, now = now_s();
    if (due > now)
      usleep((useconds_t)(1e6 * (due - now)));
    double start = now_s();
    if (w->writes)
      write_chunk(w, &ring, fd, buffers, i, (off_t)i * CHUNK);
    double took = now_s() - start;
    sum->longest_s = took > sum->longest_s ? took : sum->longest_s;
  }
  sum->took_s += now_s() - begin;
  ticker.stop = 1;
  pthread_join(thread, NULL);
  getrusage(RUSAGE_SELF, &after);
  sum->cpu_s += seconds_of(&after) - seconds_of(&before) - ticker.cpu_s;
  if (w->uring)
    io_uring_queue_exit(&ring); /* waits for what is on its way */
  close(fd);
  unlink(path);
  for (int i = 0; i < BUFFERS; i++)
    free(buffers[i]);
}

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  static struct sum sums[WAYS];
  char path[4096];
  double seconds = argc > 2 ? strtod(argv[2], NULL) : 5;
  int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 3;
  snprintf(path, sizeof path, "%s/orrery-log-writes.%ld", argc > 1 ? argv[1] : "/tmp", (long)getpid());
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < WAYS; i++)
      measure(&ways[i], path, seconds, &sums[i]);
  printf("%-42s %9s %12s %10s %10s %10s\n", "", "cpu", "longest", "wake p50", "p99", "p99.9");
  for (int i = 0; i < WAYS; i++) {
    struct sum *s = &sums[i];
    qsort(s->late, s->late_count, sizeof *s->late, by_size);
    printf("%-42s %7.2f %% %9.1f ms %7.1f us %7.1f us %7.1f us\n", ways[i].name, 100 * s->cpu_s / s->took_s,
           1e3 * s->longest_s, 1e-3 * (double)s->late[s->late_count / 2],
           1e-3 * (double)s->late[s->late_count * 99 / 100], 1e-3 * (double)s->late[s->late_count * 999 / 1000]);
  }
  return 0;
}
