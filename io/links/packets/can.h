/* The carrier `can`: a link on a CAN bus, by SocketCAN. A frame of the bus is one packet of the link's layout: four
 * bytes of identifier, big-endian, as the kernel has it (bit 31: it has 29 bits), then the data. What stands in it is
 * io/links/forms/telegram's, whether the run file's `layout` or a DBC file said it.
 *
 * A bus has no addresses: whoever sends a frame of commands is the peer. The kernel hands over the identifiers of
 * commands alone, and error frames, which are counted. What the bus does not take at once waits here, in turn, up to
 * ORR_CAN_WAITING frames; what comes behind that is counted and gone.
 */
#ifndef ORR_IO_LINKS_CAN_H
#define ORR_IO_LINKS_CAN_H

#include <linux/can.h>

#include "io/links/packets/packets.h"

enum { ORR_CAN_HEAD = ORR_RUN_CAN_HEAD, ORR_CAN_WAITING = 64 };

struct orr_can {
  struct orr_packets packets;
  int fd;
  _Atomic uint64_t error_frames, bus_off, downs;
  _Atomic int64_t waited_ns; /* the longest that a frame lay in the socket, by the kernel's time stamps */
  /* the io thread's */
  struct canfd_frame waiting[ORR_CAN_WAITING];
  uint32_t first, count; /* of those */
};

/* [any] A packet of a layout → a frame of the bus: its bytes for the kernel, 0 where no frame can hold it. */
size_t orr_can_frame(const uint8_t *packet, size_t bytes, bool fd, struct canfd_frame *out);

/* [any] The io thread's: what was read, any bytes. Error frames are counted, the rest is judged as a packet. Returns
 * the bytes of a reply in `reply`, as orr_packets_receive. O(bytes). */
size_t orr_can_take(struct orr_can *can, const uint8_t *bytes, size_t count, uint8_t *reply);

/* [init] The carrier of that kind. */
struct orr_can *orr_can_of(struct orr_carrier *carrier);

#endif
