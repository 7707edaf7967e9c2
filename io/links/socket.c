/* How the executive's end of a link over UDP gets its socket, and gives it back. What comes and goes there is
 * io/links/packets.c's. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/links/arrival.h"
#include "io/links/owner.h"
#include "io/links/udp.h"
#include "rt/tick/clock.h"

/* The kernel takes an io_uring down in its own time, and with it lets go of the port of the run before. On a busy
 * machine that takes more than the half second that a port is waited for whose process still lives. */
static int bind_in_time(int fd, const struct sockaddr_in *address) {
  enum { TRIES = 50, TRIES_ORPHAN = 500, NAP_NS = 10000000 };
  for (int i = 0;; i++) {
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0)
      return 0;
    if (errno != EADDRINUSE)
      return errno;
    if (i >= TRIES_ORPHAN ||
        (i >= TRIES && orr_owner_of_port(ntohl(address->sin_addr.s_addr), ntohs(address->sin_port)) != 0))
      return EADDRINUSE;
    orr_clock_sleep_until(orr_clock_now_ns() + NAP_NS);
  }
}

static int bound(const struct sockaddr_in *address) {
  enum { ROOM = 1 << 20 };
  int room = ROOM, fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -errno;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  orr_arrival_ask(fd);
  int error = bind_in_time(fd, address);
  if (error == 0)
    return fd;
  close(fd);
  return -error;
}

static struct sockaddr_in address_of(const struct orr_run_address *a) {
  struct sockaddr_in out = {.sin_family = AF_INET, .sin_port = htons(a->port)};
  out.sin_addr.s_addr = htonl(a->ip);
  return out;
}

int orr_udp_prepare(struct orr_udp *u, const struct orr_run_link *desc, const struct orr_layout *layout,
                    int64_t step_ns) {
  *u = (struct orr_udp){
      .packets = {.base = {.kind = &orr_carrier_udp, .desc = desc, .layout = layout}, .mover = &orr_udp_mover},
      .fd = -1};
  if (desc->peer.port)
    u->packets.told = u->packets.peer = (struct orr_sender){desc->peer.ip, desc->peer.port};
  return orr_packets_make(&u->packets, step_ns);
}

int orr_udp_open(struct orr_udp *u, const struct orr_run_link *desc, const struct orr_layout *layout, int64_t step_ns) {
  int error = orr_udp_prepare(u, desc, layout, step_ns);
  if (error)
    return error;
  struct sockaddr_in here = address_of(&desc->listen);
  u->fd = bound(&here);
  error = u->fd < 0 ? -u->fd : 0;
  if (error)
    orr_udp_close(u);
  return error;
}

void orr_udp_close(struct orr_udp *u) {
  if (u->fd >= 0)
    close(u->fd);
  u->fd = -1;
  orr_packets_free(&u->packets);
}

uint64_t orr_udp_overflow(const struct orr_udp *u) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t size = sizeof info;
  return u->fd >= 0 && getsockopt(u->fd, SOL_SOCKET, SO_MEMINFO, info, &size) == 0 ? info[SK_MEMINFO_DROPS] : 0;
}
