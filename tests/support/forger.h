/* Commands that the client library would not send, over the link that a client has open: by either transport, for tests
 * of what is refused. */
#ifndef ORR_TESTS_SUPPORT_FORGER_H
#define ORR_TESTS_SUPPORT_FORGER_H

#include <netinet/in.h>

#include "io/client/client.h"

/* A command as it should be but for what is set here. */
struct orr_forgery {
  uint64_t answers;
  uint32_t generations_ago;
  bool other_layout, other_version, bad_sum;
  bool other_id; /* UDP only */
};

/* The newest command of a link, byte for byte. */
struct orr_forger {
  struct orr_client *client;
  uint8_t packet[ORR_WIRE_PACKET_MAX]; /* UDP */
  size_t bytes;
};

/* Sends what stands in client->command. Commands of one piece only. */
void orr_forge(struct orr_forger *forger, const struct orr_forgery *forgery);
/* The newest one again, from the same place; over UDP also from a socket of one's choice. */
void orr_forge_again(struct orr_forger *forger);
void orr_forge_again_from(const struct orr_forger *forger, int fd, const struct sockaddr_in *to);

#endif
