/* What a link that replays a capture says beyond the keys of all links. */
#include "io/config/run/capture.h"
#include "io/config/run/run_draft.h"

static bool read_capture(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_pcap_keys *keys,
                         struct orr_run_capture *out) {
  struct orr_place place = orr_read_member(d->reader, link, "file");
  struct orr_table_problem problem;
  struct orr_text text;
  if (!orr_config_text(d->config, keys->file, orr_place_source(d->reader->diagnostics, place), &text.bytes,
                       &text.length))
    return false;
  if (!orr_capture_read(text, (uint16_t)keys->port, d->reader->arena, out, &problem)) {
    orr_read_error(d->reader, place, "pcap", "%.100s: %s", keys->file, problem.text);
    return false;
  }
  out->begin_ns = keys->begin;
  if (out->count == 0) {
    orr_read_error(d->reader, place, "pcap",
                   "%.100s: no datagram goes to port %d: 'port' is where the commands went to", keys->file,
                   (int)keys->port);
    return false;
  }
  if (out->cut)
    orr_read_warning(d->reader, place, "pcap",
                     "%.100s: of %zu datagrams to port %d not all bytes were captured, and they are left out: capture "
                     "whole packets (tcpdump -s 0)",
                     keys->file, out->cut, (int)keys->port);
  if (out->ends_early)
    orr_read_warning(d->reader, place, "pcap", "%.100s ends within a packet: what stands before it is replayed",
                     keys->file);
  return true;
}

bool orr_run_read_pcap(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_pcap_keys *keys,
                       struct orr_run_link *out) {
  if (out->transport != ORR_TRANSPORT_PCAP)
    return true;
  out->wait_ns = 0;
  if (!keys->file) {
    orr_read_error(d->reader, link->key, "missing-key", "a link that replays a capture says which: 'file: X.pcap'");
    return false;
  }
  struct orr_run_capture *capture = orr_arena_alloc(d->reader->arena, 1, sizeof *capture);
  out->capture_name = keys->file;
  out->capture = capture;
  return read_capture(d, link, keys, capture);
}
