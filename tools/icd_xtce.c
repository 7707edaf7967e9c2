/* The packets of links over UDP as XTCE 1.2 (OMG formal/18-10-04): a container per packet, every bit of it named. */
#include <stdio.h>

#include "tools/icd.h"

enum { NAME_SIZE = 200 };

/* Names hold letters, digits, _ and -: gyro_rate_x. */
static void parameter_name(const struct orr_icd_link *l, const struct orr_channel *c, int k, char *text, size_t size) {
  char element[NAME_SIZE], full[2 * NAME_SIZE];
  orr_icd_element(c, k, element, sizeof element);
  snprintf(full, sizeof full, "%s_%s", l->desc->name, element);
  orr_icd_identifier(full, text, size);
}

static const char fixed_types[] =
    "   <IntegerParameterType name=\"u1\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"1\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u2\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"2\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u3\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"3\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u8\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"8\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u11\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"11\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u14\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"14\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u16\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"16\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u32\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"32\" "
    "encoding=\"unsigned\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u32le\" signed=\"false\"><IntegerDataEncoding sizeInBits=\"32\" "
    "encoding=\"unsigned\" byteOrder=\"leastSignificantByteFirst\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"u64le\" signed=\"false\" sizeInBits=\"64\"><IntegerDataEncoding sizeInBits=\"64\" "
    "encoding=\"unsigned\" byteOrder=\"leastSignificantByteFirst\"/></IntegerParameterType>\n"
    "   <IntegerParameterType name=\"i64le\" signed=\"true\" sizeInBits=\"64\"><IntegerDataEncoding sizeInBits=\"64\" "
    "encoding=\"twosComplement\" byteOrder=\"leastSignificantByteFirst\"/></IntegerParameterType>\n";

static const struct {
  const char *name, *type;
} heads[] = {
    {"version", "u3"},   {"type", "u1"},           {"secondary_header", "u1"},
    {"apid", "u11"},     {"sequence_flags", "u2"}, {"sequence_count", "u14"},
    {"length", "u16"},   {"seconds", "u32"},       {"subseconds", "u16"},
    {"flags", "u32"},                        /* telemetry */
    {"function", "u8"},  {"checksum", "u8"}, /* commands */
    {"frame", "u64le"},  {"time_ns", "i64le"},     {"answered", "u64le"},
    {"crc32c", "u32le"},
};
enum { PRIMARY = 7, TELEMETRY_END = 10, COMMAND_END = 12, BLOCK_END = 15, HEADS = 16 };

/* A unit may be written with & or < nowhere that we know; escaped all the same. */
static void print_escaped(const char *text) {
  for (; *text; text++)
    if (*text == '&' || *text == '<' || *text == '>' || *text == '"')
      printf("&#%d;", *text);
    else
      putchar(*text);
}

static void print_type(const struct orr_icd_link *l, const struct orr_channel *c) {
  char name[NAME_SIZE];
  parameter_name(l, c, 0, name, sizeof name);
  const char *order = "byteOrder=\"leastSignificantByteFirst\"";
  if (c->type == ORR_CHANNEL_REAL)
    printf("   <FloatParameterType name=\"%s_type\" sizeInBits=\"64\"><UnitSet>", name);
  else
    printf("   <IntegerParameterType name=\"%s_type\" signed=\"%s\" sizeInBits=\"64\"><UnitSet>", name,
           c->type == ORR_CHANNEL_WHOLE ? "true" : "false");
  if (c->unit[0]) {
    printf("<Unit>");
    print_escaped(c->unit);
    printf("</Unit>");
  }
  printf("</UnitSet>");
  if (c->type == ORR_CHANNEL_REAL)
    printf("<FloatDataEncoding sizeInBits=\"64\" encoding=\"IEEE754_1985\" %s/></FloatParameterType>\n", order);
  else if (c->type == ORR_CHANNEL_WHOLE)
    printf("<IntegerDataEncoding sizeInBits=\"64\" encoding=\"twosComplement\" %s/></IntegerParameterType>\n", order);
  else
    printf("<IntegerDataEncoding sizeInBits=\"8\" encoding=\"unsigned\"/></IntegerParameterType>\n");
}

static void for_each(const struct orr_icd *icd,
                     void (*print)(const struct orr_icd_link *, const struct orr_channel *)) {
  for (size_t i = 0; i < icd->count; i++)
    for (int s = 0; s < 2 && icd->links[i].sides[s].pieces; s++)
      for (int k = 0; k < icd->links[i].sides[s].side->count; k++)
        print(&icd->links[i], icd->links[i].sides[s].side->entries[k].channel);
}

static void print_parameters(const struct orr_icd_link *l, const struct orr_channel *c) {
  char type[NAME_SIZE], name[NAME_SIZE];
  parameter_name(l, c, 0, type, sizeof type);
  for (int k = 0; k < c->count; k++) {
    parameter_name(l, c, k, name, sizeof name);
    printf("   <Parameter name=\"%s\" parameterTypeRef=\"%s_type\"/>\n", name, type);
  }
}

static void print_entry(const char *name) { printf("     <ParameterRefEntry parameterRef=\"%s\"/>\n", name); }

static void print_container(const struct orr_icd_link *l, const struct orr_icd_side *s, uint32_t p) {
  bool telemetry = s == &l->sides[0];
  char link[NAME_SIZE];
  orr_icd_identifier(l->desc->name, link, sizeof link);
  printf("   <SequenceContainer name=\"%s_%s_%u\">\n    <EntryList>\n", link, s->name, p);
  for (int i = telemetry ? PRIMARY : TELEMETRY_END; i < (telemetry ? TELEMETRY_END : COMMAND_END); i++)
    print_entry(heads[i].name);
  for (int i = COMMAND_END; i < BLOCK_END; i++)
    print_entry(heads[i].name);
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    for (int k = 0; k < c->count; k++) {
      char name[NAME_SIZE];
      uint32_t at = s->side->entries[i].at + (uint32_t)k * orr_icd_bytes(c);
      parameter_name(l, c, k, name, sizeof name);
      if (at >= p * s->piece && at < (p + 1) * s->piece)
        print_entry(name);
    }
  }
  print_entry(heads[BLOCK_END].name);
  printf(
      "    </EntryList>\n    <BaseContainer containerRef=\"primary_header\"><RestrictionCriteria><ComparisonList>\n"
      "     <Comparison parameterRef=\"type\" value=\"%d\"/>\n     <Comparison parameterRef=\"apid\" value=\"%u\"/>\n"
      "    </ComparisonList></RestrictionCriteria></BaseContainer>\n   </SequenceContainer>\n",
      telemetry ? 0 : 1, (s->id + p) & 0x7ffu);
}

void orr_icd_xtce(const struct orr_icd *icd) {
  printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<SpaceSystem xmlns=\"http://www.omg.org/spec/XTCE/20180204\" "
         "name=\"orrery\" shortDescription=\"links over UDP\">\n <TelemetryMetaData>\n  <ParameterTypeSet>\n%s",
         fixed_types);
  for_each(icd, print_type);
  printf("  </ParameterTypeSet>\n  <ParameterSet>\n");
  for (int i = 0; i < HEADS; i++)
    printf("   <Parameter name=\"%s\" parameterTypeRef=\"%s\"/>\n", heads[i].name, heads[i].type);
  for_each(icd, print_parameters);
  printf("  </ParameterSet>\n  <ContainerSet>\n   <SequenceContainer name=\"primary_header\" abstract=\"true\">\n"
         "    <EntryList>\n");
  for (int i = 0; i < PRIMARY; i++)
    print_entry(heads[i].name);
  printf("    </EntryList>\n   </SequenceContainer>\n");
  for (size_t i = 0; i < icd->count; i++)
    for (int s = 0; s < 2; s++)
      for (uint32_t p = 0; p < icd->links[i].sides[s].pieces; p++)
        print_container(&icd->links[i], &icd->links[i].sides[s], p);
  printf("  </ContainerSet>\n </TelemetryMetaData>\n</SpaceSystem>\n");
}
