/* The form `orrery`: CCSDS space packets with cFE's default headers and a block of Orrery's, as io/wire/wire.h has
 * them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/forms/form.h"

struct state {
  struct orr_form_state base;
  uint16_t counts[ORR_WIRE_PIECES_MAX]; /* sequence counts of telemetry, by piece */
};

static int make(const struct orr_run_link *desc, const struct orr_layout *layout, struct orr_form_state **state) {
  const struct orr_form_state base = {
      .form = &orr_form_orrery,
      .desc = desc,
      .layout = layout,
      .out_cut = orr_wire_cut(desc->telemetry_id, layout->telemetry.bytes, desc->packet_max),
      .in_cut = orr_wire_cut(desc->command_id, layout->commands.bytes, desc->packet_max)};
  if (base.out_cut.pieces > ORR_WIRE_PIECES_MAX || base.in_cut.pieces > ORR_WIRE_PIECES_MAX)
    return EMSGSIZE;
  struct state *s = calloc(1, sizeof *s);
  if (!s)
    return ENOMEM;
  s->base = base;
  *state = &s->base;
  return 0;
}

static void unmake(struct orr_form_state *state) { free(state); }

/* Right in all but the version of CCSDS packets, which is in the first three bits. */
static bool is_of_another_version(const uint8_t *bytes, size_t count) {
  enum { LEAST = ORR_WIRE_COMMAND_AT + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES };
  uint32_t crc;
  if (count < LEAST || count > ORR_WIRE_PACKET_MAX || bytes[0] >> 5 == 0 || orr_wire_xor(bytes, count) != 0)
    return false;
  memcpy(&crc, bytes + count - ORR_WIRE_CRC_BYTES, sizeof crc);
  return crc == orr_wire_crc(bytes + ORR_WIRE_COMMAND_AT, count - ORR_WIRE_COMMAND_AT - ORR_WIRE_CRC_BYTES);
}

/* The tag of another layout; a peer that does not say any is judged by lengths alone. */
static bool is_of_another_layout(const struct orr_form_state *s, const struct orr_wire_packet *p) {
  uint16_t tag = (uint16_t)(p->frame >> 16);
  return tag != 0 && tag != orr_wire_layout_tag(s->layout->hash);
}

/* A piece of a command has the length that it should have, and a word none. */
static bool is_whole(const struct orr_form_state *s, const struct orr_wire_packet *p, size_t bytes) {
  size_t i = (size_t)(p->id - s->desc->command_id), all = s->layout->commands.bytes, whole = s->in_cut.piece;
  if (p->function != ORR_WIRE_COMMANDS)
    return bytes == 0;
  return bytes == (i + 1 < s->in_cut.pieces ? whole : all - i * whole);
}

/* A whole space packet of somebody else: an id that is neither the link's nor that of a question. It has no sum of
 * ours, so its id is judged before any. */
static bool is_of_another_id(const struct orr_form_state *s, const uint8_t *bytes, size_t count) {
  if (count <= ORR_WIRE_PRIMARY_BYTES || bytes[0] >> 5 != 0 || orr_wire_get_big(bytes + 4, 2) + 7 != count)
    return false;
  const uint64_t id = orr_wire_get_big(bytes, 2);
  return id != (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) &&
         (id < s->desc->command_id || id >= s->desc->command_id + s->in_cut.pieces);
}

static enum orr_refusal read_packet(struct orr_form_state *s, const uint8_t *bytes, size_t count,
                                    struct orr_form_word *word, uint8_t *reply) {
  struct orr_wire_packet p;
  (void)reply;
  if (is_of_another_id(s, bytes, count))
    return ORR_REFUSAL_OTHER_ID;
  if (!orr_wire_packet_read(bytes, count, &p, &word->piece, &word->piece_bytes))
    return is_of_another_version(bytes, count) ? ORR_REFUSAL_VERSION : ORR_REFUSAL_MALFORMED;
  word->frame = p.frame;
  word->asks = p.id == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) && p.function == ORR_WIRE_DESCRIBE;
  if (word->asks)
    return ORR_REFUSAL_NONE;
  if (p.id == (ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND) || p.function >= ORR_WIRE_FUNCTIONS)
    return ORR_REFUSAL_VERSION;
  if (is_of_another_layout(s, &p))
    return ORR_REFUSAL_LAYOUT;
  if (!is_whole(s, &p, word->piece_bytes))
    return ORR_REFUSAL_MALFORMED;
  word->function = p.function;
  word->index = (uint32_t)(p.id - s->desc->command_id);
  word->answered = p.answered;
  return ORR_REFUSAL_NONE;
}

static size_t write_packet(struct orr_form_state *state, const uint64_t *slot, uint32_t piece, uint8_t *packet) {
  struct state *s = (struct state *)state;
  size_t at = piece * state->out_cut.piece, left = state->layout->telemetry.bytes - at;
  const struct orr_wire_packet p = {.id = (uint16_t)(state->desc->telemetry_id + piece),
                                    .count = s->counts[piece]++,
                                    .flags = (uint32_t)slot[ORR_WIRE_OUT_FLAGS],
                                    .frame = slot[ORR_WIRE_OUT_FRAME],
                                    .answered = slot[ORR_WIRE_OUT_ANSWERED],
                                    .time_ns = (int64_t)slot[ORR_WIRE_OUT_TIME_NS]};
  return orr_wire_packet_write(packet, &p, (const uint8_t *)(slot + ORR_WIRE_OUT_WORDS) + at,
                               left < state->out_cut.piece ? left : state->out_cut.piece);
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *h, const char *unit, char *text,
                     size_t size) {
  int said = snprintf(
      text, size,
      "One CCSDS space packet per %s, cFE's default headers (big-endian): 6 "
      "bytes primary; "
      "telemetry then u32 seconds, u16 subseconds, u16 the message id again, u16 flags; commands then u8 function code "
      "(0 command, 1 end the "
      "run, 2 alive, "
      "4 say again what is not answered, 5 the sender closes the link), u8 checksum. Then little-endian: u64 frame, "
      "i64 simulated time in ns, u64 "
      "answered frame, payload, u32 "
      "CRC-32C of telemetry from the second message id on, of a command from the frame on. In a command the frame is "
      "the sender's generation (upper 32 bits: a later number for each start), the "
      "layout's tag (16 bits: 0x%04x, or 0 for a sender that does not say) and a count (16 bits). Flags of a frame: %d "
      "commands have stopped, %d the last one came late, %d lockstep, %d said again and awaited. Take frames in turn, "
      "whatever the order in which they come; in lockstep leave none out, and answer one that comes again by the same "
      "packets. A later generation takes the place of a peer that has left, or was silent for %d ms.\n",
      unit, (unsigned)orr_wire_layout_tag(h->layout_hash), ORR_WIRE_OUT_TIMED_OUT, ORR_WIRE_OUT_LATE,
      ORR_WIRE_OUT_LOCKSTEP, ORR_WIRE_OUT_AWAITED, ORR_WIRE_SILENCE_MS);
  if (desc->key_file && said > 0 && (size_t)said < size)
    snprintf(text + said, size - (size_t)said,
             "A seal stands behind each packet in its %s, both ways, little-endian: u64 run, u64 peer, u64 "
             "counter, then %d bytes of BLAKE2b with the key of %d bytes over the packet and these three. The packet's "
             "own length does not count it. The peer's number is random, another for each opening, and the run answers "
             "with it; the run's number is in its answer to function code 3, which is sealed with 0 in its place. The "
             "counter goes up by one with each packet; either side takes one of each number, and none of another run. "
             "All together are io/wire/wire.h.\n",
             unit, ORR_WIRE_MAC_BYTES, ORR_WIRE_KEY_BYTES);
}

const struct orr_form orr_form_orrery = {
    .name = "orrery",
    .echoes = true,
    .sums = true,
    .make = make,
    .unmake = unmake,
    .read = read_packet,
    .write = write_packet,
    .document = document,
};
