/* What a packet of a link is: `framing: cfe` and what goes with it. */
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/wire/wire.h"

bool orr_run_read_form(const char *word, struct orr_run_link *out) {
  static const char *const forms[] = {[ORR_FORM_ORRERY] = "orrery", [ORR_FORM_CFE] = "cfe"};
  for (int i = 0; i < (int)(sizeof forms / sizeof *forms); i++)
    if (strcmp(word, forms[i]) == 0) {
      out->form = (enum orr_packet_form)i;
      return true;
    }
  return false;
}

static bool judge_message(struct orr_run_draft *d, struct orr_place list, const char *name, size_t bytes, size_t head,
                          const struct orr_run_link *link) {
  const size_t all = head + (bytes + 7) / 8 * 8;
  if (all <= link->packet_max)
    return true;
  orr_read_error(
      d->reader, list, "link-size",
      "with 'framing: cfe' all of '%s' is one message, which takes %zu bytes here and may take %u: name fewer "
      "channels, or set 'mtu'",
      name, all, (unsigned)link->packet_max);
  return false;
}

bool orr_run_judge_form(struct orr_run_draft *d, const struct orr_thing *link, bool has_endian,
                        struct orr_place telemetry, struct orr_place commands, const struct orr_run_link *out) {
  const struct orr_channel_table *table = &d->run->table;
  if (out->form != ORR_FORM_CFE && has_endian) {
    orr_read_error(d->reader, orr_read_member(d->reader, link, "endian"), "link-key",
                   "'endian' is for 'framing: cfe': packets of orrery are little-endian");
    return false;
  }
  if (out->form != ORR_FORM_CFE)
    return true;
  if (out->layout) {
    orr_read_error(d->reader, orr_read_member(d->reader, link, "framing"), "link-key",
                   "'framing: cfe' is a packet of cFE, and this link has a 'layout', which says what its packets are: "
                   "leave one of the two out");
    return false;
  }
  if (out->key_file) {
    orr_read_error(d->reader, orr_read_member(d->reader, link, "key_file"), "link-key",
                   "'framing: cfe' is exactly a message of cFE, and has no room for a seal: leave 'key_file' out");
    return false;
  }
  if (out->telemetry_count < 0 || out->command_count < 0)
    return true; /* mistakes in the lists were reported already */
  bool good =
      judge_message(d, telemetry, "telemetry", orr_run_payload(table, out->telemetry, out->telemetry_count).bytes,
                    ORR_WIRE_TELEMETRY_AT, out);
  return judge_message(d, commands, "commands", orr_run_payload(table, out->commands, out->command_count).bytes,
                       ORR_WIRE_COMMAND_AT, out) &&
         good;
}
