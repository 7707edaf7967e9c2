/* Faults of the line that carries a link: bits and bytes that are wrong, a line that stands still, a cable that is
 * out. */
#include <math.h>

#include "io/config/run/run_draft.h"
#include "io/wire/wire.h"

/* Bytes of a stream come one by one; a datagram or a message comes whole or not at all. */
static bool carries_bytes(const struct orr_run_link *link) {
  return link->framing != ORR_FRAMING_NONE && link->transport != ORR_TRANSPORT_UDP;
}

static bool has_sum(const struct orr_run_telegram *t) {
  enum { ENOUGH_BITS = 8 };
  for (int i = 0; i < t->count; i++)
    if (t->fields[i].kind == ORR_FIELD_CHECKSUM && t->fields[i].by < 0 && t->fields[i].width >= ENOUGH_BITS)
      return true;
  return false;
}

/* Whether whoever receives finds damage. Frames have a CRC; bare packets what their layout says. */
static bool finds_damage(const struct orr_run_link *link, bool commands) {
  if (link->framing != ORR_FRAMING_RAW)
    return true;
  bool all = link->layout != NULL;
  for (int i = 0; all && i < link->layout->count; i++)
    all = link->layout->telegrams[i].command != commands || has_sum(&link->layout->telegrams[i]);
  return all;
}

/* Bytes on the line of a frame of telemetry, or of its answer, as far as they are known before it flies: what COBS and
 * SLIP add depends on the numbers, and is taken as if none needed it. */
static double bytes_of(const struct orr_run *run, const struct orr_run_link *link, bool telemetry) {
  const double framing = link->framing == ORR_FRAMING_RAW ? 0 : ORR_WIRE_CRC_BYTES + 3;
  const int *channels = telemetry ? link->telemetry : link->commands;
  int count = telemetry ? link->telemetry_count : link->command_count;
  double bytes = 0;
  if (!link->layout) {
    uint16_t id = telemetry ? link->telemetry_id : link->command_id;
    size_t payload = orr_run_payload(&run->table, channels, count).bytes;
    double pieces = orr_wire_cut(id, payload, link->packet_max).pieces;
    double head = (double)orr_wire_block_at(id) + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES;
    return (double)payload + pieces * (head + framing);
  }
  for (int i = 0; i < link->layout->count; i++) {
    const struct orr_run_telegram *t = &link->layout->telegrams[i];
    if (t->command != telemetry)
      bytes += (t->bytes + framing) / (t->command ? 1 : t->every);
  }
  return bytes;
}

/* That at least one of so many bits or bytes is hit. */
static double chance_of_one(double rate, double count) { return rate < 1 ? -expm1(count * log1p(-rate)) : 1; }

static void find_chance(const struct orr_run *run, const struct orr_run_link *link, struct orr_run_fault *f) {
  double bytes = bytes_of(run, link, f->of_telemetry);
  if (f->trouble == ORR_LINK_BIT_ERRORS)
    f->chance = chance_of_one(f->rate, 8 * bytes);
  else if (f->trouble == ORR_LINK_LOSES_BYTES || f->trouble == ORR_LINK_DOUBLES_BYTES)
    f->chance = chance_of_one(f->rate, bytes);
}

bool orr_run_judge_line_fault(struct orr_run_draft *d, struct orr_place place, const char *name,
                              struct orr_run_fault *f) {
  const struct orr_run_link *link = &d->run->links[f->link];
  if (f->trouble == ORR_LINK_UNPLUGGED && link->transport > ORR_TRANSPORT_SHM)
    return true;
  if (f->trouble == ORR_LINK_UNPLUGGED) {
    orr_read_error(d->reader, place, "fault",
                   "'unplugged' is of a link with a cable or a network, and memory has neither: take 'cut'");
    return false;
  }
  if (!carries_bytes(link)) {
    orr_read_error(d->reader, place, "fault",
                   "'%s' is of a line that carries bytes: serial, tcp, or unix with 'socket: stream'; here a packet "
                   "comes whole or not at all: take 'corruption', 'loss' or 'cut'",
                   name);
    return false;
  }
  bool commands = f->both_ways || !f->of_telemetry, telemetry = f->both_ways || f->of_telemetry;
  if (f->trouble != ORR_LINK_STUCK &&
      ((commands && !finds_damage(link, true)) || (telemetry && !finds_damage(link, false)))) {
    orr_read_error(d->reader, place, "fault",
                   "bare packets of this link have no checksum of 8 bits or more, so nobody would find them damaged: "
                   "take 'framing: cobs' or 'slip', or a fault of a channel, such as 'bit_flip'");
    return false;
  }
  find_chance(d->run, link, f);
  return true;
}
