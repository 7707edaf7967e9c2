/* Datagrams of any bytes into a link over UDP (io/links/udp), what comes of them into the rules, and the same bytes into the client's reader.
 *
 * The input is a list of steps: one byte says what, one how long, then so many bytes.
 *   0 a datagram as it is       1 the same with length, checksums and sequence flags set right, so that what lies behind is reached
 *   2 the same from an address that is not allowed       3 the next frame goes out, and a command is latched
 *   4 a command of the bytes, made by the client's own writer       5 the frame before answered, by generation byte[0]
 * Whatever comes, the numbers of the plant stay values of their channels and every command is accounted for.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/udp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two reals (one a pulse), a whole and nine flags: with packets of 64 bytes a command has two pieces. */
static struct orr_channel channels[] = {
    {.name = "a.rate", .unit = "rad/s", .count = 3, .offset = 0},
    {.name = "b.torque",
     .unit = "N m",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .low = -1,
     .high = 1,
     .offset = 3},
    {.name = "b.time",
     .unit = "s",
     .direction = ORR_CHANNEL_COMMAND,
     .hold = ORR_CHANNEL_PULSE,
     .count = 1,
     .low = 0,
     .high = 2,
     .offset = 4},
    {.name = "c.mode",
     .unit = "",
     .type = ORR_CHANNEL_WHOLE,
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .low = 0,
     .high = 9,
     .offset = 5},
    {.name = "d.on",
     .unit = "",
     .type = ORR_CHANNEL_FLAG,
     .direction = ORR_CHANNEL_COMMAND,
     .count = 9,
     .low = 0,
     .high = 1,
     .offset = 6},
};
enum { VALUES = 15, COMMAND_BYTES = 33, PACKET_MAX = 64 };

static const struct orr_channel_table table = {
    .channels = channels, .count = 5, .output_values = 3, .value_count = VALUES};

static void must(bool good) {
  if (!good)
    abort();
}

struct rig {
  struct orr_layout layout;
  struct orr_rules rules;
  struct orr_udp udp;
  struct sockaddr_in from, foreign;
  double values[VALUES];
  int64_t frame;
};

static size_t set_right(uint8_t *bytes, size_t size) {
  struct orr_wire_packet p;
  if (size < ORR_WIRE_COMMAND_AT + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES)
    return size;
  uint16_t id = (uint16_t)((bytes[0] << 8 | bytes[1]) & 0x1fff) | ORR_WIRE_ID_SECONDARY;
  size_t at = orr_wire_block_at(id);
  if (size < at + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES)
    return size;
  p = (struct orr_wire_packet){.id = id, .count = bytes[3], .function = bytes[6]};
  memcpy(&p.frame, bytes + at, 8);
  memcpy(&p.time_ns, bytes + at + 8, 8);
  memcpy(&p.answered, bytes + at + 16, 8);
  uint8_t copy[256];
  size_t piece = size - at - ORR_WIRE_BLOCK_HEAD - ORR_WIRE_CRC_BYTES;
  memcpy(copy, bytes + at + ORR_WIRE_BLOCK_HEAD, piece);
  return orr_wire_packet_write(bytes, &p, copy, piece);
}

static void receive(struct rig *r, const struct sockaddr_in *from, const uint8_t *bytes, size_t size) {
  uint8_t reply[ORR_WIRE_PACKET_MAX];
  struct orr_wire_packet p;
  const uint8_t *piece;
  size_t piece_bytes, n = orr_udp_receive(&r->udp, from, bytes, size, reply);
  must(n <= PACKET_MAX && (n == 0 || orr_wire_packet_read(reply, n, &p, &piece, &piece_bytes)));
}

static void next_frame(struct rig *r) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint32_t piece = 0;
  const uint64_t head[ORR_WIRE_OUT_WORDS] = {(uint64_t)r->frame}, payload[3] = {0};
  orr_rules_publish(&r->rules, r->frame);
  orr_udp_publish(&r->udp, head, payload);
  for (size_t n; (n = orr_udp_send(&r->udp, &piece, packet)) > 0;)
    must(n <= PACKET_MAX);
  if (r->frame > 0) {
    orr_udp_take(&r->udp, &r->rules);
    orr_rules_latch(&r->rules, r->values);
  }
  r->frame += 2;
  for (int i = 0; i < table.count; i++)
    for (int k = 0; k < channels[i].count; k++)
      must(channels[i].direction == ORR_CHANNEL_OUTPUT ||
           orr_channel_accepts(&channels[i], r->values[channels[i].offset + k]));
}

static void write_command(struct rig *r, const uint8_t *bytes, size_t size, uint64_t answers) {
  uint64_t payload[8] = {0};
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  memcpy(payload, bytes, size < COMMAND_BYTES ? size : COMMAND_BYTES);
  struct orr_wire_packet p = {.frame = (uint64_t)(size ? bytes[0] : 0) << 32 | answers, .answered = answers};
  for (uint32_t i = 0; i < r->udp.in_pieces; i++) {
    size_t at = i * r->udp.in_piece, left = COMMAND_BYTES - at;
    p.id = (uint16_t)(r->udp.desc->command_id + i);
    size_t n = orr_wire_packet_write(packet, &p, (const uint8_t *)payload + at,
                                     left < r->udp.in_piece ? left : r->udp.in_piece);
    receive(r, &r->from, packet, n);
  }
}

static void step(struct rig *r, unsigned what, const uint8_t *bytes, size_t size) {
  uint8_t copy[256];
  memcpy(copy, bytes, size);
  switch (what) {
  case 0:
    receive(r, &r->from, copy, size);
    break;
  case 1:
    size = set_right(copy, size);
    receive(r, &r->from, copy, size);
    break;
  case 2:
    receive(r, &r->foreign, copy, size);
    break;
  case 3:
    next_frame(r);
    break;
  case 4:
    write_command(r, bytes, size, size > COMMAND_BYTES ? bytes[COMMAND_BYTES] : 0);
    break;
  default:
    write_command(r, bytes, size, (uint64_t)(r->frame > 1 ? r->frame - 2 : 0));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int telemetry[] = {0}, commands[] = {1, 2, 3, 4};
  static const uint32_t allow[] = {INADDR_LOOPBACK};
  const struct orr_run_link desc = {.divisor = 2,
                                    .telemetry_id = 0x0880,
                                    .command_id = 0x1880,
                                    .packet_max = PACKET_MAX,
                                    .allow = allow,
                                    .allow_count = 1,
                                    .listen = {.ip = INADDR_LOOPBACK}};
  struct rig r = {.from = {.sin_family = AF_INET, .sin_port = 9, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
  struct orr_layout_entry entries[6];
  double numbers[3 * 12];
  r.foreign = r.from;
  r.foreign.sin_addr.s_addr ^= htonl(2);
  orr_layout_init(&r.layout, entries, &table, telemetry, 1, commands, 4);
  orr_rules_init(&r.rules, &r.layout, desc.divisor, numbers);
  r.rules.silence_frames = 3;
  r.rules.policy = ORR_SILENCE_ZERO;
  must(orr_udp_open(&r.udp, &desc, &r.layout, 1000000) == 0);
  for (size_t at = 0; at + 2 <= size;) {
    unsigned what = data[at] % 6;
    size_t length = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
    step(&r, what, data + at + 2, length);
    at += 2 + length;
  }
  orr_udp_close(&r.udp);
  return 0;
}
