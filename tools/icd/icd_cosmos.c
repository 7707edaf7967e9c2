/* The packets of links over UDP as command and telemetry definitions of COSMOS: each packet a line that begins with
 * TELEMETRY or COMMAND, each number a line below it. Heads are big-endian, numbers little-endian. What COSMOS's own
 * parameters cannot work out (CRC, checksum, counts) is for a protocol of its interface, and is said at the head. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "tools/common/text.h"
#include "tools/icd/icd.h"

enum { NAME_SIZE = 400 };

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* In capitals, as COSMOS makes them: GYRO_RATE_X. */
static const char *capital(const char *name, char *text) {
  orr_icd_identifier(name, text, NAME_SIZE);
  for (char *at = text; *at; at++)
    *at = (char)toupper((unsigned char)*at);
  return text;
}

static const char *number_name(const struct orr_channel *c, int k, char *text) {
  char element[NAME_SIZE];
  orr_icd_element(c, k, element, sizeof element);
  return capital(element, text);
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* A field of fixed place: telemetry has it as an item, a command as a parameter with a value. */
struct head {
  const char *name;
  int bits;
  const char *type, *says, *endian;
};

static const struct head primary[] = {
    {"CCSDS_VERSION", 3, "UINT", "of CCSDS space packets", "BIG_ENDIAN"},
    {"CCSDS_TYPE", 1, "UINT", "0 telemetry, 1 a command", "BIG_ENDIAN"},
    {"CCSDS_SHF", 1, "UINT", "there is a secondary header", "BIG_ENDIAN"},
    {"CCSDS_APID", 11, "UINT", "one more for each further piece of a payload", "BIG_ENDIAN"},
    {"CCSDS_SEQFLAGS", 2, "UINT", "always 3", "BIG_ENDIAN"},
    {"CCSDS_SEQCNT", 14, "UINT", "of the packets with this APID", "BIG_ENDIAN"},
    {"CCSDS_LENGTH", 16, "UINT", "bytes of the packet, less 7", "BIG_ENDIAN"},
};
enum { VERSION, TYPE, SHF, APID, SEQFLAGS, SEQCNT, LENGTH, PRIMARY };

static const struct head secondary[] = {
    {"CCSDS_SECONDS", 32, "UINT", "simulated time, whole seconds", "BIG_ENDIAN"},
    {"CCSDS_SUBSECS", 16, "UINT", "simulated time, the rest in 1/65536 s", "BIG_ENDIAN"},
    {"ID_AGAIN", 16, "UINT", "the first 16 bits of the packet again", "BIG_ENDIAN"},
    {"FLAGS", 16, "UINT",
     "bit 0 commands timed out, 1 the last came late, 2 the run is over, 3 it goes on from a saved state",
     "BIG_ENDIAN"},
};
static const struct head block[] = {
    {"FRAME", 64, "UINT", "of the simulation", "LITTLE_ENDIAN"},
    {"TIME_NS", 64, "INT", "simulated time in ns", "LITTLE_ENDIAN"},
    {"ANSWERED", 64, "UINT", "frame that the last command answered; all ones: none yet", "LITTLE_ENDIAN"},
};
static const struct head sum = {"CRC32C", 32, "UINT", "CRC-32C of all from ID_AGAIN (in a command COUNT) up to here",
                                "LITTLE_ENDIAN"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void print_item(const struct head *h) {
  printf("  APPEND_ITEM %s %d %s \"%s\" %s\n", h->name, h->bits, h->type, h->says, h->endian);
}

static void print_id_item(const struct head *h, unsigned long long value) {
  printf("  APPEND_ID_ITEM %s %d %s %llu \"%s\" %s\n", h->name, h->bits, h->type, value, h->says, h->endian);
}

static void print_fixed(const struct head *h, unsigned long long value) {
  printf("  APPEND_PARAMETER %s %d %s %llu %llu %llu \"%s\" %s\n", h->name, h->bits, h->type, value, value, value,
         h->says, h->endian);
}

static void print_id_parameter(const struct head *h, unsigned long long value) {
  printf("  APPEND_ID_PARAMETER %s %d %s %llu %llu %llu \"%s\" %s\n", h->name, h->bits, h->type, value, value, value,
         h->says, h->endian);
}

static void print_any(const char *name, int bits, const char *type, const char *says, const char *endian) {
  printf("  APPEND_PARAMETER %s %d %s MIN MAX 0 \"%s\" %s\n", name, bits, type, says, endian);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void print_unit(const struct orr_channel *c) {
  char unit[ORR_TEXT_MAX];
  if (c->unit[0])
    printf("    UNITS \"%s\" \"%s\"\n", orr_text_clean(c->unit, "\\\"", unit, sizeof unit), unit);
}

static const char *const number_types[] = {
    [ORR_CHANNEL_REAL] = "64 FLOAT", [ORR_CHANNEL_WHOLE] = "64 INT", [ORR_CHANNEL_FLAG] = "8 UINT"};

static void print_telemetry_number(const struct orr_channel *c, int k) {
  char name[NAME_SIZE];
  printf("  APPEND_ITEM %s %s \"%s\" LITTLE_ENDIAN\n", number_name(c, k, name), number_types[c->type], c->name);
  print_unit(c);
}

static void print_bound(const struct orr_channel *c, double value, const char *none) {
  if (!isfinite(value))
    printf(" %s", none);
  else if (c->type == ORR_CHANNEL_REAL)
    printf(" %.17g", value);
  else
    printf(" %.0f", value);
}

/* What is outside its range is refused, with the whole command; the default is zero, or the bound nearest to it. */
static void print_command_number(const struct orr_channel *c, int k) {
  char name[NAME_SIZE];
  const bool flag = c->type == ORR_CHANNEL_FLAG;
  printf("  APPEND_PARAMETER %s %s", number_name(c, k, name), number_types[c->type]);
  print_bound(c, flag ? 0 : c->low, "MIN");
  print_bound(c, flag ? 1 : c->high, "MAX");
  print_bound(c, c->low > 0 ? c->low : c->high < 0 ? c->high : 0, "0");
  printf(" \"%s\" LITTLE_ENDIAN\n", c->name);
  print_unit(c);
}

/* The numbers of piece p, in the order of the wire. */
static void for_each_number(const struct orr_icd_side *s, uint32_t p, void (*print)(const struct orr_channel *, int)) {
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    for (int k = 0; k < c->count; k++) {
      size_t at = s->side->entries[i].at + (size_t)k * orr_icd_bytes(c);
      if (at >= p * s->piece && at < (p + 1) * s->piece)
        print(c, k);
    }
  }
}

static size_t packet_bytes(const struct orr_icd_side *s, uint32_t p) {
  size_t left = s->side->bytes - p * s->piece;
  return orr_wire_packet_bytes((uint16_t)(s->id + p), left < s->piece ? left : s->piece);
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static void print_telemetry(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  char link[NAME_SIZE];
  printf("\nTELEMETRY ORRERY %s_TELEMETRY_%u BIG_ENDIAN \"piece %u of %u\"\n", capital(l->desc->name, link), p, p + 1,
         s->pieces);
  print_item(&primary[VERSION]);
  print_id_item(&primary[TYPE], 0);
  print_item(&primary[SHF]);
  print_id_item(&primary[APID], (s->id + p) & 0x7ffu);
  for (int i = SEQFLAGS; i < PRIMARY; i++)
    print_item(&primary[i]);
  for (size_t i = 0; i < COUNT_OF(secondary); i++)
    print_item(&secondary[i]);
  for (size_t i = 0; i < COUNT_OF(block); i++)
    print_item(&block[i]);
  for_each_number(s, p, print_telemetry_number);
  print_item(&sum);
}

static void print_command_head(const struct orr_icd_link *l, unsigned id, size_t bytes,
                               enum orr_wire_function function) {
  const struct head code = {"FUNCTION", 8, "UINT", "the function code", "BIG_ENDIAN"};
  print_fixed(&primary[VERSION], 0);
  print_id_parameter(&primary[TYPE], 1);
  print_fixed(&primary[SHF], 1);
  print_id_parameter(&primary[APID], id & 0x7ffu);
  print_fixed(&primary[SEQFLAGS], 3);
  print_any("CCSDS_SEQCNT", 14, "UINT", "of the commands with this APID", "BIG_ENDIAN");
  print_fixed(&primary[LENGTH], bytes - 7);
  print_id_parameter(&code, function);
  print_any("CHECKSUM", 8, "UINT", "the exclusive or of all bytes of the packet is 0xFF", "BIG_ENDIAN");
  print_any("COUNT", 16, "UINT", "one more for each command; the same for all pieces of one", "LITTLE_ENDIAN");
  const struct head tag = {"LAYOUT_TAG", 16, "UINT", "of the layout that the sender knows", "LITTLE_ENDIAN"};
  print_fixed(&tag, orr_wire_layout_tag(l->layout.hash));
  print_any("GENERATION", 32, "UINT", "a later one for each start of the sender", "LITTLE_ENDIAN");
  print_any("TIME_NS", 64, "INT", "of the frame that is answered; not judged", "LITTLE_ENDIAN");
}

static void print_command(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  char link[NAME_SIZE];
  printf("\nCOMMAND ORRERY %s_COMMANDS_%u BIG_ENDIAN \"piece %u of %u\"\n", capital(l->desc->name, link), p, p + 1,
         s->pieces);
  print_command_head(l, s->id + p, packet_bytes(s, p), ORR_WIRE_COMMANDS);
  print_any("ANSWERED", 64, "UINT", "the frame that this answers", "LITTLE_ENDIAN");
  for_each_number(s, p, print_command_number);
  print_any(sum.name, sum.bits, sum.type, sum.says, sum.endian);
}

static void print_word(const struct orr_icd_link *l, const char *word, const char *says,
                       enum orr_wire_function function) {
  char link[NAME_SIZE];
  printf("\nCOMMAND ORRERY %s_%s BIG_ENDIAN \"%s\"\n", capital(l->desc->name, link), word, says);
  print_command_head(l, l->sides[1].id, orr_wire_packet_bytes(l->sides[1].id, 0), function);
  const struct head answered = {"ANSWERED", 64, "UINT", "no frame", "LITTLE_ENDIAN"};
  print_fixed(&answered, ORR_WIRE_NONE);
  print_any(sum.name, sum.bits, sum.type, sum.says, sum.endian);
}

void orr_icd_cosmos(const struct orr_icd *icd) {
  char path[ORR_TEXT_MAX];
  printf("# Links of %s over UDP. Written by `orrery icd --format cosmos`.\n"
         "# For a protocol of the interface to work out in a command, in this order: CCSDS_SEQCNT and COUNT; CRC32C\n"
         "# (polynomial 0x1EDC6F41, begins as 0xFFFFFFFF, data and remainder reflected, at the end xor 0xFFFFFFFF)\n"
         "# from COUNT up to itself; CHECKSUM. GENERATION is one number for each start.\n",
         orr_text_clean(icd->path, "", path, sizeof path));
  for (size_t i = 0; i < icd->count; i++)
    if (icd->links[i].desc->key_file)
      printf("# Behind each packet of %s stands a seal of %d bytes, both ways: `orrery icd` says which.\n",
             icd->links[i].desc->name, ORR_WIRE_SEAL_BYTES);
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    for (uint32_t p = 0; p < l->sides[0].pieces; p++)
      print_telemetry(l, &l->sides[0], p);
    for (uint32_t p = 0; p < l->sides[1].pieces; p++)
      print_command(l, &l->sides[1], p);
    if (l->sides[1].pieces) {
      print_word(l, "END", "ends the run", ORR_WIRE_END);
      print_word(l, "ALIVE", "the sender lives, and has no command", ORR_WIRE_BEAT);
      print_word(l, "LEAVE", "the sender closes the link", ORR_WIRE_LEAVE);
    }
  }
}
