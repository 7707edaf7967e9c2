/* What a link over a serial port, TCP or a Unix socket says beyond the keys of all links, and how its packets stand
 * there. */
#include <string.h>

#include "io/config/run/run_draft.h"

static const char *const framings[] = {"cobs", "slip", "raw", NULL};

enum { A_FRAMING = 1, A_FORM = 2 };

/* `framing: slip`. What a packet is (`orrery`) may stand beside it. */
static bool read_word(struct orr_run_draft *d, struct orr_place place, int what, struct orr_run_link *out) {
  const char *word;
  if (!orr_read_text(d->reader, place, "framing", &word))
    return false;
  for (int i = 0; framings[i] && what & A_FRAMING; i++)
    if (strcmp(word, framings[i]) == 0) {
      out->framing = (enum orr_framing)(ORR_FRAMING_COBS + i);
      return true;
    }
  if (what & A_FORM && orr_run_read_form(word, out))
    return true;
  orr_read_error(d->reader, place, "framing",
                 "'framing' says how packets stand in a stream, 'cobs', 'slip' or 'raw', or what a packet is, "
                 "'orrery' or 'cfe'; or both, as [slip, orrery]; not '%.40s'",
                 word);
  return false;
}

static bool read_framing(struct orr_run_draft *d, struct orr_place place, struct orr_run_link *out) {
  if (place.node->kind != ORR_YAML_SEQUENCE)
    return read_word(d, place, A_FRAMING | A_FORM, out);
  size_t n = orr_place_count(place);
  bool good = n == 2;
  if (!good)
    orr_read_error(d->reader, place, "framing", "'framing' is a word, or a list of two, such as [slip, orrery]");
  for (size_t i = 0; i < n && good; i++)
    good = read_word(d, orr_place_item(d->reader->diagnostics, place, i), i ? A_FORM : A_FRAMING, out);
  return good;
}

/* A packet ends somewhere, or nobody can read the next one. */
static bool judge_framing(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_link *out) {
  bool whole = out->transport == ORR_TRANSPORT_UDP || out->transport == ORR_TRANSPORT_PCAP ||
               (out->transport == ORR_TRANSPORT_UNIX && !out->stream);
  struct orr_place key = orr_read_member(d->reader, link, "framing");
  if (whole && out->framing != ORR_FRAMING_NONE) {
    orr_read_error(d->reader, key, "framing",
                   "'%s' is for a stream of bytes, and here each packet goes by itself: leave it out",
                   framings[out->framing - ORR_FRAMING_COBS]);
    return false;
  }
  bool laid_out = orr_yaml_find(link->place.node, "layout") < orr_place_count(link->place);
  if (out->framing == ORR_FRAMING_RAW && !laid_out && !orr_run_form_finds_packets(out)) {
    orr_read_error(d->reader, key, "framing",
                   "'raw' is for packets that can be found in a stream, by a sync word and a length of a 'layout'; "
                   "for these take 'cobs' or 'slip'");
    return false;
  }
  if (out->transport == ORR_TRANSPORT_SERIAL && out->serial.data_bits < 8 && out->framing != ORR_FRAMING_RAW) {
    orr_read_error(d->reader, orr_read_member(d->reader, link, "data_bits"), "out-of-range",
                   "frames are bytes of 8 bits, and with fewer 'data_bits' none goes through whole");
    return false;
  }
  return true;
}

bool orr_run_form_finds_packets(const struct orr_run_link *link) {
  return link->form == ORR_FORM_CFE; /* by id and length */
}

bool orr_run_read_framing(struct orr_run_draft *d, const struct orr_thing *link, struct orr_place framing,
                          struct orr_run_link *out) {
  bool streams = out->transport == ORR_TRANSPORT_SERIAL || out->transport == ORR_TRANSPORT_TCP ||
                 (out->transport == ORR_TRANSPORT_UNIX && out->stream);
  out->framing = streams ? ORR_FRAMING_COBS : ORR_FRAMING_NONE;
  return (!framing.node || read_framing(d, framing, out)) && judge_framing(d, link, out);
}

static bool lacks(struct orr_run_draft *d, const struct orr_thing *link, const char *what) {
  orr_read_error(d->reader, link->key, "missing-key", "%s", what);
  return false;
}

static bool judge_path(struct orr_run_draft *d, const struct orr_thing *link, const char *path) {
  enum { LONGEST = 107 }; /* of an address of a socket */
  if (path[0] == '/' && strlen(path) <= LONGEST && path[strlen(path) - 1] != '/')
    return true;
  orr_read_error(d->reader, orr_read_member(d->reader, link, "path"), "path",
                 "'path' is the whole path of a socket, from '/' on, of at most %d letters", LONGEST);
  return false;
}

bool orr_run_read_cable(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_cable_keys *keys,
                        struct orr_run_link *out) {
  out->device = keys->device;
  out->path = keys->path;
  out->stream = keys->socket == 1;
  out->serial = (struct orr_serial){.baud = (unsigned)keys->baud,
                                    .data_bits = (int)keys->data_bits,
                                    .stop_bits = (int)keys->stop_bits,
                                    .parity = (enum orr_parity)keys->parity,
                                    .rs485 = keys->rs485 == 1,
                                    .low_latency = keys->low_latency == 1};
  if (out->transport == ORR_TRANSPORT_SERIAL && !keys->device)
    return lacks(d, link, "a link over a serial port says which: 'device: /dev/ttyUSB0'");
  if (out->transport == ORR_TRANSPORT_UNIX && !keys->path)
    return lacks(d, link, "a link over a Unix socket says where it is: 'path: /run/user/1000/orrery.sock'");
  return out->transport != ORR_TRANSPORT_UNIX || judge_path(d, link, keys->path);
}
