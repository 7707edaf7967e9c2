/* Frames of a CAN bus of any bytes (io/links/packets/can), and what comes of them into the rules. No descriptor and no
 * system call: what was read is handed over here.
 *
 * The first byte is the shape, as orr_link_rig_init takes it. Then steps; what:
 *   0 bytes as they are                1 the bytes as the data of a frame of commands, byte 0 says which
 *   2 the next frame goes out          3 commands are latched
 * Whatever comes, the numbers of the plant stay values of their channels, and every command is accounted for.
 * Fuzz with: -max_len=512
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/packets/can.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 4, ID = 0x200 };

static const struct orr_run_field out_fields[] = {
    {.kind = ORR_FIELD_CONSTANT, .width = 32, .by = -1, .set = -1, .raw = ID},
    {.kind = ORR_FIELD_CHANNEL, .width = 32, .by = -1, .set = -1, .bit = 32, .channel_name = "a.rate", .lsb = 0.5}};
static const struct orr_run_field in_fields[] = {
    {.kind = ORR_FIELD_CONSTANT, .width = 32, .by = -1, .set = -1, .raw = ID + 1},
    {.kind = ORR_FIELD_CHANNEL,
     .number = ORR_FIELD_FLOAT,
     .width = 64,
     .by = -1,
     .set = -1,
     .bit = 32,
     .channel_name = "b.torque",
     .lsb = 1}};
static const struct orr_run_field mode_fields[] = {
    {.kind = ORR_FIELD_CONSTANT, .width = 32, .by = -1, .set = -1, .raw = ID + 2},
    {.kind = ORR_FIELD_CHANNEL, .width = 7, .by = -1, .set = -1, .bit = 33, .channel_name = "c.mode", .lsb = 1},
    {.kind = ORR_FIELD_CHANNEL, .width = 1, .by = -1, .set = -1, .bit = 40, .channel_name = "d.on", .lsb = 1}};
static const struct orr_run_telegram telegrams[] = {
    {.name = "out", .head = 4, .every = 1, .request = -1, .bytes = 8, .count = 2, .fields = out_fields},
    {.name = "in",
     .head = 4,
     .command = true,
     .answers = true,
     .request = -1,
     .bytes = 12,
     .count = 2,
     .fields = in_fields},
    {.name = "mode", .head = 4, .command = true, .request = -1, .bytes = 6, .count = 3, .fields = mode_fields}};
static const struct orr_run_layout layout = {3, telegrams};

struct rig {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_can *can;
};

/* What is read is exactly as large as what came, so that the sanitizer sees a byte beyond. */
static void take(struct rig *r, const void *bytes, size_t size) {
  uint8_t reply[ORR_WIRE_PACKET_MAX], *exact = malloc(size ? size : 1);
  orr_must(exact != NULL);
  if (size)
    memcpy(exact, bytes, size);
  orr_can_take(r->can, exact, size, reply);
  free(exact);
}

static void take_frame(struct rig *r, const struct orr_step *s) {
  struct canfd_frame f = {.can_id = ID + orr_step_byte(s, 0) % 4};
  size_t n = s->size > 1 ? s->size - 1 : 0;
  f.len = (uint8_t)(n < CANFD_MAX_DLEN ? n : CANFD_MAX_DLEN);
  if (f.len)
    memcpy(f.data, s->bytes + 1, f.len);
  take(r, &f, f.len <= CAN_MAX_DLEN && orr_step_byte(s, 0) & 4 ? CAN_MTU : CANFD_MTU);
}

static void latch(struct rig *r) {
  orr_packets_take(&r->can->packets, &r->link.rules);
  orr_link_rig_latch(&r->link);
}

static void next_frame(struct rig *r) {
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint64_t head[ORR_WIRE_OUT_WORDS];
  uint32_t piece = 0;
  if (r->link.out)
    latch(r);
  orr_link_rig_publish(&r->link, head);
  orr_packets_publish(&r->can->packets, head, r->link.values);
  for (size_t n; (n = orr_packets_send(&r->can->packets, &piece, packet)) > 0;) {
    struct canfd_frame f;
    orr_must(orr_can_frame(packet, n, false, &f) == CAN_MTU && f.can_id == ID && f.len == n - ORR_CAN_HEAD);
  }
}

static void do_step(struct rig *r, const struct orr_step *s) {
  switch (s->what % STEPS) {
  case 0:
    take(r, s->bytes, s->size);
    break;
  case 1:
    take_frame(r, s);
    break;
  case 2:
    next_frame(r);
    break;
  default:
    latch(r);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct rig r = {.can = aligned_alloc(_Alignof(struct orr_can), sizeof *r.can)};
  orr_must(r.can != NULL);
  memset(r.can, 0, sizeof *r.can);
  orr_link_rig_init(&r.link, size ? data[0] : 0, 40);
  r.desc = (struct orr_run_link){
      .transport = ORR_TRANSPORT_CAN, .divisor = ORR_RIG_DIVISOR, .packet_max = 1500, .layout = &layout};
  r.can->fd = -1;
  r.can->packets.base = (struct orr_carrier){.kind = &orr_carrier_can, .desc = &r.desc, .layout = &r.link.layout};
  r.can->packets.told = r.can->packets.peer = ORR_SENDER_ONLY;
  orr_must(orr_packets_make(&r.can->packets, 1000000) == 0);
  struct orr_steps steps = {data + 1, size ? size - 1 : 0};
  for (struct orr_step s; orr_steps_next(&steps, &s);)
    do_step(&r, &s);
  uint64_t handed_over = atomic_load(&r.can->packets.in.head) - orr_ring_used(&r.can->packets.in);
  orr_link_rig_account(&r.link, handed_over);
  orr_packets_free(&r.can->packets);
  free(r.can);
  return 0;
}
