#include "io/links/packets/relay.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "io/links/packets/arrival.h"
#include "io/links/packets/sandbox.h"
#include "io/links/packets/udp.h"
#include "rt/tick/clock.h"

enum {
  SPIN_NS = 30000,   /* what came may bring forth a frame at once (lockstep): looks so long before it sleeps */
  EARLY_NS = 60000,  /* and so long before a frame is due: more than a wake-up takes */
  TIMER_NS = 100000, /* looks at the rings so often where it does not know when a frame is due, or one is overdue */
  LONG_NS = 5000000, /* and else so often, in case it shall stop */
  SHARE = 8,         /* of a period, at most: each of the first two */
  ALARMS = 2,
  NEAR_NS = 20000, /* two alarms that are so near are one */
  ABSENT = 4,      /* periods after which it no longer expects a frame */
  SENDS = 64,      /* packets on their way at a time */
  BUFFERS = 256,   /* for what comes: a power of two */
  BUFFER_BYTES = (int)sizeof(struct io_uring_recvmsg_out) + (int)sizeof(struct sockaddr_in) + (int)ORR_ARRIVAL_ROOM +
                 ORR_WIRE_PACKET_MAX,
  FAREWELLS = 20,         /* at most, */
  FAREWELL_NS = 10000000, /* so far apart */
  STRETCH_NS = 400000,    /* at a real-time priority, looks so often at how busy it was; */
  REST_MOST_NS = 250000,
};

/* A packet on its way out; the kernel reads it until its completion comes. */
struct outgoing {
  struct msghdr message;
  struct iovec piece;
  struct sockaddr_in to;
  bool busy;
  uint8_t packet[ORR_WIRE_PACKET_MAX];
};

/* A timer of the ring. */
struct alarm {
  int64_t at_ns; /* 0: not set */
  struct __kernel_timespec at;
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
  bool tells;                /* the ring says when the kernel has something for us */
  unsigned sending;          /* sends that wait to be submitted */
  struct alarm alarms[ALARMS];
  int64_t came_ns;           /* the last datagram that no frame followed; 0: none */
  int64_t looked_ns, cpu_ns; /* when it last looked at how busy it was; its processor time then */
};

/* ---- when to look ------------------------------------------------------------------------------------------------ */

static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

/* In real time frames go out at even intervals, and nobody wakes this thread for them. */
struct outlook {
  bool now;        /* one is here, or may come any moment */
  int64_t nap_ns;  /* if not: until it is worth looking again */
  int64_t next_ns; /* until the one after that one may come */
};

static struct outlook link_outlook(const struct orr_packets *u, int64_t now_ns) {
  int64_t published_ns = atomic_load_explicit(&u->published_ns, memory_order_acquire);
  int64_t early_ns = less(EARLY_NS, u->period_ns / SHARE), late_ns = less(SPIN_NS, u->period_ns / SHARE);
  int64_t since_ns = now_ns - published_ns + early_ns, due = since_ns / u->period_ns;
  int64_t in_ns = since_ns - due * u->period_ns;
  /* looked at after the time: one that came since the last look has set it, and is not the next */
  bool here = orr_ring_used(&u->out) > 0;
  if (published_ns == 0 || due > ABSENT)
    return (struct outlook){here, TIMER_NS, TIMER_NS};
  bool overdue = due > 0 && in_ns >= early_ns + late_ns;
  return (struct outlook){here || (due > 0 && !overdue), overdue ? TIMER_NS : u->period_ns - in_ns,
                          u->period_ns - in_ns};
}

static struct outlook look_ahead(const struct mover *m, int64_t now_ns) {
  /* without a real-time priority this may be lockstep, where frames go out when the plant is ready */
  int64_t most_ns = m->relay->priority > 0 ? LONG_NS : TIMER_NS;
  struct outlook all = {now_ns - m->came_ns < SPIN_NS, most_ns, most_ns};
  for (int i = 0; i < m->relay->count; i++) {
    struct outlook one = link_outlook(m->relay->links[i], now_ns);
    all = (struct outlook){all.now || one.now, less(all.nap_ns, one.nap_ns), less(all.next_ns, one.next_ns)};
  }
  return all;
}

/* ---- the core ---------------------------------------------------------------------------------------------------- */

static int64_t cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* At a real-time priority others of the core run only while this thread sleeps, and flight software may be one of
 * them. */
static void rest_if_due(struct mover *m) {
  int64_t now_ns = orr_clock_now_ns();
  if (m->relay->priority == 0 || now_ns - m->looked_ns < STRETCH_NS)
    return;
  int64_t cpu_ns = cpu_now_ns();
  int64_t worked_ns = cpu_ns - m->cpu_ns, rest_ns = worked_ns / 4;
  if (worked_ns > (now_ns - m->looked_ns) / 4 * 3) {
    orr_clock_sleep_until(now_ns + (rest_ns < REST_MOST_NS ? rest_ns : REST_MOST_NS));
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

/* ---- plain calls ------------------------------------------------------------------------------------------------- */

/* At most so many at a time, so that one flooded link does not starve the others or what goes out. */
static bool move_plain(struct mover *m, int link) {
  enum { AT_A_TIME = 32 };
  struct orr_packets *k = m->relay->links[link];
  uint8_t *packet = m->outgoing[0].packet;
  int sent = 0;
  for (size_t bytes; sent < AT_A_TIME && (bytes = orr_packets_send(k, &m->piece[link], packet)) > 0; sent++) {
    k->mover->push(k, packet, bytes);
    m->came_ns = 0; /* what follows is the peer's, and it may need this core for it */
  }
  bool came = k->mover->pull(k, packet, m->scratch);
  if (came)
    m->came_ns = orr_clock_now_ns();
  return came || sent == AT_A_TIME;
}

static void run_plain(struct mover *m) {
  struct pollfd fds[ORR_RELAY_LINKS_MAX * ORR_PACKETS_FDS];
  while (!atomic_load_explicit(&m->relay->stop, memory_order_relaxed)) {
    bool busy = false;
    int watched = 0;
    for (int i = 0; i < m->relay->count; i++)
      busy |= move_plain(m, i);
    for (int i = 0; i < m->relay->count; i++)
      watched += m->relay->links[i]->mover->watch(m->relay->links[i], fds + watched);
    struct outlook outlook = look_ahead(m, orr_clock_now_ns());
    const struct timespec nap = {.tv_nsec = outlook.nap_ns};
    if (!busy && !outlook.now)
      ppoll(fds, (nfds_t)watched, &nap, NULL);
    rest_if_due(m);
  }
}

/* ---- io_uring ---------------------------------------------------------------------------------------------------- */

/* All links are over UDP here. */
static struct orr_udp *udp_link(const struct mover *m, int link) { return (struct orr_udp *)m->relay->links[link]; }

/* user_data: a link's receive, or SENDS_FROM + an outgoing packet, or ALARMS_FROM + an alarm. */
enum { SENDS_FROM = ORR_RELAY_LINKS_MAX, ALARMS_FROM = SENDS_FROM + SENDS };

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
  io_uring_prep_recvmsg_multishot(sqe, udp_link(m, link)->fd, &m->receive, MSG_TRUNC);
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
    orr_packets_unsent(m->relay->links[link], ENOBUFS);
    return;
  }
  o->busy = true;
  m->sending++;
  o->to = *to;
  o->piece = (struct iovec){o->packet, bytes};
  o->message = (struct msghdr){.msg_name = &o->to, .msg_namelen = sizeof o->to, .msg_iov = &o->piece, .msg_iovlen = 1};
  /* a full socket is an answer, not a wait */
  io_uring_prep_sendmsg(sqe, udp_link(m, link)->fd, &o->message, MSG_NOSIGNAL | MSG_DONTWAIT);
  on_file(m, sqe, link);
  io_uring_sqe_set_data64(sqe, SENDS_FROM + (unsigned)(o - m->outgoing) + ((unsigned long long)link << 32));
}

static void send_all(struct mover *m) {
  for (int i = 0; i < m->relay->count; i++) {
    struct orr_udp *u = udp_link(m, i);
    for (struct outgoing *o; (o = idle_outgoing(m)) != NULL;) {
      size_t bytes = orr_packets_send(&u->packets, &m->piece[i], o->packet);
      if (bytes == 0)
        break;
      const struct sockaddr_in to = orr_udp_peer(u);
      send_from(m, i, o, &to, bytes);
      m->came_ns = 0; /* what follows is the peer's, and it may need this core for it */
    }
  }
}

static int64_t arrival_of(struct mover *m, struct io_uring_recvmsg_out *out) {
  int64_t at_ns = 0;
  for (struct cmsghdr *c = io_uring_recvmsg_cmsg_firsthdr(out, &m->receive); c && at_ns == 0;
       c = io_uring_recvmsg_cmsg_nexthdr(out, &m->receive, c))
    at_ns = orr_arrival_at(c);
  return at_ns ? at_ns : orr_clock_now_ns();
}

static void received(struct mover *m, int link, const struct io_uring_cqe *cqe) {
  struct orr_udp *u = udp_link(m, link);
  if (!(cqe->flags & IORING_CQE_F_BUFFER))
    return;
  int id = (int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
  uint8_t *buffer = m->memory + (size_t)id * BUFFER_BYTES;
  struct io_uring_recvmsg_out *out = cqe->res < 0 ? NULL : io_uring_recvmsg_validate(buffer, cqe->res, &m->receive);
  struct outgoing *o = idle_outgoing(m);
  if (out && out->namelen == sizeof(struct sockaddr_in)) {
    struct sockaddr_in from;
    memcpy(&from, io_uring_recvmsg_name(out), sizeof from);
    u->packets.arrived_ns = arrival_of(m, out);
    size_t bytes = out->flags & MSG_TRUNC ? 0 : io_uring_recvmsg_payload_length(out, cqe->res, &m->receive);
    size_t answer =
        orr_udp_receive(u, &from, io_uring_recvmsg_payload(out, &m->receive), bytes, o ? o->packet : m->scratch);
    if (answer && o)
      send_from(m, link, o, &from, answer);
  }
  io_uring_buf_ring_add(m->buffers, buffer, BUFFER_BYTES, (unsigned short)id, io_uring_buf_ring_mask(BUFFERS), 0);
  io_uring_buf_ring_advance(m->buffers, 1);
}

static void complete(struct mover *m) {
  struct io_uring_cqe *cqe;
  unsigned head, seen = 0;
  bool came = false;
  io_uring_for_each_cqe(&m->ring, head, cqe) {
    uint64_t data = io_uring_cqe_get_data64(cqe);
    seen++;
    if ((uint32_t)data >= ALARMS_FROM) {
      m->alarms[(uint32_t)data - ALARMS_FROM].at_ns = 0;
      continue;
    }
    if ((uint32_t)data >= SENDS_FROM) {
      m->outgoing[(uint32_t)data - SENDS_FROM].busy = false;
      if (cqe->res < 0)
        orr_packets_unsent(m->relay->links[data >> 32], -cqe->res);
      continue;
    }
    received(m, (int)data, cqe);
    came = true;
    if (!(cqe->flags & IORING_CQE_F_MORE)) /* it ended: out of buffers, or an error of the peer's port */
      receive_on(m, (int)data);
  }
  io_uring_cq_advance(&m->ring, seen);
  if (came)
    m->came_ns = orr_clock_now_ns();
}

/* What a round may meet and the next one need not. */
static bool is_passing(int error) { return error == -ETIME || error == -EINTR || error == -EAGAIN || error == -EBUSY; }

/* Sees to it that the ring wakes us at `at_ns` or before. To set a timer of the processor costs more than all else of a
 * round trip where a hypervisor has to do it: so one that is set stays, and serves the sleeps that follow. */
static void wake_at(struct mover *m, int64_t at_ns) {
  struct alarm *idle = NULL;
  for (int i = 0; i < ALARMS; i++) {
    if (m->alarms[i].at_ns == 0)
      idle = &m->alarms[i];
    else if (m->alarms[i].at_ns <= at_ns + NEAR_NS)
      return;
  }
  struct io_uring_sqe *sqe = idle ? entry(m) : NULL;
  if (!sqe)
    return;
  idle->at_ns = at_ns;
  idle->at = (struct __kernel_timespec){at_ns / ORR_NS_PER_S, at_ns % ORR_NS_PER_S};
  io_uring_prep_timeout(sqe, &idle->at, 0, IORING_TIMEOUT_ABS);
  io_uring_sqe_set_data64(sqe, ALARMS_FROM + (unsigned)(idle - m->alarms));
}

/* Into the kernel when there is something to do there, and to sleep when there is nothing to expect. 0, or a negative
 * errno. */
static int enter(struct mover *m) {
  int64_t now_ns = orr_clock_now_ns();
  struct outlook outlook = look_ahead(m, now_ns);
  unsigned sending = m->sending;
  m->sending = 0;
  if (!outlook.now) {
    wake_at(m, now_ns + outlook.nap_ns);
    /* a send is over as soon as it was submitted: sleep until one thing more happens */
    return io_uring_submit_and_wait(&m->ring, sending + 1);
  }
  if (sending == 0)
    wake_at(m, now_ns + outlook.next_ns); /* while there is time: not between a frame and its peer */
  if (io_uring_sq_ready(&m->ring) > 0 || !m->tells || (IO_URING_READ_ONCE(*m->ring.sq.kflags) & IORING_SQ_TASKRUN))
    return io_uring_submit_and_get_events(&m->ring);
  orr_wire_pause();
  return 0;
}

static void run_uring(struct mover *m) {
  while (!atomic_load_explicit(&m->relay->stop, memory_order_relaxed)) {
    send_all(m);
    int error = enter(m);
    if (error < 0 && !is_passing(error)) {
      atomic_store_explicit(&m->relay->failed, -error, memory_order_relaxed);
      return;
    }
    complete(m);
    rest_if_due(m);
  }
}

/* Receives on all sockets. A kernel before 6.0 refuses one that goes on, and would do so for ever: 0, or a negative
 * errno. What came is not taken. */
static int start_receiving(struct mover *m) {
  struct io_uring_cqe *cqe;
  unsigned head;
  for (int i = 0; i < m->relay->count; i++)
    receive_on(m, i);
  int error = io_uring_submit_and_get_events(&m->ring);
  io_uring_for_each_cqe(&m->ring, head, cqe) {
    if (cqe->res == -EINVAL)
      error = cqe->res;
  }
  return error < 0 && !is_passing(error) ? error : 0;
}

/* What the kernel must have; with what is missing in `note`. */
static bool set_up_uring(struct mover *m) {
  struct orr_relay *r = m->relay;
  /* restrictions are for a ring that is not enabled yet */
  unsigned caged = r->loose || r->sandbox_error ? 0 : IORING_SETUP_R_DISABLED;
  struct io_uring_params full = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                                          IORING_SETUP_TASKRUN_FLAG | caged},
                         bare = {.flags = caged};
  int fds[ORR_RELAY_LINKS_MAX], error = io_uring_queue_init_params(4 * SENDS, &m->ring, &full);
  m->tells = error == 0;
  if (error == -EINVAL)
    error = io_uring_queue_init_params(4 * SENDS, &m->ring, &bare);
  if (error) {
    snprintf(r->note, sizeof r->note, "plain sockets: no io_uring (%s)", strerror(-error));
    return false;
  }
  for (int i = 0; i < r->count; i++)
    fds[i] = udp_link(m, i)->fd;
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
  m->receive = (struct msghdr){.msg_namelen = sizeof(struct sockaddr_in), .msg_controllen = ORR_ARRIVAL_ROOM};
  if (caged)
    r->sandbox_error = orr_sandbox_ring(&m->ring);
  error = start_receiving(m);
  if (error) {
    snprintf(r->note, sizeof r->note, "plain sockets: io_uring has no multishot receive (%s)", strerror(-error));
    io_uring_queue_exit(&m->ring);
  }
  return error == 0;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void say_farewell(struct orr_packets *k, uint8_t *packet) {
  size_t bytes = orr_packets_farewell(k, packet);
  if (bytes)
    k->mover->push(k, packet, bytes);
}

/* What is left, and that the run is over: again until a peer that lives has heard it, and says that it goes. */
static void say_good_bye(struct mover *m) {
  bool heard = false;
  for (int i = 0; i < m->relay->count; i++) {
    struct orr_packets *k = m->relay->links[i];
    for (size_t bytes; (bytes = orr_packets_send(k, &m->piece[i], m->scratch)) > 0;)
      k->mover->push(k, m->scratch, bytes);
  }
  for (int n = 0; n < FAREWELLS && !heard; n++) {
    heard = true;
    for (int i = 0; i < m->relay->count; i++) {
      struct orr_packets *k = m->relay->links[i];
      say_farewell(k, m->scratch);
      heard &= !orr_packets_peer_lives(k);
    }
    for (int64_t until_ns = orr_clock_now_ns() + FAREWELL_NS; !heard && orr_clock_now_ns() < until_ns;) {
      heard = true;
      for (int i = 0; i < m->relay->count; i++) {
        move_plain(m, i);
        heard &= !orr_packets_peer_lives(m->relay->links[i]);
      }
      orr_clock_sleep_until(orr_clock_now_ns() + FAREWELL_NS / 20);
    }
  }
}

static bool all_over_udp(const struct orr_relay *r) {
  bool all = true;
  for (int i = 0; i < r->count; i++)
    all &= r->links[i]->mover == &orr_udp_mover;
  return all;
}

static void *run(void *user) {
  struct mover m = {.relay = user};
  m.outgoing = calloc(SENDS, sizeof *m.outgoing);
  m.scratch = malloc(ORR_WIRE_PACKET_MAX);
  if (!m.outgoing || !m.scratch)
    abort();
  bool uring = !m.relay->plain && all_over_udp(m.relay) && set_up_uring(&m);
  m.relay->plain = !uring;
  take_priority(m.relay);
  /* all that it needs is open, and it has its priority */
  if (!m.relay->loose && m.relay->sandbox_error == 0)
    m.relay->sandbox_error = orr_sandbox_enter(ORR_SANDBOX_IO);
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

bool orr_relay_add(struct orr_relay *r, struct orr_packets *link) {
  if (r->count == ORR_RELAY_LINKS_MAX)
    return false;
  r->links[r->count++] = link;
  return true;
}

int orr_relay_start(struct orr_relay *r, int avoid_core) {
  pthread_barrier_init(&r->ready, NULL, 2);
  r->sandbox_error = r->loose ? 0 : orr_sandbox_prepare();
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
