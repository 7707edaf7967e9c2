#include "io/links/packets/can.h"
#include "io/links/packets/arrival.h"

#include <assert.h>
#include <errno.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/links/packets/relay.h"
#include "rt/tick/clock.h"

/* ---- frames ------------------------------------------------------------------------------------------------------ */

size_t orr_can_frame(const uint8_t *packet, size_t bytes, bool fd, struct canfd_frame *out) {
  size_t data = bytes - ORR_CAN_HEAD, most = fd ? CANFD_MAX_DLEN : CAN_MAX_DLEN;
  if (bytes < ORR_CAN_HEAD || data > most)
    return 0;
  memset(out, 0, sizeof *out);
  out->can_id = (canid_t)orr_wire_get_big(packet, ORR_CAN_HEAD);
  out->len = (uint8_t)data;
  out->flags = fd ? CANFD_BRS : 0;
  memcpy(out->data, packet + ORR_CAN_HEAD, data);
  return fd ? CANFD_MTU : CAN_MTU;
}

static void note_error(struct orr_can *c, uint32_t class) {
  atomic_fetch_add_explicit(&c->error_frames, 1, memory_order_relaxed);
  if (class & CAN_ERR_BUSOFF)
    atomic_fetch_add_explicit(&c->bus_off, 1, memory_order_relaxed);
}

size_t orr_can_take(struct orr_can *c, const uint8_t *bytes, size_t count, uint8_t *reply) {
  struct canfd_frame frame = {0};
  uint8_t packet[ORR_CAN_HEAD + CANFD_MAX_DLEN];
  if (count != CAN_MTU && count != CANFD_MTU)
    return orr_packets_refuse(&c->packets, ORR_REFUSAL_MALFORMED);
  memcpy(&frame, bytes, count);
  if (frame.can_id & CAN_ERR_FLAG) {
    note_error(c, frame.can_id);
    return 0;
  }
  if (frame.len > (count == CAN_MTU ? CAN_MAX_DLEN : CANFD_MAX_DLEN))
    return orr_packets_refuse(&c->packets, ORR_REFUSAL_MALFORMED);
  if (frame.can_id & CAN_RTR_FLAG) /* it has no data */
    return orr_packets_refuse(&c->packets, ORR_REFUSAL_OTHER_ID);
  for (int i = 0; i < ORR_CAN_HEAD; i++)
    packet[i] = (uint8_t)(frame.can_id >> (24 - 8 * i));
  memcpy(packet + ORR_CAN_HEAD, frame.data, frame.len);
  return orr_packets_receive(&c->packets, ORR_SENDER_ONLY, packet, ORR_CAN_HEAD + (size_t)frame.len, reply);
}

/* ---- the io thread ----------------------------------------------------------------------------------------------- */

static struct orr_can *can_of(struct orr_packets *k) { return (struct orr_can *)k; }

static size_t size_of(const struct orr_can *c) { return c->packets.base.desc->can_fd ? CANFD_MTU : CAN_MTU; }

/* False while the bus takes no more: the queue of its interface is short. */
static bool send_frame(struct orr_can *c, const struct canfd_frame *frame) {
  if (write(c->fd, frame, size_of(c)) >= 0)
    return true;
  if (errno == ENOBUFS || errno == EAGAIN || errno == EINTR)
    return false;
  orr_packets_unsent(&c->packets, errno);
  return true;
}

static void send_waiting(struct orr_can *c) {
  while (c->count > 0 && send_frame(c, &c->waiting[c->first])) {
    c->first = (c->first + 1) % ORR_CAN_WAITING;
    c->count--;
  }
}

static void push(struct orr_packets *k, const uint8_t *packet, size_t bytes) {
  struct orr_can *c = can_of(k);
  struct canfd_frame frame;
  if (orr_can_frame(packet, bytes, k->base.desc->can_fd, &frame) == 0) {
    orr_packets_unsent(k, EMSGSIZE);
    return;
  }
  send_waiting(c);
  if (c->count == 0 && send_frame(c, &frame))
    return;
  if (c->count == ORR_CAN_WAITING)
    orr_packets_unsent(k, ENOBUFS);
  else
    c->waiting[(c->first + c->count++) % ORR_CAN_WAITING] = frame;
}

/* When what came was stamped, and how long it lay in the socket. */
static void note_arrival(struct orr_can *c, struct msghdr *m) {
  c->packets.arrived_ns = orr_arrival_of_message(m);
  int64_t lay_ns = orr_clock_now_ns() - c->packets.arrived_ns;
  if (lay_ns > atomic_load_explicit(&c->waited_ns, memory_order_relaxed))
    atomic_store_explicit(&c->waited_ns, lay_ns, memory_order_relaxed);
}

static bool pull(struct orr_packets *k, uint8_t *scratch, uint8_t *reply) {
  enum { AT_A_TIME = 64 };
  struct orr_can *c = can_of(k);
  int taken = 0;
  send_waiting(c);
  for (; taken < AT_A_TIME; taken++) {
    _Alignas(struct cmsghdr) char stamps[ORR_ARRIVAL_ROOM];
    struct iovec piece = {scratch, CANFD_MTU};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = stamps, .msg_controllen = sizeof stamps};
    ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT);
    if (n < 0 && errno == ENETDOWN) /* said once; it goes on when the interface is up again */
      atomic_fetch_add_explicit(&c->downs, 1, memory_order_relaxed);
    if (n <= 0)
      break;
    note_arrival(c, &m);
    size_t answer = orr_can_take(c, scratch, (size_t)n, reply);
    if (answer)
      push(k, reply, answer);
  }
  return taken > 0 || c->count > 0;
}

static int watch(struct orr_packets *k, struct pollfd *out) {
  out[0] = (struct pollfd){.fd = can_of(k)->fd, .events = POLLIN};
  return 1;
}

static const struct orr_packets_mover mover = {.watch = watch, .pull = pull, .push = push};

/* ---- the socket -------------------------------------------------------------------------------------------------- */

/* The identifiers of commands, each once or more. */
static int filter(int fd, const struct orr_run_layout *layout) {
  struct can_filter all[ORR_TELEGRAMS_MAX] = {{0}};
  socklen_t n = 0;
  for (int i = 0; i < layout->count; i++) {
    const struct orr_run_telegram *t = &layout->telegrams[i];
    canid_t bits = t->id & CAN_EFF_FLAG ? CAN_EFF_MASK : CAN_SFF_MASK;
    if (t->command)
      all[n++] = (struct can_filter){t->id, bits | CAN_EFF_FLAG | CAN_RTR_FLAG};
  }
  return setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FILTER, all, n * (socklen_t)sizeof *all);
}

/* What the interface is good for; 0 or an errno. */
static int judge_interface(int fd, const struct orr_run_link *desc) {
  struct ifreq r = {0};
  snprintf(r.ifr_name, sizeof r.ifr_name, "%s", desc->interface);
  if (ioctl(fd, SIOCGIFMTU, &r) != 0)
    return errno;
  if (r.ifr_mtu != CANFD_MTU && desc->can_fd)
    return EPROTONOSUPPORT;
  if (ioctl(fd, SIOCGIFFLAGS, &r) != 0)
    return errno;
  return r.ifr_flags & IFF_UP ? 0 : ENETDOWN;
}

static int set_up(int fd, const struct orr_run_link *desc) {
  enum { ROOM = 1 << 20 };
  const int on = 1, room = ROOM;
  const can_err_mask_t errors = CAN_ERR_MASK;
  struct sockaddr_can here = {.can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(desc->interface)};
  if (here.can_ifindex == 0)
    return ENODEV;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  int error = judge_interface(fd, desc);
  if (error)
    return error;
  if ((desc->can_fd && setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) != 0) ||
      filter(fd, desc->layout) != 0 || setsockopt(fd, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, &errors, sizeof errors) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
    return errno;
  return bind(fd, (const struct sockaddr *)&here, sizeof here) == 0 ? 0 : errno;
}

/* ---- the carrier ------------------------------------------------------------------------------------------------- */

struct orr_can *orr_can_of(struct orr_carrier *c) {
  assert(c->kind == &orr_carrier_can);
  return (struct orr_can *)c;
}

static void lay_out(struct orr_carrier *carrier, const struct orr_run_link *desc, const struct orr_channel_table *table,
                    struct orr_block *block) {
  (void)desc;
  (void)table;
  (void)block;
  if (carrier)
    *orr_can_of(carrier) = (struct orr_can){.packets.base = *carrier, .fd = -1};
}

static void close_socket(struct orr_carrier *carrier) {
  struct orr_can *c = orr_can_of(carrier);
  if (c->fd >= 0)
    close(c->fd);
  c->fd = -1;
  orr_packets_free(&c->packets);
}

static int open_socket(struct orr_carrier *carrier, int64_t step_ns) {
  struct orr_can *c = orr_can_of(carrier);
  const struct orr_carrier base = c->packets.base;
  *c = (struct orr_can){
      .packets = {.base = {.kind = base.kind, .desc = base.desc, .layout = base.layout}, .mover = &mover}, .fd = -1};
  atomic_store(&c->packets.base.shut, atomic_load(&base.shut));
  c->packets.told = c->packets.peer = ORR_SENDER_ONLY; /* the bus, whoever listens */
  int error = orr_packets_make(&c->packets, step_ns);
  if (error)
    return error;
  c->fd = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CAN_RAW);
  error = c->fd < 0 ? errno : set_up(c->fd, base.desc);
  if (error)
    close_socket(carrier);
  return error;
}

static bool join(struct orr_carrier *c, struct orr_relay *relay) { return orr_relay_add(relay, orr_packets_of(c)); }

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  snprintf(text, size, "can:%s%s", desc->interface, desc->can_fd ? ",fd" : "");
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  const char *i = desc->interface;
  if (error == EAFNOSUPPORT)
    snprintf(text, size, "this kernel has no CAN: modprobe can_raw, as root");
  else if (error == EPROTONOSUPPORT)
    snprintf(text, size, "'%s' has no CAN FD: a bus takes it by 'fd on' of ip link, vcan by 'mtu 72'", i);
  else if (error == ENODEV)
    snprintf(text, size,
             "there is no interface '%s'; 'ip link' names them. One without a bus: ip link add dev %s type vcan", i, i);
  else if (error == ENETDOWN)
    snprintf(text, size,
             "the interface '%s' is down: ip link set %s up (a bus has a bit rate: type can bitrate 500000)", i, i);
  else
    snprintf(text, size, "%s", strerror(error));
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  int said = snprintf(text, size, "CAN%s, interface %s. Each packet below is the data of a frame with its identifier. ",
                      desc->can_fd ? " FD" : "", desc->interface);
  if (said > 0 && (size_t)said < size)
    orr_form_of(desc)->document(desc, h, "frame", text + said, size - (size_t)said);
}

static struct orr_link_losses losses(const struct orr_carrier *carrier) {
  const struct orr_can *c = (const struct orr_can *)carrier;
  struct orr_link_losses out = orr_packets_kind_losses(carrier);
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t size = sizeof info;
  if (c->fd >= 0 && getsockopt(c->fd, SOL_SOCKET, SO_MEMINFO, info, &size) == 0)
    out.not_received = info[SK_MEMINFO_DROPS];
  out.error_frames = atomic_load(&c->error_frames);
  out.bus_off = atomic_load(&c->bus_off);
  out.downs = atomic_load(&c->downs);
  out.lay_ns = atomic_load(&c->waited_ns);
  return out;
}

const struct orr_carrier_kind orr_carrier_can = {
    ORR_PACKETS_CALLBACKS,     .name = "can",
    .outside = true,           .handover_ns = 100000,
    .first_wait_ns = 20000000, .bytes = sizeof(struct orr_can),
    .lay_out = lay_out,        .open = open_socket,
    .close = close_socket,     .join = join,
    .describe = describe,      .explain = explain,
    .document = document,      .losses = losses,
};
