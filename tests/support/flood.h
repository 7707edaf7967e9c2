/* Garbage by UDP at a given rate, from this thread: so many packets a second on an absolute schedule, some hundred by
 * one system call. */
#ifndef ORR_TESTS_SUPPORT_FLOOD_H
#define ORR_TESTS_SUPPORT_FLOOD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct orr_flood {
  uint64_t from[2]; /* packets sent, by the first sender and by the second */
  double wall_s, cpu_s;
  bool raised;    /* it had a real-time priority, the lowest */
  long taken_off; /* times that the kernel gave the core to somebody else */
};

/* Random bytes of 8 to 263 from two addresses of this machine, in turn a system call each, for `seconds`. Where the
 * thread falls behind it catches up. Ends the program when a socket fails. */
struct orr_flood orr_flood(const struct sockaddr_in *to, const uint32_t from_ip[2], double rate_hz, double seconds);

/* In words: what was sent, and where it was less than asked for, why. */
void orr_flood_print(const struct orr_flood *flood, double rate_hz);

#endif
