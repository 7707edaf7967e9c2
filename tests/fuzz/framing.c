/* A stream of any bytes into the readers of both framings (io/wire/framing), and a packet of any bytes written as a
 * frame behind it: with an end before it, it comes out whole, whatever came before.
 *
 * The first byte says how many of the bytes are the stream; the rest are the packet. Both framings get the same.
 * Fuzz with: -max_len=600
 */
#include <stdlib.h>
#include <string.h>

#include "io/wire/framing.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void stream(struct orr_deframer *d, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    int came = orr_frame_read(d, bytes[i]);
    orr_must(came >= -1 && came <= ORR_WIRE_PACKET_MAX);
  }
}

static void one(enum orr_framing framing, const uint8_t *noise, size_t noisy, const uint8_t *packet, size_t size) {
  static struct orr_deframer d;
  static uint8_t frame[ORR_FRAMING_MOST];
  d = (struct orr_deframer){.framing = framing};
  stream(&d, noise, noisy);
  size_t n = orr_frame_write(framing, packet, size, frame);
  orr_must(n > size && n <= ORR_FRAMING_MOST);
  int came = 0, last = 0;
  for (size_t i = 0; i < n; i++) {
    came = orr_frame_read(&d, frame[i]);
    last = came ? came : last;
    orr_must(came <= 0 || i == 0 || i == n - 1);
  }
  orr_must(last == (int)size && memcmp(d.bytes, packet, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  size_t noisy = data[0] < size - 2 ? data[0] : size - 2;
  one(ORR_FRAMING_COBS, data + 1, noisy, data + 1 + noisy, size - 1 - noisy);
  one(ORR_FRAMING_SLIP, data + 1, noisy, data + 1 + noisy, size - 1 - noisy);
  return 0;
}
