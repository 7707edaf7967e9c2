/* The interface document as a Python module. */
#include <stdio.h>

#include "tools/common/text.h"
#include "tools/icd/icd.h"

/* In a comment or a text it ends neither. */
static const char unfit[] = "\\\"*";

static void python_side(const struct orr_icd_side *s) {
  static const char letters[] = {[ORR_CHANNEL_REAL] = 'd', [ORR_CHANNEL_WHOLE] = 'q', [ORR_CHANNEL_FLAG] = 'B'};
  printf("        \"%s\": {\n            \"id\": 0x%04x, \"packets\": %u, \"piece\": %zu, \"payload_at\": %zu,\n"
         "            \"format\": \"<",
         s->name, s->id, s->pieces, s->piece,
         s->pieces ? s->block_at + (size_t)ORR_WIRE_BLOCK_HEAD
                   : 8 * (1 + (size_t)ORR_WIRE_OUT_WORDS)); /* or in a slot */
  for (int i = 0; i < s->side->count; i++)
    printf("%d%c", s->side->entries[i].channel->count, letters[s->side->entries[i].channel->type]);
  printf("\",\n            \"channels\": [\n");
  for (int i = 0; i < s->side->count; i++) {
    const struct orr_channel *c = s->side->entries[i].channel;
    printf("                (\"%s\", %d, \"%s\"),\n", c->name, c->count, c->unit);
  }
  printf("            ],\n        },\n");
}

static const char python_functions[] =
    "\n\ndef unpack(link, side, payload):\n"
    "    \"\"\"A payload -> {channel: number, or tuple of them}.\"\"\"\n"
    "    s = LINKS[link][side]\n"
    "    numbers, at, out = struct.unpack(s[\"format\"], payload), 0, {}\n"
    "    for name, count, _unit in s[\"channels\"]:\n"
    "        out[name] = numbers[at] if count == 1 else numbers[at : at + count]\n"
    "        at += count\n"
    "    return out\n"
    "\n\ndef pack(link, side, values):\n"
    "    \"\"\"{channel: number, or sequence of them} -> a payload; what is left out is zero.\"\"\"\n"
    "    s, numbers = LINKS[link][side], []\n"
    "    for name, count, _unit in s[\"channels\"]:\n"
    "        value = values.get(name, 0 if count == 1 else (0,) * count)\n"
    "        numbers += [value] if count == 1 else list(value)\n"
    "    return struct.pack(s[\"format\"], *numbers)\n"
    "\n\ndef unpack_packets(link, side, packets):\n"
    "    \"\"\"The packets (bytes) of one frame, in order, without seals where the link has a key -> frame, simulated "
    "time in "
    "ns, answered frame, {channel: ...}.\"\"\"\n"
    "    s = LINKS[link][side]\n"
    "    at = s[\"payload_at\"]\n"
    "    head = struct.unpack_from(\"<QqQ\", packets[0], at - 24)\n"
    "    return (*head, unpack(link, side, b\"\".join(p[at:-4] for p in packets)))\n";

void orr_icd_python(const struct orr_icd *icd) {
  char path[ORR_TEXT_MAX];
  printf("\"\"\"Links of %s. SI. Written by `orrery icd --format python`.\"\"\"\nimport struct\n\nLINKS = {\n",
         orr_text_clean(icd->path, unfit, path, sizeof path));
  for (size_t i = 0; i < icd->count; i++) {
    const struct orr_icd_link *l = &icd->links[i];
    printf("    \"%s\": {\n        \"layout_hash\": 0x%016llx, \"step_ns\": %lld, \"divisor\": %d,\n", l->desc->name,
           (unsigned long long)l->layout.hash, (long long)icd->run->plant.step_ns, l->desc->divisor);
    python_side(&l->sides[0]);
    python_side(&l->sides[1]);
    printf("    },\n");
  }
  printf("}\n%s", python_functions);
}
