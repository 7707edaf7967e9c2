/* What a link in packets says beyond the keys of all links: addresses, who may send, message ids. */
#include <stdio.h>
#include <stdlib.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/wire/wire.h"

/* Where a link listens that does not say it. */
enum { LOOPBACK = 0x7f000001, DEFAULT_PORT = 5010 };

/* `127.0.0.1:5010`, or without a port where none is wanted. */
static bool parse_address(const char *text, bool port, struct orr_run_address *out) {
  unsigned part[4], number = 0;
  int used = 0;
  if (sscanf(text, "%3u.%3u.%3u.%3u%n", &part[0], &part[1], &part[2], &part[3], &used) != 4)
    return false;
  text += used;
  used = 0;
  if (port && (sscanf(text, ":%5u%n", &number, &used) != 1 || number == 0 || number > 65535))
    return false;
  if (text[used])
    return false;
  *out = (struct orr_run_address){.port = (uint16_t)number};
  for (int i = 0; i < 4; i++) {
    if (part[i] > 255)
      return false;
    out->ip = out->ip << 8 | part[i];
  }
  return true;
}

static bool read_address(struct orr_run_draft *d, struct orr_place place, const char *key, const char *text, bool port,
                         struct orr_run_address *out) {
  if (parse_address(text, port, out))
    return true;
  orr_read_error(d->reader, place, "address", "'%s' is an IPv4 address%s, not '%.60s'", key,
                 port ? " and a port, such as 127.0.0.1:5010" : " such as 127.0.0.1", text);
  return false;
}

/* Who may send: the list, or else the peer. */
static bool read_allowed(struct orr_run_draft *d, struct orr_place link, struct orr_place list,
                         struct orr_run_link *out) {
  if (!list.node) {
    uint32_t *only = orr_arena_alloc(d->reader->arena, 1, sizeof *only);
    *only = out->peer.ip;
    out->allow = only;
    out->allow_count = 1;
    if (!out->peer.port && out->listen.ip == LOOPBACK)
      *only = LOOPBACK; /* nobody else can */
    if (out->peer.port || out->listen.ip == LOOPBACK)
      return true;
    orr_read_error(d->reader, link, "missing-key",
                   "a link that listens to others than this host says who may send: 'allow: [10.0.0.7]', or "
                   "'peer'");
    return false;
  }
  if (!orr_expect_sequence(d->reader, list, "allow"))
    return false;
  size_t n = orr_place_count(list);
  uint32_t *all = orr_arena_alloc(d->reader->arena, n + 1, sizeof *all);
  if (n == 0) {
    orr_read_error(d->reader, list, "missing-key", "'allow' names nobody, and then nobody may send");
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    struct orr_place item = orr_place_item(d->reader->diagnostics, list, i);
    struct orr_run_address address;
    const char *text;
    if (!orr_read_text(d->reader, item, "allow", &text) || !read_address(d, item, "allow", text, false, &address))
      return false;
    all[i] = address.ip;
  }
  out->allow = all;
  out->allow_count = (int)n;
  return true;
}

/* 0x0801 … : telemetry has type 0, commands type 1, both the flag of a secondary header; 64 ids on from it are ours
 * too. */
static bool read_id(struct orr_run_draft *d, const struct orr_thing *ids, const char *key, const char *text,
                    unsigned type, uint16_t *out) {
  char *end;
  unsigned long id = strtoul(text, &end, 0);
  if (end != text && !*end && (id & 0xf800) == (0x0800u | type) && id <= (0x0fc0u | type) - ORR_WIRE_PIECES_MAX) {
    *out = (uint16_t)id;
    return true;
  }
  orr_read_error(d->reader, orr_read_member(d->reader, ids, key), "message-id",
                 "the message id of %s is one of 0x%04x to 0x%04x, not '%.40s'", key, 0x0800u | type,
                 (0x0fc0u | type) - ORR_WIRE_PIECES_MAX, text);
  return false;
}

struct message_ids {
  const char *telemetry, *commands;
};

static const struct orr_key message_ids_table[] = {
    {.name = "telemetry",
     .doc = "of the first packet of a frame, 0x0800 to 0x0f80; further packets count on from it",
     .type = ORR_KEY_TEXT,
     .fallback = "0x0e80",
     .offset = offsetof(struct message_ids, telemetry)},
    {.name = "commands",
     .doc = "of a command, 0x1800 to 0x1f80",
     .type = ORR_KEY_TEXT,
     .fallback = "0x1e80",
     .offset = offsetof(struct message_ids, commands)},
};

const struct orr_mapping orr_message_ids_mapping = {.name = "links.message_ids",
                                                    .doc = "Message ids of the CCSDS packets of a link over UDP.",
                                                    ORR_KEYS(message_ids_table)};

static bool read_ids(struct orr_run_draft *d, struct orr_place place, struct orr_run_link *out) {
  struct message_ids keys = {0};
  const struct orr_thing thing = {.what = "message_ids", .place = place};
  uint64_t present;
  if (!orr_read_mapping(d->reader, &thing, &orr_message_ids_mapping, &keys, &present))
    return false;
  bool good = read_id(d, &thing, "telemetry", keys.telemetry, 0, &out->telemetry_id);
  return read_id(d, &thing, "commands", keys.commands, ORR_WIRE_ID_COMMAND, &out->command_id) && good;
}

/* Who connects to others is not connected to. */
static bool judge_connect(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_udp_keys *keys) {
  if (!keys->listen && !keys->allow.node)
    return true;
  orr_read_error(d->reader, orr_read_member(d->reader, link, "connect"), "link-key",
                 "a link over TCP connects, or listens ('listen', 'allow'), and not both");
  return false;
}

bool orr_run_read_udp(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_udp_keys *keys,
                      struct orr_run_link *out) {
  enum { IP_AND_UDP_BYTES = 28, LEAST_MTU = 128 };
  out->packet_max =
      (uint32_t)keys->mtu -
      (out->transport == ORR_TRANSPORT_UDP || out->transport == ORR_TRANSPORT_PCAP ? IP_AND_UDP_BYTES : 0);
  bool good = !keys->key_file || keys->mtu >= LEAST_MTU + ORR_WIRE_SEAL_BYTES;
  if (!good)
    orr_read_error(d->reader, orr_read_member(d->reader, link, "mtu"), "out-of-range",
                   "with 'key_file' the 'mtu' is at least %d: the seal behind each packet takes %d bytes",
                   LEAST_MTU + ORR_WIRE_SEAL_BYTES, ORR_WIRE_SEAL_BYTES);
  else if (keys->key_file) {
    out->packet_max -= ORR_WIRE_SEAL_BYTES;
    out->key_file = orr_config_beside(d->config, keys->key_file);
  }
  if (keys->listen)
    good = read_address(d, orr_read_member(d->reader, link, "listen"), "listen", keys->listen, true, &out->listen);
  else if (orr_yaml_find(link->place.node, "listen") >= orr_place_count(link->place))
    out->listen = (struct orr_run_address){LOOPBACK, DEFAULT_PORT};
  if (keys->peer)
    good &= read_address(d, orr_read_member(d->reader, link, "peer"), "peer", keys->peer, true, &out->peer);
  if (keys->connect)
    return read_address(d, orr_read_member(d->reader, link, "connect"), "connect", keys->connect, true,
                        &out->connect) &&
           judge_connect(d, link, keys) && read_ids(d, keys->message_ids, out) && good;
  if (keys->allow.node || !keys->peer || out->peer.port)
    good &= read_allowed(d, link->key, keys->allow, out);
  return read_ids(d, keys->message_ids, out) && good && out->listen.port;
}
