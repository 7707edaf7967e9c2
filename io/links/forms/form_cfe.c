/* The form `cfe`: a packet is exactly a message of cFE, for apps that exist already. CCSDS primary header, cFE's
 * default secondary header, then the payload as a C struct has it: numbers of 8 bytes, then flags, and zeros up to a
 * multiple of 8. Nothing in it says which frame it answers (io/links/forms/form.h, a form that does not echo).
 *
 * telemetry  0 primary | 6 u32 seconds, u16 subseconds of simulated time, 4 bytes of zeros | 16 payload
 * command    0 primary | 6 u8 function code, u8 checksum | 8 payload
 *
 * Heads are big-endian, the payload is as `endian` says. A command is known by its message id; its function code may be
 * any. cFE works the checksum out where a message begins its way (CFE_SB_TransmitMsg with IsOrigination), and leaves
 * the zero of CFE_MSG_Init elsewhere; on the bus it checks none. So a checksum other than zero must be right. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/forms/form.h"

struct state {
  struct orr_form_state base;
  uint16_t count;   /* sequence count of telemetry */
  size_t out_words; /* numbers of 8 bytes in a payload, */
  size_t in_words;  /* which stand before its flags */
  uint64_t came[];  /* [words of a command] the payload that was read last */
};

static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static size_t numbers_of_8(const struct orr_layout_side *side) {
  size_t words = 0;
  for (int i = 0; i < side->count; i++)
    if (side->entries[i].channel->type != ORR_CHANNEL_FLAG)
      words += (size_t)side->entries[i].channel->count;
  return words;
}

static bool fits(size_t head, size_t payload, const struct orr_run_link *desc) {
  return head + padded(payload) <= desc->packet_max && head + padded(payload) <= ORR_WIRE_PACKET_MAX;
}

static int make(const struct orr_run_link *desc, const struct orr_layout *layout, struct orr_form_state **state) {
  if (!fits(ORR_WIRE_TELEMETRY_AT, layout->telemetry.bytes, desc) ||
      !fits(ORR_WIRE_COMMAND_AT, layout->commands.bytes, desc))
    return EMSGSIZE;
  struct state *s = calloc(1, sizeof *s + padded(layout->commands.bytes));
  if (!s)
    return ENOMEM;
  s->base = (struct orr_form_state){
      .form = &orr_form_cfe,
      .desc = desc,
      .layout = layout,
      .out_cut = {padded(layout->telemetry.bytes) + 8, 1},
      .in_cut = {padded(layout->commands.bytes) + 8, 1},
  };
  s->out_words = numbers_of_8(&layout->telemetry);
  s->in_words = numbers_of_8(&layout->commands);
  *state = &s->base;
  return 0;
}

static void unmake(struct orr_form_state *state) { free(state); }

static void swap(uint8_t *bytes, size_t words) {
  for (size_t i = 0; i < words; i++) {
    uint64_t word;
    memcpy(&word, bytes + 8 * i, 8);
    word = __builtin_bswap64(word);
    memcpy(bytes + 8 * i, &word, 8);
  }
}

static enum orr_refusal read_packet(struct orr_form_state *state, const uint8_t *bytes, size_t count,
                                    struct orr_form_word *word, uint8_t *reply) {
  struct state *s = (struct state *)state;
  const size_t payload = state->layout->commands.bytes;
  (void)reply;
  if (count <= ORR_WIRE_COMMAND_AT - 1 || count > ORR_WIRE_PACKET_MAX || orr_wire_get_big(bytes + 4, 2) + 7 != count)
    return ORR_REFUSAL_MALFORMED;
  if (orr_wire_get_big(bytes, 2) != state->desc->command_id)
    return ORR_REFUSAL_OTHER_ID;
  if (count != ORR_WIRE_COMMAND_AT + payload && count != ORR_WIRE_COMMAND_AT + padded(payload))
    return ORR_REFUSAL_MALFORMED;
  if (bytes[7] != 0 && orr_wire_xor(bytes, count) != 0)
    return ORR_REFUSAL_MALFORMED;
  memcpy(s->came, bytes + ORR_WIRE_COMMAND_AT, payload);
  if (state->desc->big_endian)
    swap((uint8_t *)s->came, s->in_words);
  word->function = ORR_WIRE_COMMANDS;
  word->piece = (const uint8_t *)s->came;
  word->piece_bytes = payload;
  return ORR_REFUSAL_NONE;
}

static size_t write_packet(struct orr_form_state *state, const uint64_t *slot, uint32_t piece, uint8_t *packet) {
  struct state *s = (struct state *)state;
  const size_t payload = state->layout->telemetry.bytes, all = ORR_WIRE_TELEMETRY_AT + padded(payload);
  const uint64_t time_ns = slot[ORR_WIRE_OUT_TIME_NS];
  (void)piece;
  memset(packet, 0, all);
  orr_wire_put_big(packet, state->desc->telemetry_id, 2);
  orr_wire_put_big(packet + 2, 0xc000u | (s->count++ & 0x3fffu), 2);
  orr_wire_put_big(packet + 4, all - 7, 2);
  orr_wire_put_big(packet + 6, time_ns / 1000000000, 4);
  orr_wire_put_big(packet + 10, (time_ns % 1000000000 << 16) / 1000000000, 2);
  memcpy(packet + ORR_WIRE_TELEMETRY_AT, slot + ORR_WIRE_OUT_WORDS, payload);
  if (state->desc->big_endian)
    swap(packet + ORR_WIRE_TELEMETRY_AT, s->out_words);
  return all;
}

/* In a stream: a packet of either id begins, and its length follows. */
static size_t find(struct orr_form_state *state, const uint8_t *bytes, size_t count, size_t *skip) {
  const size_t payload = state->layout->commands.bytes;
  for (*skip = 0; *skip + ORR_WIRE_PRIMARY_BYTES <= count; ++*skip) {
    const uint8_t *at = bytes + *skip;
    const size_t all = orr_wire_get_big(at + 4, 2) + 7;
    if (orr_wire_get_big(at, 2) == state->desc->command_id &&
        (all == ORR_WIRE_COMMAND_AT + payload || all == ORR_WIRE_COMMAND_AT + padded(payload)))
      return *skip + all <= count ? all : 0;
  }
  return 0;
}

static void document(const struct orr_run_link *desc, const struct orr_wire_header *header, const char *unit,
                     char *text, size_t size) {
  (void)header;
  snprintf(text, size,
           "One message of cFE per %s: CCSDS primary header of 6 bytes, big-endian; then telemetry u32 seconds, u16 "
           "subseconds and 4 bytes of zeros, a command u8 function code (any) and u8 checksum (the exclusive or of all "
           "bytes of the packet is 0xFF; zero where it was not worked out); then the payload, %s-endian, with zeros up "
           "to a multiple of 8 bytes, which a command may leave out. A command answers the newest frame that went out; "
           "a further one to the same frame is a duplicate. Nothing is said again, and nothing tells when the run "
           "ends.\n",
           unit, desc->big_endian ? "big" : "little");
}

const struct orr_form orr_form_cfe = {
    .name = "cfe",
    .make = make,
    .unmake = unmake,
    .read = read_packet,
    .write = write_packet,
    .find = find,
    .document = document,
};
