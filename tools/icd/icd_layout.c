/* Links with a `layout` of their own: each packet as a table of its bits for readers, and as macros in C. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/text.h"
#include "tools/icd/icd.h"

enum { NAME_SIZE = 200 };

static const struct orr_channel *channel_of(const struct orr_icd *icd, const struct orr_run_field *f) {
  return &icd->run->table.channels[f->channel];
}

static char letter_of(const struct orr_run_field *f) {
  return f->number == ORR_FIELD_FLOAT ? 'f' : f->number == ORR_FIELD_SIGNED ? 'i' : 'u';
}

/* ---- for readers ------------------------------------------------------------------------------------------------- */

/* What a raw number can say, SI. */
static void print_span(const struct orr_run_field *f) {
  if (f->number == ORR_FIELD_FLOAT || f->state_count) {
    printf(" ");
    return;
  }
  bool has_sign = f->number == ORR_FIELD_SIGNED;
  double most = ldexp(1, f->width - has_sign) - 1, least = has_sign ? -ldexp(1, f->width - 1) : 0;
  printf(" %.9g … %.9g ", fma(least, f->lsb, f->offset), fma(most, f->lsb, f->offset));
}

static void print_states(const struct orr_run_field *f) {
  for (int i = 0; i < f->state_count; i++)
    printf("%s%s: %.9g is 0x%llx", i ? ", " : "", f->states[i].name, f->states[i].value,
           (unsigned long long)f->states[i].raw);
}

static void print_channel(const struct orr_icd *icd, const struct orr_run_field *f) {
  const struct orr_channel *c = channel_of(icd, f);
  char name[NAME_SIZE];
  orr_icd_element(c, f->element, name, sizeof name);
  printf("`%s` | ", name);
  print_states(f);
  if (f->state_count == 0 && f->lsb_text)
    printf("lsb %s", f->lsb_text);
  if (f->offset != 0)
    printf(", offset %.9g", f->offset);
  printf(" | %s |", c->unit);
  print_span(f);
  if (c->direction == ORR_CHANNEL_COMMAND && (isfinite(c->low) || isfinite(c->high)))
    printf("(taken: %.9g … %.9g%s) ", c->low, c->high, c->hold == ORR_CHANNEL_PULSE ? ", a pulse" : "");
}

static void print_checksum(const struct orr_run_field *f, uint32_t head) {
  static const char *const sums[] = {"XOR", "sum", "two's complement of the sum", "ones' complement of the sum", "CRC"};
  printf("%s of bytes %u to %u", sums[f->sum], f->from - head, f->to - (f->to > f->from) - head);
  if (f->zeros)
    printf(" and %u bytes of 0 behind them", f->zeros);
  if (f->sum == ORR_SUM_CRC)
    printf(": width %d, poly 0x%llx, init 0x%llx, reflect in %s, out %s, xorout 0x%llx", f->width,
           (unsigned long long)f->crc.poly, (unsigned long long)f->crc.init, f->crc.reflect_in ? "yes" : "no",
           f->crc.reflect_out ? "yes" : "no", (unsigned long long)f->crc.xorout);
  printf(" | | | |");
}

static void print_what(const struct orr_icd *icd, const struct orr_run_field *f, uint32_t head) {
  switch (f->kind) {
  case ORR_FIELD_CHANNEL:
    print_channel(icd, f);
    printf("|");
    break;
  case ORR_FIELD_CONSTANT:
    printf("constant | 0x%llx | | |", (unsigned long long)f->raw);
    break;
  case ORR_FIELD_FILL:
    printf("fill | 0x%llx, not looked at | | |", (unsigned long long)f->raw);
    break;
  case ORR_FIELD_COUNTER:
    printf("counter of %s | from %llu", f->counts == ORR_COUNTS_FRAMES ? "the link's frames" : "these packets",
           (unsigned long long)f->start);
    if (f->modulo)
      printf(", modulo %llu", (unsigned long long)f->modulo);
    printf(" | | |");
    break;
  case ORR_FIELD_TIME:
    printf("time of the run | lsb %s%s | s | |", f->lsb_text, f->offset_ns ? ", with an offset" : "");
    break;
  case ORR_FIELD_LENGTH:
    printf("length of bytes %u to %u | %llu | | |", f->from - head, f->to - (f->to > f->from) - head,
           (unsigned long long)f->raw);
    break;
  default:
    print_checksum(f, head);
  }
}

static void print_packet(const struct orr_icd *icd, const struct orr_run_layout *layout,
                         const struct orr_run_telegram *t) {
  printf("\n### %s: %s, %u bytes", t->name, t->command ? "commands" : "telemetry", t->bytes - t->head);
  if (t->head)
    printf(", identifier 0x%lx%s", (unsigned long)(t->id & ~ORR_RUN_CAN_EXTENDED),
           t->id & ORR_RUN_CAN_EXTENDED ? " of 29 bits" : "");
  if (t->request >= 0)
    printf(", the answer to `%s`\n\n", layout->telegrams[t->request].name);
  else if (!t->command && t->every > 1)
    printf(", with every frame of the link whose number is %d modulo %d\n\n", t->phase, t->every);
  else if (!t->command)
    printf(", with each frame of the link\n\n");
  else
    printf(t->answers ? ", answers a frame\n\n" : ", kept until a packet answers\n\n");
  printf("| byte | bit | bits | type | order | stands | what | value | unit | range |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int i = t->head > 0; i < t->count; i++) {
    const struct orr_run_field *f = &t->fields[i];
    printf("| %u | %u | %d | %c%d | %s | ", f->bit / 8 - t->head, f->bit % 8, f->width, letter_of(f), f->width,
           f->little ? "little" : "big");
    if (f->by >= 0)
      printf("`%s` = %d", t->fields[f->by].name, f->set);
    printf(" | ");
    print_what(icd, f, t->head);
    putchar('\n');
  }
}

void orr_icd_layout_markdown(const struct orr_icd *icd, const struct orr_icd_link *link) {
  const struct orr_run_layout *layout = link->desc->layout;
  printf(
      "\nBits: in the order `big` bit 0 of a byte is its highest, and a field's highest bit stands first; in `little` "
      "bit 0 is its lowest, and a field's lowest bit stands first. value = lsb raw + offset; raw is rounded to the "
      "nearest, ties to even, and held at the ends of its range. Bits that no field has are 0.\n");
  for (int i = 0; i < layout->count; i++)
    print_packet(icd, layout, &layout->telegrams[i]);
}

/* ---- C ----------------------------------------------------------------------------------------------------------- */

static void field_word(const struct orr_icd *icd, const struct orr_run_field *f, int number, char *text, size_t size) {
  static const char *const words[] = {"channel", "constant", "fill", "counter", "time", "length", "checksum"};
  char name[NAME_SIZE];
  if (f->name && f->kind != ORR_FIELD_CHANNEL)
    orr_icd_identifier(f->name, name, sizeof name);
  else if (f->kind == ORR_FIELD_CHANNEL) {
    char element[NAME_SIZE / 2];
    orr_icd_element(channel_of(icd, f), f->element, element, sizeof element);
    orr_icd_identifier(element, name, sizeof name);
  } else
    snprintf(name, sizeof name, "%s", words[f->kind]);
  snprintf(text, size, "%s_%d", name, number);
}

static void c_field(const struct orr_icd *icd, const char *packet, const struct orr_run_field *f, int number,
                    uint32_t head) {
  char name[2 * NAME_SIZE];
  field_word(icd, f, number, name, sizeof name);
  printf("#define %s_%s %u, %d, %d /* bit, width, little", packet, name, f->bit - 8 * head, f->width, f->little);
  if (f->by >= 0)
    printf("; of set %d", f->set);
  if (f->kind == ORR_FIELD_CHANNEL && channel_of(icd, f)->unit[0])
    printf("; %s", channel_of(icd, f)->unit);
  printf("; %c%d */\n", letter_of(f), f->width);
  if (f->kind == ORR_FIELD_CHANNEL && !f->state_count)
    printf("#define %s_%s_LSB %.17g\n#define %s_%s_OFFSET %.17g\n", packet, name, f->lsb, packet, name, f->offset);
  if (f->kind == ORR_FIELD_CONSTANT || f->kind == ORR_FIELD_LENGTH)
    printf("#define %s_%s_VALUE UINT64_C(0x%llx)\n", packet, name, (unsigned long long)f->raw);
  for (int i = 0; i < f->state_count; i++) {
    char state[NAME_SIZE];
    orr_icd_identifier(f->states[i].name, state, sizeof state);
    printf("#define %s_%s_IS_%s UINT64_C(0x%llx)\n", packet, name, state, (unsigned long long)f->states[i].raw);
  }
}

static const char c_functions[] =
    "\n#ifndef ORRERY_BITS\n#define ORRERY_BITS\n"
    "/* The bits of a field, and back: orrery_get(packet, link_packet_field_3). */\n"
    "static inline uint64_t orrery_get(const uint8_t *packet, unsigned bit, unsigned width, int little) {\n"
    "  uint64_t raw = 0;\n"
    "  for (unsigned i = 0; i < width; i++) {\n"
    "    unsigned at = bit + i;\n"
    "    uint64_t one = packet[at / 8] >> (little ? at % 8 : 7 - at % 8) & 1;\n"
    "    raw |= one << (little ? i : width - 1 - i);\n"
    "  }\n"
    "  return raw;\n"
    "}\n"
    "static inline void orrery_put(uint8_t *packet, unsigned bit, unsigned width, int little, uint64_t raw) {\n"
    "  for (unsigned i = 0; i < width; i++) {\n"
    "    unsigned at = bit + i, mask = 1u << (little ? at % 8 : 7 - at % 8);\n"
    "    unsigned one = raw >> (little ? i : width - 1 - i) & 1;\n"
    "    packet[at / 8] = (uint8_t)(one ? packet[at / 8] | mask : packet[at / 8] & ~mask);\n"
    "  }\n"
    "}\n"
    "#endif\n";

void orr_icd_layout_c(const struct orr_icd *icd, const struct orr_icd_link *link) {
  const struct orr_run_layout *layout = link->desc->layout;
  char name[NAME_SIZE], packet[2 * NAME_SIZE], word[NAME_SIZE];
  orr_icd_identifier(link->desc->name, name, sizeof name);
  fputs(c_functions, stdout);
  for (int i = 0; i < layout->count; i++) {
    const struct orr_run_telegram *t = &layout->telegrams[i];
    orr_icd_identifier(t->name, word, sizeof word);
    snprintf(packet, sizeof packet, "%s_%s", name, word);
    printf("\n/* %s: %s */\n#define %s_BYTES %u\n", t->name, t->command ? "commands" : "telemetry", packet,
           t->bytes - t->head);
    if (t->head)
      printf("#define %s_ID 0x%lxu /* as the kernel has it: bit 31 with 29 bits */\n", packet, (unsigned long)t->id);
    for (int k = t->head > 0; k < t->count; k++)
      c_field(icd, packet, &t->fields[k], k, t->head);
  }
}
