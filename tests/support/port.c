#include "tests/support/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Below what the kernel gives out by itself, and below what scripts take (support/script.sh): else any client of
 * another test could be given a port between the moment it is found and that at which a run opens it. */
enum { FIRST = 10000, BLOCK = 40, BLOCKS = 250 };

/* Held as long as this process lives, so that no other program of the tests takes the same block: a name. */
static int held = -1;

static bool claim(int block) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  int length = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "orrery.test.ports.%d", block);
  if (held < 0)
    held = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return held >= 0 && bind(held, (const struct sockaddr *)&a,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0;
}

static bool is_free(uint16_t port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool good = fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof a) == 0;
  if (fd >= 0)
    close(fd);
  return good;
}

uint16_t orr_port_free(void) {
  static int block = -1, next;
  for (int i = 0, at = (int)getpid(); block < 0 && i < BLOCKS; i++)
    block = claim((at + i) % BLOCKS) ? (at + i) % BLOCKS : -1;
  for (int i = 0; block >= 0 && i < BLOCK; i++) {
    uint16_t port = (uint16_t)(FIRST + block * BLOCK + next++ % BLOCK);
    if (is_free(port))
      return port;
  }
  perror("a free port");
  exit(1);
}
