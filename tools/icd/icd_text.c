/* The interface document for readers, and as JSON. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "io/links/carriers/carrier.h"
#include "tools/common/text.h"
#include "tools/icd/icd.h"

/* ---- markdown ---------------------------------------------------------------------------------------------------- */

static void print_range(const struct orr_channel *c) {
  if (isfinite(c->low) || isfinite(c->high))
    printf("%.9g … %.9g", c->low, c->high);
  if (c->most > 0)
    printf(", clipped to ±%.9g", c->most);
}

/* Numbers that a reader must not take for measurements. */
static void print_undetermined(const struct orr_icd *icd, const struct orr_icd_side *s) {
  const char *before = "\nAlways 0, since redundant equations of the loops leave them undetermined: ";
  bool any = false;
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    unsigned open = orr_icd_undetermined(icd, c);
    for (int k = 0; k < c->count; k++) {
      char name[160];
      if (!(open >> k & 1))
        continue;
      orr_icd_element(c, k, name, sizeof name);
      printf("%s`%s`", any ? ", " : before, name);
      any = true;
    }
  }
  if (any)
    puts(".");
}

static void print_side(const struct orr_icd *icd, const struct orr_icd_side *s) {
  bool commands = s->side->count && s->side->entries[0].channel->direction == ORR_CHANNEL_COMMAND;
  printf("\n### %s: %u bytes\n\n| offset | name | type | unit |%s\n| --- | --- | --- | --- |%s\n", s->name,
         s->side->bytes, commands ? " held | range |" : "", commands ? " --- | --- |" : "");
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    for (int k = 0; k < c->count; k++) {
      char name[160];
      orr_icd_element(c, k, name, sizeof name);
      printf("| %u | `%s` | %s | %s |", s->side->entries[i].at + (uint32_t)k * orr_icd_bytes(c), name, orr_icd_type(c),
             orr_channel_unit(c, k));
      if (commands) {
        printf(" %s | ", c->hold == ORR_CHANNEL_PULSE ? "pulse" : "level");
        print_range(c);
        printf(" |");
      }
      putchar('\n');
    }
  }
  print_undetermined(icd, s);
  for (uint32_t p = 0; p < s->pieces; p++) {
    size_t at = p * s->piece, left = s->side->bytes - at, bytes = left < s->piece ? left : s->piece;
    printf("\nMessage id 0x%04x: payload bytes %zu to %zu, at byte %zu of a packet of %zu bytes.\n", s->id + p, at,
           at + bytes, orr_icd_payload_at(s), orr_icd_packet_bytes(s, p));
  }
}

void orr_icd_markdown(const struct orr_icd *icd) {
  char path[ORR_TEXT_MAX];
  printf("# Links of %s\n\nNumbers are SI. f64: IEEE 754 double; i64: a whole number; u8: a flag, 0 or 1. All "
         "little-endian, where a link does not say otherwise.\n",
         orr_text_clean(icd->path, "", path, sizeof path));
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    printf("\n## %s\n\nA frame every %.9g ms of simulated time (%d steps); the answer to one is applied with the next. "
           "Layout hash "
           "0x%016llx.\n\n",
           l->desc->name, 1e-6 * (double)icd->run->plant.step_ns * l->desc->divisor, l->desc->divisor,
           (unsigned long long)l->layout.hash);
    char text[ORR_CARRIER_DOCUMENT];
    orr_carrier_kind(l->desc->transport)->document(l->desc, &l->header, text, sizeof text);
    fputs(text, stdout);
    if (l->desc->layout) {
      orr_icd_layout_markdown(icd, l);
      continue;
    }
    print_side(icd, &l->sides[0]);
    print_side(icd, &l->sides[1]);
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *side_json(const struct orr_icd *icd, const struct orr_icd_side *s) {
  json_t *list = json_array(), *packets = json_array();
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    json_t *one = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s}", "name", c->name, "unit", c->unit, "type", orr_icd_type(c),
                            "count", c->count, "offset", (int)s->side->entries[i].at, "hold",
                            c->hold == ORR_CHANNEL_PULSE ? "pulse" : "level");
    if (isfinite(c->low))
      json_object_set_new(one, "low", json_real(c->low));
    if (isfinite(c->high))
      json_object_set_new(one, "high", json_real(c->high));
    if (c->most > 0)
      json_object_set_new(one, "most", json_real(c->most));
    json_t *elements = json_array();
    for (int k = 0; c->elements && k < c->count; k++)
      json_array_append_new(elements, json_string(c->elements[k]));
    json_object_set_new(one, "elements", elements);
    unsigned open = orr_icd_undetermined(icd, c);
    json_t *undetermined = json_array();
    for (int k = 0; k < c->count; k++)
      if (open >> k & 1)
        json_array_append_new(undetermined, json_integer(k));
    if (open)
      json_object_set(one, "undetermined", undetermined);
    json_decref(undetermined);
    json_array_append_new(list, one);
  }
  for (uint32_t p = 0; p < s->pieces; p++) {
    size_t at = p * s->piece, left = s->side->bytes - at, bytes = left < s->piece ? left : s->piece;
    json_array_append_new(packets, json_pack("{s:i, s:I, s:I, s:I, s:I}", "message_id", (int)(s->id + p),
                                             "payload_from", (json_int_t)at, "payload_bytes", (json_int_t)bytes, "at",
                                             (json_int_t)orr_icd_payload_at(s), "bytes",
                                             (json_int_t)orr_icd_packet_bytes(s, p)));
  }
  return json_pack("{s:i, s:o, s:o}", "bytes", (int)s->side->bytes, "channels", list, "packets", packets);
}

void orr_icd_json(const struct orr_icd *icd) {
  json_t *links = json_object();
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)l->layout.hash);
    json_t *one = json_pack("{s:s, s:s, s:i, s:o, s:o}", "transport", orr_carrier_kind(l->desc->transport)->name,
                            "layout_hash", hash, "divisor", l->desc->divisor, "telemetry", side_json(icd, &l->sides[0]),
                            "commands", side_json(icd, &l->sides[1]));
    if (l->sides[0].bare) {
      json_object_set_new(one, "framing", json_string("cfe"));
      json_object_set_new(one, "endian", json_string(l->sides[0].big ? "big" : "little"));
    }
    if (l->desc->name_shm)
      json_object_set_new(one, "name", json_string(l->desc->name_shm));
    if (l->desc->key_file) /* behind each packet */
      json_object_set_new(one, "seal_bytes", json_integer(ORR_WIRE_SEAL_BYTES));
    json_object_set_new(links, l->desc->name, one);
  }
  json_t *root = json_pack("{s:o, s:I, s:o}", "run", orr_json_text(icd->path), "step_ns",
                           (json_int_t)icd->run->plant.step_ns, "links", links);
  json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(root);
}
