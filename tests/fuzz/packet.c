/* Datagrams of any bytes into a link over UDP (io/links/packets/udp), and what comes of them into the rules. No socket
 * and no system call: what the relay does is done here.
 *
 * The first byte is the shape: bits 0 to 3 as orr_link_rig_init takes them, bit 4 packets of 512 bytes in place of 64,
 * bit 5 the run file names the peer, bit 6 the link has a key, and what is set right is sealed with it, but for every
 * eighth, which is a copy of the seal before; bit 7 packets are messages of cFE, and bit 6 then says that they are
 * big-endian. Then steps; what:
 *   0 a datagram as it is
 *   1 the same with length, checksums and sequence flags set right, so that what lies behind is reached
 *   2 the same from an address that is not allowed
 *   3 the next frame goes out (byte[0] & 1: while the relay sleeps)
 *   4 a command of the bytes, cut and sent as the client does       5 the newest frame answered, by generation byte[0]
 *   6 what is not answered is handed over once more
 *   7 commands are taken and latched
 *   8 the farewell, which the
 *     kernel takes or not
 * Whatever comes, the numbers of the plant stay values of their channels, replies are packets, and every command is
 * accounted for.
 * Fuzz with: -max_len=512
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "io/client/client_seal.h"
#include "io/links/packets/udp.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Commands of 945 bytes: more than a packet, and the payloads of all slots are still less than what the sanitizer maps
 * anew for each execution, which took a third of the time. */
enum { TORQUES = 115 };

struct rig {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_udp udp;
  struct sockaddr_in from, foreign;
  struct orr_client_seal *client; /* with a key */
  bool raw;                       /* what comes is not sealed by us */
};

/* The bytes as a message of cFE: the id of commands (but for one of eight), a length that is right, and a checksum that
 * is, or none. */
static size_t set_message_right(const struct rig *r, uint8_t to[ORR_WIRE_PACKET_MAX], const uint8_t *bytes,
                                size_t size) {
  if (size < ORR_WIRE_COMMAND_AT)
    return 0;
  memmove(to, bytes, size);
  orr_wire_put_big(to, (uint64_t)r->desc.command_id + (bytes[0] % 8 == 7), 2);
  orr_wire_put_big(to + 4, size - 7, 2);
  to[7] = 0;
  to[7] = bytes[7] & 1 ? orr_wire_xor(to, size) : 0;
  return size;
}

/* The bytes as a packet that is right: a head of theirs, a piece of what is left. */
static size_t set_right(const struct rig *r, uint8_t to[ORR_WIRE_PACKET_MAX], const uint8_t *bytes, size_t size) {
  if (r->desc.form == ORR_FORM_CFE)
    return set_message_right(r, to, bytes, size);
  if (size < ORR_WIRE_TELEMETRY_AT + ORR_WIRE_BLOCK_HEAD)
    return 0;
  size_t at = ORR_WIRE_TELEMETRY_AT;
  struct orr_wire_packet p = {.id = (uint16_t)((bytes[0] << 8 | bytes[1]) & 0x1fff) | ORR_WIRE_ID_SECONDARY,
                              .count = bytes[3],
                              .function = bytes[6]};
  memcpy(&p.frame, bytes + at, 8);
  memcpy(&p.time_ns, bytes + at + 8, 8);
  memcpy(&p.answered, bytes + at + 16, 8);
  at += ORR_WIRE_BLOCK_HEAD;
  return orr_wire_packet_write(to, &p, bytes + at, size - at);
}

/* What goes out is a packet, sealed where the link has a key: but the word that it has one. */
static void must_be_packet(const struct rig *r, const uint8_t *bytes, size_t size) {
  struct orr_wire_packet p;
  const uint8_t *piece;
  if (r->desc.form == ORR_FORM_CFE) {
    orr_must(size >= ORR_WIRE_TELEMETRY_AT && size <= r->desc.packet_max && size % 8 == 0);
    orr_must(orr_wire_get_big(bytes, 2) == r->desc.telemetry_id && orr_wire_get_big(bytes + 4, 2) + 7 == size);
    return;
  }
  size_t piece_bytes, seal = r->udp.packets.seal ? ORR_WIRE_SEAL_BYTES : 0;
  orr_must(size <= r->desc.packet_max + seal);
  if (seal && orr_wire_packet_read(bytes, size, &p, &piece, &piece_bytes))
    orr_must(p.flags == ORR_WIRE_OUT_KEYED && piece_bytes == 0);
  else
    orr_must(size > seal && orr_wire_packet_read(bytes, size - seal, &p, &piece, &piece_bytes));
}

/* As a client seals; its number of the run is the right one, or 0 in a question. */
static size_t sealed(struct rig *r, uint8_t to[ORR_WIRE_PACKET_MAX], const uint8_t *bytes, size_t size) {
  memcpy(to, bytes, size);
  if (!r->client || r->raw || size + ORR_WIRE_SEAL_BYTES > ORR_WIRE_PACKET_MAX)
    return size;
  bool asks = size > 6 && orr_wire_get_big(bytes, 2) == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND);
  r->client->run = r->udp.packets.seal->run;
  r->client->sent -= r->client->sent % 8 == 7;
  return orr_client_seal_put(r->client, to, size, asks && bytes[6] == ORR_WIRE_DESCRIBE);
}

/* What is read is exactly as large as the datagram, so that the sanitizer sees a byte beyond. */
static void receive(struct rig *r, const struct sockaddr_in *from, const uint8_t *packet, size_t packet_size) {
  uint8_t reply[ORR_WIRE_PACKET_MAX], bytes[ORR_WIRE_PACKET_MAX];
  size_t size = sealed(r, bytes, packet, packet_size);
  uint8_t *exact = malloc(size ? size : 1);
  orr_must(exact != NULL);
  memcpy(exact, bytes, size);
  size_t n = orr_udp_receive(&r->udp, from, exact, size, reply);
  free(exact);
  if (n)
    must_be_packet(r, reply, n);
}

static void send_all(struct rig *r) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  size_t n;
  for (uint32_t piece = 0; (n = orr_packets_send(&r->udp.packets, &piece, packet)) > 0;)
    must_be_packet(r, packet, n);
}

static void latch(struct rig *r) {
  orr_packets_wait(&r->udp.packets, 1);
  orr_packets_take(&r->udp.packets, &r->link.rules);
  orr_link_rig_latch(&r->link);
}

static void next_frame(struct rig *r, bool asleep) {
  uint64_t head[ORR_WIRE_OUT_WORDS];
  if (r->link.out)
    latch(r);
  orr_link_rig_publish(&r->link, head);
  orr_packets_publish(&r->udp.packets, head, r->link.values);
  if (!asleep)
    send_all(r);
}

static void write_command(struct rig *r, const struct orr_step *s, uint64_t answers) {
  uint64_t payload[ORR_RIG_WORDS] = {0};
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  memcpy(payload, s->bytes, s->size);
  if (r->desc.form == ORR_FORM_CFE) {
    const size_t bytes = r->link.layout.commands.bytes;
    memset(packet, 0, ORR_WIRE_COMMAND_AT);
    memcpy(packet + ORR_WIRE_COMMAND_AT, payload, bytes);
    receive(r, &r->from, packet, set_message_right(r, packet, packet, ORR_WIRE_COMMAND_AT + bytes));
    return;
  }
  struct orr_wire_packet p = {.frame = (uint64_t)orr_step_byte(s, 0) << 32 | answers, .answered = answers};
  for (uint32_t i = 0; i < r->udp.packets.form->in_cut.pieces; i++) {
    size_t at = i * r->udp.packets.form->in_cut.piece, left = r->link.layout.commands.bytes - at;
    p.id = (uint16_t)(r->desc.command_id + i);
    receive(r, &r->from, packet,
            orr_wire_packet_write(packet, &p, (const uint8_t *)payload + at,
                                  left < r->udp.packets.form->in_cut.piece ? left : r->udp.packets.form->in_cut.piece));
  }
}

static void do_step(struct rig *r, const struct orr_step *s) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  switch (s->what % 9) {
  case 0:
    r->raw = true;
    receive(r, &r->from, s->bytes, s->size);
    r->raw = false;
    break;
  case 1:
    receive(r, &r->from, packet, set_right(r, packet, s->bytes, s->size));
    break;
  case 2:
    receive(r, &r->foreign, packet, set_right(r, packet, s->bytes, s->size));
    break;
  case 3:
    next_frame(r, orr_step_byte(s, 0) & 1);
    break;
  case 4:
    write_command(r, s, orr_step_byte(s, s->size - 1));
    break;
  case 5:
    write_command(r, s, (uint64_t)(r->link.rules.published > 0 ? r->link.rules.published : 0));
    break;
  case 6:
    if (r->link.frame > 0)
      orr_packets_repeat(&r->udp.packets);
    send_all(r);
    break;
  case 7:
    latch(r);
    break;
  default:
    orr_must(orr_packets_farewell(&r->udp.packets, packet) <= r->desc.packet_max + ORR_WIRE_SEAL_BYTES);
    orr_packets_unsent(&r->udp.packets, s->size ? EAGAIN : EPERM);
  }
}

/* Without a file. */
static void give_key(struct rig *r) {
  r->udp.packets.seal = calloc(1, sizeof *r->udp.packets.seal);
  orr_must(r->udp.packets.seal != NULL);
  r->udp.packets.seal->seen = calloc(1, sizeof *r->udp.packets.seal->seen);
  r->udp.packets.seal->run = 7;
  r->client = orr_client_seal_make(r->udp.packets.seal->key);
  orr_must(r->client != NULL && r->udp.packets.seal->seen != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint32_t allow[] = {INADDR_LOOPBACK};
  unsigned shape = size ? data[0] : 0;
  struct rig r = {.client = NULL};
  orr_link_rig_init(&r.link, shape, TORQUES);
  r.desc = (struct orr_run_link){.divisor = ORR_RIG_DIVISOR,
                                 .telemetry_id = 0x0880,
                                 .command_id = 0x1880,
                                 .packet_max = shape & 128  ? ORR_WIRE_PACKET_MAX
                                               : shape & 16 ? 512
                                                            : 64,
                                 .form = shape & 128 ? ORR_FORM_CFE : ORR_FORM_ORRERY,
                                 .big_endian = shape & 64,
                                 .allow = allow,
                                 .allow_count = 1,
                                 .peer = {.ip = INADDR_LOOPBACK, .port = shape & 32 ? 9 : 0}};
  r.from = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  r.foreign = r.from;
  r.foreign.sin_addr.s_addr ^= htonl(2);
  orr_must(orr_udp_prepare(&r.udp, &r.desc, &r.link.layout, 1000000) == 0);
  if ((shape & 64) && !(shape & 128))
    give_key(&r);
  struct orr_steps steps = {data + 1, size ? size - 1 : 0};
  for (struct orr_step s; orr_steps_next(&steps, &s);)
    do_step(&r, &s);
  uint64_t handed_over = atomic_load(&r.udp.packets.in.head) - orr_ring_used(&r.udp.packets.in);
  orr_link_rig_account(&r.link, handed_over);
  orr_client_seal_free(r.client);
  orr_udp_close(&r.udp);
  return 0;
}
