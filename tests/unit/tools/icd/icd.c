/* The interface document as XTCE, for a link with all types of channels in both directions, which no spacecraft of
 * configs/ has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/steps.h"
#include "tools/icd/icd.h"

enum { PACKET_MAX = 120 };

struct paper {
  struct orr_link_rig rig;
  struct orr_run_link desc;
  struct orr_icd_link link;
  struct orr_icd icd;
  char *text;
};

static void describe_side(struct orr_icd_side *side, const char *name, const struct orr_layout_side *layout,
                          uint16_t id) {
  *side = (struct orr_icd_side){.name = name, .side = layout, .id = id, .block_at = orr_wire_block_at(id)};
  const struct orr_wire_cut cut = orr_wire_cut(id, layout->bytes, PACKET_MAX);
  side->piece = cut.piece;
  side->pieces = cut.pieces;
}

/* What is printed, in memory. */
static char *printed(const struct orr_icd *icd) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stdout);
  int kept = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  orr_icd_xtce(icd);
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  size_t bytes = (size_t)lseek(fileno(file), 0, SEEK_END);
  char *text = calloc(bytes + 1, 1);
  assert_non_null(text);
  assert_int_equal(pread(fileno(file), text, bytes, 0), (ssize_t)bytes);
  fclose(file);
  return text;
}

static int write_paper(void **state) {
  struct paper *p = calloc(1, sizeof *p);
  assert_non_null(p);
  orr_link_rig_init(&p->rig, 1, 20);
  p->desc.name = "l";
  p->link.desc = &p->desc;
  p->link.layout = p->rig.layout;
  describe_side(&p->link.sides[0], "telemetry", &p->link.layout.telemetry, 0x0e80);
  describe_side(&p->link.sides[1], "commands", &p->link.layout.commands, 0x1e80);
  p->icd = (struct orr_icd){.path = "a run", .links = &p->link, .count = 1};
  p->text = printed(&p->icd);
  *state = p;
  return 0;
}

static int drop_paper(void **state) {
  struct paper *p = *state;
  free(p->text);
  free(p);
  return 0;
}

static void assert_says(const struct paper *p, const char *words) {
  if (!strstr(p->text, words))
    fail_msg("it does not say %s", words);
}

static int count_of(const char *text, const char *words) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
    n++;
  return n;
}

static void each_type_has_its_encoding(void **state) {
  assert_says(*state,
              "<FloatParameterType name=\"l_a_rate_0_type\" sizeInBits=\"64\"><UnitSet><Unit>rad/s</Unit></UnitSet>"
              "<FloatDataEncoding sizeInBits=\"64\" encoding=\"IEEE754_1985\" "
              "byteOrder=\"leastSignificantByteFirst\"/></FloatParameterType>");
  assert_says(*state, "<IntegerParameterType name=\"l_a_count_type\" signed=\"true\" sizeInBits=\"64\">"
                      "<IntegerDataEncoding sizeInBits=\"64\" encoding=\"twosComplement\" "
                      "byteOrder=\"leastSignificantByteFirst\"/></IntegerParameterType>");
  assert_says(*state, "<BooleanParameterType name=\"l_a_on_0_type\"><IntegerDataEncoding sizeInBits=\"8\" "
                      "encoding=\"unsigned\"/></BooleanParameterType>");
  assert_says(*state, "<BooleanArgumentType name=\"l_d_on_0_type\"><IntegerDataEncoding sizeInBits=\"8\" "
                      "encoding=\"unsigned\"/></BooleanArgumentType>");
}

static void ranges_are_those_of_the_channels(void **state) {
  const struct paper *p = *state;
  assert_says(
      p, "<ValidRangeSet><ValidRange minInclusive=\"-1\" maxInclusive=\"1\"/></ValidRangeSet></FloatArgumentType>");
  assert_says(p,
              "<ValidRangeSet><ValidRange minInclusive=\"0\" maxInclusive=\"2\"/></ValidRangeSet></FloatArgumentType>");
  assert_says(
      p, "byteOrder=\"leastSignificantByteFirst\"/><ValidRangeSet><ValidRange minInclusive=\"1\" maxInclusive=\"9\"/>"
         "</ValidRangeSet></IntegerArgumentType>");
  assert_int_equal(count_of(p->text, "<ValidRange "), 3);
}

static void every_number_is_in_one_packet(void **state) {
  const struct paper *p = *state;
  const struct orr_icd_side *out = &p->link.sides[0], *in = &p->link.sides[1];
  assert_true(out->pieces > 1 && in->pieces > 1);
  assert_int_equal(count_of(p->text, "<SequenceContainer name=\"l_telemetry_"), out->pieces);
  assert_int_equal(count_of(p->text, "<MetaCommand name=\"l_commands_"), in->pieces);
  assert_int_equal(count_of(p->text, "<ParameterRefEntry parameterRef=\"l_"), p->link.layout.telemetry.numbers);
  assert_int_equal(count_of(p->text, "<ArgumentRefEntry argumentRef=\"l_"), p->link.layout.commands.numbers);
  assert_int_equal(count_of(p->text, "<ParameterRefEntry parameterRef=\"l_a_on_2\"/>"), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_type_has_its_encoding),
      cmocka_unit_test(ranges_are_those_of_the_channels),
      cmocka_unit_test(every_number_is_in_one_packet),
  };
  return cmocka_run_group_tests(tests, write_paper, drop_paper);
}
