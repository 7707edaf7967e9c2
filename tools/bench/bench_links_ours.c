/* Our links as `orrery bench --links` measures them: a port as a session has it, a peer made of io/client. */
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/client/client.h"
#include "io/links/packets/relay.h"
#include "io/links/port.h"
#include "rt/tick/clock.h"
#include "tools/bench/bench_links.h"

enum { CHANNELS = 2, OPEN_MS = 5000 };

struct link_path {
  struct orr_links_path path;
  struct orr_run_link desc;
  struct orr_channel channels[CHANNELS];
  struct orr_channel_table table;
  struct orr_block block;
  struct orr_port port;
  struct orr_relay relay;
  uint32_t allow[1];
  double values[ORR_LINKS_OUT + ORR_LINKS_IN];
  char url[80], message[200];
};

static const int telemetry[] = {0}, commands[] = {1};

static _Noreturn void peer(const struct link_path *l, const struct orr_links_conditions *conditions,
                           struct orr_links_slice *slice) {
  struct orr_client c;
  /* where there is an io thread it has the same core, so the peer sleeps on its socket */
  enum orr_client_how how = orr_carrier_kind(l->desc.transport)->join ? ORR_CLIENT_FUTEX : ORR_CLIENT_SPIN;
  if (orr_client_open(&c, l->url, OPEN_MS) != 0)
    _exit(1);
  while (orr_client_wait(&c, how, OPEN_MS) == 1) {
    if (slice)
      orr_links_arrived(slice, conditions, c.frame.number, c.frame.time_ns);
    orr_client_send(&c);
  }
  _exit(0);
}

/* A port that was free a moment ago. */
static uint16_t free_port(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof a) != 0 ||
      getsockname(fd, (struct sockaddr *)&a, &size) != 0)
    a.sin_port = 0;
  close(fd);
  return ntohs(a.sin_port);
}

static void describe(struct link_path *l, enum orr_transport transport) {
  l->channels[0] = (struct orr_channel){.name = "sensors.all", .unit = "", .count = ORR_LINKS_OUT};
  l->channels[1] = (struct orr_channel){.name = "actuators.all",
                                        .unit = "",
                                        .direction = ORR_CHANNEL_COMMAND,
                                        .count = ORR_LINKS_IN,
                                        .low = -HUGE_VAL,
                                        .high = HUGE_VAL,
                                        .offset = ORR_LINKS_OUT};
  l->table = (struct orr_channel_table){.channels = l->channels, .count = CHANNELS};
  l->allow[0] = INADDR_LOOPBACK;
  l->desc = (struct orr_run_link){.name = "bench",
                                  .transport = transport,
                                  .divisor = 1,
                                  .telemetry_count = 1,
                                  .command_count = 1,
                                  .telemetry = telemetry,
                                  .commands = commands,
                                  .wait_ns = INT64_C(1000000) * OPEN_MS,
                                  .listen = {INADDR_LOOPBACK, 0},
                                  .allow = l->allow,
                                  .allow_count = 1,
                                  .telemetry_id = 0x0e80,
                                  .command_id = 0x1e80,
                                  .packet_max = 1472};
}

static const char *open_link(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                             struct orr_links_slice *slice) {
  struct link_path *l = (struct link_path *)path;
  l->block.base = NULL;
  snprintf(l->url, sizeof l->url, "shm:/orrery.bench.%d", (int)getpid());
  l->desc.name_shm = l->url + 4;
  if (orr_carrier_kind(l->desc.transport)->packets) {
    l->desc.listen.port = free_port();
    snprintf(l->url, sizeof l->url, "udp:127.0.0.1:%u", (unsigned)l->desc.listen.port);
  }
  struct orr_block measuring = {0};
  const struct orr_carrier_kind *kind = orr_carrier_kind(l->desc.transport);
  orr_port_init(&l->port, &l->desc, kind, &l->table, &measuring);
  l->block = (struct orr_block){.base = aligned_alloc(ORR_ALIGNMENT, measuring.used), .size = measuring.used};
  if (!l->block.base)
    return "out of memory";
  orr_port_init(&l->port, &l->desc, kind, &l->table, &l->block);
  if (!orr_port_open(&l->port, conditions->period_ns, false, l->message, sizeof l->message))
    return l->message;
  path->peer = orr_links_fork(conditions);
  if (path->peer == 0)
    peer(l, conditions, slice);
  if (path->peer < 0)
    return "no process for the peer";
  l->relay = (struct orr_relay){.priority = conditions->relay_priority};
  if (!orr_port_join(&l->port, &l->relay, l->message, sizeof l->message))
    return l->message;
  if (l->relay.count > 0 && orr_relay_start(&l->relay, conditions->core) != 0)
    return "no thread for the relay";
  return orr_port_wait_for_peer(&l->port, orr_clock_now_ns()) ? NULL : "the peer does not come";
}

static void publish_link(struct orr_links_path *path, int64_t frame, int64_t tick_ns) {
  struct link_path *l = (struct link_path *)path;
  orr_port_publish(&l->port, frame, tick_ns, l->values);
}

/* The answer is here, judged, and waits for its frame. */
static bool answered(struct orr_links_path *path, int64_t frame) {
  struct link_path *l = (struct link_path *)path;
  l->port.carrier->kind->take(l->port.carrier, &l->port.rules);
  return l->port.rules.next.answers == frame;
}

static void latch_link(struct orr_links_path *path, int64_t frame) {
  struct link_path *l = (struct link_path *)path;
  orr_port_latch(&l->port, frame, l->values);
}

static void close_link(struct orr_links_path *path) {
  struct link_path *l = (struct link_path *)path;
  orr_relay_stop(&l->relay); /* says good-bye */
  if (l->block.base)
    orr_port_close(&l->port);
  orr_links_reap(&path->peer, true);
  free(l->block.base);
  l->block.base = NULL;
}

static struct orr_links_path *make(enum orr_transport transport) {
  struct link_path *l = aligned_alloc(64, (sizeof *l + 63) / 64 * 64); /* the rings have lines of their own */
  if (!l)
    return NULL;
  memset(l, 0, sizeof *l);
  describe(l, transport);
  l->path = (struct orr_links_path){
      .open = open_link, .publish = publish_link, .answered = answered, .latch = latch_link, .close = close_link};
  return &l->path;
}

struct orr_links_path *orr_path_link_shm(void) {
  return make(ORR_TRANSPORT_SHM);
}
struct orr_links_path *orr_path_link_udp(void) {
  return make(ORR_TRANSPORT_UDP);
}
