/* The carrier `tcp`: a link over a connection, that the flight software makes to us (`listen`) or that we make to it
 * (`connect`), again and again. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/links/carriers/owner.h"
#include "io/links/packets/cable.h"
#include "io/wire/key.h"

static struct sockaddr_in address_of(const struct orr_run_address *a) {
  struct sockaddr_in out = {.sin_family = AF_INET, .sin_port = htons(a->port)};
  out.sin_addr.s_addr = htonl(a->ip);
  return out;
}

static void hurry(int fd) { setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); }

static bool may_stay(const struct orr_cable *l, int fd) {
  const struct orr_run_link *desc = l->packets.base.desc;
  struct sockaddr_in from = {0};
  socklen_t size = sizeof from;
  if (getpeername(fd, (struct sockaddr *)&from, &size) != 0)
    return false;
  hurry(fd);
  for (int i = 0; i < desc->allow_count; i++)
    if (desc->allow[i] == ntohl(from.sin_addr.s_addr))
      return true;
  return false;
}

static int reach(struct orr_cable *l) {
  enum { MOST_MS = 100 };
  const struct sockaddr_in to = address_of(&l->packets.base.desc->connect);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
  if (fd < 0)
    return -errno;
  if (connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
    error = errno;
  struct pollfd one = {.fd = fd, .events = POLLOUT};
  socklen_t size = sizeof error;
  if (!error && poll(&one, 1, MOST_MS) != 1)
    error = ETIMEDOUT;
  if (!error && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    error = errno;
  if (error) {
    close(fd);
    return -error;
  }
  hurry(fd);
  return fd;
}

static const struct orr_cable_way coming = {.may_stay = may_stay}, going = {.reach = reach};

static int listen_there(const struct orr_run_address *where) {
  const struct sockaddr_in here = address_of(where);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -errno;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)); /* connections of the run before linger */
  if (bind(fd, (const struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 4) == 0)
    return fd;
  int error = errno;
  close(fd);
  return -error;
}

static int open_socket(struct orr_carrier *c, int64_t step_ns) {
  struct orr_cable *l = orr_cable_of(c);
  bool server = c->desc->connect.port == 0;
  int error = orr_cable_prepare(l, server ? &coming : &going, step_ns);
  if (error)
    return error;
  l->listener = server ? listen_there(&c->desc->listen) : -1;
  error = server && l->listener < 0 ? -l->listener : orr_cable_start(l);
  if (error)
    orr_cable_close(l);
  return error;
}

static void describe(const struct orr_run_link *desc, char *text, size_t size) {
  const struct orr_run_address *a = desc->connect.port ? &desc->connect : &desc->listen;
  snprintf(text, size, "tcp:%u.%u.%u.%u:%u", a->ip >> 24, a->ip >> 16 & 255, a->ip >> 8 & 255, a->ip & 255,
           (unsigned)a->port);
}

static void explain(const struct orr_run_link *desc, int error, char *text, size_t size) {
  uint8_t key[ORR_WIRE_KEY_BYTES];
  if (error == EADDRINUSE)
    orr_carrier_taken(desc, "another run or program", 0, "listen=ADDRESS:PORT", "PORT=N", text, size);
  else if (!desc->key_file || orr_wire_key_read(desc->key_file, key, text, size) == 0)
    snprintf(text, size, "%s", strerror(error));
  orr_wire_key_forget(key, sizeof key);
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, char *text, size_t size) {
  char where[60];
  describe(desc, where, sizeof where);
  int said = snprintf(text, size, "TCP: the %s %s %s; one connection at a time, both ways. ",
                      desc->connect.port ? "run connects to" : "flight software connects to", where + 4,
                      desc->connect.port ? "again and again" : "when it likes");
  if (said > 0 && (size_t)said < size)
    orr_cable_document(desc, h, text + said, size - (size_t)said);
}

const struct orr_carrier_kind orr_carrier_tcp = {
    ORR_CABLE_CALLBACKS,  .name = "tcp",      .open = open_socket,
    .describe = describe, .explain = explain, .document = document,
};
