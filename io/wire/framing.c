#include "io/wire/framing.h"

#include <string.h>

enum { SLIP_END = 0xc0, SLIP_ESCAPE = 0xdb, SLIP_ESCAPED_END = 0xdc, SLIP_ESCAPED_ESCAPE = 0xdd, COBS_LONGEST = 0xff };

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* What stands in a frame: the packet, then its sum. */
static uint8_t framed(const uint8_t *packet, size_t bytes, uint32_t sum, size_t i) {
  return (uint8_t)(i < bytes ? packet[i] : sum >> 8 * (i - bytes));
}

static size_t write_slip(const uint8_t *packet, size_t bytes, uint32_t sum, uint8_t *out) {
  size_t n = 0;
  out[n++] = SLIP_END;
  for (size_t i = 0; i < bytes + ORR_WIRE_CRC_BYTES; i++) {
    uint8_t b = framed(packet, bytes, sum, i);
    bool plain = b != SLIP_END && b != SLIP_ESCAPE;
    if (!plain)
      out[n++] = SLIP_ESCAPE;
    out[n++] = plain ? b : b == SLIP_END ? SLIP_ESCAPED_END : SLIP_ESCAPED_ESCAPE;
  }
  out[n++] = SLIP_END;
  return n;
}

/* Blocks of up to 254 bytes without a zero; each begins with its length, and stands for one zero behind it unless it is
 * of the longest kind. */
static size_t write_cobs(const uint8_t *packet, size_t bytes, uint32_t sum, uint8_t *out) {
  size_t n = 0, code_at;
  out[n++] = 0;
  code_at = n++;
  for (size_t i = 0; i < bytes + ORR_WIRE_CRC_BYTES; i++) {
    uint8_t b = framed(packet, bytes, sum, i);
    if (b)
      out[n++] = b;
    if (b == 0 || n - code_at == COBS_LONGEST) {
      out[code_at] = (uint8_t)(n - code_at);
      code_at = n++;
    }
  }
  out[code_at] = (uint8_t)(n - code_at);
  out[n++] = 0;
  return n;
}

size_t orr_frame_write(enum orr_framing framing, const uint8_t *packet, size_t bytes, uint8_t *out) {
  uint32_t sum = orr_wire_crc(packet, bytes);
  return framing == ORR_FRAMING_SLIP ? write_slip(packet, bytes, sum, out) : write_cobs(packet, bytes, sum, out);
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static void add(struct orr_deframer *d, uint8_t b) {
  d->wrong |= d->used == ORR_FRAMED_MOST;
  if (!d->wrong)
    d->bytes[d->used++] = b;
}

/* A frame ends here. Two ends with nothing between them are no frame. */
static int end(struct orr_deframer *d) {
  bool begun = d->begun, whole = !d->wrong && !d->escaped && d->left == 0;
  uint32_t used = d->used, sum;
  d->begun = d->wrong = d->escaped = false;
  d->used = 0;
  d->code = d->left = 0;
  if (!begun)
    return 0;
  if (!whole || used <= ORR_WIRE_CRC_BYTES)
    return -1;
  memcpy(&sum, d->bytes + used - ORR_WIRE_CRC_BYTES, sizeof sum);
  return sum == orr_wire_crc(d->bytes, used - ORR_WIRE_CRC_BYTES) ? (int)(used - ORR_WIRE_CRC_BYTES) : -1;
}

static int read_slip(struct orr_deframer *d, uint8_t b) {
  if (b == SLIP_END)
    return end(d);
  d->begun = true;
  if (d->escaped) {
    d->wrong |= b != SLIP_ESCAPED_END && b != SLIP_ESCAPED_ESCAPE;
    add(d, b == SLIP_ESCAPED_END ? SLIP_END : SLIP_ESCAPE);
    d->escaped = false;
  } else if (b == SLIP_ESCAPE) {
    d->escaped = true;
  } else {
    add(d, b);
  }
  return 0;
}

static int read_cobs(struct orr_deframer *d, uint8_t b) {
  if (b == 0)
    return end(d);
  if (d->left > 0) {
    d->left--;
    add(d, b);
    return 0;
  }
  if (d->begun && d->code != COBS_LONGEST)
    add(d, 0);
  d->begun = true;
  d->code = b;
  d->left = (uint8_t)(b - 1);
  return 0;
}

int orr_frame_read(struct orr_deframer *d, uint8_t byte) {
  return d->framing == ORR_FRAMING_SLIP ? read_slip(d, byte) : read_cobs(d, byte);
}
