/* What a competent programmer writes in an afternoon to reach a peer: the yardsticks of `orrery bench --links`. No
 * rules, no checks, no checksum, one frame on its way.
 *
 *   shm   a seqlock each way; each side spins on the sequence of the other's
 *   udp   a ring each way, a thread between rings and a connected socket that looks at both all the time; it shares its
 *         core with the peer, so it gives way where it found nothing, and the peer sleeps in its socket
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rt/tick/ring.h"
#include "rt/tick/seqlock.h"
#include "tools/bench/bench_links.h"

/* Frame and tick, or the frame answered, then the numbers. */
enum { HEAD = 4, OUT_WORDS = HEAD + ORR_LINKS_OUT, IN_WORDS = HEAD + ORR_LINKS_IN };

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

struct pair_memory {
  _Alignas(64) struct orr_seqlock out_lock;
  _Atomic uint64_t out[OUT_WORDS];
  _Alignas(64) struct orr_seqlock in_lock;
  _Atomic uint64_t in[IN_WORDS];
};

struct bare_shm {
  struct orr_links_path path;
  struct pair_memory *memory;
  uint64_t out[OUT_WORDS], in[IN_WORDS];
  uint64_t seen; /* sequence of the last answer */
};

/* A record that is not the one seen last, whole. */
static bool look(const struct orr_seqlock *lock, const _Atomic uint64_t *shared, uint64_t *to, size_t words,
                 uint64_t *seen) {
  uint64_t now = atomic_load_explicit(&lock->sequence, memory_order_acquire);
  if (now == *seen || (now & 1) || !orr_seqlock_load(lock, shared, to, words, 1))
    return false;
  *seen = now;
  return true;
}

static _Noreturn void shm_peer(struct bare_shm *b, const struct orr_links_conditions *conditions,
                               struct orr_links_slice *slice) {
  struct pair_memory *m = b->memory;
  uint64_t seen = 0;
  for (;;) {
    if (!look(&m->out_lock, m->out, b->out, OUT_WORDS, &seen))
      continue;
    if (slice)
      orr_links_arrived(slice, conditions, b->out[0], (int64_t)b->out[1]);
    b->in[0] = b->out[0];
    orr_seqlock_store(&m->in_lock, m->in, b->in, IN_WORDS);
  }
}

static const char *open_shm(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                            struct orr_links_slice *slice) {
  struct bare_shm *b = (struct bare_shm *)path;
  b->seen = 0;
  b->memory = mmap(NULL, sizeof *b->memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (b->memory == MAP_FAILED)
    return "out of memory";
  path->peer = orr_links_fork(conditions);
  if (path->peer == 0)
    shm_peer(b, conditions, slice);
  return path->peer > 0 ? NULL : "no process for the peer";
}

static void publish_shm(struct orr_links_path *path, int64_t frame, int64_t tick_ns) {
  struct bare_shm *b = (struct bare_shm *)path;
  b->out[0] = (uint64_t)frame;
  b->out[1] = (uint64_t)tick_ns;
  orr_seqlock_store(&b->memory->out_lock, b->memory->out, b->out, OUT_WORDS);
}

static bool answered_shm(struct orr_links_path *path, int64_t frame) {
  struct bare_shm *b = (struct bare_shm *)path;
  return look(&b->memory->in_lock, b->memory->in, b->in, IN_WORDS, &b->seen) && b->in[0] == (uint64_t)frame;
}

static void latch_shm(struct orr_links_path *path, int64_t frame) {
  (void)path;
  (void)frame;
}

static void close_shm(struct orr_links_path *path) {
  struct bare_shm *b = (struct bare_shm *)path;
  orr_links_reap(&path->peer, true);
  if (b->memory != MAP_FAILED)
    munmap(b->memory, sizeof *b->memory);
}

struct orr_links_path *orr_path_bare_shm(void) {
  struct bare_shm *b = calloc(1, sizeof *b);
  if (!b)
    return NULL;
  b->path = (struct orr_links_path){
      .open = open_shm, .publish = publish_shm, .answered = answered_shm, .latch = latch_shm, .close = close_shm};
  return &b->path;
}

/* ---- UDP --------------------------------------------------------------------------------------------------------- */

enum { SLOTS = 16 };

struct bare_udp {
  struct orr_links_path path;
  struct orr_ring out, in;
  void *out_memory, *in_memory;
  int fd, peer_fd; /* connected with each other */
  int priority;    /* of the relay */
  pthread_t relay;
  bool running;
  _Atomic int stop;
};

static _Noreturn void udp_peer(const struct bare_udp *b, const struct orr_links_conditions *conditions,
                               struct orr_links_slice *slice) {
  uint64_t out[OUT_WORDS], in[IN_WORDS] = {0};
  for (;;) {
    if (recv(b->peer_fd, out, sizeof out, 0) != (ssize_t)sizeof out)
      continue;
    if (slice)
      orr_links_arrived(slice, conditions, out[0], (int64_t)out[1]);
    in[0] = out[0];
    send(b->peer_fd, in, sizeof in, MSG_DONTWAIT);
  }
}

static void *relay(void *user) {
  struct bare_udp *b = user;
  uint64_t in[IN_WORDS];
  orr_links_rise(b->priority);
  while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
    const void *out = orr_ring_peek(&b->out);
    if (out) {
      send(b->fd, out, 8 * OUT_WORDS, MSG_DONTWAIT);
      orr_ring_release(&b->out);
    }
    if (recv(b->fd, in, sizeof in, MSG_DONTWAIT) != (ssize_t)sizeof in) {
      sched_yield();
      continue;
    }
    uint64_t *slot = orr_ring_claim(&b->in);
    if (slot) {
      memcpy(slot, in, sizeof in);
      orr_ring_commit(&b->in);
    }
  }
  return NULL;
}

/* Bound to a free port of the loopback. */
static int bound(struct sockaddr_in *address) {
  socklen_t size = sizeof *address;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd >= 0 && bind(fd, (const struct sockaddr *)address, size) == 0 &&
      getsockname(fd, (struct sockaddr *)address, &size) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

static bool make_sockets(struct bare_udp *b) {
  struct sockaddr_in here, there;
  b->fd = bound(&here);
  b->peer_fd = bound(&there);
  return b->fd >= 0 && b->peer_fd >= 0 && connect(b->fd, (const struct sockaddr *)&there, sizeof there) == 0 &&
         connect(b->peer_fd, (const struct sockaddr *)&here, sizeof here) == 0;
}

static bool make_rings(struct bare_udp *b) {
  b->out_memory = aligned_alloc(64, (orr_ring_size(SLOTS, 8 * OUT_WORDS) + 63) / 64 * 64);
  b->in_memory = aligned_alloc(64, (orr_ring_size(SLOTS, 8 * IN_WORDS) + 63) / 64 * 64);
  return b->out_memory && b->in_memory && orr_ring_init(&b->out, b->out_memory, SLOTS, 8 * OUT_WORDS) &&
         orr_ring_init(&b->in, b->in_memory, SLOTS, 8 * IN_WORDS);
}

static bool start_relay(struct bare_udp *b, int core) {
  pthread_attr_t attributes;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)core, &one);
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
  b->running = pthread_create(&b->relay, &attributes, relay, b) == 0;
  pthread_attr_destroy(&attributes);
  return b->running;
}

static const char *open_udp(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                            struct orr_links_slice *slice) {
  struct bare_udp *b = (struct bare_udp *)path;
  b->stop = 0;
  b->priority = conditions->peer_priority;
  b->fd = b->peer_fd = -1;
  b->out_memory = b->in_memory = NULL;
  if (!make_rings(b))
    return "out of memory";
  if (!make_sockets(b))
    return "no sockets on the loopback";
  path->peer = orr_links_fork(conditions);
  if (path->peer == 0)
    udp_peer(b, conditions, slice);
  return path->peer > 0 && start_relay(b, conditions->peer_core) ? NULL : "no process or thread for the peer";
}

static void publish_udp(struct orr_links_path *path, int64_t frame, int64_t tick_ns) {
  struct bare_udp *b = (struct bare_udp *)path;
  uint64_t *slot = orr_ring_claim(&b->out);
  if (!slot)
    return;
  slot[0] = (uint64_t)frame;
  slot[1] = (uint64_t)tick_ns;
  memset(slot + 2, 0, 8 * (OUT_WORDS - 2));
  orr_ring_commit(&b->out);
}

static bool take_udp(struct bare_udp *b, int64_t frame) {
  const uint64_t *slot = orr_ring_peek(&b->in);
  if (!slot)
    return false;
  bool wanted = slot[0] == (uint64_t)frame;
  orr_ring_release(&b->in);
  return wanted;
}

static bool answered_udp(struct orr_links_path *path, int64_t frame) {
  return take_udp((struct bare_udp *)path, frame);
}

static void latch_udp(struct orr_links_path *path, int64_t frame) { take_udp((struct bare_udp *)path, frame - 1); }

static void close_udp(struct orr_links_path *path) {
  struct bare_udp *b = (struct bare_udp *)path;
  atomic_store(&b->stop, 1);
  if (b->running)
    pthread_join(b->relay, NULL);
  b->running = false;
  orr_links_reap(&path->peer, true);
  if (b->fd >= 0)
    close(b->fd);
  if (b->peer_fd >= 0)
    close(b->peer_fd);
  free(b->out_memory);
  free(b->in_memory);
}

struct orr_links_path *orr_path_bare_udp(void) {
  struct bare_udp *b = aligned_alloc(64, sizeof *b); /* the rings have lines of their own */
  if (!b)
    return NULL;
  memset(b, 0, sizeof *b);
  b->path = (struct orr_links_path){
      .open = open_udp, .publish = publish_udp, .answered = answered_udp, .latch = latch_udp, .close = close_udp};
  return &b->path;
}
