/* How the executive's end of a link over UDP gets its memory and its socket, and gives them back. What comes and goes
 * there is io/links/udp.c's. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/links/directory.h"
#include "io/links/udp.h"
#include "rt/tick/clock.h"

static size_t out_words(const struct orr_udp *u) {
  return ORR_WIRE_OUT_WORDS + orr_wire_words(u->base.layout->telemetry.bytes);
}

static bool describe(struct orr_udp *u, int64_t step_ns) {
  struct orr_wire_header h = orr_directory_header(u->base.layout, step_ns, u->base.desc->divisor);
  h.magic = ORR_WIRE_MAGIC;
  h.telemetry_id = u->base.desc->telemetry_id;
  h.command_id = u->base.desc->command_id;
  h.packet_max = u->base.desc->packet_max;
  u->run = (uint32_t)h.run;
  size_t skipped = h.directory_at - sizeof h; /* the words of run and peer */
  u->description_bytes = h.names_at + h.names_bytes;
  u->description = calloc(1, u->description_bytes + 8);
  if (!u->description)
    return false;
  orr_directory_write(u->base.layout, &h, (char *)u->description);
  memmove(u->description + sizeof h, u->description + h.directory_at, u->description_bytes - h.directory_at);
  u->description_bytes -= skipped;
  h.segment_bytes = u->description_bytes;
  h.directory_at -= (uint32_t)skipped;
  h.names_at -= (uint32_t)skipped;
  memcpy(u->description, &h, sizeof h);
  u->description_piece = orr_wire_piece_bytes(ORR_WIRE_DESCRIPTION_ID, u->description_bytes, h.packet_max);
  return true;
}

/* The rings, and the places of payloads: one in each slot, and those where the relay gathers. All is touched here. */
static bool make_rings(struct orr_udp *u) {
  size_t out = 8 * out_words(u), words = orr_wire_words(u->base.layout->commands.bytes) + 1;
  size_t payloads = (8 * words * (ORR_UDP_IN_SLOTS + ORR_UDP_GATHERINGS) + 63) / 64 * 64,
         in = sizeof(struct orr_udp_command);
  u->out_memory = aligned_alloc(64, (orr_ring_size(ORR_UDP_OUT_SLOTS, out) + 63) / 64 * 64);
  u->in_memory = aligned_alloc(64, (orr_ring_size(ORR_UDP_IN_SLOTS, in) + 63) / 64 * 64);
  u->payloads = aligned_alloc(64, payloads);
  u->aside[0] = calloc(2 * out_words(u), 8);
  if (!u->out_memory || !u->in_memory || !u->payloads || !u->aside[0])
    return false;
  u->aside[1] = u->aside[0] + out_words(u);
  memset(u->payloads, 0, payloads);
  if (!orr_ring_init(&u->out, u->out_memory, ORR_UDP_OUT_SLOTS, out) ||
      !orr_ring_init(&u->in, u->in_memory, ORR_UDP_IN_SLOTS, in))
    return false;
  struct orr_udp_command *slots = u->in_memory;
  for (size_t i = 0; i < ORR_UDP_IN_SLOTS; i++)
    slots[i].payload = u->payloads + i * words;
  for (size_t i = 0; i < ORR_UDP_GATHERINGS; i++)
    u->gathering[i] =
        (struct orr_udp_gathering){.gather.key = UINT64_MAX, .payload = u->payloads + (ORR_UDP_IN_SLOTS + i) * words};
  return true;
}

/* The kernel takes an io_uring down in its own time, and with it lets go of the port of the run before. */
static int bind_in_time(int fd, const struct sockaddr_in *address) {
  enum { TRIES = 50, NAP_NS = 10000000 };
  for (int i = 0;; i++) {
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0)
      return 0;
    if (errno != EADDRINUSE || i == TRIES)
      return errno;
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
  *u = (struct orr_udp){.base = {.kind = &orr_carrier_udp, .desc = desc, .layout = layout},
                        .fd = -1,
                        .newest = ORR_WIRE_NONE,
                        .applied = ORR_WIRE_NONE};
  u->period_ns = step_ns * desc->divisor;
  u->out_cut = orr_wire_cut(desc->telemetry_id, layout->telemetry.bytes, desc->packet_max);
  u->in_cut = orr_wire_cut(desc->command_id, layout->commands.bytes, desc->packet_max);
  if (u->out_cut.pieces > ORR_WIRE_PIECES_MAX || u->in_cut.pieces > ORR_WIRE_PIECES_MAX)
    return EMSGSIZE;
  if (desc->peer.port)
    u->peer = address_of(&desc->peer);
  int error = 0;
  u->seal = desc->key_file ? orr_seal_make(desc->key_file, &error) : NULL;
  if (error)
    return error;
  if (describe(u, step_ns) && make_rings(u))
    return 0;
  orr_udp_close(u);
  return ENOMEM;
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
  orr_seal_free(u->seal);
  u->seal = NULL;
  free(u->description);
  free(u->out_memory);
  free(u->in_memory);
  free(u->payloads);
  free(u->aside[0]);
  u->fd = -1;
  u->description = NULL;
  u->out_memory = u->in_memory = NULL;
  u->payloads = NULL;
  u->last[0] = u->last[1] = u->aside[0] = u->aside[1] = NULL;
}

uint64_t orr_udp_overflow(const struct orr_udp *u) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t size = sizeof info;
  return u->fd >= 0 && getsockopt(u->fd, SOL_SOCKET, SO_MEMINFO, info, &size) == 0 ? info[SK_MEMINFO_DROPS] : 0;
}
