/* A stream of any bytes into a link over a cable (io/links/packets/cable, io/wire/framing), and what comes of it into
 * the rules. No descriptor and no system call: what was read is handed over here, in pieces of any length.
 *
 * The first byte is the shape: bits 0 to 3 as orr_link_rig_init takes them, bit 4 SLIP in place of COBS, bit 5 bare
 * packets of a layout. Then steps; what:
 *   0 bytes as they are                     1 the bytes as one frame: escaped, its sum right, its ends there
 *   2 the bytes as a packet that is right, in a frame        3 the next frame goes out        4 commands are latched
 *   6 what stands still is given up
 *   5 the newest frame answered by a command of the bytes; byte 0 says which bit of it is wrong, or which byte is lost
 * Whatever comes, the numbers of the plant stay values of their channels, and every command is accounted for.
 * FRAMING=cobs, slip or raw in the environment: that one alone, whatever the first byte says.
 * Fuzz with: -max_len=1024
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/forms/telegram.h"
#include "io/links/packets/cable.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 7 };

struct rig {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_cable *cable;
  uint32_t count;
};

/* A command with a sync word, a length and a sum, one that is asked by, and what goes out. */
enum { SYNC = 0, LENGTH, TORQUE, MODE, SUM, IN_FIELDS, IN_BYTES = 13, OUT_BYTES = 8 };
static const struct orr_run_field in[IN_FIELDS] = {
    [SYNC] = {.by = -1, .set = -1, .kind = ORR_FIELD_CONSTANT, .width = 16, .raw = 0xA55A},
    [LENGTH] = {.by = -1, .set = -1, .kind = ORR_FIELD_LENGTH, .width = 8, .bit = 16, .raw = 9},
    [TORQUE] =
        {.by = -1, .set = -1, .channel_name = "b.torque", .number = ORR_FIELD_FLOAT, .width = 64, .bit = 24, .lsb = 1},
    [MODE] = {.by = -1, .set = -1, .channel_name = "c.mode", .width = 8, .bit = 88, .lsb = 1},
    [SUM] = {.by = -1, .set = -1, .kind = ORR_FIELD_CHECKSUM, .sum = ORR_SUM_PLAIN, .width = 8, .bit = 96, .to = 12}};
static const struct orr_run_field asks = {.by = -1, .set = -1, .kind = ORR_FIELD_CONSTANT, .width = 8, .raw = 0x34};
static const struct orr_run_field out = {
    .by = -1, .set = -1, .channel_name = "a.rate", .number = ORR_FIELD_FLOAT, .width = 64, .lsb = 1};
static const struct orr_run_telegram telegrams[] = {
    {.name = "in",
     .command = true,
     .answers = true,
     .request = -1,
     .bytes = IN_BYTES,
     .count = IN_FIELDS,
     .fields = in},
    {.name = "ask", .command = true, .request = -1, .bytes = 1, .count = 1, .fields = &asks},
    {.name = "out", .every = 1, .request = -1, .bytes = OUT_BYTES, .count = 1, .fields = &out},
    {.name = "asked", .every = 1, .request = 1, .bytes = OUT_BYTES, .count = 1, .fields = &out}};
static const struct orr_run_layout laid_out = {4, telegrams};

/* What is read is exactly as large as what came, so that the sanitizer sees a byte beyond. */
static void take(struct rig *r, const uint8_t *bytes, size_t size) {
  uint8_t reply[ORR_WIRE_PACKET_MAX], *exact = malloc(size ? size : 1);
  orr_must(exact != NULL);
  memcpy(exact, bytes, size);
  orr_cable_take(r->cable, exact, size, reply);
  free(exact);
}

static void take_frame(struct rig *r, const uint8_t *packet, size_t size, unsigned wrong) {
  uint8_t frame[ORR_FRAMING_MOST];
  size_t n = size;
  if (r->desc.framing == ORR_FRAMING_RAW)
    memcpy(frame, packet, size);
  else
    n = orr_frame_write(r->desc.framing, packet, size, frame);
  if (wrong && n > 0)
    frame[wrong % n] ^= (uint8_t)(1u << wrong % 8);
  take(r, frame, n / 2);
  take(r, frame + n / 2, n - n / 2);
}

static void take_packet(struct rig *r, const struct orr_step *s) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  struct orr_wire_packet p = {.id = (uint16_t)(0x1e80 + orr_step_byte(s, 0) % 3),
                              .function = (uint8_t)orr_step_byte(s, 1),
                              .frame = (uint64_t)orr_step_byte(s, 2) << 32,
                              .answered = orr_step_byte(s, 3)};
  take_frame(r, packet, orr_wire_packet_write(packet, &p, s->bytes, s->size), 0);
}

static void answer_bare(struct rig *r, const struct orr_step *s) {
  uint8_t packet[IN_BYTES] = {0};
  uint64_t torque = 0;
  memcpy(&torque, s->bytes, s->size < sizeof torque ? s->size : sizeof torque);
  orr_field_put(&in[SYNC], packet, in[SYNC].raw);
  orr_field_put(&in[LENGTH], packet, in[LENGTH].raw);
  orr_field_put(&in[TORQUE], packet, torque);
  orr_field_put(&in[MODE], packet, orr_step_byte(s, 8));
  orr_field_put(&in[SUM], packet, orr_field_checksum(&in[SUM], packet));
  take_frame(r, packet, sizeof packet, orr_step_byte(s, 0) % 4 ? 0 : orr_step_byte(s, 1));
}

static void answer(struct rig *r, const struct orr_step *s) {
  if (r->desc.layout) {
    answer_bare(r, s);
    return;
  }
  uint8_t packet[ORR_WIRE_PACKET_MAX], payload[8 * ORR_RIG_WORDS] = {0};
  const struct orr_wire_cut cut = r->cable->packets.form->in_cut;
  size_t all = r->link.layout.commands.bytes;
  memcpy(payload, s->bytes, s->size < all ? s->size : all);
  r->count++;
  for (uint32_t i = 0; i < cut.pieces; i++) {
    size_t at = i * cut.piece, left = all - at;
    const struct orr_wire_packet p = {.id = (uint16_t)(r->desc.command_id + i),
                                      .frame = orr_wire_command_frame(1, 0, r->count),
                                      .answered = (uint64_t)(r->link.frame > 0 ? r->link.rules.published : 0)};
    size_t n = orr_wire_packet_write(packet, &p, payload + at, left < cut.piece ? left : cut.piece);
    take_frame(r, packet, n, orr_step_byte(s, 0) % 4 ? 0 : orr_step_byte(s, 1));
  }
}

static void latch(struct rig *r) {
  orr_packets_take(&r->cable->packets, &r->link.rules);
  orr_link_rig_latch(&r->link);
}

static void next_frame(struct rig *r) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint64_t head[ORR_WIRE_OUT_WORDS];
  uint32_t piece = 0;
  if (r->link.out)
    latch(r);
  orr_link_rig_publish(&r->link, head);
  orr_packets_publish(&r->cable->packets, head, r->link.values);
  for (size_t n; (n = orr_packets_send(&r->cable->packets, &piece, packet)) > 0;) {
    struct orr_deframer d = {.framing = r->desc.framing};
    if (d.framing == ORR_FRAMING_RAW)
      continue;
    uint8_t frame[ORR_FRAMING_MOST];
    size_t size = orr_frame_write(d.framing, packet, n, frame);
    int came = 0;
    for (size_t i = 0; i < size; i++)
      came = orr_frame_read(&d, frame[i]);
    orr_must(came == (int)n && memcmp(d.bytes, packet, n) == 0);
  }
}

static void give_up(struct rig *r) {
  uint8_t reply[ORR_WIRE_PACKET_MAX];
  orr_cable_give_up(r->cable, reply);
  orr_must(r->desc.framing != ORR_FRAMING_RAW || r->cable->in.used == 0);
}

static void do_step(struct rig *r, const struct orr_step *s) {
  switch (s->what % STEPS) {
  case 0:
    take(r, s->bytes, s->size);
    break;
  case 1:
    take_frame(r, s->bytes, s->size, 0);
    break;
  case 2:
    take_packet(r, s);
    break;
  case 3:
    next_frame(r);
    break;
  case 4:
    latch(r);
    break;
  case 5:
    answer(r, s);
    break;
  default:
    give_up(r);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct orr_cable_way way = {0};
  struct rig r = {.cable = aligned_alloc(_Alignof(struct orr_cable), sizeof *r.cable)};
  unsigned shape = size ? data[0] : 0;
  const char *only = getenv("FRAMING");
  if (only)
    shape = (shape & 15) | (strcmp(only, "raw") == 0 ? 32 : strcmp(only, "slip") == 0 ? 16 : 0);
  orr_must(r.cable != NULL);
  memset(r.cable, 0, sizeof *r.cable);
  orr_link_rig_init(&r.link, shape, 40);
  r.desc = (struct orr_run_link){.transport = ORR_TRANSPORT_SERIAL,
                                 .framing = shape & 32   ? ORR_FRAMING_RAW
                                            : shape & 16 ? ORR_FRAMING_SLIP
                                                         : ORR_FRAMING_COBS,
                                 .layout = shape & 32 ? &laid_out : NULL,
                                 .divisor = ORR_RIG_DIVISOR,
                                 .telemetry_id = 0x0e80,
                                 .command_id = 0x1e80,
                                 .packet_max = 256};
  r.cable->packets.base = (struct orr_carrier){.kind = &orr_carrier_serial, .desc = &r.desc, .layout = &r.link.layout};
  orr_must(orr_cable_prepare(r.cable, &way, 1000000) == 0);
  r.cable->packets.peer = ORR_SENDER_ONLY; /* somebody is there */
  struct orr_steps steps = {data + 1, size ? size - 1 : 0};
  for (struct orr_step s; orr_steps_next(&steps, &s);)
    do_step(&r, &s);
  uint64_t handed_over = atomic_load(&r.cable->packets.in.head) - orr_ring_used(&r.cable->packets.in);
  orr_link_rig_account(&r.link, handed_over);
  orr_cable_close(r.cable);
  free(r.cable);
  return 0;
}
