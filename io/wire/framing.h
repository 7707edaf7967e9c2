/* Packets in a stream of bytes: where each begins and ends, for both ends of a link over a serial line or a socket that
 * streams.
 *
 * A frame holds a packet and behind it its CRC-32C (little-endian), coded by COBS (Consistent Overhead Byte Stuffing,
 * Cheshire and Baker 1999: a zero ends a frame, and none stands in it) or by SLIP (RFC 1055: 0xc0 ends a frame, 0xdb
 * escapes). Each is sent with one such byte in front, too, so what a line said before ends there. Whatever was lost
 * or changed, the reader finds its way again at the next end.
 */
#ifndef ORR_IO_WIRE_FRAMING_H
#define ORR_IO_WIRE_FRAMING_H

#include "io/wire/wire.h"

enum orr_framing {
  ORR_FRAMING_NONE, /* what carries packets keeps their bounds */
  ORR_FRAMING_COBS,
  ORR_FRAMING_SLIP,
  ORR_FRAMING_RAW, /* packets stand bare behind one another: their form finds them */
};

enum {
  ORR_FRAMED_MOST = ORR_WIRE_PACKET_MAX + ORR_WIRE_CRC_BYTES,
  ORR_FRAMING_MOST = 2 * ORR_FRAMED_MOST + 2, /* of a packet, coded; COBS adds less */
};

/* A reader of frames. All zero but the framing: at the start. */
struct orr_deframer {
  enum orr_framing framing;
  uint8_t code, left; /* COBS: of the block, and its bytes that are still to come */
  bool escaped;       /* SLIP */
  bool wrong;         /* what is coming is no frame: until the next end */
  bool begun;
  uint32_t used;
  uint8_t bytes[ORR_FRAMED_MOST];
};

/* [any] Writes a packet of at most ORR_WIRE_PACKET_MAX bytes as a frame into `out` [ORR_FRAMING_MOST]; returns its
 * length. COBS or SLIP. O(bytes). */
size_t orr_frame_write(enum orr_framing framing, const uint8_t *packet, size_t bytes, uint8_t *out);

/* [any] One more byte of a stream, any. Returns the length of the packet that it ends (in `bytes`, until the next
 * call); 0: none ends; −1: what ends is no frame, or its sum is wrong. COBS or SLIP. O(1), and O(bytes) at an end. */
int orr_frame_read(struct orr_deframer *deframer, uint8_t byte);

#endif
