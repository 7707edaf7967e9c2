/* The packets of links over UDP as an electronic data sheet (CCSDS 876.0-B-1, SEDS): a package of data types, in which
 * a packet is a container that extends the primary header, bounded by its APID. The sheet needs no other. */
#include <math.h>
#include <stdio.h>

#include "tools/common/text.h"
#include "tools/icd/icd.h"

enum { NAME_SIZE = 400 };

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const char *link_name(const struct orr_icd_link *l, char *text) {
  orr_icd_identifier(l->desc->name, text, NAME_SIZE);
  return text;
}

static const char *number_name(const struct orr_channel *c, int k, char *text) {
  char element[NAME_SIZE];
  orr_icd_element(c, k, element, sizeof element);
  orr_icd_identifier(element, text, NAME_SIZE);
  return text;
}

static void print_escaped(const char *text) {
  for (; *text; text++)
    if (*text == '&' || *text == '<' || *text == '>' || *text == '"')
      printf("&#%d;", *text);
    else
      putchar(*text);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const struct whole {
  const char *name;
  int bits;
  bool little, negative;
} wholes[] = {
    {"U1", 1, false, false},    {"U2", 2, false, false},    {"U3", 3, false, false},    {"U8", 8, false, false},
    {"U11", 11, false, false},  {"U14", 14, false, false},  {"U16", 16, false, false},  {"U32", 32, false, false},
    {"U16le", 16, true, false}, {"U32le", 32, true, false}, {"U64le", 64, true, false}, {"I64le", 64, true, true},
};

static void print_range(const char *low, const char *high) {
  printf("<Range><MinMaxRange rangeType=\"inclusiveMinInclusiveMax\" min=\"%s\" max=\"%s\"/></Range>", low, high);
}

static void print_whole(const struct whole *w) {
  char high[32];
  snprintf(high, sizeof high, "%llu", w->negative ? INT64_MAX : ~0ull >> (64 - w->bits));
  printf("   <IntegerDataType name=\"%s\"><IntegerDataEncoding sizeInBits=\"%d\" encoding=\"%s\" byteOrder=\"%s\"/>",
         w->name, w->bits, w->negative ? "twosComplement" : "unsigned", w->little ? "littleEndian" : "bigEndian");
  print_range(w->negative ? "-9223372036854775808" : "0", high);
  printf("</IntegerDataType>\n");
}

/* Ranges are of commands: what is outside is refused, with the whole command. */
static void print_bounds(const struct orr_channel *c, const char *format) {
  char low[40], high[40];
  if (!isfinite(c->low) || !isfinite(c->high))
    return;
  snprintf(low, sizeof low, format, c->low);
  snprintf(high, sizeof high, format, c->high);
  print_range(low, high);
}

static void print_type(const char *link, const char *side, const struct orr_channel *c) {
  char name[NAME_SIZE];
  orr_icd_identifier(c->name, name, sizeof name);
  const bool whole = c->type == ORR_CHANNEL_WHOLE;
  if (c->type == ORR_CHANNEL_FLAG) {
    printf("   <BooleanDataType name=\"%s_%s_%s_t\"><BooleanDataEncoding sizeInBits=\"8\" falseValue=\"zeroIsFalse\"/>"
           "</BooleanDataType>\n",
           link, side, name);
    return;
  }
  printf("   <%sDataType name=\"%s_%s_%s_t\"", whole ? "Integer" : "Float", link, side, name);
  if (c->unit[0]) {
    printf(" shortDescription=\"");
    print_escaped(c->unit);
    printf("\"");
  }
  printf(whole ? "><IntegerDataEncoding sizeInBits=\"64\" encoding=\"twosComplement\" byteOrder=\"littleEndian\"/>"
               : "><FloatDataEncoding sizeInBits=\"64\" encodingAndPrecision=\"IEEE754_2008_double\" "
                 "byteOrder=\"littleEndian\"/>");
  if (isfinite(c->low) && isfinite(c->high))
    print_bounds(c, whole ? "%.0f" : "%.17g");
  else if (whole)
    print_range("-9223372036854775808", "9223372036854775807");
  printf("</%sDataType>\n", whole ? "Integer" : "Float");
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

struct head {
  const char *name, *type, *says;
};

static const struct head primary[] = {
    {"Version", "U3", "of CCSDS space packets: 0"},
    {"PacketType", "U1", "0 telemetry, 1 a command"},
    {"SecondaryHeader", "U1", "always 1"},
    {"Apid", "U11", "one more for each further piece of a payload"},
    {"SequenceFlags", "U2", "always 3"},
    {"SequenceCount", "U14", "of the packets with this APID"},
};
static const struct head secondary[] = {
    {"Seconds", "U32", "simulated time, whole seconds"},
    {"Subseconds", "U16", "simulated time, the rest in 1/65536 s"},
    {"IdAgain", "U16", "the first 16 bits of the packet again; 0 in a description"},
    {"Flags", "U16",
     "bit 0 commands timed out, 1 the last came late, 2 the run is over, 3 it goes on from a saved state"},
    {"Frame", "U64le", "of the simulation"},
    {"TimeNs", "I64le", "simulated time in ns"},
    {"Answered", "U64le", "frame that the last command answered; all ones: none yet"},
};
static const struct head sender[] = {
    {"Checksum", "U8", "the exclusive or of all bytes of the packet is 0xFF"},
    {"Count", "U16le", "one more for each command; the same for all pieces of one"},
    {"LayoutTag", "U16le", "of the layout that the sender knows"},
    {"Generation", "U32le", "a later one for each start of the sender"},
    {"TimeNs", "I64le", "of the frame that is answered; not judged"},
    {"Answered", "U64le", "the frame that this answers"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void print_heads(const struct head *heads, size_t count) {
  for (size_t i = 0; i < count; i++)
    printf("     <Entry name=\"%s\" type=\"%s\" shortDescription=\"%s\"/>\n", heads[i].name, heads[i].type,
           heads[i].says);
}

/* The length that the packet says is 7 less than its bytes. */
static void print_primary(void) {
  printf("   <ContainerDataType name=\"PrimaryHeader\" abstract=\"true\">\n    <EntryList>\n");
  print_heads(primary, COUNT_OF(primary));
  printf("     <LengthEntry name=\"Length\" type=\"U16\" shortDescription=\"bytes of the packet, less 7\">"
         "<PolynomialCalibrator><Term coefficient=\"1\" exponent=\"1\"/><Term coefficient=\"7\" exponent=\"0\"/>"
         "</PolynomialCalibrator></LengthEntry>\n    </EntryList>\n   </ContainerDataType>\n");
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static void print_constraint(const char *entry, unsigned long long value) {
  printf("     <ValueConstraint entry=\"%s\" value=\"%llu\"/>\n", entry, value);
}

static void begin_packet(const char *name, unsigned id, const char *says) {
  printf("   <ContainerDataType name=\"%s\" baseType=\"PrimaryHeader\" shortDescription=\"%s\">\n"
         "    <ConstraintSet>\n",
         name, says);
  print_constraint("PacketType", id >> 12 & 1);
  print_constraint("Apid", id & 0x7ffu);
  printf("    </ConstraintSet>\n    <EntryList>\n");
}

static void print_command_head(enum orr_wire_function function) {
  printf("     <FixedValueEntry name=\"Function\" type=\"U8\" fixedValue=\"%d\"/>\n", function);
  print_heads(sender, COUNT_OF(sender));
}

static void end_packet(void) {
  printf("     <Entry name=\"Crc32c\" type=\"U32le\" shortDescription=\"CRC-32C (polynomial 0x1EDC6F41, begins as "
         "0xFFFFFFFF, data and remainder reflected, at the end xor 0xFFFFFFFF) of the block up to here, in "
         "telemetry with IdAgain and Flags before it\"/>\n"
         "    </EntryList>\n   </ContainerDataType>\n");
}

/* The numbers of piece p, in the order of the wire. */
static void print_numbers(const char *link, const struct orr_icd_side *s, uint32_t p) {
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    char name[NAME_SIZE], type[NAME_SIZE];
    orr_icd_identifier(c->name, type, sizeof type);
    for (int k = 0; k < c->count; k++) {
      size_t at = s->side->entries[i].at + (size_t)k * orr_icd_bytes(c);
      if (at >= p * s->piece && at < (p + 1) * s->piece)
        printf("     <Entry name=\"%s\" type=\"%s_%s_%s_t\"/>\n", number_name(c, k, name), link, s->name, type);
    }
  }
}

static void print_packet(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  char link[NAME_SIZE], name[NAME_SIZE + 40], says[200];
  int said = snprintf(says, sizeof says, "piece %u of %u; the block begins at byte %zu", p + 1, s->pieces, s->block_at);
  if (l->desc->key_file)
    snprintf(says + said, sizeof says - (size_t)said, "; a seal of %d bytes follows in the datagram",
             ORR_WIRE_SEAL_BYTES);
  snprintf(name, sizeof name, "%s_%s_%u", link_name(l, link), s->name, p);
  begin_packet(name, s->id + p, says);
  if (s->id & ORR_WIRE_ID_COMMAND)
    print_command_head(ORR_WIRE_COMMANDS);
  else
    print_heads(secondary, COUNT_OF(secondary));
  print_numbers(link, s, p);
  end_packet();
}

/* A word of flight software: a command without numbers, told apart by its function code. */
/* A word of flight software: a command without numbers, told apart by its function code. */
static void print_word(const struct orr_icd_link *l, const char *word, const char *says,
                       enum orr_wire_function function) {
  char link[NAME_SIZE], name[NAME_SIZE + 40];
  snprintf(name, sizeof name, "%s_%s", link_name(l, link), word);
  begin_packet(name, l->sides[1].id, says);
  print_command_head(function);
  end_packet();
}

void orr_icd_eds(const struct orr_icd *icd) {
  char link[NAME_SIZE];
  printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<PackageFile xmlns=\"http://www.ccsds.org/schema/sois/seds\">\n"
         " <Package name=\"ORRERY\" shortDescription=\"links over UDP; one packet a datagram\">\n  <DataTypeSet>\n");
  for (size_t i = 0; i < COUNT_OF(wholes); i++)
    print_whole(&wholes[i]);
  for (size_t i = 0; i < icd->count; i++)
    for (int s = 0; s < 2; s++)
      for (int k = 0; icd->links[i].sides[s].pieces && k < icd->links[i].sides[s].side->count; k++)
        print_type(link_name(&icd->links[i], link), icd->links[i].sides[s].name,
                   icd->links[i].sides[s].side->entries[k].channel);
  print_primary();
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    for (int s = 0; s < 2; s++)
      for (uint32_t p = 0; p < l->sides[s].pieces; p++)
        print_packet(l, &l->sides[s], p);
    if (l->sides[1].pieces) {
      print_word(l, "end", "ends the run", ORR_WIRE_END);
      print_word(l, "alive", "the sender lives, and has no command", ORR_WIRE_BEAT);
      print_word(l, "leave", "the sender closes the link", ORR_WIRE_LEAVE);
    }
  }
  printf("  </DataTypeSet>\n </Package>\n</PackageFile>\n");
}
