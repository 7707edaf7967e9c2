/* The carrier `udp`: a link in packets (io/links/packets/packets.h) over a socket of its own. io/links/packets/relay
 * reads and writes the socket.
 *
 * orr_udp_open [init] → a relay is started over it → frames, by io/links/packets/packets.h → the relay is stopped →
 * orr_udp_close [init].
 */
#ifndef ORR_IO_LINKS_UDP_H
#define ORR_IO_LINKS_UDP_H

#include <netinet/in.h>

#include "io/links/packets/packets.h"

struct orr_udp {
  struct orr_packets packets;
  int fd; /* bound, not blocking; −1: closed */
};

extern const struct orr_packets_mover orr_udp_mover;

/* The struct of a carrier of the kind `udp`. */
struct orr_udp *orr_udp_of(struct orr_carrier *carrier);

/* [init] Binds the socket and makes the rings. Returns 0 or an errno; EMSGSIZE when a payload takes more than
 * ORR_WIRE_PIECES_MAX packets. */
int orr_udp_open(struct orr_udp *udp, const struct orr_run_link *desc, const struct orr_layout *layout,
                 int64_t step_ns);
/* [init] The same without the socket. */
int orr_udp_prepare(struct orr_udp *udp, const struct orr_run_link *desc, const struct orr_layout *layout,
                    int64_t step_ns);
void orr_udp_close(struct orr_udp *udp);

/* [any] Packets so far that the kernel dropped before they could be read: SO_RXQ_OVFL tells it with the next packet. A
 * system call. */
uint64_t orr_udp_overflow(const struct orr_udp *udp);

/* [any] The relay's: a datagram of any bytes from anywhere, as orr_packets_receive takes it. */
size_t orr_udp_receive(struct orr_udp *udp, const struct sockaddr_in *from, const uint8_t *bytes, size_t count,
                       uint8_t *reply);
/* [any] The relay's: one packet to an address; counts it where the kernel does not take it. */
void orr_udp_send_to(struct orr_udp *udp, const struct sockaddr_in *to, const uint8_t *packet, size_t bytes);
/* [any] The relay's: where frames go now. O(1). */
struct sockaddr_in orr_udp_peer(const struct orr_udp *udp);

#endif
