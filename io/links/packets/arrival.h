/* When a packet came: as the kernel stamped it, where it does, as the clock of ticks has it.
 *
 * orr_arrival_ask once for a socket [init]; then a receive with room for ORR_ARRIVAL_ROOM bytes of control messages,
 * and orr_arrival_at for each of those; orr_arrival_of_message does both looks for a receive by a plain call. Any
 * thread.
 */
#ifndef ORR_IO_LINKS_ARRIVAL_H
#define ORR_IO_LINKS_ARRIVAL_H

#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#define ORR_ARRIVAL_ROOM CMSG_SPACE(sizeof(struct timespec))

/* [any] The kernel stamps what comes to the socket; where it cannot, it does not. A system call. */
void orr_arrival_ask(int fd);

/* [any] What a control message says of the arrival: ns on CLOCK_MONOTONIC; 0: it is no stamp. */
int64_t orr_arrival_at(const struct cmsghdr *message);

/* [any] Of a message that was received with control messages; now, where none is a stamp. */
int64_t orr_arrival_of_message(struct msghdr *message);

#endif
