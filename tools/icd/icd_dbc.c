/* A CAN database: the frames of links on CAN as their layouts have them; of other links each number as a double in a
 * frame of its own, for a run file that says `dbc`. io/config/run/dbc.c reads them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/icd/icd.h"

enum { NAME_SIZE = 200, TELEMETRY_FROM = 0x100, COMMANDS_FROM = 0x500, APART = 0x100 };

static const char *name_of(const struct orr_icd *icd, const struct orr_run_field *f, int number, char *text) {
  static const char *const words[] = {"channel", "constant", "fill", "counter", "time", "length", "checksum"};
  if (f->kind == ORR_FIELD_CHANNEL)
    orr_run_signal_name(&icd->run->table.channels[f->channel], f->element, text, NAME_SIZE);
  else if (f->name)
    orr_icd_identifier(f->name, text, NAME_SIZE);
  else
    snprintf(text, NAME_SIZE, "%s_%d", words[f->kind], number);
  return text;
}

/* Multiplexed: the counter of the sets says which of them stand. */
static void print_turns(const struct orr_run_field *f) {
  if (f->of_sets)
    printf("M ");
  else if (f->by >= 0)
    printf("m%d ", f->set);
}

static void print_signal(const struct orr_icd *icd, const struct orr_run_telegram *t, int number) {
  const struct orr_run_field *f = &t->fields[number];
  const bool channel = f->kind == ORR_FIELD_CHANNEL, has_sign = f->number != ORR_FIELD_UNSIGNED;
  const struct orr_channel *c = channel ? &icd->run->table.channels[f->channel] : NULL;
  double lsb = channel ? f->lsb : 1, offset = channel ? f->offset : 0, low = 0, high = 0;
  char name[NAME_SIZE];
  uint32_t bit = f->bit - 8 * t->head;
  if (f->number != ORR_FIELD_FLOAT) {
    low = fma(has_sign ? -ldexp(1, f->width - 1) : 0, lsb, offset);
    high = fma(ldexp(1, f->width - has_sign) - 1, lsb, offset);
  }
  printf(" SG_ %s ", name_of(icd, f, number, name));
  print_turns(f);
  printf(": %u|%d@%d%c (%.17g,%.17g) [%.17g|%.17g] \"%s\" Vector__XXX\n",
         (unsigned)(f->little ? bit : bit / 8 * 8 + 7 - bit % 8), f->width, f->little, has_sign ? '-' : '+', lsb,
         offset, low < high ? low : high, low < high ? high : low, c ? c->unit : "");
}

/* The first field is the identifier. */
static void print_message(const struct orr_icd *icd, const struct orr_run_telegram *t) {
  char name[NAME_SIZE];
  orr_icd_identifier(t->name, name, sizeof name);
  printf("\nBO_ %lu %s: %lu Vector__XXX\n", (unsigned long)t->id, name, (unsigned long)(t->bytes - t->head));
  for (int i = 1; i < t->count; i++)
    print_signal(icd, t, i);
}

static void print_types(const struct orr_icd *icd, const struct orr_run_telegram *t) {
  char name[NAME_SIZE];
  for (int i = 1; i < t->count; i++)
    if (t->fields[i].number == ORR_FIELD_FLOAT)
      printf("SIG_VALTYPE_ %lu %s : %d;\n", (unsigned long)t->id, name_of(icd, &t->fields[i], i, name),
             t->fields[i].width == 32 ? 1 : 2);
}

static void print_states(const struct orr_icd *icd, const struct orr_run_telegram *t) {
  char name[NAME_SIZE];
  for (int i = 1; i < t->count; i++) {
    const struct orr_run_field *f = &t->fields[i];
    if (f->state_count == 0)
      continue;
    printf("VAL_ %lu %s", (unsigned long)t->id, name_of(icd, f, i, name));
    for (int k = 0; k < f->state_count; k++)
      printf(" %llu \"%s\"", (unsigned long long)f->states[k].raw, f->states[k].name);
    printf(";\n");
  }
}

/* What a database cannot say. */
static void print_comments(const struct orr_icd *icd, const struct orr_run_telegram *t) {
  char name[NAME_SIZE];
  printf("CM_ BO_ %lu \"%s\";\n", (unsigned long)t->id,
         !t->command  ? "telemetry: to flight software"
         : t->answers ? "commands: from flight software; it answers a frame"
                      : "commands: from flight software; kept until the message that answers");
  for (int i = 1; i < t->count; i++) {
    const struct orr_run_field *f = &t->fields[i];
    name_of(icd, f, i, name);
    if (f->kind == ORR_FIELD_CONSTANT || f->kind == ORR_FIELD_LENGTH)
      printf("CM_ SG_ %lu %s \"always %llu\";\n", (unsigned long)t->id, name, (unsigned long long)f->raw);
    else if (f->kind == ORR_FIELD_CHECKSUM)
      printf("CM_ SG_ %lu %s \"a checksum: orrery icd --format markdown says which\";\n", (unsigned long)t->id, name);
  }
}

/* Of a link that has no frames: a double each, or a flag, in the order of the payload. */
static void each_number(const struct orr_icd_link *l, int s, void (*print)(uint32_t, const struct orr_channel *, int),
                        uint32_t id) {
  for (int i = 0; i < l->sides[s].side->count; i++)
    for (int k = 0; k < l->sides[s].side->entries[i].channel->count; k++)
      print(id++, l->sides[s].side->entries[i].channel, k);
}

static void print_number(uint32_t id, const struct orr_channel *c, int k) {
  char name[NAME_SIZE];
  const bool flag = c->type == ORR_CHANNEL_FLAG;
  orr_run_signal_name(c, k, name, sizeof name);
  printf("\nBO_ %lu frame_%s: %d Vector__XXX\n SG_ %s : 0|%d@1%c (1,0) [0|%d] \"%s\" Vector__XXX\n", (unsigned long)id,
         name, flag ? 1 : 8, name, flag ? 8 : 64, flag ? '+' : '-', flag, c->unit);
}

static void print_double(uint32_t id, const struct orr_channel *c, int k) {
  char name[NAME_SIZE];
  orr_run_signal_name(c, k, name, sizeof name);
  if (c->type == ORR_CHANNEL_REAL)
    printf("SIG_VALTYPE_ %lu %s : 2;\n", (unsigned long)id, name);
}

static void each_link(const struct orr_icd *icd,
                      void (*of_layout)(const struct orr_icd *, const struct orr_run_telegram *),
                      void (*of_number)(uint32_t, const struct orr_channel *, int)) {
  uint32_t at = 0;
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    const struct orr_run_layout *layout = l->desc->transport == ORR_TRANSPORT_CAN ? l->desc->layout : NULL;
    for (int k = 0; layout && k < layout->count && of_layout; k++)
      of_layout(icd, &layout->telegrams[k]);
    if (layout || !of_number)
      continue;
    each_number(l, 0, of_number, TELEMETRY_FROM + at);
    each_number(l, 1, of_number, COMMANDS_FROM + at);
    at += APART;
  }
}

bool orr_icd_dbc_holds(const struct orr_icd *icd) {
  size_t links = 0;
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    if (l->desc->transport == ORR_TRANSPORT_CAN)
      continue;
    if (++links > (0x7ff - COMMANDS_FROM) / APART || l->sides[0].side->numbers > APART ||
        l->sides[1].side->numbers > APART) {
      fprintf(
          stderr,
          "orrery icd: %s: the link '%s' is on no CAN bus, and has too many numbers for a frame each of 11 bits: give "
          "it a 'layout'\n",
          icd->path, l->desc->name);
      return false;
    }
  }
  return true;
}

void orr_icd_dbc(const struct orr_icd *icd) {
  printf("VERSION \"\"\n\nNS_ :\n\nBS_:\n\nBU_:\n");
  each_link(icd, print_message, print_number);
  printf("\n");
  each_link(icd, print_comments, NULL);
  each_link(icd, print_states, NULL);
  each_link(icd, print_types, print_double);
}
