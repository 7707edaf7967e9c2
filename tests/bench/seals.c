/* What the seal of a packet costs the run's io thread and the client, and what the sandbox adds to a system call.
 *
 *   seals BYTES COUNT     so many packets of so many bytes, sealed by the run and taken by the client
 *   seals                 nanoseconds: seals of three lengths, at both ends; a system call in and out of the sandbox
 *
 * tests/bench/instructions.sh counts the instructions of either side. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/client/client_seal.h"
#include "io/links/packets/sandbox.h"
#include "io/links/packets/seal.h"
#include "rt/tick/clock.h"

static struct orr_seal *make_run(void) {
  static const char digits[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  char path[] = "/tmp/orrery.bench.key.XXXXXX";
  int fd = mkstemp(path), error = 0;
  struct orr_seal *s = NULL;
  if (fd >= 0 && write(fd, digits, sizeof digits - 1) == sizeof digits - 1)
    s = orr_seal_make(path, &error);
  if (fd >= 0)
    close(fd);
  unlink(path);
  return s;
}

/* A false where one is not taken: so that nothing of it is optimised away. */
static bool seal(size_t bytes, long count, double ns[2]) {
  uint8_t packet[ORR_WIRE_PACKET_MAX] = {0};
  struct orr_seal *run = make_run();
  struct orr_client_seal *client = run ? orr_client_seal_make(run->key) : NULL;
  bool good = client != NULL;
  int64_t spent[2] = {0, 0};
  packet[0] = 0x08;
  for (long i = 0; good && i < count; i++) {
    size_t packet_bytes;
    int64_t at[3] = {orr_clock_now_ns(), 0, 0};
    size_t all = orr_seal_put(run, client->peer, packet, bytes);
    at[1] = orr_clock_now_ns();
    good = orr_client_seal_take(client, packet, all, &packet_bytes) == ORR_CLIENT_SEALED;
    at[2] = orr_clock_now_ns();
    spent[0] += at[1] - at[0];
    spent[1] += at[2] - at[1];
  }
  for (int i = 0; i < 2; i++)
    ns[i] = (double)spent[i] / (double)(count > 0 ? count : 1);
  orr_client_seal_free(client);
  orr_seal_free(run);
  return good;
}

/* A datagram to itself: two of the calls that the io thread lives on. In slices, one thread in the sandbox and one not
 * in turn; the quickest slice of each, for what else the machine does only adds. */
enum { TRIPS = 1000, SLICES = 400 };

struct traveller {
  int fds[2];
  bool caged;
  int64_t best_ns;
  pthread_barrier_t *turn;
};

static void travel(struct traveller *t) {
  char byte = 0;
  int64_t begin = orr_clock_now_ns();
  for (int i = 0; i < TRIPS; i++)
    if (send(t->fds[0], &byte, 1, 0) != 1 || recv(t->fds[1], &byte, 1, 0) != 1)
      abort();
  int64_t took = orr_clock_now_ns() - begin;
  t->best_ns = took < t->best_ns ? took : t->best_ns;
}

static void *live(void *user) {
  struct traveller *t = user;
  if (t->caged && orr_sandbox_enter(ORR_SANDBOX_IO) != 0)
    abort();
  for (int k = 0; k < SLICES; k++) {
    if (t->caged)
      pthread_barrier_wait(t->turn);
    travel(t);
    pthread_barrier_wait(t->turn);
    if (!t->caged)
      pthread_barrier_wait(t->turn);
  }
  return NULL;
}

static void compare_calls(void) {
  pthread_barrier_t turn;
  pthread_t threads[2];
  struct traveller all[2] = {{.best_ns = INT64_MAX, .turn = &turn},
                             {.best_ns = INT64_MAX, .turn = &turn, .caged = true}};
  pthread_barrier_init(&turn, NULL, 2);
  if (orr_sandbox_prepare() != 0)
    abort();
  for (int i = 0; i < 2; i++)
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, all[i].fds) != 0 || pthread_create(&threads[i], NULL, live, &all[i]) != 0)
      abort();
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("a datagram sent and received: %.0f ns, and %.0f ns in the sandbox\n", (double)all[0].best_ns / TRIPS,
         (double)all[1].best_ns / TRIPS);
}

int main(int argc, char **argv) {
  double ns[2] = {-1, -1};
  if (argc == 3)
    return !seal((size_t)atol(argv[1]), atol(argv[2]), ns);
  for (size_t bytes = 136; bytes < 8192; bytes *= 5) {
    if (!seal(bytes, 20000, ns))
      return 1;
    printf("a packet of %4zu bytes: sealed by the run in %.0f ns, taken by the client in %.0f ns\n", bytes, ns[0],
           ns[1]);
  }
  compare_calls();
  return 0;
}
