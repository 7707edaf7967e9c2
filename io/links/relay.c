#include "io/links/relay.h"

#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "rt/clock.h"

enum {
  SPIN_NS = 30000,  /* looks this long before it sleeps */
  TIMER_NS = 50000, /* and then looks at the rings so often */
  SENDS = 64,       /* packets on their way at a time */
  BUFFERS = 256,    /* for what comes: a power of two */
  BUFFER_BYTES = (int)sizeof(struct io_uring_recvmsg_out) + (int)sizeof(struct sockaddr_in) + ORR_WIRE_PACKET_MAX,
  FAREWELLS = 3,
  STRETCH_NS = 400000, /* at a real-time priority, looks so often at how busy it was, */
  REST_NS = 100000,    /* and rests so long if it left its core too little */
};

/* A packet on its way out; the kernel reads it until its completion comes. */
struct outgoing {
  struct msghdr message;
  struct iovec piece;
  struct sockaddr_in to;
  bool busy;
  uint8_t packet[ORR_WIRE_PACKET_MAX];
};

struct mover {
  struct orr_relay *relay;
  uint32_t piece[ORR_RELAY_LINKS_MAX]; /* of the frame that each link is sending */
  struct io_uring ring;
  struct io_uring_buf_ring *buffers;
  uint8_t *memory; /* [BUFFERS][BUFFER_BYTES] */
  struct msghdr receive;
  struct outgoing *outgoing; /* [SENDS] */
  uint8_t *scratch;          /* [ORR_WIRE_PACKET_MAX] */
  bool registered;           /* the sockets: then a link's index is its file */
  int64_t looked_ns, cpu_ns; /* when it last looked at how busy it was; its processor time then */
};

/* ---- the core ---------------------------------------------------------------------------------------------------------- */

static int64_t cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* At a real-time priority others of the core run only while this thread sleeps, and flight software may be one of them. */
static void rest_if_due(struct mover *m) {
  int64_t now_ns = orr_clock_now_ns();
  if (m->relay->priority == 0 || now_ns - m->looked_ns < STRETCH_NS)
    return;
  int64_t cpu_ns = cpu_now_ns();
  if (cpu_ns - m->cpu_ns > (now_ns - m->looked_ns) / 4 * 3) {
    orr_clock_sleep_until(now_ns + REST_NS);
    now_ns = orr_clock_now_ns();
  }
  m->looked_ns = now_ns;
  m->cpu_ns = cpu_ns;
}

static void take_priority(struct orr_relay *r) {
  const struct sched_param param = {.sched_priority = r->priority};
  if (r->priority > 0)
    r->priority_error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
  if (r->priority_error)
    r->priority = 0;
}

/* ---- plain calls ----------------------------------------------------------------------------------------------------- */

static void send_plain(struct orr_udp *u, const struct sockaddr_in *to, const uint8_t *packet, size_t bytes) {
  if (sendto(u->fd, packet, bytes, MSG_NOSIGNAL, (const struct sockaddr *)to, sizeof *to) < 0)
    orr_udp_unsent(u, errno);
}

/* At most so many at a time, so that one flooded link does not starve the others or what goes out. */
static bool move_plain(struct mover *m, int link) {
  enum { AT_A_TIME = 32 };
  struct orr_udp *u = m->relay->links[link];
  uint8_t *packet = m->outgoing[0].packet, *reply = m->scratch;
  bool busy = false;
  for (size_t bytes; (bytes = orr_udp_send(u, &m->piece[link], packet)) > 0; busy = true)
    send_plain(u, &u->peer, packet, bytes);
  for (int i = 0; i < AT_A_TIME; i++, busy = true) {
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    ssize_t got = recvfrom(u->fd, packet, ORR_WIRE_PACKET_MAX, MSG_TRUNC, (struct sockaddr *)&from, &length);
    if (got < 0 && errno != ECONNREFUSED)
      break;
    size_t bytes = got < 0 || got > ORR_WIRE_PACKET_MAX ? 0 : (size_t)got;
    size_t answer = orr_udp_receive(u, &from, packet, bytes, reply);
    if (answer)
      send_plain(u, &from, reply, answer);
  }
  return busy;
}

static void run_plain(struct mover *m) {
  int64_t busy_ns = orr_clock_now_ns();
  while (!atomic_load_explicit(&m->relay->stop, memory_order_relaxed)) {
    bool busy = false;
    for (int i = 0; i < m->relay->count; i++)
      busy |= move_plain(m, i);
    int64_t now_ns = orr_clock_now_ns();
    if (busy)
      busy_ns = now_ns;
    else if (now_ns - busy_ns > SPIN_NS)
      orr_clock_sleep_until(now_ns + TIMER_NS);
    rest_if_due(m);
  }
}

/* ---- io_uring ---------------------------------------------------------------------------------------------------------- */

/* user_data: a link's receive, or SENDS_FROM + an outgoing packet. */
enum { SENDS_FROM = ORR_RELAY_LINKS_MAX };

static struct io_uring_sqe *entry(struct mover *m) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&m->ring);
  if (!sqe) {
    io_uring_submit(&m->ring);
    sqe = io_uring_get_sqe(&m->ring);
  }
  return sqe;
}

static void on_file(const struct mover *m, struct io_uring_sqe *sqe, int link) {
  if (m->registered) {
    sqe->fd = link;
    sqe->flags |= IOSQE_FIXED_FILE;
  }
}

static void receive_on(struct mover *m, int link) {
  struct io_uring_sqe *sqe = entry(m);
  if (!sqe)
    return;
  io_uring_prep_recvmsg_multishot(sqe, m->relay->links[link]->fd, &m->receive, MSG_TRUNC);
  sqe->flags |= IOSQE_BUFFER_SELECT;
  sqe->buf_group = 0;
  on_file(m, sqe, link);
  io_uring_sqe_set_data64(sqe, (unsigned)link);
}

static struct outgoing *idle_outgoing(struct mover *m) {
  for (int i = 0; i < SENDS; i++)
    if (!m->outgoing[i].busy)
      return &m->outgoing[i];
  return NULL;
}

static void send_from(struct mover *m, int link, struct outgoing *o, const struct sockaddr_in *to, size_t bytes) {
  struct io_uring_sqe *sqe = entry(m);
  if (!sqe) {
    orr_udp_unsent(m->relay->links[link], ENOBUFS);
    return;
  }
  o->busy = true;
  o->to = *to;
  o->piece = (struct iovec){o->packet, bytes};
  o->message = (struct msghdr){.msg_name = &o->to, .msg_namelen = sizeof o->to, .msg_iov = &o->piece, .msg_iovlen = 1};
  /* a full socket is an answer, not a wait */
  io_uring_prep_sendmsg(sqe, m->relay->links[link]->fd, &o->message, MSG_NOSIGNAL | MSG_DONTWAIT);
  on_file(m, sqe, link);
  io_uring_sqe_set_data64(sqe, SENDS_FROM + (unsigned)(o - m->outgoing) + ((unsigned long long)link << 32));
}

static bool send_all(struct mover *m) {
  bool busy = false;
  for (int i = 0; i < m->relay->count; i++) {
    struct orr_udp *u = m->relay->links[i];
    for (struct outgoing *o; (o = idle_outgoing(m)) != NULL; busy = true) {
      size_t bytes = orr_udp_send(u, &m->piece[i], o->packet);
      if (bytes == 0)
        break;
      send_from(m, i, o, &u->peer, bytes);
    }
  }
  return busy;
}

static void received(struct mover *m, int link, const struct io_uring_cqe *cqe) {
  struct orr_udp *u = m->relay->links[link];
  if (!(cqe->flags & IORING_CQE_F_BUFFER))
    return;
  int id = (int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
  uint8_t *buffer = m->memory + (size_t)id * BUFFER_BYTES;
  struct io_uring_recvmsg_out *out = cqe->res < 0 ? NULL : io_uring_recvmsg_validate(buffer, cqe->res, &m->receive);
  struct outgoing *o = idle_outgoing(m);
  if (out && out->namelen == sizeof(struct sockaddr_in)) {
    struct sockaddr_in from;
    memcpy(&from, io_uring_recvmsg_name(out), sizeof from);
    size_t bytes = out->flags & MSG_TRUNC ? 0 : io_uring_recvmsg_payload_length(out, cqe->res, &m->receive);
    size_t answer =
        orr_udp_receive(u, &from, io_uring_recvmsg_payload(out, &m->receive), bytes, o ? o->packet : m->scratch);
    if (answer && o)
      send_from(m, link, o, &from, answer);
  }
  io_uring_buf_ring_add(m->buffers, buffer, BUFFER_BYTES, (unsigned short)id, io_uring_buf_ring_mask(BUFFERS), 0);
  io_uring_buf_ring_advance(m->buffers, 1);
}

static bool complete(struct mover *m) {
  struct io_uring_cqe *cqe;
  unsigned head, seen = 0;
  io_uring_for_each_cqe(&m->ring, head, cqe) {
    uint64_t data = io_uring_cqe_get_data64(cqe);
    seen++;
    if ((uint32_t)data >= SENDS_FROM) {
      m->outgoing[(uint32_t)data - SENDS_FROM].busy = false;
      if (cqe->res < 0)
        orr_udp_unsent(m->relay->links[data >> 32], -cqe->res);
      continue;
    }
    received(m, (int)data, cqe);
    if (!(cqe->flags & IORING_CQE_F_MORE)) /* it ended: out of buffers, or an error of the peer's port */
      receive_on(m, (int)data);
  }
  io_uring_cq_advance(&m->ring, seen);
  return seen > 0;
}

/* What a round may meet and the next one need not. */
static bool is_passing(int error) { return error == -ETIME || error == -EINTR || error == -EAGAIN || error == -EBUSY; }

static void run_uring(struct mover *m) {
  int64_t busy_ns = orr_clock_now_ns();
  for (int i = 0; i < m->relay->count; i++)
    receive_on(m, i);
  while (!atomic_load_explicit(&m->relay->stop, memory_order_relaxed)) {
    bool busy = send_all(m);
    int64_t now_ns = orr_clock_now_ns();
    struct __kernel_timespec timer = {.tv_nsec = TIMER_NS};
    struct io_uring_cqe *cqe;
    int error = busy || now_ns - busy_ns <= SPIN_NS ? io_uring_submit_and_get_events(&m->ring)
                                                    : io_uring_submit_and_wait_timeout(&m->ring, &cqe, 1, &timer, NULL);
    if (error < 0 && !is_passing(error)) {
      atomic_store_explicit(&m->relay->failed, -error, memory_order_relaxed);
      return;
    }
    if (complete(m) || busy)
      busy_ns = orr_clock_now_ns();
    rest_if_due(m);
  }
}

/* What the kernel must have; with what is missing in `note`. */
static bool set_up_uring(struct mover *m) {
  struct orr_relay *r = m->relay;
  struct io_uring_params full = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN}, bare = {0};
  int fds[ORR_RELAY_LINKS_MAX], error = io_uring_queue_init_params(4 * SENDS, &m->ring, &full);
  if (error == -EINVAL)
    error = io_uring_queue_init_params(4 * SENDS, &m->ring, &bare);
  if (error) {
    snprintf(r->note, sizeof r->note, "plain sockets: no io_uring (%s)", strerror(-error));
    return false;
  }
  for (int i = 0; i < r->count; i++)
    fds[i] = r->links[i]->fd;
  m->registered = io_uring_register_files(&m->ring, fds, (unsigned)r->count) == 0;
  m->buffers = aligned_alloc(4096, BUFFERS * sizeof(struct io_uring_buf));
  m->memory = malloc((size_t)BUFFERS * BUFFER_BYTES);
  struct io_uring_buf_reg reg = {.ring_addr = (uint64_t)(uintptr_t)m->buffers, .ring_entries = BUFFERS};
  if (m->buffers)
    memset(m->buffers, 0, BUFFERS * sizeof(struct io_uring_buf));
  error = m->buffers && m->memory ? io_uring_register_buf_ring(&m->ring, &reg, 0) : -ENOMEM;
  if (error) {
    snprintf(r->note, sizeof r->note, "plain sockets: io_uring has no ring of buffers (%s)", strerror(-error));
    io_uring_queue_exit(&m->ring);
    return false;
  }
  io_uring_buf_ring_init(m->buffers);
  for (int i = 0; i < BUFFERS; i++)
    io_uring_buf_ring_add(m->buffers, m->memory + (size_t)i * BUFFER_BYTES, BUFFER_BYTES, (unsigned short)i,
                          io_uring_buf_ring_mask(BUFFERS), i);
  io_uring_buf_ring_advance(m->buffers, BUFFERS);
  m->receive = (struct msghdr){.msg_namelen = sizeof(struct sockaddr_in)};
  return true;
}

/* ---- the thread -------------------------------------------------------------------------------------------------------- */

static void say_good_bye(struct mover *m) {
  for (int i = 0; i < m->relay->count; i++) {
    struct orr_udp *u = m->relay->links[i];
    uint8_t *packet = m->scratch;
    for (size_t bytes; (bytes = orr_udp_send(u, &m->piece[i], packet)) > 0;)
      send_plain(u, &u->peer, packet, bytes);
    size_t bytes = orr_udp_farewell(u, packet);
    for (int k = 0; bytes && k < FAREWELLS; k++)
      send_plain(u, &u->peer, packet, bytes);
  }
}

static void *run(void *user) {
  struct mover m = {.relay = user};
  m.outgoing = calloc(SENDS, sizeof *m.outgoing);
  m.scratch = malloc(ORR_WIRE_PACKET_MAX);
  if (!m.outgoing || !m.scratch)
    abort();
  bool uring = !m.relay->plain && set_up_uring(&m);
  m.relay->plain = !uring;
  take_priority(m.relay);
  pthread_barrier_wait(&m.relay->ready);
  if (uring) {
    run_uring(&m);
    io_uring_queue_exit(&m.ring); /* takes back what is on its way before the memory goes */
  } else {
    run_plain(&m);
  }
  say_good_bye(&m);
  free(m.buffers);
  free(m.memory);
  free(m.outgoing);
  free(m.scratch);
  return NULL;
}

static int start_thread(struct orr_relay *r, int avoid_core) {
  pthread_attr_t attributes;
  cpu_set_t cores;
  pthread_attr_init(&attributes);
  if (avoid_core >= 0 && sched_getaffinity(0, sizeof cores, &cores) == 0) {
    CPU_CLR((size_t)avoid_core, &cores);
    if (CPU_COUNT(&cores) > 0)
      pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
  }
  /* signals are the main thread's */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&r->thread, &attributes, run, r);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

int orr_relay_start(struct orr_relay *r, int avoid_core) {
  pthread_barrier_init(&r->ready, NULL, 2);
  int error = start_thread(r, avoid_core);
  r->running = error == 0;
  if (r->running)
    pthread_barrier_wait(&r->ready);
  return error;
}

void orr_relay_stop(struct orr_relay *r) {
  if (!r->running)
    return;
  atomic_store(&r->stop, 1);
  pthread_join(r->thread, NULL);
  pthread_barrier_destroy(&r->ready);
  r->running = false;
}
