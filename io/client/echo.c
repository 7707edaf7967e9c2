/* A minimal peer: answers every frame at once with what was commanded last (zeros), and says what it saw.
 *
 *   echo [--key-file FILE] [spin | futex | poll] URL     shm:/orrery.fsw, or udp:HOST:PORT; the run may start before or
 *                                                        after it. FILE is the key_file of a link over UDP
 *
 * Exit status: 0 when the run ended and no frame was lost on the way here, 1 when not, 2 for a wrong command line. A
 * frame is lost when its number lies between those of the first and the last one seen, and was not seen.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/client/client.h"

enum { OPEN_MS = 10000, SILENCE_MS = 5000 };

static int how_of(const char *name) {
  static const char *const names[] = {
      [ORR_CLIENT_SPIN] = "spin", [ORR_CLIENT_FUTEX] = "futex", [ORR_CLIENT_POLL] = "poll"};
  for (int i = 0; i < 3; i++)
    if (strcmp(name, names[i]) == 0)
      return i;
  return -1;
}

int main(int argc, char **argv) {
  struct orr_client link;
  uint64_t seen = 0, answered = 0, first = 0, last = 0;
  const char *key_file = NULL;
  if (argc > 3 && strcmp(argv[1], "--key-file") == 0) {
    key_file = argv[2];
    argc -= 2;
    argv += 2;
  }
  int status, how = argc == 3 ? how_of(argv[1]) : ORR_CLIENT_FUTEX;
  if (argc < 2 || argc > 3 || how < 0)
    return fprintf(stderr, "usage: echo [--key-file FILE] [spin | futex | poll] URL\n"), 2;
  if (orr_client_open_keyed(&link, argv[argc - 1], key_file, OPEN_MS) != 0)
    return fprintf(stderr, "echo: %s\n", link.error), 1;
  while ((status = orr_client_wait(&link, (enum orr_client_how)how, SILENCE_MS)) > 0) {
    answered += orr_client_send(&link) == 0;
    last = link.frame.number > last ? link.frame.number : last;
    first = seen++ ? first : link.frame.number;
  }
  uint64_t lost = seen ? (last - first) / link.divisor + 1 - seen : 0;
  printf("echo: frames %llu to %llu: %llu seen, %llu lost, %llu answered, %llu packets unsent\n",
         (unsigned long long)first, (unsigned long long)last, (unsigned long long)seen, (unsigned long long)lost,
         (unsigned long long)answered, (unsigned long long)link.unsent);
  if (status != -EPIPE)
    fprintf(stderr, "echo: %s\n", status ? orr_client_why(status) : "no frame for five seconds");
  orr_client_close(&link);
  return status == -EPIPE && lost == 0 && answered == seen && link.unsent == 0 ? 0 : 1;
}
