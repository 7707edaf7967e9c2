#include "io/client/client_stream.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/wire/serial_port.h"

/* ---- to come to the run ------------------------------------------------------------------------------------------ */

/* Takes `,slip` and the like off the end of an address, word by word. */
static bool next_option(char *address, const char **word) {
  char *comma = strrchr(address, ',');
  if (!comma)
    return false;
  *comma = 0;
  *word = comma + 1;
  return true;
}

static bool read_framing(const char *word, enum orr_framing *framing) {
  bool slip = strcmp(word, "slip") == 0, cobs = strcmp(word, "cobs") == 0;
  if (slip || cobs)
    *framing = slip ? ORR_FRAMING_SLIP : ORR_FRAMING_COBS;
  return slip || cobs;
}

static int begin(struct orr_client *c, int fd, enum orr_framing framing) {
  c->fd = fd;
  c->refused = false;
  c->stream = calloc(1, sizeof *c->stream);
  if (!c->stream)
    return ENOMEM;
  c->stream->in.framing = framing;
  return 0;
}

const char *orr_client_split(const char *address, char *host, size_t size, const char **port) {
  const char *colon = strrchr(address, ':');
  if (!colon || colon == address || (size_t)(colon - address) >= size)
    return "a link over a network is udp:host:port or tcp:host:port";
  *port = colon + 1;
  size_t digits = strspn(*port, "0123456789");
  if (digits == 0 || digits > 5 || (*port)[digits] || atoi(*port) < 1 || atoi(*port) > 65535)
    return "the port is a number from 1 to 65535";
  memcpy(host, address, (size_t)(colon - address));
  host[colon - address] = 0;
  return NULL;
}

/* Nobody there yet is no mistake: it is tried again. */
static int connect_in_time(int fd, const struct sockaddr *to, socklen_t size) {
  enum { MOST_MS = 1000 };
  int error = 0;
  socklen_t bytes = sizeof error;
  if (connect(fd, to, size) != 0 && errno != EINPROGRESS)
    error = errno;
  struct pollfd one = {.fd = fd, .events = POLLOUT};
  if (!error && poll(&one, 1, MOST_MS) != 1)
    error = ENOENT;
  else if (!error && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
    error = errno;
  return error == ECONNREFUSED || error == ECONNRESET ? ENOENT : error;
}

int orr_client_stream_tcp(struct orr_client *c, const char *address, const char **why) {
  char text[300], host[256];
  const char *port, *word;
  enum orr_framing framing = ORR_FRAMING_COBS;
  snprintf(text, sizeof text, "%s", address);
  *why = NULL;
  while (!*why && next_option(text, &word))
    if (!read_framing(word, &framing))
      *why = "behind the port of a link over TCP stands ,slip or ,cobs or nothing";
  *why = *why ? *why : orr_client_split(text, host, sizeof host, &port);
  if (*why)
    return EINVAL;
  if (strchr(host, ':') || host[0] == '[') {
    *why = "links have no IPv6: give an IPv4 address or a name that has one";
    return EAFNOSUPPORT;
  }
  const struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  int status = getaddrinfo(host, port, &wanted, &found);
  if (status != 0) {
    *why = gai_strerror(status);
    return status == EAI_AGAIN ? EAGAIN : EHOSTUNREACH;
  }
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int error = fd < 0 ? errno : connect_in_time(fd, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (fd >= 0)
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  c->fd = fd; /* closed with the client */
  return error ? error : begin(c, fd, framing);
}

/* Its kind is the run's choice: messages first, then a stream. */
int orr_client_stream_unix(struct orr_client *c, const char *path, const char **why) {
  static const int kinds[] = {SOCK_SEQPACKET, SOCK_STREAM};
  enum orr_framing framing = ORR_FRAMING_COBS;
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  char text[300];
  const char *word;
  snprintf(text, sizeof text, "%s", path);
  *why = NULL;
  while (!*why && next_option(text, &word))
    if (!read_framing(word, &framing))
      *why = "behind the path of a Unix socket stands ,slip or ,cobs or nothing";
  if (text[0] != '/' || strlen(text) >= sizeof at.sun_path)
    *why = "the path of a Unix socket begins with / and has at most 107 letters";
  if (*why)
    return EINVAL;
  memcpy(at.sun_path, text, strlen(text) + 1);
  int error = EPROTOTYPE;
  for (int i = 0; i < 2 && error == EPROTOTYPE; i++) {
    if (c->fd >= 0)
      close(c->fd);
    c->fd = socket(AF_UNIX, kinds[i] | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    error = c->fd < 0 || connect(c->fd, (const struct sockaddr *)&at, sizeof at) != 0 ? errno : 0;
    if (!error)
      return begin(c, c->fd, i == 0 ? ORR_FRAMING_NONE : framing);
  }
  return error == ECONNREFUSED ? ENOENT : error;
}

/* `8N1` */
static bool read_bits(const char *word, struct orr_serial *s) {
  const char *letters = "NEO", *parity = word[0] ? strchr(letters, word[1]) : NULL;
  if (strlen(word) != 3 || word[0] < '5' || word[0] > '8' || !parity || (word[2] != '1' && word[2] != '2'))
    return false;
  s->data_bits = word[0] - '0';
  s->parity = (enum orr_parity)(parity - letters);
  s->stop_bits = word[2] - '0';
  return true;
}

int orr_client_stream_serial(struct orr_client *c, const char *port, const char **why) {
  struct orr_serial s = {.baud = 115200, .data_bits = 8, .stop_bits = 1};
  enum orr_framing framing = ORR_FRAMING_COBS;
  char text[300];
  const char *word;
  int refused;
  snprintf(text, sizeof text, "%s", port);
  *why = NULL;
  while (next_option(text, &word)) {
    bool direction = strcmp(word, "rs485") == 0;
    s.rs485 |= direction;
    if (!direction && !read_framing(word, &framing) && !read_bits(word, &s))
      *why = "behind the rate of a serial port stand 8N1 and the like, rs485, slip or cobs, each behind a comma";
  }
  char *at = strrchr(text, '@');
  if (at) {
    size_t digits = strspn(at + 1, "0123456789");
    s.baud = digits && digits < 9 && !at[1 + digits] ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
    *at = 0;
  }
  if (s.baud == 0)
    *why = "the rate of a serial port is a number behind @, as in serial:/dev/ttyUSB0@115200";
  if (*why)
    return EINVAL;
  int fd = orr_serial_open(text, &s, &refused), error = fd < 0 ? -fd : begin(c, fd, framing);
  if (!error)
    c->stream->is_port = true;
  return error;
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

/* A connection that was cut is no reason for SIGPIPE, which would end flight software that says nothing of it. */
static ssize_t put(const struct orr_client *c, const uint8_t *bytes, size_t count) {
  return c->stream->is_port ? write(c->fd, bytes, count) : send(c->fd, bytes, count, MSG_NOSIGNAL);
}

/* The kernel takes what it can; what is left goes before the next packet. */
static void flush(struct orr_client *c) {
  struct orr_client_stream *s = c->stream;
  while (s->out_at < s->out_bytes) {
    ssize_t n = put(c, s->out + s->out_at, s->out_bytes - s->out_at);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (n < 0) {
      c->refused = true;
      break;
    }
    s->out_at += (size_t)n;
  }
  s->out_at = s->out_bytes = 0;
}

bool orr_client_stream_send(struct orr_client *c, const uint8_t *packet, size_t bytes) {
  struct orr_client_stream *s = c->stream;
  if (s->in.framing == ORR_FRAMING_NONE) {
    bool sent = send(c->fd, packet, bytes, MSG_NOSIGNAL) >= 0;
    c->refused |= !sent && (errno == EPIPE || errno == ECONNRESET);
    return sent;
  }
  if (s->out_at > 0) {
    memmove(s->out, s->out + s->out_at, s->out_bytes - s->out_at);
    s->out_bytes -= s->out_at;
    s->out_at = 0;
  }
  bool room = ORR_CLIENT_STREAM_ROOM - s->out_bytes >= ORR_FRAMING_MOST;
  if (room)
    s->out_bytes += orr_frame_write(s->in.framing, packet, bytes, s->out + s->out_bytes);
  flush(c);
  return room && !c->refused;
}

static ssize_t none(int error) {
  errno = error;
  return -1;
}

ssize_t orr_client_stream_receive(struct orr_client *c, uint8_t packet[ORR_WIRE_PACKET_MAX]) {
  struct orr_client_stream *s = c->stream;
  flush(c);
  for (;;) {
    while (s->at < s->count) {
      int bytes = orr_frame_read(&s->in, s->got[s->at++]);
      if (bytes > 0) {
        memcpy(packet, s->in.bytes, (size_t)bytes);
        return bytes;
      }
    }
    bool messages = s->in.framing == ORR_FRAMING_NONE;
    ssize_t n = messages ? recv(c->fd, packet, ORR_WIRE_PACKET_MAX, MSG_TRUNC) : read(c->fd, s->got, sizeof s->got);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
      return none(ECONNREFUSED);
    if (n < 0 || messages)
      return n < 0 ? none(EAGAIN) : n;
    s->at = 0;
    s->count = (size_t)n;
  }
}
