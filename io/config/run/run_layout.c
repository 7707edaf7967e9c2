/* `layout` of a link: its packets. What stands in them is read by run_field. */
#include <stdlib.h>
#include <string.h>

#include "io/config/run/run_field.h"
#include "io/config/run/run_mappings.h"

struct layout_keys {
  struct orr_place packets;
  int byte_order;
};

struct packet_keys {
  struct orr_place fields, bytes;
  int direction, byte_order;
  int64_t every, phase, size;
  const char *on, *id;
  bool answers, extended;
};

enum { DIRECTION, ID, EXTENDED, ON, EVERY, PHASE, ANSWERS, ORDER, BYTES, FIELDS, PACKET_KEYS };

static const char *const directions[] = {"telemetry", "commands", NULL};
const char *const orr_byte_orders[] = {"big", "little", NULL};

static const struct orr_range every_range = {1, 1e6, false}, phase_range = {0, 1e6, false},
                              bytes_range = {1, ORR_TELEGRAM_BYTES_MAX, false};

static const struct orr_key packet_table[PACKET_KEYS] = {
    [DIRECTION] = {.name = "direction",
                   .doc = "telemetry goes to flight software, commands come from it",
                   .type = ORR_KEY_CHOICE,
                   .choices = directions,
                   .required = true,
                   .offset = offsetof(struct packet_keys, direction)},
    [ID] = {.name = "id",
            .doc = "can: the identifier of its frame, 0x for hexadecimal; 11 bits",
            .type = ORR_KEY_TEXT,
            .absent = "right for another transport",
            .offset = offsetof(struct packet_keys, id)},
    [EXTENDED] = {.name = "extended",
                  .doc = "can: the identifier has 29 bits",
                  .type = ORR_KEY_FLAG,
                  .fallback = "false",
                  .offset = offsetof(struct packet_keys, extended)},
    [ON] = {.name = "on",
            .doc = "telemetry: `frame`, it goes out with frames of the link; `request NAME`, it answers that packet of "
                   "flight software with the newest sample",
            .type = ORR_KEY_TEXT,
            .fallback = "frame",
            .offset = offsetof(struct packet_keys, on)},
    [EVERY] = {.name = "every",
               .doc = "telemetry on frames: it goes out with each so many of them",
               .type = ORR_KEY_WHOLE,
               .range = &every_range,
               .fallback = "1",
               .offset = offsetof(struct packet_keys, every)},
    [PHASE] = {.name = "phase",
               .doc = "telemetry on frames: the first of them, less than `every`",
               .type = ORR_KEY_WHOLE,
               .range = &phase_range,
               .fallback = "0",
               .offset = offsetof(struct packet_keys, phase)},
    [ANSWERS] = {.name = "answers",
                 .doc = "commands: it answers the newest frame; if not, its numbers wait for a packet that does",
                 .type = ORR_KEY_FLAG,
                 .absent = "true of a packet that has channels, or where none has any; else false, as of a request",
                 .offset = offsetof(struct packet_keys, answers)},
    [ORDER] = {.name = "byte_order",
               .doc = "of its fields; it also says how their bits are counted",
               .type = ORR_KEY_CHOICE,
               .choices = orr_byte_orders,
               .absent = "that of the layout",
               .offset = offsetof(struct packet_keys, byte_order)},
    [BYTES] = {.name = "bytes",
               .doc = "its length; what no field takes is zero",
               .type = ORR_KEY_WHOLE,
               .range = &bytes_range,
               .absent = "up to its last field",
               .offset = offsetof(struct packet_keys, size)},
    [FIELDS] = {.name = "fields",
                .doc = "what stands in it, one after the other where no field says `at`",
                .type = ORR_KEY_PLACE,
                .shape = ORR_LIST(ORR_MAPPING(orr_field_mapping)),
                .required = true,
                .offset = offsetof(struct packet_keys, fields)},
};

static const struct orr_mapping packet_mapping = {
    .name = "links.layout.packets",
    .doc = "A packet that somebody else defined. It has one length always. Packets of flight software are known by "
           "their lengths and constants.",
    ORR_KEYS(packet_table)};

static const struct orr_key layout_table[] = {
    {.name = "byte_order",
     .doc = "of the fields of all packets: with `big`, bit 0 of a byte is its highest, with `little` its lowest",
     .type = ORR_KEY_CHOICE,
     .choices = orr_byte_orders,
     .fallback = "big",
     .offset = offsetof(struct layout_keys, byte_order)},
    {.name = "packets",
     .doc = "by their names",
     .type = ORR_KEY_PLACE,
     .shape = ORR_NAMED("packet", ORR_MAPPING(packet_mapping)),
     .required = true,
     .offset = offsetof(struct layout_keys, packets)},
};

const struct orr_mapping orr_layout_mapping = {
    .name = "links.layout",
    .doc = "Packets that somebody else defined, in place of Orrery's own: which bits of them hold which numbers. "
           "`orrery icd FILE` prints them as a table.",
    ORR_KEYS(layout_table)};

/* ---- one packet -------------------------------------------------------------------------------------------------- */

struct packet {
  struct orr_run_draft *d;
  struct orr_run_telegram *out;
  struct orr_place key;
  const char *request; /* the name after `request`, or NULL */
  bool says_answers;   /* `answers` is there */
  struct orr_place on;
};

static void complain(const struct packet *p, struct orr_place place, const char *text) {
  orr_read_error(p->d->reader, place, "layout", "%s", text);
}

/* `frame`, or `request NAME`. */
static bool read_on(struct packet *p, const char *text) {
  static const char request[] = "request ";
  if (strcmp(text, "frame") == 0)
    return true;
  if (strncmp(text, request, sizeof request - 1) == 0 && text[sizeof request - 1]) {
    p->request = text + sizeof request - 1;
    return true;
  }
  complain(p, p->on, "'on' is 'frame', or 'request NAME' with the name of a packet of flight software");
  return false;
}

static bool judge_direction(const struct packet *p, const struct orr_thing *thing, uint64_t present) {
  static const uint64_t of_telemetry = 1 << ON | 1 << EVERY | 1 << PHASE, of_commands = 1 << ANSWERS,
                        of_frames = 1 << EVERY | 1 << PHASE;
  uint64_t foreign = present & (p->out->command ? of_telemetry : of_commands | (p->request ? of_frames : 0));
  for (int i = 0; i < PACKET_KEYS; i++)
    if (foreign >> i & 1) {
      orr_read_error(p->d->reader, orr_read_member(p->d->reader, thing, packet_table[i].name), "layout",
                     "'%s' means nothing for a packet %s", packet_table[i].name,
                     p->out->command ? "of commands"
                     : i == ANSWERS  ? "of telemetry"
                                     : "that is asked for");
      return false;
    }
  if (p->out->phase < p->out->every)
    return true;
  complain(p, orr_read_member(p->d->reader, thing, "phase"), "'phase' counts frames within 'every', so it is less");
  return false;
}

/* On CAN each packet has an identifier, elsewhere none. */
static bool read_id(const struct packet *p, const struct orr_thing *thing, const struct packet_keys *keys,
                    uint64_t present, const struct orr_run_link *link) {
  const unsigned long most = keys->extended ? 0x1fffffff : 0x7ff;
  char *end;
  if (link->transport != ORR_TRANSPORT_CAN) {
    if (!(present & (1 << ID | 1 << EXTENDED)))
      return true;
    complain(p, orr_read_member(p->d->reader, thing, present >> ID & 1 ? "id" : "extended"),
             "identifiers are of frames on CAN: 'transport: can'; elsewhere packets differ by constants");
    return false;
  }
  if (!keys->id) {
    complain(p, p->key, "on CAN a packet has an 'id', such as 0x123");
    return false;
  }
  unsigned long id = strtoul(keys->id, &end, 0);
  if (keys->id[0] < '0' || keys->id[0] > '9' || *end || id > most) {
    orr_read_error(p->d->reader, orr_read_member(p->d->reader, thing, "id"), "layout",
                   "an 'id' is 0 to 0x%lx%s, not '%.40s'", most, keys->extended ? "" : ", more with 'extended: true'",
                   keys->id);
    return false;
  }
  p->out->id = (uint32_t)id | (keys->extended ? ORR_RUN_CAN_EXTENDED : 0);
  p->out->head = ORR_RUN_CAN_HEAD;
  return true;
}

uint32_t orr_run_can_room(uint32_t bytes, bool fd) {
  static const uint32_t lengths[] = {12, 16, 20, 24, 32, 48, ORR_RUN_CAN_FD_DATA};
  if (bytes <= ORR_RUN_CAN_DATA)
    return bytes;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths && fd; i++)
    if (bytes <= lengths[i])
      return lengths[i];
  return 0;
}

static bool fit_frame(const struct packet *p, struct orr_place fields, bool said, bool fd) {
  uint32_t bytes = p->out->bytes - p->out->head, room = orr_run_can_room(bytes, fd);
  if (room && (room == bytes || !said)) {
    p->out->bytes = p->out->head + room;
    return true;
  }
  orr_read_error(p->d->reader, fields, "layout",
                 room ? "a frame of CAN FD has 0 to 8, 12, 16, 20, 24, 32, 48 or 64 bytes, and not %u"
                 : fd ? "a frame of CAN FD has at most 64 bytes, and this packet %u: spread it over several"
                      : "a frame of CAN has at most 8 bytes, and this packet %u: spread it over several, or say 'fd: "
                        "on'",
                 bytes);
  return false;
}

static bool read_packet(struct packet *p, struct orr_place value, const struct orr_run_link *link, bool little) {
  struct packet_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "packet", .name = p->out->name, .place = value, .key = p->key};
  if (!orr_read_mapping(p->d->reader, &thing, &packet_mapping, &keys, &present) || !keys.fields.node)
    return false;
  *p->out = (struct orr_run_telegram){.name = p->out->name,
                                      .command = keys.direction == 1,
                                      .every = (int)keys.every,
                                      .phase = (int)keys.phase,
                                      .request = -1,
                                      .answers = keys.answers,
                                      .bytes = present >> BYTES & 1 ? (uint32_t)keys.size : 0};
  p->says_answers = present >> ANSWERS & 1;
  p->on = orr_read_member(p->d->reader, &thing, "on");
  if (!read_on(p, keys.on) || !judge_direction(p, &thing, present) || !read_id(p, &thing, &keys, present, link))
    return false;
  little = present >> ORDER & 1 ? keys.byte_order == 1 : little;
  return orr_run_read_fields(p->d, keys.fields, link, little, p->out) &&
         (link->transport != ORR_TRANSPORT_CAN || fit_frame(p, keys.fields, present >> BYTES & 1, link->can_fd));
}

/* ---- packets beside each other ----------------------------------------------------------------------------------- */

/* Which bits are fixed, and how. */
struct fixed {
  uint8_t mask[ORR_TELEGRAM_BYTES_MAX], value[ORR_TELEGRAM_BYTES_MAX];
};

static void set_bits(const struct orr_run_field *f, struct fixed *out) {
  for (int i = 0; i < f->width; i++) {
    uint32_t at = f->bit + (uint32_t)i;
    uint64_t bit = f->raw >> (f->little ? i : f->width - 1 - i) & 1;
    int shift = (int)(f->little ? at % 8 : 7 - at % 8);
    out->mask[at / 8] |= (uint8_t)(1 << shift);
    out->value[at / 8] |= (uint8_t)(bit << shift);
  }
}

static void find_fixed(const struct orr_run_telegram *t, struct fixed *out) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < t->count; i++)
    if ((t->fields[i].kind == ORR_FIELD_CONSTANT || t->fields[i].kind == ORR_FIELD_LENGTH) && t->fields[i].by < 0)
      set_bits(&t->fields[i], out);
}

static bool apart(const struct orr_run_telegram *a, const struct orr_run_telegram *b) {
  static const size_t most = ORR_TELEGRAM_BYTES_MAX;
  struct fixed of_a, of_b;
  if (a->bytes != b->bytes)
    return true;
  find_fixed(a, &of_a);
  find_fixed(b, &of_b);
  for (size_t i = 0; i < most; i++)
    if ((of_a.value[i] ^ of_b.value[i]) & of_a.mask[i] & of_b.mask[i])
      return true;
  return false;
}

static bool judge_apart(struct orr_run_draft *d, const struct packet *packets, const struct orr_run_layout *layout) {
  bool good = true;
  for (int i = 0; i < layout->count; i++)
    for (int k = 0; k < i; k++) {
      const struct orr_run_telegram *a = &layout->telegrams[k], *b = &layout->telegrams[i];
      if (!a->command || !b->command || apart(a, b))
        continue;
      orr_read_error(d->reader, packets[i].key, "layout",
                     "nothing tells '%.60s' from '%.60s' when it comes: give them constants that differ, or other "
                     "lengths",
                     b->name, a->name);
      good = false;
    }
  return good;
}

/* Bits that find a packet in a stream: constants and lengths that stand in it always, and checksums. */
static int finding_bits(const struct orr_run_telegram *t, bool sums_alone) {
  int bits = 0;
  for (int i = 0; i < t->count; i++) {
    const struct orr_run_field *f = &t->fields[i];
    bool fixed = f->kind == ORR_FIELD_CONSTANT || f->kind == ORR_FIELD_LENGTH;
    if (f->by < 0 && (f->kind == ORR_FIELD_CHECKSUM || (fixed && !sums_alone)))
      bits += f->width;
  }
  return bits;
}

enum { ENOUGH_BITS = 8 };

/* Whether nothing in its bytes tells the shorter packet from the beginning of the longer. */
static bool hides(const struct orr_run_telegram *shorter, const struct orr_run_telegram *longer) {
  struct fixed of_a, of_b;
  find_fixed(shorter, &of_a);
  find_fixed(longer, &of_b);
  for (uint32_t i = 0; i < shorter->bytes; i++)
    if ((of_a.value[i] ^ of_b.value[i]) & of_a.mask[i] & of_b.mask[i])
      return false;
  return finding_bits(shorter, true) < ENOUGH_BITS;
}

/* Bare packets in a stream have no ends: what comes is found by its bytes alone. */
static bool judge_stream(struct orr_run_draft *d, const struct packet *packets, const struct orr_run_layout *layout,
                         enum orr_framing framing) {
  bool good = true;
  for (int i = 0; i < layout->count && framing == ORR_FRAMING_RAW; i++) {
    const struct orr_run_telegram *a = &layout->telegrams[i];
    bool is_found = finding_bits(a, false) >= ENOUGH_BITS;
    if (a->command && !is_found) {
      orr_read_error(d->reader, packets[i].key, "layout",
                     "nothing finds '%.60s' in a bare stream: give it a constant, a length or a checksum, %d bits of "
                     "them at least, or take 'framing: cobs' or 'slip'",
                     a->name, ENOUGH_BITS);
      good = false;
    }
    for (int k = 0; k < layout->count && a->command && is_found; k++) {
      const struct orr_run_telegram *b = &layout->telegrams[k];
      if (!b->command || b->bytes <= a->bytes || finding_bits(b, false) < ENOUGH_BITS || !hides(a, b))
        continue;
      orr_read_error(d->reader, packets[k].key, "layout",
                     "in a bare stream '%.60s' may begin as '%.60s' does, which is shorter, and would be taken for it: "
                     "give them constants that differ, or '%.60s' a checksum",
                     b->name, a->name, a->name);
      good = false;
    }
  }
  return good;
}

/* Where no packet says it, those answer that command something; where none does, all. */
static void find_answers(const struct packet *packets, struct orr_run_telegram *all, int count) {
  bool any = false;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count; i++) {
      bool commands = false;
      for (int f = 0; f < all[i].count && all[i].command; f++)
        commands |= all[i].fields[f].kind == ORR_FIELD_CHANNEL;
      any |= commands;
      if (pass == 1 && all[i].command && !packets[i].says_answers)
        all[i].answers = commands || !any;
    }
}

static bool find_requests(struct packet *packets, struct orr_run_telegram *all, int count) {
  for (int i = 0; i < count; i++) {
    if (!packets[i].request)
      continue;
    for (int k = 0; k < count; k++)
      if (all[k].command && strcmp(all[k].name, packets[i].request) == 0)
        all[i].request = k;
    for (int k = 0; k < i && all[i].request >= 0; k++)
      if (all[k].request == all[i].request) {
        orr_read_error(packets[i].d->reader, packets[i].on, "layout",
                       "the packet '%.60s' answers that request already, and one answers a request", all[k].name);
        return false;
      }
    if (all[i].request < 0) {
      orr_read_error(packets[i].d->reader, packets[i].on, "layout", "there is no packet of commands '%.60s' here",
                     packets[i].request);
      return false;
    }
  }
  return true;
}

static bool judge_lengths(struct orr_run_draft *d, const struct packet *packets, const struct orr_run_layout *layout,
                          uint32_t most) {
  for (int i = 0; i < layout->count && most > 0; i++)
    if (layout->telegrams[i].bytes > most) {
      orr_read_error(d->reader, packets[i].key, "layout", "'%.60s' has %u bytes, and with this 'mtu' a packet has %u",
                     layout->telegrams[i].name, layout->telegrams[i].bytes, most);
      return false;
    }
  return true;
}

/* Two nodes that send one identifier disturb each other on the bus. */
static bool judge_ids(struct orr_run_draft *d, const struct packet *packets, const struct orr_run_layout *layout) {
  for (int i = 0; i < layout->count; i++)
    for (int k = 0; k < i; k++)
      if (layout->telegrams[i].id == layout->telegrams[k].id &&
          layout->telegrams[i].command != layout->telegrams[k].command) {
        orr_read_error(d->reader, packets[i].key, "layout",
                       "'%.60s' comes with this 'id', and two nodes of a bus never send the same",
                       layout->telegrams[k].name);
        return false;
      }
  return true;
}

/* What is named in the link and is in no packet. */
static void warn_of_unused(struct orr_run_draft *d, struct orr_place place, const struct orr_run_layout *layout,
                           const int *channels, int count, const char *list) {
  for (int i = 0; i < count; i++) {
    bool used = false;
    for (int t = 0; t < layout->count && !used; t++)
      for (int f = 0; f < layout->telegrams[t].count; f++)
        used |= layout->telegrams[t].fields[f].kind == ORR_FIELD_CHANNEL &&
                layout->telegrams[t].fields[f].channel == channels[i];
    if (!used)
      orr_read_warning(d->reader, place, "layout", "no packet has '%.80s', which '%s' names",
                       d->run->table.channels[channels[i]].name, list);
  }
}

/* Without a packet that answers, every frame would wait in lockstep for nothing. */
static bool judge_answers(struct orr_run_draft *d, struct orr_place place, const struct orr_run_layout *layout) {
  bool any = false;
  for (int i = 0; i < layout->count; i++)
    any |= layout->telegrams[i].command && layout->telegrams[i].answers;
  if (!any)
    orr_read_warning(d->reader, place, "layout",
                     "no packet of commands answers a frame: in lockstep each frame waits for its answer until "
                     "'lockstep: timeout'");
  return true;
}

bool orr_run_read_layout(struct orr_run_draft *d, struct orr_place place, struct orr_run_link *link) {
  struct layout_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "layout", .place = place, .key = place};
  if (!orr_read_mapping(d->reader, &thing, &orr_layout_mapping, &keys, &present) ||
      !orr_expect_mapping(d->reader, keys.packets, "packets"))
    return false;
  size_t n = orr_place_count(keys.packets);
  if (n == 0 || n > ORR_TELEGRAMS_MAX) {
    orr_read_error(d->reader, keys.packets, "layout", "a layout has 1 to %d packets", ORR_TELEGRAMS_MAX);
    return false;
  }
  struct orr_run_telegram *all = orr_arena_alloc(d->reader->arena, n, sizeof *all);
  struct packet packets[ORR_TELEGRAMS_MAX];
  struct orr_run_layout *layout = orr_arena_alloc(d->reader->arena, 1, sizeof *layout);
  bool good = true;
  for (size_t i = 0; i < n; i++) {
    packets[i] = (struct packet){.d = d, .out = &all[i], .key = orr_place_key(d->reader->diagnostics, keys.packets, i)};
    all[i].name = packets[i].key.node->text;
    good = orr_read_name(d->reader, packets[i].key, "packet") && good;
    good = read_packet(&packets[i], orr_place_value(d->reader->diagnostics, keys.packets, i), link,
                       keys.byte_order == 1) &&
           good;
  }
  *layout = (struct orr_run_layout){.count = (int)n, .telegrams = all};
  if (!good || !find_requests(packets, all, (int)n) || !judge_apart(d, packets, layout) ||
      !judge_stream(d, packets, layout, link->framing) || !judge_lengths(d, packets, layout, link->packet_max))
    return false;
  if (link->transport == ORR_TRANSPORT_CAN && !judge_ids(d, packets, layout))
    return false;
  find_answers(packets, all, (int)n);
  warn_of_unused(d, place, layout, link->telemetry, link->telemetry_count, "telemetry");
  warn_of_unused(d, place, layout, link->commands, link->command_count, "commands");
  link->layout = layout;
  return judge_answers(d, place, layout);
}
