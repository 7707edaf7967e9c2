/* The packets of links over UDP as XTCE 1.2 (OMG formal/18-10-04): telemetry as containers, commands as MetaCommands,
 * every bit of each named. What the document cannot say (over what a sum is taken, which number is later) stands in
 * descriptions. */
#include <math.h>
#include <stdio.h>

#include "tools/icd/icd.h"

enum { NAME_SIZE = 400 };

#define LITTLE "byteOrder=\"leastSignificantByteFirst\""

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Names hold letters, digits and _: fsw_gyro_rate_x. */
static void number_name(const struct orr_icd_link *l, const struct orr_channel *c, int k, char *text) {
  char element[NAME_SIZE / 2], full[NAME_SIZE];
  orr_icd_element(c, k, element, sizeof element);
  snprintf(full, sizeof full, "%s_%s", l->desc->name, element);
  orr_icd_identifier(full, text, NAME_SIZE);
}

static void link_name(const struct orr_icd_link *l, char *text) { orr_icd_identifier(l->desc->name, text, NAME_SIZE); }

static void print_escaped(const char *text) {
  for (; *text; text++)
    if (*text == '&' || *text == '<' || *text == '>' || *text == '"')
      printf("&#%d;", *text);
    else
      putchar(*text);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Of the heads; `argument` where a sender of commands gives one, too. */
static const struct whole {
  const char *name;
  int bits;
  bool little, negative, argument;
} wholes[] = {
    {"u1", 1, false, false, false},   {"u2", 2, false, false, false},   {"u3", 3, false, false, false},
    {"u8", 8, false, false, false},   {"u11", 11, false, false, false}, {"u14", 14, false, false, false},
    {"u16", 16, false, false, false}, {"u32", 32, false, false, false}, {"u32le", 32, true, false, true},
    {"u64le", 64, true, false, true}, {"i64le", 64, true, true, true},
};
static const struct whole u16le = {"u16le", 16, true, false, true};

static void print_whole(const struct whole *w, const char *role, const char *prefix) {
  printf("   <Integer%sType name=\"%s%s\" signed=\"%s\" sizeInBits=\"%d\"><IntegerDataEncoding sizeInBits=\"%d\" "
         "encoding=\"%s\"%s/></Integer%sType>\n",
         role, prefix, w->name, w->negative ? "true" : "false", w->bits > 32 ? 64 : 32, w->bits,
         w->negative ? "twosComplement" : "unsigned", w->little ? " " LITTLE : "", role);
}

static const struct {
  const char *kind, *attributes, *encoding;
} shapes[] = {
    [ORR_CHANNEL_REAL] = {"Float", " sizeInBits=\"64\"",
                          "<FloatDataEncoding sizeInBits=\"64\" encoding=\"IEEE754_1985\" " LITTLE "/>"},
    [ORR_CHANNEL_WHOLE] = {"Integer", " signed=\"true\" sizeInBits=\"64\"",
                           "<IntegerDataEncoding sizeInBits=\"64\" encoding=\"twosComplement\" " LITTLE "/>"},
    [ORR_CHANNEL_FLAG] = {"Boolean", "", "<IntegerDataEncoding sizeInBits=\"8\" encoding=\"unsigned\"/>"},
};

static void print_bound(const struct orr_channel *c, const char *name, double value) {
  if (isfinite(value) && c->type == ORR_CHANNEL_WHOLE)
    printf(" %s=\"%.0f\"", name, value);
  else if (isfinite(value))
    printf(" %s=\"%.17g\"", name, value);
}

/* What is outside is refused, with the whole command. */
static void print_range(const struct orr_channel *c) {
  if (c->type == ORR_CHANNEL_FLAG || (!isfinite(c->low) && !isfinite(c->high)))
    return;
  printf("<ValidRangeSet><ValidRange");
  print_bound(c, "minInclusive", c->low);
  print_bound(c, "maxInclusive", c->high);
  printf("/></ValidRangeSet>");
}

static void print_type(const struct orr_icd_link *l, const struct orr_channel *c) {
  bool command = c->direction == ORR_CHANNEL_COMMAND;
  const char *role = command ? "Argument" : "Parameter";
  char name[NAME_SIZE];
  number_name(l, c, 0, name);
  printf("   <%s%sType name=\"%s_type\"%s>", shapes[c->type].kind, role, name, shapes[c->type].attributes);
  if (c->unit[0]) {
    printf("<UnitSet><Unit>");
    print_escaped(c->unit);
    printf("</Unit></UnitSet>");
  }
  printf("%s", shapes[c->type].encoding);
  if (command)
    print_range(c);
  printf("</%s%sType>\n", shapes[c->type].kind, role);
}

/* A piece of a link's description takes what its packet has left. */
static void print_description_type(void) {
  const int others = ORR_WIRE_TELEMETRY_AT + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES;
  printf("   <BinaryParameterType name=\"description_type\"><BinaryDataEncoding><SizeInBits><DynamicValue>"
         "<ParameterInstanceRef parameterRef=\"length\"/><LinearAdjustment slope=\"8\" intercept=\"%d\"/>"
         "</DynamicValue></SizeInBits></BinaryDataEncoding></BinaryParameterType>\n",
         8 * (7 - others));
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

struct head {
  const char *name, *type, *says;
};

static const struct head primary[] = {
    {"version", "u3", "of CCSDS space packets: 0"},
    {"type", "u1", "0: telemetry, 1: a command"},
    {"secondary_header", "u1", "always 1"},
    {"apid", "u11", "of the first piece of a payload; one more for each further one"},
    {"sequence_flags", "u2", "always 3"},
    {"sequence_count", "u14", "of the packets with this apid"},
    {"length", "u16", "bytes of the packet, less 7"},
};
static const struct head secondary[] = {
    {"seconds", "u32", "simulated time, whole seconds"},
    {"subseconds", "u16", "simulated time, the rest in 1/65536 s"},
    {"id_again", "u16", "the first 16 bits of the packet again; 0 in a description"},
    {"flags", "u16",
     "bit 0: commands timed out; bit 1: the last came late; bit 2: the run is over; bit 3: it goes on from a saved "
     "state"},
};
static const struct head block[] = {
    {"frame", "u64le", "of the simulation"},
    {"time_ns", "i64le", "simulated time in ns"},
    {"answered", "u64le", "frame that the last command answered; all ones: none yet"},
};
#define CRC_IS                                                                                                         \
  "CRC-32C (polynomial 0x1EDC6F41, begins as 0xFFFFFFFF, data and remainder reflected, at the end xor 0xFFFFFFFF)"
static const struct head last[] = {
    {"crc32c", "u32le", CRC_IS " of all from id_again, in a description from the frame, up to here"}};
/* What a sender of commands works out. */
static const struct head sums[] = {
    {"command_count", "u14", "sequence count: of the packets with this message id"},
    {"command_checksum", "u8", "the exclusive or of all bytes of the packet, this one too, is 0xFF"},
    {"command_crc32c", "u32le", CRC_IS " of all from byte 8 up to here; worked out before the checksum"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void print_heads(const struct head *heads, size_t count, bool local) {
  for (size_t i = 0; i < count; i++) {
    const struct head *h = &heads[i];
    printf("   <Parameter name=\"%s\" shortDescription=\"%s\" parameterTypeRef=\"%s\"", h->name, h->says, h->type);
    printf(local ? " initialValue=\"0\"><ParameterProperties dataSource=\"local\"/></Parameter>\n" : "/>\n");
  }
}

static void print_parameters(const struct orr_icd_link *l, const struct orr_channel *c) {
  char type[NAME_SIZE], name[NAME_SIZE];
  number_name(l, c, 0, type);
  for (int k = 0; k < c->count; k++) {
    number_name(l, c, k, name);
    printf("   <Parameter name=\"%s\" parameterTypeRef=\"%s_type\"/>\n", name, type);
  }
}

static void for_each(const struct orr_icd *icd, int side,
                     void (*print)(const struct orr_icd_link *, const struct orr_channel *)) {
  for (size_t i = 0; i < icd->count; i++)
    for (int k = 0; icd->links[i].sides[side].pieces && k < icd->links[i].sides[side].side->count; k++)
      print(&icd->links[i], icd->links[i].sides[side].side->entries[k].channel);
}

/* ---- containers -------------------------------------------------------------------------------------------------- */

static void print_parameter_entry(const char *name, const char *type) {
  (void)type;
  printf("     <ParameterRefEntry parameterRef=\"%s\"/>\n", name);
}

static void print_argument_entry(const char *name, const char *type) {
  (void)type;
  printf("     <ArgumentRefEntry argumentRef=\"%s\"/>\n", name);
}

static void print_argument(const char *name, const char *type) {
  printf("     <Argument name=\"%s\" argumentTypeRef=\"%s_type\"/>\n", name, type);
}

static void print_fixed(const char *name, unsigned long long value, int bits) {
  printf("     <FixedValueEntry name=\"%s\" binaryValue=\"%0*llX\" sizeInBits=\"%d\"/>\n", name, (bits + 7) / 8 * 2,
         value, bits);
}

static void print_entries(const struct head *heads, size_t count) {
  for (size_t i = 0; i < count; i++)
    print_parameter_entry(heads[i].name, NULL);
}

/* The numbers of piece p, in the order of the wire. */
static void for_each_number(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p,
                            void (*print)(const char *name, const char *type)) {
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    char name[NAME_SIZE], type[NAME_SIZE];
    number_name(l, c, 0, type);
    for (int k = 0; k < c->count; k++) {
      size_t at = s->side->entries[i].at + (size_t)k * orr_icd_bytes(c);
      number_name(l, c, k, name);
      if (at >= p * s->piece && at < (p + 1) * s->piece)
        print(name, type);
    }
  }
}

/* Bits of the packet that carries piece p. */
static size_t packet_bits(const struct orr_icd_side *s, uint32_t p) {
  size_t left = s->side->bytes - p * s->piece;
  return 8 * orr_wire_packet_bytes((uint16_t)(s->id + p), left < s->piece ? left : s->piece);
}

/* A packet's length is that of its entries. Nothing says so once more (BinaryEncoding): readers take that for a type,
 * and fail. */
static void print_says(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  printf(" shortDescription=\"piece %u of %u", p + 1, s->pieces);
  if (l->desc->key_file)
    printf("; a seal of %d bytes follows in the datagram", ORR_WIRE_SEAL_BYTES);
  printf("\">\n");
}

static void print_base(unsigned id, size_t bits) { /* 0: of any length */
  print_entries(last, COUNT(last));
  printf(
      "    </EntryList>\n    <BaseContainer containerRef=\"primary_header\"><RestrictionCriteria><ComparisonList>\n"
      "     <Comparison parameterRef=\"type\" value=\"0\"/>\n     <Comparison parameterRef=\"apid\" value=\"%u\"/>\n",
      id & 0x7ffu);
  if (bits)
    printf("     <Comparison parameterRef=\"length\" value=\"%zu\"/>\n", bits / 8 - 7);
  printf("    </ComparisonList></RestrictionCriteria></BaseContainer>\n   </SequenceContainer>\n");
}

static void print_container(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  char link[NAME_SIZE];
  link_name(l, link);
  printf("   <SequenceContainer name=\"%s_telemetry_%u\"", link, p);
  print_says(l, s, p);
  printf("    <EntryList>\n");
  print_entries(secondary, COUNT(secondary));
  print_entries(block, COUNT(block));
  for_each_number(l, s, p, print_parameter_entry);
  print_base(s->id + p, packet_bits(s, p));
}

/* What a run answers to `describe`, and tells all peers at its end, whatever the link. */
static void print_description(void) {
  printf("   <SequenceContainer name=\"description_piece\" shortDescription=\"frame: number of the piece; time_ns: "
         "newest generation; answered: bytes of all pieces\">\n    <EntryList>\n");
  print_entries(secondary, COUNT(secondary));
  print_entries(block, COUNT(block));
  print_parameter_entry("description", NULL);
  print_base(ORR_WIRE_DESCRIPTION_ID, 0);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* Up to the frame of the block. */
static void print_command_heads(unsigned id, enum orr_wire_function function, size_t bits) {
  printf("    <EntryList>\n");
  print_fixed("message_id", id, 16);
  print_fixed("sequence_flags", 3, 2);
  print_parameter_entry("command_count", NULL);
  print_fixed("length", bits / 8 - 7, 16);
  print_fixed("function", function, 8);
  print_parameter_entry("command_checksum", NULL);
}

static void print_command_end(void) {
  print_parameter_entry("command_crc32c", NULL);
  printf("    </EntryList></CommandContainer>\n   </MetaCommand>\n");
}

static void print_sender(void) {
  printf("     <Argument name=\"count\" shortDescription=\"one more for each command; the same for all pieces of one\" "
         "argumentTypeRef=\"argument_u16le\"/>\n"
         "     <Argument name=\"generation\" shortDescription=\"a later one for each start of the sender\" "
         "argumentTypeRef=\"argument_u32le\"/>\n");
}

/* The frame of a command's block: count, the layout's tag, generation. */
static void print_sender_entries(const struct orr_icd_link *l) {
  unsigned tag = orr_wire_layout_tag(l->layout.hash);
  print_argument_entry("count", NULL);
  print_fixed("layout_tag", (tag & 0xff) << 8 | tag >> 8, 16);
  print_argument_entry("generation", NULL);
}

static void print_command(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  char link[NAME_SIZE];
  link_name(l, link);
  printf("   <MetaCommand name=\"%s_commands_%u\"", link, p);
  print_says(l, s, p);
  printf("    <ArgumentList>\n");
  print_sender();
  printf("     <Argument name=\"time_ns\" shortDescription=\"of the frame that is answered; not judged\" "
         "argumentTypeRef=\"argument_i64le\" initialValue=\"0\"/>\n"
         "     <Argument name=\"answered\" shortDescription=\"the frame that this answers\" "
         "argumentTypeRef=\"argument_u64le\"/>\n");
  for_each_number(l, s, p, print_argument);
  printf("    </ArgumentList>\n    <CommandContainer name=\"%s_commands_%u\">\n", link, p);
  print_command_heads(s->id + p, ORR_WIRE_COMMANDS, packet_bits(s, p));
  print_sender_entries(l);
  print_argument_entry("time_ns", NULL);
  print_argument_entry("answered", NULL);
  for_each_number(l, s, p, print_argument_entry);
  print_command_end();
}

/* A command without numbers, which answers no frame. */
static void print_word(const struct orr_icd_link *l, const char *word, const char *says,
                       enum orr_wire_function function) {
  char link[NAME_SIZE];
  link_name(l, link);
  printf("   <MetaCommand name=\"%s_%s\" shortDescription=\"%s\">\n    <ArgumentList>\n", link, word, says);
  print_sender();
  printf("    </ArgumentList>\n    <CommandContainer name=\"%s_%s\">\n", link, word);
  print_command_heads(l->sides[1].id, function, 8 * orr_wire_packet_bytes(l->sides[1].id, 0));
  print_sender_entries(l);
  print_fixed("time_ns", 0, 64);
  print_fixed("answered", ORR_WIRE_NONE, 64);
  print_command_end();
}

static void print_describe(void) {
  const uint16_t id = ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND;
  printf("   <MetaCommand name=\"describe\" shortDescription=\"asks for a piece of the description\">\n"
         "    <ArgumentList>\n     <Argument name=\"piece\" argumentTypeRef=\"argument_u64le\" initialValue=\"0\"/>\n"
         "    </ArgumentList>\n    <CommandContainer name=\"describe\">\n");
  print_command_heads(id, ORR_WIRE_DESCRIBE, 8 * orr_wire_packet_bytes(id, 0));
  print_argument_entry("piece", NULL);
  print_fixed("time_ns", 0, 64);
  print_fixed("answered", 0, 64);
  print_command_end();
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void print_telemetry(const struct orr_icd *icd) {
  printf(" <TelemetryMetaData>\n  <ParameterTypeSet>\n");
  for (size_t i = 0; i < COUNT(wholes); i++)
    print_whole(&wholes[i], "Parameter", "");
  print_description_type();
  for_each(icd, 0, print_type);
  printf("  </ParameterTypeSet>\n  <ParameterSet>\n");
  print_heads(primary, COUNT(primary), false);
  print_heads(secondary, COUNT(secondary), false);
  print_heads(block, COUNT(block), false);
  printf("   <Parameter name=\"description\" shortDescription=\"header, directory and names of the link, in pieces; "
         "nothing "
         "where the run is over\" parameterTypeRef=\"description_type\"/>\n");
  for_each(icd, 0, print_parameters);
  print_heads(last, COUNT(last), false);
  printf("  </ParameterSet>\n  <ContainerSet>\n   <SequenceContainer name=\"primary_header\" abstract=\"true\">\n"
         "    <EntryList>\n");
  print_entries(primary, COUNT(primary));
  printf("    </EntryList>\n   </SequenceContainer>\n");
  for (size_t i = 0; i < icd->count; i++)
    for (uint32_t p = 0; p < icd->links[i].sides[0].pieces; p++)
      print_container(&icd->links[i], &icd->links[i].sides[0], p);
  print_description();
  printf("  </ContainerSet>\n </TelemetryMetaData>\n");
}

static void print_commands(const struct orr_icd *icd) {
  printf(" <CommandMetaData>\n  <ParameterSet>\n");
  print_heads(sums, COUNT(sums), true);
  printf("  </ParameterSet>\n  <ArgumentTypeSet>\n");
  print_whole(&u16le, "Argument", "argument_");
  for (size_t i = 0; i < COUNT(wholes); i++)
    if (wholes[i].argument)
      print_whole(&wholes[i], "Argument", "argument_");
  for_each(icd, 1, print_type);
  printf("  </ArgumentTypeSet>\n  <MetaCommandSet>\n");
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    for (uint32_t p = 0; p < l->sides[1].pieces; p++)
      print_command(l, &l->sides[1], p);
    if (l->sides[1].pieces) {
      print_word(l, "end", "ends the run", ORR_WIRE_END);
      print_word(l, "alive", "the sender lives, and has no command", ORR_WIRE_BEAT);
      print_word(l, "leave", "the sender closes the link", ORR_WIRE_LEAVE);
    }
  }
  print_describe();
  printf("  </MetaCommandSet>\n </CommandMetaData>\n");
}

void orr_icd_xtce(const struct orr_icd *icd) {
  printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<SpaceSystem xmlns=\"http://www.omg.org/spec/XTCE/20180204\"\n"
         " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
         " xsi:schemaLocation=\"http://www.omg.org/spec/XTCE/20180204 "
         "https://www.omg.org/spec/XTCE/20180204/SpaceSystem.xsd\"\n"
         " name=\"orrery\" shortDescription=\"links over UDP");
  for (size_t i = 0; i < icd->count; i++)
    if (icd->links[i].desc->key_file) {
      char link[NAME_SIZE];
      link_name(&icd->links[i], link);
      printf("; behind each packet of %s stands a seal of its key, both ways, little-endian: u64 run, u64 peer, u64 "
             "counter, %d bytes of BLAKE2b over the packet and these; the packet's length does not count it",
             link, ORR_WIRE_MAC_BYTES);
    }
  printf("\">\n");
  print_telemetry(icd);
  print_commands(icd);
  printf("</SpaceSystem>\n");
}
