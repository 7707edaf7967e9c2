/* The interface document as a header that compiles by itself, in C and in C++: payloads and whole packets as structs,
 * message ids as cFE takes them, and the sum of a packet as a function. */
#include <math.h>
#include <stdio.h>

#include "tools/common/text.h"
#include "tools/icd/icd.h"

enum { NAME_SIZE = 160 };

/* In a comment or a text it ends neither. */
static const char unfit[] = "\\\"*";

/* ---- what stands before all links -------------------------------------------------------------------------------- */

static const char before[] =
    "#ifndef ORRERY_LINKS_H\n#define ORRERY_LINKS_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
    "#ifdef __cplusplus\n#define ORRERY_HOLDS(truth) static_assert(truth, \"as the link has it\")\n"
    "#elif __STDC_VERSION__ >= 201112L\n#define ORRERY_HOLDS(truth) _Static_assert(truth, \"as the link has it\")\n"
    "#else\n#define ORRERY_HOLDS(truth) extern int orrery_holds[(truth) ? 1 : -1]\n#endif\n\n"
    "/* Each number stands where its own alignment wants it, so its address may be taken. A struct is as long as a\n"
    " * multiple of 8; what goes over the link is ..._BYTES long. */\n"
    "#define ORRERY_PACKED __attribute__((packed, aligned(8)))\n";

static const char sums[] =
    "\n/* CRC-32C (Castagnoli): of a packet, ..._SUM_BYTES from byte ..._SUM_AT on. */\n"
    "static inline uint32_t orrery_crc32c(const void *bytes, size_t count) {\n"
    "  const uint8_t *at = (const uint8_t *)bytes;\n  uint32_t crc = 0xffffffffu;\n"
    "  for (size_t i = 0; i < count; i++) {\n    crc ^= at[i];\n    for (int k = 0; k < 8; k++)\n"
    "      crc = crc >> 1 ^ (0x82f63b78u & (0u - (crc & 1u)));\n  }\n  return ~crc;\n}\n"
    "\n/* The checksum of a command's secondary header makes this 0 (cFE sets it itself when it sends). */\n"
    "static inline uint8_t orrery_xor(const void *packet, size_t bytes) {\n"
    "  const uint8_t *at = (const uint8_t *)packet;\n  uint8_t sum = 0xff;\n"
    "  for (size_t i = 0; i < bytes; i++)\n    sum = (uint8_t)(sum ^ at[i]);\n  return sum;\n}\n"
    "\n/* The frame of a command: the sender's generation (a later number for each start), the layout's tag, a count. "
    "*/\n"
    "static inline uint64_t orrery_command_frame(uint32_t generation, uint16_t tag, uint32_t count) {\n"
    "  return (uint64_t)generation << 32 | (uint64_t)tag << 16 | (count & 0xffffu);\n}\n";

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static const char *const types[] = {
    [ORR_CHANNEL_REAL] = "double", [ORR_CHANNEL_WHOLE] = "int64_t", [ORR_CHANNEL_FLAG] = "uint8_t"};

/* Numbers `from` to `to` − 1 of a channel as a field: in a packet that begins within a channel it says from which. */
static void print_field(const struct orr_channel *c, int from, int to) {
  char name[NAME_SIZE];
  orr_icd_identifier(c->name, name, sizeof name);
  printf("  %s %s", types[c->type], name);
  if (from > 0)
    printf("_from_%d", from);
  if (c->count > 1)
    printf("[%d]", to - from);
  printf("; /* %s%s%s", c->name, c->unit[0] ? ", " : "", c->unit);
  if (isfinite(c->low) || isfinite(c->high))
    printf(", from %.9g to %.9g", c->low, c->high);
  if (c->most > 0)
    printf(", clipped to +-%.9g", c->most);
  printf(" */\n");
}

static size_t rounded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static void print_payload(const char *link, const struct orr_icd_side *s) {
  printf("\n/* Payload of %s. */\n#define %s_%s_BYTES %u\nstruct %s_%s {\n", s->name, link, s->name, s->side->bytes,
         link, s->name);
  for (int i = 0; i < s->side->count; i++)
    print_field(s->side->entries[i].channel, 0, s->side->entries[i].channel->count);
  if (s->side->count == 0)
    printf("  char nothing;\n");
  printf("} ORRERY_PACKED;\n");
  if (s->side->count)
    printf("ORRERY_HOLDS(sizeof(struct %s_%s) == %zu);\n", link, s->name, rounded(s->side->bytes));
  for (int i = 0; i < s->side->count; i++) {
    char name[NAME_SIZE];
    orr_icd_identifier(s->side->entries[i].channel->name, name, sizeof name);
    printf("ORRERY_HOLDS(offsetof(struct %s_%s, %s) == %u);\n", link, s->name, name, s->side->entries[i].at);
  }
}

/* The fields of the channels that piece p carries. */
static void print_piece(const struct orr_icd_side *s, uint32_t p) {
  const size_t begin = p * s->piece, end = begin + s->piece;
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    const size_t each = orr_icd_bytes(c), at = s->side->entries[i].at;
    int from = at < begin ? (int)((begin - at) / each) : 0, to = at < end ? (int)((end - at) / each) : 0;
    to = to < c->count ? to : c->count;
    if (from < to)
      print_field(c, from, to);
  }
}

/* Exactly a message of cFE. */
static void print_message(const char *link, const struct orr_icd_side *s) {
  const size_t bytes = orr_icd_packet_bytes(s, 0);
  printf("\n/* A whole message of %s%s. cFE's own header may stand in place of `header`. */\n"
         "#define %s_%s_PACKET_BYTES %zu\nstruct %s_%s_packet {\n"
         "  uint8_t header[%zu]; /* primary and secondary, as cFE has them by default: big-endian */\n",
         s->name, s->big ? ": its numbers are big-endian" : "", link, s->name, bytes, link, s->name, s->block_at);
  print_piece(s, 0);
  printf("} ORRERY_PACKED;\nORRERY_HOLDS(sizeof(struct %s_%s_packet) == %s_%s_PACKET_BYTES);\n", link, s->name, link,
         s->name);
}

static void print_packet(const char *link, const struct orr_icd_side *s, uint32_t p) {
  char name[NAME_SIZE + 16], macro[NAME_SIZE + 16];
  const size_t bytes = orr_icd_packet_bytes(s, p), sum_at = orr_wire_summed_at((uint16_t)(s->id + p));
  snprintf(name, sizeof name, s->pieces > 1 ? "%s_%s_packet_%u" : "%s_%s_packet", link, s->name, p);
  snprintf(macro, sizeof macro, s->pieces > 1 ? "%s_%s_PACKET_%u" : "%s_%s_PACKET", link, s->name, p);
  printf("\n/* A whole packet of %s", s->name);
  if (s->pieces > 1)
    printf(", piece %u of %u, with the message id 0x%04x", p + 1, s->pieces, s->id + p);
  printf(". The sum is of ..._SUM_BYTES from byte ..._SUM_AT on. */\n"
         "#define %s_BYTES %zu\n#define %s_SUM_AT %zu\n#define %s_SUM_BYTES %zu\nstruct %s {\n"
         "  uint8_t header[%zu]; /* primary and secondary, as cFE has them by default: big-endian */\n"
         "  uint64_t frame;\n  int64_t time_ns;\n  uint64_t answered;\n",
         macro, bytes, macro, sum_at, macro, bytes - ORR_WIRE_CRC_BYTES - sum_at, name, s->block_at);
  print_piece(s, p);
  printf("  uint32_t crc32c;\n} ORRERY_PACKED;\nORRERY_HOLDS(sizeof(struct %s) == %zu);\n"
         "ORRERY_HOLDS(offsetof(struct %s, frame) == %zu);\nORRERY_HOLDS(offsetof(struct %s, crc32c) == %zu);\n",
         name, rounded(bytes), name, s->block_at, name, bytes - ORR_WIRE_CRC_BYTES);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static void print_side(const char *link, const struct orr_icd_side *s) {
  if (s->pieces)
    printf("#define %s_%s_ID 0x%04x /* the message id of the first packet, for CFE_SB_ValueToMsgId */\n"
           "#define %s_%s_PACKETS %u\n#define %s_%s_PAYLOAD_AT %zu\n#define %s_%s_PIECE_BYTES %zu\n",
           link, s->name, s->id, link, s->name, s->pieces, link, s->name, orr_icd_payload_at(s), link, s->name,
           s->piece);
  print_payload(link, s);
  for (uint32_t p = 0; p < s->pieces && !s->bare; p++)
    print_packet(link, s, p);
  if (s->bare)
    print_message(link, s);
}

static void print_link(const struct orr_icd *icd, const struct orr_icd_link *l) {
  char link[NAME_SIZE];
  orr_icd_identifier(l->desc->name, link, sizeof link);
  printf("\n/* ---- %s ---- */\n#define %s_LAYOUT_HASH UINT64_C(0x%016llx)\n#define %s_LAYOUT_TAG 0x%04x\n"
         "#define %s_STEP_NS INT64_C(%lld)\n#define %s_DIVISOR %d\n",
         l->desc->name, link, (unsigned long long)l->layout.hash, link, (unsigned)orr_wire_layout_tag(l->layout.hash),
         link, (long long)icd->run->plant.step_ns, link, l->desc->divisor);
  if (l->desc->key_file)
    printf(
        "/* The link has a key. Behind each packet of its datagram stands a seal, both ways, little-endian: u64 run, "
        "u64\n * peer, u64 counter, %d bytes of BLAKE2b over the packet and these. `orrery icd` says more, "
        "io/wire/wire.h all. */\n#define %s_SEAL_BYTES %d\n",
        ORR_WIRE_MAC_BYTES, link, ORR_WIRE_SEAL_BYTES);
  if (l->desc->layout) {
    orr_icd_layout_c(icd, l);
    return;
  }
  print_side(link, &l->sides[0]);
  print_side(link, &l->sides[1]);
}

void orr_icd_c(const struct orr_icd *icd) {
  char path[ORR_TEXT_MAX];
  printf("/* Links of %s. Little-endian, SI. Written by `orrery icd --format c`. */\n%s",
         orr_text_clean(icd->path, unfit, path, sizeof path), before);
  bool packets = false;
  for (size_t i = 0; i < icd->count; i++)
    packets = packets || icd->links[i].sides[0].pieces || icd->links[i].sides[1].pieces;
  if (packets)
    fputs(sums, stdout);
  for (size_t i = 0; i < icd->count; i++)
    print_link(icd, &icd->links[i]);
  printf("\n#endif\n");
}
