#include "tests/support/forger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void must(bool good, const char *what) {
  if (good)
    return;
  perror(what);
  abort();
}

static _Atomic uint64_t *slot(const struct orr_client *c, uint32_t number) {
  return (_Atomic uint64_t *)(void *)(c->memory + c->header.in_at +
                                      (size_t)c->header.in_slot_bytes * (number % ORR_WIRE_SLOTS));
}

static void forge_shm(struct orr_client *c, const struct orr_forgery *f) {
  uint64_t version = ORR_WIRE_VERSION + (f->other_version ? 1u : 0u);
  size_t words = orr_wire_words(c->header.command_bytes);
  uint64_t head[ORR_WIRE_IN_WORDS] = {f->answers, c->header.layout_hash ^ (f->other_layout ? 1u : 0u),
                                      orr_wire_command_peer(c->generation - f->generations_ago, 0, version)};
  head[ORR_WIRE_IN_SUM] = orr_wire_command_sum(head, c->command, words) ^ (f->bad_sum ? 1u : 0u);
  orr_wire_slot_write(slot(c, ++c->sent), head, ORR_WIRE_IN_WORDS, c->command, words);
  atomic_store(&c->peer->commanded, c->sent);
}

static void forge_udp(struct orr_forger *forger, const struct orr_forgery *f) {
  struct orr_client *c = forger->client;
  uint16_t tag = orr_wire_layout_tag(c->header.layout_hash ^ (f->other_layout ? 1u : 0u));
  const struct orr_wire_packet p = {.id = (uint16_t)(c->header.command_id ^ (f->other_id ? 1u : 0u)),
                                    .count = (uint16_t)++c->sent,
                                    .frame = orr_wire_command_frame(c->generation - f->generations_ago, tag, c->sent),
                                    .answered = f->answers,
                                    .time_ns = (int64_t)f->answers * c->step_ns};
  must(c->in_pieces == 1, "a forged command has one piece");
  forger->bytes = orr_wire_packet_write(forger->packet, &p, c->command, c->header.command_bytes);
  if (f->other_version)
    forger->packet[0] |= 0x20;
  if (f->bad_sum)
    forger->packet[forger->bytes - 1] ^= 1;
  forger->packet[7] = 0;
  forger->packet[7] = orr_wire_xor(forger->packet, forger->bytes);
  must(send(c->fd, forger->packet, forger->bytes, 0) == (ssize_t)forger->bytes, "send");
}

void orr_forge(struct orr_forger *forger, const struct orr_forgery *forgery) {
  if (forger->client->fd >= 0)
    forge_udp(forger, forgery);
  else
    forge_shm(forger->client, forgery);
}

void orr_forge_again(struct orr_forger *forger) {
  struct orr_client *c = forger->client;
  if (c->fd >= 0) {
    must(send(c->fd, forger->packet, forger->bytes, 0) == (ssize_t)forger->bytes, "send");
    return;
  }
  const _Atomic uint64_t *from = slot(c, c->sent);
  _Atomic uint64_t *to = slot(c, ++c->sent);
  for (size_t i = 0; i < c->header.in_slot_bytes / 8; i++)
    atomic_store(&to[i], atomic_load(&from[i]));
  atomic_store(&c->peer->commanded, c->sent);
}

void orr_forge_again_from(const struct orr_forger *forger, int fd, const struct sockaddr_in *to) {
  must(sendto(fd, forger->packet, forger->bytes, 0, (const struct sockaddr *)to, sizeof *to) == (ssize_t)forger->bytes,
       "sendto");
}
