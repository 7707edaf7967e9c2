#include "io/config/run/capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* draft-ietf-opsawg-pcap: the head of a file, the head of a record, link types. */
enum { FILE_HEAD = 24, RECORD_HEAD = 16, MOST_RECORD = 262144 };
enum {
  LINK_ETHERNET = 1,
  LINK_RAW_OLD = 12,
  LINK_RAW_BSD = 14,
  LINK_RAW = 101,
  LINK_SLL = 113,
  LINK_IPV4 = 228,
  LINK_SLL2 = 276
};
enum { TYPE_IPV4 = 0x0800, TYPE_VLAN = 0x8100, TYPE_QINQ = 0x88a8, UDP = 17, UDP_HEAD = 8, IP_HEAD = 20 };

struct reading {
  const uint8_t *bytes;
  size_t count, at;
  bool swapped; /* big-endian */
  int64_t unit_ns;
  uint32_t link;
  uint16_t port;
  struct orr_arena *arena;
  struct orr_run_capture *out;
  size_t room;
  int64_t begin_ns, last_ns;
  struct orr_table_problem *problem;
};

struct piece {
  const uint8_t *bytes;
  size_t count;
};

static bool complain(struct reading *r, const char *format, ...) {
  va_list all;
  va_start(all, format);
  r->problem->line = 0;
  vsnprintf(r->problem->text, sizeof r->problem->text, format, all);
  va_end(all);
  return false;
}

static uint32_t word_at(const struct reading *r, size_t at) {
  uint32_t out = 0;
  for (size_t i = 0; i < 4; i++)
    out |= (uint32_t)r->bytes[at + i] << 8 * (r->swapped ? 3 - i : i);
  return out;
}

static uint32_t big(const uint8_t *bytes) { return (uint32_t)bytes[0] << 8 | bytes[1]; }

static bool read_head(struct reading *r) {
  static const struct {
    uint32_t magic;
    bool swapped;
    int64_t unit_ns;
  } kinds[] = {{0xa1b2c3d4, false, 1000}, {0xa1b23c4d, false, 1}, {0xd4c3b2a1, true, 1000}, {0x4d3cb2a1, true, 1}};
  uint32_t magic = r->count >= FILE_HEAD ? word_at(r, 0) : 0;
  if (magic == 0x0a0d0d0a)
    return complain(r, "it is a pcapng file: save it as pcap (editcap -F pcap, or tcpdump -w)");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].magic == magic) {
      r->swapped = kinds[i].swapped;
      r->unit_ns = kinds[i].unit_ns;
      r->link = word_at(r, 20) & 0x0fffffff; /* the rest tells of check sums of frames */
      r->at = FILE_HEAD;
      return true;
    }
  return complain(r, "it is no pcap file");
}

/* What stands around IP: the packet, or nothing. */
static struct piece ip_of(const struct reading *r, struct piece frame) {
  size_t head = 0, type = 0;
  switch (r->link) {
  case LINK_ETHERNET:
    head = 14, type = 12;
    while (frame.count >= head + 4 && (big(frame.bytes + type) == TYPE_VLAN || big(frame.bytes + type) == TYPE_QINQ))
      head += 4, type += 4;
    break;
  case LINK_SLL:
    head = 16, type = 14;
    break;
  case LINK_SLL2:
    head = 20;
    break;
  default:
    return frame;
  }
  if (frame.count < head || big(frame.bytes + type) != TYPE_IPV4)
    return (struct piece){NULL, 0};
  return (struct piece){frame.bytes + head, frame.count - head};
}

static void keep(struct reading *r, struct piece data, int64_t ns) {
  struct orr_run_capture *out = r->out;
  if (out->count == 0)
    r->begin_ns = r->last_ns = ns;
  r->last_ns = ns > r->last_ns ? ns : r->last_ns;
  if (out->count == r->room)
    out->datagrams = orr_arena_grow(r->arena, out->datagrams, out->count, sizeof *out->datagrams, &r->room);
  ((struct orr_run_datagram *)out->datagrams)[out->count++] =
      (struct orr_run_datagram){r->last_ns - r->begin_ns, data.bytes, data.count};
}

/* A packet of IP, if it is a whole datagram to the port. */
static void judge(struct reading *r, struct piece ip, int64_t ns) {
  if (ip.count < IP_HEAD || ip.bytes[0] >> 4 != 4 || ip.bytes[9] != UDP)
    return;
  size_t head = 4 * (size_t)(ip.bytes[0] & 15), all = big(ip.bytes + 2);
  bool fragment = big(ip.bytes + 6) & 0x3fff;
  if (head < IP_HEAD || all < head + UDP_HEAD || ip.count < head + UDP_HEAD || fragment ||
      big(ip.bytes + head + 2) != r->port)
    return;
  size_t udp = big(ip.bytes + head + 4);
  if (udp < UDP_HEAD || udp > all - head)
    return;
  if (ip.count < head + udp) {
    r->out->cut++;
    return;
  }
  keep(r, (struct piece){ip.bytes + head + UDP_HEAD, udp - UDP_HEAD}, ns);
}

static bool read_record(struct reading *r) {
  int64_t seconds = word_at(r, r->at), part = word_at(r, r->at + 4);
  uint32_t count = word_at(r, r->at + 8);
  if (part * r->unit_ns >= 1000000000)
    return complain(r, "the stamp at byte %zu has more than a second behind its second", r->at);
  if (count > MOST_RECORD)
    return complain(r, "the record at byte %zu has %lu bytes, more than any packet", r->at, (unsigned long)count);
  r->at += RECORD_HEAD;
  if (count > r->count - r->at) { /* who captured was ended */
    r->out->ends_early = true;
    r->at = r->count;
    return true;
  }
  judge(r, ip_of(r, (struct piece){r->bytes + r->at, count}), seconds * 1000000000 + part * r->unit_ns);
  r->at += count;
  return true;
}

bool orr_capture_read(struct orr_text text, uint16_t port, struct orr_arena *arena, struct orr_run_capture *out,
                      struct orr_table_problem *problem) {
  static const uint32_t links[] = {LINK_ETHERNET, LINK_RAW_OLD, LINK_RAW_BSD, LINK_RAW, LINK_SLL, LINK_IPV4, LINK_SLL2};
  struct reading r = {.bytes = (const uint8_t *)text.bytes,
                      .count = text.length,
                      .port = port,
                      .arena = arena,
                      .out = out,
                      .problem = problem};
  bool known = false;
  *out = (struct orr_run_capture){0};
  if (!read_head(&r))
    return false;
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    known |= links[i] == r.link;
  if (!known)
    return complain(&r,
                    "it was captured on a link of type %lu; here go Ethernet (1), Linux cooked (113, 276) and raw IP",
                    (unsigned long)r.link);
  while (r.count - r.at >= RECORD_HEAD)
    if (!read_record(&r))
      return false;
  out->ends_early |= r.at < r.count;
  return true;
}
