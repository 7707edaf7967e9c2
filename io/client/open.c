/* How a client comes to its run: a URL, a file in memory or a socket, and trying again. What stands there is read by
 * the other files. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/client/client_carrier.h"
#include "io/client/client_seal.h"
#include "io/client/client_stream.h"
#include "io/wire/key.h"

enum { ANSWER_MS = 100, ROOM = 1 << 20, WHY = 200 };

/* Writes `what: why`, or without `why` the error's own text, and returns −error. */
static int fail(struct orr_client *c, int error, const char *what, const char *why) {
  snprintf(c->error, sizeof c->error, "%s: %s", what, why ? why : strerror(error));
  return -error;
}

/* Nobody is there, which "No such file" would say of a network too. */
static int fail_nobody(struct orr_client *c, const char *address) {
  snprintf(c->error, sizeof c->error, "nobody answers at %s; start a run whose file has a link there", address);
  return -ENOENT;
}

static int fail_unopened(struct orr_client *c, const char *name) {
  snprintf(c->error, sizeof c->error, "no run has opened %s; start a run whose file has a link of that name", name);
  return -ENOENT;
}

/* A segment that is there, and no link yet or no more. */
static const char *why_shut(int error) {
  return error == ENOENT   ? "its run is over; start a run whose file has a link of that name"
         : error == EAGAIN ? "its run is not ready yet"
                           : NULL;
}

/* What is there is a link, of another version of the wire: whom to build anew. */
static const char *why_version(const struct orr_client *c, char text[WHY]) {
  const struct orr_wire_header *h = &c->header;
  if (h->magic != ORR_WIRE_MAGIC || h->byte_order != ORR_WIRE_BYTE_ORDER || h->version == ORR_WIRE_VERSION)
    return NULL;
  snprintf(
      text, WHY,
      "the run speaks version %u of the wire, this program version %d: build it with the client of the Orrery that "
      "runs%s",
      (unsigned)h->version, ORR_WIRE_VERSION, h->version < ORR_WIRE_VERSION ? ", or fly with a newer Orrery" : "");
  return text;
}

/* -EAGAIN while the segment is still being made, -ENOENT also when its run is over. */
static int open_segment(struct orr_client *c, const char *name) {
  struct stat status;
  int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0)
    return errno == ENOENT ? fail_unopened(c, name) : fail(c, errno, name, NULL);
  bool good = fstat(fd, &status) == 0 && status.st_size >= (off_t)ORR_WIRE_DIRECTORY_AT;
  size_t bytes = good ? (size_t)status.st_size : 0;
  void *memory = good ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  int error = good ? errno : EAGAIN;
  c->lock_fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* what is said goes nowhere near it */
  close(fd);
  if (memory == MAP_FAILED)
    return fail(c, error, name, why_shut(error));
  c->memory = memory;
  c->memory_bytes = bytes;
  char text[WHY];
  error = orr_client_shm_enter(c);
  return error ? fail(c, error, name, error == EPROTO ? why_version(c, text) : why_shut(error)) : 0;
}

static int connect_to(struct orr_client *c, const char *address) {
  char host[256];
  const char *port, *wrong = orr_client_split(address, host, sizeof host, &port);
  if (wrong)
    return fail(c, EINVAL, address, wrong);
  if (strchr(host, ':') || host[0] == '[')
    return fail(c, EAFNOSUPPORT, address, "links have no IPv6: give an IPv4 address or a name that has one");
  const struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
  struct addrinfo *found = NULL;
  int status = getaddrinfo(host, port, &wanted, &found);
  if (status != 0) /* a name server that does not answer now may do so later */
    return fail(c, status == EAI_AGAIN ? EAGAIN : EHOSTUNREACH, address, gai_strerror(status));
  c->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  c->refused = false;
  if (c->fd >= 0) /* for the frames of a stall; what the kernel allows */
    setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &(int){ROOM}, sizeof(int));
  int error = c->fd < 0 || connect(c->fd, found->ai_addr, found->ai_addrlen) != 0 ? errno : 0;
  freeaddrinfo(found);
  return error ? fail(c, error, address, NULL) : 0;
}

/* What a run that does not answer may mean. */
static const char *why_silent(const struct orr_client *c, int error) {
  if (error == ENOKEY)
    return "the run there takes packets with a key alone: give the key file that its link has as 'key_file'";
  if (error != ENOENT || !c->seal)
    return NULL;
  return c->keyed ? "the run there has another key: give the file that its link has as 'key_file'"
                  : "nobody answers with this key: is the run there, and has its link 'key_file'?";
}

/* The run at the other end says what it is. */
static int enter(struct orr_client *c, const char *address, const uint8_t *key) {
  c->seal = key ? orr_client_seal_make(key) : NULL;
  if (key && !c->seal)
    return fail(c, ENOMEM, address, NULL);
  int error = orr_client_udp_enter(c, ANSWER_MS);
  if (error == ENOENT && !c->seal)
    return fail_nobody(c, address);
  char text[WHY];
  return error ? fail(c, error, address, error == EPROTO ? why_version(c, text) : why_silent(c, error)) : 0;
}

static int open_stream(struct orr_client *c, const char *url, const uint8_t *key) {
  static const struct {
    const char *kind;
    int (*open)(struct orr_client *c, const char *address, const char **why);
  } kinds[] = {
      {"tcp:", orr_client_stream_tcp}, {"unix:", orr_client_stream_unix}, {"serial:", orr_client_stream_serial}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t length = strlen(kinds[i].kind);
    const char *why = NULL;
    if (strncmp(url, kinds[i].kind, length) != 0)
      continue;
    int error = kinds[i].open(c, url + length, &why);
    if (error == ENOENT && kinds[i].open != orr_client_stream_serial) /* of a port it is a file that is not there */
      return fail_nobody(c, url + length);
    return error ? fail(c, error, url + length, why) : enter(c, url + length, key);
  }
  return fail(c, EINVAL, url,
              "a link is shm:/name, udp:host:port, tcp:host:port, unix:/path or serial:/dev/ttyUSB0@115200");
}

static int open_once(struct orr_client *c, const char *url, const uint8_t *key) {
  if (strncmp(url, "shm:/", 5) == 0)
    return key ? fail(c, EINVAL, url, "a key is for links in packets, as over UDP") : open_segment(c, url + 4);
  if (strncmp(url, "udp:", 4) != 0)
    return open_stream(c, url, key);
  int status = connect_to(c, url + 4);
  return status ? status : enter(c, url + 4, key);
}

static int open_in_time(struct orr_client *c, const char *url, const uint8_t *key, int wait_ms) {
  int64_t until_ms = orr_client_now_ms() + wait_ms;
  for (;;) {
    int error = open_once(c, url, key);
    if (error == 0)
      break;
    orr_client_close(c);
    if ((error != -ENOENT && error != -EAGAIN) || orr_client_now_ms() >= until_ms)
      return error;
    orr_client_pause_us(2000);
  }
  c->error[0] = 0; /* of tries before */
  orr_client_beat(c);
  return 0;
}

int orr_client_open_keyed(struct orr_client *c, const char *url, const char *key_file, int wait_ms) {
  uint8_t key[ORR_WIRE_KEY_BYTES];
  *c = (struct orr_client){.fd = -1};
  int error = key_file ? orr_wire_key_read(key_file, key, c->error, sizeof c->error) : 0;
  int status = error ? -error : open_in_time(c, url, key_file ? key : NULL, wait_ms);
  orr_wire_key_forget(key, sizeof key);
  return status;
}

int orr_client_open(struct orr_client *c, const char *url, int wait_ms) {
  return orr_client_open_keyed(c, url, NULL, wait_ms);
}
